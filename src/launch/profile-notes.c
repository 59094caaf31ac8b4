/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about the variables of profile quoit: how they differ from those of the manifest, or of a running pod. */
#include <string.h>

#include "models/kuberay/names.h"
#include "launch/topology.h"
#include "launch/webhook.h"

/* The state of the checks that add notes. */
typedef struct {
  QuoitTopology *topology;
  guint32 n_slices;
  GHashTable *pools, *sources; /* that were already checked */
  GPtrArray *replaced;         /* variables of the manifest with another value here */
  GPtrArray *expanded;         /* variables of the manifest that Kubernetes would expand */
} Notes;

static void
clear_notes (Notes *notes)
{
  g_hash_table_unref (notes->pools);
  g_hash_table_unref (notes->sources);
  g_ptr_array_unref (notes->replaced);
  g_ptr_array_unref (notes->expanded);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Notes, clear_notes)

static void
add_name (GPtrArray *names, const char *name)
{
  if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, (char *) name);
}

static char *
join (GPtrArray *names)
{
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

/* Finds "$(NAME)", unless a second dollar sign escapes it. */
static gboolean
has_reference (const char *value)
{
  for (const char *p = strchr (value, '$'); p != NULL; p = strchr (p, '$'))
    {
      if (p[1] == '(' && strchr (p, ')') != NULL)
        return TRUE;
      p += p[1] == '$' ? 2 : 1;
    }
  return FALSE;
}

static void
note_n_slices (Notes *notes, const char *value)
{
  g_autofree char *quoted = quoit_quote (value), *number = g_strdup_printf ("%u", notes->n_slices);

  if (*value == '\0' || strcmp (value, number) == 0)
    return;
  quoit_topology_note (notes->topology, "MEGASCALE_NUM_SLICES: the manifest has %s, the group has %s", quoted,
                       notes->n_slices == 1 ? "one slice and needs none of MEGASCALE_*" : number);
}

/* Checks the variables that all processes of a pool share. */
static void
check_pool (Notes *notes, const QuoitPair *pairs, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    {
      if (strcmp (pairs[i].key, "MEGASCALE_NUM_SLICES") == 0)
        note_n_slices (notes, pairs[i].value);
      else if (has_reference (pairs[i].value))
        add_name (notes->expanded, pairs[i].key);
    }
}

static void
check_process (Notes *notes, const QuoitProcess *process)
{
  const QuoitLayout *layout = notes->topology->layout;
  guint32 n, pool = quoit_layout_node_pool (layout, (QuoitNodeId) { process->node }).index;
  const QuoitPair *pairs = quoit_process_manifest_env (notes->topology, process, &n);

  if (g_hash_table_add (notes->pools, GUINT_TO_POINTER (pool)))
    check_pool (notes, pairs, n);
  for (guint32 i = 0; i < n; i++)
    if (*pairs[i].value != '\0' && strcmp (pairs[i].key, "MEGASCALE_NUM_SLICES") != 0
        && strcmp (pairs[i].key, "MEGASCALE_PORT") != 0
        && g_strcmp0 (pairs[i].value, quoit_process_find_value (process, pairs[i].key)) != 0)
      add_name (notes->replaced, pairs[i].key);
}

/* Notes which names are used for hosts without a known address. */
static void
note_addresses (QuoitTopology *topology)
{
  const QuoitLayout *layout = topology->layout;
  gboolean unknown = FALSE, manifest = FALSE;

  for (guint i = 0; i < topology->processes->len; i++)
    {
      guint32 node = g_array_index (topology->processes, QuoitProcess, i).node;

      if (quoit_layout_node_address (layout, (QuoitNodeId) { node }) != NULL)
        continue;
      unknown = TRUE;
      manifest |= layout->sources[quoit_node_source (layout, node)].kind == QUOIT_SOURCE_KIND_RAYCLUSTER;
    }
  if (unknown)
    quoit_topology_note (topology, "no addresses are known: hosts have %s",
                         manifest ? "the names that the TPU webhook gives to the pods" : "the names of their nodes");
}

static void
note_service (QuoitTopology *topology, const char *cluster)
{
  g_autofree char *actual = quoit_webhook_kuberay_service (cluster), *assumed_name = quoit_webhook_service (cluster);

  if (strcmp (actual, assumed_name) != 0)
    quoit_topology_note (topology,
                         "KubeRay names the cluster's service '%s', the TPU webhook '%s': the hosts' names do not "
                         "resolve unless a service with the second name exists",
                         actual, assumed_name);
}

/* Notes names that depend on a generated cluster name, which only KubeRay knows. */
static void
note_assumed (QuoitTopology *topology, const QuoitProcess *process, const char *cluster)
{
  static const char *const name_variables[]
      = { "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES", "MEGASCALE_COORDINATOR_ADDRESS" };
  g_autoptr (GPtrArray) assumed_variables = g_ptr_array_new ();
  g_autofree char *service = quoit_webhook_service (cluster), *names = NULL;

  if ((topology->layout->nodes[process->node].flags & QUOIT_NODE_ASSUMED_NAME) == 0)
    return;
  for (unsigned i = 0; i < G_N_ELEMENTS (name_variables); i++)
    {
      const char *value = quoit_process_find_value (process, name_variables[i]);

      if (value != NULL && strstr (value, service) != NULL)
        add_name (assumed_variables, name_variables[i]);
    }
  if (assumed_variables->len == 0)
    return;
  names = join (assumed_variables);
  quoit_topology_note (topology,
                       "the name of cluster '%s' is assumed, because KubeRay ends it with five random characters: the "
                       "hosts in %s are not right until the manifest is read back from Kubernetes and imported again, "
                       "and they resolve only if its metadata.name has at most %u bytes",
                       cluster, names, quoit_webhook_longest_name (QUOIT_KUBERAY_RANDOM_END));
}

void
quoit_topology_note_names (QuoitTopology *topology, const QuoitProcess *process)
{
  g_autofree char *cluster
      = quoit_source_cluster_name (topology->layout, quoit_node_source (topology->layout, process->node));

  if (cluster == NULL)
    return;
  note_service (topology, cluster);
  note_assumed (topology, process, cluster);
}

/* The webhook does not name the pod of a slice with one host. */
static void
note_single_host (Notes *notes, const QuoitProcess *process)
{
  const QuoitClass *class = quoit_process_class (notes->topology, process);
  gboolean is_tpu7x = class != NULL && class->facts.generation == QUOIT_GENERATION_TPU7X;

  if (class == NULL || class->facts.hosts != 1 || notes->topology->job == QUOIT_JOB_SEPARATE)
    return;
  if ((process->slice_id == 0 && notes->n_slices > 1) || is_tpu7x)
    quoit_topology_note (
        notes->topology,
        "a slice has only one host, and the TPU webhook gives its pod no host name: the names in %s resolve only if "
        "something else sets one",
        is_tpu7x
            ? notes->n_slices > 1 ? "TPU_WORKER_HOSTNAMES or MEGASCALE_COORDINATOR_ADDRESS" : "TPU_WORKER_HOSTNAMES"
            : "MEGASCALE_COORDINATOR_ADDRESS");
}

static void
check_names (Notes *notes, const QuoitProcess *process)
{
  const QuoitLayout *layout = notes->topology->layout;
  guint32 source = quoit_node_source (layout, process->node);

  if (layout->sources[source].kind != QUOIT_SOURCE_KIND_RAYCLUSTER
      || quoit_webhook_prefers_address (layout, process->node))
    return;
  if (g_hash_table_add (notes->sources, GUINT_TO_POINTER (source)))
    quoit_topology_note_names (notes->topology, process);
  note_single_host (notes, process);
}

void
quoit_topology_quoit_notes (QuoitTopology *topology, guint32 n_slices)
{
  g_auto (Notes) notes = { .topology = topology, .n_slices = n_slices };

  notes.pools = g_hash_table_new (NULL, NULL);
  notes.sources = g_hash_table_new (NULL, NULL);
  notes.replaced = g_ptr_array_new ();
  notes.expanded = g_ptr_array_new ();
  note_addresses (topology);
  for (guint i = 0; i < topology->processes->len; i++)
    {
      check_process (&notes, &g_array_index (topology->processes, QuoitProcess, i));
      check_names (&notes, &g_array_index (topology->processes, QuoitProcess, i));
    }
  if (notes.replaced->len > 0)
    {
      g_autofree char *names = join (notes.replaced);

      quoit_topology_note (topology, "these values come from the place of the group, not from the manifest: %s", names);
    }
  if (notes.expanded->len > 0)
    {
      g_autofree char *names = join (notes.expanded);

      quoit_topology_note (topology, "Kubernetes would expand $(NAME) in %s: quoit does not", names);
    }
}
