/* SPDX-License-Identifier: Apache-2.0 */
/* Derives kind, slice and worker id of a node from the labels and resources of its row. */
#include <string.h>

#include "formats/ray-nodes.h"
#include "formats/ray-values.h"
#include "fleet/labels.h"

enum { MOST_WARNINGS = 20 };

typedef struct {
  JsonNode *slice, *worker_id, *topology, *pod_type, *accelerator, *group;
} TpuLabels;

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
  if (json_object_get_size (object) > QUOIT_RAY_MOST_ENTRIES)
    return quoit_tree_fail (tree, row->labels, error, "%u labels: expected at most 256", json_object_get_size (object));

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &key, &node))
    {
      const char *value = quoit_ray_text (tree, node);

      if (value == NULL)
        return quoit_tree_refuse (tree, node, "text", error);
      if (!quoit_label_check_key (key, error) || !quoit_label_check_value (value, error))
        return quoit_tree_pass_on (tree, node, error);
      labels[(*n_labels)++] = (QuoitPair) { key, value };
      if (*value != '\0')
        note_label (tpu, key, node);
    }
  return TRUE;
}

static gboolean
read_pod_type (const QuoitTree *tree, JsonNode *node, QuoitGeneration *generation, GError **error)
{
  guint32 cores;

  return quoit_ray_pod_type_parse (quoit_ray_text (tree, node), generation, &cores, error)
         || quoit_tree_pass_on (tree, node, error);
}

/* Converts the TPU amount to chips. The cluster may count several devices per chip. */
static gboolean
count_chips (const QuoitTree *tree, const QuoitRayRow *row, guint devices_per_chip, QuoitNodeKind *kind, GError **error)
{
  JsonNode *node = quoit_tree_member (row->resources, "TPU");
  gint64 unit = (gint64) QUOIT_AMOUNT_UNIT * devices_per_chip;
  QuoitAmount amount = { 0 };

  for (guint16 i = 0; i < kind->n_resources; i++)
    if (strcmp (kind->resources[i].name, "TPU") == 0)
      amount = kind->resources[i].amount;
  if (amount.e4 % unit != 0 && devices_per_chip > 1)
    {
      g_autofree char *quoted = quoit_tree_quote (tree, node);

      return quoit_tree_fail (tree, node, error, "%s: expected a multiple of %u, the devices that a chip is counted as",
                              quoted, devices_per_chip);
    }
  if (amount.e4 % unit != 0 || amount.e4 / unit > G_MAXUINT16)
    return quoit_tree_refuse (tree, node, "a whole number of chips, at most 65535", error);
  kind->chips = (guint16) (amount.e4 / unit);
  return TRUE;
}

static gboolean
read_generation (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitNodeKind *kind,
                 GError **error)
{
  const char *accelerator = tpu->accelerator == NULL ? NULL : quoit_ray_text (tree, tpu->accelerator);
  QuoitGeneration other;

  if (tpu->pod_type != NULL && !read_pod_type (tree, tpu->pod_type, &kind->generation, error))
    return FALSE;
  /* On hosts without TPUs the label names a GPU. */
  if (accelerator == NULL || g_ascii_strncasecmp (accelerator, "TPU", 3) != 0)
    return TRUE;
  if (!quoit_generation_parse (accelerator, &other, error))
    return quoit_tree_pass_on (tree, tpu->accelerator, error);
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

/* Only the first MOST_WARNINGS warnings are kept, because a listing may have thousands of similar rows. */
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

/* An unknown topology must not prevent the import of a whole cluster. The node is then in no class. */
static void
read_topology (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayContext *context,
               QuoitNodeKind *kind)
{
  g_autoptr (GError) inner = NULL;
  QuoitShape shape;

  if (tpu->topology == NULL)
    return;
  kind->topology = quoit_ray_text (tree, tpu->topology);
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
  if (!g_ascii_string_to_signed (quoit_ray_text (tree, tpu->worker_id), 10, 0, QUOIT_MOST_WORKER_ID, &value, NULL))
    return quoit_tree_refuse (tree, tpu->worker_id, "a worker id: a whole number from 0 to 32767", error);
  *worker_id = (gint32) value;
  return TRUE;
}

/* Without labels, uses the resource that Ray gives each TPU host. */
static void
generation_from_resources (QuoitNodeKind *kind)
{
  static const char prefix[] = "accelerator_type:TPU-";

  for (guint16 i = 0; i < kind->n_resources; i++)
    if (g_str_has_prefix (kind->resources[i].name, prefix)
        && quoit_generation_parse (kind->resources[i].name + strlen ("accelerator_type:"), &kind->generation, NULL))
      return;
}

static void
set_chips (QuoitNodeKind *kind, QuoitResource *resources, guint16 chips, guint devices_per_chip)
{
  guint16 at = 0;

  kind->chips = chips;
  if (chips == 0)
    return;
  while (at < kind->n_resources && strcmp (resources[at].name, "TPU") != 0)
    at++;
  resources[at] = (QuoitResource) { "TPU", quoit_amount_from_int ((gint64) chips * devices_per_chip) };
  kind->n_resources = MAX (kind->n_resources, at + 1);
}

/* Assumes the chips of a dead node: those of the other hosts of its slice, or else the default of its topology.
 * Without chips, the node of a group that holds it would seem to be another node. */
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
      set_chips (kind, resources, mate->chips, context->devices_per_chip);
    }
  else if (kind->generation != QUOIT_GENERATION_NONE && kind->shape.n_dims > 0)
    set_chips (kind, resources, (guint16) quoit_default_chips_per_host (kind->generation, kind->shape),
               context->devices_per_chip);
}

