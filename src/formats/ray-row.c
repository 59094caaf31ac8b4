/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "formats/quantity.h"
#include "model/labels.h"

/* More than any node has, and few enough to stand on the stack. */
enum { MOST_ENTRIES = 256, MOST_WARNINGS = 20 };

/* A DNS name has no more; Ray sets no limit. */
enum { MOST_NAME_BYTES = 253 };

/* The members of a row in each form. */
static const struct {
  const char *id, *name, *address, *resources, *labels;
} members[] = {
  [QUOIT_RAY_ROW_LISTED] = { "node_id", "node_name", "node_ip", "resources_total", "labels" },
  [QUOIT_RAY_ROW_OBJECT] = { "NodeID", "NodeName", "NodeManagerAddress", "Resources", "Labels" },
};

/* What the labels of a row say of slices. */
typedef struct {
  JsonNode *slice, *worker_id, *topology, *pod_type, *accelerator, *group;
} TpuLabels;

static gboolean
refuse (const QuoitTree *tree, JsonNode *node, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_tree_quote (tree, node);

  return quoit_tree_fail (tree, node, error, "%s: expected %s", quoted, expected);
}

static gboolean
pass_on (const QuoitTree *tree, JsonNode *node, GError **error)
{
  g_autofree char *place = quoit_tree_place (tree, node);

  g_prefix_error (error, "%s: ", place);
  return FALSE;
}

/* A YAML listing may say 3 where '3' is meant, and Ray's own writer leaves a lone y or n without quotes: the text that
 * stands there. */
static const char *
text_of (const QuoitTree *tree, JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  const char *plain;

  if (type == G_TYPE_STRING)
    return json_node_get_string (node);
  plain = type == G_TYPE_NONE ? NULL : quoit_tree_plain (tree, node);
  return plain != NULL && (type != G_TYPE_BOOLEAN || strlen (plain) == 1) ? plain : NULL;
}

static gboolean
read_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text, GError **error)
{
  JsonNode *node = quoit_tree_member (object, name);

  *text = node == NULL ? NULL : text_of (tree, node);
  if (node != NULL && *text == NULL)
    return refuse (tree, node, "text", error);
  if (*text != NULL && strlen (*text) > MOST_NAME_BYTES)
    return refuse (tree, node, "at most 253 bytes", error);
  if (*text != NULL && **text == '\0')
    *text = NULL;
  return TRUE;
}

static gboolean
read_listed_state (const QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  static const struct {
    const char *word;
    QuoitNodeState state;
  } states[] = { { "ALIVE", QUOIT_NODE_ALIVE }, { "DRAINING", QUOIT_NODE_DRAINING }, { "DEAD", QUOIT_NODE_DEAD } };
  JsonNode *node = quoit_tree_member (row->node, "state");
  const char *text = node == NULL ? NULL : text_of (tree, node);

  if (node == NULL)
    return quoit_tree_fail (tree, row->node, error, "no 'state': expected ALIVE, DRAINING or DEAD");
  for (unsigned i = 0; text != NULL && i < G_N_ELEMENTS (states); i++)
    if (strcmp (text, states[i].word) == 0)
      {
        row->state = states[i].state;
        return TRUE;
      }
  return refuse (tree, node, "ALIVE, DRAINING or DEAD", error);
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
  if (!read_text (tree, node, members[row->form].id, &row->id, error)
      || !read_text (tree, node, members[row->form].name, &row->name, error)
      || !read_text (tree, node, members[row->form].address, &row->address, error))
    return FALSE;
  if (row->id == NULL)
    return quoit_tree_fail (tree, node, error, "an empty id: expected Ray's id of the node");
  if (row->name == NULL)
    row->name = row->address != NULL ? row->address : row->id;

  if (row->form == QUOIT_RAY_ROW_LISTED ? !read_listed_state (tree, row, error) : !read_object_state (tree, row, error))
    return FALSE;
  return read_head (tree, row, error);
}

