/* SPDX-License-Identifier: Apache-2.0 */
#include "linear-model.h"

Model *
model_new (gint64 clock_ms)
{
  Model *model = g_new0 (Model, 1);

  model->clock_ms = clock_ms;
  model->next_id = 1;
  model->groups = g_array_new (FALSE, TRUE, sizeof (ModelGroup));
  model->owners = g_array_new (FALSE, TRUE, sizeof (ModelOwner));
  model->quotas = g_array_new (FALSE, TRUE, sizeof (ModelQuota));
  model->windows = g_array_new (FALSE, TRUE, sizeof (ModelWindow));
  return model;
}

void
model_free (Model *model)
{
  if (model == NULL)
    return;
  g_array_unref (model->groups);
  g_array_unref (model->owners);
  g_array_unref (model->quotas);
  g_array_unref (model->windows);
  g_free (model);
}

static ModelGroup *
group_at (const Model *model, guint i)
{
  return &g_array_index (model->groups, ModelGroup, i);
}

static ModelOwner *
owner_at (const Model *model, guint i)
{
  return &g_array_index (model->owners, ModelOwner, i);
}

/* --- time --- */

static gboolean
is_over (gint64 until_ms, gint64 time_ms)
{
  return until_ms != 0 && until_ms <= time_ms;
}

static ModelOwner *
find_owner (const Model *model, const char *name)
{
  for (guint i = 0; i < model->owners->len; i++)
    if (strcmp (owner_at (model, i)->name, name) == 0)
      return owner_at (model, i);
  return NULL;
}

static gboolean
owner_has_ended (const ModelOwner *owner, gint64 time_ms)
{
  return owner != NULL && (owner->has_expired || is_over (owner->until_ms, time_ms));
}

gboolean
model_is_live (const Model *model, const ModelGroup *group, gint64 time_ms)
{
  return !group->is_removed && !is_over (group->until_ms, time_ms)
         && !owner_has_ended (find_owner (model, group->owner), time_ms);
}

/* Removed because its lease expired, and still remembered. */
static gboolean
has_expired (const Model *model, const ModelGroup *group, gint64 time_ms)
{
  return group->is_removed ? group->has_expired : !model_is_live (model, group, time_ms);
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

GArray *
model_ended (const Model *model, gint64 time_ms)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint i = 0; i < model->groups->len; i++)
    if (!group_at (model, i)->is_removed && !model_is_live (model, group_at (model, i), time_ms))
      g_array_append_val (ids, group_at (model, i)->id);
  for (guint i = 0; i < model->owners->len; i++)
    if (!owner_at (model, i)->has_expired && is_over (owner_at (model, i)->until_ms, time_ms))
      g_array_append_val (ids, owner_at (model, i)->id);
  for (guint i = 0; i < model->windows->len; i++)
    if (g_array_index (model->windows, ModelWindow, i).until_ms <= time_ms)
      g_array_append_val (ids, g_array_index (model->windows, ModelWindow, i).id);
  g_array_sort (ids, by_number);
  return ids;
}

static void
expire_group (ModelGroup *group, gint64 time_ms)
{
  group->is_removed = group->has_expired = TRUE;
  group->ended_ms = time_ms;
  group->slices = 0;
}

void
model_expire (Model *model, gint64 time_ms)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (!group_at (model, i)->is_removed && !model_is_live (model, group_at (model, i), time_ms))
      expire_group (group_at (model, i), time_ms);
  for (guint i = 0; i < model->owners->len; i++)
    if (is_over (owner_at (model, i)->until_ms, time_ms))
      owner_at (model, i)->has_expired = TRUE;
  for (guint i = model->windows->len; i-- > 0;)
    if (g_array_index (model->windows, ModelWindow, i).until_ms <= time_ms)
      g_array_remove_index (model->windows, i);
  model->clock_ms = time_ms;
}

/* --- look-up --- */

static ModelGroup *
find_live (const Model *model, const char *name, gint64 time_ms)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (strcmp (group_at (model, i)->name, name) == 0 && model_is_live (model, group_at (model, i), time_ms))
      return group_at (model, i);
  return NULL;
}

