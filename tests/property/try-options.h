/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the options of a refusal on forks. */
#pragma once

#include "../support.h"

static inline void
try_step (const QuoitReport *report, guint32 option, guint32 step, QuoitFork *fork, QuoitRequest *request,
          gint64 now_ms, guint32 seed)
{
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;

  switch (quoit_report_get_step_kind (report, option, step))
    {
    case QUOIT_STEP_RELEASE:
    case QUOIT_STEP_LEASE_ENDS:
    case QUOIT_STEP_EXPECTED_END:
      done = quoit_fork_release (fork, quoit_report_get_step_group (report, option, step), now_ms, &error);
      break;
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      done = quoit_fork_set_node_state (fork, quoit_report_get_step_node (report, option, step), QUOIT_NODE_ALIVE,
                                        now_ms, &error);
      break;
    case QUOIT_STEP_FEWER_SLICES:
      done = quoit_request_set_slices (request, quoit_report_get_step_n_slices (report, option, step), &error);
      break;
    default:
      require (FALSE, "seed %u: a step of kind %d", seed, (int) quoit_report_get_step_kind (report, option, step));
    }
  require (done, "seed %u: %s", seed, error_text (error));
}

/* Ends the test unless the request is granted after each option. Returns the number of options. */
static inline guint
try_options (const QuoitSnapshot *snapshot, const QuoitRequest *request, const QuoitReport *report, gint64 now_ms,
             guint32 seed)
{
  const guint n_options = quoit_report_get_n_options (report);

  for (uint32_t o = 0; o < n_options; o++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitRequest) changed = quoit_request_copy (request, "option", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitGroup) group = NULL;

      for (uint32_t s = 0; s < quoit_report_get_n_steps (report, o); s++)
        try_step (report, o, s, fork, changed, now_ms, seed);
      group = quoit_fork_reserve (fork, changed, now_ms, NULL, &error);
      require (group != NULL, "seed %u: option %u of %u: %s", seed, o, n_options, error_text (error));
    }
  return n_options;
}
