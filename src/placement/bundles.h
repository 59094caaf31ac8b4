/* SPDX-License-Identifier: Apache-2.0 */
/* Placing bundles on nodes: what is asked, what the candidates have, and where each bundle goes. Pure, and of plain
 * numbers: whoever has a fleet, or rows of some other system's nodes, makes a view of it first. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "fleet/layout.h"

/* What is asked. A bundle is a row of amounts, in ten-thousandths, of the resources that any bundle asks for. */
typedef struct {
  guint32 n_bundles, n_resources, n_filters;
  const char *const *resources; /* names, distinct */
  const gint64 *amounts;        /* [bundle * n_resources + resource], never NULL; 0: not asked */
  const guint32 *filter;        /* of each bundle: which filter its labels must pass; NULL: all bundles have none */
} QuoitBundles;

/* What the candidates have: nodes that are alive and not draining, in the order in which equals are preferred. */
typedef struct {
  guint32 n_nodes;
  guint32 n_candidates;    /* those included that are left out because no bundle's labels match them */
  const gint64 *total;     /* [node * n_resources + resource]; an implicit resource that is not stated is 1 */
  const gint64 *available; /* likewise */
  const guint64 *passes;   /* [filter * words + node / 64], words of quoit_view_words(): the node's bit */
  const guint32 *domain;   /* of each node: its value of the topology label, by number; QUOIT_NO_INDEX: it has
                              none. NULL: no topology label is asked */
  guint32 n_domains;
  const guint32 *slice;            /* of each node, by number; QUOIT_NO_INDEX: none. NULL: not known */
  const struct _QuoitUnits *units; /* of each node, what is left of each chip; NULL: plain sums */
} QuoitView;

/* The chips of one node. A bundle takes whole ones, and what is left of its amount from one other chip. */
typedef struct _QuoitUnits {
  guint32 resource; /* which one counts them; QUOIT_NO_INDEX: the node has none, or nobody asks */
  guint32 n;
  gint64 per_chip;    /* ten-thousandths of the resource that a whole chip is */
  gint32 chip_e4[64]; /* what is left of each, in ten-thousandths of a chip */
} QuoitUnits;

/* How they are to stand. */
typedef struct {
  QuoitStrategy strategy;
  guint32 soft_target;     /* node that STRICT_PACK prefers; QUOIT_NO_INDEX: none */
  guint32 n_values;        /* how many values of the topology label share out the bundles evenly, in order; 0: no label.
                              Policy `ray` knows 1 */
  guint32 bound;           /* domain that lost bundles must go back to; QUOIT_NO_INDEX: any */
  const guint64 *excluded; /* bits: nodes that STRICT_SPREAD must not use, for they have bundles of the group already;
                              NULL: none */
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

/* Who chooses among nodes of equal score for @bundle: one of the @n of @ties, by its place in it; @n: give up, the
 * answer is FAILED then. */
typedef guint32 (*QuoitChoose) (gpointer data, guint32 bundle, const guint32 *ties, guint32 n);

typedef struct {
  QuoitChoose choose; /* NULL: the first */
  gpointer data;
  gboolean of_a_kind; /* who chooses is told one node of all that the rest of the decision cannot tell apart */
  guint32 n_choices;  /* out: how often there was more than one node, or domain; 0: Ray can give no other answer */
  guint64 n_looks;    /* out: how often a node was looked at for a bundle: what the decision cost */
} QuoitTies;

/* Ray 2.60's decision. @nodes, of n_bundles, is set with SUCCESS alone. @ties may be NULL. Domains are tried in the
 * order of their numbers, and the view leaves no candidate out where there are any: Ray adds up what all of a domain
 * have. */
QuoitRayResult quoit_ray_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                                QuoitTies *ties, guint32 *nodes);

/* The order in which PACK, SPREAD and STRICT_SPREAD place bundles: @order has room for n_bundles. */
void quoit_ray_order (const QuoitBundles *bundles, guint32 *order);

/* Whether Ray could answer @result, with SUCCESS @nodes; and whether what quoit_ray_place() answers is the only answer
 * there is. At most @budget placements are tried. */
QuoitRayWhether quoit_ray_is_possible (const QuoitBundles *bundles, const QuoitView *view,
                                       const QuoitStanding *standing, QuoitRayResult result, const guint32 *nodes,
                                       guint64 budget);
QuoitRayWhether quoit_ray_is_determined (const QuoitBundles *bundles, const QuoitView *view,
                                         const QuoitStanding *standing, guint64 budget);

/* --- policy `best` --- */

typedef enum {
  QUOIT_BEST_FOUND = 0,
  QUOIT_BEST_NONE = 1,  /* there is no placement: proven */
  QUOIT_BEST_BUDGET = 2 /* the search was ended before either was known */
} QuoitBestResult;

/* A placement whenever there is one; of several, the one that suits the strategy: PACK touches the fewest nodes, then
 * slices, SPREAD has the smallest largest number of bundles on a node. @budget is in steps of the search and is
 * lowered by those it took; where it ends after a placement was found, that one is given, and *@proven is FALSE: a
 * better one may exist. So it is, too, where several values of the topology label share slices: then the slices that
 * PACK touches may not be the fewest.
 *
 * It finds one wherever Ray does, whose placement the chips hold, and none that is worse, whatever the budget is.
 * Without any it answers whatever is polynomial: STRICT_PACK of whole chips, STRICT_SPREAD, bundles that ask for
 * the same amounts (PACK of those: where they pass the same filter, or else that there is a placement), one bundle a
 * node. @nodes is written with FOUND alone; *@proven always, as TRUE with NONE and FALSE with BUDGET. */
QuoitBestResult quoit_best_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                                  guint64 *budget, gboolean *proven, guint32 *nodes);
