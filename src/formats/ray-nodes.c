/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-nodes.h"

#include <string.h>

#include "formats/ray-legacy.h"
#include "formats/ray-rows.h"
#include "formats/ray-values.h"

typedef struct {
  guint32 n_alive, n_all;
  gboolean is_reported;
} Bearers;

typedef struct {
  JsonNode *node;
  guint row;
} Postponed;

/* The rows are kept until all names are known. Their texts are copied to a chunk, because they outlive the tree. */
typedef struct {
  QuoitRayContext context;
  QuoitRayCluster cluster;
  QuoitShape stated;
  GArray *rows;          /* of QuoitNodeClaim */
  GArray *unlabelled;    /* of Postponed: rows without labels */
  GArray *without_chips; /* of Postponed: rows without chips */
  GHashTable *elsewhere; /* resources of amount 1 on nodes without chips */
  GHashTable *names;     /* name -> Bearers */
  guint32 n_listed;
} Listing;

static void
clear_postponed (gpointer data)
{
  json_node_unref (((Postponed *) data)->node);
}

void
quoit_ray_cluster_clear (QuoitRayCluster *cluster)
{
  g_clear_pointer (&cluster->claims, quoit_claims_free);
  g_clear_pointer (&cluster->texts, g_string_chunk_free);
  g_clear_pointer (&cluster->ids, g_hash_table_unref);
  g_clear_pointer (&cluster->totals, g_array_unref);
  g_clear_pointer (&cluster->nodes, g_array_unref);
}

