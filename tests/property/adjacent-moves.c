/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that make room for slices of adjacent cubes, compared with all sequences of moves on small blocks. The search
 * of this test knows where each group may be, and nothing of the planner: it finds the fewest cubes that have to move
 * for each number of slices that can be joined. No plan claims more, the bounds hold, plans that claim to be best are,
 * and the moves are those that draining and repairing make. */
#include "../support.h"
#include "../sanitized.h"
#include "../shortcuts.h"
#include "make-moves.h"

enum {
  N_WORLDS = IS_SANITIZED ? 40 : 400,
  MOST_BLOCKS = 3,
  MOST_CUBES = 12,
  MOST_UNITS = 4,
  MOST_PLACES = 128,
  MOST_STATES = 1 << 14,
  MOST_BOXES = 6
};

/* A group, and the sets of cubes that its slices may have. */
typedef struct {
  guint n_places, now;
  guint32 places[MOST_PLACES]; /* cubes as bits */
} Unit;

typedef struct {
  guint n[3];
} Box;

typedef struct {
  GRand *rand;
  guint32 seed;
  guint n_blocks, n_cubes; /* all cubes, of which the last one can be in no block */
  guint first[MOST_BLOCKS + 1];
  Box grids[MOST_BLOCKS];
  char *text;
  QuoitLedger *ledger;
  guint n_units;
  Unit units[MOST_UNITS];
  PlanCounts *counts;
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- boxes --- */

/* Lists the boxes of cubes that a slice of the topology can be: itself, and its turns that requests can state. */
static guint
list_boxes (const char *topology, Box boxes[MOST_BOXES])
{
  static const guint orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  guint sides[3], n = 0;

  require (sscanf (topology, "%ux%ux%u", &sides[0], &sides[1], &sides[2]) == 3, "%s", topology);
  for (guint order = 0; order < 6; order++)
    {
      const guint *axes = orders[order];
      g_autofree char *turned = g_strdup_printf ("%ux%ux%u", sides[axes[0]], sides[axes[1]], sides[axes[2]]);
      g_autoptr (QuoitRequest) request = quoit_request_new ("turned", NULL);
      const Box box = { { sides[axes[0]] / 4, sides[axes[1]] / 4, sides[axes[2]] / 4 } };
      gboolean is_new = TRUE;

      for (guint i = 0; i < n; i++)
        is_new = is_new && memcmp (&boxes[i], &box, sizeof box) != 0;
      if (is_new && quoit_request_set_accelerator (request, "v5p", NULL)
          && quoit_request_set_topology (request, turned, NULL) && quoit_request_set_slices (request, 1, NULL)
          && quoit_request_set_cubes (request, QUOIT_CUBES_ADJACENT, NULL))
        boxes[n++] = box;
    }
  return n;
}

/* Writes the places of the box in the block to @places. Returns their number. */
static guint
list_places (const World *world, guint block, const Box *box, guint32 *places)
{
  const Box *grid = &world->grids[block];
  guint n = 0;

  for (guint z = 0; z + box->n[2] <= grid->n[2]; z++)
    for (guint y = 0; y + box->n[1] <= grid->n[1]; y++)
      for (guint x = 0; x + box->n[0] <= grid->n[0]; x++)
        {
          guint32 cubes = 0;

          for (guint c = 0; c < box->n[2]; c++)
            for (guint b = 0; b < box->n[1]; b++)
              for (guint a = 0; a < box->n[0]; a++)
                cubes |= 1u << (world->first[block] + x + a + grid->n[0] * (y + b + grid->n[1] * (z + c)));
          places[n++] = cubes;
        }
  return n;
}

/* Returns how many of the places have no common cube, and only free ones. */
static guint
pack (guint32 free, const guint32 *places, guint n)
{
  guint most = 0;

  if (n == 0)
    return 0;
  most = pack (free, places + 1, n - 1);
  if ((places[0] & ~free) == 0)
    most = MAX (most, 1 + pack (free & ~places[0], places + 1, n - 1));
  return most;
}

/* --- all sequences --- */

typedef struct {
  guint8 *known[MOST_BLOCKS]; /* by free cubes of the block: slices + 1; 0: not counted */
  guint n_places[MOST_BLOCKS];
  guint32 places[MOST_BLOCKS][3 * MOST_CUBES * MOST_BOXES];
} Packing;

static guint
count_slices (const World *world, Packing *packing, guint32 used)
{
  guint n = 0;

  for (guint b = 0; b < world->n_blocks; b++)
    {
      const guint n_cubes = world->first[b + 1] - world->first[b];
      const guint32 free = ~used >> world->first[b] & ((1u << n_cubes) - 1);

      if (packing->known[b][free] == 0)
        packing->known[b][free]
            = (guint8) (1 + pack (free << world->first[b], packing->places[b], packing->n_places[b]));
      n += packing->known[b][free] - 1u;
    }
  return n;
}

static void
decode (const World *world, guint code, guint at[MOST_UNITS])
{
  for (guint u = world->n_units; u-- > 0; code /= world->units[u].n_places)
    at[u] = code % world->units[u].n_places;
}

static guint
encode (const World *world, const guint at[MOST_UNITS])
{
  guint code = 0;

  for (guint u = 0; u < world->n_units; u++)
    code = code * world->units[u].n_places + at[u];
  return code;
}

/* Sets @costs, by number of slices that can be joined, to the least number of cubes that sequences move to it. */
static void
try_sequences (const World *world, Packing *packing, guint costs[MOST_CUBES + 1])
{
  static guint8 least[MOST_STATES];
  guint at[MOST_UNITS] = { 0 }, n_states = 1;
  gboolean is_left = TRUE;

  for (guint u = 0; u < world->n_units; u++)
    {
      n_states *= world->units[u].n_places;
      at[u] = world->units[u].now;
    }
  memset (least, 0xff, sizeof least);
  memset (costs, 0xff, (MOST_CUBES + 1) * sizeof *costs);
  least[encode (world, at)] = 0;
  for (guint8 cost = 0; is_left; cost++)
    {
      is_left = FALSE;
      for (guint code = 0; code < n_states; code++)
        {
          guint32 used = 0;
          guint value;

          is_left = is_left || (least[code] != 0xff && least[code] > cost);
          if (least[code] != cost)
            continue;
          decode (world, code, at);
          for (guint u = 0; u < world->n_units; u++)
            used |= world->units[u].places[at[u]];
          value = count_slices (world, packing, used);
          costs[value] = MIN (costs[value], cost);
          for (guint u = 0; u < world->n_units; u++)
            {
              const Unit *unit = &world->units[u];
              const guint from = at[u];

              for (guint to = 0; to < unit->n_places; to++)
                {
                  const guint32 entered = unit->places[to] & ~unit->places[from];
                  const guint more = (guint) __builtin_popcount (entered);

                  if (more == 0 || (entered & used) != 0)
                    continue;
                  at[u] = to;
                  if (least[encode (world, at)] > cost + more)
                    {
                      least[encode (world, at)] = (guint8) (cost + more);
                      is_left = TRUE;
                    }
                }
              at[u] = from;
            }
        }
    }
}

/* --- the fleet --- */

static void
draw_fleet (World *world)
{
  static const Box grids[] = { { { 3, 1, 1 } }, { { 4, 1, 1 } }, { { 2, 2, 1 } }, { { 1, 2, 2 } }, { { 3, 2, 1 } },
                               { { 2, 2, 2 } }, { { 1, 1, 5 } }, { { 1, 3, 1 } }, { { 2, 1, 1 } } };
  GString *text = g_string_new (NULL);
  const guint n_blocks = 1 + draw (world, MOST_BLOCKS);

  for (guint b = 0; b < n_blocks; b++)
    {
      const Box *grid = &grids[draw (world, G_N_ELEMENTS (grids))];
      const guint n = grid->n[0] * grid->n[1] * grid->n[2];

      if (world->n_cubes + n > MOST_CUBES - 1)
        continue;
      g_string_append_printf (text, "%sv5p 4x4x4 x%u pool=p block=b%u grid=%ux%ux%u", text->len == 0 ? "" : "; ", n,
                              world->n_blocks, grid->n[0], grid->n[1], grid->n[2]);
      world->grids[world->n_blocks] = *grid;
      world->first[world->n_blocks++] = world->n_cubes;
      world->n_cubes += n;
    }
  world->first[world->n_blocks] = world->n_cubes;
  if (draw (world, 4) == 0)
    {
      g_string_append (text, "; v5p 4x4x4 x1 pool=p");
      world->n_cubes++;
    }
  world->text = g_string_free (text, FALSE);
}

/* Reserves slices at places that are not the best ones, and releases some of them. */
static void
draw_groups (World *world)
{
  static const char *const shapes[] = { "4x4x4", "4x4x4", "4x4x8", "4x4x12", "4x8x8" };
  static const QuoitCubes cubes[] = { QUOIT_CUBES_ANY, QUOIT_CUBES_ADJACENT, QUOIT_CUBES_ADJACENT, QUOIT_CUBES_NONE };

  for (guint i = 0; i < 14; i++)
    {
      const QuoitCubes which = cubes[draw (world, 4)];
      g_autofree char *name = g_strdup_printf ("%s%u",
                                               which == QUOIT_CUBES_NONE  ? "whole"
                                               : which == QUOIT_CUBES_ANY ? "any"
                                                                          : "adjacent",
                                               i);
      g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

      require (quoit_request_set_accelerator (request, "v5p", NULL)
                   && quoit_request_set_topology (
                       request, which == QUOIT_CUBES_NONE ? "4x4x4" : shapes[draw (world, G_N_ELEMENTS (shapes))], NULL)
                   && quoit_request_set_slices (request, draw (world, 4) == 0 ? 2 : 1, NULL)
                   && quoit_request_set_cubes (request, which, NULL)
                   && quoit_request_set_place (
                       request, (QuoitPlacePolicy) draw (world, which == QUOIT_CUBES_NONE ? 1 : 4), NULL),
               "seed %u", world->seed);
      quoit_group_unref (quoit_ledger_reserve (world->ledger, request, T0, NULL, NULL));
      if (draw (world, 5) < 3)
        quoit_ledger_release (world->ledger, name, T0, NULL);
    }
  for (guint i = 0; i < 14; i++)
    if (draw (world, 5) < 2)
      {
        static const char *const prefixes[] = { "any", "adjacent", "whole" };

        for (guint p = 0; p < 3; p++)
          {
            g_autofree char *name = g_strdup_printf ("%s%u", prefixes[p], i);

            quoit_ledger_release (world->ledger, name, T0, NULL);
          }
      }
}

static gboolean
add_place (Unit *unit, guint32 cubes)
{
  for (guint i = 0; i < unit->n_places; i++)
    if (unit->places[i] == cubes)
      return TRUE;
  if (unit->n_places == MOST_PLACES)
    return FALSE;
  unit->places[unit->n_places++] = cubes;
  return TRUE;
}

/* Adds where one slice of @n cubes in the block may be. */
static gboolean
add_slice_places (const World *world, const char *name, guint block, guint n, Unit *unit)
{
  static const char *const topologies[] = { NULL, "4x4x4", "4x4x8", "4x4x12", "4x8x8" };
  const guint n_cubes = world->first[block + 1] - world->first[block];
  guint32 places[MOST_CUBES * MOST_BOXES];
  Box boxes[MOST_BOXES];
  const guint n_boxes = list_boxes (topologies[n], boxes);
  guint n_places = 0;
  gboolean ok = TRUE;

  if (!g_str_has_prefix (name, "adjacent"))
    for (guint32 set = 0; set < 1u << n_cubes && ok; set++)
      ok = (guint) __builtin_popcount (set) != n || add_place (unit, set << world->first[block]);
  else
    {
      for (guint box = 0; box < n_boxes; box++)
        n_places += list_places (world, block, &boxes[box], places + n_places);
      for (guint i = 0; i < n_places && ok; i++)
        ok = add_place (unit, places[i]);
    }
  return ok;
}

/* Adds where a group may be whose @n_slices slices of @n cubes have the @cubes now. Returns FALSE if these are too many
 * places. */
static gboolean
add_unit (World *world, const char *name, guint n_slices, guint n, guint32 cubes)
{
  Unit one = { 0, MOST_PLACES, { 0 } }, *unit = &world->units[world->n_units];

  if (world->n_units == MOST_UNITS || n_slices > 2)
    return FALSE;
  for (guint block = 0; block < world->n_blocks; block++)
    if (!add_slice_places (world, name, block, n, &one))
      return FALSE;
  if (g_str_has_prefix (name, "whole") && world->n_cubes > world->first[world->n_blocks]
      && !add_place (&one, 1u << (world->n_cubes - 1)))
    return FALSE;
  *unit = n_slices == 1 ? one : (Unit) { 0, MOST_PLACES, { 0 } };
  for (guint i = 0; i < one.n_places && n_slices == 2; i++)
    for (guint j = 0; j < i; j++)
      if ((one.places[i] & one.places[j]) == 0 && !add_place (unit, one.places[i] | one.places[j]))
        return FALSE;
  for (guint i = 0; i < unit->n_places; i++)
    if (unit->places[i] == cubes)
      unit->now = i;
  require (unit->now < MOST_PLACES, "seed %u: %s is at an unknown place", world->seed, name);
  world->n_units++;
  return TRUE;
}

/* Reads where all groups are. Returns FALSE if there are too many states. */
static gboolean
read_units (World *world, const QuoitSnapshot *snapshot)
{
  guint n_states = 1;

  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
      guint32 cubes = 0;

      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
          {
            g_autofree char *cube = quoit_group_dup_worker_slice (group, s, w);

            cubes |= 1u << cube_of (cube);
          }
      if (!add_unit (world, quoit_group_get_name (group), quoit_group_get_n_slices (group),
                     quoit_group_get_n_workers (group, 0) / 16, cubes))
        return FALSE;
      n_states *= world->units[world->n_units - 1].n_places;
      if (n_states > MOST_STATES)
        return FALSE;
    }
  return TRUE;
}

