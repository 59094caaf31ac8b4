/* SPDX-License-Identifier: Apache-2.0 */
#include "base/label-names.h"
#include "formats/raycluster.h"
#include "models/ray/label-syntax.h"

#include <string.h>

/* The state while one group is added to the claims. */
typedef struct {
  const QuoitManifest *manifest;
  const QuoitWorkerGroup *group;
  const QuoitPodTemplate *pod;
  QuoitRayParams *params;
  QuoitSliceFacts facts; /* set if is_tpu */
  gboolean is_tpu;
} GroupBuilder;

static gboolean
read_topology (GroupBuilder *builder, QuoitGeneration *generation, QuoitShape *shape)
{
  const QuoitManifest *manifest = builder->manifest;
  const QuoitPodTemplate *pod = builder->pod;

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
    return quoit_manifest_prefix_place (manifest, pod->accelerator_node);
  if (!quoit_shape_parse (pod->topology, shape, manifest->error)
      || !quoit_shape_check (*generation, *shape, manifest->error))
    return quoit_manifest_prefix_place (manifest, pod->topology_node);
  return TRUE;
}

static gboolean
is_of_job (const QuoitWorkerGroup *group)
{
  return group->naming == QUOIT_PODS_OF_JOB_SET || group->naming == QUOIT_PODS_OF_JOB;
}

/* Each pod of a job can have a slice with one host of its own. */
static gboolean
is_slice_per_pod (const GroupBuilder *builder)
{
  return builder->is_tpu && builder->facts.hosts == 1 && builder->group->hosts > 1;
}

/* Checks the number of hosts. The webhook refuses only some of the numbers for which no slice exists. */
static gboolean
check_hosts (const GroupBuilder *builder)
{
  const QuoitManifest *manifest = builder->manifest;
  const QuoitWorkerGroup *group = builder->group;
  JsonNode *at = group->hosts_node != NULL ? group->hosts_node : group->node;
  const char *name = group->hosts_name == NULL ? "numOfHosts" : group->hosts_name;
  g_autofree char *what = NULL;

  if (group->hosts == builder->facts.hosts || (is_of_job (group) && is_slice_per_pod (builder)))
    return TRUE;
  if (group->is_head || group->naming >= QUOIT_PODS_OF_STATEFUL)
    return quoit_tree_fail (manifest->tree, builder->pod->topology_node, manifest->error,
                            "topology '%s' has %u hosts with %u chips per pod: expected 1, because the %s is one pod",
                            builder->pod->topology, builder->facts.hosts, builder->pod->chips,
                            group->is_head ? "head" : "slice");
  what = group->hosts_node == NULL ? g_strdup_printf ("no '%s', which means ", name) : g_strconcat (name, " ", NULL);
  return quoit_tree_fail (manifest->tree, at, manifest->error,
                          "%s%" G_GINT64_FORMAT ": expected %u, the hosts of topology '%s' with %u chips per pod", what,
                          group->hosts, builder->facts.hosts, builder->pod->topology, builder->pod->chips);
}

static gboolean
read_facts (GroupBuilder *builder)
{
  QuoitGeneration generation = QUOIT_GENERATION_NONE;
  QuoitShape shape = { 0 };

  builder->is_tpu = builder->pod->chips > 0;
  if (!builder->is_tpu)
    return TRUE;
  if (!read_topology (builder, &generation, &shape))
    return FALSE;
  if (!quoit_slice_facts (generation, shape, builder->pod->chips, &builder->facts, builder->manifest->error))
    return quoit_manifest_prefix_place (builder->manifest, builder->pod->chips_node);
  return check_hosts (builder);
}

static void
set_default (GHashTable *labels, const char *key, const char *value)
{
  if (value != NULL && !g_hash_table_contains (labels, key))
    g_hash_table_insert (labels, g_strdup (key), g_strdup (value));
}

