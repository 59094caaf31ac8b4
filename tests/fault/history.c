/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

/* clang-format off */
static const char *const verbs[N_OPS] = {
  [OP_RESERVE]       = "reserve",
  [OP_HOLD]          = "hold",
  [OP_CONFIRM]       = "confirm",
  [OP_RENEW]         = "renew",
  [OP_RELEASE]       = "release",
  [OP_RELEASE_SLICE] = "release",
  [OP_RESIZE]        = "resize",
  [OP_REPAIR]        = "repair",
  [OP_SET_OWNER]     = "owner set",
  [OP_RENEW_OWNER]   = "owner renew",
  [OP_END_OWNER]     = "owner end",
  [OP_SET_STATE]     = "set-state",
  [OP_DRAIN]         = "drain",
  [OP_UNDRAIN]       = "undrain",
  [OP_FORGET]        = "forget",
  [OP_FORGET_KEY]    = "forget",
  [OP_LOOK]          = "look",
  [OP_SET_QUOTA]     = "quota set",
  [OP_RESERVE_AT]    = "reserve",
  [OP_ADD_WINDOW]    = "calendar add",
  [OP_REMOVE_WINDOW] = "calendar remove",
  [OP_SYNC]          = "sync",
};
/* clang-format on */

const char *
op_verb (OpKind kind)
{
  return verbs[kind];
}

const char *
op_entry_verb (const Op *op)
{
  return op->on_fork ? "commit-fork" : verbs[op->kind];
}

QuoitNodeState
op_extra_state (const Op *op, guint host)
{
  guint digits = op->at;

  for (guint i = 0; i < host; i++)
    digits /= 3;
  return (QuoitNodeState) (digits % 3);
}

void
op_clear (gpointer op)
{
  g_clear_pointer (&((Op *) op)->seen, g_free);
  g_clear_pointer (&((Op *) op)->message, g_free);
}

/* --- a call as a line --- */

static const char *
or_dash (const char *text)
{
  return text == NULL || *text == '\0' ? "-" : text;
}

char *
op_text (const Op *op)
{
  return g_strdup_printf ("%d %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s %" G_GUINT64_FORMAT
                          " %s %s %u %u %" G_GINT64_FORMAT " %u %d = %d %" G_GUINT64_FORMAT " %d %" G_GINT64_FORMAT
                          " %x %x %u %" G_GUINT64_FORMAT " %d %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
                          " %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s",
                          (int) op->kind, op->tag, op->invoked_us, op->answered_us, op->now_ms, or_dash (op->name),
                          op->id, or_dash (op->key), or_dash (op->owner), op->least, op->most, op->lease_ms, op->at,
                          (int) op->state, op->code, op->group_id, op->group_state, op->until_ms, op->before, op->after,
                          op->n_freed, op->seq, op->on_fork, op->decided_ms, op->forked_at, op->is_commit_refused,
                          op->from_ms, op->end_ms, or_dash (op->seen));
}

static gint64
number_of (const char *text, guint base)
{
  return base == 16 ? (gint64) g_ascii_strtoull (text, NULL, 16) : g_ascii_strtoll (text, NULL, 10);
}

static void
take_text (char *into, const char *text)
{
  g_strlcpy (into, strcmp (text, "-") == 0 ? "" : text, NAME_BYTES);
}

