/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/bundle-bounds.h"

#include <string.h>

#include "placement/ahead.h"

/* Further classes have no bound, because each takes memory and time for every node. */
enum { MAX_CLASSES = 4 };

typedef struct {
  guint32 bundle; /* the first one of the class */
  guint32 n;
  guint64 bound;
} BundleClass;

struct _QuoitBundleBounds {
  QuoitFleetView view; /* all nodes that can ever take a bundle */
  QuoitAmountReader *reader;
  gint64 *row; /* buffer */
  guint n_classes;
  BundleClass classes[MAX_CLASSES];
  guint32 *counts;   /* [node * n_classes + class]: how many the node can take, up to the number of the class */
  guint32 *promises; /* same layout: number of records that leave no room for one */
};

/* --- classes --- */

static void
find_classes (QuoitBundleBounds *bounds)
{
  guint c = 0;

  for (guint32 b = 0; b < bounds->view.bundles.n_bundles; b++)
    {
      if (!quoit_fleet_view_is_repeated (&bounds->view, b))
        for (c = 0; c < bounds->n_classes && !quoit_fleet_view_are_equal (&bounds->view, bounds->classes[c].bundle, b);
             c++)
          ;
      if (c == bounds->n_classes && c < MAX_CLASSES)
        bounds->classes[bounds->n_classes++] = (BundleClass) { .bundle = b };
      if (c < bounds->n_classes)
        bounds->classes[c].n++;
    }
}

/* Returns how many bundles of the class fit into @row, the amounts of a node, as far as this matters. */
static guint32
count_in_row (const QuoitBundleBounds *bounds, const BundleClass *class, const gint64 *row)
{
  const QuoitBundles *bundles = &bounds->view.bundles;
  const QuoitPlacementRules *rules = &bounds->view.rules;
  const gint64 *requested = quoit_fleet_view_amounts (&bounds->view, class->bundle);
  gint64 n = rules->strategy == QUOIT_STRATEGY_STRICT_SPREAD ? 1 : class->n;

  for (guint32 r = 0; r < bundles->n_resources; r++)
    if (requested[r] > 0)
      n = MIN (n, MAX (row[r], 0) / requested[r]);
  return (guint32) n;
}

/* --- nodes --- */

/* What the node adds to the bound of the class. */
static guint32
share_of (const QuoitBundleBounds *bounds, guint32 node, guint c)
{
  const gsize i = (gsize) node * bounds->n_classes + c;

  return bounds->promises[i] > 0 ? 0 : bounds->counts[i];
}

static void
read_node (QuoitBundleBounds *bounds, const QuoitFleet *fleet, guint32 node)
{
  if (quoit_fleet_node_state (fleet, (QuoitNodeId) { bounds->view.nodes[node] }) != QUOIT_NODE_ALIVE)
    return;
  quoit_amount_reader_read (bounds->reader, fleet, node, bounds->row);
  for (guint c = 0; c < bounds->n_classes; c++)
    {
      BundleClass *class = &bounds->classes[c];

      if (!quoit_view_passes (&bounds->view.view, &bounds->view.bundles, class->bundle, node))
        continue;
      class->bound -= share_of (bounds, node, c);
      bounds->counts[(gsize) node * bounds->n_classes + c] = count_in_row (bounds, class, bounds->row);
      class->bound += share_of (bounds, node, c);
    }
}

QuoitBundleBounds *
quoit_bundle_bounds_new (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitBundleBounds *bounds;
  gsize n;

  if (request->bundles->len == 0 || fleet->promised != NULL)
    return NULL;
  bounds = g_new0 (QuoitBundleBounds, 1);
  if (!quoit_fleet_view_init (&bounds->view, fleet, request, NULL, request->bundles->len, QUOIT_VIEW_EVER, NULL))
    return g_free (bounds), NULL;
  bounds->reader = quoit_amount_reader_new (&bounds->view);
  bounds->row = g_new (gint64, bounds->view.bundles.n_resources + 1);
  find_classes (bounds);
  n = (gsize) bounds->view.view.n_nodes * bounds->n_classes + 1;
  bounds->counts = g_new0 (guint32, n);
  bounds->promises = g_new0 (guint32, n);
  for (guint32 i = 0; i < bounds->view.view.n_nodes; i++)
    read_node (bounds, fleet, i);
  return bounds;
}

