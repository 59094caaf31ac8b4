/* SPDX-License-Identifier: Apache-2.0 */
/* When two kinds of nodes are one. */
#pragma once

#include "fleet/claims.h"

/* A slice would treat nodes of the two kinds alike: generation, topology, pod type and chips. */
gboolean quoit_node_kind_same_machine (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* And their labels and resources are the same. */
gboolean quoit_node_kind_equal (const QuoitNodeKind *a, const QuoitNodeKind *b);
/* Whether it says nothing of resources, as Ray does not of dead nodes; chips a reader may know from the slice. */
gboolean quoit_node_kind_is_bare (const QuoitNodeKind *kind);
/* NULL where it has no such label. */
const char *quoit_node_kind_label (const QuoitNodeKind *kind, const char *key);
/* What a node of @kind has of TPU for each chip: 1, or the devices a chip that its cluster counts. */
QuoitAmount quoit_node_kind_tpu_per_chip (const QuoitNodeKind *kind);
gboolean quoit_pairs_equal (const QuoitPair *a, guint n_a, const QuoitPair *b, guint n_b);
