/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's rules, one fact per line: each step examines a fleet and returns its changes or a refusal. */
#include "ledger-steps.h"

/* --- keys and names --- */

START_TEST (a_retry_returns_the_group_and_reserves_nothing)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;
  guint64 seq;

  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  seq = fleet->seq;
  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  ck_assert_uint_eq (fleet->seq, seq);
  ck_assert_uint_eq (n_free (fleet), 2);
  ck_assert_ok (error);
}
END_TEST

START_TEST (a_retry_after_release_returns_the_removed_group)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", "k", 1);
  g_auto (QuoitOutcome) outcome = { 0 };
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  ck_assert (change (&fleet, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = { "train", 1 } }, T0 + 5, NULL, &error));
  ck_assert (change (&fleet, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, T0 + 9, &outcome, &error));
  ck_assert_uint_eq (outcome.after->id, 1);
  ck_assert_int_eq (outcome.after->state, QUOIT_GROUP_REMOVED);
  ck_assert_int_eq (outcome.after->ended_ms, T0 + 5);
  ck_assert_uint_eq (outcome.after->n_nodes, 0);
  ck_assert_uint_eq (n_free (fleet), 3);
  ck_assert_uint_eq (fleet->seq, 2);
  /* The name is free for others, and the key still refers to its own group. */
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 2);
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
}
END_TEST

static void
other_owner (QuoitRequest *request)
{
  request->owner = g_strdup ("other");
}

static void
other_name (QuoitRequest *request)
{
  g_free (request->name);
  request->name = g_strdup ("other");
}

static void
other_number (QuoitRequest *request)
{
  request->n_slices = 2;
}

static void
other_topology (QuoitRequest *request)
{
  request->shape.dims[0] = request->shape.dims[1] = 4;
}

static void
other_generation (QuoitRequest *request)
{
  request->generation = QUOIT_GENERATION_V5E;
}

static void
other_hosts (QuoitRequest *request)
{
  request->chips_per_host = 8;
}

static void
a_pool (QuoitRequest *request)
{
  request->pool = g_strdup ("a");
}

static void
a_zone (QuoitRequest *request)
{
  request->zone = g_strdup ("z");
}

static void
a_selector (QuoitRequest *request)
{
  g_ptr_array_add (request->selectors, quoit_selector_new ("k", "!v", NULL));
}

static void
a_slice (QuoitRequest *request)
{
  quoit_request_add_slice_name (request, request->slices, "a-0");
}

static void
an_excluded_slice (QuoitRequest *request)
{
  quoit_request_add_slice_name (request, request->excluded, "a-2");
}

static void (*const differences[]) (QuoitRequest *)
    = { other_owner, other_name, other_number, other_topology, other_generation, other_hosts,
        a_pool,      a_zone,     a_selector,   a_slice,        an_excluded_slice };

START_TEST (key_of_a_different_request_is_a_conflict)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", "k", 1);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  differences[_i](request);
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request: group 'train'");
  ck_assert (release (&fleet, "train", &error));
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request");
}
END_TEST

START_TEST (equivalent_request_with_the_same_key_is_a_retry)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) one = request_for ("train", "k", 1), two = request_for ("train", "k", 1);
  g_autoptr (GError) error = NULL;

  one->owner = g_strdup ("");
  g_free (one->owner);
  one->owner = NULL;
  for (guint i = 0; i < 2; i++)
    {
      quoit_request_add_slice_name (one, one->excluded, i == 0 ? "a-0" : "a-1");
      quoit_request_add_slice_name (two, two->excluded, i == 0 ? "a-1" : "a-0");
      g_ptr_array_add (one->selectors, quoit_selector_new (i == 0 ? "x" : "y", "!v", NULL));
      g_ptr_array_add (two->selectors, quoit_selector_new (i == 0 ? "y" : "x", "!v", NULL));
    }
  ck_assert_uint_eq (reserve_at (&fleet, one, T0, &error), 1);
  ck_assert_uint_eq (reserve_at (&fleet, two, T0 + 1000, &error), 1);
  ck_assert_ok (error);
}
END_TEST

