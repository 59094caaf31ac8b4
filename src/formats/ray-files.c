/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Ray cluster from its listings: first nodes, then groups, then availability. */
#include "formats/ray-use.h"

static gboolean
prefix (const char *what, GError **error)
{
  g_prefix_error (error, "%s: ", what);
  return FALSE;
}

static gboolean
read_use (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error)
{
  g_auto (QuoitRayUse) use = { 0 };
  guint scope = 0;

  if (files->groups != NULL)
    {
      if (!quoit_ray_groups_read (files, cluster, error))
        return prefix ("groups", error);
      scope |= QUOIT_CLAIMS_SAY_GROUPS;
    }
  if (files->groups != NULL || files->available != NULL)
    {
      quoit_ray_use_init (&use, cluster);
      if (!quoit_ray_use_check (&use, error))
        return prefix ("groups", error);
    }
  if (files->available != NULL)
    {
      if (!quoit_ray_available_read (files, cluster, &use, error))
        return prefix ("available", error);
      scope |= QUOIT_CLAIMS_SAY_EXTERNAL;
    }
  quoit_claims_set_scope (cluster->claims, scope);
  return TRUE;
}

static void
warn_of_what_is_not_known (const QuoitRayFiles *files, QuoitClaims *claims)
{
  guint32 n_nodes;

  quoit_claims_nodes (claims, &n_nodes);
  if (n_nodes == 0 || files->available != NULL)
    return;
  if (files->groups == NULL)
    quoit_claims_warn (claims,
                       "the list has the nodes' resources, but not what is in use: what Ray has reserved is unknown");
  else
    quoit_claims_warn (claims,
                       "the lists say what the nodes have and what groups hold: what else is in use is not known");
}

QuoitClaims *
quoit_read_ray_files (const QuoitRayFiles *files, GError **error)
{
  g_auto (QuoitRayCluster) cluster = { 0 };

  if (!quoit_ray_nodes_read (files, &cluster, error))
    return prefix ("nodes", error), NULL;
  if (!read_use (files, &cluster, error))
    return NULL;
  warn_of_what_is_not_known (files, cluster.claims);
  return g_steal_pointer (&cluster.claims);
}

QuoitClaims *
quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error)
{
  QuoitRayFiles files = { .nodes = text, .n_nodes = length, .source = source };
  g_auto (QuoitRayCluster) cluster = { 0 };

  if (!quoit_ray_nodes_read (&files, &cluster, error))
    return NULL;
  warn_of_what_is_not_known (&files, cluster.claims);
  return g_steal_pointer (&cluster.claims);
}
