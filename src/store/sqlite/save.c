/* SPDX-License-Identifier: Apache-2.0 */
/* Applies effects to the state tables, so that readers of the database need not replay the journal. */
#include <string.h>

#include "store/codec.h"
#include "store/sqlite/sqlite.h"

static void
bind_text (sqlite3_stmt *stmt, int column, const char *text)
{
  if (text == NULL)
    sqlite3_bind_null (stmt, column);
  else
    sqlite3_bind_text (stmt, column, text, -1, SQLITE_STATIC);
}

static void
bind_bundle (sqlite3_stmt *stmt, int first, const QuoitGroupData *group, guint32 i, guint32 slice)
{
  sqlite3_bind_int64 (stmt, first, (gint64) group->id);
  sqlite3_bind_int64 (stmt, first + 1, i);
  sqlite3_bind_int64 (stmt, first + 2, slice);
  sqlite3_bind_int64 (stmt, first + 3, group->node_ids[i]);
  if (group->bundles != NULL)
    {
      GByteArray *part = quoit_codec_encode_bundle (&group->bundles[i]);
      guint length = part->len;

      sqlite3_bind_blob (stmt, first + 4, g_byte_array_free (part, FALSE), (int) length, g_free);
    }
}

static gboolean
save_bundles (QuoitDb *db, const QuoitGroupData *group, GError **error)
{
  guint32 slice = 0;

  for (guint32 i = 0; i < group->n_nodes;)
    {
      const guint32 n = group->n_nodes - i < QUOIT_BUNDLES_PER_INSERT ? 1 : QUOIT_BUNDLES_PER_INSERT;
      const QuoitSql sql = n == 1 ? SQL_BUNDLE_INSERT : SQL_BUNDLES_INSERT;
      sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);

      if (stmt == NULL)
        return FALSE;
      for (guint32 row = 0; row < n; row++, i++)
        {
          while (slice + 1 < group->n_slices && i >= group->slice_end[slice])
            slice++;
          bind_bundle (stmt, (int) (5 * row + 1), group, i, slice);
        }
      if (!quoit_db_run (db, sql, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_group (QuoitDb *db, const QuoitGroupData *group, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_GROUP_INSERT, error);
  g_autoptr (GByteArray) labels = NULL;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) group->id);
  sqlite3_bind_int (stmt, 2, group->state);
  sqlite3_bind_int64 (stmt, 3, group->created_ms);
  sqlite3_bind_int64 (stmt, 4, group->ended_ms);
  bind_text (stmt, 5, group->name);
  bind_text (stmt, 6, group->owner);
  bind_text (stmt, 7, group->key);
  bind_text (stmt, 8, group->request);
  sqlite3_bind_int64 (stmt, 9, group->until_ms);
  sqlite3_bind_int (stmt, 10, group->kind);
  sqlite3_bind_int (stmt, 11, group->end);
  bind_text (stmt, 12, group->source);
  bind_text (stmt, 13, group->foreign_id);
  sqlite3_bind_int64 (stmt, 14, group->expected_end_ms);
  sqlite3_bind_int (stmt, 15, group->priority);
  labels = group->n_labels == 0 ? NULL : quoit_codec_encode_labels (group->labels, group->n_labels);
  sqlite3_bind_blob (stmt, 16, labels == NULL ? (gconstpointer) "" : labels->data,
                     labels == NULL ? 0 : (int) labels->len, SQLITE_STATIC);
  bind_text (stmt, 17, group->reason);
  sqlite3_bind_int64 (stmt, 18, group->begins_ms);
  if (!quoit_db_run (db, SQL_GROUP_INSERT, error))
    return FALSE;

  return save_bundles (db, group, error);
}

/* Runs a statement for the row with this id. */
static gboolean
run_for_row (QuoitDb *db, QuoitSql sql, gint64 id, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, id);
  return quoit_db_run (db, sql, error);
}

/* Runs a statement for the rows of groups @first to @last. */
static gboolean
delete_groups (QuoitDb *db, QuoitSql sql, guint64 first, guint64 last, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) first);
  sqlite3_bind_int64 (stmt, 2, (gint64) last);
  return quoit_db_run (db, sql, error);
}

/* Returns how many removals from effect @i on have consecutive ids, the same end and the same reason. Leases granted
 * together often expire together, and one statement per group would take most of the time. */
