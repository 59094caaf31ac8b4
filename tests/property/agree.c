/* SPDX-License-Identifier: Apache-2.0 */
/* What explain says about a request agrees with what reserve does: drawn states of a ledger, and requests with any
 * combination of constraints, and with alternatives. The verdict, the numbers, quoit_snapshot_test() and the start
 * agree with a reservation on a fork; each option makes the request fit, and each of its steps is necessary; and
 * "never" means that the request does not fit even if every group is released, every node is alive, and every window is
 * removed.
 *
 * QUOIT_TEST_SCALE=25 checks 100,000 pairs of a state and a request. */
#include "agree-pair.h"
#include "../sanitized.h"

enum { N_STATES = IS_SANITIZED ? 40 : 200, N_REQUESTS = 20 };

gboolean
agree_has_bundles (const DrawnRequest *drawn)
{
  for (guint i = 0; i < drawn->n_alone; i++)
    if (drawn->alone[i].has_bundles)
      return TRUE;
  return FALSE;
}

gboolean
agree_has_parts (const DrawnRequest *drawn)
{
  for (guint i = 0; i < drawn->n_alone; i++)
    if (drawn->alone[i].has_cut)
      return TRUE;
  return FALSE;
}

static char *
summarize (const QuoitReport *report)
{
  return quoit_report_dup_summary (report, "the request");
}

/* --- the whole fleet, empty and alive --- */

static void
end_groups (const Pair *pair, QuoitFork *fork)
{
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (pair->present); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (pair->present, g);

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
        quoit_fork_release (fork, quoit_group_get_handle (group), pair->state->now_ms, NULL);
    }
  for (uint32_t w = 0; w < quoit_snapshot_get_n_windows (pair->present); w++)
    quoit_fork_remove_window (fork, quoit_snapshot_get_window_name (pair->present, w), pair->state->now_ms, NULL);
}

void
agree_sync_fleet (const Pair *pair, const DrawnState *fleet, QuoitFork *fork)
{
  g_autofree char *text = drawn_fleet_text (fleet);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitImport) import = quoit_fork_sync (fork, input, pair->state->now_ms, &error);

  expect (pair, import != NULL, "sync: %s", error_text (error));
}

/* The alternative by itself, without its preference if the group that it is to be near exists at present, and ends in
 * the ideal fleet. The preference never decides whether a request fits. */
static QuoitRequest *
without_near (const Pair *pair, const DrawnAlternative *alternative)
{
  QuoitRequest *request = quoit_request_copy (alternative->request, "ideal", NULL);
  g_autoptr (QuoitGroup) group
      = *alternative->near == '\0' ? NULL : quoit_snapshot_lookup_group (pair->present, alternative->near, NULL);

  if (group != NULL)
    quoit_request_set_near (request, NULL, NULL);
  return request;
}

static gboolean
fits_ideal_fleet (const Pair *pair, const DrawnAlternative *alternative, char **why)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->present);
  g_autoptr (QuoitRequest) request = without_near (pair, alternative);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;
  DrawnState ideal = *pair->state;

  end_groups (pair, fork);
  for (guint p = 0; p < ideal.n_pools; p++)
    for (guint s = 0; s < ideal.pools[p].n_slices; s++)
      memset (ideal.pools[p].mark[s], '.', MOST_HOSTS);
  agree_sync_fleet (pair, &ideal, fork);
  for (uint32_t n = 0; n < quoit_snapshot_get_n_nodes (pair->present); n++)
    quoit_fork_set_node_state (fork, quoit_snapshot_get_node_name (pair->present, n), QUOIT_NODE_ALIVE,
                               pair->state->now_ms, NULL);
  group = quoit_fork_reserve (fork, request, pair->state->now_ms, NULL, &error);
  *why = g_strdup (error_text (error));
  return group != NULL;
}

/* --- numbers --- */

static gboolean
fits_with (const Pair *pair, guint n_slices, char **why)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->present);
  g_autoptr (QuoitRequest) request = quoit_request_copy (pair->alone->request, "number", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;

  require (quoit_request_set_slices (request, n_slices, NULL), "%u slices", n_slices);
  group = quoit_fork_reserve (fork, request, pair->state->now_ms, NULL, &error);
  *why = g_strdup (error_text (error));
  return group != NULL;
}

