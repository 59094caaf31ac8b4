/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the resource claims of a pod, and which of them its containers use. Most devices that pods claim are network
 * interfaces. */
#include "formats/raycluster-devices.h"

#include <string.h>

#include "base/name-hash.h"

static void
clear_devices (QuoitManifestDevices *devices)
{
  g_hash_table_unref (devices->uses);
  g_hash_table_unref (devices->classes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitManifestDevices, clear_devices)

/* --- requests that the containers use --- */

static gboolean
read_use (QuoitManifestDevices *devices, JsonNode *entry)
{
  const char *name, *request = "";
  GPtrArray *requests;
  JsonNode *node;

  if (!quoit_manifest_devices_find_name (devices, entry, "name", &node, &name)
      || !quoit_manifest_find_text (devices->manifest, entry, "request", NULL, &request))
    return FALSE;
  requests = g_hash_table_lookup (devices->uses, name);
  if (requests == NULL)
    return quoit_manifest_refuse (devices->manifest, node, "the name of one of the pod's resourceClaims");
  g_ptr_array_add (requests, (char *) request);
  return TRUE;
}

static gboolean
read_uses (QuoitManifestDevices *devices, JsonNode *spec)
{
  JsonArray *containers, *entries;

  if (!quoit_manifest_find_list (devices->manifest, spec, "containers", &containers))
    return FALSE;
  for (guint i = 0; containers != NULL && i < json_array_get_length (containers); i++)
    {
      JsonNode *resources;

      if (!quoit_manifest_find (devices->manifest, json_array_get_element (containers, i), &resources, "resources",
                                NULL)
          || !quoit_manifest_devices_find_list (devices, resources, "claims", &entries))
        return FALSE;
      for (guint j = 0; entries != NULL && j < json_array_get_length (entries); j++)
        if (!read_use (devices, json_array_get_element (entries, j)))
          return FALSE;
    }
  return TRUE;
}

/* --- claims of the pod --- */

static gboolean
read_claim (QuoitManifestDevices *devices, JsonNode *entry, QuoitManifestDeviceClaim *claim)
{
  const QuoitManifest *manifest = devices->manifest;
  const char *template = NULL, *own_name = NULL;
  JsonNode *node, *template_node, *own_node;
  g_autofree char *quoted_source = NULL, *description = NULL;

  *claim = (QuoitManifestDeviceClaim) { .node = entry };
  if (!quoit_manifest_devices_find_name (devices, entry, "name", &node, &claim->name)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimTemplateName", &template_node, &template)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimName", &own_node, &own_name))
    return FALSE;
  if ((template_node != NULL) == (own_node != NULL))
    return quoit_tree_fail (manifest->tree, entry, manifest->error,
                            "%s: expected one of 'resourceClaimName' and 'resourceClaimTemplateName'",
                            own_node != NULL ? "both names of claims" : "no claim");
  if (!g_hash_table_insert (devices->uses, (char *) claim->name, g_ptr_array_new ()))
    return quoit_manifest_refuse (manifest, node, "each name once");
  claim->kind = own_node != NULL ? "ResourceClaim" : "ResourceClaimTemplate";
  claim->source = own_node != NULL ? own_name : template;
  claim->source_node = own_node != NULL ? own_node : template_node;
  quoted_source = quoit_quote (claim->source);
  description = g_strdup_printf ("%s %s", claim->kind, quoted_source);
  claim->description = g_string_chunk_insert_const (manifest->texts, description);
  return TRUE;
}

static gboolean
is_claim_document (const QuoitManifestDevices *devices, JsonNode *document, const QuoitManifestDeviceClaim *claim,
                   gboolean *matches)
{
  const QuoitManifest *manifest = devices->manifest;
  const char *kind = NULL, *version = NULL, *name = NULL, *namespace = NULL, *own_name = NULL;
  JsonNode *metadata, *own_metadata;

  *matches = FALSE;
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
      || !quoit_manifest_find (manifest, devices->group->object->document, &own_metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, own_metadata, "namespace", NULL, &own_name))
    return FALSE;
  *matches = g_strcmp0 (name, claim->source) == 0 && quoit_manifest_share_namespace (namespace, own_name)
             && (version == NULL || g_str_has_prefix (version, "resource.k8s.io/"));
  return TRUE;
}

/* *@found is NULL if the file has no such document. */
static gboolean
find_document (const QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim, JsonNode **found)
{
  const QuoitManifest *manifest = devices->manifest;
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);

  *found = NULL;
  for (guint i = 0; documents != NULL && i < documents->len; i++)
    {
      JsonNode *document = documents->pdata[i];
      gboolean matches;

      if (!is_claim_document (devices, document, claim, &matches))
        return FALSE;
      if (matches && *found != NULL)
        return quoit_tree_fail (manifest->tree, quoit_tree_member (document, "metadata"), manifest->error,
                                "a second %s: expected each name once", claim->description);
      if (matches)
        *found = document;
    }
  return documents != NULL;
}

/* All pods of the group share a claim that does not come from a template. */
static void
warn_about_sharing (QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim)
{
  gint64 n_pods = devices->group->replicas * devices->group->hosts;

  if (n_pods > 1 && strcmp (claim->kind, "ResourceClaim") == 0)
    quoit_manifest_devices_warn (devices, claim->source_node,
                                 "%" G_GINT64_FORMAT " pods share %s: its devices are counted on each node", n_pods,
                                 claim->description);
}

static gboolean
count_claim (QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim)
{
  const GPtrArray *uses = g_hash_table_lookup (devices->uses, claim->name);
  g_autofree char *name = quoit_quote (claim->name);
  JsonNode *document;

  if (uses->len == 0)
    {
      quoit_manifest_devices_warn (devices, claim->node, "no container uses claim %s: its devices are not counted",
                                   name);
      return TRUE;
    }
  if (!find_document (devices, claim, &document))
    return FALSE;
  if (document == NULL)
    {
      quoit_manifest_devices_warn (devices, claim->source_node,
                                   "no %s in the file: its devices are unknown and not counted", claim->description);
      return TRUE;
    }
  warn_about_sharing (devices, claim);
  return quoit_manifest_devices_read_requests (devices, claim, document);
}

/* Adds the devices as resources, except those that the group states for Ray itself. */
static void
set_defaults (const QuoitManifestDevices *devices, QuoitRayParams *params)
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
quoit_worker_group_read_devices (const QuoitManifest *manifest, const QuoitWorkerGroup *group, QuoitRayParams *params,
                                 QuoitClaims *claims)
{
  g_auto (QuoitManifestDevices) devices = {
    .manifest = manifest,
    .group = group,
    .claims = claims,
    .uses = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref),
    .classes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
  };
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (QuoitManifestDeviceClaim));
  JsonArray *entries;
  JsonNode *spec;

  if (!quoit_manifest_find (manifest, group->node, &spec, "template", "spec", NULL)
      || !quoit_manifest_devices_find_list (&devices, spec, "resourceClaims", &entries))
    return FALSE;
  for (guint i = 0; entries != NULL && i < json_array_get_length (entries); i++)
    {
      QuoitManifestDeviceClaim claim;

      if (!read_claim (&devices, json_array_get_element (entries, i), &claim))
        return FALSE;
      g_array_append_val (list, claim);
    }
  if (!read_uses (&devices, spec))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    if (!count_claim (&devices, &g_array_index (list, QuoitManifestDeviceClaim, i)))
      return FALSE;

  set_defaults (&devices, params);
  return TRUE;
}
