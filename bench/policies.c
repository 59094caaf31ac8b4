/* SPDX-License-Identifier: Apache-2.0 */
/* Compares policies for the places of parts by simulation: 16 slices of 8x8 hosts, jobs that arrive, run or are turned
 * away, and the utilization that each policy reaches on the same arrivals. The policies of quoit are simulated with the
 * public API, one like FGD (least fragmentation) on bit masks. `shapeless` grants each job for which enough hosts are
 * free, wherever they are, and shows how much shapes cost. Prints a table, and which goals are met.
 *
 *   bench/policies [JOBS [SEEDS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/quoit.h>

enum { N_PODS = 16, SIDE = 8, N_HOSTS = SIDE * SIDE, N_SHAPES = 7, MEAN_MS = 3600000 };

static const gint64 start_ms = G_GINT64_CONSTANT (1750000000000);

static const struct {
  const char *topology;
  guint x, y; /* hosts */
} shapes[N_SHAPES] = { { "2x2", 1, 1 }, { "2x4", 1, 2 },  { "4x4", 2, 2 },  { "4x8", 2, 4 },
                       { "8x8", 4, 4 }, { "8x16", 4, 8 }, { "16x16", 8, 8 } };

typedef enum { OVER_TIME, STATIC, FIRST, PACK, SPREAD, FGD, SHAPELESS, N_POLICIES } Policy;

static const char *const policy_names[]
    = { "over time", "static", "first-fit", "best-fit", "spread", "FGD-like", "shapeless" };

typedef enum { LOGNORMAL, HEAVY, EQUAL } Lengths;

/* Mixes of jobs. Each number is a share of the jobs. */
static const double varied[N_SHAPES] = { 40, 20, 15, 10, 10, 4, 1 };
static const double even[N_SHAPES] = { 1, 1, 1, 1, 1, 1, 1 };
static const double large[N_SHAPES] = { 5, 5, 10, 20, 30, 20, 10 };
static const double small[N_SHAPES] = { 140, 24, 16, 10, 6, 3, 1 };
static const double medium[N_SHAPES] = { 29, 29, 29, 60, 84, 54, 15 };

/* The goals were set for the first scenarios, N_WITH_GOALS of them: each mix, without and with dead hosts, and one with
 * wrong estimates. */
enum { N_WITH_GOALS = 11 };

static const struct {
  const char *name;
  double load; /* requested hosts and time, of those that there are */
  const double *mix;
  Lengths lengths;
  double dead; /* share of the hosts */
  double blur; /* estimates are wrong by up to this power of 2 */
} scenarios[] = {
  { "varied", 1.0, varied, LOGNORMAL, 0, 0 },
  { "even", 1.0, even, LOGNORMAL, 0, 0 },
  { "large", 1.0, large, LOGNORMAL, 0, 0 },
  { "small", 1.0, small, LOGNORMAL, 0, 0 },
  { "medium", 1.0, medium, LOGNORMAL, 0, 0 },
  { "varied, 2 % dead", 1.0, varied, LOGNORMAL, 0.02, 0 },
  { "even, 2 % dead", 1.0, even, LOGNORMAL, 0.02, 0 },
  { "large, 2 % dead", 1.0, large, LOGNORMAL, 0.02, 0 },
  { "small, 2 % dead", 1.0, small, LOGNORMAL, 0.02, 0 },
  { "medium, 2 % dead", 1.0, medium, LOGNORMAL, 0.02, 0 },
  { "varied, wrong estimates", 1.0, varied, LOGNORMAL, 0, 1 },
  { "varied, heavy tail", 1.0, varied, HEAVY, 0, 0 },
  { "varied, equal lengths", 1.0, varied, EQUAL, 0, 0 },
  { "varied, low load", 0.7, varied, LOGNORMAL, 0, 0 },
  { "varied, high load", 1.5, varied, LOGNORMAL, 0, 0 },
};

typedef struct {
  gint64 at_ms, length_ms, estimate_ms;
  guint shape;
} Job;

/* --- arrivals --- */

/* Lengths have the mean 1. */
static double
draw_length (GRand *rand, Lengths lengths)
{
  const double u = g_rand_double_range (rand, 1e-9, 1), angle = 2 * G_PI * g_rand_double (rand);

  if (lengths == EQUAL)
    return 1;
  /* A Pareto distribution, cut at 50. */
  if (lengths == HEAVY)
    return fmin (50, pow (u, -1 / 1.5) / 3);
  return exp (sqrt (-2 * log (u)) * cos (angle) - 0.5);
}