static gboolean
set_default_amount (GroupBuilder *builder, const char *name, QuoitAmount amount)
{
  GHashTable *resources = builder->params->resources;

  if (!g_hash_table_contains (resources, name))
    g_hash_table_insert (resources, g_strdup (name), g_memdup2 (&amount.e4, sizeof amount.e4));
  return TRUE;
}

/* A TPU resource in the manifest replaces the number of chips that Ray detects. It may count chips or JAX devices. */
static gboolean
check_given_tpu (const GroupBuilder *builder)
{
  const int64_t *given = g_hash_table_lookup (builder->params->resources, "TPU");
  unsigned devices = builder->is_tpu ? quoit_generation_facts (builder->facts.generation)->devices_per_chip : 1;
  int64_t chips = quoit_amount_from_int (builder->pod->chips).e4;

  if (given == NULL || *given == chips || *given == chips * devices)
    return TRUE;
  return quoit_tree_fail (builder->manifest->tree, builder->group->node, builder->manifest->error,
                          "resource TPU %" G_GINT64_FORMAT ": expected the %u chips that the containers request",
                          (gint64) (*given / QUOIT_AMOUNT_UNIT), builder->pod->chips);
}

static void
set_resources (GroupBuilder *builder)
{
  const QuoitPodTemplate *pod = builder->pod;
  const char *word = builder->is_tpu ? quoit_generation_facts (builder->facts.generation)->ray_resource : NULL;

  set_default_amount (builder, "CPU", pod->ray_cpu);
  set_default_amount (builder, "memory", pod->ray_memory);
  set_default_amount (builder, "GPU", pod->gpu);
  set_default_amount (builder, "TPU", quoit_amount_from_int (pod->chips));
  if (word != NULL)
    {
      g_autofree char *name = g_strconcat ("accelerator_type:", word, NULL);

      set_default_amount (builder, name, quoit_amount_from_int (1));
    }
}

static void
set_labels (GroupBuilder *builder, const char *topology, const char *pod_type)
{
  GHashTable *labels = builder->params->labels;
  const QuoitPodTemplate *pod = builder->pod;

  set_default (labels, QUOIT_RAY_LABEL_NODE_GROUP, builder->group->name);
  set_default (labels, QUOIT_RAY_LABEL_ZONE, pod->zone);
  set_default (labels, QUOIT_RAY_LABEL_REGION, pod->region);
  set_default (labels, QUOIT_RAY_LABEL_MARKET_TYPE, pod->is_spot ? "spot" : NULL);
  set_default (labels, QUOIT_RAY_LABEL_TOPOLOGY, topology);
  set_default (labels, QUOIT_RAY_LABEL_POD_TYPE, pod_type);
  if (builder->is_tpu)
    set_default (labels, QUOIT_RAY_LABEL_ACCELERATOR_TYPE,
                 quoit_generation_facts (builder->facts.generation)->ray_resource);
}

static guint32
make_kind (GroupBuilder *builder, QuoitClaims *claims)
{
  g_autofree char *topology = builder->is_tpu ? quoit_shape_format (builder->facts.shape) : NULL;
  g_autofree char *pod_type
      = builder->is_tpu ? quoit_pod_type_format (builder->facts.generation, builder->facts.shape) : NULL;
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (QuoitPair));
  g_autoptr (GArray) resources = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  QuoitNodeKind kind = { .topology = topology, .pod_type = pod_type };
  GHashTableIter iter;
  gpointer key, value;

  if (builder->is_tpu)
    {
      kind.generation = builder->facts.generation;
      kind.shape = builder->facts.shape;
      kind.chips = (guint16) builder->pod->chips;
    }
  set_labels (builder, topology, pod_type);
  set_resources (builder);
  g_hash_table_iter_init (&iter, builder->params->labels);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      QuoitPair pair = { key, value };

      g_array_append_val (labels, pair);
    }
  g_hash_table_iter_init (&iter, builder->params->resources);
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
  return quoit_claims_intern_kind (claims, &kind, NULL);
}

