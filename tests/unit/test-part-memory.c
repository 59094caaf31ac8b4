/* SPDX-License-Identifier: Apache-2.0 */
/* What the layout remembers about parts never changes an answer: answers about versions of a fleet that are asked for
 * in any order, also by several threads, are those of a memory that has seen nothing. */
#include "api/handles.h"
#include "placement/cut/memory.h"
#include "placement/cut/plan.h"
#include "planner/fragmentation.h"
#include "slices.h"

#define T0 G_GINT64_CONSTANT (1790000000000)

enum { N_VERSIONS = 6, N_STEPS = 120, N_THREADS = 4, N_ASKED = 100, N_QUESTIONS = 6, MOST_KEPT = 4 };

/* Pool p has nodes in more than one directory of the table of nodes. */
static const char fleet_text[] = "v6e 8x8 x280 pool=p hostchips=4; v6e 4x8 x20 pool=q hostchips=4; v4 4x4x4 x12 pool=c";

typedef struct {
  GRand *rand;
  QuoitLedger *ledger;
  gint64 now_ms;
  guint n_groups;
  QuoitSnapshot *versions[N_VERSIONS];
} World;

static guint
draw (World *world, guint n)
{
  return (guint) g_rand_int_range (world->rand, 0, (gint32) n);
}

/* --- questions --- */

static QuoitRequest *
make_question (guint which, const char *name)
{
  static const struct {
    const char *accelerator, *topology;
    QuoitCut cut;
    QuoitPlacePolicy place;
    gint64 length_ms;
    const char *pool;
  } questions[N_QUESTIONS] = {
    { "v6e", "4x4", QUOIT_CUT_ANY, QUOIT_PLACE_BEST, 0, NULL },
    { "v6e", "2x4", QUOIT_CUT_ANY, QUOIT_PLACE_BEST, 50000, NULL },
    { "v6e", "4x8", QUOIT_CUT_ALIGNED, QUOIT_PLACE_PACK, 0, NULL },
    { "v6e", "4x4", QUOIT_CUT_ANY, QUOIT_PLACE_BEST, 0, "q" },
    { "v4", "2x2x2", QUOIT_CUT_ANY, QUOIT_PLACE_BEST, 20000, NULL },
    { "v4", "2x2x4", QUOIT_CUT_ANY_OR_WRAPPED, QUOIT_PLACE_BEST, 0, NULL },
  };
  QuoitRequest *request = slices_request (name, questions[which].accelerator, questions[which].topology, 3);

  ck_assert (quoit_request_set_cut (request, questions[which].cut, NULL));
  ck_assert (quoit_request_set_place (request, questions[which].place, NULL));
  if (questions[which].length_ms > 0)
    ck_assert (quoit_request_set_expected_runtime_ms (request, questions[which].length_ms, NULL));
  if (questions[which].pool != NULL)
    quoit_request_set_pool (request, questions[which].pool);
  return request;
}

static void
append_fragmentation (GString *answer, const QuoitFleet *fleet)
{
  QuoitFragmentation fragmentation;

  quoit_fragmentation_measure (&fragmentation, fleet, 2000);
  for (guint i = 0; i < fragmentation.classes->len; i++)
    {
      const QuoitFragmentationClass *row = &g_array_index (fragmentation.classes, QuoitFragmentationClass, i);

      g_string_append_printf (answer, " %u-%u of %u", row->least_ppm, row->most_ppm, (guint) row->n_hosts);
    }
  quoit_fragmentation_clear (&fragmentation);
}

