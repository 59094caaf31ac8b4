/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a request that may be cut. Its slices are counted as the parts that fit at once. */
#include "placement/cut/plan.h"

#include "placement/constraint.h"
#include "placement/cut/sources.h"
#include "placement/explain-bundles.h"
#include "placement/quota.h"

typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitReport *report;
  const GArray *sources; /* of QuoitCutSource */
} Explanation;

/* Returns how many parts fit at once on the hosts that count. @most: see quoit_cut_count(); NULL: not wanted. */
static guint32
count (const Explanation *explanation, QuoitNodeState worst, gboolean ignores_use, guint32 *most)
{
  const QuoitFreeHosts rule = { explanation->fleet, worst, ignores_use };
  guint32 least, other_most;

  quoit_cut_count_in (&rule, explanation->sources, G_MAXUINT32, &least, most != NULL ? most : &other_most);
  return least;
}

static void
add_reason (const Explanation *explanation, QuoitConstraint constraint, guint32 before, guint32 after)
{
  quoit_report_add_reason (explanation->report, explanation->request, quoit_constraint_position (constraint), before,
                           after);
}

/* Adds why slices of the fleet cannot be cut: these reasons count slices of the fleet. */
static void
add_hardware_reasons (const Explanation *explanation)
{
  const QuoitLayout *layout = explanation->fleet->layout;
  guint32 n_of_generation = 0, n_large = 0, n_left = 0;

  for (guint32 c = 0; c < layout->n_classes; c++)
    if (layout->classes[c].facts.generation == explanation->request->generation)
      n_of_generation += layout->classes[c].n_slices;
  for (guint i = 0; i < explanation->sources->len; i++)
    {
      n_large += g_array_index (explanation->sources, QuoitCutSource, i).n_slices;
      n_left += g_array_index (explanation->sources, QuoitCutSource, i).slices->len;
    }
  add_reason (explanation, QUOIT_CONSTRAINT_ACCELERATOR, layout->n_slices, n_of_generation);
  add_reason (explanation, QUOIT_CONSTRAINT_TOPOLOGY, n_of_generation, n_large);
  /* The rules together removed the rest. The first of them is named. */
  for (guint c = 0; c < quoit_n_constraints && n_left < n_large; c++)
    if (quoit_constraints[c].is_used != NULL && quoit_constraints[c].is_used (explanation->request))
      {
        quoit_report_add_reason (explanation->report, explanation->request, c, n_large, n_left);
        return;
      }
}

/* Lists the hosts of all sources that are not free. */
static void
list_obstacles (const QuoitFleet *fleet, const GArray *sources, GArray *nodes)
{
  for (guint i = 0; i < sources->len; i++)
    {
      const GArray *slices = g_array_index (sources, QuoitCutSource, i).slices;

      for (guint s = 0; s < slices->len; s++)
        {
          const QuoitSlice *slice = &fleet->layout->slices[g_array_index (slices, guint32, s)];

          for (guint32 n = slice->first_node; n < slice->first_node + slice->n_nodes; n++)
            if (quoit_fleet_node_state (fleet, (QuoitNodeId) { n }) != QUOIT_NODE_ALIVE
                || quoit_fleet_node_use (fleet, (QuoitNodeId) { n }) != QUOIT_USE_NONE)
              g_array_append_val (nodes, n);
        }
    }
}

void
quoit_cut_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (fleet, request, NULL);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (sources == NULL)
    return;
  list_obstacles (fleet, sources, nodes);
  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_find_bundle_options (report, fleet, request, (const guint32 *) (const void *) nodes->data, nodes->len);
  if (report->n_free_now < report->n_wanted)
    quoit_report_add_fewer_slices (report);
}

/* Returns the quota that does not admit the parts: a quota for one class decides about the places that would be chosen
 * without quotas. */
static guint
find_full_quota (const Explanation *explanation, const QuoitQuotaSlices *admitted)
{
  const guint32 n_wanted = explanation->report->n_wanted;
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitFleet) without = NULL;

  if (admitted->n_now < n_wanted)
    return admitted->now_quota;
  without = quoit_fleet_fork (explanation->fleet);
  quoit_fleet_drop_quotas (without);
  if (!quoit_cut_choose_nodes (without, explanation->request, n_wanted, nodes))
    return admitted->now_quota;
  return quoit_quota_admit_parts (explanation->fleet, explanation->request, nodes).quota;
}

/* Adds that a quota does not admit the parts, if that decides. Placement alone would have @n_now parts now, and at most
 * @most_ever at some time. */
static void
add_quota_reason (const Explanation *explanation, const QuoitQuotaSlices *admitted, guint32 n_now, guint32 most_ever)
{
  QuoitReport *report = explanation->report;
  const guint position = quoit_constraint_position (QUOIT_CONSTRAINT_QUOTA);
  const gboolean fits_without = n_now >= report->n_wanted;
  guint quota;

  if (report->verdict == QUOIT_VERDICT_NEVER && most_ever >= report->n_wanted)
    quoit_report_add_detailed_reason (report, position,
                                      quoit_quota_describe_limit (explanation->fleet, admitted->ever_quota), most_ever,
                                      admitted->n_ever);
  else if (report->verdict == QUOIT_VERDICT_NOT_NOW && (fits_without || admitted->n_now < report->n_wanted))
    {
      quota = find_full_quota (explanation, admitted);
      if (quota != G_MAXUINT)
        quoit_report_add_detailed_reason (report, position, quoit_quota_describe (explanation->fleet, quota),
                                          fits_without ? n_now : report->n_possible,
                                          fits_without ? report->n_free_now : admitted->n_now);
    }
}

static void
explain (const Explanation *explanation)
{
  QuoitReport *report = explanation->report;
  guint32 most_ever;
  const guint32 n_now = count (explanation, QUOIT_NODE_ALIVE, FALSE, NULL),
                n_alive = count (explanation, QUOIT_NODE_ALIVE, TRUE, NULL),
                n_undrained = count (explanation, QUOIT_NODE_DRAINING, TRUE, NULL),
                n_ever = count (explanation, QUOIT_NODE_DEAD, TRUE, &most_ever);
  QuoitQuotaSlices admitted;

  report->n_free_now = quoit_cut_count_admitted (explanation->fleet, explanation->request, n_now, &admitted);
  report->n_possible = MIN (most_ever, admitted.n_ever);
  quoit_report_set_made_verdict (report, n_ever);
  add_hardware_reasons (explanation);
  add_reason (explanation, QUOIT_CONSTRAINT_INTACT, n_ever, MIN (n_ever, n_undrained));
  add_reason (explanation, QUOIT_CONSTRAINT_DRAINING, n_undrained, MIN (n_undrained, n_alive));
  add_reason (explanation, QUOIT_CONSTRAINT_ALLOCATED, n_alive, MIN (n_alive, n_now));
  add_quota_reason (explanation, &admitted, n_now, most_ever);
  report->counts_parts = TRUE;
  quoit_report_put_main_first (report);
}

QuoitReport *
quoit_explain_cut_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (fleet, request, error);
  QuoitReport *report;

  if (sources == NULL)
    return NULL;
  report = quoit_report_alloc (quoit_request_min_slices (request));
  explain (&(const Explanation) { fleet, request, report, sources });
  return report;
}
