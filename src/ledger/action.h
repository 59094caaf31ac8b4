/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: the inputs and results of changes. The store carries out every change of a ledger as one action. */
#pragma once

#include <quoit/ledger.h>

#include "fleet/ahead.h"
#include "ledger/entry.h"
#include "placement/refusal.h"

/* A group by name, or by name and id. */
typedef struct {
  const char *name;
  guint64 id; /* 0: the live group of that name */
} QuoitGroupRef;

/* The inputs of actions. */
typedef struct {
  const QuoitRequest *request;
  gint64 lease_ms;
} QuoitHold;

typedef struct {
  const QuoitRequest *request;
  gint64 from_ms, until_ms; /* until_ms 0: without an end */
} QuoitReserveAhead;

/* Requests that are reserved together, all or none. */
typedef struct {
  const QuoitRequest *const *requests;
  guint n;
} QuoitRequestList;

typedef struct {
  const char *name;
  QuoitWindowTarget target;
  gint64 from_ms, until_ms;
} QuoitWindowChange;

typedef struct {
  const char *name;
  const char *label; /* key of a label; NULL: `value` is an owner */
  const char *value;
  const char *accelerator, *topology; /* NULL: any */
  gint64 nominal, most;               /* chips; most -1: limited by the cohort only */
  const char *cohort;                 /* NULL: none */
} QuoitQuotaChange;

typedef struct {
  QuoitGroupRef ref;
  gint64 lease_ms; /* 0: no lease, for CONFIRM only */
} QuoitLeaseChange;

typedef struct {
  const char *const *groups; /* NAME or NAME@ID */
  guint32 n_groups;
  gint64 lease_ms;
} QuoitGroupsRenewal;

typedef struct {
  QuoitGroupRef ref;
  gint64 n_slices;         /* the new number; if @between, the most */
  const QuoitPlan *chosen; /* the slices to add; NULL: placement chooses them */
  gboolean between;        /* as many slices as possible, from @least on */
  gint64 least;
} QuoitResize;

typedef struct {
  QuoitGroupRef ref;
  gboolean sets_end, sets_priority; /* which of the two are set */
  gint64 expected_end_ms;           /* 0: unknown */
  gint32 priority;
  guint32 n_labels;
  const char *const *label_keys, *const *label_values; /* a value of NULL removes the label */
} QuoitGroupUpdate;

typedef struct {
  QuoitGroupRef ref;
  const char *slice; /* short or full name */
} QuoitSliceRelease;

typedef struct {
  const char *name;
  gint64 lease_ms; /* 0: no lease */
} QuoitOwnerChange;

typedef struct {
  const char *const *nodes; /* short or full names */
  guint32 n_nodes;
  QuoitVerb verb; /* SET_STATE, DRAIN, UNDRAIN */
  QuoitNodeState state;
} QuoitStatesChange;

/* Some nodes of a source: those to add or to replace, and the identities of those to remove. */
typedef struct {
  QuoitClaims *claims;
  const char *const *removed;
  guint n_removed;
} QuoitNodesUpdate;

typedef struct {
  gboolean sets_clock; /* to the time of the action */
  gint64 max_jump_ms;  /* -1: unchanged; 0: the engine's default limit */
} QuoitClockChange;

typedef struct {
  gint64 before_ms;
  guint n_max; /* how many records to delete at most; 0: all */
} QuoitForgetting;

/* What was done on a fork. */
typedef struct {
  const QuoitFleet *base;   /* from which the fork was made */
  const GPtrArray *entries; /* of QuoitEntry, in order */
} QuoitForkChanges;

typedef enum {
  QUOIT_ACTION_RESERVE,
  QUOIT_ACTION_RESERVE_AHEAD,
  QUOIT_ACTION_RESERVE_ALL,
  QUOIT_ACTION_HOLD,
  QUOIT_ACTION_CONFIRM,
  QUOIT_ACTION_RENEW,
  QUOIT_ACTION_RENEW_GROUPS,
  QUOIT_ACTION_RELEASE,
  QUOIT_ACTION_RELEASE_SLICE,
  QUOIT_ACTION_RESIZE,
  QUOIT_ACTION_REPAIR,
  QUOIT_ACTION_UPDATE,
  QUOIT_ACTION_FORGET,
  QUOIT_ACTION_FORGET_KEY,
  QUOIT_ACTION_FORGET_BEFORE,
  QUOIT_ACTION_SET_OWNER,
  QUOIT_ACTION_RENEW_OWNER,
  QUOIT_ACTION_END_OWNER,
  QUOIT_ACTION_SET_STATES,
  QUOIT_ACTION_ADD_WINDOW,
  QUOIT_ACTION_REMOVE_WINDOW,
  QUOIT_ACTION_SET_QUOTA,
  QUOIT_ACTION_REMOVE_QUOTA,
  QUOIT_ACTION_IMPORT,
  QUOIT_ACTION_SYNC,
  QUOIT_ACTION_UPDATE_NODES,
  QUOIT_ACTION_SET_CLOCK,
  QUOIT_ACTION_SET_KEEP,
  QUOIT_ACTION_RESTORE,
  QUOIT_ACTION_COMMIT_FORK
} QuoitActionType;

