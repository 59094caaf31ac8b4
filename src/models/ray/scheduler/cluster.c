/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/scheduler/cluster.h"

#include "base/indices.h"

static void
key_free (gpointer data)
{
  QuoitRayLabelKey *key = data;

  g_array_unref (key->labels);
  g_hash_table_unref (key->nodes);
  g_free (key);
}

static void
array_free (gpointer array)
{
  g_array_unref (array);
}

QuoitRayCluster *
quoit_ray_cluster_alloc (void)
{
  QuoitRayCluster *cluster = g_new0 (QuoitRayCluster, 1);

  cluster->strings = quoit_strings_new (0, 0);
  cluster->ids = g_array_new (FALSE, FALSE, sizeof (QuoitStringId));
  cluster->by_id = g_hash_table_new (NULL, NULL);
  cluster->resources = g_hash_table_new_full (NULL, NULL, NULL, array_free);
  cluster->keys = g_hash_table_new_full (NULL, NULL, NULL, key_free);
  return cluster;
}

void
quoit_ray_cluster_release (QuoitRayCluster *cluster)
{
  quoit_strings_free (cluster->strings);
  g_array_unref (cluster->ids);
  g_hash_table_unref (cluster->by_id);
  g_hash_table_unref (cluster->resources);
  g_hash_table_unref (cluster->keys);
  g_free (cluster);
}

/* Returns the entry of @table for @text, or NULL. */
static gpointer
find (const QuoitRayCluster *cluster, GHashTable *table, const char *text)
{
  QuoitStringId id;

  if (!quoit_strings_find (cluster->strings, text, &id))
    return NULL;
  return g_hash_table_lookup (table, GUINT_TO_POINTER (id.index));
}

gboolean
quoit_ray_cluster_add (QuoitRayCluster *cluster, const char *id, GError **error)
{
  QuoitStringId interned;

  if (quoit_ray_cluster_find (cluster, id) != QUOIT_NO_INDEX)
    {
      g_autofree char *quoted = quoit_quote (id);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "node %s: expected an id that no other node has", quoted);
    }
  interned = quoit_strings_intern (cluster->strings, id);
  g_array_append_val (cluster->ids, interned);
  g_hash_table_insert (cluster->by_id, GUINT_TO_POINTER (interned.index), GUINT_TO_POINTER (cluster->ids->len));
  return TRUE;
}

guint32
quoit_ray_cluster_find (const QuoitRayCluster *cluster, const char *id)
{
  /* A missing entry is 0, and 0 - 1 is QUOIT_NO_INDEX. */
  return GPOINTER_TO_UINT (find (cluster, cluster->by_id, id)) - 1;
}

/* Returns the index of the row of @node in @rows, or where to insert it. Each row begins with a node, and rows are
 * sorted by it. */
static guint
row_index (const GArray *rows, guint32 node)
{
  guint size = g_array_get_element_size ((GArray *) rows), low = 0, high = rows->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (*(const guint32 *) (const void *) (rows->data + (gsize) middle * size) < node)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
quoit_ray_cluster_store_resource (QuoitRayCluster *cluster, guint32 node, const char *resource, gint64 total,
                                  gint64 available)
{
  QuoitStringId id = quoit_strings_intern (cluster->strings, resource);
  GArray *rows = g_hash_table_lookup (cluster->resources, GUINT_TO_POINTER (id.index));
  QuoitRayNodeResource row = { node, total, available };
  guint i;

  if (rows == NULL)
    {
      rows = g_array_new (FALSE, FALSE, sizeof (QuoitRayNodeResource));
      g_hash_table_insert (cluster->resources, GUINT_TO_POINTER (id.index), rows);
    }
  i = row_index (rows, node);
  if (i < rows->len && g_array_index (rows, QuoitRayNodeResource, i).node == node)
    g_array_index (rows, QuoitRayNodeResource, i) = row;
  else
    g_array_insert_val (rows, i, row);
}

static QuoitRayLabelKey *
find_or_add_key (QuoitRayCluster *cluster, const char *text)
{
  QuoitStringId id = quoit_strings_intern (cluster->strings, text);
  QuoitRayLabelKey *key = g_hash_table_lookup (cluster->keys, GUINT_TO_POINTER (id.index));

  if (key == NULL)
    {
      key = g_new (QuoitRayLabelKey, 1);
      key->labels = g_array_new (FALSE, FALSE, sizeof (QuoitRayLabel));
      key->nodes = g_hash_table_new_full (NULL, NULL, NULL, array_free);
      g_hash_table_insert (cluster->keys, GUINT_TO_POINTER (id.index), key);
    }
  return key;
}

static void
remove_node (QuoitRayLabelKey *key, QuoitStringId value, guint32 node)
{
  GArray *nodes = g_hash_table_lookup (key->nodes, GUINT_TO_POINTER (value.index));

  g_array_remove_index (nodes, row_index (nodes, node));
}

static void
insert_node (QuoitRayLabelKey *key, QuoitStringId value, guint32 node)
{
  GArray *nodes = g_hash_table_lookup (key->nodes, GUINT_TO_POINTER (value.index));

  if (nodes == NULL)
    {
      nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_hash_table_insert (key->nodes, GUINT_TO_POINTER (value.index), nodes);
    }
  g_array_insert_val (nodes, row_index (nodes, node), node);
}

void
quoit_ray_cluster_store_label (QuoitRayCluster *cluster, guint32 node, const char *text, const char *value)
{
  QuoitRayLabelKey *key = find_or_add_key (cluster, text);
  QuoitRayLabel label = { node, quoit_strings_intern (cluster->strings, value) };
  guint i = row_index (key->labels, node);

  if (i < key->labels->len && g_array_index (key->labels, QuoitRayLabel, i).node == node)
    {
      remove_node (key, g_array_index (key->labels, QuoitRayLabel, i).value, node);
      g_array_index (key->labels, QuoitRayLabel, i) = label;
    }
  else
    g_array_insert_val (key->labels, i, label);
  insert_node (key, label.value, node);
}

const GArray *
quoit_ray_cluster_find_resource (const QuoitRayCluster *cluster, const char *resource)
{
  return find (cluster, cluster->resources, resource);
}

const QuoitRayLabelKey *
quoit_ray_cluster_find_key (const QuoitRayCluster *cluster, const char *key)
{
  return find (cluster, cluster->keys, key);
}

const GArray *
quoit_ray_cluster_find_nodes (const QuoitRayCluster *cluster, const QuoitRayLabelKey *key, const char *value)
{
  return find (cluster, key->nodes, value);
}

gint64
quoit_ray_default_e4 (const char *resource)
{
  return g_str_has_prefix (resource, "node:__internal_implicit_resource_") ? QUOIT_AMOUNT_UNIT : 0;
}

QuoitRayNodeResource
quoit_ray_get_resource (const GArray *rows, guint32 node, gint64 default_e4)
{
  guint i = rows == NULL ? 0 : row_index (rows, node);

  if (rows != NULL && i < rows->len && g_array_index (rows, QuoitRayNodeResource, i).node == node)
    return g_array_index (rows, QuoitRayNodeResource, i);
  return (QuoitRayNodeResource) { node, default_e4, default_e4 };
}

QuoitRayNodeResource
quoit_ray_cluster_get_resource (const QuoitRayCluster *cluster, guint32 node, const char *resource)
{
  return quoit_ray_get_resource (quoit_ray_cluster_find_resource (cluster, resource), node,
                                 quoit_ray_default_e4 (resource));
}
