/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a group does not have everything that it requested, and whether it could have it now. */
#include "ledger/elastic.h"
#include "placement/ahead.h"
#include "placement/ends.h"
#include "placement/explain-bundles.h"
#include "placement/made.h"

/* Explains all slices of the group. Its own slices count as free. Quotas, and the group that it was to be near to, do
 * not matter to a repair. */
static QuoitReport *
explain_all_slices (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);
  g_autoptr (QuoitFleet) without = NULL, seen = NULL;
  const QuoitFleet *free;

  if (request == NULL)
    return NULL;
  request->n_slices = group->n_slices;
  request->min_slices = 0;
  g_clear_pointer (&request->near, g_free);
  without = quoit_fleet_without_group (fleet, group);
  quoit_fleet_drop_quotas (without);
  seen = quoit_fleet_seen_until (without, quoit_group_latest_end (group));
  free = seen != NULL ? seen : without;
  return quoit_request_makes_slices (request) ? quoit_explain_made_without_options (free, request, error)
                                              : quoit_explain_without_options (free, request, NULL, error);
}

/* Explains the bundles that have no node. */
static QuoitReport *
explain_unplaced (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_step_make_unplaced_request (fleet, group, error);
  g_autoptr (QuoitFleet) seen = NULL;

  if (request == NULL)
    return NULL;
  seen = quoit_fleet_seen_until (fleet, quoit_group_latest_end (group));
  return quoit_explain_bundles (seen != NULL ? seen : fleet, request, error);
}

static QuoitReport *
explain_success (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  QuoitReport *report = group->kind == QUOIT_RECORD_BUNDLES ? explain_unplaced (fleet, group, error)
                                                            : explain_all_slices (fleet, group, error);

  if (report == NULL)
    return NULL;
  report->verdict = QUOIT_VERDICT_FITS;
  report->is_of_group = TRUE;
  if (report->is_for_bundles)
    return report;
  /* The counts do not know that a repair keeps what it can keep. */
  report->n_free_now = MAX (report->n_free_now, report->n_wanted);
  report->n_possible = MAX (report->n_possible, report->n_free_now);
  return report;
}

/* Explains the repair of a group of this ledger. */
static QuoitReport *
explain_repair (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 now_ms, GError **error)
{
  const QuoitGroupRef ref = { group->name, group->id };
  g_autoptr (QuoitEntry) entry = NULL;
  g_autoptr (GError) failure = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  QuoitReport *report = NULL;

  if (quoit_step_repair (fleet, &ref, now_ms, &entry, &outcome, &failure))
    {
      if (outcome.after == outcome.before && group->kind != QUOIT_RECORD_BUNDLES)
        return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                                "group '%s@%" G_GUINT64_FORMAT "' has all of its slices: there is nothing to explain",
                                group->name, group->id);
      return explain_success (fleet, group, error);
    }
  if (failure == NULL && outcome.refusal.fleet == NULL)
    outcome.refusal.fleet = quoit_fleet_ref (fleet);
  if (failure == NULL)
    quoit_refusal_explain (&outcome.refusal, &report, &failure);
  if (report == NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  return report;
}

QuoitReport *
quoit_step_explain_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, GError **error)
{
  const QuoitGroupData *group = quoit_step_lookup_group (fleet, ref, error);

  if (group == NULL)
    return NULL;
  return *group->source == '\0' ? explain_repair (fleet, group, now_ms, error) : explain_unplaced (fleet, group, error);
}
