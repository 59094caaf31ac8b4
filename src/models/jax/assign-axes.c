/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the physical axes of a torus to the axes of a mesh, and suggests possible shapes if that fails. */
#include <math.h>
#include <string.h>

#include "models/jax/mesh.h"

/* Limits of the search for suggestions: the number of assignments of physical axes, and of suggestions. */
enum { MOST_ASSIGNMENTS = 4096, MOST_SUGGESTIONS = 3 };

static const char *const axis_names[] = { "x", "y", "z", "core", "4", "5", "6", "7" };
G_STATIC_ASSERT (G_N_ELEMENTS (axis_names) == QUOIT_TORUS_MOST_AXES);

const char *
quoit_mesh_axis_name (guint8 axis)
{
  return axis_names[axis];
}

/* --- possible shapes --- */

/* A mesh shape that JAX can assign, and its distance from the requested one. */
typedef struct {
  gint64 sizes[QUOIT_MESH_MOST_AXES];
  double distance;
} Suggestion;

/* Computes the mesh sizes of one assignment of the physical axes to @n mesh axes. The digits of @assignment, in base
 * @n, are the mesh axes of the physical axes that are longer than 1. */
static void
decode_sizes (const QuoitTorus *torus, guint64 assignment, guint n, gint64 *sizes)
{
  for (guint l = 0; l < n; l++)
    sizes[l] = 1;
  for (guint p = 0; p < torus->n_axes; p++)
    if (torus->sizes[p] > 1)
      {
        sizes[assignment % n] *= torus->sizes[p];
        assignment /= n;
      }
}

/* Returns 0 if there are too many to try. */
static guint64
count_assignments (const QuoitTorus *torus, guint n)
{
  guint64 n_assignments = 1;

  for (guint p = 0; p < torus->n_axes; p++)
    if (torus->sizes[p] > 1)
      n_assignments *= n;
  return n_assignments > MOST_ASSIGNMENTS ? 0 : n_assignments;
}

static double
shape_distance (const gint64 *a, const gint64 *b, guint n)
{
  double sum = 0;

  for (guint l = 0; l < n; l++)
    sum += fabs (log ((double) a[l] / (double) b[l]));
  return sum;
}

static gboolean
is_suggested (const Suggestion *suggestions, guint n_suggestions, const gint64 *sizes, guint n)
{
  for (guint i = 0; i < n_suggestions; i++)
    if (memcmp (suggestions[i].sizes, sizes, n * sizeof *sizes) == 0)
      return TRUE;
  return FALSE;
}

/* Finds the nearest shapes that JAX can assign. Each is checked with JAX's own rules, because JAX does not find every
 * possible assignment. */
static guint
find_suggestions (const QuoitTorus *torus, const gint64 *sizes, guint n, Suggestion *suggestions)
{
  guint64 n_assignments = count_assignments (torus, n);
  g_autofree QuoitTorusShares *shares = g_new (QuoitTorusShares, 1);
  guint n_suggestions = 0;

  for (guint64 assignment = 0; assignment < n_assignments; assignment++)
    {
      QuoitTorusMismatch mismatch;
      Suggestion shape;
      guint at = n_suggestions;

      decode_sizes (torus, assignment, n, shape.sizes);
      shape.distance = shape_distance (shape.sizes, sizes, n);
      while (at > 0 && shape.distance < suggestions[at - 1].distance)
        at--;
      if (at == MOST_SUGGESTIONS || is_suggested (suggestions, n_suggestions, shape.sizes, n)
          || !quoit_torus_assign (torus, shape.sizes, n, shares, &mismatch))
        continue;
      if (n_suggestions < MOST_SUGGESTIONS)
        n_suggestions++;
      memmove (&suggestions[at + 1], &suggestions[at], (n_suggestions - 1 - at) * sizeof *suggestions);
      suggestions[at] = shape;
    }
  return n_suggestions;
}

static void
append_axes (GString *text, const QuoitTorus *torus, const guint32 *remaining)
{
  gboolean is_first = TRUE;

  for (guint p = 0; p < torus->n_axes; p++)
    if (remaining[p] > 1)
      {
        g_string_append_printf (text, "%s%s %u", is_first ? "" : ", ", axis_names[torus->axes[p]], remaining[p]);
        is_first = FALSE;
      }
  if (is_first)
    g_string_append (text, "none");
}

static gboolean
fail_with_suggestions (const QuoitTorus *torus, const gint64 *sizes, guint n, const QuoitTorusMismatch *mismatch,
                       GError **error)
{
  g_autofree char *text = quoit_mesh_sizes_format (sizes, n), *quoted = quoit_quote (text);
  g_autoptr (GString) remaining = g_string_new (NULL), alternatives = g_string_new (NULL);
  Suggestion suggestions[MOST_SUGGESTIONS];
  guint n_suggestions = find_suggestions (torus, sizes, n, suggestions);

  append_axes (remaining, torus, mismatch->remaining);
  for (guint i = 0; i < n_suggestions; i++)
    {
      g_autofree char *shape = quoit_mesh_sizes_format (suggestions[i].sizes, n);

      g_string_append_printf (alternatives, "'%s'%s", shape,
                              i + 1 == n_suggestions   ? ", or "
                              : i + 2 == n_suggestions ? " or "
                                                       : ", ");
    }
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "mesh shape %s: axis %u of size '%" G_GINT64_FORMAT
                     "' is not the size of a free physical axis or the product of several (free: %s): expected "
                     "%sphysical axes that may be "
                     "split",
                     quoted, mismatch->axis, sizes[mismatch->axis], remaining->str, alternatives->str);
}

/* --- assignment --- */

/* Returns whether @part already has the assignment for this torus. The granules of a mesh mostly have equal tori. */
static gboolean
has_torus (const QuoitMeshPart *part, const QuoitTorus *torus)
{
  return part->order == QUOIT_MESH_ORDER_TORUS && part->n_physical == torus->n_axes
         && memcmp (part->sizes, torus->sizes, sizeof part->sizes) == 0
         && memcmp (part->axes, torus->axes, sizeof part->axes) == 0;
}

gboolean
quoit_mesh_assign_axes (const QuoitTorus *torus, const gint64 *sizes, guint n, unsigned flags, QuoitMeshPart *part,
                        GError **error)
{
  QuoitTorusMismatch mismatch;

  if (has_torus (part, torus))
    return TRUE;
  memset (part, 0, sizeof *part);
  part->order = QUOIT_MESH_ORDER_TORUS;
  part->n_physical = torus->n_axes;
  memcpy (part->sizes, torus->sizes, sizeof part->sizes);
  memcpy (part->axes, torus->axes, sizeof part->axes);
  if (quoit_torus_assign (torus, sizes, n, &part->shares, &mismatch))
    return TRUE;
  if ((flags & QUOIT_MESH_SPLIT_PHYSICAL_AXES) == 0)
    return error != NULL && fail_with_suggestions (torus, sizes, n, &mismatch, error);
  /* A NumPy array has at most 64 axes, and JAX makes one axis per part. */
  if (torus->n_axes * n > QUOIT_MESH_MOST_AXES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "mesh shape of '%u' axes: expected at most %u if %u physical axes are split", n,
                       QUOIT_MESH_MOST_AXES / torus->n_axes, torus->n_axes);

  quoit_torus_split (torus, sizes, n, &part->shares);
  return TRUE;
}
