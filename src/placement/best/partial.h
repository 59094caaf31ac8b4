/* SPDX-License-Identifier: Apache-2.0 */
/* A partial placement: the items that a search has placed so far, what is left on their bins, and whether the bins
 * can still take the remaining items. Items are removed in the reverse order of their placement. */
#pragma once

#include "placement/best/bounds.h"

/* Limits of a placement; QUOIT_NO_INDEX: no limit. */
typedef struct {
  guint32 bins, slices, load;
} QuoitBestLimits;

/* A bin that has items of this placement. */
typedef struct {
  guint32 run, bin;
  guint32 opened_in;  /* phase */
  guint32 load;       /* number of items */
  guint32 n_whole;    /* number of whole chips that are free */
  guint32 n_parts;    /* number of items that use a part of a chip */
  guint32 last_item;  /* the item that was placed here last */
  gboolean is_useful; /* a remaining item may fit */
} QuoitBestOpenBin;

/* A placed item. */
typedef struct {
  guint32 open, previous;          /* its open bin; the item that was placed there before it */
  gboolean has_opened, was_useful; /* for undo: it opened the bin; is_useful of the bin before */
} QuoitBestAssignment;

/* A search places all items of one class, then those of the next class. Phase p places the items of class order[p].
 * Here, items are numbered in this order. */
typedef struct {
  const QuoitBestSubproblem *subproblem;
  const QuoitBestInstance *instance;
  const QuoitBestBounds *bounds;
  guint32 n_resources;
  QuoitBestLimits limits;
  guint32 *order;      /* of each phase: a class index */
  guint32 *phase;      /* of each item */
  guint32 *first_item; /* of each phase; after the last phase: n_items */

  QuoitBestAssignment *assignments; /* of each item */
  guint32 n_placed;
  QuoitBestOpenBin *open;
  guint32 n_open;
  gint64 *left;        /* [open bin * n_resources + resource] */
  guint32 *n_opened;   /* of each run: number of open bins */
  guint32 *open_index; /* of each bin, in the order of the instance: index in open */

  guint32 *used_groups; /* groups with open bins, in the order of their first use */
  guint32 n_used_groups, n_used_slices;
  guint32 *used_since;      /* of each group: the phase of its first use; QUOIT_NO_INDEX: not used */
  guint32 *n_open_in_group; /* of each group */

  /* Sums for each resource, which often prove without a search that the remaining items cannot fit. */
  __int128 *unplaced;    /* requested by the items that are not placed */
  __int128 *spare;       /* left on open bins that are useful */
  __int128 *unopened;    /* on all bins that are not open */
  __int128 *reachable;   /* the part of `unopened` that is in used groups */
  gint64 spare_load;     /* number of items that the load limit still allows on useful open bins */
  gboolean is_undecided; /* the budget ended in a test of chips */
} QuoitBestPartial;

/* used_since of the group that is in no slice: using it never adds a slice, so it counts as used from the beginning. */
#define QUOIT_BEST_ALWAYS_USED (QUOIT_NO_INDEX - 1)

QuoitBestPartial *quoit_best_partial_new (const QuoitBestInstance *instance, const QuoitBestBounds *bounds);
void quoit_best_partial_free (QuoitBestPartial *partial);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestPartial, quoit_best_partial_free)

/* Removes all items, and sets the limits and the order of the classes. */
void quoit_best_partial_reset (QuoitBestPartial *partial, const QuoitBestLimits *limits, const guint32 *order);

/* Whether the next item fits, within the limits: on open bin @open, or on an unopened bin of @run. */
gboolean quoit_best_partial_fits (QuoitBestPartial *partial, guint32 open);
gboolean quoit_best_partial_fits_new (const QuoitBestPartial *partial, guint32 run);
/* Place the next item, in any case. Return FALSE if the remaining items can then not all be placed. */
gboolean quoit_best_partial_place (QuoitBestPartial *partial, guint32 open);
gboolean quoit_best_partial_place_new (QuoitBestPartial *partial, guint32 run);
/* Removes the item that was placed last. */
void quoit_best_partial_undo (QuoitBestPartial *partial);

/* Whether two open bins are equivalent for the remaining items. */
gboolean quoit_best_partial_are_equivalent (const QuoitBestPartial *partial, guint32 a, guint32 b);

/* Writes the bins of all items, numbered like in a solution. */
void quoit_best_partial_write (const QuoitBestPartial *partial, guint32 *bins);
