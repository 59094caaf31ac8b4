/* SPDX-License-Identifier: Apache-2.0 */
/* The structures behind the public pointers. */
#pragma once

#include <quoit/quoit.h>
#include <quoit/models/systems.h>

#include "fleet/group-lists.h"
#include "fleet/totals.h"
#include "store/store.h"

struct _QuoitLedger {
  gatomicrefcount refs;
  QuoitStore *store;
};

struct _QuoitSnapshot {
  gatomicrefcount refs;
  QuoitFleet *fleet;
  gint64 now_ms;  /* see quoit_snapshot_as_of(); 0: unknown */
  GMutex lock;    /* guards the members below, which are created on first use */
  GArray *totals; /* of QuoitTotal */
  QuoitGroupLists *groups;
};

struct _QuoitFork {
  QuoitFleet *fleet, *base; /* @base: from which the fork was made, or that it last committed */
  GPtrArray *entries;       /* of QuoitEntry: the changes since @base; NULL: none */
  GArray *marks;            /* see quoit_fork_mark(); NULL: none */
};

struct _QuoitGroup {
  gatomicrefcount refs;
  QuoitGroupData *data;
  QuoitLayout *layout;
  QuoitGroupState state;
  gint64 until_ms;
  char *handle;          /* NAME@ID, created on first use */
  guint8 *slice_states;  /* QuoitGroupSliceState of each slice; NULL: all are whole */
  GHashTable *not_alive; /* durable id -> QuoitNodeState, for nodes that are not alive; NULL: all are alive */
};

static inline gboolean
quoit_amount_part_is_valid (QuoitAmountPart part)
{
  return (guint) part <= QUOIT_AMOUNT_LOST;
}

/* Returns the state of @part, which must not be QUOIT_AMOUNT_TOTAL. */
static inline QuoitUnitState
quoit_amount_part_state (QuoitAmountPart part)
{
  return (QuoitUnitState) part - 1;
}

/* QuoitAmountPart has the total first, and then the states in the order of QuoitUnitState. */
G_STATIC_ASSERT ((int) QUOIT_AMOUNT_AVAILABLE == (int) QUOIT_UNIT_AVAILABLE + 1);
G_STATIC_ASSERT ((int) QUOIT_AMOUNT_EXTERNAL == (int) QUOIT_UNIT_EXTERNAL + 1);
G_STATIC_ASSERT ((int) QUOIT_AMOUNT_LOST == (int) QUOIT_UNIT_LOST + 1);

/* Applies expired leases and then @action to the fork. @outcome and @report may be NULL. Fails like
 * quoit_store_change(). */
gboolean quoit_fork_change (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                            QuoitReport **report, GError **error);

/* Replaces the state of the fork by @fleet, to which @entries (of QuoitEntry) lead. */
void quoit_fork_adopt (QuoitFork *fork, QuoitFleet *fleet, const GPtrArray *entries);

QuoitSnapshot *quoit_snapshot_new (QuoitFleet *fleet); /* takes the reference */
/* Returns the group as stored in @data, with all nodes alive. Takes ownership of @data and @layout. */
QuoitGroup *quoit_group_new_all_alive (QuoitGroupData *data, QuoitLayout *layout);
/* Returns the group that a reserve or hold created, or found by its key. Takes ownership of @data. */
QuoitGroup *quoit_group_new_reserved (const QuoitFleet *fleet, QuoitGroupData *data);
/* Returns the group with the states of its slices and nodes in @fleet. */
QuoitGroup *quoit_group_new_from_fleet (const QuoitFleet *fleet, const QuoitGroupData *data);
/* Returns flags of QuoitNodeAssumptions. */
uint32_t quoit_node_assumptions (const QuoitLayout *layout, uint32_t node);
