/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that a pod claims by Kubernetes' dynamic resource allocation: network interfaces, most often. The file's
 * ResourceClaims and ResourceClaimTemplates say how many of which class. */
#include "formats/raycluster.h"

#include <string.h>

enum { MOST_CLAIMS = 256, MOST_NAME_BYTES = 253 };

typedef struct {
  const QuoitManifest *manifest;
  const QuoitRayGroup *of;
  QuoitClaims *claims;
  GHashTable *uses;    /* name of a claim -> GPtrArray of the requests that containers use; "" is all */
  GHashTable *devices; /* class -> gint64 *: how many */
} Reader;

/* One entry of the pod's resourceClaims. */
typedef struct {
  JsonNode *node, *source_node;
  const char *name, *source, *kind; /* kind of the document that is meant by source */
  const char *called;               /* "ResourceClaim 'x'" */
} Claim;

static void
clear_reader (Reader *reader)
{
  g_hash_table_unref (reader->uses);
  g_hash_table_unref (reader->devices);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, clear_reader)

static void G_GNUC_PRINTF (3, 4) warn_at (Reader *reader, JsonNode *node, const char *format, ...)
{
  g_autofree char *place = quoit_tree_place (reader->manifest->tree, node);
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  quoit_claims_warn (reader->claims, "%s: %s", place, text);
}

static gboolean
find_entries (const Reader *reader, JsonNode *from, const char *name, JsonArray **entries)
{
  if (!quoit_manifest_find_list (reader->manifest, from, name, entries))
    return FALSE;
  return *entries == NULL || json_array_get_length (*entries) <= MOST_CLAIMS
         || quoit_tree_fail (reader->manifest->tree, from, reader->manifest->error, "%u %s: expected at most %u",
                             json_array_get_length (*entries), name, (unsigned) MOST_CLAIMS);
}

static gboolean
read_required (const Reader *reader, JsonNode *from, const char *name, JsonNode **node, const char **value)
{
  if (!quoit_manifest_find_text (reader->manifest, from, name, node, value))
    return FALSE;
  if (*node == NULL)
    return quoit_tree_fail (reader->manifest->tree, from, reader->manifest->error, "no '%s': expected a name", name);
  return **value != '\0' || quoit_manifest_refuse (reader->manifest, *node, "a name");
}

/* --- what the containers use --- */

static gboolean
read_use (Reader *reader, JsonNode *entry)
{
  const char *name, *request = "";
  GPtrArray *requests;
  JsonNode *node;

  if (!read_required (reader, entry, "name", &node, &name)
      || !quoit_manifest_find_text (reader->manifest, entry, "request", NULL, &request))
    return FALSE;
  requests = g_hash_table_lookup (reader->uses, name);
  if (requests == NULL)
    return quoit_manifest_refuse (reader->manifest, node, "the name of one of the pod's resourceClaims");
  g_ptr_array_add (requests, (char *) request);
  return TRUE;
}

static gboolean
read_uses (Reader *reader, JsonNode *spec)
{
  JsonArray *containers, *entries;

  if (!quoit_manifest_find_list (reader->manifest, spec, "containers", &containers))
    return FALSE;
  for (guint i = 0; containers != NULL && i < json_array_get_length (containers); i++)
    {
      JsonNode *resources;

      if (!quoit_manifest_find (reader->manifest, json_array_get_element (containers, i), &resources, "resources", NULL)
          || !find_entries (reader, resources, "claims", &entries))
        return FALSE;
      for (guint j = 0; entries != NULL && j < json_array_get_length (entries); j++)
        if (!read_use (reader, json_array_get_element (entries, j)))
          return FALSE;
    }
  return TRUE;
}

static gboolean
uses_request (const GPtrArray *requests, const char *name)
{
  for (guint i = 0; i < requests->len; i++)
    if (*(const char *) requests->pdata[i] == '\0' || g_strcmp0 (requests->pdata[i], name) == 0)
      return TRUE;
  return FALSE;
}

/* --- what the pod claims --- */

