/* SPDX-License-Identifier: Apache-2.0 */
/* What TPU generations there are, and what can be built of each. Facts only: no fleet, no database, no file is read. */
#ifndef QUOIT_CATALOGUE_H
#define QUOIT_CATALOGUE_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitAxis:
 *
 * The axes of a torus, in the order of a topology's numbers.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_AXIS_X = 0, QUOIT_AXIS_Y = 1, QUOIT_AXIS_Z = 2 } QuoitAxis;

/**
 * QuoitCatalogueGeneration:
 *
 * One TPU generation. Part of the library: it is never freed, and may be read from any thread.
 *
 * Since: 0.1
 */
typedef struct _QuoitCatalogueGeneration QuoitCatalogueGeneration;

/**
 * QuoitCatalogueTopology:
 *
 * One way to build one topology of a generation: a shape, the chips of each host, and a machine type. A shape may have
 * several (2x4 of v6e: one machine with 8 chips, or two with 4). Part of the library, as the generation is.
 *
 * Since: 0.1
 */
typedef struct _QuoitCatalogueTopology QuoitCatalogueTopology;

/**
 * QuoitCatalogueMachine:
 *
 * One machine type of GKE. Part of the library, as the generation is.
 *
 * Since: 0.1
 */
typedef struct _QuoitCatalogueMachine QuoitCatalogueMachine;

/**
 * QuoitGenerationText:
 *
 * The names of a generation. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_GENERATION_TEXT_ID = 0,       /* quoit's own word, "v5e" */
  QUOIT_GENERATION_TEXT_NAME,         /* the word in pod types: Ray's where there is one, "v5litepod" */
  QUOIT_GENERATION_TEXT_RAY_VERSION,  /* "v5litepod" */
  QUOIT_GENERATION_TEXT_RAY_RESOURCE, /* "TPU-V5LITEPOD" */
  QUOIT_GENERATION_TEXT_GKE_PREFIX,   /* as in TPU_ACCELERATOR_TYPE, "v5litepod" */
  QUOIT_GENERATION_TEXT_GKE_LABEL,    /* several: values of cloud.google.com/gke-tpu-accelerator */
  QUOIT_GENERATION_TEXT_JAX_KIND,     /* several: device_kind in JAX, "TPU v5 lite" */
  QUOIT_GENERATION_TEXT_ALIAS,        /* several: what people say, "Trillium" */
  QUOIT_GENERATION_TEXT_MAX_TOPOLOGY  /* the largest of one job, where the vendor names it: "16x16x24" */
} QuoitGenerationText;

/**
 * QuoitGenerationNumber:
 *
 * The numbers of a generation; the unit is in the name. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_GENERATION_NUMBER_DIMS = 0, /* of its topologies: 2 or 3 */
  QUOIT_GENERATION_NUMBER_CORES_PER_CHIP,
  QUOIT_GENERATION_NUMBER_JAX_DEVICES_PER_CHIP,
  QUOIT_GENERATION_NUMBER_HBM_GB, /* a chip, as the next four */
  QUOIT_GENERATION_NUMBER_HBM_GBYTES_PER_S,
  QUOIT_GENERATION_NUMBER_BF16_GFLOPS,
  QUOIT_GENERATION_NUMBER_ICI_GBYTES_PER_S, /* to its neighbours in the slice */
  QUOIT_GENERATION_NUMBER_DCN_GBIT_PER_S,   /* to other slices */
  QUOIT_GENERATION_NUMBER_POD_CHIPS,
  QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS,
  QUOIT_GENERATION_NUMBER_OCS_CUBE_CHIPS,   /* of the cube that optical switches join */
  QUOIT_GENERATION_NUMBER_MULTISLICE_ON_GKE /* 1: slices of one job may be joined on GKE; 0: not */
} QuoitGenerationNumber;

