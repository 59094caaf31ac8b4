/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nodes that may take bundles, and builds a view of them. */
#include "placement/view.h"

#include <stdlib.h>
#include <string.h>

/* --- the candidates --- */

typedef struct {
  QuoitFleetView *view;
  QuoitViewTime time;
  QuoitNodeRules rules;
  gboolean has_rules;
  guint32 n, room;
} Gathering;

/* Whether a live node or a later one has the place of this dead node. Such a node must not be counted twice. */
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
is_candidate (const Gathering *gathering, guint32 node)
{
  const QuoitFleet *fleet = gathering->view->fleet;

  if (gathering->time == QUOIT_VIEW_NOW ? quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE
                                        : is_replaced (fleet, node))
    return FALSE;
  return !gathering->has_rules
         || quoit_node_rules_first_broken (&gathering->rules, (QuoitNodeId) { node }) == QUOIT_N_CONSTRAINTS;
}

static void
gather (Gathering *gathering, guint32 first, guint32 end)
{
  if (gathering->n + (end - first) > gathering->room)
    {
      gathering->room = MAX (2 * gathering->room, gathering->n + (end - first));
      gathering->view->nodes = g_renew (guint32, gathering->view->nodes, gathering->room);
    }
  for (guint32 i = first; i < end; i++)
    if (is_candidate (gathering, i))
      gathering->view->nodes[gathering->n++] = i;
}

/* Returns the number of candidates, including omitted ones. Stops counting when more cannot change a decision. */
static guint32
count_candidates (const Gathering *gathering)
{
  /* In a repair, nodes with other bundles of the group are excluded later. */
  guint32 n = 0, enough = MAX (gathering->view->request->bundles->len, 1);

  for (guint32 i = 0; i < gathering->view->fleet->layout->n_nodes && n < enough; i++)
    n += is_candidate (gathering, i);
  return MAX (n, gathering->n);
}

/* Returns the slices that the request names or its bundles select; the caller owns the array. Returns NULL for nodes
 * of any slice. With a topology label, nodes that bundles cannot use must not be omitted, because all nodes of a
 * value are summed up. */
static GArray *
limit_to_slices (const Gathering *gathering, const guint32 *which)
{
  const QuoitRequest *request = gathering->view->request;
  GArray *slices;

  if (gathering->has_rules && gathering->rules.named != NULL)
    {
      slices = g_array_new (FALSE, FALSE, sizeof (guint32));
      for (guint32 s = 0; s < gathering->view->fleet->layout->n_slices; s++)
        if (gathering->rules.named[s])
          g_array_append_val (slices, s);
      return slices;
    }
  return request->topology_label == NULL ? quoit_fleet_view_slices (gathering->view, which) : NULL;
}

static void
gather_candidates (Gathering *gathering, const guint32 *which)
{
  const QuoitLayout *layout = gathering->view->fleet->layout;
  g_autoptr (GArray) slices = limit_to_slices (gathering, which);

  if (slices == NULL)
    gather (gathering, 0, layout->n_nodes);
  for (guint i = 0; slices != NULL && i < slices->len; i++)
    {
      const QuoitSlice *slice = &layout->slices[g_array_index (slices, guint32, i)];

      gather (gathering, slice->first_node, slice->first_node + slice->n_nodes);
    }
  gathering->view->view.n_nodes = gathering->n;
  gathering->view->view.n_candidates = slices == NULL ? gathering->n : count_candidates (gathering);
}

/* --- the view --- */

static void
note_slices (QuoitFleetView *view)
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

  view->standing.soft_target = QUOIT_NO_INDEX;
  if (view->request->soft_target == NULL)
    return TRUE;
  if (!quoit_layout_lookup_node (view->fleet->layout, view->request->soft_target, &node, error))
    return g_prefix_error (error, "soft target: "), FALSE;
  view->standing.soft_target = quoit_fleet_view_find (view, node);
  return TRUE;
}

gboolean
quoit_fleet_view_init (QuoitFleetView *view, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *which,
                       guint32 n, QuoitViewTime time, GError **error)
{
  Gathering gathering = { .view = view, .time = time, .has_rules = !quoit_node_rules_are_none (request) };

  *view = (QuoitFleetView) { .fleet = fleet, .request = request };
  if (gathering.has_rules && !quoit_node_rules_init (&gathering.rules, fleet->layout, request, error))
    return FALSE;
  view->standing = (QuoitStanding) { .strategy = request->strategy,
                                     .soft_target = QUOIT_NO_INDEX,
                                     .n_values = request->n_topology_values,
                                     .bound = QUOIT_NO_INDEX };
  quoit_fleet_view_ask (view, which, n);
  gather_candidates (&gathering, which);
  if (gathering.has_rules)
    quoit_node_rules_clear (&gathering.rules);
  quoit_fleet_view_filter (view, which);
  quoit_fleet_view_divide (view);
  quoit_fleet_view_measure (view, time);
  note_slices (view);
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
  g_free ((QuoitUnits *) view->view.units);
  g_free ((guint64 *) view->standing.excluded);
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
quoit_fleet_view_exclude (QuoitFleetView *view, QuoitNodeId node)
{
  guint32 i = quoit_fleet_view_find (view, node);

  if (view->standing.excluded == NULL)
    view->standing.excluded = g_new0 (guint64, quoit_view_words (&view->view) + 1);
  if (i != QUOIT_NO_INDEX)
    ((guint64 *) view->standing.excluded)[i / 64] |= (guint64) 1 << (i % 64);
}