static ModelGroup *
find_id (const Model *model, guint64 id)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (group_at (model, i)->id == id)
      return group_at (model, i);
  return NULL;
}

static ModelGroup *
find_key (const Model *model, const char *key)
{
  for (guint i = 0; *key != '\0' && i < model->groups->len; i++)
    if (strcmp (group_at (model, i)->key, key) == 0)
      return group_at (model, i);
  return NULL;
}

/* Whether a call that refers to this group by id, or to the last one of its name, must report an expired lease. */
static gboolean
must_report_expiry (const Model *model, const Op *op, gint64 time_ms)
{
  const ModelGroup *last = NULL;

  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = group_at (model, i);

      if (strcmp (group->name, op->name) == 0 && !model_is_live (model, group, time_ms)
          && (op->id == 0 || op->id == group->id))
        last = group;
    }
  return last != NULL && has_expired (model, last, time_ms);
}

/* Returns 0 and sets @group, or returns the error code of a stale reference. */
static int
look_up (const Model *model, const Op *op, gint64 time_ms, ModelGroup **group)
{
  ModelGroup *other = op->id == 0 ? NULL : find_id (model, op->id);

  *group = find_live (model, op->name, time_ms);
  if (*group != NULL && (op->id == 0 || op->id == (*group)->id))
    return 0;
  if (must_report_expiry (model, op, time_ms))
    return QUOIT_ERROR_EXPIRED;
  if (*group != NULL || (other != NULL && model_is_live (model, other, time_ms)))
    return QUOIT_ERROR_CONFLICT;
  return op->id != 0 && op->id < model->next_id ? QUOIT_ERROR_CONFLICT : QUOIT_ERROR_NOT_FOUND;
}

/* --- slices --- */

static guint
count (guint32 slices)
{
  return (guint) __builtin_popcount (slices);
}

static guint32
slices_as_bad_as (const Model *model, QuoitNodeState worst)
{
  guint32 slices = 0;

  for (guint i = 0; i < N_NODES; i++)
    if (model->nodes[i] >= worst)
      slices |= 1u << i / N_HOSTS;
  return slices;
}

static QuoitGroupState
shown_state (const Model *model, const ModelGroup *group, gint64 time_ms)
{
  if (!model_is_live (model, group, time_ms))
    return QUOIT_GROUP_REMOVED;
  if (group->is_ahead)
    return QUOIT_GROUP_AHEAD;
  if (group->is_held)
    return QUOIT_GROUP_HELD;
  return (group->slices & slices_as_bad_as (model, QUOIT_NODE_DRAINING)) != 0 ? QUOIT_GROUP_RESCHEDULING
                                                                              : QUOIT_GROUP_RESERVED;
}

static gint64
shown_until (const Model *model, const ModelGroup *group)
{
  const ModelOwner *owner = find_owner (model, group->owner);
  gint64 of_owner = owner == NULL ? 0 : owner->until_ms;

  return group->until_ms == 0 || (of_owner != 0 && of_owner < group->until_ms) ? of_owner : group->until_ms;
}

/* --- the expected answer of a call --- */

typedef struct {
  int code;
  int or_code;     /* a refusal that is possible too, because the search for other slices of reservations ahead is not
                    * complete; 0: none */
  guint32 allowed; /* slices that it can take */
  gboolean writes;
  ModelGroup group; /* state after the call, except for the slices, which the rules leave open */
  guint32 kept;     /* slices that it keeps */
  guint n_slices;   /* its number of slices */
  gboolean has_group;
} Answer;

static Answer
refused (int code)
{
  return (Answer) { .code = code };
}

/* A fork decides on its own time, and the commit keeps that end. */
static gint64
until_of (const Op *op, gint64 time_ms)
{
  return op->lease_ms == 0 ? 0 : (op->on_fork ? op->decided_ms : time_ms) + op->lease_ms;
}

static Answer
unchanged (const ModelGroup *group)
{
  return (Answer) { .group = *group, .kept = group->slices, .n_slices = count (group->slices), .has_group = TRUE };
}

