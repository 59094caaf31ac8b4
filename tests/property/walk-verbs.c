/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs on groups and owners, and the results that the model expects. */
#include "walk.h"

/* --- calls --- */

static gint64
now_of (Walk *walk)
{
  /* The clocks of several callers run unevenly, and some are wrong. */
  if (below (walk, 60) == 0)
    return walk->time_ms - G_GINT64_CONSTANT (31557600000);
  return walk->time_ms - (gint64) below (walk, 5000);
}

Call
call_begin (Walk *walk, const Place *place, const char *verb)
{
  Call call = { .walk = walk, .place = place, .verb = verb, .now_ms = now_of (walk) };

  call.time_ms = MAX (call.now_ms, place->model->clock_ms);
  call.after = model_at (place->model, call.now_ms);
  call.some_ended = call.after->seq > place->model->seq;
  return call;
}

gboolean
call_end (Call *call, gboolean done)
{
  Walk *walk = call->walk;

  walk_hold (walk, done == (call->error == NULL), "%s: done or refused?", call->verb);
  if (call->code == 0)
    walk_hold (walk, done, "%s: %s", call->verb, said (call->error));
  else
    walk_hold (walk, !done && call->error->code == (int) call->code, "%s: expected %s: %s", call->verb,
               quoit_error_code_name (call->code), said (call->error));
  walk->n_done += done;
  walk->n_refused += !done;
  walk->n_ended += done && call->some_ended;
  g_clear_error (&call->error);
  if (done)
    model_become (call->place->model, call->after);
  else if (call->place->in_batch && !call->is_unread)
    {
      /* In a batch, the expiries that a refused change noticed remain. */
      model_free (call->after);
      model_become (call->place->model, model_at (call->place->model, call->now_ms));
    }
  else
    model_free (call->after);
  return done;
}

char *
some_ref (Walk *walk, const Model *model, char **name, guint64 *id)
{
  const ModelGroup *group = model->groups->len == 0 ? NULL : model->groups->pdata[below (walk, model->groups->len)];

  /* Retries, because otherwise most would soon be removed groups. */
  for (guint i = 0; i < 4 && group != NULL && group->state == QUOIT_GROUP_REMOVED; i++)
    group = model->groups->pdata[below (walk, model->groups->len)];
  *name = group == NULL || below (walk, 8) == 0 ? g_strdup_printf ("group-%u", below (walk, 14))
                                                : g_strdup (group->wish.name);
  *id = below (walk, 2) == 0               ? 0
        : group != NULL && below (walk, 4) ? group->id
                                           : 1 + below (walk, (guint) model->last_id + 2);
  return *id == 0 ? g_strdup (*name) : g_strdup_printf ("%s@%u", *name, (guint) *id);
}

static gint64
some_lease (Walk *walk)
{
  static const gint64 leases[] = { -1, 0, 1, 2000, 5000, 20000, 60000, 3600000, G_GINT64_CONSTANT (9467280000000) };

  return leases[below (walk, 10) == 0 ? below (walk, G_N_ELEMENTS (leases)) : 4 + below (walk, 4)];
}

static gboolean
is_lease (gint64 lease_ms)
{
  return lease_ms >= 1 && lease_ms < G_GINT64_CONSTANT (9467280000000);
}

/* --- reserve and hold --- */

static char *
some_slice (Walk *walk, const Model *model)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (model->nodes), (GCompareFunc) strcmp);
  const char *node = names == NULL ? NULL : g_list_nth_data (names, below (walk, g_hash_table_size (model->nodes)));

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
  /* A range with equal ends is the same as the number. */
  if (below (walk, 4) == 0 && wish.n_slices > 1)
    wish.least = 1 + below (walk, wish.n_slices - 1);
  if (below (walk, 3) == 0)
    wish.key = g_strdup_printf ("key-%u", below (walk, 200));
  if (below (walk, 5) == 0)
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
  if (below (walk, 2) == 0)
    wish.lease_ms = some_lease (walk);
  if (below (walk, 3) == 0)
    some_bundles (walk, &wish);
  return wish;
}

