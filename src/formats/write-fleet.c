/* SPDX-License-Identifier: Apache-2.0 */
/* All that a fleet is, as one document. */
#include "formats/writer.h"
#include "model/names.h"

static void
write_pools (QuoitWriter *writer, const QuoitLayout *layout, const QuoitSource *source)
{
  quoit_writer_open_array (writer, "pools");
  for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
    {
      const QuoitPool *pool = &layout->pools[p];

      quoit_writer_open_object (writer, NULL);
      quoit_writer_text (writer, "name", quoit_layout_text (layout, pool->name));
      quoit_writer_integer (writer, "pods", pool->n_pods);
      quoit_writer_sum (writer, "pod_cpu", pool->pod_cpu);
      quoit_writer_sum (writer, "pod_memory", pool->pod_memory);
      quoit_writer_open_object (writer, "env");
      for (guint32 i = 0; i < pool->n_env; i++)
        quoit_writer_text (writer, layout->env[pool->first_env + i].key, layout->env[pool->first_env + i].value);
      quoit_writer_close (writer);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

static void
write_sources (QuoitWriter *writer, const QuoitLayout *layout)
{
  quoit_writer_open_array (writer, "sources");
  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      quoit_writer_open_object (writer, NULL);
      quoit_writer_text (writer, "name", quoit_layout_text (layout, layout->sources[s].name));
      quoit_writer_text (writer, "kind", quoit_source_kind_name (layout->sources[s].kind));
      write_pools (writer, layout, &layout->sources[s]);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

static void
write_users (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitGroupData *group;

  quoit_writer_boolean (writer, "external", quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL);
  quoit_writer_open_array (writer, "groups");
  for (guint i = 0; (group = quoit_fleet_node_user (fleet, node, i, NULL)) != NULL; i++)
    quoit_writer_integer (writer, NULL, (int64_t) group->id);
  quoit_writer_close (writer);
}

static void
write_node (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitNode *row = &layout->nodes[node.index];
  const QuoitPool *pool = &layout->pools[quoit_layout_node_pool (layout, node).index];
  g_autofree char *identity = quoit_layout_node_identity (layout, node);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_integer (writer, "id", row->id);
  quoit_writer_text (writer, "name", quoit_layout_node_name (layout, node));
  quoit_writer_text (writer, "identity", identity);
  quoit_writer_text (writer, "address", quoit_layout_node_address (layout, node));
  quoit_writer_text (writer, "source", quoit_layout_text (layout, layout->sources[pool->source].name));
  quoit_writer_text (writer, "pool", quoit_layout_text (layout, pool->name));
  quoit_writer_text (writer, "slice",
                     row->slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[row->slice].name));
  if (row->worker_id >= 0)
    quoit_writer_integer (writer, "worker_id", row->worker_id);
  else
    quoit_writer_text (writer, "worker_id", NULL);
  quoit_writer_text (writer, "state", quoit_node_state_name (quoit_fleet_node_state (fleet, node)));
  quoit_writer_boolean (writer, "ray_head", (row->flags & QUOIT_NODE_RAY_HEAD) != 0);
  quoit_write_kind (writer, quoit_layout_node_kind (layout, node));
  write_users (writer, fleet, node);
  quoit_writer_close (writer);
}

static void
write_group (QuoitWriter *writer, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  quoit_writer_open_object (writer, NULL);
  quoit_writer_integer (writer, "id", (int64_t) group->id);
  quoit_writer_text (writer, "name", group->name);
  quoit_writer_text (writer, "owner", *group->owner == '\0' ? NULL : group->owner);
  quoit_writer_text (writer, "key", *group->key == '\0' ? NULL : group->key);
  quoit_writer_text (writer, "request", group->request);
  quoit_writer_text (writer, "state", quoit_group_state_name (group->state));
  quoit_writer_integer (writer, "since_ms", group->since_ms);
  quoit_writer_integer (writer, "ended_ms", group->ended_ms);
  quoit_writer_open_array (writer, "slices");
  for (guint32 s = 0, i = 0; s < group->n_slices; s++)
    {
      quoit_writer_open_array (writer, NULL);
      for (; i < group->slice_end[s]; i++)
        quoit_writer_integer (writer, NULL, group->node_ids[i]);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

static gint
by_id (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = *(const QuoitGroupData *const *) a, *y = *(const QuoitGroupData *const *) b;

  return (x->id > y->id) - (x->id < y->id);
}

static void
write_groups (QuoitWriter *writer, const QuoitFleet *fleet)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_fleet_group_at (fleet, slot) != NULL)
      g_ptr_array_add (groups, (gpointer) quoit_fleet_group_at (fleet, slot));
  g_ptr_array_sort (groups, by_id);
  quoit_writer_open_array (writer, "groups");
  for (guint i = 0; i < groups->len; i++)
    write_group (writer, fleet, groups->pdata[i]);
  quoit_writer_close (writer);
}

char *
quoit_write_fleet_json (const QuoitFleet *fleet)
{
  QuoitWriter *writer = quoit_writer_new ();

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "schema", QUOIT_SCHEMA);
  quoit_writer_integer (writer, "seq", (int64_t) fleet->seq);
  quoit_writer_integer (writer, "clock_ms", fleet->clock_ms);
  write_sources (writer, fleet->layout);
  quoit_writer_open_array (writer, "nodes");
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    write_node (writer, fleet, (QuoitNodeId) { i });
  quoit_writer_close (writer);
  write_groups (writer, fleet);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}
