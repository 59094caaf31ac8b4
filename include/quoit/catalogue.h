/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about TPU generations, their topologies and their machine types. No fleet, database or file is read. */
#ifndef QUOIT_CATALOGUE_H
#define QUOIT_CATALOGUE_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitAxis:
 *
 * The axes of a torus, in the order of a topology's numbers.
 */
typedef enum { QUOIT_AXIS_X = 0, QUOIT_AXIS_Y = 1, QUOIT_AXIS_Z = 2 } QuoitAxis;

/**
 * QuoitCatalogueGeneration:
 *
 * A TPU generation. It belongs to the library and is never freed; any thread can read it.
 */
typedef struct _QuoitCatalogueGeneration QuoitCatalogueGeneration;

/**
 * QuoitCatalogueTopology:
 *
 * A topology of a generation on hosts of one size: a shape, the number of chips of each host, and a machine type. A
 * shape can occur several times: 2x4 of v6e is one machine with 8 chips, or two with 4. It belongs to the library and
 * is never freed; any thread can read it.
 */
typedef struct _QuoitCatalogueTopology QuoitCatalogueTopology;

/**
 * QuoitCatalogueMachine:
 *
 * A machine type of GKE. It belongs to the library and is never freed; any thread can read it.
 */
typedef struct _QuoitCatalogueMachine QuoitCatalogueMachine;

/**
 * QuoitGenerationText:
 *
 * A name of a generation. Later versions can add values.
 */
typedef enum {
  QUOIT_GENERATION_TEXT_ID = 0,       /* quoit's name, "v5e" */
  QUOIT_GENERATION_TEXT_NAME,         /* the name in pod types; Ray's if it has one, "v5litepod" */
  QUOIT_GENERATION_TEXT_RAY_VERSION,  /* the name in Ray, "v5litepod" */
  QUOIT_GENERATION_TEXT_RAY_RESOURCE, /* the accelerator type in Ray, "TPU-V5LITEPOD" */
  QUOIT_GENERATION_TEXT_GKE_PREFIX,   /* the prefix of TPU_ACCELERATOR_TYPE on GKE, "v5litepod" */
  QUOIT_GENERATION_TEXT_GKE_LABEL,    /* several: values of cloud.google.com/gke-tpu-accelerator */
  QUOIT_GENERATION_TEXT_JAX_KIND,     /* several: device_kind in JAX, "TPU v5 lite" */
  QUOIT_GENERATION_TEXT_ALIAS,        /* several: other names, "Trillium" */
  QUOIT_GENERATION_TEXT_MAX_TOPOLOGY  /* the largest topology of one job, if the vendor states it: "16x16x24" */
} QuoitGenerationText;

/**
 * QuoitGenerationNumber:
 *
 * A number of a generation. The name of the value has the unit. Later versions can add values.
 */
typedef enum {
  QUOIT_GENERATION_NUMBER_DIMS = 0, /* dimensions of its topologies: 2 or 3 */
  QUOIT_GENERATION_NUMBER_CORES_PER_CHIP,
  QUOIT_GENERATION_NUMBER_JAX_DEVICES_PER_CHIP,
  QUOIT_GENERATION_NUMBER_HBM_GB, /* per chip, like the next four */
  QUOIT_GENERATION_NUMBER_HBM_GBYTES_PER_S,
  QUOIT_GENERATION_NUMBER_BF16_GFLOPS,
  QUOIT_GENERATION_NUMBER_ICI_GBYTES_PER_S, /* to its neighbours in the slice */
  QUOIT_GENERATION_NUMBER_DCN_GBIT_PER_S,   /* to other slices */
  QUOIT_GENERATION_NUMBER_POD_CHIPS,
  QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS,
  QUOIT_GENERATION_NUMBER_OCS_CUBE_CHIPS,    /* chips of a cube that optical circuit switches join */
  QUOIT_GENERATION_NUMBER_MULTISLICE_ON_GKE, /* 1: a job can have several slices on GKE; 0: it cannot */
  QUOIT_GENERATION_NUMBER_OCS_CUBE_HOSTS     /* hosts of that cube */
} QuoitGenerationNumber;

/**
 * QuoitTopologyText:
 *
 * A text of a topology. Later versions can add values.
 */
