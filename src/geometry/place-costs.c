/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of places. For a place at o of a box p, a shape s has common hosts with p if it begins, along each axis,
 * from o - (s - 1) to o + (p - 1). So the cost of all places of a box is a sum over windows of these lengths. It is
 * computed one axis after the other: along x with a table from the bits of a row to the sums of its hosts, along y and
 * z with sums that slide. Eight hosts of a row are added at once. */
#include <string.h>

#include "base/indices.h"
#include "geometry/places.h"

typedef guint16 Sums __attribute__ ((vector_size (16)));

enum {
  N_SUMS = sizeof (Sums) / sizeof (guint16),
  MAX_VECTORS = QUOIT_GRID_MAX_X / N_SUMS, /* of a row */
  BYTE_VALUES = 256
};

/* The window of a box along one axis: the places from @lead hosts before a host, @length of them. */
typedef struct {
  guint32 lead, length;
  gboolean is_whole; /* all places of the axis */
} Window;

/* For each byte of a row, the sums of its bits over the window of each host. */
typedef struct {
  Sums sums[MAX_VECTORS][MAX_VECTORS][BYTE_VALUES]; /* by byte of the row, vector of hosts, value of the byte */
} RowTable;

typedef struct {
  QuoitShape hosts;
  guint32 shape; /* index of weights */
} Box;

struct _QuoitPlaceCosts {
  QuoitGrid grid;
  guint32 n_vectors; /* of a row */
  guint32 n_boxes, n_shapes;
  Box *boxes; /* all turns of a shape are adjacent */
  guint64 *weights;
  RowTable *tables[QUOIT_GRID_MAX_X + 1][QUOIT_GRID_MAX_X + 1]; /* by the lengths of both boxes along x */
};

static Window
window_make (const QuoitGrid *grid, guint axis, guint32 length, guint32 other_length)
{
  Window window = { other_length - 1, length + other_length - 1, FALSE };

  window.is_whole = (grid->wrap >> axis & 1) != 0 && window.length >= grid->n[axis];
  return window;
}

/* --- making --- */

/* Returns the places of the window of host @x, as bits. */
static guint16
window_bits (const QuoitGrid *grid, const Window *window, guint32 x)
{
  const guint32 n = grid->n[0];
  const gboolean wraps = (grid->wrap & 1) != 0;
  guint16 bits = 0;

  for (guint32 i = 0; i < window->length && !window->is_whole; i++)
    {
      guint32 at = x + n + i - window->lead; /* n more than the place, so that it is not negative */

      if (wraps || (at >= n && at < 2 * n))
        bits |= (guint16) (1u << at % n);
    }
  return window->is_whole ? (guint16) ((1u << n) - 1) : bits;
}

static RowTable *
row_table_new (const QuoitGrid *grid, guint32 n_vectors, guint32 length, guint32 other_length)
{
  const Window window = window_make (grid, 0, length, other_length);
  RowTable *table = g_aligned_alloc0 (1, sizeof *table, sizeof (Sums));

  for (guint32 x = 0; x < grid->n[0]; x++)
    {
      guint16 bits = window_bits (grid, &window, x);

      for (guint32 byte = 0; byte < n_vectors; byte++)
        for (guint value = 1; value < BYTE_VALUES; value++)
          table->sums[byte][x / N_SUMS][value][x % N_SUMS]
              = (guint16) __builtin_popcount (bits >> (8 * byte) & 0xff & value);
    }
  return table;
}

