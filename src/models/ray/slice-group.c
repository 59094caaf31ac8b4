/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the bundles, selectors and placement groups of a request for whole slices, and the slices for which Ray
 * first reserves a head. To reserve a slice of several hosts, Ray reserves the head resource of a free slice, reads the
 * name of that slice, and then places the bundles on nodes with that name. */
#include "models/ray/slice-request.h"

#include <string.h>

#include "models/ray/nodes.h"
#include "base/python.h"
#include "models/ray/ray.h"

struct _QuoitRaySliceGroup {
  char *topology, *version, *head_resource;
  char *strategy, *name, *lifetime;
  QuoitRaySliceLayout layout;
  int64_t n_slices, n_bundles, bundles_per_slice, chips_per_host, devices_per_host, n_hosts;
  gboolean is_single_host;
  QuoitRayResources *resources;
  QuoitRayLabels *head_labels;
  GPtrArray *selectors; /* of QuoitRayLabels, one per bundle; empty: no selectors */
  /* Of char *, one per slice: the name that the selectors of its bundles require; NULL: a head is reserved instead.
   * Empty if there are no selectors, because all slices need heads then. */
  GPtrArray *selected_slices;
  GArray *head_slices;      /* of int64_t: the indices of the NULL elements of selected_slices */
  GHashTable *found_slices; /* index of a slice -> name of the slice whose head was reserved for it */
};

void
quoit_ray_slice_group_free (QuoitRaySliceGroup *group)
{
  if (group == NULL)
    return;

  g_free (group->topology);
  g_free (group->version);
  g_free (group->head_resource);
  g_free (group->strategy);
  g_free (group->name);
  g_free (group->lifetime);
  quoit_ray_resources_free (group->resources);
  quoit_ray_labels_free (group->head_labels);
  g_ptr_array_unref (group->selectors);
  g_ptr_array_unref (group->selected_slices);
  g_array_unref (group->head_slices);
  g_hash_table_unref (group->found_slices);
  g_free (group);
}

static gboolean
read_shape (QuoitRaySliceGroup *group, const QuoitRaySliceRequest *request, GError **error)
{
  g_autofree char *version = NULL;

  if (!quoit_ray_require_text (request->topology, "topology", error)
      || !quoit_ray_require_text (request->version, "accelerator version", error))
    return FALSE;

  version = quoit_python_strip (request->version);
  group->version = quoit_ray_version_from_type (version, error);
  group->topology = quoit_python_strip_and_lower (request->topology);
  return group->version != NULL;
}

static gboolean
count_hosts (QuoitRaySliceGroup *group, const QuoitRaySliceRequest *request, GError **error)
{
  int64_t chips, hosts;

  if (!quoit_ray_chips_from_topology (group->topology, &chips, error))
    return FALSE;
  if (request->has_chips_per_vm)
    group->chips_per_host = request->chips_per_vm;
  else if (!quoit_ray_chips_per_host (group->topology, group->version, &group->chips_per_host, error))
    return FALSE;

  group->is_single_host = chips <= group->chips_per_host;
  /* Ray multiplies both numbers by resource_per_chip, which does not change the quotient. */
  hosts = MAX (1, chips / group->chips_per_host);
  if (__builtin_mul_overflow (group->chips_per_host, request->resource_per_chip, &group->devices_per_host)
      || __builtin_mul_overflow (hosts, group->n_slices, &group->n_hosts))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "number of slices '%" G_GINT64_FORMAT "': expected numbers of hosts and devices "
                       "that fit in 64 bits",
                       (gint64) group->n_slices);

  return TRUE;
}

static gboolean
count_bundles (QuoitRaySliceGroup *group, const QuoitRaySliceRequest *request, GError **error)
{
  group->n_slices = request->n_slices;
  group->resources = quoit_ray_worker_resources (
      group->topology, group->version, request->per_bundle, request->n_slices,
      request->has_chips_per_vm ? &request->chips_per_vm : NULL, &request->resource_per_chip, &group->n_bundles, error);
  if (group->resources == NULL || !count_hosts (group, request, error))
    return FALSE;
  if (!quoit_ray_topology_is_valid (group->version, group->topology))
    {
      g_autofree char *quoted = quoit_quote (group->topology);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s: expected one that Ray lists for %s", quoted,
                         group->version);
    }
  if (request->selectors->len > 0 && request->selectors->len != group->n_bundles)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "selectors of bundles '%u': expected none, or one for each of %" G_GINT64_FORMAT " bundles",
                       request->selectors->len, (gint64) group->n_bundles);
  if (group->n_slices == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "number of slices '0': expected 1 or more");

  group->bundles_per_slice = (int64_t) quoit_python_floor_divide (group->n_bundles, group->n_slices);
  return TRUE;
}

