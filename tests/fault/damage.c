/* SPDX-License-Identifier: Apache-2.0 */
/* Opens randomly damaged databases: changed bytes, repeated rows, swapped pages, truncated files, wrong numbers,
 * changed schemas. quoit must refuse each file with an error or open it as a valid ledger. It must not crash, run
 * for long or use much memory, and a ledger that verifies must still verify after use.
 *
 * usage: damage [RUNS [FIRST]]
 *
 * Run FIRST alone reproduces its result. If a run fails, the damaged file is kept. */
#include "../support.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

enum { USUAL_RUNS = 300, MOST_KB = 1 << 20, MOST_SECONDS = 5, HUNG_SECONDS = 120 };

typedef struct {
  const char *name;
  char *text, *wal; /* the file, and its write-ahead log if there is one */
  gsize length, wal_length;
} Base;

static GArray *bases;
static char *dir, *path, *wal_path;
static guint32 seed;
static volatile guint run;

static void
die (int number)
{
  char text[80];
  int n = g_snprintf (text, sizeof text, "signal %d in run %u of seed %u\n", number, run, seed);

  if (write (STDERR_FILENO, text, (size_t) n) != n)
    _exit (EXIT_FAILURE);
  signal (number, SIG_DFL);
  raise (number);
}

/* --- sound databases --- */

static char *
ray_list (void)
{
  g_autoptr (GString) text = g_string_new ("[");

  for (guint i = 0; i < 8; i++)
    g_string_append_printf (
        text,
        "{\"NodeID\": \"%056u\", \"Alive\": true, \"NodeManagerAddress\": \"10.0.0.%u\", \"NodeName\": \"10.0.0.%u\","
        "\"Resources\": {\"CPU\": 8.0, \"TPU\": 4.0, \"tpu-group-%u\": 1.0},"
        "\"Labels\": {\"ray.io/accelerator-type\": \"TPU-V6E\", \"ray.io/tpu-slice-name\": \"tpu-group-%u\","
        "\"ray.io/tpu-worker-id\": \"%u\", \"ray.io/node-group\": \"tpu-group\", \"ray.io/tpu-pod-type\": \"v6e-16\","
        "\"ray.io/tpu-topology\": \"4x4\"}},",
        i + 2, i + 2, i + 2, i / 4, i / 4, i % 4);
  g_string_append (text, "{\"NodeID\": \"00000000000000000000000000000000000000000000000000000001\", \"Alive\": true,"
                         "\"NodeManagerAddress\": \"10.0.0.1\", \"NodeName\": \"10.0.0.1\","
                         "\"Resources\": {\"CPU\": 8.0, \"node:__internal_head__\": 1.0}, \"Labels\": {}}]");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
import_joined (QuoitLedger *ledger)
{
  g_autofree char *manifest = g_build_filename (g_getenv ("top_srcdir"), "examples/raycluster-v6e-4x4-x2.yaml", NULL);
  g_autofree char *list = ray_list ();
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, list, strlen (list));
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  size_t length;
  QuoitImport *import;

  require (quoit_load_text (manifest, &text, &length, &error), "%s", error_text (error));
  import = import_as (ledger, QUOIT_SOURCE_KIND_RAYCLUSTER, text, NULL, T0, &error);
  require (import != NULL, "%s", error_text (error));
  quoit_import_free (import);
  quoit_input_set_join (input, "two-slices");
  import = quoit_ledger_import (ledger, input, T0, &error);
  require (import != NULL, "%s", error_text (error));
  quoit_import_free (import);
  quoit_input_free (input);
  free (text);
}

static void
change_all (QuoitLedger *ledger)
{
  g_autoptr (QuoitRequest) slices = new_slice_request ("train", "v6e", "4x4", 1),
                           held = new_slice_request ("held", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) bundles = quoit_request_new ("parts", NULL),
                           keyed = new_slice_request ("old", "v6e", "4x4", 1);
  g_autoptr (GError) error = NULL;

  quoit_ledger_set_actor (ledger, "me");
  quoit_request_set_key (keyed, "k", NULL);
  quoit_request_set_owner (held, "somebody", NULL);
  require (quoit_request_add_bundles (bundles, "TPU=2", 3, NULL), "bundles");
  require (quoit_ledger_set_owner (ledger, "somebody", 3600000, T0, &error), "%s", error_text (error));
  require (drop_group (quoit_ledger_reserve (ledger, slices, T0, NULL, &error)), "%s", error_text (error));
  require (drop_group (quoit_ledger_hold (ledger, held, 600000, T0, NULL, &error)), "%s", error_text (error));
  require (drop_group (quoit_ledger_reserve (ledger, keyed, T0, NULL, &error)), "%s", error_text (error));
  require (quoit_ledger_release (ledger, "old", T0, &error), "%s", error_text (error));
  require (drop_group (quoit_ledger_reserve (ledger, bundles, T0, NULL, &error)), "%s", error_text (error));
}

