/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "ledger/growth.h"
#include "ledger/ledger.h"

struct _QuoitStart {
  QuoitFleet *fleet; /* in which the ends are */
  QuoitStartTime start;
};

QuoitStart *
quoit_snapshot_find_start (QuoitSnapshot *snapshot, const QuoitRequest *request, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) now = NULL;
  QuoitStart *start;

  g_return_val_if_fail (snapshot != NULL && request != NULL, NULL);

  now = quoit_snapshot_as_of (snapshot, now_ms, error);
  if (now == NULL)
    return NULL;
  start = g_new0 (QuoitStart, 1);
  start->fleet = quoit_fleet_ref (now->fleet);
  if (quoit_find_start (start->fleet, request, MAX (now_ms, start->fleet->clock_ms), &start->start, error))
    return start;
  return quoit_start_free (start), NULL;
}

/* --- growth --- */

bool
quoit_snapshot_test_growth (const QuoitSnapshot *snapshot, const char *group, uint32_t *n_now, uint32_t *n_most,
                            GError **error)
{
  g_autofree char *name = NULL;
  guint32 now = 0, most = 0;
  QuoitGroupRef ref;

  g_return_val_if_fail (snapshot != NULL && group != NULL, false);

  if (!quoit_group_ref_parse (group, &ref, &name, error)
      || !quoit_group_test_growth (snapshot->fleet, &ref, &now, &most, error))
    return false;
  if (n_now != NULL)
    *n_now = now;
  if (n_most != NULL)
    *n_most = most;
  return true;
}

QuoitStart *
quoit_snapshot_find_growth (QuoitSnapshot *snapshot, const char *group, int64_t n_slices, int64_t now_ms,
                            GError **error)
{
  g_autoptr (QuoitSnapshot) now = NULL;
  g_autoptr (QuoitStart) start = NULL;
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (snapshot != NULL && group != NULL, NULL);

  if (!quoit_group_ref_parse (group, &ref, &name, error))
    return NULL;
  now = quoit_snapshot_as_of (snapshot, now_ms, error);
  if (now == NULL)
    return NULL;
  start = g_new0 (QuoitStart, 1);
  start->fleet = quoit_fleet_ref (now->fleet);
  return quoit_group_find_growth (start->fleet, &ref, n_slices, MAX (now_ms, start->fleet->clock_ms), &start->start,
                                  error)
             ? g_steal_pointer (&start)
             : NULL;
}

void
quoit_start_free (QuoitStart *start)
{
  if (start == NULL)
    return;
  quoit_fleet_unref (start->fleet);
  quoit_start_time_clear (&start->start);
  g_free (start);
}

int64_t
quoit_start_get_time_ms (const QuoitStart *start)
{
  g_return_val_if_fail (start != NULL, 0);

  return start->start.time_ms;
}

uint32_t
quoit_start_get_alternative (const QuoitStart *start)
{
  g_return_val_if_fail (start != NULL, 0);

  return start->start.alternative;
}

uint32_t
quoit_start_get_n_ends (const QuoitStart *start)
{
  g_return_val_if_fail (start != NULL, 0);

  return start->start.ends->len;
}

static const QuoitGroupEnd *
end_at (const QuoitStart *start, uint32_t index)
{
  return &g_array_index (start->start.ends, QuoitGroupEnd, index);
}

QuoitGroup *
quoit_start_dup_end_group (const QuoitStart *start, uint32_t index)
{
  g_return_val_if_fail (start != NULL && index < start->start.ends->len, NULL);

  return quoit_group_new_from_fleet (start->fleet, quoit_fleet_group_at (start->fleet, end_at (start, index)->slot));
}

int64_t
quoit_start_get_end_ms (const QuoitStart *start, uint32_t index)
{
  g_return_val_if_fail (start != NULL && index < start->start.ends->len, 0);

  return end_at (start, index)->time_ms;
}

bool
quoit_start_end_is_estimate (const QuoitStart *start, uint32_t index)
{
  g_return_val_if_fail (start != NULL && index < start->start.ends->len, false);

  return end_at (start, index)->is_estimate;
}

bool
quoit_start_end_is_overdue (const QuoitStart *start, uint32_t index)
{
  g_return_val_if_fail (start != NULL && index < start->start.ends->len, false);

  return end_at (start, index)->is_overdue;
}