static void
check_slices (const Pair *pair, const QuoitReport *report, const QuoitGroup *group)
{
  /* A request that has an alternative for bundles cannot be tested as a whole. */
  const QuoitRequest *tested = agree_has_bundles (pair->drawn) ? pair->alone->request : pair->request;
  QuoitVerdict verdict = QUOIT_VERDICT_FITS;
  uint32_t n_tested = 0, n_free = quoit_report_get_n_free_now (report);
  gboolean moves_ahead;
  g_autoptr (GError) error = NULL;
  g_autofree char *summary = summarize (report), *why = NULL, *over = NULL;

  expect (pair, quoit_snapshot_test (pair->present, tested, &verdict, &n_tested, &error), "%s", error_text (error));
  expect (pair, verdict == quoit_report_get_verdict (report), "test: %d, %s", (int) verdict, summary);
  expect (pair, n_tested == n_free, "test: %u, report: %u, %s", n_tested, n_free, summary);
  /* Not exact: if a request fits because reservations ahead get other slices, its report counts what is free after
   * that. The search for other slices is not complete, so a request for all of these slices can be refused. */
  moves_ahead = pair->state->has_ahead && verdict == QUOIT_VERDICT_FITS;
  expect (pair, n_free == 0 || moves_ahead || fits_with (pair, n_free, &why), "%u are free, %s: %s", n_free, summary,
          why);
  /* Promised slices count as allocated, but a smaller request can get them if the reservation gets others. */
  expect (pair, pair->state->has_ahead || !fits_with (pair, n_free + 1, &over), "%u are free, %s", n_free, summary);
  if (group != NULL)
    expect (pair, quoit_group_get_n_slices (group) <= n_free, "%u, %s", quoit_group_get_n_slices (group), summary);
}

static void
check_reasons (const Pair *pair, const QuoitReport *report)
{
  for (uint32_t r = 0; r < quoit_report_get_n_reasons (report); r++)
    {
      g_autofree char *text = quoit_report_dup_reason_text (report, r);

      expect (pair, quoit_report_get_reason_after (report, r) < quoit_report_get_reason_before (report, r),
              "reason '%s' removes nothing", text);
    }
}

/* --- alternatives --- */

static char *
numbers_text (const QuoitReport *report)
{
  g_autofree char *summary = summarize (report);

  return g_strdup_printf ("verdict %d, %u wanted, %u free, %u possible, %u reasons, %u options, %s",
                          (int) quoit_report_get_verdict (report), quoit_report_get_n_wanted (report),
                          quoit_report_get_n_free_now (report), quoit_report_get_n_possible (report),
                          quoit_report_get_n_reasons (report), quoit_report_get_n_options (report), summary);
}

/* The report is about the first alternative that fits, else about the first that fits later, else about the request
 * itself; and each alternative has the report that it has by itself. */
static void
check_alternatives (const Pair *pair, QuoitReport *report, const QuoitGroup *group)
{
  guint n = pair->drawn->n_alone, best = 0;
  QuoitVerdict best_verdict = QUOIT_VERDICT_NEVER;

  expect (pair, quoit_report_get_n_alternatives (report) == n, "%u", quoit_report_get_n_alternatives (report));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) alone_error = NULL, error = NULL;
      g_autoptr (QuoitReport) alone
          = quoit_snapshot_explain (pair->present, pair->drawn->alone[i].request, &alone_error);
      g_autoptr (QuoitReport) other = quoit_report_dup_alternative (report, i, &error);
      g_autofree char *other_text = NULL, *alone_text = NULL;

      if (alone == NULL)
        {
          expect (pair, other == NULL && error->code == alone_error->code, "alternative %u: %s, alone: %s", i,
                  error_text (error), alone_error->message);
          continue;
        }
      expect (pair, other != NULL, "alternative %u: %s", i, error_text (error));
      other_text = numbers_text (other);
      alone_text = numbers_text (alone);
      expect (pair, strcmp (other_text, alone_text) == 0, "alternative %u: %s; alone: %s", i, other_text, alone_text);
      if (quoit_report_get_verdict (alone) < best_verdict)
        {
          best = i;
          best_verdict = quoit_report_get_verdict (alone);
        }
    }
  expect (pair, quoit_report_get_alternative (report) == best, "%u, expected %u", quoit_report_get_alternative (report),
          best);
  expect (pair, group == NULL || quoit_group_get_alternative (group) == best, "the group has another alternative");
  pair->count->n_alternatives += n > 1;
  pair->count->n_others += best > 0;
}

/* --- a pair --- */

static void
count_report (const Pair *pair, QuoitVerdict verdict)
{
  Count *count = pair->count;

  count->n_fits += verdict == QUOIT_VERDICT_FITS;
  count->n_not_now += verdict == QUOIT_VERDICT_NOT_NOW;
  count->n_never += verdict == QUOIT_VERDICT_NEVER;
  count->n_bundles += pair->alone->has_bundles;
  count->n_domains += pair->alone->has_domains;
  count->n_parts += pair->alone->has_cut;
  count->n_cubes += pair->alone->has_cubes;
  count->n_near += *pair->alone->near != '\0';
}

/* The verdict of a request that does not fit. */
static void
check_verdict (const Pair *pair, QuoitVerdict verdict, const char *summary)
{
  for (guint i = 0; i < pair->drawn->n_alone; i++)
    {
      const DrawnAlternative *alternative = &pair->drawn->alone[i];
      g_autofree char *why = NULL;
      gboolean fits_ideal;

      if (verdict == QUOIT_VERDICT_NOT_NOW && alternative != pair->alone)
        continue;
      fits_ideal = fits_ideal_fleet (pair, alternative, &why);
      /* A quota for a class never says "never" to bundles or parts, because they could be placed on another class.
       * Policy `ray` is greedy, and can fail on a fleet on which policy `best` succeeds. */
      expect (pair,
              fits_ideal == (verdict == QUOIT_VERDICT_NOT_NOW)
                  || ((alternative->has_bundles || alternative->has_cut) && !fits_ideal
                      && (quoit_snapshot_get_n_quotas (pair->present) > 0 || strstr (why, "Ray answers") != NULL)),
              "%s; in the ideal fleet, alternative %u: %s", summary, i, why);
    }
}

