/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/raycluster.h"

#include <string.h>

#include "formats/variables.h"
#include "formats/yaml.h"
#include "model/labels.h"

/* What KubeRay calls the head's group. */
static const char head_pool[] = "headgroup";

static gboolean
is_ray_cluster (const QuoitManifest *manifest, JsonNode *document, gboolean *is, GString *kinds)
{
  JsonNode *node = quoit_tree_member (document, "kind");
  const char *kind;

  *is = FALSE;
  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &kind))
    return FALSE;
  *is = strcmp (kind, "RayCluster") == 0;
  if (!*is)
    {
      g_autofree char *quoted = quoit_quote (kind);

      g_string_append_printf (kinds, "%s%s in line %u", kinds->len > 0 ? ", " : "", quoted,
                              quoit_tree_line (manifest->tree, node));
    }
  return TRUE;
}

/* A cluster without it is not refused: nothing that is read differs between the versions. */
static gboolean
check_version (const QuoitManifest *manifest, JsonNode *cluster)
{
  JsonNode *node = quoit_tree_member (cluster, "apiVersion");
  const char *version;

  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &version))
    return FALSE;
  if (strcmp (version, "ray.io/v1") == 0 || strcmp (version, "ray.io/v1alpha1") == 0)
    return TRUE;
  return quoit_manifest_refuse (manifest, node, "ray.io/v1 or ray.io/v1alpha1");
}

static gboolean
read_name (const QuoitManifest *manifest, JsonNode *cluster, const char **name)
{
  JsonNode *node;

  if (!quoit_manifest_find (manifest, cluster, &node, "metadata", "name", NULL))
    return FALSE;
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, cluster, manifest->error,
                            "no 'metadata.name': expected the name of the cluster");
  if (!quoit_manifest_text (manifest, node, name))
    return FALSE;
  if (**name == '\0')
    return quoit_manifest_refuse (manifest, node, "the name of the cluster");
  return quoit_label_check_value (*name, manifest->error) || quoit_manifest_pass_on (manifest, node);
}

/* Two clusters are two sources, and an import is of one. */
static gboolean
refuse_second (const QuoitManifest *manifest, JsonNode *first, JsonNode *second)
{
  const char *name = NULL, *other = NULL;

  if (!read_name (manifest, first, &name) || !read_name (manifest, second, &other))
    return FALSE;
  return quoit_fail (
      manifest->error, QUOIT_ERROR_INVALID,
      "line %u: a second RayCluster, '%s' after '%s' in line %u: expected one in a file, each is a source of "
      "its own",
      quoit_tree_line (manifest->tree, quoit_tree_member (second, "kind")), other, name,
      quoit_tree_line (manifest->tree, quoit_tree_member (first, "kind")));
}

static JsonNode *
find_cluster (const QuoitManifest *manifest)
{
  g_autoptr (GString) kinds = g_string_new (NULL);
  JsonNode *cluster = NULL;

  for (unsigned i = 0; i < quoit_tree_n_documents (manifest->tree); i++)
    {
      JsonNode *document = quoit_tree_document (manifest->tree, i);
      gboolean is;

      if (!is_ray_cluster (manifest, document, &is, kinds))
        return NULL;
      if (is && cluster != NULL)
        return refuse_second (manifest, cluster, document), NULL;
      if (is)
        cluster = document;
    }
  if (cluster == NULL)
    quoit_fail (manifest->error, QUOIT_ERROR_INVALID,
                "no RayCluster in it, but %s: expected a document of kind RayCluster",
                kinds->len > 0 ? kinds->str : "nothing with a kind");
  return cluster;
}

static gboolean
read_optional_count (const QuoitManifest *manifest, JsonNode *group, const char *name, JsonNode **node, gint64 *value)
{
  return quoit_manifest_find (manifest, group, node, name, NULL)
         && (*node == NULL || quoit_manifest_count (manifest, *node, G_MAXINT32, value));
}

static gboolean
read_suspend (const QuoitManifest *manifest, JsonNode *spec, gboolean *is_suspended)
{
  JsonNode *node;

  return quoit_manifest_find (manifest, spec, &node, "suspend", NULL)
         && (node == NULL || quoit_manifest_boolean (manifest, node, is_suspended));
}

/* KubeRay's arithmetic (gke-kuberay-jax 2.1), with the guard that it lacks. */
static gboolean
read_replicas (const QuoitManifest *manifest, gboolean is_suspended, QuoitRayGroup *group)
{
  gint64 replicas = 0, lowest = 0, highest = G_MAXINT32;
  JsonNode *node, *replicas_node;

  group->hosts = 1;
  if (!read_optional_count (manifest, group->node, "replicas", &replicas_node, &replicas)
      || !read_optional_count (manifest, group->node, "minReplicas", &node, &lowest)
      || !read_optional_count (manifest, group->node, "maxReplicas", &node, &highest)
      || !read_optional_count (manifest, group->node, "numOfHosts", &group->hosts_node, &group->hosts)
      || !read_suspend (manifest, group->node, &is_suspended))
    return FALSE;

  replicas = MAX (MIN (replicas, highest), lowest);
  if (replicas * group->hosts > QUOIT_MOST_NODES)
    return quoit_tree_fail (manifest->tree, replicas_node != NULL ? replicas_node : group->node, manifest->error,
                            "%" G_GINT64_FORMAT " replicas of %" G_GINT64_FORMAT " hosts: expected at most %u pods%s",
                            replicas, group->hosts, (unsigned) QUOIT_MOST_NODES,
                            replicas * group->hosts > G_MAXINT32 ? ", KubeRay itself would count wrongly" : "");
  group->replicas = is_suspended ? 0 : replicas;
  return TRUE;
}