static guint
draw_shape (GRand *rand, const double *mix)
{
  double sum = 0, at;
  guint shape = 0;

  for (guint s = 0; s < N_SHAPES; s++)
    sum += mix[s];
  at = g_rand_double (rand) * sum;
  while (shape + 1 < N_SHAPES && at >= mix[shape])
    at -= mix[shape++];
  return shape;
}

static Job *
draw_jobs (GRand *rand, guint scenario, guint n)
{
  Job *jobs = g_new (Job, n);
  double hosts = 0, total = 0, at = 0;

  for (guint s = 0; s < N_SHAPES; s++)
    {
      hosts += scenarios[scenario].mix[s] * shapes[s].x * shapes[s].y;
      total += scenarios[scenario].mix[s];
    }
  for (guint i = 0; i < n; i++)
    {
      const double length = fmax (0.001, draw_length (rand, scenarios[scenario].lengths));
      const double wrong = exp2 (scenarios[scenario].blur * g_rand_double_range (rand, -1, 1));

      at += -log (g_rand_double_range (rand, 1e-9, 1)) * hosts / total / (scenarios[scenario].load * N_PODS * N_HOSTS);
      jobs[i] = (Job) { start_ms + (gint64) (at * MEAN_MS), 1 + (gint64) (length * MEAN_MS),
                        1 + (gint64) (length * wrong * MEAN_MS), draw_shape (rand, scenarios[scenario].mix) };
    }
  return jobs;
}

/* --- policies on masks --- */

typedef struct {
  guint64 free[N_PODS];
  double shares[N_SHAPES];
  GArray *boxes[N_SHAPES]; /* of guint64 */
} Masks;

static void
list_boxes (guint shape, GArray *boxes)
{
  for (guint turn = 0; turn < (shapes[shape].x == shapes[shape].y ? 1u : 2u); turn++)
    for (guint y = 0; y < SIDE; y++)
      for (guint x = 0; x < SIDE; x++)
        {
          const guint w = turn == 0 ? shapes[shape].x : shapes[shape].y,
                      h = turn == 0 ? shapes[shape].y : shapes[shape].x;
          guint64 box = 0;

          if (x + w > SIDE || y + h > SIDE)
            continue;
          for (guint j = 0; j < h; j++)
            box |= (((guint64) 1 << w) - 1) << ((y + j) * SIDE + x);
          g_array_append_val (boxes, box);
        }
}

/* Returns the free hosts that no place of a shape has, weighed by the shares of the shapes. */
static double
fragmentation (const Masks *masks, guint64 free)
{
  double sum = 0;

  for (guint s = 0; s < N_SHAPES; s++)
    {
      guint64 covered = 0;

      for (guint b = 0; b < masks->boxes[s]->len && masks->shares[s] > 0; b++)
        {
          const guint64 box = g_array_index (masks->boxes[s], guint64, b);

          covered |= (box & ~free) == 0 ? box : 0;
        }
      sum += masks->shares[s] * __builtin_popcountll (free & ~covered);
    }
  return sum;
}

/* Takes the place that adds least fragmentation. Returns FALSE if there is none. */
static gboolean
take_least_fragmenting (Masks *masks, guint shape, guint *pod, guint64 *mask)
{
  double least = 1e300;

  for (guint p = 0; p < N_PODS; p++)
    {
      const double before = fragmentation (masks, masks->free[p]);
      gboolean is_known = FALSE;

      for (guint other = 0; other < p; other++)
        is_known = is_known || masks->free[other] == masks->free[p];
      for (guint b = 0; b < masks->boxes[shape]->len && !is_known; b++)
        {
          const guint64 box = g_array_index (masks->boxes[shape], guint64, b);
          double added;

          if ((box & ~masks->free[p]) != 0)
            continue;
          added = fragmentation (masks, masks->free[p] & ~box) - before;
          if (added >= least - 1e-12)
            continue;
          least = added;
          *pod = p;
          *mask = box;
        }
    }
  if (least < 1e300)
    masks->free[*pod] &= ~*mask;
  return least < 1e300;
}

/* Takes any free hosts, as if jobs had no shapes. Returns FALSE if there are too few. */
static gboolean
take_any (guint *n_free, guint shape)
{
  const guint n = shapes[shape].x * shapes[shape].y;

  if (*n_free < n)
    return FALSE;
  *n_free -= n;
  return TRUE;
}

/* --- simulation --- */

typedef struct {
  gint64 end_ms;
  guint job, pod;
  guint64 mask;
} Running;

typedef struct {
  Policy policy;
  QuoitLedger *ledger; /* NULL: masks */
  Masks masks;
  guint n_free;    /* hosts, for jobs without shapes */
  GArray *running; /* of Running, the last one ends first */
} Simulation;

