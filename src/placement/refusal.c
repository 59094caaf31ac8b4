/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/refusal.h"

#include "base/text.h"
#include "placement/ahead.h"
#include "placement/alternatives.h"
#include "placement/made.h"
#include "placement/explain-bundles.h"
#include "placement/preempt/preempt.h"
#include "placement/trial.h"

void
quoit_refusal_clear (QuoitRefusal *refusal)
{
  g_clear_pointer (&refusal->own_request, quoit_request_free);
  refusal->request = NULL;
  g_clear_pointer (&refusal->missing, quoit_request_free);
  g_clear_pointer (&refusal->fleet, quoit_fleet_unref);
  g_clear_pointer (&refusal->group_name, g_free);
  g_clear_pointer (&refusal->alternatives, g_array_unref);
  g_clear_pointer (&refusal->member, g_free);
  g_clear_error (&refusal->error);
}

gboolean
quoit_refusal_set (QuoitRefusal *refusal, const QuoitRequest *request)
{
  if (refusal != NULL)
    *refusal = (QuoitRefusal) { .request = request, .placing = QUOIT_PLACEMENT_NONE, .node = QUOIT_NO_INDEX };
  return FALSE;
}

void
quoit_refusal_copy_request (QuoitRefusal *refusal)
{
  refusal->own_request = quoit_request_dup (refusal->request, refusal->request->name);
  refusal->request = refusal->own_request;
}

/* --- bundles --- */

/* Returns whether a placement of all bundles exists: FOUND, NONE, or UNKNOWN if the search ends without a result. The
 * policy of the request does not matter. */
static QuoitPlacementResult
place_by_best (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time)
{
  QuoitRequest other = *request;
  QuoitPlacementResult placing = QUOIT_PLACEMENT_UNKNOWN;
  guint32 n = request->bundles->len;
  g_autofree guint32 *nodes = g_new (guint32, n + 1);
  g_auto (QuoitFleetView) view = { 0 };

  other.policy = QUOIT_POLICY_BEST;
  if (!quoit_fleet_view_init (&view, fleet, &other, NULL, n, time, NULL))
    return QUOIT_PLACEMENT_UNKNOWN;
  /* Try Ray's greedy algorithm first: it is cheaper, and any placement that it finds is a proof. */
  if (view.view.chips == NULL && view.rules.n_values <= 1)
    placing = quoit_place_by_ray (&view, nodes);
  return placing == QUOIT_PLACEMENT_FOUND ? placing : quoit_place_by_best (&view, nodes);
}

/* Returns the first bundle that fits on no node by itself, or QUOIT_NO_INDEX. */
static guint32
find_misfit (const QuoitFleetView *view)
{
  for (guint32 b = 0; b < view->bundles.n_bundles; b++)
    {
      guint32 node = 0;

      if (quoit_fleet_view_is_repeated (view, b))
        continue;
      while (node < view->view.n_nodes && !quoit_fleet_view_bundle_fits (view, b, node))
        node++;
      if (node == view->view.n_nodes)
        return b;
    }
  return QUOIT_NO_INDEX;
}

/* Like find_misfit(), in a new view of the fleet. */
static guint32
find_misfit_in_fleet (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time)
{
  g_auto (QuoitFleetView) view = { 0 };

  return quoit_fleet_view_init (&view, fleet, request, NULL, request->bundles->len, time, NULL) ? find_misfit (&view)
                                                                                                : QUOIT_NO_INDEX;
}

static void
append_result (GString *text, QuoitPlacementResult placing)
{
  if (placing == QUOIT_PLACEMENT_UNKNOWN)
    g_string_append_printf (text, ", not proven in %d search steps", QUOIT_BEST_STEPS);
  else if (placing == QUOIT_PLACEMENT_RAY_FAILED)
    g_string_append (text, ", Ray answers FAILED");
  else if (placing == QUOIT_PLACEMENT_RAY_INFEASIBLE)
    g_string_append (text, ", Ray answers INFEASIBLE");
}

