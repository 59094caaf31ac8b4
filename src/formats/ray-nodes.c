/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "formats/yaml.h"

/* `ray list nodes` shows no more unless it is told to. */
enum { LISTING_LIMIT = 100 };

typedef struct {
  guint32 n_alive, n_all;
  gboolean is_reported;
} Bearers;

typedef struct {
  const QuoitTree *tree;
  QuoitRayRow *rows;
  guint32 n_rows;
  GHashTable *names; /* name -> Bearers */
  Bearers *bearers;
} Listing;

static gboolean
looks_like_json (const char *text, gsize length)
{
  gsize i = 0;

  while (i < length && g_ascii_isspace (text[i]))
    i++;
  return i < length && (text[i] == '[' || text[i] == '{');
}

static JsonNode *
only_document (const QuoitTree *tree, GError **error)
{
  JsonNode *root = NULL;

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      JsonNode *node = quoit_tree_document (tree, i);

      if (JSON_NODE_HOLDS_NULL (node))
        continue;
      if (root != NULL)
        return quoit_tree_fail (tree, node, error, "a second document: expected one list of nodes"), NULL;
      root = node;
    }
  return root != NULL ? root : quoit_fail_null (error, QUOIT_ERROR_INVALID, "nothing in it: expected a list of nodes");
}

static JsonArray *
find_rows (const QuoitTree *tree, GError **error)
{
  JsonNode *root = only_document (tree, error);
  JsonArray *array;

  if (root == NULL || !quoit_tree_array (tree, root, &array, error))
    return NULL;
  if (json_array_get_length (array) > QUOIT_MOST_NODES)
    return quoit_tree_fail (tree, root, error, "%u rows: expected at most %u", json_array_get_length (array),
                            (unsigned) QUOIT_MOST_NODES),
           NULL;
  return array;
}

static gboolean
read_rows (Listing *listing, JsonArray *array, GError **error)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 i = 0; i < listing->n_rows; i++)
    {
      QuoitRayRow *row = &listing->rows[i];

      if (!quoit_ray_row_read (listing->tree, json_array_get_element (array, i), row, error))
        return FALSE;
      if (!g_hash_table_add (ids, (char *) row->id))
        {
          g_autofree char *quoted = quoit_quote (row->id);

          return quoit_tree_fail (listing->tree, row->node, error, "node id %s: expected each id once", quoted);
        }
    }
  return TRUE;
}

static void
count_names (Listing *listing)
{
  guint32 n_names = 0;

  listing->bearers = g_new0 (Bearers, MAX (listing->n_rows, 1));
  for (guint32 i = 0; i < listing->n_rows; i++)
    {
      const QuoitRayRow *row = &listing->rows[i];
      Bearers *bearers = g_hash_table_lookup (listing->names, row->name);

      if (bearers == NULL)
        {
          bearers = &listing->bearers[n_names++];
          g_hash_table_insert (listing->names, (char *) row->name, bearers);
        }
      bearers->n_all++;
      bearers->n_alive += row->state != QUOIT_NODE_DEAD;
    }
}

/* The name itself, where nobody else has it or this node is the one alive that has. Else with the start of the id, or
 * all of it where another node is called so. */
static const char *
unique_name (const Listing *listing, const QuoitRayRow *row, GHashTable *taken, QuoitClaims *claims)
{
  Bearers *bearers = g_hash_table_lookup (listing->names, row->name);
  gboolean is_alive = row->state != QUOIT_NODE_DEAD;
  char *name;

  if (bearers->n_all == 1 || (is_alive && bearers->n_alive == 1))
    return row->name;
  if (is_alive && !bearers->is_reported)
    {
      g_autofree char *quoted = quoit_quote (row->name);

      quoit_claims_warn (claims, "%u alive nodes have the name %s: each is called by name and the start of its id",
                         bearers->n_alive, quoted);
      bearers->is_reported = TRUE;
    }
  name = g_strdup_printf ("%s~%.8s", row->name, row->id);
  if (g_hash_table_contains (listing->names, name) || g_hash_table_contains (taken, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s~%s", row->name, row->id);
    }
  g_hash_table_add (taken, name);
  return name;
}

static gboolean
add_rows (const Listing *listing, QuoitClaims *claims, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint32 i = 0; i < listing->n_rows; i++)
    {
      const QuoitRayRow *row = &listing->rows[i];
      QuoitNodeClaim claim = { .name = unique_name (listing, row, taken, claims),
                               .identity = row->id,
                               .address = row->address,
                               .state = row->state,
                               .flags = row->flags };

      if (!quoit_ray_row_describe (listing->tree, row, claims, &claim, error))
        return FALSE;
      quoit_claims_add (claims, &claim);
    }
  return TRUE;
}

QuoitClaims *
quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (GHashTable) names = NULL;
  g_autofree QuoitRayRow *rows = NULL;
  g_autofree Bearers *bearers = NULL;
  Listing listing = { 0 };
  JsonArray *array;

  tree = looks_like_json (text, length) ? quoit_tree_parse_json (text, length, error)
                                        : quoit_tree_parse_yaml (text, length, error);
  array = tree == NULL ? NULL : find_rows (tree, error);
  if (array == NULL)
    return NULL;

  listing.tree = tree;
  listing.n_rows = json_array_get_length (array);
  listing.rows = rows = g_new0 (QuoitRayRow, MAX (listing.n_rows, 1));
  listing.names = names = g_hash_table_new (g_str_hash, g_str_equal);
  if (!read_rows (&listing, array, error))
    return NULL;

  count_names (&listing);
  bearers = listing.bearers;
  claims = quoit_claims_new (source != NULL ? source : "ray", QUOIT_SOURCE_KIND_RAY_NODES);
  if (!add_rows (&listing, claims, error))
    return NULL;
  if (listing.n_rows == LISTING_LIMIT && rows[0].form == QUOIT_RAY_ROW_LISTED)
    quoit_claims_warn (claims,
                       "exactly 100 rows: ray list nodes stops there unless --limit says more, nodes may be missing");
  return g_steal_pointer (&claims);
}