QuoitPlaceCosts *
quoit_place_costs_new (const QuoitGrid *grid, QuoitShape host_block, const QuoitShape *shapes, guint n_shapes)
{
  QuoitPlaceCosts *costs = g_new0 (QuoitPlaceCosts, 1);
  QuoitHostSet all, places;

  costs->grid = *grid;
  costs->n_vectors = (grid->n[0] + N_SUMS - 1) / N_SUMS;
  costs->boxes = g_new0 (Box, QUOIT_MAX_TURNS * n_shapes);
  costs->weights = g_new (guint64, n_shapes);
  quoit_host_set_fill (grid, &all);
  for (guint shape = 0; shape < n_shapes; shape++)
    {
      QuoitTurn turns[QUOIT_MAX_TURNS];
      guint n_turns = quoit_shape_list_turns (shapes[shape], host_block, turns);
      guint64 n_places = 0;

      for (guint turn = 0; turn < n_turns; turn++)
        if (quoit_places_find (grid, &all, turns[turn].hosts, &places))
          {
            costs->boxes[costs->n_boxes++] = (Box) { turns[turn].hosts, costs->n_shapes };
            n_places += quoit_host_set_count (grid, &places);
          }
      if (n_places > 0)
        costs->weights[costs->n_shapes++] = ((guint64) quoit_shape_chips (shapes[shape]) << 16) / n_places;
    }
  for (guint a = 0; a < costs->n_boxes; a++)
    for (guint b = 0; b < costs->n_boxes; b++)
      {
        guint32 length = costs->boxes[a].hosts.dims[0], other = costs->boxes[b].hosts.dims[0];

        if (costs->tables[length][other] == NULL)
          costs->tables[length][other] = row_table_new (grid, costs->n_vectors, length, other);
      }
  return costs;
}

void
quoit_place_costs_free (QuoitPlaceCosts *costs)
{
  if (costs == NULL)
    return;
  for (guint a = 0; a <= QUOIT_GRID_MAX_X; a++)
    for (guint b = 0; b <= QUOIT_GRID_MAX_X; b++)
      g_aligned_free (costs->tables[a][b]);
  g_free (costs->boxes);
  g_free (costs->weights);
  g_free (costs);
}

/* --- all places of a box --- */

/* The sums of all hosts, in rows of n_vectors vectors. There are at most QUOIT_GRID_MAX_ROWS vectors. */
typedef struct {
  Sums rows[QUOIT_GRID_MAX_ROWS];
} AllSums;

/* Adds to @to, or sets it to, the sums over the window of lines of @n elements of @width vectors. */
static inline void
slide (const Sums *from, Sums *to, guint32 n, guint32 width, const Window *window, gboolean wraps, gboolean adds)
{
  for (guint32 v = 0; v < width; v++)
    {
      Sums sum = { 0 };
      gint32 low = -(gint32) window->lead, high = low + (gint32) window->length; /* the window of element 0 */

      if (window->is_whole)
        low = 0, high = (gint32) n;
      for (gint32 i = low; i < high; i++)
        if (wraps || (i >= 0 && i < (gint32) n))
          sum += from[(guint32) (i < 0 ? i + (gint32) n : i) * width + v];
      for (guint32 at = 0; at < n; at++)
        {
          to[at * width + v] = adds ? to[at * width + v] + sum : sum;
          if (window->is_whole)
            continue;
          if (wraps || high < (gint32) n)
            sum += from[(guint32) (high < (gint32) n ? high : high - (gint32) n) * width + v];
          if (wraps || low >= 0)
            sum -= from[(guint32) (low >= 0 ? low : low + (gint32) n) * width + v];
          low++, high++;
        }
    }
}

