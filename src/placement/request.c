/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/request.h"

#include <string.h>

#include "base/natural.h"

enum { LONGEST_NAME = 253 };

QuoitRequest *
quoit_request_alloc (void)
{
  QuoitRequest *request = g_new0 (QuoitRequest, 1);

  request->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
  request->slices = g_ptr_array_new_with_free_func (g_free);
  request->excluded = g_ptr_array_new_with_free_func (g_free);
  return request;
}

void
quoit_request_free (QuoitRequest *request)
{
  if (request == NULL)
    return;
  g_free (request->name);
  g_free (request->key);
  g_free (request->owner);
  g_free (request->pool);
  g_free (request->zone);
  g_ptr_array_unref (request->selectors);
  g_ptr_array_unref (request->slices);
  g_ptr_array_unref (request->excluded);
  g_free (request);
}

gboolean
quoit_name_check (const char *what, const char *name, GError **error)
{
  g_autofree char *quoted = NULL;
  gsize length = strlen (name);
  gboolean plain = length > 0 && length <= LONGEST_NAME;

  /* The common name is ASCII, and checking it must not cost more than placing it. */
  for (gsize i = 0; i < length && plain; i++)
    plain = name[i] > ' ' && name[i] < 0x7f && name[i] != '@' && name[i] != '/';
  if (plain)
    return TRUE;

  quoted = quoit_quote (name);
  if (length == 0 || length > LONGEST_NAME)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected 1 to %d bytes, got %" G_GSIZE_FORMAT, what, quoted,
                       LONGEST_NAME, length);
  if (!g_utf8_validate (name, -1, NULL))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected UTF-8 text", what, quoted);
  for (const char *p = name; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '@' || c == '/' || !g_unichar_isprint (c))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected printable text without '@' or '/', see byte %d",
                           what, quoted, (int) (p - name));
    }
  return TRUE;
}

guint32
quoit_request_chips_per_host (const QuoitRequest *request)
{
  return request->chips_per_host != 0 ? request->chips_per_host
                                      : quoit_default_chips_per_host (request->generation, request->shape);
}

gboolean
quoit_request_complete (const QuoitRequest *request, GError **error)
{
  if (request->generation == QUOIT_GENERATION_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request names no accelerator: expected one such as 'v6e'");
  if (request->shape.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request names no topology: expected one such as '4x4'");
  if (request->n_slices == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request says no number of slices: expected 1 to %d",
                       QUOIT_MOST_SLICES);
  return TRUE;
}

gboolean
quoit_request_validate (const QuoitRequest *request, GError **error)
{
  QuoitSliceFacts facts;

  return quoit_request_complete (request, error)
         && quoit_slice_facts (request->generation, request->shape, quoit_request_chips_per_host (request), &facts,
                               error);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

/* A value with a blank or quote in it would read like two. */
static void
append_value (GString *text, const char *what, const char *value)
{
  g_autofree char *escaped = strpbrk (value, " \"\\") == NULL ? NULL : g_strescape (value, NULL);

  if (escaped == NULL)
    g_string_append_printf (text, " %s=%s", what, value);
  else
    g_string_append_printf (text, " %s=\"%s\"", what, escaped);
}

static void
append_names (GString *text, const char *what, const GPtrArray *names)
{
  g_autoptr (GPtrArray) sorted = NULL;

  if (names == NULL || names->len == 0)
    return;
  sorted = g_ptr_array_copy ((GPtrArray *) names, NULL, NULL);
  g_ptr_array_set_free_func (sorted, NULL);
  g_ptr_array_sort (sorted, by_name);
  for (guint i = 0; i < sorted->len; i++)
    append_value (text, what, sorted->pdata[i]);
}

/* Every reservation writes this text; printf would take longer than placing it does. */
static void
append_number (GString *text, guint32 number)
{
  char digits[10];
  guint n = sizeof digits;

  do
    digits[--n] = (char) ('0' + number % 10);
  while ((number /= 10) != 0);
  g_string_append_len (text, digits + n, (gssize) (sizeof digits - n));
}

char *
quoit_request_canonical (const QuoitRequest *request)
{
  GString *text = g_string_sized_new (64);
  g_autoptr (GPtrArray) selectors = NULL;

  g_string_append (text, quoit_generation_name (request->generation));
  for (guint16 i = 0; i < request->shape.n_dims; i++)
    {
      g_string_append_c (text, i == 0 ? ' ' : 'x');
      append_number (text, request->shape.dims[i]);
    }
  g_string_append (text, " x ");
  append_number (text, request->n_slices);
  g_string_append (text, " hostchips=");
  append_number (text, quoit_request_chips_per_host (request));
  if (request->pool != NULL)
    append_value (text, "pool", request->pool);
  if (request->zone != NULL)
    append_value (text, "zone", request->zone);
  selectors = request->selectors->len > 0 ? g_ptr_array_new_with_free_func (g_free) : NULL;
  for (guint i = 0; i < request->selectors->len; i++)
    g_ptr_array_add (selectors, g_strconcat (quoit_selector_key (request->selectors->pdata[i]), "=",
                                             quoit_selector_value (request->selectors->pdata[i]), NULL));
  append_names (text, "select", selectors);
  append_names (text, "slice", request->slices);
  append_names (text, "exclude-slice", request->excluded);
  return g_string_free (text, FALSE);
}
