/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that move cubes of groups to other blocks, compared with all sequences of moves on small blocks: no plan claims
 * more than a sequence can reach, the bounds hold for each sequence, plans that claim to be best are, and the moves are
 * those that draining and repairing make. In fleets with many blocks, plans with a small budget come close to the
 * bound. */
#include "../support.h"
#include "../sanitized.h"
#include "../shortcuts.h"
#include "make-moves.h"

enum { N_WORLDS = IS_SANITIZED ? 30 : 300, MOST_BLOCKS = 3, MOST_CUBES = 20, MOST_UNITS = 7, MOST_STATES = 1 << 14 };

typedef struct {
  guint block, size;
  gboolean can_leave; /* to cubes in no block */
} Unit;

typedef struct {
  GRand *rand;
  guint32 seed;
  guint n_blocks, n_cubes, block_of[MOST_CUBES]; /* n_blocks: in no block */
  char *text;
  QuoitLedger *ledger;
  PlanCounts *counts;
} World;

enum { N_LARGE = 60, LARGE_CUBES = 16, LARGE_STEPS = 400 };

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- all sequences --- */

typedef struct {
  guint n_units, n_places; /* the last place is outside of blocks */
  Unit units[MOST_UNITS];
  guint free[MOST_BLOCKS + 1];
} State;

static guint
value_of (const State *state, guint n_cubes)
{
  guint n = 0;

  for (guint b = 0; b + 1 < state->n_places; b++)
    n += state->free[b] / n_cubes;
  return n;
}

static guint
encode (const State *state)
{
  guint code = 0;

  for (guint u = 0; u < state->n_units; u++)
    code = code * state->n_places + state->units[u].block;
  return code;
}

static void
decode (guint code, const State *start, State *state)
{
  *state = *start;
  for (guint u = state->n_units; u-- > 0; code /= state->n_places)
    {
      state->free[state->units[u].block] += state->units[u].size;
      state->units[u].block = code % state->n_places;
      state->free[state->units[u].block] -= state->units[u].size;
    }
}

/* Sets @costs, by number of slices that can be joined, to the least number of cubes that sequences move to it. */
static void
try_sequences (const State *start, guint n_cubes, guint costs[MOST_CUBES + 1])
{
  static guint8 least[MOST_STATES];
  gboolean changed = TRUE;
  guint n_states = 1;

  for (guint u = 0; u < start->n_units; u++)
    n_states *= start->n_places;
  memset (least, 0xff, sizeof least);
  memset (costs, 0xff, (MOST_CUBES + 1) * sizeof *costs);
  least[encode (start)] = 0;
  for (guint cost = 0; changed || cost <= MOST_CUBES; cost++)
    {
      changed = FALSE;
      for (guint code = 0; code < n_states && cost < 0xff; code++)
        {
          State state;
          guint value;

          if (least[code] != cost)
            continue;
          decode (code, start, &state);
          value = value_of (&state, n_cubes);
          costs[value] = MIN (costs[value], cost);
          for (guint u = 0; u < state.n_units; u++)
            for (guint to = 0; to < state.n_places; to++)
              {
                Unit *unit = &state.units[u];
                const guint from = unit->block;
                guint next;

                if (to == from || state.free[to] < unit->size || (to + 1 == state.n_places && !unit->can_leave))
                  continue;
                unit->block = to;
                next = encode (&state);
                unit->block = from;
                if (least[next] > cost + unit->size)
                  {
                    least[next] = (guint8) (cost + unit->size);
                    changed = TRUE;
                  }
              }
        }
    }
}

/* --- the fleet --- */

/* Reads where the slices of all groups are. Returns FALSE if there are too many. */
static gboolean
read_state (const World *world, const QuoitSnapshot *snapshot, State *state)
{
  gboolean is_free[MOST_CUBES];

  *state = (State) { .n_places = world->n_blocks + 1 };
  for (guint c = 0; c < world->n_cubes; c++)
    is_free[c] = TRUE;
  for (uint32_t n = 0; n < quoit_snapshot_get_n_nodes (snapshot); n++)
    if (quoit_snapshot_get_node_state (snapshot, n) != QUOIT_NODE_ALIVE
        || quoit_snapshot_get_node_n_users (snapshot, n) > 0)
      is_free[cube_of (quoit_snapshot_get_node_name (snapshot, n))] = FALSE;
  for (guint c = 0; c < world->n_cubes; c++)
    state->free[world->block_of[c]] += is_free[c];
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        {
          g_autofree char *cube = quoit_group_dup_worker_slice (group, s, 0);
          Unit unit = { world->block_of[cube_of (cube)], quoit_group_get_n_workers (group, s) / 16,
                        g_str_has_prefix (quoit_group_get_name (group), "whole") };

          if (unit.block == world->n_blocks)
            unit.can_leave = TRUE;
          if (state->n_units == MOST_UNITS)
            return FALSE;
          state->units[state->n_units++] = unit;
        }
    }
  return TRUE;
}

