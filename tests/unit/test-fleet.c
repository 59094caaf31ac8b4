/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a fleet: conditions of slices, and groups of whole slices. */
#include "suite.h"
#include "fixture.h"
#include "fleet/private.h"

/* --- conditions --- */

static const struct {
  const char *name;
  gint32 worker[5];
  guint16 chips[5];
  const char *pod_type[5];
  guint n;
  guint faults, n_missing;
} slices[] = {
  { "whole", { 0, 1, 2, 3 }, { 4, 4, 4, 4 }, { 0 }, 4, 0, 0 },
  { "a host is missing", { 0, 1, 3 }, { 4, 4, 4 }, { 0 }, 3, 0, 1 },
  { "two workers 0", { 0, 0, 1, 2 }, { 4, 4, 4, 4 }, { 0 }, 4, QUOIT_FAULT_DUPLICATE_WORKER_ID, 1 },
  { "no worker id", { 0, 1, 2, -1 }, { 4, 4, 4, 4 }, { 0 }, 4, QUOIT_FAULT_NO_WORKER_ID, 1 },
  { "too many hosts", { 0, 1, 2, 3, 4 }, { 4, 4, 4, 4, 4 }, { 0 }, 5, QUOIT_FAULT_TOO_MANY_HOSTS, 0 },
  { "chips disagree", { 0, 1, 2, 3 }, { 4, 4, 4, 8 }, { 0 }, 4, QUOIT_FAULT_CHIPS, 0 },
  { "two pod types",
    { 0, 1, 2, 3 },
    { 4, 4, 4, 4 },
    { "v6e-16", "v6e-16", "v6e-16", "v6e-32" },
    4,
    QUOIT_FAULT_POD_TYPE,
    0 },
};

START_TEST (contradictions_count_alive_nodes_only)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autoptr (GError) error = NULL;
  const QuoitSliceStatus *status;
  QuoitShape shape;

  ck_assert (quoit_shape_parse ("4x4", &shape, NULL));
  quoit_claims_ensure_pool (claims, "p");
  for (guint i = 0; i < slices[_i].n; i++)
    {
      QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                             .shape = shape,
                             .topology = "4x4",
                             .pod_type = slices[_i].pod_type[i],
                             .chips = slices[_i].chips[i] };
      g_autofree char *name = g_strdup_printf ("n%u", i);

      quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                    .slice = "s",
                                                    .worker_id = slices[_i].worker[i],
                                                    .kind = quoit_claims_intern_kind (claims, &kind, "s") });
    }
  layout = fixture_layout (claims);
  fleet = quoit_fleet_new (layout);
  status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 });
  ck_assert_uint_eq (status->faults, slices[_i].faults);
  ck_assert_uint_eq (status->n_missing, slices[_i].n_missing);
  ck_assert_int_eq (status->condition == QUOIT_CONDITION_FREE, slices[_i].faults == 0 && slices[_i].n_missing == 0);
  for (guint i = 0; i < slices[_i].n; i++)
    quoit_fleet_set_node_state (fleet, (QuoitNodeId) { i }, QUOIT_NODE_DEAD);
  status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 });
  ck_assert_uint_eq (status->faults, 0);
  ck_assert_uint_eq (status->n_missing, 4);
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

/* The function that counts the hosts of a slice has an array of QUOIT_MAX_HOSTS bits on its stack. */
START_TEST (no_slice_of_the_catalogue_exceeds_the_host_counter)
{
  guint32 most = 0;

  for (QuoitGeneration generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      unsigned n;
      const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n);
      QuoitSliceFacts facts;

      for (unsigned i = 0; i < n; i++)
        for (unsigned chips = 1; chips <= 8; chips *= 2)
          if (quoit_slice_facts (generation, rows[i].shape, chips, &facts, NULL))
            most = MAX (most, facts.hosts);
    }
  ck_assert_uint_ge (most, 2304);
  ck_assert_uint_le (most, QUOIT_MAX_HOSTS);
}
END_TEST

/* --- groups --- */

START_TEST (changes_of_a_fork_do_not_change_its_origin)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet (), fork = NULL;
  g_autoptr (GError) error = NULL;
  guint32 chosen[] = { 0, 3 };
  QuoitTally before = *quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 });

  fork = quoit_fleet_fork (fleet);
  ck_assert (quoit_fleet_add_group (fork, fixture_group (fork, "g", "k", 1, chosen, 2), &error));
  quoit_fleet_set_node_state (fork, (QuoitNodeId) { 20 }, QUOIT_NODE_DRAINING);
  ck_assert (quoit_fleet_check (fork, &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_mem_eq (&before, quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 }), sizeof before);
  ck_assert_ptr_null (quoit_fleet_find_group (fleet, "g"));
  ck_assert_ptr_nonnull (quoit_fleet_find_group (fork, "g"));
  ck_assert_uint_eq (quoit_fleet_class_n_free (fork, (QuoitClassId) { 1 }), 12);
}
END_TEST

START_TEST (allocated_node_cannot_be_allocated_again)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  GError *error = NULL;
  guint32 first[] = { 1 }, second[] = { 0, 1 };

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "", 1, first, 1), &error));
  ck_assert (!quoit_fleet_add_group (fleet, fixture_group (fleet, "h", "", 2, second, 2), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "used by group g");
  ck_assert (!quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "", 3, second, 1), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "a group 'g' already");
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (fleet->n_groups, 1);
}
END_TEST

