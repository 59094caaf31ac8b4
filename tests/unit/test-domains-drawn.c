/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn fleets and requests that are kept to pools or zones, spread over them, or exclude nodes. A model that knows
 * only the definition tries every distribution of slices, and is compared with each answer of the library. */
#include "../follower.h"
#include "ahead-fixture.h"

enum { MOST_DOMAINS = 4, MOST_SLICES = 16, MOST_GROUPS = 8 };

/* A slice as the test drew it. */
typedef struct {
  char name[8];
  guint pool;
  gint zone; /* -1: none */
} DrawnSlice;

/* The places of a request. */
typedef struct {
  QuoitDomain keep, spread;
  gint64 max_skew, min_domains;
  gint pool;          /* only this one; -1: any */
  gint excluded_node; /* the slice of the excluded node; -1: none */
} Places;

typedef struct {
  char name[8];
  Places places;
} DrawnGroup;

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  gint64 now_ms;
  guint n_pools, n_slices, n_named;
  gboolean has_near; /* the last request that was made */
  DrawnSlice slices[MOST_SLICES];
  GArray *groups;                                                                            /* of DrawnGroup */
  guint n_fits, n_refused, n_options, n_starts, n_preempted, n_grown, n_repaired, n_planned; /* how often */
} World;

/* --- the model --- */

static gint
domain_of (const World *world, const Places *places, guint slice)
{
  const QuoitDomain kind = places->keep != QUOIT_DOMAIN_NONE ? places->keep : places->spread;

  return kind == QUOIT_DOMAIN_ZONE   ? world->slices[slice].zone
         : kind == QUOIT_DOMAIN_POOL ? (gint) world->slices[slice].pool
                                     : 0;
}

static gboolean
is_candidate (const World *world, const Places *places, guint slice)
{
  return domain_of (world, places, slice) >= 0
         && (places->pool < 0 || world->slices[slice].pool == (guint) places->pool)
         && places->excluded_node != (gint) slice;
}

typedef struct {
  guint has[MOST_DOMAINS], can[MOST_DOMAINS]; /* slices of the group, and further ones */
  gboolean counts[MOST_DOMAINS];
} Counts;

static guint
slice_index (const World *world, const char *name)
{
  for (guint s = 0; s < world->n_slices; s++)
    if (strcmp (world->slices[s].name, name) == 0)
      return s;
  ck_abort_msg ("no slice %s", name);
}

/* Whether slices may be added like this, by the definition. */
static gboolean
is_allowed (const Places *places, const Counts *counts, const guint *added)
{
  guint n_used = 0, n_counting = 0, fewest = G_MAXUINT;

  for (guint d = 0; d < MOST_DOMAINS; d++)
    {
      n_used += counts->has[d] + added[d] > 0;
      n_counting += counts->counts[d];
      if (counts->counts[d])
        fewest = MIN (fewest, counts->has[d] + added[d]);
    }
  if (n_counting < places->min_domains)
    fewest = 0;
  if (places->keep != QUOIT_DOMAIN_NONE)
    return n_used <= 1;
  for (guint d = 0; d < MOST_DOMAINS && places->spread != QUOIT_DOMAIN_NONE; d++)
    if (added[d] > 0 && counts->has[d] + added[d] > fewest + places->max_skew)
      return FALSE;
  return TRUE;
}

/* The greatest number of slices that can be added, at most @n: tries all. */
static guint
most_from (const Places *places, const Counts *counts, guint d, guint *added, guint total)
{
  guint most = 0;

  if (d == MOST_DOMAINS)
    return is_allowed (places, counts, added) ? total : 0;
  for (added[d] = 0; added[d] <= counts->can[d]; added[d]++)
    most = MAX (most, most_from (places, counts, d + 1, added, total + added[d]));
  return most;
}

static guint
most_of (const Places *places, const Counts *counts)
{
  guint added[MOST_DOMAINS] = { 0 };

  return most_from (places, counts, 0, added, 0);
}

