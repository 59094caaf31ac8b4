/* SPDX-License-Identifier: Apache-2.0 */
/* Which places the parts of a request get, compared with a search of all places of small slices: the cheapest ones,
 * among the four cheapest the one that costs least over time, and the first place by the other policies. A second
 * ledger with the same calls makes the same choices. */
#include "../support.h"
#include "../sanitized.h"

enum {
  N_WORLDS = IS_SANITIZED ? 20 : 200,
  N_STEPS = 70,
  SIDE = 4,
  N_HOSTS = SIDE * SIDE,
  MOST_SLICES = 4,
  MOST_PARTS = 4,
  MOST_GROUPS = 256,
  MOST_CANDIDATES = 1024,
  N_COMPARED = 4,
  WEIGHT_NOW = 6,
  STEP_MS = 10
};

/* The catalogue's topologies of v6e that can be made up of hosts of 2x2 chips in a slice of 8x8. */
static const struct {
  const char *topology;
  guint x, y; /* hosts */
} shapes[] = { { "2x2", 1, 1 }, { "2x4", 1, 2 }, { "4x4", 2, 2 }, { "4x8", 2, 4 }, { "8x8", 4, 4 } };

typedef struct {
  guint slice;
  guint16 mask;
} Part;

/* A group with its parts and what is known of its end; 0: nothing. */
typedef struct {
  guint shape;
  gboolean is_aligned;
  QuoitPlacePolicy policy;
  gint64 end_ms;
  guint n_parts;
  Part parts[MOST_PARTS + 1];
} Member;

typedef struct {
  GRand *rand;
  guint32 seed;
  guint n_slices, n_named;
  QuoitLedger *ledger, *twin;
  gint64 now_ms, clock_ms;
  Member groups[MOST_GROUPS]; /* by number in the name */
  guint16 dead[MOST_SLICES];
  guint n_compared, n_over_time, n_grown, n_mended;
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- places and costs --- */

/* Returns the hosts of the box, or 0 if it is no box of the slice. */
static guint16
box_mask (guint shape, guint turn, guint origin)
{
  const guint w = turn == 0 ? shapes[shape].x : shapes[shape].y, h = turn == 0 ? shapes[shape].y : shapes[shape].x;
  const guint x = origin % SIDE, y = origin / SIDE;
  guint16 mask = 0;

  if (x + w > SIDE || y + h > SIDE || (turn == 1 && w == h))
    return 0;
  for (guint j = 0; j < h; j++)
    for (guint i = 0; i < w; i++)
      mask |= (guint16) (1u << ((y + j) * SIDE + x + i));
  return mask;
}

/* Returns how many places of @shape are in @free and meet @mask. */
static guint
count_places (guint shape, guint16 free, guint16 mask)
{
  guint n = 0;

  for (guint turn = 0; turn < 2; turn++)
    for (guint origin = 0; origin < N_HOSTS; origin++)
      {
        const guint16 box = box_mask (shape, turn, origin);

        n += box != 0 && (box & ~free) == 0 && (box & mask) != 0;
      }
  return n;
}

static guint64
count_cost (guint16 free, guint16 mask)
{
  guint64 cost = 0;

  for (guint t = 0; t < G_N_ELEMENTS (shapes); t++)
    {
      const guint64 weight
          = ((guint64) (4 * shapes[t].x * shapes[t].y) << 16) / count_places (t, G_MAXUINT16, G_MAXUINT16);

      cost += weight * count_places (t, free, mask);
    }
  return cost;
}

/* --- the expected choice --- */

/* Returns the hosts of the slice that are free at @time_ms, or now if it is 0. */
static guint16
free_at (const World *world, guint slice, gint64 time_ms)
{
  guint16 free = (guint16) ~world->dead[slice];

  for (guint g = 0; g < world->n_named; g++)
    for (guint p = 0; p < world->groups[g].n_parts; p++)
      if (world->groups[g].parts[p].slice == slice
          && (time_ms == 0 || world->groups[g].end_ms == 0 || world->groups[g].end_ms > time_ms))
        free &= (guint16) ~world->groups[g].parts[p].mask;
  return free;
}

typedef struct {
  guint64 cost;
  guint slice, origin, turn;
  guint16 mask;
} Candidate;

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;
  const gint64 differences[] = { x->cost < y->cost ? -1 : x->cost > y->cost, (gint64) x->slice - y->slice,
                                 (gint64) x->origin - y->origin, (gint64) x->turn - y->turn };

  for (guint i = 0; i < G_N_ELEMENTS (differences); i++)
    if (differences[i] != 0)
      return differences[i] < 0 ? -1 : 1;
  return 0;
}

