/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/yaml-scalar.h"

#include <math.h>
#include <string.h>

static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
/* The words from "y" and "n" on are YAML 1.1, which Kubernetes still accepts. */
static const char *const trues[] = { "true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", NULL };
static const char *const falses[]
    = { "false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF", NULL };

static const char tag_prefix[] = "tag:yaml.org,2002:";

gboolean
quoit_yaml_tag_is_known (const char *tag)
{
  static const char *const known[] = { "str", "int", "float", "bool", "null", "seq", "map", NULL };

  if (strcmp (tag, "!") == 0)
    return TRUE;
  return g_str_has_prefix (tag, tag_prefix) && g_strv_contains (known, tag + strlen (tag_prefix));
}

gboolean
quoit_yaml_tag_is_text (const char *tag)
{
  return strcmp (tag, "!") == 0 || strcmp (tag + strlen (tag_prefix), "str") == 0;
}

gboolean
quoit_yaml_tag_fits (const char *tag, JsonNode *node, gboolean is_text)
{
  const char *word = tag + strlen (tag_prefix);
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  gboolean is_number = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE || (type == G_TYPE_STRING && !is_text);

  if (strcmp (word, "null") == 0)
    return JSON_NODE_HOLDS_NULL (node);
  if (strcmp (word, "bool") == 0)
    return type == G_TYPE_BOOLEAN;
  return strcmp (word, "float") == 0 ? is_number : is_number && type != G_TYPE_DOUBLE;
}

static const char *
skip_digits (const char *p)
{
  while (g_ascii_isdigit (*p))
    p++;
  return p;
}

/* Accepts decimal integers without leading zeros, because other YAML readers take a leading zero for octal. */
static gboolean
is_integer (const char *text)
{
  const char *p = text + (*text == '-' || *text == '+');

  if (*p == '0')
    return p[1] == '\0';
  return g_ascii_isdigit (*p) && *skip_digits (p) == '\0';
}

static gboolean
is_real (const char *text)
{
  const char *p = text + (*text == '-' || *text == '+'), *whole = p;

  p = skip_digits (p);
  if (*p == '.')
    {
      const char *fraction = p + 1;

      p = skip_digits (fraction);
      if (p == fraction && fraction - 1 == whole)
        return FALSE;
    }
  else if (p == whole || (*whole == '0' && p - whole > 1))
    return FALSE;
  if (*p == 'e' || *p == 'E')
    {
      p += 1 + (p[1] == '+' || p[1] == '-');
      if (!g_ascii_isdigit (*p))
        return FALSE;
      p = skip_digits (p);
    }
  return *p == '\0';
}

/* Returns whether other readers take the text for a number: 010, 0x1f, 0b1, 0o17, 1_000, .inf, .nan. */
static gboolean
is_other_number (const char *text)
{
  const char *p = text + (*text == '-' || *text == '+');

  if (g_ascii_strcasecmp (p, ".inf") == 0 || g_ascii_strcasecmp (p, ".nan") == 0)
    return TRUE;
  if (!g_ascii_isdigit (*p))
    return FALSE;
  if (p[0] == '0' && p[1] != '\0' && strchr ("xXoObB", p[1]) != NULL)
    {
      for (p += 2; g_ascii_isxdigit (*p) || *p == '_'; p++)
        ;
      return *p == '\0';
    }
  for (; g_ascii_isdigit (*p) || *p == '_' || *p == '.'; p++)
    ;
  return *p == '\0' && strchr (text, '.') == strrchr (text, '.');
}

JsonNode *
quoit_yaml_resolve (const char *plain, gboolean *is_text)
{
  JsonNode *node = json_node_alloc ();
  gint64 integer;

  *is_text = FALSE;
  if (g_strv_contains (nulls, plain))
    return json_node_init_null (node);
  if (g_strv_contains (trues, plain))
    return json_node_init_boolean (node, TRUE);
  if (g_strv_contains (falses, plain))
    return json_node_init_boolean (node, FALSE);
  if (is_integer (plain)
      && g_ascii_string_to_signed (*plain == '+' ? plain + 1 : plain, 10, G_MININT64, G_MAXINT64, &integer, NULL))
    return json_node_init_int (node, integer);
  if (is_real (plain) && isfinite (g_ascii_strtod (plain, NULL)))
    return json_node_init_double (node, g_ascii_strtod (plain, NULL));

  /* A number beyond the range of doubles is text. */
  *is_text = !is_other_number (plain);
  return json_node_init_string (node, plain);
}
