/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes of several granules: create_hybrid_device_mesh() (gke-kuberay-jax 6.3). */
#include <string.h>

#include "base/strings.h"
#include "models/jax/mesh.h"

/* The devices of all granules, grouped by granule. Within a granule they are in list order. */
typedef struct {
  guint32 *members;
  guint32 n;
  guint32 *ends; /* end of each granule in members */
  gint32 *keys;
} Granules;

typedef struct {
  gint32 key;
  guint32 index, first; /* first: index of the first device of the granule */
} Member;

static void
granules_clear (Granules *granules)
{
  g_free (granules->members);
  g_free (granules->ends);
  g_free (granules->keys);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Granules, granules_clear)

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

/* Both sorts are stable. */
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

static gboolean
find_granules (const QuoitDevices *devices, unsigned flags, Granules *granules, GError **error)
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

/* --- parts: each is stored once, because nearly all of up to a million granules are equal --- */

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

/* If the mesh has more axes than the granule, the axes of the granule are the last ones. */
static void
shift_shares (QuoitMeshPart *part, guint n, guint by)
{
  for (guint p = 0; p < part->n_physical && by > 0; p++)
    {
      memmove (&part->shares.of[p][by], &part->shares.of[p][0], n * sizeof part->shares.of[p][0]);
      for (guint l = 0; l < by; l++)
        part->shares.of[p][l] = 1;
    }
}

static guint32
find_part (GHashTable *known, GArray *parts, const QuoitMeshPart *part, guint32 before)
{
  gpointer number;

  if (before < parts->len && part_equal (part, &g_array_index (parts, QuoitMeshPart, before)))
    return before;

  if (!g_hash_table_lookup_extended (known, part, NULL, &number))
    {
      number = GUINT_TO_POINTER (parts->len);
      g_hash_table_insert (known, g_memdup2 (part, sizeof *part), number);
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
} Joined;

static guint32
size_behind (const gint64 *sizes, guint n, guint axis, guint n_axes)
{
  return axis + n < n_axes ? 1 : (guint32) sizes[axis + n - n_axes];
}

static void
join (Joined *joined, const gint64 *sizes, guint n, const gint64 *dcn_sizes, guint n_dcn)
{
  joined->n = MAX (n, n_dcn);
  for (guint l = 0; l < joined->n; l++)
    {
      joined->ici[l] = size_behind (sizes, n, l, joined->n);
      joined->dcn[l] = size_behind (dcn_sizes, n_dcn, l, joined->n);
      joined->sizes[l] = (gint64) joined->ici[l] * joined->dcn[l];
    }
}

/* Computes the place in the mesh of the first device of each granule, and the offsets of the devices within a
 * granule. */
static void
find_places (const Joined *joined, guint32 *granules, guint32 *devices)
{
  guint32 strides[QUOIT_MESH_MOST_AXES], dcn_strides[QUOIT_MESH_MOST_AXES], stride = 1;

  for (guint l = joined->n; l-- > 0; stride *= (guint32) joined->sizes[l])
    {
      strides[l] = stride;
      dcn_strides[l] = stride * joined->ici[l];
    }
  quoit_torus_walk (joined->dcn, dcn_strides, joined->n, granules);
  quoit_torus_walk (joined->ici, strides, joined->n, devices);
}

static QuoitMesh *
join_granules (const QuoitDevices *devices, Granules *granules, const Joined *joined, const gint64 *sizes, guint n,
               unsigned flags, GError **error)
{
  guint32 total = devices->list->len, most = total / granules->n, begin = 0;
  g_autofree guint32 *bases = g_new (guint32, granules->n), *offsets = g_new (guint32, most);
  g_autofree guint32 *places = g_new (guint32, most), *indices = g_new (guint32, total);
  g_autofree guint32 *granule_part = g_new (guint32, granules->n);
  g_autoptr (GHashTable) known = g_hash_table_new_full (part_hash, part_equal, g_free, NULL);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitMeshPart));
  QuoitMeshPart part = { 0 };
  QuoitMesh *mesh;

  find_places (joined, bases, offsets);
  for (guint32 g = 0; g < granules->n; begin = granules->ends[g++])
    {
      QuoitDeviceSet set = { devices, granules->members + begin, granules->ends[g] - begin };

      if (!quoit_mesh_arrange (&set, sizes, n, flags, places, &part, error))
        return g_prefix_error (error, "granule %d: ", granules->keys[g]), NULL;
      for (guint32 i = 0; i < set.n; i++)
        indices[bases[g] + offsets[i]] = set.members[places[i]];
      granule_part[g] = find_part (known, parts, &part, g == 0 ? 0 : granule_part[g - 1]);
    }
  for (guint i = 0; i < parts->len; i++)
    shift_shares (&g_array_index (parts, QuoitMeshPart, i), n, joined->n - n);

  mesh = quoit_mesh_of (devices, joined->sizes, joined->n, g_steal_pointer (&indices), total, NULL);
  memcpy (mesh->dcn_sizes, joined->dcn, sizeof joined->dcn);
  mesh->n_granules = granules->n;
  mesh->keys = g_steal_pointer (&granules->keys);
  mesh->granule_part = g_steal_pointer (&granule_part);
  g_array_append_vals (mesh->parts, parts->data, parts->len);
  return mesh;
}

static gboolean
check_granule_sizes (const Granules *granules, const gint64 *sizes, guint n, GError **error)
{
  for (guint32 g = 0, begin = 0; g < granules->n; begin = granules->ends[g++])
    if (!quoit_mesh_sizes_fit ("mesh shape", sizes, n, granules->ends[g] - begin, "devices", error))
      return g_prefix_error (error, "granule %d: ", granules->keys[g]), FALSE;
  return TRUE;
}

QuoitMesh *
quoit_mesh_new_hybrid (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes, const int64_t *dcn_sizes,
                       unsigned n_dcn_axes, unsigned flags, GError **error)
{
  g_auto (Granules) granules = { 0 };
  Joined joined;

  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0) && (dcn_sizes != NULL || n_dcn_axes == 0),
                        NULL);

  if (!quoit_mesh_flags_check (
          flags, QUOIT_MESH_SPLIT_PHYSICAL_AXES | QUOIT_MESH_PROCESS_GRANULES | QUOIT_MESH_GRANULES_AS_LISTED, error)
      || !quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error)
      || (n_dcn_axes > 0 && !quoit_mesh_sizes_check ("dcn mesh shape", dcn_sizes, n_dcn_axes, error)))
    return NULL;
  if (!find_granules (devices, flags, &granules, error)
      || !quoit_mesh_sizes_fit ("dcn mesh shape", dcn_sizes, n_dcn_axes, granules.n, "granules", error)
      || !check_granule_sizes (&granules, sizes, n_axes, error))
    return NULL;

  join (&joined, sizes, n_axes, dcn_sizes, n_dcn_axes);
  return join_granules (devices, &granules, &joined, sizes, n_axes, flags, error);
}
