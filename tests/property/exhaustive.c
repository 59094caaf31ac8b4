/* SPDX-License-Identifier: Apache-2.0 */
/* Exhaustive on a small scope: every fleet of up to four slices in two classes, every division into pools and every
 * condition of each slice, with every request of up to four slices. The results of placement are compared with
 * counts on the drawing of the fleet, which has none of the library's summaries: the verdict, the numbers, the
 * reasons, the chosen slices, and that every option has its promised effect without unnecessary steps. */
#include "../unit/suite.h"
#include "../unit/drawn.h"
#include "../refusal.h"
#include "placement/made.h"
#include "../sanitized.h"
#include "../support.h"

/* Checks all fleets of small families, and one in STRIDE of the others; QUOIT_TEST_SCALE=STRIDE checks all. */
enum { STRIDE = IS_SANITIZED ? 53 : 11, SMALL_FAMILY = 1000 };

enum { MOST = 4 };

typedef struct {
  const char *topology;
  guint16 chips;
} Class;

/* The last class is in no fleet: a request for `2x4` without chips per host is for this class. */
static const Class classes[] = { { "2x4", 4 }, { "4x4", 4 }, { "2x4", 8 } };

typedef struct {
  const char *const *conditions; /* the hosts of a slice, in the letters of drawn.h */
  guint n_conditions, n_classes, n_slices;
} Family;

static const char *const few[] = { ".", "A", "B", "x", "~", "e" };
static const char *const many[] = { ".", "A", "B", "C", "AB", "A.", "x", "a.", "~", "1.", "e", "_", "~x", "eA" };

static const Family families[] = {
  { many, G_N_ELEMENTS (many), 2, 1 }, { many, G_N_ELEMENTS (many), 2, 2 }, { many, G_N_ELEMENTS (many), 2, 3 },
  { many, G_N_ELEMENTS (many), 1, 4 }, { few, G_N_ELEMENTS (few), 2, 4 },
};

/* --- counts on the drawing --- */

static gboolean
any_host (const DrawnSlice *slice, gboolean (*is) (char))
{
  for (guint w = 0; w < slice->n_hosts; w++)
    if (is (slice->host[w]))
      return TRUE;
  return FALSE;
}

static gboolean
is_unknown (char host)
{
  return host == '_';
}

static gboolean
is_lost (char host)
{
  return host == '_' || drawn_state (host) == QUOIT_NODE_DEAD;
}

static gboolean
is_draining (char host)
{
  return drawn_state (host) == QUOIT_NODE_DRAINING;
}

static gboolean
is_allocated (char host)
{
  return drawn_group (host) != 0;
}

static gboolean
is_external (char host)
{
  return host == 'e';
}

static gboolean
is_not_idle (char host)
{
  return host != '.';
}

static gboolean
is_class (const DrawnSlice *slice, const Class *class)
{
  return strcmp (slice->topology, class->topology) == 0 && slice->chips == class->chips;
}

static guint
count_free (const Drawn *drawn, const Class *class)
{
  guint n = 0;

  for (guint s = 0; s < drawn->n_slices; s++)
    n += is_class (&drawn->slices[s], class) && !any_host (&drawn->slices[s], is_not_idle);
  return n;
}

static guint
count_possible (const Drawn *drawn, const Class *class)
{
  guint n = 0;

  for (guint s = 0; s < drawn->n_slices; s++)
    n += is_class (&drawn->slices[s], class) && !any_host (&drawn->slices[s], is_unknown);
  return n;
}

static gboolean
passes (const DrawnSlice *slice, const Class *class, guint constraint)
{
  switch (constraint)
    {
    case QUOIT_CONSTRAINT_TOPOLOGY:
      return strcmp (slice->topology, class->topology) == 0;
    case QUOIT_CONSTRAINT_CHIPS_PER_HOST:
      return slice->chips == class->chips;
    case QUOIT_CONSTRAINT_INTACT:
      return !any_host (slice, is_lost);
    case QUOIT_CONSTRAINT_DRAINING:
      return !any_host (slice, is_draining);
    case QUOIT_CONSTRAINT_ALLOCATED:
      return !any_host (slice, is_allocated);
    case QUOIT_CONSTRAINT_EXTERNAL:
      return !any_host (slice, is_external);
    default:
      return TRUE;
    }
}

