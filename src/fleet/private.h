/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fleet share: the columns for writing. */
#pragma once

#include "fleet/fleet.h"

enum {
  QUOIT_SLICES_PER_CHUNK = 64,
  QUOIT_SHELVES_PER_CHUNK = 32,
  QUOIT_CLASSES_PER_CHUNK = 8,
  QUOIT_SHARES_PER_CHUNK = 64,
  QUOIT_SLOTS_PER_CHUNK = 64,
  QUOIT_MOST_HOSTS = 4096 /* of a slice: 9,216 chips on hosts of 4 are 2,304 */
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

/* Counts the nodes of @slice anew and settles its conditions. */
void quoit_fleet_recount_slice (QuoitFleet *fleet, guint32 slice);
/* Each of @slices (of guint32, QUOIT_NO_INDEX is none) once; sorts them. */
void quoit_fleet_recount_slices (QuoitFleet *fleet, GArray *slices);

/* A tally as the compiler adds it: four counters at a time. */
typedef gint32 QuoitFourCounters __attribute__ ((vector_size (16)));

/* Slices of one shelf that change one after the other: the shelf and its rank are brought up to them at the end. Begins
 * with .shelf = QUOIT_NO_INDEX. */
typedef struct {
  guint32 shelf;
  QuoitFourCounters change[2];
} QuoitSettling;

/* @status was changed: brings its flags and the index of free slices up to it, tallies and ranks of the shelf before
 * where that is another. */
void quoit_fleet_settle_next (QuoitFleet *fleet, QuoitSettling *settling, guint32 slice, QuoitSliceStatus *status);
void quoit_fleet_settle_end (QuoitFleet *fleet, QuoitSettling *settling);

/* The status of @slice by counting; what quoit_fleet_check() compares with. */
QuoitSliceStatus quoit_fleet_count_slice (const QuoitFleet *fleet, guint32 slice);

/* What groups that come one after the other have in common, in the order of their ids: looking at all users of a node
 * and at all nodes of a slice for each of them would take too long. */
typedef struct {
  GHashTable *rooms; /* see fleet-shares.c */
  GArray *slices;    /* that are counted at the end */
} QuoitFilling;

QuoitFilling *quoit_filling_new (void);
void quoit_filling_free (QuoitFilling *filling);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFilling, quoit_filling_free)

/* Where a group is alone @filling is NULL. The edges of @group, which is or will be in @slot. Taking asks nothing: the
 * nodes must be free of what it takes. */
gboolean quoit_fleet_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitFilling *filling,
                                     GError **error);
void quoit_fleet_take_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitFilling *filling);
void quoit_fleet_leave_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot);
void quoit_fleet_turn_external (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to,
                                QuoitFilling *filling);

/* The same of a group of bundles. The first one that does not fit what is left of its node, or whose node is not there;
 * QUOIT_NO_INDEX: all do. The work is one look at each share of the nodes and at each bundle. */
guint32 quoit_fleet_first_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitFilling *filling);
void quoit_fleet_add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitFilling *filling);
void quoit_fleet_remove_shares (QuoitFleet *fleet, const QuoitGroupData *group);

/* Takes over groups, shares and clock of @from, whose nodes @fleet has. */
void quoit_fleet_adopt_groups (QuoitFleet *fleet, const QuoitFleet *from);

extern const QuoitTableType quoit_slots_type, quoit_shares_type;
