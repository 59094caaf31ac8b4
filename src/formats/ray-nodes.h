/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Ray's listings of nodes in both of their forms. */
#pragma once

#include "formats/formats.h"
#include "formats/tree.h"

typedef enum {
  QUOIT_RAY_ROW_LISTED, /* `ray list nodes`: node_id, state, resources_total, labels */
  QUOIT_RAY_ROW_OBJECT  /* ray.nodes(): NodeID, Alive, Resources, Labels */
} QuoitRayRowForm;

/* The tree owns the texts. */
typedef struct {
  QuoitRayRowForm form;
  JsonNode *node;
  JsonNode *labels, *resources; /* NULL: none */
  const char *id, *name, *address;
  guint8 state; /* QuoitNodeState */
  guint8 flags; /* QuoitNodeFlags */
} QuoitRayRow;

/* What is known of a slice from the rows read so far. */
typedef struct {
  guint32 n_rows;
  guint32 kind; /* kind of a row with chips, plus 1; 0: no such row yet */
  gboolean is_alive;
} QuoitRaySlice;

/* The state while one listing is read. */
typedef struct {
  QuoitClaims *claims;
  GHashTable *slices; /* name -> QuoitRaySlice */
  GHashTable *warned; /* texts of warnings that are given only once */
  guint32 n_warned, n_left_out;
  guint devices_per_chip; /* the amount of TPU that the cluster counts for one chip */
} QuoitRayContext;

/* The place of a node without TPU labels. */
typedef struct {
  const char *slice; /* NULL: in no slice, and the other fields are not set */
  const char *pod_type, *topology;
  QuoitGeneration generation;
  QuoitShape shape;
  gint32 worker_id; /* -1: the slice has more nodes than hosts, and this one has no place */
  guint8 flags;     /* QuoitNodeFlags */
} QuoitRayPlace;

enum { QUOIT_RAY_MOST_OF_SLICE = 4096 };

gboolean quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error);

/* Returns whether the row is a dead node without its chips, as in ray.nodes(). Such rows are described last, because
   other rows of the same slice show which chips the node had. */
gboolean quoit_ray_row_lacks_chips (const QuoitRayRow *row);

/* Returns whether the row has chips but none of the labels that place them, as in Ray versions without TPU labels. */
gboolean quoit_ray_row_lacks_labels (const QuoitRayRow *row);

/* Fills @claim from the labels and resources: pool, kind, slice (a text of the claims), worker id. @place supplies
   what the labels lack, and may be NULL. */
gboolean quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, const QuoitRayPlace *place,
                                 QuoitRayContext *context, QuoitNodeClaim *claim, GError **error);

/* The total resources of one node. */
typedef struct {
  guint first; /* index into the cluster's totals */
  guint16 n_totals;
  guint8 is_listed; /* from `ray list nodes`, which rounds memory */
} QuoitRayNode;

/* The nodes that were read. */
typedef struct {
  QuoitClaims *claims;
  GStringChunk *texts;
  GHashTable *ids; /* node id -> index into the claims' nodes, plus 1 */
  GArray *totals;  /* of QuoitResource, indexed by QuoitRayNode, without resources that are not quantities of the
                      node; NULL: not kept */
  GArray *nodes;   /* of QuoitRayNode, one per node */
} QuoitRayCluster;

void quoit_ray_cluster_clear (QuoitRayCluster *cluster);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayCluster, quoit_ray_cluster_clear)

/* Fills @cluster from the nodes of @files. On failure @cluster must still be cleared. */
gboolean quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error);
