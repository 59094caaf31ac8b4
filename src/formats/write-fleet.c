/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole fleet as one document. Member names and types are those of the command's JSON. */
#include "formats/writer.h"

#include <string.h>

#include "base/label-names.h"
#include "base/time.h"
#include "fleet/ahead.h"
#include "fleet/names.h"
#include "fleet/quotas.h"
#include "fleet/source-kinds.h"
#include "fleet/units.h"

/* Writes a time in the format of the command. 0 means no time. */
static void
write_time (QuoitWriter *writer, const char *key, int64_t time_ms)
{
  g_autofree char *text = time_ms == 0 ? NULL : quoit_time_format (time_ms);

  quoit_writer_text (writer, key, text);
}

/* Writes how many workers a manifest wants, and their requests. For other sources the members are null. */
static void
write_desired (QuoitWriter *writer, QuoitSourceKind kind, const QuoitPool *pool)
{
  if (kind == QUOIT_SOURCE_KIND_RAYCLUSTER)
    {
      quoit_writer_integer (writer, "desired_workers", pool->n_pods);
      quoit_writer_sum (writer, "cpus", pool->pod_cpu);
      quoit_writer_sum (writer, "memory_bytes", pool->pod_memory);
      return;
    }
  quoit_writer_text (writer, "desired_workers", NULL);
  quoit_writer_text (writer, "cpus", NULL);
  quoit_writer_text (writer, "memory_bytes", NULL);
}