/* --- one case --- */

typedef struct {
  const Drawn *drawn;
  const QuoitFleet *fleet;
  const guint *drawn_of; /* slice of the layout -> slice of the drawing */
  const Class *class;
  QuoitRequest *request;
  GHashTable *idle; /* structure -> an idle fleet of that layout, for the options that change it */
} Case;

static char *
draw (const Drawn *drawn)
{
  GString *text = g_string_new (NULL);

  for (guint s = 0; s < drawn->n_slices; s++)
    {
      const DrawnSlice *slice = &drawn->slices[s];

      g_string_append_printf (text, "%s%s:[%.*s]", s == 0 || slice[-1].pool == slice->pool ? "" : "| ", slice->topology,
                              (int) slice->n_hosts, slice->host);
    }
  return g_string_free (text, FALSE);
}

static void
expect (const Case *at, gboolean ok, const char *what, const QuoitReport *report)
{
  g_autofree char *drawing = NULL;
  GString *options;

  if (G_LIKELY (ok))
    return;
  drawing = draw (at->drawn);
  options = g_string_new (NULL);
  for (guint i = 0; report != NULL && i < quoit_report_options (report)->len; i++)
    {
      g_autofree char *text = quoit_report_option_text (report, i);

      g_string_append_printf (options, "\n  option: %s", text);
    }
  ck_abort_msg ("%s, when %u of %s are asked of %s%s", what, at->request->n_slices, at->class->topology, drawing,
                options->str);
}

/* --- the choice, by trying every subset --- */

/* The objectives of the choice, most important first: the number of pools; for pools taken whole, in the order in
 * which they are taken, the missing free slices and the position; for the last pool, its free slices and its
 * position; the slices themselves. */
typedef struct {
  guint words[3 * MOST + MOST + 2];
  guint n;
} Cost;

static int
compare_costs (const Cost *a, const Cost *b)
{
  for (guint i = 0; i < a->n && i < b->n; i++)
    if (a->words[i] != b->words[i])
      return a->words[i] < b->words[i] ? -1 : 1;
  return 0;
}

/* Sets the cost of @subset if @last is its last pool. FALSE if another pool is not taken whole. */
static gboolean
cost_of (const Drawn *drawn, guint subset, const guint *n_free, const guint *n_taken, guint last, Cost *cost)
{
  gboolean done[DRAWN_POOLS] = { FALSE };
  guint n_pools = 0;

  cost->n = 0;
  for (guint p = 0; p < drawn->n_pools; p++)
    {
      n_pools += n_taken[p] > 0;
      if (n_taken[p] > 0 && p != last && n_taken[p] < n_free[p])
        return FALSE;
    }
  cost->words[cost->n++] = n_pools;
  for (guint i = 1; i < n_pools; i++)
    {
      guint fullest = DRAWN_POOLS;

      for (guint p = 0; p < drawn->n_pools; p++)
        if (p != last && n_taken[p] > 0 && !done[p] && (fullest == DRAWN_POOLS || n_free[p] > n_free[fullest]))
          fullest = p;
      done[fullest] = TRUE;
      cost->words[cost->n++] = MOST - n_free[fullest];
      cost->words[cost->n++] = fullest;
    }
  cost->words[cost->n++] = n_free[last];
  cost->words[cost->n++] = last;
  for (guint s = 0; s < drawn->n_slices; s++)
    if ((subset >> s & 1) != 0)
      cost->words[cost->n++] = s;
  return TRUE;
}

