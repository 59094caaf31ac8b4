/* SPDX-License-Identifier: Apache-2.0 */
/* Reorders the physical axes so that the devices of a process are contiguous in the mesh (gke-kuberay-jax 6.2, step 5).
 * JAX supports it only for a list of shapes. */
#include <string.h>

#include "models/jax/mesh.h"

/* A physical shape, and its mesh shapes without sizes of 1. */
typedef struct {
  guint32 physical[3];
  gint64 meshes[2][2]; /* 0,0: no second one */
  guint8 axes[3];      /* the physical axes in their new order */
} ContiguousCase;

static const ContiguousCase cases[] = {
  { { 2, 2, 1 }, { { 2, 2 } }, { 0, 1, 2 } },  { { 2, 2, 4 }, { { 4, 4 } }, { 0, 1, 2 } },
  { { 4, 4, 4 }, { { 16, 4 } }, { 0, 2, 1 } }, { { 4, 8, 8 }, { { 64, 4 }, { 4, 64 } }, { 0, 2, 1 } },
  { { 8, 8, 8 }, { { 64, 8 } }, { 0, 2, 1 } }, { { 8, 16, 16 }, { { 256, 8 }, { 8, 256 } }, { 0, 2, 1 } },
};

static char *
format_physical (const guint32 *sizes, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < n; p++)
    g_string_append_printf (text, p == 0 ? "%u" : "x%u", sizes[p]);
  return g_string_free (text, FALSE);
}

static const ContiguousCase *
find_case (const QuoitTorus *torus, GError **error)
{
  g_autoptr (GString) supported = g_string_new (NULL);
  g_autofree char *text = format_physical (torus->sizes, torus->n_axes);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *one = format_physical (cases[i].physical, 3);

      if (torus->n_axes == 3 && memcmp (torus->sizes, cases[i].physical, sizeof cases[i].physical) == 0)
        return &cases[i];
      g_string_append_printf (supported, i == 0 ? "%s" : i + 1 < G_N_ELEMENTS (cases) ? ", %s" : " or %s", one);
    }
  return quoit_fail_null (error, QUOIT_ERROR_INVALID, "physical axes '%s': expected %s for contiguous submeshes", text,
                          supported->str);
}

static gboolean
supports_mesh (const ContiguousCase *contiguous_case, const gint64 *sizes, guint n)
{
  gint64 long_sizes[2] = { 0, 0 };
  guint n_long = 0;

  for (guint i = 0; i < n; i++)
    if (sizes[i] != 1)
      {
        if (n_long == 2)
          return FALSE;
        long_sizes[n_long++] = sizes[i];
      }
  for (guint i = 0; i < 2 && n_long == 2; i++)
    if (contiguous_case->meshes[i][0] == long_sizes[0] && contiguous_case->meshes[i][1] == long_sizes[1])
      return TRUE;
  return FALSE;
}

gboolean
quoit_mesh_make_contiguous (QuoitTorus *torus, const gint64 *sizes, guint n, GError **error)
{
  const ContiguousCase *contiguous_case = find_case (torus, error);
  QuoitTorus before = *torus;

  if (contiguous_case == NULL)
    return FALSE;
  if (!supports_mesh (contiguous_case, sizes, n))
    {
      g_autofree char *text = quoit_mesh_sizes_format (sizes, n), *quoted = quoit_quote (text);
      g_autofree char *first = quoit_mesh_sizes_format (contiguous_case->meshes[0], 2);
      g_autofree char *second = quoit_mesh_sizes_format (contiguous_case->meshes[1], 2);
      gboolean has_second = contiguous_case->meshes[1][0] != 0;

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "mesh shape %s: expected '%s'%s%s%s, and sizes of 1, for contiguous submeshes of "
                         "%ux%ux%u",
                         quoted, first, has_second ? " or '" : "", has_second ? second : "", has_second ? "'" : "",
                         before.sizes[0], before.sizes[1], before.sizes[2]);
    }
  for (guint p = 0; p < 3; p++)
    {
      torus->sizes[p] = before.sizes[contiguous_case->axes[p]];
      torus->strides[p] = before.strides[contiguous_case->axes[p]];
      torus->axes[p] = before.axes[contiguous_case->axes[p]];
    }
  return TRUE;
}