/* Returns the slice name that the bundles of @slice select, or NULL. The first bundle with a selector for the slice
 * name decides, even if the value is empty. */
static const char *
selected_slice_name (const QuoitRaySliceGroup *group, int64_t slice)
{
  for (int64_t i = slice * group->bundles_per_slice; i < (slice + 1) * group->bundles_per_slice; i++)
    {
      const QuoitRayLabels *labels = group->selectors->pdata[i];
      const char *key;

      for (unsigned k = 0; (key = quoit_ray_labels_get_key (labels, k)) != NULL; k++)
        if (strcmp (key, QUOIT_RAY_LABEL_SLICE_NAME) == 0)
          {
            const char *name = quoit_ray_labels_get_value (labels, k);

            return name != NULL && *name != '\0' ? name : NULL;
          }
    }
  return NULL;
}

static void
find_heads (QuoitRaySliceGroup *group)
{
  if (group->is_single_host || group->selectors->len == 0)
    return;

  for (int64_t slice = 0; slice < group->n_slices; slice++)
    {
      const char *name = selected_slice_name (group, slice);

      g_ptr_array_add (group->selected_slices, g_strdup (name));
      if (name == NULL)
        g_array_append_val (group->head_slices, slice);
    }
}

/* Sets the resource and labels by which heads are reserved. */
static gboolean
describe_heads (QuoitRaySliceGroup *group, GError **error)
{
  g_autofree char *pod_type = quoit_ray_pod_type (group->topology, group->version, error);

  if (pod_type == NULL)
    return FALSE;

  group->head_resource = g_strdup_printf ("TPU-%s-head", pod_type);
  quoit_ray_labels_set (group->head_labels, QUOIT_RAY_LABEL_WORKER_ID, "0");
  quoit_ray_labels_set (group->head_labels, QUOIT_RAY_LABEL_POD_TYPE, pod_type);
  return TRUE;
}

QuoitRaySliceGroup *
quoit_ray_slice_group_new (const QuoitRaySliceRequest *request, GError **error)
{
  g_autoptr (QuoitRaySliceGroup) group = g_new0 (QuoitRaySliceGroup, 1);

  group->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);
  group->selected_slices = g_ptr_array_new_with_free_func (g_free);
  group->head_slices = g_array_new (FALSE, FALSE, sizeof (int64_t));
  group->found_slices = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  group->head_labels = quoit_ray_labels_new ();
  if (!read_shape (group, request, error) || !count_bundles (group, request, error) || !describe_heads (group, error))
    return NULL;

  group->strategy = g_strdup (request->strategy);
  group->name = g_strdup (request->name);
  group->lifetime = g_strdup (request->lifetime);
  group->layout = request->layout;
  for (unsigned i = 0; i < request->selectors->len; i++)
    g_ptr_array_add (group->selectors, quoit_ray_labels_copy (request->selectors->pdata[i]));
  find_heads (group);
  return g_steal_pointer (&group);
}

const char *
quoit_ray_slice_group_get_topology (const QuoitRaySliceGroup *group)
{
  return group->topology;
}

const char *
quoit_ray_slice_group_get_version (const QuoitRaySliceGroup *group)
{
  return group->version;
}

int64_t
quoit_ray_slice_group_get_n_slices (const QuoitRaySliceGroup *group)
{
  return group->n_slices;
}

int64_t
quoit_ray_slice_group_get_chips_per_host (const QuoitRaySliceGroup *group)
{
  return group->chips_per_host;
}

int64_t
quoit_ray_slice_group_get_devices_per_host (const QuoitRaySliceGroup *group)
{
  return group->devices_per_host;
}

int64_t
quoit_ray_slice_group_get_n_hosts (const QuoitRaySliceGroup *group)
{
  return group->n_hosts;
}

int64_t
quoit_ray_slice_group_get_n_bundles (const QuoitRaySliceGroup *group)
{
  return group->n_bundles;
}

int64_t
quoit_ray_slice_group_get_bundles_per_slice (const QuoitRaySliceGroup *group)
{
  return group->bundles_per_slice;
}

const QuoitRayResources *
quoit_ray_slice_group_get_resources (const QuoitRaySliceGroup *group)
{
  return group->resources;
}

bool
quoit_ray_slice_group_is_single_host (const QuoitRaySliceGroup *group)
{
  return group->is_single_host;
}

