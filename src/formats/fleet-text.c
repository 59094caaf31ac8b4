/* SPDX-License-Identifier: Apache-2.0 */
#include "base/label-names.h"
#include "formats/formats.h"
#include "models/ray/label-syntax.h"

#include <string.h>

/* Reads fleet text: items separated by ';'. docs/model.md has the grammar. */

/* A part of the text. */
typedef struct {
  const char *at; /* NULL: the word is missing */
  gsize length;
} Word;

enum { KEY_POOL, KEY_ZONE, KEY_HOSTCHIPS, KEY_BUSY, KEY_DRAINING, KEY_DEAD, N_KEYS };

static const char *const key_names[N_KEYS] = { "pool", "zone", "hostchips", "busy", "draining", "dead" };

enum { MARK_BUSY = 1, MARK_DRAINING = 2, MARK_DEAD = 4 };

/* One item: "v6e 4x4 x2 pool=big". */
typedef struct {
  Word generation, topology;
  guint32 n_slices;
  const char *count_at; /* the number of slices in the text; NULL: not stated */
  Word values[N_KEYS];
  QuoitSliceFacts facts;
  guint32 first; /* number of the first slice of the item in its pool */
  guint8 *marks; /* one per node: MARK_... flags of the keys busy, draining and dead */
} Item;

/* The state while a text is read. */
typedef struct {
  const char *text, *p, *end; /* p: the next byte to read */
  QuoitClaims *claims;
  GHashTable *next_slice; /* pool name -> number of slices so far */
  GError **error;
} Reader;

static gboolean
refuse (const Reader *reader, const char *at, gsize length, const char *expected)
{
  g_autofree char *quoted = length > 0 ? quoit_quote_bytes (at, length) : g_strdup ("the end");

  return quoit_fail (reader->error, QUOIT_ERROR_INVALID, "byte %zu: %s: expected %s", (gsize) (at - reader->text),
                     quoted, expected);
}

static gboolean
prefix_place (const Reader *reader, const char *at)
{
  g_prefix_error (reader->error, "byte %zu: ", (gsize) (at - reader->text));
  return FALSE;
}

static void
skip_blanks (Reader *reader)
{
  while (reader->p < reader->end && g_ascii_isspace (*reader->p))
    reader->p++;
}

static Word
next_word (Reader *reader)
{
  Word word;

  skip_blanks (reader);
  word.at = reader->p;
  while (reader->p < reader->end && !g_ascii_isspace (*reader->p) && *reader->p != ';')
    reader->p++;
  word.length = (gsize) (reader->p - word.at);
  return word;
}

/* Reads digits from @at up to @end. Returns the end of the digits, or NULL if there are none or the number is too
 * large. */
static const char *
read_number (const char *at, const char *end, guint32 *value)
{
  const char *p = at;

  for (*value = 0; p < end && g_ascii_isdigit (*p); p++)
    if (__builtin_mul_overflow (*value, 10u, value) || __builtin_add_overflow (*value, (guint32) (*p - '0'), value))
      return NULL;
  return p > at ? p : NULL;
}

static gboolean
read_count (Reader *reader, Word word, Item *item)
{
  const char *end;

  if (word.length == 1)
    word = next_word (reader);
  else
    word = (Word) { word.at + 1, word.length - 1 };
  item->count_at = word.at;
  end = read_number (word.at, word.at + word.length, &item->n_slices);
  if (end != word.at + word.length || item->n_slices == 0)
    return refuse (reader, word.at, word.length, "how many slices: 1 to 4000000");
  return TRUE;
}

static gboolean
read_key (Reader *reader, Word word, Item *item)
{
  const char *equals = memchr (word.at, '=', word.length);
  gsize length;

  if (equals == NULL)
    return refuse (reader, word.at, word.length, "key=value, or ';' before the next item");
  length = (gsize) (equals - word.at);
  for (unsigned key = 0; key < N_KEYS; key++)
    {
      Word value = { equals + 1, word.length - length - 1 };

      if (strlen (key_names[key]) != length || memcmp (key_names[key], word.at, length) != 0)
        continue;
      if (item->values[key].at != NULL)
        return refuse (reader, word.at, word.length, "each key once in an item");
      if (value.length == 0)
        return refuse (reader, word.at, word.length, "a value behind '='");
      item->values[key] = value;
      return TRUE;
    }
  return refuse (reader, word.at, length, "one of pool, zone, hostchips, busy, draining, dead");
}

