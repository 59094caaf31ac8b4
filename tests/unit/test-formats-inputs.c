/* SPDX-License-Identifier: Apache-2.0 */
/* Every manifest and every capture in the folders outside this tree: the parsed result, or the refusal. The numbers
 * were counted in the files independently of quoit. A file without a row is a failure, and so is a row without a
 * file. */
#include "base/natural.h"
#include "claims-suite.h"

#define GKE "GoogleCloudPlatform__kubernetes-engine-samples__ai-ml__"
#define RAY GKE "gke-ray__"
#define KUBERAY "ray-project__kuberay__ray-operator__config__samples__"
#define JOBSET "kubernetes-sigs__jobset__site__static__examples__tpu-multislice__"

#define ASSUMED "the names of its hosts are assumed"
#define NO_RAY(kinds) "no Ray object in it, but " kinds ": expected a document of kind RayCluster, RayJob or RayService"

typedef struct {
  const char *file;
  const char *set;           /* NULL: none */
  const char *is;            /* NULL: refused */
  const char *says;          /* the refusal, or else parts of the warnings in order, separated by '|'; NULL: none */
  const char *last_node_has; /* its resources; NULL: not checked */
} Manifest;

static const Manifest manifests[] = {
  { RAY "rayserve__llm__tpu__ray-cluster.tpu-v5e-singlehost.yaml", NULL,
    "1 pods, 102 CPU, 208000000000 memory; 2 nodes, 2 alive, 8 chips; headgroup 1; tpu-group 1 x v5litepod 2x4 on 1",
    NULL, "CPU=100 TPU=8" },
  { RAY "rayserve__llm__tpu__ray-service.tpu-v6e-multihost.yaml", NULL,
    "4 pods, 82 CPU, 876173328384 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4",
    "line 159: spec.rayClusterConfig.workerGroupSpecs[0].template.spec.resourceClaims[0].resourceClaimTemplateName: no "
    "ResourceClaimTemplate 'all-netdev' in the file|line 17: KubeRay ends the name of a RayService's cluster with five "
    "random characters: 'vllm-tpu-multihost-xxxxx'",
    "CPU=20 TPU=4" },
  { RAY "raytrain__maxtext__ray-cluster.tpu-multi-slice.yaml", NULL,
    "8 pods, 72 CPU, 1617179869184 memory; 9 nodes, 9 alive, 32 chips; headgroup 1; tpu-group 2 x v6e 4x4 on 4", NULL,
    "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000 netdev.google.com=2" },
  { RAY "raytrain__maxtext__ray-cluster.tpu-v6e-16.yaml", NULL,
    "4 pods, 40 CPU, 817179869184 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4", NULL,
    "CPU=8 TPU=4" },
  { RAY "tpu__dws__rayjob-tpu-v6e-dws.yaml", "JOB_ID=7",
    "4 pods, 34 CPU, 73014444032 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4",
    "'rayjob-tpu-v6e-dws-7-xxxxx' stands for it, and " ASSUMED, "CPU=8 TPU=4" },
  { RAY "tpu__dws__rayjob-tpu-v6e-dws.yaml", NULL, NULL,
    "line 19: metadata.name: variable '${JOB_ID}' has no value: expected --set JOB_ID=VALUE", NULL },
  { RAY "tpu__get-started__train__ray-cluster.train-qwen3-v6e.yaml", NULL,
    "1 pods, 32 CPU, 249108103168 memory; 2 nodes, 2 alive, 8 chips; headgroup 1; tpu-group 1 x v6e 2x4 on 1", NULL,
    "CPU=24 TPU=8" },
  { RAY "tpu__ray-job.tpu-v6e-multihost.yaml", NULL,
    "4 pods, 104 CPU, 840000000000 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4",
    "line 17: KubeRay ends the name of a RayJob's cluster", "CPU=24 TPU=4" },
  { KUBERAY "ray-cluster.tpu-v4-multihost.yaml", NULL,
    "2 pods, 10 CPU, 120000000000 memory; 3 nodes, 3 alive, 8 chips; headgroup 1; tpu-group 1 x v4 2x2x2 on 2", NULL,
    "CPU=1 TPU=4" },
  { KUBERAY "ray-cluster.tpu-v4-singlehost.yaml", NULL,
    "1 pods, 9 CPU, 80000000000 memory; 2 nodes, 2 alive, 4 chips; headgroup 1; tpu-group 1 x v4 2x2x1 on 1", NULL,
    "CPU=1 TPU=4" },
  { KUBERAY "ray-cluster.tpu-v6e-16-multihost.yaml", NULL,
    "4 pods, 104 CPU, 840000000000 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4", NULL,
    "CPU=24 TPU=4" },
  { KUBERAY "ray-cluster.tpu-v6e-256-multihost.yaml", NULL,
    "64 pods, 1544 CPU, 12840000000000 memory; 65 nodes, 65 alive, 256 chips; headgroup 1; tpu-group 1 x v6e 16x16 on "
    "64",
    NULL, "CPU=24 TPU=4" },
  { KUBERAY "ray-job.tpu-jax.yaml", NULL,
    "1 pods, 12 CPU, 48000000000 memory; 2 nodes, 2 alive, 4 chips; headgroup 1; tpu-workers 1 x v4 2x2x1 on 1",
    "'rayjob-tpu-jax-xxxxx' stands for it", "CPU=8 TPU=4" },
  { KUBERAY "ray-job.tpu-v6e-16-multihost.yaml", NULL,
    "4 pods, 104 CPU, 840000000000 memory; 5 nodes, 5 alive, 16 chips; headgroup 1; tpu-group 1 x v6e 4x4 on 4",
    "'v6e-16-job-xxxxx' stands for it", "CPU=24 TPU=4" },
  { KUBERAY "ray-job.tpu-v6e-singlehost.yaml", NULL,
    "1 pods, 32 CPU, 240000000000 memory; 2 nodes, 2 alive, 4 chips; headgroup 1; tpu-group 1 x v6e 2x2 on 1",
    "'v6e-4-job-xxxxx' stands for it", "CPU=24 TPU=4" },
  { KUBERAY "ray-service.tpu-single-host.yaml", NULL,
    "1 pods, 102 CPU, 223338299392 memory; 2 nodes, 2 alive, 4 chips; headgroup 1; tpu-group 1 x v4 2x2x1 on 1",
    "'stable-diffusion-tpu-xxxxx' stands for it", "CPU=100 TPU=4" },
  { "AI-Hypercomputer__xpk__slice-main-branch__slice__hack__kind-cluster-subslice.yaml", NULL, NULL,
    NO_RAY ("'Cluster' in line 1"), NULL },
  { "GoogleCloudPlatform__cluster-toolkit__examples__gke-tpu-7x__gke-tpu-7x-job.yaml", NULL, NULL,
    NO_RAY ("'Pod' in line 20"), NULL },
  { RAY "tpu__dws__dws-tpu-queue.yaml", NULL, NULL,
    NO_RAY ("'ResourceFlavor' in line 17, 'ResourceFlavor' in line 25, 'ResourceFlavor' in line 33, 'ClusterQueue' in "
            "line 41, 'LocalQueue' in line 79, 'AdmissionCheck' in line 87, 'ProvisioningRequestConfig' in line 98"),
    NULL },
  { GKE "gke-tpu-dynamic-slicing__dynamic-slice-topology.yaml", NULL, NULL,
    NO_RAY ("'Topology' in line 16, 'ResourceFlavor' in line 31, 'AdmissionCheck' in line 40, 'ClusterQueue' in line "
            "47, 'LocalQueue' in line 64"),
    NULL },
  { GKE "gke-tpu-dynamic-slicing__tpu-multislice-jax.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 16"), NULL },
  { GKE "gke-tpu-dynamic-slicing__two-super-slices.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 16"), NULL },
  { GKE "llm-training-jax-tpu-gemma3__training_multislice_jobset.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 16"),
    NULL },
  { "ai-on-gke__tpu-provisioner__examples__ironwood-jobset-32.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 2"), NULL },
  { "ai-on-gke__tpu-provisioner__examples__trillium-jobset-spot-8-4t.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 2"),
    NULL },
  { JOBSET "kueue-config.yaml", NULL, NULL,
    NO_RAY ("'ResourceFlavor' in line 2, 'ClusterQueue' in line 11, 'LocalQueue' in line 26"), NULL },
  { JOBSET "v6e-jax-workload.yaml", NULL, NULL, NO_RAY ("'JobSet' in line 2"), NULL },
  { "kubernetes-sigs__lws__config__samples__leaderworkerset_tpu.yaml", NULL, NULL,
    NO_RAY ("'LeaderWorkerSet' in line 2"), NULL },
};

