/* SPDX-License-Identifier: Apache-2.0 */
/* The candidates of a request, which are found by runs of slices and by kinds of nodes, against a search that visits
 * every node of every slice; and the choice among them by ranks, against one that counts. */
#include "fixture.h"
#include "placement/constraint.h"
#include "placement/domains.h"
#include "suite.h"

enum { N_FLEETS = 60, N_REQUESTS = 40, N_POOLS = 6, MAX_SLICES = 70 };

static const char *const zones[] = { "z1", "z2", "z3" }, *const teams[] = { "red", "blue" };

static guint32
draw (GRand *rand, guint32 n)
{
  return (guint32) g_rand_int_range (rand, 0, (gint32) n);
}

/* --- random fleets --- */

static guint32
draw_kind (GRand *rand, QuoitClaims *claims, QuoitGeneration generation, const char *topology)
{
  QuoitPair labels[3];
  QuoitResource tpu = { "TPU", quoit_amount_from_int (4) };
  QuoitNodeKind kind
      = { .generation = generation, .topology = topology, .chips = 4, .resources = &tpu, .n_resources = 1 };

  g_assert (quoit_shape_parse (topology, &kind.shape, NULL));
  if (draw (rand, 4) > 0)
    labels[kind.n_labels++] = (QuoitPair) { "ray.io/availability-zone", zones[draw (rand, G_N_ELEMENTS (zones))] };
  if (draw (rand, 4) > 0)
    labels[kind.n_labels++] = (QuoitPair) { "team", teams[draw (rand, G_N_ELEMENTS (teams))] };
  if (draw (rand, 4) == 0)
    labels[kind.n_labels++] = (QuoitPair) { "topology.kubernetes.io/zone", zones[draw (rand, G_N_ELEMENTS (zones))] };
  kind.labels = labels;
  return quoit_claims_intern_kind (claims, &kind, NULL);
}

static void
draw_slice (GRand *rand, QuoitClaims *claims, guint32 pool, guint32 index, guint32 kind, QuoitGeneration generation,
            const char *topology)
{
  g_autofree char *slice = g_strdup_printf ("s%u-%u", pool, index);
  gboolean is_mixed = draw (rand, 8) == 0;

  for (gint32 worker = 0; worker < 4; worker++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%d", slice, worker);

      if (draw (rand, 40) == 0)
        continue;
      quoit_claims_add (
          claims, &(QuoitNodeClaim) { .name = name,
                                      .slice = slice,
                                      .pool = pool,
                                      .kind = is_mixed ? draw_kind (rand, claims, generation, topology) : kind,
                                      .worker_id = worker,
                                      .state = draw (rand, 10) == 0 ? (guint8) (1 + draw (rand, 2)) : QUOIT_NODE_ALIVE,
                                      .flags = draw (rand, 15) == 0 ? QUOIT_NODE_EXTERNAL : 0 });
    }
}

static QuoitFleet *
draw_fleet (GRand *rand)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitLayout) layout = NULL;

  for (guint32 p = 0; p < N_POOLS; p++)
    {
      g_autofree char *name = g_strdup_printf ("p%u", p);
      guint32 pool = quoit_claims_ensure_pool (claims, name), n = draw (rand, MAX_SLICES);
      QuoitGeneration generation = draw (rand, 5) == 0 ? QUOIT_GENERATION_V5E : QUOIT_GENERATION_V6E;
      const char *topology = draw (rand, 5) == 0 ? "2x8" : "4x4";
      guint32 kind = draw_kind (rand, claims, generation, topology);

      for (guint32 s = 0; s < n; s++)
        {
          if (draw (rand, 10) == 0)
            kind = draw_kind (rand, claims, generation, topology);
          draw_slice (rand, claims, pool, s, kind, generation, topology);
        }
    }
  layout = fixture_layout (claims);
  return quoit_fleet_new (layout);
}

/* --- random requests --- */

static void
draw_names (GRand *rand, const QuoitLayout *layout, QuoitRequest *request, GPtrArray *names)
{
  for (guint32 n = draw (rand, 2) * draw (rand, 60); n > 0 && layout->n_slices > 0; n--)
    {
      g_autofree char *name = quoit_layout_slice_full_name (layout, (QuoitSliceId) { draw (rand, layout->n_slices) });

      quoit_request_add_slice_name (request, names, name);
    }
}

