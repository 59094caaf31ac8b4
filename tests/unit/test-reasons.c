/* SPDX-License-Identifier: Apache-2.0 */
/* The main reason of a refusal in fleets of several generations: the constraint that removed the last slices or nodes
 * that the request needs. */
#include "slices.h"

static const gint64 now_ms = G_GINT64_CONSTANT (1800000000000);

typedef struct {
  const char *name, *fleet;
  const char *used;     /* "ACCELERATOR TOPOLOGY N": a group; NULL: none */
  const char *topology; /* of slices of v6e; "bundle AMOUNTS": of one bundle */
  guint n;
  const char *pool; /* NULL: any */
  QuoitVerdict verdict;
  const char *constraint, *why; /* of the first reason; a part of the summary */
} Case;

// clang-format off
static const Case cases[] = {
  { "never: no slice of that size of the generation", "v5e 4x4 x9 pool=a; v6e 4x4 x2 pool=b", NULL, "8x8", 1, NULL,
    QUOIT_VERDICT_NEVER, "topology", "2 of 2 slices are of another topology than '8x8'" },
  { "never: no slice of the generation", "v5e 4x4 x9 pool=a; v4 2x2x1 x4 pool=b", NULL, "4x4", 1, NULL,
    QUOIT_VERDICT_NEVER, "accelerator", "13 of 13 slices are of another accelerator than 'v6e'" },
  { "never: not on hosts of that size", "v5e 4x4 x9 pool=a; v6e 2x4 x2 hostchips=4 pool=b", NULL, "2x4", 1, NULL,
    QUOIT_VERDICT_NEVER, "chips-per-host", "2 of 2 slices are on hosts of another size than '8 chips'" },
  { "never: too few slices of the class", "v5e 4x4 x9 pool=a; v6e 4x4 x2 pool=b; v6e 8x8 x1 pool=c", NULL, "4x4", 3,
    NULL, QUOIT_VERDICT_NEVER, "topology", "; the fleet has 2 such slices" },
  { "never: too few slices of the class, one with a dead host", "v5e 4x4 x9 pool=a; v6e 4x4 x2 pool=b dead=1.3", NULL,
    "4x4", 3, NULL, QUOIT_VERDICT_NEVER, "accelerator", "; the fleet has 2 such slices" },
  { "never: the pool has other slices", "v5e 4x4 x9 pool=a; v6e 4x4 x2 pool=b", NULL, "4x4", 1, "a",
    QUOIT_VERDICT_NEVER, "pool", "2 of 2 slices are outside pool 'a'" },
  { "never: too few slices of the class in the pool", "v5e 4x4 x9 pool=a; v6e 4x4 x1 pool=b; v6e 4x4 x3 pool=c", NULL,
    "4x4", 2, "b", QUOIT_VERDICT_NEVER, "pool", "3 of 4 slices are outside pool 'b'" },
  { "not now: all that the pool has is used", "v5e 4x4 x9 pool=a; v6e 4x4 x5 pool=b draining=0.0,1.0; v6e 4x4 x9 pool=c",
    "v6e 4x4 12", "4x4", 1, "b", QUOIT_VERDICT_NOT_NOW, "allocated", "3 of 3 slices are allocated to groups" },
  { "not now: too few are undrained", "v5e 4x4 x9 pool=a; v6e 4x4 x3 pool=b draining=0.0,1.0", "v6e 4x4 1", "4x4", 2,
    NULL, QUOIT_VERDICT_NOT_NOW, "draining", "2 of 3 slices are draining" },
  { "not now: what is undrained is used", "v5e 4x4 x9 pool=a; v6e 4x4 x3 pool=b draining=0.0,1.0", "v6e 4x4 1", "4x4", 1,
    NULL, QUOIT_VERDICT_NOT_NOW, "allocated", "1 of 1 slice is allocated to groups" },
  { "never: no node of the pool is large enough", "v4 2x2x1 x4 pool=a; v6e 2x4 x1 pool=b", NULL, "bundle TPU=8", 1, "a",
    QUOIT_VERDICT_NEVER, "total", "0 nodes could take bundle 0; 4 of 4 nodes are too small" },
  { "never: the large nodes are in another pool", "v4 2x2x1 x4 pool=a; v6e 2x4 x1 pool=b", NULL, "bundle TPU=9", 1, NULL,
    QUOIT_VERDICT_NEVER, "total", "5 of 5 nodes are too small" },
};
// clang-format on

