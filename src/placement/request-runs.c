/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles in canonical text. Consecutive equal bundles are written as one run. */
#include "placement/request.h"

#include <string.h>

/* --- writing --- */

static void
append_resource (GString *text, const char *name)
{
  g_autofree char *escaped = NULL;

  for (const char *p = name; *p != '\0'; p++)
    if (*p <= ' ' || *p > '~' || strchr ("\"\\,;={}", *p) != NULL)
      {
        escaped = g_strescape (name, NULL);
        break;
      }
  g_string_append_printf (text, escaped == NULL ? "%s" : "\"%s\"", escaped == NULL ? name : escaped);
}

static void
append_takes (GString *text, const GArray *takes)
{
  for (guint t = 0; t < takes->len; t++)
    {
      const QuoitTake *take = &g_array_index (takes, QuoitTake, t);
      g_autofree char *amount = quoit_amount_format (take->amount);

      if (t > 0)
        g_string_append_c (text, ',');
      append_resource (text, take->resource);
      g_string_append_printf (text, "=%s", amount);
    }
}

static gint
by_selector (gconstpointer a, gconstpointer b)
{
  const QuoitSelector *x = *(const QuoitSelector *const *) a, *y = *(const QuoitSelector *const *) b;
  int order = strcmp (quoit_selector_key (x), quoit_selector_key (y));

  return order != 0 ? order : strcmp (quoit_selector_value (x), quoit_selector_value (y));
}

/* A repeated selector has no effect, so each is written once. */
void
quoit_request_append_selectors (GString *text, const GPtrArray *selectors)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_copy ((GPtrArray *) selectors, NULL, NULL);

  g_ptr_array_set_free_func (sorted, NULL);
  g_ptr_array_sort (sorted, by_selector);
  for (guint i = 0; i < sorted->len; i++)
    if (i == 0 || by_selector (&sorted->pdata[i], &sorted->pdata[i - 1]) != 0)
      g_string_append_printf (text, ";%s=%s", quoit_selector_key (sorted->pdata[i]),
                              quoit_selector_value (sorted->pdata[i]));
}

void
quoit_request_append_bundle (GString *text, const QuoitBundleSpec *spec)
{
  g_string_append_c (text, '{');
  append_takes (text, spec->takes);
  if (spec->selectors != NULL)
    quoit_request_append_selectors (text, spec->selectors);
  g_string_append_c (text, '}');
}

static gboolean
share_arrays (const QuoitBundleSpec *a, const QuoitBundleSpec *b)
{
  return a->takes == b->takes && a->selectors == b->selectors;
}

void
quoit_request_append_runs (const QuoitRequest *request, GString *text)
{
  g_autoptr (GString) run = g_string_new (NULL), next = g_string_new (NULL);
  guint32 first = 0, n = request->bundles->len;

  for (guint32 b = 0; b <= n; b++)
    {
      if (b > first && b < n && share_arrays (quoit_request_bundle (request, b), quoit_request_bundle (request, b - 1)))
        continue;
      g_string_truncate (next, 0);
      if (b < n)
        quoit_request_append_bundle (next, quoit_request_bundle (request, b));
      if (b > first && !g_string_equal (run, next))
        {
          g_string_append_printf (text, "%s%ux%s", first == 0 ? "" : " ", b - first, run->str);
          first = b;
        }
      g_string_assign (run, next->str);
    }
}

/* --- reading --- */

/* Reads ";key=value" up to the next ';' or '}'. */
static gboolean
read_selector (const char **at, GPtrArray *selectors, GError **error)
{
  const char *start = *at + 1;
  gsize length = strcspn (start, ";}");
  g_autofree char *text = g_strndup (start, length);
  char *equals = strchr (text, '=');
  QuoitSelector *selector;

  *at = start + length;
  if (equals == NULL)
    return FALSE;
  *equals = '\0';
  selector = quoit_selector_new (text, equals + 1, error);
  if (selector != NULL)
    g_ptr_array_add (selectors, selector);
  return selector != NULL;
}

static gboolean
read_selectors (const char **at, GPtrArray **selectors, GError **error)
{
  if (**at == ';')
    *selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
  while (**at == ';')
    if ((*selectors)->len == QUOIT_MAX_BUNDLE_SELECTORS || !read_selector (at, *selectors, error))
      return FALSE;
  return **at == '}';
}

static gboolean
read_number (const char **at, gint64 *n)
{
  char *end = NULL;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  *n = g_ascii_strtoll (*at, &end, 10);
  *at = end;
  return *n >= 1 && *n <= QUOIT_MAX_BUNDLES;
}

/* "4x{CPU=1;key=value}" */
static gboolean
read_run (QuoitRequest *request, const char **at, GError **error)
{
  g_autoptr (GArray) takes = NULL;
  g_autoptr (GPtrArray) selectors = NULL;
  guint32 first = request->bundles->len;
  gint64 n = 0;

  if (!read_number (at, &n) || (*at)[0] != 'x' || (*at)[1] != '{')
    return FALSE;
  *at += 2;
  takes = quoit_request_read_takes (request, first, at, error);
  if (takes == NULL || !read_selectors (at, &selectors, error))
    return FALSE;
  (*at)++;
  if (!quoit_request_add_takes (request, takes, n, error))
    return FALSE;
  for (guint32 b = first; selectors != NULL && b < request->bundles->len; b++)
    g_array_index (request->bundles, QuoitBundleSpec, b).selectors = g_ptr_array_ref (selectors);
  request->n_selectors += selectors == NULL ? 0 : selectors->len * (guint32) n;
  return TRUE;
}

gboolean
quoit_request_read_runs (QuoitRequest *request, const char **at, GError **error)
{
  do
    {
      *at += strspn (*at, " ");
      if (!read_run (request, at, error))
        return FALSE;
    }
  while (**at == ' ' && g_ascii_isdigit ((*at)[1]));
  return **at == ' ' || **at == '\0';
}