static guint
count_removals (const QuoitEntry *entry, guint i)
{
  const QuoitEffect *first = &entry->effects[i];
  guint n = 1;

  while (i + n < entry->n_effects && first[n].type == QUOIT_EFFECT_GROUP_REMOVED && first[n].end == first->end
         && first[n].group_id == first->group_id + n && g_strcmp0 (first[n].reason, first->reason) == 0)
    n++;
  return n;
}

/* Removes the group of @removal, and those with the following ids up to @last. */
static gboolean
save_removals (QuoitDb *db, const QuoitEffect *removal, guint64 last, gint64 time_ms, GError **error)
{
  const guint64 first = removal->group_id;
  sqlite3_stmt *stmt;

  if (!delete_groups (db, SQL_BUNDLES_DELETE, first, last, error))
    return FALSE;
  stmt = quoit_db_stmt (db, SQL_GROUP_KEEP_KEY, error);
  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) first);
  sqlite3_bind_int64 (stmt, 2, (gint64) last);
  sqlite3_bind_int64 (stmt, 3, time_ms);
  sqlite3_bind_int (stmt, 4, removal->end);
  bind_text (stmt, 5, removal->reason == NULL ? "" : removal->reason);
  /* All rows of expired groups, and of groups that were released with a reason, are kept. */
  return quoit_db_run (db, SQL_GROUP_KEEP_KEY, error)
         && (removal->end == QUOIT_END_EXPIRED || removal->reason != NULL
             || delete_groups (db, SQL_GROUP_DELETE, first, last, error));
}

static gboolean
save_change (QuoitDb *db, const QuoitGroupData *group, GError **error)
{
  return delete_groups (db, SQL_BUNDLES_DELETE, group->id, group->id, error)
         && run_for_row (db, SQL_GROUP_DROP, (gint64) group->id, error) && save_group (db, group, error);
}

static gboolean
save_lease (QuoitDb *db, const QuoitEffect *effect, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_GROUP_LEASE, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) effect->group_id);
  sqlite3_bind_int (stmt, 2, effect->group_state);
  sqlite3_bind_int64 (stmt, 3, effect->until_ms);
  return quoit_db_run (db, SQL_GROUP_LEASE, error);
}

static gboolean
save_state (QuoitDb *db, guint32 node_id, QuoitNodeState state, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_NODE_STATE, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, node_id);
  sqlite3_bind_int (stmt, 2, state);
  return quoit_db_run (db, SQL_NODE_STATE, error);
}

static gboolean
save_numbers (QuoitDb *db, const QuoitLedgerNumbers *numbers, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_LEDGER_SET, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, numbers->epoch);
  sqlite3_bind_int64 (stmt, 2, numbers->max_jump_ms);
  sqlite3_bind_int64 (stmt, 3, numbers->keep_ms);
  return quoit_db_run (db, SQL_LEDGER_SET, error);
}

/* Runs an insert that returns the id of its row. */
static gboolean
run_for_id (QuoitDb *db, QuoitSql sql, gint64 *id, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);
  int result = sqlite3_step (stmt);

  *id = 0;
  if (result == SQLITE_ROW)
    {
      *id = sqlite3_column_int64 (stmt, 0);
      result = sqlite3_step (stmt);
    }
  if (result != SQLITE_DONE)
    quoit_db_fail (db, result, "import", error);
  sqlite3_reset (stmt);
  sqlite3_clear_bindings (stmt);
  return result == SQLITE_DONE;
}

static gboolean
save_source (QuoitDb *db, const QuoitClaims *claims, gint64 *id, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_SOURCE_UPSERT, error);

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, 1, quoit_claims_source (claims));
  sqlite3_bind_int (stmt, 2, quoit_claims_source_kind (claims));
  return run_for_id (db, SQL_SOURCE_UPSERT, id, error);
}

static gboolean
save_pools (QuoitDb *db, const QuoitClaims *claims, gint64 source, gint64 *ids, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_POOL_UPSERT, error);

  for (guint32 p = 0; stmt != NULL && p < quoit_claims_n_pools (claims); p++)
    {
      const QuoitPoolClaim *pool = quoit_claims_pool_at (claims, p);
      g_autoptr (GByteArray) body = quoit_codec_encode_pool (pool);

      sqlite3_bind_int64 (stmt, 1, source);
      bind_text (stmt, 2, pool->name);
      sqlite3_bind_blob (stmt, 3, body->data, (int) body->len, SQLITE_STATIC);
      if (!run_for_id (db, SQL_POOL_UPSERT, &ids[p], error))
        return FALSE;
    }
  return stmt != NULL;
}

