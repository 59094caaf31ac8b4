/* SPDX-License-Identifier: Apache-2.0 */
/* The best options of a refusal in each order, compared with all sets of groups and all times. On small drawn fleets,
 * each set of groups is released on a fork, and each time at which a group ends by itself is tried. The option of an
 * order is enough; no smaller set of groups, no set with fewer chips and no earlier time is, if the report states so;
 * and if an order has no option, there is none. */
#include "../sanitized.h"
#include "../support.h"

enum { N_WORLDS = IS_SANITIZED ? 60 : 1500, N_REQUESTS = 6, MANY_EVERY = 50, FEW_GROUPS = 6, MOST_GROUPS = 12 };

static const QuoitOptionOrder orders[]
    = { QUOIT_OPTION_ORDER_EARLIEST, QUOIT_OPTION_ORDER_FEWEST_GROUPS, QUOIT_OPTION_ORDER_FEWEST_CHIPS };

typedef struct {
  char name[8];
  gint64 chips_e4, end_ms; /* end_ms: when it ends by itself; 0: unknown */
} Group;

typedef enum { SLICES, DOMAINS, BUNDLES, PARTS, N_KINDS } Kind;

static const char *const kind_names[] = { "slices", "slices in domains", "bundles", "parts" };

typedef struct {
  guint n_refused, n_found[4], n_proven[4]; /* by order */
} Count;

typedef struct {
  GRand *rand;
  guint32 seed;
  QuoitLedger *ledger;
  QuoitSnapshot *snapshot;
  char *fleet;
  Group groups[MOST_GROUPS];
  guint n_groups;
  gboolean has_quota, has_many;
  Count count[N_KINDS];
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- the fleet --- */

static char *
draw_fleet (World *world)
{
  static const char *const marks[] = { "", "", "", " dead=0.1", " draining=0.0", " busy=0.2" };
  GString *text = g_string_new (NULL);
  guint n_pools = (world->has_many ? 3 : 1) + draw (world, 3);

  for (guint p = 0; p < n_pools; p++)
    g_string_append_printf (text, "%sv6e 4x4 x%u pool=%c%s", p == 0 ? "" : "; ",
                            1 + draw (world, 3) + (world->has_many ? 2 : 0), (char) ('a' + p),
                            marks[draw (world, G_N_ELEMENTS (marks))]);
  if (draw (world, 3) == 0)
    g_string_append (text, "; v6e 2x4 x2 pool=z hostchips=4");
  return g_string_free (text, FALSE);
}

static QuoitRequest *
slices_new (const char *name, guint n)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  require (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
               && quoit_request_set_slices (request, n, NULL),
           "slices");
  return request;
}

static QuoitRequest *
bundles_new (World *world, const char *name, guint n)
{
  static const char *const amounts[] = { "TPU=4", "TPU=2", "TPU=1" };
  QuoitRequest *request = quoit_request_new (name, NULL);

  require (quoit_request_add_bundles (request, amounts[draw (world, G_N_ELEMENTS (amounts))], n, NULL), "bundles");
  return request;
}

static QuoitRequest *
parts_new (World *world, const char *name, guint n)
{
  static const char *const shapes[] = { "2x2", "2x4", "4x4" };
  QuoitRequest *request = slices_new (name, n);

  require (quoit_request_set_topology (request, shapes[draw (world, G_N_ELEMENTS (shapes))], NULL)
               && quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL),
           "parts");
  return request;
}

static gint64
chips_of (const QuoitGroup *group)
{
  gint64 chips = 0;

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group) && quoit_group_get_n_bundles (group) == 0; s++)
    chips += 4 * quoit_group_get_n_workers (group, s);
  for (uint32_t b = 0; b < quoit_group_get_n_bundles (group); b++)
    chips += __builtin_popcountll (quoit_group_get_bundle_chips (group, b));
  return chips * 10000;
}

/* Reserves a group that never ends by itself, or whose lease or expected end is known, or whose owner has a lease. An
 * expected end can have passed. */
