/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that a scheduler adds without JSON: making the input, importing it, syncing it again, and updates of a few
 * nodes. The nodes are those of lists.h. */
#include "bench.h"
#include "database.h"

#include <quoit/quoit.h>

#include "base/amount.h"
#include "formats/added-nodes.h"
#include "store/store.h"

enum { NODES = 100000, FEW_NODES = 1000, TRIES = 5 };

#define NOW G_GINT64_CONSTANT (1767225600000)
#define ONE "update 1 node, another state"
#define HUNDRED "update 100 nodes, another state"
#define REPLACED "update 100 nodes, replaced in their places"
#define NEW "update 4 nodes, a slice is new or gone"

/* Machine @machine as host @i. */
static void
add_node (QuoitAddedNodes *added, guint32 i, guint32 machine, QuoitNodeState state)
{
  static const struct {
    const char *name;
    gint64 e4;
  } resources[] = { { "memory", G_GINT64_CONSTANT (17179869184) * QUOIT_AMOUNT_UNIT },
                    { "CPU", 8 * QUOIT_AMOUNT_UNIT },
                    { "TPU", 4 * QUOIT_AMOUNT_UNIT },
                    { "object_store_memory", G_GINT64_CONSTANT (83886080) * QUOIT_AMOUNT_UNIT },
                    { "accelerator_type:TPU-V6E", QUOIT_AMOUNT_UNIT } };
  char id[64], name[64], address[32], slice[32], pool[32];

  g_snprintf (id, sizeof id, "%056x", machine);
  g_snprintf (name, sizeof name, "gke-tpu-%07u-%011u", machine / 4, machine % 4);
  g_snprintf (address, sizeof address, "10.%u.%u.%u", machine >> 16 & 255, machine >> 8 & 255, machine & 255);
  g_snprintf (slice, sizeof slice, "slice-%u", i / 4);
  g_snprintf (pool, sizeof pool, "pool-%u", i / 256);
  g_assert_true (quoit_added_nodes_add (added, id, name, address, state, NULL));
  g_assert_true (quoit_added_nodes_set_label (added, "ray.io/node-group", pool, NULL));
  g_assert_true (quoit_added_nodes_set_slice (added, slice, i % 4, "v6e", "4x4", NULL));
  g_assert_true (quoit_added_nodes_set_label (added, "ray.io/availability-zone", "us-east5-b", NULL));
  for (guint r = 0; r < G_N_ELEMENTS (resources); r++)
    g_assert_true (quoit_added_nodes_set_resource (added, resources[r].name, (QuoitAmount) { resources[r].e4 }, NULL));
  g_assert_true (quoit_added_nodes_set_resource (added, slice, (QuoitAmount) { QUOIT_AMOUNT_UNIT }, NULL));
}

static QuoitAddedNodes *
add_all (guint32 n)
{
  QuoitAddedNodes *added = quoit_added_nodes_new ();

  for (guint32 i = 0; i < n; i++)
    add_node (added, i, i, QUOIT_NODE_ALIVE);
  return added;
}

static QuoitClaims *
read_added (const QuoitAddedNodes *added, guint flags)
{
  QuoitClaims *claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added, .flags = flags }, NULL);

  g_assert_nonnull (claims);
  return claims;
}

/* --- all nodes --- */

static double
seconds_since (gint64 start_us)
{
  return (double) (g_get_monotonic_time () - start_us) / 1e6;
}

static void
measure_all (Bench *bench)
{
  double adding = G_MAXDOUBLE, reading = G_MAXDOUBLE, importing = G_MAXDOUBLE, syncing = G_MAXDOUBLE;

  for (guint i = 0; i < TRIES; i++)
    {
      g_autoptr (QuoitStore) store = quoit_store_new_memory ();
      gint64 start_us = g_get_monotonic_time ();
      g_autoptr (QuoitAddedNodes) added = add_all (NODES);
      g_autoptr (QuoitClaims) again = NULL;
      QuoitClaims *claims;

      bench_keep_least (&adding, seconds_since (start_us));
      start_us = g_get_monotonic_time ();
      claims = read_added (added, 0);
      bench_keep_least (&reading, seconds_since (start_us));
      again = read_added (added, 0);
      start_us = g_get_monotonic_time ();
      g_assert_true (
          quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, NOW, NULL, NULL, NULL));
      bench_keep_least (&importing, seconds_since (start_us));
      start_us = g_get_monotonic_time ();
      g_assert_true (
          quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SYNC, .claims = &again }, NOW, NULL, NULL, NULL));
      bench_keep_least (&syncing, seconds_since (start_us));
    }
  bench_add (bench, "add nodes to an input", "100k nodes", adding * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "read an input of added nodes", "100k nodes", reading * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "import added nodes into memory, after reading", "100k nodes", importing * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "sync added nodes unchanged, after reading", "100k nodes", syncing * 1e3, "ms", BENCH_NONE);
}

