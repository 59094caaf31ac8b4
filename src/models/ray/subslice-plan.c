/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the next step towards a sub-slice. A sub-slice of a known slice can be reserved. If there is none, a slice must
 * be discovered first. */
#include "models/ray/subslices.h"

#include "models/ray/nodes.h"
#include "base/python.h"
#include "models/ray/ray.h"

struct _QuoitRaySubslicePlan {
  QuoitRaySubsliceStep step;
  char *parent, *slice_name;
  int64_t index, chips_per_vm;
  GStrv workers; /* NULL: the step discovers a slice */
  QuoitRayResources *resources;
};

void
quoit_ray_subslice_plan_free (QuoitRaySubslicePlan *plan)
{
  if (plan == NULL)
    return;

  g_free (plan->parent);
  g_free (plan->slice_name);
  g_strfreev (plan->workers);
  quoit_ray_resources_free (plan->resources);
  g_free (plan);
}

bool
quoit_ray_subslice_chips_per_vm (const int64_t *given, const char *parent_topology, const char *version,
                                 int64_t *n_chips, GError **error)
{
  if (given != NULL)
    return *n_chips = *given, TRUE;

  return quoit_ray_default_chips_per_vm (parent_topology, version, n_chips, error);
}

/* Checks the arguments that do not depend on the node list. */
static gboolean
check_shape (const char *topology, const char *version, const int64_t *chips_per_vm, GError **error)
{
  if (!quoit_ray_topology_is_valid (version, topology))
    {
      g_autofree char *quoted = quoit_quote (topology);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s: expected one that Ray lists for %s", quoted,
                         version);
    }
  if (chips_per_vm != NULL && *chips_per_vm <= 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "chips per VM '%" G_GINT64_FORMAT "': expected 1 or more",
                       (gint64) *chips_per_vm);

  return TRUE;
}

static char **
require_parents (const QuoitRayNodes *nodes, const char *topology, GError **error)
{
  g_auto (GStrv) parents = quoit_ray_parent_topologies (nodes, topology, error);

  if (parents == NULL)
    return NULL;
  if (parents[0] == NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "topology '%s': expected an alive node with a larger topology",
                            topology);

  return g_steal_pointer (&parents);
}

/* Returns whether a node of the slice, alive or dead, has a label with @topology. */
static gboolean
has_topology (const QuoitRayNodes *nodes, const char *slice_name, const char *topology)
{
  for (unsigned i = 0; i < quoit_ray_nodes_get_n (nodes); i++)
    if (g_strcmp0 (quoit_ray_nodes_get_slice_name (nodes, i), slice_name) == 0
        && g_strcmp0 (quoit_ray_nodes_label (nodes, i, QUOIT_RAY_LABEL_TOPOLOGY), topology) == 0)
      return TRUE;

  return FALSE;
}

/* Searches the known slices. Returns FALSE without an error if no known slice has an idle sub-slice. */
static gboolean
find_in_known_slices (QuoitRaySubslicePlan *plan, const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                      const char *const *parents, const char *topology, const int64_t *index, GError **error)
{
  const char *name;

  for (; *parents != NULL; parents++)
    for (unsigned i = 0; (name = quoit_ray_subslices_get_name (known, i)) != NULL; i++)
      {
        g_autoptr (GError) refused = NULL;

        if (!has_topology (nodes, name, *parents))
          continue;
        plan->workers = quoit_ray_subslices_find (known, nodes, name, topology, index, &plan->index, &refused);
        if (refused != NULL)
          return g_propagate_error (error, g_steal_pointer (&refused)), FALSE;
        if (plan->workers != NULL)
          {
            plan->parent = g_strdup (*parents);
            plan->slice_name = g_strdup (name);
            return TRUE;
          }
      }
  return FALSE;
}

static gboolean
find_slice_to_discover (QuoitRaySubslicePlan *plan, const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                        const char *const *parents, const char *version, GError **error)
{
  unsigned parent;

  plan->slice_name = quoit_ray_subslices_dup_undiscovered (known, nodes, parents, version, &parent, error);
  if (plan->slice_name == NULL)
    return FALSE;

  plan->step = QUOIT_RAY_SUBSLICE_DISCOVER;
  plan->parent = g_strdup (parents[parent]);
  return TRUE;
}

