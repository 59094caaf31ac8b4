/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fleet of a snapshot: sources, pools, slices and nodes. An index out of range is a programming error. */
#include "api/handles.h"
#include "formats/graph.h"
#include "formats/writer.h"
#include "placement/ahead-moves.h"
#include "placement/alternatives.h"
#include "placement/made.h"
#include "placement/explain-bundles.h"

QuoitSnapshot *
quoit_snapshot_new (QuoitFleet *fleet)
{
  QuoitSnapshot *snapshot = g_new0 (QuoitSnapshot, 1);

  g_atomic_ref_count_init (&snapshot->refs);
  g_mutex_init (&snapshot->lock);
  snapshot->fleet = fleet;
  return snapshot;
}

QuoitSnapshot *
quoit_snapshot_as_of (QuoitSnapshot *snapshot, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitSnapshot *now;
  gint64 time_ms;

  g_return_val_if_fail (snapshot != NULL, NULL);

  if (!quoit_step_clock (snapshot->fleet, now_ms, &time_ms, error))
    return NULL;
  for (guint i = 0; i < QUOIT_N_DUE_STEPS; i++)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      quoit_due_steps[i](fleet != NULL ? fleet : snapshot->fleet, now_ms, &entry);
      if (entry == NULL)
        continue;
      if (fleet == NULL)
        fleet = quoit_fleet_fork (snapshot->fleet);
      if (!quoit_entry_apply (entry, &fleet, error))
        return NULL;
    }
  /* What a request may take, and when groups are expected to end, depends on the time. */
  if (fleet == NULL && MAX (snapshot->now_ms, snapshot->fleet->clock_ms) == time_ms)
    return quoit_snapshot_ref (snapshot);
  now = quoit_snapshot_new (fleet != NULL ? g_steal_pointer (&fleet) : quoit_fleet_ref (snapshot->fleet));
  now->now_ms = time_ms;
  return now;
}

QuoitSnapshot *
quoit_snapshot_ref (QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, NULL);

  g_atomic_ref_count_inc (&snapshot->refs);
  return snapshot;
}

void
quoit_snapshot_unref (QuoitSnapshot *snapshot)
{
  if (snapshot == NULL || !g_atomic_ref_count_dec (&snapshot->refs))
    return;
  quoit_fleet_unref (snapshot->fleet);
  g_clear_pointer (&snapshot->totals, g_array_unref);
  g_clear_pointer (&snapshot->groups, quoit_group_lists_free);
  g_mutex_clear (&snapshot->lock);
  g_free (snapshot);
}

uint64_t
quoit_snapshot_get_seq (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot->fleet->seq;
}

uint32_t
quoit_snapshot_get_epoch (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot->fleet->epoch;
}

uint64_t
quoit_snapshot_get_layout_number (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot->fleet->layout->number;
}

int64_t
quoit_snapshot_get_clock_ms (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot->fleet->clock_ms;
}

int64_t
quoit_snapshot_get_keep_ms (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot->fleet->keep_ms;
}

QuoitReport *
quoit_snapshot_explain (const QuoitSnapshot *snapshot, const QuoitRequest *request, GError **error)
{
  g_return_val_if_fail (snapshot != NULL && request != NULL, NULL);

  return quoit_explain_request (snapshot->fleet, request, MAX (snapshot->now_ms, snapshot->fleet->clock_ms), error);
}

bool
quoit_snapshot_test (const QuoitSnapshot *snapshot, const QuoitRequest *request, QuoitVerdict *verdict,
                     uint32_t *n_free, GError **error)
{
  g_return_val_if_fail (snapshot != NULL && request != NULL, false);

  return quoit_test_request (snapshot->fleet, request, MAX (snapshot->now_ms, snapshot->fleet->clock_ms), verdict,
                             n_free, error);
}

QuoitReport *
quoit_snapshot_explain_group (const QuoitSnapshot *snapshot, const char *group, GError **error)
{
  g_autofree char *short_name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (snapshot != NULL && group != NULL, NULL);

  return quoit_group_ref_parse (group, &ref, &short_name, error) ? quoit_step_explain_group (
             snapshot->fleet, &ref, MAX (snapshot->now_ms, snapshot->fleet->clock_ms), error)
                                                                 : NULL;
}

char *
quoit_snapshot_dup_json (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, NULL);

  return quoit_write_fleet_json (snapshot->fleet);
}

char *
quoit_snapshot_dup_fleet_text (const QuoitSnapshot *snapshot, GError **error)
{
  g_return_val_if_fail (snapshot != NULL, NULL);

  return quoit_write_fleet_text (snapshot->fleet, error);
}

char *
quoit_snapshot_dup_graph (const QuoitSnapshot *snapshot, QuoitGraphForm form, GError **error)
{
  g_autoptr (QuoitGraph) graph = NULL;

  g_return_val_if_fail (snapshot != NULL, NULL);

  if (form != QUOIT_GRAPH_FORM_DOT && form != QUOIT_GRAPH_FORM_JGF)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "graph form '%d': expected one that this version knows",
                            (int) form);
  graph = quoit_fleet_graph (snapshot->fleet);
  return form == QUOIT_GRAPH_FORM_DOT ? quoit_write_dot (graph) : quoit_write_jgf (graph);
}

