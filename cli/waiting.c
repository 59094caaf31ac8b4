/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include <poll.h>

#include "progress.h"
#include "text.h"

enum { TURN_MS = 1000 };

bool
waiting_check (const Session *session, const RequestOptions *options, GError **error)
{
  if (options->wait_for == NULL)
    return true;
  if (session->now != NULL)
    return text_refuse_usage (error, "--wait-for cannot be combined with --now: time does not advance then");
  return !options->dry_run || text_refuse_usage (error, "--wait-for cannot be combined with --dry-run");
}

static gint64
now_ms (void)
{
  return g_get_real_time () / 1000;
}

/* Waits until the feed has news, or for one turn. */
static bool
wait_for_news (QuoitFeed *feed, gint64 left_ms, GError **error)
{
  struct pollfd fd = { .fd = quoit_feed_get_fd (feed), .events = POLLIN };
  QuoitJournal *journal;

  if (poll (&fd, 1, (int) MIN (left_ms, TURN_MS)) <= 0)
    return true;
  journal = quoit_feed_read (feed, error);
  if (journal == NULL)
    return false;
  quoit_journal_free (journal);
  return true;
}

static QuoitFeed *
begin_feed (QuoitLedger *ledger, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_feed_new (ledger, quoit_snapshot_get_seq (snapshot), error);
}

QuoitGroup *
reserve_when_it_fits (const Session *session, Reservation *reservation, QuoitLedger *ledger, GPtrArray *others,
                      QuoitReport **report, GError **error)
{
  const ReservationTarget target = { .ledger = ledger };
  const char *wait_for = reservation->options.wait_for;
  const gint64 begin_us = g_get_monotonic_time ();
  g_autoptr (QuoitFeed) feed = NULL;
  gint64 wait_ms = 0;

  if (wait_for != NULL && !text_parse_duration (wait_for, "--wait-for", &wait_ms, error))
    return NULL;
  for (;;)
    {
      g_autoptr (GError) why = NULL;
      QuoitGroup *group = reservation_make (reservation, target, others, report, &why);
      const gint64 left_ms = wait_ms - (g_get_monotonic_time () - begin_us) / 1000;

      if (group != NULL)
        return group;
      if ((why->code != QUOIT_ERROR_NOT_NOW && why->code != QUOIT_ERROR_BUSY) || left_ms <= 0
          || (reservation->from_ms != 0 && reservation->from_ms <= now_ms () + TURN_MS))
        return g_propagate_error (error, g_steal_pointer (&why)), NULL;
      g_clear_pointer (report, quoit_report_unref);
      progress_end ();
      if (feed == NULL && (feed = begin_feed (ledger, error)) == NULL)
        return NULL;
      if (!wait_for_news (feed, left_ms, error) || !session_now (session, &reservation->now_ms, error))
        return NULL;
    }
}
