/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the slices of one topology in a node list, as Ray counts them. Also counts those that are really usable,
 * because Ray includes some that are not. */
#include "models/ray/nodes.h"

#include <string.h>

#include "base/python.h"
#include "models/ray/ray.h"

typedef struct {
  const QuoitRayNodes *nodes;
  char *pod_type, *topology;
  long double tpu; /* TPU of a slice; Ray compares integers, and long double has all 64 bits of them */
} CountedShape;

/* Returns a text that identifies the slice of the node @node, or NULL if the node is not counted. The text belongs to
 * the node list. */
typedef const char *(*SliceKeyFunc) (const CountedShape *shape, unsigned node);
/* Returns whether the slice is counted. @members has the indices of the rows of its nodes. */
typedef gboolean (*SliceTestFunc) (const CountedShape *shape, const GArray *members);

static unsigned
member_row (const GArray *members, unsigned i)
{
  return g_array_index (members, unsigned, i);
}

static void
clear_counted_shape (CountedShape *shape)
{
  g_free (shape->pod_type);
  g_free (shape->topology);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CountedShape, clear_counted_shape)

/* Returns FALSE if Ray would find no slice with these arguments, whatever the node list is. */
static gboolean
read_counted_shape (CountedShape *shape, const char *topology, const char *type, const int64_t *resource_per_chip)
{
  g_autoptr (QuoitBig) chips = NULL, factor = quoit_big_from_int (resource_per_chip != NULL ? *resource_per_chip : 1),
                       tpu = NULL;
  int64_t exact;

  shape->pod_type = quoit_ray_pod_type (topology, type, NULL);
  if (shape->pod_type == NULL)
    return FALSE;

  shape->topology = quoit_python_strip_and_lower (topology);
  chips = quoit_ray_topology_chips (topology, NULL);
  tpu = quoit_big_multiply (chips, factor);
  shape->tpu = quoit_big_to_int (tpu, &exact) ? (long double) exact : (long double) quoit_big_to_double (tpu);
  return quoit_big_sign (tpu) > 0;
}

static gboolean
has_all_chips_of_slice (const CountedShape *shape, unsigned node)
{
  return shape->tpu <= (long double) quoit_ray_nodes_total_tpu (shape->nodes, node);
}

/* In Ray, a node with all chips of a slice is always a slice by itself, whatever its labels are. */
static const char *
ray_slice_key (const CountedShape *shape, unsigned node)
{
  return has_all_chips_of_slice (shape, node) ? quoit_ray_nodes_get_id (shape->nodes, node)
                                              : quoit_ray_nodes_get_slice_name (shape->nodes, node);
}

/* In fact, nodes with the same slice name are in one slice, even if one of them has all chips. */
static const char *
real_slice_key (const CountedShape *shape, unsigned node)
{
  const char *name = quoit_ray_nodes_get_slice_name (shape->nodes, node);

  if (name != NULL && *name != '\0')
    return name;
  return has_all_chips_of_slice (shape, node) ? quoit_ray_nodes_get_id (shape->nodes, node) : NULL;
}

static gboolean
has_all_chips (const CountedShape *shape, const GArray *members)
{
  double sum = 0;

  for (unsigned i = 0; i < members->len; i++)
    sum += quoit_ray_nodes_total_tpu (shape->nodes, member_row (members, i));
  return (long double) sum == shape->tpu;
}

/* Ray regards a slice as intact if it has all chips and a worker 0. A single node needs no worker id. */
static gboolean
is_intact (const CountedShape *shape, const GArray *members)
{
  gboolean has_head = members->len == 1;

  for (unsigned i = 0; i < members->len && !has_head; i++)
    has_head = g_strcmp0 (quoit_ray_nodes_label (shape->nodes, member_row (members, i), QUOIT_RAY_LABEL_WORKER_ID), "0")
               == 0;

  return has_head && has_all_chips (shape, members);
}

