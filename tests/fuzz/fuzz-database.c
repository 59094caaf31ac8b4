/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged database: a small valid one, or its write-ahead log, with changed bytes, a missing end, or row values
 * that quoit never writes. quoit refuses it with an error or opens it as a fleet that can be exported; a database
 * that verifies is sound.
 *
 * The input starts with a byte that chooses the kind of damage and the checks. For files, two bytes follow with the
 * remaining length (0: all), and then places and values: two bytes, the lower one first, and a byte for an exclusive
 * or. For rows: TABLE.COLUMN, or any text that maps to one, a byte for the row, one for the type of the value, and
 * the value as text; or =TABLE, a byte for a row, one for the row whose cell it also replaces, and an unused text. */
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>

#include "../support.h"
#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"
#include "placement/request.h"
#include "store/store.h"

typedef struct {
  char *text;
  gsize length;
  GArray *places; /* places of nonzero bytes, because most of a database is free space */
} Bytes;

enum { DATABASE, LOG, ROWS, N_WHAT };
enum { MOST_KB = 256 * 1024 };
enum { EXPORT = 1, PROOF, N_CHECKS = PROOF };

static char *dir, *path, *wal_path;
static Bytes database, wal; /* the database without the last changes, and the log with them */

static sqlite3 *rows; /* the database in memory for changes of rows; without constraints, because a damaged file has
                       * none */
static sqlite3_stmt *tighten; /* restores the constraints */
static GPtrArray *columns;    /* "node.worker" */
static GPtrArray *updates;    /* a statement per column: ?1 is the value, ?2 the row */
static GPtrArray *tables;
static GArray *roots; /* the root page of each table, from 1: gint64 */

/* A repeated row: its cell pointer replaces that of another row. */
typedef struct {
  guint table;
  guint8 row, as;
} DuplicateRow;

static void
clean_up (void)
{
  g_ptr_array_unref (updates);
  g_ptr_array_unref (tables);
  g_array_unref (roots);
  sqlite3_finalize (tighten);
  sqlite3_close (rows);
  remove_dir (dir);
}

static void
import (QuoitStore *store, const char *text, const char *source)
{
  g_autoptr (QuoitClaims) claims = quoit_read_fleet_text (text, strlen (text), source, NULL);
  gboolean ok;

  g_assert (claims != NULL);
  ok = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0, NULL, NULL, NULL);
  g_assert (ok);
}

static QuoitRequest *
want_slice (const char *name, const char *key, const char *owner)
{
  QuoitRequest *request = quoit_request_alloc ();

  request->name = g_strdup (name);
  request->key = g_strdup (key);
  request->owner = g_strdup (owner);
  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { { 2, 4, 1 }, 2 };
  request->chips_per_host = 4;
  request->n_slices = 1;
  return request;
}

static void
reserve (QuoitStore *store, const char *name, const char *key)
{
  g_autoptr (QuoitRequest) request = want_slice (name, key, NULL);
  gboolean ok
      = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, T0, NULL, NULL, NULL);

  g_assert (ok);
}

static void
require_for_owner (QuoitStore *store)
{
  static const QuoitOwnerChange owner = { "somebody", 3600000 };
  g_autoptr (QuoitRequest) request = want_slice ("held", NULL, owner.name);
  gboolean ok
      = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_OWNER, .owner = owner }, T0, NULL, NULL, NULL)
        && quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_HOLD, .hold = { request, 60000 } }, T0, NULL, NULL,
                               NULL);

  g_assert (ok);
}

static void
load (const char *from, Bytes *bytes)
{
  g_assert (g_file_get_contents (from, &bytes->text, &bytes->length, NULL));
  bytes->places = g_array_new (FALSE, FALSE, sizeof (gsize));
  for (gsize i = 0; i < bytes->length; i++)
    if (bytes->text[i] != 0)
      g_array_append_val (bytes->places, i);
}

static void
finalize (gpointer stmt)
{
  sqlite3_finalize (stmt);
}

static sqlite3_stmt *
prepare (const char *sql)
{
  sqlite3_stmt *stmt;

  g_assert (sqlite3_prepare_v3 (rows, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) == SQLITE_OK);
  return stmt;
}

