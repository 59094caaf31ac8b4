/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations for bundles. On drawn fleets the report agrees with reserve, its numbers equal a separate count, and
 * each option makes the request fit. */
#include <quoit/quoit.h>
#include <quoit/models/systems.h>

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static QuoitLedger *
fleet_of (const char *text)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, NULL, NOW, &error));
  ck_assert_ok (error);
  return ledger;
}

static QuoitRequest *
request_bundles (const char *name, const char *amounts, int64_t n, QuoitStrategy strategy)
{
  QuoitRequest *request = quoit_request_new (name, NULL);
  GError *error = NULL;

  ck_assert_msg (quoit_request_add_bundles (request, amounts, n, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (quoit_request_set_strategy (request, strategy, NULL));
  return request;
}

static QuoitReport *
explain (QuoitLedger *ledger, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  GError *error = NULL;
  QuoitReport *report = quoit_snapshot_explain (snapshot, request, &error);

  ck_assert_ok (error);
  return report;
}

/* --- drawn fleets --- */

typedef struct {
  QuoitLedger *ledger;
  guint n_groups;
} Drawn;

static Drawn
draw_fleet (GRand *rand)
{
  static const char *const fleets[]
      = { "v6e 4x4 x2; v5e 2x4 x2 hostchips=8", "v6e 4x4 x1 dead=0.2; v4 2x2x2 x2 draining=1.0", "v5e 2x4 x3 busy=1",
          "v6e 2x4 x2 hostchips=4 dead=0.0 busy=1.1; v6e 2x4 x1 hostchips=8 pool=big" };
  static const char *const amounts[] = { "TPU=1", "TPU=4", "TPU=0.5", "TPU=2", "TPU=2.5" };
  Drawn drawn = { fleet_of (fleets[g_rand_int_range (rand, 0, G_N_ELEMENTS (fleets))]), 0 };

  for (gint n = g_rand_int_range (rand, 0, 6); n > 0; n--)
    {
      g_autofree char *name = g_strdup_printf ("g%u", drawn.n_groups);
      g_autoptr (QuoitRequest) request
          = request_bundles (name, amounts[g_rand_int_range (rand, 0, G_N_ELEMENTS (amounts))],
                             g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, 0, 4));
      QuoitGroup *group = quoit_ledger_reserve (drawn.ledger, request, NOW, NULL, NULL);

      drawn.n_groups += group != NULL;
      quoit_group_unref (group);
    }
  return drawn;
}

static QuoitRequest *
draw_request (GRand *rand)
{
  static const char *const amounts[] = { "TPU=1", "TPU=4", "TPU=8", "TPU=1.5", "TPU=9", "rack=1" };
  static const char *const keys[] = { "ray.io/tpu-slice-name", "ray.io/node-group", "no-such-label" };
  QuoitRequest *request = request_bundles ("new", amounts[g_rand_int_range (rand, 0, G_N_ELEMENTS (amounts))],
                                           g_rand_int_range (rand, 1, 5), g_rand_int_range (rand, 0, 4));

  if (g_rand_int_range (rand, 0, 3) == 0)
    ck_assert (quoit_request_add_bundles (request, "TPU=2", 1, NULL));
  if (g_rand_int_range (rand, 0, 3) == 0)
    ck_assert (
        quoit_request_set_topology_label (request, keys[g_rand_int_range (rand, 0, G_N_ELEMENTS (keys))], 1, NULL));
  if (g_rand_int_range (rand, 0, 4) == 0)
    ck_assert (quoit_request_set_policy (request, QUOIT_POLICY_RAY, NULL));
  if (g_rand_int_range (rand, 0, 4) == 0)
    ck_assert (quoit_request_add_selector (request, "ray.io/tpu-worker-id", "!0", NULL));
  return request;
}

/* --- guarantees of reports --- */

static gboolean
fits (QuoitFork *fork, const QuoitRequest *request, int *code)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, NOW, NULL, &error);

  *code = group != NULL ? 0 : error->code;
  return group != NULL;
}

