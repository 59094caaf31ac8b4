/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that join cubes, compared with a search of all choices on small blocks: a reservation succeeds exactly when
 * its slices fit, each slice has free cubes of one block in the order of its workers, explain and test agree with it,
 * each option of a refusal helps, and groups are repaired and resized exactly when the search says so. */
#include <math.h>

#include "../support.h"
#include "../sanitized.h"
#include "../shortcuts.h"
#include "try-options.h"

enum { N_WORLDS = IS_SANITIZED ? 40 : 600, N_STEPS = 40, MOST_CUBES = 24, MOST_BLOCKS = 3, N_HOSTS = 16 };

/* A block of the fleet. */
typedef struct {
  guint n;       /* cubes */
  guint grid[3]; /* 0: without positions */
} Block;

typedef struct {
  GRand *rand;
  guint32 seed;
  const char *accelerator;
  guint n_blocks, n_cubes;
  Block blocks[MOST_BLOCKS];
  guint block_of[MOST_CUBES], position[MOST_CUBES]; /* MOST_BLOCKS: in no block */
  char *text;
  QuoitLedger *ledger;
  gint64 now_ms;
  guint n_named, n_granted, n_refused, n_options, n_repaired, n_kept_cubes, n_resized, n_turned, n_counted, n_read;
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- all choices --- */

static void
read_sides (const char *shape, guint sides[3])
{
  require (sscanf (shape, "%ux%ux%u", &sides[0], &sides[1], &sides[2]) == 3, "%s", shape);
}

static gboolean
is_topology (const World *world, const guint cubes[3])
{
  g_autofree char *text = g_strdup_printf ("%ux%ux%u", 4 * cubes[0], 4 * cubes[1], 4 * cubes[2]);
  const QuoitCatalogueGeneration *generation = quoit_catalogue_lookup_generation (world->accelerator, NULL);

  return quoit_catalogue_lookup_topology (generation, text, 0, NULL) != NULL;
}

typedef struct {
  guint n;
  guint32 masks[512]; /* of positions */
} Places;

/* Lists the boxes of adjacent cubes in a block, in all turns that are topologies. */
static void
list_places (const World *world, const Block *block, const char *shape, Places *places)
{
  static const guint turns[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  guint sides[3];

  read_sides (shape, sides);
  places->n = 0;
  for (guint t = 0; t < G_N_ELEMENTS (turns); t++)
    {
      const guint box[3] = { sides[turns[t][0]] / 4, sides[turns[t][1]] / 4, sides[turns[t][2]] / 4 };

      if (t > 0 && !is_topology (world, box))
        continue;
      for (guint z = 0; z + box[2] <= block->grid[2]; z++)
        for (guint y = 0; y + box[1] <= block->grid[1]; y++)
          for (guint x = 0; x + box[0] <= block->grid[0]; x++)
            {
              guint32 mask = 0;

              for (guint c = 0; c < box[2]; c++)
                for (guint b = 0; b < box[1]; b++)
                  for (guint a = 0; a < box[0]; a++)
                    mask |= 1u << (((z + c) * block->grid[1] + y + b) * block->grid[0] + x + a);
              places->masks[places->n++] = mask;
            }
    }
}

/* Returns the most places without a common cube among the free positions. */
static guint
count_packed (const Places *places, guint32 free)
{
  const guint32 lowest = free & -free;
  guint best = 0;

  if (free == 0)
    return 0;
  for (guint i = 0; i < places->n; i++)
    if ((places->masks[i] & lowest) != 0 && (places->masks[i] & ~free) == 0)
      best = MAX (best, 1 + count_packed (places, free & ~places->masks[i]));
  /* All boxes have one size, so at most this many fit. */
  if (places->n > 0
      && best * (guint) __builtin_popcount (places->masks[0]) + (guint) __builtin_popcount (places->masks[0])
             > (guint) __builtin_popcount (free))
    return best;
  return MAX (best, count_packed (places, free & ~lowest));
}

static guint
count_in_block (const World *world, guint block, const gboolean *free, const char *shape, QuoitCubes cubes)
{
  guint sides[3], n_free = 0;
  guint32 positions = 0;
  Places places;

  read_sides (shape, sides);
  for (guint c = 0; c < world->n_cubes; c++)
    if (world->block_of[c] == block && free[c])
      {
        n_free++;
        positions |= 1u << world->position[c];
      }
  if (cubes != QUOIT_CUBES_ADJACENT)
    return n_free / (sides[0] * sides[1] * sides[2] / 64);
  if (world->blocks[block].grid[0] == 0)
    return 0;
  list_places (world, &world->blocks[block], shape, &places);
  return count_packed (&places, positions);
}

static guint
count_fitting (const World *world, const gboolean *free, const char *shape, QuoitCubes cubes)
{
  guint n = 0;

  for (guint b = 0; b < world->n_blocks; b++)
    n += count_in_block (world, b, free, shape, cubes);
  return n;
}

/* --- the fleet --- */

/* Sets which cubes are free. @own (or NULL): a group whose nodes count as unused; @ever: all cubes are. */
static void
list_free (const World *world, const QuoitSnapshot *snapshot, const QuoitGroup *own, gboolean ever, gboolean *free)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);

  for (uint32_t s = 0; own != NULL && s < quoit_group_get_n_slices (own); s++)
    for (uint32_t w = 0;
         quoit_group_get_slice_state (own, s) != QUOIT_GROUP_SLICE_WHOLE && w < quoit_group_get_n_workers (own, s); w++)
      g_hash_table_add (ids, GUINT_TO_POINTER (quoit_group_get_worker_node_id (own, s, w)));
  for (guint c = 0; c < world->n_cubes; c++)
    free[c] = TRUE;
  for (uint32_t n = 0; !ever && n < quoit_snapshot_get_n_nodes (snapshot); n++)
    {
      guint cube, worker;

      require (sscanf (quoit_snapshot_get_node_name (snapshot, n), "p-%u-%u", &cube, &worker) == 2, "a node's name");
      require (cube < world->n_cubes && worker < N_HOSTS, "%u-%u", cube, worker);
      free[cube] = free[cube] && quoit_snapshot_get_node_state (snapshot, n) == QUOIT_NODE_ALIVE
                   && (quoit_snapshot_get_node_n_users (snapshot, n) == 0
                       || g_hash_table_contains (ids, GUINT_TO_POINTER (quoit_snapshot_get_node_id (snapshot, n))));
    }
}

