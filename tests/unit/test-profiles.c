/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in each profile, one or several per host. */
#include <quoit/models.h>
#include <quoit/quoit.h>
#include <string.h>

#include "suite.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

/* A group of all slices of a fleet, or of a manifest with worker group "tpu" of cluster "c". */
typedef struct {
  const char *fleet;                        /* NULL: the manifest below */
  const char *gke, *accelerator, *topology; /* of the manifest and the request */
  unsigned chips, n_hosts, n_replicas;
  const char *env; /* "NAME=VALUE NAME=VALUE"; NULL: none */
} Source;

static char *
manifest_of (const Source *source)
{
  g_auto (GStrv) env = g_strsplit (source->env == NULL ? "" : source->env, " ", -1);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text,
                          "apiVersion: ray.io/v1\n"
                          "kind: RayCluster\n"
                          "metadata: {name: c}\n"
                          "spec:\n"
                          "  headGroupSpec:\n"
                          "    rayStartParams: {}\n"
                          "    template: {spec: {containers: [{name: h, resources: {limits: {cpu: '8'}}}]}}\n"
                          "  workerGroupSpecs:\n"
                          "  - groupName: tpu\n"
                          "    replicas: %u\n"
                          "    numOfHosts: %u\n"
                          "    rayStartParams: {}\n"
                          "    template:\n"
                          "      spec:\n"
                          "        nodeSelector:\n"
                          "          cloud.google.com/gke-tpu-accelerator: %s\n"
                          "          cloud.google.com/gke-tpu-topology: %s\n"
                          "        containers:\n"
                          "        - name: w\n"
                          "          resources: {limits: {cpu: '8', google.com/tpu: '%u'}}\n"
                          "          env:\n"
                          "          - {name: KEPT, value: 'yes'}\n",
                          source->n_replicas, source->n_hosts, source->gke, source->topology, source->chips);
  for (char **pair = env; *pair != NULL; pair++)
    {
      g_auto (GStrv) of = g_strsplit (*pair, "=", 2);

      g_string_append_printf (text, "          - {name: %s, value: '%s'}\n", of[0], of[1]);
    }
  return g_string_free (text, FALSE);
}

static QuoitLedger *
ledger_of (const Source *source)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  if (source->fleet != NULL)
    quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, source->fleet, NULL, NOW, &error));
  else
    {
      g_autofree char *text = manifest_of (source);

      quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAYCLUSTER, text, NULL, NOW, &error));
    }
  ck_assert_ok (error);
  return ledger;
}

static QuoitGroup *
reserve (QuoitLedger *ledger, const Source *source, const char *name, uint32_t n_slices)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  QuoitGroup *group;
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (request, source->accelerator, NULL)
             && quoit_request_set_topology (request, source->topology, NULL)
             && quoit_request_set_slices (request, n_slices, NULL));
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, &error);
  ck_assert_ok (error);
  return group;
}

static char *
variables_of (const QuoitTopology *topology, uint32_t process)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", quoit_topology_get_variable_name (topology, process, i),
                            quoit_topology_get_variable_value (topology, process, i));
  return g_string_free (text, FALSE);
}

static char *
notes_of (const QuoitTopology *topology)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", quoit_topology_get_note (topology, i));
  return g_string_free (text, FALSE);
}

static QuoitTopology *
launch (const Source *source, uint32_t n_slices, QuoitProfile profile, uint32_t per_host, GError **error)
{
  g_autoptr (QuoitLedger) ledger = ledger_of (source);
  g_autoptr (QuoitGroup) group = reserve (ledger, source, "train", n_slices);
  g_autoptr (QuoitLaunch) how = quoit_launch_new (profile);

  ck_assert (quoit_launch_set_processes_per_host (how, per_host, NULL));
  return quoit_topology_new (group, how, error);
}

#define V5P_16                                                                                                         \
  {                                                                                                                    \
    .fleet = "v5p 2x2x2 pool=p", .accelerator = "v5p", .topology = "2x2x2"                                             \
  }
#define V5P_16_HOSTS "p-0-0:8471,p-0-0:8472,p-0-0:8473,p-0-0:8474,p-0-1:8471,p-0-1:8472,p-0-1:8473,p-0-1:8474"
#define MANIFEST(of_env)                                                                                               \
  {                                                                                                                    \
    .gke = "tpu-v6e-slice", .accelerator = "v6e", .topology = "4x4", .chips = 4, .n_hosts = 4, .n_replicas = 2,        \
    .env = of_env                                                                                                      \
  }
#define TPU7X                                                                                                          \
  {                                                                                                                    \
    .gke = "tpu7x", .accelerator = "tpu7x", .topology = "2x2x2", .chips = 4, .n_hosts = 2, .n_replicas = 2,            \
    .env = "MEGASCALE_NUM_SLICES=2"                                                                                    \
  }
#define TPU_HOSTS(r) "tpu-" r "-0.c-headless,tpu-" r "-1.c-headless,tpu-" r "-2.c-headless,tpu-" r "-3.c-headless"
#define PLUGIN "TPU_DEVICE_PLUGIN_ADDR=$(TPU_DEVICE_PLUGIN_HOST_IP):2112 "

