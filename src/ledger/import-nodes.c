/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/import-nodes.h"

#include <string.h>

#include "fleet/kind.h"

void
quoit_import_nodes_init (QuoitImportNodeTable *table, const QuoitDifference *difference)
{
  table->difference = difference;
  table->claims = quoit_claims_nodes (difference->claims, &table->n_claims);
  table->nodes = g_new0 (QuoitImportNode *, table->n_claims + 1);
  table->head_names = g_ptr_array_new_with_free_func (g_free);
}

void
quoit_import_nodes_clear (QuoitImportNodeTable *table)
{
  for (guint32 i = 0; i < table->n_claims; i++)
    if (table->nodes[i] != NULL)
      {
        g_free (table->nodes[i]->left);
        g_free (table->nodes[i]->unreported);
        g_free (table->nodes[i]->own);
        g_free (table->nodes[i]->for_others);
        g_array_unref (table->nodes[i]->demands);
        g_free (table->nodes[i]);
      }
  g_free (table->nodes);
  g_ptr_array_unref (table->head_names);
}

int
quoit_import_node_find_resource (const QuoitImportNode *node, const char *resource)
{
  for (guint16 r = 0; r < node->kind->n_resources; r++)
    if (strcmp (node->kind->resources[r].name, resource) == 0)
      return r;
  for (int d = 0; d < 2; d++)
    if (g_strcmp0 (node->derived[d], resource) == 0)
      return node->kind->n_resources + d;
  return -1;
}

gint64
quoit_import_node_chips_e4 (const QuoitImportNode *node, QuoitAmount tpu)
{
  return quoit_chips_e4 (tpu, node->tpu_per_chip_e4);
}

/* Subtracts the amounts and chips of @bundle from what the node has left. @is_unreported_group: @bundle belongs to a
 * group that this import does not report. */
static void
subtract_bundle (QuoitImportNode *node, const QuoitBundle *bundle, gboolean is_unreported_group)
{
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      int resource = quoit_import_node_find_resource (node, bundle->takes[t].resource);

      if (resource < 0)
        continue;
      node->left[resource].e4 -= bundle->takes[t].amount.e4;
      if (is_unreported_group)
        node->unreported[resource].e4 += bundle->takes[t].amount.e4;
    }
  quoit_chips_subtract (&node->chips, bundle);
}

guint32
quoit_import_successor_id (const QuoitDifference *difference, guint32 id)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 index = quoit_layout_find_id (layout, id);
  guint32 moved = GPOINTER_TO_UINT (g_hash_table_lookup (difference->moved_to, GUINT_TO_POINTER (id)));

  if (moved != 0)
    return moved;
  return index != QUOIT_NO_INDEX && difference->has_changed[index] ? 0 : id;
}

/* Subtracts a bundle of this ledger. A bundle of the source with the same amounts may match it later. */
static void
subtract_own_bundle (QuoitImportNode *node, const QuoitBundle *bundle)
{
  if (node->own == NULL)
    node->own = g_new0 (QuoitAmount, node->kind->n_resources + 2);
  subtract_bundle (node, bundle, TRUE);
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      int resource = quoit_import_node_find_resource (node, bundle->takes[t].resource);

      if (resource >= 0)
        node->own[resource].e4 += bundle->takes[t].amount.e4;
    }
}

/* Subtracts what stays on the node: the groups of this ledger, and the groups and the external use of the source if
 * this import does not report them. @id 0: no node. */
static void
subtract_users (const QuoitDifference *difference, QuoitImportNode *node, guint32 id)
{
  const QuoitFleet *fleet = difference->fleet;
  guint scope = quoit_claims_scope (difference->claims);
  guint32 index = quoit_layout_find_id (fleet->layout, id);
  const QuoitGroupData *user;
  QuoitUsers users;

  if (index == QUOIT_NO_INDEX)
    return;
  users = quoit_fleet_node_users (fleet, (QuoitNodeId) { index });
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    {
      gboolean is_external = user->kind == QUOIT_RECORD_EXTERNAL;

      if (*user->source == '\0' && users.bundle != NULL && quoit_group_is_by_host (user))
        subtract_own_bundle (node, users.bundle);
      else if (*user->source == '\0')
        node->has_slice_group = TRUE;
      else if ((scope & (is_external ? QUOIT_CLAIMS_SCOPE_EXTERNAL : QUOIT_CLAIMS_SCOPE_GROUPS)) == 0
               && quoit_import_successor_id (difference, id) != 0)
        subtract_bundle (node, users.bundle, !is_external);
    }
}