static void
fill_pool (const GroupBuilder *builder, guint32 index, QuoitClaims *claims)
{
  QuoitPoolClaim *pool = quoit_claims_pool_at (claims, index);
  guint32 n_pods
      = (guint32) (builder->group->replicas * builder->group->hosts) * MAX (builder->group->slices_per_replica, 1);

  pool->pod_cpu = quoit_sum_add_times (pool->pod_cpu, builder->pod->cpu, n_pods);
  pool->pod_memory = quoit_sum_add_times (pool->pod_memory, builder->pod->memory, n_pods);
  pool->n_pods = builder->group->is_head ? 0 : n_pods;
  quoit_claims_set_pool_env (claims, index, (const QuoitPair *) (void *) builder->pod->env->data,
                             (guint16) builder->pod->env->len);
}

static gint64
count_slices (const GroupBuilder *builder)
{
  const QuoitWorkerGroup *group = builder->group;

  return group->replicas * MAX (group->slices_per_replica, 1) * (is_slice_per_pod (builder) ? group->hosts : 1);
}

/* Returns the slice name that the manifest sets as TPU_NAME, or NULL. Several slices cannot have one name, so
 * a group with several slices gets a warning instead. LeaderWorkerSet overrides the variable. */
static const char *
given_slice_name (const GroupBuilder *builder, QuoitClaims *claims)
{
  const QuoitPodNaming naming = builder->group->naming;
  const char *name = builder->pod->tpu_name;

  if (naming == QUOIT_PODS_OF_LEADER_SET || naming == QUOIT_PODS_OF_LED_SET)
    return NULL;
  if (name == NULL || count_slices (builder) <= 1)
    return name;
  quoit_claims_warn (claims,
                     "line %u: TPU_NAME '%s' in %" G_GINT64_FORMAT " slices, which Ray would treat as one slice: "
                     "quoit names them '%s-0' and so on",
                     quoit_tree_line (builder->manifest->tree, builder->pod->tpu_name_node), name,
                     count_slices (builder), builder->group->name);
  return NULL;
}

/* Two groups can give the same name to a node: replica 0, host 1 of group "a" and replica 1 of group "a-0" are both
 * "a-0-1". */
static gboolean
add_node_name (const GroupBuilder *builder, const char *name, GHashTable *names)
{
  if (g_hash_table_add (names, g_strdup (name)))
    return TRUE;
  return quoit_tree_fail (builder->manifest->tree, builder->group->node, builder->manifest->error,
                          "node name '%s' is also that of a node of another group: expected group names that give "
                          "each node its own name",
                          name);
}

static void
format_replica_name (const QuoitWorkerGroup *group, gint64 replica, GString *name)
{
  if (group->naming == QUOIT_PODS_OF_JOB || group->naming == QUOIT_PODS_SINGLE)
    g_string_assign (name, group->name);
  else
    g_string_printf (name, "%s-%" G_GINT64_FORMAT, group->name, replica);
}

/* @pod is the index of the pod in the replica. */
static void
format_node_name (const QuoitWorkerGroup *group, gint64 replica, gint64 pod, GString *name)
{
  const gboolean has_index = group->naming == QUOIT_PODS_OF_RAY          ? group->hosts > 1
                             : group->naming == QUOIT_PODS_OF_LEADER_SET ? pod > 0
                                                                         : group->naming < QUOIT_PODS_OF_STATEFUL;

  if (group->is_head)
    g_string_assign (name, group->node_name);
  else
    format_replica_name (group, replica, name);
  if (has_index)
    g_string_append_printf (name, "-%" G_GINT64_FORMAT, group->naming == QUOIT_PODS_OF_LED_SET ? pod + 1 : pod);
}

