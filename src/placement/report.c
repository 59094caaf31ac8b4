/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/report.h"

#include "base/time.h"

static void
step_clear (gpointer data)
{
  g_free (((QuoitStep *) data)->name);
}

static void
option_clear (gpointer data)
{
  g_array_unref (((QuoitOption *) data)->steps);
}

static void
reason_clear (gpointer data)
{
  g_free (((QuoitReason *) data)->detail);
}

static void
miss_clear (gpointer data)
{
  g_free (((QuoitMiss *) data)->node);
  g_free (((QuoitMiss *) data)->resource);
}

QuoitReport *
quoit_report_alloc (guint32 n_wanted)
{
  QuoitReport *report = g_new0 (QuoitReport, 1);

  g_atomic_ref_count_init (&report->refs);
  report->n_wanted = n_wanted;
  report->reasons = g_array_new (FALSE, TRUE, sizeof (QuoitReason));
  g_array_set_clear_func (report->reasons, reason_clear);
  report->options = g_array_new (FALSE, TRUE, sizeof (QuoitOption));
  g_array_set_clear_func (report->options, option_clear);
  report->misses = g_array_new (FALSE, TRUE, sizeof (QuoitMiss));
  g_array_set_clear_func (report->misses, miss_clear);
  return report;
}

QuoitReport *
quoit_report_ref (QuoitReport *report)
{
  g_atomic_ref_count_inc (&report->refs);
  return report;
}

void
quoit_report_unref (QuoitReport *report)
{
  if (report == NULL || !g_atomic_ref_count_dec (&report->refs))
    return;
  g_array_unref (report->reasons);
  g_array_unref (report->options);
  g_array_unref (report->misses);
  g_free (report);
}

/* Whether it may be another tomorrow, without another request. */
static gboolean
may_change (QuoitConstraint constraint)
{
  switch (constraint)
    {
    case QUOIT_CONSTRAINT_INTACT:
    case QUOIT_CONSTRAINT_DRAINING:
    case QUOIT_CONSTRAINT_HELD:
    case QUOIT_CONSTRAINT_EXTERNAL:
    case QUOIT_CONSTRAINT_ALIVE:
    case QUOIT_CONSTRAINT_CHIPS:
    case QUOIT_CONSTRAINT_STRATEGY:
      return TRUE;
    default:
      return FALSE;
    }
}

/* What stands between the request and a "yes" comes first: where each part of it could be had by itself, that all of it
 * cannot. Not now: what may change, before what the request fixes. Never: what the request limits itself to, then what
 * is broken for good, then what there is; who holds what is no cause. */
static guint
rank_of (const QuoitReport *report, QuoitConstraint constraint)
{
  if (constraint == QUOIT_CONSTRAINT_STRATEGY)
    return 0;
  if (report->verdict != QUOIT_VERDICT_NEVER)
    return may_change (constraint) ? 1 : 2;
  switch (constraint)
    {
    case QUOIT_CONSTRAINT_INTACT:
      return 2;
    case QUOIT_CONSTRAINT_ACCELERATOR:
    case QUOIT_CONSTRAINT_TOPOLOGY:
    case QUOIT_CONSTRAINT_CHIPS_PER_HOST:
    case QUOIT_CONSTRAINT_TOTAL:
      return 3;
    default:
      return may_change (constraint) ? 4 : 1;
    }
}

static gboolean
dominates (const QuoitReport *report, const QuoitReason *a, const QuoitReason *b)
{
  guint x = rank_of (report, a->constraint), y = rank_of (report, b->constraint);

  return x != y ? x < y : a->before - a->after > b->before - b->after;
}

void
quoit_report_add_miss (QuoitReport *report, const QuoitMiss *miss)
{
  g_array_append_val (report->misses, *miss);
}

void
quoit_report_add_reason (QuoitReport *report, QuoitConstraint constraint, guint32 before, guint32 after,
                         const char *detail)
{
  QuoitReason reason = { constraint, before, after, g_strdup (detail) };
  guint at = report->reasons->len;

  while (at > 0 && dominates (report, &reason, &g_array_index (report->reasons, QuoitReason, at - 1)))
    at--;
  g_array_insert_val (report->reasons, at, reason);
}

