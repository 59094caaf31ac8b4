/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the strategies of policy `ray` share: one attempt to place all bundles on the nodes of a view. */
#pragma once

#include "placement/bundles.h"

/* The current request: the resources that a bundle, or the sum of all, requests. */
typedef struct {
  guint32 n;
  guint32 *resources;
  gint64 *amounts;
  const guint64 *passes; /* bits of the nodes whose labels match; NULL: all */
} QuoitRayAsk;

/* The highest score of the candidates for bundles of one filter. Valid for one ask. */
typedef struct {
  guint32 asked;
  guint32 from;   /* no candidate before this one is as good */
  guint32 ranked; /* no candidate with a lower rank is left */
  double score;
  gboolean is_alone; /* TRUE: known that no other candidate is as good */
} QuoitRayMost;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  QuoitTies *ties;
  const guint32 *order; /* order of placement */
  guint32 n_words;
  guint64 *candidates; /* bits: allowed nodes on which no bundle was placed */
  QuoitRayAsk ask;
  const gint64 *asked_row; /* the amounts of the current ask and of the scores */
  guint32 n_asked;
  guint32 n_sunk; /* how often the highest score has decreased for this ask */
  guint64 n_looks;
  guint32 *ranking; /* candidates sorted by score; NULL: not sorted yet */
  guint32 n_ranked, ranked_for;
  double *scores;     /* of candidates, valid if the bit in `scored` is set */
  guint64 *scored;    /* bits */
  QuoitRayMost *most; /* of each filter */
  guint32 *tied;      /* buffer for all nodes, used if ties are requested */
  guint32 *alike;     /* of each node: the first equal node; used if ties->of_a_kind */
  gboolean gave_up;   /* ties->choose gave up */
} QuoitRayAttempt;

/* The bundles, the nodes, the placement rules, and the order of placement. */
typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  const QuoitStanding *standing;
  const guint32 *order;
} QuoitRayCall;

void quoit_ray_attempt_init (QuoitRayAttempt *attempt, const QuoitRayCall *call, QuoitTies *ties);
void quoit_ray_attempt_clear (QuoitRayAttempt *attempt);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayAttempt, quoit_ray_attempt_clear)

/* Ray adds up the terms of a score in varying order, so that its last bits vary. */
#define QUOIT_RAY_AS_GOOD 1e-12

/* --- ask.c --- */

/* Makes @bundle the current ask, which the functions below use. */
void quoit_ray_ask (QuoitRayAttempt *attempt, guint32 bundle);
/* Makes the sum of all bundles, with the labels of all, the current ask. @row is a buffer for the amounts. Returns
 * FALSE if a sum is too large for any node. */
gboolean quoit_ray_ask_sum (QuoitRayAttempt *attempt, gint64 *row);

gboolean quoit_ray_ask_fits (const QuoitRayAsk *ask, const gint64 *row);
/* Subtracts the ask from @row. */
void quoit_ray_ask_take (const QuoitRayAsk *ask, gint64 *row);

/* Whether the labels and totals of some candidate suffice for the current ask, or, separately, for each bundle. */
gboolean quoit_ray_is_feasible (QuoitRayAttempt *attempt);
gboolean quoit_ray_is_each_feasible (QuoitRayAttempt *attempt);

/* --- score.c --- */

/* Returns the score of a candidate, higher for emptier nodes. Returns -1 if the ask does not fit. */
double quoit_ray_score (QuoitRayAttempt *attempt, guint32 node);

/* Returns the candidate with the highest score for the current ask, or QUOIT_NO_INDEX. @bundle is passed to
 * ties->choose. */
guint32 quoit_ray_best (QuoitRayAttempt *attempt, guint32 bundle);
/* As quoit_ray_best(), for the nodes in @used. The amounts left on node n begin at rows[n_resources * row[n]]. */
guint32 quoit_ray_best_used (QuoitRayAttempt *attempt, guint32 bundle, const guint64 *used, const guint32 *row,
                             const gint64 *rows);

