/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/joined.h"

#include <string.h>

/* The hosts of a cube along each axis: a host has 2x2x1 chips. */
static const guint32 cube_grid[3] = { 2, 2, 4 };

/* --- words --- */

static const char *const cubes_names[] = { [QUOIT_CUBES_NONE] = "none",
                                           [QUOIT_CUBES_ANY] = "any",
                                           [QUOIT_CUBES_ANY_TWISTED] = "any-twisted",
                                           [QUOIT_CUBES_ADJACENT] = "adjacent" };

const char *
quoit_cubes_name (QuoitCubes cubes)
{
  return cubes_names[cubes];
}

gboolean
quoit_cubes_find (const char *name, QuoitCubes *cubes)
{
  for (guint i = 0; i < G_N_ELEMENTS (cubes_names); i++)
    if (strcmp (cubes_names[i], name) == 0)
      return *cubes = (QuoitCubes) i, TRUE;
  return FALSE;
}

/* --- groups --- */

/* Returns the word at *@at, and moves *@at behind it; NULL: there is none. The caller owns it. */
static char *
next_word (const char **at)
{
  const gsize length = strcspn (*at, " ");
  char *word = length == 0 ? NULL : g_strndup (*at, length);

  *at += length;
  *at += **at == ' ';
  return word;
}

gboolean
quoit_group_joined_class (const QuoitGroupData *group, QuoitGeneration *generation, QuoitShape *shape)
{
  const char *at = group->request == NULL ? "" : group->request;
  g_autofree char *first = next_word (&at), *second = next_word (&at);

  return second != NULL && quoit_generation_parse (first, generation, NULL) && quoit_shape_parse (second, shape, NULL)
         && shape->n_dims == 3;
}

QuoitCubes
quoit_group_cubes (const QuoitGroupData *group)
{
  /* "v5p 8x8x8 x 1 hostchips=4 cubes=any" */
  enum { WORDS_BEFORE = 5 };
  const char *at = group->request;
  g_autofree char *word = NULL;

  for (guint i = 0; i < WORDS_BEFORE; i++)
    g_free (next_word (&at));
  word = next_word (&at);
  return g_strcmp0 (word, "cubes=adjacent") == 0      ? QUOIT_CUBES_ADJACENT
         : g_strcmp0 (word, "cubes=any-twisted") == 0 ? QUOIT_CUBES_ANY_TWISTED
                                                      : QUOIT_CUBES_ANY;
}

guint
quoit_joined_list_boxes (QuoitGeneration generation, QuoitShape shape, QuoitShape boxes[QUOIT_MAX_CUBE_TURNS])
{
  static const guint8 orders[QUOIT_MAX_CUBE_TURNS][3]
      = { { 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 } };
  guint n = 0;

  for (guint order = 0; order < QUOIT_MAX_CUBE_TURNS; order++)
    {
      QuoitShape box = { .n_dims = 3 }, turned = shape;
      gboolean is_new = TRUE;

      for (guint axis = 0; axis < 3; axis++)
        {
          turned.dims[axis] = shape.dims[orders[order][axis]];
          box.dims[axis] = turned.dims[axis] / QUOIT_CUBE_SIDE;
        }
      if (n > 0 && !quoit_shape_check (generation, turned, NULL))
        continue;
      for (guint i = 0; i < n; i++)
        is_new = is_new && !quoit_shape_equal (boxes[i], box);
      if (is_new)
        boxes[n++] = box;
    }
  return n;
}

void
quoit_joined_find_host (QuoitShape box, guint32 worker, guint32 *cube, guint32 *host)
{
  guint32 rest = worker, cube_stride = 1, host_stride = 1;

  *cube = *host = 0;
  for (guint axis = 0; axis < 3; axis++)
    {
      const guint32 n = box.dims[axis] * cube_grid[axis], at = rest % n;

      rest /= n;
      *cube += at / cube_grid[axis] * cube_stride;
      *host += at % cube_grid[axis] * host_stride;
      cube_stride *= box.dims[axis];
      host_stride *= cube_grid[axis];
    }
}

