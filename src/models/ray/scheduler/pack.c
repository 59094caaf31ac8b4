/* SPDX-License-Identifier: Apache-2.0 */
/* PACK: the first bundle in the order gets the best node, together with all others that fit there. This repeats
 * until all bundles are placed. */
#include "models/ray/scheduler/private.h"

#include <string.h>

/* Consecutive equal bundles. If one does not fit, none does. */
typedef struct {
  guint32 first, n; /* in the order */
} Run;

static gboolean
are_equal (const QuoitBundles *bundles, guint32 a, guint32 b)
{
  gsize n = bundles->n_resources;

  return (bundles->filter == NULL || bundles->filter[a] == bundles->filter[b])
         && (n == 0 || memcmp (bundles->amounts + a * n, bundles->amounts + b * n, n * sizeof (gint64)) == 0);
}

static guint32
make_runs (const QuoitRayAttempt *attempt, Run *runs)
{
  const QuoitBundles *bundles = attempt->bundles;
  guint32 n = 0;

  for (guint32 i = 0; i < bundles->n_bundles; i++)
    if (i > 0 && are_equal (bundles, attempt->order[i - 1], attempt->order[i]))
      runs[n - 1].n++;
    else
      runs[n++] = (Run) { i, 1 };
  return n;
}

/* Like quoit_ray_demand_fits(), but for any bundle. Setting the demand first would cost more, because most bundles do
 * not fit. */
static gboolean
fits (QuoitRayAttempt *attempt, guint32 bundle, guint32 node, const gint64 *row)
{
  const QuoitBundles *bundles = attempt->bundles;
  const gint64 *amounts = quoit_ray_row (attempt, bundles->amounts, bundle);

  attempt->n_tests++;
  for (guint32 r = 0; r < bundles->n_resources; r++)
    if (amounts[r] != 0 && row[r] < amounts[r])
      return FALSE;
  return quoit_view_passes (attempt->view, bundles, bundle, node);
}

static void
subtract_bundle (const QuoitRayAttempt *attempt, guint32 bundle, gint64 *row)
{
  const gint64 *amounts = quoit_ray_row (attempt, attempt->bundles->amounts, bundle);

  for (guint32 r = 0; r < attempt->bundles->n_resources; r++)
    if (amounts[r] != 0)
      row[r] = quoit_ray_subtract (row[r], amounts[r]);
}

/* Places what fits on @node, which has @row left, and removes empty runs from @runs. Returns the number of remaining
 * runs. */
static guint32
fill (QuoitRayAttempt *attempt, Run *runs, guint32 n, guint32 node, gint64 *row, guint32 *nodes)
{
  guint32 left = 0;

  for (guint32 i = 0; i < n; i++)
    {
      Run run = runs[i];

      while (run.n > 0 && fits (attempt, attempt->order[run.first], node, row))
        {
          subtract_bundle (attempt, attempt->order[run.first], row);
          nodes[attempt->order[run.first]] = node;
          run.first++;
          run.n--;
        }
      if (run.n > 0)
        runs[left++] = run;
    }
  return left;
}

QuoitRayResult
quoit_ray_pack (QuoitRayAttempt *attempt, guint32 *nodes)
{
  gsize n_resources = attempt->bundles->n_resources;
  g_autofree Run *runs = g_new (Run, attempt->bundles->n_bundles);
  g_autofree gint64 *row = g_new0 (gint64, n_resources + 1);
  guint32 n = make_runs (attempt, runs);

  if (!quoit_ray_is_each_feasible (attempt))
    return QUOIT_RAY_INFEASIBLE;
  while (n > 0)
    {
      guint32 bundle = attempt->order[runs[0].first], node;

      quoit_ray_set_demand (attempt, bundle);
      node = quoit_ray_find_best_node (attempt, bundle);
      if (node == QUOIT_NO_INDEX)
        return QUOIT_RAY_FAILED;
      memcpy (row, attempt->view->available + node * n_resources, n_resources * sizeof (gint64));
      n = fill (attempt, runs, n, node, row, nodes);
      quoit_ray_attempt_remove_candidate (attempt, node);
    }
  return QUOIT_RAY_SUCCESS;
}
