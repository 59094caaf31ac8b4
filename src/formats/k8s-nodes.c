/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the node list of Kubernetes: the slices of GKE's node pools, and the states of the nodes. */
#include <string.h>

#include "base/label-names.h"
#include "base/name-hash.h"
#include "base/natural.h"
#include "formats/formats.h"
#include "formats/k8s-list.h"
#include "formats/k8s-node.h"
#include "formats/k8s-workers.h"

enum { MOST_SLICE_NODES = 4096 };

/* How each Kubernetes state maps to a node state, and the text of the warning about it. */
static const struct {
  QuoitNodeState state;
  QuoitNodeCause cause;
  const char *warning; /* completes "nodes that ..." */
} states[QUOIT_N_K8S_STATES] = {
  [QUOIT_K8S_READY] = { QUOIT_NODE_ALIVE, QUOIT_CAUSE_NONE, NULL },
  [QUOIT_K8S_TAINTED] = { QUOIT_NODE_DRAINING, QUOIT_CAUSE_TAINTED, "have a taint that announces their removal" },
  [QUOIT_K8S_UNSCHEDULABLE] = { QUOIT_NODE_DRAINING, QUOIT_CAUSE_UNSCHEDULABLE, "are unschedulable" },
  [QUOIT_K8S_DELETING] = { QUOIT_NODE_DRAINING, QUOIT_CAUSE_DELETING, "are being deleted" },
  [QUOIT_K8S_FEWER_CHIPS] = { QUOIT_NODE_DEAD, QUOIT_CAUSE_FEWER_CHIPS, "give pods fewer chips than they have" },
  [QUOIT_K8S_NOT_READY] = { QUOIT_NODE_DEAD, QUOIT_CAUSE_NOT_READY, "are not Ready" },
  [QUOIT_K8S_NOT_REPORTING]
  = { QUOIT_NODE_DEAD, QUOIT_CAUSE_NOT_REPORTING, "do not report (Ready is Unknown, or missing)" },
};

/* Nodes that one warning is about. */
typedef struct {
  guint32 n;
  char *first; /* quoted name of the first one */
} NodeCount;

/* The state while a cluster is read. */
typedef struct {
  QuoitTree *tree, *pods_tree; /* pods_tree: NULL without a separate text of pods */
  QuoitK8sPods pods;
  QuoitClaims *claims;
  GArray *rows;           /* of QuoitK8sRow */
  GHashTable *names;      /* of nodes */
  GHashTable *ids;        /* uids of nodes, or names of nodes without a uid, to find duplicates */
  GHashTable *home_pools; /* name of a dynamic slice -> index of its pool, plus 1 */
  NodeCount by_state[QUOIT_N_K8S_STATES];
  NodeCount tainted_nodes;  /* TPU nodes with a taint that keeps pods away */
  NodeCount unplaced_nodes; /* TPU nodes in no slice */
  char *first_taint;        /* quoted taint of the first tainted node */
  char *unplaced_reason;    /* why the first unplaced node is in no slice */
} ClusterReader;

static void
clear_cluster_reader (ClusterReader *reader)
{
  quoit_k8s_pods_clear (&reader->pods);
  g_clear_pointer (&reader->tree, quoit_tree_free);
  g_clear_pointer (&reader->pods_tree, quoit_tree_free);
  g_clear_pointer (&reader->claims, quoit_claims_free);
  g_clear_pointer (&reader->rows, g_array_unref);
  g_clear_pointer (&reader->names, g_hash_table_unref);
  g_clear_pointer (&reader->ids, g_hash_table_unref);
  g_clear_pointer (&reader->home_pools, g_hash_table_unref);
  for (unsigned i = 0; i < QUOIT_N_K8S_STATES; i++)
    g_free (reader->by_state[i].first);
  g_free (reader->tainted_nodes.first);
  g_free (reader->unplaced_nodes.first);
  g_free (reader->first_taint);
  g_free (reader->unplaced_reason);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ClusterReader, clear_cluster_reader)

static void
count_node (NodeCount *count, const char *name)
{
  if (count->n++ == 0)
    count->first = quoit_quote (name);
}

/* --- node kinds --- */

/* Sets the number of chips of a node that offers none at present, from its labels or else to the default. The node is
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

/* A node without a topology of its own is a host of its cube until a dynamic slice uses it. */
static gboolean
is_in_cube (const QuoitK8sNode *node)
{
  return node->is_provision_only && node->dynamic_slice == NULL && node->cube != NULL;
}

