/* SPDX-License-Identifier: Apache-2.0 */
/* In JAX, each process detects its cluster from its own environment. This file detects the cluster of every process of
 * a group, and reports contradictions between the processes. */
#include <quoit/models.h>

#include "jax-view.h"

/* The cluster that one process detects. */
typedef struct {
  const char *cluster; /* JAX's name of the kind of cluster; NULL: none detected */
  char *coordinator;
  gint64 count, id; /* the number of processes of the job, and the id of this one; valid if has_count and has_id */
  bool has_count, has_id;
  char *error; /* the first error that JAX raises; NULL: none */
} DetectedCluster;

static void
detected_clear (gpointer data)
{
  DetectedCluster *detected = data;

  g_free (detected->coordinator);
  g_free (detected->error);
}

static const char *
kind_name (QuoitJaxClusterKind kind)
{
  switch (kind)
    {
    case QUOIT_JAX_CLUSTER_GCE_TPU:
      return "gcetpu";
    case QUOIT_JAX_CLUSTER_GKE_TPU:
      return "gketpu";
    default:
      return NULL;
    }
}

/* Takes @error. Only the first error counts, because JAX stops there. */
static void
take_error (DetectedCluster *detected, GError *error)
{
  if (error != NULL && detected->error == NULL)
    detected->error = g_strdup (error->message);
  g_clear_error (&error);
}

static DetectedCluster
detect (const QuoitTopology *topology, uint32_t process)
{
  GError *error = NULL;
  g_autoptr (QuoitJaxCluster) cluster = quoit_jax_cluster_detect_process (topology, process, &error);
  DetectedCluster detected = { 0 };

  take_error (&detected, g_steal_pointer (&error));
  if (cluster == NULL)
    return detected;
  detected.cluster = kind_name (quoit_jax_cluster_get_kind (cluster));
  detected.coordinator = quoit_jax_cluster_dup_coordinator (cluster, &error);
  take_error (&detected, g_steal_pointer (&error));
  detected.has_count = quoit_jax_cluster_count_processes (cluster, &detected.count, &error);
  take_error (&detected, g_steal_pointer (&error));
  detected.has_id = quoit_jax_cluster_find_process_id (cluster, &detected.id, &error);
  take_error (&detected, g_steal_pointer (&error));
  return detected;
}

static GArray *
detect_all (const QuoitTopology *topology)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (DetectedCluster));

  g_array_set_clear_func (all, detected_clear);
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (topology); p++)
    {
      DetectedCluster detected = detect (topology, p);

      g_array_append_val (all, detected);
    }
  return all;
}

static const DetectedCluster *
get_detected (const GArray *all, guint process)
{
  return &g_array_index (all, DetectedCluster, process);
}

/* --- rows --- */

static const Column columns[] = {
  { "process_id", "PROCESS", CELL_NUMBER },
  { "slice_id", "SLICE ID", CELL_NUMBER },
  { "worker_id", "WORKER", CELL_NUMBER },
  { "node", "NODE", CELL_TEXT },
  { "cluster", "CLUSTER", RANKED (3, CELL_TEXT) },
  { "coordinator", "COORDINATOR", RANKED (2, CELL_TEXT) },
  { "jax_process_count", "JAX PROCESSES", RANKED (4, CELL_NUMBER) },
  { "jax_process_id", "JAX PROCESS", CELL_NUMBER },
  { "error", "ERROR", RANKED (1, CELL_TEXT) },
};

static void
add_known (Table *table, bool is_known, gint64 number)
{
  if (is_known)
    table_add_number (table, number);
  else
    table_skip (table);
}

static void
add_row (Table *table, const QuoitTopology *topology, uint32_t process, const DetectedCluster *detected)
{
  bool is_worker = !process_lacks_chips (topology, process);

  table_add_number (table, process);
  add_known (table, is_worker, quoit_topology_get_slice_id (topology, process));
  add_known (table, is_worker, quoit_topology_get_worker_id (topology, process));
  table_add_text (table, quoit_topology_get_node_name (topology, process));
  table_add_text (table, detected->cluster);
  table_add_text (table, detected->coordinator);
  add_known (table, detected->has_count, detected->count);
  add_known (table, detected->has_id, detected->id);
  table_add_text (table, detected->error);
}

