/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/start.h"

#include <string.h>

#include "fleet/ahead.h"
#include "placement/bundles-after.h"
#include "placement/made.h"
#include "placement/domains.h"
#include "placement/quota.h"
#include "placement/start-scan.h"

/* --- ends of groups --- */

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS };

/* Sorts by time, with a radix sort from the lowest digit on: comparing would take longer than everything else. Equal
 * times stay in the order of the slots. */
static void
sort_by_time (GArray *ends)
{
  QuoitGroupEnd *from = (QuoitGroupEnd *) (void *) ends->data;
  g_autofree QuoitGroupEnd *copy = g_new (QuoitGroupEnd, ends->len + 1);
  QuoitGroupEnd *to = copy;
  gint64 first_ms = G_MAXINT64, last_ms = 0;

  for (guint i = 0; i < ends->len; i++)
    {
      first_ms = MIN (first_ms, from[i].time_ms);
      last_ms = MAX (last_ms, from[i].time_ms);
    }
  for (guint shift = 0; ends->len > 1 && (last_ms - first_ms) >> shift > 0; shift += DIGIT_BITS)
    {
      guint32 next[N_DIGITS + 1] = { 0 };

      for (guint i = 0; i < ends->len; i++)
        next[((guint64) (from[i].time_ms - first_ms) >> shift) % N_DIGITS + 1]++;
      for (guint digit = 1; digit < N_DIGITS; digit++)
        next[digit] += next[digit - 1];
      for (guint i = 0; i < ends->len; i++)
        to[next[((guint64) (from[i].time_ms - first_ms) >> shift) % N_DIGITS]++] = from[i];
      to = from;
      from = from == copy ? (QuoitGroupEnd *) (void *) ends->data : copy;
    }
  if (from == copy)
    memcpy (ends->data, copy, ends->len * sizeof *copy);
}

gboolean
quoit_start_fail_never (const QuoitRequest *request, guint32 n_possible, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_NEVER, "never, at most %u of %u slices, even if all groups end", n_possible,
                     quoit_request_min_slices (request));
}

/* --- slices --- */

/* Counts what the ends of groups make free. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitCandidates *candidates;
  GHashTable *n_users; /* slice index -> number of its groups that have not ended, for slices that groups share */
} Gains;

/* Adds the groups that have a part of the node. */
static void
add_users (GHashTable *users, const QuoitFleet *fleet, guint32 node)
{
  QuoitUsers iter = quoit_fleet_node_users (fleet, (QuoitNodeId) { node });
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&iter)) != NULL)
    g_hash_table_add (users, (gpointer) user);
}

/* Returns the number of groups that have a part of the slice. */
static guint
count_users (const Gains *gains, guint32 slice)
{
  const QuoitSlice *row = &gains->fleet->layout->slices[slice];
  g_autoptr (GHashTable) users = g_hash_table_new (NULL, NULL);

  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    add_users (users, gains->fleet, i);
  return g_hash_table_size (users);
}

/* Lists the slices that become free when the group ends after all groups before it. */
static void
list_shared_gain (const Gains *gains, const QuoitGroupData *group, GArray *slices)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (gains->fleet->layout, group->node_ids[i]);
      gpointer left;

      if (slice == QUOIT_NO_INDEX || !g_hash_table_add (seen, GUINT_TO_POINTER (slice)))
        continue;
      if (!g_hash_table_lookup_extended (gains->n_users, GUINT_TO_POINTER (slice), NULL, &left))
        left = GUINT_TO_POINTER (quoit_candidates_can_become_free (gains->candidates, gains->fleet, slice)
                                     ? count_users (gains, slice)
                                     : G_MAXUINT);
      if (GPOINTER_TO_UINT (left) != G_MAXUINT)
        left = GUINT_TO_POINTER (GPOINTER_TO_UINT (left) - 1);
      g_hash_table_insert (gains->n_users, GUINT_TO_POINTER (slice), left);
      if (GPOINTER_TO_UINT (left) == 0)
        g_array_append_val (slices, slice);
    }
}

static guint32
count_shared_gain (const Gains *gains, const QuoitGroupData *group)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  list_shared_gain (gains, group, slices);
  return slices->len;
}