gboolean
op_parse (const char *line, Op *op)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);

  if (g_strv_length (words) != 30 || strcmp (words[14], "=") != 0 || number_of (words[0], 10) >= N_OPS)
    return FALSE;
  *op = (Op) {
    .kind = (OpKind) number_of (words[0], 10),
    .invoked_us = number_of (words[2], 10),
    .answered_us = number_of (words[3], 10),
    .now_ms = number_of (words[4], 10),
    .id = (guint64) number_of (words[6], 10),
    .least = (guint) number_of (words[9], 10),
    .most = (guint) number_of (words[10], 10),
    .lease_ms = number_of (words[11], 10),
    .at = (guint) number_of (words[12], 10),
    .state = (QuoitNodeState) number_of (words[13], 10),
    .code = (int) number_of (words[15], 10),
    .group_id = (guint64) number_of (words[16], 10),
    .group_state = (int) number_of (words[17], 10),
    .until_ms = number_of (words[18], 10),
    .before = (guint32) number_of (words[19], 16),
    .after = (guint32) number_of (words[20], 16),
    .n_freed = (guint) number_of (words[21], 10),
    .seq = (guint64) number_of (words[22], 10),
    .on_fork = number_of (words[23], 10) != 0,
    .decided_ms = number_of (words[24], 10),
    .forked_at = (guint64) number_of (words[25], 10),
    .is_commit_refused = number_of (words[26], 10) != 0,
    .from_ms = number_of (words[27], 10),
    .end_ms = number_of (words[28], 10),
    .seen = strcmp (words[29], "-") == 0 ? NULL : g_strdup (words[29]),
  };
  take_text (op->tag, words[1]);
  take_text (op->name, words[5]);
  take_text (op->key, words[7]);
  take_text (op->owner, words[8]);
  return TRUE;
}

/* --- what a snapshot shows --- */

static guint32
slices_of (const QuoitGroup *group)
{
  guint32 slices = 0;

  for (guint32 i = 0; group != NULL && i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, i);

      require (g_str_has_prefix (name, "v6e-4x4-"), "%s", name);
      slices |= 1u << g_ascii_strtoull (name + strlen ("v6e-4x4-"), NULL, 10);
    }
  return slices;
}

static void
append_group (GString *text, const QuoitGroup *group)
{
  gboolean removed = quoit_group_get_state (group) == QUOIT_GROUP_REMOVED;

  g_string_append_printf (text, "/g:%s:%u:%d:%" G_GINT64_FORMAT ":%x:%s:%s", quoit_group_get_name (group),
                          (guint) quoit_group_get_id (group), (int) quoit_group_get_state (group),
                          removed ? quoit_group_get_ended_ms (group) : quoit_group_get_until_ms (group),
                          slices_of (group), quoit_group_get_key (group), quoit_group_get_owner (group));
  if (quoit_group_has_expired (group))
    g_string_append (text, ":expired");
}

char *
look_at (const QuoitSnapshot *snapshot)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%" G_GINT64_FORMAT "/", quoit_snapshot_get_clock_ms (snapshot));
  for (guint i = 0; i < N_NODES; i++)
    {
      g_autofree char *name = g_strdup_printf ("v6e-4x4-%u-%u", i / N_HOSTS, i % N_HOSTS);
      guint32 node = 0;

      require (quoit_snapshot_lookup_node (snapshot, name, &node, NULL), "%s", name);
      g_string_append_printf (text, "%d", (int) quoit_snapshot_get_node_state (snapshot, node));
    }
  for (guint i = 0; i < N_EXTRA; i++)
    {
      g_autofree char *name = g_strdup_printf ("extra-%u", i);
      guint32 node = 0;

      if (quoit_snapshot_lookup_node (snapshot, name, &node, NULL))
        g_string_append_printf (text, "%d", (int) quoit_snapshot_get_node_state (snapshot, node));
    }
  for (guint32 i = 0; i < quoit_snapshot_get_n_owners (snapshot); i++)
    g_string_append_printf (text, "/o:%s:%" G_GINT64_FORMAT, quoit_snapshot_get_owner_name (snapshot, i),
                            quoit_snapshot_get_owner_until_ms (snapshot, i));
  for (guint32 i = 0; i < quoit_snapshot_get_n_quotas (snapshot); i++)
    g_string_append_printf (text, "/q:%s:%u:%d:%u:%s", quoit_snapshot_get_quota_name (snapshot, i),
                            (guint) quoit_snapshot_get_quota_nominal_chips (snapshot, i),
                            (gint) quoit_snapshot_get_quota_max_chips (snapshot, i),
                            (guint) (quoit_snapshot_get_quota_used (snapshot, i).e4 / 10000),
                            quoit_snapshot_get_quota_cohort (snapshot, i) == NULL ? "-" : "cohort");
  for (guint32 i = 0; i < quoit_snapshot_get_n_windows (snapshot); i++)
    g_string_append_printf (
        text, "/w:%s:%s:%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, quoit_snapshot_get_window_name (snapshot, i),
        quoit_snapshot_get_window_target (snapshot, i), quoit_snapshot_get_window_from_ms (snapshot, i),
        quoit_snapshot_get_window_until_ms (snapshot, i));
  for (guint32 i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      append_group (text, group);
    }
  return g_string_free (text, FALSE);
}

