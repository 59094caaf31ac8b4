/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a request for which more time does not only help: beside what lies ahead, where it also matters which
 * slices are free, and for bundles that quotas count where they are placed. Each time at which something ends is tried,
 * on a fork on which all that was to end by then has ended, and all that was to begin has begun. */
#include "placement/start-scan.h"

#include "placement/ahead-moves.h"
#include "placement/quota.h"

typedef struct {
  QuoitGroupEnd end;
  gboolean begins; /* the group of the slot begins at the time, instead of ending */
} Event;

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const Event *x = a, *y = b;

  if (x->end.time_ms != y->end.time_ms)
    return x->end.time_ms < y->end.time_ms ? -1 : 1;
  return x->begins - y->begins;
}

/* Sets @end to the assumed end of a record that lies ahead. Returns FALSE if it is unknown. */
static gboolean
find_end_ahead (const QuoitFleet *fleet, guint i, QuoitGroupEnd *end)
{
  *end = (QuoitGroupEnd) { .slot = quoit_fleet_ahead_slot (fleet, i) };
  end->time_ms = quoit_group_assumed_end (fleet, quoit_fleet_ahead_at (fleet, i), 0, &end->is_estimate);
  return end->time_ms != 0;
}

static GArray *
list_events (const QuoitFleet *fleet, gint64 now_ms)
{
  GArray *events = g_array_new (FALSE, FALSE, sizeof (Event));
  Event event = { .begins = FALSE };

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_group_end_find (fleet, slot, now_ms, &event.end))
      g_array_append_val (events, event);
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, i);
      const Event begin
          = { { .slot = quoit_fleet_ahead_slot (fleet, i), .time_ms = group->begins_ms }, .begins = TRUE };

      if (quoit_group_is_listed (group) && group->begins_ms > now_ms)
        g_array_append_val (events, begin);
      if (find_end_ahead (fleet, i, &event.end))
        g_array_append_val (events, event);
    }
  g_array_sort (events, by_time);
  return events;
}

static void
apply (QuoitFleet *fork, const Event *event)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fork, event->end.slot);

  if (event->begins)
    quoit_ahead_begin (fork, group);
  else
    quoit_fork_fleet_release (fork, group);
}

/* Returns whether the request fits at the time, if reservations ahead get other slices. */
static gboolean
fits_at (const QuoitFleet *fleet, const QuoitRequest *request, gint64 time_ms)
{
  g_autoptr (QuoitFleet) seen = NULL;

  /* What lies ahead can only take slices away, and this test is cheap. */
  if (!quoit_request_is_by_host (request) && !quoit_slices_fit (fleet, request))
    return FALSE;
  seen = quoit_fleet_seen_by (fleet, request, time_ms);
  if (quoit_request_is_by_host (request))
    return quoit_bundles_fit (seen != NULL ? seen : fleet, request, NULL);
  return seen == NULL || quoit_slices_fit (seen, request);
}

gint64
quoit_start_scan (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms)
{
  g_autoptr (GArray) events = NULL;
  g_autoptr (QuoitFleet) fork = NULL;

  if (fits_at (fleet, request, now_ms))
    return now_ms;
  events = list_events (fleet, now_ms);
  fork = quoit_fleet_fork (fleet);
  for (guint i = 0; i < events->len;)
    {
      const gint64 time_ms = g_array_index (events, Event, i).end.time_ms;
      gboolean any_ends = FALSE;

      for (; i < events->len && g_array_index (events, Event, i).end.time_ms == time_ms; i++)
        {
          apply (fork, &g_array_index (events, Event, i));
          any_ends |= !g_array_index (events, Event, i).begins;
        }
      if (any_ends && time_ms > now_ms && fits_at (fork, request, time_ms))
        return time_ms;
    }
  return 0;
}

gboolean
quoit_start_is_granted_at (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, gint64 time_ms)
{
  g_autoptr (GArray) events = list_events (fleet, now_ms);
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);

  for (guint i = 0; i < events->len && g_array_index (events, Event, i).end.time_ms <= time_ms; i++)
    apply (fork, &g_array_index (events, Event, i));
  return fits_at (fork, request, time_ms);
}

void
quoit_start_add_ends_ahead (const QuoitFleet *fleet, gint64 now_ms, GArray *ends)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      QuoitGroupEnd end;

      if (quoit_group_is_listed (quoit_fleet_ahead_at (fleet, i)) && find_end_ahead (fleet, i, &end)
          && end.time_ms > now_ms)
        g_array_append_val (ends, end);
    }
}
