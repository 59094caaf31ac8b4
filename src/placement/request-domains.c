/* SPDX-License-Identifier: Apache-2.0 */
/* What a request states about the pools and zones of its slices. */
#include "placement/request.h"

#include <string.h>

static const char *const names[] = { [QUOIT_DOMAIN_POOL] = "pool", [QUOIT_DOMAIN_ZONE] = "zone" };

const char *
quoit_domain_name (QuoitDomain domain)
{
  return names[domain];
}

gboolean
quoit_domain_find (const char *name, QuoitDomain *domain)
{
  for (gsize d = QUOIT_DOMAIN_POOL; d < G_N_ELEMENTS (names); d++)
    if (strcmp (name, names[d]) == 0)
      return *domain = (QuoitDomain) d, TRUE;
  return FALSE;
}

static gboolean
check_domain (const char *what, QuoitDomain domain, GError **error)
{
  return domain == QUOIT_DOMAIN_NONE || domain == QUOIT_DOMAIN_POOL || domain == QUOIT_DOMAIN_ZONE
         || quoit_fail (error, QUOIT_ERROR_INVALID, "%s '%d': expected a domain that this version knows", what,
                        (int) domain);
}

gboolean
quoit_request_set_keep_to (QuoitRequest *request, QuoitDomain domain, GError **error)
{
  if (!check_domain ("keep to", domain, error))
    return FALSE;
  request->keep_to = domain;
  return TRUE;
}

static gboolean
check_number (const char *what, gint64 number, GError **error)
{
  return (number >= 1 && number <= QUOIT_MAX_SLICES)
         || quoit_fail (error, QUOIT_ERROR_INVALID, "%s '%" G_GINT64_FORMAT "': expected 1 to %d", what, number,
                        QUOIT_MAX_SLICES);
}

gboolean
quoit_request_set_spread (QuoitRequest *request, QuoitDomain domain, gint64 max_skew, gint64 min_domains,
                          GError **error)
{
  if (!check_domain ("spread over", domain, error)
      || (domain != QUOIT_DOMAIN_NONE
          && (!check_number ("maximum skew", max_skew, error)
              || !check_number ("minimum of domains", min_domains, error))))
    return FALSE;
  request->spread_over = domain;
  request->max_skew = domain == QUOIT_DOMAIN_NONE ? 0 : (guint32) max_skew;
  request->min_domains = domain == QUOIT_DOMAIN_NONE ? 0 : (guint32) min_domains;
  return TRUE;
}

gboolean
quoit_request_set_near_group (QuoitRequest *request, const char *group, GError **error)
{
  const char *at = group == NULL ? NULL : strrchr (group, '@');
  g_autofree char *name = at == NULL ? g_strdup (group) : g_strndup (group, (gsize) (at - group));
  guint64 id;

  if (group != NULL && !quoit_name_check ("near group", name, error))
    return FALSE;
  if (at != NULL && !g_ascii_string_to_unsigned (at + 1, 10, 1, G_MAXINT64, &id, NULL))
    {
      g_autofree char *quoted = quoit_quote (group);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "near group %s: expected NAME or NAME@ID, ID a number from 1",
                         quoted);
    }
  quoit_request_replace_text (&request->near, group);
  return TRUE;
}

gboolean
quoit_request_check_domains (const QuoitRequest *request, GError **error)
{
  if (request->bundles->len > 0 && request->keep_to != QUOIT_DOMAIN_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "keep to '%s': expected a request for slices; for bundles, set a topology label",
                       quoit_domain_name (request->keep_to));
  if (request->bundles->len > 0 && request->spread_over != QUOIT_DOMAIN_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "spread over '%s': expected a request for slices; for bundles, set a topology label with "
                       "several values",
                       quoit_domain_name (request->spread_over));
  if (request->bundles->len > 0 && request->near != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "near group '%s': expected a request for slices; for bundles, set a pool or zone",
                       request->near);
  if (request->keep_to != QUOIT_DOMAIN_NONE && request->spread_over != QUOIT_DOMAIN_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "keep to '%s' and spread over '%s': expected one of them; set a pool or zone to spread in it",
                       quoit_domain_name (request->keep_to), quoit_domain_name (request->spread_over));
  return TRUE;
}
