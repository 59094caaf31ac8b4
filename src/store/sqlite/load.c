/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the state tables as a fleet. */
#include <string.h>

#include "base/name-hash.h"
#include "base/time.h"
#include "fleet/source-kinds.h"
#include "fleet/ahead.h"
#include "store/codec.h"
#include "store/sqlite/sqlite.h"

/* Rows that have been read. Each of these types begins with the id of the row, and their arrays are in the order of the
 * ids, because find_loaded() uses binary search. */
typedef struct {
  gint64 id;
  QuoitClaims *claims;
  GArray *ids; /* node ids */
} LoadedSource;

typedef struct {
  gint64 id;
  guint source;  /* index of the LoadedSource */
  guint32 index; /* among the pools of the claims */
} LoadedPool;

typedef struct {
  gint64 id;
  GBytes *body;
} LoadedKind;

/* The last entry and the counters after it. */
typedef struct {
  gint64 seq, clock_ms, next_group_id, next_node_id;
} Counters;

typedef struct {
  QuoitDb *db;
  Counters counters;
  gint64 bytes_left;               /* see count_bytes() */
  GArray *sources;                 /* of LoadedSource */
  GHashTable *names;               /* names of sources */
  GArray *pools;                   /* of LoadedPool */
  GArray *kinds;                   /* of LoadedKind */
  GHashTable *decoded;             /* (index of source, index of kind + 1) -> index of the kind in the claims, plus 1 */
  GArray *states;                  /* of QuoitNodeStateChange: nodes whose state may differ from the claimed one */
  gint64 claim_node, claim_source; /* of the last row of table claim */
  guint claimants;                 /* the kinds of the sources that claim claim_node, as bits */
} Loader;

static void
source_clear (gpointer data)
{
  LoadedSource *loaded = data;

  quoit_claims_free (loaded->claims);
  g_array_unref (loaded->ids);
}

static void
kind_clear (gpointer data)
{
  g_bytes_unref (((LoadedKind *) data)->body);
}

static gboolean
fail_damaged (const char *table, gint64 id, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "row %" G_GINT64_FORMAT " of table '%s' is damaged: restore a backup",
                     id, table);
}

/* Checks a column before its value is narrowed, because it may contain any 64-bit integer. */
static gboolean
column_is_within (sqlite3_stmt *stmt, int column, gint64 least, gint64 most)
{
  gint64 value = sqlite3_column_int64 (stmt, column);

  return value >= least && value <= most;
}

/* A table of the state that is read as a whole. */
typedef struct {
  QuoitSql which;
  const char *name;
  int max_row_bytes; /* more than any change of quoit writes */
  gboolean (*row) (Loader *loader, sqlite3_stmt *stmt, GError **error);
} LoadedTable;

enum { KIB = 1024, MIB = 1024 * KIB };
/* A row of table grp has a request and labels, and a row of table bundle the amounts of up to 65,535 resources. */
enum { MAX_GROUP_ROW_BYTES = QUOIT_LONGEST_REQUEST + 64 * KIB };

/* Limits the rows that SQLite returns to @bytes. SQLite then refuses a longer row before it reads all of it, so that
 * such a row costs no memory. Returns the limit before. */
static int
limit_row_bytes (const QuoitDb *db, int bytes)
{
  return sqlite3_limit (db->handle, SQLITE_LIMIT_LENGTH, bytes);
}

/* Fails after sqlite3_step() has returned @result. @id is the last row that was read. */
static gboolean
fail_step (const QuoitDb *db, int result, const char *table, gint64 id, int max_row_bytes, GError **error)
{
  if ((result & 0xff) != SQLITE_TOOBIG)
    return quoit_db_fail (db, result, "reading the state", error);
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "the row after row %" G_GINT64_FORMAT " of table '%s' has more than %d bytes: restore a backup",
                     id, table, max_row_bytes);
}

