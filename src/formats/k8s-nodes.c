/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the node list of Kubernetes: the slices of GKE's node pools, and the states of the nodes. */
#include <string.h>

#include "base/natural.h"
#include "formats/formats.h"
#include "formats/k8s-list.h"
#include "formats/k8s-node.h"
#include "formats/k8s-workers.h"

enum { MOST_OF_SLICE = 4096 };

/* How each Kubernetes state maps to a node state, and the text of the warning about it. */
static const struct {
  QuoitNodeState state;
  const char *told;
} states[QUOIT_N_K8S_STATES] = {
  [QUOIT_K8S_READY] = { QUOIT_NODE_ALIVE, NULL },
  [QUOIT_K8S_TAINTED] = { QUOIT_NODE_DRAINING, "have a taint that announces their removal" },
  [QUOIT_K8S_UNSCHEDULABLE] = { QUOIT_NODE_DRAINING, "are unschedulable" },
  [QUOIT_K8S_DELETING] = { QUOIT_NODE_DRAINING, "are being deleted" },
  [QUOIT_K8S_FEWER_CHIPS] = { QUOIT_NODE_DEAD, "give pods fewer chips than they have" },
  [QUOIT_K8S_NOT_READY] = { QUOIT_NODE_DEAD, "are not Ready" },
  [QUOIT_K8S_SILENT] = { QUOIT_NODE_DEAD, "do not report (Ready is Unknown, or missing)" },
};

typedef struct {
  guint32 n;
  char *first;
} Told;

typedef struct {
  QuoitTree *tree, *pods_tree; /* pods_tree: NULL without a separate text of pods */
  QuoitK8sPods pods;
  QuoitClaims *claims;
  GArray *rows;      /* of QuoitK8sRow */
  GHashTable *names; /* of nodes */
  GHashTable *ids;   /* uids of nodes, or names of nodes without a uid, to find duplicates */
  GHashTable *homes; /* dynamic slice -> pool + 1 */
  Told told[QUOIT_N_K8S_STATES];
  Told tainted, misfits;
  char *taint, *misfit; /* the first taint, and why the first misfit is in no slice */
} Listing;

