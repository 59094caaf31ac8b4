/* SPDX-License-Identifier: Apache-2.0 */
/* Imports that change nodes in place: the resulting layout equals one that is built from the same claims. */
#include "suite.h"

#include <string.h>

#include "ledger/ledger.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

enum { N_SLICES = 5, HOSTS = 2, N_LOOSE = 3, N_NODES = N_SLICES * HOSTS + N_LOOSE, STEPS = 400 };

/* The source's data of one node. The first nodes are hosts of two-host slices, the others are outside any slice. */
typedef struct {
  gboolean is_there, is_external;
  guint machine, address, kind, pool;
  QuoitNodeState state;
} Fact;

/* Kinds 0 and 1 differ in a label, kind 2 is of another class. */
static guint32
kind_of (QuoitClaims *claims, guint which, gboolean is_loose)
{
  QuoitPair label = { "zone", which == 0 ? "a" : "b" };
  QuoitResource tpu = { "TPU", { 4 * QUOIT_AMOUNT_UNIT } };
  QuoitNodeKind kind = { .labels = &label, .n_labels = 1 };

  if (!is_loose)
    {
      kind.generation = QUOIT_GENERATION_V6E;
      kind.topology = which == 2 ? "4x4" : "2x4";
      g_assert (quoit_shape_parse (kind.topology, &kind.shape, NULL));
      kind.pod_type = which == 2 ? "v6e-16" : "v6e-8";
      kind.chips = 4;
      kind.resources = &tpu;
      kind.n_resources = 1;
    }
  return quoit_claims_intern_kind (claims, &kind, NULL);
}

static void
add_fact (QuoitClaims *claims, const Fact *fact, guint i)
{
  gboolean is_loose = i >= N_SLICES * HOSTS;
  g_autofree char *identity
      = fact->machine % 3 == 0 ? g_strdup_printf ("%056x", fact->machine) : g_strdup_printf ("vm-%u", fact->machine);
  /* Few names for many machines, so that some names occur twice in the fleet. */
  g_autofree char *name = g_strdup_printf ("host-%u", fact->machine % 17);
  g_autofree char *address = g_strdup_printf ("10.0.0.%u", fact->address);
  g_autofree char *slice = g_strdup_printf ("s-%u", i / HOSTS), *pool = g_strdup_printf ("pool-%u", fact->pool);

  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                .identity = identity,
                                                .address = fact->address == 0       ? NULL
                                                           : fact->address % 5 == 0 ? name
                                                                                    : address,
                                                .slice = is_loose ? NULL : slice,
                                                .pool = quoit_claims_ensure_pool (claims, pool),
                                                .kind = kind_of (claims, fact->kind, is_loose),
                                                .worker_id = is_loose ? -1 : (gint32) (i % HOSTS),
                                                .state = (guint8) fact->state,
                                                .flags = fact->is_external ? QUOIT_NODE_EXTERNAL : 0 });
}

static QuoitClaims *
claims_of (const Fact *facts, guint first)
{
  QuoitClaims *claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_RAY_NODES);

  quoit_claims_ensure_pool (claims, "pool-0");
  for (guint k = 0; k < N_NODES; k++)
    if (facts[(first + k) % N_NODES].is_there)
      add_fact (claims, &facts[(first + k) % N_NODES], (first + k) % N_NODES);
  return claims;
}

/* Usually a change that keeps the node in its place, sometimes another one. */
static void
alter (Fact *fact, GRand *rand, guint *next_machine)
{
  switch (g_rand_int_range (rand, 0, 24))
    {
    case 0:
      fact->is_there = !fact->is_there;
      break;
    case 1:
      fact->is_external = !fact->is_external;
      break;
    case 2:
      fact->kind = (guint) g_rand_int_range (rand, 0, 3);
      break;
    case 3:
      fact->pool = (guint) g_rand_int_range (rand, 0, 2);
      break;
    default:
      if (g_rand_boolean (rand))
        fact->machine = ++*next_machine;
      if (g_rand_boolean (rand))
        fact->address = (guint) g_rand_int_range (rand, 0, 200);
      if (g_rand_boolean (rand))
        fact->state = (QuoitNodeState) g_rand_int_range (rand, 0, 3);
    }
}

static void
import (QuoitFleet **fleet, const Fact *facts, guint first)
{
  QuoitClaims *claims = claims_of (facts, first);
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  g_autoptr (GError) error = NULL;

  ck_assert (quoit_step_import (*fleet, &claims, T0, &entry, &outcome, &error));
  if (entry != NULL)
    ck_assert_msg (quoit_entry_apply (entry, fleet, &error), "%s", error == NULL ? "" : error->message);
  ck_assert_msg (quoit_fleet_check (*fleet, &error), "%s", error == NULL ? "" : error->message);
  quoit_claims_free (claims);
}

/* A new layout from the claims of @layout. */
static QuoitLayout *
rebuilt (const QuoitLayout *layout)
{
  guint32 *ids = NULL;
  QuoitClaims *claims = quoit_layout_dup_claims (layout, (QuoitSourceId) { 0 }, &ids);
  QuoitLayout *expected_layout = quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);

  quoit_claims_free (claims);
  g_free (ids);
  return expected_layout;
}