/* Lists the slices that become free when the group ends, of any group. */
static void
list_gain (const Gains *gains, const QuoitGroupData *group, GArray *slices)
{
  g_array_set_size (slices, 0);
  if (!quoit_group_has_whole_slices (group))
    list_shared_gain (gains, group, slices);
  for (guint32 s = 0; quoit_group_has_whole_slices (group) && s < group->n_slices; s++)
    {
      guint32 slice = quoit_layout_group_slice (gains->fleet->layout, group, s);

      if (quoit_candidates_can_become_free (gains->candidates, gains->fleet, slice))
        g_array_append_val (slices, slice);
    }
}

/* Collects all known ends, and what those of whole slices free. */
static GArray *
collect_ends (const QuoitFleet *fleet, const Gains *gains, gint64 now_ms)
{
  GArray *ends = g_array_sized_new (FALSE, FALSE, sizeof (QuoitGroupEnd), fleet->n_groups);
  QuoitGroupEnd end;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_group_end_find (fleet, slot, now_ms, &end))
      {
        const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

        if (gains != NULL && quoit_group_has_whole_slices (group))
          end.n_slices = quoit_candidates_count_freed (gains->candidates, fleet, group);
        if (gains == NULL || end.n_slices > 0 || !quoit_group_has_whole_slices (group))
          g_array_append_val (ends, end);
      }
  return ends;
}

/* Returns the time of the first end after which @n slices are free, and removes the ends that are not needed for them;
 * 0 if there is none. The ends must be sorted. */
static gint64
wait_for_slices (const QuoitFleet *fleet, const Gains *gains, GArray *ends, guint32 n)
{
  guint32 n_gained = 0, n_kept = 0;

  for (guint i = 0; i < ends->len && n_gained < n; i++)
    {
      QuoitGroupEnd *end = &g_array_index (ends, QuoitGroupEnd, i);
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, end->slot);

      if (!quoit_group_has_whole_slices (group))
        end->n_slices = count_shared_gain (gains, group);
      n_gained += end->n_slices;
      g_array_index (ends, QuoitGroupEnd, n_kept++) = *end;
    }
  g_array_set_size (ends, n_gained < n ? 0 : n_kept);
  return n_gained < n ? 0 : g_array_index (ends, QuoitGroupEnd, n_kept - 1).time_ms;
}

/* What the end of a group adds to a domain. */
typedef struct {
  guint end; /* index */
  guint32 domain;
} DomainGain;

/* Returns the number of ends after which the request has enough slices in its domains; 0: all are not enough. Appends
 * what they free to @added. */
static guint
count_ends_for_domains (QuoitDomains *domains, const Gains *gains, const GArray *ends, guint32 n, GArray *added)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  quoit_domains_count_free (domains);
  for (guint i = 0; i < ends->len; i++)
    {
      list_gain (gains, quoit_fleet_group_at (gains->fleet, g_array_index (ends, QuoitGroupEnd, i).slot), slices);
      for (guint s = 0; s < slices->len; s++)
        {
          const DomainGain gain
              = { i, quoit_domain_of_slice (domains->map, gains->fleet->layout, g_array_index (slices, guint32, s)) };

          domains->counts[gain.domain].n_available++;
          g_array_append_val (added, gain);
        }
      if (slices->len > 0 && quoit_domains_most (domains) >= n)
        return i + 1;
    }
  return 0;
}

/* Like wait_for_slices(), for a request that depends on the pools or zones of its slices. Ends in domains that the
 * request does not use are not needed. */
static gint64
wait_for_domains (const Gains *gains, const QuoitRequest *request, GArray *ends, guint32 n)
{
  g_auto (QuoitDomains) domains = { 0 };
  g_autoptr (GArray) added = g_array_new (FALSE, FALSE, sizeof (DomainGain));
  g_autofree guint32 *shares = NULL;
  guint32 n_kept = 0, a = 0;
  gint64 time_ms;
  guint n_ends;

  quoit_domains_init (&domains, gains->fleet, request, gains->candidates);
  n_ends = count_ends_for_domains (&domains, gains, ends, n, added);
  if (n_ends == 0)
    return g_array_set_size (ends, 0), 0;
  time_ms = g_array_index (ends, QuoitGroupEnd, n_ends - 1).time_ms;
  shares = quoit_domains_divide (&domains, n);
  for (guint i = 0; i < n_ends; i++)
    {
      QuoitGroupEnd *end = &g_array_index (ends, QuoitGroupEnd, i);

      end->n_slices = 0;
      for (; a < added->len && g_array_index (added, DomainGain, a).end == i; a++)
        end->n_slices += shares[g_array_index (added, DomainGain, a).domain] > 0;
      if (end->n_slices > 0)
        g_array_index (ends, QuoitGroupEnd, n_kept++) = *end;
    }
  g_array_set_size (ends, n_kept);
  return time_ms;
}

