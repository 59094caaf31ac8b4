/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the devices that a pod claims by Kubernetes' dynamic resource allocation, mostly network interfaces. The
 * file's ResourceClaims and ResourceClaimTemplates have the number per class. */
#include "formats/raycluster-devices.h"

#include <string.h>

static void
clear_devices (QuoitDevices *devices)
{
  g_hash_table_unref (devices->uses);
  g_hash_table_unref (devices->classes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitDevices, clear_devices)

/* --- requests that the containers use --- */

static gboolean
read_use (QuoitDevices *devices, JsonNode *entry)
{
  const char *name, *request = "";
  GPtrArray *requests;
  JsonNode *node;

  if (!quoit_devices_find_name (devices, entry, "name", &node, &name)
      || !quoit_manifest_find_text (devices->manifest, entry, "request", NULL, &request))
    return FALSE;
  requests = g_hash_table_lookup (devices->uses, name);
  if (requests == NULL)
    return quoit_manifest_refuse (devices->manifest, node, "the name of one of the pod's resourceClaims");
  g_ptr_array_add (requests, (char *) request);
  return TRUE;
}

static gboolean
read_uses (QuoitDevices *devices, JsonNode *spec)
{
  JsonArray *containers, *entries;

  if (!quoit_manifest_find_list (devices->manifest, spec, "containers", &containers))
    return FALSE;
  for (guint i = 0; containers != NULL && i < json_array_get_length (containers); i++)
    {
      JsonNode *resources;

      if (!quoit_manifest_find (devices->manifest, json_array_get_element (containers, i), &resources, "resources",
                                NULL)
          || !quoit_devices_find_list (devices, resources, "claims", &entries))
        return FALSE;
      for (guint j = 0; entries != NULL && j < json_array_get_length (entries); j++)
        if (!read_use (devices, json_array_get_element (entries, j)))
          return FALSE;
    }
  return TRUE;
}

/* --- claims of the pod --- */

static gboolean
read_claim (QuoitDevices *devices, JsonNode *entry, QuoitDeviceClaim *claim)
{
  const QuoitManifest *manifest = devices->manifest;
  const char *template = NULL, *own = NULL;
  JsonNode *node, *template_node, *own_node;
  g_autofree char *quoted = NULL, *called = NULL;

  *claim = (QuoitDeviceClaim) { .node = entry };
  if (!quoit_devices_find_name (devices, entry, "name", &node, &claim->name)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimTemplateName", &template_node, &template)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimName", &own_node, &own))
    return FALSE;
  if ((template_node != NULL) == (own_node != NULL))
    return quoit_tree_fail (manifest->tree, entry, manifest->error,
                            "%s: expected one of 'resourceClaimName' and 'resourceClaimTemplateName'",
                            own_node != NULL ? "both names of claims" : "no claim");
  if (!g_hash_table_insert (devices->uses, (char *) claim->name, g_ptr_array_new ()))
    return quoit_manifest_refuse (manifest, node, "each name once");
  claim->kind = own_node != NULL ? "ResourceClaim" : "ResourceClaimTemplate";
  claim->source = own_node != NULL ? own : template;
  claim->source_node = own_node != NULL ? own_node : template_node;
  quoted = quoit_quote (claim->source);
  called = g_strdup_printf ("%s %s", claim->kind, quoted);
  claim->called = g_string_chunk_insert_const (manifest->texts, called);
  return TRUE;
}

/* An unspecified namespace may match either. */
static gboolean
is_same_namespace (const char *a, const char *b)
{
  return a == NULL || b == NULL || strcmp (a, b) == 0;
}

static gboolean
is_meant (const QuoitDevices *devices, JsonNode *document, const QuoitDeviceClaim *claim, gboolean *is)
{
  const QuoitManifest *manifest = devices->manifest;
  const char *kind = NULL, *version = NULL, *name = NULL, *namespace = NULL, *own = NULL;
  JsonNode *metadata, *own_metadata;

  *is = FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (document))
    return TRUE;
  if (!quoit_manifest_find_text (manifest, document, "kind", NULL, &kind))
    return FALSE;
  if (g_strcmp0 (kind, claim->kind) != 0)
    return TRUE;
  if (!quoit_manifest_find_text (manifest, document, "apiVersion", NULL, &version)
      || !quoit_manifest_find (manifest, document, &metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, metadata, "name", NULL, &name)
      || !quoit_manifest_find_text (manifest, metadata, "namespace", NULL, &namespace)
      || !quoit_manifest_find (manifest, devices->of->object->document, &own_metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, own_metadata, "namespace", NULL, &own))
    return FALSE;
  *is = g_strcmp0 (name, claim->source) == 0 && is_same_namespace (namespace, own)
        && (version == NULL || g_str_has_prefix (version, "resource.k8s.io/"));
  return TRUE;
}