void
quoit_bundle_bounds_free (QuoitBundleBounds *bounds)
{
  if (bounds == NULL)
    return;
  quoit_amount_reader_free (bounds->reader);
  quoit_fleet_view_clear (&bounds->view);
  g_free (bounds->row);
  g_free (bounds->counts);
  g_free (bounds->promises);
  g_free (bounds);
}

gboolean
quoit_bundle_bounds_suffice (const QuoitBundleBounds *bounds)
{
  for (guint c = 0; bounds != NULL && c < bounds->n_classes; c++)
    if (bounds->classes[c].bound < bounds->classes[c].n)
      return FALSE;
  return TRUE;
}

/* Returns the index of the node in the view, or QUOIT_NO_INDEX. */
static guint32
find_node (const QuoitBundleBounds *bounds, guint32 id)
{
  const guint32 index = quoit_layout_find_id (bounds->view.fleet->layout, id);

  return index == QUOIT_NO_INDEX ? index : quoit_fleet_view_find (&bounds->view, (QuoitNodeId) { index });
}

void
quoit_bundle_bounds_update (QuoitBundleBounds *bounds, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  for (guint32 i = 0; bounds != NULL && i < group->n_nodes; i++)
    {
      const guint32 node = i > 0 && group->node_ids[i] == group->node_ids[i - 1]
                               ? QUOIT_NO_INDEX
                               : find_node (bounds, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX)
        read_node (bounds, fleet, node);
    }
}

/* --- promises --- */

/* Adds @change to the promises of the node, if it is one of the view, for the classes of which @rest, if not NULL, has
 * no room for a bundle. */
static void
change_promise (QuoitBundleBounds *bounds, guint32 node, const gint64 *rest, int change)
{
  for (guint c = 0; c < bounds->n_classes && node != QUOIT_NO_INDEX; c++)
    {
      if (rest != NULL && count_in_row (bounds, &bounds->classes[c], rest) > 0)
        continue;
      bounds->classes[c].bound -= share_of (bounds, node, c);
      bounds->promises[(gsize) node * bounds->n_classes + c] += (guint32) change;
      bounds->classes[c].bound += share_of (bounds, node, c);
    }
}

/* The bundles of a record from @first to before @end are on one node. When it has begun, no more is left there than
 * the rest of the totals: if they do not fit, nothing is placed there. */
static void
change_bundles (QuoitBundleBounds *bounds, const QuoitGroupData *record, guint32 first, guint32 end, int change)
{
  const QuoitBundles *bundles = &bounds->view.bundles;
  const guint32 node = find_node (bounds, record->node_ids[first]);

  if (node == QUOIT_NO_INDEX)
    return;
  memcpy (bounds->row, &bounds->view.view.total[(gsize) node * bundles->n_resources],
          bundles->n_resources * sizeof *bounds->row);
  for (guint32 r = 0; r < bundles->n_resources; r++)
    for (guint32 i = first; i < end; i++)
      bounds->row[r] -= quoit_bundle_amount (&record->bundles[i], bundles->resources[r]);
  change_promise (bounds, node, bounds->row, change);
}

static void
change_window (QuoitBundleBounds *bounds, const QuoitGroupData *window, int change)
{
  g_autoptr (GArray) nodes = quoit_window_list_nodes (window, bounds->view.fleet->layout);

  for (guint i = 0; i < nodes->len; i++)
    {
      const QuoitNodeId id = { g_array_index (nodes, guint32, i) };

      change_promise (bounds, quoit_fleet_view_find (&bounds->view, id), NULL, change);
    }
}

static void
change_record (QuoitBundleBounds *bounds, const QuoitGroupData *record, int change)
{
  if (record->kind == QUOIT_RECORD_WINDOW)
    {
      change_window (bounds, record, change);
      return;
    }
  for (guint32 first = 0, end; first < record->n_nodes; first = end)
    {
      for (end = first + 1; end < record->n_nodes && record->node_ids[end] == record->node_ids[first]; end++)
        ;
      if (record->bundles != NULL)
        change_bundles (bounds, record, first, end, change);
      else
        change_promise (bounds, find_node (bounds, record->node_ids[first]), NULL, change);
    }
}

void
quoit_bundle_bounds_add_promise (QuoitBundleBounds *bounds, const QuoitGroupData *record)
{
  if (bounds != NULL)
    change_record (bounds, record, 1);
}

void
quoit_bundle_bounds_remove_promise (QuoitBundleBounds *bounds, const QuoitGroupData *record)
{
  if (bounds != NULL)
    change_record (bounds, record, -1);
}
