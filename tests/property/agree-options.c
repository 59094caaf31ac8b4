/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a report agree with reservations on forks on which their steps have been taken. */
#include "agree-pair.h"

/* The name of a node is p[POOL]-[SLICE]-[WORKER]. */
static void
end_external_use (const Pair *pair, DrawnState *fleet, const char *node)
{
  guint p, s, w;

  expect (pair, sscanf (node, "p%u-%u-%u", &p, &s, &w) == 3, "node '%s'", node);
  expect (pair, fleet->pools[p].mark[s][w] == 'b', "node '%s' is not in external use", node);
  fleet->pools[p].mark[s][w] = '.';
}

static void
take_step (const Pair *pair, const QuoitReport *report, guint32 option, guint32 step, QuoitFork *fork,
           QuoitRequest *request)
{
  const char *group = quoit_report_get_step_group (report, option, step);
  const char *node = quoit_report_get_step_node (report, option, step);
  gint64 now_ms = pair->state->now_ms;
  uint32_t chips = quoit_report_get_step_chips_per_host (report, option, step);
  g_autoptr (GError) error = NULL;
  gboolean done = TRUE;

  switch (quoit_report_get_step_kind (report, option, step))
    {
    case QUOIT_STEP_RELEASE:
    case QUOIT_STEP_LEASE_ENDS:
    case QUOIT_STEP_EXPECTED_END:
      done = quoit_fork_release (fork, group, now_ms, &error);
      break;
    case QUOIT_STEP_WINDOW_ENDS:
      done = quoit_fork_remove_window (fork, group, now_ms, &error);
      break;
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      done = quoit_fork_set_node_state (fork, node, QUOIT_NODE_ALIVE, now_ms, &error);
      break;
    case QUOIT_STEP_FEWER_SLICES:
      done = quoit_request_set_slices (request, quoit_report_get_step_n_slices (report, option, step), &error);
      break;
    case QUOIT_STEP_OTHER_TOPOLOGY:
      done = quoit_request_set_topology (request, quoit_report_get_step_topology (report, option, step), &error)
             && (chips == 0 || quoit_request_set_chips_per_host (request, chips, &error));
      break;
    case QUOIT_STEP_OTHER_HOSTS:
      done = quoit_request_set_chips_per_host (request, chips, &error);
      break;
    case QUOIT_STEP_CUT:
      done = quoit_request_set_cut (request, QUOIT_CUT_ANY, &error);
      break;
    case QUOIT_STEP_CUT_PARTITION:
      done = quoit_request_set_cut (request, QUOIT_CUT_PARTITION, &error);
      break;
    case QUOIT_STEP_JOIN_CUBES:
      done = quoit_request_set_cubes (request, QUOIT_CUBES_ANY, &error);
      break;
    case QUOIT_STEP_SHRINK:
      quoit_group_change_free (
          quoit_fork_resize (fork, group, quoit_report_get_step_n_slices (report, option, step), now_ms, NULL, &error));
      done = error == NULL;
      break;
    case QUOIT_STEP_EXTERNAL_ENDS:
      break; /* by a sync, before the other steps */
    default:
      expect (pair, FALSE, "step of kind %d", (int) quoit_report_get_step_kind (report, option, step));
    }
  expect (pair, done, "%s", error_text (error));
}

static gboolean
is_wait (const QuoitReport *report, guint32 option, guint32 step)
{
  QuoitStepKind kind = quoit_report_get_step_kind (report, option, step);

  return kind == QUOIT_STEP_LEASE_ENDS || kind == QUOIT_STEP_EXPECTED_END || kind == QUOIT_STEP_WINDOW_ENDS;
}

/* Returns whether the group ends by itself only if its caller does what is expected. */
static gboolean
is_expectation (const QuoitReport *report, guint32 option, guint32 step)
{
  return quoit_report_get_step_kind (report, option, step) == QUOIT_STEP_EXPECTED_END;
}

/* Takes all steps of the option but one, and returns whether the request fits at @time_ms. Before that, waiting for the
 * end of a group or window means to end it. */