static Answer
answer_retry (const Model *model, const Op *op, const ModelGroup *group, gint64 time_ms)
{
  if (strcmp (group->name, op->name) != 0 || strcmp (group->owner, op->owner) != 0 || group->least != op->least
      || group->most != op->most)
    return refused (QUOIT_ERROR_CONFLICT);
  if (op->kind == OP_RESERVE && shown_state (model, group, time_ms) == QUOIT_GROUP_HELD)
    return refused (QUOIT_ERROR_CONFLICT);
  /* For a removed group, the retry returns the removed group. */
  if (!model_is_live (model, group, time_ms))
    return (Answer) { .group = *group, .has_group = TRUE };
  return unchanged (group);
}

static Answer
answer_request (const Model *model, const Op *op, gint64 time_ms)
{
  const ModelGroup *known = find_key (model, op->key);
  const gint64 end_ms = op->kind == OP_HOLD || op->lease_ms == 0 ? G_MAXINT64 : until_of (op, time_ms);
  const guint32 usable = model_usable_slices (model, time_ms, end_ms);
  const guint n_certain = count (model_certain_slices (model, time_ms, end_ms));
  guint n_free = count (usable), least = op->least > 0 ? op->least : op->most;
  Answer answer = { .writes = TRUE, .has_group = TRUE };

  if (op->kind == OP_HOLD && op->lease_ms < 1)
    return refused (QUOIT_ERROR_INVALID);
  if (known != NULL)
    return answer_retry (model, op, known, time_ms);
  if (find_live (model, op->name, time_ms) != NULL)
    return refused (QUOIT_ERROR_CONFLICT);
  if (owner_has_ended (find_owner (model, op->owner), time_ms))
    return refused (QUOIT_ERROR_EXPIRED);
  n_free = MIN (n_free, model_admitted (model, op->owner, time_ms));
  if (n_free < least)
    return refused (least > N_SLICES || !model_admits_ever (model, op->owner, least) ? QUOIT_ERROR_NEVER
                                                                                     : QUOIT_ERROR_NOT_NOW);
  answer.group = (ModelGroup) { .id = model->next_id,
                                .least = op->least,
                                .most = op->most,
                                .is_held = op->kind == OP_HOLD,
                                .until_ms = until_of (op, time_ms) };
  g_strlcpy (answer.group.name, op->name, NAME_BYTES);
  g_strlcpy (answer.group.key, op->key, NAME_BYTES);
  g_strlcpy (answer.group.owner, op->owner, NAME_BYTES);
  answer.n_slices = MIN (op->most, n_free);
  answer.allowed = usable;
  answer.or_code = n_certain < least ? QUOIT_ERROR_NOT_NOW : 0;
  return answer;
}

static Answer
answer_request_ahead (const Model *model, const Op *op, gint64 time_ms)
{
  const gint64 end_ms = op->end_ms == 0 ? G_MAXINT64 : op->end_ms;
  const guint32 usable = model_usable_ahead (model, op->from_ms, end_ms);
  const guint n_free = MIN (count (usable), model_admitted (model, op->owner, time_ms));
  Answer answer = { .writes = TRUE, .has_group = TRUE, .allowed = usable, .n_slices = op->most };

  if (find_live (model, op->name, time_ms) != NULL)
    return refused (QUOIT_ERROR_CONFLICT);
  if (op->from_ms <= time_ms || end_ms <= op->from_ms)
    return refused (QUOIT_ERROR_INVALID);
  if (owner_has_ended (find_owner (model, op->owner), time_ms))
    return refused (QUOIT_ERROR_EXPIRED);
  if (n_free < op->most)
    return refused (op->most > N_SLICES || !model_admits_ever (model, op->owner, op->most) ? QUOIT_ERROR_NEVER
                                                                                           : QUOIT_ERROR_NOT_NOW);
  answer.group = (ModelGroup) {
    .id = model->next_id, .most = op->most, .is_ahead = TRUE, .begins_ms = op->from_ms, .until_ms = op->end_ms
  };
  g_strlcpy (answer.group.name, op->name, NAME_BYTES);
  g_strlcpy (answer.group.owner, op->owner, NAME_BYTES);
  answer.or_code = count (model_certain_ahead (model, op->from_ms, end_ms)) < op->most ? QUOIT_ERROR_NOT_NOW : 0;
  return answer;
}

