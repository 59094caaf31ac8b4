/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/made.h"

#include "placement/cubes/cubes.h"
#include "placement/cut/plan.h"
#include "placement/start.h"

static gboolean
are_joined (const QuoitRequest *request)
{
  return request->cubes != QUOIT_CUBES_NONE;
}

gboolean
quoit_made_fit (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result)
{
  if (!are_joined (request))
    return quoit_cut_fits (fleet, request, result);
  if (result != NULL)
    *result = QUOIT_PLACEMENT_NONE;
  return quoit_cubes_fit (fleet, request);
}

gboolean
quoit_made_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes)
{
  return are_joined (request) ? quoit_cubes_choose_nodes (fleet, request, n, nodes)
                              : quoit_cut_choose_nodes (fleet, request, n, nodes);
}

gboolean
quoit_made_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                 GError **error)
{
  return are_joined (request) ? quoit_cubes_test (fleet, request, verdict, n_free, error)
                              : quoit_cut_test (fleet, request, verdict, n_free, error);
}

gboolean
quoit_made_check_ever (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GError **error)
{
  const QuoitFreeHosts ever = { fleet, QUOIT_NODE_DEAD, TRUE };
  guint32 least, most;

  return (are_joined (request) ? quoit_cubes_count_ever (fleet, request, n, &most, error)
                               : quoit_cut_count (&ever, request, n, &least, &most, error))
         && (most >= n || quoit_start_fail_never (request, most, error));
}

QuoitReport *
quoit_explain_made_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  return are_joined (request) ? quoit_explain_cubes_without_options (fleet, request, error)
                              : quoit_explain_cut_without_options (fleet, request, error);
}

QuoitReport *
quoit_explain_made (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  QuoitReport *report = quoit_explain_made_without_options (fleet, request, error);

  if (report != NULL)
    quoit_report_find_options_later (report, fleet, request);
  return report;
}

void
quoit_made_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  if (are_joined (request))
    quoit_cubes_find_options (report, fleet, request);
  else
    quoit_cut_find_options (report, fleet, request);
}
