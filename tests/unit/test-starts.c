/* SPDX-License-Identifier: Apache-2.0 */
/* The start of bundles beside what lies ahead equals that of a scan which makes a new fork for each time. The records
 * are drawn, and overlap as they may only after imports. */
#include "suite.h"

#include "fixture.h"
#include "placement/ahead.h"
#include "placement/bundles-after.h"
#include "placement/queue/timeline.h"
#include "placement/start.h"

enum { N_WORLDS = 3000, MOST_RECORDS = 9, MINUTES = 20 };

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

static gint64
draw_minute (GRand *rand, gint32 least, gint32 most)
{
  return first_ms + minute_ms * g_rand_int_range (rand, least, most);
}

/* Chips of one node: two, or all four. */
static QuoitBundle
draw_bundle (GRand *rand, QuoitTake *take)
{
  static const guint64 chips[] = { 3, 12, 15 };
  guint which = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (chips));

  *take = (QuoitTake) { "TPU", { (which == 2 ? 4 : 2) * QUOIT_AMOUNT_UNIT } };
  return (QuoitBundle) { .n_takes = 1, .chips = chips[which], .takes = take };
}

/* A group of bundles on up to three nodes, or of up to two slices. */
static QuoitGroupData *
draw_group (GRand *rand, const QuoitFleet *fleet, const QuoitGroupData *fields)
{
  QuoitGroupData group = *fields;
  guint32 ids[3], slices[2];
  QuoitBundle bundles[3];
  QuoitTake takes[3];

  if (g_rand_int_range (rand, 0, 2) == 0)
    {
      slices[0] = (guint32) g_rand_int_range (rand, 0, (gint32) fleet->layout->n_slices);
      slices[1] = (slices[0] + 1) % fleet->layout->n_slices;
      return quoit_fleet_group_of_slices (fleet, &group, slices, (guint32) g_rand_int_range (rand, 1, 3));
    }
  group.kind = QUOIT_RECORD_BUNDLES;
  group.n_nodes = (guint32) g_rand_int_range (rand, 1, 4);
  for (guint32 i = 0; i < group.n_nodes; i++)
    {
      ids[i] = fleet->layout->nodes[g_rand_int_range (rand, 0, (gint32) fleet->layout->n_nodes)].id;
      bundles[i] = draw_bundle (rand, &takes[i]);
    }
  group.node_ids = ids;
  group.bundles = bundles;
  return quoit_group_data_new (&group);
}

static void
add_record (GRand *rand, QuoitFleet *fleet, guint i)
{
  static const char *const targets[] = { "pool=a", "pool=b", "slice=a-0", "slice=b-1", "node=a-2-0", "zone=z1" };
  g_autofree char *name = g_strdup_printf ("g%u", i), *key = g_strdup_printf ("k%u", i);
  QuoitGroupData fields = {
    .id = i + 1, .state = QUOIT_GROUP_RESERVED, .name = name, .owner = "", .key = i % 2 == 0 ? key : "", .request = ""
  };
  guint what = (guint) g_rand_int_range (rand, 0, 5);

  if (what < 2)
    {
      fields.expected_end_ms = g_rand_int_range (rand, 0, 4) == 0 ? 0 : draw_minute (rand, 1, MINUTES);
      quoit_fleet_add_group (fleet, draw_group (rand, fleet, &fields), NULL);
      return;
    }
  fields.state = QUOIT_GROUP_AHEAD;
  fields.begins_ms = draw_minute (rand, what == 4 ? -2 : 1, MINUTES - 1);
  fields.until_ms = MAX (fields.begins_ms, first_ms) + minute_ms * g_rand_int_range (rand, 1, MINUTES / 2);
  if (g_rand_int_range (rand, 0, 12) == 0)
    fields.until_ms = 0;
  if (what < 4)
    {
      quoit_fleet_add_group (fleet, draw_group (rand, fleet, &fields), NULL);
      return;
    }
  fields.kind = QUOIT_RECORD_WINDOW;
  fields.key = "";
  fields.request = targets[g_rand_int_range (rand, 0, G_N_ELEMENTS (targets))];
  quoit_fleet_add_group (fleet, quoit_group_data_new (&fields), NULL);
}