/* Returns the numbers of the parts that fit, the chosen places, and the fragmentation. */
static char *
ask (const QuoitFleet *fleet, guint which)
{
  g_autoptr (QuoitRequest) request = make_question (which, "question");
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));
  GString *answer = g_string_new (NULL);
  guint32 n_free = 0;

  ck_assert (quoit_cut_test (fleet, request, NULL, &n_free, NULL));
  g_string_append_printf (answer, "%u free%s:", n_free, quoit_cut_fits (fleet, request, NULL) ? ", fits" : "");
  quoit_cut_choose (fleet, request, 3, 3, parts, NULL);
  for (guint i = 0; i < parts->len; i++)
    {
      const QuoitCutPart *part = &g_array_index (parts, QuoitCutPart, i);

      g_string_append_printf (answer, " %u at %u %ux%ux%u", part->slice, part->origin, part->hosts.dims[0],
                              part->hosts.dims[1], part->hosts.dims[2]);
    }
  append_fragmentation (answer, fleet);
  return g_string_free (answer, FALSE);
}

/* Asks while all memories that are kept are in use. */
static char *
ask_anew (const QuoitFleet *fleet, guint which)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GPtrArray) taken = g_ptr_array_new ();
  char *answer;

  for (guint32 class = 0; class < layout->n_classes; class ++)
    for (unsigned wrap = 0; wrap < 8; wrap += 7)
      {
        QuoitCutStore *store;
        QuoitGrid grid;

        ck_assert (quoit_grid_init (&grid, layout->classes[class].facts.host_grid, wrap));
        store = quoit_cut_store_get (layout, &layout->classes[class], &grid);
        for (guint i = 0; i < MOST_KEPT; i++)
          g_ptr_array_add (taken, quoit_cut_memory_take (store, fleet));
        quoit_cut_store_unref (store);
      }
  answer = ask (fleet, which);
  for (guint i = 0; i < taken->len; i++)
    quoit_cut_memory_keep (taken->pdata[i]);
  return answer;
}

/* --- changes --- */

static void
change_state (World *world)
{
  const QuoitSnapshot *snapshot = world->versions[0];
  const guint32 node = draw (world, quoit_snapshot_get_n_nodes (snapshot));

  quoit_ledger_set_node_state (world->ledger, quoit_snapshot_get_node_name (snapshot, node),
                               (QuoitNodeState) draw (world, 3), world->now_ms, NULL);
}

static void
change_groups (World *world)
{
  g_autofree char *name = g_strdup_printf ("g%u", world->n_groups++);
  g_autoptr (QuoitRequest) request = make_question (draw (world, N_QUESTIONS), name);

  quoit_group_unref (quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL));
  if (draw (world, 3) == 0)
    {
      g_autofree char *other = g_strdup_printf ("g%u", draw (world, world->n_groups));

      quoit_ledger_release (world->ledger, other, world->now_ms, NULL);
    }
}

static World
world_new (guint32 seed)
{
  World world = { .rand = g_rand_new_with_seed (seed), .ledger = ledger_with (fleet_text, T0), .now_ms = T0 };

  for (guint i = 0; i < N_VERSIONS; i++)
    world.versions[i] = quoit_ledger_snapshot (world.ledger);
  return world;
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < N_VERSIONS; i++)
    quoit_snapshot_unref (world->versions[i]);
  quoit_ledger_unref (world->ledger);
  g_rand_free (world->rand);
}

static void
step (World *world)
{
  const guint oldest = draw (world, N_VERSIONS);

  world->now_ms += draw (world, 2000);
  for (guint n = draw (world, 4); n-- > 0;)
    change_state (world);
  for (guint n = draw (world, 3); n-- > 0;)
    change_groups (world);
  quoit_snapshot_unref (world->versions[oldest]);
  world->versions[oldest] = quoit_ledger_snapshot (world->ledger);
}

/* --- tests --- */

START_TEST (answers_about_any_version_are_those_of_a_new_memory)
{
  for (guint32 seed = 1; seed <= 3; seed++)
    {
      World world = world_new (seed);

      for (guint i = 0; i < N_STEPS; i++)
        {
          const guint which = draw (&world, N_QUESTIONS), version = draw (&world, N_VERSIONS);
          g_autofree char *known = NULL, *anew = NULL;

          step (&world);
          known = ask (world.versions[version]->fleet, which);
          anew = ask_anew (world.versions[version]->fleet, which);
          ck_assert_msg (strcmp (known, anew) == 0, "seed %u, step %u, question %u:\n%s\n%s", seed, i, which, known,
                         anew);
        }
      world_clear (&world);
    }
}
END_TEST

