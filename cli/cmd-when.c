/* SPDX-License-Identifier: Apache-2.0 */
#include "request-parts.h"
#include "text.h"
#include "verbs.h"

static const Column fact_columns[] = {
  { "start", NULL, CELL_TEXT },         { NULL, "start", CELL_TEXT },         { "assuming", "assuming", CELL_TEXT },
  { "alternative", NULL, CELL_NUMBER }, { NULL, "alternative", CELL_NUMBER },
};

static const Column end_columns[] = {
  { "group", "GROUP", CELL_TEXT },
  { "end", "END", CELL_TEXT },
  { "known_from", "KNOWN FROM", CELL_TEXT },
};

static Table *
start_facts (const QuoitStart *start)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  g_autofree char *time = text_format_time (quoit_start_get_time_ms (start));

  table_add_text (facts, time);
  table_add_text (facts, time == NULL ? "unknown; see quoit fits" : time);
  table_add_text (facts, time == NULL ? "groups without a known end do not end, and hosts stay as they are"
                                      : "nothing else is requested until then, and groups end as below");
  table_add_number (facts, quoit_start_get_alternative (start));
  if (quoit_start_get_alternative (start) == 0)
    table_skip (facts);
  else
    table_add_number (facts, quoit_start_get_alternative (start));
  return facts;
}

static Table *
start_ends (const QuoitStart *start)
{
  Table *ends = table_new (end_columns, G_N_ELEMENTS (end_columns));

  for (uint32_t i = 0; i < quoit_start_get_n_ends (start); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_start_dup_end_group (start, i);

      table_add_text (ends, quoit_group_get_handle (group));
      table_take_text (ends, text_format_time (quoit_start_get_end_ms (start, i)));
      table_add_text (ends, quoit_start_end_is_overdue (start, i)    ? "an estimate that has passed"
                            : quoit_start_end_is_estimate (start, i) ? "estimate"
                                                                     : "lease");
    }
  return ends;
}

static bool
run (Session *session, GError **error)
{
  g_auto (RequestOptions) options = { 0 };
  g_auto (RequestParts) parts = { 0 };
  g_autofree GOptionEntry *entries = request_entries (&options);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;
  Document *document;
  gint64 now_ms;

  if (!request_parts_take (&parts, session, error) || !session_parse (session, entries, error)
      || !request_parts_parse (&parts, session, &options, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error)
      || !request_parts_complete_near (&parts, &options, session, NULL, error))
    return false;
  request = request_build_with_lease (&options, "when", error);
  if (request == NULL || !request_parts_add_alternatives (&parts, "when", request, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  start = quoit_snapshot_find_start (snapshot, request, now_ms, error);
  if (start == NULL)
    return false;

  document = document_new ();
  document_take_facts (document, start_facts (start));
  document_take_csv_table (document, "ends", "waits for", start_ends (start));
  session->exit_status = quoit_start_get_time_ms (start) == 0 ? QUOIT_ERROR_NOT_NOW : 0;
  return session_print (session, document, error);
}

const Verb verb_when = {
  "when",
  "",
  "find when a request fits",
  "Groups end when they are expected to (reserve --expect), or else at the end of their lease. The exit status is\n"
  "0 if the time is known, 5 if it is not, for example because a group has no known end, and 6 if the\n"
  "request never fits.",
  0,
  0,
  run,
};
