/* SPDX-License-Identifier: Apache-2.0 */
/* Each getter of the core returns the value of docs/abi.md for an index that is out of range. tests/abi/indices.sh
 * checks that no getter is missing here. */
#include "suite.h"

#include <string.h>

#include "../shortcuts.h"

enum { T0 = 1800000000 };
#define NOW ((int64_t) T0 * 1000)

static guint n_criticals;

static void
count_critical (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  ck_assert_msg ((level & G_LOG_LEVEL_CRITICAL) != 0, "%s", message);
  n_criticals++;
}

/* Calls must write a critical message, which G_DEBUG=fatal-criticals would turn into an abort. */
static void
expect_criticals (void)
{
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_log_set_default_handler (count_critical, NULL);
}

#define VALUE(call, expected)                                                                                          \
  do                                                                                                                   \
    {                                                                                                                  \
      n_criticals = 0;                                                                                                 \
      ck_assert_msg ((call) == (expected), "%s at %u is not %s", #call, at, #expected);                                \
      ck_assert_msg (n_criticals > 0, "%s at %u writes no critical message", #call, at);                               \
    }                                                                                                                  \
  while (0)
#define ABSENT(call) VALUE (call, NULL)

/* Runs a block with each @at that is out of range. */
#define OUT_OF_RANGE(n) for (uint32_t at = (n), step = 0; step < 3; at = step++ == 0 ? at + 1 : UINT32_MAX)

static void
check_group (const QuoitGroup *group)
{
  uint32_t origin[3], shape[3];

  OUT_OF_RANGE (quoit_group_get_n_slices (group))
  {
    VALUE (quoit_group_get_slice_state (group, at), QUOIT_GROUP_SLICE_LOST);
    ABSENT (quoit_group_dup_slice_name (group, at));
    VALUE (quoit_group_get_n_workers (group, at), 0);
    ABSENT (quoit_group_get_worker_name (group, at, 0));
    ABSENT (quoit_group_get_worker_address (group, at, 0));
    VALUE (quoit_group_get_worker_node_id (group, at, 0), 0);
    ABSENT (quoit_group_dup_worker_full_name (group, at, 0));
    VALUE (quoit_group_find_part (group, at, origin, shape), false);
    VALUE (quoit_group_find_joined (group, at, shape), false);
    ABSENT (quoit_group_dup_worker_slice (group, at, 0));
  }

  OUT_OF_RANGE (quoit_group_get_n_labels (group))
  {
    ABSENT (quoit_group_get_label_key (group, at));
    ABSENT (quoit_group_get_label_value (group, at));
  }

  OUT_OF_RANGE (quoit_group_get_n_bundles (group))
  {
    ABSENT (quoit_group_get_bundle_node (group, at));
    VALUE (quoit_group_get_bundle_node_id (group, at), 0);
    VALUE (quoit_group_get_bundle_chips (group, at), 0);
    VALUE (quoit_group_get_bundle_state (group, at), QUOIT_GROUP_SLICE_LOST);
    VALUE (quoit_group_get_bundle_n_resources (group, at), 0);
    ABSENT (quoit_group_get_bundle_resource_name (group, at, 0));
    VALUE (quoit_group_get_bundle_amount (group, at, 0).e4, 0);
  }
}

static void
check_workers (const QuoitGroup *group)
{
  OUT_OF_RANGE (quoit_group_get_n_workers (group, 0))
  {
    ABSENT (quoit_group_get_worker_name (group, 0, at));
    ABSENT (quoit_group_get_worker_address (group, 0, at));
    VALUE (quoit_group_get_worker_node_id (group, 0, at), 0);
    ABSENT (quoit_group_dup_worker_full_name (group, 0, at));
  }
}

static void
check_bundle_resources (const QuoitGroup *group)
{
  OUT_OF_RANGE (quoit_group_get_bundle_n_resources (group, 0))
  {
    ABSENT (quoit_group_get_bundle_resource_name (group, 0, at));
    VALUE (quoit_group_get_bundle_amount (group, 0, at).e4, 0);
  }
}

static void
check_defragmentation (const QuoitDefragmentation *plan)
{
  OUT_OF_RANGE (quoit_defragmentation_get_n_slices (plan))
  VALUE (quoit_defragmentation_get_slice (plan, at), UINT32_MAX);
  OUT_OF_RANGE (quoit_defragmentation_get_n_groups (plan))
  ABSENT (quoit_defragmentation_dup_group (plan, at));
  OUT_OF_RANGE (quoit_defragmentation_get_n_moves (plan))
  {
    VALUE (quoit_defragmentation_get_move_group (plan, at), UINT32_MAX);
    VALUE (quoit_defragmentation_get_move_bundle (plan, at), UINT32_MAX);
    ABSENT (quoit_defragmentation_dup_move_from (plan, at));
    ABSENT (quoit_defragmentation_dup_move_to (plan, at));
    VALUE (quoit_defragmentation_get_move_gain (plan, at), 0);
  }
}

static void
check_fragmentation (const QuoitFragmentation *fragmentation)
{
  OUT_OF_RANGE (quoit_fragmentation_get_n_classes (fragmentation))
  {
    VALUE (quoit_fragmentation_get_n_hosts (fragmentation, at), 0);
    VALUE (quoit_fragmentation_get_least (fragmentation, at), 0);
    VALUE (quoit_fragmentation_get_most (fragmentation, at), 0);
    VALUE (quoit_fragmentation_get_n_parts (fragmentation, at), 0);
    ABSENT (quoit_fragmentation_dup_part_topology (fragmentation, at, 0));
  }
  OUT_OF_RANGE (quoit_fragmentation_get_n_parts (fragmentation, 0))
  {
    ABSENT (quoit_fragmentation_dup_part_topology (fragmentation, 0, at));
    VALUE (quoit_fragmentation_get_part_weight (fragmentation, 0, at), 0);
    VALUE (quoit_fragmentation_get_part_least (fragmentation, 0, at), 0);
    VALUE (quoit_fragmentation_get_part_most (fragmentation, 0, at), 0);
  }
}

static void
check_purchase (const QuoitPurchase *purchase)
{
  OUT_OF_RANGE (quoit_purchase_get_n_classes (purchase))
  {
    ABSENT (quoit_purchase_get_class_accelerator (purchase, at));
    ABSENT (quoit_purchase_dup_class_topology (purchase, at));
    VALUE (quoit_purchase_get_class_number (purchase, at, QUOIT_PURCHASE_NUMBER_WANTED), 0);
    VALUE (quoit_purchase_get_class_price (purchase, at).e4, -1);
    VALUE (quoit_purchase_get_class_cubes (purchase, at), QUOIT_CUBES_NONE);
  }
  OUT_OF_RANGE (QUOIT_PURCHASE_NUMBER_LIMIT + 1)
  {
    VALUE (quoit_purchase_get_class_number (purchase, 0, (QuoitPurchaseNumber) at), 0);
  }
  OUT_OF_RANGE (quoit_purchase_get_n_blocks (purchase))
  {
    ABSENT (quoit_purchase_get_block_accelerator (purchase, at));
    ABSENT (quoit_purchase_get_block_name (purchase, at));
    ABSENT (quoit_purchase_dup_block_grid (purchase, at));
    VALUE (quoit_purchase_get_block_number (purchase, at, QUOIT_PURCHASE_BLOCK_NUMBER_FREE), 0);
    VALUE (quoit_purchase_get_block_price (purchase, at).e4, -1);
    VALUE (quoit_purchase_get_joined (purchase, 0, at), 0);
  }
  OUT_OF_RANGE (QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT + 1)
  {
    VALUE (quoit_purchase_get_block_number (purchase, 0, (QuoitPurchaseBlockNumber) at), 0);
  }
  OUT_OF_RANGE (quoit_purchase_get_n_requests (purchase))
  {
    VALUE (quoit_purchase_get_joined (purchase, at, 0), 0);
    VALUE (quoit_purchase_get_alternative (purchase, at), 0);
    ABSENT (quoit_purchase_dup_request (purchase, at));
  }
}

static void
check_slots (const QuoitSlots *slots)
{
  OUT_OF_RANGE (quoit_slots_get_n_rows (slots))
  {
    ABSENT (quoit_slots_dup_topology (slots, at));
    VALUE (quoit_slots_get_least (slots, at, QUOIT_SLOTS_NOW), 0);
    VALUE (quoit_slots_get_most (slots, at, QUOIT_SLOTS_NOW), 0);
    ABSENT (quoit_slots_dup_certificate (slots, at, QUOIT_SLOTS_NOW));
  }
  OUT_OF_RANGE (4)
  {
    VALUE (quoit_slots_get_least (slots, 0, (QuoitSlotsIf) at), 0);
    VALUE (quoit_slots_get_most (slots, 0, (QuoitSlotsIf) at), 0);
    ABSENT (quoit_slots_dup_certificate (slots, 0, (QuoitSlotsIf) at));
  }
}

static void
check_import (const QuoitImport *import)
{
  OUT_OF_RANGE (quoit_import_get_n_changes (import))
  {
    VALUE (quoit_import_get_change_kind (import, at), 0);
    ABSENT (quoit_import_get_change_name (import, at));
    ABSENT (quoit_import_get_change_detail (import, at));
    ABSENT (quoit_import_get_change_group (import, at));
  }

  OUT_OF_RANGE (quoit_import_get_n_warnings (import)) { ABSENT (quoit_import_get_warning (import, at)); }
}

static void
check_journal (const QuoitJournal *journal)
{
  size_t n_bytes;

  OUT_OF_RANGE (quoit_journal_get_n_entries (journal))
  {
    VALUE (quoit_journal_get_seq (journal, at), 0);
    VALUE (quoit_journal_get_time_ms (journal, at), 0);
    ABSENT (quoit_journal_get_verb (journal, at));
    ABSENT (quoit_journal_get_actor (journal, at));
    ABSENT (quoit_journal_dup_link (journal, at));
    ABSENT (quoit_journal_dup_entry (journal, at, &n_bytes, NULL));
    VALUE (quoit_journal_get_n_effects (journal, at), 0);
    VALUE (quoit_journal_get_effect_type (journal, at, 0), 0);
    ABSENT (quoit_journal_get_effect_source (journal, at, 0));
    VALUE (quoit_journal_get_n_nodes (journal, at, 0), 0);
    VALUE (quoit_journal_get_node_id (journal, at, 0, 0), 0);
    ABSENT (quoit_journal_get_node_name (journal, at, 0, 0));
    VALUE (quoit_journal_get_node_event (journal, at, 0, 0), 0);
    VALUE (quoit_journal_find_node_state (journal, at, 0, 0, NULL), 0);
    ABSENT (quoit_journal_get_effect_group_name (journal, at, 0));
    VALUE (quoit_journal_get_effect_group_id (journal, at, 0), 0);
    ABSENT (quoit_journal_get_effect_release_reason (journal, at, 0));
    ABSENT (quoit_journal_dup_effect_text (journal, at, 0));
  }

  OUT_OF_RANGE (quoit_journal_get_n_effects (journal, 0))
  {
    VALUE (quoit_journal_get_effect_type (journal, 0, at), 0);
    ABSENT (quoit_journal_get_effect_source (journal, 0, at));
    VALUE (quoit_journal_get_n_nodes (journal, 0, at), 0);
    VALUE (quoit_journal_get_node_id (journal, 0, at, 0), 0);
    ABSENT (quoit_journal_get_node_name (journal, 0, at, 0));
    VALUE (quoit_journal_get_node_event (journal, 0, at, 0), 0);
    VALUE (quoit_journal_find_node_state (journal, 0, at, 0, NULL), 0);
    ABSENT (quoit_journal_get_effect_group_name (journal, 0, at));
    VALUE (quoit_journal_get_effect_group_id (journal, 0, at), 0);
    ABSENT (quoit_journal_get_effect_release_reason (journal, 0, at));
    ABSENT (quoit_journal_dup_effect_text (journal, 0, at));
  }

  OUT_OF_RANGE (quoit_journal_get_n_nodes (journal, 0, 0))
  {
    VALUE (quoit_journal_get_node_id (journal, 0, 0, at), 0);
    ABSENT (quoit_journal_get_node_name (journal, 0, 0, at));
    VALUE (quoit_journal_get_node_event (journal, 0, 0, at), 0);
    VALUE (quoit_journal_find_node_state (journal, 0, 0, at, NULL), 0);
  }
}

static void
check_report (const QuoitReport *report)
{
  OUT_OF_RANGE (quoit_report_get_n_misses (report))
  {
    ABSENT (quoit_report_get_miss_node (report, at));
    ABSENT (quoit_report_get_miss_resource (report, at));
    VALUE (quoit_report_get_miss_available (report, at).e4, 0);
    VALUE (quoit_report_get_miss_requested (report, at).e4, 0);
  }

  OUT_OF_RANGE (quoit_report_get_n_reasons (report))
  {
    VALUE (quoit_report_get_reason_constraint (report, at), 0);
    VALUE (quoit_report_get_reason_before (report, at), 0);
    VALUE (quoit_report_get_reason_after (report, at), 0);
    ABSENT (quoit_report_dup_reason_text (report, at));
  }

  OUT_OF_RANGE (quoit_report_get_n_options (report))
  {
    VALUE (quoit_report_get_n_steps (report, at), 0);
    VALUE (quoit_report_get_step_kind (report, at, 0), 0);
    ABSENT (quoit_report_get_step_node (report, at, 0));
    ABSENT (quoit_report_get_step_group (report, at, 0));
    VALUE (quoit_report_get_step_until_ms (report, at, 0), 0);
    ABSENT (quoit_report_get_step_topology (report, at, 0));
    VALUE (quoit_report_get_step_chips_per_host (report, at, 0), 0);
    VALUE (quoit_report_get_step_n_slices (report, at, 0), 0);
    ABSENT (quoit_report_dup_option_text (report, at));
    VALUE (quoit_report_get_option_time_ms (report, at), 0);
    VALUE (quoit_report_get_option_n_groups (report, at), 0);
    VALUE (quoit_report_get_option_chips (report, at).e4, 0);
  }
  for (guint at = 0; at <= 4; at += 4)
    {
      VALUE (quoit_report_find_option (report, (QuoitOptionOrder) at), -1);
      VALUE (quoit_report_is_option_best (report, (QuoitOptionOrder) at), false);
      ck_assert_str_eq (quoit_option_order_get_name ((QuoitOptionOrder) at), "");
    }
}

static void
check_steps (const QuoitReport *report)
{
  OUT_OF_RANGE (quoit_report_get_n_steps (report, 0))
  {
    VALUE (quoit_report_get_step_kind (report, 0, at), 0);
    ABSENT (quoit_report_get_step_node (report, 0, at));
    ABSENT (quoit_report_get_step_group (report, 0, at));
    VALUE (quoit_report_get_step_until_ms (report, 0, at), 0);
    ABSENT (quoit_report_get_step_topology (report, 0, at));
    VALUE (quoit_report_get_step_chips_per_host (report, 0, at), 0);
    VALUE (quoit_report_get_step_n_slices (report, 0, at), 0);
  }
}

static void
check_places (const QuoitSnapshot *snapshot)
{
  OUT_OF_RANGE (quoit_snapshot_get_n_sources (snapshot))
  {
    ABSENT (quoit_snapshot_get_source_name (snapshot, at));
    VALUE (quoit_snapshot_get_source_kind (snapshot, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_pools (snapshot))
  {
    ABSENT (quoit_snapshot_get_pool_name (snapshot, at));
    VALUE (quoit_snapshot_get_pool_source (snapshot, at), 0);
    VALUE (quoit_snapshot_get_pool_n_slices (snapshot, at), 0);
    VALUE (quoit_snapshot_get_pool_n_nodes (snapshot, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_slices (snapshot))
  {
    ABSENT (quoit_snapshot_get_slice_name (snapshot, at));
    ABSENT (quoit_snapshot_dup_slice_full_name (snapshot, at));
    VALUE (quoit_snapshot_get_slice_pool (snapshot, at), 0);
    VALUE (quoit_snapshot_get_slice_class (snapshot, at), -1);
    VALUE (quoit_snapshot_get_slice_flags (snapshot, at), 0);
    VALUE (quoit_snapshot_get_slice_faults (snapshot, at), 0);
    VALUE (quoit_snapshot_get_slice_n_missing (snapshot, at), 0);
    ABSENT (quoit_snapshot_dup_slice_problem (snapshot, at));
    VALUE (quoit_snapshot_get_slice_first_node (snapshot, at), 0);
    VALUE (quoit_snapshot_get_slice_n_nodes (snapshot, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_nodes (snapshot))
  {
    VALUE (quoit_snapshot_get_node_id (snapshot, at), 0);
    ABSENT (quoit_snapshot_get_node_name (snapshot, at));
    ABSENT (quoit_snapshot_dup_node_full_name (snapshot, at));
    ABSENT (quoit_snapshot_get_node_source (snapshot, at, 0));
    ABSENT (quoit_snapshot_dup_node_identity (snapshot, at));
    ABSENT (quoit_snapshot_get_node_address (snapshot, at));
    VALUE (quoit_snapshot_get_node_state (snapshot, at), QUOIT_NODE_DEAD);
    ck_assert_str_eq (quoit_snapshot_get_node_reason (snapshot, at), "");
    VALUE (quoit_snapshot_get_node_pool (snapshot, at), 0);
    VALUE (quoit_snapshot_get_node_slice (snapshot, at), -1);
    VALUE (quoit_snapshot_get_node_worker_id (snapshot, at), -1);
    VALUE (quoit_snapshot_get_node_chip_amount (snapshot, at, QUOIT_AMOUNT_TOTAL).e4, 0);
    VALUE (quoit_snapshot_is_node_external (snapshot, at), 0);
    VALUE (quoit_snapshot_get_node_n_users (snapshot, at), 0);
    ABSENT (quoit_snapshot_dup_node_user_share (snapshot, at, 0));
    VALUE (quoit_snapshot_get_node_user_id (snapshot, at, 0), 0);
    VALUE (quoit_snapshot_get_node_user_chips (snapshot, at, 0), 0);
    VALUE (quoit_snapshot_get_node_external_chips (snapshot, at), 0);
    ABSENT (quoit_snapshot_dup_node_label (snapshot, at, "ray.io/tpu-worker-id"));
    VALUE (quoit_snapshot_get_node_n_resources (snapshot, at), 0);
    ABSENT (quoit_snapshot_get_node_resource_name (snapshot, at, 0));
    VALUE (quoit_snapshot_get_node_amount (snapshot, at, 0, QUOIT_AMOUNT_TOTAL).e4, 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_node_n_users (snapshot, 0))
  {
    ABSENT (quoit_snapshot_dup_node_user_share (snapshot, 0, at));
    VALUE (quoit_snapshot_get_node_user_id (snapshot, 0, at), 0);
    VALUE (quoit_snapshot_get_node_user_chips (snapshot, 0, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_node_n_resources (snapshot, 0))
  {
    ABSENT (quoit_snapshot_get_node_resource_name (snapshot, 0, at));
    VALUE (quoit_snapshot_get_node_amount (snapshot, 0, at, QUOIT_AMOUNT_TOTAL).e4, 0);
  }
}

static void
check_sums (const QuoitSnapshot *snapshot)
{
  OUT_OF_RANGE (quoit_snapshot_get_n_resources (snapshot))
  {
    ABSENT (quoit_snapshot_get_resource_name (snapshot, at));
    ABSENT (quoit_snapshot_dup_resource_sum (snapshot, at, QUOIT_AMOUNT_TOTAL));
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_classes (snapshot))
  {
    ABSENT (quoit_snapshot_get_class_accelerator (snapshot, at));
    ABSENT (quoit_snapshot_dup_class_topology (snapshot, at));
    VALUE (quoit_snapshot_get_class_chips_per_host (snapshot, at), 0);
    VALUE (quoit_snapshot_get_class_n_hosts (snapshot, at), 0);
    VALUE (quoit_snapshot_count_slices_of_class (snapshot, at, QUOIT_SLICE_FREE), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_groups (snapshot))
  {
    ABSENT (quoit_snapshot_dup_group (snapshot, at));
    ABSENT (quoit_snapshot_dup_owner_group (snapshot, "somebody", at));
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_owners (snapshot))
  {
    ABSENT (quoit_snapshot_get_owner_name (snapshot, at));
    VALUE (quoit_snapshot_get_owner_registered_ms (snapshot, at), 0);
    VALUE (quoit_snapshot_get_owner_until_ms (snapshot, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_windows (snapshot))
  {
    ABSENT (quoit_snapshot_get_window_name (snapshot, at));
    VALUE (quoit_snapshot_get_window_scope (snapshot, at), 0);
    ABSENT (quoit_snapshot_get_window_target (snapshot, at));
    VALUE (quoit_snapshot_get_window_from_ms (snapshot, at), 0);
    VALUE (quoit_snapshot_get_window_until_ms (snapshot, at), 0);
  }

  OUT_OF_RANGE (quoit_snapshot_get_n_quotas (snapshot))
  {
    ABSENT (quoit_snapshot_get_quota_name (snapshot, at));
    ABSENT (quoit_snapshot_get_quota_label (snapshot, at));
    ABSENT (quoit_snapshot_get_quota_value (snapshot, at));
    ABSENT (quoit_snapshot_get_quota_accelerator (snapshot, at));
    ABSENT (quoit_snapshot_get_quota_topology (snapshot, at));
    VALUE (quoit_snapshot_get_quota_nominal_chips (snapshot, at), 0);
    VALUE (quoit_snapshot_get_quota_max_chips (snapshot, at), 0);
    ABSENT (quoit_snapshot_get_quota_cohort (snapshot, at));
    VALUE (quoit_snapshot_get_quota_used (snapshot, at).e4, 0);
    VALUE (quoit_snapshot_get_quota_borrowed (snapshot, at).e4, 0);
  }
}

static void
check_topology (const QuoitTopology *topology)
{
  OUT_OF_RANGE (quoit_topology_get_n_processes (topology))
  {
    VALUE (quoit_topology_get_bundle (topology, at), -1);
    VALUE (quoit_topology_get_slice_id (topology, at), 0);
    VALUE (quoit_topology_get_group_slice (topology, at), 0);
    ABSENT (quoit_topology_get_slice_name (topology, at));
    ABSENT (quoit_topology_dup_slice_full_name (topology, at));
    VALUE (quoit_topology_get_worker_id (topology, at), 0);
    VALUE (quoit_topology_get_local_index (topology, at), 0);
    VALUE (quoit_topology_get_host_chips (topology, at), 0);
    VALUE (quoit_topology_get_n_chips (topology, at), 0);
    VALUE (quoit_topology_get_chip (topology, at, 0), 0);
    VALUE (quoit_topology_get_chip_at (topology, at, 0, QUOIT_AXIS_X), 0);
    ABSENT (quoit_topology_get_node_name (topology, at));
    ABSENT (quoit_topology_dup_node_full_name (topology, at));
    ABSENT (quoit_topology_get_node_address (topology, at));
    VALUE (quoit_topology_get_n_variables (topology, at), 0);
    ABSENT (quoit_topology_get_variable_name (topology, at, 0));
    ABSENT (quoit_topology_get_variable_value (topology, at, 0));
  }

  OUT_OF_RANGE (quoit_topology_get_n_chips (topology, 0))
  {
    VALUE (quoit_topology_get_chip (topology, 0, at), 0);
    VALUE (quoit_topology_get_chip_at (topology, 0, at, QUOIT_AXIS_X), 0);
  }

  OUT_OF_RANGE (quoit_topology_get_n_variables (topology, 0))
  {
    ABSENT (quoit_topology_get_variable_name (topology, 0, at));
    ABSENT (quoit_topology_get_variable_value (topology, 0, at));
  }

  OUT_OF_RANGE (quoit_topology_get_n_notes (topology)) { ABSENT (quoit_topology_get_note (topology, at)); }
}

static void
check_renumbering (const QuoitRenumbering *renumbering)
{
  OUT_OF_RANGE (quoit_renumbering_get_n_rows (renumbering))
  {
    VALUE (quoit_renumbering_get_change (renumbering, at), QUOIT_PROCESS_SAME);
    ABSENT (quoit_renumbering_get_node_name (renumbering, at));
    ABSENT (quoit_renumbering_get_slice_name (renumbering, at));
    ABSENT (quoit_renumbering_get_counterpart (renumbering, at));
    VALUE (quoit_renumbering_get_process (renumbering, at, QUOIT_RENUMBERING_AFTER), -1);
    VALUE (quoit_renumbering_get_slice_id (renumbering, at, QUOIT_RENUMBERING_AFTER), -1);
    VALUE (quoit_renumbering_get_worker_id (renumbering, at, QUOIT_RENUMBERING_AFTER), -1);
    VALUE (quoit_renumbering_get_n_variables (renumbering, at), 0);
    ABSENT (quoit_renumbering_get_variable_name (renumbering, at, 0));
    ABSENT (quoit_renumbering_get_variable_value (renumbering, at, 0, QUOIT_RENUMBERING_AFTER));
  }

  OUT_OF_RANGE (quoit_renumbering_get_n_variables (renumbering, 0))
  {
    ABSENT (quoit_renumbering_get_variable_name (renumbering, 0, at));
    ABSENT (quoit_renumbering_get_variable_value (renumbering, 0, at, QUOIT_RENUMBERING_AFTER));
  }
}

/* --- the objects --- */

static QuoitRequest *
new_request (const char *name, const char *owner, int64_t least, int64_t most)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_owner (request, owner, NULL) && quoit_request_set_accelerator (request, "v6e", NULL)
             && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slice_range (request, least, most, NULL));
  return request;
}

/* Returns a ledger with the group "train" of two of three slices, and the group "parts" of two bundles. */
static QuoitLedger *
new_ledger (void)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x3", NULL, NOW, NULL);
  g_autoptr (QuoitRequest) slices = new_request ("train", "somebody", 1, 2);
  g_autoptr (QuoitRequest) bundles = quoit_request_new ("parts", NULL);
  g_autoptr (QuoitGroup) train = NULL, parts = NULL;

  ck_assert (import != NULL && quoit_ledger_set_owner (ledger, "somebody", 0, NOW, NULL)
             && quoit_ledger_set_quota (ledger, "q", NULL, "somebody", NULL, NULL, 64, -1, NULL, NOW, NULL));
  ck_assert (quoit_request_add_bundles (bundles, "TPU=1", 2, NULL));
  train = quoit_ledger_reserve (ledger, slices, NOW, NULL, NULL);
  parts = quoit_ledger_reserve (ledger, bundles, NOW, NULL, NULL);
  ck_assert (train != NULL && parts != NULL);
  expect_criticals ();
  return ledger;
}

static QuoitGroup *
lookup_group (const QuoitLedger *ledger, const char *name)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot ((QuoitLedger *) ledger);
  QuoitGroup *group = quoit_snapshot_lookup_group (snapshot, name, NULL);

  ck_assert_ptr_nonnull (group);
  return group;
}

START_TEST (getters_of_groups_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitGroup) slices = lookup_group (ledger, "train"), bundles = lookup_group (ledger, "parts");

  check_group (slices);
  check_workers (slices);
  check_group (bundles);
  check_bundle_resources (bundles);
}
END_TEST

START_TEST (getters_of_imports_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x3 dead=2.0", NULL, NOW, NULL);

  ck_assert_uint_gt (quoit_import_get_n_changes (import), 0);
  check_import (import);
}
END_TEST

START_TEST (getters_of_journals_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (ledger, 0, NULL);

  ck_assert_uint_gt (quoit_journal_get_n_effects (journal, 0), 0);
  check_journal (journal);
}
END_TEST

START_TEST (getters_of_reports_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitRequest) slices = new_request ("more", NULL, 2, 2), bundles = quoit_request_new ("large", NULL);
  g_autoptr (QuoitReport) not_now = quoit_snapshot_explain (snapshot, slices, NULL), never = NULL;

  ck_assert (quoit_request_add_bundles (bundles, "TPU=8", 1, NULL));
  never = quoit_snapshot_explain (snapshot, bundles, NULL);
  ck_assert_uint_gt (quoit_report_get_n_steps (not_now, 0), 0);
  ck_assert_uint_gt (quoit_report_get_n_misses (never), 0);
  check_report (not_now);
  check_steps (not_now);
  OUT_OF_RANGE (quoit_report_get_n_alternatives (not_now))
  ABSENT (quoit_report_dup_alternative (not_now, at, NULL));
  check_report (never);
}
END_TEST

START_TEST (getters_of_snapshots_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  ck_assert_uint_gt (quoit_snapshot_get_node_n_users (snapshot, 0), 0);
  check_places (snapshot);
  check_sums (snapshot);
}
END_TEST

static void
check_start (const QuoitStart *start)
{
  expect_criticals ();
  OUT_OF_RANGE (quoit_start_get_n_ends (start))
  {
    ABSENT (quoit_start_dup_end_group (start, at));
    VALUE (quoit_start_get_end_ms (start, at), 0);
    VALUE (quoit_start_end_is_estimate (start, at), false);
    VALUE (quoit_start_end_is_overdue (start, at), false);
  }
}

static void
check_queue_plan (const QuoitQueuePlan *plan)
{
  expect_criticals ();
  OUT_OF_RANGE (quoit_queue_plan_get_n_requests (plan))
  {
    VALUE (quoit_queue_plan_get_state (plan, at), QUOIT_QUEUED_REFUSED);
    VALUE (quoit_queue_plan_get_start_ms (plan, at), 0);
    VALUE (quoit_queue_plan_get_alternative (plan, at), 0);
    ABSENT (quoit_queue_plan_dup_group (plan, at));
    VALUE (quoit_queue_plan_check (plan, at, NULL), false);
  }
}

START_TEST (getters_of_plans_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) request = new_request ("more", NULL, 2, 2);
  const QuoitRequest *queue[] = { request };
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (snapshot, request, NOW, NULL);
  g_autoptr (QuoitQueuePlan) plan = quoit_fork_plan_queue (fork, queue, 1, QUOIT_BACKFILL_EASY, NOW, NULL);
  g_autoptr (QuoitPreemption) preemption = NULL;

  quoit_request_set_priority (request, 1);
  preemption = quoit_snapshot_find_preemption (snapshot, request, NOW, NULL);
  ck_assert_uint_eq (quoit_queue_plan_get_n_requests (plan), 1);
  ck_assert_uint_gt (quoit_preemption_get_n_groups (preemption), 0);
  check_start (start);
  check_queue_plan (plan);
  expect_criticals ();
  OUT_OF_RANGE (quoit_preemption_get_n_groups (preemption))
  ABSENT (quoit_preemption_dup_group (preemption, at));
}
END_TEST

START_TEST (getters_of_topologies_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitGroup) group = lookup_group (ledger, "train");
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);

  ck_assert_uint_gt (quoit_topology_get_n_notes (topology), 0);
  check_topology (topology);
}
END_TEST

START_TEST (getters_of_renumberings_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitGroupChange) change = quoit_ledger_resize (ledger, "train", 1, NOW, NULL, NULL);
  g_autoptr (QuoitTopology) before = quoit_topology_new (quoit_group_change_get_before (change), NULL, NULL);
  g_autoptr (QuoitTopology) after = quoit_topology_new (quoit_group_change_get_after (change), NULL, NULL);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (before, after);

  ck_assert_uint_gt (quoit_renumbering_get_n_variables (renumbering, 0), 0);
  check_renumbering (renumbering);
}
END_TEST

START_TEST (getters_of_slots_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitSlots) slots = quoit_snapshot_count_slots (snapshot, "v6e", "4x4", QUOIT_CUT_ANY, 0, 0, NULL);

  ck_assert_ptr_nonnull (slots);
  expect_criticals ();
  check_slots (slots);
}
END_TEST

START_TEST (getters_of_purchases_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();
  g_autoptr (QuoitPurchase) purchase = NULL;

  ck_assert (quoit_queue_read (queue, "v6e 4x4 x 9", 11, NULL));
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, NULL, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
  expect_criticals ();
  check_purchase (purchase);
}
END_TEST

START_TEST (getters_of_fragmentation_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFragmentation) fragmentation = quoit_snapshot_measure_fragmentation (snapshot, 0);

  expect_criticals ();
  check_fragmentation (fragmentation);
}
END_TEST

START_TEST (getters_of_defragmentation_return_the_documented_value)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitDefragmentation) plan = quoit_snapshot_plan_defragmentation (snapshot, 0);

  expect_criticals ();
  check_defragmentation (plan);
}
END_TEST

