/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the VFS share. Functions that return int return a result code of SQLite. */
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include <glib.h>

#include "store/sqlite/head.h"
#include "store/sqlite/inherited.h"

/* Identifies a file. The birth time, if the file system records it, distinguishes the file from a later one with the
 * same inode number. */
typedef struct {
  guint64 device, inode, birth;
} QuoitFileId;

/* An open database file. SQLite allocates one block for it: this struct, and behind it the file of the wrapped VFS. */
typedef struct {
  sqlite3_file base;
  char *path;
  struct stat status_at_open;       /* of the database file */
  guint32 n_forks;                  /* of the process that opened the file, the only one that may use the locks */
  int fd;                           /* the descriptor that holds the locks; -1: not open */
  int level;                        /* the current lock, SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE */
  gboolean is_writing;              /* the head file states that a write to the database file has begun */
  const QuoitFileEntry *last_entry; /* the last entry that the handle knows; NULL: unknown */

  sqlite3_file *log; /* the open WAL; NULL: not open */
  gboolean has_wal;  /* wal is known */
  QuoitFileId wal;
  QuoitFileId shm; /* known while shm_fd is open */
  guint64 pair;    /* identifies the pair of wal and shm; 0: no pair in use */

  /* the names */
  int folder_fd;       /* of the folder of the files; -1: unknown */
  gint64 seen_time_ns; /* change time of the folder, since seen_at_us or longer */
  gint64 seen_at_us;   /* monotonic time */
  gint64
      names_time_ns; /* change time of the folder, if the names need no comparison as long as it has it; 0: unknown */
  int head_fd;       /* the head file of that time; -1: not open */

  /* the index */
  int shm_fd;                /* -1: not open */
  GPtrArray *maps;           /* memory mappings */
  gboolean is_read_blocked;  /* the last attempt to use the index failed for a reason that passes */
  gboolean is_index_checked; /* the index belongs to the WAL */
  gboolean has_write_lock;   /* SQLite holds it, for a write transaction */
  gboolean is_checkpointing;
} QuoitVfsFile;

static inline QuoitVfsFile *
quoit_vfs_file (sqlite3_file *base)
{
  return (QuoitVfsFile *) (void *) base;
}

static inline gboolean
quoit_vfs_file_is_own (const QuoitVfsFile *file)
{
  return file->n_forks == quoit_process_count_forks ();
}

/* --- vfs-locks.c: locks of bytes, and SQLite's lock levels of the database file --- */

/* Locks or unlocks a range of bytes for the open file @fd. @type is F_RDLCK, F_WRLCK or F_UNLCK. Returns SQLITE_BUSY
 * without a wait if the lock of another open file conflicts. */
int quoit_byte_lock_set (int fd, short type, gint64 start, gint64 length);
/* Returns the first byte in the range that a lock of another open file covers, or -1. If several locks overlap the
 * range, the result may be from any of them. */
gint64 quoit_byte_lock_find (int fd, gint64 start, gint64 length);

/* The methods xLock, xUnlock and xCheckReservedLock. */
int quoit_vfs_file_lock (sqlite3_file *base, int level);
int quoit_vfs_file_unlock (sqlite3_file *base, int level);
int quoit_vfs_file_check_reserved (sqlite3_file *base, int *is_reserved);
/* Returns whether another open file has a lock level of the database file @fd. */
gboolean quoit_vfs_file_is_locked (int fd);

/* --- vfs-pair.c: the pair of -wal and -shm files that a connection uses --- */

/* Gets the identity of the file @name in the folder @dir, or of the open file @dir if @name is "". Returns FALSE if
 * there is no such file. */
gboolean quoit_file_id_find (int dir, const char *name, QuoitFileId *id);
/* Returns whether both are the same file. */
gboolean quoit_file_id_is_equal (const QuoitFileId *a, const QuoitFileId *b);
/* Returns whether the name, which is @path with @suffix, refers to the file. */
gboolean quoit_file_id_has_name (const QuoitFileId *id, const char *path, const char *suffix);

