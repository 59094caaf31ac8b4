/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "verbs.h"

/* Returns NULL on failure, for example if the ledger has no graph of that form. @form must be json, fleet, dot or jgf.
 */
static char *
format_snapshot (const QuoitSnapshot *snapshot, const char *form, GError **error)
{
  if (g_str_equal (form, "json"))
    return quoit_snapshot_dup_json (snapshot);
  if (g_str_equal (form, "fleet"))
    return quoit_snapshot_dup_fleet_text (snapshot, error);
  if (g_str_equal (form, "dot"))
    return quoit_snapshot_dup_graph (snapshot, QUOIT_GRAPH_FORM_DOT, error);
  return quoit_snapshot_dup_graph (snapshot, QUOIT_GRAPH_FORM_JGF, error);
}

static bool
run (Session *session, GError **error)
{
  static const char *const forms[] = { "json", "fleet", "dot", "jgf", NULL };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;

  if (!session_begin (session, error))
    return false;
  if (!g_strv_contains (forms, session->words[0]))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected json, fleet, dot or jgf", session->words[0]);
      return false;
    }
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  text = format_snapshot (snapshot, session->words[0], error);
  if (text == NULL)
    return false;
  line = g_str_has_suffix (text, "\n") ? g_steal_pointer (&text) : g_strconcat (text, "\n", NULL);
  return session_write (session, line, error);
}

const Verb verb_export = { "export", "json|fleet|dot|jgf", "write the whole ledger as one document", NULL, 1, 1, run };
