/* SPDX-License-Identifier: Apache-2.0 */
/* The slices of a class that pass the rules of a request, whatever their state, prepared for a choice among them. They
 * change only with the layout, so they are remembered there, and requests that name slices remember their own. */
#pragma once

#include "fleet/layout.h"

/* The table of constraints (constraint.h) has at most this many rows. Arrays that count by constraint have this
 * size, so that only the table itself depends on the number of rows. */
enum { QUOIT_MAX_CONSTRAINTS = 32, QUOIT_NO_CONSTRAINT = QUOIT_MAX_CONSTRAINTS };

/* An atomic rc box. It is immutable once several threads can have it. */
typedef struct _QuoitEligible QuoitEligible;
struct _QuoitEligible {
  guint32 n_words;
  guint64 *slices;  /* one bit per slice */
  guint64 *ranks;   /* one bit per rank of the fleet (fleet/layout-ranks.c): the ranks of the whole shelves */
  guint32 *partial; /* the shelves of which only some slices are eligible, in order */
  guint32 n_partial;
  gboolean is_whole_class;                  /* every slice of the class is eligible */
  guint32 n_removed[QUOIT_MAX_CONSTRAINTS]; /* number of slices that each constraint of class and rules removed, by
                                             * position */
  gboolean leaves_promised;                 /* promised slices are left out */
  QuoitEligible *base; /* the set without whose promised slices this is; NULL: none. See placement/ahead.c */
};

/* Returns a set without slices. */
QuoitEligible *quoit_eligible_new (const QuoitLayout *layout);
void quoit_eligible_clear (gpointer data); /* frees the arrays, for quoit_recent_put() */
void quoit_eligible_unref (QuoitEligible *eligible);

/* Adds @n slices. */
void quoit_eligible_add (QuoitEligible *eligible, guint32 first, guint32 n);
/* Removes the slices that are not in @bits. @position: the constraint that removes them. */
void quoit_eligible_keep (QuoitEligible *eligible, guint position, const guint64 *bits);
/* Sets everything that depends on the slices. Call it after the last change. @class_index: the class of all slices, or
 * QUOIT_NO_INDEX if there are none. */
void quoit_eligible_finish (QuoitEligible *eligible, const QuoitLayout *layout, guint32 class_index);

static inline gboolean
quoit_eligible_has (const QuoitEligible *eligible, guint32 slice)
{
  return (eligible->slices[slice / 64] >> (slice % 64) & 1) != 0;
}
