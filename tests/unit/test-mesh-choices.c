/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to lay out axes on devices, and their order. */
#include <string.h>

#include <quoit/models/mesh-choices.h>

#include "suite.h"

enum { MOST_AXES = 8, BYTES = 1000000000 };

typedef struct {
  int64_t sizes[MOST_AXES];
  unsigned n;
} Sizes;

static Sizes
sizes_of (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  Sizes sizes = { .n = g_strv_length (words) };

  for (unsigned i = 0; i < sizes.n; i++)
    sizes.sizes[i] = g_ascii_strtoll (words[i], NULL, 10);
  return sizes;
}

static QuoitMeshChoices *
choices_of (const char *kind, const char *topology, uint32_t n_slices, const char *text, const char *dcn,
            GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (kind, topology, n_slices, 0, 0, NULL);
  Sizes sizes = sizes_of (text), dcn_sizes = sizes_of (dcn == NULL ? "" : dcn);

  ck_assert_ptr_nonnull (devices);
  return quoit_mesh_choices_new (devices, sizes.sizes, sizes.n, dcn == NULL ? NULL : dcn_sizes.sizes, BYTES, error);
}

/* "1:1 0:2 split": axis and its part between slices, place by place. */
static char *
describe (const QuoitMeshChoices *choices, unsigned choice, unsigned n_axes)
{
  GString *text = g_string_new (NULL);

  for (unsigned place = 0; place < n_axes; place++)
    g_string_append_printf (text, "%s%u:%u", place == 0 ? "" : " ",
                            quoit_mesh_choices_get_axis (choices, choice, place),
                            quoit_mesh_choices_get_dcn_size (choices, choice, place));
  if (quoit_mesh_choices_get_flags (choices, choice) == QUOIT_MESH_SPLIT_PHYSICAL_AXES)
    g_string_append (text, " split");
  return g_string_free (text, FALSE);
}

static const struct {
  const char *kind, *topology;
  uint32_t n_slices;
  const char *sizes, *dcn, *best;
} bests[] = {
  { "v6e", "4x4", 2, "2,16", NULL, "0:2 1:1" },        /* 16 is a ring inside the slice */
  { "v6e", "4x4", 2, "2,16", "1,2", "0:1 1:2 split" }, /* in the requested order */
  { "v6e", "4x4", 1, "16", NULL, "0:1" },
  { "v6e", "4x4", 1, "1,16,1", NULL, "0:1 1:1 2:1" },
  { "v6e", "4x8", 1, "4,8", NULL, "0:1 1:1" },
  { "v4", "4x4x8", 1, "16,8", NULL, "0:1 1:1" },    /* no bandwidths, and 8 is a ring of z */
  { "tpu7x", "4x4x4", 1, "64,2", NULL, "0:1 1:1" }, /* 2 on a chip */
};

START_TEST (the_last_axis_has_the_best_links)
{
  GError *error = NULL;
  unsigned n_axes = sizes_of (bests[_i].sizes).n;
  g_autoptr (QuoitMeshChoices) choices
      = choices_of (bests[_i].kind, bests[_i].topology, bests[_i].n_slices, bests[_i].sizes, bests[_i].dcn, &error);
  g_autofree char *best = NULL;

  ck_assert_ok (error);
  best = describe (choices, 0, n_axes);
  ck_assert_msg (strcmp (best, bests[_i].best) == 0, "%s %s as %s: '%s'", bests[_i].kind, bests[_i].topology,
                 bests[_i].sizes, best);
}
END_TEST

/* Every choice can be made as described, takes the reported time, and occurs once; no choice is better for the last
 * axis than the one before it. */
static const struct {
  const char *kind, *topology;
  uint32_t n_slices;
  const char *sizes;
  unsigned least;
} all[] = {
  { "v6e", "4x4", 2, "2,4,4", 3 },     { "v5p", "2x2x4", 4, "4,2,8", 4 }, { "v5e", "8x8", 1, "2,4,8", 3 },
  { "v4", "4x4x4", 1, "4,4,4", 1 },    { "v5p", "4x4x4", 2, "8,16", 2 },  { "tpu7x", "2x2x2", 2, "4,4,2", 4 },
  { "v6e", "16x16", 2, "2,16,16", 3 }, { "v3", "4x4", 1, "4,8", 1 },
};

static void
check_choice (const QuoitDevices *devices, const Sizes *sizes, const QuoitMeshChoices *choices, unsigned choice)
{
  GError *error = NULL;
  int64_t ici[MOST_AXES], dcn[MOST_AXES];
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;
  unsigned flags = quoit_mesh_choices_get_flags (choices, choice);

  for (unsigned place = 0; place < sizes->n; place++)
    {
      dcn[place] = quoit_mesh_choices_get_dcn_size (choices, choice, place);
      ici[place] = sizes->sizes[quoit_mesh_choices_get_axis (choices, choice, place)] / dcn[place];
    }
  mesh = quoit_mesh_new_hybrid (devices, ici, sizes->n, dcn, sizes->n, flags, &error);
  ck_assert_ok (error);
  links = quoit_mesh_links_new (devices, mesh, &error);
  ck_assert_ok (error);
  for (unsigned place = 0; place < sizes->n; place++)
    ck_assert_int_eq (quoit_mesh_links_get_all_reduce_ns (links, place, BYTES),
                      quoit_mesh_choices_get_all_reduce_ns (choices, choice, place));
}

