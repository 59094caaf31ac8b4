/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/orders.h"

#include "fleet/ahead.h"
#include "placement/ahead.h"
#include "placement/ends.h"
#include "placement/preempt/preempt.h"
#include "placement/start.h"
#include "placement/trial.h"

enum { MOST_VISITS = 1 << 22 }; /* of nodes, by the searches for bundles and parts */

/* --- what an option costs --- */

QuoitOptionCost
quoit_report_option_cost (const QuoitReport *report, guint index)
{
  const GArray *steps = g_array_index (quoit_report_options (report), QuoitOption, index).steps;
  QuoitOptionCost cost = { 0, 0, 0 };

  for (guint s = 0; s < steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (steps, QuoitStep, s);

      cost.time_ms = MAX (cost.time_ms, step->until_ms);
      cost.n_groups += quoit_step_ends_group (step) || step->kind == QUOIT_STEP_SHRINK;
      cost.chips_e4 += step->chips_e4;
    }
  return cost;
}

guint
quoit_report_best_option (const QuoitReport *report, QuoitOptionOrder order)
{
  const GArray *options = quoit_report_options (report);

  for (guint o = 0; o < options->len; o++)
    if ((g_array_index (options, QuoitOption, o).orders & quoit_order_bit (order)) != 0)
      return o;
  return QUOIT_NO_INDEX;
}

/* Sets how many chips each step takes from a group. */
static void
set_chips (const QuoitReport *report, const QuoitFleet *fleet)
{
  for (guint o = 0; o < report->options->len; o++)
    {
      const GArray *steps = g_array_index (report->options, QuoitOption, o).steps;

      for (guint s = 0; s < steps->len; s++)
        {
          QuoitStep *step = &g_array_index (steps, QuoitStep, s);

          if (step->record == NULL || quoit_step_is_wait (step))
            continue;
          step->chips_e4 = quoit_group_chips_e4 (fleet, step->record);
          if (step->kind == QUOIT_STEP_SHRINK)
            step->chips_e4 = step->chips_e4 / step->record->n_slices * (step->record->n_slices - step->n_slices);
        }
    }
}

/* --- fewest groups and chips --- */

typedef struct {
  guint n_groups;
  guint64 chips_e4;
  gint32 priority; /* the greatest one */
} ReleaseCost;

/* Returns FALSE if a step of the option does something else than to end a group. */
static gboolean
get_release_cost (const QuoitFleet *fleet, const QuoitOption *option, ReleaseCost *cost)
{
  *cost = (ReleaseCost) { option->steps->len, 0, G_MININT32 };
  for (guint s = 0; s < option->steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (option->steps, QuoitStep, s);

      if (!quoit_step_ends_group (step) || step->record == NULL)
        return FALSE;
      cost->chips_e4 += quoit_group_chips_e4 (fleet, step->record);
      cost->priority = MAX (cost->priority, step->record->priority);
    }
  return TRUE;
}

/* Returns the first option of the report that is as good as the new one, or NULL. The report lists options with the
 * newest groups first, and the search finds any, so that without this the report would contradict itself. */
static QuoitOption *
find_as_good (const QuoitReport *report, const QuoitRequest *request, const QuoitTrial *trial,
              const QuoitOption *option)
{
  ReleaseCost cost, listed;

  if (!get_release_cost (trial->fleet, option, &cost))
    return NULL;
  for (guint o = 0; o < report->options->len; o++)
    {
      QuoitOption *one = &g_array_index (report->options, QuoitOption, o);

      if (get_release_cost (trial->fleet, one, &listed) && listed.n_groups == cost.n_groups
          && listed.chips_e4 == cost.chips_e4 && listed.priority <= cost.priority
          && quoit_trial_succeeds (trial, request, one, G_MAXUINT))
        return one;
    }
  return NULL;
}

static void
find_fewest (QuoitReport *report, const QuoitRequest *request, QuoitPreemptAim aim, const QuoitTrial *trial)
{
  const QuoitFleet *fleet = trial->fleet;
  const QuoitOptionOrder order
      = aim == QUOIT_PREEMPT_GROUPS ? QUOIT_OPTION_ORDER_FEWEST_GROUPS : QUOIT_OPTION_ORDER_FEWEST_CHIPS;
  g_autoptr (GArray) released = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  QuoitOption option, *listed;
  gboolean is_fewest;

  if (!quoit_find_fewest (fleet, request, report->now_ms, aim, released, &is_fewest, NULL) || released->len == 0)
    return;
  option = quoit_option_init ();
  for (guint v = 0; v < released->len; v++)
    quoit_option_add_group_end (&option, quoit_fleet_group_at (fleet, g_array_index (released, QuoitVictim, v).slot),
                                QUOIT_END_BY_RELEASE, 0);
  if (!quoit_trial_succeeds (trial, request, &option, G_MAXUINT))
    {
      quoit_option_clear (&option);
      return;
    }
  if (is_fewest)
    report->proven_orders |= quoit_order_bit (order);
  listed = find_as_good (report, request, trial, &option);
  if (listed == NULL)
    {
      quoit_report_take_option (report, &option, quoit_order_bit (order));
      return;
    }
  listed->orders |= quoit_order_bit (order);
  quoit_option_clear (&option);
}