static const struct {
  Source source;
  uint32_t n_slices, per_host, process, n_processes;
  QuoitProfile profile;
  const char *variables;
} environments[] = {
  /* PyTorch/XLA in device mode: 2 hosts, 4 processes on each. */
  { V5P_16, 1, 4, 6, 8, QUOIT_PROFILE_QUOIT,
    "CLOUD_TPU_TASK_ID=6 TPU_ACCELERATOR_TYPE=v5p-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=" V5P_16_HOSTS " TPU_PROCESS_BOUNDS=2,2,2 TPU_PROCESS_PORT=8473 TPU_TOPOLOGY=2x2x2 "
    "TPU_VISIBLE_CHIPS=2 TPU_WORKER_HOSTNAMES=p-0-0,p-0-1 TPU_WORKER_ID=6" },
  { V5P_16, 1, 2, 3, 4, QUOIT_PROFILE_QUOIT,
    "CLOUD_TPU_TASK_ID=3 TPU_ACCELERATOR_TYPE=v5p-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,2,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=p-0-0:8471,p-0-0:8472,p-0-1:8471,p-0-1:8472 TPU_PROCESS_BOUNDS=2,1,2 TPU_PROCESS_PORT=8472 "
    "TPU_TOPOLOGY=2x2x2 TPU_VISIBLE_CHIPS=2,3 TPU_WORKER_HOSTNAMES=p-0-0,p-0-1 TPU_WORKER_ID=3" },
  { V5P_16, 1, 1, 1, 2, QUOIT_PROFILE_QUOIT,
    "TPU_ACCELERATOR_TYPE=v5p-16 TPU_NAME=p-0 TPU_TOPOLOGY=2x2x2 TPU_WORKER_HOSTNAMES=p-0-0,p-0-1 TPU_WORKER_ID=1" },
  /* Eight chips of one host are interpreted differently for each generation. */
  { { .fleet = "v6e 2x4 pool=p hostchips=8", .accelerator = "v6e", .topology = "2x4" },
    1,
    8,
    5,
    8,
    QUOIT_PROFILE_QUOIT,
    "CLOUD_TPU_TASK_ID=5 TPU_ACCELERATOR_TYPE=v6e-8 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=localhost:8471,localhost:8472,localhost:8473,localhost:8474,localhost:8475,localhost:8476,"
    "localhost:8477,localhost:8478 TPU_PROCESS_BOUNDS=2,4,1 TPU_PROCESS_PORT=8476 TPU_TOPOLOGY=2x4 TPU_VISIBLE_CHIPS=5 "
    "TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=5" },
  { { .fleet = "v5e 2x4 pool=p hostchips=8", .accelerator = "v5e", .topology = "2x4" },
    1,
    2,
    1,
    2,
    QUOIT_PROFILE_QUOIT,
    "CLOUD_TPU_TASK_ID=1 TPU_ACCELERATOR_TYPE=v5litepod-8 TPU_CHIPS_PER_PROCESS_BOUNDS=2,2,1 TPU_NAME=p-0 "
    "TPU_PROCESS_ADDRESSES=localhost:8471,localhost:8472 TPU_PROCESS_BOUNDS=2,1,1 TPU_PROCESS_PORT=8472 "
    "TPU_TOPOLOGY=2x4 "
    "TPU_VISIBLE_CHIPS=4,5,6,7 TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=1" },
  /* Two slices, and the manifest's port. */
  { MANIFEST ("TPU_PROCESS_PORT=9000 MEGASCALE_PORT=9915 TPU_VISIBLE_CHIPS=0"), 2, 4, 31, 32, QUOIT_PROFILE_QUOIT,
    "CLOUD_TPU_TASK_ID=15 KEPT=yes MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0.c-headless MEGASCALE_NUM_SLICES=2 "
    "MEGASCALE_PORT=9915 MEGASCALE_SLICE_ID=1 TPU_ACCELERATOR_TYPE=v6e-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1 "
    "TPU_NAME=tpu-1 TPU_PROCESS_ADDRESSES="
    "tpu-1-0.c-headless:9000,tpu-1-0.c-headless:9001,tpu-1-0.c-headless:9002,tpu-1-0.c-headless:9003,"
    "tpu-1-1.c-headless:9000,tpu-1-1.c-headless:9001,tpu-1-1.c-headless:9002,tpu-1-1.c-headless:9003,"
    "tpu-1-2.c-headless:9000,tpu-1-2.c-headless:9001,tpu-1-2.c-headless:9002,tpu-1-2.c-headless:9003,"
    "tpu-1-3.c-headless:9000,tpu-1-3.c-headless:9001,tpu-1-3.c-headless:9002,tpu-1-3.c-headless:9003 "
    "TPU_PROCESS_BOUNDS=4,4,1 TPU_PROCESS_PORT=9003 TPU_TOPOLOGY=4x4 TPU_VISIBLE_CHIPS=3 "
    "TPU_WORKER_HOSTNAMES=" TPU_HOSTS ("1") " TPU_WORKER_ID=15" },
  { MANIFEST ("MEGASCALE_NUM_SLICES=2"), 2, 1, 6, 8, QUOIT_PROFILE_KUBERAY,
    "KEPT=yes MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0.c-headless MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8081 "
    "MEGASCALE_SLICE_ID=1 " PLUGIN "TPU_NAME=tpu-1 TPU_WORKER_HOSTNAMES=" TPU_HOSTS ("1") " TPU_WORKER_ID=2" },
  { MANIFEST ("TPU_NAME=mine"), 2, 1, 1, 8, QUOIT_PROFILE_KUBERAY,
    "KEPT=yes " PLUGIN "TPU_NAME=mine TPU_WORKER_HOSTNAMES=" TPU_HOSTS ("0") " TPU_WORKER_ID=1" },
  { TPU7X, 2, 2, 6, 8, QUOIT_PROFILE_KUBERAY,
    "KEPT=yes MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0.c-headless:8081 MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8081 "
    "MEGASCALE_SLICE_ID=1 " PLUGIN
    "TPU_NAME=tpu-1 TPU_PROCESS_ADDRESSES=tpu-1-0.c-headless:8471,tpu-1-0.c-headless:8472,"
    "tpu-1-1.c-headless:8471,tpu-1-1.c-headless:8472 TPU_PROCESS_PORT=8471 "
    "TPU_WORKER_HOSTNAMES=tpu-1-0.c-headless,tpu-1-1.c-headless TPU_WORKER_ID=2" },
  { TPU7X, 2, 2, 7, 8, QUOIT_PROFILE_KUBERAY,
    "KEPT=yes MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0.c-headless:8081 MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8082 "
    "MEGASCALE_SLICE_ID=1 " PLUGIN
    "TPU_NAME=tpu-1 TPU_PROCESS_ADDRESSES=tpu-1-0.c-headless:8471,tpu-1-0.c-headless:8472,"
    "tpu-1-1.c-headless:8471,tpu-1-1.c-headless:8472 TPU_PROCESS_PORT=8472 "
    "TPU_WORKER_HOSTNAMES=tpu-1-0.c-headless,tpu-1-1.c-headless TPU_WORKER_ID=3" },
  /* JobSet, which does not use the manifest. */
  { MANIFEST ("MEGASCALE_PORT=9915"), 2, 1, 6, 8, QUOIT_PROFILE_JOBSET,
    "JOB_COMPLETION_INDEX=2 MEGASCALE_COORDINATOR_ADDRESS=train-slice-job-0-0.train MEGASCALE_NUM_SLICES=2 "
    "MEGASCALE_SLICE_ID=1 TPU_ACCELERATOR_TYPE=v6e-16 TPU_TOPOLOGY=4x4 TPU_WORKER_HOSTNAMES=train-slice-job-1-0.train,"
    "train-slice-job-1-1.train,train-slice-job-1-2.train,train-slice-job-1-3.train TPU_WORKER_ID=2" },
  { V5P_16, 1, 1, 1, 2, QUOIT_PROFILE_JOBSET,
    "JOB_COMPLETION_INDEX=1 TPU_ACCELERATOR_TYPE=v5p-16 TPU_TOPOLOGY=2x2x2 "
    "TPU_WORKER_HOSTNAMES=train-slice-job-0-0.train,train-slice-job-0-1.train TPU_WORKER_ID=1" },
  { V5P_16, 1, 2, 2, 4, QUOIT_PROFILE_JOBSET,
    "CLOUD_TPU_TASK_ID=2 JOB_COMPLETION_INDEX=1 TPU_ACCELERATOR_TYPE=v5p-16 TPU_CHIPS_PER_PROCESS_BOUNDS=1,2,1 "
    "TPU_PROCESS_ADDRESSES=train-slice-job-0-0.train:8471,train-slice-job-0-0.train:8472,train-slice-job-0-1.train:"
    "8471,"
    "train-slice-job-0-1.train:8472 TPU_PROCESS_BOUNDS=2,1,2 TPU_PROCESS_PORT=8471 TPU_TOPOLOGY=2x2x2 "
    "TPU_VISIBLE_CHIPS=0,1 TPU_WORKER_HOSTNAMES=train-slice-job-0-0.train,train-slice-job-0-1.train TPU_WORKER_ID=2" },
  /* LeaderWorkerSet: tests/vectors/lws.ndjson has the rest. */
  { V5P_16, 1, 1, 1, 2, QUOIT_PROFILE_LWS,
    "LWS_GROUP_SIZE=2 LWS_LEADER_ADDRESS=train-0.train.default LWS_WORKER_INDEX=1 TPU_ACCELERATOR_TYPE=v5p-16 "
    "TPU_NAME=train-0 TPU_PROCESS_ADDRESSES=train-0.train:8476,train-0-1.train:8476 TPU_PROCESS_PORT=8476 "
    "TPU_TOPOLOGY=2x2x2 TPU_WORKER_HOSTNAMES=train-0.train,train-0-1.train TPU_WORKER_ID=1" },
  /* Pods with a slice each. */
  { { .fleet = "v6e 2x2 x2", .accelerator = "v6e", .topology = "2x2" },
    2,
    1,
    1,
    2,
    QUOIT_PROFILE_JOB,
    "JOB_COMPLETION_INDEX=1 TPU_ACCELERATOR_TYPE=v6e-4 TPU_TOPOLOGY=2x2 TPU_WORKER_HOSTNAMES=localhost "
    "TPU_WORKER_ID=0" },
};

