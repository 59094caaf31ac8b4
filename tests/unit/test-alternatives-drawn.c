/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn requests with alternatives: forks with one alternative each decide what a request with all of them must get. */
#include <quoit/quoit.h>

#include <unistd.h>

#include "../shortcuts.h"
#include "suite.h"

static const gint64 now_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;
static const char fleet_text[] = "v6e 4x4 x3 pool=a; v5e 4x4 x3 pool=b; v6e 2x4 x4 pool=c";

static const struct {
  const char *accelerator, *topology;
} classes[] = { { "v6e", "4x4" }, { "v5e", "4x4" }, { "v6e", "2x4" }, { "v5p", "2x2x1" } };
static const char *const pools[] = { "a", "b", "c", "nowhere" };

/* A request without alternatives, for slices or bundles. */
static QuoitRequest *
draw_request (GRand *rand, const char *name)
{
  QuoitRequest *request = quoit_request_new (name, NULL);
  const gint class_index = g_rand_int_range (rand, 0, G_N_ELEMENTS (classes));
  const gint64 n = g_rand_int_range (rand, 1, 4);

  if (g_rand_int_range (rand, 0, 4) == 0)
    {
      ck_assert (quoit_request_add_bundles (request, g_rand_boolean (rand) ? "TPU=4" : "TPU=1", n, NULL));
      ck_assert (quoit_request_set_strategy (request, (QuoitStrategy) g_rand_int_range (rand, 0, 4), NULL));
    }
  else
    {
      ck_assert (quoit_request_set_accelerator (request, classes[class_index].accelerator, NULL));
      ck_assert (quoit_request_set_topology (request, classes[class_index].topology, NULL));
      if (g_rand_int_range (rand, 0, 4) == 0)
        ck_assert (quoit_request_set_slice_range (request, 1, n, NULL));
      else
        ck_assert (quoit_request_set_slices (request, n, NULL));
    }
  if (g_rand_int_range (rand, 0, 6) == 0)
    quoit_request_set_pool (request, pools[g_rand_int_range (rand, 0, G_N_ELEMENTS (pools))]);
  return request;
}

/* What the alternatives would get by themselves. */
typedef struct {
  guint granted; /* the first that is granted; G_MAXUINT: none */
  gint code;     /* then the code of the refusal */
  char *nodes;   /* what it gets */
  gint64 start_ms;
  guint start_alternative;
  gint start_code; /* 0: a start is known or unknown */
} Expected;

static char *
list_nodes (const QuoitGroup *group)
{
  GString *text = g_string_new (NULL);

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
      g_string_append_printf (text, " %u", quoit_group_get_worker_node_id (group, s, w));
  for (uint32_t b = 0; b < quoit_group_get_n_bundles (group); b++)
    g_string_append_printf (text, " b%s", quoit_group_get_bundle_node (group, b));
  return g_string_free (text, FALSE);
}

static void
expect_start (QuoitSnapshot *snapshot, const QuoitRequest *alone, guint i, gint64 time_ms, Expected *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (snapshot, alone, time_ms, &error);
  gint64 start_ms = start == NULL ? 0 : quoit_start_get_time_ms (start);

  if (start == NULL)
    {
      if (i == 0)
        expected->start_code = error->code;
      return;
    }
  if (expected->start_alternative == G_MAXUINT || (start_ms != 0 && expected->start_ms == 0)
      || (start_ms != 0 && start_ms < expected->start_ms))
    {
      expected->start_ms = start_ms;
      expected->start_alternative = i;
    }
}

static Expected
expect (QuoitLedger *ledger, GPtrArray *alone, gint64 time_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  Expected expected = { G_MAXUINT, 0, NULL, 0, G_MAXUINT, 0 };

  for (guint i = 0; i < alone->len; i++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, alone->pdata[i], time_ms, NULL, &error);

      expect_start (snapshot, alone->pdata[i], i, time_ms, &expected);
      if (group != NULL && expected.granted == G_MAXUINT)
        {
          expected.granted = i;
          expected.nodes = list_nodes (group);
        }
      if (group == NULL && (i == 0 || error->code == QUOIT_ERROR_NOT_NOW) && expected.code != QUOIT_ERROR_NOT_NOW)
        expected.code = error->code;
    }
  return expected;
}

