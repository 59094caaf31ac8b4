/* SPDX-License-Identifier: Apache-2.0 */
#include "report-view.h"
#include "request-parts.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_auto (RequestOptions) options = { 0 };
  g_auto (RequestParts) parts = { 0 };
  g_autofree GOptionEntry *entries = request_entries (&options);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;
  Document *document;

  if (!request_parts_take (&parts, session, error) || !session_parse (session, entries, error)
      || !request_parts_parse (&parts, session, &options, error) || !session_check (session, error)
      || !request_parts_complete_near (&parts, &options, session, NULL, error))
    return false;
  request = request_build_with_lease (&options, "fits", error);
  if (request == NULL || !request_parts_add_alternatives (&parts, "fits", request, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  report = quoit_snapshot_explain (snapshot, request, error);
  if (report == NULL)
    return false;

  document = document_new ();
  report_describe (report, NULL, document);
  session->exit_status = (int) quoit_report_get_verdict (report);
  return session_print (session, document, error);
}

const Verb verb_fits = {
  "fits",
  "",
  "check whether a request fits, and if not, why",
  "--accelerator, --topology and --slices are required, or --bundle. The exit status is 0 if the request fits,\n"
  "5 if it does not fit now, and 6 if it never fits.",
  0,
  0,
  run,
};