static QuoitVerdict
explain_placing (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult placing, GError **error)
{
  gboolean never = place_by_best (fleet, request, QUOIT_VIEW_EVER) == QUOIT_PLACEMENT_NONE;
  guint32 misfit = find_misfit_in_fleet (fleet, request, never ? QUOIT_VIEW_EVER : QUOIT_VIEW_NOW);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%u bundle%s, %s: %s", request->bundles->len, request->bundles->len == 1 ? "" : "s",
                          quoit_strategy_name (request->strategy), never ? "never" : "not now");
  /* NEVER is proven. It would be wrong to mention the limit of the search. */
  if (!never || placing != QUOIT_PLACEMENT_UNKNOWN)
    append_result (text, placing);
  if (misfit != QUOIT_NO_INDEX)
    {
      g_string_append_printf (text, "; bundle %u, ", misfit);
      quoit_request_append_bundle (text, quoit_request_bundle (request, misfit));
      g_string_append_printf (text, ", fits on no %s node that it may use", never ? "known" : "alive");
    }
  else if (request->policy == QUOIT_POLICY_RAY && !never
           && place_by_best (fleet, request, QUOIT_VIEW_NOW) == QUOIT_PLACEMENT_FOUND)
    g_string_append (text, "; policy 'best' would place them now");
  else
    g_string_append (text, "; each bundle fits by itself, but not all of them together");
  quoit_fail (error, never ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW, "%s", text->str);
  return never ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW;
}

static QuoitVerdict
explain_chips (const QuoitFleet *fleet, const QuoitRefusal *refusal, GError **error)
{
  const QuoitRequest *request = refusal->request;
  g_autofree char *node = quoit_layout_node_display (fleet->layout, (QuoitNodeId) { refusal->node });
  g_autofree char *quoted = quoit_quote (node);
  gboolean never = place_by_best (fleet, request, QUOIT_VIEW_EVER) == QUOIT_PLACEMENT_NONE;
  gboolean best = !never && place_by_best (fleet, request, QUOIT_VIEW_NOW) == QUOIT_PLACEMENT_FOUND;

  quoit_fail (error, never ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW,
              "bundle %u%s: %s, node %s has enough TPU, but its chips cannot be divided among the bundles%s%s",
              refusal->bundle, refusal->has_several ? " and others" : "", never ? "never" : "not now", quoted,
              request->policy == QUOIT_POLICY_RAY
                  ? ": Ray's control plane answers SUCCESS, and its raylet would refuse it"
                  : "",
              best ? "; policy 'best' would place them now" : "");
  return never ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW;
}

/* A repair is not refused because of quotas: the group has what it lost already. */
static QuoitQuotaBundles
admit_bundles (const QuoitFleet *fleet, const QuoitRefusal *refusal)
{
  const QuoitQuotaBundles all = { QUOIT_VERDICT_FITS, G_MAXUINT, 0 };

  if (refusal->is_over_quota)
    return refusal->admitted;
  return fleet->quotas == NULL || refusal->missing != NULL ? all
                                                           : quoit_quota_admit_bundles (fleet, refusal->request, NULL);
}

/* Returns whether a quota is the reason to report: no other placement helps, or bundles never fit. */
static gboolean
is_over_quota (const QuoitFleet *fleet, const QuoitRefusal *refusal)
{
  return refusal->is_over_quota || admit_bundles (fleet, refusal).verdict == QUOIT_VERDICT_NEVER;
}

