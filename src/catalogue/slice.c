/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the hosts, the host blocks and the names of a slice from its shape. */
#include "catalogue/table.h"

#include <string.h>

unsigned
quoit_default_chips_per_host (QuoitGeneration generation, QuoitShape shape)
{
  guint32 chips = quoit_shape_chips (shape);
  gboolean has_large_hosts = (quoit_generation_facts (generation)->traits & QUOIT_GENERATION_RAY_LARGE_HOSTS) != 0;

  if (has_large_hosts && shape.n_dims == 2 && shape.dims[0] == 2 && shape.dims[1] == 4)
    return 8;

  return MIN (chips, 4);
}

static gboolean
find_host_block (unsigned chips_per_host, guint16 n_dims, QuoitShape *block)
{
  static const struct {
    unsigned chips;
    guint16 dims[3];
  } blocks[] = { { 1, { 1, 1, 1 } }, { 2, { 1, 2, 1 } }, { 4, { 2, 2, 1 } }, { 8, { 2, 4, 1 } } };

  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    if (blocks[i].chips == chips_per_host)
      {
        *block = (QuoitShape) { { blocks[i].dims[0], blocks[i].dims[1], blocks[i].dims[2] }, n_dims };
        return TRUE;
      }
  return FALSE;
}

static gboolean
has_host_size (QuoitGeneration generation, unsigned chips_per_host)
{
  const char *id = quoit_generation_facts (generation)->id;
  gboolean has_machines = FALSE;

  for (unsigned i = 0; i < quoit_table_n_machines; i++)
    if (strcmp (quoit_table_machines[i].generation_id, id) == 0)
      {
        has_machines = TRUE;
        if (quoit_table_machines[i].chips == chips_per_host)
          return TRUE;
      }
  /* GKE has no machine type for v2. Its hosts have four chips. */
  return !has_machines && chips_per_host == 4;
}

gboolean
quoit_slice_facts (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host, QuoitSliceFacts *facts,
                   GError **error)
{
  const char *name = quoit_generation_name (generation);
  QuoitSliceFacts derived = { .generation = generation, .shape = shape };
  QuoitTopologyRow row;

  if (!quoit_shape_check (generation, shape, error))
    return FALSE;
  if (chips_per_host == 0)
    chips_per_host = quoit_default_chips_per_host (generation, shape);
  if (!find_host_block (chips_per_host, shape.n_dims, &derived.host_block))
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "1, 2, 4 or 8", "chips per host '%u'", chips_per_host);
  if (!has_host_size (generation, chips_per_host))
    {
      g_autofree char *expected = g_strdup_printf ("a number that a machine type of %s has", name);

      return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "chips per host '%u'", chips_per_host);
    }

  derived.chips_per_host = (guint8) chips_per_host;
  derived.has_default_hosts = chips_per_host == quoit_default_chips_per_host (generation, shape);
  derived.hosts = quoit_shape_chips (shape) / chips_per_host;
  derived.host_grid.n_dims = shape.n_dims;
  for (unsigned axis = 0; axis < 3; axis++)
    {
      if (shape.dims[axis] % derived.host_block.dims[axis] != 0)
        {
          g_autofree char *text = quoit_shape_format (shape);
          g_autofree char *expected = g_strdup_printf (
              "hosts whose chips tile '%s', but a host with %u chips is a block of %ux%ux%u", text, chips_per_host,
              derived.host_block.dims[0], derived.host_block.dims[1], derived.host_block.dims[2]);

          return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "chips per host '%u'", chips_per_host);
        }
      derived.host_grid.dims[axis] = shape.dims[axis] / derived.host_block.dims[axis];
    }

  /* The hosts tile the shape, but no machine type builds slices from them. */
  if (!quoit_row_find (generation, shape, chips_per_host, &row))
    {
      g_autofree char *text = quoit_shape_format (shape);
      g_autofree char *expected = g_strdup_printf ("a number that hosts of %s %s have, such as %u", name, text,
                                                   quoit_default_chips_per_host (generation, shape));

      return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "chips per host '%u'", chips_per_host);
    }
  derived.machine_type = row.machine_type;
  derived.accepted_by = row.accepted_by;
  *facts = derived;
  return TRUE;
}

static char *
format_with_cores (const char *prefix, QuoitGeneration generation, QuoitShape shape)
{
  guint64 cores = (guint64) quoit_shape_chips (shape) * quoit_generation_facts (generation)->cores_per_chip;

  return g_strdup_printf ("%s-%" G_GUINT64_FORMAT, prefix, cores);
}

char *
quoit_pod_type_format (QuoitGeneration generation, QuoitShape shape)
{
  return format_with_cores (quoit_generation_pod_name (generation), generation, shape);
}

char *
quoit_gke_accelerator_type (QuoitGeneration generation, QuoitShape shape)
{
  const char *prefix = quoit_generation_facts (generation)->gke_prefix;

  return format_with_cores (prefix != NULL ? prefix : quoit_generation_pod_name (generation), generation, shape);
}
