/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "drawn.h"
#include "../refusal.h"

/* --- requests and answers as text --- */

/* "4x4 x3 pool=a zone=z slice=a-0 not=a-1 hosts=4 ray.io/k=v": v6e, topology, number, then constraints. */
static QuoitRequest *
request_new (const char *text)
{
  QuoitRequest *request = quoit_request_alloc ();
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  request->generation = QUOIT_GENERATION_V6E;
  ck_assert (quoit_shape_parse (words[0], &request->shape, NULL));
  request->n_slices = (guint32) g_ascii_strtoull (words[1] + 1, NULL, 10);
  for (guint i = 2; words[i] != NULL; i++)
    {
      char *value = strchr (words[i], '=');

      *value++ = '\0';
      if (strcmp (words[i], "pool") == 0)
        request->pool = g_strdup (value);
      else if (strcmp (words[i], "zone") == 0)
        request->zone = g_strdup (value);
      else if (strcmp (words[i], "slice") == 0)
        quoit_request_add_slice_name (request, request->slices, value);
      else if (strcmp (words[i], "not") == 0)
        quoit_request_add_slice_name (request, request->excluded, value);
      else if (strcmp (words[i], "hosts") == 0)
        request->chips_per_host = (guint32) g_ascii_strtoull (value, NULL, 10);
      else
        g_ptr_array_add (request->selectors, quoit_selector_new (words[i], value, NULL));
    }
  return request;
}

static QuoitFleet *
fleet_new (const char *drawing)
{
  Drawn drawn;

  drawn_parse (&drawn, drawing);
  return drawn_fleet (&drawn);
}

/* The chosen slices in the plan's order, or the refusal's code, message and first option. */
static char *
answer (const char *drawing, const char *wanted)
{
  g_autoptr (QuoitFleet) fleet = fleet_new (drawing);
  g_autoptr (QuoitRequest) request = request_new (wanted);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitReport) report = NULL;
  GString *text = g_string_new (NULL);
  QuoitPlan plan;

  quoit_plan_init (&plan);
  if (plan_or_explain (fleet, request, &plan, &report, &error))
    for (guint32 i = 0; i < plan.n; i++)
      g_string_append_printf (text, "%s%s", i > 0 ? " " : "",
                              quoit_layout_text (fleet->layout, fleet->layout->slices[plan.slices[i]].name));
  else
    g_string_append_printf (text, "%s: %s", quoit_error_code_name ((QuoitErrorCode) error->code), error->message);
  /* The fleet may be gone when somebody reads the options. */
  g_clear_pointer (&fleet, quoit_fleet_unref);
  if (report != NULL && quoit_report_options (report)->len > 0)
    {
      g_autofree char *option = quoit_report_option_text (report, 0);

      g_string_append_printf (text, "; would help: %s", option);
    }
  quoit_plan_clear (&plan);
  return g_string_free (text, FALSE);
}

/* --- the choice of slices --- */

typedef struct {
  const char *why, *fleet, *request, *answer;
} Fact;

static const Fact choices[] = {
  { "the only slice is chosen", "a=.", "4x4 x1", "a-0" },
  { "the smallest sufficient pool is chosen", "a=... b=. c=..", "4x4 x2", "c-0 c-1" },
  { "the smallest pool is the one with the fewest free slices", "a=AAAA. b=..", "4x4 x1", "a-4" },
  { "of equal pools, the first is chosen", "b=.. a=.. c=..", "4x4 x1", "a-0" },
  { "pools are in natural order, not in text order", "p10=. p9=.", "4x4 x1", "p9-0" },
  { "within a pool, the first free slices are chosen", "a=.A.~.", "4x4 x2", "a-0 a-2" },
  { "slice 10 comes after slice 9", "a=AAAAAAAAA..", "4x4 x1", "a-9" },
  { "if no pool suffices: all of the largest, the rest from the smallest sufficient pool", "a=... b=.... c=. d=..",
    "4x4 x5", "b-0 b-1 b-2 b-3 c-0" },
  { "the rest can again use all of a pool", "a=... b=... c=..", "4x4 x7", "a-0 a-1 a-2 b-0 b-1 b-2 c-0" },
  { "of equally large pools, all of the first is used", "b=.. a=.. c=..", "4x4 x3", "a-0 a-1 b-0" },
  { "the rest can use a part of an equally large pool", "a=... b=...", "4x4 x4", "a-0 a-1 a-2 b-0" },
  { "all free slices are used", "a=.. b=. c=...", "4x4 x6", "a-0 a-1 b-0 c-0 c-1 c-2" },
  { "a degraded slice is not chosen", "a=x_..", "4x4 x2", "a-2 a-3" },
  { "draining, allocated, partly allocated and externally used slices are not chosen", "a=~AB[.C].e.", "4x4 x2",
    "a-4 a-6" },
};

