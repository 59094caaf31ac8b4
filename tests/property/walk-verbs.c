/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs on groups and owners, and the results that the model expects. */
#include "walk.h"

/* --- calls --- */

static gint64
now_of (Walk *walk, const Model *model)
{
  /* The clocks of several callers run unevenly, and some are wrong. After a first entry of last year, the right ones
   * would be refused. */
  if (random_below (walk, 60) == 0 && model->clock_ms != 0)
    return walk->time_ms - G_GINT64_CONSTANT (31557600000);
  return walk->time_ms - (gint64) random_below (walk, 5000);
}

Call
call_begin (Walk *walk, const Target *target, const char *verb)
{
  Call call = { .walk = walk, .target = target, .verb = verb, .now_ms = now_of (walk, target->model) };

  call.time_ms = MAX (call.now_ms, target->model->clock_ms);
  call.after = model_at (target->model, call.now_ms);
  call.some_ended = call.after->seq > target->model->seq;
  return call;
}

gboolean
call_end (Call *call, gboolean done)
{
  Walk *walk = call->walk;

  walk_require (walk, done == (call->error == NULL), "%s: result and error disagree", call->verb);
  if (call->code == 0)
    walk_require (walk, done, "%s: %s", call->verb, error_text (call->error));
  else
    walk_require (walk, !done && call->error->code == (int) call->code, "%s: expected %s: %s", call->verb,
                  quoit_error_code_name (call->code), error_text (call->error));
  walk->n_done += done;
  walk->n_refused += !done;
  walk->n_ended += done && call->some_ended;
  g_clear_error (&call->error);
  if (done)
    model_become (call->target->model, call->after);
  else if (call->target->in_batch && !call->is_unread)
    {
      /* In a batch, the expiries that a refused change recorded remain. */
      model_free (call->after);
      model_become (call->target->model, model_at (call->target->model, call->now_ms));
    }
  else
    model_free (call->after);
  return done;
}

char *
random_ref (Walk *walk, const Model *model, char **name, guint64 *id)
{
  const ModelGroup *group
      = model->groups->len == 0 ? NULL : model->groups->pdata[random_below (walk, model->groups->len)];

  /* Retries, because otherwise most would soon be removed groups, and few have joined slices. */
  for (guint i = 0; i < 4 && group != NULL && (group->state == QUOIT_GROUP_REMOVED || (i == 0 && group->cubes == NULL));
       i++)
    group = model->groups->pdata[random_below (walk, model->groups->len)];
  *name = group == NULL || random_below (walk, 8) == 0 ? g_strdup_printf ("group-%u", random_below (walk, 14))
                                                       : g_strdup (group->spec.name);
  *id = random_below (walk, 2) == 0               ? 0
        : group != NULL && random_below (walk, 4) ? group->id
                                                  : 1 + random_below (walk, (guint) model->last_id + 2);
  return *id == 0 ? g_strdup (*name) : g_strdup_printf ("%s@%u", *name, (guint) *id);
}

static gint64
random_lease (Walk *walk)
{
  static const gint64 leases[] = { -1, 0, 1, 2000, 5000, 20000, 60000, 3600000, G_GINT64_CONSTANT (9467280000000) };

  return leases[random_below (walk, 10) == 0 ? random_below (walk, G_N_ELEMENTS (leases)) : 4 + random_below (walk, 4)];
}

static gboolean
is_lease (gint64 lease_ms)
{
  return lease_ms >= 1 && lease_ms < G_GINT64_CONSTANT (9467280000000);
}

/* --- reserve and hold --- */

static char *
random_slice (Walk *walk, const Model *model)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (model->nodes), (GCompareFunc) strcmp);
  const char *node
      = names == NULL ? NULL : g_list_nth_data (names, random_below (walk, g_hash_table_size (model->nodes)));

  if (node == NULL || random_below (walk, 20) == 0)
    return g_strdup ("s0/p0/p0-99");
  return g_strdup (((const ModelNode *) g_hash_table_lookup (model->nodes, node))->slice);
}

