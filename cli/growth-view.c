/* SPDX-License-Identifier: Apache-2.0 */
#include "growth-view.h"

#include "text.h"

static const Column columns[] = {
  { "group", "GROUP", CELL_TEXT },  { "n_slices", "SLICES", CELL_NUMBER }, { "n_most", "MOST", CELL_NUMBER },
  { "n_now", NULL, CELL_NUMBER },   { "n_next", NULL, CELL_NUMBER },       { "next_start", NULL, CELL_TEXT },
  { "waits_for", NULL, CELL_LIST }, { "is_estimate", NULL, CELL_FLAG },    { NULL, "GROWTH", CELL_TEXT },
};

/* Finding a start takes longer than all the rest, so only this many groups get one. */
enum { MAX_STARTS = 64 };

static GPtrArray *
list_ends (const QuoitStart *start)
{
  GPtrArray *handles = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_start_get_n_ends (start); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_start_dup_end_group (start, i);

      g_ptr_array_add (handles, g_strdup (quoit_group_get_handle (group)));
    }
  return handles;
}

static bool
has_estimate (const QuoitStart *start)
{
  for (uint32_t i = 0; i < quoit_start_get_n_ends (start); i++)
    if (quoit_start_end_is_estimate (start, i))
      return true;
  return false;
}

/* Returns "could grow to 3 slices at TIME, when other@2 ends". g_free() it. */
static char *
format_start (uint32_t n, const char *time, const GPtrArray *ends)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text, "could grow to %u slices at %s", n, time);
  if (ends->len > 0)
    g_string_append_printf (text, ", when %s", (const char *) ends->pdata[0]);
  if (ends->len > 1)
    g_string_append_printf (text, " and %u more", ends->len - 1);
  if (ends->len > 0)
    g_string_append (text, ends->len == 1 ? " ends" : " end");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Adds the cells from "n_next" on, of a group that cannot grow now. @start: when it could have @n slices; NULL: never,
 * or @is_known is false and it was not searched. */
static void
add_later (Table *table, const QuoitStart *start, uint32_t n, bool is_known)
{
  g_autofree char *time = start == NULL ? NULL : text_format_time (quoit_start_get_time_ms (start));
  g_autoptr (GPtrArray) ends = NULL;

  if (time == NULL)
    {
      for (guint i = 0; i < 4; i++)
        table_skip (table);
      table_add_text (table, !is_known ? "cannot grow now"
                             : start != NULL
                                 ? "waits for a group without a known end, or for a host that is dead or draining"
                                 : "no other slices match its request");
      return;
    }
  ends = list_ends (start);
  table_add_number (table, n);
  table_add_text (table, time);
  table_take_list (table, g_ptr_array_ref (ends));
  table_add_flag (table, has_estimate (start));
  table_take_text (table, format_start (n, time, ends));
}

static void
add_now (Table *table, uint32_t n)
{
  for (guint i = 0; i < 4; i++)
    table_skip (table);
  table_take_text (table, g_strdup_printf ("could grow to %u slices now", n));
}

Table *
growth_table (QuoitSnapshot *snapshot, int64_t now_ms)
{
  Table *table = table_new (columns, G_N_ELEMENTS (columns));
  guint n_starts = 0;

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      const char *handle = quoit_group_get_handle (group);
      const uint32_t n = quoit_group_get_n_slices (group);
      g_autoptr (QuoitStart) start = NULL;
      uint32_t n_now = 0, n_most = 0;

      /* Groups that have ended or have not begun, those of sources and those of bundles cannot be resized. */
      if (n == 0 || !quoit_snapshot_test_growth (snapshot, handle, &n_now, &n_most, NULL) || n >= n_most)
        continue;
      table_add_text (table, handle);
      table_add_number (table, n);
      table_add_number (table, n_most);
      table_add_number (table, n_now);
      if (n_now > n)
        {
          add_now (table, n_now);
          continue;
        }
      if (n_starts < MAX_STARTS)
        start = quoit_snapshot_find_growth (snapshot, handle, n + 1, now_ms, NULL);
      add_later (table, start, n + 1, n_starts++ < MAX_STARTS);
    }
  return table;
}
