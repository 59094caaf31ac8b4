/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/memory.h"

#include <string.h>

enum {
  MOST_KEPT = 4,       /* memories of a class: so many threads can use one each */
  MOST_QUESTIONS = 64, /* of a memory; the one that was asked least recently is forgotten first */
  FEWEST_SETS = 4096,  /* remembered, and SETS_PER_SLICE more for each slice: slots has four for each */
  SETS_PER_SLICE = 4
};

/* An atomic rc box. */
struct _QuoitCutStore {
  const QuoitLayout *layout; /* which owns the store */
  guint32 class_index;
  QuoitGrid grid;
  GArray *slices;
  QuoitCutMemory *kept[MOST_KEPT]; /* atomic, so that a child of fork(2) never waits for a thread of its parent */
};

/* --- sets and questions --- */

static guint
hash_set (gconstpointer data)
{
  return ((const QuoitFreeSet *) data)->hash;
}

static gboolean
sets_equal (gconstpointer a, gconstpointer b)
{
  const QuoitFreeSet *x = a, *y = b;

  return x->hash == y->hash && memcmp (x->rows, y->rows, x->n_bytes) == 0;
}

/* Reads eight bytes at once, because sets are long. */
static guint32
hash_rows (const guint16 *rows, gsize n_bytes)
{
  const guint8 *bytes = (const guint8 *) rows;
  guint64 hash = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15), word = 0;

  for (gsize at = 0; at < n_bytes; at += sizeof word)
    {
      word = 0;
      memcpy (&word, bytes + at, MIN (sizeof word, n_bytes - at));
      hash = (hash ^ word) * G_GUINT64_CONSTANT (0xff51afd7ed558ccd);
      hash ^= hash >> 29;
    }
  return (guint32) (hash ^ hash >> 32);
}

QuoitFreeSet *
quoit_cut_memory_find (QuoitCutMemory *memory, const QuoitHostSet *free)
{
  const guint32 n_bytes = quoit_grid_n_rows (&memory->grid) * (guint32) sizeof *free->rows;
  const QuoitFreeSet key = { 0, hash_rows (free->rows, n_bytes), n_bytes, free->rows };
  QuoitFreeSet *set = g_hash_table_lookup (memory->sets, &key);
  guint16 *rows;

  if (set != NULL)
    return set;
  set = g_malloc (sizeof *set + n_bytes);
  rows = (guint16 *) (void *) (set + 1);
  memcpy (rows, free->rows, n_bytes);
  *set = key;
  set->rows = rows;
  g_hash_table_add (memory->sets, set);
  return set;
}

void
quoit_free_set_copy (const QuoitFreeSet *set, QuoitHostSet *free)
{
  memcpy (free->rows, set->rows, set->n_bytes);
}

static void
forget_state (QuoitCutQuestion *question)
{
  if (question->state != NULL)
    question->free_state (question->state);
  question->state = NULL;
  g_array_set_size (question->changed, 0);
}

static void
question_free (gpointer data)
{
  QuoitCutQuestion *question = data;

  forget_state (question);
  g_bytes_unref (question->key);
  g_hash_table_unref (question->results);
  g_array_unref (question->changed);
  g_free (question);
}

static GBytes *
make_key (const QuoitCutting *cutting, guint8 what, guint64 detail)
{
  GByteArray *key = g_byte_array_sized_new (sizeof *cutting);

  g_byte_array_append (key, &what, sizeof what);
  g_byte_array_append (key, (const guint8 *) &detail, sizeof detail);
  g_byte_array_append (key, (const guint8 *) &cutting->offsets, sizeof cutting->offsets);
  for (guint turn = 0; turn < cutting->n_turns; turn++)
    g_byte_array_append (key, (const guint8 *) cutting->turns[turn].hosts.dims, sizeof cutting->turns[turn].hosts.dims);
  return g_byte_array_free_to_bytes (key);
}

