/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps on a ledger and on a model of it. After each step both have the same state, and every answer is the
 * one that the model expects. */
#include "walk.h"

static void
check (Walk *walk, const Target *target)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target);
  g_autoptr (GError) error = NULL;
  g_autofree char *difference = NULL;

  walk_require (walk, quoit_snapshot_check (snapshot, &error), "%s", error_text (error));
  difference = model_difference (target->model, snapshot);
  walk_require (walk, difference == NULL, "%s", difference);
}

/* A snapshot as of a later time has exactly the groups whose lease has not expired by then. */
static void
check_later (Walk *walk, const Target *target)
{
  gint64 later_ms = walk->time_ms + random_below (walk, 100000);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target), later = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *difference = NULL;
  Model *model = model_at (target->model, later_ms);

  later = quoit_snapshot_as_of (snapshot, later_ms, &error);
  walk_require (walk, later != NULL && quoit_snapshot_check (later, &error), "%s", error_text (error));
  difference = model_difference (model, later);
  walk_require (walk, difference == NULL, "later: %s", difference);
  model_free (model);
}

/* --- node states --- */

/* Of a cube, always the first host, if it is there: otherwise some host of every cube would soon be dead. */
static char *
random_node (Walk *walk, const Model *model)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (model->nodes), (GCompareFunc) strcmp);
  const char *name
      = names == NULL ? NULL : g_list_nth_data (names, random_below (walk, g_hash_table_size (model->nodes)));
  const ModelNode *node = name == NULL ? NULL : g_hash_table_lookup (model->nodes, name);
  g_autofree char *first = node == NULL ? NULL : g_strdup_printf ("%s-0", node->slice);

  return g_strdup (node != NULL && node->shape == CUBE_SHAPE && g_hash_table_contains (model->nodes, first) ? first
                                                                                                            : name);
}

