/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/raycluster.h"
#include "fleet/labels.h"

#include <string.h>

typedef struct {
  const QuoitManifest *manifest;
  const QuoitRayGroup *group;
  const QuoitPod *pod;
  QuoitRayParams *params;
  QuoitSliceFacts facts; /* of a TPU group */
  gboolean is_tpu;
} Group;

static gboolean
read_topology (Group *group, QuoitGeneration *generation, QuoitShape *shape)
{
  const QuoitManifest *manifest = group->manifest;
  const QuoitPod *pod = group->pod;

  if (pod->accelerator == NULL)
    return quoit_tree_fail (
        manifest->tree, pod->chips_node, manifest->error,
        "chips without a node selector 'cloud.google.com/gke-tpu-accelerator': expected one such as "
        "'tpu-v6e-slice'");
  if (pod->topology == NULL)
    return quoit_tree_fail (
        manifest->tree, pod->chips_node, manifest->error,
        "chips without a node selector 'cloud.google.com/gke-tpu-topology': expected one such as '4x4'");
  if (!quoit_generation_parse (pod->accelerator, generation, manifest->error))
    return quoit_manifest_pass_on (manifest, pod->accelerator_node);
  if (!quoit_shape_parse (pod->topology, shape, manifest->error)
      || !quoit_shape_check (*generation, *shape, manifest->error))
    return quoit_manifest_pass_on (manifest, pod->topology_node);
  return TRUE;
}

/* Checks the number of hosts: the webhook denies some wrong numbers, but accepts others although no such slice
 * exists. */
static gboolean
check_hosts (const Group *group)
{
  const QuoitManifest *manifest = group->manifest;
  const QuoitRayGroup *of = group->group;
  JsonNode *at = of->hosts_node != NULL ? of->hosts_node : of->node;

  if (of->hosts == group->facts.hosts)
    return TRUE;
  if (of->is_head)
    return quoit_tree_fail (manifest->tree, group->pod->topology_node, manifest->error,
                            "topology '%s' has %u hosts with %u chips a pod: expected 1, the head is one pod",
                            group->pod->topology, group->facts.hosts, group->pod->chips);
  return quoit_tree_fail (manifest->tree, at, manifest->error,
                          "%s%" G_GINT64_FORMAT ": expected %u, which topology '%s' has with %u chips a pod",
                          of->hosts_node == NULL ? "no 'numOfHosts', which means " : "numOfHosts ", of->hosts,
                          group->facts.hosts, group->pod->topology, group->pod->chips);
}

static gboolean
read_facts (Group *group)
{
  QuoitGeneration generation = QUOIT_GENERATION_NONE;
  QuoitShape shape = { 0 };

  group->is_tpu = group->pod->chips > 0;
  if (!group->is_tpu)
    return TRUE;
  if (!read_topology (group, &generation, &shape))
    return FALSE;
  if (!quoit_slice_facts (generation, shape, group->pod->chips, &group->facts, group->manifest->error))
    return quoit_manifest_pass_on (group->manifest, group->pod->chips_node);
  return check_hosts (group);
}

static void
set_default (GHashTable *labels, const char *key, const char *value)
{
  if (value != NULL && !g_hash_table_contains (labels, key))
    g_hash_table_insert (labels, g_strdup (key), g_strdup (value));
}

static gboolean
set_default_amount (Group *group, const char *name, QuoitAmount amount)
{
  GHashTable *resources = group->params->resources;

  if (!g_hash_table_contains (resources, name))
    g_hash_table_insert (resources, g_strdup (name), g_memdup2 (&amount.e4, sizeof amount.e4));
  return TRUE;
}