static RequestSpec
random_spec (Walk *walk, const Model *model)
{
  RequestSpec spec
      = { .name = g_strdup_printf ("group-%u", random_below (walk, 12)), .pool = -1, .zone = -1, .selector = -1 };

  spec.shape = random_below (walk, 30) == 0 ? N_SHAPES - 1 : random_below (walk, N_SHAPES - 1);
  spec.n_slices = 1 + random_below (walk, random_below (walk, 2) == 0 ? 2 : 5);
  /* A range with equal ends is the same as the number. */
  if (random_below (walk, 4) == 0 && spec.n_slices > 1)
    spec.least = 1 + random_below (walk, spec.n_slices - 1);
  if (random_below (walk, 3) == 0)
    spec.key = g_strdup_printf ("key-%u", random_below (walk, 200));
  if (random_below (walk, 5) == 0)
    spec.owner = g_strdup_printf ("owner-%u", random_below (walk, 3));
  if (random_below (walk, 5) == 0)
    spec.pool = (int) random_below (walk, N_POOLS + (random_below (walk, 5) == 0));
  if (random_below (walk, 6) == 0)
    spec.zone = (int) random_below (walk, 2);
  if (random_below (walk, 6) == 0)
    spec.selector = (int) random_below (walk, N_SELECTORS);
  if (random_below (walk, 12) == 0)
    spec.slice = random_slice (walk, model);
  if (random_below (walk, 6) == 0)
    spec.excluded = random_slice (walk, model);
  if (random_below (walk, 2) == 0)
    spec.lease_ms = random_lease (walk);
  if (random_below (walk, 3) == 0)
    random_bundles (walk, &spec);
  else if (random_below (walk, 4) == 0 && !model_has_mixed_slices (model))
    random_parts (walk, &spec);
  else if (random_below (walk, 2) == 0)
    random_joined (walk, &spec);
  return spec;
}

static QuoitRequest *
request_of (const RequestSpec *spec)
{
  QuoitRequest *request = spec->bundles.are_parts ? request_of_parts (spec)
                          : spec->bundles.n > 0   ? request_of_bundles (spec)
                          : spec->n_cubes > 0     ? request_of_joined (spec)
                                                  : new_slice_request (spec->name, shapes[spec->shape].accelerator,
                                                                       shapes[spec->shape].topology, spec->n_slices);
  g_autofree char *pool = g_strdup_printf ("p%d", spec->pool), *zone = g_strdup_printf ("z%d", spec->zone);

  if (spec->least != 0)
    require (quoit_request_set_slice_range (request, spec->least, spec->n_slices, NULL), "%u", spec->least);
  quoit_request_set_key (request, spec->key, NULL);
  quoit_request_set_owner (request, spec->owner, NULL);
  quoit_request_set_pool (request, spec->pool < 0 ? NULL : pool);
  quoit_request_set_zone (request, spec->zone < 0 ? NULL : zone);
  if (spec->selector >= 0)
    require (quoit_request_add_selector (request, "ray.io/availability-zone", selectors[spec->selector].text, NULL),
             "%s", selectors[spec->selector].text);
  if (spec->slice != NULL)
    quoit_request_add_slice (request, spec->slice);
  if (spec->excluded != NULL)
    quoit_request_exclude_slice (request, spec->excluded);
  if (spec->lease_ms > 0)
    require (quoit_request_set_lease_ms (request, spec->lease_ms, NULL), "%d", (int) spec->lease_ms);
  return request;
}

/* Full names in the group's order. */
static GPtrArray *
slices_of (Walk *walk, const Target *target, const QuoitGroup *group)
{
  GPtrArray *slices = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target);

  for (guint32 i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, i);
      guint32 slice = 0;

      walk_require (walk, quoit_snapshot_lookup_slice (snapshot, name, &slice, NULL),
                    "slice %s of a group is not in the snapshot", name);
      walk_require (walk, quoit_group_get_n_workers (group, i) == quoit_snapshot_get_slice_n_nodes (snapshot, slice),
                    "the group does not have all workers of slice %s", name);
      g_ptr_array_add (slices, quoit_snapshot_dup_slice_full_name (snapshot, slice));
    }
  return slices;
}

/* Expects the refusal of a spec for @n slices of which fewer are free: never or not now, as far as the model can
 * decide. */
static void
expect_shortage (Call *call, const RequestSpec *spec, guint n)
{
  Walk *walk = call->walk;
  g_autofree char *text = spec_text (spec);
  guint n_strict, n_loose;

  model_count_known (call->after, spec, &n_strict, &n_loose);
  if (n_loose < n)
    call->code = QUOIT_ERROR_NEVER;
  else if (n_strict >= n || call->error == NULL)
    call->code = QUOIT_ERROR_NOT_NOW;
  else
    /* Between the two counts the result depends on the labels of dead nodes. */
    {
      walk_require (walk, call->error->code == QUOIT_ERROR_NEVER || call->error->code == QUOIT_ERROR_NOT_NOW, "%s: %s",
                    text, error_text (call->error));
      call->code = (QuoitErrorCode) call->error->code;
    }
}

