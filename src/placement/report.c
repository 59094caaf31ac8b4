/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/report.h"

#include <string.h>

#include "fleet/ahead.h"
#include "placement/constraint.h"
#include "placement/made.h"
#include "placement/orders.h"
#include "placement/placement.h"
#include "placement/trial.h"

static void
step_clear (gpointer item)
{
  QuoitStep *step = item;

  g_free (step->node);
  g_free (step->group);
  g_free (step->topology);
  quoit_group_data_unref ((QuoitGroupData *) step->record);
}

static void
option_clear (gpointer data)
{
  quoit_option_clear (data);
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
  g_mutex_init (&report->lock);
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
  g_clear_pointer (&report->others, g_array_unref);
  quoit_fleet_unref (report->fleet);
  g_clear_pointer (&report->request, quoit_request_free);
  quoit_trial_clear (&report->trial);
  g_free (report->holder);
  g_free (report->repaired);
  g_mutex_clear (&report->lock);
  g_free (report);
}

/* Returns the rank of a reason among those that are not the main one. For not-now, constraints that can change come
 * first. For never, the order is: limits of the request, degraded slices, hardware. Use comes last, because it ends. */
static guint
rank (const QuoitReport *report, QuoitConstraint constraint)
{
  static const guint ranks_of_never[] = { [QUOIT_CONSTRAINT_OF_ALL] = 0,
                                          [QUOIT_CONSTRAINT_OF_REQUEST] = 1,
                                          [QUOIT_CONSTRAINT_OF_HEALTH] = 2,
                                          [QUOIT_CONSTRAINT_OF_HARDWARE] = 3,
                                          [QUOIT_CONSTRAINT_OF_USE] = 4 };
  const QuoitConstraintRow *row = &quoit_constraints[quoit_constraint_position (constraint)];

  if (report->verdict == QUOIT_VERDICT_NEVER || row->type == QUOIT_CONSTRAINT_OF_ALL)
    return ranks_of_never[row->type];
  return quoit_constraint_can_change (row) ? 1 : 2;
}

static gboolean
dominates (const QuoitReport *report, const QuoitReason *a, const QuoitReason *b)
{
  guint x = rank (report, a->constraint), y = rank (report, b->constraint);

  return x != y ? x < y : a->before - a->after > b->before - b->after;
}

/* --- the main reason --- */

static const QuoitConstraintRow *
row_of (const QuoitReason *reason)
{
  return &quoit_constraints[quoit_constraint_position (reason->constraint)];
}

/* Returns whether the constraint of a reason can be why the request does not fit: for not-now one that can change, for
 * never one that cannot. Constraints of the class are all or nothing; see find_main(). */
static gboolean
can_be_main (const QuoitReport *report, const QuoitReason *reason)
{
  const QuoitConstraintRow *row = row_of (reason);

  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    return quoit_constraint_can_change (row);
  if (row->type == QUOIT_CONSTRAINT_OF_HEALTH)
    return report->n_unmendable > 0;
  return row->class_test == NULL && row->type != QUOIT_CONSTRAINT_OF_USE;
}

/* Returns how many candidates must be left, so that a constraint is not to blame. */
static guint32
n_needed (const QuoitReport *report, const QuoitReason *reason)
{
  /* Of parts, the reasons before `intact` count slices of the fleet, which have several parts. */
  return report->is_for_bundles
                 || (report->counts_parts && row_of (reason)->type != QUOIT_CONSTRAINT_OF_HEALTH
                     && row_of (reason)->type != QUOIT_CONSTRAINT_OF_USE)
             ? 1
             : report->n_wanted;
}

/* Returns the index of the reason that removed the last candidates that the request needs: the first constraint that
 * left too few. If the class itself has too few, this is the last constraint of the class. G_MAXUINT: there is none. */
