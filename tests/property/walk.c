/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps on a ledger and on a model of it. After each step both have the same state, and every answer is the
 * one that the model expects. */
#include "walk.h"

static void
check (Walk *walk, const Place *place)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (place);
  g_autoptr (GError) error = NULL;
  g_autofree char *difference = NULL;

  walk_hold (walk, quoit_snapshot_check (snapshot, &error), "%s", said (error));
  difference = model_difference (place->model, snapshot);
  walk_hold (walk, difference == NULL, "%s", difference);
}

/* A snapshot as of a later time has exactly the groups whose lease has not expired by then. */
static void
check_later (Walk *walk, const Place *place)
{
  gint64 later_ms = walk->time_ms + below (walk, 100000);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (place), later = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *difference = NULL;
  Model *model = model_at (place->model, later_ms);

  later = quoit_snapshot_as_of (snapshot, later_ms, &error);
  walk_hold (walk, later != NULL && quoit_snapshot_check (later, &error), "%s", said (error));
  difference = model_difference (model, later);
  walk_hold (walk, difference == NULL, "later: %s", difference);
  model_free (model);
}

/* --- node states --- */

static char *
some_node (Walk *walk, const Model *model)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (model->nodes), (GCompareFunc) strcmp);

  return names == NULL ? NULL : g_strdup (g_list_nth_data (names, below (walk, g_hash_table_size (model->nodes))));
}

static void
change_state (Walk *walk, const Place *place)
{
  g_autofree char *name = some_node (walk, place->model);
  /* Usually back to alive, because otherwise little would fit after a while. */
  QuoitNodeState state = below (walk, 5) < 3 ? QUOIT_NODE_ALIVE : (QuoitNodeState) below (walk, 3);
  guint verb = place->fork != NULL ? 0 : below (walk, 3);
  ModelNode *node;
  Call call;
  gboolean done;

  if (name == NULL)
    return;
  call = call_begin (walk, place, "state");
  node = g_hash_table_lookup (call.after->nodes, name);
  if (verb == 0)
    done = place->fork != NULL ? quoit_fork_set_node_state (place->fork, name, state, call.now_ms, &call.error)
                               : quoit_ledger_set_node_state (place->ledger, name, state, call.now_ms, &call.error);
  else
    done = verb == 1 ? quoit_ledger_drain_node (place->ledger, name, call.now_ms, &call.error)
                     : quoit_ledger_undrain_node (place->ledger, name, call.now_ms, &call.error);
  state = verb == 0 ? state : verb == 1 ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
  if (verb != 0 && node->state == QUOIT_NODE_DEAD)
    call.code = QUOIT_ERROR_CONFLICT;
  else if (node->state != state)
    {
      model_write (call.after, call.now_ms);
      node->state = state;
    }
  call_end (&call, done);
}

/* --- import --- */

static void
change_pool (Walk *walk, Pool *pool)
{
  if (pool->n_slices == 0 || below (walk, 6) == 0)
    {
      pool->shape = below (walk, N_SHAPES - 1);
      pool->zone = below (walk, 2);
      memset (pool->marks, '.', sizeof pool->marks);
    }
  if (below (walk, 2) == 0)
    pool->n_slices = below (walk, MOST_SLICES + 1);
  for (guint i = below (walk, 4); i > 0; i--)
    pool->marks[below (walk, sizeof pool->marks)] = "....dxb"[below (walk, 7)];
}

static gboolean
import_by (Walk *walk, const Place *place, const char *text, const char *name, ImportWay way, Call *call)
{
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  QuoitImport *import;

  quoit_input_set_source (input, name);
  import = way == IMPORT ? quoit_ledger_import (place->ledger, input, call->now_ms, &call->error)
                         : quoit_ledger_sync (place->ledger, input, call->now_ms, &call->error);
  for (uint32_t i = 0; import != NULL && i < quoit_import_get_n_changes (import); i++)
    walk->n_losses += quoit_import_get_change_kind (import, i) == QUOIT_CHANGE_LOST;
  quoit_input_free (input);
  if (import == NULL)
    return FALSE;
  quoit_import_free (import);
  return TRUE;
}