/* Sets the topology of a node in a cube. Returns FALSE if its generation has no cubes. */
static gboolean
set_cube (QuoitNodeKind *kind)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (kind->generation);

  if (facts->ocs_cube.n_dims == 0)
    return FALSE;
  kind->topology = "4x4x4";
  kind->shape = facts->ocs_cube;
  return TRUE;
}

/* Returns the number of hosts of the node's slice, or 0 if the node is in no slice. An unknown accelerator or
 * topology is not an error, because it must not prevent the import of the whole cluster. */
static guint32
find_hosts (ClusterReader *reader, QuoitK8sNode *node, QuoitNodeKind *kind)
{
  g_autoptr (GError) inner = NULL;
  QuoitSliceFacts facts;

  if (node->accelerator == NULL || (node->is_provision_only && node->dynamic_slice == NULL && !is_in_cube (node)))
    return 0;
  if (!quoit_generation_parse (json_node_get_string (node->accelerator), &kind->generation, &inner))
    kind->generation = QUOIT_GENERATION_NONE;
  else if (is_in_cube (node) && set_cube (kind))
    {
      assume_chips (node, kind);
      if (quoit_slice_facts (kind->generation, kind->shape, node->chips, &facts, &inner))
        return facts.hosts;
    }
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
  count_node (&reader->unplaced_nodes, node->name);
  if (reader->unplaced_reason == NULL)
    reader->unplaced_reason = g_strdup (inner->message);
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

/* Adds the labels that Ray would give the node to the node's own labels, so that the same selector works for every
 * source. */
static guint32
make_kind (ClusterReader *reader, const QuoitK8sNode *node, QuoitNodeKind *kind)
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
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_ZONE, node->zone);
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_REGION, node->region);
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_MARKET_TYPE, node->is_spot ? "spot" : NULL);
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_ACCELERATOR_TYPE, facts == NULL ? NULL : facts->ray_resource);
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_TOPOLOGY, pod_type == NULL ? NULL : kind->topology);
  add_label (labels, &kind->n_labels, QUOIT_RAY_LABEL_POD_TYPE, pod_type);
  kind->labels = labels;
  for (unsigned i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].amount.e4 > 0)
      resources[kind->n_resources++] = all[i];
  kind->resources = resources;
  kind->pod_type = pod_type;
  kind->chips = node->chips;
  return quoit_claims_intern_kind (reader->claims, kind, NULL);
}

/* --- slice of a node --- */

static const char *
pool_name (const ClusterReader *reader, guint32 pool)
{
  return quoit_claims_pool_at (reader->claims, pool)->name;
}

/* Sets the pool and the slice of the row. A node pool with a multi-host topology is one slice; in other node pools each
 * node is a slice, or each cube. A dynamic slice may have nodes of several node pools, and then belongs to the first of
 * them. */
static void
find_place (ClusterReader *reader, const QuoitK8sNode *node, QuoitK8sRow *row)
{
  gpointer home_pool;

  row->pool = quoit_claims_ensure_pool (reader->claims, node->pool != NULL ? node->pool : "default");
  if (row->n_hosts == 0)
    return;
  row->slice = node->dynamic_slice != NULL ? node->dynamic_slice
               : is_in_cube (node)         ? node->cube
               : row->n_hosts == 1         ? node->name
               : node->pool != NULL        ? node->pool
                                           : "default";
  row->slice = quoit_claims_intern_text (reader->claims, row->slice);
  if (node->dynamic_slice == NULL)
    return;
  row->is_dynamic = TRUE;
  home_pool = g_hash_table_lookup (reader->home_pools, row->slice);
  if (home_pool == NULL
      || quoit_natural_compare (pool_name (reader, row->pool), pool_name (reader, GPOINTER_TO_UINT (home_pool) - 1))
             < 0)
    g_hash_table_insert (reader->home_pools, (char *) row->slice, GUINT_TO_POINTER (row->pool + 1));
}

static gboolean
check_unique (const ClusterReader *reader, GHashTable *seen, JsonNode *object, const char *what, const char *text,
              GError **error)
{
  g_autofree char *quoted = NULL;

  if (text == NULL || g_hash_table_add (seen, (char *) text))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_tree_fail (reader->tree, object, error, "%s %s: expected each %s once", what, quoted, what);
}

