/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Ray object of a file and the name of its cluster. */
#include "formats/ray-kinds.h"
#include "formats/raycluster.h"

#include <string.h>

#include "models/kuberay/names.h"
#include "fleet/labels.h"

/* Sets *@index to a QuoitRayKind. For other kinds sets it to -1 and appends the kind to @others. */
static gboolean
read_kind (const QuoitManifest *manifest, JsonNode *document, int *index, GString *others)
{
  JsonNode *node = quoit_tree_member (document, "kind");
  g_autofree char *quoted = NULL;
  QuoitRayKind found;
  const char *kind;

  *index = -1;
  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &kind))
    return FALSE;
  if (quoit_ray_kind_find (kind, &found))
    return *index = (int) found, TRUE;
  quoted = quoit_quote (kind);
  g_string_append_printf (others, "%s%s in line %u", others->len > 0 ? ", " : "", quoted,
                          quoit_tree_line (manifest->tree, node));
  return TRUE;
}

/* The version may be missing, because the fields that are read are the same in all versions. */
static gboolean
check_version (const QuoitManifest *manifest, JsonNode *document)
{
  JsonNode *node = quoit_tree_member (document, "apiVersion");
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
read_name (const QuoitManifest *manifest, JsonNode *document, const char *kind, const char **name)
{
  JsonNode *node;

  if (!quoit_manifest_find (manifest, document, &node, "metadata", "name", NULL))
    return FALSE;
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, document, manifest->error,
                            "no 'metadata.name': expected the name of the %s", kind);
  if (!quoit_manifest_text (manifest, node, name))
    return FALSE;
  if (**name == '\0')
    return quoit_manifest_refuse (manifest, node, "a name");
  return quoit_label_check_value (*name, manifest->error) || quoit_manifest_pass_on (manifest, node);
}

static gboolean
refuse_second (const QuoitManifest *manifest, const QuoitRayObject *first, JsonNode *second, int index)
{
  const char *name = NULL, *other = NULL;

  if (!read_name (manifest, first->document, first->kind, &name)
      || !read_name (manifest, second, quoit_ray_kinds[index].name, &other))
    return FALSE;
  return quoit_fail (manifest->error, QUOIT_ERROR_INVALID,
                     "line %u: a second Ray object, %s '%s' after %s '%s' in line %u: expected one in a file, each is "
                     "a source of its own",
                     quoit_tree_line (manifest->tree, quoit_tree_member (second, "kind")), quoit_ray_kinds[index].name,
                     other, first->kind, name,
                     quoit_tree_line (manifest->tree, quoit_tree_member (first->document, "kind")));
}

/* Returns -1, with the error set, if there is no Ray object or more than one. */
static int
find_document (const QuoitManifest *manifest, QuoitRayObject *object)
{
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);
  g_autoptr (GString) others = g_string_new (NULL);
  int found = -1;

  if (documents == NULL)
    return -1;
  for (guint i = 0; i < documents->len; i++)
    {
      JsonNode *document = documents->pdata[i];
      int index;

      if (!read_kind (manifest, document, &index, others))
        return -1;
      if (index < 0)
        continue;
      if (found >= 0)
        return refuse_second (manifest, object, document, index), -1;
      found = index;
      object->document = document;
      object->kind = quoit_ray_kinds[index].name;
    }
  if (found < 0)
    quoit_fail (manifest->error, QUOIT_ERROR_INVALID,
                "no Ray object in it, but %s: expected a document of kind RayCluster, RayJob or RayService",
                others->len > 0 ? others->str : "nothing with a kind");
  return found;
}

/* A job with a clusterSelector makes no cluster: KubeRay uses the named one and ignores the rest. */
static gboolean
refuse_selector (const QuoitManifest *manifest, JsonNode *spec)
{
  g_autofree char *quoted = NULL;
  const char *name = "";
  JsonObject *selector;
  JsonNode *node;

  if (!quoit_manifest_find (manifest, spec, &node, "clusterSelector", NULL))
    return FALSE;
  if (node == NULL)
    return TRUE;
  if (!quoit_tree_object (manifest->tree, node, &selector, manifest->error))
    return FALSE;
  if (json_object_get_size (selector) == 0)
    return TRUE;
  if (!quoit_manifest_find_text (manifest, node, "ray.io/cluster", NULL, &name))
    return FALSE;
  quoted = quoit_quote (name);
  return quoit_tree_fail (manifest->tree, node, manifest->error,
                          "the job has no cluster of its own, it runs on RayCluster %s: expected the manifest of that "
                          "one, or a job with 'rayClusterSpec' and without 'clusterSelector'",
                          quoted);
}

static gboolean
read_spec (const QuoitManifest *manifest, int index, QuoitRayObject *object)
{
  const char *member = quoit_ray_kinds[index].spec;
  JsonNode *spec;

  if (!quoit_manifest_find (manifest, object->document, &spec, "spec", NULL))
    return FALSE;
  if (spec == NULL)
    return quoit_tree_fail (manifest->tree, object->document, manifest->error,
                            "no 'spec': expected what the %s is to be", object->kind);
  object->spec = spec;
  if (member == NULL)
    return quoit_manifest_find_boolean (manifest, spec, "suspend", &object->is_suspended);

  if (!quoit_manifest_find_boolean (manifest, spec, "suspend", &object->is_suspended)
      || !refuse_selector (manifest, spec) || !quoit_manifest_find (manifest, spec, &object->spec, member, NULL))
    return FALSE;
  if (object->spec == NULL)
    return quoit_tree_fail (manifest->tree, spec, manifest->error, "no '%s': expected the cluster of the %s", member,
                            object->kind);
  return object->is_suspended || quoit_manifest_find_boolean (manifest, object->spec, "suspend", &object->is_suspended);
}

/* Takes the name from the status that KubeRay wrote, if the object was read back from a cluster. Otherwise assumes
 * the name as far as it is known. */
static gboolean
read_cluster_name (const QuoitManifest *manifest, int index, QuoitRayObject *object)
{
  const char *const *status = quoit_ray_kinds[index].status;
  g_autofree char *assumed = NULL;
  const char *name = "";
  JsonNode *node;

  object->cluster = object->name;
  if (index == QUOIT_RAY_CLUSTER)
    return TRUE;
  if (!quoit_manifest_find (manifest, object->document, &node, status[0], status[1], status[2], NULL)
      || (node != NULL && !quoit_manifest_text (manifest, node, &name)))
    return FALSE;
  if (*name != '\0')
    {
      object->cluster = name;
      return quoit_label_check_value (name, manifest->error) || quoit_manifest_pass_on (manifest, node);
    }
  assumed = g_strconcat (object->name, QUOIT_KUBERAY_RANDOM_END, NULL);
  object->cluster = g_string_chunk_insert_const (manifest->texts, assumed);
  object->is_assumed = TRUE;
  return TRUE;
}

gboolean
quoit_ray_object_find (const QuoitManifest *manifest, QuoitRayObject *object)
{
  QuoitRayObject found = { 0 };
  int index = find_document (manifest, &found);

  if (index < 0 || !check_version (manifest, found.document)
      || !read_name (manifest, found.document, found.kind, &found.name) || !read_spec (manifest, index, &found)
      || !read_cluster_name (manifest, index, &found))
    return FALSE;
  *object = found;
  return TRUE;
}