/* *@found is NULL if the file has no such document. */
static gboolean
find_document (const QuoitDevices *devices, const QuoitDeviceClaim *claim, JsonNode **found)
{
  const QuoitManifest *manifest = devices->manifest;
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);

  *found = NULL;
  for (guint i = 0; documents != NULL && i < documents->len; i++)
    {
      JsonNode *document = documents->pdata[i];
      gboolean is;

      if (!is_meant (devices, document, claim, &is))
        return FALSE;
      if (is && *found != NULL)
        return quoit_tree_fail (manifest->tree, quoit_tree_member (document, "metadata"), manifest->error,
                                "a second %s: expected each name once", claim->called);
      if (is)
        *found = document;
    }
  return documents != NULL;
}

/* A claim that does not come from a template is shared by all pods. */
static void
warn_of_sharing (QuoitDevices *devices, const QuoitDeviceClaim *claim)
{
  gint64 n_pods = devices->of->replicas * devices->of->hosts;

  if (n_pods > 1 && strcmp (claim->kind, "ResourceClaim") == 0)
    quoit_devices_warn (devices, claim->source_node,
                        "%" G_GINT64_FORMAT " pods share %s: its devices are counted on each node", n_pods,
                        claim->called);
}

static gboolean
count_claim (QuoitDevices *devices, const QuoitDeviceClaim *claim)
{
  const GPtrArray *uses = g_hash_table_lookup (devices->uses, claim->name);
  g_autofree char *name = quoit_quote (claim->name);
  JsonNode *document;

  if (uses->len == 0)
    {
      quoit_devices_warn (devices, claim->node, "no container has claim %s: its devices are not counted", name);
      return TRUE;
    }
  if (!find_document (devices, claim, &document))
    return FALSE;
  if (document == NULL)
    {
      quoit_devices_warn (devices, claim->source_node, "no %s in the file: its devices are not known, and not counted",
                          claim->called);
      return TRUE;
    }
  warn_of_sharing (devices, claim);
  return quoit_devices_read_requests (devices, claim, document);
}

/* Resources that the group states for Ray take precedence. */
static void
set_defaults (const QuoitDevices *devices, QuoitRayParams *params)
{
  GHashTableIter iter;
  gpointer class, count;

  g_hash_table_iter_init (&iter, devices->classes);
  while (g_hash_table_iter_next (&iter, &class, &count))
    if (!g_hash_table_contains (params->resources, class))
      {
        QuoitAmount amount = quoit_amount_from_int (*(const gint64 *) count);

        g_hash_table_insert (params->resources, g_strdup (class), g_memdup2 (&amount.e4, sizeof amount.e4));
      }
}

gboolean
quoit_ray_devices_read (const QuoitManifest *manifest, const QuoitRayGroup *of, QuoitRayParams *params,
                        QuoitClaims *claims)
{
  g_auto (QuoitDevices) devices = {
    .manifest = manifest,
    .of = of,
    .claims = claims,
    .uses = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref),
    .classes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
  };
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (QuoitDeviceClaim));
  JsonArray *entries;
  JsonNode *spec;

  if (!quoit_manifest_find (manifest, of->node, &spec, "template", "spec", NULL)
      || !quoit_devices_find_list (&devices, spec, "resourceClaims", &entries))
    return FALSE;
  for (guint i = 0; entries != NULL && i < json_array_get_length (entries); i++)
    {
      QuoitDeviceClaim claim;

      if (!read_claim (&devices, json_array_get_element (entries, i), &claim))
        return FALSE;
      g_array_append_val (list, claim);
    }
  if (!read_uses (&devices, spec))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    if (!count_claim (&devices, &g_array_index (list, QuoitDeviceClaim, i)))
      return FALSE;

  set_defaults (&devices, params);
  return TRUE;
}