static void
add_base (const char *name, const char *from)
{
  g_autofree char *wal = g_strconcat (from, "-wal", NULL);
  Base base = { .name = name };

  require (g_file_get_contents (from, &base.text, &base.length, NULL), "%s", from);
  g_file_get_contents (wal, &base.wal, &base.wal_length, NULL);
  g_array_append_val (bases, base);
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

static QuoitLedger *
create (void)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger;

  clear_files ();
  ledger = quoit_ledger_create (path, 0, &error);
  require (ledger != NULL, "%s", error_text (error));
  return ledger;
}

static void
make_bases (void)
{
  QuoitLedger *ledger;

  /* Fixes the random identities and salts, so that a run does the same in every process. */
  sqlite3_test_control (SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
  ledger = create ();
  bases = g_array_new (FALSE, FALSE, sizeof (Base));
  require (import_text (ledger, "v6e 4x4 x5 zone=us busy=2; v5p 2x2x2 pool=big dead=0.1", "fleet", T0, NULL),
           "a fleet");
  change_all (ledger);
  import_joined (ledger);
  add_base ("with a log", path);
  require (quoit_ledger_compact_journal (ledger, 4, T0, NULL, NULL), "a checkpoint");
  quoit_ledger_unref (ledger);
  add_base ("with a checkpoint", path);
  ledger = create ();
  require (import_text (ledger, "v6e 4x4 x300; v4 2x2x1 x9", "fleet", T0, NULL), "a large fleet");
  change_all (ledger);
  quoit_ledger_unref (ledger);
  add_base ("of many pages", path);
  for (guint version = 1; version <= 2; version++)
    {
      g_autofree char *old = g_strdup_printf ("%s/tests/databases/schema-%u.db", g_getenv ("top_srcdir"), version);

      add_base (version == 1 ? "of version 1" : "of version 2", old);
    }
}

/* --- damage --- */

enum { PAGE = 4096 };

static gsize
any_page (GRand *random, const GByteArray *bytes)
{
  return bytes->len < PAGE ? 0 : (gsize) g_rand_int_range (random, 0, (gint32) (bytes->len / PAGE)) * PAGE;
}

static gsize
any_place (GRand *random, const GByteArray *bytes)
{
  gsize place = (gsize) g_rand_int_range (random, 0, (gint32) bytes->len);

  /* Most of a page is free space, and its header has the most influence. */
  if (g_rand_boolean (random))
    return (place / PAGE * PAGE + (gsize) g_rand_int_range (random, 0, 16)) % bytes->len;
  for (guint tries = 0; tries < 20 && bytes->data[place] == 0; tries++)
    place = (gsize) g_rand_int_range (random, 0, (gint32) bytes->len);
  return place;
}

static void
change_bytes (GRand *random, GByteArray *bytes)
{
  for (gint32 n = g_rand_int_range (random, 1, 5); n > 0; n--)
    {
      gsize place = any_place (random, bytes);
      gboolean is_small = g_rand_boolean (random);

      bytes->data[place] = is_small ? (guint8) g_rand_int_range (random, 0, 16) : (guint8) g_rand_int (random);
    }
}

/* Copies one of a page's cell pointers over another, which repeats a row or gives a page two parents. */
static void
repeat_cell (GRand *random, GByteArray *bytes)
{
  for (guint tries = 0; bytes->len >= PAGE && tries < 50; tries++)
    {
      gsize page = any_page (random, bytes), head = page == 0 ? 100 : page, first, from, to;
      guint8 type = bytes->data[head];
      gint32 n = bytes->data[head + 3] << 8 | bytes->data[head + 4];

      first = head + (type == 2 || type == 5 ? 12 : 8);
      if ((type != 2 && type != 5 && type != 10 && type != 13) || n < 2 || first + 2 * (gsize) n > page + PAGE)
        continue;
      from = (gsize) g_rand_int_range (random, 0, n);
      to = (gsize) g_rand_int_range (random, 0, n);
      memcpy (bytes->data + first + 2 * to, bytes->data + first + 2 * from, 2);
      return;
    }
}

static void
swap_pages (GRand *random, GByteArray *bytes)
{
  gsize a = any_page (random, bytes), b = any_page (random, bytes);
  guint8 page[PAGE];

  if (bytes->len < PAGE)
    return;
  memcpy (page, bytes->data + a, PAGE);
  memcpy (bytes->data + a, bytes->data + b, PAGE);
  if (g_rand_boolean (random))
    memcpy (bytes->data + b, page, PAGE);
}

static void
cut_off (GRand *random, GByteArray *bytes)
{
  gsize length = (gsize) g_rand_int_range (random, 0, (gint32) bytes->len);

  if (g_rand_boolean (random))
    length -= length % PAGE;
  g_byte_array_set_size (bytes, (guint) MAX (length, 1));
}

static void (*const damages[]) (GRand *, GByteArray *)
    = { change_bytes, change_bytes, repeat_cell, repeat_cell, swap_pages, cut_off };

static const char *const numbers[] = { "-1",
                                       "0",
                                       "1",
                                       "2",
                                       "3",
                                       "7",
                                       "255",
                                       "65536",
                                       "2147483646",
                                       "2147483647",
                                       "2147483648",
                                       "4294967295",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "1750000000000",
                                       "NULL",
                                       "'x'",
                                       "x'00'",
                                       "0.5",
                                       "zeroblob (300000)",
                                       "randomblob (40)",
                                       "hex (zeroblob (5000))" };

static void
exec (sqlite3 *db, const char *sql)
{
  sqlite3_exec (db, sql, NULL, NULL, NULL);
}

static char *
query (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *stmt = NULL;
  char *text = NULL;

  if (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step (stmt) == SQLITE_ROW)
    text = g_strdup ((const char *) sqlite3_column_text (stmt, 0));
  sqlite3_finalize (stmt);
  return text;
}

static void
change_values (GRand *random, sqlite3 *db)
{
  exec (db,
        "CREATE TEMP TABLE was AS SELECT name, sql FROM sqlite_schema; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = replace (replace (replace (replace (sql, ' NOT NULL', ''), ' STRICT,', ' '),"
        " ' STRICT', ''), ' CHECK (id = 1)', ''); PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON");
  for (gint32 n = g_rand_int_range (random, 1, 5); n > 0; n--)
    {
      g_autofree char *find
          = g_strdup_printf ("SELECT m.name || ' SET ' || c.name FROM sqlite_schema m, pragma_table_info (m.name) c"
                             " WHERE m.type = 'table' ORDER BY m.name, c.cid LIMIT 1 OFFSET %d",
                             g_rand_int_range (random, 0, 75));
      const char *value;
      g_autofree char *column = query (db, find), *table = NULL, *key = NULL, *keys = NULL, *sql = NULL;

      if (column == NULL)
        continue;
      table = g_strndup (column, strcspn (column, " "));
      keys = g_strdup_printf ("SELECT group_concat (name) FROM pragma_table_info ('%s') WHERE pk > 0", table);
      key = query (db, keys);
      value = numbers[g_rand_int_range (random, 0, G_N_ELEMENTS (numbers))];
      sql = g_strdup_printf ("UPDATE %s = %s WHERE (%s) = (SELECT %s FROM %s LIMIT 1 OFFSET %d)", column, value, key,
                             key, table, g_rand_int_range (random, 0, 12));
      exec (db, sql);
    }
  exec (db, "UPDATE sqlite_schema AS s SET sql = (SELECT was.sql FROM was WHERE was.name = s.name)");
}

#define A_TRIGGER "'CREATE TRIGGER sqlite_t AFTER INSERT ON grp BEGIN DELETE FROM journal; END'"

static const char *const schemas[] = {
  "INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_t', 'grp', 0, " A_TRIGGER ")",
  "UPDATE sqlite_schema SET sql = replace (sql, 'INTEGER PRIMARY KEY', 'INTEGER') WHERE name = 'node'",
  "UPDATE sqlite_schema SET sql = replace (sql, 'effects', 'effect') WHERE name = 'journal'",
  "UPDATE sqlite_schema SET rootpage = (SELECT max (rootpage) FROM sqlite_schema) WHERE name = 'node'",
  "UPDATE sqlite_schema SET rootpage = 900 WHERE name = 'sqlite_autoindex_kind_1'",
  "UPDATE sqlite_schema SET type = 'view', sql = 'CREATE VIEW node AS SELECT 1', rootpage = 0 WHERE name = 'node'",
  "UPDATE sqlite_schema SET sql = replace (sql, 'STRICT', 'STRICT, WITHOUT ROWID') WHERE name = 'kind'",
  "UPDATE sqlite_schema SET sql = NULL WHERE name = 'pool'",
  "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'grp'",
  "DELETE FROM sqlite_schema WHERE name LIKE 'sqlite%'",
  "CREATE INDEX i ON node (length (zeroblob (100000)))",
  "CREATE VIEW v AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
  "ALTER TABLE grp ADD COLUMN more INTEGER DEFAULT 5",
  "DROP TABLE bundle",
  "PRAGMA user_version = 2",
  "PRAGMA user_version = 1",
  "PRAGMA encoding = 'UTF-16'"
};

static void
change_schema (GRand *random, sqlite3 *db)
{
  exec (db, "PRAGMA writable_schema = ON");
  exec (db, schemas[g_rand_int_range (random, 0, G_N_ELEMENTS (schemas))]);
}

static void
save (const char *to, const void *text, gsize length)
{
  require (g_file_set_contents_full (to, text, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL), "%s", to);
}

static void
change_by_sql (GRand *random, const Base *base, void (*change) (GRand *, sqlite3 *))
{
  g_autofree char *head = g_strconcat (path, "-head", NULL);
  sqlite3 *db;

  save (path, base->text, base->length);
  if (base->wal_length > 0)
    save (wal_path, base->wal, base->wal_length);
  require (sqlite3_open (path, &db) == SQLITE_OK, "%s", path);
  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
  change (random, db);
  sqlite3_close (db);
  /* Without this file quoit cannot detect a foreign write, and does not read the journal again. */
  g_unlink (head);
}

static void
change_files (GRand *random, const Base *base)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new (), log = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) base->text, (guint) base->length);
  if (base->wal_length > 0)
    g_byte_array_append (log, (const guint8 *) base->wal, (guint) base->wal_length);
  for (gint32 n = g_rand_int_range (random, 1, 4); n > 0; n--)
    {
      GByteArray *which = log->len > 0 && g_rand_boolean (random) ? log : bytes;

      damages[g_rand_int_range (random, 0, G_N_ELEMENTS (damages))](random, which);
    }
  save (path, bytes->data, bytes->len);
  if (log->len > 0)
    save (wal_path, log->data, log->len);
}

