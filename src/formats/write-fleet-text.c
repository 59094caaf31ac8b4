/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a fleet as fleet text. Reading it again makes slices of the same classes in the same conditions. */
#include "formats/fleet-text.h"

#include <string.h>

#include "base/label-names.h"
#include "base/name-hash.h"
#include "base/time.h"
#include "fleet/blocks.h"
#include "fleet/group-lists.h"
#include "fleet/joined.h"
#include "formats/writer.h"
#include "models/ray/label-syntax.h"

enum { NOT_WRITTEN = G_MAXUINT32, BUSY = 0, DRAINING = 1, DEAD = 2, N_MARKS = 3 };

static const char *const mark_keys[N_MARKS] = { "busy", "draining", "dead" };

typedef struct {
  const QuoitFleet *fleet;
  const QuoitLayout *layout;
  char **pools;         /* by pool: its name in the text; NULL: none of its slices is written */
  guint32 *numbers;     /* by slice: its number in that pool, or NOT_WRITTEN */
  guint8 *has_group;    /* by slice: an item "group" has it */
  GPtrArray *groups;    /* of QuoitGroupData: those that are items, by id */
  GHashTable *n_slices; /* pool name -> number of slices so far; the names belong to @pools */
  GString *text;
} Writing;

static void
begin_item (Writing *writing)
{
  if (writing->text->len > 0)
    g_string_append (writing->text, ";\n");
}

/* --- names --- */

/* Makes a valid value of a label: other characters become '-'. */
static char *
make_label_value (const char *text)
{
  char *value = g_strndup (text, 63);
  gsize start = 0, length;

  for (char *p = value; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("-_.", *p) == NULL)
      *p = '-';
  length = strlen (value);
  while (length > 0 && !g_ascii_isalnum (value[length - 1]))
    length--;
  while (start < length && !g_ascii_isalnum (value[start]))
    start++;
  memmove (value, value + start, length - start);
  value[length - start] = '\0';
  if (*value != '\0')
    return value;
  g_free (value);
  return g_strdup ("pool");
}

/* Returns how many pools have each name. The layout owns the names. */
static GHashTable *
count_pool_names (const QuoitLayout *layout)
{
  GHashTable *n_pools = g_hash_table_new (quoit_hash_text, g_str_equal);

  for (guint32 p = 0; p < layout->n_pools; p++)
    {
      const char *name = quoit_layout_text (layout, layout->pools[p].name);

      g_hash_table_insert (n_pools, (gpointer) name,
                           GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (n_pools, name)) + 1));
    }
  return n_pools;
}

/* Pools of different sources can have one name. */
static char *
name_pool (const QuoitLayout *layout, guint32 pool, GHashTable *n_pools)
{
  const char *name = quoit_layout_text (layout, layout->pools[pool].name);
  const char *source = quoit_layout_text (layout, layout->sources[layout->pools[pool].source].name);
  g_autofree char *full = g_hash_table_lookup (n_pools, name) == GUINT_TO_POINTER (1)
                              ? g_strdup (name)
                              : g_strdup_printf ("%s.%s", source, name);

  return make_label_value (full);
}

static const char *
find_zone (const QuoitLayout *layout, guint32 slice, char *buffer)
{
  static const char *const keys[] = { QUOIT_RAY_LABEL_ZONE, QUOIT_K8S_LABEL_ZONE };
  const QuoitNodeId node = { layout->slices[slice].first_node };

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const char *zone = quoit_layout_node_label (layout, node, keys[i], buffer);

      if (zone != NULL && *zone != '\0' && quoit_label_check_value (zone, NULL))
        return zone;
    }
  return NULL;
}

/* Returns the block of the slice, if it is a cube; NULL: none. */
static const char *
find_block (const QuoitLayout *layout, guint32 slice, char *buffer)
{
  const QuoitClass *class = quoit_layout_slice_class (layout, (QuoitSliceId) { slice });
  const char *block;

  if (class == NULL || !quoit_slice_facts_are_cube (&class->facts))
    return NULL;
  block = quoit_layout_node_label (layout, (QuoitNodeId) { layout->slices[slice].first_node }, QUOIT_GKE_LABEL_BLOCK,
                                   buffer);
  return block != NULL && *block != '\0' && quoit_label_check_value (block, NULL) ? block : NULL;
}

