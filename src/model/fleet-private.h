/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fleet share: the columns for writing. */
#pragma once

#include "model/fleet.h"

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

/* Counts the nodes of @slice anew and settles its conditions. */
void quoit_fleet_recount_slice (QuoitFleet *fleet, guint32 slice);

/* @status was changed: brings flags, tallies and indexes of free slices up to it. */
void quoit_fleet_settle_slice (QuoitFleet *fleet, guint32 slice, QuoitSliceStatus *status);

/* The status of @slice by counting; what quoit_fleet_check() compares with. */
QuoitSliceStatus quoit_fleet_count_slice (const QuoitFleet *fleet, guint32 slice);

/* Takes over groups, shares and clock of @from, whose nodes @fleet has. */
void quoit_fleet_adopt_groups (QuoitFleet *fleet, const QuoitFleet *from);

extern const QuoitTableType quoit_slots_type, quoit_shares_type;
