/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a request for which more time does not only help: beside what lies ahead, where it also matters which
 * slices are free, and for bundles that quotas count where they are placed. Each time at which something ends or begins
 * is tried, on a fork on which all that was to end by then has ended, and all that was to begin has begun. A beginning
 * can help too, because the search for other slices of reservations ahead is not complete: it then avoids slices of
 * what has begun. Times at which too little is free for bundles are recognised without a search. */
#include "placement/start-scan.h"

#include "base/time.h"
#include "placement/ahead-moves.h"
#include "placement/bundle-bounds.h"
#include "placement/quota.h"

typedef enum {
  ENDS = 1 << 0, /* the ledger ends the group, because its lease ends */
  BEGINNINGS = 1 << 1,
  RELEASES = 1 << 2, /* a caller releases the group, as its estimate says */
  SIGHTS = 1 << 3    /* nothing changes, but from now on, the request would still run when the record begins */
} EventKind;

typedef struct {
  QuoitGroupEnd end; /* of a beginning, only slot and time */
  EventKind kind;
} Event;

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const Event *x = a, *y = b;

  if (x->end.time_ms != y->end.time_ms)
    return x->end.time_ms < y->end.time_ms ? -1 : 1;
  return (x->kind == BEGINNINGS) - (y->kind == BEGINNINGS);
}

/* Sets @end to the assumed end of a record that lies ahead. Returns FALSE if it is unknown. */
static gboolean
find_end_ahead (const QuoitFleet *fleet, guint i, QuoitGroupEnd *end)
{
  *end = (QuoitGroupEnd) { .slot = quoit_fleet_ahead_slot (fleet, i) };
  end->time_ms = quoit_group_assumed_end (fleet, quoit_fleet_ahead_at (fleet, i), 0, &end->is_estimate);
  return end->time_ms != 0;
}

/* Adds the end of a group. A lease that ends at the time of the estimate ends the group before its caller does. */
static void
add_end (GArray *events, const QuoitFleet *fleet, const QuoitGroupEnd *end)
{
  const gboolean is_lease = quoit_fleet_group_at (fleet, end->slot)->until_ms == end->time_ms;
  const Event event = { *end, end->is_estimate && !is_lease ? RELEASES : ENDS };

  g_array_append_val (events, event);
}

static GArray *
list_events (const QuoitFleet *fleet, gint64 now_ms)
{
  GArray *events = g_array_new (FALSE, FALSE, sizeof (Event));
  QuoitGroupEnd end;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_group_end_find (fleet, slot, now_ms, &end))
      add_end (events, fleet, &end);
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, i);
      const Event begin = { { .slot = quoit_fleet_ahead_slot (fleet, i), .time_ms = group->begins_ms }, BEGINNINGS };

      if (quoit_group_is_listed (group) && group->begins_ms > now_ms)
        g_array_append_val (events, begin);
      if (find_end_ahead (fleet, i, &end))
        add_end (events, fleet, &end);
    }
  return events;
}

static void
apply (QuoitFleet *fork, const Event *event)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fork, event->end.slot);

  /* What ends by then does not begin any more. */
  if (event->kind == SIGHTS || group == NULL || group->state == QUOIT_GROUP_REMOVED)
    return;
  if (event->kind != BEGINNINGS)
    quoit_fork_fleet_release (fork, group);
  else if (quoit_group_is_ahead (group))
    quoit_ahead_begin (fork, group);
}

/* --- the fleet at a later time --- */

/* Adds the times from which on the request would still run when something begins. Then it sees fewer free nodes, which
 * can help: other bundles are placed first where a quota for the class does not admit them, and Ray's algorithm is
 * greedy. */
static void
add_sights (GArray *events, const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms)
{
  const gint64 length_ms = quoit_request_latest_end (request, 0);

  if (length_ms == QUOIT_FOREVER_MS || !quoit_request_is_by_host (request)
      || (fleet->quotas == NULL && request->policy != QUOIT_POLICY_RAY))
    return;
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const gint64 time_ms = quoit_fleet_ahead_at (fleet, i)->begins_ms - length_ms + 1;
      const Event event = { { .slot = quoit_fleet_ahead_slot (fleet, i), .time_ms = time_ms }, SIGHTS };

      if (time_ms > now_ms)
        g_array_append_val (events, event);
    }
}

