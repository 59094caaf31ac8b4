/* SPDX-License-Identifier: Apache-2.0 */
/* The earliest start of a request agrees with reservations on forks, on which groups end step by step. */
#include "agree-pair.h"

void
agree_check_start (const Pair *pair, QuoitVerdict verdict)
{
  gboolean is_for_slices = !pair->alone->has_bundles, has_slices_only = !agree_has_bundles (pair->drawn);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSnapshot) present = quoit_snapshot_ref ((QuoitSnapshot *) pair->present);
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (present, pair->request, pair->state->now_ms, &error);

  if (start == NULL)
    expect (pair,
            (is_for_slices ? verdict != QUOIT_VERDICT_FITS : verdict == QUOIT_VERDICT_NEVER)
                && error->code == QUOIT_ERROR_NEVER,
            "%s", error->message);
  else
    expect (pair,
            (quoit_start_get_time_ms (start) == pair->state->now_ms) == (verdict == QUOIT_VERDICT_FITS)
                && (verdict != QUOIT_VERDICT_NEVER || !has_slices_only),
            "start %" G_GINT64_FORMAT ", verdict %d", quoit_start_get_time_ms (start) - pair->state->now_ms,
            (int) verdict);
}

/* --- the start, step by step --- */

typedef struct {
  gint64 time_ms;
  char *handle;
} End;

static gint
by_time (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const End *) a)->time_ms, y = ((const End *) b)->time_ms;

  return (x > y) - (x < y);
}

static void
clear_end (gpointer end)
{
  g_free (((End *) end)->handle);
}

/* Whether all reservations ahead have the slices that they have in the present state. */
static gboolean
keeps_slices_ahead (const Pair *pair, QuoitFork *fork)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);

  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (pair->present); g++)
    {
      g_autoptr (QuoitGroup) before = quoit_snapshot_dup_group (pair->present, g), after = NULL;

      if (quoit_group_get_state (before) != QUOIT_GROUP_AHEAD)
        continue;
      after = quoit_snapshot_lookup_group (snapshot, quoit_group_get_handle (before), NULL);
      for (uint32_t s = 0; s < quoit_group_get_n_slices (before); s++)
        {
          g_autofree char *slice = quoit_group_dup_slice_name (before, s);
          g_autofree char *other = quoit_group_dup_slice_name (after, s);

          if (strcmp (slice, other) != 0)
            return FALSE;
        }
    }
  return TRUE;
}

/* Lists the expected ends, which count as described at QuoitStart. Leases end by themselves; a lease that is to be
 * renewed until the expected end is renewed on the fork. Returns NULL if that is not possible, or if it gives another
 * slice to a reservation ahead, whose slices the start takes as they are. */
static GArray *
list_expected_ends (const Pair *pair, QuoitFork *fork)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (End));

  g_array_set_clear_func (ends, clear_end);
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (pair->present); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (pair->present, g);
      gboolean is_ahead = quoit_group_get_state (group) == QUOIT_GROUP_AHEAD;
      gint64 until_ms = quoit_group_get_until_ms (group), now_ms = pair->state->now_ms;
      End end = { quoit_group_get_expected_end_ms (group), NULL };

      if (end.time_ms == 0 || quoit_group_get_state (group) == QUOIT_GROUP_REMOVED
          || (is_ahead && until_ms != 0 && end.time_ms >= until_ms))
        continue;
      end.time_ms = MAX (end.time_ms, MAX (now_ms, is_ahead ? quoit_group_get_begins_ms (group) : 0) + 1);
      if (until_ms != 0 && end.time_ms > until_ms
          && !drop_group (quoit_fork_renew (fork, quoit_group_get_handle (group), end.time_ms - now_ms, now_ms, NULL)))
        return NULL;
      end.handle = g_strdup (quoit_group_get_handle (group));
      g_array_append_val (ends, end);
    }
  if (!keeps_slices_ahead (pair, fork))
    return NULL;
  g_array_sort (ends, by_time);
  return g_steal_pointer (&ends);
}

/* Whether the request fits at the time on the fork, on which groups have ended until then. */
static gboolean
fits_at (const Pair *pair, QuoitFork *fork, gint64 time_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);
  g_autoptr (QuoitFork) trial = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (trial, pair->request, time_ms, NULL, NULL);

  return group != NULL;
}

/* Returns the first time at which a reservation succeeds: a whole minute, or the millisecond after one, from which on
 * the request runs into what begins a whole number of minutes later; 0: none; -1: the ends cannot be simulated. */
static gint64
scan_for_start (const Pair *pair)
{
  enum { N_MINUTES = 45 };
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->present);
  g_autoptr (GArray) ends = list_expected_ends (pair, fork);
  guint next = 0;

  if (ends == NULL)
    return -1;
  for (guint step = 0; step < 2 * N_MINUTES; step++)
    {
      gint64 time_ms = pair->state->now_ms + step / 2 * MINUTE_MS + step % 2;

      for (; next < ends->len && g_array_index (ends, End, next).time_ms <= time_ms; next++)
        quoit_fork_release (fork, g_array_index (ends, End, next).handle, g_array_index (ends, End, next).time_ms,
                            NULL);
      if (fits_at (pair, fork, time_ms))
        return time_ms;
    }
  return 0;
}

/* Not exact: a quota for one class decides about the places of parts that are chosen, and these depend on the time. */
static gboolean
has_chosen_quotas (const Pair *pair)
{
  gboolean has_cut = FALSE;

  for (guint i = 0; i < pair->drawn->n_alone; i++)
    has_cut |= pair->drawn->alone[i].has_cut;
  return has_cut && quoit_snapshot_get_n_quotas (pair->present) > 0;
}

void
agree_check_start_by_scan (const Pair *pair, const char *summary)
{
  g_autoptr (QuoitSnapshot) present = quoit_snapshot_ref ((QuoitSnapshot *) pair->present);
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (present, pair->request, pair->state->now_ms, NULL);
  const gint64 start_ms = start == NULL ? 0 : quoit_start_get_time_ms (start), expected_ms = scan_for_start (pair);

  if (expected_ms < 0 || has_chosen_quotas (pair))
    return;
  expect (pair, start_ms == expected_ms, "start in %" G_GINT64_FORMAT " ms, expected %" G_GINT64_FORMAT ": %s",
          start_ms - pair->state->now_ms, expected_ms - pair->state->now_ms, summary);
  pair->count->n_starts += expected_ms > pair->state->now_ms;
}
