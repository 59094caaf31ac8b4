/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of imports name the nodes and the states that changed, so that a reader of the journal knows all nodes and
 * their states without listing them. */
#include <quoit/quoit.h>
#include <string.h>

#include "../shortcuts.h"
#include "suite.h"
#include "test-paths.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static const char *const events[] = { "unrecorded", "added", "removed", "moved", "changed", "state", "lost" };
static const char *const states[] = { "alive", "draining", "dead" };

/* --- inputs as text: "h0:s0.0 h1:s0.1!dead" --- */

static QuoitInput *
drawn (const char *text)
{
  QuoitInput *input = quoit_input_new_nodes ();
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit_set (words[i], ":.!", -1);
      g_autofree char *address = g_strdup_printf ("10.0.0.%s", parts[0] + 1);
      QuoitNodeState state = QUOIT_NODE_ALIVE;

      while (parts[3] != NULL && strcmp (states[state], parts[3]) != 0)
        state++;
      ck_assert (quoit_input_add_node (input, NULL, parts[0], address, state, NULL));
      ck_assert (quoit_input_set_node_pool (input, "a", NULL));
      ck_assert (
          quoit_input_set_node_slice (input, parts[1], g_ascii_strtoll (parts[2], NULL, 10), "v6e", "2x4", NULL));
      ck_assert (quoit_input_set_node_resource (input, "TPU", (QuoitAmount) { 40000 }, NULL));
    }
  return input;
}

/* The nodes of entry @seq + 1: "h0 added alive, h1 state dead". */
static char *
events_after (QuoitLedger *ledger, guint64 seq)
{
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (ledger, seq, NULL);
  GString *text = g_string_new (NULL);

  for (guint e = 0; e < quoit_journal_get_n_effects (journal, 0); e++)
    for (guint n = 0; n < quoit_journal_get_n_nodes (journal, 0, e); n++)
      {
        QuoitNodeState state = QUOIT_NODE_ALIVE;
        gboolean has_state = quoit_journal_find_node_state (journal, 0, e, n, &state);

        g_string_append_printf (text, "%s%s%s %s%s%s", text->len == 0 ? "" : ", ",
                                quoit_journal_get_effect_type (journal, 0, e) == QUOIT_EFFECT_NODE_STATE ? "now " : "",
                                quoit_journal_get_node_name (journal, 0, e, n),
                                events[quoit_journal_get_node_event (journal, 0, e, n)], has_state ? " " : "",
                                has_state ? states[state] : "");
      }
  return g_string_free (text, FALSE);
}

static void
sync_drawn (QuoitLedger *ledger, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitInput) input = drawn (text);

  quoit_import_free (quoit_ledger_sync (ledger, input, NOW, &error));
  ck_assert_ok (error);
}

static const struct {
  const char *before, *after, *events;
} cases[] = {
  { "h0:s.0", "h0:s.0 h1:s.1!draining", "h1 added draining" },
  { "h0:s.0 h1:s.1", "h0:s.0!dead h1:s.1", "h0 state dead, now h0 state dead" },
  { "h0:s.0!dead h1:s.1", "h0:s.0!draining h1:s.1", "h0 state draining, now h0 state draining" },
  { "h0:s.0 h1:s.1", "h1:s.1", "h0 removed" },
  { "h0:s.0 h1:s.1", "h0:s.0 h2:s.1!dead", "h2 added dead, h1 removed" },
  { "h0:s.0 h1:s.1", "h0:t.0 h1:s.1", "h0 moved" },
  { "h0:s.0 h1:s.1", "h0:s.0 h1:s.0!dead", "h1 moved, now h1 state dead" },
};

