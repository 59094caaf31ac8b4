/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/writer.h"

#include "base/natural.h"
#include "fleet/names.h"
#include "fleet/source-kinds.h"

static int
by_name (gconstpointer a, gconstpointer b)
{
  const QuoitNodeClaim *x = *(const QuoitNodeClaim *const *) a, *y = *(const QuoitNodeClaim *const *) b;
  int order = quoit_natural_compare (x->name, y->name);

  return order != 0 ? order : g_strcmp0 (x->identity, y->identity);
}

static void
write_pairs (QuoitWriter *writer, const char *key, const QuoitPair *pairs, unsigned n_pairs)
{
  quoit_writer_open_object (writer, key);
  for (unsigned i = 0; i < n_pairs; i++)
    quoit_writer_text (writer, pairs[i].key, pairs[i].value);
  quoit_writer_close (writer);
}

static void
write_pool (QuoitWriter *writer, const QuoitPoolClaim *pool)
{
  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "name", pool->name);
  quoit_writer_integer (writer, "pods", pool->n_pods);
  quoit_writer_sum (writer, "pod_cpu", pool->pod_cpu);
  quoit_writer_sum (writer, "pod_memory", pool->pod_memory);
  write_pairs (writer, "env", pool->env, pool->n_env);
  quoit_writer_close (writer);
}

void
quoit_write_kind (QuoitWriter *writer, const QuoitNodeKind *kind)
{
  quoit_writer_text (writer, "generation",
                     kind->generation == QUOIT_GENERATION_NONE ? NULL : quoit_generation_name (kind->generation));
  quoit_writer_text (writer, "topology", kind->topology);
  quoit_writer_text (writer, "pod_type", kind->pod_type);
  quoit_writer_integer (writer, "chips", kind->chips);
  write_pairs (writer, "labels", kind->labels, kind->n_labels);
  quoit_writer_open_object (writer, "resources");
  for (unsigned i = 0; i < kind->n_resources; i++)
    quoit_writer_amount (writer, kind->resources[i].name, kind->resources[i].amount);
  quoit_writer_close (writer);
}

void
quoit_write_assumed (QuoitWriter *writer, guint8 flags)
{
  quoit_writer_open_array (writer, "assumed");
  if ((flags & QUOIT_NODE_ASSUMED_ID) != 0)
    quoit_writer_text (writer, NULL, "worker-id");
  if ((flags & QUOIT_NODE_ASSUMED_NAME) != 0)
    quoit_writer_text (writer, NULL, "host-name");
  quoit_writer_close (writer);
}

static void
write_node (QuoitWriter *writer, const QuoitClaims *claims, const QuoitNodeClaim *node)
{
  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "name", node->name);
  quoit_writer_text (writer, "identity", node->identity);
  quoit_writer_text (writer, "address", node->address);
  quoit_writer_text (writer, "pool", quoit_claims_pool_at (claims, node->pool)->name);
  quoit_writer_text (writer, "slice", node->slice);
  quoit_writer_text (writer, "incarnation", node->incarnation);
  if (node->worker_id >= 0)
    quoit_writer_integer (writer, "worker_id", node->worker_id);
  else
    quoit_writer_text (writer, "worker_id", NULL);
  quoit_writer_text (writer, "state", quoit_node_state_name ((QuoitNodeState) node->state));
  quoit_writer_boolean (writer, "ray_head", (node->flags & QUOIT_NODE_RAY_HEAD) != 0);
  quoit_write_assumed (writer, node->flags);
  quoit_writer_boolean (writer, "external", (node->flags & QUOIT_NODE_EXTERNAL) != 0);
  quoit_write_kind (writer, quoit_claims_kind_at (claims, node->kind));
  quoit_writer_close (writer);
}

char *
quoit_write_claims_json (const QuoitClaims *claims)
{
  QuoitWriter *writer = quoit_writer_new ();
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);
  g_autofree const QuoitNodeClaim **sorted = g_new (const QuoitNodeClaim *, MAX (n_nodes, 1));

  for (guint32 i = 0; i < n_nodes; i++)
    sorted[i] = &nodes[i];
  qsort (sorted, n_nodes, sizeof *sorted, by_name);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "schema", QUOIT_SCHEMA);
  quoit_writer_text (writer, "source", quoit_claims_source (claims));
  quoit_writer_text (writer, "kind", quoit_source_kind_name (quoit_claims_source_kind (claims)));
  quoit_writer_open_array (writer, "pools");
  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    write_pool (writer, quoit_claims_pool_at (claims, i));
  quoit_writer_close (writer);
  quoit_writer_open_array (writer, "nodes");
  for (guint32 i = 0; i < n_nodes; i++)
    write_node (writer, claims, sorted[i]);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}
