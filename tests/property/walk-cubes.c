/* SPDX-License-Identifier: Apache-2.0 */
/* Joined slices in the walk. The cubes of a pool are in the block of its zone and source, in one row. Which block the
 * ledger chooses is its own matter; the model knows whether slices of any cubes fit, and checks that each slice has
 * free cubes of one block. The positions of lost cubes are not in the model, so slices of adjacent cubes may be
 * refused. */
#include "walk.h"

static const char *const topologies[] = { NULL, "4x4x4", "4x4x8", "4x4x12" }; /* by number of cubes */

GPtrArray *
model_copy_names (const GPtrArray *names)
{
  GPtrArray *copy = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (copy, g_strdup (names->pdata[i]));
  return copy;
}

gboolean
model_is_joined (const Model *model, const ModelNode *node)
{
  for (guint i = 0; i < model->groups->len && node->group != 0; i++)
    {
      const ModelGroup *group = model->groups->pdata[i];

      if (group->id == node->group)
        return group->cubes != NULL;
    }
  return FALSE;
}

/* --- blocks --- */

/* Which labels dead nodes have is not in the model, so requests for cubes have no rules about labels. */
void
random_joined (Walk *walk, RequestSpec *spec)
{
  spec->shape = CUBE_SHAPE;
  spec->least = 0;
  spec->n_slices = 1 + random_below (walk, 2);
  spec->zone = spec->selector = -1;
  g_clear_pointer (&spec->slice, g_free);
  spec->are_adjacent = random_below (walk, 3) == 0;
  spec->n_cubes = 1 + random_below (walk, G_N_ELEMENTS (topologies) - 1);
}

QuoitRequest *
request_of_joined (const RequestSpec *spec)
{
  QuoitRequest *request
      = new_slice_request (spec->name, shapes[CUBE_SHAPE].accelerator, topologies[spec->n_cubes], spec->n_slices);

  require (quoit_request_set_cubes (request, spec->are_adjacent ? QUOIT_CUBES_ADJACENT : QUOIT_CUBES_ANY, NULL), "%s",
           topologies[spec->n_cubes]);
  return request;
}

static const ModelNode *
any_node (const Model *model, const char *cube)
{
  GHashTableIter iter;
  gpointer node;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    if (strcmp (((const ModelNode *) node)->slice, cube) == 0 && !((const ModelNode *) node)->lost)
      return node;
  return NULL;
}

enum { N_BLOCKS = 2 * N_SOURCES };

/* The block of a cube that has live nodes. Its name begins with the source, "s0/p1/p1-2". */
static guint
block_of (const Model *model, const char *cube)
{
  const ModelNode *node = any_node (model, cube);

  require (node != NULL && node->shape == CUBE_SHAPE, "%s is no cube", cube);
  return 2 * (guint) (cube[1] - '0') + node->zone;
}

/* Counts the cubes of each block. */
static void
count_in_blocks (const Model *model, GHashTable *cubes, guint counts[N_BLOCKS])
{
  GHashTableIter iter;
  gpointer cube;

  memset (counts, 0, N_BLOCKS * sizeof *counts);
  g_hash_table_iter_init (&iter, cubes);
  while (g_hash_table_iter_next (&iter, &cube, NULL))
    counts[block_of (model, cube)]++;
}

/* Returns how many slices can be joined from free cubes. */
static guint
count_fitting (const Model *model, const RequestSpec *spec)
{
  g_autoptr (GHashTable) cubes = model_free_slices (model, spec);
  guint counts[N_BLOCKS], n = 0;

  count_in_blocks (model, cubes, counts);
  for (guint b = 0; b < N_BLOCKS; b++)
    n += counts[b] / spec->n_cubes;
  return n;
}

/* Whether the ledger refuses slices that fit if any cubes can be joined, and may do so. */
static gboolean
may_refuse (Call *call, const RequestSpec *spec)
{
  const GError *error = call->error;

  if (!spec->are_adjacent || error == NULL || (error->code != QUOIT_ERROR_NOT_NOW && error->code != QUOIT_ERROR_NEVER))
    return FALSE;
  call->code = (QuoitErrorCode) error->code;
  return TRUE;
}

/* Expects the refusal of @n slices: never if the fleet has too few cubes even if all are free. Which block the others
 * are in depends on the labels of dead nodes. */
