/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fields of one row, in both forms of Ray's lists of nodes. */
#include <string.h>

#include "base/label-names.h"
#include "formats/ray-nodes.h"
#include "formats/ray-values.h"

static const struct {
  const char *id, *name, *address, *resources, *labels;
} members[] = {
  [QUOIT_RAY_ROW_LISTED] = { "node_id", "node_name", "node_ip", "resources_total", "labels" },
  [QUOIT_RAY_ROW_OBJECT] = { "NodeID", "NodeName", "NodeManagerAddress", "Resources", "Labels" },
};

static gboolean
read_listed_state (const QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  static const struct {
    const char *word;
    QuoitNodeState state;
  } states[] = { { "ALIVE", QUOIT_NODE_ALIVE }, { "DRAINING", QUOIT_NODE_DRAINING }, { "DEAD", QUOIT_NODE_DEAD } };
  JsonNode *node = quoit_tree_member (row->node, "state");
  const char *text = node == NULL ? NULL : quoit_ray_text (tree, node);

  if (node == NULL)
    return quoit_tree_fail (tree, row->node, error, "no 'state': expected ALIVE, DRAINING or DEAD");
  for (unsigned i = 0; text != NULL && i < G_N_ELEMENTS (states); i++)
    if (strcmp (text, states[i].word) == 0)
      {
        row->state = states[i].state;
        return TRUE;
      }
  return quoit_tree_refuse (tree, node, "ALIVE, DRAINING or DEAD", error);
}

static gboolean
read_object_state (const QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  JsonNode *node = quoit_tree_member (row->node, "Alive");
  gboolean is_alive;

  if (node == NULL)
    node = quoit_tree_member (row->node, "alive");
  if (node == NULL)
    return quoit_tree_fail (tree, row->node, error, "no 'Alive': expected true or false");
  if (!quoit_tree_boolean (tree, node, &is_alive, error))
    return FALSE;
  row->state = is_alive ? QUOIT_NODE_ALIVE : QUOIT_NODE_DEAD;
  return TRUE;
}

static gboolean
read_head (const QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  JsonNode *node = quoit_tree_member (row->node, "is_head_node");
  gboolean is_head = FALSE;

  if (node != NULL && !quoit_tree_boolean (tree, node, &is_head, error))
    return FALSE;
  if (is_head || quoit_tree_member (row->resources, "node:__internal_head__") != NULL)
    row->flags |= QUOIT_NODE_RAY_HEAD;
  return TRUE;
}

gboolean
quoit_ray_row_read (const QuoitTree *tree, JsonNode *node, QuoitRayRow *row, GError **error)
{
  JsonObject *object;

  *row = (QuoitRayRow) { .node = node };
  if (!quoit_tree_object (tree, node, &object, error))
    return FALSE;
  if (quoit_tree_member (node, "NodeID") != NULL)
    row->form = QUOIT_RAY_ROW_OBJECT;
  else if (quoit_tree_member (node, "node_id") == NULL)
    return quoit_tree_fail (tree, node, error,
                            "a row without id: expected 'node_id' (ray list nodes) or 'NodeID' (ray.nodes())");

  row->labels = quoit_tree_member (node, members[row->form].labels);
  row->resources = quoit_tree_member (node, members[row->form].resources);
  if (!quoit_ray_member_text (tree, node, members[row->form].id, &row->id, error)
      || !quoit_ray_member_text (tree, node, members[row->form].name, &row->name, error)
      || !quoit_ray_member_text (tree, node, members[row->form].address, &row->address, error))
    return FALSE;
  if (row->id == NULL)
    return quoit_tree_fail (tree, node, error, "an empty id: expected Ray's id of the node");
  if (row->name == NULL)
    row->name = row->address != NULL ? row->address : row->id;

  if (row->form == QUOIT_RAY_ROW_LISTED ? !read_listed_state (tree, row, error) : !read_object_state (tree, row, error))
    return FALSE;
  return read_head (tree, row, error);
}

gboolean
quoit_ray_row_lacks_chips (const QuoitRayRow *row)
{
  JsonNode *node = quoit_tree_member (row->resources, "TPU");

  return row->state == QUOIT_NODE_DEAD
         && (node == NULL || (JSON_NODE_HOLDS_VALUE (node) && json_node_get_double (node) == 0));
}

gboolean
quoit_ray_row_lacks_labels (const QuoitRayRow *row)
{
  static const char *const labels[]
      = { QUOIT_RAY_LABEL_SLICE_NAME, QUOIT_RAY_LABEL_WORKER_ID, QUOIT_RAY_LABEL_TOPOLOGY, QUOIT_RAY_LABEL_POD_TYPE };
  JsonNode *chips = quoit_tree_member (row->resources, "TPU");

  if (chips == NULL || !JSON_NODE_HOLDS_VALUE (chips) || json_node_get_double (chips) <= 0)
    return FALSE;
  for (unsigned i = 0; i < G_N_ELEMENTS (labels); i++)
    if (quoit_tree_member (row->labels, labels[i]) != NULL)
      return FALSE;
  return TRUE;
}
