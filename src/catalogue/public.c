/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of the catalogue. Its opaque types are the rows of the internal tables. */
#include <quoit/catalogue.h>

#include "base/error.h"
#include "catalogue/table.h"

#include <string.h>

static const QuoitGenerationFacts *
generation_facts (const QuoitCatalogueGeneration *generation)
{
  return (const QuoitGenerationFacts *) generation;
}

static const QuoitMachineType *
machine_type (const QuoitCatalogueMachine *machine)
{
  return (const QuoitMachineType *) machine;
}

/* The public functions return -1 for a number that is not published. */
static int64_t
number_or_unknown (guint32 number)
{
  return number > 0 ? (int64_t) number : -1;
}

static char *
format_shape (QuoitShape shape)
{
  return shape.n_dims > 0 ? quoit_shape_format (shape) : NULL;
}

const QuoitCatalogueGeneration *
quoit_catalogue_get_generation (uint32_t index)
{
  if (index >= QUOIT_N_GENERATIONS - 1)
    return NULL;

  return (const QuoitCatalogueGeneration *) quoit_generation_row (index);
}

const QuoitCatalogueGeneration *
quoit_catalogue_lookup_generation (const char *text, GError **error)
{
  QuoitGeneration generation;

  g_return_val_if_fail (text != NULL, NULL);

  if (!quoit_generation_parse (text, &generation, error))
    return NULL;

  return (const QuoitCatalogueGeneration *) quoit_generation_facts (generation);
}

static const char *
label_at (const char *generation_id, unsigned index)
{
  const QuoitGkeLabel *label;

  for (unsigned i = 0; (label = quoit_gke_label_row (i)) != NULL; i++)
    if (strcmp (label->generation_id, generation_id) == 0 && index-- == 0)
      return label->label;

  return NULL;
}

static const char *
one_name (const QuoitGenerationFacts *facts, QuoitGenerationText which)
{
  switch (which)
    {
    case QUOIT_GENERATION_TEXT_ID:
      return facts->id;
    case QUOIT_GENERATION_TEXT_NAME:
      return quoit_generation_pod_name (facts->generation);
    case QUOIT_GENERATION_TEXT_RAY_VERSION:
      return facts->ray_version;
    case QUOIT_GENERATION_TEXT_RAY_RESOURCE:
      return facts->ray_resource;
    case QUOIT_GENERATION_TEXT_GKE_PREFIX:
      return facts->gke_prefix;
    default:
      return NULL;
    }
}

char *
quoit_catalogue_generation_dup_text (const QuoitCatalogueGeneration *generation, QuoitGenerationText which,
                                     uint32_t index)
{
  const QuoitGenerationFacts *facts = generation_facts (generation);

  g_return_val_if_fail (generation != NULL, NULL);

  switch (which)
    {
    case QUOIT_GENERATION_TEXT_GKE_LABEL:
      return g_strdup (label_at (facts->id, index));
    case QUOIT_GENERATION_TEXT_JAX_KIND:
      return index < G_N_ELEMENTS (facts->jax_kinds) ? g_strdup (facts->jax_kinds[index]) : NULL;
    case QUOIT_GENERATION_TEXT_ALIAS:
      return index < G_N_ELEMENTS (facts->aliases) ? g_strdup (facts->aliases[index]) : NULL;
    case QUOIT_GENERATION_TEXT_MAX_TOPOLOGY:
      return index == 0 ? format_shape (facts->max_slice_shape) : NULL;
    default:
      return index == 0 ? g_strdup (one_name (facts, which)) : NULL;
    }
}

/* 0: slices do not consist of cubes. */
static guint32
cube_hosts (const QuoitGenerationFacts *facts)
{
  QuoitSliceFacts slice;

  if (facts->ocs_cube.n_dims == 0)
    return 0;
  g_assert (quoit_slice_facts (facts->generation, facts->ocs_cube, 0, &slice, NULL));
  return slice.hosts;
}

