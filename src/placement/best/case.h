/* SPDX-License-Identifier: Apache-2.0 */
/* One case of policy `best`: some of the bundles, and the nodes that they may stand on. Where no topology label is
 * asked there is one case, all bundles on all nodes; else one for each share of the bundles and each value. */
#pragma once

#include "placement/best/question.h"

typedef struct {
  QuoitBestQuestion *question;
  guint32 n_kinds;       /* of asks that are in it */
  const guint32 *asks;   /* of each kind, distinct */
  const guint32 *counts; /* of each kind, how many bundles; their sum is n_units */
  guint32 n_units;
  const guint32 *nodes; /* in the order of the view */
  guint32 n_nodes;
  guint64 *budget;
} QuoitBestCase;

typedef struct {
  QuoitBestResult result;
  gboolean proven;  /* FOUND: there is no better one */
  guint32 n_nodes;  /* that are used */
  guint32 n_slices; /* that they are in */
  guint32 load;     /* the largest number of bundles on a node */
  guint32 *places;  /* of each unit, kinds one after another: which of the case's nodes */
} QuoitBestAnswer;

QuoitBestAnswer *quoit_best_answer_new (const QuoitBestCase *it);
void quoit_best_answer_free (QuoitBestAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestAnswer, quoit_best_answer_free)

/* Counts what its places use. */
void quoit_best_answer_measure (QuoitBestAnswer *answer, const QuoitBestCase *it);

/* One a strategy. */
void quoit_best_pack (const QuoitBestCase *it, QuoitBestAnswer *answer);
void quoit_best_spread (const QuoitBestCase *it, QuoitBestAnswer *answer);
void quoit_best_strict_pack (const QuoitBestCase *it, guint32 soft_target, QuoitBestAnswer *answer);
void quoit_best_strict_spread (const QuoitBestCase *it, QuoitBestAnswer *answer);

/* Each bundle where its kind fits, and on a node at most as many as it holds of the smallest, or @most_load: exact
 * where all ask for the same amounts or a node holds one, else FALSE proves that there is no placement. */
gboolean quoit_best_match_case (const QuoitBestCase *it, guint32 most_load, guint32 *places, guint32 *largest);
/* Whether the kinds differ in labels only. */
gboolean quoit_best_is_even (const QuoitBestCase *it);

static inline guint32
quoit_best_case_room (const QuoitBestCase *it, guint32 place)
{
  return quoit_best_room_of (it->question, it->nodes[place]);
}

static inline guint32
quoit_best_case_slice (const QuoitBestCase *it, guint32 place)
{
  const guint32 *slice = it->question->view->slice;

  return slice == NULL ? QUOIT_NO_INDEX : slice[it->nodes[place]];
}

/* Whether a node may be used at all. */
static inline gboolean
quoit_best_allows (const QuoitStanding *standing, guint32 node)
{
  return standing->strategy != QUOIT_STRATEGY_STRICT_SPREAD || standing->excluded == NULL
         || (standing->excluded[node / 64] >> (node % 64) & 1) == 0;
}
