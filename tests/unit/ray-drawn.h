/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters and groups as text, and Ray's answers.
 *
 * A cluster is a list of nodes, "CPU:4/1 TPU:4 z=a | CPU:2": total and free amounts (by default all is free), and
 * labels. Node ids are 0, 1... A group is "SPREAD CPU:1 z=!b | CPU:1 | ": a strategy and bundles. After the
 * strategy, "@z" is a topology label, "@z=a" one with a fixed value, "->1" a soft target and "-1" an excluded node. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>
#include <string.h>

#include "suite.h"

static inline void
drawn_stock (QuoitRayCluster *cluster, guint32 node, const char *name, const char *amounts)
{
  g_auto (GStrv) parts = g_strsplit (amounts, "/", 2);
  double total = g_ascii_strtod (parts[0], NULL);

  ck_assert (quoit_ray_cluster_set_resource (cluster, node, name, total,
                                             parts[1] != NULL ? g_ascii_strtod (parts[1], NULL) : total, NULL));
}

static inline QuoitRayCluster *
drawn_ray_cluster (const char *text)
{
  QuoitRayCluster *cluster = quoit_ray_cluster_new ();
  g_auto (GStrv) nodes = g_strsplit (text, "|", -1);

  for (guint32 n = 0; nodes[n] != NULL; n++)
    {
      g_autofree char *id = g_strdup_printf ("%u", n);
      g_auto (GStrv) words = g_strsplit (nodes[n], " ", -1);

      ck_assert (quoit_ray_cluster_add_node (cluster, id, NULL));
      for (char **word = words; *word != NULL; word++)
        {
          char *label = strchr (*word, '='), *stock = strrchr (*word, ':');

          if (label != NULL)
            *label = '\0', quoit_ray_cluster_set_label (cluster, n, *word, label + 1);
          else if (stock != NULL)
            *stock = '\0', drawn_stock (cluster, n, *word, stock + 1);
        }
    }
  return cluster;
}

static inline void
drawn_ray_standing (QuoitRayGroup *group, char **words)
{
  QuoitStrategy strategy;

  ck_assert (quoit_ray_strategy_parse (words[0], &strategy, NULL));
  quoit_ray_group_set_strategy (group, strategy);
  for (char **word = words + 1; *word != NULL; word++)
    {
      char *value = strchr (*word, '=');

      if (g_str_has_prefix (*word, "->"))
        quoit_ray_group_set_soft_target (group, *word + 2);
      else if (**word == '-')
        quoit_ray_group_exclude (group, *word + 1);
      else if (**word == '@')
        {
          if (value != NULL)
            *value = '\0', quoit_ray_group_bind (group, value + 1);
          quoit_ray_group_add_topology (group, *word + 1, QUOIT_STRATEGY_STRICT_PACK);
        }
    }
}

static inline QuoitRayGroup *
drawn_ray_group (const char *text)
{
  QuoitRayGroup *group = quoit_ray_group_new ();
  g_auto (GStrv) bundles = g_strsplit (text, "|", -1);
  g_auto (GStrv) first = g_strsplit (bundles[0], " ", -1);

  drawn_ray_standing (group, first);
  for (guint32 b = 0; bundles[b] != NULL; b++)
    {
      g_auto (GStrv) words = g_strsplit (bundles[b], " ", -1);

      quoit_ray_group_add_bundle (group);
      for (char **word = words; *word != NULL; word++)
        {
          char *label = strchr (*word, '='), *amount = strrchr (*word, ':');

          if (**word == '@' || **word == '-')
            continue;
          if (label != NULL)
            *label = '\0', quoit_ray_group_set_selector (group, b, *word, label + 1);
          else if (amount != NULL)
            *amount = '\0', quoit_ray_group_set_amount (group, b, *word, g_ascii_strtod (amount + 1, NULL));
        }
    }
  return group;
}

/* "0 1 1", "FAILED", "INFEASIBLE", or the message of the refusal. */
static inline char *
drawn_ray_answer (const QuoitRayCluster *cluster, const QuoitRayGroup *group)
{
  g_autofree guint32 *nodes = g_new (guint32, quoit_ray_group_get_n_bundles (group));
  g_autoptr (GError) error = NULL;
  QuoitRayResult result;
  GString *text = g_string_new (NULL);

  if (!quoit_ray_group_place (group, cluster, &result, nodes, &error))
    return g_string_append (text, error->message), g_string_free (text, FALSE);
  if (result != QUOIT_RAY_SUCCESS)
    g_string_append (text, result == QUOIT_RAY_FAILED ? "FAILED" : "INFEASIBLE");
  for (guint32 b = 0; result == QUOIT_RAY_SUCCESS && b < quoit_ray_group_get_n_bundles (group); b++)
    g_string_append_printf (text, "%s%u", b > 0 ? " " : "", nodes[b]);
  return g_string_free (text, FALSE);
}