static gboolean
start_job (Simulation *simulation, const Job *job, guint number, Running *running)
{
  static const QuoitPlacePolicy policies[] = { [OVER_TIME] = QUOIT_PLACE_BEST,
                                               [STATIC] = QUOIT_PLACE_BEST,
                                               [FIRST] = QUOIT_PLACE_FIRST,
                                               [PACK] = QUOIT_PLACE_PACK,
                                               [SPREAD] = QUOIT_PLACE_SPREAD };
  g_autofree char *name = g_strdup_printf ("j%u", number);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  if (simulation->policy == SHAPELESS)
    return take_any (&simulation->n_free, job->shape);
  if (simulation->ledger == NULL)
    return take_least_fragmenting (&simulation->masks, job->shape, &running->pod, &running->mask);
  request = quoit_request_new (name, NULL);
  if (!quoit_request_set_accelerator (request, "v6e", NULL)
      || !quoit_request_set_topology (request, shapes[job->shape].topology, NULL)
      || !quoit_request_set_slices (request, 1, NULL) || !quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL)
      || !quoit_request_set_place (request, policies[simulation->policy], NULL)
      || (simulation->policy == OVER_TIME && !quoit_request_set_expected_runtime_ms (request, job->estimate_ms, NULL)))
    exit (EXIT_FAILURE);
  group = quoit_ledger_reserve (simulation->ledger, request, job->at_ms, NULL, NULL);
  return group != NULL;
}

static void
end_job (Simulation *simulation, const Job *job, const Running *running)
{
  g_autofree char *name = g_strdup_printf ("j%u", running->job);

  if (simulation->policy == SHAPELESS)
    simulation->n_free += shapes[job->shape].x * shapes[job->shape].y;
  else if (simulation->ledger == NULL)
    simulation->masks.free[running->pod] |= running->mask;
  else if (!quoit_ledger_release (simulation->ledger, name, running->end_ms, NULL))
    exit (EXIT_FAILURE);
}

static void
insert_running (GArray *list, const Running *running)
{
  guint at = list->len;

  while (at > 0 && g_array_index (list, Running, at - 1).end_ms < running->end_ms)
    at--;
  g_array_insert_val (list, at, *running);
}

/* Returns the share of hosts and time that jobs used, after the first tenth of the jobs. */
static double
run_jobs (Simulation *simulation, const Job *jobs, guint n)
{
  const gint64 from_ms = jobs[n / 10].at_ms, until_ms = jobs[n - 1].at_ms;
  double used = 0;

  for (guint i = 0; i < n; i++)
    {
      Running running = { jobs[i].at_ms + jobs[i].length_ms, i, 0, 0 };
      GArray *list = simulation->running;
      gint64 begin_ms, end_ms;

      while (list->len > 0 && g_array_index (list, Running, list->len - 1).end_ms <= jobs[i].at_ms)
        {
          const Running *ended = &g_array_index (list, Running, list->len - 1);

          end_job (simulation, &jobs[ended->job], ended);
          g_array_set_size (list, list->len - 1);
        }
      if (!start_job (simulation, &jobs[i], i, &running))
        continue;
      insert_running (list, &running);
      begin_ms = MAX (jobs[i].at_ms, from_ms);
      end_ms = MIN (running.end_ms, until_ms);
      if (end_ms > begin_ms)
        used += (double) (end_ms - begin_ms) * shapes[jobs[i].shape].x * shapes[jobs[i].shape].y;
    }
  return used / ((double) (until_ms - from_ms) * N_PODS * N_HOSTS);
}

static QuoitLedger *
make_ledger (const guint64 *dead)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autofree char *text = g_strdup_printf ("v6e 16x16 x%d pool=p hostchips=4", N_PODS);
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  QuoitImport *import = quoit_ledger_import (ledger, input, start_ms, NULL);

  quoit_input_free (input);
  if (import == NULL)
    exit (EXIT_FAILURE);
  quoit_import_free (import);
  for (guint p = 0; p < N_PODS; p++)
    for (guint host = 0; host < N_HOSTS; host++)
      {
        g_autofree char *name = g_strdup_printf ("p-%u-%u", p, host);

        if ((dead[p] >> host & 1) != 0 && !quoit_ledger_set_node_state (ledger, name, QUOIT_NODE_DEAD, start_ms, NULL))
          exit (EXIT_FAILURE);
      }
  return ledger;
}

