/* SPDX-License-Identifier: Apache-2.0 */
/* Checks claims before they are compared: their size, their texts, and that no other source has the same machines. */
#include <string.h>

#include "base/name-hash.h"

#include "ledger/difference.h"

/* Checks that no other source of the same kind claims one of the machines, because it would be counted twice. */
static gboolean
check_machines_unclaimed (const QuoitFleet *fleet, const QuoitClaims *claims, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GHashTable) machines = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      const QuoitSource *source = &layout->sources[s];
      const char *name = quoit_layout_text (layout, source->name);

      if (source->kind != quoit_claims_source_kind (claims) || strcmp (name, quoit_claims_source (claims)) == 0)
        continue;
      nodes = quoit_claims_nodes (claims, &n);
      if (machines == NULL)
        {
          machines = g_hash_table_new (quoit_hash_text, g_str_equal);
          for (guint32 i = 0; i < n; i++)
            {
              if (nodes[i].identity != NULL)
                g_hash_table_insert (machines, (gpointer) nodes[i].identity, (gpointer) nodes[i].name);
              if (nodes[i].address != NULL && nodes[i].state != QUOIT_NODE_DEAD)
                g_hash_table_insert (machines, (gpointer) nodes[i].address, (gpointer) nodes[i].name);
            }
        }
      for (guint32 i = 0; i < quoit_layout_count_claimed (layout, (QuoitSourceId) { s }); i++)
        {
          QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
          g_autofree char *identity = NULL;
          QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, &identity);
          const char *other = identity == NULL ? NULL : g_hash_table_lookup (machines, identity);

          if (other == NULL && claim.address != NULL && quoit_fleet_node_state (fleet, node) != QUOIT_NODE_DEAD)
            other = g_hash_table_lookup (machines, claim.address);
          if (other != NULL)
            return quoit_fail (
                error, QUOIT_ERROR_CONFLICT,
                "source '%s': its node '%s' is a machine that source '%s' claims already, as '%s'; import "
                "it under that name with --source %s",
                quoit_claims_source (claims), other, name, claim.name, name);
        }
    }
  return TRUE;
}

/* Limits the nodes of all sources together. The readers limit only one source. */
static gboolean
check_size (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  guint32 n, others = layout->n_nodes;
  QuoitSourceId source;

  if (quoit_layout_find_source (layout, quoit_claims_source (claims), &source))
    others -= layout->sources[source.index].n_nodes;
  quoit_claims_nodes (claims, &n);
  return (guint64) n + others <= QUOIT_MAX_NODES
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': %u nodes in addition to the fleet's %u: expected at most %d together",
                        quoit_claims_source (claims), n, others, QUOIT_MAX_NODES);
}

static gboolean
check_n_sources (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  QuoitSourceId source;

  return layout->n_sources < QUOIT_MAX_SOURCES
         || quoit_layout_find_source (layout, quoit_claims_source (claims), &source)
         || quoit_fail (error, QUOIT_ERROR_INVALID, "source '%s': the ledger has %u sources: expected at most %d",
                        quoit_claims_source (claims), layout->n_sources, QUOIT_MAX_SOURCES);
}

/* Limits the length of each text of a node, so that readers of the database can refuse longer rows. */
static gboolean
check_texts (const QuoitClaims *claims, GError **error)
{
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      const char *longest = quoit_node_claim_longest_text (&nodes[i]);

      if (strlen (longest) > QUOIT_MAX_NODE_TEXT_BYTES)
        {
          g_autofree char *quoted = quoit_quote (longest);

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "source '%s': a node has text %s of %zu bytes: expected at most %d",
                             quoit_claims_source (claims), quoted, strlen (longest), QUOIT_MAX_NODE_TEXT_BYTES);
        }
    }
  return TRUE;
}

gboolean
quoit_step_check_claims (const QuoitFleet *fleet, const QuoitClaims *claims, const QuoitNodesUpdate *update,
                         GError **error)
{
  return (update != NULL || check_size (fleet->layout, claims, error)) && check_n_sources (fleet->layout, claims, error)
         && check_texts (claims, error) && check_machines_unclaimed (fleet, claims, error);
}