static void
clear_listing (Listing *listing)
{
  quoit_ray_cluster_clear (&listing->cluster);
  g_clear_pointer (&listing->context.slices, g_hash_table_unref);
  g_clear_pointer (&listing->context.warned, g_hash_table_unref);
  g_clear_pointer (&listing->rows, g_array_unref);
  g_clear_pointer (&listing->unlabelled, g_array_unref);
  g_clear_pointer (&listing->without_chips, g_array_unref);
  g_clear_pointer (&listing->elsewhere, g_hash_table_unref);
  g_clear_pointer (&listing->names, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listing, clear_listing)

static const char *
keep (Listing *listing, const char *text)
{
  return text == NULL ? NULL : g_string_chunk_insert (listing->cluster.texts, text);
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

/* Skips resources that are not quantities of the node: node:<address> and resources of groups. */
static gboolean
keep_totals (Listing *listing, const QuoitTree *tree, const QuoitRayRow *row, GError **error)
{
  QuoitRayCluster *cluster = &listing->cluster;
  QuoitRayNode node = { .is_listed = row->form == QUOIT_RAY_ROW_LISTED };
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES];
  guint16 n_resources;

  if (cluster->totals == NULL)
    return TRUE;
  node.first = cluster->totals->len;
  if (!quoit_ray_resources (tree, row->state == QUOIT_NODE_DEAD ? NULL : row->resources, resources, &n_resources,
                            error))
    return FALSE;
  for (guint16 i = 0; i < n_resources; i++)
    if (!quoit_ray_resource_is_no_quantity (resources[i].name))
      {
        resources[i].name = quoit_claims_text (cluster->claims, resources[i].name);
        g_array_append_val (cluster->totals, resources[i]);
      }
  node.n_totals = (guint16) (cluster->totals->len - node.first);
  g_array_append_val (cluster->nodes, node);
  return TRUE;
}

static void
postpone (GArray *rows, JsonNode *node, guint row)
{
  Postponed postponed = { json_node_ref (node), row };

  g_array_append_val (rows, postponed);
}

/* Collects resources that look like the name of a slice but are not, because a node without chips has them too. */
static gboolean
note_elsewhere (Listing *listing, const QuoitTree *tree, const QuoitRayRow *row, GError **error)
{
  QuoitResource resources[QUOIT_RAY_MOST_ENTRIES];
  guint16 n_resources;

  if (!quoit_ray_resources (tree, row->resources, resources, &n_resources, error))
    return FALSE;
  for (guint16 i = 0; i < n_resources; i++)
    if (resources[i].amount.e4 == QUOIT_AMOUNT_UNIT && quoit_ray_may_name_slice (resources[i].name)
        && !g_hash_table_contains (listing->elsewhere, resources[i].name))
      g_hash_table_add (listing->elsewhere, (char *) keep (listing, resources[i].name));
  return TRUE;
}

static gboolean
describe_row (Listing *listing, const QuoitTree *tree, const QuoitRayRow *row, QuoitNodeClaim *claim, GError **error)
{
  guint index = listing->rows->len;

  if (quoit_ray_row_lacks_labels (row))
    postpone (listing->unlabelled, row->node, index);
  else if (quoit_ray_row_lacks_chips (row))
    postpone (listing->without_chips, row->node, index);
  else
    return (quoit_tree_member (row->resources, "TPU") != NULL || note_elsewhere (listing, tree, row, error))
           && quoit_ray_row_describe (tree, row, NULL, &listing->context, claim, error);
  return TRUE;
}

static gboolean
add_row (const QuoitTree *tree, JsonNode *node, gpointer data, GError **error)
{
  Listing *listing = data;
  QuoitNodeClaim claim = { 0 };
  QuoitRayRow row;

  if (!quoit_ray_row_read (tree, node, &row, error))
    return FALSE;
  if (listing->rows->len == QUOIT_MOST_NODES)
    return quoit_tree_fail (tree, node, error, "a row more: expected at most %u", (unsigned) QUOIT_MOST_NODES);

  claim.identity = keep (listing, row.id);
  claim.flags = row.flags;
  if (!g_hash_table_insert (listing->cluster.ids, (char *) claim.identity, GUINT_TO_POINTER (listing->rows->len + 1)))
    {
      g_autofree char *quoted = quoit_quote (row.id);

      return quoit_tree_fail (tree, node, error, "node id %s: expected each id once", quoted);
    }
  if (!describe_row (listing, tree, &row, &claim, error) || !keep_totals (listing, tree, &row, error))
    return FALSE;

  claim.name = keep (listing, row.name);
  claim.address = row.address == row.name ? claim.name : keep (listing, row.address);
  claim.state = row.state;
  count_name (listing, claim.name, row.state != QUOIT_NODE_DEAD);
  listing->n_listed += row.form == QUOIT_RAY_ROW_LISTED;
  g_array_append_val (listing->rows, claim);
  return TRUE;
}

/* Reads a postponed row again. If rows are read one by one, it becomes the contents of @tree. */
static gboolean
return_to (const Postponed *postponed, QuoitTree *tree, QuoitRayRow *row, GError **error)
{
  if (quoit_tree_element (tree) >= 0)
    quoit_tree_take_element (tree, json_node_ref (postponed->node), postponed->row);
  return quoit_ray_row_read (tree, postponed->node, row, error);
}

static gboolean
describe_postponed (Listing *listing, QuoitTree *tree, const GArray *rows, const QuoitRayPlace *places, GError **error)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Postponed *postponed = &g_array_index (rows, Postponed, i);
      QuoitNodeClaim *claim = &g_array_index (listing->rows, QuoitNodeClaim, postponed->row);
      QuoitRayRow row;

      if (!return_to (postponed, tree, &row, error)
          || !quoit_ray_row_describe (tree, &row, places == NULL ? NULL : &places[i], &listing->context, claim, error))
        return FALSE;
    }
  return TRUE;
}

static void
warn_of_places (const Listing *listing, const QuoitRayPlaces *places)
{
  if (places->n_outside > 0)
    {
      const Postponed *first = &g_array_index (listing->unlabelled, Postponed, places->first_outside);
      g_autofree char *name = quoit_quote (g_array_index (listing->rows, QuoitNodeClaim, first->row).name);

      quoit_claims_warn (listing->cluster.claims,
                         "nodes with chips that neither labels nor resources put into a slice: %u, such as %s",
                         places->n_outside, name);
    }
  if (listing->stated.n_dims > 0 && places->n_stated == 0)
    quoit_claims_warn (listing->cluster.claims, "a topology is stated, but no slice needed it");
}