/* Removes the ends after the start. */
static void
drop_later_ends (QuoitStartTime *start)
{
  guint n = 0;

  while (n < start->ends->len && g_array_index (start->ends, QuoitGroupEnd, n).time_ms <= start->time_ms)
    n++;
  g_array_set_size (start->ends, start->time_ms == 0 ? 0 : n);
}

/* Whether more time does not only help. */
static gboolean
needs_scan (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return quoit_fleet_n_ahead (fleet) > 0 || (quoit_request_is_by_host (request) && fleet->quotas != NULL);
}

/* Lists what a scanned start waits for: the ends of reservations ahead, and those of groups. */
static void
set_ends_of_scan (const QuoitFleet *fleet, const Gains *gains, gint64 now_ms, QuoitStartTime *start)
{
  if (start->time_ms <= now_ms)
    return;
  g_array_unref (start->ends);
  start->ends = collect_ends (fleet, gains, now_ms);
  quoit_start_add_ends_ahead (fleet, now_ms, start->ends);
  sort_by_time (start->ends);
  drop_later_ends (start);
}

static gboolean
find_start_of_slices (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                      GError **error)
{
  const guint32 n = quoit_request_min_slices (request);
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  quoit_domains_count (&candidates, fleet, request, &counts);
  if (quoit_fleet_n_ahead (fleet) > 0 && counts.n_possible >= n)
    {
      const Gains gains = { .fleet = fleet, .candidates = &candidates };

      start->time_ms = quoit_start_scan (fleet, request, now_ms);
      set_ends_of_scan (fleet, &gains, now_ms, start);
    }
  else if (counts.n_free_now >= n)
    start->time_ms = now_ms;
  else if (counts.n_possible >= n)
    {
      g_autoptr (GHashTable) n_users = g_hash_table_new (NULL, NULL);
      const Gains gains = { fleet, &candidates, n_users };

      g_array_unref (start->ends);
      start->ends = collect_ends (fleet, &gains, now_ms);
      sort_by_time (start->ends);
      start->time_ms = quoit_request_has_domains (request)
                           ? wait_for_domains (&gains, request, start->ends, n)
                           : wait_for_slices (fleet, &gains, start->ends, n - counts.n_free_now);
    }
  quoit_candidates_clear (&candidates);
  return counts.n_possible >= n || quoit_start_fail_never (request, counts.n_possible, error);
}

/* --- bundles --- */

/* Returns the slots of the groups, as an array of guint32. */
static GArray *
list_slots (const GArray *ends)
{
  GArray *slots = g_array_sized_new (FALSE, FALSE, sizeof (guint32), ends->len);

  for (guint i = 0; i < ends->len; i++)
    g_array_append_val (slots, g_array_index (ends, QuoitGroupEnd, i).slot);
  return slots;
}

/* Appends the nodes that the request gets now, for its bundles or the least number of its parts. */
static gboolean
plan_nodes (const QuoitFleet *fleet, const QuoitRequest *request, GArray *nodes)
{
  g_auto (QuoitBundlePlan) plan = { 0 };

  if (quoit_request_makes_slices (request))
    return quoit_made_choose_nodes (fleet, request, quoit_request_min_slices (request), nodes);
  quoit_bundle_plan_init (&plan, request->bundles->len);
  if (!quoit_plan_bundles (fleet, request, &plan, NULL, NULL))
    return FALSE;
  g_array_append_vals (nodes, plan.nodes, plan.n);
  return TRUE;
}

/* Finds the nodes that the request gets after @start->ends, and removes the ends of groups that use none of them, and
 * that no full quota counts. */
