/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Ray cluster from its lists: nodes, then groups, then available resources. */
#include "formats/ray-use.h"

static gboolean
prefix (const char *what, GError **error)
{
  g_prefix_error (error, "%s: ", what);
  return FALSE;
}

static gboolean
read_use (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error)
{
  g_auto (QuoitRayUse) use = { 0 };
  guint scope = 0;

  if (files->groups != NULL)
    {
      if (!quoit_ray_groups_read (files, listing, error))
        return prefix ("groups", error);
      scope |= QUOIT_CLAIMS_SCOPE_GROUPS;
    }
  if (files->groups != NULL || files->available != NULL)
    {
      quoit_ray_use_init (&use, listing);
      if (!quoit_ray_use_check (&use, error))
        return prefix ("groups", error);
    }
  if (files->available != NULL)
    {
      if (!quoit_ray_available_read (files, listing, &use, error))
        return prefix ("available", error);
      scope |= QUOIT_CLAIMS_SCOPE_EXTERNAL;
    }
  quoit_claims_set_scope (listing->claims, scope);
  return TRUE;
}

static void
warn_about_unknown_use (const QuoitRayFiles *files, QuoitClaims *claims)
{
  guint32 n_nodes;

  quoit_claims_nodes (claims, &n_nodes);
  if (n_nodes == 0 || files->available != NULL || (files->added != NULL && files->groups == NULL))
    return;
  if (files->groups == NULL)
    quoit_claims_warn (claims,
                       "the list has the nodes' resources, but not what is in use: what Ray has reserved is unknown");
  else
    quoit_claims_warn (claims,
                       "the lists have the nodes' resources and the placement groups, but not what else is in use");
}

QuoitClaims *
quoit_read_ray_files (const QuoitRayFiles *files, GError **error)
{
  g_auto (QuoitRayListing) listing = { 0 };

  if (!quoit_ray_nodes_read (files, &listing, error))
    return files->added != NULL ? NULL : (prefix ("nodes", error), NULL);
  if (!read_use (files, &listing, error))
    return NULL;
  warn_about_unknown_use (files, listing.claims);
  return g_steal_pointer (&listing.claims);
}

QuoitClaims *
quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error)
{
  QuoitRayFiles files = { .nodes = text, .n_nodes = length, .source = source };
  g_auto (QuoitRayListing) listing = { 0 };

  if (!quoit_ray_nodes_read (&files, &listing, error))
    return NULL;
  warn_about_unknown_use (&files, listing.claims);
  return g_steal_pointer (&listing.claims);
}
