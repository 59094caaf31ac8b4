/* SPDX-License-Identifier: Apache-2.0 */
/* The decision of Ray's scheduler on rows of plain numbers. Callers make the rows from a fleet, or from the nodes of
 * a Ray cluster. Policy `best` reads the same rows. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/indices.h"

/* The bundles to place. Each is a row of amounts, in ten-thousandths: one for each resource that any bundle
 * requests. */
typedef struct {
  guint32 n_bundles, n_resources, n_filters;
  const char *const *resources; /* names, distinct */
  const gint64 *amounts;        /* [bundle * n_resources + resource], not NULL; 0: not requested */
  const guint32 *filter;        /* of each bundle: the filter that its node must pass; NULL: no filters */
} QuoitBundles;

/* The candidates: nodes that are alive and not draining. The policies prefer the earlier one of equal nodes. A
 * filter replaces the selectors of a bundle. */
typedef struct {
  guint32 n_nodes;
  guint32 n_candidates;    /* includes nodes that are omitted because they pass no filter */
  const gint64 *total;     /* [node * n_resources + resource]; 1 for an implicit resource that the node does not
                            * state */
  const gint64 *available; /* same layout */
  const guint64 *passes;   /* [filter * words + node / 64], one bit per node; words is quoit_view_words() */
  const guint32 *domain;   /* of each node: index of its value of the topology label; QUOIT_NO_INDEX: no value. NULL:
                            * no topology label is requested */
  guint32 n_domains;
  const guint32 *slice;                /* of each node: slice index; QUOIT_NO_INDEX: no slice. NULL: unknown */
  const struct _QuoitNodeChips *chips; /* of each node: free part of each chip; NULL: plain sums */
} QuoitView;

/* The chips of one node. A bundle takes whole chips, and the remainder of its amount from one other chip. */
typedef struct _QuoitNodeChips {
  guint32 resource; /* the resource that counts chips; QUOIT_NO_INDEX: the node has none, or no bundle requests it */
  guint32 n;
  gint64 per_chip;    /* amount of the resource per whole chip, in ten-thousandths */
  gint32 chip_e4[64]; /* free part of each chip, in ten-thousandths */
} QuoitNodeChips;

/* What a placement must observe, besides resources and filters. */
typedef struct {
  QuoitStrategy strategy;
  guint32 soft_target;     /* node that STRICT_PACK prefers; QUOIT_NO_INDEX: none */
  guint32 n_values;        /* number of values of the topology label over which the bundles are divided evenly, in
                            * order; 0: no label. Policy `ray` supports only 1 */
  guint32 required_domain; /* the only allowed domain, where the rest of the group is; QUOIT_NO_INDEX: any */
  const guint64 *excluded; /* bits: nodes that STRICT_SPREAD must not use, because they already have bundles of the
                            * group; NULL: none */
} QuoitPlacementRules;

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

/* --- the decision of Ray --- */

/* Chooses one of @n nodes with equal score for @bundle. Returns its index in @ties, or @n to give up; the result is
 * then FAILED. */
typedef guint32 (*QuoitChoose) (gpointer data, guint32 bundle, const guint32 *ties, guint32 n);

/* How to choose among nodes of equal score, and what a decision has cost. */
typedef struct {
  QuoitChoose choose; /* NULL: always the first */
  gpointer data;
  gboolean skip_equivalent; /* @choose gets only one of several equivalent nodes */
  guint32 n_choices;        /* out: how often there was more than one node or domain; 0: Ray has no other result */
  guint64 n_tests;          /* out: how often a node was tested for a bundle; the cost of the decision */
} QuoitTies;

/* Decides like Ray 2.60. @nodes, with n_bundles members, is set only with SUCCESS. @ties may be NULL. Domains are
 * tried in the order of their indices. With domains, the view must not omit candidates, because Ray adds up all nodes
 * of a domain. */
QuoitRayResult quoit_ray_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules,
                                QuoitTies *ties, guint32 *nodes);

/* Writes the order in which PACK, SPREAD and STRICT_SPREAD place bundles. @order must have space for n_bundles. */
void quoit_ray_order (const QuoitBundles *bundles, guint32 *order);

/* Whether Ray could return @result and, with SUCCESS, @nodes. Tries at most @budget placements. */
QuoitRayCertainty quoit_ray_is_possible (const QuoitBundles *bundles, const QuoitView *view,
                                         const QuoitPlacementRules *rules, QuoitRayResult result, const guint32 *nodes,
                                         guint64 budget);
/* Whether the result of quoit_ray_place() is the only possible one. Tries at most @budget placements. */
QuoitRayCertainty quoit_ray_is_determined (const QuoitBundles *bundles, const QuoitView *view,
                                           const QuoitPlacementRules *rules, guint64 budget);
