/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the slices of a shape in a node list: as Ray counts them, and those that are really usable. */
#include "models/ray/nodes.h"

#include <string.h>

#include "base/python.h"
#include "models/ray/ray.h"

typedef struct {
  const QuoitRayNodes *nodes;
  char *pod_type, *topology;
  long double tpu; /* of a slice; long double keeps 64 bits exactly, because Ray compares integers */
} Wanted;

/* Returns the key under which a node of the pod type is grouped: one per slice, or one per node. NULL: the node does
 * not count. The text is borrowed. */
typedef const char *(*KeyFunc) (const Wanted *wanted, unsigned node);
/* Returns whether the slice counts. @members has the indices of its rows. */
typedef gboolean (*MembersFunc) (const Wanted *wanted, const GArray *members);

static unsigned
member (const GArray *members, unsigned i)
{
  return g_array_index (members, unsigned, i);
}

static void
clear_wanted (Wanted *wanted)
{
  g_free (wanted->pod_type);
  g_free (wanted->topology);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Wanted, clear_wanted)

/* FALSE if Ray finds no slice in any node list. */
static gboolean
read_wanted (Wanted *wanted, const char *topology, const char *type, const int64_t *resource_per_chip)
{
  g_autoptr (QuoitBig) chips = NULL, factor = quoit_big_from_int (resource_per_chip != NULL ? *resource_per_chip : 1),
                       tpu = NULL;
  int64_t exact;

  wanted->pod_type = quoit_ray_pod_type (topology, type, NULL);
  if (wanted->pod_type == NULL)
    return FALSE;

  wanted->topology = quoit_python_strip_and_lower (topology);
  chips = quoit_ray_chips (topology, NULL);
  tpu = quoit_big_multiply (chips, factor);
  wanted->tpu = quoit_big_to_int (tpu, &exact) ? (long double) exact : (long double) quoit_big_to_double (tpu);
  return quoit_big_sign (tpu) > 0;
}

static gboolean
has_all_alone (const Wanted *wanted, unsigned node)
{
  return wanted->tpu <= (long double) quoit_ray_nodes_total_tpu (wanted->nodes, node);
}

static const char *
key_of_ray (const Wanted *wanted, unsigned node)
{
  return has_all_alone (wanted, node) ? quoit_ray_nodes_get_id (wanted->nodes, node)
                                      : quoit_ray_nodes_get_slice_name (wanted->nodes, node);
}

static const char *
key_of_truth (const Wanted *wanted, unsigned node)
{
  const char *name = quoit_ray_nodes_get_slice_name (wanted->nodes, node);

  if (name != NULL && *name != '\0')
    return name;
  return has_all_alone (wanted, node) ? quoit_ray_nodes_get_id (wanted->nodes, node) : NULL;
}

static gboolean
has_all_chips (const Wanted *wanted, const GArray *members)
{
  double sum = 0;

  for (unsigned i = 0; i < members->len; i++)
    sum += quoit_ray_nodes_total_tpu (wanted->nodes, member (members, i));
  return (long double) sum == wanted->tpu;
}

static gboolean
is_intact (const Wanted *wanted, const GArray *members)
{
  gboolean has_head = members->len == 1;

  for (unsigned i = 0; i < members->len && !has_head; i++)
    has_head
        = g_strcmp0 (quoit_ray_nodes_label (wanted->nodes, member (members, i), QUOIT_RAY_LABEL_WORKER_ID), "0") == 0;

  return has_head && has_all_chips (wanted, members);
}

static gboolean
is_ready (const Wanted *wanted, const GArray *members)
{
  if (!is_intact (wanted, members))
    return FALSE;

  for (unsigned i = 0; i < members->len; i++)
    if (!quoit_ray_nodes_looks_idle (wanted->nodes, member (members, i)))
      return FALSE;
  return TRUE;
}

/* Returns whether each worker id from 0 on occurs exactly once. A single-host slice does not need an id. */
static gboolean
are_workers_complete (const Wanted *wanted, const GArray *members)
{
  g_autofree guint8 *seen = g_malloc0 (members->len);

  for (unsigned i = 0; members->len > 1 && i < members->len; i++)
    {
      const char *text = quoit_ray_nodes_label (wanted->nodes, member (members, i), QUOIT_RAY_LABEL_WORKER_ID);
      guint64 id;

      if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 0, members->len - 1, &id, NULL) || seen[id])
        return FALSE;
      seen[id] = TRUE;
    }
  return TRUE;
}

static gboolean
is_host_free (const Wanted *wanted, unsigned node)
{
  const double *available = quoit_ray_nodes_available (wanted->nodes, node, "TPU");
  const char *label = quoit_ray_nodes_label (wanted->nodes, node, QUOIT_RAY_LABEL_TOPOLOGY);
  g_autofree char *topology = label != NULL ? quoit_python_strip_and_lower (label) : NULL;

  return (topology == NULL || strcmp (topology, wanted->topology) == 0) && available != NULL
         && *available >= quoit_ray_nodes_total_tpu (wanted->nodes, node);
}

static gboolean
is_free (const Wanted *wanted, const GArray *members)
{
  if (!has_all_chips (wanted, members) || !are_workers_complete (wanted, members))
    return FALSE;

  for (unsigned i = 0; i < members->len; i++)
    if (!is_host_free (wanted, member (members, i)))
      return FALSE;
  return TRUE;
}

/* Returns a table: key (borrowed) -> array of row indices. */
static GHashTable *
gather (const Wanted *wanted, KeyFunc key_of)
{
  GHashTable *slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);

  for (unsigned i = 0; i < quoit_ray_nodes_get_n (wanted->nodes); i++)
    {
      const char *key;
      GArray *members;

      if (!quoit_ray_nodes_is_alive (wanted->nodes, i)
          || g_strcmp0 (quoit_ray_nodes_label (wanted->nodes, i, QUOIT_RAY_LABEL_POD_TYPE), wanted->pod_type) != 0)
        continue;
      key = key_of (wanted, i);
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
       KeyFunc key_of, MembersFunc counts)
{
  g_auto (Wanted) wanted = { nodes, NULL, NULL, 0 };
  g_autoptr (GHashTable) slices = NULL;
  GHashTableIter iter;
  gpointer members;
  unsigned n = 0;

  if (!read_wanted (&wanted, topology, type, resource_per_chip))
    return 0;

  slices = gather (&wanted, key_of);
  g_hash_table_iter_init (&iter, slices);
  while (g_hash_table_iter_next (&iter, NULL, &members))
    n += counts (&wanted, members) ? 1 : 0;
  return n;
}

unsigned
quoit_ray_count_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                        const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, key_of_ray, is_intact);
}

unsigned
quoit_ray_count_ready_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                              const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, key_of_ray, is_ready);
}

unsigned
quoit_ray_count_free_slices (const QuoitRayNodes *nodes, const char *topology, const char *accelerator_type,
                             const int64_t *resource_per_chip)
{
  return count (nodes, topology, accelerator_type, resource_per_chip, key_of_truth, is_free);
}
