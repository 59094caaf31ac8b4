/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the catalogue: texts of generations and topologies, and the properties of a slice. */
#include <string.h>

#include <quoit/catalogue.h>

#include "suite.h"
#include "catalogue/catalogue.h"

static const QuoitCatalogueGeneration *
public_generation (const char *id)
{
  GError *error = NULL;
  const QuoitCatalogueGeneration *generation = quoit_catalogue_lookup_generation (id, &error);

  ck_assert_ok (error);
  return generation;
}

/* The list and the rule that works without it agree on every plausible shape. */
START_TEST (only_listed_shapes_are_known)
{
  for (QuoitGeneration generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      unsigned n, known = 0, different = 0, side = quoit_generation_facts (generation)->dims == 2 ? 40 : 264;
      const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n);

      for (unsigned x = 1; x <= 40; x++)
        for (unsigned y = 1; y <= 64; y++)
          for (unsigned z = 1; z <= (side == 40 ? 1 : side); z++)
            known += quoit_shape_check (generation, (QuoitShape) { { x, y, z }, side == 40 ? 2 : 3 }, NULL);
      for (unsigned i = 0; i < n; i++)
        {
          unsigned j = 0;

          while (!quoit_shape_equal (rows[j].shape, rows[i].shape))
            j++;
          different += i == j;
        }
      ck_assert_uint_eq (known, different);
    }
}
END_TEST

static const struct {
  const char *text;
  QuoitGeneration generation; /* NONE: refused, with this text in the message */
  const char *expected;
} names[] = {
  { "v5e", QUOIT_GENERATION_V5E, "v5e" },
  { "v5litepod", QUOIT_GENERATION_V5E, "v5e" },
  { "TPU-V5LITEPOD", QUOIT_GENERATION_V5E, "v5e" },
  { "tpu-v5-lite-podslice", QUOIT_GENERATION_V5E, "v5e" },
  { "tpu-v5-lite-device", QUOIT_GENERATION_V5E, "v5e" },
  { "TPU v5 lite", QUOIT_GENERATION_V5E, "v5e" },
  { "TPU v5", QUOIT_GENERATION_V5P, "v5p" },
  { "V6E", QUOIT_GENERATION_V6E, "v6e" },
  { "trillium", QUOIT_GENERATION_V6E, "v6e" },
  { "tpu7x", QUOIT_GENERATION_TPU7X, "tpu7x" },
  { "v7x", QUOIT_GENERATION_TPU7X, "tpu7x" },
  { "TPU-V7X", QUOIT_GENERATION_TPU7X, "tpu7x" },
  { "Ironwood", QUOIT_GENERATION_TPU7X, "tpu7x" },
  { "tpu7", QUOIT_GENERATION_TPU7, "tpu7" },
  { "v2", QUOIT_GENERATION_V2, "v2" },
  { "v3", QUOIT_GENERATION_V3, "v3" },
  { "tpu-v4-podslice", QUOIT_GENERATION_V4, "v4" },
  { "v4lite", QUOIT_GENERATION_NONE, "name only" },
  { "tpu-v4-lite-device", QUOIT_GENERATION_NONE, "v4lite is a name only" },
  { "tpu8i", QUOIT_GENERATION_NONE, "name only" },
  { "TPU8t", QUOIT_GENERATION_NONE, "name only" },
  { "v6e-16", QUOIT_GENERATION_NONE, "without a number of cores, such as 'v6e'" },
  { "tpu7x-8", QUOIT_GENERATION_NONE, "such as 'tpu7x'" },
  { "", QUOIT_GENERATION_NONE, "expected one of v2, v3, v4, v5e, v5p, v6e, tpu7x, tpu7" },
  { "v6e ", QUOIT_GENERATION_NONE, "generation 'v6e '" },
  { "v9", QUOIT_GENERATION_NONE, "expected one of" },
  { "-16", QUOIT_GENERATION_NONE, "expected one of" },
};

