/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "formats/ray-legacy.h"
#include "formats/ray-rows.h"
#include "formats/ray-values.h"

/* The nodes that have the same name. */
typedef struct {
  guint32 n_alive, n_all;
  gboolean is_reported;
} NameCount;

/* A row that quoit_ray_row_describe() reads after all others. */
typedef struct {
  JsonNode *node;
  guint row; /* its index in the list */
} Postponed;

/* The state while the list is read. The rows become claims only when the names of all nodes are known, so that
 * duplicate names can be distinguished. By then the tree is gone, so the texts of the rows are copied to the
 * listing. */
typedef struct {
  QuoitRayRowContext context;
  QuoitRayListing listing;
  QuoitShape stated;
  GArray *rows;                /* of QuoitNodeClaim */
  GArray *unlabelled;          /* of Postponed: rows for which quoit_ray_row_lacks_labels() is TRUE */
  GArray *without_chips;       /* of Postponed: rows for which quoit_ray_row_lacks_chips() is TRUE */
  GHashTable *other_resources; /* resources of amount 1 on nodes without chips */
  GHashTable *names;           /* name -> NameCount */
  guint32 n_listed;
} NodeReader;

static void
clear_postponed (gpointer data)
{
  json_node_unref (((Postponed *) data)->node);
}

void
quoit_ray_listing_clear (QuoitRayListing *listing)
{
  g_clear_pointer (&listing->claims, quoit_claims_free);
  g_clear_pointer (&listing->texts, g_string_chunk_free);
  g_clear_pointer (&listing->ids, g_hash_table_unref);
  g_clear_pointer (&listing->totals, g_array_unref);
  g_clear_pointer (&listing->nodes, g_array_unref);
}

static void
clear_node_reader (NodeReader *reader)
{
  quoit_ray_listing_clear (&reader->listing);
  g_clear_pointer (&reader->context.slices, g_hash_table_unref);
  g_clear_pointer (&reader->context.warned, g_hash_table_unref);
  g_clear_pointer (&reader->rows, g_array_unref);
  g_clear_pointer (&reader->unlabelled, g_array_unref);
  g_clear_pointer (&reader->without_chips, g_array_unref);
  g_clear_pointer (&reader->other_resources, g_hash_table_unref);
  g_clear_pointer (&reader->names, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NodeReader, clear_node_reader)

static const char *
copy_text (NodeReader *reader, const char *text)
{
  return text == NULL ? NULL : g_string_chunk_insert (reader->listing.texts, text);
}

static void
count_name (NodeReader *reader, const char *name, gboolean is_alive)
{
  NameCount *name_count = g_hash_table_lookup (reader->names, name);

  if (name_count == NULL)
    {
      name_count = g_new0 (NameCount, 1);
      g_hash_table_insert (reader->names, (char *) name, name_count);
    }
  name_count->n_all++;
  name_count->n_alive += is_alive;
}

/* Adds the total resources of the row, except resources that are not quantities of the node: node:<address>, and
 * those that Ray adds for placement groups. */
static gboolean
add_totals (NodeReader *reader, const QuoitTree *tree, const QuoitRayRow *row, GError **error)
{
  QuoitRayListing *listing = &reader->listing;
  QuoitRayListedNode node = { .is_listed = row->form == QUOIT_RAY_ROW_LISTED };
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES];
  guint16 n_resources;

  if (listing->totals == NULL)
    return TRUE;
  node.first = listing->totals->len;
  if (!quoit_ray_resources (tree, row->state == QUOIT_NODE_DEAD ? NULL : row->resources, resources, &n_resources,
                            error))
    return FALSE;
  for (guint16 i = 0; i < n_resources; i++)
    if (!quoit_ray_resource_is_not_quantity (resources[i].name))
      {
        resources[i].name = quoit_claims_intern_text (listing->claims, resources[i].name);
        g_array_append_val (listing->totals, resources[i]);
      }
  node.n_totals = (guint16) (listing->totals->len - node.first);
  g_array_append_val (listing->nodes, node);
  return TRUE;
}

static void
postpone (GArray *rows, JsonNode *node, guint row)
{
  Postponed postponed = { json_node_ref (node), row };

  g_array_append_val (rows, postponed);
}

/* Collects the resources of a node without chips that look like the name of a slice. They are not names of slices. */
static gboolean
add_other_resources (NodeReader *reader, const QuoitTree *tree, const QuoitRayRow *row, GError **error)
{
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES];
  guint16 n_resources;

  if (!quoit_ray_resources (tree, row->resources, resources, &n_resources, error))
    return FALSE;
  for (guint16 i = 0; i < n_resources; i++)
    if (resources[i].amount.e4 == QUOIT_AMOUNT_UNIT && quoit_ray_may_name_slice (resources[i].name)
        && !g_hash_table_contains (reader->other_resources, resources[i].name))
      g_hash_table_add (reader->other_resources, (char *) copy_text (reader, resources[i].name));
  return TRUE;
}

