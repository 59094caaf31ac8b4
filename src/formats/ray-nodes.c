/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "formats/json.h"
#include "formats/yaml.h"

/* `ray list nodes` shows no more unless it is told to. */
enum { LISTING_LIMIT = 100 };

/* How many rows have a name. */
typedef struct {
  guint32 n_alive, n_all;
  gboolean is_reported;
} Bearers;

/* A row that is described when all others are. */
typedef struct {
  JsonNode *node;
  guint row;
} Postponed;

/* The rows are kept until all names are known; their texts, in a chunk, outlive the tree that they came from. */
typedef struct {
  QuoitRayContext context;
  GArray *rows;      /* of QuoitNodeClaim */
  GArray *postponed; /* of Postponed */
  GStringChunk *texts;
  GHashTable *ids;
  GHashTable *names; /* name -> Bearers */
  guint32 n_listed;
} Listing;

static void
clear_postponed (gpointer data)
{
  json_node_unref (((Postponed *) data)->node);
}

static void
clear_listing (Listing *listing)
{
  g_clear_pointer (&listing->context.claims, quoit_claims_free);
  g_clear_pointer (&listing->context.slices, g_hash_table_unref);
  g_clear_pointer (&listing->context.warned, g_hash_table_unref);
  g_clear_pointer (&listing->rows, g_array_unref);
  g_clear_pointer (&listing->postponed, g_array_unref);
  g_clear_pointer (&listing->texts, g_string_chunk_free);
  g_clear_pointer (&listing->ids, g_hash_table_unref);
  g_clear_pointer (&listing->names, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listing, clear_listing)

static const char *
keep (Listing *listing, const char *text)
{
  return text == NULL ? NULL : g_string_chunk_insert (listing->texts, text);
}

static void
count_name (Listing *listing, const char *name, gboolean is_alive)
{
  Bearers *bearers = g_hash_table_lookup (listing->names, name);

  if (bearers == NULL)
    {
      bearers = g_new0 (Bearers, 1);
      g_hash_table_insert (listing->names, (char *) name, bearers);
    }
  bearers->n_all++;
  bearers->n_alive += is_alive;
}

static gboolean
add_row (Listing *listing, const QuoitTree *tree, JsonNode *node, GError **error)
{
  QuoitNodeClaim claim = { 0 };
  QuoitRayRow row;

  if (!quoit_ray_row_read (tree, node, &row, error))
    return FALSE;
  if (listing->rows->len == QUOIT_MOST_NODES)
    return quoit_tree_fail (tree, node, error, "a row more: expected at most %u", (unsigned) QUOIT_MOST_NODES);

  claim.identity = keep (listing, row.id);
  if (!g_hash_table_add (listing->ids, (char *) claim.identity))
    {
      g_autofree char *quoted = quoit_quote (row.id);

      return quoit_tree_fail (tree, node, error, "node id %s: expected each id once", quoted);
    }
  if (quoit_ray_row_lacks_chips (&row))
    {
      Postponed postponed = { json_node_ref (node), listing->rows->len };

      g_array_append_val (listing->postponed, postponed);
    }
  else if (!quoit_ray_row_describe (tree, &row, &listing->context, &claim, error))
    return FALSE;

  claim.name = keep (listing, row.name);
  claim.address = row.address == row.name ? claim.name : keep (listing, row.address);
  claim.state = row.state;
  claim.flags = row.flags;
  count_name (listing, claim.name, row.state != QUOIT_NODE_DEAD);
  listing->n_listed += row.form == QUOIT_RAY_ROW_LISTED;
  g_array_append_val (listing->rows, claim);
  return TRUE;
}

static gboolean
describe_postponed (Listing *listing, QuoitTree *tree, GError **error)
{
  for (guint i = 0; i < listing->postponed->len; i++)
    {
      const Postponed *postponed = &g_array_index (listing->postponed, Postponed, i);
      QuoitNodeClaim *claim = &g_array_index (listing->rows, QuoitNodeClaim, postponed->row);
      QuoitRayRow row;

      if (quoit_tree_element (tree) >= 0)
        quoit_tree_take_element (tree, json_node_ref (postponed->node), postponed->row);
      if (!quoit_ray_row_read (tree, postponed->node, &row, error)
          || !quoit_ray_row_describe (tree, &row, &listing->context, claim, error))
        return FALSE;
    }
  return TRUE;
}

/* A long list is never one tree: each row is read while it is still in the processor's cache, and the memory is that of
 * one row. */
static gboolean
add_json_rows (Listing *listing, const char *text, GError **error)
{
  g_autoptr (QuoitTree) tree = quoit_tree_new ();
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  const char *row;
  gsize length;

  for (unsigned i = 0; (row = quoit_json_next_element (&text, &length)) != NULL; i++)
    {
      g_autoptr (GError) inner = NULL;

      if (!json_parser_load_from_data (parser, row, (gssize) length, &inner))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "$[%u]: %s", i, inner->message);
      quoit_tree_take_element (tree, json_parser_steal_root (parser), i);
      if (!add_row (listing, tree, quoit_tree_document (tree, 0), error))
        return FALSE;
    }
  return describe_postponed (listing, tree, error);
}

