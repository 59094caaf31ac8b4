/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/feed.h>

#include "api/handles.h"
#include "store/watch.h"

struct _QuoitFeed {
  QuoitLedger *ledger;
  QuoitWatch *watch;
  guint64 seq; /* of the last entry that was returned */
};

QuoitFeed *
quoit_feed_new (QuoitLedger *ledger, uint64_t seq, GError **error)
{
  QuoitWatch *watch;
  QuoitFeed *feed;

  g_return_val_if_fail (ledger != NULL, NULL);

  watch = quoit_watch_new (ledger->store, error);
  if (watch == NULL)
    return NULL;
  feed = g_new (QuoitFeed, 1);
  *feed = (QuoitFeed) { quoit_ledger_ref (ledger), watch, seq };
  return feed;
}

void
quoit_feed_free (QuoitFeed *feed)
{
  if (feed == NULL)
    return;
  quoit_watch_free (feed->watch);
  quoit_ledger_unref (feed->ledger);
  g_free (feed);
}

int
quoit_feed_get_fd (const QuoitFeed *feed)
{
  g_return_val_if_fail (feed != NULL, -1);

  return quoit_store_is_own (feed->ledger->store) ? quoit_watch_fd (feed->watch) : -1;
}

uint64_t
quoit_feed_get_seq (const QuoitFeed *feed)
{
  g_return_val_if_fail (feed != NULL, 0);

  return feed->seq;
}

QuoitJournal *
quoit_feed_read (QuoitFeed *feed, GError **error)
{
  QuoitJournal *journal = NULL;
  QuoitStore *store;
  uint32_t n;

  g_return_val_if_fail (feed != NULL, NULL);

  store = feed->ledger->store;
  if (!quoit_store_refuse_child (store, error))
    return NULL;
  /* First, so that an entry that is committed during the rest makes the descriptor readable again. */
  quoit_watch_clear (feed->watch);
  if (quoit_store_refresh (store, error))
    journal = quoit_ledger_read_journal (feed->ledger, feed->seq, error);
  if (journal == NULL)
    {
      quoit_watch_wake (feed->watch);
      return NULL;
    }
  n = quoit_journal_get_n_entries (journal);
  if (n > 0)
    feed->seq = quoit_journal_get_seq (journal, n - 1);
  return journal;
}
