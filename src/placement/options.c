/* SPDX-License-Identifier: Apache-2.0 */
/* Finds options: small sets of changes, each of which is enough to make the request fit. */
#include "placement/placement.h"

void
quoit_option_add_group_end (QuoitOption *option, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autofree char *handle = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
  QuoitStep step = { .group = handle, .until_ms = quoit_fleet_group_until_ms (fleet, group) };

  if (group->kind == QUOIT_RECORD_WINDOW)
    {
      step.kind = QUOIT_STEP_WINDOW_ENDS;
      step.group = (char *) quoit_window_record_window (group);
    }
  else if (step.until_ms != 0)
    step.kind = QUOIT_STEP_LEASE_ENDS;
  else
    step.kind = *group->source == '\0' ? QUOIT_STEP_RELEASE : QUOIT_STEP_SOURCE_REMOVES;
  quoit_option_add_step (option, &step);
}

/* Adds an option of one step. */
static void
add_single (QuoitReport *report, const QuoitStep *step)
{
  quoit_option_add_step (quoit_report_add_option (report), step);
}

static void
add_other_class (QuoitReport *report, const QuoitRequest *request, const QuoitSliceFacts *facts)
{
  g_autofree char *topology = quoit_shape_format (facts->shape);
  guint32 wanted = request->chips_per_host != 0 ? request->chips_per_host
                                                : quoit_default_chips_per_host (facts->generation, facts->shape);
  QuoitStep step = { .kind = QUOIT_STEP_OTHER_TOPOLOGY, .topology = topology };

  if (quoit_shape_equal (facts->shape, request->shape))
    step = (QuoitStep) { .kind = QUOIT_STEP_OTHER_HOSTS, .chips_per_host = facts->chips_per_host };
  else if (facts->chips_per_host != wanted)
    step.chips_per_host = facts->chips_per_host;
  add_single (report, &step);
}

/* Adds options for other slices of the same generation. Enough of them must be free and satisfy the rules of the
 * request. */
static void
add_other_classes (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;
      gboolean same_shape = quoit_shape_equal (facts->shape, request->shape);
      QuoitRequest other = *request;
      QuoitVerdict verdict;

      other.shape = facts->shape;
      other.chips_per_host = facts->chips_per_host;
      if (facts->generation != request->generation
          || (same_shape && facts->chips_per_host == quoit_request_chips_per_host (request))
          || !quoit_test_slices (fleet, &other, &verdict, NULL, NULL))
        continue;
      if (verdict == QUOIT_VERDICT_FITS)
        add_other_class (report, request, facts);
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
  if (report->n_possible > report->n_free_now)
    quoit_report_find_repairs (report, fleet, candidates);
  if (report->n_free_now > 0)
    add_single (report, &(QuoitStep) { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = report->n_free_now });
  add_other_classes (report, fleet, request);
  g_array_sort (report->options, by_steps);
}