static void
add_group (World *world)
{
  Group *own = &world->groups[world->n_groups];
  const guint how = draw (world, 6), kind = draw (world, 5);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  const gint64 in_ms = 60000 * (1 + draw (world, 5));

  g_snprintf (own->name, sizeof own->name, "g%u", world->n_groups);
  request = kind == 0   ? bundles_new (world, own->name, 1 + draw (world, 4))
            : kind == 1 ? parts_new (world, own->name, 1)
                        : slices_new (own->name, 1 + draw (world, 3));
  if (how == 1 || how == 2)
    require (quoit_request_set_lease_ms (request, in_ms, NULL), "lease");
  if (how >= 3 && how <= 4)
    require (quoit_request_set_owner (request, how == 3 ? "brief" : "steady", NULL), "owner");
  if (draw (world, 5) == 0)
    quoit_request_set_pool (request, "a");
  if (draw (world, 2) == 0)
    require (quoit_request_set_label (request, "team", "x", NULL), "label");
  group = quoit_ledger_reserve (world->ledger, request, T0, NULL, NULL);
  if (group == NULL)
    return;
  own->chips_e4 = chips_of (group);
  own->end_ms = how == 1 || how == 2 ? T0 + in_ms : 0;
  if (draw (world, 5) == 0)
    {
      const gint64 expected_ms = T0 + 60000 * draw (world, 6);

      /* One that has passed is nothing to wait for. */
      if (expected_ms > T0)
        own->end_ms = expected_ms;
      quoit_group_unref (quoit_ledger_set_expected_end (world->ledger, own->name, expected_ms, T0, NULL));
    }
  world->n_groups++;
}

static void
world_init (World *world)
{
  g_autoptr (GError) error = NULL;

  world->fleet = draw_fleet (world);
  world->ledger = quoit_ledger_open_memory ();
  require (import_text (world->ledger, world->fleet, NULL, T0, &error), "%s: %s", world->fleet, error_text (error));
  require (quoit_ledger_set_owner (world->ledger, "brief", 30000, T0, NULL)
               && quoit_ledger_set_owner (world->ledger, "steady", 0, T0, NULL),
           "owners");
  world->has_quota = draw (world, 3) == 0;
  if (world->has_quota)
    require (quoit_ledger_set_quota (world->ledger, "x", "team", "x", NULL, NULL, 16 * (1 + draw (world, 5)), -1, NULL,
                                     T0, &error),
             "%s", error_text (error));
  /* Among many groups, not all sets are tried. */
  for (guint i = world->has_many ? MOST_GROUPS : 1 + draw (world, FEW_GROUPS); i > 0; i--)
    add_group (world);
  world->snapshot = quoit_ledger_snapshot (world->ledger);
}

/* Returns the fleet, the groups and the options, for a failed test. */
static char *
describe (const World *world, const QuoitReport *report)
{
  GString *text = g_string_new (world->fleet);

  for (guint g = 0; g < world->n_groups; g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (world->snapshot, world->groups[g].name, NULL);

      g_string_append_printf (text, "\n  group %s: %s, owner %s, ends %" G_GINT64_FORMAT ":", world->groups[g].name,
                              quoit_group_get_request (group), quoit_group_get_owner (group),
                              world->groups[g].end_ms == 0 ? 0 : world->groups[g].end_ms - T0);
      for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
        {
          g_autofree char *slice = quoit_group_dup_slice_name (group, s);

          g_string_append_printf (text, " %s", slice);
        }
    }
  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autofree char *option = quoit_report_dup_option_text (report, o);

      g_string_append_printf (text, "\n  option: %s", option);
    }
  return g_string_free (text, FALSE);
}

/* --- all sets of groups, and all times --- */

/* Returns whether the request is granted without the groups of the set. */
static gboolean
fits_without (const World *world, const QuoitRequest *request, guint set)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (world->snapshot);
  g_autoptr (QuoitGroup) group = NULL;

  for (guint g = 0; g < world->n_groups; g++)
    if ((set >> g & 1) != 0)
      require (quoit_fork_release (fork, world->groups[g].name, T0, NULL), "seed %u", world->seed);
  group = quoit_fork_reserve (fork, request, T0, NULL, NULL);
  return group != NULL;
}

typedef struct {
  guint n_groups;
  gint64 chips_e4, time_ms; /* G_MAXINT64: none */
} Best;

static Best
search_all (const World *world, const QuoitRequest *request)
{
  Best best = { G_MAXUINT, G_MAXINT64, G_MAXINT64 };

  for (guint set = 1; set < 1u << world->n_groups; set++)
    {
      gint64 chips_e4 = 0;

      for (guint g = 0; g < world->n_groups; g++)
        chips_e4 += (set >> g & 1) != 0 ? world->groups[g].chips_e4 : 0;
      if (((guint) __builtin_popcount (set) >= best.n_groups && chips_e4 >= best.chips_e4)
          || !fits_without (world, request, set))
        continue;
      best.n_groups = MIN (best.n_groups, (guint) __builtin_popcount (set));
      best.chips_e4 = MIN (best.chips_e4, chips_e4);
    }
  for (guint t = 0; t < world->n_groups; t++)
    {
      const gint64 time_ms = world->groups[t].end_ms;
      guint ended = 0;

      for (guint g = 0; g < world->n_groups; g++)
        if (world->groups[g].end_ms != 0 && world->groups[g].end_ms <= time_ms)
          ended |= 1u << g;
      if (time_ms != 0 && time_ms < best.time_ms && fits_without (world, request, ended))
        best.time_ms = time_ms;
    }
  return best;
}

