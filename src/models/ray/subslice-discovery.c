/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slice that Ray would discover next. Ray reserves a slice to find out how its hosts are connected, so the
 * slice must be idle and its head free, as far as Ray knows. */
#include "models/ray/subslices.h"

#include "base/name-hash.h"
#include "models/ray/nodes.h"
#include "models/ray/ray.h"

/* Ray counts a node to a slice if it is alive and, if a topology is given, has that topology. */
static gboolean
is_member (const QuoitRayNodes *nodes, unsigned row, const char *slice_name, const char *topology)
{
  return quoit_ray_nodes_is_alive (nodes, row)
         && g_strcmp0 (quoit_ray_nodes_get_slice_name (nodes, row), slice_name) == 0
         && (topology == NULL
             || g_strcmp0 (quoit_ray_nodes_label (nodes, row, QUOIT_RAY_LABEL_TOPOLOGY), topology) == 0);
}

static gboolean
is_head_free (const QuoitRayNodes *nodes, const char *slice_name, const char *topology, const char *head_resource)
{
  for (unsigned i = 0; head_resource != NULL && i < quoit_ray_nodes_get_n (nodes); i++)
    if (is_member (nodes, i, slice_name, topology)
        && g_strcmp0 (quoit_ray_nodes_label (nodes, i, QUOIT_RAY_LABEL_WORKER_ID), "0") == 0)
      {
        const double *available = quoit_ray_nodes_available (nodes, i, head_resource);

        return available == NULL || *available >= 1;
      }
  return TRUE;
}

bool
quoit_ray_nodes_is_head_free (const QuoitRayNodes *nodes, const char *slice_name, const char *head_resource)
{
  return is_head_free (nodes, slice_name, NULL, head_resource);
}

/* A slice that could be discovered. */
typedef struct {
  const char *name;
  gboolean is_idle;
} Candidate;

/* Returns the slices of @topology that are not known yet, in the order of their first alive row. */
static GArray *
find_candidates (const QuoitRaySubslices *known, const QuoitRayNodes *nodes, const char *topology)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autoptr (GHashTable) positions = g_hash_table_new (quoit_hash_text, g_str_equal);

  for (unsigned i = 0; i < quoit_ray_nodes_get_n (nodes); i++)
    {
      Candidate candidate = { quoit_ray_nodes_get_slice_name (nodes, i), TRUE };
      guint position;

      if (candidate.name == NULL || *candidate.name == '\0' || !is_member (nodes, i, candidate.name, topology)
          || quoit_ray_subslices_is_known (known, candidate.name))
        continue;
      position = GPOINTER_TO_UINT (g_hash_table_lookup (positions, candidate.name));
      if (position == 0)
        {
          g_array_append_val (candidates, candidate);
          position = candidates->len;
          g_hash_table_insert (positions, (gpointer) candidate.name, GUINT_TO_POINTER (position));
        }
      if (!quoit_ray_nodes_counts_as_idle (nodes, i))
        g_array_index (candidates, Candidate, position - 1).is_idle = FALSE;
    }
  return candidates;
}

static const char *
find_undiscovered (const QuoitRaySubslices *known, const QuoitRayNodes *nodes, const char *topology,
                   const char *head_resource)
{
  g_autoptr (GArray) candidates = find_candidates (known, nodes, topology);

  for (unsigned i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (candidate->is_idle && is_head_free (nodes, candidate->name, topology, head_resource))
        return candidate->name;
    }
  return NULL;
}

/* Returns the head resource of each parent; NULL for a topology without a pod type. Returns NULL if a parent is
 * invalid. Like Ray, it checks all parents before the first one is used. */
static GPtrArray *
head_resources (const char *const *parents, const char *version, GError **error)
{
  g_autoptr (GPtrArray) heads = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *type = g_strconcat ("TPU-", version, NULL);

  for (; *parents != NULL; parents++)
    {
      g_autoptr (GError) refused = NULL;
      g_autofree char *pod_type = quoit_ray_pod_type (*parents, type, &refused);

      if (refused != NULL)
        return g_propagate_error (error, g_steal_pointer (&refused)), NULL;
      g_ptr_array_add (heads, pod_type != NULL ? g_strdup_printf ("TPU-%s-head", pod_type) : NULL);
    }
  return g_steal_pointer (&heads);
}

char *
quoit_ray_subslices_dup_undiscovered (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                      const char *const *parents, const char *version, uint32_t *parent, GError **error)
{
  g_autoptr (GPtrArray) heads = head_resources (parents, version, error);

  for (unsigned i = 0; heads != NULL && i < heads->len; i++)
    {
      const char *name = find_undiscovered (known, nodes, parents[i], heads->pdata[i]);

      if (name != NULL)
        return *parent = i, g_strdup (name);
    }
  return NULL;
}
