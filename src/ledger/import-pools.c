/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the pools of a source with its previous ones. */
#include "ledger/difference.h"

#include "base/name-hash.h"

/* Returns whether the pool has the properties that keep_pools() of import-update.c leaves it: none. */
static gboolean
is_kept_as_it_is (const QuoitDifference *difference, guint32 pool)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const char *name = quoit_layout_text (layout, layout->pools[pool].name);

  return g_hash_table_contains (difference->kept_pools, name)
         && quoit_layout_pool_matches (layout, (QuoitPoolId) { pool }, &(QuoitPoolClaim) { .name = name });
}

void
quoit_difference_compare_pools (QuoitDifference *difference)
{
  guint32 n_same = 0, n_new = 0;
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) before = g_hash_table_new (quoit_hash_text, g_str_equal);

  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    g_hash_table_insert (before, (gpointer) quoit_layout_text (layout, layout->pools[q].name),
                         GUINT_TO_POINTER (q + 1));
  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    {
      const QuoitPoolClaim *claim = quoit_claims_pool_at (difference->claims, p);
      guint32 pool = GPOINTER_TO_UINT (g_hash_table_lookup (before, claim->name));

      n_new += pool == 0;
      if (pool == 0)
        quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("new"));
      else if (!quoit_layout_pool_matches (layout, (QuoitPoolId) { pool - 1 }, claim))
        quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, claim->name,
                                     g_strdup ("other pods or environment"));
      else
        n_same++;
      g_hash_table_remove (before, claim->name);
    }
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    n_same += g_hash_table_contains (before, quoit_layout_text (layout, layout->pools[q].name))
              && is_kept_as_it_is (difference, q);
  difference->keeps_pools = n_new == 0 && n_same == source->n_pools;
}

void
quoit_difference_add_removed_pools (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) now = g_hash_table_new (quoit_hash_text, g_str_equal);

  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    g_hash_table_add (now, (gpointer) quoit_claims_pool_at (difference->claims, p)->name);
  for (guint32 p = 0; p < quoit_claims_n_pools (difference->upserts); p++)
    g_hash_table_add (now, (gpointer) quoit_claims_pool_at (difference->upserts, p)->name);
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (!g_hash_table_contains (now, quoit_layout_text (layout, layout->pools[q].name))
        && !g_hash_table_contains (difference->kept_pools, quoit_layout_text (layout, layout->pools[q].name)))
      quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, quoit_layout_text (layout, layout->pools[q].name),
                                   g_strdup ("gone"));
}

void
quoit_difference_add_pools (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    quoit_claims_copy_pool (difference->upserts, quoit_claims_pool_at (difference->claims, p));
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (g_hash_table_contains (difference->kept_pools, quoit_layout_text (layout, layout->pools[q].name)))
      quoit_claims_ensure_pool (difference->upserts, quoit_layout_text (layout, layout->pools[q].name));
}
