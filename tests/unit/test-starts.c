/* SPDX-License-Identifier: Apache-2.0 */
/* The start of bundles equals that of a scan which makes a new fork for each time, and searches each. The records are
 * drawn, and overlap as they may only after imports. */
#include "suite.h"

#include "fixture.h"
#include "placement/ahead-moves.h"
#include "placement/bundles-after.h"
#include "placement/queue/timeline.h"
#include "placement/start.h"

enum { N_WORLDS = 3000, MOST_RECORDS = 9, MOST_OF_MANY = 20, MINUTES = 20 };

typedef enum { GROUPS_ONLY, WITH_RECORDS_AHEAD } WorldKind;

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
add_record (GRand *rand, QuoitFleet *fleet, WorldKind kind, guint i)
{
  static const char *const targets[] = { "pool=a", "pool=b", "slice=a-0", "slice=b-1", "node=a-2-0", "zone=z1" };
  g_autofree char *name = g_strdup_printf ("g%u", i), *key = g_strdup_printf ("k%u", i);
  QuoitGroupData fields = {
    .id = i + 1, .state = QUOIT_GROUP_RESERVED, .name = name, .owner = "", .key = i % 2 == 0 ? key : "", .request = ""
  };
  guint what = (guint) g_rand_int_range (rand, 0, kind == GROUPS_ONLY ? 2 : 5);

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
draw_fleet (GRand *rand, WorldKind kind, gint32 most_records)
{
  static const FixturePool pools[] = {
    { "a", "2x4", NULL, 3, QUOIT_GENERATION_V6E, 4 },
    { "b", "2x4", "z1", 2, QUOIT_GENERATION_V6E, 4 },
  };
  QuoitFleet *fleet = fixture_fleet (pools, G_N_ELEMENTS (pools));
  guint n = (guint) g_rand_int_range (rand, 1, most_records);

  for (guint i = 0; i < n; i++)
    add_record (rand, fleet, kind, i);
  if (g_rand_int_range (rand, 0, 3) == 0)
    quoit_fleet_set_node_state (fleet, (QuoitNodeId) { 2 }, QUOIT_NODE_DEAD);
  return fleet;
}

/* Bundles of up to six classes; those of one class need not be adjacent. Some select a zone or a slice. */
static void
add_bundles (GRand *rand, QuoitRequest *request)
{
  static const char *const bundles[] = { "TPU=1", "TPU=2", "TPU=4", "TPU=0.5", "CPU=3", "CPU=1,TPU=2" };
  static const char *const selectors[][2] = { { "ray.io/availability-zone", "z1" },
                                              { "ray.io/availability-zone", "!z1" },
                                              { "ray.io/tpu-slice-name", "in(a-0,b-1)" } };
  const gint32 n_classes = g_rand_int_range (rand, 0, 3) > 0 ? 1 : g_rand_int_range (rand, 2, 7);

  for (guint32 i = 0, first = 0; i < (guint32) n_classes; i++)
    {
      const gint32 which = g_rand_int_range (rand, 0, g_rand_int_range (rand, 0, 4) > 0 ? 3 : G_N_ELEMENTS (bundles));
      const gint32 n = g_rand_int_range (rand, 1, n_classes == 1 ? 9 : 4);
      const char *const *selector = selectors[g_rand_int_range (rand, 0, G_N_ELEMENTS (selectors))];

      ck_assert (quoit_request_add_bundles (request, bundles[which], n, NULL));
      for (gint32 b = 0; b < n && g_rand_int_range (rand, 0, 6) == 0; b++)
        ck_assert (quoit_request_select_bundle (request, first + (guint32) b, selector[0], selector[1], NULL));
      first += (guint32) n;
    }
}

static QuoitRequest *
draw_request (GRand *rand)
{
  QuoitRequest *request = quoit_request_new ("next", NULL);

  add_bundles (rand, request);
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

/* Everything begins and ends at a full minute. A request runs into something from the millisecond after one on. */
static gint64
scan (const QuoitFleet *fleet, const QuoitRequest *request)
{
  for (gint64 time_ms = first_ms; time_ms < first_ms + 2 * MINUTES * minute_ms; time_ms += minute_ms)
    for (gint64 more_ms = 0; more_ms < 2; more_ms++)
      if (fits_at (fleet, request, time_ms + more_ms))
        return time_ms + more_ms;
  return 0;
}

/* Ends and begins on @fork what does so at the time. */
static void
step (const QuoitFleet *fleet, QuoitFleet *fork, gint64 time_ms)
{
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
      QuoitGroupEnd end = { .time_ms = 0 };

      if (quoit_group_is_ahead (group))
        end.time_ms = quoit_group_assumed_end (fleet, group, 0, NULL);
      else
        quoit_group_end_find (fleet, slot, first_ms, &end);
      if (end.time_ms == time_ms)
        quoit_fork_fleet_release (fork, quoit_fleet_group_at (fork, slot));
    }
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *record = quoit_fleet_ahead_at (fleet, i);

      if (record->kind != QUOIT_RECORD_WINDOW && record->begins_ms == time_ms)
        quoit_ahead_begin (fork, record);
    }
}