static void
draw_selector (GRand *rand, GPtrArray *selectors)
{
  static const struct {
    const char *key, *value;
  } choices[] = {
    { "team", "red" },
    { "team", "!blue" },
    { "team", "in(red,blue)" },
    { "ray.io/availability-zone", "z2" },
    { "ray.io/node-group", "p1" },
    { "ray.io/node-group", "!p2" },
    { "ray.io/tpu-worker-id", "!in(0,1)" },
    { "ray.io/tpu-slice-name", "!s1-1" },
    { "kubernetes.io/hostname", "!s0-0-2" },
  };
  guint32 i = draw (rand, G_N_ELEMENTS (choices));

  g_ptr_array_add (selectors, quoit_selector_parse_unchecked (choices[i].key, choices[i].value));
}

static QuoitRequest *
draw_request (GRand *rand, const QuoitLayout *layout)
{
  QuoitRequest *request = quoit_request_alloc ();

  request->generation = QUOIT_GENERATION_V6E;
  g_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
  request->n_slices = 1 + draw (rand, 20);
  if (draw (rand, 4) == 0)
    request->pool = g_strdup_printf (draw (rand, 2) == 0 ? "p%u" : "test/p%u", draw (rand, N_POOLS));
  if (draw (rand, 4) == 0)
    request->zone = g_strdup (zones[draw (rand, G_N_ELEMENTS (zones))]);
  for (guint32 n = draw (rand, 4); n > 1; n--)
    draw_selector (rand, request->selectors);
  draw_names (rand, layout, request, request->slices);
  draw_names (rand, layout, request, request->excluded);
  return request;
}

/* --- the search by nodes --- */

/* All alive nodes must satisfy the rule; dead nodes decide only if no node is alive. */
static gboolean
all_nodes_pass (const QuoitFleet *fleet, const QuoitNodeRules *rules, guint32 slice, const QuoitConstraintRow *row)
{
  const QuoitSlice *nodes = &fleet->layout->slices[slice];
  guint n_alive = 0, n_failed = 0, n_failed_alive = 0;

  for (guint32 i = nodes->first_node; i < nodes->first_node + nodes->n_nodes; i++)
    {
      gboolean is_alive = quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
      gboolean failed = !row->rule (rules, (QuoitNodeId) { i });

      n_alive += is_alive;
      n_failed += failed;
      n_failed_alive += failed && is_alive;
    }
  return n_alive > 0 ? n_failed_alive == 0 : n_failed == 0;
}

static guint
first_failed (const QuoitFleet *fleet, const QuoitNodeRules *rules, guint32 slice)
{
  const QuoitClass *class = quoit_layout_slice_class (fleet->layout, (QuoitSliceId) { slice });

  if (class == NULL)
    return 0;
  for (guint c = 0; c < quoit_n_constraints; c++)
    {
      const QuoitConstraintRow *row = &quoit_constraints[c];

      if (row->class_test != NULL && !row->class_test (&class->facts, rules->request))
        return c;
      if (row->is_used != NULL && row->is_used (rules->request) && !all_nodes_pass (fleet, rules, slice, row))
        return c;
    }
  return QUOIT_NO_CONSTRAINT;
}

/* --- the choice by counting --- */

/* Counts the free candidates of each shelf that @used does not have. */
static void
count_free (const QuoitFleet *fleet, const QuoitCandidates *candidates, const guint8 *used, guint32 *counts)
{
  const QuoitLayout *layout = fleet->layout;

  memset (counts, 0, (layout->n_shelves + 1) * sizeof *counts);
  for (guint32 s = 0; s < layout->n_slices; s++)
    if (quoit_candidates_contain (candidates, fleet, s) && quoit_bits_has (&fleet->free_slices, s)
        && !used[layout->slices[s].shelf])
      counts[layout->slices[s].shelf]++;
}

/* Marks the first @n free candidates of the shelf. */
static void
mark_first (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 shelf, guint32 n, guint8 *chosen)
{
  for (guint32 s = fleet->layout->shelves[shelf].first_slice; n > 0; s++)
    if (quoit_candidates_contain (candidates, fleet, s) && quoit_bits_has (&fleet->free_slices, s))
      {
        chosen[s] = 1;
        n--;
      }
}

