/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/raycluster.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/quantity.h"

/* Linux limits an argument or variable to 128 KiB. */
enum { MOST_VARIABLES = 1000, MOST_NAME_BYTES = 253, MOST_VALUE_BYTES = 131071 };

/* The limit and the request of a container for one resource. A node is NULL if the value is missing. */
typedef struct {
  JsonNode *limit_node, *request_node;
  QuoitAmount limit, request;
} ContainerResource;

void
quoit_pod_template_clear (QuoitPodTemplate *pod)
{
  g_clear_pointer (&pod->env, g_array_unref);
}

static gboolean
read_resource (const QuoitManifest *manifest, JsonNode *container, const char *name, ContainerResource *resource)
{
  *resource = (ContainerResource) { 0 };
  if (!quoit_manifest_find (manifest, container, &resource->limit_node, "resources", "limits", name, NULL)
      || !quoit_manifest_find (manifest, container, &resource->request_node, "resources", "requests", name, NULL))
    return FALSE;
  if (resource->limit_node != NULL && !quoit_manifest_quantity (manifest, resource->limit_node, &resource->limit))
    return FALSE;
  return resource->request_node == NULL
         || quoit_manifest_quantity (manifest, resource->request_node, &resource->request);
}

static gboolean
add_to_sum (const QuoitManifest *manifest, const ContainerResource *resource, QuoitAmount *sum)
{
  QuoitAmount amount = resource->request_node != NULL ? resource->request : resource->limit;

  return quoit_amount_add (*sum, amount, sum, manifest->error)
         || quoit_manifest_prefix_place (manifest, resource->request_node != NULL ? resource->request_node
                                                                                  : resource->limit_node);
}

/* Kubernetes never overcommits chips, so request and limit must be equal. */
static gboolean
read_chips (const QuoitManifest *manifest, JsonNode *container, QuoitPodTemplate *pod, gboolean *has_chips)
{
  QuoitAmount chips;
  ContainerResource resource;

  *has_chips = FALSE;
  if (!read_resource (manifest, container, QUOIT_K8S_TPU_RESOURCE, &resource))
    return FALSE;
  if (resource.request_node != NULL && resource.request.e4 != resource.limit.e4)
    {
      g_autofree char *limit = quoit_amount_format (resource.limit);
      g_autofree char *expected = g_strdup_printf ("the limit of this container, %s",
                                                   resource.limit_node != NULL ? limit : "which is not set");

      return quoit_manifest_refuse (manifest, resource.request_node, expected);
    }
  if (resource.limit_node == NULL || resource.limit.e4 == 0)
    return TRUE;
  chips = quoit_quantity_round_up (resource.limit);
  if (chips.e4 > (int64_t) 1024 * QUOIT_AMOUNT_UNIT)
    return quoit_manifest_refuse (manifest, resource.limit_node, "the chips of one host: 1, 2, 4 or 8");
  pod->chips += (guint32) (chips.e4 / QUOIT_AMOUNT_UNIT);
  pod->n_with_chips++;
  pod->chips_node = resource.limit_node;
  *has_chips = TRUE;
  return TRUE;
}

/* KubeRay sets --num-gpus to the first limit whose name ends with "gpu". */
static gboolean
read_gpu (const QuoitManifest *manifest, JsonNode *container, QuoitPodTemplate *pod)
{
  JsonNode *limits;
  g_autoptr (GList) names = NULL;

  if (!quoit_manifest_find (manifest, container, &limits, "resources", "limits", NULL))
    return FALSE;
  if (limits == NULL || !JSON_NODE_HOLDS_OBJECT (limits))
    return TRUE;
  names = json_object_get_members (json_node_get_object (limits));
  for (GList *at = names; at != NULL; at = at->next)
    if (g_str_has_suffix (at->data, "gpu") && quoit_tree_member (limits, at->data) != NULL)
      return quoit_manifest_quantity (manifest, quoit_tree_member (limits, at->data), &pod->gpu);
  return TRUE;
}

static gboolean
is_variable_name (const char *name)
{
  const char *p = name;

  if (*p == '\0' || g_ascii_isdigit (*p))
    return FALSE;
  while (g_ascii_isalnum (*p) || *p == '_' || *p == '-' || *p == '.')
    p++;
  return *p == '\0' && p - name <= MOST_NAME_BYTES;
}

/* If a name occurs twice, the last value takes effect. */
static void
set_variable (GArray *env, const char *name, const char *value)
{
  QuoitPair pair = { name, value };

  for (guint i = 0; i < env->len; i++)
    if (strcmp (g_array_index (env, QuoitPair, i).key, name) == 0)
      {
        g_array_remove_index (env, i);
        break;
      }
  g_array_append_val (env, pair);
}

