/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/added-nodes.h"

#include <string.h>

#include "base/label-names.h"
#include "base/strings.h"
#include "formats/ray-nodes.h"
#include "models/ray/label-syntax.h"

typedef struct {
  QuoitStringId key, value;
} Label;

typedef struct {
  QuoitAmount amount;
  QuoitStringId name;
} Resource;

typedef struct {
  const char *id, *name, *address; /* in texts */
  guint32 first_label, first_resource;
  guint16 n_labels, n_resources;
  guint8 state; /* QuoitNodeState */
  gboolean lacks_id;
} Node;

/* The labels of the last call of quoit_added_nodes_set_slice(), because the next host is nearly always of an equal
 * slice. */
typedef struct {
  char *accelerator, *topology; /* as given; NULL: no call yet */
  QuoitStringId shape, pod_type, type;
  gboolean has_type;
} SliceLabels;

/* The labels and resources of a node are consecutive, because only those of the last node change. */
struct _QuoitAddedNodes {
  GArray *nodes;         /* of Node */
  GArray *labels;        /* of Label */
  GArray *resources;     /* of Resource */
  GStringChunk *texts;   /* ids, names and addresses, which differ from node to node */
  QuoitStrings *strings; /* of labels and resources */
  GPtrArray *removed;    /* ids in texts */
  SliceLabels slice;
};

QuoitAddedNodes *
quoit_added_nodes_new (void)
{
  QuoitAddedNodes *added = g_new0 (QuoitAddedNodes, 1);

  added->nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  added->labels = g_array_new (FALSE, FALSE, sizeof (Label));
  added->resources = g_array_new (FALSE, FALSE, sizeof (Resource));
  added->texts = g_string_chunk_new (4096);
  added->strings = quoit_strings_new (0, 0);
  added->removed = g_ptr_array_new ();
  return added;
}

void
quoit_added_nodes_free (QuoitAddedNodes *added)
{
  if (added == NULL)
    return;
  g_array_unref (added->nodes);
  g_array_unref (added->labels);
  g_array_unref (added->resources);
  g_string_chunk_free (added->texts);
  quoit_strings_free (added->strings);
  g_ptr_array_unref (added->removed);
  g_free (added->slice.accelerator);
  g_free (added->slice.topology);
  g_free (added);
}

/* Puts the number of the node, and its name if it has one, in front of an error that is already set. */
static gboolean
prefix_node (guint number, const char *name, GError **error)
{
  g_autofree char *quoted = name == NULL ? NULL : quoit_quote (name);

  g_prefix_error (error, quoted == NULL ? "node %u: " : "node %u %s: ", number, quoted);
  return FALSE;
}

static gboolean
fail_text (const char *what, const char *text, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (text);

  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "%s %s", what, quoted);
}

/* --- nodes --- */

static gboolean
check_text (const char *what, const char *text, GError **error)
{
  if (text == NULL)
    return TRUE;
  if (strlen (text) > QUOIT_RAY_MOST_NAME_BYTES)
    return fail_text (what, text, "at most 253 bytes", error);
  return g_utf8_validate (text, -1, NULL) || fail_text (what, text, "UTF-8", error);
}

static const char *
text_or_null (const char *text)
{
  return text == NULL || *text == '\0' ? NULL : text;
}

static const char *
store_text (QuoitAddedNodes *added, const char *text)
{
  return text == NULL ? NULL : g_string_chunk_insert (added->texts, text);
}

static gboolean
check_node (const char *id, const char *name, const char *address, QuoitNodeState state, GError **error)
{
  if ((guint) state > QUOIT_NODE_DEAD)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "state '%d': expected a QuoitNodeState", (int) state);
  if (id == NULL && name == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "neither an id nor a name: expected one of them");
  return check_text ("id", id, error) && check_text ("name", name, error) && check_text ("address", address, error);
}

gboolean
quoit_added_nodes_add (QuoitAddedNodes *added, const char *id, const char *name, const char *address,
                       QuoitNodeState state, GError **error)
{
  Node node = { .first_label = added->labels->len, .first_resource = added->resources->len, .state = (guint8) state };

  id = text_or_null (id);
  name = text_or_null (name);
  address = text_or_null (address);
  if (!check_node (id, name, address, state, error))
    return prefix_node (added->nodes->len, name != NULL ? name : id, error);
  if (added->nodes->len == QUOIT_MAX_NODES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "one node too many: expected at most %d", QUOIT_MAX_NODES);

  node.id = store_text (added, id);
  node.address = store_text (added, address);
  node.name = name != NULL ? store_text (added, name) : node.address != NULL ? node.address : node.id;
  if (address != NULL && strcmp (address, node.name) == 0)
    node.address = node.name;
  node.lacks_id = id == NULL;
  if (id == NULL)
    node.id = node.name;
  g_array_append_val (added->nodes, node);
  return TRUE;
}

