/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/request.h>

#include <string.h>

#include "formats/bundles.h"
#include "placement/request.h"

/* Formats the takes of a bundle in the syntax of requests, whose reader validates them. Their amounts are truncated
 * like in Ray already. The caller owns the text. */
static char *
format_takes (const QuoitFileBundle *bundle)
{
  GString *text = g_string_new (NULL);

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      g_autofree char *name = g_strescape (bundle->takes[t].name, NULL);
      g_autofree char *amount = quoit_amount_format (bundle->takes[t].amount);

      g_string_append_printf (text, "%s\"%s\"=%s", t > 0 ? "," : "", name, amount);
    }
  return g_string_free (text, FALSE);
}

static gboolean
has_same_takes (const QuoitFileBundle *a, const QuoitFileBundle *b)
{
  if (a->n_takes != b->n_takes)
    return FALSE;
  for (guint16 t = 0; t < a->n_takes; t++)
    if (strcmp (a->takes[t].name, b->takes[t].name) != 0 || a->takes[t].amount.e4 != b->takes[t].amount.e4)
      return FALSE;
  return TRUE;
}

/* Adds consecutive equal bundles at once, so that they share their takes. */
static gboolean
add_bundles (QuoitRequest *request, const QuoitBundlesFile *file, GError **error)
{
  for (guint i = 0, n; i < file->n_bundles; i += n)
    {
      g_autofree char *text = format_takes (&file->bundles[i]);
      g_autoptr (GArray) takes = NULL;
      const char *at = text;

      for (n = 1; i + n < file->n_bundles && has_same_takes (&file->bundles[i], &file->bundles[i + n]); n++)
        ;
      takes = quoit_request_read_takes (request, request->bundles->len, &at, error);
      if (takes == NULL || !quoit_request_add_takes (request, takes, n, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_selectors (QuoitRequest *request, guint first, const QuoitBundlesFile *file, GError **error)
{
  for (guint i = 0; i < file->n_bundles; i++)
    for (guint s = 0; s < file->bundles[i].n_selectors; s++)
      {
        const QuoitPair *selector = &file->bundles[i].selectors[s];

        if (!quoit_request_select_bundle (request, first + i, selector->key, selector->value, error))
          return FALSE;
      }
  return TRUE;
}

static gboolean
add_file_bundles (const QuoitBundlesFile *file, gpointer data, GError **error)
{
  QuoitRequest *request = data;
  guint first = request->bundles->len, n_resources = request->resources->len, n_selectors = request->n_selectors;
  QuoitStrategy strategy = request->strategy;

  if (file->strategy != NULL && !quoit_strategy_parse (file->strategy, &strategy, error))
    return FALSE;
  if (add_bundles (request, file, error) && add_selectors (request, first, file, error)
      && (file->topology_label == NULL || quoit_request_set_topology_label (request, file->topology_label, 1, error)))
    return file->strategy == NULL || quoit_request_set_strategy (request, strategy, error);

  g_array_set_size (request->bundles, first);
  g_ptr_array_set_size (request->resources, (gint) n_resources);
  request->n_selectors = n_selectors;
  return FALSE;
}

bool
quoit_request_read_bundles (QuoitRequest *request, const char *text, size_t length, GError **error)
{
  g_return_val_if_fail (request != NULL && text != NULL, false);

  return quoit_read_bundles (text, length, add_file_bundles, request, error);
}