static Answer
answer_lease (const Model *model, const Op *op, const ModelGroup *group, gint64 time_ms)
{
  Answer answer = unchanged (group);

  if (op->kind == OP_RENEW && group->until_ms == 0)
    return refused (QUOIT_ERROR_CONFLICT);
  if (op->kind == OP_CONFIRM && !group->is_held)
    return answer;
  answer.group.is_held = group->is_held && op->kind == OP_RENEW;
  answer.group.until_ms = until_of (op, time_ms);
  answer.writes = answer.group.until_ms != group->until_ms || answer.group.is_held != group->is_held;
  /* A lease that ends later can need slices that are promised, or that are in a window. */
  if ((group->slices & model_promised_slices (model, time_ms, model_latest_end (&answer.group))) != 0)
    answer.or_code = QUOIT_ERROR_CONFLICT;
  return answer;
}

/* The @n slices that are released first: lost ones, then leaving ones, then others from the last to the first. */
static guint32
first_released (const Model *model, guint32 slices, guint n)
{
  const guint32 lost = slices & slices_as_bad_as (model, QUOIT_NODE_DEAD);
  const guint32 leaving = slices & slices_as_bad_as (model, QUOIT_NODE_DRAINING) & ~lost;
  const guint32 order[] = { lost, leaving, slices & ~lost & ~leaving };
  guint32 gone = 0;

  for (guint o = 0; o < G_N_ELEMENTS (order); o++)
    for (guint s = N_SLICES; s-- > 0;)
      if ((order[o] & 1u << s) != 0 && count (gone) < n)
        gone |= 1u << s;
  return gone;
}

static Answer
answer_other_slices (const Model *model, const Op *op, const ModelGroup *group, guint32 kept, guint n_slices,
                     gint64 time_ms)
{
  const gint64 end_ms = model_latest_end (group);
  const guint n_more = n_slices - count (kept);
  Answer answer = unchanged (group);

  answer.allowed = model_usable_slices (model, time_ms, end_ms);
  if (n_more > count (answer.allowed))
    return refused (QUOIT_ERROR_NOT_NOW);
  if (n_more > count (model_certain_slices (model, time_ms, end_ms)))
    answer.or_code = QUOIT_ERROR_NOT_NOW;
  answer.kept = kept;
  answer.n_slices = n_slices;
  answer.writes = kept != group->slices || n_slices != count (group->slices);
  return answer;
}

static Answer
answer_resize (const Model *model, const Op *op, const ModelGroup *group, gint64 time_ms)
{
  guint n = count (group->slices), n_leave = op->most < n ? n - op->most : 0;

  if (op->most < 1 || (group->least > 0 && (op->most < group->least || op->most > group->most)))
    return refused (QUOIT_ERROR_INVALID);
  if (op->most > n && op->most - n > model_admitted (model, group->owner, time_ms))
    return refused (model_admits_ever (model, group->owner, op->most) ? QUOIT_ERROR_NOT_NOW : QUOIT_ERROR_NEVER);
  return answer_other_slices (model, op, group, group->slices & ~first_released (model, group->slices, n_leave),
                              op->most, time_ms);
}

static Answer
answer_release (const Model *model, const Op *op, const ModelGroup *group)
{
  Answer answer = unchanged (group);

  if (op->kind == OP_RELEASE_SLICE && op->at >= N_SLICES)
    return refused (QUOIT_ERROR_NOT_FOUND);
  if (op->kind == OP_RELEASE_SLICE && (group->slices & 1u << op->at) == 0)
    return refused (QUOIT_ERROR_NOT_FOUND);
  answer.kept = op->kind == OP_RELEASE ? 0 : group->slices & ~(1u << op->at);
  answer.n_slices = count (answer.kept);
  answer.has_group = answer.kept != 0;
  answer.writes = TRUE;
  return answer;
}

