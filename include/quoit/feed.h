/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_FEED_H
#define QUOIT_FEED_H

#include <quoit/journal.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitFeed:
 *
 * The journal entries after one of them, as they are written, with a file descriptor to wait for them. It keeps its
 * ledger open. Use a feed in one thread at a time; other threads can use the ledger meanwhile. No thread runs in the
 * background.
 *
 * In a loop: wait until the descriptor is readable (poll, select, epoll), call quoit_feed_read(), and go on with the
 * entries. In a forked child, the feed cannot be used.
 *
 * Since: 0.1
 */
typedef struct _QuoitFeed QuoitFeed;

/**
 * quoit_feed_new:
 * @ledger: the ledger; the feed keeps a reference
 * @seq: a sequence number, such as that of a snapshot: the feed begins after this entry; 0: from the beginning
 *
 * Begins a feed. Its descriptor is readable at once, so that a loop first reads what is there already. On a server, the
 * feed has a second connection.
 *
 * Fails with %QUOIT_ERROR_STORE if the process or the user has too many open files or inotify instances
 * (fs.inotify.max_user_instances), or if the second connection to the server cannot be made, and %QUOIT_ERROR_FAILED in
 * a forked child.
 *
 * Returns: (transfer full): the feed; quoit_feed_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitFeed *quoit_feed_new (QuoitLedger *ledger, uint64_t seq, GError **error);

/**
 * quoit_feed_free:
 * @feed: (nullable): the feed
 *
 * Closes the descriptor, and gives up the feed's reference to its ledger.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_feed_free (QuoitFeed *feed);

/**
 * quoit_feed_get_fd:
 *
 * Returns the descriptor to wait for. It belongs to the feed: wait until it is readable, but do not read, write or
 * close it. It becomes readable after each commit of an entry, by this handle, by other handles and by other processes
 * on the same machine, including those in other containers that share the file. It can also become readable without a
 * new entry.
 *
 * In a file, it is an epoll descriptor over an inotify instance, because each commit writes to the -head file next to
 * the database. On a server, it is one over the second connection, to which the server announces the entries of all
 * machines, and a timer, which makes it readable once a second. In memory, it is an eventfd.
 *
 * Returns: the descriptor; -1 in a forked child
 *
 * Since: 0.1
 */
QUOIT_API int quoit_feed_get_fd (const QuoitFeed *feed);

/**
 * quoit_feed_get_seq:
 *
 * Returns: the sequence number of the last entry that quoit_feed_read() has returned, or the one that the feed began
 * with
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_feed_get_seq (const QuoitFeed *feed);

/**
 * quoit_feed_read:
 *
 * Makes the descriptor unreadable until there is another entry, reads what other processes have written, as
 * quoit_ledger_refresh() does, and returns the entries that the feed has not returned yet. It does not wait for
 * entries: there may be none.
 *
 * Fails with the codes in "Errors of reads" of #QuoitLedger. Then the feed has not moved, and the descriptor is
 * readable, so that a loop tries again. These need another answer:
 *
 * - %QUOIT_ERROR_NOT_FOUND: a checkpoint has replaced the next entries (the message names the first one that is kept).
 *   Take a snapshot, and make a new feed from its sequence number.
 * - %QUOIT_ERROR_CONFLICT: the ledger was restored, or another program wrote to its file: open it again. Also inside a
 *   batch of the same thread.
 *
 * Returns: (transfer full): the entries, in order; quoit_journal_free() them
 *
 * Since: 0.1
 */
QUOIT_API QuoitJournal *quoit_feed_read (QuoitFeed *feed, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFeed, quoit_feed_free)

G_END_DECLS

#endif