START_TEST (effect_names_the_nodes_that_a_sync_changes)
{
  g_autofree char *text = NULL;
  QuoitLedger *ledger = quoit_ledger_open_memory ();

  sync_drawn (ledger, cases[_i].before);
  sync_drawn (ledger, cases[_i].after);
  text = events_after (ledger, 1);
  ck_assert_str_eq (text, cases[_i].events);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (effect_names_a_node_that_a_later_sync_removes)
{
  g_autofree char *text = NULL, *effect = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  QuoitLedger *ledger = quoit_ledger_open_memory ();

  sync_drawn (ledger, "h0:s.0 h1:s.1");
  sync_drawn (ledger, "h0:s.0 h1:s.1!dead");
  sync_drawn (ledger, "h0:s.0");
  text = events_after (ledger, 1);
  ck_assert_str_eq (text, "h1 state dead, now h1 state dead");
  journal = quoit_ledger_read_journal (ledger, 1, NULL);
  effect = quoit_journal_dup_effect_text (journal, 0, 1);
  ck_assert_str_eq (effect, "node h1 is dead");
  quoit_ledger_unref (ledger);
}
END_TEST

/* --- random walk --- */

enum { STEPS = 400, HOSTS = 12 };

typedef struct {
  QuoitLedger *ledger, *reader;
  GRand *rand;
  guint64 seen;
  guint n_lists;     /* of Kubernetes that were read */
  GHashTable *nodes; /* what the reader knows: durable id -> state + 1 */
  struct {
    gboolean is_there;
    guint slice, worker, state;
  } hosts[HOSTS];
} Walk;

static QuoitInput *
draw_hosts (const Walk *walk)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint h = 0; h < HOSTS; h++)
    if (walk->hosts[h].is_there || h == 0)
      g_string_append_printf (text, "%sh%u:s%u.%u!%s", text->len == 0 ? "" : " ", h, walk->hosts[h].slice,
                              walk->hosts[h].worker, states[walk->hosts[h].state]);
  return drawn (text->str);
}

/* A list of Kubernetes nodes with some of the same addresses. A node that is not ready is dead for one of two causes.
 */
