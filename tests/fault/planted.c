/* SPDX-License-Identifier: Apache-2.0 */
/* A linearizable history of one caller, and changes that each make it impossible. The checker must report the right
 * contradiction for each. */
#include "planted.h"

#include "linear.h"

/* Each call takes 5 us, and the next one begins 5 us later. The falsifications add overlapping calls. */
static const Op script[] = {
  { .kind = OP_HOLD, .tag = "hold-a", .name = "a", .most = 2, .lease_ms = 60000 },
  { .kind = OP_LOOK, .tag = "look-1" },
  { .kind = OP_RESERVE, .tag = "reserve-b", .name = "b", .key = "kb", .most = 3 },
  { .kind = OP_RESERVE, .tag = "refused-c", .name = "c", .most = 1 },
  { .kind = OP_CONFIRM, .tag = "confirm-a", .name = "a" },
  { .kind = OP_LOOK, .tag = "look-2" },
  { .kind = OP_RELEASE, .tag = "release-b", .name = "b" },
  { .kind = OP_RESERVE, .tag = "reserve-c", .name = "c", .most = 2 },
  { .kind = OP_RESERVE, .tag = "retry-b", .name = "b", .key = "kb", .most = 3 },
  { .kind = OP_SET_OWNER, .tag = "set-o", .name = "o", .lease_ms = 5000 },
  { .kind = OP_HOLD, .tag = "hold-d", .name = "d", .owner = "o", .most = 1, .lease_ms = 9000 },
  { .kind = OP_LOOK, .tag = "look-3" },
  { .kind = OP_RENEW, .tag = "renew-d", .name = "d", .now_ms = 6000, .lease_ms = 9000 },
  { .kind = OP_SET_STATE, .tag = "kill-0", .now_ms = 6000, .at = 0, .state = QUOIT_NODE_DEAD },
  { .kind = OP_SET_STATE, .tag = "kill-0-again", .at = 0, .state = QUOIT_NODE_DEAD },
  { .kind = OP_REPAIR, .tag = "repair-a", .name = "a" },
  { .kind = OP_END_OWNER, .tag = "end-o", .name = "o" },
  { .kind = OP_LOOK, .tag = "look-4" },
  { .kind = OP_RELEASE, .tag = "release-c", .name = "c" },
  { .kind = OP_RESERVE_AT, .tag = "ahead-e", .name = "e", .most = 1, .from_ms = T0 + 20000, .end_ms = T0 + 60000 },
  { .kind = OP_RESERVE, .tag = "reserve-f", .name = "f", .most = 1, .lease_ms = 5000 },
  { .kind = OP_LOOK, .tag = "look-5" },
};

static guint
entry_of (const History *history, const char *verb, const char *tag)
{
  for (guint i = 0; i < history->entries->len; i++)
    {
      const Entry *entry = history->entries->pdata[i];

      if (strcmp (entry->verb, verb) == 0 && strcmp (entry->actor, tag) == 0)
        return i;
    }
  g_assert_not_reached ();
}

/* The state in the middle of the transaction that expires a lease and kills a node. */
static char *half_seen;

static void
read_half (const History *history, QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) half = quoit_ledger_snapshot_at (ledger, entry_of (history, "expire", "") + 1, NULL);

  require (half != NULL, "the past");
  half_seen = look_at (half);
}

static History *
play (void)
{
  History *history = history_new ();
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  require (import_text (ledger, "v6e 4x4 x5", NULL, T0, NULL), "a fleet");
  for (guint i = 0; i < G_N_ELEMENTS (script); i++)
    {
      Op op = script[i];

      op.now_ms += T0;
      op_run (ledger, &op);
      op.invoked_us = 10 * i + 10;
      op.answered_us = op.invoked_us + 5;
      g_array_append_val (history->ops, op);
    }
  history_read_on (history, ledger);
  read_half (history, ledger);
  return history;
}

/* --- falsifications --- */

static Op *
call (History *history, const char *tag)
{
  for (guint i = 0; i < history->ops->len; i++)
    if (strcmp (g_array_index (history->ops, Op, i).tag, tag) == 0)
      return &g_array_index (history->ops, Op, i);
  g_assert_not_reached ();
}