static void
check_pair (Pair *pair)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->last);
  g_autoptr (GError) error = NULL, unclear = NULL;
  g_autoptr (QuoitReport) refusal = NULL;
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, pair->request, pair->state->now_ms, &refusal, &error);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (pair->present, pair->request, &unclear);
  g_autofree char *summary = report == NULL ? NULL : summarize (report);
  QuoitVerdict verdict;

  if (report == NULL)
    {
      expect (pair, group == NULL && error->code == unclear->code, "reserve: %s, explain: %s", error_text (error),
              unclear->message);
      pair->count->n_refused++;
      return;
    }
  check_alternatives (pair, report, group);
  verdict = quoit_report_get_verdict (report);
  pair->alone = &pair->drawn->alone[quoit_report_get_alternative (report)];
  expect (pair, (quoit_report_get_bundle (report) >= 0) == pair->alone->has_bundles, "%s", summary);
  expect (pair, group != NULL ? verdict == QUOIT_VERDICT_FITS : error->code == (int) verdict,
          "reserve: %s, explain: %s", error_text (error), summary);
  if (refusal != NULL)
    {
      g_autofree char *refusal_text = numbers_text (refusal), *report_text = numbers_text (report);

      expect (pair, strcmp (refusal_text, report_text) == 0, "refusal: %s; explain: %s", refusal_text, report_text);
    }
  count_report (pair, verdict);
  if (!pair->alone->has_bundles)
    check_slices (pair, report, group);
  check_reasons (pair, report);
  agree_check_start (pair, verdict);
  if (verdict == QUOIT_VERDICT_NOT_NOW && pair->number % 4 == 0)
    agree_check_start_by_scan (pair, summary);
  if (verdict == QUOIT_VERDICT_NOT_NOW && pair->number % 4 == 1)
    agree_check_preemption (pair);
  if (verdict != QUOIT_VERDICT_FITS)
    {
      check_verdict (pair, verdict, summary);
      agree_check_options (pair, report);
    }
}

static void
check_state (guint32 seed, Count *count)
{
  DrawnState state;
  g_autoptr (QuoitSnapshot) last = NULL, present = NULL;

  drawn_state_init (&state, seed);
  last = quoit_ledger_snapshot (state.ledger);
  present = quoit_snapshot_as_of (last, state.now_ms, NULL);
  for (guint i = 0; i < N_REQUESTS; i++)
    {
      g_auto (DrawnRequest) drawn = { 0 };

      draw_request (&state, "drawn", draw_lease_ms (&state), &drawn);
      check_pair (&(Pair) { &state, last, present, &drawn, drawn.request, NULL, i, count });
    }
  require_consistent (state.ledger, "after the requests");
  drawn_state_clear (&state);
}

/* Each comparison has been made, and often. */
static void
check_counts (const Count *count, guint n_states)
{
  printf ("%u fit, %u not now, %u never, %u refused; %u options with %u steps, %u of them later\n", count->n_fits,
          count->n_not_now, count->n_never, count->n_refused, count->n_options, count->n_steps, count->n_later_options);
  printf ("%u on bundles, %u on parts, %u on cubes, %u with alternatives, %u on another alternative, %u on domains, %u "
          "near a "
          "group\n",
          count->n_bundles, count->n_parts, count->n_cubes, count->n_alternatives, count->n_others, count->n_domains,
          count->n_near);
  printf ("%u later starts, %u preemptions, %u of them proven to be the cheapest\n", count->n_starts,
          count->n_preemptions, count->n_cheapest);
  require (count->n_fits > n_states && count->n_not_now > n_states && count->n_never > n_states / 2
               && count->n_refused > n_states / 8,
           "few of a verdict");
  require (count->n_bundles > n_states && count->n_parts > n_states / 4 && count->n_cubes > n_states / 4
               && count->n_alternatives > n_states && count->n_others > n_states / 4 && count->n_domains > n_states
               && count->n_near > n_states / 4,
           "few reports of a kind");
  require (count->n_options > n_states && count->n_steps > count->n_options && count->n_later_options > n_states / 8
               && count->n_starts > n_states / 8 && count->n_preemptions > n_states / 8,
           "few comparisons");
}

int
main (void)
{
  guint32 first = random_seed ("agree", 1);
  guint n_states = scaled (N_STATES);
  Count count = { 0 };

  for (guint i = 0; i < n_states; i++)
    check_state (first + i, &count);
  check_counts (&count, n_states);
  printf ("%u passed, 0 failed\n", n_states * N_REQUESTS);
  return EXIT_SUCCESS;
}
