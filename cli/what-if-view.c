/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text.h"
#include "what-if.h"
#include "words.h"

/* --- the difference by class --- */

/* What is counted of each class. */
enum { SLICES, FREE, UNDRAINED, DEGRADED, HELD, CHIPS, FREE_CHIPS, N_COUNTS };

static const Column class_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", RANKED (3, CELL_NUMBER) },
  { NULL, "SLICES", CELL_TEXT },
  { "slices_before", NULL, CELL_NUMBER },
  { "slices_after", NULL, CELL_NUMBER },
  { NULL, "FREE", CELL_TEXT },
  { "free_before", NULL, CELL_NUMBER },
  { "free_after", NULL, CELL_NUMBER },
  { NULL, "UNDRAINED", RANKED (2, CELL_TEXT) },
  { "undrained_before", NULL, CELL_NUMBER },
  { "undrained_after", NULL, CELL_NUMBER },
  { NULL, "DEGRADED", RANKED (1, CELL_TEXT) },
  { "degraded_before", NULL, CELL_NUMBER },
  { "degraded_after", NULL, CELL_NUMBER },
  { NULL, "HELD", CELL_TEXT },
  { "held_before", NULL, CELL_NUMBER },
  { "held_after", NULL, CELL_NUMBER },
  { NULL, "CHIPS", RANKED (4, CELL_TEXT) },
  { "chips_before", NULL, CELL_NUMBER },
  { "chips_after", NULL, CELL_NUMBER },
  { NULL, "FREE CHIPS", RANKED (4, CELL_TEXT) },
  { "free_chips_before", NULL, CELL_NUMBER },
  { "free_chips_after", NULL, CELL_NUMBER },
};

typedef struct {
  const char *accelerator;
  char *topology;
  uint32_t chips_per_host;
  gint64 counts[2][N_COUNTS]; /* before and after */
} Class;

static void
class_free (gpointer data)
{
  g_free (((Class *) data)->topology);
  g_free (data);
}

/* Returns the class, which has different indices in different snapshots. */
static Class *
ensure_class (GPtrArray *classes, const QuoitSnapshot *snapshot, uint32_t index)
{
  const char *accelerator = quoit_snapshot_get_class_accelerator (snapshot, index);
  g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, index);
  const uint32_t chips_per_host = quoit_snapshot_get_class_chips_per_host (snapshot, index);
  Class *class;

  for (guint i = 0; i < classes->len; i++)
    {
      class = classes->pdata[i];
      if (class->chips_per_host == chips_per_host && g_str_equal (class->accelerator, accelerator)
          && g_str_equal (class->topology, topology))
        return class;
    }
  class = g_new0 (Class, 1);
  *class = (Class) { accelerator, g_steal_pointer (&topology), chips_per_host, { { 0 } } };
  g_ptr_array_add (classes, class);
  return class;
}

static void
count_slice (gint64 *counts, uint32_t flags, gint64 n_chips)
{
  const bool is_intact = (flags & QUOIT_SLICE_INTACT) != 0, is_free = (flags & QUOIT_SLICE_FREE) != 0;

  counts[SLICES]++;
  counts[FREE] += is_free;
  counts[UNDRAINED] += is_intact && (flags & QUOIT_SLICE_IDLE) != 0;
  counts[DEGRADED] += !is_intact;
  counts[HELD] += (flags & QUOIT_SLICE_ALLOCATED) != 0;
  counts[CHIPS] += n_chips;
  counts[FREE_CHIPS] += is_free ? n_chips : 0;
}

static void
count_classes (GPtrArray *classes, const QuoitSnapshot *snapshot, guint when)
{
  const uint32_t n = quoit_snapshot_get_n_classes (snapshot);
  g_autofree Class **by_index = g_new0 (Class *, n + 1);

  for (uint32_t i = 0; i < n; i++)
    by_index[i] = ensure_class (classes, snapshot, i);
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    {
      const int64_t i = quoit_snapshot_get_slice_class (snapshot, slice);

      if (i >= 0)
        count_slice (by_index[i]->counts[when], quoit_snapshot_get_slice_flags (snapshot, slice),
                     (gint64) quoit_snapshot_get_class_n_hosts (snapshot, (uint32_t) i) * by_index[i]->chips_per_host);
    }
}

