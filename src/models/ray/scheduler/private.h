/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the strategies share: an attempt to place all bundles on the nodes of a view. */
#pragma once

#include "models/ray/scheduler/rows.h"

/* The current demand: what one bundle, or the sum of all bundles, requests. */
typedef struct {
  guint32 n;
  guint32 *resources;
  gint64 *amounts;
  const guint64 *passes; /* bits of the nodes that satisfy the selectors; NULL: all */
} QuoitRayDemand;

/* The highest score of the candidates that pass one filter, for one demand. */
typedef struct {
  guint32 demand_number;
  guint32 first; /* the first candidate with that score; no candidate before it is as good */
  guint32 rank;  /* all candidates before this index of the ranking have been removed */
  double score;
  gboolean is_unique; /* TRUE: it is known that no other candidate is as good */
} QuoitRayTopScore;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  QuoitTies *ties;
  const guint32 *order; /* order of placement */
  guint32 n_words;
  guint64 *candidates; /* bits: nodes that are allowed and have no bundle of this attempt */
  QuoitRayDemand demand;
  const gint64 *demand_row; /* the amounts of the current demand */
  guint32 demand_number;    /* counts the demands, from 1 */
  guint32 n_decreases;      /* how often the highest score has decreased for this demand */
  guint64 n_tests;
  guint32 *ranking;                /* candidates sorted by score; NULL: not sorted yet */
  guint32 n_ranked, ranked_demand; /* ranked_demand: the demand_number of the ranking */
  double *scores;                  /* of candidates, valid if the bit in `scored` is set */
  guint64 *scored;                 /* bits */
  QuoitRayTopScore *top_scores;    /* of each filter */
  guint32 *tied;                   /* buffer for nodes of equal score */
  guint32 *equivalent;             /* of each node: the first equivalent node; set if ties->skip_equivalent */
  gboolean gave_up;                /* ties->choose gave up */
} QuoitRayAttempt;

/* The arguments of quoit_ray_place(), and the order of placement. */
typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  const QuoitPlacementRules *rules;
  const guint32 *order;
} QuoitRayCall;

void quoit_ray_attempt_init (QuoitRayAttempt *attempt, const QuoitRayCall *call, QuoitTies *ties);
void quoit_ray_attempt_clear (QuoitRayAttempt *attempt);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayAttempt, quoit_ray_attempt_clear)

/* Scores that differ by less are equal: Ray adds up the terms of a score in varying order, so that its last bits
 * vary. */
#define QUOIT_RAY_SCORE_TOLERANCE 1e-12

/* --- demand.c --- */

/* Makes @bundle the current demand, which the functions below use. */
void quoit_ray_set_demand (QuoitRayAttempt *attempt, guint32 bundle);
/* Makes the sum of all bundles, with the selectors of all, the current demand. @row is a buffer for the amounts.
 * Returns FALSE if a sum is too large for any node. */
gboolean quoit_ray_set_demand_sum (QuoitRayAttempt *attempt, gint64 *row);

gboolean quoit_ray_demand_fits (const QuoitRayDemand *demand, const gint64 *row);
/* Subtracts the demand from @row. */
void quoit_ray_demand_subtract (const QuoitRayDemand *demand, gint64 *row);

/* Whether some candidate passes the filter and has totals that suffice for the current demand. */
gboolean quoit_ray_is_feasible (QuoitRayAttempt *attempt);
/* Whether each bundle by itself has such a candidate. */
gboolean quoit_ray_is_each_feasible (QuoitRayAttempt *attempt);

/* --- score.c --- */

/* Returns the score of a candidate, higher for emptier nodes. Returns -1 if the demand does not fit. */
double quoit_ray_score (QuoitRayAttempt *attempt, guint32 node);

/* Returns the candidate with the highest score for the current demand, or QUOIT_NO_INDEX. @bundle is passed to
 * ties->choose. */
guint32 quoit_ray_find_best_node (QuoitRayAttempt *attempt, guint32 bundle);
/* Like quoit_ray_find_best_node(), for the nodes in @used instead of candidates. What is left on node n begins at
 * rows[n_resources * row[n]]. */