/* Whether the hosts of the slice have the order of @box. */
static gboolean
has_order (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, QuoitShape box, guint32 *cubes)
{
  const guint32 first = quoit_group_first_node (group, slice), n = group->slice_end[slice] - first,
                n_cubes = quoit_shape_chips (box);

  if (n != n_cubes * QUOIT_CUBE_HOSTS)
    return FALSE;
  memset (cubes, 0xff, n_cubes * sizeof *cubes);
  for (guint32 i = 0; i < n; i++)
    {
      const guint32 node = quoit_layout_find_id (layout, group->node_ids[first + i]);
      guint32 cube, host;

      if (node == QUOIT_NO_INDEX)
        continue;
      quoit_joined_find_host (box, i, &cube, &host);
      if (layout->nodes[node].worker_id != (gint32) host || layout->nodes[node].slice == QUOIT_NO_INDEX
          || (cubes[cube] != QUOIT_NO_INDEX && cubes[cube] != layout->nodes[node].slice))
        return FALSE;
      cubes[cube] = layout->nodes[node].slice;
    }
  return TRUE;
}

gboolean
quoit_group_find_cubes (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, QuoitShape *box,
                        guint32 *cubes)
{
  QuoitShape boxes[QUOIT_MAX_CUBE_TURNS], shape;
  QuoitGeneration generation;
  guint n;

  if (!quoit_group_joined_class (group, &generation, &shape))
    return FALSE;
  n = quoit_joined_list_boxes (generation, shape, boxes);
  for (guint i = 0; i < n; i++)
    if (has_order (layout, group, slice, boxes[i], cubes))
      return *box = boxes[i], TRUE;
  return FALSE;
}

/* Returns the axes along which the slice has all cubes of its block. */
static unsigned
find_spanned_axes (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice)
{
  g_autofree guint32 *cubes = g_new (guint32, group->n_nodes / QUOIT_CUBE_HOSTS + 1);
  guint32 class_index;
  unsigned axes = 0;
  QuoitBlocks *blocks;
  QuoitShape box;

  if (!quoit_group_find_cubes (layout, group, slice, &box, cubes) || cubes[0] == QUOIT_NO_INDEX)
    return 0;
  class_index = layout->shelves[layout->slices[cubes[0]].shelf].class_index;
  if (class_index == QUOIT_NO_INDEX)
    return 0;
  blocks = quoit_blocks_get (layout, class_index);
  for (guint axis = 0; blocks->of_slice[cubes[0]] != QUOIT_NO_INDEX && axis < 3; axis++)
    if (blocks->blocks[blocks->of_slice[cubes[0]]].grid[axis] == box.dims[axis])
      axes |= 1u << axis;
  quoit_blocks_unref (blocks);
  return axes;
}

unsigned
quoit_group_joined_wrap (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice,
                         const QuoitSliceFacts *facts)
{
  unsigned wrap = quoit_shape_wrap (facts->generation, facts->shape);

  switch (quoit_group_cubes (group))
    {
    case QUOIT_CUBES_ADJACENT:
      return wrap & find_spanned_axes (layout, group, slice);
    case QUOIT_CUBES_ANY_TWISTED:
      for (guint axis = 0; axis < 3; axis++)
        for (guint along = 0; along < 3; along++)
          if (facts->shape.dims[along] == 2 * facts->shape.dims[axis])
            wrap &= ~(1u << axis);
      return wrap;
    case QUOIT_CUBES_NONE:
    case QUOIT_CUBES_ANY:
    default:
      return wrap;
    }
}

gboolean
quoit_group_joined_facts (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, QuoitSliceFacts *facts)
{
  g_autofree guint32 *cubes = g_new (guint32, group->n_nodes / QUOIT_CUBE_HOSTS + 1);
  QuoitGeneration generation;
  QuoitShape shape, box;

  if (!quoit_group_joined_class (group, &generation, &shape))
    return FALSE;
  if (quoit_group_find_cubes (layout, group, slice, &box, cubes))
    for (guint axis = 0; axis < 3; axis++)
      shape.dims[axis] = box.dims[axis] * QUOIT_CUBE_SIDE;
  return quoit_slice_facts (generation, shape, 4, facts, NULL);
}
