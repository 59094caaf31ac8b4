/* SPDX-License-Identifier: Apache-2.0 */
/* The -head file of a database. It records the head, which is the last acknowledged entry, outside the database and its
 * WAL.
 *
 * A database cannot detect that it is old: if a backup is copied over it, or if its WAL is deleted, the file is still
 * valid but lacks changes. quoit compares the database with its head file, and refuses to open such a database. The
 * head file is written after each commit and never synced. After a power loss it may therefore be older than the
 * database, but never newer. If the head file is lost, only this check is lost.
 *
 * The file also records which program wrote to the database file last, and which -wal and -shm files were retired. */
#pragma once

#include <sys/stat.h>

#include "store/chain.h"

/* The last acknowledged entry of a ledger. */
typedef struct {
  guint8 identity[QUOIT_IDENTITY_BYTES]; /* of the ledger */
  guint32 epoch;
  guint64 seq;
  guint64 chain;         /* the first 8 bytes of the link at @seq */
  guint64 next_group_id; /* after entry @seq */
  gint64 uptime_ms;      /* of the machine, when the entry was written */
  gboolean unsynced;     /* the commit did not wait for the disk */
} QuoitHead;

/* Gives the head file the mode of the database, which may have changed. Fails with STORE if this user can use the
 * database but not the head file: the checks would silently not take place. */
gboolean quoit_head_check_access (const char *path, GError **error);

/* Returns the first 8 bytes of a link, as stored in a head. */
guint64 quoit_head_chain_prefix (const guint8 *chain);

/* Opens the head file of a database, and creates it if it does not exist. Returns -1 on failure. */
int quoit_head_open (const char *path);
/* Records @head as acknowledged in the open head file. Ignores failures. */
void quoit_head_write (int fd, const QuoitHead *head);

/* Reads the newest head of the ledger with this identity. Returns FALSE if no head is found. Ignores the heads of
 * unsynced commits from before a reboot, because a power loss may have undone these commits. *@same_boot gets whether
 * uptime_ms counts from the current boot. */
gboolean quoit_head_read (const char *path, const guint8 *identity, QuoitHead *head, gboolean *same_boot);

/* Returns the uptime of the machine. Clock changes do not affect it. */
gint64 quoit_head_uptime_ms (void);

/* An entry of the journal, to compare histories. */
typedef struct {
  guint32 epoch;
  guint64 seq;   /* 0: unknown */
  guint64 chain; /* quoit_head_chain_prefix() of its link */
} QuoitFileEntry;

static inline gboolean
quoit_file_entry_is_before (const QuoitFileEntry *a, const QuoitFileEntry *b)
{
  return a->epoch < b->epoch || (a->epoch == b->epoch && a->seq < b->seq);
}

/* The program that wrote to the database file last. */
typedef enum {
  QUOIT_WRITER_QUOIT,       /* quoit; also if nothing is recorded */
  QUOIT_WRITER_INTERRUPTED, /* quoit, which did not finish */
  QUOIT_WRITER_UNKNOWN,     /* the machine was restarted since, or only the file's attributes have changed */
  QUOIT_WRITER_OTHER_PROGRAM
} QuoitLastWriter;

/* Call this before quoit writes to the database file. Do not write if it fails: other processes would take the write
 * for that of another program. Only the process that holds the checkpoint lock may call this function and the next one.
 */
gboolean quoit_head_record_write_begun (const char *path);
/* Records that the database file is sound with the status @file, and has @entry without its WAL. Ignores failures: the
 * file is then verified at its next use. */
void quoit_head_record_file (const char *path, const struct stat *file, const QuoitFileEntry *entry);
/* @entry gets the entry that was recorded with the last write. */
QuoitLastWriter quoit_head_last_writer (const char *path, QuoitFileEntry *entry);

/* Records that a pair of -wal and -shm files is retired: the database file contains everything that its WAL has. @pair
 * identifies the pair. */
void quoit_head_retire (const char *path, guint64 pair);
gboolean quoit_head_is_retired (const char *path, guint64 pair);
/* Records that a pair is not retired. A file system without birth times may reuse the inode numbers of deleted files,
 * so that a new pair is identified like a retired one. */
void quoit_head_unretire (const char *path, guint64 pair);
