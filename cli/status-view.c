/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "status-view.h"

#include "decimal.h"
#include "drained-view.h"
#include "fleet-view.h"
#include "group-view.h"
#include "growth-view.h"
#include "resource-view.h"
#include "text.h"
#include "words.h"

static const Column fact_columns[] = {
  { "seq", "journal entry", CELL_NUMBER },
  { "clock", "at", CELL_TEXT },
};

static Table *
facts (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_add_number (table, (gint64) quoit_snapshot_get_seq (snapshot));
  table_take_text (table, text_format_time (quoit_snapshot_get_clock_ms (snapshot)));
  return table;
}

/* Desired workers, CPUs and memory are the values that `kubectl get raycluster` shows for a manifest. Other sources
 * have no such values. */
static const Column source_columns[] = {
  { "source", "SOURCE", CELL_TEXT },           { "kind", "KIND", CELL_TEXT },
  { "n_pools", "POOLS", CELL_NUMBER },         { "n_slices", "SLICES", CELL_NUMBER },
  { "n_nodes", "NODES", CELL_NUMBER },         { "desired_workers", "DESIRED WORKERS", RANKED (2, CELL_NUMBER) },
  { "cpus", "CPUS", RANKED (1, CELL_AMOUNT) }, { "memory", NULL, CELL_AMOUNT },
  { NULL, "MEMORY", RANKED (1, CELL_AMOUNT) }, { "memory_bytes", NULL, CELL_AMOUNT },
};

typedef struct {
  gint64 n_pools, n_slices, n_nodes, n_pods;
  Decimal cpus, memory;
} SourceSum;

/* CPUs and memory are decimal text in the public API, because a sum of memory can exceed a QuoitAmount. */
static void
add_pool (SourceSum *sum, const QuoitSnapshot *snapshot, uint32_t pool)
{
  g_autofree char *cpus = quoit_snapshot_dup_pool_cpu (snapshot, pool);
  g_autofree char *memory = quoit_snapshot_dup_pool_memory (snapshot, pool);

  sum->n_pools++;
  sum->n_slices += quoit_snapshot_get_pool_n_slices (snapshot, pool);
  sum->n_nodes += quoit_snapshot_get_pool_n_nodes (snapshot, pool);
  sum->n_pods += quoit_snapshot_get_pool_n_pods (snapshot, pool);
  sum->cpus.e4 += decimal_parse (cpus).e4;
  sum->memory.e4 += decimal_parse (memory).e4;
}

static Table *
sources (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (source_columns, G_N_ELEMENTS (source_columns));
  uint32_t n = quoit_snapshot_get_n_sources (snapshot);
  g_autofree SourceSum *sums = g_new0 (SourceSum, n);

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    add_pool (&sums[quoit_snapshot_get_pool_source (snapshot, pool)], snapshot, pool);

  for (uint32_t i = 0; i < n; i++)
    {
      QuoitSourceKind kind = quoit_snapshot_get_source_kind (snapshot, i);

      table_add_text (table, quoit_snapshot_get_source_name (snapshot, i));
      table_add_text (table, source_kind_word (kind));
      table_add_number (table, sums[i].n_pools);
      table_add_number (table, sums[i].n_slices);
      table_add_number (table, sums[i].n_nodes);
      if (kind == QUOIT_SOURCE_KIND_RAYCLUSTER)
        {
          table_add_number (table, sums[i].n_pods);
          table_take_text (table, decimal_format (sums[i].cpus));
          table_take_text (table, decimal_format_bytes (sums[i].memory));
          table_take_text (table, decimal_format_size (sums[i].memory));
          table_take_text (table, decimal_format (sums[i].memory));
        }
      else
        for (guint column = 0; column < 5; column++)
          table_skip (table);
    }
  return table;
}

/* The sums are decimal text in the public API, because they can exceed a QuoitAmount. */
static Decimal
resource_sum (const QuoitSnapshot *snapshot, uint32_t resource, QuoitAmountPart part)
{
  g_autofree char *sum = quoit_snapshot_dup_resource_sum (snapshot, resource, part);

  return decimal_parse (sum);
}

