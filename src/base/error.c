/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <string.h>

#define MAX_QUOTED_BYTES 80

/* Codes are also exit statuses, and the shell uses those above 125. */
G_STATIC_ASSERT (QUOIT_ERROR_FENCED < 126);

static const QuoitErrorRow rows[] = {
  { QUOIT_ERROR_FAILED, "FAILED" },     { QUOIT_ERROR_USAGE, "USAGE" },
  { QUOIT_ERROR_INVALID, "INVALID" },   { QUOIT_ERROR_NOT_FOUND, "NOT_FOUND" },
  { QUOIT_ERROR_NOT_NOW, "NOT_NOW" },   { QUOIT_ERROR_NEVER, "NEVER" },
  { QUOIT_ERROR_CONFLICT, "CONFLICT" }, { QUOIT_ERROR_STORE, "STORE" },
  { QUOIT_ERROR_VERSION, "VERSION" },   { QUOIT_ERROR_BUSY, "BUSY" },
  { QUOIT_ERROR_EXPIRED, "EXPIRED" },   { QUOIT_ERROR_CANCELLED, "CANCELLED" },
  { QUOIT_ERROR_DAMAGED, "DAMAGED" },   { QUOIT_ERROR_UNCONFIRMED, "UNCONFIRMED" },
  { QUOIT_ERROR_FENCED, "FENCED" },
};

/* The parts of a message that callers need separately, so that they do not have to search the message. GLib
 * stores this struct in front of each GError of the domain. */
typedef struct {
  char *expected;    /* NULL: not stated separately */
  gboolean is_value; /* quoit_fail_value() made the error */
  char *path;        /* of the file that the message begins with; NULL: none */
} QuoitErrorPrivate;

/* GLib stores the private part before the error, with this alignment. */
static QuoitErrorPrivate *
quoit_error_get_private (const GError *error)
{
  const gsize align = 2 * sizeof (gsize), size = (sizeof (QuoitErrorPrivate) + align - 1) & ~(align - 1);

  return (QuoitErrorPrivate *) (void *) ((guint8 *) error - size);
}

static void
init_private (GError *error)
{
  *quoit_error_get_private (error) = (QuoitErrorPrivate) { 0 };
}

static void
copy_private (const GError *from, GError *to)
{
  const QuoitErrorPrivate *private = quoit_error_get_private (from);

  *quoit_error_get_private (to)
      = (QuoitErrorPrivate) { g_strdup (private->expected), private->is_value, g_strdup (private->path) };
}

static void
clear_private (GError *error)
{
  QuoitErrorPrivate *private = quoit_error_get_private (error);

  g_free (private->expected);
  g_free (private->path);
}

/* A process can have two copies of this library, for example one in a package for Python. They share the domain, which
 * GLib lets only one of them register. The first copy leaves a note at an address that all copies know. Therefore
 * QuoitErrorPrivate must stay the same in all versions. */
GQuark
quoit_error_quark (void)
{
  static const char note[] = "QuoitErrorPrivate 1";
  static gsize domain;

  if (g_once_init_enter (&domain))
    {
      GQuark registered = GPOINTER_TO_UINT (g_dataset_get_data (&glib_major_version, note));

      if (registered == 0)
        {
          registered = g_error_domain_register_static ("QuoitError", sizeof (QuoitErrorPrivate), init_private,
                                                       copy_private, clear_private);
          g_dataset_set_data (&glib_major_version, note, GUINT_TO_POINTER (registered));
        }
      g_once_init_leave (&domain, registered);
    }
  return (GQuark) domain;
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
append_escaped (GString *out, const char *p, const char *end)
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
static char *
escape (const char *text)
{
  gsize length = strlen (text);
  GString *shown = g_string_sized_new (length + 1);
  const char *end = text + length;

  for (const char *p = text; p < end;)
    {
      gsize n = 0;

      while (p[n] >= ' ' && p[n] < 0x7f)
        n++;
      g_string_append_len (shown, p, (gssize) n);
      p += n;
      if (p < end)
        p = append_escaped (shown, p, end);
    }
  return g_string_free (shown, FALSE);
}

static GError *
new_error (QuoitErrorCode code, const char *format, va_list args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);
  g_autofree char *escaped = escape (text);

  return g_error_new_literal (QUOIT_ERROR, code, escaped);
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

gboolean
quoit_fail_expected (GError **error, QuoitErrorCode code, const char *expected, const char *format, ...)
{
  g_autofree char *found = NULL;
  va_list args;

  if (error == NULL)
    return FALSE;
  va_start (args, format);
  found = g_strdup_vprintf (format, args);
  va_end (args);
  quoit_fail (error, code, "%s: expected %s", found, expected);
  quoit_error_get_private (*error)->expected = escape (expected);
  return FALSE;
}

gboolean
quoit_fail_value (GError **error, QuoitErrorCode code, const char *value, const char *expected)
{
  if (error == NULL)
    return FALSE;
  quoit_fail_expected (error, code, expected, "%s", value);
  quoit_error_get_private (*error)->is_value = TRUE;
  return FALSE;
}

const char *
quoit_error_expected (const GError *error)
{
  return error->domain == QUOIT_ERROR ? quoit_error_get_private (error)->expected : NULL;
}

gboolean
quoit_error_is_value (const GError *error)
{
  return error->domain == QUOIT_ERROR && quoit_error_get_private (error)->is_value;
}

gboolean
quoit_fail_at (GError **error, QuoitErrorCode code, const char *path, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    {
      g_autofree char *text = g_strdup_vprintf (format, args);

      quoit_fail (error, code, "%s: %s", path, text);
      quoit_error_get_private (*error)->path = g_strdup (path);
    }
  va_end (args);
  return FALSE;
}

void
quoit_error_add_path (GError **error, const char *path)
{
  g_autoptr (GError) inner = NULL;

  if (error == NULL || *error == NULL
      || ((*error)->domain == QUOIT_ERROR && g_strcmp0 (quoit_error_get_private (*error)->path, path) == 0))
    return;
  inner = g_steal_pointer (error);
  quoit_fail_at (error, inner->code, path, "%s", inner->message);
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

  while (p < end && p - bytes < MAX_QUOTED_BYTES)
    {
      if (*p == '\'' || *p == '\\')
        g_string_append_c (out, '\\');
      p = append_escaped (out, p, end);
    }
  g_string_append (out, p < end ? "'..." : "'");
  return g_string_free (out, FALSE);
}
