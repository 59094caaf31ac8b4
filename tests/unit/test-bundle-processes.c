/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of groups of bundles: whole slices in parts, parts of slices, and groups that form no job. */
#include <stdio.h>

#include <quoit/models.h>

#include "bundle-groups.h"
#include "../shortcuts.h"

/* --- rows --- */

static const char *const jobs[]
    = { [QUOIT_JOB_SLICES] = "slices", [QUOIT_JOB_BOXES] = "boxes", [QUOIT_JOB_SEPARATE] = "separate" };

static const char *
value_of (const QuoitTopology *topology, uint32_t process, const char *name)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    if (strcmp (quoit_topology_get_variable_name (topology, process, i), name) == 0)
      return quoit_topology_get_variable_value (topology, process, i);
  return NULL;
}

/* "b2 s0 w1 2,3@0.0.1,1.0.1 d4,5": bundle, slice id, worker, chips of the host, their places, devices; "b3 -"
 * without chips. */
static void
append_process (GString *text, const QuoitTopology *topology, uint32_t p)
{
  uint64_t chips = quoit_topology_get_host_chips (topology, p);
  const char *comma = " ";

  g_string_append_printf (text, "%sb%d", p > 0 ? "; " : " ", (int) quoit_topology_get_bundle (topology, p));
  if (chips == 0)
    {
      g_string_append (text, " -");
      return;
    }
  g_string_append_printf (text, " s%u w%u", quoit_topology_get_slice_id (topology, p),
                          quoit_topology_get_worker_id (topology, p));
  for (guint chip = 0; chip < 64; chip++)
    if ((chips >> chip & 1) != 0)
      {
        g_string_append_printf (text, "%s%u", comma, chip);
        comma = ",";
      }
  comma = "@";
  for (uint32_t c = 0; c < quoit_topology_get_n_chips (topology, p); c++, comma = ",")
    g_string_append_printf (text, "%s%u.%u.%u", comma, quoit_topology_get_chip_at (topology, p, c, QUOIT_AXIS_X),
                            quoit_topology_get_chip_at (topology, p, c, QUOIT_AXIS_Y),
                            quoit_topology_get_chip_at (topology, p, c, QUOIT_AXIS_Z));
  comma = " d";
  for (uint32_t d = 0; d < quoit_topology_get_n_devices (topology, p); d++, comma = ",")
    g_string_append_printf (text, "%s%u", comma, (unsigned) quoit_topology_get_device (topology, p, d));
}

static char *
processes_of (const QuoitTopology *topology)
{
  GString *text = g_string_new (jobs[quoit_topology_get_job (topology)]);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    append_process (text, topology, p);
  return g_string_free (text, FALSE);
}

/* @asked: one word per bundle, its amounts; "spread" STRICT_SPREAD; "slice" all bundles in one slice;
 * "slices:v6e,2x4,1,2" one whole slice in bundles of TPU=2 (bundles_ask()).
 * @processes: the job ("slices", "boxes" or "separate"), then for each process
 *   b2 s0 w1 2,3@0.0.1,1.0.1 d4,5   bundle 2 on worker 1 of slice 0, chips 2 and 3 of the host at the coordinates x.y.z
 *                                   0.0.1 and 1.0.1, devices 4 and 5
 *   b3 -                            bundle 3, without chips */
