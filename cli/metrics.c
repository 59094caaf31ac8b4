/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "metrics-text.h"
#include "words.h"

/* --- the ledger --- */

/* "1777627800.123": seconds, as Prometheus expects times. */
static void
add_time (GString *text, const char *name, const char *help, gint64 time_ms)
{
  g_autofree char *seconds = g_strdup_printf ("%" G_GINT64_FORMAT ".%03d", time_ms / 1000, (int) (time_ms % 1000));

  metrics_begin (text, name, help);
  metrics_begin_sample (text, name);
  metrics_end_sample (text, seconds);
}

static void
add_ledger (GString *text, const QuoitSnapshot *snapshot, gint64 now_ms)
{
  metrics_begin (text, "quoit_build_info", "The version of quoit that made this text.");
  metrics_begin_sample (text, "quoit_build_info");
  metrics_add_label (text, "version", quoit_version ());
  metrics_end_number (text, 1);
  add_time (text, "quoit_metrics_time_seconds", "The time of this text, in seconds since 1970.", now_ms);
  add_time (text, "quoit_ledger_clock_seconds",
            "The clock of the ledger: the time of its last entry, in seconds since 1970.",
            quoit_snapshot_get_clock_ms (snapshot));
  metrics_add_number (text, "quoit_journal_entry", "The sequence number of the last entry of the journal.",
                      (gint64) quoit_snapshot_get_seq (snapshot));
  metrics_add_number (text, "quoit_ledger_epoch", "The epoch of the ledger, which each restore raises.",
                      quoit_snapshot_get_epoch (snapshot));
}

/* --- nodes and chips --- */

static void
add_nodes (GString *text, const QuoitSnapshot *snapshot)
{
  static const QuoitNodeState states[] = { QUOIT_NODE_ALIVE, QUOIT_NODE_DRAINING, QUOIT_NODE_DEAD };
  const uint32_t n_sources = quoit_snapshot_get_n_sources (snapshot), n = quoit_snapshot_get_n_nodes (snapshot);
  g_autofree gint64 *counts = g_new0 (gint64, (n_sources + 1) * G_N_ELEMENTS (states));

  for (uint32_t node = 0; node < n; node++)
    {
      const uint32_t pool = quoit_snapshot_get_node_pool (snapshot, node);
      const uint32_t source = quoit_snapshot_get_pool_source (snapshot, pool);

      for (guint i = 0; i < G_N_ELEMENTS (states); i++)
        counts[source * G_N_ELEMENTS (states) + i] += quoit_snapshot_get_node_state (snapshot, node) == states[i];
    }
  metrics_begin (text, "quoit_nodes", "Nodes, by the source of their pool and by state.");
  for (uint32_t source = 0; source < n_sources; source++)
    for (guint i = 0; i < G_N_ELEMENTS (states); i++)
      {
        metrics_begin_sample (text, "quoit_nodes");
        metrics_add_label (text, "source", quoit_snapshot_get_source_name (snapshot, source));
        metrics_add_label (text, "state", node_state_word (states[i]));
        metrics_end_number (text, counts[source * G_N_ELEMENTS (states) + i]);
      }
}

/* Other resources are left out, because each node of Ray has one of its own. */
static bool
is_common_resource (const char *name)
{
  static const char *const common[] = { "TPU", "CPU", "GPU", "memory", NULL };

  return g_strv_contains (common, name);
}