/* The slices come from the smallest shelf that suffices. If none does, the largest is used up first. */
static gboolean
choose_by_counting (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, guint8 *chosen)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint32 *counts = g_new (guint32, layout->n_shelves + 1);
  g_autofree guint8 *used = g_new0 (guint8, layout->n_shelves + 1);

  for (;;)
    {
      guint32 smallest = QUOIT_NO_INDEX, largest = QUOIT_NO_INDEX;

      count_free (fleet, candidates, used, counts);
      for (guint32 s = 0; s < layout->n_shelves; s++)
        {
          if (counts[s] >= n && (smallest == QUOIT_NO_INDEX || counts[s] < counts[smallest]))
            smallest = s;
          if (counts[s] > 0 && (largest == QUOIT_NO_INDEX || counts[s] > counts[largest]))
            largest = s;
        }
      if (largest == QUOIT_NO_INDEX)
        return FALSE;
      if (smallest != QUOIT_NO_INDEX)
        return mark_first (fleet, candidates, smallest, n, chosen), TRUE;
      mark_first (fleet, candidates, largest, counts[largest], chosen);
      used[largest] = 1;
      n -= counts[largest];
    }
}

static void
check_choice (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n)
{
  g_autofree guint8 *chosen = g_new0 (guint8, fleet->layout->n_slices + 1);
  gboolean fits = candidates->class_index != QUOIT_NO_INDEX && choose_by_counting (fleet, candidates, n, chosen);
  QuoitPlan plan;

  quoit_plan_init (&plan);
  ck_assert_int_eq (quoit_best_choose (fleet, candidates, n, &plan), fits);
  ck_assert_uint_eq (plan.n, fits ? n : 0);
  for (guint32 i = 0; i < plan.n; i++)
    ck_assert_msg (chosen[plan.slices[i]] && (i == 0 || plan.slices[i - 1] < plan.slices[i]), "slice %u of %u",
                   plan.slices[i], n);
  quoit_plan_clear (&plan);
}

/* How often a request was compared that fits, does not fit now, or never; and with some candidates. */
typedef struct {
  guint n_fits, n_not_now, n_never, n_matching;
} Compared;

static void
check_request (const QuoitFleet *fleet, const QuoitRequest *request, Compared *compared)
{
  guint32 n_removed[QUOIT_MAX_CONSTRAINTS] = { 0 }, n_matching = 0, n_free_now = 0, n_possible = 0, n_free;
  QuoitVerdict verdict;
  g_autoptr (GError) error = NULL;
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;
  QuoitNodeRules rules;

  g_assert (quoit_node_rules_init (&rules, fleet->layout, request, &error));
  ck_assert_int_eq (quoit_node_rules_are_none (request), rules.n_used == 0);
  for (guint32 c = 0; c < fleet->layout->n_classes; c++)
    ck_assert_int_eq (quoit_constraints_allow_class (&fleet->layout->classes[c].facts, request),
                      quoit_constraint_first_failed_by_class (&fleet->layout->classes[c].facts, request)
                          == QUOIT_NO_CONSTRAINT);
  g_assert (quoit_candidates_find (fleet, request, &candidates, &error));
  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    {
      guint position = first_failed (fleet, &rules, s);
      QuoitSliceFlags flags = quoit_slice_status_flags (quoit_fleet_slice_status (fleet, (QuoitSliceId) { s }));

      ck_assert_int_eq (quoit_candidates_contain (&candidates, fleet, s), position == QUOIT_NO_CONSTRAINT);
      if (position == QUOIT_NO_CONSTRAINT)
        {
          n_matching++;
          n_free_now += (flags & QUOIT_SLICE_FREE) != 0;
          n_possible += quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { s });
          position = quoit_constraint_first_failed_by_flags (flags);
        }
      if (position != QUOIT_NO_CONSTRAINT)
        n_removed[position]++;
    }
  quoit_candidates_count (&candidates, fleet, request, &counts);
  ck_assert (quoit_test_slices (fleet, request, &verdict, &n_free, NULL));
  ck_assert_uint_eq (n_free, n_free_now);
  ck_assert_int_eq (verdict, n_free_now >= request->n_slices   ? QUOIT_VERDICT_FITS
                             : n_possible >= request->n_slices ? QUOIT_VERDICT_NOT_NOW
                                                               : QUOIT_VERDICT_NEVER);
  ck_assert_uint_eq (counts.n_matching, n_matching);
  ck_assert_uint_eq (counts.n_free_now, n_free_now);
  ck_assert_uint_eq (counts.n_possible, n_possible);
  ck_assert_mem_eq (counts.n_removed, n_removed, sizeof n_removed);
  compared->n_fits += verdict == QUOIT_VERDICT_FITS;
  compared->n_not_now += verdict == QUOIT_VERDICT_NOT_NOW;
  compared->n_never += verdict == QUOIT_VERDICT_NEVER;
  compared->n_matching += n_matching > 0;
  check_choice (fleet, &candidates, request->n_slices);
  check_choice (fleet, &candidates, 1);
  check_choice (fleet, &candidates, MAX (n_free_now, 1));
  quoit_candidates_clear (&candidates);
  quoit_node_rules_clear (&rules);
}

