/* SPDX-License-Identifier: Apache-2.0 */
/* What a TPU generation is, as one const table: generations, machine types, topologies, host blocks. */
#pragma once

#include "base/error.h"

/* The ids are stored in databases: append only. */
typedef enum {
  QUOIT_GENERATION_NONE = 0,
  QUOIT_GENERATION_V2,
  QUOIT_GENERATION_V3,
  QUOIT_GENERATION_V4,
  QUOIT_GENERATION_V5E,
  QUOIT_GENERATION_V5P,
  QUOIT_GENERATION_V6E,
  QUOIT_GENERATION_TPU7X,
  QUOIT_GENERATION_TPU7,
  QUOIT_N_GENERATIONS
} QuoitGeneration;

/* A topology as numbers of chips, x first. Two dimensions: dims[2] is 1 and n_dims says 2. */
typedef struct {
  guint16 dims[3];
  guint16 n_dims;
} QuoitShape;

/* Who accepts a topology of a generation. None: GKE's documentation alone. */
typedef enum {
  QUOIT_ACCEPTED_BY_KUBECTL_RAY = 1 << 0, /* K */
  QUOIT_ACCEPTED_BY_RAY = 1 << 1,         /* R */
  QUOIT_ACCEPTED_BY_XPK = 1 << 2,         /* X */
  QUOIT_ACCEPTED_BY_MAXTEXT = 1 << 3,     /* M */
  QUOIT_ACCEPTED_BY_TOOLKIT = 1 << 4      /* T */
} QuoitAcceptedBy;

/* How the links of an axis close (gke-kuberay-jax 1.7). */
typedef enum {
  QUOIT_WRAP_NOT_STATED = 0, /* read as no wrap */
  QUOIT_WRAP_ALL_FROM_4,     /* all three axes when every one is 4 or longer */
  QUOIT_WRAP_AXES_OF_16      /* an axis exactly when it is 16 */
} QuoitWrapRule;

/* What is said of the generation as a whole: bits. */
typedef enum {
  QUOIT_GENERATION_MULTISLICE_ON_GKE = 1 << 0,
  QUOIT_GENERATION_TWISTABLE = 1 << 1,       /* k k 2k and k 2k 2k, k a multiple of 4, can be twisted */
  QUOIT_GENERATION_TWIST_DOCUMENTED = 1 << 2 /* and the vendor's page of this generation says so */
} QuoitGenerationTraits;

/* Numbers that nobody has published are 0. */
typedef struct {
  QuoitGeneration generation; /* NONE for names that are known and never a fleet's: tpu8i, tpu8t */
  const char *id;             /* "v5e", quoit's own word */
  const char *ray_version;    /* "v5litepod"; NULL where Ray has no name */
  const char *ray_resource;   /* "TPU-V5LITEPOD"; NULL likewise */
  const char *gke_prefix;     /* "v5litepod", as in TPU_ACCELERATOR_TYPE; NULL where GKE has none */
  guint8 dims;                /* 2 or 3 */
  guint8 cores_per_chip;
  guint8 devices_per_chip; /* JAX devices */
  guint32 max_slice_chips; /* in one job, by the vendor's page: the catalogue lists larger shapes that tools accept */
  const char *aliases[3];  /* ends with NULL */
  const char *jax_kinds[3];
  guint32 hbm_gb, hbm_gbytes_per_s, bf16_gflops; /* a chip */
  guint32 ici_gbytes_per_s, dcn_gbit_per_s;      /* a chip */
  guint32 pod_chips;
  QuoitShape max_slice_shape; /* no dimensions: not stated */
  QuoitShape ocs_cube;        /* what optical switches join; no dimensions: none */
  QuoitWrapRule wrap;
  unsigned traits; /* of QuoitGenerationTraits */
} QuoitGenerationFacts;

typedef struct {
  const char *name;          /* "ct6e-standard-4t" */
  const char *generation_id; /* "v6e"; "v4lite" has no row among the generations */
  const char *gke_label;     /* "tpu-v6e-slice" */
  guint8 chips;
  guint16 vcpus, memory_gb; /* 0: not published */
  QuoitShape single_host;   /* the topology of one machine alone; no dimensions: none */
  enum { QUOIT_MACHINE_ALONE, QUOIT_MACHINE_IN_SLICES } joins;
} QuoitMachineType;

/* A value of the node label cloud.google.com/gke-tpu-accelerator. */
typedef struct {
  const char *label;
  const char *generation_id;
  enum { QUOIT_LABEL_SINGLE_HOST, QUOIT_LABEL_MULTI_HOST } hosts;
  guint8 max_tpu_per_container; /* 0: not published */
} QuoitGkeLabel;

/* How a host's chips are dealt to its processes (JAX), for each of the versions in JAX's words. */
typedef struct {
  guint8 host_chips, chips_per_process;
  const char *versions; /* between blanks */
  const char *process_bounds, *chips_per_process_bounds;
} QuoitProcessBounds;

typedef struct {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint32 hosts;
  QuoitShape host_block;    /* 4 chips: 2,2,1 (gke-kuberay-jax 1.3) */
  QuoitShape host_grid;     /* dims / block */
  const char *machine_type; /* "ct6e-standard-4t"; NULL where unknown */
  unsigned accepted_by;     /* of QuoitAcceptedBy */
} QuoitSliceFacts;