/* --- earliest --- */

/* Removes the estimate of the group. */
static void
forget_estimate (QuoitFleet *fork, const QuoitGroupData *group)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (group);

  fields.expected_end_ms = 0;
  quoit_fleet_replace_group (fork, quoit_group_data_new (&fields), NULL);
}

/* Returns a fork of the fleet on which only ends that an option can wait for are known, like quoit_group_planned_end():
 * no owner has a lease, because a live owner renews it, and no estimate has passed. */
static QuoitFleet *
with_planned_ends (const QuoitFleet *fleet, gint64 now_ms)
{
  QuoitFleet *fork = quoit_fleet_fork (fleet);

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *record = quoit_fleet_group_at (fleet, slot);

      if (record == NULL || record->state == QUOIT_GROUP_REMOVED)
        continue;
      if (record->kind == QUOIT_RECORD_OWNER && record->until_ms != 0)
        quoit_fleet_set_lease (fork, record->name, record->id, record->state, 0, NULL);
      else if (quoit_group_is_listed (record) && !quoit_group_is_ahead (record) && record->expected_end_ms != 0
               && record->expected_end_ms <= now_ms)
        forget_estimate (fork, record);
    }
  return fork;
}

/* Adds that the group or window ends by itself. Returns FALSE if it does not do so until the time. */
static gboolean
add_wait (QuoitOption *option, const QuoitGroupData *group, gint64 now_ms, gint64 time_ms)
{
  const gboolean is_planned = quoit_group_is_ahead (group) || group->kind == QUOIT_RECORD_WINDOW;
  const gint64 end_ms = is_planned ? group->until_ms : quoit_group_planned_end (group, now_ms, NULL);

  if (end_ms == 0 || end_ms > time_ms)
    return FALSE;
  quoit_option_add_group_end (option, group, is_planned ? QUOIT_END_AS_PLANNED : QUOIT_END_BY_WAITING, now_ms);
  return TRUE;
}

/* Adds all windows that end until the time. */
static void
add_windows (QuoitOption *option, const QuoitFleet *fleet, gint64 time_ms)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    if (quoit_fleet_ahead_at (fleet, i)->kind == QUOIT_RECORD_WINDOW)
      add_wait (option, quoit_fleet_ahead_at (fleet, i), 0, time_ms);
}

/* Returns an option that waits for what the start waits for. */
static QuoitOption
wait_for_start (const QuoitFleet *fleet, const QuoitStartTime *start, gint64 now_ms)
{
  QuoitOption option = quoit_option_init ();

  for (guint i = 0; i < start->ends->len; i++)
    add_wait (&option, quoit_fleet_group_at (fleet, g_array_index (start->ends, QuoitGroupEnd, i).slot), now_ms,
              start->time_ms);
  add_windows (&option, fleet, start->time_ms);
  return option;
}

/* Returns an option that waits for all that ends by itself until the start. The start does not list the other users of
 * a slice that groups share. */
static QuoitOption
wait_for_all (const QuoitFleet *fleet, const QuoitStartTime *start, gint64 now_ms)
{
  QuoitOption option = quoit_option_init ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && group->state != QUOIT_GROUP_REMOVED && quoit_group_is_listed (group))
        add_wait (&option, group, now_ms, start->time_ms);
    }
  add_windows (&option, fleet, start->time_ms);
  return option;
}

/* Returns whether the option is enough. Then removes steps that are not necessary. Clears it otherwise. */
static gboolean
try_option (const QuoitTrial *trial, const QuoitRequest *request, QuoitOption *option)
{
  enum { MOST_STEPS = 128 }; /* of which each is tried to be left out */

  if (option->steps->len == 0 || !quoit_trial_succeeds (trial, request, option, G_MAXUINT))
    return quoit_option_clear (option), FALSE;
  if (option->steps->len <= MOST_STEPS)
    quoit_trial_remove_unnecessary (trial, request, option);
  return TRUE;
}

/* Returns whether no earlier time is possible. Beside what lies ahead, the start also counts on leases that may be
 * renewed. Ray's policy may place bundles with less space, and not with more. */
static gboolean
is_start_proven (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitReport *report)
{
  return quoit_fleet_n_ahead (fleet) == 0 && !report->is_unproven
         && (!quoit_request_is_by_host (request) || request->policy == QUOIT_POLICY_BEST);
}