static const struct {
  const char *fleet, *asked, *processes;
} rows[] = {
  /* Bundles of whole slices form a job on slices: one bundle per host, or several bundles per host. */
  { "v6e 2x4 hostchips=4", "TPU=4 TPU=4 spread slice",
    "slices b0 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3; b1 s0 w1 0,1,2,3@0.2.0,1.2.0,0.3.0,1.3.0 d4,5,6,7" },
  { "v6e 2x4 hostchips=4", "slices:v6e,2x4,1,2 hosts=4",
    "slices b0 s0 w0 0,1@0.0.0,0.1.0 d0,2; b1 s0 w0 2,3@1.0.0,1.1.0 d1,3; b2 s0 w1 0,1@0.2.0,0.3.0 d4,6; "
    "b3 s0 w1 2,3@1.2.0,1.3.0 d5,7" },
  { "v5p 2x2x1 x2", "slices:v5p,2x2x1,2,2",
    "slices b0 s0 w0 0,1@0.0.0,0.1.0 d0,2; b1 s0 w0 2,3@1.0.0,1.1.0 d1,3; b2 s1 w0 0,1@0.0.0,0.1.0 d4,6; "
    "b3 s1 w0 2,3@1.0.0,1.1.0 d5,7" },
  { "v6e 2x2", "TPU=1 TPU=1 TPU=1 TPU=1",
    "slices b0 s0 w0 0@0.0.0 d0; b1 s0 w0 1@0.1.0 d2; b2 s0 w0 2@1.0.0 d1; b3 s0 w0 3@1.1.0 d3" },
  { "tpu7x 2x2x1", "slices:tpu7x,2x2x1,1,2",
    "slices b0 s0 w0 0,1@0.0.0,0.1.0 d0,1,4,5; b1 s0 w0 2,3@1.0.0,1.1.0 d2,3,6,7" },
  /* A host of 8 chips that JAX does not divide into 4 processes. */
  { "v6e 2x4 hostchips=8", "slices:v6e,2x4,1,2",
    "boxes b0 s0 w0 0,1@0.0.0,0.1.0 d0,2; b1 s0 w0 2,3@1.0.0,1.1.0 d1,3; b2 s0 w0 4,5@0.2.0,0.3.0 d4,6; "
    "b3 s0 w0 6,7@1.2.0,1.3.0 d5,7" },
  /* Parts of slices form a job on boxes: hosts, or parts of hosts. JAX numbers devices from the first chip of the box.
   * Format: bundle, slice, worker, chips of the host @ x.y.z, devices. */
  { "v6e 4x4", "TPU=4 TPU=4 spread slice",
    "boxes b0 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,4,5; b1 s0 w1 0,1,2,3@2.0.0,3.0.0,2.1.0,3.1.0 d2,3,6,7" },
  { "v6e 4x4 busy=0.0", "TPU=2 slice", "boxes b0 s0 w1 0,1@2.0.0,2.1.0 d0,1" },
  { "v6e 4x4 busy=0.0", "TPU=1", "boxes b0 s0 w1 0@2.0.0 d0" },
  { "v6e 4x4", "TPU=2 TPU=2 slice", "boxes b0 s0 w0 0,1@0.0.0,0.1.0 d0,2; b1 s0 w0 2,3@1.0.0,1.1.0 d1,3" },
  { "v6e 4x4", "TPU=1 TPU=1 slice", "boxes b0 s0 w0 0@0.0.0 d0; b1 s0 w0 1@0.1.0 d1" },
  { "v6e 4x4 x2", "TPU=2 TPU=2 spread slices=2", "boxes b0 s0 w0 0,1@0.0.0,0.1.0 d0,1; b1 s1 w0 0,1@0.0.0,0.1.0 d2,3" },
  /* No common job ("separate"): no box, boxes of two sizes, different boxes in a second slice, and a box that is no
   * topology. */
  { "v6e 4x4", "TPU=1 TPU=1 TPU=1", "separate b0 s0 w0 0@0.0.0 d0; b1 s0 w0 1@0.1.0 d0; b2 s0 w0 2@1.0.0 d0" },
  { "v6e 4x4", "TPU=1 TPU=2", "separate b0 s0 w0 0@0.0.0 d0; b1 s0 w0 2,3@1.0.0,1.1.0 d0,1" },
  { "v6e 4x4 busy=0.1-2", "TPU=4 TPU=4 spread",
    "separate b0 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3; b1 s0 w3 0,1,2,3@2.2.0,3.2.0,2.3.0,3.3.0 d0,1,2,3" },
  { "v5p 4x4x4 busy=0.2-15", "TPU=4 TPU=4 spread",
    "separate b0 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3; b1 s0 w1 0,1,2,3@2.0.0,3.0.0,2.1.0,3.1.0 d0,1,2,3" },
  { "v5p 2x2x1; v6e 2x2", "TPU=4 TPU=4 spread",
    "separate b0 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3; b1 s1 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3" },
  { "v6e 2x2", "TPU=0.5 TPU=0.5", "separate b0 s0 w0 0@0.0.0 d0; b1 s0 w0 0@0.0.0 d0" },
};

START_TEST (bundles_become_the_expected_processes)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (rows[_i].fleet);
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", rows[_i].asked);
  GError *error = NULL;
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, &error);
  g_autofree char *processes = NULL;

  ck_assert_ok (error);
  processes = processes_of (topology);
  ck_assert_str_eq (processes, rows[_i].processes);
}
END_TEST

/* --- equal to whole slices --- */

static const struct {
  const char *fleet, *accelerator, *topology, *asked;
  uint32_t n_slices, per_host;
} alike[] = {
  { "v6e 4x4 x2", "v6e", "4x4", "TPU=4 TPU=4 TPU=4 TPU=4 TPU=4 TPU=4 TPU=4 TPU=4 spread slices=2", 2, 1 },
  { "v6e 4x4 x2", "v6e", "4x4", "slices:v6e,4x4,2,1", 2, 4 },
  { "v6e 4x4", "v6e", "4x4", "slices:v6e,4x4,1,2", 1, 2 },
  { "v6e 2x4 hostchips=8", "v6e", "2x4", "slices:v6e,2x4,1,4", 1, 2 },
  { "v6e 2x4 hostchips=8", "v6e", "2x4", "slices:v6e,2x4,1,1", 1, 8 },
  { "v5p 2x2x2 pool=p", "v5p", "2x2x2", "slices:v5p,2x2x2,1,1", 1, 4 },
  { "tpu7x 2x2x2 x2", "tpu7x", "2x2x2", "slices:tpu7x,2x2x2,2,4", 2, 1 },
};

static QuoitGroup *
reserve_whole (QuoitLedger *ledger, guint row)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);

  ck_assert (quoit_request_set_accelerator (request, alike[row].accelerator, NULL)
             && quoit_request_set_topology (request, alike[row].topology, NULL)
             && quoit_request_set_slices (request, alike[row].n_slices, NULL));
  return quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, NULL);
}

/* All except bundles, which whole slices do not have. */
static char *
environments_of (const QuoitTopology *topology)
{
  GString *text = g_string_new (NULL);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      g_string_append_printf (text, "%u %u %u %u", quoit_topology_get_slice_id (topology, p),
                              quoit_topology_get_worker_id (topology, p), quoit_topology_get_local_index (topology, p),
                              quoit_topology_get_group_slice (topology, p));
      for (uint32_t d = 0; d < quoit_topology_get_n_devices (topology, p); d++)
        g_string_append_printf (text, " %u", (unsigned) quoit_topology_get_device (topology, p, d));
      for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, p); i++)
        g_string_append_printf (text, " %s=%s", quoit_topology_get_variable_name (topology, p, i),
                                quoit_topology_get_variable_value (topology, p, i));
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