static gboolean
is_free (const World *world, const QuoitSnapshot *snapshot, guint slice)
{
  uint32_t index = 0;

  ck_assert (quoit_snapshot_lookup_slice (snapshot, world->slices[slice].name, &index, NULL));
  return (quoit_snapshot_get_slice_flags (snapshot, index) & QUOIT_SLICE_FREE) != 0;
}

/* @snapshot: NULL: as if everything were free. */
static Counts
count (const World *world, const Places *places, const QuoitSnapshot *snapshot)
{
  Counts counts = { { 0 }, { 0 }, { FALSE } };

  for (guint s = 0; s < world->n_slices; s++)
    if (is_candidate (world, places, s))
      {
        counts.counts[domain_of (world, places, s)] = TRUE;
        counts.can[domain_of (world, places, s)] += snapshot == NULL || is_free (world, snapshot, s);
      }
  return counts;
}

/* Adds the slices that a group keeps: those for which @keeps has a state. */
static void
add_members (const World *world, const Places *places, const QuoitGroup *group, gboolean only_whole, Counts *counts)
{
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, s);
      gint domain = domain_of (world, places, slice_index (world, name));

      if (domain < 0 || (only_whole && quoit_group_get_slice_state (group, s) != QUOIT_GROUP_SLICE_WHOLE))
        continue;
      counts->has[domain]++;
      counts->counts[domain] = TRUE;
    }
}

/* Whether the group has its slices where its request allows it. */
static void
check_group (const World *world, const Places *places, const QuoitGroup *group, const char *what)
{
  Counts counts = count (world, places, NULL);
  guint added[MOST_DOMAINS];

  add_members (world, places, group, FALSE, &counts);
  memcpy (added, counts.has, sizeof added);
  memset (counts.has, 0, sizeof counts.has);
  ck_assert_msg (is_allowed (places, &counts, added), "%s: %s is not where it may be: %s", what,
                 quoit_group_get_name (group), quoit_group_get_request (group));
}

/* --- drawing --- */

static guint
draw (const World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint) n);
}

static void
draw_fleet (World *world)
{
  g_autoptr (GString) text = g_string_new (NULL);

  world->n_pools = 2 + draw (world, 3);
  for (guint p = 0; p < world->n_pools; p++)
    {
      guint n = 1 + draw (world, 4);
      gint zone = (gint) draw (world, 4) - 1;

      g_string_append_printf (text, "%sv6e 4x4 x%u pool=%c", p == 0 ? "" : "; ", n, 'a' + (int) p);
      if (zone >= 0)
        g_string_append_printf (text, " zone=z%d", zone);
      for (guint s = 0; s < n; s++)
        {
          DrawnSlice *slice = &world->slices[world->n_slices++];

          slice->pool = p;
          slice->zone = zone;
          g_snprintf (slice->name, sizeof slice->name, "%c-%u", 'a' + (int) p, s);
        }
    }
  import_fleet (world->ledger, text->str);
}

static Places
draw_places (const World *world)
{
  Places places
      = { .pool = -1, .excluded_node = -1, .max_skew = 1 + draw (world, 3), .min_domains = 1 + draw (world, 4) };
  const QuoitDomain kind = draw (world, 2) == 0 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_ZONE;
  guint rule = draw (world, 5);

  if (rule < 2)
    places.keep = kind;
  else if (rule < 4)
    places.spread = kind;
  if (draw (world, 5) == 0)
    places.pool = (gint) draw (world, world->n_pools);
  if (draw (world, 4) == 0)
    places.excluded_node = (gint) draw (world, world->n_slices);
  return places;
}