/* Reads the rows in the order of the ids. In a damaged file, a row may come twice, or pages may form a loop. */
static gboolean
load_rows (Loader *loader, const LoadedTable *table, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (loader->db, table->which, error);
  int result = SQLITE_DONE, limit;
  gint64 id, before = 0;
  gboolean ok = TRUE;

  if (stmt == NULL)
    return FALSE;
  limit = limit_row_bytes (loader->db, table->max_row_bytes);
  for (; ok && (result = sqlite3_step (stmt)) == SQLITE_ROW; before = id)
    {
      id = sqlite3_column_int64 (stmt, 0);
      ok = (id > before || table->which == SQL_CLAIMS ? table->row (loader, stmt, error)
                                                      : fail_damaged (table->name, id, error));
    }
  if (ok && result != SQLITE_DONE)
    ok = fail_step (loader->db, result, table->name, before, table->max_row_bytes, error);
  sqlite3_reset (stmt);
  limit_row_bytes (loader->db, limit);
  return ok;
}

gboolean
quoit_sqlite_file_bytes (QuoitDb *db, gint64 *bytes, GError **error)
{
  static const int which[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };

  *bytes = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (which); i++)
    {
      sqlite3_file *file = NULL;
      sqlite3_int64 size = 0;
      int result = sqlite3_file_control (db->handle, "main", which[i], &file);

      if (result == SQLITE_OK && file != NULL && file->pMethods != NULL)
        result = file->pMethods->xFileSize (file, &size);
      if (result != SQLITE_OK)
        return quoit_db_fail (db, result, "reading the size of the file", error);
      *bytes += size;
    }
  return TRUE;
}

/* Counts bytes that were read. In a sound file, no two rows share bytes, so that reading more bytes than the file has
 * proves damage. This limits the memory that a damaged file can use. */
static gboolean
count_bytes (Loader *loader, gsize bytes, const char *table, gint64 id, GError **error)
{
  loader->bytes_left -= (gint64) bytes;
  return loader->bytes_left >= 0 || fail_damaged (table, id, error);
}

/* Returns the loaded row with this id, or NULL. */
static gpointer
find_loaded (const GArray *loaded_rows, gint64 id)
{
  gsize size = g_array_get_element_size ((GArray *) loaded_rows);
  guint low = 0, high = loaded_rows->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      gint64 here;

      memcpy (&here, loaded_rows->data + middle * size, sizeof here);
      if (here == id)
        return loaded_rows->data + middle * size;
      if (here < id)
        low = middle + 1;
      else
        high = middle;
    }
  return NULL;
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
  return (counters->seq >= 0 && quoit_time_is_valid (counters->clock_ms) && counters->next_group_id >= 0
          && counters->next_node_id >= 0 && counters->next_node_id <= G_MAXINT32)
         || fail_damaged ("journal", counters->seq, error);
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
  memcpy (&fleet->ledger, identity.bytes, sizeof fleet->ledger);
  fleet->max_jump_ms = identity.max_jump_ms;
  fleet->keep_ms = identity.keep_ms;
  return TRUE;
}

static gboolean
source_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  LoadedSource loaded = { .id = sqlite3_column_int64 (stmt, 0) };
  const char *name = quoit_db_text (stmt, 1);
  int kind = sqlite3_column_int (stmt, 2);

  if (loader->sources->len == QUOIT_MAX_SOURCES)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "more than %d sources: restore a backup", QUOIT_MAX_SOURCES);
  /* The unique index on the names may be damaged too. */
  if (!column_is_within (stmt, 2, QUOIT_FIRST_SOURCE_KIND, QUOIT_LAST_SOURCE_KIND) || name == NULL
      || g_hash_table_contains (loader->names, name))
    return fail_damaged ("source", loaded.id, error);
  loaded.ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  loaded.claims = quoit_claims_new (name, (QuoitSourceKind) kind);
  g_array_append_val (loader->sources, loaded);
  g_hash_table_add (loader->names, (gpointer) quoit_claims_source (loaded.claims));
  return count_bytes (loader, strlen (name), "source", loaded.id, error);
}

static guint
source_index (const Loader *loader, const LoadedSource *loaded)
{
  return (guint) (loaded - &g_array_index (loader->sources, LoadedSource, 0));
}

