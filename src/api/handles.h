/* SPDX-License-Identifier: Apache-2.0 */
/* The structures behind the public pointers. */
#pragma once

#include <quoit/quoit.h>
#include <quoit/models/systems.h>

#include "fleet/totals.h"
#include "store/store.h"

struct _QuoitLedger {
  gatomicrefcount refs;
  QuoitStore *store;
};

struct _QuoitSnapshot {
  gatomicrefcount refs;
  QuoitFleet *fleet;
  GMutex lock;          /* guards the members below, which are created on first use */
  GArray *totals;       /* of QuoitTotal */
  GArray *slots;        /* slots of groups, by group id */
  GArray *owners;       /* slots of owners that are set, by id */
  GHashTable *by_owner; /* owner -> GArray of the slots of its live groups, by group id */
};

struct _QuoitFork {
  QuoitFleet *fleet;
};

struct _QuoitGroup {
  gatomicrefcount refs;
  QuoitGroupData *data;
  QuoitLayout *layout;
  QuoitGroupState state;
  gint64 until_ms;
  char *handle;         /* NAME@ID, created on first use */
  guint8 *slice_states; /* QuoitGroupSliceState of each slice; NULL: all are whole */
  GHashTable *ailing;   /* durable id -> QuoitNodeState, for nodes that are not alive; NULL: all are alive */
};

/* Parses NAME or NAME@ID for a call on a handle. The caller frees *@name. Fails with FAILED in a child process that
 * inherited the handle, and with INVALID. */
gboolean quoit_handle_parse_group (const QuoitLedger *ledger, const char *group, QuoitGroupRef *ref, char **name,
                                   GError **error);

/* Applies expired leases and then @action to the fork. @outcome and @report may be NULL; the fleet of the outcome is
 * not set. Fails like quoit_store_change(). */
gboolean quoit_fork_change (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                            QuoitReport **report, GError **error);

QuoitSnapshot *quoit_snapshot_of (QuoitFleet *fleet); /* takes the reference */
/* Returns a group that was just made. Takes @data and @layout. */
QuoitGroup *quoit_group_of (QuoitGroupData *data, QuoitLayout *layout);
/* Returns the group of a step that made or found @data. Takes @data. */
QuoitGroup *quoit_group_made (const QuoitFleet *fleet, QuoitGroupData *data);
QuoitGroup *quoit_group_in (const QuoitFleet *fleet, const QuoitGroupData *data);
/* Returns flags of QuoitNodeAssumptions. */
uint32_t quoit_node_assumptions (const QuoitLayout *layout, uint32_t node);