/* Ray regards a slice as ready if all nodes are idle too. */
static gboolean
is_ready (const CountedShape *shape, const GArray *members)
{
  if (!is_intact (shape, members))
    return FALSE;

  for (unsigned i = 0; i < members->len; i++)
    if (!quoit_ray_nodes_counts_as_idle (shape->nodes, member_row (members, i)))
      return FALSE;
  return TRUE;
}

/* Returns whether each worker id from 0 on occurs exactly once. A slice of a single host needs no worker id. */
static gboolean
has_all_workers (const CountedShape *shape, const GArray *members)
{
  g_autofree guint8 *seen = g_malloc0 (members->len);

  for (unsigned i = 0; members->len > 1 && i < members->len; i++)
    {
      const char *text = quoit_ray_nodes_label (shape->nodes, member_row (members, i), QUOIT_RAY_LABEL_WORKER_ID);
      guint64 id;

      if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 0, members->len - 1, &id, NULL) || seen[id])
        return FALSE;
      seen[id] = TRUE;
    }
  return TRUE;
}

static gboolean
is_host_free (const CountedShape *shape, unsigned node)
{
  const double *available = quoit_ray_nodes_available (shape->nodes, node, "TPU");
  const char *label = quoit_ray_nodes_label (shape->nodes, node, QUOIT_RAY_LABEL_TOPOLOGY);
  g_autofree char *topology = label != NULL ? quoit_python_strip_and_lower (label) : NULL;

  return (topology == NULL || strcmp (topology, shape->topology) == 0) && available != NULL
         && *available >= quoit_ray_nodes_total_tpu (shape->nodes, node);
}

static gboolean
is_free (const CountedShape *shape, const GArray *members)
{
  if (!has_all_chips (shape, members) || !has_all_workers (shape, members))
    return FALSE;

  for (unsigned i = 0; i < members->len; i++)
    if (!is_host_free (shape, member_row (members, i)))
      return FALSE;
  return TRUE;
}

/* Returns a map from slice key to the array of row indices. The keys belong to the node list. */
static GHashTable *
group_by_slice (const CountedShape *shape, SliceKeyFunc get_key)
{
  GHashTable *slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);

  for (unsigned i = 0; i < quoit_ray_nodes_get_n (shape->nodes); i++)
    {
      const char *key;
      GArray *members;

      if (!quoit_ray_nodes_is_alive (shape->nodes, i)
          || g_strcmp0 (quoit_ray_nodes_label (shape->nodes, i, QUOIT_RAY_LABEL_POD_TYPE), shape->pod_type) != 0)
        continue;
      key = get_key (shape, i);
      if (key == NULL || *key == '\0')
        continue;
      members = g_hash_table_lookup (slices, key);
      if (members == NULL)
        {
          members = g_array_new (FALSE, FALSE, sizeof (unsigned));
          g_hash_table_insert (slices, (gpointer) key, members);
        }
      g_array_append_val (members, i);
    }
  return slices;
}

static unsigned
count (const QuoitRayNodes *nodes, const char *topology, const char *type, const int64_t *resource_per_chip,
       SliceKeyFunc get_key, SliceTestFunc is_counted)
{
  g_auto (CountedShape) shape = { nodes, NULL, NULL, 0 };
  g_autoptr (GHashTable) slices = NULL;
  GHashTableIter iter;
  gpointer members;
  unsigned n = 0;

  if (!read_counted_shape (&shape, topology, type, resource_per_chip))
    return 0;

  slices = group_by_slice (&shape, get_key);
  g_hash_table_iter_init (&iter, slices);
  while (g_hash_table_iter_next (&iter, NULL, &members))
    n += is_counted (&shape, members) ? 1 : 0;
  return n;
}

uint32_t
quoit_ray_count_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                        const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, ray_slice_key, is_intact);
}

uint32_t
quoit_ray_count_ready_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                              const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, ray_slice_key, is_ready);
}

uint32_t
quoit_ray_count_free_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                             const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, real_slice_key, is_free);
}