static gboolean
pool_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  LoadedPool loaded = { .id = sqlite3_column_int64 (stmt, 0) };
  const LoadedSource *source = find_loaded (loader->sources, sqlite3_column_int64 (stmt, 1));
  const char *name = quoit_db_text (stmt, 2);
  gsize length = (gsize) sqlite3_column_bytes (stmt, 3);
  guint32 n_before;

  if (source == NULL || name == NULL)
    return fail_damaged ("pool", loaded.id, error);
  if (!count_bytes (loader, strlen (name) + length, "pool", loaded.id, error))
    return FALSE;
  loaded.source = source_index (loader, source);
  n_before = quoit_claims_n_pools (source->claims);
  if (!quoit_codec_decode_pool (sqlite3_column_blob (stmt, 3), length, source->claims, name, &loaded.index, error))
    return FALSE;
  if (loaded.index != n_before)
    return fail_damaged ("pool", loaded.id, error);
  g_array_append_val (loader->pools, loaded);
  return TRUE;
}

static gboolean
kind_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  LoadedKind loaded = { .id = sqlite3_column_int64 (stmt, 0) };
  gsize length = (gsize) sqlite3_column_bytes (stmt, 1);

  if (!count_bytes (loader, length, "kind", loaded.id, error))
    return FALSE;
  loaded.body = g_bytes_new (sqlite3_column_blob (stmt, 1), length);
  g_array_append_val (loader->kinds, loaded);
  return TRUE;
}

/* Hashes a key of decoded: two indices in one number. */
static guint
hash_pair (gconstpointer pair)
{
  return (guint) ((guint64) GPOINTER_TO_SIZE (pair) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) >> 32);
}

/* Decodes a kind when the first node of a source uses it. In a sound file, the journal or the checkpoint also has
 * the kind for that source. */
static gboolean
decode_kind (Loader *loader, const LoadedPool *pool, gint64 id, guint32 *index, GError **error)
{
  const LoadedSource *source = &g_array_index (loader->sources, LoadedSource, pool->source);
  const LoadedKind *kind = find_loaded (loader->kinds, id);
  gconstpointer bytes;
  gpointer pair, known;
  gsize length;

  if (kind == NULL)
    return FALSE;
  pair = GSIZE_TO_POINTER ((gsize) pool->source << 32
                           | (gsize) (kind - &g_array_index (loader->kinds, LoadedKind, 0) + 1));
  known = g_hash_table_lookup (loader->decoded, pair);
  if (known != NULL)
    return *index = GPOINTER_TO_UINT (known) - 1, TRUE;
  bytes = g_bytes_get_data (kind->body, &length);
  if (!count_bytes (loader, length, "kind", id, error)
      || !quoit_codec_decode_kind (bytes, length, source->claims, index, error))
    return FALSE;
  g_hash_table_insert (loader->decoded, pair, GUINT_TO_POINTER (*index + 1));
  return TRUE;
}

static gsize
text_bytes (const char *text)
{
  return text == NULL ? 0 : strlen (text);
}

/* Adds the claim in a row of table node or table claim. */
static gboolean
add_claim (Loader *loader, sqlite3_stmt *stmt, const char *table, GError **error)
{
  gint64 id = sqlite3_column_int64 (stmt, 0);
  const LoadedPool *loaded = find_loaded (loader->pools, sqlite3_column_int64 (stmt, 1));
  guint32 node_id = (guint32) id;
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
  LoadedSource *source;

  if (id < 1 || id >= loader->counters.next_node_id || loaded == NULL || node.name == NULL
      || !column_is_within (stmt, 3, -1, QUOIT_MAX_WORKER_ID) || !column_is_within (stmt, 4, 0, QUOIT_NODE_DEAD)
      || !column_is_within (stmt, 5, 0, QUOIT_NODE_DEAD) || !column_is_within (stmt, 6, 0, G_MAXUINT8))
    return fail_damaged (table, id, error);
  source = &g_array_index (loader->sources, LoadedSource, loaded->source);
  if (!decode_kind (loader, loaded, sqlite3_column_int64 (stmt, 2), &node.kind, error))
    return error != NULL && *error != NULL ? FALSE : fail_damaged (table, id, error);
  node.pool = loaded->index;
  if (strlen (quoit_node_claim_longest_text (&node)) > QUOIT_MAX_NODE_TEXT_BYTES)
    return fail_damaged (table, id, error);
  if (!count_bytes (loader,
                    text_bytes (node.name) + text_bytes (node.identity) + text_bytes (node.address)
                        + text_bytes (node.slice) + text_bytes (node.incarnation),
                    table, id, error))
    return FALSE;
  quoit_claims_add (source->claims, &node);
  g_array_append_val (source->ids, node_id);
  return TRUE;
}

