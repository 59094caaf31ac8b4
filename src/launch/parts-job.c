/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the processes of bundles are one job, and why not. */
#include "launch/parts.h"

#include <quoit/models/jax.h>

#include "launch/launch.h"

typedef struct {
  const QuoitLayout *layout;
  QuoitParts *parts;
} Judge;

static const QuoitPart *
part_at (const Judge *judge, guint i)
{
  return &g_array_index (judge->parts->parts, QuoitPart, i);
}

static char *
shown_slice (const Judge *judge, guint32 slice)
{
  return quoit_layout_slice_display (judge->layout, (QuoitSliceId) { slice });
}

static gboolean keep_apart (const Judge *judge, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
keep_apart (const Judge *judge, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  judge->parts->apart = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

static gboolean
is_alone_fit (const Judge *judge, const QuoitPart *part)
{
  const char *node = quoit_layout_node_name (judge->layout, (QuoitNodeId) { part->node });
  g_autofree char *chips = quoit_chips_format (part->chips);
  QuoitSpot spot;

  if (part->has_part)
    return keep_apart (judge, "bundle '%u' has a chip of node '%s' in part", part->bundle, node);
  if (!quoit_part_find_spot (judge->layout, part, 63 - (guint32) __builtin_clzll (part->chips), &spot))
    return keep_apart (judge, "bundle '%u' is on node '%s', whose place in a slice is not known", part->bundle, node);
  if (part->box.shape.n_dims == 0)
    return keep_apart (judge, "bundle '%u' has chips '%s' of node '%s', which are no box", part->bundle, chips, node);
  return TRUE;
}

static gboolean
parts_are_alike (const Judge *judge)
{
  const QuoitPart *first = part_at (judge, 0);

  for (guint i = 0; i < judge->parts->parts->len; i++)
    {
      const QuoitPart *part = part_at (judge, i);
      g_autofree char *wanted = NULL, *found = NULL;

      if (!is_alone_fit (judge, part))
        return FALSE;
      if (quoit_box_same_size (&part->box, &first->box))
        continue;
      wanted = quoit_bounds_format (first->box.shape);
      found = quoit_bounds_format (part->box.shape);
      return keep_apart (judge, "bundle '%u' has a box of '%s' chips, bundle '%u' one of '%s'", part->bundle, found,
                         first->bundle, wanted);
    }
  return TRUE;
}

/* Boxes of one size that fill a larger box form a grid, unless one of them is off the grid. */
static gboolean
are_tiles (const Judge *judge, guint first, guint end, const QuoitBox *box)
{
  for (guint i = first; i < end; i++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      {
        const QuoitBox *tile = &part_at (judge, i)->box;

        if ((tile->origin.at[axis] - box->origin.at[axis]) % tile->shape.dims[axis] != 0)
          return FALSE;
      }
  return TRUE;
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  return *(const guint16 *) a - *(const guint16 *) b;
}

static gboolean
is_in_host (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (box->origin.at[axis] / facts->host_block.dims[axis]
        != (box->origin.at[axis] + box->shape.dims[axis] - 1) / facts->host_block.dims[axis])
      return FALSE;
  return TRUE;
}

static gboolean
is_of_hosts (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (box->origin.at[axis] % facts->host_block.dims[axis] != 0
        || box->shape.dims[axis] % facts->host_block.dims[axis] != 0)
      return FALSE;
  return TRUE;
}

/* Returns whether slices of this shape exist, along any axes. JAX accepts any box of 1, 2, 4 or 8 chips inside one
 * host. A box on several hosts must use all of their chips. */
static gboolean
is_topology (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  guint32 chips = quoit_shape_chips (box->shape);
  QuoitShape sorted = box->shape;
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (facts->generation, &n_rows);

  if (is_in_host (facts, box))
    return (chips & (chips - 1)) == 0;
  if (!is_of_hosts (facts, box))
    return FALSE;
  qsort (sorted.dims, QUOIT_N_AXES, sizeof *sorted.dims, by_number);
  for (unsigned i = 0; i < n_rows; i++)
    {
      QuoitShape row = rows[i].shape;

      qsort (row.dims, QUOIT_N_AXES, sizeof *row.dims, by_number);
      if (memcmp (row.dims, sorted.dims, sizeof row.dims) == 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
judge_slice (const Judge *judge, guint first, guint end, QuoitBox *box)
{
  const QuoitSliceFacts *facts
      = &quoit_layout_slice_class (judge->layout, (QuoitSliceId) { part_at (judge, first)->slice })->facts;
  g_autofree char *name = shown_slice (judge, part_at (judge, first)->slice), *shape = NULL;
  QuoitExtent all = QUOIT_EXTENT_NOTHING;

  for (guint i = first; i < end; i++)
    {
      QuoitExtent one = quoit_box_extent (&part_at (judge, i)->box);

      quoit_extent_widen (&all, &one);
    }
  *box = quoit_extent_box (&all);
  if (box->shape.n_dims == 0)
    return keep_apart (judge, "the '%u' chips of slice '%s' that %s no box", all.n, name,
                       end - first == 1 ? "the bundle has are" : "the bundles have are");
  if (!are_tiles (judge, first, end, box))
    return keep_apart (judge, "the bundles in slice '%s' do not divide their box of chips as a grid", name);
  shape = quoit_bounds_format (box->shape);
  if (!is_topology (facts, box))
    return keep_apart (judge,
                       "the chips of slice '%s' that the bundles have are a box of '%s', which is no part of one host, "
                       "and no topology of %s on whole hosts",
                       name, shape, quoit_generation_name (facts->generation));
  return TRUE;
}

static gboolean
slices_are_alike (const Judge *judge)
{
  const QuoitParts *parts = judge->parts;
  const QuoitBox *wanted = &g_array_index (parts->boxes, QuoitBox, 0);
  guint32 first = g_array_index (parts->slices, guint32, 0);
  const QuoitSliceFacts *facts = &quoit_layout_slice_class (judge->layout, (QuoitSliceId) { first })->facts;

  for (guint s = 1; s < parts->slices->len; s++)
    {
      guint32 slice = g_array_index (parts->slices, guint32, s);
      const QuoitClass *class = quoit_layout_slice_class (judge->layout, (QuoitSliceId) { slice });
      g_autofree char *name = shown_slice (judge, slice), *other = shown_slice (judge, first);

      if (!quoit_slice_facts_same_class (&class->facts, facts))
        return keep_apart (judge, "slice '%s' is another kind of slice than '%s'", name, other);
      if (!quoit_box_same_size (&g_array_index (parts->boxes, QuoitBox, s), wanted))
        return keep_apart (judge, "the bundles have another box of chips of slice '%s' than of '%s'", name, other);
    }
  return TRUE;
}

static gboolean
is_one_job (const Judge *judge)
{
  GArray *list = judge->parts->parts;

  if (!parts_are_alike (judge))
    return FALSE;
  for (guint first = 0, end; first < list->len; first = end)
    {
      QuoitBox box;

      for (end = first + 1; end < list->len && part_at (judge, end)->slice == part_at (judge, first)->slice; end++)
        continue;
      if (!judge_slice (judge, first, end, &box))
        return FALSE;
      g_array_append_val (judge->parts->boxes, box);
    }
  return slices_are_alike (judge);
}

/* --- whole slices --- */

/* Returns whether each bundle has exactly the chips that JAX would give to the process at its place, with @per_host
 * processes per host. */
static gboolean
are_dealt (const Judge *judge, guint32 chips_per_host, guint32 per_host)
{
  for (guint i = 0; i < judge->parts->parts->len; i++)
    if (part_at (judge, i)->chips != quoit_dealt_chips (chips_per_host, per_host, i % per_host))
      return FALSE;
  return TRUE;
}

/* Returns how many bundles form a host of the slices, if they divide it as JAX does. Returns 0 if they do not, or if
 * the slices are not whole. */
static guint32
processes_per_host (const Judge *judge)
{
  const QuoitBox *box = &g_array_index (judge->parts->boxes, QuoitBox, 0);
  guint32 slice = g_array_index (judge->parts->slices, guint32, 0);
  const QuoitSliceFacts *facts = &quoit_layout_slice_class (judge->layout, (QuoitSliceId) { slice })->facts;
  guint32 n_chips = quoit_shape_chips (part_at (judge, 0)->box.shape), per_host = facts->chips_per_host / n_chips;
  const char *process_bounds, *chip_bounds;

  if (quoit_shape_chips (box->shape) != quoit_shape_chips (facts->shape) || per_host > QUOIT_MOST_PER_HOST
      || !are_dealt (judge, facts->chips_per_host, per_host))
    return 0;
  return per_host == 1
                 || quoit_jax_process_bounds (quoit_generation_facts (facts->generation)->id, facts->chips_per_host,
                                              n_chips, &process_bounds, &chip_bounds, NULL)
             ? per_host
             : 0;
}

void
quoit_parts_find_job (const QuoitLayout *layout, QuoitParts *parts)
{
  Judge judge = { layout, parts };

  parts->job = QUOIT_JOB_APART;
  if (parts->parts->len == 0 || !is_one_job (&judge))
    return;
  parts->per_host = processes_per_host (&judge);
  parts->job = parts->per_host > 0 ? QUOIT_JOB_SLICES : QUOIT_JOB_BOXES;
}
