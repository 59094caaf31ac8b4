/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/labels.h"

#include <string.h>

#include "base/error.h"

/* --- texts --- */

/* Returns the offset of the first byte that is not UTF-8 or of the first control character, or -1 if there is none. */
static gssize
find_unprintable (const char *text)
{
  const char *end;

  if (!g_utf8_validate (text, -1, &end))
    return end - text;
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)))
      return at - text;
  return -1;
}

gboolean
quoit_short_text_check (const char *what, const char *text, gsize most, GError **error)
{
  gsize length = strlen (text);
  gssize at = length == 0 || length > most ? 0 : find_unprintable (text);
  g_autofree char *quoted = at < 0 ? NULL : quoit_quote (text);

  if (length == 0 || length > most)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "%s %s: expected 1 to %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT, what, quoted, most,
                       length);
  if (at < 0)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "%s %s: expected UTF-8 text without control characters, see byte %" G_GSSIZE_FORMAT, what, quoted,
                     at);
}

gboolean
quoit_label_check (const char *key, const char *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (!quoit_short_text_check ("label key", key, QUOIT_MAX_LABEL_KEY_BYTES, error))
    return FALSE;
  quoted = quoit_quote (key);
  if (strchr (key, '=') != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "label key %s: expected a key without '='", quoted);
  if (value == NULL || quoit_short_text_check ("value", value, QUOIT_MAX_LABEL_VALUE_BYTES, error))
    return TRUE;
  return g_prefix_error (error, "label %s: ", quoted), FALSE;
}

gboolean
quoit_reason_check (const char *reason, GError **error)
{
  return quoit_short_text_check ("reason", reason, QUOIT_MAX_REASON_BYTES, error);
}

/* --- lists --- */

gboolean
quoit_labels_check (const QuoitLabel *labels, guint n, GError **error)
{
  if (n > QUOIT_MAX_LABELS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%u labels: expected at most %d", n, QUOIT_MAX_LABELS);
  for (guint i = 0; i < n; i++)
    {
      if (!quoit_label_check (labels[i].key, labels[i].value, error))
        return FALSE;
      if (i > 0 && strcmp (labels[i - 1].key, labels[i].key) >= 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID, "label key '%s': expected sorted keys, each once",
                           labels[i].key);
    }
  return TRUE;
}

gboolean
quoit_labels_equal (const QuoitLabel *a, guint n_a, const QuoitLabel *b, guint n_b)
{
  if (n_a != n_b)
    return FALSE;
  for (guint i = 0; i < n_a; i++)
    if (strcmp (a[i].key, b[i].key) != 0 || strcmp (a[i].value, b[i].value) != 0)
      return FALSE;
  return TRUE;
}

/* Returns the index of the first label whose key is not before @key. A list is too short for a binary search to pay. */
static guint
find_index (const QuoitLabel *labels, guint n, const char *key)
{
  guint i = 0;

  while (i < n && strcmp (labels[i].key, key) < 0)
    i++;
  return i;
}

const char *
quoit_labels_find (const QuoitLabel *labels, guint n, const char *key)
{
  guint i = find_index (labels, n, key);

  return i < n && strcmp (labels[i].key, key) == 0 ? labels[i].value : NULL;
}

static void
label_clear (gpointer data)
{
  QuoitLabel *label = data;

  g_free ((char *) label->key);
  g_free ((char *) label->value);
}

static QuoitLabel
label_copy (const char *key, const char *value)
{
  return (QuoitLabel) { g_strdup (key), g_strdup (value) };
}

GArray *
quoit_labels_new (const QuoitLabel *labels, guint n)
{
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof (QuoitLabel), n + 1);

  g_array_set_clear_func (list, label_clear);
  for (guint i = 0; i < n; i++)
    {
      QuoitLabel label = label_copy (labels[i].key, labels[i].value);

      g_array_append_val (list, label);
    }
  return list;
}

gboolean
quoit_labels_set (GArray *labels, const char *key, const char *value, guint most, GError **error)
{
  const QuoitLabel *list = (const QuoitLabel *) (const void *) labels->data;
  gboolean is_set;
  QuoitLabel label;
  guint i;

  if (!quoit_label_check (key, value, error))
    return FALSE;
  i = find_index (list, labels->len, key);
  is_set = i < labels->len && strcmp (list[i].key, key) == 0;
  if (value != NULL && !is_set && labels->len >= most)
    {
      g_autofree char *quoted = quoit_quote (key);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "label %s: expected at most %u labels, and there are %u already",
                         quoted, most, labels->len);
    }
  /* Copied before the old label is freed, because @value may be its text. */
  label = label_copy (key, value);
  if (is_set)
    g_array_remove_index (labels, i);
  if (value != NULL)
    g_array_insert_val (labels, i, label);
  else
    label_clear (&label);
  return TRUE;
}