static void
clear_listing (Listing *listing)
{
  quoit_k8s_pods_clear (&listing->pods);
  g_clear_pointer (&listing->tree, quoit_tree_free);
  g_clear_pointer (&listing->pods_tree, quoit_tree_free);
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

/* --- node kinds --- */

/* A node whose chips are not available yet, or no longer, gets the number from its labels or the default. It is
 * still a host of its slice. */
static void
assume_chips (QuoitK8sNode *node, const QuoitNodeKind *kind)
{
  if (node->chips > 0)
    return;
  node->chips = node->stated_chips > 0 ? node->stated_chips
                                       : (guint16) quoit_default_chips_per_host (kind->generation, kind->shape);
  node->state = MAX (node->state, QUOIT_K8S_FEWER_CHIPS);
}

/* An unknown accelerator or topology must not prevent the import of a whole cluster. The node is then in no slice. */
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

/* The kind has the node's own labels and the labels that Ray would give it, so that the same selector works for
 * every source. */
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

/* --- slice of a node --- */

static const char *
pool_name (const Listing *listing, guint32 pool)
{
  return quoit_claims_pool_at (listing->claims, pool)->name;
}

/* A multi-host pool is one slice. In other pools each host is a slice. A dynamic slice with nodes from several pools
 * belongs to the first of these pools. */
static void
find_place (Listing *listing, const QuoitK8sNode *node, QuoitK8sRow *row)
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
take_name_as_uid (const Listing *listing, JsonNode *object, const char *name, GError **error)
{
  if (g_hash_table_add (listing->ids, (char *) name))
    return TRUE;
  return quoit_tree_fail (listing->tree, object, error,
                          "name '%s': expected a uid, as the uid of another node is that name", name);
}

static gboolean
add_node (gpointer data, JsonNode *object, GError **error)
{
  Listing *listing = data;
  QuoitNodeKind kind = { 0 };
  QuoitK8sNode node;
  QuoitK8sRow row = { .object = object };

  if (!quoit_k8s_node_read (listing->tree, object, &node, error))
    return FALSE;
  if (listing->rows->len == QUOIT_MOST_NODES)
    return quoit_tree_fail (listing->tree, object, error, "a node more: expected at most %u",
                            (unsigned) QUOIT_MOST_NODES);
  row.name = quoit_claims_text (listing->claims, node.name);
  row.identity = quoit_claims_text (listing->claims, node.uid);
  row.address = quoit_claims_text (listing->claims, node.address);
  if (!take_once (listing, listing->names, object, "name", row.name, error)
      || !take_once (listing, listing->ids, object, "uid", row.identity, error)
      || (row.identity == NULL && !take_name_as_uid (listing, object, row.name, error)))
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

/* --- slices --- */

static gboolean
add_slice (Listing *listing, QuoitK8sRow *rows, guint n, GError **error)
{
  if (n > MOST_OF_SLICE)
    return quoit_tree_refuse (listing->tree, rows[0].object, "at most 4096 nodes in a slice", error);
  quoit_k8s_rows_number (rows, n);
  for (guint i = 0; i < n; i++)
    {
      gboolean is_assumed = rows[i].n_hosts > 1 && rows[i].speaker == NULL;
      QuoitNodeClaim claim = { .name = rows[i].name,
                               .identity = rows[i].identity,
                               .address = rows[i].address,
                               .slice = rows[i].slice,
                               .pool = rows[i].pool,
                               .kind = rows[i].kind,
                               .worker_id = rows[i].worker_id,
                               .state = rows[i].state,
                               .flags = is_assumed ? QUOIT_NODE_ASSUMED_ID : 0 };

      quoit_claims_add (listing->claims, &claim);
    }
  return TRUE;
}

static gboolean
has_assumed (const QuoitK8sRow *rows, guint n)
{
  for (guint i = 0; i < n; i++)
    if (rows[i].n_hosts > 1 && rows[i].speaker == NULL)
      return TRUE;
  return FALSE;
}

static gboolean
add_slices (Listing *listing, GError **error)
{
  QuoitK8sRow *rows = (QuoitK8sRow *) (void *) listing->rows->data;
  guint n_assumed = 0;

  for (guint i = 0, n; i < listing->rows->len; i += n)
    {
      n = quoit_k8s_rows_of_slice (&rows[i], listing->rows->len - i);
      n_assumed += has_assumed (&rows[i], n);
      if (!add_slice (listing, &rows[i], n, error))
        return FALSE;
    }
  if (n_assumed > 0)
    quoit_claims_warn (
        listing->claims,
        "slices of several hosts: %u; Kubernetes' nodes do not say worker ids, so they are assumed in the order "
        "of node names until a list of pods, or of Ray's nodes, states them",
        n_assumed);
  return TRUE;
}

/* --- reading --- */

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
add_pod (gpointer data, JsonNode *object, GError **error)
{
  return quoit_k8s_pods_add (&((Listing *) data)->pods, object, error);
}

static const QuoitK8sList nodes_and_pods
    = { "nodes, as 'kubectl get nodes -o json' shows them", { { "Node", add_node }, { "Pod", add_pod } } },
    nodes_alone = { "nodes, as 'kubectl get nodes -o json' shows them", { { "Node", add_node }, { "Pod", NULL } } },
    pods_alone = { "pods, as 'kubectl get pods -A -o json' shows them", { { "Pod", add_pod }, { "Node", NULL } } };

static gboolean
read_nodes (Listing *listing, const QuoitK8sFiles *files, GError **error)
{
  const QuoitK8sList *list = files->pods == NULL ? &nodes_and_pods : &nodes_alone;

  listing->pods.tree = listing->tree = quoit_k8s_parse (files->nodes, files->n_nodes, list, error);
  return listing->tree != NULL && quoit_k8s_read_list (listing->tree, list, listing, error);
}

static gboolean
read_pods (Listing *listing, const QuoitK8sFiles *files, GError **error)
{
  if (files->pods == NULL)
    return TRUE;
  listing->pods.tree = listing->pods_tree = quoit_k8s_parse (files->pods, files->n_pods, &pods_alone, error);
  return listing->pods_tree != NULL && quoit_k8s_read_list (listing->pods_tree, &pods_alone, listing, error);
}

/* Runs after all nodes are known. */
static gboolean
hear_pods (Listing *listing, GError **error)
{
  QuoitK8sRow *rows = (QuoitK8sRow *) (void *) listing->rows->data;

  for (guint i = 0; i < listing->rows->len; i++)
    if (rows[i].is_dynamic)
      rows[i].pool = GPOINTER_TO_UINT (g_hash_table_lookup (listing->homes, rows[i].slice)) - 1;
  quoit_k8s_rows_sort (listing->rows);
  quoit_k8s_pods_seal (&listing->pods);
  return quoit_k8s_pods_check_nodes (&listing->pods, listing->names, error)
         && quoit_k8s_rows_hear (listing->rows, &listing->pods, listing->claims, error);
}

/* On failure *@text is the name of the text that the message is about. */
static QuoitClaims *
read_cluster (const QuoitK8sFiles *files, const char **text, GError **error)
{
  g_auto (Listing) listing = { 0 };

  listing.claims = quoit_claims_new (files->source != NULL ? files->source : "k8s", QUOIT_SOURCE_KIND_K8S_NODES);
  listing.rows = g_array_new (FALSE, FALSE, sizeof (QuoitK8sRow));
  listing.names = g_hash_table_new (g_str_hash, g_str_equal);
  listing.ids = g_hash_table_new (g_str_hash, g_str_equal);
  listing.homes = g_hash_table_new (g_str_hash, g_str_equal);
  *text = "nodes";
  if (!read_nodes (&listing, files, error))
    return NULL;
  *text = files->pods == NULL ? "nodes" : "pods";
  if (!read_pods (&listing, files, error) || !hear_pods (&listing, error))
    return NULL;
  *text = "nodes";
  if (!add_slices (&listing, error))
    return NULL;
  warn (&listing);
  return g_steal_pointer (&listing.claims);
}

QuoitClaims *
quoit_read_k8s_files (const QuoitK8sFiles *files, GError **error)
{
  const char *text;
  QuoitClaims *claims = read_cluster (files, &text, error);

  if (claims == NULL)
    g_prefix_error (error, "%s: ", text);
  return claims;
}

QuoitClaims *
quoit_read_k8s_nodes (const char *text, gsize length, const char *source, GError **error)
{
  const QuoitK8sFiles files = { .nodes = text, .n_nodes = length, .source = source };
  const char *of;

  return read_cluster (&files, &of, error);
}
