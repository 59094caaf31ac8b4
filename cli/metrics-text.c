/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics-text.h"

/* Escapes a backslash and a line feed, and in label values a quote. Invalid UTF-8 becomes U+FFFD. */
static void
append_escaped (GString *text, const char *value, gboolean is_label)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);

  for (const char *p = valid; *p != '\0'; p++)
    if (*p == '\n')
      g_string_append (text, "\\n");
    else if (*p == '\\' || (is_label && *p == '"'))
      g_string_append_printf (text, "\\%c", *p);
    else
      g_string_append_c (text, *p);
}

void
metrics_begin (GString *text, const char *name, const char *help)
{
  g_string_append_printf (text, "# HELP %s ", name);
  append_escaped (text, help, FALSE);
  g_string_append_printf (text, "\n# TYPE %s gauge\n", name);
}

void
metrics_begin_sample (GString *text, const char *name)
{
  g_string_append (text, name);
}

/* The sample ends with its name, or with the quote of its last label. */
void
metrics_add_label (GString *text, const char *label, const char *value)
{
  g_string_append_printf (text, "%s%s=\"", text->str[text->len - 1] == '"' ? "," : "{", label);
  append_escaped (text, value, TRUE);
  g_string_append_c (text, '"');
}

void
metrics_end_sample (GString *text, const char *value)
{
  g_string_append_printf (text, "%s %s\n", text->str[text->len - 1] == '"' ? "}" : "", value);
}

void
metrics_end_number (GString *text, gint64 value)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  metrics_end_sample (text, number);
}

void
metrics_add_number (GString *text, const char *name, const char *help, gint64 value)
{
  metrics_begin (text, name, help);
  metrics_begin_sample (text, name);
  metrics_end_number (text, value);
}