static QuoitRequest *
make_request (World *world, const Places *places, guint least, guint most, gint64 lease_ms)
{
  g_autofree char *name = g_strdup_printf ("g%u", world->n_named++);
  QuoitRequest *request = request_new (name, most, lease_ms);

  if (least < most)
    ck_assert (quoit_request_set_slice_range (request, least, most, NULL));
  ck_assert (quoit_request_keep_to (request, places->keep, NULL));
  ck_assert (quoit_request_spread_over (request, places->spread, places->max_skew, places->min_domains, NULL));
  if (places->pool >= 0)
    quoit_request_set_pool (request, (char[]) { (char) ('a' + places->pool), '\0' });
  if (places->excluded_node >= 0)
    {
      g_autofree char *node = g_strdup_printf ("%s-%u", world->slices[places->excluded_node].name, draw (world, 4));

      quoit_request_exclude_node (request, node);
    }
  world->has_near = world->groups->len > 0 && draw (world, 4) == 0;
  if (world->has_near)
    quoit_request_set_near (request, g_array_index (world->groups, DrawnGroup, draw (world, world->groups->len)).name,
                            NULL);
  quoit_request_set_priority (request, (int32_t) draw (world, 3));
  return request;
}

static QuoitSnapshot *
world_snapshot (const World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);

  return quoit_snapshot_as_of (last, world->now_ms, NULL);
}

/* --- what a request is told --- */

static QuoitVerdict
test_on (QuoitFork *fork, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) after = quoit_fork_snapshot (fork);
  QuoitVerdict verdict = QUOIT_VERDICT_NEVER;
  GError *error = NULL;

  /* The group to be near to can have ended. */
  if (!quoit_snapshot_test (after, request, &verdict, NULL, &error))
    ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "near group");
  return verdict;
}

static void
take_step (const World *world, const QuoitReport *report, uint32_t o, uint32_t s, QuoitFork *fork,
           QuoitRequest *request)
{
  const char *group = quoit_report_get_step_group (report, o, s), *node = quoit_report_get_step_node (report, o, s);

  switch (quoit_report_get_step_kind (report, o, s))
    {
    case QUOIT_STEP_RELEASE:
    case QUOIT_STEP_LEASE_ENDS:
    case QUOIT_STEP_EXPECTED_END:
      ck_assert (quoit_fork_release (fork, group, world->now_ms, NULL));
      break;
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      ck_assert (quoit_fork_set_node_state (fork, node, QUOIT_NODE_ALIVE, world->now_ms, NULL));
      break;
    case QUOIT_STEP_SHRINK:
      {
        g_autoptr (QuoitGroupChange) change
            = quoit_fork_resize (fork, group, quoit_report_get_step_n_slices (report, o, s), world->now_ms, NULL, NULL);

        ck_assert_ptr_nonnull (change);
        break;
      }
    case QUOIT_STEP_FEWER_SLICES:
      ck_assert (quoit_request_set_slices (request, quoit_report_get_step_n_slices (report, o, s), NULL));
      break;
    default:
      ck_abort_msg ("step %d", (int) quoit_report_get_step_kind (report, o, s));
    }
}

/* A group or node that several steps name would make one of them fail. */
static void
check_options (World *world, const QuoitSnapshot *snapshot, const QuoitRequest *request, const QuoitReport *report)
{
  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitRequest) changed = quoit_request_copy (request, "option", NULL);
      g_autofree char *text = quoit_report_dup_option_text (report, o);

      for (uint32_t s = 0; s < quoit_report_get_n_steps (report, o); s++)
        take_step (world, report, o, s, fork, changed);
      ck_assert_msg (test_on (fork, changed) == QUOIT_VERDICT_FITS, "option does not help: %s of %s for %s", text,
                     quoit_report_dup_summary (report, "it"), world->has_near ? "near" : "not near");
      world->n_options++;
    }
  /* There is none if only the group is in the way that the request is to be near to. */
  ck_assert_msg (quoit_report_get_n_options (report) > 0 || quoit_report_get_verdict (report) == QUOIT_VERDICT_NEVER
                     || world->has_near,
                 "no option");
}

static gint
by_until (gconstpointer a, gconstpointer b)
{
  const gint64 x = quoit_group_get_until_ms (*(QuoitGroup *const *) a);
  const gint64 y = quoit_group_get_until_ms (*(QuoitGroup *const *) b);

  return x < y ? -1 : x > y;
}

