/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ray-question.h"

enum { MOST_STOCKS = 1 << 25 }; /* nodes times resources */

static gboolean
fill_rows (QuoitRayQuestion *question, const QuoitRayCluster *cluster, GError **error)
{
  gsize n_nodes = cluster->ids->len, n_resources = question->asked.bundles.n_resources;

  if (n_nodes * n_resources > MOST_STOCKS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' nodes and '%u' resources: expected at most %d amounts",
                       (guint) n_nodes, (guint) n_resources, MOST_STOCKS);
  question->total = g_new0 (gint64, n_nodes * n_resources);
  question->available = g_new0 (gint64, n_nodes * n_resources);
  for (gsize r = 0; r < n_resources; r++)
    {
      const GArray *stocks = quoit_ray_cluster_stocks (cluster, question->asked.resources[r]);
      gint64 unstated = quoit_ray_unstated_e4 (question->asked.resources[r]);

      for (gsize n = 0; n < n_nodes && unstated != 0; n++)
        question->total[n * n_resources + r] = question->available[n * n_resources + r] = unstated;
      for (guint i = 0; stocks != NULL && i < stocks->len; i++)
        {
          const QuoitRayStock *stock = &g_array_index (stocks, QuoitRayStock, i);

          question->total[stock->node * n_resources + r] = stock->total;
          question->available[stock->node * n_resources + r] = stock->available;
        }
    }
  return TRUE;
}

/* The one level that is not the nodes' own; what the nodes' own says goes to @standing. */
static gboolean
find_label (const QuoitRayGroup *group, QuoitStanding *standing, const char **label, GError **error)
{
  *label = NULL;
  for (guint i = 0; i < group->levels->len; i++)
    {
      const QuoitRayLevel *level = &g_array_index (group->levels, QuoitRayLevel, i);
      const char *key = quoit_strings_get (group->strings, level->key);

      if (g_str_equal (key, QUOIT_RAY_NODE_LEVEL))
        standing->strategy = level->strategy;
      else if (*label == NULL)
        *label = key;
      else
        {
          g_autofree char *first = quoit_quote (*label), *second = quoit_quote (key);

          return quoit_fail (error, QUOIT_ERROR_INVALID, "topology labels %s and %s: expected one at most", first,
                             second);
        }
    }
  return TRUE;
}

/* Values are numbered as nodes first bring them. A node whose value is empty has none, for Ray. */
static void
number_domains (QuoitRayQuestion *question, const QuoitRayCluster *cluster, const char *label, const char *bound)
{
  const QuoitRayKey *key = quoit_ray_cluster_key (cluster, label);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);

  question->domain = g_new (guint32, cluster->ids->len);
  for (guint n = 0; n < cluster->ids->len; n++)
    question->domain[n] = QUOIT_NO_INDEX;
  for (guint i = 0; key != NULL && i < key->labels->len; i++)
    {
      const QuoitRayLabel *row = &g_array_index (key->labels, QuoitRayLabel, i);
      guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, GUINT_TO_POINTER (row->value.index)));

      if (row->value.index == 0)
        continue;
      if (number == 0)
        {
          number = ++question->view.n_domains;
          g_hash_table_insert (numbers, GUINT_TO_POINTER (row->value.index), GUINT_TO_POINTER (number));
        }
      question->domain[row->node] = number - 1;
      if (g_strcmp0 (bound, quoit_strings_get (cluster->strings, row->value)) == 0)
        question->standing.bound = number - 1;
    }
  /* A value that no node has any more is a domain without nodes. */
  if (bound != NULL && question->standing.bound == QUOIT_NO_INDEX)
    question->standing.bound = question->view.n_domains++;
  question->view.domain = question->domain;
  question->standing.n_values = 1;
}

static void
mark_excluded (QuoitRayQuestion *question, const QuoitRayGroup *group, const QuoitRayCluster *cluster)
{
  question->excluded = g_new0 (guint64, quoit_view_words (&question->view) + 1);
  for (guint i = 0; i < group->excluded->len; i++)
    {
      guint32 node = quoit_ray_cluster_find (cluster, group->excluded->pdata[i]);

      if (node != QUOIT_NO_INDEX)
        question->excluded[node / 64] |= (guint64) 1 << (node % 64);
    }
  question->standing.excluded = question->excluded;
}

/* Ray adds the bundles up, in 64 bits, for STRICT_PACK and for a topology label. */
static gboolean
check_sums (const QuoitRayAsked *asked, GError **error)
{
  gsize n_resources = asked->bundles.n_resources;

  for (gsize r = 0; r < n_resources; r++)
    {
      __int128 sum = 0;

      for (gsize b = 0; b < asked->bundles.n_bundles; b++)
        sum += asked->amounts[b * n_resources + r];
      if (sum > G_MAXINT64 || sum < G_MININT64)
        {
          g_autofree char *quoted = quoit_quote (asked->resources[r]), *text = quoit_sum_format ((QuoitSum) { sum });

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "resource %s: the sum of all bundles, '%s': expected less than 922337203685477.5808",
                             quoted, text);
        }
    }
  return TRUE;
}

gboolean
quoit_ray_question_init (QuoitRayQuestion *question, const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                         GError **error)
{
  guint32 n_nodes = cluster->ids->len;
  const char *label;

  *question = (QuoitRayQuestion) {
    .view = { .n_nodes = n_nodes, .n_candidates = n_nodes },
    .standing = { .strategy = group->strategy, .soft_target = QUOIT_NO_INDEX, .bound = QUOIT_NO_INDEX }
  };
  if (!find_label (group, &question->standing, &label, error) || !quoit_ray_asked_init (&question->asked, group, error))
    return FALSE;
  if ((label != NULL || question->standing.strategy == QUOIT_STRATEGY_STRICT_PACK)
      && !check_sums (&question->asked, error))
    return FALSE;
  if (!fill_rows (question, cluster, error))
    return FALSE;
  quoit_ray_filters (&question->asked, group, cluster, &question->passes);
  question->view.total = question->total;
  question->view.available = question->available;
  question->view.passes = question->passes;
  if (group->soft_target != NULL)
    question->standing.soft_target = quoit_ray_cluster_find (cluster, group->soft_target);
  if (label != NULL)
    number_domains (question, cluster, label, group->bound);
  if (group->excluded->len > 0)
    mark_excluded (question, group, cluster);
  return TRUE;
}

void
quoit_ray_question_clear (QuoitRayQuestion *question)
{
  quoit_ray_asked_clear (&question->asked);
  g_free (question->total);
  g_free (question->available);
  g_free (question->passes);
  g_free (question->excluded);
  g_free (question->domain);
}
