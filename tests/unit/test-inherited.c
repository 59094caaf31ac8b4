/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every public function that takes a handle in a child that inherited the handle by fork(2). Each fails with
 * FAILED or returns nothing, and prints nothing. */
#include <quoit/quoit.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "test-paths.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)
#define FLEET "v6e 2x2 x4"

static TestPaths paths;

static void
set_up (void)
{
  paths = test_paths_new ();
}

static void
tear_down (void)
{
  test_paths_clear (&paths);
}

static QuoitRequest *
request_of (const char *name)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "2x2", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  return request;
}

/* --- the calls: each returns whether it succeeded; some have invalid arguments --- */

typedef bool (*Call) (QuoitLedger *ledger, GError **error);

#define CALL(name, expression)                                                                                         \
  static bool call_##name (QuoitLedger *ledger, GError **error) { return (expression); }

static QuoitRequest *asked;
static QuoitFork *planned;
static const char *const nodes[] = { "v6e-2x2-0-0" };
static QuoitInput *input;

CALL (quoit_ledger_resize, quoit_ledger_resize (ledger, "/", 1, NOW, NULL, error) != NULL)
CALL (quoit_ledger_resize_between, quoit_ledger_resize_between (ledger, "/", 1, 2, NOW, NULL, error) != NULL)
CALL (quoit_ledger_repair, quoit_ledger_repair (ledger, "@", NOW, NULL, error) != NULL)
CALL (quoit_ledger_release_slice, quoit_ledger_release_slice (ledger, "@", "v6e-2x2-0", NOW, error) != NULL)
CALL (quoit_ledger_hold, quoit_ledger_hold (ledger, asked, 1000, NOW, NULL, error) != NULL)
CALL (quoit_ledger_confirm, quoit_ledger_confirm (ledger, "@", 0, NOW, error) != NULL)
CALL (quoit_ledger_renew, quoit_ledger_renew (ledger, "g", 1000, NOW, error) != NULL)
CALL (quoit_ledger_renew_groups, quoit_ledger_renew_groups (ledger, nodes, 1, 1000, NOW, error))
CALL (quoit_ledger_forget, quoit_ledger_forget (ledger, "g", NOW, error))
CALL (quoit_ledger_forget_key, quoit_ledger_forget_key (ledger, "k", NOW, error))
CALL (quoit_ledger_forget_before, quoit_ledger_forget_before (ledger, NOW, NOW, NULL, error))
CALL (quoit_ledger_set_owner, quoit_ledger_set_owner (ledger, "o", 0, NOW, error))
CALL (quoit_ledger_renew_owner, quoit_ledger_renew_owner (ledger, "o", 1000, NOW, error))
CALL (quoit_ledger_end_owner, quoit_ledger_end_owner (ledger, "o", NOW, NULL, error))
CALL (quoit_ledger_import, quoit_ledger_import (ledger, input, NOW, error) != NULL)
CALL (quoit_ledger_sync, quoit_ledger_sync (ledger, input, NOW, error) != NULL)
CALL (quoit_ledger_update_nodes, quoit_ledger_update_nodes (ledger, input, NOW, error) != NULL)
CALL (quoit_ledger_set_clock, quoit_ledger_set_clock (ledger, NOW, error))
CALL (quoit_ledger_set_max_clock_jump, quoit_ledger_set_max_clock_jump (ledger, -1, NOW, error))
CALL (quoit_ledger_set_keep, quoit_ledger_set_keep (ledger, -1, NOW, error))
CALL (quoit_ledger_trim, quoit_ledger_trim (ledger, NOW, NULL, NULL, error))
CALL (quoit_feed_new, quoit_feed_new (ledger, 0, error) != NULL)
CALL (quoit_ledger_refresh, quoit_ledger_refresh (ledger, error))
CALL (quoit_ledger_reserve, quoit_ledger_reserve (ledger, asked, NOW, NULL, error) != NULL)
CALL (quoit_ledger_release, quoit_ledger_release (ledger, "@", NOW, error))
CALL (quoit_ledger_set_node_state, quoit_ledger_set_node_state (ledger, "v6e-2x2-0-0", QUOIT_NODE_DEAD, NOW, error))
CALL (quoit_ledger_drain_node, quoit_ledger_drain_node (ledger, "v6e-2x2-0-0", NOW, error))
CALL (quoit_ledger_undrain_node, quoit_ledger_undrain_node (ledger, "v6e-2x2-0-0", NOW, error))
CALL (quoit_ledger_set_node_states, quoit_ledger_set_node_states (ledger, nodes, 1, QUOIT_NODE_DEAD, NOW, error))
CALL (quoit_ledger_drain_nodes, quoit_ledger_drain_nodes (ledger, nodes, 1, NOW, error))
CALL (quoit_ledger_undrain_nodes, quoit_ledger_undrain_nodes (ledger, nodes, 1, NOW, error))
CALL (quoit_ledger_set_expected_end, quoit_ledger_set_expected_end (ledger, "/", 0, NOW, error) != NULL)
CALL (quoit_ledger_set_priority, quoit_ledger_set_priority (ledger, "/", 1, NOW, error) != NULL)
CALL (quoit_ledger_set_labels, quoit_ledger_set_labels (ledger, "/", NULL, NULL, 0, NOW, error) != NULL)
CALL (quoit_ledger_set_quota, quoit_ledger_set_quota (ledger, "/", NULL, "o", NULL, NULL, 1, -1, NULL, NOW, error))
CALL (quoit_ledger_remove_quota, quoit_ledger_remove_quota (ledger, "/", NOW, error))
CALL (quoit_ledger_release_with_reason, quoit_ledger_release_with_reason (ledger, "@", "", NOW, error))
CALL (quoit_ledger_reserve_at, quoit_ledger_reserve_at (ledger, asked, NOW + 1, 0, NOW, NULL, error) != NULL)
CALL (quoit_ledger_reserve_all, quoit_ledger_reserve_all (ledger, (const QuoitRequest *[]) { asked }, 1, NOW,
                                                          (QuoitGroup *[1]) { NULL }, NULL, error))
