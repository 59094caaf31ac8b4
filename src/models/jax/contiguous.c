/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes in which the devices of a process stay together (gke-kuberay-jax 6.2, step 5). */
#include <string.h>

#include "models/jax/mesh.h"

/* The physical shapes, and the mesh shapes (without sizes of 1), for which JAX supports this. */
typedef struct {
  guint32 physical[3];
  gint64 meshes[2][2]; /* 0,0: no second one */
  guint8 axes[3];      /* the physical axes in their new order */
} Trick;

static const Trick tricks[] = {
  { { 2, 2, 1 }, { { 2, 2 } }, { 0, 1, 2 } },  { { 2, 2, 4 }, { { 4, 4 } }, { 0, 1, 2 } },
  { { 4, 4, 4 }, { { 16, 4 } }, { 0, 2, 1 } }, { { 4, 8, 8 }, { { 64, 4 }, { 4, 64 } }, { 0, 2, 1 } },
  { { 8, 8, 8 }, { { 64, 8 } }, { 0, 2, 1 } }, { { 8, 16, 16 }, { { 256, 8 }, { 8, 256 } }, { 0, 2, 1 } },
};

static char *
physical_text (const guint32 *sizes, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < n; p++)
    g_string_append_printf (text, p == 0 ? "%u" : "x%u", sizes[p]);
  return g_string_free (text, FALSE);
}

static const Trick *
find_trick (const QuoitTorus *torus, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  g_autofree char *text = physical_text (torus->sizes, torus->n_axes);

  for (guint i = 0; i < G_N_ELEMENTS (tricks); i++)
    {
      g_autofree char *one = physical_text (tricks[i].physical, 3);

      if (torus->n_axes == 3 && memcmp (torus->sizes, tricks[i].physical, sizeof tricks[i].physical) == 0)
        return &tricks[i];
      g_string_append_printf (known, i == 0 ? "%s" : i + 1 < G_N_ELEMENTS (tricks) ? ", %s" : " or %s", one);
    }
  return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                          "physical axes '%s': expected %s where submeshes are to be contiguous", text, known->str);
}

static gboolean
is_for (const Trick *trick, const gint64 *sizes, guint n)
{
  gint64 large[2] = { 0, 0 };
  guint n_large = 0;

  for (guint i = 0; i < n; i++)
    if (sizes[i] != 1)
      {
        if (n_large == 2)
          return FALSE;
        large[n_large++] = sizes[i];
      }
  for (guint i = 0; i < 2 && n_large == 2; i++)
    if (trick->meshes[i][0] == large[0] && trick->meshes[i][1] == large[1])
      return TRUE;
  return FALSE;
}

gboolean
quoit_mesh_make_contiguous (QuoitTorus *torus, const gint64 *sizes, guint n, GError **error)
{
  const Trick *trick = find_trick (torus, error);
  QuoitTorus before = *torus;

  if (trick == NULL)
    return FALSE;
  if (!is_for (trick, sizes, n))
    {
      g_autofree char *text = quoit_mesh_sizes_format (sizes, n), *quoted = quoit_quote (text);
      g_autofree char *first = quoit_mesh_sizes_format (trick->meshes[0], 2);
      g_autofree char *second = quoit_mesh_sizes_format (trick->meshes[1], 2);
      gboolean has_second = trick->meshes[1][0] != 0;

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "mesh shape %s: expected '%s'%s%s%s, and sizes of 1, where submeshes of %ux%ux%u are to be "
                         "contiguous",
                         quoted, first, has_second ? " or '" : "", has_second ? second : "", has_second ? "'" : "",
                         before.sizes[0], before.sizes[1], before.sizes[2]);
    }
  for (guint p = 0; p < 3; p++)
    {
      torus->sizes[p] = before.sizes[trick->axes[p]];
      torus->strides[p] = before.strides[trick->axes[p]];
      torus->axes[p] = before.axes[trick->axes[p]];
    }
  return TRUE;
}