/* Looks up by short names, some of which are ambiguous, by full names, and by ids. */
static void
check_lookups (const QuoitLayout *layout, const QuoitLayout *expected_layout)
{
  guint32 n_slots = 0;

  for (guint n = 0; n < 17; n++)
    {
      g_autofree char *name = g_strdup_printf ("host-%u", n);
      g_autoptr (GError) error = NULL, expected = NULL;
      QuoitNodeId a = { 0 }, b = { 0 };

      ck_assert_int_eq (quoit_layout_lookup_node (layout, name, &a, &error),
                        quoit_layout_lookup_node (expected_layout, name, &b, &expected));
      ck_assert_uint_eq (a.index, b.index);
      ck_assert_pstr_eq (error == NULL ? NULL : error->message, expected == NULL ? NULL : expected->message);
    }
  for (guint32 i = 0; i < layout->n_nodes; i++)
    ck_assert_uint_eq (quoit_layout_find_id (layout, layout->nodes[i].id), i);
  for (guint32 id = 0; id < layout->end_id; id++)
    {
      guint32 index = quoit_layout_find_id (layout, id);

      ck_assert (index == QUOIT_NO_INDEX || layout->nodes[index].id == id);
    }
  for (guint32 at = 0; at < layout->n_node_slots; at++)
    n_slots += layout->node_slots[at] != 0;
  ck_assert_uint_eq (n_slots, layout->n_nodes);
}

START_TEST (changes_in_place_equal_a_rebuilt_layout)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0);
  QuoitFleet *fleet = quoit_fleet_new (nothing);
  Fact facts[N_NODES];
  guint next_machine = 0, n_in_place = 0, n_rebuilt = 0;

  for (guint i = 0; i < N_NODES; i++)
    facts[i] = (Fact) { .is_there = TRUE, .machine = ++next_machine, .address = i };
  import (&fleet, facts, 0);
  for (guint step = 0; step < STEPS; step++)
    {
      g_autoptr (QuoitLayout) before = quoit_layout_ref (fleet->layout), expected_before = rebuilt (before);
      g_autoptr (QuoitLayout) expected_layout = NULL;
      g_autoptr (QuoitFleet) fork_before = quoit_fleet_fork (fleet), expected_fork = NULL, expected_fleet = NULL;
      g_autoptr (GError) error = NULL;

      for (gint n = g_rand_int_range (rand, 1, 4); n > 0; n--)
        alter (&facts[g_rand_int_range (rand, 0, N_NODES)], rand, &next_machine);
      import (&fleet, facts, (guint) g_rand_int_range (rand, 0, N_NODES));
      n_in_place += fleet->layout != before && fleet->layout->frame == before->frame;
      n_rebuilt += fleet->layout->frame != before->frame;

      expected_layout = rebuilt (fleet->layout);
      expected_fleet = quoit_fleet_with_layout (fleet, expected_layout, &error);
      ck_assert_ok (error);
      expected_fleet->seq = fleet->seq;
      expected_fleet->clock_ms = fleet->clock_ms;
      ck_assert_msg (quoit_step_compare (expected_fleet, fleet, &error), "step %u: %s", step,
                     error == NULL ? "" : error->message);
      check_lookups (fleet->layout, expected_layout);
      ck_assert_uint_le (fleet->layout->n_texts, 4 * expected_layout->n_texts);
      /* Users of the previous layout see no change. */
      expected_fork = quoit_fleet_with_layout (fork_before, expected_before, &error);
      expected_fork->seq = fork_before->seq;
      expected_fork->clock_ms = fork_before->clock_ms;
      ck_assert_msg (quoit_step_compare (expected_fork, fork_before, &error), "%s",
                     error == NULL ? "" : error->message);
    }
  ck_assert_uint_gt (n_in_place, STEPS / 10);
  ck_assert_uint_gt (n_rebuilt, STEPS / 10);
  quoit_fleet_unref (fleet);
}
END_TEST

static const struct {
  Fact fact;
  gboolean in_place;
} alterations[] = {
  { { TRUE, FALSE, 1, 1, 0, 0, QUOIT_NODE_DEAD }, TRUE },    { { TRUE, FALSE, 1, 2, 0, 0, QUOIT_NODE_ALIVE }, TRUE },
  { { TRUE, FALSE, 99, 1, 0, 0, QUOIT_NODE_ALIVE }, TRUE },  { { TRUE, FALSE, 99, 9, 1, 0, QUOIT_NODE_DEAD }, TRUE },
  { { TRUE, FALSE, 1, 1, 1, 0, QUOIT_NODE_ALIVE }, TRUE },   { { TRUE, FALSE, 1, 1, 2, 0, QUOIT_NODE_ALIVE }, FALSE },
  { { TRUE, TRUE, 1, 1, 0, 0, QUOIT_NODE_ALIVE }, FALSE },   { { TRUE, FALSE, 1, 1, 0, 1, QUOIT_NODE_ALIVE }, FALSE },
  { { FALSE, FALSE, 1, 1, 0, 0, QUOIT_NODE_ALIVE }, FALSE },
};

START_TEST (layout_is_rebuilt_only_if_a_node_moves)
{
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0), before = NULL;
  QuoitFleet *fleet = quoit_fleet_new (nothing);
  Fact facts[N_NODES];

  for (guint i = 0; i < N_NODES; i++)
    facts[i] = (Fact) { .is_there = TRUE, .machine = i + 1, .address = i + 1, .kind = i == 4 };
  import (&fleet, facts, 0);
  before = quoit_layout_ref (fleet->layout);
  facts[0] = alterations[_i].fact;
  import (&fleet, facts, 0);
  ck_assert_ptr_ne (fleet->layout, before);
  ck_assert_int_eq (fleet->layout->frame == before->frame, alterations[_i].in_place);
  ck_assert_int_eq (quoit_fleet_node_state (fleet, (QuoitNodeId) { 0 }),
                    alterations[_i].fact.is_there ? alterations[_i].fact.state : QUOIT_NODE_ALIVE);
  quoit_fleet_unref (fleet);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("places");
  TCase *tcase = tcase_create ("places");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, changes_in_place_equal_a_rebuilt_layout, 0, 20);
  tcase_add_loop_test (tcase, layout_is_rebuilt_only_if_a_node_moves, 0, G_N_ELEMENTS (alterations));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
