/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the bundles of a source with the bundles that this ledger's callers have on the same nodes. A caller that
 * reserves bundles here usually creates them in Ray afterwards, so that both are the same and must not be counted
 * twice.
 *
 * Sources state amounts and not who created a bundle. A bundle of the source is therefore taken for one of this ledger
 * as long as this ledger's amounts on the node cover it. The exceptions are bundles that the source had before, and
 * bundles that fit into what this ledger has not reserved. */
#include <string.h>

#include "ledger/import-nodes.h"
#include "models/ray/resource-names.h"

/* Returns whether @amount can be compared exactly with that of another bundle. *@resource gets the index of the
 * resource. */
static gboolean
is_comparable (const QuoitImportNode *node, const QuoitResource *amount, int *resource)
{
  *resource = quoit_import_node_find_resource (node, amount->name);
  return *resource >= 0 && !quoit_resource_is_rounded (amount->name);
}

/* Subtracts the amounts of @claim from @from, an array of amounts of @node. Returns FALSE and changes nothing if they
 * do not suffice. */
static gboolean
subtract_claim (const QuoitImportNode *node, const QuoitBundleClaim *claim, QuoitAmount *from)
{
  int resource;

  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_comparable (node, &claim->takes[t], &resource) && claim->takes[t].amount.e4 > from[resource].e4)
      return FALSE;
  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_comparable (node, &claim->takes[t], &resource))
      from[resource].e4 -= claim->takes[t].amount.e4;
  return TRUE;
}

/* Returns whether this ledger's amounts on the node cover @claim, which is then taken for a bundle of this ledger. */
static gboolean
match_own_amounts (QuoitImportNode *node, const QuoitBundleClaim *claim)
{
  int resource;

  if (!subtract_claim (node, claim, node->own))
    return FALSE;
  /* The source reports these amounts for a group, so they are not part of its external use. */
  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_comparable (node, &claim->takes[t], &resource))
      node->unreported[resource].e4 -= claim->takes[t].amount.e4;
  return TRUE;
}

static gboolean
has_same_takes (const QuoitImportNode *node, const QuoitBundleClaim *claim, const QuoitBundle *bundle)
{
  guint n = 0;
  int resource;

  for (guint16 t = 0; t < claim->n_takes; t++)
    {
      gboolean found = !is_comparable (node, &claim->takes[t], &resource);

      n += !found;
      for (guint16 b = 0; b < bundle->n_takes && !found; b++)
        found = strcmp (bundle->takes[b].resource, claim->takes[t].name) == 0
                && bundle->takes[b].amount.e4 == claim->takes[t].amount.e4;
      if (!found)
        return FALSE;
    }
  return n > 0;
}

/* Returns the node of @claim if bundles of this ledger are on it, otherwise NULL. */
static QuoitImportNode *
find_shared_node (QuoitImportNodeTable *table, const QuoitBundleClaim *claim)
{
  QuoitImportNode *node;

  if (claim->node == QUOIT_NOT_PLACED || table->claims[claim->node].state == QUOIT_NODE_DEAD)
    return NULL;
  node = quoit_import_nodes_get (table, claim->node);
  return node->has_slice_group || node->own == NULL ? NULL : node;
}

/* Adds to @unmoved the bundles of @group that have the same amounts on the same nodes as bundles of @before. Both lists
 * are in the order of the group. */
static void
find_unmoved (QuoitImportNodeTable *table, const QuoitGroupClaim *group, const QuoitGroupData *before,
              GHashTable *unmoved)
{
  guint32 next = 0;

  for (guint32 i = 0; i < group->n_bundles && next < before->n_nodes; i++)
    {
      const QuoitBundleClaim *claim = &group->bundles[i];
      QuoitImportNode *node = find_shared_node (table, claim);
      guint32 id = claim->node == QUOIT_NOT_PLACED ? 0 : table->difference->claim_ids[claim->node], b = next;

      /* Ray has removed the bundles of @before that this loop skips. */
      while (b < before->n_nodes
             && (before->node_ids[b] != id || (node != NULL && !has_same_takes (node, claim, &before->bundles[b]))))
        b++;
      if (b == before->n_nodes)
        continue;
      next = b + 1;
      if (node != NULL && subtract_claim (node, claim, node->for_others))
        g_hash_table_add (unmoved, (gpointer) claim);
    }
}

GHashTable *
quoit_import_match_own_bundles (QuoitImportNodeTable *table, GHashTable *source_groups)
{
  g_autoptr (GHashTable) unmoved = g_hash_table_new (NULL, NULL);
  GHashTable *own_bundles = g_hash_table_new (NULL, NULL);
  guint32 n;
  const QuoitGroupClaim *groups = quoit_claims_groups (table->difference->claims, &n);

  for (guint32 g = 0; g < n; g++)
    {
      const QuoitGroupData *before = g_hash_table_lookup (source_groups, groups[g].identity);

      if (before != NULL)
        find_unmoved (table, &groups[g], before, unmoved);
    }
  for (guint32 g = 0; g < n; g++)
    for (guint32 i = 0; i < groups[g].n_bundles; i++)
      {
        const QuoitBundleClaim *claim = &groups[g].bundles[i];
        QuoitImportNode *node = find_shared_node (table, claim);

        if (node != NULL && !g_hash_table_contains (unmoved, claim)
            && (match_own_amounts (node, claim) || !subtract_claim (node, claim, node->for_others)))
          g_hash_table_add (own_bundles, (gpointer) claim);
      }
  return own_bundles;
}
