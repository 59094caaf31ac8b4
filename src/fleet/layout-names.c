/* SPDX-License-Identifier: Apache-2.0 */
/* Finds nodes and slices by short or full name. Two hash tables map short names to indices. They use open addressing:
 * an entry is in its home slot, which the hash determines, or in one of the next slots. */
#include "fleet/layout-private.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/natural.h"

/* A slot has the index of a node or slice, plus 1, and in the bits above it a part of the hash of its name, so that
 * a search reads few other names. 0: empty. */
#define INDEX_BITS 22
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
G_STATIC_ASSERT ((guint32) QUOIT_MAX_NODES < INDEX_MASK);

static guint64
hash_name (const char *name)
{
  return quoit_hash_name (name, strlen (name));
}

static guint32
hash_bits (guint64 hash)
{
  return (guint32) (hash >> 32) << INDEX_BITS;
}

/* Seven of eight slots are used. A search for a name that is not there reads 33 slots on average, in a row. */
static guint32
slots_for (guint32 n)
{
  return n + n / 7 + 16;
}

static guint32
home_slot (guint64 hash, guint32 n_slots)
{
  return (guint32) ((hash & G_MAXUINT32) * n_slots >> 32);
}

static guint32
next_slot (guint32 at, guint32 n_slots)
{
  return at + 1 == n_slots ? 0 : at + 1;
}

/* The number of steps from slot @from to slot @to. */
static guint32
count_steps (guint32 from, guint32 to, guint32 n_slots)
{
  return to >= from ? to - from : to + (n_slots - from);
}

static const char *
slice_name (const QuoitLayout *layout, guint32 index)
{
  return quoit_layout_text (layout, layout->slices[index].name);
}

static const char *
node_name (const QuoitLayout *layout, guint32 index)
{
  return layout->texts + layout->nodes[index].name;
}

/* Number of steps after which index_names() begins to store the ends of searches. */
enum { MIN_LONG_RUN = 1024 };

static guint32 *
index_names (const QuoitLayout *layout, guint32 n, const char *(*get_name) (const QuoitLayout *, guint32),
             guint32 *n_slots)
{
  const guint32 n_all = *n_slots = slots_for (n);
  guint32 *slots = g_new0 (guint32, n_all);
  g_autofree guint32 *ends = NULL; /* by home slot: slot where the last search from there ended, plus 1 */

  for (guint32 i = 0; i < n; i++)
    {
      const guint64 hash = hash_name (get_name (layout, i));
      guint32 home = home_slot (hash, n_all), n_steps = 0;
      guint32 at = ends == NULL || ends[home] == 0 ? home : ends[home] - 1;

      for (; slots[at] != 0; at = next_slot (at, n_all))
        n_steps++;
      slots[at] = hash_bits (hash) | (i + 1);
      /* Many nodes with the same name fill a long run of slots. Without @ends, each of them would walk the whole
       * run. */
      if (ends == NULL && n_steps > MIN_LONG_RUN)
        ends = g_new0 (guint32, n_all);
      if (ends != NULL)
        ends[home] = at + 1;
    }
  return slots;
}

void
quoit_layout_index_names (QuoitLayout *layout)
{
  layout->node_slots = index_names (layout, layout->n_nodes, node_name, &layout->n_node_slots);
  layout->slice_slots = index_names (layout, layout->n_slices, slice_name, &layout->n_slice_slots);
}

void
quoit_layout_add_name (QuoitLayout *layout, QuoitNodeId node)
{
  const char *name = node_name (layout, node.index);
  const guint64 hash = hash_name (name);
  const guint32 n_slots = layout->n_node_slots;
  guint32 *slots = layout->node_slots, at = home_slot (hash, n_slots), carried = hash_bits (hash) | (node.index + 1);

  /* Keep nodes with the same name in index order, as index_names() does: put the node before the first one with a
   * greater index, and carry that one on to the next slot. A greater index with the same bits is a greater slot. */
  for (; slots[at] != 0; at = next_slot (at, n_slots))
    if (slots[at] > carried && slots[at] >> INDEX_BITS == carried >> INDEX_BITS
        && strcmp (node_name (layout, (slots[at] & INDEX_MASK) - 1), name) == 0)
      {
        guint32 later = slots[at];

        slots[at] = carried;
        carried = later;
      }
  slots[at] = carried;
}