static void
exec (const char *sql)
{
  g_assert (sqlite3_exec (rows, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static void
copy_to_memory (void)
{
  sqlite3_backup *backup;
  sqlite3 *file;

  g_assert (sqlite3_open (path, &file) == SQLITE_OK);
  g_assert (sqlite3_open (":memory:", &rows) == SQLITE_OK);
  backup = sqlite3_backup_init (rows, "main", file, "main");
  g_assert (sqlite3_backup_step (backup, -1) == SQLITE_DONE);
  sqlite3_backup_finish (backup);
  sqlite3_close (file);
}

static void
loosen (void)
{
  exec ("CREATE TEMP TABLE was AS SELECT name, sql FROM sqlite_schema; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = replace (replace (replace (sql, ' NOT NULL', ''), ' STRICT,', ' '),"
        " ' STRICT', ''); PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON");
  tighten = prepare ("UPDATE sqlite_schema AS s SET sql = (SELECT was.sql FROM was WHERE was.name = s.name)");
}

static void
list_columns (void)
{
  sqlite3_stmt *stmt = prepare (
      "SELECT m.name || '.' || c.name, printf ('UPDATE %s SET %s = ?1 WHERE (%s) = (SELECT %s FROM %s LIMIT"
      " 1 OFFSET ?2)', m.name, c.name,"
      " k.keys, k.keys, m.name) FROM sqlite_schema m, pragma_table_info (m.name) c,"
      " (SELECT s.name AS of, group_concat (i.name) AS keys FROM sqlite_schema s, pragma_table_info (s.name)"
      " i WHERE i.pk > 0 GROUP BY s.name) k WHERE m.type = 'table' AND k.of = m.name ORDER BY m.name, c.cid");

  columns = g_ptr_array_new_with_free_func (g_free);
  updates = g_ptr_array_new_with_free_func (finalize);
  while (sqlite3_step (stmt) == SQLITE_ROW)
    {
      g_ptr_array_add (columns, g_strdup ((const char *) sqlite3_column_text (stmt, 0)));
      g_ptr_array_add (updates, prepare ((const char *) sqlite3_column_text (stmt, 1)));
    }
  sqlite3_finalize (stmt);
  g_assert (updates->len > 20);
}

static void
list_tables (void)
{
  sqlite3_stmt *stmt = prepare ("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0 ORDER BY name");

  tables = g_ptr_array_new_with_free_func (g_free);
  roots = g_array_new (FALSE, FALSE, sizeof (gint64));
  while (sqlite3_step (stmt) == SQLITE_ROW)
    {
      gint64 root = sqlite3_column_int64 (stmt, 1);

      g_ptr_array_add (tables, g_strdup ((const char *) sqlite3_column_text (stmt, 0)));
      g_array_append_val (roots, root);
    }
  sqlite3_finalize (stmt);
}

static void
make_database (void)
{
  static const QuoitGroupRef old = { "old", 0 };
  static const char *const node = "v6e-2x4-1-0";
  const QuoitStatesChange drain = { &node, 1, QUOIT_VERB_DRAIN, QUOIT_NODE_ALIVE };
  g_autoptr (QuoitStore) store = NULL;

  /* Fixes the salts of the log, so that an input does the same in every process. */
  sqlite3_test_control (SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
  dir = fast_dir ();
  atexit (clean_up);
  path = g_build_filename (dir, "db", NULL);
  wal_path = g_strconcat (path, "-wal", NULL);
  store = quoit_store_create (path, 0, NULL);
  quoit_store_set_actor (store, "me");
  import (store, "v6e 2x4 x4 hostchips=4 zone=us busy=3; v5p 2x2x2 pool=big dead=0.1", "fleet");
  import (store, "v4 2x2x1", "fleeu");
  g_assert (quoit_store_compact (store, 3, T0, NULL, NULL));
  require_for_owner (store);
  reserve (store, "old", "k");
  g_clear_pointer (&store, quoit_store_free);
  load (path, &database);
  copy_to_memory ();
  loosen ();
  list_columns ();
  list_tables ();

  store = quoit_store_open (path, 0, NULL);
  g_assert (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = old }, T0 + 1, NULL, NULL, NULL));
  reserve (store, "train", NULL);
  g_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_STATES, .states = drain }, T0 + 2, NULL, NULL,
                                NULL));
  load (wal_path, &wal);
}

