/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/fleet-text.h"

#include "base/label-names.h"
#include "base/name-hash.h"
#include "fleet/blocks.h"
#include "models/ray/label-syntax.h"

#include <string.h>

/* Reads fleet text: items separated by ';'. docs/model.md has the grammar. */

enum { KEY_POOL, KEY_ZONE, KEY_BLOCK, KEY_GRID, KEY_AT, KEY_HOSTCHIPS, KEY_BUSY, KEY_DRAINING, KEY_DEAD, N_KEYS };

static const char *const key_names[N_KEYS]
    = { "pool", "zone", "block", "grid", "at", "hostchips", "busy", "draining", "dead" };

enum { MARK_BUSY = 1, MARK_DRAINING = 2, MARK_DEAD = 4 };

/* One item: "v6e 4x4 x2 pool=big". */
typedef struct {
  QuoitFleetWord generation, topology;
  guint32 n_slices;
  const char *count_at; /* the number of slices in the text; NULL: not stated */
  QuoitFleetWord values[N_KEYS];
  QuoitSliceFacts facts;
  guint32 grid[3]; /* the cubes of the block along each axis; 0: not stated */
  guint32 first;   /* number of the first slice of the item in its pool */
  guint8 *marks;   /* one per node: MARK_... flags of the keys busy, draining and dead */
} Item;

static gboolean
read_count (QuoitFleetReader *reader, QuoitFleetWord word, Item *item)
{
  const char *end;

  if (word.length == 1)
    word = quoit_fleet_next_word (reader);
  else
    word = (QuoitFleetWord) { word.at + 1, word.length - 1 };
  item->count_at = word.at;
  end = quoit_fleet_read_number (word.at, word.at + word.length, &item->n_slices);
  if (end != word.at + word.length || item->n_slices == 0)
    return quoit_fleet_refuse (reader, word.at, word.length, "how many slices: 1 to 4000000");
  return TRUE;
}

static gboolean
read_key (QuoitFleetReader *reader, QuoitFleetWord word, Item *item)
{
  const char *equals = memchr (word.at, '=', word.length);
  gsize length;

  if (equals == NULL)
    return quoit_fleet_refuse (reader, word.at, word.length, "key=value, or ';' before the next item");
  length = (gsize) (equals - word.at);
  for (unsigned key = 0; key < N_KEYS; key++)
    {
      QuoitFleetWord value = { equals + 1, word.length - length - 1 };

      if (strlen (key_names[key]) != length || memcmp (key_names[key], word.at, length) != 0)
        continue;
      if (item->values[key].at != NULL)
        return quoit_fleet_refuse (reader, word.at, word.length, "each key once in an item");
      if (value.length == 0)
        return quoit_fleet_refuse (reader, word.at, word.length, "a value behind '='");
      item->values[key] = value;
      return TRUE;
    }
  return quoit_fleet_refuse (reader, word.at, length,
                             "one of pool, zone, block, grid, at, hostchips, busy, draining, dead");
}

