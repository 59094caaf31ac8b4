/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the nodes of windows. This costs as much as they are, whatever the size of the fleet. */
#include "placement/ahead.h"

#include <string.h>

#include "placement/rows.h"

static void
append_slice (const QuoitLayout *layout, QuoitSliceId slice, GArray *nodes)
{
  const QuoitSlice *row = &layout->slices[slice.index];

  for (guint32 n = row->first_node; n < row->first_node + row->n_nodes; n++)
    g_array_append_val (nodes, n);
}

static gboolean
list_slice (const char *name, const QuoitLayout *layout, GArray *nodes, GError **error)
{
  QuoitSliceId slice;

  if (!quoit_layout_lookup_slice (layout, name, &slice, error))
    return FALSE;
  append_slice (layout, slice, nodes);
  return TRUE;
}

static gboolean
list_node (const char *name, const QuoitLayout *layout, GArray *nodes, GError **error)
{
  QuoitNodeId node;

  if (!quoit_layout_lookup_node (layout, name, &node, error))
    return FALSE;
  g_array_append_val (nodes, node.index);
  return TRUE;
}

/* Finds the pools or nodes that a window of a pool or zone covers, by the rules of requests. */
static gboolean
init_rules (QuoitNodeRules *rules, QuoitWindowTarget target, QuoitRequest *request, const QuoitLayout *layout,
            GError **error)
{
  quoit_request_replace_text (target.scope == QUOIT_WINDOW_POOL ? &request->pool : &request->zone, target.target);
  return quoit_node_rules_init (rules, layout, request, error);
}

/* The nodes of a pool are adjacent. */
static gboolean
list_pool (QuoitWindowTarget target, const QuoitLayout *layout, GArray *nodes, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  QuoitNodeRules rules;

  if (!init_rules (&rules, target, request, layout, error))
    return FALSE;
  for (guint32 p = 0; p < layout->n_pools; p++)
    for (guint32 i = 0; rules.pools[p] && i < layout->pools[p].n_nodes; i++)
      {
        guint32 node = layout->pools[p].first_node + i;

        g_array_append_val (nodes, node);
      }
  quoit_node_rules_clear (&rules);
  return TRUE;
}

/* An atomic rc box. */
typedef struct {
  GArray *nodes;
} Zone;

static void
zone_clear (gpointer data)
{
  g_array_unref (((Zone *) data)->nodes);
}

static Zone *
zone_new (QuoitWindowTarget target, const QuoitLayout *layout)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  Zone *zone = g_atomic_rc_box_new0 (Zone);
  QuoitNodeRules rules;

  zone->nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (!init_rules (&rules, target, request, layout, NULL))
    return zone;
  for (guint32 n = 0; n < layout->n_nodes; n++)
    if (quoit_node_rules_first_broken (&rules, (QuoitNodeId) { n }) == QUOIT_NO_CONSTRAINT)
      g_array_append_val (zone->nodes, n);
  quoit_node_rules_clear (&rules);
  return zone;
}

/* The nodes of a zone can be anywhere, so they are remembered. */
static gboolean
list_zone (QuoitWindowTarget target, const QuoitLayout *layout, GArray *nodes)
{
  const gsize length = strlen (target.target);
  Zone *zone = quoit_recent_get (layout->zones, target.target, length);

  if (zone == NULL)
    {
      zone = zone_new (target, layout);
      quoit_recent_put (layout->zones, target.target, length, zone, zone_clear);
    }
  g_array_append_vals (nodes, zone->nodes->data, zone->nodes->len);
  g_atomic_rc_box_release_full (zone, zone_clear);
  return TRUE;
}

static gboolean
list_nodes (QuoitWindowTarget target, const QuoitLayout *layout, GArray *nodes, GError **error)
{
  switch (target.scope)
    {
    case QUOIT_WINDOW_NODE:
      return list_node (target.target, layout, nodes, error);
    case QUOIT_WINDOW_SLICE:
      return list_slice (target.target, layout, nodes, error);
    case QUOIT_WINDOW_POOL:
      return list_pool (target, layout, nodes, error);
    case QUOIT_WINDOW_ZONE:
    default:
      return list_zone (target, layout, nodes);
    }
}

/* A later import can add another node or slice of the name. The window then covers all of them. */
static void
list_all_named (QuoitWindowTarget target, const QuoitLayout *layout, GArray *nodes)
{
  guint32 at = QUOIT_NO_INDEX;
  QuoitSliceId slice;
  QuoitNodeId node;

  while (target.scope == QUOIT_WINDOW_SLICE && quoit_layout_next_slice_named (layout, target.target, &at, &slice))
    append_slice (layout, slice, nodes);
  while (target.scope == QUOIT_WINDOW_NODE && quoit_layout_next_node_named (layout, target.target, &at, &node))
    g_array_append_val (nodes, node.index);
}

GArray *
quoit_window_list_nodes (const QuoitGroupData *window, const QuoitLayout *layout)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  QuoitWindowTarget target;

  if (quoit_window_target_parse (window->request, &target) && !list_nodes (target, layout, nodes, NULL))
    {
      list_all_named (target, layout, nodes);
      quoit_numbers_sort ((guint32 *) (void *) nodes->data, nodes->len);
    }
  return nodes;
}

gboolean
quoit_window_check_target (QuoitWindowTarget target, const QuoitLayout *layout, GError **error)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *quoted = NULL;

  if (!list_nodes (target, layout, nodes, error))
    return FALSE;
  if (nodes->len > 0)
    return TRUE;
  quoted = quoit_quote (target.target);
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no node in zone %s", quoted);
}