static gboolean
read_words (Reader *reader, Item *item)
{
  Word word;

  item->generation = next_word (reader);
  if (item->generation.length == 0)
    return refuse (reader, reader->p, reader->p < reader->end, "a TPU generation such as v6e");
  item->topology = next_word (reader);
  if (item->topology.length == 0)
    return refuse (reader, reader->p, reader->p < reader->end, "a topology such as 4x4");

  for (word = next_word (reader); word.length > 0; word = next_word (reader))
    {
      gboolean is_count = *word.at == 'x' && (word.length == 1 || memchr (word.at, '=', word.length) == NULL);

      if (is_count && item->count_at != NULL)
        return refuse (reader, word.at, word.length, "the number of slices once");
      if (is_count ? !read_count (reader, word, item) : !read_key (reader, word, item))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_facts (Reader *reader, Item *item)
{
  g_autofree char *generation_text = g_strndup (item->generation.at, item->generation.length);
  g_autofree char *topology = g_strndup (item->topology.at, item->topology.length);
  Word host = item->values[KEY_HOSTCHIPS];
  guint32 chips = 0;
  QuoitGeneration generation;
  QuoitShape shape;

  if (!quoit_generation_parse (generation_text, &generation, reader->error))
    return prefix_place (reader, item->generation.at);
  if (!quoit_shape_parse (topology, &shape, reader->error) || !quoit_shape_check (generation, shape, reader->error))
    return prefix_place (reader, item->topology.at);
  if (host.at != NULL
      && (read_number (host.at, host.at + host.length, &chips) != host.at + host.length || chips == 0 || chips > 8))
    return refuse (reader, host.at, host.length, "the chips of a host: 1, 2, 4 or 8");
  if (!quoit_slice_facts (generation, shape, chips, &item->facts, reader->error))
    return prefix_place (reader, host.at != NULL ? host.at : item->topology.at);
  return TRUE;
}

static gboolean
check_size (Reader *reader, const Item *item)
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
read_range (Reader *reader, const char *at, const char *end, guint32 first, guint32 n, const char *what, guint32 *from,
            guint32 *to)
{
  const char *p = read_number (at, end, from);

  *to = *from;
  if (p != NULL && p < end && *p == '-')
    p = read_number (p + 1, end, to);
  if (p != NULL && *from >= first && *from <= *to && *to - first < n)
    return p;
  if (reader->error != NULL)
    {
      g_autofree char *expected
          = g_strdup_printf ("%s of this item: %u to %u, the lower one first", what, first, first + n - 1);

      refuse (reader, at, (gsize) (end - at), expected);
    }
  return NULL;
}

static gboolean
read_ref (Reader *reader, const char *at, const char *end, Item *item, guint8 mark)
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
    return refuse (reader, p, (gsize) (end - p), "a reference such as 2, 0-3, 2.1 or 2.0-3");

  for (; slice <= last_slice; slice++)
    for (guint32 w = worker; w <= last_worker; w++)
      item->marks[(gsize) (slice - item->first) * item->facts.hosts + w] |= mark;
  return TRUE;
}

static gboolean
read_refs (Reader *reader, Word refs, Item *item, guint8 mark)
{
  const char *at = refs.at, *end = refs.at + refs.length;

  for (;;)
    {
      const char *comma = memchr (at, ',', (gsize) (end - at));

      if (at == end || comma == at)
        return refuse (reader, refs.at, refs.length, "a reference such as 2, 0-3, 2.1 or 2.0-3 on each side of ','");
      if (!read_ref (reader, at, comma != NULL ? comma : end, item, mark))
        return FALSE;
      if (comma == NULL)
        return TRUE;
      at = comma + 1;
    }
}

static gboolean
read_marks (Reader *reader, Item *item)
{
  static const struct {
    int key;
    guint8 mark;
  } rows[] = { { KEY_BUSY, MARK_BUSY }, { KEY_DRAINING, MARK_DRAINING }, { KEY_DEAD, MARK_DEAD } };
  Word dead = item->values[KEY_DEAD];

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    if (item->values[rows[i].key].at != NULL && !read_refs (reader, item->values[rows[i].key], item, rows[i].mark))
      return FALSE;

  for (gsize i = 0; dead.at != NULL && i < (gsize) item->n_slices * item->facts.hosts; i++)
    if ((item->marks[i] & MARK_DEAD) != 0 && item->marks[i] != MARK_DEAD)
      {
        g_autofree char *expected = g_strdup_printf (
            "no other state for dead nodes: worker %u of slice %u is also %s", (guint32) (i % item->facts.hosts),
            item->first + (guint32) (i / item->facts.hosts), (item->marks[i] & MARK_BUSY) != 0 ? "busy" : "draining");

        return refuse (reader, dead.at, dead.length, expected);
      }
  return TRUE;
}

static guint32
make_kind (Reader *reader, const Item *item, const char *pool, const char *zone)
{
  const QuoitGenerationFacts *generation = quoit_generation_facts (item->facts.generation);
  g_autofree char *topology = quoit_shape_format (item->facts.shape);
  g_autofree char *pod_type = quoit_pod_type_format (item->facts.generation, item->facts.shape);
  QuoitPair labels[5] = { { QUOIT_RAY_LABEL_NODE_GROUP, pool },
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
  if (zone != NULL)
    labels[kind.n_labels++] = (QuoitPair) { QUOIT_RAY_LABEL_ZONE, zone };
  return quoit_claims_intern_kind (reader->claims, &kind, NULL);
}

static void
add_nodes (Reader *reader, const Item *item, const char *pool, const char *zone)
{
  QuoitNodeClaim node
      = { .pool = quoit_claims_ensure_pool (reader->claims, pool), .kind = make_kind (reader, item, pool, zone) };
  const guint8 *mark = item->marks;
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GString) slice = g_string_new (NULL);

  for (guint32 s = 0; s < item->n_slices; s++)
    {
      g_string_printf (slice, "%s-%u", pool, item->first + s);
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
label_value (Reader *reader, const Item *item, int key, char **value)
{
  Word word = item->values[key];

  if (word.at == NULL)
    return TRUE;
  g_free (*value);
  *value = g_strndup (word.at, word.length);
  return quoit_label_check_value (*value, reader->error) || prefix_place (reader, word.at);
}

static gboolean
read_item (Reader *reader)
{
  Item item = { .n_slices = 1 };
  g_autofree char *pool = NULL, *zone = NULL;
  g_autofree guint8 *marks = NULL;

  if (!read_words (reader, &item) || !read_facts (reader, &item) || !check_size (reader, &item))
    return FALSE;
  pool = g_strdup_printf ("%.*s-%.*s", (int) item.generation.length, item.generation.at, (int) item.topology.length,
                          item.topology.at);
  if (!label_value (reader, &item, KEY_POOL, &pool) || !label_value (reader, &item, KEY_ZONE, &zone))
    return FALSE;

  item.first = GPOINTER_TO_UINT (g_hash_table_lookup (reader->next_slice, pool));
  item.marks = marks = g_malloc0 ((gsize) item.n_slices * item.facts.hosts);
  if (!read_marks (reader, &item))
    return FALSE;
  add_nodes (reader, &item, pool, zone);
  g_hash_table_replace (reader->next_slice, g_steal_pointer (&pool), GUINT_TO_POINTER (item.first + item.n_slices));
  return TRUE;
}

QuoitClaims *
quoit_read_fleet_text (const char *text, gsize length, const char *source, GError **error)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new (source != NULL ? source : "fleet", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (GHashTable) next_slice = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader reader = { text, text, text + length, claims, next_slice, error };
  const char *bad;

  if (!g_utf8_validate_len (text, length, &bad))
    return refuse (&reader, bad, 1, "UTF-8 text without NUL"), NULL;

  for (;;)
    {
      if (!read_item (&reader))
        return NULL;
      if (reader.p == reader.end)
        return g_steal_pointer (&claims);
      reader.p++;
    }
}
