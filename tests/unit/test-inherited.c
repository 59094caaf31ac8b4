/* SPDX-License-Identifier: Apache-2.0 */
/* Every public function that takes a handle, in a child that inherited it by fork(2): it fails with FAILED, or says
 * that there is nothing, and prints nothing. */
#include <quoit/quoit.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define NOW G_GINT64_CONSTANT (1767225600000)
#define FLEET "v6e 2x2 x4"

static char *folder, *path, *copy;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("quoit-XXXXXX", NULL);
  path = g_build_filename (folder, "ledger.db", NULL);
  copy = g_build_filename (folder, "copy.db", NULL);
}

static void
tear_down (void)
{
  GDir *entries = g_dir_open (folder, 0, NULL);

  for (const char *name = g_dir_read_name (entries); name != NULL; name = g_dir_read_name (entries))
    {
      g_autofree char *file = g_build_filename (folder, name, NULL);

      g_unlink (file);
    }
  g_dir_close (entries);
  g_rmdir (folder);
  g_free (folder);
  g_free (path);
  g_free (copy);
}

static QuoitRequest *
request_of (const char *name)
{
  QuoitRequest *request = quoit_request_new (name);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "2x2", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  return request;
}

/* --- the calls: each returns whether it succeeded; some have arguments that would be refused --- */

typedef bool (*Call) (Quoit *quoit, GError **error);

#define CALL(name, expression)                                                                                         \
  static bool call_##name (Quoit *quoit, GError **error) { return (expression); }

static QuoitRequest *asked;
static QuoitInput *input;

CALL (quoit_resize, quoit_resize (quoit, "/", 1, NOW, error) != NULL)
CALL (quoit_repair, quoit_repair (quoit, "@", NOW, error) != NULL)
CALL (quoit_release_slice, quoit_release_slice (quoit, "@", "v6e-2x2-0", NOW, error) != NULL)
CALL (quoit_hold, quoit_hold (quoit, asked, 1000, NOW, error) != NULL)
CALL (quoit_confirm, quoit_confirm (quoit, "@", 0, NOW, error) != NULL)
CALL (quoit_renew, quoit_renew (quoit, "g", 1000, NOW, error) != NULL)
CALL (quoit_forget, quoit_forget (quoit, "g", NOW, error))
CALL (quoit_forget_key, quoit_forget_key (quoit, "k", NOW, error))
CALL (quoit_set_owner, quoit_set_owner (quoit, "o", 0, NOW, error))
CALL (quoit_renew_owner, quoit_renew_owner (quoit, "o", 1000, NOW, error))
CALL (quoit_end_owner, quoit_end_owner (quoit, "o", NOW, NULL, error))
CALL (quoit_import_input, quoit_import_input (quoit, input, NOW, error) != NULL)
CALL (quoit_sync_input, quoit_sync_input (quoit, input, NOW, error) != NULL)
CALL (quoit_set_clock, quoit_set_clock (quoit, NOW, error))
CALL (quoit_set_max_clock_jump, quoit_set_max_clock_jump (quoit, -1, NOW, error))
CALL (quoit_refresh, quoit_refresh (quoit, error))
CALL (quoit_reserve, quoit_reserve (quoit, asked, NOW, error) != NULL)
CALL (quoit_release, quoit_release (quoit, "@", NOW, error))
CALL (quoit_set_node_state, quoit_set_node_state (quoit, "v6e-2x2-0-0", QUOIT_NODE_DEAD, NOW, error))
CALL (quoit_drain_node, quoit_drain_node (quoit, "v6e-2x2-0-0", NOW, error))
CALL (quoit_undrain_node, quoit_undrain_node (quoit, "v6e-2x2-0-0", NOW, error))
CALL (quoit_import_fleet_text, quoit_import_fleet_text (quoit, "?", 1, "f", NOW, error) != NULL)
CALL (quoit_import_raycluster, quoit_import_raycluster (quoit, "", 0, "r", NULL, NOW, error) != NULL)
CALL (quoit_import_ray_nodes, quoit_import_ray_nodes (quoit, "[]", 2, "n", NOW, error) != NULL)
CALL (quoit_begin_batch, quoit_begin_batch (quoit, error))
CALL (quoit_begin_unsynced_batch, quoit_begin_unsynced_batch (quoit, error))
CALL (quoit_commit_batch, quoit_commit_batch (quoit, error))
CALL (quoit_verify, quoit_verify (quoit, error))
CALL (quoit_backup, quoit_backup (quoit, copy, error))
CALL (quoit_changes_since, quoit_changes_since (quoit, 0, error) != NULL)
CALL (quoit_snapshot_at, quoit_snapshot_at (quoit, 0, error) != NULL)
CALL (quoit_compact_journal, quoit_compact_journal (quoit, 1, NOW, NULL, error))
CALL (quoit_read_checkpoint, quoit_read_checkpoint (quoit, &(uint64_t) { 0 }, NULL, error))