/* --- granted groups --- */

static guint
cube_of_worker (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  g_autofree char *name = quoit_group_dup_worker_slice (group, slice, worker);
  guint cube;

  require (sscanf (name, "p-%u", &cube) == 1, "a cube's name");
  return cube;
}

/* Checks that a slice has free cubes of one block, whose hosts are in the order of the joined box, and removes them
 * from the free ones. */
static void
check_slice (World *world, const QuoitGroup *group, uint32_t s, gboolean *free, const char *shape, QuoitCubes cubes)
{
  guint sides[3], sorted[3], wanted[3], box[3], cube_at[MOST_CUBES], n_cubes;
  uint32_t found[3];

  read_sides (shape, wanted);
  require (quoit_group_find_joined (group, s, found), "seed %u: not joined", world->seed);
  for (guint axis = 0; axis < 3; axis++)
    {
      sides[axis] = sorted[axis] = found[axis];
      box[axis] = sides[axis] / 4;
    }
  n_cubes = box[0] * box[1] * box[2];
  require (cubes == QUOIT_CUBES_ADJACENT || memcmp (sides, wanted, sizeof sides) == 0, "seed %u: turned", world->seed);
  world->n_turned += memcmp (sides, wanted, sizeof sides) != 0;
  require (memcmp (sides, wanted, sizeof sides) == 0 || is_topology (world, box), "seed %u: no topology", world->seed);
  for (guint i = 0; i < 3; i++)
    for (guint j = i + 1; j < 3; j++)
      {
        if (sorted[i] > sorted[j])
          {
            guint side = sorted[i];
            sorted[i] = sorted[j];
            sorted[j] = side;
          }
        if (wanted[i] > wanted[j])
          {
            guint side = wanted[i];
            wanted[i] = wanted[j];
            wanted[j] = side;
          }
      }
  require (memcmp (sorted, wanted, sizeof sorted) == 0, "seed %u: another shape", world->seed);
  require (quoit_group_get_n_workers (group, s) == n_cubes * N_HOSTS, "seed %u: %u workers", world->seed,
           quoit_group_get_n_workers (group, s));
  for (guint i = 0; i < n_cubes; i++)
    cube_at[i] = G_MAXUINT;
  for (uint32_t w = 0; w < n_cubes * N_HOSTS; w++)
    {
      const guint x = w % (2 * box[0]), y = w / (2 * box[0]) % (2 * box[1]), z = w / (4 * box[0] * box[1]);
      const guint at = (z / 4 * box[1] + y / 2) * box[0] + x / 2, host = z % 4 * 4 + y % 2 * 2 + x % 2;
      guint own, worker;

      require (sscanf (quoit_group_get_worker_name (group, s, w), "p-%u-%u", &own, &worker) == 2, "a name");
      require (worker == host, "seed %u: worker %u is host %u, expected %u", world->seed, w, worker, host);
      require (own == cube_of_worker (group, s, w), "seed %u: cube %u", world->seed, own);
      require (cube_at[at] == G_MAXUINT || cube_at[at] == own, "seed %u: two cubes at one place", world->seed);
      cube_at[at] = own;
    }
  for (guint i = 0; i < n_cubes; i++)
    {
      const Block *block = &world->blocks[world->block_of[cube_at[0]]];
      const guint cube = cube_at[i];

      require (world->block_of[cube] < world->n_blocks && world->block_of[cube] == world->block_of[cube_at[0]],
               "seed %u: cube %u is in another block", world->seed, cube);
      require (free[cube], "seed %u: cube %u is not free", world->seed, cube);
      free[cube] = FALSE;
      require (cubes != QUOIT_CUBES_ADJACENT
                   || world->position[cube]
                          == world->position[cube_at[0]]
                                 + (i / box[0] / box[1] * block->grid[1] + i / box[0] % box[1]) * block->grid[0]
                                 + i % box[0],
               "seed %u: cube %u is not adjacent", world->seed, cube);
    }
}

