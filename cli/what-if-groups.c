/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to groups between two states. */
#include <string.h>

#include "text.h"
#include "what-if.h"

/* The words for one group, and for several. */
static const struct {
  const char *one, *several;
} words[] = {
  [WHAT_IF_GROUP_ENDS] = { "ends", "end" },
  [WHAT_IF_GROUP_RESERVED] = { "is reserved", "are reserved" },
  [WHAT_IF_GROUP_RESERVED_AHEAD] = { "is reserved ahead", "are reserved ahead" },
  [WHAT_IF_GROUP_BEGINS] = { "begins", "begin" },
  [WHAT_IF_GROUP_GROWS] = { "grows", "grow" },
  [WHAT_IF_GROUP_SHRINKS] = { "shrinks", "shrink" },
  [WHAT_IF_GROUP_MOVES] = { "moves", "move" },
  [WHAT_IF_GROUP_LOSES] = { "loses nodes", "lose nodes" },
  [WHAT_IF_GROUP_LEAVES] = { "has draining nodes", "have draining nodes" },
  [WHAT_IF_GROUP_RECOVERS] = { "recovers", "recover" },
};

const char *
what_if_change_word (WhatIfChangeKind kind)
{
  return words[kind].one;
}

char *
what_if_summarize (const GPtrArray *changes)
{
  guint n[G_N_ELEMENTS (words)] = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < changes->len; i++)
    n[((const WhatIfChange *) changes->pdata[i])->kind]++;
  for (guint kind = 0; kind < G_N_ELEMENTS (words); kind++)
    if (n[kind] > 0)
      g_string_append_printf (text, "%s%u group%s %s", text->len == 0 ? "" : ", ", n[kind], n[kind] == 1 ? "" : "s",
                              n[kind] == 1 ? words[kind].one : words[kind].several);
  return text->len == 0 ? NULL : g_strdup (text->str);
}

/* --- slices and bundles --- */

/* The parts of a group: its slices, or else its bundles. */
static uint32_t
count_parts (const QuoitGroup *group)
{
  return quoit_group_get_n_slices (group) > 0 ? quoit_group_get_n_slices (group) : quoit_group_get_n_bundles (group);
}

static QuoitGroupSliceState
get_part_state (const QuoitGroup *group, uint32_t part)
{
  return quoit_group_get_n_slices (group) > 0 ? quoit_group_get_slice_state (group, part)
                                              : quoit_group_get_bundle_state (group, part);
}

/* Returns the name of a slice, or of the node of a bundle. */
static char *
dup_part_name (const QuoitGroup *group, uint32_t part)
{
  const char *node;

  if (quoit_group_get_n_slices (group) > 0)
    return quoit_group_dup_slice_name (group, part);
  node = quoit_group_get_bundle_node (group, part);
  return node == NULL || *node == '\0' ? g_strdup_printf ("bundle %u", part) : g_strdup (node);
}

/* Returns the names of the parts in @state, or of all parts if @state is 0. */
static char *
list_parts (const QuoitGroup *group, int state)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (uint32_t part = 0; part < count_parts (group); part++)
    if (state == 0 || (int) get_part_state (group, part) == state)
      {
        g_autofree char *name = dup_part_name (group, part);

        g_string_append_printf (names, "%s%s", names->len == 0 ? "" : ", ", name);
      }
  return g_strdup (names->str);
}

static uint32_t
count_parts_in (const QuoitGroup *group, QuoitGroupSliceState state)
{
  uint32_t n = 0;

  for (uint32_t part = 0; part < count_parts (group); part++)
    n += get_part_state (group, part) == state;
  return n;
}

static bool
has_same_parts (const QuoitGroup *before, const QuoitGroup *after)
{
  for (uint32_t part = 0; part < count_parts (before); part++)
    {
      g_autofree char *was = dup_part_name (before, part), *is = dup_part_name (after, part);

      if (!g_str_equal (was, is))
        return false;
    }
  return true;
}

/* --- changes --- */

static void
change_free (gpointer data)
{
  WhatIfChange *change = data;

  g_free (change->group);
  g_free (change->detail);
  g_free (change);
}

/* Takes @detail. */
static void
add_change (GPtrArray *changes, WhatIfChangeKind kind, const QuoitGroup *group, char *detail)
{
  WhatIfChange *change = g_new0 (WhatIfChange, 1);

  *change = (WhatIfChange) { kind, g_strdup (quoit_group_get_handle (group)), detail };
  g_ptr_array_add (changes, change);
}

static bool
is_live (const QuoitGroup *group)
{
  return group != NULL && quoit_group_get_state (group) != QUOIT_GROUP_REMOVED;
}

