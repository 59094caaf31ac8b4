/* SPDX-License-Identifier: Apache-2.0 */
/* Places the vertices of a graph: the slices of a pool in rows, the chips of a slice as a grid for each layer, side by
 * side, and each node among its chips. */
#include "formats/graph.h"

enum { CELL = 90, MAX_ROW_CELLS = 24 };

/* What a pool contains directly: a slice, or a node outside of slices. Sizes are in cells. */
typedef struct {
  guint lengths[3];             /* of the grid of chips */
  guint n_loose, n_loose_chips; /* nodes without a chip that has a place, and the most chips of such a node */
  gint x, y;
} Block;

typedef struct {
  const QuoitGraph *graph;
  QuoitPoint *points;
  Block *blocks;      /* by vertex; only those that a pool contains are used */
  guint32 *block_of;  /* by vertex */
  guint *n_placed;    /* by node: its chips that have a place */
  guint *n_unplaced;  /* by node: its other chips */
  QuoitPoint *sums;   /* by node: of the points of its chips */
  guint *loose_index; /* by node: its column among the loose nodes of its block */
} Placing;

static const QuoitVertex *
get_vertex (const Placing *placing, guint32 index)
{
  return &g_array_index (placing->graph->vertices, QuoitVertex, index);
}

static void
count_chips (Placing *placing)
{
  for (guint32 i = 0; i < placing->graph->vertices->len; i++)
    {
      const QuoitVertex *vertex = get_vertex (placing, i);
      Block *block;

      placing->block_of[i]
          = get_vertex (placing, vertex->parent)->type == QUOIT_VERTEX_POOL ? i : placing->block_of[vertex->parent];
      if (vertex->type != QUOIT_VERTEX_CHIP)
        continue;
      block = &placing->blocks[placing->block_of[i]];
      if (!vertex->has_place)
        placing->n_unplaced[vertex->parent]++;
      else
        placing->n_placed[vertex->parent]++;
      for (guint axis = 0; vertex->has_place && axis < G_N_ELEMENTS (block->lengths); axis++)
        block->lengths[axis] = MAX (block->lengths[axis], vertex->place[axis] + 1);
    }
}

static void
count_loose_nodes (Placing *placing)
{
  for (guint32 i = 0; i < placing->graph->vertices->len; i++)
    if (get_vertex (placing, i)->type == QUOIT_VERTEX_NODE && placing->n_placed[i] == 0)
      {
        Block *block = &placing->blocks[placing->block_of[i]];

        placing->loose_index[i] = block->n_loose++;
        block->n_loose_chips = MAX (block->n_loose_chips, placing->n_unplaced[i]);
      }
}

static guint
block_width (const Block *block)
{
  const guint grids = block->lengths[2] * (block->lengths[0] + 1);

  return MAX (MAX (grids, block->n_loose), 1);
}

/* With a row above for the name of the slice. */
static guint
block_height (const Block *block)
{
  return 1 + block->lengths[1] + (block->n_loose > 0 ? 1 + block->n_loose_chips : 0);
}

/* Blocks fill rows; each pool begins a row. Sources and pools are left of them, and groups above. */
static void
place_blocks (Placing *placing)
{
  gint x = 0, y = 0, n_groups = 0;
  guint height = 0;

  for (guint32 i = 0; i < placing->graph->vertices->len; i++)
    {
      const QuoitVertex *vertex = get_vertex (placing, i);
      Block *block = &placing->blocks[i];

      if (vertex->type == QUOIT_VERTEX_GROUP)
        placing->points[i] = (QuoitPoint) { 2 * CELL * n_groups++, -3 * CELL };
      if (vertex->type <= QUOIT_VERTEX_POOL)
        {
          y += x == 0 ? 0 : (gint) height + 1;
          x = 0;
          height = 0;
          placing->points[i] = (QuoitPoint) { CELL * (-6 + 2 * (gint) vertex->type), CELL * y };
          continue;
        }
      if (placing->block_of[i] != i || vertex->parent == i)
        continue;
      if (x > 0 && x + (gint) block_width (block) > MAX_ROW_CELLS)
        {
          y += (gint) height + 1;
          x = 0;
          height = 0;
        }
      block->x = x;
      block->y = y;
      placing->points[i] = (QuoitPoint) { CELL * x, CELL * y };
      x += (gint) block_width (block) + 1;
      height = MAX (height, block_height (block));
    }
}

static void
place_chip (Placing *placing, guint32 index, guint *n_seen)
{
  const QuoitVertex *vertex = get_vertex (placing, index);
  const Block *block = &placing->blocks[placing->block_of[index]];
  const guint32 node = vertex->parent;
  QuoitPoint *point = &placing->points[index];

  if (vertex->has_place)
    {
      const guint column = vertex->place[2] * (block->lengths[0] + 1) + vertex->place[0];

      *point = (QuoitPoint) { CELL * (block->x + (gint) column), CELL * (block->y + 1 + (gint) vertex->place[1]) };
      placing->sums[node].x += point->x;
      placing->sums[node].y += point->y;
    }
  else
    *point = (QuoitPoint) { CELL * (block->x + (gint) placing->loose_index[node]),
                            CELL * (block->y + 2 + (gint) (block->lengths[1] + n_seen[node]++)) };
}

static void
place_node (Placing *placing, guint32 index)
{
  const Block *block = &placing->blocks[placing->block_of[index]];
  const gint n = (gint) placing->n_placed[index];

  if (n == 0)
    placing->points[index] = (QuoitPoint) { CELL * (block->x + (gint) placing->loose_index[index]),
                                            CELL * (block->y + 1 + (gint) block->lengths[1]) };
  else
    {
      const gint y = placing->sums[index].y / n;

      /* between two rows of chips */
      placing->points[index] = (QuoitPoint) { placing->sums[index].x / n, y % CELL == 0 ? y + CELL / 2 : y };
    }
}

QuoitPoint *
quoit_graph_place (const QuoitGraph *graph)
{
  const guint32 n = graph->vertices->len;
  g_autofree Block *blocks = g_new0 (Block, n);
  g_autofree guint32 *block_of = g_new0 (guint32, n);
  g_autofree guint *n_placed = g_new0 (guint, n), *n_unplaced = g_new0 (guint, n), *loose_index = g_new0 (guint, n);
  g_autofree guint *n_seen = g_new0 (guint, n);
  g_autofree QuoitPoint *sums = g_new0 (QuoitPoint, n);
  Placing placing = { graph, g_new0 (QuoitPoint, n), blocks, block_of, n_placed, n_unplaced, sums, loose_index };

  count_chips (&placing);
  count_loose_nodes (&placing);
  place_blocks (&placing);
  for (guint32 i = 0; i < n; i++)
    if (get_vertex (&placing, i)->type == QUOIT_VERTEX_CHIP)
      place_chip (&placing, i, n_seen);
  for (guint32 i = 0; i < n; i++)
    if (get_vertex (&placing, i)->type == QUOIT_VERTEX_NODE)
      place_node (&placing, i);
  return placing.points;
}
