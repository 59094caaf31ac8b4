/* SPDX-License-Identifier: Apache-2.0 */
#include "node-drain.h"

#include "fleet-view.h"
#include "group-view.h"
#include "node-scope.h"
#include "node-state.h"
#include "verbs.h"

static const Column columns[] = {
  { "scope", "nodes of", CELL_TEXT },      { "n_nodes", "nodes", CELL_NUMBER },
  { "n_changed", "changed", CELL_NUMBER }, { "n_dead", "left alone because dead", CELL_NUMBER },
  { "held_by", "held by", CELL_LIST },
};

/* The full names of the nodes in @scope that are not dead. */
static GPtrArray *
list_live (const QuoitSnapshot *snapshot, const NodeScope *scope)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < scope->nodes->len; i++)
    {
      const uint32_t node = g_array_index (scope->nodes, uint32_t, i);

      if (quoit_snapshot_get_node_state (snapshot, node) != QUOIT_NODE_DEAD)
        g_ptr_array_add (names, quoit_snapshot_dup_node_full_name (snapshot, node));
    }
  return names;
}

/* The groups that have nodes of @names. */
static GPtrArray *
list_users (const QuoitSnapshot *snapshot, const GPtrArray *names)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *users = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (GPtrArray) more = NULL;
      uint32_t node;

      if (!quoit_snapshot_lookup_node (snapshot, names->pdata[i], &node, NULL))
        continue;
      more = node_users (snapshot, node);
      for (guint k = 0; k < more->len; k++)
        if (!g_hash_table_contains (seen, more->pdata[k]))
          {
            g_ptr_array_add (users, g_strdup (more->pdata[k]));
            g_hash_table_add (seen, users->pdata[users->len - 1]);
          }
    }
  return users;
}

/* How many nodes of @names have another state in @after than in @before. */
static guint
count_changed (const QuoitSnapshot *before, const QuoitSnapshot *after, const GPtrArray *names)
{
  guint n = 0;

  for (guint i = 0; i < names->len; i++)
    {
      uint32_t old, new;

      n += quoit_snapshot_lookup_node (before, names->pdata[i], &old, NULL)
           && quoit_snapshot_lookup_node (after, names->pdata[i], &new, NULL)
           && quoit_snapshot_get_node_state (before, old) != quoit_snapshot_get_node_state (after, new);
    }
  return n;
}

static bool
change_many (Session *session, QuoitLedger *ledger, const QuoitSnapshot *before, const NodeScope *scope,
             DrainFunc change, GError **error)
{
  g_autoptr (GPtrArray) names = list_live (before, scope);
  g_autoptr (QuoitSnapshot) after = NULL;
  g_autoptr (GPtrArray) users = NULL;
  gint64 now_ms;
  Document *document;
  Table *facts;

  if (!session_now (session, &now_ms, error)
      || (names->len > 0 && !change (ledger, (const char *const *) names->pdata, names->len, now_ms, error)))
    return false;
  after = quoit_ledger_snapshot (ledger);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, scope->name);
  table_add_number (facts, scope->nodes->len);
  table_add_number (facts, count_changed (before, after, names));
  table_add_number (facts, scope->nodes->len - names->len);
  users = list_users (after, names);
  table_take_list (facts, g_ptr_array_ref (users));
  document = document_new ();
  document_take_facts (document, facts);
  groups_take_problems (document, after, users);
  return session_print (session, document, error);
}

static bool
change_one (QuoitLedger *ledger, const char *node, gint64 now_ms, gconstpointer input, GError **error)
{
  const DrainFunc *change = input;

  return (*change) (ledger, &node, 1, now_ms, error);
}

bool
drain_change (Session *session, DrainFunc change, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitSnapshot) before = NULL;
  g_auto (NodeScope) scope = { 0 };

  if (!session_begin (session, error) || (ledger = session_open (session, error)) == NULL)
    return false;
  before = quoit_ledger_snapshot (ledger);
  if (!node_scope_find (before, session->words, &scope, error))
    return false;
  if (scope.nodes->len > 1)
    return change_many (session, ledger, before, &scope, change, error);
  g_free (session->words[0]);
  session->words[0] = quoit_snapshot_dup_node_full_name (before, g_array_index (scope.nodes, uint32_t, 0));
  return node_change (session, ledger, change_one, &change, error);
}
