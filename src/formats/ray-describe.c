/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the kind, slice and worker id of a node from the labels and resources of its row. */
#include <string.h>

#include "base/label-names.h"
#include "formats/ray-nodes.h"
#include "formats/ray-values.h"
#include "models/ray/label-syntax.h"

enum { MOST_WARNINGS = 20 };

/* The values of the labels that place a node; NULL: the row does not have the label. */
typedef struct {
  JsonNode *slice, *worker_id, *topology, *pod_type, *accelerator, *group;
} TpuLabels;

static void
store_label (TpuLabels *tpu, const char *key, JsonNode *value)
{
  const struct {
    const char *key;
    JsonNode **value;
  } labels[] = { { QUOIT_RAY_LABEL_SLICE_NAME, &tpu->slice },
                 { QUOIT_RAY_LABEL_WORKER_ID, &tpu->worker_id },
                 { QUOIT_RAY_LABEL_TOPOLOGY, &tpu->topology },
                 { QUOIT_RAY_LABEL_POD_TYPE, &tpu->pod_type },
                 { QUOIT_RAY_LABEL_ACCELERATOR_TYPE, &tpu->accelerator },
                 { QUOIT_RAY_LABEL_NODE_GROUP, &tpu->group } };

  for (unsigned i = 0; i < G_N_ELEMENTS (labels); i++)
    if (strcmp (key, labels[i].key) == 0)
      *labels[i].value = value;
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
        return quoit_tree_prefix_place (tree, node, error);
      labels[(*n_labels)++] = (QuoitPair) { key, value };
      if (*value != '\0')
        store_label (tpu, key, node);
    }
  return TRUE;
}