static gboolean
read_variable (const QuoitManifest *manifest, JsonNode *entry, QuoitPodTemplate *pod)
{
  JsonNode *name_node, *value_node;
  const char *name, *value;

  if (!quoit_manifest_find (manifest, entry, &name_node, "name", NULL)
      || !quoit_manifest_find (manifest, entry, &value_node, "value", NULL))
    return FALSE;
  if (name_node == NULL)
    return quoit_tree_fail (manifest->tree, entry, manifest->error, "a variable without name: expected 'name'");
  if (!quoit_manifest_text (manifest, name_node, &name))
    return FALSE;
  if (!is_variable_name (name))
    return quoit_manifest_refuse (manifest, name_node,
                                  "a variable's name: letters, digits, '_', '-' and '.', no digit first");
  /* Without a value the variable is empty or comes from valueFrom, which a manifest cannot resolve. */
  if (value_node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, value_node, &value))
    return FALSE;
  if (strlen (value) > MOST_VALUE_BYTES)
    return quoit_manifest_refuse (manifest, value_node, "at most 131071 bytes");
  if (strcmp (name, "TPU_NAME") == 0 && *value != '\0')
    {
      pod->tpu_name = value;
      pod->tpu_name_node = value_node;
    }
  set_variable (pod->env, name, value);
  return TRUE;
}

static gboolean
read_env (const QuoitManifest *manifest, JsonNode *container, QuoitPodTemplate *pod)
{
  JsonNode *node;
  JsonArray *entries;

  if (!quoit_manifest_find (manifest, container, &node, "env", NULL))
    return FALSE;
  if (node == NULL)
    return TRUE;
  if (!quoit_tree_array (manifest->tree, node, &entries, manifest->error))
    return FALSE;
  if (json_array_get_length (entries) > MOST_VARIABLES)
    return quoit_tree_fail (manifest->tree, node, manifest->error, "%u variables: expected at most 1000",
                            json_array_get_length (entries));
  for (guint i = 0; i < json_array_get_length (entries); i++)
    if (!read_variable (manifest, json_array_get_element (entries, i), pod))
      return FALSE;
  return TRUE;
}

static gboolean
read_container (const QuoitManifest *manifest, JsonNode *container, gboolean is_first, QuoitPodTemplate *pod)
{
  gboolean has_chips;
  ContainerResource cpu, memory;

  if (!read_resource (manifest, container, "cpu", &cpu) || !read_resource (manifest, container, "memory", &memory)
      || !add_to_sum (manifest, &cpu, &pod->cpu) || !add_to_sum (manifest, &memory, &pod->memory)
      || !read_chips (manifest, container, pod, &has_chips))
    return FALSE;
  if (has_chips && !read_env (manifest, container, pod))
    return FALSE;
  if (!is_first)
    return TRUE;
  pod->ray_cpu = quoit_quantity_round_up (cpu.limit_node != NULL ? cpu.limit : cpu.request);
  pod->ray_memory = quoit_quantity_round_up (memory.limit);
  return read_gpu (manifest, container, pod);
}

static gboolean
read_selector (const QuoitManifest *manifest, JsonNode *spec, const char *key, JsonNode **node, const char **value)
{
  return quoit_manifest_find (manifest, spec, node, "nodeSelector", key, NULL)
         && (*node == NULL || quoit_manifest_text (manifest, *node, value));
}

static gboolean
read_selectors (const QuoitManifest *manifest, JsonNode *spec, QuoitPodTemplate *pod)
{
  const char *spot = NULL;
  JsonNode *node;

  if (!read_selector (manifest, spec, QUOIT_GKE_LABEL_ACCELERATOR, &pod->accelerator_node, &pod->accelerator)
      || !read_selector (manifest, spec, QUOIT_GKE_LABEL_TOPOLOGY, &pod->topology_node, &pod->topology)
      || !read_selector (manifest, spec, QUOIT_K8S_LABEL_ZONE, &node, &pod->zone)
      || !read_selector (manifest, spec, QUOIT_K8S_LABEL_REGION, &node, &pod->region)
      || !read_selector (manifest, spec, QUOIT_GKE_LABEL_SPOT, &node, &spot))
    return FALSE;
  pod->is_spot = spot != NULL && strcmp (spot, "true") == 0;
  return TRUE;
}

gboolean
quoit_pod_template_read (const QuoitManifest *manifest, JsonNode *group, QuoitPodTemplate *pod)
{
  JsonNode *spec, *node;
  JsonArray *containers;

  pod->env = g_array_new (FALSE, FALSE, sizeof (QuoitPair));
  if (!quoit_manifest_find (manifest, group, &spec, "template", "spec", NULL)
      || !quoit_manifest_find (manifest, spec, &node, "containers", NULL))
    return FALSE;
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, group, manifest->error,
                            "no 'template.spec.containers': expected a list of them");
  if (!quoit_tree_array (manifest->tree, node, &containers, manifest->error))
    return FALSE;
  if (json_array_get_length (containers) == 0)
    return quoit_manifest_refuse (manifest, node, "at least one container");
  for (guint i = 0; i < json_array_get_length (containers); i++)
    if (!read_container (manifest, json_array_get_element (containers, i), i == 0, pod))
      return FALSE;
  return read_selectors (manifest, spec, pod);
}