static void
check_start (QuoitLedger *ledger, const QuoitRequest *request, gint64 time_ms, const Expected *expected)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (snapshot, request, time_ms, &error);

  if (expected->start_alternative == G_MAXUINT)
    {
      ck_assert_ptr_null (start);
      ck_assert_int_eq (error->code, expected->start_code);
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_start_get_time_ms (start), expected->start_ms);
  ck_assert_uint_eq (quoit_start_get_alternative (start), expected->start_alternative);
}

/* explain agrees with reserve. */
static void
check_explain (QuoitLedger *ledger, const QuoitRequest *request, gint64 time_ms, const Expected *expected)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger), now = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  now = quoit_snapshot_as_of (snapshot, time_ms, NULL);
  report = quoit_snapshot_explain (now, request, &error);
  if (expected->granted != G_MAXUINT)
    {
      ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_FITS);
      ck_assert_uint_eq (quoit_report_get_alternative (report), expected->granted);
    }
  else
    ck_assert_int_eq (report != NULL ? (gint) quoit_report_get_verdict (report) : error->code, expected->code);
}

static void
check_queue (QuoitLedger *ledger, const QuoitRequest *request, gint64 time_ms, const Expected *expected)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitQueuePlan) plan
      = quoit_fork_plan_queue (fork, &request, 1, QUOIT_BACKFILL_CONSERVATIVE, time_ms, NULL);

  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0) == QUOIT_QUEUED_STARTS, expected->granted != G_MAXUINT);
  if (quoit_queue_plan_get_state (plan, 0) == QUOIT_QUEUED_STARTS)
    ck_assert_uint_eq (quoit_queue_plan_get_alternative (plan, 0), expected->granted);
  if (quoit_queue_plan_get_state (plan, 0) == QUOIT_QUEUED_WAITS && quoit_queue_plan_get_start_ms (plan, 0) != 0)
    {
      ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), expected->start_ms);
      ck_assert_uint_eq (quoit_queue_plan_get_alternative (plan, 0), expected->start_alternative);
    }
}

/* How often what was compared. */
typedef struct {
  guint n_granted, n_others, n_refused, n_later, n_explained, n_queued;
} Counts;

/* What makes the answers of explain and of queues differ from those of reserve. */
typedef enum { PLAIN, WITH_QUOTAS, WITH_RESERVATIONS_AHEAD } Mode;

/* One drawn request with up to three alternatives. */
static void
draw_reserve (QuoitLedger *ledger, GRand *rand, guint number, gint64 time_ms, Mode mode, Counts *counts)
{
  g_autofree char *name = g_strdup_printf ("g%u", number);
  g_autoptr (GPtrArray) alone = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);
  const gint n = g_rand_int_range (rand, 1, 5);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL, again = NULL;
  g_autofree char *nodes = NULL;
  Expected expected;

  for (gint i = 0; i < n; i++)
    {
      QuoitRequest *one = draw_request (rand, name);

      if (i > 0)
        ck_assert (quoit_request_set_owner (one, "ana", NULL));
      g_ptr_array_add (alone, one);
    }
  ck_assert (quoit_request_set_owner (alone->pdata[0], "ana", NULL));
  request = quoit_request_copy (alone->pdata[0], name, NULL);
  if (g_rand_boolean (rand))
    for (gint i = 0; i < n; i++)
      ck_assert (quoit_request_set_expected_runtime_ms (i == 0 ? request : alone->pdata[i], minute_ms * (i + 1), NULL));
  if (mode == WITH_RESERVATIONS_AHEAD && g_rand_boolean (rand))
    for (gint i = 0; i < n; i++)
      ck_assert (quoit_request_set_lease_ms (i == 0 ? request : alone->pdata[i], minute_ms, NULL));
  quoit_request_free (g_steal_pointer (&alone->pdata[0]));
  alone->pdata[0] = quoit_request_copy (request, name, NULL);
  for (gint i = 1; i < n; i++)
    ck_assert (quoit_request_add_alternative (request, alone->pdata[i], NULL));
  ck_assert (quoit_request_set_key (request, name, NULL));

  expected = expect (ledger, alone, time_ms);
  check_start (ledger, request, time_ms, &expected);
  if (mode != WITH_RESERVATIONS_AHEAD)
    {
      check_explain (ledger, request, time_ms, &expected);
      counts->n_explained++;
    }
  /* A queue promises nothing to requests that a quota does not admit. */
  if (mode == PLAIN)
    {
      check_queue (ledger, request, time_ms, &expected);
      counts->n_queued++;
    }
  counts->n_granted += expected.granted == 0;
  counts->n_others += expected.granted != 0 && expected.granted != G_MAXUINT;
  counts->n_refused += expected.granted == G_MAXUINT;
  counts->n_later += expected.start_ms > time_ms;
  group = quoit_ledger_reserve (ledger, request, time_ms, NULL, &error);
  nodes = group == NULL ? NULL : list_nodes (group);
  ck_assert_uint_eq (group == NULL ? G_MAXUINT : quoit_group_get_alternative (group), expected.granted);
  ck_assert_int_eq (g_strcmp0 (nodes, expected.nodes), 0);
  ck_assert (group != NULL || error->code == expected.code);
  if (group != NULL)
    {
      again = quoit_ledger_reserve (ledger, request, time_ms, NULL, NULL);
      ck_assert_uint_eq (quoit_group_get_id (again), quoit_group_get_id (group));
    }
  g_free (expected.nodes);
}

