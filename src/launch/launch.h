/* SPDX-License-Identifier: Apache-2.0 */
/* How the processes of a group are launched. */
#pragma once

#include <quoit/topology.h>

enum { QUOIT_MOST_PER_HOST = 8 };

struct _QuoitLaunch {
  QuoitProfile profile;
  guint32 per_host;              /* processes per host */
  char *jobset, *replicated_job; /* NULL: the defaults */
};

/* Fails with INVALID if Kubernetes does not accept @name for a JobSet. */
gboolean quoit_launch_check_jobset (const char *name, GError **error);