static QuoitRequest *
request_of (const Wish *wish)
{
  QuoitRequest *request = wish->bundles.n > 0 ? request_of_bundles (wish)
                                              : want (wish->name, shapes[wish->shape].accelerator,
                                                      shapes[wish->shape].topology, wish->n_slices);
  g_autofree char *pool = g_strdup_printf ("p%d", wish->pool), *zone = g_strdup_printf ("z%d", wish->zone);

  if (wish->least != 0)
    hold (quoit_request_set_slices_between (request, wish->least, wish->n_slices, NULL), "%u", wish->least);
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
  if (wish->lease_ms > 0)
    hold (quoit_request_set_lease_ms (request, wish->lease_ms, NULL), "%d", (int) wish->lease_ms);
  return request;
}

/* Full names in the group's order. */
static GPtrArray *
slices_of (Walk *walk, const Place *place, const QuoitGroup *group)
{
  GPtrArray *slices = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (place);

  for (guint32 i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, i);
      guint32 slice = 0;

      walk_hold (walk, quoit_snapshot_lookup_slice (snapshot, name, &slice, NULL), "slice %s of a group", name);
      walk_hold (walk, quoit_group_get_n_workers (group, i) == quoit_snapshot_get_slice_n_nodes (snapshot, slice),
                 "not all of slice %s", name);
      g_ptr_array_add (slices, quoit_snapshot_dup_slice_full_name (snapshot, slice));
    }
  return slices;
}

/* Expects the refusal of a wish for @n slices of which fewer are free: never or not now, as far as the model can
 * decide. */
static void
expect_shortage (Call *call, const Wish *wish, guint n)
{
  Walk *walk = call->walk;
  g_autofree char *text = wish_text (wish);
  guint n_strict, n_loose;

  model_count_known (call->after, wish, &n_strict, &n_loose);
  if (n_loose < n)
    call->code = QUOIT_ERROR_NEVER;
  else if (n_strict >= n || call->error == NULL)
    call->code = QUOIT_ERROR_NOT_NOW;
  else
    /* Between the two counts the result depends on the labels of dead nodes. */
    {
      walk_hold (walk, call->error->code == QUOIT_ERROR_NEVER || call->error->code == QUOIT_ERROR_NOT_NOW, "%s: %s",
                 text, said (call->error));
      call->code = (QuoitErrorCode) call->error->code;
    }
}

static gboolean
names_what_is_not (const Model *model, const Wish *wish)
{
  return (wish->pool >= 0 && !model_has_pool (model, (guint) wish->pool))
         || (wish->slice != NULL && !model_has_slice (model, wish->slice))
         || (wish->excluded != NULL && !model_has_slice (model, wish->excluded));
}

static void
check_made (Call *call, const Wish *wish, QuoitGroupState state, gint64 until_ms, const QuoitGroup *group)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, wish);
  g_autoptr (GPtrArray) slices = slices_of (walk, call->place, group);
  guint n_free = g_hash_table_size (free_slices);
  const ModelGroup *made;

  walk_hold (walk, slices->len == MIN (wish->n_slices, n_free), "%u slices for %u", slices->len, wish->n_slices);
  for (guint i = 0; i < slices->len; i++)
    walk_hold (walk, g_hash_table_remove (free_slices, slices->pdata[i]), "slice %s was not to be had",
               (char *) slices->pdata[i]);
  model_write (call->after, call->now_ms);
  made = model_take (call->after, wish, state, until_ms, slices);
  walk_hold (walk, quoit_group_get_id (group) == made->id, "id %u, not the next, %u",
             (guint) quoit_group_get_id (group), (guint) made->id);
  walk->n_made++;
}

static void
check_retry (Call *call, const Wish *wish, gboolean holds, const ModelGroup *known, const QuoitGroup *group)
{
  Walk *walk = call->walk;
  g_autofree char *text = wish_text (wish);
  gboolean same = strcmp (known->request, text) == 0 && strcmp (known->wish.name, wish->name) == 0
                  && g_strcmp0 (known->wish.owner, wish->owner) == 0;

  if (!same || (!holds && known->state == QUOIT_GROUP_HELD))
    call->code = QUOIT_ERROR_CONFLICT;
  else
    walk_hold (walk,
               group != NULL && quoit_group_get_id (group) == known->id
                   && quoit_group_get_state (group) == model_state (call->after, known),
               "key %s names another group, or its state is not what it was: %s", wish->key, said (call->error));
}

