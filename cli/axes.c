/* SPDX-License-Identifier: Apache-2.0 */
#include "axes.h"

#include <quoit/error.h>
#include <string.h>

#include "text.h"

enum { MAX_AXES = 64, MAX_DEVICES = 1 << 22, MAX_NAME_BYTES = 255 };

void
axes_clear (Axes *axes)
{
  g_clear_pointer (&axes->names, g_strfreev);
  g_clear_pointer (&axes->sizes, g_free);
  axes->n = 0;
}

static bool
find_axis (const Axes *axes, const char *name, guint *index)
{
  for (guint i = 0; i < axes->n; i++)
    if (g_str_equal (axes->names[i], name))
      {
        *index = i;
        return true;
      }
  return false;
}

/* "data=2" */
static bool
parse_axis (const char *word, const char *option, Axes *axes, GError **error)
{
  const char *equals = strrchr (word, '=');
  g_autofree char *name = equals == NULL ? NULL : g_strndup (word, (gsize) (equals - word));
  g_autofree char *location = NULL;
  NumberRule rule = { NULL, "1 to 4194304 devices", 1, MAX_DEVICES };
  guint same_name;

  if (name == NULL || name[0] == '\0')
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '%s': expected NAME=SIZE", option, word);
      return false;
    }
  if (strlen (name) > MAX_NAME_BYTES)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                   "%s: axis '%.20s...' of %" G_GSIZE_FORMAT " bytes: expected a name of at most %d bytes", option,
                   name, strlen (name), MAX_NAME_BYTES);
      return false;
    }
  if (find_axis (axes, name, &same_name))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: axis '%s' is given twice: expected each name once",
                   option, name);
      return false;
    }
  location = g_strdup_printf ("%s: axis '%s' of size", option, name);
  rule.option = location;
  if (!text_parse_number (equals + 1, &rule, &axes->sizes[axes->n], error))
    return false;
  axes->names[axes->n++] = g_steal_pointer (&name);
  return true;
}

bool
axes_parse (const char *text, const char *option, Axes *axes, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  guint n = g_strv_length (words);
  g_auto (Axes) parsed = { NULL, NULL, 0 };

  if (n > MAX_AXES)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s of '%u' axes: expected at most %d", option, n,
                   MAX_AXES);
      return false;
    }
  if (n == 0)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '': expected NAME=SIZE", option);
      return false;
    }
  parsed.names = g_new0 (char *, n + 1);
  parsed.sizes = g_new0 (gint64, n);
  for (guint i = 0; i < n; i++)
    if (!parse_axis (g_strstrip (words[i]), option, &parsed, error))
      return false;

  *axes = parsed;
  parsed = (Axes) { NULL, NULL, 0 };
  return true;
}

bool
axes_lookup (const Axes *axes, const char *name, const char *option, guint *index, GError **error)
{
  g_autofree char *known = NULL;

  if (find_axis (axes, name, index))
    return true;

  known = g_strjoinv (", ", axes->names);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s '%s': expected an axis of the mesh: %s", option, name,
               known);
  return false;
}

gint64 *
axes_align (const Axes *axes, const Axes *part, const char *option, GError **error)
{
  g_autofree gint64 *sizes = g_new (gint64, axes->n);

  for (guint i = 0; i < axes->n; i++)
    sizes[i] = 1;
  for (guint i = 0; i < part->n; i++)
    {
      guint axis;

      if (!axes_lookup (axes, part->names[i], option, &axis, error))
        return NULL;
      if (axes->sizes[axis] % part->sizes[i] != 0)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                       "%s: axis '%s': size '%" G_GINT64_FORMAT "' does not divide %" G_GINT64_FORMAT
                       ", the size of that axis in the mesh",
                       option, part->names[i], part->sizes[i], axes->sizes[axis]);
          return NULL;
        }
      sizes[axis] = part->sizes[i];
    }
  return g_steal_pointer (&sizes);
}

char *
axes_format (const Axes *axes, const gint64 *sizes, gint64 min_size)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < axes->n; i++)
    if (sizes[i] >= min_size)
      g_string_append_printf (text, "%s%s=%" G_GINT64_FORMAT, text->len == 0 ? "" : ",", axes->names[i], sizes[i]);
  return g_string_free (text, FALSE);
}