static void
draw_reservation_ahead (QuoitLedger *ledger, GRand *rand, guint number, gint64 time_ms)
{
  g_autofree char *name = g_strdup_printf ("ahead%u", number);
  g_autoptr (QuoitRequest) request = draw_request (rand, name), other = draw_request (rand, name);
  const gint64 from_ms = time_ms + g_rand_int_range (rand, 1, 120000);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_add_alternative (request, other, NULL));
  group = quoit_ledger_reserve_at (ledger, request, from_ms, from_ms + minute_ms, time_ms, NULL, NULL);
}

static void
draw_release (QuoitLedger *ledger, GRand *rand, gint64 time_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  const uint32_t n = quoit_snapshot_get_n_groups (snapshot);

  if (n > 0)
    {
      g_autoptr (QuoitGroup) group
          = quoit_snapshot_dup_group (snapshot, (uint32_t) g_rand_int_range (rand, 0, (gint) n));

      ck_assert (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED
                 || quoit_ledger_release (ledger, quoit_group_get_handle (group), time_ms, NULL));
    }
}

START_TEST (drawn_requests_get_what_their_alternatives_would)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  g_autofree char *dir = g_dir_make_tmp ("quoit-alternatives-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "quoit.db", NULL);
  g_autoptr (QuoitLedger) ledger = _i % 8 == 0 ? quoit_ledger_create (path, 1000, NULL) : quoit_ledger_open_memory ();
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet_text, NULL, now_ms, NULL);
  const Mode mode = _i % 3 == 0 ? PLAIN : _i % 3 == 1 ? WITH_QUOTAS : WITH_RESERVATIONS_AHEAD;
  gint64 time_ms = now_ms;
  Counts counts = { 0 };

  ck_assert_ptr_nonnull (import);
  if (mode == WITH_QUOTAS && _i % 2 == 0)
    ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", "v6e", NULL, 40, 40, NULL, now_ms, NULL));
  if (mode == WITH_QUOTAS && _i % 2 == 1)
    ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", NULL, NULL, 64, 64, NULL, now_ms, NULL));
  for (guint step = 0; step < 60; step++)
    {
      time_ms += g_rand_int_range (rand, 0, 2000);
      if (g_rand_int_range (rand, 0, 3) == 0)
        draw_release (ledger, rand, time_ms);
      else if (mode == WITH_RESERVATIONS_AHEAD && g_rand_int_range (rand, 0, 4) == 0)
        draw_reservation_ahead (ledger, rand, step, time_ms);
      else
        draw_reserve (ledger, rand, step, time_ms, mode, &counts);
    }
  ck_assert (counts.n_granted >= 5 && counts.n_others >= 1 && counts.n_refused >= 4 && counts.n_later >= 2);
  ck_assert (mode == WITH_RESERVATIONS_AHEAD || counts.n_explained >= 30);
  ck_assert (mode != PLAIN || counts.n_queued >= 30);
  ck_assert (quoit_ledger_verify (ledger, NULL));
  if (_i % 8 == 0)
    {
      quoit_ledger_unref (ledger);
      ledger = quoit_ledger_open (path, 1000, NULL);
      ck_assert (quoit_ledger_verify (ledger, NULL));
      unlink (path);
    }
  rmdir (dir);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("alternatives-drawn");
  TCase *drawn = tcase_create ("drawn");

  tcase_add_loop_test (drawn, drawn_requests_get_what_their_alternatives_would, 0, 60);
  tcase_set_timeout (drawn, 60);
  suite_add_tcase (suite, drawn);
  return suite_main (suite);
}
