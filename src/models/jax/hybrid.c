/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes of several granules: create_hybrid_device_mesh() (gke-kuberay-jax 6.3). */
#include <string.h>

#include "base/strings.h"
#include "models/jax/mesh.h"

/* A device with the key of its granule: the slice index or the process index. */
typedef struct {
  gint32 key;
  guint32 index; /* of the device in the list */
  guint32 first; /* index of the first device of the granule */
} Member;

void
quoit_granules_clear (QuoitGranules *granules)
{
  g_free (granules->members);
  g_free (granules->ends);
  g_free (granules->keys);
}

static gint
by_key (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const Member *x = a, *y = b;

  return (x->key > y->key) - (x->key < y->key);
}

static gint
by_first (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const Member *x = a, *y = b;

  return (x->first > y->first) - (x->first < y->first);
}

static gboolean
read_members (const QuoitDevices *devices, unsigned flags, Member *members, GError **error)
{
  for (guint32 i = 0; i < devices->list->len; i++)
    {
      const QuoitDevice *device = &g_array_index (devices->list, QuoitDevice, i);

      members[i].key = (flags & QUOIT_MESH_PROCESS_GRANULES) != 0 ? device->process : device->slice;
      members[i].index = i;
      if (members[i].key == -1)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "device '%" G_GINT64_FORMAT "' has no slice index: expected one, or processes as granules",
                           device->id);
    }
  return TRUE;
}

/* Sorts by granule: by key, or by the first device of each granule in the list. g_qsort_with_data() is stable. */
static void
sort_members (Member *members, guint32 n, unsigned flags)
{
  g_qsort_with_data (members, (gint) n, sizeof *members, by_key, NULL);
  if ((flags & QUOIT_MESH_GRANULES_AS_LISTED) == 0)
    return;
  for (guint32 i = 0; i < n; i++)
    members[i].first = i > 0 && members[i].key == members[i - 1].key ? members[i - 1].first : members[i].index;
  g_qsort_with_data (members, (gint) n, sizeof *members, by_first, NULL);
}

gboolean
quoit_granules_find (const QuoitDevices *devices, unsigned flags, QuoitGranules *granules, GError **error)
{
  guint32 n = devices->list->len;
  g_autofree Member *members = g_new (Member, n);

  if (!read_members (devices, flags, members, error))
    return FALSE;

  sort_members (members, n, flags);
  granules->members = g_new (guint32, n);
  granules->ends = g_new (guint32, n);
  granules->keys = g_new (gint32, n);
  for (guint32 i = 0; i < n; i++)
    {
      if (i == 0 || members[i].key != members[i - 1].key)
        granules->keys[granules->n++] = members[i].key;
      granules->members[i] = members[i].index;
      granules->ends[granules->n - 1] = i + 1;
    }
  return TRUE;
}

/* --- parts of a mesh --- */

/* Equal parts are stored once, because a mesh can have a million granules, and most of them are equal. */

static guint
part_hash (gconstpointer part)
{
  return (guint) quoit_hash_bytes (part, sizeof (QuoitMeshPart));
}

static gboolean
part_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (QuoitMeshPart)) == 0;
}

/* If the mesh has @by more axes than the granule, the axes of the granule are the last ones. */
static void
shift_shares (QuoitMeshPart *part, guint n, guint by)
{
  for (guint p = 0; p < part->n_physical && by > 0; p++)
    {
      memmove (&part->shares.sizes[p][by], &part->shares.sizes[p][0], n * sizeof part->shares.sizes[p][0]);
      for (guint l = 0; l < by; l++)
        part->shares.sizes[p][l] = 1;
    }
}

static guint32
find_or_add_part (GHashTable *parts_by_value, GArray *parts, const QuoitMeshPart *part, guint32 previous)
{
  gpointer number;

  if (previous < parts->len && part_equal (part, &g_array_index (parts, QuoitMeshPart, previous)))
    return previous;

  if (!g_hash_table_lookup_extended (parts_by_value, part, NULL, &number))
    {
      number = GUINT_TO_POINTER (parts->len);
      g_hash_table_insert (parts_by_value, g_memdup2 (part, sizeof *part), number);
      g_array_append_vals (parts, part, 1);
    }
  return GPOINTER_TO_UINT (number);
}

/* --- joining --- */

/* The shapes of a granule and of the grid of granules, extended to the same number of axes, and the shape of the
 * mesh. */
typedef struct {
  guint n;
  guint32 ici[QUOIT_MESH_MOST_AXES], dcn[QUOIT_MESH_MOST_AXES];
  gint64 sizes[QUOIT_MESH_MOST_AXES];
} HybridShape;

static guint32
padded_size (const gint64 *sizes, guint n, guint axis, guint n_axes)
{
  return axis + n < n_axes ? 1 : (guint32) sizes[axis + n - n_axes];
}

