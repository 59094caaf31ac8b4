/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/schema/value.h"

#include <math.h>
#include <string.h>

#include "base/dns.h"
#include "formats/variables.h"
#include "formats/yaml.h"

enum { MOST_SUBDOMAIN_BYTES = 253, MOST_LABEL_BYTES = 63, MOST_PORT_BYTES = 15 };

/* --- scalars --- */

/* Doubles from 2^63 on do not fit, and those from -2^63 on do. */
static QuoitScalar
from_double (double value)
{
  if (!(fabs (value) < 9223372036854775808.0) || floor (value) != value)
    return (QuoitScalar) { .type = QUOIT_SCALAR_FRACTION };
  return (QuoitScalar) { .type = QUOIT_SCALAR_INTEGER, .integer = (gint64) value };
}

/* Reads a number that YAML 1.2 does not have: octal (010, 0o17), hexadecimal, binary, with underscores, .inf, .nan. */
static QuoitScalar
from_other_number (const char *plain)
{
  g_autofree char *text = g_strdup (plain);
  const char *digits;
  gint64 value;
  guint base = 10;
  gboolean is_negative;
  char *to = text;

  for (const char *from = plain; *from != '\0'; from++)
    if (*from != '_')
      *to++ = *from;
  *to = '\0';
  is_negative = *text == '-';
  digits = text + (*text == '-' || *text == '+');
  if (digits[0] == '0' && digits[1] != '\0')
    {
      base = strchr ("xX", digits[1]) != NULL ? 16 : strchr ("bB", digits[1]) != NULL ? 2 : 8;
      digits += g_ascii_isalpha (digits[1]) ? 2 : 1;
    }
  if (g_ascii_string_to_signed (digits, base, 0, G_MAXINT64, &value, NULL))
    return (QuoitScalar) { .type = QUOIT_SCALAR_INTEGER, .integer = is_negative ? -value : value };
  if (g_ascii_isdigit (*digits))
    return from_double (g_ascii_strtod (text, NULL));
  return (QuoitScalar) { .type = QUOIT_SCALAR_FRACTION };
}

static QuoitScalar
from_node (JsonNode *node, const char *plain, const char *text)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return (QuoitScalar) { .type = QUOIT_SCALAR_NULL };
  if (!JSON_NODE_HOLDS_VALUE (node))
    return (QuoitScalar) { .type = QUOIT_SCALAR_NONE };
  switch (json_node_get_value_type (node))
    {
    case G_TYPE_BOOLEAN:
      return (QuoitScalar) { .type = QUOIT_SCALAR_BOOLEAN };
    case G_TYPE_INT64:
      return (QuoitScalar) { .type = QUOIT_SCALAR_INTEGER, .integer = json_node_get_int (node) };
    case G_TYPE_DOUBLE:
      return from_double (json_node_get_double (node));
    default:
      return plain != NULL ? from_other_number (plain) : (QuoitScalar) { .type = QUOIT_SCALAR_STRING, .text = text };
    }
}

QuoitScalar
quoit_scalar_read (const QuoitManifest *manifest, JsonNode *node)
{
  const char *plain = quoit_tree_plain (manifest->tree, node);
  const char *text = plain;
  g_autofree char *with_values = NULL;
  g_autoptr (JsonNode) resolved = NULL;
  gboolean is_text;

  if (text == NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    text = json_node_get_string (node);
  if (text == NULL || strstr (text, "${") == NULL)
    return from_node (node, plain, text);

  with_values = quoit_variables_expand (text, manifest->set, NULL, NULL);
  if (with_values == NULL)
    return (QuoitScalar) { .type = QUOIT_SCALAR_UNKNOWN };
  text = g_string_chunk_insert_const (manifest->texts, with_values);
  if (plain == NULL)
    return (QuoitScalar) { .type = QUOIT_SCALAR_STRING, .text = text };
  resolved = quoit_yaml_resolve (text, &is_text);
  return from_node (resolved, is_text ? NULL : text, text);
}

/* --- formats of texts --- */

static const char *
skip (const char *p, const char *bytes)
{
  return p + strspn (p, bytes);
}

gboolean
quoit_is_quantity (const char *text)
{
  static const char digits[] = "0123456789";
  static const char *const suffixes[]
      = { "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", NULL };
  const char *number = text + (*text == '+' || *text == '-'), *end = skip (number, digits);
  gsize n_digits = (gsize) (end - number);

  if (*end == '.')
    {
      const char *fraction = end + 1;

      end = skip (fraction, digits);
      n_digits += (gsize) (end - fraction);
    }
  if (n_digits == 0)
    return FALSE;
  if ((*end == 'e' || *end == 'E') && end[1] != '\0' && end[1] != 'i')
    {
      const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

      end = skip (exponent, digits);
      return end > exponent && *end == '\0';
    }
  return g_strv_contains (suffixes, end);
}

/* Letters and digits at both ends; '-', '_' and '.' as well between them. */
static gboolean
is_label_name (const char *text, gsize length)
{
  if (length == 0 || length > MOST_LABEL_BYTES || !g_ascii_isalnum (text[0]) || !g_ascii_isalnum (text[length - 1]))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr ("-_.", text[i]) == NULL)
      return FALSE;
  return TRUE;
}

