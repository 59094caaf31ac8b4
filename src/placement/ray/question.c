/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ray/question.h"

enum { MOST_STOCKS = 1 << 25 }; /* nodes times resources */

/* --- nodes --- */

/* Returns bits of the cluster's nodes that match the labels of some bundle. The caller owns the array. */
static guint64 *
matched (const QuoitRayQuestion *question)
{
  gsize n_words = quoit_view_words (&question->view);
  guint64 *bits = g_new0 (guint64, n_words + 1);

  for (gsize f = 0; f < question->asked.bundles.n_filters; f++)
    for (gsize w = 0; w < n_words; w++)
      bits[w] |= question->passes[f * n_words + w];
  /* All bits after the last node are set in passes. */
  if (question->view.n_nodes % 64 != 0)
    bits[n_words - 1] &= ((guint64) 1 << (question->view.n_nodes % 64)) - 1;
  return bits;
}

static guint32
count_bits (const guint64 *bits, gsize n_words)
{
  guint32 n = 0;

  for (gsize w = 0; w < n_words; w++)
    n += (guint32) __builtin_popcountll (bits[w]);
  return n;
}

static guint32 *
list_bits (const guint64 *bits, gsize n_words, guint32 n)
{
  guint32 *nodes = g_new0 (guint32, n + 1), at = 0;

  for (gsize w = 0; w < n_words; w++)
    for (guint64 word = bits[w]; word != 0; word &= word - 1)
      nodes[at++] = (guint32) (w * 64) + (guint32) __builtin_ctzll (word);
  return nodes;
}

/* Copies the bits of @nodes. */
static guint64 *
gather (const guint64 *bits, gsize n_sets, gsize n_words, const guint32 *nodes, guint32 n)
{
  gsize n_gathered = (n + 63) / 64;
  guint64 *gathered = g_new0 (guint64, n_sets * n_gathered + 1);

  for (gsize s = 0; s < n_sets; s++)
    for (gsize i = 0; i < n; i++)
      gathered[s * n_gathered + i / 64] |= (bits[s * n_words + nodes[i] / 64] >> (nodes[i] % 64) & 1) << (i % 64);
  return gathered;
}

/* Omits the nodes that match no bundle's labels from the view. They still count as candidates, unless they are
 * excluded. */
static void
leave_out (QuoitRayQuestion *question)
{
  QuoitView *view = &question->view;
  gsize n_words = quoit_view_words (view);
  g_autofree guint64 *bits = matched (question), *passes = question->passes, *excluded = question->excluded;
  guint32 n = count_bits (bits, n_words);

  question->nodes = list_bits (bits, n_words, n);
  question->passes = gather (passes, question->asked.bundles.n_filters, n_words, question->nodes, n);
  if (excluded != NULL)
    {
      question->excluded = gather (excluded, 1, n_words, question->nodes, n);
      for (gsize w = 0; w < n_words; w++)
        view->n_candidates -= (guint32) __builtin_popcountll (excluded[w] & ~bits[w]);
    }
  view->n_nodes = n;
}

static guint32
node_at (const QuoitRayQuestion *question, guint32 i)
{
  return question->nodes == NULL ? i : question->nodes[i];
}

/* Returns the index in the view of @node of the cluster, or QUOIT_NO_INDEX. */
static guint32
place_of (const QuoitRayQuestion *question, guint32 node)
{
  guint32 low = 0, high = question->view.n_nodes;

  if (question->nodes == NULL)
    return node < high ? node : QUOIT_NO_INDEX;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (question->nodes[middle] < node)
        low = middle + 1;
      else
        high = middle;
    }
  return low < question->view.n_nodes && question->nodes[low] == node ? low : QUOIT_NO_INDEX;
}

void
quoit_ray_question_tell (const QuoitRayQuestion *question, guint32 *nodes)
{
  for (guint32 b = 0; b < question->asked.bundles.n_bundles; b++)
    nodes[b] = node_at (question, nodes[b]);
}