static gboolean
describe_row (NodeReader *reader, const QuoitTree *tree, const QuoitRayRow *row, QuoitNodeClaim *claim, GError **error)
{
  guint index = reader->rows->len;

  if (quoit_ray_row_lacks_labels (row))
    postpone (reader->unlabelled, row->node, index);
  else if (quoit_ray_row_lacks_chips (row))
    postpone (reader->without_chips, row->node, index);
  else
    return (quoit_tree_member (row->resources, "TPU") != NULL || add_other_resources (reader, tree, row, error))
           && quoit_ray_row_describe (tree, row, NULL, &reader->context, claim, error);
  return TRUE;
}

static gboolean
add_row (const QuoitTree *tree, JsonNode *node, gpointer data, GError **error)
{
  NodeReader *reader = data;
  QuoitNodeClaim claim = { 0 };
  QuoitRayRow row;

  if (!quoit_ray_row_read (tree, node, &row, error))
    return FALSE;
  if (reader->rows->len == QUOIT_MAX_NODES)
    return quoit_tree_fail (tree, node, error, "one row too many: expected at most %u", (unsigned) QUOIT_MAX_NODES);

  claim.identity = copy_text (reader, row.id);
  claim.flags = row.flags;
  if (!g_hash_table_insert (reader->listing.ids, (char *) claim.identity, GUINT_TO_POINTER (reader->rows->len + 1)))
    {
      g_autofree char *quoted = quoit_quote (row.id);

      return quoit_tree_fail (tree, node, error, "node id %s: expected each id once", quoted);
    }
  if (!describe_row (reader, tree, &row, &claim, error) || !add_totals (reader, tree, &row, error))
    return FALSE;

  claim.name = copy_text (reader, row.name);
  claim.address = row.address == row.name ? claim.name : copy_text (reader, row.address);
  claim.state = row.state;
  count_name (reader, claim.name, row.state != QUOIT_NODE_DEAD);
  reader->n_listed += row.form == QUOIT_RAY_ROW_LISTED;
  g_array_append_val (reader->rows, claim);
  return TRUE;
}

/* Reads a postponed row again. If the tree has one element at a time, the row becomes its contents again, so that
 * messages have the right place. */
static gboolean
read_again (const Postponed *postponed, QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  if (quoit_tree_element (tree) >= 0)
    quoit_tree_take_element (tree, json_node_ref (postponed->node), postponed->row);
  return quoit_ray_row_read (tree, postponed->node, row, error);
}

static gboolean
describe_postponed (NodeReader *reader, QuoitTree *tree, const GArray *rows, const QuoitRayPlace *places,
                    GError **error)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Postponed *postponed = &g_array_index (rows, Postponed, i);
      QuoitNodeClaim *claim = &g_array_index (reader->rows, QuoitNodeClaim, postponed->row);
      QuoitRayRow row;

      if (!read_again (postponed, tree, &row, error)
          || !quoit_ray_row_describe (tree, &row, places == NULL ? NULL : &places[i], &reader->context, claim, error))
        return FALSE;
    }
  return TRUE;
}

static void
warn_about_places (const NodeReader *reader, const QuoitRayPlaces *places)
{
  if (places->n_unplaced > 0)
    {
      const Postponed *first = &g_array_index (reader->unlabelled, Postponed, places->first_unplaced);
      g_autofree char *name = quoit_quote (g_array_index (reader->rows, QuoitNodeClaim, first->row).name);

      quoit_claims_warn (reader->listing.claims,
                         "nodes with chips that neither labels nor resources put into a slice: %u, such as %s",
                         places->n_unplaced, name);
    }
  if (reader->stated.n_dims > 0 && places->n_stated == 0)
    quoit_claims_warn (reader->listing.claims, "the stated topology is not used: no slice needed it");
}