static void
change_states (GRand *rand, QuoitFleet *fleet)
{
  for (guint i = 0; i < 8 && fleet->layout->n_nodes > 0; i++)
    quoit_fleet_set_node_state (fleet, (QuoitNodeId) { draw (rand, fleet->layout->n_nodes) },
                                draw (rand, 3) == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE);
}

START_TEST (candidates_are_those_of_a_search_by_nodes)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261126);
  Compared compared = { 0 };

  for (guint f = 0; f < N_FLEETS; f++)
    {
      g_autoptr (QuoitFleet) fleet = draw_fleet (rand);

      ck_assert (quoit_fleet_check (fleet, NULL));
      for (guint r = 0; r < N_REQUESTS; r++)
        {
          g_autoptr (QuoitRequest) request = draw_request (rand, fleet->layout);

          check_request (fleet, request, &compared);
          /* Now with what was remembered, in another state. */
          change_states (rand, fleet);
          check_request (fleet, request, &compared);
        }
    }
  ck_assert (compared.n_fits > 1000 && compared.n_not_now > 500 && compared.n_never > 1000);
  ck_assert_uint_gt (compared.n_matching, 2000);
}
END_TEST

/* More rules than a layout remembers: each is forgotten and found again. */
START_TEST (many_rules_for_labels_do_not_disturb_each_other)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (QuoitFleet) fleet = draw_fleet (rand);
  Compared compared = { 0 };

  for (guint round = 0; round < 3; round++)
    for (guint i = 0; i < 80; i++)
      {
        g_autoptr (QuoitRequest) request = quoit_request_alloc ();
        g_autofree char *value = g_strdup_printf ("in(%s,%u)", teams[i % 2], i);

        request->generation = QUOIT_GENERATION_V6E;
        request->n_slices = 1;
        g_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
        g_ptr_array_add (request->selectors, quoit_selector_parse_unchecked ("team", value));
        check_request (fleet, request, &compared);
      }
  ck_assert_uint_eq (compared.n_matching, 240);
}
END_TEST

START_TEST (long_key_is_whole)
{
  g_auto (QuoitKey) key;
  guint n = 0;

  quoit_key_init (&key);
  for (guint i = 0; i < 1000; i++)
    quoit_key_append (&key, &i, sizeof i);
  ck_assert_uint_eq (key.n, 1000 * sizeof n);
  for (guint i = 0; i < 1000; i++)
    {
      memcpy (&n, key.bytes + i * sizeof n, sizeof n);
      ck_assert_uint_eq (n, i);
    }
}
END_TEST

/* Labels of which one ends as the next begins are different rules. */
START_TEST (rules_with_similar_texts_are_different)
{
  static const char *const pairs[][4] = { { "a", "b2:c", "d", "" }, { "a", "b", "2:cd", "" }, { "ab", "", "c", "d" } };
  g_autoptr (GHashTable) keys
      = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autoptr (QuoitRequest) request = quoit_request_alloc ();
      g_auto (QuoitKey) key;

      quoit_key_init (&key);
      g_ptr_array_add (request->selectors, quoit_selector_parse_unchecked (pairs[i][0], pairs[i][1]));
      g_ptr_array_add (request->selectors, quoit_selector_parse_unchecked (pairs[i][2], pairs[i][3]));
      quoit_constraints[quoit_constraint_position (QUOIT_CONSTRAINT_SELECTOR)].append_key (&key, request);
      ck_assert (g_hash_table_add (keys, g_bytes_new (key.bytes, key.n)));
    }
}
END_TEST

/* --- domains --- */