/* Adds, for each host as the origin of a box of @hosts, the number of @places of @other that meet the box. */
static void
add_meetings (const QuoitPlaceCosts *costs, const QuoitHostSet *places, QuoitShape hosts, QuoitShape other,
              AllSums *sums)
{
  const QuoitGrid *grid = &costs->grid;
  const guint32 n_vectors = costs->n_vectors, n_rows = quoit_grid_n_rows (grid), plane = grid->n[1] * n_vectors;
  const RowTable *table = costs->tables[hosts.dims[0]][other.dims[0]];
  const Window y = window_make (grid, 1, hosts.dims[1], other.dims[1]);
  const Window z = window_make (grid, 2, hosts.dims[2], other.dims[2]);
  AllSums along_x, along_y;

  for (guint32 row = 0; row < n_rows; row++)
    for (guint32 v = 0; v < n_vectors; v++)
      {
        along_x.rows[row * n_vectors + v] = table->sums[0][v][places->rows[row] & 0xff];
        if (n_vectors > 1)
          along_x.rows[row * n_vectors + v] += table->sums[1][v][places->rows[row] >> 8];
      }
  for (guint32 at = 0; at < grid->n[2]; at++)
    slide (along_x.rows + at * plane, along_y.rows + at * plane, grid->n[1], n_vectors, &y, (grid->wrap >> 1 & 1) != 0,
           FALSE);
  slide (along_y.rows, sums->rows, grid->n[2], plane, &z, (grid->wrap >> 2 & 1) != 0, TRUE);
}

/* The free places of a box of the costs. */
typedef struct {
  guint32 box;
  QuoitHostSet places;
} BoxPlaces;

static guint
list_places (const QuoitPlaceCosts *costs, const QuoitHostSet *free, BoxPlaces *list)
{
  guint n = 0;

  for (guint box = 0; box < costs->n_boxes; box++)
    if (quoit_places_find (&costs->grid, free, costs->boxes[box].hosts, &list[n].places))
      list[n++].box = box;
  return n;
}

/* Adds the cost of the sums to the origins in @candidates. */
static void
add_costs (const QuoitPlaceCosts *costs, const AllSums *sums, guint64 weight, const QuoitHostSet *candidates,
           guint64 *cost)
{
  const guint32 width = costs->n_vectors * N_SUMS;

  for (guint32 row = 0; row < quoit_grid_n_rows (&costs->grid); row++)
    for (guint bits = candidates->rows[row]; bits != 0; bits &= bits - 1)
      {
        guint32 x = (guint32) __builtin_ctz (bits);

        cost[row * width + x] += weight * sums->rows[row * costs->n_vectors + x / N_SUMS][x % N_SUMS];
      }
}

gboolean
quoit_place_is_cheaper (const QuoitPlace *a, const QuoitPlace *b)
{
  if (a->cost != b->cost)
    return a->cost < b->cost;
  return a->origin != b->origin ? a->origin < b->origin : a->turn < b->turn;
}

guint
quoit_places_insert (QuoitPlace *places, guint n, guint most, const QuoitPlace *place)
{
  guint at = n;

  if (n == most && !quoit_place_is_cheaper (place, &places[n - 1]))
    return n;
  if (n == most)
    at--;
  for (; at > 0 && quoit_place_is_cheaper (place, &places[at - 1]); at--)
    places[at] = places[at - 1];
  places[at] = *place;
  return MIN (n + 1, most);
}

/* Adds the candidates to the cheapest places so far, and returns their number. */
static guint
find_cheapest (const QuoitPlaceCosts *costs, const QuoitHostSet *candidates, const guint64 *cost, guint32 turn,
               QuoitPlace *places, guint n, guint most)
{
  const guint32 width = costs->n_vectors * N_SUMS;

  for (guint32 row = 0; row < quoit_grid_n_rows (&costs->grid); row++)
    for (guint bits = candidates->rows[row]; bits != 0; bits &= bits - 1)
      {
        guint32 x = (guint32) __builtin_ctz (bits), origin = row * costs->grid.n[0] + x;
        const QuoitPlace place = { origin, turn, cost[row * width + x] };

        if (n < most || place.cost <= places[n - 1].cost)
          n = quoit_places_insert (places, n, most, &place);
      }
  return n;
}

gboolean
quoit_places_find_best (const QuoitPlaceCosts *costs, const QuoitHostSet *free, const QuoitTurn *turns, guint n_turns,
                        QuoitPlace *place)
{
  *place = (QuoitPlace) { QUOIT_NO_INDEX, 0, G_MAXUINT64 };
  return quoit_places_find_cheapest (costs, free, turns, n_turns, place, 1) == 1;
}

