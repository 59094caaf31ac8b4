/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's names of strategies, and of the resources of placement groups. */
#include "models/ray/names.h"

#include <string.h>

static const char *const strategies[] = {
  [QUOIT_STRATEGY_PACK] = "PACK",
  [QUOIT_STRATEGY_SPREAD] = "SPREAD",
  [QUOIT_STRATEGY_STRICT_PACK] = "STRICT_PACK",
  [QUOIT_STRATEGY_STRICT_SPREAD] = "STRICT_SPREAD",
};

const char *
quoit_strategy_name (QuoitStrategy strategy)
{
  return (guint) strategy < G_N_ELEMENTS (strategies) ? strategies[strategy] : NULL;
}

gboolean
quoit_strategy_find (const char *text, QuoitStrategy *strategy)
{
  for (guint i = 0; i < G_N_ELEMENTS (strategies); i++)
    if (strcmp (text, strategies[i]) == 0)
      {
        *strategy = (QuoitStrategy) i;
        return TRUE;
      }
  return FALSE;
}

gboolean
quoit_strategy_parse (const char *text, QuoitStrategy *strategy, GError **error)
{
  g_autofree char *quoted = NULL;

  if (quoit_strategy_find (text, strategy))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "strategy %s: expected " QUOIT_STRATEGY_NAMES, quoted);
}

gboolean
quoit_strategy_check (QuoitStrategy strategy, GError **error)
{
  return quoit_strategy_name (strategy) != NULL
         || quoit_fail (error, QUOIT_ERROR_INVALID, "strategy '%d': expected " QUOIT_STRATEGY_NAMES, (int) strategy);
}

gboolean
quoit_ray_is_hex (const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isxdigit (text[i]))
      return FALSE;
  return text[length] == '\0';
}

static gboolean
check_names (const char *resource, const char *group_id, GError **error)
{
  g_autofree char *quoted = NULL;

  if (*resource == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "resource '': expected a name");
  if (quoit_ray_is_hex (group_id, QUOIT_RAY_GROUP_DIGITS))
    return TRUE;
  quoted = quoit_quote (group_id);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "placement group %s: expected an id of %d hexadecimal digits", quoted,
                     QUOIT_RAY_GROUP_DIGITS);
}

char *
quoit_ray_bundle_resource (const char *resource, const char *group_id, guint32 bundle, GError **error)
{
  return check_names (resource, group_id, error) ? g_strdup_printf ("%s_group_%u_%s", resource, bundle, group_id)
                                                 : NULL;
}

char *
quoit_ray_group_resource (const char *resource, const char *group_id, GError **error)
{
  return check_names (resource, group_id, error) ? g_strdup_printf ("%s_group_%s", resource, group_id) : NULL;
}