static guint64
policy_cost (QuoitPlacePolicy policy, guint16 free, guint16 mask)
{
  const guint n_free = (guint) __builtin_popcount (free);

  switch (policy)
    {
    case QUOIT_PLACE_FIRST:
      return 0;
    case QUOIT_PLACE_PACK:
      return n_free;
    case QUOIT_PLACE_SPREAD:
      return N_HOSTS - n_free;
    default:
      return count_cost (free, mask);
    }
}

/* Chooses one place. @used: hosts of parts that were chosen before. Returns FALSE if there is none. */
static gboolean
choose (World *world, guint shape, gboolean is_aligned, QuoitPlacePolicy policy, gint64 length_ms, const guint16 *used,
        Part *part)
{
  Candidate list[MOST_CANDIDATES];
  guint n = 0, best = 0;
  guint64 least = G_MAXUINT64;

  for (guint s = 0; s < world->n_slices; s++)
    for (guint origin = 0; origin < N_HOSTS; origin++)
      for (guint turn = 0; turn < 2; turn++)
        {
          const guint16 free = free_at (world, s, 0) & (guint16) ~used[s], mask = box_mask (shape, turn, origin);
          /* In a square slice, an aligned part lies like Ray's, with its first side along y. */
          const gboolean is_wanted
              = !is_aligned
                || (turn == (shapes[shape].x != shapes[shape].y) && origin % SIDE % shapes[shape].y == 0
                    && origin / SIDE % shapes[shape].x == 0);

          if (mask != 0 && (mask & ~free) == 0 && is_wanted)
            list[n++] = (Candidate) { policy_cost (policy, free, mask), s, origin, turn, mask };
        }
  if (n == 0)
    return FALSE;
  qsort (list, n, sizeof *list, compare);
  for (guint i = 0; i < MIN (n, N_COMPARED) && policy == QUOIT_PLACE_BEST && length_ms > 0; i++)
    {
      guint64 cost = WEIGHT_NOW * list[i].cost;

      for (gint j = 1; j <= 3; j++)
        cost += count_cost (free_at (world, list[i].slice, world->clock_ms + length_ms * j / 3)
                                & (guint16) ~used[list[i].slice],
                            list[i].mask);
      if (cost < least)
        least = cost, best = i;
    }
  world->n_over_time += best > 0;
  *part = (Part) { list[best].slice, list[best].mask };
  return TRUE;
}

/* --- steps --- */

static void
list_parts (World *world, const QuoitGroup *group, Member *member)
{
  member->n_parts = quoit_group_get_n_slices (group);
  for (uint32_t p = 0; p < member->n_parts; p++)
    {
      member->parts[p].mask = 0;
      for (uint32_t w = 0; w < quoit_group_get_n_workers (group, p); w++)
        {
          guint worker;

          require (sscanf (quoit_group_get_worker_name (group, p, w), "p-%u-%u", &member->parts[p].slice, &worker) == 2,
                   "seed %u: a name", world->seed);
          member->parts[p].mask |= (guint16) (1u << worker);
        }
    }
}

static gboolean
has_part (const Member *member, const Part *part)
{
  for (guint p = 0; p < member->n_parts; p++)
    if (member->parts[p].slice == part->slice && member->parts[p].mask == part->mask)
      return TRUE;
  return FALSE;
}

