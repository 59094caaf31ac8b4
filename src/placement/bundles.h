/* SPDX-License-Identifier: Apache-2.0 */
/* Places bundles on nodes. The inputs are plain numbers: the bundles, the capacity of the candidate nodes, and the
 * placement rules. Callers first make a view from a fleet or from the nodes of another system. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "fleet/layout.h"

/* The bundles to place. Each is a row of amounts, in ten-thousandths, of all resources that any bundle requests. */
typedef struct {
  guint32 n_bundles, n_resources, n_filters;
  const char *const *resources; /* names, distinct */
  const gint64 *amounts;        /* [bundle * n_resources + resource], not NULL; 0: not requested */
  const guint32 *filter;        /* of each bundle: index of the filter that its labels must pass; NULL: no filters */
} QuoitBundles;

/* The candidates: nodes that are alive and not draining. The policies prefer the earlier one of equal nodes. */
typedef struct {
  guint32 n_nodes;
  guint32 n_candidates;    /* including nodes that are omitted because no bundle's labels match them */
  const gint64 *total;     /* [node * n_resources + resource]; 1 for an implicit resource that the node does not
                            * state */
  const gint64 *available; /* same layout */
  const guint64 *passes;   /* [filter * words + node / 64], one bit per node; words is quoit_view_words() */
  const guint32 *domain;   /* of each node: index of its value of the topology label; QUOIT_NO_INDEX: no value. NULL:
                            * no topology label is requested */
  guint32 n_domains;
  const guint32 *slice;            /* of each node: slice index; QUOIT_NO_INDEX: no slice. NULL: unknown */
  const struct _QuoitUnits *units; /* of each node: free part of each chip; NULL: plain sums */
} QuoitView;

/* The chips of one node. A bundle takes whole chips, and the remainder of its amount from one other chip. */
typedef struct _QuoitUnits {
  guint32 resource; /* the resource that counts chips; QUOIT_NO_INDEX: the node has none, or no bundle requests it */
  guint32 n;
  gint64 per_chip;    /* amount of the resource per whole chip, in ten-thousandths */
  gint32 chip_e4[64]; /* free part of each chip, in ten-thousandths */
} QuoitUnits;

/* Placement rules. */
typedef struct {
  QuoitStrategy strategy;
  guint32 soft_target;     /* node that STRICT_PACK prefers; QUOIT_NO_INDEX: none */
  guint32 n_values;        /* number of values of the topology label over which the bundles are divided evenly, in
                            * order; 0: no label. Policy `ray` supports only 1 */
  guint32 bound;           /* domain into which lost bundles must return; QUOIT_NO_INDEX: any */
  const guint64 *excluded; /* bits: nodes that STRICT_SPREAD must not use, because they already have bundles of the
                            * group; NULL: none */
} QuoitStanding;

static inline guint32
quoit_view_words (const QuoitView *view)
{
  return (view->n_nodes + 63) / 64;
}

static inline gboolean
quoit_view_passes (const QuoitView *view, const QuoitBundles *bundles, guint32 bundle, guint32 node)
{
  if (bundles->filter == NULL)
    return TRUE;
  return (view->passes[bundles->filter[bundle] * quoit_view_words (view) + node / 64] >> (node % 64) & 1) != 0;
}

/* --- policy `ray` --- */

/* Chooses one of @n nodes with equal score for @bundle. Returns its index in @ties, or @n to give up; the result is
 * then FAILED. */
typedef guint32 (*QuoitChoose) (gpointer data, guint32 bundle, const guint32 *ties, guint32 n);

typedef struct {
  QuoitChoose choose; /* NULL: always the first */
  gpointer data;
  gboolean of_a_kind; /* @choose gets only one node of each set that the rest of the decision cannot distinguish */
  guint32 n_choices;  /* out: how often there was more than one node or domain; 0: Ray has no other result */
  guint64 n_looks;    /* out: how often a node was tested for a bundle; the cost of the decision */
} QuoitTies;

/* Decides like Ray 2.60. @nodes, with n_bundles members, is set only with SUCCESS. @ties may be NULL. Domains are
 * tried in the order of their indices. With domains, the view must not omit candidates, because Ray sums up all
 * nodes of a domain. */
QuoitRayResult quoit_ray_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                                QuoitTies *ties, guint32 *nodes);

/* Writes the order in which PACK, SPREAD and STRICT_SPREAD place bundles. @order must have space for n_bundles. */
void quoit_ray_order (const QuoitBundles *bundles, guint32 *order);

/* quoit_ray_is_possible() returns whether Ray could return @result and, with SUCCESS, @nodes.
 * quoit_ray_is_determined() returns whether the result of quoit_ray_place() is the only possible one. Both try at
 * most @budget placements. */
QuoitRayWhether quoit_ray_is_possible (const QuoitBundles *bundles, const QuoitView *view,
                                       const QuoitStanding *standing, QuoitRayResult result, const guint32 *nodes,
                                       guint64 budget);
QuoitRayWhether quoit_ray_is_determined (const QuoitBundles *bundles, const QuoitView *view,
                                         const QuoitStanding *standing, guint64 budget);

/* --- policy `best` --- */

typedef enum {
  QUOIT_BEST_FOUND = 0,
  QUOIT_BEST_NONE = 1,  /* proven: no placement exists */
  QUOIT_BEST_BUDGET = 2 /* the budget ended before a result was known */
} QuoitBestResult;

/* Finds a placement if one exists, and prefers the best one for the strategy. PACK minimizes the number of nodes,
 * then of slices. SPREAD minimizes the largest number of bundles on a node. @budget is in search steps and is
 * decremented by the steps taken. If it ends after a placement was found, that placement is returned and *@proven is
 * FALSE, because a better one may exist. *@proven is also FALSE if several values of the topology label share
 * slices, because PACK may then not use the fewest slices.
 *
 * With any budget, the result is a placement whenever Ray's algorithm finds one that the chips allow, and it is not
 * worse than Ray's. Without a budget, all polynomial cases are solved: STRICT_PACK of whole chips, STRICT_SPREAD,
 * bundles with equal amounts (for PACK with equal filters; with different ones, only whether a placement exists),
 * and one bundle per node. @nodes is written only with FOUND. *@proven is always written: TRUE with NONE and FALSE
 * with BUDGET. */
QuoitBestResult quoit_best_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                                  guint64 *budget, gboolean *proven, guint32 *nodes);