/* --- updates --- */

typedef struct {
  QuoitStore *store;
  guint32 n_nodes, n_changed;
  gboolean replaces, adds; /* what is done next; the operation then toggles is_changed */
  gboolean is_changed;
} Updates;

static void
add_change (const Updates *updates, QuoitAddedNodes *added, guint32 i, guint32 machine, guint32 other)
{
  char id[64];

  if (updates->replaces)
    {
      g_snprintf (id, sizeof id, "%056x", updates->is_changed ? machine : other);
      g_assert_true (quoit_added_nodes_remove (added, id, NULL));
      add_node (added, i, updates->is_changed ? other : machine, QUOIT_NODE_ALIVE);
    }
  else
    add_node (added, i, other, updates->is_changed ? QUOIT_NODE_ALIVE : QUOIT_NODE_DEAD);
}

/* Adds a slice, or removes it again. */
static void
add_slice (const Updates *updates, QuoitAddedNodes *added)
{
  for (guint32 i = updates->n_nodes; i < updates->n_nodes + 4; i++)
    {
      char id[64];

      g_snprintf (id, sizeof id, "%056x", i);
      if (updates->is_changed)
        g_assert_true (quoit_added_nodes_remove (added, id, NULL));
      else
        add_node (added, i, i, QUOIT_NODE_ALIVE);
    }
}

static void
update (gpointer data)
{
  Updates *updates = data;
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();
  g_autoptr (QuoitClaims) claims = NULL;
  QuoitAction action = { .type = QUOIT_ACTION_UPDATE_NODES };

  for (guint32 n = 0; n < updates->n_changed && !updates->adds; n++)
    {
      guint32 i = n * (updates->n_nodes / updates->n_changed);

      add_change (updates, added, i, updates->n_nodes + i, i);
    }
  if (updates->adds)
    add_slice (updates, added);
  action.nodes.claims = claims = read_added (added, QUOIT_RAY_UPDATE);
  action.nodes.removed = quoit_added_nodes_removed (added, &action.nodes.n_removed);
  g_assert_true (quoit_store_change (updates->store, &action, NOW, NULL, NULL, NULL));
  updates->is_changed = !updates->is_changed;
}

static void
measure_updates (Bench *bench, const char *fleet, guint32 n_nodes, QuoitStore *store, const char *where)
{
  static const struct {
    const char *scenario;
    guint32 n_changed;
    gboolean replaces, adds;
  } scenarios[] = {
    { ONE, 1, FALSE, FALSE }, { HUNDRED, 100, FALSE, FALSE }, { REPLACED, 100, TRUE, FALSE }, { NEW, 4, FALSE, TRUE }
  };
  g_autoptr (QuoitAddedNodes) added = add_all (n_nodes);
  g_autoptr (QuoitClaims) claims = read_added (added, 0);

  g_assert_true (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, NOW, NULL, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++)
    {
      g_autofree char *name = g_strconcat (scenarios[i].scenario, where, NULL);
      Updates updates = { .store = store,
                          .n_nodes = n_nodes,
                          .n_changed = scenarios[i].n_changed,
                          .replaces = scenarios[i].replaces,
                          .adds = scenarios[i].adds };

      bench_measure (bench, &(BenchOperation) {
                                .scenario = name, .fleet = fleet, .run = update, .data = &updates, .n_operations = 1 });
      if (updates.is_changed)
        update (&updates);
    }
}

void
bench_nodes (Bench *bench)
{
  static const struct {
    const char *name;
    guint32 n_nodes;
  } fleets[] = { { "1k nodes", FEW_NODES }, { "100k nodes", NODES } };
  gboolean in_memory = g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR);
  g_autofree char *folder = bench_folder_new (in_memory ? "/dev/shm" : "."),
                  *path = g_build_filename (folder, "quoit.db", NULL);

  if (!bench_is_counting (bench))
    measure_all (bench);
  for (guint i = 0; i < G_N_ELEMENTS (fleets); i++)
    {
      QuoitStore *store = quoit_store_new_memory ();

      measure_updates (bench, fleets[i].name, fleets[i].n_nodes, store, "");
      quoit_store_free (store);
      store = quoit_store_create (path, 1000, NULL);
      measure_updates (bench, fleets[i].name, fleets[i].n_nodes, store, ", in a database");
      quoit_store_free (store);
      bench_database_remove (path);
    }
  bench_folder_remove (folder);
}
