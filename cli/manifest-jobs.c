/* SPDX-License-Identifier: Apache-2.0 */
/* `env --manifest` for objects without Ray, such as a JobSet: their slices in a ledger in memory, with the environment
 * of their profile. */
#include <quoit/models.h>

#include "env.h"
#include "launch.h"
#include "manifest-env.h"
#include "text.h"

/* Any time is right, because the ledger has only this group. */
#define NOW_MS G_GINT64_CONSTANT (1793491200000)

typedef struct {
  QuoitSnapshot *snapshot;
  const char *source; /* the name of the object */
  uint32_t pool, n_slices;
} Jobs;

static QuoitInput *
read_input (const ManifestOptions *options, const char *text, gsize length)
{
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAYCLUSTER, text, length);

  quoit_input_set_variables (input, (const char *const *) options->variables);
  return input;
}

static QuoitSnapshot *
import (QuoitLedger *ledger, const QuoitInput *input, GError **error)
{
  g_autoptr (QuoitImport) result = quoit_ledger_import (ledger, input, NOW_MS, error);

  return result == NULL ? NULL : quoit_ledger_snapshot (ledger);
}

/* A RayCluster has a pool with its head, and other objects have no such pool. */
static bool
has_ray_head (const QuoitSnapshot *snapshot)
{
  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    if (g_str_equal (quoit_snapshot_get_pool_name (snapshot, pool), "headgroup"))
      return true;
  return false;
}

static char *
list_pools (const QuoitSnapshot *snapshot)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    if (quoit_snapshot_get_pool_n_slices (snapshot, pool) > 0)
      g_ptr_array_add (names, (char *) quoit_snapshot_get_pool_name (snapshot, pool));
  g_ptr_array_add (names, NULL);
  return names->len == 1 ? g_strdup ("it has none") : g_strjoinv (", ", (char **) names->pdata);
}

/* Finds the pool of the pods: --group, or the only one with slices. */
static bool
find_pool (Jobs *jobs, const char *group, GError **error)
{
  g_autofree char *known = list_pools (jobs->snapshot);
  guint n_found = 0;

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (jobs->snapshot); pool++)
    {
      const char *name = quoit_snapshot_get_pool_name (jobs->snapshot, pool);

      if (quoit_snapshot_get_pool_n_slices (jobs->snapshot, pool) == 0 || (group != NULL && !g_str_equal (name, group)))
        continue;
      jobs->pool = pool;
      jobs->n_slices = quoit_snapshot_get_pool_n_slices (jobs->snapshot, pool);
      n_found++;
    }
  if (n_found == 1)
    return true;
  if (group != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
                 "--group '%s': expected a group of pods of the manifest with slices: %s", group, known);
  else if (n_found == 0)
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                         "the manifest has no slices: expected pods that request google.com/tpu");
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "the manifest has several groups of pods with slices: add --group NAME, one of: %s", known);
  return false;
}

/* Each slice must be one job. */
static bool
check_job_set (const QuoitGroup *group, const char *set, const char *job, GError **error)
{
  const uint32_t last = quoit_group_get_n_slices (group) - 1;
  g_autofree char *pod = g_strdup_printf ("%s-%s-%u-0", set, job, last);

  if (g_str_equal (quoit_group_get_worker_name (group, last, 0), pod))
    return true;
  g_set_error (
      error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
      "replicated job '%s': expected jobs of one slice each, because quoit does not know the variables of a job "
      "whose pods have a slice each",
      job);
  return false;
}

static uint32_t
first_slice (const QuoitSnapshot *snapshot, uint32_t pool)
{
  uint32_t slice = 0;

  for (uint32_t i = 0; i < pool; i++)
    slice += quoit_snapshot_get_pool_n_slices (snapshot, i);
  return slice;
}

/* Reserves all slices of the pool, which are of one class. */
static QuoitGroup *
reserve (QuoitLedger *ledger, const Jobs *jobs, GError **error)
{
  const uint32_t class = (uint32_t) quoit_snapshot_get_slice_class (jobs->snapshot,
                                                                    first_slice (jobs->snapshot, jobs->pool));
  g_autofree char *topology = quoit_snapshot_dup_class_topology (jobs->snapshot, class);
  g_autoptr (QuoitRequest) request = quoit_request_new (jobs->source, error);

  if (request == NULL
      || !quoit_request_set_accelerator (request, quoit_snapshot_get_class_accelerator (jobs->snapshot, class), error)
      || !quoit_request_set_topology (request, topology, error)
      || !quoit_request_set_chips_per_host (request, quoit_snapshot_get_class_chips_per_host (jobs->snapshot, class),
                                            error)
      || !quoit_request_set_slices (request, jobs->n_slices, error))
    return NULL;
  quoit_request_set_pool (request, quoit_snapshot_get_pool_name (jobs->snapshot, jobs->pool));
  return quoit_ledger_reserve (ledger, request, NOW_MS, NULL, error);
}

static bool
print_jobs (Session *session, const ManifestOptions *options, QuoitLedger *ledger, const QuoitInput *input, Jobs *jobs,
            EnvChoice *choice, GError **error)
{
  g_autoptr (QuoitLaunch) launch = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GArray) chosen = NULL;
  const EnvChoiceOptions none = { .slice = NULL };
  g_auto (EnvView) view = { .topology = NULL };
  const char *job;

  if (options->steps != NULL)
    return text_refuse_usage (error, "--then requires a RayCluster, RayJob or RayService");
  if (!find_pool (jobs, options->group, error))
    return false;
  job = quoit_snapshot_get_pool_name (jobs->snapshot, jobs->pool);
  group = reserve (ledger, jobs, error);
  launch = group == NULL ? NULL : quoit_launch_new_for_manifest (input, job, error);
  if (launch == NULL
      || (quoit_launch_get_profile (launch) == QUOIT_PROFILE_JOBSET
          && !check_job_set (group, jobs->source, job, error)))
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  view = (EnvView) { snapshot,
                     group,
                     quoit_topology_new (group, launch, error),
                     launch_name_of_profile (quoit_launch_get_profile (launch)),
                     NULL,
                     false };
  if (view.topology == NULL)
    return false;
  env_view_find_slices (&view);
  chosen = env_choose (&view, &none, choice, error);
  if (chosen == NULL)
    return false;
  return session_wants_json (session) ? env_print_document (session, &view, chosen, error)
                                      : env_print_for_people (session, &view, chosen, error);
}

bool
manifest_print_jobs (Session *session, const ManifestOptions *options, const char *text, gsize length, gint64 slice_id,
                     gint64 worker_id, bool *is_printed, GError **reason, GError **error)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = read_input (options, text, length);
  g_autoptr (QuoitSnapshot) snapshot = import (ledger, input, reason);
  Jobs jobs = { .snapshot = snapshot };
  EnvChoice choice = { -1, slice_id, worker_id, -1, -1 };

  *is_printed = snapshot != NULL && quoit_snapshot_get_n_nodes (snapshot) > 0 && !has_ray_head (snapshot);
  if (snapshot != NULL && quoit_snapshot_get_n_nodes (snapshot) == 0)
    g_set_error_literal (reason, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                         "no pods: expected an object that is not suspended, with replicas");
  if (!*is_printed)
    return true;
  jobs.source = quoit_snapshot_get_source_name (snapshot, 0);
  return print_jobs (session, options, ledger, input, &jobs, &choice, error);
}
