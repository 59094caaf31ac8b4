/* SPDX-License-Identifier: Apache-2.0 */
/* Finds nodes and slices by short or full name. Two hash tables map short names to indices. They use open addressing:
 * an entry is in its home slot, which the hash determines, or in one of the next slots. */
#include "fleet/layout-private.h"

#include <string.h>

#include "base/natural.h"

guint32
quoit_layout_slots_for (guint32 n)
{
  guint32 n_slots = 16;

  while (n_slots < n + n / 4)
    n_slots *= 2;
  return n_slots;
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
             guint32 *mask)
{
  guint32 *slots = g_new0 (guint32, quoit_layout_slots_for (n));
  g_autofree guint32 *ends = NULL; /* by home slot: slot where the last search from there ended, plus 1 */

  *mask = quoit_layout_slots_for (n) - 1;
  for (guint32 i = 0; i < n; i++)
    {
      const char *name = get_name (layout, i);
      guint32 home = (guint32) quoit_hash_bytes (name, strlen (name)) & *mask, n_steps = 0;
      guint32 at = ends == NULL || ends[home] == 0 ? home : ends[home] - 1;

      for (; slots[at] != 0; at = (at + 1) & *mask)
        n_steps++;
      slots[at] = i + 1;
      /* Many nodes with the same name fill a long run of slots. Without @ends, each of them would walk the whole
       * run. */
      if (ends == NULL && n_steps > MIN_LONG_RUN)
        ends = g_new0 (guint32, *mask + 1u);
      if (ends != NULL)
        ends[home] = at + 1;
    }
  return slots;
}

void
quoit_layout_index_names (QuoitLayout *layout)
{
  layout->node_slots = index_names (layout, layout->n_nodes, node_name, &layout->node_mask);
  layout->slice_slots = index_names (layout, layout->n_slices, slice_name, &layout->slice_mask);
}

static guint32
home_slot (const QuoitLayout *layout, guint32 index)
{
  const char *name = node_name (layout, index);

  return (guint32) quoit_hash_bytes (name, strlen (name)) & layout->node_mask;
}

void
quoit_layout_add_name (QuoitLayout *layout, QuoitNodeId node)
{
  const char *name = node_name (layout, node.index);
  guint32 *slots = layout->node_slots, mask = layout->node_mask, at = home_slot (layout, node.index);
  guint32 carried = node.index + 1;

  /* Keep nodes with the same name in index order, as index_names() does: put the node before the first one with a
   * greater index, and carry that one on to the next slot. */
  for (; slots[at] != 0; at = (at + 1) & mask)
    if (slots[at] > carried && strcmp (node_name (layout, slots[at] - 1), name) == 0)
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
  guint32 *slots = layout->node_slots, mask = layout->node_mask, hole = home_slot (layout, node.index);

  while (slots[hole] != node.index + 1)
    hole = (hole + 1) & mask;
  /* A search stops at an empty slot, so the hole must be filled: move later entries of the run into it, except entries
   * that would then be before their home slot. */
  for (guint32 at = (hole + 1) & mask; slots[at] != 0; at = (at + 1) & mask)
    if (((at - home_slot (layout, slots[at] - 1)) & mask) >= ((at - hole) & mask))
      {
        slots[hole] = slots[at];
        hole = at;
      }
  slots[hole] = 0;
}

/* The differences between the names of nodes and of slices. */
typedef struct {
  const char *noun;
  const guint32 *slots;
  guint32 mask;
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
  return (NameSpace) { "node", layout->node_slots, layout->node_mask, node_name, node_full_name };
}

static NameSpace
slice_names (const QuoitLayout *layout)
{
  return (NameSpace) { "slice", layout->slice_slots, layout->slice_mask, slice_name, slice_full_name };
}

/* Returns the next index from slot *@at on whose name is the @length bytes at @name; QUOIT_NO_INDEX at the end of
 * the run. */
static guint32
next_match (const QuoitLayout *layout, const NameSpace *names, const char *name, gsize length, guint32 *at)
{
  for (; names->slots[*at] != 0; *at = (*at + 1) & names->mask)
    {
      guint32 index = names->slots[*at] - 1;
      const char *have = names->get_name (layout, index);

      if (strncmp (have, name, length) == 0 && have[length] == '\0')
        {
          *at = (*at + 1) & names->mask;
          return index;
        }
    }
  return QUOIT_NO_INDEX;
}

static guint32
first_match (const QuoitLayout *layout, const NameSpace *names, const char *name, gsize length, guint32 *at)
{
  *at = (guint32) quoit_hash_bytes (name, length) & names->mask;
  return next_match (layout, names, name, length, at);
}

/* Resolves @name as a full name. Source and pool may contain slashes, so each text after a slash is tried as the short
 * name. */
static guint32
find_full_name (const QuoitLayout *layout, const NameSpace *names, const char *name)
{
  for (const char *slash = strchr (name, '/'); slash != NULL; slash = strchr (slash + 1, '/'))
    {
      guint32 at, index = first_match (layout, names, slash + 1, strlen (slash + 1), &at);

      for (; index != QUOIT_NO_INDEX; index = next_match (layout, names, slash + 1, strlen (slash + 1), &at))
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
  guint32 at, found = first_match (layout, names, name, strlen (name), &at), other;

  if (found == QUOIT_NO_INDEX)
    found = find_full_name (layout, names, name);
  else if ((other = next_match (layout, names, name, strlen (name), &at)) != QUOIT_NO_INDEX)
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
  gsize length = strlen (name);

  return *at == QUOIT_NO_INDEX ? first_match (layout, names, name, length, at)
                               : next_match (layout, names, name, length, at);
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
  guint32 at;

  first_match (layout, names, name, strlen (name), &at);
  return next_match (layout, names, name, strlen (name), &at) == QUOIT_NO_INDEX ? g_strdup (name)
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
