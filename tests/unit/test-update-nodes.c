/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of added nodes, and updates of a few nodes, through the public functions. */
#include <quoit/quoit.h>
#include <string.h>

#include "../shortcuts.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

/* --- inputs as text: "host-0:s0.0 host-1:s0.1!dead -host-2" --- */

static void
add_drawn_node (QuoitInput *input, char *word)
{
  static const char *const states[] = { "alive", "draining", "dead" };
  char *state = strchr (word, '!'), *slice, *worker;
  QuoitNodeState value = QUOIT_NODE_ALIVE;
  GError *error = NULL;

  if (state != NULL)
    for (*state++ = '\0'; strcmp (states[value], state) != 0;)
      value++;
  if ((slice = strchr (word, ':')) != NULL)
    *slice++ = '\0';
  ck_assert (quoit_input_add_node (input, NULL, word, NULL, value, &error));
  ck_assert (quoit_input_set_node_resource (input, "CPU", (QuoitAmount) { 80000 }, &error));
  if (slice == NULL)
    return;
  worker = strchr (slice, '.');
  *worker++ = '\0';
  ck_assert (quoit_input_set_node_pool (input, "a", &error));
  ck_assert (quoit_input_set_node_slice (input, slice, g_ascii_strtoll (worker, NULL, 10), "v6e", "2x4", &error));
  ck_assert (quoit_input_set_node_resource (input, "TPU", (QuoitAmount) { 40000 }, &error));
  ck_assert_ok (error);
}

static QuoitInput *
drawn (const char *text)
{
  QuoitInput *input = quoit_input_new_nodes ();
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] == '-')
      ck_assert (quoit_input_remove_node (input, words[i] + 1, NULL));
    else if (words[i][0] != '\0')
      add_drawn_node (input, words[i]);
  return input;
}

static char *
describe_changes (const QuoitImport *import)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_import_get_n_changes (import); i++)
    {
      static const char *const kinds[]
          = { "", "added", "removed", "changed", "state", "pool", "lost", "group", "external", "slice" };

      g_string_append_printf (text, "%s%s %s", i == 0 ? "" : "; ", kinds[quoit_import_get_change_kind (import, i)],
                              quoit_import_get_change_name (import, i));
    }
  return g_string_free (text, FALSE);
}

#define FLEET "host-0:s0.0 host-1:s0.1 host-2:s1.0 host-3:s1.1 cpu-0"

static QuoitLedger *
ledger_new (void)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = drawn (FLEET);
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, NOW, NULL);

  ck_assert_ptr_nonnull (import);
  ck_assert (quoit_import_is_new (import));
  ck_assert_uint_eq (quoit_import_get_n_nodes (import), 5);
  ck_assert_uint_eq (quoit_import_get_n_warnings (import), 0);
  return ledger;
}

static QuoitImport *
update (QuoitLedger *ledger, const char *text, GError **error)
{
  g_autoptr (QuoitInput) input = drawn (text);

  return quoit_ledger_update_nodes (ledger, input, NOW, error);
}

static void
reserve (QuoitLedger *ledger)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "2x4", NULL)
             && quoit_request_set_chips_per_host (request, 4, NULL) && quoit_request_set_slices (request, 1, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, request, NOW, NULL, &error));
  ck_assert_ok (error);
}

static uint64_t
last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

/* --- updates --- */

/* Group train has slice s0. */
static const struct {
  const char *update, *changes;
  guint n_nodes;
} updates[] = {
  { "", "", 5 },
  { "-nobody", "", 5 },
  { "host-2:s1.0", "", 5 },
  { "host-2:s1.0!draining", "state host-2", 5 },
  { "host-0:s0.0!dead", "state host-0; slice train", 5 },
  { "-host-3", "removed host-3", 4 },
  { "-host-2 -host-3", "removed host-2; removed host-3", 3 },
  { "-host-0", "lost host-0; slice train", 5 },
  { "-cpu-0 cpu-1", "added cpu-1; removed cpu-0", 5 },
  { "host-4:s2.0 host-5:s2.1", "added host-4; added host-5", 7 },
};

