/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/webhook.h"

#include <string.h>

guint32
quoit_webhook_source (const QuoitLayout *layout, guint32 node)
{
  return layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { node }).index].source;
}

char *
quoit_webhook_cluster (const QuoitLayout *layout, guint32 source)
{
  const QuoitSource *of = &layout->sources[source];

  if (of->kind != QUOIT_SOURCE_KIND_RAYCLUSTER)
    return NULL;
  for (guint32 i = of->first_node; i < of->first_node + of->n_nodes; i++)
    if ((layout->nodes[i].flags & QUOIT_NODE_RAY_HEAD) != 0)
      {
        const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { i });

        return g_strndup (name, strlen (name) - (g_str_has_suffix (name, "-head") ? 5 : 0));
      }
  return NULL;
}

gboolean
quoit_webhook_yields (const QuoitLayout *layout, guint32 node)
{
  return quoit_layout_node_address (layout, (QuoitNodeId) { node }) != NULL
         && (layout->nodes[node].flags & QUOIT_NODE_ASSUMED_NAME) != 0;
}
