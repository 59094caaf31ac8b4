/* SPDX-License-Identifier: Apache-2.0 */
/* The state tables as a fleet. */
#include <string.h>

#include "base/time.h"
#include "store/codec.h"
#include "store/store-private.h"

typedef struct {
  QuoitClaims *claims;
  GArray *ids;   /* of its nodes */
  GArray *kinds; /* kind of the database -> kind of the claims, plus 1 */
} SourceDraft;

typedef struct {
  guint source;  /* draft */
  guint32 index; /* among the claims' pools */
} PoolDraft;

typedef struct {
  guint32 id;
  guint8 state;
} StateDraft;

/* Where the ledger stands: its last entry. */
typedef struct {
  gint64 seq, clock_ms, next_group_id, next_node_id;
} Counters;

typedef struct {
  QuoitDb *db;
  Counters counters;
  GArray *sources;          /* of SourceDraft */
  GHashTable *source_index; /* id -> draft + 1 */
  GArray *pools;            /* id -> PoolDraft; source G_MAXUINT: none */
  GPtrArray *kinds;         /* id -> body, GBytes */
  GArray *states;           /* nodes whose state may not be what is claimed */
  GHashTable *claimants;    /* id of a node with several claims -> the kinds of its sources, as bits */
} Loader;

static void
source_clear (gpointer data)
{
  SourceDraft *draft = data;

  quoit_claims_free (draft->claims);
  g_array_unref (draft->ids);
  g_array_unref (draft->kinds);
}

/* The rows of @which, one by one; the statement is reset at the end. */
static gboolean
each_row (Loader *loader, QuoitSql which, gboolean (*row) (Loader *, sqlite3_stmt *, GError **), GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (loader->db, which, error);
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return FALSE;
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    ok = row (loader, stmt, error);
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (loader->db, result, "reading the state", error);
  sqlite3_reset (stmt);
  return ok;
}

static gboolean
damaged (const char *table, gint64 id, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "row %" G_GINT64_FORMAT " of table '%s' is damaged: restore a backup",
                     id, table);
}

/* A file may hold any integer where a small one belongs. */
static gboolean
is_within (sqlite3_stmt *stmt, int column, gint64 least, gint64 most)
{
  gint64 value = sqlite3_column_int64 (stmt, column);

  return value >= least && value <= most;
}

static gboolean
load_counters (QuoitDb *db, Counters *counters, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_LAST, error);
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    *counters = (Counters) { sqlite3_column_int64 (stmt, 0), sqlite3_column_int64 (stmt, 1),
                             sqlite3_column_int64 (stmt, 2), sqlite3_column_int64 (stmt, 3) };
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return quoit_db_fail (db, result, "reading the journal", error);
  return (counters->seq >= 0 && quoit_time_is_sound (counters->clock_ms) && counters->next_group_id >= 0
          && counters->next_node_id >= 0 && counters->next_node_id <= G_MAXINT32)
         || damaged ("journal", counters->seq, error);
}

static void
set_counters (QuoitFleet *fleet, const Counters *counters)
{
  fleet->seq = (guint64) counters->seq;
  fleet->clock_ms = counters->clock_ms;
  fleet->next_group_id = MAX (fleet->next_group_id, (guint64) counters->next_group_id);
  fleet->next_node_id = MAX (fleet->next_node_id, (guint32) counters->next_node_id);
}

static gboolean
load_numbers (QuoitDb *db, QuoitFleet *fleet, GError **error)
{
  QuoitIdentity identity;

  if (!quoit_sqlite_read_identity (db, &identity, error))
    return FALSE;
  fleet->epoch = identity.epoch;
  fleet->max_jump_ms = identity.max_jump_ms;
  return TRUE;
}

