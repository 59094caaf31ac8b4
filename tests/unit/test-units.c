/* SPDX-License-Identifier: Apache-2.0 */
/* Each unit of each resource of a node is in exactly one state. */
#include "suite.h"
#include "fixture.h"
#include "fleet/totals.h"

#define OUTSIDE "x" /* a node in no slice that is in external use */

/* Returns a fleet with two slices of four hosts, "a-0-0" to "a-1-3", and the node OUTSIDE. Each node has 4 chips. */
static QuoitFleet *
new_fleet (void)
{
  static const FixturePool pool
      = { .pool = "a", .topology = "4x4", .n_slices = 2, .generation = QUOIT_GENERATION_V6E, .chips = 4 };
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitLayout) layout = NULL;
  QuoitNodeClaim outside;
  guint32 n;

  fixture_add_pool (claims, &pool);
  outside = quoit_claims_nodes (claims, &n)[0];
  outside.name = OUTSIDE;
  outside.slice = NULL;
  outside.worker_id = -1;
  outside.flags = QUOIT_NODE_EXTERNAL;
  quoit_claims_add (claims, &outside);
  layout = fixture_layout (claims);
  return quoit_fleet_new (layout);
}

static QuoitNodeId
find_node (const QuoitFleet *fleet, const char *name)
{
  QuoitNodeId node;

  ck_assert (quoit_layout_lookup_node (fleet->layout, name, &node, NULL));
  return node;
}

/* Returns text such as "available 2.5 held 1.5". States without units are omitted. */
static char *
units_text (const QuoitUnits *units)
{
  GString *text = g_string_new (NULL);

  for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
    if (units->amount[s].e4 != 0)
      {
        g_autofree char *amount = quoit_amount_format (units->amount[s]);

        g_string_append_printf (text, "%s%s %s", text->len > 0 ? " " : "", quoit_unit_state_name (s), amount);
      }
  return g_string_free (text, FALSE);
}

static void
assert_units (QuoitUnits units, const char *expected)
{
  g_autofree char *text = units_text (&units);

  ck_assert_str_eq (text, expected);
}

static guint
find_resource (const QuoitFleet *fleet, QuoitNodeId node, const char *name)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint n = quoit_fleet_node_n_resources (fleet, node);

  for (guint r = 0; r < n; r++)
    if (strcmp (r < kind->n_resources ? kind->resources[r].name
                                      : quoit_layout_node_derived (fleet->layout, node, r - kind->n_resources),
                name)
        == 0)
      return r;
  ck_abort_msg ("no resource '%s'", name);
}

/* --- groups --- */

typedef enum { NOBODY, BUNDLES, SLICES, SLICE_BUNDLES, EXTERNAL } User;

/* One chip and a half of the node. */
static const QuoitTake takes[] = { { "CPU", { 10000 } }, { "TPU", { 15000 } } };
static const QuoitBundle bundle = { .n_takes = 2, .takes = takes, .chips = 1, .chip = 1, .part = { 5000 } };

static void
add_user (QuoitFleet *fleet, User user, QuoitGroupState state, const char *node)
{
  const guint32 slice_end = 1, node_id = fleet->layout->nodes[find_node (fleet, node).index].id;
  QuoitGroupData data = { .id = find_node (fleet, node).index + 1,
                          .state = state,
                          .kind = QUOIT_RECORD_BUNDLES,
                          .name = user == EXTERNAL ? "external/test" : node,
                          .owner = "",
                          .key = "",
                          .request = "",
                          .source = user == EXTERNAL ? "test" : "",
                          .n_nodes = 1,
                          .node_ids = &node_id,
                          .bundles = &bundle };
  g_autoptr (GError) error = NULL;

  if (user == SLICES || user == SLICE_BUNDLES)
    {
      data.kind = QUOIT_RECORD_SLICES;
      data.n_slices = 1;
      data.slice_end = &slice_end;
    }
  if (user == SLICES)
    data.bundles = NULL;
  if (user == EXTERNAL)
    data.kind = QUOIT_RECORD_EXTERNAL;
  quoit_fleet_add_group (fleet, quoit_group_data_new (&data), &error);
  ck_assert_ok (error);
}

