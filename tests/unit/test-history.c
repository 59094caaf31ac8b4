/* SPDX-License-Identifier: Apache-2.0 */
/* Databases of an older quoit, checkpoints, and past states. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sqlite/sqlite.h"

/* --- databases of an older quoit --- */

static void
put_old (const TestPaths *paths)
{
  g_autofree char *old = g_build_filename (g_getenv ("top_srcdir"), "tests", "databases", "schema-1.db", NULL);
  g_autofree char *bytes = NULL;
  gsize length;

  ck_assert_msg (g_file_get_contents (old, &bytes, &length, NULL), "%s cannot be read", old);
  ck_assert (g_file_set_contents_full (paths->path, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static const struct {
  QuoitVerb verb;
  gint64 time_ms;
} old_entries[] = {
  { QUOIT_VERB_IMPORT, 1795168800000 },  { QUOIT_VERB_IMPORT, 1795168801000 },    { QUOIT_VERB_IMPORT, 1795168802000 },
  { QUOIT_VERB_RESERVE, 1795168803000 }, { QUOIT_VERB_RESERVE, 1795168804000 },   { QUOIT_VERB_RESERVE, 1795168805000 },
  { QUOIT_VERB_RELEASE, 1795168806000 }, { QUOIT_VERB_RESERVE, 1795168807000 },   { QUOIT_VERB_RELEASE, 1795168808000 },
  { QUOIT_VERB_DRAIN, 1795168809000 },   { QUOIT_VERB_SET_STATE, 1795168810000 },
};

static void
check_old_entries (QuoitStore *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = quoit_store_entries (store, 0, &error);

  ck_assert_ok (error);
  ck_assert_uint_eq (entries->len, G_N_ELEMENTS (old_entries));
  for (guint i = 0; i < entries->len; i++)
    {
      const QuoitEntry *entry = entries->pdata[i];

      ck_assert_uint_eq (entry->seq, i + 1);
      ck_assert_int_eq (entry->verb, old_entries[i].verb);
      ck_assert_int_eq (entry->time_ms, old_entries[i].time_ms);
      ck_assert_str_eq (entry->actor, "root");
    }
}

static void
check_old_sources (const QuoitLayout *layout)
{
  static const struct {
    const char *name;
    QuoitSourceKind kind;
    guint32 n_nodes;
  } sources[] = {
    { "fleet", QUOIT_SOURCE_KIND_FLEET, 24 },
    { "lost", QUOIT_SOURCE_KIND_RAY_NODES, 5 },
    { "two-slices", QUOIT_SOURCE_KIND_RAYCLUSTER, 9 },
  };

  ck_assert_uint_eq (layout->n_sources, G_N_ELEMENTS (sources));
  for (guint i = 0; i < layout->n_sources; i++)
    {
      ck_assert_str_eq (quoit_layout_text (layout, layout->sources[i].name), sources[i].name);
      ck_assert_int_eq (layout->sources[i].kind, sources[i].kind);
      ck_assert_uint_eq (layout->sources[i].n_nodes, sources[i].n_nodes);
    }
  ck_assert_uint_eq (layout->n_slices, 10);
  ck_assert_uint_eq (layout->n_nodes, 38);
}

static void
check_old_states (const QuoitFleet *fleet)
{
  static const struct {
    const char *node;
    QuoitNodeState claimed, state;
  } states[] = {
    { "v6e-4x4-0-1", QUOIT_NODE_ALIVE, QUOIT_NODE_DEAD },      { "small-1-0", QUOIT_NODE_ALIVE, QUOIT_NODE_DRAINING },
    { "small-0-1", QUOIT_NODE_DRAINING, QUOIT_NODE_DRAINING }, { "big-2-3", QUOIT_NODE_DEAD, QUOIT_NODE_DEAD },
    { "127.0.0.4", QUOIT_NODE_DEAD, QUOIT_NODE_DEAD },         { "tpu-group-0-0", QUOIT_NODE_ALIVE, QUOIT_NODE_ALIVE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (states); i++)
    {
      QuoitNodeId node;

      ck_assert_msg (quoit_layout_lookup_node (fleet->layout, states[i].node, &node, NULL), "%s", states[i].node);
      ck_assert_int_eq (quoit_layout_claimed_state (fleet->layout, node), states[i].claimed);
      ck_assert_int_eq (quoit_fleet_node_state (fleet, node), states[i].state);
    }
}

static void
check_old_groups (const QuoitFleet *fleet)
{
  const QuoitGroupData *train = quoit_fleet_find_group (fleet, "train"), *gone = quoit_fleet_find_key (fleet, "k-gone");
  const QuoitGroupData *small = quoit_fleet_find_group (fleet, "small");

  ck_assert_uint_eq (fleet->n_groups, 3);
  ck_assert_ptr_nonnull (train);
  ck_assert_uint_eq (train->id, 1);
  ck_assert_str_eq (train->owner, "team-a");
  ck_assert_str_eq (train->key, "k-train");
  ck_assert_str_eq (train->request, "v6e 4x4 x 2 hostchips=4");
  ck_assert_uint_eq (train->n_slices, 2);
  ck_assert_uint_eq (train->n_nodes, 8);
  ck_assert_int_eq (train->created_ms, 1795168803000);
  ck_assert_int_eq (quoit_fleet_group_state (fleet, train), QUOIT_GROUP_RESCHEDULING);
  ck_assert_ptr_nonnull (small);
  ck_assert_uint_eq (small->id, 2);
  ck_assert_int_eq (quoit_fleet_group_state (fleet, small), QUOIT_GROUP_RESCHEDULING);
  ck_assert_ptr_nonnull (gone);
  ck_assert_uint_eq (gone->id, 3);
  ck_assert_int_eq (gone->state, QUOIT_GROUP_REMOVED);
  ck_assert_int_eq (gone->ended_ms, 1795168806000);
  ck_assert_ptr_null (quoit_fleet_find_group (fleet, "plain"));
}

START_TEST (database_of_version_1_has_its_old_contents)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;

  put_old (&paths);
  for (guint handle = 0; handle < 2; handle++)
    {
      g_autoptr (QuoitStore) store = quoit_store_open (paths.path, 0, &error);
      g_autoptr (QuoitFleet) fleet = NULL;

      ck_assert_ok (error);
      fleet = quoit_store_fleet (store);
      ck_assert_uint_eq (fleet->seq, G_N_ELEMENTS (old_entries));
      ck_assert_int_eq (fleet->clock_ms, 1795168810000);
      ck_assert_uint_eq (fleet->next_group_id, 5);
      ck_assert_uint_eq (fleet->next_node_id, 39);
      check_old_entries (store);
      check_old_sources (fleet->layout);
      check_old_states (fleet);
      check_old_groups (fleet);
      ck_assert_msg (quoit_store_verify (store, &error), "%s", error == NULL ? "" : error->message);
    }
}
END_TEST

START_TEST (database_of_version_1_can_be_changed)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  put_old (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  /* The key of a released group is still known, and its id is not reused. */
  ck_assert_uint_eq (store_reserve (store, "other", "k-gone", 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "k-gone");
  ck_assert_uint_eq (store_reserve (store, "small", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'small@2'");
  ck_assert (store_release (store, "small", &error));
  ck_assert (store_set_state (store, "small-1-0", QUOIT_NODE_ALIVE, &error));
  ck_assert_uint_eq (store_reserve (store, "small", NULL, 1, &error), 5);
  ck_assert (quoit_store_verify (store, &error));
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_has (store, "small") && store_has (store, "train"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

static gint64
number_in (const char *path, const char *sql)
{
  sqlite3 *db;
  sqlite3_stmt *stmt;
  gint64 number;

  ck_assert_int_eq (sqlite3_open (path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL), SQLITE_OK);
  ck_assert_int_eq (sqlite3_step (stmt), SQLITE_ROW);
  number = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  return number;
}

START_TEST (opening_upgrades_the_schema_of_an_old_database)
{
  static const char *const schema = "SELECT sum (length (sql)) + count (*) FROM sqlite_schema";
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) old = NULL, new = quoit_store_create (paths.copy, 0, NULL);

  put_old (&paths);
  old = quoit_store_open (paths.path, 0, NULL);
  ck_assert_ptr_nonnull (old);
  ck_assert_ptr_nonnull (new);
  ck_assert_int_eq (number_in (paths.path, "PRAGMA user_version"), QUOIT_SCHEMA_VERSION);
  ck_assert_int_eq (number_in (paths.path, schema), number_in (paths.copy, schema));
}
END_TEST

START_TEST (concurrent_upgrades_succeed)
{
  for (guint round = 0; round < 10; round++)
    {
      g_auto (TestPaths) paths = test_paths_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) store = NULL;
      pid_t children[4];
      int status, gate[2];

      put_old (&paths);
      ck_assert_int_eq (pipe (gate), 0);
      for (gsize i = 0; i < G_N_ELEMENTS (children); i++)
        if ((children[i] = fork ()) == 0)
          {
            QuoitStore *own;
            char c;

            /* The children start when the last end of the pipe is closed. */
            close (gate[1]);
            if (read (gate[0], &c, 1) != 0)
              _exit (2);
            own = quoit_store_open (paths.path, 10000, NULL);
            _exit (own != NULL && quoit_store_verify (own, NULL) ? 0 : 1);
          }
      close (gate[0]);
      close (gate[1]);
      for (gsize i = 0; i < G_N_ELEMENTS (children); i++)
        {
          ck_assert_int_eq (waitpid (children[i], &status, 0), children[i]);
          ck_assert_int_eq (status, 0);
        }
      store = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      check_old_entries (store);
    }
}
END_TEST

/* Drops root privileges, because root may write everywhere. */
static int
open_as_nobody (const char *path)
{
  g_autoptr (GError) error = NULL;

  if (geteuid () == 0 && (setgid (65534) != 0 || setuid (65534) != 0))
    return 2;
  if (quoit_store_open (path, 0, &error) != NULL || error->code != QUOIT_ERROR_STORE)
    return 3;
  if (strstr (error->message, "version 4") == NULL || strstr (error->message, "must be writable") == NULL)
    return 4;
  return 0;
}

START_TEST (upgrade_of_read_only_database_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  pid_t child;
  int status;

  put_old (&paths);
  /* Its folder is writable, because SQLite could not even read otherwise. */
  ck_assert_int_eq (g_chmod (paths.path, 0444), 0);
  ck_assert_int_eq (g_chmod (paths.dir, 0777), 0);
  child = fork ();
  if (child == 0)
    _exit (open_as_nobody (paths.path));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert_int_eq (number_in (paths.path, "PRAGMA user_version"), 1);
}
END_TEST

static const struct {
  const char *sql;
  QuoitErrorCode code;
  const char *part;
} old_refusals[] = {
  { "CREATE TABLE checkpoint (seq)", QUOIT_ERROR_DAMAGED, "table 'checkpoint' that quoit did not make" },
  { "CREATE TABLE mine (x)", QUOIT_ERROR_DAMAGED, "table 'mine'" },
  { "DROP TABLE kind", QUOIT_ERROR_DAMAGED, "no 'kind' any more" },
  { "PRAGMA application_id = 5", QUOIT_ERROR_INVALID, "not a database of quoit" },
  { "UPDATE node SET state = 7 WHERE id = 1", QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
};

START_TEST (damaged_old_database_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;

  put_old (&paths);
  tamper (paths.path, old_refusals[_i].sql);
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, old_refusals[_i].code, old_refusals[_i].part);
}
END_TEST

START_TEST (old_version_under_an_open_handle_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  fill (store);
  tamper (paths.path, "PRAGMA user_version = 1");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "version 1");
}
END_TEST

/* --- checkpoints: the same in memory and in a file --- */

static QuoitStore *
store_of (int engine, const TestPaths *paths)
{
  return engine == 0 ? quoit_store_new_memory () : quoit_store_create (paths->path, 0, NULL);
}

/* Two sources. "train" has slices with nodes that their source has since reported as used. "old" and "older" were
 * released and their keys are remembered; "free" had no key. One node is dead, one is draining, one has been
 * removed. */
static void
live (QuoitStore *store)
{
  const FixturePool second = { "b", "2x2x2", "y", 2, QUOIT_GENERATION_V5P, 4 };
  g_autoptr (GError) error = NULL;
  QuoitClaims *claims = quoit_claims_new ("second", QUOIT_SOURCE_KIND_RAY_NODES);

  fill (store);
  ck_assert (store_call_used (store, 3, 2, T0 + 1, &error));
  fixture_add_pool (claims, &second);
  ck_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0 + 2, NULL, NULL,
                                 &error));
  quoit_claims_free (claims);
  ck_assert (store_release (store, "train", &error));
  ck_assert_uint_eq (store_reserve (store, "older", "key-older", 1, &error), 3);
  ck_assert (store_release (store, "older", &error));
  ck_assert_uint_eq (store_reserve (store, "free", NULL, 1, &error), 4);
  ck_assert (store_set_state (store, "b-0-1", QUOIT_NODE_DRAINING, &error));
  ck_assert (store_set_state (store, "b-1-1", QUOIT_NODE_DEAD, &error));
  ck_assert (store_set_state (store, "b-1-1", QUOIT_NODE_ALIVE, &error));
  ck_assert_ok (error);
}

enum { LIFE = 14 };

static void
assert_same (const QuoitFleet *a, const QuoitFleet *b)
{
  g_autoptr (GError) error = NULL;
  gboolean same = quoit_step_compare (a, b, &error) && quoit_fleet_check (a, &error);

  ck_assert_ok (error);
  ck_assert (same);
}

static void
assert_verified (QuoitStore *store)
{
  g_autoptr (GError) error = NULL;
  gboolean verified = quoit_store_verify (store, &error);

  ck_assert_ok (error);
  ck_assert (verified);
}

static guint64
compact (QuoitStore *store, guint64 before, GError **error)
{
  guint64 n = 4711;

  return quoit_store_compact (store, before, T0, &n, error) ? n : G_MAXUINT64;
}

/* Every past fleet of a life with a complete journal. */
static GPtrArray *
every_fleet (void)
{
  g_autoptr (QuoitStore) store = quoit_store_new_memory ();
  GPtrArray *fleets = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_fleet_unref);

  live (store);
  for (guint64 seq = 0; seq <= LIFE; seq++)
    {
      g_ptr_array_add (fleets, quoit_store_fleet_at (store, seq, NULL));
      ck_assert_ptr_nonnull (fleets->pdata[seq]);
      ck_assert_uint_eq (((QuoitFleet *) fleets->pdata[seq])->seq, seq);
    }
  return fleets;
}

static void
check_past (QuoitStore *store, guint64 checkpoint)
{
  g_autoptr (GPtrArray) fleets = every_fleet ();
  g_autoptr (GError) error = NULL;

  for (guint64 seq = 0; seq <= LIFE; seq++)
    {
      g_autoptr (QuoitFleet) fleet = quoit_store_fleet_at (store, seq, &error);
      g_autoptr (GPtrArray) entries = NULL;

      ck_assert_int_eq (fleet != NULL, seq >= checkpoint);
      if (fleet != NULL)
        assert_same (fleets->pdata[seq], fleet);
      else
        ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "a checkpoint");
      entries = quoit_store_entries (store, seq, &error);
      ck_assert_int_eq (entries != NULL, seq >= checkpoint);
      if (entries == NULL)
        ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "the first stored entry");
      else
        {
          ck_assert_uint_eq (entries->len, LIFE - seq);
          ck_assert (entries->len == 0 || ((QuoitEntry *) entries->pdata[0])->seq == seq + 1);
        }
    }
  ck_assert_ptr_null (quoit_store_fleet_at (store, LIFE + 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "the last one is 14");
}

START_TEST (checkpoint_at_any_entry_changes_only_the_history)
{
  for (guint64 before = 1; before <= LIFE + 1; before++)
    {
      g_auto (TestPaths) paths = test_paths_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) store = store_of (_i, &paths);
      g_autoptr (QuoitFleet) whole = NULL, after = NULL;

      live (store);
      whole = quoit_store_fleet (store);
      ck_assert_uint_eq (compact (store, before, &error), before - 1);
      ck_assert_ok (error);
      for (guint handle = 0; handle < 2; handle++)
        {
          assert_verified (store);
          g_clear_pointer (&after, quoit_fleet_unref);
          after = quoit_store_fleet (store);
          assert_same (whole, after);
          check_past (store, before - 1);
          if (_i == 0)
            break;
          g_clear_pointer (&store, quoit_store_free);
          store = quoit_store_open (paths.path, 0, &error);
          ck_assert_ok (error);
        }
      ck_assert_uint_eq (store_reserve (store, "old", "key-old", 1, &error), 1);
      ck_assert (store_release (store, "free", &error));
      ck_assert_uint_eq (store_reserve (store, "next", NULL, 1, &error), 5);
      assert_verified (store);
      ck_assert_uint_eq (compact (store, LIFE + 3, &error), LIFE + 2 - (before - 1));
      assert_verified (store);
    }
}
END_TEST

