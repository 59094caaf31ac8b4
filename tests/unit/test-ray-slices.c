/* SPDX-License-Identifier: Apache-2.0 */
/* Slice groups beyond the vectors: mixed slices, names that are known later, and requests of any size. */
#include <string.h>

#include <quoit/models/ray-slices.h>

#include "suite.h"

static QuoitRaySliceGroup *
new_group (QuoitRaySliceRequest *request)
{
  GError *error = NULL;
  QuoitRaySliceGroup *group = quoit_ray_slice_group_new (request, &error);

  ck_assert_ok (error);
  return group;
}

/* Selectors as text, one per bundle: "-" for none, else "KEY=VALUE"; "KEY=" is an empty value, "KEY" is None. */
static void
add_selectors (QuoitRaySliceRequest *request, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
      g_auto (GStrv) pair = g_strsplit (*word, "=", 2);

      if (strcmp (*word, "-") != 0)
        quoit_ray_labels_set (labels, pair[0], pair[1]);
      quoit_ray_slice_request_add_selector (request, labels);
    }
}

static char *
slice_of_bundle (const QuoitRaySliceGroup *group, int64_t bundle)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_slice_group_dup_bundle_labels (group, bundle);

  return g_strdup (labels != NULL ? quoit_ray_labels_find (labels, "ray.io/tpu-slice-name") : "no bundle");
}

#define NAME "ray.io/tpu-slice-name"

static const struct {
  const char *selectors;
  int64_t n_heads, first_head;
  const char *of_0, *of_3; /* of the bundles, after the heads are found on "taken" */
} mixed[] = {
  { "- - - -", 2, 0, "taken", "taken" },
  { NAME "=a - - -", 1, 1, "a", "taken" },
  { "- " NAME "=a - -", 1, 1, "a", "taken" },
  { "- - - " NAME "=b", 1, 0, "taken", "b" },
  { NAME "=a - " NAME "=a -", 0, -1, "a", "a" },
  { NAME "=a " NAME "=b - -", 1, 1, "a", "taken" },
  { NAME "= " NAME "=b - -", 2, 0, "taken", "taken" }, /* the first bundle with the key decides, even with an empty
                                                        * value */
  { NAME " " NAME "=b - -", 2, 0, "taken", "taken" },
};

START_TEST (head_is_reserved_for_each_slice_without_name)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("2x2x2", "v4");
  g_autoptr (QuoitRaySliceGroup) group = NULL;
  g_autofree char *of_0 = NULL, *of_3 = NULL;
  GError *error = NULL;

  quoit_ray_slice_request_set_n_slices (request, 2);
  add_selectors (request, mixed[_i].selectors);
  group = new_group (request);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_heads (group), mixed[_i].n_heads);
  ck_assert_int_eq (quoit_ray_slice_group_get_head_slice (group, 0), mixed[_i].first_head);
  ck_assert_int_eq (quoit_ray_slice_group_get_head_slice (group, mixed[_i].n_heads), -1);
  for (int64_t head = 0; head < mixed[_i].n_heads; head++)
    ck_assert (quoit_ray_slice_group_set_slice_name (group, quoit_ray_slice_group_get_head_slice (group, head), "taken",
                                                     &error));
  of_0 = slice_of_bundle (group, 0);
  of_3 = slice_of_bundle (group, 3);
  ck_assert_str_eq (of_0, mixed[_i].of_0);
  ck_assert_str_eq (of_3, mixed[_i].of_3);
}
END_TEST

START_TEST (bundles_select_a_slice_only_after_its_name_is_set)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("4x4", "v6e");
  g_autoptr (QuoitRaySliceGroup) group = new_group (request);
  g_autofree char *before = slice_of_bundle (group, 0), *after = NULL, *again = NULL, *beyond = NULL;

  ck_assert_pstr_eq (before, NULL);
  ck_assert (quoit_ray_slice_group_set_slice_name (group, 0, "s", NULL));
  after = slice_of_bundle (group, 3);
  ck_assert_str_eq (after, "s");
  ck_assert (quoit_ray_slice_group_set_slice_name (group, 0, "t", NULL));
  again = slice_of_bundle (group, 3);
  ck_assert_str_eq (again, "t");
  beyond = slice_of_bundle (group, 4);
  ck_assert_str_eq (beyond, "no bundle");
  ck_assert_ptr_null (quoit_ray_slice_group_dup_bundle_labels (group, -1));
}
END_TEST

