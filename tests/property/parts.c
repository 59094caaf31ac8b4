/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that may be cut, compared with a search of all packings on slices of at most 16 hosts: a reservation
 * succeeds exactly when its parts fit, each part is a legal place of free hosts, explain and test agree with it, each
 * option of a refusal helps, and groups are repaired and resized exactly when the search says so. */
#include "../support.h"
#include "../sanitized.h"
#include "../shortcuts.h"
#include "try-options.h"

enum { N_WORLDS = IS_SANITIZED ? 50 : 500, N_STEPS = 40, MOST_HOSTS = 16, MOST_SLICES = 3, MOST_PLACES = 512 };

/* A class of slices, and the shapes that are requested from it. */
typedef struct {
  const char *fleet; /* with %u for the number of slices */
  const char *accelerator, *shapes[4];
  guint n[3], block[3]; /* hosts, and chips of a host, along each axis */
  guint wrap;           /* bits */
  gboolean is_square;
} Class;

static const Class classes[] = {
  { "v6e 8x8 x%u pool=p hostchips=4", "v6e", { "2x2", "2x4", "4x4", "4x8" }, { 4, 4, 1 }, { 2, 2, 1 }, 0, TRUE },
  { "v6e 4x8 x%u pool=p hostchips=4", "v6e", { "2x2", "2x4", "4x4", "4x8" }, { 2, 4, 1 }, { 2, 2, 1 }, 0, FALSE },
  { "v4 4x4x4 x%u pool=p", "v4", { "2x2x1", "2x2x2", "2x2x4", "2x4x4" }, { 2, 2, 4 }, { 2, 2, 1 }, 7, FALSE },
  { "v5p 2x4x4 x%u pool=p", "v5p", { "2x2x1", "2x2x2", "2x2x4", "2x2x1" }, { 1, 2, 4 }, { 2, 2, 1 }, 0, FALSE },
};