/* The index that keeps names apart may be damaged too. */
static gboolean
has_source (const Loader *loader, const char *name)
{
  for (guint i = 0; i < loader->sources->len; i++)
    if (strcmp (quoit_claims_source (g_array_index (loader->sources, SourceDraft, i).claims), name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
source_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  SourceDraft draft;
  const char *name = quoit_db_text (stmt, 1);
  int kind = sqlite3_column_int (stmt, 2);

  if (!is_within (stmt, 2, QUOIT_SOURCE_KIND_FLEET, QUOIT_SOURCE_KIND_K8S_NODES) || name == NULL
      || has_source (loader, name))
    return damaged ("source", sqlite3_column_int64 (stmt, 0), error);
  draft.ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  draft.kinds = g_array_new (FALSE, TRUE, sizeof (guint32));
  draft.claims = quoit_claims_new (name, (QuoitSourceKind) kind);
  g_array_append_val (loader->sources, draft);
  g_hash_table_insert (loader->source_index, GSIZE_TO_POINTER (sqlite3_column_int64 (stmt, 0)),
                       GUINT_TO_POINTER (loader->sources->len));
  return TRUE;
}

static gboolean
pool_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  static const PoolDraft none = { G_MAXUINT, 0 };
  gint64 id = sqlite3_column_int64 (stmt, 0);
  guint source = GPOINTER_TO_UINT (
      g_hash_table_lookup (loader->source_index, GSIZE_TO_POINTER (sqlite3_column_int64 (stmt, 1))));
  PoolDraft draft = { source - 1, 0 };
  const char *name = quoit_db_text (stmt, 2);

  if (source == 0 || name == NULL || id < 1 || id > QUOIT_MOST_NODES)
    return damaged ("pool", id, error);
  if (!quoit_codec_decode_pool (sqlite3_column_blob (stmt, 3), (gsize) sqlite3_column_bytes (stmt, 3),
                                g_array_index (loader->sources, SourceDraft, draft.source).claims, name, &draft.index,
                                error))
    return FALSE;
  while (loader->pools->len <= id)
    g_array_append_val (loader->pools, none);
  g_array_index (loader->pools, PoolDraft, id) = draft;
  return TRUE;
}

static gboolean
kind_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  gint64 id = sqlite3_column_int64 (stmt, 0);

  if (id < 1 || id > QUOIT_MOST_NODES)
    return damaged ("kind", id, error);
  if (loader->kinds->len <= id)
    g_ptr_array_set_size (loader->kinds, (gint) id + 1);
  loader->kinds->pdata[id] = g_bytes_new (sqlite3_column_blob (stmt, 1), (gsize) sqlite3_column_bytes (stmt, 1));
  return TRUE;
}

/* A kind is decoded for a source when the source's first node of it comes. */
static gboolean
kind_of (Loader *loader, SourceDraft *source, gint64 id, guint32 *index, GError **error)
{
  gconstpointer bytes;
  gsize length;

  if (id < 1 || id >= loader->kinds->len || loader->kinds->pdata[id] == NULL)
    return FALSE;
  if (source->kinds->len <= id)
    g_array_set_size (source->kinds, (guint) id + 1);
  *index = g_array_index (source->kinds, guint32, id);
  if (*index != 0)
    return --*index, TRUE;
  bytes = g_bytes_get_data (loader->kinds->pdata[id], &length);
  if (!quoit_codec_decode_kind (bytes, length, source->claims, index, error))
    return FALSE;
  g_array_index (source->kinds, guint32, id) = *index + 1;
  return TRUE;
}

static const PoolDraft *
pool_of (const Loader *loader, gint64 id)
{
  const PoolDraft *draft = id > 0 && id < loader->pools->len ? &g_array_index (loader->pools, PoolDraft, id) : NULL;

  return draft == NULL || draft->source == G_MAXUINT ? NULL : draft;
}

