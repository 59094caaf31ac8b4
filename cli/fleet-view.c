/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "fleet-view.h"

#include "group-view.h"
#include "words.h"

const char *
pool_source (const QuoitSnapshot *snapshot, uint32_t pool)
{
  return quoit_snapshot_get_source_name (snapshot, quoit_snapshot_get_pool_source (snapshot, pool));
}

char *
pool_full_name (const QuoitSnapshot *snapshot, uint32_t pool)
{
  return g_strconcat (pool_source (snapshot, pool), "/", quoit_snapshot_get_pool_name (snapshot, pool), NULL);
}

char *
node_display_name (const QuoitSnapshot *snapshot, uint32_t node)
{
  const char *name = quoit_snapshot_get_node_name (snapshot, node);
  uint32_t found;

  return quoit_snapshot_lookup_node (snapshot, name, &found, NULL) && found == node
             ? g_strdup (name)
             : quoit_snapshot_dup_node_full_name (snapshot, node);
}

char *
slice_display_name (const QuoitSnapshot *snapshot, uint32_t slice)
{
  const char *name = quoit_snapshot_get_slice_name (snapshot, slice);
  uint32_t found;

  return quoit_snapshot_lookup_slice (snapshot, name, &found, NULL) && found == slice
             ? g_strdup (name)
             : quoit_snapshot_dup_slice_full_name (snapshot, slice);
}

SliceLook
slice_find_look (const QuoitSnapshot *snapshot, uint32_t slice)
{
  const uint32_t flags = quoit_snapshot_get_slice_flags (snapshot, slice);

  if ((flags & QUOIT_SLICE_INTACT) == 0)
    return SLICE_DEGRADED;
  if ((flags & QUOIT_SLICE_DRAINING) != 0)
    return SLICE_DRAINING;
  if ((flags & QUOIT_SLICE_IDLE) != 0)
    return SLICE_FREE;
  if ((flags & QUOIT_SLICE_ALLOCATED) == 0)
    return SLICE_EXTERNAL;
  return (flags & QUOIT_SLICE_FULL) != 0 ? SLICE_HELD : SLICE_PARTLY;
}

const char *
slice_look_word (SliceLook look)
{
  static const char *const words[] = { "free", "partly", "held", "external", "draining", "degraded" };

  return words[look];
}

static void
add_users (GPtrArray *users, const QuoitSnapshot *snapshot, uint32_t node)
{
  for (uint32_t i = 0; i < quoit_snapshot_get_node_n_users (snapshot, node); i++)
    {
      g_autoptr (QuoitGroup) group
          = quoit_snapshot_lookup_group_by_id (snapshot, quoit_snapshot_get_node_user_id (snapshot, node, i), NULL);
      const char *label = quoit_group_get_handle (group);

      if (!g_ptr_array_find_with_equal_func (users, label, g_str_equal, NULL))
        g_ptr_array_add (users, g_strdup (label));
    }
  if (quoit_snapshot_is_node_external (snapshot, node)
      && !g_ptr_array_find_with_equal_func (users, "external", g_str_equal, NULL))
    g_ptr_array_add (users, g_strdup ("external"));
}

GPtrArray *
node_users (const QuoitSnapshot *snapshot, uint32_t node)
{
  GPtrArray *users = g_ptr_array_new_with_free_func (g_free);

  add_users (users, snapshot, node);
  return users;
}

static GPtrArray *
slice_users (const QuoitSnapshot *snapshot, uint32_t slice)
{
  GPtrArray *users = g_ptr_array_new_with_free_func (g_free);
  uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);

  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice); i++)
    add_users (users, snapshot, first + i);
  return users;
}

/* --- nodes --- */

static const Column node_columns[] = {
  { "node", NULL, CELL_TEXT },
  { NULL, "NODE", CELL_TEXT },
  { "full_name", NULL, CELL_TEXT },
  { "source", "SOURCE", RANKED (6, CELL_TEXT) },
  { "pool", "POOL", RANKED (4, CELL_TEXT) },
  { "slice", NULL, CELL_TEXT },
  { NULL, "SLICE", RANKED (1, CELL_TEXT) },
  { "worker_id", "WORKER", RANKED (2, CELL_NUMBER) },
  { "chips", "CHIPS", RANKED (5, CELL_NUMBER) },
  { "state", "STATE", CELL_TEXT },
  { "address", "ADDRESS", RANKED (4, CELL_TEXT) },
  { "ray_head", "RAY HEAD", RANKED (7, CELL_FLAG) },
  { "assumed", NULL, CELL_LIST },
  { "held_by", "HELD BY", CELL_LIST },
  { "state_reason", "REASON", RANKED (3, CELL_TEXT) },
};