static void
check_group (World *world, const QuoitGroup *group, gboolean *free, const char *shape, QuoitCubes cubes)
{
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    check_slice (world, group, s, free, shape, cubes);
}

/* --- steps --- */

static const char *const shapes[] = { "4x4x4", "4x4x8", "4x4x8", "4x8x8", "8x8x8", "4x4x12" };
static const QuoitCubes kinds[]
    = { QUOIT_CUBES_ANY, QUOIT_CUBES_ANY, QUOIT_CUBES_ADJACENT, QUOIT_CUBES_ADJACENT, QUOIT_CUBES_ANY_TWISTED };

static QuoitRequest *
make_request (World *world, const char *name, const char *shape, QuoitCubes cubes, guint n)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  require (quoit_request_set_accelerator (request, world->accelerator, NULL)
               && quoit_request_set_topology (request, shape, NULL) && quoit_request_set_slices (request, n, NULL)
               && quoit_request_set_cubes (request, cubes, NULL),
           "seed %u", world->seed);
  /* Neither the policy nor the length changes whether the request fits. */
  require (quoit_request_set_place (request, (QuoitPlacePolicy) draw (world, 4), NULL), "seed %u", world->seed);
  if (draw (world, 2) == 0)
    require (quoit_request_set_expected_runtime_ms (request, 1000 + draw (world, 20000), NULL), "seed %u", world->seed);
  return request;
}

static QuoitCubes
draw_cubes (World *world, const char **shape)
{
  const QuoitCubes cubes = kinds[draw (world, g_str_equal (world->accelerator, "v4") ? 5 : 4)];

  *shape = shapes[draw (world, G_N_ELEMENTS (shapes))];
  if (cubes == QUOIT_CUBES_ANY_TWISTED)
    *shape = draw (world, 2) == 0 ? "4x4x8" : "4x8x8";
  return cubes;
}

/* Sets which cubes count under an assumption, from the states of the nodes. */
static void
list_counting (const World *world, const QuoitSnapshot *snapshot, QuoitSlotsIf assumption, gboolean *free)
{
  for (guint c = 0; c < world->n_cubes; c++)
    free[c] = TRUE;
  for (uint32_t n = 0; n < quoit_snapshot_get_n_nodes (snapshot); n++)
    {
      const QuoitNodeState state = quoit_snapshot_get_node_state (snapshot, n);
      guint cube, worker;

      require (sscanf (quoit_snapshot_get_node_name (snapshot, n), "p-%u-%u", &cube, &worker) == 2, "a node's name");
      free[cube] = free[cube] && quoit_snapshot_get_node_n_users (snapshot, n) == 0
                   && (state == QUOIT_NODE_ALIVE || assumption == QUOIT_SLOTS_MENDED
                       || (assumption == QUOIT_SLOTS_UNDRAINED && state == QUOIT_NODE_DRAINING));
    }
}

/* Checks one line of a certificate: its cubes are the free ones of the block, and the weights of each joined slice that
 * they make sum up to at least the unit. Adds what it proves to *@most. */
