/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "group-names.h"
#include "group-view.h"
#include "verbs.h"

static const Column columns[] = {
  { "released", "released", CELL_TEXT },
  { "name", NULL, CELL_TEXT },
  { "id", NULL, CELL_NUMBER },
  { "n_slices", "slices", CELL_NUMBER },
  { "n_workers", "workers", CELL_NUMBER },
  { "release_reason", "reason", CELL_TEXT },
};

static Table *
release_facts (const QuoitGroup *group, const char *reason)
{
  Table *facts = table_new (columns, G_N_ELEMENTS (columns));

  table_add_text (facts, quoit_group_get_handle (group));
  table_add_text (facts, quoit_group_get_name (group));
  table_add_number (facts, (gint64) quoit_group_get_id (group));
  table_add_number (facts, quoit_group_get_n_slices (group));
  table_add_number (facts, (gint64) group_count_workers (group));
  table_add_text (facts, reason);
  return facts;
}

static bool
release_slice (Session *session, const char *slice, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitLedger) ledger = group_names_open (session, error);
  QuoitGroupChange *change;

  if (ledger == NULL)
    return false;
  change = quoit_ledger_release_slice (ledger, session->words[0], slice, now_ms, error);
  if (change == NULL)
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  return print_group_change (session, snapshot, change, "has released the slice", error);
}

static bool
release_group (Session *session, const char *reason, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = group_names_open (session, error);
  g_autoptr (QuoitSnapshot) before = NULL, snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  const char *handle;
  Document *document;

  if (ledger == NULL)
    return false;
  /* Releases by NAME@ID, so that the released group is the printed one, even if another process changes the ledger in
   * between. The ledger refuses a group that has expired by now. */
  before = quoit_ledger_snapshot (ledger);
  snapshot = quoit_snapshot_as_of (before, now_ms, error);
  if (snapshot == NULL)
    return false;
  group = quoit_snapshot_lookup_group (snapshot, session->words[0], error);
  if (group == NULL)
    return false;
  handle = quoit_group_get_handle (group);
  if (!(reason == NULL ? quoit_ledger_release (ledger, handle, now_ms, error)
                       : quoit_ledger_release_with_reason (ledger, handle, reason, now_ms, error)))
    return false;

  document = document_new ();
  document_take_facts (document, release_facts (group, reason));
  return session_print (session, document, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (GStrv) slices = NULL;
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
    { "slice", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &slices, "release only this slice of the group", "NAME" },
    { "reason", 0, 0, G_OPTION_ARG_FILENAME, &reason, "why, for the journal and the record of the group", "TEXT" },
    G_OPTION_ENTRY_NULL,
  };
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error))
    return false;
  if (slices == NULL)
    return release_group (session, reason, now_ms, error);
  if (reason != NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                           "--reason cannot be combined with --slice: only the release of a group has a reason");
      return false;
    }
  /* A repeated option must not silently release only its last slice. */
  if (slices[1] != NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--slice '%s': expected one slice in each call", slices[1]);
      return false;
    }
  return release_slice (session, slices[0], now_ms, error);
}

const Verb verb_release = {
  "release",
  "NAME[@ID]",
  "free everything that a group uses, or one of its slices",
  "With @ID, a late or repeated call never releases a newer group with the same name.",
  1,
  1,
  run,
};