static guint
find_main (const QuoitReport *report)
{
  guint first = G_MAXUINT, last_of_class = G_MAXUINT;

  for (guint r = 0; r < report->reasons->len; r++)
    {
      const QuoitReason *reason = &g_array_index (report->reasons, QuoitReason, r);
      const guint position = quoit_constraint_position (reason->constraint);

      if (row_of (reason)->type == QUOIT_CONSTRAINT_OF_ALL)
        return r;
      if (row_of (reason)->class_test != NULL
          && (last_of_class == G_MAXUINT
              || position > quoit_constraint_position (
                     g_array_index (report->reasons, QuoitReason, last_of_class).constraint)))
        last_of_class = r;
      if (can_be_main (report, reason) && reason->after < n_needed (report, reason)
          && (first == G_MAXUINT
              || position < quoit_constraint_position (g_array_index (report->reasons, QuoitReason, first).constraint)))
        first = r;
    }
  return first == G_MAXUINT && report->verdict == QUOIT_VERDICT_NEVER ? last_of_class : first;
}

QuoitVerdict
quoit_verdict_of_counts (guint32 n_free_now, guint32 n_possible, guint32 n_wanted)
{
  return n_possible < n_wanted   ? QUOIT_VERDICT_NEVER
         : n_free_now < n_wanted ? QUOIT_VERDICT_NOT_NOW
                                 : QUOIT_VERDICT_FITS;
}

void
quoit_report_set_made_verdict (QuoitReport *report, guint32 n_matching)
{
  report->n_matching = n_matching;
  report->is_unproven = n_matching < report->n_wanted && report->n_possible >= report->n_wanted;
  report->verdict = quoit_verdict_of_counts (report->n_free_now, report->n_possible, report->n_wanted);
}

void
quoit_report_put_main_first (QuoitReport *report)
{
  const guint main = report->verdict == QUOIT_VERDICT_FITS ? G_MAXUINT : find_main (report);
  QuoitReason reason;

  if (main == 0 || main == G_MAXUINT)
    return;
  reason = g_array_index (report->reasons, QuoitReason, main);
  memmove (&g_array_index (report->reasons, QuoitReason, 1), &g_array_index (report->reasons, QuoitReason, 0),
           main * sizeof reason);
  g_array_index (report->reasons, QuoitReason, 0) = reason;
}

gboolean
quoit_report_lacks_slices (const QuoitReport *report)
{
  return report->reasons->len == 0 || !can_be_main (report, &g_array_index (report->reasons, QuoitReason, 0));
}

void
quoit_report_add_miss (QuoitReport *report, const QuoitMiss *miss)
{
  g_array_append_val (report->misses, *miss);
}

void
quoit_report_add_reason (QuoitReport *report, const QuoitRequest *request, guint position, guint32 before,
                         guint32 after)
{
  const QuoitConstraintRow *row = &quoit_constraints[position];

  if (after != before)
    quoit_report_add_detailed_reason (
        report, position,
        row->detail == NULL ? NULL : row->detail (request, report->is_for_bundles ? report->bundle : QUOIT_NO_INDEX),
        before, after);
}

void
quoit_report_add_detailed_reason (QuoitReport *report, guint position, char *detail, guint32 before, guint32 after)
{
  QuoitReason reason = { quoit_constraints[position].constraint, before, after, NULL };
  guint at = report->reasons->len;

  reason.detail = detail;
  while (at > 0 && dominates (report, &reason, &g_array_index (report->reasons, QuoitReason, at - 1)))
    at--;
  g_array_insert_val (report->reasons, at, reason);
}

void
quoit_report_find_options_later (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  if (report->verdict == QUOIT_VERDICT_FITS)
    return;
  report->fleet = quoit_fleet_ref (fleet);
  report->request = quoit_request_dup (request, request->name);
}

void
quoit_report_find_orders_later (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_find_options_later (report, fleet, request);
}

static gint
by_steps (gconstpointer a, gconstpointer b)
{
  guint x = ((const QuoitOption *) a)->steps->len, y = ((const QuoitOption *) b)->steps->len;

  return (x > y) - (x < y);
}