/* --- plans --- */

static void
packing_init (const World *world, const char *shape, Packing *packing)
{
  Box boxes[MOST_BOXES];
  const guint n_boxes = list_boxes (shape, boxes);

  for (guint b = 0; b < world->n_blocks; b++)
    {
      packing->known[b] = g_new0 (guint8, 1u << (world->first[b + 1] - world->first[b]));
      packing->n_places[b] = 0;
      for (guint box = 0; box < n_boxes; box++)
        packing->n_places[b] += list_places (world, b, &boxes[box], packing->places[b] + packing->n_places[b]);
    }
}

static void
check_plan (World *world, const QuoitSnapshot *snapshot, const char *shape, guint n_cubes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDefragmentation) plan
      = quoit_snapshot_plan_joined_defragmentation (snapshot, "v5p", shape, QUOIT_CUBES_ADJACENT, 0, &error);
  guint costs[MOST_CUBES + 1];
  Packing packing;

  if (plan == NULL)
    {
      require (error->code == QUOIT_ERROR_NOT_FOUND, "seed %u: %s", world->seed, error->message);
      return;
    }
  packing_init (world, shape, &packing);
  try_sequences (world, &packing, costs);
  for (guint b = 0; b < world->n_blocks; b++)
    g_free (packing.known[b]);
  compare_plan (world->seed, snapshot, plan, shape, QUOIT_CUBES_ADJACENT, n_cubes, costs, MOST_CUBES, world->counts);
}