guint32 quoit_ray_find_best_used_node (QuoitRayAttempt *attempt, guint32 bundle, const guint64 *used,
                                       const guint32 *row, const gint64 *rows);

static inline gboolean
quoit_ray_bit (const guint64 *bits, guint32 node)
{
  return (bits[node / 64] >> (node % 64) & 1) != 0;
}

/* Returns @has minus @amount like Ray's control plane: at least 0. */
static inline gint64
quoit_ray_subtract (gint64 has, gint64 amount)
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
quoit_ray_attempt_remove_candidate (QuoitRayAttempt *attempt, guint32 node)
{
  attempt->candidates[node / 64] &= ~((guint64) 1 << (node % 64));
}

static inline gboolean
quoit_ray_demand_passes (const QuoitRayDemand *demand, guint32 node)
{
  return demand->passes == NULL || quoit_ray_bit (demand->passes, node);
}

/* Returns the first node of @set, from @from on, that passes the filter of the demand, or QUOIT_NO_INDEX. */
static inline guint32
quoit_ray_next_candidate (const QuoitRayAttempt *attempt, const guint64 *set, guint32 from)
{
  const guint64 *passes = attempt->demand.passes;
  guint64 from_here = G_MAXUINT64 << (from % 64);

  for (guint32 w = from / 64; w < attempt->n_words; w++, from_here = G_MAXUINT64)
    {
      guint64 word = set[w] & from_here & (passes != NULL ? passes[w] : G_MAXUINT64);

      if (word != 0)
        return w * 64 + (guint32) __builtin_ctzll (word);
    }
  return QUOIT_NO_INDEX;
}

/* --- top-score.c --- */

/* Finds the highest score of the candidates that pass the filter, and the first candidate with it. The score is -1
 * if there is none. */
const QuoitRayTopScore *quoit_ray_find_top_score (QuoitRayAttempt *attempt, guint32 bundle);
/* Returns the first candidate, from @from on, that passes the filter and has at least @min_score, or QUOIT_NO_INDEX. */
guint32 quoit_ray_find_score (QuoitRayAttempt *attempt, guint32 from, double min_score);

/* --- equivalent.c --- */

/* Returns, for each node, the first node that has the same available amounts and passes the same filters. The caller
 * owns the array. */
guint32 *quoit_ray_find_equivalent (const QuoitBundles *bundles, const QuoitView *view);

/* --- one file per strategy; @nodes may be written with any result --- */

QuoitRayResult quoit_ray_pack (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_spread (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_strict_pack (QuoitRayAttempt *attempt, guint32 soft_target, guint32 *nodes);
/* @excluded: bits; may be NULL. */
QuoitRayResult quoit_ray_strict_spread (QuoitRayAttempt *attempt, const guint64 *excluded, guint32 *nodes);

/* Places all bundles by the strategy. Ignores the topology label. */
QuoitRayResult quoit_ray_place_within (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);

/* --- topology.c --- */

/* The nodes of each domain, in the order of the view. Those of domain d are nodes[first[d]] to nodes[first[d + 1] -
 * 1]. */
typedef struct {
  guint32 *first, *nodes;
  __int128 *requested; /* of each resource: sum over all bundles */
} QuoitRayDomains;

void quoit_ray_domains_init (QuoitRayDomains *domains, const QuoitBundles *bundles, const QuoitView *view);
void quoit_ray_domains_clear (QuoitRayDomains *domains);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayDomains, quoit_ray_domains_clear)

/* Sets the range of domains that the placement rules allow, from *@first to *@end - 1. */
void quoit_ray_domains_allowed (const QuoitView *view, const QuoitPlacementRules *rules, guint32 *first, guint32 *end);

/* Places all bundles on the nodes of one domain. */
QuoitRayResult quoit_ray_place_in_domain (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 domain,
                                          QuoitTies *ties, guint32 *nodes);
/* Places all bundles in the first domain that suffices. */
QuoitRayResult quoit_ray_place_in_first_domain (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);