typedef struct {
  GRand *rand;
  guint32 seed;
  const Class *class;
  guint n_slices;
  QuoitLedger *ledger;
  gint64 now_ms;
  guint n_named, n_granted, n_refused, n_options, n_repaired, n_resized;
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- all places --- */

typedef struct {
  guint n;
  guint16 masks[MOST_PLACES];
} Places;

/* Adds the box of @hosts at @at, if it is legal. */
static void
add_place (const Class *class, const guint *hosts, const guint *at, gboolean wraps, Places *places)
{
  guint16 mask = 0;

  for (guint axis = 0; axis < 3; axis++)
    {
      const gboolean can_wrap = wraps && (class->wrap >> axis & 1) != 0;

      if (hosts[axis] > class->n[axis] || (!can_wrap && at[axis] + hosts[axis] > class->n[axis]))
        return;
    }
  for (guint z = 0; z < hosts[2]; z++)
    for (guint y = 0; y < hosts[1]; y++)
      for (guint x = 0; x < hosts[0]; x++)
        mask |= (guint16) (1u << (((at[2] + z) % class->n[2] * class->n[1] + (at[1] + y) % class->n[1]) * class->n[0]
                                  + (at[0] + x) % class->n[0]));
  for (guint i = 0; i < places->n; i++)
    if (places->masks[i] == mask)
      return;
  places->masks[places->n++] = mask;
}

static void
list_places (const Class *class, const char *shape, QuoitCut cut, Places *places)
{
  static const guint turns[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  const gboolean is_aligned = cut == QUOIT_CUT_ALIGNED || cut == QUOIT_CUT_PARTITION;
  const guint first = cut == QUOIT_CUT_ALIGNED && class->is_square ? 1 : 0;
  guint sides[3] = { 0, 0, 1 };

  places->n = 0;
  require (sscanf (shape, "%ux%ux%u", &sides[0], &sides[1], &sides[2]) >= 2, "%s", shape);
  for (guint t = first; t < (is_aligned ? first + 1 : G_N_ELEMENTS (turns)); t++)
    {
      guint hosts[3], at[3];
      gboolean is_whole = TRUE;

      for (guint axis = 0; axis < 3; axis++)
        {
          is_whole = is_whole && sides[turns[t][axis]] % class->block[axis] == 0;
          hosts[axis] = sides[turns[t][axis]] / class->block[axis];
        }
      for (at[2] = 0; is_whole && at[2] < class->n[2]; at[2]++)
        for (at[1] = 0; at[1] < class->n[1]; at[1]++)
          for (at[0] = 0; at[0] < class->n[0]; at[0]++)
            if (!is_aligned || (at[0] % hosts[0] == 0 && at[1] % hosts[1] == 0 && at[2] % hosts[2] == 0))
              add_place (class, hosts, at, cut == QUOIT_CUT_ANY_OR_WRAPPED, places);
    }
}

/* Returns the most places without a common host among the free ones. */
static guint
count_packed (const Places *places, guint16 free, gint8 *known)
{
  guint16 lowest = free & (guint16) -free;
  guint best;

  if (free == 0)
    return 0;
  if (known[free] >= 0)
    return (guint) known[free];
  best = count_packed (places, free & (guint16) ~lowest, known);
  for (guint i = 0; i < places->n; i++)
    if ((places->masks[i] & lowest) != 0 && (places->masks[i] & ~free) == 0)
      best = MAX (best, 1 + count_packed (places, free & (guint16) ~places->masks[i], known));
  known[free] = (gint8) best;
  return best;
}

/* --- the fleet --- */

/* Sets the free hosts of each slice. @ever: all hosts. */
static void
list_free (const World *world, const QuoitSnapshot *snapshot, gboolean ever, guint16 *free)
{
  memset (free, 0, MOST_SLICES * sizeof *free);
  for (uint32_t n = 0; n < quoit_snapshot_get_n_nodes (snapshot); n++)
    {
      guint slice, worker;

      require (sscanf (quoit_snapshot_get_node_name (snapshot, n), "p-%u-%u", &slice, &worker) == 2, "a node's name");
      require (slice < world->n_slices && worker < MOST_HOSTS, "%u-%u", slice, worker);
      if (ever
          || (quoit_snapshot_get_node_state (snapshot, n) == QUOIT_NODE_ALIVE
              && quoit_snapshot_get_node_n_users (snapshot, n) == 0))
        free[slice] |= (guint16) (1u << worker);
    }
}

static guint
count_fitting (const World *world, const QuoitSnapshot *snapshot, gboolean ever, const char *shape, QuoitCut cut)
{
  g_autofree gint8 *known = g_malloc (1 << MOST_HOSTS);
  guint16 free[MOST_SLICES];
  Places places;
  guint n = 0;

  list_places (world->class, shape, cut, &places);
  memset (known, -1, 1 << MOST_HOSTS);
  list_free (world, snapshot, ever, free);
  for (guint s = 0; s < world->n_slices; s++)
    n += count_packed (&places, free[s], known);
  return n;
}

/* --- granted groups --- */

/* Checks that the parts are legal places of hosts that were free, and that their boxes are where their workers are. */
static void
check_group (const World *world, const QuoitGroup *group, guint16 *free, const char *shape, QuoitCut cut)
{
  const Class *class = world->class;
  Places places;

  list_places (class, shape, cut, &places);
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    {
      uint32_t origin[3], sides[3], n_workers = quoit_group_get_n_workers (group, s);
      guint16 mask = 0;
      guint slice = 0, i = 0;

      require (quoit_group_find_part (group, s, origin, sides), "seed %u: no part", world->seed);
      for (uint32_t w = 0; w < n_workers; w++)
        {
          const guint hosts[2] = { sides[0] / class->block[0], sides[1] / class->block[1] };
          const guint at[3] = { w % hosts[0], w / hosts[0] % hosts[1], w / hosts[0] / hosts[1] };
          guint own, worker, expected = 0;

          require (sscanf (quoit_group_get_worker_name (group, s, w), "p-%u-%u", &own, &worker) == 2, "a name");
          for (guint axis = 3; axis-- > 0;)
            expected = expected * class->n[axis] + (origin[axis] / class->block[axis] + at[axis]) % class->n[axis];
          require (w == 0 || own == slice, "seed %u: parts of two slices", world->seed);
          require (worker == expected, "seed %u: worker %u is host %u, expected %u", world->seed, w, worker, expected);
          slice = own;
          mask |= (guint16) (1u << worker);
        }
      while (i < places.n && places.masks[i] != mask)
        i++;
      require (i < places.n, "seed %u: %x is no place of %s", world->seed, mask, shape);
      require ((mask & ~free[slice]) == 0, "seed %u: %x, free %x", world->seed, mask, free[slice]);
      free[slice] &= (guint16) ~mask;
    }
}

/* --- steps --- */

static const QuoitCut cuts[]
    = { QUOIT_CUT_ANY, QUOIT_CUT_ANY, QUOIT_CUT_ALIGNED, QUOIT_CUT_ANY_OR_WRAPPED, QUOIT_CUT_PARTITION };

static QuoitRequest *
make_request (World *world, const char *name, const char *shape, QuoitCut cut, guint n)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  require (quoit_request_set_accelerator (request, world->class->accelerator, NULL)
               && quoit_request_set_topology (request, shape, NULL) && quoit_request_set_slices (request, n, NULL)
               && quoit_request_set_cut (request, cut, NULL),
           "seed %u", world->seed);
  /* Neither the policy nor the length changes whether the request fits. */
  require (quoit_request_set_place (request, (QuoitPlacePolicy) draw (world, 4), NULL), "seed %u", world->seed);
  if (draw (world, 2) == 0)
    require (quoit_request_set_expected_runtime_ms (request, 1000 + draw (world, 20000), NULL), "seed %u", world->seed);
  return request;
}

static void
reserve (World *world)
{
  const gboolean has_cubes = world->class->accelerator[1] != '6';
  const QuoitCut cut = cuts[draw (world, has_cubes ? 5 : 4)];
  const char *shape = world->class->shapes[draw (world, 4)];
  const guint n = 1 + draw (world, 5);
  g_autofree char *name = g_strdup_printf ("g%u-%u-%s-%u", world->n_named++, (guint) cut, shape, n);
  g_autoptr (QuoitRequest) request = make_request (world, name, shape, cut, n);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  const guint n_now = count_fitting (world, snapshot, FALSE, shape, cut);
  const guint n_ever = count_fitting (world, snapshot, TRUE, shape, cut);
  const QuoitVerdict expected = n_now >= n    ? QUOIT_VERDICT_FITS
                                : n_ever >= n ? QUOIT_VERDICT_NOT_NOW
                                              : QUOIT_VERDICT_NEVER;
  g_autoptr (GError) error = NULL, unclear = NULL;
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, &unclear), refusal = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  QuoitVerdict verdict;
  uint32_t n_tested;
  guint16 free[MOST_SLICES];

  list_free (world, snapshot, FALSE, free);
  require (report != NULL, "seed %u: %s", world->seed, error_text (unclear));
  require (quoit_report_get_verdict (report) == expected, "seed %u, %s: verdict %d, expected %d (%u now, %u ever)",
           world->seed, name, (int) quoit_report_get_verdict (report), (int) expected, n_now, n_ever);
  require (quoit_report_get_n_free_now (report) == n_now, "seed %u, %s: %u, expected %u", world->seed, name,
           quoit_report_get_n_free_now (report), n_now);
  require (quoit_snapshot_test (snapshot, request, &verdict, &n_tested, NULL) && verdict == expected
               && n_tested == n_now,
           "seed %u, %s", world->seed, name);
  group = quoit_ledger_reserve (world->ledger, request, world->now_ms, &refusal, &error);
  require ((group != NULL) == (expected == QUOIT_VERDICT_FITS), "seed %u, %s: %s", world->seed, name,
           error_text (error));
  if (group != NULL)
    {
      require (quoit_group_get_n_slices (group) == n, "seed %u", world->seed);
      check_group (world, group, free, shape, cut);
      world->n_granted++;
      return;
    }
  require (error->code == (int) expected, "seed %u: %s", world->seed, error->message);
  world->n_options += try_options (snapshot, request, report, world->now_ms, world->seed);
  world->n_refused++;
}