START_TEST (a_process_is_started_in_the_environment_of_its_profile)
{
  GError *error = NULL;
  g_autoptr (QuoitTopology) topology = launch (&environments[_i].source, environments[_i].n_slices,
                                               environments[_i].profile, environments[_i].per_host, &error);
  g_autofree char *text = NULL;

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), environments[_i].n_processes);
  ck_assert_uint_eq (count_processes_per_host (topology), environments[_i].per_host);
  text = variables_of (topology, environments[_i].process);
  ck_assert_str_eq (text, environments[_i].variables);
}
END_TEST

/* --- the webhook, pod by pod --- */

static const struct {
  Source source;
  uint32_t per_host;
} seen_by_webhook[] = {
  { MANIFEST ("MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=9915"), 1 },
  { MANIFEST ("TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost TPU_NAME="), 1 },
  { MANIFEST ("TPU_WORKER_ID=1"), 2 },
  { TPU7X, 4 },
};

/* A host's pod as KubeRay makes it. */
static QuoitWebhookPod *
pod_of (const Source *source, const QuoitTopology *topology, uint32_t process, uint32_t per_host)
{
  QuoitWebhookPod *pod = quoit_webhook_pod_new ();
  g_auto (GStrv) env = g_strsplit (source->env, " ", -1);
  g_autofree char *replica = g_strdup_printf ("%u", quoit_topology_get_slice_id (topology, process));
  g_autofree char *host = g_strdup_printf ("%u", quoit_topology_get_worker_id (topology, process));
  g_autofree char *chips = g_strdup_printf ("%u", source->chips / per_host);

  quoit_webhook_pod_set_label (pod, "ray.io/cluster", "c");
  quoit_webhook_pod_set_label (pod, "ray.io/group", "tpu");
  quoit_webhook_pod_set_label (pod, "ray.io/worker-group-replica-index", replica);
  quoit_webhook_pod_set_label (pod, "ray.io/replica-host-index", host);
  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-accelerator", source->gke);
  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-topology", source->topology);
  for (uint32_t container = 0; container < per_host; container++)
    {
      ck_assert (quoit_webhook_pod_add_container (pod, NULL, chips, NULL));
      quoit_webhook_pod_add_variable (pod, "KEPT", "yes");
      for (char **pair = env; *pair != NULL; pair++)
        {
          g_auto (GStrv) of = g_strsplit (*pair, "=", 2);

          quoit_webhook_pod_add_variable (pod, of[0], of[1]);
        }
    }
  return pod;
}