START_TEST (a_name_for_a_slice_without_a_head_is_refused)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("2x2x2", "v4"),
                                   small = quoit_ray_slice_request_new ("2x4", "v6e");
  g_autoptr (QuoitRaySliceGroup) group = NULL, host = new_group (small);
  static const int64_t slices[] = { 0, 2, -1, INT64_MIN, INT64_MAX };
  GError *error = NULL;

  quoit_ray_slice_request_set_n_slices (request, 2);
  add_selectors (request, NAME "=a - - -");
  group = new_group (request);
  for (unsigned i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      ck_assert (!quoit_ray_slice_group_set_slice_name (group, slices[i], "s", &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected one whose head is reserved");
    }
  ck_assert (!quoit_ray_slice_group_set_slice_name (host, 0, "s", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "slice '0': expected one whose head is reserved");
}
END_TEST

START_TEST (cost_of_a_group_depends_only_on_its_request)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("32x32", "v3");
  g_autoptr (QuoitRaySliceGroup) group = NULL;
  g_autofree char *name = NULL, *last = NULL;
  int64_t n_slices = INT64_C (1) << 54;

  quoit_ray_slice_request_set_n_slices (request, n_slices);
  quoit_ray_slice_request_set_layout (request, QUOIT_RAY_LAYOUT_GROUP_PER_SLICE);
  quoit_ray_slice_request_set_name (request, "job");
  group = new_group (request);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_bundles (group), n_slices * 256);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_heads (group), n_slices);
  ck_assert_int_eq (quoit_ray_slice_group_get_head_slice (group, n_slices - 1), n_slices - 1);
  ck_assert (quoit_ray_slice_group_set_slice_name (group, n_slices - 1, "last", NULL));
  last = slice_of_bundle (group, n_slices * 256 - 1);
  ck_assert_str_eq (last, "last");
  name = quoit_ray_slice_group_dup_group_name (group, n_slices - 1);
  ck_assert_str_eq (name, "job_slice_18014398509481983");
  ck_assert_ptr_null (quoit_ray_slice_group_dup_group_name (group, n_slices));
  ck_assert_ptr_null (quoit_ray_slice_group_dup_group_name (group, -1));
  ck_assert_int_eq (quoit_ray_slice_group_get_group_n_bundles (group, n_slices - 1), 256);
  ck_assert_int_eq (quoit_ray_slice_group_get_group_n_bundles (group, n_slices), 0);
}
END_TEST

START_TEST (negative_number_of_slices_gives_a_group_without_bundles)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("4x4", "v6e");
  g_autoptr (QuoitRaySliceGroup) group = NULL;

  quoit_ray_slice_request_set_n_slices (request, -3);
  group = new_group (request);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_bundles (group), -12);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_hosts (group), -12);
  ck_assert_int_eq (quoit_ray_slice_group_get_bundles_per_slice (group), 4);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_heads (group), 0);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_groups (group), 1);
  ck_assert_int_eq (quoit_ray_slice_group_get_group_n_bundles (group, 0), 0);
  ck_assert_ptr_null (quoit_ray_slice_group_dup_bundle_labels (group, 0));
}
END_TEST

static const struct {
  const char *topology, *version;
  int64_t n_slices, chips_per_vm, factor;
  const char *selectors, *expected;
} refusals[] = {
  { "4x4", "v6e", 0, 4, 1, NULL, "number of slices '0': expected 1 or more" },
  { "4x4", "v6e", 1, 0, 1, NULL, "chips per VM '0': expected 1 or more" },
  { "4x4", "v6e", 1, 4, 0, NULL, "TPU per chip '0': expected 1 or more" },
  { "4x4", "v6e", 1, 3, 1, NULL, "expected a number that divides" },
  { "2x2x2", "v6e", 1, 4, 1, NULL, "topology '2x2x2': expected one that Ray lists for v6e" },
  { "8x4", "v6e", 1, 4, 1, NULL, "topology '8x4': expected one that Ray lists" },
  { "4x4", "v6e", 1, 4, 1, "-", "selectors of bundles '1': expected none, or one for each of 4 bundles" },
  { "4x4", "v6e", -1, 4, 1, "-", "selectors of bundles '1': expected none, or one for each of -4 bundles" },
  { "4x4", "v6e", INT64_MAX, 4, 1, NULL, "a number of workers that fits in 64 bits" },
  { "4x4", "v6e", INT64_MAX, 16, 1, NULL, NULL },
  { "4x4", "v6e", 1, 4, INT64_MAX, NULL, "numbers of hosts and devices that fit in 64 bits" },
  { "4x4", "v6e-16", 1, 4, 1, NULL, "accelerator type 'v6e-16': expected" },
  { NULL, "v6e", 1, 4, 1, NULL, "topology: expected a text, none is given" },
  { "4x4", NULL, 1, 4, 1, NULL, "accelerator version: expected a text, none is given" },
  { "4x\xff", "v6e", 1, 4, 1, NULL, "expected an integer" },
};

