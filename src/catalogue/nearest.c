/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a generation has a topology, and suggests the nearest topologies if not. */
#include "catalogue/table.h"

enum { N_NEAREST = 3 };

static gboolean
is_the_same_in_another_order (QuoitShape a, QuoitShape b)
{
  unsigned used = 0;

  for (unsigned i = 0; i < 3; i++)
    {
      unsigned j = 0;

      while (j < 3 && ((used & 1u << j) != 0 || a.dims[i] != b.dims[j]))
        j++;
      if (j == 3)
        return FALSE;
      used |= 1u << j;
    }
  return TRUE;
}

static gint64
distance (QuoitShape a, QuoitShape b)
{
  if (is_the_same_in_another_order (a, b))
    return -1;

  return ABS ((gint64) quoit_shape_chips (a) - (gint64) quoit_shape_chips (b));
}

static gboolean
is_among (QuoitShape shape, const QuoitShape *shapes, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (quoit_shape_equal (shape, shapes[i]))
      return TRUE;

  return FALSE;
}

static char *
nearest (QuoitGeneration generation, QuoitShape shape)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n_rows);
  QuoitShape found[N_NEAREST];
  GString *out = g_string_new (NULL);

  for (unsigned n = 0; n < N_NEAREST; n++)
    {
      const QuoitTopologyRow *best = NULL;
      g_autofree char *text = NULL;

      for (unsigned i = 0; i < n_rows; i++)
        if (!is_among (rows[i].shape, found, n)
            && (best == NULL || distance (rows[i].shape, shape) < distance (best->shape, shape)))
          best = &rows[i];
      if (best == NULL)
        break;
      found[n] = best->shape;
      text = quoit_shape_format (best->shape);
      g_string_append_printf (out, "%s%s", n > 0 ? ", " : "", text);
    }
  return g_string_free (out, FALSE);
}

gboolean
quoit_shape_check (QuoitGeneration generation, QuoitShape shape, GError **error)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (generation);
  g_autofree char *text = NULL, *near = NULL;
  QuoitTopologyRow row;

  if (quoit_row_find (generation, shape, 0, &row))
    return TRUE;
  /* Searching for the nearest topologies takes a thousand times as long as the check. */
  if (error == NULL)
    return FALSE;

  text = quoit_shape_format (shape);
  if (shape.n_dims != facts->dims)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology '%s': expected %s numbers, as every %s slice has", text,
                       facts->dims == 2 ? "two" : "three", quoit_generation_name (generation));

  near = nearest (generation, shape);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "topology '%s': expected one that %s has; the nearest are %s", text,
                     quoit_generation_name (generation), near);
}
