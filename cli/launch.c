/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "launch.h"

#include <string.h>

#include "text.h"

static const struct {
  const char *name;
  QuoitProfile profile;
} profiles[] = {
  { "quoit", QUOIT_PROFILE_QUOIT },     { "ray-train", QUOIT_PROFILE_RAY_TRAIN },
  { "kuberay", QUOIT_PROFILE_KUBERAY }, { "jobset", QUOIT_PROFILE_JOBSET },
  { "lws", QUOIT_PROFILE_LWS },         { "job", QUOIT_PROFILE_JOB },
};

void
launch_options_clear (LaunchOptions *options)
{
  g_free (options->profile);
  g_free (options->per_host);
  g_free (options->jobset);
  g_free (options->replicated_job);
  g_free (options->lws);
  g_free (options->kubernetes_namespace);
  g_free (options->job);
  g_free (options->subdomain);
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
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "--profile '%s': expected quoit, ray-train, kuberay, jobset, lws or job", name);
  return false;
}

const char *
launch_name_of_profile (QuoitProfile profile)
{
  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    if (profiles[i].profile == profile)
      return profiles[i].name;
  g_assert_not_reached ();
}

/* An option with a name of an object, which only one profile uses. */
typedef struct {
  const char *option, *value;
  QuoitProfile profile;
} NameOption;

enum { N_NAME_OPTIONS = 6 };

static void
list_name_options (const LaunchOptions *options, NameOption names[N_NAME_OPTIONS])
{
  const NameOption all[N_NAME_OPTIONS] = {
    { "--jobset", options->jobset, QUOIT_PROFILE_JOBSET },
    { "--replicated-job", options->replicated_job, QUOIT_PROFILE_JOBSET },
    { "--lws", options->lws, QUOIT_PROFILE_LWS },
    { "--namespace", options->kubernetes_namespace, QUOIT_PROFILE_LWS },
    { "--job", options->job, QUOIT_PROFILE_JOB },
    { "--subdomain", options->subdomain, QUOIT_PROFILE_JOB },
  };

  memcpy (names, all, sizeof all);
}

const char *
launch_first_option (const LaunchOptions *options)
{
  NameOption names[N_NAME_OPTIONS];

  if (options->profile != NULL)
    return "--profile";
  if (options->per_host != NULL)
    return "--processes-per-host";
  list_name_options (options, names);
  for (guint i = 0; i < N_NAME_OPTIONS; i++)
    if (names[i].value != NULL)
      return names[i].option;
  return NULL;
}

/* With another profile such an option is a mistake. */
static bool
check_name_options (const LaunchOptions *options, QuoitProfile profile, GError **error)
{
  NameOption names[N_NAME_OPTIONS];

  list_name_options (options, names);
  for (guint i = 0; i < N_NAME_OPTIONS; i++)
    if (names[i].value != NULL && names[i].profile != profile)
      {
        g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '%s' requires --profile %s", names[i].option,
                     names[i].value, launch_name_of_profile (names[i].profile));
        return false;
      }
  return true;
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

  if (!find_profile (launch_profile_name (options), &profile, error) || !check_name_options (options, profile, error))
    return NULL;
  launch = quoit_launch_new (profile);
  if (!read_per_host (options, launch, error)
      || !quoit_launch_set_jobset (launch, options->jobset, options->replicated_job, error)
      || !quoit_launch_set_lws (launch, options->lws, options->kubernetes_namespace, 1, 0, error)
      || !quoit_launch_set_job (launch, options->job, options->subdomain, error))
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
