/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fields of one row, in both forms of Ray's lists of nodes, and finds the places of messages about it. */
#include <string.h>

#include "base/label-names.h"
#include "formats/json.h"
#include "formats/ray-nodes.h"
#include "models/ray/label-syntax.h"

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
  if (is_head || quoit_ray_row_resource (row, QUOIT_RAY_HEAD_RESOURCE) != NULL)
    row->flags |= QUOIT_NODE_RAY_HEAD;
  return TRUE;
}

static gboolean
read_labels (const QuoitTree *tree, JsonNode *map, QuoitPair *labels, guint16 *n_labels, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key;
  JsonNode *node;

  if (map == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, map, &object, error))
    return FALSE;
  if (json_object_get_size (object) > QUOIT_RAY_MOST_ENTRIES)
    return quoit_tree_fail (tree, map, error, "%u labels: expected at most %d", json_object_get_size (object),
                            QUOIT_RAY_MOST_ENTRIES);

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &key, &node))
    {
      const char *value = quoit_ray_text (tree, node);

      if (value == NULL)
        return quoit_tree_refuse (tree, node, "text", error);
      if (!quoit_label_check_key (key, error) || !quoit_label_check_value (value, error))
        return quoit_tree_prefix_place (tree, node, error);
      labels[(*n_labels)++] = (QuoitPair) { key, value };
    }
  return TRUE;
}

gboolean
quoit_ray_row_read (QuoitTree *tree, JsonNode *node, QuoitRayRowArrays *arrays, QuoitRayRow *row, GError **error)
{
  JsonObject *object;

  *row = (QuoitRayRow) { .tree = tree,
                         .node = node,
                         .element = quoit_tree_element (tree),
                         .labels = arrays->labels,
                         .resources = arrays->resources };
  if (!quoit_tree_object (tree, node, &object, error))
    return FALSE;
  if (quoit_tree_member (node, "NodeID") != NULL)
    row->form = QUOIT_RAY_ROW_OBJECT;
  else if (quoit_tree_member (node, "node_id") == NULL)
    return quoit_tree_fail (tree, node, error,
                            "a row without id: expected 'node_id' (ray list nodes) or 'NodeID' (ray.nodes())");

  if (!quoit_ray_member_text (tree, node, members[row->form].id, &row->id, error)
      || !quoit_ray_member_text (tree, node, members[row->form].name, &row->name, error)
      || !quoit_ray_member_text (tree, node, members[row->form].address, &row->address, error))
    return FALSE;
  if (row->id == NULL)
    return quoit_tree_fail (tree, node, error, "an empty id: expected Ray's id of the node");
  if (row->name == NULL)
    row->name = row->address != NULL ? row->address : row->id;

  return (row->form == QUOIT_RAY_ROW_LISTED ? read_listed_state (tree, row, error)
                                            : read_object_state (tree, row, error))
         && read_labels (tree, quoit_tree_member (node, members[row->form].labels), arrays->labels, &row->n_labels,
                         error)
         && quoit_ray_resources (tree, quoit_tree_member (node, members[row->form].resources), arrays->resources,
                                 &row->n_resources, error)
         && read_head (tree, row, error);
}

const QuoitResource *
quoit_ray_row_resource (const QuoitRayRow *row, const char *name)
{
  for (guint16 i = 0; i < row->n_resources; i++)
    if (strcmp (row->resources[i].name, name) == 0)
      return &row->resources[i];
  return NULL;
}

gboolean
quoit_ray_row_lacks_chips (const QuoitRayRow *row)
{
  const QuoitResource *chips = row->state != QUOIT_NODE_DEAD ? NULL : quoit_ray_row_resource (row, "TPU");

  return row->state == QUOIT_NODE_DEAD && (chips == NULL || chips->amount.e4 == 0);
}

static gboolean
places_node (const char *label)
{
  static const char *const labels[]
      = { QUOIT_RAY_LABEL_SLICE_NAME, QUOIT_RAY_LABEL_WORKER_ID, QUOIT_RAY_LABEL_TOPOLOGY, QUOIT_RAY_LABEL_POD_TYPE };

  for (unsigned i = 0; i < G_N_ELEMENTS (labels); i++)
    if (strcmp (label, labels[i]) == 0)
      return TRUE;
  return FALSE;
}

gboolean
quoit_ray_row_lacks_labels (const QuoitRayRow *row)
{
  const QuoitResource *chips;

  for (guint16 i = 0; i < row->n_labels; i++)
    if (places_node (row->labels[i].key))
      return FALSE;
  chips = quoit_ray_row_resource (row, "TPU");
  return chips != NULL && chips->amount.e4 > 0;
}

/* --- places --- */

static JsonNode *
part_node (const QuoitRayRow *row, JsonNode *node, QuoitRayRowPart part, const char *name)
{
  JsonNode *map = part == QUOIT_RAY_PART_ROW     ? NULL
                  : part == QUOIT_RAY_PART_LABEL ? quoit_tree_member (node, members[row->form].labels)
                                                 : quoit_tree_member (node, members[row->form].resources);
  JsonNode *member = name == NULL ? NULL : quoit_tree_member (map, name);

  return member != NULL ? member : map != NULL ? map : node;
}

static char *
added_place (const QuoitRayRow *row, QuoitRayRowPart part, const char *name)
{
  g_autofree char *node = quoit_quote (row->name), *quoted = name == NULL ? NULL : quoit_quote (name);

  if (part == QUOIT_RAY_PART_ROW || quoted == NULL)
    return g_strdup_printf ("node %u %s", row->number, node);
  return g_strdup_printf ("node %u %s: %s %s", row->number, node, part == QUOIT_RAY_PART_LABEL ? "label" : "resource",
                          quoted);
}

char *
quoit_ray_row_place (const QuoitRayRow *row, QuoitRayRowPart part, const char *name)
{
  JsonNode *node = row->node;

  if (row->form == QUOIT_RAY_ROW_ADDED)
    return added_place (row, part, name);
  /* The tree may have the contents of a later row. */
  if (row->element >= 0)
    {
      node = node == NULL ? quoit_json_parse_checked (row->text, row->n_text, NULL) : json_node_ref (node);
      quoit_tree_take_element (row->tree, node, (unsigned) row->element);
    }
  return quoit_tree_place (row->tree, part_node (row, node, part, name));
}

gboolean
quoit_ray_row_prefix_place (const QuoitRayRow *row, QuoitRayRowPart part, const char *name, GError **error)
{
  g_autofree char *place = quoit_ray_row_place (row, part, name);

  g_prefix_error (error, "%s: ", place);
  return FALSE;
}

gboolean
quoit_ray_row_refuse (const QuoitRayRow *row, QuoitRayRowPart part, const char *name, const char *value,
                      const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (value);

  quoit_fail_value (error, QUOIT_ERROR_INVALID, quoted, expected);
  return quoit_ray_row_prefix_place (row, part, name, error);
}