START_TEST (constructors_without_error_refuse_unknown_enums)
{
  const uint32_t at = 99;

  expect_criticals ();
  ABSENT (quoit_input_new ((QuoitSourceKind) at, "", 0));
  ABSENT (quoit_launch_new ((QuoitProfile) at));
}
END_TEST

START_TEST (states_of_null_are_documented)
{
  const uint32_t at = 0;

  expect_criticals ();
  VALUE (quoit_group_get_state (NULL), QUOIT_GROUP_REMOVED);
  VALUE (quoit_report_get_verdict (NULL), QUOIT_VERDICT_NEVER);
  VALUE (quoit_topology_get_job (NULL), QUOIT_JOB_SEPARATE);
}
END_TEST

START_TEST (amounts_of_unknown_parts_are_absent)
{
  g_autoptr (QuoitLedger) ledger = new_ledger ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  const uint32_t at = QUOIT_AMOUNT_LOST + 1;

  VALUE (quoit_snapshot_get_node_amount (snapshot, 0, 0, (QuoitAmountPart) at).e4, 0);
  VALUE (quoit_snapshot_get_node_chip_amount (snapshot, 0, (QuoitAmountPart) at).e4, 0);
  ABSENT (quoit_snapshot_dup_resource_sum (snapshot, 0, (QuoitAmountPart) at));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("out-of-range");
  TCase *tcase = tcase_create ("out-of-range");

  tcase_add_test (tcase, getters_of_groups_return_the_documented_value);
  tcase_add_test (tcase, getters_of_imports_return_the_documented_value);
  tcase_add_test (tcase, getters_of_journals_return_the_documented_value);
  tcase_add_test (tcase, getters_of_reports_return_the_documented_value);
  tcase_add_test (tcase, getters_of_snapshots_return_the_documented_value);
  tcase_add_test (tcase, getters_of_plans_return_the_documented_value);
  tcase_add_test (tcase, getters_of_topologies_return_the_documented_value);
  tcase_add_test (tcase, getters_of_renumberings_return_the_documented_value);
  tcase_add_test (tcase, getters_of_slots_return_the_documented_value);
  tcase_add_test (tcase, getters_of_purchases_return_the_documented_value);
  tcase_add_test (tcase, getters_of_fragmentation_return_the_documented_value);
  tcase_add_test (tcase, getters_of_defragmentation_return_the_documented_value);
  tcase_add_test (tcase, constructors_without_error_refuse_unknown_enums);
  tcase_add_test (tcase, states_of_null_are_documented);
  tcase_add_test (tcase, amounts_of_unknown_parts_are_absent);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
