/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the processes of bundles are one job, and why not. */
#include "launch/parts.h"

#include <string.h>

#include <quoit/models/jax.h>

#include "launch/launch.h"

/* The parts of a group whose job is being determined. */
typedef struct {
  const QuoitLayout *layout;
  QuoitParts *parts;
} JobCheck;

static const QuoitPart *
part_at (const JobCheck *check, guint i)
{
  return &g_array_index (check->parts->parts, QuoitPart, i);
}

static char *
slice_display (const JobCheck *check, guint32 slice)
{
  return quoit_layout_slice_display (check->layout, (QuoitSliceId) { slice });
}

/* Records why the parts are not one job, and returns FALSE. */
static gboolean no_job (const JobCheck *check, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
no_job (const JobCheck *check, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  check->parts->separate_reason = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

/* Returns whether the chips of the part form a box at a known position, without a shared chip. */
static gboolean
check_part (const JobCheck *check, const QuoitPart *part)
{
  const char *node = quoit_layout_node_name (check->layout, (QuoitNodeId) { part->node });
  g_autofree char *chips = quoit_chips_format (part->chips);
  QuoitPosition position;

  if (part->has_partial_chip)
    return no_job (check, "bundle '%u' has only a part of a chip of node '%s'", part->bundle, node);
  if (!quoit_part_find_position (check->layout, part, 63 - (guint32) __builtin_clzll (part->chips), &position))
    return no_job (check, "bundle '%u' is on node '%s', whose place in a slice is not known", part->bundle, node);
  if (part->box.shape.n_dims == 0)
    return no_job (check, "bundle '%u' has chips '%s' of node '%s', which do not form a box", part->bundle, chips,
                   node);
  return TRUE;
}

static gboolean
check_same_size (const JobCheck *check)
{
  const QuoitPart *first = part_at (check, 0);

  for (guint i = 0; i < check->parts->parts->len; i++)
    {
      const QuoitPart *part = part_at (check, i);
      g_autofree char *wanted = NULL, *found = NULL;

      if (!check_part (check, part))
        return FALSE;
      if (quoit_box_same_size (&part->box, &first->box))
        continue;
      wanted = quoit_bounds_format (first->box.shape);
      found = quoit_bounds_format (part->box.shape);
      return no_job (check, "bundle '%u' has a box of '%s' chips, but bundle '%u' one of '%s'", part->bundle, found,
                     first->bundle, wanted);
    }
  return TRUE;
}

/* Returns whether the boxes of the parts, which have one size and fill @box, form a grid in it. */
static gboolean
are_on_grid (const JobCheck *check, guint first, guint end, const QuoitBox *box)
{
  for (guint i = first; i < end; i++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      {
        const QuoitBox *tile = &part_at (check, i)->box;

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
is_inside_host (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (box->origin.at[axis] / facts->host_block.dims[axis]
        != (box->origin.at[axis] + box->shape.dims[axis] - 1) / facts->host_block.dims[axis])
      return FALSE;
  return TRUE;
}

static gboolean
is_whole_hosts (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (box->origin.at[axis] % facts->host_block.dims[axis] != 0
        || box->shape.dims[axis] % facts->host_block.dims[axis] != 0)
      return FALSE;
  return TRUE;
}

/* Returns whether a job can use the box. Inside one host, JAX accepts any box of 1, 2, 4 or 8 chips. A box on several
 * hosts must have all of their chips, and the shape of a topology of this generation, in any orientation. */
static gboolean
exists_as_topology (const QuoitSliceFacts *facts, const QuoitBox *box)
{
  guint32 chips = quoit_shape_chips (box->shape);
  QuoitShape sorted = box->shape;
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (facts->generation, &n_rows);

  if (is_inside_host (facts, box))
    return (chips & (chips - 1)) == 0;
  if (!is_whole_hosts (facts, box))
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
check_slice (const JobCheck *check, guint first, guint end, QuoitBox *box)
{
  const QuoitSliceFacts *facts
      = &quoit_layout_slice_class (check->layout, (QuoitSliceId) { part_at (check, first)->slice })->facts;
  g_autofree char *name = slice_display (check, part_at (check, first)->slice), *shape = NULL;
  QuoitExtent all = QUOIT_EXTENT_EMPTY;

  for (guint i = first; i < end; i++)
    {
      QuoitExtent one = quoit_box_extent (&part_at (check, i)->box);

      quoit_extent_widen (&all, &one);
    }
  *box = quoit_extent_box (&all);
  if (box->shape.n_dims == 0)
    return no_job (check, "the '%u' chips of slice '%s' that the %s do not form a box", all.n, name,
                   end - first == 1 ? "bundle has" : "bundles have");
  if (!are_on_grid (check, first, end, box))
    return no_job (check, "the bundles in slice '%s' do not divide their box of chips as a grid", name);
  shape = quoit_bounds_format (box->shape);
  if (!exists_as_topology (facts, box))
    return no_job (check,
                   "the chips of slice '%s' that the bundles have are a box of '%s', which is neither a part of one "
                   "host nor a topology of %s on whole hosts",
                   name, shape, quoit_generation_name (facts->generation));
  return TRUE;
}

/* Returns whether both boxes have the same sides, in any order. */
static gboolean
have_same_sides (const QuoitBox *a, const QuoitBox *b)
{
  QuoitShape x = a->shape, y = b->shape;

  qsort (x.dims, QUOIT_N_AXES, sizeof *x.dims, by_number);
  qsort (y.dims, QUOIT_N_AXES, sizeof *y.dims, by_number);
  return memcmp (x.dims, y.dims, sizeof x.dims) == 0;
}

/* The slices of a job of parts can be cut from slices of different sizes, and turned. */
static gboolean
check_cut_slices (const JobCheck *check)
{
  const QuoitParts *parts = check->parts;
  const QuoitBox *wanted = &g_array_index (parts->boxes, QuoitBox, 0);

  for (guint s = 0; s < parts->slices->len; s++)
    {
      const QuoitBox *box = &g_array_index (parts->boxes, QuoitBox, s);

      if (box->shape.n_dims == 0 || !have_same_sides (box, wanted))
        return no_job (check, "an import has changed the slices of the parts, so that they are no longer equal boxes");
    }
  return TRUE;
}

static gboolean
check_same_slices (const JobCheck *check)
{
  const QuoitParts *parts = check->parts;
  const QuoitBox *wanted = &g_array_index (parts->boxes, QuoitBox, 0);
  guint32 first = g_array_index (parts->slices, guint32, 0);
  const QuoitSliceFacts *facts = &quoit_layout_slice_class (check->layout, (QuoitSliceId) { first })->facts;

  for (guint s = 1; s < parts->slices->len; s++)
    {
      guint32 slice = g_array_index (parts->slices, guint32, s);
      const QuoitClass *class = quoit_layout_slice_class (check->layout, (QuoitSliceId) { slice });
      g_autofree char *name = slice_display (check, slice), *other = slice_display (check, first);

      if (!quoit_slice_facts_same_class (&class->facts, facts))
        return no_job (check, "slices '%s' and '%s' have different classes", other, name);
      if (!quoit_box_same_size (&g_array_index (parts->boxes, QuoitBox, s), wanted))
        return no_job (check, "the bundles have boxes of different sizes in slices '%s' and '%s'", other, name);
    }
  return TRUE;
}

static gboolean
is_one_job (const JobCheck *check)
{
  GArray *list = check->parts->parts;

  if (!check_same_size (check))
    return FALSE;
  if (check->parts->are_cut)
    return check_cut_slices (check);
  for (guint first = 0, end; first < list->len; first = end)
    {
      QuoitBox box;

      for (end = first + 1; end < list->len && part_at (check, end)->slice == part_at (check, first)->slice; end++)
        continue;
      if (!check_slice (check, first, end, &box))
        return FALSE;
      g_array_append_val (check->parts->boxes, box);
    }
  return check_same_slices (check);
}

/* --- whole slices --- */

/* Returns whether each part has exactly the chips that JAX gives to the process with the same index, with @per_host
 * processes per host. */
static gboolean
are_divided_like_jax (const JobCheck *check, guint32 chips_per_host, guint32 per_host)
{
  for (guint i = 0; i < check->parts->parts->len; i++)
    if (part_at (check, i)->chips != quoit_chips_for_process (chips_per_host, per_host, i % per_host))
      return FALSE;
  return TRUE;
}

/* Returns whether every slice of the job is a whole slice, of one class. */
static gboolean
are_whole (const JobCheck *check)
{
  const QuoitParts *parts = check->parts;
  const QuoitClass *first
      = quoit_layout_slice_class (check->layout, (QuoitSliceId) { g_array_index (parts->slices, guint32, 0) });

  for (guint s = 0; s < parts->slices->len; s++)
    {
      const QuoitClass *class = quoit_layout_slice_class (check->layout,
                                                          (QuoitSliceId) { g_array_index (parts->slices, guint32, s) });

      if (class != first
          || quoit_shape_chips (g_array_index (parts->boxes, QuoitBox, s).shape)
                 != quoit_shape_chips (class->facts.shape))
        return FALSE;
    }
  return TRUE;
}

/* Returns the number of bundles per host if the slices are whole and the bundles divide the hosts like JAX divides them
 * between processes; otherwise 0. */
static guint32
find_processes_per_host (const JobCheck *check)
{
  guint32 slice = g_array_index (check->parts->slices, guint32, 0);
  const QuoitSliceFacts *facts = &quoit_layout_slice_class (check->layout, (QuoitSliceId) { slice })->facts;
  guint32 n_chips = quoit_shape_chips (part_at (check, 0)->box.shape), per_host = facts->chips_per_host / n_chips;
  const char *process_bounds, *chip_bounds;

  if (!are_whole (check) || per_host > QUOIT_MOST_PER_HOST
      || !are_divided_like_jax (check, facts->chips_per_host, per_host))
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
  JobCheck check = { layout, parts };

  parts->job = QUOIT_JOB_SEPARATE;
  if (parts->parts->len == 0 || !is_one_job (&check))
    return;
  parts->per_host = find_processes_per_host (&check);
  parts->job = parts->per_host > 0 ? QUOIT_JOB_SLICES : QUOIT_JOB_BOXES;
}