/* Returns when each node is first promised to something; QUOIT_FOREVER_MS: it is not. The caller owns the array. */
static gint64 *
list_promised_times (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  gint64 *times = g_new (gint64, layout->n_nodes + 1);

  for (guint32 node = 0; node < layout->n_nodes; node++)
    times[node] = QUOIT_FOREVER_MS;
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *record = quoit_fleet_ahead_at (fleet, i);
      g_autoptr (GArray) nodes = record->kind == QUOIT_RECORD_WINDOW ? quoit_window_list_nodes (record, layout) : NULL;
      const guint32 n = nodes != NULL ? nodes->len : record->n_nodes;

      for (guint32 k = 0; k < n; k++)
        {
          const guint32 node
              = nodes != NULL ? g_array_index (nodes, guint32, k) : quoit_layout_find_id (layout, record->node_ids[k]);

          if (node != QUOIT_NO_INDEX)
            times[node] = MIN (times[node], record->begins_ms);
        }
    }
  return times;
}

static gboolean
can_renew (const QuoitFleet *fleet, const QuoitGroupData *group, const gint64 *promised_ms)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const guint32 node = quoit_layout_find_id (fleet->layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX && promised_ms[node] < group->expected_end_ms)
        return FALSE;
    }
  return TRUE;
}

/* Renews the lease of each group until its expected end, as its caller is assumed to do, if nothing else is promised
 * its nodes until then. */
static void
renew_leases (QuoitFleet *fork)
{
  g_autofree gint64 *promised_ms = list_promised_times (fork);

  for (guint32 slot = 0; slot < fork->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fork, slot);
      QuoitGroupData renewed;

      if (group == NULL || group->state == QUOIT_GROUP_REMOVED || quoit_group_is_ahead (group)
          || !quoit_group_is_callers (group) || group->until_ms == 0 || group->expected_end_ms <= group->until_ms
          || !can_renew (fork, group, promised_ms))
        continue;
      renewed = quoit_group_data_copy_fields (group);
      renewed.until_ms = group->expected_end_ms;
      quoit_fleet_replace_group (fork, quoit_group_data_new (&renewed), NULL);
    }
}

/* What becomes of the fleet. If a reservation ahead lacks slices, it gets others with the first change of the ledger
 * when there are enough. Then it also matters when there are changes: when a caller releases a group, and when the
 * request is made; and whether a group ends with its lease, before reservations get slices, or is released. */
typedef struct {
  const QuoitFleet *before;
  const QuoitRequest *request;
  GArray *events;
  guint n_done;          /* events that @fleet has */
  QuoitFleet *fleet;     /* after the last change */
  gboolean lacks_slices; /* a reservation ahead does */
  QuoitBundleBounds *bounds;
  guint n_seen;       /* records ahead whose promises @bounds have, or had until they began */
  gint64 seen_end_ms; /* those begin before this time */
} Course;

static void
course_init (Course *course, const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms)
{
  *course = (Course) { .before = fleet, .request = request, .fleet = quoit_fleet_fork (fleet) };
  course->lacks_slices
      = quoit_fleet_n_ahead (fleet) > 0 && !quoit_fleet_ahead_is_sound (fleet) && !quoit_ahead_is_sound (fleet);
  if (course->lacks_slices)
    renew_leases (course->fleet);
  course->events = list_events (course->fleet, now_ms);
  add_sights (course->events, course->fleet, request, now_ms);
  g_array_sort (course->events, by_time);
  /* Otherwise other nodes are promised from event to event. */
  if (!course->lacks_slices && quoit_request_is_by_host (request))
    course->bounds = quoit_bundle_bounds_new (fleet, request);
}