static void
add_state (Loader *loader, sqlite3_stmt *stmt)
{
  QuoitNodeStateChange change
      = { (guint32) sqlite3_column_int64 (stmt, 0), (QuoitNodeState) sqlite3_column_int (stmt, 5) };

  g_array_append_val (loader->states, change);
}

static gboolean
node_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  if (!add_claim (loader, stmt, "node", error))
    return FALSE;
  if (sqlite3_column_int (stmt, 5) != sqlite3_column_int (stmt, 4))
    add_state (loader, stmt);
  return TRUE;
}

static guint
kind_bit (const Loader *loader, const LoadedPool *pool)
{
  return 1u << quoit_claims_source_kind (g_array_index (loader->sources, LoadedSource, pool->source).claims);
}

/* Adds a row of table claim: a claim other than the one in the node's own row, which was read before. A node has at
 * most one claim by each kind of source. Rows are sorted by node and source. */
static gboolean
claim_row (Loader *loader, sqlite3_stmt *stmt, GError **error)
{
  gint64 id = sqlite3_column_int64 (stmt, 0), source_id = sqlite3_column_int64 (stmt, 13);
  const LoadedPool *pool = find_loaded (loader->pools, sqlite3_column_int64 (stmt, 1));
  const LoadedPool *home = find_loaded (loader->pools, sqlite3_column_int64 (stmt, 12));
  const LoadedSource *source = find_loaded (loader->sources, source_id);

  if (sqlite3_column_type (stmt, 5) == SQLITE_NULL || pool == NULL || home == NULL || source == NULL
      || id < loader->claim_node || (id == loader->claim_node && source_id <= loader->claim_source))
    return fail_damaged ("claim", id, error);
  if (id != loader->claim_node)
    loader->claimants = kind_bit (loader, home);
  loader->claim_node = id;
  loader->claim_source = source_id;
  if ((loader->claimants & kind_bit (loader, pool)) != 0 || source_index (loader, source) != pool->source)
    return fail_damaged ("claim", id, error);
  loader->claimants |= kind_bit (loader, pool);
  if (!add_claim (loader, stmt, "claim", error))
    return FALSE;
  /* All claims together determine the claimed state, so the state in the node's own row may differ from it. */
  add_state (loader, stmt);
  return TRUE;
}

static gboolean
fail_inconsistent (const GError *contradiction, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the state contradicts itself: %s; restore a backup",
                     contradiction->message);
}

static QuoitLayout *
build_layout (Loader *loader, GError **error)
{
  g_autoptr (GError) contradiction = NULL;
  QuoitLayout *layout;
  g_autofree QuoitLayoutPart *parts = g_new (QuoitLayoutPart, loader->sources->len + 1);

  for (guint i = 0; i < loader->sources->len; i++)
    {
      const LoadedSource *loaded = &g_array_index (loader->sources, LoadedSource, i);

      parts[i] = (QuoitLayoutPart) { loaded->claims, (const guint32 *) loaded->ids->data };
    }
  layout = quoit_layout_new_checked (parts, loader->sources->len, &contradiction);
  if (layout == NULL)
    fail_inconsistent (contradiction, error);
  return layout;
}

/* --- groups --- */

typedef struct {
  Loader *loader;
  GPtrArray *groups;
  sqlite3_stmt *bundles; /* its current row is the first unused one */
  int result;            /* of its last step */
  guint64 last_id;       /* of the previous group */
  GArray *ids, *ends, *parts;
  GPtrArray *takes;
} GroupLoader;

