/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger over the years: databases that an older quoit wrote. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sql.h"

/* --- databases of an older quoit --- */

/* What version 1 wrote, in @place. */
static void
put_old (const Place *place)
{
  g_autofree char *old = g_build_filename (g_getenv ("top_srcdir"), "tests", "databases", "schema-1.db", NULL);
  g_autofree char *bytes = NULL;
  gsize length;

  ck_assert_msg (g_file_get_contents (old, &bytes, &length, NULL), "%s cannot be read", old);
  ck_assert (g_file_set_contents_full (place->path, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
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
      ck_assert_int_eq (fleet->layout->nodes[node.index].claimed, states[i].claimed);
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
  ck_assert_int_eq (train->since_ms, 1795168803000);
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

START_TEST (a_database_of_version_1_shows_what_it_showed)
{
  g_auto (Place) place = place_new ();
  g_autoptr (GError) error = NULL;

  put_old (&place);
  for (guint handle = 0; handle < 2; handle++)
    {
      g_autoptr (QuoitStore) store = quoit_store_open (place.path, 0, &error);
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

START_TEST (a_database_of_version_1_goes_on)
{
  g_auto (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  put_old (&place);
  store = quoit_store_open (place.path, 0, &error);
  ck_assert_ok (error);
  /* The key of a group that was released still names it; no id comes again. */
  ck_assert_uint_eq (store_reserve (store, "other", "k-gone", 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "k-gone");
  ck_assert_uint_eq (store_reserve (store, "small", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'small@2'");
  ck_assert (store_release (store, "small", &error));
  ck_assert (store_set_state (store, "small-1-0", QUOIT_NODE_ALIVE, &error));
  ck_assert_uint_eq (store_reserve (store, "small", NULL, 1, &error), 5);
  ck_assert (quoit_store_verify (store, &error));
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (place.path, 0, &error);
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

START_TEST (opening_brings_an_old_database_to_the_form_of_a_new_one)
{
  static const char *const schema = "SELECT sum (length (sql)) + count (*) FROM sqlite_schema";
  g_auto (Place) place = place_new ();
  g_autoptr (QuoitStore) old = NULL, new = quoit_store_create (place.copy, 0, NULL);

  put_old (&place);
  old = quoit_store_open (place.path, 0, NULL);
  ck_assert_ptr_nonnull (old);
  ck_assert_int_eq (number_in (place.path, "PRAGMA user_version"), QUOIT_SCHEMA_VERSION);
  ck_assert_int_eq (number_in (place.path, schema), number_in (place.copy, schema));
}
END_TEST

START_TEST (processes_that_upgrade_at_once_find_it_done)
{
  for (guint round = 0; round < 10; round++)
    {
      g_auto (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) store = NULL;
      pid_t children[4];
      int status, gate[2];

      put_old (&place);
      ck_assert_int_eq (pipe (gate), 0);
      for (gsize i = 0; i < G_N_ELEMENTS (children); i++)
        if ((children[i] = fork ()) == 0)
          {
            QuoitStore *own;
            char c;

            /* They begin when the last one holds the pipe open no longer. */
            close (gate[1]);
            if (read (gate[0], &c, 1) != 0)
              _exit (2);
            own = quoit_store_open (place.path, 10000, NULL);
            _exit (own != NULL && quoit_store_verify (own, NULL) ? 0 : 1);
          }
      close (gate[0]);
      close (gate[1]);
      for (gsize i = 0; i < G_N_ELEMENTS (children); i++)
        {
          ck_assert_int_eq (waitpid (children[i], &status, 0), children[i]);
          ck_assert_int_eq (status, 0);
        }
      store = quoit_store_open (place.path, 0, &error);
      ck_assert_ok (error);
      check_old_entries (store);
    }
}
END_TEST

/* Who may write everywhere, as root may, is nobody here. */
static int
open_as_nobody (const char *path)
{
  g_autoptr (GError) error = NULL;

  if (geteuid () == 0 && (setgid (65534) != 0 || setuid (65534) != 0))
    return 2;
  if (quoit_store_open (path, 0, &error) != NULL || error->code != QUOIT_ERROR_STORE)
    return 3;
  if (strstr (error->message, "version 2") == NULL || strstr (error->message, "must be writable") == NULL)
    return 4;
  return 0;
}

START_TEST (an_old_database_that_may_not_be_written_says_so)
{
  g_auto (Place) place = place_new ();
  pid_t child;
  int status;

  put_old (&place);
  /* Its folder may be written, or SQLite could not even look. */
  ck_assert_int_eq (g_chmod (place.path, 0444), 0);
  ck_assert_int_eq (g_chmod (place.dir, 0777), 0);
  child = fork ();
  if (child == 0)
    _exit (open_as_nobody (place.path));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert_int_eq (number_in (place.path, "PRAGMA user_version"), 1);
}
END_TEST

static const struct {
  const char *sql;
  QuoitErrorCode code;
  const char *part;
} old_refusals[] = {
  { "CREATE TABLE checkpoint (seq)", QUOIT_ERROR_DAMAGED, "8 of its 7 tables" },
  { "CREATE TABLE mine (x)", QUOIT_ERROR_DAMAGED, "table 'mine'" },
  { "DROP TABLE kind", QUOIT_ERROR_DAMAGED, "6 of its 7 tables" },
  { "PRAGMA application_id = 5", QUOIT_ERROR_INVALID, "not a database of quoit" },
  { "UPDATE node SET state = 7 WHERE id = 1", QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
};

START_TEST (an_old_database_that_is_not_sound_is_refused)
{
  g_auto (Place) place = place_new ();
  g_autoptr (GError) error = NULL;

  put_old (&place);
  meddle (place.path, old_refusals[_i].sql);
  ck_assert_ptr_null (quoit_store_open (place.path, 0, &error));
  ck_assert_refused (error, old_refusals[_i].code, old_refusals[_i].part);
}
END_TEST

START_TEST (an_old_backup_put_back_beneath_an_open_handle_is_seen)
{
  g_auto (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (place.path, 0, NULL);

  fill (store);
  meddle (place.path, "PRAGMA user_version = 1");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "version 1");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("history");
  TCase *old = tcase_create ("old");

  tcase_add_test (old, a_database_of_version_1_shows_what_it_showed);
  tcase_add_test (old, a_database_of_version_1_goes_on);
  tcase_add_test (old, opening_brings_an_old_database_to_the_form_of_a_new_one);
  tcase_add_test (old, processes_that_upgrade_at_once_find_it_done);
  tcase_add_test (old, an_old_database_that_may_not_be_written_says_so);
  tcase_add_loop_test (old, an_old_database_that_is_not_sound_is_refused, 0, (int) G_N_ELEMENTS (old_refusals));
  tcase_add_test (old, an_old_backup_put_back_beneath_an_open_handle_is_seen);
  suite_add_tcase (suite, old);
  return suite_main (suite);
}