static void
drop_entry (History *history, const char *verb, const char *tag)
{
  guint at = entry_of (history, verb, tag);

  g_ptr_array_remove_index (history->entries, at);
  for (guint i = at; i < history->entries->len; i++)
    ((Entry *) history->entries->pdata[i])->seq--;
  for (guint i = 0; i < history->ops->len; i++)
    if (g_array_index (history->ops, Op, i).seq > at)
      g_array_index (history->ops, Op, i).seq--;
}

static void
move_behind (History *history, const char *tag, const char *other)
{
  call (history, tag)->invoked_us = call (history, other)->answered_us + 1;
  call (history, tag)->answered_us = call (history, other)->answered_us + 2;
}

static void
widen (History *history, const char *tag)
{
  call (history, tag)->invoked_us = 0;
  call (history, tag)->answered_us = 100000;
}

static void
no_fault (History *history)
{
}

static void
refusal_overlaps (History *history)
{
  call (history, "refused-c")->answered_us = call (history, "release-b")->answered_us + 1;
  call (history, "refused-c")->invoked_us = call (history, "confirm-a")->invoked_us;
}

static void
read_overlaps (History *history)
{
  call (history, "look-1")->answered_us = call (history, "release-b")->answered_us + 1;
}

static void
all_overlap (History *history)
{
  for (guint i = 0; i < history->ops->len; i++)
    widen (history, g_array_index (history->ops, Op, i).tag);
}

static void
lost_update (History *history)
{
  drop_entry (history, "confirm", "confirm-a");
}

static void
lost_release (History *history)
{
  drop_entry (history, "release", "release-b");
}

static void
stale_read (History *history)
{
  move_behind (history, "look-1", "reserve-b");
}

static void
stale_refusal (History *history)
{
  move_behind (history, "refused-c", "release-b");
}

static void
refusal_ahead_of_its_cause (History *history)
{
  call (history, "refused-c")->invoked_us = 1;
  call (history, "refused-c")->answered_us = 2;
}

/* Two consecutive snapshots during a long write: the new state, then the old one. */
static void
reads_backwards (History *history)
{
  all_overlap (history);
  call (history, "look-2")->invoked_us = 1;
  call (history, "look-2")->answered_us = 2;
  call (history, "look-1")->invoked_us = 3;
  call (history, "look-1")->answered_us = 4;
}

static void
slice_allocated_twice (History *history)
{
  call (history, "reserve-c")->after = call (history, "hold-a")->after;
}

static void
too_few_slices (History *history)
{
  Op *op = call (history, "reserve-c");

  op->after &= op->after - 1;
}

static void
dead_slice_for_a_lost_one (History *history)
{
  call (history, "repair-a")->after = call (history, "repair-a")->before;
}

static void
id_used_again (History *history)
{
  call (history, "reserve-c")->group_id = call (history, "hold-a")->group_id;
}

static void
retry_made_another (History *history)
{
  call (history, "retry-b")->group_id++;
}

static void
entries_against_time (History *history)
{
  Op *hold = call (history, "hold-a"), *reserve = call (history, "reserve-b");

  reserve->invoked_us = 1;
  reserve->answered_us = 2;
  hold->answered_us += 1000;
}

static void
entry_without_call (History *history)
{
  g_array_remove_index (history->ops, (guint) (call (history, "kill-0") - &g_array_index (history->ops, Op, 0)));
}

static void
refused_but_written (History *history)
{
  call (history, "kill-0")->code = QUOIT_ERROR_BUSY;
}

static void
lease_that_never_ended (History *history)
{
  drop_entry (history, "expire", "");
}

static void
lease_that_ended_too_early (History *history)
{
  ((Entry *) history->entries->pdata[entry_of (history, "expire", "")])->time_ms -= 2000;
}

static void
owner_without_its_groups (History *history)
{
  const Entry *entry = history->entries->pdata[entry_of (history, "expire", "")];

  g_array_set_size (entry->effects, entry->effects->len - 1);
}

static void
half_a_transaction (History *history)
{
  Op *look = call (history, "look-4");

  all_overlap (history);
  g_free (look->seen);
  look->seen = g_strdup (half_seen);
  look->seq = entry_of (history, "expire", "") + 1;
}