START_TEST (bundles_of_whole_slices_have_the_environments_of_slices)
{
  static const QuoitProfile profiles[] = { QUOIT_PROFILE_QUOIT, QUOIT_PROFILE_JOBSET };
  g_autoptr (QuoitLedger) whole = bundles_ledger (alike[_i].fleet), divided = bundles_ledger (alike[_i].fleet);
  g_autoptr (QuoitGroup) slices = reserve_whole (whole, (guint) _i);
  g_autoptr (QuoitGroup) bundles = bundles_reserve (divided, "train", alike[_i].asked);

  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    {
      g_autoptr (QuoitLaunch) launch = quoit_launch_new (profiles[i]);
      g_autoptr (QuoitTopology) expected = NULL, found = NULL;
      g_autofree char *of_slices = NULL, *of_bundles = NULL;

      ck_assert (quoit_launch_set_processes_per_host (launch, alike[_i].per_host, NULL));
      expected = quoit_topology_new (slices, launch, NULL);
      found = topology_in (bundles, profiles[i], NULL);
      ck_assert (expected != NULL && found != NULL);
      of_slices = environments_of (expected);
      of_bundles = environments_of (found);
      ck_assert_str_eq (of_bundles, of_slices);
      ck_assert_int_eq (quoit_topology_get_job (found), QUOIT_JOB_SLICES);
      ck_assert_uint_eq (count_processes_per_host (found), alike[_i].per_host);
      ck_assert_int_eq (quoit_topology_get_bundle (expected, 0), -1);
      ck_assert_int_eq (quoit_topology_get_bundle (found, quoit_topology_get_n_processes (found) - 1),
                        quoit_group_get_n_bundles (bundles) - 1);
    }
}
END_TEST

START_TEST (bundles_of_whole_hosts_can_have_several_processes)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v5p 2x2x2");
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", "TPU=4 TPU=4 spread slice");
  g_autoptr (QuoitLaunch) launch = quoit_launch_new (QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitTopology) topology = NULL;

  ck_assert (quoit_launch_set_processes_per_host (launch, 4, NULL));
  topology = quoit_topology_new (group, launch, NULL);
  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), 8);
  ck_assert_int_eq (quoit_topology_get_bundle (topology, 5), 1);
  ck_assert_str_eq (value_of (topology, 5, "TPU_VISIBLE_CHIPS"), "1");
}
END_TEST

/* --- environments --- */

static const struct {
  const char *fleet, *asked;
  uint32_t process;
  const char *variables;
} environments[] = {
  { "v6e 4x4 pool=p", "TPU=4 TPU=4 spread slice", 1,
    "CLOUD_TPU_TASK_ID=1 TPU_ACCELERATOR_TYPE=v6e-16 TPU_CHIPS_PER_PROCESS_BOUNDS=2,2,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=p-0-0:8471,p-0-1:8471 TPU_PROCESS_BOUNDS=2,1,1 TPU_PROCESS_PORT=8471 TPU_TOPOLOGY=4x4 "
    "TPU_VISIBLE_CHIPS=0,1,2,3 TPU_WORKER_HOSTNAMES=p-0-0,p-0-1 TPU_WORKER_ID=1" },
  /* Half a host on its own; the port is that of its first chip. */
  { "v6e 4x4 pool=p busy=0.0", "TPU=1 TPU=2", 1,
    "CLOUD_TPU_TASK_ID=0 TPU_ACCELERATOR_TYPE=v6e-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,2,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=localhost:8473 TPU_PROCESS_BOUNDS=1,1,1 TPU_PROCESS_PORT=8473 TPU_TOPOLOGY=4x4 "
    "TPU_VISIBLE_CHIPS=2,3 TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=0" },
  { "v6e 4x4 x2 pool=p", "TPU=1 TPU=1 TPU=1 TPU=1 slices=2", 3,
    "CLOUD_TPU_TASK_ID=1 MEGASCALE_COORDINATOR_ADDRESS=p-0-0 MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8081 "
    "MEGASCALE_SLICE_ID=1 TPU_ACCELERATOR_TYPE=v6e-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1 TPU_NAME=p-1 "
    "TPU_PROCESS_ADDRESSES=localhost:8471,localhost:8472 TPU_PROCESS_BOUNDS=1,2,1 TPU_PROCESS_PORT=8472 "
    "TPU_TOPOLOGY=4x4 TPU_VISIBLE_CHIPS=1 TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=1" },
};

START_TEST (process_has_the_bounds_of_its_box)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (environments[_i].fleet);
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", environments[_i].asked);
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t p = environments[_i].process;

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, p); i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", quoit_topology_get_variable_name (topology, p, i),
                            quoit_topology_get_variable_value (topology, p, i));
  ck_assert_str_eq (text->str, environments[_i].variables);
}
END_TEST

/* --- without TPU, and without a slice --- */

#define NODE(id, ip, name, resources, labels)                                                                          \
  "{\"node_id\": \"111111111111111111111111111111111111111111111111111111" id "\", \"node_ip\": \"" ip                 \
  "\", \"is_head_node\": false, \"state\": \"ALIVE\", \"node_name\": \"" name "\", \"resources_total\": {" resources   \
  "}, \"labels\": {" labels "}}"
