/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations ahead and windows: drawn calls against a model that only counts slices, and drawn fleets with rules,
 * windows and bundles, in which no promise may be missed. */
#include <quoit/quoit.h>

#include <unistd.h>

#include "suite.h"

enum { N_SLICES = 6, MOST_GROUPS = 400, N_STEPS = 250 };

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

static void
import_fleet (QuoitLedger *ledger, const char *text)
{
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, first_ms, NULL);

  ck_assert_ptr_nonnull (import);
}

static QuoitRequest *
request_new (const char *name, gint64 n_slices, gint64 lease_ms)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL));
  ck_assert (quoit_request_set_topology (request, "4x4", NULL));
  ck_assert (quoit_request_set_slices (request, n_slices, NULL));
  if (lease_ms != 0)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  return request;
}

/* --- the model: equal slices --- */

typedef struct {
  char name[8];
  guint n;
  gint64 from_ms, until_ms; /* until_ms 0: no lease */
  gint64 latest_ms;         /* the last time at which it can have its slices */
  gboolean is_held;
} ModelGroup;

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  GArray *groups; /* of ModelGroup: live ones */
  gint64 now_ms;
  guint n_named, n_granted, n_refused, n_begun;
} Model;

static ModelGroup *
model_group (const Model *model, guint i)
{
  return &g_array_index (model->groups, ModelGroup, i);
}

/* Returns how many slices can be in use at the time, by all groups but @except. */
static guint
model_used (const Model *model, gint64 at_ms, const ModelGroup *except)
{
  guint n = 0;

  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = model_group (model, i);

      if (group != except && group->from_ms <= at_ms && at_ms < group->latest_ms)
        n += group->n;
    }
  return n;
}

/* Whether @n slices are free in the whole period: it is enough to look when something begins. */
static gboolean
model_fits (const Model *model, guint n, gint64 from_ms, gint64 until_ms, const ModelGroup *except)
{
  if (model_used (model, from_ms, except) + n > N_SLICES)
    return FALSE;
  for (guint i = 0; i < model->groups->len; i++)
    {
      gint64 at_ms = model_group (model, i)->from_ms;

      if (at_ms > from_ms && at_ms < until_ms && model_used (model, at_ms, except) + n > N_SLICES)
        return FALSE;
    }
  return TRUE;
}

static void
model_advance (Model *model, gint64 now_ms)
{
  for (guint i = model->groups->len; i-- > 0;)
    {
      ModelGroup *group = model_group (model, i);

      model->n_begun += group->from_ms > model->now_ms && group->from_ms <= now_ms;
      if (group->until_ms != 0 && group->until_ms <= now_ms)
        g_array_remove_index (model->groups, i);
    }
  model->now_ms = now_ms;
}

/* Checks the ledger at the time of the model: invariants, and each group. */
static void
check_ledger (const Model *model)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (model->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, model->now_ms, NULL);
  GError *error = NULL;

  quoit_snapshot_check (last, &error);
  ck_assert_ok (error);
  quoit_snapshot_check (snapshot, &error);
  ck_assert_ok (error);
  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = model_group (model, i);
      g_autoptr (QuoitGroup) found = quoit_snapshot_lookup_group (snapshot, group->name, &error);
      QuoitGroupState state = group->is_held                   ? QUOIT_GROUP_HELD
                              : group->from_ms > model->now_ms ? QUOIT_GROUP_AHEAD
                                                               : QUOIT_GROUP_RESERVED;

      ck_assert_ok (error);
      ck_assert_msg (quoit_group_get_state (found) == state, "%s: state %d, expected %d", group->name,
                     (int) quoit_group_get_state (found), (int) state);
      ck_assert_uint_eq (quoit_group_get_n_slices (found), group->n);
    }
}