/* Subtracts the users of the node, and those that move to it from their previous node. */
static void
subtract_all_users (const QuoitDifference *difference, QuoitImportNode *node, guint32 id)
{
  subtract_users (difference, node, id);
  subtract_users (difference, node,
                  GPOINTER_TO_UINT (g_hash_table_lookup (difference->moved_from, GUINT_TO_POINTER (id))));
}

/* Sets the names of the resources that Ray adds. They contain the slice name, which another source may determine. */
static void
set_derived_names (QuoitImportNodeTable *table, QuoitImportNode *node, guint32 claim)
{
  const QuoitLayout *layout = table->difference->fleet->layout;
  guint32 index = table->difference->claim_nodes[claim];
  const char *slice = table->claims[claim].slice;
  gint32 worker = table->claims[claim].worker_id;

  if (index != QUOIT_NO_INDEX && quoit_difference_is_placed_by_other_source (table->difference, index))
    {
      slice = quoit_layout_node_slice_name (layout, (QuoitNodeId) { index });
      worker = layout->nodes[index].worker_id;
    }
  node->derived[0] = slice;
  if (slice == NULL || worker != 0 || node->kind->pod_type == NULL)
    return;
  g_ptr_array_add (table->head_names, g_strdup_printf ("TPU-%s-head", node->kind->pod_type));
  node->derived[1] = table->head_names->pdata[table->head_names->len - 1];
}

QuoitImportNode *
quoit_import_nodes_get (QuoitImportNodeTable *table, guint32 index)
{
  const QuoitNodeClaim *claim = &table->claims[index];
  QuoitImportNode *node = table->nodes[index];

  if (node != NULL)
    return node;
  node = table->nodes[index] = g_new0 (QuoitImportNode, 1);
  node->kind = quoit_claims_kind_at (table->difference->claims, claim->kind);
  node->chips.n = MIN (node->kind->chips, G_N_ELEMENTS (node->chips.e4));
  node->left = g_new0 (QuoitAmount, node->kind->n_resources + 2);
  node->unreported = g_new0 (QuoitAmount, node->kind->n_resources + 2);
  node->demands = g_array_new (FALSE, FALSE, sizeof (QuoitChipDemand));
  for (guint c = 0; c < node->chips.n; c++)
    node->chips.e4[c] = QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < node->kind->n_resources; r++)
    node->left[r] = node->kind->resources[r].amount;
  node->tpu_per_chip_e4 = quoit_node_kind_tpu_per_chip (node->kind).e4;
  set_derived_names (table, node, index);
  for (guint d = 0; d < 2; d++)
    node->left[node->kind->n_resources + d].e4 = QUOIT_AMOUNT_UNIT;
  subtract_all_users (table->difference, node, table->difference->claim_ids[index]);
  if (node->own != NULL)
    node->for_others = g_memdup2 (node->left, (node->kind->n_resources + 2) * sizeof *node->left);
  return node;
}

void
quoit_import_nodes_assign_chips (QuoitImportNodeTable *table)
{
  for (guint32 i = 0; i < table->n_claims; i++)
    if (table->nodes[i] != NULL)
      {
        GArray *demands = table->nodes[i]->demands;
        guint steps = QUOIT_CHIPS_MAX_STEPS;

        table->nodes[i]->chips_suffice = quoit_chips_assign (
            &table->nodes[i]->chips, (QuoitChipDemand *) (void *) demands->data, demands->len, &steps);
      }
}
