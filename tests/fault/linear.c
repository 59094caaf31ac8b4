/* SPDX-License-Identifier: Apache-2.0 */
#include "linear.h"
#include "linear-model.h"

enum { NOWHERE = 0 };

/* A call and its place: after this entry. */
typedef struct {
  const Op *op;
  guint64 entry;          /* the entry that the call wrote, or 0 */
  guint64 earliest, last; /* first and last possible place, from the times of other calls */
  guint64 place;
} Call;

typedef struct {
  const History *history;
  GArray *calls; /* of Call, in the order of invocation */
  Model *model;
  guint64 last_seq;
} Check;

static Call *
call_at (const Check *check, guint i)
{
  return &g_array_index (check->calls, Call, i);
}

static const Entry *
entry_at (const Check *check, guint64 seq)
{
  return check->history->entries->pdata[seq - 1];
}

static char *
about (const Call *call, const char *what)
{
  return g_strdup_printf ("call %s, %s of '%s': %s", call->op->tag, op_verb (call->op->kind), call->op->name, what);
}

/* --- which call wrote which entry --- */

static gboolean
is_beginning (const Entry *entry)
{
  return strcmp (entry->verb, "begin") == 0;
}

/* Whether no call wrote the entry: leases expired, or reservations ahead began. */
static gboolean
is_due (const Entry *entry)
{
  return strcmp (entry->verb, "expire") == 0 || is_beginning (entry);
}

static gint
by_invocation (gconstpointer a, gconstpointer b)
{
  const Call *x = a, *y = b;

  return (x->op->invoked_us > y->op->invoked_us) - (x->op->invoked_us < y->op->invoked_us);
}

static Call *
find_call (const Check *check, const char *tag)
{
  for (guint i = 0; i < check->calls->len; i++)
    if (strcmp (call_at (check, i)->op->tag, tag) == 0)
      return call_at (check, i);
  return NULL;
}

static char *
find_writers (Check *check)
{
  for (guint64 seq = 1; seq <= check->last_seq; seq++)
    {
      const Entry *entry = entry_at (check, seq);
      Call *call = is_due (entry) || seq == 1 ? NULL : find_call (check, entry->actor);

      if (entry->seq != seq)
        return g_strdup_printf ("found entry %u in place of entry %u", (guint) entry->seq, (guint) seq);
      if (is_due (entry) || seq == 1)
        continue;
      if (call == NULL || strcmp (entry->verb, op_entry_verb (call->op)) != 0)
        return g_strdup_printf ("entry %u, %s of '%s': no call wrote it", (guint) seq, entry->verb, entry->actor);
      if (call->entry != NOWHERE)
        return about (call, "has two entries");
      if (call->op->code != 0)
        return about (call, "was refused, but has an entry");
      if (call->op->seq != seq)
        return about (call, "the handle does not know what it has written");
      call->entry = call->place = seq;
    }
  return NULL;
}

/* A commit is refused only because of entries that are newer than the fork. */
static char *
check_refused_commits (const Check *check)
{
  for (guint i = 0; i < check->calls->len; i++)
    {
      Call *call = call_at (check, i);

      if (!call->op->is_commit_refused)
        continue;
      if (call->op->code != QUOIT_ERROR_CONFLICT && call->op->code != QUOIT_ERROR_EXPIRED)
        return about (call, "the commit failed for a reason that is no change of the ledger");
      if (call->op->seq <= call->op->forked_at)
        return about (call, "the commit was refused although nothing had changed");
      call->place = call->op->seq;
    }
  return NULL;
}

/* --- places that the times allow --- */

static char *
check_times_of_writers (const Check *check)
{
  const Call *latest = NULL;

  for (guint64 seq = 1; seq <= check->last_seq; seq++)
    for (guint i = 0; i < check->calls->len; i++)
      {
        const Call *call = call_at (check, i);

        if (call->entry != seq)
          continue;
        if (latest != NULL && call->op->answered_us < latest->op->invoked_us)
          return g_strdup_printf ("entry %u was acknowledged before the call of entry %u began", (guint) seq,
                                  (guint) latest->entry);
        latest = latest == NULL || call->op->invoked_us > latest->op->invoked_us ? call : latest;
      }
  return NULL;
}