/* --- making calls --- */

static char *
group_ref (const Op *op)
{
  return op->id == 0 ? g_strdup (op->name) : g_strdup_printf ("%s@%u", op->name, (guint) op->id);
}

static gboolean
take_group (Op *op, QuoitGroup *group)
{
  if (group == NULL)
    return FALSE;
  op->group_id = quoit_group_get_id (group);
  op->group_state = (int) quoit_group_get_state (group);
  op->until_ms = quoit_group_get_until_ms (group);
  op->after = slices_of (group);
  quoit_group_unref (group);
  return TRUE;
}

static gboolean
take_change (Op *op, QuoitGroupChange *change)
{
  QuoitGroup *after;

  if (change == NULL)
    return FALSE;
  after = quoit_group_change_get_after (change);
  op->before = slices_of (quoit_group_change_get_before (change));
  if (after != NULL)
    take_group (op, quoit_group_ref (after));
  quoit_group_change_free (change);
  return TRUE;
}

static QuoitRequest *
op_request (const Op *op)
{
  QuoitRequest *request = new_slice_request (op->name, "v6e", "4x4", op->most);

  if (op->least > 0)
    require (quoit_request_set_slice_range (request, op->least, op->most, NULL), "%u..%u", op->least, op->most);
  if (*op->key != '\0')
    quoit_request_set_key (request, op->key, NULL);
  if (*op->owner != '\0')
    quoit_request_set_owner (request, op->owner, NULL);
  if (op->kind == OP_RESERVE && op->lease_ms > 0)
    require (quoit_request_set_lease_ms (request, op->lease_ms, NULL), "a lease");
  return request;
}

static char *
op_node (const Op *op)
{
  return g_strdup_printf ("v6e-4x4-%u-%u", op->at / N_HOSTS, op->at % N_HOSTS);
}

static gboolean
ask_for_slices (QuoitLedger *ledger, Op *op, GError **error)
{
  g_autoptr (QuoitRequest) request = op_request (op);

  if (op->kind == OP_HOLD)
    return take_group (op, quoit_ledger_hold (ledger, request, op->lease_ms, op->now_ms, NULL, error));
  return take_group (op, quoit_ledger_reserve (ledger, request, op->now_ms, NULL, error));
}

static gboolean
ask_ahead (QuoitLedger *ledger, Op *op, GError **error)
{
  g_autoptr (QuoitRequest) request = op_request (op);

  return take_group (op, quoit_ledger_reserve_at (ledger, request, op->from_ms, op->end_ms, op->now_ms, NULL, error));
}

static gboolean
ask_for_quota (QuoitLedger *ledger, const Op *op, GError **error)
{
  gint64 nominal = (gint64) op->most * CHIPS_PER_SLICE;
  gint64 most = op->at < QUOTA_LIMITED ? -1 : nominal + (gint64) (op->at - QUOTA_LIMITED) * CHIPS_PER_SLICE;

  return quoit_ledger_set_quota (ledger, op->name, NULL, op->name, "v6e", NULL, nominal, most,
                                 op->at == QUOTA_ALONE ? NULL : "cohort", op->now_ms, error);
}

static gboolean
ask_for_window (QuoitLedger *ledger, const Op *op, GError **error)
{
  g_autofree char *slice = g_strdup_printf ("v6e-4x4-%u", op->at);

  return quoit_ledger_add_window (ledger, op->name, QUOIT_WINDOW_SLICE, slice, op->from_ms, op->end_ms, op->now_ms,
                                  error);
}

static gboolean
ask_for_node (QuoitLedger *ledger, const Op *op, GError **error)
{
  g_autofree char *node = op_node (op);

  if (op->kind == OP_SET_STATE)
    return quoit_ledger_set_node_state (ledger, node, op->state, op->now_ms, error);
  return (op->kind == OP_DRAIN ? quoit_ledger_drain_node : quoit_ledger_undrain_node) (ledger, node, op->now_ms, error);
}