QuoitOption *
quoit_report_add_option (QuoitReport *report)
{
  QuoitOption option = { g_array_new (FALSE, TRUE, sizeof (QuoitStep)) };

  g_array_set_clear_func (option.steps, step_clear);
  g_array_append_val (report->options, option);
  return &g_array_index (report->options, QuoitOption, report->options->len - 1);
}

void
quoit_option_add_step (QuoitOption *option, QuoitStepKind kind, const char *name, guint64 number)
{
  QuoitStep step = { kind, number, g_strdup (name) };

  g_array_append_val (option->steps, step);
}

/* What is said of slices, and of nodes where a bundle was to be placed. NULL: it is not said of them. */
static const struct {
  const char *slices, *nodes;
} constraint_texts[] = {
  [QUOIT_CONSTRAINT_ACCELERATOR] = { "of another accelerator than", NULL },
  [QUOIT_CONSTRAINT_TOPOLOGY] = { "of another topology than", NULL },
  [QUOIT_CONSTRAINT_CHIPS_PER_HOST] = { "on hosts of another size than", NULL },
  [QUOIT_CONSTRAINT_POOL] = { "outside pool", "outside pool" },
  [QUOIT_CONSTRAINT_ZONE] = { "outside zone", "outside zone" },
  [QUOIT_CONSTRAINT_SELECTOR] = { "not selected by", "not selected by" },
  [QUOIT_CONSTRAINT_NAMED_SLICE] = { "not among the named slices", "in none of the named slices" },
  [QUOIT_CONSTRAINT_EXCLUDED_SLICE] = { "excluded by name", "in an excluded slice" },
  [QUOIT_CONSTRAINT_INTACT] = { "degraded: a host is missing or dead, or hosts contradict each other", NULL },
  [QUOIT_CONSTRAINT_DRAINING] = { "draining", "draining" },
  [QUOIT_CONSTRAINT_HELD] = { "held by groups", "short of what groups hold there, for" },
  [QUOIT_CONSTRAINT_EXTERNAL]
  = { "used by something that is no group", "short of what something that is no group uses there, for" },
  [QUOIT_CONSTRAINT_TOPOLOGY_LABEL] = { NULL, "without a value of label" },
  [QUOIT_CONSTRAINT_TOTAL] = { NULL, "too small, even empty, for" },
  [QUOIT_CONSTRAINT_ALIVE] = { NULL, "dead" },
  [QUOIT_CONSTRAINT_CHIPS] = { NULL, "short of chips: what is left is parts of several, for" },
  [QUOIT_CONSTRAINT_STRATEGY] = { NULL, "not enough for all together:" },
};

char *
quoit_report_reason_text (const QuoitReport *report, guint index)
{
  const QuoitReason *reason = &g_array_index (report->reasons, QuoitReason, index);
  guint32 removed = reason->before - reason->after;

  return g_strdup_printf ("%u of %u %s %s %s%s%s%s", removed, reason->before, report->of_bundles ? "nodes" : "slices",
                          removed == 1 ? "is" : "are",
                          report->of_bundles ? constraint_texts[reason->constraint].nodes
                                             : constraint_texts[reason->constraint].slices,
                          reason->detail == NULL ? "" : " '", reason->detail == NULL ? "" : reason->detail,
                          reason->detail == NULL ? "" : "'");
}

static void
append_wait (GString *text, const QuoitStep *step)
{
  g_autofree char *until = quoit_time_format ((gint64) step->number);

  g_string_append_printf (text, "wait until %s, when the lease of %s ends", until, step->name);
}

static void
append_step (GString *text, const QuoitStep *step)
{
  switch (step->kind)
    {
    case QUOIT_STEP_NODE_BACK:
      g_string_append_printf (text, "node %s back alive", step->name);
      break;
    case QUOIT_STEP_UNDRAIN:
      g_string_append_printf (text, "undrain %s", step->name);
      break;
    case QUOIT_STEP_RELEASE:
      g_string_append_printf (text, "release %s@%" G_GUINT64_FORMAT, step->name, step->number);
      break;
    case QUOIT_STEP_LEASE_ENDS:
      append_wait (text, step);
      break;
    case QUOIT_STEP_SOURCE_REMOVES:
      g_string_append_printf (text, "remove %s@%" G_GUINT64_FORMAT " at its source", step->name, step->number);
      break;
    case QUOIT_STEP_EXTERNAL_ENDS:
      g_string_append_printf (text, "the external use of %s ends", step->name);
      break;
    case QUOIT_STEP_FEWER_SLICES:
      g_string_append_printf (text, "ask for %" G_GUINT64_FORMAT " slice%s", step->number,
                              step->number == 1 ? "" : "s");
      break;
    case QUOIT_STEP_OTHER_TOPOLOGY:
      g_string_append_printf (text, "ask for topology %s", step->name);
      if (step->number != 0)
        g_string_append_printf (text, " on hosts of %" G_GUINT64_FORMAT " chips", step->number);
      break;
    case QUOIT_STEP_OTHER_HOSTS:
      g_string_append_printf (text, "ask for hosts of %" G_GUINT64_FORMAT " chips", step->number);
      break;
    }
}

