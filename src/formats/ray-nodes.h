/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's listings of nodes, whichever of their two forms they have. */
#pragma once

#include "formats/formats.h"
#include "formats/tree.h"

typedef enum {
  QUOIT_RAY_ROW_LISTED, /* `ray list nodes`: node_id, state, resources_total, labels */
  QUOIT_RAY_ROW_OBJECT  /* ray.nodes(): NodeID, Alive, Resources, Labels */
} QuoitRayRowForm;

/* Texts are borrowed from the tree. */
typedef struct {
  QuoitRayRowForm form;
  JsonNode *node;
  JsonNode *labels, *resources; /* NULL: none */
  const char *id, *name, *address;
  guint8 state; /* QuoitNodeState */
  guint8 flags; /* QuoitNodeFlags */
} QuoitRayRow;

/* What the rows so far say of a slice. */
typedef struct {
  guint32 n_rows;
  guint32 kind; /* of a row that has chips, plus 1; 0: none has yet */
  gboolean is_alive;
} QuoitRaySlice;

/* What the rows of one listing are read into. */
typedef struct {
  QuoitClaims *claims;
  GHashTable *slices; /* name -> QuoitRaySlice */
  GHashTable *warned; /* texts of warnings that are given once */
  guint32 n_warned, n_left_out;
  guint devices_per_chip; /* what TPU counts of a chip */
} QuoitRayContext;

/* Where a node stands whose labels do not say so. */
typedef struct {
  const char *slice; /* NULL: in no slice, and nothing else is known */
  const char *pod_type, *topology;
  QuoitGeneration generation;
  QuoitShape shape;
  gint32 worker_id; /* -1: more nodes than the slice has hosts */
  guint8 flags;     /* QuoitNodeFlags */
} QuoitRayPlace;

enum { QUOIT_RAY_MOST_OF_SLICE = 4096 };

gboolean quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error);

/* Whether the row is of a dead node and does not tell its chips, as ray.nodes() does: what it had is better said by the
 * rows of the same slice, so it is described after them. */
gboolean quoit_ray_row_lacks_chips (const QuoitRayRow *row);

/* Whether the row has chips and none of the labels that place them, as before Ray had such labels. */
gboolean quoit_ray_row_lacks_labels (const QuoitRayRow *row);

/* Fills what labels and resources say: pool, kind, slice (a text of the claims), worker id. @place says what labels do
 * not; NULL: nothing. */
gboolean quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, const QuoitRayPlace *place,
                                 QuoitRayContext *context, QuoitNodeClaim *claim, GError **error);

/* What one node has. */
typedef struct {
  guint first; /* in the cluster's totals */
  guint16 n_totals;
  guint8 is_listed; /* memory is rounded */
} QuoitRayNode;

/* What was read of the nodes. */
typedef struct {
  QuoitClaims *claims;
  GStringChunk *texts;
  GHashTable *ids; /* node id -> index into the claims' nodes, plus 1 */
  GArray *totals;  /* of QuoitResource, by QuoitRayNode; without what is not a quantity of the node. NULL: not kept */
  GArray *nodes;   /* of QuoitRayNode, one a node */
} QuoitRayCluster;

void quoit_ray_cluster_clear (QuoitRayCluster *cluster);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayCluster, quoit_ray_cluster_clear)

/* Fills @cluster from the nodes of @files. */
gboolean quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error);
