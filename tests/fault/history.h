/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked of a ledger and what it answered: calls with the time that each took, and the journal that came of
 * them. The fleet is always the same: N_SLICES slices of N_HOSTS hosts. */
#pragma once

#include "../ground.h"

enum { N_SLICES = 5, N_HOSTS = 4, N_NODES = N_SLICES * N_HOSTS };

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
  OP_LOOK, /* a snapshot after a refresh */
  N_OPS
} OpKind;

enum { NAME_BYTES = 16 };

/* One call. Texts are "" where nothing was said. */
typedef struct {
  OpKind kind;
  char tag[NAME_BYTES];           /* who the journal says asked: no two calls have the same */
  gint64 invoked_us, answered_us; /* of the monotonic clock, which processes share */
  gint64 now_ms;                  /* of the caller's own */
  char name[NAME_BYTES];          /* of the group, or the owner that the call is about */
  guint64 id;                     /* NAME@ID; 0: NAME alone */
  char key[NAME_BYTES], owner[NAME_BYTES];
  guint least, most; /* slices; least 0: just @most */
  gint64 lease_ms;
  guint at;             /* node, or slice */
  QuoitNodeState state; /* for the node */

  int code; /* 0: done */
  guint64 group_id;
  int group_state;
  gint64 until_ms;
  guint32 before, after; /* slices of the group, a bit each */
  guint n_freed;         /* groups that went with an owner */
  guint64 seq;           /* the last entry that the handle knows afterwards */
  char *seen;            /* OP_LOOK: all there is to see; NULL */
  char *message;         /* of the refusal; NULL. A line of text does not have it */
} Op;

void op_clear (gpointer op);
const char *op_verb (OpKind kind); /* as the journal calls it */
char *op_text (const Op *op);      /* one line; all of it */
gboolean op_parse (const char *line, Op *op);

/* Asks, and fills in the answer and the time it took. */
void op_run (QuoitLedger *ledger, Op *op);

/* All there is to see of a ledger, as one word. */
char *look_at (const QuoitSnapshot *snapshot);

typedef struct {
  QuoitEffectType type;
  guint64 group_id;
} Effect;

typedef struct {
  guint64 seq;
  gint64 time_ms;
  char *verb, *actor;
  GArray *effects; /* of Effect */
} Entry;

typedef struct {
  GArray *ops;        /* of Op */
  GPtrArray *entries; /* of Entry, in order */
} History;

History *history_new (void);
void history_free (History *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (History, history_free)
History *history_copy (const History *history);
/* Reads on behind the last entry that it has. */
void history_read_on (History *history, QuoitLedger *ledger);
