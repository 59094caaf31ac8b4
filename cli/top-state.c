/* SPDX-License-Identifier: Apache-2.0 */
#include "top-state.h"

#include "decimal.h"
#include "document.h"
#include "fleet-view.h"
#include "group-view.h"
#include "report-view.h"

void
top_state_free (TopState *state)
{
  if (state == NULL)
    return;
  quoit_snapshot_unref (state->snapshot);
  g_ptr_array_unref (state->groups);
  g_array_unref (state->problems);
  g_array_unref (state->waiting);
  g_free (state->chips_used);
  g_free (state->chips_total);
  g_free (state);
}

static void
count_slices (TopState *state)
{
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (state->snapshot); slice++)
    {
      const uint32_t flags = quoit_snapshot_get_slice_flags (state->snapshot, slice);
      const TopProblem problem = { false, slice };

      state->n_free += (flags & QUOIT_SLICE_FREE) != 0;
      state->n_held += (flags & QUOIT_SLICE_ALLOCATED) != 0;
      state->n_degraded += (flags & QUOIT_SLICE_INTACT) == 0;
      state->n_draining += (flags & QUOIT_SLICE_DRAINING) != 0;
      if ((flags & QUOIT_SLICE_INTACT) == 0)
        g_array_append_val (state->problems, problem);
    }
}

static bool
has_lost (const QuoitGroup *group)
{
  for (uint32_t i = 0; i < quoit_group_get_n_slices (group); i++)
    if (quoit_group_get_slice_state (group, i) != QUOIT_GROUP_SLICE_WHOLE)
      return true;
  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    if (quoit_group_get_bundle_state (group, i) != QUOIT_GROUP_SLICE_WHOLE)
      return true;
  return false;
}

static void
add_group (TopState *state, QuoitGroup *group)
{
  const QuoitGroupState group_state = quoit_group_get_state (group);
  const uint32_t index = state->groups->len;
  const TopProblem problem = { true, index };

  if (group_state == QUOIT_GROUP_REMOVED)
    return;
  g_ptr_array_add (state->groups, quoit_group_ref (group));
  if (quoit_group_get_until_ms (group) != 0)
    state->next_end_ms = MIN (state->next_end_ms, quoit_group_get_until_ms (group));
  if (group_state == QUOIT_GROUP_PENDING || group_state == QUOIT_GROUP_RESCHEDULING)
    g_array_append_val (state->waiting, index);
  if (group_state != QUOIT_GROUP_PENDING && has_lost (group))
    g_array_append_val (state->problems, problem);
}

static void
sum_chips (TopState *state)
{
  Decimal used = { 0 }, total = { 0 };

  for (uint32_t i = 0; i < quoit_snapshot_get_n_resources (state->snapshot); i++)
    {
      static const QuoitAmountPart parts[]
          = { QUOIT_AMOUNT_HELD, QUOIT_AMOUNT_RESERVED, QUOIT_AMOUNT_EXTERNAL, QUOIT_AMOUNT_LOST };
      g_autofree char *sum = NULL;

      if (!g_str_equal (quoit_snapshot_get_resource_name (state->snapshot, i), "TPU"))
        continue;
      sum = quoit_snapshot_dup_resource_sum (state->snapshot, i, QUOIT_AMOUNT_TOTAL);
      total = decimal_parse (sum);
      for (guint j = 0; j < G_N_ELEMENTS (parts); j++)
        {
          g_autofree char *part = quoit_snapshot_dup_resource_sum (state->snapshot, i, parts[j]);

          used.e4 += decimal_parse (part).e4;
        }
    }
  state->chips_used = decimal_format (used);
  state->chips_total = decimal_format (total);
}

TopState *
top_state_new (QuoitSnapshot *snapshot)
{
  static guint64 last_number;
  TopState *state = g_new0 (TopState, 1);

  state->number = ++last_number;
  state->snapshot = quoit_snapshot_ref (snapshot);
  state->groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);
  state->problems = g_array_new (FALSE, FALSE, sizeof (TopProblem));
  state->waiting = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  state->next_end_ms = G_MAXINT64;
  count_slices (state);
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      add_group (state, group);
    }
  sum_chips (state);
  return state;
}

/* --- details --- */

enum { LEAST_WIDTH = 40 };

static char *
format_details (const Document *document, guint width)
{
  return document_format_text (document, (TextForm) { .width = MAX (width, LEAST_WIDTH), .divides = true });
}

char *
top_describe_slice (const TopState *state, const char *full_name, guint width)
{
  g_autoptr (Document) document = document_new ();
  uint32_t slice;

  if (!quoit_snapshot_lookup_slice (state->snapshot, full_name, &slice, NULL))
    return NULL;
  document_take_object (document, "slice", NULL, slice_facts (state->snapshot, slice));
  document_take_table (document, "nodes", "nodes", slice_nodes (state->snapshot, slice));
  return format_details (document, width);
}

/* Appends why a waiting group waits. */
static void
describe_waiting (Document *document, const TopState *state, const QuoitGroup *group, const char *handle)
{
  g_autoptr (QuoitReport) report = quoit_snapshot_explain_group (state->snapshot, handle, NULL);
  g_autofree char *holds = NULL;

  if (report == NULL)
    return;
  report_describe (report, handle, document);
  if (quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS && quoit_group_get_source (group)[0] == '\0')
    document_take_sentence (document, g_strdup_printf ("'quoit repair %s' would succeed now", handle));
  holds = quoit_snapshot_dup_hold_and_wait (state->snapshot, handle, NULL);
  if (holds != NULL && holds[0] != '\0')
    document_take_sentence (document, g_steal_pointer (&holds));
}

char *
top_describe_group (const TopState *state, const char *handle, guint width)
{
  g_autoptr (Document) document = document_new ();
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (state->snapshot, handle, NULL);
  QuoitGroupState group_state;

  if (group == NULL)
    return NULL;
  group_state = quoit_group_get_state (group);
  if (group_state == QUOIT_GROUP_PENDING || group_state == QUOIT_GROUP_RESCHEDULING)
    describe_waiting (document, state, group, handle);
  describe_group (document, state->snapshot, group);
  return format_details (document, width);
}

char *
top_describe_reason (const TopState *state, const char *handle)
{
  g_autoptr (QuoitReport) report = quoit_snapshot_explain_group (state->snapshot, handle, NULL);
  g_autofree char *holds = quoit_snapshot_dup_hold_and_wait (state->snapshot, handle, NULL);

  if (holds != NULL && holds[0] != '\0')
    return g_steal_pointer (&holds);
  return report == NULL ? g_strdup (handle) : quoit_report_dup_summary (report, "now");
}
