/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes of MaxText: the sizes of their axes, and the order of their devices. */
#include <stdio.h>

#include "maxtext-jobs.h"

/* --- sizes --- */

enum { MOST_SIZES = 8 };

static unsigned
read_sizes (const char *text, int64_t *sizes)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  unsigned n = 0;

  for (char **word = words; *text != '\0' && *word != NULL; word++)
    sizes[n++] = g_ascii_strtoll (*word, NULL, 10);
  return n;
}

static char *
write_sizes (const int64_t *sizes, unsigned n)
{
  GString *text = g_string_new (NULL);

  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", (gint64) sizes[i]);
  return g_string_free (text, FALSE);
}

static const struct {
  const char *sizes;
  int64_t target;
  const char *expected; /* the filled-in sizes, or part of the refusal's message */
} fillings[] = {
  { "-1", 16, "16" },
  { "4,-1,2", 16, "4,2,2" },
  { "16,-1", 16, "16,1" },
  { "", 1, "" },
  { "", 2, "expected a product of 2" },
  { "-1,-1", 16, "-1 for one axis at most" },
  { "-1,3", 16, "divisor of 16" },
  { "-1,32", 16, "divisor of 16" },
  { "-1,0", 16, "divisor of 16" },
  { "0,-1", 0, "divisor of 0" },
  { "-1,-2", 16, "divisor of 16" },
  { "-2,-2", 4, "-2,-2" },
  { "-2,-1,-2", 4, "-2,1,-2" },
  { "0", 0, "0" },
  { "8,4", 16, "product of 16" },
  { "-1", INT64_MAX, "9223372036854775807" },
  { "-1", INT64_MIN, "divisor of" },
  { "9223372036854775807,2", 16, "product of 16" },
  { "4294967296,4294967296", 0, "4294967296,4294967296" },
};

START_TEST (sizes_are_filled_as_maxtext_fills_them)
{
  int64_t sizes[MOST_SIZES] = { 0 };
  unsigned n = read_sizes (fillings[_i].sizes, sizes);
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;

  if (quoit_maxtext_fill (QUOIT_MAXTEXT_ICI, sizes, n, fillings[_i].target, &error))
    {
      ck_assert_ok (error);
      after = write_sizes (sizes, n);
      ck_assert_str_eq (after, fillings[_i].expected);
      return;
    }
  ck_assert_refused (error, QUOIT_ERROR_INVALID, fillings[_i].expected);
  after = write_sizes (sizes, n);
  ck_assert_str_eq (after, fillings[_i].sizes);
}
END_TEST

/* Compares the value for a size of -1 with an exhaustive search. */
START_TEST (inferred_size_multiplies_to_the_target)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261122);
  unsigned n_filled = 0, n_refused = 0;

  for (unsigned round = 0; round < 20000; round++)
    {
      int64_t sizes[4], filled[4], target = g_rand_int_range (rand, 1, 65), others = 1, found = 0;
      unsigned n = (unsigned) g_rand_int_range (rand, 1, 5), axis = (unsigned) g_rand_int_range (rand, 0, (gint32) n);

      for (unsigned i = 0; i < n; i++)
        {
          sizes[i] = i == axis ? -1 : g_rand_int_range (rand, 1, 9);
          others *= i == axis ? 1 : sizes[i];
        }
      for (int64_t size = 1; size <= target; size++)
        if (size * others == target)
          found = size;
      memcpy (filled, sizes, sizeof sizes);
      if (quoit_maxtext_fill (QUOIT_MAXTEXT_DCN, filled, n, target, NULL))
        n_filled++;
      else
        n_refused++;
      ck_assert_int_eq (filled[axis], found == 0 ? -1 : found);
    }
  ck_assert_uint_gt (n_filled, 1000);
  ck_assert_uint_gt (n_refused, 1000);
}
END_TEST

START_TEST (links_are_named_in_the_refusal)
{
  int64_t size = 3;
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_maxtext_fill (QUOIT_MAXTEXT_DCN, &size, 1, 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "DCN sizes '3': expected a product of 2, the slices");
  ck_assert (!quoit_maxtext_fill ((QuoitMaxtextLinks) 3, &size, 1, 3, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "links '3'");
}
END_TEST

/* --- suggestions --- */

/* Parses the alternatives in an expectation like "...: for example A=1 B=2, A=2 or C=3". Each is a list of settings. */
static GPtrArray *
alternatives (const char *expected)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  const char *example = g_strrstr (expected, ": for example ");
  g_auto (GStrv) commas = g_strsplit (example + strlen (": for example "), ", ", -1);

  for (char **part = commas; *part != NULL; part++)
    {
      g_auto (GStrv) ors = g_strsplit (*part, " or ", -1);

      for (char **one = ors; *one != NULL; one++)
        g_ptr_array_add (found, g_strdup (*one));
    }
  return found;
}

