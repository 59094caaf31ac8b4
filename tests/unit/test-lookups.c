/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up groups by id, key and owner, and nodes by durable id. */
#include "../shortcuts.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1750000000000)

static QuoitLedger *
ledger_of (const char *fleet)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, NOW, &error));
  ck_assert_ok (error);
  return ledger;
}

static void
reserve (QuoitLedger *ledger, const char *name, const char *key, const char *owner)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (QuoitGroup) group = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL));
  ck_assert (quoit_request_set_slices (request, 1, NULL));
  if (*key)
    quoit_request_set_key (request, key, NULL);
  if (*owner)
    quoit_request_set_owner (request, owner, NULL);
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, &error);
  ck_assert_ok (error);
}

START_TEST (handle_is_name_and_id)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x2");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  reserve (ledger, "a", "", "");
  reserve (ledger, "b", "", "");
  snapshot = quoit_ledger_snapshot (ledger);
  group = quoit_snapshot_dup_group (snapshot, 1);
  ck_assert_str_eq (quoit_group_get_handle (group), "b@2");
  ck_assert_ptr_eq (quoit_group_get_handle (group), quoit_group_get_handle (group));
}
END_TEST

START_TEST (groups_are_found_by_id_and_key_until_they_are_forgotten)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x3");
  GError *error = NULL;

  reserve (ledger, "a", "key-a", "");
  reserve (ledger, "b", "", "");
  for (int phase = 0; phase < 3; phase++)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
      g_autoptr (QuoitGroup) by_id = quoit_snapshot_lookup_group_by_id (snapshot, 1, NULL);
      g_autoptr (QuoitGroup) by_key = quoit_snapshot_lookup_group_by_key (snapshot, "key-a", NULL);
      g_autoptr (QuoitGroup) other = quoit_snapshot_lookup_group_by_id (snapshot, 2, NULL);

      ck_assert_ptr_nonnull (other);
      ck_assert_str_eq (quoit_group_get_name (other), "b");
      ck_assert ((by_id != NULL) == (phase < 2) && (by_key != NULL) == (phase < 2));
      if (phase < 2)
        {
          QuoitGroupState state = phase == 0 ? QUOIT_GROUP_RESERVED : QUOIT_GROUP_REMOVED;

          ck_assert_str_eq (quoit_group_get_handle (by_id), "a@1");
          ck_assert_str_eq (quoit_group_get_handle (by_key), "a@1");
          ck_assert (quoit_group_get_state (by_id) == state && quoit_group_get_state (by_key) == state);
        }
      if (phase == 0)
        ck_assert (quoit_ledger_release (ledger, "a@1", NOW, &error));
      else if (phase == 1)
        ck_assert (quoit_ledger_forget (ledger, "a@1", NOW, &error));
    }
}
END_TEST

START_TEST (an_unknown_id_or_key_is_not_found)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x2");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  reserve (ledger, "a", "", "");
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_ptr_null (quoit_snapshot_lookup_group_by_id (snapshot, 7, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "group id '7'");
  ck_assert_ptr_null (quoit_snapshot_lookup_group_by_key (snapshot, "k", &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "request key 'k'");
  /* Groups without a key do not share the empty one. */
  ck_assert_ptr_null (quoit_snapshot_lookup_group_by_key (snapshot, "", &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "request key ''");
}
END_TEST

START_TEST (the_live_groups_of_an_owner_are_listed_by_id)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x4");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) first = NULL, second = NULL;
  GError *error = NULL;

  reserve (ledger, "a", "", "trainer");
  reserve (ledger, "b", "", "");
  reserve (ledger, "c", "key", "trainer");
  reserve (ledger, "d", "", "trainer");
  ck_assert (quoit_ledger_release (ledger, "c", NOW, &error));
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_count_owner_groups (snapshot, "trainer"), 2);
  ck_assert_uint_eq (quoit_snapshot_count_owner_groups (snapshot, ""), 0);
  ck_assert_uint_eq (quoit_snapshot_count_owner_groups (snapshot, "nobody"), 0);
  first = quoit_snapshot_dup_owner_group (snapshot, "trainer", 0);
  second = quoit_snapshot_dup_owner_group (snapshot, "trainer", 1);
  ck_assert_str_eq (quoit_group_get_handle (first), "a@1");
  ck_assert_str_eq (quoit_group_get_handle (second), "d@4");
}
END_TEST

START_TEST (a_worker_is_joined_to_its_node_by_id)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x2 pool=one; v6e 4x4 x2 pool=two");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  reserve (ledger, "a", "", "");
  snapshot = quoit_ledger_snapshot (ledger);
  group = quoit_snapshot_lookup_group (snapshot, "a", NULL);
  for (uint32_t worker = 0; worker < quoit_group_get_n_workers (group, 0); worker++)
    {
      g_autofree char *full = quoit_group_dup_worker_full_name (group, 0, worker), *found = NULL;
      uint32_t id = quoit_group_get_worker_node_id (group, 0, worker);
      int64_t node = quoit_snapshot_find_node (snapshot, id);

      ck_assert_int_ge (node, 0);
      ck_assert_uint_eq (quoit_snapshot_get_node_id (snapshot, (uint32_t) node), id);
      found = quoit_snapshot_dup_node_full_name (snapshot, (uint32_t) node);
      ck_assert_str_eq (found, full);
      ck_assert_str_eq (quoit_snapshot_get_node_name (snapshot, (uint32_t) node),
                        quoit_group_get_worker_name (group, 0, worker));
    }
  ck_assert_int_eq (quoit_snapshot_find_node (snapshot, 0), -1);
  ck_assert_int_eq (quoit_snapshot_find_node (snapshot, 1000000), -1);
}
END_TEST

START_TEST (indices_change_with_the_layout_but_ids_never)
{
  g_autoptr (QuoitLedger) ledger = ledger_of ("v6e 4x4 x2 pool=b");
  g_autoptr (QuoitSnapshot) before = quoit_ledger_snapshot (ledger), state = NULL, after = NULL;
  uint32_t id = quoit_snapshot_get_node_id (before, 0);
  GError *error = NULL;
  int64_t moved;

  ck_assert (
      quoit_ledger_set_node_state (ledger, "v6e-4x4-1-0", QUOIT_NODE_DEAD, NOW, NULL)
      || quoit_ledger_set_node_state (ledger, quoit_snapshot_get_node_name (before, 0), QUOIT_NODE_DEAD, NOW, &error));
  reserve (ledger, "a", "", "");
  state = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_layout_number (state), quoit_snapshot_get_layout_number (before));

  quoit_import_free (
      import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b", NULL, NOW, &error));
  ck_assert_ok (error);
  after = quoit_ledger_snapshot (ledger);
  ck_assert_uint_ne (quoit_snapshot_get_layout_number (after), quoit_snapshot_get_layout_number (before));
  moved = quoit_snapshot_find_node (after, id);
  ck_assert_int_gt (moved, 0);
  ck_assert_str_eq (quoit_snapshot_get_node_name (after, (uint32_t) moved), quoit_snapshot_get_node_name (before, 0));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lookups");
  TCase *tcase = tcase_create ("lookups");

  tcase_add_test (tcase, handle_is_name_and_id);
  tcase_add_test (tcase, groups_are_found_by_id_and_key_until_they_are_forgotten);
  tcase_add_test (tcase, an_unknown_id_or_key_is_not_found);
  tcase_add_test (tcase, the_live_groups_of_an_owner_are_listed_by_id);
  tcase_add_test (tcase, a_worker_is_joined_to_its_node_by_id);
  tcase_add_test (tcase, indices_change_with_the_layout_but_ids_never);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
