/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "report-view.h"

#include "text.h"
#include "words.h"

static const Column fact_columns[] = {
  { "verdict", "verdict", CELL_TEXT },        { "summary", NULL, CELL_TEXT },
  { "wanted", "slices wanted", CELL_NUMBER }, { "now", "free now", CELL_NUMBER },
  { "could", "free at best", CELL_NUMBER },
};

static const Column bundle_fact_columns[] = {
  { "verdict", "verdict", CELL_TEXT },         { "summary", NULL, CELL_TEXT },
  { "wanted", "bundles wanted", CELL_NUMBER }, { "bundle", "hardest bundle", CELL_NUMBER },
  { "now", "nodes for it now", CELL_NUMBER },  { "could", "nodes for it at best", CELL_NUMBER },
  { "ray", "Ray's answer", CELL_TEXT },        { "ray_varies", "Ray's choice varies", CELL_FLAG },
  { "proven", "proven", CELL_FLAG },
};

static const Column miss_columns[] = {
  { "node", "NODE", CELL_TEXT },
  { "resource", "RESOURCE", CELL_TEXT },
  { "left", "LEFT", CELL_AMOUNT },
  { "wanted", "WANTED", CELL_AMOUNT },
};

static const Column reason_columns[] = {
  { "constraint", "CONSTRAINT", CELL_TEXT },
  { "before", "BEFORE", CELL_NUMBER },
  { "after", "AFTER", CELL_NUMBER },
  { "text", "REASON", CELL_TEXT },
};

static const Column step_columns[] = {
  { "kind", "KIND", CELL_TEXT },
  { "node", "NODE", RANKED (1, CELL_TEXT) },
  { "group", "GROUP", RANKED (1, CELL_TEXT) },
  { "until", "UNTIL", RANKED (1, CELL_TEXT) },
  { "topology", "TOPOLOGY", RANKED (1, CELL_TEXT) },
  { "chips_per_host", "CHIPS PER HOST", RANKED (2, CELL_NUMBER) },
  { "slices", "SLICES", RANKED (1, CELL_NUMBER) },
};

static const Column option_columns[] = {
  { "text", "OPTION", CELL_TEXT },
  { "steps", NULL, CELL_TABLE },
};

static const Column order_columns[] = {
  { "order", "ORDER", CELL_TEXT },     { "option", NULL, CELL_NUMBER },   { "until", "WAITS UNTIL", CELL_TEXT },
  { "groups", "GROUPS", CELL_NUMBER }, { "chips", "CHIPS", CELL_AMOUNT }, { "proven", "PROVEN", CELL_FLAG },
  { "text", "OPTION", CELL_TEXT },
};

static const QuoitOptionOrder orders[]
    = { QUOIT_OPTION_ORDER_EARLIEST, QUOIT_OPTION_ORDER_FEWEST_GROUPS, QUOIT_OPTION_ORDER_FEWEST_CHIPS };

static Table *
reasons (const QuoitReport *report)
{
  Table *table = table_new (reason_columns, G_N_ELEMENTS (reason_columns));

  for (uint32_t i = 0; i < quoit_report_get_n_reasons (report); i++)
    {
      table_add_text (table, quoit_constraint_get_name (quoit_report_get_reason_constraint (report, i)));
      table_add_number (table, quoit_report_get_reason_before (report, i));
      table_add_number (table, quoit_report_get_reason_after (report, i));
      table_take_text (table, quoit_report_dup_reason_text (report, i));
    }
  return table;
}

static void
add_count (Table *table, uint32_t count)
{
  if (count == 0)
    table_skip (table);
  else
    table_add_number (table, count);
}

static Table *
steps (const QuoitReport *report, uint32_t option)
{
  Table *table = table_new (step_columns, G_N_ELEMENTS (step_columns));

  for (uint32_t i = 0; i < quoit_report_get_n_steps (report, option); i++)
    {
      table_add_text (table, step_word (quoit_report_get_step_kind (report, option, i)));
      table_add_text (table, quoit_report_get_step_node (report, option, i));
      table_add_text (table, quoit_report_get_step_group (report, option, i));
      table_take_text (table, text_format_time (quoit_report_get_step_until_ms (report, option, i)));
      table_add_text (table, quoit_report_get_step_topology (report, option, i));
      add_count (table, quoit_report_get_step_chips_per_host (report, option, i));
      add_count (table, quoit_report_get_step_n_slices (report, option, i));
    }
  return table;
}

