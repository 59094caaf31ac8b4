/* SPDX-License-Identifier: Apache-2.0 */
#include "group-names.h"

#include <string.h>

#include "text.h"

bool
group_name_is_short (const char *name)
{
  const gsize n_digits = text_count_id_digits (name);

  return n_digits >= SHORT_ID_LENGTH && n_digits < RAY_GROUP_ID_LENGTH
         && (name[n_digits] == '\0' || name[n_digits] == '@');
}

/* Whether the group has the name, NAME or NAME@ID. */
static bool
has_name (const QuoitGroup *group, const char *name)
{
  return g_str_equal (quoit_group_get_name (group), name) || g_str_equal (quoit_group_get_handle (group), name);
}

/* Whether the group is named by an id that begins with the digits, and has the id after them, if there is one. */
static bool
has_digits (const QuoitGroup *group, const char *name)
{
  const gsize n_digits = text_count_id_digits (name);
  const char *whole = quoit_group_get_name (group), *handle = quoit_group_get_handle (group);

  return strlen (whole) == RAY_GROUP_ID_LENGTH && text_count_id_digits (whole) == RAY_GROUP_ID_LENGTH
         && strncmp (whole, name, n_digits) == 0
         && (name[n_digits] == '\0' || g_str_equal (handle + RAY_GROUP_ID_LENGTH, name + n_digits));
}

/* Names, each once. */
typedef struct {
  GPtrArray *in_order;
  GHashTable *all; /* does not own the names */
} Names;

static Names
names_new (void)
{
  return (Names) { g_ptr_array_new_with_free_func (g_free), g_hash_table_new (g_str_hash, g_str_equal) };
}

static void
names_clear (Names *names)
{
  g_hash_table_unref (names->all);
  g_ptr_array_unref (names->in_order);
}

static void
add_once (Names *names, const char *name)
{
  char *copy;

  if (g_hash_table_contains (names->all, name))
    return;
  copy = g_strdup (name);
  g_hash_table_add (names->all, copy);
  g_ptr_array_add (names->in_order, copy);
}

/* The names that can be meant, without their ids: those of live groups and those of removed ones. */
typedef struct {
  bool is_whole; /* a group has exactly the name that was typed */
  Names live, removed;
} Candidates;

static void
candidates_clear (Candidates *candidates)
{
  names_clear (&candidates->live);
  names_clear (&candidates->removed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Candidates, candidates_clear)

static Candidates
find_candidates (const QuoitSnapshot *snapshot, const char *name)
{
  Candidates candidates = { false, names_new (), names_new () };

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      candidates.is_whole |= has_name (group, name);
      if (has_digits (group, name))
        add_once (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED ? &candidates.removed : &candidates.live,
                  quoit_group_get_name (group));
    }
  return candidates;
}

static void
refuse_candidates (const GPtrArray *names, const char *name, GError **error)
{
  enum { MAX_LISTED = 8 };
  const guint n = MIN (names->len, MAX_LISTED);
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s'%s'",
                            i == 0                ? ""
                            : i + 1 == names->len ? " or "
                                                  : ", ",
                            (const char *) names->pdata[i]);
  if (names->len > n)
    g_string_append_printf (list, " or one of %u more", names->len - n);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "group name '%s' is ambiguous: expected %s", name, list->str);
}

static char *
complete_digits (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  g_auto (Candidates) candidates = find_candidates (snapshot, name);
  const GPtrArray *names = candidates.live.in_order->len > 0 ? candidates.live.in_order : candidates.removed.in_order;

  if (candidates.is_whole || names->len == 0)
    return g_strdup (name);
  if (names->len == 1)
    return g_strconcat (names->pdata[0], name + text_count_id_digits (name), NULL);
  refuse_candidates (names, name, error);
  return NULL;
}

char *
group_name_complete (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  return group_name_is_short (name) ? complete_digits (snapshot, name, error) : g_strdup (name);
}

bool
group_names_complete (const QuoitSnapshot *snapshot, char **words, GError **error)
{
  for (; *words != NULL; words++)
    {
      char *whole = group_name_complete (snapshot, *words, error);

      if (whole == NULL)
        return false;
      g_free (*words);
      *words = whole;
    }
  return true;
}

QuoitLedger *
group_names_open (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = session_open (session, error);
  g_autoptr (QuoitSnapshot) snapshot = ledger == NULL ? NULL : quoit_ledger_snapshot (ledger);

  return snapshot != NULL && group_names_complete (snapshot, session->words, error) ? g_steal_pointer (&ledger) : NULL;
}

QuoitGroup *
group_find (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  g_autofree char *whole = group_name_complete (snapshot, name, error);
  GError *why = NULL;
  g_autoptr (QuoitGroup) found = whole == NULL ? NULL : quoit_snapshot_lookup_group (snapshot, whole, &why);

  if (whole == NULL || found != NULL)
    return g_steal_pointer (&found);
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (has_name (group, whole) && (found == NULL || quoit_group_get_id (group) > quoit_group_get_id (found)))
        {
          quoit_group_unref (found);
          found = g_steal_pointer (&group);
        }
    }
  if (found == NULL)
    g_propagate_error (error, why);
  else
    g_error_free (why);
  return g_steal_pointer (&found);
}
