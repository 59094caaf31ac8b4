/* SPDX-License-Identifier: Apache-2.0 */
#include "group-selection.h"
#include "group-view.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_auto (SelectionOptions) options = { 0 };
  g_autofree GOptionEntry *entries = selection_entries (&options);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GroupSelection selection;
  Document *document;
  Table *groups;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !selection_parse (&options, &selection, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  groups = groups_table ();
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (selection_has (&selection, group))
        groups_add (groups, group);
    }
  document = document_new ();
  document_take_table (document, "groups", NULL, groups);
  return session_print (session, document, error);
}

const Verb verb_groups = { "groups",
                           "",
                           "list the groups, including removed ones that are still recorded",
                           "With several options, a group must satisfy all of them.",
                           0,
                           0,
                           run };