static void
late_renewal (History *history)
{
  call (history, "renew-d")->code = 0;
}

static void
time_of_other_caller (History *history)
{
  call (history, "kill-0")->now_ms += 1;
}

static void
own_write_unknown (History *history)
{
  call (history, "reserve-c")->seq--;
}

/* The group can have the slice of the reservation ahead, and its lease ends too late for it. */
static void
promise_broken (History *history)
{
  Op *reserve = call (history, "reserve-f");

  reserve->after = call (history, "ahead-e")->after;
  reserve->lease_ms += 20000;
  reserve->until_ms += 20000;
}

static const struct {
  const char *what;
  void (*falsify) (History *);
  const char *found; /* the expected contradiction, or NULL */
} falsifications[] = {
  { "calls one after the other (correct)", no_fault, NULL },
  { "a refusal that overlaps the release (correct)", refusal_overlaps, NULL },
  { "a read that overlaps writes (correct)", read_overlaps, NULL },
  { "calls that overlap all others (correct)", all_overlap, NULL },
  { "a lost update", lost_update, "call confirm-a, confirm of 'a': was answered as done, but has no entry" },
  { "a lost release", lost_release, "call release-b, release of 'b': was answered as done, but has no entry" },
  { "a stale read", stale_read, "call look-1, look of '': has no place" },
  { "a stale refusal", stale_refusal, "call refused-c, reserve of 'c': was answered NOT_NOW, expected OK" },
  { "a refusal before its cause", refusal_ahead_of_its_cause, "call refused-c, reserve of 'c': was answered NOT_NOW" },
  { "reads that go back in time", reads_backwards, "call look-1, look of '': has no place" },
  { "a slice allocated twice", slice_allocated_twice,
    "call reserve-c, reserve of 'c': has slices 3, which are not free" },
  { "too few slices", too_few_slices, "call reserve-c, reserve of 'c': has slices 8, expected 2" },
  { "a repair that uses the lost slice", dead_slice_for_a_lost_one,
    "call repair-a, repair of 'a': has slices 1, which are" },
  { "an id used again", id_used_again, "call reserve-c, reserve of 'c': is about id 1, expected 3" },
  { "a retry that made a second group", retry_made_another, "call retry-b, reserve of 'b': is about id 3, expected 2" },
  { "entries in the wrong order", entries_against_time, "entry 3 was acknowledged before the call of entry 2 began" },
  { "an entry without a call", entry_without_call, "entry 10, set-state of 'kill-0': no call wrote it" },
  { "a refused call with an entry", refused_but_written,
    "call kill-0, set-state of '': was refused, but has an entry" },
  { "a lease that never ended", lease_that_never_ended, "before expired leases were freed" },
  { "a lease that ended too early", lease_that_ended_too_early, "does not remove exactly what has expired" },
  { "an owner that left groups behind", owner_without_its_groups, "does not remove exactly what has expired" },
  { "half of a transaction", half_a_transaction, "call look-4, look of '': has no place" },
  { "a renewal after the end", late_renewal, "call renew-d, renew of 'd': has no place" },
  { "an entry with the time of a different caller", time_of_other_caller,
    "has another time than its caller's or the ledger's" },
  { "a write that the writer's own handle does not show", own_write_unknown,
    "the handle does not know what it has written" },
  { "a promise that is not kept", promise_broken, "call reserve-f, reserve of 'f': others can still have slices" },
};

guint
find_planted (void)
{
  g_autoptr (History) truth = play ();

  for (guint i = 0; i < G_N_ELEMENTS (falsifications); i++)
    {
      g_autoptr (History) history = history_copy (truth);
      g_autofree char *found = NULL;

      falsifications[i].falsify (history);
      found = linear_contradiction (history);
      if (falsifications[i].found == NULL)
        require (found == NULL, "%s: %s", falsifications[i].what, found);
      else
        require (found != NULL && strstr (found, falsifications[i].found) != NULL, "%s: found '%s', expected '%s'",
                 falsifications[i].what, found == NULL ? "nothing" : found, falsifications[i].found);
    }
  g_clear_pointer (&half_seen, g_free);
  return G_N_ELEMENTS (falsifications);
}
