/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "verbs.h"

static const Verb *const with_rows[] = {
  &verb_catalogue, &verb_groups, &verb_journal, &verb_nodes, &verb_show, &verb_slices, &verb_slots, &verb_who_holds,
};

bool
verb_has_rows (const Verb *verb)
{
  for (guint i = 0; i < G_N_ELEMENTS (with_rows); i++)
    if (with_rows[i] == verb)
      return true;
  return false;
}

char *
format_verbs_with_rows (void)
{
  GString *names = g_string_new (NULL);
  guint n = G_N_ELEMENTS (with_rows);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (names, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", with_rows[i]->name);
  return g_string_free (names, FALSE);
}