/* Reads the rows of @group. Rows are sorted by group. */
static gboolean
load_bundles (GroupLoader *loader, QuoitGroupData *group, GError **error)
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
      gint64 slice_before = slice;
      gsize length = (gsize) sqlite3_column_bytes (loader->bundles, 3);
      QuoitBundle part = { 0 };

      slice = sqlite3_column_int64 (loader->bundles, 1);
      /* An unplaced bundle has no node. A host of a slice always has one. */
      if (!column_is_within (loader->bundles, 2, has_part ? 0 : 1, G_MAXINT32)
          || sqlite3_column_int64 (loader->bundles, 4) != loader->ids->len
          || (slice != slice_before && (loader->ids->len == 0 || slice != slice_before + 1)))
        return fail_damaged ("bundle", (gint64) group->id, error);
      if (!count_bytes (loader->loader, length, "bundle", (gint64) group->id, error))
        return FALSE;
      if (slice != slice_before)
        g_array_append_val (loader->ends, loader->ids->len);
      g_array_append_val (loader->ids, node);
      if (has_part)
        {
          n_parts++;
          if (!quoit_codec_decode_bundle (sqlite3_column_blob (loader->bundles, 3), length, &part, loader->takes,
                                          error))
            return FALSE;
        }
      g_array_append_val (loader->parts, part);
    }
  if (loader->result != SQLITE_ROW && loader->result != SQLITE_DONE)
    return fail_step (loader->loader->db, loader->result, "bundle", (gint64) group->id, MAX_GROUP_ROW_BYTES, error);
  if (loader->result == SQLITE_ROW && sqlite3_column_int64 (loader->bundles, 0) < (gint64) group->id)
    return fail_damaged ("bundle", sqlite3_column_int64 (loader->bundles, 0), error);
  /* If live groups without nodes were allowed, a file could have any number of live groups. */
  if (loader->ids->len == 0 && quoit_group_has_slices (group) && group->state != QUOIT_GROUP_REMOVED)
    return fail_damaged ("bundle", (gint64) group->id, error);
  if (loader->ids->len > 0)
    g_array_append_val (loader->ends, loader->ids->len);
  if (n_parts != 0 && n_parts != loader->ids->len)
    return fail_damaged ("bundle", (gint64) group->id, error);
  group->n_nodes = loader->ids->len;
  group->n_slices = quoit_group_has_slices (group) ? loader->ends->len : 0;
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
    .created_ms = sqlite3_column_int64 (stmt, 2),
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
    .expected_end_ms = sqlite3_column_int64 (stmt, 13),
    .priority = (gint32) sqlite3_column_int64 (stmt, 14),
    .reason = quoit_db_text (stmt, 16),
    .begins_ms = sqlite3_column_int64 (stmt, 17),
  };
  g_autoptr (GPtrArray) label_texts = g_ptr_array_new_with_free_func (g_free);
  const gsize labels_length = (gsize) sqlite3_column_bytes (stmt, 15);
  g_autoptr (GError) contradiction = NULL;

  if (group.id <= loader->last_id || !column_is_within (stmt, 1, QUOIT_GROUP_HELD, QUOIT_GROUP_AHEAD)
      || !column_is_within (stmt, 9, 0, QUOIT_LAST_RECORD_KIND) || !column_is_within (stmt, 10, 0, QUOIT_END_SOURCE)
      || !column_is_within (stmt, 14, G_MININT32, G_MAXINT32) || group.name == NULL || group.owner == NULL
      || group.key == NULL || group.request == NULL || group.source == NULL || group.foreign_id == NULL
      || group.reason == NULL)
    return fail_damaged ("grp", (gint64) group.id, error);
  if (loader->groups->len == QUOIT_MAX_GROUPS)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "more than %d groups: restore a backup", QUOIT_MAX_GROUPS);
  loader->last_id = group.id;
  if (!count_bytes (loader->loader,
                    strlen (group.name) + strlen (group.owner) + strlen (group.key) + strlen (group.request)
                        + strlen (group.source) + strlen (group.foreign_id) + strlen (group.reason) + labels_length,
                    "grp", (gint64) group.id, error)
      || !quoit_codec_decode_labels (sqlite3_column_blob (stmt, 15), labels_length, &group, label_texts, error)
      || !load_bundles (loader, &group, error))
    return FALSE;
  if (!quoit_group_data_check (&group, &contradiction))
    return fail_inconsistent (contradiction, error);
  g_ptr_array_add (loader->groups, quoit_group_data_new (&group));
  return TRUE;
}