static void
add_to_model (Model *model, const char *name, guint n, gint64 from_ms, gint64 until_ms, gboolean is_held)
{
  ModelGroup group = { .n = n, .from_ms = from_ms, .until_ms = until_ms, .is_held = is_held };

  group.latest_ms = until_ms == 0 || is_held ? G_MAXINT64 : until_ms;
  g_strlcpy (group.name, name, sizeof group.name);
  g_array_append_val (model->groups, group);
}

/* Compares the verdict of explain with that of the call that follows. */
static void
check_explain (const Model *model, const QuoitRequest *request, gboolean fits)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (model->ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, model->now_ms, NULL);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  QuoitVerdict verdict = QUOIT_VERDICT_NEVER;

  ck_assert (quoit_snapshot_test (snapshot, request, &verdict, NULL, NULL));
  ck_assert_int_eq (verdict, fits ? QUOIT_VERDICT_FITS : QUOIT_VERDICT_NOT_NOW);
  ck_assert_int_eq (quoit_report_get_verdict (report), verdict);
  ck_assert (fits || quoit_report_get_n_options (report) > 0);
}

/* Compares quoit_snapshot_find_start() with a scan of all minutes. Ends of held groups count there. */
static void
check_start (Model *model, guint n, gint64 lease_ms)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (model->ledger);
  g_autoptr (QuoitRequest) request = request_new ("start", n, lease_ms);
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (last, request, model->now_ms, NULL);
  gint64 expected_ms = 0;

  for (guint i = 0; i < model->groups->len; i++)
    if (model_group (model, i)->is_held)
      return;
  for (gint64 at_ms = model->now_ms; expected_ms == 0 && at_ms < model->now_ms + 100 * minute_ms; at_ms += minute_ms)
    if (model_fits (model, n, at_ms, lease_ms == 0 ? G_MAXINT64 : at_ms + lease_ms, NULL))
      expected_ms = at_ms;
  ck_assert_msg (
      quoit_start_get_time_ms (start) == expected_ms, "start %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT,
      (quoit_start_get_time_ms (start) - model->now_ms) / minute_ms, (expected_ms - model->now_ms) / minute_ms);
}

static void
step_reserve (Model *model)
{
  guint n = (guint) g_rand_int_range (model->rand, 1, 4);
  gint64 lease_ms = g_rand_int_range (model->rand, 0, 3) == 0 ? 0 : minute_ms * g_rand_int_range (model->rand, 1, 12);
  gboolean is_held = lease_ms != 0 && g_rand_int_range (model->rand, 0, 6) == 0, fits;
  g_autofree char *name = g_strdup_printf ("g%u", model->n_named++);
  g_autoptr (QuoitRequest) request = request_new (name, n, is_held ? 0 : lease_ms);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;

  fits = model_fits (model, n, model->now_ms, lease_ms == 0 || is_held ? G_MAXINT64 : model->now_ms + lease_ms, NULL);
  check_explain (model, request, fits);
  group = is_held ? quoit_ledger_hold (model->ledger, request, lease_ms, model->now_ms, NULL, &error)
                  : quoit_ledger_reserve (model->ledger, request, model->now_ms, NULL, &error);
  ck_assert_msg ((group != NULL) == fits, "%s: %s", name, error == NULL ? "granted" : error->message);
  if (fits)
    add_to_model (model, name, n, model->now_ms, lease_ms == 0 ? 0 : model->now_ms + lease_ms, is_held);
  model->n_granted += fits;
  model->n_refused += !fits;
}

static void
step_reserve_at (Model *model)
{
  guint n = (guint) g_rand_int_range (model->rand, 1, N_SLICES);
  gint64 from_ms = model->now_ms + minute_ms * g_rand_int_range (model->rand, 1, 15);
  gint64 until_ms
      = g_rand_int_range (model->rand, 0, 8) == 0 ? 0 : from_ms + minute_ms * g_rand_int_range (model->rand, 1, 8);
  g_autofree char *name = g_strdup_printf ("r%u", model->n_named++);
  g_autoptr (QuoitRequest) request = request_new (name, n, 0);
  g_autoptr (GError) error = NULL;
  gboolean fits = model_fits (model, n, from_ms, until_ms == 0 ? G_MAXINT64 : until_ms, NULL);
  g_autoptr (QuoitGroup) group
      = quoit_ledger_reserve_at (model->ledger, request, from_ms, until_ms, model->now_ms, NULL, &error);

  ck_assert_msg ((group != NULL) == fits, "%s: %s", name, error == NULL ? "granted" : error->message);
  ck_assert (fits || g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW));
  if (fits)
    add_to_model (model, name, n, from_ms, until_ms, FALSE);
  model->n_granted += fits;
  model->n_refused += !fits;
}