/* --- use --- */

static void
require_valid_error (gboolean ok, const GError *error, const char *what)
{
  require (ok == (error == NULL), "run %u: %s: result and error disagree", run, what);
  require (ok || (error->domain == QUOIT_ERROR && g_utf8_validate (error->message, -1, NULL)), "run %u: %s: %s", run,
           what, error->message);
}

#define TRY(call)                                                                                                      \
  do                                                                                                                   \
    {                                                                                                                  \
      g_autoptr (GError) error = NULL;                                                                                 \
      gboolean ok_ = (call);                                                                                           \
                                                                                                                       \
      require_valid_error (ok_, error, #call);                                                                         \
    }                                                                                                                  \
  while (0)

static gboolean
drop_snapshot (QuoitSnapshot *snapshot)
{
  gboolean made = snapshot != NULL;

  if (made)
    g_free (quoit_snapshot_dup_json (snapshot));
  quoit_snapshot_unref (snapshot);
  return made;
}

static gboolean
read_journal (QuoitLedger *ledger, GError **error)
{
  QuoitJournal *journal = quoit_ledger_read_journal (ledger, 0, error);

  for (guint32 i = 0; journal != NULL && i < quoit_journal_get_n_entries (journal); i++)
    for (guint32 e = 0; e < MIN (quoit_journal_get_n_effects (journal, i), 50); e++)
      g_free (quoit_journal_dup_effect_text (journal, i, e));
  quoit_journal_free (journal);
  return journal != NULL;
}

static gboolean
verifies (QuoitLedger *ledger)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_ledger_verify (ledger, &error);

  require_valid_error (ok, error, "verify");
  return ok;
}