static QuoitFleet *
draw_fleet (GRand *rand)
{
  static const FixturePool pools[] = {
    { "a", "2x4", NULL, 3, QUOIT_GENERATION_V6E, 4 },
    { "b", "2x4", "z1", 2, QUOIT_GENERATION_V6E, 4 },
  };
  QuoitFleet *fleet = fixture_fleet (pools, G_N_ELEMENTS (pools));
  guint n = (guint) g_rand_int_range (rand, 1, MOST_RECORDS);

  for (guint i = 0; i < n; i++)
    add_record (rand, fleet, i);
  if (g_rand_int_range (rand, 0, 3) == 0)
    quoit_fleet_set_node_state (fleet, (QuoitNodeId) { 2 }, QUOIT_NODE_DEAD);
  return fleet;
}

static QuoitRequest *
draw_request (GRand *rand)
{
  static const char *const bundles[] = { "TPU=1", "TPU=2", "TPU=4" };
  QuoitRequest *request = quoit_request_new ("next", NULL);

  ck_assert (
      quoit_request_add_bundles (request, bundles[g_rand_int_range (rand, 0, 3)], g_rand_int_range (rand, 1, 6), NULL));
  if (g_rand_int_range (rand, 0, 3) == 0)
    ck_assert (quoit_request_set_policy (request, QUOIT_POLICY_RAY, NULL));
  ck_assert (quoit_request_set_strategy (request, (QuoitStrategy) g_rand_int_range (rand, 0, 4), NULL));
  if (g_rand_int_range (rand, 0, 4) > 0)
    ck_assert (quoit_request_set_lease_ms (request, minute_ms * g_rand_int_range (rand, 1, MINUTES / 2), NULL));
  return request;
}

/* --- the scan --- */

static gboolean
fits_at (const QuoitFleet *fleet, const QuoitRequest *request, gint64 time_ms)
{
  g_autoptr (GArray) slots = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitFleet) after = NULL, seen = NULL;
  QuoitGroupEnd end;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_group_end_find (fleet, slot, first_ms, &end) && end.time_ms <= time_ms)
      g_array_append_val (slots, slot);
  after = quoit_fleet_without (fleet, slots, slots->len);
  seen = quoit_fleet_seen_between (after, time_ms, quoit_runtime_end (time_ms, request->lease_ms));
  return quoit_bundles_fit (seen, request, NULL);
}

/* Everything ends at a full minute. */
static gint64
scan (const QuoitFleet *fleet, const QuoitRequest *request)
{
  for (gint64 time_ms = first_ms; time_ms < first_ms + 2 * MINUTES * minute_ms; time_ms += minute_ms)
    if (fits_at (fleet, request, time_ms))
      return time_ms;
  return 0;
}

START_TEST (start_of_bundles_equals_a_scan)
{
  guint n_later = 0, n_never = 0;

  for (guint32 seed = 1; seed <= N_WORLDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (QuoitFleet) fleet = draw_fleet (rand);
      g_autoptr (QuoitRequest) request = draw_request (rand);
      g_auto (QuoitStartTime) start = { 0 };
      GError *error = NULL;
      gint64 expected_ms;

      if (quoit_fleet_n_ahead (fleet) == 0)
        continue;
      quoit_find_start (fleet, request, first_ms, &start, &error);
      ck_assert_ok (error);
      expected_ms = scan (fleet, request);
      ck_assert_msg (start.time_ms == expected_ms, "seed %u: in %" G_GINT64_FORMAT " ms, expected %" G_GINT64_FORMAT,
                     seed, start.time_ms - first_ms, expected_ms - first_ms);
      n_later += start.time_ms > first_ms;
      n_never += start.time_ms == 0;
    }
  ck_assert_uint_gt (n_later, N_WORLDS / 15);
  ck_assert_uint_gt (n_never, N_WORLDS / 50);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("starts");
  TCase *tcase = tcase_create ("starts");

  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, start_of_bundles_equals_a_scan);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