static void
save_damaged (const Bytes *bytes, const char *to, FuzzInput *in)
{
  g_autofree char *damaged = g_memdup2 (bytes->text, bytes->length);
  gsize length = fuzz_byte (in);

  length |= (gsize) fuzz_byte (in) << 8;
  length = length == 0 ? bytes->length : length % bytes->length;
  while (in->at < in->end)
    {
      gsize place = fuzz_byte (in);

      place |= (gsize) fuzz_byte (in) << 8;
      place = place < 0x8000 ? g_array_index (bytes->places, gsize, place % bytes->places->len) : place % bytes->length;
      damaged[place] ^= (char) fuzz_byte (in);
    }
  g_assert (g_file_set_contents_full (to, damaged, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
save (const Bytes *bytes, const char *to)
{
  g_assert (g_file_set_contents_full (to, bytes->text, (gssize) bytes->length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
change_row (FuzzInput *in, GArray *twice)
{
  g_autofree char *column = fuzz_text (in);
  guint at = (guint8) *column % columns->len;
  guint8 row = fuzz_byte (in) % 16, type = fuzz_byte (in);
  g_autofree char *value = fuzz_text (in);
  sqlite3_stmt *stmt;

  if (*column == '=')
    {
      DuplicateRow repeated = { 0, row, type };

      repeated.table = (guint) strlen (column) % tables->len;
      g_ptr_array_find_with_equal_func (tables, column + 1, g_str_equal, &repeated.table);
      g_array_append_val (twice, repeated);
      return;
    }
  type %= 4;
  g_ptr_array_find_with_equal_func (columns, column, g_str_equal, &at);
  stmt = updates->pdata[at];
  sqlite3_bind_int (stmt, 2, row);
  if (type == 0)
    sqlite3_bind_int64 (stmt, 1, g_ascii_strtoll (value, NULL, 10));
  else if (type == 1)
    sqlite3_bind_text (stmt, 1, value, -1, SQLITE_STATIC);
  else if (type == 2)
    sqlite3_bind_blob (stmt, 1, value, (int) strlen (value), SQLITE_STATIC);
  else
    sqlite3_bind_null (stmt, 1);
  sqlite3_step (stmt); /* fails if the key exists already */
  sqlite3_reset (stmt);
  sqlite3_clear_bindings (stmt);
}

static void
repeat_row (Bytes *bytes, const DuplicateRow *twice)
{
  gsize page_bytes = (gsize) (guint8) bytes->text[16] << 8 | (guint8) bytes->text[17];
  gsize root = (gsize) g_array_index (roots, gint64, twice->table);
  guint8 *page = (guint8 *) bytes->text + (root - 1) * page_bytes;
  gsize n = root * page_bytes > bytes->length ? 0 : (gsize) page[3] << 8 | page[4];
  gsize header = page[0] == 2 || page[0] == 5 ? 12 : 8;

  if (n > 0 && header + 2 * n <= page_bytes)
    memcpy (page + header + twice->as % n * 2, page + header + twice->row % n * 2, 2);
}

/* Saves the database with changed rows as a file. Bytes 18 and 19 mark it as a WAL database, because a database in
 * memory cannot be one. */
static void
save_changed (FuzzInput *in)
{
  g_autoptr (GArray) twice = g_array_new (FALSE, FALSE, sizeof (DuplicateRow));
  Bytes changed = { 0 };
  sqlite3_int64 length;

  exec ("BEGIN");
  while (in->at < in->end)
    change_row (in, twice);
  g_assert (sqlite3_step (tighten) == SQLITE_DONE);
  sqlite3_reset (tighten);
  changed.text = (char *) sqlite3_serialize (rows, "main", &length, 0);
  g_assert (changed.text != NULL);
  exec ("ROLLBACK");
  changed.length = (gsize) length;
  changed.text[18] = changed.text[19] = 2;
  for (guint i = 0; i < twice->len; i++)
    repeat_row (&changed, &g_array_index (twice, DuplicateRow, i));
  save (&changed, path);
  sqlite3_free (changed.text);
}

static void
clear_files (void)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-journal", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      g_unlink (name);
    }
}

static void
require_export (QuoitStore *store)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autofree char *json = quoit_write_fleet_json (fleet);
  g_autoptr (GError) error = NULL;

  if (!quoit_json_check (json, strlen (json), &error))
    g_error ("%s\n%s", error->message, json);
}

static void
require_proof (QuoitStore *store, gboolean is_whole)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_store_verify (store, &error);

  fuzz_require_error (ok, error);
  g_assert (ok || !is_whole);
  g_assert (!ok || quoit_fleet_check (fleet, NULL));
}

/* The database is small, so opening it must not need much memory, whatever ids and counts it contains. */
static glong
most_kb (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autoptr (QuoitStore) store = NULL;
  g_autoptr (GError) error = NULL;
  guint8 first, what;
  glong kb_before;

  if (dir == NULL)
    make_database ();
  kb_before = most_kb ();
  clear_files ();
  first = fuzz_byte (&in);
  what = first % N_WHAT;
  if (what == DATABASE)
    save_damaged (&database, path, &in);
  else if (what == ROWS)
    save_changed (&in);
  else
    {
      save (&database, path);
      save_damaged (&wal, wal_path, &in);
    }
  store = quoit_store_open (path, 0, &error);
  fuzz_require_error (store != NULL, error);
  g_assert (store != NULL || what != LOG);
  g_assert (most_kb () - kb_before < MOST_KB);
  if (store == NULL)
    return 0;
  if (fuzz_runs_check (first / N_WHAT, EXPORT, N_CHECKS))
    require_export (store);
  /* A truncated log is valid: its lost transactions never happened. Damaged rows may be valid too. */
  if (fuzz_runs_check (first / N_WHAT, PROOF, N_CHECKS))
    require_proof (store, what == LOG);
  g_assert (most_kb () - kb_before < MOST_KB);
  return 0;
}