static QuoitRequest *
request_of (const Case *at)
{
  QuoitRequest *request;

  if (g_str_has_prefix (at->topology, "bundle "))
    {
      request = quoit_request_new ("new", NULL);
      ck_assert (quoit_request_add_bundles (request, at->topology + strlen ("bundle "), at->n, NULL));
    }
  else
    request = slices_request ("new", "v6e", at->topology, at->n);
  quoit_request_set_pool (request, at->pool);
  return request;
}

static void
use (QuoitLedger *ledger, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 3);
  g_autoptr (QuoitRequest) request = slices_request ("used", words[0], words[1], atoi (words[2]));
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);

  ck_assert_ptr_nonnull (group);
}

static void
check_report (const Case *at, const QuoitReport *report)
{
  g_autofree char *summary = quoit_report_dup_summary (report, "it");

  ck_assert_msg (quoit_report_get_verdict (report) == at->verdict, "%s: %s", at->name, summary);
  ck_assert_uint_gt (quoit_report_get_n_reasons (report), 0);
  ck_assert_msg (strcmp (quoit_constraint_get_name (quoit_report_get_reason_constraint (report, 0)), at->constraint)
                     == 0,
                 "%s: %s", at->name, summary);
  ck_assert_msg (strstr (summary, at->why) != NULL, "%s: expected '%s' in '%s'", at->name, at->why, summary);
}

START_TEST (the_main_reason_removed_the_last_candidates)
{
  const Case *at = &cases[_i];
  g_autoptr (QuoitLedger) ledger = ledger_with (at->fleet, now_ms);
  g_autoptr (QuoitRequest) request = request_of (at);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) explained = NULL, refused = NULL;

  if (at->used != NULL)
    use (ledger, at->used);
  snapshot = quoit_ledger_snapshot (ledger);
  explained = quoit_snapshot_explain (snapshot, request, NULL);
  check_report (at, explained);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, &refused, NULL));
  check_report (at, refused);
}
END_TEST

START_TEST (parts_name_what_removed_the_last_slices)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5e 8x8 x9 pool=a; v6e 8x8 x2 pool=b; v6e 2x2 x4 pool=c", now_ms);
  g_autoptr (QuoitRequest) large = slices_request ("new", "v6e", "16x16", 1),
                           many = slices_request ("new", "v6e", "4x4", 9);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) of_large = NULL, of_many = NULL;
  g_autofree char *summary = NULL;

  ck_assert (quoit_request_set_cut (large, QUOIT_CUT_ANY, NULL));
  ck_assert (quoit_request_set_cut (many, QUOIT_CUT_ANY, NULL));
  of_large = quoit_snapshot_explain (snapshot, large, NULL);
  ck_assert_int_eq (quoit_report_get_reason_constraint (of_large, 0), QUOIT_CONSTRAINT_TOPOLOGY);
  of_many = quoit_snapshot_explain (snapshot, many, NULL);
  summary = quoit_report_dup_summary (of_many, "it");
  ck_assert_int_eq (quoit_report_get_verdict (of_many), QUOIT_VERDICT_NEVER);
  ck_assert_ptr_nonnull (strstr (summary, "at most 8 of 9 slices, 1 short; the fleet has 8 such slices"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("reasons");
  TCase *tcase = tcase_create ("reasons");

  tcase_add_loop_test (tcase, the_main_reason_removed_the_last_candidates, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, parts_name_what_removed_the_last_slices);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