CALL (quoit_ledger_add_window, quoit_ledger_add_window (ledger, "/", QUOIT_WINDOW_NODE, "/", NOW, 2, NOW, error))
CALL (quoit_ledger_remove_window, quoit_ledger_remove_window (ledger, "/", NOW, error))
CALL (quoit_ledger_mark_batch, quoit_ledger_mark_batch (ledger, error) != 0)
CALL (quoit_ledger_roll_back_batch, quoit_ledger_roll_back_batch (ledger, 1, error))
CALL (quoit_ledger_begin_batch, quoit_ledger_begin_batch (ledger, error))
CALL (quoit_ledger_begin_unsynced_batch, quoit_ledger_begin_unsynced_batch (ledger, error))
CALL (quoit_ledger_commit_batch, quoit_ledger_commit_batch (ledger, error))
CALL (quoit_ledger_commit_fork, quoit_ledger_commit_fork (ledger, planned, NOW, error))
CALL (quoit_ledger_verify, quoit_ledger_verify (ledger, error))
CALL (quoit_ledger_backup, quoit_ledger_backup (ledger, paths.copy, error))
CALL (quoit_ledger_copy, quoit_ledger_copy (ledger, paths.copy, error))
CALL (quoit_ledger_lead, quoit_ledger_lead (ledger, "child", &(uint64_t) { 0 }, error))
CALL (quoit_ledger_read_journal, quoit_ledger_read_journal (ledger, 0, error) != NULL)
CALL (quoit_ledger_snapshot_at, quoit_ledger_snapshot_at (ledger, 0, error) != NULL)
CALL (quoit_ledger_compact_journal, quoit_ledger_compact_journal (ledger, 1, NOW, NULL, error))
CALL (quoit_ledger_read_checkpoint, quoit_ledger_read_checkpoint (ledger, &(uint64_t) { 0 }, NULL, error))

/* Functions without an error: they return nothing, or do nothing. */
CALL (quoit_ledger_snapshot, quoit_ledger_snapshot (ledger) != NULL)
CALL (quoit_ledger_dup_identity, quoit_ledger_dup_identity (ledger) != NULL)
CALL (quoit_ledger_set_actor, (quoit_ledger_set_actor (ledger, "child"), false))
CALL (quoit_ledger_interrupt, (quoit_ledger_interrupt (ledger), false))
CALL (quoit_ledger_cancel_batch, (quoit_ledger_cancel_batch (ledger), false))
CALL (quoit_ledger_ref, quoit_ledger_ref (ledger) != ledger)
CALL (quoit_ledger_read_batch, quoit_ledger_read_batch (ledger, error) != NULL)
CALL (quoit_ledger_apply_entry, quoit_ledger_apply_entry (ledger, (const uint8_t *) "entry", 5, error))
CALL (quoit_ledger_unref, (quoit_ledger_unref (ledger), false))