static void
expect_few_cubes (Call *call, const RequestSpec *spec, guint n)
{
  guint n_strict, n_loose;

  model_count_known (call->after, spec, &n_strict, &n_loose);
  if (n_loose / spec->n_cubes < n)
    call->code = QUOIT_ERROR_NEVER;
  else
    call->code
        = call->error != NULL && call->error->code == QUOIT_ERROR_NEVER ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW;
}

/* --- groups of the ledger --- */

/* Returns the full names of the cubes of a group, slice by slice. */
static GPtrArray *
cubes_of (const QuoitSnapshot *snapshot, const QuoitGroup *group)
{
  GPtrArray *cubes = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w += shapes[CUBE_SHAPE].hosts)
      {
        g_autofree char *name = quoit_group_dup_worker_slice (group, s, w);
        uint32_t slice;

        g_ptr_array_add (cubes, quoit_snapshot_lookup_slice (snapshot, name, &slice, NULL)
                                    ? quoit_snapshot_dup_slice_full_name (snapshot, slice)
                                    : g_strdup (name));
      }
  return cubes;
}

static GPtrArray *
cubes_after (const Call *call, const QuoitGroup *group)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (call->target);

  return cubes_of (snapshot, group);
}

/* The worst state of the cubes of a slice. */
static QuoitGroupSliceState
joined_state (const Model *model, const ModelGroup *group, guint slice)
{
  QuoitGroupSliceState worst = QUOIT_GROUP_SLICE_WHOLE;

  for (guint i = 0; i < group->spec.n_cubes; i++)
    worst = MAX (worst, model_slice_state (model, group->cubes->pdata[slice * group->spec.n_cubes + i]));
  return worst;
}

char *
model_cubes_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known,
                        const QuoitGroup *group)
{
  g_autoptr (GPtrArray) cubes = cubes_of (snapshot, group);
  const guint n = known->cubes->len / known->spec.n_cubes;

  if (quoit_group_get_n_slices (group) != n || cubes->len != known->cubes->len)
    return g_strdup_printf ("group %s has %u slices of %u cubes, not %u of %u", known->spec.name,
                            quoit_group_get_n_slices (group), cubes->len, n, known->cubes->len);
  for (guint i = 0; i < cubes->len; i++)
    if (strcmp (cubes->pdata[i], known->cubes->pdata[i]) != 0)
      return g_strdup_printf ("cube %u of group %s is %s, not %s", i, known->spec.name, (char *) cubes->pdata[i],
                              (char *) known->cubes->pdata[i]);
  for (guint s = 0; s < n; s++)
    if (quoit_group_get_slice_state (group, s) != joined_state (model, known, s))
      return g_strdup_printf ("slice %u of group %s is in state %d, not %d", s, known->spec.name,
                              quoit_group_get_slice_state (group, s), joined_state (model, known, s));
  return NULL;
}

/* --- changes --- */

static gboolean
contains (const GPtrArray *names, const char *name)
{
  return g_ptr_array_find_with_equal_func ((GPtrArray *) names, name, g_str_equal, NULL);
}

/* Whether the slice at @s of @cubes is one of @others, with the same cubes in the same order. */
static gboolean
has_same_slice (const GPtrArray *others, const GPtrArray *cubes, guint s, guint n_cubes)
{
  for (guint o = 0; o < others->len; o += n_cubes)
    {
      guint i = 0;

      while (i < n_cubes && strcmp (others->pdata[o + i], cubes->pdata[s + i]) == 0)
        i++;
      if (i == n_cubes)
        return TRUE;
    }
  return FALSE;
}

/* Gives the group the cubes that it has after the change. Those that are new must be free, and each slice must be in
 * one block. */
static void
become (Call *call, ModelGroup *group, GPtrArray *cubes)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) free = model_free_slices (call->after, &group->spec);
  const guint n_cubes = group->spec.n_cubes;

  walk_require (walk, cubes->len % n_cubes == 0, "%u cubes for slices of %u", cubes->len, n_cubes);
  for (guint i = 0; i < cubes->len; i++)
    {
      const char *cube = cubes->pdata[i];
      const gboolean is_new = !contains (group->cubes, cube);

      walk_require (walk, !is_new || g_hash_table_remove (free, cube), "%s: cube %s was not free", call->verb, cube);
      walk_require (walk,
                    !is_new
                        || block_of (call->after, cube) == block_of (call->after, cubes->pdata[i / n_cubes * n_cubes])
                        || any_node (call->after, cubes->pdata[i / n_cubes * n_cubes]) == NULL,
                    "%s: cube %s is in another block than the slice", call->verb, cube);
    }
  for (guint i = 0; i < group->cubes->len; i++)
    if (!contains (cubes, group->cubes->pdata[i]))
      model_leave_slice (call->after, group, group->cubes->pdata[i]);
  for (guint i = 0; i < cubes->len; i++)
    if (!contains (group->cubes, cubes->pdata[i]))
      model_take_slice (call->after, group, cubes->pdata[i]);
  g_ptr_array_unref (group->cubes);
  group->cubes = model_copy_names (cubes);
}