#define IN_SLICE                                                                                                       \
  "\"ray.io/accelerator-type\": \"TPU-V6E\", \"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": \"0\", "      \
  "\"ray.io/tpu-topology\": \"2x2\", \"ray.io/tpu-pod-type\": \"v6e-4\", \"on\": \"slice\""

static const char three_nodes[] = "[" NODE ("aa", "10.0.0.1", "cpu", "\"CPU\": 8.0", "\"on\": \"cpu\"") ", " NODE (
    "bb", "10.0.0.2", "tpu", "\"CPU\": 8.0, \"TPU\": 4.0, \"s\": 1.0, \"TPU-v6e-4-head\": 1.0",
    IN_SLICE) ", " NODE ("cc", "10.0.0.3", "bare", "\"CPU\": 8.0, \"TPU\": 4.0", "\"on\": \"bare\"") "]";

/* Bundles with their nodes: "CPU=1@cpu TPU=4@slice". */
static QuoitGroup *
reserve_on (QuoitLedger *ledger, const char *words)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_auto (GStrv) list = g_strsplit (words, " ", -1);
  GError *error = NULL;
  QuoitGroup *group;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, three_nodes, NULL, bundles_now_ms, &error));
  ck_assert_ok (error);
  for (guint i = 0; list[i] != NULL; i++)
    {
      g_auto (GStrv) of = g_strsplit (list[i], "@", 2);

      ck_assert (quoit_request_add_bundles (request, of[0], 1, NULL)
                 && quoit_request_select_bundle (request, i, "on", of[1], NULL));
    }
  group = quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, &error);
  ck_assert_ok (error);
  return group;
}

static gboolean
has_note (const QuoitTopology *topology, const char *part)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    if (strstr (quoit_topology_get_note (topology, i), part) != NULL)
      return TRUE;
  return FALSE;
}

START_TEST (bundle_without_tpu_is_a_last_process_without_variables)
{
  static const QuoitProfile profiles[] = { QUOIT_PROFILE_QUOIT, QUOIT_PROFILE_RAY_TRAIN };
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = reserve_on (ledger, "CPU=1@cpu TPU=4@slice CPU=1@slice");

  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    {
      GError *error = NULL;
      g_autoptr (QuoitTopology) topology = topology_in (group, profiles[i], &error);
      g_autofree char *processes = NULL, *slice = NULL, *node = NULL;

      ck_assert_ok (error);
      processes = processes_of (topology);
      ck_assert_str_eq (processes, "slices b1 s0 w0 0,1,2,3@0.0.0,1.0.0,0.1.0,1.1.0 d0,1,2,3; b0 -; b2 -");
      ck_assert_uint_eq (quoit_topology_get_n_variables (topology, 1), 0);
      ck_assert_uint_eq (quoit_topology_get_n_variables (topology, 2), 0);
      ck_assert_uint_eq (quoit_topology_get_group_slice (topology, 1), G_MAXUINT32);
      ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 2, profiles[i]), -1);
      ck_assert_str_eq (quoit_topology_get_slice_name (topology, 1), "");
      slice = quoit_topology_dup_slice_full_name (topology, 1);
      ck_assert_str_eq (slice, "");
      node = quoit_topology_dup_node_full_name (topology, 1);
      ck_assert_str_eq (node, "ray/default/cpu");
      ck_assert (has_note (topology, "bundles 0, 2 have no TPU"));
    }
}
END_TEST

START_TEST (bundles_without_tpu_are_processes_without_variables)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = reserve_on (ledger, "CPU=1@cpu CPU=2@bare");
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);
  g_autofree char *processes = processes_of (topology);

  ck_assert_str_eq (processes, "separate b0 -; b1 -");
}
END_TEST

/* As many chips as the node has, at a host's places; coordinates and devices are unknown. */
START_TEST (host_outside_slices_starts_a_separate_process)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = reserve_on (ledger, "TPU=2@bare TPU=1@bare");
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);

  ck_assert_int_eq (quoit_topology_get_job (topology), QUOIT_JOB_SEPARATE);
  ck_assert_str_eq (value_of (topology, 0, "TPU_VISIBLE_CHIPS"), "0,1");
  ck_assert_str_eq (value_of (topology, 0, "TPU_CHIPS_PER_PROCESS_BOUNDS"), "1,2,1");
  ck_assert_str_eq (value_of (topology, 1, "TPU_VISIBLE_CHIPS"), "2");
  ck_assert_ptr_null (value_of (topology, 0, "TPU_NAME"));
  ck_assert_uint_eq (quoit_topology_get_n_chips (topology, 0), 0);
  ck_assert_uint_eq (quoit_topology_get_n_devices (topology, 0), 0);
  ck_assert (has_note (topology, "bundle '0' is on node 'bare', whose place in a slice is not known"));
}
END_TEST

/* --- Ray's order --- */