/* Refuses a group like @group whose node @i has the id @id. */
static void
refuse_with_node (QuoitFleet *fleet, const QuoitGroupData *group, guint32 i, guint32 id, const char *message)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (group);
  g_autofree guint32 *ids = g_memdup2 (group->node_ids, group->n_nodes * sizeof *ids);
  const QuoitTally before = *quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 });
  GError *error = NULL;

  ids[i] = id;
  fields.node_ids = ids;
  ck_assert (!quoit_fleet_add_group (fleet, quoit_group_data_new (&fields), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, message);
  ck_assert_mem_eq (&before, quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 }), sizeof before);
  ck_assert (quoit_fleet_check (fleet, &error));
}

START_TEST (refused_group_changes_no_node_before_the_one_in_conflict)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  guint32 first[] = { 3 }, second[] = { 0, 1, 2 };
  g_autoptr (QuoitGroupData) group = fixture_group (fleet, "h", "", 2, second, 3);
  guint32 last = group->n_nodes - 1;

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "", 1, first, 1), NULL));
  refuse_with_node (fleet, group, last, quoit_fleet_find_group (fleet, "g")->node_ids[0], "is used by group g");
  refuse_with_node (fleet, group, 1, quoit_fleet_find_group (fleet, "g")->node_ids[0], "is used by group g");
  refuse_with_node (fleet, group, last, 999999, "is not in the fleet");
  refuse_with_node (fleet, group, last, group->node_ids[0], "names a node twice");
  ck_assert (quoit_fleet_add_group (fleet, quoit_group_data_ref (group), NULL));
}
END_TEST

START_TEST (removed_group_is_kept_only_if_it_has_a_key)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  GError *error = NULL;
  guint32 a[] = { 1 }, b[] = { 2 };

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "key", 1, a, 1), &error));
  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "h", "", 2, b, 1), &error));
  ck_assert (quoit_fleet_remove_group (fleet, "g", 1, QUOIT_END_RELEASED, 5, &error));
  ck_assert (quoit_fleet_remove_group (fleet, "h", 2, QUOIT_END_RELEASED, 5, &error));
  ck_assert (!quoit_fleet_remove_group (fleet, "g", 1, QUOIT_END_RELEASED, 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no group 'g@1'");
  ck_assert_uint_eq (fleet->n_groups, 1);
  ck_assert_int_eq (quoit_fleet_find_key (fleet, "key")->state, QUOIT_GROUP_REMOVED);
  ck_assert_int_eq (quoit_fleet_find_key (fleet, "key")->ended_ms, 5);
  ck_assert_ptr_null (quoit_fleet_find_group (fleet, "g"));
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

START_TEST (random_changes_keep_every_invariant_in_every_fork)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  g_autoptr (GPtrArray) forks = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_fleet_unref);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  GError *error = NULL;
  guint64 id = 0;

  for (guint step = 0; step < 3000; step++)
    {
      guint32 slice = (guint32) g_rand_int_range (rand, 0, 17);
      g_autofree char *name = g_strdup_printf ("g%u", g_rand_int_range (rand, 0, 10));
      const QuoitGroupData *group = quoit_fleet_find_group (fleet, name);

      switch (g_rand_int_range (rand, 0, 4))
        {
        case 0:
          if (quoit_fleet_add_group (fleet, fixture_group (fleet, name, "", ++id, &slice, 1), NULL))
            ck_assert_ptr_nonnull (quoit_fleet_find_group (fleet, name));
          break;
        case 1:
          if (group != NULL)
            ck_assert (quoit_fleet_remove_group (fleet, name, group->id, QUOIT_END_RELEASED, 1, &error));
          break;
        case 2:
          quoit_fleet_set_node_state (fleet, (QuoitNodeId) { (guint32) g_rand_int_range (rand, 0, 64) },
                                      (QuoitNodeState) g_rand_int_range (rand, 0, 3));
          break;
        default:
          g_ptr_array_add (forks, quoit_fleet_fork (fleet));
          if (forks->len > 5)
            g_ptr_array_remove_index_fast (forks, (guint) g_rand_int_range (rand, 0, 5));
        }
      ck_assert_msg (quoit_fleet_check (fleet, &error), "step %u: %s", step, error == NULL ? "" : error->message);
    }
  for (guint i = 0; i < forks->len; i++)
    ck_assert (quoit_fleet_check (forks->pdata[i], &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fleet");
  TCase *tcase = tcase_create ("fleet");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, contradictions_count_alive_nodes_only, 0, G_N_ELEMENTS (slices));
  tcase_add_test (tcase, no_slice_of_the_catalogue_exceeds_the_host_counter);
  tcase_add_test (tcase, changes_of_a_fork_do_not_change_its_origin);
  tcase_add_test (tcase, allocated_node_cannot_be_allocated_again);
  tcase_add_test (tcase, refused_group_changes_no_node_before_the_one_in_conflict);
  tcase_add_test (tcase, removed_group_is_kept_only_if_it_has_a_key);
  tcase_add_test (tcase, random_changes_keep_every_invariant_in_every_fork);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