/* Returns where the cube is in the grid of its block, and sets @grid; QUOIT_NO_INDEX: unknown. */
static guint32
find_position (const QuoitLayout *layout, guint32 slice, guint32 grid[3])
{
  const guint32 class_index = layout->shelves[layout->slices[slice].shelf].class_index;
  QuoitBlocks *blocks;
  guint32 position = QUOIT_NO_INDEX;

  if (class_index == QUOIT_NO_INDEX || !quoit_slice_facts_are_cube (&layout->classes[class_index].facts))
    return QUOIT_NO_INDEX;
  blocks = quoit_blocks_get (layout, class_index);
  if (blocks->of_slice[slice] != QUOIT_NO_INDEX)
    {
      position = blocks->positions[slice];
      memcpy (grid, blocks->blocks[blocks->of_slice[slice]].grid, 3 * sizeof *grid);
    }
  quoit_blocks_unref (blocks);
  return position;
}

/* Appends the grid of the block, and where the first cube of an item is. */
static void
append_position (const Writing *writing, guint32 slice)
{
  guint32 grid[3];
  const guint32 position = find_position (writing->layout, slice, grid);

  if (position != QUOIT_NO_INDEX)
    g_string_append_printf (writing->text, " grid=%ux%ux%u at=%u-%u-%u", grid[0], grid[1], grid[2], position % grid[0],
                            position / grid[0] % grid[1], position / grid[0] / grid[1]);
}

/* Whether the cube @next is at the position behind that of @slice, or neither has one. */
static gboolean
are_in_sequence (const QuoitLayout *layout, guint32 slice, guint32 last, guint32 next)
{
  guint32 grid[3];
  const guint32 first = find_position (layout, slice, grid), position = find_position (layout, next, grid);

  return first == QUOIT_NO_INDEX ? position == QUOIT_NO_INDEX
                                 : position != QUOIT_NO_INDEX && position == first + (last - slice) + 1;
}

/* Numbers the slices that have a class, pool by pool. */
static void
number_slices (Writing *writing)
{
  const QuoitLayout *layout = writing->layout;
  g_autoptr (GHashTable) n_pools = count_pool_names (layout);

  for (guint32 p = 0; p < layout->n_pools; p++)
    {
      const QuoitPool *pool = &layout->pools[p];
      g_autofree char *name = name_pool (layout, p, n_pools);
      guint32 n = GPOINTER_TO_UINT (g_hash_table_lookup (writing->n_slices, name));

      for (guint32 s = pool->first_slice; s < pool->first_slice + pool->n_slices; s++)
        writing->numbers[s] = quoit_layout_slice_class (layout, (QuoitSliceId) { s }) == NULL ? NOT_WRITTEN : n++;
      writing->pools[p] = g_steal_pointer (&name);
      g_hash_table_insert (writing->n_slices, writing->pools[p], GUINT_TO_POINTER (n));
    }
}

/* --- groups --- */

static gboolean
is_word (const char *text)
{
  return *text != '\0' && *text != '#' && strpbrk (text, " \t\n\v\f\r;") == NULL;
}

/* Lists the slices of the layout that the group has: whole ones, or the cubes of each joined one in their order. A
 * slice that is no longer in the fleet is QUOIT_NO_INDEX. Returns NULL if they cannot be found. */
static GArray *
list_slices (const QuoitLayout *layout, const QuoitGroupData *group)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *cubes = g_new (guint32, group->n_nodes / QUOIT_CUBE_HOSTS + 1);

  for (guint32 i = 0; i < group->n_slices; i++)
    {
      const guint32 slice = quoit_layout_group_slice (layout, group, i);
      QuoitShape box;

      if (group->kind != QUOIT_RECORD_CUBES)
        g_array_append_val (slices, slice);
      else if (quoit_group_find_cubes (layout, group, i, &box, cubes))
        g_array_append_vals (slices, cubes, quoit_shape_chips (box));
      else
        return NULL;
    }
  return g_steal_pointer (&slices);
}

/* Whether an import could reserve the slice for a group. */
static gboolean
can_write_slice (const Writing *writing, const QuoitGroupData *group, guint32 slice)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  guint32 grid[3];
  QuoitSliceFlags flags;

  if (slice == QUOIT_NO_INDEX || writing->numbers[slice] == NOT_WRITTEN)
    return FALSE;
  if (group->kind == QUOIT_RECORD_CUBES
      && (find_block (writing->layout, slice, buffer) == NULL
          || (quoit_group_cubes (group) == QUOIT_CUBES_ADJACENT
              && find_position (writing->layout, slice, grid) == QUOIT_NO_INDEX)))
    return FALSE;
  flags = quoit_slice_status_flags (quoit_fleet_slice_status (writing->fleet, (QuoitSliceId) { slice }));
  return (flags & QUOIT_SLICE_INTACT) != 0 && (flags & QUOIT_SLICE_DRAINING) == 0;
}