typedef struct {
  const char *name;
  Call call;
} Row;

#define ROW(name)                                                                                                      \
  {                                                                                                                    \
#name, call_##name                                                                                                 \
  }

static const Row with_error[] = {
  ROW (quoit_ledger_resize),
  ROW (quoit_ledger_resize_between),
  ROW (quoit_ledger_repair),
  ROW (quoit_ledger_release_slice),
  ROW (quoit_ledger_reserve_all),
  ROW (quoit_ledger_hold),
  ROW (quoit_ledger_confirm),
  ROW (quoit_ledger_renew),
  ROW (quoit_ledger_renew_groups),
  ROW (quoit_ledger_forget),
  ROW (quoit_ledger_forget_key),
  ROW (quoit_ledger_forget_before),
  ROW (quoit_ledger_set_owner),
  ROW (quoit_ledger_renew_owner),
  ROW (quoit_ledger_end_owner),
  ROW (quoit_ledger_import),
  ROW (quoit_ledger_sync),
  ROW (quoit_ledger_update_nodes),
  ROW (quoit_ledger_set_clock),
  ROW (quoit_ledger_set_max_clock_jump),
  ROW (quoit_ledger_set_keep),
  ROW (quoit_ledger_trim),
  ROW (quoit_feed_new),
  ROW (quoit_ledger_refresh),
  ROW (quoit_ledger_reserve),
  ROW (quoit_ledger_release),
  ROW (quoit_ledger_set_node_state),
  ROW (quoit_ledger_drain_node),
  ROW (quoit_ledger_undrain_node),
  ROW (quoit_ledger_set_node_states),
  ROW (quoit_ledger_drain_nodes),
  ROW (quoit_ledger_undrain_nodes),
  ROW (quoit_ledger_set_expected_end),
  ROW (quoit_ledger_set_priority),
  ROW (quoit_ledger_set_labels),
  ROW (quoit_ledger_set_quota),
  ROW (quoit_ledger_remove_quota),
  ROW (quoit_ledger_release_with_reason),
  ROW (quoit_ledger_reserve_at),
  ROW (quoit_ledger_add_window),
  ROW (quoit_ledger_remove_window),
  ROW (quoit_ledger_mark_batch),
  ROW (quoit_ledger_roll_back_batch),
  ROW (quoit_ledger_begin_batch),
  ROW (quoit_ledger_begin_unsynced_batch),
  ROW (quoit_ledger_commit_batch),
  ROW (quoit_ledger_commit_fork),
  ROW (quoit_ledger_verify),
  ROW (quoit_ledger_backup),
  ROW (quoit_ledger_copy),
  ROW (quoit_ledger_lead),
  ROW (quoit_ledger_read_journal),
  ROW (quoit_ledger_snapshot_at),
  ROW (quoit_ledger_compact_journal),
  ROW (quoit_ledger_read_checkpoint),
  ROW (quoit_ledger_read_batch),
  ROW (quoit_ledger_apply_entry),
};

/* quoit_ledger_ref() comes before quoit_ledger_unref(), which drops that reference; main() drops the last one. */
static const Row without_error[] = {
  ROW (quoit_ledger_snapshot),  ROW (quoit_ledger_dup_identity), ROW (quoit_ledger_set_actor),
  ROW (quoit_ledger_interrupt), ROW (quoit_ledger_cancel_batch), ROW (quoit_ledger_ref),
  ROW (quoit_ledger_unref),
};

/* --- the child --- */

static int
use_inherited (QuoitLedger *ledger)
{
  for (guint i = 0; i < G_N_ELEMENTS (with_error); i++)
    {
      g_autoptr (GError) error = NULL;

      if (with_error[i].call (ledger, &error) || error == NULL || error->domain != QUOIT_ERROR
          || error->code != QUOIT_ERROR_FAILED || strstr (error->message, "fork(2)") == NULL)
        return (int) i + 1;
      /* The caller may pass no error. */
      if (with_error[i].call (ledger, NULL))
        return (int) i + 1;
    }
  for (guint i = 0; i < G_N_ELEMENTS (without_error); i++)
    if (without_error[i].call (ledger, NULL))
      return (int) (G_N_ELEMENTS (with_error) + i + 1);
  return 0;
}