static void
take_step (QuoitFork *fork, const QuoitReport *report, uint32_t option, uint32_t step)
{
  const char *node = quoit_report_get_step_node (report, option, step);
  const char *group = quoit_report_get_step_group (report, option, step);
  GError *error = NULL;

  switch (quoit_report_get_step_kind (report, option, step))
    {
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      ck_assert (quoit_fork_set_node_state (fork, node, QUOIT_NODE_ALIVE, NOW, &error));
      break;
    case QUOIT_STEP_RELEASE:
      ck_assert (quoit_fork_release (fork, group, NOW, &error));
      break;
    default:
      ck_abort_msg ("a step of another kind");
    }
  ck_assert_ok (error);
}

/* A caller cannot end external use. */
static gboolean
can_be_taken (const QuoitReport *report, uint32_t option)
{
  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    if (quoit_report_get_step_kind (report, option, s) == QUOIT_STEP_EXTERNAL_ENDS)
      return FALSE;
  return TRUE;
}

static guint
require_options (const QuoitSnapshot *snapshot, const QuoitReport *report, const QuoitRequest *request)
{
  guint tried = 0;

  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      int code;

      if (!can_be_taken (report, o))
        continue;
      for (uint32_t s = 0; s < quoit_report_get_n_steps (report, o); s++)
        take_step (fork, report, o, s);
      ck_assert_msg (fits (fork, request, &code), "option %u does not help", o);
      tried++;
    }
  return tried;
}

/* Each constraint narrows the result of the previous one, from all nodes to those where the bundle fits now. */
static void
require_numbers (const QuoitSnapshot *snapshot, const QuoitReport *report)
{
  guint32 removed = 0, most = 0;

  for (uint32_t r = 0; r < quoit_report_get_n_reasons (report); r++)
    {
      guint32 before = quoit_report_get_reason_before (report, r), after = quoit_report_get_reason_after (report, r);

      ck_assert_uint_gt (before, after);
      if (quoit_report_get_reason_constraint (report, r) == QUOIT_CONSTRAINT_STRATEGY)
        continue;
      removed += before - after;
      most = MAX (most, before);
    }
  ck_assert (removed == 0 || most - removed == quoit_report_get_n_free_now (report));
  ck_assert_uint_le (quoit_report_get_n_free_now (report), quoit_report_get_n_possible (report));
  ck_assert_uint_le (quoit_report_get_n_possible (report), quoit_snapshot_get_n_nodes (snapshot));
  for (uint32_t m = 0; m < quoit_report_get_n_misses (report); m++)
    {
      g_autofree char *available = quoit_amount_format (quoit_report_get_miss_available (report, m)),
                      *requested = quoit_amount_format (quoit_report_get_miss_requested (report, m));

      ck_assert (g_ascii_strtod (available, NULL) < g_ascii_strtod (requested, NULL));
    }
}

START_TEST (report_agrees_with_reserve_and_its_options_work)
{
  guint n_verdicts[7] = { 0 }, n_options = 0;

  for (guint32 seed = 0; seed < 400; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Drawn drawn = draw_fleet (rand);
      g_autoptr (QuoitRequest) request = draw_request (rand);
      g_autoptr (QuoitReport) report = explain (drawn.ledger, request);
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (drawn.ledger);
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      int code;

      ck_assert (quoit_report_get_bundle (report) >= 0 && quoit_report_is_proven (report));
      fits (fork, request, &code);
      ck_assert_msg (code == (int) quoit_report_get_verdict (report),
                     "seed %u: reserve fails with %d, the report has verdict %d", seed, code,
                     (int) quoit_report_get_verdict (report));
      require_numbers (snapshot, report);
      n_options += require_options (snapshot, report, request);
      n_verdicts[code]++;
      quoit_ledger_unref (drawn.ledger);
    }
  /* The test proves nothing if all verdicts are the same. */
  ck_assert_uint_gt (n_verdicts[QUOIT_VERDICT_FITS], 40);
  ck_assert_uint_gt (n_verdicts[QUOIT_VERDICT_NOT_NOW], 40);
  ck_assert_uint_gt (n_verdicts[QUOIT_VERDICT_NEVER], 40);
  ck_assert_uint_gt (n_options, 40);
}
END_TEST

