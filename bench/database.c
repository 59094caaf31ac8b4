/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"

#include <glib/gstdio.h>
#include <string.h>

#include "store/sqlite/sql.h"
#include "../tests/shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

enum { EFFECT_BYTES = 70 }; /* of a reservation of one slice of four nodes */

struct _BenchBare {
  sqlite3 *handle;
  sqlite3_stmt *begin, *commit, *journal, *group, *bundle, *lease, *node;
};

char *
bench_folder_new (const char *parent)
{
  char *folder = g_build_filename (parent, "quoit-bench-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (folder));
  return folder;
}

void
bench_folder_remove (const char *folder)
{
  g_rmdir (folder);
}

QuoitLedger *
bench_database_new (const char *path, const char *fleet)
{
  GError *error = NULL;
  QuoitLedger *ledger = quoit_ledger_create (path, 1000, &error);

  g_assert_no_error (error);
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, NOW, &error));
  g_assert_no_error (error);
  return ledger;
}

void
bench_database_remove (const char *path)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      g_unlink (name);
    }
}

static sqlite3_stmt *
prepare (BenchBare *bare, const char *sql)
{
  sqlite3_stmt *stmt = NULL;

  g_assert_cmpint (sqlite3_prepare_v3 (bare->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL), ==, SQLITE_OK);
  return stmt;
}

static void
run (sqlite3_stmt *stmt)
{
  g_assert_cmpint (sqlite3_step (stmt), ==, SQLITE_DONE);
  sqlite3_reset (stmt);
}

BenchBare *
bench_bare_new (const char *path)
{
  BenchBare *bare = g_new0 (BenchBare, 1);

  g_assert_cmpint (sqlite3_open (path, &bare->handle), ==, SQLITE_OK);
  sqlite3_exec (bare->handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL, NULL, NULL);
  for (gsize step = 0; step < G_N_ELEMENTS (quoit_sql_steps); step++)
    g_assert_cmpint (sqlite3_exec (bare->handle, quoit_sql_steps[step], NULL, NULL, NULL), ==, SQLITE_OK);
  bare->begin = prepare (bare, "BEGIN IMMEDIATE");
  bare->commit = prepare (bare, "COMMIT");
  bare->journal = prepare (bare, "INSERT INTO journal VALUES (?1, ?2, 2, NULL, ?1, 10001, ?3, ?4)");
  bare->group = prepare (bare, "INSERT INTO grp VALUES (?1, 2, ?2, 0, ?3, '', '', 'v6e 4x4 x 1 hostchips=4',"
                               " 0, 0, 0, '', '', 0, 0, x'', '', 0)");
  bare->bundle = prepare (bare, "INSERT INTO bundle VALUES (?1, ?2, 0, ?3, NULL)");
  bare->lease = prepare (bare, "UPDATE grp SET state = ?2, ended_ms = ?3 WHERE id = ?1");
  bare->node = prepare (bare, "INSERT INTO node VALUES (?1, 1, 1, ?2, 0, 0, 0, ?3, ?4, ?5, ?6, NULL)");
  return bare;
}

void
bench_bare_free (BenchBare *bare)
{
  sqlite3_stmt *all[]
      = { bare->begin, bare->commit, bare->journal, bare->group, bare->bundle, bare->lease, bare->node };

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    sqlite3_finalize (all[i]);
  sqlite3_close (bare->handle);
  g_free (bare);
}

void
bench_bare_begin (BenchBare *bare)
{
  run (bare->begin);
}

void
bench_bare_commit (BenchBare *bare)
{
  run (bare->commit);
}

static void
insert_entry (BenchBare *bare, unsigned seq, int n_bytes)
{
  static const char effects[EFFECT_BYTES] = "the effects of such an entry take about this many bytes, and more";
  static const char chain[32] = "a link of the hash chain";

  sqlite3_bind_int64 (bare->journal, 1, seq);
  sqlite3_bind_int64 (bare->journal, 2, NOW + seq);
  sqlite3_bind_blob (bare->journal, 3, effects, n_bytes, SQLITE_STATIC);
  sqlite3_bind_blob (bare->journal, 4, chain, sizeof chain, SQLITE_STATIC);
  run (bare->journal);
}

void
bench_bare_insert (BenchBare *bare, unsigned number)
{
  char name[16];

  g_snprintf (name, sizeof name, "job-%06u", number);
  insert_entry (bare, number + 1, EFFECT_BYTES);
  sqlite3_bind_int64 (bare->group, 1, number);
  sqlite3_bind_int64 (bare->group, 2, NOW + number);
  sqlite3_bind_text (bare->group, 3, name, -1, SQLITE_STATIC);
  run (bare->group);
  for (unsigned i = 0; i < 4; i++)
    {
      sqlite3_bind_int64 (bare->bundle, 1, number);
      sqlite3_bind_int64 (bare->bundle, 2, i);
      sqlite3_bind_int64 (bare->bundle, 3, 4 * number + i);
      run (bare->bundle);
    }
}

