/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn fleets with rules, windows, bundles, forks and queue plans, in which no promise may be missed. */
#include "../follower.h"
#include "ahead-fixture.h"

/* What a reservation ahead was promised. */
typedef struct {
  char name[8];
  guint n;
  gint64 from_ms, until_ms;
} Promised;

/* A window, and the groups that existed before it. */
typedef struct {
  char name[8];
  const char *pool;
  gint64 from_ms, until_ms, added_ms;
} DrawnWindow;

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  gint64 now_ms;
  GArray *promises, *windows; /* of Promised, of DrawnWindow */
  guint n_named, n_begun, n_commits, n_conflicts;
} World;

static const char *const drawn_pools[] = { "a", "b" };

static QuoitRequest *
draw_request (World *world, const char *prefix, gint64 lease_ms)
{
  g_autofree char *name = g_strdup_printf ("%s%u", prefix, world->n_named++);
  QuoitRequest *request = request_new (name, g_rand_int_range (world->rand, 1, 4), lease_ms);
  guint rule = (guint) g_rand_int_range (world->rand, 0, 6);

  if (rule < 2)
    quoit_request_set_pool (request, drawn_pools[rule]);
  else if (rule == 2)
    ck_assert (quoit_request_keep_to (request, QUOIT_DOMAIN_POOL, NULL));
  else if (rule == 3)
    ck_assert (quoit_request_spread_over (request, QUOIT_DOMAIN_POOL, 1, 1, NULL));
  return request;
}

static gint64
draw_lease (World *world)
{
  return g_rand_int_range (world->rand, 0, 4) == 0 ? 0 : minute_ms * g_rand_int_range (world->rand, 1, 10);
}

static void
add_promise (World *world, const QuoitGroup *group, gint64 from_ms, gint64 until_ms)
{
  Promised promised = { .n = quoit_group_get_n_slices (group), .from_ms = from_ms, .until_ms = until_ms };

  g_strlcpy (promised.name, quoit_group_get_name (group), sizeof promised.name);
  g_array_append_val (world->promises, promised);
}

static void
world_reserve_at (World *world)
{
  gint64 from_ms = world->now_ms + minute_ms * g_rand_int_range (world->rand, 1, 12);
  gint64 until_ms = from_ms + minute_ms * g_rand_int_range (world->rand, 1, 6);
  g_autoptr (QuoitRequest) request = draw_request (world, "r", 0);
  g_autoptr (QuoitGroup) group
      = quoit_ledger_reserve_at (world->ledger, request, from_ms, until_ms, world->now_ms, NULL, NULL);

  if (group != NULL)
    add_promise (world, group, from_ms, until_ms);
}

static void
world_reserve (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, world->now_ms, NULL);
  g_autoptr (QuoitRequest) request = draw_request (world, "g", draw_lease (world));
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL);

  ck_assert ((group != NULL) == (quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS));
}

static void
world_reserve_bundles (World *world)
{
  g_autofree char *name = g_strdup_printf ("b%u", world->n_named++);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (QuoitGroup) group = NULL;
  gint64 lease_ms = draw_lease (world), from_ms = world->now_ms + minute_ms * 3;

  ck_assert (quoit_request_add_bundles (request, "TPU=1", g_rand_int_range (world->rand, 1, 6), NULL));
  if (g_rand_int_range (world->rand, 0, 3) == 0)
    {
      group = quoit_ledger_reserve_at (world->ledger, request, from_ms, from_ms + 2 * minute_ms, world->now_ms, NULL,
                                       NULL);
      return;
    }
  if (lease_ms != 0)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL);
}

static void
world_add_window (World *world)
{
  DrawnWindow window = { .pool = drawn_pools[g_rand_int_range (world->rand, 0, 2)],
                         .from_ms = world->now_ms + minute_ms * g_rand_int_range (world->rand, -2, 9),
                         .added_ms = world->now_ms };

  window.until_ms = MAX (window.from_ms, world->now_ms) + minute_ms * g_rand_int_range (world->rand, 1, 4);
  g_snprintf (window.name, sizeof window.name, "w%u", world->n_named++);
  if (quoit_ledger_add_window (world->ledger, window.name, QUOIT_WINDOW_POOL, window.pool, window.from_ms,
                               window.until_ms, world->now_ms, NULL))
    g_array_append_val (world->windows, window);
}