static gboolean
read_group_name (const QuoitManifest *manifest, QuoitRayGroup *group, GHashTable *groups)
{
  JsonNode *node;

  if (!quoit_manifest_find (manifest, group->node, &node, "groupName", NULL))
    return FALSE;
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, group->node, manifest->error,
                            "no 'groupName': expected the name of the group");
  if (!quoit_manifest_text (manifest, node, &group->name))
    return FALSE;
  if (!quoit_label_check_value (group->name, manifest->error))
    return quoit_manifest_pass_on (manifest, node);
  if (*group->name == '\0' || strcmp (group->name, head_pool) == 0)
    return quoit_manifest_refuse (manifest, node, "a name for the group, other than 'headgroup', which is the head's");
  if (!g_hash_table_add (groups, (char *) group->name))
    return quoit_manifest_refuse (manifest, node, "each groupName once");
  return TRUE;
}

static gboolean
add_head (const QuoitManifest *manifest, JsonNode *spec, const char *cluster, gboolean is_suspended, GHashTable *names,
          QuoitClaims *claims)
{
  g_autofree char *node_name = g_strconcat (cluster, "-head", NULL);
  QuoitRayGroup head = { .name = head_pool, .is_head = TRUE, .node_name = node_name, .hosts = 1 };

  if (!quoit_manifest_find (manifest, spec, &head.node, "headGroupSpec", NULL))
    return FALSE;
  if (head.node == NULL)
    return quoit_tree_fail (manifest->tree, spec, manifest->error, "no 'headGroupSpec': expected the head's group");
  head.replicas = is_suspended ? 0 : 1;
  return quoit_ray_group_add (manifest, &head, names, claims);
}

static gboolean
add_workers (const QuoitManifest *manifest, JsonNode *spec, gboolean is_suspended, GHashTable *names,
             QuoitClaims *claims)
{
  g_autoptr (GHashTable) groups = g_hash_table_new (g_str_hash, g_str_equal);
  gint64 n_nodes = 1;
  JsonNode *node;
  JsonArray *array;

  if (!quoit_manifest_find (manifest, spec, &node, "workerGroupSpecs", NULL))
    return FALSE;
  if (node == NULL)
    return TRUE;
  if (!quoit_tree_array (manifest->tree, node, &array, manifest->error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      QuoitRayGroup group = { .node = json_array_get_element (array, i) };

      if (!read_group_name (manifest, &group, groups) || !read_replicas (manifest, is_suspended, &group))
        return FALSE;
      n_nodes += group.replicas * group.hosts;
      if (n_nodes > QUOIT_MOST_NODES)
        return quoit_tree_fail (manifest->tree, group.node, manifest->error,
                                "%" G_GINT64_FORMAT " nodes up to here: expected at most %u", n_nodes,
                                (unsigned) QUOIT_MOST_NODES);
      if (!quoit_ray_group_add (manifest, &group, names, claims))
        return FALSE;
    }
  return TRUE;
}

static QuoitClaims *
read_cluster (const QuoitManifest *manifest, const char *source)
{
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  JsonNode *cluster = find_cluster (manifest), *spec = NULL;
  gboolean is_suspended = FALSE;
  const char *name = NULL;

  if (cluster == NULL || !check_version (manifest, cluster) || !read_name (manifest, cluster, &name)
      || !quoit_manifest_find (manifest, cluster, &spec, "spec", NULL))
    return NULL;
  if (spec == NULL)
    return quoit_tree_fail (manifest->tree, cluster, manifest->error, "no 'spec': expected the groups of the cluster"),
           NULL;

  claims = quoit_claims_new (source != NULL ? source : name, QUOIT_SOURCE_KIND_RAYCLUSTER);
  if (!read_suspend (manifest, spec, &is_suspended) || !add_head (manifest, spec, name, is_suspended, names, claims)
      || !add_workers (manifest, spec, is_suspended, names, claims))
    return NULL;
  return g_steal_pointer (&claims);
}

/* Most often a name that is not spelled as in the manifest. */
static void
warn_of_unused (const QuoitManifest *manifest, QuoitClaims *claims)
{
  for (unsigned i = 0; manifest->set != NULL && manifest->set[i] != NULL; i++)
    if (!manifest->used[i])
      {
        int length = (int) quoit_variables_name_length (manifest->set[i]);

        quoit_claims_warn (claims, "variable '%.*s' is given a value, but no field that is read has ${%.*s}", length,
                           manifest->set[i], length, manifest->set[i]);
      }
}

QuoitClaims *
quoit_read_raycluster (const char *text, gsize length, const char *source, const char *const *set, GError **error)
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
  claims = read_cluster (&manifest, source);
  if (claims != NULL)
    warn_of_unused (&manifest, claims);
  return claims;
}