static QuoitInput *
op_input (const Op *op)
{
  QuoitInput *input = quoit_input_new_nodes ();

  quoit_input_set_source (input, "extra");
  for (guint i = 0; i < N_EXTRA; i++)
    {
      g_autofree char *name = g_strdup_printf ("extra-%u", i);

      require (quoit_input_add_node (input, name, NULL, NULL, op_extra_state (op, i), NULL), "%s", name);
    }
  return input;
}

static gboolean
drop_import (QuoitImport *import)
{
  gboolean is_done = import != NULL;

  quoit_import_free (import);
  return is_done;
}

static gboolean
ask_for_sync (QuoitLedger *ledger, const Op *op, GError **error)
{
  g_autoptr (QuoitInput) input = op_input (op);

  return drop_import (quoit_ledger_sync (ledger, input, op->now_ms, error));
}

static gboolean
ask_for_group (QuoitLedger *ledger, Op *op, GError **error)
{
  g_autofree char *ref = group_ref (op), *slice = g_strdup_printf ("v6e-4x4-%u", op->at);

  switch (op->kind)
    {
    case OP_CONFIRM:
      return take_group (op, quoit_ledger_confirm (ledger, ref, op->lease_ms, op->now_ms, error));
    case OP_RENEW:
      return take_group (op, quoit_ledger_renew (ledger, ref, op->lease_ms, op->now_ms, error));
    case OP_RELEASE:
      return quoit_ledger_release (ledger, ref, op->now_ms, error);
    case OP_RELEASE_SLICE:
      return take_change (op, quoit_ledger_release_slice (ledger, ref, slice, op->now_ms, error));
    case OP_RESIZE:
      return take_change (op, quoit_ledger_resize (ledger, ref, op->most, op->now_ms, NULL, error));
    case OP_REPAIR:
      return take_change (op, quoit_ledger_repair (ledger, ref, op->now_ms, NULL, error));
    default:
      return quoit_ledger_forget (ledger, ref, op->now_ms, error);
    }
}

static gboolean
look (QuoitLedger *ledger, Op *op, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!quoit_ledger_refresh (ledger, error))
    return FALSE;
  snapshot = quoit_ledger_snapshot (ledger);
  op->seen = look_at (snapshot);
  return TRUE;
}

static gboolean
ask (QuoitLedger *ledger, Op *op, GError **error)
{
  switch (op->kind)
    {
    case OP_RESERVE:
    case OP_HOLD:
      return ask_for_slices (ledger, op, error);
    case OP_SET_OWNER:
      return quoit_ledger_set_owner (ledger, op->name, op->lease_ms, op->now_ms, error);
    case OP_RENEW_OWNER:
      return quoit_ledger_renew_owner (ledger, op->name, op->lease_ms, op->now_ms, error);
    case OP_END_OWNER:
      return quoit_ledger_end_owner (ledger, op->name, op->now_ms, &op->n_freed, error);
    case OP_SET_STATE:
    case OP_DRAIN:
    case OP_UNDRAIN:
      return ask_for_node (ledger, op, error);
    case OP_FORGET_KEY:
      return quoit_ledger_forget_key (ledger, op->key, op->now_ms, error);
    case OP_LOOK:
      return look (ledger, op, error);
    case OP_SET_QUOTA:
      return ask_for_quota (ledger, op, error);
    case OP_RESERVE_AT:
      return ask_ahead (ledger, op, error);
    case OP_ADD_WINDOW:
      return ask_for_window (ledger, op, error);
    case OP_REMOVE_WINDOW:
      return quoit_ledger_remove_window (ledger, op->name, op->now_ms, error);
    case OP_SYNC:
      return ask_for_sync (ledger, op, error);
    default:
      return ask_for_group (ledger, op, error);
    }
}

/* --- calls on forks --- */

