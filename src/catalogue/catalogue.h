/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of TPU generations: constant tables of generations, machine types, topologies and host blocks.
 *
 * Comments cite the rules of other systems by page and section: "gke-kuberay-jax 1.7" is section 1.7 of
 * docs/rules/gke-kuberay-jax.md. */
#pragma once

#include <string.h>

#include "base/error.h"

/* Databases store these values, so new ones are only appended. */
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

/* A topology: the number of chips along each axis, x first. A two-dimensional topology has n_dims 2 and dims[2] 1. */
typedef struct {
  guint16 dims[3];
  guint16 n_dims;
} QuoitShape;

/* The tools that accept a topology of a generation, as bits. A topology without a bit is listed only in GKE's
 * documentation. */
typedef enum {
  QUOIT_ACCEPTED_BY_KUBECTL_RAY = 1 << 0, /* the Ray plugin of kubectl */
  QUOIT_ACCEPTED_BY_RAY = 1 << 1,
  QUOIT_ACCEPTED_BY_XPK = 1 << 2,
  QUOIT_ACCEPTED_BY_MAXTEXT = 1 << 3,
  QUOIT_ACCEPTED_BY_TOOLKIT = 1 << 4 /* Google's cluster-toolkit */
} QuoitAcceptedBy;

/* Which axes have wraparound links (gke-kuberay-jax 1.7). */
typedef enum {
  QUOIT_WRAP_NOT_STATED = 0, /* no public source states it; treated as no wraparound */
  QUOIT_WRAP_ALL_FROM_4,     /* all three axes if each has 4 chips or more, otherwise none */
  QUOIT_WRAP_AXES_OF_16      /* each axis of exactly 16 chips */
} QuoitWrapRule;

/* Properties of a generation, as bits. */
typedef enum {
  QUOIT_GENERATION_MULTISLICE_ON_GKE = 1 << 0, /* GKE can connect several slices of it to one job */
  QUOIT_GENERATION_TWISTABLE = 1 << 1,         /* shapes k,k,2k and k,2k,2k can be twisted if k is a multiple of 4 */
  QUOIT_GENERATION_TWIST_DOCUMENTED = 1 << 2,  /* the vendor's page of this generation documents twisting */
  /* Ray expects hosts of up to 8 chips; of other generations it expects 4 (ray-tpu 2.10). */
  QUOIT_GENERATION_RAY_LARGE_HOSTS = 1 << 3,
  /* GKE gives each process its own address and worker id, so that the containers of a pod are separate processes
   * (gke-kuberay-jax 3.2). */
  QUOIT_GENERATION_PROCESS_ADDRESSES = 1 << 4
} QuoitGenerationTraits;

/* Facts of one TPU generation. A number that is not published is 0. */
typedef struct {
  QuoitGeneration generation; /* NONE for generations that no fleet can have yet: tpu8i, tpu8t */
  const char *id;             /* quoit's own name: "v5e" */
  const char *ray_version;    /* Ray's name: "v5litepod"; NULL if Ray has no name */
  const char *ray_resource;   /* the resource that Ray adds: "TPU-V5LITEPOD"; NULL if Ray has no name */
  const char *gke_prefix;     /* how TPU_ACCELERATOR_TYPE begins on GKE: "v5litepod"; NULL if GKE has no name */
  const char *gce_type;       /* GCE's acceleratorConfig.type in lower case, if Ray translates it; otherwise NULL */
  const char *maxtext_prefix; /* how MaxText's topologies begin: "v5"; NULL: with id */
  guint8 dims;                /* number of dimensions of its topologies: 2 or 3 */
  guint8 cores_per_chip;
  guint8 devices_per_chip;  /* JAX devices */
  guint32 max_slice_chips;  /* per job, by the vendor's page; some listed topologies that tools accept are larger */
  const char *aliases[3];   /* other names, NULL-terminated */
  const char *jax_kinds[3]; /* the device_kind of its JAX devices, NULL-terminated */
  guint32 hbm_gb, hbm_gbytes_per_s, bf16_gflops; /* per chip */
  guint32 ici_gbytes_per_s, dcn_gbit_per_s;      /* per chip */
  guint32 pod_chips;                             /* the largest number of chips that ICI can connect */
  QuoitShape max_slice_shape;                    /* without dimensions if not published */
  QuoitShape ocs_cube; /* the block that optical circuit switches connect; without dimensions: none */
  QuoitWrapRule wrap;
  unsigned traits; /* of QuoitGenerationTraits */
} QuoitGenerationFacts;