START_TEST (generation_is_found_only_by_known_names)
{
  GError *error = NULL;
  QuoitGeneration generation = 77;
  gboolean ok = quoit_generation_parse (names[_i].text, &generation, &error);

  if (names[_i].generation == QUOIT_GENERATION_NONE)
    {
      ck_assert (!ok);
      ck_assert_int_eq (generation, 77);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, names[_i].expected);
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (generation, names[_i].generation);
  ck_assert_str_eq (quoit_generation_name (generation), names[_i].expected);
}
END_TEST

static const struct {
  const char *text, *expected;
} broken_shapes[] = {
  { "4X4",
    "topology '4X4': expected a lower-case 'x' (Ray would lower-case it; quoit, like the TPU webhook, does not) at "
    "byte 1" },
  { "4x", "topology '4x': expected a number of 1 to 4096 at byte 2" },
  { "0x4", "expected a number of 1 to 4096 at byte 0" },
  { "4x0", "expected a number of 1 to 4096 at byte 2" },
  { "00x4", "expected a number of 1 to 4096 at byte 0" },
  { "4x4x", "expected a number of 1 to 4096 at byte 4" },
  { "4x4xa", "topology '4x4xa': expected a number of 1 to 4096 at byte 4" },
  { "4x4x4x4", "expected the end after three numbers at byte 5" },
  { "4", "expected 'x' at byte 1" },
  { "4*4", "expected 'x' at byte 1" },
  { "04x4", "without leading zeros at byte 0" },
  { "4x4097", "expected a number of 1 to 4096 at byte 2" },
  { "99999x99999", "expected a number of 1 to 4096 at byte 0" },
  { "18446744073709551620x4", "expected a number of 1 to 4096 at byte 0" },
  { "4096x4096x4096", "expected at most 4294967295 chips" },
  { "", "topology '': expected a number of 1 to 4096 at byte 0" },
  { " 4x4", "expected a number of 1 to 4096 at byte 0" },
  { "4x4 ", "expected 'x' at byte 3" },
  { "4 x4", "expected 'x' at byte 1" },
  { "+4x4", "expected a number of 1 to 4096 at byte 0" },
  { "-4x-4", "expected a number of 1 to 4096 at byte 0" },
  { "4x4\n", "topology '4x4\\n': expected 'x' at byte 3" },
  { "1_6x16", "expected 'x' at byte 1" },
};

