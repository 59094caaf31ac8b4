/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of every document about claims, whatever their names are. */
#pragma once

#include <string.h>

#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"
#include "ledger/entry.h"
#include "read-back.h"

/* Checks that the document is strict JSON; returns its first value. */
static inline FuzzValue
fuzz_read_written (const char *json)
{
  g_autoptr (GError) error = NULL;

  if (!quoit_json_check (json, strlen (json), &error))
    g_error ("%s\n%s", error->message, json);
  return fuzz_skip_blanks (json);
}

/* Checks that a value is @text, or null if @text is NULL, where U+FFFD replaces invalid bytes. */
static inline void
fuzz_require_text (FuzzValue value, const char *text)
{
  g_autofree char *valid = text == NULL ? NULL : g_utf8_make_valid (text, -1), *read = fuzz_read_text (value);

  g_assert (value != NULL && (text != NULL || *value == 'n'));
  g_assert (g_strcmp0 (read, valid) == 0);
}

static inline void
fuzz_require_member (FuzzValue object, const char *name, const char *text)
{
  fuzz_require_text (fuzz_member (object, name), text);
}

/* Checks that all nodes of @claims are in the document with their texts. */
static inline void
fuzz_require_claims_written (const QuoitClaims *claims)
{
  g_autofree char *json = quoit_write_claims_json (claims);
  FuzzValue document = fuzz_read_written (json), nodes = fuzz_member (document, "nodes");
  FuzzValue pools = fuzz_member (document, "pools"), pool = fuzz_first (pools);
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint32 n;
  const QuoitNodeClaim *claimed = quoit_claims_nodes (claims, &n);

  fuzz_require_member (document, "source", quoit_claims_source (claims));
  g_assert (fuzz_length (pools) == quoit_claims_n_pools (claims));
  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++, pool = fuzz_next (fuzz_skip (pool)))
    fuzz_require_member (pool, "name", quoit_claims_pool_at (claims, i)->name);

  g_assert (fuzz_length (nodes) == n);
  for (guint32 i = 0; i < n; i++)
    g_hash_table_insert (by_name, g_utf8_make_valid (claimed[i].name, -1), (gpointer) &claimed[i]);
  for (FuzzValue node = fuzz_first (nodes); node != NULL; node = fuzz_next (fuzz_skip (node)))
    {
      g_autofree char *name = fuzz_read_text (fuzz_member (node, "name"));
      const QuoitNodeClaim *claim = name == NULL ? NULL : g_hash_table_lookup (by_name, name);

      g_assert (claim != NULL);
      /* Names that differ only in invalid bytes become equal, so the claim of the node is unknown. */
      if (g_hash_table_size (by_name) < n)
        continue;
      fuzz_require_member (node, "identity", claim->identity);
      fuzz_require_member (node, "address", claim->address);
      fuzz_require_member (node, "slice", claim->slice);
      fuzz_require_member (node, "pool", quoit_claims_pool_at (claims, claim->pool)->name);
    }
}

/* Makes a fleet of @claims, and checks it and its document. */
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
fuzz_require_fleet_written (const QuoitFleet *fleet)
{
  g_autofree char *json = quoit_write_fleet_json (fleet);
  FuzzValue nodes = fuzz_member (fuzz_read_written (json), "nodes"), node = fuzz_first (nodes);

  g_assert (fuzz_length (nodes) == fleet->layout->n_nodes);
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++, node = fuzz_next (fuzz_skip (node)))
    {
      g_autofree char *full_name = quoit_layout_node_full_name (fleet->layout, (QuoitNodeId) { i });

      fuzz_require_member (node, "node", quoit_layout_node_name (fleet->layout, (QuoitNodeId) { i }));
      fuzz_require_member (node, "full_name", full_name);
    }
}
