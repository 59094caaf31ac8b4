/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of groups. */
#include <quoit/models.h>

#include "bundle-groups.h"

static void
reserve (QuoitLedger *ledger, const char *accelerator, const char *topology, int64_t n_slices, int64_t chips_per_host)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (request, accelerator, NULL)
             && quoit_request_set_topology (request, topology, NULL)
             && quoit_request_set_slices (request, n_slices, NULL));
  if (chips_per_host > 0)
    ck_assert (quoit_request_set_chips_per_host (request, chips_per_host, NULL));
  quoit_request_set_key (request, "key", NULL);
  quoit_group_unref (quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, &error));
  ck_assert_ok (error);
}

static QuoitDevices *
devices_of (QuoitLedger *ledger, GError **error)
{
  g_autoptr (QuoitGroup) group = bundles_find (ledger);

  return quoit_devices_new_group (group, error);
}

static const struct {
  const char *accelerator, *topology;
  int64_t n_slices, chips_per_host;
  const char *fleet, *kind;
  uint32_t n_devices;
  int32_t n_processes;
} groups[] = {
  { "v6e", "4x4", 2, 0, "v6e 4x4 x3", "TPU v6 lite", 32, 8 },
  { "v6e", "2x4", 2, 8, "v6e 2x4 x2 hostchips=8", "TPU v6 lite", 16, 2 },
  { "v6e", "2x4", 2, 4, "v6e 2x4 x2 hostchips=4", "TPU v6 lite", 16, 4 },
  { "v5p", "2x2x4", 1, 0, "v5p 2x2x4", "TPU v5p", 16, 4 },
  { "v5e", "4x8", 1, 0, "v5e 4x8", "TPU v5 lite", 32, 8 },
  { "tpu7x", "2x2x2", 2, 0, "tpu7x 2x2x2 x2", "TPU7x", 32, 4 },
};

START_TEST (a_group_has_the_devices_of_its_slices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (groups[_i].fleet);
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;
  uint32_t last;

  reserve (ledger, groups[_i].accelerator, groups[_i].topology, groups[_i].n_slices, groups[_i].chips_per_host);
  devices = devices_of (ledger, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_devices_get_kind (devices), groups[_i].kind);
  ck_assert_uint_eq (quoit_devices_get_n_devices (devices), groups[_i].n_devices);
  last = groups[_i].n_devices - 1;
  ck_assert_int_eq (quoit_devices_get_process_index (devices, last), groups[_i].n_processes - 1);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, last), groups[_i].n_slices - 1);
  ck_assert_int_eq (quoit_devices_get_id (devices, last), last);
}
END_TEST

START_TEST (leaving_slice_still_has_its_devices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 x2");
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;

  reserve (ledger, "v6e", "4x4", 2, 0);
  ck_assert (quoit_ledger_set_node_state (ledger, "v6e-4x4-1-0", QUOIT_NODE_DRAINING, bundles_now_ms, NULL));
  devices = devices_of (ledger, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_devices_get_n_devices (devices), 32);
}
END_TEST

START_TEST (lost_slice_is_refused_with_the_remedy)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 x2");
  GError *error = NULL;

  reserve (ledger, "v6e", "4x4", 2, 0);
  ck_assert (quoit_ledger_set_node_state (ledger, "v6e-4x4-1-2", QUOIT_NODE_DEAD, bundles_now_ms, NULL));
  ck_assert_ptr_null (devices_of (ledger, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'train': slice 'v6e-4x4-1' is lost");
  ck_assert_ptr_null (devices_of (ledger, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "repair the group, or release the slice");
}
END_TEST

START_TEST (group_that_released_a_slice_has_the_other_devices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 x2");
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;

  reserve (ledger, "v6e", "4x4", 2, 0);
  quoit_group_change_free (quoit_ledger_release_slice (ledger, "train", "v6e-4x4-0", bundles_now_ms, &error));
  ck_assert_ok (error);
  devices = devices_of (ledger, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_devices_get_n_devices (devices), 16);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, 15), 0);
}
END_TEST

