/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models.h>

#include "request.h"

#include <string.h>

#include "text.h"

void
bundle_options_clear (BundleOptions *options)
{
  g_strfreev (options->bundles);
  g_strfreev (options->selectors);
  g_free (options->file);
  g_free (options->strategy);
  g_free (options->policy);
  g_free (options->label);
  g_free (options->values);
  g_free (options->soft_target);
}

bool
request_has_bundles (const BundleOptions *options)
{
  return options->bundles != NULL || options->file != NULL;
}

/* Adds the bundle "TPU=4,CPU=8", or the equal bundles "4x{TPU=4,CPU=8}". */
static bool
add_bundle (QuoitRequest *request, const char *text, GError **error)
{
  static const NumberRule rule = { "--bundle", "1 to 10000 equal bundles, such as 4x{TPU=4}", G_MININT64, G_MAXINT64 };
  const char *brace = strstr (text, "x{");
  g_autofree char *number = brace == NULL ? NULL : g_strndup (text, (gsize) (brace - text));
  g_autofree char *amounts = NULL;
  gint64 n;

  if (brace == NULL || strspn (number, "0123456789") != strlen (number) || *number == '\0')
    return quoit_request_add_bundles (request, text, 1, error);
  if (!g_str_has_suffix (brace, "}"))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--bundle '%s': expected '}' at the end", text);
      return false;
    }
  amounts = g_strndup (brace + 2, strlen (brace + 2) - 1);
  return text_parse_number (number, &rule, &n, error) && quoit_request_add_bundles (request, amounts, n, error);
}

static bool
add_file (QuoitRequest *request, const char *file, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;

  if (!quoit_load_text (g_str_equal (file, "-") ? "/dev/stdin" : file, &text, &length, error))
    return false;
  if (quoit_request_read_bundles (request, text, length, error))
    return true;
  g_prefix_error (error, "%s: ", g_str_equal (file, "-") ? "standard input" : file);
  return false;
}

static bool
set_strategy (QuoitRequest *request, const char *word, GError **error)
{
  g_autoptr (GError) why = NULL;
  QuoitStrategy strategy;

  if (quoit_ray_strategy_parse (word, &strategy, &why))
    return quoit_request_set_strategy (request, strategy, error);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--strategy: %s", why->message);
  return false;
}

static bool
set_policy (QuoitRequest *request, const char *word, GError **error)
{
  static const char *const words[] = { "best", "ray" };
  guint policy;

  return text_parse_word (word, "--policy", words, G_N_ELEMENTS (words), &policy, error)
         && quoit_request_set_policy (request, policy == 0 ? QUOIT_POLICY_BEST : QUOIT_POLICY_RAY, error);
}

/* Adds the selector "0:KEY=VALUE" of bundle 0, or "0-3:KEY=VALUE" of bundles 0 to 3. */
static bool
add_selector (QuoitRequest *request, const char *text, GError **error)
{
  static const NumberRule rule
      = { "--bundle-select", "bundles and a selector, such as 0:KEY=VALUE or 0-3:KEY=VALUE", 0, 9999 };
  const char *colon = strchr (text, ':'), *equals = colon == NULL ? NULL : strchr (colon, '=');
  g_autofree char *range = NULL, *key = NULL;
  char *dash;
  gint64 first, last;

  if (equals == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--bundle-select '%s': expected 0:KEY=VALUE or 0-3:KEY=VALUE",
                   text);
      return false;
    }
  range = g_strndup (text, (gsize) (colon - text));
  key = g_strndup (colon + 1, (gsize) (equals - colon - 1));
  dash = strchr (range, '-');
  if (dash != NULL)
    *dash = '\0';
  if (!text_parse_number (range, &rule, &first, error)
      || !text_parse_number (dash == NULL ? range : dash + 1, &rule, &last, error))
    return false;
  if (first > last)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--bundle-select '%s': expected the lower number first",
                   text);
      return false;
    }
  for (gint64 i = first; i <= last; i++)
    if (!quoit_request_select_bundle (request, i, key, equals + 1, error))
      return false;
  return true;
}

static bool
set_label (QuoitRequest *request, const BundleOptions *options, GError **error)
{
  static const NumberRule rule = { "--topology-values", "1 to 10000 values", G_MININT64, G_MAXINT64 };
  gint64 n = 1;

  if (options->label == NULL && options->values != NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--topology-values requires --topology-label KEY");
      return false;
    }
  return (options->values == NULL || text_parse_number (options->values, &rule, &n, error))
         && (options->label == NULL || quoit_request_set_topology_label (request, options->label, n, error));
}

bool
request_set_bundles (QuoitRequest *request, const BundleOptions *options, GError **error)
{
  if (options->file != NULL && !add_file (request, options->file, error))
    return false;
  for (char **b = options->bundles; b != NULL && *b != NULL; b++)
    if (!add_bundle (request, *b, error))
      return false;
  if (options->strategy != NULL && !set_strategy (request, options->strategy, error))
    return false;
  if (options->policy != NULL && !set_policy (request, options->policy, error))
    return false;
  for (char **s = options->selectors; s != NULL && *s != NULL; s++)
    if (!add_selector (request, *s, error))
      return false;
  quoit_request_set_soft_target (request, options->soft_target);
  return set_label (request, options, error);
}
