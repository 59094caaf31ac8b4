/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a generation has a topology, and suggests the nearest topologies if not. */
#include "catalogue/table.h"

enum { N_NEAREST = 3 };

/* Returns whether the shapes have the same sides in any order. */
static gboolean
has_same_sides (QuoitShape a, QuoitShape b)
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

/* A shape with the sides in another order is the nearest one: it is probably what the user meant. */
static gint64
distance (QuoitShape a, QuoitShape b)
{
  if (has_same_sides (a, b))
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
format_nearest (QuoitGeneration generation, QuoitShape shape)
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
  g_autofree char *text = NULL, *suggestions = NULL, *expected = NULL;
  QuoitTopologyRow row;

  if (quoit_row_find (generation, shape, 0, &row))
    return TRUE;
  /* Searching for the nearest topologies takes a thousand times as long as the check. */
  if (error == NULL)
    return FALSE;

  text = quoit_shape_format (shape);
  if (shape.n_dims != facts->dims)
    expected = g_strdup_printf ("%s numbers, as every %s slice has", facts->dims == 2 ? "two" : "three",
                                quoit_generation_name (generation));
  else
    {
      suggestions = format_nearest (generation, shape);
      expected
          = g_strdup_printf ("one that %s has; the nearest are %s", quoit_generation_name (generation), suggestions);
    }
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "topology '%s'", text);
}