static gboolean
change_fork (QuoitFork *fork, Op *op, GError **error)
{
  g_autofree char *ref = group_ref (op), *node = op_node (op);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitInput) input = NULL;

  switch (op->kind)
    {
    case OP_RESERVE:
      request = op_request (op);
      return take_group (op, quoit_fork_reserve (fork, request, op->now_ms, NULL, error));
    case OP_HOLD:
      request = op_request (op);
      return take_group (op, quoit_fork_hold (fork, request, op->lease_ms, op->now_ms, NULL, error));
    case OP_CONFIRM:
      return take_group (op, quoit_fork_confirm (fork, ref, op->lease_ms, op->now_ms, error));
    case OP_RELEASE:
      return quoit_fork_release (fork, ref, op->now_ms, error);
    case OP_SET_STATE:
      return quoit_fork_set_node_state (fork, node, op->state, op->now_ms, error);
    case OP_FORGET:
      return quoit_fork_forget (fork, ref, op->now_ms, error);
    case OP_FORGET_KEY:
      return quoit_fork_forget_key (fork, op->key, op->now_ms, error);
    case OP_SYNC:
      input = op_input (op);
      return drop_import (quoit_fork_sync (fork, input, op->now_ms, error));
    default:
      g_assert_not_reached ();
    }
}

/* Changes that the fork takes back. Nothing of them may reach the ledger. */
static void
change_and_roll_back (QuoitFork *fork, const Op *op)
{
  guint32 mark = quoit_fork_mark (fork);
  g_autoptr (QuoitRequest) request = new_slice_request ("rolled-back", "v6e", "4x4", 1);
  g_autofree char *node = op_node (op);
  g_autoptr (GError) error = NULL;

  quoit_group_unref (quoit_fork_reserve (fork, request, op->now_ms, NULL, NULL));
  quoit_fork_release (fork, op->name, op->now_ms, NULL);
  quoit_fork_set_node_state (fork, node, QUOIT_NODE_DEAD, op->now_ms, NULL);
  require (quoit_fork_roll_back (fork, mark, &error), "%s", error_text (error));
}

/* A group that is new can have another id in the ledger than on the fork. If the commit had nothing to write, others
 * can have released a group that the fork found there, or renewed one that had ended by the fork's clock; the answer is
 * then that of the fork. */
static void
take_committed_group (QuoitFork *fork, const QuoitSnapshot *base, Op *op)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);
  g_autoptr (QuoitGroup) known = quoit_snapshot_lookup_group_by_id (base, op->group_id, NULL);
  g_autoptr (QuoitGroup) group = NULL;

  if (op->group_id == 0 || op->group_state == QUOIT_GROUP_REMOVED)
    return;
  group = known == NULL ? quoit_snapshot_lookup_group (snapshot, op->name, NULL)
                        : quoit_snapshot_lookup_group_by_id (snapshot, op->group_id, NULL);
  if (group != NULL && quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
    take_group (op, quoit_group_ref (group));
}

static gboolean
ask_on_fork (QuoitLedger *ledger, Op *op, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;

  if (!quoit_ledger_refresh (ledger, error))
    return FALSE;
  snapshot = quoit_ledger_snapshot (ledger);
  op->forked_at = quoit_snapshot_get_seq (snapshot);
  op->decided_ms = MAX (op->now_ms, quoit_snapshot_get_clock_ms (snapshot));
  fork = quoit_snapshot_fork (snapshot);
  change_and_roll_back (fork, op);
  if (!change_fork (fork, op, error))
    return FALSE;
  g_usleep (200); /* so that other processes can write between the snapshot and the commit */
  if (!quoit_ledger_commit_fork (ledger, fork, op->decided_ms, error))
    {
      op->is_commit_refused = TRUE;
      return FALSE;
    }
  take_committed_group (fork, snapshot, op);
  return TRUE;
}

void
op_run (QuoitLedger *ledger, Op *op)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done;

  quoit_ledger_set_actor (ledger, op->tag);
  op->invoked_us = g_get_monotonic_time ();
  done = op->on_fork ? ask_on_fork (ledger, op, &error) : ask (ledger, op, &error);
  op->answered_us = g_get_monotonic_time ();
  require (done == (error == NULL), "%s: result and error disagree: %s", op_verb (op->kind), error_text (error));
  op->code = done ? 0 : error->code;
  op->message = done ? NULL : g_strdup (error->message);
  snapshot = quoit_ledger_snapshot (ledger);
  op->seq = quoit_snapshot_get_seq (snapshot);
}

