/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists as text, for the suites of Ray's slices: "SLICE WORKER TOTAL AVAILABLE [KEY=VALUE...]; ...". Nodes have
 * the ids "n0", "n1" and on. "-" omits a value, and "!" before the slice makes the node dead. */
#pragma once

#include <stdlib.h>

#include <quoit/models/ray-nodes.h>

static inline QuoitRayResources *
list_of_tpu (const char *amount)
{
  QuoitRayResources *resources = quoit_ray_resources_new ();

  quoit_ray_resources_set (resources, "memory", 1e9);
  if (g_strcmp0 (amount, "-") != 0)
    quoit_ray_resources_set (resources, "TPU", g_ascii_strtod (amount, NULL));
  return resources;
}

static inline void
list_add_node (QuoitRayNodes *nodes, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autoptr (QuoitRayResources) total = list_of_tpu (words[2]), available = list_of_tpu (words[3]);
  const char *slice = *words[0] == '!' ? words[0] + 1 : words[0];
  g_autofree char *id = g_strdup_printf ("n%u", quoit_ray_nodes_get_n (nodes));
  unsigned index;

  if (g_strcmp0 (slice, "-") != 0)
    quoit_ray_labels_set (labels, "ray.io/tpu-slice-name", slice);
  if (g_strcmp0 (words[1], "-") != 0)
    quoit_ray_labels_set (labels, "ray.io/tpu-worker-id", words[1]);
  for (char **word = words + 4; *word != NULL; word++)
    {
      g_auto (GStrv) pair = g_strsplit (*word, "=", 2);

      quoit_ray_labels_set (labels, pair[0], pair[1]);
    }
  index = quoit_ray_nodes_add (nodes, id, labels, total);
  quoit_ray_nodes_set_available (nodes, id, available);
  if (slice != words[0])
    quoit_ray_nodes_set_dead (nodes, index);
}

/* Each node has @labels, "KEY=VALUE KEY=VALUE" or "", after its own. */
static inline QuoitRayNodes *
list_of_nodes (const char *text, const char *labels)
{
  g_auto (GStrv) parts = g_strsplit (text, "; ", -1);
  QuoitRayNodes *nodes = quoit_ray_nodes_new ();

  for (char **part = parts; *part != NULL && **part != '\0'; part++)
    {
      g_autofree char *whole = *labels != '\0' ? g_strconcat (*part, " ", labels, NULL) : g_strdup (*part);

      list_add_node (nodes, whole);
    }
  return nodes;
}
