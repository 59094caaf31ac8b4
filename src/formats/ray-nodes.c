/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "base/name-hash.h"
#include "formats/added-nodes.h"
#include "formats/ray-legacy.h"
#include "formats/ray-rows.h"
#include "formats/ray-text-rows.h"

/* The nodes that have the same name. */
typedef struct {
  guint32 n_alive, n_all;
  gboolean is_reported;
} NameCount;

/* A row that quoit_ray_row_describe() reads after all others, with its own copies of the arrays. */
typedef struct {
  QuoitRayRow row;
  guint index; /* in the list */
} Postponed;

/* The state while the list is read. The rows become claims only when the names of all nodes are known, so that
 * duplicate names can be distinguished. By then the tree is gone, so the texts of the rows are copied to the
 * listing. */
typedef struct {
  QuoitRayRowContext context;
  QuoitRayListing listing;
  QuoitShape stated;
  QuoitRayTextRows *text_rows;
  GArray *rows;                /* of QuoitNodeClaim */
  GArray *unlabelled;          /* of Postponed: rows for which quoit_ray_row_lacks_labels() is TRUE */
  GArray *without_chips;       /* of Postponed: rows for which quoit_ray_row_lacks_chips() is TRUE */
  GHashTable *other_resources; /* resources of amount 1 on nodes without chips */
  GHashTable *names;           /* name -> NameCount */
  guint32 n_listed;
  gboolean has_equal_names;
  gboolean is_update; /* QUOIT_RAY_UPDATE */
} NodeReader;