/* What a row of table node says of the node, or one of table claim. */
static gboolean
claim_of_row (Loader *loader, sqlite3_stmt *stmt, const char *table, GError **error)
{
  gint64 id = sqlite3_column_int64 (stmt, 0);
  const PoolDraft *draft = pool_of (loader, sqlite3_column_int64 (stmt, 1));
  guint32 small_id = (guint32) id;
  QuoitNodeClaim node = {
    .worker_id = sqlite3_column_int (stmt, 3),
    .state = (guint8) sqlite3_column_int (stmt, 4),
    .flags = (guint8) sqlite3_column_int (stmt, 6),
    .name = quoit_db_text (stmt, 7),
    .identity = quoit_db_text (stmt, 8),
    .address = quoit_db_text (stmt, 9),
    .slice = quoit_db_text (stmt, 10),
    .incarnation = quoit_db_text (stmt, 11),
  };
  SourceDraft *source;

  if (id < 1 || id >= loader->counters.next_node_id || draft == NULL || node.name == NULL
      || !is_within (stmt, 3, -1, QUOIT_MOST_WORKER_ID) || !is_within (stmt, 4, 0, QUOIT_NODE_DEAD)
      || !is_within (stmt, 5, 0, QUOIT_NODE_DEAD) || !is_within (stmt, 6, 0, G_MAXUINT8))
    return damaged (table, id, error);
  source = &g_array_index (loader->sources, SourceDraft, draft->source);
  if (!kind_of (loader, source, sqlite3_column_int64 (stmt, 2), &node.kind, error))
    return error != NULL && *error != NULL ? FALSE : damaged (table, id, error);
  node.pool = draft->index;
  quoit_claims_add (source->claims, &node);
  g_array_append_val (source->ids, small_id);
  return TRUE;
}

static void
note_state (Loader *loader, sqlite3_stmt *stmt)
{
  StateDraft change = { (guint32) sqlite3_column_int64 (stmt, 0), (guint8) sqlite3_column_int (stmt, 5) };

  g_array_append_val (loader->states, change);
}

static gboolean
node_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  if (!claim_of_row (loader, stmt, "node", error))
    return FALSE;
  if (sqlite3_column_int (stmt, 5) != sqlite3_column_int (stmt, 4))
    note_state (loader, stmt);
  return TRUE;
}

static guint
kind_bit (const Loader *loader, const PoolDraft *pool)
{
  return 1u << quoit_claims_source_kind (g_array_index (loader->sources, SourceDraft, pool->source).claims);
}

/* A claim beside that of the node's own row, which has been read: one of each kind of source. */
static gboolean
claim_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  gint64 id = sqlite3_column_int64 (stmt, 0);
  const PoolDraft *pool = pool_of (loader, sqlite3_column_int64 (stmt, 1));
  const PoolDraft *home = pool_of (loader, sqlite3_column_int64 (stmt, 12));
  guint kinds, kind;

  if (sqlite3_column_type (stmt, 5) == SQLITE_NULL || pool == NULL || home == NULL)
    return damaged ("claim", id, error);
  kinds = GPOINTER_TO_UINT (g_hash_table_lookup (loader->claimants, GSIZE_TO_POINTER (id)));
  kinds = kinds == 0 ? kind_bit (loader, home) : kinds;
  kind = kind_bit (loader, pool);
  if ((kinds & kind) != 0
      || GPOINTER_TO_UINT (
             g_hash_table_lookup (loader->source_index, GSIZE_TO_POINTER (sqlite3_column_int64 (stmt, 13))))
             != pool->source + 1)
    return damaged ("claim", id, error);
  g_hash_table_insert (loader->claimants, GSIZE_TO_POINTER (id), GUINT_TO_POINTER (kinds | kind));
  if (!claim_of_row (loader, stmt, "claim", error))
    return FALSE;
  /* The claims have the last word together: what the node's own row says may not be it. */
  note_state (loader, stmt);
  return TRUE;
}

static QuoitLayout *
lay_out (Loader *loader)
{
  g_autofree QuoitLayoutPart *parts = g_new (QuoitLayoutPart, loader->sources->len + 1);

  for (guint i = 0; i < loader->sources->len; i++)
    {
      const SourceDraft *draft = &g_array_index (loader->sources, SourceDraft, i);

      parts[i] = (QuoitLayoutPart) { draft->claims, (const guint32 *) draft->ids->data };
    }
  return quoit_layout_new (parts, loader->sources->len);
}

/* --- groups --- */

