/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a request for slices, and chooses slices for it. */
#include "placement/constraint.h"
#include "placement/domains.h"
#include "placement/quota.h"
#include "placement/refusal.h"

gboolean
quoit_test_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                   GError **error)
{
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  quoit_domains_count (&candidates, fleet, request, &counts);
  quoit_candidates_clear (&candidates);
  if (fleet->quotas != NULL)
    {
      QuoitQuotaSlices admitted = quoit_quota_admit_slices (fleet, request, NULL);

      counts.n_free_now = MIN (counts.n_free_now, admitted.n_now);
      counts.n_possible = MIN (counts.n_possible, admitted.n_ever);
    }
  if (verdict != NULL)
    *verdict = quoit_verdict_of_counts (counts.n_free_now, counts.n_possible, quoit_request_min_slices (request));
  if (n_free != NULL)
    *n_free = counts.n_free_now;
  return TRUE;
}

gboolean
quoit_slices_fit (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitVerdict verdict;

  return quoit_test_slices (fleet, request, &verdict, NULL, NULL) && verdict == QUOIT_VERDICT_FITS;
}

void
quoit_fork_fleet_release (QuoitFleet *fork, const QuoitGroupData *group)
{
  quoit_fleet_remove_group (fork, group->name, group->id, QUOIT_END_RELEASED, fork->clock_ms, NULL);
  quoit_fleet_apply_promises (fork);
}

QuoitFleet *
quoit_fleet_without_group (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  QuoitFleet *without = quoit_fleet_fork (fleet);

  quoit_fork_fleet_release (without, group);
  return without;
}

/* Counts as if @group were released. */
static void
count_without (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
               const QuoitGroupData *group, QuoitCandidateCounts *counts)
{
  g_autoptr (QuoitFleet) without = NULL;

  if (quoit_candidates_count_without (candidates, fleet, request, group, counts))
    return;
  without = quoit_fleet_without_group (fleet, group);
  quoit_candidates_count (candidates, without, request, counts);
}

/* Adds that a quota does not admit the slices, if that decides. Placement alone would have @counts. */
static void
add_quota_reason (QuoitReport *report, const QuoitFleet *fleet, const QuoitCandidateCounts *counts,
                  const QuoitQuotaSlices *admitted)
{
  const guint32 n_wanted = report->n_wanted;
  const guint position = quoit_constraint_position (QUOIT_CONSTRAINT_QUOTA);

  if (report->verdict == QUOIT_VERDICT_NEVER && counts->n_possible >= n_wanted)
    quoit_report_add_detailed_reason (report, position, quoit_quota_describe_limit (fleet, admitted->ever_quota),
                                      counts->n_possible, admitted->n_ever);
  else if (report->verdict == QUOIT_VERDICT_NOT_NOW && admitted->n_now < n_wanted)
    quoit_report_add_detailed_reason (report, position, quoit_quota_describe (fleet, admitted->now_quota),
                                      counts->n_free_now >= n_wanted ? counts->n_free_now : counts->n_possible,
                                      admitted->n_now);
}

QuoitReport *
quoit_explain_without_options (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *group,
                               GError **error)
{
  guint32 before = fleet->layout->n_slices;
  g_autoptr (QuoitFleet) without = NULL;
  QuoitCandidateCounts counts, limited;
  QuoitCandidates candidates;
  QuoitQuotaSlices admitted = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT, G_MAXUINT };
  QuoitReport *report;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return NULL;
  if (group != NULL && quoit_request_has_domains (request))
    without = quoit_fleet_without_group (fleet, group);
  if (group != NULL && without == NULL)
    count_without (&candidates, fleet, request, group, &counts);
  else
    quoit_candidates_count (&candidates, without != NULL ? without : fleet, request, &counts);
  limited = counts;
  quoit_domains_limit (without != NULL ? without : fleet, request, &candidates, &limited);

  report = quoit_report_alloc (quoit_request_min_slices (request));
  report->n_matching = counts.n_matching;
  report->n_unmendable = counts.n_matching - counts.n_possible;
  if (fleet->quotas != NULL)
    admitted = quoit_quota_admit_slices (fleet, request, group);
  report->n_free_now = MIN (limited.n_free_now, admitted.n_now);
  report->n_possible = MIN (limited.n_possible, admitted.n_ever);
  report->verdict = quoit_verdict_of_counts (report->n_free_now, report->n_possible, report->n_wanted);
  for (guint c = 0; c < quoit_n_constraints; c++)
    {
      quoit_report_add_reason (report, request, c, before, before - counts.n_removed[c]);
      before -= counts.n_removed[c];
    }
  quoit_domains_add_reason (report, without != NULL ? without : fleet, request, &candidates, &counts);
  add_quota_reason (report, fleet, &limited, &admitted);
  quoit_report_put_main_first (report);
  quoit_candidates_clear (&candidates);
  return report;
}

QuoitReport *
quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  QuoitReport *report = quoit_explain_without_options (fleet, request, NULL, error);

  if (report != NULL)
    quoit_report_find_options_later (report, fleet, request);
  return report;
}

static inline gboolean
plan_candidates (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                 QuoitPlan *plan)
{
  if (quoit_request_has_domains (request) || request->near != NULL)
    return quoit_domains_plan (fleet, request, candidates, plan);
  return quoit_best_choose (fleet, candidates, request->n_slices, plan)
         || (request->min_slices != 0 && quoit_best_choose_all_free (fleet, candidates, request->min_slices, plan));
}

gboolean
quoit_plan_candidates (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                       QuoitPlan *plan)
{
  return plan_candidates (fleet, request, candidates, plan);
}

gboolean
quoit_plan_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan, QuoitRefusal *refusal,
                   GError **error)
{
  QuoitCandidates candidates;
  gboolean chosen;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  chosen = plan_candidates (fleet, request, &candidates, plan);
  quoit_candidates_clear (&candidates);
  return chosen || quoit_refusal_set (refusal, request);
}