/* A group can also end with the lease of its owner, or because a line releases it. */
static void
add_end (GPtrArray *changes, const QuoitGroup *before, gint64 now_ms)
{
  const gint64 until_ms = quoit_group_get_until_ms (before);
  g_autofree char *until = until_ms != 0 && until_ms <= now_ms ? text_format_time (until_ms) : NULL;
  g_autofree char *parts = list_parts (before, 0);

  add_change (changes, WHAT_IF_GROUP_ENDS, before,
              until == NULL ? g_steal_pointer (&parts) : g_strdup_printf ("%s, at %s", parts, until));
}

static void
add_new (GPtrArray *changes, const QuoitGroup *after)
{
  g_autofree char *from = NULL;

  if (quoit_group_get_state (after) != QUOIT_GROUP_AHEAD)
    return add_change (changes, WHAT_IF_GROUP_RESERVED, after, list_parts (after, 0));
  from = text_format_time (quoit_group_get_begins_ms (after));
  add_change (changes, WHAT_IF_GROUP_RESERVED_AHEAD, after, g_strdup_printf ("from %s", from));
}

static void
compare_parts (GPtrArray *changes, const QuoitGroup *before, const QuoitGroup *after)
{
  const uint32_t n_before = count_parts (before), n_after = count_parts (after);
  const uint32_t lost_before = count_parts_in (before, QUOIT_GROUP_SLICE_LOST),
                 lost_after = count_parts_in (after, QUOIT_GROUP_SLICE_LOST),
                 leaving_before = count_parts_in (before, QUOIT_GROUP_SLICE_LEAVING),
                 leaving_after = count_parts_in (after, QUOIT_GROUP_SLICE_LEAVING);

  if (n_before != n_after)
    add_change (changes, n_before < n_after ? WHAT_IF_GROUP_GROWS : WHAT_IF_GROUP_SHRINKS, after,
                g_strdup_printf ("%u -> %u", n_before, n_after));
  else if (!has_same_parts (before, after))
    add_change (changes, WHAT_IF_GROUP_MOVES, after, list_parts (after, 0));
  if (lost_after > lost_before)
    add_change (changes, WHAT_IF_GROUP_LOSES, after, list_parts (after, QUOIT_GROUP_SLICE_LOST));
  if (leaving_after > leaving_before)
    add_change (changes, WHAT_IF_GROUP_LEAVES, after, list_parts (after, QUOIT_GROUP_SLICE_LEAVING));
  if (lost_after + leaving_after < lost_before + leaving_before)
    add_change (changes, WHAT_IF_GROUP_RECOVERS, after,
                g_strdup_printf ("%u -> %u lost or leaving", lost_before + leaving_before, lost_after + leaving_after));
}

static void
compare_group (GPtrArray *changes, const QuoitGroup *before, const QuoitGroup *after, gint64 now_ms)
{
  if (!is_live (before))
    return;
  if (!is_live (after))
    return add_end (changes, before, now_ms);
  if (quoit_group_get_state (after) == QUOIT_GROUP_AHEAD)
    return;
  if (quoit_group_get_state (before) == QUOIT_GROUP_AHEAD)
    return add_change (changes, WHAT_IF_GROUP_BEGINS, after, list_parts (after, 0));
  compare_parts (changes, before, after);
}

/* Groups are in the order of ids, which is the order of the result too. */
GPtrArray *
what_if_compare_groups (const QuoitSnapshot *before, const QuoitSnapshot *after, gint64 now_ms)
{
  const uint32_t n_before = quoit_snapshot_get_n_groups (before), n_after = quoit_snapshot_get_n_groups (after);
  GPtrArray *changes = g_ptr_array_new_with_free_func (change_free);
  uint32_t i = 0, k = 0;

  while (i < n_before || k < n_after)
    {
      g_autoptr (QuoitGroup) old = i < n_before ? quoit_snapshot_dup_group (before, i) : NULL;
      g_autoptr (QuoitGroup) new = k < n_after ? quoit_snapshot_dup_group (after, k) : NULL;

      if (new == NULL || (old != NULL && quoit_group_get_id (old) < quoit_group_get_id (new)))
        {
          compare_group (changes, old, NULL, now_ms);
          i++;
        }
      else if (old == NULL || quoit_group_get_id (new) < quoit_group_get_id (old))
        {
          if (is_live (new))
            add_new (changes, new);
          k++;
        }
      else
        {
          compare_group (changes, old, new, now_ms);
          i++, k++;
        }
    }
  return changes;
}