START_TEST (released_group_has_no_devices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 x2");
  GError *error = NULL;

  reserve (ledger, "v6e", "4x4", 2, 0);
  ck_assert (quoit_ledger_release (ledger, "train", bundles_now_ms, NULL));
  ck_assert_ptr_null (devices_of (ledger, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'train' holds nothing any more");
}
END_TEST

/* --- devices of bundles --- */

/* "ID@X.Y.Z.CORE pPROCESS sSLICE; ..." for each device, in the order of the list. */
static char *
list_of (const QuoitDevices *devices)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_devices_get_n_devices (devices); i++)
    {
      const int32_t *at = quoit_devices_get_coordinates (devices, i);

      g_string_append_printf (text, "%s%d@%d.%d.%d.%d p%d s%d", i > 0 ? "; " : "",
                              (int) quoit_devices_get_id (devices, i), at[0], at[1], at[2],
                              quoit_devices_get_core (devices, i), quoit_devices_get_process_index (devices, i),
                              quoit_devices_get_slice_index (devices, i));
    }
  return g_string_free (text, FALSE);
}

static const struct {
  const char *fleet, *asked, *devices;
} of_bundles[] = {
  { "v6e 2x2", "TPU=2 TPU=2", "0@0.0.0.0 p0 s0; 1@1.0.0.0 p1 s0; 2@0.1.0.0 p0 s0; 3@1.1.0.0 p1 s0" },
  { "tpu7x 2x2x1", "TPU=1 TPU=1", "0@0.0.0.0 p0 s0; 1@0.0.0.1 p0 s0; 2@0.1.0.0 p1 s0; 3@0.1.0.1 p1 s0" },
  /* Host by host, from the first chip of the part. */
  { "v6e 4x4 busy=0.0-1", "TPU=4 TPU=4 spread slice",
    "0@0.0.0.0 p0 s0; 1@1.0.0.0 p0 s0; 4@0.1.0.0 p0 s0; 5@1.1.0.0 p0 s0; 2@2.0.0.0 p1 s0; 3@3.0.0.0 p1 s0; "
    "6@2.1.0.0 p1 s0; 7@3.1.0.0 p1 s0" },
  { "v6e 4x4 x2", "TPU=2 TPU=2 spread slices=2", "0@0.0.0.0 p0 s0; 1@0.1.0.0 p0 s0; 2@0.0.0.0 p1 s1; 3@0.1.0.0 p1 s1" },
  { "v6e 4x4 busy=0.0", "TPU=1", "0@0.0.0.0 p0 s0" },
};

START_TEST (bundles_of_one_job_have_the_devices_of_their_box)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (of_bundles[_i].fleet);
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", of_bundles[_i].asked);
  GError *error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new_group (group, &error);
  g_autofree char *list = NULL;

  ck_assert_ok (error);
  list = list_of (devices);
  ck_assert_str_eq (list, of_bundles[_i].devices);
}
END_TEST

START_TEST (slices_divided_into_bundles_have_the_devices_of_slices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v5p 2x2x4 x2");
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", "slices:v5p,2x2x4,2,2");
  g_autoptr (QuoitDevices) divided = quoit_devices_new_group (group, NULL);
  g_autoptr (QuoitDevices) whole = quoit_devices_new_slices ("v5p", "2x2x4", 2, 4, 0, NULL);
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, NULL);

  ck_assert_uint_eq (quoit_devices_get_n_devices (divided), quoit_devices_get_n_devices (whole));
  for (uint32_t i = 0; i < quoit_devices_get_n_devices (whole); i++)
    {
      uint32_t process = (uint32_t) quoit_devices_get_process_index (divided, i), d = 0;

      ck_assert_int_eq (quoit_devices_get_id (divided, i), quoit_devices_get_id (whole, i));
      ck_assert_int_eq (quoit_devices_get_slice_index (divided, i), quoit_devices_get_slice_index (whole, i));
      ck_assert_mem_eq (quoit_devices_get_coordinates (divided, i), quoit_devices_get_coordinates (whole, i),
                        3 * sizeof (int32_t));
      while (d < 2 && (int64_t) quoit_topology_get_device (topology, process, d) != quoit_devices_get_id (divided, i))
        d++;
      ck_assert_uint_lt (d, 2);
    }
}
END_TEST

/* An axis that a part does not contain completely is a line of any length: 4x4x4 of v4 is closed, but not in the
 * middle of 4x4x8. */