static void
change_state (Walk *walk, const Target *target)
{
  g_autofree char *name = random_node (walk, target->model);
  /* Usually back to alive, because otherwise little would fit after a while. */
  QuoitNodeState state = random_below (walk, 5) < 3 ? QUOIT_NODE_ALIVE : (QuoitNodeState) random_below (walk, 3);
  guint verb = random_below (walk, 3);
  ModelNode *node;
  Call call;
  gboolean done;

  if (name == NULL)
    return;
  call = call_begin (walk, target, "state");
  node = g_hash_table_lookup (call.after->nodes, name);
  if (verb == 0)
    done = target->fork != NULL ? quoit_fork_set_node_state (target->fork, name, state, call.now_ms, &call.error)
                                : quoit_ledger_set_node_state (target->ledger, name, state, call.now_ms, &call.error);
  else if (target->fork != NULL)
    done = (verb == 1 ? quoit_fork_drain_nodes : quoit_fork_undrain_nodes) (target->fork, (const char *const *) &name,
                                                                            1, call.now_ms, &call.error);
  else
    done = verb == 1 ? quoit_ledger_drain_node (target->ledger, name, call.now_ms, &call.error)
                     : quoit_ledger_undrain_node (target->ledger, name, call.now_ms, &call.error);
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

/* Cubes have many hosts, so only some pools may have them. */
static guint
random_shape (Walk *walk, guint source, guint pool)
{
  return source < 2 && pool > 0 && random_below (walk, 3) > 0 ? CUBE_SHAPE : random_below (walk, CUBE_SHAPE);
}

/* Of cubes, the first host. */
static guint
random_host (Walk *walk, guint shape, guint n_slices)
{
  return shape == CUBE_SHAPE ? random_below (walk, n_slices) * shapes[shape].hosts
                             : random_below (walk, n_slices * shapes[shape].hosts);
}

static void
change_pool (Walk *walk, guint source, guint index, Pool *pool)
{
  guint most;

  if (pool->n_slices == 0 || random_below (walk, 6) == 0)
    {
      pool->shape = random_shape (walk, source, index);
      pool->zone = random_below (walk, 2);
      memset (pool->marks, '.', sizeof pool->marks);
    }
  most = pool->shape == CUBE_SHAPE ? MOST_CUBES : MOST_SLICES;
  if (pool->n_slices > most || random_below (walk, 2) == 0)
    pool->n_slices = random_below (walk, most + 1);
  for (guint i = random_below (walk, 4); i > 0; i--)
    pool->marks[random_host (walk, pool->shape, most)] = "....dxb"[random_below (walk, 7)];
}

static gboolean
import_by (Walk *walk, const Target *target, const char *text, const char *name, ImportWay way, Call *call)
{
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  QuoitImport *import;

  quoit_input_set_source (input, name);
  if (target->fork != NULL)
    import = (way == IMPORT ? quoit_fork_import : quoit_fork_sync) (target->fork, input, call->now_ms, &call->error);
  else
    import = way == IMPORT ? quoit_ledger_import (target->ledger, input, call->now_ms, &call->error)
                           : quoit_ledger_sync (target->ledger, input, call->now_ms, &call->error);
  for (uint32_t i = 0; import != NULL && i < quoit_import_get_n_changes (import); i++)
    walk->n_losses += quoit_import_get_change_kind (import, i) == QUOIT_CHANGE_LOST;
  quoit_input_free (input);
  if (import == NULL)
    return FALSE;
  quoit_import_free (import);
  return TRUE;
}

static void
import (Walk *walk, const Target *target)
{
  guint index = random_below (walk, N_SOURCES);
  ImportWay way = random_below (walk, 2) == 0 ? IMPORT : SYNC;
  Source source = walk->sources[index];
  g_autofree char *text = NULL, *name = g_strdup_printf ("s%u", index);
  gboolean empty = TRUE, done;
  Call call;

  for (guint p = 0; p < N_POOLS; p++)
    {
      if (random_below (walk, 2) == 0)
        change_pool (walk, index, p, &source.pools[p]);
      if (!model_may_reshape (target->model, index, p, source.pools[p].shape))
        source.pools[p] = walk->sources[index].pools[p];
      if (!model_may_reshape (target->model, index, p, source.pools[p].shape))
        source.pools[p].n_slices = 0;
      empty = empty && source.pools[p].n_slices == 0;
    }
  /* Fleet text needs at least one item. */
  if (empty)
    return;
  text = source_text (&source);
  call = call_begin (walk, target, way == IMPORT ? "import" : "sync");
  done = import_by (walk, target, text, name, way, &call);
  if (!model_may_import (call.after, index, &source, way))
    call.code = QUOIT_ERROR_CONFLICT;
  else
    {
      g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target);

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

static void
any_step (Walk *walk, const Target *target)
{
  static void (*const rare_steps[]) (Walk * walk, const Target *target)
      = { confirm_or_renew, confirm_or_renew, renew_groups, change_owner,
          change_owner,     release_slice,    set_labels,   forget };
  guint die = random_below (walk, 100);

  if (die < 25)
    rare_steps[random_below (walk, G_N_ELEMENTS (rare_steps))](walk, target);
  else if (die < 60)
    reserve_or_keep (walk, target);
  else if (die < 68)
    release (walk, target);
  else if (die < 80)
    resize (walk, target);
  else if (die < 90)
    repair (walk, target);
  else
    change_state (walk, target);
}

static void
small_step (Walk *walk, const Target *target)
{
  any_step (walk, target);
  check (walk, target);
}

static void
some_steps (Walk *walk, const Target *target)
{
  for (guint i = 1 + random_below (walk, 6); i > 0; i--)
    {
      if (random_below (walk, 8) == 0)
        import (walk, target);
      small_step (walk, target);
    }
}

/* Steps that are undone. */
static void
roll_back_some_steps (Walk *walk, const Target *target)
{
  guint32 mark = quoit_fork_mark (target->fork);
  Model *before = model_copy (target->model);
  Source sources[N_SOURCES];
  g_autoptr (GError) error = NULL;

  memcpy (sources, walk->sources, sizeof sources);
  some_steps (walk, target);
  memcpy (walk->sources, sources, sizeof sources);
  walk_require (walk, quoit_fork_roll_back (target->fork, mark, &error), "%s", error_text (error));
  model_become (target->model, before);
  check (walk, target);
}

static guint
count_expired (const Model *model)
{
  GHashTableIter iter;
  gpointer owner;
  guint n = 0;

  for (guint i = 0; i < model->groups->len; i++)
    n += ((const ModelGroup *) model->groups->pdata[i])->expired;
  g_hash_table_iter_init (&iter, model->owners);
  while (g_hash_table_iter_next (&iter, NULL, &owner))
    n += ((const ModelOwner *) owner)->ended;
  return n;
}

static gboolean
had_ended (const Model *model, guint64 id)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = model->groups->pdata[i];

      if (group->id == id)
        return group->state == QUOIT_GROUP_REMOVED;
    }
  return FALSE;
}

