/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of slices, in fleets of a million chips. In each pod, random boxes of hosts are dead, and single hosts. */
#include "bench.h"

#include <string.h>

#include <quoit/quoit.h>

#include "geometry/places.h"
#include "placement/cut/cutting.h"

enum { N_PLACES = 16, N_KNOWN = 100, N_DRAINED = 24000 };

static const gint64 now_ms = G_GINT64_CONSTANT (1750000000000);

typedef struct {
  const char *fleet, *text, *accelerator, *topology, *whole;
  uint32_t n_pods, n_hosts, n[3]; /* hosts of a pod, also along each axis */
} Million;

static const Million millions[] = {
  { "157 pods of 16x16x24", "v5p 16x16x24 x157 pool=p", "v5p", "4x4x8", "16x16x24", 157, 1536, { 8, 8, 24 } },
  { "3,906 pods of 16x16", "v6e 16x16 x3906 pool=p hostchips=4", "v6e", "4x8", "16x16", 3906, 64, { 8, 8, 1 } },
};

typedef struct {
  const Million *million;
  QuoitLedger *ledger;
  QuoitSnapshot *snapshot;
  QuoitRequest *request;
  QuoitFork *fork;
  GPtrArray *names; /* of nodes */
  GPtrArray *alive; /* names of the nodes to drain */
  guint32 random;
  guint n;
} Case;

static void
must (bool is_good, const GError *error)
{
  if (!is_good)
    g_error ("%s", error != NULL ? error->message : "bench/parts.c");
}

static guint32
draw (Case *test, guint32 n)
{
  test->random = test->random * 1664525 + 1013904223;
  return (guint32) ((guint64) (test->random >> 8) * n >> 24);
}

static QuoitRequest *
request_new (const Million *million, const char *topology, QuoitCut cut)
{
  QuoitRequest *request = quoit_request_new ("job", NULL);

  g_autoptr (GError) error = NULL;

  must (quoit_request_set_accelerator (request, million->accelerator, &error)
            && quoit_request_set_topology (request, topology, &error) && quoit_request_set_slices (request, 1, &error)
            && quoit_request_set_cut (request, cut, &error),
        error);
  return request;
}

/* Marks a third of the hosts of a pod. */
static void
mark_boxes (Case *test, bool *marked)
{
  const uint32_t *n = test->million->n, n_hosts = test->million->n_hosts;

  memset (marked, 0, n_hosts * sizeof *marked);
  for (uint32_t n_marked = 0; n_marked < n_hosts / 3;)
    {
      uint32_t side[3], at[3];

      for (guint axis = 0; axis < 3; axis++)
        {
          side[axis] = MIN (n[axis], draw (test, 8) == 0 ? 1 : 1u << draw (test, 3));
          at[axis] = draw (test, n[axis] / side[axis]) * side[axis];
        }
      for (uint32_t host = 0; host < n_hosts; host++)
        {
          const uint32_t x = host % n[0] - at[0], y = host / n[0] % n[1] - at[1], z = host / n[0] / n[1] - at[2];

          if (x >= side[0] || y >= side[1] || z >= side[2] || marked[host])
            continue;
          marked[host] = true;
          n_marked++;
        }
    }
}

static void
case_init (Case *test, const Million *million)
{
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, million->text, strlen (million->text));
  g_autoptr (GPtrArray) dead = g_ptr_array_new ();
  g_autofree bool *marked = g_new (bool, million->n_hosts);
  g_autoptr (QuoitImport) import = NULL;
  g_autoptr (GError) error = NULL;

  *test = (Case) { .million = million, .ledger = quoit_ledger_open_memory (), .random = 1 };
  test->names = g_ptr_array_new_with_free_func (g_free);
  test->alive = g_ptr_array_new ();
  import = quoit_ledger_import (test->ledger, input, now_ms, &error);
  must (import != NULL, error);
  for (guint32 pod = 0; pod < million->n_pods; pod++)
    {
      mark_boxes (test, marked);
      for (guint32 host = 0; host < million->n_hosts; host++)
        {
          g_ptr_array_add (test->names, g_strdup_printf ("p-%u-%u", pod, host));
          if (marked[host])
            g_ptr_array_add (dead, test->names->pdata[test->names->len - 1]);
        }
    }
  must (quoit_ledger_set_node_states (test->ledger, (const char *const *) dead->pdata, dead->len, QUOIT_NODE_DEAD,
                                      now_ms, &error),
        error);
  test->snapshot = quoit_ledger_snapshot (test->ledger);
  test->request = request_new (million, million->topology, QUOIT_CUT_ANY);
}

static void
case_clear (Case *test)
{
  quoit_fork_free (test->fork);
  quoit_request_free (test->request);
  quoit_snapshot_unref (test->snapshot);
  quoit_ledger_unref (test->ledger);
  g_ptr_array_unref (test->names);
  g_ptr_array_unref (test->alive);
}

/* --- places in one pod --- */