START_TEST (name_of_a_live_group_is_a_conflict)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 1);
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'train@1'");
  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'train@1'");
  ck_assert_uint_eq (fleet->seq, 1);
}
END_TEST

/* --- name@id --- */

static const struct {
  const char *group;
  QuoitErrorCode code;
  const char *part;
} refs[] = {
  { "train@1", QUOIT_ERROR_CONFLICT, "'train@3' now, not '@1'" },
  { "train@9", QUOIT_ERROR_CONFLICT, "'train@3' now, not '@9'" },
  { "train@2", QUOIT_ERROR_CONFLICT, "'train@3' now" },
  { "gone@2", QUOIT_ERROR_CONFLICT, "it was released" },
  { "gone", QUOIT_ERROR_NOT_FOUND, "no group 'gone'" },
  { "never", QUOIT_ERROR_NOT_FOUND, "no group 'never'" },
  { "never@4", QUOIT_ERROR_NOT_FOUND, "no group 'never'" },
  { "", QUOIT_ERROR_INVALID, "expected NAME" },
  { "@3", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@0", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@-3", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@3x", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@9223372036854775808", QUOIT_ERROR_INVALID, "expected NAME" },
};

/* train@1 was released, and so was gone@2; train is train@3 now. */
START_TEST (release_with_stale_id_is_refused)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 1);
  ck_assert_uint_eq (reserve (&fleet, "gone", NULL, 1, &error), 2);
  ck_assert (release (&fleet, "train@1", &error) && release (&fleet, "gone", &error));
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 3);
  ck_assert (!release (&fleet, refs[_i].group, &error));
  ck_assert_refused (error, refs[_i].code, refs[_i].part);
  ck_assert_uint_eq (fleet->seq, 5);
  ck_assert (release (&fleet, "train@3", &error));
  ck_assert (!release (&fleet, "train@3", &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "it was released");
}
END_TEST

/* --- the clock --- */

static const struct {
  gint64 now_ms;
  const char *part;
} bad_clocks[] = {
  { T0 / 1000, "seconds" },     { T0 * 1000, "microseconds" }, { 0, "expected milliseconds" },
  { -1, "2000 to 2199" },       { G_MAXINT64, "expected" },    { G_MININT64, "expected" },
  { 946684799999, "expected" }, { 7258118400000, "expected" },
};

static const char *const first_node = "a-0-0";

START_TEST (time_in_wrong_unit_is_invalid_for_every_step)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (QuoitRequest) request = request_for ("x", NULL, 1);
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("more", QUOIT_SOURCE_KIND_FLEET);
  const QuoitAction actions[]
      = { { QUOIT_ACTION_RESERVE, .request = request },
          { QUOIT_ACTION_RELEASE, .group = { "y", 0 } },
          { QUOIT_ACTION_SET_STATES, .states = { &first_node, 1, QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING } },
          { QUOIT_ACTION_IMPORT, .claims = &claims } };
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      ck_assert (!change (&fleet, &actions[i], bad_clocks[_i].now_ms, NULL, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_clocks[_i].part);
    }
  ck_assert_uint_eq (fleet->seq, 0);
}
END_TEST

START_TEST (time_before_the_last_entry_is_raised_to_it)
{
  static const struct {
    gint64 now_ms, time_ms;
  } clocks[] = { { 946684800000, 946684800000 },   { T0, T0 },           { T0 - 1, T0 }, { 946684800000, T0 },
                 { 7258118399999, 7258118399999 }, { T0, 7258118399999 } };
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (clocks); i++)
    {
      const QuoitStatesChange to
          = { &first_node, 1, QUOIT_VERB_SET_STATE, i % 2 == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE };

      ck_assert (
          change (&fleet, &(QuoitAction) { QUOIT_ACTION_SET_STATES, .states = to }, clocks[i].now_ms, NULL, &error));
      ck_assert_int_eq (fleet->clock_ms, clocks[i].time_ms);
    }
}
END_TEST