START_TEST (update_reports_what_changes)
{
  QuoitLedger *ledger = ledger_new ();
  g_autofree char *changes = NULL;
  GError *error = NULL;
  QuoitImport *import;
  uint64_t before;

  reserve (ledger);
  before = last_seq (ledger);
  import = update (ledger, updates[_i].update, &error);
  ck_assert_ok (error);
  changes = describe_changes (import);
  ck_assert_uint_eq (quoit_import_get_n_nodes (import), updates[_i].n_nodes);
  ck_assert (!quoit_import_is_new (import));
  ck_assert_uint_eq (last_seq (ledger), before + (*changes != '\0'));
  ck_assert_str_eq (changes, updates[_i].changes);
  quoit_import_free (import);

  /* A repeated update changes nothing. */
  import = update (ledger, updates[_i].update, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_changes (import), 0);
  quoit_import_free (import);
  ck_assert (quoit_ledger_verify (ledger, &error));
  quoit_ledger_unref (ledger);
}
END_TEST

static const struct {
  const char *update;
  QuoitErrorCode code;
  const char *message;
} refused[] = {
  { "host-2:s1.0 -host-2", QUOIT_ERROR_INVALID, "source 'ray': node 'host-2': both added and removed" },
  { "host-9:s9.0 -host-9", QUOIT_ERROR_INVALID, "source 'ray': node 'host-9': both added and removed" },
  { "host-2:s1.0 host-2:s1.0", QUOIT_ERROR_INVALID, "node 1 'host-2': node id 'host-2': expected each id once" },
  { "host-0:s1.1", QUOIT_ERROR_CONFLICT, "node 'host-0' would change: slice s0 -> s1: group 'train@1' uses it" },
  { "host-0", QUOIT_ERROR_CONFLICT, "node 'host-0' would change: slice s0 -> none" },
};

