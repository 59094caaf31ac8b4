/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/growth.h"

#include "base/time.h"
#include "ledger/elastic.h"
#include "ledger/quotas.h"
#include "placement/ahead.h"
#include "placement/made.h"
#include "placement/domains.h"

gboolean
quoit_group_test_growth (const QuoitFleet *fleet, const QuoitGroupRef *ref, guint32 *n_now, guint32 *n_most,
                         GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  g_autoptr (QuoitGroupData) after = NULL;
  const QuoitGroupData *group = quoit_elastic_lookup (fleet, ref, &request, error);
  guint32 most;

  if (group == NULL)
    return FALSE;
  most = MAX (request->n_slices, group->n_slices);
  after = quoit_elastic_resize (fleet, group, group->n_slices, most, NULL, request, &moved, NULL, error);
  if (after == NULL)
    return FALSE;
  *n_now = after->n_slices;
  *n_most = most;
  return TRUE;
}

/* Fails with NEVER if the fleet has too few slices for the request. */
static gboolean
check_possible (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;

  if (quoit_request_makes_slices (request))
    return quoit_made_check_ever (fleet, request, request->n_slices, error);
  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  quoit_domains_count (&candidates, fleet, request, &counts);
  quoit_candidates_clear (&candidates);
  return counts.n_possible >= request->n_slices || quoit_start_fail_never (request, counts.n_possible, error);
}

/* Returns a fork in which the group is not expected to end before the last time of a ledger, because its end makes no
 * slices free for itself. */
static QuoitFleet *
fork_with_lasting (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  QuoitFleet *fork = quoit_fleet_fork (fleet);
  QuoitGroupData fields = quoit_group_data_copy_fields (group);

  fields.expected_end_ms = QUOIT_LAST_MS;
  quoit_fleet_replace_group (fork, quoit_group_data_new (&fields), NULL);
  return fork;
}

gboolean
quoit_group_find_growth (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 n_slices, gint64 now_ms,
                         QuoitStartTime *start, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitFleet) fork = NULL;
  const QuoitGroupData *group = quoit_elastic_lookup (fleet, ref, &request, error);
  gint64 end_ms;

  *start = quoit_start_time_at (now_ms);
  if (group == NULL || !quoit_elastic_check_n_slices (group, request, n_slices, n_slices, error))
    return FALSE;
  if (n_slices <= group->n_slices)
    return TRUE;
  request->min_slices = 0;
  request->n_slices = (guint32) n_slices;
  if (!check_possible (fleet, request, error))
    return FALSE;
  request->n_slices -= group->n_slices;
  /* A resize ignores that group when it has ended. */
  g_clear_pointer (&request->near, g_free);
  request->members = quoit_elastic_list_members (fleet->layout, group, NULL, request);
  end_ms = quoit_group_latest_end (group);
  if (end_ms != QUOIT_FOREVER_MS)
    request->lease_ms = MAX (end_ms - now_ms, 1);
  quoit_step_set_quota_target (request, group);
  fork = fork_with_lasting (fleet, group);
  quoit_start_time_clear (start);
  if (!quoit_find_start (fork, request, now_ms, start, error))
    return FALSE;
  if (start->time_ms >= QUOIT_LAST_MS)
    {
      start->time_ms = 0;
      g_array_set_size (start->ends, 0);
    }
  return TRUE;
}
