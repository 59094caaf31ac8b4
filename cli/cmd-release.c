/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "verbs.h"

static const Column columns[] = {
  { "released", "released", CELL_TEXT },
  { "name", NULL, CELL_TEXT },
  { "id", NULL, CELL_NUMBER },
  { "n_slices", "slices", CELL_NUMBER },
  { "n_workers", "workers", CELL_NUMBER },
};

static Table *
facts_of (const QuoitGroup *group)
{
  Table *facts = table_new (columns, G_N_ELEMENTS (columns));

  table_take_text (facts, group_label (group));
  table_add_text (facts, quoit_group_get_name (group));
  table_add_number (facts, (gint64) quoit_group_get_id (group));
  table_add_number (facts, quoit_group_get_n_slices (group));
  table_add_number (facts, (gint64) group_count_workers (group));
  return facts;
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (Quoit) quoit = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autofree char *label = NULL;
  gint64 now_ms;
  Document *document;

  if (!session_begin (session, error) || !session_now (session, &now_ms, error))
    return false;
  quoit = session_open (session, error);
  if (quoit == NULL)
    return false;

  /* By its id, so that what is printed is what was released, whoever else is at work. */
  snapshot = quoit_snapshot (quoit);
  group = quoit_snapshot_lookup_group (snapshot, session->words[0], error);
  if (group == NULL)
    return false;
  label = group_label (group);
  if (!quoit_release (quoit, label, now_ms, error))
    return false;

  document = document_new ();
  document_take_facts (document, facts_of (group));
  return session_print (session, document, error);
}

const Verb verb_release = {
  "release",
  "NAME[@ID]",
  "free all that a group has",
  "With @ID a late or repeated call never frees a group that took the name since.",
  1,
  1,
  run,
};
