/* SPDX-License-Identifier: Apache-2.0 */
/* The writer that is killed. It reports each change of an existing object before it tries it, and each acknowledged
 * change. */
#pragma once

#include "../ground.h"

typedef enum {
  DEED_GROUP = '+',   /* a group was reserved */
  DEED_RELEASE = '-', /* a group was released */
  DEED_LEASE = 'l',   /* a group was confirmed or renewed and has this lease */
  DEED_SLICES = 's',  /* a group was resized, or one of its slices was released; it has this many */
  DEED_REPAIR = 'r',
  DEED_FORGET = 'f',
  DEED_OWNER = 'o', /* an owner was set or renewed and has this lease */
  DEED_END = 'e',   /* an owner was ended */
  DEED_NODE = 'n',  /* a node has this state */
  DEED_COMPACT = 'c',
  DEED_IMPORT = 'i'
} DeedKind;

enum { DEED_NAME_BYTES = 32 };

typedef struct {
  gboolean is_done; /* FALSE: about to be tried */
  DeedKind kind;
  char name[DEED_NAME_BYTES], owner[DEED_NAME_BYTES]; /* owner "-": no owner */
  guint id, n;                                        /* n: slices, or state of a node */
  gint64 now_ms, until_ms;                            /* by the writer's clock; a lease of 0 means no lease */
} Deed;

gboolean deed_parse (const char *line, Deed *deed);

/* The clock advances by one minute per round, so leases expire in later rounds. */
gint64 time_of_round (guint round);

/* Makes changes until the process is killed. */
int write_for_ever (const char *path, guint round, guint32 seed);
