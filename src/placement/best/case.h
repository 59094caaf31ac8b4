/* SPDX-License-Identifier: Apache-2.0 */
/* One case of policy `best`: some of the bundles, and the nodes on which they may be placed. Without a topology
 * label there is one case, all bundles on all nodes. With a label there is one for each pair of a share and a value. */
#pragma once

#include "placement/best/question.h"

typedef struct {
  QuoitBestQuestion *question;
  guint32 n_kinds;       /* number of asks in the case */
  const guint32 *asks;   /* ask of each kind, distinct */
  const guint32 *counts; /* number of bundles of each kind; their sum is n_units */
  guint32 n_units;
  const guint32 *nodes; /* in the order of the view */
  guint32 n_nodes;
  guint64 *budget;
} QuoitBestCase;

typedef struct {
  QuoitBestResult result;
  gboolean proven;  /* FOUND: no better placement exists */
  guint32 n_nodes;  /* number of used nodes */
  guint32 n_slices; /* number of slices with used nodes */
  guint32 load;     /* largest number of bundles on a node */
  guint32 *places;  /* of each unit, by kind: index of its node in the case */
} QuoitBestAnswer;

QuoitBestAnswer *quoit_best_answer_new (const QuoitBestCase *it);
void quoit_best_answer_free (QuoitBestAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestAnswer, quoit_best_answer_free)

/* Sets the counts of @answer from its places. */
void quoit_best_answer_measure (QuoitBestAnswer *answer, const QuoitBestCase *it);

/* One function per strategy. */
void quoit_best_pack (const QuoitBestCase *it, QuoitBestAnswer *answer);
void quoit_best_spread (const QuoitBestCase *it, QuoitBestAnswer *answer);
void quoit_best_strict_pack (const QuoitBestCase *it, guint32 soft_target, QuoitBestAnswer *answer);
void quoit_best_strict_spread (const QuoitBestCase *it, QuoitBestAnswer *answer);

/* Matches bundles with nodes on which their kind fits. A node gets at most @most_load bundles, and at most as many
 * as its amounts can hold. The result is exact if all bundles request the same amounts or @most_load is 1. Otherwise
 * only FALSE is conclusive: no placement exists. *@largest is the largest load of the matching. */
gboolean quoit_best_match_case (const QuoitBestCase *it, guint32 most_load, guint32 *places, guint32 *largest);
/* Whether the kinds differ only in labels. */
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

/* Whether the placement rules allow the node. */
static inline gboolean
quoit_best_allows (const QuoitStanding *standing, guint32 node)
{
  return standing->strategy != QUOIT_STRATEGY_STRICT_SPREAD || standing->excluded == NULL
         || (standing->excluded[node / 64] >> (node % 64) & 1) == 0;
}