typedef enum {
  QUOIT_TOPOLOGY_TEXT_SHAPE = 0,            /* "4x8", x first */
  QUOIT_TOPOLOGY_TEXT_POD_TYPE,             /* Ray's: "v7x-16" */
  QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE, /* TPU_ACCELERATOR_TYPE on GKE: "tpu7x-16" */
  QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE,         /* "ct6e-standard-4t" */
  QUOIT_TOPOLOGY_TEXT_HOST_BLOCK,           /* the chips of one host: "2x2", "2x2x1" */
  QUOIT_TOPOLOGY_TEXT_HOST_GRID,            /* the hosts: "2x4" */
  QUOIT_TOPOLOGY_TEXT_WRAP,                 /* the axes that are rings: "", "y", "xyz" */
  QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY           /* tools that accept it, one letter each: K kubectl ray, R Ray, X xpk, */
                                            /* M MaxText, T cluster-toolkit; "": only GKE's documentation lists it */
} QuoitTopologyText;

/**
 * QuoitTopologyNumber:
 *
 * A number of a topology. Later versions can add values.
 */
typedef enum {
  QUOIT_TOPOLOGY_NUMBER_CHIPS = 0,
  QUOIT_TOPOLOGY_NUMBER_HOSTS,
  QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST,
  QUOIT_TOPOLOGY_NUMBER_CORES,
  QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES,
  QUOIT_TOPOLOGY_NUMBER_TWISTABLE, /* 1: the torus can be twisted; 0: it cannot */
  QUOIT_TOPOLOGY_NUMBER_RAY_ONLY   /* 1: only Ray accepts this order of the axes; 0: other systems do too */
} QuoitTopologyNumber;

/**
 * QuoitMachineText:
 *
 * A name of a machine type. Later versions can add values.
 */
typedef enum {
  QUOIT_MACHINE_TEXT_NAME = 0,            /* "ct6e-standard-4t" */
  QUOIT_MACHINE_TEXT_GKE_LABEL,           /* "tpu-v6e-slice" */
  QUOIT_MACHINE_TEXT_SINGLE_HOST_TOPOLOGY /* the topology of one machine alone: "2x2" */
} QuoitMachineText;

/**
 * QuoitMachineNumber:
 *
 * A number of a machine type. Later versions can add values.
 */
typedef enum {
  QUOIT_MACHINE_NUMBER_CHIPS = 0,
  QUOIT_MACHINE_NUMBER_VCPUS,
  QUOIT_MACHINE_NUMBER_MEMORY_GB,
  QUOIT_MACHINE_NUMBER_MULTI_HOST /* 1: a slice can have several of these machines; 0: only one */
} QuoitMachineNumber;

/**
 * quoit_catalogue_get_generation:
 * @index: 0 for the first
 *
 * Lists the generations, the oldest first. Call it with @index 0, 1, ... until it returns %NULL. The order never
 * changes; later versions add new generations at the end.
 *
 * Returns: (transfer none) (nullable): the generation; %NULL after the last
 */
QUOIT_API const QuoitCatalogueGeneration *quoit_catalogue_get_generation (uint32_t index);

/**
 * quoit_catalogue_lookup_generation:
 * @text: any system's name of the generation, in upper or lower case: "v5e", "v5litepod", "TPU-V5LITEPOD",
 *   "tpu-v5-lite-podslice"
 *
 * Finds the generation with the name @text.
 *
 * Fails with %QUOIT_ERROR_INVALID if the name is unknown (the message lists the known ones), if no topology of the
 * generation is published (tpu8i), or if @text is a pod type such as "v6e-16" (pass the part before the last dash).
 *
 * Returns: (transfer none): the generation
 */
QUOIT_API const QuoitCatalogueGeneration *quoit_catalogue_lookup_generation (const char *text, GError **error);

/**
 * quoit_catalogue_generation_dup_text:
 * @which: the kind of name
 * @index: 0, 1... if there can be several names of that kind; else 0
 *
 * Returns: (transfer full) (nullable): the name; g_free() it. %NULL if there is no such name, after the last of
 *   several, and for an unknown @which
 */
QUOIT_API char *quoit_catalogue_generation_dup_text (const QuoitCatalogueGeneration *generation,
                                                     QuoitGenerationText which, uint32_t index);

