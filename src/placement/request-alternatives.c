/* SPDX-License-Identifier: Apache-2.0 */
/* Alternatives of a request: other requests for the same group, which are tried in order. */
#include "placement/request.h"

#include <string.h>

#include "base/text.h"

/* --- adding --- */

static gboolean
refuse_text (const char *what, const char *own, const char *first, GError **error)
{
  g_autofree char *quoted = quoit_quote (own);
  g_autofree char *expected = quoit_quote (first == NULL ? "" : first);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "alternative with %s %s: expected none, or %s like the request", what,
                     quoted, expected);
}

static gboolean
refuse_number (const char *what, gint64 own, gint64 first, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "alternative with %s '%" G_GINT64_FORMAT "': expected none, or '%" G_GINT64_FORMAT
                     "' like the request",
                     what, own, first);
}

/* Checks that each label of the alternative is a label of the request. */
static gboolean
check_labels (const QuoitRequest *request, const QuoitRequest *alternative, GError **error)
{
  for (guint i = 0; alternative->labels != NULL && i < alternative->labels->len; i++)
    {
      const QuoitLabel *own = &g_array_index (alternative->labels, QuoitLabel, i);
      const char *value = request->labels == NULL
                              ? NULL
                              : quoit_labels_find ((const QuoitLabel *) (const void *) request->labels->data,
                                                   request->labels->len, own->key);

      if (g_strcmp0 (value, own->value) != 0)
        {
          g_autofree char *label = g_strconcat (own->key, "=", own->value, NULL);
          g_autofree char *quoted = quoit_quote (label);

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "alternative with label %s: expected only labels of the request", quoted);
        }
    }
  return TRUE;
}

/* Checks that the alternative is for the same group. */
static gboolean
check_same_group (const QuoitRequest *request, const QuoitRequest *alternative, GError **error)
{
  if (strcmp (alternative->name, request->name) != 0)
    {
      g_autofree char *quoted = quoit_quote (alternative->name);
      g_autofree char *expected = quoit_quote (request->name);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "alternative for group %s: expected %s, because an alternative is for the same group", quoted,
                         expected);
    }
  if (alternative->key != NULL && g_strcmp0 (alternative->key, request->key) != 0)
    return refuse_text ("key", alternative->key, request->key, error);
  if (alternative->owner != NULL && g_strcmp0 (alternative->owner, request->owner) != 0)
    return refuse_text ("owner", alternative->owner, request->owner, error);
  if (alternative->lease_ms != 0 && alternative->lease_ms != request->lease_ms)
    return refuse_number ("lease in ms", alternative->lease_ms, request->lease_ms, error);
  if (alternative->priority != 0 && alternative->priority != request->priority)
    return refuse_number ("priority", alternative->priority, request->priority, error);
  return check_labels (request, alternative, error);
}

gboolean
quoit_request_add_alternative_copy (QuoitRequest *request, const QuoitRequest *alternative, GError **error)
{
  QuoitRequest *copy;

  if (alternative->alternatives != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "alternative with '%u' alternatives: expected none; add each of them to the request itself",
                       alternative->alternatives->len);
  if (request->alternatives != NULL && request->alternatives->len >= QUOIT_MAX_ALTERNATIVES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "alternative '%d': expected at most %d alternatives",
                       QUOIT_MAX_ALTERNATIVES + 1, QUOIT_MAX_ALTERNATIVES);
  if (!check_same_group (request, alternative, error))
    return FALSE;
  copy = quoit_request_dup (alternative, request->name);
  copy->has_own_runtime
      = alternative->expected_runtime_ms != 0 && alternative->expected_runtime_ms != request->expected_runtime_ms;
  if (request->alternatives == NULL)
    request->alternatives = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);
  g_ptr_array_add (request->alternatives, copy);
  quoit_request_share_parts (request);
  return TRUE;
}

void
quoit_request_share_parts (QuoitRequest *request)
{
  for (guint i = 0; request->alternatives != NULL && i < request->alternatives->len; i++)
    {
      QuoitRequest *alternative = request->alternatives->pdata[i];

      quoit_request_replace_text (&alternative->key, request->key);
      quoit_request_replace_text (&alternative->owner, request->owner);
      alternative->lease_ms = request->lease_ms;
      alternative->priority = request->priority;
      if (!alternative->has_own_runtime)
        alternative->expected_runtime_ms = request->expected_runtime_ms;
      g_clear_pointer (&alternative->labels, g_array_unref);
      alternative->labels = request->labels == NULL ? NULL : g_array_ref (request->labels);
    }
}

/* Whether the request is valid for any fleet. */
static gboolean
check_alternative (const QuoitRequest *request, GError **error)
{
  QuoitRequest alone = *request;

  alone.alternatives = NULL;
  return request->bundles->len > 0 ? quoit_request_check_complete (&alone, error)
                                   : quoit_request_validate (&alone, error);
}

gboolean
quoit_request_check_alternatives (const QuoitRequest *request, GError **error)
{
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    if (!check_alternative (quoit_request_alternative (request, i), error))
      {
        if (i > 0)
          g_prefix_error (error, "alternative %u: ", i);
        return FALSE;
      }
  return TRUE;
}

/* --- canonical text --- */

GPtrArray *
quoit_request_format_choices (const QuoitRequest *request)
{
  const guint n = quoit_request_n_alternatives (request);
  g_autoptr (GPtrArray) alone = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *choices = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (alone, quoit_request_format_canonical (quoit_request_alternative (request, i)));
  for (guint i = 0; i < n; i++)
    {
      GString *text = g_string_new (alone->pdata[i]);

      for (guint other = 0; other < n; other++)
        if (other != i)
          quoit_request_append_other (text, other < i ? "instead-of" : "else", alone->pdata[other]);
      g_ptr_array_add (choices, g_string_free (text, FALSE));
    }
  return choices;
}