static void
step_renew (Model *model, ModelGroup *group)
{
  gint64 lease_ms = minute_ms * g_rand_int_range (model->rand, 1, 12);
  gboolean fits;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) renewed = NULL;

  renewed = quoit_ledger_renew (model->ledger, group->name, lease_ms, model->now_ms, &error);
  fits = group->until_ms != 0 && group->from_ms <= model->now_ms
         && (group->is_held || model_fits (model, group->n, model->now_ms, model->now_ms + lease_ms, group));
  ck_assert_msg ((renewed != NULL) == fits, "%s: %s", group->name, error == NULL ? "renewed" : error->message);
  ck_assert (fits || g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT));
  if (!fits)
    return;
  group->until_ms = model->now_ms + lease_ms;
  if (!group->is_held)
    group->latest_ms = group->until_ms;
}

static void
step_confirm (Model *model, ModelGroup *group)
{
  gint64 lease_ms = minute_ms * g_rand_int_range (model->rand, 0, 12);
  g_autoptr (QuoitGroup) confirmed = NULL;
  g_autoptr (GError) error = NULL;

  confirmed = quoit_ledger_confirm (model->ledger, group->name, lease_ms, model->now_ms, &error);
  ck_assert ((confirmed != NULL) == (group->from_ms <= model->now_ms));
  if (!group->is_held)
    return;
  group->is_held = FALSE;
  group->until_ms = lease_ms == 0 ? 0 : model->now_ms + lease_ms;
  group->latest_ms = lease_ms == 0 ? G_MAXINT64 : group->until_ms;
}

static void
step_existing (Model *model)
{
  guint i;

  if (model->groups->len == 0)
    return;
  i = (guint) g_rand_int_range (model->rand, 0, (gint32) model->groups->len);
  switch (g_rand_int_range (model->rand, 0, 4))
    {
    case 0:
      step_renew (model, model_group (model, i));
      return;
    case 1:
      step_confirm (model, model_group (model, i));
      return;
    default:
      ck_assert (quoit_ledger_release (model->ledger, model_group (model, i)->name, model->now_ms, NULL));
      g_array_remove_index (model->groups, i);
    }
}

static void
model_step (Model *model)
{
  gint minutes = g_rand_int_range (model->rand, -2, 3);

  model_advance (model, model->now_ms + minute_ms * MAX (minutes, 0));
  switch (g_rand_int_range (model->rand, 0, 4))
    {
    case 0:
      step_reserve (model);
      break;
    case 1:
      step_reserve_at (model);
      break;
    case 2:
      step_existing (model);
      break;
    default:
      check_start (model, (guint) g_rand_int_range (model->rand, 1, N_SLICES + 1),
                   minute_ms * g_rand_int_range (model->rand, 0, 9));
    }
  check_ledger (model);
}

static Model
model_new (QuoitLedger *ledger, guint32 seed)
{
  import_fleet (ledger, "v6e 4x4 x6");
  return (Model) { .ledger = ledger,
                   .rand = g_rand_new_with_seed (seed),
                   .groups = g_array_new (FALSE, FALSE, sizeof (ModelGroup)),
                   .now_ms = first_ms };
}

static void
model_clear (Model *model)
{
  g_rand_free (model->rand);
  g_array_unref (model->groups);
}