static char *
draw_k8s (Walk *walk)
{
  static const char *const ready[] = { "True", "False", "Unknown" };
  GString *text = g_string_new ("{\"kind\": \"NodeList\", \"apiVersion\": \"v1\", \"items\": [");
  gboolean is_first = TRUE;

  for (guint h = 0; h < HOSTS + 2; h++)
    if (g_rand_int_range (walk->rand, 0, 3) > 0)
      {
        g_string_append_printf (
            text,
            "%s{\"kind\": \"Node\", \"metadata\": {\"name\": \"k%u\", \"uid\": \"u%u\", \"labels\": {}}, \"status\": "
            "{\"addresses\": [{\"type\": \"InternalIP\", \"address\": \"10.0.0.%u\"}], \"allocatable\": {\"cpu\": "
            "\"8\"}, "
            "\"conditions\": [{\"type\": \"Ready\", \"status\": \"%s\"}]}}",
            is_first ? "" : ", ", h, h, h, ready[g_rand_int_range (walk->rand, 0, G_N_ELEMENTS (ready))]);
        is_first = FALSE;
      }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

static void
change_hosts (Walk *walk)
{
  guint n = (guint) g_rand_int_range (walk->rand, 1, 4);

  for (guint i = 0; i < n; i++)
    {
      guint h = (guint) g_rand_int_range (walk->rand, 0, HOSTS);

      switch (g_rand_int_range (walk->rand, 0, 6))
        {
        case 0:
          walk->hosts[h].is_there = !walk->hosts[h].is_there;
          break;
        case 1:
          walk->hosts[h].slice = (guint) g_rand_int_range (walk->rand, 0, HOSTS / 2);
          break;
        default:
          walk->hosts[h].state = (guint) g_rand_int_range (walk->rand, 0, 3);
        }
    }
}

static void
step_walk (Walk *walk)
{
  static guint number;
  guint h = (guint) g_rand_int_range (walk->rand, 0, HOSTS);
  g_autofree char *name = g_strdup_printf (g_rand_boolean (walk->rand) ? "h%u" : "k%u", h),
                  *group = g_strdup_printf ("g%u", number++), *list = NULL;
  g_autoptr (QuoitInput) input = NULL;
  g_autoptr (QuoitRequest) request = NULL;

  switch (g_rand_int_range (walk->rand, 0, 8))
    {
    case 0:
      quoit_ledger_set_node_state (walk->ledger, name, (QuoitNodeState) g_rand_int_range (walk->rand, 0, 3), NOW, NULL);
      return;
    case 1:
      request = quoit_request_new (group, NULL);
      quoit_request_set_accelerator (request, "v6e", NULL);
      quoit_request_set_topology (request, "2x4", NULL);
      quoit_request_set_slices (request, 1, NULL);
      quoit_group_unref (quoit_ledger_reserve (walk->ledger, request, NOW, NULL, NULL));
      return;
    case 2:
      group = (g_free (group), g_strdup_printf ("g%d", g_rand_int_range (walk->rand, 0, (int) number)));
      quoit_ledger_release (walk->ledger, group, NOW, NULL);
      return;
    case 3:
      list = draw_k8s (walk);
      input = quoit_input_new (QUOIT_SOURCE_KIND_K8S_NODES, list, strlen (list));
      {
        QuoitImport *import = quoit_ledger_sync (walk->ledger, input, NOW, NULL);

        walk->n_lists += import != NULL;
        quoit_import_free (import);
      }
      return;
    default:
      change_hosts (walk);
      input = draw_hosts (walk);
      if (g_rand_int_range (walk->rand, 0, 3) == 0)
        quoit_import_free (quoit_ledger_update_nodes (walk->ledger, input, NOW, NULL));
      else
        quoit_import_free (quoit_ledger_sync (walk->ledger, input, NOW, NULL));
    }
}

static void
follow_node (Walk *walk, const QuoitJournal *journal, guint e, guint f, guint n)
{
  gpointer id = GUINT_TO_POINTER (quoit_journal_get_node_id (journal, e, f, n));
  QuoitNodeEvent event = quoit_journal_get_node_event (journal, e, f, n);
  QuoitNodeState state = QUOIT_NODE_ALIVE;

  ck_assert_int_ne (event, QUOIT_NODE_EVENT_UNRECORDED);
  ck_assert_msg (g_hash_table_contains (walk->nodes, id) == (event != QUOIT_NODE_EVENT_ADDED), "node %u: %s",
                 GPOINTER_TO_UINT (id), events[event]);
  if (event == QUOIT_NODE_EVENT_REMOVED)
    g_hash_table_remove (walk->nodes, id);
  else if (quoit_journal_find_node_state (journal, e, f, n, &state))
    g_hash_table_insert (walk->nodes, id, GUINT_TO_POINTER (state + 1));
}

static void
follow (Walk *walk)
{
  g_autoptr (QuoitJournal) journal = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  ck_assert (quoit_ledger_refresh (walk->reader, NULL));
  journal = quoit_ledger_read_journal (walk->reader, walk->seen, NULL);
  snapshot = quoit_ledger_snapshot (walk->reader);
  for (guint e = 0; e < quoit_journal_get_n_entries (journal); e++)
    {
      for (guint f = 0; f < quoit_journal_get_n_effects (journal, e); f++)
        for (guint n = 0; n < quoit_journal_get_n_nodes (journal, e, f); n++)
          follow_node (walk, journal, e, f, n);
      walk->seen = quoit_journal_get_seq (journal, e);
    }
  ck_assert_uint_eq (g_hash_table_size (walk->nodes), quoit_snapshot_get_n_nodes (snapshot));
  for (guint i = 0; i < quoit_snapshot_get_n_nodes (snapshot); i++)
    ck_assert_msg (GPOINTER_TO_UINT (
                       g_hash_table_lookup (walk->nodes, GUINT_TO_POINTER (quoit_snapshot_get_node_id (snapshot, i))))
                       == (guint) quoit_snapshot_get_node_state (snapshot, i) + 1,
                   "entry %" G_GUINT64_FORMAT ": node %s is %s", walk->seen, quoit_snapshot_get_node_name (snapshot, i),
                   states[quoit_snapshot_get_node_state (snapshot, i)]);
}

/* Loops 0 to 5: in memory; 6 to 11: two handles of a database. */
START_TEST (reader_of_the_journal_knows_all_nodes_and_states)
{
  TestPaths paths = test_paths_new ();
  gboolean is_file = _i >= 6;
  Walk walk = { .ledger = is_file ? quoit_ledger_create (paths.path, 20000, NULL) : quoit_ledger_open_memory (),
                .rand = g_rand_new_with_seed ((guint32) _i),
                .nodes = g_hash_table_new (NULL, NULL) };

  walk.reader = is_file ? quoit_ledger_open (paths.path, 20000, NULL) : quoit_ledger_ref (walk.ledger);
  for (guint h = 0; h < HOSTS; h++)
    {
      walk.hosts[h].slice = h / 2;
      walk.hosts[h].worker = h % 2;
    }
  for (guint i = 0; i < (is_file ? STEPS / 4 : STEPS); i++)
    {
      step_walk (&walk);
      follow (&walk);
    }
  ck_assert_uint_gt (walk.seen, STEPS / 20);
  ck_assert_uint_gt (walk.n_lists, 5);
  ck_assert (quoit_ledger_verify (walk.ledger, NULL));
  g_rand_free (walk.rand);
  g_hash_table_unref (walk.nodes);
  quoit_ledger_unref (walk.reader);
  quoit_ledger_unref (walk.ledger);
  test_paths_clear (&paths);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("import-events");
  TCase *tcase = tcase_create ("events");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, effect_names_the_nodes_that_a_sync_changes, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, effect_names_a_node_that_a_later_sync_removes);
  tcase_add_loop_test (tcase, reader_of_the_journal_knows_all_nodes_and_states, 0, 12);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