static guint
best_subset (const Drawn *drawn, const Class *class, guint n)
{
  guint n_free[DRAWN_POOLS] = { 0 }, free_slices = 0, best = 0;
  Cost least = { .n = 0 };

  for (guint s = 0; s < drawn->n_slices; s++)
    if (is_class (&drawn->slices[s], class) && !any_host (&drawn->slices[s], is_not_idle))
      {
        n_free[drawn->slices[s].pool]++;
        free_slices |= 1u << s;
      }
  for (guint subset = 1; subset < 1u << drawn->n_slices; subset++)
    {
      guint n_taken[DRAWN_POOLS] = { 0 };

      if ((subset & ~free_slices) != 0 || (guint) __builtin_popcount (subset) != n)
        continue;
      for (guint s = 0; s < drawn->n_slices; s++)
        n_taken[drawn->slices[s].pool] += subset >> s & 1;
      for (guint last = 0; last < drawn->n_pools; last++)
        {
          Cost cost;

          if (n_taken[last] == 0 || !cost_of (drawn, subset, n_free, n_taken, last, &cost)
              || (best != 0 && compare_costs (&cost, &least) >= 0))
            continue;
          least = cost;
          best = subset;
        }
    }
  return best;
}

static void
check_choice (const Case *at, const QuoitPlan *plan)
{
  guint chosen = 0;

  for (guint32 i = 0; i < plan->n; i++)
    {
      expect (at, i == 0 || plan->slices[i] > plan->slices[i - 1], "the plan is not in natural order", NULL);
      chosen |= 1u << at->drawn_of[plan->slices[i]];
    }
  expect (at, plan->n == at->request->n_slices, "the plan has another number of slices", NULL);
  expect (at, chosen == best_subset (at->drawn, at->class, plan->n), "the choice is not the rule's", NULL);
}

/* --- reasons --- */

/* The rank of a reason after the main one. Not now: constraints that can change come first. Never: first the request's
 * own limits, then degraded slices, then the class, and last other uses. Among equals, the constraint that removed more
 * comes first. */
static guint
place_of (const QuoitReport *report, const QuoitReason *reason)
{
  static const guint never[] = {
    [QUOIT_CONSTRAINT_ACCELERATOR] = 2, [QUOIT_CONSTRAINT_TOPOLOGY] = 2,       [QUOIT_CONSTRAINT_CHIPS_PER_HOST] = 2,
    [QUOIT_CONSTRAINT_POOL] = 0,        [QUOIT_CONSTRAINT_ZONE] = 0,           [QUOIT_CONSTRAINT_SELECTOR] = 0,
    [QUOIT_CONSTRAINT_NAMED_SLICE] = 0, [QUOIT_CONSTRAINT_EXCLUDED_SLICE] = 0, [QUOIT_CONSTRAINT_INTACT] = 1,
    [QUOIT_CONSTRAINT_DRAINING] = 3,    [QUOIT_CONSTRAINT_ALLOCATED] = 3,      [QUOIT_CONSTRAINT_EXTERNAL] = 3
  };

  return report->verdict == QUOIT_VERDICT_NEVER ? never[reason->constraint]
                                                : reason->constraint < QUOIT_CONSTRAINT_INTACT;
}

static gboolean
comes_before (const QuoitReport *report, const QuoitReason *a, const QuoitReason *b)
{
  if (place_of (report, a) != place_of (report, b))
    return place_of (report, a) < place_of (report, b);
  if (a->before - a->after != b->before - b->after)
    return a->before - a->after > b->before - b->after;
  return a->constraint < b->constraint;
}

/* Returns the constraint that removed the last slices that the request needs; 0: none. Not now: the first one that can
 * change and left too few. Never: slices with unknown hosts, or the last constraint of the class. */
