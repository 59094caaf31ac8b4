/* SPDX-License-Identifier: Apache-2.0 */
/* Guarantees of the public functions that involve several layers. */
#include <quoit/quoit.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static char *folder;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("quoit-XXXXXX", NULL);
}

static void
tear_down (void)
{
  GDir *entries = g_dir_open (folder, 0, NULL);

  for (const char *name = g_dir_read_name (entries); name != NULL; name = g_dir_read_name (entries))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_dir_close (entries);
  g_rmdir (folder);
  g_free (folder);
}

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
import_fleet (QuoitLedger *ledger, const char *text, const char *source)
{
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, source, NOW, &error));
  ck_assert_ok (error);
}

static QuoitGroup *
reserve (QuoitLedger *ledger, const char *name, int64_t n_slices, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, n_slices, NULL));
  return quoit_ledger_reserve (ledger, request, NOW, NULL, error);
}

START_TEST (database_replaced_by_rename_is_refused)
{
  g_autofree char *path = in_folder ("fleet.db"), *copy = in_folder ("copy.db");
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (path, 0, NULL);
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2", NULL);
  ck_assert (quoit_ledger_backup (ledger, copy, &error));
  ck_assert_int_eq (g_rename (copy, path), 0);
  ck_assert_ptr_null (reserve (ledger, "g", 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "the database file was deleted or replaced");
  ck_assert (!quoit_ledger_refresh (ledger, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "open it again");
}
END_TEST

START_TEST (sqlite_special_names_are_file_names)
{
  g_autofree char *before = g_get_current_dir ();
  g_autoptr (QuoitLedger) ledger = NULL;
  GError *error = NULL;

  ck_assert_int_eq (chdir (folder), 0);
  ledger = quoit_ledger_create (":memory:", 0, &error);
  ck_assert_ok (error);
  import_fleet (ledger, "v6e 4x4", NULL);
  g_clear_pointer (&ledger, quoit_ledger_unref);
  ledger = quoit_ledger_open (":memory:", 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_verify (ledger, &error));
  g_clear_pointer (&ledger, quoit_ledger_unref);
  ck_assert_int_eq (chdir (before), 0);
}
END_TEST

START_TEST (refresh_does_not_wait_for_a_writer)
{
  g_autofree char *path = in_folder ("fleet.db");
  g_autoptr (QuoitLedger) writer = quoit_ledger_create (path, 0, NULL), reader = quoit_ledger_open (path, 0, NULL);
  GError *error = NULL;

  ck_assert (quoit_ledger_begin_batch (writer, &error));
  ck_assert_msg (quoit_ledger_refresh (reader, &error), "%s", error == NULL ? "" : error->message);
  quoit_ledger_cancel_batch (writer);
}
END_TEST

static gpointer
rename_actors (gpointer data)
{
  for (guint i = 0; i < 20000; i++)
    quoit_ledger_set_actor (data, i % 2 == 0 ? "somebody with a name of some length" : NULL);
  return NULL;
}

START_TEST (actor_can_be_renamed_while_other_threads_write)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  GThread *thread;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4", NULL);
  thread = g_thread_new ("actors", rename_actors, ledger);
  for (guint i = 0; i < 2000; i++)
    {
      quoit_group_unref (reserve (ledger, "g", 1, &error));
      ck_assert_ok (error);
      ck_assert (quoit_ledger_release (ledger, "g", NOW, &error));
    }
  g_thread_join (thread);
}
END_TEST

/* `ray.nodes()`: a dead node has no resources. */
static char *
ray_nodes (const char *alive, const char *resources)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < 2; i++)
    g_string_append_printf (
        text,
        "%s{\"NodeID\": \"%056u\", \"Alive\": %s, \"NodeName\": \"10.0.0.%u\", \"NodeManagerAddress\": \"10.0.0.%u\", "
        "\"Resources\": %s, \"Labels\": {\"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": \"%u\", "
        "\"ray.io/tpu-topology\": \"2x2x2\", \"ray.io/tpu-pod-type\": \"v5p-16\", "
        "\"ray.io/accelerator-type\": \"TPU-V5P\"}}",
        i == 0 ? "" : ", ", i + 1, i == 0 ? "true" : alive, i + 1, i + 1,
        i == 0 ? "{\"TPU\": 4, \"CPU\": 8}" : resources, i);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static void
import_ray (QuoitLedger *ledger, const char *alive, const char *resources)
{
  g_autofree char *text = ray_nodes (alive, resources);
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, text, NULL, NOW, &error));
  ck_assert_ok (error);
}

static bool
says_rescheduling (const QuoitGroup *group)
{
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);
  uint32_t n = quoit_topology_get_n_notes (topology);

  return n > 0 && strstr (quoit_topology_get_note (topology, n - 1), "RESCHEDULING") != NULL;
}