static gboolean
names_unknown_object (const Model *model, const RequestSpec *spec)
{
  return (spec->pool >= 0 && !model_has_pool (model, (guint) spec->pool))
         || (spec->slice != NULL && !model_has_slice (model, spec->slice))
         || (spec->excluded != NULL && !model_has_slice (model, spec->excluded));
}

static void
check_made (Call *call, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms, const QuoitGroup *group)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, spec);
  g_autoptr (GPtrArray) slices = slices_of (walk, call->target, group);
  guint n_free = g_hash_table_size (free_slices);
  const ModelGroup *made;

  walk_require (walk, slices->len == MIN (spec->n_slices, n_free), "%u slices for a request of %u", slices->len,
                spec->n_slices);
  for (guint i = 0; i < slices->len; i++)
    walk_require (walk, g_hash_table_remove (free_slices, slices->pdata[i]), "slice %s was not free",
                  (char *) slices->pdata[i]);
  model_write (call->after, call->now_ms);
  made = model_take (call->after, spec, state, until_ms, slices);
  walk_require (walk, quoit_group_get_id (group) == made->id, "id %u, not the next, %u",
                (guint) quoit_group_get_id (group), (guint) made->id);
  walk->n_made++;
}

static void
check_retry (Call *call, const RequestSpec *spec, gboolean holds, const ModelGroup *known, const QuoitGroup *group)
{
  Walk *walk = call->walk;
  g_autofree char *text = spec_text (spec);
  gboolean same = strcmp (known->request, text) == 0 && strcmp (known->spec.name, spec->name) == 0
                  && g_strcmp0 (known->spec.owner, spec->owner) == 0;

  if (!same || (!holds && known->state == QUOIT_GROUP_HELD))
    call->code = QUOIT_ERROR_CONFLICT;
  else
    walk_require (walk,
                  group != NULL && quoit_group_get_id (group) == known->id
                      && quoit_group_get_state (group) == model_state (call->after, known),
                  "key %s names another group, or its state is not what it was: %s", spec->key,
                  error_text (call->error));
}

/* @lease_ms: of a hold; 0: reserve */
static QuoitGroup *
hold_or_reserve (Call *call, const QuoitRequest *request, gint64 lease_ms)
{
  QuoitLedger *ledger = call->target->ledger;
  QuoitFork *fork = call->target->fork;

  if (fork != NULL)
    return lease_ms != 0 ? quoit_fork_hold (fork, request, lease_ms, call->now_ms, NULL, &call->error)
                         : quoit_fork_reserve (fork, request, call->now_ms, NULL, &call->error);
  return lease_ms != 0 ? quoit_ledger_hold (ledger, request, lease_ms, call->now_ms, NULL, &call->error)
                       : quoit_ledger_reserve (ledger, request, call->now_ms, NULL, &call->error);
}

void
reserve_or_keep (Walk *walk, const Target *target)
{
  RequestSpec spec = random_spec (walk, target->model);
  gboolean holds = spec.lease_ms != 0 && random_below (walk, 4) > 0;
  g_autoptr (QuoitRequest) request = request_of (&spec);
  Call call = call_begin (walk, target, holds ? "hold" : "reserve");
  g_autoptr (QuoitGroup) group = hold_or_reserve (&call, request, holds ? spec.lease_ms : 0);
  const ModelGroup *known = spec.key == NULL ? NULL : model_keyed (call.after, spec.key);
  const ModelOwner *owner = spec.owner == NULL ? NULL : model_owner (call.after, spec.owner);
  gboolean has_lease = holds || spec.lease_ms > 0;
  g_autoptr (GHashTable) free_slices = model_free_slices (call.after, &spec);

  if (has_lease && !is_lease (spec.lease_ms))
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL)
    check_retry (&call, &spec, holds, known, group);
  else if (model_live (call.after, spec.name) != NULL)
    call.code = QUOIT_ERROR_CONFLICT;
  else if (owner != NULL && owner->ended)
    call.code = QUOIT_ERROR_EXPIRED;
  else if (names_unknown_object (call.after, &spec))
    call.code = QUOIT_ERROR_NOT_FOUND;
  else if (spec.bundles.n > 0)
    reserve_bundles (&call, &spec, holds ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                     has_lease ? call.time_ms + spec.lease_ms : 0, group);
  else if (spec.n_cubes > 0)
    reserve_joined (&call, &spec, holds ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                    has_lease ? call.time_ms + spec.lease_ms : 0, group);
  else if (g_hash_table_size (free_slices) < (spec.least == 0 ? spec.n_slices : spec.least))
    expect_shortage (&call, &spec, spec.least == 0 ? spec.n_slices : spec.least);
  else if (group != NULL)
    check_made (&call, &spec, holds ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED,
                has_lease ? call.time_ms + spec.lease_ms : 0, group);
  call_end (&call, group != NULL);
  spec_clear (&spec);
}