void
reserve_or_keep (Walk *walk, const Place *place)
{
  Wish wish = some_wish (walk, place->model);
  gboolean holds = place->fork == NULL && wish.lease_ms != 0 && below (walk, 4) > 0;
  g_autoptr (QuoitRequest) request = request_of (&wish);
  Call call = call_begin (walk, place, holds ? "hold" : "reserve");
  g_autoptr (QuoitGroup) group
      = place->fork != NULL ? quoit_fork_reserve (place->fork, request, call.now_ms, NULL, &call.error)
        : holds             ? quoit_ledger_hold (place->ledger, request, wish.lease_ms, call.now_ms, NULL, &call.error)
                            : quoit_ledger_reserve (place->ledger, request, call.now_ms, NULL, &call.error);
  const ModelGroup *known = wish.key == NULL ? NULL : model_keyed (call.after, wish.key);
  const ModelOwner *owner = wish.owner == NULL ? NULL : model_owner (call.after, wish.owner);
  gboolean has_lease = holds || wish.lease_ms > 0;
  g_autoptr (GHashTable) free_slices = model_free_slices (call.after, &wish);

  if (has_lease && !is_lease (wish.lease_ms))
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL)
    check_retry (&call, &wish, holds, known, group);
  else if (model_live (call.after, wish.name) != NULL)
    call.code = QUOIT_ERROR_CONFLICT;
  else if (owner != NULL && owner->ended)
    call.code = QUOIT_ERROR_EXPIRED;
  else if (names_what_is_not (call.after, &wish))
    call.code = QUOIT_ERROR_NOT_FOUND;
  else if (wish.bundles.n > 0)
    reserve_bundles (&call, &wish, holds ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                     has_lease ? call.time_ms + wish.lease_ms : 0, group);
  else if (g_hash_table_size (free_slices) < (wish.least == 0 ? wish.n_slices : wish.least))
    expect_shortage (&call, &wish, wish.least == 0 ? wish.n_slices : wish.least);
  else if (group != NULL)
    check_made (&call, &wish, holds ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                has_lease ? call.time_ms + wish.lease_ms : 0, group);
  call_end (&call, group != NULL);
  wish_clear (&wish);
}

/* --- leases --- */

void
confirm_or_renew (Walk *walk, const Place *place)
{
  gboolean renews = below (walk, 2) == 0;
  gint64 lease_ms = some_lease (walk);
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, place, renews ? "renew" : "confirm");
  g_autoptr (QuoitGroup) group = NULL;
  ModelGroup *known;

  ref = some_ref (walk, place->model, &name, &id);
  group = renews ? quoit_ledger_renew (place->ledger, ref, lease_ms, call.now_ms, &call.error)
                 : quoit_ledger_confirm (place->ledger, ref, lease_ms, call.now_ms, &call.error);
  known = model_lookup (call.after, name, id, &call.code);
  if (!is_lease (lease_ms) && (renews || lease_ms != 0))
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && renews && known->until_ms == 0)
    call.code = QUOIT_ERROR_CONFLICT;
  else if (known != NULL)
    {
      gint64 until_ms = lease_ms == 0 ? 0 : call.time_ms + lease_ms;

      if (!renews && known->state == QUOIT_GROUP_RESERVED)
        until_ms = known->until_ms;
      if (until_ms != known->until_ms || (!renews && known->state == QUOIT_GROUP_HELD))
        model_write (call.after, call.now_ms);
      known->until_ms = until_ms;
      if (!renews)
        known->state = QUOIT_GROUP_RESERVED;
      walk_hold (walk,
                 group != NULL && quoit_group_get_id (group) == known->id
                     && quoit_group_get_until_ms (group) == model_until (call.after, known)
                     && quoit_group_get_state (group) == model_state (call.after, known),
                 "%s %s gives another group, end or state: %s", call.verb, ref, said (call.error));
    }
  call_end (&call, group != NULL);
}