static gboolean
save_kinds (QuoitDb *db, const QuoitClaims *claims, gint64 *ids, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_KIND_UPSERT, error);

  for (guint32 k = 0; stmt != NULL && k < quoit_claims_n_kinds (claims); k++)
    {
      g_autoptr (GByteArray) body = quoit_codec_encode_kind (quoit_claims_kind_at (claims, k));

      sqlite3_bind_blob (stmt, 1, body->data, (int) body->len, SQLITE_STATIC);
      if (!run_for_id (db, SQL_KIND_UPSERT, &ids[k], error))
        return FALSE;
    }
  return stmt != NULL;
}

static void
bind_node (sqlite3_stmt *stmt, const QuoitNodeClaim *node, guint32 id, gint64 pool, gint64 kind, gint64 source)
{
  sqlite3_bind_int64 (stmt, 1, id);
  sqlite3_bind_int64 (stmt, 2, pool);
  sqlite3_bind_int64 (stmt, 3, kind);
  sqlite3_bind_int (stmt, 4, node->worker_id);
  sqlite3_bind_int (stmt, 5, node->state);
  sqlite3_bind_int (stmt, 6, node->flags);
  bind_text (stmt, 7, node->name);
  bind_text (stmt, 8, node->identity);
  bind_text (stmt, 9, node->address);
  bind_text (stmt, 10, node->slice);
  bind_text (stmt, 11, node->incarnation);
  sqlite3_bind_int64 (stmt, 12, source);
}

/* If the node's row belongs to another source, that row stays, and this source's claim goes into table claim. */
static gboolean
save_nodes (QuoitDb *db, const QuoitSourceUpdate *update, gint64 source, const gint64 *pools, const gint64 *kinds,
            GError **error)
{
  static const QuoitSql upserts[] = { SQL_NODE_UPSERT, SQL_CLAIM_UPSERT };
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (update->claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      gboolean is_saved = FALSE;

      for (guint u = 0; u < G_N_ELEMENTS (upserts) && !is_saved; u++)
        {
          sqlite3_stmt *stmt = quoit_db_stmt (db, upserts[u], error);

          if (stmt == NULL)
            return FALSE;
          bind_node (stmt, &nodes[i], update->ids[i], pools[nodes[i].pool], kinds[nodes[i].kind], source);
          if (!quoit_db_run (db, upserts[u], error))
            return FALSE;
          is_saved = sqlite3_changes64 (db->handle) > 0;
        }
    }
  return TRUE;
}

/* Removes the source's claim to the node. The node is deleted with its last claim. */
static gboolean
drop_node (QuoitDb *db, guint32 id, gint64 source, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_CLAIM_DELETE, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, id);
  sqlite3_bind_int64 (stmt, 2, source);
  if (!quoit_db_run (db, SQL_CLAIM_DELETE, error))
    return FALSE;
  if (sqlite3_changes64 (db->handle) > 0)
    return TRUE;
  if (!run_for_row (db, SQL_CLAIM_PROMOTE, id, error))
    return FALSE;
  return run_for_row (db, sqlite3_changes64 (db->handle) > 0 ? SQL_CLAIM_DROP_FIRST : SQL_NODE_DELETE, id, error);
}

/* Sets the state and its cause in the source's claim to the node, in table claim or else in the node's row. */
static gboolean
save_claimed_state (QuoitDb *db, QuoitReportedState change, gint64 source, GError **error)
{
  static const QuoitSql updates[] = { SQL_NODE_CLAIMED, SQL_CLAIM_CLAIMED };
  const gboolean has_cause = change.cause != QUOIT_CAUSE_UNCHANGED;

  for (guint i = 0; i < G_N_ELEMENTS (updates); i++)
    {
      sqlite3_stmt *stmt = quoit_db_stmt (db, updates[i], error);

      if (stmt == NULL)
        return FALSE;
      sqlite3_bind_int64 (stmt, 1, change.id);
      sqlite3_bind_int (stmt, 2, change.state);
      sqlite3_bind_int64 (stmt, 3, source);
      sqlite3_bind_int (stmt, 4, has_cause ? QUOIT_NODE_CAUSE : 0);
      sqlite3_bind_int (stmt, 5, has_cause ? quoit_node_cause_flags (change.cause) : 0);
      if (!quoit_db_run (db, updates[i], error))
        return FALSE;
      if (sqlite3_changes64 (db->handle) > 0)
        return TRUE;
    }
  return TRUE;
}

