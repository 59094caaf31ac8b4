/* SPDX-License-Identifier: Apache-2.0 */
/* JAX's rules that assign the physical axes of a torus to the axes of a mesh. They use sizes only, not devices. Pure
 * functions. A place is the row-major index of a position in the torus. */
#pragma once

#include <glib.h>

enum { QUOIT_TORUS_MOST_AXES = 8, QUOIT_MESH_MOST_AXES = 64, QUOIT_MESH_MOST_DEVICES = 1 << 22 };

/* The physical axes of devices. The axes of a torus that is made of sizes only, without devices, are numbered from 0.
 */
enum { QUOIT_TORUS_X = 0, QUOIT_TORUS_Y, QUOIT_TORUS_Z, QUOIT_TORUS_CORE };

/* The grid of the devices of a slice, or of a part of it. */
typedef struct {
  guint n_axes;
  guint32 sizes[QUOIT_TORUS_MOST_AXES]; /* the product is at most QUOIT_MESH_MOST_DEVICES */
  guint32 strides[QUOIT_TORUS_MOST_AXES];
  guint8 axes[QUOIT_TORUS_MOST_AXES]; /* which axis each one is, such as QUOIT_TORUS_X */
  gboolean core_first;                /* the cores have the most bandwidth: 7x */
} QuoitTorus;

/* sizes[p][l] is the size of the part of physical axis p that belongs to mesh axis l; 1: nothing. */
typedef struct {
  guint32 sizes[QUOIT_TORUS_MOST_AXES][QUOIT_MESH_MOST_AXES];
} QuoitTorusShares;

/* Why an assignment failed: the mesh axis that no product of the remaining physical axes gives. */
typedef struct {
  guint axis;
  guint32 remaining[QUOIT_TORUS_MOST_AXES]; /* sizes of the physical axes; 0: assigned */
} QuoitTorusMismatch;

/* Returns a torus with row-major places. The product of @sizes must be at most QUOIT_MESH_MOST_DEVICES. */
QuoitTorus quoit_torus_make (const guint32 *sizes, guint n_axes);
guint32 quoit_torus_volume (const QuoitTorus *torus);

/* Assigns whole physical axes to each of the @n axes of @sizes, which must be positive and multiply to the volume.
 * If that is impossible, fills @mismatch and returns FALSE. */
gboolean quoit_torus_assign (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares,
                             QuoitTorusMismatch *mismatch);
/* Like quoit_torus_assign(), with parts of physical axes. Always succeeds. */
void quoit_torus_split (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares);
/* Fills @places, which has one entry per place of the torus, with the places in the order of the mesh. */
void quoit_torus_order (const QuoitTorus *torus, const QuoitTorusShares *shares, guint n, guint32 *places);

/* Fills @places with the places of one line of the mesh: those along mesh axis @axis from place 0, in order. All other
 * lines along that axis are this line, shifted. */
void quoit_torus_line (const QuoitTorus *torus, const QuoitTorusShares *shares, guint axis, guint32 *places);

/* Fills @offsets with the offset of each element of an array of @sizes, in row-major order. @strides are the strides of
 * its axes. */
void quoit_strided_offsets (const guint32 *sizes, const guint32 *strides, guint n, guint32 *offsets);

/* The largest number of divisors of any number up to QUOIT_MESH_MOST_DEVICES. */
enum { QUOIT_MOST_DIVISORS = 384 };
/* Fills @divisors in ascending order and returns their number. */
guint quoit_divisors (guint32 number, guint32 *divisors);
