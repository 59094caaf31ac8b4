/* SPDX-License-Identifier: Apache-2.0 */
/* The -head file of a database: the last acknowledged entry, stored outside the database and its WAL.
 *
 * A database cannot detect that it is old: if a backup is copied over it, or its WAL is deleted, the file is still
 * valid but lacks changes. The head file records the last entry, so that opening such a file is refused. It is
 * written after each commit and never synced: after a power loss it may be older than the database, but never newer.
 * If it is lost, only this check is lost. */
#pragma once

#include <glib.h>

enum { QUOIT_IDENTITY_BYTES = 16, QUOIT_CHAIN_BYTES = 32 };

typedef struct {
  guint8 identity[QUOIT_IDENTITY_BYTES]; /* of the ledger */
  guint32 epoch;
  guint64 seq;
  guint64 chain;         /* first bytes of the hash chain at @seq */
  guint64 next_group_id; /* after entry @seq */
  gint64 up_ms;          /* uptime of the machine */
  gboolean unsynced;     /* the commit did not wait for the disk */
} QuoitHead;

/* Returns the first bytes of a chain link, as stored in a head. */
guint64 quoit_head_chain (const guint8 *chain);

/* Records @head as acknowledged. Ignores failures. */
void quoit_head_write (const char *path, const QuoitHead *head);

/* Reads the newest head of the ledger with this identity. Returns FALSE if no head is found. The head of a commit
 * that did not wait for the disk is valid only in the boot that wrote it. *@same_boot reports whether up_ms is from
 * the current boot. */
gboolean quoit_head_read (const char *path, const guint8 *identity, QuoitHead *head, gboolean *same_boot);

/* Returns the uptime of the machine. Clock changes do not affect it. */
gint64 quoit_head_up_ms (void);

/* The last writer of the database file, as far as it is known. */
typedef enum {
  QUOIT_FILE_OURS,    /* quoit, or nothing was recorded */
  QUOIT_FILE_UNKNOWN, /* quoit started to write and did not finish, or the machine was restarted since */
  QUOIT_FILE_FOREIGN  /* another program */
} QuoitFileWriter;

/* Call before and immediately after quoit writes to the database file. @fd is a descriptor of that file. */
void quoit_head_note_writing (const char *path);
void quoit_head_note_written (const char *path, int fd);
QuoitFileWriter quoit_head_last_writer (const char *path);

/* Records that the database file contains everything of a pair of -wal and -shm files. */
void quoit_head_retire (const char *path, guint64 pair);
gboolean quoit_head_is_retired (const char *path, guint64 pair);
/* Records that a pair is in use again. File systems without birth times may reuse the inode numbers of deleted
 * files. */
void quoit_head_use (const char *path, guint64 pair);