/**
 * QuoitTopologyText:
 *
 * Texts of a topology. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_TOPOLOGY_TEXT_SHAPE = 0,            /* "4x8", x first */
  QUOIT_TOPOLOGY_TEXT_POD_TYPE,             /* Ray's: "v7x-16" */
  QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE, /* TPU_ACCELERATOR_TYPE on GKE: "tpu7x-16" */
  QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE,         /* "ct6e-standard-4t" */
  QUOIT_TOPOLOGY_TEXT_HOST_BLOCK,           /* the chips of one host: "2x2", "2x2x1" */
  QUOIT_TOPOLOGY_TEXT_HOST_GRID,            /* the hosts: "2x4" */
  QUOIT_TOPOLOGY_TEXT_WRAP,                 /* the axes that close to a ring: "", "y", "xyz" */
  QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY           /* who accepts it, a letter each: K kubectl ray, R Ray, X xpk, M MaxText, */
                                            /* T cluster-toolkit; "": the documentation alone */
} QuoitTopologyText;

/**
 * QuoitTopologyNumber:
 *
 * The numbers of a topology. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_TOPOLOGY_NUMBER_CHIPS = 0,
  QUOIT_TOPOLOGY_NUMBER_HOSTS,
  QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST,
  QUOIT_TOPOLOGY_NUMBER_CORES,
  QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES,
  QUOIT_TOPOLOGY_NUMBER_TWISTABLE, /* 1: the hardware can twist it; 0: not */
  QUOIT_TOPOLOGY_NUMBER_RAY_ONLY   /* 1: no other system offers this order of the axes; 0: another does */
} QuoitTopologyNumber;

/**
 * QuoitMachineText:
 *
 * The names of a machine type. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MACHINE_TEXT_NAME = 0,            /* "ct6e-standard-4t" */
  QUOIT_MACHINE_TEXT_GKE_LABEL,           /* "tpu-v6e-slice" */
  QUOIT_MACHINE_TEXT_SINGLE_HOST_TOPOLOGY /* of one machine alone: "2x2" */
} QuoitMachineText;

/**
 * QuoitMachineNumber:
 *
 * The numbers of a machine type. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MACHINE_NUMBER_CHIPS = 0,
  QUOIT_MACHINE_NUMBER_VCPUS,
  QUOIT_MACHINE_NUMBER_MEMORY_GB,
  QUOIT_MACHINE_NUMBER_MULTI_HOST /* 1: several of them make one slice; 0: only ever one host */
} QuoitMachineNumber;

/**
 * quoit_catalogue_get_generation:
 * @index: 0 for the first
 *
 * The generations in the order of their years. Count up until %NULL. The order of a release never changes in the next;
 * new generations come at the end.
 *
 * Returns: (transfer none) (nullable): the generation; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const QuoitCatalogueGeneration *quoit_catalogue_get_generation (unsigned index);

/**
 * quoit_catalogue_lookup_generation:
 * @text: any system's name for it, in any case: "v5e", "v5litepod", "TPU-V5LITEPOD", "tpu-v5-lite-podslice"
 * @error: (out) (optional): set on failure
 *
 * Finds the generation with the name @text.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown name (the message lists the known ones), when the name is known but
 * no topology of it is published (tpu8i: nothing can be done with it), or when @text is a pod type such as "v6e-16"
 * (pass what is before the last dash).
 *
 * Returns: (transfer none): the generation; %NULL on failure
 * Since: 0.1
 */
QUOIT_API const QuoitCatalogueGeneration *quoit_catalogue_lookup_generation (const char *text, GError **error);

/**
 * quoit_catalogue_generation_dup_text:
 * @generation: a generation
 * @which: which of its names
 * @index: 0, 1... where there may be several; else 0
 *
 * One name of @generation.
 *
 * Returns: (transfer full) (nullable): the name; g_free() it. %NULL without such a name, after the last of several,
 * and for a @which that this version does not know
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_catalogue_generation_dup_text (const QuoitCatalogueGeneration *generation,
                                                     QuoitGenerationText which, unsigned index);

/**
 * quoit_catalogue_generation_get_number:
 * @generation: a generation
 * @which: which of its numbers; the unit is in its name
 *
 * One number of @generation.
 *
 * Returns: the number; -1 where it is not published, and for a @which that this version does not know
 * Since: 0.1
 */