static void
check_proof (const World *world, const char *line, const gboolean *free, const char *shape, QuoitCubes cubes,
             guint *most)
{
  guint64 weights[MOST_CUBES] = { 0 }, by_position[MOST_CUBES] = { 0 }, sorted[MOST_CUBES], sum = 0, unit, claimed;
  guint block, n = 0, n_expected = 0, sides[3];
  g_auto (GStrv) words = g_strsplit (line, " ", -1), names = NULL, numbers = NULL;

  require (g_strv_length (words) == 5 && sscanf (words[0], "fleet/b%u", &block) == 1 && block < world->n_blocks
               && sscanf (words[1], "most=%" G_GUINT64_FORMAT, &claimed) == 1
               && sscanf (words[2], "unit=%" G_GUINT64_FORMAT, &unit) == 1 && unit > 0
               && g_str_has_prefix (words[3], "free=") && g_str_has_prefix (words[4], "weights="),
           "seed %u: %s", world->seed, line);
  names = g_strsplit (words[3] + strlen ("free="), ",", -1);
  numbers = g_strsplit (words[4] + strlen ("weights="), ",", -1);
  require (g_strv_length (names) == g_strv_length (numbers), "seed %u: %s", world->seed, line);
  for (; names[n] != NULL; n++)
    {
      const guint *grid = world->blocks[block].grid;
      guint cube, x, y, z;

      require (sscanf (names[n], "p-%u", &cube) == 1 && cube < world->n_cubes && free[cube]
                   && world->block_of[cube] == block,
               "seed %u: %s", world->seed, line);
      if (cubes == QUOIT_CUBES_ADJACENT)
        require (sscanf (names[n], "p-%u@%u-%u-%u", &cube, &x, &y, &z) == 4
                     && (z * grid[1] + y) * grid[0] + x == world->position[cube],
                 "seed %u: %s", world->seed, line);
      weights[n] = sorted[n] = g_ascii_strtoull (numbers[n], NULL, 10);
      if (cubes == QUOIT_CUBES_ADJACENT)
        by_position[world->position[cube]] = weights[n];
      sum += weights[n];
    }
  for (guint c = 0; c < world->n_cubes; c++)
    n_expected += free[c] && world->block_of[c] == block;
  require (n == n_expected, "seed %u: %u cubes, expected %u: %s", world->seed, n, n_expected, line);
  read_sides (shape, sides);
  if (cubes == QUOIT_CUBES_ADJACENT)
    {
      Places places;

      list_places (world, &world->blocks[block], shape, &places);
      for (guint i = 0; i < places.n; i++)
        {
          guint64 of_place = 0;
          guint32 missing = places.masks[i];

          for (guint c = 0; c < world->n_cubes; c++)
            if (world->block_of[c] == block && free[c] && (missing >> world->position[c] & 1) != 0)
              {
                missing &= ~(1u << world->position[c]);
                of_place += by_position[world->position[c]];
              }
          require (missing != 0 || of_place >= unit, "seed %u: a place of %" G_GUINT64_FORMAT ": %s", world->seed,
                   of_place, line);
        }
    }
  else
    {
      const guint n_cubes = sides[0] * sides[1] * sides[2] / 64;
      guint64 lightest = 0;

      for (guint i = 0; i < n; i++)
        for (guint k = i + 1; k < n; k++)
          if (sorted[k] < sorted[i])
            {
              const guint64 weight = sorted[i];

              sorted[i] = sorted[k];
              sorted[k] = weight;
            }
      for (guint i = 0; i < n_cubes && n >= n_cubes; i++)
        lightest += sorted[i];
      require (n < n_cubes || lightest >= unit, "seed %u: %s", world->seed, line);
    }
  require (sum / unit == claimed, "seed %u: %s", world->seed, line);
  *most += (guint) claimed;
}

/* Compares the numbers of slots, and their certificates, with all choices. */
static void
check_slots (World *world, const QuoitSnapshot *snapshot, const char *shape, QuoitCubes cubes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSlots) slots
      = quoit_snapshot_count_joined_slots (snapshot, world->accelerator, shape, cubes, world->now_ms, &error);
  gboolean all[MOST_CUBES], free[MOST_CUBES];

  list_free (world, snapshot, NULL, TRUE, all);
  /* A block of adjacent cubes can be large enough although too few of its positions have a cube. */
  require (slots != NULL ? cubes == QUOIT_CUBES_ADJACENT || count_fitting (world, all, shape, cubes) > 0
                         : count_fitting (world, all, shape, cubes) == 0,
           "seed %u, %s: %s", world->seed, shape, error_text (error));
  if (slots == NULL)
    {
      require (error->code == QUOIT_ERROR_NOT_FOUND, "seed %u: %s", world->seed, error->message);
      return;
    }
  for (guint i = QUOIT_SLOTS_NOW; i <= QUOIT_SLOTS_MENDED; i++)
    {
      g_autofree char *certificate = quoit_slots_dup_certificate (slots, 0, (QuoitSlotsIf) i);
      g_auto (GStrv) lines = g_strsplit (certificate, "\n", -1);
      guint expected, most = 0;

      list_counting (world, snapshot, (QuoitSlotsIf) i, free);
      expected = count_fitting (world, free, shape, cubes);
      require (quoit_slots_get_least (slots, 0, (QuoitSlotsIf) i) == expected
                   && quoit_slots_get_most (slots, 0, (QuoitSlotsIf) i) == expected,
               "seed %u, %s, %u: %u..%u, expected %u", world->seed, shape, i,
               quoit_slots_get_least (slots, 0, (QuoitSlotsIf) i), quoit_slots_get_most (slots, 0, (QuoitSlotsIf) i),
               expected);
      for (guint line = 0; *lines[line] != '\0'; line++)
        check_proof (world, lines[line], free, shape, cubes, &most);
      require (most == expected, "seed %u, %s, %u: %u are proven, expected %u: %s", world->seed, shape, i, most,
               expected, certificate);
    }
  world->n_counted++;
}