static const char *
name_of (guint status)
{
  if (status == 0 || status > G_N_ELEMENTS (with_error) + G_N_ELEMENTS (without_error))
    return "none of them";
  return status <= G_N_ELEMENTS (with_error) ? with_error[status - 1].name
                                             : without_error[status - 1 - G_N_ELEMENTS (with_error)].name;
}

/* Redirects the child's output to a file in the folder. */
static int
run_child (QuoitLedger *ledger, const char *own_path)
{
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL);
  int fd = g_open (printed, O_CREAT | O_TRUNC | O_WRONLY, 0600), status;

  alarm (20);
  dup2 (fd, STDOUT_FILENO);
  dup2 (fd, STDERR_FILENO);
  status = use_inherited (ledger);
  if (status == 0 && own_path != NULL)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitLedger) own = quoit_ledger_open (own_path, 0, &error);
      g_autoptr (QuoitSnapshot) snapshot = own == NULL ? NULL : quoit_ledger_snapshot (own);
      g_autofree char *identity = own == NULL ? NULL : quoit_ledger_dup_identity (own);

      if (snapshot == NULL || identity == NULL || strlen (identity) != 32 || !quoit_ledger_begin_batch (own, &error)
          || !quoit_ledger_commit_batch (own, &error))
        return 251;
      /* A new handle does not make the inherited one usable. */
      status = use_inherited (ledger);
    }
  quoit_ledger_unref (ledger);
  return status;
}

static void
check_child (QuoitLedger *ledger, const char *own_path)
{
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL), *text = NULL;
  pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (run_child (ledger, own_path));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert (g_file_get_contents (printed, &text, NULL, NULL));
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "%s: status %d; %s",
                 name_of ((guint) WEXITSTATUS (status)), status, text);
  ck_assert_str_eq (text, "");
}

/* Loop 0: a database; 1: in memory. */
static QuoitLedger *
make (int which)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = which == 0 ? quoit_ledger_create (paths.path, 0, &error) : quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_of ("g");
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  ck_assert_ok (error);
  asked = request_of ("asked");
  input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, FLEET, strlen (FLEET));
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, FLEET, NULL, NOW, &error));
  ck_assert_ok (error);
  quoit_group_unref (quoit_ledger_reserve (ledger, request, NOW, NULL, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  planned = quoit_snapshot_fork (snapshot);
  return ledger;
}

static void
drop (QuoitLedger *ledger)
{
  quoit_ledger_unref (ledger);
  quoit_request_free (asked);
  quoit_fork_free (planned);
  quoit_input_free (input);
}

START_TEST (every_call_on_an_inherited_handle_fails_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = make (_i);

  check_child (ledger, _i == 0 ? paths.path : NULL);
  ck_assert_msg (quoit_ledger_verify (ledger, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (!g_file_test (paths.copy, G_FILE_TEST_EXISTS));
  drop (ledger);
}
END_TEST

START_TEST (every_call_in_an_inherited_batch_fails_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = make (_i);

  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  quoit_group_unref (quoit_ledger_reserve (ledger, asked, NOW, NULL, &error));
  ck_assert_ok (error);
  check_child (ledger, NULL);
  ck_assert_msg (quoit_ledger_commit_batch (ledger, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (quoit_ledger_verify (ledger, &error));
  drop (ledger);
}
END_TEST

static int
restore_in_child (QuoitLedger *ledger)
{
  g_autoptr (GError) error = NULL;
  bool is_restored = quoit_ledger_restore (paths.path, paths.copy, 0, NULL, NOW, &error);

  (void) ledger;
  return !is_restored && error->code == QUOIT_ERROR_FAILED && strstr (error->message, "fork(2)") != NULL ? 0 : 1;
}

/* It takes no handle, but the parent's handle uses the file. */
START_TEST (child_cannot_restore_the_database_of_its_parent)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = make (0);
  pid_t child;
  int status;

  ck_assert (quoit_ledger_backup (ledger, paths.copy, &error));
  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  quoit_group_unref (quoit_ledger_reserve (ledger, asked, NOW, NULL, &error));
  child = fork ();
  if (child == 0)
    {
      alarm (20);
      _exit (restore_in_child (ledger));
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (quoit_ledger_commit_batch (ledger, &error) && quoit_ledger_verify (ledger, &error));
  drop (ledger);
}
END_TEST

/* --- values in memory --- */

/* Returns 0 if the child can use what its parent has made. */
static int
use_values (const QuoitSnapshot *snapshot, const QuoitGroup *group, const QuoitJournal *journal)
{
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL);
  int fd = g_open (printed, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) made = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitSnapshot) planned_state = NULL;
  g_autoptr (QuoitFork) other = NULL;
  g_autofree char *text = NULL;

  alarm (20);
  dup2 (fd, STDOUT_FILENO);
  dup2 (fd, STDERR_FILENO);
  made = quoit_fork_reserve (planned, asked, NOW, &report, &error);
  planned_state = quoit_fork_snapshot (planned);
  other = quoit_snapshot_fork (snapshot);
  text = quoit_journal_dup_effect_text (journal, 0, 0);
  if (made == NULL || quoit_snapshot_get_n_groups (planned_state) != 2 || other == NULL || text == NULL)
    return 1;
  if (quoit_snapshot_get_n_groups (snapshot) != 1 || !quoit_snapshot_check (snapshot, &error)
      || !quoit_fork_release (planned, "asked", NOW, &error))
    return 2;
  return g_str_equal (quoit_group_get_handle (group), "g@1") ? 0 : 3;
}

/* Snapshots, forks, groups and journals hold no file and no lock. */
START_TEST (child_can_use_values_of_its_parent_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = make (_i);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, 0);
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (ledger, 0, &error);
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL), *text = NULL;
  pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (use_values (snapshot, group, journal));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (g_file_get_contents (printed, &text, NULL, NULL));
  ck_assert_str_eq (text, "");
  drop (ledger);
}
END_TEST

/* --- completeness of the table --- */

static bool
is_listed (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (with_error); i++)
    if (g_str_equal (with_error[i].name, name))
      return true;
  for (guint i = 0; i < G_N_ELEMENTS (without_error); i++)
    if (g_str_equal (without_error[i].name, name))
      return true;
  return false;
}