static void
draw_fleet (World *world)
{
  GString *text = g_string_new (NULL);

  world->n_blocks = 2 + draw (world, MOST_BLOCKS - 1);
  for (guint b = 0; b < world->n_blocks; b++)
    {
      const guint n = 2 + draw (world, 4);

      g_string_append_printf (text, "%sv5p 4x4x4 x%u pool=p block=b%u", b == 0 ? "" : "; ", n, b);
      for (guint i = 0; i < n; i++)
        world->block_of[world->n_cubes++] = b;
    }
  if (draw (world, 3) == 0)
    {
      g_string_append (text, "; v5p 4x4x4 x1 pool=p");
      world->block_of[world->n_cubes++] = world->n_blocks;
    }
  world->text = g_string_free (text, FALSE);
}

/* Reserves slices at places that are not the best ones, and releases some of them. */
static void
draw_groups (World *world)
{
  static const char *const shapes[] = { "4x4x4", "4x4x4", "4x4x8", "4x4x12" };

  for (guint i = 0; i < 12; i++)
    {
      const gboolean is_whole = draw (world, 4) == 0;
      g_autofree char *name = g_strdup_printf ("%s%u", is_whole ? "whole" : "joined", i);
      g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

      require (quoit_request_set_accelerator (request, "v5p", NULL)
                   && quoit_request_set_topology (request, is_whole ? "4x4x4" : shapes[draw (world, 4)], NULL)
                   && quoit_request_set_slices (request, 1 + draw (world, 2), NULL)
                   && quoit_request_set_cubes (request, is_whole ? QUOIT_CUBES_NONE : QUOIT_CUBES_ANY, NULL),
               "seed %u", world->seed);
      if (!is_whole)
        require (quoit_request_set_place (request, (QuoitPlacePolicy) draw (world, 4), NULL), "seed %u", world->seed);
      quoit_group_unref (quoit_ledger_reserve (world->ledger, request, T0, NULL, NULL));
    }
  for (guint i = 0; i < 12; i++)
    if (draw (world, 5) < 3)
      {
        g_autofree char *joined = g_strdup_printf ("joined%u", i), *whole = g_strdup_printf ("whole%u", i);

        quoit_ledger_release (world->ledger, joined, T0, NULL);
        quoit_ledger_release (world->ledger, whole, T0, NULL);
      }
}

/* --- plans --- */

static void
check_plan (World *world, const QuoitSnapshot *snapshot, const State *state, const char *shape, guint n_cubes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDefragmentation) plan
      = quoit_snapshot_plan_joined_defragmentation (snapshot, "v5p", shape, QUOIT_CUBES_ANY, 0, &error);
  guint costs[MOST_CUBES + 1];

  if (plan == NULL)
    {
      require (error->code == QUOIT_ERROR_NOT_FOUND, "seed %u: %s", world->seed, error->message);
      return;
    }
  try_sequences (state, n_cubes, costs);
  compare_plan (world->seed, snapshot, plan, shape, QUOIT_CUBES_ANY, n_cubes, costs, MOST_CUBES, world->counts);
}

static void
run_world (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;
  State state;

  draw_fleet (world);
  world->ledger = quoit_ledger_open_memory ();
  require (import_text (world->ledger, world->text, NULL, T0, &error), "%s: %s", world->text, error_text (error));
  draw_groups (world);
  snapshot = quoit_ledger_snapshot (world->ledger);
  if (read_state (world, snapshot, &state))
    {
      check_plan (world, snapshot, &state, "4x4x8", 2);
      check_plan (world, snapshot, &state, "4x4x12", 3);
      check_plan (world, snapshot, &state, "4x8x8", 4);
    }
  quoit_ledger_unref (world->ledger);
  g_free (world->text);
}

/* --- fleets with many blocks --- */

