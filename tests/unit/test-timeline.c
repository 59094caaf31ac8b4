/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline that starts from what the layout keeps of earlier plans has the same numbers as one from scratch, after
 * any changes of the fleet. */
#include "suite.h"

#include "fixture.h"
#include "placement/ahead.h"
#include "placement/queue/timeline-private.h"

enum { N_WALKS = 30, N_STEPS = 400, MINUTES = 40 };

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

typedef struct {
  GRand *rand;
  QuoitFleet *fleet;
  gint64 now_ms;
  guint n_named;
  guint n_now, n_later; /* compared starts at the time of the plan, and later */
  gboolean is_plain;    /* nothing lies ahead, and time does not go back, so that more is kept for longer */
} Walk;

static guint
draw (Walk *walk, guint n)
{
  return (guint) g_rand_int_range (walk->rand, 0, (gint32) n);
}

static gint64
draw_time (Walk *walk)
{
  return walk->now_ms + minute_ms * g_rand_int_range (walk->rand, -1, MINUTES);
}

/* --- changes --- */

static QuoitGroupData *
draw_group (Walk *walk, QuoitGroupData *fields)
{
  const QuoitLayout *layout = walk->fleet->layout;
  const QuoitTake take = { "TPU", { 2 * QUOIT_AMOUNT_UNIT } };
  QuoitBundle bundles[2];
  guint32 slices[2], ids[2];

  if (draw (walk, 3) > 0)
    {
      slices[0] = draw (walk, layout->n_slices);
      slices[1] = (slices[0] + 1) % layout->n_slices;
      return quoit_fleet_group_of_slices (walk->fleet, fields, slices, 1 + draw (walk, 2));
    }
  fields->kind = QUOIT_RECORD_BUNDLES;
  fields->n_nodes = 1 + draw (walk, 2);
  for (guint32 i = 0; i < fields->n_nodes; i++)
    {
      ids[i] = layout->nodes[draw (walk, layout->n_nodes)].id;
      bundles[i] = (QuoitBundle) { .n_takes = 1, .chips = draw (walk, 2) == 0 ? 3 : 12, .takes = &take };
    }
  fields->node_ids = ids;
  fields->bundles = bundles;
  return quoit_group_data_new (fields);
}

/* Adds a group, or a record that lies ahead. Some are refused, because their nodes are in use. */
static void
add_group (Walk *walk)
{
  static const char *const owners[] = { "", "", "o0", "o1" };
  static const char *const windows[] = { "pool=a", "slice=b-0", "node=a-1-0" };
  g_autofree char *name = g_strdup_printf ("g%u", walk->n_named++);
  QuoitGroupData fields = { .id = walk->fleet->next_group_id,
                            .state = draw (walk, 6) == 0 ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                            .name = name,
                            .owner = owners[draw (walk, 4)],
                            .key = draw (walk, 2) == 0 ? name : "",
                            .request = "" };

  if (!walk->is_plain && draw (walk, 6) == 0)
    {
      fields.state = QUOIT_GROUP_AHEAD;
      fields.owner = "";
      fields.begins_ms = walk->now_ms + minute_ms * g_rand_int_range (walk->rand, 1, MINUTES / 2);
      fields.until_ms = fields.begins_ms + minute_ms * g_rand_int_range (walk->rand, 1, MINUTES / 2);
      if (draw (walk, 3) == 0)
        {
          fields.kind = QUOIT_RECORD_WINDOW;
          fields.key = "";
          fields.request = windows[draw (walk, 3)];
          quoit_fleet_add_group (walk->fleet, quoit_group_data_new (&fields), NULL);
          return;
        }
    }
  else
    {
      fields.until_ms = draw (walk, 2) == 0 ? 0 : walk->now_ms + minute_ms * g_rand_int_range (walk->rand, 1, MINUTES);
      fields.expected_end_ms = draw (walk, 2) == 0 ? 0 : draw_time (walk);
    }
  quoit_fleet_add_group (walk->fleet, draw_group (walk, &fields), NULL);
}

static const QuoitGroupData *
pick_group (Walk *walk)
{
  const QuoitGroupData *group
      = walk->fleet->n_slots == 0 ? NULL : quoit_fleet_group_at (walk->fleet, draw (walk, walk->fleet->n_slots));

  return group == NULL || group->state == QUOIT_GROUP_REMOVED ? NULL : group;
}

