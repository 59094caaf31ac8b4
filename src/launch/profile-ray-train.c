/* SPDX-License-Identifier: Apache-2.0 */
/* Profile ray-train: sets the same variables as Ray Train's JAX backend, in the same order. */
#include <string.h>

#include <quoit/models/ray-host.h>
#include <quoit/models/ray-tpu.h>

#include "base/error.h"
#include "launch/topology.h"

/* Returns the environment of the container before Ray Train sets variables. */
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
check_ray_train (const QuoitTopology *topology, const QuoitProcess *first, const QuoitClass *class, const char *address,
                 GError **error)
{
  const char *node = quoit_layout_node_name (topology->layout, (QuoitNodeId) { first->node });

  if (class == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile ray-train needs generation and topology of the slice of node '%s', which its source no "
                       "longer states: import the source again when it does",
                       node);
  if (address == NULL)
    return quoit_fail (
        error, QUOIT_ERROR_NOT_NOW,
        "profile ray-train needs the address of node '%s', which its source does not know: import the node "
        "list of the running cluster (`ray list nodes --format json`)",
        node);
  if (class->facts.chips_per_host % topology->per_host != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "%u processes per host: expected at most one for each of the %u chips of node '%s'",
                       topology->per_host, class->facts.chips_per_host, node);
  return TRUE;
}

/* Ray sets bounds for each worker that has only part of a host. */
static char **
visible_env (const QuoitProcess *process, guint32 chips_per_host, const char *const *before, GError **error)
{
  g_autofree char *chips = NULL;
  g_auto (GStrv) ids = NULL;

  if (process->chips == quoit_chips_for_process (chips_per_host, 1, 0))
    return g_strdupv ((char **) before);
  chips = quoit_chips_format (process->chips);
  ids = g_strsplit (chips, ",", -1);
  return quoit_ray_visible_env ((const char *const *) ids, chips_per_host, before, error);
}

static void
set_variables (QuoitProcess *process, char *const *env)
{
  for (char *const *variable = env; *variable != NULL; variable++)
    {
      g_autofree char *name = g_strndup (*variable, strcspn (*variable, "="));

      quoit_process_set_variable (process, name, *variable + strlen (name) + 1);
    }
}

/* For Ray Train, a job without whole slices is one slice, wherever its workers are. */
static guint32
count_slices (const QuoitTopology *topology)
{
  return topology->job == QUOIT_JOB_SLICES ? quoit_topology_n_slices (topology) : 1;
}

static gboolean
set_train_variables (const QuoitTopology *topology, guint at, const char *address, const QuoitClass *class,
                     GError **error)
{
  QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, at);
  g_auto (GStrv) before = manifest_env (topology, process), seen = NULL, env = NULL;
  g_autofree char *shape = quoit_shape_format (class->facts.shape);
  g_autoptr (QuoitRayResources) worker = quoit_ray_resources_new ();

  seen = visible_env (process, class->facts.chips_per_host, (const char *const *) before, error);
  if (seen == NULL)
    return FALSE;
  quoit_ray_resources_set (worker, "TPU", __builtin_popcountll (process->chips));
  env = quoit_ray_train_env (address, at, count_slices (topology), shape,
                             quoit_generation_pod_name (class->facts.generation), worker, (const char *const *) seen,
                             error);
  if (env == NULL)
    return FALSE;
  set_variables (process, env);
  return TRUE;
}

/* Bundles may be on hosts of different classes. */
static const QuoitClass *
class_of (const QuoitTopology *topology, guint at, const QuoitClass *of_first)
{
  const QuoitClass *class = quoit_process_class (topology, &g_array_index (topology->processes, QuoitProcess, at));

  return class == NULL ? of_first : class;
}

/* Whether a process has only some of the chips of its host. */
static gboolean
has_parts (const QuoitTopology *topology)
{
  if (topology->per_host > 1)
    return TRUE;
  for (guint i = 0; topology->job != QUOIT_JOB_SLICES && i < topology->processes->len; i++)
    {
      const QuoitClass *class = class_of (topology, i, NULL);
      guint64 chips = g_array_index (topology->processes, QuoitProcess, i).chips;

      if (class != NULL && (guint) __builtin_popcountll (chips) < class->facts.chips_per_host)
        return TRUE;
    }
  return FALSE;
}

QuoitTopology *
quoit_topology_ray_train (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_AS_TEXT, quoit_topology_input_per_host (input, launch));
  const QuoitProcess *first = &g_array_index (topology->processes, QuoitProcess, 0);
  const QuoitClass *class = quoit_process_class (topology, first);
  const char *address = quoit_layout_node_address (topology->layout, (QuoitNodeId) { first->node });

  if (!check_ray_train (topology, first, class, address, error))
    return NULL;
  for (guint i = 0; i < topology->processes->len; i++)
    if (!set_train_variables (topology, i, address, class_of (topology, i, class), error))
      return NULL;
  if (has_parts (topology))
    quoit_topology_note (topology, "Ray configures each process as if it were alone: JAX sees no links between the "
                                   "processes of a slice; TPU_PROCESS_BOUNDS of profile quoit would connect them");
  return g_steal_pointer (&topology);
}
