/* SPDX-License-Identifier: Apache-2.0 */
/* Finds options: small sets of changes, each of which is enough to make the request fit. */
#include "placement/placement.h"

void
quoit_option_add_end_of (QuoitOption *option, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  gint64 until_ms = quoit_fleet_group_until (fleet, group);
  g_autofree char *label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);

  if (until_ms != 0)
    quoit_option_add_step (option, QUOIT_STEP_LEASE_ENDS, label, (guint64) until_ms);
  else
    quoit_option_add_step (option, *group->source == '\0' ? QUOIT_STEP_RELEASE : QUOIT_STEP_SOURCE_REMOVES, group->name,
                           group->id);
}

/* Adds options for other slices of the same generation. Enough of them must be free and satisfy the rules of the
 * request. */
static void
other_classes (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;
      gboolean same_shape = quoit_shape_equal (facts->shape, request->shape);
      QuoitRequest other = *request;
      QuoitCandidates candidates;
      QuoitPlan plan;
      gboolean fits;

      other.shape = facts->shape;
      other.chips_per_host = facts->chips_per_host;
      if (facts->generation != request->generation
          || (same_shape && facts->chips_per_host == quoit_request_chips_per_host (request))
          || !quoit_candidates_find (fleet, &other, &candidates, NULL))
        continue;
      quoit_plan_init (&plan);
      fits = quoit_best_choose (fleet, &candidates, quoit_request_least (request), &plan);
      quoit_plan_clear (&plan);
      quoit_candidates_clear (&candidates);
      if (!fits)
        continue;
      if (same_shape)
        quoit_option_add_step (quoit_report_add_option (report), QUOIT_STEP_OTHER_HOSTS, NULL, facts->chips_per_host);
      else
        {
          g_autofree char *shape = quoit_shape_format (facts->shape);
          guint32 asked = request->chips_per_host != 0 ? request->chips_per_host
                                                       : quoit_default_chips_per_host (facts->generation, facts->shape);

          quoit_option_add_step (quoit_report_add_option (report), QUOIT_STEP_OTHER_TOPOLOGY, shape,
                                 facts->chips_per_host == asked ? 0 : facts->chips_per_host);
        }
    }
}

static gint
by_steps (gconstpointer a, gconstpointer b)
{
  guint x = ((const QuoitOption *) a)->steps->len, y = ((const QuoitOption *) b)->steps->len;

  return (x > y) - (x < y);
}

void
quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  if (report->n_could > report->n_now)
    quoit_report_find_repairs (report, fleet, candidates);
  if (report->n_now > 0)
    quoit_option_add_step (quoit_report_add_option (report), QUOIT_STEP_FEWER_SLICES, NULL, report->n_now);
  other_classes (report, fleet, request);
  g_array_sort (report->options, by_steps);
}