static GPtrArray *
list_groups (const QuoitSnapshot *snapshot)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);

  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
        g_ptr_array_add (groups, g_steal_pointer (&group));
    }
  return groups;
}

static void
release_if_leased (const World *world, QuoitFork *fork, const QuoitGroup *group)
{
  if (quoit_group_get_until_ms (group) != 0)
    ck_assert (quoit_fork_release (fork, quoit_group_get_handle (group), world->now_ms, NULL));
}

/* Releases one group after the other, as their leases end, until the group ends that the request is to be near to. */
static void
check_start (World *world, QuoitSnapshot *snapshot, const QuoitRequest *request)
{
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (snapshot, request, world->now_ms, NULL);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GPtrArray) groups = list_groups (snapshot);
  gint64 expected_ms;
  guint ended = 0;

  expected_ms = test_on (fork, request) == QUOIT_VERDICT_FITS ? world->now_ms : 0;
  g_ptr_array_sort (groups, by_until);
  for (guint g = 0; g < groups->len && expected_ms == 0; g++)
    {
      gint64 until_ms = quoit_group_get_until_ms (groups->pdata[g]);

      ended = g + 1;
      release_if_leased (world, fork, groups->pdata[g]);
      if (until_ms != 0 && test_on (fork, request) == QUOIT_VERDICT_FITS)
        expected_ms = until_ms;
    }
  /* Groups that end at the same time were released one after the other. */
  if (expected_ms > world->now_ms)
    {
      while (ended < groups->len && quoit_group_get_until_ms (groups->pdata[ended]) <= expected_ms)
        release_if_leased (world, fork, groups->pdata[ended++]);
      if (test_on (fork, request) != QUOIT_VERDICT_FITS)
        expected_ms = 0;
    }
  ck_assert_ptr_nonnull (start);
  ck_assert_int_eq (quoit_start_get_time_ms (start), expected_ms);
  world->n_starts += expected_ms > world->now_ms;
}

/* Whether the request fits without the groups in @set, and what they cost: the greatest priority, and their slices. */
static gboolean
fits_without (const World *world, const QuoitSnapshot *snapshot, const QuoitRequest *request, const GPtrArray *groups,
              guint set, gint *priority, guint *n_slices)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

  *priority = G_MININT;
  *n_slices = 0;
  for (guint g = 0; g < groups->len; g++)
    if ((set >> g & 1) != 0)
      {
        ck_assert (quoit_fork_release (fork, quoit_group_get_handle (groups->pdata[g]), world->now_ms, NULL));
        *priority = MAX (*priority, quoit_group_get_priority (groups->pdata[g]));
        *n_slices += quoit_group_get_n_slices (groups->pdata[g]);
      }
  return test_on (fork, request) == QUOIT_VERDICT_FITS;
}

static void
check_preemption (World *world, QuoitSnapshot *snapshot, const QuoitRequest *request, const Places *places)
{
  g_autoptr (QuoitRequest) important = quoit_request_copy (request, "important", NULL);
  g_autoptr (GPtrArray) groups = list_groups (snapshot), victims = g_ptr_array_new ();
  g_autoptr (QuoitPreemption) preemption = NULL;
  gint best_priority = G_MAXINT, priority;
  guint best = G_MAXUINT, n_slices, released = 0;

  quoit_request_set_priority (important, 2);
  for (guint g = 0; g < groups->len; g++)
    if (quoit_group_get_priority (groups->pdata[g]) < 2)
      g_ptr_array_add (victims, groups->pdata[g]);
  preemption = quoit_snapshot_find_preemption (snapshot, important, world->now_ms, NULL);
  ck_assert (victims->len <= MOST_GROUPS);
  for (guint set = 0; set < 1u << victims->len; set++)
    if (fits_without (world, snapshot, important, victims, set, &priority, &n_slices)
        && (priority < best_priority || (priority == best_priority && n_slices < best)))
      {
        best_priority = priority;
        best = n_slices;
      }
  ck_assert ((preemption != NULL) == (best != G_MAXUINT));
  if (preemption == NULL)
    return;
  for (uint32_t g = 0; g < quoit_preemption_get_n_groups (preemption); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, g);

      for (guint v = 0; v < victims->len; v++)
        if (quoit_group_get_id (victims->pdata[v]) == quoit_group_get_id (group))
          released |= 1u << v;
    }
  ck_assert (fits_without (world, snapshot, important, victims, released, &priority, &n_slices));
  ck_assert_int_eq (priority, best_priority);
  if (places->spread == QUOIT_DOMAIN_NONE)
    {
      ck_assert (quoit_preemption_is_cheapest (preemption));
      ck_assert_uint_eq (n_slices, best);
    }
  for (guint v = 0; v < victims->len; v++)
    if ((released >> v & 1) != 0)
      ck_assert (!fits_without (world, snapshot, important, victims, released & ~(1u << v), &priority, &n_slices));
  world->n_preempted += released != 0;
}