QuoitCutQuestion *
quoit_cut_memory_ask (QuoitCutMemory *memory, const QuoitCutting *cutting, guint8 what, guint64 detail)
{
  g_autoptr (GBytes) key = make_key (cutting, what, detail);
  QuoitCutQuestion *question = NULL;
  guint oldest = 0;

  for (guint i = 0; i < memory->questions->len && question == NULL; i++)
    {
      QuoitCutQuestion *other = memory->questions->pdata[i];

      if (g_bytes_equal (other->key, key))
        question = other;
      else if (other->used < ((QuoitCutQuestion *) memory->questions->pdata[oldest])->used)
        oldest = i;
    }
  if (question == NULL)
    {
      /* A question of this call is not forgotten: what it was asked for is still in use. */
      if (memory->questions->len >= MOST_QUESTIONS
          && ((QuoitCutQuestion *) memory->questions->pdata[oldest])->used < memory->n_asked)
        g_ptr_array_remove_index_fast (memory->questions, oldest);
      question = g_new0 (QuoitCutQuestion, 1);
      question->key = g_steal_pointer (&key);
      question->results = g_hash_table_new_full (NULL, NULL, NULL, g_free);
      question->changed = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_ptr_array_add (memory->questions, question);
    }
  question->used = memory->n_asked;
  return question;
}

/* --- seeing --- */

static void
set_at (QuoitCutMemory *memory, guint32 position, QuoitFreeSet *set)
{
  QuoitFreeSet *before = memory->at[position];

  if (before == set)
    return;
  if (before != NULL)
    before->n_slices--;
  set->n_slices++;
  memory->at[position] = set;
  for (guint i = 0; i < memory->questions->len; i++)
    {
      QuoitCutQuestion *question = memory->questions->pdata[i];

      if (question->state == NULL)
        continue;
      /* A question that is not asked again does not remember changes for ever. */
      if (question->changed->len < memory->store->slices->len)
        g_array_append_val (question->changed, position);
      else
        forget_state (question);
    }
}

/* Reads the free hosts of the slices at positions from @first on that have nodes before @end. Returns the first other
 * position. */
static guint32
see_slices (QuoitCutMemory *memory, const QuoitFleet *fleet, guint32 first, guint32 end)
{
  const QuoitFreeHosts rule = { fleet, QUOIT_NODE_ALIVE, FALSE };
  const GArray *slices = memory->store->slices;

  for (; first < slices->len; first++)
    {
      const guint32 slice = g_array_index (slices, guint32, first);
      QuoitHostSet free;

      if (fleet->layout->slices[slice].first_node >= end)
        break;
      quoit_free_hosts_list (&rule, slice, &memory->grid, &free);
      set_at (memory, first, quoit_cut_memory_find (memory, &free));
    }
  return first;
}

/* Returns the first position from @first on whose slice has nodes from @node on. */
static guint32
find_position (const QuoitCutMemory *memory, const QuoitFleet *fleet, guint32 first, guint32 node)
{
  const GArray *slices = memory->store->slices;
  guint32 end = slices->len;

  while (first < end)
    {
      const guint32 middle = first + (end - first) / 2;
      const QuoitSlice *slice = &fleet->layout->slices[g_array_index (slices, guint32, middle)];

      if (slice->first_node + slice->n_nodes <= node)
        first = middle + 1;
      else
        end = middle;
    }
  return first;
}

/* Reads the slices whose nodes are in other chunks than before. */
static void
see_changes (QuoitCutMemory *memory, const QuoitFleet *fleet)
{
  guint32 position = 0;

  for (guint32 chunk = quoit_table_next_difference (&memory->nodes, &fleet->nodes, 0); chunk < fleet->nodes.n_chunks;
       chunk = quoit_table_next_difference (&memory->nodes, &fleet->nodes, chunk + 1))
    {
      const guint32 node = chunk * QUOIT_NODES_PER_CHUNK;

      position = find_position (memory, fleet, position, node);
      position = see_slices (memory, fleet, position, node + QUOIT_NODES_PER_CHUNK);
    }
}

static void
see (QuoitCutMemory *memory, const QuoitFleet *fleet)
{
  if (memory->nodes.root == fleet->nodes.root)
    return;
  if (memory->nodes.root == NULL)
    see_slices (memory, fleet, 0, G_MAXUINT32);
  else
    see_changes (memory, fleet);
  quoit_table_clear (&memory->nodes);
  quoit_table_share (&fleet->nodes, &memory->nodes);
}

/* --- memories --- */

static void
memory_free (QuoitCutMemory *memory)
{
  if (memory == NULL)
    return;
  quoit_place_costs_free (memory->costs);
  quoit_table_clear (&memory->nodes);
  g_ptr_array_unref (memory->questions);
  g_hash_table_unref (memory->sets);
  g_free (memory->at);
  g_free (memory);
}