static gboolean
read_claim (Reader *reader, JsonNode *entry, Claim *claim)
{
  const QuoitManifest *manifest = reader->manifest;
  const char *template = NULL, *own = NULL;
  JsonNode *node, *template_node, *own_node;
  g_autofree char *quoted = NULL, *called = NULL;

  *claim = (Claim) { .node = entry };
  if (!read_required (reader, entry, "name", &node, &claim->name)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimTemplateName", &template_node, &template)
      || !quoit_manifest_find_text (manifest, entry, "resourceClaimName", &own_node, &own))
    return FALSE;
  if ((template_node != NULL) == (own_node != NULL))
    return quoit_tree_fail (manifest->tree, entry, manifest->error,
                            "%s: expected one of 'resourceClaimName' and 'resourceClaimTemplateName'",
                            own_node != NULL ? "both names of claims" : "no claim");
  if (!g_hash_table_insert (reader->uses, (char *) claim->name, g_ptr_array_new ()))
    return quoit_manifest_refuse (manifest, node, "each name once");
  claim->kind = own_node != NULL ? "ResourceClaim" : "ResourceClaimTemplate";
  claim->source = own_node != NULL ? own : template;
  claim->source_node = own_node != NULL ? own_node : template_node;
  quoted = quoit_quote (claim->source);
  called = g_strdup_printf ("%s %s", claim->kind, quoted);
  claim->called = g_string_chunk_insert_const (manifest->texts, called);
  return TRUE;
}

/* Not stated is not known: then it may be the other's. */
static gboolean
is_same_namespace (const char *a, const char *b)
{
  return a == NULL || b == NULL || strcmp (a, b) == 0;
}

static gboolean
is_meant (const Reader *reader, JsonNode *document, const Claim *claim, gboolean *is)
{
  const QuoitManifest *manifest = reader->manifest;
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
      || !quoit_manifest_find (manifest, reader->of->object->document, &own_metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, own_metadata, "namespace", NULL, &own))
    return FALSE;
  *is = g_strcmp0 (name, claim->source) == 0 && is_same_namespace (namespace, own)
        && (version == NULL || g_str_has_prefix (version, "resource.k8s.io/"));
  return TRUE;
}

/* *@found is NULL where the file has no such document. */
static gboolean
find_document (const Reader *reader, const Claim *claim, JsonNode **found)
{
  const QuoitManifest *manifest = reader->manifest;
  g_autoptr (GPtrArray) documents = quoit_manifest_objects (manifest);

  *found = NULL;
  for (guint i = 0; documents != NULL && i < documents->len; i++)
    {
      JsonNode *document = documents->pdata[i];
      gboolean is;

      if (!is_meant (reader, document, claim, &is))
        return FALSE;
      if (is && *found != NULL)
        return quoit_tree_fail (manifest->tree, quoit_tree_member (document, "metadata"), manifest->error,
                                "a second %s: expected each name once", claim->called);
      if (is)
        *found = document;
    }
  return documents != NULL;
}

/* --- what the claims ask for --- */