START_TEST (profile_ray_train_numbers_bundles_in_request_order)
{
  static const char nodes[]
      = "[" NODE ("b0", "10.0.0.1", "w0", "\"TPU\": 4.0, \"s\": 1.0, \"TPU-v6e-8-head\": 1.0",
                  "\"ray.io/accelerator-type\": \"TPU-V6E\", \"ray.io/tpu-slice-name\": \"s\", "
                  "\"ray.io/tpu-worker-id\": \"0\", \"ray.io/tpu-topology\": \"2x4\", \"ray.io/tpu-pod-type\": "
                  "\"v6e-8\", \"on\": \"w0\"") ", " NODE ("b1", "10.0.0.2", "w1", "\"TPU\": 4.0, \"s\": 1.0",
                                                          "\"ray.io/accelerator-type\": \"TPU-V6E\", "
                                                          "\"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": "
                                                          "\"1\", \"ray.io/tpu-topology\": \"2x4\", "
                                                          "\"ray.io/tpu-pod-type\": \"v6e-8\", \"on\": \"w1\"") "]";
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitTopology) of_quoit = NULL, of_ray = NULL;
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, nodes, NULL, bundles_now_ms, &error));
  ck_assert_ok (error);
  ck_assert (quoit_request_add_bundles (request, "TPU=4", 2, NULL)
             && quoit_request_select_bundle (request, 0, "on", "w1", NULL)
             && quoit_request_select_bundle (request, 1, "on", "w0", NULL));
  group = quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, &error);
  ck_assert_ok (error);
  of_quoit = quoit_topology_new (group, NULL, &error);
  ck_assert_ok (error);
  of_ray = topology_in (group, QUOIT_PROFILE_RAY_TRAIN, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_topology_get_bundle (of_quoit, 0), 1);
  ck_assert_uint_eq (quoit_topology_get_worker_id (of_quoit, 0), 0);
  ck_assert_int_eq (quoit_topology_get_bundle (of_ray, 0), 0);
  ck_assert_uint_eq (quoit_topology_get_worker_id (of_ray, 0), 1);
}
END_TEST

/* --- refusals --- */

static const struct {
  const char *fleet, *asked;
  uint32_t per_host;
  QuoitProfile profile;
  const char *message;
} refused[] = {
  { "v6e 2x2", "TPU=3", 1, QUOIT_PROFILE_QUOIT,
    "group 'train': bundle '0' has the chips '0,1,2' of node 'v6e-2x2-0-0': expected 1, 2, 4 or 8 chips that form a "
    "box" },
  { "v6e 2x4 hostchips=8", "TPU=6", 1, QUOIT_PROFILE_RAY_TRAIN, "bundle '0' has the chips '0,1,2,3,4,5'" },
  { "v6e 4x4", "TPU=2 TPU=2 slice", 2, QUOIT_PROFILE_QUOIT,
    "group 'train', 2 processes per host: expected 1, because each of its bundles is a process" },
  { "v6e 2x2", "TPU=2 TPU=2", 4, QUOIT_PROFILE_QUOIT, "group 'train', 4 processes per host: expected 1" },
  { "v6e 4x4", "TPU=2", 1, QUOIT_PROFILE_KUBERAY,
    "profile kuberay: group 'train' has bundles that are not whole slices" },
  { "v6e 4x4", "TPU=2", 1, QUOIT_PROFILE_JOBSET,
    "profile jobset: group 'train' has bundles that are not whole slices" },
};

START_TEST (bundles_that_form_no_process_are_refused)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (refused[_i].fleet);
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", refused[_i].asked);
  g_autoptr (QuoitLaunch) launch = quoit_launch_new (refused[_i].profile);
  GError *error = NULL;

  ck_assert (quoit_launch_set_processes_per_host (launch, refused[_i].per_host, NULL));
  ck_assert_ptr_null (quoit_topology_new (group, launch, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (processes_per_host_can_equal_bundles_per_host)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 2x2");
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", "TPU=2 TPU=2");
  g_autoptr (QuoitLaunch) launch = quoit_launch_new (QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitTopology) topology = NULL;

  ck_assert (quoit_launch_set_processes_per_host (launch, 2, NULL));
  topology = quoit_topology_new (group, launch, NULL);
  ck_assert_ptr_nonnull (topology);
  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), 2);
}
END_TEST

START_TEST (notes_name_lost_and_leaving_bundles)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 pool=p");
  g_autoptr (QuoitGroup) made = bundles_reserve (ledger, "train", "TPU=4 TPU=4 TPU=4 spread slice"), group = NULL;
  g_autoptr (QuoitTopology) topology = NULL;

  ck_assert_ptr_nonnull (made);
  ck_assert (quoit_ledger_set_node_state (ledger, "p-0-1", QUOIT_NODE_DEAD, bundles_now_ms, NULL)
             && quoit_ledger_set_node_state (ledger, "p-0-2", QUOIT_NODE_DRAINING, bundles_now_ms, NULL));
  group = bundles_find (ledger);
  topology = quoit_topology_new (group, NULL, NULL);
  ck_assert (has_note (topology, "bundle 1 is lost: host p-0-1 is dead"));
  ck_assert (has_note (topology, "bundle 2 is leaving: host p-0-2 is draining"));
  ck_assert (has_note (topology, "until the hosts are back or the bundles are replaced or released"));
}
END_TEST

/* --- every group of a few bundles, compared with a model of boxes --- */

/* A chip of a process, at its place in the slice. */
typedef struct {
  uint32_t process, slice, at[3];
} ChipPosition;

typedef struct {
  uint32_t low[3], sides[3];
} Cuboid;