static void
reserve (World *world)
{
  const guint shape = draw (world, 4), n = 1 + draw (world, MOST_PARTS), number = world->n_named;
  const gboolean is_aligned = draw (world, 4) == 0;
  const QuoitPlacePolicy policy = draw (world, 2) == 0 ? QUOIT_PLACE_BEST : (QuoitPlacePolicy) draw (world, 4);
  const gint64 runtime_ms = draw (world, 3) == 0 ? 0 : 1 + draw (world, 400);
  const gint64 lease_ms = draw (world, 3) == 0 ? STEP_MS * N_STEPS + draw (world, 1000) : 0;
  const gint64 length_ms = runtime_ms != 0 ? runtime_ms : lease_ms;
  g_autofree char *name = g_strdup_printf ("g%u", number);
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", shapes[shape].topology, n);
  g_autoptr (QuoitGroup) group = NULL, same = NULL;
  g_autoptr (GError) error = NULL;
  Member *member = &world->groups[number], again = { 0 };
  guint16 used[MOST_SLICES] = { 0 };
  Part expected[MOST_PARTS];
  guint n_found = 0;

  require (quoit_request_set_cut (request, is_aligned ? QUOIT_CUT_ALIGNED : QUOIT_CUT_ANY, NULL)
               && quoit_request_set_place (request, policy, NULL)
               && (runtime_ms == 0 || quoit_request_set_expected_runtime_ms (request, runtime_ms, NULL))
               && (lease_ms == 0 || quoit_request_set_lease_ms (request, lease_ms, NULL)),
           "seed %u", world->seed);
  while (n_found < n && choose (world, shape, is_aligned, policy, length_ms, used, &expected[n_found]))
    {
      used[expected[n_found].slice] |= expected[n_found].mask;
      n_found++;
    }
  group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, &error);
  same = quoit_ledger_reserve (world->twin, request, world->now_ms, NULL, NULL);
  require (group != NULL || n_found < n, "seed %u, g%u: %s", world->seed, number, error_text (error));
  require ((group == NULL) == (same == NULL), "seed %u", world->seed);
  if (group == NULL)
    return;
  list_parts (world, group, member);
  list_parts (world, same, &again);
  for (guint p = 0; p < n; p++)
    {
      require (again.parts[p].slice == member->parts[p].slice && again.parts[p].mask == member->parts[p].mask,
               "seed %u, g%u: the twin differs", world->seed, number);
      /* If fewer parts are found one after the other, they are packed anew. */
      require (n_found < n || has_part (member, &expected[p]), "seed %u, g%u, part %u, policy %d: p-%u %x is expected",
               world->seed, number, p, (int) policy, expected[p].slice, expected[p].mask);
    }
  member->shape = shape;
  member->is_aligned = is_aligned;
  member->policy = policy;
  member->end_ms = length_ms == 0 ? 0 : world->now_ms + length_ms;
  world->clock_ms = world->now_ms;
  world->n_named++;
  world->n_compared += n_found == n;
}

/* Returns a live group, or NULL. */
static Member *
draw_member (World *world, guint *number)
{
  if (world->n_named == 0)
    return NULL;
  *number = draw (world, world->n_named);
  return world->groups[*number].n_parts == 0 ? NULL : &world->groups[*number];
}

static guint
count_lost (const World *world, const Member *member)
{
  guint n = 0;

  for (guint p = 0; p < member->n_parts; p++)
    n += (world->dead[member->parts[p].slice] & member->parts[p].mask) != 0;
  return n;
}

/* Returns the length for which places are compared: what the group has left. */
static gint64
length_left (const World *world, const Member *member)
{
  return member->end_ms == 0 ? 0 : MAX (member->end_ms - world->clock_ms, 0);
}

/* Changes the group in both ledgers in the same way. Returns FALSE if it is refused. */
static gboolean
change_group (World *world, guint number, guint n_parts, Member *after)
{
  g_autofree char *name = g_strdup_printf ("g%u", number);
  QuoitLedger *ledgers[] = { world->ledger, world->twin };
  gboolean is_changed[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (QuoitGroupChange) change
          = n_parts == 0 ? quoit_ledger_repair (ledgers[i], name, world->now_ms, NULL, NULL)
                         : quoit_ledger_resize (ledgers[i], name, n_parts, world->now_ms, NULL, NULL);

      is_changed[i] = change != NULL;
      if (change != NULL)
        list_parts (world, quoit_group_change_get_after (change), &after[i]);
    }
  require (is_changed[0] == is_changed[1], "seed %u, %s: the twin differs", world->seed, name);
  return is_changed[0];
}

static void
grow (World *world)
{
  const guint16 used[MOST_SLICES] = { 0 };
  guint number;
  Member *member = draw_member (world, &number), after[2] = { { 0 } };
  Part expected;
  gboolean is_found;

  if (member == NULL || member->n_parts > MOST_PARTS || count_lost (world, member) > 0)
    return;
  is_found
      = choose (world, member->shape, member->is_aligned, member->policy, length_left (world, member), used, &expected);
  if (!change_group (world, number, member->n_parts + 1, after))
    {
      require (!is_found, "seed %u, g%u: another part fits", world->seed, number);
      return;
    }
  require (is_found && has_part (&after[0], &expected) && has_part (&after[1], &expected),
           "seed %u, g%u: p-%u %x is expected", world->seed, number, expected.slice, expected.mask);
  memcpy (member->parts, after[0].parts, sizeof member->parts);
  member->n_parts = after[0].n_parts;
  world->clock_ms = world->now_ms;
  world->n_grown++;
}

