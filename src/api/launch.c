/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch.h"

#include <string.h>

#include <quoit/models/systems.h>

#include "api/input.h"
#include "base/error.h"

QuoitLaunch *
quoit_launch_new (QuoitProfile profile)
{
  QuoitLaunch *launch;

  g_return_val_if_fail (profile >= QUOIT_PROFILE_QUOIT && profile <= QUOIT_PROFILE_JOB, NULL);

  launch = g_new0 (QuoitLaunch, 1);
  launch->profile = profile;
  launch->per_host = 1;
  launch->lws.slices_per_replica = 1;
  launch->job.is_indexed = TRUE;
  return launch;
}

void
quoit_launch_free (QuoitLaunch *launch)
{
  if (launch == NULL)
    return;
  g_free (launch->jobset);
  g_free (launch->replicated_job);
  g_free (launch->lws.name);
  g_free (launch->lws.namespace);
  g_free (launch->job.name);
  g_free (launch->job.subdomain);
  g_free (launch);
}

QuoitProfile
quoit_launch_get_profile (const QuoitLaunch *launch)
{
  g_return_val_if_fail (launch != NULL, QUOIT_PROFILE_QUOIT);

  return launch->profile;
}

bool
quoit_launch_set_processes_per_host (QuoitLaunch *launch, uint32_t n, GError **error)
{
  g_return_val_if_fail (launch != NULL, 0);

  if (n == 0 || n > QUOIT_MOST_PER_HOST || (n & (n - 1)) != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "processes per host '%u': expected 1, 2, 4 or 8", n);

  launch->per_host = n;
  return 1;
}

static gboolean
check_label (const char *what, const char *name, GError **error)
{
  return name == NULL || quoit_launch_check_label (what, name, error);
}

static gboolean
check_name (QuoitProfile profile, const char *name, GError **error)
{
  return name == NULL || quoit_launch_check_name (profile, name, error);
}

/* @new can be @*text. */
static void
replace (char **text, const char *new)
{
  char *old = *text;

  *text = g_strdup (new);
  g_free (old);
}

bool
quoit_launch_set_jobset (QuoitLaunch *launch, const char *name, const char *replicated_job, GError **error)
{
  g_return_val_if_fail (launch != NULL, 0);

  if (!check_name (QUOIT_PROFILE_JOBSET, name, error) || !check_label ("replicated job", replicated_job, error))
    return 0;
  replace (&launch->jobset, name);
  replace (&launch->replicated_job, replicated_job);
  return 1;
}

bool
quoit_launch_set_lws (QuoitLaunch *launch, const char *name, const char *kubernetes_namespace,
                      uint32_t slices_per_replica, uint32_t flags, GError **error)
{
  const uint32_t all = QUOIT_LWS_LEADER_APART | QUOIT_LWS_OWN_SUBDOMAINS | QUOIT_LWS_SUBGROUPS;
  const bool has_subgroups = (flags & QUOIT_LWS_SUBGROUPS) != 0;

  g_return_val_if_fail (launch != NULL, 0);

  if (!check_name (QUOIT_PROFILE_LWS, name, error) || !check_label ("namespace", kubernetes_namespace, error))
    return 0;
  if (slices_per_replica == 0 || (slices_per_replica > 1 && !has_subgroups))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slices per replica '%u': expected 1%s", slices_per_replica,
                       has_subgroups ? " or more" : ", because only subgroups are several slices");
  if ((flags & ~all) != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "flags '%u': expected bits of QuoitLwsFlags", flags);
  replace (&launch->lws.name, name);
  replace (&launch->lws.namespace, kubernetes_namespace);
  launch->lws.slices_per_replica = slices_per_replica;
  launch->lws.flags = flags;
  return 1;
}

bool
quoit_launch_set_job (QuoitLaunch *launch, const char *name, const char *subdomain, GError **error)
{
  g_return_val_if_fail (launch != NULL, 0);

  /* Objects of other kinds, which are not indexed, can have other names. */
  if ((launch->job.is_indexed && !check_name (QUOIT_PROFILE_JOB, name, error))
      || !check_label ("subdomain", subdomain, error))
    return 0;
  replace (&launch->job.name, name);
  replace (&launch->job.subdomain, subdomain);
  return 1;
}

/* --- manifests --- */

static gboolean
check_pool (const QuoitClaims *claims, const char *pool, GError **error)
{
  g_autofree char *quoted = NULL;

  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    if (strcmp (quoit_claims_pool_at ((QuoitClaims *) claims, i)->name, pool) == 0)
      return TRUE;
  quoted = quoit_quote (pool);
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "pool %s: expected a pool of the manifest", quoted);
}

static gboolean
set_object (QuoitLaunch *launch, const QuoitWorkload *workload, const char *pool, GError **error)
{
  switch (launch->profile)
    {
    case QUOIT_PROFILE_JOBSET:
      return quoit_launch_set_jobset (launch, workload->name, pool, error);
    case QUOIT_PROFILE_LWS:
      return quoit_launch_set_lws (launch, workload->name, workload->namespace, workload->slices_per_replica,
                                   workload->flags, error)
             && quoit_launch_set_processes_per_host (launch, workload->n_containers, error);
    case QUOIT_PROFILE_JOB:
      launch->job.is_indexed = workload->is_indexed;
      return quoit_launch_set_job (launch, workload->name, workload->subdomain, error);
    default:
      return TRUE;
    }
}

QuoitLaunch *
quoit_launch_new_for_manifest (const QuoitInput *input, const char *pool, GError **error)
{
  g_auto (QuoitWorkload) workload = { 0 };
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (QuoitLaunch) launch = NULL;

  g_return_val_if_fail (input != NULL && pool != NULL, NULL);

  claims = quoit_input_read_workload (input, &workload, error);
  if (claims == NULL || !check_pool (claims, pool, error))
    return NULL;
  launch = quoit_launch_new (workload.profile != 0 ? workload.profile : QUOIT_PROFILE_KUBERAY);
  return set_object (launch, &workload, pool, error) ? g_steal_pointer (&launch) : NULL;
}