/* A capture is named MOMENT.FORM. */
static const struct {
  const char *moment;
  unsigned n_files;
  const char *is;
} moments[] = {
  { "gke.idle", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.one-reserved", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.hold-and-wait", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.two-reserved", 12, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "lost.one-slice-host-lost", 20, "5 nodes, 4 alive, 12 chips; default 1; v6e-group 1 x v6e 4x4 on 4" },
  { "mixed.idle", 20,
    "6 nodes, 6 alive, 16 chips; cpu-group 2; default 1; v4-group 1 x v4 2x2x2 on 2; v5e-group 1 x v5litepod 2x4 on "
    "1" },
  { "mixed.both-reserved", 20,
    "6 nodes, 6 alive, 16 chips; cpu-group 2; default 1; v4-group 1 x v4 2x2x2 on 2; v5e-group 1 x v5litepod 2x4 on "
    "1" },
  { "plain.actor-task-and-group", 9, "7 nodes, 7 alive, 24 chips; default 1; v4-group 3 x v4 2x2x2 on 2" },
};

#define A_TABLE "a table: expected the output of ray list nodes with --format json or --format yaml"
#define NO_NODE "a row without id: expected 'node_id' (ray list nodes) or 'NodeID'"
#define REPR "expected a key in double quotes, as Python's json.dumps() writes it"
#define NOTHING                                                                                                        \
  "'No resource in the cluster', which ray prints if it lists nothing: expected the output of ray list nodes"

/* The node list reader's refusal of each form; NULL: it has nodes. The first matching end of the file name applies. */
static const struct {
  const char *form, *says;
} forms[] = {
  { ".py-ray.nodes.json", NULL },
  { ".ray-list-nodes--detail--format-json.json", NULL },
  { ".ray-list-nodes--detail.yaml", NULL },
  { ".ray-list-nodes--format-json.json", NULL },
  { ".ray-list-nodes--format-yaml.yaml", NULL },
  { ".ray-list-nodes.table.txt", A_TABLE },
  { ".ray-list-nodes--detail--format-table.txt", A_TABLE },
  { ".py-ray.nodes.repr.txt", REPR },
  /* No nodes. Without groups, Ray prints a sentence in every form, and a Python repr may be valid JSON. */
  { "mixed.idle.ray-list-placement-groups--detail--format-json.json", NOTHING },
  { "mixed.idle.ray-list-placement-groups--detail.yaml", NOTHING },
  { "mixed.idle.ray-list-placement-groups--format-json.json", NOTHING },
  { "mixed.idle.ray-list-placement-groups.table.txt", NOTHING },
  { "mixed.idle.py-placement_group_table.repr.txt", "$: a map: expected a list" },
  { ".ray-list-placement-groups--detail--format-json.json", NO_NODE },
  { ".ray-list-placement-groups--detail.yaml", NO_NODE },
  { ".ray-list-placement-groups--format-json.json", NO_NODE },
  { ".ray-list-placement-groups.table.txt", A_TABLE },
  { ".py-placement_group_table.json", "$: a map: expected a list" },
  { ".py-placement_group_table.repr.txt", REPR },
  { ".py-available_resources.json", "$: a map: expected a list" },
  { ".py-available_resources_per_node.json", "$: a map: expected a list" },
  { ".py-cluster_resources.json", "$: a map: expected a list" },
  { ".py-total_resources_per_node.json", "$: a map: expected a list" },
  { ".ray-status-v.txt", A_TABLE },
  { ".ray-status.txt", A_TABLE },
};

static unsigned passed, failed, skipped;

static void
count (const char *name, const char *problem)
{
  if (problem == NULL)
    passed++;
  else
    {
      failed++;
      g_print ("FAIL: %s: %s\n", name, problem);
    }
}

static char *
folder_of (const char *name)
{
  return g_build_filename (g_getenv ("top_srcdir"), "..", "shared", name, NULL);
}

/* --- the result in one line --- */

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

/* "POOL N": nodes outside any slice; "POOL S x GENERATION TOPOLOGY on HOSTS" */
static void
append_pool (GString *text, const QuoitClaims *claims, const char *name)
{
  g_autoptr (GHashTable) slices = g_hash_table_new (g_str_hash, g_str_equal);
  const QuoitNodeKind *kind = NULL;
  guint32 n_nodes, n_here = 0, n_hosts = 0;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (strcmp (quoit_claims_pool_at (claims, nodes[i].pool)->name, name) == 0)
      {
        n_here++;
        if (nodes[i].slice == NULL)
          continue;
        g_hash_table_add (slices, (char *) nodes[i].slice);
        kind = quoit_claims_kind_at (claims, nodes[i].kind);
        n_hosts++;
      }
  if (kind == NULL)
    g_string_append_printf (text, "; %s %u", name, n_here);
  else if (n_hosts != n_here || n_hosts % g_hash_table_size (slices) != 0)
    g_string_append_printf (text, "; %s: %u of %u nodes in %u slices", name, n_hosts, n_here,
                            g_hash_table_size (slices));
  else
    g_string_append_printf (text, "; %s %u x %s %s on %u", name, g_hash_table_size (slices),
                            quoit_generation_name (kind->generation), kind->topology,
                            n_hosts / g_hash_table_size (slices));
}

static char *
nodes_in_words (const QuoitClaims *claims)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) pools = g_ptr_array_new ();
  guint32 n_nodes, n_alive = 0, n_chips = 0;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state == QUOIT_NODE_ALIVE)
      {
        n_alive++;
        n_chips += quoit_claims_kind_at (claims, nodes[i].kind)->chips;
      }
  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    g_ptr_array_add (pools, (char *) quoit_claims_pool_at (claims, i)->name);
  g_ptr_array_sort (pools, by_name);

  g_string_append_printf (text, "%u nodes, %u alive, %u chips", n_nodes, n_alive, n_chips);
  for (guint i = 0; i < pools->len; i++)
    append_pool (text, claims, pools->pdata[i]);
  return g_string_free (text, FALSE);
}