/* Repairs a group that has lost one part. */
static void
mend (World *world)
{
  const guint16 used[MOST_SLICES] = { 0 };
  guint number, n_kept = 0;
  Member *member = draw_member (world, &number), before, after[2] = { { 0 } };
  Part expected;
  gboolean is_found;

  if (member == NULL || count_lost (world, member) != 1)
    return;
  before = *member;
  for (guint p = 0; p < before.n_parts; p++)
    if ((world->dead[before.parts[p].slice] & before.parts[p].mask) == 0)
      member->parts[n_kept++] = before.parts[p];
  member->n_parts = n_kept;
  is_found
      = choose (world, member->shape, member->is_aligned, member->policy, length_left (world, member), used, &expected);
  if (!change_group (world, number, 0, after))
    {
      require (!is_found, "seed %u, g%u: another part fits", world->seed, number);
      *member = before;
      return;
    }
  require (is_found && has_part (&after[0], &expected) && has_part (&after[1], &expected),
           "seed %u, g%u: p-%u %x is expected", world->seed, number, expected.slice, expected.mask);
  memcpy (member->parts, after[0].parts, sizeof member->parts);
  member->n_parts = after[0].n_parts;
  world->clock_ms = world->now_ms;
  world->n_mended++;
}

static void
release (World *world)
{
  const guint number = world->n_named == 0 ? 0 : draw (world, world->n_named);
  g_autofree char *name = g_strdup_printf ("g%u", number);

  if (world->n_named == 0 || world->groups[number].n_parts == 0)
    return;
  require (quoit_ledger_release (world->ledger, name, world->now_ms, NULL)
               && quoit_ledger_release (world->twin, name, world->now_ms, NULL),
           "seed %u, %s", world->seed, name);
  world->groups[number].n_parts = 0;
  world->clock_ms = world->now_ms;
}

static void
kill_or_revive (World *world)
{
  const guint slice = draw (world, world->n_slices), host = draw (world, N_HOSTS);
  const gboolean was_dead = (world->dead[slice] >> host & 1) != 0, dies = draw (world, 2) == 0;
  const QuoitNodeState state = dies ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE;
  g_autofree char *name = g_strdup_printf ("p-%u-%u", slice, host);

  if (was_dead == dies)
    return;
  require (quoit_ledger_set_node_state (world->ledger, name, state, world->now_ms, NULL)
               && quoit_ledger_set_node_state (world->twin, name, state, world->now_ms, NULL),
           "seed %u, %s", world->seed, name);
  world->dead[slice] ^= (guint16) (1u << host);
  world->clock_ms = world->now_ms;
}

static void
run_world (World *world)
{
  static void (*const steps[]) (World *) = { reserve, reserve, reserve, release, kill_or_revive, grow, mend };
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  world->n_slices = 1 + draw (world, MOST_SLICES);
  text = g_strdup_printf ("v6e 8x8 x%u pool=p hostchips=4", world->n_slices);
  world->ledger = quoit_ledger_open_memory ();
  world->twin = quoit_ledger_open_memory ();
  require (import_text (world->ledger, text, NULL, world->now_ms, &error)
               && import_text (world->twin, text, NULL, world->now_ms, &error),
           "%s: %s", text, error_text (error));
  world->clock_ms = world->now_ms;
  for (guint step = 0; step < N_STEPS; step++)
    {
      world->now_ms += STEP_MS;
      steps[draw (world, G_N_ELEMENTS (steps))](world);
    }
  require_consistent (world->ledger, text);
  quoit_ledger_unref (world->ledger);
  quoit_ledger_unref (world->twin);
}

int
main (void)
{
  const guint32 first = random_seed ("place-policies", 1);
  const guint n_worlds = scaled (N_WORLDS);
  guint n_compared = 0, n_over_time = 0, n_grown = 0, n_mended = 0;

  for (guint i = 0; i < n_worlds; i++)
    {
      g_autofree World *world = g_new0 (World, 1);

      world->rand = g_rand_new_with_seed (first + i);
      world->seed = first + i;
      world->now_ms = T0;
      run_world (world);
      g_rand_free (world->rand);
      n_compared += world->n_compared;
      n_over_time += world->n_over_time;
      n_grown += world->n_grown;
      n_mended += world->n_mended;
    }
  printf ("%u groups compared, %u grown, %u mended, %u places chosen because of later times\n", n_compared, n_grown,
          n_mended, n_over_time);
  require (n_compared > 3 * n_worlds && n_over_time > n_worlds / 4 && n_grown > n_worlds / 2 && n_mended > n_worlds / 8,
           "few comparisons");
  printf ("%u passed, 0 failed\n", n_worlds);
  return EXIT_SUCCESS;
}