START_TEST (equal_slices_are_promised_exactly)
{
  guint n_granted = 0, n_refused = 0, n_begun = 0;

  for (guint32 seed = 1; seed <= 60; seed++)
    {
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      Model model = model_new (ledger, seed);

      for (guint i = 0; i < N_STEPS; i++)
        model_step (&model);
      n_granted += model.n_granted;
      n_refused += model.n_refused;
      n_begun += model.n_begun;
      model_clear (&model);
    }
  ck_assert_uint_gt (n_granted, 2000);
  ck_assert_uint_gt (n_refused, 2000);
  ck_assert_uint_gt (n_begun, 500);
}
END_TEST

START_TEST (promises_survive_a_restart)
{
  g_autofree char *folder = g_dir_make_tmp ("quoit-ahead-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL), *command = NULL;
  QuoitLedger *ledger = quoit_ledger_create (path, 0, NULL);
  Model model;
  GError *error = NULL;

  ck_assert_ptr_nonnull (ledger);
  model = model_new (ledger, 7);
  for (guint i = 0; i < 120; i++)
    {
      model_step (&model);
      if (i % 10 != 0)
        continue;
      quoit_ledger_unref (model.ledger);
      model.ledger = quoit_ledger_open (path, 0, &error);
      ck_assert_ok (error);
      check_ledger (&model);
    }
  quoit_ledger_verify (model.ledger, &error);
  ck_assert_ok (error);
  quoit_ledger_unref (model.ledger);
  model_clear (&model);
  command = g_strdup_printf ("rm -r '%s'", folder);
  ck_assert_int_eq (system (command), 0);
}
END_TEST

/* --- drawn fleets: rules, windows, bundles, forks and failures --- */

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
  guint rule = (guint) g_rand_int_range (world->rand, 0, 4);

  if (rule < 2)
    quoit_request_set_pool (request, drawn_pools[rule]);
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
      change = quoit_ledger_resize (world->ledger, handle, g_rand_int_range (world->rand, 1, 4), world->now_ms, NULL,
                                    NULL);
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
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, world->now_ms, NULL, NULL);
  g_autoptr (QuoitGroup) promised = quoit_fork_reserve_at (fork, ahead, from_ms, until_ms, world->now_ms, NULL, NULL);

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
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

      run_world (ledger, seed, &sum);
    }
  ck_assert_uint_gt (sum.n_begun, 200);
  ck_assert_uint_gt (sum.n_commits, 200);
  ck_assert_uint_gt (sum.n_conflicts, 10);
}
END_TEST

/* --- failures and bad input --- */

static QuoitGroup *
reserve_at (QuoitLedger *ledger, const char *name, gint64 n, gint64 from, gint64 until)
{
  g_autoptr (QuoitRequest) request = request_new (name, n, 0);

  return quoit_ledger_reserve_at (ledger, request, first_ms + from * minute_ms,
                                  until == 0 ? 0 : first_ms + until * minute_ms, first_ms, NULL, NULL);
}

static QuoitGroup *
reserve_now (QuoitLedger *ledger, const char *name, gint64 n, gint64 lease)
{
  g_autoptr (QuoitRequest) request = request_new (name, n, lease * minute_ms);

  return quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL);
}

/* Returns the group at a time, in minutes. */
static QuoitGroup *
group_at (QuoitLedger *ledger, const char *name, gint64 minute)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, first_ms + minute * minute_ms, NULL);

  return quoit_snapshot_lookup_group (snapshot, name, NULL);
}

static void
set_state (QuoitLedger *ledger, const char *node, QuoitNodeState state)
{
  ck_assert (quoit_ledger_set_node_state (ledger, node, state, first_ms, NULL));
}

START_TEST (promise_moves_away_from_lost_nodes)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, other = NULL, refused = NULL, begun = NULL;
  g_autofree char *node = NULL;

  import_fleet (ledger, "v6e 4x4 x4");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  ck_assert_ptr_nonnull (ahead);
  node = quoit_group_dup_worker_full_name (ahead, 0, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  /* Three slices are left, and two of them are promised. */
  refused = reserve_now (ledger, "two", 2, 0);
  ck_assert_ptr_null (refused);
  other = reserve_now (ledger, "one", 1, 0);
  ck_assert_ptr_nonnull (other);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert_uint_eq (quoit_group_get_n_slices (begun), 2);
}
END_TEST