static const Fact filters[] = {
  { "pool filter", "a=.. b=...", "4x4 x2 pool=b", "b-0 b-1" },
  { "zone filter", "a@u=. b@v=...", "4x4 x1 zone=v", "b-0" },
  { "label selector", "a@u=. b@v=...", "4x4 x1 ray.io/availability-zone=!u", "b-0" },
  { "selector on a label that the fleet derives", "a=. b=..", "4x4 x1 ray.io/node-group=b", "b-0" },
  { "two selectors must both match", "a@u=. b@u=.. c@v=..", "4x4 x1 ray.io/availability-zone=u ray.io/node-group=!a",
    "b-0" },
  { "named slices", "a=.. b=...", "4x4 x2 slice=b-2 slice=a-1", "a-1 b-2" },
  { "a full name", "a=.. b=...", "4x4 x1 slice=t/b/b-1", "b-1" },
  { "excluded slices", "a=.. b=...", "4x4 x1 not=a-0", "a-1" },
  { "excluded slices make a pool smaller", "a=.. b=...", "4x4 x2 not=a-0", "b-0 b-1" },
  { "a slice that is both named and excluded is not chosen", "a=..", "4x4 x1 slice=a-0 slice=a-1 not=a-0", "a-1" },
  { "filters and exclusions apply together", "a=.... b=... c=. d=..", "4x4 x3 not=a-0 not=b-0 pool=a", "a-1 a-2 a-3" },
  { "labels of dead hosts are ignored", "a@u=[x...]. b@v=..", "4x4 x1 zone=u", "a-1" },
};

static const Fact classes[] = {
  { "2x4 means hosts of 8 chips, as in Ray", "a:2x4/4=.. b:2x4/8=.", "2x4 x1", "b-0" },
  { "2x4 can be requested with hosts of 4 chips", "a:2x4/4=.. b:2x4/8=.", "2x4 x1 hosts=4", "a-0" },
  { "slices of one pool but different classes are not mixed", "a=.. a2:2x4/8=..", "4x4 x2", "a-0 a-1" },
  { "a single-host request never breaks up a multi-host slice", "a=....", "2x2 x1",
    "NEVER: 1 x v6e 2x2: never, at most 0 of 1 slice, 1 short; 4 of 4 slices are of another topology than "
    "'2x2'; would help: ask for topology 4x4" },
  { "a request for hosts of 8 chips does not use hosts of 4 chips", "a:2x4/4=..", "2x4 x1",
    "NEVER: 1 x v6e 2x4: never, at most 0 of 1 slice, 1 short; 2 of 2 slices are on hosts of another size "
    "than '8 chips'; would help: ask for hosts of 4 chips" },
};