START_TEST (invalid_topology_is_refused_with_byte_and_expectation)
{
  GError *error = NULL;
  QuoitShape shape = { { 7, 7, 7 }, 9 };

  ck_assert (!quoit_shape_parse (broken_shapes[_i].text, &shape, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, broken_shapes[_i].expected);
  ck_assert_int_eq (shape.n_dims, 9);
}
END_TEST

static const struct {
  const char *generation, *shape, *expected;
} absent_shapes[] = {
  { "v6e", "5x5", "topology '5x5': expected one that v6e has; the nearest are 4x8, 4x4, 2x8" },
  { "v6e", "2x2x2", "expected two numbers, as every v6e slice has" },
  { "v4", "4x4", "expected three numbers, as every v4 slice has" },
  { "v6e", "4x2", "the nearest are 2x4," },
  { "v7x", "8x4x4", "the nearest are 4x4x8," },
  { "v5e", "4096x4096", "the nearest are 16x16," },
  { "tpu7", "8x8x8", "expected one that tpu7 has" },
  { "v5p", "4x4x260", "expected one that v5p has" },
};

START_TEST (unknown_topology_is_refused_with_the_nearest)
{
  GError *error = NULL;

  ck_assert_ptr_null (quoit_catalogue_lookup_topology (public_generation (absent_shapes[_i].generation),
                                                       absent_shapes[_i].shape, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, absent_shapes[_i].expected);
}
END_TEST

static const struct {
  const char *generation, *shape;
  unsigned chips_per_host;
  const char *expected; /* hosts, block, grid, machine; or part of the message */
} slices[] = {
  { "v6e", "2x4", 0, "1 of 8: 2x4 1x1 ct6e-standard-8t" },
  { "v6e", "2x4", 4, "2 of 4: 2x2 1x2 ct6e-standard-4t" },
  { "v6e", "4x8", 0, "8 of 4: 2x2 2x4 ct6e-standard-4t" },
  { "v6e", "4x4", 8, "chips per host '8': expected a number that hosts of v6e 4x4 have, such as 4" },
  { "v6e", "2x8", 0, "4 of 4: 2x2 1x4 ct6e-standard-4t" },
  { "v6e", "1x1", 0, "1 of 1: 1x1 1x1 ct6e-standard-1t" },
  { "v5e", "1x1", 0, "1 of 1: 1x1 1x1 ct5lp-hightpu-1t" },
  { "v4", "8x4x4", 0, "32 of 4: 2x2x1 4x2x4 ct4p-hightpu-4t" },
  { "v5p", "2x2x1", 2, "hosts of v5p 2x2x1 have, such as 4" },
  { "v2", "4x4", 0, "4 of 4: 2x2 2x2 (null)" },
  { "v3", "2x2", 0, "1 of 4: 2x2 1x1 ct3-hightpu-4t" },
  { "tpu7x", "1x1x1", 0, "1 of 1: 1x1x1 1x1x1 tpu7x-standard-1t" },
  { "tpu7x", "2x2x2", 0, "2 of 4: 2x2x1 1x1x2 tpu7x-standard-4t" },
  { "v6e", "4x4", 3, "chips per host '3': expected 1, 2, 4 or 8" },
  { "v6e", "4x4", 2, "chips per host '2': expected a number that a machine type of v6e has" },
  { "v4", "4x4x4", 8, "a machine type of v4 has" },
  { "v2", "4x4", 8, "a machine type of v2 has" },
  { "v6e", "2x2", 8,
    "chips per host '8': expected hosts whose chips tile '2x2', but a host with 8 chips is a block of 2x4x1" },
  { "v6e", "1x1", 4, "tile '1x1'" },
};

START_TEST (slice_has_the_hosts_of_its_block)
{
  GError *error = NULL;
  QuoitGeneration generation;
  QuoitSliceFacts facts;
  QuoitShape shape;
  g_autofree char *block = NULL, *grid = NULL, *got = NULL;

  ck_assert (quoit_generation_parse (slices[_i].generation, &generation, NULL));
  ck_assert (quoit_shape_parse (slices[_i].shape, &shape, NULL));
  if (!quoit_slice_facts (generation, shape, slices[_i].chips_per_host, &facts, &error))
    {
      ck_assert_refused (error, QUOIT_ERROR_INVALID, slices[_i].expected);
      return;
    }
  ck_assert_ok (error);
  block = quoit_shape_format (facts.host_block);
  grid = quoit_shape_format (facts.host_grid);
  got = g_strdup_printf ("%u of %u: %s %s %s", facts.hosts, facts.chips_per_host, block, grid,
                         facts.machine_type != NULL ? facts.machine_type : "(null)");
  ck_assert_str_eq (got, slices[_i].expected);
}
END_TEST

START_TEST (topology_with_wrong_chips_per_host_is_not_found)
{
  GError *error = NULL;

  ck_assert_ptr_null (quoit_catalogue_lookup_topology (public_generation ("v6e"), "4x4", 8, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "of '8' chips");
  ck_assert_ptr_null (quoit_catalogue_lookup_generation ("v1", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected one of");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("shapes");
  TCase *rules = tcase_create ("rules");

  tcase_set_timeout (rules, 60);
  tcase_add_test (rules, only_listed_shapes_are_known);
  tcase_add_loop_test (rules, generation_is_found_only_by_known_names, 0, G_N_ELEMENTS (names));
  tcase_add_loop_test (rules, invalid_topology_is_refused_with_byte_and_expectation, 0, G_N_ELEMENTS (broken_shapes));
  tcase_add_loop_test (rules, unknown_topology_is_refused_with_the_nearest, 0, G_N_ELEMENTS (absent_shapes));
  tcase_add_loop_test (rules, slice_has_the_hosts_of_its_block, 0, G_N_ELEMENTS (slices));
  tcase_add_test (rules, topology_with_wrong_chips_per_host_is_not_found);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}
