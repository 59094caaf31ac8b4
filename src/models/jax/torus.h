/* SPDX-License-Identifier: Apache-2.0 */
/* Which physical axes of a torus each axis of a mesh gets: JAX's rules on sizes alone, without devices. Pure. */
#pragma once

#include <glib.h>

enum { QUOIT_TORUS_MOST_AXES = 8, QUOIT_MESH_MOST_AXES = 64, QUOIT_MESH_MOST_DEVICES = 1 << 22 };

/* The physical axes of devices have names; those of a torus without devices are numbers. */
enum { QUOIT_TORUS_X = 0, QUOIT_TORUS_Y, QUOIT_TORUS_Z, QUOIT_TORUS_CORE };

typedef struct {
  guint n_axes;
  guint32 sizes[QUOIT_TORUS_MOST_AXES]; /* multiply to QUOIT_MESH_MOST_DEVICES at most */
  guint32 strides[QUOIT_TORUS_MOST_AXES];
  guint8 axes[QUOIT_TORUS_MOST_AXES]; /* which each is */
  gboolean core_first;                /* the cores have the most bandwidth: 7x */
} QuoitTorus;

/* of[p][l]: how much of physical axis p axis l of the mesh has; 1: nothing. */
typedef struct {
  guint32 of[QUOIT_TORUS_MOST_AXES][QUOIT_MESH_MOST_AXES];
} QuoitTorusShares;

/* The axis that no whole physical axes make up, and what was left of those: 0 for one that was taken. */
typedef struct {
  guint axis;
  guint32 left[QUOIT_TORUS_MOST_AXES];
} QuoitTorusMismatch;

/* Places row-major. @sizes multiply to QUOIT_MESH_MOST_DEVICES at most. */
QuoitTorus quoit_torus_of (const guint32 *sizes, guint n_axes);
guint32 quoit_torus_volume (const QuoitTorus *torus);

/* Whole physical axes for each of @n axes of @sizes, which are positive and multiply to the volume. */
gboolean quoit_torus_assign (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares,
                             QuoitTorusMismatch *mismatch);
/* The same with parts of them: there always are some. */
void quoit_torus_split (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares);
/* The places of the torus in the order of the mesh: @places has the volume. */
void quoit_torus_order (const QuoitTorus *torus, const QuoitTorusShares *shares, guint n, guint32 *places);

/* Where the elements of an array of @sizes are, row-major, when a step along its axes is of @strides. */
void quoit_torus_walk (const guint32 *sizes, const guint32 *strides, guint n, guint32 *places);

/* No number up to QUOIT_MESH_MOST_DEVICES has more. */
enum { QUOIT_MOST_DIVISORS = 384 };
/* The divisors of @number, ascending. */
guint quoit_divisors (guint32 number, guint32 *divisors);
