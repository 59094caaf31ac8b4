/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from public sources. Facts that follow from a rule are in rules.c. A new generation needs rows here and a
 * value of QuoitGeneration, but no code. */
#include "catalogue/table.h"

/* Initialisers of a QuoitShape of two or three dimensions. */
#define S2(x, y)                                                                                                       \
  {                                                                                                                    \
    { x, y, 1 }, 2                                                                                                     \
  }
#define S3(x, y, z)                                                                                                    \
  {                                                                                                                    \
    { x, y, z }, 3                                                                                                     \
  }

/* The letters are those of `quoit catalogue`. */
#define K QUOIT_ACCEPTED_BY_KUBECTL_RAY
#define R QUOIT_ACCEPTED_BY_RAY
#define X QUOIT_ACCEPTED_BY_XPK
#define M QUOIT_ACCEPTED_BY_MAXTEXT
#define T QUOIT_ACCEPTED_BY_TOOLKIT

/* clang-format off */
const QuoitGenerationFacts quoit_table_generations[] = {
  { .generation = QUOIT_GENERATION_V2, .id = "v2",
    .ray_version = "v2", .ray_resource = "TPU-V2",
    .dims = 2, .cores_per_chip = 2, .devices_per_chip = 2,
    .max_slice_chips = 256,
    .jax_kinds = { "TPU v2" },
    .hbm_gb = 16, .hbm_gbytes_per_s = 716, .bf16_gflops = 46000 },
  { .generation = QUOIT_GENERATION_V3, .id = "v3",
    .ray_version = "v3", .ray_resource = "TPU-V3", .gke_prefix = "v3",
    .dims = 2, .cores_per_chip = 2, .devices_per_chip = 2,
    .max_slice_chips = 1024, .pod_chips = 1024,
    .jax_kinds = { "TPU v3" },
    .hbm_gb = 32, .hbm_gbytes_per_s = 900, .bf16_gflops = 123000,
    .wrap = QUOIT_WRAP_ALL_FROM_4 },
  { .generation = QUOIT_GENERATION_V4, .id = "v4",
    .ray_version = "v4", .ray_resource = "TPU-V4", .gke_prefix = "v4",
    .dims = 3, .cores_per_chip = 2, .devices_per_chip = 1,
    .max_slice_chips = 4096, .pod_chips = 4096, .ocs_cube = S3 (4, 4, 4),
    .jax_kinds = { "TPU v4" },
    .hbm_gb = 32, .hbm_gbytes_per_s = 1200, .bf16_gflops = 275000,
    .wrap = QUOIT_WRAP_ALL_FROM_4,
    .traits = QUOIT_GENERATION_MULTISLICE_ON_GKE | QUOIT_GENERATION_TWISTABLE | QUOIT_GENERATION_TWIST_DOCUMENTED },
  { .generation = QUOIT_GENERATION_V5E, .id = "v5e",
    .ray_version = "v5litepod", .ray_resource = "TPU-V5LITEPOD", .gke_prefix = "v5litepod", .gce_type = "v5lite_pod",
    .dims = 2, .cores_per_chip = 1, .devices_per_chip = 1,
    .max_slice_chips = 256, .pod_chips = 256,
    .aliases = { "v5litepod" }, .jax_kinds = { "TPU v5 lite", "TPU v5e" },
    .hbm_gb = 16, .hbm_gbytes_per_s = 819, .bf16_gflops = 197000, .ici_gbytes_per_s = 400, .dcn_gbit_per_s = 25,
    .wrap = QUOIT_WRAP_AXES_OF_16,
    .traits = QUOIT_GENERATION_MULTISLICE_ON_GKE | QUOIT_GENERATION_RAY_LARGE_HOSTS },
  { .generation = QUOIT_GENERATION_V5P, .id = "v5p",
    .ray_version = "v5p", .ray_resource = "TPU-V5P", .gke_prefix = "v5p", .maxtext_prefix = "v5",
    .dims = 3, .cores_per_chip = 2, .devices_per_chip = 1,
    .max_slice_chips = 6144, .pod_chips = 8960, .max_slice_shape = S3 (16, 16, 24), .ocs_cube = S3 (4, 4, 4),
    .jax_kinds = { "TPU v5p", "TPU v5" },
    .hbm_gb = 95, .hbm_gbytes_per_s = 2765, .bf16_gflops = 459000, .ici_gbytes_per_s = 1200, .dcn_gbit_per_s = 50,
    .wrap = QUOIT_WRAP_ALL_FROM_4,
    .traits = QUOIT_GENERATION_MULTISLICE_ON_GKE | QUOIT_GENERATION_TWISTABLE | QUOIT_GENERATION_TWIST_DOCUMENTED },
  { .generation = QUOIT_GENERATION_V6E, .id = "v6e",
    .ray_version = "v6e", .ray_resource = "TPU-V6E", .gke_prefix = "v6e",
    .dims = 2, .cores_per_chip = 1, .devices_per_chip = 1,
    .max_slice_chips = 256, .pod_chips = 256,
    .aliases = { "Trillium" }, .jax_kinds = { "TPU v6 lite" },
    .hbm_gb = 32, .hbm_gbytes_per_s = 1638, .bf16_gflops = 918000, .ici_gbytes_per_s = 800, .dcn_gbit_per_s = 100,
    .wrap = QUOIT_WRAP_AXES_OF_16,
    .traits = QUOIT_GENERATION_MULTISLICE_ON_GKE | QUOIT_GENERATION_RAY_LARGE_HOSTS },
  { .generation = QUOIT_GENERATION_TPU7X, .id = "tpu7x",
    .ray_version = "v7x", .ray_resource = "TPU-V7X", .gke_prefix = "tpu7x",
    .dims = 3, .cores_per_chip = 2, .devices_per_chip = 2,
    .max_slice_chips = 9216, .pod_chips = 9216, .ocs_cube = S3 (4, 4, 4),
    .aliases = { "Ironwood", "v7x" }, .jax_kinds = { "TPU7x" },
    .hbm_gb = 192, .hbm_gbytes_per_s = 7380, .bf16_gflops = 2307000, .ici_gbytes_per_s = 1200, .dcn_gbit_per_s = 100,
    .wrap = QUOIT_WRAP_ALL_FROM_4,
    .traits = QUOIT_GENERATION_MULTISLICE_ON_GKE | QUOIT_GENERATION_TWISTABLE | QUOIT_GENERATION_PROCESS_ADDRESSES },
  { .generation = QUOIT_GENERATION_TPU7, .id = "tpu7",
    .dims = 3, .cores_per_chip = 2, .devices_per_chip = 2,
    .max_slice_chips = 256, .ocs_cube = S3 (4, 4, 4),
    .jax_kinds = { "TPU7" },
    .wrap = QUOIT_WRAP_ALL_FROM_4 },
  { .generation = QUOIT_GENERATION_NONE, .id = "tpu8i",
    .cores_per_chip = 2,
    .jax_kinds = { "TPU8i" },
    .hbm_gb = 288, .hbm_gbytes_per_s = 8600, .bf16_gflops = 1101000 },
  { .generation = QUOIT_GENERATION_NONE, .id = "tpu8t",
    .cores_per_chip = 1,
    .pod_chips = 9600,
    .jax_kinds = { "TPU8t" },
    .hbm_gb = 216, .hbm_gbytes_per_s = 6400, .bf16_gflops = 996100 },
};
const unsigned quoit_table_n_generations = G_N_ELEMENTS (quoit_table_generations);

