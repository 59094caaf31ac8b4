/* SPDX-License-Identifier: Apache-2.0 */
/* JAX's rules for each kind of device. */
#include <string.h>

#include "models/jax/mesh.h"

/* Kinds without a row have no ring and one device per chip. */
/* clang-format off */
static const QuoitDeviceKind kinds[] = {
  { .name = "TPU v2",      .ring = quoit_ring_tray },
  { .name = "TPU v3",      .ring = quoit_ring_tray },
  { .name = "TPU v4 lite", .ring = quoit_ring_four },
  { .name = "TPU8i",       .ring = quoit_ring_four,   .cores = QUOIT_CORES_ALWAYS },
  { .name = "TPU v5 lite", .ring = quoit_ring_flat,   .make_mesh_splits = TRUE },
  { .name = "TPU v5e",     .ring = quoit_ring_flat,   .make_mesh_splits = TRUE },
  { .name = "TPU v6 lite", .ring = quoit_ring_flat },
  { .name = "TPU v5p",     .ring = quoit_ring_cube,   .cores = QUOIT_CORES_IF_TWO },
  { .name = "TPU v5",      .ring = quoit_ring_cube,   .cores = QUOIT_CORES_IF_TWO },
  { .name = "TPU7x",       .ring = quoit_ring_stacks, .cores = QUOIT_CORES_ALWAYS, .core_first = TRUE },
  { .name = "TPU7",        .ring = quoit_ring_stacks, .cores = QUOIT_CORES_ALWAYS, .core_first = TRUE },
};
/* clang-format on */

/* Returns the row of the catalogue with JAX's kind @name, or NULL. */
static const QuoitGenerationFacts *
find_facts (const char *name)
{
  const QuoitGenerationFacts *facts;

  for (unsigned i = 0; (facts = quoit_generation_row (i)) != NULL; i++)
    for (unsigned k = 0; k < G_N_ELEMENTS (facts->jax_kinds) && facts->jax_kinds[k] != NULL; k++)
      if (strcmp (facts->jax_kinds[k], name) == 0)
        return facts;

  return NULL;
}

static const QuoitDeviceKind *
find_rules (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].name, name) == 0)
      return &kinds[i];

  return NULL;
}

gboolean
quoit_device_kind_lookup (const char *name, QuoitDeviceKind *kind, GError **error)
{
  const QuoitGenerationFacts *facts = find_facts (name);
  const QuoitDeviceKind *rules = find_rules (name);
  QuoitGeneration generation;

  if (facts == NULL && rules == NULL)
    {
      if (!quoit_generation_parse (name, &generation, error))
        return FALSE;
      facts = quoit_generation_facts (generation);
      rules = find_rules (facts->jax_kinds[0]);
    }
  *kind = rules != NULL ? *rules : (QuoitDeviceKind) { .name = facts->jax_kinds[0] };
  if (facts != NULL)
    {
      kind->devices_per_chip = facts->devices_per_chip;
      kind->generation = facts->generation;
    }
  return TRUE;
}