gboolean
quoit_is_dns_subdomain (const char *text)
{
  g_auto (GStrv) labels = NULL;

  if (*text == '\0' || strlen (text) > MOST_SUBDOMAIN_BYTES)
    return FALSE;
  labels = g_strsplit (text, ".", -1);
  for (char **label = labels; *label != NULL; label++)
    if (!quoit_dns_is_label (*label, MOST_SUBDOMAIN_BYTES))
      return FALSE;
  return TRUE;
}

gboolean
quoit_is_label_key (const char *text)
{
  const char *slash = strchr (text, '/');
  g_autofree char *prefix = slash == NULL ? NULL : g_strndup (text, (gsize) (slash - text));
  const char *name = slash == NULL ? text : slash + 1;

  return is_label_name (name, strlen (name)) && (prefix == NULL || quoit_is_dns_subdomain (prefix));
}

gboolean
quoit_is_label_value (const char *text)
{
  return *text == '\0' || is_label_name (text, strlen (text));
}

gboolean
quoit_is_port_name (const char *text)
{
  gboolean has_letter = FALSE;

  if (!quoit_dns_is_label (text, MOST_PORT_BYTES) || strstr (text, "--") != NULL)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    has_letter = has_letter || g_ascii_islower (*p);
  return has_letter;
}

gboolean
quoit_is_env_name (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if (!g_ascii_isprint (*p) || *p == '=')
      return FALSE;
  return *text != '\0';
}

gboolean
quoit_is_config_key (const char *text)
{
  if (*text == '\0' || strlen (text) > MOST_SUBDOMAIN_BYTES || strcmp (text, ".") == 0 || strncmp (text, "..", 2) == 0)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("-_.", *p) == NULL)
      return FALSE;
  return TRUE;
}

/* One of the five fields of a schedule. */
typedef struct {
  guint least, most;
  const char *names; /* three letters each, the first one for the number @least; "": only numbers */
} ScheduleField;

static gboolean
parse_schedule_number (const char **at, const ScheduleField *field, guint *number)
{
  if (g_ascii_isdigit (**at))
    {
      char *end;

      *number = (guint) MIN (g_ascii_strtoull (*at, &end, 10), G_MAXUINT16);
      *at = end;
      return *number >= field->least && *number <= field->most;
    }
  for (guint i = 0; field->names[i] != '\0'; i += 3)
    if (g_ascii_strncasecmp (*at, field->names + i, 3) == 0)
      {
        *number = field->least + i / 3;
        *at += 3;
        return TRUE;
      }
  return FALSE;
}

/* A number, a range or "*", perhaps with a step. */
static gboolean
is_schedule_part (const char *text, const ScheduleField *field)
{
  guint first, last;
  gint64 step;

  if (*text == '*' || *text == '?')
    text++;
  else
    {
      if (!parse_schedule_number (&text, field, &first))
        return FALSE;
      if (*text == '-')
        {
          text++;
          if (!parse_schedule_number (&text, field, &last) || last < first)
            return FALSE;
        }
    }
  return *text == '\0' || (*text == '/' && g_ascii_string_to_signed (text + 1, 10, 1, G_MAXINT32, &step, NULL));
}

gboolean
quoit_is_schedule (const char *text)
{
  static const char *const words[]
      = { "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", NULL };
  static const ScheduleField fields[] = {
    { 0, 59, "" },
    { 0, 23, "" },
    { 1, 31, "" },
    { 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
    { 0, 6, "sunmontuewedthufrisat" },
  };
  g_auto (GStrv) given = g_strsplit_set (text, " \t", -1);
  guint n = 0;

  if (*text == '@')
    return g_strv_contains (words, text) || g_str_has_prefix (text, "@every ");
  for (char **word = given; *word != NULL; word++)
    {
      g_auto (GStrv) parts = g_strsplit (*word, ",", -1);

      if (**word == '\0')
        continue;
      if (n == G_N_ELEMENTS (fields))
        return FALSE;
      for (char **part = parts; *part != NULL; part++)
        if (!is_schedule_part (*part, &fields[n]))
          return FALSE;
      n++;
    }
  return n == G_N_ELEMENTS (fields);
}

gboolean
quoit_is_time (const char *text)
{
  static const char form[] = "dddd-dd-ddTdd:dd:dd";
  const char *p = text;

  for (const char *f = form; *f != '\0'; f++, p++)
    if (*f == 'd' ? !g_ascii_isdigit (*p) : *f != *p)
      return FALSE;
  if (*p == '.')
    {
      const char *end = skip (p + 1, "0123456789");

      if (end == p + 1)
        return FALSE;
      p = end;
    }
  if (strcmp (p, "Z") == 0)
    return TRUE;
  return (*p == '+' || *p == '-') && g_ascii_isdigit (p[1]) && g_ascii_isdigit (p[2]) && p[3] == ':'
         && g_ascii_isdigit (p[4]) && g_ascii_isdigit (p[5]) && p[6] == '\0';
}

gboolean
quoit_is_base64 (const char *text)
{
  gsize n_letters = 0, n_padding = 0;

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '=')
      n_padding++;
    else if (*p != '\n' && *p != '\r')
      {
        if (n_padding > 0 || (!g_ascii_isalnum (*p) && *p != '+' && *p != '/'))
          return FALSE;
        n_letters++;
      }
  return n_padding <= 2 && (n_letters + n_padding) % 4 == 0 && (n_padding == 0 || n_letters % 4 >= 2);
}
