/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/env-from.h"

#include <string.h>

#include "base/name-hash.h"
#include "models/webhook/containers.h"

/* Many containers can repeat one large ConfigMap. */
enum { MOST_BYTES = 1 << 26 };

/* The two kinds of objects. A later member overrides an earlier one: the API server writes stringData into data. */
static const struct {
  const char *kind, *member; /* @member of the entry of envFrom names the object */
  struct {
    const char *name;
    gboolean is_encoded; /* in base64 */
  } data[2];
} sources[] = {
  { "ConfigMap", "configMapRef", { { "data", FALSE } } },
  { "Secret", "secretRef", { { "data", TRUE }, { "stringData", FALSE } } },
};

typedef struct {
  guint kind; /* index of sources[] */
  JsonNode *node;
  const char *name, *prefix;
  gboolean is_optional;
} Reference;

void
quoit_env_from_clear (QuoitEnvFromReader *reader)
{
  g_clear_pointer (&reader->objects, g_hash_table_unref);
  g_clear_pointer (&reader->missing, g_hash_table_unref);
}

static void add_note (const QuoitEnvFromReader *reader, JsonNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
add_note (const QuoitEnvFromReader *reader, JsonNode *node, const char *format, ...)
{
  g_autofree char *place = quoit_tree_place (reader->manifest->tree, node), *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (reader->notes, g_strdup_printf ("%s: %s", place, text));
}

/* --- objects --- */

static gboolean
add_object (QuoitEnvFromReader *reader, JsonNode *document)
{
  const QuoitManifest *manifest = reader->manifest;
  const char *kind = NULL, *name = NULL;
  g_autofree char *key = NULL;
  GPtrArray *same_name;
  JsonNode *metadata;

  if (!JSON_NODE_HOLDS_OBJECT (document))
    return TRUE;
  if (!quoit_manifest_find_text (manifest, document, "kind", NULL, &kind))
    return FALSE;
  if (g_strcmp0 (kind, sources[0].kind) != 0 && g_strcmp0 (kind, sources[1].kind) != 0)
    return TRUE;
  if (!quoit_manifest_find (manifest, document, &metadata, "metadata", NULL)
      || !quoit_manifest_find_text (manifest, metadata, "name", NULL, &name))
    return FALSE;

  key = g_strconcat (kind, "/", name == NULL ? "" : name, NULL);
  same_name = g_hash_table_lookup (reader->objects, key);
  if (same_name == NULL)
    {
      same_name = g_ptr_array_new ();
      g_hash_table_insert (reader->objects, g_steal_pointer (&key), same_name);
    }
  g_ptr_array_add (same_name, document);
  return TRUE;
}

static gboolean
read_objects (QuoitEnvFromReader *reader)
{
  g_autoptr (GPtrArray) documents = NULL;

  if (reader->objects != NULL)
    return TRUE;
  documents = quoit_manifest_objects (reader->manifest);
  if (documents == NULL)
    return FALSE;
  reader->objects = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  reader->missing = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  for (guint i = 0; i < documents->len; i++)
    if (!add_object (reader, documents->pdata[i]))
      return FALSE;
  return TRUE;
}

/* *@found is NULL if the file has no such object. */
static gboolean
find_object (const QuoitEnvFromReader *reader, const Reference *reference, const char *key, JsonNode **found)
{
  const QuoitManifest *manifest = reader->manifest;
  const GPtrArray *same_name = g_hash_table_lookup (reader->objects, key);
  g_autofree char *quoted = NULL;

  *found = NULL;
  for (guint i = 0; same_name != NULL && i < same_name->len; i++)
    {
      JsonNode *document = same_name->pdata[i], *metadata;
      const char *namespace = NULL;

      if (!quoit_manifest_find (manifest, document, &metadata, "metadata", NULL)
          || !quoit_manifest_find_text (manifest, metadata, "namespace", NULL, &namespace))
        return FALSE;
      if (!quoit_manifest_share_namespace (namespace, reader->namespace))
        continue;
      if (*found != NULL)
        {
          quoted = quoit_quote (reference->name);
          return quoit_tree_fail (manifest->tree, metadata, manifest->error, "a second %s %s: expected each name once",
                                  sources[reference->kind].kind, quoted);
        }
      *found = document;
    }
  return TRUE;
}

/* --- values --- */

/* Returns whether Go's base64 reader, which ignores line breaks, accepts the text. g_base64_decode() accepts any. */
static gboolean
is_base64 (const char *text)
{
  gsize n_digits = 0, n_padding = 0;

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '=')
      n_padding++;
    else if (n_padding == 0 && (g_ascii_isalnum (*p) || *p == '+' || *p == '/'))
      n_digits++;
    else if (*p != '\r' && *p != '\n')
      return FALSE;
  return n_padding <= 2 && (n_digits + n_padding) % 4 == 0;
}