START_TEST (every_public_function_with_a_handle_is_tested)
{
  g_autofree char *headers = g_build_filename (g_getenv ("top_srcdir"), "include", "quoit", NULL);
  g_autoptr (GRegex) prototype = g_regex_new ("^QUOIT_API [^;(]*\\b(quoit_[a-z0-9_]+) \\((const )?QuoitLedger \\*",
                                              G_REGEX_MULTILINE, (GRegexMatchFlags) 0, NULL);
  GDir *entries = g_dir_open (headers, 0, NULL);
  guint n = 0;

  ck_assert_ptr_nonnull (entries);
  for (const char *name = g_dir_read_name (entries); name != NULL; name = g_dir_read_name (entries))
    {
      g_autofree char *header = g_build_filename (headers, name, NULL), *text = NULL;
      g_autoptr (GMatchInfo) match = NULL;

      if (!g_str_has_suffix (name, ".h"))
        continue;
      ck_assert (g_file_get_contents (header, &text, NULL, NULL));
      for (g_regex_match (prototype, text, (GRegexMatchFlags) 0, &match); g_match_info_matches (match);
           g_match_info_next (match, NULL))
        {
          g_autofree char *function = g_match_info_fetch (match, 1);

          ck_assert_msg (is_listed (function), "%s: not in a table of this test", function);
          n++;
        }
    }
  g_dir_close (entries);
  ck_assert_uint_eq (n, G_N_ELEMENTS (with_error) + G_N_ELEMENTS (without_error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("inherited");
  TCase *tests = tcase_create ("inherited");

  tcase_set_timeout (tests, 60);
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, every_call_on_an_inherited_handle_fails_and_prints_nothing, 0, 2);
  tcase_add_loop_test (tests, every_call_in_an_inherited_batch_fails_and_prints_nothing, 0, 2);
  tcase_add_test (tests, child_cannot_restore_the_database_of_its_parent);
  tcase_add_loop_test (tests, child_can_use_values_of_its_parent_and_prints_nothing, 0, 2);
  tcase_add_test (tests, every_public_function_with_a_handle_is_tested);
  suite_add_tcase (suite, tests);
  return suite_main (suite);
}
