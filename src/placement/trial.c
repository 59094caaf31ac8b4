/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/trial.h"

#include "base/time.h"
#include "placement/ahead-moves.h"
#include "placement/domains.h"
#include "placement/shrink.h"
#include "placement/view.h"

/* --- granting --- */

/* Returns whether the group that the request is to be near to lives at the time, whatever is expected. */
static gboolean
has_near_group (const QuoitFleet *fleet, const QuoitRequest *request, gint64 time_ms)
{
  const QuoitGroupData *group = quoit_request_find_near (fleet, request);
  gint64 until_ms;

  if (request->near == NULL || group == NULL)
    return request->near == NULL;
  until_ms = quoit_fleet_group_until_ms (fleet, group);
  return until_ms == 0 || until_ms > time_ms;
}

gboolean
quoit_fork_grants (QuoitFleet *fork, const QuoitRequest *request, gint64 from_ms, gint64 end_ms)
{
  g_autoptr (QuoitFleet) seen = NULL;

  if (!has_near_group (fork, request, from_ms))
    return FALSE;
  quoit_fork_mend_ahead (fork);
  seen = quoit_fleet_seen_for (fork, request, from_ms, end_ms);
  return quoit_request_is_by_host (request) ? quoit_bundles_fit (seen != NULL ? seen : fork, request, NULL)
                                            : quoit_slices_fit (seen != NULL ? seen : fork, request);
}

/* --- setting up --- */

void
quoit_trial_clear (QuoitTrial *trial)
{
  g_clear_pointer (&trial->fleet, quoit_fleet_unref);
  g_clear_pointer (&trial->group, quoit_group_data_unref);
}

/* Returns whether the search for options leaves something out that a reservation tests. For policy `ray`, this is what
 * else ends while the option waits: Ray's algorithm is greedy, and can fail with more free nodes. */
gboolean
quoit_trial_is_needed (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return quoit_fleet_n_ahead (fleet) > 0 || fleet->quotas != NULL || quoit_request_has_domains (request)
         || request->near != NULL || (request->bundles->len > 0 && request->policy == QUOIT_POLICY_RAY);
}

void
quoit_report_try_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                          gint64 end_ms)
{
  report->now_ms = now_ms;
  if (report->verdict == QUOIT_VERDICT_FITS || !quoit_trial_is_needed (fleet, request))
    return;
  report->trial = (QuoitTrial) { .fleet = quoit_fleet_ref ((QuoitFleet *) fleet), .now_ms = now_ms, .end_ms = end_ms };
  if (report->is_for_bundles)
    quoit_report_prove_options (report, &report->trial, request);
}

void
quoit_report_try_options_of_group (QuoitReport *report, const QuoitFleet *fleet, gint64 now_ms, gint64 end_ms,
                                   QuoitRepeat repeat, const QuoitGroupData *group)
{
  report->now_ms = now_ms;
  report->trial = (QuoitTrial) { .fleet = quoit_fleet_ref ((QuoitFleet *) fleet),
                                 .now_ms = now_ms,
                                 .end_ms = end_ms,
                                 .repeat = repeat,
                                 .group = quoit_group_data_ref ((QuoitGroupData *) group) };
}

/* --- trying --- */

static gboolean
take_step (const QuoitTrial *trial, QuoitFleet *fork, const QuoitStep *step)
{
  /* A group that is to shrink before it is repaired has no record in its step. */
  const QuoitGroupData *group = step->record != NULL ? step->record : trial->group;

  switch (step->kind)
    {
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      quoit_fleet_set_node_state (fork, (QuoitNodeId) { step->node_index }, QUOIT_NODE_ALIVE);
      return TRUE;
    case QUOIT_STEP_EXTERNAL_ENDS:
      return quoit_fleet_end_external (fork, (QuoitNodeId) { step->node_index }, NULL);
    case QUOIT_STEP_SHRINK:
      group = quoit_fleet_find_group (fork, group->name);
      quoit_fork_shrink_group (fork, group, group->n_slices - step->n_slices);
      return TRUE;
    case QUOIT_STEP_FEWER_SLICES:
      return TRUE;
    default:
      return quoit_fleet_remove_group (fork, group->name, group->id, QUOIT_END_RELEASED, fork->clock_ms, NULL);
    }
}

/* Returns the request for @n_slices slices. */
static QuoitRequest
request_for (const QuoitRequest *request, guint32 n_slices)
{
  QuoitRequest fewer = *request;

  fewer.n_slices = n_slices;
  fewer.min_slices = 0;
  return fewer;
}

/* Ends everything on the fork of which the ledger knows that it has ended at the time. */
static void
end_until (QuoitFleet *fork, gint64 time_ms)
{
  for (guint32 slot = 0; slot < fork->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fork, slot);
      gint64 until_ms = 0;

      if (group == NULL || group->state == QUOIT_GROUP_REMOVED)
        continue;
      if (quoit_group_is_callers (group))
        until_ms = quoit_fleet_group_until_ms (fork, group);
      else if (group->kind == QUOIT_RECORD_WINDOW)
        until_ms = group->until_ms;
      if (until_ms != 0 && until_ms <= time_ms)
        quoit_fleet_remove_group (fork, group->name, group->id, QUOIT_END_RELEASED, fork->clock_ms, NULL);
    }
}

