/* SPDX-License-Identifier: Apache-2.0 */
#include "import-view.h"

#include "fleet-view.h"
#include "group-view.h"
#include "text.h"
#include "words.h"

static const Column fact_columns[] = {
  { "source", "source", CELL_TEXT },  { "new", "new", CELL_FLAG },    { "n_nodes", "nodes", CELL_NUMBER },
  { "n_changes", NULL, CELL_NUMBER }, { "dry_run", NULL, CELL_FLAG },
};

static const Column change_columns[] = {
  { "kind", "CHANGE", CELL_TEXT },
  { "name", "NAME", CELL_TEXT },
  { "detail", "DETAIL", CELL_TEXT },
  { "group", "HELD BY", CELL_TEXT },
};

static const Column pool_columns[] = {
  { "pool", "POOL", CELL_TEXT },         { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT }, { "slices", "SLICES", CELL_NUMBER },
  { "free", "FREE", CELL_NUMBER },       { "degraded", "DEGRADED", CELL_NUMBER },
  { "held", "HELD", CELL_NUMBER },       { "n_nodes", "NODES", CELL_NUMBER },
};

/* A row of the pools: the slices of one class in one pool. Slices without a class, and pools without slices, have rows
 * too. */
typedef struct {
  uint32_t pool;
  gint64 class, slices, free, degraded, held, n_nodes;
} PoolRow;

static void
add_pool_row (Table *table, const QuoitSnapshot *snapshot, const PoolRow *row)
{
  table_add_text (table, quoit_snapshot_get_pool_name (snapshot, row->pool));
  table_add_text (table,
                  row->class < 0 ? NULL : quoit_snapshot_get_class_accelerator (snapshot, (uint32_t) row->class));
  table_take_text (table, row->class < 0 ? NULL : quoit_snapshot_dup_class_topology (snapshot, (uint32_t) row->class));
  table_add_number (table, row->slices);
  table_add_number (table, row->free);
  table_add_number (table, row->degraded);
  table_add_number (table, row->held);
  table_add_number (table, row->n_nodes);
}

/* Slices are in the order of pools, and the slices of a class in a pool are adjacent. */
static Table *
describe_pools (const QuoitSnapshot *snapshot, const char *source)
{
  Table *table = table_new (pool_columns, G_N_ELEMENTS (pool_columns));
  const uint32_t n_slices = quoit_snapshot_get_n_slices (snapshot);
  uint32_t slice = 0;

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    {
      const uint32_t end = slice + quoit_snapshot_get_pool_n_slices (snapshot, pool);
      PoolRow row = { pool, -1, 0, 0, 0, 0, 0 };
      gint64 n_left = quoit_snapshot_get_pool_n_nodes (snapshot, pool);

      if (!g_str_equal (pool_source (snapshot, pool), source))
        {
          slice = end;
          continue;
        }
      for (; slice < end && slice < n_slices; slice++)
        {
          const uint32_t flags = quoit_snapshot_get_slice_flags (snapshot, slice);
          const int64_t class = quoit_snapshot_get_slice_class (snapshot, slice);

          if (row.slices > 0 && class != row.class)
            {
              add_pool_row (table, snapshot, &row);
              row = (PoolRow) { pool, class, 0, 0, 0, 0, 0 };
            }
          row.class = class;
          row.slices++;
          row.free += (flags & QUOIT_SLICE_FREE) != 0;
          row.degraded += (flags & QUOIT_SLICE_INTACT) == 0;
          row.held += (flags & QUOIT_SLICE_ALLOCATED) != 0;
          row.n_nodes += quoit_snapshot_get_slice_n_nodes (snapshot, slice);
          n_left -= quoit_snapshot_get_slice_n_nodes (snapshot, slice);
        }
      if (row.slices > 0)
        add_pool_row (table, snapshot, &row);
      if (n_left > 0)
        add_pool_row (table, snapshot, &(PoolRow) { .pool = pool, .class = -1, .n_nodes = n_left });
    }
  return table;
}

static void
add_optional_text (Table *table, const char *text)
{
  table_add_text (table, text[0] == '\0' ? NULL : text);
}

static Table *
describe_changes (const QuoitImport *import)
{
  Table *changes = table_new (change_columns, G_N_ELEMENTS (change_columns));

  for (uint32_t i = 0; i < quoit_import_get_n_changes (import); i++)
    {
      table_add_text (changes, change_word (quoit_import_get_change_kind (import, i)));
      table_add_text (changes, quoit_import_get_change_name (import, i));
      add_optional_text (changes, quoit_import_get_change_detail (import, i));
      add_optional_text (changes, quoit_import_get_change_group (import, i));
    }
  return changes;
}