static void
add_resources (GString *text, const QuoitSnapshot *snapshot)
{
  static const struct {
    QuoitAmountPart part;
    const char *word;
  } parts[] = { { QUOIT_AMOUNT_AVAILABLE, "available" },
                { QUOIT_AMOUNT_DRAINING, "draining" },
                { QUOIT_AMOUNT_HELD, "held" },
                { QUOIT_AMOUNT_RESERVED, "reserved" },
                { QUOIT_AMOUNT_EXTERNAL, "external" },
                { QUOIT_AMOUNT_DOWN, "down" },
                { QUOIT_AMOUNT_LOST, "lost" } };

  metrics_begin (text, "quoit_resource_amount",
                 "Chips (TPU), CPUs, GPUs and bytes of memory, each in exactly one state.");
  for (uint32_t i = 0; i < quoit_snapshot_get_n_resources (snapshot); i++)
    for (guint j = 0; j < G_N_ELEMENTS (parts) && is_common_resource (quoit_snapshot_get_resource_name (snapshot, i));
         j++)
      {
        g_autofree char *amount = quoit_snapshot_dup_resource_sum (snapshot, i, parts[j].part);

        metrics_begin_sample (text, "quoit_resource_amount");
        metrics_add_label (text, "resource", quoit_snapshot_get_resource_name (snapshot, i));
        metrics_add_label (text, "state", parts[j].word);
        metrics_end_sample (text, amount);
      }
}

/* --- classes --- */

static void
begin_class_sample (GString *text, const char *name, const QuoitSnapshot *snapshot, uint32_t class)
{
  g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);
  g_autofree char *chips = g_strdup_printf ("%u", quoit_snapshot_get_class_chips_per_host (snapshot, class));

  metrics_begin_sample (text, name);
  metrics_add_label (text, "accelerator", quoit_snapshot_get_class_accelerator (snapshot, class));
  metrics_add_label (text, "topology", topology);
  metrics_add_label (text, "chips_per_host", chips);
}

static void
add_classes (GString *text, const QuoitSnapshot *snapshot)
{
  static const struct {
    QuoitSliceFlags flag;
    const char *word;
  } conditions[]
      = { { QUOIT_SLICE_INTACT, "intact" }, { QUOIT_SLICE_IDLE, "idle" },      { QUOIT_SLICE_PARTLY, "partly-used" },
          { QUOIT_SLICE_FULL, "full" },     { QUOIT_SLICE_ALLOCATED, "held" }, { QUOIT_SLICE_DRAINING, "draining" },
          { QUOIT_SLICE_FREE, "free" } };
  const uint32_t n = quoit_snapshot_get_n_classes (snapshot);

  metrics_begin (text, "quoit_slices", "Slices of each class.");
  for (uint32_t class = 0; class < n; class ++)
    {
      begin_class_sample (text, "quoit_slices", snapshot, class);
      metrics_end_number (text, quoit_snapshot_count_slices_of_class (snapshot, class, (QuoitSliceFlags) 0));
    }
  metrics_begin (text, "quoit_slices_by_condition",
                 "Slices of each class that are in a condition. A slice can be in several, so they have no sum.");
  for (uint32_t class = 0; class < n; class ++)
    for (guint i = 0; i < G_N_ELEMENTS (conditions); i++)
      {
        begin_class_sample (text, "quoit_slices_by_condition", snapshot, class);
        metrics_add_label (text, "condition", conditions[i].word);
        metrics_end_number (text, quoit_snapshot_count_slices_of_class (snapshot, class, conditions[i].flag));
      }
}

/* Slices without a class are only here. */
static void
add_problems (GString *text, const QuoitSnapshot *snapshot)
{
  gint64 n_problems = 0, n_without_class = 0;

  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    {
      n_problems += (quoit_snapshot_get_slice_flags (snapshot, slice) & QUOIT_SLICE_INTACT) == 0;
      n_without_class += quoit_snapshot_get_slice_class (snapshot, slice) < 0;
    }
  metrics_add_number (text, "quoit_degraded_slices", "Slices with a missing, dead or contradictory host.", n_problems);
  metrics_add_number (text, "quoit_slices_without_class",
                      "Slices whose accelerator or topology is unknown. The metrics by class do not have them.",
                      n_without_class);
}