static gboolean
find_slice (QuoitRaySubslicePlan *plan, const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
            const char *const *parents, const char *topology, const char *version, const int64_t *index, GError **error)
{
  g_autoptr (GError) refused = NULL;

  if (find_in_known_slices (plan, known, nodes, parents, topology, index, &refused)
      || (refused == NULL && find_slice_to_discover (plan, known, nodes, parents, version, &refused)))
    return TRUE;
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), FALSE;

  return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                     "topology '%s': expected an idle sub-slice, or an idle slice to divide", topology);
}

static void
set_resources (QuoitRaySubslicePlan *plan, const QuoitRayResources *per_bundle)
{
  plan->resources = quoit_ray_resources_copy (per_bundle);
  if (per_bundle != NULL)
    return;

  quoit_ray_resources_set (plan->resources, "CPU", 1);
  quoit_ray_resources_set (plan->resources, "TPU", (double) plan->chips_per_vm);
}

QuoitRaySubslicePlan *
quoit_ray_subslice_plan_new (const QuoitRaySubslices *known, const QuoitRayNodes *nodes, const char *topology,
                             const char *accelerator_version, const int64_t *chips_per_vm,
                             const QuoitRayResources *per_bundle, const int64_t *index, GError **error)
{
  g_autoptr (QuoitRaySubslicePlan) plan = g_new0 (QuoitRaySubslicePlan, 1);
  g_autofree char *version = quoit_ray_version_from_type (accelerator_version, error), *shape = NULL;
  g_auto (GStrv) parents = NULL;

  if (version == NULL || !quoit_ray_require_text (topology, "topology", error))
    return NULL;

  shape = quoit_python_strip_and_lower (topology);
  if (!check_shape (shape, version, chips_per_vm, error))
    return NULL;
  parents = require_parents (nodes, shape, error);
  if (parents == NULL || !find_slice (plan, known, nodes, (const char *const *) parents, shape, version, index, error)
      || !quoit_ray_subslice_chips_per_vm (chips_per_vm, plan->parent, version, &plan->chips_per_vm, error))
    return NULL;

  set_resources (plan, per_bundle);
  return g_steal_pointer (&plan);
}

QuoitRaySubsliceStep
quoit_ray_subslice_plan_get_step (const QuoitRaySubslicePlan *plan)
{
  return plan->step;
}

const char *
quoit_ray_subslice_plan_get_parent_topology (const QuoitRaySubslicePlan *plan)
{
  return plan->parent;
}

const char *
quoit_ray_subslice_plan_get_slice_name (const QuoitRaySubslicePlan *plan)
{
  return plan->slice_name;
}

int64_t
quoit_ray_subslice_plan_get_index (const QuoitRaySubslicePlan *plan)
{
  return plan->index;
}

int64_t
quoit_ray_subslice_plan_get_chips_per_vm (const QuoitRaySubslicePlan *plan)
{
  return plan->chips_per_vm;
}

uint32_t
quoit_ray_subslice_plan_get_n_bundles (const QuoitRaySubslicePlan *plan)
{
  return plan->workers != NULL ? g_strv_length (plan->workers) : 0;
}

const QuoitRayResources *
quoit_ray_subslice_plan_get_resources (const QuoitRaySubslicePlan *plan)
{
  return plan->resources;
}

QuoitRayLabels *
quoit_ray_subslice_plan_dup_bundle_labels (const QuoitRaySubslicePlan *plan, uint32_t bundle)
{
  QuoitRayLabels *labels;

  if (bundle >= quoit_ray_subslice_plan_get_n_bundles (plan))
    return NULL;

  labels = quoit_ray_labels_new ();
  quoit_ray_labels_set (labels, QUOIT_RAY_LABEL_SLICE_NAME, plan->slice_name);
  quoit_ray_labels_set (labels, QUOIT_RAY_LABEL_WORKER_ID, plan->workers[bundle]);
  return labels;
}