static Table *
describe_classes (const WhatIf *what_if)
{
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (class_free);
  Table *table = table_new (class_columns, G_N_ELEMENTS (class_columns));

  count_classes (classes, what_if->before, 0);
  count_classes (classes, what_if_present (what_if), 1);
  for (guint i = 0; i < classes->len; i++)
    {
      const Class *class = classes->pdata[i];

      table_add_text (table, class->accelerator);
      table_add_text (table, class->topology);
      table_add_number (table, class->chips_per_host);
      for (guint count = 0; count < N_COUNTS; count++)
        {
          const gint64 before = class->counts[0][count], after = class->counts[1][count];

          table_take_text (table, before == after
                                      ? g_strdup_printf ("%" G_GINT64_FORMAT, after)
                                      : g_strdup_printf ("%" G_GINT64_FORMAT " -> %" G_GINT64_FORMAT, before, after));
          table_add_number (table, before);
          table_add_number (table, after);
        }
    }
  return table;
}

/* --- lines and groups --- */

static const Column line_columns[] = {
  { "line", "LINE", CELL_NUMBER },     { "text", "TEXT", CELL_TEXT },     { "time", NULL, CELL_TEXT },
  { "verdict", "VERDICT", CELL_TEXT }, { "answer", "ANSWER", CELL_TEXT }, { "groups", NULL, CELL_LIST },
  { "would_help", NULL, CELL_LIST },
};

/* For a refusal: the changes of which any one would make the request fit. */
static GPtrArray *
list_options (const QuoitReport *report)
{
  GPtrArray *options = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; report != NULL && i < quoit_report_get_n_options (report); i++)
    g_ptr_array_add (options, quoit_report_dup_option_text (report, i));
  return options;
}

static GPtrArray *
list_handles (const GPtrArray *groups)
{
  GPtrArray *handles = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < groups->len; i++)
    g_ptr_array_add (handles, g_strdup (quoit_group_get_handle (groups->pdata[i])));
  return handles;
}

static Table *
describe_lines (const WhatIf *what_if)
{
  Table *table = table_new (line_columns, G_N_ELEMENTS (line_columns));

  for (guint i = 0; i < what_if->steps->len; i++)
    {
      const WhatIfStep *step = what_if->steps->pdata[i];

      table_add_number (table, step->line->number);
      table_add_text (table, step->line->text);
      table_take_text (table, text_format_time (step->time_ms));
      table_add_text (table, step->has_verdict ? verdict_word (step->verdict) : NULL);
      table_add_text (table, step->answer);
      table_take_list (table, list_handles (step->groups));
      table_take_list (table, list_options (step->report));
    }
  return table;
}

static const Column group_columns[] = {
  { "line", "LINE", CELL_NUMBER },
  { "group", "GROUP", CELL_TEXT },
  { "change", "CHANGE", CELL_TEXT },
  { "detail", "DETAIL", CELL_TEXT },
};

static Table *
describe_groups (const WhatIf *what_if)
{
  Table *table = table_new (group_columns, G_N_ELEMENTS (group_columns));

  for (guint i = 0; i < what_if->steps->len; i++)
    {
      const WhatIfStep *step = what_if->steps->pdata[i];

      for (guint c = 0; c < step->changes->len; c++)
        {
          const WhatIfChange *change = step->changes->pdata[c];

          table_add_number (table, step->line->number);
          table_add_text (table, change->group);
          table_add_text (table, what_if_change_word (change->kind));
          table_add_text (table, change->detail);
        }
    }
  return table;
}

/* --- the document --- */

static const Column fact_columns[] = {
  { "seq", NULL, CELL_NUMBER },
  { "from", "from", CELL_TEXT },
  { "until", "until", CELL_TEXT },
  { "n_lines", NULL, CELL_NUMBER },
};

static Table *
describe_facts (const WhatIf *what_if)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_add_number (facts, (gint64) quoit_snapshot_get_seq (what_if->before));
  table_take_text (facts, text_format_time (what_if->begin_ms));
  table_take_text (facts, text_format_time (what_if->now_ms));
  table_add_number (facts, what_if->steps->len);
  return facts;
}

Document *
what_if_describe (const WhatIf *what_if)
{
  Document *document = document_new ();

  document_take_sentence (document, g_strdup ("what if: nothing has changed in the ledger"));
  document_take_facts (document, describe_facts (what_if));
  document_take_table (document, "lines", "lines", describe_lines (what_if));
  document_take_csv_table (document, "classes", "slices by class, before -> after", describe_classes (what_if));
  document_take_table (document, "groups", "what happens to groups", describe_groups (what_if));
  return document;
}