static Answer
answer_group (const Model *model, const Op *op, gint64 time_ms)
{
  ModelGroup *group = NULL;
  int code;

  if ((op->kind == OP_RENEW && op->lease_ms < 1) || op->lease_ms < 0)
    return refused (QUOIT_ERROR_INVALID);
  code = look_up (model, op, time_ms, &group);
  if (code != 0)
    return refused (code);
  if (group->is_ahead && op->kind != OP_RELEASE)
    return refused (QUOIT_ERROR_CONFLICT);
  switch (op->kind)
    {
    case OP_CONFIRM:
    case OP_RENEW:
      return answer_lease (model, op, group, time_ms);
    case OP_RESIZE:
      return answer_resize (model, op, group, time_ms);
    case OP_REPAIR:
      return answer_other_slices (model, op, group, group->slices & ~slices_as_bad_as (model, QUOIT_NODE_DRAINING),
                                  count (group->slices), time_ms);
    default:
      return answer_release (model, op, group);
    }
}

static Answer
answer_forget (const Model *model, const Op *op, gint64 time_ms)
{
  const ModelGroup *group = op->kind == OP_FORGET_KEY ? find_key (model, op->key) : find_id (model, op->id);
  ModelGroup *live = NULL;

  if (group != NULL && !model_is_live (model, group, time_ms)
      && (op->kind == OP_FORGET_KEY || strcmp (group->name, op->name) == 0))
    return (Answer) { .writes = TRUE };
  if (op->kind == OP_FORGET_KEY)
    return refused (group == NULL ? QUOIT_ERROR_NOT_FOUND : QUOIT_ERROR_CONFLICT);
  return refused (look_up (model, op, time_ms, &live) == 0 ? QUOIT_ERROR_CONFLICT : QUOIT_ERROR_NOT_FOUND);
}

static guint
count_owned (const Model *model, const char *owner, gint64 time_ms)
{
  guint n = 0;

  for (guint i = 0; i < model->groups->len; i++)
    n += strcmp (group_at (model, i)->owner, owner) == 0 && model_is_live (model, group_at (model, i), time_ms);
  return n;
}

static Answer
answer_owner (const Model *model, const Op *op, gint64 time_ms)
{
  const ModelOwner *owner = find_owner (model, op->name);
  gboolean ended = owner_has_ended (owner, time_ms);

  if (op->kind == OP_RENEW_OWNER && op->lease_ms < 1)
    return refused (QUOIT_ERROR_INVALID);
  if (op->kind == OP_SET_OWNER)
    return (Answer) { .writes = owner == NULL || ended || owner->until_ms != until_of (op, time_ms) };
  if (ended)
    return refused (QUOIT_ERROR_EXPIRED);
  if (op->kind == OP_END_OWNER)
    return owner != NULL || count_owned (model, op->name, time_ms) > 0 ? (Answer) { .writes = TRUE }
                                                                       : refused (QUOIT_ERROR_NOT_FOUND);
  if (owner == NULL)
    return refused (QUOIT_ERROR_NOT_FOUND);
  if (owner->until_ms == 0)
    return refused (QUOIT_ERROR_CONFLICT);
  return (Answer) { .writes = owner->until_ms != until_of (op, time_ms) };
}

static QuoitNodeState
wanted_state (const Op *op)
{
  return op->kind == OP_DRAIN ? QUOIT_NODE_DRAINING : op->kind == OP_UNDRAIN ? QUOIT_NODE_ALIVE : op->state;
}

static Answer
answer_node (const Model *model, const Op *op)
{
  if (op->kind != OP_SET_STATE && model->nodes[op->at] == QUOIT_NODE_DEAD)
    return refused (QUOIT_ERROR_CONFLICT);
  return (Answer) { .writes = model->nodes[op->at] != wanted_state (op) };
}

static Answer
answer_sync (const Model *model, const Op *op)
{
  Answer answer = { .writes = !model->has_extra };

  for (guint i = 0; i < N_EXTRA; i++)
    answer.writes |= model->extra[i] != op_extra_state (op, i);
  return answer;
}