/* --- leases --- */

void
confirm_or_renew (Walk *walk, const Target *target)
{
  gboolean renews = random_below (walk, 2) == 0;
  gint64 lease_ms = random_lease (walk);
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, target, renews ? "renew" : "confirm");
  g_autoptr (QuoitGroup) group = NULL;
  ModelGroup *known;

  ref = random_ref (walk, target->model, &name, &id);
  if (target->fork != NULL)
    group = (renews ? quoit_fork_renew : quoit_fork_confirm) (target->fork, ref, lease_ms, call.now_ms, &call.error);
  else
    group = (renews ? quoit_ledger_renew : quoit_ledger_confirm) (target->ledger, ref, lease_ms, call.now_ms,
                                                                  &call.error);
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
      walk_require (walk,
                    group != NULL && quoit_group_get_id (group) == known->id
                        && quoit_group_get_until_ms (group) == model_until (call.after, known)
                        && quoit_group_get_state (group) == model_state (call.after, known),
                    "%s %s gives another group, end or state: %s", call.verb, ref, error_text (call.error));
    }
  call_end (&call, group != NULL);
}

void
renew_groups (Walk *walk, const Target *target)
{
  gint64 lease_ms = random_lease (walk);
  guint n = random_below (walk, 4);
  g_autoptr (GPtrArray) refs = g_ptr_array_new_with_free_func (g_free);
  Call call = call_begin (walk, target, "renew many");
  ModelGroup *known[4];
  gboolean done, changes = FALSE;

  if (!is_lease (lease_ms))
    call.code = QUOIT_ERROR_INVALID;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = NULL;
      guint64 id;

      g_ptr_array_add (refs, random_ref (walk, target->model, &name, &id));
      if (call.code != 0)
        continue;
      known[i] = model_lookup (call.after, name, id, &call.code);
      if (known[i] != NULL && known[i]->until_ms == 0)
        call.code = QUOIT_ERROR_CONFLICT;
      else if (known[i] != NULL)
        changes |= known[i]->until_ms != call.time_ms + lease_ms;
    }
  done = target->fork != NULL ? quoit_fork_renew_groups (target->fork, (const char *const *) refs->pdata, n, lease_ms,
                                                         call.now_ms, &call.error)
                              : quoit_ledger_renew_groups (target->ledger, (const char *const *) refs->pdata, n,
                                                           lease_ms, call.now_ms, &call.error);
  for (guint i = 0; call.code == 0 && i < n; i++)
    known[i]->until_ms = call.time_ms + lease_ms;
  if (call.code == 0 && changes)
    model_write (call.after, call.now_ms);
  call_end (&call, done);
}

void
release (Walk *walk, const Target *target)
{
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  const char *reason = random_reason (walk);
  Call call = call_begin (walk, target, reason == NULL ? "release" : "release with a reason");
  ModelGroup *known;
  gboolean done;

  ref = random_ref (walk, target->model, &name, &id);
  known = model_lookup (call.after, name, id, &call.code);
  if (reason == NULL)
    done = target->fork != NULL ? quoit_fork_release (target->fork, ref, call.now_ms, &call.error)
                                : quoit_ledger_release (target->ledger, ref, call.now_ms, &call.error);
  else
    done = target->fork != NULL
               ? quoit_fork_release_with_reason (target->fork, ref, reason, call.now_ms, &call.error)
               : quoit_ledger_release_with_reason (target->ledger, ref, reason, call.now_ms, &call.error);
  if (known != NULL)
    {
      model_write (call.after, call.now_ms);
      if (reason == NULL)
        model_release (call.after, known);
      else
        model_release_with_reason (call.after, known, reason);
    }
  call_end (&call, done);
}