bool
quoit_snapshot_check (const QuoitSnapshot *snapshot, GError **error)
{
  g_return_val_if_fail (snapshot != NULL, false);

  return quoit_fleet_check (snapshot->fleet, error) && quoit_ahead_check_stuck (snapshot->fleet, error);
}

static const QuoitLayout *
snapshot_layout (const QuoitSnapshot *snapshot)
{
  return snapshot->fleet->layout;
}

uint32_t
quoit_snapshot_get_n_sources (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_layout (snapshot)->n_sources;
}

const char *
quoit_snapshot_get_source_name (const QuoitSnapshot *snapshot, uint32_t source)
{
  g_return_val_if_fail (snapshot != NULL && source < snapshot_layout (snapshot)->n_sources, NULL);

  return quoit_layout_text (snapshot_layout (snapshot), snapshot_layout (snapshot)->sources[source].name);
}

QuoitSourceKind
quoit_snapshot_get_source_kind (const QuoitSnapshot *snapshot, uint32_t source)
{
  g_return_val_if_fail (snapshot != NULL && source < snapshot_layout (snapshot)->n_sources, (QuoitSourceKind) 0);

  return snapshot_layout (snapshot)->sources[source].kind;
}

uint32_t
quoit_snapshot_get_n_pools (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_layout (snapshot)->n_pools;
}

const char *
quoit_snapshot_get_pool_name (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, NULL);

  return quoit_layout_text (snapshot_layout (snapshot), snapshot_layout (snapshot)->pools[pool].name);
}

uint32_t
quoit_snapshot_get_pool_source (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, 0);

  return snapshot_layout (snapshot)->pools[pool].source;
}

uint32_t
quoit_snapshot_get_pool_n_slices (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, 0);

  return snapshot_layout (snapshot)->pools[pool].n_slices;
}

uint32_t
quoit_snapshot_get_pool_n_nodes (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, 0);

  return snapshot_layout (snapshot)->pools[pool].n_nodes;
}

uint32_t
quoit_snapshot_get_pool_n_pods (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, 0);

  return snapshot_layout (snapshot)->pools[pool].n_pods;
}

char *
quoit_snapshot_dup_pool_cpu (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, NULL);

  return quoit_sum_format (snapshot_layout (snapshot)->pools[pool].pod_cpu);
}

char *
quoit_snapshot_dup_pool_memory (const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_return_val_if_fail (snapshot != NULL && pool < snapshot_layout (snapshot)->n_pools, NULL);

  return quoit_sum_format (snapshot_layout (snapshot)->pools[pool].pod_memory);
}

uint32_t
quoit_snapshot_get_n_slices (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_layout (snapshot)->n_slices;
}

bool
quoit_snapshot_lookup_slice (const QuoitSnapshot *snapshot, const char *name, uint32_t *slice, GError **error)
{
  QuoitSliceId found;

  g_return_val_if_fail (snapshot != NULL && name != NULL && slice != NULL, false);

  if (!quoit_layout_lookup_slice (snapshot_layout (snapshot), name, &found, error))
    return false;
  *slice = found.index;
  return true;
}

bool
quoit_snapshot_lookup_node (const QuoitSnapshot *snapshot, const char *name, uint32_t *node, GError **error)
{
  QuoitNodeId found;

  g_return_val_if_fail (snapshot != NULL && name != NULL && node != NULL, false);

  if (!quoit_layout_lookup_node (snapshot_layout (snapshot), name, &found, error))
    return false;
  *node = found.index;
  return true;
}

const char *
quoit_snapshot_get_slice_name (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, NULL);

  return quoit_layout_text (snapshot_layout (snapshot), snapshot_layout (snapshot)->slices[slice].name);
}

char *
quoit_snapshot_dup_slice_full_name (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, NULL);

  return quoit_layout_slice_full_name (snapshot_layout (snapshot), (QuoitSliceId) { slice });
}

uint32_t
quoit_snapshot_get_slice_pool (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return snapshot_layout (snapshot)->shelves[snapshot_layout (snapshot)->slices[slice].shelf].pool;
}

int64_t
quoit_snapshot_get_slice_class (const QuoitSnapshot *snapshot, uint32_t slice)
{
  uint32_t index;

  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, -1);

  index = snapshot_layout (snapshot)->shelves[snapshot_layout (snapshot)->slices[slice].shelf].class_index;
  return index == QUOIT_NO_INDEX ? -1 : (int64_t) index;
}

uint32_t
quoit_snapshot_get_slice_flags (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return quoit_slice_status_flags (quoit_fleet_slice_status (snapshot->fleet, (QuoitSliceId) { slice }));
}

uint32_t
quoit_snapshot_get_slice_faults (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return quoit_fleet_slice_status (snapshot->fleet, (QuoitSliceId) { slice })->faults;
}

uint32_t
quoit_snapshot_get_slice_n_missing (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return quoit_fleet_slice_status (snapshot->fleet, (QuoitSliceId) { slice })->n_missing;
}

uint32_t
quoit_snapshot_get_slice_first_node (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return snapshot_layout (snapshot)->slices[slice].first_node;
}

uint32_t
quoit_snapshot_get_slice_n_nodes (const QuoitSnapshot *snapshot, uint32_t slice)
{
  g_return_val_if_fail (snapshot != NULL && slice < snapshot_layout (snapshot)->n_slices, 0);

  return snapshot_layout (snapshot)->slices[slice].n_nodes;
}