START_TEST (repeated_checkpoints_equal_one_checkpoint)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);
  guint64 seq;
  gint64 made_ms;

  live (store);
  ck_assert (quoit_store_checkpoint (store, &seq, &made_ms, &error));
  ck_assert_uint_eq (seq, 0);
  ck_assert_int_eq (made_ms, 0);
  for (guint64 before = 2; before <= LIFE + 1; before++)
    {
      ck_assert_uint_eq (compact (store, before, &error), 1);
      check_past (store, before - 1);
      assert_verified (store);
    }
  ck_assert (quoit_store_checkpoint (store, &seq, &made_ms, &error));
  ck_assert_uint_eq (seq, LIFE);
  ck_assert_int_eq (made_ms, T0 + 2);
}
END_TEST

START_TEST (compaction_before_absent_entry_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);
  guint64 n = 4711;

  ck_assert_uint_eq (compact (store, 1, &error), 0);
  ck_assert_uint_eq (compact (store, 2, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "entry '2': expected 1, the first stored entry, to 1, the next entry");
  live (store);
  ck_assert_uint_eq (compact (store, 0, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "entry '0': expected 1");
  ck_assert_uint_eq (compact (store, LIFE + 2, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "entry '16': expected 1, the first stored entry, to 15, the next entry");
  ck_assert_uint_eq (compact (store, G_MAXUINT64, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "to 15");
  ck_assert (!quoit_store_compact (store, 5, T0 / 1000, &n, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "1750000000");
  ck_assert_uint_eq (n, 4711);
  ck_assert_uint_eq (compact (store, 5, &error), 4);
  ck_assert_uint_eq (compact (store, 5, &error), 0);
  ck_assert_uint_eq (compact (store, 4, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "entry '4': expected 5");
  ck_assert (quoit_store_compact (store, 6, T0, NULL, &error));
  check_past (store, 5);
}
END_TEST

START_TEST (compaction_within_a_batch_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);
  guint64 seq;

  live (store);
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert_uint_eq (compact (store, 5, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  ck_assert_ptr_null (quoit_store_fleet_at (store, 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  ck_assert (!quoit_store_checkpoint (store, &seq, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  quoit_store_cancel_batch (store);
  check_past (store, 0);
}
END_TEST

START_TEST (batch_after_a_checkpoint_can_be_cancelled)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);

  live (store);
  ck_assert_uint_eq (compact (store, LIFE + 1, &error), LIFE);
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_release (store, "free", &error));
  ck_assert_uint_eq (store_reserve (store, "next", NULL, 1, &error), 5);
  quoit_store_cancel_batch (store);
  check_past (store, LIFE);
  assert_verified (store);
}
END_TEST

/* --- checkpoints by another handle --- */

START_TEST (compaction_waits_for_a_writer_up_to_the_timeout)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = NULL;

  live (a);
  b = quoit_store_open (paths.path, 50, &error);
  ck_assert (quoit_store_begin_batch (a, &error));
  ck_assert_uint_eq (compact (b, 5, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_BUSY, "50 ms");
  check_past (b, 0);
  quoit_store_cancel_batch (a);
  ck_assert_uint_eq (compact (b, 5, &error), 4);
  check_past (a, 4);
}
END_TEST

/* The path now belongs to another file, whose journal is not that of this handle. */
START_TEST (replaced_database_is_neither_compacted_nor_read)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), other = NULL;

  live (store);
  other = quoit_store_create (paths.copy, 0, NULL);
  live (other);
  g_clear_pointer (&other, quoit_store_free);
  ck_assert_int_eq (g_rename (paths.copy, paths.path), 0);
  ck_assert_uint_eq (compact (store, 5, &error), G_MAXUINT64);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "the database file was deleted or replaced");
  ck_assert_ptr_null (quoit_store_fleet_at (store, 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "the database file was deleted or replaced");
}
END_TEST

static void
set_back (QuoitStore *store, guint64 seq)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&store->fleet, quoit_fleet_unref);
  store->fleet = quoit_sqlite_replay (&store->db, seq, store->chain, &error);
  store->db.current_version = 0;
  ck_assert_ok (error);
}

START_TEST (handle_behind_a_compaction_catches_up)
{
  /* The number of entries that it has read before another handle compacts and continues. */
  for (guint64 known = 0; known <= LIFE; known++)
    {
      g_auto (TestPaths) paths = test_paths_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = NULL;
      g_autoptr (QuoitFleet) fleet_a = NULL, fleet_b = NULL;

      live (a);
      b = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      set_back (b, known);
      ck_assert_uint_eq (compact (a, 9, &error), 8);
      ck_assert (store_release (a, "free", &error));
      ck_assert_uint_eq (store_reserve (a, "late", NULL, 1, &error), 5);
      ck_assert (_i == 0 ? quoit_store_refresh (b, &error) : store_release (b, "late", &error));
      ck_assert_ok (error);
      ck_assert (quoit_store_refresh (a, &error));
      fleet_a = quoit_store_fleet (a);
      fleet_b = quoit_store_fleet (b);
      assert_same (fleet_a, fleet_b);
      assert_verified (b);
      /* Again after a compaction of the whole journal. */
      ck_assert_uint_eq (compact (b, fleet_b->seq + 1, &error), fleet_b->seq - 8);
      ck_assert (store_set_state (a, "b-1-1", QUOIT_NODE_DEAD, &error));
      ck_assert (quoit_store_refresh (b, &error));
      assert_verified (a);
      assert_verified (b);
    }
}
END_TEST

static gboolean
hold_for (QuoitStore *store, const char *name, gint64 lease_ms, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = request_for (name, NULL, 1);

  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_HOLD, .hold = { request, lease_ms } }, now_ms, NULL,
                             NULL, error);
}

/* The leases of a group and an owner expire, and another group takes the name: 7 entries. */
static void
let_leases_end (QuoitStore *store)
{
  g_autoptr (GError) error = NULL;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (hold_for (store, "short", 1000, T0, &error));
  ck_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_OWNER, .owner = { "somebody", 2000 } }, T0,
                                 NULL, NULL, &error));
  ck_assert (hold_for (store, "short", 9000, T0 + 1500, &error));
  ck_assert (hold_for (store, "other", 9000, T0 + 2500, &error));
  ck_assert_ok (error);
}

