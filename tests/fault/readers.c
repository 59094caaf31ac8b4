/* SPDX-License-Identifier: Apache-2.0 */
/* Threads read the same snapshot, group, topology, device list, mesh and job. All threads must get the same values,
 * and lazily computed values must be computed once. */
#include <quoit/models.h>

#include "../support.h"

enum { N_THREADS = 4 };

static const char manifest[] = "apiVersion: ray.io/v1\n"
                               "kind: RayCluster\n"
                               "metadata: {name: c}\n"
                               "spec:\n"
                               "  headGroupSpec:\n"
                               "    rayStartParams: {}\n"
                               "    template: {spec: {containers: [{name: h, resources: {limits: {cpu: '8'}}}]}}\n"
                               "  workerGroupSpecs:\n"
                               "  - groupName: tpu\n"
                               "    replicas: 2\n"
                               "    numOfHosts: 4\n"
                               "    rayStartParams: {}\n"
                               "    template:\n"
                               "      spec:\n"
                               "        nodeSelector:\n"
                               "          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n"
                               "          cloud.google.com/gke-tpu-topology: 4x4\n"
                               "        containers:\n"
                               "        - name: w\n"
                               "          resources: {limits: {cpu: '8', google.com/tpu: '4'}}\n";

typedef struct {
  QuoitSnapshot *snapshot;
  QuoitGroup *group;
  QuoitTopology *topology;
  QuoitDevices *devices;
  QuoitMesh *mesh;
  QuoitMeshLinks *links;
  QuoitCoordinates *coordinates;
  QuoitMaxtextJob *job;
  QuoitJaxCluster *cluster;
  gint *waiting; /* atomic: threads that have not started */
} Shared;

typedef struct {
  const Shared *shared;
  guint n_rounds;
  char *output; /* must be the same in every round */
} Reader;

static void
print_processes (GString *out, const QuoitTopology *topology)
{
  for (guint32 p = 0; p < quoit_topology_get_n_processes (topology); p++)
    for (guint32 v = 0; v < quoit_topology_get_n_variables (topology, p); v++)
      g_string_append_printf (out, "%u %s=%s\n", p, quoit_topology_get_variable_name (topology, p, v),
                              quoit_topology_get_variable_value (topology, p, v));
}