static gboolean
read_pod_type (const QuoitTree *tree, JsonNode *node, QuoitGeneration *generation, GError **error)
{
  guint32 cores;

  return quoit_ray_pod_type_parse (quoit_ray_text (tree, node), generation, &cores, error)
         || quoit_tree_prefix_place (tree, node, error);
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

      return quoit_tree_fail (tree, node, error, "%s: expected a multiple of %u, the devices per chip", quoted,
                              devices_per_chip);
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
    return quoit_tree_prefix_place (tree, tpu->accelerator, error);
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

/* Adds a warning about the row. Only the first MOST_WARNINGS are kept, because a list may have thousands of similar
 * rows. */
static void
warn (QuoitRayRowContext *context, const QuoitTree *tree, JsonNode *node, const QuoitRayRow *row, const char *text)
{
  g_autofree char *place = NULL, *quoted = NULL;

  if (context->n_warned == MOST_WARNINGS)
    {
      context->n_omitted_warnings++;
      return;
    }
  place = quoit_tree_place (tree, node);
  quoted = quoit_quote (row->name);
  quoit_claims_warn (context->claims, "%s: node %s: %s", place, quoted, text);
  context->n_warned++;
}

/* Reads the topology. An unknown one is not an error, because it must not prevent the import of the whole cluster. The
 * node is then in no class. */
static void
read_topology (const QuoitTree *tree, const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayRowContext *context,
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
  if (!g_ascii_string_to_signed (quoit_ray_text (tree, tpu->worker_id), 10, 0, QUOIT_MAX_WORKER_ID, &value, NULL))
    return quoit_tree_refuse (tree, tpu->worker_id, "a worker id: a whole number from 0 to 32767", error);
  *worker_id = (gint32) value;
  return TRUE;
}

/* Finds the generation in the resource accelerator_type:TPU-<generation>, which Ray gives each TPU host. */
static void
find_generation_in_resources (QuoitNodeKind *kind)
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

/* Sets the chips of a dead node to those of another host of its slice, or else to the default of its topology. A node
 * without chips would have another kind than before it died, and a group that has the node would lose it. */
static void
assume_chips (const QuoitRayRowContext *context, const char *slice, QuoitNodeKind *kind, QuoitResource *resources)
{
  const QuoitRaySliceSummary *known = slice == NULL ? NULL : g_hash_table_lookup (context->slices, slice);
  const QuoitNodeKind *neighbour
      = known == NULL || known->kind == 0 ? NULL : quoit_claims_kind_at (context->claims, known->kind - 1);

  if (neighbour != NULL && (kind->topology == NULL || g_strcmp0 (kind->topology, neighbour->topology) == 0))
    {
      kind->topology = neighbour->topology;
      kind->shape = neighbour->shape;
      kind->generation = kind->generation == QUOIT_GENERATION_NONE ? neighbour->generation : kind->generation;
      kind->pod_type = kind->pod_type == NULL ? neighbour->pod_type : kind->pod_type;
      set_chips (kind, resources, neighbour->chips, context->devices_per_chip);
    }
  else if (kind->generation != QUOIT_GENERATION_NONE && kind->shape.n_dims > 0)
    set_chips (kind, resources, (guint16) quoit_default_chips_per_host (kind->generation, kind->shape),
               context->devices_per_chip);
}

/* Counts the row for its slice. The number of nodes is limited, because the counters of a slice have 16 bits; no
 * real slice has that many hosts. */
static gboolean
add_to_slice (const QuoitTree *tree, JsonNode *node, const QuoitRayRow *row, QuoitRayRowContext *context,
              const QuoitNodeClaim *claim, gboolean has_chips, GError **error)
{
  QuoitRaySliceSummary *slice;

  if (claim->slice == NULL)
    return TRUE;
  slice = g_hash_table_lookup (context->slices, claim->slice);
  if (slice == NULL)
    {
      slice = g_new0 (QuoitRaySliceSummary, 1);
      g_hash_table_insert (context->slices, (char *) claim->slice, slice);
    }
  if (++slice->n_rows > QUOIT_RAY_MOST_SLICE_NODES)
    return quoit_tree_refuse (tree, node, "at most 4096 nodes in a slice", error);
  if (has_chips && (slice->kind == 0 || (row->state != QUOIT_NODE_DEAD && !slice->is_alive)))
    {
      slice->kind = claim->kind + 1;
      slice->is_alive = row->state != QUOIT_NODE_DEAD;
    }
  return TRUE;
}

static void
apply_place (const QuoitRayPlace *place, QuoitNodeKind *kind, QuoitNodeClaim *claim, QuoitClaims *claims)
{
  kind->generation = place->generation;
  kind->shape = place->shape;
  kind->pod_type = place->pod_type;
  kind->topology = place->topology;
  claim->slice = quoit_claims_intern_text (claims, place->slice);
  claim->worker_id = place->worker_id;
  claim->flags |= place->flags;
}

gboolean
quoit_ray_row_describe (const QuoitTree *tree, const QuoitRayRow *row, const QuoitRayPlace *place,
                        QuoitRayRowContext *context, QuoitNodeClaim *claim, GError **error)
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
    find_generation_in_resources (&kind);
  read_topology (tree, row, &tpu, context, &kind);
  kind.pod_type = tpu.pod_type == NULL ? NULL : quoit_ray_text (tree, tpu.pod_type);
  claim->slice = tpu.slice == NULL ? NULL : quoit_claims_intern_text (claims, quoit_ray_text (tree, tpu.slice));
  if (place != NULL && place->slice != NULL)
    apply_place (place, &kind, claim, claims);
  else if (quoit_ray_row_lacks_chips (row))
    assume_chips (context, claim->slice, &kind, resources);
  else if (kind.chips == 0 && (tpu.slice != NULL || tpu.worker_id != NULL || tpu.topology != NULL))
    warn (context, tree, row->resources != NULL ? row->resources : row->node, row,
          "its labels make it a host of a slice, but it has no resource TPU");
  claim->pool = quoit_claims_ensure_pool (claims, tpu.group == NULL ? "default" : quoit_ray_text (tree, tpu.group));
  claim->kind = quoit_claims_intern_kind (claims, &kind, claim->slice);
  return add_to_slice (tree, tpu.slice != NULL ? tpu.slice : row->node, row, context, claim, kind.chips > 0, error);
}
