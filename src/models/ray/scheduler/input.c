/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/scheduler/input.h"

enum { MAX_AMOUNTS = 1 << 25 }; /* nodes times resources */

/* --- nodes --- */

/* Returns bits of the cluster's nodes that pass the filter of some bundle. The caller owns the array. */
static guint64 *
matching_nodes (const QuoitRayInput *input)
{
  gsize n_words = quoit_view_words (&input->view);
  guint64 *bits = g_new0 (guint64, n_words + 1);

  for (gsize f = 0; f < input->rows.bundles.n_filters; f++)
    for (gsize w = 0; w < n_words; w++)
      bits[w] |= input->passes[f * n_words + w];
  /* In `passes`, the bits after the last node are set. */
  if (input->view.n_nodes % 64 != 0)
    bits[n_words - 1] &= ((guint64) 1 << (input->view.n_nodes % 64)) - 1;
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

/* Returns a copy of @n_sets sets of bits with the bits of @nodes only. The caller owns it. */
static guint64 *
copy_node_bits (const guint64 *bits, gsize n_sets, gsize n_words, const guint32 *nodes, guint32 n)
{
  gsize n_copied_words = (n + 63) / 64;
  guint64 *copied = g_new0 (guint64, n_sets * n_copied_words + 1);

  for (gsize s = 0; s < n_sets; s++)
    for (gsize i = 0; i < n; i++)
      copied[s * n_copied_words + i / 64] |= (bits[s * n_words + nodes[i] / 64] >> (nodes[i] % 64) & 1) << (i % 64);
  return copied;
}

/* Omits the nodes that pass no filter from the view. They still count as candidates, unless they are excluded. */
static void
omit_other_nodes (QuoitRayInput *input)
{
  QuoitView *view = &input->view;
  gsize n_words = quoit_view_words (view);
  g_autofree guint64 *bits = matching_nodes (input), *passes = input->passes, *excluded = input->excluded;
  guint32 n = count_bits (bits, n_words);

  input->nodes = list_bits (bits, n_words, n);
  input->passes = copy_node_bits (passes, input->rows.bundles.n_filters, n_words, input->nodes, n);
  if (excluded != NULL)
    {
      input->excluded = copy_node_bits (excluded, 1, n_words, input->nodes, n);
      for (gsize w = 0; w < n_words; w++)
        view->n_candidates -= (guint32) __builtin_popcountll (excluded[w] & ~bits[w]);
    }
  view->n_nodes = n;
}

static guint32
cluster_node (const QuoitRayInput *input, guint32 i)
{
  return input->nodes == NULL ? i : input->nodes[i];
}

/* Returns the index in the view of @node of the cluster, or QUOIT_NO_INDEX. */
static guint32
view_index (const QuoitRayInput *input, guint32 node)
{
  guint32 low = 0, high = input->view.n_nodes;

  if (input->nodes == NULL)
    return node < high ? node : QUOIT_NO_INDEX;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (input->nodes[middle] < node)
        low = middle + 1;
      else
        high = middle;
    }
  return low < input->view.n_nodes && input->nodes[low] == node ? low : QUOIT_NO_INDEX;
}

void
quoit_ray_input_convert_to_cluster (const QuoitRayInput *input, guint32 *nodes)
{
  for (guint32 b = 0; b < input->rows.bundles.n_bundles; b++)
    nodes[b] = cluster_node (input, nodes[b]);
}

gboolean
quoit_ray_input_convert_to_view (const QuoitRayInput *input, guint32 *nodes)
{
  for (guint32 b = 0; b < input->rows.bundles.n_bundles; b++)
    {
      nodes[b] = view_index (input, nodes[b]);
      if (nodes[b] == QUOIT_NO_INDEX)
        return FALSE;
    }
  return TRUE;
}

/* --- amounts --- */

static void
set_resource (QuoitRayInput *input, gsize i, gsize r, const QuoitRayNodeResource *resource)
{
  input->total[i * input->rows.bundles.n_resources + r] = resource->total;
  input->available[i * input->rows.bundles.n_resources + r] = resource->available;
}

/* Fills in one resource. If the view has all nodes, this visits only nodes that state the resource, as far as
 * possible. */
static void
fill_column (QuoitRayInput *input, const QuoitRayCluster *cluster, gsize r)
{
  const char *name = input->rows.resources[r];
  const GArray *resources = quoit_ray_cluster_find_resource (cluster, name);
  gint64 default_e4 = quoit_ray_default_e4 (name);

  if (input->nodes == NULL)
    {
      for (guint32 i = 0; i < input->view.n_nodes && default_e4 != 0; i++)
        set_resource (input, i, r, &(QuoitRayNodeResource) { i, default_e4, default_e4 });
      for (guint i = 0; resources != NULL && i < resources->len; i++)
        set_resource (input, g_array_index (resources, QuoitRayNodeResource, i).node, r,
                      &g_array_index (resources, QuoitRayNodeResource, i));
      return;
    }
  for (guint32 i = 0; i < input->view.n_nodes; i++)
    {
      QuoitRayNodeResource resource = quoit_ray_get_resource (resources, input->nodes[i], default_e4);

      set_resource (input, i, r, &resource);
    }
}

static gboolean
fill_rows (QuoitRayInput *input, const QuoitRayCluster *cluster, GError **error)
{
  gsize n_nodes = input->view.n_nodes, n_resources = input->rows.bundles.n_resources;

  if (n_nodes * n_resources > MAX_AMOUNTS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' nodes and '%u' resources: expected at most %d amounts",
                       (guint) n_nodes, (guint) n_resources, MAX_AMOUNTS);
  input->total = g_new0 (gint64, n_nodes * n_resources + 1);
  input->available = g_new0 (gint64, n_nodes * n_resources + 1);
  for (gsize r = 0; r < n_resources; r++)
    fill_column (input, cluster, r);
  return TRUE;
}