/* Changes an existing group, or a random one of those. */
static void
world_change (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, world->now_ms, NULL);
  uint32_t n = quoit_snapshot_get_n_groups (snapshot);
  g_autoptr (QuoitGroup) group = NULL, renewed = NULL;
  g_autoptr (QuoitGroupChange) change = NULL;
  const char *handle;

  if (n == 0)
    return;
  group = quoit_snapshot_dup_group (snapshot, (uint32_t) g_rand_int_range (world->rand, 0, (gint32) n));
  handle = quoit_group_get_handle (group);
  switch (g_rand_int_range (world->rand, 0, 4))
    {
    case 0:
      renewed = quoit_ledger_renew (world->ledger, handle, minute_ms * g_rand_int_range (world->rand, 1, 10),
                                    world->now_ms, NULL);
      for (guint i = 0; renewed != NULL && i < world->promises->len; i++)
        if (strcmp (g_array_index (world->promises, Promised, i).name, quoit_group_get_name (group)) == 0)
          g_array_index (world->promises, Promised, i).until_ms = quoit_group_get_until_ms (renewed);
      return;
    case 1:
      change = g_rand_int_range (world->rand, 0, 2) == 0
                   ? quoit_ledger_resize_between (world->ledger, handle, 1, 8, world->now_ms, NULL, NULL)
                   : quoit_ledger_resize (world->ledger, handle, g_rand_int_range (world->rand, 1, 4), world->now_ms,
                                          NULL, NULL);
      return;
    default:
      if (!quoit_ledger_release (world->ledger, handle, world->now_ms, NULL))
        return;
      for (guint i = world->promises->len; i-- > 0;)
        if (strcmp (g_array_index (world->promises, Promised, i).name, quoit_group_get_name (group)) == 0)
          g_array_remove_index (world->promises, i);
    }
}

/* Reserves on a fork while others change the ledger, and commits. */
static void
world_commit (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (last);
  g_autoptr (QuoitRequest) request = draw_request (world, "f", draw_lease (world));
  g_autoptr (QuoitRequest) ahead = draw_request (world, "F", 0);
  gint64 from_ms = world->now_ms + 2 * minute_ms, until_ms = from_ms + 3 * minute_ms;
  g_autoptr (QuoitGroup) promised = NULL;

  quoit_group_unref (quoit_fork_reserve (fork, request, world->now_ms, NULL, NULL));
  promised = quoit_fork_reserve_at (fork, ahead, from_ms, until_ms, world->now_ms, NULL, NULL);
  switch (g_rand_int_range (world->rand, 0, 3))
    {
    case 0:
      world_reserve_at (world);
      break;
    case 1:
      world_add_window (world);
      break;
    default:
      world_reserve (world);
    }
  if (!quoit_ledger_commit_fork (world->ledger, fork, world->now_ms, NULL))
    {
      world->n_conflicts++;
      return;
    }
  world->n_commits++;
  if (promised != NULL)
    add_promise (world, promised, from_ms, until_ms);
}

static void
world_plan (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (last);
  QuoitRequest *queue[4];
  g_autoptr (QuoitQueuePlan) plan = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (queue); i++)
    queue[i] = draw_request (world, "q", draw_lease (world));
  plan = quoit_fork_plan_queue (fork, (const QuoitRequest *const *) queue, G_N_ELEMENTS (queue),
                                QUOIT_BACKFILL_CONSERVATIVE, world->now_ms, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (queue); i++)
    {
      ck_assert (quoit_queue_plan_check (plan, i, NULL));
      ck_assert (quoit_queue_plan_get_state (plan, i) == QUOIT_QUEUED_WAITS
                 || quoit_queue_plan_get_start_ms (plan, i) == world->now_ms);
      quoit_request_free (queue[i]);
    }
  ck_assert (quoit_ledger_commit_fork (world->ledger, fork, world->now_ms, NULL));
}

/* Checks that no group that was made after an active window has a node of its pool. */
static void
check_windows (const World *world, const QuoitSnapshot *snapshot)
{
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
      QuoitGroupState state = quoit_group_get_state (group);

      for (guint i = 0; i < world->windows->len && state == QUOIT_GROUP_RESERVED; i++)
        {
          const DrawnWindow *window = &g_array_index (world->windows, DrawnWindow, i);

          if (window->from_ms > world->now_ms || window->until_ms <= world->now_ms
              || quoit_group_get_created_ms (group) <= window->added_ms)
            continue;
          for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
            {
              g_autofree char *slice = quoit_group_dup_slice_name (group, s);

              ck_assert_msg (strncmp (slice, window->pool, 1) != 0, "%s has %s in window %s",
                             quoit_group_get_name (group), slice, window->name);
            }
        }
    }
}