/* Whether an import could reserve the slices of the group. */
static gboolean
can_write_group (const Writing *writing, const QuoitGroupData *group)
{
  g_autoptr (GArray) slices = NULL;

  if (!quoit_group_is_callers (group) || (!quoit_group_has_whole_slices (group) && group->kind != QUOIT_RECORD_CUBES)
      || group->state == QUOIT_GROUP_AHEAD || group->n_slices == 0 || !is_word (group->name)
      || (*group->owner != '\0' && !is_word (group->owner)))
    return FALSE;
  slices = list_slices (writing->layout, group);
  for (guint i = 0; slices != NULL && i < slices->len; i++)
    if (!can_write_slice (writing, group, g_array_index (slices, guint32, i)))
      return FALSE;
  return slices != NULL;
}

static void
choose_groups (Writing *writing)
{
  const QuoitFleet *fleet = writing->fleet;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
      g_autoptr (GArray) slices = NULL;

      if (group == NULL || !can_write_group (writing, group))
        continue;
      g_ptr_array_add (writing->groups, (gpointer) group);
      slices = list_slices (writing->layout, group);
      for (guint i = 0; i < slices->len; i++)
        writing->has_group[g_array_index (slices, guint32, i)] = 1;
    }
  g_ptr_array_sort (writing->groups, quoit_group_by_id);
}

static const char *
pool_of_slice (const Writing *writing, guint32 slice)
{
  return writing->pools[writing->layout->shelves[writing->layout->slices[slice].shelf].pool];
}

/* Appends " slices=0,2-3", or " slices=a:0,2-3,b:1" if the slices are in several pools. */
static void
append_slices (Writing *writing, const GArray *slices, gboolean has_pools)
{
  const char *pool = NULL;

  for (guint i = 0; i < slices->len;)
    {
      const guint32 slice = g_array_index (slices, guint32, i), first = writing->numbers[slice];
      const char *of_slice = pool_of_slice (writing, slice);
      guint32 last = first;

      g_string_append (writing->text, i == 0 ? " slices=" : ",");
      if (has_pools && g_strcmp0 (pool, of_slice) != 0)
        g_string_append_printf (writing->text, "%s:", of_slice);
      pool = of_slice;
      g_string_append_printf (writing->text, "%u", first);
      for (i++; i < slices->len && writing->numbers[g_array_index (slices, guint32, i)] == last + 1
                && strcmp (pool_of_slice (writing, g_array_index (slices, guint32, i)), pool) == 0;
           i++)
        last++;
      if (last > first)
        g_string_append_printf (writing->text, "-%u", last);
    }
}

static gboolean
is_in_one_pool (const Writing *writing, const QuoitGroupData *group)
{
  g_autoptr (GArray) slices = list_slices (writing->layout, group);
  const char *pool = pool_of_slice (writing, g_array_index (slices, guint32, 0));

  for (guint i = 1; i < slices->len; i++)
    if (strcmp (pool, pool_of_slice (writing, g_array_index (slices, guint32, i))) != 0)
      return FALSE;
  return TRUE;
}

/* Whole slices of a group are written by number; cubes are in the order of the joined slices. */
static gint
by_number (gconstpointer a, gconstpointer b, gpointer data)
{
  const Writing *writing = data;
  const guint32 x = writing->numbers[*(const guint32 *) a], y = writing->numbers[*(const guint32 *) b];

  return x < y ? -1 : x > y;
}

/* Appends the pool and the slices of the group. Whole slices in several pools are not stated, because any others will
 * do; cubes are, because others may be in blocks that then cannot hold the next group. */
static void
append_place (Writing *writing, const QuoitGroupData *group)
{
  const gboolean is_joined = group->kind == QUOIT_RECORD_CUBES, is_in_pool = is_in_one_pool (writing, group);
  g_autoptr (GArray) slices = list_slices (writing->layout, group);

  if (is_joined)
    g_string_append_printf (writing->text, " cubes=%s", quoit_cubes_name (quoit_group_cubes (group)));
  else
    g_array_sort_with_data (slices, by_number, writing);
  if (is_in_pool)
    g_string_append_printf (writing->text, " pool=%s", pool_of_slice (writing, g_array_index (slices, guint32, 0)));
  if (is_in_pool || is_joined)
    append_slices (writing, slices, !is_in_pool);
}