static QuoitVerdict
explain_quota (const QuoitFleet *fleet, const QuoitRefusal *refusal, GError **error)
{
  const QuoitRequest *request = refusal->request;
  const QuoitQuotaBundles admitted = admit_bundles (fleet, refusal);
  gboolean never = admitted.verdict == QUOIT_VERDICT_NEVER
                   || place_by_best (fleet, request, QUOIT_VIEW_EVER) == QUOIT_PLACEMENT_NONE;
  g_autofree char *chips = quoit_amount_format ((QuoitAmount) { admitted.requested_e4 });
  g_autofree char *quota = admitted.verdict == QUOIT_VERDICT_NEVER ? quoit_quota_describe_limit (fleet, admitted.quota)
                                                                   : quoit_quota_describe (fleet, admitted.quota);

  quoit_fail (error, never ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW,
              "%u bundle%s with %s chip%s: %s, over the quota of '%s'", request->bundles->len,
              request->bundles->len == 1 ? "" : "s", chips, admitted.requested_e4 == QUOIT_AMOUNT_UNIT ? "" : "s",
              never ? "never" : "not now", quota);
  return never ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW;
}

/* Makes the report try its options on @fleet, on which nothing that lies ahead has begun. */
static void
try_options (QuoitReport *report, const QuoitRefusal *refusal, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  if (report == NULL || refusal->now_ms == 0 || refusal->has_no_options)
    return;
  if (refusal->repeat != NULL && group != NULL)
    quoit_report_try_options_of_group (report, fleet, refusal->now_ms, refusal->end_ms, refusal->repeat, group);
  else if (refusal->group_id == 0)
    quoit_report_try_options (report, fleet, refusal->missing != NULL ? refusal->missing : refusal->request,
                              refusal->now_ms, refusal->end_ms);
}

static QuoitReport *
explain_bundles (const QuoitFleet *fleet, const QuoitRefusal *refusal, gboolean wants_report, GError **error)
{
  QuoitVerdict verdict = is_over_quota (fleet, refusal) ? explain_quota (fleet, refusal, error)
                         : refusal->node != QUOIT_NO_INDEX
                             ? explain_chips (fleet, refusal, error)
                             : explain_placing (fleet, refusal->request, refusal->placing, error);

  if (!wants_report)
    return NULL;
  return quoit_explain_refused_bundles (fleet, refusal->missing != NULL ? refusal->missing : refusal->request, verdict,
                                        NULL);
}

/* --- slices --- */

/* Sets @error to the message of a report without options. */
static void
fail_with_message (const QuoitReport *report, const QuoitRequest *request, GError **error)
{
  g_autoptr (GString) what = g_string_sized_new (64);
  g_autofree char *message = NULL;

  quoit_text_append_number (what, report->n_wanted);
  g_string_append (what, " x ");
  g_string_append (what, quoit_generation_name (request->generation));
  g_string_append_c (what, ' ');
  quoit_shape_append (what, request->shape);
  message = quoit_report_message (report, what->str);
  quoit_fail (error, report->verdict == QUOIT_VERDICT_NEVER ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW, "%s", message);
}

/* There are enough slices only if the group gives up its own. */
static void
set_holder (QuoitReport *report, const QuoitRefusal *refusal)
{
  report->verdict = QUOIT_VERDICT_NOT_NOW;
  report->holder = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, refusal->group_name, refusal->group_id);
}

/* Adds the option to release the group, if the request would then be granted. A quota that a repair ignores can refuse
 * it. @before: the fleet of the refusal before anything has begun. */
static void
add_release_of_holder (QuoitReport *report, const QuoitRefusal *refusal, const QuoitFleet *before,
                       const QuoitGroupData *group)
{
  g_autoptr (QuoitFleet) without = quoit_fleet_without_group (before, group);
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (QuoitLabel));
  QuoitRequest again = *refusal->request;

  if (group->n_labels > 0)
    g_array_append_vals (labels, group->labels, group->n_labels);
  again.owner = (char *) group->owner;
  again.labels = labels;
  if (quoit_fork_grants (without, &again, MAX (refusal->now_ms, before->clock_ms), refusal->end_ms))
    quoit_option_add_step (quoit_report_add_option (report),
                           &(QuoitStep) { .kind = QUOIT_STEP_RELEASE,
                                          .group = report->holder,
                                          .chips_e4 = quoit_group_chips_e4 (before, group),
                                          .record = group });
}