guint
quoit_places_find_cheapest (const QuoitPlaceCosts *costs, const QuoitHostSet *free, const QuoitTurn *turns,
                            guint n_turns, QuoitPlace *places, guint most)
{
  g_autofree BoxPlaces *list = NULL;
  g_autofree guint64 *cost = NULL;
  const gsize n_sums = quoit_grid_n_rows (&costs->grid) * costs->n_vectors;
  guint n_list = 0, n = 0;

  for (guint turn = 0; turn < n_turns; turn++)
    {
      QuoitHostSet candidates;
      AllSums sums;

      if (!quoit_places_find (&costs->grid, free, turns[turn].hosts, &candidates))
        continue;
      if (list == NULL)
        {
          list = g_new (BoxPlaces, costs->n_boxes);
          cost = g_new (guint64, n_sums * N_SUMS);
          n_list = list_places (costs, free, list);
        }
      memset (cost, 0, n_sums * N_SUMS * sizeof *cost);
      for (guint i = 0; i < n_list; i++)
        {
          const Box *box = &costs->boxes[list[i].box];

          if (i == 0 || costs->boxes[list[i - 1].box].shape != box->shape)
            memset (sums.rows, 0, n_sums * sizeof (Sums));
          add_meetings (costs, &list[i].places, turns[turn].hosts, box->hosts, &sums);
          if (i + 1 == n_list || costs->boxes[list[i + 1].box].shape != box->shape)
            add_costs (costs, &sums, costs->weights[box->shape], &candidates, cost);
        }
      n = find_cheapest (costs, &candidates, cost, turn, places, n, most);
    }
  return n;
}

/* --- one place --- */

/* Returns whether position @at of an axis is in the window of the place at @origin. */
static gboolean
window_has (const QuoitGrid *grid, guint axis, const Window *window, guint32 origin, guint32 at)
{
  const guint32 n = grid->n[axis], ahead = at + window->lead + n - origin; /* n more than the distance from its begin */

  if (window->is_whole)
    return TRUE;
  if ((grid->wrap >> axis & 1) != 0)
    return ahead % n < window->length;
  return ahead >= n && ahead - n < window->length;
}

static guint32
count_meetings (const QuoitGrid *grid, const QuoitHostSet *places, QuoitShape hosts, QuoitShape other, guint32 origin)
{
  const QuoitPosition from
      = { { origin % grid->n[0], origin / grid->n[0] % grid->n[1], origin / grid->n[0] / grid->n[1] } };
  const Window x = window_make (grid, 0, hosts.dims[0], other.dims[0]);
  const Window y = window_make (grid, 1, hosts.dims[1], other.dims[1]);
  const Window z = window_make (grid, 2, hosts.dims[2], other.dims[2]);
  const guint16 bits = window_bits (grid, &x, from.at[0]);
  guint32 n = 0;

  for (guint32 row = 0; row < quoit_grid_n_rows (grid); row++)
    if ((places->rows[row] & bits) != 0 && window_has (grid, 1, &y, from.at[1], row % grid->n[1])
        && window_has (grid, 2, &z, from.at[2], row / grid->n[1]))
      n += (guint32) __builtin_popcount (places->rows[row] & bits);
  return n;
}

guint64
quoit_places_cost (const QuoitPlaceCosts *costs, const QuoitHostSet *free, QuoitShape hosts, guint32 origin)
{
  QuoitHostSet places;
  guint64 cost = 0;

  for (guint box = 0; box < costs->n_boxes; box++)
    if (quoit_places_find (&costs->grid, free, costs->boxes[box].hosts, &places))
      cost += costs->weights[costs->boxes[box].shape]
              * count_meetings (&costs->grid, &places, hosts, costs->boxes[box].hosts, origin);
  return cost;
}