static guint
main_of (const Case *at, QuoitVerdict verdict, const guint *left)
{
  guint last_of_class = 0;

  if (verdict == QUOIT_VERDICT_FITS)
    return 0;
  if (verdict == QUOIT_VERDICT_NOT_NOW)
    {
      guint c = QUOIT_CONSTRAINT_INTACT;

      while (left[c] >= at->request->n_slices)
        c++;
      return c;
    }
  if (count_possible (at->drawn, at->class) < left[QUOIT_CONSTRAINT_CHIPS_PER_HOST])
    return QUOIT_CONSTRAINT_INTACT;
  for (guint c = QUOIT_CONSTRAINT_ACCELERATOR; c <= QUOIT_CONSTRAINT_CHIPS_PER_HOST; c++)
    if (left[c] < left[c - 1])
      last_of_class = c;
  return last_of_class;
}

static void
check_reasons (const Case *at, const QuoitReport *report)
{
  guint left[QUOIT_CONSTRAINT_EXTERNAL + 1] = { 0 }, n_reasons = 0, main;

  for (guint s = 0; s < at->drawn->n_slices; s++)
    for (guint c = 0; c <= QUOIT_CONSTRAINT_EXTERNAL && passes (&at->drawn->slices[s], at->class, c); c++)
      left[c]++;
  for (guint c = 1; c <= QUOIT_CONSTRAINT_EXTERNAL; c++)
    n_reasons += left[c] < left[c - 1];
  expect (at, report->reasons->len == n_reasons, "there are more or fewer reasons", report);
  main = main_of (at, report->verdict, left);
  for (guint i = 0; i < report->reasons->len; i++)
    {
      const QuoitReason *reason = &g_array_index (report->reasons, QuoitReason, i), *previous = reason - 1;

      expect (at, reason->before == left[reason->constraint - 1] && reason->after == left[reason->constraint],
              "a reason counts wrongly", report);
      expect (at, i > 0 || main == 0 || reason->constraint == (QuoitConstraint) main, "the main reason is not first",
              report);
      expect (at, i == 0 || (i == 1 && main != 0) || comes_before (report, previous, reason),
              "the other reasons are not in order", report);
    }
}

/* --- options --- */

typedef struct {
  Drawn drawn;
  Class class;
  guint32 chips_asked; /* 0: the default */
  guint n;
  gboolean is_cut;
} World;

/* Returns how many parts 2x4 on hosts of 4 chips a slice has room for: two of the four hosts of a 4x4, side by side. */
static guint
count_parts (const DrawnSlice *slice)
{
  guint n_free = 0;

  if (slice->n_hosts != 4)
    return is_class (slice, &classes[0]) && !any_host (slice, is_not_idle);
  for (guint w = 0; w < 4; w++)
    n_free += slice->host[w] == '.';
  /* Workers 0 and 3, and 1 and 2, are opposite corners. */
  return n_free == 2 ? (slice->host[0] == '.') != (slice->host[3] == '.') : n_free / 2;
}

static gboolean
has_larger (const Drawn *drawn)
{
  for (guint s = 0; s < drawn->n_slices; s++)
    if (is_class (&drawn->slices[s], &classes[1]))
      return TRUE;
  return FALSE;
}

static guint
count_all_parts (const Drawn *drawn)
{
  guint n = 0;

  for (guint s = 0; s < drawn->n_slices; s++)
    n += count_parts (&drawn->slices[s]);
  return n;
}

static char *
find_host (Drawn *drawn, const char *name)
{
  for (guint s = 0; s < drawn->n_slices; s++)
    for (guint w = 0; w < drawn->slices[s].n_hosts; w++)
      {
        char have[32];

        drawn_node_name (drawn, s, w, have, sizeof have);
        if (strcmp (have, name) == 0)
          return &drawn->slices[s].host[w];
      }
  return NULL;
}

static gboolean
release (Drawn *drawn, char group)
{
  gboolean was_allocated = FALSE;

  for (guint s = 0; s < drawn->n_slices; s++)
    for (guint w = 0; w < drawn->slices[s].n_hosts; w++)
      if (drawn_group (drawn->slices[s].host[w]) == group)
        {
          drawn->slices[s].host[w] = drawn_released (drawn->slices[s].host[w]);
          was_allocated = TRUE;
        }
  return was_allocated;
}

