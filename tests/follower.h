/* SPDX-License-Identifier: Apache-2.0 */
/* A second ledger that gets the entries of a first one as bytes, and must then have the same state, byte for byte. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

/* A macro, because the call sets the error that is read after it. */
#define follower_require(call, what, error)                                                                            \
  do                                                                                                                   \
    if (!(call))                                                                                                       \
      g_error ("follower: %s: %s", what,                                                                               \
               (const GError *) (error) == NULL ? "unexpected" : ((const GError *) (error))->message);                 \
  while (0)

/* Opens a ledger that begins with the bytes of @snapshot. */
static inline QuoitLedger *
follower_open (const QuoitSnapshot *snapshot)
{
  size_t n_bytes, n_again;
  g_autofree uint8_t *bytes = quoit_snapshot_dup_bytes (snapshot, &n_bytes), *again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSnapshot) copy = quoit_snapshot_from_bytes (bytes, n_bytes, &error);
  QuoitLedger *ledger;

  follower_require (copy != NULL, "the bytes of a snapshot", error);
  again = quoit_snapshot_dup_bytes (copy, &n_again);
  follower_require (n_again == n_bytes && memcmp (again, bytes, n_bytes) == 0, "a copy has other bytes", NULL);
  ledger = quoit_ledger_open_snapshot (copy, &error);
  follower_require (ledger != NULL, "a ledger of a snapshot", error);
  return ledger;
}

/* Applies the entries, each of which is refused the second time. */
static inline void
follower_apply (QuoitLedger *follower, const QuoitJournal *journal)
{
  for (uint32_t i = 0; i < quoit_journal_get_n_entries (journal); i++)
    {
      g_autoptr (GError) error = NULL;
      size_t n_bytes;
      g_autofree uint8_t *bytes = quoit_journal_dup_entry (journal, i, &n_bytes, &error);

      follower_require (bytes != NULL, "the bytes of an entry", error);
      follower_require (quoit_ledger_apply_entry (follower, bytes, n_bytes, &error), "an entry", error);
      follower_require (!quoit_ledger_apply_entry (follower, bytes, n_bytes, &error)
                            && g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT),
                        "an entry the second time", error);
    }
}

/* The two snapshots have the same bytes and the same link, unless they have none. */
static inline void
follower_compare (const QuoitSnapshot *one, const QuoitSnapshot *other)
{
  g_autofree char *link = quoit_snapshot_dup_link (one), *other_link = quoit_snapshot_dup_link (other);
  size_t n_bytes, n_other;
  g_autofree uint8_t *bytes = quoit_snapshot_dup_bytes (one, &n_bytes), *others = NULL;

  others = quoit_snapshot_dup_bytes (other, &n_other);
  follower_require (strlen (link) == 64, "no link", NULL);
  follower_require (strcmp (link, other_link) == 0, "another link", NULL);
  follower_require (n_bytes == n_other && memcmp (bytes, others, n_bytes) == 0, "other bytes", NULL);
}

/* Returns an empty ledger in memory. Every second one, by @number, can have followers. */
static inline QuoitLedger *
follower_new_ledger (guint number)
{
  return number % 2 == 0 ? quoit_ledger_open_memory () : quoit_ledger_open_snapshot (NULL, NULL);
}

/* Applies the whole journal of @ledger to a follower that begins with its checkpoint, if it can have followers. */
static inline void
follower_replay (QuoitLedger *ledger)
{
  g_autofree char *identity = quoit_ledger_dup_identity (ledger);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSnapshot) start = NULL, here = NULL, there = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  QuoitLedger *follower;
  uint64_t seq;

  if (*identity == '\0')
    return;
  follower_require (quoit_ledger_read_checkpoint (ledger, &seq, NULL, &error), "the checkpoint", error);
  start = quoit_ledger_snapshot_at (ledger, seq, &error);
  follower_require (start != NULL, "the first snapshot", error);
  journal = quoit_ledger_read_journal (ledger, seq, &error);
  follower_require (journal != NULL, "the journal", error);
  follower = follower_open (start);
  follower_apply (follower, journal);
  here = quoit_ledger_snapshot (ledger);
  there = quoit_ledger_snapshot (follower);
  follower_compare (here, there);
  follower_require (quoit_ledger_verify (follower, &error), "verify", error);
  quoit_ledger_unref (follower);
}
