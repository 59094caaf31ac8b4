/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the requests in a ResourceClaim or ResourceClaimTemplate, and counts the devices of each class. */
#include <string.h>

#include "base/name-hash.h"
#include "formats/raycluster-devices.h"

enum { MOST_ENTRIES = 256, MOST_NAME_BYTES = 253 };

void
quoit_manifest_devices_warn (QuoitManifestDevices *devices, JsonNode *node, const char *format, ...)
{
  g_autofree char *place = quoit_tree_place (devices->manifest->tree, node);
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  quoit_claims_warn (devices->claims, "%s: %s", place, text);
}

gboolean
quoit_manifest_devices_find_list (const QuoitManifestDevices *devices, JsonNode *from, const char *name,
                                  JsonArray **entries)
{
  if (!quoit_manifest_find_list (devices->manifest, from, name, entries))
    return FALSE;
  return *entries == NULL || json_array_get_length (*entries) <= MOST_ENTRIES
         || quoit_tree_fail (devices->manifest->tree, from, devices->manifest->error, "%u %s: expected at most %u",
                             json_array_get_length (*entries), name, (unsigned) MOST_ENTRIES);
}

gboolean
quoit_manifest_devices_find_name (const QuoitManifestDevices *devices, JsonNode *from, const char *name,
                                  JsonNode **node, const char **value)
{
  if (!quoit_manifest_find_text (devices->manifest, from, name, node, value))
    return FALSE;
  if (*node == NULL)
    return quoit_tree_fail (devices->manifest->tree, from, devices->manifest->error, "no '%s': expected a name", name);
  return **value != '\0' || quoit_manifest_refuse (devices->manifest, *node, "a name");
}

static gboolean
uses_request (const GPtrArray *requests, const char *name)
{
  for (guint i = 0; i < requests->len; i++)
    if (*(const char *) requests->pdata[i] == '\0' || g_strcmp0 (requests->pdata[i], name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_class (const QuoitManifestDevices *devices, JsonNode *request, const char **class)
{
  JsonNode *node;

  if (!quoit_manifest_devices_find_name (devices, request, "deviceClassName", &node, class))
    return FALSE;
  if (strcmp (*class, "memory") == 0)
    return quoit_manifest_refuse (devices->manifest, node, "another name: this is Ray's name for the node's memory");
  return (strspn (*class, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen (*class)
          && strlen (*class) <= MOST_NAME_BYTES)
         || quoit_manifest_refuse (devices->manifest, node,
                                   "the name of a device class: at most 253 lower-case letters, digits, '-' and '.'");
}

/* Sets *@count to the number of devices that the pod gets for itself. If that number is unknown, warns and sets it
 * to -1. */
static gboolean
read_device_count (QuoitManifestDevices *devices, JsonNode *request, gint64 *count)
{
  const QuoitManifest *manifest = devices->manifest;
  JsonNode *mode_node, *count_node;
  const char *mode = "ExactCount";
  gboolean is_admin = FALSE;
  gint64 stated = 1;

  if (!quoit_manifest_find_text (manifest, request, "allocationMode", &mode_node, &mode)
      || !quoit_manifest_find_count (manifest, request, "count", &count_node, &stated)
      || !quoit_manifest_find_boolean (manifest, request, "adminAccess", &is_admin))
    return FALSE;
  if (strcmp (mode, "ExactCount") != 0 && strcmp (mode, "All") != 0)
    return quoit_manifest_refuse (manifest, mode_node, "ExactCount or All");
  if (stated == 0)
    return quoit_manifest_refuse (manifest, count_node, "at least 1 device");
  *count = stated;
  if (is_admin)
    quoit_manifest_devices_warn (devices, request,
                                 "'adminAccess': other pods use these devices too, so they are not counted");
  else if (strcmp (mode, "All") == 0)
    quoit_manifest_devices_warn (devices, mode_node,
                                 "'All': the number of devices depends on the node, so they are not counted");
  else
    return TRUE;
  *count = -1;
  return TRUE;
}

static void
add_devices (QuoitManifestDevices *devices, const char *class, gint64 count)
{
  const gint64 *before = g_hash_table_lookup (devices->classes, class);
  gint64 sum = count + (before != NULL ? *before : 0);

  g_hash_table_replace (devices->classes, g_strdup (class), g_memdup2 (&sum, sizeof sum));
}

static gboolean
read_request (QuoitManifestDevices *devices, JsonNode *request)
{
  JsonNode *exactly, *alternatives;
  const char *class;
  gint64 count = -1;

  if (!quoit_manifest_find (devices->manifest, request, &exactly, "exactly", NULL)
      || !quoit_manifest_find (devices->manifest, request, &alternatives, "firstAvailable", NULL))
    return FALSE;
  if (alternatives != NULL)
    {
      quoit_manifest_devices_warn (devices, alternatives,
                                   "it is not known which alternative the pod will get, so they are not counted");
      return TRUE;
    }
  /* Up to v1beta1, the members of "exactly" are members of the request itself. */
  if (exactly == NULL)
    exactly = request;
  if (!read_class (devices, exactly, &class) || !read_device_count (devices, exactly, &count))
    return FALSE;
  if (count > 0)
    add_devices (devices, class, count);
  return TRUE;
}

static gboolean
check_uses (const QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim, GHashTable *names)
{
  const GPtrArray *uses = g_hash_table_lookup (devices->uses, claim->name);

  for (guint i = 0; i < uses->len; i++)
    {
      g_autofree char *quoted = quoit_quote (uses->pdata[i]);

      if (*(const char *) uses->pdata[i] != '\0' && !g_hash_table_contains (names, uses->pdata[i]))
        return quoit_tree_fail (devices->manifest->tree, claim->node, devices->manifest->error,
                                "request %s, which a container uses: expected one of %s", quoted, claim->description);
    }
  return TRUE;
}

gboolean
quoit_manifest_devices_read_requests (QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim,
                                      JsonNode *document)
{
  const GPtrArray *uses = g_hash_table_lookup (devices->uses, claim->name);
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonNode *spec = document, *spec_devices;
  JsonArray *requests;

  /* In a template, the spec of the claim is one level deeper. */
  if (strcmp (claim->kind, "ResourceClaimTemplate") == 0
      && !quoit_manifest_find (devices->manifest, document, &spec, "spec", NULL))
    return FALSE;
  if (!quoit_manifest_find (devices->manifest, spec, &spec_devices, "spec", "devices", NULL)
      || !quoit_manifest_devices_find_list (devices, spec_devices, "requests", &requests))
    return FALSE;
  for (guint i = 0; requests != NULL && i < json_array_get_length (requests); i++)
    {
      JsonNode *request = json_array_get_element (requests, i), *node;
      const char *name;

      if (!quoit_manifest_devices_find_name (devices, request, "name", &node, &name))
        return FALSE;
      if (!g_hash_table_add (names, (char *) name))
        return quoit_manifest_refuse (devices->manifest, node, "each name once");
      if (uses_request (uses, name) && !read_request (devices, request))
        return FALSE;
    }
  return check_uses (devices, claim, names);
}