static const Fact refusals[] = {
  { "an allocated slice", "a=A.", "4x4 x2",
    "NOT_NOW: 2 x v6e 4x4: not now, 1 of 2 slices free, 1 short; 1 of 2 slices is allocated to groups; would help: "
    "release A@1" },
  { "more slices than the fleet has", "a=A.", "4x4 x3",
    "NEVER: 3 x v6e 4x4: never, at most 2 of 3 slices, 1 short; the fleet has 2 such slices; would help: "
    "ask for 1 slice" },
  { "a slice with a missing host", "a=_.", "4x4 x2",
    "NEVER: 2 x v6e 4x4: never, at most 1 of 2 slices, 1 short; 1 of 2 slices is degraded: a host is missing "
    "or dead, or hosts contradict each other; would help: ask for 1 slice" },
  { "a dead host", "a=x.", "4x4 x2",
    "NOT_NOW: 2 x v6e 4x4: not now, 1 of 2 slices free, 1 short; 1 of 2 slices is degraded: a host is missing or "
    "dead, or hosts contradict each other; would help: node a-0-0 alive again" },
  { "no such pool", "a=.", "4x4 x1 pool=q", "NOT_FOUND: no pool 'q' in the fleet" },
  { "no such slice", "a=.", "4x4 x1 slice=a-1", "NOT_FOUND: no slice 'a-1' in the fleet" },
  { "no such excluded slice", "a=.", "4x4 x1 not=b-0", "NOT_FOUND: no slice 'b-0' in the fleet" },
  { "no slice in that zone", "a@u=.", "4x4 x1 zone=v",
    "NEVER: 1 x v6e 4x4: never, at most 0 of 1 slice, 1 short; 1 of 1 slice is outside zone 'v'" },
  { "a number of chips that no host has", "a=.", "4x4 x1 hosts=3", "INVALID" },
};

static void
check_fact (const Fact *fact)
{
  g_autofree char *got = answer (fact->fleet, fact->request);
  gboolean code_only = strchr (fact->answer, ':') == NULL && g_ascii_isupper (fact->answer[0]);

  ck_assert_msg (code_only ? g_str_has_prefix (got, fact->answer) : strcmp (got, fact->answer) == 0,
                 "%s: expected '%s', got '%s'", fact->why, fact->answer, got);
}

START_TEST (best_chooses_the_slices_whose_loss_costs_least) { check_fact (&choices[_i]); }
END_TEST

/* What it costs later requests to take @n of @n_free slices of a pool: for each size of a request that no longer fits
 * into the pool, the size divided by the number of pools that can have it when they are empty. In 1/720720. */
static guint64
pool_cost (const guint *n_slices, guint n_pools, guint n_free, guint n)
{
  guint64 cost = 0;

  for (guint size = n_free - n + 1; size <= n_free; size++)
    {
      guint n_able = 0;

      for (guint p = 0; p < n_pools; p++)
        n_able += n_slices[p] >= size;
      cost += 720720 * (guint64) size / n_able;
    }
  return cost;
}

START_TEST (the_chosen_pool_costs_later_requests_least)
{
  enum { MOST_POOLS = 7, MOST_OF_POOL = 6 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 400; round++)
    {
      const guint n_pools = 1 + (guint) g_rand_int_range (rand, 0, MOST_POOLS);
      guint n_slices[MOST_POOLS], n_free[MOST_POOLS], most = 0, n, chosen;
      g_autoptr (GString) drawing = g_string_new (NULL);
      g_autofree char *request = NULL, *slices = NULL;

      for (guint p = 0; p < n_pools; p++)
        {
          n_slices[p] = 1 + (guint) g_rand_int_range (rand, 0, MOST_OF_POOL);
          n_free[p] = (guint) g_rand_int_range (rand, 0, (gint32) n_slices[p] + 1);
          most = MAX (most, n_free[p]);
          g_string_append_printf (drawing, "%s%c=", p == 0 ? "" : " ", 'a' + (int) p);
          for (guint s = 0; s < n_slices[p]; s++)
            g_string_append_c (drawing, s < n_free[p] ? '.' : 'A');
        }
      if (most == 0)
        continue;
      n = 1 + (guint) g_rand_int_range (rand, 0, (gint32) most);
      request = g_strdup_printf ("4x4 x%u", n);
      slices = answer (drawing->str, request);
      chosen = (guint) (slices[0] - 'a');
      ck_assert_msg (chosen < n_pools && n_free[chosen] >= n, "%s, %s: %s", drawing->str, request, slices);
      for (guint p = 0; p < n_pools; p++)
        if (n_free[p] >= n)
          ck_assert_msg (pool_cost (n_slices, n_pools, n_free[chosen], n)
                             <= pool_cost (n_slices, n_pools, n_free[p], n),
                         "%s, %s: %s", drawing->str, request, slices);
    }
}
END_TEST

START_TEST (filters_of_the_request_are_respected) { check_fact (&filters[_i]); }
END_TEST

START_TEST (slice_of_a_different_class_is_never_chosen) { check_fact (&classes[_i]); }
END_TEST

