/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the kind, slice and worker id of a node from the labels and resources of its row. */
#include <string.h>

#include "base/label-names.h"
#include "formats/ray-nodes.h"
#include "models/ray/resource-names.h"

enum { MOST_WARNINGS = 20 };

/* The values of the labels that place a node; NULL: the row does not have the label, or it is empty. */
typedef struct {
  const char *slice, *worker_id, *topology, *pod_type, *accelerator, *group;
} TpuLabels;

static void
store_label (TpuLabels *tpu, const QuoitPair *label)
{
  const struct {
    const char *key;
    const char **value;
  } labels[] = { { QUOIT_RAY_LABEL_SLICE_NAME, &tpu->slice },
                 { QUOIT_RAY_LABEL_WORKER_ID, &tpu->worker_id },
                 { QUOIT_RAY_LABEL_TOPOLOGY, &tpu->topology },
                 { QUOIT_RAY_LABEL_POD_TYPE, &tpu->pod_type },
                 { QUOIT_RAY_LABEL_ACCELERATOR_TYPE, &tpu->accelerator },
                 { QUOIT_RAY_LABEL_NODE_GROUP, &tpu->group } };

  for (unsigned i = 0; i < G_N_ELEMENTS (labels); i++)
    if (strcmp (label->key, labels[i].key) == 0)
      *labels[i].value = label->value;
}

static TpuLabels
find_tpu_labels (const QuoitRayRow *row)
{
  TpuLabels tpu = { 0 };

  for (guint16 i = 0; i < row->n_labels; i++)
    if (*row->labels[i].value != '\0' && g_str_has_prefix (row->labels[i].key, QUOIT_RAY_LABEL_PREFIX))
      store_label (&tpu, &row->labels[i]);
  return tpu;
}

/* Converts the TPU amount to chips. The cluster may count several devices per chip. */
static gboolean
count_chips (const QuoitRayRow *row, guint devices_per_chip, QuoitNodeKind *kind, GError **error)
{
  const QuoitResource *tpu = quoit_ray_row_resource (row, "TPU");
  gint64 unit = (gint64) QUOIT_AMOUNT_UNIT * devices_per_chip;
  g_autofree char *text = NULL;

  if (tpu == NULL)
    return TRUE;
  if (tpu->amount.e4 % unit == 0 && tpu->amount.e4 / unit <= G_MAXUINT16)
    {
      kind->chips = (guint16) (tpu->amount.e4 / unit);
      return TRUE;
    }
  text = quoit_amount_format (tpu->amount);
  if (tpu->amount.e4 % unit != 0 && devices_per_chip > 1)
    {
      g_autofree char *expected = g_strdup_printf ("a multiple of %u, the devices per chip", devices_per_chip);

      return quoit_ray_row_refuse (row, QUOIT_RAY_PART_RESOURCE, "TPU", text, expected, error);
    }
  return quoit_ray_row_refuse (row, QUOIT_RAY_PART_RESOURCE, "TPU", text, "a whole number of chips, at most 65535",
                               error);
}

static gboolean
read_generation (const QuoitRayRow *row, const TpuLabels *tpu, QuoitNodeKind *kind, GError **error)
{
  QuoitGeneration other;
  guint32 cores;

  if (tpu->pod_type != NULL && !quoit_ray_pod_type_parse (tpu->pod_type, &kind->generation, &cores, error))
    return quoit_ray_row_prefix_place (row, QUOIT_RAY_PART_LABEL, QUOIT_RAY_LABEL_POD_TYPE, error);
  /* On hosts without TPUs the label names a GPU. */
  if (tpu->accelerator == NULL || g_ascii_strncasecmp (tpu->accelerator, "TPU", 3) != 0)
    return TRUE;
  if (!quoit_generation_parse (tpu->accelerator, &other, error))
    return quoit_ray_row_prefix_place (row, QUOIT_RAY_PART_LABEL, QUOIT_RAY_LABEL_ACCELERATOR_TYPE, error);
  if (kind->generation == QUOIT_GENERATION_NONE)
    kind->generation = other;
  else if (kind->generation != other && row->state != QUOIT_NODE_DEAD)
    {
      g_autofree char *pod_type = quoit_quote (tpu->pod_type);
      g_autofree char *expected = g_strdup_printf ("the generation of the pod type %s", pod_type);

      return quoit_ray_row_refuse (row, QUOIT_RAY_PART_LABEL, QUOIT_RAY_LABEL_ACCELERATOR_TYPE, tpu->accelerator,
                                   expected, error);
    }
  return TRUE;
}

