/* SPDX-License-Identifier: Apache-2.0 */
/* A node list of Ray: a row for each node, and the available resources by node id. */
#include "models/ray/nodes.h"

#include <string.h>

#include "base/name-hash.h"
#include "models/ray/ray.h"

typedef struct {
  char *id;
  QuoitRayLabels *labels;
  QuoitRayResources *total;
  gboolean is_alive;
} Row;

struct _QuoitRayNodes {
  GArray *rows;
  GHashTable *available; /* id -> QuoitRayResources */
};

static void
clear_row (gpointer data)
{
  Row *row = data;

  g_free (row->id);
  quoit_ray_labels_free (row->labels);
  quoit_ray_resources_free (row->total);
}

QuoitRayLabels *
quoit_ray_labels_copy (const QuoitRayLabels *labels)
{
  QuoitRayLabels *copy = quoit_ray_labels_new ();
  const char *key;

  for (unsigned i = 0; labels != NULL && (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    quoit_ray_labels_set (copy, key, quoit_ray_labels_get_value (labels, i));
  return copy;
}

QuoitRayNodes *
quoit_ray_nodes_new (void)
{
  QuoitRayNodes *nodes = g_new (QuoitRayNodes, 1);

  nodes->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  nodes->available
      = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, (GDestroyNotify) quoit_ray_resources_free);
  g_array_set_clear_func (nodes->rows, clear_row);
  return nodes;
}

void
quoit_ray_nodes_free (QuoitRayNodes *nodes)
{
  if (nodes == NULL)
    return;

  g_hash_table_unref (nodes->available);
  g_array_unref (nodes->rows);
  g_free (nodes);
}

static Row *
row_at (const QuoitRayNodes *nodes, unsigned index)
{
  return index < nodes->rows->len ? &g_array_index (nodes->rows, Row, index) : NULL;
}

uint32_t
quoit_ray_nodes_add (QuoitRayNodes *nodes, const char *id, const QuoitRayLabels *labels, const QuoitRayResources *total)
{
  Row row = { g_strdup (id), quoit_ray_labels_copy (labels), quoit_ray_resources_copy (total), TRUE };

  g_array_append_val (nodes->rows, row);
  return nodes->rows->len - 1;
}

void
quoit_ray_nodes_set_dead (QuoitRayNodes *nodes, uint32_t index)
{
  Row *row = row_at (nodes, index);

  if (row != NULL)
    row->is_alive = FALSE;
}

void
quoit_ray_nodes_set_available (QuoitRayNodes *nodes, const char *id, const QuoitRayResources *available)
{
  g_hash_table_replace (nodes->available, g_strdup (id), quoit_ray_resources_copy (available));
}

uint32_t
quoit_ray_nodes_get_n (const QuoitRayNodes *nodes)
{
  return nodes->rows->len;
}

const char *
quoit_ray_nodes_get_id (const QuoitRayNodes *nodes, uint32_t index)
{
  const Row *row = row_at (nodes, index);

  return row != NULL ? row->id : NULL;
}

const char *
quoit_ray_nodes_get_slice_name (const QuoitRayNodes *nodes, uint32_t index)
{
  return row_at (nodes, index) != NULL ? quoit_ray_nodes_label (nodes, index, QUOIT_RAY_LABEL_SLICE_NAME) : NULL;
}

uint32_t
quoit_ray_nodes_find_slice_node (const QuoitRayNodes *nodes, const char *slice_name, uint32_t from)
{
  for (unsigned i = from; i < nodes->rows->len; i++)
    if (row_at (nodes, i)->is_alive && g_strcmp0 (quoit_ray_nodes_get_slice_name (nodes, i), slice_name) == 0)
      return i;

  return nodes->rows->len;
}

gboolean
quoit_ray_nodes_is_alive (const QuoitRayNodes *nodes, unsigned index)
{
  return row_at (nodes, index)->is_alive;
}

const char *
quoit_ray_nodes_label (const QuoitRayNodes *nodes, unsigned index, const char *name)
{
  return quoit_ray_labels_find (row_at (nodes, index)->labels, name);
}

double
quoit_ray_nodes_total_tpu (const QuoitRayNodes *nodes, unsigned index)
{
  const double *tpu = quoit_ray_resources_find (row_at (nodes, index)->total, "TPU");

  return tpu != NULL ? *tpu : 0;
}

const double *
quoit_ray_nodes_available (const QuoitRayNodes *nodes, unsigned index, const char *resource)
{
  return quoit_ray_resources_find (g_hash_table_lookup (nodes->available, row_at (nodes, index)->id), resource);
}

gboolean
quoit_ray_nodes_counts_as_idle (const QuoitRayNodes *nodes, unsigned index)
{
  const double *available = quoit_ray_nodes_available (nodes, index, "TPU");

  return available == NULL || !(*available < quoit_ray_nodes_total_tpu (nodes, index));
}