/* --- changes --- */

static void
world_reserve (World *world)
{
  const Places places = draw_places (world);
  guint least = 1 + draw (world, 6), most = draw (world, 2) == 0 ? least : least + draw (world, 4);
  gint64 lease_ms = draw (world, 3) == 0 ? 0 : minute_ms * (1 + draw (world, 20));
  g_autoptr (QuoitRequest) request = make_request (world, &places, least, most, lease_ms);
  g_autoptr (QuoitSnapshot) snapshot = world_snapshot (world);
  const Counts now = count (world, &places, snapshot), ever = count (world, &places, NULL);
  const guint n_now = most_of (&places, &now), n_ever = most_of (&places, &ever);
  const QuoitVerdict expected = n_now >= least    ? QUOIT_VERDICT_FITS
                                : n_ever >= least ? QUOIT_VERDICT_NOT_NOW
                                                  : QUOIT_VERDICT_NEVER;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  g_autoptr (QuoitGroup) group = NULL, forked = NULL;
  QuoitVerdict verdict;
  uint32_t n_free;
  DrawnGroup added = { .places = places };

  /* The group to be near to has ended. */
  if (report == NULL)
    return;
  ck_assert (quoit_snapshot_test (snapshot, request, &verdict, &n_free, NULL));
  ck_assert_int_eq (verdict, expected);
  ck_assert_uint_eq (n_free, n_now);
  ck_assert_int_eq (quoit_report_get_verdict (report), expected);
  ck_assert_uint_eq (quoit_report_get_n_free_now (report), n_now);
  ck_assert_uint_eq (quoit_report_get_n_possible (report), n_ever);
  if (expected != QUOIT_VERDICT_FITS)
    check_options (world, snapshot, request, report);
  if (expected != QUOIT_VERDICT_NEVER)
    {
      check_start (world, snapshot, request);
      check_preemption (world, snapshot, request, &places);
    }
  forked = quoit_fork_reserve (fork, request, world->now_ms, NULL, NULL);
  group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL);
  ck_assert ((group != NULL) == (expected == QUOIT_VERDICT_FITS) && (forked != NULL) == (group != NULL));
  world->n_refused += group == NULL;
  if (group == NULL)
    return;
  world->n_fits++;
  ck_assert_uint_eq (quoit_group_get_n_slices (group), MIN (most, n_now));
  check_group (world, &places, group, "reserve");
  g_strlcpy (added.name, quoit_group_get_name (group), sizeof added.name);
  g_array_append_val (world->groups, added);
}

/* Returns a group that lives, and its index; NULL: none drawn. */
static QuoitGroup *
draw_group (World *world, guint *index)
{
  g_autoptr (QuoitSnapshot) snapshot = world_snapshot (world);

  if (world->groups->len == 0)
    return NULL;
  *index = draw (world, world->groups->len);
  return quoit_snapshot_lookup_group (snapshot, g_array_index (world->groups, DrawnGroup, *index).name, NULL);
}