typedef struct {
  const char *what;
  QuoitNodeState node;
  User user;
  QuoitGroupState group;
  const char *tpu, *cpu, *head; /* the units of three resources of worker 0 */
} Fact;

static const Fact facts[] = {
  { "an unused node is available", QUOIT_NODE_ALIVE, NOBODY, 0, "available 4", "available 8", "available 1" },
  { "an unused draining node is draining", QUOIT_NODE_DRAINING, NOBODY, 0, "draining 4", "draining 8", "draining 1" },
  { "an unused dead node is down", QUOIT_NODE_DEAD, NOBODY, 0, "down 4", "down 8", "down 1" },
  { "an unconfirmed group holds", QUOIT_NODE_ALIVE, SLICES, QUOIT_GROUP_HELD, "held 4", "held 8", "held 1" },
  { "a confirmed group reserves", QUOIT_NODE_ALIVE, SLICES, QUOIT_GROUP_RESERVED, "reserved 4", "reserved 8",
    "reserved 1" },
  { "a group keeps a draining node", QUOIT_NODE_DRAINING, SLICES, QUOIT_GROUP_HELD, "held 4", "held 8", "held 1" },
  { "a dead node of a group is lost", QUOIT_NODE_DEAD, SLICES, QUOIT_GROUP_RESERVED, "lost 4", "lost 8", "lost 1" },
  { "a dead node of an unconfirmed group is lost", QUOIT_NODE_DEAD, SLICES, QUOIT_GROUP_HELD, "lost 4", "lost 8",
    "lost 1" },
  { "a bundle has a part", QUOIT_NODE_ALIVE, BUNDLES, QUOIT_GROUP_HELD, "available 2.5 held 1.5", "available 7 held 1",
    "available 1" },
  { "a bundle has a part of a draining node", QUOIT_NODE_DRAINING, BUNDLES, QUOIT_GROUP_RESERVED,
    "draining 2.5 reserved 1.5", "draining 7 reserved 1", "draining 1" },
  { "only the used part of a dead node is lost", QUOIT_NODE_DEAD, BUNDLES, QUOIT_GROUP_RESERVED, "down 2.5 lost 1.5",
    "down 7 lost 1", "down 1" },
  { "bundles of slices have the head resource", QUOIT_NODE_ALIVE, SLICE_BUNDLES, QUOIT_GROUP_RESERVED,
    "available 2.5 reserved 1.5", "available 7 reserved 1", "reserved 1" },
  { "external use has a part", QUOIT_NODE_ALIVE, EXTERNAL, QUOIT_GROUP_RESERVED, "available 2.5 external 1.5",
    "available 7 external 1", "available 1" },
  { "external use of a draining node stays", QUOIT_NODE_DRAINING, EXTERNAL, QUOIT_GROUP_RESERVED,
    "draining 2.5 external 1.5", "draining 7 external 1", "draining 1" },
  { "a dead node has no external use", QUOIT_NODE_DEAD, EXTERNAL, QUOIT_GROUP_RESERVED, "down 4", "down 8", "down 1" },
};

START_TEST (each_unit_is_in_the_expected_state)
{
  const Fact *fact = &facts[_i];
  g_autoptr (QuoitFleet) fleet = new_fleet ();
  QuoitNodeId node = find_node (fleet, "a-0-0");
  g_autoptr (GError) error = NULL;

  if (fact->user != NOBODY)
    add_user (fleet, fact->user, fact->group, "a-0-0");
  quoit_fleet_set_node_state (fleet, node, fact->node);
  assert_units (quoit_fleet_node_units (fleet, node, find_resource (fleet, node, "TPU")), fact->tpu);
  assert_units (quoit_fleet_node_units (fleet, node, find_resource (fleet, node, "CPU")), fact->cpu);
  assert_units (quoit_fleet_node_units (fleet, node, find_resource (fleet, node, "TPU-v6e-16-head")), fact->head);
  assert_units (quoit_fleet_node_chip_units (fleet, node), fact->tpu);
  quoit_fleet_check (fleet, &error);
  ck_assert_ok (error);
}
END_TEST

