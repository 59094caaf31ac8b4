/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Ray's nodes: from the lists of `ray list nodes` and ray.nodes(), and from a QuoitAddedNodes.
 *
 * Each row is one node. A row is first read into plain values (quoit_ray_row_read()) and then described
 * (quoit_ray_row_describe()), which derives its pool, kind, slice and worker id. Some rows are described only after all
 * others: see quoit_ray_row_lacks_chips() and quoit_ray_row_lacks_labels(). */
#pragma once

#include "formats/formats.h"
#include "formats/ray-values.h"
#include "formats/tree.h"

typedef enum {
  QUOIT_RAY_ROW_LISTED, /* `ray list nodes`: node_id, state, resources_total, labels */
  QUOIT_RAY_ROW_OBJECT, /* ray.nodes(): NodeID, Alive, Resources, Labels */
  QUOIT_RAY_ROW_ADDED   /* a node of QuoitAddedNodes */
} QuoitRayRowForm;

/* The part of a row that a message is about. */
typedef enum {
  QUOIT_RAY_PART_ROW,
  QUOIT_RAY_PART_RESOURCES, /* all of them */
  QUOIT_RAY_PART_LABEL,     /* the one with the given name, as the two below */
  QUOIT_RAY_PART_RESOURCE
} QuoitRayRowPart;

/* The fields of a row. Its tree, the added nodes or the QuoitRayTextRows own the texts. The reader of the row owns the
   arrays. */
typedef struct {
  QuoitRayRowForm form;
  guint8 state; /* QuoitNodeState */
  guint8 flags; /* QuoitNodeFlags */
  guint16 n_labels, n_resources;
  const char *id, *name, *address;
  const QuoitPair *labels;
  const QuoitResource *resources;
  guint number;      /* of an added node, from 0 */
  gboolean lacks_id; /* of an added node: the name is also the id */
  /* The texts stay while the list is read, and those of labels and resources are interned: equal texts have equal
     pointers. */
  gboolean keeps_texts;
  QuoitTree *tree;  /* of a row of a list, with its node there */
  JsonNode *node;   /* NULL: of an added node, or of a row that was read from text */
  const char *text; /* of a row that was read from text */
  gsize n_text;
  int element; /* of the list, if the tree has one at a time; otherwise -1 */
} QuoitRayRow;

/* The arrays of a row of a list. */
typedef struct {
  QuoitPair labels[QUOIT_RAY_MOST_ENTRIES];
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES];
} QuoitRayRowArrays;

/* What the rows read so far show about one slice. */
typedef struct {
  guint32 n_rows;
  guint32 kind;      /* kind of a row with chips, plus 1; 0: no such row yet */
  gboolean is_alive; /* that row is not dead */
} QuoitRaySliceSummary;

/* The last row that was described and keeps its texts, without the facts that differ from node to node. */
typedef struct {
  gboolean is_set;
  guint16 n_labels, n_resources;
  guint32 pool, kind;
  gboolean has_chips;
  QuoitRayRowArrays arrays;
} QuoitRayLastRow;

/* The state that the rows of one list share. */
typedef struct {
  QuoitClaims *claims;
  GHashTable *slices; /* name -> QuoitRaySliceSummary */
  GHashTable *warned; /* texts of warnings that are given only once */
  guint32 n_warned, n_omitted_warnings;
  guint devices_per_chip; /* the amount of TPU that the cluster counts for one chip */
  QuoitRayLastRow last;
} QuoitRayRowContext;

/* The place of a node without TPU labels in its slice, as ray-legacy.h finds it. */
typedef struct {
  const char *slice; /* NULL: in no slice, and the other fields are not set */
  const char *pod_type, *topology;
  QuoitGeneration generation;
  QuoitShape shape;
  gint32 worker_id; /* -1: none, because the slice has more nodes than hosts */
  guint8 flags;     /* QuoitNodeFlags */
} QuoitRayPlace;

enum { QUOIT_RAY_MOST_SLICE_NODES = 4096 };

/* Reads a row of a list. The row refers to @arrays. */
gboolean quoit_ray_row_read (QuoitTree *tree, JsonNode *node, QuoitRayRowArrays *arrays, QuoitRayRow *row,
                             GError **error);

/* Returns the row of a node. It refers to @arrays. Its texts are valid until the next call that changes @added. */
QuoitRayRow quoit_added_nodes_row (const QuoitAddedNodes *added, guint index, QuoitRayRowArrays *arrays);

/* Returns the place of a part for messages, such as "$[2].Labels.k" or "node 2 'x': label 'k'". @name: of the label or
   the resource, otherwise NULL. Free it with g_free(). */
char *quoit_ray_row_place (const QuoitRayRow *row, QuoitRayRowPart part, const char *name);
/* Puts the place in front of an error that is already set. Returns FALSE. */
gboolean quoit_ray_row_prefix_place (const QuoitRayRow *row, QuoitRayRowPart part, const char *name, GError **error);
/* Fails with the message "PLACE: 'VALUE': expected EXPECTED". Returns FALSE. */
gboolean quoit_ray_row_refuse (const QuoitRayRow *row, QuoitRayRowPart part, const char *name, const char *value,
                               const char *expected, GError **error);

/* Returns the resource, or NULL. */
const QuoitResource *quoit_ray_row_resource (const QuoitRayRow *row, const char *name);

/* Returns whether the row is a dead node without its chips, as in ray.nodes(). Describe such rows last, because other
   rows of the same slice show which chips the node had. */
gboolean quoit_ray_row_lacks_chips (const QuoitRayRow *row);

/* Returns whether the row has chips but none of Ray's TPU labels, as in Ray versions without these labels. */
gboolean quoit_ray_row_lacks_labels (const QuoitRayRow *row);

/* Fills the pool, kind, slice and worker id of @claim from the labels and resources of the row. For a row without
   labels, @place supplies what the labels lack; it may be NULL. The claims own the texts of @claim. */
gboolean quoit_ray_row_describe (const QuoitRayRow *row, const QuoitRayPlace *place, QuoitRayRowContext *context,
                                 QuoitNodeClaim *claim, GError **error);

/* The total resources of one node of the list. */
typedef struct {
  guint first; /* index of its first resource in the totals of the listing */
  guint16 n_totals;
  guint8 is_listed; /* from `ray list nodes`, which rounds memory */
} QuoitRayListedNode;

/* A list of nodes that was read, and what the readers of groups and of available resources need of it. */
typedef struct {
  QuoitClaims *claims;
  GStringChunk *texts;
  GHashTable *ids; /* node id -> index of the node in the claims, plus 1 */
  GArray *totals;  /* of QuoitResource: total resources of all nodes, without resources that are not quantities of the
                      node; NULL: not needed */
  GArray *nodes;   /* of QuoitRayListedNode, one per node */
} QuoitRayListing;

void quoit_ray_listing_clear (QuoitRayListing *listing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayListing, quoit_ray_listing_clear)

/* Fills @listing from the nodes of @files. Clear @listing even if this fails. */
gboolean quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error);