static void
world_resize (World *world)
{
  guint index = 0, n = 1 + draw (world, 6);
  g_autoptr (QuoitGroup) group = draw_group (world, &index);
  g_autoptr (QuoitSnapshot) snapshot = world_snapshot (world);
  g_autoptr (QuoitGroupChange) change = NULL;
  g_autoptr (GError) error = NULL;
  const Places *places;
  Counts counts;

  if (group == NULL)
    return;
  places = &g_array_index (world->groups, DrawnGroup, index).places;
  change = quoit_ledger_resize (world->ledger, quoit_group_get_handle (group), n, world->now_ms, NULL, &error);
  if (n <= quoit_group_get_n_slices (group))
    {
      if (change != NULL)
        check_group (world, places, quoit_group_change_get_after (change), "shrink");
      return;
    }
  if (g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_INVALID))
    return;
  counts = count (world, places, snapshot);
  add_members (world, places, group, FALSE, &counts);
  ck_assert ((change != NULL) == (most_of (places, &counts) >= n - quoit_group_get_n_slices (group)));
  if (change != NULL)
    check_group (world, places, quoit_group_change_get_after (change), "grow");
  world->n_grown += change != NULL;
}

static void
world_repair (World *world)
{
  guint index = 0, n_lost = 0;
  g_autoptr (QuoitGroup) group = draw_group (world, &index);
  g_autoptr (QuoitSnapshot) snapshot = world_snapshot (world);
  g_autoptr (QuoitGroupChange) change = NULL;
  const Places *places;
  Counts counts;

  if (group == NULL)
    return;
  places = &g_array_index (world->groups, DrawnGroup, index).places;
  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    n_lost += quoit_group_get_slice_state (group, s) != QUOIT_GROUP_SLICE_WHOLE;
  counts = count (world, places, snapshot);
  add_members (world, places, group, TRUE, &counts);
  change = quoit_ledger_repair (world->ledger, quoit_group_get_handle (group), world->now_ms, NULL, NULL);
  ck_assert ((change != NULL) == (most_of (places, &counts) >= n_lost));
  if (change != NULL)
    check_group (world, places, quoit_group_change_get_after (change), "repair");
  world->n_repaired += change != NULL && n_lost > 0;
}

static void
world_set_state (World *world)
{
  static const QuoitNodeState states[] = { QUOIT_NODE_ALIVE, QUOIT_NODE_DEAD, QUOIT_NODE_DRAINING };
  g_autofree char *node = g_strdup_printf ("%s-%u", world->slices[draw (world, world->n_slices)].name, draw (world, 4));

  ck_assert (quoit_ledger_set_node_state (world->ledger, node, states[draw (world, 3)], world->now_ms, NULL));
}

static void
world_release (World *world)
{
  guint index = 0;
  g_autoptr (QuoitGroup) group = draw_group (world, &index);

  if (group != NULL)
    ck_assert (quoit_ledger_release (world->ledger, quoit_group_get_handle (group), world->now_ms, NULL));
  if (world->groups->len > 0)
    g_array_remove_index (world->groups, index);
}

