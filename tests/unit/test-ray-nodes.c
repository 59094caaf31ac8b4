/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists, and the differences between Ray's count of slices and the true one. */
#include <string.h>

#include "ray-lists.h"
#include "suite.h"

static const struct {
  const char *nodes, *topology;
  unsigned intact, ready, free;
} counts[] = {
  { "s 0 4 4; s 1 4 4", "2x2x2", 1, 1, 1 },
  { "s 0 4 4; s 1 4 3", "2x2x2", 1, 0, 0 },
  { "s 0 4 -; s 1 4 -", "2x2x2", 1, 1, 0 }, /* fully used, but ready for Ray */
  { "s 0 4 4; s 0 4 4", "2x2x2", 1, 1, 0 }, /* one worker twice */
  { "s 0 4 4; s 7 4 4", "2x2x2", 1, 1, 0 },
  { "s 0 4 4; s - 4 4", "2x2x2", 1, 1, 0 },
  { "s 0 4 4; s +1 4 4", "2x2x2", 1, 1, 0 },
  { "s 1 4 4; s 2 4 4", "2x2x2", 0, 0, 0 }, /* no worker 0 */
  { "s 0 4 4; !s 1 4 4", "2x2x2", 0, 0, 0 },
  { "s 0 4 4; s 1 4 4; s 2 4 4", "2x2x2", 0, 0, 0 },
  { "s 0 4 4 ray.io/tpu-topology=2x2x2; s 1 4 4", "2x2x2", 1, 1, 1 },
  { "s 0 4 4 ray.io/tpu-topology=2X2X2; s 1 4 4", " 2X2x2", 1, 1, 1 },
  { "s 0 4 4 ray.io/tpu-topology=1x2x4; s 1 4 4", "2x2x2", 1, 1, 0 }, /* another shape with the same number of chips */
  { "s 0 8 8; s 0 4 4; s 1 4 4", "2x2x2", 2, 2, 0 },                  /* one host with all chips, and two others */
  { "- - 8 8", "2x2x2", 1, 1, 1 },
  { "s - 8 8", "2x2x2", 1, 1, 1 },
  { "- 0 4 4; - 1 4 4", "2x2x2", 0, 0, 0 }, /* without a slice */
  { "- - 9 9", "2x2x2", 0, 0, 0 },
  { "s 0 4 4; s 1 4 4; t 0 4 4; t 1 4 4", "2x2x2", 2, 2, 2 },
  { "s 0 4 4; s 1 4 4", "2x2", 0, 0, 0 },
  { "s 0 4 4; s 1 4 4", "2x2x", 0, 0, 0 },
  { "s 0 4 4; s 1 4 4", "0x2x2", 0, 0, 0 },
  { "s 0 4 4; s 1 4 4", "99999999999x99999999999x99999999999", 0, 0, 0 },
  { "s 0 nan nan; s 1 4 4", "2x2x2", 0, 0, 0 },
  { "", "2x2x2", 0, 0, 0 },
};

START_TEST (slices_are_counted_as_in_ray)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes (counts[_i].nodes, "ray.io/tpu-pod-type=v4-16");
  const char *topology = counts[_i].topology;

  ck_assert_uint_eq (quoit_ray_count_slices (nodes, topology, "TPU-V4", NULL), counts[_i].intact);
  ck_assert_uint_eq (quoit_ray_count_ready_slices (nodes, topology, "v4", NULL), counts[_i].ready);
  ck_assert_uint_eq (quoit_ray_count_free_slices (nodes, topology, "v4", NULL), counts[_i].free);
}
END_TEST

START_TEST (resource_per_chip_scales_the_required_chips)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes ("s 0 8 8; s 1 8 8", "ray.io/tpu-pod-type=v7x-16");
  static const struct {
    int64_t factor;
    unsigned n;
  } factors[]
      = { { 2, 1 },        { 1, 2 /* each in its own slice */ }, { 3, 0 }, { 0, 0 }, { -1, 0 }, { INT64_MAX, 0 },
          { INT64_MIN, 0 } };

  for (unsigned i = 0; i < G_N_ELEMENTS (factors); i++)
    ck_assert_uint_eq (quoit_ray_count_ready_slices (nodes, "2x2x2", "v7x", &factors[i].factor), factors[i].n);
}
END_TEST

