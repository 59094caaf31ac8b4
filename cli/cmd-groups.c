/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Table *groups;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  groups = groups_table ();
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      groups_add (groups, group);
    }
  document = document_new ();
  document_take_table (document, "groups", NULL, groups);
  return session_print (session, document, error);
}

const Verb verb_groups
    = { "groups", "", "list the groups, including removed ones that a request key names", NULL, 0, 0, run };