static void
set_repaired (QuoitReport *report, const QuoitRefusal *refusal)
{
  if (refusal->repaired_least == 0)
    return;
  report->repaired = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, refusal->group_name, refusal->group_id);
  report->repaired_least = refusal->repaired_least;
}

/* Returns a report. If it is wanted, its options are found when they are first read. @group: the group whose slices
 * count for the request, or NULL. */
static QuoitReport *
explain_slices (const QuoitRefusal *refusal, const QuoitGroupData *group, gboolean wants_report, GError **error)
{
  const QuoitRequest *request = refusal->request;
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitReport *report = quoit_explain_without_options (refusal->fleet, request, group, error);

  if (report == NULL)
    return NULL;
  if (group != NULL && report->verdict == QUOIT_VERDICT_FITS)
    set_holder (report, refusal);
  else if (wants_report)
    {
      fleet = group != NULL ? quoit_fleet_without_group (refusal->fleet, group) : quoit_fleet_ref (refusal->fleet);
      quoit_report_find_options_later (report, fleet, request);
      set_repaired (report, refusal);
    }
  return report;
}

/* Explains a request whose slices are made of slices of the fleet. @group: the group whose hosts count for it, or NULL.
 */
static QuoitReport *
explain_made (const QuoitFleet *fleet, const QuoitRefusal *refusal, const QuoitGroupData *group, gboolean wants_report,
              GError **error)
{
  QuoitReport *report = quoit_explain_made_without_options (fleet, refusal->request, error);

  if (report == NULL)
    return NULL;
  if (group != NULL && report->verdict == QUOIT_VERDICT_FITS)
    set_holder (report, refusal);
  else if (wants_report)
    {
      quoit_report_find_options_later (report, fleet, refusal->request);
      set_repaired (report, refusal);
    }
  return report;
}

/* Returns the live group whose slices count for the request; NULL: none. */
static const QuoitGroupData *
find_group (const QuoitRefusal *refusal)
{
  const QuoitGroupData *group
      = refusal->group_id == 0 ? NULL : quoit_fleet_find_group (refusal->fleet, refusal->group_name);

  return group != NULL && group->id == refusal->group_id ? group : NULL;
}

/* @before: the fleet of the refusal before anything has begun. */
static void
explain (const QuoitRefusal *refusal, const QuoitFleet *before, QuoitReport **report, GError **error)
{
  const QuoitGroupData *group = find_group (refusal);
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitReport *made;

  if (!quoit_request_is_by_host (refusal->request))
    made = explain_slices (refusal, group, report != NULL, error);
  else
    {
      fleet = group != NULL ? quoit_fleet_without_group (refusal->fleet, group) : quoit_fleet_ref (refusal->fleet);
      made = quoit_request_makes_slices (refusal->request) ? explain_made (fleet, refusal, group, report != NULL, error)
                                                           : explain_bundles (fleet, refusal, report != NULL, error);
    }
  if (made != NULL && made->holder != NULL)
    add_release_of_holder (made, refusal, before, group);
  if (made != NULL && error != NULL && *error == NULL)
    fail_with_message (made, refusal->request, error);
  if (made != NULL)
    made->is_of_group = refusal->group_id != 0 || refusal->missing != NULL;
  try_options (report == NULL ? NULL : made, refusal, before, group);
  if (report != NULL)
    *report = made;
  else
    quoit_report_unref (made);
}

