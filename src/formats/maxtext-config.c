/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/maxtext-config.h"

#include <string.h>

#include "formats/tree.h"
#include "formats/yaml.h"

static void
clear_setting (gpointer data)
{
  QuoitConfigSetting *setting = data;

  g_free (setting->key);
  g_free (setting->value);
}

static guint
read_base (const char **text)
{
  const char *p = *text;

  if (p[0] != '0' || p[1] == '\0')
    return 10;
  *text += p[1] == 'x' || p[1] == 'b' ? 2 : 1;
  return p[1] == 'x' ? 16 : p[1] == 'b' ? 2 : 8;
}

/* Converts integers in the forms of YAML 1.1, which PyYAML reads, to decimal digits: 0x10, 0b1, 010, 1_000. Free
 * the result with g_free(). NULL: the text is not an integer. */
static char *
to_decimal (const char *plain)
{
  gboolean is_negative = *plain == '-';
  const char *digits = plain + (is_negative || *plain == '+');
  guint base = g_ascii_isdigit (*digits) ? read_base (&digits) : 0;
  g_auto (GStrv) parts = g_strsplit (digits, "_", -1);
  g_autofree char *joined = g_strjoinv ("", parts);
  guint64 number;

  if (base == 0 || !g_ascii_string_to_unsigned (joined, base, 0, G_MAXINT64, &number, NULL))
    return NULL;
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT, is_negative ? "-" : "", number);
}

/* Returns the value as text. An unquoted scalar keeps its source text, because parsing loses digits of a number. */
static char *
setting_text (const QuoitTree *tree, JsonNode *node)
{
  const char *plain = quoit_tree_plain (tree, node);
  char *decimal;

  if (JSON_NODE_HOLDS_NULL (node))
    return g_strdup ("null");
  if (!JSON_NODE_HOLDS_VALUE (node))
    return json_to_string (node, FALSE);
  if (plain == NULL)
    return json_node_get_value_type (node) == G_TYPE_STRING ? json_node_dup_string (node)
                                                            : json_to_string (node, FALSE);
  decimal = to_decimal (plain);
  return decimal != NULL ? decimal : g_strdup (plain);
}

static GArray *
read_settings (const QuoitTree *tree, JsonObject *object)
{
  GArray *settings = g_array_new (FALSE, FALSE, sizeof (QuoitConfigSetting));
  JsonObjectIter iter;
  const char *key;
  JsonNode *node;

  g_array_set_clear_func (settings, clear_setting);
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &node))
    {
      QuoitConfigSetting setting = { g_strdup (key), setting_text (tree, node), quoit_tree_line (tree, node) };

      g_array_append_val (settings, setting);
    }
  return settings;
}

GArray *
quoit_maxtext_config_read (const char *text, gsize length, GError **error)
{
  g_autoptr (QuoitTree) tree = quoit_tree_parse_yaml (text, length, error);

  if (tree == NULL)
    return NULL;
  if (quoit_tree_n_documents (tree) > 1)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "line %u: a second document: expected one, of settings",
                            quoit_tree_line (tree, quoit_tree_document (tree, 1)));
  if (!JSON_NODE_HOLDS_OBJECT (quoit_tree_document (tree, 0)))
    return quoit_tree_refuse (tree, quoit_tree_document (tree, 0), "a map of settings, KEY: VALUE", error), NULL;
  return read_settings (tree, json_node_get_object (quoit_tree_document (tree, 0)));
}
