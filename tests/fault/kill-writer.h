/* SPDX-License-Identifier: Apache-2.0 */
/* The writer that is killed. It reports each change of an existing object before it tries it, and each acknowledged
 * change. */
#pragma once

#include "../support.h"

/* Cubes for groups of joined slices, as fleet text. */
#define KILL_CUBES "v5p 4x4x4 x8 pool=cube block=b"
enum { KILL_N_CUBES = 8 };

typedef enum {
  CHANGE_GROUP = '+',   /* a group was reserved */
  CHANGE_RELEASE = '-', /* a group was released */
  CHANGE_LEASE = 'l',   /* a group was confirmed or renewed and has this lease */
  CHANGE_SLICES = 's',  /* a group was resized, or one of its slices was released; it has this many */
  CHANGE_REPAIR = 'r',
  CHANGE_FORGET = 'f',
  CHANGE_OWNER = 'o', /* an owner was set or renewed and has this lease */
  CHANGE_END = 'e',   /* an owner was ended */
  CHANGE_NODE = 'n',  /* a node has this state */
  CHANGE_COMPACT = 'c',
  CHANGE_TRIM = 't',       /* what is older than the limit is removed */
  CHANGE_LEASES = 'm',     /* two groups were renewed together: the second one is in @owner */
  CHANGE_FORGET_OLD = 'x', /* the records of groups that ended before @until_ms were deleted */
  CHANGE_FACT = 'v'        /* @name is a fact, and @until_ms its value; see kill-facts.h */
} ChangeKind;

enum { CHANGE_NAME_BYTES = 32 };

typedef struct {
  gboolean is_done; /* FALSE: about to be tried */
  ChangeKind kind;
  char name[CHANGE_NAME_BYTES], owner[CHANGE_NAME_BYTES]; /* owner "-": no owner */
  guint id, n;                                            /* n: slices, or state of a node */
  guint most;                                             /* before a resize: the slices are @n to @most */
  gint64 now_ms, until_ms;                                /* by the writer's clock; a lease of 0 means no lease */
} Change;

gboolean change_parse (const char *line, Change *change);

/* The clock advances by one minute per round, so leases expire in later rounds. */
gint64 time_of_round (guint round);

/* How long records of ended groups are kept at least. */
#define KEPT_MS G_GINT64_CONSTANT (720000)

/* Makes changes until the process is killed. */
int write_for_ever (const char *path, guint round, guint32 seed);
