/* SPDX-License-Identifier: Apache-2.0 */
/* Helps when a name is not found: says what else has it, or proposes a name that is nearly the same. The library does
 * not: its refusals cost the same in every fleet. */
#include "near-names.h"

#include <string.h>

#include "group-names.h"
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

static bool
is_pool (const QuoitSnapshot *snapshot, const char *name)
{
  bool is_one = false;

  for (uint32_t i = 0; i < quoit_snapshot_get_n_pools (snapshot) && !is_one; i++)
    is_one = g_str_equal (quoit_snapshot_get_pool_name (snapshot, i), name);
  return is_one;
}

/* Returns what has this name: "group", "slice", "node" or "pool"; NULL if nothing has it. */
static const char *
find_kind (const QuoitSnapshot *snapshot, const char *name, const QuoitGroup *group)
{
  uint32_t index;

  if (group != NULL && g_str_equal (quoit_group_get_name (group), name))
    return "group";
  if (quoit_snapshot_lookup_slice (snapshot, name, &index, NULL))
    return "slice";
  if (quoit_snapshot_lookup_node (snapshot, name, &index, NULL))
    return "node";
  return is_pool (snapshot, name) ? "pool" : NULL;
}

/* Whether the message calls the name of that kind, as "no group 'a'" does. */
static bool
names_kind (const char *message, const char *kind)
{
  return g_strstr_len (message, strchr (message, '\'') - message, kind) != NULL;
}

/* Returns where the names are listed that @message does not find. */
static const char *
find_list (const char *message)
{
  static const struct {
    const char *text, *list;
  } lists[] = {
    { "no group '", "; see quoit groups" },
    { "no node '", "; see quoit nodes" },
    { "no slice '", "; see quoit slices" },
    { "no pool '", "; see quoit status" },
    { "no such pool in", "; see quoit status" },
    { "no window '", "; see quoit calendar" },
    { "no quota '", "; see quoit quota" },
    { "of a node or slice", "; see quoit nodes" },
    { "of a node, slice or group", "; see quoit nodes and groups" },
    { "of a slice, group or pool", "; see quoit slices and groups" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (strstr (message, lists[i].text) != NULL)
      return lists[i].list;
  return "";
}

/* Returns where the slices of the group are listed of which `quoit release` does not find one. g_free() it. */
static char *
format_show (const Session *session, const QuoitSnapshot *snapshot)
{
  g_autoptr (QuoitGroup) group = group_find (snapshot, session->words[0], NULL);

  return group == NULL ? g_strdup ("") : g_strdup_printf ("; see quoit show %s", session->words[0]);
}

/* Returns what to add to @message, which does not find @name. g_free() it. */
static char *
format_help (const Session *session, const QuoitSnapshot *snapshot, const char *name, const char *message)
{
  g_autoptr (QuoitGroup) group = group_find (snapshot, name, NULL);
  const char *kind = find_kind (snapshot, name, group);
  g_auto (Nearest) nearest = nearest_begin (name);

  if (session->verb == &verb_release && strstr (message, "has no slice '") != NULL)
    return format_show (session, snapshot);
  if (kind != NULL)
    return names_kind (message, kind) ? g_strdup ("") : g_strdup_printf ("; '%s' is the name of a %s", name, kind);
  if (group != NULL)
    nearest.found = g_strdup (quoit_group_get_name (group));
  else
    offer_names (&nearest, snapshot);
  if (nearest.found != NULL)
    return nearest_format_question (&nearest, "");
  if (session->verb == &verb_release && strstr (message, "no slice '") != NULL)
    return format_show (session, snapshot);
  return g_strdup (find_list (message));
}

void
near_names_add (Session *session, GError *error)
{
  g_autofree char *name = NULL, *help = NULL, *message = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND) || session->verb == NULL
      || names_files (session->verb))
    return;
  name = dup_quoted_name (error->message);
  snapshot = name == NULL ? NULL : session_snapshot (session, NULL);
  if (snapshot == NULL)
    return;
  help = format_help (session, snapshot, name, error->message);
  message = error->message;
  error->message = g_strconcat (message, help, NULL);
}
