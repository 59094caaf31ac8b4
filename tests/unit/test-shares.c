/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of bundles that share the chips of a node. */
#include "suite.h"
#include "fixture.h"
#include "fleet/private.h"

static QuoitGroupData *
new_part_group (const QuoitFleet *fleet, const char *name, guint64 id, guint32 node, guint64 chips, guint8 chip,
                int64_t part)
{
  QuoitTake take = { "TPU", { __builtin_popcountll (chips) * QUOIT_AMOUNT_UNIT + part } };
  QuoitBundle bundle = { .n_takes = 1, .chips = chips, .chip = chip, .part = { part }, .takes = &take };
  guint32 end = 1;

  return quoit_group_data_new (&(QuoitGroupData) { .id = id,
                                                   .state = QUOIT_GROUP_RESERVED,
                                                   .name = name,
                                                   .owner = "",
                                                   .key = "",
                                                   .request = "",
                                                   .n_slices = 1,
                                                   .slice_end = &end,
                                                   .n_nodes = 1,
                                                   .node_ids = &fleet->layout->nodes[node].id,
                                                   .bundles = &bundle });
}

START_TEST (halves_of_two_chips_are_not_a_whole_chip)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  GError *error = NULL;
  QuoitAmount left[2];
  QuoitChipsLeft chips;

  ck_assert (quoit_fleet_add_group (fleet, new_part_group (fleet, "a", 1, 0, 0x3, 2, 5000), &error)); /* 2.5 chips */
  ck_assert (quoit_fleet_add_group (fleet, new_part_group (fleet, "b", 2, 0, 0, 3, 5000), &error));
  quoit_fleet_node_left (fleet, (QuoitNodeId) { 0 }, left, &chips);
  ck_assert_int_eq (left[1].e4, 10000); /* the sum suggests one chip... */
  ck_assert_int_eq (chips.chip_e4[2], 5000);
  ck_assert_int_eq (chips.chip_e4[3], 5000); /* ...but no whole chip is free */
  ck_assert (!quoit_fleet_add_group (fleet, new_part_group (fleet, "c", 3, 0, 0x8, 0, 0), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "used by group");
  ck_assert (quoit_fleet_add_group (fleet, new_part_group (fleet, "d", 4, 0, 0, 3, 5000), &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_slice_status_flags (quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 }))
                         & QUOIT_SLICE_PARTLY,
                     QUOIT_SLICE_PARTLY);
  for (guint64 id = 1; id <= 4; id++)
    quoit_fleet_remove_group (fleet,
                              id == 1   ? "a"
                              : id == 2 ? "b"
                                        : "d",
                              id == 3 ? 4 : id, QUOIT_END_RELEASED, 0, NULL);
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { 0 }), QUOIT_USE_NONE);
  ck_assert_uint_eq (quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 })->condition, QUOIT_CONDITION_FREE);
}
END_TEST

/* The number of lookups of groups. Each examined share costs one. */
static guint64 n_lookups;

const QuoitGroupData *__real_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot); /* NOLINT: the linker's */
const QuoitGroupData *__wrap_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot); /* NOLINT */

const QuoitGroupData *
__wrap_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot) /* NOLINT */
{
  n_lookups++;
  return __real_quoit_fleet_group_at (fleet, slot);
}

static const FixturePool crumbled[] = { { "crumbs", "4x4", NULL, 2, QUOIT_GENERATION_V6E, 0 } };

typedef enum {
  HOST_BY_HOST,
  IN_TURN /* like Ray's SPREAD */
} CrumbOrder;

static QuoitGroupData *
new_bundle_group (const char *name, guint64 id, guint32 n, const guint32 *ids, const QuoitBundle *bundles)
{
  return quoit_group_data_new (&(QuoitGroupData) { .id = id,
                                                   .kind = QUOIT_RECORD_BUNDLES,
                                                   .source = "ray",
                                                   .state = QUOIT_GROUP_RESERVED,
                                                   .name = name,
                                                   .owner = "",
                                                   .key = "",
                                                   .request = "",
                                                   .n_nodes = n,
                                                   .node_ids = ids,
                                                   .bundles = bundles });
}

/* Returns a group whose bundles each have @part_e4 of a chip, and together use all chips of slice @slice. */
static QuoitGroupData *
new_crumb_group (const QuoitFleet *fleet, const char *name, guint64 id, guint32 slice, gint64 part_e4, CrumbOrder order)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];
  guint32 of_chip = (guint32) (QUOIT_AMOUNT_UNIT / part_e4), of_host = 4 * of_chip, n = row->n_nodes * of_host;
  g_autofree QuoitBundle *bundles = g_new0 (QuoitBundle, n);
  g_autofree guint32 *ids = g_new (guint32, n);
  QuoitTake take = { "TPU", { part_e4 } };

  for (guint32 i = 0; i < n; i++)
    {
      guint32 host = order == IN_TURN ? i % row->n_nodes : i / of_host;
      guint32 at = order == IN_TURN ? i / row->n_nodes : i % of_host;

      ids[i] = fleet->layout->nodes[row->first_node + host].id;
      bundles[i] = (QuoitBundle) { .n_takes = 1, .takes = &take, .chip = (guint8) (at / of_chip), .part = { part_e4 } };
    }
  return new_bundle_group (name, id, n, ids, bundles);
}