const QuoitMachineType quoit_table_machines[] = {
  { "ct3-hightpu-4t", "v3", "tpu-v3-device", 4, 96, 340, S2 (2, 2), QUOIT_MACHINE_SINGLE_HOST },
  { "ct3p-hightpu-4t", "v3", "tpu-v3-slice", 4, 48, 340, { { 0 }, 0 }, QUOIT_MACHINE_MULTI_HOST },
  { "ct4l-hightpu-4t", "v4lite", "tpu-v4-lite-device", 4, 0, 0, S2 (2, 2), QUOIT_MACHINE_SINGLE_HOST },
  { "ct4p-hightpu-4t", "v4", "tpu-v4-podslice", 4, 240, 407, S3 (2, 2, 1), QUOIT_MACHINE_MULTI_HOST },
  { "ct5l-hightpu-1t", "v5e", "tpu-v5-lite-device", 1, 24, 48, S2 (1, 1), QUOIT_MACHINE_SINGLE_HOST },
  { "ct5l-hightpu-4t", "v5e", "tpu-v5-lite-device", 4, 112, 192, S2 (2, 2), QUOIT_MACHINE_SINGLE_HOST },
  { "ct5l-hightpu-8t", "v5e", "tpu-v5-lite-device", 8, 224, 384, S2 (2, 4), QUOIT_MACHINE_SINGLE_HOST },
  { "ct5lp-hightpu-1t", "v5e", "tpu-v5-lite-podslice", 1, 24, 48, S2 (1, 1), QUOIT_MACHINE_SINGLE_HOST },
  { "ct5lp-hightpu-4t", "v5e", "tpu-v5-lite-podslice", 4, 112, 192, S2 (2, 2), QUOIT_MACHINE_MULTI_HOST },
  { "ct5lp-hightpu-8t", "v5e", "tpu-v5-lite-podslice", 8, 224, 384, S2 (2, 4), QUOIT_MACHINE_SINGLE_HOST },
  { "ct5p-hightpu-4t", "v5p", "tpu-v5p-slice", 4, 208, 448, S3 (2, 2, 1), QUOIT_MACHINE_MULTI_HOST },
  { "ct5p-hightpu-1t", "v5p", "tpu-v5p-slice", 1, 0, 0, { { 0 }, 0 }, QUOIT_MACHINE_SINGLE_HOST },
  { "ct5p-hightpu-2t", "v5p", "tpu-v5p-slice", 2, 0, 0, { { 0 }, 0 }, QUOIT_MACHINE_SINGLE_HOST },
  { "ct6e-standard-1t", "v6e", "tpu-v6e-slice", 1, 44, 176, S2 (1, 1), QUOIT_MACHINE_SINGLE_HOST },
  { "ct6e-standard-4t", "v6e", "tpu-v6e-slice", 4, 180, 720, S2 (2, 2), QUOIT_MACHINE_MULTI_HOST },
  { "ct6e-standard-8t", "v6e", "tpu-v6e-slice", 8, 180, 1440, S2 (2, 4), QUOIT_MACHINE_SINGLE_HOST },
  { "tpu7-standard-1t", "tpu7", "tpu7", 1, 56, 240, S3 (1, 1, 1), QUOIT_MACHINE_SINGLE_HOST },
  { "tpu7-standard-4t", "tpu7", "tpu7", 4, 224, 960, S3 (2, 2, 1), QUOIT_MACHINE_MULTI_HOST },
  { "tpu7x-standard-1t", "tpu7x", "tpu7x", 1, 56, 240, S3 (1, 1, 1), QUOIT_MACHINE_SINGLE_HOST },
  { "tpu7x-standard-4t", "tpu7x", "tpu7x", 4, 224, 960, S3 (2, 2, 1), QUOIT_MACHINE_MULTI_HOST },
  { "tpu7x-ultranet-4t", "tpu7x", "tpu7x", 4, 0, 0, S3 (2, 2, 1), QUOIT_MACHINE_MULTI_HOST },
};
const unsigned quoit_table_n_machines = G_N_ELEMENTS (quoit_table_machines);

