/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies a ledger: compares the saved state with a replay of the journal. Also copies a ledger to a backup. */
#include "placement/ahead.h"
#include "store/store-private.h"

/* Checks that no group can still have what is promised to a reservation ahead. */
static gboolean
check_promises (const QuoitFleet *fleet, GError **error)
{
  g_autoptr (GError) why = NULL;

  return quoit_ahead_check (fleet, &why)
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "%s: restore a backup", why->message);
}

gboolean
quoit_store_check_equal (const QuoitFleet *replayed, const QuoitFleet *saved, GError **error)
{
  return quoit_step_compare (replayed, saved, error) && quoit_fleet_check (replayed, error)
         && quoit_fleet_check (saved, error) && check_promises (saved, error);
}

gboolean
quoit_store_verify (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->verify (store, error);
  quoit_store_unlock_writer (store);
  if (!ok)
    g_prefix_error (error, "verify: ");
  return ok;
}

gboolean
quoit_store_backup (QuoitStore *store, const char *path, GError **error)
{
  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (quoit_store_is_url (path))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "a backup is a file: expected its name; to copy a ledger to a server, "
                       "use quoit copy");
  return store->engine->copy != NULL ? store->engine->copy (store, path, error) : quoit_store_copy (store, path, error);
}