/* --- histories --- */

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->verb);
  g_free (entry->actor);
  g_array_unref (entry->effects);
  g_free (entry);
}

History *
history_new (void)
{
  History *history = g_new0 (History, 1);

  history->ops = g_array_new (FALSE, FALSE, sizeof (Op));
  g_array_set_clear_func (history->ops, op_clear);
  history->entries = g_ptr_array_new_with_free_func (entry_free);
  return history;
}

void
history_free (History *history)
{
  if (history == NULL)
    return;
  g_array_unref (history->ops);
  g_ptr_array_unref (history->entries);
  g_free (history);
}

static Entry *
entry_new (guint64 seq, gint64 time_ms, const char *verb, const char *actor)
{
  Entry *entry = g_new (Entry, 1);

  *entry = (Entry) { seq, time_ms, g_strdup (verb), g_strdup (actor), g_array_new (FALSE, FALSE, sizeof (Effect)) };
  return entry;
}

History *
history_copy (const History *history)
{
  History *copy = history_new ();

  copy->reads_slices = history->reads_slices;
  for (guint i = 0; i < history->ops->len; i++)
    {
      Op op = g_array_index (history->ops, Op, i);

      op.seen = g_strdup (op.seen);
      op.message = g_strdup (op.message);
      g_array_append_val (copy->ops, op);
    }
  for (guint i = 0; i < history->entries->len; i++)
    {
      const Entry *from = history->entries->pdata[i];
      Entry *entry = entry_new (from->seq, from->time_ms, from->verb, from->actor);

      g_array_append_vals (entry->effects, from->effects->data, from->effects->len);
      g_ptr_array_add (copy->entries, entry);
    }
  return copy;
}

/* Sets the slices that each group has after the entry: reservations ahead can be given others by any change. */
static void
read_slices (Entry *entry, QuoitLedger *ledger)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot_at (ledger, entry->seq, &error);

  require (snapshot != NULL, "entry %u: %s", (guint) entry->seq, error_text (error));
  for (guint i = 0; i < entry->effects->len; i++)
    {
      Effect *effect = &g_array_index (entry->effects, Effect, i);
      g_autoptr (QuoitGroup) group = effect->type != QUOIT_EFFECT_GROUP_CHANGED
                                         ? NULL
                                         : quoit_snapshot_lookup_group_by_id (snapshot, effect->group_id, NULL);

      effect->slices = slices_of (group);
    }
}

void
history_read_on (History *history, QuoitLedger *ledger)
{
  const Entry *last = history->entries->len == 0 ? NULL : history->entries->pdata[history->entries->len - 1];
  g_autoptr (QuoitJournal) journal = NULL;
  g_autoptr (GError) error = NULL;

  require (quoit_ledger_refresh (ledger, &error), "%s", error_text (error));
  journal = quoit_ledger_read_journal (ledger, last == NULL ? 0 : last->seq, &error);
  require (journal != NULL, "%s", error_text (error));
  for (guint32 i = 0; i < quoit_journal_get_n_entries (journal); i++)
    {
      Entry *entry = entry_new (quoit_journal_get_seq (journal, i), quoit_journal_get_time_ms (journal, i),
                                quoit_journal_get_verb (journal, i), quoit_journal_get_actor (journal, i));
      gboolean has_changed = FALSE;

      for (guint32 e = 0; e < quoit_journal_get_n_effects (journal, i); e++)
        {
          Effect effect
              = { quoit_journal_get_effect_type (journal, i, e), quoit_journal_get_effect_group_id (journal, i, e), 0 };

          g_array_append_val (entry->effects, effect);
          has_changed |= effect.type == QUOIT_EFFECT_GROUP_CHANGED;
        }
      if (history->reads_slices && has_changed)
        read_slices (entry, ledger);
      g_ptr_array_add (history->entries, entry);
    }
}
