/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the engine of a ledger by the name that the caller gives. */
#include "config.h"

#include "store/postgresql/open.h"
#include "store/sqlite/sqlite.h"

#ifndef HAVE_LIBPQ
static QuoitStore *
fail_absent (GError **error)
{
  quoit_fail (error, QUOIT_ERROR_STORE,
              "this libquoit was built without PostgreSQL: build it where libpq is installed");
  return NULL;
}

#define quoit_pg_open(url, wait_ms, error) fail_absent (error)
#define quoit_pg_create(url, wait_ms, error) fail_absent (error)
#define quoit_pg_create_empty(url, wait_ms, error) fail_absent (error)
#endif

gboolean
quoit_store_is_url (const char *path)
{
  return g_str_has_prefix (path, "postgresql://") || g_str_has_prefix (path, "postgres://");
}

QuoitStore *
quoit_store_create (const char *path, gint64 wait_ms, GError **error)
{
  return quoit_store_is_url (path) ? quoit_pg_create (path, wait_ms, error)
                                   : quoit_sqlite_create (path, wait_ms, error);
}

QuoitStore *
quoit_store_create_empty (const char *path, gint64 wait_ms, GError **error)
{
  return quoit_store_is_url (path) ? quoit_pg_create_empty (path, wait_ms, error)
                                   : quoit_sqlite_create (path, wait_ms, error);
}

QuoitStore *
quoit_store_open (const char *path, gint64 wait_ms, GError **error)
{
  return quoit_store_is_url (path) ? quoit_pg_open (path, wait_ms, error)
                                   : quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_CHECKED, error);
}

gboolean
quoit_store_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                     GError **error)
{
  if (quoit_store_is_url (path))
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "only a ledger in a file can be restored in place: restore the backup to a file, which begins a new "
        "epoch, then copy that file to a new fleet (quoit restore, quoit copy)");
  return quoit_sqlite_restore (path, backup, wait_ms, actor, now_ms, error);
}