/* The handles of the groups whose slices or nodes have changed, each once. */
static GPtrArray *
list_groups (const QuoitImport *import)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *handles = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_import_get_n_changes (import); i++)
    {
      const char *handle = quoit_import_get_change_group (import, i);

      if (*handle != '\0' && g_hash_table_add (seen, (gpointer) handle))
        g_ptr_array_add (handles, (gpointer) handle);
    }
  return handles;
}

Document *
import_describe (const QuoitSnapshot *snapshot, const QuoitImport *import, bool dry_run)
{
  Document *document = document_new ();
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  GPtrArray *warnings = g_ptr_array_new ();
  g_autoptr (GPtrArray) groups = list_groups (import);
  uint32_t n_changes = quoit_import_get_n_changes (import), n_warnings = quoit_import_get_n_warnings (import);

  table_add_text (facts, quoit_import_get_source (import));
  table_add_flag (facts, quoit_import_is_new (import));
  table_add_number (facts, quoit_import_get_n_nodes (import));
  table_add_number (facts, n_changes);
  table_add_flag (facts, dry_run);
  for (uint32_t i = 0; i < n_warnings; i++)
    g_ptr_array_add (warnings, (char *) quoit_import_get_warning (import, i));

  if (dry_run)
    document_take_sentence (document, g_strdup ("dry run: nothing has changed"));
  document_take_facts (document, facts);
  document_take_table (document, "pools", "pools", describe_pools (snapshot, quoit_import_get_source (import)));
  document_take_table (document, "changes", "changes", describe_changes (import));
  groups_take_problems (document, snapshot, groups);
  document_take_lines (document, "warnings", "warnings", warnings);
  return document;
}

static void
append_object (GString *lines, const QuoitImport *import, const char *time)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (Table) changes = describe_changes (import);
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *text = NULL, *escaped = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "time");
  json_builder_add_string_value (builder, time);
  json_builder_set_member_name (builder, "source");
  json_builder_add_string_value (builder, quoit_import_get_source (import));
  json_builder_set_member_name (builder, "new");
  json_builder_add_boolean_value (builder, quoit_import_is_new (import));
  json_builder_set_member_name (builder, "n_nodes");
  json_builder_add_int_value (builder, quoit_import_get_n_nodes (import));
  json_builder_set_member_name (builder, "changes");
  table_build_array (changes, builder);
  json_builder_end_object (builder);
  node = json_builder_get_root (builder);
  text = json_to_string (node, FALSE);
  escaped = text_in_json (text);
  g_string_append_printf (lines, "%s\n", escaped);
}

/* "2026-05-01T09:30:00.000Z ray: state tpu-group-0-2: alive -> dead (train@1)" */
static void
append_change (GString *lines, const QuoitImport *import, uint32_t change, const char *time)
{
  const char *detail = quoit_import_get_change_detail (import, change);
  const char *group = quoit_import_get_change_group (import, change);
  g_autoptr (GString) line = g_string_new (NULL);
  g_autofree char *shown = NULL;

  g_string_append_printf (line, "%s %s: %s %s", time, quoit_import_get_source (import),
                          change_word (quoit_import_get_change_kind (import, change)),
                          quoit_import_get_change_name (import, change));
  if (*detail != '\0')
    g_string_append_printf (line, ": %s", detail);
  if (*group != '\0')
    g_string_append_printf (line, " (%s)", group);
  shown = text_for_terminal (line->str);
  g_string_append_printf (lines, "%s\n", shown);
}

static void
append_problems (GString *lines, const QuoitSnapshot *snapshot, const QuoitImport *import, const char *time)
{
  g_autoptr (GPtrArray) groups = list_groups (import);

  for (guint i = 0; i < groups->len; i++)
    {
      g_autofree char *problem = group_problem (snapshot, groups->pdata[i]), *line = NULL, *shown = NULL;

      if (problem == NULL)
        continue;
      line = g_strdup_printf ("%s %s: problem %s", time, quoit_import_get_source (import), problem);
      shown = text_for_terminal (line);
      g_string_append_printf (lines, "%s\n", shown);
    }
}

void
import_append_lines (GString *lines, const QuoitSnapshot *snapshot, const QuoitImport *import, gint64 time_ms,
                     bool as_json)
{
  const uint32_t n_changes = quoit_import_get_n_changes (import);
  g_autofree char *time = text_format_time (time_ms);

  if (as_json && (n_changes > 0 || quoit_import_is_new (import)))
    append_object (lines, import, time);
  else if (quoit_import_is_new (import))
    {
      g_autofree char *source = text_for_terminal (quoit_import_get_source (import));

      g_string_append_printf (lines, "%s %s: new source, nodes: %u\n", time, source, quoit_import_get_n_nodes (import));
    }
  else
    {
      for (uint32_t i = 0; i < n_changes; i++)
        append_change (lines, import, i, time);
      append_problems (lines, snapshot, import, time);
    }
}
