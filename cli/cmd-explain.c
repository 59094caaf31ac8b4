/* SPDX-License-Identifier: Apache-2.0 */
#include "group-names.h"
#include "report-view.h"
#include "request-parts.h"
#include "text.h"
#include "verbs.h"

/* What the answer about a group has in addition to the report; all NULL for a request. */
typedef struct {
  char *handle;        /* NAME@ID */
  char *repair;        /* a sentence: the command that gives the group what it has lost; NULL: none */
  char *hold_and_wait; /* see quoit_snapshot_dup_hold_and_wait(); NULL: none */
} Remarks;

static void
remarks_clear (Remarks *remarks)
{
  g_free (remarks->handle);
  g_free (remarks->repair);
  g_free (remarks->hold_and_wait);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Remarks, remarks_clear)

static QuoitReport *
explain_group (Session *session, Remarks *remarks, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);
  g_autoptr (QuoitGroup) group = snapshot == NULL ? NULL : group_find (snapshot, session->words[0], error);
  const char *handle = group == NULL ? NULL : quoit_group_get_handle (group);
  QuoitReport *report = group == NULL ? NULL : quoit_snapshot_explain_group (snapshot, handle, error);

  remarks->handle = g_strdup (handle);
  if (report != NULL && session->at == NULL && quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS
      && quoit_group_get_source (group)[0] == '\0')
    remarks->repair = g_strdup_printf ("'quoit repair %s' would succeed now", session->words[0]);
  else if (report != NULL)
    remarks->hold_and_wait = quoit_snapshot_dup_hold_and_wait (snapshot, handle, NULL);
  if (g_strcmp0 (remarks->hold_and_wait, "") == 0)
    g_clear_pointer (&remarks->hold_and_wait, g_free);
  return report;
}

static QuoitReport *
explain_request (Session *session, RequestOptions *options, const RequestParts *parts, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!request_parts_complete_near (parts, options, session, NULL, error))
    return NULL;
  request = request_build_with_lease (options, "explain", error);
  if (request == NULL || !request_parts_add_alternatives (parts, "explain", request, error))
    return NULL;
  snapshot = session_snapshot (session, error);
  return snapshot == NULL ? NULL : quoit_snapshot_explain (snapshot, request, error);
}

static const Column hold_columns[] = {
  { "hold_and_wait", NULL, CELL_TEXT },
};

/* The sentences come first. In JSON, only an answer about a group has the member. */
static void
describe_remarks (Document *document, const Remarks *remarks)
{
  Table *facts = table_new (hold_columns, G_N_ELEMENTS (hold_columns));

  table_add_text (facts, remarks->hold_and_wait);
  if (remarks->repair != NULL)
    document_take_sentence (document, g_strdup (remarks->repair));
  if (remarks->hold_and_wait != NULL)
    document_take_sentence (document, g_strdup (remarks->hold_and_wait));
  document_take_facts (document, facts);
}

static bool
run (Session *session, GError **error)
{
  g_auto (RequestOptions) options = { 0 };
  g_auto (RequestParts) parts = { 0 };
  g_autofree GOptionEntry *entries = request_entries (&options);
  g_autoptr (QuoitReport) report = NULL;
  g_auto (Remarks) remarks = { NULL, NULL, NULL };
  Document *document;

  if (!request_parts_take (&parts, session, error) || !session_parse (session, entries, error)
      || !request_parts_parse (&parts, session, &options, error) || !session_check (session, error))
    return false;
  if (session->words[0] != NULL && (!request_is_empty (&options) || parts.list->len > 0))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "group '%s' and request options (--topology, ...): expected one of them, not both",
                   session->words[0]);
      return false;
    }
  if (session->words[0] == NULL && request_is_empty (&options) && parts.list->len == 0)
    return text_refuse_usage (error,
                              "expected a GROUP, or a request, such as --accelerator v6e --topology 4x4 --slices 1");
  report = session->words[0] != NULL ? explain_group (session, &remarks, error)
                                     : explain_request (session, &options, &parts, error);
  if (report == NULL)
    return false;
  document = document_new ();
  if (session->words[0] != NULL)
    describe_remarks (document, &remarks);
  report_describe (report, remarks.handle, document);
  return session_print (session, document, error);
}

const Verb verb_explain = {
  "explain",
  "[GROUP]",
  "explain why a request, or a waiting group, is not placed",
  "Takes the request options of reserve, or the name of a GROUP that has lost slices or nodes, or has bundles\n"
  "that are not placed. The exit status is 0 for every verdict, unlike that of fits.",
  0,
  1,
  run,
};