/* Appends "v6e 4x4", and the chips of a host if they are not Ray's default. */
static void
append_class (Writing *writing, const QuoitSliceFacts *facts, guint32 n_slices)
{
  QuoitSliceFacts usual;

  g_string_append_printf (writing->text, "%s ", quoit_generation_name (facts->generation));
  quoit_shape_append (writing->text, facts->shape);
  g_string_append_printf (writing->text, " x%u", n_slices);
  if (!quoit_slice_facts (facts->generation, facts->shape, 0, &usual, NULL)
      || usual.chips_per_host != facts->chips_per_host)
    g_string_append_printf (writing->text, " hostchips=%u", (guint) facts->chips_per_host);
}

/* Returns the facts of the slices that the group requested. */
static QuoitSliceFacts
find_facts (const Writing *writing, const QuoitGroupData *group)
{
  const guint32 slice = quoit_layout_group_slice (writing->layout, group, 0);
  QuoitSliceFacts facts;
  QuoitGeneration generation;
  QuoitShape shape;

  return group->kind == QUOIT_RECORD_CUBES && quoit_group_joined_class (group, &generation, &shape)
                 && quoit_slice_facts (generation, shape, 4, &facts, NULL)
             ? facts
             : quoit_layout_slice_class (writing->layout, (QuoitSliceId) { slice })->facts;
}

static void
write_group (Writing *writing, const QuoitGroupData *group)
{
  const QuoitSliceFacts facts = find_facts (writing, group);
  const gint64 until_ms = quoit_fleet_group_until_ms (writing->fleet, group);
  g_autofree char *until = until_ms == 0 ? NULL : quoit_time_format (until_ms);

  begin_item (writing);
  g_string_append_printf (writing->text, "group %s ", group->name);
  append_class (writing, &facts, group->n_slices);
  append_place (writing, group);
  if (until != NULL)
    g_string_append_printf (writing->text, " until=%s", until);
  if (*group->owner != '\0')
    g_string_append_printf (writing->text, " owner=%s", group->owner);
  if (group->priority != 0)
    g_string_append_printf (writing->text, " priority=%d", (int) group->priority);
  for (guint i = 0; i < group->n_labels; i++)
    if (strchr (group->labels[i].key, '=') == NULL && is_word (group->labels[i].key)
        && (*group->labels[i].value == '\0' || is_word (group->labels[i].value)))
      g_string_append_printf (writing->text, " label.%s=%s", group->labels[i].key, group->labels[i].value);
}

static gboolean
has_place (const Writing *writing, const QuoitGroupData *group)
{
  return group->kind == QUOIT_RECORD_CUBES || is_in_one_pool (writing, group);
}

/* Groups whose slices have numbers come first, because the others get any slices that are free then. */
static void
write_groups (Writing *writing)
{
  for (guint several = 0; several < 2; several++)
    for (guint i = 0; i < writing->groups->len; i++)
      if (has_place (writing, writing->groups->pdata[i]) == (several == 0))
        write_group (writing, writing->groups->pdata[i]);
}

/* --- slices --- */

/* Sets the marks of each worker of a slice, as bits. A worker without an alive node is dead. If the slice is degraded
 * for another reason, which the text cannot state, worker 0 is dead. */
static void
mark_workers (const Writing *writing, guint32 slice, guint8 *marks, guint32 n)
{
  const QuoitLayout *layout = writing->layout;
  const QuoitSlice *row = &layout->slices[slice];
  const QuoitSliceStatus *status = quoit_fleet_slice_status (writing->fleet, (QuoitSliceId) { slice });
  gboolean has_dead = FALSE;

  for (guint32 w = 0; w < n; w++)
    marks[w] = 1 << DEAD;
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    {
      const QuoitNodeId node = { i };
      const QuoitNodeState state = quoit_fleet_node_state (writing->fleet, node);
      const gint16 worker = layout->nodes[i].worker_id;

      if (state == QUOIT_NODE_DEAD || worker < 0 || (guint32) worker >= n)
        continue;
      marks[worker] = state == QUOIT_NODE_DRAINING ? 1 << DRAINING : 0;
      if (!writing->has_group[slice] && quoit_fleet_node_use (writing->fleet, node) != QUOIT_USE_NONE)
        marks[worker] |= 1 << BUSY;
    }
  for (guint32 w = 0; w < n; w++)
    has_dead |= marks[w] == 1 << DEAD;
  if (!has_dead && (quoit_slice_status_flags (status) & QUOIT_SLICE_INTACT) == 0)
    marks[0] = 1 << DEAD;
}