typedef struct {
  const char *fleet;
  QuoitGeneration generation;
  QuoitShape hosts, block, part;
  unsigned wrap;
  uint32_t holes; /* one of so many hosts is not free, at random */
  double first_ns, best_ns;
} Pod;

static const Pod pods[] = {
  { "16x16 with random holes",
    QUOIT_GENERATION_V6E,
    { { 8, 8, 1 }, 3 },
    { { 2, 2, 1 }, 3 },
    { { 4, 8, 1 }, 2 },
    0,
    10,
    300,
    1500 },
  { "16x16x24 with random holes, wrap",
    QUOIT_GENERATION_V5P,
    { { 8, 8, 24 }, 3 },
    { { 2, 2, 1 }, 3 },
    { { 4, 4, 8 }, 3 },
    7,
    20,
    4000,
    400000 },
};

typedef struct {
  QuoitGrid grid;
  QuoitHostSet free[N_PLACES];
  QuoitTurn turns[QUOIT_MAX_TURNS];
  guint n_turns;
  QuoitPlaceCosts *costs;
} Places;

static void
find_first_places (gpointer data)
{
  Places *places = data;
  QuoitPlace place;

  for (guint i = 0; i < N_PLACES; i++)
    quoit_places_find_first (&places->grid, &places->free[i], places->turns, places->n_turns, &place);
}

static void
find_best_places (gpointer data)
{
  Places *places = data;
  QuoitPlace place;

  for (guint i = 0; i < N_PLACES; i++)
    quoit_places_find_best (places->costs, &places->free[i], places->turns, places->n_turns, &place);
}

static QuoitPlaceCosts *
make_costs (const Pod *pod, const QuoitGrid *grid)
{
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (pod->generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      g_array_append_val (shapes, rows[i].shape);
  return quoit_place_costs_new (grid, pod->block, (const QuoitShape *) (const void *) shapes->data, shapes->len);
}

static void
measure_places (Bench *bench, const Pod *pod)
{
  g_autofree Places *places = g_new0 (Places, 1);
  uint32_t random = 1;

  g_assert (quoit_grid_init (&places->grid, pod->hosts, pod->wrap));
  places->n_turns = quoit_shape_list_turns (pod->part, pod->block, places->turns);
  places->costs = make_costs (pod, &places->grid);
  for (guint i = 0; i < N_PLACES; i++)
    for (uint32_t host = 0; host < quoit_grid_n_hosts (&places->grid); host++)
      {
        random = random * 1664525 + 1013904223;
        if ((random >> 8) % pod->holes != 0)
          quoit_host_set_add (&places->grid, &places->free[i], host);
      }
  bench_measure (bench, &(BenchOperation) { .scenario = "parts: first place",
                                            .fleet = pod->fleet,
                                            .run = find_first_places,
                                            .data = places,
                                            .n_operations = N_PLACES,
                                            .ns = BENCH_UP_TO (pod->first_ns) });
  bench_measure (bench, &(BenchOperation) { .scenario = "parts: place that costs least",
                                            .fleet = pod->fleet,
                                            .run = find_best_places,
                                            .data = places,
                                            .n_operations = N_PLACES,
                                            .ns = BENCH_UP_TO (pod->best_ns) });
  quoit_place_costs_free (places->costs);
}

/* --- what is asked --- */

static void
test_request (gpointer data)
{
  Case *test = data;
  QuoitVerdict verdict;

  for (guint i = 0; i < test->n; i++)
    must (quoit_snapshot_test (test->snapshot, test->request, &verdict, NULL, NULL), NULL);
}

static void
explain (gpointer data)
{
  Case *test = data;

  for (guint i = 0; i < test->n; i++)
    quoit_report_unref (quoit_snapshot_explain (test->snapshot, test->request, NULL));
}

static void
reserve (gpointer data)
{
  Case *test = data;

  for (guint i = 0; i < test->n; i++)
    {
      const uint32_t mark = quoit_fork_mark (test->fork);
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (test->fork, test->request, now_ms, NULL, &error);

      must (group != NULL, error);
      must (quoit_fork_roll_back (test->fork, mark, &error), error);
    }
}

static void
measure_fragmentation (gpointer data)
{
  Case *test = data;

  for (guint i = 0; i < test->n; i++)
    quoit_fragmentation_free (quoit_snapshot_measure_fragmentation (test->snapshot, 0));
}

static void
count_slots (gpointer data)
{
  Case *test = data;

  for (guint i = 0; i < test->n; i++)
    quoit_slots_free (
        quoit_snapshot_count_slots (test->snapshot, test->million->accelerator, NULL, QUOIT_CUT_ANY, 0, 200000, NULL));
}

static void
count_whole_slots (gpointer data)
{
  Case *test = data;

  for (guint i = 0; i < test->n; i++)
    quoit_slots_free (quoit_snapshot_count_slots (test->snapshot, test->million->accelerator, test->million->whole,
                                                  QUOIT_CUT_WHOLE, 0, 0, NULL));
}

static void
drain (gpointer data)
{
  Case *test = data;
  g_autoptr (GError) error = NULL;

  must (quoit_fork_drain_nodes (test->fork, (const char *const *) test->alive->pdata, N_DRAINED, now_ms, &error),
        error);
}

/* --- before --- */

/* Changes the state of three hosts of each of some pods, so that they do not have the free hosts that they had
 * before. */
static void
change_pods (Case *test, uint32_t first, uint32_t n_pods)
{
  g_autoptr (GPtrArray) dead = g_ptr_array_new (), alive = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;

  for (guint32 pod = first; pod < first + n_pods; pod++)
    for (guint32 i = 0; i < 3; i++)
      {
        const guint32 third = test->million->n_hosts / 3;
        const guint32 node = pod * test->million->n_hosts + i * third + draw (test, third);
        const gboolean is_alive = quoit_snapshot_get_node_state (test->snapshot, node) == QUOIT_NODE_ALIVE;

        g_ptr_array_add (is_alive ? dead : alive, test->names->pdata[node]);
      }
  must (quoit_ledger_set_node_states (test->ledger, (const char *const *) dead->pdata, dead->len, QUOIT_NODE_DEAD,
                                      now_ms, &error)
            && quoit_ledger_set_node_states (test->ledger, (const char *const *) alive->pdata, alive->len,
                                             QUOIT_NODE_ALIVE, now_ms, &error),
        error);
  quoit_snapshot_unref (test->snapshot);
  test->snapshot = quoit_ledger_snapshot (test->ledger);
  quoit_fork_free (test->fork);
  test->fork = quoit_snapshot_fork (test->snapshot);
}

static void
change_all_pods (gpointer data)
{
  Case *test = data;

  change_pods (test, 0, test->million->n_pods);
}

/* Changes the pod from which the part would be cut. */
static void
change_one_pod (gpointer data)
{
  Case *test = data;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (test->snapshot);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, test->request, now_ms, NULL, &error);
  g_autofree char *slice = NULL;

  must (group != NULL, error);
  slice = quoit_group_dup_slice_name (group, 0);
  change_pods (test, (uint32_t) g_ascii_strtoull (slice + strlen ("p-"), NULL, 10), 1);
}

