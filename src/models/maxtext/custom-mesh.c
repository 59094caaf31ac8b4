/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText's own ring layouts: the setting custom_mesh. */
#include <string.h>

#include "models/maxtext/mesh.h"

/* A ring needs exactly the ICI sizes @sizes, in any order. It runs through blocks of two rows. */
static const struct {
  const char *name;
  int64_t sizes[3];
  unsigned columns; /* of a block */
} rings[] = { { "hybrid_ring_64x4", { 1, 4, 64 }, 2 }, { "hybrid_ring_32x8", { 1, 8, 32 }, 4 } };

/* Returns whether @sizes contains each of @wanted, and nothing else. */
static gboolean
has_ring_sizes (const int64_t *sizes, unsigned n, const int64_t wanted[3])
{
  unsigned found = 0;

  for (unsigned i = 0; i < n; i++)
    {
      unsigned k = 0;

      while (k < 3 && sizes[i] != wanted[k])
        k++;
      if (k == 3)
        return FALSE;
      found |= 1u << k;
    }
  return found == 7;
}

gboolean
quoit_maxtext_find_ring (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns, char **expected)
{
  unsigned i = 0;

  while (i < G_N_ELEMENTS (rings) && strcmp (rings[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (rings))
    {
      *expected = g_strdup_printf ("%s or %s", rings[0].name, rings[1].name);
      return FALSE;
    }
  if (!has_ring_sizes (ici, n_axes, rings[i].sizes))
    {
      *expected
          = g_strdup_printf ("ICI sizes of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " for it, and one or more of 1",
                             (gint64) rings[i].sizes[2], (gint64) rings[i].sizes[1]);
      return FALSE;
    }

  *columns = rings[i].columns;
  return TRUE;
}

gboolean
quoit_maxtext_lookup_ring (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns, GError **error)
{
  g_autofree char *expected = NULL, *quoted = NULL;

  if (quoit_maxtext_find_ring (name, ici, n_axes, columns, &expected))
    return TRUE;
  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "custom_mesh %s: expected %s", quoted, expected);
}

bool
quoit_maxtext_custom_mesh_check (const char *custom_mesh, const int64_t *ici, uint32_t n_axes, GError **error)
{
  unsigned columns;

  g_return_val_if_fail (custom_mesh != NULL && (ici != NULL || n_axes == 0), FALSE);

  return quoit_maxtext_lookup_ring (custom_mesh, ici, n_axes, &columns, error);
}