static const Column node_fact_columns[] = {
  { "node", "node", CELL_TEXT },
  { NULL, NULL, CELL_TEXT },
  { "full_name", "full name", CELL_TEXT },
  { "source", "source", CELL_TEXT },
  { "pool", "pool", CELL_TEXT },
  { "slice", NULL, CELL_TEXT },
  { NULL, "slice", CELL_TEXT },
  { "worker_id", "worker", CELL_NUMBER },
  { "chips", "chips", CELL_NUMBER },
  { "state", "state", CELL_TEXT },
  { "address", "address", CELL_TEXT },
  { "ray_head", "Ray head", CELL_FLAG },
  { "assumed", "assumed", CELL_LIST },
  { "held_by", "held by", CELL_LIST },
  { "state_reason", "reason", CELL_TEXT },
  { "identity", "identity", CELL_TEXT },
  { "sources", "sources", CELL_LIST },
};

uint32_t
node_n_chips (const QuoitSnapshot *snapshot, uint32_t node)
{
  return (uint32_t) (quoit_snapshot_get_node_chip_amount (snapshot, node, QUOIT_AMOUNT_TOTAL).e4 / 10000);
}

Table *
nodes_table (void)
{
  return table_new (node_columns, G_N_ELEMENTS (node_columns));
}

void
nodes_add (Table *nodes, const QuoitSnapshot *snapshot, uint32_t node)
{
  uint32_t pool = quoit_snapshot_get_node_pool (snapshot, node);
  int64_t slice = quoit_snapshot_get_node_slice (snapshot, node);
  int32_t worker = quoit_snapshot_get_node_worker_id (snapshot, node);
  const char *reason = quoit_snapshot_get_node_reason (snapshot, node);

  table_add_text (nodes, quoit_snapshot_get_node_name (snapshot, node));
  table_take_text (nodes, node_display_name (snapshot, node));
  table_take_text (nodes, quoit_snapshot_dup_node_full_name (snapshot, node));
  table_add_text (nodes, pool_source (snapshot, pool));
  table_add_text (nodes, quoit_snapshot_get_pool_name (snapshot, pool));
  table_add_text (nodes, slice < 0 ? NULL : quoit_snapshot_get_slice_name (snapshot, (uint32_t) slice));
  table_take_text (nodes, slice < 0 ? NULL : slice_display_name (snapshot, (uint32_t) slice));
  if (worker < 0)
    table_skip (nodes);
  else
    table_add_number (nodes, worker);
  table_add_number (nodes, node_n_chips (snapshot, node));
  table_add_text (nodes, node_state_word (quoit_snapshot_get_node_state (snapshot, node)));
  table_add_text (nodes, quoit_snapshot_get_node_address (snapshot, node));
  table_add_flag (nodes, quoit_snapshot_is_node_ray_head (snapshot, node));
  table_take_list (nodes, assumption_words (quoit_snapshot_get_node_assumptions (snapshot, node)));
  table_take_list (nodes, node_users (snapshot, node));
  table_add_text (nodes, reason[0] == '\0' ? NULL : reason);
}

static GPtrArray *
node_sources (const QuoitSnapshot *snapshot, uint32_t node)
{
  GPtrArray *sources = g_ptr_array_new_with_free_func (g_free);
  const char *source;

  for (uint32_t i = 0; (source = quoit_snapshot_get_node_source (snapshot, node, i)) != NULL; i++)
    g_ptr_array_add (sources, g_strdup (source));
  return sources;
}

Table *
node_facts (const QuoitSnapshot *snapshot, uint32_t node)
{
  Table *facts = table_new (node_fact_columns, G_N_ELEMENTS (node_fact_columns));

  nodes_add (facts, snapshot, node);
  table_take_text (facts, quoit_snapshot_dup_node_identity (snapshot, node));
  table_take_list (facts, node_sources (snapshot, node));
  return facts;
}

/* --- slices --- */

static const Column slice_columns[] = {
  { "slice", NULL, CELL_TEXT },
  { NULL, "SLICE", CELL_TEXT },
  { "full_name", NULL, CELL_TEXT },
  { "source", "SOURCE", RANKED (7, CELL_TEXT) },
  { "pool", "POOL", RANKED (6, CELL_TEXT) },
  { "accelerator", "ACCELERATOR", RANKED (3, CELL_TEXT) },
  { "topology", "TOPOLOGY", RANKED (2, CELL_TEXT) },
  { "chips_per_host", "CHIPS/HOST", RANKED (5, CELL_NUMBER) },
  { "n_hosts", "HOSTS", RANKED (3, CELL_NUMBER) },
  { "n_nodes", NULL, CELL_NUMBER },
  { NULL, "NODES", RANKED (4, CELL_NUMBER) },
  { "conditions", "CONDITION", CELL_LIST },
  { "held_by", "HELD BY", RANKED (1, CELL_LIST) },
  { "n_missing", NULL, CELL_NUMBER },
  { "faults", NULL, CELL_LIST },
  { "problem", "PROBLEM", RANKED (1, CELL_TEXT) },
};