static gint
by_until (gconstpointer a, gconstpointer b)
{
  const gint64 x = ((const QuoitStep *) a)->until_ms, y = ((const QuoitStep *) b)->until_ms;

  return (x > y) - (x < y);
}

/* Puts the waits of the option in the order of their times. Other steps stay where they are. */
static void
sort_waits (QuoitOption *option)
{
  GArray *steps = option->steps;
  g_autoptr (GArray) waits = NULL;
  gint64 last_ms = 0;
  gboolean is_sorted = TRUE;

  for (guint s = 0; s < steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (steps, QuoitStep, s);

      if (!quoit_step_is_wait (step))
        continue;
      is_sorted = is_sorted && step->until_ms >= last_ms;
      last_ms = step->until_ms;
    }
  if (is_sorted)
    return;
  waits = g_array_sized_new (FALSE, FALSE, sizeof (QuoitStep), steps->len);
  for (guint s = 0; s < steps->len; s++)
    if (quoit_step_is_wait (&g_array_index (steps, QuoitStep, s)))
      g_array_append_val (waits, g_array_index (steps, QuoitStep, s));
  g_array_sort (waits, by_until);
  for (guint s = 0, w = 0; s < steps->len; s++)
    if (quoit_step_is_wait (&g_array_index (steps, QuoitStep, s)))
      g_array_index (steps, QuoitStep, s) = g_array_index (waits, QuoitStep, w++);
}

/* Finds the options of a report on slices. The request was valid for this fleet when it was refused. */
static void
find_options_of_slices (QuoitReport *report)
{
  QuoitCandidates candidates;

  if (quoit_request_makes_slices (report->request))
    quoit_made_find_options (report, report->fleet, report->request);
  else if (quoit_candidates_find (report->fleet, report->request, &candidates, NULL))
    {
      report->finds_orders = quoit_report_has_simple_orders (report);
      quoit_report_find_options (report, report->fleet, report->request, &candidates);
      quoit_candidates_clear (&candidates);
    }
  quoit_report_settle_ends (report);
  if (report->trial.fleet != NULL)
    quoit_report_prove_options (report, &report->trial, report->request);
}

const GArray *
quoit_report_options (const QuoitReport *report)
{
  QuoitReport *own = (QuoitReport *) report;

  g_mutex_lock (&own->lock);
  if (own->fleet != NULL)
    {
      if (own->now_ms == 0)
        own->now_ms = own->fleet->clock_ms;
      if (!own->is_for_bundles)
        find_options_of_slices (own);
      if (own->verdict == QUOIT_VERDICT_NOT_NOW)
        quoit_report_find_orders (own);
      for (guint o = 0; o < own->options->len; o++)
        sort_waits (&g_array_index (own->options, QuoitOption, o));
      g_array_sort (own->options, by_steps);
      quoit_trial_clear (&own->trial);
      g_clear_pointer (&own->fleet, quoit_fleet_unref);
      g_clear_pointer (&own->request, quoit_request_free);
    }
  g_mutex_unlock (&own->lock);
  return own->options;
}

void
quoit_report_drop_options (QuoitReport *report)
{
  g_array_set_size (report->options, 0);
  quoit_trial_clear (&report->trial);
  g_clear_pointer (&report->fleet, quoit_fleet_unref);
  g_clear_pointer (&report->request, quoit_request_free);
  for (guint i = 0; report->others != NULL && i < report->others->len; i++)
    if (g_array_index (report->others, QuoitOtherReport, i).report != NULL)
      quoit_report_drop_options (g_array_index (report->others, QuoitOtherReport, i).report);
}

QuoitOption
quoit_option_init (void)
{
  QuoitOption option = { g_array_new (FALSE, TRUE, sizeof (QuoitStep)), 0 };

  g_array_set_clear_func (option.steps, step_clear);
  return option;
}