char *
quoit_report_option_text (const QuoitReport *report, guint index)
{
  const GArray *steps = g_array_index (report->options, QuoitOption, index).steps;
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < steps->len; i++)
    {
      if (i > 0)
        g_string_append (text, i + 1 < steps->len ? ", " : " and ");
      append_step (text, &g_array_index (steps, QuoitStep, i));
    }
  return g_string_free (text, FALSE);
}

/* --- in one sentence --- */

static void
append_verdict_on_slices (GString *text, const QuoitReport *report)
{
  gboolean never = report->verdict == QUOIT_VERDICT_NEVER;
  guint32 have = never ? report->n_could : report->n_now;

  if (report->verdict == QUOIT_VERDICT_FITS)
    g_string_append_printf (text, ": fits, %u can be had now", report->n_now);
  else
    g_string_append_printf (text, ": %s, %u of %u slices %s, %u short", never ? "never" : "not now", have,
                            report->n_wanted, never ? "could ever be had" : "can be had", report->n_wanted - have);
}

static void
append_verdict_on_bundles (GString *text, const QuoitReport *report)
{
  gboolean never = report->verdict == QUOIT_VERDICT_NEVER;
  guint32 have = never ? report->n_could : report->n_now;

  if (report->verdict == QUOIT_VERDICT_FITS)
    g_string_append (text, ": fits");
  else
    g_string_append_printf (text, ": %s%s, %u node%s %s bundle %u", never ? "never" : "not now",
                            report->is_unproven ? ", as far as the search went" : "", have, have == 1 ? "" : "s",
                            never ? "could ever take" : "can take", report->bundle);
}

static void
append_ray (GString *text, const QuoitReport *report)
{
  static const char *const answers[] = { [QUOIT_RAY_ANSWER_SUCCESS] = "place it",
                                         [QUOIT_RAY_ANSWER_FAILED] = "answer FAILED",
                                         [QUOIT_RAY_ANSWER_INFEASIBLE] = "answer INFEASIBLE" };
  gboolean fits = report->verdict == QUOIT_VERDICT_FITS;

  /* Told where it is not what the verdict says. */
  if (report->ray_answer != QUOIT_RAY_ANSWER_NONE && fits != (report->ray_answer == QUOIT_RAY_ANSWER_SUCCESS))
    g_string_append_printf (text, "; Ray %s %s",
                            report->ray_varies && report->verdict == QUOIT_VERDICT_FITS ? "may" : "would",
                            answers[report->ray_answer]);
}

char *
quoit_report_summary (const QuoitReport *report, const char *what)
{
  GString *text = g_string_new (what);

  if (report->of_bundles)
    append_verdict_on_bundles (text, report);
  else
    append_verdict_on_slices (text, report);
  if (report->verdict == QUOIT_VERDICT_NEVER && report->n_such > 0 && !report->of_bundles
      && (report->reasons->len == 0
          || rank_of (report, g_array_index (report->reasons, QuoitReason, 0).constraint) > 2))
    g_string_append_printf (text, "; the fleet has %u such slice%s", report->n_such, report->n_such == 1 ? "" : "s");
  else if (report->verdict != QUOIT_VERDICT_FITS && report->reasons->len > 0)
    {
      g_autofree char *reason = quoit_report_reason_text (report, 0);

      g_string_append_printf (text, "; %s", reason);
    }
  append_ray (text, report);
  if (report->verdict != QUOIT_VERDICT_FITS && report->options->len > 0)
    {
      g_autofree char *option = quoit_report_option_text (report, 0);

      g_string_append_printf (text, "; would help: %s", option);
    }
  return g_string_free (text, FALSE);
}