static inline gboolean
quoit_ray_bit (const guint64 *bits, guint32 node)
{
  return (bits[node / 64] >> (node % 64) & 1) != 0;
}

/* Returns what Ray's control plane has left of @has after taking @amount, at least 0. */
static inline gint64
quoit_ray_left (gint64 has, gint64 amount)
{
  gint64 left;

  if (__builtin_sub_overflow (has, amount, &left))
    return G_MAXINT64;
  return MAX (left, 0);
}

static inline const gint64 *
quoit_ray_row (const QuoitRayAttempt *attempt, const gint64 *rows, guint32 node)
{
  return rows + (gsize) node * attempt->bundles->n_resources;
}

static inline void
quoit_ray_attempt_drop (QuoitRayAttempt *attempt, guint32 node)
{
  attempt->candidates[node / 64] &= ~((guint64) 1 << (node % 64));
}

static inline gboolean
quoit_ray_ask_passes (const QuoitRayAsk *ask, guint32 node)
{
  return ask->passes == NULL || quoit_ray_bit (ask->passes, node);
}

/* Returns the first node of @set, from @from on, that passes the filter of the ask, or QUOIT_NO_INDEX. */
static inline guint32
quoit_ray_next (const QuoitRayAttempt *attempt, const guint64 *set, guint32 from)
{
  const guint64 *passes = attempt->ask.passes;
  guint64 from_here = G_MAXUINT64 << (from % 64);

  for (guint32 w = from / 64; w < attempt->n_words; w++, from_here = G_MAXUINT64)
    {
      guint64 word = set[w] & from_here & (passes != NULL ? passes[w] : G_MAXUINT64);

      if (word != 0)
        return w * 64 + (guint32) __builtin_ctzll (word);
    }
  return QUOIT_NO_INDEX;
}

/* --- most.c --- */

/* Returns the highest score of the candidates that pass the filter, -1 if there are none, and the first candidate
 * that is as good. */
const QuoitRayMost *quoit_ray_most (QuoitRayAttempt *attempt, guint32 bundle);
/* Returns the first candidate, from @from on, that passes and whose score is at least @least, or QUOIT_NO_INDEX. */
guint32 quoit_ray_find_score (QuoitRayAttempt *attempt, guint32 from, double least);

/* --- alike.c --- */

/* Returns, for each node, the first node with the same available amounts and passed filters. The caller owns the
 * array. */
guint32 *quoit_ray_alike (const QuoitBundles *bundles, const QuoitView *view);

/* --- one file per strategy; @nodes may be written with any result --- */

QuoitRayResult quoit_ray_pack (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_spread (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_strict_pack (QuoitRayAttempt *attempt, guint32 soft_target, guint32 *nodes);
/* @excluded: bits; may be NULL. */
QuoitRayResult quoit_ray_strict_spread (QuoitRayAttempt *attempt, const guint64 *excluded, guint32 *nodes);

/* Places by the strategy, ignoring the topology label. */
QuoitRayResult quoit_ray_place_within (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);

/* --- topology.c --- */

/* The nodes of each domain, in the order of the view. Those of domain d are nodes[first[d]] to nodes[first[d + 1] -
 * 1]. */
typedef struct {
  guint32 *first, *nodes;
  __int128 *asked; /* of each resource: sum over all bundles */
} QuoitRayDomains;

void quoit_ray_domains_init (QuoitRayDomains *domains, const QuoitBundles *bundles, const QuoitView *view);
void quoit_ray_domains_clear (QuoitRayDomains *domains);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayDomains, quoit_ray_domains_clear)

/* Sets the range of domains that the placement rules allow, from *@first to *@end - 1. */
void quoit_ray_domains_allowed (const QuoitView *view, const QuoitStanding *standing, guint32 *first, guint32 *end);

/* Places all bundles on the nodes of one domain. */
QuoitRayResult quoit_ray_place_in_domain (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 domain,
                                          QuoitTies *ties, guint32 *nodes);
/* Places all bundles in the first domain that suffices. */
QuoitRayResult quoit_ray_place_in_some (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);
