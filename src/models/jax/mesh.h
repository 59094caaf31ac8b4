/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in the order of JAX's meshes: what the files about it share. Pure. */
#pragma once

#include <quoit/models/mesh.h>

#include "catalogue/catalogue.h"
#include "models/jax/torus.h"

typedef struct _QuoitDeviceSet QuoitDeviceSet;

/* The ring that JAX has for just these devices: @places of @set in its order, and an @order that is not TORUS. Both are
 * untouched where it has none. */
typedef gboolean (*QuoitRing) (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                               QuoitMeshOrder *order, GError **error);

/* When the cores of a chip are an axis of the torus; else a chip is one device. */
typedef enum { QUOIT_CORES_NONE = 0, QUOIT_CORES_IF_TWO, QUOIT_CORES_ALWAYS } QuoitCores;

typedef struct {
  const char *name; /* device_kind */
  QuoitRing ring;   /* NULL: none */
  QuoitCores cores;
  gboolean core_first;  /* the cores have the most bandwidth */
  gboolean make_splits; /* make_mesh() splits physical axes */
  guint8 devices_per_chip;
  QuoitGeneration generation; /* both 0 where the catalogue has no generation of it */
} QuoitDeviceKind;

/* JAX's own name, or anybody's name of a generation. INVALID names the known ones. */
gboolean quoit_device_kind_lookup (const char *name, QuoitDeviceKind *kind, GError **error);

typedef struct {
  gint64 id;
  gint32 at[3];
  gint32 core, process, slice;
} QuoitDevice;

struct _QuoitDevices {
  QuoitDeviceKind kind;
  QuoitShape shape; /* of the slices; no dimensions: not known */
  unsigned wrap;    /* the axes of the shape whose ends are joined: bit 0 for x */
  GArray *list;     /* of QuoitDevice */
};

/* Of a list that is full: what each of its slices is. */
void quoit_devices_set_torus (QuoitDevices *devices, QuoitShape shape, unsigned wrap);

/* Some of a list, in an order: those of a granule, or all. */
struct _QuoitDeviceSet {
  const QuoitDevices *devices;
  const guint32 *members;
  guint32 n;
};

static inline const QuoitDevice *
quoit_device_set_at (const QuoitDeviceSet *set, guint32 index)
{
  return &g_array_index (set->devices->list, QuoitDevice, set->members[index]);
}

/* How the devices of one granule came into their order. */
typedef struct {
  QuoitMeshOrder order;
  guint32 n_physical;
  guint32 sizes[QUOIT_TORUS_MOST_AXES]; /* of the physical axes; and which they are */
  guint8 axes[QUOIT_TORUS_MOST_AXES];
  QuoitTorusShares shares;
} QuoitMeshPart;

struct _QuoitMesh {
  guint n_axes;
  guint32 sizes[QUOIT_MESH_MOST_AXES], dcn_sizes[QUOIT_MESH_MOST_AXES];
  guint32 n_devices, n_granules;
  guint32 *indices;
  gint64 *ids;
  gint32 *keys;          /* of the granules; NULL: not hybrid */
  GArray *parts;         /* of QuoitMeshPart: each once */
  guint32 *granule_part; /* NULL: all have the first */
};

/* --- sizes --- */

/* "2,8", as axes are written. */
char *quoit_mesh_sizes_format (const gint64 *sizes, guint n);
/* INVALID unless there are 1 to 64 positive @sizes; @what is what they are called. */
gboolean quoit_mesh_sizes_check (const char *what, const gint64 *sizes, guint n, GError **error);
/* Saturates. */
guint64 quoit_mesh_sizes_product (const gint64 *sizes, guint n);
/* INVALID unless @sizes multiply to @count: "devices", "granules". Names the nearest that do. */
gboolean quoit_mesh_sizes_fit (const char *what, const gint64 *sizes, guint n, guint32 count, const char *counted,
                               GError **error);

/* --- one granule --- */

gboolean quoit_ring_tray (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                          QuoitMeshOrder *order, GError **error);
gboolean quoit_ring_four (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                          QuoitMeshOrder *order, GError **error);
gboolean quoit_ring_flat (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                          QuoitMeshOrder *order, GError **error);
gboolean quoit_ring_cube (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                          QuoitMeshOrder *order, GError **error);
gboolean quoit_ring_stacks (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                            QuoitMeshOrder *order, GError **error);
/* The torus of the devices, and which of @set is at each of its places. INVALID where they are no box without holes. */
gboolean quoit_mesh_physical (const QuoitDeviceSet *set, QuoitTorus *torus, guint32 *cells, GError **error);
/* Exchanges axes so that the devices of a process stay together. INVALID where JAX has no way to do so. */
gboolean quoit_mesh_make_contiguous (QuoitTorus *torus, const gint64 *sizes, guint n, GError **error);
/* Deals @torus out; flags as those of the mesh. INVALID where there is no way: the message has sizes that can be had.
 */
gboolean quoit_mesh_deal (const QuoitTorus *torus, const gint64 *sizes, guint n, unsigned flags, QuoitMeshPart *part,
                          GError **error);
/* "x", "y", "z", "core". */
const char *quoit_mesh_axis_name (guint8 axis);
/* create_device_mesh(): @places of @set in the order of the mesh. @sizes were checked; @part as for dealing. */
gboolean quoit_mesh_arrange (const QuoitDeviceSet *set, const gint64 *sizes, guint n, unsigned flags, guint32 *places,
                             QuoitMeshPart *part, GError **error);

/* INVALID for bits that are not in @allowed. */
gboolean quoit_mesh_flags_check (unsigned flags, unsigned allowed, GError **error);

/* --- the mesh --- */

/* Of one granule: takes @indices, of @devices or (NULL) of places. */
QuoitMesh *quoit_mesh_of (const QuoitDevices *devices, const gint64 *sizes, guint n, guint32 *indices, guint32 count,
                          const QuoitMeshPart *part);