/* Adds a warning about the row. Only the first MOST_WARNINGS are kept, because a list may have thousands of similar
 * rows. */
static void
warn (QuoitRayRowContext *context, const QuoitRayRow *row, QuoitRayRowPart part, const char *name, const char *text)
{
  g_autofree char *place = NULL, *quoted = NULL;

  if (context->n_warned == MOST_WARNINGS)
    {
      context->n_omitted_warnings++;
      return;
    }
  context->n_warned++;
  place = quoit_ray_row_place (row, part, name);
  if (row->form != QUOIT_RAY_ROW_ADDED)
    quoted = quoit_quote (row->name);
  if (quoted != NULL)
    quoit_claims_warn (context->claims, "%s: node %s: %s", place, quoted, text);
  else
    quoit_claims_warn (context->claims, "%s: %s", place, text);
}

/* Reads the topology. An unknown one is not an error, because it must not prevent the import of the whole cluster. The
 * node is then in no class. */
static void
read_topology (const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayRowContext *context, QuoitNodeKind *kind)
{
  g_autoptr (GError) inner = NULL;
  QuoitShape shape;

  kind->topology = tpu->topology;
  if (tpu->topology == NULL)
    return;
  if (quoit_shape_parse (kind->topology, &shape, &inner)
      && (kind->generation == QUOIT_GENERATION_NONE || quoit_shape_check (kind->generation, shape, &inner)))
    {
      kind->shape = shape;
      return;
    }
  if (!g_hash_table_contains (context->warned, inner->message))
    {
      warn (context, row, QUOIT_RAY_PART_LABEL, QUOIT_RAY_LABEL_TOPOLOGY, inner->message);
      g_hash_table_add (context->warned, g_strdup (inner->message));
    }
}