void
quoit_layout_remove_name (QuoitLayout *layout, QuoitNodeId node)
{
  const guint32 n_slots = layout->n_node_slots;
  guint32 *slots = layout->node_slots, hole = home_slot (hash_name (node_name (layout, node.index)), n_slots);

  while ((slots[hole] & INDEX_MASK) != node.index + 1)
    hole = next_slot (hole, n_slots);
  /* A search stops at an empty slot, so the hole must be filled: move later entries of the run into it, except entries
   * that would then be before their home slot. */
  for (guint32 at = next_slot (hole, n_slots); slots[at] != 0; at = next_slot (at, n_slots))
    {
      const guint64 hash = hash_name (node_name (layout, (slots[at] & INDEX_MASK) - 1));

      if (count_steps (home_slot (hash, n_slots), at, n_slots) < count_steps (hole, at, n_slots))
        continue;
      slots[hole] = slots[at];
      hole = at;
    }
  slots[hole] = 0;
}

/* The differences between the names of nodes and of slices. */
typedef struct {
  const char *noun;
  const guint32 *slots;
  guint32 n_slots;
  const char *(*get_name) (const QuoitLayout *, guint32);
  char *(*dup_full_name) (const QuoitLayout *, guint32);
} NameSpace;

static char *
full_name (const QuoitLayout *layout, guint32 pool, const char *name)
{
  const QuoitPool *row = &layout->pools[pool];

  return g_strconcat (quoit_layout_text (layout, layout->sources[row->source].name), "/",
                      quoit_layout_text (layout, row->name), "/", name, NULL);
}

static char *
node_full_name (const QuoitLayout *layout, guint32 index)
{
  return full_name (layout, quoit_layout_node_pool (layout, (QuoitNodeId) { index }).index, node_name (layout, index));
}

static char *
slice_full_name (const QuoitLayout *layout, guint32 index)
{
  return full_name (layout, layout->shelves[layout->slices[index].shelf].pool, slice_name (layout, index));
}

static NameSpace
node_names (const QuoitLayout *layout)
{
  return (NameSpace) { "node", layout->node_slots, layout->n_node_slots, node_name, node_full_name };
}

static NameSpace
slice_names (const QuoitLayout *layout)
{
  return (NameSpace) { "slice", layout->slice_slots, layout->n_slice_slots, slice_name, slice_full_name };
}

/* Returns the next index from slot *@at on whose name is the @length bytes at @name; QUOIT_NO_INDEX at the end of
 * the run. @hash: of the name. */
static guint32
next_match (const QuoitLayout *layout, const NameSpace *names, const char *name, gsize length, guint64 hash,
            guint32 *at)
{
  const guint32 bits = hash_bits (hash);

  for (; names->slots[*at] != 0; *at = next_slot (*at, names->n_slots))
    {
      const guint32 slot = names->slots[*at], index = (slot & INDEX_MASK) - 1;
      const char *have;

      if ((slot & ~INDEX_MASK) != bits)
        continue;
      have = names->get_name (layout, index);
      if (strncmp (have, name, length) == 0 && have[length] == '\0')
        {
          *at = next_slot (*at, names->n_slots);
          return index;
        }
    }
  return QUOIT_NO_INDEX;
}

static guint32
first_match (const QuoitLayout *layout, const NameSpace *names, const char *name, gsize length, guint64 hash,
             guint32 *at)
{
  *at = home_slot (hash, names->n_slots);
  return next_match (layout, names, name, length, hash, at);
}

/* Resolves @name as a full name. Source and pool may contain slashes, so each text after a slash is tried as the short
 * name. */
static guint32
find_full_name (const QuoitLayout *layout, const NameSpace *names, const char *name)
{
  for (const char *slash = strchr (name, '/'); slash != NULL; slash = strchr (slash + 1, '/'))
    {
      const gsize length = strlen (slash + 1);
      const guint64 hash = quoit_hash_name (slash + 1, length);
      guint32 at, index = first_match (layout, names, slash + 1, length, hash, &at);

      for (; index != QUOIT_NO_INDEX; index = next_match (layout, names, slash + 1, length, hash, &at))
        {
          g_autofree char *full = names->dup_full_name (layout, index);

          if (strcmp (full, name) == 0)
            return index;
        }
    }
  return QUOIT_NO_INDEX;
}