static void
init_hybrid_shape (HybridShape *hybrid, const gint64 *sizes, guint n, const gint64 *dcn_sizes, guint n_dcn)
{
  hybrid->n = MAX (n, n_dcn);
  for (guint l = 0; l < hybrid->n; l++)
    {
      hybrid->ici[l] = padded_size (sizes, n, l, hybrid->n);
      hybrid->dcn[l] = padded_size (dcn_sizes, n_dcn, l, hybrid->n);
      hybrid->sizes[l] = (gint64) hybrid->ici[l] * hybrid->dcn[l];
    }
}

/* Computes the index in the mesh of the first device of each granule, and the offset from it of each device of a
 * granule. */
static void
compute_offsets (const HybridShape *hybrid, guint32 *granules, guint32 *devices)
{
  guint32 strides[QUOIT_MESH_MOST_AXES], dcn_strides[QUOIT_MESH_MOST_AXES], stride = 1;

  for (guint l = hybrid->n; l-- > 0; stride *= (guint32) hybrid->sizes[l])
    {
      strides[l] = stride;
      dcn_strides[l] = stride * hybrid->ici[l];
    }
  quoit_strided_offsets (hybrid->dcn, dcn_strides, hybrid->n, granules);
  quoit_strided_offsets (hybrid->ici, strides, hybrid->n, devices);
}

static QuoitMesh *
build_mesh (const QuoitDevices *devices, QuoitGranules *granules, const HybridShape *hybrid, const gint64 *sizes,
            guint n, unsigned flags, GError **error)
{
  guint32 total = devices->list->len, most = total / granules->n, begin = 0;
  g_autofree guint32 *bases = g_new (guint32, granules->n), *offsets = g_new (guint32, most);
  g_autofree guint32 *places = g_new (guint32, most), *indices = g_new (guint32, total);
  g_autofree guint32 *granule_part = g_new (guint32, granules->n);
  g_autoptr (GHashTable) parts_by_value = g_hash_table_new_full (part_hash, part_equal, g_free, NULL);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitMeshPart));
  QuoitMeshPart part = { 0 };
  QuoitMesh *mesh;

  compute_offsets (hybrid, bases, offsets);
  for (guint32 g = 0; g < granules->n; begin = granules->ends[g++])
    {
      QuoitDeviceSet set = { devices, granules->members + begin, granules->ends[g] - begin };

      if (!quoit_mesh_arrange (&set, sizes, n, flags, places, &part, error))
        return g_prefix_error (error, "granule %d: ", granules->keys[g]), NULL;
      for (guint32 i = 0; i < set.n; i++)
        indices[bases[g] + offsets[i]] = set.members[places[i]];
      granule_part[g] = find_or_add_part (parts_by_value, parts, &part, g == 0 ? 0 : granule_part[g - 1]);
    }
  for (guint i = 0; i < parts->len; i++)
    shift_shares (&g_array_index (parts, QuoitMeshPart, i), n, hybrid->n - n);

  mesh = quoit_mesh_new_from_indices (devices, hybrid->sizes, hybrid->n, g_steal_pointer (&indices), total, NULL);
  memcpy (mesh->dcn_sizes, hybrid->dcn, sizeof hybrid->dcn);
  mesh->n_granules = granules->n;
  mesh->keys = g_steal_pointer (&granules->keys);
  mesh->granule_part = g_steal_pointer (&granule_part);
  g_array_append_vals (mesh->parts, parts->data, parts->len);
  return mesh;
}

static gboolean
check_granule_sizes (const QuoitGranules *granules, const gint64 *sizes, guint n, GError **error)
{
  for (guint32 g = 0, begin = 0; g < granules->n; begin = granules->ends[g++])
    if (!quoit_mesh_sizes_fit ("mesh shape", sizes, n, granules->ends[g] - begin, "devices", error))
      return g_prefix_error (error, "granule %d: ", granules->keys[g]), FALSE;
  return TRUE;
}

QuoitMesh *
quoit_mesh_new_hybrid (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes, const int64_t *dcn_sizes,
                       uint32_t n_dcn_axes, uint32_t flags, GError **error)
{
  g_auto (QuoitGranules) granules = { 0 };
  HybridShape hybrid;

  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0) && (dcn_sizes != NULL || n_dcn_axes == 0),
                        NULL);

  if (!quoit_mesh_flags_check (
          flags, QUOIT_MESH_SPLIT_PHYSICAL_AXES | QUOIT_MESH_PROCESS_GRANULES | QUOIT_MESH_GRANULES_AS_LISTED, error)
      || !quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error)
      || (n_dcn_axes > 0 && !quoit_mesh_sizes_check ("dcn mesh shape", dcn_sizes, n_dcn_axes, error)))
    return NULL;
  if (!quoit_granules_find (devices, flags, &granules, error)
      || !quoit_mesh_sizes_fit ("dcn mesh shape", dcn_sizes, n_dcn_axes, granules.n, "granules", error)
      || !check_granule_sizes (&granules, sizes, n_axes, error))
    return NULL;

  init_hybrid_shape (&hybrid, sizes, n_axes, dcn_sizes, n_dcn_axes);
  return build_mesh (devices, &granules, &hybrid, sizes, n_axes, flags, error);
}