static const char *
value_of (const QuoitTopology *topology, uint32_t process, const char *name)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    if (strcmp (quoit_topology_get_variable_name (topology, process, i), name) == 0)
      return quoit_topology_get_variable_value (topology, process, i);
  return NULL;
}

START_TEST (every_host_has_the_variables_of_its_webhook_patch)
{
  const Source *source = &seen_by_webhook[_i].source;
  uint32_t per_host = seen_by_webhook[_i].per_host, n_compared = 0;
  g_autoptr (QuoitTopology) topology = launch (source, 2, QUOIT_PROFILE_KUBERAY, per_host, NULL);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      g_autoptr (QuoitWebhookPod) pod = pod_of (source, topology, p, per_host);
      g_autoptr (QuoitWebhookPatch) patch = quoit_webhook_mutate (pod, NULL, NULL);
      uint32_t container = quoit_topology_get_local_index (topology, p);

      for (uint32_t i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
        {
          const char *name = quoit_webhook_patch_get_variable_name (patch, container, i);

          ck_assert_pstr_eq (value_of (topology, p, name),
                             quoit_webhook_patch_get_variable_value (patch, container, i));
          n_compared++;
        }
    }
  ck_assert_uint_ge (n_compared, quoit_topology_get_n_processes (topology) * 3);
}
END_TEST

/* --- chips and devices --- */

/* "0 1|2 3": the chips of each process of a slice's first hosts. */
static const struct {
  Source source;
  uint32_t per_host;
  const char *chips;
} dealt[] = {
  { { .fleet = "v6e 4x4", .accelerator = "v6e", .topology = "4x4" }, 1, "0 1 4 5|2 3 6 7|8 9 12 13|10 11 14 15" },
  /* TPU_CHIPS_PER_PROCESS_BOUNDS is 1,2,1: along y. */
  { { .fleet = "v6e 4x4", .accelerator = "v6e", .topology = "4x4" }, 2, "0 4|1 5|2 6|3 7|8 12|9 13|10 14|11 15" },
  { { .fleet = "v6e 4x4", .accelerator = "v6e", .topology = "4x4" }, 4, "0|4|1|5|2|6|3|7|8|12|9|13|10|14|11|15" },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" }, 2, "0 1 2 3|4 5 6 7" },
  { { .fleet = "v5e 2x4 hostchips=8", .accelerator = "v5e", .topology = "2x4" }, 2, "0 1 2 3|4 5 6 7" },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" }, 8, "0|2|1|3|4|6|5|7" },
  { V5P_16, 2, "0 2|1 3|4 6|5 7" },
};

START_TEST (processes_of_a_host_have_the_chips_of_their_bounds)
{
  g_autoptr (QuoitTopology) topology = launch (&dealt[_i].source, 1, QUOIT_PROFILE_QUOIT, dealt[_i].per_host, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      ck_assert_uint_eq (quoit_topology_get_local_index (topology, p), p % dealt[_i].per_host);
      for (uint32_t c = 0; c < quoit_topology_get_n_chips (topology, p); c++)
        g_string_append_printf (text, "%s%u", c > 0 ? " " : p > 0 ? "|" : "", quoit_topology_get_chip (topology, p, c));
    }
  ck_assert_str_eq (text->str, dealt[_i].chips);
}
END_TEST

/* For every way to divide a slice: the visible chips of a process are a box of TPU_CHIPS_PER_PROCESS_BOUNDS at the
 * reported places. */
static const struct {
  Source source;
  uint32_t per_host;
} bounded[] = {
  { { .fleet = "v6e 4x4", .accelerator = "v6e", .topology = "4x4" }, 2 },
  { { .fleet = "v6e 4x4", .accelerator = "v6e", .topology = "4x4" }, 4 },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" }, 2 },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" }, 8 },
  { { .fleet = "v5e 2x4 hostchips=8", .accelerator = "v5e", .topology = "2x4" }, 2 },
  { { .fleet = "v5e 4x8", .accelerator = "v5e", .topology = "4x8" }, 2 },
  { { .fleet = "tpu7x 2x2x2", .accelerator = "tpu7x", .topology = "2x2x2" }, 2 },
  { { .fleet = "v4 2x2x4", .accelerator = "v4", .topology = "2x2x4" }, 2 },
  { V5P_16, 2 },
  { V5P_16, 4 },
};

static char *
visible_of (const QuoitTopology *topology, uint32_t process)
{
  GString *text = g_string_new (NULL);

  for (guint chip = 0; chip < 64; chip++)
    if ((quoit_topology_get_host_chips (topology, process) >> chip & 1) != 0)
      g_string_append_printf (text, "%s%u", text->len > 0 ? "," : "", chip);
  return g_string_free (text, FALSE);
}