static void
find_nodes (const QuoitFleet *fleet, const QuoitRequest *request, QuoitStartTime *start)
{
  GArray *ends = start->ends;
  g_autoptr (GArray) slots = list_slots (ends);
  g_autoptr (QuoitFleet) after = quoit_fleet_without (fleet, slots, ends->len);
  g_autoptr (GHashTable) users = g_hash_table_new (NULL, NULL);
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (fleet, request);
  guint n_kept = 0;

  if (!plan_nodes (after, request, start->nodes))
    return;
  for (guint i = 0; i < start->nodes->len; i++)
    add_users (users, fleet, g_array_index (start->nodes, guint32, i));
  for (guint i = 0; i < ends->len; i++)
    {
      QuoitGroupEnd end = g_array_index (ends, QuoitGroupEnd, i);
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, end.slot);

      if (g_hash_table_contains (users, group) || quoit_quota_counts_in (full, fleet, group))
        g_array_index (ends, QuoitGroupEnd, n_kept++) = end;
    }
  g_array_set_size (ends, n_kept);
}

static gboolean
find_start_of_bundles (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                       GError **error)
{
  g_autoptr (GArray) slots = NULL;
  gboolean is_proven;
  guint n;

  if (!quoit_request_check_complete (request, error) || !quoit_quota_check_ever (fleet, request, error)
      || (quoit_request_makes_slices (request)
          && !quoit_made_check_ever (fleet, request, quoit_request_min_slices (request), error)))
    return FALSE;
  if (needs_scan (fleet, request))
    {
      start->time_ms = quoit_start_scan (fleet, request, now_ms);
      set_ends_of_scan (fleet, NULL, now_ms, start);
      if (quoit_fleet_n_ahead (fleet) == 0 && start->ends->len > 0)
        find_nodes (fleet, request, start);
      return TRUE;
    }
  if (quoit_bundles_fit (fleet, request, NULL))
    return start->time_ms = now_ms, TRUE;
  g_array_unref (start->ends);
  start->ends = collect_ends (fleet, NULL, now_ms);
  sort_by_time (start->ends);
  slots = list_slots (start->ends);
  n = quoit_bundles_count_ends (fleet, request, slots, &is_proven);
  g_array_set_size (start->ends, n);
  if (n == 0)
    return TRUE;
  start->time_ms = g_array_index (start->ends, QuoitGroupEnd, n - 1).time_ms;
  find_nodes (fleet, request, start);
  return TRUE;
}

/* --- quotas for slices --- */

/* Returns how many of the ends, in their order, the quotas need to admit the request; 0 if all are not enough. */
static guint
count_ends_for_quotas (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *ends)
{
  g_autoptr (GArray) slots = list_slots (ends);
  guint too_few = 0, enough = slots->len;

  if (enough == 0 || !quoit_quota_admits_after (fleet, request, slots, enough))
    return 0;
  while (enough - too_few > 1)
    {
      guint middle = too_few + (enough - too_few) / 2;

      if (quoit_quota_admits_after (fleet, request, slots, middle))
        enough = middle;
      else
        too_few = middle;
    }
  return enough;
}

/* Reduces @ends to those that the start needed already, or that the full quotas count. */
static void
keep_needed_ends (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *needed, GArray *ends)
{
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (fleet, request);
  guint n_kept = 0;

  for (guint i = 0; i < ends->len; i++)
    {
      QuoitGroupEnd end = g_array_index (ends, QuoitGroupEnd, i);
      gboolean is_needed = quoit_quota_counts_in (full, fleet, quoit_fleet_group_at (fleet, end.slot));

      for (guint n = 0; n < needed->len && !is_needed; n++)
        if (g_array_index (needed, QuoitGroupEnd, n).slot == end.slot)
          {
            end = g_array_index (needed, QuoitGroupEnd, n);
            is_needed = TRUE;
          }
      if (is_needed)
        g_array_index (ends, QuoitGroupEnd, n_kept++) = end;
    }
  g_array_set_size (ends, n_kept);
}