static void
ask_for_class (World *world, const char *topology, guint32 chips)
{
  QuoitShape shape;

  ck_assert (quoit_shape_parse (topology, &shape, NULL));
  world->class.topology = g_intern_string (topology);
  world->chips_asked = chips;
  world->class.chips = (guint16) (chips != 0 ? chips : quoit_default_chips_per_host (QUOIT_GENERATION_V6E, shape));
}

/* Group A has id 1, B has id 2, and so on. */
static gboolean
is_handle (const char *handle)
{
  g_autofree char *expected = g_strdup_printf ("%c@%d", handle[0], handle[0] - 'A' + 1);

  return g_str_equal (handle, expected);
}

/* FALSE if the step does not match the state. */
static gboolean
take_step (World *world, const QuoitStep *step)
{
  char *host = NULL;

  switch (step->kind)
    {
    case QUOIT_STEP_NODE_ALIVE:
      host = find_host (&world->drawn, step->node);
      if (host == NULL || drawn_state (*host) != QUOIT_NODE_DEAD)
        return FALSE;
      *host = drawn_alive (*host);
      return TRUE;
    case QUOIT_STEP_UNDRAIN:
      host = find_host (&world->drawn, step->node);
      if (host == NULL || drawn_state (*host) != QUOIT_NODE_DRAINING)
        return FALSE;
      *host = drawn_alive (*host);
      return TRUE;
    case QUOIT_STEP_EXTERNAL_ENDS:
      host = find_host (&world->drawn, step->node);
      if (host == NULL || *host != 'e')
        return FALSE;
      *host = '.';
      return TRUE;
    case QUOIT_STEP_RELEASE:
      return is_handle (step->group) && release (&world->drawn, step->group[0]);
    case QUOIT_STEP_FEWER_SLICES:
      world->n = step->n_slices;
      return TRUE;
    case QUOIT_STEP_OTHER_TOPOLOGY:
      return ask_for_class (world, step->topology,
                            step->chips_per_host != 0 ? step->chips_per_host : world->chips_asked),
             TRUE;
    case QUOIT_STEP_LEASE_ENDS:
    case QUOIT_STEP_EXPECTED_END:
    case QUOIT_STEP_WINDOW_ENDS:
    case QUOIT_STEP_SHRINK:
    case QUOIT_STEP_SOURCE_REMOVES:
      return FALSE; /* no group here is elastic or has a lease, no node has a source, and there is no window */
    case QUOIT_STEP_OTHER_HOSTS:
      return ask_for_class (world, world->class.topology, step->chips_per_host), TRUE;
    case QUOIT_STEP_CUT:
      return world->is_cut = TRUE;
    case QUOIT_STEP_CUT_PARTITION:
    case QUOIT_STEP_JOIN_CUBES:
      return FALSE; /* v6e has neither */
    }
  return FALSE;
}

static gboolean
world_fits (const World *world)
{
  return (world->is_cut ? count_all_parts (&world->drawn) : count_free (&world->drawn, &world->class)) >= world->n;
}

static World
world_of (const Case *at)
{
  return (World) { *at->drawn, *at->class, at->request->chips_per_host, at->request->n_slices, FALSE };
}

static QuoitFleet *idle_fleet (GHashTable *idle, const Drawn *drawn);

static gboolean
remove_group (QuoitFleet *fleet, const char *handle)
{
  g_autofree char *name = g_strndup (handle, 1);

  return is_handle (handle)
         && quoit_fleet_remove_group (fleet, name, (guint64) (handle[0] - 'A' + 1), QUOIT_END_RELEASED, 1, NULL);
}