static gboolean
read_class (const Reader *reader, JsonNode *asked, const char **class)
{
  JsonNode *node;

  if (!read_required (reader, asked, "deviceClassName", &node, class))
    return FALSE;
  return (strspn (*class, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen (*class)
          && strlen (*class) <= MOST_NAME_BYTES)
         || quoit_manifest_refuse (reader->manifest, node,
                                   "the name of a device class: at most 253 lower-case letters, digits, '-' and '.'");
}

/* *@count is -1, after a warning, where the request does not say how many devices the pod has for itself. */
static gboolean
read_device_count (Reader *reader, JsonNode *asked, gint64 *count)
{
  const QuoitManifest *manifest = reader->manifest;
  JsonNode *mode_node, *count_node;
  const char *mode = "ExactCount";
  gboolean is_admin = FALSE;
  gint64 stated = 1;

  if (!quoit_manifest_find_text (manifest, asked, "allocationMode", &mode_node, &mode)
      || !quoit_manifest_find_count (manifest, asked, "count", &count_node, &stated)
      || !quoit_manifest_find_boolean (manifest, asked, "adminAccess", &is_admin))
    return FALSE;
  if (strcmp (mode, "ExactCount") != 0 && strcmp (mode, "All") != 0)
    return quoit_manifest_refuse (manifest, mode_node, "ExactCount or All");
  if (stated == 0)
    return quoit_manifest_refuse (manifest, count_node, "at least 1 device");
  *count = stated;
  if (is_admin)
    warn_at (reader, asked, "'adminAccess': the devices are others' too, they are not counted");
  else if (strcmp (mode, "All") == 0)
    warn_at (reader, mode_node, "'All': how many devices that is depends on the node, they are not counted");
  else
    return TRUE;
  *count = -1;
  return TRUE;
}

static void
add_devices (Reader *reader, const char *class, gint64 count)
{
  const gint64 *before = g_hash_table_lookup (reader->devices, class);
  gint64 sum = count + (before != NULL ? *before : 0);

  g_hash_table_replace (reader->devices, g_strdup (class), g_memdup2 (&sum, sizeof sum));
}

static gboolean
read_request (Reader *reader, JsonNode *request)
{
  JsonNode *exactly, *alternatives;
  const char *class;
  gint64 count = -1;

  if (!quoit_manifest_find (reader->manifest, request, &exactly, "exactly", NULL)
      || !quoit_manifest_find (reader->manifest, request, &alternatives, "firstAvailable", NULL))
    return FALSE;
  if (alternatives != NULL)
    {
      warn_at (reader, alternatives, "which of the alternatives there will be is not known: they are not counted");
      return TRUE;
    }
  /* Until v1beta1 there was no "exactly": its members stood in the request. */
  if (exactly == NULL)
    exactly = request;
  if (!read_class (reader, exactly, &class) || !read_device_count (reader, exactly, &count))
    return FALSE;
  if (count > 0)
    add_devices (reader, class, count);
  return TRUE;
}

static gboolean
check_uses (const Reader *reader, const Claim *claim, GHashTable *names)
{
  const GPtrArray *uses = g_hash_table_lookup (reader->uses, claim->name);

  for (guint i = 0; i < uses->len; i++)
    {
      g_autofree char *quoted = quoit_quote (uses->pdata[i]);

      if (*(const char *) uses->pdata[i] != '\0' && !g_hash_table_contains (names, uses->pdata[i]))
        return quoit_tree_fail (reader->manifest->tree, claim->node, reader->manifest->error,
                                "request %s, which a container uses: expected one of %s", quoted, claim->called);
    }
  return TRUE;
}

static gboolean
read_requests (Reader *reader, const Claim *claim, JsonNode *document)
{
  const GPtrArray *uses = g_hash_table_lookup (reader->uses, claim->name);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  JsonNode *spec = document, *devices;
  JsonArray *requests;

  /* A template's spec is that of its claims, one level down. */
  if (strcmp (claim->kind, "ResourceClaimTemplate") == 0
      && !quoit_manifest_find (reader->manifest, document, &spec, "spec", NULL))
    return FALSE;
  if (!quoit_manifest_find (reader->manifest, spec, &devices, "spec", "devices", NULL)
      || !find_entries (reader, devices, "requests", &requests))
    return FALSE;
  for (guint i = 0; requests != NULL && i < json_array_get_length (requests); i++)
    {
      JsonNode *request = json_array_get_element (requests, i), *node;
      const char *name;

      if (!read_required (reader, request, "name", &node, &name))
        return FALSE;
      if (!g_hash_table_add (names, (char *) name))
        return quoit_manifest_refuse (reader->manifest, node, "each name once");
      if (uses_request (uses, name) && !read_request (reader, request))
        return FALSE;
    }
  return check_uses (reader, claim, names);
}

/* A claim that is no template's is one for all pods. */
static void
warn_of_sharing (Reader *reader, const Claim *claim)
{
  gint64 n_pods = reader->of->replicas * reader->of->hosts;

  if (n_pods > 1 && strcmp (claim->kind, "ResourceClaim") == 0)
    warn_at (reader, claim->source_node, "%" G_GINT64_FORMAT " pods share %s: its devices are counted on each node",
             n_pods, claim->called);
}

static gboolean
count_claim (Reader *reader, const Claim *claim)
{
  const GPtrArray *uses = g_hash_table_lookup (reader->uses, claim->name);
  g_autofree char *name = quoit_quote (claim->name);
  JsonNode *document;

  if (uses->len == 0)
    {
      warn_at (reader, claim->node, "no container has claim %s: its devices are not counted", name);
      return TRUE;
    }
  if (!find_document (reader, claim, &document))
    return FALSE;
  if (document == NULL)
    {
      warn_at (reader, claim->source_node, "no %s in the file: its devices are not known, and not counted",
               claim->called);
      return TRUE;
    }
  warn_of_sharing (reader, claim);
  return read_requests (reader, claim, document);
}

/* What the group says to Ray itself is what Ray knows of. */
static void
set_defaults (const Reader *reader, QuoitRayParams *params)
{
  GHashTableIter iter;
  gpointer class, count;

  g_hash_table_iter_init (&iter, reader->devices);
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
  g_auto (Reader) reader = {
    .manifest = manifest,
    .of = of,
    .claims = claims,
    .uses = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref),
    .devices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
  };
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Claim));
  JsonArray *entries;
  JsonNode *spec;

  if (!quoit_manifest_find (manifest, of->node, &spec, "template", "spec", NULL)
      || !find_entries (&reader, spec, "resourceClaims", &entries))
    return FALSE;
  for (guint i = 0; entries != NULL && i < json_array_get_length (entries); i++)
    {
      Claim claim;

      if (!read_claim (&reader, json_array_get_element (entries, i), &claim))
        return FALSE;
      g_array_append_val (list, claim);
    }
  if (!read_uses (&reader, spec))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    if (!count_claim (&reader, &g_array_index (list, Claim, i)))
      return FALSE;

  set_defaults (&reader, params);
  return TRUE;
}