static GArray *
chip_positions (const QuoitTopology *topology)
{
  GArray *positions = g_array_new (FALSE, FALSE, sizeof (ChipPosition));

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    for (uint32_t c = 0; c < quoit_topology_get_n_chips (topology, p); c++)
      {
        ChipPosition position = { .process = p, .slice = quoit_topology_get_group_slice (topology, p) };

        for (int axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
          position.at[axis] = quoit_topology_get_chip_at (topology, p, c, (QuoitAxis) axis);
        g_array_append_val (positions, position);
      }
  return positions;
}

static bool
is_in (const Cuboid *cuboid, const ChipPosition *position)
{
  for (guint axis = 0; axis < 3; axis++)
    if (position->at[axis] < cuboid->low[axis] || position->at[axis] >= cuboid->low[axis] + cuboid->sides[axis])
      return false;
  return true;
}

/* Tries every cuboid of a slice of 4x4x2; finds the one that consists of exactly these positions. */
static bool
find_cuboid (const GArray *positions, bool (*is_wanted) (const ChipPosition *, uint32_t), uint32_t number,
             Cuboid *found)
{
  for (uint32_t i = 0; i < 4 * 4 * 2 * 4 * 4 * 2; i++)
    {
      Cuboid cuboid = { { i % 4, i / 4 % 4, i / 16 % 2 }, { i / 32 % 4 + 1, i / 128 % 4 + 1, i / 512 % 2 + 1 } };
      uint32_t n_inside = 0, n_wanted = 0;

      for (guint s = 0; s < positions->len; s++)
        {
          const ChipPosition *position = &g_array_index (positions, ChipPosition, s);

          n_wanted += is_wanted (position, number);
          n_inside += is_wanted (position, number) && is_in (&cuboid, position);
        }
      if (n_wanted == n_inside && n_wanted == cuboid.sides[0] * cuboid.sides[1] * cuboid.sides[2])
        {
          *found = cuboid;
          return true;
        }
    }
  return false;
}

static bool
is_of_process (const ChipPosition *position, uint32_t process)
{
  return position->process == process;
}

static bool
is_of_slice (const ChipPosition *position, uint32_t slice)
{
  return position->slice == slice;
}

/* Whether the chips form one job: the parts of all slices are cuboids with the same sides, and so are those of the
 * processes, which form a grid in it. The cuboid must also be a topology, with sides of 1, 2 and 4, but not 4x1. */
static bool
are_one_job (const GArray *positions, uint32_t n_processes, uint32_t n_slices, Cuboid *box, Cuboid *block)
{
  Cuboid first = { .sides = { 0 } };

  for (uint32_t slice = 0; slice < n_slices; slice++)
    {
      if (!find_cuboid (positions, is_of_slice, slice, box)
          || (slice > 0 && memcmp (box->sides, first.sides, sizeof first.sides) != 0))
        return false;
      first = *box;
      for (uint32_t p = 0; p < n_processes; p++)
        {
          Cuboid of_process;

          if (!find_cuboid (positions, is_of_process, p, &of_process)
              || (p > 0 && memcmp (of_process.sides, block->sides, sizeof block->sides) != 0))
            return false;
          *block = of_process;
          for (guint s = 0; s < positions->len; s++)
            if (is_of_process (&g_array_index (positions, ChipPosition, s), p)
                && is_of_slice (&g_array_index (positions, ChipPosition, s), slice))
              for (guint axis = 0; axis < 3; axis++)
                if ((of_process.low[axis] - box->low[axis]) % of_process.sides[axis] != 0)
                  return false;
        }
    }
  return true;
}

/* Either a part of one host with a power of two of chips, or whole hosts in a shape of v6e or v5p, which excludes
 * three hosts in a row. */
static bool
is_built (const Cuboid *box, const char *fleet)
{
  uint32_t host[3] = { 2, strstr (fleet, "hostchips=8") != NULL ? 4 : 2, 1 }, n = 1;
  bool is_in_host = true, is_of_hosts = true;

  for (guint axis = 0; axis < 3; axis++)
    {
      n *= box->sides[axis];
      is_in_host = is_in_host && box->low[axis] / host[axis] == (box->low[axis] + box->sides[axis] - 1) / host[axis];
      is_of_hosts = is_of_hosts && box->low[axis] % host[axis] == 0 && box->sides[axis] % host[axis] == 0;
    }
  return (n & (n - 1)) == 0 && (is_in_host || is_of_hosts);
}

static void
check_chips (const QuoitGroup *group, const QuoitTopology *topology)
{
  g_autoptr (GHashTable) bundles_seen = g_hash_table_new (NULL, NULL);

  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), quoit_group_get_n_bundles (group));
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      uint32_t bundle = (uint32_t) quoit_topology_get_bundle (topology, p);

      ck_assert (g_hash_table_add (bundles_seen, GUINT_TO_POINTER (bundle + 1)));
      ck_assert_uint_eq (quoit_topology_get_host_chips (topology, p), quoit_group_get_bundle_chips (group, bundle));
      ck_assert_str_eq (quoit_topology_get_node_name (topology, p), quoit_group_get_bundle_node (group, bundle));
    }
}

