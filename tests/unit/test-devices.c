/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of groups. */
#include <string.h>

#include <quoit/quoit.h>

#include "suite.h"

static const int64_t now_ms = G_GINT64_CONSTANT (1700000000000);

static Quoit *
ledger_of (const char *text)
{
  Quoit *quoit = quoit_open_memory ();
  GError *error = NULL;

  quoit_import_free (quoit_import_fleet_text (quoit, text, strlen (text), NULL, now_ms, &error));
  ck_assert_ok (error);
  return quoit;
}

static void
reserve (Quoit *quoit, const char *accelerator, const char *topology, int64_t n_slices, int64_t chips_per_host)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train");
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (request, accelerator, NULL)
             && quoit_request_set_topology (request, topology, NULL)
             && quoit_request_set_slices (request, n_slices, NULL));
  if (chips_per_host > 0)
    ck_assert (quoit_request_set_chips_per_host (request, chips_per_host, NULL));
  quoit_request_set_key (request, "key");
  quoit_group_unref (quoit_reserve (quoit, request, now_ms, &error));
  ck_assert_ok (error);
}

/* "train" as it is now; the one that its key names where it has gone. */
static QuoitGroup *
find_group (Quoit *quoit)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);

  ck_assert_uint_gt (quoit_snapshot_get_n_groups (snapshot), 0);
  return quoit_snapshot_dup_group (snapshot, 0);
}

static QuoitDevices *
devices_of (Quoit *quoit, GError **error)
{
  g_autoptr (QuoitGroup) group = find_group (quoit);

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
  g_autoptr (Quoit) quoit = ledger_of (groups[_i].fleet);
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;
  uint32_t last;

  reserve (quoit, groups[_i].accelerator, groups[_i].topology, groups[_i].n_slices, groups[_i].chips_per_host);
  devices = devices_of (quoit, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_devices_get_kind (devices), groups[_i].kind);
  ck_assert_uint_eq (quoit_devices_get_n (devices), groups[_i].n_devices);
  last = groups[_i].n_devices - 1;
  ck_assert_int_eq (quoit_devices_get_process_index (devices, last), groups[_i].n_processes - 1);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, last), groups[_i].n_slices - 1);
  ck_assert_int_eq (quoit_devices_get_id (devices, last), last);
}
END_TEST

START_TEST (a_slice_that_is_leaving_has_its_devices)
{
  g_autoptr (Quoit) quoit = ledger_of ("v6e 4x4 x2");
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;

  reserve (quoit, "v6e", "4x4", 2, 0);
  ck_assert (quoit_set_node_state (quoit, "v6e-4x4-1-0", QUOIT_NODE_DRAINING, now_ms, NULL));
  devices = devices_of (quoit, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_devices_get_n (devices), 32);
}
END_TEST

START_TEST (a_lost_slice_is_named_with_the_remedy)
{
  g_autoptr (Quoit) quoit = ledger_of ("v6e 4x4 x2");
  GError *error = NULL;

  reserve (quoit, "v6e", "4x4", 2, 0);
  ck_assert (quoit_set_node_state (quoit, "v6e-4x4-1-2", QUOIT_NODE_DEAD, now_ms, NULL));
  ck_assert_ptr_null (devices_of (quoit, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'train': slice 'v6e-4x4-1' is lost");
  ck_assert_ptr_null (devices_of (quoit, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "repair the group, or release the slice");
}
END_TEST

START_TEST (a_group_that_gave_a_slice_up_has_the_devices_of_the_other)
{
  g_autoptr (Quoit) quoit = ledger_of ("v6e 4x4 x2");
  g_autoptr (QuoitDevices) devices = NULL;
  GError *error = NULL;

  reserve (quoit, "v6e", "4x4", 2, 0);
  quoit_group_change_free (quoit_release_slice (quoit, "train", "v6e-4x4-0", now_ms, &error));
  ck_assert_ok (error);
  devices = devices_of (quoit, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_devices_get_n (devices), 16);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, 15), 0);
}
END_TEST

START_TEST (a_group_that_is_gone_has_none)
{
  g_autoptr (Quoit) quoit = ledger_of ("v6e 4x4 x2");
  GError *error = NULL;

  reserve (quoit, "v6e", "4x4", 2, 0);
  ck_assert (quoit_release (quoit, "train", now_ms, NULL));
  ck_assert_ptr_null (devices_of (quoit, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'train' holds nothing any more");
}
END_TEST

START_TEST (parts_of_nodes_have_none)
{
  g_autoptr (Quoit) quoit = ledger_of ("v6e 4x4 x2");
  g_autoptr (QuoitRequest) request = quoit_request_new ("train");
  GError *error = NULL;

  ck_assert (quoit_request_add_bundle (request, "TPU=4", NULL));
  quoit_group_unref (quoit_reserve (quoit, request, now_ms, &error));
  ck_assert_ok (error);
  ck_assert_ptr_null (devices_of (quoit, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'train' has bundles, not whole hosts");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tcase = tcase_create ("groups");

  tcase_add_loop_test (tcase, a_group_has_the_devices_of_its_slices, 0, G_N_ELEMENTS (groups));
  tcase_add_test (tcase, a_slice_that_is_leaving_has_its_devices);
  tcase_add_test (tcase, a_lost_slice_is_named_with_the_remedy);
  tcase_add_test (tcase, a_group_that_gave_a_slice_up_has_the_devices_of_the_other);
  tcase_add_test (tcase, a_group_that_is_gone_has_none);
  tcase_add_test (tcase, parts_of_nodes_have_none);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