const QuoitGkeLabel quoit_table_labels[] = {
  { "tpu-v3-device", "v3", QUOIT_LABEL_SINGLE_HOST, 4, FALSE },
  { "tpu-v3-slice", "v3", QUOIT_LABEL_MULTI_HOST, 4, FALSE },
  { "tpu-v4-lite-device", "v4lite", QUOIT_LABEL_SINGLE_HOST, 0, FALSE },
  { "tpu-v4-podslice", "v4", QUOIT_LABEL_MULTI_HOST, 4, TRUE },
  { "tpu-v5-lite-device", "v5e", QUOIT_LABEL_SINGLE_HOST, 8, TRUE },
  { "tpu-v5-lite-podslice", "v5e", QUOIT_LABEL_MULTI_HOST, 8, TRUE },
  { "tpu-v5p-slice", "v5p", QUOIT_LABEL_MULTI_HOST, 4, TRUE },
  { "tpu-v6e-slice", "v6e", QUOIT_LABEL_MULTI_HOST, 8, TRUE },
  { "tpu7x", "tpu7x", QUOIT_LABEL_MULTI_HOST, 4, TRUE },
  { "tpu7", "tpu7", QUOIT_LABEL_MULTI_HOST, 4, FALSE },
};
const unsigned quoit_table_n_labels = G_N_ELEMENTS (quoit_table_labels);

