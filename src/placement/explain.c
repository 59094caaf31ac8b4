/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict, and what each constraint removed. */
#include "placement/refusal.h"

/* The present conditions that a slice passes: 8 (none but what is fixed) to 12 (all: it is free). */
static guint
present (const QuoitFleet *fleet, guint32 slice)
{
  const QuoitSliceStatus *status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice });

  if ((status->flags & QUOIT_SLICE_INTACT) == 0)
    return QUOIT_CONSTRAINT_INTACT - 1;
  if (status->n_draining > 0)
    return QUOIT_CONSTRAINT_DRAINING - 1;
  if (status->n_held > 0)
    return QUOIT_CONSTRAINT_HELD - 1;
  return status->n_used > 0 ? QUOIT_CONSTRAINT_EXTERNAL - 1 : QUOIT_CONSTRAINT_EXTERNAL;
}

/* Without constraints candidates are not counted in advance: the common request must not look at every slice. */
static void
count_class (const QuoitFleet *fleet, const QuoitRequest *request, guint32 *left)
{
  const QuoitLayout *layout = fleet->layout;

  left[0] = layout->n_slices;
  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;
      gboolean same_shape = quoit_shape_equal (facts->shape, request->shape);

      if (facts->generation != request->generation)
        continue;
      left[QUOIT_CONSTRAINT_ACCELERATOR] += layout->classes[c].n_slices;
      left[QUOIT_CONSTRAINT_TOPOLOGY] += same_shape ? layout->classes[c].n_slices : 0;
      if (same_shape && facts->chips_per_host == quoit_request_chips_per_host (request))
        for (guint i = QUOIT_CONSTRAINT_CHIPS_PER_HOST; i <= QUOIT_CONSTRAINT_EXCLUDED_SLICE; i++)
          left[i] += layout->classes[c].n_slices;
    }
}

static char *
detail_of (const QuoitRequest *request, QuoitConstraint constraint)
{
  switch (constraint)
    {
    case QUOIT_CONSTRAINT_ACCELERATOR:
      return g_strdup (quoit_generation_name (request->generation));
    case QUOIT_CONSTRAINT_TOPOLOGY:
      return quoit_shape_format (request->shape);
    case QUOIT_CONSTRAINT_CHIPS_PER_HOST:
      return g_strdup_printf ("%u chips", quoit_request_chips_per_host (request));
    case QUOIT_CONSTRAINT_POOL:
      return g_strdup (request->pool);
    case QUOIT_CONSTRAINT_ZONE:
      return g_strdup (request->zone);
    case QUOIT_CONSTRAINT_SELECTOR:
      {
        GString *text = g_string_new (NULL);

        for (guint i = 0; i < request->selectors->len; i++)
          g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", quoit_selector_key (request->selectors->pdata[i]),
                                  quoit_selector_value (request->selectors->pdata[i]));
        return g_string_free (text, FALSE);
      }
    default:
      return NULL;
    }
}

QuoitReport *
quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_autoptr (QuoitReport) report = NULL;
  QuoitCandidates candidates;
  guint32 left[QUOIT_N_CONSTRAINTS + 1] = { 0 };

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return NULL;

  report = quoit_report_alloc (quoit_request_least (request));
  if (candidates.unconstrained)
    count_class (fleet, request, left);
  else
    for (guint i = 0; i <= QUOIT_CONSTRAINT_EXCLUDED_SLICE; i++)
      left[i] = candidates.left[i];
  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    {
      guint passed;

      if (!quoit_candidates_have (&candidates, fleet, s))
        continue;
      passed = present (fleet, s);
      for (guint i = QUOIT_CONSTRAINT_INTACT; i <= passed; i++)
        left[i]++;
      report->n_could += quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { s });
    }
  report->n_such = left[QUOIT_CONSTRAINT_EXCLUDED_SLICE];
  report->n_now = left[QUOIT_N_CONSTRAINTS];
  report->verdict = report->n_now >= report->n_wanted     ? QUOIT_VERDICT_FITS
                    : report->n_could >= report->n_wanted ? QUOIT_VERDICT_NOT_NOW
                                                          : QUOIT_VERDICT_NEVER;
  for (guint i = 1; i <= QUOIT_N_CONSTRAINTS; i++)
    if (left[i] < left[i - 1])
      {
        g_autofree char *detail = detail_of (request, (QuoitConstraint) i);

        quoit_report_add_reason (report, (QuoitConstraint) i, left[i - 1], left[i], detail);
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
           || (request->least_slices != 0 && quoit_best_choose_most (fleet, &candidates, request->least_slices, plan));
  quoit_candidates_clear (&candidates);
  return chosen || quoit_refusal_set (refusal, request);
}