static const Column slice_fact_columns[] = {
  { "slice", "slice", CELL_TEXT },
  { NULL, NULL, CELL_TEXT },
  { "full_name", "full name", CELL_TEXT },
  { "source", "source", CELL_TEXT },
  { "pool", "pool", CELL_TEXT },
  { "accelerator", "accelerator", CELL_TEXT },
  { "topology", "topology", CELL_TEXT },
  { "chips_per_host", "chips per host", CELL_NUMBER },
  { "n_hosts", "hosts", CELL_NUMBER },
  { "n_nodes", NULL, CELL_NUMBER },
  { NULL, "nodes", CELL_NUMBER },
  { "conditions", "condition", CELL_LIST },
  { "held_by", "held by", CELL_LIST },
  { "n_missing", "missing workers", CELL_NUMBER },
  { "faults", "contradictions", CELL_LIST },
  { "problem", "problem", CELL_TEXT },
};

Table *
slices_table (void)
{
  return table_new (slice_columns, G_N_ELEMENTS (slice_columns));
}

/* Takes @text. The library returns "" for a slice without a problem. */
static void
take_optional_text (Table *table, char *text)
{
  if (text[0] == '\0')
    g_clear_pointer (&text, g_free);
  table_take_text (table, text);
}

/* A slice without a class, @index -1, has empty cells. */
static void
add_class (Table *slices, const QuoitSnapshot *snapshot, int64_t index)
{
  uint32_t class = (uint32_t) index;

  for (guint skipped = 0; index < 0 && skipped < 4; skipped++)
    table_skip (slices);
  if (index < 0)
    return;
  table_add_text (slices, quoit_snapshot_get_class_accelerator (snapshot, class));
  table_take_text (slices, quoit_snapshot_dup_class_topology (snapshot, class));
  table_add_number (slices, quoit_snapshot_get_class_chips_per_host (snapshot, class));
  table_add_number (slices, quoit_snapshot_get_class_n_hosts (snapshot, class));
}

/* After a replacement, the list of nodes also has the dead one, which is none of the hosts. */
static guint
count_live_nodes (const QuoitSnapshot *snapshot, uint32_t slice)
{
  const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);
  guint n = 0;

  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice); i++)
    n += quoit_snapshot_get_node_state (snapshot, first + i) != QUOIT_NODE_DEAD;
  return n;
}

void
slices_add (Table *slices, const QuoitSnapshot *snapshot, uint32_t slice)
{
  uint32_t pool = quoit_snapshot_get_slice_pool (snapshot, slice);

  table_add_text (slices, quoit_snapshot_get_slice_name (snapshot, slice));
  table_take_text (slices, slice_display_name (snapshot, slice));
  table_take_text (slices, quoit_snapshot_dup_slice_full_name (snapshot, slice));
  table_add_text (slices, pool_source (snapshot, pool));
  table_add_text (slices, quoit_snapshot_get_pool_name (snapshot, pool));
  add_class (slices, snapshot, quoit_snapshot_get_slice_class (snapshot, slice));
  table_add_number (slices, quoit_snapshot_get_slice_n_nodes (snapshot, slice));
  table_add_number (slices, count_live_nodes (snapshot, slice));
  table_take_list (slices, condition_words (quoit_snapshot_get_slice_flags (snapshot, slice)));
  table_take_list (slices, slice_users (snapshot, slice));
  table_add_number (slices, quoit_snapshot_get_slice_n_missing (snapshot, slice));
  table_take_list (slices, fault_words (quoit_snapshot_get_slice_faults (snapshot, slice)));
  take_optional_text (slices, quoit_snapshot_dup_slice_problem (snapshot, slice));
}

Table *
slice_facts (const QuoitSnapshot *snapshot, uint32_t slice)
{
  Table *facts = table_new (slice_fact_columns, G_N_ELEMENTS (slice_fact_columns));

  slices_add (facts, snapshot, slice);
  return facts;
}

Table *
slice_nodes (const QuoitSnapshot *snapshot, uint32_t slice)
{
  Table *nodes = nodes_table ();
  uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);

  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice); i++)
    nodes_add (nodes, snapshot, first + i);
  return nodes;
}