/* --- the options --- */

/* Returns the groups that the option ends or waits for. */
static guint
set_of (const World *world, const QuoitReport *report, uint32_t option)
{
  guint set = 0;

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    for (guint g = 0; g < world->n_groups; g++)
      {
        const char *group = quoit_report_get_step_group (report, option, s);

        if (group != NULL && strncmp (group, world->groups[g].name, strlen (world->groups[g].name)) == 0
            && group[strlen (world->groups[g].name)] == '@')
          set |= 1u << g;
      }
  require ((guint) __builtin_popcount (set) == quoit_report_get_n_steps (report, option), "seed %u: unknown group",
           world->seed);
  return set;
}

static gboolean
is_wait (QuoitStepKind kind)
{
  return kind == QUOIT_STEP_LEASE_ENDS || kind == QUOIT_STEP_EXPECTED_END;
}

/* Returns the value that the order minimizes, as the option has it, and checks its steps. */
static gint64
value_of (const World *world, const QuoitReport *report, QuoitOptionOrder order, uint32_t option)
{
  const guint set = set_of (world, report, option);
  gint64 chips_e4 = 0, time_ms = 0, last_ms = 0;
  guint g = 0;

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    {
      require (quoit_report_get_step_until_ms (report, option, s) >= last_ms, "seed %u: a later wait comes first",
               world->seed);
      last_ms = quoit_report_get_step_until_ms (report, option, s);
    }

  for (uint32_t s = 0; s < quoit_report_get_n_steps (report, option); s++)
    require (order == QUOIT_OPTION_ORDER_EARLIEST
                 ? is_wait (quoit_report_get_step_kind (report, option, s))
                 : quoit_report_get_step_kind (report, option, s) == QUOIT_STEP_RELEASE,
             "seed %u: a step of another order", world->seed);
  for (; g < world->n_groups; g++)
    if ((set >> g & 1) != 0)
      {
        chips_e4 += world->groups[g].chips_e4;
        time_ms = MAX (time_ms, world->groups[g].end_ms);
        require (order != QUOIT_OPTION_ORDER_EARLIEST || world->groups[g].end_ms != 0,
                 "seed %u: waits for %s, which does not end", world->seed, world->groups[g].name);
      }
  if (order == QUOIT_OPTION_ORDER_EARLIEST)
    {
      require (quoit_report_get_option_time_ms (report, option) == time_ms
                   && quoit_report_get_option_n_groups (report, option) == 0
                   && quoit_report_get_option_chips (report, option).e4 == 0,
               "seed %u: other numbers of a wait", world->seed);
      return time_ms;
    }
  require (quoit_report_get_option_time_ms (report, option) == 0
               && quoit_report_get_option_n_groups (report, option) == (guint) __builtin_popcount (set)
               && quoit_report_get_option_chips (report, option).e4 == chips_e4,
           "seed %u: other numbers of a release: %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, world->seed,
           quoit_report_get_option_chips (report, option).e4, chips_e4);
  return order == QUOIT_OPTION_ORDER_FEWEST_GROUPS ? __builtin_popcount (set) : chips_e4;
}

static void
check_order (World *world, Count *count, const QuoitRequest *request, const QuoitReport *report, QuoitOptionOrder order,
             gint64 best)
{
  g_autofree char *summary = quoit_report_dup_summary (report, "request"), *text = NULL;
  g_autofree char *world_text = describe (world, report);
  const int64_t option = quoit_report_find_option (report, order);
  gint64 value;

  if (option < 0)
    {
      require (best == G_MAXINT64, "seed %u, fleet '%s': no %s option for '%s'", world->seed, world_text,
               quoit_option_order_get_name (order), summary);
      return;
    }
  text = quoit_report_dup_option_text (report, (uint32_t) option);
  require (strlen (text) <= 2048, "seed %u: long text", world->seed);
  require (fits_without (world, request, set_of (world, report, (uint32_t) option)),
           "seed %u, fleet '%s': '%s' does not help: %s", world->seed, world_text, text, summary);
  value = value_of (world, report, order, (uint32_t) option);
  require (value >= best && (value == best || !quoit_report_is_option_best (report, order)),
           "seed %u, fleet '%s': %s is %" G_GINT64_FORMAT " for '%s', and not %" G_GINT64_FORMAT ": %s", world->seed,
           world_text, quoit_option_order_get_name (order), best, text, value, summary);
  count->n_found[order]++;
  count->n_proven[order] += quoit_report_is_option_best (report, order);
}