START_TEST (refusal_gives_verdict_shortage_and_options) { check_fact (&refusals[_i]); }
END_TEST

/* --- the two paths of `best` --- */

static void
draw_at_random (GRand *rand, Drawn *drawn)
{
  static const char *const states[] = { ".", ".", ".", "A", "x", "~", "e", ".B" };

  *drawn = (Drawn) { .n_pools = (guint) g_rand_int_range (rand, 1, DRAWN_POOLS + 1) };
  for (guint p = 0; p < drawn->n_pools; p++)
    {
      guint n = (guint) g_rand_int_range (rand, 0, 8);

      g_snprintf (drawn->pools[p], sizeof drawn->pools[p], "p%u", p * 3);
      for (guint i = 0; i < n; i++)
        {
          const char *hosts = states[g_rand_int_range (rand, 0, G_N_ELEMENTS (states))];

          drawn_slice (&drawn->slices[drawn->n_slices++], p, g_rand_int_range (rand, 0, 4) == 0 ? "2x4" : "4x4", 4,
                       hosts);
        }
    }
}

START_TEST (filtered_search_chooses_the_same_slices_as_ranks)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (23);
  guint n_chosen[3] = { 0 }, n_refused[3] = { 0 };

  for (guint step = 0; step < 3000; step++)
    {
      g_autoptr (QuoitFleet) fleet = NULL;
      Drawn drawn;

      draw_at_random (rand, &drawn);
      fleet = drawn_fleet (&drawn);
      for (guint32 n = 1, rule = step % 3; n < 40; n += 1 + n / 4)
        {
          g_autoptr (QuoitRequest) plain = request_new ("4x4 x1"),
                                   filtered = request_new ("4x4 x1 quoit.test/absent=!there");
          QuoitPlan ranked, counted;
          gboolean fits;

          plain->n_slices = filtered->n_slices = n;
          plain->keep_to = filtered->keep_to = rule == 1 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_NONE;
          plain->spread_over = filtered->spread_over = rule == 2 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_NONE;
          plain->max_skew = filtered->max_skew = plain->min_domains = filtered->min_domains = rule == 2;
          quoit_plan_init (&ranked);
          quoit_plan_init (&counted);
          fits = quoit_plan_slices (fleet, plain, &ranked, NULL, NULL);
          ck_assert_int_eq (quoit_plan_slices (fleet, filtered, &counted, NULL, NULL), fits);
          ck_assert_uint_eq (ranked.n, counted.n);
          ck_assert_uint_eq (ranked.n, fits ? n : 0);
          ck_assert_mem_eq (ranked.slices, counted.slices, ranked.n * sizeof *ranked.slices);
          (fits ? n_chosen : n_refused)[rule]++;
          quoit_plan_clear (&ranked);
          quoit_plan_clear (&counted);
        }
    }
  for (guint rule = 0; rule < G_N_ELEMENTS (n_chosen); rule++)
    ck_assert (n_chosen[rule] > 2000 && n_refused[rule] > 2000);
}
END_TEST

/* --- reasons and options --- */

/* All reasons, then all options, one per line. */
static char *
explanation (const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitReport) report = quoit_explain_slices (fleet, request, &error);
  GString *text = g_string_new (NULL);

  ck_assert_ok (error);
  g_string_append_printf (text, "%u now, %u possible\n", report->n_free_now, report->n_possible);
  for (guint i = 0; i < report->reasons->len; i++)
    {
      g_autofree char *line = quoit_report_reason_text (report, i);

      g_string_append_printf (text, "- %s\n", line);
    }
  for (guint i = 0; i < quoit_report_options (report)->len; i++)
    {
      g_autofree char *line = quoit_report_option_text (report, i);

      g_string_append_printf (text, "+ %s\n", line);
    }
  return g_string_free (text, FALSE);
}

