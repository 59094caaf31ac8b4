/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' list of its nodes: the slices that GKE's pools are, and the states of their machines. */
#include <string.h>

#include "base/natural.h"
#include "formats/formats.h"
#include "formats/k8s-node.h"
#include "formats/yaml.h"

enum { MOST_OF_SLICE = 4096 };

static const char wanted[] = "nodes, as 'kubectl get nodes -o json' shows them";

/* What of nodes in a state becomes of them here, and how it is told. */
static const struct {
  QuoitNodeState state;
  const char *told;
} states[QUOIT_N_K8S_STATES] = {
  [QUOIT_K8S_READY] = { QUOIT_NODE_ALIVE, NULL },
  [QUOIT_K8S_TAINTED] = { QUOIT_NODE_DRAINING, "have a taint which says that they will go" },
  [QUOIT_K8S_UNSCHEDULABLE] = { QUOIT_NODE_DRAINING, "are unschedulable" },
  [QUOIT_K8S_DELETING] = { QUOIT_NODE_DRAINING, "are being deleted" },
  [QUOIT_K8S_FEWER_CHIPS] = { QUOIT_NODE_DEAD, "give pods fewer chips than they have" },
  [QUOIT_K8S_NOT_READY] = { QUOIT_NODE_DEAD, "are not Ready" },
  [QUOIT_K8S_SILENT] = { QUOIT_NODE_DEAD, "are not heard of (Ready is Unknown, or not told)" },
};

typedef struct {
  guint32 n;
  char *first;
} Told;

/* A node that waits for its worker id until all of its slice are known. */
typedef struct {
  const char *name; /* of the claims, as all texts here */
  const char *identity, *address, *slice;
  guint32 pool, kind, n_hosts; /* n_hosts 0: in no slice */
  guint8 state;
  gboolean is_dynamic;
  JsonNode *object;
} Row;

typedef struct {
  const QuoitTree *tree;
  QuoitClaims *claims;
  GArray *rows;      /* of Row */
  GHashTable *names; /* of nodes */
  GHashTable *ids;   /* likewise */
  GHashTable *homes; /* dynamic slice -> pool + 1 */
  Told told[QUOIT_N_K8S_STATES];
  Told tainted, misfits;
  char *taint, *misfit; /* the first taint, and why the first of the misfits is one */
} Listing;

static void
clear_listing (Listing *listing)
{
  g_clear_pointer (&listing->claims, quoit_claims_free);
  g_clear_pointer (&listing->rows, g_array_unref);
  g_clear_pointer (&listing->names, g_hash_table_unref);
  g_clear_pointer (&listing->ids, g_hash_table_unref);
  g_clear_pointer (&listing->homes, g_hash_table_unref);
  for (unsigned i = 0; i < QUOIT_N_K8S_STATES; i++)
    g_free (listing->told[i].first);
  g_free (listing->tainted.first);
  g_free (listing->misfits.first);
  g_free (listing->taint);
  g_free (listing->misfit);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listing, clear_listing)

static void
tell (Told *told, const char *name)
{
  if (told->n++ == 0)
    told->first = quoit_quote (name);
}

/* --- what a node is --- */

/* A machine whose chips are not there yet, or not any more, has those that its labels say: it is no less a host of its
 * slice. */
static void
assume_chips (QuoitK8sNode *node, const QuoitNodeKind *kind)
{
  if (node->chips > 0)
    return;
  node->chips = node->stated_chips > 0 ? node->stated_chips
                                       : (guint16) quoit_default_chips_per_host (kind->generation, kind->shape);
  node->state = MAX (node->state, QUOIT_K8S_FEWER_CHIPS);
}

/* An accelerator or a topology that nobody knows is no reason to refuse a whole cluster: the node is then in no
 * slice. */