/* A machine type of GCE with TPU chips. */
typedef struct {
  const char *name;          /* "ct6e-standard-4t" */
  const char *generation_id; /* "v6e"; "v4lite" is not in the table of generations */
  const char *gke_label;     /* "tpu-v6e-slice" */
  guint8 chips;
  guint16 vcpus, memory_gb; /* 0: not published */
  QuoitShape single_host;   /* the topology of a slice of one such host; without dimensions: none */
  enum { QUOIT_MACHINE_SINGLE_HOST, QUOIT_MACHINE_MULTI_HOST } hosts; /* the slices that it can be part of */
} QuoitMachineType;

/* A value of the node label cloud.google.com/gke-tpu-accelerator. */
typedef struct {
  const char *label;
  const char *generation_id;
  enum { QUOIT_LABEL_SINGLE_HOST, QUOIT_LABEL_MULTI_HOST } hosts;
  guint8 max_tpu_per_container; /* 0: not published */
  gboolean is_known_to_ray;     /* Ray's autoscaler for KubeRay recognises the label (ray-tpu 4.4) */
} QuoitGkeLabel;

/* How JAX divides the chips of a host between processes. */
typedef struct {
  guint8 host_chips, chips_per_process;
  const char *versions; /* JAX's names of the generations, separated and enclosed by spaces */
  const char *process_bounds, *chips_per_process_bounds;
} QuoitProcessBounds;

/* A slice and its hosts, as derived from the topology and the chips per host. */
typedef struct {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  gboolean has_default_hosts; /* chips_per_host is Ray's default for the shape */
  guint32 hosts;
  QuoitShape host_block;    /* the chips of one host: 2,2,1 for 4 chips (gke-kuberay-jax 1.3) */
  QuoitShape host_grid;     /* the number of hosts along each axis */
  const char *machine_type; /* "ct6e-standard-4t"; NULL if unknown */
  unsigned accepted_by;     /* of QuoitAcceptedBy */
} QuoitSliceFacts;

/* These functions return the rows of a table in the order of the catalogue, and NULL past the end. Fleets can have
 * only the first QUOIT_N_GENERATIONS - 1 generations. */
const QuoitGenerationFacts *quoit_generation_row (unsigned index);
const QuoitMachineType *quoit_machine_type_row (unsigned index);
const QuoitGkeLabel *quoit_gke_label_row (unsigned index);
const QuoitProcessBounds *quoit_process_bounds_row (unsigned index);

/* Finds how processes of @chips_per_process chips divide a host. Returns NULL if JAX does not support that.
 * @jax_version is JAX's name of the generation, such as "v5e", "plc" or "tpu7x". */
const QuoitProcessBounds *quoit_process_bounds_find (const char *jax_version, unsigned host_chips,
                                                     unsigned chips_per_process);

/* Returns NULL for NONE and for values that are not generations. */
const QuoitGenerationFacts *quoit_generation_facts (QuoitGeneration generation);

/* Returns quoit's name, the catalogue's id: "v5e", "tpu7x". */
const char *quoit_generation_name (QuoitGeneration generation);
/* Returns the name in pod types: Ray's name if there is one ("v5litepod"), otherwise the catalogue's id. */
const char *quoit_generation_pod_name (QuoitGeneration generation);

/* Accepts the spelling of any system, in any case: "v5e", "v5litepod", "TPU-V5LITEPOD", "tpu-v5-lite-podslice",
 * "tpu7x", "v7x", "TPU v5 lite". Other text fails with INVALID and a list of the known ids. The names v4lite, tpu8i
 * and tpu8t are refused because they have no published topologies. A pod type ("v6e-16") is refused because it is
 * not a generation. */
