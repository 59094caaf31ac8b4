/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/parts.h"

#include "base/error.h"

void
quoit_parts_free (QuoitParts *parts)
{
  if (parts == NULL)
    return;
  g_array_unref (parts->parts);
  g_array_unref (parts->without_chips);
  g_array_unref (parts->slices);
  g_array_unref (parts->boxes);
  g_free (parts->separate_reason);
  g_free (parts);
}

/* Also returns FALSE for a chip that the hosts of the slice do not have. */
gboolean
quoit_part_find_position (const QuoitLayout *layout, const QuoitPart *part, guint32 chip, QuoitPosition *position)
{
  const QuoitClass *class = part->slice == QUOIT_NO_INDEX
                                ? NULL
                                : quoit_layout_slice_class (layout, (QuoitSliceId) { part->slice });
  gint16 worker_id = layout->nodes[part->node].worker_id;
  QuoitCoordinates torus;

  if (class == NULL || worker_id < 0 || (guint32) worker_id >= class->facts.hosts
      || chip >= class->facts.chips_per_host)
    return FALSE;
  torus = quoit_coordinates_make (&class->facts, QUOIT_WIRING_STRAIGHT);
  *position
      = quoit_position_from_index (class->facts.shape, quoit_coordinates_chip (&torus, (guint32) worker_id, chip));
  return TRUE;
}

/* Returns the box that the chips of the part form, or a box without dimensions. */
static QuoitBox
find_box (const QuoitLayout *layout, const QuoitPart *part)
{
  static const QuoitShape host_block = { { 2, 4, 1 }, 2 };
  QuoitExtent extent = QUOIT_EXTENT_EMPTY;
  QuoitPosition position;
  guint32 highest = 63 - (guint32) __builtin_clzll (part->chips);
  gboolean has_position = quoit_part_find_position (layout, part, highest, &position);

  for (guint32 chip = 0; chip < 64; chip++)
    {
      QuoitExtent one = { .n = 1 };

      if ((part->chips >> chip & 1) == 0)
        continue;
      /* Without a position in the slice, use the numbering of the largest host; it places the first chips like any
       * other host. */
      if (!has_position || !quoit_part_find_position (layout, part, chip, &one.low))
        one.low = quoit_position_in_host (host_block, chip);
      one.high = one.low;
      quoit_extent_widen (&extent, &one);
    }
  return quoit_extent_box (&extent);
}

static guint32
lowest_chip (guint64 chips)
{
  return chips == 0 ? 64 : (guint32) __builtin_ctzll (chips);
}