START_TEST (promise_without_enough_nodes_begins_with_lost_ones)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, refused = NULL, begun = NULL, now = NULL;
  g_autoptr (QuoitGroupChange) repaired = NULL;
  g_autofree char *node = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  node = quoit_group_dup_worker_full_name (ahead, 1, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  refused = reserve_now (ledger, "one", 1, 0);
  ck_assert_ptr_null (refused);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESCHEDULING);
  set_state (ledger, node, QUOIT_NODE_ALIVE);
  repaired = quoit_ledger_repair (ledger, "ahead", first_ms + 11 * minute_ms, NULL, NULL);
  ck_assert_ptr_nonnull (repaired);
  now = group_at (ledger, "ahead", 11);
  ck_assert_int_eq (quoit_group_get_state (now), QUOIT_GROUP_RESERVED);
}
END_TEST

START_TEST (refusals_name_what_lies_ahead)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_new ("one", 1, 0), with_lease = request_new ("lease", 1, 9 * minute_ms);
  g_autoptr (QuoitGroup) ahead = NULL, group = NULL, change = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *option = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  ck_assert (quoit_ledger_add_window (ledger, "repairs", QUOIT_WINDOW_POOL, "b", first_ms + 5 * minute_ms,
                                      first_ms + 6 * minute_ms, first_ms, NULL));
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  group = quoit_ledger_reserve (ledger, request, first_ms, &report, &error);
  ck_assert_ptr_null (group);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now");
  ck_assert_uint_gt (quoit_report_get_n_options (report), 0);
  option = quoit_report_dup_option_text (report, 0);
  ck_assert_msg (strstr (option, "when") != NULL, "%s", option);
  group = quoit_ledger_reserve (ledger, with_lease, first_ms, NULL, &error);
  ck_assert_ok (error);
  change = quoit_ledger_renew (ledger, "lease", 11 * minute_ms, first_ms, &error);
  ck_assert_ptr_null (change);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "promised to 'ahead@2', which begins at");
}
END_TEST

START_TEST (fork_meets_a_new_window)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2 pool=a");
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "a", first_ms + 5 * minute_ms,
                                      first_ms + 9 * minute_ms, first_ms, NULL));
  for (gint64 lease = 5; lease <= 6; lease++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitRequest) request = request_new (lease == 5 ? "before" : "into", 1, lease * minute_ms);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, first_ms, NULL, NULL);

      ck_assert_ptr_nonnull (group);
      ck_assert (quoit_ledger_commit_fork (ledger, fork, first_ms, &error) == (lease == 5));
      if (lease == 6)
        ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "window that was added since");
      else
        ck_assert (quoit_ledger_release (ledger, "before", first_ms, NULL));
    }
}
END_TEST

/* On a fork, a reservation begins or moves before a change of the fork. The ledger does the same when it commits. */
START_TEST (fork_changes_what_has_begun_on_it)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      g_autoptr (QuoitGroup) ahead = NULL, changed = NULL;
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitFork) fork = NULL;
      g_autofree char *node = NULL;
      const gint64 now_ms = first_ms + (i % 2 == 0 ? 10 : 1) * minute_ms;
      GError *error = NULL;

      import_fleet (ledger, "v6e 4x4 x3");
      ahead = reserve_at (ledger, "ahead", 2, 10, 20);
      node = quoit_group_dup_worker_full_name (ahead, 0, 0);
      if (i % 2 == 1)
        set_state (ledger, node, QUOIT_NODE_DEAD);
      snapshot = quoit_ledger_snapshot (ledger);
      fork = quoit_snapshot_fork (snapshot);
      if (i < 2)
        changed = quoit_fork_set_priority (fork, "ahead", 5, now_ms, &error);
      else
        quoit_fork_release (fork, "ahead", now_ms, &error);
      ck_assert_ok (error);
      quoit_ledger_commit_fork (ledger, fork, now_ms, &error);
      ck_assert_ok (error);
    }
}
END_TEST