static void
add_fragmentation (GString *text, const QuoitSnapshot *snapshot)
{
  g_autoptr (QuoitFragmentation) fragmentation = quoit_snapshot_measure_fragmentation (snapshot, 0);

  metrics_begin (text, "quoit_fragmentation_ratio",
                 "How much of the free hosts of a class is no use for parts of slices: 0 to 1, as a least and a most.");
  for (uint32_t class = 0; class < quoit_fragmentation_get_n_classes (fragmentation); class ++)
    for (guint is_most = 0; is_most < 2 && quoit_fragmentation_get_n_hosts (fragmentation, class) > 0; is_most++)
      {
        const uint32_t ppm = is_most ? quoit_fragmentation_get_most (fragmentation, class)
                                     : quoit_fragmentation_get_least (fragmentation, class);
        g_autofree char *ratio = g_strdup_printf ("%u.%06u", ppm / 1000000, ppm % 1000000);

        begin_class_sample (text, "quoit_fragmentation_ratio", snapshot, class);
        metrics_add_label (text, "bound", is_most ? "most" : "least");
        metrics_end_sample (text, ratio);
      }
}

/* --- groups --- */

static const gint64 lease_limits_s[] = { 60, 600, 3600, 86400 };

static const QuoitGroupState group_states[]
    = { QUOIT_GROUP_HELD, QUOIT_GROUP_RESERVED, QUOIT_GROUP_RESCHEDULING, QUOIT_GROUP_PENDING, QUOIT_GROUP_AHEAD };
static const QuoitGroupSliceState slice_states[]
    = { QUOIT_GROUP_SLICE_WHOLE, QUOIT_GROUP_SLICE_LEAVING, QUOIT_GROUP_SLICE_LOST };

/* A group waits if its source has not placed it, or if it has lost what repair would replace. */
typedef struct {
  gint64 by_state[G_N_ELEMENTS (group_states)], slices[G_N_ELEMENTS (slice_states)];
  gint64 leases, leases_within[G_N_ELEMENTS (lease_limits_s)], first_end_ms; /* first_end_ms: 0: no lease */
  GHashTable *reasons;                                                       /* "VERDICT REASON" -> number, plus 0 */
  GHashTable *explained;                                                     /* request -> "VERDICT REASON" */
} GroupCounts;

/* Finding a reason can take long, so only this many different requests get one. */
enum { MAX_EXPLAINED = 64 };

static char *
find_reason (const QuoitSnapshot *snapshot, const QuoitGroup *group)
{
  g_autoptr (QuoitReport) report = quoit_snapshot_explain_group (snapshot, quoit_group_get_handle (group), NULL);
  const char *reason = "none";

  if (report == NULL)
    return g_strdup ("unknown unknown");
  if (quoit_report_get_verdict (report) != QUOIT_VERDICT_FITS && quoit_report_get_n_reasons (report) > 0)
    reason = quoit_constraint_get_name (quoit_report_get_reason_constraint (report, 0));
  return g_strdup_printf ("%s %s", verdict_word (quoit_report_get_verdict (report)), reason);
}

static void
count_reason (GroupCounts *counts, const QuoitSnapshot *snapshot, const QuoitGroup *group)
{
  /* Pending groups with equal requests wait for the same. Others wait for what each of them has lost. */
  const char *key = quoit_group_get_state (group) == QUOIT_GROUP_PENDING ? quoit_group_get_request (group)
                                                                         : quoit_group_get_handle (group);
  const char *reason = g_hash_table_lookup (counts->explained, key);

  if (reason == NULL)
    {
      char *found = g_hash_table_size (counts->explained) < MAX_EXPLAINED ? find_reason (snapshot, group)
                                                                          : g_strdup ("unknown unknown");

      g_hash_table_insert (counts->explained, g_strdup (key), found);
      reason = found;
    }
  g_hash_table_insert (counts->reasons, g_strdup (reason),
                       GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (counts->reasons, reason)) + 1));
}

static void
count_lease (GroupCounts *counts, gint64 until_ms, gint64 now_ms)
{
  if (until_ms == 0)
    return;
  counts->leases++;
  counts->first_end_ms = counts->first_end_ms == 0 ? until_ms : MIN (counts->first_end_ms, until_ms);
  for (guint i = 0; i < G_N_ELEMENTS (lease_limits_s); i++)
    counts->leases_within[i] += until_ms - now_ms <= lease_limits_s[i] * 1000;
}