static char *
box_of (const QuoitTopology *topology, uint32_t process)
{
  uint32_t low[3] = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32 }, high[3] = { 0 };

  for (uint32_t c = 0; c < quoit_topology_get_n_chips (topology, process); c++)
    for (int axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
      {
        uint32_t at = quoit_topology_get_chip_at (topology, process, c, (QuoitAxis) axis);

        low[axis] = MIN (low[axis], at);
        high[axis] = MAX (high[axis], at);
      }
  return g_strdup_printf ("%u,%u,%u", high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1);
}

START_TEST (visible_chips_are_the_box_of_the_process_bounds)
{
  g_autoptr (QuoitTopology) topology = launch (&bounded[_i].source, 1, QUOIT_PROFILE_QUOIT, bounded[_i].per_host, NULL);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      g_autofree char *box = box_of (topology, p), *visible = visible_of (topology, p);

      ck_assert_str_eq (value_of (topology, p, "TPU_CHIPS_PER_PROCESS_BOUNDS"), box);
      ck_assert_str_eq (value_of (topology, p, "TPU_VISIBLE_CHIPS"), visible);
    }
}
END_TEST

START_TEST (chip_coordinates_match_the_torus)
{
  Source source = { .fleet = "tpu7x 2x2x2 x2", .accelerator = "tpu7x", .topology = "2x2x2" };
  g_autoptr (QuoitTopology) topology = launch (&source, 2, QUOIT_PROFILE_QUOIT, 2, NULL);
  g_autoptr (QuoitCoordinates) torus = quoit_coordinates_new ("tpu7x", "2x2x2", 4, QUOIT_WIRING_STRAIGHT, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (uint32_t p = 0; p < 8; p++)
    for (uint32_t c = 0; c < quoit_topology_get_n_chips (topology, p); c++)
      {
        uint32_t chip = quoit_topology_get_chip (topology, p, c);

        ck_assert_uint_eq (quoit_coordinates_get_chip_worker (torus, chip), quoit_topology_get_worker_id (topology, p));
        for (int axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
          ck_assert_uint_eq (quoit_topology_get_chip_at (topology, p, c, (QuoitAxis) axis),
                             quoit_coordinates_get_chip_at (torus, chip, (QuoitAxis) axis));
      }
  /* Two devices a chip, 16 a slice. */
  for (uint32_t p = 0; p < 8; p++)
    {
      ck_assert_uint_eq (quoit_topology_get_n_devices (topology, p), 4);
      for (uint32_t d = 0; d < 4; d++)
        {
          uint64_t device = quoit_topology_get_device (topology, p, d);
          uint32_t chip = quoit_topology_get_chip (topology, p, d / 2);

          ck_assert_uint_eq (device, quoit_topology_get_slice_id (topology, p) * 16 + chip * 2 + d % 2);
          ck_assert (g_hash_table_add (seen, GUINT_TO_POINTER (device + 1)));
        }
    }
  ck_assert_uint_eq (g_hash_table_size (seen), 32);
}
END_TEST

/* --- disagreements between profiles --- */

START_TEST (note_says_that_profiles_count_slices_differently)
{
  Source source = MANIFEST ("MEGASCALE_NUM_SLICES=2");
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) first = NULL, rest = NULL;
  g_autoptr (QuoitTopology) topology = NULL, of_webhook = NULL;
  g_autofree char *notes = NULL, *text = NULL, *webhook_notes = NULL;

  source.n_replicas = 12;
  ledger = ledger_of (&source);
  first = reserve (ledger, &source, "first", 1);
  rest = reserve (ledger, &source, "rest", 11);
  topology = quoit_topology_new (rest, NULL, NULL);
  notes = notes_of (topology);
  ck_assert_msg (strstr (notes, "Ray Train numbers slices by name, compared as text: 10 of them "
                                "have other ids than in this profile; for example, slice 'tpu-2' has id 3 instead of 1")
                     != NULL,
                 "%s", notes);
  ck_assert_msg (
      strstr (notes, "the TPU webhook numbers slices by KubeRay's replica index, which Ray Train overrides: 11 "
                     "of them have other ids than in this profile; for example, slice 'tpu-1' has id 1 instead of 0")
          != NULL,
      "%s", notes);
  ck_assert_msg (
      strstr (notes, "MEGASCALE_COORDINATOR_ADDRESS is host 0 of replica 0 of 'tpu', which is not in the group")
          != NULL,
      "%s", notes);
  /* tpu-2 comes after tpu-1, tpu-10 and tpu-11 in text order. */
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, QUOIT_PROFILE_QUOIT), 1);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, QUOIT_PROFILE_RAY_TRAIN), 3);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, QUOIT_PROFILE_KUBERAY), 2);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, QUOIT_PROFILE_JOBSET), 1);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, QUOIT_PROFILE_LWS), -1);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 4, (QuoitProfile) 99), -1);

  of_webhook = topology_in (rest, QUOIT_PROFILE_KUBERAY, NULL);
  ck_assert_uint_eq (quoit_topology_get_slice_id (of_webhook, 4), 2);
  ck_assert_uint_eq (quoit_topology_get_group_slice (of_webhook, 4), 1);
  ck_assert_str_eq (quoit_topology_get_slice_name (of_webhook, 4), "tpu-2");
  text = variables_of (of_webhook, 4);
  ck_assert_ptr_nonnull (strstr (text, "MEGASCALE_SLICE_ID=2 "));
  webhook_notes = notes_of (of_webhook);
  ck_assert_ptr_nonnull (strstr (webhook_notes, "profile quoit numbers slices in natural order: 11 of them"));
}
END_TEST

START_TEST (no_note_if_profiles_agree)
{
  Source source = MANIFEST ("MEGASCALE_NUM_SLICES=2");
  g_autoptr (QuoitTopology) topology = launch (&source, 2, QUOIT_PROFILE_QUOIT, 1, NULL);
  g_autofree char *notes = notes_of (topology);

  ck_assert_msg (strstr (notes, "numbers slices") == NULL && strstr (notes, "which is not in") == NULL, "%s", notes);
}
END_TEST

