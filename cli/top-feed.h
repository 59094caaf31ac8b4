/* SPDX-License-Identifier: Apache-2.0 */
/* Where quoit top gets states from: a ledger and its feed, a file, or a source that is read again and again. */
#pragma once

#include "source-input.h"

typedef struct _TopFeed TopFeed;

/* Follows the ledger of the session. Fails if it cannot be opened. */
TopFeed *top_feed_new_ledger (Session *session, GError **error);

/* The state in a file with bytes of quoit_snapshot_dup_bytes(), which does not change. */
TopFeed *top_feed_new_file (const char *path, GError **error);

/* Reads the source into a ledger in memory, in a thread; a live source again every @every_ms. @options must outlive the
 * feed. */
TopFeed *top_feed_new_source (const SourceOptions *options, gint64 every_ms);

void top_feed_free (TopFeed *feed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopFeed, top_feed_free)

/* Returns a descriptor that is readable when there is something new; -1: none. */
int top_feed_get_fd (const TopFeed *feed);

/* Takes what is new. Returns whether there is something. */
bool top_feed_read (TopFeed *feed);

/* Returns the last state at @now_ms, without the leases that have ended. NULL: there is none yet.
 * quoit_snapshot_unref() it. */
QuoitSnapshot *top_feed_snapshot (const TopFeed *feed, gint64 now_ms);

/* Returns why the ledger or source cannot be read at present; NULL: it can. */
const char *top_feed_get_remark (const TopFeed *feed);