/* Commits a fork on which no lease has ended, and in whose time none ends in the ledger. Returns FALSE for others. */
static gboolean
commit_fork (Walk *walk, QuoitLedger *ledger, const Target *target)
{
  /* The clock of a ledger without entries is 0. */
  gint64 now_ms = target->model->clock_ms == 0 ? walk->time_ms : target->model->clock_ms;
  Model *at = model_at (walk->model, now_ms);
  gboolean none_ends = at->seq == walk->model->seq && count_expired (target->model) == count_expired (walk->model);
  g_autoptr (GError) error = NULL;

  model_free (at);
  if (!none_ends)
    return FALSE;
  walk_require (walk, quoit_ledger_commit_fork (ledger, target->fork, now_ms, &error), "%s", error_text (error));
  walk->n_commits++;
  /* All that ended on the fork has ended in the ledger with the commit. */
  for (guint i = 0; i < target->model->groups->len; i++)
    {
      ModelGroup *group = target->model->groups->pdata[i];

      if (group->state == QUOIT_GROUP_REMOVED && !had_ended (walk->model, group->id))
        group->ended_ms = now_ms;
    }
  target->model->seq = walk->model->seq + (target->model->seq > walk->model->seq ? 1 : 0);
  check (walk, target);
  model_become (walk->model, model_copy (target->model));
  return TRUE;
}

static void
try_in_fork (Walk *walk, QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  Target target = { .fork = fork, .model = model_copy (walk->model) };
  Source sources[N_SOURCES];

  memcpy (sources, walk->sources, sizeof sources);
  some_steps (walk, &target);
  if (random_below (walk, 3) == 0)
    roll_back_some_steps (walk, &target);
  walk->n_forks++;
  if (random_below (walk, 2) == 0 && commit_fork (walk, ledger, &target))
    {
      memcpy (sources, walk->sources, sizeof sources);
      some_steps (walk, &target);
    }
  memcpy (walk->sources, sources, sizeof sources);
  model_free (target.model);
}

