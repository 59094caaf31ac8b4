/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the sizes of a mesh: their range and their product. */
#include <math.h>

#include "models/jax/mesh.h"

char *
quoit_mesh_sizes_format (const gint64 *sizes, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, i == 0 ? "%" G_GINT64_FORMAT : ",%" G_GINT64_FORMAT, sizes[i]);
  return g_string_free (text, FALSE);
}

/* Returns the sizes in quotes for a message; long lists are shortened. */
static char *
quote_sizes (const gint64 *sizes, guint n)
{
  g_autofree char *text = quoit_mesh_sizes_format (sizes, n);

  return quoit_quote (text);
}

guint64
quoit_mesh_sizes_product (const gint64 *sizes, guint n)
{
  guint64 product = 1;

  for (guint i = 0; i < n; i++)
    if (__builtin_mul_overflow (product, (guint64) sizes[i], &product))
      return G_MAXUINT64;
  return product;
}

gboolean
quoit_mesh_sizes_check (const char *what, const gint64 *sizes, guint n, GError **error)
{
  if (n == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s '': expected the size of at least one axis", what);
  if (n > QUOIT_MESH_MOST_AXES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s of '%u' axes: expected at most %d", what, n,
                       QUOIT_MESH_MOST_AXES);
  for (guint i = 0; i < n; i++)
    if (sizes[i] < 1)
      {
        g_autofree char *quoted = quote_sizes (sizes, n);

        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "%s %s: axis %u of size '%" G_GINT64_FORMAT "': expected 1 or more", what, quoted, i,
                           sizes[i]);
      }
  return TRUE;
}

/* --- nearest sizes --- */

/* How far sizes are from the given ones: first by the number of changed sizes, then by the factors of the changes. */
typedef struct {
  guint n_changed;
  double factors; /* the sum of the logarithms */
} Distance;

/* A step of the search by dynamic programming. There is one for each axis and each divisor of the count: the nearest
 * sizes of the axes so far whose product is the divisor. */
typedef struct {
  Distance distance;
  guint32 size; /* of the last axis */
  guint before; /* the divisor index of the step for the axes before it */
} Step;

static gboolean
is_nearer (Distance a, Distance b)
{
  return a.n_changed != b.n_changed ? a.n_changed < b.n_changed : a.factors < b.factors;
}

static Distance
distance_with (Distance before, gint64 given, guint32 size)
{
  if (given != size)
    {
      before.n_changed++;
      before.factors += fabs (log ((double) size / (double) given));
    }
  return before;
}

/* Adds one axis. @before has, for each divisor, the nearest sizes without that axis. */
static void
add_axis (const guint32 *divisors, guint n_divisors, gint64 given, const Step *before, Step *after)
{
  for (guint i = 0; i < n_divisors; i++)
    {
      after[i].distance.n_changed = G_MAXUINT;
      for (guint b = 0; b <= i; b++)
        if (divisors[i] % divisors[b] == 0 && before[b].distance.n_changed != G_MAXUINT)
          {
            guint32 size = divisors[i] / divisors[b];
            Distance distance = distance_with (before[b].distance, given, size);

            if (is_nearer (distance, after[i].distance))
              after[i] = (Step) { distance, size, b };
          }
    }
}

static void
find_nearest (const gint64 *sizes, guint n, guint32 count, gint64 *nearest)
{
  guint32 divisors[QUOIT_MOST_DIVISORS];
  guint n_divisors = quoit_divisors (count, divisors), at = n_divisors - 1;
  g_autofree Step *steps = g_new (Step, (n + 1) * (gsize) n_divisors);

  for (guint i = 0; i < n_divisors; i++)
    steps[i] = (Step) { { i == 0 ? 0 : G_MAXUINT, 0 }, 1, 0 };
  for (guint axis = 0; axis < n; axis++)
    add_axis (divisors, n_divisors, sizes[axis], &steps[axis * n_divisors], &steps[(axis + 1) * n_divisors]);

  for (guint axis = n; axis-- > 0;)
    {
      const Step *step = &steps[(axis + 1) * n_divisors + at];

      nearest[axis] = step->size;
      at = step->before;
    }
}

gboolean
quoit_mesh_sizes_fit (const char *what, const gint64 *sizes, guint n, guint32 count, const char *counted,
                      GError **error)
{
  guint64 product = quoit_mesh_sizes_product (sizes, n);
  g_autofree char *quoted = NULL, *suggestion = NULL, *wanted = NULL;
  gint64 nearest[QUOIT_MESH_MOST_AXES];

  if (product == count)
    return TRUE;

  quoted = quote_sizes (sizes, n);
  wanted = product == G_MAXUINT64 ? g_strdup ("more than can be counted")
                                  : g_strdup_printf ("%" G_GUINT64_FORMAT, product);
  if (count == 0 || n == 0 || n > QUOIT_MESH_MOST_AXES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s multiplies to %s: expected %u, the number of %s", what,
                       quoted, wanted, count, counted);

  find_nearest (sizes, n, count, nearest);
  suggestion = quoit_mesh_sizes_format (nearest, n);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s multiplies to %s: expected %u, the number of %s, such as '%s'",
                     what, quoted, wanted, count, counted, suggestion);
}