static const Fact explanations[] = {
  { "a request that fits has no options", "a=..", "4x4 x2", "2 now, 2 possible\n" },
  { "the constraint that left too few comes first, then those that removed most", "a=.xAAe~~~", "4x4 x2",
    "1 now, 8 possible\n- 1 of 2 slices is in external use\n- 3 of 7 slices are draining\n"
    "- 2 of 4 slices are allocated to groups\n"
    "- 1 of 8 slices is degraded: a host is missing or dead, or hosts contradict each other\n"
    "+ node a-1-0 alive again\n+ release A@1\n+ ask for 1 slice\n" },
  { "of other constraints that removed equally many, the first one comes first", "a=.A~x", "4x4 x2",
    "1 now, 4 possible\n- 1 of 2 slices is allocated to groups\n"
    "- 1 of 4 slices is degraded: a host is missing or dead, or hosts contradict each other\n"
    "- 1 of 3 slices is draining\n"
    "+ undrain a-2-0\n+ release A@1\n+ ask for 1 slice\n" },
  { "the option releases the smallest group that is enough", "a=AAAB b=CC", "4x4 x2",
    "0 now, 6 possible\n- 6 of 6 slices are allocated to groups\n+ release C@3\n" },
  { "the option releases several groups if no group is enough", "a=AAB", "4x4 x3",
    "0 now, 3 possible\n- 3 of 3 slices are allocated to groups\n+ release A@1 and release B@2\n" },
  { "the option releases both groups of a slice", "a=[AABB]", "4x4 x1",
    "0 now, 1 possible\n- 1 of 1 slice is allocated to groups\n+ release A@1 and release B@2\n" },
  { "a dead host under a group", "a=[a...]", "4x4 x1",
    "0 now, 1 possible\n- 1 of 1 slice is degraded: a host is missing or dead, or hosts contradict each other\n"
    "+ node a-0-0 alive again and release A@1\n" },
  { "an option never uses slices that the filters exclude", "a=A b=x", "4x4 x1 pool=b",
    "0 now, 1 possible\n- 1 of 1 slice is degraded: a host is missing or dead, or hosts contradict each other\n"
    "- 1 of 2 slices is outside pool 'b'\n"
    "+ node b-0-0 alive again\n" },
  { "another topology", "a=A b:2x4/8=.", "4x4 x1",
    "0 now, 1 possible\n- 1 of 1 slice is allocated to groups\n- 1 of 2 slices is of another topology than '4x4'\n"
    "+ release A@1\n+ ask for topology 2x4\n" },
  { "another topology on hosts other than the default", "a=A b:2x4/4=.", "4x4 x1",
    "0 now, 1 possible\n- 1 of 1 slice is allocated to groups\n- 1 of 2 slices is of another topology than '4x4'\n"
    "+ release A@1\n+ ask for topology 2x4 on hosts of 4 chips\n" },
  { "the topology with the nearest number of chips comes first", "b:2x4/8=. a=.", "8x8 x1",
    "0 now, 0 possible\n- 2 of 2 slices are of another topology than '8x8'\n+ ask for topology 4x4\n"
    "+ ask for topology 2x4\n" },
  { "the default hosts if the request asks for others", "a=.", "2x4 x1 hosts=8",
    "0 now, 0 possible\n- 1 of 1 slice is of another topology than '2x4'\n+ ask for topology 4x4 on hosts of 4 "
    "chips\n" },
  { "a step is left out if a release already frees enough slices", "a=[a...][AB..]B", "4x4 x2",
    "0 now, 3 possible\n- 2 of 2 slices are allocated to groups\n"
    "- 1 of 3 slices is degraded: a host is missing or dead, or hosts contradict each other\n"
    "+ release B@2 and release A@1\n" },
};

START_TEST (explanation_has_correct_counts_and_options)
{
  const Fact *fact = &explanations[_i];
  g_autoptr (QuoitFleet) fleet = fleet_new (fact->fleet);
  g_autoptr (QuoitRequest) request = request_new (fact->request);
  g_autofree char *got = explanation (fleet, request);

  ck_assert_msg (strcmp (got, fact->answer) == 0, "%s: expected\n%sgot\n%s", fact->why, fact->answer, got);
}
END_TEST