START_TEST (no_note_about_slice_ids_of_a_single_slice)
{
  Source source = MANIFEST (NULL);
  g_autoptr (QuoitLedger) ledger = ledger_of (&source);
  g_autoptr (QuoitGroup) first = reserve (ledger, &source, "first", 1), second = reserve (ledger, &source, "second", 1);
  g_autoptr (QuoitTopology) topology = quoit_topology_new (second, NULL, NULL);
  g_autofree char *notes = notes_of (topology);

  ck_assert_ptr_nonnull (first);
  ck_assert_int_eq (quoit_topology_find_profile_slice_id (topology, 0, QUOIT_PROFILE_KUBERAY), 1);
  ck_assert_msg (strstr (notes, "numbers slices") == NULL && strstr (notes, "which is not in") == NULL, "%s", notes);
}
END_TEST

static const struct {
  Source source;
  uint32_t n_slices, per_host;
  QuoitProfile profile;
  const char *note;
} noted[] = {
  { MANIFEST (NULL), 2, 1, QUOIT_PROFILE_KUBERAY, "the manifest does not set MEGASCALE_NUM_SLICES" },
  { MANIFEST (NULL), 2, 2, QUOIT_PROFILE_KUBERAY, "gives the processes of a host the same TPU_WORKER_ID" },
  { MANIFEST (NULL), 2, 1, QUOIT_PROFILE_KUBERAY, "TPU_DEVICE_PLUGIN_HOST_IP is the address of the pod's host" },
  { MANIFEST (NULL), 2, 1, QUOIT_PROFILE_JOBSET, "Kubernetes chooses the slice of each job" },
};

START_TEST (variables_that_a_profile_does_not_set_are_noted)
{
  g_autoptr (QuoitTopology) topology
      = launch (&noted[_i].source, noted[_i].n_slices, noted[_i].profile, noted[_i].per_host, NULL);
  g_autofree char *notes = notes_of (topology);

  ck_assert_msg (strstr (notes, noted[_i].note) != NULL, "'%s' not in: %s", noted[_i].note, notes);
}
END_TEST

/* --- refusals --- */

static const struct {
  Source source;
  uint32_t per_host;
  QuoitProfile profile;
  QuoitErrorCode code;
  const char *message;
} refused[] = {
  { V5P_16, 8, QUOIT_PROFILE_QUOIT, QUOIT_ERROR_INVALID,
    "slice 'p-0', 8 processes per host: expected at most the 4 chips of a host" },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" },
    4,
    QUOIT_PROFILE_QUOIT,
    QUOIT_ERROR_INVALID,
    "4 processes per host: expected one of 1, 2, 8, between which JAX can divide the 8 chips of a host of v6e" },
  { { .fleet = "v6e 2x4 hostchips=8", .accelerator = "v6e", .topology = "2x4" },
    4,
    QUOIT_PROFILE_JOBSET,
    QUOIT_ERROR_INVALID,
    "expected one of 1, 2, 8, between which JAX can divide" },
  { MANIFEST ("TPU_PROCESS_PORT=65533"), 4, QUOIT_PROFILE_QUOIT, QUOIT_ERROR_INVALID,
    "TPU_PROCESS_PORT '65533': expected a port of 1 to 65532" },
  { MANIFEST ("TPU_PROCESS_PORT=http"), 2, QUOIT_PROFILE_QUOIT, QUOIT_ERROR_INVALID, "TPU_PROCESS_PORT 'http'" },
  { V5P_16, 1, QUOIT_PROFILE_KUBERAY, QUOIT_ERROR_NOT_NOW,
    "profile kuberay needs the manifest of the RayCluster of slice 'p-0'" },
  { MANIFEST (NULL), 8, QUOIT_PROFILE_KUBERAY, QUOIT_ERROR_INVALID, "expected at most one for each of the 4 chips" },
  { V5P_16, 2, QUOIT_PROFILE_RAY_TRAIN, QUOIT_ERROR_NOT_NOW, "profile ray-train needs the address" },
};

START_TEST (impossible_launch_is_refused)
{
  GError *error = NULL;

  ck_assert_ptr_null (launch (&refused[_i].source, 1, refused[_i].profile, refused[_i].per_host, &error));
  ck_assert_refused (error, refused[_i].code, refused[_i].message);
}
END_TEST

START_TEST (processes_per_host_are_1_2_4_or_8)
{
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_QUOIT);
  GError *error = NULL;

  for (uint32_t n = 0; n < 70; n++)
    if (n == 1 || n == 2 || n == 4 || n == 8)
      ck_assert (quoit_launch_set_processes_per_host (how, n, NULL));
    else
      {
        ck_assert (!quoit_launch_set_processes_per_host (how, n, &error));
        ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 1, 2, 4 or 8");
      }
}
END_TEST

/* --- names of a JobSet --- */

static const struct {
  const char *name, *job;
  const char *refusal; /* NULL: none */
} jobsets[] = {
  { "a", "b", NULL },
  { "a-1", "1-b", NULL },
  { NULL, NULL, NULL },
  { "", "b", "JobSet ''" },
  { "1a", "b", "JobSet '1a'" },
  { "A", "b", "JobSet 'A'" },
  { "a.b", "b", "JobSet 'a.b'" },
  { "a-", "b", "JobSet 'a-'" },
  { "a", "-b", "replicated job '-b'" },
  { "a", "", "replicated job ''" },
  { "a", "b_c", "replicated job 'b_c'" },
};