/* A node without uid is identified by its name, which then must not be the uid of another node. */
static gboolean
use_name_as_uid (const ClusterReader *reader, JsonNode *object, const char *name, GError **error)
{
  if (g_hash_table_add (reader->ids, (char *) name))
    return TRUE;
  return quoit_tree_fail (reader->tree, object, error, "name '%s' is the uid of another node: add a uid to this node",
                          name);
}

static gboolean
add_node (gpointer data, JsonNode *object, GError **error)
{
  ClusterReader *reader = data;
  QuoitNodeKind kind = { 0 };
  QuoitK8sNode node;
  QuoitK8sRow row = { .object = object };

  if (!quoit_k8s_node_read (reader->tree, object, &node, error))
    return FALSE;
  if (reader->rows->len == QUOIT_MAX_NODES)
    return quoit_tree_fail (reader->tree, object, error, "one node too many: expected at most %u",
                            (unsigned) QUOIT_MAX_NODES);
  row.name = quoit_claims_intern_text (reader->claims, node.name);
  row.identity = quoit_claims_intern_text (reader->claims, node.uid);
  row.address = quoit_claims_intern_text (reader->claims, node.address);
  if (!check_unique (reader, reader->names, object, "name", row.name, error)
      || !check_unique (reader, reader->ids, object, "uid", row.identity, error)
      || (row.identity == NULL && !use_name_as_uid (reader, object, row.name, error)))
    return FALSE;

  row.n_hosts = find_hosts (reader, &node, &kind);
  row.state = (guint8) states[node.state].state;
  row.cause = quoit_node_cause_flags (states[node.state].cause);
  if (node.state != QUOIT_K8S_READY)
    count_node (&reader->by_state[node.state], node.name);
  if (node.taint != NULL && node.chips > 0)
    count_node (&reader->tainted_nodes, node.name);
  if (node.taint != NULL && node.chips > 0 && reader->first_taint == NULL)
    reader->first_taint = quoit_quote (node.taint);
  row.kind = make_kind (reader, &node, &kind);
  find_place (reader, &node, &row);
  g_array_append_val (reader->rows, row);
  return TRUE;
}

/* --- slices --- */

static gboolean
add_slice (ClusterReader *reader, QuoitK8sRow *rows, guint n, GError **error)
{
  if (n > MOST_SLICE_NODES)
    return quoit_tree_refuse (reader->tree, rows[0].object, "at most 4096 nodes in a slice", error);
  quoit_k8s_rows_assign_ids (rows, n);
  for (guint i = 0; i < n; i++)
    {
      gboolean is_assumed = rows[i].n_hosts > 1 && rows[i].id_pod == NULL;
      QuoitNodeClaim claim = { .name = rows[i].name,
                               .identity = rows[i].identity,
                               .address = rows[i].address,
                               .slice = rows[i].slice,
                               .pool = rows[i].pool,
                               .kind = rows[i].kind,
                               .worker_id = rows[i].worker_id,
                               .state = rows[i].state,
                               .flags = rows[i].cause | (is_assumed ? QUOIT_NODE_ASSUMED_ID : 0) };

      quoit_claims_add (reader->claims, &claim);
    }
  return TRUE;
}

static gboolean
has_assumed_ids (const QuoitK8sRow *rows, guint n)
{
  for (guint i = 0; i < n; i++)
    if (rows[i].n_hosts > 1 && rows[i].id_pod == NULL)
      return TRUE;
  return FALSE;
}

static gboolean
add_slices (ClusterReader *reader, GError **error)
{
  QuoitK8sRow *rows = (QuoitK8sRow *) (void *) reader->rows->data;
  guint n_assumed = 0;

  for (guint i = 0, n; i < reader->rows->len; i += n)
    {
      n = quoit_k8s_rows_count_slice (&rows[i], reader->rows->len - i);
      n_assumed += has_assumed_ids (&rows[i], n);
      if (!add_slice (reader, &rows[i], n, error))
        return FALSE;
    }
  if (n_assumed > 0)
    quoit_claims_warn (
        reader->claims,
        "slices of several hosts: %u; Kubernetes' nodes do not state worker ids, so they are assumed in the order "
        "of node names until a list of pods, or of Ray's nodes, states them",
        n_assumed);
  return TRUE;
}

/* --- reading --- */