/* --- placement rules --- */

/* Finds the label of the level above the nodes. Sets the strategy of the node level in @rules. */
static gboolean
find_label (const QuoitRayGroup *group, QuoitPlacementRules *rules, const char **label, GError **error)
{
  *label = NULL;
  for (guint i = 0; i < group->levels->len; i++)
    {
      const QuoitRayLevel *level = &g_array_index (group->levels, QuoitRayLevel, i);
      const char *key = quoit_strings_get (group->strings, level->key);

      if (g_str_equal (key, QUOIT_RAY_LABEL_NODE_ID))
        rules->strategy = level->strategy;
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
number_domains (QuoitRayInput *input, const QuoitRayCluster *cluster, const char *label, const char *required_value)
{
  const QuoitRayLabelKey *key = quoit_ray_cluster_find_key (cluster, label);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);

  input->domain = g_new (guint32, cluster->ids->len);
  for (guint n = 0; n < cluster->ids->len; n++)
    input->domain[n] = QUOIT_NO_INDEX;
  for (guint i = 0; key != NULL && i < key->labels->len; i++)
    {
      const QuoitRayLabel *row = &g_array_index (key->labels, QuoitRayLabel, i);
      guint32 number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, GUINT_TO_POINTER (row->value.index)));

      if (row->value.index == 0)
        continue;
      if (number == 0)
        {
          number = ++input->view.n_domains;
          g_hash_table_insert (numbers, GUINT_TO_POINTER (row->value.index), GUINT_TO_POINTER (number));
        }
      input->domain[row->node] = number - 1;
      if (g_strcmp0 (required_value, quoit_strings_get (cluster->strings, row->value)) == 0)
        input->rules.required_domain = number - 1;
    }
  /* A value that no node has any more becomes a domain without nodes. */
  if (required_value != NULL && input->rules.required_domain == QUOIT_NO_INDEX)
    input->rules.required_domain = input->view.n_domains++;
  input->view.domain = input->domain;
  input->rules.n_values = 1;
}

static void
mark_excluded (QuoitRayInput *input, const QuoitRayGroup *group, const QuoitRayCluster *cluster)
{
  input->excluded = g_new0 (guint64, quoit_view_words (&input->view) + 1);
  for (guint i = 0; i < group->excluded->len; i++)
    {
      guint32 node = quoit_ray_cluster_find (cluster, group->excluded->pdata[i]);

      if (node != QUOIT_NO_INDEX)
        input->excluded[node / 64] |= (guint64) 1 << (node % 64);
    }
}

/* For STRICT_PACK and for a topology label, Ray adds up all bundles in 64 bits. Larger sums are refused. */
static gboolean
check_sums (const QuoitRayBundleRows *rows, GError **error)
{
  gsize n_resources = rows->bundles.n_resources;

  for (gsize r = 0; r < n_resources; r++)
    {
      __int128 sum = 0;

      for (gsize b = 0; b < rows->bundles.n_bundles; b++)
        sum += rows->amounts[b * n_resources + r];
      if (sum > G_MAXINT64 || sum < G_MININT64)
        {
          g_autofree char *quoted = quoit_quote (rows->resources[r]), *text = quoit_sum_format ((QuoitSum) { sum });

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "resource %s: the sum of all bundles, '%s': expected less than 922337203685477.5808",
                             quoted, text);
        }
    }
  return TRUE;
}

gboolean
quoit_ray_input_init (QuoitRayInput *input, const QuoitRayGroup *group, const QuoitRayCluster *cluster, GError **error)
{
  guint32 n_nodes = cluster->ids->len;
  const char *label;

  *input = (QuoitRayInput) {
    .view = { .n_nodes = n_nodes, .n_candidates = n_nodes },
    .rules = { .strategy = group->strategy, .soft_target = QUOIT_NO_INDEX, .required_domain = QUOIT_NO_INDEX }
  };
  if (!find_label (group, &input->rules, &label, error) || !quoit_ray_bundle_rows_init (&input->rows, group, error))
    return FALSE;
  if ((label != NULL || input->rules.strategy == QUOIT_STRATEGY_STRICT_PACK) && !check_sums (&input->rows, error))
    return FALSE;
  if (!quoit_ray_bundle_rows_add_filters (&input->rows, group, cluster, &input->passes, error))
    return FALSE;
  if (group->excluded->len > 0)
    mark_excluded (input, group, cluster);
  /* Ray adds up all nodes of a domain, whether a bundle can use them or not, so none may be omitted. */
  if (label != NULL)
    number_domains (input, cluster, label, group->required_value);
  else if (input->passes != NULL)
    omit_other_nodes (input);
  if (!fill_rows (input, cluster, error))
    return FALSE;
  input->view.total = input->total;
  input->view.available = input->available;
  input->view.passes = input->passes;
  input->rules.excluded = input->excluded;
  if (group->soft_target != NULL)
    input->rules.soft_target = view_index (input, quoit_ray_cluster_find (cluster, group->soft_target));
  return TRUE;
}

void
quoit_ray_input_clear (QuoitRayInput *input)
{
  quoit_ray_bundle_rows_clear (&input->rows);
  g_free (input->nodes);
  g_free (input->total);
  g_free (input->available);
  g_free (input->passes);
  g_free (input->excluded);
  g_free (input->domain);
}