START_TEST (jobset_name_is_checked_as_in_kubernetes)
{
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_JOBSET);
  GError *error = NULL;

  if (jobsets[_i].refusal == NULL)
    ck_assert (quoit_launch_set_jobset (how, jobsets[_i].name, jobsets[_i].job, &error));
  else
    {
      ck_assert (!quoit_launch_set_jobset (how, jobsets[_i].name, jobsets[_i].job, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, jobsets[_i].refusal);
    }
}
END_TEST

/* Returns the first of TPU_WORKER_HOSTNAMES. */
static char *
first_of_hosts (const QuoitTopology *topology)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, 0); i++)
    if (strcmp (quoit_topology_get_variable_name (topology, 0, i), "TPU_WORKER_HOSTNAMES") == 0)
      {
        const char *hosts = quoit_topology_get_variable_value (topology, 0, i);

        return g_strndup (hosts, strcspn (hosts, ","));
      }
  return NULL;
}

static char *
first_host (QuoitLedger *ledger, const Source *source, const char *group_name, const QuoitLaunch *how, GError **error)
{
  g_autoptr (QuoitGroup) group = reserve (ledger, source, group_name, 1);
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, how, error);

  return topology == NULL ? NULL : first_of_hosts (topology);
}

START_TEST (pod_names_of_a_jobset_fit_dns_limits)
{
  Source source = { .fleet = "v6e 4x4 x4", .accelerator = "v6e", .topology = "4x4" };
  g_autoptr (QuoitLedger) ledger = ledger_of (&source);
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_JOBSET);
  g_autofree char *fits = NULL, *named = NULL, *name = g_strnfill (51, 'n'), *longer = g_strnfill (52, 'n');
  GError *error = NULL;

  /* NAME "-j-0-3-xxxxx": 12 bytes more. */
  ck_assert (quoit_launch_set_jobset (how, name, "j", NULL));
  fits = first_host (ledger, &source, "a", how, &error);
  ck_assert_ok (error);
  ck_assert (g_str_has_prefix (fits, name));
  ck_assert (quoit_launch_set_jobset (how, longer, "j", NULL));
  ck_assert_ptr_null (first_host (ledger, &source, "b", how, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected pod names of at most 63 bytes");
  ck_assert (quoit_launch_set_jobset (how, "mine", "workers", NULL));
  named = first_host (ledger, &source, "c", how, &error);
  ck_assert_str_eq (named, "mine-workers-0-0.mine");
  /* A group can have a name that quoit accepts and Kubernetes does not. */
  ck_assert (quoit_launch_set_jobset (how, NULL, NULL, NULL));
  ck_assert_ptr_null (first_host (ledger, &source, "My_Job", how, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "JobSet 'My_Job'");
}
END_TEST

static const struct {
  const char *name, *namespace;
  uint32_t slices_per_replica, flags;
  const char *refusal; /* NULL: none */
} leader_sets[] = {
  { "a", "b", 1, 0, NULL },
  { NULL, NULL, 2, QUOIT_LWS_SUBGROUPS | QUOIT_LWS_LEADER_APART | QUOIT_LWS_OWN_SUBDOMAINS, NULL },
  { "a", "1", 1, QUOIT_LWS_SUBGROUPS, NULL },
  { "1a", NULL, 1, 0, "LeaderWorkerSet '1a'" },
  { "a", "", 1, 0, "namespace ''" },
  { "a", NULL, 0, 0, "slices per replica '0': expected 1, because only subgroups" },
  { "a", NULL, 0, QUOIT_LWS_SUBGROUPS, "slices per replica '0': expected 1 or more" },
  { "a", NULL, 2, 0, "slices per replica '2': expected 1" },
  { "a", NULL, 1, 8, "flags '8'" },
};

START_TEST (leader_worker_set_is_checked)
{
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_LWS);
  GError *error = NULL;
  bool is_set = quoit_launch_set_lws (how, leader_sets[_i].name, leader_sets[_i].namespace,
                                      leader_sets[_i].slices_per_replica, leader_sets[_i].flags, &error);

  ck_assert_int_eq (quoit_launch_get_profile (how), QUOIT_PROFILE_LWS);
  ck_assert_int_eq (is_set, leader_sets[_i].refusal == NULL);
  if (!is_set)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, leader_sets[_i].refusal);
}
END_TEST

static const struct {
  const char *fleet, *topology;
  uint32_t n_slices;
  const char *job, *subdomain;
  const char *host, *refusal; /* the first of TPU_WORKER_HOSTNAMES, or the refusal */
} jobs[] = {
  { "v6e 4x4", "4x4", 1, NULL, "hosts", "g-0.hosts", NULL },
  { "v6e 4x4", "4x4", 1, "fit", "hosts", "fit-0.hosts", NULL },
  { "v6e 2x2", "2x2", 1, NULL, NULL, "localhost", NULL },
  { "v6e 2x2 x2", "2x2", 2, NULL, NULL, "localhost", NULL },
  { "v6e 4x4", "4x4", 1, NULL, NULL, NULL, "expected a subdomain, which is the name of a headless service" },
  { "v6e 4x4 x2", "4x4", 2, NULL, "hosts", NULL, "group with 2 slices of several hosts: expected one slice" },
  { "v6e 4x4", "4x4", 1, "job-with-a-name-that-has-sixty-two-bytes-which-leaves-one-for-a-no", "hosts", NULL,
    "expected a name of at most 63" },
  { "v6e 4x4", "4x4", 1, "job-with-a-name-that-has-sixty-two-bytes-which-leaves-one-only", "hosts", NULL,
    "expected pod names of at most 63 bytes" },
};