/* Uses the ledger; returns whether it verified. */
static gboolean
use (QuoitLedger *ledger, GRand *random)
{
  g_autoptr (QuoitRequest) more = new_slice_request ("more", "v6e", "4x4", 1), parts = quoit_request_new ("less", NULL);
  gboolean sound = verifies (ledger);

  if (sound)
    require_consistent (ledger, "after opening");
  drop_snapshot (quoit_ledger_snapshot (ledger));
  TRY (read_journal (ledger, &error));
  TRY (drop_snapshot (quoit_ledger_snapshot_at (ledger, (guint64) g_rand_int_range (random, 0, 12), &error)));
  require (quoit_request_add_bundles (parts, "TPU=1", 1, NULL), "a bundle");
  TRY (drop_group (quoit_ledger_reserve (ledger, more, T0 + 1, NULL, &error)));
  TRY (drop_group (quoit_ledger_reserve (ledger, parts, T0 + 1, NULL, &error)));
  TRY (quoit_ledger_release (ledger, "train", T0 + 2, &error));
  TRY (quoit_ledger_drain_node (ledger, "v6e-4x4-2-0", T0 + 2, &error));
  TRY (import_text (ledger, "v6e 4x4 x4; v5p 2x2x2 pool=big", "fleet", T0 + 3, &error));
  TRY (import_text (ledger, "v4 2x2x1", "another", T0 + 3, &error));
  TRY (quoit_ledger_end_owner (ledger, "somebody", T0 + 3, NULL, &error));
  TRY (quoit_ledger_compact_journal (ledger, (guint64) g_rand_int_range (random, 1, 12), T0 + 4, NULL, &error));
  require (!sound || verifies (ledger), "run %u: the ledger no longer verifies", run);
  return sound;
}

