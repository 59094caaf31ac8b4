/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes that the pods of an object without Ray need: JobSets, LeaderWorkerSets, Jobs, CronJobs, StatefulSets,
 * Deployments, ReplicaSets and Pods. */
#include "formats/raycluster.h"

#include <string.h>

#include "base/name-hash.h"
#include "formats/ray-kinds.h"
#include "models/ray/label-syntax.h"

typedef struct {
  const QuoitManifest *manifest;
  QuoitRayObject object; /* the object, described as a Ray object without Ray */
  GHashTable *names;     /* of nodes */
  QuoitClaims *claims;
  gint64 n_nodes;
  QuoitWorkload *workload;
} Reader;

void
quoit_workload_clear (QuoitWorkload *workload)
{
  g_free (workload->name);
  g_free (workload->namespace);
  g_free (workload->subdomain);
}

static gboolean
add_group (Reader *reader, QuoitWorkerGroup group)
{
  const QuoitManifest *manifest = reader->manifest;
  const gint64 pods_per_replica = group.hosts * MAX (group.slices_per_replica, 1);

  group.object = &reader->object;
  if (reader->object.is_suspended)
    group.replicas = 0;
  if (group.replicas <= QUOIT_MAX_NODES && pods_per_replica <= QUOIT_MAX_NODES)
    reader->n_nodes += group.replicas * pods_per_replica;
  if (group.replicas > QUOIT_MAX_NODES || pods_per_replica > QUOIT_MAX_NODES || reader->n_nodes > QUOIT_MAX_NODES)
    return quoit_tree_fail (manifest->tree, group.node, manifest->error,
                            "%" G_GINT64_FORMAT " times %" G_GINT64_FORMAT " pods: expected at most %u nodes in all",
                            group.replicas, pods_per_replica, (unsigned) QUOIT_MAX_NODES);
  return quoit_worker_group_add (manifest, &group, reader->names, reader->claims);
}

/* --- one function per kind --- */

static gboolean
read_job_group (Reader *reader, JsonNode *job, QuoitWorkerGroup group)
{
  group.node = job;
  group.hosts = 1;
  group.hosts_name = "parallelism";
  return quoit_manifest_find_count (reader->manifest, job, "parallelism", &group.hosts_node, &group.hosts)
         && add_group (reader, group);
}

static gboolean
read_job_spec (Reader *reader, JsonNode *spec, const char *pool)
{
  const QuoitManifest *manifest = reader->manifest;
  JsonNode *pod;
  const char *mode = NULL, *subdomain = NULL;

  if (!quoit_manifest_find_text (manifest, spec, "completionMode", NULL, &mode)
      || !quoit_manifest_find (manifest, spec, &pod, "template", "spec", NULL)
      || !quoit_manifest_find_text (manifest, pod, "subdomain", NULL, &subdomain))
    return FALSE;
  reader->workload->is_indexed = g_strcmp0 (mode, "Indexed") == 0;
  reader->workload->subdomain = g_strdup (subdomain);
  return read_job_group (
      reader, spec,
      (QuoitWorkerGroup) { .name = reader->object.name, .pool = pool, .replicas = 1, .naming = QUOIT_PODS_OF_JOB });
}

static gboolean
read_job (Reader *reader)
{
  return read_job_spec (reader, reader->object.spec, reader->object.name);
}

/* Kubernetes ends the names of the Jobs of a CronJob with the time of the run, in minutes. */
static gboolean
read_cron_job (Reader *reader)
{
  const QuoitManifest *manifest = reader->manifest;
  const char *cron_job = reader->object.name;
  g_autofree char *name = g_strconcat (cron_job, "-xxxxxxxx", NULL);
  JsonNode *job;

  if (!quoit_manifest_find (manifest, reader->object.spec, &job, "jobTemplate", "spec", NULL))
    return FALSE;
  if (job == NULL)
    return quoit_tree_fail (manifest->tree, reader->object.spec, manifest->error,
                            "no 'jobTemplate.spec': expected the spec of the jobs");
  reader->object.name = g_string_chunk_insert_const (manifest->texts, name);
  return read_job_spec (reader, job, cron_job);
}

