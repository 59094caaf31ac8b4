/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades a database of an older version while the disk, the memory or the power fails at each operation in turn.
 * The database must be completely old or completely new, must lose no data, and must open again. */
#include "../support.h"
#include "disk.h"

#include <sqlite3.h>

static char *old_bytes, *expected;
static gsize old_length;
static gint64 old_version;

static void
remove_ledger (const char *path)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-journal", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      g_unlink (name);
    }
}

static void
put_old (const char *path)
{
  remove_ledger (path);
  require (g_file_set_contents_full (path, old_bytes, (gssize) old_length, G_FILE_SET_CONTENTS_NONE, 0600, NULL), "%s",
           path);
}

/* The whole state of a ledger, including past states. */
static char *
state_of (QuoitLedger *ledger)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (QuoitSnapshot) now = quoit_ledger_snapshot (ledger);
  guint64 first;

  require (quoit_ledger_read_checkpoint (ledger, &first, NULL, NULL), "the checkpoint");
  for (guint64 seq = first; seq <= quoit_snapshot_get_seq (now); seq++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitSnapshot) then = quoit_ledger_snapshot_at (ledger, seq, &error);
      g_autofree char *json = NULL;

      require (then != NULL, "%s", error_text (error));
      json = quoit_snapshot_dup_json (then);
      g_string_append (text, json);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gint64
number_in (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *stmt = NULL;
  gint64 number;

  require (sqlite3_open (path, &db) == SQLITE_OK && sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL) == SQLITE_OK
               && sqlite3_step (stmt) == SQLITE_ROW,
           "%s: %s", sql, sqlite3_errmsg (db));
  number = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  sqlite3_close (db);
  return number;
}

static void
require_whole_version (const char *path, const char *what)
{
  gint64 version = number_in (path, "PRAGMA user_version");
  gint64 has_checkpoints = number_in (path, "SELECT count (*) FROM sqlite_schema WHERE name = 'checkpoint'");

  gint64 has_identity = number_in (path, "SELECT count (*) FROM sqlite_schema WHERE name = 'ledger'");
  gint64 has_priorities = number_in (path, "SELECT count (*) FROM pragma_table_info ('grp') WHERE name = 'priority'");

  require (version == old_version || version == 4, "%s: version %d", what, (int) version);
  require (has_checkpoints == (version > 1) && has_identity == (version > 2) && has_priorities == (version > 3),
           "%s: the tables are not those of version %d", what, (int) version);
}

static void
require_opens (const char *path, const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (path, 0, &error);
  g_autofree char *state = NULL;

  require (ledger != NULL, "%s: %s", what, error_text (error));
  require_verified (ledger, what);
  state = state_of (ledger);
  require (strcmp (state, expected) == 0, "%s: it says something else:\n%s", what, state);
}

/* FALSE if the upgrade had fewer operations than the failure needs. */
static gboolean
upgrade_with_failure (const char *path, gboolean (*failed) (void), void (*mend) (void), const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (path, 0, &error);
  gboolean seen = failed ();

  mend ();
  require ((ledger == NULL) == (error != NULL), "%s: result and error disagree", what);
  require (error == NULL || (seen && error->code == QUOIT_ERROR_STORE), "%s: %s", what, error_text (error));
  g_clear_pointer (&ledger, quoit_ledger_unref);
  require_whole_version (path, what);
  require_opens (path, what);
  return seen;
}

static guint
every_disk_failure (const char *path)
{
  guint runs = 0;

  for (gsize f = 0; f < DISK_N_TROUBLES; f++)
    {
      gboolean seen = TRUE;
      guint n;

      for (n = 1; seen; n++, runs++)
        {
          g_autofree char *what = g_strdup_printf ("%s, operation %u", disk_troubles[f].name, n);

          put_old (path);
          disk_fail (disk_troubles[f].operations, n, disk_troubles[f].failure);
          seen = upgrade_with_failure (path, disk_failed, disk_mend, what);
        }
      printf ("%s: at each of %u operations\n", disk_troubles[f].name, n - 2);
      require (n > 2, "%s: it never does", disk_troubles[f].name);
    }
  return runs;
}

/* Fails each of the first 60 allocations, then only every @step-th, because the later ones are alike. */
static guint
every_allocation (const char *path, DiskFailure failure)
{
  const guint step = MAX (1, 67 / scaled (1));
  gboolean seen = TRUE;
  guint runs = 0, n;

  for (n = 1; seen; n += n < 60 ? 1 : step, runs++)
    {
      g_autofree char *what = g_strdup_printf ("allocation %u fails", n);

      put_old (path);
      memory_fail (n, failure);
      seen = upgrade_with_failure (path, memory_failed, memory_mend, what);
    }
  printf ("allocations of SQLite: %u of %u fail%s\n", runs - 1, n, failure == DISK_IS_GONE ? ", and all after it" : "");
  return runs;
}

static guint
every_power_loss (char *dir, const char *path, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) images = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;

  put_old (path);
  disk_record (rand);
  ledger = quoit_ledger_open (path, 0, NULL);
  require (ledger != NULL, "an upgrade");
  disk_acknowledge (1);
  g_clear_pointer (&ledger, quoit_ledger_unref);
  images = disk_images ();
  for (guint i = 0; i < images->len; i++)
    {
      const DiskImage *image = images->pdata[i];
      g_autofree char *what = g_strdup_printf ("seed %u, power loss before operation %u", seed, image->at);

      remove_ledger (path);
      disk_image_save (image, dir);
      require_whole_version (path, what);
      require (image->acknowledged == 0 || number_in (path, "PRAGMA user_version") == 4, "%s: the upgrade is lost",
               what);
      require_opens (path, what);
    }
  return images->len;
}

static guint
fail_upgrades (gint64 version, guint32 seed)
{
  g_autofree char *dir = fast_dir (), *path = g_build_filename (dir, "ledger.db", NULL);
  g_autofree char *name = g_strdup_printf ("schema-%d.db", (int) version);
  g_autofree char *old = g_build_filename (g_getenv ("top_srcdir"), "tests", "databases", name, NULL);
  g_autoptr (QuoitLedger) ledger = NULL;
  guint runs = 0, losses = 0;

  printf ("from version %d\n", (int) version);
  old_version = version;
  require (g_file_get_contents (old, &old_bytes, &old_length, NULL), "%s", old);
  put_old (path);
  ledger = quoit_ledger_open (path, 0, NULL);
  require (ledger != NULL, "%s", old);
  expected = state_of (ledger);
  g_clear_pointer (&ledger, quoit_ledger_unref);

  runs += every_disk_failure (path);
  runs += every_allocation (path, DISK_FAILS_ONCE);
  runs += every_allocation (path, DISK_IS_GONE);
  for (guint round = 0; round < scaled (3); round++)
    losses += every_power_loss (dir, path, seed + round);
  printf ("the power fails: %u times\n", losses);
  remove_dir (dir);
  g_free (old_bytes);
  g_free (expected);
  return runs + losses;
}

int
main (void)
{
  guint32 seed = random_seed ("power loss", 1);
  guint runs = 0;

  disk_install ();
  for (gint64 version = 1; version <= 3; version++)
    runs += fail_upgrades (version, seed);
  printf ("%u passed, 0 failed\n", runs);
  return EXIT_SUCCESS;
}
