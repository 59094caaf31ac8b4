/* SPDX-License-Identifier: Apache-2.0 */
/* Compares kinds of nodes and reads their fields. */
#pragma once

#include "fleet/claims.h"

/* Returns whether a slice treats nodes of both kinds alike: same generation, topology, pod type and chips. */
gboolean quoit_node_kind_same_machine (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* Returns whether the labels and resources are the same as well. */
gboolean quoit_node_kind_equal (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* Returns whether the kind states no resources other than TPU, like dead nodes in Ray. An importer may derive the
 * chips from the slice. */
gboolean quoit_node_kind_is_bare (const QuoitNodeKind *kind);
/* Returns the value of the label, or NULL. */
const char *quoit_node_kind_label (const QuoitNodeKind *kind, const char *key);
/* Returns the TPU resource per chip of a node of @kind: 1, or the devices per chip that its cluster counts. */
QuoitAmount quoit_node_kind_tpu_per_chip (const QuoitNodeKind *kind);
gboolean quoit_pairs_equal (const QuoitPair *a, guint n_a, const QuoitPair *b, guint n_b);