static void
find_earliest (QuoitReport *report, const QuoitRequest *request, const QuoitTrial *trial)
{
  g_autoptr (QuoitFleet) fleet = with_planned_ends (trial->fleet, trial->now_ms);
  g_auto (QuoitStartTime) start = { 0 };
  QuoitOption option;

  if (!quoit_find_start_alone (fleet, request, trial->now_ms, &start, NULL) || start.time_ms <= trial->now_ms)
    return;
  option = wait_for_start (fleet, &start, trial->now_ms);
  if (!try_option (trial, request, &option))
    {
      option = wait_for_all (fleet, &start, trial->now_ms);
      if (!try_option (trial, request, &option))
        return;
    }
  if (is_start_proven (fleet, request, report))
    report->proven_orders |= quoit_order_bit (QUOIT_OPTION_ORDER_EARLIEST);
  quoit_report_take_option (report, &option, quoit_order_bit (QUOIT_OPTION_ORDER_EARLIEST));
}

/* --- options that the report has --- */

/* Returns whether all steps of the option are of the order. */
static gboolean
is_of_order (const QuoitOption *option, QuoitOptionOrder order)
{
  for (guint s = 0; s < option->steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (option->steps, QuoitStep, s);

      if (order == QUOIT_OPTION_ORDER_EARLIEST ? !quoit_step_is_wait (step) : !quoit_step_ends_group (step))
        return FALSE;
    }
  return option->steps->len > 0;
}

static gboolean
is_better (const QuoitOption *a, const QuoitOption *b, QuoitOptionOrder order)
{
  gint64 x = 0, y = 0;

  for (guint s = 0; s < a->steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (a->steps, QuoitStep, s);

      x = order == QUOIT_OPTION_ORDER_EARLIEST ? MAX (x, step->until_ms) : x + (gint64) step->chips_e4;
    }
  for (guint s = 0; s < b->steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (b->steps, QuoitStep, s);

      y = order == QUOIT_OPTION_ORDER_EARLIEST ? MAX (y, step->until_ms) : y + (gint64) step->chips_e4;
    }
  if (order == QUOIT_OPTION_ORDER_FEWEST_GROUPS && a->steps->len != b->steps->len)
    return a->steps->len < b->steps->len;
  return x < y;
}

/* Marks the best of the options in the order. */
static void
mark_best (QuoitReport *report, QuoitOptionOrder order)
{
  QuoitOption *best = NULL;

  for (guint o = 0; o < report->options->len; o++)
    {
      QuoitOption *option = &g_array_index (report->options, QuoitOption, o);

      if (is_of_order (option, order) && (best == NULL || is_better (option, best, order)))
        best = option;
    }
  report->proven_orders &= ~quoit_order_bit (order);
  if (best != NULL)
    best->orders |= quoit_order_bit (order);
}

/* --- all orders --- */

gboolean
quoit_report_has_simple_orders (const QuoitReport *report)
{
  return report->verdict == QUOIT_VERDICT_NOT_NOW && report->trial.fleet == NULL && !report->is_of_group
         && !quoit_trial_is_needed (report->fleet, report->request);
}

/* Returns whether a search by trials takes too long. */
static gboolean
is_too_large (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return (quoit_request_is_by_host (request) || quoit_fleet_n_ahead (fleet) > 0)
         && (guint64) fleet->layout->n_nodes * (fleet->n_groups + 1) > MOST_VISITS;
}

static gboolean
has_option (const QuoitReport *report, QuoitOptionOrder order)
{
  for (guint o = 0; o < report->options->len; o++)
    if ((g_array_index (report->options, QuoitOption, o).orders & quoit_order_bit (order)) != 0)
      return TRUE;
  return FALSE;
}

/* Searches by trials on the fleet that refused the request. */
static void
search (QuoitReport *report)
{
  const QuoitRequest *request = report->request;
  const QuoitTrial own = { .fleet = report->fleet,
                           .now_ms = report->now_ms,
                           .end_ms = quoit_request_latest_end (request, report->now_ms) };
  const QuoitTrial *trial = report->trial.fleet != NULL ? &report->trial : &own;

  find_earliest (report, request, trial);
  if (is_too_large (trial->fleet, request))
    return;
  find_fewest (report, request, QUOIT_PREEMPT_GROUPS, trial);
  find_fewest (report, request, QUOIT_PREEMPT_CHIPS, trial);
}

void
quoit_report_find_orders (QuoitReport *report)
{
  if (!report->finds_orders && !report->is_of_group)
    search (report);
  set_chips (report, report->fleet);
  for (guint order = QUOIT_OPTION_ORDER_EARLIEST; order <= QUOIT_OPTION_ORDER_FEWEST_CHIPS; order++)
    if (!has_option (report, order))
      mark_best (report, order);
}
