/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best` for bundles: dispatches by strategy, and falls back to Ray's placement. */
#include "placement/best/values.h"

#include "placement/best/ray.h"

void
quoit_best_solve (const QuoitBestCase *it, const QuoitStanding *standing, QuoitBestAnswer *answer)
{
  switch (standing->strategy)
    {
    case QUOIT_STRATEGY_PACK:
      quoit_best_pack (it, answer);
      break;
    case QUOIT_STRATEGY_SPREAD:
      quoit_best_spread (it, answer);
      break;
    case QUOIT_STRATEGY_STRICT_PACK:
      quoit_best_strict_pack (it, standing->soft_target, answer);
      break;
    case QUOIT_STRATEGY_STRICT_SPREAD:
      quoit_best_strict_spread (it, answer);
      break;
    }
  if (answer->result == QUOIT_BEST_FOUND)
    quoit_best_answer_measure (answer, it);
}

void
quoit_best_write (const QuoitBestCase *it, const guint32 *places, const guint32 *case_nodes, guint32 first,
                  guint32 *nodes)
{
  g_autofree guint32 *sorted = g_memdup2 (places, it->n_units * sizeof *places);
  g_autofree guint32 *next = g_new (guint32, it->question->n_asks); /* of each ask: index in sorted */
  guint32 from = 0;

  for (guint32 k = 0; k < it->n_kinds; k++)
    {
      next[it->asks[k]] = from;
      quoit_numbers_sort (sorted + from, it->counts[k]);
      from += it->counts[k];
    }
  for (guint32 b = first; b < first + it->n_units; b++)
    nodes[b] = case_nodes[sorted[next[it->question->ask_of[b]]++]];
}

static QuoitBestResult
place_anywhere (QuoitBestQuestion *question, const QuoitStanding *standing, guint64 *budget, gboolean *proven,
                guint32 *nodes)
{
  const QuoitView *view = question->view;
  g_autofree guint32 *asks = g_new (guint32, question->n_asks), *counts = g_new0 (guint32, question->n_asks);
  g_autofree guint32 *candidates = g_new (guint32, view->n_nodes + 1);
  QuoitBestCase it = { .question = question,
                       .n_kinds = question->n_asks,
                       .asks = asks,
                       .counts = counts,
                       .n_units = question->bundles->n_bundles,
                       .nodes = candidates };
  g_autoptr (QuoitBestAnswer) answer = quoit_best_answer_new (&it);

  it.budget = budget;
  for (guint32 a = 0; a < question->n_asks; a++)
    asks[a] = a;
  for (guint32 b = 0; b < it.n_units; b++)
    counts[question->ask_of[b]]++;
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (quoit_best_allows (standing, n))
      candidates[it.n_nodes++] = n;
  quoit_best_solve (&it, standing, answer);
  *proven = answer->proven;
  if (answer->result == QUOIT_BEST_FOUND)
    quoit_best_write (&it, answer->places, candidates, 0, nodes);
  return answer->result;
}

QuoitBestResult
quoit_best_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing, guint64 *budget,
                  gboolean *proven, guint32 *nodes)
{
  g_autoptr (QuoitBestQuestion) question = NULL;
  QuoitBestResult result;

  *proven = TRUE;
  if (bundles->n_bundles == 0)
    return QUOIT_BEST_FOUND;
  question = quoit_best_question_new (bundles, view);
  result = standing->n_values > 0 ? quoit_best_place_by_value (question, standing, budget, proven, nodes)
                                  : place_anywhere (question, standing, budget, proven, nodes);
  if (!*proven && standing->n_values <= 1 && quoit_best_take_ray (question, standing, result, budget, nodes))
    return QUOIT_BEST_FOUND;
  return result;
}