static void
remove_group (Walk *walk)
{
  const QuoitGroupData *group = pick_group (walk);

  if (group != NULL)
    quoit_fleet_remove_group (walk->fleet, group->name, group->id, QUOIT_END_RELEASED, walk->now_ms, NULL);
}

static void
set_lease (Walk *walk)
{
  const QuoitGroupData *group = pick_group (walk);

  if (group != NULL && !quoit_group_is_ahead (group))
    quoit_fleet_set_lease (walk->fleet, group->name, group->id, group->state,
                           walk->now_ms + minute_ms * g_rand_int_range (walk->rand, 1, MINUTES), NULL);
}

static void
set_estimate (Walk *walk)
{
  const QuoitGroupData *group = pick_group (walk);
  QuoitGroupData fields;

  if (group == NULL || group->kind == QUOIT_RECORD_OWNER)
    return;
  fields = quoit_group_data_copy_fields (group);
  fields.expected_end_ms = draw (walk, 3) == 0 ? 0 : draw_time (walk);
  quoit_fleet_replace_group (walk->fleet, quoit_group_data_new (&fields), NULL);
}

static void
add_owner (Walk *walk)
{
  QuoitGroupData fields = { .id = walk->fleet->next_group_id,
                            .state = QUOIT_GROUP_RESERVED,
                            .kind = QUOIT_RECORD_OWNER,
                            .name = draw (walk, 2) == 0 ? "owner/o0" : "owner/o1",
                            .owner = "",
                            .key = "",
                            .request = "" };

  fields.until_ms = walk->now_ms + minute_ms * g_rand_int_range (walk->rand, 1, MINUTES);
  quoit_fleet_add_group (walk->fleet, quoit_group_data_new (&fields), NULL);
}

static void
set_state (Walk *walk)
{
  quoit_fleet_set_node_state (walk->fleet, (QuoitNodeId) { draw (walk, walk->fleet->layout->n_nodes) },
                              (QuoitNodeState) draw (walk, 3));
}

/* Sometimes goes on with a fork that shares the chunks, as a ledger does. */
static void
change_fleet (Walk *walk)
{
  static void (*const changes[]) (Walk * walk) = { add_group,    add_group, add_group,    add_group, remove_group,
                                                   remove_group, set_lease, set_estimate, add_owner, set_state };

  if (draw (walk, 2) == 0)
    {
      QuoitFleet *fork = quoit_fleet_fork (walk->fleet);

      quoit_fleet_unref (walk->fleet);
      walk->fleet = fork;
    }
  for (guint i = draw (walk, 4); i > 0; i--)
    changes[draw (walk, G_N_ELEMENTS (changes))](walk);
}

/* --- comparison --- */

static void
compare_steps (Walk *walk, QuoitTimeline *kept, QuoitTimeline *fresh)
{
  for (guint b = 0; b < fresh->buckets->len; b++)
    for (gint64 minute = 0; minute < MINUTES + 2; minute++)
      {
        gint64 time_ms = walk->now_ms + (minute == 0 ? 0 : minute * minute_ms - 1 - (minute % 2)), after_ms;

        ck_assert_int_eq (
            quoit_steps_least (&quoit_timeline_bucket (kept, b)->steps, time_ms, time_ms + minute_ms, &after_ms),
            quoit_steps_least (&quoit_timeline_bucket (fresh, b)->steps, time_ms, time_ms + minute_ms, &after_ms));
      }
}

static void
compare_answers (Walk *walk, QuoitTimeline *kept, QuoitTimeline *fresh, guint n)
{
  for (guint32 s = 0; s < walk->fleet->layout->n_slices; s++)
    {
      ck_assert_int_eq (kept->free_from[s], fresh->free_from[s]);
      ck_assert_uint_eq (kept->bucket_of[s], fresh->bucket_of[s]);
    }
  ck_assert_uint_eq (kept->buckets->len, fresh->buckets->len);
  compare_steps (walk, kept, fresh);
  for (guint i = 0; i < n; i++)
    {
      guint32 n_slices = 1 + draw (walk, 4);
      gint64 runtime_ms = draw (walk, 3) == 0 ? 0 : minute_ms * (1 + (gint64) draw (walk, MINUTES));
      gint64 start_ms = quoit_timeline_find_start (kept, i, n_slices, runtime_ms);

      ck_assert_uint_eq (quoit_timeline_n_possible (kept, i), quoit_timeline_n_possible (fresh, i));
      ck_assert_uint_eq (quoit_timeline_count_now (kept, i, runtime_ms),
                         quoit_timeline_count_now (fresh, i, runtime_ms));
      ck_assert_int_eq (start_ms, quoit_timeline_find_start (fresh, i, n_slices, runtime_ms));
      if (start_ms == QUOIT_FOREVER_MS)
        continue;
      walk->n_now += start_ms == walk->now_ms;
      walk->n_later += start_ms > walk->now_ms;
      quoit_timeline_take (kept, i, n_slices, start_ms, runtime_ms);
      quoit_timeline_take (fresh, i, n_slices, start_ms, runtime_ms);
    }
  compare_steps (walk, kept, fresh);
}

