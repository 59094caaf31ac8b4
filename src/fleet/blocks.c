/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/label-names.h"
#include "base/natural.h"

gboolean
quoit_slice_facts_are_cube (const QuoitSliceFacts *facts)
{
  const QuoitGenerationFacts *generation = quoit_generation_facts (facts->generation);

  return generation != NULL && generation->ocs_cube.n_dims > 0 && facts->hosts == QUOIT_CUBE_HOSTS
         && quoit_shape_equal (facts->shape, generation->ocs_cube);
}

gboolean
quoit_cube_position_parse (const char *text, guint32 position[3])
{
  for (guint axis = 0; axis < 3; axis++)
    {
      guint32 number = 0, n = 0;

      for (; g_ascii_isdigit (*text) && n < 4; text++, n++)
        number = number * 10 + (guint32) (*text - '0');
      if (n == 0 || number >= QUOIT_MAX_BLOCK_SIDE || *text != (axis < 2 ? '-' : '\0'))
        return FALSE;
      text += axis < 2;
      position[axis] = number;
    }
  return TRUE;
}

char *
quoit_cube_position_format (const guint32 position[3])
{
  return g_strdup_printf ("%u-%u-%u", position[0], position[1], position[2]);
}

/* --- labels --- */

/* What the nodes of one kind state about their cube. */
typedef struct {
  gboolean is_known;
  const char *block; /* NULL: none. Equal names are equal pointers */
  gboolean has_position;
  guint32 position[3];
} Statement;

typedef struct {
  const QuoitLayout *layout;
  QuoitBlocks *blocks;
  Statement *by_kind;
} Finding;

static const Statement *
find_statement (Finding *finding, guint32 node)
{
  const QuoitNodeId id = { node };
  Statement *statement = &finding->by_kind[finding->layout->nodes[node].kind];
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  const char *text;

  if (statement->is_known)
    return statement;
  statement->is_known = TRUE;
  text = quoit_layout_node_label (finding->layout, id, QUOIT_GKE_LABEL_BLOCK, buffer);
  if (text != NULL && *text != '\0')
    statement->block = g_string_chunk_insert_const (finding->blocks->names, text);
  text = quoit_layout_node_label (finding->layout, id, QUOIT_LABEL_CUBE_POSITION, buffer);
  statement->has_position = text != NULL && quoit_cube_position_parse (text, statement->position);
  return statement;
}

/* A cube that is in a block. */
typedef struct {
  const char *block;
  guint32 source, slice;
  gboolean has_position;
  guint32 position[3];
} Cube;

/* Finds what all nodes of the slice state, dead or alive. Returns FALSE if that is no block. */
static gboolean
find_cube (Finding *finding, guint32 slice, Cube *cube)
{
  const QuoitSlice *row = &finding->layout->slices[slice];
  const Statement *first = row->n_nodes == 0 ? NULL : find_statement (finding, row->first_node);

  if (first == NULL || first->block == NULL)
    return FALSE;
  *cube = (Cube) { .block = first->block, .slice = slice, .has_position = first->has_position };
  memcpy (cube->position, first->position, sizeof cube->position);
  for (guint32 i = 1; i < row->n_nodes; i++)
    {
      const Statement *other = find_statement (finding, row->first_node + i);

      if (other->block != cube->block)
        return FALSE;
      cube->has_position = cube->has_position && other->has_position
                           && memcmp (other->position, cube->position, sizeof cube->position) == 0;
    }
  return TRUE;
}

/* --- the blocks of a class --- */

static int
by_block (const void *a, const void *b)
{
  const Cube *x = a, *y = b;
  const int by_name = x->block == y->block ? 0 : quoit_natural_compare (x->block, y->block);

  if (by_name != 0)
    return by_name;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return x->slice < y->slice ? -1 : x->slice > y->slice;
}

static GArray *
list_cubes (Finding *finding, guint32 class_index)
{
  const QuoitLayout *layout = finding->layout;
  GArray *cubes = g_array_new (FALSE, FALSE, sizeof (Cube));

  for (guint32 h = 0; h < layout->n_shelves; h++)
    {
      const QuoitShelf *shelf = &layout->shelves[h];
      Cube cube;

      for (guint32 s = shelf->first_slice;
           shelf->class_index == class_index && s < shelf->first_slice + shelf->n_slices; s++)
        if (find_cube (finding, s, &cube))
          {
            cube.source = layout->pools[shelf->pool].source;
            g_array_append_val (cubes, cube);
          }
    }
  if (cubes->len > 0)
    qsort (cubes->data, cubes->len, sizeof (Cube), by_block);
  return cubes;
}