/* A slice with permanently lost hosts: which of the dead ones does the option name? */
static const struct {
  const char *why, *back;
  struct {
    gint32 worker;
    guint16 chips;
    guint8 state;
  } nodes[6];
  guint n;
} losses[] = {
  { "an option never needs a dead host without a worker id",
    "n3",
    { { 0, 4, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 3, 4, QUOIT_NODE_DEAD }, { -1, 4, QUOIT_NODE_DEAD } },
    5 },
  { "an option never needs a dead host with a worker id beyond the topology",
    "n3",
    { { 0, 4, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 3, 4, QUOIT_NODE_DEAD }, { 4, 4, QUOIT_NODE_DEAD } },
    5 },
  { "an option never needs a dead host with a different number of chips",
    "n3",
    { { 0, 4, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 3, 4, QUOIT_NODE_DEAD }, { 3, 8, QUOIT_NODE_DEAD } },
    5 },
  { "of several dead hosts, the option names the last",
    "n4",
    { { 0, 4, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 3, 4, QUOIT_NODE_DEAD }, { 3, 4, QUOIT_NODE_DEAD } },
    5 },
};

START_TEST (option_names_the_host_that_completes_the_slice)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitRequest) request = request_new ("4x4 x1");
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E, .topology = "4x4", .shape = request->shape };
  guint32 ids[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autofree char *got = NULL, *expected = NULL;

  quoit_claims_ensure_pool (claims, "p");
  for (guint i = 0; i < losses[_i].n; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u", i);

      kind.chips = losses[_i].nodes[i].chips;
      quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                    .slice = "s",
                                                    .worker_id = losses[_i].nodes[i].worker,
                                                    .state = losses[_i].nodes[i].state,
                                                    .kind = quoit_claims_intern_kind (claims, &kind, "s") });
    }
  layout = quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);
  fleet = quoit_fleet_new (layout);
  got = explanation (fleet, request);
  expected = g_strdup_printf (
      "0 now, 1 possible\n- 1 of 1 slice is degraded: a host is missing or dead, or hosts contradict "
      "each other\n+ node %s alive again\n",
      losses[_i].back);
  ck_assert_msg (strcmp (got, expected) == 0, "%s: expected\n%sgot\n%s", losses[_i].why, expected, got);
}
END_TEST

/* --- the request itself --- */

START_TEST (equal_requests_have_equal_text)
{
  g_autoptr (QuoitRequest) a = request_new ("2x4 x2 slice=s-10 slice=s-9 k=v pool=p");
  g_autoptr (QuoitRequest) b = request_new ("2x4 x2 pool=p slice=s-9 slice=s-10 hosts=8 k=v");
  g_autofree char *x = quoit_request_format_canonical (a), *y = quoit_request_format_canonical (b);

  ck_assert_str_eq (x, y);
  ck_assert_str_eq (x, "v6e 2x4 x 2 hostchips=8 pool=p select=k=v slice=s-9 slice=s-10");
}
END_TEST

START_TEST (a_request_is_read_back_from_its_text)
{
  static const char *const texts[] = {
    "v6e 2x4 x 2 hostchips=4",
    "v6e 2x4 x 1..3 hostchips=8 tpu-per-bundle=0.5 pool=p zone=z select=k=v slice=s-9 slice=s-10 exclude-slice=t",
    "v6e 2x4 x 2 hostchips=4 pool=\"a b\" zone=\"q\\\"\" select=\"k=in(a, b)\" slice=\"\\\\ \"",
    "PACK 1x{TPU=4}",
    "STRICT_SPREAD 4x{CPU=8,TPU=4} 1x{TPU-v6e-16-head=1} 4x{CPU=8,TPU=4}",
    "SPREAD 10000x{CPU=0.0001;k=in(a, b);ray.io/tpu-worker-id=!0;z=} policy=ray pool=\"a b\" select=k=v slice=s",
    "STRICT_PACK 1x{\"a,b\"=1,\"c{;}\\\"d\"=0.5,\"\\303\\244 \"=900000000000000} soft-target=n-1",
    "PACK 2x{CPU=1} topology-label=ray.io/tpu-slice-name values=2 zone=z",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      GError *error = NULL;
      g_autoptr (QuoitRequest) request = quoit_request_parse_canonical (texts[i], &error);
      g_autofree char *again = request == NULL ? NULL : quoit_request_format_canonical (request);

      ck_assert_ok (error);
      ck_assert_str_eq (again, texts[i]);
    }
}
END_TEST

