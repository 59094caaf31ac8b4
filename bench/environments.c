/* SPDX-License-Identifier: Apache-2.0 */
/* The environments of all processes of a large job, in each profile that needs no address. */
#include "bench.h"
#include "../tests/shortcuts.h"

#include <quoit/quoit.h>
#include <string.h>

#define NOW G_GINT64_CONSTANT (1767225600000)

/* A worker group of 64 slices of v6e-256: 4,096 hosts. */
static const char manifest[] = "apiVersion: ray.io/v1\n"
                               "kind: RayCluster\n"
                               "metadata: {name: pretraining}\n"
                               "spec:\n"
                               "  headGroupSpec:\n"
                               "    rayStartParams: {}\n"
                               "    template: {spec: {containers: [{name: h, resources: {limits: {cpu: '8'}}}]}}\n"
                               "  workerGroupSpecs:\n"
                               "  - groupName: tpu\n"
                               "    replicas: 64\n"
                               "    numOfHosts: 64\n"
                               "    rayStartParams: {}\n"
                               "    template:\n"
                               "      spec:\n"
                               "        nodeSelector:\n"
                               "          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n"
                               "          cloud.google.com/gke-tpu-topology: 16x16\n"
                               "        containers:\n"
                               "        - name: w\n"
                               "          resources: {limits: {cpu: '8', google.com/tpu: '4'}}\n"
                               "          env: [{name: MEGASCALE_NUM_SLICES, value: '64'}]\n";

typedef struct {
  QuoitGroup *group;
  QuoitProfile profile;
  uint32_t per_host;
} Case;

static QuoitGroup *
reserve_all (QuoitLedger *ledger)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  QuoitGroup *group;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAYCLUSTER, manifest, NULL, NOW, NULL));
  g_assert_true (quoit_request_set_accelerator (request, "v6e", NULL));
  g_assert_true (quoit_request_set_topology (request, "16x16", NULL));
  g_assert_true (quoit_request_set_slices (request, 64, NULL));
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, NULL);
  g_assert_nonnull (group);
  return group;
}

static void
make (gpointer data)
{
  const Case *c = data;
  g_autoptr (QuoitLaunch) launch = quoit_launch_new (c->profile);
  g_autoptr (QuoitTopology) topology = NULL;

  g_assert_true (quoit_launch_set_processes_per_host (launch, c->per_host, NULL));
  topology = quoit_topology_new (c->group, launch, NULL);
  g_assert_cmpuint (quoit_topology_get_n_processes (topology), ==, 4096 * c->per_host);
}

void
bench_environments (Bench *bench)
{
  static const struct {
    const char *scenario;
    QuoitProfile profile;
    uint32_t per_host;
    BenchLimit ns;
  } cases[] = {
    { "environments, quoit", QUOIT_PROFILE_QUOIT, 1, BENCH_UP_TO (5e6) },
    { "environments, kuberay", QUOIT_PROFILE_KUBERAY, 1, BENCH_UP_TO (5e6) },
    { "environments, jobset", QUOIT_PROFILE_JOBSET, 1, BENCH_UP_TO (5e6) },
    { "environments, quoit, 4 processes per host", QUOIT_PROFILE_QUOIT, 4, BENCH_UP_TO (10e6) },
  };
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = reserve_all (ledger);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Case c = { group, cases[i].profile, cases[i].per_host };

      bench_measure (bench, &(BenchOperation) { .scenario = cases[i].scenario,
                                                .fleet = "v6e, 64 x 256 chips",
                                                .run = make,
                                                .data = &c,
                                                .n_operations = 1,
                                                .ns = cases[i].ns,
                                                .instructions = BENCH_NONE });
    }
}
