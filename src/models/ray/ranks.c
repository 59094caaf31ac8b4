/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the ranks of the workers of a Ray Train job. */
#include <string.h>

#include <quoit/models/ray-train.h>

typedef struct {
  unsigned worker, local_rank, node_rank;
} Rank;

struct _QuoitRayRanks {
  unsigned n;
  Rank *ranks;
  unsigned *node_sizes; /* indexed by the rank of the node */
};

typedef struct {
  unsigned worker;
  const char *slice; /* for workers with TPU, else "" */
  guint place;       /* place of the node, for workers without TPU */
  int64_t gpu;
} Key;

/* The sort must be stable, and GLib's array sort is. Byte order of UTF-8 equals Python's character order. */
static gint
by_key (gconstpointer a, gconstpointer b)
{
  const Key *x = a, *y = b;
  int slices = strcmp (x->slice, y->slice);

  if (slices != 0)
    return slices;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* Returns the place of @id in the order of first occurrence, from 1. */
static guint
place_of (GHashTable *places, const char *id)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, id));

  if (place > 0)
    return place;

  place = g_hash_table_size (places) + 1;
  g_hash_table_insert (places, (gpointer) id, GUINT_TO_POINTER (place));
  return place;
}

static QuoitRayRanks *
rank_sorted (const GArray *keys, const char *const *nodes)
{
  QuoitRayRanks *ranks = g_new (QuoitRayRanks, 1);
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);

  ranks->n = keys->len;
  ranks->ranks = g_new (Rank, keys->len);
  ranks->node_sizes = g_new0 (unsigned, keys->len);
  for (unsigned i = 0; i < keys->len; i++)
    {
      Rank *rank = &ranks->ranks[i];

      rank->worker = g_array_index (keys, Key, i).worker;
      rank->node_rank = place_of (places, nodes[rank->worker]) - 1;
      rank->local_rank = ranks->node_sizes[rank->node_rank]++;
    }
  return ranks;
}

QuoitRayRanks *
quoit_ray_ranks_new_by_slice (const char *const *slices, const char *const *nodes, unsigned n)
{
  g_autoptr (GArray) keys = g_array_sized_new (FALSE, FALSE, sizeof (Key), n);

  for (unsigned i = 0; i < n; i++)
    {
      Key key = { i, slices[i] != NULL ? slices[i] : "", 0, 0 };

      g_array_append_val (keys, key);
    }
  g_array_sort (keys, by_key);
  return rank_sorted (keys, nodes);
}

QuoitRayRanks *
quoit_ray_ranks_new_by_node (const char *const *node_ids, const int64_t *lowest_gpu, const char *first_id, unsigned n)
{
  g_autoptr (GArray) keys = g_array_sized_new (FALSE, FALSE, sizeof (Key), n);
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);

  if (first_id != NULL)
    place_of (places, first_id);
  for (unsigned i = 0; i < n; i++)
    {
      Key key = { i, "", place_of (places, node_ids[i]), lowest_gpu != NULL ? lowest_gpu[i] : 0 };

      g_array_append_val (keys, key);
    }
  g_array_sort (keys, by_key);
  return rank_sorted (keys, node_ids);
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

unsigned
quoit_ray_ranks_get_worker (const QuoitRayRanks *ranks, unsigned rank)
{
  return rank < ranks->n ? ranks->ranks[rank].worker : ranks->n;
}

unsigned
quoit_ray_ranks_get_local_rank (const QuoitRayRanks *ranks, unsigned rank)
{
  return rank < ranks->n ? ranks->ranks[rank].local_rank : 0;
}

unsigned
quoit_ray_ranks_get_local_size (const QuoitRayRanks *ranks, unsigned rank)
{
  return rank < ranks->n ? ranks->node_sizes[ranks->ranks[rank].node_rank] : 0;
}

unsigned
quoit_ray_ranks_get_node_rank (const QuoitRayRanks *ranks, unsigned rank)
{
  return rank < ranks->n ? ranks->ranks[rank].node_rank : 0;
}