static void
note_label (TpuLabels *tpu, const char *key, JsonNode *value)
{
  if (strncmp (key, "ray.io/", 7) != 0)
    return;
  key += 7;
  if (strcmp (key, "tpu-slice-name") == 0)
    tpu->slice = value;
  else if (strcmp (key, "tpu-worker-id") == 0)
    tpu->worker_id = value;
  else if (strcmp (key, "tpu-topology") == 0)
    tpu->topology = value;
  else if (strcmp (key, "tpu-pod-type") == 0)
    tpu->pod_type = value;
  else if (strcmp (key, "accelerator-type") == 0)
    tpu->accelerator = value;
  else if (strcmp (key, "node-group") == 0)
    tpu->group = value;
}

static gboolean
read_labels (const QuoitTree *tree, const QuoitRayRow *row, QuoitPair *labels, guint16 *n_labels, TpuLabels *tpu,
             GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key;
  JsonNode *node;

  if (row->labels == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, row->labels, &object, error))
    return FALSE;
  if (json_object_get_size (object) > MOST_ENTRIES)
    return quoit_tree_fail (tree, row->labels, error, "%u labels: expected at most 256", json_object_get_size (object));

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &key, &node))
    {
      const char *value = text_of (tree, node);

      if (value == NULL)
        return refuse (tree, node, "text", error);
      if (!quoit_label_check_key (key, error) || !quoit_label_check_value (value, error))
        return pass_on (tree, node, error);
      labels[(*n_labels)++] = (QuoitPair) { key, value };
      if (*value != '\0')
        note_label (tpu, key, node);
    }
  return TRUE;
}

static gboolean
read_amount (const QuoitTree *tree, const char *name, JsonNode *node, QuoitAmount *amount, GError **error)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  gboolean is_memory = strcmp (name, "memory") == 0 || strcmp (name, "object_store_memory") == 0;
  gboolean ok;

  if (type == G_TYPE_DOUBLE || type == G_TYPE_INT64)
    /* Ray keeps doubles: what it counts is what the double gives, also where the text says a whole number. */
    ok = quoit_ray_amount (type == G_TYPE_DOUBLE ? json_node_get_double (node) : (double) json_node_get_int (node),
                           amount, error);
  else if (type == G_TYPE_STRING && is_memory)
    ok = quoit_memory_text_parse (json_node_get_string (node), amount, error);
  else
    return refuse (tree, node, is_memory ? "a number of bytes, or memory such as '1.000 GiB'" : "a number", error);
  return ok || pass_on (tree, node, error);
}

static gboolean
read_resources (const QuoitTree *tree, const QuoitRayRow *row, QuoitResource *resources, QuoitNodeKind *kind,
                GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (row->resources == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, row->resources, &object, error))
    return FALSE;
  if (json_object_get_size (object) > MOST_ENTRIES)
    return quoit_tree_fail (tree, row->resources, error, "%u resources: expected at most 256",
                            json_object_get_size (object));

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node))
    {
      QuoitResource *resource = &resources[kind->n_resources++];

      *resource = (QuoitResource) { .name = name };
      if (*name == '\0')
        return quoit_tree_fail (tree, row->resources, error, "a resource without name: expected one such as CPU");
      if (strlen (name) > MOST_NAME_BYTES)
        return quoit_tree_fail (tree, node, error, "a resource whose name has %zu bytes: expected at most 253",
                                strlen (name));
      if (!read_amount (tree, name, node, &resource->amount, error))
        return FALSE;
      if (strcmp (name, "TPU") != 0)
        continue;
      if (resource->amount.e4 % QUOIT_AMOUNT_UNIT != 0 || resource->amount.e4 / QUOIT_AMOUNT_UNIT > G_MAXUINT16)
        return refuse (tree, node, "a whole number of chips, at most 65535", error);
      kind->chips = (guint16) (resource->amount.e4 / QUOIT_AMOUNT_UNIT);
    }
  return TRUE;
}

static gboolean
read_pod_type (const QuoitTree *tree, JsonNode *node, QuoitGeneration *generation, GError **error)
{
  const char *text = text_of (tree, node), *dash = strrchr (text, '-');
  g_autofree char *name = dash == NULL ? NULL : g_strndup (text, (gsize) (dash - text));

  if (dash == NULL || dash[1] == '\0' || strspn (dash + 1, "0123456789") != strlen (dash + 1))
    return refuse (tree, node, "a pod type: a generation and its cores, such as 'v6e-16'", error);
  return quoit_generation_parse (name, generation, error) || pass_on (tree, node, error);
}

