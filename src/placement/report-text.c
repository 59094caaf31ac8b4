/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a report: its reasons, its options, and its verdict. */
#include "placement/report.h"

#include "base/text.h"
#include "base/time.h"
#include "fleet/ahead.h"
#include "placement/constraint.h"
#include "placement/orders.h"
#include "placement/placement.h"

static void
append_reason (GString *text, const QuoitReport *report, guint index)
{
  const QuoitReason *reason = &g_array_index (report->reasons, QuoitReason, index);
  const QuoitConstraintRow *row = &quoit_constraints[quoit_constraint_position (reason->constraint)];
  guint32 removed = reason->before - reason->after;

  quoit_text_append_number (text, removed);
  g_string_append (text, " of ");
  quoit_text_append_count (text, reason->before, report->is_for_bundles ? "node" : "slice");
  g_string_append (text, removed == 1 ? " is " : " are ");
  g_string_append (text, report->is_for_bundles ? row->nodes : row->slices);
  if (reason->detail == NULL)
    return;
  g_string_append (text, " '");
  g_string_append (text, reason->detail);
  g_string_append_c (text, '\'');
}

char *
quoit_report_reason_text (const QuoitReport *report, guint index)
{
  GString *text = g_string_new (NULL);

  append_reason (text, report, index);
  return g_string_free (text, FALSE);
}

static void
append_wait (GString *text, const QuoitStep *step)
{
  g_autofree char *until = quoit_time_format (step->until_ms);

  if (step->kind == QUOIT_STEP_EXPECTED_END)
    g_string_append_printf (text, "wait until %s, when %s is expected to end", until, step->group);
  else
    /* A caller can renew a lease. Nothing moves the end of a reservation ahead. */
    g_string_append_printf (text, "wait until %s, when the lease of %s ends%s", until, step->group,
                            step->record != NULL && quoit_group_is_ahead (step->record) ? "" : " unless it is renewed");
}

static void
append_window (GString *text, const QuoitStep *step)
{
  g_autofree char *until = quoit_time_format (step->until_ms);

  g_string_append_printf (text, "wait until %s, when window %s ends", until, step->group);
}

static void
append_step (GString *text, const QuoitStep *step)
{
  switch (step->kind)
    {
    case QUOIT_STEP_NODE_ALIVE:
      g_string_append_printf (text, "node %s alive again", step->node);
      break;
    case QUOIT_STEP_UNDRAIN:
      g_string_append_printf (text, "undrain %s", step->node);
      break;
    case QUOIT_STEP_RELEASE:
      g_string_append_printf (text, "release %s", step->group);
      break;
    case QUOIT_STEP_LEASE_ENDS:
    case QUOIT_STEP_EXPECTED_END:
      append_wait (text, step);
      break;
    case QUOIT_STEP_WINDOW_ENDS:
      append_window (text, step);
      break;
    case QUOIT_STEP_SOURCE_REMOVES:
      g_string_append_printf (text, "remove %s at its source", step->group);
      break;
    case QUOIT_STEP_EXTERNAL_ENDS:
      g_string_append_printf (text, "the external use of %s ends", step->node);
      break;
    case QUOIT_STEP_FEWER_SLICES:
      g_string_append_printf (text, "ask for %u slice%s", step->n_slices, step->n_slices == 1 ? "" : "s");
      break;
    case QUOIT_STEP_SHRINK:
      g_string_append_printf (text, "shrink %s to %u slice%s", step->group, step->n_slices,
                              step->n_slices == 1 ? "" : "s");
      break;
    case QUOIT_STEP_OTHER_TOPOLOGY:
      g_string_append_printf (text, "ask for topology %s", step->topology);
      if (step->chips_per_host != 0)
        g_string_append_printf (text, " on hosts of %u chips", step->chips_per_host);
      break;
    case QUOIT_STEP_OTHER_HOSTS:
      g_string_append_printf (text, "ask for hosts of %u chips", step->chips_per_host);
      break;
    case QUOIT_STEP_CUT:
      g_string_append (text, "ask for parts of larger slices: cut any");
      break;
    case QUOIT_STEP_CUT_PARTITION:
      g_string_append (text, "ask for parts of larger slices: cut partition");
      break;
    case QUOIT_STEP_JOIN_CUBES:
      g_string_append (text, "ask for slices of cubes: cubes any");
      break;
    }
}

/* The text of an option is for people. Its steps have all of them as data. */
enum { MAX_OPTION_BYTES = 2000 };