/* Applies the steps as calls on a fork. Only an import can end external use, so for such steps the fleet is rebuilt. */
static QuoitFleet *
fleet_after (const Case *at, const QuoitOption *option)
{
  World rebuilt = world_of (at);
  gboolean any_external = FALSE;
  QuoitFleet *fleet;

  for (guint i = 0; i < option->steps->len; i++)
    if (g_array_index (option->steps, QuoitStep, i).kind == QUOIT_STEP_EXTERNAL_ENDS)
      any_external = take_step (&rebuilt, &g_array_index (option->steps, QuoitStep, i));
  fleet = any_external ? idle_fleet (at->idle, &rebuilt.drawn) : quoit_fleet_fork (at->fleet);
  if (any_external)
    drawn_apply (&rebuilt.drawn, fleet);

  for (guint i = 0; i < option->steps->len; i++)
    {
      const QuoitStep *step = &g_array_index (option->steps, QuoitStep, i);
      QuoitNodeId node;

      if (step->kind == QUOIT_STEP_RELEASE)
        g_assert (remove_group (fleet, step->group));
      if (step->kind == QUOIT_STEP_NODE_ALIVE || step->kind == QUOIT_STEP_UNDRAIN)
        {
          g_assert (quoit_layout_lookup_node (fleet->layout, step->node, &node, NULL));
          quoit_fleet_set_node_state (fleet, node, QUOIT_NODE_ALIVE);
        }
    }
  return fleet;
}

static void
check_option (const Case *at, const QuoitReport *report, const QuoitOption *option)
{
  World all = world_of (at);
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitRequest request = *at->request;
  QuoitPlan plan;

  expect (at, option->steps->len > 0, "an option has no steps", report);
  for (guint i = 0; i < option->steps->len; i++)
    expect (at, take_step (&all, &g_array_index (option->steps, QuoitStep, i)),
            "a step is about something that is not there", report);
  expect (at, world_fits (&all), "an option does not help", report);

  for (guint left_out = 0; left_out < option->steps->len && option->steps->len > 1; left_out++)
    {
      World some = world_of (at);

      for (guint i = 0; i < option->steps->len; i++)
        if (i != left_out)
          take_step (&some, &g_array_index (option->steps, QuoitStep, i));
      expect (at, !world_fits (&some), "an option has a step too many", report);
    }

  fleet = fleet_after (at, option);
  if (all.is_cut)
    {
      request.cut = QUOIT_CUT_ANY;
      expect (at, quoit_made_fit (fleet, &request, NULL), "parts are not placed as their option states", report);
      return;
    }
  g_assert (quoit_shape_parse (all.class.topology, &request.shape, NULL));
  request.chips_per_host = all.chips_asked;
  request.n_slices = all.n;
  quoit_plan_init (&plan);
  expect (at, quoit_plan_slices (fleet, &request, &plan, NULL, NULL), "placement does not take what its option gives",
          report);
  quoit_plan_clear (&plan);
}

static gboolean
changes_the_fleet (const QuoitOption *option)
{
  return g_array_index (option->steps, QuoitStep, 0).kind < QUOIT_STEP_FEWER_SLICES;
}

static void
check_options (const Case *at, const QuoitReport *report)
{
  guint n_changes = 0, n_fewer = 0, n_other = 0, n_fitting = 0;

  for (guint i = 0; i < quoit_report_options (report)->len; i++)
    {
      const QuoitOption *option = &g_array_index (quoit_report_options (report), QuoitOption, i);

      check_option (at, report, option);
      expect (at, i == 0 || option->steps->len >= option[-1].steps->len, "a smaller option comes later", report);
      if (changes_the_fleet (option))
        n_changes++;
      else if (g_array_index (option->steps, QuoitStep, 0).kind == QUOIT_STEP_FEWER_SLICES)
        n_fewer++;
      else
        n_other++;
    }
  if (strcmp (at->class->topology, "2x4") == 0 && has_larger (at->drawn))
    n_fitting += count_all_parts (at->drawn) >= at->request->n_slices;
  for (guint c = 0; c < G_N_ELEMENTS (classes); c++)
    n_fitting += &classes[c] != at->class && count_free (at->drawn, &classes[c]) >= at->request->n_slices;
  expect (at, (n_changes > 0) == (report->n_possible > report->n_free_now),
          "what could be is not offered, or what cannot is", report);
  expect (at, n_fewer == (report->n_free_now > 0), "fewer slices would do, or would not", report);
  expect (at, n_other == n_fitting, "another kind of slice would do, or would not", report);
}