static gboolean
read_generation (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitNodeKind *kind,
                 GError **error)
{
  const char *accelerator = tpu->accelerator == NULL ? NULL : text_of (tree, tpu->accelerator);
  QuoitGeneration other;

  if (tpu->pod_type != NULL && !read_pod_type (tree, tpu->pod_type, &kind->generation, error))
    return FALSE;
  /* On other machines the label names a GPU. */
  if (accelerator == NULL || g_ascii_strncasecmp (accelerator, "TPU", 3) != 0)
    return TRUE;
  if (!quoit_generation_parse (accelerator, &other, error))
    return pass_on (tree, tpu->accelerator, error);
  if (kind->generation == QUOIT_GENERATION_NONE)
    kind->generation = other;
  else if (kind->generation != other && row->state != QUOIT_NODE_DEAD)
    {
      g_autofree char *quoted = quoit_tree_quote (tree, tpu->accelerator);
      g_autofree char *pod_type = quoit_tree_quote (tree, tpu->pod_type);

      return quoit_tree_fail (tree, tpu->accelerator, error, "%s: expected the generation of the pod type %s", quoted,
                              pod_type);
    }
  return TRUE;
}

/* A listing of thousands of rows that are alike must not drown the user: the first ones tell. */
static void
warn (QuoitRayContext *context, const QuoitTree *tree, JsonNode *node, const QuoitRayRow *row, const char *text)
{
  g_autofree char *place = NULL, *quoted = NULL;

  if (context->n_warned == MOST_WARNINGS)
    {
      context->n_left_out++;
      return;
    }
  place = quoit_tree_place (tree, node);
  quoted = quoit_quote (row->name);
  quoit_claims_warn (context->claims, "%s: node %s: %s", place, quoted, text);
  context->n_warned++;
}

/* A topology that nobody knows is no reason to refuse a whole cluster: the node is then no part of a class. */
static void
read_topology (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayContext *context,
               QuoitNodeKind *kind)
{
  g_autoptr (GError) inner = NULL;
  QuoitShape shape;

  if (tpu->topology == NULL)
    return;
  kind->topology = text_of (tree, tpu->topology);
  if (quoit_shape_parse (kind->topology, &shape, &inner)
      && (kind->generation == QUOIT_GENERATION_NONE || quoit_shape_check (kind->generation, shape, &inner)))
    {
      kind->shape = shape;
      return;
    }
  if (!g_hash_table_contains (context->warned, inner->message))
    {
      warn (context, tree, tpu->topology, row, inner->message);
      g_hash_table_add (context->warned, g_strdup (inner->message));
    }
}

static gboolean
read_worker_id (const QuoitTree *tree, const TpuLabels *tpu, gint32 *worker_id, GError **error)
{
  gint64 value;

  *worker_id = -1;
  if (tpu->worker_id == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (text_of (tree, tpu->worker_id), 10, 0, QUOIT_MOST_WORKER_ID, &value, NULL))
    return refuse (tree, tpu->worker_id, "a worker id: a whole number from 0 to 32767", error);
  *worker_id = (gint32) value;
  return TRUE;
}

/* Without labels: the resource that Ray gives each TPU host. */
static void
generation_from_resources (QuoitNodeKind *kind)
{
  static const char prefix[] = "accelerator_type:TPU-";

  for (guint16 i = 0; i < kind->n_resources; i++)
    if (g_str_has_prefix (kind->resources[i].name, prefix)
        && quoit_generation_parse (kind->resources[i].name + strlen ("accelerator_type:"), &kind->generation, NULL))
      return;
}

gboolean
quoit_ray_row_lacks_chips (const QuoitRayRow *row)
{
  JsonNode *node = quoit_tree_member (row->resources, "TPU");

  return row->state == QUOIT_NODE_DEAD
         && (node == NULL || (JSON_NODE_HOLDS_VALUE (node) && json_node_get_double (node) == 0));
}

static void
set_chips (QuoitNodeKind *kind, QuoitResource *resources, guint16 chips)
{
  guint16 at = 0;

  kind->chips = chips;
  if (chips == 0)
    return;
  while (at < kind->n_resources && strcmp (resources[at].name, "TPU") != 0)
    at++;
  resources[at] = (QuoitResource) { "TPU", quoit_amount_from_int (chips) };
  kind->n_resources = MAX (kind->n_resources, at + 1);
}