static char *
manifest_in_words (const QuoitClaims *claims)
{
  g_autofree char *nodes = nodes_in_words (claims), *cpu = NULL, *memory = NULL;
  QuoitSum sum_cpu = { 0 }, sum_memory = { 0 };
  guint32 n_pods = 0;

  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    {
      const QuoitPoolClaim *pool = quoit_claims_pool_at (claims, i);

      n_pods += pool->n_pods;
      sum_cpu.e4 += pool->pod_cpu.e4;
      sum_memory.e4 += pool->pod_memory.e4;
    }
  cpu = quoit_sum_format (sum_cpu);
  memory = quoit_sum_format (sum_memory);
  return g_strdup_printf ("%u pods, %s CPU, %s memory; %s", n_pods, cpu, memory, nodes);
}

/* --- one file --- */

static char *
compare_refusal (const QuoitClaims *claims, const GError *error, const char *says)
{
  if (claims != NULL)
    return g_strdup_printf ("was accepted, expected: %s", says);
  if (!g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_INVALID) || strstr (error->message, says) == NULL)
    return g_strdup_printf ("refused with '%s', expected: %s", error == NULL ? "nothing" : error->message, says);
  return NULL;
}

static char *
compare_warnings (const QuoitClaims *claims, const char *says)
{
  g_auto (GStrv) parts = g_strsplit (says == NULL ? "" : says, "|", -1);
  const char *const *warnings = quoit_claims_warnings (claims);
  guint n = g_strv_length ((char **) warnings);

  if (n != g_strv_length (parts))
    return g_strdup_printf ("%u warnings, the first of them '%s'", n, n > 0 ? warnings[0] : "");
  for (guint i = 0; i < n; i++)
    if (strstr (warnings[i], parts[i]) == NULL)
      return g_strdup_printf ("warns '%s', expected '%s'", warnings[i], parts[i]);
  return NULL;
}

