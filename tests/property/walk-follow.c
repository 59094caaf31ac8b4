/* SPDX-License-Identifier: Apache-2.0 */
/* A second ledger gets each entry of the first one as bytes. After each step both have the same state. */
#include "../follower.h"
#include "walk.h"

static QuoitLedger *
open_copy (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return follower_open (snapshot);
}

static void
apply (Walk *walk, const QuoitJournal *journal)
{
  follower_apply (walk->follower, journal);
  walk->n_followed += quoit_journal_get_n_entries (journal);
}

void
follow (Walk *walk, QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) before = NULL, here = quoit_ledger_snapshot (ledger), there = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  g_autoptr (GError) error = NULL;
  gboolean in_batch = random_below (walk, 2) == 0;

  if (walk->follower == NULL)
    walk->follower = open_copy (ledger);
  before = quoit_ledger_snapshot (walk->follower);
  journal = quoit_ledger_read_journal (ledger, quoit_snapshot_get_seq (before), &error);
  walk_require (walk, journal != NULL, "%s", error_text (error));
  if (in_batch)
    walk_require (walk, quoit_ledger_begin_batch (walk->follower, &error), "%s", error_text (error));
  apply (walk, journal);
  if (in_batch)
    walk_require (walk, quoit_ledger_commit_batch (walk->follower, &error), "%s", error_text (error));
  there = quoit_ledger_snapshot (walk->follower);
  follower_compare (here, there);
  if (walk->step % 100 == 0)
    walk_require (walk, quoit_ledger_verify (walk->follower, &error), "%s", error_text (error));
  /* A restart. */
  if (random_below (walk, 50) == 0)
    {
      QuoitLedger *again = open_copy (walk->follower);

      quoit_ledger_unref (walk->follower);
      walk->follower = again;
    }
}

void
store_batch (Walk *walk, QuoitLedger *ledger)
{
  g_autoptr (QuoitJournal) batch = NULL;
  g_autoptr (GError) error = NULL;

  if (walk->way != STORED_BY_CALLER)
    return;
  batch = quoit_ledger_read_batch (ledger, &error);
  walk_require (walk, batch != NULL, "%s", error_text (error));
  if (walk->follower == NULL)
    walk->follower = open_copy (ledger);
  apply (walk, batch);
}