static gboolean
load_groups (Loader *main_loader, QuoitFleet *fleet, GError **error)
{
  QuoitDb *db = main_loader->db;
  sqlite3_stmt *groups = quoit_db_stmt (db, SQL_GROUPS, error);
  sqlite3_stmt *bundles = groups == NULL ? NULL : quoit_db_stmt (db, SQL_BUNDLES, error);
  GroupLoader loader = { .loader = main_loader, .bundles = bundles };
  const QuoitGroupData *one, *other;
  g_autoptr (GError) contradiction = NULL;
  gboolean ok = groups != NULL && bundles != NULL;
  int result = SQLITE_DONE, limit;

  if (!ok)
    return FALSE;
  limit = limit_row_bytes (db, MAX_GROUP_ROW_BYTES);
  loader.groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref);
  loader.ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  loader.ends = g_array_new (FALSE, FALSE, sizeof (guint32));
  loader.parts = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  loader.takes = g_ptr_array_new_with_free_func (g_free);
  loader.result = sqlite3_step (bundles);
  while (ok && (result = sqlite3_step (groups)) == SQLITE_ROW)
    ok = load_group (&loader, groups, error);
  if (ok && result != SQLITE_DONE)
    ok = fail_step (db, result, "grp", (gint64) loader.last_id, MAX_GROUP_ROW_BYTES, error);
  if (ok && loader.result != SQLITE_DONE && loader.result != SQLITE_ROW)
    ok = fail_step (db, loader.result, "bundle", 0, MAX_GROUP_ROW_BYTES, error);
  if (ok && loader.result == SQLITE_ROW)
    ok = fail_damaged ("bundle", sqlite3_column_int64 (bundles, 0), error);
  if (ok && !quoit_fleet_restore_groups (fleet, loader.groups, &contradiction))
    ok = fail_inconsistent (contradiction, error);
  if (ok && !quoit_fleet_ahead_find_overlap (fleet, &one, &other))
    ok = fail_damaged ("grp", (gint64) other->id, error);
  sqlite3_reset (groups);
  sqlite3_reset (bundles);
  limit_row_bytes (db, limit);
  g_ptr_array_unref (loader.groups);
  g_array_unref (loader.ids);
  g_array_unref (loader.ends);
  g_array_unref (loader.parts);
  g_ptr_array_unref (loader.takes);
  return ok;
}

static const LoadedTable tables[] = {
  { SQL_SOURCES, "source", 4 * KIB, source_row },
  /* A pool has up to 1,000 variables of 128 KiB, from an input of at most 256 MiB. */
  { SQL_POOLS, "pool", 256 * MIB, pool_row },
  { SQL_KINDS, "kind", 64 * MIB, kind_row },
  { SQL_NODES, "node", 32 * KIB, node_row },
  { SQL_CLAIMS, "claim", 32 * KIB, claim_row },
};

static gboolean
load_tables (Loader *loader, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    if (!load_rows (loader, &tables[i], error))
      return FALSE;
  return TRUE;
}

static QuoitFleet *
load_fleet (Loader *loader, GError **error)
{
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;

  if (!quoit_sqlite_file_bytes (loader->db, &loader->bytes_left, error)
      || !load_counters (loader->db, &loader->counters, error) || !load_tables (loader, error)
      || (layout = build_layout (loader, error)) == NULL)
    return NULL;
  fleet = quoit_fleet_new (layout);
  quoit_fleet_set_node_states (fleet, (const QuoitNodeStateChange *) (const void *) loader->states->data,
                               loader->states->len);
  if (!load_groups (loader, fleet, error) || !load_numbers (loader->db, fleet, error))
    return NULL;
  set_counters (fleet, &loader->counters);
  return g_steal_pointer (&fleet);
}

QuoitFleet *
quoit_sqlite_load (QuoitDb *db, GError **error)
{
  Loader loader = { .db = db };
  QuoitFleet *fleet;

  loader.sources = g_array_new (FALSE, FALSE, sizeof (LoadedSource));
  g_array_set_clear_func (loader.sources, source_clear);
  loader.names = g_hash_table_new (quoit_hash_text, g_str_equal);
  loader.pools = g_array_new (FALSE, FALSE, sizeof (LoadedPool));
  loader.kinds = g_array_new (FALSE, FALSE, sizeof (LoadedKind));
  g_array_set_clear_func (loader.kinds, kind_clear);
  loader.decoded = g_hash_table_new (hash_pair, g_direct_equal);
  loader.states = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  fleet = load_fleet (&loader, error);
  g_hash_table_unref (loader.names);
  g_array_unref (loader.sources);
  g_array_unref (loader.pools);
  g_array_unref (loader.kinds);
  g_hash_table_unref (loader.decoded);
  g_array_unref (loader.states);
  return fleet;
}