guint
quoit_added_nodes_count (const QuoitAddedNodes *added)
{
  return added->nodes->len;
}

QuoitRayRow
quoit_added_nodes_row (const QuoitAddedNodes *added, guint index, QuoitRayRowArrays *arrays)
{
  const Node *node = &g_array_index (added->nodes, Node, index);
  QuoitRayRow row = { .form = QUOIT_RAY_ROW_ADDED,
                      .state = node->state,
                      .n_labels = node->n_labels,
                      .n_resources = node->n_resources,
                      .id = node->id,
                      .name = node->name,
                      .address = node->address,
                      .labels = arrays->labels,
                      .resources = arrays->resources,
                      .number = index,
                      .lacks_id = node->lacks_id,
                      .keeps_texts = TRUE,
                      .element = -1 };

  for (guint16 i = 0; i < node->n_labels; i++)
    {
      const Label *label = &g_array_index (added->labels, Label, node->first_label + i);

      arrays->labels[i] = (QuoitPair) { quoit_strings_get (added->strings, label->key),
                                        quoit_strings_get (added->strings, label->value) };
    }
  for (guint16 i = 0; i < node->n_resources; i++)
    {
      const Resource *resource = &g_array_index (added->resources, Resource, node->first_resource + i);

      arrays->resources[i] = (QuoitResource) { quoit_strings_get (added->strings, resource->name), resource->amount };
    }
  if (quoit_ray_row_resource (&row, QUOIT_RAY_HEAD_RESOURCE) != NULL)
    row.flags |= QUOIT_NODE_RAY_HEAD;
  return row;
}

/* --- facts of the last node --- */

static Node *
last_node (const QuoitAddedNodes *added)
{
  return added->nodes->len == 0 ? NULL : &g_array_index (added->nodes, Node, added->nodes->len - 1);
}

/* Puts the place of a label or a resource of the last node in front of an error that is already set. */
static gboolean
prefix_fact (const QuoitAddedNodes *added, const char *what, const char *name, GError **error)
{
  g_autofree char *quoted = quoit_quote (name);

  g_prefix_error (error, "%s %s: ", what, quoted);
  return prefix_node (added->nodes->len - 1, last_node (added)->name, error);
}

static gboolean
check_last_node (const QuoitAddedNodes *added, const char *what, const char *name, GError **error)
{
  g_autofree char *quoted = NULL;

  if (last_node (added) != NULL)
    return TRUE;
  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: no node has it: expected a node to be added first", what,
                     quoted);
}

static gboolean
fail_full (const QuoitAddedNodes *added, const char *what, const char *name, GError **error)
{
  quoit_fail (error, QUOIT_ERROR_INVALID, "one %s too many: expected at most %d", what, QUOIT_RAY_MOST_ENTRIES);
  return prefix_fact (added, what, name, error);
}

/* Returns the label of the last node, or NULL. */
static Label *
find_label (const QuoitAddedNodes *added, QuoitStringId key)
{
  const Node *node = last_node (added);

  for (guint32 i = node->first_label; i < added->labels->len; i++)
    if (g_array_index (added->labels, Label, i).key.index == key.index)
      return &g_array_index (added->labels, Label, i);
  return NULL;
}

static void
put_label (QuoitAddedNodes *added, const char *key, QuoitStringId value)
{
  Label label = { quoit_strings_intern (added->strings, key), value };
  Label *known = find_label (added, label.key);

  if (known != NULL)
    {
      known->value = label.value;
      return;
    }
  g_array_append_val (added->labels, label);
  last_node (added)->n_labels++;
}

gboolean
quoit_added_nodes_set_label (QuoitAddedNodes *added, const char *key, const char *value, GError **error)
{
  if (!check_last_node (added, "label", key, error))
    return FALSE;
  if (!quoit_label_check_key (key, error) || !quoit_label_check_value (value, error))
    return prefix_fact (added, "label", key, error);
  if (last_node (added)->n_labels == QUOIT_RAY_MOST_ENTRIES
      && find_label (added, quoit_strings_intern (added->strings, key)) == NULL)
    return fail_full (added, "label", key, error);
  put_label (added, key, quoit_strings_intern (added->strings, value));
  return TRUE;
}

static gboolean
check_resource (const char *name, QuoitAmount amount, GError **error)
{
  if (*name == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "no name: expected one such as CPU");
  if (strlen (name) > QUOIT_RAY_MOST_NAME_BYTES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%zu bytes: expected at most 253", strlen (name));
  if (!g_utf8_validate (name, -1, NULL))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "expected UTF-8");
  return amount.e4 >= 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "'%" G_GINT64_FORMAT "': expected an amount in ten-thousandths that is not negative",
                        amount.e4);
}

