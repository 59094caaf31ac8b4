/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the resources of bundles, and checks that the settings of a request are consistent. */
#include "placement/request.h"

#include <string.h>

#include "models/ray/resource-names.h"

enum { MAX_RESOURCE_BYTES = 253 };

/* The limit of an amount. Slightly above it, Ray's conversion from double to int64 overflows and Ray drops the
 * resource. */
#define MAX_AMOUNT_E4 (G_GINT64_CONSTANT (900000000000000) * QUOIT_AMOUNT_UNIT)

/* --- resources of a bundle --- */

static gboolean
is_printable (const char *name)
{
  for (const char *p = name; *p != '\0'; p = g_utf8_next_char (p))
    if (!g_unichar_isprint (g_utf8_get_char (p)))
      return FALSE;
  return TRUE;
}

static gboolean
check_resource (guint32 bundle, const char *name, GError **error)
{
  g_autofree char *quoted = quoit_quote (name);
  gsize length = strlen (name);

  if (length == 0 || length > MAX_RESOURCE_BYTES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundle %u: resource %s: expected a name of 1 to %d bytes, got %" G_GSIZE_FORMAT, bundle, quoted,
                       MAX_RESOURCE_BYTES, length);
  if (!g_utf8_validate (name, -1, NULL) || !is_printable (name))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle %u: resource %s: expected printable UTF-8 text", bundle,
                       quoted);
  if (strcmp (name, "bundle") == 0 || quoit_resource_is_of_group (name))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundle %u: resource %s is created by placement groups: expected a resource of nodes", bundle,
                       quoted);
  return TRUE;
}

/* Returns the name at *@at and moves *@at to the '=' after it. Returns NULL if there is no '='. The caller owns the
 * name. */
static char *
read_name (const char **at)
{
  const char *start = *at, *end = start;
  g_autofree char *escaped = NULL;

  if (*start != '"')
    {
      end += strcspn (start, "=,");
      *at = end;
      return *end == '=' ? g_strndup (start, (gsize) (end - start)) : NULL;
    }
  for (end++; *end != '\0' && *end != '"'; end++)
    end += *end == '\\' && end[1] != '\0';
  if (*end != '"' || end[1] != '=')
    return NULL;
  escaped = g_strndup (start + 1, (gsize) (end - start - 1));
  *at = end + 1;
  return g_strcompress (escaped);
}

static gboolean
read_amount (guint32 bundle, const char *resource, const char **at, QuoitAmount *amount, GError **error)
{
  gsize length = strspn (*at, "0123456789.");
  g_autofree char *text = NULL, *quoted = quoit_quote (resource);

  /* The error message quotes the amount up to the next separator, including invalid characters. */
  length += strcspn (*at + length, ",;}");
  text = g_strndup (*at, length);
  *at += length;
  if (!quoit_amount_parse (text, amount, error))
    return g_prefix_error (error, "bundle %u: resource %s: ", bundle, quoted), FALSE;
  if (amount->e4 == 0 || amount->e4 > MAX_AMOUNT_E4)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundle %u: resource %s: amount '%s': expected more than 0, and at most 900000000000000", bundle,
                       quoted, text);
  return TRUE;
}

static int
by_resource (gconstpointer a, gconstpointer b)
{
  return strcmp (((const QuoitTake *) a)->resource, ((const QuoitTake *) b)->resource);
}

static gboolean
check_each_once (guint32 bundle, const GArray *takes, GError **error)
{
  for (guint i = 1; i < takes->len; i++)
    {
      const char *name = g_array_index (takes, QuoitTake, i).resource;
      g_autofree char *quoted = NULL;

      if (name != g_array_index (takes, QuoitTake, i - 1).resource)
        continue;
      quoted = quoit_quote (name);
      return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle %u: resource %s is given twice: expected one amount",
                         bundle, quoted);
    }
  return TRUE;
}

static gboolean
read_take (QuoitRequest *request, guint32 bundle, const char **at, GArray *takes, GError **error)
{
  const char *start = *at;
  g_autofree char *name = read_name (at), *rest = name != NULL ? NULL : quoit_quote (start);
  QuoitTake take;

  if (name == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle %u: %s: expected RESOURCE=AMOUNT[,RESOURCE=AMOUNT...]",
                       bundle, rest);
  if (!check_resource (bundle, name, error))
    return FALSE;
  (*at)++;
  if (!read_amount (bundle, name, at, &take.amount, error))
    return FALSE;
  take.resource = g_string_chunk_insert_const (request->texts, name);
  g_array_append_val (takes, take);
  return TRUE;
}

GArray *
quoit_request_read_takes (QuoitRequest *request, guint32 bundle, const char **at, GError **error)
{
  g_autoptr (GArray) takes = g_array_new (FALSE, FALSE, sizeof (QuoitTake));

  for (;; (*at)++)
    {
      if (!read_take (request, bundle, at, takes, error))
        return NULL;
      if (takes->len > QUOIT_MAX_RESOURCES)
        return quoit_fail_null (error, QUOIT_ERROR_INVALID, "bundle %u: expected at most %d resources", bundle,
                                QUOIT_MAX_RESOURCES);
      if (**at != ',')
        break;
    }
  g_array_sort (takes, by_resource);
  return check_each_once (bundle, takes, error) ? g_steal_pointer (&takes) : NULL;
}

