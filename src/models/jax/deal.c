/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns a torus to the axes of a mesh, and suggests possible shapes if that fails. */
#include <math.h>
#include <string.h>

#include "models/jax/mesh.h"

/* Limits of the search for suggestions: the number of assignments of physical axes, and of suggestions. */
enum { MOST_WAYS = 4096, MOST_NAMED = 3 };

static const char *const axis_names[] = { "x", "y", "z", "core", "4", "5", "6", "7" };
G_STATIC_ASSERT (G_N_ELEMENTS (axis_names) == QUOIT_TORUS_MOST_AXES);

const char *
quoit_mesh_axis_name (guint8 axis)
{
  return axis_names[axis];
}

/* --- possible shapes --- */

typedef struct {
  gint64 sizes[QUOIT_MESH_MOST_AXES];
  double distance;
} Shape;

/* Decodes number @way of the assignments of each physical axis longer than 1 to one of @n axes. */
static void
sizes_of_way (const QuoitTorus *torus, guint64 way, guint n, gint64 *sizes)
{
  for (guint l = 0; l < n; l++)
    sizes[l] = 1;
  for (guint p = 0; p < torus->n_axes; p++)
    if (torus->sizes[p] > 1)
      {
        sizes[way % n] *= torus->sizes[p];
        way /= n;
      }
}

/* Returns 0 if there are too many. */
static guint64
count_ways (const QuoitTorus *torus, guint n)
{
  guint64 n_ways = 1;

  for (guint p = 0; p < torus->n_axes; p++)
    if (torus->sizes[p] > 1)
      n_ways *= n;
  return n_ways > MOST_WAYS ? 0 : n_ways;
}

static double
distance_of (const gint64 *a, const gint64 *b, guint n)
{
  double sum = 0;

  for (guint l = 0; l < n; l++)
    sum += fabs (log ((double) a[l] / (double) b[l]));
  return sum;
}

static gboolean
is_named (const Shape *named, guint n_named, const gint64 *sizes, guint n)
{
  for (guint i = 0; i < n_named; i++)
    if (memcmp (named[i].sizes, sizes, n * sizeof *sizes) == 0)
      return TRUE;
  return FALSE;
}

/* Keeps the nearest shapes that JAX itself can assign, because JAX does not find every possible assignment. */
static guint
find_shapes (const QuoitTorus *torus, const gint64 *sizes, guint n, Shape *named)
{
  guint64 n_ways = count_ways (torus, n);
  g_autofree QuoitTorusShares *shares = g_new (QuoitTorusShares, 1);
  guint n_named = 0;

  for (guint64 way = 0; way < n_ways; way++)
    {
      QuoitTorusMismatch mismatch;
      Shape shape;
      guint at = n_named;

      sizes_of_way (torus, way, n, shape.sizes);
      shape.distance = distance_of (shape.sizes, sizes, n);
      while (at > 0 && shape.distance < named[at - 1].distance)
        at--;
      if (at == MOST_NAMED || is_named (named, n_named, shape.sizes, n)
          || !quoit_torus_assign (torus, shape.sizes, n, shares, &mismatch))
        continue;
      if (n_named < MOST_NAMED)
        n_named++;
      memmove (&named[at + 1], &named[at], (n_named - 1 - at) * sizeof *named);
      named[at] = shape;
    }
  return n_named;
}

static void
append_axes (GString *text, const QuoitTorus *torus, const guint32 *left)
{
  gboolean is_first = TRUE;

  for (guint p = 0; p < torus->n_axes; p++)
    if (left[p] > 1)
      {
        g_string_append_printf (text, "%s%s %u", is_first ? "" : ", ", axis_names[torus->axes[p]], left[p]);
        is_first = FALSE;
      }
  if (is_first)
    g_string_append (text, "none");
}

static gboolean
refuse (const QuoitTorus *torus, const gint64 *sizes, guint n, const QuoitTorusMismatch *mismatch, GError **error)
{
  g_autofree char *text = quoit_mesh_sizes_format (sizes, n), *quoted = quoit_quote (text);
  g_autoptr (GString) left = g_string_new (NULL), can = g_string_new (NULL);
  Shape named[MOST_NAMED];
  guint n_named = find_shapes (torus, sizes, n, named);

  append_axes (left, torus, mismatch->left);
  for (guint i = 0; i < n_named; i++)
    {
      g_autofree char *shape = quoit_mesh_sizes_format (named[i].sizes, n);

      g_string_append_printf (can, "'%s'%s", shape, i + 1 == n_named ? ", or " : i + 2 == n_named ? " or " : ", ");
    }
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "mesh shape %s: axis %u of size '%" G_GINT64_FORMAT
                     "' is no product of whole physical axes of those left (%s): expected %sphysical axes that may be "
                     "split",
                     quoted, mismatch->axis, sizes[mismatch->axis], left->str, can->str);
}

/* --- assignment --- */

static gboolean
is_dealt (const QuoitMeshPart *part, const QuoitTorus *torus)
{
  return part->order == QUOIT_MESH_ORDER_TORUS && part->n_physical == torus->n_axes
         && memcmp (part->sizes, torus->sizes, sizeof part->sizes) == 0
         && memcmp (part->axes, torus->axes, sizeof part->axes) == 0;
}

gboolean
quoit_mesh_deal (const QuoitTorus *torus, const gint64 *sizes, guint n, unsigned flags, QuoitMeshPart *part,
                 GError **error)
{
  QuoitTorusMismatch mismatch;

  if (is_dealt (part, torus))
    return TRUE;
  memset (part, 0, sizeof *part);
  part->order = QUOIT_MESH_ORDER_TORUS;
  part->n_physical = torus->n_axes;
  memcpy (part->sizes, torus->sizes, sizeof part->sizes);
  memcpy (part->axes, torus->axes, sizeof part->axes);
  if (quoit_torus_assign (torus, sizes, n, &part->shares, &mismatch))
    return TRUE;
  if ((flags & QUOIT_MESH_SPLIT_PHYSICAL_AXES) == 0)
    return refuse (torus, sizes, n, &mismatch, error);
  /* A NumPy array has at most 64 axes, and JAX makes one axis per part. */
  if (torus->n_axes * n > QUOIT_MESH_MOST_AXES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "mesh shape of '%u' axes: expected at most %u where %u physical axes are split", n,
                       QUOIT_MESH_MOST_AXES / torus->n_axes, torus->n_axes);

  quoit_torus_split (torus, sizes, n, &part->shares);
  return TRUE;
}
