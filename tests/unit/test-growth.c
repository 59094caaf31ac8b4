/* SPDX-License-Identifier: Apache-2.0 */
/* Elastic groups in drawn fleets: resize_between gives as many slices as resize can, growth is found when it is
 * possible, and options that shrink groups help. */
#include <glib/gstdio.h>

#include "ahead-fixture.h"

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  gint64 now_ms;
  guint n_named, n_grown, n_waited, n_shrinks, n_repairs;
  guint n_beside_ahead; /* growths that were compared while a reservation lay ahead */
  bool has_quotas, has_ahead;
} World;

static const char *const pools[] = { "a", "b" };

static int
draw (World *world, int begin, int end)
{
  return g_rand_int_range (world->rand, begin, end);
}

static QuoitRequest *
draw_request (World *world, gint64 lease_ms)
{
  g_autofree char *name = g_strdup_printf ("g%u", world->n_named++);
  QuoitRequest *request = request_new (name, draw (world, 1, 6), lease_ms);
  int rule = draw (world, 0, 4), least = draw (world, 1, 4);

  if (draw (world, 0, 3) > 0)
    ck_assert (quoit_request_set_slice_range (request, least, least + draw (world, 1, 7), NULL));
  if (rule < 2)
    quoit_request_set_pool (request, pools[rule]);
  ck_assert (quoit_request_set_owner (request, draw (world, 0, 2) == 0 ? "ana" : "bob", NULL));
  quoit_request_set_priority (request, draw (world, -1, 2));
  return request;
}

static QuoitFork *
fork_now (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);

  return quoit_snapshot_fork (snapshot);
}

/* Returns how many slices the group has after a resize on a new fork, or 0 if it is refused. */
static uint32_t
try_resize (World *world, const char *group, int64_t n)
{
  g_autoptr (QuoitFork) fork = fork_now (world);
  g_autoptr (QuoitGroupChange) change = quoit_fork_resize (fork, group, n, world->now_ms, NULL, NULL);

  return change == NULL ? 0 : quoit_group_get_n_slices (quoit_group_change_get_after (change));
}

/* Returns the largest number of the range to which a resize succeeds, or 0. */
static uint32_t
largest_resize (World *world, const char *group, uint32_t least, uint32_t most)
{
  for (uint32_t n = most; n >= least; n--)
    if (try_resize (world, group, n) == n)
      return n;
  return 0;
}

/* --- growth --- */

static void
check_between (World *world, const char *group, uint32_t least, uint32_t most)
{
  g_autoptr (QuoitFork) fork = fork_now (world);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroupChange) change
      = quoit_fork_resize_between (fork, group, least, most, world->now_ms, &report, &error);
  uint32_t expected = largest_resize (world, group, least, most);

  ck_assert_msg ((change != NULL) == (expected != 0), "%s %u..%u: %s", group, least, most,
                 error == NULL ? "" : error->message);
  ck_assert ((report != NULL) == (expected == 0));
  if (change != NULL)
    ck_assert_uint_eq (quoit_group_get_n_slices (quoit_group_change_get_after (change)), expected);
  else
    ck_assert_uint_eq (quoit_report_get_n_wanted (report), least);
}

/* Compares the start with the first minute in which the growth is possible. Ends of leases free slices, and the group
 * itself has no lease. */
static void
check_start (World *world, const char *group, uint32_t n)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStart) start = quoit_snapshot_find_growth (last, group, n, world->now_ms, &error);
  gint64 found_ms = 0;

  if (start == NULL)
    {
      ck_assert_refused (error, QUOIT_ERROR_NEVER, "even if all groups end");
      return;
    }
  for (gint64 ms = world->now_ms; ms <= world->now_ms + 40 * minute_ms && found_ms == 0; ms += minute_ms)
    {
      g_autoptr (QuoitSnapshot) then = quoit_snapshot_as_of (last, ms, NULL);
      uint32_t n_now = 0;

      ck_assert (quoit_snapshot_test_growth (then, group, &n_now, NULL, NULL));
      if (n_now >= n)
        found_ms = ms;
    }
  ck_assert_int_eq (quoit_start_get_time_ms (start), found_ms);
  ck_assert (found_ms <= world->now_ms || quoit_start_get_n_ends (start) > 0);
  world->n_waited += found_ms > world->now_ms;
}

