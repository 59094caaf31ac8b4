/* SPDX-License-Identifier: Apache-2.0 */
/* The writer that is killed, and what it says of what it does: a line before each change of something that is there,
 * and a line when a change was acknowledged. */
#pragma once

#include "../ground.h"

typedef enum {
  DEED_GROUP = '+',   /* a group was made */
  DEED_RELEASE = '-', /* it was released */
  DEED_LEASE = 'l',   /* it was confirmed or renewed: it has that lease */
  DEED_SLICES = 's',  /* it was resized, or a slice of it released: it has that many */
  DEED_REPAIR = 'r',
  DEED_FORGET = 'f',
  DEED_OWNER = 'o', /* an owner was set or renewed: it has that lease */
  DEED_END = 'e',   /* it was ended */
  DEED_NODE = 'n',  /* a node is in that state */
  DEED_COMPACT = 'c',
  DEED_IMPORT = 'i'
} DeedKind;

enum { DEED_NAME_BYTES = 32 };

typedef struct {
  gboolean is_done; /* FALSE: it is about to be tried */
  DeedKind kind;
  char name[DEED_NAME_BYTES], owner[DEED_NAME_BYTES]; /* owner "-": nobody */
  guint id, n;                                        /* n: slices, or state of a node */
  gint64 now_ms, until_ms;                            /* of the writer's clock; of a lease, 0: none */
} Deed;

gboolean deed_parse (const char *line, Deed *deed);

/* A minute a round: leases end in one of the next. */
gint64 time_of_round (guint round);

/* Works until it is killed. */
int write_for_ever (const char *path, guint round, guint32 seed);