START_TEST (no_slices_without_topology_or_type)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes ("s 0 4 4; s 1 4 4", "ray.io/tpu-pod-type=v4-16");
  static const char *const types[] = { NULL, "", "v9", "TPU", "v4\xff" };

  for (unsigned i = 0; i < G_N_ELEMENTS (types); i++)
    ck_assert_uint_eq (quoit_ray_count_slices (nodes, "2x2x2", types[i], NULL), 0);
  ck_assert_uint_eq (quoit_ray_count_free_slices (nodes, NULL, "v4", NULL), 0);
}
END_TEST

START_TEST (nodes_of_a_slice_are_its_alive_nodes_in_order)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes ("s 0 4 4; !s 1 4 4; t 0 4 4; s 3 4 4; - - 4 4", "");

  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, "s", 0), 0);
  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, "s", 1), 3);
  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, "s", 4), quoit_ray_nodes_get_n (nodes));
  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, NULL, 0), 4);
  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, "s", UINT_MAX), 5);
  ck_assert_str_eq (quoit_ray_nodes_get_id (nodes, 3), "n3");
  ck_assert_pstr_eq (quoit_ray_nodes_get_slice_name (nodes, 4), NULL);
  ck_assert_pstr_eq (quoit_ray_nodes_get_slice_name (nodes, 5), NULL);
  ck_assert_pstr_eq (quoit_ray_nodes_get_id (nodes, 5), NULL);
  quoit_ray_nodes_set_dead (nodes, 5);
  quoit_ray_nodes_set_dead (nodes, 0);
  ck_assert_uint_eq (quoit_ray_nodes_find_slice_node (nodes, "s", 0), 3);
}
END_TEST

START_TEST (available_resources_belong_to_the_node_id)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes ("s 0 4 4; s 1 4 4", "ray.io/tpu-pod-type=v4-16");
  g_autoptr (QuoitRayResources) nothing = quoit_ray_resources_new ();

  quoit_ray_nodes_set_available (nodes, "stranger", nothing);
  ck_assert_uint_eq (quoit_ray_count_free_slices (nodes, "2x2x2", "v4", NULL), 1);
  quoit_ray_nodes_set_available (nodes, "n1", nothing);
  ck_assert_uint_eq (quoit_ray_count_free_slices (nodes, "2x2x2", "v4", NULL), 0);
  ck_assert_uint_eq (quoit_ray_count_ready_slices (nodes, "2x2x2", "v4", NULL), 1);
}
END_TEST

START_TEST (thousands_of_labels_keep_their_order_and_last_value)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();

  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < 20000; i++)
      {
        g_autofree char *key = g_strdup_printf ("k%u", i), *value = g_strdup_printf ("%u-%u", round, i);

        quoit_ray_labels_set (labels, key, value);
      }
  ck_assert_str_eq (quoit_ray_labels_get_key (labels, 777), "k777");
  ck_assert_str_eq (quoit_ray_labels_get_value (labels, 777), "1-777");
  ck_assert_str_eq (quoit_ray_labels_find (labels, "k19999"), "1-19999");
  ck_assert_pstr_eq (quoit_ray_labels_find (labels, "k20000"), NULL);
  ck_assert_pstr_eq (quoit_ray_labels_get_key (labels, 20000), NULL);
  ck_assert_pstr_eq (quoit_ray_labels_get_value (labels, 20000), NULL);
  quoit_ray_labels_set (labels, "k0", NULL);
  ck_assert_pstr_eq (quoit_ray_labels_get_value (labels, 0), NULL);
  ck_assert_str_eq (quoit_ray_labels_get_key (labels, 0), "k0");
  quoit_ray_labels_free (NULL);
  quoit_ray_nodes_free (NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-nodes");
  TCase *tcase = tcase_create ("ray-nodes");

  tcase_add_loop_test (tcase, slices_are_counted_as_in_ray, 0, G_N_ELEMENTS (counts));
  tcase_add_test (tcase, resource_per_chip_scales_the_required_chips);
  tcase_add_test (tcase, no_slices_without_topology_or_type);
  tcase_add_test (tcase, nodes_of_a_slice_are_its_alive_nodes_in_order);
  tcase_add_test (tcase, available_resources_belong_to_the_node_id);
  tcase_add_test (tcase, thousands_of_labels_keep_their_order_and_last_value);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