static gboolean
read_words (QuoitFleetReader *reader, Item *item)
{
  QuoitFleetWord word;

  if (item->generation.length == 0)
    return quoit_fleet_refuse (reader, reader->p, reader->p < reader->end, "a TPU generation such as v6e");
  item->topology = quoit_fleet_next_word (reader);
  if (item->topology.length == 0)
    return quoit_fleet_refuse (reader, reader->p, reader->p < reader->end, "a topology such as 4x4");

  for (word = quoit_fleet_next_word (reader); word.length > 0; word = quoit_fleet_next_word (reader))
    {
      gboolean is_count = *word.at == 'x' && (word.length == 1 || memchr (word.at, '=', word.length) == NULL);

      if (is_count && item->count_at != NULL)
        return quoit_fleet_refuse (reader, word.at, word.length, "the number of slices once");
      if (is_count ? !read_count (reader, word, item) : !read_key (reader, word, item))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_fleet_read_facts (QuoitFleetReader *reader, QuoitFleetWord generation, QuoitFleetWord topology,
                        QuoitFleetWord host, QuoitSliceFacts *facts)
{
  g_autofree char *generation_text = g_strndup (generation.at, generation.length);
  g_autofree char *topology_text = g_strndup (topology.at, topology.length);
  guint32 chips = 0;
  QuoitGeneration parsed;
  QuoitShape shape;

  if (!quoit_generation_parse (generation_text, &parsed, reader->error))
    return quoit_fleet_prefix_place (reader, generation.at);
  if (!quoit_shape_parse (topology_text, &shape, reader->error) || !quoit_shape_check (parsed, shape, reader->error))
    return quoit_fleet_prefix_place (reader, topology.at);
  if (host.at != NULL
      && (quoit_fleet_read_number (host.at, host.at + host.length, &chips) != host.at + host.length || chips == 0
          || chips > 8))
    return quoit_fleet_refuse (reader, host.at, host.length, "the chips of a host: 1, 2, 4 or 8");
  if (!quoit_slice_facts (parsed, shape, chips, facts, reader->error))
    return quoit_fleet_prefix_place (reader, host.at != NULL ? host.at : topology.at);
  return TRUE;
}

static gboolean
check_size (QuoitFleetReader *reader, const Item *item)
{
  guint32 have;

  quoit_claims_nodes (reader->claims, &have);
  if ((guint64) item->n_slices * item->facts.hosts + have <= QUOIT_MAX_NODES)
    return TRUE;
  return quoit_fail (reader->error, QUOIT_ERROR_INVALID,
                     "byte %zu: %u slices of %u nodes: expected at most %u nodes in one fleet",
                     (gsize) ((item->count_at != NULL ? item->count_at : item->generation.at) - reader->text),
                     item->n_slices, item->facts.hosts, (unsigned) QUOIT_MAX_NODES);
}

/* Reads "2" or "0-3". The numbers must be at least @first and less than @first + @n. Returns the end, or NULL on
 * failure. */
static const char *
read_range (QuoitFleetReader *reader, const char *at, const char *end, guint32 first, guint32 n, const char *what,
            guint32 *from, guint32 *to)
{
  const char *p = quoit_fleet_read_number (at, end, from);

  *to = *from;
  if (p != NULL && p < end && *p == '-')
    p = quoit_fleet_read_number (p + 1, end, to);
  if (p != NULL && *from >= first && *from <= *to && *to - first < n)
    return p;
  if (reader->error != NULL)
    {
      g_autofree char *expected
          = g_strdup_printf ("%s of this item: %u to %u, the lower one first", what, first, first + n - 1);

      quoit_fleet_refuse (reader, at, (gsize) (end - at), expected);
    }
  return NULL;
}

static gboolean
read_ref (QuoitFleetReader *reader, const char *at, const char *end, Item *item, guint8 mark)
{
  guint32 slice, last_slice, worker = 0, last_worker = item->facts.hosts - 1;
  const char *p = read_range (reader, at, end, item->first, item->n_slices, "slices", &slice, &last_slice);

  if (p == NULL)
    return FALSE;
  if (p < end && *p == '.' && slice == last_slice && memchr (at, '-', (gsize) (p - at)) == NULL)
    p = read_range (reader, p + 1, end, 0, item->facts.hosts, "worker ids", &worker, &last_worker);
  if (p == NULL)
    return FALSE;
  if (p < end)
    return quoit_fleet_refuse (reader, p, (gsize) (end - p), "a reference such as 2, 0-3, 2.1 or 2.0-3");

  for (; slice <= last_slice; slice++)
    for (guint32 w = worker; w <= last_worker; w++)
      item->marks[(gsize) (slice - item->first) * item->facts.hosts + w] |= mark;
  return TRUE;
}

static gboolean
read_refs (QuoitFleetReader *reader, QuoitFleetWord refs, Item *item, guint8 mark)
{
  const char *at = refs.at, *end = refs.at + refs.length;

  for (;;)
    {
      const char *comma = memchr (at, ',', (gsize) (end - at));

      if (at == end || comma == at)
        return quoit_fleet_refuse (reader, refs.at, refs.length,
                                   "a reference such as 2, 0-3, 2.1 or 2.0-3 on each side of ','");
      if (!read_ref (reader, at, comma != NULL ? comma : end, item, mark))
        return FALSE;
      if (comma == NULL)
        return TRUE;
      at = comma + 1;
    }
}

static gboolean
read_marks (QuoitFleetReader *reader, Item *item)
{
  static const struct {
    int key;
    guint8 mark;
  } rows[] = { { KEY_BUSY, MARK_BUSY }, { KEY_DRAINING, MARK_DRAINING }, { KEY_DEAD, MARK_DEAD } };
  QuoitFleetWord dead = item->values[KEY_DEAD];

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    if (item->values[rows[i].key].at != NULL && !read_refs (reader, item->values[rows[i].key], item, rows[i].mark))
      return FALSE;

  for (gsize i = 0; dead.at != NULL && i < (gsize) item->n_slices * item->facts.hosts; i++)
    if ((item->marks[i] & MARK_DEAD) != 0 && item->marks[i] != MARK_DEAD)
      {
        g_autofree char *expected = g_strdup_printf (
            "no other state for dead nodes: worker %u of slice %u is also %s", (guint32) (i % item->facts.hosts),
            item->first + (guint32) (i / item->facts.hosts), (item->marks[i] & MARK_BUSY) != 0 ? "busy" : "draining");

        return quoit_fleet_refuse (reader, dead.at, dead.length, expected);
      }
  return TRUE;
}

/* The labels that slices of an item have. NULL: not stated. */
typedef struct {
  const char *pool, *zone, *block, *position;
} SliceLabels;

static guint32
make_kind (QuoitFleetReader *reader, const Item *item, const SliceLabels *stated)
{
  const QuoitGenerationFacts *generation = quoit_generation_facts (item->facts.generation);
  g_autofree char *topology = quoit_shape_format (item->facts.shape);
  g_autofree char *pod_type = quoit_pod_type_format (item->facts.generation, item->facts.shape);
  QuoitPair labels[7] = { { QUOIT_RAY_LABEL_NODE_GROUP, stated->pool },
                          { QUOIT_RAY_LABEL_TOPOLOGY, topology },
                          { QUOIT_RAY_LABEL_POD_TYPE, pod_type } };
  QuoitResource resource = { "TPU", quoit_amount_from_int (item->facts.chips_per_host) };
  QuoitNodeKind kind = { .generation = item->facts.generation,
                         .shape = item->facts.shape,
                         .topology = topology,
                         .pod_type = pod_type,
                         .chips = item->facts.chips_per_host,
                         .n_labels = 3,
                         .n_resources = 1,
                         .labels = labels,
                         .resources = &resource };

  if (generation->ray_resource != NULL)
    labels[kind.n_labels++] = (QuoitPair) { QUOIT_RAY_LABEL_ACCELERATOR_TYPE, generation->ray_resource };
  if (stated->zone != NULL)
    labels[kind.n_labels++] = (QuoitPair) { QUOIT_RAY_LABEL_ZONE, stated->zone };
  if (stated->block != NULL)
    labels[kind.n_labels++] = (QuoitPair) { QUOIT_GKE_LABEL_BLOCK, stated->block };
  if (stated->position != NULL)
    labels[kind.n_labels++] = (QuoitPair) { QUOIT_LABEL_CUBE_POSITION, stated->position };
  return quoit_claims_intern_kind (reader->claims, &kind, NULL);
}

/* Returns the label of the position @index of the grid, x fastest. The caller owns it. */
static char *
format_position (const Item *item, guint32 index)
{
  const guint32 position[3]
      = { index % item->grid[0], index / item->grid[0] % item->grid[1], index / item->grid[0] / item->grid[1] };

  return quoit_cube_position_format (position);
}

/* @first_position: of the first slice in the grid of the block. */
static void
add_nodes (QuoitFleetReader *reader, const Item *item, SliceLabels stated, guint32 first_position)
{
  const char *pool = stated.pool;
  QuoitNodeClaim node = { .pool = quoit_claims_ensure_pool (reader->claims, pool) };
  const guint8 *mark = item->marks;
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GString) slice = g_string_new (NULL);

  for (guint32 s = 0; s < item->n_slices; s++)
    {
      g_autofree char *position = item->grid[0] == 0 ? NULL : format_position (item, first_position + s);

      g_string_printf (slice, "%s-%u", pool, item->first + s);
      stated.position = position;
      if (s == 0 || position != NULL)
        node.kind = make_kind (reader, item, &stated);
      for (guint32 w = 0; w < item->facts.hosts; w++, mark++)
        {
          g_string_printf (name, "%s-%u", slice->str, w);
          node.name = name->str;
          node.slice = slice->str;
          node.worker_id = (gint32) w;
          node.state = (*mark & MARK_DEAD) != 0       ? QUOIT_NODE_DEAD
                       : (*mark & MARK_DRAINING) != 0 ? QUOIT_NODE_DRAINING
                                                      : QUOIT_NODE_ALIVE;
          node.flags = (*mark & MARK_BUSY) != 0 ? QUOIT_NODE_EXTERNAL : 0;
          quoit_claims_add (reader->claims, &node);
        }
    }
}

/* Replaces *@value by the value of @key if the item has that key. The value becomes a label of the nodes, so it
 * must be a valid label value. */
static gboolean
label_value (QuoitFleetReader *reader, const Item *item, int key, char **value)
{
  QuoitFleetWord word = item->values[key];

  if (word.at == NULL)
    return TRUE;
  g_free (*value);
  *value = g_strndup (word.at, word.length);
  return quoit_label_check_value (*value, reader->error) || quoit_fleet_prefix_place (reader, word.at);
}

/* Reads "4x4x8", the cubes of a block along each axis. */
static gboolean
read_grid (QuoitFleetReader *reader, QuoitFleetWord word, Item *item)
{
  const char *at = word.at, *end = word.at + word.length;

  for (guint axis = 0; axis < 3; axis++)
    {
      at = at == NULL ? NULL : quoit_fleet_read_number (at, end, &item->grid[axis]);
      if (at == NULL || item->grid[axis] == 0 || item->grid[axis] > QUOIT_MAX_BLOCK_SIDE
          || (axis < 2 ? at == end || *at != 'x' : at != end))
        return quoit_fleet_refuse (reader, word.at, word.length,
                                   "the cubes of the block along each axis, such as 4x4x8, each 1 to 256");
      at += axis < 2;
    }
  return TRUE;
}

/* Reads where the first cube of the item is in the grid: as stated, or behind the cubes of earlier items. */
static gboolean
read_first_position (QuoitFleetReader *reader, const Item *item, const char *block, guint32 *first)
{
  const QuoitFleetWord word = item->values[KEY_AT];
  g_autofree char *text = word.at == NULL ? NULL : g_strndup (word.at, word.length);
  guint32 at[3];

  *first = GPOINTER_TO_UINT (g_hash_table_lookup (reader->next_position, block));
  if (text == NULL)
    return TRUE;
  if (!quoit_cube_position_parse (text, at) || at[0] >= item->grid[0] || at[1] >= item->grid[1]
      || at[2] >= item->grid[2])
    return quoit_fleet_refuse (reader, word.at, word.length, "a position in the grid, such as 0-1-3");
  *first = (at[2] * item->grid[1] + at[1]) * item->grid[0] + at[0];
  return TRUE;
}

/* Reads the block and the grid of its cubes. Sets *@first_position to the position of the first cube of the item. */
static gboolean
read_block (QuoitFleetReader *reader, Item *item, const char *block, guint32 *first_position)
{
  const QuoitFleetWord grid = item->values[KEY_GRID], at = item->values[KEY_AT];

  *first_position = 0;
  if (grid.at == NULL && at.at != NULL)
    return quoit_fleet_refuse (reader, at.at, at.length, "also grid=AxBxC");
  if (block == NULL && grid.at == NULL)
    return TRUE;
  if (!quoit_slice_facts_are_cube (&item->facts))
    return quoit_fleet_refuse (reader, item->topology.at, item->topology.length,
                               "cubes: 4x4x4 of v4, v5p or tpu7x on hosts of 4 chips, because only they have a block");
  if (block == NULL)
    return quoit_fleet_refuse (reader, grid.at, grid.length, "also block=NAME");
  if (grid.at == NULL)
    return TRUE;
  if (!read_grid (reader, grid, item) || !read_first_position (reader, item, block, first_position))
    return FALSE;
  if ((guint64) *first_position + item->n_slices > (guint64) item->grid[0] * item->grid[1] * item->grid[2])
    return quoit_fleet_refuse (reader, grid.at, grid.length, "a grid with a position for each cube of the block");
  g_hash_table_replace (reader->next_position, g_strdup (block), GUINT_TO_POINTER (*first_position + item->n_slices));
  return TRUE;
}

static gboolean
read_slices (QuoitFleetReader *reader, QuoitFleetWord generation)
{
  Item item = { .n_slices = 1, .generation = generation };
  g_autofree char *pool = NULL, *zone = NULL, *block = NULL;
  guint32 first_position;
  g_autofree guint8 *marks = NULL;

  if (!read_words (reader, &item)
      || !quoit_fleet_read_facts (reader, item.generation, item.topology, item.values[KEY_HOSTCHIPS], &item.facts)
      || !check_size (reader, &item))
    return FALSE;
  pool = g_strdup_printf ("%.*s-%.*s", (int) item.generation.length, item.generation.at, (int) item.topology.length,
                          item.topology.at);
  if (!label_value (reader, &item, KEY_POOL, &pool) || !label_value (reader, &item, KEY_ZONE, &zone)
      || !label_value (reader, &item, KEY_BLOCK, &block) || !read_block (reader, &item, block, &first_position))
    return FALSE;

  item.first = GPOINTER_TO_UINT (g_hash_table_lookup (reader->next_slice, pool));
  item.marks = marks = g_malloc0 ((gsize) item.n_slices * item.facts.hosts);
  if (!read_marks (reader, &item))
    return FALSE;
  add_nodes (reader, &item, (SliceLabels) { pool, zone, block, NULL }, first_position);
  g_hash_table_replace (reader->next_slice, g_steal_pointer (&pool), GUINT_TO_POINTER (item.first + item.n_slices));
  return TRUE;
}

static gboolean
read_item (QuoitFleetReader *reader)
{
  QuoitFleetWord first = quoit_fleet_next_word (reader);

  return first.length == strlen ("group") && memcmp (first.at, "group", first.length) == 0
             ? quoit_fleet_read_group (reader)
             : read_slices (reader, first);
}

/* A text of groups alone is not a fleet. */
static gboolean
check_not_empty (const QuoitFleetReader *reader)
{
  guint32 n;

  quoit_claims_nodes (reader->claims, &n);
  return n > 0 || quoit_fleet_refuse (reader, reader->end, 0, "also slices, such as v6e 4x4 x2");
}

QuoitClaims *
quoit_read_fleet_text (const char *text, gsize length, const char *source, GError **error)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new (source != NULL ? source : "fleet", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (GHashTable) next_slice = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) group_names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) next_position = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  QuoitFleetReader reader = { text, text, text + length, claims, next_slice, group_names, next_position, error };
  const char *bad;

  if (!g_utf8_validate_len (text, length, &bad))
    return quoit_fleet_refuse (&reader, bad, 1, "UTF-8 text without NUL"), NULL;

  for (;;)
    {
      if (!read_item (&reader))
        return NULL;
      if (reader.p == reader.end)
        return check_not_empty (&reader) ? g_steal_pointer (&claims) : NULL;
      reader.p++;
    }
}