/* Makes the reservations ahead begin that begin until the time. They cannot get other slices any more. */
static void
begin_until (QuoitFleet *fork, gint64 time_ms)
{
  g_autoptr (GArray) slots = quoit_fleet_n_ahead (fork) == 0 ? NULL : g_array_copy (fork->ahead->slots);

  quoit_fork_mend_ahead (fork);
  for (guint i = 0; slots != NULL && i < slots->len; i++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fork, g_array_index (slots, guint32, i));

      if (group->begins_ms <= time_ms && quoit_group_is_listed (group))
        quoit_ahead_begin (fork, group);
    }
}

/* Returns whether @request is granted at the time on @fork, which it changes. */
static gboolean
is_granted (const QuoitTrial *trial, QuoitFleet *fork, const QuoitRequest *request, gint64 time_ms)
{
  quoit_fleet_apply_promises (fork);
  if (time_ms > trial->now_ms)
    begin_until (fork, time_ms);
  quoit_fork_mend_ahead (fork);
  if (trial->repeat != NULL)
    return trial->repeat (fork, trial->group, quoit_request_min_slices (request), time_ms);
  return quoit_fork_grants (fork, request, time_ms,
                            trial->end_ms == QUOIT_FOREVER_MS ? QUOIT_FOREVER_MS
                                                              : trial->end_ms + time_ms - trial->now_ms);
}

/* Takes the steps of the option on the fork: first those of callers, each of which is a change, before which
 * reservations ahead that lack slices get some; then the ends that callers wait for. */
static gboolean
take_steps (const QuoitTrial *trial, QuoitFleet *fork, const QuoitOption *option, guint left_out)
{
  for (gboolean waits = FALSE; waits <= TRUE; waits++)
    for (guint s = 0; s < option->steps->len; s++)
      {
        const QuoitStep *step = &g_array_index (option->steps, QuoitStep, s);

        if (s == left_out || quoit_step_is_wait (step) != waits)
          continue;
        if (!waits)
          quoit_fork_mend_ahead (fork);
        if (!take_step (trial, fork, step))
          return FALSE;
      }
  return TRUE;
}

gboolean
quoit_trial_succeeds (const QuoitTrial *trial, const QuoitRequest *request, const QuoitOption *option, guint left_out)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (trial->fleet), later = NULL;
  QuoitRequest tried = *request;
  gint64 time_ms = trial->now_ms;

  if (!take_steps (trial, fork, option, left_out))
    return FALSE;
  for (guint s = 0; s < option->steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (option->steps, QuoitStep, s);

      if (s == left_out)
        continue;
      if (quoit_step_is_wait (step))
        time_ms = MAX (time_ms, step->until_ms);
      if (step->kind == QUOIT_STEP_FEWER_SLICES)
        tried = request_for (request, step->n_slices);
    }
  if (time_ms > trial->now_ms)
    {
      if (trial->repeat != NULL && time_ms >= trial->end_ms)
        return FALSE;
      /* Leases that end meanwhile can be renewed, so the option does not count on them. If they do end, reservations
       * ahead can get other slices. */
      later = quoit_fleet_fork (fork);
      end_until (later, time_ms);
      if (!is_granted (trial, later, &tried, time_ms))
        return FALSE;
    }
  return is_granted (trial, fork, &tried, time_ms);
}

/* --- proving --- */

enum {
  MOST_STEPS = 128, /* of an option of which each step is tried to be left out */
  MOST_ROUNDS = 12  /* with more and more slices */
};

/* Returns whether the option asks for other slices. It was tried when it was found. */
static gboolean
changes_request (const QuoitOption *option)
{
  const QuoitStep *first = &g_array_index (option->steps, QuoitStep, 0);

  if (option->steps->len == 0)
    return FALSE;
  return first->kind == QUOIT_STEP_OTHER_TOPOLOGY || first->kind == QUOIT_STEP_OTHER_HOSTS
         || first->kind == QUOIT_STEP_CUT || first->kind == QUOIT_STEP_CUT_PARTITION
         || first->kind == QUOIT_STEP_JOIN_CUBES;
}

/* Returns whether another request is a step, or a group that gives up as few slices as necessary. */
static gboolean
is_kept (const QuoitStep *step)
{
  return step->kind == QUOIT_STEP_FEWER_SLICES || step->kind == QUOIT_STEP_SHRINK;
}

/* Returns whether the option only asks for fewer slices. */
static gboolean
only_asks_for_fewer (const QuoitOption *option)
{
  return option->steps->len == 1 && is_kept (&g_array_index (option->steps, QuoitStep, 0));
}

/* Returns whether a group that is to grow would not grow. */
static gboolean
asks_for_no_growth (const QuoitTrial *trial, const QuoitOption *option)
{
  const QuoitStep *last = &g_array_index (option->steps, QuoitStep, option->steps->len - 1);

  return trial->group != NULL && last->kind == QUOIT_STEP_FEWER_SLICES && last->n_slices <= trial->group->n_slices;
}

