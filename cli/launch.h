/* SPDX-License-Identifier: Apache-2.0 */
/* The options for the launch of the processes of a group, and the table of the devices of a process. */
#pragma once

#include <quoit/quoit.h>

#include "table.h"

typedef struct {
  char *profile, *per_host, *jobset, *replicated_job; /* NULL: not given */
  char *lws, *kubernetes_namespace, *job, *subdomain;
} LaunchOptions;

void launch_options_clear (LaunchOptions *options);

/* "quoit" if --profile is not given. */
const char *launch_profile_name (const LaunchOptions *options);

/* The name of a profile, such as "jobset". */
const char *launch_name_of_profile (QuoitProfile profile);

/* Returns the first given option about the launch, such as "--profile"; NULL: none is given. */
const char *launch_first_option (const LaunchOptions *options);

/* Fails with USAGE if an option is wrong or requires another profile, and with INVALID for a name that Kubernetes
 * refuses. */
QuoitLaunch *launch_build (const LaunchOptions *options, GError **error);

/* Returns one row for each JAX device of the process: its id in the job, the number of its chip in the slice, and the
 * coordinates of that chip. */
Table *process_devices_table (const QuoitTopology *topology, uint32_t process);