static gboolean
read_replicated_job (Reader *reader, JsonNode *entry)
{
  const QuoitManifest *manifest = reader->manifest;
  QuoitWorkerGroup group = { .replicas = 1, .naming = QUOIT_PODS_OF_JOB_SET };
  g_autofree char *full = NULL;
  const char *name = NULL;
  JsonNode *job, *node;

  if (!quoit_manifest_find (manifest, entry, &node, "name", NULL)
      || !quoit_manifest_name (manifest, entry, node, "name", "replicated job", &name)
      || !quoit_manifest_find_count (manifest, entry, "replicas", NULL, &group.replicas)
      || !quoit_manifest_find (manifest, entry, &job, "template", "spec", NULL))
    return FALSE;
  if (job == NULL)
    return quoit_tree_fail (manifest->tree, entry, manifest->error,
                            "no 'template.spec': expected the spec of the jobs");
  full = g_strconcat (reader->object.name, "-", name, NULL);
  group.name = g_string_chunk_insert_const (manifest->texts, full);
  group.pool = name;
  return read_job_group (reader, job, group);
}

static gboolean
read_job_set (Reader *reader)
{
  JsonArray *jobs;

  if (!quoit_manifest_find_list (reader->manifest, reader->object.spec, "replicatedJobs", &jobs))
    return FALSE;
  if (jobs == NULL)
    return quoit_tree_fail (reader->manifest->tree, reader->object.spec, reader->manifest->error,
                            "no 'replicatedJobs': expected a list of them");
  for (guint i = 0; i < json_array_get_length (jobs); i++)
    if (!read_replicated_job (reader, json_array_get_element (jobs, i)))
      return FALSE;
  return TRUE;
}

/* quoit_pod_template_read() reads the member "template", but this template has another name. NULL for NULL. */
static JsonNode *
wrap_template (Reader *reader, JsonNode *template)
{
  JsonNode *wrapped;
  JsonObject *object;

  if (template == NULL)
    return NULL;
  wrapped = json_node_init_object (json_node_alloc (), NULL);
  object = json_object_new ();
  json_object_set_member (object, "template", json_node_ref (template));
  json_node_take_object (wrapped, object);
  quoit_tree_set_place (reader->manifest->tree, wrapped, quoit_tree_line (reader->manifest->tree, template),
                        quoit_tree_column (reader->manifest->tree, template));
  return wrapped;
}

/* Returns how many containers of the template request chips, as far as they can be read. */
static guint32
count_with_chips (const Reader *reader, JsonNode *wrapped)
{
  const QuoitManifest quiet = { .tree = reader->manifest->tree,
                                .set = reader->manifest->set,
                                .used = reader->manifest->used,
                                .texts = reader->manifest->texts };
  g_auto (QuoitPodTemplate) pod = { 0 };

  return quoit_pod_template_read (&quiet, wrapped, &pod) ? pod.n_with_chips : 0;
}

/* With subgroups, each of them is a slice. The leader is a host of the first one, or, if it has no chips, of none. */
static gboolean
read_subgroups (Reader *reader, JsonNode *template, QuoitWorkerGroup *workers)
{
  const QuoitManifest *manifest = reader->manifest;
  gint64 size = 0;
  const char *type = NULL;
  JsonNode *policy, *type_node, *node = NULL;

  if (!quoit_manifest_find (manifest, template, &policy, "subGroupPolicy", NULL)
      || !quoit_manifest_find_count (manifest, policy, "subGroupSize", &node, &size)
      || !quoit_manifest_find_text (manifest, policy, "subGroupPolicyType", &type_node, &type))
    return FALSE;
  if (node == NULL)
    return TRUE;
  if (g_strcmp0 (type, "LeaderExcluded") == 0 && workers->naming == QUOIT_PODS_OF_LEADER_SET)
    return quoit_manifest_refuse (manifest, type_node,
                                  "LeaderWorker, because the leader requests chips: the webhook of LeaderWorkerSet "
                                  "refuses such a leader without a subgroup");
  if (size == 0 || workers->hosts == 0 || workers->hosts % size != 0)
    return quoit_tree_fail (manifest->tree, node, manifest->error,
                            "subGroupSize %" G_GINT64_FORMAT ": expected a number that divides the %" G_GINT64_FORMAT
                            " pods with chips of a replica, because each subgroup is a slice",
                            size, workers->hosts);
  workers->slices_per_replica = (guint32) (workers->hosts / size);
  workers->hosts = size;
  workers->hosts_node = node;
  workers->hosts_name = "subGroupSize";
  reader->workload->slices_per_replica = workers->slices_per_replica;
  reader->workload->flags |= QUOIT_LWS_SUBGROUPS;
  return TRUE;
}