/* Few requests depend on pools or zones. */
static void
set_places (Walk *walk, QuoitRequest *request)
{
  guint rule = draw (walk, 8);

  if (rule < 2)
    ck_assert (quoit_request_keep_to (request, rule == 0 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_ZONE, NULL));
  else if (rule == 2)
    ck_assert (quoit_request_spread_over (request, QUOIT_DOMAIN_POOL, 1 + draw (walk, 2), 1, NULL));
}

/* Plans a queue whose requests have few rules, mostly the same ones, in any order. */
static void
compare_plans (Walk *walk)
{
  static const char *const pools[] = { NULL, "a", "b" };
  QuoitCandidates candidates[5];
  QuoitRequest *requests[G_N_ELEMENTS (candidates)];
  const guint n = 1 + draw (walk, G_N_ELEMENTS (candidates));
  QuoitTimeline *kept, *fresh;
  QuoitKept *past;

  for (guint i = 0; i < n; i++)
    {
      QuoitRequest *request = requests[i] = quoit_request_new ("next", NULL);
      const char *pool = pools[draw (walk, draw (walk, 3) == 0 ? 3 : 1)];

      ck_assert (quoit_request_set_accelerator (request, "v6e", NULL)
                 && quoit_request_set_topology (request, "2x4", NULL)
                 && quoit_request_set_chips_per_host (request, 4, NULL) && quoit_request_set_slices (request, 1, NULL));
      if (pool != NULL)
        quoit_request_set_pool (request, pool);
      set_places (walk, request);
      ck_assert (quoit_candidates_find (walk->fleet, request, &candidates[i], NULL));
    }
  kept = quoit_timeline_new (walk->fleet, (const QuoitRequest *const *) requests, candidates, n, walk->now_ms);
  past = quoit_layout_take_kept (walk->fleet->layout);
  ck_assert_ptr_nonnull (past);
  fresh = quoit_timeline_new (walk->fleet, (const QuoitRequest *const *) requests, candidates, n, walk->now_ms);
  quoit_layout_keep (walk->fleet->layout, past);
  compare_answers (walk, kept, fresh, n);
  quoit_timeline_free (kept);
  quoit_timeline_free (fresh);
  for (guint i = 0; i < n; i++)
    {
      quoit_candidates_clear (&candidates[i]);
      quoit_request_free (requests[i]);
    }
}

START_TEST (kept_numbers_equal_those_from_scratch)
{
  static const FixturePool fleet_pools[] = {
    { "a", "2x4", NULL, 5, QUOIT_GENERATION_V6E, 4 },
    { "b", "2x4", "z1", 3, QUOIT_GENERATION_V6E, 4 },
    { "c", "4x4", NULL, 2, QUOIT_GENERATION_V6E, 4 },
  };
  Walk walk = { .rand = g_rand_new_with_seed ((guint32) _i + 1),
                .fleet = fixture_fleet (fleet_pools, G_N_ELEMENTS (fleet_pools)),
                .now_ms = first_ms,
                .is_plain = _i % 2 == 0 };

  for (guint i = 0; i < N_STEPS; i++)
    {
      change_fleet (&walk);
      compare_plans (&walk);
      /* A plan may also be made for an earlier time than the last one. */
      walk.now_ms += minute_ms * g_rand_int_range (walk.rand, !walk.is_plain && draw (&walk, 10) == 0 ? -2 : 0, 3);
    }
  /* What is drawn depends on the order in which a compiler evaluates arguments. */
  ck_assert_uint_gt (walk.n_now, 40);
  ck_assert_uint_gt (walk.n_later, 50);
  quoit_fleet_unref (walk.fleet);
  g_rand_free (walk.rand);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("timeline");
  TCase *tcase = tcase_create ("timeline");

  tcase_add_loop_test (tcase, kept_numbers_equal_those_from_scratch, 0, N_WALKS);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