static Answer
answer_quota (const Model *model, const Op *op)
{
  const ModelQuota *quota = model_find_quota (model, op->name), fresh = model_quota_of (op);

  return (Answer) { .writes = quota == NULL || !model_quotas_are_equal (quota, &fresh) };
}

/* A window that is over at @time_ms does not exist. */
static ModelWindow *
find_window (const Model *model, const char *name, gint64 time_ms)
{
  for (guint i = 0; i < model->windows->len; i++)
    {
      ModelWindow *window = &g_array_index (model->windows, ModelWindow, i);

      if (strcmp (window->name, name) == 0 && window->until_ms > time_ms)
        return window;
    }
  return NULL;
}

static Answer
answer_window (const Model *model, const Op *op, gint64 time_ms)
{
  const ModelWindow *window = find_window (model, op->name, time_ms);

  if (op->kind == OP_REMOVE_WINDOW)
    return window == NULL ? refused (QUOIT_ERROR_NOT_FOUND) : (Answer) { .writes = TRUE };
  if (op->end_ms <= op->from_ms || op->end_ms <= time_ms)
    return refused (QUOIT_ERROR_INVALID);
  if (window != NULL)
    return window->at == op->at && window->from_ms == op->from_ms && window->until_ms == op->end_ms
               ? (Answer) { 0 }
               : refused (QUOIT_ERROR_CONFLICT);
  return (Answer) { .writes = TRUE,
                    .or_code = (model_promised_slices (model, op->from_ms, op->end_ms) & 1u << op->at) != 0
                                   ? QUOIT_ERROR_CONFLICT
                                   : 0 };
}

static Answer
answer_to (const Model *model, const Op *op, gint64 time_ms)
{
  switch (op->kind)
    {
    case OP_RESERVE:
    case OP_HOLD:
      return answer_request (model, op, time_ms);
    case OP_SET_OWNER:
    case OP_RENEW_OWNER:
    case OP_END_OWNER:
      return answer_owner (model, op, time_ms);
    case OP_SET_STATE:
    case OP_DRAIN:
    case OP_UNDRAIN:
      return answer_node (model, op);
    case OP_FORGET:
    case OP_FORGET_KEY:
      return answer_forget (model, op, time_ms);
    case OP_LOOK:
      return (Answer) { 0 };
    case OP_SET_QUOTA:
      return answer_quota (model, op);
    case OP_RESERVE_AT:
      return answer_request_ahead (model, op, time_ms);
    case OP_ADD_WINDOW:
    case OP_REMOVE_WINDOW:
      return answer_window (model, op, time_ms);
    case OP_SYNC:
      return answer_sync (model, op);
    default:
      return answer_group (model, op, time_ms);
    }
}

/* --- comparison --- */

static char *
wrong_group (const Model *model, const Op *op, Answer *answer, gint64 time_ms)
{
  ModelGroup *group = &answer->group;
  guint32 taken = op->after & ~answer->kept;

  if (op->group_id != group->id)
    return g_strdup_printf ("is about id %u, expected %u", (guint) op->group_id, (guint) group->id);
  if ((taken & ~answer->allowed) != 0)
    return g_strdup_printf ("has slices %x, which are not free", taken & ~answer->allowed);
  if ((op->after & answer->kept) != answer->kept || count (op->after) != answer->n_slices)
    return g_strdup_printf ("has slices %x, expected %u, among them %x", op->after, answer->n_slices, answer->kept);
  group->slices = op->after;
  if (op->group_state != (int) shown_state (model, group, time_ms))
    return g_strdup_printf ("is in state %d, expected %d", op->group_state, (int) shown_state (model, group, time_ms));
  if (op->group_state != QUOIT_GROUP_REMOVED && op->until_ms != shown_until (model, group))
    return g_strdup_printf ("ends at %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, op->until_ms,
                            shown_until (model, group));
  return NULL;
}

static const char *
code_name (int code)
{
  return code == 0 ? "OK" : quoit_error_code_name ((QuoitErrorCode) code);
}

