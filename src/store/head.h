/* SPDX-License-Identifier: Apache-2.0 */
/* The -head file beside a database: what was acknowledged last, kept apart from the database and its log.
 *
 * The database cannot tell that it is old: a backup that was copied over it, or a log that was deleted, leaves a file
 * that is sound and lacks changes. The head file remembers the last entry, so that opening such a file is refused. It
 * is written behind each commit and never synced: after a power loss it may be older than the database, never newer.
 * Losing it loses only this check. */
#pragma once

#include <glib.h>

enum { QUOIT_IDENTITY_BYTES = 16, QUOIT_CHAIN_BYTES = 32 };

typedef struct {
  guint8 identity[QUOIT_IDENTITY_BYTES]; /* of the ledger */
  guint32 epoch;
  guint64 seq;
  guint64 chain;         /* the first bytes of the hash chain at @seq */
  guint64 next_group_id; /* after it */
  gint64 up_ms;          /* how long the machine had been up */
  gboolean unsynced;     /* the commit did not wait for the disk */
} QuoitHead;

/* The first bytes of a chain, as a head has them. */
guint64 quoit_head_chain (const guint8 *chain);

/* Notes that @head was acknowledged. Failures are ignored. */
void quoit_head_write (const char *path, const QuoitHead *head);

/* The newest head of that ledger; FALSE: there is none. A head whose commit did not wait for the disk counts only in
 * the boot of the machine that wrote it. *@same_boot: whether up_ms is of this boot. */
gboolean quoit_head_read (const char *path, const guint8 *identity, QuoitHead *head, gboolean *same_boot);

/* How long the machine has been up. It never jumps with the clock. */
gint64 quoit_head_up_ms (void);

/* What is known of who has written to the database file last. */
typedef enum {
  QUOIT_FILE_OURS,    /* quoit; or nothing was noted */
  QUOIT_FILE_UNKNOWN, /* quoit began to and did not end, or the machine was started again since */
  QUOIT_FILE_FOREIGN  /* another program */
} QuoitFileWriter;

/* Before quoit writes to the database file, and right after it has; @fd is of that file. */
void quoit_head_note_writing (const char *path);
void quoit_head_note_written (const char *path, int fd);
QuoitFileWriter quoit_head_last_writer (const char *path);

/* Notes that all of a pair of log and index is in the database file. */
void quoit_head_retire (const char *path, guint64 pair);
gboolean quoit_head_is_retired (const char *path, guint64 pair);
/* Files without a time of birth may get the numbers of deleted ones: a pair that is in use is not retired. */
void quoit_head_use (const char *path, guint64 pair);
