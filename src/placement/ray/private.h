/* SPDX-License-Identifier: Apache-2.0 */
/* What the strategies of policy `ray` share: one attempt to place all bundles on the nodes of one view. */
#pragma once

#include "placement/bundles.h"

/* What one bundle asks for, without the resources it does not. */
typedef struct {
  guint32 n;
  guint32 *resources;
  gint64 *amounts;
  const guint64 *passes; /* bits of the nodes that its labels match; NULL: all */
} QuoitRayAsk;

/* The highest score that bundles of one filter still find, as long as they ask for the same. */
typedef struct {
  guint32 asked;
  guint32 from;   /* no candidate before this one comes near it */
  guint32 ranked; /* none that is ranked before this one is left */
  double score;
  gboolean is_alone; /* it is known that no other is as good */
} QuoitRayMost;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  QuoitTies *ties;
  const guint32 *order; /* in which bundles are placed */
  guint32 n_words;
  guint64 *candidates; /* bits: nodes on which nothing was placed, and that may be used */
  QuoitRayAsk ask;
  const gint64 *asked_row; /* which the scores are for */
  guint32 n_asked;
  guint32 n_sunk; /* how often the highest score has sunk since */
  guint64 n_looks;
  guint32 *ranking; /* candidates by score, where it sinks often; NULL: not yet */
  guint32 n_ranked, ranked_for;
  double *scores;     /* of candidates, where `scored` says so */
  guint64 *scored;    /* bits */
  QuoitRayMost *most; /* of each filter */
  guint32 *tied;      /* room for all nodes, where somebody chooses among them */
  guint32 *alike;     /* of each node: the first that is as it is; where ties are of a kind */
  gboolean gave_up;   /* whoever chooses did */
} QuoitRayAttempt;

/* What is asked, and in which order it is placed. */
typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  const QuoitStanding *standing;
  const guint32 *order;
} QuoitRayCall;

void quoit_ray_attempt_init (QuoitRayAttempt *attempt, const QuoitRayCall *call, QuoitTies *ties);
void quoit_ray_attempt_clear (QuoitRayAttempt *attempt);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayAttempt, quoit_ray_attempt_clear)

/* Ray adds the shares of a score up in an order that varies, so its last bits are not its doing. */
#define QUOIT_RAY_AS_GOOD 1e-12

/* --- ray-ask.c --- */

/* @bundle is what the functions below are about. */
void quoit_ray_ask (QuoitRayAttempt *attempt, guint32 bundle);
/* What Ray calls the sum of all bundles: their amounts added, the labels of each. FALSE: no node has so much. */
gboolean quoit_ray_ask_sum (QuoitRayAttempt *attempt, gint64 *row);

gboolean quoit_ray_ask_fits (const QuoitRayAsk *ask, const gint64 *row);
/* @row without what is asked. */
void quoit_ray_ask_take (const QuoitRayAsk *ask, gint64 *row);

/* Whether the labels and totals of some candidate suffice for what is asked, or, one by one, for each bundle. */
gboolean quoit_ray_is_feasible (QuoitRayAttempt *attempt);
gboolean quoit_ray_is_each_feasible (QuoitRayAttempt *attempt);

/* --- ray-score.c --- */

/* Of a candidate. Higher is better: the emptier node; -1: it does not fit. */
double quoit_ray_score (QuoitRayAttempt *attempt, guint32 node);

/* The node for what is asked, by score; QUOIT_NO_INDEX: none. @bundle is for those who choose. */
guint32 quoit_ray_best (QuoitRayAttempt *attempt, guint32 bundle);
/* Likewise among the nodes @used, of which node n has what rows[n_resources * row[n]] and on say. */
guint32 quoit_ray_best_used (QuoitRayAttempt *attempt, guint32 bundle, const guint64 *used, const guint32 *row,
                             const gint64 *rows);

static inline gboolean
quoit_ray_bit (const guint64 *bits, guint32 node)
{
  return (bits[node / 64] >> (node % 64) & 1) != 0;
}

/* What Ray's control plane keeps of what a node @has when @amount is taken: never less than nothing. */
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

/* The first node of @set from @from on that passes; QUOIT_NO_INDEX: none. */
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

/* --- ray-most.c --- */

/* Of the candidates that pass: the highest score, -1 without any, and the first that is as good. */
const QuoitRayMost *quoit_ray_most (QuoitRayAttempt *attempt, guint32 bundle);
/* The first candidate from @from on that passes and has @least or more. */
guint32 quoit_ray_find_score (QuoitRayAttempt *attempt, guint32 from, double least);

/* --- ray-alike.c --- */

/* Of each node the first of which the same is left, and that the same bundles' labels match. The caller's. */
guint32 *quoit_ray_alike (const QuoitBundles *bundles, const QuoitView *view);

/* --- one file a strategy; @nodes may be written whatever the result --- */

QuoitRayResult quoit_ray_pack (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_spread (QuoitRayAttempt *attempt, guint32 *nodes);
QuoitRayResult quoit_ray_strict_pack (QuoitRayAttempt *attempt, guint32 soft_target, guint32 *nodes);
/* @excluded: bits, or NULL. */
QuoitRayResult quoit_ray_strict_spread (QuoitRayAttempt *attempt, const guint64 *excluded, guint32 *nodes);

/* The strategy, whatever topology label is asked. */
QuoitRayResult quoit_ray_place_within (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);

/* --- ray-topology.c --- */

/* The nodes of each domain, in the view's order: those of domain d are nodes[first[d]] to nodes[first[d + 1] - 1]. */
typedef struct {
  guint32 *first, *nodes;
  __int128 *asked; /* of each resource, by all bundles */
} QuoitRayDomains;

void quoit_ray_domains_init (QuoitRayDomains *domains, const QuoitBundles *bundles, const QuoitView *view);
void quoit_ray_domains_clear (QuoitRayDomains *domains);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayDomains, quoit_ray_domains_clear)

/* The domains that the bundles may be placed in: from *@first to before *@end. */
void quoit_ray_domains_allowed (const QuoitView *view, const QuoitStanding *standing, guint32 *first, guint32 *end);

/* All bundles on the nodes of one domain. */
QuoitRayResult quoit_ray_place_in_domain (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 domain,
                                          QuoitTies *ties, guint32 *nodes);
/* The same in the first domain that suffices. */
QuoitRayResult quoit_ray_place_in_some (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes);