/* Returns whether the update can leave a kind without nodes. */
static gboolean
can_drop_kinds (const QuoitSourceUpdate *update)
{
  guint32 n;

  quoit_claims_nodes (update->claims, &n);
  return n > 0 || update->n_removed > 0;
}

/* Deletes pools that the source no longer has. */
static gboolean
drop_pools (QuoitDb *db, gint64 source, const gint64 *pools, guint32 n_pools, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_POOLS, error);
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GHashTable) current = g_hash_table_new (g_int64_hash, g_int64_equal);
  int result = SQLITE_DONE;

  for (guint32 p = 0; p < n_pools; p++)
    g_hash_table_add (current, (gpointer) &pools[p]);
  while (stmt != NULL && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      gint64 id = sqlite3_column_int64 (stmt, 0);

      if (sqlite3_column_int64 (stmt, 1) == source && !g_hash_table_contains (current, &id))
        g_array_append_val (gone, id);
    }
  sqlite3_reset (stmt);
  if (stmt == NULL || (result != SQLITE_DONE && !quoit_db_fail (db, result, "import", error)))
    return FALSE;
  for (guint i = 0; i < gone->len; i++)
    if (!run_for_row (db, SQL_POOL_DELETE, g_array_index (gone, gint64, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
save_import (QuoitDb *db, const QuoitSourceUpdate *update, GError **error)
{
  guint32 n_pools = quoit_claims_n_pools (update->claims);
  g_autofree gint64 *pools = g_new0 (gint64, n_pools + 1);
  g_autofree gint64 *kinds = g_new0 (gint64, quoit_claims_n_kinds (update->claims) + 1);
  gint64 source = 0;

  if (!save_source (db, update->claims, &source, error) || !save_pools (db, update->claims, source, pools, error)
      || !save_kinds (db, update->claims, kinds, error) || !save_nodes (db, update, source, pools, kinds, error))
    return FALSE;
  for (guint32 i = 0; i < update->n_removed; i++)
    if (!drop_node (db, update->removed[i], source, error))
      return FALSE;
  for (guint32 i = 0; i < update->n_states; i++)
    if (!save_claimed_state (db, update->states[i], source, error))
      return FALSE;
  return (update->keeps_pools || drop_pools (db, source, pools, n_pools, error))
         && (update->removed == NULL || !can_drop_kinds (update) || quoit_db_run (db, SQL_KINDS_SWEEP, error));
}

gboolean
quoit_sqlite_save_effects (QuoitDb *db, const QuoitEntry *entry, GError **error)
{
  for (guint i = 0, n; i < entry->n_effects; i += n)
    {
      const QuoitEffect *effect = &entry->effects[i];
      gboolean saved = FALSE;

      n = 1;
      switch (effect->type)
        {
        case QUOIT_EFFECT_IMPORT:
          saved = save_import (db, effect->import, error);
          break;
        case QUOIT_EFFECT_GROUP_ADDED:
          saved = save_group (db, effect->group, error);
          break;
        case QUOIT_EFFECT_GROUP_REMOVED:
          n = count_removals (entry, i);
          saved = save_removals (db, effect, effect->group_id + n - 1, entry->time_ms, error);
          break;
        case QUOIT_EFFECT_GROUP_CHANGED:
          saved = save_change (db, effect->group, error);
          break;
        case QUOIT_EFFECT_GROUP_LEASE:
          saved = save_lease (db, effect, error);
          break;
        case QUOIT_EFFECT_GROUP_FORGOTTEN:
          saved = run_for_row (db, SQL_GROUP_DROP, (gint64) effect->group_id, error);
          break;
        case QUOIT_EFFECT_NODE_STATE:
          saved = save_state (db, effect->node_id, effect->state, error);
          break;
        case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
          saved = save_numbers (db, &effect->numbers, error);
          break;
        }
      if (!saved)
        return FALSE;
    }
  return TRUE;
}