/* A step can become unnecessary because of another one that is removed: more free nodes can be worse for bundles and
 * for parts of slices, which are then placed where a quota does not admit them. */
void
quoit_trial_remove_unnecessary (const QuoitTrial *trial, const QuoitRequest *request, const QuoitOption *option)
{
  guint n;

  do
    {
      n = option->steps->len;
      for (guint s = n; s-- > 0 && option->steps->len > 1;)
        if (!is_kept (&g_array_index (option->steps, QuoitStep, s)) && quoit_trial_succeeds (trial, request, option, s))
          g_array_remove_index (option->steps, s);
    }
  while (option->steps->len < n);
}

/* Returns whether the option is enough, and removes steps that are not necessary. */
static gboolean
prove (const QuoitTrial *trial, const QuoitRequest *request, const QuoitOption *option)
{
  if (option->steps->len == 0 || asks_for_no_growth (trial, option)
      || !quoit_trial_succeeds (trial, request, option, G_MAXUINT))
    return FALSE;
  if (option->steps->len <= MOST_STEPS)
    quoit_trial_remove_unnecessary (trial, request, option);
  return TRUE;
}

/* --- other options --- */

/* Moves the options of @part that are enough to @report. */
static gboolean
take_proven (QuoitReport *report, const QuoitTrial *trial, const QuoitRequest *request, const QuoitReport *part)
{
  gboolean any = FALSE;

  for (guint o = 0; o < part->options->len; o++)
    {
      const QuoitOption *option = &g_array_index (part->options, QuoitOption, o);
      QuoitOption *own;

      if (!prove (trial, request, option)
          || quoit_report_find_equal (report, option, report->options->len) != QUOIT_NO_INDEX)
        continue;
      any = TRUE;
      own = quoit_report_add_option (report);
      for (guint s = 0; s < option->steps->len; s++)
        quoit_option_add_step (own, &g_array_index (option->steps, QuoitStep, s));
    }
  return any;
}

/* Looks for options that make more slices free than are missing, because others get some of them first: reservations
 * ahead that lack slices, or that begin before the request would end. */
static void
find_larger (QuoitReport *report, const QuoitTrial *trial, const QuoitRequest *request,
             const QuoitCandidates *candidates)
{
  g_autoptr (QuoitFleet) base
      = trial->group != NULL ? quoit_fleet_without_group (trial->fleet, trial->group) : quoit_fleet_ref (trial->fleet);
  g_autoptr (QuoitFleet) seen = quoit_fleet_seen_until (base, QUOIT_FOREVER_MS);
  const QuoitFleet *fleet = seen != NULL ? seen : base;
  QuoitCandidateCounts counts;
  guint32 n, more = 1;

  quoit_domains_count (candidates, fleet, request, &counts);
  n = MAX (report->n_wanted, counts.n_free_now + 1);
  for (guint round = 0; round < MOST_ROUNDS && n <= counts.n_possible; round++)
    {
      g_autoptr (QuoitReport) part = quoit_report_alloc (n);

      part->verdict = QUOIT_VERDICT_NOT_NOW;
      part->n_free_now = counts.n_free_now;
      part->n_possible = counts.n_possible;
      quoit_report_find_changes (part, fleet, request, candidates);
      quoit_report_settle_ends (part);
      if (take_proven (report, trial, request, part))
        return;
      if (n == counts.n_possible)
        break;
      n = MIN (n + more, counts.n_possible);
      more *= 2;
    }
  /* All that is in the way of any slice. */
  quoit_candidates_count (candidates, fleet, request, &counts);
  if (counts.n_possible > counts.n_free_now)
    {
      g_autoptr (QuoitReport) part = quoit_report_alloc (counts.n_possible);

      part->verdict = QUOIT_VERDICT_NOT_NOW;
      part->n_free_now = counts.n_free_now;
      part->n_possible = counts.n_possible;
      quoit_report_find_repairs (part, fleet, request, candidates);
      quoit_report_settle_ends (part);
      take_proven (report, trial, request, part);
    }
}

void
quoit_report_prove_options (QuoitReport *report, const QuoitTrial *trial, const QuoitRequest *request)
{
  QuoitCandidates candidates;
  gboolean any_change = FALSE;

  for (guint o = 0; o < report->options->len;)
    {
      const QuoitOption *option = &g_array_index (report->options, QuoitOption, o);

      if (!changes_request (option)
          && (!prove (trial, request, option) || quoit_report_find_equal (report, option, o) != QUOIT_NO_INDEX))
        {
          g_array_remove_index (report->options, o);
          continue;
        }
      any_change |= !changes_request (option) && !only_asks_for_fewer (option);
      o++;
    }
  if (any_change || quoit_request_is_by_host (request) || report->verdict != QUOIT_VERDICT_NOT_NOW
      || !quoit_candidates_find (trial->fleet, request, &candidates, NULL))
    return;
  find_larger (report, trial, request, &candidates);
  quoit_candidates_clear (&candidates);
}