static gboolean
is_about_sizes (const char *rule)
{
  static const char *const rules[] = { "unspecified-twice", "unspecified-value", "ici-product", "dcn-product", NULL };

  return g_strv_contains (rules, rule);
}

/* Checks that no alternative breaks the same rule. If two axes are -1 and a third size does not fit, the corrected
 * settings may break another rule. */
static void
check_alternatives (const char *slices, const char *settings, const QuoitMaxtextReport *report, uint32_t finding)
{
  const char *rule = quoit_maxtext_report_get_rule (report, finding);
  g_autoptr (GPtrArray) found = alternatives (quoit_maxtext_report_get_expected (report, finding));
  gboolean is_dcn = g_str_has_prefix (quoit_maxtext_report_get_key (report, finding), "dcn");

  ck_assert_uint_gt (found->len, 0);
  for (guint i = 0; i < found->len; i++)
    {
      g_autofree char *mended = g_strdup_printf ("%s %s", settings, (const char *) found->pdata[i]);
      g_autoptr (QuoitMaxtextReport) after = check_settings (slices, mended, NULL);

      for (uint32_t k = 0; k < quoit_maxtext_report_get_n_findings (after); k++)
        {
          const char *still = quoit_maxtext_report_get_rule (after, k);
          const char *key = quoit_maxtext_report_get_key (after, k);

          if (key == NULL || !is_about_sizes (still) || g_str_has_prefix (key, "dcn") != is_dcn)
            continue;
          ck_assert_msg (strcmp (rule, "unspecified-twice") == 0 && strcmp (still, rule) != 0, "%s: %s: %s: %s", slices,
                         mended, rule, quoit_maxtext_report_get_message (after, k));
        }
    }
}