START_TEST (handle_behind_a_compaction_knows_ended_groups)
{
  for (guint64 known = 1; known <= 7; known++)
    {
      g_auto (TestPaths) paths = test_paths_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = NULL;
      g_autoptr (QuoitFleet) fleet_a = NULL, fleet_b = NULL;

      let_leases_end (a);
      b = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      set_back (b, known);
      ck_assert_uint_eq (compact (a, 8, &error), 7);
      ck_assert (quoit_store_change (a, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = { "other", 0 } }, T0 + 2500,
                                     NULL, NULL, &error));
      ck_assert_msg (quoit_store_refresh (b, &error), "from entry %u: %s", (guint) known, error->message);
      fleet_a = quoit_store_fleet (a);
      fleet_b = quoit_store_fleet (b);
      assert_same (fleet_a, fleet_b);
      assert_verified (b);
    }
}
END_TEST

/* A different history of the same length in the same file. */
static const char *const replacements[] = {
  "DELETE FROM journal WHERE seq > 9",
  "DELETE FROM journal; DELETE FROM checkpoint",
  "UPDATE checkpoint SET seq = 14; DELETE FROM journal",
  "UPDATE checkpoint SET next_group = 4, seq = 14; DELETE FROM journal",
  "UPDATE checkpoint SET seq = 15; DELETE FROM journal; UPDATE grp SET id = 2 WHERE id = 4; UPDATE bundle SET grp = 2",
  "UPDATE checkpoint SET seq = 15; DELETE FROM journal; UPDATE grp SET name = 'eerf' WHERE id = 4",
  "UPDATE checkpoint SET seq = 15; DELETE FROM journal; UPDATE grp SET key = 'other' WHERE id = 1",
  "UPDATE journal SET time_ms = time_ms + 1 WHERE seq = 14",
};