static ModelGroup *
find_gone (const Model *model, const char *name, guint64 id)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (group->id == id && strcmp (group->spec.name, name) == 0)
        return group;
    }
  return NULL;
}

static void
forget_before (Walk *walk, const Target *target)
{
  gint64 before_ms = walk->time_ms - random_below (walk, 50000);
  uint32_t n_groups = 0;
  guint n_known = 0;
  Call call = call_begin (walk, target, "forget before");
  gboolean done = target->fork != NULL
                      ? quoit_fork_forget_before (target->fork, before_ms, call.now_ms, &n_groups, &call.error)
                      : quoit_ledger_forget_before (target->ledger, before_ms, call.now_ms, &n_groups, &call.error);

  for (guint i = call.after->groups->len; i-- > 0;)
    {
      ModelGroup *group = call.after->groups->pdata[i];

      if (group->state != QUOIT_GROUP_REMOVED || group->ended_ms >= before_ms)
        continue;
      model_forget (call.after, group);
      n_known++;
    }
  if (n_known > 0)
    model_write (call.after, call.now_ms);
  walk_require (walk, !done || n_groups == n_known, "%u groups forgotten, not %u", n_groups, n_known);
  call_end (&call, done);
}

static void
forget_one (Walk *walk, const Target *target)
{
  gboolean by_key = random_below (walk, 2) == 0;
  g_autofree char *key = g_strdup_printf ("key-%u", random_below (walk, 200)), *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, target, "forget");
  ModelGroup *known;
  gboolean done;

  ref = random_ref (walk, target->model, &name, &id);
  if (target->fork != NULL)
    done = by_key ? quoit_fork_forget_key (target->fork, key, call.now_ms, &call.error)
                  : quoit_fork_forget (target->fork, ref, call.now_ms, &call.error);
  else
    done = by_key ? quoit_ledger_forget_key (target->ledger, key, call.now_ms, &call.error)
                  : quoit_ledger_forget (target->ledger, ref, call.now_ms, &call.error);
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

void
forget (Walk *walk, const Target *target)
{
  (random_below (walk, 10) == 0 ? forget_before : forget_one) (walk, target);
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
  return call->target->fork != NULL
             ? quoit_fork_set_owner (call->target->fork, name, lease_ms, call->now_ms, &call->error)
             : quoit_ledger_set_owner (call->target->ledger, name, lease_ms, call->now_ms, &call->error);
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
  return call->target->fork != NULL
             ? quoit_fork_renew_owner (call->target->fork, name, lease_ms, call->now_ms, &call->error)
             : quoit_ledger_renew_owner (call->target->ledger, name, lease_ms, call->now_ms, &call->error);
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

      n_known += group->state != QUOIT_GROUP_REMOVED && g_strcmp0 (group->spec.owner, name) == 0;
    }
  if (!is_set && n_known == 0)
    call->code = was_ended ? QUOIT_ERROR_EXPIRED : QUOIT_ERROR_NOT_FOUND;
  else
    {
      model_write (call->after, call->now_ms);
      model_end_owner (call->after, name);
    }
  done = call->target->fork != NULL
             ? quoit_fork_end_owner (call->target->fork, name, call->now_ms, &n, &call->error)
             : quoit_ledger_end_owner (call->target->ledger, name, call->now_ms, &n, &call->error);
  walk_require (walk, !done || n == n_known, "%u groups of %s, not %u", n, name, n_known);
  return done;
}

void
change_owner (Walk *walk, const Target *target)
{
  g_autofree char *name = g_strdup_printf ("owner-%u", random_below (walk, 3));
  gint64 lease_ms = random_lease (walk);
  guint verb = random_below (walk, 5);
  Call call = call_begin (walk, target, verb < 2 ? "owner set" : verb < 4 ? "owner renew" : "owner end");

  call_end (&call, verb < 2   ? set_owner (&call, name, lease_ms)
                   : verb < 4 ? renew_owner (&call, name, lease_ms)
                              : end_owner (&call, name));
}

/* --- changing slices --- */

