/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms of common public API calls for tests and benchmarks. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

/* Imports @text as source @source, or the default source of its kind if @source is NULL. NULL on failure; free the
   result with quoit_import_free(). */
static inline QuoitImport *
import_as (QuoitLedger *ledger, QuoitSourceKind kind, const char *text, const char *source, int64_t now_ms,
           GError **error)
{
  QuoitInput *input = quoit_input_new (kind, text, strlen (text));
  QuoitImport *import;

  if (source != NULL)
    quoit_input_set_source (input, source);
  import = quoit_ledger_import (ledger, input, now_ms, error);
  quoit_input_free (input);
  return import;
}

/* The number of processes on the host with the most of them. */
static inline uint32_t
count_processes_per_host (const QuoitTopology *topology)
{
  uint32_t most = 0;

  for (uint32_t i = 0; i < quoit_topology_get_n_processes (topology); i++)
    if (quoit_topology_get_local_index (topology, i) + 1 > most)
      most = quoit_topology_get_local_index (topology, i) + 1;
  return most;
}

/* The processes of @group in @profile, one per host. NULL on failure; free the result with quoit_topology_free(). */
static inline QuoitTopology *
topology_in (const QuoitGroup *group, QuoitProfile profile, GError **error)
{
  QuoitLaunch *launch = quoit_launch_new (profile);
  QuoitTopology *topology = quoit_topology_new (group, launch, error);

  quoit_launch_free (launch);
  return topology;
}

/* Whether the report on a group in @snapshot states what a repair at the same time did: @change, or @failure. */
static inline bool
explains_repair (const QuoitSnapshot *snapshot, const char *group, const QuoitGroupChange *change,
                 const GError *failure)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitReport) report = quoit_snapshot_explain_group (snapshot, group, &error);

  if (change != NULL && quoit_group_change_get_before (change) == quoit_group_change_get_after (change))
    return report == NULL && error->code == QUOIT_ERROR_CONFLICT;
  if (report == NULL)
    return change == NULL && error->code == failure->code;
  if (change != NULL)
    return quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS
           && (quoit_report_get_bundle (report) >= 0
               || quoit_report_get_n_free_now (report) >= quoit_report_get_n_wanted (report));
  return quoit_report_get_verdict (report)
         == (failure->code == QUOIT_ERROR_NEVER ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW);
}

/* Whether a reservation ahead has lost one of its slices. */
static inline bool
has_incomplete_reservation (const QuoitSnapshot *snapshot)
{
  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD
            && quoit_group_get_slice_state (group, s) != QUOIT_GROUP_SLICE_WHOLE)
          return true;
    }
  return false;
}