void
release (Walk *walk, const Place *place)
{
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, place, "release");
  ModelGroup *known;
  gboolean done;

  ref = some_ref (walk, place->model, &name, &id);
  known = model_lookup (call.after, name, id, &call.code);
  done = place->fork != NULL ? quoit_fork_release (place->fork, ref, call.now_ms, &call.error)
                             : quoit_ledger_release (place->ledger, ref, call.now_ms, &call.error);
  if (known != NULL)
    {
      model_write (call.after, call.now_ms);
      model_release (call.after, known);
    }
  call_end (&call, done);
}

static ModelGroup *
find_gone (const Model *model, const char *name, guint64 id)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (group->id == id && strcmp (group->wish.name, name) == 0)
        return group;
    }
  return NULL;
}

void
forget (Walk *walk, const Place *place)
{
  gboolean by_key = below (walk, 2) == 0;
  g_autofree char *key = g_strdup_printf ("key-%u", below (walk, 200)), *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, place, "forget");
  ModelGroup *known;
  gboolean done;

  ref = some_ref (walk, place->model, &name, &id);
  done = by_key ? quoit_ledger_forget_key (place->ledger, key, call.now_ms, &call.error)
                : quoit_ledger_forget (place->ledger, ref, call.now_ms, &call.error);
  known = by_key ? model_keyed (call.after, key) : find_gone (call.after, name, id);
  call.is_unread = !by_key && id == 0;
  if (call.is_unread)
    call.code = QUOIT_ERROR_INVALID;
  else if (known == NULL)
    call.code = QUOIT_ERROR_NOT_FOUND;
  else if (known->state != QUOIT_GROUP_REMOVED)
    call.code = QUOIT_ERROR_CONFLICT;
  else
    {
      model_write (call.after, call.now_ms);
      model_forget (call.after, known);
    }
  call_end (&call, done);
}

/* --- owners --- */

static gboolean
set_owner (Call *call, const char *name, gint64 lease_ms)
{
  ModelOwner *owner = model_owner (call->after, name);
  gint64 until_ms = lease_ms == 0 ? 0 : call->time_ms + lease_ms;

  if (lease_ms != 0 && !is_lease (lease_ms))
    call->code = QUOIT_ERROR_INVALID;
  else if (owner != NULL && !owner->ended)
    {
      if (owner->until_ms != until_ms)
        model_write (call->after, call->now_ms);
      owner->until_ms = until_ms;
    }
  else
    {
      owner = g_new0 (ModelOwner, 1);
      model_write (call->after, call->now_ms);
      *owner = (ModelOwner) { ++call->after->last_id, until_ms, FALSE };
      g_hash_table_replace (call->after->owners, g_strdup (name), owner);
    }
  return quoit_ledger_set_owner (call->place->ledger, name, lease_ms, call->now_ms, &call->error);
}

static gboolean
renew_owner (Call *call, const char *name, gint64 lease_ms)
{
  ModelOwner *owner = model_owner (call->after, name);

  if (!is_lease (lease_ms))
    call->code = QUOIT_ERROR_INVALID;
  else if (owner == NULL)
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (owner->ended)
    call->code = QUOIT_ERROR_EXPIRED;
  else if (owner->until_ms == 0)
    call->code = QUOIT_ERROR_CONFLICT;
  else
    {
      if (owner->until_ms != call->time_ms + lease_ms)
        model_write (call->after, call->now_ms);
      owner->until_ms = call->time_ms + lease_ms;
    }
  return quoit_ledger_renew_owner (call->place->ledger, name, lease_ms, call->now_ms, &call->error);
}

static gboolean
end_owner (Call *call, const char *name)
{
  Walk *walk = call->walk;
  const ModelOwner *owner = model_owner (call->after, name);
  gboolean is_set = owner != NULL && !owner->ended, was_ended = owner != NULL && owner->ended, done;
  uint32_t n = 0;
  guint n_known = 0;

  for (guint i = 0; i < call->after->groups->len; i++)
    {
      const ModelGroup *group = call->after->groups->pdata[i];

      n_known += group->state != QUOIT_GROUP_REMOVED && g_strcmp0 (group->wish.owner, name) == 0;
    }
  if (!is_set && n_known == 0)
    call->code = was_ended ? QUOIT_ERROR_EXPIRED : QUOIT_ERROR_NOT_FOUND;
  else
    {
      model_write (call->after, call->now_ms);
      model_end_owner (call->after, name);
    }
  done = quoit_ledger_end_owner (call->place->ledger, name, call->now_ms, &n, &call->error);
  walk_hold (walk, !done || n == n_known, "%u groups of %s, not %u", n, name, n_known);
  return done;
}

