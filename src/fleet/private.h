/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that are private to the files that implement QuoitFleet. */
#pragma once

#include "fleet/fleet.h"

enum {
  QUOIT_SLICES_PER_CHUNK = 64,
  QUOIT_SHELVES_PER_CHUNK = 128,
  QUOIT_CLASSES_PER_CHUNK = 4,
  QUOIT_SHARES_PER_CHUNK = 64,
  QUOIT_SLOTS_PER_CHUNK = 64,
  QUOIT_MAX_HOSTS = 4096 /* per slice; the largest slice of the catalogue has 9,216 chips on 2,304 hosts */
};

static inline QuoitNodeChunk *
quoit_fleet_own_nodes (QuoitFleet *fleet, guint32 node)
{
  return quoit_table_own_nearby (&fleet->nodes, node / QUOIT_NODES_PER_CHUNK, 0);
}

static inline QuoitSliceStatus *
quoit_fleet_own_slice (QuoitFleet *fleet, guint32 slice)
{
  return (QuoitSliceStatus *) quoit_table_own_nearby (&fleet->slices, slice / QUOIT_SLICES_PER_CHUNK, 0)
         + slice % QUOIT_SLICES_PER_CHUNK;
}

static inline const QuoitShare *
quoit_fleet_share_at (const QuoitFleet *fleet, guint32 share)
{
  return (const QuoitShare *) quoit_table_peek (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

/* Recounts the nodes of @slice, and updates its status and the counters of its shelf and class. */
void quoit_fleet_recount_slice (QuoitFleet *fleet, guint32 slice);
/* Recounts each slice in @slices (of guint32) once, and sorts the array. Elements may repeat; QUOIT_NO_INDEX is
 * skipped. */
void quoit_fleet_recount_slices (QuoitFleet *fleet, GArray *slices);

/* Computes the status of @slice by counting its nodes. */
QuoitSliceStatus quoit_fleet_count_slice (const QuoitFleet *fleet, guint32 slice);

/* A cache for adding many groups in the order of their ids, as when a saved state is loaded. Without the cache, the
 * addition of each group would visit all users of its nodes and recount its slices. */
typedef struct {
  GHashTable *node_caches; /* node index -> NodeCache of shares.c, for nodes with many users */
  GArray *slices;          /* slices to recount after the last group */
  guint n_ahead;           /* groups that lie ahead */
  gboolean has_quotas;     /* one of the records is a quota */
} QuoitBulkAdd;

QuoitBulkAdd *quoit_bulk_add_new (void);
void quoit_bulk_add_free (QuoitBulkAdd *bulk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBulkAdd, quoit_bulk_add_free)

/* An edge connects a group with a node that it uses. These functions check, add and remove the edges of @group, which
 * is in @slot. @bulk is NULL unless many groups are added. quoit_fleet_add_edges() does not check that the nodes are
 * free. */
gboolean quoit_fleet_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitBulkAdd *bulk,
                                     GError **error);
void quoit_fleet_add_edges (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitBulkAdd *bulk);
/* Does both for a group that has all its nodes completely, with one look at each node. If it fails, nothing has
 * changed. */
gboolean quoit_fleet_take_whole_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, GError **error);
void quoit_fleet_remove_edges (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot);
/* Changes the use of those nodes of @group that their source reports as used, from @from to @to. Nodes with another use
 * than @from do not change.
 *
 * A node that a group uses does not count as external, because the group is the user that the source sees. The node
 * becomes external again when the group ends. The use of a node thus depends only on the report of its source and on
 * its group. It does not depend on the order of changes, which a saved state does not contain. */
void quoit_fleet_set_external_use (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to,
                                   QuoitBulkAdd *bulk);

/* Do the same for a group of bundles. quoit_fleet_first_misfit() returns the first bundle whose node does not exist or
 * has too little left, or QUOIT_NO_INDEX. The cost is linear in the number of shares of the nodes and of bundles. */
guint32 quoit_fleet_first_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitBulkAdd *bulk);
void quoit_fleet_add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitBulkAdd *bulk);
void quoit_fleet_remove_shares (QuoitFleet *fleet, const QuoitGroupData *group);

/* Makes @fleet share the groups and shares of @from, and copies the journal position, clock and ids. @fleet must
 * contain the nodes of the groups. */
void quoit_fleet_share_groups (QuoitFleet *fleet, const QuoitFleet *from);

extern const QuoitTableType quoit_slots_type, quoit_shares_type;