/* Checks that groups are kept to one pool, or spread over the two of them. No node is lost here. */
static void
check_places (const QuoitSnapshot *snapshot)
{
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
      guint n_in_a = 0, n = quoit_group_get_n_slices (group);

      for (uint32_t s = 0; s < n; s++)
        {
          g_autofree char *slice = quoit_group_dup_slice_name (group, s);

          n_in_a += slice[0] == 'a';
        }
      if (strstr (quoit_group_get_request (group), "keep-to") != NULL)
        ck_assert (n_in_a == 0 || n_in_a == n);
      if (strstr (quoit_group_get_request (group), "spread") != NULL)
        ck_assert (n_in_a == n / 2 || n_in_a == n - n / 2);
    }
}

static void
check_promises (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, world->now_ms, NULL);
  GError *error = NULL;

  quoit_snapshot_check (last, &error);
  ck_assert_ok (error);
  quoit_snapshot_check (snapshot, &error);
  ck_assert_ok (error);
  check_windows (world, snapshot);
  check_places (snapshot);
  for (guint i = world->promises->len; i-- > 0;)
    {
      const Promised *promised = &g_array_index (world->promises, Promised, i);
      g_autoptr (QuoitGroup) group = NULL;

      if (promised->until_ms <= world->now_ms)
        {
          g_array_remove_index (world->promises, i);
          continue;
        }
      group = quoit_snapshot_lookup_group (snapshot, promised->name, &error);
      ck_assert_ok (error);
      ck_assert_msg (quoit_group_get_state (group)
                         == (promised->from_ms > world->now_ms ? QUOIT_GROUP_AHEAD : QUOIT_GROUP_RESERVED),
                     "%s: state %d", promised->name, (int) quoit_group_get_state (group));
      ck_assert (quoit_group_get_n_slices (group) == promised->n || promised->from_ms <= world->now_ms);
      world->n_begun += promised->from_ms == world->now_ms;
    }
}

static void
world_step (World *world)
{
  world->now_ms += minute_ms * g_rand_int_range (world->rand, 0, 2);
  switch (g_rand_int_range (world->rand, 0, 9))
    {
    case 0:
    case 1:
      world_reserve_at (world);
      break;
    case 2:
    case 3:
      world_reserve (world);
      break;
    case 4:
      world_reserve_bundles (world);
      break;
    case 5:
      world_add_window (world);
      break;
    case 6:
      world_commit (world);
      break;
    case 7:
      world_plan (world);
      break;
    default:
      world_change (world);
    }
  check_promises (world);
}

static void
run_world (QuoitLedger *ledger, guint32 seed, World *sum)
{
  World world = { .ledger = ledger, .rand = g_rand_new_with_seed (seed), .now_ms = first_ms };

  import_fleet (ledger, "v6e 4x4 x4 pool=a; v6e 4x4 x3 pool=b");
  world.promises = g_array_new (FALSE, FALSE, sizeof (Promised));
  world.windows = g_array_new (FALSE, FALSE, sizeof (DrawnWindow));
  for (guint i = 0; i < 120; i++)
    world_step (&world);
  sum->n_begun += world.n_begun;
  sum->n_commits += world.n_commits;
  sum->n_conflicts += world.n_conflicts;
  g_array_unref (world.promises);
  g_array_unref (world.windows);
  g_rand_free (world.rand);
}

START_TEST (no_promise_is_missed)
{
  World sum = { 0 };

  for (guint32 seed = 1; seed <= 60; seed++)
    {
      g_autoptr (QuoitLedger) ledger = follower_new_ledger (seed);

      run_world (ledger, seed, &sum);
      follower_replay (ledger);
    }
  ck_assert_uint_gt (sum.n_begun, 200);
  ck_assert_uint_gt (sum.n_commits, 200);
  ck_assert_uint_gt (sum.n_conflicts, 10);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ahead-drawn");
  TCase *tcase = tcase_create ("ahead-drawn");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, no_promise_is_missed);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
