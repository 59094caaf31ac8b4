/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a request for slices, and chooses slices for it. */
#include "placement/constraint.h"
#include "placement/refusal.h"

QuoitReport *
quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_autoptr (QuoitReport) report = NULL;
  QuoitCandidates candidates;
  guint32 n_removed[QUOIT_MAX_CONSTRAINTS], before = fleet->layout->n_slices;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return NULL;

  report = quoit_report_alloc (quoit_request_min_slices (request));
  quoit_candidates_count_removed (&candidates, fleet, request, n_removed);
  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    {
      guint position;

      if (!quoit_candidates_contain (&candidates, fleet, s))
        continue;
      report->n_matching++;
      report->n_could += quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { s });
      position = quoit_constraint_first_failed_by_status (quoit_fleet_slice_status (fleet, (QuoitSliceId) { s }));
      if (position == QUOIT_NO_CONSTRAINT)
        report->n_now++;
      else
        n_removed[position]++;
    }
  report->verdict = report->n_now >= report->n_wanted     ? QUOIT_VERDICT_FITS
                    : report->n_could >= report->n_wanted ? QUOIT_VERDICT_NOT_NOW
                                                          : QUOIT_VERDICT_NEVER;
  for (guint c = 0; c < quoit_n_constraints; c++)
    {
      quoit_report_add_reason (report, request, c, before, before - n_removed[c]);
      before -= n_removed[c];
    }
  if (report->verdict != QUOIT_VERDICT_FITS)
    quoit_report_find_options (report, fleet, request, &candidates);
  quoit_candidates_clear (&candidates);
  return g_steal_pointer (&report);
}

gboolean
quoit_plan_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan, QuoitRefusal *refusal,
                   GError **error)
{
  QuoitCandidates candidates;
  gboolean chosen;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  chosen = quoit_best_choose (fleet, &candidates, request->n_slices, plan)
           || (request->min_slices != 0 && quoit_best_choose_all_free (fleet, &candidates, request->min_slices, plan));
  quoit_candidates_clear (&candidates);
  return chosen || quoit_refusal_set (refusal, request);
}