typedef struct {
  QuoitDb *db;
  QuoitFleet *fleet;
  sqlite3_stmt *bundles; /* stands on the first row that is not used yet */
  int result;            /* of its last step */
  GArray *ids, *ends, *parts;
  GPtrArray *takes;
} GroupLoader;

/* The rows of @group, which come in the order of groups. */
static gboolean
gather_bundles (GroupLoader *loader, QuoitGroupData *group, GError **error)
{
  gint64 slice = 0;
  guint n_parts = 0;

  g_array_set_size (loader->ids, 0);
  g_array_set_size (loader->ends, 0);
  g_array_set_size (loader->parts, 0);
  g_ptr_array_set_size (loader->takes, 0);
  for (; loader->result == SQLITE_ROW && (guint64) sqlite3_column_int64 (loader->bundles, 0) == group->id;
       loader->result = sqlite3_step (loader->bundles))
    {
      guint32 node = (guint32) sqlite3_column_int64 (loader->bundles, 2);
      gboolean has_part = sqlite3_column_type (loader->bundles, 3) != SQLITE_NULL;
      QuoitBundle part = { 0 };

      /* A bundle that is not placed has no node; a host of a slice is one. */
      if (!is_within (loader->bundles, 2, has_part ? 0 : 1, G_MAXINT32))
        return damaged ("bundle", (gint64) group->id, error);
      if (loader->ids->len > 0 && sqlite3_column_int64 (loader->bundles, 1) != slice)
        g_array_append_val (loader->ends, loader->ids->len);
      slice = sqlite3_column_int64 (loader->bundles, 1);
      g_array_append_val (loader->ids, node);
      if (has_part)
        {
          n_parts++;
          if (!quoit_codec_decode_bundle (sqlite3_column_blob (loader->bundles, 3),
                                          (gsize) sqlite3_column_bytes (loader->bundles, 3), &part, loader->takes,
                                          error))
            return FALSE;
        }
      g_array_append_val (loader->parts, part);
    }
  if (loader->result != SQLITE_ROW && loader->result != SQLITE_DONE)
    return quoit_db_fail (loader->db, loader->result, "reading the bundles", error);
  if (loader->ids->len > 0)
    g_array_append_val (loader->ends, loader->ids->len);
  if (n_parts != 0 && n_parts != loader->ids->len)
    return damaged ("bundle", (gint64) group->id, error);
  group->n_nodes = loader->ids->len;
  group->n_slices = group->kind == QUOIT_HOLDER_SLICES ? loader->ends->len : 0;
  group->node_ids = (const guint32 *) loader->ids->data;
  group->slice_end = (const guint32 *) loader->ends->data;
  group->bundles = n_parts == 0 ? NULL : (const QuoitBundle *) loader->parts->data;
  return TRUE;
}

static gboolean
load_group (GroupLoader *loader, sqlite3_stmt *stmt, GError **error)
{
  QuoitGroupData group = {
    .id = (guint64) sqlite3_column_int64 (stmt, 0),
    .state = (QuoitGroupState) sqlite3_column_int (stmt, 1),
    .since_ms = sqlite3_column_int64 (stmt, 2),
    .ended_ms = sqlite3_column_int64 (stmt, 3),
    .name = quoit_db_text (stmt, 4),
    .owner = quoit_db_text (stmt, 5),
    .key = quoit_db_text (stmt, 6),
    .request = quoit_db_text (stmt, 7),
    .until_ms = sqlite3_column_int64 (stmt, 8),
    .kind = (guint8) sqlite3_column_int (stmt, 9),
    .end = (guint8) sqlite3_column_int (stmt, 10),
    .source = quoit_db_text (stmt, 11),
    .foreign_id = quoit_db_text (stmt, 12),
  };
  g_autoptr (GError) contradiction = NULL;

  if (!is_within (stmt, 1, QUOIT_GROUP_HELD, QUOIT_GROUP_PENDING) || !is_within (stmt, 9, 0, QUOIT_HOLDER_OWNER)
      || !is_within (stmt, 10, 0, QUOIT_END_SOURCE) || group.name == NULL || group.owner == NULL || group.key == NULL
      || group.request == NULL || group.source == NULL || group.foreign_id == NULL)
    return damaged ("grp", (gint64) group.id, error);
  if (!gather_bundles (loader, &group, error))
    return FALSE;
  if (!quoit_group_data_check (&group, &contradiction)
      || !quoit_fleet_restore_group (loader->fleet, quoit_group_data_new (&group), &contradiction))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the state contradicts itself: %s; restore a backup",
                       contradiction->message);
  return TRUE;
}