void
change_owner (Walk *walk, const Place *place)
{
  g_autofree char *name = g_strdup_printf ("owner-%u", below (walk, 3));
  gint64 lease_ms = some_lease (walk);
  guint verb = below (walk, 5);
  Call call = call_begin (walk, place, verb < 2 ? "owner set" : verb < 4 ? "owner renew" : "owner end");

  call_end (&call, verb < 2   ? set_owner (&call, name, lease_ms)
                   : verb < 4 ? renew_owner (&call, name, lease_ms)
                              : end_owner (&call, name));
}

/* --- changing slices --- */

static void
check_turn (Call *call, QuoitGroupChange *turn, const ModelGroup *known, gboolean is_nothing)
{
  Walk *walk = call->walk;

  if (turn == NULL)
    return;
  walk_hold (walk, (quoit_group_change_get_before (turn) == quoit_group_change_get_after (turn)) == is_nothing,
             "%s changes something, or nothing", call->verb);
  walk_hold (walk, quoit_group_get_id (quoit_group_change_get_before (turn)) == known->id, "%s of another group",
             call->verb);
  walk->n_changes += !is_nothing;
}

/* Removes up to @n of the group's slices in @state, from the last on. */
static guint
leave_some (Model *model, const ModelGroup *group, QuoitGroupSliceState state, guint n)
{
  g_autoptr (GPtrArray) slices = model_slices_of (model, group);
  guint n_left = 0;

  for (guint i = slices->len; i-- > 0 && n_left < n;)
    if (model_slice_state (model, slices->pdata[i]) == state)
      {
        model_leave_slice (model, group, slices->pdata[i]);
        n_left++;
      }
  return n_left;
}

/* Checks that the group has @n new slices that its request allows, and takes them over from the ledger. */
static void
take_new (Call *call, const ModelGroup *group, const QuoitGroup *after, guint n)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, &group->wish);
  g_autoptr (GPtrArray) before = model_slices_of (call->after, group);
  g_autoptr (GPtrArray) slices = slices_of (walk, call->place, after);

  walk_hold (walk, slices->len == before->len + n, "%s gives %u slices, not %u", call->verb, slices->len,
             before->len + n);
  for (guint i = 0; i < slices->len; i++)
    {
      if (g_ptr_array_find_with_equal_func (before, slices->pdata[i], g_str_equal, NULL))
        continue;
      walk_hold (walk, g_hash_table_contains (free_slices, slices->pdata[i]), "slice %s was not to be had",
                 (char *) slices->pdata[i]);
      model_take_slice (call->after, group, slices->pdata[i]);
      n--;
    }
  walk_hold (walk, n == 0, "%s lets go of slices that are whole", call->verb);
}

/* Whether the group can get @n more slices; otherwise sets the expected code. */
static gboolean
can_have (Call *call, const ModelGroup *group, guint n)
{
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, &group->wish);
  g_autoptr (GPtrArray) slices = model_slices_of (call->after, group);

  /* An excluded slice that no longer exists has no effect. */
  if ((group->wish.pool >= 0 && !model_has_pool (call->after, (guint) group->wish.pool))
      || (group->wish.slice != NULL && !model_has_slice (call->after, group->wish.slice)))
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (g_hash_table_size (free_slices) < n)
    expect_shortage (call, &group->wish, slices->len + n);
  else
    return TRUE;
  return FALSE;
}