void
reserve_joined (Call *call, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms, const QuoitGroup *group)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new (), cubes = NULL;
  ModelGroup *made;

  if (count_fitting (call->after, spec) < spec->n_slices)
    {
      expect_few_cubes (call, spec, spec->n_slices);
      return;
    }
  if (group == NULL)
    {
      may_refuse (call, spec);
      return;
    }
  model_write (call->after, call->now_ms);
  made = model_take (call->after, spec, state, until_ms, none);
  walk_require (call->walk, quoit_group_get_id (group) == made->id, "id %u, not the next",
                (guint) quoit_group_get_id (group));
  cubes = cubes_after (call, group);
  walk_require (call->walk, cubes->len == spec->n_slices * spec->n_cubes, "%u cubes", cubes->len);
  become (call, made, cubes);
  call->walk->n_made++;
  call->walk->n_joined_groups++;
}

/* Returns the cubes of the slices that stay if @n are given up: lost ones first, then leaving ones, then the last. */
static GPtrArray *
list_kept (const Model *model, const ModelGroup *group, guint n)
{
  static const QuoitGroupSliceState order[]
      = { QUOIT_GROUP_SLICE_LOST, QUOIT_GROUP_SLICE_LEAVING, QUOIT_GROUP_SLICE_WHOLE };
  const guint n_slices = group->cubes->len / group->spec.n_cubes;
  g_autofree gboolean *leaves = g_new0 (gboolean, n_slices);
  GPtrArray *kept = g_ptr_array_new_with_free_func (g_free);

  for (guint state = 0; state < G_N_ELEMENTS (order); state++)
    for (guint s = n_slices; s-- > 0 && n > 0;)
      if (joined_state (model, group, s) == order[state])
        {
          leaves[s] = TRUE;
          n--;
        }
  for (guint i = 0; i < group->cubes->len; i++)
    if (!leaves[i / group->spec.n_cubes])
      g_ptr_array_add (kept, g_strdup (group->cubes->pdata[i]));
  return kept;
}

gboolean
resize_joined (Call *call, ModelGroup *group, gint64 n, const QuoitGroup *after)
{
  const guint n_cubes = group->spec.n_cubes, n_now = group->cubes->len / n_cubes;
  g_autoptr (GPtrArray) cubes = NULL, kept = NULL;

  if (n < 1)
    {
      call->code = QUOIT_ERROR_INVALID;
      return FALSE;
    }
  if (n == n_now)
    return FALSE;
  if (n > n_now && !model_has_named_objects (call->after, &group->spec))
    {
      call->code = QUOIT_ERROR_NOT_FOUND;
      return FALSE;
    }
  if (n > n_now && count_fitting (call->after, &group->spec) < (guint) n - n_now)
    {
      expect_few_cubes (call, &group->spec, (guint) n);
      return FALSE;
    }
  if (after == NULL)
    return n < n_now || !may_refuse (call, &group->spec);
  model_write (call->after, call->now_ms);
  cubes = cubes_after (call, after);
  walk_require (call->walk, cubes->len == (guint) n * n_cubes, "%u cubes after a resize to %u slices", cubes->len,
                (guint) n);
  kept = list_kept (call->after, group, n < n_now ? n_now - (guint) n : 0);
  for (guint s = 0; s < kept->len; s += n_cubes)
    walk_require (call->walk, has_same_slice (cubes, kept, s, n_cubes), "resize has changed the slice of %s",
                  (char *) kept->pdata[s]);
  become (call, group, cubes);
  call->walk->n_joined_changes++;
  return TRUE;
}

/* Whether all cubes of the slice with the cube @i are known, and in one block. An import can change their blocks. */
static gboolean
is_in_one_block (const Model *model, const ModelGroup *group, guint i)
{
  const guint n_cubes = group->spec.n_cubes, first = i / n_cubes * n_cubes;

  for (guint k = first; k < first + n_cubes; k++)
    if (any_node (model, group->cubes->pdata[k]) == NULL
        || block_of (model, group->cubes->pdata[k]) != block_of (model, group->cubes->pdata[first]))
      return FALSE;
  return TRUE;
}