static void
write_pools (QuoitWriter *writer, const QuoitLayout *layout, const QuoitSource *source)
{
  quoit_writer_open_array (writer, "pools");
  for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
    {
      const QuoitPool *pool = &layout->pools[p];

      quoit_writer_open_object (writer, NULL);
      quoit_writer_text (writer, "pool", quoit_layout_text (layout, pool->name));
      write_desired (writer, source->kind, pool);
      quoit_writer_open_object (writer, "environment");
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
      quoit_writer_text (writer, "source", quoit_layout_text (layout, layout->sources[s].name));
      quoit_writer_text (writer, "kind", quoit_source_kind_name (layout->sources[s].kind));
      write_pools (writer, layout, &layout->sources[s]);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

/* --- nodes --- */

static char *
format_handle (const QuoitGroupData *group)
{
  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

static void
write_users (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  gboolean external = quoit_fleet_node_is_external (fleet, node);
  g_autoptr (GPtrArray) groups = quoit_fleet_node_groups (fleet, node);

  quoit_writer_open_array (writer, "held_by");
  for (guint i = 0; i < groups->len; i++)
    {
      g_autofree char *label = format_handle (groups->pdata[i]);

      quoit_writer_text (writer, NULL, label);
    }
  if (external)
    quoit_writer_text (writer, NULL, "external");
  quoit_writer_close (writer);
  quoit_writer_boolean (writer, "external", external);
  quoit_writer_open_array (writer, "group_ids");
  for (guint i = 0; i < groups->len; i++)
    quoit_writer_integer (writer, NULL, (int64_t) ((const QuoitGroupData *) groups->pdata[i])->id);
  quoit_writer_close (writer);
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Writes the labels of the node's kind, and the labels that differ on each node. */
static void
write_labels (QuoitWriter *writer, const QuoitLayout *layout, QuoitNodeId node)
{
  static const char *const own[]
      = { QUOIT_RAY_LABEL_NODE_GROUP, QUOIT_RAY_LABEL_SLICE_NAME, QUOIT_RAY_LABEL_WORKER_ID };
  const QuoitNodeKind *kind = quoit_layout_node_kind (layout, node);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  for (guint i = 0; i < kind->n_labels; i++)
    g_ptr_array_add (keys, (char *) kind->labels[i].key);
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (!g_ptr_array_find_with_equal_func (keys, own[i], g_str_equal, NULL)
        && quoit_layout_node_label (layout, node, own[i], buffer) != NULL)
      g_ptr_array_add (keys, (char *) own[i]);
  g_ptr_array_sort (keys, by_text);

  quoit_writer_open_object (writer, "labels");
  for (guint i = 0; i < keys->len; i++)
    quoit_writer_text (writer, keys->pdata[i], quoit_layout_node_label (layout, node, keys->pdata[i], buffer));
  quoit_writer_close (writer);
}

/* On a dead node, the used amount is the amount that groups have lost. */
static void
write_resource (QuoitWriter *writer, const char *name, const QuoitFleet *fleet, QuoitNodeId node, guint resource)
{
  QuoitUnits units = quoit_fleet_node_units (fleet, node, resource);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "resource", name);
  quoit_writer_amount (writer, "used",
                       (QuoitAmount) { units.amount[QUOIT_UNIT_HELD].e4 + units.amount[QUOIT_UNIT_RESERVED].e4
                                       + units.amount[QUOIT_UNIT_EXTERNAL].e4 + units.amount[QUOIT_UNIT_LOST].e4 });
  quoit_writer_amount (writer, "total", quoit_fleet_node_total (fleet, node, resource));
  quoit_writer_close (writer);
}

static void
write_resources (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  const char *name;

  quoit_writer_open_array (writer, "resources");
  for (guint i = 0; i < kind->n_resources; i++)
    write_resource (writer, kind->resources[i].name, fleet, node, i);
  for (guint i = 0; (name = quoit_layout_node_derived (fleet->layout, node, i)) != NULL; i++)
    write_resource (writer, name, fleet, node, kind->n_resources + i);
  quoit_writer_close (writer);
}

static void
write_machine (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);

  quoit_writer_text (writer, "accelerator",
                     kind->generation == QUOIT_GENERATION_NONE ? NULL : quoit_generation_name (kind->generation));
  quoit_writer_text (writer, "topology", kind->topology);
  quoit_writer_text (writer, "pod_type", kind->pod_type);
  quoit_writer_integer (writer, "chips", kind->chips);
  write_labels (writer, fleet->layout, node);
  write_resources (writer, fleet, node);
}

static void
write_node_sources (QuoitWriter *writer, const QuoitLayout *layout, QuoitNodeId node)
{
  QuoitSourceId source;

  quoit_writer_open_array (writer, "sources");
  for (guint32 i = 0; quoit_layout_node_source (layout, node, i, &source); i++)
    quoit_writer_text (writer, NULL, quoit_layout_text (layout, layout->sources[source.index].name));
  quoit_writer_close (writer);
}

static void
write_node (QuoitWriter *writer, const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitNode *row = &layout->nodes[node.index];
  const QuoitPool *pool = &layout->pools[quoit_layout_node_pool (layout, node).index];
  g_autofree char *identity = quoit_layout_node_identity (layout, node);
  g_autofree char *full_name = quoit_layout_node_full_name (layout, node);
  const char *reason = quoit_fleet_node_reason (fleet, node);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_integer (writer, "id", row->id);
  quoit_writer_text (writer, "node", quoit_layout_node_name (layout, node));
  quoit_writer_text (writer, "full_name", full_name);
  quoit_writer_text (writer, "identity", identity);
  quoit_writer_text (writer, "address", quoit_layout_node_address (layout, node));
  quoit_writer_text (writer, "source", quoit_layout_text (layout, layout->sources[pool->source].name));
  write_node_sources (writer, layout, node);
  quoit_writer_text (writer, "pool", quoit_layout_text (layout, pool->name));
  quoit_writer_text (writer, "slice",
                     row->slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[row->slice].name));
  if (row->worker_id >= 0)
    quoit_writer_integer (writer, "worker_id", row->worker_id);
  else
    quoit_writer_text (writer, "worker_id", NULL);
  quoit_writer_text (writer, "state", quoit_node_state_name (quoit_fleet_node_state (fleet, node)));
  quoit_writer_text (writer, "state_reason", *reason == '\0' ? NULL : reason);
  quoit_writer_boolean (writer, "ray_head", (row->flags & QUOIT_NODE_RAY_HEAD) != 0);
  quoit_write_assumed (writer, row->flags);
  write_machine (writer, fleet, node);
  write_users (writer, fleet, node);
  quoit_writer_close (writer);
}

/* --- groups --- */

static void
write_group_labels (QuoitWriter *writer, const QuoitGroupData *group)
{
  quoit_writer_open_object (writer, "labels");
  for (guint16 i = 0; i < group->n_labels; i++)
    quoit_writer_text (writer, group->labels[i].key, group->labels[i].value);
  quoit_writer_close (writer);
}

static void
write_group (QuoitWriter *writer, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autofree char *label = format_handle (group);
  g_autofree char *state = g_ascii_strdown (quoit_group_state_name (quoit_fleet_group_state (fleet, group)), -1);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "group", label);
  quoit_writer_text (writer, "name", group->name);
  quoit_writer_integer (writer, "id", (int64_t) group->id);
  quoit_writer_text (writer, "state", state);
  quoit_writer_text (writer, "owner", *group->owner == '\0' ? NULL : group->owner);
  quoit_writer_integer (writer, "n_slices", group->n_slices);
  quoit_writer_integer (writer, "n_workers", quoit_group_count_hosts (group));
  quoit_writer_text (writer, "request", group->request);
  quoit_writer_text (writer, "key", *group->key == '\0' ? NULL : group->key);
  write_time (writer, "since", group->created_ms);
  write_time (writer, "begins", group->begins_ms);
  write_time (writer, "ended", group->ended_ms);
  write_time (writer, "until", group->until_ms);
  write_time (writer, "expected_end", group->expected_end_ms);
  quoit_writer_integer (writer, "priority", group->priority);
  write_group_labels (writer, group);
  quoit_writer_boolean (writer, "expired", group->end == QUOIT_END_EXPIRED);
  quoit_writer_text (writer, "release_reason", *group->reason == '\0' ? NULL : group->reason);
  quoit_writer_text (writer, "source", *group->source == '\0' ? NULL : group->source);
  quoit_writer_integer (writer, "n_bundles", group->bundles == NULL ? 0 : group->n_nodes);
  quoit_writer_open_array (writer, "node_ids");
  for (guint32 s = 0, i = 0; s < group->n_slices; s++)
    {
      quoit_writer_open_array (writer, NULL);
      for (; i < group->slice_end[s]; i++)
        quoit_writer_integer (writer, NULL, group->node_ids[i]);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
  quoit_writer_open_array (writer, "bundle_node_ids");
  for (guint32 i = 0; group->kind == QUOIT_RECORD_BUNDLES && i < group->n_nodes; i++)
    quoit_writer_integer (writer, NULL, group->node_ids[i]);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

static void
write_groups (QuoitWriter *writer, const QuoitFleet *fleet)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_fleet_group_at (fleet, slot) != NULL && quoit_group_is_listed (quoit_fleet_group_at (fleet, slot)))
      g_ptr_array_add (groups, (gpointer) quoit_fleet_group_at (fleet, slot));
  g_ptr_array_sort (groups, quoit_group_by_id);
  quoit_writer_open_array (writer, "groups");
  for (guint i = 0; i < groups->len; i++)
    write_group (writer, fleet, groups->pdata[i]);
  quoit_writer_close (writer);
}

