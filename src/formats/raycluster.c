/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/raycluster.h"

#include <string.h>

#include "base/name-hash.h"
#include "formats/variables.h"
#include "formats/yaml.h"
#include "models/kuberay/names.h"
#include "models/ray/label-syntax.h"

/* KubeRay's name for the head's group. */
static const char head_group_name[] = "headgroup";

gboolean
quoit_replica_counts_read (const QuoitManifest *manifest, JsonNode *group, QuoitReplicaCounts *counts)
{
  *counts = (QuoitReplicaCounts) { .max_replicas = G_MAXINT32, .hosts = 1 };
  return quoit_manifest_find_count (manifest, group, "replicas", &counts->replicas_node, &counts->replicas)
         && quoit_manifest_find_count (manifest, group, "minReplicas", NULL, &counts->min_replicas)
         && quoit_manifest_find_count (manifest, group, "maxReplicas", NULL, &counts->max_replicas)
         && quoit_manifest_find_count (manifest, group, "numOfHosts", &counts->hosts_node, &counts->hosts)
         && quoit_manifest_find_boolean (manifest, group, "suspend", &counts->is_suspended);
}

/* Computes the replicas as KubeRay does, but refuses more pods than a fleet can have. */
static gboolean
read_replicas (const QuoitManifest *manifest, QuoitWorkerGroup *group)
{
  QuoitReplicaCounts counts;
  gint64 replicas;

  if (!quoit_replica_counts_read (manifest, group->node, &counts))
    return FALSE;

  group->hosts = counts.hosts;
  group->hosts_node = counts.hosts_node;
  replicas = quoit_kuberay_replicas (counts.replicas, counts.min_replicas, counts.max_replicas);
  if (replicas * group->hosts > QUOIT_MAX_NODES)
    return quoit_tree_fail (manifest->tree, counts.replicas_node != NULL ? counts.replicas_node : group->node,
                            manifest->error,
                            "%" G_GINT64_FORMAT " replicas of %" G_GINT64_FORMAT " hosts: expected at most %u pods%s",
                            replicas, group->hosts, (unsigned) QUOIT_MAX_NODES,
                            replicas * group->hosts > G_MAXINT32 ? ", KubeRay itself would count wrongly" : "");
  group->replicas = counts.is_suspended || group->object->is_suspended ? 0 : replicas;
  return TRUE;
}

gboolean
quoit_worker_group_read_name (const QuoitManifest *manifest, JsonNode *group, GHashTable *groups, const char **name)
{
  JsonNode *node;

  if (!quoit_manifest_find (manifest, group, &node, "groupName", NULL))
    return FALSE;
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, group, manifest->error, "no 'groupName': expected the name of the group");
  if (!quoit_manifest_text (manifest, node, name))
    return FALSE;
  if (!quoit_label_check_value (*name, manifest->error))
    return quoit_manifest_prefix_place (manifest, node);
  if (**name == '\0' || strcmp (*name, head_group_name) == 0)
    return quoit_manifest_refuse (manifest, node, "a name for the group, other than 'headgroup', which is the head's");
  if (!g_hash_table_add (groups, (char *) *name))
    return quoit_manifest_refuse (manifest, node, "each groupName once");
  return TRUE;
}

static gboolean
add_head (const QuoitManifest *manifest, const QuoitRayObject *object, GHashTable *names, QuoitClaims *claims)
{
  g_autofree char *node_name = g_strconcat (object->cluster, "-head", NULL);
  QuoitWorkerGroup head
      = { .object = object, .name = head_group_name, .is_head = TRUE, .node_name = node_name, .hosts = 1 };

  if (!quoit_manifest_find (manifest, object->spec, &head.node, "headGroupSpec", NULL))
    return FALSE;
  if (head.node == NULL)
    return quoit_tree_fail (manifest->tree, object->spec, manifest->error,
                            "no 'headGroupSpec': expected the head's group");
  head.replicas = object->is_suspended ? 0 : 1;
  return quoit_worker_group_add (manifest, &head, names, claims);
}