/* Like scan(), on one fork. Records that overlap can then have parts of what they are promised. */
static gint64
scan_in_steps (const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);

  for (gint64 time_ms = first_ms; time_ms < first_ms + 2 * MINUTES * minute_ms; time_ms += minute_ms)
    {
      if (time_ms > first_ms)
        step (fleet, fork, time_ms);
      for (gint64 more_ms = 0; more_ms < 2; more_ms++)
        {
          g_autoptr (QuoitFleet) seen = quoit_fleet_seen_by (fork, request, time_ms + more_ms);

          if (quoit_bundles_fit (seen != NULL ? seen : fork, request, NULL))
            return time_ms + more_ms;
        }
    }
  return 0;
}

/* How a scan goes on, and with how many records. */
typedef struct {
  WorldKind kind;
  gint32 most_records;
  gboolean (*is_valid) (const QuoitFleet *fleet);
  gint64 (*scan) (const QuoitFleet *fleet, const QuoitRequest *request);
} Worlds;

static gboolean
has_records_ahead (const QuoitFleet *fleet)
{
  return quoit_fleet_n_ahead (fleet) > 0;
}

/* No reservation gets other slices. */
static gboolean
has_sound_records_ahead (const QuoitFleet *fleet)
{
  return has_records_ahead (fleet) && quoit_ahead_is_sound (fleet);
}

static gboolean
is_any (const QuoitFleet *fleet)
{
  return fleet->n_groups > 0;
}

/* Adds to the numbers of starts that are later and that are not known. */
static void
check_world (guint32 seed, const Worlds *worlds, guint *n_later, guint *n_unknown)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (QuoitFleet) fleet = draw_fleet (rand, worlds->kind, worlds->most_records);
  g_autoptr (QuoitRequest) request = draw_request (rand);
  g_auto (QuoitStartTime) start = { 0 };
  GError *error = NULL;
  gint64 expected_ms;

  if (!worlds->is_valid (fleet))
    return;
  quoit_find_start (fleet, request, first_ms, &start, &error);
  ck_assert_ok (error);
  expected_ms = worlds->scan (fleet, request);
  ck_assert_msg (start.time_ms == expected_ms, "seed %u: in %" G_GINT64_FORMAT " ms, expected %" G_GINT64_FORMAT, seed,
                 start.time_ms - first_ms, expected_ms - first_ms);
  *n_later += start.time_ms > first_ms;
  *n_unknown += start.time_ms == 0;
}

static void
check_worlds (const Worlds *worlds)
{
  guint n_later = 0, n_unknown = 0;

  for (guint32 seed = 1; seed <= N_WORLDS; seed++)
    check_world (seed, worlds, &n_later, &n_unknown);
  ck_assert_uint_gt (n_later, N_WORLDS / 50);
  ck_assert_uint_gt (n_unknown, N_WORLDS / 50);
}

START_TEST (start_of_bundles_equals_a_scan)
{
  check_worlds (&(Worlds) { WITH_RECORDS_AHEAD, MOST_RECORDS, has_records_ahead, scan });
}
END_TEST

START_TEST (start_of_bundles_beside_many_records_equals_a_scan_in_steps)
{
  check_worlds (&(Worlds) { WITH_RECORDS_AHEAD, MOST_OF_MANY, has_sound_records_ahead, scan_in_steps });
}
END_TEST

START_TEST (start_of_bundles_without_records_ahead_equals_a_scan)
{
  check_worlds (&(Worlds) { GROUPS_ONLY, MOST_RECORDS, is_any, scan });
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("starts");
  TCase *tcase = tcase_create ("starts");

  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, start_of_bundles_equals_a_scan);
  tcase_add_test (tcase, start_of_bundles_beside_many_records_equals_a_scan_in_steps);
  tcase_add_test (tcase, start_of_bundles_without_records_ahead_equals_a_scan);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