/* By slice, host and first chip. */
static void
check_order (const QuoitTopology *topology)
{
  for (uint32_t p = 1; p < quoit_topology_get_n_processes (topology); p++)
    {
      guint64 key[2];

      for (uint32_t i = 0; i < 2; i++)
        key[i] = (guint64) quoit_topology_get_slice_id (topology, p - 1 + i) << 40
                 | (guint64) quoit_topology_get_worker_id (topology, p - 1 + i) << 8
                 | (guint64) __builtin_ctzll (quoit_topology_get_host_chips (topology, p - 1 + i));
      ck_assert_uint_lt (key[0], key[1]);
    }
}

static void
check_devices (const QuoitTopology *topology)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  bool is_separate = quoit_topology_get_job (topology) == QUOIT_JOB_SEPARATE;
  guint n = 0;

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      n = is_separate ? 0 : n;
      if (is_separate)
        g_hash_table_remove_all (seen);
      for (uint32_t d = 0; d < quoit_topology_get_n_devices (topology, p); d++, n++)
        ck_assert (g_hash_table_add (seen, GUINT_TO_POINTER (quoit_topology_get_device (topology, p, d) + 1)));
      for (guint i = 0; is_separate && i < n; i++)
        ck_assert (g_hash_table_contains (seen, GUINT_TO_POINTER (i + 1)));
    }
  for (guint i = 0; !is_separate && i < n; i++)
    ck_assert (g_hash_table_contains (seen, GUINT_TO_POINTER (i + 1)));
}

/* JAX detects each of the processes once, or a process on its own. */
static void
check_identity (const QuoitTopology *topology)
{
  uint32_t n = quoit_topology_get_n_processes (topology);
  bool is_separate = quoit_topology_get_job (topology) == QUOIT_JOB_SEPARATE;

  for (uint32_t p = 0; p < n; p++)
    {
      g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
      g_auto (GStrv) env = NULL;
      g_autoptr (QuoitJaxCluster) cluster = NULL;
      int64_t count, id;

      for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, p); i++)
        {
          g_autofree char *pair = g_strconcat (quoit_topology_get_variable_name (topology, p, i), "=",
                                               quoit_topology_get_variable_value (topology, p, i), NULL);

          g_strv_builder_add (builder, pair);
        }
      env = g_strv_builder_end (builder);
      cluster = quoit_jax_cluster_detect ((const char *const *) env, NULL, NULL, NULL);
      ck_assert (quoit_jax_cluster_count_processes (cluster, &count, NULL)
                 && quoit_jax_cluster_find_process_id (cluster, &id, NULL));
      ck_assert_int_eq (count, is_separate ? 1 : n);
      ck_assert_int_eq (id, is_separate ? 0 : p);
    }
}

static guint
product_of (const char *bounds)
{
  unsigned x, y, z;

  ck_assert_msg (bounds != NULL && sscanf (bounds, "%u,%u,%u", &x, &y, &z) == 3, "'%s'", bounds);
  return x * y * z;
}

/* Bounds multiply to the chips of a slice's part, or are those of the process alone; whole hosts have none. */
static void
check_bounds (const QuoitTopology *topology, const Cuboid *box, const Cuboid *block)
{
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      const char *of_processes = value_of (topology, p, "TPU_PROCESS_BOUNDS");
      const char *of_chips = value_of (topology, p, "TPU_CHIPS_PER_PROCESS_BOUNDS");
      guint n_chips = quoit_topology_get_n_chips (topology, p);
      g_autofree char *expected = g_strdup_printf ("%u,%u,%u", block->sides[0], block->sides[1], block->sides[2]);

      if (quoit_topology_get_job (topology) == QUOIT_JOB_SLICES && count_processes_per_host (topology) == 1)
        {
          ck_assert (of_processes == NULL && of_chips == NULL);
          continue;
        }
      ck_assert_uint_eq (product_of (of_chips), n_chips);
      if (quoit_topology_get_job (topology) == QUOIT_JOB_SEPARATE)
        {
          ck_assert_uint_eq (product_of (of_processes), 1);
          continue;
        }
      ck_assert_str_eq (of_chips, expected);
      ck_assert_uint_eq (product_of (of_processes) * n_chips, box->sides[0] * box->sides[1] * box->sides[2]);
    }
}

static guint n_of_job[4];

static void
check_group (const QuoitGroup *group, const char *asked)
{
  GError *error = NULL;
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, &error);
  g_autoptr (GArray) positions = NULL;
  Cuboid box = { .sides = { 0 } }, block = { .sides = { 0 } };
  uint32_t n_slices;
  bool is_one;

  ck_assert_msg (topology != NULL, "%s: %s", asked, error == NULL ? "" : error->message);
  positions = chip_positions (topology);
  n_slices = g_array_index (positions, ChipPosition, positions->len - 1).slice + 1;
  is_one = are_one_job (positions, quoit_topology_get_n_processes (topology), n_slices, &box, &block)
           && is_built (&box, asked);
  ck_assert_msg (is_one == (quoit_topology_get_job (topology) != QUOIT_JOB_SEPARATE), "%s: %s", asked,
                 jobs[quoit_topology_get_job (topology)]);
  check_chips (group, topology);
  check_order (topology);
  check_devices (topology);
  check_identity (topology);
  check_bounds (topology, &box, &block);
  n_of_job[quoit_topology_get_job (topology)]++;
}