/* Sets *@value to the decoded text; NULL, with a note, if it is not text. g_free() it. */
static gboolean
decode_base64 (const QuoitEnvFromReader *reader, JsonNode *node, const char *text, char **value)
{
  g_autofree char *bytes = NULL;
  gsize n_bytes;

  if (!is_base64 (text))
    return quoit_manifest_refuse (reader->manifest, node, "base64");
  bytes = (char *) g_base64_decode (text, &n_bytes);
  if (g_utf8_validate_len (bytes, n_bytes, NULL))
    *value = g_strndup (bytes, n_bytes);
  else
    add_note (reader, node, "the value is not text: its variable is omitted");
  return TRUE;
}

static gboolean
add_value (QuoitEnvFromReader *reader, const Reference *reference, const char *key, JsonNode *node, gboolean is_encoded,
           GArray *containers)
{
  g_autofree char *decoded = NULL, *name = NULL;
  const char *text = "";

  if (!quoit_manifest_text (reader->manifest, node, &text)
      || (is_encoded && !decode_base64 (reader, node, text, &decoded)))
    return FALSE;
  if (is_encoded && decoded == NULL)
    return TRUE;

  name = g_strconcat (reference->prefix, key, NULL);
  text = is_encoded ? decoded : text;
  reader->n_bytes += sizeof (QuoitWebhookVariable) + strlen (name) + strlen (text);
  if (reader->n_bytes > MOST_BYTES)
    return quoit_tree_fail (reader->manifest->tree, reference->node, reader->manifest->error,
                            "'%" G_GSIZE_FORMAT "' bytes of variables from envFrom: expected at most %d",
                            reader->n_bytes, MOST_BYTES);
  quoit_webhook_add_source_variable (containers, containers->len - 1, name, text);
  return TRUE;
}

static gboolean
add_object_values (QuoitEnvFromReader *reader, const Reference *reference, JsonNode *object, GArray *containers)
{
  for (guint i = 0; i < G_N_ELEMENTS (sources[0].data) && sources[reference->kind].data[i].name != NULL; i++)
    {
      JsonNode *data;
      JsonObjectIter iter;
      JsonObject *map;
      const char *key;
      JsonNode *value;

      if (!quoit_manifest_find (reader->manifest, object, &data, sources[reference->kind].data[i].name, NULL))
        return FALSE;
      if (data == NULL)
        continue;
      if (!quoit_tree_object (reader->manifest->tree, data, &map, reader->manifest->error))
        return FALSE;
      json_object_iter_init_ordered (&iter, map);
      while (json_object_iter_next_ordered (&iter, &key, &value))
        if (!add_value (reader, reference, key, value, sources[reference->kind].data[i].is_encoded, containers))
          return FALSE;
    }
  return TRUE;
}

/* --- references --- */

static gboolean
read_reference (const QuoitEnvFromReader *reader, JsonNode *entry, Reference *reference)
{
  const QuoitManifest *manifest = reader->manifest;
  guint n = 0;

  *reference = (Reference) { .name = "", .prefix = "" };
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      JsonNode *node;

      if (!quoit_manifest_find (manifest, entry, &node, sources[i].member, NULL))
        return FALSE;
      if (node == NULL)
        continue;
      n++;
      reference->kind = i;
      reference->node = node;
    }
  if (n != 1)
    return quoit_tree_fail (manifest->tree, entry, manifest->error,
                            "%s: expected one of 'configMapRef' and 'secretRef'", n == 0 ? "no source" : "two sources");
  return quoit_manifest_find_text (manifest, entry, "prefix", NULL, &reference->prefix)
         && quoit_manifest_find_text (manifest, reference->node, "name", NULL, &reference->name)
         && quoit_manifest_find_boolean (manifest, reference->node, "optional", &reference->is_optional);
}

static gboolean
follow_reference (QuoitEnvFromReader *reader, const Reference *reference, GArray *containers)
{
  g_autofree char *key = g_strconcat (sources[reference->kind].kind, "/", reference->name, NULL);
  g_autofree char *quoted = quoit_quote (reference->name);
  JsonNode *object;

  if (!find_object (reader, reference, key, &object))
    return FALSE;
  if (object != NULL)
    return add_object_values (reader, reference, object, containers);
  if (!reference->is_optional && g_hash_table_add (reader->missing, g_steal_pointer (&key)))
    add_note (reader, reference->node, "no %s %s in the file: its variables are not known",
              sources[reference->kind].kind, quoted);
  return TRUE;
}

gboolean
quoit_env_from_read (QuoitEnvFromReader *reader, JsonNode *container, GArray *containers)
{
  JsonArray *entries;

  if (!quoit_manifest_find_list (reader->manifest, container, "envFrom", &entries))
    return FALSE;
  if (entries == NULL)
    return TRUE;
  if (!read_objects (reader))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (entries); i++)
    {
      Reference reference;

      if (!read_reference (reader, json_array_get_element (entries, i), &reference)
          || !follow_reference (reader, &reference, containers))
        return FALSE;
    }
  return TRUE;
}
