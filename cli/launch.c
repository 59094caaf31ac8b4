/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "launch.h"

#include "text.h"

static const struct {
  const char *name;
  QuoitProfile profile;
} profiles[] = {
  { "quoit", QUOIT_PROFILE_QUOIT },
  { "ray-train", QUOIT_PROFILE_RAY_TRAIN },
  { "kuberay", QUOIT_PROFILE_KUBERAY },
  { "jobset", QUOIT_PROFILE_JOBSET },
};

void
launch_options_clear (LaunchOptions *options)
{
  g_free (options->profile);
  g_free (options->per_host);
  g_free (options->jobset);
  g_free (options->replicated_job);
}

const char *
launch_profile_name (const LaunchOptions *options)
{
  return options->profile == NULL ? profiles[0].name : options->profile;
}

static bool
find_profile (const char *name, QuoitProfile *profile, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    if (g_str_equal (profiles[i].name, name))
      {
        *profile = profiles[i].profile;
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--profile '%s': expected quoit, ray-train, kuberay or jobset",
               name);
  return false;
}

/* Only profile jobset uses the names of a JobSet, so with another profile such an option is a mistake. */
static bool
check_jobset_options (const LaunchOptions *options, QuoitProfile profile, GError **error)
{
  const char *option = options->jobset != NULL ? "--jobset" : "--replicated-job";

  if (profile == QUOIT_PROFILE_JOBSET || (options->jobset == NULL && options->replicated_job == NULL))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '%s' requires --profile jobset", option,
               options->jobset != NULL ? options->jobset : options->replicated_job);
  return false;
}

static bool
read_per_host (const LaunchOptions *options, QuoitLaunch *launch, GError **error)
{
  static const NumberRule rule = { "--processes-per-host", "1, 2, 4 or 8", 1, 8 };
  gint64 n;

  if (options->per_host == NULL)
    return true;
  if (!text_parse_number (options->per_host, &rule, &n, error))
    return false;
  if (quoit_launch_set_processes_per_host (launch, (uint32_t) n, error))
    return true;
  g_prefix_error (error, "--processes-per-host: ");
  return false;
}

QuoitLaunch *
launch_build (const LaunchOptions *options, GError **error)
{
  QuoitProfile profile;
  g_autoptr (QuoitLaunch) launch = NULL;

  if (!find_profile (launch_profile_name (options), &profile, error) || !check_jobset_options (options, profile, error))
    return NULL;
  launch = quoit_launch_new (profile);
  if (!read_per_host (options, launch, error)
      || !quoit_launch_set_jobset (launch, options->jobset, options->replicated_job, error))
    return NULL;
  return g_steal_pointer (&launch);
}

static const Column device_columns[] = {
  { "device_id", NULL, CELL_NUMBER }, { "chip", NULL, CELL_NUMBER }, { "x", NULL, CELL_NUMBER },
  { "y", NULL, CELL_NUMBER },         { "z", NULL, CELL_NUMBER },
};

Table *
process_devices_table (const QuoitTopology *topology, uint32_t process)
{
  Table *table = table_new (device_columns, G_N_ELEMENTS (device_columns));
  uint32_t n_chips = quoit_topology_get_n_chips (topology, process);
  uint32_t n = quoit_topology_get_n_devices (topology, process);

  for (uint32_t device = 0; device < n; device++)
    {
      uint32_t chip = device / (n / n_chips);

      table_add_number (table, (gint64) quoit_topology_get_device (topology, process, device));
      table_add_number (table, quoit_topology_get_chip (topology, process, chip));
      for (int axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
        table_add_number (table, quoit_topology_get_chip_at (topology, process, chip, (QuoitAxis) axis));
    }
  return table;
}