static void
make_fork (gpointer data)
{
  Case *test = data;

  g_ptr_array_set_size (test->alive, 0);
  for (guint32 node = 0; node < test->names->len && test->alive->len < N_DRAINED; node++)
    if (quoit_snapshot_get_node_state (test->snapshot, node) == QUOIT_NODE_ALIVE)
      g_ptr_array_add (test->alive, (char *) quoit_snapshot_get_node_name (test->snapshot, node));
  quoit_fork_free (test->fork);
  test->fork = quoit_snapshot_fork (test->snapshot);
}

static void
measure (Bench *bench, Case *test, const char *scenario, void (*before) (gpointer), void (*run) (gpointer), guint n,
         double limit_ns)
{
  test->n = n;
  bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                            .fleet = test->million->fleet,
                                            .before = before,
                                            .run = run,
                                            .data = test,
                                            .n_operations = n,
                                            .ns = limit_ns > 0 ? BENCH_UP_TO (limit_ns) : BENCH_NONE });
}

void
bench_parts (Bench *bench)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pods); i++)
    measure_places (bench, &pods[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (millions); i++)
    {
      Case test;

      case_init (&test, &millions[i]);
      make_fork (&test);
      measure (bench, &test, "parts: reserve on a fork, all pods new", change_all_pods, reserve, 1, 0);
      measure (bench, &test, "parts: reserve on a fork, one pod new", change_one_pod, reserve, 1, 250e3);
      measure (bench, &test, "parts: reserve on a fork, all pods known", make_fork, reserve, N_KNOWN, 0);
      measure (bench, &test, "parts: test, one pod new", change_one_pod, test_request, 1, 0);
      measure (bench, &test, "parts: test, all pods known", NULL, test_request, N_KNOWN, 10e3);
      measure (bench, &test, "parts: explain without options, all pods known", NULL, explain, N_KNOWN, 1e6);
      measure (bench, &test, "parts: fragmentation, all pods new", change_all_pods, measure_fragmentation, 1, 0);
      measure (bench, &test, "parts: fragmentation, one pod new", change_one_pod, measure_fragmentation, 1, 10e6);
      measure (bench, &test, "parts: fragmentation, all pods known", NULL, measure_fragmentation, N_KNOWN, 10e6);
      measure (bench, &test, "parts: slots of all shapes, all pods known", NULL, count_slots, 1, 10e6);
      measure (bench, &test, "slots of whole slices", NULL, count_whole_slots, N_KNOWN, 1e6);
      measure (bench, &test, "drain 24,000 nodes on a fork", make_fork, drain, 1, 20e6);
      case_clear (&test);
    }
}