/* Adds the ends of the groups that the full quotas count to those for which the start waits. */
static void
add_ends_for_quotas (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start)
{
  g_autoptr (GArray) needed = g_steal_pointer (&start->ends);

  start->ends = collect_ends (fleet, NULL, now_ms);
  quoit_start_add_ends_ahead (fleet, now_ms, start->ends);
  sort_by_time (start->ends);
  drop_later_ends (start);
  keep_needed_ends (fleet, request, needed, start->ends);
}

/* Moves the start of a request that placement has found to when the quotas admit it too. */
static gboolean
wait_for_quotas (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                 GError **error)
{
  const gboolean is_scanned = needs_scan (fleet, request);
  g_autoptr (GArray) ends = NULL;
  guint n;

  if (is_scanned ? start->time_ms == now_ms : quoit_quota_admits_after (fleet, request, NULL, 0))
    return TRUE;
  if (!quoit_quota_check_ever (fleet, request, error))
    return FALSE;
  if (!is_scanned && start->time_ms != 0)
    {
      ends = collect_ends (fleet, NULL, now_ms);
      sort_by_time (ends);
      n = count_ends_for_quotas (fleet, request, ends);
      start->time_ms = n == 0 ? 0 : MAX (start->time_ms, g_array_index (ends, QuoitGroupEnd, n - 1).time_ms);
    }
  if (start->time_ms == 0)
    g_array_set_size (start->ends, 0);
  else
    add_ends_for_quotas (fleet, request, now_ms, start);
  return TRUE;
}

QuoitStartTime
quoit_start_time_at (gint64 time_ms)
{
  return (QuoitStartTime) { time_ms, g_array_new (FALSE, FALSE, sizeof (QuoitGroupEnd)),
                            g_array_new (FALSE, FALSE, sizeof (guint32)), 0 };
}

gboolean
quoit_start_is_in_time (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, gint64 time_ms)
{
  const QuoitGroupData *near = quoit_request_find_near (fleet, request);
  gint64 end_ms = near == NULL ? 0 : quoit_group_assumed_end (fleet, near, now_ms, NULL);

  return end_ms == 0 || time_ms < end_ms;
}

gboolean
quoit_find_start_alone (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                        GError **error)
{
  *start = quoit_start_time_at (0);
  if (!quoit_request_check_near (fleet, request, error))
    return FALSE;
  if (!(quoit_request_is_by_host (request) ? find_start_of_bundles (fleet, request, now_ms, start, error)
                                           : find_start_of_slices (fleet, request, now_ms, start, error))
      || (fleet->quotas != NULL && !wait_for_quotas (fleet, request, now_ms, start, error)))
    return FALSE;
  if (start->time_ms > now_ms && !quoit_start_is_in_time (fleet, request, now_ms, start->time_ms))
    {
      start->time_ms = 0;
      g_array_set_size (start->ends, 0);
    }
  return TRUE;
}

/* Returns whether @a is before @b; an unknown start is after all others. */
static gboolean
is_earlier (const QuoitStartTime *a, const QuoitStartTime *b)
{
  return a->time_ms != 0 && (b->time_ms == 0 || a->time_ms < b->time_ms);
}

gboolean
quoit_find_start (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                  GError **error)
{
  g_autoptr (GError) first_error = NULL;
  gboolean is_found;

  if (request->alternatives == NULL)
    return quoit_find_start_alone (fleet, request, now_ms, start, error);
  *start = (QuoitStartTime) { 0 };
  if (!quoit_request_check_complete (request, error))
    return FALSE;
  is_found = quoit_find_start_alone (fleet, request, now_ms, start, &first_error);
  for (guint i = 1; i < quoit_request_n_alternatives (request) && (!is_found || start->time_ms != now_ms); i++)
    {
      g_auto (QuoitStartTime) other = { 0 };

      if (!quoit_find_start_alone (fleet, quoit_request_alternative (request, i), now_ms, &other, NULL)
          || (is_found && !is_earlier (&other, start)))
        continue;
      quoit_start_time_clear (start);
      *start = other;
      start->alternative = i;
      other = (QuoitStartTime) { 0 };
      is_found = TRUE;
    }
  if (!is_found)
    g_propagate_error (error, g_steal_pointer (&first_error));
  return is_found;
}

void
quoit_start_time_clear (QuoitStartTime *start)
{
  g_clear_pointer (&start->ends, g_array_unref);
  g_clear_pointer (&start->nodes, g_array_unref);
}