int64_t
quoit_catalogue_generation_get_number (const QuoitCatalogueGeneration *generation, QuoitGenerationNumber which)
{
  const QuoitGenerationFacts *facts = generation_facts (generation);

  g_return_val_if_fail (generation != NULL, -1);

  switch (which)
    {
    case QUOIT_GENERATION_NUMBER_DIMS:
      return facts->dims;
    case QUOIT_GENERATION_NUMBER_CORES_PER_CHIP:
      return facts->cores_per_chip;
    case QUOIT_GENERATION_NUMBER_JAX_DEVICES_PER_CHIP:
      return facts->devices_per_chip;
    case QUOIT_GENERATION_NUMBER_HBM_GB:
      return number_or_unknown (facts->hbm_gb);
    case QUOIT_GENERATION_NUMBER_HBM_GBYTES_PER_S:
      return number_or_unknown (facts->hbm_gbytes_per_s);
    case QUOIT_GENERATION_NUMBER_BF16_GFLOPS:
      return number_or_unknown (facts->bf16_gflops);
    case QUOIT_GENERATION_NUMBER_ICI_GBYTES_PER_S:
      return number_or_unknown (facts->ici_gbytes_per_s);
    case QUOIT_GENERATION_NUMBER_DCN_GBIT_PER_S:
      return number_or_unknown (facts->dcn_gbit_per_s);
    case QUOIT_GENERATION_NUMBER_POD_CHIPS:
      return number_or_unknown (facts->pod_chips);
    case QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS:
      return number_or_unknown (facts->max_slice_chips);
    case QUOIT_GENERATION_NUMBER_OCS_CUBE_CHIPS:
      return number_or_unknown (facts->ocs_cube.n_dims > 0 ? quoit_shape_chips (facts->ocs_cube) : 0);
    case QUOIT_GENERATION_NUMBER_MULTISLICE_ON_GKE:
      return (facts->traits & QUOIT_GENERATION_MULTISLICE_ON_GKE) != 0;
    case QUOIT_GENERATION_NUMBER_OCS_CUBE_HOSTS:
      return number_or_unknown (cube_hosts (facts));
    default:
      return -1;
    }
}

const QuoitCatalogueTopology *
quoit_catalogue_get_topology (const QuoitCatalogueGeneration *generation, uint32_t index)
{
  const QuoitTopologyRow *rows;
  unsigned n;

  g_return_val_if_fail (generation != NULL, NULL);

  rows = quoit_topology_rows (generation_facts (generation)->generation, &n);
  return index < n ? &rows[index] : NULL;
}

const QuoitCatalogueTopology *
quoit_catalogue_lookup_topology (const QuoitCatalogueGeneration *generation, const char *shape, uint32_t chips_per_host,
                                 GError **error)
{
  const QuoitTopologyRow *rows;
  QuoitGeneration code;
  QuoitShape wanted;
  unsigned n;

  g_return_val_if_fail (generation != NULL && shape != NULL, NULL);

  code = generation_facts (generation)->generation;
  if (!quoit_shape_parse (shape, &wanted, error) || !quoit_shape_check (code, wanted, error))
    return NULL;

  if (chips_per_host == 0)
    chips_per_host = quoit_default_chips_per_host (code, wanted);
  rows = quoit_topology_rows (code, &n);
  for (unsigned i = 0; i < n; i++)
    if (rows[i].chips_per_host == chips_per_host && quoit_shape_equal (rows[i].shape, wanted))
      return &rows[i];

  return quoit_fail_null (error, QUOIT_ERROR_NOT_FOUND,
                          "topology '%s': expected another host size: %s has no hosts of '%u' chips that form it",
                          shape, quoit_generation_name (code), chips_per_host);
}

uint32_t
quoit_catalogue_lookup_cubes (const QuoitCatalogueGeneration *generation, const char *shape, GError **error)
{
  const QuoitGenerationFacts *facts = generation_facts (generation);
  QuoitShape wanted;
  uint32_t n = 1;

  g_return_val_if_fail (generation != NULL && shape != NULL, 0);

  if (facts->ocs_cube.n_dims == 0)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "a generation whose slices consist of cubes",
                                "accelerator '%s'", facts->id);
  if (!quoit_shape_parse (shape, &wanted, error) || !quoit_shape_check (facts->generation, wanted, error))
    return 0;
  for (unsigned axis = 0; axis < 3; axis++)
    {
      g_autofree char *cube = NULL;

      n *= wanted.dims[axis] / facts->ocs_cube.dims[axis];
      if (wanted.dims[axis] % facts->ocs_cube.dims[axis] == 0)
        continue;
      cube = quoit_shape_format (facts->ocs_cube);
      quoit_fail (error, QUOIT_ERROR_INVALID, "topology '%s': expected whole cubes of %s", shape, cube);
      return 0;
    }
  return n;
}

static QuoitSliceFacts
derive_slice (const QuoitTopologyRow *row)
{
  QuoitSliceFacts facts;

  g_assert (quoit_slice_facts (row->generation, row->shape, row->chips_per_host, &facts, NULL));
  return facts;
}

