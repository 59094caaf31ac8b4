/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps, the same on a ledger and on a model of it: after each step both know the same, and every answer is the
 * one that the model expects. */
#include "walk-model.h"

typedef struct {
  const char *what;
  GRand *rand;
  guint32 seed;
  guint step;
  char *path;     /* NULL: in memory */
  Quoit *hand[2]; /* two handles of one file; one of a ledger in memory */
  Model *model;
  Source sources[N_SOURCES];
  guint n_reserved, n_refused, n_imports, n_forks, n_batches;
} Walk;

/* Where a step is made: in the ledger, or in a fork of it. */
typedef struct {
  Quoit *quoit;
  QuoitFork *fork; /* NULL: in the ledger */
  Model *model;
} Place;

#define walk_hold(walk, condition, ...)                                                                                \
  do                                                                                                                   \
    if (G_UNLIKELY (!(condition)))                                                                                     \
      {                                                                                                                \
        g_autofree char *why_ = g_strdup_printf (__VA_ARGS__);                                                         \
                                                                                                                       \
        hold (condition, "%s, QUOIT_TEST_SEED=%u, step %u: %s", (walk)->what, (walk)->seed, (walk)->step, why_);       \
      }                                                                                                                \
  while (0)

static guint
below (Walk *walk, guint n)
{
  return (guint) g_rand_int_range (walk->rand, 0, (gint) n);
}

static gint64
now_of (Walk *walk)
{
  /* Clocks of several callers: not one of them runs evenly. */
  return T0 + (gint64) walk->step * 1000 - (gint64) below (walk, 5000);
}

static QuoitSnapshot *
snapshot_of (const Place *place)
{
  return place->fork != NULL ? quoit_fork_snapshot (place->fork) : quoit_snapshot (place->quoit);
}

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

/* --- reserve --- */

static char *
some_key_of (Walk *walk, GHashTable *table)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (table), (GCompareFunc) strcmp);

  return keys == NULL ? NULL : g_strdup (g_list_nth_data (keys, below (walk, g_hash_table_size (table))));
}

static char *
some_slice (Walk *walk, const Model *model)
{
  g_autofree char *node = some_key_of (walk, model->nodes);

  if (node == NULL || below (walk, 20) == 0)
    return g_strdup ("s0/p0/p0-99");
  return g_strdup (((const ModelNode *) g_hash_table_lookup (model->nodes, node))->slice);
}

static Wish
some_wish (Walk *walk, const Model *model)
{
  Wish wish = { .name = g_strdup_printf ("group-%u", below (walk, 12)), .pool = -1, .zone = -1, .selector = -1 };

  wish.shape = below (walk, 30) == 0 ? N_SHAPES - 1 : below (walk, N_SHAPES - 1);
  wish.n_slices = 1 + below (walk, below (walk, 2) == 0 ? 2 : 5);
  if (below (walk, 2) == 0)
    wish.key = g_strdup_printf ("key-%u", below (walk, 200));
  if (below (walk, 3) == 0)
    wish.owner = g_strdup_printf ("owner-%u", below (walk, 3));
  if (below (walk, 5) == 0)
    wish.pool = (int) below (walk, N_POOLS + (below (walk, 5) == 0));
  if (below (walk, 6) == 0)
    wish.zone = (int) below (walk, 2);
  if (below (walk, 6) == 0)
    wish.selector = (int) below (walk, N_SELECTORS);
  if (below (walk, 12) == 0)
    wish.slice = some_slice (walk, model);
  if (below (walk, 6) == 0)
    wish.excluded = some_slice (walk, model);
  return wish;
}

static void
wish_clear (Wish *wish)
{
  g_free (wish->name);
  g_free (wish->key);
  g_free (wish->owner);
  g_free (wish->slice);
  g_free (wish->excluded);
}

