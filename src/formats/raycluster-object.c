/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Ray object of a file and the name of its cluster. */
#include "base/label-names.h"
#include "formats/ray-kinds.h"
#include "formats/raycluster.h"

#include <string.h>

#include "models/kuberay/names.h"
#include "models/ray/label-syntax.h"

/* --- objects of other kinds --- */

/* Longer lists of kinds are cut in messages. */
enum { MOST_OTHER_KINDS = 4 };

/* Counts the objects of one kind that is not Ray's. */
typedef struct {
  const char *kind; /* NULL: objects of kinds beyond MOST_OTHER_KINDS */
  guint n;
  unsigned first_line;
} OtherKind;

static void
count_other_object (const QuoitManifest *manifest, const char *kind, JsonNode *node, GArray *others)
{
  OtherKind new_kind = { others->len < MOST_OTHER_KINDS ? kind : NULL, 1, quoit_tree_line (manifest->tree, node) };

  for (guint i = 0; i < others->len; i++)
    {
      OtherKind *other = &g_array_index (others, OtherKind, i);

      if (other->kind == NULL || strcmp (other->kind, kind) == 0)
        {
          other->n++;
          return;
        }
    }
  g_array_append_val (others, new_kind);
}

static void
append_other_kind (GString *text, const OtherKind *other)
{
  g_autofree char *quoted = other->kind == NULL ? NULL : quoit_quote (other->kind);
  gboolean is_word = other->kind != NULL && strspn (other->kind, G_CSET_A_2_Z G_CSET_a_2_z) == strlen (other->kind);

  if (text->len > 0)
    g_string_append (text, ", ");
  if (other->kind == NULL)
    g_string_append_printf (text, "%u of other kinds", other->n);
  else if (other->n == 1)
    g_string_append_printf (text, "%s in line %u", quoted, other->first_line);
  else
    g_string_append_printf (text, "%u %s objects, first in line %u", other->n, is_word ? other->kind : quoted,
                            other->first_line);
}

/* Whether the file has a list, such as one of Ray's nodes, instead of an object. */
static gboolean
is_list (const QuoitManifest *manifest)
{
  return quoit_tree_n_documents (manifest->tree) > 0 && JSON_NODE_HOLDS_ARRAY (quoit_tree_document (manifest->tree, 0));
}

/* Reports a file without a Ray object. A list of nodes, of Kubernetes or Ray, is a common mistake, so the message names
 * its command. */
static void
refuse_other_objects (const QuoitManifest *manifest, const GArray *others)
{
  g_autoptr (GString) found = g_string_new (NULL);
  gboolean has_nodes = FALSE;

  for (guint i = 0; i < others->len; i++)
    {
      const OtherKind *other = &g_array_index (others, OtherKind, i);

      has_nodes |= g_strcmp0 (other->kind, "Node") == 0 || g_strcmp0 (other->kind, "NodeList") == 0;
      append_other_kind (found, other);
    }
  quoit_fail (manifest->error, QUOIT_ERROR_INVALID,
              "no Ray object in it, but %s: expected a document of kind RayCluster, RayJob or RayService%s",
              others->len > 0 ? found->str : "nothing with a kind",
              has_nodes            ? "; for a list of nodes use 'quoit import k8s-nodes'"
              : is_list (manifest) ? "; for a list of nodes use 'quoit import ray-nodes'"
                                   : ", or of another object that makes pods, such as a JobSet");
}

/* --- the Ray object --- */

/* Sets *@index to the QuoitRayKind of the document, or to -1 if it has another kind, which is then counted in
 * @others. */
static gboolean
read_kind (const QuoitManifest *manifest, JsonNode *document, int *index, GArray *others)
{
  JsonNode *node = quoit_tree_member (document, "kind");
  QuoitRayKind found;
  const char *kind;

  *index = -1;
  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &kind))
    return FALSE;
  if (quoit_ray_kind_find (kind, &found))
    *index = (int) found;
  else
    count_other_object (manifest, kind, node, others);
  return TRUE;
}

/* A missing version is accepted, because the fields that are read are the same in all versions. */
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

  return quoit_manifest_find (manifest, document, &node, "metadata", "name", NULL)
         && quoit_manifest_name (manifest, document, node, "metadata.name", kind, name);
}

static gboolean
refuse_second_object (const QuoitManifest *manifest, const QuoitRayObject *first, JsonNode *second, int index)
{
  const char *name = NULL, *other = NULL;

  if (!read_name (manifest, first->document, first->kind, &name)
      || !read_name (manifest, second, quoit_ray_kinds[index].name, &other))
    return FALSE;
  return quoit_fail (manifest->error, QUOIT_ERROR_INVALID,
                     "line %u: a second Ray object, %s '%s' after %s '%s' in line %u: expected one per file, because "
                     "each is a separate source",
                     quoit_tree_line (manifest->tree, quoit_tree_member (second, "kind")), quoit_ray_kinds[index].name,
                     other, first->kind, name,
                     quoit_tree_line (manifest->tree, quoit_tree_member (first->document, "kind")));
}

/* Returns -1, with the error set, if there is no Ray object or more than one. */
static int
find_document (const QuoitManifest *manifest, QuoitRayObject *object)
{
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (OtherKind));
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
        return refuse_second_object (manifest, object, document, index), -1;
      found = index;
      object->document = document;
      object->kind = quoit_ray_kinds[index].name;
    }
  if (found < 0)
    refuse_other_objects (manifest, others);
  return found;
}

/* Refuses a job with a clusterSelector. KubeRay makes no cluster for it, but runs it on the cluster that the selector
 * names. */
static gboolean
refuse_cluster_selector (const QuoitManifest *manifest, JsonNode *spec)
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
  if (!quoit_manifest_find_text (manifest, node, QUOIT_KUBERAY_LABEL_CLUSTER, NULL, &name))
    return FALSE;
  quoted = quoit_quote (name);
  return quoit_tree_fail (manifest->tree, node, manifest->error,
                          "the job has no cluster of its own and runs on RayCluster %s: expected the manifest of that "
                          "cluster, or a job with 'rayClusterSpec' and without 'clusterSelector'",
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
    return quoit_tree_fail (manifest->tree, object->document, manifest->error, "no 'spec': expected the spec of the %s",
                            object->kind);
  object->spec = spec;
  if (member == NULL)
    return quoit_manifest_find_boolean (manifest, spec, "suspend", &object->is_suspended);

  if (!quoit_manifest_find_boolean (manifest, spec, "suspend", &object->is_suspended)
      || !refuse_cluster_selector (manifest, spec)
      || !quoit_manifest_find (manifest, spec, &object->spec, member, NULL))
    return FALSE;
  if (object->spec == NULL)
    return quoit_tree_fail (manifest->tree, spec, manifest->error, "no '%s': expected the cluster of the %s", member,
                            object->kind);
  return object->is_suspended || quoit_manifest_find_boolean (manifest, object->spec, "suspend", &object->is_suspended);
}

/* Finds the name of the cluster. An object that was read back from Kubernetes has a status with the name. Otherwise
 * the name is that of the object, plus five characters that only KubeRay knows. */
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
      return quoit_label_check_value (name, manifest->error) || quoit_manifest_prefix_place (manifest, node);
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