/* Gives the cubes of a block their positions in its grid. If two cubes state one position, neither has it. */
static void
place_cubes (QuoitBlocks *blocks, QuoitBlock *block, const Cube *cubes)
{
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL); /* position + 1 -> slice + 1 */

  for (guint32 i = 0; i < block->n; i++)
    for (guint axis = 0; cubes[i].has_position && axis < 3; axis++)
      block->grid[axis] = MAX (block->grid[axis], cubes[i].position[axis] + 1);
  for (guint32 i = 0; i < block->n; i++)
    {
      const guint32 *p = cubes[i].position, position = (p[2] * block->grid[1] + p[1]) * block->grid[0] + p[0];
      gpointer key = GUINT_TO_POINTER (position + 1), other;

      if (!cubes[i].has_position)
        continue;
      other = g_hash_table_lookup (at, key);
      if (other != NULL)
        blocks->positions[GPOINTER_TO_UINT (other) - 1] = QUOIT_NO_INDEX;
      else
        {
          blocks->positions[cubes[i].slice] = position;
          g_hash_table_insert (at, key, GUINT_TO_POINTER (cubes[i].slice + 1));
        }
    }
}

static void
add_block (QuoitBlocks *blocks, const Cube *cubes, guint32 first, guint32 end)
{
  QuoitBlock *block = &blocks->blocks[blocks->n];

  *block = (QuoitBlock) { cubes[first].block, cubes[first].source, first, end - first, { 0 } };
  for (guint32 i = first; i < end; i++)
    {
      const guint32 slice = cubes[i].slice;

      blocks->cubes[i] = slice;
      blocks->of_slice[slice] = blocks->n;
      blocks->set[slice / 64] |= (guint64) 1 << (slice % 64);
      blocks->first_word = MIN (blocks->first_word, slice / 64);
      blocks->end_word = MAX (blocks->end_word, slice / 64 + 1);
    }
  place_cubes (blocks, block, cubes + first);
  blocks->n++;
}

static void
blocks_clear (gpointer data)
{
  QuoitBlocks *blocks = data;

  g_free (blocks->blocks);
  g_free (blocks->cubes);
  g_free (blocks->of_slice);
  g_free (blocks->positions);
  g_free (blocks->set);
  g_string_chunk_free (blocks->names);
}

static QuoitBlocks *
make_blocks (const QuoitLayout *layout, guint32 class_index)
{
  QuoitBlocks *blocks = g_atomic_rc_box_new0 (QuoitBlocks);
  g_autofree Statement *by_kind = g_new0 (Statement, layout->n_kinds + 1);
  Finding finding = { layout, blocks, by_kind };
  g_autoptr (GArray) list = NULL;
  const Cube *cubes;

  blocks->names = g_string_chunk_new (256);
  list = list_cubes (&finding, class_index);
  cubes = (const Cube *) (const void *) list->data;
  blocks->blocks = g_new0 (QuoitBlock, list->len + 1);
  blocks->cubes = g_new (guint32, list->len + 1);
  blocks->of_slice = g_new (guint32, layout->n_slices + 1);
  blocks->positions = g_new (guint32, layout->n_slices + 1);
  blocks->set = g_new0 (guint64, layout->n_slices / 64 + 1);
  memset (blocks->of_slice, 0xff, (layout->n_slices + 1) * sizeof *blocks->of_slice);
  memset (blocks->positions, 0xff, (layout->n_slices + 1) * sizeof *blocks->positions);
  blocks->first_word = list->len == 0 ? 0 : G_MAXUINT32;
  for (guint32 first = 0, end; first < list->len; first = end)
    {
      end = first + 1;
      while (end < list->len && cubes[end].block == cubes[first].block && cubes[end].source == cubes[first].source)
        end++;
      add_block (blocks, cubes, first, end);
    }
  return blocks;
}

QuoitBlocks *
quoit_blocks_get (const QuoitLayout *layout, guint32 class_index)
{
  /* Other results that layouts remember have keys of other lengths. */
  const struct {
    char what[4];
    guint32 class_index;
  } key = { "blk", class_index };
  QuoitBlocks *blocks = quoit_recent_get (layout->domains, &key, sizeof key);

  if (blocks != NULL)
    return blocks;
  blocks = make_blocks (layout, class_index);
  quoit_recent_put (layout->domains, &key, sizeof key, blocks, blocks_clear);
  return blocks;
}

void
quoit_blocks_unref (QuoitBlocks *blocks)
{
  if (blocks != NULL)
    g_atomic_rc_box_release_full (blocks, blocks_clear);
}