QUOIT_API int64_t quoit_catalogue_generation_get_number (const QuoitCatalogueGeneration *generation,
                                                         QuoitGenerationNumber which);

/**
 * quoit_catalogue_get_topology:
 * @generation: a generation
 * @index: 0 for the first
 *
 * The topologies of @generation: those that the vendor's systems offer, then the orders of axes that Ray alone accepts.
 * Count up until %NULL.
 *
 * Returns: (transfer none) (nullable): the topology; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const QuoitCatalogueTopology *quoit_catalogue_get_topology (const QuoitCatalogueGeneration *generation,
                                                                      unsigned index);

/**
 * quoit_catalogue_lookup_topology:
 * @generation: a generation
 * @shape: "4x4", "2x2x4": lower-case x, no blanks, no signs
 * @chips_per_host: the chips of each host; 0 for what Ray assumes: 8 for 2x4 of v5e and v6e, else 4, but never more
 * than the topology has
 * @error: (out) (optional): set on failure
 *
 * Finds the first way to build @shape of hosts with @chips_per_host chips.
 *
 * Fails with %QUOIT_ERROR_INVALID when @shape is not a topology (the message has the byte and what was expected there)
 * or none of @generation (the message names the nearest), and with %QUOIT_ERROR_NOT_FOUND when it is never built of
 * such hosts (pass another @chips_per_host).
 *
 * Returns: (transfer none): the topology; %NULL on failure
 * Since: 0.1
 */
QUOIT_API const QuoitCatalogueTopology *quoit_catalogue_lookup_topology (const QuoitCatalogueGeneration *generation,
                                                                         const char *shape, unsigned chips_per_host,
                                                                         GError **error);

/**
 * quoit_catalogue_topology_dup_text:
 * @topology: a topology
 * @which: what of it
 *
 * One text of @topology.
 *
 * Returns: (transfer full) (nullable): the text; g_free() it. %NULL without such a text, and for a @which that this
 *   version does not know
 * Since: 0.1
 */
QUOIT_API char *quoit_catalogue_topology_dup_text (const QuoitCatalogueTopology *topology, QuoitTopologyText which);

/**
 * quoit_catalogue_topology_get_number:
 * @topology: a topology
 * @which: which of its numbers
 *
 * One number of @topology.
 *
 * Returns: the number; -1 for a @which that this version does not know
 * Since: 0.1
 */
QUOIT_API int64_t quoit_catalogue_topology_get_number (const QuoitCatalogueTopology *topology,
                                                       QuoitTopologyNumber which);

/**
 * quoit_catalogue_get_machine:
 * @generation: a generation
 * @index: 0 for the first
 *
 * The machine types of @generation. Count up until %NULL.
 *
 * Returns: (transfer none) (nullable): the machine type; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const QuoitCatalogueMachine *quoit_catalogue_get_machine (const QuoitCatalogueGeneration *generation,
                                                                    unsigned index);

/**
 * quoit_catalogue_machine_dup_text:
 * @machine: a machine type
 * @which: what of it
 *
 * One text of @machine.
 *
 * Returns: (transfer full) (nullable): the text; g_free() it. %NULL without such a text, and for a @which that this
 *   version does not know
 * Since: 0.1
 */
QUOIT_API char *quoit_catalogue_machine_dup_text (const QuoitCatalogueMachine *machine, QuoitMachineText which);

/**
 * quoit_catalogue_machine_get_number:
 * @machine: a machine type
 * @which: which of its numbers; the unit is in its name
 *
 * One number of @machine.
 *
 * Returns: the number; -1 where it is not published, and for a @which that this version does not know
 * Since: 0.1
 */
QUOIT_API int64_t quoit_catalogue_machine_get_number (const QuoitCatalogueMachine *machine, QuoitMachineNumber which);

/* cdef-end */

G_END_DECLS

#endif
