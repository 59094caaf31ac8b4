/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: all bundles and nodes of one call, with equal ones merged. Bundles are the items of the solver, and
 * nodes are its bins. Four equal bundles on a slice of four equal hosts are one item class and one bin class, so the
 * solver tries one placement of them and not 24.
 *
 * Variables with the name item_class or bin_class are indices of the problem's classes. Amounts with the suffix _e4
 * are in ten-thousandths, like those of QuoitAmount. */
#pragma once

#include "fleet/chips.h"
#include "placement/best/best.h"
#include "placement/rows.h"

/* Equal nodes: they have the same free resources, pass the same filters and have the same free chips. */
typedef struct {
  const gint64 *left;   /* of each resource, limited to the sum over all bundles */
  const gint64 *passes; /* bits, one per used filter */
  guint32 chip_unit;    /* index in chip_units; QUOIT_NO_INDEX: no bundle requests chips */
  guint32 n_whole;      /* number of free whole chips */
  QuoitFreeChips chips; /* the freest last */
} QuoitBestBinClass;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;

  guint32 n_item_classes;
  guint32 *item_class;   /* of each bundle */
  guint32 *first_bundle; /* of each item class */
  guint32 *class_filter; /* of each item class: its bit in `passes`; QUOIT_NO_INDEX: all nodes pass */
  guint32 *filters;      /* the filters that bundles use, in the order of their bits */
  guint32 n_filters;
  gint64 *requested; /* of each resource: sum over all bundles */

  guint32 *bin_class;     /* of each node; QUOIT_NO_INDEX: not computed yet */
  GPtrArray *bin_classes; /* of QuoitBestBinClass */
  QuoitRows *bin_rows;    /* one row per bin class; nodes with equal rows are equal */
  gint64 *row;            /* buffer for the row of a node */

  QuoitRows *chip_units;   /* the different ways to count chips: the resource, and how much of it is one chip */
  GPtrArray *needed_chips; /* of each chip unit: an array with the chips that an item of each class needs, as _e4 */
} QuoitBestProblem;

QuoitBestProblem *quoit_best_problem_new (const QuoitBundles *bundles, const QuoitView *view);
void quoit_best_problem_free (QuoitBestProblem *problem);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestProblem, quoit_best_problem_free)

/* Returns the bin class of a node. Bin classes are numbered in the order of first use. */
guint32 quoit_best_find_bin_class (QuoitBestProblem *problem, guint32 node);

/* Whether the labels of the nodes of @bin_class satisfy the selectors of @item_class. */
gboolean quoit_best_passes_filter (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class);
/* Returns how many items of the class fit on an empty bin, at most @max. Ignores labels. */
guint32 quoit_best_capacity (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class, guint32 max);
/* Whether one item of the class fits on an empty bin, including labels. */
gboolean quoit_best_fits (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class);

/* Whether an empty bin has chips for all @demands, an array of QuoitChipDemand. */
QuoitBestResult quoit_best_check_chips (const QuoitBestBinClass *bin_class, const GArray *demands, guint64 *budget);

/* Returns the amounts that one item of the class requests. */
static inline const gint64 *
quoit_best_amounts (const QuoitBestProblem *problem, guint32 item_class)
{
  return problem->bundles->amounts + (gsize) problem->first_bundle[item_class] * problem->bundles->n_resources;
}

static inline const QuoitBestBinClass *
quoit_best_get_bin_class (const QuoitBestProblem *problem, guint32 bin_class)
{
  return problem->bin_classes->pdata[bin_class];
}

/* Returns how many ten-thousandths of chips one item of the class needs on a bin of @bin_class. */
static inline gint64
quoit_best_chips_e4 (const QuoitBestProblem *problem, guint32 item_class, const QuoitBestBinClass *bin_class)
{
  if (bin_class->chip_unit == QUOIT_NO_INDEX)
    return 0;
  return ((const gint64 *) problem->needed_chips->pdata[bin_class->chip_unit])[item_class];
}