START_TEST (replaced_database_is_detected_after_a_checkpoint)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  live (store);
  ck_assert_uint_eq (compact (store, 9, &error), 8);
  tamper (paths.path,
          "UPDATE checkpoint SET time_ms = (SELECT max (time_ms) FROM journal), next_group = 5, next_node = 11");
  tamper (paths.path, replacements[_i]);
  ck_assert (!store_release (store, "free", &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "the file was replaced while it was open");
  ck_assert (!quoit_store_refresh (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "the file was replaced while it was open");
}
END_TEST

/* --- detected damage --- */

static const struct {
  const char *sql, *part;
} image_damages[] = {
  { "UPDATE image SET body = CAST (replace (body, 'key-old', 'key-olt') AS BLOB)", "checksum" },
  { "UPDATE image SET body = substr (body, 1, length (body) - 1) WHERE part = 1", "checksum" },
  { "UPDATE image SET part = part + 10 WHERE part = 1", "checksum" },
  { "DELETE FROM image WHERE part = 2", "checksum" },
  { "DELETE FROM image", "checksum" },
  { "INSERT INTO image (body) SELECT body FROM image WHERE part = 1", "checksum" },
  { "UPDATE checkpoint SET sha256 = zeroblob (32)", "checksum" },
  { "UPDATE checkpoint SET sha256 = zeroblob (31)", "table 'checkpoint'" },
  { "UPDATE checkpoint SET seq = 8", "checksum" },
  { "UPDATE checkpoint SET seq = 0", "table 'checkpoint'" },
  { "UPDATE checkpoint SET time_ms = time_ms + 1", "checksum" },
  { "UPDATE checkpoint SET made_ms = made_ms + 1", "checksum" },
  { "UPDATE checkpoint SET next_group = next_group + 1", "checksum" },
  { "UPDATE checkpoint SET next_node = next_node + 1", "checksum" },
  { "UPDATE checkpoint SET next_node = -1", "table 'checkpoint'" },
  { "UPDATE checkpoint SET time_ms = -1", "table 'checkpoint'" },
  { "UPDATE checkpoint SET time_ms = 9000000000000000000", "table 'checkpoint'" },
  { "UPDATE checkpoint SET made_ms = 7258118400000", "table 'checkpoint'" },
  { "DELETE FROM checkpoint", "hash chain" },
  { "INSERT INTO journal SELECT 9, time_ms, verb, actor, next_group, next_node, effects, chain FROM journal WHERE seq "
    "= 10",
    "hash chain" },
  { "DELETE FROM journal WHERE seq = 10", "hash chain" },
  { "UPDATE node SET state = 0 WHERE state = 1", "the state of" },
};

START_TEST (verify_detects_a_changed_checkpoint)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  live (store);
  ck_assert_uint_eq (compact (store, 10, &error), 9);
  g_clear_pointer (&store, quoit_store_free);
  tamper (paths.path, image_damages[_i].sql);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert_msg (!quoit_store_verify (store, &error), "not found: %s", image_damages[_i].sql);
  ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED && strstr (error->message, image_damages[_i].part) != NULL,
                 "%s: code %d: %s", image_damages[_i].sql, error->code, error->message);
  g_clear_error (&error);
  if (_i == (int) G_N_ELEMENTS (image_damages) - 1)
    return;
  ck_assert_uint_eq (compact (store, LIFE + 1, &error), G_MAXUINT64);
  ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED, "%s", error->message);
}
END_TEST