/* Pools with up to 30 slices, all of one class, in up to three zones. */
static QuoitFleet *
draw_fleet_of_zones (GRand *rand)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitLayout) layout = NULL;
  const guint32 n_zones = 1 + draw (rand, G_N_ELEMENTS (zones)), n_pools = 1 + draw (rand, 10);
  const gboolean is_mixed = draw (rand, 3) == 0;

  for (guint32 p = 0; p < n_pools; p++)
    {
      g_autofree char *name = g_strdup_printf ("p%u", p);
      FixturePool pool = { name, "4x4", zones[draw (rand, n_zones)], 1, QUOIT_GENERATION_V6E, 4 };

      for (guint32 s = draw (rand, 30); s > 0; s--)
        {
          g_autofree char *slice = g_strdup_printf ("s%u-%u", p, s);

          if (is_mixed && draw (rand, 10) == 0)
            pool.zone = zones[draw (rand, n_zones)];
          fixture_add_slice (claims, &pool, slice);
        }
    }
  layout = fixture_layout (claims);
  return quoit_fleet_new (layout);
}

static void
draw_groups (GRand *rand, QuoitFleet *fleet)
{
  const guint32 percent = draw (rand, 100);

  for (guint32 s = 0, id = 1; s < fleet->layout->n_slices; s++, id++)
    {
      guint32 chosen[3], n = 0, most = 1 + draw (rand, G_N_ELEMENTS (chosen));
      g_autofree char *name = g_strdup_printf ("g%u", id);

      for (; s < fleet->layout->n_slices && n < most; s++)
        if (draw (rand, 100) < percent)
          chosen[n++] = s;
      if (n > 0)
        ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, name, "", id, chosen, n), NULL));
    }
}

/* Returns the same candidates, but they do not say that they are all slices of the class. Their slices are counted. */
static QuoitCandidates
count_instead (const QuoitFleet *fleet, const QuoitCandidates *candidates)
{
  QuoitCandidates counted = { candidates->class_index, quoit_eligible_new (fleet->layout) };

  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    if (quoit_candidates_contain (candidates, fleet, s))
      quoit_eligible_add (counted.eligible, s, 1);
  quoit_eligible_finish (counted.eligible, fleet->layout, counted.class_index);
  counted.eligible->is_whole_class = FALSE;
  return counted;
}

static void
compare_plans (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitCandidates candidates, counted;
  QuoitPlan plan, expected;

  ck_assert (quoit_candidates_find (fleet, request, &candidates, NULL));
  counted = count_instead (fleet, &candidates);
  quoit_plan_init (&plan);
  quoit_plan_init (&expected);
  ck_assert_int_eq (quoit_plan_candidates (fleet, request, &candidates, &plan),
                    quoit_plan_candidates (fleet, request, &counted, &expected));
  ck_assert_uint_eq (plan.n, expected.n);
  for (guint32 i = 0; i < plan.n; i++)
    ck_assert_uint_eq (plan.slices[i], expected.slices[i]);
  quoit_plan_clear (&plan);
  quoit_plan_clear (&expected);
  quoit_candidates_clear (&candidates);
  quoit_candidates_clear (&counted);
}

START_TEST (domains_chosen_by_rank_are_those_chosen_by_counting)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (19);

  for (guint f = 0; f < 200; f++)
    {
      g_autoptr (QuoitFleet) fleet = draw_fleet_of_zones (rand);

      if (fleet->layout->n_slices == 0)
        continue;
      draw_groups (rand, fleet);
      for (guint r = 0; r < N_REQUESTS; r++)
        {
          g_autoptr (QuoitRequest) request = quoit_request_alloc ();

          request->generation = QUOIT_GENERATION_V6E;
          g_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
          request->n_slices = 1 + draw (rand, 25);
          request->min_slices = draw (rand, 2) * (1 + draw (rand, request->n_slices));
          request->keep_to = draw (rand, 2) == 0 ? QUOIT_DOMAIN_ZONE : QUOIT_DOMAIN_NONE;
          if (request->keep_to == QUOIT_DOMAIN_NONE || draw (rand, 4) == 0)
            request->near = g_strdup_printf ("g%u", 1 + draw (rand, 20));
          compare_plans (fleet, request);
        }
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("candidates");
  TCase *tcase = tcase_create ("candidates");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, candidates_are_those_of_a_search_by_nodes);
  tcase_add_test (tcase, many_rules_for_labels_do_not_disturb_each_other);
  tcase_add_test (tcase, long_key_is_whole);
  tcase_add_test (tcase, rules_with_similar_texts_are_different);
  tcase_add_test (tcase, domains_chosen_by_rank_are_those_chosen_by_counting);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
