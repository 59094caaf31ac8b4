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

typedef struct {
  QuoitGeneration generation;
  const char *id;           /* "v5e", quoit's own word */
  const char *ray_version;  /* "v5litepod"; NULL where Ray has no name */
  const char *ray_resource; /* "TPU-V5LITEPOD"; NULL likewise */
  const char *gke_prefix;   /* "v5litepod", as in TPU_ACCELERATOR_TYPE; NULL where GKE has none */
  guint8 dims;              /* 2 or 3 */
  guint8 cores_per_chip;
  guint8 devices_per_chip; /* JAX devices */
  guint32 max_slice_chips;
  /* further facts of the catalogue (HBM, bandwidths, labels, wrap rule...) follow in the table's own type */
} QuoitGenerationFacts;

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
char *quoit_shape_format (QuoitShape shape);
guint32 quoit_shape_chips (QuoitShape shape); /* at most 4096^3 is refused by parse: fits */
static inline gboolean
quoit_shape_equal (QuoitShape a, QuoitShape b)
{
  return a.n_dims == b.n_dims && a.dims[0] == b.dims[0] && a.dims[1] == b.dims[1] && a.dims[2] == b.dims[2];
}

/* Whether @generation can have @shape at all: the right number of dimensions and a row of the catalogue (ray_extra
 * included). INVALID says which, with the nearest topologies there are. */
gboolean quoit_shape_check (QuoitGeneration generation, QuoitShape shape, GError **error);

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
