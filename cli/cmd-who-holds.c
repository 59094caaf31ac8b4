/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet-view.h"
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "node", NULL, CELL_TEXT },         { NULL, "NODE", CELL_TEXT },
  { "full_name", NULL, CELL_TEXT },    { "worker_id", "WORKER", CELL_NUMBER },
  { "held_by", "HELD BY", CELL_LIST }, { "owners", "OWNER", CELL_LIST },
  { "since", "SINCE", CELL_LIST },     { "until", "UNTIL", CELL_LIST },
  { "shares", "SHARE", CELL_LIST },
};

static void
add_node (Table *table, const QuoitSnapshot *snapshot, uint32_t node)
{
  GPtrArray *owners = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *since = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *until = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *shares = g_ptr_array_new_with_free_func (g_free);
  int32_t worker = quoit_snapshot_get_node_worker_id (snapshot, node);

  for (uint32_t i = 0; i < quoit_snapshot_get_node_n_users (snapshot, node); i++)
    {
      g_autoptr (QuoitGroup) group
          = quoit_snapshot_lookup_group_by_id (snapshot, quoit_snapshot_get_node_user_id (snapshot, node, i), NULL);

      const char *owner = quoit_group_get_owner (group);

      g_ptr_array_add (owners, owner[0] == '\0' ? NULL : g_strdup (owner));
      g_ptr_array_add (since, text_format_time (quoit_group_get_created_ms (group)));
      g_ptr_array_add (until, text_format_time (quoit_group_get_until_ms (group)));
      g_ptr_array_add (shares, quoit_snapshot_dup_node_user_share (snapshot, node, i));
    }
  table_add_text (table, quoit_snapshot_get_node_name (snapshot, node));
  table_take_text (table, node_display_name (snapshot, node));
  table_take_text (table, quoit_snapshot_dup_node_full_name (snapshot, node));
  if (worker < 0)
    table_skip (table);
  else
    table_add_number (table, worker);
  table_take_list (table, node_users (snapshot, node));
  table_take_list (table, owners);
  table_take_list (table, since);
  table_take_list (table, until);
  table_take_list (table, shares);
}

static bool
find (const QuoitSnapshot *snapshot, const char *name, Table *table, GError **error)
{
  g_autoptr (GError) why = NULL;
  uint32_t node, slice;

  if (quoit_snapshot_lookup_node (snapshot, name, &node, &why))
    {
      add_node (table, snapshot, node);
      return true;
    }
  if (!g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    return g_propagate_error (error, g_steal_pointer (&why)), false;
  g_clear_error (&why);

  if (quoit_snapshot_lookup_slice (snapshot, name, &slice, &why))
    {
      node = quoit_snapshot_get_slice_first_node (snapshot, slice);
      for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice); i++)
        add_node (table, snapshot, node + i);
      return true;
    }
  if (!g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    return g_propagate_error (error, g_steal_pointer (&why)), false;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "'%s': expected the name of a node or slice", name);
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (Table) table = table_new (columns, G_N_ELEMENTS (columns));
  Document *document;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL || !find (snapshot, session->words[0], table, error))
    return false;

  document = document_new ();
  document_take_table (document, "nodes", NULL, g_steal_pointer (&table));
  return session_print (session, document, error);
}

const Verb verb_who_holds = {
  "who-holds", "NODE|SLICE", "show the groups that use a node, or the nodes of a slice", NULL, 1, 1, run,
};