void
resize (Walk *walk, const Place *place)
{
  g_autofree char *name = NULL, *ref = NULL;
  gint64 n = (gint64) below (walk, 7) - (below (walk, 8) == 0);
  guint64 id;
  Call call = call_begin (walk, place, "resize");
  g_autoptr (GPtrArray) slices = NULL;
  QuoitGroupChange *turn;
  ModelGroup *known;

  ref = some_ref (walk, place->model, &name, &id);
  turn = place->fork != NULL ? quoit_fork_resize (place->fork, ref, n, call.now_ms, NULL, &call.error)
                             : quoit_ledger_resize (place->ledger, ref, n, call.now_ms, NULL, &call.error);
  known = model_lookup (call.after, name, id, &call.code);
  slices = known == NULL ? NULL : model_slices_of (call.after, known);
  if (known != NULL && known->seats != NULL)
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && (n < 1 || (known->wish.least != 0 && (n < known->wish.least || n > known->wish.n_slices))))
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && n == slices->len)
    check_turn (&call, turn, known, TRUE);
  else if (known != NULL && n < slices->len)
    {
      guint n_left = slices->len - (guint) n;

      model_write (call.after, call.now_ms);
      n_left -= leave_some (call.after, known, QUOIT_GROUP_SLICE_LOST, n_left);
      n_left -= leave_some (call.after, known, QUOIT_GROUP_SLICE_LEAVING, n_left);
      leave_some (call.after, known, QUOIT_GROUP_SLICE_WHOLE, n_left);
      check_turn (&call, turn, known, FALSE);
    }
  else if (known != NULL && can_have (&call, known, (guint) n - slices->len) && turn != NULL)
    {
      model_write (call.after, call.now_ms);
      check_turn (&call, turn, known, FALSE);
      take_new (&call, known, quoit_group_change_get_after (turn), (guint) n - slices->len);
    }
  call_end (&call, turn != NULL);
  quoit_group_change_free (turn);
}

void
repair (Walk *walk, const Place *place)
{
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, place, "repair");
  QuoitGroupChange *turn;
  ModelGroup *known;
  guint n_lost;

  ref = some_ref (walk, place->model, &name, &id);
  turn = place->fork != NULL ? quoit_fork_repair (place->fork, ref, call.now_ms, NULL, &call.error)
                             : quoit_ledger_repair (place->ledger, ref, call.now_ms, NULL, &call.error);
  known = model_lookup (call.after, name, id, &call.code);
  if (known != NULL && known->seats != NULL)
    check_turn (&call, turn, known, repair_bundles (&call, known, turn != NULL) == 0);
  else if (known != NULL)
    {
      g_autoptr (GPtrArray) slices = model_slices_of (call.after, known);

      n_lost = leave_some (call.after, known, QUOIT_GROUP_SLICE_LOST, slices->len);
      n_lost += leave_some (call.after, known, QUOIT_GROUP_SLICE_LEAVING, slices->len);
      if (n_lost == 0)
        check_turn (&call, turn, known, TRUE);
      else if (can_have (&call, known, n_lost) && turn != NULL)
        {
          model_write (call.after, call.now_ms);
          check_turn (&call, turn, known, FALSE);
          take_new (&call, known, quoit_group_change_get_after (turn), n_lost);
        }
    }
  call_end (&call, turn != NULL);
  quoit_group_change_free (turn);
}

void
release_slice (Walk *walk, const Place *place)
{
  g_autofree char *name = NULL, *ref = NULL, *slice = some_slice (walk, place->model);
  guint64 id;
  Call call = call_begin (walk, place, "release of a slice");
  QuoitGroupChange *turn;
  ModelGroup *known;

  ref = some_ref (walk, place->model, &name, &id);
  known = model_lookup (call.after, name, id, &call.code);
  if (known != NULL && known->seats != NULL)
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL)
    {
      g_autoptr (GPtrArray) slices = model_slices_of (call.after, known);

      if (below (walk, 4) > 0)
        {
          g_free (slice);
          slice = g_strdup (slices->pdata[below (walk, slices->len)]);
        }
      if (!g_ptr_array_find_with_equal_func (slices, slice, g_str_equal, NULL))
        call.code = QUOIT_ERROR_NOT_FOUND;
      else
        {
          model_write (call.after, call.now_ms);
          if (slices->len == 1)
            model_release (call.after, known);
          else
            model_leave_slice (call.after, known, slice);
        }
    }
  turn = quoit_ledger_release_slice (place->ledger, ref, slice, call.now_ms, &call.error);
  call_end (&call, turn != NULL);
  quoit_group_change_free (turn);
}