/* Returns the places of a joined slice in the empty blocks. */
static guint
count_empty_places (const World *world, const char *shape, QuoitCubes cubes)
{
  guint n = 0, sides[3];

  read_sides (shape, sides);
  for (guint b = 0; b < world->n_blocks; b++)
    if (cubes == QUOIT_CUBES_ADJACENT)
      {
        Places places;

        list_places (world, &world->blocks[b], shape, &places);
        for (guint i = 0; i < places.n; i++)
          {
            gboolean is_new = TRUE; /* turns can be equal */

            for (guint k = 0; k < i; k++)
              is_new = is_new && places.masks[k] != places.masks[i];
            n += is_new;
          }
      }
    else
      {
        guint n_cubes = 0;

        for (guint c = 0; c < world->n_cubes; c++)
          n_cubes += world->block_of[c] == b;
        n += n_cubes / (sides[0] * sides[1] * sides[2] / 64);
      }
  return n;
}

/* Compares the fragmentation with its definition. */
static void
check_fragmentation (World *world, const QuoitSnapshot *snapshot, QuoitCubes cubes)
{
  g_autoptr (QuoitFragmentation) fragmentation = quoit_snapshot_measure_joined_fragmentation (snapshot, cubes);
  gboolean free[MOST_CUBES];
  double sum = 0, weights = 0;
  guint n_free = 0;

  list_free (world, snapshot, NULL, FALSE, free);
  for (guint c = 0; c < world->n_cubes; c++)
    n_free += free[c] && world->block_of[c] < world->n_blocks
              && (cubes != QUOIT_CUBES_ADJACENT || world->blocks[world->block_of[c]].grid[0] > 0);
  require (quoit_fragmentation_get_n_classes (fragmentation) == 1
               && quoit_fragmentation_get_n_hosts (fragmentation, 0) == n_free * N_HOSTS,
           "seed %u: %u free cubes", world->seed, n_free);
  for (uint32_t part = 0; part < quoit_fragmentation_get_n_parts (fragmentation, 0); part++)
    {
      g_autofree char *shape = quoit_fragmentation_dup_part_topology (fragmentation, 0, part);
      const guint packed = count_fitting (world, free, shape, cubes);
      const double places = count_empty_places (world, shape, cubes);
      guint sides[3];
      double chips;

      read_sides (shape, sides);
      chips = sides[0] * sides[1] * sides[2];
      require (quoit_fragmentation_get_part_least (fragmentation, 0, part) == packed
                   && quoit_fragmentation_get_part_most (fragmentation, 0, part) == packed && places > 0,
               "seed %u, %s: expected %u", world->seed, shape, packed);
      weights += chips / places;
      sum += chips / places * (n_free == 0 ? 0 : 1 - packed * (chips / 64) / n_free);
    }
  if (weights > 0)
    require (fabs (quoit_fragmentation_get_least (fragmentation, 0) - sum / weights * 1e6) < 3
                 && quoit_fragmentation_get_least (fragmentation, 0) == quoit_fragmentation_get_most (fragmentation, 0),
             "seed %u: %u..%u, expected %f", world->seed, quoit_fragmentation_get_least (fragmentation, 0),
             quoit_fragmentation_get_most (fragmentation, 0), sum / weights * 1e6);
}