/* Appends "3" or "3.0-1" for the workers with @mark. */
static void
append_refs (GString *refs, guint32 number, const guint8 *marks, guint32 n, guint mark)
{
  guint32 n_marked = 0;

  for (guint32 w = 0; w < n; w++)
    n_marked += marks[w] >> mark & 1;
  if (n_marked == n)
    g_string_append_printf (refs, "%s%u", refs->len == 0 ? "" : ",", number);
  for (guint32 w = 0; n_marked < n && w < n; w++)
    {
      const guint32 first = w;

      if ((marks[w] >> mark & 1) == 0)
        continue;
      while (w + 1 < n && (marks[w + 1] >> mark & 1) != 0)
        w++;
      g_string_append_printf (refs, "%s%u.%u", refs->len == 0 ? "" : ",", number, first);
      if (w > first)
        g_string_append_printf (refs, "-%u", w);
    }
}

/* Writes the slices from @first to before @end, which differ only in their marks. */
static void
write_slices (Writing *writing, guint32 first, guint32 end)
{
  const QuoitClass *class = quoit_layout_slice_class (writing->layout, (QuoitSliceId) { first });
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  char block_buffer[QUOIT_LABEL_BUFFER_SIZE];
  const char *zone = find_zone (writing->layout, first, buffer);
  const char *block = find_block (writing->layout, first, block_buffer);
  g_autofree guint8 *marks = g_new (guint8, class->facts.hosts);
  GString *refs[N_MARKS];

  begin_item (writing);
  append_class (writing, &class->facts, end - first);
  g_string_append_printf (writing->text, " pool=%s", pool_of_slice (writing, first));
  if (zone != NULL)
    g_string_append_printf (writing->text, " zone=%s", zone);
  if (block != NULL)
    {
      g_string_append_printf (writing->text, " block=%s", block);
      append_position (writing, first);
    }
  for (guint mark = 0; mark < N_MARKS; mark++)
    refs[mark] = g_string_new (NULL);
  for (guint32 s = first; s < end; s++)
    {
      mark_workers (writing, s, marks, class->facts.hosts);
      for (guint mark = 0; mark < N_MARKS; mark++)
        append_refs (refs[mark], writing->numbers[s], marks, class->facts.hosts, mark);
    }
  for (guint mark = 0; mark < N_MARKS; mark++)
    {
      if (refs[mark]->len > 0)
        g_string_append_printf (writing->text, " %s=%s", mark_keys[mark], refs[mark]->str);
      g_string_free (refs[mark], TRUE);
    }
}

/* Whether the slice @next can be in one item with @slice. */
static gboolean
is_alike (const Writing *writing, guint32 slice, guint32 next)
{
  const QuoitLayout *layout = writing->layout;
  char buffer[QUOIT_LABEL_BUFFER_SIZE], next_buffer[QUOIT_LABEL_BUFFER_SIZE];

  return layout->slices[slice].shelf == layout->slices[next].shelf
         && g_strcmp0 (find_zone (layout, slice, buffer), find_zone (layout, next, next_buffer)) == 0
         && g_strcmp0 (find_block (layout, slice, buffer), find_block (layout, next, next_buffer)) == 0;
}

static void
write_all_slices (Writing *writing)
{
  const QuoitLayout *layout = writing->layout;

  for (guint32 s = 0; s < layout->n_slices;)
    {
      guint32 end = s + 1;

      if (writing->numbers[s] != NOT_WRITTEN)
        {
          while (end < layout->n_slices && is_alike (writing, s, end) && are_in_sequence (layout, s, end - 1, end))
            end++;
          write_slices (writing, s, end);
        }
      s = end;
    }
}

char *
quoit_write_fleet_text (const QuoitFleet *fleet, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint32 *numbers = g_new0 (guint32, layout->n_slices + 1);
  g_autofree guint8 *has_group = g_new0 (guint8, layout->n_slices + 1);
  g_auto (GStrv) pools = g_new0 (char *, layout->n_pools + 1);
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();
  g_autoptr (GHashTable) n_slices = g_hash_table_new (quoit_hash_text, g_str_equal);
  g_autoptr (GString) text = g_string_new (NULL);
  Writing writing = { fleet, layout, pools, numbers, has_group, groups, n_slices, text };

  number_slices (&writing);
  choose_groups (&writing);
  write_all_slices (&writing);
  if (text->len == 0)
    {
      quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "the fleet has no slice that fleet text can describe");
      return NULL;
    }
  write_groups (&writing);
  g_string_append_c (text, '\n');
  return g_strdup (text->str);
}