START_TEST (every_proposed_size_is_valid)
{
  static const char *const axes[] = { "data", "fsdp", "tensor", "expert", "pipeline" };
  static const char *const slices[] = { "v6e 4x4 1", "v6e 4x4 2", "v6e 4x8 6", "v5p 2x2x2 12", "v5p 4x4x12 5" };
  static const int sizes[] = { -1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 1000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  unsigned n_checked = 0;

  for (unsigned round = 0; round < 3000; round++)
    {
      g_autoptr (GString) settings = g_string_new (NULL);
      const char *of = slices[g_rand_int_range (rand, 0, G_N_ELEMENTS (slices))];
      g_autoptr (QuoitMaxtextReport) report = NULL;

      for (unsigned i = 0; i < G_N_ELEMENTS (axes); i++)
        for (unsigned links = 0; links < 2; links++)
          if (g_rand_int_range (rand, 0, 3) == 0)
            g_string_append_printf (settings, "%s_%s_parallelism=%d ", links == 0 ? "ici" : "dcn", axes[i],
                                    sizes[g_rand_int_range (rand, 0, G_N_ELEMENTS (sizes))]);
      report = check_settings (of, settings->str, NULL);
      for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
        if (is_about_sizes (quoit_maxtext_report_get_rule (report, i)))
          {
            check_alternatives (of, settings->str, report, i);
            n_checked++;
          }
    }
  ck_assert_uint_gt (n_checked, 1000);
}
END_TEST

/* --- accelerators --- */

START_TEST (every_accelerator_is_found_by_its_name_and_counts_its_devices)
{
  const QuoitMaxtextAccelerator *at;
  unsigned n = 0, n_rings = 0;

  for (; (at = quoit_maxtext_get_accelerator (n)) != NULL; n++)
    {
      const char *topology = quoit_maxtext_accelerator_get_topology (at), *config;
      unsigned sides[3] = { 1, 1, 1 };

      ck_assert_ptr_eq (quoit_maxtext_lookup_accelerator (quoit_maxtext_accelerator_get_name (at), NULL), at);
      if (topology == NULL)
        {
          ck_assert_str_eq (quoit_maxtext_accelerator_get_platform (at), "gpu");
          ck_assert_ptr_null (quoit_maxtext_accelerator_get_chip_config (at));
          continue;
        }
      config = quoit_maxtext_accelerator_get_chip_config (at);
      ck_assert_int_ge (sscanf (strchr (topology, ':') + 1, "%ux%ux%u", &sides[0], &sides[1], &sides[2]), 2);
      ck_assert_uint_eq (quoit_maxtext_accelerator_get_n_devices (at),
                         sides[0] * sides[1] * sides[2] * (g_str_has_prefix (topology, "tpu7x") ? 2 : 1));
      ck_assert_str_eq (config, g_str_has_prefix (topology, "v4") || g_str_has_prefix (topology, "v5:") ? "megacore"
                                                                                                        : "default");
      for (unsigned axis = 0; axis < 3; axis++)
        {
          ck_assert_uint_eq (sides[axis] % quoit_maxtext_accelerator_get_host_bound (at, axis), 0);
          n_rings += (unsigned) quoit_maxtext_accelerator_wraps (at, axis);
        }
    }
  ck_assert_uint_eq (n, 224);
  ck_assert_uint_gt (n_rings, 500);
}
END_TEST

START_TEST (unknown_accelerator_is_refused_with_the_nearest_name)
{
  static const struct {
    const char *name, *nearest;
  } wrong[] = {
    { "v6e-17", "'v6e-16'" },      { "V6E-16", "'v6e-16'" }, { "v5litepod-16", "'v5e-16'" },    { "v4-8x", "'v4-8'" },
    { "tpu7-128", "'tpu7x-128'" }, { "", "'a3'" },           { "v5p-19456\n", "v5p-19456\\n" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (quoit_maxtext_lookup_accelerator (wrong[i].name, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, wrong[i].nearest);
    }
}
END_TEST

/* --- device meshes --- */

typedef struct {
  const char *kind, *topology;
  uint32_t slices; /* the actual number */
  const char *ici, *dcn;
  int64_t n_slices; /* the number in the settings */
  const char *custom_mesh;
  unsigned flags;
  const char *expected; /* the first ids, or part of the refusal's message */
} MeshCase;

static QuoitMesh *
new_mesh (const MeshCase *of, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (of->kind, of->topology, of->slices, 0, 0, NULL);
  int64_t ici[MOST_SIZES] = { 0 }, dcn[MOST_SIZES] = { 0 };
  unsigned n = read_sizes (of->ici, ici);

  ck_assert_uint_eq (read_sizes (of->dcn, dcn), n);
  return quoit_maxtext_mesh_new (devices, ici, dcn, n, of->n_slices, of->custom_mesh, of->flags, error);
}

enum { SPLIT = QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES, OPTIMIZE = QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E };

static const MeshCase device_meshes[] = {
  { "v6e", "4x4", 1, "1,-1", "1,1", 1, NULL, 0, "0,1,2,3,7,6,5,9" },
  { "v6e", "4x4", 2, "1,-1", "-1,1", 2, NULL, 0, "0,1,2,3,7,6,5,9" },
  { "v6e", "4x4", 1, "-1,2", "1,1", 1, NULL, SPLIT, "0,1,4,5,8,9,12,13" },
  { "v6e", "4x4", 1, "-1,2", "1,1", 1, NULL, 0, "mesh shape '8,2'" },
  { "v6e", "4x4", 1, "-1,2", "9,9", 1, "", SPLIT, "0,1,4,5,8,9,12,13" },
  { "v6e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,4,5,6,7" },
  { "v6e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE | SPLIT, "0,1,2,3,7,6,5,4" },
  { "v6e", "2x4", 1, "2,4", "1,1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v6e", "4x2", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v5e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v6e", "16x16", 1, "1,64,4", "1,1,1", 1, "hybrid_ring_64x4", SPLIT, "0,1,17,16,2,3,19,18" },
  { "v6e", "16x16", 1, "1,32,8", "1,1,1", 1, "hybrid_ring_32x8", SPLIT, "0,1,2,3,19,18,17,16" },
  { "v6e", "16x16", 1, "1,64,4", "1,1,1", 1, "hybrid_ring_64x4", 0, "mesh shape '1,64,4'" },
  { "v6e", "16x16", 2, "1,4,64", "2,1,1", 2, "hybrid_ring_64x4", 0, "0,1,17,16,2,3,19,18" },
  { "v6e", "16x16", 2, "4,64", "2,1", 2, "hybrid_ring_64x4", 0, "expected ICI sizes of 64 and 4 for it" },
  { "v6e", "16x16", 2, "1,256", "2,1", 2, "ring\n", 0, "custom_mesh 'ring\\n': expected hybrid_ring_64x4" },
  { "v5p", "4x8x8", 2, "1,4,64", "2,1,1", 2, "hybrid_ring_64x4", 0, "mesh shape '16,16'" },
  { "v6e", "4x4", 2, "-1", "3", 3, NULL, 0, "'2'" },
  { "v6e", "4x4", 2, "-1", "3", 2, NULL, 0, "DCN sizes '3'" },
  { "v6e", "4x4", 1, "-2,-8", "1,1", 1, NULL, 0, "mesh shape '-2,-8'" },
  { "v6e", "4x4", 1, "-1", "1", 0, NULL, 0, "slices '0': expected 1 to 1000000" },
  { "v6e", "4x4", 1, "", "", 1, NULL, 0, "mesh of '0' axes: expected 1 to 64" },
  { "v6e", "4x4", 1, "-1", "1", 1, NULL, 4, "flags '4'" },
};

START_TEST (device_order_matches_maxtext)
{
  const MeshCase *of = &device_meshes[_i];
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMesh) mesh = new_mesh (of, &error);
  g_autofree char *first = NULL;

  if (mesh == NULL)
    {
      ck_assert_refused (error, QUOIT_ERROR_INVALID, of->expected);
      return;
    }
  ck_assert_ok (error);
  first = write_sizes (quoit_mesh_get_ids (mesh), 8);
  ck_assert_str_eq (first, of->expected);
}
END_TEST

START_TEST (ring_meshes_of_maxtext_connect_neighbours)
{
  static const struct {
    const char *name, *ici;
    unsigned length;
  } rings[] = { { "hybrid_ring_64x4", "1,64,4", 4 }, { "hybrid_ring_32x8", "1,32,8", 8 } };

  for (unsigned k = 0; k < G_N_ELEMENTS (rings); k++)
    {
      const MeshCase of = { "v6e", "16x16", 3, rings[k].ici, "3,1,1", 3, rings[k].name, 0, NULL };
      g_autoptr (QuoitMesh) mesh = new_mesh (&of, NULL);
      const int64_t *ids = quoit_mesh_get_ids (mesh);
      g_autofree unsigned *seen = g_new0 (unsigned, quoit_mesh_get_n_devices (mesh));

      ck_assert_uint_eq (quoit_mesh_get_n_devices (mesh), 768);
      ck_assert_uint_eq (quoit_mesh_get_n_granules (mesh), 3);
      ck_assert_uint_eq (quoit_mesh_get_dcn_size (mesh, 0), 3);
      ck_assert_int_eq (quoit_mesh_get_order (mesh, 0), QUOIT_MESH_ORDER_RING);
      for (unsigned i = 0; i < 768; i++)
        {
          unsigned next = i / rings[k].length * rings[k].length + (i + 1) % rings[k].length;
          int64_t dx = ids[next] % 16 - ids[i] % 16, dy = ids[next] / 16 - ids[i] / 16;

          ck_assert_int_eq (ABS (dx) + ABS (dy), 1);
          ck_assert_int_eq (ids[i] / 256, i / 256);
          ck_assert_uint_eq (seen[ids[i]]++, 0);
        }
    }
}
END_TEST

START_TEST (box_starts_at_the_smallest_coordinates)
{
  g_autoptr (QuoitDevices) all = quoit_devices_new_slices ("v6e", "8x8", 1, 0, 0, NULL);
  const int64_t sides[] = { 2, 4, 1, 1 };
  g_autoptr (QuoitDevices) box = quoit_maxtext_devices_new_box (all, sides, 3, NULL);
  g_autoptr (QuoitDevices) whole = quoit_maxtext_devices_new_box (all, NULL, 0, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (quoit_devices_get_n_devices (whole), 64);
  ck_assert_uint_eq (quoit_devices_get_n_devices (box), 8);
  for (uint32_t i = 0; i < 8; i++)
    {
      ck_assert_int_lt (quoit_devices_get_coordinates (box, i)[0], 2);
      ck_assert_int_lt (quoit_devices_get_coordinates (box, i)[1], 4);
    }
  ck_assert_ptr_null (quoit_maxtext_devices_new_box (all, sides, 4, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "box of '4' sides: expected at most 3");
  ck_assert_ptr_null (quoit_maxtext_devices_new_box (all, (int64_t[]) { 0 }, 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "box: expected sides of 1 or more");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("maxtext-meshes");
  TCase *sizes = tcase_create ("sizes"), *devices = tcase_create ("devices");

  tcase_set_timeout (sizes, 60);
  tcase_add_loop_test (sizes, sizes_are_filled_as_maxtext_fills_them, 0, G_N_ELEMENTS (fillings));
  tcase_add_test (sizes, inferred_size_multiplies_to_the_target);
  tcase_add_test (sizes, links_are_named_in_the_refusal);
  tcase_add_test (sizes, every_proposed_size_is_valid);
  suite_add_tcase (suite, sizes);
  tcase_set_timeout (devices, 60);
  tcase_add_test (devices, every_accelerator_is_found_by_its_name_and_counts_its_devices);
  tcase_add_test (devices, unknown_accelerator_is_refused_with_the_nearest_name);
  tcase_add_loop_test (devices, device_order_matches_maxtext, 0, G_N_ELEMENTS (device_meshes));
  tcase_add_test (devices, ring_meshes_of_maxtext_connect_neighbours);
  tcase_add_test (devices, box_starts_at_the_smallest_coordinates);
  suite_add_tcase (suite, devices);
  return suite_main (suite);
}
