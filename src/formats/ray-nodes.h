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

gboolean quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error);

/* Fills what labels and resources say: pool, kind, slice, worker id. @claims also takes warnings. */
gboolean quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, QuoitClaims *claims,
                                 QuoitNodeClaim *claim, GError **error);