static gboolean
asks_for (const QuoitRequest *request, const char *resource)
{
  for (guint r = 0; r < request->resources->len; r++)
    if (request->resources->pdata[r] == resource)
      return TRUE;
  return FALSE;
}

gboolean
quoit_request_add_takes (QuoitRequest *request, GArray *takes, gint64 n, GError **error)
{
  guint before = request->resources->len;

  if (n < 1 || n > QUOIT_MAX_BUNDLES - (gint64) request->bundles->len)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundles '%" G_GINT64_FORMAT "': expected 1 to %d in total, %u were added before", n,
                       QUOIT_MAX_BUNDLES, request->bundles->len);
  for (guint t = 0; t < takes->len; t++)
    {
      const char *resource = g_array_index (takes, QuoitTake, t).resource;

      if (!asks_for (request, resource))
        g_ptr_array_add (request->resources, (gpointer) resource);
    }
  if (request->resources->len > QUOIT_MAX_RESOURCES)
    {
      g_ptr_array_set_size (request->resources, (gint) before);
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "bundle %u: expected at most %d different resources in all bundles", request->bundles->len,
                         QUOIT_MAX_RESOURCES);
    }
  for (gint64 i = 0; i < n; i++)
    {
      QuoitBundleSpec spec = { g_array_ref (takes), NULL };

      g_array_append_val (request->bundles, spec);
    }
  return TRUE;
}

gint64
quoit_bundle_spec_tpu_e4 (const QuoitBundleSpec *spec)
{
  for (guint t = 0; t < spec->takes->len; t++)
    if (strcmp (g_array_index (spec->takes, QuoitTake, t).resource, "TPU") == 0)
      return g_array_index (spec->takes, QuoitTake, t).amount.e4;
  return 0;
}

gboolean
quoit_request_select (QuoitRequest *request, guint32 bundle, const char *key, const char *value, GError **error)
{
  QuoitBundleSpec *spec = &g_array_index (request->bundles, QuoitBundleSpec, bundle);
  QuoitSelector *selector;

  if (request->n_selectors >= QUOIT_MAX_SELECTORS
      || (spec->selectors != NULL && spec->selectors->len >= QUOIT_MAX_BUNDLE_SELECTORS))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundle %u: selector '%s': expected at most %d per bundle, and %d in all bundles", bundle, key,
                       QUOIT_MAX_BUNDLE_SELECTORS, QUOIT_MAX_SELECTORS);
  selector = quoit_selector_new (key, value, error);
  if (selector == NULL)
    return g_prefix_error (error, "bundle %u: ", bundle), FALSE;
  if (spec->selectors == NULL)
    spec->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
  g_ptr_array_add (spec->selectors, selector);
  request->n_selectors++;
  return TRUE;
}

/* --- consistency --- */

static gboolean
has_nothing_of_slices (const QuoitRequest *request, GError **error)
{
  static const char *const expected = "expected slices or bundles, not both";
  g_autofree char *shape = NULL, *amount = NULL;

  if (request->generation != QUOIT_GENERATION_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has bundles, and accelerator '%s': %s",
                       quoit_generation_name (request->generation), expected);
  if (request->shape.n_dims != 0)
    {
      shape = quoit_shape_format (request->shape);
      return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has bundles, and topology '%s': %s", shape, expected);
    }
  if (request->n_slices != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has bundles, and slices '%u': %s", request->n_slices,
                       expected);
  if (request->chips_per_host != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has bundles, and chips per host '%u': %s",
                       request->chips_per_host, expected);
  if (request->tpu_per_bundle.e4 != 0)
    {
      amount = quoit_amount_format (request->tpu_per_bundle);
      return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has bundles, and TPU per bundle '%s': %s", amount,
                         expected);
    }
  return TRUE;
}

static gboolean
has_nothing_of_bundles (const QuoitRequest *request, GError **error)
{
  static const char *const only = "is for bundles, and the request has none: add some, or leave it out";

  if (request->has_strategy)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "strategy '%s' %s", quoit_strategy_name (request->strategy), only);
  if (request->policy == QUOIT_POLICY_RAY)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "policy 'ray' %s", only);
  if (request->topology_label != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology label '%s' %s", request->topology_label, only);
  if (request->soft_target != NULL)
    {
      g_autofree char *quoted = quoit_quote (request->soft_target);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "soft target %s %s", quoted, only);
    }
  return TRUE;
}

gboolean
quoit_request_bundles_complete (const QuoitRequest *request, GError **error)
{
  if (request->bundles->len == 0)
    return has_nothing_of_bundles (request, error);
  if (!has_nothing_of_slices (request, error))
    return FALSE;
  if (request->n_topology_values > 1 && request->policy == QUOIT_POLICY_RAY)
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "topology label '%s' of '%u' values: policy 'ray' supports one; expected policy 'best', or one value",
        request->topology_label, request->n_topology_values);
  if (request->n_topology_values > 1 && request->bundles->len % request->n_topology_values != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "topology label '%s' of '%u' values: expected a number that divides the %u bundles",
                       request->topology_label, request->n_topology_values, request->bundles->len);
  if (request->soft_target != NULL && request->strategy != QUOIT_STRATEGY_STRICT_PACK)
    {
      g_autofree char *quoted = quoit_quote (request->soft_target);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "soft target %s: expected strategy 'STRICT_PACK', not '%s'",
                         quoted, quoit_strategy_name (request->strategy));
    }
  return TRUE;
}