static void
do_batch (Walk *walk, QuoitLedger *ledger)
{
  Model *before = model_copy (walk->model);
  Source sources[N_SOURCES];
  Target target = { .ledger = ledger, .in_batch = TRUE, .model = walk->model };
  g_autoptr (GError) error = NULL;

  memcpy (sources, walk->sources, sizeof sources);
  walk_require (walk, quoit_ledger_begin_batch (ledger, &error), "%s", error_text (error));
  for (guint i = random_below (walk, 6); i > 0; i--)
    {
      if (random_below (walk, 8) == 0)
        import (walk, &target);
      small_step (walk, &target);
    }
  walk->n_batches++;
  if (random_below (walk, 3) > 0)
    {
      store_batch (walk, ledger);
      walk_require (walk, quoit_ledger_commit_batch (ledger, &error), "%s", error_text (error));
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

  walk_require (walk, quoit_ledger_read_checkpoint (ledger, &first, NULL, &error), "%s", error_text (error));
  before = first + 1 + random_below (walk, (guint) (walk->model->seq - first) + 1);
  walk_require (walk, quoit_ledger_compact_journal (ledger, before, walk->time_ms, &n_removed, &error), "%s",
                error_text (error));
  walk_require (walk, n_removed == before - 1 - first, "%u entries removed before %u", (guint) n_removed,
                (guint) before);
  walk_require (walk, quoit_ledger_verify (ledger, &error), "%s", error_text (error));
  walk->n_compactions++;
}

static void
reopen (Walk *walk, guint which)
{
  g_autoptr (GError) error = NULL;

  if (walk->path == NULL)
    return;
  g_clear_pointer (&walk->handles[which], quoit_ledger_unref);
  walk->handles[which] = quoit_ledger_open (ledger_name (walk->path), 1000, &error);
  walk_require (walk, walk->handles[which] != NULL, "%s", error_text (error));
}

static void
take_step (Walk *walk)
{
  guint which = walk->path == NULL ? 0 : random_below (walk, 2), die = random_below (walk, 1000);
  QuoitLedger *ledger = walk->handles[which];
  Target target = { .ledger = ledger, .model = walk->model };

  /* Usually a second; sometimes so long that ended groups are forgotten, but less than a day, which a ledger refuses.
   */
  walk->time_ms += random_below (walk, 300) == 0 && walk->time_ms - walk->model->clock_ms < 30000000 ? 50000000 : 1000;
  if (die < 80)
    import (walk, &target);
  else if (die < 120)
    {
      /* A fork starts from the handle's state, so that must be current. */
      walk_require (walk, quoit_ledger_refresh (ledger, NULL), "refresh");
      try_in_fork (walk, ledger);
    }
  else if (die < 170)
    do_batch (walk, ledger);
  else if (die < 190)
    reopen (walk, which);
  else if (die < 195)
    compact (walk, ledger);
  else
    any_step (walk, &target);

  /* The other handle has not read the change yet. */
  if (walk->path != NULL)
    walk_require (walk, quoit_ledger_refresh (walk->handles[0], NULL) && quoit_ledger_refresh (walk->handles[1], NULL),
                  "refresh");
  if (walk->way != IN_MEMORY)
    follow (walk, walk->handles[which]);
  for (guint i = 0; i < 2 && walk->handles[i] != NULL; i++)
    check (walk, &(Target) { .ledger = walk->handles[i], .model = walk->model });
  if (random_below (walk, 10) == 0)
    check_later (walk, &(Target) { .ledger = walk->handles[which], .model = walk->model });
}

static QuoitLedger *
make_ledger (const Walk *walk, GError **error)
{
  switch (walk->way)
    {
    case IN_FILE:
      return quoit_ledger_create (ledger_name (walk->path), 1000, error);
    case STORED_BY_CALLER:
      return quoit_ledger_open_snapshot (NULL, error);
    default:
      return quoit_ledger_open_memory ();
    }
}

static void
go (const char *what, WalkWay way, char *path, guint32 seed, guint n_steps)
{
  Walk walk = { .what = what, .way = way, .seed = seed, .path = path, .time_ms = T0 };
  g_autoptr (GError) error = NULL;

  walk.rand = g_rand_new_with_seed (seed);
  walk.model = model_new ();
  walk.handles[0] = make_ledger (&walk, &error);
  walk_require (&walk, walk.handles[0] != NULL, "%s", error_text (error));
  if (path != NULL)
    reopen (&walk, 1);
  for (walk.step = 1; walk.step <= n_steps; walk.step++)
    {
      take_step (&walk);
      if (walk.step % 100 == 0)
        walk_require (&walk, quoit_ledger_verify (walk.handles[0], &error), "%s", error_text (error));
    }
  printf ("%s: %u steps, %u done, %u refused; %u groups made, %u groups ended, %u group changes, %u imports, "
          "%u nodes lost, %u forks, %u committed, %u batches, %u compactions, %u groups of bundles, %u bundles moved, "
          "%u groups of parts, %u of them resized, %u groups of cubes, %u of them changed, %u cubes replaced, "
          "%u entries followed\n",
          what, n_steps, walk.n_done, walk.n_refused, walk.n_made, walk.n_ended, walk.n_changes, walk.n_imports,
          walk.n_losses, walk.n_forks, walk.n_commits, walk.n_batches, walk.n_compactions, walk.n_bundle_groups,
          walk.n_bundles_moved, walk.n_part_groups, walk.n_part_changes, walk.n_joined_groups, walk.n_joined_changes,
          walk.n_cubes_replaced, walk.n_followed);
  fflush (stdout);
  quoit_ledger_unref (walk.handles[0]);
  quoit_ledger_unref (walk.handles[1]);
  quoit_ledger_unref (walk.follower);
  model_free (walk.model);
  g_rand_free (walk.rand);
}

int
main (void)
{
  guint32 seed = random_seed ("walk", 20250615);
  char *fast = fast_dir (), *durable = g_dir_make_tmp ("quoit-XXXXXX", NULL);
  g_autofree char *fast_path = g_build_filename (fast, "ledger.db", NULL);
  g_autofree char *durable_path = g_build_filename (durable, "ledger.db", NULL);

  go ("in memory", IN_MEMORY, NULL, seed, scaled (5000));
  go ("in a file", IN_FILE, fast_path, seed + 1, scaled (5000));
  go ("on a disk", IN_FILE, durable_path, seed + 2, scaled (300));
  go ("stored by the caller", STORED_BY_CALLER, NULL, seed + 3, scaled (5000));
  remove_dir (fast);
  remove_dir (durable);
  g_free (fast);
  g_free (durable);
  printf ("4 passed, 0 failed\n");
  return EXIT_SUCCESS;
}
