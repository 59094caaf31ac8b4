/* SPDX-License-Identifier: Apache-2.0 */
/* JAX's cluster detection in any environment, and bounds from any numbers. Fields: lines of environment, lines of
 * metadata, a file of addresses, a generation, two numbers. The same input is refused with the same error each time,
 * and a refusal returns nothing. */
#include <quoit/models/jax.h>
#include <string.h>

#include "fuzz.h"

static const char *const names[]
    = { "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_ADDRESSES_PATH",    "TPU_WORKER_ID",
        "MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID",    "MEGASCALE_COORDINATOR_ADDRESS", "JAX_COORDINATOR_PORT",
        "TPU_SKIP_MDS_QUERY" };
static const char *const keys[] = { "agent-worker-number", "worker-network-endpoints", "tpu-env" };

/* "0=a,b" sets the first of the names; a line without a number continues the previous one. */
static char **
read_lines (const char *text, const char *const *known, guint n_known)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();

  for (char **line = lines; *line != NULL; line++)
    {
      guint place = (guint) (**line - '0');

      if (place < n_known && (*line)[1] == '=')
        g_ptr_array_add (pairs, g_strconcat (known[place], *line + 1, NULL));
      else if (pairs->len > 0)
        {
          char *before = pairs->pdata[pairs->len - 1];

          pairs->pdata[pairs->len - 1] = g_strconcat (before, "\n", *line, NULL);
          g_free (before);
        }
    }
  g_ptr_array_add (pairs, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&pairs), FALSE);
}

static void
require_number (const QuoitJaxCluster *cluster, bool (*ask) (const QuoitJaxCluster *, int64_t *, GError **))
{
  g_autoptr (GError) error = NULL;
  int64_t number = -77, again = -77;
  gboolean ok = ask (cluster, &number, &error);

  fuzz_require_error (ok, error);
  g_assert (ok || number == -77);
  g_assert (ask (cluster, &again, NULL) == ok && again == number);
}

static void
require_cluster (const QuoitJaxCluster *cluster)
{
  g_autoptr (GError) of_workers = NULL, of_coordinator = NULL;
  g_auto (GStrv) workers = quoit_jax_cluster_list_workers (cluster, &of_workers);
  g_autofree char *coordinator = quoit_jax_cluster_dup_coordinator (cluster, &of_coordinator);

  fuzz_require_error (workers != NULL, of_workers);
  fuzz_require_error (coordinator != NULL, of_coordinator);
  g_assert (workers == NULL || workers[0] != NULL);
  g_assert (coordinator == NULL || strchr (coordinator, ':') != NULL);
  g_assert (quoit_jax_cluster_get_kind (cluster) != QUOIT_JAX_CLUSTER_NONE || coordinator == NULL);
  require_number (cluster, quoit_jax_cluster_count_processes);
  require_number (cluster, quoit_jax_cluster_find_process_id);
}

static void
require_clusters (const char *const *env, const char *const *metadata, const char *addresses)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJaxCluster) chosen = quoit_jax_cluster_detect (env, metadata, addresses, &error);

  fuzz_require_error (chosen != NULL, error);
  if (chosen != NULL)
    require_cluster (chosen);
  for (int kind = QUOIT_JAX_CLUSTER_NONE; kind <= QUOIT_JAX_CLUSTER_GKE_TPU + 1; kind++)
    {
      g_autoptr (QuoitJaxCluster) cluster
          = quoit_jax_cluster_new ((QuoitJaxClusterKind) kind, env, metadata, addresses);

      require_cluster (cluster);
    }
}

static void
require_bounds (const char *generation, const char *host_chips, const char *chips_per_process)
{
  g_autoptr (GError) error = NULL;
  const char *bounds = NULL, *of_process = NULL;
  gboolean ok = quoit_jax_process_bounds (generation, g_ascii_strtoll (host_chips, NULL, 10),
                                          g_ascii_strtoll (chips_per_process, NULL, 10), &bounds, &of_process, &error);

  fuzz_require_error (ok, error);
  g_assert (ok == (bounds != NULL) && ok == (of_process != NULL));
  g_assert (!ok || (*bounds == '\0') == (*of_process == '\0'));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *variables = fuzz_text (&in), *server = fuzz_text (&in), *file = fuzz_text (&in);
  g_autofree char *generation = fuzz_text (&in), *host = fuzz_text (&in), *process = fuzz_text (&in);
  g_auto (GStrv) env = read_lines (variables, names, G_N_ELEMENTS (names));
  g_auto (GStrv) metadata = read_lines (server, keys, G_N_ELEMENTS (keys));

  require_clusters ((const char *const *) env, (const char *const *) metadata, *file == '\0' ? NULL : file);
  require_bounds (generation, host, process);
  return 0;
}
