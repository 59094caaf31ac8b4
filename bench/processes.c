/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of one more process or pod when there are few and when there are many. It must be the same, because
 * otherwise a hostile manifest or the largest slice would take too long. */
#include "bench.h"
#include "../tests/shortcuts.h"

#include <quoit/models.h>
#include <quoit/quoit.h>
#include <string.h>

#define NOW G_GINT64_CONSTANT (1767225600000)

static QuoitTopology *
topology_of (const char *fleet, const char *accelerator, const char *shape, gint64 n_slices)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  QuoitTopology *topology;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, NOW, NULL));
  g_assert_true (quoit_request_set_accelerator (request, accelerator, NULL));
  g_assert_true (quoit_request_set_topology (request, shape, NULL));
  g_assert_true (quoit_request_set_slices (request, n_slices, NULL));
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, NULL);
  g_assert_nonnull (group);
  topology = quoit_topology_new (group, NULL, NULL);
  g_assert_nonnull (topology);
  return topology;
}

/* Compares the cost per process of few and of many in instructions, because wall clock depends on the caches. */
static void
compare (Bench *bench, const char *scenario, const char *few, const char *many)
{
  g_autofree char *growth = g_strdup_printf ("%s: growth of instructions", scenario);

  bench_add (bench, growth, many,
             bench_instructions (bench, scenario, many) / bench_instructions (bench, scenario, few), "times",
             BENCH_UP_TO (1.5));
}

/* --- processes --- */

static void
detect_all (gpointer data)
{
  const QuoitTopology *topology = data;

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      g_autoptr (QuoitJaxCluster) cluster = quoit_jax_cluster_detect_process (topology, p, NULL);
      g_autofree char *coordinator = quoit_jax_cluster_dup_coordinator (cluster, NULL);
      int64_t id, count;

      g_assert_true (quoit_jax_cluster_find_process_id (cluster, &id, NULL) && id == p);
      g_assert_true (quoit_jax_cluster_count_processes (cluster, &count, NULL) && coordinator != NULL);
    }
}

static void
list_devices (gpointer data)
{
  const QuoitTopology *topology = data;

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    for (uint32_t d = 0; d < quoit_topology_get_n_devices (topology, p); d++)
      g_assert_cmpuint (quoit_topology_get_device (topology, p, d), >=, p);
}

static void
measure (Bench *bench, const char *scenario, const char *fleet, void (*run) (gpointer), QuoitTopology *topology)
{
  bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                            .fleet = fleet,
                                            .run = run,
                                            .data = topology,
                                            .n_operations = quoit_topology_get_n_processes (topology),
                                            .ns = BENCH_NONE,
                                            .instructions = BENCH_NONE });
}

static void
measure_processes (Bench *bench)
{
  static const char seen[] = "a process as JAX sees it", listed[] = "a process's devices";
  static const char few[] = "v5p 4x4x8, 32 hosts", many[] = "v5p 16x16x24, 1,536 hosts";
  static const char few_slices[] = "v6e 4x4, 8 slices", many_slices[] = "v6e 4x4, 4,096 slices";
  g_autoptr (QuoitTopology) small = topology_of ("v5p 4x4x8", "v5p", "4x4x8", 1);
  g_autoptr (QuoitTopology) large = topology_of ("v5p 16x16x24", "v5p", "16x16x24", 1);
  g_autoptr (QuoitTopology) short_job = topology_of ("v6e 4x4 x8", "v6e", "4x4", 8);
  g_autoptr (QuoitTopology) long_job = topology_of ("v6e 4x4 x4096", "v6e", "4x4", 4096);

  measure (bench, seen, few, detect_all, small);
  measure (bench, seen, many, detect_all, large);
  compare (bench, seen, few, many);
  measure (bench, listed, few_slices, list_devices, short_job);
  measure (bench, listed, many_slices, list_devices, long_job);
  compare (bench, listed, few_slices, many_slices);
}

/* --- pods --- */

typedef struct {
  int32_t n_pods;
  QuoitWebhookPod *template;
} Pods;

static void
create_numbered_pods (gpointer data)
{
  const Pods *pods = data;
  g_autoptr (QuoitKuberay) kuberay = quoit_kuberay_new ("c", 0);
  const char *requeued;

  g_assert_true (quoit_kuberay_add_group (kuberay, "g", 1, pods->template, NULL));
  quoit_kuberay_set_replicas (kuberay, 0, pods->n_pods);
  g_assert_true (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  g_assert_cmpuint (quoit_kuberay_get_n_pods (kuberay), ==, (uint32_t) pods->n_pods);
}

static void
measure_pods (Bench *bench)
{
  static const char scenario[] = "a pod that the webhook numbers";
  static const struct {
    const char *fleet;
    int32_t n_pods;
  } sizes[] = { { "256 pods", 256 }, { "65,536 pods", 65536 } };
  g_autoptr (QuoitWebhookPod) template = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_selector (template, "cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice");
  quoit_webhook_pod_set_selector (template, "cloud.google.com/gke-tpu-topology", "2x2");
  g_assert_true (quoit_webhook_pod_add_container (template, "4", NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                              .fleet = sizes[i].fleet,
                                              .run = create_numbered_pods,
                                              .data = &(Pods) { sizes[i].n_pods, template },
                                              .n_operations = (guint) sizes[i].n_pods,
                                              .ns = BENCH_NONE,
                                              .instructions = BENCH_NONE });
  compare (bench, scenario, sizes[0].fleet, sizes[1].fleet);
}

void
bench_processes (Bench *bench)
{
  measure_processes (bench);
  measure_pods (bench);
}