/* A node dies on the fork, its reservation moves, and the fork reserves the slices that are left. */
START_TEST (fork_moves_a_reservation)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, group = NULL, begun = NULL;
  g_autoptr (QuoitRequest) request = request_new ("one", 1, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autofree char *node = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x4");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  node = quoit_group_dup_worker_full_name (ahead, 0, 0);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  ck_assert (quoit_fork_set_node_state (fork, node, QUOIT_NODE_DEAD, first_ms, NULL));
  group = quoit_fork_reserve (fork, request, first_ms, NULL, &error);
  ck_assert_ok (error);
  quoit_ledger_commit_fork (ledger, fork, first_ms, &error);
  ck_assert_ok (error);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
}
END_TEST

/* At each time one slice is free, but only from the second minute on the same one for two minutes. */
START_TEST (start_waits_for_one_slice_outside_windows)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) first = NULL;
  g_autoptr (QuoitRequest) request = request_new ("two-minutes", 1, 2 * minute_ms);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  first = reserve_now (ledger, "first", 1, 1);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "b", first_ms + minute_ms,
                                      first_ms + 4 * minute_ms, first_ms, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, request, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), first_ms + minute_ms);
}
END_TEST

START_TEST (import_can_remove_or_change_promised_slices)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, without = NULL, begun = NULL;
  g_autofree char *slice = NULL, *node = NULL, *begun_slice = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  ahead = reserve_at (ledger, "ahead", 1, 10, 20);
  import_fleet (ledger, "v6e 4x4 x1 pool=b");
  {
    g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

    without = quoit_snapshot_lookup_group (snapshot, "ahead", NULL);
  }
  slice = quoit_group_dup_slice_name (without, 0);
  node = quoit_group_dup_worker_full_name (without, 0, 0);
  ck_assert_str_eq (slice, "");
  ck_assert_str_eq (node, "");
  ck_assert_str_eq (quoit_group_get_worker_name (without, 0, 0), "");
  ck_assert_ptr_null (quoit_group_get_worker_address (without, 0, 0));
  ck_assert_uint_eq (quoit_group_get_worker_node_id (without, 0, 0), 0);
  /* The slice of the same name has other hardware now. */
  import_fleet (ledger, "v5e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  begun = group_at (ledger, "ahead", 10);
  begun_slice = quoit_group_dup_slice_name (begun, 0);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert_str_eq (begun_slice, "b-0");
}
END_TEST

START_TEST (reservation_that_lacks_slices_stops_no_others)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) in_a = request_new ("in-a", 1, 0);
  g_autoptr (QuoitGroup) a = NULL, b = NULL, begun = NULL;
  g_autofree char *node = NULL, *other = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x3 pool=b");
  quoit_request_set_pool (in_a, "a");
  a = quoit_ledger_reserve_at (ledger, in_a, first_ms + 10 * minute_ms, 0, first_ms, NULL, NULL);
  b = reserve_at (ledger, "b", 1, 10, 20);
  node = quoit_group_dup_worker_full_name (a, 0, 0);
  other = quoit_group_dup_worker_full_name (b, 0, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  set_state (ledger, other, QUOIT_NODE_DEAD);
  begun = group_at (ledger, "b", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_SLICE, "b-2", first_ms + 50 * minute_ms,
                                      first_ms + 60 * minute_ms, first_ms, NULL));
}
END_TEST