static void
check_case (const Case *at)
{
  guint n = at->request->n_slices, n_free_now = count_free (at->drawn, at->class);
  guint n_possible = count_possible (at->drawn, at->class);
  QuoitVerdict verdict = n_free_now >= n   ? QUOIT_VERDICT_FITS
                         : n_possible >= n ? QUOIT_VERDICT_NOT_NOW
                                           : QUOIT_VERDICT_NEVER;
  g_autoptr (QuoitReport) report = quoit_explain_slices (at->fleet, at->request, NULL);
  g_autoptr (GError) error = NULL;
  QuoitPlan plan;
  gboolean fits;

  quoit_plan_init (&plan);
  fits = plan_or_explain (at->fleet, at->request, &plan, NULL, &error);
  expect (at, (fits ? 0 : error->code) == (int) verdict, "the verdict is wrong", report);
  expect (at, report->verdict == verdict, "the explained verdict is wrong", report);
  expect (at, report->n_free_now == n_free_now && report->n_possible == n_possible, "the shortfall is wrong", report);
  expect (at, report->n_wanted == n, "the report is about another number", report);
  if (fits)
    check_choice (at, &plan);
  check_reasons (at, report);
  if (fits)
    expect (at, quoit_report_options (report)->len == 0, "what fits has options", report);
  else
    check_options (at, report);
  quoit_plan_clear (&plan);
}

/* --- every fleet --- */

/* A fork of the idle fleet with the drawing's layout. The idle fleet is made once for all drawings with that layout. */
static QuoitFleet *
idle_fleet (GHashTable *idle, const Drawn *drawn)
{
  char key[DRAWN_SLICES * (DRAWN_HOSTS + 2) + 1];
  guint n = 0;
  QuoitFleet *fleet;

  for (guint s = 0; s < drawn->n_slices; s++)
    {
      const DrawnSlice *slice = &drawn->slices[s];

      key[n++] = (char) ('a' + slice->pool);
      key[n++] = slice->topology[0];
      for (guint w = 0; w < slice->n_hosts; w++)
        key[n++] = slice->host[w] == 'e' || slice->host[w] == '_' ? slice->host[w] : '.';
    }
  key[n] = '\0';
  fleet = g_hash_table_lookup (idle, key);
  if (fleet == NULL)
    {
      g_autoptr (QuoitLayout) layout = drawn_layout (drawn);

      fleet = quoit_fleet_new (layout);
      g_hash_table_insert (idle, g_strdup (key), fleet);
    }
  return quoit_fleet_fork (fleet);
}

static void
map_slices (const QuoitLayout *layout, const Drawn *drawn, guint *drawn_of)
{
  guint slice_of_id[MOST * DRAWN_HOSTS + 1], id = 0;

  for (guint s = 0; s < drawn->n_slices; s++)
    for (guint w = 0; w < drawn->slices[s].n_hosts; w++)
      if (drawn->slices[s].host[w] != '_')
        slice_of_id[++id] = s;
  for (guint32 s = 0; s < layout->n_slices; s++)
    drawn_of[s] = slice_of_id[layout->nodes[layout->slices[s].first_node].id];
}