static void
clear_postponed (gpointer data)
{
  Postponed *postponed = data;

  g_free ((gpointer) postponed->row.labels);
  g_free ((gpointer) postponed->row.resources);
  g_clear_pointer (&postponed->row.node, json_node_unref);
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
  g_clear_pointer (&reader->text_rows, quoit_ray_text_rows_free);
  g_clear_pointer (&reader->rows, g_array_unref);
  g_clear_pointer (&reader->unlabelled, g_array_unref);
  g_clear_pointer (&reader->without_chips, g_array_unref);
  g_clear_pointer (&reader->other_resources, g_hash_table_unref);
  g_clear_pointer (&reader->names, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NodeReader, clear_node_reader)

static const char *
copy_text (NodeReader *reader, const QuoitRayRow *row, const char *text)
{
  return text == NULL || row->keeps_texts ? text : g_string_chunk_insert (reader->listing.texts, text);
}

static void
count_name (NodeReader *reader, const char *name, gboolean is_alive)
{
  NameCount *name_count = g_hash_table_lookup (reader->names, name);

  reader->has_equal_names |= name_count != NULL;

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
static void
add_totals (NodeReader *reader, const QuoitRayRow *row)
{
  QuoitRayListing *listing = &reader->listing;
  QuoitRayListedNode node = { .is_listed = row->form == QUOIT_RAY_ROW_LISTED };

  if (listing->totals == NULL)
    return;
  node.first = listing->totals->len;
  for (guint16 i = 0; i < row->n_resources && row->state != QUOIT_NODE_DEAD; i++)
    if (!quoit_ray_resource_is_not_quantity (row->resources[i].name))
      {
        QuoitResource total = row->resources[i];

        total.name = quoit_claims_intern_text (listing->claims, total.name);
        g_array_append_val (listing->totals, total);
      }
  node.n_totals = (guint16) (listing->totals->len - node.first);
  g_array_append_val (listing->nodes, node);
}

static void
postpone (GArray *rows, const QuoitRayRow *row, guint index)
{
  Postponed postponed = { *row, index };

  postponed.row.labels = g_memdup2 (row->labels, row->n_labels * sizeof *row->labels);
  postponed.row.resources = g_memdup2 (row->resources, row->n_resources * sizeof *row->resources);
  if (row->node != NULL)
    json_node_ref (row->node);
  g_array_append_val (rows, postponed);
}

/* Collects the resources of a node without chips that look like the name of a slice. They are not names of slices. */
static void
add_other_resources (NodeReader *reader, const QuoitRayRow *row)
{
  for (guint16 i = 0; i < row->n_resources; i++)
    if (row->resources[i].amount.e4 == QUOIT_AMOUNT_UNIT && quoit_ray_may_name_slice (row->resources[i].name)
        && !g_hash_table_contains (reader->other_resources, row->resources[i].name))
      g_hash_table_add (reader->other_resources, (char *) copy_text (reader, row, row->resources[i].name));
}

static gboolean fail_row (const QuoitRayRow *row, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail_row (const QuoitRayRow *row, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  quoit_fail (error, QUOIT_ERROR_INVALID, "%s", text);
  return quoit_ray_row_prefix_place (row, QUOIT_RAY_PART_ROW, NULL, error);
}

static gboolean
describe_row (NodeReader *reader, const QuoitRayRow *row, QuoitNodeClaim *claim, GError **error)
{
  guint index = reader->rows->len;

  if (quoit_ray_row_lacks_labels (row) && reader->is_update)
    return fail_row (row, error,
                     "chips, but none of Ray's TPU labels: expected the labels in an update; a sync of all nodes finds "
                     "slices without labels");
  if (quoit_ray_row_lacks_labels (row))
    postpone (reader->unlabelled, row, index);
  else if (quoit_ray_row_lacks_chips (row))
    postpone (reader->without_chips, row, index);
  else
    {
      if (quoit_ray_row_resource (row, "TPU") == NULL)
        add_other_resources (reader, row);
      return quoit_ray_row_describe (row, NULL, &reader->context, claim, error);
    }
  return TRUE;
}

static gboolean
add_row (NodeReader *reader, const QuoitRayRow *row, GError **error)
{
  QuoitNodeClaim claim = { .state = row->state, .flags = row->flags };
  const char *id;

  if (reader->rows->len == QUOIT_MAX_NODES)
    return fail_row (row, error, "one row too many: expected at most %u", (unsigned) QUOIT_MAX_NODES);

  id = copy_text (reader, row, row->id);
  if (!g_hash_table_insert (reader->listing.ids, (char *) id, GUINT_TO_POINTER (reader->rows->len + 1)))
    {
      g_autofree char *quoted = quoit_quote (row->id);

      return fail_row (row, error, "node id %s: expected each id once", quoted);
    }
  if (!describe_row (reader, row, &claim, error))
    return FALSE;
  add_totals (reader, row);

  claim.name = row->name == row->id ? id : copy_text (reader, row, row->name);
  claim.address = row->address == row->name ? claim.name : copy_text (reader, row, row->address);
  claim.identity = row->lacks_id ? NULL : id;
  count_name (reader, claim.name, row->state != QUOIT_NODE_DEAD);
  reader->n_listed += row->form == QUOIT_RAY_ROW_LISTED;
  g_array_append_val (reader->rows, claim);
  return TRUE;
}

static gboolean
add_listed_row (QuoitTree *tree, JsonNode *node, gpointer data, GError **error)
{
  QuoitRayRowArrays arrays;
  QuoitRayRow row;

  return quoit_ray_row_read (tree, node, &arrays, &row, error) && add_row (data, &row, error);
}

static void
begin_listed_text (const char *text, gsize length, gpointer data)
{
  NodeReader *reader = data;

  reader->text_rows = quoit_ray_text_rows_new (text, length, reader->listing.texts);
}

static gboolean
add_listed_text (QuoitTree *tree, const char **at, unsigned index, gboolean *is_added, gpointer data, GError **error)
{
  NodeReader *reader = data;
  QuoitRayRow row;

  *is_added = quoit_ray_text_rows_next (reader->text_rows, at, &row);
  if (!*is_added)
    return TRUE;
  row.tree = tree;
  row.element = (int) index;
  return add_row (reader, &row, error);
}

static gboolean
describe_postponed (NodeReader *reader, const GArray *rows, const QuoitRayPlace *places, GError **error)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Postponed *postponed = &g_array_index (rows, Postponed, i);
      QuoitNodeClaim *claim = &g_array_index (reader->rows, QuoitNodeClaim, postponed->index);

      if (!quoit_ray_row_describe (&postponed->row, places == NULL ? NULL : &places[i], &reader->context, claim, error))
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
      g_autofree char *name = quoit_quote (first->row.name);

      quoit_claims_warn (reader->listing.claims,
                         "nodes with chips that neither labels nor resources put into a slice: %u, such as %s",
                         places->n_unplaced, name);
    }
  if (reader->stated.n_dims > 0 && places->n_stated == 0)
    quoit_claims_warn (reader->listing.claims, "the stated topology is not used: no slice needed it");
}

static gboolean
describe_unlabelled (NodeReader *reader, GError **error)
{
  g_autofree QuoitRayRow *rows = g_new (QuoitRayRow, reader->unlabelled->len);
  QuoitRayUnlabelled unlabelled = { .rows = rows,
                                    .n_rows = reader->unlabelled->len,
                                    .other_resources = reader->other_resources,
                                    .devices_per_chip = reader->context.devices_per_chip,
                                    .stated = reader->stated };
  g_auto (QuoitRayPlaces) places = { 0 };

  for (guint i = 0; i < unlabelled.n_rows; i++)
    rows[i] = g_array_index (reader->unlabelled, Postponed, i).row;
  if (!quoit_ray_places_find (&unlabelled, &places, error))
    return quoit_ray_row_prefix_place (&rows[places.failed_row], QUOIT_RAY_PART_ROW, NULL, error);
  warn_about_places (reader, &places);
  return describe_postponed (reader, reader->unlabelled, places.places, error);
}

static gboolean
finish (NodeReader *reader, GError **error)
{
  return describe_unlabelled (reader, error) && describe_postponed (reader, reader->without_chips, NULL, error);
}

static gboolean
finish_list (QuoitTree *tree, gpointer data, GError **error)
{
  (void) tree;
  return finish (data, error);
}

/* Returns a name that no other node gets. It is the name of the row if no other node has that name, or if all
 * others with that name are dead. Otherwise the start of the id is appended, or the whole id if that name is taken
 * too. */
static const char *
choose_unique_name (const NodeReader *reader, const QuoitNodeClaim *row, GHashTable *taken)
{
  NameCount *name_count = !reader->has_equal_names ? NULL : g_hash_table_lookup (reader->names, row->name);
  gboolean is_alive = row->state != QUOIT_NODE_DEAD;
  char *name;

  if (name_count == NULL)
    return row->name;
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
  name = g_strdup_printf ("%s~%.8s", row->name, quoit_node_claim_identity (row));
  if (g_hash_table_contains (reader->names, name) || g_hash_table_contains (taken, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s~%s", row->name, quoit_node_claim_identity (row));
    }
  g_hash_table_add (taken, name);
  return name;
}

static void
make_claims (const NodeReader *reader)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);

  for (guint i = 0; i < reader->rows->len; i++)
    {
      QuoitNodeClaim *row = &g_array_index (reader->rows, QuoitNodeClaim, i);

      const char *name = choose_unique_name (reader, row, taken);

      /* Without an id, the name that was given is the identity. */
      if (name != row->name && row->identity == NULL)
        row->identity = row->name;
      row->name = name;
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
  listing->ids = g_hash_table_new (quoit_hash_text, g_str_equal);
  if (files->groups != NULL || files->available != NULL)
    listing->totals = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  listing->nodes = g_array_new (FALSE, FALSE, sizeof (QuoitRayListedNode));

  reader->context.claims = listing->claims;
  reader->context.slices = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, g_free);
  reader->context.warned = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  reader->context.devices_per_chip = MAX (files->tpu_per_chip, 1);
  reader->rows = g_array_new (FALSE, FALSE, sizeof (QuoitNodeClaim));
  reader->unlabelled = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (reader->unlabelled, clear_postponed);
  reader->without_chips = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (reader->without_chips, clear_postponed);
  reader->other_resources = g_hash_table_new (quoit_hash_text, g_str_equal);
  reader->names = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, g_free);
  return files->topology == NULL || quoit_shape_parse (files->topology, &reader->stated, error);
}

