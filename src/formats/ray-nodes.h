/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's listings of nodes, whichever of their two forms they have, and what its other listings are held against. */
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

enum { QUOIT_RAY_MOST_OF_SLICE = 4096 };

gboolean quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error);

/* Whether the row is of a dead node and does not tell its chips, as ray.nodes() does: what it had is better said by the
 * rows of the same slice, so it is described after them. */
gboolean quoit_ray_row_lacks_chips (const QuoitRayRow *row);

/* Fills what labels and resources say: pool, kind, slice (a text of the claims), worker id. */
gboolean quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, QuoitRayContext *context,
                                 QuoitNodeClaim *claim, GError **error);

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

/* Adds the groups of @files to the claims. */
gboolean quoit_ray_groups_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error);

/* The takes of all groups, node by node. */
typedef struct {
  const QuoitRayCluster *cluster;
  guint32 n_nodes;
  guint32 *first; /* of each node in takes; one more says the end */
  const QuoitResource **takes;
} QuoitRayUse;

void quoit_ray_use_init (QuoitRayUse *use, const QuoitRayCluster *cluster);
void quoit_ray_use_clear (QuoitRayUse *use);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayUse, quoit_ray_use_clear)

/* Whether the listing tells the node's amount of the resource: it rounds memory. */
gboolean quoit_ray_use_is_known (const QuoitRayUse *use, guint32 node, const char *resource);

/* Sets @rest, an array of QuoitResource, to what the groups leave of the totals of @node. INVALID where they take more
 * than there is. */
gboolean quoit_ray_use_rest (const QuoitRayUse *use, guint32 node, GArray *rest, GError **error);

/* Whether no node that is alive has less than its groups take. */
gboolean quoit_ray_use_check (const QuoitRayUse *use, GError **error);

/* Adds to the claims what is neither available nor in @use. */
gboolean quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, const QuoitRayUse *use,
                                   GError **error);

/* Why files do not agree. */
#define QUOIT_RAY_OTHER_MOMENT "the files are of different moments, or of different clusters"