static void
add_warnings (ClusterReader *reader)
{
  for (unsigned i = 0; i < QUOIT_N_K8S_STATES; i++)
    if (reader->by_state[i].n > 0)
      quoit_claims_warn (reader->claims, "%s: nodes that %s: %u, such as %s",
                         states[i].state == QUOIT_NODE_DEAD ? "dead" : "draining", states[i].warning,
                         reader->by_state[i].n, reader->by_state[i].first);
  if (reader->tainted_nodes.n > 0)
    quoit_claims_warn (reader->claims,
                       "TPU nodes with taints that keep away pods that do not tolerate them: %u, such as %s with %s",
                       reader->tainted_nodes.n, reader->tainted_nodes.first, reader->first_taint);
  if (reader->unplaced_nodes.n > 0)
    quoit_claims_warn (reader->claims, "TPU nodes in no slice: %u, such as %s: %s", reader->unplaced_nodes.n,
                       reader->unplaced_nodes.first, reader->unplaced_reason);
}

static gboolean
add_pod (gpointer data, JsonNode *object, GError **error)
{
  return quoit_k8s_pods_add (&((ClusterReader *) data)->pods, object, error);
}

static const QuoitK8sList nodes_and_pods
    = { "nodes, as 'kubectl get nodes -o json' shows them", { { "Node", add_node }, { "Pod", add_pod } } },
    nodes_only = { "nodes, as 'kubectl get nodes -o json' shows them", { { "Node", add_node }, { "Pod", NULL } } },
    pods_only = { "pods, as 'kubectl get pods -A -o json' shows them", { { "Pod", add_pod }, { "Node", NULL } } };

static gboolean
read_nodes (ClusterReader *reader, const QuoitK8sFiles *files, GError **error)
{
  const QuoitK8sList *list = files->pods == NULL ? &nodes_and_pods : &nodes_only;

  reader->pods.tree = reader->tree = quoit_k8s_parse (files->nodes, files->n_nodes, list, error);
  return reader->tree != NULL && quoit_k8s_read_list (reader->tree, list, reader, error);
}

static gboolean
read_pods (ClusterReader *reader, const QuoitK8sFiles *files, GError **error)
{
  if (files->pods == NULL)
    return TRUE;
  reader->pods.tree = reader->pods_tree = quoit_k8s_parse (files->pods, files->n_pods, &pods_only, error);
  return reader->pods_tree != NULL && quoit_k8s_read_list (reader->pods_tree, &pods_only, reader, error);
}

/* Call this after all nodes and pods were read. */
static gboolean
apply_pods (ClusterReader *reader, GError **error)
{
  QuoitK8sRow *rows = (QuoitK8sRow *) (void *) reader->rows->data;

  for (guint i = 0; i < reader->rows->len; i++)
    if (rows[i].is_dynamic)
      rows[i].pool = GPOINTER_TO_UINT (g_hash_table_lookup (reader->home_pools, rows[i].slice)) - 1;
  quoit_k8s_rows_sort (reader->rows);
  quoit_k8s_pods_build_index (&reader->pods);
  return quoit_k8s_pods_check_nodes (&reader->pods, reader->names, error)
         && quoit_k8s_rows_apply_pods (reader->rows, &reader->pods, reader->claims, error);
}

/* On failure *@text is the name of the text that the message is about: "nodes" or "pods". */
static QuoitClaims *
read_cluster (const QuoitK8sFiles *files, const char **text, GError **error)
{
  g_auto (ClusterReader) reader = { 0 };

  reader.claims = quoit_claims_new (files->source != NULL ? files->source : "k8s", QUOIT_SOURCE_KIND_K8S_NODES);
  reader.rows = g_array_new (FALSE, FALSE, sizeof (QuoitK8sRow));
  reader.names = g_hash_table_new (quoit_hash_text, g_str_equal);
  reader.ids = g_hash_table_new (quoit_hash_text, g_str_equal);
  reader.home_pools = g_hash_table_new (quoit_hash_text, g_str_equal);
  *text = "nodes";
  if (!read_nodes (&reader, files, error))
    return NULL;
  *text = files->pods == NULL ? "nodes" : "pods";
  if (!read_pods (&reader, files, error) || !apply_pods (&reader, error))
    return NULL;
  *text = "nodes";
  if (!add_slices (&reader, error))
    return NULL;
  add_warnings (&reader);
  return g_steal_pointer (&reader.claims);
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
  const char *failed_text;

  return read_cluster (&files, &failed_text, error);
}