/* The counters of a slice have 16 bits, and no existing slice has more hosts. */
static gboolean
add_to_slice (const QuoitTree *tree, JsonNode *node, const QuoitRayRow *row, QuoitRayContext *context,
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
    return quoit_tree_refuse (tree, node, "at most 4096 nodes in a slice", error);
  if (has_chips && (slice->kind == 0 || (row->state != QUOIT_NODE_DEAD && !slice->is_alive)))
    {
      slice->kind = claim->kind + 1;
      slice->is_alive = row->state != QUOIT_NODE_DEAD;
    }
  return TRUE;
}

static void
take_place (const QuoitRayPlace *place, QuoitNodeKind *kind, QuoitNodeClaim *claim, QuoitClaims *claims)
{
  kind->generation = place->generation;
  kind->shape = place->shape;
  kind->pod_type = place->pod_type;
  kind->topology = place->topology;
  claim->slice = quoit_claims_text (claims, place->slice);
  claim->worker_id = place->worker_id;
  claim->flags |= place->flags;
}

gboolean
quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, const QuoitRayPlace *place,
                        QuoitRayContext *context, QuoitNodeClaim *claim, GError **error)
{
  QuoitClaims *claims = context->claims;
  QuoitPair labels[QUOIT_RAY_MOST_ENTRIES];
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES + 1];
  QuoitNodeKind kind = { .labels = labels, .resources = resources };
  TpuLabels tpu = { 0 };

  if (!read_labels (tree, row, labels, &kind.n_labels, &tpu, error)
      || !quoit_ray_resources (tree, row->resources, resources, &kind.n_resources, error)
      || !count_chips (tree, row, context->devices_per_chip, &kind, error)
      || !read_generation (tree, row, &tpu, &kind, error) || !read_worker_id (tree, &tpu, &claim->worker_id, error))
    return FALSE;

  if (kind.generation == QUOIT_GENERATION_NONE && kind.chips > 0)
    generation_from_resources (&kind);
  read_topology (tree, row, &tpu, context, &kind);
  kind.pod_type = tpu.pod_type == NULL ? NULL : quoit_ray_text (tree, tpu.pod_type);
  claim->slice = tpu.slice == NULL ? NULL : quoit_claims_text (claims, quoit_ray_text (tree, tpu.slice));
  if (place != NULL && place->slice != NULL)
    take_place (place, &kind, claim, claims);
  else if (quoit_ray_row_lacks_chips (row))
    assume_chips (context, claim->slice, &kind, resources);
  else if (kind.chips == 0 && (tpu.slice != NULL || tpu.worker_id != NULL || tpu.topology != NULL))
    warn (context, tree, row->resources != NULL ? row->resources : row->node, row,
          "its labels say that it is a host of a slice, but it has no resource TPU");
  claim->pool = quoit_claims_pool (claims, tpu.group == NULL ? "default" : quoit_ray_text (tree, tpu.group));
  claim->kind = quoit_claims_kind (claims, &kind, claim->slice);
  return add_to_slice (tree, tpu.slice != NULL ? tpu.slice : row->node, row, context, claim, kind.chips > 0, error);
}