static void
reserve (World *world)
{
  const char *shape;
  const QuoitCubes cubes = draw_cubes (world, &shape);
  const guint n = 1 + draw (world, 4);
  g_autofree char *name = g_strdup_printf ("g%u-%u-%s-%u", world->n_named++, (guint) cubes, shape, n);
  g_autoptr (QuoitRequest) request = make_request (world, name, shape, cubes, n);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  gboolean free[MOST_CUBES], all[MOST_CUBES];
  guint n_now, n_ever;
  QuoitVerdict expected, verdict;
  g_autoptr (GError) error = NULL, unclear = NULL;
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, &unclear), refusal = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  uint32_t n_tested;

  if (draw (world, 6) == 0)
    {
      check_slots (world, snapshot, shape, cubes);
      check_fragmentation (world, snapshot, draw (world, 2) == 0 ? QUOIT_CUBES_ANY : QUOIT_CUBES_ADJACENT);
    }
  list_free (world, snapshot, NULL, FALSE, free);
  list_free (world, snapshot, NULL, TRUE, all);
  n_now = count_fitting (world, free, shape, cubes);
  n_ever = count_fitting (world, all, shape, cubes);
  expected = n_now >= n ? QUOIT_VERDICT_FITS : n_ever >= n ? QUOIT_VERDICT_NOT_NOW : QUOIT_VERDICT_NEVER;
  require (report != NULL, "seed %u: %s", world->seed, error_text (unclear));
  require (quoit_report_get_verdict (report) == expected, "seed %u, %s: verdict %d, expected %d (%u now, %u ever)",
           world->seed, name, (int) quoit_report_get_verdict (report), (int) expected, n_now, n_ever);
  require (quoit_report_get_n_free_now (report) == n_now && quoit_report_get_n_possible (report) == n_ever,
           "seed %u, %s: %u of %u, expected %u of %u", world->seed, name, quoit_report_get_n_free_now (report),
           quoit_report_get_n_possible (report), n_now, n_ever);
  require (quoit_snapshot_test (snapshot, request, &verdict, &n_tested, NULL) && verdict == expected
               && n_tested == n_now,
           "seed %u, %s", world->seed, name);
  group = quoit_ledger_reserve (world->ledger, request, world->now_ms, &refusal, &error);
  require ((group != NULL) == (expected == QUOIT_VERDICT_FITS), "seed %u, %s: %s", world->seed, name,
           error_text (error));
  if (group != NULL)
    {
      require (quoit_group_get_n_slices (group) == n, "seed %u", world->seed);
      check_group (world, group, free, shape, cubes);
      world->n_granted++;
      return;
    }
  require (error->code == (int) expected, "seed %u: %s", world->seed, error->message);
  world->n_options += try_options (snapshot, request, report, world->now_ms, world->seed);
  world->n_refused++;
}

/* Reserves a whole cube, a partition of one, or a few chips. */
static void
reserve_other (World *world)
{
  g_autofree char *name = g_strdup_printf ("o%u", world->n_named++);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  const guint kind = draw (world, 3);

  if (kind == 0)
    quoit_request_add_bundles (request, "TPU=1", 1 + draw (world, 3), NULL);
  else
    require (quoit_request_set_accelerator (request, world->accelerator, NULL)
                 && quoit_request_set_topology (request, kind == 1 ? "4x4x4" : "2x2x4", NULL)
                 && quoit_request_set_slices (request, 1, NULL)
                 && quoit_request_set_cut (request, kind == 1 ? QUOIT_CUT_WHOLE : QUOIT_CUT_PARTITION, NULL),
             "seed %u", world->seed);
  quoit_group_unref (quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL));
}

static QuoitGroup *
draw_group (World *world, const QuoitSnapshot *snapshot)
{
  const guint n = quoit_snapshot_get_n_groups (snapshot);

  return n == 0 ? NULL : quoit_snapshot_dup_group (snapshot, draw (world, n));
}

/* Changes a node of a group more often than another one. */
static void
set_node_state (World *world)
{
  static const QuoitNodeState states[] = { QUOIT_NODE_ALIVE, QUOIT_NODE_ALIVE, QUOIT_NODE_DRAINING, QUOIT_NODE_DEAD };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitGroup) group = draw (world, 2) == 0 ? draw_group (world, snapshot) : NULL;
  g_autofree char *node = NULL;

  if (group != NULL && quoit_group_get_n_slices (group) > 0)
    node = g_strdup (quoit_group_get_worker_name (group, 0, draw (world, quoit_group_get_n_workers (group, 0))));
  else
    node = g_strdup_printf ("p-%u-%u", draw (world, world->n_cubes), draw (world, 2));
  require (quoit_ledger_set_node_state (world->ledger, node, states[draw (world, 4)], world->now_ms, NULL), "seed %u",
           world->seed);
}

static void
release (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitGroup) group = draw_group (world, snapshot);

  if (group != NULL)
    quoit_ledger_release (world->ledger, quoit_group_get_handle (group), world->now_ms, NULL);
}

/* Reads what reserve() wrote into the name. Returns FALSE for other groups. */
static gboolean
parse_name (const QuoitGroup *group, QuoitCubes *cubes, char shape[16])
{
  guint number, word;

  if (sscanf (quoit_group_get_name (group), "g%u-%u-%15[^-]", &number, &word, shape) != 3)
    return FALSE;
  *cubes = (QuoitCubes) word;
  return TRUE;
}

static gboolean
has_cube (const QuoitGroup *group, guint cube)
{
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
      if (cube_of_worker (group, s, w) == cube)
        return TRUE;
  return FALSE;
}