char *
quoit_report_option_text (const QuoitReport *report, guint index)
{
  const GArray *steps = g_array_index (quoit_report_options (report), QuoitOption, index).steps;
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < steps->len; i++)
    {
      gsize before = text->len;

      if (i > 0)
        g_string_append (text, i + 1 < steps->len ? ", " : " and ");
      append_step (text, &g_array_index (steps, QuoitStep, i));
      if (i > 0 && text->len > MAX_OPTION_BYTES)
        {
          g_string_truncate (text, before);
          g_string_append_printf (text, " and %u more step%s", steps->len - i, steps->len - i == 1 ? "" : "s");
          break;
        }
    }
  return g_string_free (text, FALSE);
}

/* --- the verdict --- */

static void
append_verdict_on_slices (GString *text, const QuoitReport *report)
{
  gboolean never = report->verdict == QUOIT_VERDICT_NEVER;
  guint32 n_available = never ? report->n_possible : report->n_free_now;

  if (report->verdict == QUOIT_VERDICT_FITS)
    {
      g_string_append (text, ": fits, ");
      quoit_text_append_count (text, report->n_free_now, "slice");
      g_string_append (text, report->n_free_now == 1 ? " is free" : " are free");
      return;
    }
  g_string_append (text, never ? ": never, at most " : ": not now, ");
  quoit_text_append_number (text, n_available);
  g_string_append (text, " of ");
  quoit_text_append_count (text, report->n_wanted, "slice");
  g_string_append (text, never ? ", " : " free, ");
  quoit_text_append_number (text, report->n_wanted - n_available);
  g_string_append (text, " short");
}

static void
append_verdict_on_bundles (GString *text, const QuoitReport *report)
{
  gboolean never = report->verdict == QUOIT_VERDICT_NEVER;
  guint32 n_available = never ? report->n_possible : report->n_free_now;

  if (report->verdict == QUOIT_VERDICT_FITS)
    g_string_append (text, ": fits");
  else
    g_string_append_printf (text, ": %s%s, %u node%s %s bundle %u", never ? "never" : "not now",
                            report->is_unproven ? ", not proven" : "", n_available, n_available == 1 ? "" : "s",
                            never ? "could take" : "can take", report->bundle);
}

static void
append_ray (GString *text, const QuoitReport *report)
{
  static const char *const answers[] = { [QUOIT_RAY_ANSWER_SUCCESS] = "place it",
                                         [QUOIT_RAY_ANSWER_FAILED] = "answer FAILED",
                                         [QUOIT_RAY_ANSWER_INFEASIBLE] = "answer INFEASIBLE" };
  gboolean fits = report->verdict == QUOIT_VERDICT_FITS;

  /* Ray's answer is mentioned only if it differs from the verdict. */
  if (report->ray_answer != QUOIT_RAY_ANSWER_NONE && fits != (report->ray_answer == QUOIT_RAY_ANSWER_SUCCESS))
    g_string_append_printf (text, "; Ray %s %s",
                            report->ray_varies && report->verdict == QUOIT_VERDICT_FITS ? "may" : "would",
                            answers[report->ray_answer]);
}

char *
quoit_report_message (const QuoitReport *report, const char *what)
{
  GString *text;

  if (report->holder != NULL)
    return g_strdup_printf ("%u slices are free only if group '%s' gives up those that it has%s", report->n_wanted,
                            report->holder, report->options->len > 0 ? ": release it, and reserve again" : "");
  text = g_string_new (what);
  if (report->is_for_bundles)
    append_verdict_on_bundles (text, report);
  else
    append_verdict_on_slices (text, report);
  if (report->verdict == QUOIT_VERDICT_NEVER && report->n_matching > 0 && !report->is_for_bundles
      && quoit_report_lacks_slices (report))
    {
      g_string_append (text, "; the fleet has ");
      quoit_text_append_count (text, report->n_matching, "such slice");
    }
  else if (report->verdict != QUOIT_VERDICT_FITS && report->reasons->len > 0)
    {
      g_string_append (text, "; ");
      append_reason (text, report, 0);
    }
  append_ray (text, report);
  return g_string_free (text, FALSE);
}

char *
quoit_report_summary (const QuoitReport *report, const char *what)
{
  g_autofree char *message = NULL, *option = NULL;

  if (report->verdict == QUOIT_VERDICT_FITS || quoit_report_options (report)->len == 0)
    return quoit_report_message (report, what);
  message = quoit_report_message (report, what);
  option = quoit_report_option_text (report, 0);
  return g_strconcat (message, "; would help: ", option, NULL);
}