START_TEST (refused_update_changes_nothing)
{
  QuoitLedger *ledger = ledger_new ();
  GError *error = NULL;
  uint64_t before;

  reserve (ledger);
  before = last_seq (ledger);
  ck_assert_ptr_null (update (ledger, refused[_i].update, &error));
  ck_assert_refused (error, refused[_i].code, refused[_i].message);
  ck_assert_ptr_null (update (ledger, refused[_i].update, NULL));
  ck_assert_uint_eq (last_seq (ledger), before);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (name_of_another_alive_node_is_refused)
{
  QuoitLedger *ledger = ledger_new ();
  g_autoptr (QuoitInput) input = quoit_input_new_nodes ();
  GError *error = NULL;

  ck_assert (quoit_input_add_node (input, "id-7", "cpu-0", NULL, QUOIT_NODE_ALIVE, NULL));
  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, input, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "source 'ray': node 'cpu-0': another alive node of the source");
  /* With sources of several kinds, too. */
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 2x4 x1", NULL, NOW, &error));
  ck_assert_ok (error);
  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, input, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "source 'ray': node 'cpu-0': another alive node of the source");
  ck_assert (quoit_input_remove_node (input, "cpu-0", NULL));
  quoit_import_free (quoit_ledger_update_nodes (ledger, input, NOW, &error));
  ck_assert_ok (error);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (nodes_of_a_source_of_any_kind_can_be_removed)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) removal = quoit_input_new_nodes (), addition = quoit_input_new_nodes ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;
  QuoitImport *import;
  uint32_t node;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET,
                                "v6e 2x4 x3 pool=a busy=2 draining=1; v6e 2x4 x1 pool=b", NULL, NOW, &error));
  ck_assert_ok (error);
  /* Also beside sources of other kinds. */
  if (_i == 1)
    quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, "[]", NULL, NOW, &error));
  quoit_input_set_source (removal, "fleet");
  ck_assert (quoit_input_remove_node (removal, "a-0-0", NULL));
  ck_assert (quoit_input_remove_node (removal, "b-0-0", NULL));
  import = quoit_ledger_update_nodes (ledger, removal, NOW, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_nodes (import), 2);
  quoit_import_free (import);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_n_nodes (snapshot), 2);
  ck_assert (quoit_snapshot_lookup_node (snapshot, "a-1-0", &node, NULL));
  ck_assert_int_eq (quoit_snapshot_get_node_state (snapshot, node), QUOIT_NODE_DRAINING);
  ck_assert (quoit_snapshot_lookup_node (snapshot, "a-2-0", &node, NULL));
  ck_assert (quoit_snapshot_is_node_external (snapshot, node));
  ck_assert (quoit_snapshot_check (snapshot, NULL));
  ck_assert (quoit_ledger_verify (ledger, &error));

  /* New nodes need the facts of a Ray list. */
  quoit_input_set_source (addition, "fleet");
  ck_assert (quoit_input_add_node (addition, NULL, "x", NULL, QUOIT_NODE_ALIVE, NULL));
  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, addition, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "is of another kind");
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (input_of_another_form_is_refused)
{
  QuoitLedger *ledger = ledger_new ();
  g_autoptr (QuoitInput) text = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, "[]", 2), nodes = drawn ("-host-0");
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, text, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input has the text of a source");
  ck_assert (!quoit_input_add_node (text, NULL, "x", NULL, QUOIT_NODE_ALIVE, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input has the text of a source");
  ck_assert (!quoit_input_set_node_pool (text, "a", &error));
  g_clear_error (&error);
  ck_assert (!quoit_input_set_node_slice (text, "s", 0, "v6e", "2x4", &error));
  g_clear_error (&error);
  ck_assert (!quoit_input_set_node_label (text, "k", "v", &error));
  g_clear_error (&error);
  ck_assert (!quoit_input_set_node_resource (text, "CPU", (QuoitAmount) { 1 }, &error));
  g_clear_error (&error);
  ck_assert (!quoit_input_remove_node (text, "x", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input has the text of a source");

  ck_assert_ptr_null (quoit_ledger_sync (ledger, nodes, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input removes nodes");
  ck_assert_ptr_null (quoit_ledger_import (ledger, nodes, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input removes nodes");
  quoit_input_set_list (nodes, QUOIT_LIST_RAY_AVAILABLE, "{}", 2);
  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, nodes, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the input has a list of the whole cluster");
  quoit_input_set_list (nodes, QUOIT_LIST_RAY_AVAILABLE, NULL, 0);
  quoit_input_set_source (nodes, "other");
  ck_assert_ptr_null (quoit_ledger_update_nodes (ledger, nodes, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no source 'other': expected one that was imported before");
  ck_assert_uint_eq (last_seq (ledger), 1);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (fork_and_batch_take_updates)
{
  QuoitLedger *ledger = ledger_new ();
  g_autoptr (QuoitInput) input = drawn ("-host-3 host-4:s2.0 host-5:s2.1");
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  GError *error = NULL;
  QuoitImport *import = quoit_fork_update_nodes (fork, input, NOW, &error);

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_nodes (import), 6);
  ck_assert_uint_eq (last_seq (ledger), 1);
  quoit_import_free (import);
  ck_assert (quoit_ledger_commit_fork (ledger, fork, NOW, &error));
  ck_assert_uint_eq (last_seq (ledger), 2);

  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  quoit_import_free (update (ledger, "-host-4 -host-5", &error));
  ck_assert_ok (error);
  quoit_ledger_cancel_batch (ledger);
  ck_assert_uint_eq (last_seq (ledger), 2);
  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  quoit_import_free (update (ledger, "host-2:s1.0!dead", &error));
  quoit_import_free (update (ledger, "-host-4", &error));
  ck_assert_ok (error);
  ck_assert (quoit_ledger_commit_batch (ledger, &error));
  ck_assert_uint_eq (last_seq (ledger), 4);
  ck_assert (quoit_ledger_verify (ledger, &error));
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (past_states_have_the_nodes_before_an_update)
{
  QuoitLedger *ledger = ledger_new ();
  g_autoptr (QuoitSnapshot) before = NULL, after = NULL;
  GError *error = NULL;

  quoit_import_free (update (ledger, "-cpu-0", &error));
  before = quoit_ledger_snapshot_at (ledger, 1, &error);
  after = quoit_ledger_snapshot_at (ledger, 2, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_snapshot_get_n_nodes (before), 5);
  ck_assert_uint_eq (quoit_snapshot_get_n_nodes (after), 4);
  quoit_ledger_unref (ledger);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("update nodes");
  TCase *tcase = tcase_create ("update nodes");

  tcase_add_loop_test (tcase, update_reports_what_changes, 0, (int) G_N_ELEMENTS (updates));
  tcase_add_loop_test (tcase, refused_update_changes_nothing, 0, (int) G_N_ELEMENTS (refused));
  tcase_add_test (tcase, name_of_another_alive_node_is_refused);
  tcase_add_loop_test (tcase, nodes_of_a_source_of_any_kind_can_be_removed, 0, 2);
  tcase_add_test (tcase, input_of_another_form_is_refused);
  tcase_add_test (tcase, fork_and_batch_take_updates);
  tcase_add_test (tcase, past_states_have_the_nodes_before_an_update);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