static QuoitCutMemory *
memory_new (QuoitCutStore *store)
{
  QuoitCutMemory *memory = g_new0 (QuoitCutMemory, 1);

  memory->grid = store->grid;
  memory->at = g_new0 (QuoitFreeSet *, store->slices->len);
  memory->sets = g_hash_table_new_full (hash_set, sets_equal, g_free, NULL);
  memory->questions = g_ptr_array_new_with_free_func (question_free);
  return memory;
}

static gboolean
is_unused (gpointer set, G_GNUC_UNUSED gpointer value, G_GNUC_UNUSED gpointer data)
{
  return ((const QuoitFreeSet *) set)->n_slices == 0;
}

/* Forgets the sets that no slice has. */
static void
forget_sets (QuoitCutMemory *memory)
{
  for (guint i = 0; i < memory->questions->len; i++)
    g_hash_table_foreach_remove (((QuoitCutQuestion *) memory->questions->pdata[i])->results, is_unused, NULL);
  g_hash_table_foreach_remove (memory->sets, is_unused, NULL);
}

QuoitCutMemory *
quoit_cut_memory_take (QuoitCutStore *store, const QuoitFleet *fleet)
{
  QuoitCutMemory *memory = NULL;

  g_assert (fleet->layout == store->layout);
  for (guint i = 0; i < MOST_KEPT && memory == NULL; i++)
    memory = g_atomic_pointer_exchange (&store->kept[i], NULL);
  if (memory == NULL)
    memory = memory_new (store);
  memory->store = g_atomic_rc_box_acquire (store);
  memory->n_asked++;
  see (memory, fleet);
  return memory;
}

void
quoit_cut_memory_keep (QuoitCutMemory *memory)
{
  QuoitCutStore *store = g_steal_pointer (&memory->store);

  if (g_hash_table_size (memory->sets) > FEWEST_SETS + SETS_PER_SLICE * store->slices->len)
    forget_sets (memory);
  for (guint i = 0; i < MOST_KEPT && memory != NULL; i++)
    if (g_atomic_pointer_compare_and_exchange (&store->kept[i], NULL, memory))
      memory = NULL;
  memory_free (memory);
  quoit_cut_store_unref (store);
}

const QuoitPlaceCosts *
quoit_cut_memory_costs (QuoitCutMemory *memory)
{
  const QuoitSliceFacts *facts = &memory->store->layout->classes[memory->store->class_index].facts;
  g_autoptr (GArray) shapes = NULL;
  const QuoitTopologyRow *rows;
  unsigned n_rows;

  if (memory->costs != NULL)
    return memory->costs;
  shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  rows = quoit_topology_rows (facts->generation, &n_rows);
  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      g_array_append_val (shapes, rows[i].shape);
  memory->costs = quoit_place_costs_new (&memory->grid, facts->host_block,
                                         (const QuoitShape *) (const void *) shapes->data, shapes->len);
  return memory->costs;
}

/* --- the store --- */

static void
store_clear (gpointer data)
{
  QuoitCutStore *store = data;

  for (guint i = 0; i < MOST_KEPT; i++)
    memory_free (store->kept[i]);
  g_array_unref (store->slices);
}

static void
list_slices (const QuoitLayout *layout, guint32 class_index, GArray *slices)
{
  for (guint32 shelf = 0; shelf < layout->n_shelves; shelf++)
    {
      const QuoitShelf *row = &layout->shelves[shelf];

      for (guint32 slice = row->first_slice;
           row->class_index == class_index && slice < row->first_slice + row->n_slices; slice++)
        g_array_append_val (slices, slice);
    }
}

QuoitCutStore *
quoit_cut_store_get (const QuoitLayout *layout, const QuoitClass *class, const QuoitGrid *grid)
{
  const guint32 key[] = { (guint32) (class - layout->classes), grid->wrap };
  QuoitCutStore *store = quoit_recent_get (layout->place_costs, key, sizeof key);

  if (store != NULL)
    return store;
  store = g_atomic_rc_box_new0 (QuoitCutStore);
  store->layout = layout;
  store->class_index = key[0];
  store->grid = *grid;
  store->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  list_slices (layout, key[0], store->slices);
  quoit_recent_put (layout->place_costs, key, sizeof key, store, store_clear);
  return store;
}

void
quoit_cut_store_unref (QuoitCutStore *store)
{
  g_atomic_rc_box_release_full (store, store_clear);
}

GArray *
quoit_cut_store_slices (const QuoitCutStore *store)
{
  return store->slices;
}
