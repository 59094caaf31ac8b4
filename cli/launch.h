/* SPDX-License-Identifier: Apache-2.0 */
/* How the processes of a group are started, as the options of a verb say it, and what each of them has. */
#pragma once

#include <quoit/quoit.h>

#include "table.h"

typedef struct {
  char *profile, *per_host, *jobset, *replicated_job; /* NULL: not given */
} LaunchOptions;

void launch_options_clear (LaunchOptions *options);

/* "quoit" where none is given. */
const char *launch_profile_name (const LaunchOptions *options);

/* USAGE where an option is wrong or of another profile; INVALID where Kubernetes refuses a name. */
QuoitLaunch *launch_build (const LaunchOptions *options, GError **error);

/* A row for each JAX device of the process: its id in the job, its chip in the slice, and where that is. */
Table *devices_of_process (const QuoitTopology *topology, uint32_t process);