/* What a dead node had: as the other hosts of its slice, else as such hosts are by default. Without, the node of a
 * group that holds it would seem to be another machine. */
static void
assume_chips (const QuoitRayContext *context, const char *slice, QuoitNodeKind *kind, QuoitResource *resources)
{
  const QuoitRaySlice *known = slice == NULL ? NULL : g_hash_table_lookup (context->slices, slice);
  const QuoitNodeKind *mate
      = known == NULL || known->kind == 0 ? NULL : quoit_claims_kind_at (context->claims, known->kind - 1);

  if (mate != NULL && (kind->topology == NULL || g_strcmp0 (kind->topology, mate->topology) == 0))
    {
      kind->topology = mate->topology;
      kind->shape = mate->shape;
      kind->generation = kind->generation == QUOIT_GENERATION_NONE ? mate->generation : kind->generation;
      kind->pod_type = kind->pod_type == NULL ? mate->pod_type : kind->pod_type;
      set_chips (kind, resources, mate->chips);
    }
  else if (kind->generation != QUOIT_GENERATION_NONE && kind->shape.n_dims > 0)
    set_chips (kind, resources, (guint16) quoit_default_chips_per_host (kind->generation, kind->shape));
}

/* The counters of a slice are of 16 bits, and no slice that there is has more hosts. */
static gboolean
add_to_slice (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayContext *context,
              const QuoitNodeClaim *claim, gboolean has_chips, GError **error)
{
  QuoitRaySlice *slice;

  if (claim->slice == NULL)
    return TRUE;
  slice = g_hash_table_lookup (context->slices, claim->slice);
  if (slice == NULL)
    {
      slice = g_new0 (QuoitRaySlice, 1);
      g_hash_table_insert (context->slices, (char *) claim->slice, slice);
    }
  if (++slice->n_rows > QUOIT_RAY_MOST_OF_SLICE)
    return refuse (tree, tpu->slice, "at most 4096 nodes in a slice", error);
  if (has_chips && (slice->kind == 0 || (row->state != QUOIT_NODE_DEAD && !slice->is_alive)))
    {
      slice->kind = claim->kind + 1;
      slice->is_alive = row->state != QUOIT_NODE_DEAD;
    }
  return TRUE;
}

gboolean
quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, QuoitRayContext *context, QuoitNodeClaim *claim,
                        GError **error)
{
  QuoitClaims *claims = context->claims;
  QuoitPair labels[MOST_ENTRIES];
  QuoitResource resources[MOST_ENTRIES + 1];
  QuoitNodeKind kind = { .labels = labels, .resources = resources };
  TpuLabels tpu = { 0 };

  if (!read_labels (tree, row, labels, &kind.n_labels, &tpu, error)
      || !read_resources (tree, row, resources, &kind, error) || !read_generation (tree, row, &tpu, &kind, error)
      || !read_worker_id (tree, &tpu, &claim->worker_id, error))
    return FALSE;

  if (kind.generation == QUOIT_GENERATION_NONE && kind.chips > 0)
    generation_from_resources (&kind);
  read_topology (tree, row, &tpu, context, &kind);
  kind.pod_type = tpu.pod_type == NULL ? NULL : text_of (tree, tpu.pod_type);
  claim->slice = tpu.slice == NULL ? NULL : quoit_claims_text (claims, text_of (tree, tpu.slice));
  if (quoit_ray_row_lacks_chips (row))
    assume_chips (context, claim->slice, &kind, resources);
  else if (kind.chips == 0 && (tpu.slice != NULL || tpu.worker_id != NULL || tpu.topology != NULL))
    warn (context, tree, row->resources != NULL ? row->resources : row->node, row,
          "its labels say that it is a host of a slice, but it has no resource TPU");
  claim->pool = quoit_claims_pool (claims, tpu.group == NULL ? "default" : text_of (tree, tpu.group));
  claim->kind = quoit_claims_kind (claims, &kind, claim->slice);
  return add_to_slice (tree, row, &tpu, context, claim, kind.chips > 0, error);
}