static void
import (Walk *walk, const Place *place)
{
  guint index = below (walk, N_SOURCES);
  ImportWay way = below (walk, 2) == 0 ? IMPORT : SYNC;
  Source source = walk->sources[index];
  g_autofree char *text = NULL, *name = g_strdup_printf ("s%u", index);
  gboolean empty = TRUE, done;
  Call call;

  for (guint p = 0; p < N_POOLS; p++)
    {
      if (below (walk, 2) == 0)
        change_pool (walk, &source.pools[p]);
      if (!model_may_reshape (place->model, index, p, source.pools[p].shape))
        source.pools[p] = walk->sources[index].pools[p];
      if (!model_may_reshape (place->model, index, p, source.pools[p].shape))
        source.pools[p].n_slices = 0;
      empty = empty && source.pools[p].n_slices == 0;
    }
  /* Fleet text needs at least one item. */
  if (empty)
    return;
  text = source_text (&source);
  call = call_begin (walk, place, way == IMPORT ? "import" : "sync");
  done = import_by (walk, place, text, name, way, &call);
  if (!model_may_import (call.after, index, &source, way))
    call.code = QUOIT_ERROR_CONFLICT;
  else
    {
      g_autoptr (QuoitSnapshot) snapshot = snapshot_of (place);

      /* The model cannot decide whether pools changed, so it takes the sequence number from the ledger. */
      model_import (call.after, index, &source);
      if (quoit_snapshot_get_seq (snapshot) > call.after->seq)
        model_write (call.after, call.now_ms);
      walk->sources[index] = source;
      walk->n_imports++;
    }
  call_end (&call, done);
}

/* --- choosing steps --- */

/* Steps that are possible everywhere except in a fork. */
static void
ledger_step (Walk *walk, const Place *place)
{
  static void (*const steps[]) (Walk * walk, const Place *place)
      = { confirm_or_renew, confirm_or_renew, forget, change_owner, change_owner, release_slice };

  steps[below (walk, G_N_ELEMENTS (steps))](walk, place);
}

static void
any_step (Walk *walk, const Place *place)
{
  guint die = below (walk, 100);

  if (place->fork == NULL && die < 25)
    ledger_step (walk, place);
  else if (die < 60)
    reserve_or_keep (walk, place);
  else if (die < 68)
    release (walk, place);
  else if (die < 80)
    resize (walk, place);
  else if (die < 90)
    repair (walk, place);
  else
    change_state (walk, place);
}

static void
small_step (Walk *walk, const Place *place)
{
  any_step (walk, place);
  check (walk, place);
}

static void
try_in_fork (Walk *walk, QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  Place place = { .fork = fork, .model = model_copy (walk->model) };

  for (guint i = 1 + below (walk, 6); i > 0; i--)
    small_step (walk, &place);
  model_free (place.model);
  walk->n_forks++;
}

static void
do_batch (Walk *walk, QuoitLedger *ledger)
{
  Model *before = model_copy (walk->model);
  Source sources[N_SOURCES];
  Place place = { .ledger = ledger, .in_batch = TRUE, .model = walk->model };
  g_autoptr (GError) error = NULL;

  memcpy (sources, walk->sources, sizeof sources);
  walk_hold (walk, quoit_ledger_begin_batch (ledger, &error), "%s", said (error));
  for (guint i = below (walk, 6); i > 0; i--)
    {
      if (below (walk, 8) == 0)
        import (walk, &place);
      small_step (walk, &place);
    }
  walk->n_batches++;
  if (below (walk, 3) > 0)
    {
      walk_hold (walk, quoit_ledger_commit_batch (ledger, &error), "%s", said (error));
      return model_free (before);
    }
  quoit_ledger_cancel_batch (ledger);
  memcpy (walk->sources, sources, sizeof sources);
  model_become (walk->model, before);
}

static void
compact (Walk *walk, QuoitLedger *ledger)
{
  guint64 first = 0, before, n_removed = 0;
  g_autoptr (GError) error = NULL;

  walk_hold (walk, quoit_ledger_read_checkpoint (ledger, &first, NULL, &error), "%s", said (error));
  before = first + 1 + below (walk, (guint) (walk->model->seq - first) + 1);
  walk_hold (walk, quoit_ledger_compact_journal (ledger, before, walk->time_ms, &n_removed, &error), "%s",
             said (error));
  walk_hold (walk, n_removed == before - 1 - first, "%u entries gone before %u", (guint) n_removed, (guint) before);
  walk_hold (walk, quoit_ledger_verify (ledger, &error), "%s", said (error));
  walk->n_compactions++;
}

