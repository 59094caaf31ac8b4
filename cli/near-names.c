/* SPDX-License-Identifier: Apache-2.0 */
/* Proposes a name when the user has misspelt one. The library does not: its refusals cost the same in every fleet. */
#include "near-names.h"

#include <string.h>

#include "group-view.h"
#include "nearest.h"
#include "verbs.h"

static void
offer_names (Nearest *nearest, const QuoitSnapshot *snapshot)
{
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      nearest_offer (nearest, quoit_group_get_name (group));
    }
  for (uint32_t i = 0; i < quoit_snapshot_get_n_pools (snapshot); i++)
    nearest_offer (nearest, quoit_snapshot_get_pool_name (snapshot, i));
  for (uint32_t i = 0; i < quoit_snapshot_get_n_slices (snapshot); i++)
    nearest_offer (nearest, quoit_snapshot_get_slice_name (snapshot, i));
  for (uint32_t i = 0; i < quoit_snapshot_get_n_nodes (snapshot); i++)
    nearest_offer (nearest, quoit_snapshot_get_node_name (snapshot, i));
}

/* Returns the first text in single quotes that is a name. g_free() it. */
static char *
dup_quoted_name (const char *message)
{
  const char *begin = strchr (message, '\''), *end = begin == NULL ? NULL : strchr (begin + 1, '\'');

  return end == NULL || end == begin + 1 ? NULL : g_strndup (begin + 1, end - begin - 1);
}

/* Whether the names of the verb are those of files and programs, and not of the ledger. */
static bool
names_files (const Verb *verb)
{
  static const Verb *const verbs[]
      = { &verb_import, &verb_sync, &verb_top, &verb_check, &verb_backup, &verb_copy, &verb_restore };
  bool is_one = false;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    is_one |= verbs[i] == verb;
  return is_one;
}

void
near_names_add (Session *session, GError *error)
{
  g_autofree char *name = NULL, *question = NULL, *message = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) short_id = NULL;
  g_auto (Nearest) nearest = { 0 };

  if (!g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND) || session->verb == NULL
      || names_files (session->verb))
    return;
  name = dup_quoted_name (error->message);
  snapshot = name == NULL ? NULL : session_snapshot (session, NULL);
  if (snapshot == NULL)
    return;
  nearest = nearest_begin (name);
  short_id = group_find (snapshot, name, NULL);
  if (short_id != NULL)
    nearest.found = g_strdup (quoit_group_get_name (short_id));
  else
    offer_names (&nearest, snapshot);
  question = nearest_format_question (&nearest, "");
  message = error->message;
  error->message = g_strconcat (message, question, NULL);
}