/* Reserves one host, or a few chips of one. */
static void
reserve_bundle (World *world)
{
  g_autofree char *name = g_strdup_printf ("b%u", world->n_named++);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

  quoit_request_add_bundles (request, draw (world, 2) == 0 ? "TPU=4" : "TPU=1", 1 + draw (world, 3), NULL);
  quoit_group_unref (quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL));
}

static QuoitGroup *
draw_group (World *world, const QuoitSnapshot *snapshot)
{
  const guint n = quoit_snapshot_get_n_groups (snapshot);

  return n == 0 ? NULL : quoit_snapshot_dup_group (snapshot, draw (world, n));
}

static void
set_node_state (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  const char *node = quoit_snapshot_get_node_name (snapshot, draw (world, quoit_snapshot_get_n_nodes (snapshot)));
  static const QuoitNodeState states[] = { QUOIT_NODE_ALIVE, QUOIT_NODE_ALIVE, QUOIT_NODE_DRAINING, QUOIT_NODE_DEAD };

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
parse_name (const QuoitGroup *group, QuoitCut *cut, char shape[16])
{
  guint number, word;

  if (sscanf (quoit_group_get_name (group), "g%u-%u-%15[^-]", &number, &word, shape) != 3)
    return FALSE;
  *cut = (QuoitCut) word;
  return TRUE;
}

/* Returns the snapshot of a fork in which the group has only the parts that are set in @kept. */
static QuoitSnapshot *
keep_only (const World *world, const QuoitSnapshot *snapshot, const QuoitGroup *group, guint n_kept)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

  if (n_kept == 0)
    require (quoit_fork_release (fork, quoit_group_get_handle (group), world->now_ms, NULL), "seed %u", world->seed);
  return quoit_fork_snapshot (fork);
}