/* Omits dead nodes, and resources that only dead nodes have. */
static Table *
resources (const QuoitSnapshot *snapshot)
{
  Table *table = resources_table ();

  for (uint32_t i = 0; i < quoit_snapshot_get_n_resources (snapshot); i++)
    {
      Decimal dead
          = { resource_sum (snapshot, i, QUOIT_AMOUNT_DOWN).e4 + resource_sum (snapshot, i, QUOIT_AMOUNT_LOST).e4 };
      Decimal used
          = { resource_sum (snapshot, i, QUOIT_AMOUNT_HELD).e4 + resource_sum (snapshot, i, QUOIT_AMOUNT_RESERVED).e4
              + resource_sum (snapshot, i, QUOIT_AMOUNT_EXTERNAL).e4 };
      Decimal total = { resource_sum (snapshot, i, QUOIT_AMOUNT_TOTAL).e4 - dead.e4 };

      if (total.e4 == 0 && dead.e4 > 0)
        continue;
      resources_take (table, quoit_snapshot_get_resource_name (snapshot, i), decimal_format (used),
                      decimal_format (total));
    }
  return table;
}

static const Column condition_columns[] = {
  { "total", "all", CELL_NUMBER },
  { "intact", "intact", CELL_NUMBER },
  { "degraded", "degraded", CELL_NUMBER },
  { "idle", "idle", CELL_NUMBER },
  { "partly_used", "partly used", CELL_NUMBER },
  { "full", "full", CELL_NUMBER },
  { "held", "held", CELL_NUMBER },
  { "draining", "draining", CELL_NUMBER },
  { "free", "free", CELL_NUMBER },
};

/* Counts slice by slice, because quoit_snapshot_count_slices_of_class() omits slices without a class. */
static Table *
conditions (const QuoitSnapshot *snapshot)
{
  static const QuoitSliceFlags order[] = { QUOIT_SLICE_IDLE,      QUOIT_SLICE_PARTLY,   QUOIT_SLICE_FULL,
                                           QUOIT_SLICE_ALLOCATED, QUOIT_SLICE_DRAINING, QUOIT_SLICE_FREE };
  Table *table = table_new (condition_columns, G_N_ELEMENTS (condition_columns));
  uint32_t n = quoit_snapshot_get_n_slices (snapshot), intact = 0, counts[G_N_ELEMENTS (order)] = { 0 };

  for (uint32_t slice = 0; slice < n; slice++)
    {
      uint32_t flags = quoit_snapshot_get_slice_flags (snapshot, slice);

      intact += (flags & QUOIT_SLICE_INTACT) != 0;
      for (guint i = 0; i < G_N_ELEMENTS (order); i++)
        counts[i] += (flags & order[i]) != 0;
    }
  table_add_number (table, n);
  table_add_number (table, intact);
  table_add_number (table, n - intact);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    table_add_number (table, counts[i]);
  return table;
}

static Table *
live_groups (const QuoitSnapshot *snapshot)
{
  Table *table = groups_table ();

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
        groups_add (table, group);
    }
  return table;
}

static const Column problem_columns[] = {
  { "kind", "KIND", CELL_TEXT },    { "name", NULL, CELL_TEXT },         { NULL, "NAME", CELL_TEXT },
  { "full_name", NULL, CELL_TEXT }, { "problem", "PROBLEM", CELL_TEXT },
};

static void
add_slice_problem (Table *table, const QuoitSnapshot *snapshot, uint32_t slice, const char *problem)
{
  table_add_text (table, "slice");
  table_add_text (table, quoit_snapshot_get_slice_name (snapshot, slice));
  table_take_text (table, slice_display_name (snapshot, slice));
  table_take_text (table, quoit_snapshot_dup_slice_full_name (snapshot, slice));
  table_add_text (table, problem);
}

static void
add_group_problem (Table *table, const char *label, const char *problem)
{
  table_add_text (table, "group");
  table_add_text (table, label);
  table_add_text (table, label);
  table_add_text (table, label);
  table_add_text (table, problem);
}

/* Finding the reason why a group waits can take long, so only this many different requests get a reason. */
enum { MAX_EXPLAINED = 8 };

typedef struct {
  const QuoitSnapshot *snapshot;
  Table *table;
  GHashTable *reasons; /* the reasons found so far: request and unplaced bundles -> sentence */
} ProblemList;

static char *
format_reason (const ProblemList *list, const QuoitGroup *group, const char *label)
{
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *explain = g_strdup_printf ("see 'quoit explain %s'", label);

  if (g_hash_table_size (list->reasons) >= MAX_EXPLAINED)
    return g_steal_pointer (&explain);
  report = quoit_snapshot_explain_group (list->snapshot, label, NULL);
  if (report == NULL)
    return g_steal_pointer (&explain);
  if (quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS && quoit_group_get_source (group)[0] != '\0')
    return g_strdup ("it fits by amounts, but its label selectors are unknown");
  return quoit_report_dup_summary (report, "now");
}