START_TEST (compaction_keeps_a_contradiction_detectable)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  live (store);
  g_clear_pointer (&store, quoit_store_free);
  tamper (paths.path, "UPDATE grp SET owner = 'thief' WHERE name = 'free'");
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_uint_eq (compact (store, LIFE + 1, &error), LIFE);
  ck_assert (!quoit_store_verify (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "group of 'free'");
}
END_TEST

/* --- costs --- */

static void
reserve_and_release (QuoitStore *store, guint n)
{
  ck_assert (quoit_store_begin_batch (store, NULL));
  for (guint i = 0; i < n / 2; i++)
    ck_assert (store_reserve (store, "x", NULL, 1, NULL) != 0 && store_release (store, "x", NULL));
  ck_assert (quoit_store_commit_batch (store, NULL));
}

/* Steps of SQLite's virtual machine by the statements of @store since the last call. */
static guint
steps_of (QuoitStore *store)
{
  guint steps = 0;

  for (guint i = 0; i < N_SQL; i++)
    if (store->db.stmts[i] != NULL)
      steps += (guint) sqlite3_stmt_status (store->db.stmts[i], SQLITE_STMTSTATUS_VM_STEP, 1);
  return steps;
}

static guint
pages_of (QuoitStore *store)
{
  int now, most;

  ck_assert_int_eq (sqlite3_db_status (store->db.handle, SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 1), SQLITE_OK);
  return (guint) now;
}

