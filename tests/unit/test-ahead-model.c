/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations ahead of equal slices: drawn calls against a model that only counts slices. */
#include "../follower.h"
#include "ahead-fixture.h"
#include "test-paths.h"

enum { N_SLICES = 6, N_STEPS = 250 };

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
      g_autoptr (QuoitLedger) ledger = follower_new_ledger (seed);
      Model model = model_new (ledger, seed);

      for (guint i = 0; i < N_STEPS; i++)
        model_step (&model);
      follower_replay (ledger);
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
  g_auto (TestPaths) paths = test_paths_new ();
  QuoitLedger *ledger = quoit_ledger_create (paths.path, 0, NULL);
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
      model.ledger = quoit_ledger_open (paths.path, 0, &error);
      ck_assert_ok (error);
      check_ledger (&model);
    }
  quoit_ledger_verify (model.ledger, &error);
  ck_assert_ok (error);
  quoit_ledger_unref (model.ledger);
  model_clear (&model);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ahead-model");
  TCase *tcase = tcase_create ("ahead-model");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, equal_slices_are_promised_exactly);
  tcase_add_test (tcase, promises_survive_a_restart);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