gboolean
quoit_ray_question_find (const QuoitRayQuestion *question, guint32 *nodes)
{
  for (guint32 b = 0; b < question->asked.bundles.n_bundles; b++)
    {
      nodes[b] = place_of (question, nodes[b]);
      if (nodes[b] == QUOIT_NO_INDEX)
        return FALSE;
    }
  return TRUE;
}

/* --- amounts --- */

static void
put_stock (QuoitRayQuestion *question, gsize i, gsize r, const QuoitRayStock *stock)
{
  question->total[i * question->asked.bundles.n_resources + r] = stock->total;
  question->available[i * question->asked.bundles.n_resources + r] = stock->available;
}

/* Fills in one resource: by node if the view has a list of nodes, otherwise by the rows of the cluster. */
static void
fill_column (QuoitRayQuestion *question, const QuoitRayCluster *cluster, gsize r)
{
  const char *name = question->asked.resources[r];
  const GArray *stocks = quoit_ray_cluster_stocks (cluster, name);
  gint64 unstated = quoit_ray_unstated_e4 (name);

  if (question->nodes == NULL)
    {
      for (guint32 i = 0; i < question->view.n_nodes && unstated != 0; i++)
        put_stock (question, i, r, &(QuoitRayStock) { i, unstated, unstated });
      for (guint i = 0; stocks != NULL && i < stocks->len; i++)
        put_stock (question, g_array_index (stocks, QuoitRayStock, i).node, r,
                   &g_array_index (stocks, QuoitRayStock, i));
      return;
    }
  for (guint32 i = 0; i < question->view.n_nodes; i++)
    {
      QuoitRayStock stock = quoit_ray_stock_at (stocks, question->nodes[i], unstated);

      put_stock (question, i, r, &stock);
    }
}

static gboolean
fill_rows (QuoitRayQuestion *question, const QuoitRayCluster *cluster, GError **error)
{
  gsize n_nodes = question->view.n_nodes, n_resources = question->asked.bundles.n_resources;

  if (n_nodes * n_resources > MOST_STOCKS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' nodes and '%u' resources: expected at most %d amounts",
                       (guint) n_nodes, (guint) n_resources, MOST_STOCKS);
  question->total = g_new0 (gint64, n_nodes * n_resources + 1);
  question->available = g_new0 (gint64, n_nodes * n_resources + 1);
  for (gsize r = 0; r < n_resources; r++)
    fill_column (question, cluster, r);
  return TRUE;
}

/* --- placement rules --- */

/* Finds the level that is not the node level. The strategy of the node level is set in @standing. */
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

/* Numbers the values in the order of the nodes. As in Ray, an empty value counts as no value. */
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
  /* A value that no node has any more becomes a domain without nodes. */
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
}

/* For STRICT_PACK and for a topology label, Ray sums up all bundles in 64 bits. */
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
  if (!quoit_ray_filters (&question->asked, group, cluster, &question->passes, error))
    return FALSE;
  if (group->excluded->len > 0)
    mark_excluded (question, group, cluster);
  /* Ray sums up all nodes of a domain, whether a bundle can use them or not, so none may be omitted. */
  if (label != NULL)
    number_domains (question, cluster, label, group->bound);
  else if (question->passes != NULL)
    leave_out (question);
  if (!fill_rows (question, cluster, error))
    return FALSE;
  question->view.total = question->total;
  question->view.available = question->available;
  question->view.passes = question->passes;
  question->standing.excluded = question->excluded;
  if (group->soft_target != NULL)
    question->standing.soft_target = place_of (question, quoit_ray_cluster_find (cluster, group->soft_target));
  return TRUE;
}

void
quoit_ray_question_clear (QuoitRayQuestion *question)
{
  quoit_ray_asked_clear (&question->asked);
  g_free (question->nodes);
  g_free (question->total);
  g_free (question->available);
  g_free (question->passes);
  g_free (question->excluded);
  g_free (question->domain);
}