const QuoitProcessBounds quoit_table_bounds[] = {
  { 1, 1, " v2 v3 plc v4 v5p v5e v6e tpu7x tpu8i tpu8t ", "1,1,1", "1,1,1" },
  { 2, 1, " v2 v3 plc v4 v5e v6e tpu7x tpu8i ", "2,1,1", "1,1,1" },
  { 2, 2, " v2 v3 plc v4 v5e v6e tpu7x tpu8i ", "1,1,1", "2,1,1" },
  { 4, 1, " v2 v3 plc v4 v5p v5e v6e tpu7x tpu8t ", "2,2,1", "1,1,1" },
  { 4, 2, " v2 v3 plc v4 v5p v5e v6e tpu7x tpu8t ", "2,1,1", "1,2,1" },
  { 4, 4, " v2 v3 plc v4 v5p v5e v6e tpu7x tpu8t ", "1,1,1", "2,2,1" },
  { 8, 1, " v2 v3 plc v5p v5e tpu8i tpu8t ", "4,2,1", "1,1,1" },
  { 8, 4, " v2 v3 plc v5p v5e tpu8i tpu8t ", "2,1,1", "2,2,1" },
  { 8, 8, " v2 v3 plc v5p v5e tpu8i tpu8t ", "1,1,1", "4,2,1" },
  { 8, 1, " v4 tpu7x ", "2,2,2", "1,1,1" },
  { 8, 4, " v4 tpu7x ", "1,1,2", "2,2,1" },
  { 8, 8, " v4 tpu7x ", "1,1,1", "2,2,2" },
  { 2, 1, " v5p tpu8t ", "1,2,1", "1,1,1" },
  { 2, 2, " v5p tpu8t ", "1,1,1", "1,2,1" },
  { 8, 1, " v6e ", "2,4,1", "1,1,1" },
  { 8, 4, " v6e ", "1,2,1", "2,2,1" },
  { 8, 8, " v6e ", "1,1,1", "2,4,1" },
  { 4, 1, " tpu8i ", "4,1,1", "1,1,1" },
  { 4, 2, " tpu8i ", "2,1,1", "2,1,1" },
  { 4, 4, " tpu8i ", "1,1,1", "4,1,1" },
};
const unsigned quoit_table_n_bounds = G_N_ELEMENTS (quoit_table_bounds);