/* Checks a successful change of @known. @changes_nothing: the model has nothing to change. */
static void
check_change (Call *call, QuoitGroupChange *change, const ModelGroup *known, gboolean changes_nothing)
{
  Walk *walk = call->walk;

  if (change == NULL)
    return;
  walk_require (walk,
                (quoit_group_change_get_before (change) == quoit_group_change_get_after (change)) == changes_nothing,
                "%s: ledger and model disagree on whether the group changes", call->verb);
  walk_require (walk, quoit_group_get_id (quoit_group_change_get_before (change)) == known->id,
                "%s changed another group", call->verb);
  walk->n_changes += !changes_nothing;
}

/* Removes up to @n of the group's slices in @state, from the last on. */
static guint
remove_slices (Model *model, const ModelGroup *group, QuoitGroupSliceState state, guint n)
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

/* Checks that the ledger has added @n slices that the request allows, and adds them to the model. */
static void
apply_new_slices (Call *call, const ModelGroup *group, const QuoitGroup *after, guint n)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, &group->spec);
  g_autoptr (GPtrArray) before = model_slices_of (call->after, group);
  g_autoptr (GPtrArray) slices = slices_of (walk, call->target, after);

  walk_require (walk, slices->len == before->len + n, "%s leads to %u slices, expected %u", call->verb, slices->len,
                before->len + n);
  for (guint i = 0; i < slices->len; i++)
    {
      if (g_ptr_array_find_with_equal_func (before, slices->pdata[i], g_str_equal, NULL))
        continue;
      walk_require (walk, g_hash_table_contains (free_slices, slices->pdata[i]), "slice %s was not free",
                    (char *) slices->pdata[i]);
      model_take_slice (call->after, group, slices->pdata[i]);
      n--;
    }
  walk_require (walk, n == 0, "%s has removed slices that are whole", call->verb);
}

/* Whether the group can get @n more slices; otherwise sets the expected code. */
static gboolean
can_get (Call *call, const ModelGroup *group, guint n)
{
  g_autoptr (GHashTable) free_slices = model_free_slices (call->after, &group->spec);
  g_autoptr (GPtrArray) slices = model_slices_of (call->after, group);

  if (!model_has_named_objects (call->after, &group->spec))
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (g_hash_table_size (free_slices) < n)
    expect_shortage (call, &group->spec, slices->len + n);
  else
    return TRUE;
  return FALSE;
}

/* Whether the model does not know what becomes of the group. */
static gboolean
is_undecided (const Model *model, const char *name)
{
  const ModelGroup *group = model_live (model, name);

  return group != NULL && group->spec.bundles.are_parts && model_has_mixed_slices (model);
}

void
resize (Walk *walk, const Target *target)
{
  guint64 id;
  g_autofree char *name = NULL, *ref = random_ref (walk, target->model, &name, &id);
  gint64 n = (gint64) random_below (walk, 7) - (random_below (walk, 8) == 0);
  Call call;
  g_autoptr (GPtrArray) slices = NULL;
  QuoitGroupChange *change;
  ModelGroup *known;

  if (is_undecided (target->model, name))
    return;
  call = call_begin (walk, target, "resize");
  if (random_below (walk, 2) == 0)
    change = target->fork != NULL ? quoit_fork_resize (target->fork, ref, n, call.now_ms, NULL, &call.error)
                                  : quoit_ledger_resize (target->ledger, ref, n, call.now_ms, NULL, &call.error);
  else
    change = target->fork != NULL
                 ? quoit_fork_resize_between (target->fork, ref, n, n, call.now_ms, NULL, &call.error)
                 : quoit_ledger_resize_between (target->ledger, ref, n, n, call.now_ms, NULL, &call.error);
  known = model_lookup (call.after, name, id, &call.code);
  slices = known == NULL ? NULL : model_slices_of (call.after, known);
  if (known != NULL && known->spec.bundles.are_parts)
    {
      const guint n_before = known->spec.bundles.n;

      resize_parts (&call, known, n, change != NULL);
      check_change (&call, change, known, n == n_before);
      walk->n_part_changes += change != NULL && n != n_before;
    }
  else if (known != NULL && known->n_bundles_on != NULL)
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && known->cubes != NULL)
    check_change (&call, change, known,
                  !resize_joined (&call, known, n, change == NULL ? NULL : quoit_group_change_get_after (change)));
  else if (known != NULL && (n < 1 || (known->spec.least != 0 && (n < known->spec.least || n > known->spec.n_slices))))
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && n == slices->len)
    check_change (&call, change, known, TRUE);
  else if (known != NULL && n < slices->len)
    {
      guint n_left = slices->len - (guint) n;

      model_write (call.after, call.now_ms);
      n_left -= remove_slices (call.after, known, QUOIT_GROUP_SLICE_LOST, n_left);
      n_left -= remove_slices (call.after, known, QUOIT_GROUP_SLICE_LEAVING, n_left);
      remove_slices (call.after, known, QUOIT_GROUP_SLICE_WHOLE, n_left);
      check_change (&call, change, known, FALSE);
    }
  else if (known != NULL && can_get (&call, known, (guint) n - slices->len) && change != NULL)
    {
      model_write (call.after, call.now_ms);
      check_change (&call, change, known, FALSE);
      apply_new_slices (&call, known, quoit_group_change_get_after (change), (guint) n - slices->len);
    }
  call_end (&call, change != NULL);
  quoit_group_change_free (change);
}