/**
 * quoit_catalogue_generation_get_number:
 * @which: the number to return
 *
 * Returns: the number; -1 if it is not published, and for an unknown @which
 */
QUOIT_API int64_t quoit_catalogue_generation_get_number (const QuoitCatalogueGeneration *generation,
                                                         QuoitGenerationNumber which);

/**
 * quoit_catalogue_get_topology:
 * @index: 0 for the first
 *
 * Lists the topologies of @generation: those that the vendor's systems offer, then those that only Ray accepts, such as
 * other orders of the axes. Call it with @index 0, 1, ... until it returns %NULL.
 *
 * Returns: (transfer none) (nullable): the topology; %NULL after the last
 */
QUOIT_API const QuoitCatalogueTopology *quoit_catalogue_get_topology (const QuoitCatalogueGeneration *generation,
                                                                      uint32_t index);

/**
 * quoit_catalogue_lookup_topology:
 * @shape: "4x4", "2x2x4": lower-case x, no blanks, no signs
 * @chips_per_host: the number of chips of each host; 0 for Ray's default: 8 for 2x4 of v5e and v6e, else 4, but never
 *   more than the topology has
 *
 * Finds the topology with that shape on hosts with that number of chips.
 *
 * Fails with %QUOIT_ERROR_INVALID if @shape is not a topology (the message has the position and what was expected
 * there) or @generation does not have it (the message names the nearest one), and with %QUOIT_ERROR_NOT_FOUND if it
 * does not exist on such hosts (pass another @chips_per_host).
 *
 * Returns: (transfer none): the topology
 */
QUOIT_API const QuoitCatalogueTopology *quoit_catalogue_lookup_topology (const QuoitCatalogueGeneration *generation,
                                                                         const char *shape, uint32_t chips_per_host,
                                                                         GError **error);

/**
 * quoit_catalogue_lookup_cubes:
 * @shape: "4x4x8": lower-case x, no blanks, no signs
 *
 * Returns how many cubes a slice of that shape has. Optical circuit switches (OCS) join them.
 *
 * Fails with %QUOIT_ERROR_INVALID if the slices of @generation do not consist of cubes, if @shape is not a topology of
 * @generation (the message names the nearest one), or if it is smaller than a cube.
 *
 * Returns: the number of cubes; 0 on failure
 */
QUOIT_API uint32_t quoit_catalogue_lookup_cubes (const QuoitCatalogueGeneration *generation, const char *shape,
                                                 GError **error);

/**
 * quoit_catalogue_topology_dup_text:
 * @which: the text to return
 *
 * Returns: (transfer full) (nullable): the text; g_free() it. %NULL if there is no such text, and for an unknown @which
 */
QUOIT_API char *quoit_catalogue_topology_dup_text (const QuoitCatalogueTopology *topology, QuoitTopologyText which);

/**
 * quoit_catalogue_topology_get_number:
 * @which: the number to return
 *
 * Returns: the number; -1 for an unknown @which
 */
QUOIT_API int64_t quoit_catalogue_topology_get_number (const QuoitCatalogueTopology *topology,
                                                       QuoitTopologyNumber which);

/**
 * quoit_catalogue_get_machine:
 * @index: 0 for the first
 *
 * Lists the machine types of @generation. Call it with @index 0, 1, ... until it returns %NULL.
 *
 * Returns: (transfer none) (nullable): the machine type; %NULL after the last
 */
QUOIT_API const QuoitCatalogueMachine *quoit_catalogue_get_machine (const QuoitCatalogueGeneration *generation,
                                                                    uint32_t index);

/**
 * quoit_catalogue_machine_dup_text:
 * @machine: a machine type
 * @which: the text to return
 *
 * Returns: (transfer full) (nullable): the text; g_free() it. %NULL if there is no such text, and for an unknown @which
 */
QUOIT_API char *quoit_catalogue_machine_dup_text (const QuoitCatalogueMachine *machine, QuoitMachineText which);

/**
 * quoit_catalogue_machine_get_number:
 * @machine: a machine type
 * @which: the number to return
 *
 * Returns: the number; -1 if it is not published, and for an unknown @which
 */
QUOIT_API int64_t quoit_catalogue_machine_get_number (const QuoitCatalogueMachine *machine, QuoitMachineNumber which);

/* cdef-end */

G_END_DECLS

#endif
