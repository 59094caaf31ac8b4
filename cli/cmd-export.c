/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *json = NULL;
  g_autofree char *line = NULL;

  if (!session_begin (session, error))
    return false;
  if (!g_str_equal (session->words[0], "json"))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected json", session->words[0]);
      return false;
    }
  snapshot = session_look (session, error);
  if (snapshot == NULL)
    return false;

  json = quoit_snapshot_dup_json (snapshot);
  line = g_str_has_suffix (json, "\n") ? g_steal_pointer (&json) : g_strconcat (json, "\n", NULL);
  return session_write (session, line, error);
}

const Verb verb_export = { "export", "json", "all that the ledger knows, as one JSON document", NULL, 1, 1, run };