/* Kubernetes has no name for a subgroup of a LeaderWorkerSet. */
static void
format_slice_name (const QuoitWorkerGroup *group, gint64 replica, gint64 subgroup, GString *name)
{
  format_replica_name (group, replica, name);
  if (group->slices_per_replica > 1)
    g_string_append_printf (name, "-subgroup-%" G_GINT64_FORMAT, subgroup);
}

static gboolean
add_nodes (GroupBuilder *builder, guint32 pool, GHashTable *names, QuoitClaims *claims)
{
  const QuoitWorkerGroup *group = builder->group;
  QuoitNodeClaim node = { .pool = pool, .kind = make_kind (builder, claims) };
  const char *given = given_slice_name (builder, claims);
  const gint64 n_subgroups = MAX (group->slices_per_replica, 1);
  const gboolean has_own_slice = is_slice_per_pod (builder);
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GString) slice = g_string_new (NULL);

  node.flags = (group->is_head ? QUOIT_NODE_RAY_HEAD : 0) | (group->object->is_assumed ? QUOIT_NODE_ASSUMED_NAME : 0);
  for (gint64 i = 0; i < group->replicas * n_subgroups; i++)
    {
      const gint64 replica = i / n_subgroups, subgroup = i % n_subgroups;

      format_slice_name (group, replica, subgroup, slice);
      for (gint64 host = 0; host < group->hosts; host++)
        {
          format_node_name (group, replica, subgroup * group->hosts + host, name);
          if (!add_node_name (builder, name->str, names))
            return FALSE;
          node.name = name->str;
          node.slice = !builder->is_tpu ? NULL : given != NULL ? given : has_own_slice ? name->str : slice->str;
          node.worker_id = !builder->is_tpu ? -1 : has_own_slice ? 0 : (gint32) host;
          quoit_claims_add (claims, &node);
        }
    }
  return TRUE;
}

/* With dynamic slicing, an annotation has the topology of the slice that GKE makes for the pods. */
static gboolean
read_slice_topology (const QuoitManifest *manifest, const QuoitWorkerGroup *group, QuoitPodTemplate *pod)
{
  if (group->naming == QUOIT_PODS_OF_RAY || pod->topology != NULL)
    return TRUE;
  return quoit_manifest_find (manifest, group->node, &pod->topology_node, "template", "metadata", "annotations",
                              QUOIT_GKE_ANNOTATION_SLICE_TOPOLOGY, NULL)
         && (pod->topology_node == NULL || quoit_manifest_text (manifest, pod->topology_node, &pod->topology));
}

gboolean
quoit_worker_group_add (const QuoitManifest *manifest, const QuoitWorkerGroup *group, GHashTable *names,
                        QuoitClaims *claims)
{
  g_auto (QuoitPodTemplate) pod = { 0 };
  g_auto (QuoitRayParams) params = { 0 };
  GroupBuilder builder = { .manifest = manifest, .group = group, .pod = &pod, .params = &params };
  guint32 pool;

  if (!quoit_pod_template_read (manifest, group->node, &pod) || !read_slice_topology (manifest, group, &pod)
      || !quoit_ray_params_read (manifest, group->node, &params) || !read_facts (&builder)
      || !check_given_tpu (&builder) || !quoit_worker_group_read_devices (manifest, group, &params, claims))
    return FALSE;
  if (pod.tpu_name != NULL && !quoit_label_check_value (pod.tpu_name, manifest->error))
    return quoit_manifest_prefix_place (manifest, pod.tpu_name_node);
  if ((pod.zone != NULL && !quoit_label_check_value (pod.zone, manifest->error))
      || (pod.region != NULL && !quoit_label_check_value (pod.region, manifest->error)))
    return quoit_manifest_prefix_place (manifest, group->node);

  pool = quoit_claims_ensure_pool (claims, group->pool != NULL ? group->pool : group->name);
  fill_pool (&builder, pool, claims);
  return add_nodes (&builder, pool, names, claims);
}