static bool
has_reservation_ahead (const QuoitSnapshot *snapshot)
{
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
        return true;
    }
  return false;
}

static void
check_growth (World *world, const QuoitGroup *group)
{
  const char *handle = quoit_group_get_handle (group);
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, world->now_ms, NULL);
  uint32_t n = quoit_group_get_n_slices (group), n_now = 0, n_most = 0;

  ck_assert (quoit_snapshot_test_growth (snapshot, handle, &n_now, &n_most, NULL));
  ck_assert (n <= n_now && n_now <= n_most);
  /* A group with fewer slices than its range cannot be resized to them. */
  ck_assert_uint_eq (n_now, MAX (largest_resize (world, handle, n, n_most), n));
  world->n_grown += n_now > n;
  world->n_beside_ahead += has_reservation_ahead (snapshot);
  if (n_now < n_most && quoit_group_get_until_ms (group) == 0 && !world->has_ahead)
    check_start (world, handle, n_now + 1);
}

/* Draws a range within that of the group's request, from the bounds that the refusal of a wider one states. */
static void
check_group (World *world, const QuoitGroup *group)
{
  const char *dots = strstr (quoit_group_get_request (group), ".."),
             *first = strstr (quoit_group_get_request (group), " x ");
  uint32_t least = dots == NULL ? 1 : (uint32_t) g_ascii_strtoull (first + 3, NULL, 10);
  uint32_t most = dots == NULL ? 12 : (uint32_t) g_ascii_strtoull (dots + 2, NULL, 10);
  uint32_t from = least + (uint32_t) draw (world, 0, (int) (most - least + 1));

  check_growth (world, group);
  check_between (world, quoit_group_get_handle (group), least, most);
  check_between (world, quoit_group_get_handle (group), from,
                 from + (uint32_t) draw (world, 0, (int) (most - from + 1)));
}

/* --- options --- */

/* Applies the option if all of its steps shrink groups. */
static bool
apply_shrinks (World *world, QuoitFork *fork, const QuoitReport *report, uint32_t option, int change)
{
  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    {
      int64_t n = quoit_report_get_step_n_slices (report, option, s);
      g_autoptr (QuoitGroupChange) done = NULL;

      if (quoit_report_get_step_kind (report, option, s) != QUOIT_STEP_SHRINK)
        return false;
      done = quoit_fork_resize (fork, quoit_report_get_step_group (report, option, s), n + change, world->now_ms, NULL,
                                NULL);
      ck_assert_ptr_nonnull (done);
      ck_assert_uint_ge (quoit_group_get_n_slices (quoit_group_change_get_before (done)), (uint32_t) (n + change));
    }
  return quoit_report_get_n_steps (report, option) > 0;
}

static bool
can_reserve (World *world, QuoitFork *fork, const QuoitRequest *request)
{
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, world->now_ms, NULL, NULL);

  return group != NULL;
}

/* Returns whether the request fits if all elastic groups shrink as far as they can. */
static bool
fits_if_all_shrink (World *world, const QuoitRequest *request)
{
  g_autoptr (QuoitFork) fork = fork_now (world);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      const char *least = strstr (quoit_group_get_request (group), " x ");

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED && strstr (least, "..") != NULL
          && g_ascii_strtoull (least + 3, NULL, 10) < quoit_group_get_n_slices (group))
        quoit_group_change_free (quoit_fork_resize (fork, quoit_group_get_handle (group),
                                                    g_ascii_strtoll (least + 3, NULL, 10), world->now_ms, NULL, NULL));
    }
  return can_reserve (world, fork, request);
}

