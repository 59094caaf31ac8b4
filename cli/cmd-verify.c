/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = {
  { "verified", "verified", CELL_FLAG },
  { "seq", NULL, CELL_NUMBER },
  { "checkpoint", "checkpoint at entry", CELL_NUMBER },
  { NULL, "journal entries", CELL_NUMBER },
  { "n_sources", "sources", CELL_NUMBER },
  { "n_slices", "slices", CELL_NUMBER },
  { "n_nodes", "nodes", CELL_NUMBER },
  { "n_groups", "groups", CELL_NUMBER },
};

/* In the order of QuoitAmountPart. */
static const Column chip_columns[] = {
  { "total", "total", CELL_AMOUNT }, { "available", "available", CELL_AMOUNT }, { "draining", "draining", CELL_AMOUNT },
  { "held", "held", CELL_AMOUNT },   { "reserved", "reserved", CELL_AMOUNT },   { "external", "external", CELL_AMOUNT },
  { "down", "down", CELL_AMOUNT },   { "lost", "lost", CELL_AMOUNT },
};

/* The TPU chips of all nodes, and how many of them are in each state. */
static Table *
chips (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (chip_columns, G_N_ELEMENTS (chip_columns));

  for (guint part = QUOIT_AMOUNT_TOTAL; part <= QUOIT_AMOUNT_LOST; part++)
    {
      QuoitAmount sum = { 0 };

      for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
        sum.e4 += quoit_snapshot_get_node_chip_amount (snapshot, node, (QuoitAmountPart) part).e4;
      table_take_text (table, quoit_amount_format (sum));
    }
  return table;
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  uint64_t seq, checkpoint;
  Table *facts;

  if (!session_begin (session, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !quoit_ledger_verify (ledger, error)
      || !quoit_ledger_read_checkpoint (ledger, &checkpoint, NULL, error))
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  if (!quoit_snapshot_check (snapshot, error))
    return false;

  seq = quoit_snapshot_get_seq (snapshot);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_flag (facts, true);
  table_add_number (facts, (gint64) seq);
  if (checkpoint == 0)
    table_skip (facts);
  else
    table_add_number (facts, (gint64) checkpoint);
  table_add_number (facts, (gint64) (seq - MIN (seq, checkpoint)));
  table_add_number (facts, quoit_snapshot_get_n_sources (snapshot));
  table_add_number (facts, quoit_snapshot_get_n_slices (snapshot));
  table_add_number (facts, quoit_snapshot_get_n_nodes (snapshot));
  table_add_number (facts, quoit_snapshot_get_n_groups (snapshot));
  document = document_new ();
  document_take_sentence (document, g_strdup ("the replayed journal equals the saved state"));
  document_take_facts (document, facts);
  document_take_object (document, "chips", "TPU chips", chips (snapshot));
  return session_print (session, document, error);
}

const Verb verb_verify = { "verify", "", "replay the journal and compare it with the state", NULL, 0, 0, run };