static void
limit_others (Check *check)
{
  for (guint i = 0; i < check->calls->len; i++)
    {
      Call *call = call_at (check, i);

      call->earliest = 1;
      call->last = check->last_seq;
      for (guint k = 0; k < check->calls->len; k++)
        {
          const Call *writer = call_at (check, k);

          if (writer->entry == NOWHERE)
            continue;
          if (writer->op->answered_us < call->op->invoked_us)
            call->earliest = MAX (call->earliest, writer->entry);
          if (writer->op->invoked_us > call->op->answered_us)
            call->last = MIN (call->last, writer->entry - 1);
        }
    }
}

/* --- entry by entry --- */

/* Whether an expiry entry has a transaction of its own, from a call that had nothing else to write. Otherwise it
 * belongs to the transaction of the next entry. */
static gboolean
is_own_transaction (const Check *check, const Entry *entry)
{
  for (guint i = 0; i < check->calls->len; i++)
    {
      const Call *call = call_at (check, i);

      if (call->entry == NOWHERE && call->op->code == 0 && call->op->kind != OP_LOOK && call->op->seq == entry->seq
          && call->op->now_ms == entry->time_ms)
        return TRUE;
    }
  return FALSE;
}

static gint
by_id (gconstpointer a, gconstpointer b)
{
  guint64 x = ((const Effect *) a)->group_id, y = ((const Effect *) b)->group_id;

  return (x > y) - (x < y);
}

