/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nodes that may take bundles, and builds a view of them. */
#include "placement/view.h"

#include <stdlib.h>
#include <string.h>

/* --- the candidates --- */

/* The state of find_candidates(). The candidates are written to view->nodes. */
typedef struct {
  QuoitFleetView *view;
  QuoitViewTime time;
  QuoitNodeRules rules;
  gboolean has_rules;
  guint32 n, capacity;
} CandidateSearch;

/* Whether the node is dead and another node, alive or later in the layout, is the same worker of the slice. One
 * worker must not be counted twice. */
static gboolean
is_replaced (const QuoitFleet *fleet, guint32 node)
{
  const QuoitNode *nodes = fleet->layout->nodes;
  guint32 slice = nodes[node].slice, end = fleet->layout->n_nodes;

  if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_DEAD || slice == QUOIT_NO_INDEX
      || nodes[node].worker_id < 0)
    return FALSE;
  /* Nodes with the same worker id are adjacent. */
  if (node + 1 < end && nodes[node + 1].slice == slice && nodes[node + 1].worker_id == nodes[node].worker_id)
    return TRUE;
  for (guint32 i = node; i > 0 && nodes[i - 1].slice == slice && nodes[i - 1].worker_id == nodes[node].worker_id; i--)
    if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i - 1 }) != QUOIT_NODE_DEAD)
      return TRUE;
  return FALSE;
}

static gboolean
is_candidate (const CandidateSearch *search, guint32 node)
{
  const QuoitFleet *fleet = search->view->fleet;

  if (search->time == QUOIT_VIEW_NOW ? quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE
                                     : is_replaced (fleet, node))
    return FALSE;
  return !search->has_rules
         || quoit_node_rules_first_broken (&search->rules, (QuoitNodeId) { node }) == QUOIT_NO_CONSTRAINT;
}

static void
add_candidates (CandidateSearch *search, guint32 first, guint32 end)
{
  if (search->n + (end - first) > search->capacity)
    {
      search->capacity = MAX (2 * search->capacity, search->n + (end - first));
      search->view->nodes = g_renew (guint32, search->view->nodes, search->capacity);
    }
  for (guint32 i = first; i < end; i++)
    if (is_candidate (search, i))
      search->view->nodes[search->n++] = i;
}

/* Returns the number of candidates, including omitted ones. Stops at one candidate per bundle, because more cannot
 * change a decision. */
static guint32
count_candidates (const CandidateSearch *search)
{
  /* Count for all bundles of the request, because a repair later excludes the nodes of bundles that stay. */
  guint32 n = 0, enough = MAX (search->view->request->bundles->len, 1);

  for (guint32 i = 0; i < search->view->fleet->layout->n_nodes && n < enough; i++)
    n += is_candidate (search, i);
  return MAX (n, search->n);
}

/* Returns the slices that contain all candidates: those that the request names, or those to which selectors limit all
 * bundles. The caller owns the array. Returns NULL if nodes of any slice are candidates. If the request has a topology
 * label, selectors must not omit nodes, because Ray adds up the amounts of all nodes with one value of the label. */
static GArray *
limit_to_slices (const CandidateSearch *search, const guint32 *which)
{
  const QuoitRequest *request = search->view->request;
  GArray *slices;

  if (search->has_rules && search->rules.named != NULL)
    {
      slices = g_array_new (FALSE, FALSE, sizeof (guint32));
      for (guint32 w = 0; w <= search->view->fleet->layout->n_slices / 64; w++)
        for (guint64 word = search->rules.named[w]; word != 0; word &= word - 1)
          {
            guint32 slice = w * 64 + (guint32) __builtin_ctzll (word);

            g_array_append_val (slices, slice);
          }
      return slices;
    }
  return request->topology_label == NULL ? quoit_fleet_view_find_slices (search->view, which) : NULL;
}