typedef struct {
  guint opening_steps, opening_pages, verify_steps;
} Cost;

static Cost
cost_of (guint n_entries, int before)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);
  Cost cost;

  ck_assert (store_import (store, 3, T0, NULL));
  reserve_and_release (store, n_entries);
  if (before > 0)
    ck_assert_uint_eq (compact (store, n_entries + 2, &error), n_entries + 1);
  reserve_and_release (store, 20);
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  cost.opening_steps = steps_of (store);
  cost.opening_pages = pages_of (store);
  /* As in a verification, but on the connection whose steps are counted. */
  ck_assert (quoit_db_run (&store->db, SQL_BEGIN_READ, &error) && quoit_sqlite_check_replay (&store->db, NULL, &error)
             && quoit_db_roll_back (&store->db, &error));
  cost.verify_steps = steps_of (store);
  return cost;
}

START_TEST (cost_of_open_and_verify_excludes_compacted_entries)
{
  Cost few = cost_of (20, 1), many = cost_of (20000, 1), whole = cost_of (20000, 0);

  ck_assert_uint_eq (many.opening_steps, few.opening_steps);
  ck_assert_uint_eq (many.opening_pages, few.opening_pages);
  ck_assert_uint_eq (many.verify_steps, few.verify_steps);
  /* The cost of opening never depends on the journal; that of verify does without a checkpoint. */
  ck_assert_uint_le (whole.opening_steps, few.opening_steps + 10);
  ck_assert_uint_le (whole.opening_pages, few.opening_pages + 3);
  ck_assert_uint_ge (whole.verify_steps, 20 * few.verify_steps);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("history");
  TCase *old = tcase_create ("old"), *checkpoints = tcase_create ("checkpoints");

  tcase_set_timeout (checkpoints, 60);

  tcase_add_test (old, database_of_version_1_has_its_old_contents);
  tcase_add_test (old, database_of_version_1_can_be_changed);
  tcase_add_test (old, opening_upgrades_the_schema_of_an_old_database);
  tcase_add_test (old, concurrent_upgrades_succeed);
  tcase_add_test (old, upgrade_of_read_only_database_is_refused);
  tcase_add_loop_test (old, damaged_old_database_is_refused, 0, (int) G_N_ELEMENTS (old_refusals));
  tcase_add_test (old, old_version_under_an_open_handle_is_refused);
  suite_add_tcase (suite, old);
  tcase_add_loop_test (checkpoints, checkpoint_at_any_entry_changes_only_the_history, 0, 2);
  tcase_add_loop_test (checkpoints, repeated_checkpoints_equal_one_checkpoint, 0, 2);
  tcase_add_loop_test (checkpoints, compaction_before_absent_entry_is_refused, 0, 2);
  tcase_add_loop_test (checkpoints, compaction_within_a_batch_is_refused, 0, 2);
  tcase_add_loop_test (checkpoints, batch_after_a_checkpoint_can_be_cancelled, 0, 2);
  tcase_add_test (checkpoints, compaction_waits_for_a_writer_up_to_the_timeout);
  tcase_add_test (checkpoints, replaced_database_is_neither_compacted_nor_read);
  tcase_add_loop_test (checkpoints, handle_behind_a_compaction_catches_up, 0, 2);
  tcase_add_test (checkpoints, handle_behind_a_compaction_knows_ended_groups);
  tcase_add_loop_test (checkpoints, replaced_database_is_detected_after_a_checkpoint, 0,
                       (int) G_N_ELEMENTS (replacements));
  tcase_add_loop_test (checkpoints, verify_detects_a_changed_checkpoint, 0, (int) G_N_ELEMENTS (image_damages));
  tcase_add_test (checkpoints, compaction_keeps_a_contradiction_detectable);
  tcase_add_test (checkpoints, cost_of_open_and_verify_excludes_compacted_entries);
  suite_add_tcase (suite, checkpoints);
  return suite_main (suite);
}