/* If one slice is lost and its block has enough free cubes, all of its healthy cubes stay. */
static void
check_kept_cubes (World *world, const QuoitGroup *before, const QuoitGroup *after, const gboolean *free,
                  const gboolean *free_for_others)
{
  gboolean seen[MOST_CUBES] = { FALSE };
  guint n_broken = 0, n_spare = 0, block = 0;
  uint32_t lost = 0;

  while (quoit_group_get_slice_state (before, lost) == QUOIT_GROUP_SLICE_WHOLE)
    lost++;
  for (uint32_t w = 0; w < quoit_group_get_n_workers (before, lost); w++)
    {
      const guint cube = cube_of_worker (before, lost, w);

      block = world->block_of[cube];
      n_broken += !seen[cube] && !free[cube];
      seen[cube] = TRUE;
    }
  for (guint c = 0; c < world->n_cubes; c++)
    n_spare += world->block_of[c] == block && free_for_others[c];
  for (guint c = 0; n_spare >= n_broken && c < world->n_cubes; c++)
    if (seen[c] && free[c])
      {
        require (has_cube (after, c), "seed %u: cube %u was given up", world->seed, c);
        world->n_kept_cubes++;
      }
}

static void
repair (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitGroup) group = draw_group (world, snapshot), after = NULL;
  gboolean free[MOST_CUBES], free_for_others[MOST_CUBES];
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change;
  guint n_lost = 0;
  char shape[16];
  QuoitCubes cubes;

  if (group == NULL || !parse_name (group, &cubes, shape))
    return;
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    n_lost += quoit_group_get_slice_state (group, s) != QUOIT_GROUP_SLICE_WHOLE;
  list_free (world, snapshot, group, FALSE, free);
  list_free (world, snapshot, NULL, FALSE, free_for_others);
  change = quoit_ledger_repair (world->ledger, quoit_group_get_handle (group), world->now_ms, NULL, &error);
  require (explains_repair (snapshot, quoit_group_get_handle (group), change, error), "seed %u: %s", world->seed,
           error_text (error));
  if (change != NULL)
    after = quoit_group_ref (quoit_group_change_get_after (change));
  quoit_group_change_free (change);
  require ((after != NULL) == (count_fitting (world, free, shape, cubes) >= n_lost), "seed %u: %u lost, %s",
           world->seed, n_lost, error_text (error));
  if (after == NULL || n_lost == 0)
    return;
  if (n_lost == 1 && cubes != QUOIT_CUBES_ADJACENT)
    check_kept_cubes (world, group, after, free, free_for_others);
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    for (uint32_t w = 0;
         quoit_group_get_slice_state (group, s) == QUOIT_GROUP_SLICE_WHOLE && w < quoit_group_get_n_workers (group, s);
         w++)
      free[cube_of_worker (group, s, w)] = TRUE;
  check_group (world, after, free, shape, cubes);
  world->n_repaired++;
}

static void
resize (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitGroup) group = draw_group (world, snapshot);
  const guint n = 1 + draw (world, 4);
  gboolean free[MOST_CUBES];
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change;
  char shape[16];
  QuoitCubes cubes;
  guint n_more;

  if (group == NULL || !parse_name (group, &cubes, shape))
    return;
  n_more = n > quoit_group_get_n_slices (group) ? n - quoit_group_get_n_slices (group) : 0;
  list_free (world, snapshot, NULL, FALSE, free);
  change = quoit_ledger_resize (world->ledger, quoit_group_get_handle (group), n, world->now_ms, NULL, &error);
  require ((change != NULL) == (count_fitting (world, free, shape, cubes) >= n_more), "seed %u: %s", world->seed,
           error_text (error));
  if (change != NULL)
    require (quoit_group_get_n_slices (quoit_group_change_get_after (change)) == n, "seed %u", world->seed);
  world->n_resized += change != NULL;
  quoit_group_change_free (change);
}

/* Writes the fleet with its groups as text and reads it again: the text is then the same, and joined slices have the
 * same cubes in the same order. */
static void
check_text (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger), again = NULL;
  g_autoptr (QuoitLedger) copy = quoit_ledger_open_memory ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = quoit_snapshot_dup_fleet_text (snapshot, NULL), *same = NULL;

  require (text != NULL && import_text (copy, text, NULL, world->now_ms, &error), "seed %u: %s: %s", world->seed,
           error_text (error), text);
  again = quoit_ledger_snapshot (copy);
  same = quoit_snapshot_dup_fleet_text (again, NULL);
  require (g_strcmp0 (text, same) == 0, "seed %u: %s is read as %s", world->seed, text, same);
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (again); g++)
    {
      g_autoptr (QuoitGroup) read = quoit_snapshot_dup_group (again, g);
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, quoit_group_get_name (read), &error);

      require (group != NULL && quoit_group_get_n_slices (group) == quoit_group_get_n_slices (read), "seed %u: %s",
               world->seed, quoit_group_get_name (read));
      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
          require (g_strcmp0 (quoit_group_get_worker_name (group, s, w), quoit_group_get_worker_name (read, s, w)) == 0,
                   "seed %u: worker %u of '%s'", world->seed, w, quoit_group_get_name (read));
      world->n_read += g_str_has_prefix (quoit_group_get_name (read), "g");
    }
}