static gboolean
add_tree_rows (Listing *listing, QuoitTree *tree, GError **error)
{
  JsonNode *root = NULL;
  JsonArray *array;

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      JsonNode *node = quoit_tree_document (tree, i);

      if (JSON_NODE_HOLDS_NULL (node))
        continue;
      if (root != NULL)
        return quoit_tree_fail (tree, node, error, "a second document: expected one list of nodes");
      root = node;
    }
  if (root == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "nothing in it: expected a list of nodes");
  if (!quoit_tree_array (tree, root, &array, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (!add_row (listing, tree, json_array_get_element (array, i), error))
      return FALSE;
  return describe_postponed (listing, tree, error);
}

static const char wanted[] = "the output of ray list nodes with --format json or --format yaml";

/* What Ray prints where it was not told to print either form, and files with nothing in them: to the YAML reader all of
 * these are strange scalars. */
static gboolean
check_form (const char *text, gsize length, GError **error)
{
  static const char none[] = "No resource in the cluster";
  const char *end = text + length, *line = text;
  unsigned n = 1;

  for (; line < end; n++)
    {
      const char *stop = memchr (line, '\n', (gsize) (end - line)), *p = line;
      gsize left;

      stop = stop == NULL ? end : stop;
      while (p < stop && g_ascii_isspace (*p))
        p++;
      left = (gsize) (stop - p);
      if (left >= 3 && memcmp (p, "===", 3) == 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u: a table: expected %s", n, wanted);
      if (left >= strlen (none) && memcmp (p, none, strlen (none)) == 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "line %u: '%s', which ray says when it lists nothing: expected %s", n, none, wanted);
      if (left >= 2 && (memcmp (p, "//", 2) == 0 || memcmp (p, "/*", 2) == 0))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u: a comment: expected %s", n, wanted);
      if (left > 0 && *p != '#')
        return TRUE;
      line = stop + 1;
    }
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s",
                     length == 0 ? "nothing in it" : "nothing but blanks and comments in it", wanted);
}

static gboolean
read_rows (Listing *listing, const char *text, gsize length, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  if (start < length && text[start] == '[')
    return quoit_json_check (text, length, error) && add_json_rows (listing, text + start, error);
  if (!check_form (text, length, error))
    return FALSE;

  tree = start < length && text[start] == '{' ? quoit_tree_parse_json (text, length, error)
                                              : quoit_tree_parse_yaml (text, length, error);
  return tree != NULL && add_tree_rows (listing, tree, error);
}

/* The name itself, where nobody else has it or this node is the one alive that has. Else with the start of the id, or
 * all of it where another node is called so. */
static const char *
unique_name (const Listing *listing, const QuoitNodeClaim *row, GHashTable *taken)
{
  Bearers *bearers = g_hash_table_lookup (listing->names, row->name);
  gboolean is_alive = row->state != QUOIT_NODE_DEAD;
  char *name;

  if (bearers->n_all == 1 || (is_alive && bearers->n_alive == 1))
    return row->name;
  if (is_alive && !bearers->is_reported)
    {
      g_autofree char *quoted = quoit_quote (row->name);

      quoit_claims_warn (listing->context.claims,
                         "%u alive nodes have the name %s: each is called by name and the start of its id",
                         bearers->n_alive, quoted);
      bearers->is_reported = TRUE;
    }
  name = g_strdup_printf ("%s~%.8s", row->name, row->identity);
  if (g_hash_table_contains (listing->names, name) || g_hash_table_contains (taken, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s~%s", row->name, row->identity);
    }
  g_hash_table_add (taken, name);
  return name;
}

static void
make_claims (const Listing *listing)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < listing->rows->len; i++)
    {
      QuoitNodeClaim *row = &g_array_index (listing->rows, QuoitNodeClaim, i);

      row->name = unique_name (listing, row, taken);
      quoit_claims_add (listing->context.claims, row);
    }
  if (listing->context.n_left_out > 0)
    quoit_claims_warn (listing->context.claims, "%u more such rows", listing->context.n_left_out);
  if (listing->rows->len == LISTING_LIMIT && listing->n_listed == LISTING_LIMIT)
    quoit_claims_warn (listing->context.claims,
                       "exactly 100 rows: ray list nodes stops there unless --limit says more, nodes may be missing");
  if (listing->rows->len > 0)
    quoit_claims_warn (listing->context.claims,
                       "the list says what the nodes have, not what is in use: what Ray has reserved is not known");
}

QuoitClaims *
quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error)
{
  g_auto (Listing) listing = { 0 };

  listing.context.claims = quoit_claims_new (source != NULL ? source : "ray", QUOIT_SOURCE_KIND_RAY_NODES);
  listing.context.slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  listing.context.warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  listing.postponed = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (listing.postponed, clear_postponed);
  listing.rows = g_array_new (FALSE, FALSE, sizeof (QuoitNodeClaim));
  listing.texts = g_string_chunk_new (65536);
  listing.ids = g_hash_table_new (g_str_hash, g_str_equal);
  listing.names = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  if (!read_rows (&listing, text, length, error))
    return NULL;

  make_claims (&listing);
  return g_steal_pointer (&listing.context.claims);
}