static void
find_candidates (CandidateSearch *search, const guint32 *which)
{
  const QuoitLayout *layout = search->view->fleet->layout;
  g_autoptr (GArray) slices = limit_to_slices (search, which);

  if (slices == NULL)
    add_candidates (search, 0, layout->n_nodes);
  for (guint i = 0; slices != NULL && i < slices->len; i++)
    {
      const QuoitSlice *slice = &layout->slices[g_array_index (slices, guint32, i)];

      add_candidates (search, slice->first_node, slice->first_node + slice->n_nodes);
    }
  search->view->view.n_nodes = search->n;
  search->view->view.n_candidates = slices == NULL ? search->n : count_candidates (search);
}

/* --- the view --- */

static void
fill_slices (QuoitFleetView *view)
{
  guint32 *slice = g_new (guint32, view->view.n_nodes + 1);

  for (guint32 i = 0; i < view->view.n_nodes; i++)
    slice[i] = view->fleet->layout->nodes[view->nodes[i]].slice;
  view->view.slice = slice;
}

static gboolean
find_soft_target (QuoitFleetView *view, GError **error)
{
  QuoitNodeId node;

  view->rules.soft_target = QUOIT_NO_INDEX;
  if (view->request->soft_target == NULL)
    return TRUE;
  if (!quoit_layout_lookup_node (view->fleet->layout, view->request->soft_target, &node, error))
    return g_prefix_error (error, "soft target: "), FALSE;
  view->rules.soft_target = quoit_fleet_view_find (view, node);
  return TRUE;
}

gboolean
quoit_fleet_view_init (QuoitFleetView *view, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *which,
                       guint32 n, QuoitViewTime time, GError **error)
{
  CandidateSearch search = { .view = view, .time = time, .has_rules = !quoit_node_rules_are_none (request) };

  *view = (QuoitFleetView) { .fleet = fleet, .request = request };
  if (search.has_rules && !quoit_node_rules_init (&search.rules, fleet->layout, request, error))
    return FALSE;
  view->rules = (QuoitPlacementRules) { .strategy = request->strategy,
                                        .soft_target = QUOIT_NO_INDEX,
                                        .n_values = request->n_topology_values,
                                        .required_domain = QUOIT_NO_INDEX };
  quoit_fleet_view_fill_requested (view, which, n);
  find_candidates (&search, which);
  if (search.has_rules)
    quoit_node_rules_clear (&search.rules);
  quoit_fleet_view_fill_filters (view, which);
  quoit_fleet_view_fill_domains (view);
  quoit_fleet_view_fill_amounts (view, time);
  fill_slices (view);
  if (find_soft_target (view, error))
    return TRUE;
  quoit_fleet_view_clear (view);
  return FALSE;
}

void
quoit_fleet_view_clear (QuoitFleetView *view)
{
  g_free ((char **) view->bundles.resources);
  g_free ((gint64 *) view->bundles.amounts);
  g_free ((guint32 *) view->bundles.filter);
  g_free ((gint64 *) view->view.total);
  g_free ((gint64 *) view->view.available);
  g_free ((guint64 *) view->view.passes);
  g_free ((guint32 *) view->view.domain);
  g_free ((guint32 *) view->view.slice);
  g_free ((QuoitNodeChips *) view->view.chips);
  g_free ((guint64 *) view->rules.excluded);
  g_free (view->nodes);
  g_clear_pointer (&view->domains, g_array_unref);
  g_clear_pointer (&view->texts, g_string_chunk_free);
  *view = (QuoitFleetView) { 0 };
}

static int
by_index (const void *a, const void *b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

guint32
quoit_fleet_view_find (const QuoitFleetView *view, QuoitNodeId node)
{
  const guint32 *found = view->view.n_nodes == 0
                             ? NULL
                             : bsearch (&node.index, view->nodes, view->view.n_nodes, sizeof node.index, by_index);

  return found == NULL ? QUOIT_NO_INDEX : (guint32) (found - view->nodes);
}

void
quoit_fleet_view_exclude_node (QuoitFleetView *view, QuoitNodeId node)
{
  guint32 i = quoit_fleet_view_find (view, node);

  if (view->rules.excluded == NULL)
    view->rules.excluded = g_new0 (guint64, quoit_view_words (&view->view) + 1);
  if (i != QUOIT_NO_INDEX)
    ((guint64 *) view->rules.excluded)[i / 64] |= (guint64) 1 << (i % 64);
}