static void
count_group (GroupCounts *counts, const QuoitSnapshot *snapshot, const QuoitGroup *group, gint64 now_ms)
{
  const QuoitGroupState state = quoit_group_get_state (group);

  for (guint i = 0; i < G_N_ELEMENTS (group_states); i++)
    counts->by_state[i] += state == group_states[i];
  if (state == QUOIT_GROUP_REMOVED)
    return;
  for (uint32_t slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    for (guint i = 0; i < G_N_ELEMENTS (slice_states); i++)
      counts->slices[i] += quoit_group_get_slice_state (group, slice) == slice_states[i];
  count_lease (counts, quoit_group_get_until_ms (group), now_ms);
  if (state == QUOIT_GROUP_PENDING || state == QUOIT_GROUP_RESCHEDULING)
    count_reason (counts, snapshot, group);
}

static void
add_reasons (GString *text, const GroupCounts *counts)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (counts->reasons), (GCompareFunc) g_strcmp0);

  metrics_begin (text, "quoit_waiting_groups",
                 "Groups that are pending or rescheduling, by what a request for them would get now: the verdict, and "
                 "the constraint that is the main reason.");
  for (const GList *key = keys; key != NULL; key = key->next)
    {
      g_auto (GStrv) words = g_strsplit (key->data, " ", 2);

      metrics_begin_sample (text, "quoit_waiting_groups");
      metrics_add_label (text, "verdict", words[0]);
      metrics_add_label (text, "reason", words[1]);
      metrics_end_number (text, GPOINTER_TO_INT (g_hash_table_lookup (counts->reasons, key->data)));
    }
}

static void
add_leases (GString *text, const GroupCounts *counts)
{
  metrics_add_number (text, "quoit_leases", "Groups with a lease.", counts->leases);
  metrics_begin (text, "quoit_leases_ending", "Groups whose lease ends within a time, unless it is renewed.");
  for (guint i = 0; i < G_N_ELEMENTS (lease_limits_s); i++)
    {
      g_autofree char *limit = g_strdup_printf ("%" G_GINT64_FORMAT, lease_limits_s[i]);

      metrics_begin_sample (text, "quoit_leases_ending");
      metrics_add_label (text, "within_seconds", limit);
      metrics_end_number (text, counts->leases_within[i]);
    }
  if (counts->first_end_ms != 0)
    add_time (text, "quoit_first_lease_end_seconds", "When the first lease ends, in seconds since 1970.",
              counts->first_end_ms);
}

static void
add_groups (GString *text, const QuoitSnapshot *snapshot, gint64 now_ms)
{
  g_autoptr (GHashTable) reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) explained = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GroupCounts counts = { .reasons = reasons, .explained = explained };

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      count_group (&counts, snapshot, group, now_ms);
    }
  metrics_begin (text, "quoit_groups", "Groups, by state.");
  for (guint i = 0; i < G_N_ELEMENTS (group_states); i++)
    {
      metrics_begin_sample (text, "quoit_groups");
      metrics_add_label (text, "state", group_state_word (group_states[i]));
      metrics_end_number (text, counts.by_state[i]);
    }
  metrics_begin (text, "quoit_group_slices", "Slices that groups have, by state.");
  for (guint i = 0; i < G_N_ELEMENTS (slice_states); i++)
    {
      metrics_begin_sample (text, "quoit_group_slices");
      metrics_add_label (text, "state", slice_state_word (slice_states[i]));
      metrics_end_number (text, counts.slices[i]);
    }
  add_reasons (text, &counts);
  add_leases (text, &counts);
  metrics_add_number (text, "quoit_owners", "Registered owners.", quoit_snapshot_get_n_owners (snapshot));
}

char *
metrics_format (const QuoitSnapshot *snapshot, gint64 now_ms)
{
  GString *text = g_string_new (NULL);

  add_ledger (text, snapshot, now_ms);
  add_nodes (text, snapshot);
  add_resources (text, snapshot);
  add_classes (text, snapshot);
  add_problems (text, snapshot);
  add_fragmentation (text, snapshot);
  add_groups (text, snapshot, now_ms);
  return g_string_free (text, FALSE);
}