/* Each list of up to six bundles of 1, 2 and 4 chips, on any nodes and on different nodes. */
static void
check_lists (const char *fleet)
{
  static const char *const sizes[] = { "TPU=1", "TPU=2", "TPU=4" };

  for (guint n = 1, n_lists = 3; n <= 6; n++, n_lists *= 3)
    for (guint list = 0; list < n_lists; list++)
      for (guint is_spread = 0; is_spread < 2; is_spread++)
        {
          g_autoptr (QuoitLedger) ledger = bundles_ledger (fleet);
          g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
          g_autoptr (GString) asked = g_string_new (fleet);
          g_autoptr (QuoitGroup) group = NULL;

          for (guint i = 0, rest = list; i < n; i++, rest /= 3)
            {
              ck_assert (quoit_request_add_bundles (request, sizes[rest % 3], 1, NULL));
              g_string_append_printf (asked, " %s", sizes[rest % 3]);
            }
          ck_assert (quoit_request_set_strategy (request,
                                                 is_spread ? QUOIT_STRATEGY_STRICT_SPREAD : QUOIT_STRATEGY_PACK, NULL));
          group = quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, NULL);
          if (group != NULL)
            check_group (group, asked->str);
        }
}

static const char *const fleets[]
    = { "v6e 4x4", "v6e 2x4 hostchips=8", "v6e 2x2 x2", "v5p 2x2x2", "v6e 2x4 hostchips=4 x2" };

START_TEST (bundles_form_one_job_only_if_their_chips_form_a_box)
{
  memset (n_of_job, 0, sizeof n_of_job);
  check_lists (fleets[_i]);
  ck_assert_uint_gt (n_of_job[QUOIT_JOB_SLICES], 0);
  ck_assert_uint_gt (n_of_job[QUOIT_JOB_BOXES], 0);
  ck_assert_uint_gt (n_of_job[QUOIT_JOB_SEPARATE], 0);
}
END_TEST

START_TEST (processes_of_a_host_have_different_ports_across_groups)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 2x4 hostchips=8");
  static const char *const asked[] = { "TPU=1 TPU=2", "TPU=1", "TPU=2 TPU=1" };
  g_autoptr (GHashTable) ports = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      g_autofree char *name = g_strdup_printf ("g%u", i);
      g_autoptr (QuoitGroup) group = bundles_reserve (ledger, name, asked[i]);
      g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);

      for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
        ck_assert (g_hash_table_add (ports, g_strdup (value_of (topology, p, "TPU_PROCESS_PORT"))));
    }
  ck_assert_uint_eq (g_hash_table_size (ports), 5);
}
END_TEST

/* --- changes --- */

START_TEST (repair_moves_only_the_process_of_the_lost_bundle)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 2x2 x3 pool=p");
  g_autoptr (QuoitGroup) made = bundles_reserve (ledger, "train", "TPU=4 TPU=4 spread");
  g_autoptr (QuoitGroupChange) change = NULL;
  g_autoptr (QuoitTopology) before = NULL, after = NULL;
  g_autoptr (QuoitRenumbering) renumbering = NULL;
  GError *error = NULL;

  ck_assert_ptr_nonnull (made);
  ck_assert (quoit_ledger_set_node_state (ledger, "p-0-0", QUOIT_NODE_DEAD, bundles_now_ms, NULL));
  change = quoit_ledger_repair (ledger, "train", bundles_now_ms, NULL, &error);
  ck_assert_ok (error);
  before = quoit_topology_new (quoit_group_change_get_before (change), NULL, NULL);
  after = quoit_topology_new (quoit_group_change_get_after (change), NULL, NULL);
  renumbering = quoit_renumbering_new (before, after);
  ck_assert_uint_eq (quoit_renumbering_get_n_rows (renumbering), 3);
  ck_assert_int_eq (quoit_renumbering_get_change (renumbering, 0), QUOIT_PROCESS_MOVED);
  ck_assert_str_eq (quoit_renumbering_get_node_name (renumbering, 0), "p-1-0");
  ck_assert_int_eq (quoit_renumbering_get_change (renumbering, 1), QUOIT_PROCESS_JOINED);
  ck_assert_int_eq (quoit_renumbering_get_change (renumbering, 2), QUOIT_PROCESS_LEFT);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundle processes");
  TCase *tcase = tcase_create ("bundles");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, bundles_become_the_expected_processes, 0, G_N_ELEMENTS (rows));
  tcase_add_loop_test (tcase, bundles_of_whole_slices_have_the_environments_of_slices, 0, G_N_ELEMENTS (alike));
  tcase_add_test (tcase, bundles_of_whole_hosts_can_have_several_processes);
  tcase_add_loop_test (tcase, process_has_the_bounds_of_its_box, 0, G_N_ELEMENTS (environments));
  tcase_add_test (tcase, bundle_without_tpu_is_a_last_process_without_variables);
  tcase_add_test (tcase, bundles_without_tpu_are_processes_without_variables);
  tcase_add_test (tcase, host_outside_slices_starts_a_separate_process);
  tcase_add_test (tcase, profile_ray_train_numbers_bundles_in_request_order);
  tcase_add_loop_test (tcase, bundles_that_form_no_process_are_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, processes_per_host_can_equal_bundles_per_host);
  tcase_add_test (tcase, notes_name_lost_and_leaving_bundles);
  tcase_add_loop_test (tcase, bundles_form_one_job_only_if_their_chips_form_a_box, 0, G_N_ELEMENTS (fleets));
  tcase_add_test (tcase, processes_of_a_host_have_different_ports_across_groups);
  tcase_add_test (tcase, repair_moves_only_the_process_of_the_lost_bundle);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