/* Row by row, in the catalogue's order; NULL past the end. The first QUOIT_N_GENERATIONS - 1 are the fleet classes. */
const QuoitGenerationFacts *quoit_generation_row (unsigned index);
const QuoitMachineType *quoit_machine_type_row (unsigned index);
const QuoitGkeLabel *quoit_gke_label_row (unsigned index);
const QuoitProcessBounds *quoit_process_bounds_row (unsigned index);

/* NULL where JAX has no such division. @jax_version: "v5e", "plc", "tpu7x"... */
const QuoitProcessBounds *quoit_process_bounds_find (const char *jax_version, unsigned host_chips,
                                                     unsigned chips_per_process);

/* NULL for NONE and for values that are not generations. */
const QuoitGenerationFacts *quoit_generation_facts (QuoitGeneration generation);

/* The word for people and for pod types: Ray's where there is one ("v5litepod"), else the catalogue's id. */
const char *quoit_generation_name (QuoitGeneration generation);

/* Any system's spelling, in any case: "v5e", "v5litepod", "TPU-V5LITEPOD", "tpu-v5-lite-podslice", "tpu7x", "v7x",
 * "TPU v5 lite". INVALID (names the known ones) for anything else; v4lite, tpu8i and tpu8t are known
 * names that are refused with that reason. A pod type ("v6e-16") is refused: it is not a generation. */
gboolean quoit_generation_parse (const char *text, QuoitGeneration *generation, GError **error);

/* Lower-case 'x' between two or three numbers of 1 to 4096. INVALID names the byte and says what was expected;
 * for '4X4' it also says that Ray would lower-case it. */
gboolean quoit_shape_parse (const char *text, QuoitShape *shape, GError **error);

/* The same for the @length bytes at @bytes; the message calls them a topology all the same. */
gboolean quoit_shape_parse_bytes (const char *bytes, gsize length, QuoitShape *shape, GError **error);
char *quoit_shape_format (QuoitShape shape);
guint32 quoit_shape_chips (QuoitShape shape); /* fits: parse refuses what has more than 2^32 - 1 */
static inline gboolean
quoit_shape_equal (QuoitShape a, QuoitShape b)
{
  return a.n_dims == b.n_dims && a.dims[0] == b.dims[0] && a.dims[1] == b.dims[1] && a.dims[2] == b.dims[2];
}

/* Whether @generation can have @shape at all: the right number of dimensions and a row of the catalogue (ray_extra
 * included). INVALID says which, with the nearest topologies there are. */
gboolean quoit_shape_check (QuoitGeneration generation, QuoitShape shape, GError **error);

/* One class: slices that can stand for each other. */
static inline gboolean
quoit_slice_facts_same_class (const QuoitSliceFacts *a, const QuoitSliceFacts *b)
{
  return a->generation == b->generation && a->chips_per_host == b->chips_per_host
         && quoit_shape_equal (a->shape, b->shape);
}

/* Ray's default (ray-tpu rule 10): a v5e or v6e 1x1, 2x2, 2x4 is one host with all its chips; anything else 4. But
 * never more than the shape has: tpu7x 1x1x1 is one host of 1 chip. */
unsigned quoit_default_chips_per_host (QuoitGeneration generation, QuoitShape shape);

/* The facts of a slice of @shape on hosts of @chips_per_host chips (0: the default). INVALID where the host block does
 * not tile the shape, the number is not 1, 2, 4 or 8, or no machine type of the generation has that many chips. */
gboolean quoit_slice_facts (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host,
                            QuoitSliceFacts *facts, GError **error);

/* "v6e-16", "v4-16": name and cores. */
char *quoit_pod_type_format (QuoitGeneration generation, QuoitShape shape);
/* "tpu7x-16", what GKE's device plugin sets; the pod type where GKE has no prefix. */
char *quoit_gke_accelerator_type (QuoitGeneration generation, QuoitShape shape);

guint32 quoit_shape_devices (QuoitGeneration generation, QuoitShape shape); /* JAX devices of the whole slice */

/* Which axes close to a ring: bit 0 for x, 1 for y, 2 for z. */
unsigned quoit_shape_wrap (QuoitGeneration generation, QuoitShape shape);
/* Whether the hardware can twist @shape. GKE's plugin never announces that it did. */
gboolean quoit_shape_twistable (QuoitGeneration generation, QuoitShape shape);

/* One way to build one topology. @machine_type may be NULL, and two rows may differ in it alone. */
typedef struct _QuoitCatalogueTopology {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint8 accepted_by;                                           /* of QuoitAcceptedBy */
  enum { QUOIT_TOPOLOGY_LISTED, QUOIT_TOPOLOGY_RAY_ONLY } kind; /* Ray takes other orders of the axes too */
  const char *machine_type;
} QuoitTopologyRow;

/* All rows of @generation: the listed ones by size, then those of Ray alone. Never freed. */
const QuoitTopologyRow *quoit_topology_rows (QuoitGeneration generation, unsigned *n_rows);
