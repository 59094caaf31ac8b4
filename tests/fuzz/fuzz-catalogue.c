/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies and names of generations: parsed values are written back unchanged, and derived values are consistent. */
#include <string.h>

#include "catalogue/catalogue.h"
#include "fuzz.h"

static gboolean
read_shape (const char *text, QuoitShape *shape)
{
  static const QuoitShape before = { { 7, 7, 7 }, 7 };
  g_autoptr (GError) error = NULL;
  gboolean ok;

  *shape = before;
  ok = quoit_shape_parse (text, shape, &error);
  fuzz_require_error (ok, error);
  if (ok)
    {
      g_autofree char *back = quoit_shape_format (*shape);

      g_assert (strcmp (back, text) == 0);
      g_assert (quoit_shape_chips (*shape) > 0);
    }
  else
    g_assert (quoit_shape_equal (*shape, before));
  return ok;
}

static gboolean
read_generation (const char *text, QuoitGeneration *generation)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *upper = g_ascii_strup (text, -1);
  QuoitGeneration again = QUOIT_N_GENERATIONS;
  gboolean ok;

  *generation = QUOIT_N_GENERATIONS;
  ok = quoit_generation_parse (text, generation, &error);
  fuzz_require_error (ok, error);
  if (!ok)
    {
      g_assert (*generation == QUOIT_N_GENERATIONS);
      return FALSE;
    }
  g_assert (*generation > QUOIT_GENERATION_NONE && *generation < QUOIT_N_GENERATIONS);
  g_assert (quoit_generation_parse (upper, &again, NULL) && again == *generation);
  g_assert (quoit_generation_parse (quoit_generation_name (*generation), &again, NULL) && again == *generation);
  return TRUE;
}

static gboolean
is_listed (QuoitGeneration generation, QuoitShape shape)
{
  unsigned n;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n);

  for (unsigned i = 0; i < n; i++)
    if (quoit_shape_equal (rows[i].shape, shape))
      return TRUE;
  return FALSE;
}

static void
require_slice (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host)
{
  g_autoptr (GError) error = NULL;
  QuoitSliceFacts facts;
  gboolean ok = quoit_slice_facts (generation, shape, chips_per_host, &facts, &error);

  fuzz_require_error (ok, error);
  if (!ok)
    return;
  g_assert (facts.generation == generation && quoit_shape_equal (facts.shape, shape));
  g_assert ((guint64) facts.hosts * facts.chips_per_host == quoit_shape_chips (shape));
  g_assert (quoit_shape_chips (facts.host_block) == facts.chips_per_host);
  g_assert (quoit_shape_chips (facts.host_grid) == facts.hosts);
  for (guint i = 0; i < 3; i++)
    g_assert (facts.host_block.dims[i] * facts.host_grid.dims[i] == shape.dims[i]);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *topology = fuzz_text (&in), *name = fuzz_text (&in);
  unsigned chips_per_host = fuzz_byte (&in);
  g_autoptr (GError) error = NULL;
  QuoitGeneration generation;
  QuoitShape shape;
  gboolean has_shape = read_shape (topology, &shape), has_generation = read_generation (name, &generation), ok;

  if (!has_shape || !has_generation)
    return 0;
  ok = quoit_shape_check (generation, shape, &error);
  fuzz_require_error (ok, error);
  g_assert (ok == is_listed (generation, shape));
  require_slice (generation, shape, chips_per_host);
  return 0;
}