static char *
compare_resources (const QuoitClaims *claims, const char *part)
{
  g_autofree char *resources = NULL;
  guint32 n_nodes;

  quoit_claims_nodes (claims, &n_nodes);
  resources = resources_as_text (claims, n_nodes - 1);
  return strstr (resources, part) != NULL ? NULL : g_strdup_printf ("the last node has %s", resources);
}

static char *
check_manifest (const Manifest *row, const char *text, gsize length)
{
  const char *const set[] = { row->set, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_raycluster (text, length, NULL, set, &error);
  g_autofree char *is = NULL;
  char *problem;

  if (row->is == NULL)
    return compare_refusal (claims, error, row->says);
  if (claims == NULL)
    return g_strdup_printf ("refused: %s", error->message);
  is = manifest_in_words (claims);
  if (strcmp (is, row->is) != 0)
    return g_strdup_printf ("read as '%s'", is);
  problem = compare_warnings (claims, row->says);
  return problem != NULL ? problem : compare_resources (claims, row->last_node_has);
}

static char *
check_capture (const char *says, const char *expected, const char *text, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_ray_nodes (text, length, NULL, &error);
  g_autofree char *is = NULL;

  if (says != NULL)
    return compare_refusal (claims, error, says);
  if (claims == NULL)
    return g_strdup_printf ("refused: %s", error->message);
  is = nodes_in_words (claims);
  return strcmp (is, expected) == 0 ? NULL : g_strdup_printf ("read as '%s'", is);
}

/* --- the folders --- */

/* The names in the folder; NULL if there is no folder. */
static GPtrArray *
list (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names;

  if (dir == NULL)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    g_ptr_array_add (names, g_strdup (name));
  return names;
}

static gboolean
is_known_manifest (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (manifests); i++)
    if (strcmp (manifests[i].file, name) == 0)
      return TRUE;
  return FALSE;
}