const char *
quoit_ray_slice_group_get_strategy (const QuoitRaySliceGroup *group)
{
  return group->strategy;
}

const char *
quoit_ray_slice_group_get_lifetime (const QuoitRaySliceGroup *group)
{
  return group->lifetime;
}

const char *
quoit_ray_slice_group_get_head_resource (const QuoitRaySliceGroup *group)
{
  return group->head_resource;
}

const QuoitRayLabels *
quoit_ray_slice_group_get_head_labels (const QuoitRaySliceGroup *group)
{
  return group->head_labels;
}

int64_t
quoit_ray_slice_group_get_n_heads (const QuoitRaySliceGroup *group)
{
  if (group->is_single_host || group->n_slices < 0)
    return 0;

  return group->selectors->len > 0 ? group->head_slices->len : group->n_slices;
}

int64_t
quoit_ray_slice_group_get_head_slice (const QuoitRaySliceGroup *group, int64_t head)
{
  if (head < 0 || head >= quoit_ray_slice_group_get_n_heads (group))
    return -1;

  return group->selectors->len > 0 ? g_array_index (group->head_slices, int64_t, head) : head;
}

static gboolean
has_head (const QuoitRaySliceGroup *group, int64_t slice)
{
  if (group->is_single_host || slice < 0 || slice >= group->n_slices)
    return FALSE;

  return group->selectors->len == 0 || group->selected_slices->pdata[slice] == NULL;
}

bool
quoit_ray_slice_group_set_slice_name (QuoitRaySliceGroup *group, int64_t slice, const char *name, GError **error)
{
  if (!has_head (group, slice))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slice '%" G_GINT64_FORMAT "': expected one whose head is reserved",
                       (gint64) slice);

  g_hash_table_replace (group->found_slices, g_memdup2 (&slice, sizeof slice), g_strdup (name));
  return TRUE;
}

/* Returns the name of the slice for @slice, or NULL if it is not known yet. */
static const char *
known_slice_name (const QuoitRaySliceGroup *group, int64_t slice)
{
  if (group->is_single_host || slice >= group->n_slices)
    return NULL;

  return has_head (group, slice) ? g_hash_table_lookup (group->found_slices, &slice)
                                 : group->selected_slices->pdata[slice];
}

QuoitRayLabels *
quoit_ray_slice_group_dup_bundle_labels (const QuoitRaySliceGroup *group, int64_t bundle)
{
  QuoitRayLabels *labels;
  const char *slice;

  if (bundle < 0 || bundle >= group->n_bundles)
    return NULL;

  labels = quoit_ray_labels_copy (group->selectors->len > 0 ? group->selectors->pdata[bundle] : NULL);
  slice = known_slice_name (group, bundle / group->bundles_per_slice);
  if (slice != NULL)
    quoit_ray_labels_set (labels, QUOIT_RAY_LABEL_SLICE_NAME, slice);
  return labels;
}

bool
quoit_ray_slice_group_check_layout (const QuoitRaySliceGroup *group, QuoitRaySliceLayout layout, GError **error)
{
  if (group->layout == layout)
    return TRUE;

  return quoit_fail (error, QUOIT_ERROR_INVALID, "placement groups '%s': expected %s",
                     group->layout == QUOIT_RAY_LAYOUT_GROUP_PER_SLICE ? "one for each slice" : "one for all slices",
                     layout == QUOIT_RAY_LAYOUT_GROUP_PER_SLICE ? "one for each slice" : "one for all slices");
}

int64_t
quoit_ray_slice_group_get_n_groups (const QuoitRaySliceGroup *group)
{
  return group->layout == QUOIT_RAY_LAYOUT_GROUP_PER_SLICE ? MAX (0, group->n_slices) : 1;
}

int64_t
quoit_ray_slice_group_get_group_n_bundles (const QuoitRaySliceGroup *group, int64_t index)
{
  if (index < 0 || index >= quoit_ray_slice_group_get_n_groups (group))
    return 0;

  return group->layout == QUOIT_RAY_LAYOUT_GROUP_PER_SLICE ? group->bundles_per_slice : MAX (0, group->n_bundles);
}

char *
quoit_ray_slice_group_dup_group_name (const QuoitRaySliceGroup *group, int64_t index)
{
  if (index < 0 || index >= quoit_ray_slice_group_get_n_groups (group))
    return NULL;
  if (group->layout == QUOIT_RAY_LAYOUT_ONE_GROUP || *group->name == '\0')
    return g_strdup (group->name);

  return g_strdup_printf ("%s_slice_%" G_GINT64_FORMAT, group->name, (gint64) index);
}