START_TEST (death_of_allocated_node_is_reported_to_its_group)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) group = NULL, later = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  import_ray (ledger, "true", "{\"TPU\": 4, \"CPU\": 8}");
  ck_assert (quoit_request_set_accelerator (request, "v5p", NULL) && quoit_request_set_topology (request, "2x2x2", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, &error);
  ck_assert_ok (error);
  import_ray (ledger, "false", "{}");
  snapshot = quoit_ledger_snapshot (ledger);
  later = quoit_snapshot_lookup_group (snapshot, "train", &error);
  ck_assert_int_eq (quoit_group_get_state (later), QUOIT_GROUP_RESCHEDULING);
  ck_assert (!says_rescheduling (group) && says_rescheduling (later));
  ck_assert (quoit_ledger_verify (ledger, &error));
}
END_TEST

static gboolean
has_note (const QuoitGroup *group, QuoitProfile profile, const char *note)
{
  g_autoptr (QuoitTopology) topology = topology_in (group, profile, NULL);

  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    if (strcmp (quoit_topology_get_note (topology, i), note) == 0)
      return TRUE;
  return FALSE;
}

static QuoitGroup *
look_up (QuoitLedger *ledger, const char *name)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_lookup_group (snapshot, name, NULL);
}

START_TEST (notes_name_lost_and_leaving_slices_with_the_cause)
{
  static const QuoitProfile profiles[] = { QUOIT_PROFILE_QUOIT, QUOIT_PROFILE_RAY_TRAIN };
  static const char leaving[] = "slice 0 (s) is leaving: host 10.0.0.1 is draining";
  static const char lost[] = "slice 0 (s) is lost: host 10.0.0.2 is dead";
  QuoitProfile profile = profiles[_i];
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) whole = NULL, draining = NULL, dead = NULL, retried = NULL, back = NULL;

  import_ray (ledger, "true", "{\"TPU\": 4, \"CPU\": 8}");
  ck_assert (quoit_request_set_accelerator (request, "v5p", NULL) && quoit_request_set_topology (request, "2x2x2", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  quoit_request_set_key (request, "k", NULL);
  whole = quoit_ledger_reserve (ledger, request, NOW, NULL, NULL);
  ck_assert (quoit_ledger_drain_node (ledger, "10.0.0.1", NOW, NULL));
  draining = look_up (ledger, "train");
  ck_assert (quoit_ledger_set_node_state (ledger, "10.0.0.2", QUOIT_NODE_DEAD, NOW, NULL));
  dead = look_up (ledger, "train");
  retried = quoit_ledger_reserve (ledger, request, NOW, NULL, NULL);
  ck_assert (quoit_ledger_set_node_state (ledger, "10.0.0.2", QUOIT_NODE_ALIVE, NOW, NULL)
             && quoit_ledger_undrain_node (ledger, "10.0.0.1", NOW, NULL));
  back = look_up (ledger, "train");

  ck_assert (!has_note (whole, profile, leaving) && !has_note (whole, profile, lost));
  ck_assert (has_note (draining, profile, leaving) && !has_note (draining, profile, lost));
  ck_assert (!has_note (dead, profile, leaving) && has_note (dead, profile, lost));
  ck_assert (has_note (retried, profile, lost));
  ck_assert (!has_note (back, profile, leaving) && !has_note (back, profile, lost));
}
END_TEST

START_TEST (slice_with_a_host_without_chips_is_degraded)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  import_ray (ledger, "true", "{\"CPU\": 8}");
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_slice_faults (snapshot, 0), QUOIT_FAULT_CHIPS);
  ck_assert_uint_eq (quoit_snapshot_get_slice_flags (snapshot, 0) & (QUOIT_SLICE_INTACT | QUOIT_SLICE_FREE), 0);
}
END_TEST

/* Without a key and an owner, so a retry cannot find an older group. */
START_TEST (hold_with_lost_host_is_reported)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autoptr (QuoitGroup) held = NULL, confirmed = NULL, renewed = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2", NULL);
  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  held = quoit_ledger_hold (ledger, request, 1000, NOW, NULL, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_set_node_state (ledger, "v6e-4x4-0-1", QUOIT_NODE_DEAD, NOW, &error));
  confirmed = quoit_ledger_confirm (ledger, "g", 1000, NOW, &error);
  ck_assert_ok (error);
  renewed = quoit_ledger_renew (ledger, "g", 2000, NOW, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (confirmed), QUOIT_GROUP_RESCHEDULING);
  ck_assert_int_eq (quoit_group_get_slice_state (confirmed, 0), QUOIT_GROUP_SLICE_LOST);
  ck_assert_int_eq (quoit_group_get_state (renewed), QUOIT_GROUP_RESCHEDULING);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("api");
  TCase *tcase = tcase_create ("api");

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, database_replaced_by_rename_is_refused);
  tcase_add_test (tcase, sqlite_special_names_are_file_names);
  tcase_add_test (tcase, refresh_does_not_wait_for_a_writer);
  tcase_add_test (tcase, actor_can_be_renamed_while_other_threads_write);
  tcase_add_test (tcase, death_of_allocated_node_is_reported_to_its_group);
  tcase_add_loop_test (tcase, notes_name_lost_and_leaving_slices_with_the_cause, 0, 2);
  tcase_add_test (tcase, slice_with_a_host_without_chips_is_degraded);
  tcase_add_test (tcase, hold_with_lost_host_is_reported);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