static const char *const no_requests[] = {
  "",
  "v6e",
  "v6e 2x4",
  "v6e 2x4 x",
  "v6e 2x4 x 0",
  "v6e 2x4 x ..2",
  "v6e 2x4 x 1 host",
  "v6e 2x4 x 1 hostchips=0",
  "v6e 2x4 x 1 tpu-per-bundle=-1",
  "v6e 2x4 x 1 select=k",
  "v6e 2x4 x 1 what=ever",
  "v6e 2x4 x 1 pool=\"",
  "v6e 2x4 x 1 pool=\"a",
  "v6e 2x4 x 1 pool=\"a\\\"",
  "v6e 2x4 x 1 pool=\"a b",
  "v6e 2x4 x 1 pool=\"a\\",
  "v6e 2x4 x 1 policy=ray",
  "v6e 2x4 x 1 soft-target=n",
  "PACK",
  "PACK 1x",
  "PACK 1x{",
  "PACK 1x{}",
  "PACK 1x{CPU=1",
  "PACK 0x{CPU=1}",
  "PACK {CPU=1}",
  "PACK 10001x{CPU=1}",
  "PACK 9999x{CPU=1} 2x{TPU=1}",
  "PACK 1x{CPU=1}1x{CPU=2}",
  "PACK 1x{CPU=1} hostchips=4",
  "PACK 1x{CPU=1} policy=best",
  "PACK 1x{CPU=1} values=1",
  "PACK 1x{CPU=1} topology-label=k",
  "PACK 1x{CPU=1} topology-label=k values=2",
  "PACK 1x{CPU=1} soft-target=n",
  "PACK 1x{CPU=1;}",
  "PACK 1x{CPU=1;k}",
  "PACK 1x{CPU=1;k=v",
  "PACK 1x{\"CPU=1}",
  "PACK 1x{CPU=0}",
  "pack 1x{CPU=1}",
};

START_TEST (invalid_request_text_is_refused)
{
  GError *error = NULL;

  ck_assert_ptr_null (quoit_request_parse_canonical (no_requests[_i], &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "request '");
}
END_TEST

static const struct {
  const char *name, *part; /* NULL: accepted */
} names[] = {
  { "train", NULL },
  { "tr\303\244in 2", NULL },
  { "", "expected 1 to 253 bytes" },
  { "a@1", "without '@' or '/', see byte 1" },
  { "a/b", "without '@' or '/', see byte 1" },
  { "a\nb", "expected printable text" },
  { "a\xff", "expected UTF-8 text" },
};

START_TEST (a_name_is_printable_and_has_no_separator)
{
  GError *error = NULL;
  gboolean ok = quoit_name_check ("name", names[_i].name, &error);

  ck_assert_int_eq (ok, names[_i].part == NULL);
  if (!ok)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, names[_i].part);
}
END_TEST