gboolean quoit_generation_parse (const char *text, QuoitGeneration *generation, GError **error);

/* Parses two or three numbers of 1 to 4096, separated by a lower-case 'x'. The message of INVALID names the byte and
 * what was expected; for '4X4', it mentions that Ray would accept it. */
gboolean quoit_shape_parse (const char *text, QuoitShape *shape, GError **error);

/* Like quoit_shape_parse(), for the @length bytes at @bytes. */
gboolean quoit_shape_parse_bytes (const char *bytes, gsize length, QuoitShape *shape, GError **error);
char *quoit_shape_format (QuoitShape shape);
void quoit_shape_append (GString *text, QuoitShape shape);
guint32 quoit_shape_chips (QuoitShape shape); /* cannot overflow: parsing refuses more than 2^32 - 1 chips */
static inline gboolean
quoit_shape_equal (QuoitShape a, QuoitShape b)
{
  return memcmp (&a, &b, sizeof a) == 0; /* without padding, in one comparison */
}

/* Returns whether @generation can have @shape: the number of dimensions is right, and the catalogue lists it. A
 * topology that only Ray accepts counts too. The message of INVALID names the nearest topologies. */
gboolean quoit_shape_check (QuoitGeneration generation, QuoitShape shape, GError **error);

/* Returns whether both slices belong to one class, so that one can replace the other. */
static inline gboolean
quoit_slice_facts_same_class (const QuoitSliceFacts *a, const QuoitSliceFacts *b)
{
  return a->generation == b->generation && a->chips_per_host == b->chips_per_host
         && quoit_shape_equal (a->shape, b->shape);
}

/* Returns Ray's default (ray-tpu 2.10): a slice of 1x1, 2x2 or 2x4 is one host with all chips if the generation has
 * large hosts (v5e and v6e). Otherwise a host has 4 chips, or fewer if the slice has fewer: a tpu7x slice of 1x1x1 is
 * one host with 1 chip. */
unsigned quoit_default_chips_per_host (QuoitGeneration generation, QuoitShape shape);

/* Fills @facts for a slice of @shape on hosts of @chips_per_host chips (0: the default). INVALID if the host block
 * does not tile the shape, if the number is not 1, 2, 4 or 8, or if no machine type of the generation has that many
 * chips. */
gboolean quoit_slice_facts (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host,
                            QuoitSliceFacts *facts, GError **error);

/* Returns the pod type: the name of the generation and the number of cores, such as "v6e-16" or "v4-16". Owned by the
 * caller. */
char *quoit_pod_type_format (QuoitGeneration generation, QuoitShape shape);
/* Returns the TPU_ACCELERATOR_TYPE that GKE's device plugin sets, such as "tpu7x-16". If GKE has no name for the
 * generation, returns the pod type. Owned by the caller. */
char *quoit_gke_accelerator_type (QuoitGeneration generation, QuoitShape shape);

guint32 quoit_shape_devices (QuoitGeneration generation, QuoitShape shape); /* JAX devices of the whole slice */

/* Returns the axes with wraparound links: bit 0 for x, 1 for y, 2 for z. */
unsigned quoit_shape_wrap (QuoitGeneration generation, QuoitShape shape);
/* Returns whether the hardware can twist @shape. GKE's plugin does not report whether a slice is twisted. */
gboolean quoit_shape_is_twistable (QuoitGeneration generation, QuoitShape shape);

/* A topology and the hosts that build it. Two rows may differ only in their machine type. */
typedef struct _QuoitCatalogueTopology {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint8 accepted_by; /* of QuoitAcceptedBy */
  /* Most tools accept only ascending sides. Ray also accepts other orders of the axes. */
  enum { QUOIT_TOPOLOGY_LISTED, QUOIT_TOPOLOGY_RAY_ONLY } listing;
  const char *machine_type; /* NULL if unknown */
} QuoitTopologyRow;

/* Returns all rows of @generation: the listed ones by size, then those that only Ray accepts. The catalogue owns
 * them, and never frees them. */
const QuoitTopologyRow *quoit_topology_rows (QuoitGeneration generation, unsigned *n_rows);