static void
print_profiles (GString *out, const Shared *shared)
{
  static const QuoitProfile profiles[] = { QUOIT_PROFILE_QUOIT, QUOIT_PROFILE_KUBERAY, QUOIT_PROFILE_JOBSET };

  print_processes (out, shared->topology);
  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    {
      g_autoptr (QuoitLaunch) launch = quoit_launch_new (profiles[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitTopology) own = quoit_topology_new (shared->group, launch, &error);

      require (own != NULL, "%s", error_text (error));
      print_processes (out, own);
    }
}

static void
print_mesh (GString *out, const QuoitMesh *mesh, const QuoitMeshLinks *links)
{
  for (guint32 i = 0; i < quoit_mesh_get_n_devices (mesh); i++)
    g_string_append_printf (out, "%" G_GINT64_FORMAT " ", quoit_mesh_get_ids (mesh)[i]);
  for (guint axis = 0; axis < quoit_mesh_get_n_axes (mesh); axis++)
    g_string_append_printf (out, "%u: %" G_GINT64_FORMAT "\n", axis,
                            (gint64) quoit_mesh_links_get_all_reduce_ns (links, axis, 1 << 30));
}

static void
print_meshes (GString *out, const Shared *shared)
{
  static const int64_t sizes[] = { 2, 16 };
  g_autoptr (QuoitMesh) own
      = quoit_mesh_new_hybrid (shared->devices, (const int64_t[]) { 1, 16 }, 2, (const int64_t[]) { 2, 1 }, 2, 0, NULL);
  g_autoptr (QuoitMeshLinks) links = quoit_mesh_links_new (shared->devices, own, NULL);
  g_autoptr (QuoitMeshChoices) choices = quoit_mesh_choices_new (shared->devices, sizes, 2, NULL, 1 << 30, NULL);

  print_mesh (out, shared->mesh, shared->links);
  print_mesh (out, own, links);
  for (guint c = 0; c < quoit_mesh_choices_get_n (choices); c++)
    g_string_append_printf (out, "%u %u\n", quoit_mesh_choices_get_axis (choices, c, 0),
                            quoit_mesh_choices_get_dcn_size (choices, c, 0));
  for (guint chip = 0; chip < quoit_coordinates_get_n_chips (shared->coordinates); chip++)
    g_string_append_printf (out, "%u ", quoit_coordinates_get_hops (shared->coordinates, 0, chip));
}

static void
print_job (GString *out, const Shared *shared)
{
  g_autoptr (QuoitMaxtextReport) report = quoit_maxtext_check (shared->job, NULL, NULL);

  for (guint32 i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    g_string_append_printf (out, "%s\n", quoit_maxtext_report_get_message (report, i));
  for (guint i = 0; quoit_maxtext_get_accelerator (i) != NULL; i++)
    g_string_append_printf (out, "%s %u\n", quoit_maxtext_accelerator_get_name (quoit_maxtext_get_accelerator (i)),
                            quoit_maxtext_accelerator_get_n_devices (quoit_maxtext_get_accelerator (i)));
}

static void
print_pods (GString *out)
{
  const char *requeued;
  g_autoptr (QuoitKuberay) kuberay = quoit_kuberay_parse_manifest (manifest, strlen (manifest), NULL, 0, NULL);

  require (quoit_kuberay_reconcile (kuberay, &requeued, NULL), "reconcile");
  for (guint32 i = 0; i < quoit_kuberay_get_n_pods (kuberay); i++)
    {
      g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, i, NULL);

      g_string_append_printf (out, "%s.%s\n", quoit_webhook_patch_get_hostname (patch),
                              quoit_webhook_patch_get_subdomain (patch));
    }
}

static void
print_identity (GString *out, const Shared *shared)
{
  g_autofree char *coordinator = quoit_jax_cluster_dup_coordinator (shared->cluster, NULL);
  int64_t id = -1;

  require (quoit_jax_cluster_find_process_id (shared->cluster, &id, NULL), "process id");
  g_string_append_printf (out, "%s %u\n", coordinator, (guint) id);
}

static void
print_graph (GString *out, const Shared *shared)
{
  g_autofree char *dot = quoit_snapshot_dup_graph (shared->snapshot, QUOIT_GRAPH_FORM_DOT, NULL);
  g_autofree char *jgf = quoit_snapshot_dup_graph (shared->snapshot, QUOIT_GRAPH_FORM_JGF, NULL);

  g_string_append (out, dot);
  g_string_append (out, jgf);
}

static gpointer
read_all (gpointer data)
{
  Reader *reader = data;

  g_atomic_int_add (reader->shared->waiting, -1);
  while (g_atomic_int_get (reader->shared->waiting) > 0)
    g_thread_yield ();
  for (guint i = 0; i < reader->n_rounds; i++)
    {
      GString *out = g_string_new (NULL);

      print_job (out, reader->shared);
      print_profiles (out, reader->shared);
      print_meshes (out, reader->shared);
      print_pods (out);
      print_identity (out, reader->shared);
      print_graph (out, reader->shared);
      require (reader->output == NULL || strcmp (reader->output, out->str) == 0, "round %u has another result", i);
      g_free (reader->output);
      reader->output = g_string_free (out, FALSE);
    }
  return NULL;
}

static Shared
make_shared (gint *waiting)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = new_slice_request ("train", "v6e", "4x4", 2);
  const char *const environment[]
      = { "TPU_WORKER_HOSTNAMES=a,b", "TPU_WORKER_ID=1", "MEGASCALE_NUM_SLICES=2", "MEGASCALE_SLICE_ID=1", NULL };
  Shared shared = { .waiting = waiting };

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAYCLUSTER, manifest, NULL, T0, NULL));
  shared.group = quoit_ledger_reserve (ledger, request, T0, NULL, NULL);
  shared.snapshot = quoit_ledger_snapshot (ledger);
  require (shared.group != NULL, "both slices");
  shared.topology = quoit_topology_new (shared.group, NULL, NULL);
  shared.devices = quoit_devices_new_group (shared.group, NULL);
  shared.mesh
      = quoit_mesh_new_hybrid (shared.devices, (const int64_t[]) { 4, 4 }, 2, (const int64_t[]) { 2, 1 }, 2, 0, NULL);
  shared.links = quoit_mesh_links_new (shared.devices, shared.mesh, NULL);
  require (shared.links != NULL, "a mesh of 8 by 4");
  shared.coordinates = quoit_coordinates_new ("v5p", "4x4x8", 4, QUOIT_WIRING_STRAIGHT, NULL);
  shared.cluster = quoit_jax_cluster_detect (environment, NULL, NULL, NULL);
  shared.job = quoit_maxtext_job_new ();
  require (quoit_maxtext_job_set_slices (shared.job, "v6e", "4x4", 2, 0, NULL), "slices");
  quoit_maxtext_job_add_setting (shared.job, "ici_fsdp_parallelism=8");
  quoit_maxtext_job_add_setting (shared.job, "compile_topology=v6e-17");
  return shared;
}

static void
free_shared (Shared *shared)
{
  quoit_snapshot_unref (shared->snapshot);
  quoit_group_unref (shared->group);
  quoit_topology_free (shared->topology);
  quoit_devices_free (shared->devices);
  quoit_mesh_free (shared->mesh);
  quoit_mesh_links_free (shared->links);
  quoit_coordinates_free (shared->coordinates);
  quoit_maxtext_job_free (shared->job);
  quoit_jax_cluster_free (shared->cluster);
}

int
main (void)
{
  gint waiting = N_THREADS;
  Shared shared = make_shared (&waiting);
  Reader readers[N_THREADS];
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    {
      readers[i] = (Reader) { &shared, scaled (100), NULL };
      threads[i] = g_thread_new ("read", read_all, &readers[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < N_THREADS; i++)
    require (strcmp (readers[i].output, readers[0].output) == 0, "thread %u has another result", i);
  printf ("%u threads, %u rounds, %u bytes each\n", N_THREADS, readers[0].n_rounds, (guint) strlen (readers[0].output));
  for (guint i = 0; i < N_THREADS; i++)
    g_free (readers[i].output);
  free_shared (&shared);
  printf ("1 passed, 0 failed\n");
  return EXIT_SUCCESS;
}