static QuoitRequest *
request_of (const Wish *wish)
{
  QuoitRequest *request
      = want (wish->name, shapes[wish->shape].accelerator, shapes[wish->shape].topology, wish->n_slices);
  g_autofree char *pool = g_strdup_printf ("p%d", wish->pool), *zone = g_strdup_printf ("z%d", wish->zone);

  quoit_request_set_key (request, wish->key);
  quoit_request_set_owner (request, wish->owner);
  quoit_request_set_pool (request, wish->pool < 0 ? NULL : pool);
  quoit_request_set_zone (request, wish->zone < 0 ? NULL : zone);
  if (wish->selector >= 0)
    hold (quoit_request_add_selector (request, "ray.io/availability-zone", selectors[wish->selector].text, NULL), "%s",
          selectors[wish->selector].text);
  if (wish->slice != NULL)
    quoit_request_add_slice (request, wish->slice);
  if (wish->excluded != NULL)
    quoit_request_exclude_slice (request, wish->excluded);
  return request;
}

static GPtrArray *
slices_of (Walk *walk, const Place *place, const QuoitGroup *group)
{
  GPtrArray *slices = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (place);

  for (guint32 i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, i);
      guint32 slice = 0;

      walk_hold (walk, quoit_snapshot_lookup_slice (snapshot, name, &slice, NULL), "slice %s of a new group", name);
      walk_hold (walk, quoit_group_get_n_workers (group, i) == quoit_snapshot_get_slice_n_nodes (snapshot, slice),
                 "not all of slice %s", name);
      g_ptr_array_add (slices, quoit_snapshot_dup_slice_full_name (snapshot, slice));
    }
  return slices;
}

/* What the model says of a request that the ledger refused. */
static void
check_refusal (Walk *walk, const Model *model, const Wish *wish, const GError *error)
{
  g_autofree char *text = wish_text (wish);
  g_autoptr (GHashTable) free_slices = model_free_slices (model, wish);
  gboolean unknown = (wish->pool >= 0 && !model_has_pool (model, (guint) wish->pool))
                     || (wish->slice != NULL && g_str_has_suffix (wish->slice, "-99"))
                     || (wish->excluded != NULL && g_str_has_suffix (wish->excluded, "-99"));
  guint n_strict, n_loose;

  walk->n_refused++;
  if (unknown)
    {
      walk_hold (walk, error->code == QUOIT_ERROR_NOT_FOUND, "%s names what is not there: %s", text, error->message);
      return;
    }
  walk_hold (walk, g_hash_table_size (free_slices) < wish->n_slices, "%s fits: %s", text, error->message);
  model_count_known (model, wish, &n_strict, &n_loose);
  walk_hold (walk,
             (error->code == QUOIT_ERROR_NOT_NOW && n_loose >= wish->n_slices)
                 || (error->code == QUOIT_ERROR_NEVER && n_strict < wish->n_slices),
             "%s, of which %u to %u are known: %s", text, n_strict, n_loose, error->message);
}

static void
check_reserved (Walk *walk, const Place *place, const Wish *wish, const QuoitGroup *group)
{
  g_autoptr (GHashTable) free_slices = model_free_slices (place->model, wish);
  g_autoptr (GPtrArray) slices = slices_of (walk, place, group);

  walk_hold (walk, slices->len == wish->n_slices, "%u slices for %u", slices->len, wish->n_slices);
  for (guint i = 0; i < slices->len; i++)
    walk_hold (walk, g_hash_table_remove (free_slices, slices->pdata[i]), "slice %s was not to be had",
               (char *) slices->pdata[i]);
  walk_hold (walk, quoit_group_get_id (group) > place->model->last_id, "an old id");
  model_reserve (place->model, quoit_group_get_id (group), wish, slices);
  walk->n_reserved++;
}

static void
reserve (Walk *walk, const Place *place)
{
  Wish wish = some_wish (walk, place->model);
  g_autoptr (QuoitRequest) request = request_of (&wish);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = place->fork != NULL ? quoit_fork_reserve (place->fork, request, now_of (walk), &error)
                                                     : quoit_reserve (place->quoit, request, now_of (walk), &error);
  const ModelGroup *known = wish.key == NULL ? NULL : g_hash_table_lookup (place->model->keys, wish.key);
  g_autofree char *text = wish_text (&wish);

  if (known != NULL)
    {
      gboolean same = strcmp (known->request, text) == 0 && strcmp (known->name, wish.name) == 0
                      && strcmp (known->owner, wish.owner == NULL ? "" : wish.owner) == 0;

      walk_hold (walk, same == (group != NULL) && (same || error->code == QUOIT_ERROR_CONFLICT), "key %s: %s", wish.key,
                 said (error));
      walk_hold (walk,
                 !same
                     || (quoit_group_get_id (group) == known->id
                         && quoit_group_get_state (group) == model_state (place->model, known)),
                 "key %s names another group, or its state is not what it was", wish.key);
    }
  else if (g_hash_table_contains (place->model->live, wish.name))
    walk_hold (walk, group == NULL && error->code == QUOIT_ERROR_CONFLICT, "%s is taken: %s", wish.name, said (error));
  else if (group == NULL)
    check_refusal (walk, place->model, &wish, error);
  else
    check_reserved (walk, place, &wish, group);
  wish_clear (&wish);
}

