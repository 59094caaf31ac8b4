/* SPDX-License-Identifier: Apache-2.0 */
/* What lies ahead: reservations that have not begun, and windows of the calendar, in which nodes are not available.
 * Both are records with the state AHEAD. They use no node yet, so a node can be in several of them, and in a group that
 * ends before.
 *
 * A reservation ahead lists the nodes that it is to get. Until it begins, these can be replaced by others. A window has
 * no nodes: its request is text such as "pool=big", so that nodes which are imported later belong to it too. */
#pragma once

#include <quoit/window.h>

#include "fleet/fleet.h"

/* The list of what lies ahead is copied by every change of it, and placement reads it. */
enum { QUOIT_MAX_AHEAD = 10000 };

static inline gboolean
quoit_group_is_ahead (const QuoitGroupData *group)
{
  return group->state == QUOIT_GROUP_AHEAD;
}

/* Returns when the record ends or begins, whichever is first; 0: never. A window that begins changes nothing. */
static inline gint64
quoit_group_next_change_ms (const QuoitGroupData *group)
{
  return quoit_group_is_ahead (group) && group->kind != QUOIT_RECORD_WINDOW ? group->begins_ms : group->until_ms;
}

/* Returns the number of records that lie ahead, and the slot of each, in the order of their beginnings and ids. */
static inline guint
quoit_fleet_n_ahead (const QuoitFleet *fleet)
{
  return fleet->ahead == NULL ? 0 : fleet->ahead->slots->len;
}

static inline guint32
quoit_fleet_ahead_slot (const QuoitFleet *fleet, guint i)
{
  return g_array_index (fleet->ahead->slots, guint32, i);
}

static inline const QuoitGroupData *
quoit_fleet_ahead_at (const QuoitFleet *fleet, guint i)
{
  return quoit_fleet_group_at (fleet, quoit_fleet_ahead_slot (fleet, i));
}

/* The scope of a window, and its target: the name of a node, slice, pool or zone. */
typedef struct {
  QuoitWindowScope scope;
  const char *target;
} QuoitWindowTarget;

/* Returns the target as the request of a record: "pool=big". The caller owns it. */
char *quoit_window_target_format (QuoitWindowTarget target);
/* @target points into @request, which must be that of a window. Returns FALSE for other text. */
gboolean quoit_window_target_parse (const char *request, QuoitWindowTarget *target);

/* Returns FALSE if two reservations ahead have a node at the same time, and sets both. Reservations of bundles are not
 * compared, because several can share a node. */
gboolean quoit_fleet_ahead_find_overlap (const QuoitFleet *fleet, const QuoitGroupData **one,
                                         const QuoitGroupData **other);

/* A cache like that of quoit_fleet_first_lease(): whether all reservations ahead were found sound since nodes have
 * changed, that is, whether the slices that they are to get can be free by then. */
static inline gboolean
quoit_fleet_ahead_is_sound (const QuoitFleet *fleet)
{
  return __atomic_load_n (&fleet->ahead_is_sound, __ATOMIC_RELAXED);
}

static inline void
quoit_fleet_ahead_set_sound (const QuoitFleet *fleet)
{
  __atomic_store_n (&((QuoitFleet *) fleet)->ahead_is_sound, TRUE, __ATOMIC_RELAXED);
}

/* Another cache: whether the search for other slices of reservations ahead that lack some has found nothing since
 * groups, nodes or windows have changed. Also a group that takes slices ends it: the search is greedy, and can find
 * another way. Processes have different caches, and must decide alike. */
static inline gboolean
quoit_fleet_ahead_is_stuck (const QuoitFleet *fleet)
{
  return __atomic_load_n (&fleet->ahead_is_stuck, __ATOMIC_RELAXED);
}

static inline void
quoit_fleet_ahead_set_stuck (const QuoitFleet *fleet)
{
  __atomic_store_n (&((QuoitFleet *) fleet)->ahead_is_stuck, TRUE, __ATOMIC_RELAXED);
}

void quoit_ahead_unref (QuoitAhead *ahead);

/* --- changes: the caller must have the only reference --- */

/* The search for what reservations ahead lack can find something else. */
static inline void
quoit_fleet_ahead_retry (QuoitFleet *fleet)
{
  fleet->ahead_is_stuck = FALSE;
}

static inline void
quoit_fleet_ahead_doubt (QuoitFleet *fleet)
{
  fleet->ahead_is_sound = FALSE;
  quoit_fleet_ahead_retry (fleet);
}

/* Add and remove the slot of a record that lies ahead. */
void quoit_fleet_ahead_add (QuoitFleet *fleet, guint32 slot);
void quoit_fleet_ahead_remove (QuoitFleet *fleet, guint32 slot);
/* Makes many records begin at once, each of which would make another list: takes the list away from @fleet, and gives
 * back to it what has not begun (transfer full). */
QuoitAhead *quoit_fleet_ahead_detach (QuoitFleet *fleet);
void quoit_fleet_ahead_attach (QuoitFleet *fleet, QuoitAhead *ahead);
/* Makes the list again from all groups. */
void quoit_fleet_ahead_rebuild (QuoitFleet *fleet);