/* Whether a fork has forgotten a record that others had forgotten when it was committed. The key of a forgotten record
 * can be that of another group by then. */
static gboolean
is_forgotten_by_others (const Op *op, int code)
{
  return op->on_fork && op->code == 0
         && (op->kind == OP_FORGET
                 ? code == QUOIT_ERROR_NOT_FOUND
                 : op->kind == OP_FORGET_KEY && (code == QUOIT_ERROR_NOT_FOUND || code == QUOIT_ERROR_CONFLICT));
}

static char *
contradiction (const Model *model, const Op *op, gboolean *writes)
{
  gint64 time_ms = MAX (op->now_ms, model->clock_ms);
  Answer answer = answer_to (model, op, time_ms);
  const ModelGroup *before = find_live (model, op->name, time_ms);

  *writes = answer.code == 0 && answer.writes;
  if (op->code != 0 && op->code == answer.or_code)
    return *writes = FALSE, NULL;
  if (is_forgotten_by_others (op, answer.code))
    return NULL;
  if (answer.code != op->code)
    return g_strdup_printf ("was answered %s, expected %s", code_name (op->code), code_name (answer.code));
  if (answer.code != 0)
    return NULL;
  if (op->before != 0 && op->before != before->slices)
    return g_strdup_printf ("had slices %x before, expected %x", op->before, before->slices);
  if (op->kind == OP_END_OWNER && op->n_freed != count_owned (model, op->name, time_ms))
    return g_strdup_printf ("freed %u groups, expected %u", op->n_freed, count_owned (model, op->name, time_ms));
  return answer.has_group ? wrong_group (model, op, &answer, time_ms) : NULL;
}

static void
set_ahead (const Model *model, const GArray *ids, gboolean is_ahead)
{
  for (guint i = 0; i < ids->len; i++)
    find_id (model, g_array_index (ids, guint64, i))->is_ahead = is_ahead;
}

char *
model_contradiction (const Model *model, const Op *op, gboolean *writes)
{
  /* A call that writes nothing sees what has begun by its time, although the journal does not have it yet. */
  g_autoptr (GArray) due = model_due (model, MAX (op->now_ms, model->clock_ms));
  char *why;

  set_ahead (model, due, FALSE);
  why = contradiction (model, op, writes);
  set_ahead (model, due, TRUE);
  return why;
}

/* --- applying calls --- */

static void
remove_group (Model *model, ModelGroup *group)
{
  g_array_remove_index (model->groups, (guint) (group - group_at (model, 0)));
}

static void
end_group (Model *model, ModelGroup *group)
{
  if (*group->key == '\0')
    return remove_group (model, group);
  group->is_removed = TRUE;
  group->ended_ms = model->clock_ms;
  group->slices = 0;
}

static gint
by_beginning (gconstpointer a, gconstpointer b)
{
  const ModelWindow *x = a, *y = b;

  return x->from_ms != y->from_ms ? (x->from_ms > y->from_ms) - (x->from_ms < y->from_ms) : by_number (&x->id, &y->id);
}

static void
apply_window (Model *model, const Op *op)
{
  ModelWindow fresh = { .at = op->at, .from_ms = op->from_ms, .until_ms = op->end_ms };

  if (op->kind == OP_REMOVE_WINDOW)
    {
      g_array_remove_index (model->windows, (guint) (find_window (model, op->name, model->clock_ms)
                                                     - &g_array_index (model->windows, ModelWindow, 0)));
      return;
    }
  fresh.id = model->next_id++;
  g_strlcpy (fresh.name, op->name, NAME_BYTES);
  g_array_append_val (model->windows, fresh);
  g_array_sort (model->windows, by_beginning);
}

