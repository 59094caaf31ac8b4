/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <string.h>

#define LONGEST_QUOTED 80

/* Codes are also exit statuses, and the shell uses those above 125. */
G_STATIC_ASSERT (QUOIT_ERROR_UNCONFIRMED < 126);

static const QuoitErrorRow rows[] = {
  { QUOIT_ERROR_FAILED, "FAILED" },     { QUOIT_ERROR_USAGE, "USAGE" },
  { QUOIT_ERROR_INVALID, "INVALID" },   { QUOIT_ERROR_NOT_FOUND, "NOT_FOUND" },
  { QUOIT_ERROR_NOT_NOW, "NOT_NOW" },   { QUOIT_ERROR_NEVER, "NEVER" },
  { QUOIT_ERROR_CONFLICT, "CONFLICT" }, { QUOIT_ERROR_STORE, "STORE" },
  { QUOIT_ERROR_VERSION, "VERSION" },   { QUOIT_ERROR_BUSY, "BUSY" },
  { QUOIT_ERROR_EXPIRED, "EXPIRED" },   { QUOIT_ERROR_CANCELLED, "CANCELLED" },
  { QUOIT_ERROR_DAMAGED, "DAMAGED" },   { QUOIT_ERROR_UNCONFIRMED, "UNCONFIRMED" },
};

GQuark
quoit_error_quark (void)
{
  return g_quark_from_static_string ("quoit-error-quark");
}

const QuoitErrorRow *
quoit_error_table (unsigned *n_rows)
{
  *n_rows = G_N_ELEMENTS (rows);
  return rows;
}

const char *
quoit_error_code_name (QuoitErrorCode code)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].code == code)
      return rows[i].nick;

  return rows[0].nick;
}

/* Appends the character at @p, escaped if it is not printable. Returns the start of the next character. */
static const char *
append_shown (GString *out, const char *p, const char *end)
{
  gunichar c = g_utf8_get_char_validated (p, end - p);

  if (c == (gunichar) -1 || c == (gunichar) -2 || c == 0)
    {
      g_string_append_printf (out, "\\x%02x", (guint8) *p);
      return p + 1;
    }
  if (c == '\n')
    g_string_append (out, "\\n");
  else if (c == '\t')
    g_string_append (out, "\\t");
  else if (g_unichar_isprint (c))
    g_string_append_unichar (out, c);
  else
    g_string_append_printf (out, "\\u{%x}", c);
  return g_utf8_next_char (p);
}

/* Messages contain node names and rows of damaged databases. Escape the whole message, so that it is always one line
 * without terminal control sequences. */
static GError *
new_error (QuoitErrorCode code, const char *format, va_list args)
{
  g_autofree char *said = g_strdup_vprintf (format, args);
  g_autoptr (GString) shown = g_string_sized_new (strlen (said) + 1);
  const char *end = said + strlen (said);

  for (const char *p = said; p < end;)
    p = append_shown (shown, p, end);
  return g_error_new_literal (QUOIT_ERROR, code, shown->str);
}

gboolean
quoit_fail (GError **error, QuoitErrorCode code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = new_error (code, format, args);
  va_end (args);
  return FALSE;
}

void *
quoit_fail_null (GError **error, QuoitErrorCode code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = new_error (code, format, args);
  va_end (args);
  return NULL;
}

char *
quoit_quote (const char *text)
{
  return quoit_quote_bytes (text, strlen (text));
}

char *
quoit_quote_bytes (const char *bytes, gsize length)
{
  GString *out = g_string_new ("'");
  const char *p = bytes, *end = bytes + length;

  while (p < end && p - bytes < LONGEST_QUOTED)
    {
      if (*p == '\'' || *p == '\\')
        g_string_append_c (out, '\\');
      p = append_shown (out, p, end);
    }
  g_string_append (out, p < end ? "'..." : "'");
  return g_string_free (out, FALSE);
}