static void
repair (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger), without = NULL;
  g_autoptr (QuoitGroup) group = draw_group (world, snapshot), after = NULL;
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change;
  guint n_kept = 0, n_lost;
  guint16 free[MOST_SLICES];
  char shape[16];
  QuoitCut cut;

  if (group == NULL || !parse_name (group, &cut, shape))
    return;
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    n_kept += quoit_group_get_slice_state (group, s) == QUOIT_GROUP_SLICE_WHOLE;
  n_lost = quoit_group_get_n_slices (group) - n_kept;
  change = quoit_ledger_repair (world->ledger, quoit_group_get_handle (group), world->now_ms, NULL, &error);
  require (explains_repair (snapshot, quoit_group_get_handle (group), change, error), "seed %u: %s", world->seed,
           error_text (error));
  if (change != NULL)
    after = quoit_group_ref (quoit_group_change_get_after (change));
  quoit_group_change_free (change);
  if (n_kept == 0)
    {
      without = keep_only (world, snapshot, group, 0);
      require ((after != NULL) == (count_fitting (world, without, FALSE, shape, cut) >= n_lost), "seed %u: %s",
               world->seed, error_text (error));
    }
  require (after != NULL || n_lost > 0, "seed %u: %s", world->seed, error_text (error));
  require (after != NULL || count_fitting (world, snapshot, FALSE, shape, cut) < n_lost, "seed %u: %s", world->seed,
           error_text (error));
  if (after == NULL)
    return;
  /* All hosts of the group count as free for it; those of others do not. */
  without = without != NULL ? without : keep_only (world, snapshot, group, 0);
  list_free (world, without, FALSE, free);
  check_group (world, after, free, shape, cut);
  world->n_repaired += n_lost > 0;
}

static void
resize (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitGroup) group = draw_group (world, snapshot);
  const guint n = 1 + draw (world, 5);
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change;
  char shape[16];
  QuoitCut cut;
  guint n_more, fits;

  if (group == NULL || !parse_name (group, &cut, shape))
    return;
  n_more = n > quoit_group_get_n_slices (group) ? n - quoit_group_get_n_slices (group) : 0;
  fits = count_fitting (world, snapshot, FALSE, shape, cut);
  change = quoit_ledger_resize (world->ledger, quoit_group_get_handle (group), n, world->now_ms, NULL, &error);
  require ((change != NULL) == (fits >= n_more), "seed %u: %s", world->seed, error_text (error));
  if (change != NULL)
    require (quoit_group_get_n_slices (quoit_group_change_get_after (change)) == n, "seed %u", world->seed);
  world->n_resized += change != NULL;
  quoit_group_change_free (change);
}

static void
run_world (World *world)
{
  g_autofree char *directory = fast_dir ();
  g_autofree char *path = g_build_filename (directory, "ledger.db", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  const gboolean is_file = draw (world, 6) == 0;

  world->class = &classes[draw (world, G_N_ELEMENTS (classes))];
  world->n_slices = 1 + draw (world, MOST_SLICES);
  text = g_strdup_printf (world->class->fleet, world->n_slices);
  world->ledger = is_file ? quoit_ledger_create (path, 0, &error) : quoit_ledger_open_memory ();
  require (world->ledger != NULL, "%s", error_text (error));
  require (import_text (world->ledger, text, NULL, world->now_ms, &error), "%s: %s", text, error_text (error));
  for (guint step = 0; step < N_STEPS; step++)
    {
      static void (*const steps[]) (World *) = { reserve,        reserve,        reserve, reserve_bundle, release,
                                                 set_node_state, set_node_state, repair,  repair,         resize };

      world->now_ms += 1000;
      steps[draw (world, G_N_ELEMENTS (steps))](world);
      require_consistent (world->ledger, text);
      if (is_file && step % 10 == 9)
        {
          quoit_ledger_unref (world->ledger);
          world->ledger = quoit_ledger_open (path, 0, &error);
          require (world->ledger != NULL, "seed %u: %s", world->seed, error_text (error));
          require_verified (world->ledger, text);
        }
    }
  quoit_ledger_unref (world->ledger);
  remove_dir (directory);
}

int
main (void)
{
  guint32 first = random_seed ("parts", 1);
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
      total.n_resized += world.n_resized;
    }
  printf ("%u granted, %u refused, %u options, %u repaired, %u resized\n", total.n_granted, total.n_refused,
          total.n_options, total.n_repaired, total.n_resized);
  require (total.n_granted > n_worlds && total.n_refused > n_worlds && total.n_options > n_worlds, "few comparisons");
  require (total.n_repaired > n_worlds / 8 && total.n_resized > n_worlds / 2, "few changes");
  printf ("%u passed, 0 failed\n", n_worlds);
  return EXIT_SUCCESS;
}