static void
world_plan (World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = world_snapshot (world);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  Places places[3];
  QuoitRequest *queue[3];
  g_autoptr (QuoitQueuePlan) plan = NULL;
  QuoitVerdict first, verdict;

  for (guint i = 0; i < G_N_ELEMENTS (queue); i++)
    {
      guint least = 1 + draw (world, 4);

      places[i] = draw_places (world);
      queue[i] = make_request (world, &places[i], least, least + draw (world, 3), minute_ms * (1 + draw (world, 9)));
      if (!quoit_snapshot_test (snapshot, queue[i], &verdict, NULL, NULL))
        quoit_request_set_near (queue[i], NULL, NULL);
    }
  ck_assert (quoit_snapshot_test (snapshot, queue[0], &first, NULL, NULL));
  plan = quoit_fork_plan_queue (fork, (const QuoitRequest *const *) queue, G_N_ELEMENTS (queue),
                                draw (world, 2) == 0 ? QUOIT_BACKFILL_EASY : QUOIT_BACKFILL_CONSERVATIVE, world->now_ms,
                                NULL);
  ck_assert ((quoit_queue_plan_get_state (plan, 0) == QUOIT_QUEUED_STARTS) == (first == QUOIT_VERDICT_FITS));
  ck_assert ((quoit_queue_plan_get_state (plan, 0) == QUOIT_QUEUED_REFUSED) == (first == QUOIT_VERDICT_NEVER));
  for (guint i = 0; i < G_N_ELEMENTS (queue); i++)
    {
      g_autoptr (QuoitGroup) group = NULL;

      if (i == 0 && quoit_queue_plan_get_state (plan, i) == QUOIT_QUEUED_WAITS)
        {
          g_autoptr (QuoitStart) start = quoit_snapshot_find_start (snapshot, queue[i], world->now_ms, NULL);

          ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, i), quoit_start_get_time_ms (start));
        }
      if (quoit_queue_plan_get_state (plan, i) == QUOIT_QUEUED_STARTS)
        {
          DrawnGroup added = { .places = places[i] };

          group = quoit_queue_plan_dup_group (plan, i);
          check_group (world, &places[i], group, "plan");
          g_strlcpy (added.name, quoit_group_get_name (group), sizeof added.name);
          g_array_append_val (world->groups, added);
          world->n_planned++;
        }
      quoit_request_free (queue[i]);
    }
  ck_assert (quoit_ledger_commit_fork (world->ledger, fork, world->now_ms, NULL));
}

static void
world_step (World *world)
{
  GError *error = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  world->now_ms += minute_ms * draw (world, 3);
  while (world->groups->len > MOST_GROUPS - 3)
    world_release (world);
  switch (draw (world, 10))
    {
    case 0:
    case 1:
      world_set_state (world);
      break;
    case 2:
      world_release (world);
      break;
    case 3:
    case 4:
      world_resize (world);
      break;
    case 5:
      world_repair (world);
      break;
    case 6:
      world_plan (world);
      break;
    default:
      world_reserve (world);
    }
  snapshot = quoit_ledger_snapshot (world->ledger);
  quoit_snapshot_check (snapshot, &error);
  ck_assert_ok (error);
}

START_TEST (every_answer_equals_that_of_the_definition)
{
  World sum = { 0 };

  for (guint32 seed = 1; seed <= 600; seed++)
    {
      g_autoptr (QuoitLedger) ledger = follower_new_ledger (seed);
      World world = { .ledger = ledger, .rand = g_rand_new_with_seed (seed), .now_ms = first_ms };
      GError *error = NULL;

      world.groups = g_array_new (FALSE, FALSE, sizeof (DrawnGroup));
      draw_fleet (&world);
      for (guint i = 0; i < 60; i++)
        world_step (&world);
      follower_replay (ledger);
      quoit_ledger_verify (ledger, &error);
      ck_assert_ok (error);
      sum.n_fits += world.n_fits;
      sum.n_refused += world.n_refused;
      sum.n_options += world.n_options;
      sum.n_starts += world.n_starts;
      sum.n_preempted += world.n_preempted;
      sum.n_grown += world.n_grown;
      sum.n_repaired += world.n_repaired;
      sum.n_planned += world.n_planned;
      g_array_unref (world.groups);
      g_rand_free (world.rand);
    }
  ck_assert_uint_gt (sum.n_fits, 500);
  ck_assert_uint_gt (sum.n_refused, 500);
  ck_assert_uint_gt (sum.n_options, 500);
  ck_assert_uint_gt (sum.n_starts, 100);
  ck_assert_uint_gt (sum.n_preempted, 100);
  ck_assert_uint_gt (sum.n_grown, 50);
  ck_assert_uint_gt (sum.n_repaired, 50);
  ck_assert_uint_gt (sum.n_planned, 200);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("domains-drawn");
  TCase *tcase = tcase_create ("domains-drawn");

  tcase_set_timeout (tcase, 240);
  tcase_add_test (tcase, every_answer_equals_that_of_the_definition);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
