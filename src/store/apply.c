/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller needs to store the entries of a ledger in memory itself: the entries of an open batch, which it stores
 * before the commit, and a change that applies an entry that it has stored. */
#include <string.h>

#include "placement/ahead.h"
#include "store/entry-bytes.h"
#include "store/store-private.h"

static gboolean
check_ledger (const QuoitStore *store, GError **error)
{
  if (store->engine->is_private && store->is_linked)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     store->engine->is_private
                         ? "this ledger in memory has no links: expected one that was opened from a snapshot"
                         : "this ledger stores its entries itself: expected one in memory that was opened from a "
                           "snapshot");
}

/* --- entries of other handles --- */

static gboolean
fail_conflict (guint64 seq, GError **error, const char *why)
{
  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "entry %" G_GUINT64_FORMAT ": %s", seq, why);
}

/* Checks that @entry, of the ledger @identity, is the next one after @fleet, whose link is @chain. */
static gboolean
check_follows (const QuoitStore *store, const QuoitFleet *fleet, const QuoitEntry *entry, const guint8 *identity,
               GError **error)
{
  if (memcmp (identity, store->identity, sizeof store->identity) != 0)
    return fail_conflict (entry->seq, error, "it is an entry of another ledger");
  if (entry->seq <= fleet->seq)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "entry %" G_GUINT64_FORMAT ": the ledger is at entry %" G_GUINT64_FORMAT
                       " already: expected entry %" G_GUINT64_FORMAT,
                       entry->seq, fleet->seq, fleet->seq + 1);
  if (entry->seq > fleet->seq + 1)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "entry %" G_GUINT64_FORMAT ": entries before it are missing: expected entry %" G_GUINT64_FORMAT,
                       entry->seq, fleet->seq + 1);
  return memcmp (entry->link->previous, store->pending_chain, sizeof store->pending_chain) == 0
         || fail_conflict (entry->seq, error,
                           "it follows another entry than the last one of this ledger: their histories differ");
}

/* Checks what the effects do not: the entry may be well-formed, and yet no quoit can have decided it. */
static gboolean
check_applied (const QuoitEntry *entry, const QuoitFleet *after, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (entry->link->next_group_id != after->next_group_id || entry->link->next_node_id != after->next_node_id)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "entry %" G_GUINT64_FORMAT " has counters that do not match its effects", entry->seq);
  return quoit_ahead_check (after, &why)
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "entry %" G_GUINT64_FORMAT ": %s", entry->seq, why->message);
}

/* Applies the entry in the open transaction. A failure changes nothing, so that a batch can go on after it. */
static gboolean
apply (QuoitStore *store, QuoitEntry *entry, const guint8 *identity, GError **error)
{
  const QuoitFleet *newest = store->pending != NULL ? store->pending : store->fleet;
  g_autoptr (QuoitFleet) next = NULL;

  if (!quoit_store_check_writable (store, error) || !check_follows (store, newest, entry, identity, error))
    return FALSE;
  next = quoit_fleet_fork (newest);
  if (!quoit_entry_apply (entry, &next, error) || !check_applied (entry, next, error)
      || !quoit_store_append (store, entry, next, error))
    return FALSE;
  g_clear_pointer (&store->pending, quoit_fleet_unref);
  store->pending = g_steal_pointer (&next);
  return TRUE;
}

static gboolean
apply_alone (QuoitStore *store, QuoitEntry *entry, const guint8 *identity, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->begin (store, error);
  if (ok && apply (store, entry, identity, error))
    ok = quoit_store_commit (store, error) == QUOIT_COMMIT_DONE;
  else if (ok)
    {
      quoit_store_roll_back (store);
      ok = FALSE;
    }
  quoit_store_unlock_writer (store);
  return ok;
}

gboolean
quoit_store_apply_entry (QuoitStore *store, const void *bytes, gsize length, GError **error)
{
  guint8 identity[QUOIT_IDENTITY_BYTES];
  g_autoptr (QuoitEntry) entry = NULL;

  if (!quoit_store_refuse_child (store, error) || !check_ledger (store, error))
    return FALSE;
  entry = quoit_entry_from_bytes (bytes, length, identity, error);
  if (entry == NULL)
    return FALSE;
  return quoit_store_is_in_own_batch (store) ? apply (store, entry, identity, error)
                                             : apply_alone (store, entry, identity, error);
}

/* --- entries of a batch --- */

GPtrArray *
quoit_store_batch_entries (QuoitStore *store, GError **error)
{
  GPtrArray *entries;

  if (!quoit_store_refuse_child (store, error) || !check_ledger (store, error))
    return NULL;
  if (!quoit_store_is_in_own_batch (store))
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch");
  if (!quoit_store_check_writable (store, error))
    return NULL;
  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  for (guint i = store->n_committed; i < store->entries->len; i++)
    g_ptr_array_add (entries, quoit_entry_ref (store->entries->pdata[i]));
  return entries;
}