/* --- node states --- */

enum { ALIVE = QUOIT_NODE_ALIVE, DRAINING = QUOIT_NODE_DRAINING, DEAD = QUOIT_NODE_DEAD, REFUSED = -1 };

static const struct {
  int before;
  QuoitVerb verb;
  int to, after;
} state_rules[] = {
  { ALIVE, QUOIT_VERB_DRAIN, 0, DRAINING },       { ALIVE, QUOIT_VERB_UNDRAIN, 0, ALIVE },
  { DRAINING, QUOIT_VERB_DRAIN, 0, DRAINING },    { DRAINING, QUOIT_VERB_UNDRAIN, 0, ALIVE },
  { DEAD, QUOIT_VERB_DRAIN, 0, REFUSED },         { DEAD, QUOIT_VERB_UNDRAIN, 0, REFUSED },
  { ALIVE, QUOIT_VERB_SET_STATE, DEAD, DEAD },    { DEAD, QUOIT_VERB_SET_STATE, ALIVE, ALIVE },
  { DEAD, QUOIT_VERB_SET_STATE, DEAD, DEAD },     { DEAD, QUOIT_VERB_SET_STATE, DRAINING, DRAINING },
  { DRAINING, QUOIT_VERB_SET_STATE, DEAD, DEAD }, { ALIVE, QUOIT_VERB_SET_STATE, DRAINING, DRAINING },
};

START_TEST (verbs_change_node_states_by_the_table)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (GError) error = NULL;
  guint64 seq;
  gboolean ok;

  ck_assert (set_state (&fleet, "a-0-0", QUOIT_VERB_SET_STATE, (QuoitNodeState) state_rules[_i].before, &error));
  seq = fleet->seq;
  ok = set_state (&fleet, "a-0-0", state_rules[_i].verb, (QuoitNodeState) state_rules[_i].to, &error);
  ck_assert_int_eq (ok, state_rules[_i].after != REFUSED);
  if (!ok)
    ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "is dead");
  else
    ck_assert_int_eq (state_of (fleet, "a-0-0"), state_rules[_i].after);
  ck_assert_uint_eq (fleet->seq - seq, ok && state_rules[_i].before != state_rules[_i].after);
  ck_assert (!set_state (&fleet, "a-7-0", state_rules[_i].verb, QUOIT_NODE_DEAD, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "a-7-0");
}
END_TEST

START_TEST (group_is_rescheduling_while_one_of_its_nodes_is_dead_or_draining)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (2);
  g_autoptr (GError) error = NULL;
  const QuoitGroupData *group;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 2, &error), 1);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_DRAIN, 0, &error));
  group = quoit_fleet_find_group (fleet, "train");
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESCHEDULING);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 0), QUOIT_GROUP_SLICE_WHOLE);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 1), QUOIT_GROUP_SLICE_LEAVING);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_SET_STATE, QUOIT_NODE_DEAD, &error));
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESCHEDULING);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 1), QUOIT_GROUP_SLICE_LOST);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_SET_STATE, QUOIT_NODE_ALIVE, &error));
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESERVED);
  ck_assert (release (&fleet, "train", &error));
  ck_assert_uint_eq (n_free (fleet), 2);
}
END_TEST
/* --- allocations that contradict their request --- */