START_TEST (a_job_is_one_slice_with_a_service)
{
  Source source = { .fleet = jobs[_i].fleet, .accelerator = "v6e", .topology = jobs[_i].topology };
  g_autoptr (QuoitLedger) ledger = ledger_of (&source);
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_JOB);
  g_autoptr (QuoitGroup) group = reserve (ledger, &source, "g", jobs[_i].n_slices);
  g_autoptr (QuoitTopology) topology = NULL;
  g_autofree char *host = NULL;
  GError *error = NULL;

  if (quoit_launch_set_job (how, jobs[_i].job, jobs[_i].subdomain, &error))
    topology = quoit_topology_new (group, how, &error);
  if (jobs[_i].refusal != NULL)
    {
      ck_assert_ptr_null (topology);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, jobs[_i].refusal);
      return;
    }
  ck_assert_ok (error);
  host = first_of_hosts (topology);
  ck_assert_str_eq (host, jobs[_i].host);
}
END_TEST

/* --- Ray --- */

static void
import_ray (QuoitLedger *ledger)
{
  g_autoptr (GString) list = g_string_new ("[");
  GError *error = NULL;

  for (unsigned w = 0; w < 2; w++)
    g_string_append_printf (
        list,
        "%s{\"NodeID\": \"%056u\", \"Alive\": true, \"NodeName\": \"n-%u\", \"NodeManagerAddress\": \"10.0.0.%u\", "
        "\"Resources\": {\"TPU\": 4, \"CPU\": 8}, \"Labels\": {\"ray.io/tpu-slice-name\": \"s\", "
        "\"ray.io/tpu-worker-id\": \"%u\", \"ray.io/tpu-topology\": \"2x2x2\", \"ray.io/tpu-pod-type\": \"v5p-16\", "
        "\"ray.io/accelerator-type\": \"TPU-V5P\"}}",
        w > 0 ? ", " : "", w + 1, w, w, w);
  g_string_append_c (list, ']');
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, list->str, NULL, NOW, &error));
  ck_assert_ok (error);
}

START_TEST (ray_worker_sees_only_its_chips)
{
  Source source = { .accelerator = "v5p", .topology = "2x2x2" };
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitLaunch) how = quoit_launch_new (QUOIT_PROFILE_RAY_TRAIN);
  g_autoptr (QuoitTopology) topology = NULL;
  g_autofree char *text = NULL, *notes = NULL;
  GError *error = NULL;

  import_ray (ledger);
  group = reserve (ledger, &source, "train", 1);
  ck_assert (quoit_launch_set_processes_per_host (how, 2, NULL));
  topology = quoit_topology_new (group, how, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), 4);
  text = variables_of (topology, 3);
  ck_assert_str_eq (text,
                    "JAX_PLATFORMS=tpu TPU_CHIPS_PER_HOST_BOUNDS=1,2,1 TPU_HOST_BOUNDS=1,1,1 TPU_VISIBLE_CHIPS=2,3");
  notes = notes_of (topology);
  ck_assert_msg (strstr (notes, "as if it were alone") != NULL, "%s", notes);
}
END_TEST

/* --- processes that a change affects --- */

START_TEST (process_keeps_its_place_on_the_host_after_a_change)
{
  Source source = { .fleet = "v5p 2x2x2 x3", .accelerator = "v5p", .topology = "2x2x2" };
  g_autoptr (QuoitTopology) two = launch (&source, 2, QUOIT_PROFILE_QUOIT, 4, NULL);
  g_autoptr (QuoitTopology) three = launch (&source, 3, QUOIT_PROFILE_QUOIT, 4, NULL);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (two, three);

  ck_assert_uint_eq (quoit_renumbering_get_n_rows (renumbering), 24);
  for (uint32_t row = 0; row < 24; row++)
    {
      ck_assert_int_eq (quoit_renumbering_get_change (renumbering, row),
                        row < 16 ? QUOIT_PROCESS_CHANGED : QUOIT_PROCESS_JOINED);
      ck_assert_int_eq (quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE),
                        row < 16 ? (int64_t) row : -1);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("profiles");
  TCase *profiles = tcase_create ("profiles");

  tcase_add_loop_test (profiles, a_process_is_started_in_the_environment_of_its_profile, 0,
                       G_N_ELEMENTS (environments));
  tcase_add_loop_test (profiles, every_host_has_the_variables_of_its_webhook_patch, 0, G_N_ELEMENTS (seen_by_webhook));
  tcase_add_loop_test (profiles, processes_of_a_host_have_the_chips_of_their_bounds, 0, G_N_ELEMENTS (dealt));
  tcase_add_loop_test (profiles, visible_chips_are_the_box_of_the_process_bounds, 0, G_N_ELEMENTS (bounded));
  tcase_add_test (profiles, chip_coordinates_match_the_torus);
  tcase_add_test (profiles, note_says_that_profiles_count_slices_differently);
  tcase_add_test (profiles, no_note_if_profiles_agree);
  tcase_add_test (profiles, no_note_about_slice_ids_of_a_single_slice);
  tcase_add_loop_test (profiles, variables_that_a_profile_does_not_set_are_noted, 0, G_N_ELEMENTS (noted));
  tcase_add_loop_test (profiles, impossible_launch_is_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (profiles, processes_per_host_are_1_2_4_or_8);
  tcase_add_loop_test (profiles, jobset_name_is_checked_as_in_kubernetes, 0, G_N_ELEMENTS (jobsets));
  tcase_add_test (profiles, pod_names_of_a_jobset_fit_dns_limits);
  tcase_add_loop_test (profiles, leader_worker_set_is_checked, 0, G_N_ELEMENTS (leader_sets));
  tcase_add_loop_test (profiles, a_job_is_one_slice_with_a_service, 0, G_N_ELEMENTS (jobs));
  tcase_add_test (profiles, ray_worker_sees_only_its_chips);
  tcase_add_test (profiles, process_keeps_its_place_on_the_host_after_a_change);
  suite_add_tcase (suite, profiles);
  return suite_main (suite);
}