/* --- release and node states --- */

static void
release (Walk *walk, const Place *place)
{
  g_autofree char *live = some_key_of (walk, place->model->live);
  g_autofree char *name
      = live == NULL || below (walk, 8) == 0 ? g_strdup_printf ("group-%u", below (walk, 14)) : g_steal_pointer (&live);
  const ModelGroup *group = g_hash_table_lookup (place->model->live, name);
  guint64 id = below (walk, 2) == 0               ? 0
               : group != NULL && below (walk, 4) ? group->id
                                                  : 1 + below (walk, (guint) place->model->last_id + 2);
  g_autofree char *ref = id == 0 ? g_strdup (name) : g_strdup_printf ("%s@%u", name, (guint) id);
  g_autoptr (GError) error = NULL;
  gboolean ok = place->fork != NULL ? quoit_fork_release (place->fork, ref, now_of (walk), &error)
                                    : quoit_release (place->quoit, ref, now_of (walk), &error);

  walk_hold (walk, ok == (group != NULL && (id == 0 || id == group->id)), "release %s: %s", ref, said (error));
  if (ok)
    model_release (place->model, group);
  else
    walk_hold (walk,
               error->code
                   == (group != NULL || (id != 0 && id <= place->model->last_id) ? QUOIT_ERROR_CONFLICT
                                                                                 : QUOIT_ERROR_NOT_FOUND),
               "release %s: %s", ref, said (error));
}

static void
change_state (Walk *walk, const Place *place)
{
  g_autofree char *name = some_key_of (walk, place->model->nodes);
  ModelNode *node = name == NULL ? NULL : g_hash_table_lookup (place->model->nodes, name);
  /* Mostly back to life: else little would fit after a while. */
  QuoitNodeState state = below (walk, 5) < 3 ? QUOIT_NODE_ALIVE : (QuoitNodeState) below (walk, 3);
  guint verb = place->fork != NULL ? 0 : below (walk, 3);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  if (node == NULL)
    return;
  if (verb == 0)
    ok = place->fork != NULL ? quoit_fork_set_node_state (place->fork, name, state, now_of (walk), &error)
                             : quoit_set_node_state (place->quoit, name, state, now_of (walk), &error);
  else
    ok = verb == 1 ? quoit_drain_node (place->quoit, name, now_of (walk), &error)
                   : quoit_undrain_node (place->quoit, name, now_of (walk), &error);
  walk_hold (walk, ok == (verb == 0 || node->state != QUOIT_NODE_DEAD), "state of %s: %s", name, said (error));
  if (ok)
    node->state = verb == 0 ? state : verb == 1 ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
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

static void
import (Walk *walk, const Place *place)
{
  guint index = below (walk, N_SOURCES);
  Source source = walk->sources[index];
  g_autofree char *text = NULL, *name = g_strdup_printf ("s%u", index);
  g_autoptr (GError) error = NULL;
  gboolean ok, may, empty = TRUE;

  for (guint p = 0; p < N_POOLS; p++)
    {
      if (below (walk, 2) == 0)
        change_pool (walk, &source.pools[p]);
      empty = empty && source.pools[p].n_slices == 0;
    }
  /* Fleet text has an item at least. */
  if (empty)
    return;
  text = source_text (&source);
  may = model_may_import (place->model, index, &source);
  ok = import_text (place->quoit, text, name, now_of (walk), &error);
  walk_hold (walk, ok == may && (ok || error->code == QUOIT_ERROR_CONFLICT), "import of %s: %s: %s", name, text,
             said (error));
  if (!ok)
    return;
  walk->n_imports++;
  model_import (place->model, index, &source);
  walk->sources[index] = source;
}

/* --- steps of steps --- */

static void
small_step (Walk *walk, const Place *place)
{
  guint die = below (walk, 100);

  if (die < 55)
    reserve (walk, place);
  else if (die < 85)
    release (walk, place);
  else
    change_state (walk, place);
  check (walk, place);
}

static void
try_in_fork (Walk *walk, Quoit *quoit)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  Place place = { NULL, fork, model_copy (walk->model) };

  for (guint i = 1 + below (walk, 6); i > 0; i--)
    small_step (walk, &place);
  model_free (place.model);
  walk->n_forks++;
}