START_TEST (invalid_or_too_large_request_is_refused_by_name)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new (refusals[_i].topology, refusals[_i].version);
  g_autoptr (QuoitRaySliceGroup) group = NULL;
  GError *error = NULL;

  quoit_ray_slice_request_set_n_slices (request, refusals[_i].n_slices);
  quoit_ray_slice_request_set_chips_per_vm (request, refusals[_i].chips_per_vm);
  quoit_ray_slice_request_set_resource_per_chip (request, refusals[_i].factor);
  if (refusals[_i].selectors != NULL)
    add_selectors (request, refusals[_i].selectors);
  group = quoit_ray_slice_group_new (request, &error);
  ck_assert_int_eq (group == NULL, refusals[_i].expected != NULL);
  if (group == NULL)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, refusals[_i].expected);
}
END_TEST

START_TEST (million_selectors_are_searched_once)
{
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_slice_request_new ("32x32", "v3");
  g_autoptr (QuoitRaySliceGroup) group = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autofree char *last = NULL;
  enum { N_SLICES = 3906, N_BUNDLES = N_SLICES * 256 };

  quoit_ray_labels_set (labels, "zone", "a");
  quoit_ray_slice_request_set_n_slices (request, N_SLICES);
  for (unsigned i = 0; i < N_BUNDLES - 1; i++)
    quoit_ray_slice_request_add_selector (request, labels);
  quoit_ray_labels_set (labels, NAME, "last");
  quoit_ray_slice_request_add_selector (request, labels);
  group = new_group (request);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_heads (group), N_SLICES - 1);
  last = slice_of_bundle (group, N_BUNDLES - 256);
  ck_assert_str_eq (last, "last");
}
END_TEST

START_TEST (request_can_be_freed_before_the_group)
{
  QuoitRaySliceRequest *request = quoit_ray_slice_request_new (" 4X4 ", " TPU-V6E ");
  g_autoptr (QuoitRayResources) resources = quoit_ray_resources_new ();
  g_autoptr (QuoitRaySliceGroup) group = NULL;

  quoit_ray_resources_set (resources, "TPU", 2);
  quoit_ray_slice_request_set_resources (request, resources);
  quoit_ray_slice_request_set_resources (request, NULL);
  quoit_ray_slice_request_set_resources (request, resources);
  quoit_ray_slice_request_set_strategy (request, "PACK");
  quoit_ray_slice_request_set_strategy (request, "STRICT_SPREAD");
  quoit_ray_slice_request_set_lifetime (request, "detached");
  group = new_group (request);
  quoit_ray_slice_request_free (request);
  ck_assert_str_eq (quoit_ray_slice_group_get_topology (group), "4x4");
  ck_assert_str_eq (quoit_ray_slice_group_get_version (group), "v6e");
  ck_assert_str_eq (quoit_ray_slice_group_get_strategy (group), "STRICT_SPREAD");
  ck_assert_str_eq (quoit_ray_slice_group_get_lifetime (group), "detached");
  ck_assert_int_eq (quoit_ray_slice_group_get_n_slices (group), 1);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_bundles (group), 8);
  ck_assert (quoit_ray_resources_get_amount (quoit_ray_slice_group_get_resources (group), 0) == 2);
  quoit_ray_slice_group_free (NULL);
  quoit_ray_slice_request_free (NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-slices");
  TCase *tcase = tcase_create ("ray-slices");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, head_is_reserved_for_each_slice_without_name, 0, G_N_ELEMENTS (mixed));
  tcase_add_test (tcase, bundles_select_a_slice_only_after_its_name_is_set);
  tcase_add_test (tcase, a_name_for_a_slice_without_a_head_is_refused);
  tcase_add_test (tcase, cost_of_a_group_depends_only_on_its_request);
  tcase_add_test (tcase, negative_number_of_slices_gives_a_group_without_bundles);
  tcase_add_loop_test (tcase, invalid_or_too_large_request_is_refused_by_name, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, million_selectors_are_searched_once);
  tcase_add_test (tcase, request_can_be_freed_before_the_group);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
