/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/alternatives.h"

#include "placement/ahead-moves.h"
#include "placement/made.h"
#include "placement/domains.h"
#include "placement/explain-bundles.h"
#include "placement/trial.h"

/* --- reports --- */

static void
other_clear (gpointer data)
{
  QuoitOtherReport *other = data;

  g_clear_pointer (&other->report, quoit_report_unref);
  g_clear_error (&other->error);
}

GArray *
quoit_alternative_reports_new (void)
{
  GArray *reports = g_array_new (FALSE, TRUE, sizeof (QuoitOtherReport));

  g_array_set_clear_func (reports, other_clear);
  return reports;
}

/* Returns the first of @n alternatives with verdict FITS, else with NOT_NOW, else 0. */
static guint
find_deciding (const QuoitVerdict *verdicts, guint n)
{
  for (guint i = 0; i < n; i++)
    if (verdicts[i] == QUOIT_VERDICT_FITS)
      return i;
  for (guint i = 0; i < n; i++)
    if (verdicts[i] == QUOIT_VERDICT_NOT_NOW)
      return i;
  return 0;
}

guint
quoit_alternative_reports_find (const GArray *reports)
{
  QuoitVerdict verdicts[QUOIT_MAX_ALTERNATIVES + 1];

  for (guint i = 0; i < reports->len; i++)
    {
      const QuoitOtherReport *report = &g_array_index (reports, QuoitOtherReport, i);

      verdicts[i] = report->error == NULL                                               ? report->report->verdict
                    : g_error_matches (report->error, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW) ? QUOIT_VERDICT_NOT_NOW
                                                                                        : QUOIT_VERDICT_NEVER;
    }
  return find_deciding (verdicts, reports->len);
}

QuoitReport *
quoit_alternative_reports_join (GArray *reports, guint alternative)
{
  QuoitReport *report = g_steal_pointer (&g_array_index (reports, QuoitOtherReport, alternative).report);

  if (report == NULL)
    return g_array_unref (reports), NULL;
  report->alternative = alternative;
  report->others = reports;
  return report;
}

/* --- explaining --- */

/* Returns the fleet that decides about the request. The caller owns the reference. */
static QuoitFleet *
fleet_seen_by (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms)
{
  QuoitFleet *seen = quoit_fleet_seen_by (fleet, request, now_ms);

  return seen != NULL ? seen : quoit_fleet_ref ((QuoitFleet *) fleet);
}

static QuoitReport *
explain_alternative (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitFleet) seen = NULL;
  QuoitReport *report;

  if (!quoit_request_check_complete (request, error) || !quoit_request_check_near (fleet, request, error))
    return NULL;
  seen = fleet_seen_by (fleet, request, now_ms);
  if (quoit_request_makes_slices (request))
    report = quoit_explain_made (seen, request, error);
  else
    report = request->bundles->len > 0 ? quoit_explain_bundles (seen, request, error)
                                       : quoit_explain_slices (seen, request, error);
  if (report != NULL)
    quoit_report_try_options (report, fleet, request, now_ms, quoit_request_latest_end (request, now_ms));
  return report;
}

QuoitReport *
quoit_explain_request (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GError **error)
{
  g_autoptr (GArray) reports = NULL;
  guint deciding;

  if (request->alternatives == NULL)
    return explain_alternative (fleet, request, now_ms, error);
  if (!quoit_request_check_complete (request, error))
    return NULL;
  reports = quoit_alternative_reports_new ();
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    {
      QuoitOtherReport own = { NULL, NULL };

      own.report = explain_alternative (fleet, quoit_request_alternative (request, i), now_ms, &own.error);
      g_array_append_val (reports, own);
    }
  deciding = quoit_alternative_reports_find (reports);
  if (g_array_index (reports, QuoitOtherReport, deciding).error != NULL)
    {
      g_propagate_error (error, g_error_copy (g_array_index (reports, QuoitOtherReport, deciding).error));
      return NULL;
    }
  return quoit_alternative_reports_join (g_steal_pointer (&reports), deciding);
}

/* --- testing --- */

static gboolean
test_alternative (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitVerdict *verdict,
                  guint32 *n_free, GError **error)
{
  g_autoptr (QuoitFleet) seen = NULL;

  if (!quoit_request_check_near (fleet, request, error))
    return FALSE;
  seen = fleet_seen_by (fleet, request, now_ms);
  return quoit_request_makes_slices (request) ? quoit_made_test (seen, request, verdict, n_free, error)
                                              : quoit_test_slices (seen, request, verdict, n_free, error);
}

static gboolean
check_slices (const QuoitRequest *request, GError **error)
{
  if (!quoit_request_check_complete (request, error))
    return FALSE;
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    if (quoit_request_alternative (request, i)->bundles->len > 0)
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "alternative %u is for bundles: expected slices; explain the request instead", i);
  return TRUE;
}

gboolean
quoit_test_request (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitVerdict *verdict,
                    guint32 *n_free, GError **error)
{
  QuoitVerdict verdicts[QUOIT_MAX_ALTERNATIVES + 1] = { 0 };
  guint32 free_slices[QUOIT_MAX_ALTERNATIVES + 1] = { 0 };
  g_autoptr (GError) first_error = NULL;
  guint deciding;

  if (request->alternatives == NULL)
    return test_alternative (fleet, request, now_ms, verdict, n_free, error);
  if (!check_slices (request, error))
    return FALSE;
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    if (!test_alternative (fleet, quoit_request_alternative (request, i), now_ms, &verdicts[i], &free_slices[i],
                           i == 0 ? &first_error : NULL))
      verdicts[i] = QUOIT_VERDICT_NEVER;
  deciding = find_deciding (verdicts, quoit_request_n_alternatives (request));
  if (deciding == 0 && first_error != NULL)
    return g_propagate_error (error, g_steal_pointer (&first_error)), FALSE;
  if (verdict != NULL)
    *verdict = verdicts[deciding];
  if (n_free != NULL)
    *n_free = free_slices[deciding];
  return TRUE;
}