START_TEST (keys_name_a_beginning)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_new ("ahead", 1, 0);
  g_autoptr (QuoitGroup) first = NULL, again = NULL;
  const gint64 from_ms = first_ms + 10 * minute_ms, until_ms = from_ms + 10 * minute_ms;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  ck_assert (quoit_request_set_key (request, "key", NULL));
  first = quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, first_ms, NULL, NULL);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'key' was used for another request");
  ck_assert_ptr_null (quoit_ledger_reserve_at (ledger, request, from_ms + 1, until_ms, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'key' was used for another request");
  again = quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, from_ms + minute_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (again), QUOIT_GROUP_RESERVED);
}
END_TEST

static void
refuse_at (QuoitLedger *ledger, gint64 from_ms, gint64 until_ms, gint64 lease_ms, const char *part)
{
  g_autoptr (QuoitRequest) request = request_new ("bad", 1, lease_ms);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, part);
}

START_TEST (bad_times_are_refused)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  import_fleet (ledger, "v6e 4x4 x2");
  refuse_at (ledger, first_ms, first_ms + 1, 0, "from '1800000000000': expected milliseconds since 1970, after now");
  refuse_at (ledger, -5, 0, 0, "from '-5'");
  refuse_at (ledger, G_MAXINT64, 0, 0, "before the year 2200");
  refuse_at (ledger, first_ms + 2, first_ms + 2, 0, "until '1800000000002'");
  refuse_at (ledger, first_ms + 2, first_ms + 1, 0, "after the beginning");
  refuse_at (ledger, first_ms + 2, -1, 0, "until '-1'");
  refuse_at (ledger, first_ms + 2, G_MAXINT64, 0, "before the year 2200");
  refuse_at (ledger, first_ms + 2, first_ms + 3, 1000, "lease '1000' ms: expected none");
}
END_TEST

static void
refuse_window (QuoitLedger *ledger, const char *name, QuoitWindowScope scope, const char *target, gint64 from_ms,
               gint64 until_ms, QuoitErrorCode code, const char *part)
{
  GError *error = NULL;

  ck_assert (!quoit_ledger_add_window (ledger, name, scope, target, from_ms, until_ms, first_ms, &error));
  ck_assert_refused (error, code, part);
}

START_TEST (bad_windows_are_refused)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL;
  const gint64 until_ms = first_ms + 10;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_ZONE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_NODE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_SLICE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "", first_ms, until_ms, QUOIT_ERROR_INVALID, "target ''");
  refuse_window (ledger, "w/x", QUOIT_WINDOW_ZONE, "z", first_ms, until_ms, QUOIT_ERROR_INVALID, "window 'w/x'");
  refuse_window (ledger, "w", (QuoitWindowScope) 9, "z", first_ms, until_ms, QUOIT_ERROR_INVALID, "scope '9'");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "tpu-v6e-4x4", until_ms, until_ms, QUOIT_ERROR_INVALID, "until");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "tpu-v6e-4x4", first_ms - 5, first_ms, QUOIT_ERROR_INVALID,
                 "after now");
  ck_assert (!quoit_ledger_remove_window (ledger, "w", first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no window 'w'");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ahead");
  TCase *tcase = tcase_create ("ahead");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, equal_slices_are_promised_exactly);
  tcase_add_test (tcase, promises_survive_a_restart);
  tcase_add_test (tcase, no_promise_is_missed);
  tcase_add_test (tcase, promise_moves_away_from_lost_nodes);
  tcase_add_test (tcase, promise_without_enough_nodes_begins_with_lost_ones);
  tcase_add_test (tcase, refusals_name_what_lies_ahead);
  tcase_add_test (tcase, fork_meets_a_new_window);
  tcase_add_test (tcase, fork_changes_what_has_begun_on_it);
  tcase_add_test (tcase, fork_moves_a_reservation);
  tcase_add_test (tcase, start_waits_for_one_slice_outside_windows);
  tcase_add_test (tcase, import_can_remove_or_change_promised_slices);
  tcase_add_test (tcase, reservation_that_lacks_slices_stops_no_others);
  tcase_add_test (tcase, keys_name_a_beginning);
  tcase_add_test (tcase, bad_times_are_refused);
  tcase_add_test (tcase, bad_windows_are_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