const QuoitListedTopology quoit_table_listed[] = {
  { QUOIT_GENERATION_V2, S2 (2, 2), 4, 0, NULL },
  { QUOIT_GENERATION_V2, S2 (4, 4), 4, R, NULL },
  { QUOIT_GENERATION_V2, S2 (4, 8), 4, R, NULL },
  { QUOIT_GENERATION_V2, S2 (8, 8), 4, R, NULL },
  { QUOIT_GENERATION_V2, S2 (8, 16), 4, R, NULL },
  { QUOIT_GENERATION_V2, S2 (16, 16), 4, R, NULL },
  { QUOIT_GENERATION_V3, S2 (2, 2), 4, K, "ct3-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (4, 4), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (4, 8), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (8, 8), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (8, 16), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (16, 16), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (16, 32), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V3, S2 (32, 32), 4, K | R, "ct3p-hightpu-4t" },
  { QUOIT_GENERATION_V4, S3 (2, 2, 1), 4, K | R | X | M | T, "ct4p-hightpu-4t" },
  { QUOIT_GENERATION_V4, S3 (2, 2, 2), 4, K | R | X | M | T, "ct4p-hightpu-4t" },
  { QUOIT_GENERATION_V4, S3 (2, 2, 4), 4, K | R | X | M | T, "ct4p-hightpu-4t" },
  { QUOIT_GENERATION_V4, S3 (2, 4, 4), 4, K | R | X | M | T, "ct4p-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (1, 1), 1, K | R | M, "ct5lp-hightpu-1t" },
  { QUOIT_GENERATION_V5E, S2 (2, 2), 4, K | R | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (2, 4), 8, K | R | M, "ct5lp-hightpu-8t" },
  { QUOIT_GENERATION_V5E, S2 (2, 4), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (4, 4), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (4, 8), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (8, 8), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (8, 16), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (16, 16), 4, K | R | X | M, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (1, 1), 1, K | R | M, "ct5l-hightpu-1t" },
  { QUOIT_GENERATION_V5E, S2 (2, 2), 4, K | R | M, "ct5l-hightpu-4t" },
  { QUOIT_GENERATION_V5E, S2 (2, 4), 8, K | R | M, "ct5l-hightpu-8t" },
  { QUOIT_GENERATION_V5P, S3 (2, 2, 1), 4, K | R | X | M | T, "ct5p-hightpu-4t" },
  { QUOIT_GENERATION_V5P, S3 (2, 2, 2), 4, K | R | X | M | T, "ct5p-hightpu-4t" },
  { QUOIT_GENERATION_V5P, S3 (2, 2, 4), 4, K | R | X | M | T, "ct5p-hightpu-4t" },
  { QUOIT_GENERATION_V5P, S3 (2, 4, 4), 4, K | R | X | M | T, "ct5p-hightpu-4t" },
  { QUOIT_GENERATION_V6E, S2 (1, 1), 1, K | R | X | M, "ct6e-standard-1t" },
  { QUOIT_GENERATION_V6E, S2 (2, 2), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (2, 4), 8, K | R | M, "ct6e-standard-8t" },
  { QUOIT_GENERATION_V6E, S2 (2, 4), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (4, 4), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (4, 8), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (8, 8), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (8, 16), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_V6E, S2 (16, 16), 4, K | R | X | M, "ct6e-standard-4t" },
  { QUOIT_GENERATION_TPU7X, S3 (1, 1, 1), 1, X | M, "tpu7x-standard-1t" },
  { QUOIT_GENERATION_TPU7X, S3 (2, 2, 1), 4, K | R | X | M | T, "tpu7x-standard-4t" },
  { QUOIT_GENERATION_TPU7X, S3 (2, 2, 2), 4, K | R | X | M | T, "tpu7x-standard-4t" },
  { QUOIT_GENERATION_TPU7X, S3 (2, 2, 4), 4, K | R | X | M | T, "tpu7x-standard-4t" },
  { QUOIT_GENERATION_TPU7X, S3 (2, 4, 4), 4, K | R | X | M | T, "tpu7x-standard-4t" },
  { QUOIT_GENERATION_TPU7, S3 (1, 1, 1), 1, X, "tpu7-standard-1t" },
  { QUOIT_GENERATION_TPU7, S3 (2, 2, 1), 4, X, "tpu7-standard-4t" },
  { QUOIT_GENERATION_TPU7, S3 (2, 2, 2), 4, X, "tpu7-standard-4t" },
  { QUOIT_GENERATION_TPU7, S3 (2, 2, 4), 4, X, "tpu7-standard-4t" },
  { QUOIT_GENERATION_TPU7, S3 (2, 4, 4), 4, X, "tpu7-standard-4t" },
};
const unsigned quoit_table_n_listed = G_N_ELEMENTS (quoit_table_listed);

/* Only Ray lists these. */
const QuoitListedTopology quoit_table_ray_only[] = {
  { QUOIT_GENERATION_V5E, S2 (2, 8), 4, R, "ct5lp-hightpu-4t" },
  { QUOIT_GENERATION_V6E, S2 (2, 8), 4, R, "ct6e-standard-4t" },
};
const unsigned quoit_table_n_ray_only = G_N_ELEMENTS (quoit_table_ray_only);

const QuoitCubeRule quoit_table_cubes[QUOIT_N_GENERATIONS] = {
  [QUOIT_GENERATION_V4]    = { 256, 4096, 3072, { 12, 12, 16 }, T, 0,
                               { { 4, 4, 4 }, { 4, 4, 8 }, { 4, 4, 12 }, { 4, 8, 8 }, { 8, 8, 8 }, { 8, 8, 12 },
                                 { 8, 8, 16 }, { 8, 16, 16 } } },
  [QUOIT_GENERATION_V5P]   = { 256, 8960, 6144, { 16, 16, 24 }, T, 97, { { 12, 24, 24 }, { 16, 20, 28 } } },
  [QUOIT_GENERATION_TPU7X] = { 256, 9216, 9216, { 0, 0, 0 }, R | T, 97,
                               { { 12, 24, 24 }, { 16, 16, 32 }, { 16, 20, 28 }, { 16, 24, 24 } } },
  [QUOIT_GENERATION_TPU7]  = { 256, 256, 0, { 0, 0, 0 }, 0, 0, { { 0 } } },
};
/* clang-format on */
