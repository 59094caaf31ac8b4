/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the fleet share. */
#pragma once

#include "fleet/fleet.h"

enum {
  QUOIT_SLICES_PER_CHUNK = 64,
  QUOIT_SHELVES_PER_CHUNK = 32,
  QUOIT_CLASSES_PER_CHUNK = 8,
  QUOIT_SHARES_PER_CHUNK = 64,
  QUOIT_SLOTS_PER_CHUNK = 64,
  QUOIT_MOST_HOSTS = 4096 /* of a slice; the largest slice, 9,216 chips on hosts of 4, has 2,304 hosts */
};

static inline QuoitNodeChunk *
quoit_fleet_own_nodes (QuoitFleet *fleet, guint32 node)
{
  return quoit_table_own (&fleet->nodes, node / QUOIT_NODES_PER_CHUNK);
}

static inline QuoitSliceStatus *
quoit_fleet_own_slice (QuoitFleet *fleet, guint32 slice)
{
  return (QuoitSliceStatus *) quoit_table_own (&fleet->slices, slice / QUOIT_SLICES_PER_CHUNK)
         + slice % QUOIT_SLICES_PER_CHUNK;
}

static inline const QuoitShare *
quoit_fleet_share_at (const QuoitFleet *fleet, guint32 share)
{
  return (const QuoitShare *) quoit_table_peek (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

/* Recounts the nodes of @slice and updates its flags. */
void quoit_fleet_recount_slice (QuoitFleet *fleet, guint32 slice);
/* Recounts each of @slices (of guint32, QUOIT_NO_INDEX is skipped) once. Sorts the array. */
void quoit_fleet_recount_slices (QuoitFleet *fleet, GArray *slices);

/* A vector type that the compiler adds four counters at a time. */
typedef gint32 QuoitFourCounters __attribute__ ((vector_size (16)));

/* Accumulates the changes of slices on one shelf, so that the shelf and its rank are updated only once at the end.
 * Initialise it with .shelf = QUOIT_NO_INDEX. */
typedef struct {
  guint32 shelf;
  QuoitFourCounters change[2];
} QuoitSettling;

/* Updates the flags of @status, which has changed, and the index of free slices. If the shelf differs from the
 * previous one, first updates the tallies and the rank of that one. */
void quoit_fleet_settle_next (QuoitFleet *fleet, QuoitSettling *settling, guint32 slice, QuoitSliceStatus *status);
void quoit_fleet_settle_end (QuoitFleet *fleet, QuoitSettling *settling);

/* Computes the status of @slice by counting. quoit_fleet_check() compares it with the stored one. */
QuoitSliceStatus quoit_fleet_count_slice (const QuoitFleet *fleet, guint32 slice);

/* State shared by consecutive additions of groups, in the order of their ids. Without it, every addition would visit
 * all users of a node and all nodes of a slice. */
typedef struct {
  GHashTable *rooms; /* see shares.c */
  GArray *slices;    /* to recount at the end */
} QuoitFilling;

QuoitFilling *quoit_filling_new (void);
void quoit_filling_free (QuoitFilling *filling);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFilling, quoit_filling_free)

/* Add and remove the edges of @group, in @slot, to its nodes. @filling is NULL for a single group.
 * quoit_fleet_take_nodes() checks nothing: the nodes must be free. */
gboolean quoit_fleet_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitFilling *filling,
                                     GError **error);
void quoit_fleet_take_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitFilling *filling);
void quoit_fleet_leave_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot);
void quoit_fleet_turn_external (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to,
                                QuoitFilling *filling);

/* The same for a group of bundles. quoit_fleet_first_misfit() returns the first bundle that does not fit into its
 * node or whose node does not exist, or QUOIT_NO_INDEX. The cost is linear in the shares of the nodes and in the
 * bundles. */
guint32 quoit_fleet_first_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitFilling *filling);
void quoit_fleet_add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitFilling *filling);
void quoit_fleet_remove_shares (QuoitFleet *fleet, const QuoitGroupData *group);

/* Shares the groups, shares and counters of @from. @fleet must contain their nodes. */
void quoit_fleet_adopt_groups (QuoitFleet *fleet, const QuoitFleet *from);

extern const QuoitTableType quoit_slots_type, quoit_shares_type;