static void
run_world (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;

  draw_fleet (world);
  world->ledger = quoit_ledger_open_memory ();
  require (import_text (world->ledger, world->text, NULL, T0, &error), "%s: %s", world->text, error_text (error));
  draw_groups (world);
  snapshot = quoit_ledger_snapshot (world->ledger);
  if (read_units (world, snapshot))
    {
      check_plan (world, snapshot, "4x4x8", 2);
      check_plan (world, snapshot, "4x4x12", 3);
      check_plan (world, snapshot, "4x8x8", 4);
    }
  quoit_ledger_unref (world->ledger);
  g_free (world->text);
}

int
main (void)
{
  const guint32 first = random_seed ("adjacent-moves", 1);
  const guint n_worlds = scaled (N_WORLDS);
  PlanCounts total = { 0 };

  for (guint i = 0; i < n_worlds; i++)
    {
      World world = { .rand = g_rand_new_with_seed (first + i), .seed = first + i, .counts = &total };

      run_world (&world);
      g_rand_free (world.rand);
    }
  printf ("%u plans; moves help in %u, of which %u have the greatest gain, %u with the fewest moves, and %u proven\n",
          total.n_planned, total.n_gains, total.n_greatest, total.n_shortest, total.n_best);
  require (total.n_planned > n_worlds && total.n_gains > n_worlds / 4 && total.n_shortest > total.n_gains * 95 / 100
               && total.n_best > total.n_gains * 85 / 100,
           "few plans, or poor ones");
  printf ("%u passed, 0 failed\n", n_worlds);
  return EXIT_SUCCESS;
}
