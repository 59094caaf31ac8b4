/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/kuberay.h"

#include "formats/raycluster.h"
#include "formats/variables.h"
#include "formats/yaml.h"

static void
template_clear (gpointer data)
{
  g_array_unref (((QuoitKuberayTemplate *) data)->containers);
}

void
quoit_kuberay_manifest_free (QuoitKuberayManifest *manifest)
{
  if (manifest == NULL)
    return;
  g_array_unref (manifest->groups);
  g_string_chunk_free (manifest->texts);
  quoit_tree_free (manifest->tree);
  g_free (manifest);
}

static gboolean
read_chips (const QuoitManifest *manifest, JsonNode *container, const char *of, QuoitAmount *amount)
{
  JsonNode *node;

  return quoit_manifest_find (manifest, container, &node, "resources", of, "google.com/tpu", NULL)
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
read_container (const QuoitManifest *manifest, JsonNode *node, GArray *containers)
{
  QuoitAmount request = { 0 }, limit = { 0 };
  JsonArray *entries;

  if (!read_chips (manifest, node, "requests", &request) || !read_chips (manifest, node, "limits", &limit)
      || !quoit_manifest_find_list (manifest, node, "env", &entries))
    return FALSE;
  quoit_webhook_add_container (containers, request, limit);
  for (guint i = 0; entries != NULL && i < json_array_get_length (entries); i++)
    if (!read_variable (manifest, json_array_get_element (entries, i), containers))
      return FALSE;
  return TRUE;
}

static gboolean
read_template (const QuoitManifest *manifest, JsonNode *group, QuoitKuberayTemplate *template)
{
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
      && (!quoit_manifest_find_text (manifest, selector, "cloud.google.com/gke-tpu-accelerator", NULL,
                                     &template->accelerator)
          || !quoit_manifest_find_text (manifest, selector, "cloud.google.com/gke-tpu-topology", NULL,
                                        &template->topology)))
    return FALSE;
  for (guint i = 0; containers != NULL && i < json_array_get_length (containers); i++)
    if (!read_container (manifest, json_array_get_element (containers, i), template->containers))
      return FALSE;
  return TRUE;
}

static gboolean
read_numbers (const QuoitManifest *manifest, JsonNode *group, QuoitKuberayTemplate *template)
{
  QuoitRayNumbers numbers;

  if (!quoit_ray_numbers_read (manifest, group, &numbers))
    return FALSE;

  template->replicas = (gint32) numbers.replicas;
  template->lowest = (gint32) numbers.lowest;
  template->highest = (gint32) numbers.highest;
  template->hosts = (gint32) numbers.hosts;
  template->is_suspended = numbers.is_suspended;
  return TRUE;
}

static gboolean
read_group (const QuoitManifest *manifest, JsonNode *node, GHashTable *names, GArray *groups)
{
  QuoitKuberayTemplate template = { .containers = quoit_webhook_containers_new () };
  gboolean ok;

  ok = quoit_ray_group_name_read (manifest, node, names, &template.name) && read_numbers (manifest, node, &template)
       && read_template (manifest, node, &template);
  g_array_append_val (groups, template);
  return ok;
}

static gboolean
read_cluster (const QuoitManifest *manifest, QuoitKuberayManifest *read)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  QuoitRayObject object;
  JsonArray *groups = NULL;

  if (!quoit_ray_object_find (manifest, &object)
      || !quoit_manifest_find_boolean (manifest, object.spec, "enableInTreeAutoscaling", &read->has_autoscaler)
      || !quoit_manifest_find_list (manifest, object.spec, "workerGroupSpecs", &groups))
    return FALSE;
  read->cluster = object.cluster;
  read->is_assumed = object.is_assumed;
  read->is_suspended = object.is_suspended;
  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    if (!read_group (manifest, json_array_get_element (groups, i), names, read->groups))
      return FALSE;
  return TRUE;
}

QuoitKuberayManifest *
quoit_kuberay_manifest_read (const char *text, gsize length, const char *const *set, GError **error)
{
  g_autofree gboolean *used = g_new0 (gboolean, set == NULL ? 1 : g_strv_length ((char **) set) + 1);
  g_autoptr (QuoitKuberayManifest) read = NULL;
  QuoitManifest manifest = { .set = set, .used = used, .error = error };

  if (!quoit_variables_check (set, error))
    return NULL;
  manifest.tree = quoit_tree_parse_yaml (text, length, error);
  if (manifest.tree == NULL)
    return NULL;

  read = g_new0 (QuoitKuberayManifest, 1);
  read->tree = manifest.tree;
  read->texts = manifest.texts = g_string_chunk_new (1024);
  read->groups = g_array_new (FALSE, FALSE, sizeof (QuoitKuberayTemplate));
  g_array_set_clear_func (read->groups, template_clear);
  return read_cluster (&manifest, read) ? g_steal_pointer (&read) : NULL;
}