typedef struct {
  guint refused, opened, sound;
} Counts;

static void
run_one (Counts *counts)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed * 1000003u + run);
  const Base *base = &g_array_index (bases, Base, (guint) g_rand_int_range (random, 0, (gint32) bases->len));
  gint64 began_us = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  struct rusage usage;
  QuoitLedger *ledger;

  clear_files ();
  switch (g_rand_int_range (random, 0, 4))
    {
    case 0:
      change_by_sql (random, base, change_values);
      break;
    case 1:
      change_by_sql (random, base, g_rand_int_range (random, 0, 4) == 0 ? change_schema : change_values);
      break;
    default:
      change_files (random, base);
    }
  ledger = quoit_ledger_open (path, 0, &error);
  require_valid_error (ledger != NULL, error, "open");
  counts->refused += ledger == NULL;
  counts->opened += ledger != NULL;
  if (ledger != NULL)
    counts->sound += use (ledger, random);
  quoit_ledger_unref (ledger);
  getrusage (RUSAGE_SELF, &usage);
  require (usage.ru_maxrss <= MOST_KB, "run %u, %s: %ld kB", run, base->name, usage.ru_maxrss);
  require (g_get_monotonic_time () - began_us <= MOST_SECONDS * G_USEC_PER_SEC, "run %u, %s: %d ms", run, base->name,
           (int) ((g_get_monotonic_time () - began_us) / 1000));
}

int
main (int argc, char **argv)
{
  guint n = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : scaled (USUAL_RUNS);
  guint first = argc > 2 ? (guint) g_ascii_strtoull (argv[2], NULL, 10) : 0;
  Counts counts = { 0 };

  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
  signal (SIGABRT, die);
  signal (SIGTRAP, die);
  signal (SIGALRM, die);
  seed = random_seed ("damage", 1);
  dir = fast_dir ();
  path = g_build_filename (dir, "ledger.db", NULL);
  wal_path = g_strconcat (path, "-wal", NULL);
  printf ("damaged files: %s\n", path);
  fflush (stdout);
  make_bases ();
  for (run = first; run < first + n; run++)
    {
      alarm (HUNG_SECONDS);
      run_one (&counts);
    }
  alarm (0);
  clear_files ();
  remove_dir (dir);
  for (guint i = 0; i < bases->len; i++)
    {
      g_free (g_array_index (bases, Base, i).text);
      g_free (g_array_index (bases, Base, i).wal);
    }
  g_array_unref (bases);
  g_free (dir);
  g_free (path);
  g_free (wal_path);
  printf ("%u refused, %u opened, of which %u verified\n", counts.refused, counts.opened, counts.sound);
  require (n < 100 || (counts.refused > n / 10 && counts.opened > n / 10),
           "nearly all files were refused, or nearly all were opened");
  printf ("%u passed, 0 failed\n", n);
  return EXIT_SUCCESS;
}