/* --- notes about errors and contradictions --- */

static void
note_errors (GPtrArray *notes, const GArray *all)
{
  guint n = 0, n_without = 0;

  for (guint p = 0; p < all->len; p++)
    {
      n += get_detected (all, p)->error != NULL;
      n_without += get_detected (all, p)->cluster == NULL;
    }
  if (n > 0)
    g_ptr_array_add (notes,
                     g_strdup_printf ("jax.distributed.initialize() can detect the cluster in %u of %u processes: pass "
                                      "coordinator_address, num_processes and process_id%s",
                                      all->len - n, all->len, n_without == all->len ? ", as Ray Train does" : ""));
}

static void
note_coordinators (GPtrArray *notes, const GArray *all)
{
  const char *first = NULL;

  for (guint p = 0; p < all->len; p++)
    {
      const char *coordinator = get_detected (all, p)->coordinator;

      if (first != NULL && coordinator != NULL && g_strcmp0 (first, coordinator) != 0)
        {
          g_ptr_array_add (notes,
                           g_strdup_printf ("coordinators differ: process %u uses '%s', other processes use '%s'", p,
                                            coordinator, first));
          return;
        }
      if (first == NULL)
        first = coordinator;
    }
}

static void
note_counts (GPtrArray *notes, const GArray *all)
{
  for (guint p = 0; p < all->len; p++)
    if (get_detected (all, p)->has_count && get_detected (all, p)->count != all->len)
      {
        g_ptr_array_add (notes,
                         g_strdup_printf ("process %u waits for %" G_GINT64_FORMAT " processes, but the group has %u",
                                          p, get_detected (all, p)->count, all->len));
        return;
      }
}

static void
note_ids (GPtrArray *notes, const GArray *all)
{
  g_autoptr (GHashTable) processes = g_hash_table_new (g_int64_hash, g_int64_equal);
  bool is_noted = false; /* one note about a different id is enough */

  for (guint p = 0; p < all->len; p++)
    {
      const DetectedCluster *detected = get_detected (all, p);
      gpointer other;

      if (!detected->has_id)
        continue;
      if (g_hash_table_lookup_extended (processes, &detected->id, NULL, &other))
        {
          g_ptr_array_add (notes,
                           g_strdup_printf ("processes %u and %u both have process id %" G_GINT64_FORMAT " in JAX",
                                            GPOINTER_TO_UINT (other), p, detected->id));
          return;
        }
      g_hash_table_insert (processes, (gpointer) &detected->id, GUINT_TO_POINTER (p));
      if (detected->id != p && !is_noted)
        g_ptr_array_add (notes,
                         g_strdup_printf ("process %u has process id %" G_GINT64_FORMAT " in JAX", p, detected->id));
      is_noted |= detected->id != p;
    }
}

bool
process_lacks_chips (const QuoitTopology *topology, uint32_t process)
{
  return quoit_topology_get_group_slice (topology, process) == G_MAXUINT32;
}

/* Counts the processes with chips. The topology lists them before the others. */
static guint
count_job_processes (const QuoitTopology *topology)
{
  guint n = quoit_topology_get_n_processes (topology);

  while (n > 0 && process_lacks_chips (topology, n - 1))
    n--;
  return n;
}

void
describe_jax_view (Document *document, const QuoitTopology *topology, const GArray *chosen)
{
  g_autoptr (GArray) all = detect_all (topology);
  Table *table = table_new (columns, G_N_ELEMENTS (columns));
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < chosen->len; i++)
    {
      uint32_t process = g_array_index (chosen, uint32_t, i);

      add_row (table, topology, process, get_detected (all, process));
    }
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    g_ptr_array_add (notes, g_strdup (quoit_topology_get_note (topology, i)));
  g_array_set_size (all, count_job_processes (topology));
  note_errors (notes, all);
  if (quoit_topology_get_job (topology) != QUOIT_JOB_SEPARATE)
    {
      note_coordinators (notes, all);
      note_counts (notes, all);
      note_ids (notes, all);
    }
  document_take_table (document, "processes", NULL, table);
  document_take_lines (document, "notes", "notes", notes);
}