gboolean
quoit_added_nodes_set_resource (QuoitAddedNodes *added, const char *name, QuoitAmount amount, GError **error)
{
  Resource resource = { .amount = amount };
  Node *node = last_node (added);

  if (!check_last_node (added, "resource", name, error))
    return FALSE;
  if (!check_resource (name, amount, error))
    return prefix_fact (added, "resource", name, error);
  resource.name = quoit_strings_intern (added->strings, name);
  for (guint32 i = node->first_resource; i < added->resources->len; i++)
    if (g_array_index (added->resources, Resource, i).name.index == resource.name.index)
      {
        g_array_index (added->resources, Resource, i).amount = amount;
        return TRUE;
      }
  if (node->n_resources == QUOIT_RAY_MOST_ENTRIES)
    return fail_full (added, "resource", name, error);
  g_array_append_val (added->resources, resource);
  node->n_resources++;
  return TRUE;
}

/* --- slices --- */

static gboolean
check_slice (const char *slice, gint64 worker_id, GError **error)
{
  if (*slice == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slice '': expected a name");
  if (!quoit_label_check_value (slice, error))
    return g_prefix_error (error, "slice: "), FALSE;
  return (worker_id >= 0 && worker_id <= QUOIT_MAX_WORKER_ID)
         || quoit_fail (error, QUOIT_ERROR_INVALID, "worker id '%" G_GINT64_FORMAT "': expected 0 to %d", worker_id,
                        QUOIT_MAX_WORKER_ID);
}

/* Finds the labels that all hosts of such a slice have. */
static gboolean
find_slice_labels (QuoitAddedNodes *added, const char *accelerator, const char *topology, GError **error)
{
  SliceLabels *labels = &added->slice;
  g_autofree char *pod_type = NULL, *formatted = NULL;
  QuoitGeneration generation;
  QuoitShape shape;
  const char *type;

  if (g_strcmp0 (labels->accelerator, accelerator) == 0 && g_strcmp0 (labels->topology, topology) == 0)
    return TRUE;
  if (!quoit_generation_parse (accelerator, &generation, error) || !quoit_shape_parse (topology, &shape, error)
      || !quoit_shape_check (generation, shape, error))
    return FALSE;
  pod_type = quoit_pod_type_format (generation, shape);
  formatted = quoit_shape_format (shape);
  type = quoit_generation_facts (generation)->ray_resource;
  g_free (labels->accelerator);
  g_free (labels->topology);
  *labels = (SliceLabels) { .accelerator = g_strdup (accelerator),
                            .topology = g_strdup (topology),
                            .shape = quoit_strings_intern (added->strings, formatted),
                            .pod_type = quoit_strings_intern (added->strings, pod_type),
                            .type = quoit_strings_intern (added->strings, type == NULL ? "" : type),
                            .has_type = type != NULL };
  return TRUE;
}

gboolean
quoit_added_nodes_set_slice (QuoitAddedNodes *added, const char *slice, gint64 worker_id, const char *accelerator,
                             const char *topology, GError **error)
{
  const SliceLabels *labels = &added->slice;
  char worker[32];

  if (!check_last_node (added, "slice", slice, error))
    return FALSE;
  if (!check_slice (slice, worker_id, error) || !find_slice_labels (added, accelerator, topology, error))
    return prefix_node (added->nodes->len - 1, last_node (added)->name, error);
  /* Refuses a few nodes that have some of these labels already and as many as possible. */
  if (last_node (added)->n_labels + 5 > QUOIT_RAY_MOST_ENTRIES)
    return fail_full (added, "label", QUOIT_RAY_LABEL_SLICE_NAME, error);

  g_snprintf (worker, sizeof worker, "%" G_GINT64_FORMAT, worker_id);
  put_label (added, QUOIT_RAY_LABEL_SLICE_NAME, quoit_strings_intern (added->strings, slice));
  put_label (added, QUOIT_RAY_LABEL_WORKER_ID, quoit_strings_intern (added->strings, worker));
  put_label (added, QUOIT_RAY_LABEL_TOPOLOGY, labels->shape);
  put_label (added, QUOIT_RAY_LABEL_POD_TYPE, labels->pod_type);
  if (labels->has_type)
    put_label (added, QUOIT_RAY_LABEL_ACCELERATOR_TYPE, labels->type);
  return TRUE;
}

/* --- nodes to remove --- */

gboolean
quoit_added_nodes_remove (QuoitAddedNodes *added, const char *id, GError **error)
{
  if (*id == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "id '': expected the id of a node to remove");
  if (!check_text ("id", id, error))
    return FALSE;
  if (added->removed->len == QUOIT_MAX_NODES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "one id too many: expected at most %d", QUOIT_MAX_NODES);
  g_ptr_array_add (added->removed, (char *) store_text (added, id));
  return TRUE;
}

const char *const *
quoit_added_nodes_removed (const QuoitAddedNodes *added, guint *n_removed)
{
  *n_removed = added->removed->len;
  return (const char *const *) added->removed->pdata;
}
