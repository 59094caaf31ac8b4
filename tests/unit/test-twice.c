/* SPDX-License-Identifier: Apache-2.0 */
/* Importing the same list again changes nothing, whatever else the ledger has. */
#include <quoit/quoit.h>

#include "../fuzz/cluster.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

/* --- drawn lists --- */

/* "0:4x4@2" is machine gke-0 of topology 4x4 at 10.0.0.2; 'd' after it means cordoned, 'x' not Ready. */
static char *
k8s_drawn (const char *drawn)
{
  GString *text = g_string_new ("{\"kind\": \"List\", \"items\": [");
  g_auto (GStrv) words = g_strsplit (drawn, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      char name = words[i][0], *at = strchr (words[i], '@'), state = at[strlen (at) - 1];

      g_string_append_printf (
          text,
          "%s{\"kind\": \"Node\", \"metadata\": {\"name\": \"gke-%c\", \"uid\": \"u-%c\", \"labels\": {"
          "\"cloud.google.com/gke-nodepool\": \"p\", \"cloud.google.com/gke-tpu-topology\": \"%.*s\", "
          "\"cloud.google.com/gke-tpu-accelerator\": \"tpu-v6e-slice\"}}, \"spec\": {%s}, \"status\": {"
          "\"capacity\": {\"google.com/tpu\": \"4\"}, \"allocatable\": {\"google.com/tpu\": \"4\"}, "
          "\"conditions\": [{\"type\": \"Ready\", \"status\": \"%s\"}], "
          "\"addresses\": [{\"type\": \"InternalIP\", \"address\": \"10.0.0.%c\"}]}}",
          i == 0 ? "" : ",", name, name, (int) (at - words[i] - 2), words[i] + 2,
          state == 'd' ? "\"unschedulable\": true" : "", state == 'x' ? "False" : "True", at[1]);
    }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

/* "A:0@5" is Ray's node A, worker 0 of its slice of 2x4, at 10.0.0.5; 'x' after it means dead. */
static char *
ray_drawn (const char *drawn)
{
  GString *text = g_string_new ("[");
  g_auto (GStrv) words = g_strsplit (drawn, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    g_string_append_printf (
        text,
        "%s{\"node_id\": \"%056x\", \"node_ip\": \"10.0.0.%c\", \"is_head_node\": false, \"state\": \"%s\", "
        "\"state_message\": null, \"node_name\": \"ray-%c\", \"resources_total\": {\"CPU\": 2.0, \"TPU\": 4.0, "
        "\"memory\": \"1.000 GiB\"}, \"labels\": {\"ray.io/node-id\": \"%056x\", \"ray.io/node-group\": \"g\", "
        "\"ray.io/tpu-slice-name\": \"s0\", \"ray.io/tpu-worker-id\": \"%c\", \"ray.io/tpu-topology\": \"2x4\", "
        "\"ray.io/accelerator-type\": \"TPU-V6E\", \"ray.io/tpu-pod-type\": \"v6e-8\"}, "
        "\"start_time_ms\": null, \"end_time_ms\": null}",
        i == 0 ? "" : ",", words[i][0], words[i][4], words[i][5] == 'x' ? "DEAD" : "ALIVE", words[i][0], words[i][0],
        words[i][2]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

/* "k8s ..." or "ray ...". */
static QuoitInput *
input_drawn (const char *step)
{
  gboolean is_k8s = g_str_has_prefix (step, "k8s ");
  g_autofree char *text = is_k8s ? k8s_drawn (step + 4) : ray_drawn (step + 4);

  return quoit_input_new (is_k8s ? QUOIT_SOURCE_KIND_K8S_NODES : QUOIT_SOURCE_KIND_RAY_NODES, text, strlen (text));
}

/* --- reading --- */

typedef struct {
  guint64 seq;
  char *json;
} LedgerState;

static LedgerState
state_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return (LedgerState) { quoit_snapshot_get_seq (snapshot), quoit_snapshot_dup_json (snapshot) };
}

static gboolean
read_once (QuoitLedger *ledger, const QuoitInput *input, gboolean is_sync, char **shown, GError **error)
{
  QuoitImport *import
      = is_sync ? quoit_ledger_sync (ledger, input, NOW, error) : quoit_ledger_import (ledger, input, NOW, error);
  gboolean ok = import != NULL;

  *shown = cluster_show_import (import, ok ? NULL : *error);
  quoit_import_free (import);
  return ok;
}

/* FALSE if the first import was refused. */
static gboolean
read_twice (QuoitLedger *ledger, const QuoitInput *input, gboolean is_sync, const char *of)
{
  g_autofree char *first = NULL, *second = NULL;
  g_autoptr (GError) error = NULL;
  LedgerState before, after;

  if (!read_once (ledger, input, is_sync, &first, &error))
    return FALSE;
  before = state_of (ledger);
  ck_assert_msg (read_once (ledger, input, is_sync, &second, &error), "%s: refused the second time: %s", of, second);
  after = state_of (ledger);
  ck_assert_msg (before.seq == after.seq, "%s:\n%s\n%s", of, first, second);
  ck_assert_msg (g_str_equal (before.json, after.json), "%s: another state", of);
  g_free (before.json);
  g_free (after.json);
  return TRUE;
}

/* --- cases that once failed --- */

static const char *const scripts[] = {
  /* two topologies in one pool: the slice has as many hosts as the larger one, whichever node comes first */
  "k8s 1:4x4@2 4:2x4@1x 0:2x4@1x",
  "k8s 0:2x4@1d 1:4x4@2x 4:2x4@3",
  "k8s 0:2x4@1 1:2x4@2 2:2x4@3 3:4x4@4x",
  "k8s 1:4x4@2 4:2x4@1x 0:2x4@1;k8s 1:4x4@2 0:2x4@1;k8s 1:4x4@2 4:2x4@1x 0:2x4@1d",
  /* several machines at one address: each list matches the same ones again */
  "k8s 0:2x4@8x 1:2x4@8x;ray 1:0@8 2:1@8",
  "ray 1:0@8 2:1@8;k8s 0:2x4@8x 1:2x4@8x",
  "k8s 0:2x4@8 1:2x4@8;ray 1:0@8 2:1@8;k8s 0:2x4@8 1:2x4@8",
  "k8s 0:2x4@8 1:2x4@8x;ray 1:0@8 2:1@8;k8s 0:2x4@8 1:2x4@8x",
  "ray 1:0@8 2:1@8x;k8s 0:2x4@8x 1:2x4@8;ray 1:0@8x 2:1@8",
  /* a machine that only this list reported dead keeps its address for the next one */
  "ray 1:0@8;k8s 0:2x4@8x;k8s 1:2x4@8",
};

START_TEST (list_read_again_changes_nothing)
{
  g_auto (GStrv) steps = g_strsplit (scripts[_i], ";", -1);
  QuoitLedger *ledger = quoit_ledger_open_memory ();

  for (guint i = 0; steps[i] != NULL; i++)
    {
      g_autoptr (QuoitInput) input = input_drawn (steps[i]);

      ck_assert_msg (read_twice (ledger, input, FALSE, steps[i]), "%s: refused", steps[i]);
    }
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (slice_with_two_topologies_has_the_hosts_of_the_larger)
{
  g_autoptr (QuoitInput) input = input_drawn (scripts[0]);
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;
  uint32_t node;

  ck_assert (read_twice (ledger, input, FALSE, scripts[0]));
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_snapshot_lookup_node (snapshot, "gke-4", &node, &error));
  ck_assert_int_eq (quoit_snapshot_get_node_worker_id (snapshot, node), 2);
  quoit_ledger_unref (ledger);
}
END_TEST

/* --- random lists --- */

enum { N_BYTES = 512, N_READS = 12 };

START_TEST (any_list_read_again_changes_nothing)
{
  const char *text = g_getenv ("QUOIT_TEST_SEED");
  guint32 seed = (text == NULL ? 20261122 : (guint32) g_ascii_strtoull (text, NULL, 10)) + (guint32) _i;
  GRand *random = g_rand_new_with_seed (seed);
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  guint n_read = 0;

  for (guint i = 0; i < N_READS; i++)
    {
      g_autoptr (GString) texts = g_string_new (NULL);
      g_autofree char *of = g_strdup_printf ("seed %u, list %u", seed, i);
      gboolean is_sync = g_rand_boolean (random);
      g_autoptr (QuoitInput) input = NULL;
      guint8 bytes[N_BYTES];
      FuzzInput in = fuzz_input (bytes, sizeof bytes);

      for (guint b = 0; b < N_BYTES; b++)
        bytes[b] = (guint8) g_rand_int_range (random, 0, 256);
      input = cluster_any_input (&in, texts);
      if (g_getenv ("QUOIT_TEST_SHOW") != NULL)
        g_printerr ("%s: %s\n%s", of, is_sync ? "sync" : "import", texts->str);
      n_read += read_twice (ledger, input, is_sync, of);
    }
  ck_assert_uint_gt (n_read, 0);
  g_rand_free (random);
  quoit_ledger_unref (ledger);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("twice");
  TCase *tcase = tcase_create ("twice");

  tcase_add_loop_test (tcase, list_read_again_changes_nothing, 0, (int) G_N_ELEMENTS (scripts));
  tcase_add_test (tcase, slice_with_two_topologies_has_the_hosts_of_the_larger);
  tcase_add_loop_test (tcase, any_list_read_again_changes_nothing, 0, 200);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