static gboolean
read_worker_id (const QuoitRayRow *row, const TpuLabels *tpu, gint32 *worker_id, GError **error)
{
  gint64 value;

  *worker_id = -1;
  if (tpu->worker_id == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (tpu->worker_id, 10, 0, QUOIT_MAX_WORKER_ID, &value, NULL))
    return quoit_ray_row_refuse (row, QUOIT_RAY_PART_LABEL, QUOIT_RAY_LABEL_WORKER_ID, tpu->worker_id,
                                 "a worker id: a whole number from 0 to 32767", error);
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
add_to_slice (const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayRowContext *context, const QuoitNodeClaim *claim,
              gboolean has_chips, GError **error)
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
    return quoit_ray_row_refuse (row, tpu->slice != NULL ? QUOIT_RAY_PART_LABEL : QUOIT_RAY_PART_ROW,
                                 QUOIT_RAY_LABEL_SLICE_NAME, claim->slice, "at most 4096 nodes in a slice", error);
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

/* --- equal rows --- */

/* Returns whether the resource differs from node to node, so that it is not part of the kind; see
 * quoit_claims_intern_kind(). Ray gives these resources to a node itself, or because of its place in the slice. */
static gboolean
belongs_to_node (const QuoitResource *resource, const char *slice)
{
  return g_str_has_prefix (resource->name, "node:")
         || (!quoit_resource_is_predefined (resource->name)
             && (resource->name == slice || quoit_resource_is_slice_head (resource->name)));
}

/* Returns whether the row has the same facts as the last one, apart from those that differ from node to node, and sets
 * the labels of these. */
static gboolean
equals_last_row (const QuoitRayLastRow *last, const QuoitRayRow *row, TpuLabels *tpu)
{
  guint16 n = 0;

  if (!last->is_set || row->n_labels != last->n_labels)
    return FALSE;
  for (guint16 i = 0; i < row->n_labels; i++)
    {
      const QuoitPair *label = &row->labels[i], *before = &last->arrays.labels[i];

      if (label->key != before->key)
        return FALSE;
      if (before->value == NULL)
        store_label (tpu, label);
      else if (label->value != before->value)
        return FALSE;
    }
  for (guint16 i = 0; i < row->n_resources; i++)
    {
      const QuoitResource *resource = &row->resources[i], *before = &last->arrays.resources[n];

      /* The same resource can be the name of this slice, but not of the last one. */
      if (n < last->n_resources && resource->name == before->name && resource->amount.e4 == before->amount.e4
          && (resource->name != tpu->slice || !belongs_to_node (resource, tpu->slice)))
        n++;
      else if (!belongs_to_node (resource, tpu->slice))
        return FALSE;
    }
  return n == last->n_resources && (tpu->slice == NULL || *tpu->slice != '\0')
         && (tpu->worker_id == NULL || *tpu->worker_id != '\0');
}

/* Remembers a row. The labels that differ from node to node have no value. */
static void
remember_row (QuoitRayLastRow *last, const QuoitRayRow *row, const char *slice, const QuoitNodeClaim *claim,
              gboolean has_chips)
{
  last->is_set = TRUE;
  last->pool = claim->pool;
  last->kind = claim->kind;
  last->has_chips = has_chips;
  last->n_labels = row->n_labels;
  last->n_resources = 0;
  for (guint16 i = 0; i < row->n_labels; i++)
    {
      last->arrays.labels[i] = row->labels[i];
      if (quoit_claims_is_node_specific (row->labels[i].key))
        last->arrays.labels[i].value = NULL;
    }
  for (guint16 i = 0; i < row->n_resources; i++)
    if (!belongs_to_node (&row->resources[i], slice))
      last->arrays.resources[last->n_resources++] = row->resources[i];
}

/* --- description --- */

static gboolean
describe_equal_row (const QuoitRayRow *row, const TpuLabels *tpu, QuoitRayRowContext *context, QuoitNodeClaim *claim,
                    GError **error)
{
  if (!read_worker_id (row, tpu, &claim->worker_id, error))
    return FALSE;
  claim->slice = tpu->slice == NULL ? NULL : quoit_claims_intern_text (context->claims, tpu->slice);
  claim->pool = context->last.pool;
  claim->kind = context->last.kind;
  return add_to_slice (row, tpu, context, claim, context->last.has_chips, error);
}

static gboolean
describe (const QuoitRayRow *row, const QuoitRayPlace *place, QuoitRayRowContext *context, QuoitNodeClaim *claim,
          GError **error)
{
  QuoitClaims *claims = context->claims;
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES + 1];
  TpuLabels tpu = find_tpu_labels (row);
  QuoitNodeKind kind = { .labels = row->labels,
                         .n_labels = row->n_labels,
                         .resources = row->resources,
                         .n_resources = row->n_resources,
                         .pod_type = tpu.pod_type };

  if (!count_chips (row, context->devices_per_chip, &kind, error) || !read_generation (row, &tpu, &kind, error)
      || !read_worker_id (row, &tpu, &claim->worker_id, error))
    return FALSE;

  if (kind.generation == QUOIT_GENERATION_NONE && kind.chips > 0)
    find_generation_in_resources (&kind);
  read_topology (row, &tpu, context, &kind);
  claim->slice = tpu.slice == NULL ? NULL : quoit_claims_intern_text (claims, tpu.slice);
  if (place != NULL && place->slice != NULL)
    apply_place (place, &kind, claim, claims);
  else if (quoit_ray_row_lacks_chips (row))
    {
      kind.resources = row->n_resources == 0 ? resources
                                             : memcpy (resources, row->resources, row->n_resources * sizeof *resources);
      assume_chips (context, claim->slice, &kind, resources);
    }
  else if (kind.chips == 0 && (tpu.slice != NULL || tpu.worker_id != NULL || tpu.topology != NULL))
    warn (context, row, QUOIT_RAY_PART_RESOURCES, NULL,
          "its labels make it a host of a slice, but it has no resource TPU");
  claim->pool = quoit_claims_ensure_pool (claims, tpu.group == NULL ? "default" : tpu.group);
  claim->kind = quoit_claims_intern_kind (claims, &kind, claim->slice);
  /* A row without chips can need a warning of its own. */
  if (row->keeps_texts && row->state != QUOIT_NODE_DEAD && place == NULL && (kind.chips > 0 || row->n_labels == 0))
    remember_row (&context->last, row, tpu.slice, claim, kind.chips > 0);
  return add_to_slice (row, &tpu, context, claim, kind.chips > 0, error);
}

gboolean
quoit_ray_row_describe (const QuoitRayRow *row, const QuoitRayPlace *place, QuoitRayRowContext *context,
                        QuoitNodeClaim *claim, GError **error)
{
  TpuLabels tpu = { 0 };

  if (row->keeps_texts && row->state != QUOIT_NODE_DEAD && place == NULL && equals_last_row (&context->last, row, &tpu))
    return describe_equal_row (row, &tpu, context, claim, error);
  return describe (row, place, context, claim, error);
}
