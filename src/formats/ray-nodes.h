/* SPDX-License-Identifier: Apache-2.0 */
/* One row of Ray's node listings, whichever of its two forms it has. */
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
} QuoitRayContext;

enum { QUOIT_RAY_MOST_OF_SLICE = 4096 };

gboolean quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error);

/* Whether the row is of a dead node and does not tell its chips, as ray.nodes() does: what it had is better said by the
 * rows of the same slice, so it is described after them. */
gboolean quoit_ray_row_lacks_chips (const QuoitRayRow *row);

/* Fills what labels and resources say: pool, kind, slice (a text of the claims), worker id. */
gboolean quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, QuoitRayContext *context,
                                 QuoitNodeClaim *claim, GError **error);