static gboolean
load_groups (QuoitDb *db, QuoitFleet *fleet, GError **error)
{
  sqlite3_stmt *groups = quoit_db_stmt (db, SQL_GROUPS, error);
  sqlite3_stmt *bundles = groups == NULL ? NULL : quoit_db_stmt (db, SQL_BUNDLES, error);
  GroupLoader loader = { .db = db, .fleet = fleet, .bundles = bundles };
  gboolean ok = groups != NULL && bundles != NULL;
  int result = SQLITE_DONE;

  if (!ok)
    return FALSE;
  loader.ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  loader.ends = g_array_new (FALSE, FALSE, sizeof (guint32));
  loader.parts = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  loader.takes = g_ptr_array_new_with_free_func (g_free);
  loader.result = sqlite3_step (bundles);
  while (ok && (result = sqlite3_step (groups)) == SQLITE_ROW)
    ok = load_group (&loader, groups, error);
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the groups", error);
  if (ok && loader.result == SQLITE_ROW)
    ok = damaged ("bundle", sqlite3_column_int64 (bundles, 0), error);
  sqlite3_reset (groups);
  sqlite3_reset (bundles);
  g_array_unref (loader.ids);
  g_array_unref (loader.ends);
  g_array_unref (loader.parts);
  g_ptr_array_unref (loader.takes);
  return ok;
}

static void
bytes_unref (gpointer bytes)
{
  if (bytes != NULL)
    g_bytes_unref (bytes);
}

QuoitFleet *
quoit_sqlite_load (QuoitDb *db, GError **error)
{
  Loader loader = { .db = db };
  g_autoptr (QuoitFleet) fleet = NULL;

  loader.sources = g_array_new (FALSE, FALSE, sizeof (SourceDraft));
  g_array_set_clear_func (loader.sources, source_clear);
  loader.source_index = g_hash_table_new (NULL, NULL);
  loader.pools = g_array_new (FALSE, FALSE, sizeof (PoolDraft));
  loader.kinds = g_ptr_array_new_with_free_func (bytes_unref);
  loader.states = g_array_new (FALSE, FALSE, sizeof (StateDraft));
  loader.claimants = g_hash_table_new (NULL, NULL);

  if (load_counters (db, &loader.counters, error) && each_row (&loader, SQL_SOURCES, source_row, error)
      && each_row (&loader, SQL_POOLS, pool_row, error) && each_row (&loader, SQL_KINDS, kind_row, error)
      && each_row (&loader, SQL_NODES, node_row, error) && each_row (&loader, SQL_CLAIMS, claim_row, error))
    {
      g_autoptr (QuoitLayout) layout = lay_out (&loader);

      fleet = quoit_fleet_new (layout);
      for (guint i = 0; i < loader.states->len; i++)
        {
          const StateDraft *change = &g_array_index (loader.states, StateDraft, i);

          quoit_fleet_set_node_state (fleet, (QuoitNodeId) { layout->by_id[change->id] }, change->state);
        }
      if (!load_groups (db, fleet, error))
        g_clear_pointer (&fleet, quoit_fleet_unref);
      else
        set_counters (fleet, &loader.counters);
      if (fleet != NULL && !load_numbers (db, fleet, error))
        g_clear_pointer (&fleet, quoit_fleet_unref);
    }
  g_array_unref (loader.sources);
  g_hash_table_unref (loader.source_index);
  g_array_unref (loader.pools);
  g_ptr_array_unref (loader.kinds);
  g_array_unref (loader.states);
  g_hash_table_unref (loader.claimants);
  return g_steal_pointer (&fleet);
}