/* A given TPU resource replaces the detected one. It counts chips or JAX devices. */
static gboolean
check_given_tpu (const Group *group)
{
  const int64_t *given = g_hash_table_lookup (group->params->resources, "TPU");
  unsigned devices = group->is_tpu ? quoit_generation_facts (group->facts.generation)->devices_per_chip : 1;
  int64_t chips = quoit_amount_from_int (group->pod->chips).e4;

  if (given == NULL || *given == chips || *given == chips * devices)
    return TRUE;
  return quoit_tree_fail (group->manifest->tree, group->group->node, group->manifest->error,
                          "resource TPU %" G_GINT64_FORMAT ": expected the %u chips that the containers ask for",
                          (gint64) (*given / QUOIT_AMOUNT_UNIT), group->pod->chips);
}

static void
set_resources (Group *group)
{
  const QuoitPod *pod = group->pod;
  const char *word = group->is_tpu ? quoit_generation_facts (group->facts.generation)->ray_resource : NULL;

  set_default_amount (group, "CPU", pod->ray_cpu);
  set_default_amount (group, "memory", pod->ray_memory);
  set_default_amount (group, "GPU", pod->gpu);
  set_default_amount (group, "TPU", quoit_amount_from_int (pod->chips));
  if (word != NULL)
    {
      g_autofree char *name = g_strconcat ("accelerator_type:", word, NULL);

      set_default_amount (group, name, quoit_amount_from_int (1));
    }
}

static void
set_labels (Group *group, const char *topology, const char *pod_type)
{
  GHashTable *labels = group->params->labels;
  const QuoitPod *pod = group->pod;

  set_default (labels, "ray.io/node-group", group->group->name);
  set_default (labels, "ray.io/availability-zone", pod->zone);
  set_default (labels, "ray.io/availability-region", pod->region);
  set_default (labels, "ray.io/market-type", pod->is_spot ? "spot" : NULL);
  set_default (labels, "ray.io/tpu-topology", topology);
  set_default (labels, "ray.io/tpu-pod-type", pod_type);
  if (group->is_tpu)
    set_default (labels, "ray.io/accelerator-type", quoit_generation_facts (group->facts.generation)->ray_resource);
}

static guint32
make_kind (Group *group, QuoitClaims *claims)
{
  g_autofree char *topology = group->is_tpu ? quoit_shape_format (group->facts.shape) : NULL;
  g_autofree char *pod_type
      = group->is_tpu ? quoit_pod_type_format (group->facts.generation, group->facts.shape) : NULL;
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (QuoitPair));
  g_autoptr (GArray) resources = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  QuoitNodeKind kind = { .topology = topology, .pod_type = pod_type };
  GHashTableIter iter;
  gpointer key, value;

  if (group->is_tpu)
    {
      kind.generation = group->facts.generation;
      kind.shape = group->facts.shape;
      kind.chips = (guint16) group->pod->chips;
    }
  set_labels (group, topology, pod_type);
  set_resources (group);
  g_hash_table_iter_init (&iter, group->params->labels);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      QuoitPair pair = { key, value };

      g_array_append_val (labels, pair);
    }
  g_hash_table_iter_init (&iter, group->params->resources);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      QuoitResource resource = { key, { *(int64_t *) value } };

      /* Ray treats an amount of 0 as absent. */
      if (resource.amount.e4 > 0)
        g_array_append_val (resources, resource);
    }
  kind.labels = (const QuoitPair *) (void *) labels->data;
  kind.n_labels = (guint16) labels->len;
  kind.resources = (const QuoitResource *) (void *) resources->data;
  kind.n_resources = (guint16) resources->len;
  return quoit_claims_kind (claims, &kind, NULL);
}

static void
fill_pool (const Group *group, guint32 index, QuoitClaims *claims)
{
  QuoitPoolClaim *pool = quoit_claims_pool_at (claims, index);
  guint32 n_pods = (guint32) (group->group->replicas * group->group->hosts);

  pool->pod_cpu = quoit_sum_add_times (pool->pod_cpu, group->pod->cpu, n_pods);
  pool->pod_memory = quoit_sum_add_times (pool->pod_memory, group->pod->memory, n_pods);
  pool->n_pods = group->group->is_head ? 0 : n_pods;
  quoit_claims_set_pool_env (claims, index, (const QuoitPair *) (void *) group->pod->env->data,
                             (guint16) group->pod->env->len);
}