/* Returns whether a reservation ahead lacks slices. It then gets the first ones that become free. */
static bool
lacks_promised_slices (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD
            && quoit_group_get_slice_state (group, s) != QUOIT_GROUP_SLICE_WHOLE)
          return true;
    }
  return false;
}

static void
check_reserve_options (World *world)
{
  g_autoptr (QuoitRequest) request = draw_request (world, 0);
  g_autoptr (QuoitFork) fork = fork_now (world);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, world->now_ms, &report, NULL);
  bool is_found = false;

  if (group != NULL || lacks_promised_slices (world))
    return;
  ck_assert_ptr_nonnull (report);
  for (uint32_t option = 0; option < quoit_report_get_n_options (report); option++)
    {
      g_autoptr (QuoitFork) after = fork_now (world);
      g_autoptr (QuoitFork) with_more = fork_now (world);
      g_autofree char *text = quoit_report_dup_option_text (report, option);

      if (!apply_shrinks (world, after, report, option, 0))
        continue;
      ck_assert_msg (can_reserve (world, after, request), "'%s' is not enough", text);
      ck_assert (g_str_has_prefix (text, "shrink g"));
      apply_shrinks (world, with_more, report, option, 1);
      /* Reservations ahead can get other slices after a smaller change, which is not tried. */
      ck_assert_msg (world->has_ahead || !can_reserve (world, with_more, request), "'%s' is more than enough", text);
      is_found = true;
      world->n_shrinks++;
    }
  if (!world->has_ahead)
    ck_assert (is_found
               == (quoit_report_get_verdict (report) == QUOIT_VERDICT_NOT_NOW && fits_if_all_shrink (world, request)));
}

/* After a refused repair, an option that shrinks the group itself makes the repair possible. */
static void
check_repair (World *world, const QuoitGroup *group)
{
  const char *handle = quoit_group_get_handle (group);
  g_autoptr (QuoitFork) fork = fork_now (world);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitGroupChange) change = quoit_fork_repair (fork, handle, world->now_ms, &report, NULL);

  for (uint32_t option = 0; change == NULL && report != NULL && option < quoit_report_get_n_options (report); option++)
    {
      g_autoptr (QuoitFork) after = fork_now (world);
      g_autoptr (QuoitGroupChange) repaired = NULL;

      ck_assert_int_ne (quoit_report_get_step_kind (report, option, 0), QUOIT_STEP_FEWER_SLICES);
      if (lacks_promised_slices (world) || !apply_shrinks (world, after, report, option, 0))
        continue;
      repaired = quoit_fork_repair (after, handle, world->now_ms, NULL, NULL);
      ck_assert_ptr_nonnull (repaired);
      world->n_repairs++;
    }
}

/* --- drawing --- */

static void
change_ledger (World *world)
{
  gint64 lease_ms = draw (world, 0, 2) * minute_ms * draw (world, 1, 30);
  g_autoptr (QuoitRequest) request = draw_request (world, lease_ms), ahead = draw_request (world, 0);
  g_autofree char *node = g_strdup_printf ("%s-%d-0", pools[draw (world, 0, 2)], draw (world, 0, 4));
  g_autoptr (QuoitGroup) group = NULL;
  gint64 from_ms = world->now_ms + minute_ms * draw (world, 1, 20);

  switch (draw (world, 0, world->has_ahead ? 5 : 4))
    {
    case 0:
      quoit_ledger_set_node_state (world->ledger, node, (QuoitNodeState) draw (world, 0, 3), world->now_ms, NULL);
      break;
    case 4:
      group
          = quoit_ledger_reserve_at (world->ledger, ahead, from_ms, from_ms + 9 * minute_ms, world->now_ms, NULL, NULL);
      break;
    default:
      group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL);
    }
}

