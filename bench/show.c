/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results as a table, and writes them as JSON. */
#include "bench-private.h"

#include <math.h>
#include <string.h>

static char *
number (double value)
{
  if (isnan (value))
    return g_strdup ("");
  return g_strdup_printf (fabs (value) >= 1000 ? "%.0f" : fabs (value) >= 100 ? "%.1f" : "%.2f", value);
}

static char *
limit_text (BenchLimit limit, double value)
{
  g_autofree char *text = NULL;

  if (limit.relation == BENCH_NO_LIMIT)
    return g_strdup ("");
  text = number (limit.value);
  if (strchr (text, '.') != NULL && fmod (limit.value, 1) == 0)
    *strchr (text, '.') = '\0';
  return g_strdup_printf ("%s %s %s", limit.relation == BENCH_AT_MOST ? "<=" : ">=", text,
                          bench_limit_verdict (limit, value));
}

void
bench_print_table (const Bench *bench)
{
  guint n_met = 0, n_missed = 0;

  g_print ("%-42s %-38s %10s %-5s %-16s %9s %s\n", "scenario", "fleet", "best", "", "promised", "instr.", "promised");
  for (guint i = 0; i < bench->rows->len; i++)
    {
      const BenchRow *row = &g_array_index (bench->rows, BenchRow, i);
      g_autofree char *value = number (row->value), *limit = limit_text (row->limit, row->value);
      g_autofree char *instructions
          = isnan (row->instructions) ? g_strdup ("") : g_strdup_printf ("%.0f", row->instructions);
      g_autofree char *count_limit = limit_text (row->instructions_limit, row->instructions);
      const char *verdicts[] = { bench_limit_verdict (row->limit, row->value),
                                 bench_limit_verdict (row->instructions_limit, row->instructions) };

      g_print ("%-42s %-38s %10s %-5s %-16s %9s %s\n", row->scenario, row->fleet, value, row->unit, limit, instructions,
               count_limit);
      for (guint v = 0; v < G_N_ELEMENTS (verdicts); v++)
        {
          n_met += strcmp (verdicts[v], "met") == 0;
          n_missed += strcmp (verdicts[v], "missed") == 0;
        }
    }
  g_print ("%u promises met, %u missed\n", n_met, n_missed);
}

static void
append_number (GString *text, const char *key, double value)
{
  char room[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isnan (value) && !isinf (value))
    g_string_append_printf (text, ", \"%s\": %s", key, g_ascii_formatd (room, sizeof room, "%.3f", value));
}

static void
append_limit (GString *text, const char *what, BenchLimit limit, double value)
{
  g_autofree char *key = g_strdup_printf ("%s_%s", what, limit.relation == BENCH_AT_MOST ? "at_most" : "at_least");

  if (limit.relation == BENCH_NO_LIMIT)
    return;
  append_number (text, key, limit.value);
  if (*bench_limit_verdict (limit, value) != '\0')
    g_string_append_printf (text, ", \"%s_verdict\": \"%s\"", what, bench_limit_verdict (limit, value));
}

gboolean
bench_save_json (const Bench *bench, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new ("{\"schema\": \"quoit-bench/1\", \"rows\": [");

  for (guint i = 0; i < bench->rows->len; i++)
    {
      const BenchRow *row = &g_array_index (bench->rows, BenchRow, i);

      g_string_append_printf (text,
                              "%s\n  {\"family\": \"%s\", \"scenario\": \"%s\", \"fleet\": \"%s\", \"unit\": \"%s\"",
                              i > 0 ? "," : "", row->family, row->scenario, row->fleet, row->unit);
      append_number (text, "value", row->value);
      append_limit (text, "value", row->limit, row->value);
      append_number (text, "instructions", row->instructions);
      append_limit (text, "instructions", row->instructions_limit, row->instructions);
      g_string_append_c (text, '}');
    }
  g_string_append (text, "\n]}\n");
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}