START_TEST (part_of_a_ring_is_a_line)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v4 4x4x8");
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitDevices) devices = NULL;
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;

  ck_assert (quoit_request_add_bundles (request, "TPU=4", 16, NULL)
             && quoit_request_set_strategy (request, QUOIT_STRATEGY_STRICT_SPREAD, NULL));
  group = quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, NULL);
  devices = quoit_devices_new_group (group, NULL);
  mesh = quoit_mesh_new (devices, (const int64_t[]) { 4, 4, 4 }, 3, 0, NULL);
  links = quoit_mesh_links_new (devices, mesh, NULL);
  ck_assert_ptr_nonnull (links);
  for (unsigned axis = 0; axis < 3; axis++)
    {
      bool is_z = strcmp (quoit_mesh_get_physical_axis (mesh, 0, 2), "z") == 0
                  && quoit_mesh_get_share (mesh, 0, 2, axis) == 4;

      ck_assert_int_eq (quoit_mesh_links_get_hops_back (links, axis), is_z ? 3 : 1);
    }
}
END_TEST

static const struct {
  const char *fleet, *asked;
  QuoitErrorCode code;
  const char *message;
} without[] = {
  { "v6e 4x4", "TPU=1 TPU=1 TPU=1", QUOIT_ERROR_INVALID,
    "group 'train' is not one job over ICI, so its processes cannot share a mesh: the '3' chips of slice 'v6e-4x4-0' "
    "that "
    "the "
    "bundles have do not form a box" },
  { "v6e 4x4", "TPU=1 TPU=2", QUOIT_ERROR_INVALID,
    "bundle '1' has a box of '1,2,1' chips, but bundle '0' one of '1,1,1'" },
  { "v6e 4x4 busy=0.1-2", "TPU=4 TPU=4 spread", QUOIT_ERROR_INVALID,
    "the '8' chips of slice 'v6e-4x4-0' that the bundles have do not form a box" },
  { "v5p 4x4x4 busy=0.2-15", "TPU=4 TPU=4 spread", QUOIT_ERROR_INVALID,
    "a box of '4,2,1', which is neither a part of one host nor a topology of v5p on whole hosts" },
  { "v5p 2x2x1; v6e 2x2", "TPU=4 TPU=4 spread", QUOIT_ERROR_INVALID,
    "slices 'v5p-2x2x1-0' and 'v6e-2x2-0' have different classes" },
  { "v6e 2x2", "TPU=0.5", QUOIT_ERROR_INVALID, "bundle '0' has only a part of a chip of node 'v6e-2x2-0-0'" },
  { "v6e 2x2", "TPU=3", QUOIT_ERROR_INVALID, "bundle '0' has the chips '0,1,2' of node 'v6e-2x2-0-0'" },
};

START_TEST (bundles_that_form_no_job_have_no_devices)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger (without[_i].fleet);
  g_autoptr (QuoitGroup) group = bundles_reserve (ledger, "train", without[_i].asked);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_devices_new_group (group, &error));
  ck_assert_refused (error, without[_i].code, without[_i].message);
}
END_TEST

START_TEST (lost_bundle_is_refused_with_the_remedy)
{
  g_autoptr (QuoitLedger) ledger = bundles_ledger ("v6e 4x4 pool=p");
  g_autoptr (QuoitGroup) made = bundles_reserve (ledger, "train", "TPU=4 TPU=4 spread slice"), group = NULL;
  GError *error = NULL;

  ck_assert_ptr_nonnull (made);
  ck_assert (quoit_ledger_set_node_state (ledger, "p-0-1", QUOIT_NODE_DEAD, bundles_now_ms, NULL));
  group = bundles_find (ledger);
  ck_assert_ptr_null (quoit_devices_new_group (group, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'train': bundle '1' is lost, and a mesh needs every device");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tcase = tcase_create ("groups");

  tcase_add_loop_test (tcase, a_group_has_the_devices_of_its_slices, 0, G_N_ELEMENTS (groups));
  tcase_add_test (tcase, leaving_slice_still_has_its_devices);
  tcase_add_test (tcase, lost_slice_is_refused_with_the_remedy);
  tcase_add_test (tcase, group_that_released_a_slice_has_the_other_devices);
  tcase_add_test (tcase, released_group_has_no_devices);
  tcase_add_loop_test (tcase, bundles_of_one_job_have_the_devices_of_their_box, 0, G_N_ELEMENTS (of_bundles));
  tcase_add_test (tcase, slices_divided_into_bundles_have_the_devices_of_slices);
  tcase_add_test (tcase, part_of_a_ring_is_a_line);
  tcase_add_loop_test (tcase, bundles_that_form_no_job_have_no_devices, 0, G_N_ELEMENTS (without));
  tcase_add_test (tcase, lost_bundle_is_refused_with_the_remedy);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