static guint32
find_hosts (Listing *listing, QuoitK8sNode *node, QuoitNodeKind *kind)
{
  g_autoptr (GError) inner = NULL;
  QuoitSliceFacts facts;

  if (node->accelerator == NULL || (node->is_unassigned && node->dynamic_slice == NULL))
    return 0;
  if (!quoit_generation_parse (json_node_get_string (node->accelerator), &kind->generation, &inner))
    kind->generation = QUOIT_GENERATION_NONE;
  else if (node->topology == NULL)
    inner = g_error_new (QUOIT_ERROR, QUOIT_ERROR_INVALID, "no label cloud.google.com/gke-tpu-topology");
  else
    {
      kind->topology = json_node_get_string (node->topology);
      if (quoit_shape_parse (kind->topology, &kind->shape, &inner)
          && quoit_shape_check (kind->generation, kind->shape, &inner))
        {
          assume_chips (node, kind);
          if (quoit_slice_facts (kind->generation, kind->shape, node->chips, &facts, &inner))
            return facts.hosts;
        }
    }
  kind->shape = (QuoitShape) { 0 };
  tell (&listing->misfits, node->name);
  if (listing->misfit == NULL)
    listing->misfit = g_strdup (inner->message);
  return 0;
}

static void
add_label (QuoitPair *labels, guint16 *n, const char *key, const char *value)
{
  for (guint16 i = 0; i < *n; i++)
    if (value == NULL || strcmp (labels[i].key, key) == 0)
      return;
  if (value != NULL)
    labels[(*n)++] = (QuoitPair) { key, value };
}

/* The node's own labels, and those that Ray would give it, so that one selector does for every source. */
static guint32
make_kind (Listing *listing, const QuoitK8sNode *node, QuoitNodeKind *kind)
{
  g_autofree char *pod_type = kind->shape.n_dims == 0 ? NULL : quoit_pod_type_format (kind->generation, kind->shape);
  const QuoitGenerationFacts *facts = quoit_generation_facts (kind->generation);
  QuoitPair labels[QUOIT_K8S_MOST_LABELS + 6];
  QuoitResource resources[4];
  const QuoitResource all[] = { { "CPU", node->cpu },
                                { "GPU", node->gpu },
                                { "TPU", quoit_amount_from_int (node->chips) },
                                { "memory", node->memory } };

  memcpy (labels, node->labels, node->n_labels * sizeof *labels);
  kind->n_labels = node->n_labels;
  add_label (labels, &kind->n_labels, "ray.io/availability-zone", node->zone);
  add_label (labels, &kind->n_labels, "ray.io/availability-region", node->region);
  add_label (labels, &kind->n_labels, "ray.io/market-type", node->is_spot ? "spot" : NULL);
  add_label (labels, &kind->n_labels, "ray.io/accelerator-type", facts == NULL ? NULL : facts->ray_resource);
  add_label (labels, &kind->n_labels, "ray.io/tpu-topology", pod_type == NULL ? NULL : kind->topology);
  add_label (labels, &kind->n_labels, "ray.io/tpu-pod-type", pod_type);
  kind->labels = labels;
  for (unsigned i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].amount.e4 > 0)
      resources[kind->n_resources++] = all[i];
  kind->resources = resources;
  kind->pod_type = pod_type;
  kind->chips = node->chips;
  return quoit_claims_kind (listing->claims, kind, NULL);
}

/* --- where it stands --- */

static const char *
pool_name (const Listing *listing, guint32 pool)
{
  return quoit_claims_pool_at (listing->claims, pool)->name;
}

/* A pool of several hosts a slice is one slice; the hosts of another are slices of their own. What a dynamic slice has
 * taken from several pools stands in the first of them. */
static void
find_place (Listing *listing, const QuoitK8sNode *node, Row *row)
{
  gpointer home;

  row->pool = quoit_claims_pool (listing->claims, node->pool != NULL ? node->pool : "default");
  if (row->n_hosts == 0)
    return;
  row->slice = node->dynamic_slice != NULL ? node->dynamic_slice
               : row->n_hosts == 1         ? node->name
               : node->pool != NULL        ? node->pool
                                           : "default";
  row->slice = quoit_claims_text (listing->claims, row->slice);
  if (node->dynamic_slice == NULL)
    return;
  row->is_dynamic = TRUE;
  home = g_hash_table_lookup (listing->homes, row->slice);
  if (home == NULL
      || quoit_natural_compare (pool_name (listing, row->pool), pool_name (listing, GPOINTER_TO_UINT (home) - 1)) < 0)
    g_hash_table_insert (listing->homes, (char *) row->slice, GUINT_TO_POINTER (row->pool + 1));
}

static gboolean
take_once (const Listing *listing, GHashTable *taken, JsonNode *object, const char *what, const char *text,
           GError **error)
{
  g_autofree char *quoted = NULL;

  if (text == NULL || g_hash_table_add (taken, (char *) text))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_tree_fail (listing->tree, object, error, "%s %s: expected each %s once", what, quoted, what);
}

