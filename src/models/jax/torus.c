/* SPDX-License-Identifier: Apache-2.0 */
/* Tori and the order of their places. */
#include "models/jax/torus.h"

QuoitTorus
quoit_torus_of (const guint32 *sizes, guint n_axes)
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
quoit_torus_walk (const guint32 *sizes, const guint32 *strides, guint n, guint32 *places)
{
  guint32 length = 1;

  places[0] = 0;
  for (guint a = n; a-- > 0; length *= sizes[a])
    for (guint32 step = 1; step < sizes[a]; step++)
      for (guint32 i = 0; i < length; i++)
        places[step * length + i] = places[i] + step * strides[a];
}

/* If a physical axis is split, the part of the later mesh axis varies faster: later axes communicate more, so they
 * get the neighbors. Within a mesh axis the physical axes keep their order. */
void
quoit_torus_order (const QuoitTorus *torus, const QuoitTorusShares *shares, guint n, guint32 *places)
{
  guint32 sizes[QUOIT_TORUS_MOST_AXES * QUOIT_MESH_MOST_AXES], strides[QUOIT_TORUS_MOST_AXES * QUOIT_MESH_MOST_AXES];
  guint32 left[QUOIT_TORUS_MOST_AXES];
  guint n_parts = 0;

  for (guint p = 0; p < torus->n_axes; p++)
    left[p] = torus->sizes[p];
  for (guint l = 0; l < n; l++)
    for (guint p = 0; p < torus->n_axes; p++)
      {
        guint32 share = shares->of[p][l];

        left[p] /= share;
        if (share > 1)
          {
            sizes[n_parts] = share;
            strides[n_parts++] = torus->strides[p] * left[p];
          }
      }
  quoit_torus_walk (sizes, strides, n_parts, places);
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