static gboolean
add_workers (const QuoitManifest *manifest, const QuoitRayObject *object, GHashTable *names, QuoitClaims *claims)
{
  g_autoptr (GHashTable) groups = g_hash_table_new (quoit_hash_text, g_str_equal);
  gint64 n_nodes = 1;
  JsonNode *node;
  JsonArray *array;

  if (!quoit_manifest_find (manifest, object->spec, &node, "workerGroupSpecs", NULL))
    return FALSE;
  if (node == NULL)
    return TRUE;
  if (!quoit_tree_array (manifest->tree, node, &array, manifest->error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      QuoitWorkerGroup group = { .object = object, .node = json_array_get_element (array, i) };

      if (!quoit_worker_group_read_name (manifest, group.node, groups, &group.name)
          || !read_replicas (manifest, &group))
        return FALSE;
      n_nodes += group.replicas * group.hosts;
      if (n_nodes > QUOIT_MAX_NODES)
        return quoit_tree_fail (manifest->tree, group.node, manifest->error,
                                "%" G_GINT64_FORMAT " nodes up to here: expected at most %u", n_nodes,
                                (unsigned) QUOIT_MAX_NODES);
      if (!quoit_worker_group_add (manifest, &group, names, claims))
        return FALSE;
    }
  return TRUE;
}

/* Warns if the names of nodes contain a cluster name that only KubeRay knows. */
static void
warn_about_assumed_name (const QuoitManifest *manifest, const QuoitRayObject *object, QuoitClaims *claims)
{
  guint32 n_nodes;

  quoit_claims_nodes (claims, &n_nodes);
  if (object->is_assumed && n_nodes > 0)
    quoit_claims_warn (claims,
                       "line %u: KubeRay ends the name of a %s's cluster with five random characters: '%s' is assumed, "
                       "and so are the names of its hosts; 'kubectl get %s %s -o yaml' prints the real name",
                       quoit_tree_line (manifest->tree, quoit_tree_member (object->document, "kind")), object->kind,
                       object->cluster, object->kind, object->name);
}

static QuoitClaims *
read_cluster (const QuoitManifest *manifest, const char *source, QuoitWorkload *workload)
{
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (GHashTable) names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  QuoitRayObject object;

  if (!quoit_workload_read (manifest, source, workload, &claims))
    return NULL;
  if (claims != NULL)
    return g_steal_pointer (&claims);
  if (!quoit_ray_object_find (manifest, &object))
    return NULL;
  claims = quoit_claims_new (source != NULL ? source : object.name, QUOIT_SOURCE_KIND_RAYCLUSTER);
  if (!add_head (manifest, &object, names, claims) || !add_workers (manifest, &object, names, claims))
    return NULL;
  warn_about_assumed_name (manifest, &object, claims);
  return g_steal_pointer (&claims);
}

/* Warns about variables that no field uses. The user has probably misspelled their names. */
static void
warn_about_unused_variables (const QuoitManifest *manifest, QuoitClaims *claims)
{
  for (unsigned i = 0; manifest->set != NULL && manifest->set[i] != NULL; i++)
    if (!manifest->used[i])
      {
        int length = (int) quoit_variables_name_length (manifest->set[i]);

        quoit_claims_warn (claims, "variable '%.*s' has a value, but no field that is read uses ${%.*s}", length,
                           manifest->set[i], length, manifest->set[i]);
      }
}

QuoitClaims *
quoit_read_workload (const char *text, gsize length, const char *source, const char *const *set,
                     QuoitWorkload *workload, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (GStringChunk) texts = NULL;
  g_autofree gboolean *used = g_new0 (gboolean, set == NULL ? 1 : g_strv_length ((char **) set) + 1);
  QuoitManifest manifest = { .set = set, .used = used, .error = error };
  QuoitClaims *claims;

  if (!quoit_variables_check (set, error))
    return NULL;
  tree = quoit_tree_parse_yaml (text, length, error);
  if (tree == NULL)
    return NULL;

  manifest.tree = tree;
  manifest.texts = texts = g_string_chunk_new (1024);
  claims = read_cluster (&manifest, source, workload);
  if (claims != NULL)
    warn_about_unused_variables (&manifest, claims);
  return claims;
}

QuoitClaims *
quoit_read_raycluster (const char *text, gsize length, const char *source, const char *const *set, GError **error)
{
  return quoit_read_workload (text, length, source, set, NULL, error);
}