static gboolean
describe_unlabelled (Listing *listing, QuoitTree *tree, GError **error)
{
  g_autofree QuoitRayRow *rows = g_new (QuoitRayRow, listing->unlabelled->len);
  QuoitRayUnlabelled unlabelled = { .rows = rows,
                                    .n_rows = listing->unlabelled->len,
                                    .elsewhere = listing->elsewhere,
                                    .devices_per_chip = listing->context.devices_per_chip,
                                    .stated = listing->stated };
  g_auto (QuoitRayPlaces) places = { 0 };

  for (guint i = 0; i < unlabelled.n_rows; i++)
    if (!return_to (&g_array_index (listing->unlabelled, Postponed, i), tree, &rows[i], error))
      return FALSE;
  if (!quoit_ray_places_find (&unlabelled, &places, error))
    {
      QuoitRayRow row;

      return return_to (&g_array_index (listing->unlabelled, Postponed, places.wrong), tree, &row, NULL)
             && quoit_tree_pass_on (tree, row.node, error);
    }
  warn_of_places (listing, &places);
  return describe_postponed (listing, tree, listing->unlabelled, places.places, error);
}

static gboolean
finish (QuoitTree *tree, gpointer data, GError **error)
{
  Listing *listing = data;

  return describe_unlabelled (listing, tree, error)
         && describe_postponed (listing, tree, listing->without_chips, NULL, error);
}

/* Returns the name itself if no other node has it, or if this node is the only one alive with it. Otherwise appends
 * the start of the id, or the whole id if that name is taken. */
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

      quoit_claims_warn (listing->cluster.claims,
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
      quoit_claims_add (listing->cluster.claims, row);
    }
  if (listing->context.n_left_out > 0)
    quoit_claims_warn (listing->cluster.claims, "%u more such rows", listing->context.n_left_out);
}

static gboolean
init_listing (Listing *listing, const QuoitRayFiles *files, GError **error)
{
  QuoitRayCluster *cluster = &listing->cluster;

  cluster->claims = quoit_claims_new (files->source != NULL ? files->source : "ray", QUOIT_SOURCE_KIND_RAY_NODES);
  cluster->texts = g_string_chunk_new (65536);
  cluster->ids = g_hash_table_new (g_str_hash, g_str_equal);
  if (files->groups != NULL || files->available != NULL)
    cluster->totals = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  cluster->nodes = g_array_new (FALSE, FALSE, sizeof (QuoitRayNode));

  listing->context.claims = cluster->claims;
  listing->context.slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  listing->context.warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  listing->context.devices_per_chip = MAX (files->tpu_per_chip, 1);
  listing->rows = g_array_new (FALSE, FALSE, sizeof (QuoitNodeClaim));
  listing->unlabelled = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (listing->unlabelled, clear_postponed);
  listing->without_chips = g_array_new (FALSE, FALSE, sizeof (Postponed));
  g_array_set_clear_func (listing->without_chips, clear_postponed);
  listing->elsewhere = g_hash_table_new (g_str_hash, g_str_equal);
  listing->names = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  return files->topology == NULL || quoit_shape_parse (files->topology, &listing->stated, error);
}

gboolean
quoit_ray_nodes_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error)
{
  static const QuoitRayRows rows = { .what = "nodes",
                                     .wanted = "the output of ray list nodes with --format json or --format yaml",
                                     .add_row = add_row,
                                     .finish = finish };
  g_auto (Listing) listing = { 0 };

  if (!init_listing (&listing, files, error)
      || !quoit_ray_rows_read (&rows, files->nodes, files->n_nodes, &listing, error))
    return FALSE;
  if ((files->flags & QUOIT_RAY_COMPLETE) == 0 && !quoit_ray_rows_check_limit (&rows, listing.n_listed, error))
    return FALSE;

  make_claims (&listing);
  *cluster = listing.cluster;
  listing.cluster = (QuoitRayCluster) { 0 };
  return TRUE;
}