/* Those that cannot say why: there is nothing, or nothing happens. */
CALL (quoit_snapshot, quoit_snapshot (quoit) != NULL)
CALL (quoit_dup_identity, quoit_dup_identity (quoit) != NULL)
CALL (quoit_set_actor, (quoit_set_actor (quoit, "child"), false))
CALL (quoit_interrupt, (quoit_interrupt (quoit), false))
CALL (quoit_cancel_batch, (quoit_cancel_batch (quoit), false))
CALL (quoit_ref, quoit_ref (quoit) != quoit)
CALL (quoit_unref, (quoit_unref (quoit), false))

typedef struct {
  const char *name;
  Call call;
} Row;

#define ROW(name)                                                                                                      \
  {                                                                                                                    \
#name, call_##name                                                                                                 \
  }

static const Row with_error[] = {
  ROW (quoit_resize),
  ROW (quoit_repair),
  ROW (quoit_release_slice),
  ROW (quoit_hold),
  ROW (quoit_confirm),
  ROW (quoit_renew),
  ROW (quoit_forget),
  ROW (quoit_forget_key),
  ROW (quoit_set_owner),
  ROW (quoit_renew_owner),
  ROW (quoit_end_owner),
  ROW (quoit_import_input),
  ROW (quoit_sync_input),
  ROW (quoit_set_clock),
  ROW (quoit_set_max_clock_jump),
  ROW (quoit_refresh),
  ROW (quoit_reserve),
  ROW (quoit_release),
  ROW (quoit_set_node_state),
  ROW (quoit_drain_node),
  ROW (quoit_undrain_node),
  ROW (quoit_import_fleet_text),
  ROW (quoit_import_raycluster),
  ROW (quoit_import_ray_nodes),
  ROW (quoit_begin_batch),
  ROW (quoit_begin_unsynced_batch),
  ROW (quoit_commit_batch),
  ROW (quoit_verify),
  ROW (quoit_backup),
  ROW (quoit_changes_since),
  ROW (quoit_snapshot_at),
  ROW (quoit_compact_journal),
  ROW (quoit_read_checkpoint),
};

/* quoit_ref() comes before quoit_unref(), which is the last but for the one of main(). */
static const Row without_error[] = {
  ROW (quoit_snapshot),     ROW (quoit_dup_identity), ROW (quoit_set_actor), ROW (quoit_interrupt),
  ROW (quoit_cancel_batch), ROW (quoit_ref),          ROW (quoit_unref),
};

/* --- the child --- */

static int
use_inherited (Quoit *quoit)
{
  for (guint i = 0; i < G_N_ELEMENTS (with_error); i++)
    {
      g_autoptr (GError) error = NULL;

      if (with_error[i].call (quoit, &error) || error == NULL || error->domain != QUOIT_ERROR
          || error->code != QUOIT_ERROR_FAILED || strstr (error->message, "fork(2)") == NULL)
        return (int) i + 1;
      /* Nobody has to ask why. */
      if (with_error[i].call (quoit, NULL))
        return (int) i + 1;
    }
  for (guint i = 0; i < G_N_ELEMENTS (without_error); i++)
    if (without_error[i].call (quoit, NULL))
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

/* What it prints is in a file of the folder. */
static int
run_child (Quoit *quoit, const char *anew)
{
  g_autofree char *printed = g_build_filename (folder, "printed", NULL);
  int fd = g_open (printed, O_CREAT | O_TRUNC | O_WRONLY, 0600), status;

  alarm (20);
  dup2 (fd, STDOUT_FILENO);
  dup2 (fd, STDERR_FILENO);
  status = use_inherited (quoit);
  if (status == 0 && anew != NULL)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Quoit) own = quoit_open (anew, 0, &error);
      g_autoptr (QuoitSnapshot) snapshot = own == NULL ? NULL : quoit_snapshot (own);
      g_autofree char *identity = own == NULL ? NULL : quoit_dup_identity (own);

      if (snapshot == NULL || identity == NULL || strlen (identity) != 32 || !quoit_begin_batch (own, &error)
          || !quoit_commit_batch (own, &error))
        return 251;
      /* What was inherited is as useless beside it as before. */
      status = use_inherited (quoit);
    }
  quoit_unref (quoit);
  return status;
}