static double
simulate (Policy policy, guint scenario, const Job *jobs, guint n, const guint64 *dead)
{
  Simulation simulation = { .policy = policy, .running = g_array_new (FALSE, FALSE, sizeof (Running)) };
  double used, total = 0;

  if (policy != FGD && policy != SHAPELESS)
    simulation.ledger = make_ledger (dead);
  for (guint p = 0; p < N_PODS; p++)
    {
      simulation.masks.free[p] = ~dead[p];
      simulation.n_free += (guint) __builtin_popcountll (~dead[p]);
    }
  for (guint s = 0; s < N_SHAPES; s++)
    total += scenarios[scenario].mix[s];
  for (guint s = 0; s < N_SHAPES; s++)
    {
      simulation.masks.shares[s] = scenarios[scenario].mix[s] / total;
      simulation.masks.boxes[s] = g_array_new (FALSE, FALSE, sizeof (guint64));
      list_boxes (s, simulation.masks.boxes[s]);
    }
  used = run_jobs (&simulation, jobs, n);
  for (guint s = 0; s < N_SHAPES; s++)
    g_array_unref (simulation.masks.boxes[s]);
  g_array_unref (simulation.running);
  quoit_ledger_unref (simulation.ledger);
  return used;
}

/* Adds the utilization of each policy, in percent, with the same dead hosts and arrivals. */
static void
run_seed (guint scenario, guint seed, guint n, double *sums)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1000 * scenario + seed);
  g_autofree Job *jobs = draw_jobs (rand, scenario, n);
  guint64 dead[N_PODS] = { 0 };

  for (guint p = 0; p < N_PODS; p++)
    for (guint host = 0; host < N_HOSTS; host++)
      if (g_rand_double (rand) < scenarios[scenario].dead)
        dead[p] |= (guint64) 1 << host;
  for (guint policy = 0; policy < N_POLICIES; policy++)
    sums[policy] += 100 * simulate ((Policy) policy, scenario, jobs, n, dead);
}

/* --- goals --- */

typedef struct {
  double least, sum, sum_dead; /* over time minus first-fit; with dead hosts */
  guint n_dead;
  double least_fgd, least_static;
} Goals;

static void
judge (const Goals *goals)
{
  const struct {
    const char *what;
    double reached, goal;
  } rows[] = {
    { "over time minus first-fit, least", goals->least, 0.9 },
    { "over time minus first-fit, mean", goals->sum / N_WITH_GOALS, 3 },
    { "over time minus first-fit, mean with 2 % dead", goals->sum_dead / goals->n_dead, 7 },
    { "over time minus FGD-like, least", goals->least_fgd, 0.7 },
    { "static minus first-fit, least", goals->least_static, -0.2 },
  };

  printf ("\ngoals for the first %d scenarios:\n%-50s %8s %6s\n", N_WITH_GOALS, "goal (points of utilization)",
          "reached", "goal");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    printf ("%-50s %+8.2f %+6.1f %s\n", rows[i].what, rows[i].reached, rows[i].goal,
            rows[i].reached >= rows[i].goal ? "met" : "not met");
}

int
main (int argc, char **argv)
{
  const guint n = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 6000;
  const guint n_seeds = argc > 2 ? (guint) g_ascii_strtoull (argv[2], NULL, 10) : 4;
  Goals goals = { .least = 1e9, .least_fgd = 1e9, .least_static = 1e9 };

  if (n < 100 || n_seeds == 0)
    return fputs ("policies: expected at least 100 jobs and 1 seed\n", stderr), 2;
  printf ("%u jobs, %u seeds; utilization in percent, and over time minus the others\n", n, n_seeds);
  printf ("%-26s %9s", "scenario", policy_names[OVER_TIME]);
  for (guint p = 1; p < N_POLICIES; p++)
    printf (" %9s", policy_names[p]);
  printf ("\n");
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++)
    {
      double sums[N_POLICIES] = { 0 }, above_first;

      for (guint seed = 0; seed < n_seeds; seed++)
        run_seed (i, seed, n, sums);
      printf ("%-26s %9.2f", scenarios[i].name, sums[OVER_TIME] / n_seeds);
      for (guint p = 1; p < N_POLICIES; p++)
        printf (" %+9.2f", (sums[OVER_TIME] - sums[p]) / n_seeds);
      printf ("\n");
      fflush (stdout);
      if (i >= N_WITH_GOALS)
        continue;
      above_first = (sums[OVER_TIME] - sums[FIRST]) / n_seeds;
      goals.sum += above_first;
      goals.least = MIN (goals.least, above_first);
      if (scenarios[i].dead > 0)
        {
          goals.sum_dead += above_first;
          goals.n_dead++;
        }
      goals.least_fgd = MIN (goals.least_fgd, (sums[OVER_TIME] - sums[FGD]) / n_seeds);
      goals.least_static = MIN (goals.least_static, (sums[STATIC] - sums[FIRST]) / n_seeds);
    }
  judge (&goals);
  return EXIT_SUCCESS;
}