/* The cost of one more bundle must not depend on the number of bundles, whatever their size and order. */
static const struct {
  gint64 part_e4;
  CrumbOrder order;
} crumbs[] = { { 100, HOST_BY_HOST }, { 10, HOST_BY_HOST }, { 1, HOST_BY_HOST },
               { 100, IN_TURN },      { 10, IN_TURN },      { 1, IN_TURN } };

START_TEST (cost_of_a_share_does_not_depend_on_the_number_of_shares)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  guint64 n = 16 * QUOIT_AMOUNT_UNIT / crumbs[_i].part_e4;
  GError *error = NULL;
  QuoitGroupData *group = new_crumb_group (fleet, "g", 2, 0, crumbs[_i].part_e4, crumbs[_i].order);
  QuoitGroupData *more = new_crumb_group (fleet, "more", 3, 0, 10000, HOST_BY_HOST);
  g_autoptr (GPtrArray) groups = NULL;
  g_autofree char *text = NULL;

  ck_assert_uint_eq (group->n_nodes, n);
  n_lookups = 0;
  ck_assert (quoit_fleet_add_group (fleet, group, &error));
  ck_assert_uint_le (n_lookups, n + 100);
  ck_assert_uint_eq (fleet->n_shares, n);

  /* One pass over a full node detects it, and the message names it. */
  n_lookups = 0;
  ck_assert (!quoit_fleet_add_group (fleet, more, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "group 'more': node 'crumbs-0-0' is used by group g");
  ck_assert_uint_le (n_lookups, 3 * n + 100);

  n_lookups = 0;
  groups = quoit_fleet_node_groups (fleet, (QuoitNodeId) { 0 });
  ck_assert_uint_eq (groups->len, 1);
  text = quoit_fleet_node_share_text (fleet, (QuoitNodeId) { 0 }, group);
  ck_assert (g_str_has_prefix (text, crumbs[_i].part_e4 == 1 ? "0.0001 of chip 0" : "0.0"));
  ck_assert_uint_le (n_lookups, 2 * n / 4 + 100);

  n_lookups = 0;
  ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
  /* The check visits each share a few times: once per resource of the node, and for the order, the edges and the chips.
   */
  ck_assert_uint_le (n_lookups, 8 * n + 100);

  n_lookups = 0;
  ck_assert (quoit_fleet_remove_group (fleet, "g", 2, QUOIT_END_RELEASED, 1, &error));
  ck_assert_uint_le (n_lookups, n + 100);
  ck_assert (quoit_fleet_check (fleet, &error));
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { i }), QUOIT_USE_NONE);
}
END_TEST

static char *
users_text (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  GString *text = g_string_new (NULL);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    g_string_append_printf (text, "%s%u ", user->name, (guint) (users.bundle - user->bundles));
  return g_string_free (text, FALSE);
}

/* Each group has four parts of the first chip of each host. */
START_TEST (shares_are_sorted_by_group)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  static const struct {
    const char *name;
    guint64 id;
  } added[] = { { "c", 7 }, { "a", 3 }, { "b", 5 } };
  g_autofree char *before = NULL, *after = NULL;
  GError *error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (added); i++)
    {
      g_autoptr (QuoitGroupData) all = new_crumb_group (fleet, added[i].name, added[i].id, 0, 625, IN_TURN);
      QuoitGroupData facts = quoit_group_data_copy_fields (all);

      facts.n_nodes = 16;
      ck_assert (quoit_fleet_add_group (fleet, quoit_group_data_new (&facts), &error));
      ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
    }
  before = users_text (fleet, (QuoitNodeId) { 1 });
  ck_assert_str_eq (before, "a1 a5 a9 a13 b1 b5 b9 b13 c1 c5 c9 c13 ");

  ck_assert (quoit_fleet_remove_group (fleet, "b", 5, QUOIT_END_RELEASED, 1, &error));
  ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
  after = users_text (fleet, (QuoitNodeId) { 1 });
  ck_assert_str_eq (after, "a1 a5 a9 a13 c1 c5 c9 c13 ");
}
END_TEST

/* If two nodes are too full, the message names the one of the earlier bundle, whatever the order of nodes. */
START_TEST (the_first_bundle_that_does_not_fit_is_named)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  GError *error = NULL;
  QuoitTake take = { "TPU", { QUOIT_AMOUNT_UNIT } };
  QuoitBundle bundles[3];
  guint32 nodes[] = { 3, 2, 1 }, ids[3];

  for (guint i = 0; i < 3; i++)
    {
      bundles[i] = (QuoitBundle) { .n_takes = 1, .chips = 1, .takes = &take };
      ids[i] = fleet->layout->nodes[nodes[i]].id;
    }
  ck_assert (quoit_fleet_add_group (fleet, new_part_group (fleet, "a", 1, 1, 0x1, 0, 0), &error));
  ck_assert (quoit_fleet_add_group (fleet, new_part_group (fleet, "b", 2, 2, 0x1, 0, 0), &error));
  ck_assert (!quoit_fleet_add_group (fleet, new_bundle_group ("c", 3, 3, ids, bundles), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "group 'c': node 'crumbs-0-2' is used by group b");
  ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { 3 }), QUOIT_USE_NONE);
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("shares");
  TCase *tcase = tcase_create ("shares");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, halves_of_two_chips_are_not_a_whole_chip);
  tcase_add_loop_test (tcase, cost_of_a_share_does_not_depend_on_the_number_of_shares, 0, G_N_ELEMENTS (crumbs));
  tcase_add_test (tcase, shares_are_sorted_by_group);
  tcase_add_test (tcase, the_first_bundle_that_does_not_fit_is_named);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