void
quoit_option_clear (QuoitOption *option)
{
  g_clear_pointer (&option->steps, g_array_unref);
}

QuoitOption *
quoit_report_insert_option (QuoitReport *report, guint index)
{
  QuoitOption option = quoit_option_init ();

  g_array_insert_val (report->options, index, option);
  return &g_array_index (report->options, QuoitOption, index);
}

QuoitOption *
quoit_report_add_option (QuoitReport *report)
{
  return quoit_report_insert_option (report, report->options->len);
}

void
quoit_option_add_step (QuoitOption *option, const QuoitStep *step)
{
  QuoitStep copy = *step;

  copy.node = g_strdup (step->node);
  copy.group = g_strdup (step->group);
  copy.topology = g_strdup (step->topology);
  if (step->record != NULL)
    copy.record = quoit_group_data_ref ((QuoitGroupData *) step->record);
  g_array_append_val (option->steps, copy);
}

static gboolean
step_equal (const QuoitStep *a, const QuoitStep *b)
{
  return a->kind == b->kind && g_strcmp0 (a->node, b->node) == 0 && g_strcmp0 (a->group, b->group) == 0
         && a->n_slices == b->n_slices;
}

static gboolean
has_step (const QuoitOption *option, const QuoitStep *step)
{
  for (guint s = 0; s < option->steps->len; s++)
    if (step_equal (&g_array_index (option->steps, QuoitStep, s), step))
      return TRUE;
  return FALSE;
}

static gboolean
option_equal (const QuoitOption *a, const QuoitOption *b)
{
  gboolean is_equal = a->steps->len == b->steps->len, in_order = is_equal;

  /* Mostly the steps are in the same order. */
  for (guint s = 0; s < a->steps->len && in_order; s++)
    in_order = step_equal (&g_array_index (a->steps, QuoitStep, s), &g_array_index (b->steps, QuoitStep, s));
  for (guint s = 0; s < a->steps->len && is_equal && !in_order; s++)
    is_equal = has_step (b, &g_array_index (a->steps, QuoitStep, s));
  return is_equal;
}

guint
quoit_report_find_equal (const QuoitReport *report, const QuoitOption *option, guint n)
{
  for (guint o = 0; o < n; o++)
    if (option_equal (&g_array_index (report->options, QuoitOption, o), option))
      return o;
  return QUOIT_NO_INDEX;
}

void
quoit_report_take_option (QuoitReport *report, QuoitOption *option, guint orders)
{
  const guint equal = quoit_report_find_equal (report, option, report->options->len);

  if (equal != QUOIT_NO_INDEX)
    {
      g_array_index (report->options, QuoitOption, equal).orders |= orders;
      quoit_option_clear (option);
      return;
    }
  option->orders |= orders;
  g_array_append_val (report->options, *option);
  option->steps = NULL;
}

/* Returns whether the step waits for the end of the lease of a live group. */
static gboolean
waits_for_lease (const QuoitStep *step)
{
  return step->kind == QUOIT_STEP_LEASE_ENDS && !quoit_group_is_ahead (step->record);
}

void
quoit_report_settle_ends (QuoitReport *report)
{
  for (guint o = 0; o < report->options->len; o++)
    {
      const GArray *steps = g_array_index (report->options, QuoitOption, o).steps;
      gboolean ends_group = FALSE;

      for (guint s = 0; s < steps->len && !ends_group; s++)
        ends_group = quoit_step_ends_group (&g_array_index (steps, QuoitStep, s));
      for (guint s = 0; s < steps->len && ends_group; s++)
        {
          QuoitStep *step = &g_array_index (steps, QuoitStep, s);

          if (!waits_for_lease (step))
            continue;
          step->kind = *step->record->source == '\0' ? QUOIT_STEP_RELEASE : QUOIT_STEP_SOURCE_REMOVES;
          step->until_ms = 0;
        }
    }
}