static void
write_windows (QuoitWriter *writer, const QuoitFleet *fleet)
{
  quoit_writer_open_array (writer, "windows");
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *window = quoit_fleet_ahead_at (fleet, i);
      g_autofree char *scope = NULL;
      QuoitWindowTarget target;

      if (window->kind != QUOIT_RECORD_WINDOW || !quoit_window_target_parse (window->request, &target))
        continue;
      scope = g_strndup (window->request, strcspn (window->request, "="));
      quoit_writer_open_object (writer, NULL);
      quoit_writer_text (writer, "window", quoit_window_record_window (window));
      quoit_writer_text (writer, "scope", scope);
      quoit_writer_text (writer, "target", target.target);
      write_time (writer, "from", window->begins_ms);
      write_time (writer, "until", window->until_ms);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

static void
write_quota (QuoitWriter *writer, const QuoitQuota *quota, gint64 used_e4)
{
  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "quota", quota->name);
  quoit_writer_text (writer, "owner", quota->label == NULL ? quota->value : NULL);
  if (quota->label == NULL)
    quoit_writer_text (writer, "label", NULL);
  else
    {
      quoit_writer_open_object (writer, "label");
      quoit_writer_text (writer, quota->label, quota->value);
      quoit_writer_close (writer);
    }
  quoit_writer_text (writer, "accelerator",
                     quota->generation == QUOIT_GENERATION_NONE ? NULL : quoit_generation_name (quota->generation));
  quoit_writer_text (writer, "topology", quota->topology);
  quoit_writer_integer (writer, "nominal", quota->nominal);
  if (quota->most < 0)
    quoit_writer_text (writer, "max", NULL);
  else
    quoit_writer_integer (writer, "max", quota->most);
  quoit_writer_text (writer, "cohort", quota->cohort);
  quoit_writer_amount (writer, "used", (QuoitAmount) { used_e4 });
  quoit_writer_close (writer);
}

static void
write_quotas (QuoitWriter *writer, const QuoitQuotas *quotas)
{
  quoit_writer_open_array (writer, "quotas");
  for (guint i = 0; i < quoit_quotas_n (quotas); i++)
    write_quota (writer, quoit_quotas_at (quotas, i), quoit_quotas_used_e4 (quotas, i));
  quoit_writer_close (writer);
}

char *
quoit_write_fleet_json (const QuoitFleet *fleet)
{
  QuoitWriter *writer = quoit_writer_new ();

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "schema", QUOIT_SCHEMA);
  quoit_writer_integer (writer, "seq", (int64_t) fleet->seq);
  write_time (writer, "clock", fleet->clock_ms);
  write_sources (writer, fleet->layout);
  quoit_writer_open_array (writer, "nodes");
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    write_node (writer, fleet, (QuoitNodeId) { i });
  quoit_writer_close (writer);
  write_groups (writer, fleet);
  write_windows (writer, fleet);
  write_quotas (writer, fleet->quotas);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}