/* One change that a caller requests. The type determines which member is valid. */
typedef struct {
  QuoitActionType type;
  union {
    const QuoitRequest *request; /* RESERVE */
    QuoitReserveAhead ahead;     /* RESERVE_AHEAD */
    QuoitRequestList list;       /* RESERVE_ALL */
    QuoitHold hold;              /* HOLD */
    QuoitLeaseChange lease;      /* CONFIRM, RENEW */
    QuoitGroupsRenewal renewal;  /* RENEW_GROUPS */
    QuoitGroupRef group;         /* RELEASE, REPAIR, FORGET (with an id) */
    const char *key;             /* FORGET_KEY */
    QuoitForgetting forgetting;  /* FORGET_BEFORE */
    QuoitSliceRelease slice;     /* RELEASE_SLICE */
    QuoitResize resize;          /* RESIZE */
    QuoitGroupUpdate update;     /* UPDATE */
    QuoitOwnerChange owner;      /* SET_OWNER, RENEW_OWNER, END_OWNER (without a lease) */
    QuoitStatesChange states;    /* SET_STATES */
    QuoitWindowChange window;    /* ADD_WINDOW */
    const char *window_name;     /* REMOVE_WINDOW */
    QuoitQuotaChange quota;      /* SET_QUOTA */
    const char *quota_name;      /* REMOVE_QUOTA */
    QuoitClaims **claims;        /* IMPORT, SYNC; the import of a new source takes the claims and sets NULL */
    QuoitNodesUpdate nodes;      /* UPDATE_NODES */
    QuoitClockChange clock;      /* SET_CLOCK */
    gint64 keep_ms;              /* SET_KEEP; 0: the engine's default */
    QuoitLedgerNumbers numbers;  /* RESTORE */
    QuoitForkChanges fork;       /* COMMIT_FORK */
  };
  const char *reason; /* RELEASE; NULL: not stated */
} QuoitAction;

/* One difference between an import and the previous one, for the caller. */
typedef struct {
  QuoitChangeKind kind;
  char *name;   /* of the node, pool or group */
  char *detail; /* "alive -> dead", "worker 1 -> 2"; NULL */
  char *group;  /* NAME@ID of the group that uses the node; NULL: none */
} QuoitNodeChange;

/* The result of an action. Members that an action does not set stay NULL. All references are owned. */
typedef struct {
  QuoitGroupData *before; /* RELEASE, RELEASE_SLICE, RESIZE, REPAIR: the group before the change */
  QuoitGroupData *after;  /* the group after the change; NULL after RELEASE, and after RELEASE_SLICE of the last slice;
                           * equal to @before if RESIZE or REPAIR had nothing to change */
  GPtrArray *groups;      /* RESERVE_ALL: of QuoitGroupData, by request */
  GArray *changes;        /* IMPORT, SYNC, UPDATE_NODES: QuoitNodeChange, without the nodes of a new source */
  guint n_groups;         /* END_OWNER: number of live groups that were released */
  QuoitFleet *fleet;      /* after the change; set by the store and by forks */
  QuoitRefusal refusal;   /* set if placement refused the action; the action's GError is not set then */
} QuoitOutcome;

/* Frees the members of @outcome and sets them to zero. */
void quoit_outcome_clear (QuoitOutcome *outcome);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitOutcome, quoit_outcome_clear)

/* Decides @action on @fleet. *@entry and @outcome must be empty at the call. *@entry stays NULL if nothing has to
 * change. On FALSE, either @error or @outcome->refusal is set. */
gboolean quoit_action_decide (const QuoitFleet *fleet, const QuoitAction *action, gint64 now_ms, QuoitEntry **entry,
                              QuoitOutcome *outcome, GError **error);

/* Limits the number of group records, because opening a ledger reads all of them. Fails with INVALID. */
gboolean quoit_entry_check_n_groups (const QuoitFleet *fleet, const QuoitEntry *entry, GError **error);
