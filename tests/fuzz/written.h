/* SPDX-License-Identifier: Apache-2.0 */
/* What must be true of everything that is written about claims, whatever names they have. */
#pragma once

#include <string.h>

#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"
#include "ledger/entry.h"

/* The document passes the strict gate. json_node_unref() it. */
static inline JsonNode *
fuzz_read_written (const char *json)
{
  g_autoptr (GError) error = NULL;
  JsonNode *root = quoit_json_parse (json, strlen (json), &error);

  if (root == NULL)
    g_error ("%s\n%s", error->message, json);
  return root;
}

/* A member is @text, or null where that is NULL; wrong bytes have become U+FFFD. */
static inline void
fuzz_hold_member (JsonObject *object, const char *name, const char *text)
{
  g_autofree char *valid = text == NULL ? NULL : g_utf8_make_valid (text, -1);
  JsonNode *node = json_object_get_member (object, name);

  g_assert (node != NULL);
  if (text == NULL)
    g_assert (JSON_NODE_HOLDS_NULL (node));
  else
    g_assert (strcmp (json_node_get_string (node), valid) == 0);
}

/* The nodes of @claims are all there, each with its own texts. */
static inline void
fuzz_hold_claims_written (const QuoitClaims *claims)
{
  g_autofree char *json = quoit_write_claims_json (claims);
  g_autoptr (JsonNode) root = fuzz_read_written (json);
  JsonObject *document = json_node_get_object (root);
  JsonArray *nodes = json_object_get_array_member (document, "nodes"), *pools;
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint32 n;
  const QuoitNodeClaim *claimed = quoit_claims_nodes (claims, &n);

  fuzz_hold_member (document, "source", quoit_claims_source (claims));
  pools = json_object_get_array_member (document, "pools");
  g_assert (json_array_get_length (pools) == quoit_claims_n_pools (claims));
  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    fuzz_hold_member (json_array_get_object_element (pools, i), "name", quoit_claims_pool_at (claims, i)->name);

  g_assert (json_array_get_length (nodes) == n);
  for (guint32 i = 0; i < n; i++)
    g_hash_table_insert (by_name, g_utf8_make_valid (claimed[i].name, -1), (gpointer) &claimed[i]);
  for (guint32 i = 0; i < n; i++)
    {
      JsonObject *node = json_array_get_object_element (nodes, i);
      const QuoitNodeClaim *claim = g_hash_table_lookup (by_name, json_object_get_string_member (node, "name"));

      g_assert (claim != NULL);
      /* Names that differ in wrong bytes alone have become one: which of them this was cannot be told. */
      if (g_hash_table_size (by_name) < n)
        continue;
      fuzz_hold_member (node, "identity", claim->identity);
      fuzz_hold_member (node, "address", claim->address);
      fuzz_hold_member (node, "slice", claim->slice);
      fuzz_hold_member (node, "pool", quoit_claims_pool_at (claims, claim->pool)->name);
    }
}

/* The fleet that @claims make: sound, and written with every node in it. */
static inline QuoitFleet *
fuzz_fleet_of (const QuoitClaims *claims)
{
  g_autofree guint32 *ids = NULL;
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (GError) error = NULL;
  QuoitFleet *fleet;
  guint32 n;

  quoit_claims_nodes (claims, &n);
  ids = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    ids[i] = i + 1;
  layout = quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);
  fleet = quoit_fleet_new (layout);
  if (!quoit_fleet_check (fleet, &error))
    g_error ("%s", error->message);
  return fleet;
}

static inline void
fuzz_hold_fleet_written (const QuoitFleet *fleet)
{
  g_autofree char *json = quoit_write_fleet_json (fleet);
  g_autoptr (JsonNode) root = fuzz_read_written (json);
  JsonArray *nodes = json_object_get_array_member (json_node_get_object (root), "nodes");

  g_assert (json_array_get_length (nodes) == fleet->layout->n_nodes);
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    {
      JsonObject *node = json_array_get_object_element (nodes, i);
      g_autofree char *full_name = quoit_layout_node_full_name (fleet->layout, (QuoitNodeId) { i });

      fuzz_hold_member (node, "node", quoit_layout_node_name (fleet->layout, (QuoitNodeId) { i }));
      fuzz_hold_member (node, "full_name", full_name);
    }
}