static void
do_batch (Walk *walk, Quoit *quoit)
{
  Model *before = model_copy (walk->model);
  Source sources[N_SOURCES];
  Place place = { quoit, NULL, walk->model };
  g_autoptr (GError) error = NULL;

  memcpy (sources, walk->sources, sizeof sources);
  walk_hold (walk, quoit_begin_batch (quoit, &error), "%s", said (error));
  for (guint i = below (walk, 6); i > 0; i--)
    {
      if (below (walk, 8) == 0)
        import (walk, &place);
      small_step (walk, &place);
    }
  walk->n_batches++;
  if (below (walk, 3) > 0)
    {
      walk_hold (walk, quoit_commit_batch (quoit, &error), "%s", said (error));
      return model_free (before);
    }
  quoit_cancel_batch (quoit);
  memcpy (walk->sources, sources, sizeof sources);
  model_free (walk->model);
  walk->model = before;
}

static void
reopen (Walk *walk, guint which)
{
  g_autoptr (GError) error = NULL;

  if (walk->path == NULL)
    return;
  g_clear_pointer (&walk->hand[which], quoit_unref);
  walk->hand[which] = quoit_open (walk->path, 1000, &error);
  walk_hold (walk, walk->hand[which] != NULL, "%s", said (error));
}

static void
take_step (Walk *walk)
{
  guint which = walk->path == NULL ? 0 : below (walk, 2), die = below (walk, 100);
  Quoit *quoit = walk->hand[which];
  Place place = { quoit, NULL, walk->model };

  if (die < 8)
    import (walk, &place);
  else if (die < 12)
    {
      /* What is tried is tried on what this handle knows. */
      walk_hold (walk, quoit_refresh (quoit, NULL), "refresh");
      try_in_fork (walk, quoit);
    }
  else if (die < 17)
    do_batch (walk, quoit);
  else if (die < 19)
    reopen (walk, which);
  else if (die < 66)
    reserve (walk, &place);
  else if (die < 90)
    release (walk, &place);
  else
    change_state (walk, &place);

  /* The other handle has seen nothing of it yet. */
  if (walk->path != NULL)
    walk_hold (walk, quoit_refresh (walk->hand[0], NULL) && quoit_refresh (walk->hand[1], NULL), "refresh");
  for (guint i = 0; i < 2 && walk->hand[i] != NULL; i++)
    check (walk, &(Place) { walk->hand[i], NULL, walk->model });
}

static void
go (const char *what, char *path, guint32 seed, guint n_steps)
{
  Walk walk = { .what = what, .seed = seed, .path = path };
  g_autoptr (GError) error = NULL;

  walk.rand = g_rand_new_with_seed (seed);
  walk.model = model_new ();
  walk.hand[0] = path == NULL ? quoit_open_memory () : quoit_create (path, 1000, &error);
  walk_hold (&walk, walk.hand[0] != NULL, "%s", said (error));
  if (path != NULL)
    reopen (&walk, 1);
  for (walk.step = 1; walk.step <= n_steps; walk.step++)
    {
      take_step (&walk);
      if (walk.step % 100 == 0)
        walk_hold (&walk, quoit_verify (walk.hand[0], &error), "%s", said (error));
    }
  printf ("%s: %u steps, %u groups made, %u refused, %u imports, %u forks, %u batches\n", what, n_steps,
          walk.n_reserved, walk.n_refused, walk.n_imports, walk.n_forks, walk.n_batches);
  fflush (stdout);
  quoit_unref (walk.hand[0]);
  quoit_unref (walk.hand[1]);
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
