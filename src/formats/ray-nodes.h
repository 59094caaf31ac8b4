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

/* The slices of nodes without labels. */
typedef struct {
  const QuoitRayRow *rows; /* those that lack labels */
  guint n_rows;
  GHashTable *elsewhere; /* names of resources of amount 1 on other nodes */
  guint devices_per_chip;
  QuoitShape stated; /* for what the catalogue leaves open; no dimensions: not stated */
} QuoitRayUnlabelled;

typedef struct {
  QuoitRayPlace *places; /* one a row */
  GStringChunk *texts;   /* theirs */
  guint n_outside;       /* rows that are in no slice */
  guint first_outside;
  guint n_stated; /* slices whose topology was the stated one */
  guint wrong;    /* on failure: the row that the message is about */
} QuoitRayPlaces;

gboolean quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error);
void quoit_ray_places_clear (QuoitRayPlaces *places);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayPlaces, quoit_ray_places_clear)

/* A resource of amount 1 that may be a slice's name, as far as its own name tells. */
gboolean quoit_ray_may_name_slice (const char *resource);

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