static void
apply_owner (Model *model, const Op *op)
{
  ModelOwner *owner = find_owner (model, op->name);

  if (op->kind != OP_END_OWNER && owner != NULL && !owner->has_expired)
    {
      owner->until_ms = until_of (op, model->clock_ms);
      return;
    }
  if (owner != NULL)
    g_array_remove_index (model->owners, (guint) (owner - owner_at (model, 0)));
  if (op->kind == OP_END_OWNER)
    {
      for (guint i = model->groups->len; i-- > 0;)
        if (strcmp (group_at (model, i)->owner, op->name) == 0 && !group_at (model, i)->is_removed)
          end_group (model, group_at (model, i));
      return;
    }
  ModelOwner fresh = { .id = model->next_id++, .until_ms = until_of (op, model->clock_ms) };

  g_strlcpy (fresh.name, op->name, NAME_BYTES);
  g_array_append_val (model->owners, fresh);
}

void
model_apply (Model *model, const Op *op)
{
  Answer answer;
  ModelGroup *group = NULL;

  model->clock_ms = MAX (op->now_ms, model->clock_ms);
  answer = answer_to (model, op, model->clock_ms);
  switch (op->kind)
    {
    case OP_RESERVE:
    case OP_HOLD:
    case OP_RESERVE_AT:
      model->next_id++;
      answer.group.slices = op->after;
      g_array_append_val (model->groups, answer.group);
      return;
    case OP_SET_OWNER:
    case OP_RENEW_OWNER:
    case OP_END_OWNER:
      return apply_owner (model, op);
    case OP_SET_QUOTA:
      return model_set_quota (model, op);
    case OP_ADD_WINDOW:
    case OP_REMOVE_WINDOW:
      return apply_window (model, op);
    case OP_SET_STATE:
    case OP_DRAIN:
    case OP_UNDRAIN:
      model->nodes[op->at] = wanted_state (op);
      return;
    case OP_SYNC:
      model->has_extra = TRUE;
      for (guint i = 0; i < N_EXTRA; i++)
        model->extra[i] = op_extra_state (op, i);
      return;
    case OP_FORGET:
    case OP_FORGET_KEY:
      return remove_group (model, op->kind == OP_FORGET ? find_id (model, op->id) : find_key (model, op->key));
    default:
      group = find_live (model, op->name, model->clock_ms);
      if (!answer.has_group)
        return end_group (model, group);
      answer.group.slices = op->after;
      *group = answer.group;
    }
}

char *
model_look (const Model *model)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%" G_GINT64_FORMAT "/", model->clock_ms);
  for (guint i = 0; i < N_NODES; i++)
    g_string_append_printf (text, "%d", (int) model->nodes[i]);
  for (guint i = 0; model->has_extra && i < N_EXTRA; i++)
    g_string_append_printf (text, "%d", (int) model->extra[i]);
  for (guint i = 0; i < model->owners->len; i++)
    if (!owner_at (model, i)->has_expired)
      g_string_append_printf (text, "/o:%s:%" G_GINT64_FORMAT, owner_at (model, i)->name,
                              owner_at (model, i)->until_ms);
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *quota = &g_array_index (model->quotas, ModelQuota, i);

      g_string_append_printf (text, "/q:%s:%u:%d:%u:%s", quota->name, quota->n_slices * CHIPS_PER_SLICE,
                              quota->most == G_MAXUINT ? -1 : (gint) (quota->most * CHIPS_PER_SLICE),
                              model_count_used (model, quota->name, model->clock_ms) * CHIPS_PER_SLICE,
                              quota->has_cohort ? "cohort" : "-");
    }
  for (guint i = 0; i < model->windows->len; i++)
    {
      const ModelWindow *window = &g_array_index (model->windows, ModelWindow, i);

      g_string_append_printf (text, "/w:%s:v6e-4x4-%u:%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, window->name, window->at,
                              window->from_ms, window->until_ms);
    }
  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = group_at (model, i);

      g_string_append_printf (text, "/g:%s:%u:%d:%" G_GINT64_FORMAT ":%x:%s:%s%s", group->name, (guint) group->id,
                              (int) shown_state (model, group, model->clock_ms),
                              group->is_removed ? group->ended_ms : shown_until (model, group), group->slices,
                              group->key, group->owner, group->has_expired ? ":expired" : "");
    }
  return g_string_free (text, FALSE);
}
