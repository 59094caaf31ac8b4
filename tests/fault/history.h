/* SPDX-License-Identifier: Apache-2.0 */
/* The calls to a ledger, with their times and answers, and the resulting journal. The fleet always has the same
 * N_SLICES slices of N_HOSTS hosts, and N_EXTRA hosts after the first sync of their source. */
#pragma once

#include "../support.h"

enum { N_SLICES = 5, N_HOSTS = 4, N_NODES = N_SLICES * N_HOSTS, N_EXTRA = 3, N_EXTRA_STATES = 27 };

typedef enum {
  OP_RESERVE,
  OP_HOLD,
  OP_CONFIRM,
  OP_RENEW,
  OP_RELEASE,
  OP_RELEASE_SLICE,
  OP_RESIZE,
  OP_REPAIR,
  OP_SET_OWNER,
  OP_RENEW_OWNER,
  OP_END_OWNER,
  OP_SET_STATE,
  OP_DRAIN,
  OP_UNDRAIN,
  OP_FORGET,
  OP_FORGET_KEY,
  OP_LOOK,      /* a snapshot after a refresh */
  OP_SET_QUOTA, /* of the owner: chips of @most slices; @at: see QUOTA_ALONE */
  OP_RESERVE_AT,
  OP_ADD_WINDOW, /* of slice @at */
  OP_REMOVE_WINDOW,
  OP_SYNC, /* of a source of N_EXTRA hosts without chips; @at: their states, as a number to the base of 3 */
  N_OPS
} OpKind;

enum { NAME_BYTES = 16, CHIPS_PER_SLICE = 16 };

/* @at of OP_SET_QUOTA: no cohort; in the cohort, without a maximum; greater ones: in the cohort, and may borrow so many
 * slices less QUOTA_LIMITED. */
enum { QUOTA_ALONE, QUOTA_BORROWS, QUOTA_LIMITED };

/* One call. Absent texts are "". */
typedef struct {
  OpKind kind;
  char tag[NAME_BYTES];           /* unique name of the caller in the journal */
  gint64 invoked_us, answered_us; /* monotonic clock, which processes share */
  gint64 now_ms;                  /* the caller's clock */
  char name[NAME_BYTES];          /* group or owner of the call */
  guint64 id;                     /* NAME@ID; 0: NAME alone */
  char key[NAME_BYTES], owner[NAME_BYTES];
  guint least, most; /* number of slices; least 0: exactly @most */
  gint64 lease_ms;
  gint64 from_ms, end_ms; /* of a reservation ahead, or a window; end_ms 0: none */
  guint at;               /* node, or slice */
  QuoitNodeState state;   /* new state of the node */
  gboolean on_fork;       /* the call changes a fork, which is then committed */

  int code;                   /* 0: done */
  gint64 decided_ms;          /* on_fork: the time of the change on the fork */
  guint64 forked_at;          /* on_fork: the last entry of the fork's snapshot */
  gboolean is_commit_refused; /* on_fork: the fork accepted the change, and the commit failed */
  guint64 group_id;
  int group_state;
  gint64 until_ms;
  guint32 before, after; /* slices of the group, one bit each */
  guint n_freed;         /* number of groups freed with an owner */
  guint64 seq;           /* last entry that the handle has read after the call */
  char *seen;            /* OP_LOOK: the state from look_at(); else NULL */
  char *message;         /* of the refusal, or NULL; not part of a line of text */
} Op;

void op_clear (gpointer op);
const char *op_verb (OpKind kind);                        /* verb in the journal if the call is not on a fork */
const char *op_entry_verb (const Op *op);                 /* verb in the journal */
QuoitNodeState op_extra_state (const Op *op, guint host); /* of OP_SYNC */
char *op_text (const Op *op);                             /* one line with all fields */
gboolean op_parse (const char *line, Op *op);

void op_run (QuoitLedger *ledger, Op *op);

/* The whole state of a ledger as one word. */
char *look_at (const QuoitSnapshot *snapshot);

typedef struct {
  QuoitEffectType type;
  guint64 group_id;
  guint32 slices; /* of the group after the entry, if the history reads them */
} Effect;

typedef struct {
  guint64 seq;
  gint64 time_ms;
  char *verb, *actor;
  GArray *effects; /* of Effect */
} Entry;

typedef struct {
  GArray *ops;           /* of Op */
  GPtrArray *entries;    /* of Entry, in order */
  gboolean reads_slices; /* the ledger must keep all entries */
} History;

History *history_new (void);
void history_free (History *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (History, history_free)
History *history_copy (const History *history);
/* Appends the journal entries after the last one of @history. */
void history_read_on (History *history, QuoitLedger *ledger);