/* Returns the character of @alphabet for each bit of @bits that is set. */
static char *
format_bits (unsigned bits, const char *alphabet)
{
  GString *out = g_string_new (NULL);

  for (unsigned i = 0; alphabet[i] != '\0'; i++)
    if ((bits & 1u << i) != 0)
      g_string_append_c (out, alphabet[i]);

  return g_string_free (out, FALSE);
}

char *
quoit_catalogue_topology_dup_text (const QuoitCatalogueTopology *topology, QuoitTopologyText which)
{
  g_return_val_if_fail (topology != NULL, NULL);

  switch (which)
    {
    case QUOIT_TOPOLOGY_TEXT_SHAPE:
      return quoit_shape_format (topology->shape);
    case QUOIT_TOPOLOGY_TEXT_POD_TYPE:
      return quoit_pod_type_format (topology->generation, topology->shape);
    case QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE:
      return quoit_gke_accelerator_type (topology->generation, topology->shape);
    case QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE:
      return g_strdup (topology->machine_type);
    case QUOIT_TOPOLOGY_TEXT_HOST_BLOCK:
      return quoit_shape_format (derive_slice (topology).host_block);
    case QUOIT_TOPOLOGY_TEXT_HOST_GRID:
      return quoit_shape_format (derive_slice (topology).host_grid);
    case QUOIT_TOPOLOGY_TEXT_WRAP:
      return format_bits (quoit_shape_wrap (topology->generation, topology->shape), "xyz");
    case QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY:
      return format_bits (topology->accepted_by, "KRXMT");
    default:
      return NULL;
    }
}

int64_t
quoit_catalogue_topology_get_number (const QuoitCatalogueTopology *topology, QuoitTopologyNumber which)
{
  g_return_val_if_fail (topology != NULL, -1);

  switch (which)
    {
    case QUOIT_TOPOLOGY_NUMBER_CHIPS:
      return quoit_shape_chips (topology->shape);
    case QUOIT_TOPOLOGY_NUMBER_HOSTS:
      return derive_slice (topology).hosts;
    case QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST:
      return topology->chips_per_host;
    case QUOIT_TOPOLOGY_NUMBER_CORES:
      return (int64_t) quoit_shape_chips (topology->shape)
             * quoit_generation_facts (topology->generation)->cores_per_chip;
    case QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES:
      return quoit_shape_devices (topology->generation, topology->shape);
    case QUOIT_TOPOLOGY_NUMBER_TWISTABLE:
      return quoit_shape_is_twistable (topology->generation, topology->shape);
    case QUOIT_TOPOLOGY_NUMBER_RAY_ONLY:
      return topology->listing == QUOIT_TOPOLOGY_RAY_ONLY;
    default:
      return -1;
    }
}

const QuoitCatalogueMachine *
quoit_catalogue_get_machine (const QuoitCatalogueGeneration *generation, uint32_t index)
{
  const QuoitMachineType *machine;

  g_return_val_if_fail (generation != NULL, NULL);

  for (unsigned i = 0; (machine = quoit_machine_type_row (i)) != NULL; i++)
    if (strcmp (machine->generation_id, generation_facts (generation)->id) == 0 && index-- == 0)
      return (const QuoitCatalogueMachine *) machine;

  return NULL;
}

char *
quoit_catalogue_machine_dup_text (const QuoitCatalogueMachine *machine, QuoitMachineText which)
{
  g_return_val_if_fail (machine != NULL, NULL);

  switch (which)
    {
    case QUOIT_MACHINE_TEXT_NAME:
      return g_strdup (machine_type (machine)->name);
    case QUOIT_MACHINE_TEXT_GKE_LABEL:
      return g_strdup (machine_type (machine)->gke_label);
    case QUOIT_MACHINE_TEXT_SINGLE_HOST_TOPOLOGY:
      return format_shape (machine_type (machine)->single_host);
    default:
      return NULL;
    }
}

int64_t
quoit_catalogue_machine_get_number (const QuoitCatalogueMachine *machine, QuoitMachineNumber which)
{
  g_return_val_if_fail (machine != NULL, -1);

  switch (which)
    {
    case QUOIT_MACHINE_NUMBER_CHIPS:
      return machine_type (machine)->chips;
    case QUOIT_MACHINE_NUMBER_VCPUS:
      return number_or_unknown (machine_type (machine)->vcpus);
    case QUOIT_MACHINE_NUMBER_MEMORY_GB:
      return number_or_unknown (machine_type (machine)->memory_gb);
    case QUOIT_MACHINE_NUMBER_MULTI_HOST:
      return machine_type (machine)->hosts == QUOIT_MACHINE_MULTI_HOST;
    default:
      return -1;
    }
}
