/* SPDX-License-Identifier: Apache-2.0 */
/* The links of the axes of meshes. */
#include <string.h>

#include <quoit/models/mesh-links.h>

#include "suite.h"

enum { MOST_AXES = 8 };

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

/* Makes a hybrid mesh if @dcn is not NULL. */
static QuoitMeshLinks *
links_of (const char *kind, const char *topology, uint32_t n_slices, const char *ici, const char *dcn, unsigned flags)
{
  GError *error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (kind, topology, n_slices, 0, 0, &error);
  Sizes sizes = sizes_of (ici), dcn_sizes = sizes_of (dcn == NULL ? "" : dcn);
  g_autoptr (QuoitMesh) mesh = NULL;
  QuoitMeshLinks *links;

  ck_assert_ok (error);
  if (dcn == NULL)
    mesh = quoit_mesh_new (devices, sizes.sizes, sizes.n, flags, &error);
  else
    mesh = quoit_mesh_new_hybrid (devices, sizes.sizes, sizes.n, dcn_sizes.sizes, dcn_sizes.n, flags, &error);
  ck_assert_ok (error);
  links = quoit_mesh_links_new (devices, mesh, &error);
  ck_assert_ok (error);
  return links;
}

enum { NONE = 0, CHIP, ICI, DCN, BOTH };
enum { ALONE = 0, LINE, RING, JUMPS };
enum { SPLIT = QUOIT_MESH_SPLIT_PHYSICAL_AXES, PROCESSES = QUOIT_MESH_PROCESS_GRANULES };

/* One axis of each mesh. Times are for 10^9 bytes; a link of v5p, v6e and 7x carries 100 bytes per nanosecond in
 * each direction. */
/* clang-format off */
static const struct {
  const char *kind, *topology;
  uint32_t n_slices;
  const char *sizes, *dcn;
  unsigned flags, axis;
  unsigned network, form;
  uint32_t hops, hops_back;
  const char *physical;
  int64_t gather_ns;
} lines[] = {
  { "v5p", "4x4x4", 1, "4,4,4", NULL, 0, 2, ICI, RING, 1, 1, "x 4", 3750000 },
  { "v5p", "4x4x4", 1, "4,16", NULL, 0, 0, ICI, RING, 1, 1, "z 4", 3750000 },
  { "v5p", "4x4x4", 1, "4,16", NULL, 0, 1, ICI, JUMPS, 2, 2, "x 4, y 4", 2343750 },
  { "v5p", "4x4x4", 1, "64", NULL, 0, 0, ICI, JUMPS, 3, 3, "x 4, y 4, z 4", 1640625 },
  { "v5p", "2x2x4", 1, "4,4", NULL, 0, 0, ICI, LINE, 1, 3, "z 4", 7500000 },
  { "v5p", "2x2x4", 1, "4,4", NULL, 0, 1, ICI, JUMPS, 2, 2, "x 2, y 2", 3750000 },
  { "v5p", "2x2x4", 1, "1,16", NULL, 0, 0, NONE, ALONE, 0, 0, "", 0 },
  { "v6e", "16x16", 1, "16,16", NULL, 0, 0, ICI, RING, 1, 1, "y 16", 4687500 },
  { "v6e", "8x16", 1, "8,16", NULL, 0, 0, ICI, LINE, 1, 7, "x 8", 8750000 },
  { "v6e", "8x16", 1, "8,16", NULL, 0, 1, ICI, RING, 1, 1, "y 16", 4687500 },
  { "v6e", "4x2", 1, "8", NULL, 0, 0, ICI, RING, 1, 1, "x 4, y 2", 4375000 },
  { "v6e", "2x4", 1, "8", NULL, 0, 0, ICI, JUMPS, 2, 2, "x 2, y 4", 4375000 }, /* JAX's ring is that of 4x2 */
  { "v6e", "2x4", 1, "4,2", NULL, 0, 1, ICI, LINE, 1, 1, "x 2", 5000000 },
  { "v6e", "4x4", 1, "2,8", NULL, SPLIT, 0, ICI, JUMPS, 2, 2, "y 2 of 4", 10000000 },
  { "v6e", "4x4", 2, "1,16", "2,1", 0, 0, DCN, ALONE, 0, 0, "", 40000000 },
  { "v6e", "4x4", 2, "1,16", "2,1", 0, 1, ICI, RING, 1, 1, "x 4, y 4", 4687500 },
  { "v6e", "4x4", 2, "2,8", "2,1", SPLIT, 0, BOTH, JUMPS, 2, 2, "y 2 of 4", 30000000 },
  { "v6e", "4x4", 1, "4,1", "1,4", PROCESSES, 1, ICI, JUMPS, 4, 5, "x 2 of 4, y 2 of 4", 30000000 },
  { "v5e", "4x4", 2, "16", "2", 0, 0, BOTH, RING, 1, 1, "x 4, y 4", 19375000 },
  { "tpu7x", "2x2x1", 1, "4,2", NULL, 0, 1, CHIP, LINE, 0, 0, "core 2", -1 },
  { "tpu7x", "2x2x1", 1, "4,2", NULL, 0, 0, ICI, RING, 1, 1, "x 2, y 2", 7500000 },
  { "tpu7x", "2x2x1", 1, "8", NULL, 0, 0, ICI, RING, 1, 1, "x 2, y 2, core 2", 3750000 },
  { "v4", "4x4x4", 1, "4,16", NULL, 0, 0, ICI, RING, 1, 1, "z 4", -1 },
};
/* clang-format on */