static void
check_manifests (void)
{
  g_autofree char *folder = folder_of ("manifests");
  g_autoptr (GPtrArray) names = list (folder);

  if (names == NULL)
    {
      skipped += G_N_ELEMENTS (manifests);
      return;
    }
  for (guint i = 0; i < names->len; i++)
    if (!is_known_manifest (names->pdata[i]))
      count (names->pdata[i], "no row speaks of it");
  for (unsigned i = 0; i < G_N_ELEMENTS (manifests); i++)
    {
      g_autofree char *path = g_build_filename (folder, manifests[i].file, NULL), *text = NULL, *problem = NULL;
      gsize length;

      if (!quoit_read_file (path, &text, &length, NULL))
        problem = g_strdup ("the file is not there");
      else
        problem = check_manifest (&manifests[i], text, length);
      count (manifests[i].file, problem);
    }
}

/* -1: none */
static int
find_moment (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (moments); i++)
    if (g_str_has_prefix (name, moments[i].moment) && name[strlen (moments[i].moment)] == '.')
      return (int) i;
  return -1;
}

static int
find_form (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (forms); i++)
    if (g_str_has_suffix (name, forms[i].form))
      return (int) i;
  return -1;
}

static void
check_captures (void)
{
  g_autofree char *folder = folder_of ("captures");
  g_autoptr (GPtrArray) names = list (folder);
  unsigned n_files[G_N_ELEMENTS (moments)] = { 0 };

  for (unsigned i = 0; names == NULL && i < G_N_ELEMENTS (moments); i++)
    skipped += moments[i].n_files;
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL, *problem = NULL;
      int moment = find_moment (name), form = find_form (name);
      gsize length;

      if (moment < 0 || form < 0)
        problem = g_strdup ("no row speaks of it");
      else if (!quoit_read_file (path, &text, &length, NULL))
        problem = g_strdup ("cannot be read");
      else
        problem = check_capture (forms[form].says, moments[moment].is, text, length);
      if (moment >= 0)
        n_files[moment]++;
      count (name, problem);
    }
  for (unsigned i = 0; names != NULL && i < G_N_ELEMENTS (moments); i++)
    count (moments[i].moment, n_files[i] == moments[i].n_files ? NULL : "other files than there were");
}

int
main (void)
{
  check_manifests ();
  check_captures ();
  g_print ("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