static Table *
options (const QuoitReport *report)
{
  Table *table = table_new (option_columns, G_N_ELEMENTS (option_columns));

  for (uint32_t i = 0; i < quoit_report_get_n_options (report); i++)
    {
      table_take_text (table, quoit_report_dup_option_text (report, i));
      table_take_table (table, steps (report, i));
    }
  return table;
}

/* One row for each order that has an option. */
static Table *
best_options (const QuoitReport *report)
{
  Table *table = table_new (order_columns, G_N_ELEMENTS (order_columns));

  for (gsize i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      int64_t option = quoit_report_find_option (report, orders[i]);

      if (option < 0)
        continue;
      table_add_text (table, quoit_option_order_get_name (orders[i]));
      table_add_number (table, option);
      table_take_text (table, text_format_time (quoit_report_get_option_time_ms (report, (uint32_t) option)));
      table_add_number (table, quoit_report_get_option_n_groups (report, (uint32_t) option));
      table_take_text (table, quoit_amount_format (quoit_report_get_option_chips (report, (uint32_t) option)));
      table_add_flag (table, quoit_report_is_option_best (report, orders[i]));
      table_take_text (table, quoit_report_dup_option_text (report, (uint32_t) option));
    }
  return table;
}

static Table *
slice_request_facts (const QuoitReport *report, const char *summary)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_add_text (facts, verdict_word (quoit_report_get_verdict (report)));
  table_add_text (facts, summary);
  table_add_number (facts, quoit_report_get_n_wanted (report));
  table_add_number (facts, quoit_report_get_n_free_now (report));
  table_add_number (facts, quoit_report_get_n_possible (report));
  return facts;
}

static Table *
bundle_request_facts (const QuoitReport *report, const char *summary)
{
  Table *facts = table_new (bundle_fact_columns, G_N_ELEMENTS (bundle_fact_columns));
  const char *ray = ray_answer_word (quoit_report_get_ray_answer (report));

  table_add_text (facts, verdict_word (quoit_report_get_verdict (report)));
  table_add_text (facts, summary);
  table_add_number (facts, quoit_report_get_n_wanted (report));
  table_add_number (facts, quoit_report_get_bundle (report));
  table_add_number (facts, quoit_report_get_n_free_now (report));
  table_add_number (facts, quoit_report_get_n_possible (report));
  if (ray == NULL)
    table_skip (facts);
  else
    table_add_text (facts, ray);
  table_add_flag (facts, quoit_report_can_ray_answer_vary (report));
  table_add_flag (facts, quoit_report_is_proven (report));
  return facts;
}

static Table *
misses (const QuoitReport *report)
{
  Table *table = table_new (miss_columns, G_N_ELEMENTS (miss_columns));

  for (uint32_t i = 0; i < quoit_report_get_n_misses (report); i++)
    {
      table_add_text (table, quoit_report_get_miss_node (report, i));
      table_add_text (table, quoit_report_get_miss_resource (report, i));
      table_take_text (table, quoit_amount_format (quoit_report_get_miss_available (report, i)));
      table_take_text (table, quoit_amount_format (quoit_report_get_miss_requested (report, i)));
    }
  return table;
}

static const Column alternative_columns[] = {
  { "alternative", "ALTERNATIVE", CELL_NUMBER },
  { "verdict", "VERDICT", CELL_TEXT },
  { "summary", "SUMMARY", CELL_TEXT },
};

/* One row for each alternative. One that the fleet cannot decide about has no verdict. */
static Table *
alternatives (QuoitReport *report)
{
  Table *table = table_new (alternative_columns, G_N_ELEMENTS (alternative_columns));

  for (uint32_t i = 0; i < quoit_report_get_n_alternatives (report); i++)
    {
      g_autoptr (GError) why = NULL;
      g_autoptr (QuoitReport) one = quoit_report_dup_alternative (report, i, &why);
      g_autofree char *what = i == 0 ? g_strdup ("the request") : g_strdup_printf ("alternative %u", i);

      table_add_number (table, i);
      if (one == NULL)
        {
          table_skip (table);
          table_add_text (table, why->message);
          continue;
        }
      table_add_text (table, verdict_word (quoit_report_get_verdict (one)));
      table_take_text (table, quoit_report_dup_summary (one, what));
    }
  return table;
}

