/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <quoit/ray.h>

#include "api/handles.h"
#include "topology/topology.h"

static gint
by_slice_text (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (((char *const *) data)[*(const guint32 *) a], ((char *const *) data)[*(const guint32 *) b]);
}

/* The slice's name as Ray knows it, which other sources have no part in. */
static const char *
short_name (const QuoitGroup *group, guint32 slice)
{
  const QuoitLayout *layout = group->layout;
  guint32 first = slice == 0 ? 0 : group->data->slice_end[slice - 1];

  return quoit_layout_text (layout,
                            layout->slices[layout->nodes[layout->by_id[group->data->node_ids[first]]].slice].name);
}

/* Ray sorts slice names as text: "s-10" before "s-9". */
static guint32 *
ray_order (const QuoitGroup *group)
{
  guint32 n = group->data->n_slices, *order = g_new (guint32, n + 1);
  g_auto (GStrv) names = g_new0 (char *, n + 1);

  for (guint32 i = 0; i < n; i++)
    {
      order[i] = i;
      names[i] = g_strdup (short_name (group, i));
    }
  g_qsort_with_data (order, (gint) n, sizeof *order, by_slice_text, names);
  return order;
}

/* What the container has before Ray Train sets anything. */
static char **
manifest_env (const QuoitTopology *topology, const QuoitProcess *process)
{
  g_autoptr (GStrvBuilder) env = g_strv_builder_new ();
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *variable = g_strconcat (pairs[i].key, "=", pairs[i].value, NULL);

      g_strv_builder_add (env, variable);
    }
  return g_strv_builder_end (env);
}

static gboolean
fill_ray_train (QuoitTopology *topology, const QuoitGroup *group, GError **error)
{
  const QuoitProcess *first = &g_array_index (topology->processes, QuoitProcess, 0);
  const QuoitClass *class = quoit_layout_slice_class (topology->layout,
                                                      (QuoitSliceId) { topology->layout->nodes[first->node].slice });
  const char *address = quoit_layout_node_address (topology->layout, (QuoitNodeId) { first->node });
  g_autoptr (QuoitRayResources) worker = quoit_ray_resources_new ();
  g_autofree char *shape = NULL;

  if (class == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile ray-train needs generation and topology of the slice of node '%s', which its source no "
                       "longer says: import it again when it does",
                       quoit_layout_node_name (topology->layout, (QuoitNodeId) { first->node }));
  if (address == NULL)
    return quoit_fail (
        error, QUOIT_ERROR_NOT_NOW,
        "profile ray-train needs the address of node '%s', which its source does not know: import the node "
        "list of the running cluster (`ray list nodes --format json`)",
        quoit_layout_node_name (topology->layout, (QuoitNodeId) { first->node }));
  shape = quoit_shape_format (class->facts.shape);
  quoit_ray_resources_set (worker, "TPU", class->facts.chips_per_host);
  for (guint i = 0; i < topology->processes->len; i++)
    {
      QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);
      g_auto (GStrv) before = manifest_env (topology, process), env = NULL;

      env = quoit_ray_train_env (address, i, group->data->n_slices, shape,
                                 quoit_generation_name (class->facts.generation), worker, (const char *const *) before,
                                 error);
      if (env == NULL)
        return FALSE;
      for (char **variable = env; *variable != NULL; variable++)
        {
          g_autofree char *name = g_strndup (*variable, strcspn (*variable, "="));

          quoit_process_set (process, name, *variable + strlen (name) + 1);
        }
    }
  return TRUE;
}

gboolean
quoit_group_check_hosts (const QuoitGroup *group, GError **error)
{
  if (group->data->n_nodes == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s' holds nothing any more", group->data->name);
  if (group->data->bundles != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group '%s' has bundles, not whole hosts: its processes cannot be told from them",
                       group->data->name);
  return TRUE;
}

QuoitTopology *
quoit_topology_new (const QuoitGroup *group, QuoitProfile profile, GError **error)
{
  g_autoptr (QuoitTopology) topology = NULL;
  g_autofree guint32 *order = NULL;

  g_return_val_if_fail (group != NULL, NULL);

  if (!quoit_group_check_hosts (group, error))
    return NULL;
  if (profile != QUOIT_PROFILE_QUOIT && profile != QUOIT_PROFILE_RAY_TRAIN)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "profile '%d': expected quoit or ray-train", (int) profile);

  if (profile == QUOIT_PROFILE_QUOIT)
    topology = quoit_topology_quoit (group->layout, group->data);
  else
    {
      order = ray_order (group);
      topology = quoit_topology_of (group->layout, group->data, order);
      if (!fill_ray_train (topology, group, error))
        return NULL;
    }
  if (quoit_topology_note_losses (topology, group->ailing) && group->state == QUOIT_GROUP_RESCHEDULING)
    quoit_topology_note (topology,
                         "group '%s' is RESCHEDULING: the variables count what is lost too, and a job that reads them "
                         "waits for it, until the hosts are back or the slices are replaced or released",
                         group->data->name);
  return g_steal_pointer (&topology);
}

uint32_t
quoit_topology_get_n_processes (const QuoitTopology *topology)
{
  g_return_val_if_fail (topology != NULL, 0);

  return topology->processes->len;
}

static const QuoitProcess *
process_at (const QuoitTopology *topology, uint32_t process)
{
  g_return_val_if_fail (topology != NULL && process < topology->processes->len, NULL);

  return &g_array_index (topology->processes, QuoitProcess, process);
}

uint32_t
quoit_topology_get_slice_id (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->slice_id;
}

const char *
quoit_topology_get_slice_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);
  const QuoitLayout *layout;

  if (row == NULL)
    return NULL;
  layout = topology->layout;
  return quoit_layout_text (layout, layout->slices[layout->nodes[row->node].slice].name);
}

uint32_t
quoit_topology_get_worker_id (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->worker_id;
}

const char *
quoit_topology_get_node_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_layout_node_name (topology->layout, (QuoitNodeId) { row->node });
}

const char *
quoit_topology_get_node_address (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_layout_node_address (topology->layout, (QuoitNodeId) { row->node });
}

uint32_t
quoit_topology_get_n_variables (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->variables->len;
}

static const char *
variable_at (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const QuoitProcess *row = process_at (topology, process);

  g_return_val_if_fail (row != NULL && variable < row->variables->len, NULL);

  return row->variables->pdata[variable];
}

const char *
quoit_topology_get_variable_name (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const char *text = variable_at (topology, process, variable);

  return text == NULL ? NULL : quoit_variable_name (text);
}

const char *
quoit_topology_get_variable_value (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const char *text = variable_at (topology, process, variable);

  return text == NULL ? NULL : quoit_variable_value (text);
}

uint32_t
quoit_topology_get_n_notes (const QuoitTopology *topology)
{
  g_return_val_if_fail (topology != NULL, 0);

  return topology->notes->len;
}

const char *
quoit_topology_get_note (const QuoitTopology *topology, uint32_t note)
{
  g_return_val_if_fail (topology != NULL && note < topology->notes->len, NULL);

  return topology->notes->pdata[note];
}
