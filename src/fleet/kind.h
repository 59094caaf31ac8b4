/* SPDX-License-Identifier: Apache-2.0 */
/* Compares kinds of nodes and reads their fields. */
#pragma once

#include "fleet/claims.h"

/* Returns whether nodes of both kinds can be in the same slice: same generation, topology, pod type and chips. */
gboolean quoit_node_kind_same_machine (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* Returns whether labels and resources are equal too. */
gboolean quoit_node_kind_equal (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* Returns whether the kind has no chips, or no resources except TPU. Ray reports dead nodes without resources, and an
 * importer may then have derived the chips from the slice. */
gboolean quoit_node_kind_is_bare (const QuoitNodeKind *kind);
/* Returns the value of the label, or NULL. */
const char *quoit_node_kind_label (const QuoitNodeKind *kind, const char *key);
/* Returns the amount of the TPU resource per chip: 1, or the number of devices per chip if the cluster counts
 * devices. */
QuoitAmount quoit_node_kind_tpu_per_chip (const QuoitNodeKind *kind);
/* Returns into how many bundles of @tpu a host of the kind is divided, or 0 if a remainder would be left. */
guint32 quoit_node_kind_count_bundles (const QuoitNodeKind *kind, QuoitAmount tpu);
/* Sets the error for a host that cannot be divided into bundles of @tpu. Returns FALSE. */
gboolean quoit_node_kind_fail_to_divide (const QuoitNodeKind *kind, QuoitAmount tpu, GError **error);
gboolean quoit_pairs_equal (const QuoitPair *a, guint n_a, const QuoitPair *b, guint n_b);