/* Registers the wal and shm of @file as its pair, with a lock that other processes can see. */
int quoit_vfs_pair_register (QuoitVfsFile *file);
/* Ends the use of the pair. Does nothing if @file uses none. */
void quoit_vfs_pair_unregister (QuoitVfsFile *file);
/* Returns whether the names -wal and -shm still refer to the pair. */
gboolean quoit_vfs_pair_has_names (const QuoitVfsFile *file);
/* Returns whether another connection uses a different pair that is not retired. */
gboolean quoit_vfs_pair_has_rival (const QuoitVfsFile *file);
/* Deletes the names that refer to the pair, and records that it is retired. */
void quoit_vfs_pair_retire (const QuoitVfsFile *file);
/* Returns whether another connection uses a different pair, even a retired one. */
gboolean quoit_vfs_pair_has_other (const QuoitVfsFile *file);
/* Returns whether another open file of the database @fd uses any pair. */
gboolean quoit_vfs_pair_is_used (int fd);

/* --- vfs-log.c: the WAL file --- */

/* Opens the WAL of @database. Sets its log, until the WAL is closed. */
int quoit_vfs_log_open (sqlite3_vfs *wrapped_vfs, const char *name, sqlite3_file *base, int flags, int *out_flags,
                        QuoitVfsFile *database);
/* Call it when a transaction ends, before another connection may write to the WAL. */
void quoit_vfs_log_end_transaction (sqlite3_file *base);

/* --- vfs-names.c: whether the names still refer to the open files --- */

void quoit_vfs_names_init (QuoitVfsFile *file);
void quoit_vfs_names_close (QuoitVfsFile *file);
/* Makes the next check compare the names. Call it when @file gets another pair. */
void quoit_vfs_names_forget (QuoitVfsFile *file);
/* Returns whether the names -wal and -shm still refer to the pair that @file uses. */
gboolean quoit_vfs_names_are_same (QuoitVfsFile *file);
/* Records @head as acknowledged, in the file that has the name -head. Call it after quoit_vfs_names_are_same(). Ignores
 * failures. */
void quoit_vfs_names_write_head (QuoitVfsFile *file, const QuoitHead *head);

/* --- vfs-index.c: the index of the WAL, which is the -shm file --- */

/* The methods xShmMap, xShmLock, xShmBarrier and xShmUnmap. */
int quoit_vfs_index_map (sqlite3_file *base, int region, int size, int extend, void volatile **memory);
int quoit_vfs_index_lock (sqlite3_file *base, int offset, int n, int flags);
void quoit_vfs_index_barrier (sqlite3_file *base);
int quoit_vfs_index_unmap (sqlite3_file *base, int must_delete);

/* Returns whether another connection of quoit is copying the WAL into the database file, or rebuilding the index. */
gboolean quoit_vfs_index_is_in_checkpoint (const QuoitVfsFile *file);
/* Keeps other connections of quoit from beginning a checkpoint. Returns FALSE if one of them is in a checkpoint. Does
 * nothing if @file has no index open. */
gboolean quoit_vfs_index_block_checkpoints (const QuoitVfsFile *file);
/* Allows the checkpoints again, unless @file is in one of its own. */
void quoit_vfs_index_allow_checkpoints (const QuoitVfsFile *file);

/* --- vfs-writes.c: records of writes to the database file --- */

/* Records in the head file that quoit begins to write to the database file. Fails if the record cannot be written. */
int quoit_vfs_record_write_begun (QuoitVfsFile *file);
/* Records in the head file that quoit has finished writing to the database file. Does nothing if no write has begun.
 * @is_complete: the database file has everything that the WAL has. Otherwise it has some of the pages, and may not be
 * readable without the WAL. */
void quoit_vfs_record_write_done (QuoitVfsFile *file, gboolean is_complete);