/* --- messages --- */

START_TEST (report_notes_that_ray_misses_an_existing_placement)
{
  g_autoptr (QuoitLedger) ledger = fleet_of ("v5e 2x4 x1 hostchips=8; v5e 2x2 x1");
  g_autoptr (QuoitRequest) request = request_bundles ("it", "TPU=4", 1, QUOIT_STRATEGY_PACK);
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *summary = NULL;

  /* Ray puts the 4 on the larger host, which it ranks first, and then has no room for the others. */
  ck_assert (quoit_request_add_bundles (request, "TPU=3", 2, NULL)
             && quoit_request_add_bundles (request, "TPU=2", 1, NULL));
  report = explain (ledger, request);
  summary = quoit_report_dup_summary (report, "it");
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_FITS);
  ck_assert_int_eq (quoit_report_get_ray_answer (report), QUOIT_RAY_ANSWER_FAILED);
  ck_assert (!quoit_report_can_ray_answer_vary (report));
  ck_assert_str_eq (summary, "it: fits; Ray would answer FAILED");
}
END_TEST

START_TEST (nearest_nodes_are_named_with_the_missing_amounts)
{
  g_autoptr (QuoitLedger) ledger = fleet_of ("v5e 2x4 x2 hostchips=8; v6e 4x4 x1");
  g_autoptr (QuoitRequest) some = request_bundles ("some", "TPU=3", 2, QUOIT_STRATEGY_STRICT_SPREAD);
  g_autoptr (QuoitRequest) big = request_bundles ("big", "TPU=8", 1, QUOIT_STRATEGY_PACK);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *available = NULL;

  ck_assert (quoit_request_add_selector (some, "ray.io/accelerator-type", "TPU-V5LITEPOD", NULL));
  group = quoit_ledger_reserve (ledger, some, NOW, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  report = explain (ledger, big);
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NOT_NOW);
  ck_assert_uint_eq (quoit_report_get_n_free_now (report), 0);
  ck_assert_uint_eq (quoit_report_get_n_possible (report), 2);
  ck_assert_uint_eq (quoit_report_get_n_misses (report), 2);
  ck_assert_str_eq (quoit_report_get_miss_node (report, 0), "v5e-2x4-0-0");
  ck_assert_str_eq (quoit_report_get_miss_resource (report, 0), "TPU");
  available = quoit_amount_format (quoit_report_get_miss_available (report, 0));
  ck_assert_str_eq (available, "5");
}
END_TEST

/* Each of the two groups is enough. */
START_TEST (group_with_fewer_chips_is_proposed_first)
{
  g_autoptr (QuoitLedger) ledger = fleet_of ("v6e 4x4");
  g_autoptr (QuoitRequest) first = request_bundles ("first", "TPU=4", _i == 0 ? 1 : 3, QUOIT_STRATEGY_PACK);
  g_autoptr (QuoitRequest) second = request_bundles ("second", "TPU=4", _i == 0 ? 3 : 1, QUOIT_STRATEGY_PACK);
  g_autoptr (QuoitRequest) more = request_bundles ("more", "TPU=4", 1, QUOIT_STRATEGY_PACK);
  g_autoptr (QuoitReport) report = NULL;

  quoit_group_unref (quoit_ledger_reserve (ledger, first, NOW, NULL, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, second, NOW, NULL, NULL));
  report = explain (ledger, more);
  ck_assert_uint_ge (quoit_report_get_n_options (report), 2);
  ck_assert_str_eq (quoit_report_get_step_group (report, 0, 0), _i == 0 ? "first@1" : "second@2");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("explain-bundles");
  TCase *explained = tcase_create ("explained");

  tcase_set_timeout (explained, 120);
  tcase_add_test (explained, report_agrees_with_reserve_and_its_options_work);
  tcase_add_test (explained, report_notes_that_ray_misses_an_existing_placement);
  tcase_add_test (explained, nearest_nodes_are_named_with_the_missing_amounts);
  tcase_add_loop_test (explained, group_with_fewer_chips_is_proposed_first, 0, 2);
  suite_add_tcase (suite, explained);
  return suite_main (suite);
}