/* Counts the cubes that have to be replaced, in each block. Sets *@are_known to whether each slice has a block. */
static guint
count_bad (const Model *model, const ModelGroup *group, guint counts[N_BLOCKS], gboolean *are_known)
{
  guint n = 0;

  memset (counts, 0, N_BLOCKS * sizeof *counts);
  *are_known = TRUE;
  for (guint i = 0; i < group->cubes->len; i++)
    if (model_slice_state (model, group->cubes->pdata[i]) != QUOIT_GROUP_SLICE_WHOLE)
      {
        if (is_in_one_block (model, group, i))
          counts[block_of (model, group->cubes->pdata[i])]++;
        else
          *are_known = FALSE;
        n++;
      }
  return n;
}

/* Checks the slices after a repair: all are whole, and those that were whole are the same. If each block had enough
 * free cubes, every slice keeps its good cubes. */
static void
check_repaired (Call *call, const ModelGroup *group, const GPtrArray *cubes, gboolean had_enough)
{
  const guint n_cubes = group->spec.n_cubes;

  walk_require (call->walk, cubes->len == group->cubes->len, "%u cubes after a repair of %u", cubes->len,
                group->cubes->len);
  for (guint i = 0; i < cubes->len; i++)
    walk_require (call->walk, model_slice_state (call->after, cubes->pdata[i]) == QUOIT_GROUP_SLICE_WHOLE,
                  "cube %s is not whole after a repair", (char *) cubes->pdata[i]);
  for (guint s = 0; s < group->cubes->len; s += n_cubes)
    walk_require (call->walk,
                  joined_state (call->after, group, s / n_cubes) != QUOIT_GROUP_SLICE_WHOLE
                      || has_same_slice (cubes, group->cubes, s, n_cubes),
                  "repair has changed the slice of %s", (char *) group->cubes->pdata[s]);
  for (guint i = 0; i < group->cubes->len; i++)
    walk_require (call->walk,
                  !had_enough || model_slice_state (call->after, group->cubes->pdata[i]) != QUOIT_GROUP_SLICE_WHOLE
                      || contains (cubes, group->cubes->pdata[i]),
                  "repair has given up %s", (char *) group->cubes->pdata[i]);
}

gboolean
repair_joined (Call *call, ModelGroup *group, const QuoitGroup *after)
{
  g_autoptr (GHashTable) free = model_free_slices (call->after, &group->spec);
  g_autoptr (GPtrArray) cubes = NULL;
  guint bad[N_BLOCKS], counts[N_BLOCKS];
  gboolean has_enough;
  const guint n_bad = count_bad (call->after, group, bad, &has_enough);

  if (n_bad == 0)
    return FALSE;
  if (!model_has_named_objects (call->after, &group->spec))
    {
      call->code = QUOIT_ERROR_NOT_FOUND;
      return FALSE;
    }
  count_in_blocks (call->after, free, counts);
  has_enough = has_enough && !group->spec.are_adjacent;
  for (guint b = 0; b < N_BLOCKS; b++)
    has_enough = has_enough && bad[b] <= counts[b];
  if (after == NULL)
    {
      walk_require (call->walk, !has_enough || call->error == NULL, "repair of %s: %s", group->spec.name,
                    error_text (call->error));
      expect_few_cubes (call, &group->spec, group->cubes->len / group->spec.n_cubes);
      return FALSE;
    }
  walk_require (call->walk, n_bad <= g_hash_table_size (free), "%u cubes are replaced by %u", n_bad,
                g_hash_table_size (free));
  model_write (call->after, call->now_ms);
  cubes = cubes_after (call, after);
  check_repaired (call, group, cubes, has_enough);
  become (call, group, cubes);
  call->walk->n_joined_changes++;
  call->walk->n_cubes_replaced += n_bad;
  return TRUE;
}

void
release_joined (Call *call, ModelGroup *group, guint slice, gboolean done)
{
  const guint n_cubes = group->spec.n_cubes;

  if (slice >= group->cubes->len / n_cubes)
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (done)
    {
      model_write (call->after, call->now_ms);
      if (group->cubes->len == n_cubes)
        {
          model_release (call->after, group);
          return;
        }
      for (guint i = 0; i < n_cubes; i++)
        model_leave_slice (call->after, group, group->cubes->pdata[slice * n_cubes + i]);
      g_ptr_array_remove_range (group->cubes, slice * n_cubes, n_cubes);
      call->walk->n_joined_changes++;
    }
}