static gboolean
add_node (Listing *listing, JsonNode *object, GError **error)
{
  QuoitNodeKind kind = { 0 };
  QuoitK8sNode node;
  Row row = { .object = object };

  if (!quoit_k8s_node_read (listing->tree, object, &node, error))
    return FALSE;
  if (listing->rows->len == QUOIT_MOST_NODES)
    return quoit_tree_fail (listing->tree, object, error, "a node more: expected at most %u",
                            (unsigned) QUOIT_MOST_NODES);
  row.name = quoit_claims_text (listing->claims, node.name);
  row.identity = quoit_claims_text (listing->claims, node.uid);
  row.address = quoit_claims_text (listing->claims, node.address);
  if (!take_once (listing, listing->names, object, "name", row.name, error)
      || !take_once (listing, listing->ids, object, "uid", row.identity, error))
    return FALSE;

  row.n_hosts = find_hosts (listing, &node, &kind);
  row.state = (guint8) states[node.state].state;
  if (node.state != QUOIT_K8S_READY)
    tell (&listing->told[node.state], node.name);
  if (node.taint != NULL && node.chips > 0)
    tell (&listing->tainted, node.name);
  if (node.taint != NULL && node.chips > 0 && listing->taint == NULL)
    listing->taint = quoit_quote (node.taint);
  row.kind = make_kind (listing, &node, &kind);
  find_place (listing, &node, &row);
  g_array_append_val (listing->rows, row);
  return TRUE;
}

/* --- the file --- */

static gboolean
is_called (JsonNode *object, const char *name)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  return kind != NULL && JSON_NODE_HOLDS_VALUE (kind) && json_node_get_value_type (kind) == G_TYPE_STRING
         && strcmp (json_node_get_string (kind), name) == 0;
}

static gboolean
refuse_kind (const Listing *listing, JsonNode *object, GError **error)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  if (kind != NULL)
    return quoit_tree_refuse (listing->tree, kind, wanted, error);
  return JSON_NODE_HOLDS_OBJECT (object)
             ? quoit_tree_fail (listing->tree, object, error, "an object without kind: expected %s", wanted)
             : quoit_tree_refuse (listing->tree, object, wanted, error);
}

