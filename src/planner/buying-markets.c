/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan costs in markets of cubes, which the classes of a plan only estimate. */
#include "planner/buying-types.h"

enum { MOST_PURCHASES = 4096 /* that are remembered */ };

guint32 *
quoit_buying_list_demand (const QuoitBuying *buying, const guint32 *counts, guint32 index)
{
  const QuoitBuyingMarket *market = &buying->markets[index];
  guint32 *words = g_new0 (guint32, market->market->n_shapes + 2);

  words[0] = index;
  for (guint i = 0; i < buying->options->len; i++)
    {
      const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, i);
      const guint32 n_cubes = counts[i] * choice->n_slices;

      if (choice->class_index != market->class_index)
        continue;
      words[1 + choice->shape]
          += choice->shape == 0 ? n_cubes : n_cubes / market->market->shapes[choice->shape - 1].n_cubes;
    }
  return words;
}

/* Returns the purchase for a demand. The caller owns it. */
static QuoitCubePurchase *
solve (QuoitBuying *buying, guint32 index, const guint32 *words, guint64 steps)
{
  guint64 left = steps;
  QuoitCubePurchase *purchase = quoit_cube_buying_solve (
      buying->markets[index].market, &(QuoitCubeDemand) { words + 2, words[1] }, buying->cube_weights[index], &left);

  quoit_buying_spend (buying, steps - left);
  return purchase;
}

/* Like solve(), but looks up what is known. */
static QuoitCubePurchase *
buy (QuoitBuying *buying, const QuoitBuyingPlan *plan, guint32 index, guint64 steps)
{
  const QuoitCubeMarket *market = buying->markets[index].market;
  guint32 *words = quoit_buying_list_demand (buying, plan->counts, index);
  GBytes *key = g_bytes_new_take (words, (market->n_shapes + 2) * sizeof *words);
  QuoitCubePurchase *purchase = g_hash_table_lookup (buying->purchases, key);

  quoit_buying_spend (buying, buying->options->len);
  if (purchase != NULL)
    quoit_cube_purchase_ref (purchase);
  else
    {
      purchase = solve (buying, index, words, steps);
      if (g_hash_table_size (buying->purchases) < MOST_PURCHASES)
        g_hash_table_insert (buying->purchases, g_bytes_ref (key), quoit_cube_purchase_ref (purchase));
    }
  g_bytes_unref (key);
  return purchase;
}

void
quoit_buying_plan_keep (QuoitBuying *buying, QuoitBuyingPlan *best, const QuoitBuyingPlan *plan, guint64 steps)
{
  g_autoptr (GPtrArray) purchases = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_cube_purchase_unref);
  gint64 cost = plan->cost, bound;
  gboolean is_found = TRUE, is_proven = TRUE, is_impossible = FALSE;

  for (guint32 i = 0; i < buying->n_markets; i++)
    cost -= quoit_buying_cost (&buying->classes[buying->markets[i].class_index],
                               plan->taken[buying->markets[i].class_index]);
  bound = cost;
  for (guint32 i = 0; i < buying->n_markets; i++)
    {
      QuoitCubePurchase *purchase = buy (buying, plan, i, steps / buying->n_markets);

      is_found = is_found && purchase->is_found;
      is_proven = is_proven && purchase->is_proven;
      is_impossible = is_impossible || (purchase->is_proven && !purchase->is_found);
      cost += purchase->cost;
      bound += purchase->bound;
      g_ptr_array_add (purchases, purchase);
    }
  if (!is_proven && !is_impossible)
    buying->unproven = MIN (buying->unproven, bound);
  if (!is_found || (best->excess == 0 && best->cost <= cost))
    return;
  quoit_buying_plan_copy (best, buying, plan);
  best->cost = cost;
  g_ptr_array_unref (buying->chosen);
  buying->chosen = g_steal_pointer (&purchases);
}