static gboolean
fits_at_after (const Pair *pair, const QuoitReport *report, guint32 option, gint64 time_ms, guint32 left_out,
               char **why)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->present);
  g_autoptr (QuoitRequest) request = quoit_request_copy (pair->alone->request, "option", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;
  DrawnState fleet = *pair->state;
  gboolean has_external = FALSE;

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    if (s != left_out && quoit_report_get_step_kind (report, option, s) == QUOIT_STEP_EXTERNAL_ENDS)
      {
        end_external_use (pair, &fleet, quoit_report_get_step_node (report, option, s));
        has_external = TRUE;
      }
  if (has_external)
    agree_sync_fleet (pair, &fleet, fork);
  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    if (s != left_out
        && (time_ms == pair->state->now_ms || !is_wait (report, option, s) || is_expectation (report, option, s)))
      take_step (pair, report, option, s, fork, request);
  group = quoit_fork_reserve (fork, request, time_ms, NULL, &error);
  if (group == NULL && why != NULL)
    *why = g_strdup (error->message);
  return group != NULL;
}

/* Whether the request fits after all steps of the option, when those have ended for which it waits. */
static gboolean
fits_after (const Pair *pair, const QuoitReport *report, guint32 option, char **why)
{
  gint64 time_ms = pair->state->now_ms;

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    if (is_wait (report, option, s))
      time_ms = MAX (time_ms, quoit_report_get_step_until_ms (report, option, s));
  return fits_at_after (pair, report, option, time_ms, G_MAXUINT32, why);
}

/* Whether the request fits now after all steps of the option but one, as if nothing else ended. */
static gboolean
fits_without (const Pair *pair, const QuoitReport *report, guint32 option, guint32 left_out)
{
  return fits_at_after (pair, report, option, pair->state->now_ms, left_out, NULL);
}

/* Whether a reservation ahead lacks slices, and the option ends external use: the sync that does this can bring other
 * nodes back too, and the reservation then gets other slices. */
static gboolean
can_be_mended_by_sync (const Pair *pair, const QuoitReport *report, guint32 option)
{
  gboolean has_external = FALSE;

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    has_external |= quoit_report_get_step_kind (report, option, s) == QUOIT_STEP_EXTERNAL_ENDS;
  return has_external && has_incomplete_reservation (pair->present);
}

static gboolean
has_wait (const QuoitReport *report, guint32 option)
{
  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    if (is_wait (report, option, s))
      return TRUE;
  return FALSE;
}

/* Whether a step can be necessary only because of what lies ahead, or ends before the option is complete: reservations
 * ahead could also get slices that the other steps make free, a wait can end when something else has begun, and parts
 * could be placed on what leases make free that end meanwhile, where a quota for the class does not admit them. */
static gboolean
depends_on_time (const Pair *pair, const QuoitReport *report, guint32 option)
{
  const gboolean is_counted_by_place = pair->alone->has_cut && quoit_snapshot_get_n_quotas (pair->present) > 0;

  return pair->state->has_ahead || ((pair->state->has_windows || is_counted_by_place) && has_wait (report, option));
}

void
agree_check_options (const Pair *pair, const QuoitReport *report)
{
  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autofree char *text = quoit_report_dup_option_text (report, o), *why = NULL;
      g_autofree char *summary = quoit_report_dup_summary (report, "the request");
      uint32_t n_steps = quoit_report_get_n_steps (report, o);

      expect (pair, n_steps > 0, "an option has no steps");
      expect (pair, fits_after (pair, report, o, &why) || can_be_mended_by_sync (pair, report, o),
              "option '%s' of '%s' does not help: %s", text, summary, why);
      for (uint32_t s = 0; s < n_steps && n_steps > 1 && !depends_on_time (pair, report, o); s++)
        expect (pair, !fits_without (pair, report, o, s), "option '%s' of '%s' needs no step %u", text, summary, s);
      pair->count->n_options++;
      pair->count->n_steps += n_steps;
      pair->count->n_later_options += has_wait (report, o);
    }
}
