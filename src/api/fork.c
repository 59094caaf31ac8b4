/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitFork *
quoit_snapshot_fork (const QuoitSnapshot *snapshot)
{
  QuoitFork *fork;

  g_return_val_if_fail (snapshot != NULL, NULL);

  fork = g_new0 (QuoitFork, 1);
  fork->base = quoit_fleet_ref (snapshot->fleet);
  fork->fleet = quoit_fleet_fork (snapshot->fleet);
  return fork;
}

void
quoit_fork_free (QuoitFork *fork)
{
  if (fork == NULL)
    return;
  quoit_fleet_unref (fork->fleet);
  quoit_fleet_unref (fork->base);
  g_clear_pointer (&fork->entries, g_ptr_array_unref);
  g_clear_pointer (&fork->marks, g_array_unref);
  g_free (fork);
}

QuoitSnapshot *
quoit_fork_snapshot (QuoitFork *fork)
{
  g_return_val_if_fail (fork != NULL, NULL);

  return quoit_snapshot_new (quoit_fleet_ref (fork->fleet));
}

/* Applies an entry, or nothing if @entry is NULL. A fleet that others also use is copied first. */
static gboolean
apply (QuoitFork *fork, const QuoitEntry *entry, GError **error)
{
  if (entry == NULL)
    return TRUE;
  if (!g_atomic_ref_count_compare (&fork->fleet->refs, 1))
    {
      QuoitFleet *copy = quoit_fleet_fork (fork->fleet);

      quoit_fleet_unref (fork->fleet);
      fork->fleet = copy;
    }
  fork->fleet->is_planned = TRUE;
  return quoit_entry_apply (entry, &fork->fleet, error);
}

/* Keeps an entry for quoit_ledger_commit_fork(). */
static void
record (QuoitFork *fork, const QuoitEntry *entry)
{
  if (entry == NULL)
    return;
  if (fork->entries == NULL)
    fork->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  g_ptr_array_add (fork->entries, quoit_entry_ref (entry));
}

/* The entries of a change: those of the due steps, and its own. */
typedef struct {
  QuoitEntry *entry[QUOIT_N_DUE_STEPS + 1];
} Entries;

static void
entries_clear (Entries *entries)
{
  for (guint i = 0; i <= QUOIT_N_DUE_STEPS; i++)
    quoit_entry_unref (entries->entry[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Entries, entries_clear)

/* Applies what is due. *@before gets a reference to the fleet before it, unless nothing is due. */
static gboolean
apply_due_steps (QuoitFork *fork, int64_t now_ms, Entries *entries, QuoitFleet **before, GError **error)
{
  for (guint i = 0; i < QUOIT_N_DUE_STEPS; i++)
    {
      quoit_due_steps[i](fork->fleet, now_ms, &entries->entry[i]);
      if (entries->entry[i] != NULL && *before == NULL)
        *before = quoit_fleet_ref (fork->fleet);
      if (!apply (fork, entries->entry[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
apply_and_change (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome, GError **error)
{
  g_auto (Entries) entries = { { NULL } };
  g_autoptr (QuoitFleet) before = NULL;
  QuoitEntry **own = &entries.entry[QUOIT_N_DUE_STEPS];

  if (apply_due_steps (fork, now_ms, &entries, &before, error)
      && quoit_action_decide (fork->fleet, action, now_ms, own, outcome, error))
    {
      /* Keep the fleet before the entry, to go back to it on failure. An entry with one effect does not need that,
       * because one effect is applied completely or not at all. */
      if (before == NULL && *own != NULL && (*own)->n_effects > 1)
        before = quoit_fleet_ref (fork->fleet);
      if (apply (fork, *own, error))
        {
          for (guint i = 0; i <= QUOIT_N_DUE_STEPS; i++)
            record (fork, entries.entry[i]);
          return TRUE;
        }
    }
  if (outcome->refusal.request != NULL && outcome->refusal.fleet == NULL)
    outcome->refusal.fleet = quoit_fleet_ref (fork->fleet);
  /* A refused change must not change anything, so take back what was due too. */
  if (before != NULL)
    {
      quoit_fleet_unref (fork->fleet);
      fork->fleet = g_steal_pointer (&before);
    }
  return FALSE;
}

gboolean
quoit_fork_change (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                   QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) own = { 0 };

  if (apply_and_change (fork, action, now_ms, &own, error))
    {
      if (outcome != NULL)
        {
          own.fleet = quoit_fleet_ref (fork->fleet);
          *outcome = own;
          own = (QuoitOutcome) { 0 };
        }
      return TRUE;
    }
  if (own.refusal.request != NULL && (error != NULL || report != NULL))
    quoit_refusal_explain (&own.refusal, report, error);
  return FALSE;
}

void
quoit_fork_adopt (QuoitFork *fork, QuoitFleet *fleet, const GPtrArray *entries)
{
  if (entries->len == 0)
    return;
  quoit_fleet_unref (fork->fleet);
  fork->fleet = quoit_fleet_ref (fleet);
  for (guint i = 0; i < entries->len; i++)
    record (fork, g_ptr_array_index (entries, i));
}

/* --- marks --- */

typedef struct {
  QuoitFleet *fleet;
  guint n_entries;
} Mark;

static void
mark_clear (gpointer data)
{
  quoit_fleet_unref (((Mark *) data)->fleet);
}

uint32_t
quoit_fork_mark (QuoitFork *fork)
{
  Mark mark;

  g_return_val_if_fail (fork != NULL, 0);

  if (fork->marks == NULL)
    {
      fork->marks = g_array_new (FALSE, FALSE, sizeof (Mark));
      g_array_set_clear_func (fork->marks, mark_clear);
    }
  mark = (Mark) { quoit_fleet_ref (fork->fleet), fork->entries == NULL ? 0 : fork->entries->len };
  g_array_append_val (fork->marks, mark);
  return fork->marks->len;
}

bool
quoit_fork_roll_back (QuoitFork *fork, uint32_t mark, GError **error)
{
  const Mark *at;

  g_return_val_if_fail (fork != NULL, false);

  if (fork->marks == NULL || mark == 0 || mark > fork->marks->len)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "mark '%u': the fork has %u marks, counted from 1", mark,
                       fork->marks == NULL ? 0 : fork->marks->len);
  at = &g_array_index (fork->marks, Mark, mark - 1);
  quoit_fleet_unref (fork->fleet);
  fork->fleet = quoit_fleet_ref (at->fleet);
  if (fork->entries != NULL)
    g_ptr_array_set_size (fork->entries, (gint) at->n_entries);
  g_array_set_size (fork->marks, mark);
  return true;
}

/* --- commit --- */

bool
quoit_ledger_commit_fork (QuoitLedger *ledger, QuoitFork *fork, int64_t now_ms, GError **error)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  QuoitAction action = { .type = QUOIT_ACTION_COMMIT_FORK };
  g_auto (QuoitOutcome) outcome = { 0 };

  g_return_val_if_fail (ledger != NULL && fork != NULL, false);

  action.fork = (QuoitForkChanges) { fork->base, fork->entries != NULL ? fork->entries : none };
  if (!quoit_store_change (ledger->store, &action, now_ms, &outcome, NULL, error))
    return false;
  /* The fork continues from what was committed. */
  quoit_fleet_unref (fork->fleet);
  quoit_fleet_unref (fork->base);
  fork->base = quoit_fleet_ref (outcome.fleet);
  fork->fleet = quoit_fleet_fork (outcome.fleet);
  g_clear_pointer (&fork->entries, g_ptr_array_unref);
  g_clear_pointer (&fork->marks, g_array_unref);
  return true;
}
