/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/ray.h"

#include <string.h>

#include "placement/best/case.h"

/* Ray counts sums, so that its placement may need parts of a chip that no single chip has. */
static gboolean
chips_hold (QuoitBestQuestion *question, const guint32 *nodes, guint64 *budget)
{
  g_autoptr (GHashTable) wishes_of = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  GHashTableIter iter;
  gpointer node, wishes;

  for (guint32 b = 0; b < question->bundles->n_bundles; b++)
    {
      const QuoitBestRoom *room = quoit_best_room (question, quoit_best_room_of (question, nodes[b]));
      QuoitChipWish wish = { .want_e4 = quoit_best_want_e4 (question, question->ask_of[b], room) };

      wishes = g_hash_table_lookup (wishes_of, GUINT_TO_POINTER (nodes[b]));
      if (wishes == NULL)
        {
          wishes = g_array_new (FALSE, FALSE, sizeof wish);
          g_hash_table_insert (wishes_of, GUINT_TO_POINTER (nodes[b]), wishes);
        }
      if (wish.want_e4 > 0)
        g_array_append_val ((GArray *) wishes, wish);
    }
  g_hash_table_iter_init (&iter, wishes_of);
  while (g_hash_table_iter_next (&iter, &node, &wishes))
    if (quoit_best_share_chips (quoit_best_room (question, quoit_best_room_of (question, GPOINTER_TO_UINT (node))),
                                wishes, budget)
        != QUOIT_BEST_FOUND)
      return FALSE;
  return TRUE;
}

/* PACK compares nodes, then slices; SPREAD compares the largest load. */
static gboolean
is_better (const QuoitBestCase *it, QuoitStrategy strategy, const guint32 *nodes, const guint32 *than)
{
  g_autoptr (QuoitBestAnswer) a = quoit_best_answer_new (it), b = quoit_best_answer_new (it);

  memcpy (a->places, nodes, it->n_units * sizeof *nodes);
  memcpy (b->places, than, it->n_units * sizeof *than);
  quoit_best_answer_measure (a, it);
  quoit_best_answer_measure (b, it);
  if (strategy == QUOIT_STRATEGY_SPREAD)
    return a->load < b->load;
  return a->n_nodes != b->n_nodes ? a->n_nodes < b->n_nodes : a->n_slices < b->n_slices;
}

gboolean
quoit_best_take_ray (QuoitBestQuestion *question, const QuoitStanding *standing, QuoitBestResult result,
                     guint64 *budget, guint32 *nodes)
{
  guint32 n = question->bundles->n_bundles;
  g_autofree guint32 *rays = g_new (guint32, n), *all = g_new (guint32, question->view->n_nodes + 1);
  QuoitBestCase it
      = { .question = question, .n_units = n, .nodes = all, .n_nodes = question->view->n_nodes, .budget = budget };

  for (guint32 i = 0; i < it.n_nodes; i++)
    all[i] = i;
  if (quoit_ray_place (question->bundles, question->view, standing, NULL, rays) != QUOIT_RAY_SUCCESS
      || (result == QUOIT_BEST_FOUND && !is_better (&it, standing->strategy, rays, nodes))
      || !chips_hold (question, rays, budget))
    return FALSE;
  memcpy (nodes, rays, n * sizeof *nodes);
  return TRUE;
}