static void
check_child (Quoit *quoit, const char *anew)
{
  g_autofree char *printed = g_build_filename (folder, "printed", NULL), *text = NULL;
  pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (run_child (quoit, anew));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert (g_file_get_contents (printed, &text, NULL, NULL));
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "%s: status %d; %s",
                 name_of ((guint) WEXITSTATUS (status)), status, text);
  ck_assert_str_eq (text, "");
}

/* Loop 0: a database; 1: in memory. */
static Quoit *
make (int which)
{
  g_autoptr (GError) error = NULL;
  Quoit *quoit = which == 0 ? quoit_create (path, 0, &error) : quoit_open_memory ();
  g_autoptr (QuoitRequest) request = request_of ("g");

  ck_assert_ok (error);
  asked = request_of ("asked");
  input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, FLEET, strlen (FLEET));
  quoit_import_free (quoit_import_fleet_text (quoit, FLEET, strlen (FLEET), NULL, NOW, &error));
  ck_assert_ok (error);
  quoit_group_unref (quoit_reserve (quoit, request, NOW, &error));
  ck_assert_ok (error);
  return quoit;
}

static void
drop (Quoit *quoit)
{
  quoit_unref (quoit);
  quoit_request_free (asked);
  quoit_input_free (input);
}

START_TEST (every_call_on_an_inherited_handle_fails_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  Quoit *quoit = make (_i);

  check_child (quoit, _i == 0 ? path : NULL);
  ck_assert_msg (quoit_verify (quoit, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (!g_file_test (copy, G_FILE_TEST_EXISTS));
  drop (quoit);
}
END_TEST

START_TEST (every_call_in_a_batch_that_is_inherited_fails_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  Quoit *quoit = make (_i);

  ck_assert (quoit_begin_batch (quoit, &error));
  quoit_group_unref (quoit_reserve (quoit, asked, NOW, &error));
  ck_assert_ok (error);
  check_child (quoit, NULL);
  ck_assert_msg (quoit_commit_batch (quoit, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (quoit_verify (quoit, &error));
  drop (quoit);
}
END_TEST

static int
restore_in_child (Quoit *quoit)
{
  g_autoptr (GError) error = NULL;
  bool is_restored = quoit_restore (path, copy, 0, NULL, NOW, &error);

  (void) quoit;
  return !is_restored && error->code == QUOIT_ERROR_FAILED && strstr (error->message, "fork(2)") != NULL ? 0 : 1;
}

/* It takes no handle, but the file is the one of a handle that was in use. */
START_TEST (a_child_is_refused_to_restore_what_its_parent_was_writing)
{
  g_autoptr (GError) error = NULL;
  Quoit *quoit = make (0);
  pid_t child;
  int status;

  ck_assert (quoit_backup (quoit, copy, &error));
  ck_assert (quoit_begin_batch (quoit, &error));
  quoit_group_unref (quoit_reserve (quoit, asked, NOW, &error));
  child = fork ();
  if (child == 0)
    {
      alarm (20);
      _exit (restore_in_child (quoit));
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (quoit_commit_batch (quoit, &error) && quoit_verify (quoit, &error));
  drop (quoit);
}
END_TEST

/* --- is any missing? --- */

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

START_TEST (every_public_function_with_a_handle_is_tried)
{
  g_autofree char *headers = g_build_filename (g_getenv ("top_srcdir"), "include", "quoit", NULL);
  g_autoptr (GRegex) prototype = g_regex_new ("^QUOIT_API [^;(]*\\b(quoit_[a-z0-9_]+) \\((const )?Quoit \\*",
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
  tcase_add_loop_test (tests, every_call_in_a_batch_that_is_inherited_fails_and_prints_nothing, 0, 2);
  tcase_add_test (tests, a_child_is_refused_to_restore_what_its_parent_was_writing);
  tcase_add_test (tests, every_public_function_with_a_handle_is_tried);
  suite_add_tcase (suite, tests);
  return suite_main (suite);
}
