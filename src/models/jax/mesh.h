/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices, and the meshes that JAX makes from them. Pure functions. */
#pragma once

#include <quoit/models/mesh.h>

#include "catalogue/catalogue.h"
#include "models/jax/torus.h"

typedef struct _QuoitDeviceSet QuoitDeviceSet;

/* Orders the devices as one of JAX's rings, if a ring applies to them: fills @places with indices into @set, and sets
 * @order to a value other than TORUS. Otherwise changes neither of them and returns TRUE. */
typedef gboolean (*QuoitRing) (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                               QuoitMeshOrder *order, GError **error);

/* When the cores of a chip are an axis of the torus: never, with two cores per chip, or always. */
typedef enum { QUOIT_CORES_NONE = 0, QUOIT_CORES_IF_TWO, QUOIT_CORES_ALWAYS } QuoitCores;

/* A kind of device, and the rules that JAX has for it. */
typedef struct {
  const char *name; /* device_kind */
  QuoitRing ring;   /* NULL: none */
  QuoitCores cores;
  gboolean core_first;       /* the cores have the most bandwidth */
  gboolean make_mesh_splits; /* make_mesh() may split physical axes */
  guint8 devices_per_chip;
  QuoitGeneration generation; /* this and devices_per_chip are 0 if the catalogue does not have the kind */
} QuoitDeviceKind;

/* Finds a kind by JAX's name, or by any name of a generation. The INVALID message lists the known names. */
gboolean quoit_device_kind_lookup (const char *name, QuoitDeviceKind *kind, GError **error);

/* A device as JAX lists it. */
typedef struct {
  gint64 id;
  gint32 at[3]; /* coordinates */
  gint32 core, process, slice;
} QuoitDevice;

struct _QuoitDevices {
  QuoitDeviceKind kind;
  QuoitShape shape; /* of the slices; no dimensions: unknown */
  unsigned wrap;    /* axes of the shape whose ends are connected: bit 0 for x */
  GArray *tori;     /* of QuoitDeviceTorus, by slice id; NULL: all slices have @shape and @wrap */
  GArray *list;     /* of QuoitDevice */
};

/* The shape of one slice. Parts of slices can be turned, so that those of one job have different shapes. */
typedef struct {
  QuoitShape shape;
  unsigned wrap;
} QuoitDeviceTorus;

/* Sets the shape and wrap axes of the slices of a complete list. */
void quoit_devices_set_torus (QuoitDevices *devices, QuoitShape shape, unsigned wrap);
/* Sets those of one slice, which must be in the list. */
void quoit_devices_set_slice_torus (QuoitDevices *devices, gint32 slice, QuoitShape shape, unsigned wrap);
QuoitDeviceTorus quoit_devices_torus (const QuoitDevices *devices, gint32 slice);

/* An ordered subset of a list: the devices of a granule, or all devices. */
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

/* How JAX ordered the devices of one granule. */
typedef struct {
  QuoitMeshOrder order;
  guint32 n_physical;
  guint32 sizes[QUOIT_TORUS_MOST_AXES]; /* of the physical axes */
  guint8 axes[QUOIT_TORUS_MOST_AXES];   /* which axis each physical axis is, such as QUOIT_TORUS_X */
  QuoitTorusShares shares;
} QuoitMeshPart;

struct _QuoitMesh {
  guint n_axes;
  guint32 sizes[QUOIT_MESH_MOST_AXES], dcn_sizes[QUOIT_MESH_MOST_AXES];
  guint32 n_devices, n_granules;
  guint32 *indices;
  gint64 *ids;
  gint32 *keys;          /* of the granules; NULL: not hybrid */
  GArray *parts;         /* of QuoitMeshPart, without duplicates */
  guint32 *granule_part; /* part of each granule; NULL: all granules have the first part */
};

/* --- granules --- */

/* The devices of all granules, granule by granule. Within a granule they are in list order. A granule is what JAX calls
 * the devices that a fast network connects: a slice, or the devices of a process. */
typedef struct {
  guint32 *members;
  guint32 n;
  guint32 *ends; /* end of each granule in members */
  gint32 *keys;
} QuoitGranules;

/* Finds the granules in the order that the @flags of a mesh give. INVALID if a device has no slice index. */
gboolean quoit_granules_find (const QuoitDevices *devices, unsigned flags, QuoitGranules *granules, GError **error);
void quoit_granules_clear (QuoitGranules *granules);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitGranules, quoit_granules_clear)

/* --- sizes --- */

/* Returns the sizes in the form "2,8"; free it with g_free(). */
char *quoit_mesh_sizes_format (const gint64 *sizes, guint n);
/* INVALID unless there are 1 to 64 positive @sizes. @what names them in messages. */
gboolean quoit_mesh_sizes_check (const char *what, const gint64 *sizes, guint n, GError **error);
/* Returns the product, or G_MAXUINT64 if it overflows. */
guint64 quoit_mesh_sizes_product (const gint64 *sizes, guint n);
/* INVALID unless @sizes multiply to @count. @counted names the counted things: "devices", "granules". The message
 * has the nearest sizes that fit. */
gboolean quoit_mesh_sizes_fit (const char *what, const gint64 *sizes, guint n, guint32 count, const char *counted,
                               GError **error);

/* --- one granule --- */

/* The rings of the kinds of devices; each is a QuoitRing. */

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
/* Calls the ring of the kind of the devices, if it has one. Sets @order to TORUS if no ring applies. */
gboolean quoit_mesh_order_ring (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places,
                                QuoitMeshOrder *order, GError **error);
/* Finds the torus of the devices, and fills @cells with the device of @set at each place. INVALID if the devices do
 * not form a box without holes. */
gboolean quoit_mesh_physical (const QuoitDeviceSet *set, QuoitTorus *torus, guint32 *cells, GError **error);
/* Reorders axes so that the devices of a process stay together. INVALID if JAX does not support it for these shapes. */
gboolean quoit_mesh_make_contiguous (QuoitTorus *torus, const gint64 *sizes, guint n, GError **error);
/* Assigns @torus to the axes of the mesh; @flags are those of the mesh. INVALID if that is impossible; the message
 * has possible sizes. */
gboolean quoit_mesh_assign_axes (const QuoitTorus *torus, const gint64 *sizes, guint n, unsigned flags,
                                 QuoitMeshPart *part, GError **error);
/* Returns "x", "y", "z", "core", or a number. */
const char *quoit_mesh_axis_name (guint8 axis);
/* Models create_device_mesh(): fills @places with indices into @set in the order of the mesh. @sizes must have passed
 * quoit_mesh_sizes_check(). @part is as for quoit_mesh_assign_axes(). */
gboolean quoit_mesh_arrange (const QuoitDeviceSet *set, const gint64 *sizes, guint n, unsigned flags, guint32 *places,
                             QuoitMeshPart *part, GError **error);

/* INVALID if @flags has bits that are not in @allowed. */
gboolean quoit_mesh_flags_check (unsigned flags, unsigned allowed, GError **error);

/* --- mesh --- */

/* Makes a mesh of one granule and takes ownership of @indices. The indices refer to @devices, or to places of a
 * torus if @devices is NULL. */
QuoitMesh *quoit_mesh_new_from_indices (const QuoitDevices *devices, const gint64 *sizes, guint n, guint32 *indices,
                                        guint32 count, const QuoitMeshPart *part);
