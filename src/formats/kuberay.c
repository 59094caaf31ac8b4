/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/kuberay.h"

#include "base/label-names.h"
#include "base/name-hash.h"
#include "formats/env-from.h"
#include "formats/raycluster.h"
#include "formats/variables.h"
#include "formats/yaml.h"

static void
template_clear (gpointer data)
{
  g_array_unref (((QuoitKuberayGroupSpec *) data)->containers);
}

void
quoit_kuberay_manifest_free (QuoitKuberayManifest *manifest)
{
  if (manifest == NULL)
    return;
  g_array_unref (manifest->groups);
  g_ptr_array_unref (manifest->notes);
  g_string_chunk_free (manifest->texts);
  quoit_tree_free (manifest->tree);
  g_free (manifest);
}

static gboolean
read_chips (const QuoitManifest *manifest, JsonNode *container, const char *list_name, QuoitAmount *amount)
{
  JsonNode *node;

  return quoit_manifest_find (manifest, container, &node, "resources", list_name, QUOIT_K8S_TPU_RESOURCE, NULL)
         && (node == NULL || quoit_manifest_quantity (manifest, node, amount));
}

/* Kubernetes treats a variable without value and valueFrom as empty. */
static gboolean
read_variable (const QuoitManifest *manifest, JsonNode *entry, GArray *containers)
{
  const char *name = NULL, *text = "";
  JsonNode *value, *from;

  if (!quoit_manifest_find_text (manifest, entry, "name", NULL, &name)
      || !quoit_manifest_find_text (manifest, entry, "value", &value, &text)
      || !quoit_manifest_find (manifest, entry, &from, "valueFrom", NULL))
    return FALSE;
  if (name == NULL)
    return quoit_tree_fail (manifest->tree, entry, manifest->error, "a variable without name: expected 'name'");
  if (value == NULL && from != NULL)
    text = NULL;
  quoit_webhook_add_variable (containers, containers->len - 1,
                              (QuoitWebhookVariable) { g_strdup (name), g_strdup (text), NULL, QUOIT_WEBHOOK_OWN });
  return TRUE;
}

static gboolean
read_container (QuoitEnvFromReader *env_from, JsonNode *node, GArray *containers)
{
  const QuoitManifest *manifest = env_from->manifest;
  QuoitAmount request = { 0 }, limit = { 0 };
  JsonArray *entries;

  if (!read_chips (manifest, node, "requests", &request) || !read_chips (manifest, node, "limits", &limit)
      || !quoit_manifest_find_list (manifest, node, "env", &entries))
    return FALSE;
  quoit_webhook_add_container (containers, request, limit);
  if (!quoit_env_from_read (env_from, node, containers))
    return FALSE;
  for (guint i = 0; entries != NULL && i < json_array_get_length (entries); i++)
    if (!read_variable (manifest, json_array_get_element (entries, i), containers))
      return FALSE;
  return TRUE;
}

static gboolean
read_template (QuoitEnvFromReader *env_from, JsonNode *group, QuoitKuberayGroupSpec *template)
{
  const QuoitManifest *manifest = env_from->manifest;
  JsonNode *spec, *selector;
  JsonArray *containers = NULL;

  if (!quoit_manifest_find (manifest, group, &spec, "template", "spec", NULL))
    return FALSE;
  if (spec == NULL)
    return quoit_tree_fail (manifest->tree, group, manifest->error, "no 'template.spec': expected that of the pods");
  if (!quoit_manifest_find (manifest, spec, &selector, "nodeSelector", NULL)
      || !quoit_manifest_find_list (manifest, spec, "containers", &containers))
    return FALSE;
  if (selector != NULL
      && (!quoit_manifest_find_text (manifest, selector, QUOIT_GKE_LABEL_ACCELERATOR, NULL, &template->accelerator)
          || !quoit_manifest_find_text (manifest, selector, QUOIT_GKE_LABEL_TOPOLOGY, NULL, &template->topology)))
    return FALSE;
  for (guint i = 0; containers != NULL && i < json_array_get_length (containers); i++)
    if (!read_container (env_from, json_array_get_element (containers, i), template->containers))
      return FALSE;
  return TRUE;
}

static gboolean
read_numbers (const QuoitManifest *manifest, JsonNode *group, QuoitKuberayGroupSpec *template)
{
  QuoitReplicaCounts counts;

  if (!quoit_replica_counts_read (manifest, group, &counts))
    return FALSE;

  template->replicas = (gint32) counts.replicas;
  template->min_replicas = (gint32) counts.min_replicas;
  template->max_replicas = (gint32) counts.max_replicas;
  template->hosts = (gint32) counts.hosts;
  template->is_suspended = counts.is_suspended;
  return TRUE;
}

static gboolean
read_group (QuoitEnvFromReader *env_from, JsonNode *node, GHashTable *names, GArray *groups)
{
  const QuoitManifest *manifest = env_from->manifest;
  QuoitKuberayGroupSpec template = { .containers = quoit_webhook_containers_new () };
  gboolean ok;

  ok = quoit_worker_group_read_name (manifest, node, names, &template.name) && read_numbers (manifest, node, &template)
       && read_template (env_from, node, &template);
  g_array_append_val (groups, template);
  return ok;
}

static gboolean
read_cluster (const QuoitManifest *manifest, QuoitKuberayManifest *result)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  g_auto (QuoitEnvFromReader) env_from = { .manifest = manifest, .notes = result->notes };
  QuoitRayObject object;
  JsonArray *groups = NULL;
  JsonNode *metadata;

  if (!quoit_ray_object_find (manifest, &object)
      || !quoit_manifest_find (manifest, object.document, &metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, metadata, "namespace", NULL, &env_from.namespace)
      || !quoit_manifest_find_boolean (manifest, object.spec, "enableInTreeAutoscaling", &result->has_autoscaler)
      || !quoit_manifest_find_list (manifest, object.spec, "workerGroupSpecs", &groups))
    return FALSE;
  result->cluster = object.cluster;
  result->is_assumed = object.is_assumed;
  result->is_suspended = object.is_suspended;
  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    if (!read_group (&env_from, json_array_get_element (groups, i), names, result->groups))
      return FALSE;
  return TRUE;
}

QuoitKuberayManifest *
quoit_kuberay_manifest_read (const char *text, gsize length, const char *const *set, GError **error)
{
  g_autofree gboolean *used = g_new0 (gboolean, set == NULL ? 1 : g_strv_length ((char **) set) + 1);
  g_autoptr (QuoitKuberayManifest) result = NULL;
  QuoitManifest manifest = { .set = set, .used = used, .error = error };

  if (!quoit_variables_check (set, error))
    return NULL;
  manifest.tree = quoit_tree_parse_yaml (text, length, error);
  if (manifest.tree == NULL)
    return NULL;

  result = g_new0 (QuoitKuberayManifest, 1);
  result->tree = manifest.tree;
  result->texts = manifest.texts = g_string_chunk_new (1024);
  result->groups = g_array_new (FALSE, FALSE, sizeof (QuoitKuberayGroupSpec));
  g_array_set_clear_func (result->groups, template_clear);
  result->notes = g_ptr_array_new_with_free_func (g_free);
  return read_cluster (&manifest, result) ? g_steal_pointer (&result) : NULL;
}
