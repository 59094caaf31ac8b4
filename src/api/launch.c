/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch.h"

#include <quoit/models/systems.h>

#include "base/dns.h"
#include "base/error.h"

QuoitLaunch *
quoit_launch_new (QuoitProfile profile)
{
  QuoitLaunch *launch;

  g_return_val_if_fail (profile >= QUOIT_PROFILE_QUOIT && profile <= QUOIT_PROFILE_JOBSET, NULL);

  launch = g_new0 (QuoitLaunch, 1);
  launch->profile = profile;
  launch->per_host = 1;
  return launch;
}

void
quoit_launch_free (QuoitLaunch *launch)
{
  if (launch == NULL)
    return;
  g_free (launch->jobset);
  g_free (launch->replicated_job);
  g_free (launch);
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
check_replicated_job (const char *name, GError **error)
{
  g_autofree char *quoted = NULL;

  if (quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES))
    return TRUE;
  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "replicated job %s: expected a name of at most %d lower-case letters, digits and '-', no '-' "
                     "first or last",
                     quoted, QUOIT_MAX_DNS_LABEL_BYTES);
}

bool
quoit_launch_set_jobset (QuoitLaunch *launch, const char *name, const char *replicated_job, GError **error)
{
  char *old_name, *old_job;

  g_return_val_if_fail (launch != NULL, 0);

  if ((name != NULL && !quoit_launch_check_jobset (name, error))
      || (replicated_job != NULL && !check_replicated_job (replicated_job, error)))
    return 0;

  old_name = launch->jobset;
  old_job = launch->replicated_job;
  launch->jobset = g_strdup (name);
  launch->replicated_job = g_strdup (replicated_job);
  g_free (old_name);
  g_free (old_job);
  return 1;
}