START_TEST (axis_uses_the_expected_links)
{
  g_autoptr (QuoitMeshLinks) links = links_of (lines[_i].kind, lines[_i].topology, lines[_i].n_slices, lines[_i].sizes,
                                               lines[_i].dcn, lines[_i].flags);
  unsigned axis = lines[_i].axis;
  g_autofree char *physical = quoit_mesh_links_dup_physical (links, axis);
  int64_t gather_ns = quoit_mesh_links_get_all_gather_ns (links, axis, 1000000000);
  int64_t reduce_ns = quoit_mesh_links_get_all_reduce_ns (links, axis, 1000000000);
  g_autofree char *place
      = g_strdup_printf ("%s %s, axis %u of %s", lines[_i].kind, lines[_i].topology, axis, lines[_i].sizes);

  ck_assert_msg (quoit_mesh_links_get_network (links, axis) == (QuoitMeshNetwork) lines[_i].network, "%s: network %d",
                 place, quoit_mesh_links_get_network (links, axis));
  ck_assert_msg (quoit_mesh_links_get_form (links, axis) == (QuoitMeshForm) lines[_i].form, "%s: form %d", place,
                 quoit_mesh_links_get_form (links, axis));
  ck_assert_msg (quoit_mesh_links_get_hops (links, axis) == lines[_i].hops, "%s: %u hops", place,
                 quoit_mesh_links_get_hops (links, axis));
  ck_assert_msg (quoit_mesh_links_get_hops_back (links, axis) == lines[_i].hops_back, "%s: %u hops back", place,
                 quoit_mesh_links_get_hops_back (links, axis));
  ck_assert_msg (strcmp (physical, lines[_i].physical) == 0, "%s: '%s'", place, physical);
  ck_assert_msg (gather_ns == lines[_i].gather_ns, "%s: %" G_GINT64_FORMAT " ns", place, gather_ns);
  ck_assert_msg (reduce_ns == (gather_ns < 0 ? -1 : 2 * gather_ns), "%s: %" G_GINT64_FORMAT " ns", place, reduce_ns);
}
END_TEST

START_TEST (times_are_limited_to_64_bits)
{
  g_autoptr (QuoitMeshLinks) links = links_of ("v5e", "4x4", 2, "16", "2", 0);
  g_autoptr (QuoitMeshLinks) one = links_of ("v5e", "2x2", 1, "4,1", NULL, 0);

  ck_assert_int_eq (quoit_mesh_links_get_all_gather_ns (links, 0, 0), 0);
  ck_assert_int_eq (quoit_mesh_links_get_all_gather_ns (links, 0, 1), 2); /* the sum over two networks, each rounded
                                                                           * up */
  ck_assert_int_gt (quoit_mesh_links_get_all_gather_ns (links, 0, G_MAXINT64), 0);
  ck_assert_int_gt (quoit_mesh_links_get_all_reduce_ns (links, 0, G_MAXINT64), 0);
  ck_assert_int_eq (quoit_mesh_links_get_all_reduce_ns (one, 1, G_MAXINT64), 0);
}
END_TEST

START_TEST (links_of_listed_devices_do_not_wrap)
{
  GError *error = NULL;
  g_autoptr (QuoitDevices) whole = quoit_devices_new_slices ("v5p", "4x4x4", 1, 0, 0, NULL);
  g_autoptr (QuoitDevices) listed = quoit_devices_new ("v5p", NULL);
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;
  int64_t sizes[] = { 4, 4, 4 };

  for (uint32_t i = 0; i < 64; i++)
    ck_assert (quoit_devices_add (listed, i, quoit_devices_get_coordinates (whole, i), 0, 0, 0, NULL));
  mesh = quoit_mesh_new (listed, sizes, 3, 0, &error);
  ck_assert_ok (error);
  links = quoit_mesh_links_new (listed, mesh, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_mesh_links_get_form (links, 0), QUOIT_MESH_FORM_LINE);
  ck_assert_uint_eq (quoit_mesh_links_get_hops_back (links, 0), 3);
  ck_assert_int_eq (quoit_mesh_links_get_all_gather_ns (links, 0, 1000000000), 7500000);
}
END_TEST

START_TEST (mesh_of_a_different_device_list_is_refused)
{
  GError *error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices ("v6e", "4x4", 1, 0, 0, NULL);
  g_autoptr (QuoitDevices) fewer = quoit_devices_new_slices ("v6e", "2x4", 1, 0, 0, NULL);
  int64_t sizes[] = { 4, 4 };
  g_autoptr (QuoitMesh) mesh = quoit_mesh_new (devices, sizes, 2, 0, NULL);

  ck_assert_ptr_null (quoit_mesh_links_new (fewer, mesh, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected the list from which the mesh was made");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("mesh-links");
  TCase *tcase = tcase_create ("axes");

  tcase_add_loop_test (tcase, axis_uses_the_expected_links, 0, G_N_ELEMENTS (lines));
  tcase_add_test (tcase, times_are_limited_to_64_bits);
  tcase_add_test (tcase, links_of_listed_devices_do_not_wrap);
  tcase_add_test (tcase, mesh_of_a_different_device_list_is_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