void
bench_bare_reserve (BenchBare *bare, unsigned number)
{
  bench_bare_begin (bare);
  bench_bare_insert (bare, number);
  bench_bare_commit (bare);
}

void
bench_bare_confirm (BenchBare *bare, unsigned number)
{
  bench_bare_begin (bare);
  insert_entry (bare, number + 2, 20);
  sqlite3_bind_int64 (bare->lease, 1, number);
  sqlite3_bind_int (bare->lease, 2, 2);
  sqlite3_bind_int64 (bare->lease, 3, 0);
  run (bare->lease);
  bench_bare_commit (bare);
}

void
bench_bare_import (BenchBare *bare, unsigned n)
{
  bench_bare_begin (bare);
  for (unsigned i = 0; i < n; i++)
    {
      char name[64], identity[64], address[32], slice[32];

      g_snprintf (name, sizeof name, "gke-tpu-%07u-%011u", i / 4, i % 4);
      g_snprintf (identity, sizeof identity, "%056u", i);
      g_snprintf (address, sizeof address, "10.%u.%u.%u", i >> 16 & 255, i >> 8 & 255, i & 255);
      g_snprintf (slice, sizeof slice, "slice-%u", i / 4);
      sqlite3_bind_int64 (bare->node, 1, i + 1);
      sqlite3_bind_int (bare->node, 2, (int) (i % 4));
      sqlite3_bind_text (bare->node, 3, name, -1, SQLITE_STATIC);
      sqlite3_bind_text (bare->node, 4, identity, -1, SQLITE_STATIC);
      sqlite3_bind_text (bare->node, 5, address, -1, SQLITE_STATIC);
      sqlite3_bind_text (bare->node, 6, slice, -1, SQLITE_STATIC);
      run (bare->node);
    }
  bench_bare_commit (bare);
}

/* --- reading --- */

typedef struct {
  gint64 numbers[7];
  guint texts[5]; /* offset of each text in the bytes */
} Row;

unsigned
bench_bare_read (const char *path)
{
  static const char sql[]
      = "SELECT id, pool, kind, worker, claimed, state, flags, name, identity, address, slice, incarnation"
        " FROM node";
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  sqlite3 *handle;
  sqlite3_stmt *stmt;

  g_assert_cmpint (sqlite3_open (path, &handle), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (handle, sql, -1, &stmt, NULL), ==, SQLITE_OK);
  while (sqlite3_step (stmt) == SQLITE_ROW)
    {
      Row row;

      for (int i = 0; i < 7; i++)
        row.numbers[i] = sqlite3_column_int64 (stmt, i);
      for (int i = 0; i < 5; i++)
        {
          const unsigned char *text = sqlite3_column_text (stmt, 7 + i);

          row.texts[i] = bytes->len;
          g_byte_array_append (bytes, text == NULL ? (const guint8 *) "" : text,
                               (guint) sqlite3_column_bytes (stmt, 7 + i) + 1);
        }
      g_array_append_val (rows, row);
    }
  sqlite3_finalize (stmt);
  sqlite3_close (handle);
  return rows->len;
}

/* --- copying --- */

unsigned
bench_bare_copy_journal (const char *from, const char *to)
{
  static const char columns[] = "seq, time_ms, verb, actor, next_group, next_node, effects, chain";
  g_autofree char *select = g_strdup_printf ("SELECT %s FROM journal ORDER BY seq", columns);
  g_autofree char *insert
      = g_strdup_printf ("INSERT INTO journal (%s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", columns);
  BenchBare *bare = bench_bare_new (to);
  sqlite3 *handle;
  sqlite3_stmt *read, *write = prepare (bare, insert);
  unsigned n = 0;

  g_assert_cmpint (sqlite3_open (from, &handle), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (handle, select, -1, &read, NULL), ==, SQLITE_OK);
  bench_bare_begin (bare);
  for (; sqlite3_step (read) == SQLITE_ROW; n++)
    {
      for (int i = 0; i < 8; i++)
        g_assert_cmpint (sqlite3_bind_value (write, i + 1, sqlite3_column_value (read, i)), ==, SQLITE_OK);
      run (write);
    }
  bench_bare_commit (bare);
  sqlite3_finalize (read);
  sqlite3_finalize (write);
  sqlite3_close (handle);
  bench_bare_free (bare);
  return n;
}