static void
check_request (World *world, Kind kind)
{
  g_autoptr (QuoitRequest) request = kind == BUNDLES ? bundles_new (world, "new", 1 + draw (world, 8))
                                     : kind == PARTS ? parts_new (world, "new", 1 + draw (world, 5))
                                                     : slices_new ("new", 1 + draw (world, 6));
  g_autoptr (QuoitReport) report = NULL;
  Best best;

  if (kind == DOMAINS && draw (world, 2) == 0)
    require (quoit_request_keep_to (request, QUOIT_DOMAIN_POOL, NULL), "keep");
  else if (kind == DOMAINS)
    require (quoit_request_spread_over (request, QUOIT_DOMAIN_POOL, 1, 1, NULL), "spread");
  else if (draw (world, 4) == 0)
    quoit_request_set_pool (request, "a");
  if (world->has_quota && draw (world, 2) == 0)
    require (quoit_request_set_label (request, "team", "x", NULL), "label");
  report = quoit_snapshot_explain (world->snapshot, request, NULL);
  require (report != NULL, "seed %u", world->seed);
  if (quoit_report_get_verdict (report) != QUOIT_VERDICT_NOT_NOW)
    {
      for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
        require (quoit_report_find_option (report, orders[i]) == -1 && !quoit_report_is_option_best (report, orders[i]),
                 "seed %u: an order without need", world->seed);
      return;
    }
  best = search_all (world, request);
  world->count[kind].n_refused++;
  check_order (world, &world->count[kind], request, report, QUOIT_OPTION_ORDER_EARLIEST, best.time_ms);
  check_order (world, &world->count[kind], request, report, QUOIT_OPTION_ORDER_FEWEST_GROUPS,
               best.n_groups == G_MAXUINT ? G_MAXINT64 : (gint64) best.n_groups);
  check_order (world, &world->count[kind], request, report, QUOIT_OPTION_ORDER_FEWEST_CHIPS, best.chips_e4);
}

static void
print_count (const char *kind, const char *groups, const Count *count)
{
  printf ("%s, %s groups: %u refused", kind, groups, count->n_refused);
  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    printf ("; %s: %u, %u proven", quoit_option_order_get_name (orders[i]), count->n_found[orders[i]],
            count->n_proven[orders[i]]);
  printf ("\n");
}

int
main (void)
{
  guint32 first = random_seed ("orders", 1);
  guint n_worlds = scaled (N_WORLDS), n_cut = 0;
  Count total[N_KINDS] = { 0 }, of_many[N_KINDS] = { 0 };

  for (guint i = 0; i < n_worlds; i++)
    {
      World world = { .rand = g_rand_new_with_seed (first + i), .seed = first + i, .has_many = i % MANY_EVERY == 0 };

      world_init (&world);
      for (guint r = 0; r < N_REQUESTS; r++)
        check_request (&world, (Kind) draw (&world, N_KINDS));
      for (guint kind = 0; kind < N_KINDS; kind++)
        {
          Count *sum = world.has_many ? &of_many[kind] : &total[kind];

          sum->n_refused += world.count[kind].n_refused;
          for (guint o = 0; o < 4; o++)
            {
              sum->n_found[o] += world.count[kind].n_found[o];
              sum->n_proven[o] += world.count[kind].n_proven[o];
            }
        }
      quoit_snapshot_unref (world.snapshot);
      quoit_ledger_unref (world.ledger);
      g_rand_free (world.rand);
      g_free (world.fleet);
    }
  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      print_count (kind_names[kind], "few", &total[kind]);
      print_count (kind_names[kind], "many", &of_many[kind]);
      for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
        require (total[kind].n_found[orders[i]] > n_worlds / 20, "few options of %s", kind_names[kind]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    for (guint kind = 0; kind < N_KINDS; kind++)
      require (total[kind].n_proven[orders[i]] == total[kind].n_found[orders[i]], "%s of %s is not always proven",
               quoit_option_order_get_name (orders[i]), kind_names[kind]);
  for (guint kind = 0; kind < N_KINDS; kind++)
    n_cut += of_many[kind].n_found[QUOIT_OPTION_ORDER_FEWEST_GROUPS]
             - of_many[kind].n_proven[QUOIT_OPTION_ORDER_FEWEST_GROUPS];
  require (n_cut > 0 || IS_SANITIZED || n_worlds < N_WORLDS, "no search was cut");
  printf ("%u passed, 0 failed\n", n_worlds);
  return EXIT_SUCCESS;
}