static gboolean
describe_unlabelled (NodeReader *reader, QuoitTree *tree, GError **error)
{
  g_autofree QuoitRayRow *rows = g_new (QuoitRayRow, reader->unlabelled->len);
  QuoitRayUnlabelled unlabelled = { .rows = rows,
                                    .n_rows = reader->unlabelled->len,
                                    .other_resources = reader->other_resources,
                                    .devices_per_chip = reader->context.devices_per_chip,
                                    .stated = reader->stated };
  g_auto (QuoitRayPlaces) places = { 0 };

  for (guint i = 0; i < unlabelled.n_rows; i++)
    if (!read_again (&g_array_index (reader->unlabelled, Postponed, i), tree, &rows[i], error))
      return FALSE;
  if (!quoit_ray_places_find (&unlabelled, &places, error))
    {
      QuoitRayRow row;

      return read_again (&g_array_index (reader->unlabelled, Postponed, places.failed_row), tree, &row, NULL)
             && quoit_tree_prefix_place (tree, row.node, error);
    }
  warn_about_places (reader, &places);
  return describe_postponed (reader, tree, reader->unlabelled, places.places, error);
}

static gboolean
finish (QuoitTree *tree, gpointer data, GError **error)
{
  NodeReader *reader = data;

  return describe_unlabelled (reader, tree, error)
         && describe_postponed (reader, tree, reader->without_chips, NULL, error);
}

/* Returns a name that no other node gets. It is the name of the row if no other node has that name, or if all
 * others with that name are dead. Otherwise the start of the id is appended, or the whole id if that name is taken
 * too. */
static const char *
choose_unique_name (const NodeReader *reader, const QuoitNodeClaim *row, GHashTable *taken)
{
  NameCount *name_count = g_hash_table_lookup (reader->names, row->name);
  gboolean is_alive = row->state != QUOIT_NODE_DEAD;
  char *name;

  if (name_count->n_all == 1 || (is_alive && name_count->n_alive == 1))
    return row->name;
  if (is_alive && !name_count->is_reported)
    {
      g_autofree char *quoted = quoit_quote (row->name);

      quoit_claims_warn (reader->listing.claims,
                         "%u alive nodes have the name %s: each gets that name and the start of its id",
                         name_count->n_alive, quoted);
      name_count->is_reported = TRUE;
    }
  name = g_strdup_printf ("%s~%.8s", row->name, row->identity);
  if (g_hash_table_contains (reader->names, name) || g_hash_table_contains (taken, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s~%s", row->name, row->identity);
    }
  g_hash_table_add (taken, name);
  return name;
}

static void
make_claims (const NodeReader *reader)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < reader->rows->len; i++)
    {
      QuoitNodeClaim *row = &g_array_index (reader->rows, QuoitNodeClaim, i);

      row->name = choose_unique_name (reader, row, taken);
      quoit_claims_add (reader->listing.claims, row);
    }
  if (reader->context.n_omitted_warnings > 0)
    quoit_claims_warn (reader->listing.claims, "%u more warnings about rows", reader->context.n_omitted_warnings);
}

static gboolean
init_node_reader (NodeReader *reader, const QuoitRayFiles *files, GError **error)
{
  QuoitRayListing *listing = &reader->listing;

  listing->claims = quoit_claims_new (files->source != NULL ? files->source : "ray", QUOIT_SOURCE_KIND_RAY_NODES);
  listing->texts = g_string_chunk_new (65536);
  listing->ids = g_hash_table_new (g_str_hash, g_str_equal);
  if (files->groups != NULL || files->available != NULL)
    listing->totals = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  listing->nodes = g_array_new (FALSE, FALSE, sizeof (QuoitRayListedNode));

  reader->context.claims = listing->claims;
  reader->context.slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  reader->context.warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  reader->context.devices_per_chip = MAX (files->tpu_per_chip, 1);
  reader->rows = g_array_new (FALSE, FALSE, sizeof (QuoitNodeClaim));
  reader->unlabelled = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (reader->unlabelled, clear_postponed);
  reader->without_chips = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (reader->without_chips, clear_postponed);
  reader->other_resources = g_hash_table_new (g_str_hash, g_str_equal);
  reader->names = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  return files->topology == NULL || quoit_shape_parse (files->topology, &reader->stated, error);
}

gboolean
quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error)
{
  static const QuoitRayRows rows = { .what = "nodes",
                                     .expected = "the output of ray list nodes with --format json or --format yaml",
                                     .add_row = add_row,
                                     .finish = finish };
  g_auto (NodeReader) reader = { 0 };

  if (!init_node_reader (&reader, files, error)
      || !quoit_ray_rows_read (&rows, files->nodes, files->n_nodes, &reader, error))
    return FALSE;
  if ((files->flags & QUOIT_RAY_COMPLETE) == 0 && !quoit_ray_rows_check_limit (&rows, reader.n_listed, error))
    return FALSE;

  make_claims (&reader);
  *listing = reader.listing;
  reader.listing = (QuoitRayListing) { 0 };
  return TRUE;
}