/* Groups A, B and C differ in name only, so one of the drawings that differ only in these names is enough. */
static gboolean
is_canonical (const Drawn *drawn)
{
  char next = 'A';

  for (guint s = 0; s < drawn->n_slices; s++)
    for (guint w = 0; w < drawn->slices[s].n_hosts; w++)
      {
        char group = drawn_group (drawn->slices[s].host[w]);

        if (group > next)
          return FALSE;
        next += group == next;
      }
  return TRUE;
}

static void
check_fleet (const Drawn *drawn, GHashTable *idle, QuoitRequest *request)
{
  g_autoptr (QuoitFleet) fleet = idle_fleet (idle, drawn);
  guint drawn_of[MOST];

  drawn_apply (drawn, fleet);
  map_slices (fleet->layout, drawn, drawn_of);
  for (guint c = 0; c < G_N_ELEMENTS (classes); c++)
    {
      gboolean usual = strcmp (classes[c].topology, "2x4") != 0 || classes[c].chips == 8;

      g_assert (quoit_shape_parse (classes[c].topology, &request->shape, NULL));
      request->chips_per_host = usual ? 0 : classes[c].chips;
      for (request->n_slices = 1; request->n_slices <= MOST; request->n_slices++)
        check_case (&(Case) { drawn, fleet, drawn_of, &classes[c], request, idle });
    }
}

/* Slices are in order; a set bit of @cuts starts a new pool. */
static void
draw_case (Drawn *drawn, const Family *family, guint cuts, guint digits)
{
  static const char *const pools[] = { "a", "b", "c", "d" };

  *drawn = (Drawn) { .n_slices = family->n_slices };
  for (guint s = 0; s < family->n_slices; s++)
    {
      guint state = digits % (family->n_conditions * family->n_classes);
      const Class *class = &classes[family->n_classes == 1 ? 1 : state / family->n_conditions];

      digits /= family->n_conditions * family->n_classes;
      if (s == 0 || (cuts >> (s - 1) & 1) != 0)
        g_strlcpy (drawn->pools[drawn->n_pools], pools[drawn->n_pools], sizeof drawn->pools[0]), drawn->n_pools++;
      drawn_slice (&drawn->slices[s], drawn->n_pools - 1, class->topology, class->chips,
                   family->conditions[state % family->n_conditions]);
    }
}

START_TEST (placement_agrees_with_counting_slices)
{
  const Family *family = &families[_i];
  g_autoptr (GHashTable) idle
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) quoit_fleet_unref);
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  guint n_digits = 1, at = 0, stride;

  request->generation = QUOIT_GENERATION_V6E;
  for (guint s = 0; s < family->n_slices; s++)
    n_digits *= family->n_conditions * family->n_classes;
  stride = n_digits < SMALL_FAMILY ? 1 : MAX (1, STRIDE / scaled (1));
  for (guint cuts = 0; cuts < 1u << (family->n_slices - 1); cuts++)
    for (guint digits = 0; digits < n_digits; digits++)
      {
        Drawn drawn;

        draw_case (&drawn, family, cuts, digits);
        if (is_canonical (&drawn) && at++ % stride == 0)
          check_fleet (&drawn, idle, request);
      }
}
END_TEST

START_TEST (request_on_empty_fleet_never_fits)
{
  Drawn drawn = { 0 };
  g_autoptr (QuoitFleet) fleet = drawn_fleet (&drawn);
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  g_autoptr (QuoitReport) report = NULL;

  request->generation = QUOIT_GENERATION_V6E;
  request->n_slices = 1;
  g_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
  report = quoit_explain_slices (fleet, request, NULL);
  ck_assert_int_eq (report->verdict, QUOIT_VERDICT_NEVER);
  ck_assert_uint_eq (report->reasons->len + quoit_report_options (report)->len, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("exhaustive");
  TCase *tcase = tcase_create ("exhaustive");

  tcase_set_timeout (tcase, 600);
  tcase_add_test (tcase, request_on_empty_fleet_never_fits);
  tcase_add_loop_test (tcase, placement_agrees_with_counting_slices, 0, G_N_ELEMENTS (families));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
