/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/webhook.h"

#include <string.h>

guint32
quoit_node_source (const QuoitLayout *layout, guint32 node)
{
  return layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { node }).index].source;
}

char *
quoit_source_cluster_name (const QuoitLayout *layout, guint32 source)
{
  const QuoitSource *row = &layout->sources[source];

  if (row->kind != QUOIT_SOURCE_KIND_RAYCLUSTER)
    return NULL;
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    if ((layout->nodes[i].flags & QUOIT_NODE_RAY_HEAD) != 0)
      {
        const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { i });

        return g_strndup (name, strlen (name) - (g_str_has_suffix (name, "-head") ? 5 : 0));
      }
  return NULL;
}

gboolean
quoit_webhook_prefers_address (const QuoitLayout *layout, guint32 node)
{
  return quoit_layout_node_address (layout, (QuoitNodeId) { node }) != NULL
         && (layout->nodes[node].flags & QUOIT_NODE_ASSUMED_NAME) != 0;
}