START_TEST (an_incomplete_request_is_refused_before_anything_is_decided)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  g_autoptr (QuoitFleet) fleet = fleet_new ("a=.");
  GError *error = NULL;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  ck_assert (!quoit_plan_slices (fleet, request, &plan, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "names no accelerator");
  request->generation = QUOIT_GENERATION_V6E;
  ck_assert (!quoit_plan_slices (fleet, request, &plan, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "names no topology");
  ck_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
  ck_assert_ptr_null (quoit_explain_slices (fleet, request, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "has no number of slices");
}
END_TEST

START_TEST (request_for_bundles_is_refused_by_slice_placement)
{
  g_autoptr (QuoitRequest) request = quoit_request_parse_canonical ("PACK 2x{TPU=4}", NULL);
  g_autoptr (QuoitFleet) fleet = fleet_new ("a=.");
  GError *error = NULL;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  ck_assert (!quoit_plan_slices (fleet, request, &plan, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "asks for 2 bundles: expected whole slices");
  ck_assert_ptr_null (quoit_explain_slices (fleet, request, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "asks for 2 bundles: expected whole slices");
}
END_TEST

/* What a resize that is refused counts: the fleet without the group. */
static const struct {
  const char *fleet, *request;
  gboolean is_counted; /* without a fork */
} without[] = {
  { "a=A.B", "4x4 x9", TRUE },       { "a=AAB. b=A~.", "4x4 x2 pool=a", TRUE }, { "a=[AAxA]A.", "4x4 x4", TRUE },
  { "a=[AA~A]A.x", "4x4 x4", TRUE }, { "a=A. b:2x4/8=..", "4x4 x3", TRUE },     { "a=A. b:2x4/8=..", "2x4 x3", TRUE },
  { "a=[A...]B.", "4x4 x3", TRUE },  { "a=[AaA1]A.", "4x4 x3", TRUE },          { "a=[AB..]B.", "4x4 x3", FALSE },
  { "a=[A.e.]B.", "4x4 x3", FALSE },
};

START_TEST (counts_without_a_group_are_those_of_a_fork)
{
  g_autoptr (QuoitFleet) fleet = fleet_new (without[_i].fleet);
  g_autoptr (QuoitRequest) request = request_new (without[_i].request);
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, "A");
  g_autoptr (QuoitFleet) fork = quoit_fleet_without_group (fleet, group);
  QuoitCandidateCounts counted, expected;
  QuoitCandidates candidates;

  ck_assert (quoit_candidates_find (fleet, request, &candidates, NULL));
  quoit_candidates_count (&candidates, fork, request, &expected);
  ck_assert_int_eq (quoit_candidates_count_without (&candidates, fleet, request, group, &counted),
                    without[_i].is_counted);
  if (without[_i].is_counted)
    ck_assert_mem_eq (&counted, &expected, sizeof counted);
  quoit_candidates_clear (&candidates);
}
END_TEST

/* The refusal of a resize whose request would fit only without the slices that the group already has. */
START_TEST (a_report_has_the_verdict_of_its_error)
{
  g_autoptr (QuoitFleet) fleet = fleet_new ("a=A.");
  g_autoptr (QuoitRequest) request = request_new ("4x4 x2");
  g_autoptr (QuoitReport) report = NULL;
  QuoitRefusal refusal = { .request = request,
                           .fleet = quoit_fleet_ref (fleet),
                           .node = QUOIT_NO_INDEX,
                           .group_id = 1,
                           .group_name = g_strdup ("A") };
  g_autofree char *option = NULL;
  GError *error = NULL;

  quoit_refusal_explain (&refusal, &report, &error);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "free only if group 'A@1' gives up those that it has");
  ck_assert_int_eq (report->verdict, QUOIT_VERDICT_NOT_NOW);
  option = quoit_report_option_text (report, 0);
  ck_assert_str_eq (option, "release A@1");
  quoit_refusal_clear (&refusal);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("placement");
  TCase *tcase = tcase_create ("placement");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, best_chooses_the_slices_whose_loss_costs_least, 0, G_N_ELEMENTS (choices));
  tcase_add_test (tcase, the_chosen_pool_costs_later_requests_least);
  tcase_add_loop_test (tcase, filters_of_the_request_are_respected, 0, G_N_ELEMENTS (filters));
  tcase_add_loop_test (tcase, slice_of_a_different_class_is_never_chosen, 0, G_N_ELEMENTS (classes));
  tcase_add_loop_test (tcase, refusal_gives_verdict_shortage_and_options, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, filtered_search_chooses_the_same_slices_as_ranks);
  tcase_add_loop_test (tcase, explanation_has_correct_counts_and_options, 0, G_N_ELEMENTS (explanations));
  tcase_add_loop_test (tcase, option_names_the_host_that_completes_the_slice, 0, G_N_ELEMENTS (losses));
  tcase_add_test (tcase, equal_requests_have_equal_text);
  tcase_add_test (tcase, a_request_is_read_back_from_its_text);
  tcase_add_loop_test (tcase, invalid_request_text_is_refused, 0, G_N_ELEMENTS (no_requests));
  tcase_add_loop_test (tcase, a_name_is_printable_and_has_no_separator, 0, G_N_ELEMENTS (names));
  tcase_add_test (tcase, an_incomplete_request_is_refused_before_anything_is_decided);
  tcase_add_test (tcase, request_for_bundles_is_refused_by_slice_placement);
  tcase_add_test (tcase, a_report_has_the_verdict_of_its_error);
  tcase_add_loop_test (tcase, counts_without_a_group_are_those_of_a_fork, 0, G_N_ELEMENTS (without));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