static void
resize_or_release (World *world, const QuoitGroup *group)
{
  const char *handle = quoit_group_get_handle (group);
  g_autoptr (QuoitGroupChange) change = NULL;
  int64_t least = draw (world, 1, 4);

  if (draw (world, 0, 4) == 0)
    quoit_ledger_release (world->ledger, handle, world->now_ms, NULL);
  else
    change = quoit_ledger_resize_between (world->ledger, handle, least, least + draw (world, 0, 5), world->now_ms, NULL,
                                          NULL);
}

static void
check_groups (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, world->now_ms, NULL);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED || quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
        continue;
      check_group (world, group);
      check_repair (world, group);
      if (draw (world, 0, 4) == 0)
        resize_or_release (world, group);
    }
}

static void
set_quotas (World *world)
{
  ck_assert (quoit_ledger_set_quota (world->ledger, "ana", NULL, "ana", NULL, NULL, 16 * draw (world, 1, 6), -1, "c",
                                     world->now_ms, NULL));
  ck_assert (quoit_ledger_set_quota (world->ledger, "bob", NULL, "bob", NULL, NULL, 16 * draw (world, 1, 6), -1, "c",
                                     world->now_ms, NULL));
}

enum { N_WORLDS = 40, N_ROUNDS = 14 };

/* _i: 0: nothing else; 1: quotas; 2: reservations ahead; 3: both. */
START_TEST (drawn_groups_grow_as_far_as_they_can_and_shrink_when_that_helps)
{
  World sums = { 0 };

  for (guint w = 0; w < N_WORLDS; w++)
    {
      g_autofree char *dir = g_dir_make_tmp ("quoit-XXXXXX", NULL), *path = g_build_filename (dir, "l.db", NULL);
      g_autoptr (GError) error = NULL;
      World world = { .ledger = w % 4 == 0 ? quoit_ledger_create (path, 0, NULL) : quoit_ledger_open_memory (),
                      .rand = g_rand_new_with_seed (w + 100 * (guint) _i),
                      .now_ms = first_ms,
                      .has_quotas = _i % 2 == 1,
                      .has_ahead = _i >= 2 };

      import_fleet (world.ledger, "v6e 4x4 x7 pool=a; v6e 4x4 x5 pool=b");
      if (world.has_quotas)
        set_quotas (&world);
      for (guint round = 0; round < N_ROUNDS; round++)
        {
          change_ledger (&world);
          check_groups (&world);
          check_reserve_options (&world);
          world.now_ms += minute_ms * draw (&world, 0, 3);
          ck_assert_msg (quoit_ledger_verify (world.ledger, &error), "world %u: %s", w,
                         error == NULL ? "" : error->message);
          if (w % 4 == 0)
            {
              quoit_ledger_unref (world.ledger);
              world.ledger = quoit_ledger_open (path, 0, NULL);
            }
        }
      quoit_ledger_unref (world.ledger);
      g_rand_free (world.rand);
      g_unlink (path);
      g_rmdir (dir);
      sums.n_grown += world.n_grown;
      sums.n_waited += world.n_waited;
      sums.n_shrinks += world.n_shrinks;
      sums.n_repairs += world.n_repairs;
      sums.n_beside_ahead += world.n_beside_ahead;
    }
  ck_assert_uint_gt (sums.n_grown, 20);
  ck_assert_uint_gt (sums.n_shrinks, 20);
  ck_assert_uint_gt (sums.n_repairs, 5);
  ck_assert (_i >= 2 || sums.n_waited > 20);
  ck_assert (_i < 2 || sums.n_beside_ahead > 100);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("growth");
  TCase *tcase = tcase_create ("growth");

  tcase_set_timeout (tcase, 300);
  tcase_add_loop_test (tcase, drawn_groups_grow_as_far_as_they_can_and_shrink_when_that_helps, 0, 4);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