static gboolean
read_subdomains (Reader *reader)
{
  const QuoitManifest *manifest = reader->manifest;
  const char *policy = NULL;
  JsonNode *network;

  if (!quoit_manifest_find (manifest, reader->object.spec, &network, "networkConfig", NULL)
      || !quoit_manifest_find_text (manifest, network, "subdomainPolicy", NULL, &policy))
    return FALSE;
  if (g_strcmp0 (policy, "UniquePerReplica") == 0)
    reader->workload->flags |= QUOIT_LWS_OWN_SUBDOMAINS;
  return TRUE;
}

/* The leader is host 0 of the slice, or, if it has no chips, a pod of its own. */
static gboolean
read_leader_worker_set (Reader *reader)
{
  const QuoitManifest *manifest = reader->manifest;
  QuoitWorkerGroup workers = {
    .name = reader->object.name, .replicas = 1, .hosts = 1, .hosts_name = "size", .naming = QUOIT_PODS_OF_LEADER_SET
  };
  g_autoptr (JsonNode) leader = NULL, worker = NULL;
  JsonNode *template;

  if (!quoit_manifest_find (manifest, reader->object.spec, &template, "leaderWorkerTemplate", NULL)
      || !quoit_manifest_find_count (manifest, reader->object.spec, "replicas", NULL, &workers.replicas)
      || !quoit_manifest_find_count (manifest, template, "size", &workers.hosts_node, &workers.hosts))
    return FALSE;
  leader = wrap_template (reader, quoit_tree_member (template, "leaderTemplate"));
  worker = wrap_template (reader, quoit_tree_member (template, "workerTemplate"));
  if (worker == NULL)
    return quoit_tree_fail (manifest->tree, template == NULL ? reader->object.spec : template, manifest->error,
                            "no 'workerTemplate': expected the template of the pods");
  if (leader != NULL && count_with_chips (reader, leader) == 0)
    {
      QuoitWorkerGroup leaders = { .node = leader,
                                   .name = reader->object.name,
                                   .pool = "leaders",
                                   .replicas = workers.replicas,
                                   .hosts = 1,
                                   .naming = QUOIT_PODS_OF_STATEFUL };

      if (!add_group (reader, leaders))
        return FALSE;
      workers.naming = QUOIT_PODS_OF_LED_SET;
      workers.hosts = MAX (workers.hosts - 1, 0);
      reader->workload->flags |= QUOIT_LWS_LEADER_APART;
    }
  workers.node = worker;
  reader->workload->n_containers = count_with_chips (reader, worker);
  return read_subdomains (reader) && read_subgroups (reader, template, &workers) && add_group (reader, workers);
}

/* The pods of a Deployment or ReplicaSet end with random characters instead of a number. */
static gboolean
read_replicas (Reader *reader)
{
  QuoitWorkerGroup group = { .node = reader->object.spec,
                             .name = reader->object.name,
                             .replicas = 1,
                             .hosts = 1,
                             .naming = QUOIT_PODS_OF_STATEFUL };

  return quoit_manifest_find_count (reader->manifest, reader->object.spec, "replicas", NULL, &group.replicas)
         && add_group (reader, group);
}

static gboolean
read_pod (Reader *reader)
{
  QuoitWorkerGroup group = { .name = reader->object.name, .replicas = 1, .hosts = 1, .naming = QUOIT_PODS_SINGLE };
  g_autoptr (JsonNode) wrapped = wrap_template (reader, reader->object.document);

  group.node = wrapped;
  return add_group (reader, group);
}

static const struct {
  const char *kind;
  gboolean (*read) (Reader *reader);
  QuoitProfile profile;
  gboolean is_secondary; /* read only in a file without the other kinds */
} kinds[] = {
  { "JobSet", read_job_set, QUOIT_PROFILE_JOBSET, FALSE },
  { "LeaderWorkerSet", read_leader_worker_set, QUOIT_PROFILE_LWS, FALSE },
  { "Job", read_job, QUOIT_PROFILE_JOB, FALSE },
  { "StatefulSet", read_replicas, QUOIT_PROFILE_JOB, FALSE },
  { "Pod", read_pod, QUOIT_PROFILE_JOB, FALSE },
  { "CronJob", read_cron_job, QUOIT_PROFILE_JOB, TRUE },
  { "Deployment", read_replicas, QUOIT_PROFILE_JOB, TRUE },
  { "ReplicaSet", read_replicas, QUOIT_PROFILE_JOB, TRUE },
};

/* --- the object --- */

