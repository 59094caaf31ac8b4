/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText's own ring layouts: the setting custom_mesh. */
#include <string.h>

#include "models/maxtext/mesh.h"

static const struct {
  const char *name;
  int64_t sizes[3];
  unsigned columns; /* of a block of two rows */
} rings[] = { { "hybrid_ring_64x4", { 1, 4, 64 }, 2 }, { "hybrid_ring_32x8", { 1, 8, 32 }, 4 } };

static gboolean
are_the_sizes (const int64_t *sizes, unsigned n, const int64_t wanted[3])
{
  unsigned seen = 0;

  for (unsigned i = 0; i < n; i++)
    {
      unsigned k = 0;

      while (k < 3 && sizes[i] != wanted[k])
        k++;
      if (k == 3)
        return FALSE;
      seen |= 1u << k;
    }
  return seen == 7;
}

gboolean
quoit_maxtext_ring_of (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns, GError **error)
{
  g_autofree char *quoted = quoit_quote (name);
  unsigned i = 0;

  while (i < G_N_ELEMENTS (rings) && strcmp (rings[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (rings))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "custom_mesh %s: expected %s or %s", quoted, rings[0].name,
                       rings[1].name);
  if (!are_the_sizes (ici, n_axes, rings[i].sizes))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "custom_mesh %s: expected it with ICI sizes of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                       ", and one or more of 1",
                       quoted, (gint64) rings[i].sizes[2], (gint64) rings[i].sizes[1]);

  *columns = rings[i].columns;
  return TRUE;
}

int
quoit_maxtext_custom_mesh_check (const char *custom_mesh, const int64_t *ici, unsigned n_axes, GError **error)
{
  unsigned columns;

  g_return_val_if_fail (custom_mesh != NULL && (ici != NULL || n_axes == 0), FALSE);

  return quoit_maxtext_ring_of (custom_mesh, ici, n_axes, &columns, error);
}