static gint
by_position (gconstpointer a, gconstpointer b)
{
  const QuoitPart *x = a, *y = b;
  guint32 x_chip = lowest_chip (x->chips), y_chip = lowest_chip (y->chips);

  /* The nodes of a slice are sorted by worker id in the layout. */
  if (x->slice != y->slice)
    return x->slice < y->slice ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  if (x_chip != y_chip)
    return x_chip < y_chip ? -1 : 1;
  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

static gboolean
fill_part (const QuoitLayout *layout, const QuoitGroupData *group, guint32 bundle, QuoitPart *part, GError **error)
{
  guint32 id = group->node_ids[bundle], node = quoit_layout_find_id (layout, id);
  const QuoitBundle *row = &group->bundles[bundle];

  if (node == QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "group '%s': bundle '%u' has no node: its process is known only after it is placed", group->name,
                       bundle);
  *part = (QuoitPart) { .bundle = bundle,
                        .node = node,
                        .slice = layout->nodes[node].slice,
                        .chips = row->chips,
                        .has_partial_chip = row->part.e4 > 0 };
  if (part->has_partial_chip)
    part->chips |= (guint64) 1 << row->chip;
  if (part->chips != 0)
    part->box = find_box (layout, part);
  return TRUE;
}

/* Numbers the parts of each node, which are adjacent. */
static void
number_on_nodes (GArray *parts)
{
  for (guint i = 1; i < parts->len; i++)
    {
      const QuoitPart *before = &g_array_index (parts, QuoitPart, i - 1);
      QuoitPart *part = &g_array_index (parts, QuoitPart, i);

      part->local_index = part->node == before->node ? before->local_index + 1 : 0;
    }
}

/* Lists the slices of the job, and numbers them. */
static void
list_slices (QuoitParts *parts)
{
  for (guint i = 0; i < parts->parts->len; i++)
    {
      QuoitPart *part = &g_array_index (parts->parts, QuoitPart, i);

      if (part->slice != QUOIT_NO_INDEX
          && (parts->slices->len == 0 || g_array_index (parts->slices, guint32, parts->slices->len - 1) != part->slice))
        g_array_append_val (parts->slices, part->slice);
      part->job_slice = part->slice == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : parts->slices->len - 1;
    }
}

/* --- parts of slices --- */

/* Returns the box of hosts @first to @end of the parts, which are in the order of the box. It may cross the wraparound
 * of an axis: then its far corner is outside the slice. */
static QuoitBox
find_cut_box (const QuoitLayout *layout, const QuoitParts *parts, guint first, guint end)
{
  const QuoitPart *corner = &g_array_index (parts->parts, QuoitPart, first);
  const QuoitClass *class = quoit_layout_slice_class (layout, (QuoitSliceId) { corner->slice });
  QuoitBox box = corner->box;

  if (class == NULL || box.shape.n_dims == 0)
    return (QuoitBox) { .shape = { .n_dims = 0 } };
  for (guint i = first; i < end; i++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      {
        const QuoitBox *host = &g_array_index (parts->parts, QuoitPart, i).box;
        const guint32 side = class->facts.shape.dims[axis];
        const guint32 offset = (host->origin.at[axis] + side - box.origin.at[axis]) % side;

        box.shape.dims[axis] = (guint16) MAX (box.shape.dims[axis], offset + host->shape.dims[axis]);
      }
  box.shape.n_dims = class->facts.shape.n_dims;
  return box;
}

/* Lists the slices of the job of a group of parts of slices, with their boxes. */
static void
list_cut_slices (const QuoitLayout *layout, QuoitParts *parts)
{
  for (guint first = 0, end; first < parts->parts->len; first = end)
    {
      const QuoitPart *part = &g_array_index (parts->parts, QuoitPart, first);
      QuoitBox box;

      for (end = first + 1; end < parts->parts->len; end++)
        if (g_array_index (parts->parts, QuoitPart, end).job_slice != part->job_slice)
          break;
      box = find_cut_box (layout, parts, first, end);
      g_array_append_val (parts->slices, part->slice);
      g_array_append_val (parts->boxes, box);
    }
}

static gint
by_bundle (gconstpointer a, gconstpointer b)
{
  const QuoitPart *x = a, *y = b;

  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

QuoitParts *
quoit_parts_new (const QuoitLayout *layout, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitParts) parts = g_new0 (QuoitParts, 1);
  guint32 job_slice = 0;

  parts->parts = g_array_new (FALSE, FALSE, sizeof (QuoitPart));
  parts->without_chips = g_array_new (FALSE, FALSE, sizeof (QuoitPart));
  parts->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  parts->boxes = g_array_new (FALSE, FALSE, sizeof (QuoitBox));
  parts->are_cut = group->kind == QUOIT_RECORD_PARTS;
  for (guint32 bundle = 0; bundle < group->n_nodes; bundle++)
    {
      QuoitPart part = { .node = QUOIT_NO_INDEX };

      if (!fill_part (layout, group, bundle, &part, error))
        return NULL;
      while (parts->are_cut && bundle >= group->slice_end[job_slice])
        job_slice++;
      part.job_slice = job_slice;
      g_array_append_val (part.chips == 0 ? parts->without_chips : parts->parts, part);
    }
  g_array_sort (parts->parts, parts->are_cut ? by_bundle : by_position);
  number_on_nodes (parts->parts);
  if (parts->are_cut)
    list_cut_slices (layout, parts);
  else
    list_slices (parts);
  quoit_parts_find_job (layout, parts);
  return g_steal_pointer (&parts);
}
