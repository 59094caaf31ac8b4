/* SPDX-License-Identifier: Apache-2.0 */
/* The WAL file. SQLite writes a transaction to it in two calls for each page: one for the header of the frame and one
 * for the page. This file collects the frames, and writes them in one call when it gets the last frame. Until then, no
 * other connection reads them. */
#include <config.h>

#include "store/sqlite/vfs-private.h"

#include <string.h>

/* Offsets in the header of a frame, from SQLite's file format. */
enum { FRAME_HEADER_BYTES = 24, FRAME_COMMIT_SIZE = 4 };

enum { BUFFER_BYTES = 65536 };

/* SQLite allocates one block for it: this struct, and behind it the file of the wrapped VFS. */
typedef struct {
  sqlite3_file base;
  QuoitVfsFile *database;
  guint8 *buffer; /* NULL before the first frame */
  int n_buffered;
  gint64 offset;             /* of the buffered bytes in the file */
  gint64 end;                /* of what this transaction has written */
  int failure;               /* of a write of this transaction, whose frames SQLite takes for written */
  gboolean is_in_last_frame; /* of the transaction */
} QuoitVfsLog;

/* SQLite allocates enough for a database file. */
G_STATIC_ASSERT (sizeof (QuoitVfsLog) <= sizeof (QuoitVfsFile));

static QuoitVfsLog *
log_of (sqlite3_file *base)
{
  return (QuoitVfsLog *) (void *) base;
}

static sqlite3_file *
wrapped (sqlite3_file *base)
{
  return (sqlite3_file *) (void *) (log_of (base) + 1);
}

#define WRAPPED(base, method, ...) wrapped (base)->pMethods->method (wrapped (base), ##__VA_ARGS__)

static int
flush (sqlite3_file *base)
{
  QuoitVfsLog *log = log_of (base);
  int n = log->n_buffered;

  log->n_buffered = 0;
  /* The frames of an inherited connection are those of the parent. */
  if (n > 0 && log->failure == SQLITE_OK && quoit_vfs_file_is_own (log->database))
    log->failure = WRAPPED (base, xWrite, log->buffer, n, log->offset);
  return log->failure;
}

void
quoit_vfs_log_end_transaction (sqlite3_file *base)
{
  QuoitVfsLog *log = log_of (base);

  flush (base);
  log->end = 0;
  log->failure = SQLITE_OK;
}

/* The header of the last frame of a transaction has the size of the database, and the others have 0. */
static gboolean
ends_transaction (const guint8 *header)
{
  static const guint8 none[4];

  return memcmp (header + FRAME_COMMIT_SIZE, none, sizeof none) != 0;
}

static void
append (QuoitVfsLog *log, const void *from, int n, gint64 at)
{
  if (log->buffer == NULL)
    log->buffer = g_malloc (BUFFER_BYTES);
  if (log->n_buffered == 0)
    log->offset = at;
  memcpy (log->buffer + log->n_buffered, from, (gsize) n);
  log->n_buffered += n;
}

/* Collects frames. Writes directly what is not a new frame. SQLite can also change a frame of this transaction: to give
 * it another page or another checksum, it writes a page without its header, or a header without its page. */
static int
log_write (sqlite3_file *base, const void *from, int n, sqlite3_int64 at)
{
  QuoitVfsLog *log = log_of (base);
  const gboolean is_new = at >= log->end;
  int result = log->failure;

  log->end = MAX (log->end, at + n);
  if (log->n_buffered > 0 && (at != log->offset + log->n_buffered || log->n_buffered + n > BUFFER_BYTES))
    result = flush (base);
  if (result != SQLITE_OK)
    return result;
  if (n == FRAME_HEADER_BYTES && is_new)
    {
      log->is_in_last_frame = ends_transaction (from);
      append (log, from, n, at);
      return SQLITE_OK;
    }
  if (log->n_buffered == 0)
    return WRAPPED (base, xWrite, from, n, at);
  append (log, from, n, at);
  return log->is_in_last_frame ? flush (base) : SQLITE_OK;
}

static int
log_close (sqlite3_file *base)
{
  QuoitVfsLog *log = log_of (base);

  log->database->log = NULL;
  g_free (log->buffer);
  return WRAPPED (base, xClose);
}

static int
log_read (sqlite3_file *base, void *to, int n, sqlite3_int64 at)
{
  int result = flush (base);

  return result != SQLITE_OK ? result : WRAPPED (base, xRead, to, n, at);
}

static int
log_truncate (sqlite3_file *base, sqlite3_int64 size)
{
  int result = flush (base);

  return result != SQLITE_OK ? result : WRAPPED (base, xTruncate, size);
}

static int
log_sync (sqlite3_file *base, int flags)
{
  int result = flush (base);

  return result != SQLITE_OK ? result : WRAPPED (base, xSync, flags);
}

static int
log_size (sqlite3_file *base, sqlite3_int64 *size)
{
  int result = flush (base);

  return result != SQLITE_OK ? result : WRAPPED (base, xFileSize, size);
}

static int
log_lock (sqlite3_file *base, int level)
{
  return WRAPPED (base, xLock, level);
}

static int
log_unlock (sqlite3_file *base, int level)
{
  return WRAPPED (base, xUnlock, level);
}

static int
log_check_reserved (sqlite3_file *base, int *is_reserved)
{
  return WRAPPED (base, xCheckReservedLock, is_reserved);
}

static int
log_control (sqlite3_file *base, int what, void *with)
{
  return WRAPPED (base, xFileControl, what, with);
}

static int
log_sector_size (sqlite3_file *base)
{
  return WRAPPED (base, xSectorSize);
}

static int
log_characteristics (sqlite3_file *base)
{
  return WRAPPED (base, xDeviceCharacteristics);
}

static const sqlite3_io_methods methods = {
  .iVersion = 1,
  .xClose = log_close,
  .xRead = log_read,
  .xWrite = log_write,
  .xTruncate = log_truncate,
  .xSync = log_sync,
  .xFileSize = log_size,
  .xLock = log_lock,
  .xUnlock = log_unlock,
  .xCheckReservedLock = log_check_reserved,
  .xFileControl = log_control,
  .xSectorSize = log_sector_size,
  .xDeviceCharacteristics = log_characteristics,
};

int
quoit_vfs_log_open (sqlite3_vfs *wrapped_vfs, const char *name, sqlite3_file *base, int flags, int *out_flags,
                    QuoitVfsFile *database)
{
  int result;

  memset (base, 0, sizeof (QuoitVfsLog));
  result = wrapped_vfs->xOpen (wrapped_vfs, name, wrapped (base), flags, out_flags);
  if (result != SQLITE_OK)
    {
      if (wrapped (base)->pMethods != NULL)
        WRAPPED (base, xClose);
      return result;
    }
  base->pMethods = &methods;
  log_of (base)->database = database;
  database->log = base;
  return SQLITE_OK;
}