static int64_t
time_of_last (const QuoitMeshChoices *choices, unsigned choice, unsigned n_axes)
{
  for (unsigned place = 0; place < n_axes; place++)
    if (quoit_mesh_choices_get_axis (choices, choice, place) == n_axes - 1)
      return quoit_mesh_choices_get_all_reduce_ns (choices, choice, place);
  ck_abort_msg ("no place has the last axis");
}

START_TEST (reported_choices_can_be_built_and_are_sorted)
{
  GError *error = NULL;
  Sizes sizes = sizes_of (all[_i].sizes);
  g_autoptr (QuoitDevices) devices
      = quoit_devices_new_slices (all[_i].kind, all[_i].topology, all[_i].n_slices, 0, 0, NULL);
  g_autoptr (QuoitMeshChoices) choices
      = choices_of (all[_i].kind, all[_i].topology, all[_i].n_slices, all[_i].sizes, NULL, &error);
  g_autoptr (GHashTable) described = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  ck_assert_ok (error);
  ck_assert_uint_ge (quoit_mesh_choices_get_n (choices), all[_i].least);
  for (unsigned choice = 0; choice < quoit_mesh_choices_get_n (choices); choice++)
    {
      check_choice (devices, &sizes, choices, choice);
      ck_assert_msg (g_hash_table_add (described, describe (choices, choice, sizes.n)), "choice %u occurs twice",
                     choice);
      if (choice > 0)
        ck_assert_int_le (time_of_last (choices, choice - 1, sizes.n), time_of_last (choices, choice, sizes.n));
    }
}
END_TEST

/* Compares with an exhaustive search of every order and every way to join slices: none is better for the last axis. */
START_TEST (first_choice_is_best_for_the_last_axis)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices ("v5p", "4x4x4", 2, 0, 0, NULL);
  g_autoptr (QuoitMeshChoices) choices = choices_of ("v5p", "4x4x4", 2, "2,4,16", NULL, NULL);
  static const unsigned orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  static const int64_t sizes[] = { 2, 4, 16 };
  int64_t best = time_of_last (choices, 0, 3);
  unsigned n_made = 0;

  for (unsigned i = 0; i < 18; i++)
    {
      int64_t ici[3], dcn[3] = { 1, 1, 1 };
      g_autoptr (QuoitMesh) mesh = NULL;
      g_autoptr (QuoitMeshLinks) links = NULL;

      dcn[i / 6] = 2;
      for (unsigned place = 0; place < 3; place++)
        ici[place] = sizes[orders[i % 6][place]] / dcn[place];
      mesh = quoit_mesh_new_hybrid (devices, ici, 3, dcn, 3, QUOIT_MESH_SPLIT_PHYSICAL_AXES, NULL);
      if (mesh == NULL)
        continue;
      n_made++;
      links = quoit_mesh_links_new (devices, mesh, NULL);
      for (unsigned place = 0; place < 3; place++)
        if (orders[i % 6][place] == 2)
          ck_assert_int_le (best, quoit_mesh_links_get_all_reduce_ns (links, place, BYTES));
    }
  ck_assert_uint_eq (n_made, 18);
}
END_TEST

static const struct {
  const char *kind, *topology;
  uint32_t n_slices;
  const char *sizes, *dcn, *message;
} refusals[] = {
  { "v6e", "4x4", 2, "2,17", NULL, "'2,17' multiplies to 34: expected 32, the number of devices, such as '2,16'" },
  { "v6e", "4x4", 3, "2,24", "2,1", "expected 3, the number of granules" },
  { "v6e", "4x4", 3, "1,48", "3,1", "axis 0 of size '3': expected a number that divides 1" },
  { "v6e", "4x4", 2, "0,32", NULL, "axis 0 of size '0': expected 1 or more" },
  { "v6e", "16x16", 1, "2,2,2,2,2,2,2,2", NULL, "expected at most 6 axes longer than 1" },
  { "v6e", "16x16", 64, "4,4,4,16,16", NULL,
    "ways or more to lay the axes out on 16384 devices: expected at most 1024" },
};

START_TEST (impossible_mesh_is_refused)
{
  GError *error = NULL;

  ck_assert_ptr_null (choices_of (refusals[_i].kind, refusals[_i].topology, refusals[_i].n_slices, refusals[_i].sizes,
                                  refusals[_i].dcn, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refusals[_i].message);
}
END_TEST

START_TEST (devices_with_a_hole_are_refused_as_in_a_mesh)
{
  GError *error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new ("v4", NULL);
  int64_t sizes[] = { 2, 2 };

  for (int32_t i = 0; i < 4; i++)
    ck_assert (quoit_devices_add (devices, i, (int32_t[]) { i * i, 0, 0 }, 0, 0, 0, NULL));
  ck_assert_ptr_null (quoit_mesh_choices_new (devices, sizes, 2, NULL, BYTES, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected one device at each place");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("mesh-choices");
  TCase *tcase = tcase_create ("choices");

  tcase_add_loop_test (tcase, the_last_axis_has_the_best_links, 0, G_N_ELEMENTS (bests));
  tcase_add_loop_test (tcase, reported_choices_can_be_built_and_are_sorted, 0, G_N_ELEMENTS (all));
  tcase_add_test (tcase, first_choice_is_best_for_the_last_axis);
  tcase_add_loop_test (tcase, impossible_mesh_is_refused, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, devices_with_a_hole_are_refused_as_in_a_mesh);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