START_TEST (external_use_of_a_whole_node_uses_all_units)
{
  g_autoptr (QuoitFleet) fleet = new_fleet ();
  QuoitNodeId node = find_node (fleet, OUTSIDE);

  assert_units (quoit_fleet_node_units (fleet, node, find_resource (fleet, node, "CPU")), "external 8");
  assert_units (quoit_fleet_node_chip_units (fleet, node), "external 4");
  quoit_fleet_set_node_state (fleet, node, QUOIT_NODE_DEAD);
  assert_units (quoit_fleet_node_chip_units (fleet, node), "down 4");
}
END_TEST

START_TEST (resources_are_summed_by_state)
{
  static const gint64 expected[QUOIT_N_UNIT_STATES] = {
    [QUOIT_UNIT_AVAILABLE] = 185000, [QUOIT_UNIT_DRAINING] = 40000, [QUOIT_UNIT_HELD] = 15000,
    [QUOIT_UNIT_RESERVED] = 40000,   [QUOIT_UNIT_EXTERNAL] = 40000, [QUOIT_UNIT_DOWN] = 40000,
    [QUOIT_UNIT_LOST] = 0,
  };
  g_autoptr (QuoitFleet) fleet = new_fleet ();
  g_autoptr (GArray) totals = NULL;
  guint n_found = 0;

  add_user (fleet, BUNDLES, QUOIT_GROUP_HELD, "a-0-0");
  add_user (fleet, SLICES, QUOIT_GROUP_RESERVED, "a-0-3");
  quoit_fleet_set_node_state (fleet, find_node (fleet, "a-0-1"), QUOIT_NODE_DRAINING);
  quoit_fleet_set_node_state (fleet, find_node (fleet, "a-1-1"), QUOIT_NODE_DEAD);
  totals = quoit_fleet_totals (fleet);
  for (guint i = 0; i < totals->len; i++)
    {
      const QuoitTotal *total = &g_array_index (totals, QuoitTotal, i);

      if (strcmp (total->name, "TPU") != 0)
        continue;
      for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
        ck_assert_int_eq ((gint64) total->units.sum[s].e4, expected[s]);
      ck_assert_int_eq ((gint64) quoit_unit_sums_total (&total->units).e4, 360000);
      n_found++;
    }
  ck_assert_uint_eq (n_found, 1);
}
END_TEST

START_TEST (check_detects_units_in_two_states)
{
  g_autoptr (QuoitFleet) fleet = new_fleet ();
  g_autoptr (GError) error = NULL;
  QuoitTake *tpu;

  add_user (fleet, BUNDLES, QUOIT_GROUP_RESERVED, "a-0-0");
  tpu = (QuoitTake *) &quoit_fleet_find_group (fleet, "a-0-0")->bundles[0].takes[1];
  tpu->amount.e4 = 40001;
  ck_assert (!quoit_fleet_check (fleet, &error));
  ck_assert_refused (error, QUOIT_ERROR_FAILED, "do not add up to the total of a node at 'a-0-0'");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("units");
  TCase *tcase = tcase_create ("units");

  tcase_add_loop_test (tcase, each_unit_is_in_the_expected_state, 0, (int) G_N_ELEMENTS (facts));
  tcase_add_test (tcase, external_use_of_a_whole_node_uses_all_units);
  tcase_add_test (tcase, resources_are_summed_by_state);
  tcase_add_test (tcase, check_detects_units_in_two_states);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