static void
reopen (Walk *walk, guint which)
{
  g_autoptr (GError) error = NULL;

  if (walk->path == NULL)
    return;
  g_clear_pointer (&walk->hand[which], quoit_ledger_unref);
  walk->hand[which] = quoit_ledger_open (walk->path, 1000, &error);
  walk_hold (walk, walk->hand[which] != NULL, "%s", said (error));
}

static void
take_step (Walk *walk)
{
  guint which = walk->path == NULL ? 0 : below (walk, 2), die = below (walk, 1000);
  QuoitLedger *ledger = walk->hand[which];
  Place place = { .ledger = ledger, .model = walk->model };

  /* Usually a second; sometimes so long that ended groups are forgotten. */
  walk->time_ms += below (walk, 300) == 0 ? G_GINT64_CONSTANT (50000000) : 1000;
  if (die < 80)
    import (walk, &place);
  else if (die < 120)
    {
      /* A fork starts from the handle's state, so that must be current. */
      walk_hold (walk, quoit_ledger_refresh (ledger, NULL), "refresh");
      try_in_fork (walk, ledger);
    }
  else if (die < 170)
    do_batch (walk, ledger);
  else if (die < 190)
    reopen (walk, which);
  else if (die < 195)
    compact (walk, ledger);
  else
    any_step (walk, &place);

  /* The other handle has not read the change yet. */
  if (walk->path != NULL)
    walk_hold (walk, quoit_ledger_refresh (walk->hand[0], NULL) && quoit_ledger_refresh (walk->hand[1], NULL),
               "refresh");
  for (guint i = 0; i < 2 && walk->hand[i] != NULL; i++)
    check (walk, &(Place) { .ledger = walk->hand[i], .model = walk->model });
  if (below (walk, 10) == 0)
    check_later (walk, &(Place) { .ledger = walk->hand[which], .model = walk->model });
}

static void
go (const char *what, char *path, guint32 seed, guint n_steps)
{
  Walk walk = { .what = what, .seed = seed, .path = path, .time_ms = T0 };
  g_autoptr (GError) error = NULL;

  walk.rand = g_rand_new_with_seed (seed);
  walk.model = model_new ();
  walk.hand[0] = path == NULL ? quoit_ledger_open_memory () : quoit_ledger_create (path, 1000, &error);
  walk_hold (&walk, walk.hand[0] != NULL, "%s", said (error));
  if (path != NULL)
    reopen (&walk, 1);
  for (walk.step = 1; walk.step <= n_steps; walk.step++)
    {
      take_step (&walk);
      if (walk.step % 100 == 0)
        walk_hold (&walk, quoit_ledger_verify (walk.hand[0], &error), "%s", said (error));
    }
  printf ("%s: %u steps, %u done, %u refused; %u groups made, %u times something ended, %u group changes, %u imports, "
          "%u nodes lost, %u forks, %u batches, %u compactions, %u groups of bundles, %u bundles moved\n",
          what, n_steps, walk.n_done, walk.n_refused, walk.n_made, walk.n_ended, walk.n_changes, walk.n_imports,
          walk.n_losses, walk.n_forks, walk.n_batches, walk.n_compactions, walk.n_bundle_groups, walk.n_bundles_moved);
  fflush (stdout);
  quoit_ledger_unref (walk.hand[0]);
  quoit_ledger_unref (walk.hand[1]);
  model_free (walk.model);
  g_rand_free (walk.rand);
}

int
main (void)
{
  guint32 seed = seed_of ("walk", 20250615);
  char *fast = fast_dir (), *durable = g_dir_make_tmp ("quoit-XXXXXX", NULL);
  g_autofree char *fast_path = g_build_filename (fast, "ledger.db", NULL);
  g_autofree char *durable_path = g_build_filename (durable, "ledger.db", NULL);

  go ("in memory", NULL, seed, scaled (10000));
  go ("in a file", fast_path, seed + 1, scaled (10000));
  go ("on a disk", durable_path, seed + 2, scaled (300));
  remove_dir (fast);
  remove_dir (durable);
  g_free (fast);
  g_free (durable);
  printf ("3 passed, 0 failed\n");
  return EXIT_SUCCESS;
}