static gboolean
read_list (NodeReader *reader, const QuoitRayFiles *files, GError **error)
{
  static const QuoitRayRows rows = { .what = "nodes",
                                     .expected = "the output of ray list nodes with --format json or --format yaml",
                                     .command = "ray list nodes --detail --format json --limit 10000",
                                     .begin_text = begin_listed_text,
                                     .add_text = add_listed_text,
                                     .add_row = add_listed_row,
                                     .finish = finish_list };

  return quoit_ray_rows_read (&rows, files->nodes, files->n_nodes, reader, error)
         && ((files->flags & QUOIT_RAY_COMPLETE) != 0 || quoit_ray_rows_check_limit (&rows, reader->n_listed, error));
}

static gboolean
read_added_nodes (NodeReader *reader, const QuoitAddedNodes *added, guint flags, GError **error)
{
  guint n = quoit_added_nodes_count (added);

  reader->is_update = (flags & QUOIT_RAY_UPDATE) != 0;
  for (guint i = 0; i < n; i++)
    {
      QuoitRayRowArrays arrays;
      QuoitRayRow row = quoit_added_nodes_row (added, i, &arrays);

      if (!add_row (reader, &row, error))
        return FALSE;
    }
  return finish (reader, error);
}

gboolean
quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error)
{
  g_auto (NodeReader) reader = { 0 };

  if (!init_node_reader (&reader, files, error)
      || !(files->added != NULL ? read_added_nodes (&reader, files->added, files->flags, error)
                                : read_list (&reader, files, error)))
    return FALSE;

  make_claims (&reader);
  *listing = reader.listing;
  reader.listing = (QuoitRayListing) { 0 };
  return TRUE;
}