void
report_describe (QuoitReport *report, const char *subject, Document *document)
{
  g_autofree char *what = quoit_report_get_alternative (report) == 0
                              ? g_strdup (subject == NULL ? "the request" : subject)
                              : g_strdup_printf ("alternative %u", quoit_report_get_alternative (report));
  g_autofree char *summary = quoit_report_dup_summary (report, what);
  bool has_bundles = quoit_report_get_bundle (report) >= 0;
  Table *facts = has_bundles ? bundle_request_facts (report, summary) : slice_request_facts (report, summary);

  document_take_sentence (document, g_steal_pointer (&summary));
  document_take_facts (document, facts);
  document_take_table (document, "reasons", has_bundles ? "what removed nodes" : "what removed slices",
                       reasons (report));
  if (has_bundles)
    document_take_table (document, "misses", "nodes that come nearest", misses (report));
  document_take_table (document, "options", "what would help, any one of", options (report));
  if (quoit_report_get_verdict (report) == QUOIT_VERDICT_NOT_NOW)
    document_take_table (document, "orders", "the best option in each order", best_options (report));
  if (quoit_report_get_n_alternatives (report) > 1)
    document_take_table (document, "alternatives", "alternatives", alternatives (report));
}

/* Returns " (earliest, fewest-groups)" for an option that is the best one in these orders. */
static char *
order_names (const QuoitReport *report, uint32_t option)
{
  GString *names = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (orders); i++)
    if (quoit_report_find_option (report, orders[i]) == (int64_t) option)
      g_string_append_printf (names, "%s%s", names->len == 0 ? " (" : ", ", quoit_option_order_get_name (orders[i]));
  if (names->len > 0)
    g_string_append_c (names, ')');
  return g_string_free (names, FALSE);
}

static void
append_line (GString *lines, const char *text)
{
  g_autofree char *line = text_for_terminal (text);

  g_string_append_printf (lines, "%s\n", line);
}

char *
report_explain (const QuoitReport *report)
{
  GString *lines = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_report_get_n_reasons (report); i++)
    {
      g_autofree char *why = quoit_report_dup_reason_text (report, i);
      g_autofree char *text = g_strdup_printf (
          "  %s: %u -> %u: %s", quoit_constraint_get_name (quoit_report_get_reason_constraint (report, i)),
          quoit_report_get_reason_before (report, i), quoit_report_get_reason_after (report, i), why);

      append_line (lines, text);
    }
  for (uint32_t i = 0; i < quoit_report_get_n_misses (report); i++)
    {
      g_autofree char *available = quoit_amount_format (quoit_report_get_miss_available (report, i)),
                      *requested = quoit_amount_format (quoit_report_get_miss_requested (report, i));
      g_autofree char *text
          = g_strdup_printf ("  nearest: %s has %s of %s %s left", quoit_report_get_miss_node (report, i), available,
                             requested, quoit_report_get_miss_resource (report, i));

      append_line (lines, text);
    }
  for (uint32_t i = 0; i < quoit_report_get_n_options (report); i++)
    {
      g_autofree char *option = quoit_report_dup_option_text (report, i);
      g_autofree char *names = order_names (report, i);
      g_autofree char *text = g_strconcat ("  would help: ", option, names, NULL);

      append_line (lines, text);
    }
  return g_string_free (lines, FALSE);
}

static const Column error_columns[] = {
  { "code", "error", CELL_TEXT },
  { "status", "exit status", CELL_NUMBER },
  { "message", "message", CELL_TEXT },
};

void
error_describe (int code, const char *message, Document *document)
{
  Table *facts = table_new (error_columns, G_N_ELEMENTS (error_columns));

  table_add_text (facts, quoit_error_code_name ((QuoitErrorCode) code));
  table_add_number (facts, code);
  table_add_text (facts, message);
  document_take_object (document, "error", NULL, facts);
}

bool
explain_refusal (Session *session, QuoitReport *report, GError **error)
{
  g_autoptr (GError) print_error = NULL;
  Document *document;

  if (report == NULL)
    return false;
  session->explanation = report_explain (report);
  if (!session_wants_json (session))
    return false;
  document = document_new ();
  error_describe ((*error)->code, (*error)->message, document);
  report_describe (report, NULL, document);
  if (!session_print (session, document, &print_error))
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&print_error));
    }
  return false;
}