/* Returns the slice name of the manifest, which can only apply to a group with one slice. */
static const char *
given_slice_name (const Group *group, QuoitClaims *claims)
{
  const char *name = group->pod->tpu_name;

  if (name == NULL || group->group->replicas <= 1)
    return name;
  quoit_claims_warn (claims,
                     "line %u: TPU_NAME '%s' in %" G_GINT64_FORMAT " slices, which Ray would take for one: "
                     "they are called '%s-0' and so on here",
                     quoit_tree_line (group->manifest->tree, group->pod->tpu_name_node), name, group->group->replicas,
                     group->group->name);
  return NULL;
}

/* Names may collide: group "a" with replica 0 and host 1, and group "a-0" with replica 1, are both "a-0-1". */
static gboolean
take_name (const Group *group, const char *name, GHashTable *names)
{
  if (g_hash_table_add (names, g_strdup (name)))
    return TRUE;
  return quoit_tree_fail (
      group->manifest->tree, group->group->node, group->manifest->error,
      "node name '%s': expected group names that give each node a name of its own, another group has "
      "that node",
      name);
}

static gboolean
add_nodes (Group *group, guint32 pool, GHashTable *names, QuoitClaims *claims)
{
  const QuoitRayGroup *of = group->group;
  QuoitNodeClaim node = { .pool = pool, .kind = make_kind (group, claims) };
  const char *given = given_slice_name (group, claims);
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GString) slice = g_string_new (NULL);

  node.flags = (of->is_head ? QUOIT_NODE_RAY_HEAD : 0) | (of->object->is_assumed ? QUOIT_NODE_ASSUMED_NAME : 0);
  for (gint64 replica = 0; replica < of->replicas; replica++)
    {
      g_string_printf (slice, "%s-%" G_GINT64_FORMAT, of->name, replica);
      for (gint64 host = 0; host < of->hosts; host++)
        {
          g_string_assign (name, of->is_head ? of->node_name : slice->str);
          if (of->hosts > 1)
            g_string_append_printf (name, "-%" G_GINT64_FORMAT, host);
          if (!take_name (group, name->str, names))
            return FALSE;
          node.name = name->str;
          node.slice = !group->is_tpu ? NULL : given != NULL ? given : slice->str;
          node.worker_id = group->is_tpu ? (gint32) host : -1;
          quoit_claims_add (claims, &node);
        }
    }
  return TRUE;
}

gboolean
quoit_ray_group_add (const QuoitManifest *manifest, const QuoitRayGroup *of, GHashTable *names, QuoitClaims *claims)
{
  g_auto (QuoitPod) pod = { 0 };
  g_auto (QuoitRayParams) params = { 0 };
  Group group = { .manifest = manifest, .group = of, .pod = &pod, .params = &params };
  guint32 pool;

  if (!quoit_pod_read (manifest, of->node, &pod) || !quoit_ray_params_read (manifest, of->node, &params)
      || !read_facts (&group) || !check_given_tpu (&group) || !quoit_ray_devices_read (manifest, of, &params, claims))
    return FALSE;
  if (pod.tpu_name != NULL && !quoit_label_check_value (pod.tpu_name, manifest->error))
    return quoit_manifest_pass_on (manifest, pod.tpu_name_node);
  if ((pod.zone != NULL && !quoit_label_check_value (pod.zone, manifest->error))
      || (pod.region != NULL && !quoit_label_check_value (pod.region, manifest->error)))
    return quoit_manifest_pass_on (manifest, of->node);

  pool = quoit_claims_pool (claims, of->name);
  fill_pool (&group, pool, claims);
  return add_nodes (&group, pool, names, claims);
}