static const struct {
  gint64 tpu_e4; /* TPU of a placed bundle; 0: whole hosts */
  const char *request, *part;
} requests[] = {
  { 0, "v6e 2x4 x 1 hostchips=4", NULL },
  { 10000, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=1", NULL },
  { 0, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=1", "group 'train@1' has whole hosts" },
  { 0, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=4", "group 'train@1' has whole hosts" },
  { 10000, "v6e 2x4 x 1 hostchips=4", "group 'train@1' has bundles" },
};

START_TEST (group_grows_only_by_slices_of_its_class)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (QuoitEntry) entry = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  QuoitGroupData facts;
  gboolean ok;

  request->tpu_per_bundle.e4 = requests[_i].tpu_e4;
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  facts = quoit_group_data_copy_fields (quoit_fleet_find_group (fleet, "train"));
  facts.request = requests[_i].request;
  ck_assert (quoit_fleet_replace_group (fleet, quoit_group_data_new (&facts), &error));
  ok = quoit_step_resize (fleet, &(QuoitResize) { .ref = { "train", 0 }, .n_slices = 2 }, T0, &entry, &outcome, &error);
  ck_assert_int_eq (ok, requests[_i].part == NULL);
  ck_assert_int_eq (ok, entry != NULL);
  if (ok)
    ck_assert (quoit_entry_apply (entry, &fleet, &error) && quoit_fleet_check (fleet, &error));
  else
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, requests[_i].part);
}
END_TEST

/* --- replay --- */

START_TEST (replay_applies_recorded_choices)
{
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0);
  g_autoptr (QuoitFleet) fleet = quoit_fleet_new (nothing);
  QuoitClaims *claims = claims_of ("test", QUOIT_SOURCE_KIND_FLEET, "..|..|..");
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (QuoitEntry) import = NULL, made = NULL, moved = NULL;
  g_auto (QuoitOutcome) imported = { 0 }, reserved = { 0 };
  g_autoptr (GError) error = NULL;
  const guint32 others[] = { 5, 6 };
  QuoitGroupData elsewhere;

  ck_assert (quoit_step_import (fleet, &claims, T0, &import, &imported, &error));
  ck_assert (quoit_entry_apply (import, &fleet, &error));
  ck_assert (quoit_step_reserve (fleet, request, T0, &made, &reserved, &error));

  /* A different policy chose the last slice. */
  elsewhere = *reserved.after;
  elsewhere.node_ids = others;
  moved = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0);
  quoit_entry_add (moved,
                   (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&elsewhere) });
  ck_assert (quoit_entry_apply (moved, &fleet, &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->node_ids[0], 5);

  /* An entry cannot be applied twice, or after later entries. */
  ck_assert (!quoit_entry_apply (moved, &fleet, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "does not follow");
  g_clear_pointer (&made, quoit_entry_unref);
  made = quoit_entry_new (fleet, QUOIT_VERB_DRAIN, T0 - 1);
  quoit_entry_add (made, (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = 1, .state = 1 });
  ck_assert (!quoit_entry_apply (made, &fleet, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "does not follow");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ledger");
  TCase *groups = tcase_create ("groups"), *nodes = tcase_create ("nodes");

  tcase_add_test (groups, a_retry_returns_the_group_and_reserves_nothing);
  tcase_add_test (groups, a_retry_after_release_returns_the_removed_group);
  LOOP (groups, key_of_a_different_request_is_a_conflict, differences);
  tcase_add_test (groups, equivalent_request_with_the_same_key_is_a_retry);
  tcase_add_test (groups, name_of_a_live_group_is_a_conflict);
  LOOP (groups, release_with_stale_id_is_refused, refs);
  LOOP (groups, time_in_wrong_unit_is_invalid_for_every_step, bad_clocks);
  tcase_add_test (groups, time_before_the_last_entry_is_raised_to_it);
  LOOP (groups, group_grows_only_by_slices_of_its_class, requests);
  LOOP (nodes, verbs_change_node_states_by_the_table, state_rules);
  tcase_add_test (nodes, group_is_rescheduling_while_one_of_its_nodes_is_dead_or_draining);
  tcase_add_test (nodes, replay_applies_recorded_choices);
  suite_add_tcase (suite, groups);
  suite_add_tcase (suite, nodes);
  return suite_main (suite);
}