static void
explain_as_seen (const QuoitRefusal *refusal, QuoitReport **report, GError **error)
{
  g_autoptr (QuoitFleet) seen
      = refusal->seen_until_ms == 0 ? NULL : quoit_fleet_seen_until (refusal->fleet, refusal->seen_until_ms);
  g_autoptr (QuoitFleet) without_quotas = NULL;
  QuoitRefusal as_seen = *refusal;

  if (seen != NULL)
    as_seen.fleet = seen;
  /* Quotas do not decide about a repair, because the group has had as many slices already. */
  if (refusal->repaired_least != 0 && as_seen.fleet->quotas != NULL)
    {
      without_quotas = quoit_fleet_fork (as_seen.fleet);
      quoit_fleet_drop_quotas (without_quotas);
      as_seen.fleet = without_quotas;
    }
  explain (&as_seen, refusal->fleet, report, error);
}

/* --- alternatives --- */

static void
refusal_clear (gpointer data)
{
  quoit_refusal_clear (data);
}

GArray *
quoit_refusals_new (void)
{
  GArray *refusals = g_array_new (FALSE, TRUE, sizeof (QuoitRefusal));

  g_array_set_clear_func (refusals, refusal_clear);
  return refusals;
}

gboolean
quoit_refusal_set_alternatives (QuoitRefusal *refusal, const QuoitRequest *request, GArray *alternatives,
                                GError **error)
{
  const QuoitRefusal *first = &g_array_index (alternatives, QuoitRefusal, 0);

  for (guint i = 0; i < alternatives->len; i++)
    if (g_array_index (alternatives, QuoitRefusal, i).error == NULL)
      {
        quoit_refusal_set (refusal, request);
        refusal->alternatives = alternatives;
        return FALSE;
      }
  g_propagate_error (error, g_error_copy (first->error));
  g_array_unref (alternatives);
  return FALSE;
}

/* Explains the refusal of one alternative. */
static void
explain_alternative (const QuoitRefusal *refusal, guint alternative, QuoitReport **report, GError **error)
{
  QuoitRefusal own = g_array_index (refusal->alternatives, QuoitRefusal, alternative);

  if (own.error != NULL)
    {
      g_propagate_error (error, g_error_copy (own.error));
      return;
    }
  if (own.fleet == NULL)
    own.fleet = refusal->fleet;
  explain_as_seen (&own, report, error);
}

/* Sets @error to that of the alternative that decides. */
static void
fail_with_alternative (const GError *why, guint alternative, GError **error)
{
  g_autofree char *which = alternative == 0 ? g_strdup ("") : g_strdup_printf ("alternative %u: ", alternative);

  g_set_error (error, why->domain, why->code, "%s%s; no other alternative fits%s", which, why->message,
               why->code == QUOIT_ERROR_NOT_NOW ? " now" : "");
}

static void
explain_alternatives (const QuoitRefusal *refusal, QuoitReport **report, GError **error)
{
  GArray *reports = quoit_alternative_reports_new ();
  gboolean is_known = FALSE;
  guint deciding;

  /* Without a report, those after the one that decides do not matter. */
  for (guint i = 0; i < refusal->alternatives->len && !is_known; i++)
    {
      QuoitOtherReport own = { NULL, NULL };

      explain_alternative (refusal, i, report == NULL ? NULL : &own.report, &own.error);
      g_array_append_val (reports, own);
      is_known = report == NULL && g_error_matches (own.error, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW);
    }
  deciding = quoit_alternative_reports_find (reports);
  if (error != NULL)
    fail_with_alternative (g_array_index (reports, QuoitOtherReport, deciding).error, deciding, error);
  if (report != NULL)
    *report = quoit_alternative_reports_join (reports, deciding);
  else
    g_array_unref (reports);
}

void
quoit_refusal_explain (const QuoitRefusal *refusal, QuoitReport **report, GError **error)
{
  if (refusal->alternatives != NULL)
    explain_alternatives (refusal, report, error);
  else
    explain_as_seen (refusal, report, error);
  if (refusal->member != NULL)
    g_prefix_error (error, "group '%s': ", refusal->member);
  if (refusal->has_no_options && report != NULL && *report != NULL)
    quoit_report_drop_options (*report);
}
