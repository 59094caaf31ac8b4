/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the public pointers. */
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
  GMutex lock;          /* guards what is made when it is first asked for */
  GArray *totals;       /* of QuoitTotal */
  GArray *slots;        /* of groups, by id */
  GArray *owners;       /* likewise, of owners that are set */
  GHashTable *by_owner; /* owner -> GArray of the slots of its live groups, by id */
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
  char *handle;         /* NAME@ID; NULL: not yet asked for */
  guint8 *slice_states; /* QuoitGroupSliceState, one a slice; NULL: all are whole */
  GHashTable *ailing;   /* durable id -> QuoitNodeState of those of its nodes that are not alive; NULL: all are */
};

/* NAME or NAME@ID, for a call on the handle: FAILED in a child that inherited that, INVALID. g_free() @name. */
gboolean quoit_handle_parse_group (const QuoitLedger *ledger, const char *group, QuoitGroupRef *ref, char **name,
                                   GError **error);

/* Carries out @action on the fork alone, after what has ended by then. @outcome and @report may be NULL; the outcome
 * has no fleet. Fails as quoit_store_change() does. */
gboolean quoit_fork_change (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                            QuoitReport **report, GError **error);

QuoitSnapshot *quoit_snapshot_of (QuoitFleet *fleet); /* takes it */
/* One that was made just now; takes @data and @layout. */
QuoitGroup *quoit_group_of (QuoitGroupData *data, QuoitLayout *layout);
/* The result of a step that made or found @data, which it takes. */
QuoitGroup *quoit_group_made (const QuoitFleet *fleet, QuoitGroupData *data);
QuoitGroup *quoit_group_in (const QuoitFleet *fleet, const QuoitGroupData *data);
/* Of QuoitNodeAssumptions. */
uint32_t quoit_node_assumptions (const QuoitLayout *layout, uint32_t node);