void
repair (Walk *walk, const Target *target)
{
  guint64 id;
  g_autofree char *name = NULL, *ref = random_ref (walk, target->model, &name, &id);
  Call call;
  QuoitGroupChange *change;
  ModelGroup *known;
  guint n_lost;

  if (is_undecided (target->model, name))
    return;
  call = call_begin (walk, target, "repair");
  change = target->fork != NULL ? quoit_fork_repair (target->fork, ref, call.now_ms, NULL, &call.error)
                                : quoit_ledger_repair (target->ledger, ref, call.now_ms, NULL, &call.error);
  known = model_lookup (call.after, name, id, &call.code);
  if (known != NULL && known->n_bundles_on != NULL)
    check_change (&call, change, known, repair_bundles (&call, known, change != NULL) == 0);
  else if (known != NULL && known->cubes != NULL)
    check_change (&call, change, known,
                  !repair_joined (&call, known, change == NULL ? NULL : quoit_group_change_get_after (change)));
  else if (known != NULL)
    {
      g_autoptr (GPtrArray) slices = model_slices_of (call.after, known);

      n_lost = remove_slices (call.after, known, QUOIT_GROUP_SLICE_LOST, slices->len);
      n_lost += remove_slices (call.after, known, QUOIT_GROUP_SLICE_LEAVING, slices->len);
      if (n_lost == 0)
        check_change (&call, change, known, TRUE);
      else if (can_get (&call, known, n_lost) && change != NULL)
        {
          model_write (call.after, call.now_ms);
          check_change (&call, change, known, FALSE);
          apply_new_slices (&call, known, quoit_group_change_get_after (change), n_lost);
        }
    }
  call_end (&call, change != NULL);
  quoit_group_change_free (change);
}

void
release_slice (Walk *walk, const Target *target)
{
  g_autofree char *name = NULL, *ref = NULL, *slice = random_slice (walk, target->model);
  guint64 id;
  Call call = call_begin (walk, target, "release of a slice");
  QuoitGroupChange *change;
  ModelGroup *known;
  gboolean are_parts, are_joined;
  guint part = 0;

  ref = random_ref (walk, target->model, &name, &id);
  known = model_lookup (call.after, name, id, &call.code);
  are_parts = known != NULL && known->spec.bundles.are_parts;
  are_joined = known != NULL && known->cubes != NULL;
  if (are_parts || are_joined)
    {
      part = random_below (walk, (are_parts ? known->spec.bundles.n : known->cubes->len / known->spec.n_cubes) + 1);
      g_free (slice);
      slice = g_strdup_printf ("%u", part);
    }
  else if (known != NULL && known->n_bundles_on != NULL)
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL)
    {
      g_autoptr (GPtrArray) slices = model_slices_of (call.after, known);

      if (random_below (walk, 4) > 0)
        {
          g_free (slice);
          slice = g_strdup (slices->pdata[random_below (walk, slices->len)]);
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
  change = target->fork != NULL ? quoit_fork_release_slice (target->fork, ref, slice, call.now_ms, &call.error)
                                : quoit_ledger_release_slice (target->ledger, ref, slice, call.now_ms, &call.error);
  if (are_parts)
    release_part (&call, known, part, change != NULL);
  if (are_joined)
    release_joined (&call, known, part, change != NULL);
  call_end (&call, change != NULL);
  quoit_group_change_free (change);
}
