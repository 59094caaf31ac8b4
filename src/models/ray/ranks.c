/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the ranks of the workers of a Ray Train job. */
#include <string.h>

#include <quoit/models/ray-train.h>

#include "base/name-hash.h"

typedef struct {
  unsigned worker, local_rank, node_rank;
} Rank;

struct _QuoitRayRanks {
  unsigned n;
  Rank *ranks;
  unsigned *node_sizes; /* number of workers of each node, by the rank of the node */
};

typedef struct {
  unsigned worker;
  const char *slice; /* for workers with TPU, else "" */
  guint position;    /* position of the node, for workers without TPU */
  int64_t gpu;
} SortKey;

/* Workers with equal keys keep their order, because g_array_sort() is stable like Python's sort. strcmp() orders UTF-8
 * text like Python orders characters. */
static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  const SortKey *x = a, *y = b;
  int slices = strcmp (x->slice, y->slice);

  if (slices != 0)
    return slices;
  if (x->position != y->position)
    return x->position < y->position ? -1 : 1;
  return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* Returns the position of @id, from 1. Ids get positions in the order of their first occurrence. */
static guint
find_or_add_position (GHashTable *positions, const char *id)
{
  guint position = GPOINTER_TO_UINT (g_hash_table_lookup (positions, id));

  if (position > 0)
    return position;

  position = g_hash_table_size (positions) + 1;
  g_hash_table_insert (positions, (gpointer) id, GUINT_TO_POINTER (position));
  return position;
}

static QuoitRayRanks *
ranks_from_sorted_keys (const GArray *keys, const char *const *nodes)
{
  QuoitRayRanks *ranks = g_new (QuoitRayRanks, 1);
  g_autoptr (GHashTable) positions = g_hash_table_new (quoit_hash_text, g_str_equal);

  ranks->n = keys->len;
  ranks->ranks = g_new (Rank, keys->len);
  ranks->node_sizes = g_new0 (unsigned, keys->len);
  for (unsigned i = 0; i < keys->len; i++)
    {
      Rank *rank = &ranks->ranks[i];

      rank->worker = g_array_index (keys, SortKey, i).worker;
      rank->node_rank = find_or_add_position (positions, nodes[rank->worker]) - 1;
      rank->local_rank = ranks->node_sizes[rank->node_rank]++;
    }
  return ranks;
}

QuoitRayRanks *
quoit_ray_ranks_new_by_slice (const char *const *slices, const char *const *nodes, uint32_t n)
{
  g_autoptr (GArray) keys = g_array_sized_new (FALSE, FALSE, sizeof (SortKey), n);

  for (unsigned i = 0; i < n; i++)
    {
      SortKey key = { i, slices[i] != NULL ? slices[i] : "", 0, 0 };

      g_array_append_val (keys, key);
    }
  g_array_sort (keys, compare_keys);
  return ranks_from_sorted_keys (keys, nodes);
}

QuoitRayRanks *
quoit_ray_ranks_new_by_node (const char *const *node_ids, const int64_t *lowest_gpu, const char *first_id, uint32_t n)
{
  g_autoptr (GArray) keys = g_array_sized_new (FALSE, FALSE, sizeof (SortKey), n);
  g_autoptr (GHashTable) positions = g_hash_table_new (quoit_hash_text, g_str_equal);

  if (first_id != NULL)
    find_or_add_position (positions, first_id);
  for (unsigned i = 0; i < n; i++)
    {
      SortKey key = { i, "", find_or_add_position (positions, node_ids[i]), lowest_gpu != NULL ? lowest_gpu[i] : 0 };

      g_array_append_val (keys, key);
    }
  g_array_sort (keys, compare_keys);
  return ranks_from_sorted_keys (keys, node_ids);
}

void
quoit_ray_ranks_free (QuoitRayRanks *ranks)
{
  if (ranks == NULL)
    return;

  g_free (ranks->ranks);
  g_free (ranks->node_sizes);
  g_free (ranks);
}

uint32_t
quoit_ray_ranks_get_worker (const QuoitRayRanks *ranks, uint32_t rank)
{
  return rank < ranks->n ? ranks->ranks[rank].worker : ranks->n;
}

uint32_t
quoit_ray_ranks_get_local_rank (const QuoitRayRanks *ranks, uint32_t rank)
{
  return rank < ranks->n ? ranks->ranks[rank].local_rank : 0;
}

uint32_t
quoit_ray_ranks_get_local_size (const QuoitRayRanks *ranks, uint32_t rank)
{
  return rank < ranks->n ? ranks->node_sizes[ranks->ranks[rank].node_rank] : 0;
}

uint32_t
quoit_ray_ranks_get_node_rank (const QuoitRayRanks *ranks, uint32_t rank)
{
  return rank < ranks->n ? ranks->ranks[rank].node_rank : 0;
}