/* Groups with equal requests and the same unplaced bundles share a reason. */
static void
add_waiting_group (const ProblemList *list, const QuoitGroup *group, const char *label, const char *problem_text)
{
  g_autoptr (GString) key = g_string_new (quoit_group_get_request (group));
  g_autofree char *problem = NULL;
  const char *reason;

  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    if (quoit_group_get_bundle_state (group, i) != QUOIT_GROUP_SLICE_WHOLE)
      g_string_append_printf (key, " %u", i);
  reason = g_hash_table_lookup (list->reasons, key->str);
  if (reason == NULL)
    {
      reason = format_reason (list, group, label);
      g_hash_table_insert (list->reasons, g_strdup (key->str), (char *) reason);
    }
  problem = g_strconcat (problem_text, "; ", reason, NULL);
  add_group_problem (list->table, label, problem);
}

static void
add_lost_slices (Table *table, const QuoitGroup *group, const char *label)
{
  for (uint32_t slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    {
      g_autofree char *problem = group_slice_problem (group, slice);

      if (problem != NULL)
        add_group_problem (table, label, problem);
    }
}

static void
add_lost_bundles (const ProblemList *list, const QuoitGroup *group, const char *label)
{
  bool lost = false;

  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    lost |= quoit_group_get_bundle_state (group, i) == QUOIT_GROUP_SLICE_LOST;
  if (lost)
    add_waiting_group (list, group, label, "a bundle of it has lost its node");
  else
    add_group_problem (list->table, label, "a bundle of it is on a node that is draining");
}

/* If nodes of a reservation ahead fail, it gets other ones with the next change. Otherwise there are none. */
static void
add_unsound_reservation (Table *table, const QuoitGroup *group, const char *label)
{
  uint32_t n = 0;
  g_autofree char *begins = NULL, *problem = NULL;

  for (uint32_t i = 0; i < quoit_group_get_n_slices (group); i++)
    n += quoit_group_get_slice_state (group, i) != QUOIT_GROUP_SLICE_WHOLE;
  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    n += quoit_group_get_bundle_state (group, i) != QUOIT_GROUP_SLICE_WHOLE;
  if (n == 0)
    return;
  begins = text_format_time (quoit_group_get_begins_ms (group));
  problem = g_strdup_printf ("it begins at %s with dead or draining nodes, unless others become free before", begins);
  add_group_problem (table, label, problem);
}

static void
add_pending_group (const ProblemList *list, const QuoitGroup *group, const char *label)
{
  g_autofree char *holds = quoit_snapshot_dup_hold_and_wait (list->snapshot, label, NULL);
  const bool waits = holds != NULL && holds[0] != '\0';
  g_autofree char *problem = g_strconcat ("its source has not placed it", waits ? "; " : NULL, holds, NULL);

  add_waiting_group (list, group, label, problem);
}

static void
add_problems (const ProblemList *list, const QuoitGroup *group)
{
  const char *label = quoit_group_get_handle (group);

  if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
    add_unsound_reservation (list->table, group, label);
  else if (quoit_group_get_n_slices (group) > 0)
    add_lost_slices (list->table, group, label);
  else if (quoit_group_get_state (group) == QUOIT_GROUP_RESCHEDULING)
    add_lost_bundles (list, group, label);
  else if (quoit_group_get_state (group) == QUOIT_GROUP_PENDING)
    add_pending_group (list, group, label);
}

static Table *
problems (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (problem_columns, G_N_ELEMENTS (problem_columns));
  g_autoptr (GHashTable) reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const ProblemList list = { snapshot, table, reasons };

  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    {
      g_autofree char *problem = quoit_snapshot_dup_slice_problem (snapshot, slice);

      if (problem[0] != '\0')
        add_slice_problem (table, snapshot, slice, problem);
    }
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      add_problems (&list, group);
    }
  drained_add (table, snapshot);
  return table;
}

Document *
status_document (QuoitSnapshot *snapshot, gint64 now_ms)
{
  Document *document = document_new ();

  document_take_facts (document, facts (snapshot));
  document_take_table (document, "sources", "sources", sources (snapshot));
  document_take_table (document, "resources", "resources", resources (snapshot));
  document_take_object (document, "slices", "slices", conditions (snapshot));
  document_take_table (document, "groups", "groups", live_groups (snapshot));
  document_take_table (document, "growth", "groups that could have more slices", growth_table (snapshot, now_ms));
  document_take_table (document, "problems", "problems", problems (snapshot));
  return document;
}