static gboolean
add_document (Listing *listing, JsonNode *document, GError **error)
{
  JsonNode *items;
  JsonArray *list;

  if (is_called (document, "Node"))
    return add_node (listing, document, error);
  if (!is_called (document, "List") && !is_called (document, "NodeList"))
    return refuse_kind (listing, document, error);
  items = quoit_tree_member (document, "items");
  if (items == NULL)
    return quoit_tree_fail (listing->tree, document, error, "a list without items: expected items");
  if (!quoit_tree_array (listing->tree, items, &list, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *object = json_array_get_element (list, i);

      /* A NodeList's items do not repeat what they are. */
      if (JSON_NODE_HOLDS_OBJECT (object) && quoit_tree_member (object, "kind") != NULL && !is_called (object, "Node"))
        return refuse_kind (listing, object, error);
      if (!add_node (listing, object, error))
        return FALSE;
    }
  return TRUE;
}

/* --- worker ids --- */

/* By slice; in it, who is not dead before who is, and by name: of more nodes than a slice has hosts the last have no
 * place. */
static gint
by_slice (gconstpointer a, gconstpointer b)
{
  const Row *x = a, *y = b;
  int order;

  if (x->pool != y->pool)
    return x->pool < y->pool ? -1 : 1;
  order = g_strcmp0 (x->slice, y->slice);
  if (order == 0 && x->slice != NULL)
    order = (x->state == QUOIT_NODE_DEAD) - (y->state == QUOIT_NODE_DEAD);
  return order != 0 ? order : quoit_natural_compare (x->name, y->name);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (((const Row *) a)->name, ((const Row *) b)->name);
}

/* The nodes of one slice, which have the order that pods are usually given, and it is said that nobody says so. */
static gboolean
add_slice (Listing *listing, Row *rows, guint n, GError **error)
{
  guint n_placed = MIN (n, rows[0].n_hosts);

  if (n > MOST_OF_SLICE)
    return quoit_tree_refuse (listing->tree, rows[0].object, "at most 4096 nodes in a slice", error);
  qsort (rows, n_placed, sizeof *rows, by_name);
  for (guint i = 0; i < n; i++)
    {
      QuoitNodeClaim claim = { .name = rows[i].name,
                               .identity = rows[i].identity,
                               .address = rows[i].address,
                               .slice = rows[i].slice,
                               .pool = rows[i].pool,
                               .kind = rows[i].kind,
                               .worker_id = i < n_placed ? (gint32) i : -1,
                               .state = rows[i].state,
                               .flags = rows[i].n_hosts > 1 ? QUOIT_NODE_ASSUMED_ID : 0 };

      quoit_claims_add (listing->claims, &claim);
    }
  return TRUE;
}

static gboolean
add_slices (Listing *listing, GError **error)
{
  Row *rows = (Row *) (void *) listing->rows->data;
  guint n_slices = 0;

  for (guint i = 0; i < listing->rows->len; i++)
    if (rows[i].is_dynamic)
      rows[i].pool = GPOINTER_TO_UINT (g_hash_table_lookup (listing->homes, rows[i].slice)) - 1;
  g_array_sort (listing->rows, by_slice);
  for (guint i = 0, n; i < listing->rows->len; i += n)
    {
      for (n = 1; rows[i].slice != NULL && i + n < listing->rows->len; n++)
        if (rows[i + n].pool != rows[i].pool || g_strcmp0 (rows[i + n].slice, rows[i].slice) != 0)
          break;
      n_slices += rows[i].n_hosts > 1;
      if (!add_slice (listing, &rows[i], n, error))
        return FALSE;
    }
  if (n_slices > 0)
    quoit_claims_warn (
        listing->claims,
        "slices of several hosts: %u; Kubernetes does not know worker ids, so they are assumed in the order "
        "of node names until a list of Ray's nodes says them",
        n_slices);
  return TRUE;
}

/* --- all of it --- */

static void
warn (Listing *listing)
{
  for (unsigned i = 0; i < QUOIT_N_K8S_STATES; i++)
    if (listing->told[i].n > 0)
      quoit_claims_warn (listing->claims, "%s: nodes that %s: %u, such as %s",
                         states[i].state == QUOIT_NODE_DEAD ? "dead" : "draining", states[i].told, listing->told[i].n,
                         listing->told[i].first);
  if (listing->tainted.n > 0)
    quoit_claims_warn (listing->claims,
                       "TPU nodes with taints that keep away pods which do not tolerate them: %u, such as %s with %s",
                       listing->tainted.n, listing->tainted.first, listing->taint);
  if (listing->misfits.n > 0)
    quoit_claims_warn (listing->claims, "TPU nodes in no slice: %u, such as %s: %s", listing->misfits.n,
                       listing->misfits.first, listing->misfit);
}

static gboolean
add_documents (Listing *listing, GError **error)
{
  unsigned n = quoit_tree_n_documents (listing->tree), n_read = 0;

  for (unsigned i = 0; i < n; i++)
    {
      JsonNode *document = quoit_tree_document (listing->tree, i);

      if (JSON_NODE_HOLDS_NULL (document))
        continue;
      n_read++;
      if (!add_document (listing, document, error))
        return FALSE;
    }
  return n_read > 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "nothing in it: expected nodes, as 'kubectl get nodes -o json' shows them");
}

QuoitClaims *
quoit_read_k8s_nodes (const char *text, gsize length, const char *source, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_auto (Listing) listing = { 0 };
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  if (start == length)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "nothing in it: expected %s", wanted);
  tree = (text[start] == '{' || text[start] == '[') ? quoit_tree_parse_json (text, length, error)
                                                    : quoit_tree_parse_yaml (text, length, error);
  if (tree == NULL)
    return NULL;

  listing.tree = tree;
  listing.claims = quoit_claims_new (source != NULL ? source : "k8s", QUOIT_SOURCE_KIND_K8S_NODES);
  listing.rows = g_array_new (FALSE, FALSE, sizeof (Row));
  listing.names = g_hash_table_new (g_str_hash, g_str_equal);
  listing.ids = g_hash_table_new (g_str_hash, g_str_equal);
  listing.homes = g_hash_table_new (g_str_hash, g_str_equal);
  if (!add_documents (&listing, error) || !add_slices (&listing, error))
    return NULL;
  warn (&listing);
  return g_steal_pointer (&listing.claims);
}