/* Whether the effects are about exactly these groups and owners. Reservations begin in another order. */
static gboolean
is_about (const Entry *entry, QuoitEffectType type, const GArray *ids)
{
  if (entry->effects->len != ids->len || ids->len == 0)
    return FALSE;
  if (is_beginning (entry))
    g_array_sort (entry->effects, by_id);
  for (guint i = 0; i < ids->len; i++)
    {
      const Effect *effect = &g_array_index (entry->effects, Effect, i);

      if (effect->type != type || effect->group_id != g_array_index (ids, guint64, i))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_exactly_due (const Check *check, const Entry *entry)
{
  g_autoptr (GArray) ids
      = is_beginning (entry) ? model_due (check->model, entry->time_ms) : model_ended (check->model, entry->time_ms);

  return entry->time_ms >= check->model->clock_ms
         && is_about (entry, is_beginning (entry) ? QUOIT_EFFECT_GROUP_CHANGED : QUOIT_EFFECT_GROUP_REMOVED, ids);
}

/* Whether the entry belongs to the transaction of the next one: a call, or beginnings after expiries. */
static gboolean
is_followed (const Check *check, const Entry *entry)
{
  const Entry *next = entry->seq < check->last_seq ? entry_at (check, entry->seq + 1) : NULL;

  return next != NULL && next->time_ms == entry->time_ms
         && (!is_due (next) || (is_beginning (next) && !is_beginning (entry)));
}

static char *
replay_due (Check *check, const Entry *entry)
{
  if (!is_exactly_due (check, entry))
    return g_strdup_printf ("entry %u does not %s", (guint) entry->seq,
                            is_beginning (entry) ? "begin exactly what is due" : "remove exactly what has expired");
  if (!is_followed (check, entry) && !is_own_transaction (check, entry))
    return g_strdup_printf ("no call wrote the expiry of entry %u", (guint) entry->seq);
  (is_beginning (entry) ? model_begin : model_expire) (check->model, entry->time_ms);
  return NULL;
}

static char *
replay_call (Check *check, const Call *call, const Entry *entry)
{
  g_autoptr (GArray) ids = NULL, due = NULL;
  g_autofree char *why = NULL;
  gboolean writes;

  if (entry->time_ms != MAX (call->op->now_ms, check->model->clock_ms))
    return about (call, "has another time than its caller's or the ledger's");
  ids = model_ended (check->model, entry->time_ms);
  if (ids->len > 0)
    return about (call, "was decided before expired leases were freed");
  due = model_due (check->model, entry->time_ms);
  if (due->len > 0)
    return about (call, "was decided before reservations began");
  why = model_contradiction (check->model, call->op, &writes);
  if (why == NULL && !writes)
    why = g_strdup ("had nothing to write, but has an entry");
  if (why != NULL)
    return about (call, why);
  model_apply (check->model, call->op);
  for (guint i = 0; check->history->reads_slices && i < entry->effects->len; i++)
    if (g_array_index (entry->effects, Effect, i).type == QUOIT_EFFECT_GROUP_CHANGED)
      model_move (check->model, g_array_index (entry->effects, Effect, i).group_id,
                  g_array_index (entry->effects, Effect, i).slices);
  why = model_broken_promise (check->model);
  return why == NULL ? NULL : about (call, why);
}

static char *
replay (Check *check, const Entry *entry)
{
  if (entry->seq == 1)
    return NULL;
  return is_due (entry) ? replay_due (check, entry) : replay_call (check, find_call (check, entry->actor), entry);
}

/* Returns why the call cannot have this place, or NULL if it can. */
static char *
why_not_here (const Check *check, const Call *call)
{
  g_autofree char *look = call->op->kind == OP_LOOK ? model_look (check->model) : NULL;
  gboolean writes;
  char *why;

  if (look != NULL)
    return g_strcmp0 (look, call->op->seen) == 0 ? NULL : g_strdup_printf ("saw %s, expected %s", call->op->seen, look);
  why = model_contradiction (check->model, call->op, &writes);
  return why == NULL && writes ? g_strdup ("was answered as done, but has no entry") : why;
}

/* Checks the calls that wrote nothing and whose answer is right after entry @seq. */
static char *
place_others (Check *check, guint64 seq)
{
  gint64 waiting_us = G_MAXINT64; /* time of the first answer among the calls without a place */

  for (guint i = 0; i < check->calls->len; i++)
    {
      Call *call = call_at (check, i);
      g_autofree char *why = NULL;

      if (call->place != NOWHERE)
        continue;
      if (call->earliest <= seq && seq <= call->last && call->op->invoked_us <= waiting_us
          && (call->op->kind != OP_LOOK || call->op->seq == seq))
        {
          why = why_not_here (check, call);
          if (why == NULL)
            call->place = seq;
        }
      if (call->place == NOWHERE)
        waiting_us = MIN (waiting_us, call->op->answered_us);
      if (call->place == NOWHERE && call->last <= seq)
        return about (call, why == NULL ? "has no place among the others" : why);
    }
  return NULL;
}

/* No reader sees half of a transaction. */
static gboolean
can_be_seen (const Check *check, const Entry *entry)
{
  return !is_due (entry) || is_own_transaction (check, entry);
}

static char *
walk (Check *check)
{
  for (guint64 seq = 1; seq <= check->last_seq; seq++)
    {
      const Entry *entry = entry_at (check, seq);
      char *why = replay (check, entry);

      if (why == NULL && can_be_seen (check, entry))
        why = place_others (check, seq);
      if (why != NULL)
        return why;
    }
  for (guint i = 0; i < check->calls->len; i++)
    if (call_at (check, i)->place == NOWHERE)
      return about (call_at (check, i), "has no place among the others");
  return NULL;
}

char *
linear_contradiction (const History *history)
{
  g_autoptr (GArray) calls = g_array_new (FALSE, FALSE, sizeof (Call));
  g_autoptr (Model) model = model_new (((const Entry *) history->entries->pdata[0])->time_ms);
  Check check = { history, calls, model, history->entries->len };
  char *why;

  for (guint i = 0; i < history->ops->len; i++)
    {
      Call call = { .op = &g_array_index (history->ops, Op, i) };

      g_array_append_val (calls, call);
    }
  g_array_sort (calls, by_invocation);
  why = find_writers (&check);
  why = why != NULL ? why : check_refused_commits (&check);
  why = why != NULL ? why : check_times_of_writers (&check);
  if (why != NULL)
    return why;
  limit_others (&check);
  return walk (&check);
}