static void
draw_fleet (World *world)
{
  static const Block drawn[] = { { 4, { 2, 2, 1 } }, { 8, { 2, 2, 2 } }, { 6, { 3, 1, 2 } }, { 3, { 0 } },
                                 { 5, { 0 } },       { 1, { 1, 1, 1 } }, { 7, { 2, 2, 2 } }, { 4, { 1, 1, 4 } } };
  GString *text = g_string_new (NULL);

  world->accelerator = draw (world, 3) > 0 ? "v4" : "tpu7x";
  world->n_blocks = 1 + draw (world, MOST_BLOCKS);
  for (guint b = 0; b < world->n_blocks; b++)
    {
      const Block *block = &world->blocks[b];

      world->blocks[b] = drawn[draw (world, G_N_ELEMENTS (drawn))];
      g_string_append_printf (text, "%s%s 4x4x4 x%u pool=p block=b%u", b == 0 ? "" : "; ", world->accelerator, block->n,
                              b);
      if (block->grid[0] > 0)
        g_string_append_printf (text, " grid=%ux%ux%u", block->grid[0], block->grid[1], block->grid[2]);
      for (guint i = 0; i < block->n && world->n_cubes < MOST_CUBES; i++)
        {
          world->block_of[world->n_cubes] = b;
          world->position[world->n_cubes++] = i;
        }
    }
  if (world->n_cubes < MOST_CUBES && draw (world, 2) == 0)
    {
      g_string_append_printf (text, "; %s 4x4x4 x1 pool=p", world->accelerator);
      world->block_of[world->n_cubes++] = MOST_BLOCKS;
    }
  world->text = g_string_free (text, FALSE);
}

static void
run_world (World *world)
{
  g_autofree char *directory = fast_dir ();
  g_autofree char *path = g_build_filename (directory, "ledger.db", NULL);
  g_autoptr (GError) error = NULL;
  const gboolean is_file = draw (world, 6) == 0;

  draw_fleet (world);
  world->ledger = is_file ? quoit_ledger_create (path, 0, &error) : quoit_ledger_open_memory ();
  require (world->ledger != NULL, "%s", error_text (error));
  require (import_text (world->ledger, world->text, NULL, world->now_ms, &error), "%s: %s", world->text,
           error_text (error));
  for (guint step = 0; step < N_STEPS; step++)
    {
      static void (*const steps[]) (World *) = { reserve,        reserve,        reserve, reserve_other, release,
                                                 set_node_state, set_node_state, repair,  repair,        resize };

      world->now_ms += 1000;
      steps[draw (world, G_N_ELEMENTS (steps))](world);
      require_consistent (world->ledger, world->text);
      if (step % 20 == 19)
        check_text (world);
      if (is_file && step % 10 == 9)
        {
          quoit_ledger_unref (world->ledger);
          world->ledger = quoit_ledger_open (path, 0, &error);
          require (world->ledger != NULL, "seed %u: %s", world->seed, error_text (error));
          require_verified (world->ledger, world->text);
        }
    }
  quoit_ledger_unref (world->ledger);
  g_free (world->text);
  remove_dir (directory);
}

int
main (void)
{
  guint32 first = random_seed ("cubes", 1);
  guint n_worlds = scaled (N_WORLDS);
  World total = { 0 };

  for (guint i = 0; i < n_worlds; i++)
    {
      World world = { .rand = g_rand_new_with_seed (first + i), .seed = first + i, .now_ms = T0 };

      run_world (&world);
      g_rand_free (world.rand);
      total.n_granted += world.n_granted;
      total.n_refused += world.n_refused;
      total.n_options += world.n_options;
      total.n_repaired += world.n_repaired;
      total.n_kept_cubes += world.n_kept_cubes;
      total.n_resized += world.n_resized;
      total.n_turned += world.n_turned;
      total.n_counted += world.n_counted;
      total.n_read += world.n_read;
    }
  printf ("%u granted, %u turned, %u refused, %u options, %u repaired with %u cubes kept, %u resized, %u counted, %u "
          "read\n",
          total.n_granted, total.n_turned, total.n_refused, total.n_options, total.n_repaired, total.n_kept_cubes,
          total.n_resized, total.n_counted, total.n_read);
  require (total.n_counted > n_worlds / 2 && total.n_read > n_worlds / 2, "few counts");
  require (total.n_granted > n_worlds && total.n_refused > n_worlds && total.n_options > n_worlds, "few comparisons");
  require (total.n_repaired > n_worlds / 4 && total.n_resized > n_worlds / 2, "few changes");
  require (total.n_turned > n_worlds / 8 && total.n_kept_cubes > n_worlds / 8, "few turned or kept");
  printf ("%u passed, 0 failed\n", n_worlds);
  return EXIT_SUCCESS;
}