/* Adds slices of shuffled cubes of a block to the text. A sixth of them is free. */
static void
draw_large_block (World *world, guint block, GString *text)
{
  static const char *const shapes[] = { "4x4x4", "4x4x8", "4x8x8" };
  guint cubes[LARGE_CUBES], n_left = LARGE_CUBES;

  for (guint c = 0; c < LARGE_CUBES; c++)
    cubes[c] = c;
  for (guint c = LARGE_CUBES - 1; c > 0; c--)
    {
      const guint other = draw (world, c + 1), cube = cubes[c];

      cubes[c] = cubes[other];
      cubes[other] = cube;
    }
  while (n_left > 0)
    {
      const guint kind = draw (world, 3), n = 1u << kind;

      if (n > n_left)
        continue;
      n_left -= n;
      if (draw (world, 6) == 0)
        continue;
      g_string_append_printf (text, "; group g%u-%u v5p %s cubes=any slices=b%u:", block, n_left, shapes[kind], block);
      for (guint c = n_left; c < n_left + n; c++)
        g_string_append_printf (text, "%s%u", c == n_left ? "" : ",", cubes[c]);
    }
}

static void
check_large (World *world, const QuoitSnapshot *snapshot, const char *shape, guint n_cubes, QuoitCubes cubes,
             guint least_percent)
{
  g_autoptr (QuoitDefragmentation) plan
      = quoit_snapshot_plan_joined_defragmentation (snapshot, "v5p", shape, cubes, LARGE_STEPS, NULL);
  const guint64 gain = quoit_defragmentation_get_gain (plan), bound = quoit_defragmentation_get_gain_bound (plan);

  printf ("%u blocks, %s: %u of at most %u slices more, %u moves of at least %u\n", N_LARGE, shape,
          (guint) gain / (64 * n_cubes), (guint) bound / (64 * n_cubes), quoit_defragmentation_get_n_moves (plan),
          quoit_defragmentation_get_moves_bound (plan));
  require (gain <= bound && gain * 100 >= bound * least_percent, "seed %u, %s: too few", world->seed, shape);
  make_moves (world->seed, snapshot, plan, shape, cubes, 64 * n_cubes);
}

static void
run_large_world (guint32 seed)
{
  World world = { .rand = g_rand_new_with_seed (seed), .seed = seed };
  GString *text = g_string_new (NULL);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;

  for (guint b = 0; b < N_LARGE; b++)
    g_string_append_printf (text, "%sv5p 4x4x4 x%u pool=b%u block=b%u grid=4x2x2", b == 0 ? "" : "; ", LARGE_CUBES, b,
                            b);
  for (guint b = 0; b < N_LARGE; b++)
    draw_large_block (&world, b, text);
  world.text = g_string_free (text, FALSE);
  world.ledger = quoit_ledger_open_memory ();
  require (import_text (world.ledger, world.text, NULL, T0, &error), "%s: %s", world.text, error_text (error));
  snapshot = quoit_ledger_snapshot (world.ledger);
  check_large (&world, snapshot, "4x4x12", 3, QUOIT_CUBES_ANY, 95);
  check_large (&world, snapshot, "8x8x8", 8, QUOIT_CUBES_ANY, 95);
  check_large (&world, snapshot, "4x8x8", 4, QUOIT_CUBES_ADJACENT, 80);
  quoit_ledger_unref (world.ledger);
  g_free (world.text);
  g_rand_free (world.rand);
}

int
main (void)
{
  const guint32 first = random_seed ("cubes-moves", 1);
  const guint n_worlds = scaled (N_WORLDS);
  PlanCounts total = { 0 };

  for (guint i = 0; i < n_worlds; i++)
    {
      World world = { .rand = g_rand_new_with_seed (first + i), .seed = first + i, .counts = &total };

      run_world (&world);
      g_rand_free (world.rand);
    }
  printf ("%u plans; moves help in %u, of which %u are the best, and %u proven\n", total.n_planned, total.n_gains,
          total.n_shortest, total.n_best);
  require (total.n_planned > n_worlds && total.n_gains > n_worlds / 4 && total.n_shortest > total.n_gains * 93 / 100
               && total.n_best > total.n_gains / 2,
           "few plans, or poor ones");
  run_large_world (first);
  printf ("%u passed, 0 failed\n", n_worlds + 1);
  return EXIT_SUCCESS;
}
