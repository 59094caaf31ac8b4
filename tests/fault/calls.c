/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

guint
caller_random_below (const Caller *caller, guint n)
{
  return (guint) g_rand_int_range (caller->rand, 0, (gint) n);
}

static void
some_name (const Caller *caller, char *into, char of, guint n)
{
  g_snprintf (into, NAME_BYTES, "%c%u", of, caller_random_below (caller, n));
}

static gint64
some_lease (const Caller *caller)
{
  static const guint most_ms[] = { 3000, 10000, 60000, 600000 };

  return 1 + caller_random_below (caller, most_ms[caller_random_below (caller, G_N_ELEMENTS (most_ms))]);
}

/* Refers to a group that this process knows, possibly by an outdated id, or to a name only. */
static void
refer_to_group (const Caller *caller, Op *op)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (caller->ledger);
  guint32 n = quoit_snapshot_get_n_groups (snapshot);

  some_name (caller, op->name, 'g', 6);
  if (n > 0 && caller_random_below (caller, 5) > 0)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, caller_random_below (caller, n));

      g_strlcpy (op->name, quoit_group_get_name (group), NAME_BYTES);
      op->id = caller_random_below (caller, 2) == 0 ? 0 : quoit_group_get_id (group);
    }
  if (caller_random_below (caller, 20) == 0)
    op->id = 1 + caller_random_below (caller, 40);
}

static void
ask_for_slices (const Caller *caller, Op *op)
{
  some_name (caller, op->name, 'g', 6);
  op->most = 1 + caller_random_below (caller, 3);
  if (caller_random_below (caller, 4) == 0 && !caller->has_calendar)
    {
      op->least = op->most;
      op->most += 1 + caller_random_below (caller, 2);
    }
  if (caller_random_below (caller, 40) == 0)
    {
      op->most = N_SLICES + 1;
      op->least = caller->has_calendar ? 0 : op->most;
    }
  if (caller_random_below (caller, 3) == 0)
    some_name (caller, op->owner, 'o', 3);
  if (caller_random_below (caller, 4) == 0)
    {
      g_snprintf (op->key, NAME_BYTES, "k%s", op->name);
      op->least = *op->owner = 0;
      op->most = 1;
    }
  if (op->kind == OP_HOLD || (caller_random_below (caller, 4) == 0) != caller->has_calendar)
    op->lease_ms = some_lease (caller);
}

/* The clocks differ by up to five minutes, so that some of these times are over. */
static void
some_times (const Caller *caller, Op *op)
{
  op->from_ms = op->now_ms - 2000 + caller_random_below (caller, caller_random_below (caller, 2) == 0 ? 30000 : 300000);
  op->end_ms = op->from_ms + some_lease (caller);
  if (op->kind == OP_RESERVE_AT && caller_random_below (caller, 6) == 0)
    op->end_ms = 0;
}

static OpKind
some_kind (const Caller *caller)
{
  static const struct {
    OpKind kind;
    guint weights[2]; /* without and with a calendar */
  } kinds[] = {
    { OP_RESERVE, { 14, 14 } },   { OP_HOLD, { 14, 4 } },      { OP_CONFIRM, { 8, 8 } },
    { OP_RENEW, { 8, 8 } },       { OP_RELEASE, { 8, 10 } },   { OP_RELEASE_SLICE, { 2, 2 } },
    { OP_RESIZE, { 8, 8 } },      { OP_REPAIR, { 6, 1 } },     { OP_SET_OWNER, { 4, 2 } },
    { OP_RENEW_OWNER, { 4, 2 } }, { OP_END_OWNER, { 2, 2 } },  { OP_SET_STATE, { 6, 0 } },
    { OP_DRAIN, { 2, 0 } },       { OP_UNDRAIN, { 3, 0 } },    { OP_FORGET, { 2, 2 } },
    { OP_FORGET_KEY, { 1, 1 } },  { OP_LOOK, { 8, 8 } },       { OP_SET_QUOTA, { 3, 2 } },
    { OP_RESERVE_AT, { 0, 14 } }, { OP_ADD_WINDOW, { 0, 5 } }, { OP_REMOVE_WINDOW, { 0, 2 } },
    { OP_SYNC, { 4, 2 } },
  };
  guint n = 0, column = caller->has_calendar;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    n += kinds[i].weights[column];
  n = caller_random_below (caller, n);
  for (gsize i = 0;; i++)
    if (n < kinds[i].weights[column])
      return kinds[i].kind;
    else
      n -= kinds[i].weights[column];
}

/* Only changes whose answer the commit does not decide again. */
static gboolean
can_be_on_fork (const Op *op)
{
  return op->kind == OP_CONFIRM || op->kind == OP_RELEASE || op->kind == OP_SET_STATE || op->kind == OP_SYNC
         || op->kind == OP_FORGET || op->kind == OP_FORGET_KEY
         || ((op->kind == OP_RESERVE || op->kind == OP_HOLD) && op->least == 0);
}

Op
caller_make_op (const Caller *caller, guint step, gint64 now_ms)
{
  Op op = { .kind = some_kind (caller), .now_ms = now_ms };

  g_snprintf (op.tag, NAME_BYTES, "p%u-%u", caller->number, step);
  switch (op.kind)
    {
    case OP_RESERVE:
    case OP_HOLD:
      ask_for_slices (caller, &op);
      break;
    case OP_SET_OWNER:
    case OP_RENEW_OWNER:
    case OP_END_OWNER:
      some_name (caller, op.name, 'o', 3);
      op.lease_ms = op.kind == OP_SET_OWNER && caller_random_below (caller, 4) == 0 ? 0 : some_lease (caller);
      break;
    case OP_SET_STATE:
    case OP_DRAIN:
    case OP_UNDRAIN:
      op.at = caller_random_below (caller, N_NODES);
      op.state
          = caller_random_below (caller, 3) == 0 ? (QuoitNodeState) caller_random_below (caller, 3) : QUOIT_NODE_ALIVE;
      break;
    case OP_FORGET:
      refer_to_group (caller, &op);
      op.id = MAX (op.id, 1);
      break;
    case OP_FORGET_KEY:
      g_snprintf (op.key, NAME_BYTES, "kg%u", caller_random_below (caller, 6));
      break;
    case OP_LOOK:
      break;
    case OP_SYNC:
      op.at = caller_random_below (caller, N_EXTRA_STATES);
      break;
    case OP_SET_QUOTA:
      some_name (caller, op.name, 'o', 3);
      op.most = caller_random_below (caller, 5);
      op.at = caller_random_below (caller, 5);
      break;
    case OP_RESERVE_AT:
      ask_for_slices (caller, &op);
      op.name[0] = 'r';
      *op.key = '\0';
      op.lease_ms = 0;
      some_times (caller, &op);
      break;
    case OP_ADD_WINDOW:
    case OP_REMOVE_WINDOW:
      some_name (caller, op.name, 'w', 3);
      op.at = caller_random_below (caller, N_SLICES);
      some_times (caller, &op);
      if (caller_random_below (caller, 4) == 0)
        op.from_ms -= 20000;
      break;
    default:
      refer_to_group (caller, &op);
      op.at = caller_random_below (caller, N_SLICES);
      op.most = op.kind == OP_RESIZE ? caller_random_below (caller, 5) : 0;
      if (op.kind == OP_RENEW || (op.kind == OP_CONFIRM && caller_random_below (caller, 2) == 0))
        op.lease_ms = caller_random_below (caller, 30) == 0 ? 0 : some_lease (caller);
    }
  op.on_fork = can_be_on_fork (&op) && caller_random_below (caller, 3) == 0;
  return op;
}