START_TEST (a_memory_has_the_free_hosts_of_the_fleet)
{
  World world = world_new (7);

  for (guint i = 0; i < N_STEPS; i++)
    {
      const QuoitFleet *fleet;
      QuoitFreeHosts rule = { NULL, QUOIT_NODE_ALIVE, FALSE };
      QuoitCutMemory *memory;
      QuoitCutStore *store;
      const GArray *slices;
      QuoitGrid grid;
      guint32 sum = 0;
      GHashTableIter iter;
      gpointer set;

      step (&world);
      rule.fleet = fleet = world.versions[draw (&world, N_VERSIONS)]->fleet;
      ck_assert (quoit_grid_init (&grid, fleet->layout->classes[0].facts.host_grid, 0));
      store = quoit_cut_store_get (fleet->layout, &fleet->layout->classes[0], &grid);
      slices = quoit_cut_store_slices (store);
      memory = quoit_cut_memory_take (store, fleet);
      for (guint position = 0; position < slices->len; position++)
        {
          QuoitHostSet free;

          quoit_free_hosts_list (&rule, g_array_index (slices, guint32, position), &grid, &free);
          ck_assert_ptr_eq (memory->at[position], quoit_cut_memory_find (memory, &free));
        }
      g_hash_table_iter_init (&iter, memory->sets);
      while (g_hash_table_iter_next (&iter, &set, NULL))
        sum += ((const QuoitFreeSet *) set)->n_slices;
      ck_assert_uint_eq (sum, slices->len);
      quoit_cut_memory_keep (memory);
      quoit_cut_store_unref (store);
    }
  world_clear (&world);
}
END_TEST

typedef struct {
  const World *world;
  char *(*expected)[N_QUESTIONS];
  guint seed, n_wrong;
} Thread;

static gpointer
ask_many (gpointer data)
{
  Thread *thread = data;
  GRand *rand = g_rand_new_with_seed (thread->seed);

  for (guint i = 0; i < N_ASKED; i++)
    {
      const guint version = (guint) g_rand_int_range (rand, 0, N_VERSIONS);
      const guint which = (guint) g_rand_int_range (rand, 0, N_QUESTIONS);
      g_autofree char *answer = ask (thread->world->versions[version]->fleet, which);

      thread->n_wrong += strcmp (answer, thread->expected[version][which]) != 0;
    }
  g_rand_free (rand);
  return NULL;
}

START_TEST (threads_get_the_same_answers)
{
  World world = world_new (3);
  char *expected[N_VERSIONS][N_QUESTIONS];
  Thread threads[N_THREADS];
  GThread *running[N_THREADS];

  for (guint i = 0; i < 20; i++)
    step (&world);
  for (guint version = 0; version < N_VERSIONS; version++)
    for (guint which = 0; which < N_QUESTIONS; which++)
      expected[version][which] = ask_anew (world.versions[version]->fleet, which);
  for (guint i = 0; i < N_THREADS; i++)
    {
      threads[i] = (Thread) { &world, expected, i, 0 };
      running[i] = g_thread_new ("ask", ask_many, &threads[i]);
    }
  /* The ledger changes meanwhile, and with it the nodes that the memories refer to. */
  for (guint i = 0; i < N_ASKED; i++)
    change_state (&world);
  for (guint i = 0; i < N_THREADS; i++)
    {
      g_thread_join (running[i]);
      ck_assert_uint_eq (threads[i].n_wrong, 0);
    }
  for (guint version = 0; version < N_VERSIONS; version++)
    for (guint which = 0; which < N_QUESTIONS; which++)
      g_free (expected[version][which]);
  world_clear (&world);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("part memory");
  TCase *tcase = tcase_create ("all");

  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, answers_about_any_version_are_those_of_a_new_memory);
  tcase_add_test (tcase, a_memory_has_the_free_hosts_of_the_fleet);
  tcase_add_test (tcase, threads_get_the_same_answers);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