static const char *
kind_of (JsonNode *document)
{
  JsonNode *node = quoit_tree_member (document, "kind");

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

static int
find_kind (JsonNode *document)
{
  const char *kind = kind_of (document);

  for (guint i = 0; kind != NULL && i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].kind, kind) == 0)
      return (int) i;
  return -1;
}

static gboolean
refuse_second (const QuoitManifest *manifest, JsonNode *first, JsonNode *second)
{
  return quoit_tree_fail (
      manifest->tree, quoit_tree_member (second, "kind"), manifest->error,
      "a second object that makes pods, %s, after %s in line %u: expected one per file, because each "
      "is a separate source",
      kind_of (second), kind_of (first), quoit_tree_line (manifest->tree, quoit_tree_member (first, "kind")));
}

static gboolean
is_node (JsonNode *document)
{
  const char *kind = kind_of (document);

  return g_strcmp0 (kind, "Node") == 0 || g_strcmp0 (kind, "NodeList") == 0;
}

/* Sets *@found to the object, or to NULL if the file has none. The Jobs of a file with a Ray object may do something
 * else, and the Pods of a file with nodes are not a manifest. Deployments and similar objects in a file with a JobSet,
 * Job or Pod do something else too. */
static gboolean
find_object (const QuoitManifest *manifest, JsonNode **found)
{
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);
  JsonNode *first[2] = { NULL, NULL }, *second[2] = { NULL, NULL };
  gboolean is_secondary;
  QuoitRayKind ray;

  *found = NULL;
  if (documents == NULL)
    return FALSE;
  for (guint i = 0; i < documents->len; i++)
    {
      JsonNode *document = documents->pdata[i];
      int kind = find_kind (document);

      if (quoit_ray_kind_find (kind_of (document), &ray) || is_node (document))
        return TRUE;
      if (kind < 0)
        continue;
      is_secondary = kinds[kind].is_secondary;
      if (first[is_secondary] == NULL)
        first[is_secondary] = document;
      else if (second[is_secondary] == NULL)
        second[is_secondary] = document;
    }
  is_secondary = first[FALSE] == NULL;
  *found = first[is_secondary];
  return second[is_secondary] == NULL || refuse_second (manifest, *found, second[is_secondary]);
}

static gboolean
read_object (Reader *reader, JsonNode *document)
{
  const QuoitManifest *manifest = reader->manifest;
  QuoitRayObject *object = &reader->object;
  const char *namespace = NULL;
  JsonNode *metadata, *name;

  object->document = document;
  object->kind = kind_of (document);
  if (!quoit_manifest_find (manifest, document, &metadata, "metadata", NULL)
      || !quoit_manifest_find (manifest, metadata, &name, "name", NULL)
      || !quoit_manifest_name (manifest, metadata == NULL ? document : metadata, name, "name", object->kind,
                               &object->name)
      || !quoit_manifest_find_text (manifest, metadata, "namespace", NULL, &namespace)
      || !quoit_manifest_find (manifest, document, &object->spec, "spec", NULL))
    return FALSE;
  reader->workload->namespace = g_strdup (namespace);
  if (object->spec == NULL)
    return quoit_tree_fail (manifest->tree, document, manifest->error, "no 'spec': expected the spec of the %s",
                            object->kind);
  object->cluster = object->name;
  return quoit_manifest_find_boolean (manifest, object->spec, "suspend", &object->is_suspended);
}

gboolean
quoit_workload_read (const QuoitManifest *manifest, const char *source, QuoitWorkload *workload, QuoitClaims **claims)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  g_autoptr (QuoitClaims) result = NULL;
  g_auto (QuoitWorkload) unused = { 0 };
  Reader reader = { .manifest = manifest, .names = names, .workload = workload == NULL ? &unused : workload };
  JsonNode *document;

  *claims = NULL;
  if (!find_object (manifest, &document))
    return FALSE;
  if (document == NULL)
    return TRUE;
  if (!read_object (&reader, document))
    return FALSE;
  reader.claims = result
      = quoit_claims_new (source != NULL ? source : reader.object.name, QUOIT_SOURCE_KIND_RAYCLUSTER);
  reader.workload->profile = kinds[find_kind (document)].profile;
  reader.workload->slices_per_replica = reader.workload->n_containers = 1;
  if (!kinds[find_kind (document)].read (&reader))
    return FALSE;
  reader.workload->name = g_strdup (reader.object.name);
  *claims = g_steal_pointer (&result);
  return TRUE;
}
