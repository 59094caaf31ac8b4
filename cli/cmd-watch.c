/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <unistd.h>

#include "journal-view.h"
#include "text.h"
#include "verbs.h"

/* "17 2026-05-01T09:30:00.000Z ann reserve: train@1 holds ..." */
static void
append_line (GString *lines, const QuoitJournal *journal, uint32_t entry)
{
  const char *actor = quoit_journal_get_actor (journal, entry);
  g_autofree char *time = text_format_time (quoit_journal_get_time_ms (journal, entry));
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *shown = NULL;

  g_string_append_printf (text, "%" G_GUINT64_FORMAT " %s %s %s", quoit_journal_get_seq (journal, entry), time,
                          *actor == '\0' ? "-" : actor, quoit_journal_get_verb (journal, entry));
  for (uint32_t i = 0; i < quoit_journal_get_n_effects (journal, entry); i++)
    {
      g_autofree char *effect = quoit_journal_dup_effect_text (journal, entry, i);

      g_string_append_printf (text, "%s%s", i == 0 ? ": " : "; ", effect);
    }
  shown = text_for_terminal (text->str);
  g_string_append_printf (lines, "%s\n", shown);
}

/* An object on a line of its own, with the members that `quoit journal -o json` gives the entry. */
static void
append_object (GString *lines, const QuoitJournal *journal, uint32_t entry)
{
  g_autoptr (Table) table = journal_table_new ();
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *text = NULL;

  journal_table_add (table, journal, entry);
  json_builder_begin_object (builder);
  table_build_members (table, builder);
  json_builder_end_object (builder);
  node = json_builder_get_root (builder);
  text = json_to_string (node, FALSE);
  g_string_append_printf (lines, "%s\n", text);
}

/* Prints the entries that the feed has, at most @most. Returns how many; -1 on failure. */
static gint64
print_news (Session *session, QuoitFeed *feed, gint64 most, GError **error)
{
  g_autoptr (QuoitJournal) journal = quoit_feed_read (feed, error);
  g_autoptr (GString) lines = g_string_new (NULL);
  gint64 n;

  if (journal == NULL)
    return -1;
  n = MIN (most, (gint64) quoit_journal_get_n_entries (journal));
  for (uint32_t i = 0; i < n; i++)
    (session_wants_json (session) ? append_object : append_line) (lines, journal, i);
  return n == 0 || session_write (session, lines->str, error) ? n : -1;
}

static QuoitFeed *
begin_feed (QuoitLedger *ledger, const char *since, GError **error)
{
  static const NumberRule rule = { "--since", "a sequence number from 0", 0, G_MAXINT64 };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  const gint64 last = (gint64) quoit_snapshot_get_seq (snapshot);
  gint64 seq = last;

  if (since != NULL && !text_parse_number (since, &rule, &seq, error))
    return NULL;
  if (seq <= last)
    return quoit_feed_new (ledger, (uint64_t) seq, error);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
               "entry '%" G_GINT64_FORMAT "': no such entry yet: the last one is %" G_GINT64_FORMAT, seq, last);
  return NULL;
}

/* Ends when the output has no reader any more. */
static bool
watch (Session *session, QuoitFeed *feed, gint64 most, GError **error)
{
  struct pollfd fds[] = { { .fd = quoit_feed_get_fd (feed), .events = POLLIN }, { .fd = STDOUT_FILENO } };

  while (most > 0)
    {
      gint64 n = 0;

      if (poll (fds, G_N_ELEMENTS (fds), -1) > 0 && (fds[1].revents & (POLLERR | POLLHUP)) != 0)
        return true;
      if (fds[0].revents != 0)
        n = print_news (session, feed, most, error);
      if (n < 0)
        return false;
      most -= n;
    }
  return true;
}

static bool
run (Session *session, GError **error)
{
  static const NumberRule rule = { "--entries", "a number from 1", 1, G_MAXINT64 };
  g_autofree char *since = NULL, *entries = NULL;
  const GOptionEntry options[] = {
    { "since", 0, 0, G_OPTION_ARG_FILENAME, &since, "begin after this entry (the newest one)", "SEQ" },
    { "entries", 0, 0, G_OPTION_ARG_FILENAME, &entries, "end after this number of entries (never)", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitFeed) feed = NULL;
  gint64 most = G_MAXINT64;

  if (!session_parse (session, options, error) || !session_check (session, error)
      || (entries != NULL && !text_parse_number (entries, &rule, &most, error)))
    return false;
  session->only_reads = true;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;
  feed = begin_feed (ledger, since, error);
  return feed != NULL && watch (session, feed, most, error);
}

const Verb verb_watch = {
  "watch",
  "",
  "print each change of the ledger when it is made",
  "One line for each entry of the journal, by any process, until you interrupt it. With -o json, each line is an\n"
  "object with the members that 'quoit journal -o json' gives the entry.",
  0,
  0,
  run,
};