static gboolean
lookup (const QuoitLayout *layout, const NameSpace *names, const char *name, guint32 *index, GError **error)
{
  g_autofree char *quoted = NULL, *a = NULL, *b = NULL;
  const gsize length = strlen (name);
  const guint64 hash = quoit_hash_name (name, length);
  guint32 at, found = first_match (layout, names, name, length, hash, &at), other;

  if (found == QUOIT_NO_INDEX)
    found = find_full_name (layout, names, name);
  else if ((other = next_match (layout, names, name, length, hash, &at)) != QUOIT_NO_INDEX)
    {
      quoted = quoit_quote (name);
      a = names->dup_full_name (layout, MIN (found, other));
      b = names->dup_full_name (layout, MAX (found, other));
      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s name %s is ambiguous: use a full name such as '%s' or '%s'",
                         names->noun, quoted, a, b);
    }
  if (found == QUOIT_NO_INDEX)
    {
      quoted = quoit_quote (name);
      return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no %s %s in the fleet", names->noun, quoted);
    }

  *index = found;
  return TRUE;
}

gboolean
quoit_layout_lookup_node (const QuoitLayout *layout, const char *name, QuoitNodeId *node, GError **error)
{
  NameSpace names = node_names (layout);

  return lookup (layout, &names, name, &node->index, error);
}

gboolean
quoit_layout_lookup_slice (const QuoitLayout *layout, const char *name, QuoitSliceId *slice, GError **error)
{
  NameSpace names = slice_names (layout);

  return lookup (layout, &names, name, &slice->index, error);
}

/* Returns the first or the next match; see quoit_layout_next_slice_named(). */
static guint32
next_named (const QuoitLayout *layout, const NameSpace *names, const char *name, guint32 *at)
{
  const gsize length = strlen (name);
  const guint64 hash = quoit_hash_name (name, length);

  return *at == QUOIT_NO_INDEX ? first_match (layout, names, name, length, hash, at)
                               : next_match (layout, names, name, length, hash, at);
}

gboolean
quoit_layout_next_slice_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitSliceId *slice)
{
  NameSpace names = slice_names (layout);

  slice->index = next_named (layout, &names, name, at);
  return slice->index != QUOIT_NO_INDEX;
}

gboolean
quoit_layout_next_node_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitNodeId *node)
{
  NameSpace names = node_names (layout);

  node->index = next_named (layout, &names, name, at);
  return node->index != QUOIT_NO_INDEX;
}

static char *
dup_display_name (const QuoitLayout *layout, const NameSpace *names, guint32 index)
{
  const char *name = names->get_name (layout, index);
  const gsize length = strlen (name);
  const guint64 hash = quoit_hash_name (name, length);
  guint32 at;

  first_match (layout, names, name, length, hash, &at);
  return next_match (layout, names, name, length, hash, &at) == QUOIT_NO_INDEX ? g_strdup (name)
                                                                               : names->dup_full_name (layout, index);
}

char *
quoit_layout_node_full_name (const QuoitLayout *layout, QuoitNodeId node)
{
  return node_full_name (layout, node.index);
}

char *
quoit_layout_slice_full_name (const QuoitLayout *layout, QuoitSliceId slice)
{
  return slice_full_name (layout, slice.index);
}

char *
quoit_layout_node_display (const QuoitLayout *layout, QuoitNodeId node)
{
  NameSpace names = node_names (layout);

  return dup_display_name (layout, &names, node.index);
}

char *
quoit_layout_slice_display (const QuoitLayout *layout, QuoitSliceId slice)
{
  NameSpace names = slice_names (layout);

  return dup_display_name (layout, &names, slice.index);
}

gboolean
quoit_layout_find_source (const QuoitLayout *layout, const char *name, QuoitSourceId *source)
{
  for (guint32 low = 0, high = layout->n_sources; low < high;)
    {
      guint32 middle = low + (high - low) / 2;
      int order = quoit_natural_compare (quoit_layout_text (layout, layout->sources[middle].name), name);

      if (order == 0)
        return source->index = middle, TRUE;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return FALSE;
}
