/* SPDX-License-Identifier: Apache-2.0 */
/* Tori and the order of their places. */
#include <string.h>

#include "models/jax/torus.h"

QuoitTorus
quoit_torus_make (const guint32 *sizes, guint n_axes)
{
  QuoitTorus torus = { .n_axes = n_axes };
  guint32 stride = 1;

  for (guint p = n_axes; p-- > 0; stride *= sizes[p])
    {
      torus.sizes[p] = sizes[p];
      torus.strides[p] = stride;
      torus.axes[p] = (guint8) p;
    }
  return torus;
}

guint32
quoit_torus_volume (const QuoitTorus *torus)
{
  guint32 volume = 1;

  for (guint p = 0; p < torus->n_axes; p++)
    volume *= torus->sizes[p];
  return volume;
}

void
quoit_strided_offsets (const guint32 *sizes, const guint32 *strides, guint n, guint32 *offsets)
{
  guint32 length = 1;

  offsets[0] = 0;
  for (guint a = n; a-- > 0; length *= sizes[a])
    for (guint32 step = 1; step < sizes[a]; step++)
      for (guint32 i = 0; i < length; i++)
        offsets[step * length + i] = offsets[i] + step * strides[a];
}

/* The parts of physical axes in the order of the mesh. The last one varies fastest. */
typedef struct {
  guint32 remaining[QUOIT_TORUS_MOST_AXES]; /* of each physical axis: the size of the parts that are not listed yet */
  guint n;
  guint32 sizes[QUOIT_TORUS_MOST_AXES * QUOIT_MESH_MOST_AXES], strides[QUOIT_TORUS_MOST_AXES * QUOIT_MESH_MOST_AXES];
} Parts;

/* Adds the parts of mesh axis @axis. If a physical axis is split between mesh axes, the part of the later mesh axis
 * varies faster, because later axes communicate more and should get neighbouring devices. Within a mesh axis the
 * physical axes keep their order. */
static void
add_parts (const QuoitTorus *torus, const QuoitTorusShares *shares, guint axis, Parts *parts)
{
  for (guint p = 0; p < torus->n_axes; p++)
    {
      guint32 share = shares->sizes[p][axis];

      parts->remaining[p] /= share;
      if (share > 1)
        {
          parts->sizes[parts->n] = share;
          parts->strides[parts->n++] = torus->strides[p] * parts->remaining[p];
        }
    }
}

void
quoit_torus_order (const QuoitTorus *torus, const QuoitTorusShares *shares, guint n, guint32 *places)
{
  Parts parts;

  parts.n = 0;
  memcpy (parts.remaining, torus->sizes, sizeof parts.remaining);
  for (guint l = 0; l < n; l++)
    add_parts (torus, shares, l, &parts);
  quoit_strided_offsets (parts.sizes, parts.strides, parts.n, places);
}

void
quoit_torus_line (const QuoitTorus *torus, const QuoitTorusShares *shares, guint axis, guint32 *places)
{
  Parts parts;

  memcpy (parts.remaining, torus->sizes, sizeof parts.remaining);
  for (guint l = 0; l <= axis; l++)
    {
      parts.n = 0;
      add_parts (torus, shares, l, &parts);
    }
  quoit_strided_offsets (parts.sizes, parts.strides, parts.n, places);
}

guint
quoit_divisors (guint32 number, guint32 *divisors)
{
  guint n_small = 0, n;

  for (guint32 d = 1; (guint64) d * d <= number; d++)
    if (number % d == 0)
      divisors[n_small++] = d;
  n = n_small;
  for (guint i = n_small; i-- > 0;)
    if (number / divisors[i] != divisors[i])
      divisors[n++] = number / divisors[i];
  return n;
}