static void
course_clear (Course *course)
{
  g_clear_pointer (&course->bounds, quoit_bundle_bounds_free);
  g_clear_pointer (&course->fleet, quoit_fleet_unref);
  g_clear_pointer (&course->events, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Course, course_clear)

static gint64
event_time (const Course *course, guint i)
{
  return g_array_index (course->events, Event, i).end.time_ms;
}

/* Applies events of these kinds that the fleet of the course does not have, up to @end. Returns their number. */
static guint
apply_some (const Course *course, QuoitFleet *fork, guint end, int kinds)
{
  guint n = 0;

  for (guint i = course->n_done; i < end; i++)
    {
      const Event *event = &g_array_index (course->events, Event, i);

      if ((event->kind & kinds) == 0)
        continue;
      apply (fork, event);
      n++;
    }
  return n;
}

static gboolean
is_ahead (const QuoitFleet *fleet, guint32 slot)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

  return group != NULL && quoit_group_is_ahead (group);
}

/* Applies an event to the fleet and the bounds of the course. */
static void
apply_to_course (Course *course, const Event *event)
{
  const guint32 slot = event->end.slot;
  const QuoitGroupData *group = quoit_fleet_group_at (course->before, slot);
  const gboolean was_ahead = is_ahead (course->fleet, slot);

  if (event->kind == SIGHTS)
    return;
  apply (course->fleet, event);
  if (was_ahead && group->begins_ms < course->seen_end_ms && !is_ahead (course->fleet, slot))
    quoit_bundle_bounds_remove_promise (course->bounds, group);
  quoit_bundle_bounds_update (course->bounds, course->fleet, group);
}

/* Adds the promises that the request must keep from now on, because it would still run when they begin. */
static void
see_until (Course *course, gint64 end_ms)
{
  course->seen_end_ms = end_ms;
  for (; course->n_seen < quoit_fleet_n_ahead (course->before); course->n_seen++)
    {
      const QuoitGroupData *record = quoit_fleet_ahead_at (course->before, course->n_seen);

      if (record->begins_ms >= end_ms)
        return;
      if (is_ahead (course->fleet, quoit_fleet_ahead_slot (course->before, course->n_seen)))
        quoit_bundle_bounds_add_promise (course->bounds, record);
    }
}

/* Returns a fork of the fleet after the first @end events, when the request is made at @time_ms. */
static QuoitFleet *
course_advance (Course *course, guint end, gint64 time_ms)
{
  QuoitFleet *fork;

  if (!course->lacks_slices)
    {
      for (; course->n_done < end; course->n_done++)
        apply_to_course (course, &g_array_index (course->events, Event, course->n_done));
      see_until (course, quoit_request_latest_end (course->request, time_ms));
      return quoit_fleet_ref (course->fleet);
    }
  fork = quoit_fleet_fork (course->fleet);
  apply_some (course, fork, end, ENDS);
  quoit_fork_mend_ahead (fork);
  apply_some (course, fork, end, BEGINNINGS);
  if (apply_some (course, fork, end, RELEASES) == 0)
    return fork;
  course->n_done = end;
  quoit_fleet_unref (course->fleet);
  course->fleet = quoit_fleet_fork (fork);
  quoit_fork_mend_ahead (fork);
  return fork;
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
  g_auto (Course) course = { 0 };

  if (fits_at (fleet, request, now_ms))
    return now_ms;
  course_init (&course, fleet, request, now_ms);
  for (guint i = 0; i < course.events->len;)
    {
      const gint64 time_ms = event_time (&course, i);
      g_autoptr (QuoitFleet) then = NULL;

      while (i < course.events->len && event_time (&course, i) == time_ms)
        i++;
      if (time_ms <= now_ms)
        continue;
      then = course_advance (&course, i, time_ms);
      if (quoit_bundle_bounds_suffice (course.bounds) && fits_at (then, request, time_ms))
        return time_ms;
    }
  return 0;
}

gboolean
quoit_start_is_granted_at (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, gint64 time_ms)
{
  g_autoptr (QuoitFleet) then = quoit_fleet_ref ((QuoitFleet *) fleet);
  g_auto (Course) course = { 0 };

  course_init (&course, fleet, request, now_ms);
  for (guint i = 0; i < course.events->len && event_time (&course, i) <= time_ms;)
    {
      const gint64 event_ms = event_time (&course, i);

      while (i < course.events->len && event_time (&course, i) == event_ms)
        i++;
      quoit_fleet_unref (then);
      then = course_advance (&course, i, event_ms);
    }
  return fits_at (then, request, time_ms);
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
