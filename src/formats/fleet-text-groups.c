/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the items "group ..." of fleet text: groups that the import reserves. */
#include "formats/fleet-text.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/time.h"
#include "fleet/joined.h"
#include "fleet/labels.h"

enum { KEY_POOL, KEY_ZONE, KEY_HOSTCHIPS, KEY_SLICES, KEY_UNTIL, KEY_OWNER, KEY_PRIORITY, KEY_CUBES, N_KEYS };

static const char *const key_names[N_KEYS]
    = { "pool", "zone", "hostchips", "slices", "until", "owner", "priority", "cubes" };

static const char label_prefix[] = "label.";

/* One item: "group train v6e 4x4 x2 until=2027-01-01T00:00Z". */
typedef struct {
  QuoitFleetWord name, generation, topology, count;
  guint32 n_slices;
  QuoitFleetWord values[N_KEYS];
  GArray *labels;    /* of QuoitLabel; see quoit_labels_new() */
  GPtrArray *slices; /* full names; owned */
  QuoitCubes cubes;
  QuoitSliceFacts facts;
} Group;

static gboolean
read_count (QuoitFleetReader *reader, QuoitFleetWord word, Group *group)
{
  const char *end;

  if (group->count.at != NULL)
    return quoit_fleet_refuse (reader, word.at, word.length, "the number of slices once");
  group->count = word.length == 1 ? quoit_fleet_next_word (reader) : (QuoitFleetWord) { word.at + 1, word.length - 1 };
  end = quoit_fleet_read_number (group->count.at, group->count.at + group->count.length, &group->n_slices);
  if (end != group->count.at + group->count.length || group->n_slices == 0 || group->n_slices > 1000000)
    return quoit_fleet_refuse (reader, group->count.at, group->count.length, "how many slices: 1 to 1000000");
  return TRUE;
}

/* Reads "label.KEY=VALUE". */
static gboolean
read_label (QuoitFleetReader *reader, QuoitFleetWord word, const char *equals, Group *group)
{
  const char *start = word.at + strlen (label_prefix);
  g_autofree char *key = g_strndup (start, (gsize) (equals - start));
  g_autofree char *value = g_strndup (equals + 1, (gsize) (word.at + word.length - equals - 1));

  if (quoit_labels_find ((const QuoitLabel *) (const void *) group->labels->data, group->labels->len, key) != NULL)
    return quoit_fleet_refuse (reader, word.at, word.length, "each label once in an item");
  return quoit_labels_set (group->labels, key, value, QUOIT_MAX_LABELS, reader->error)
         || quoit_fleet_prefix_place (reader, word.at);
}

static gboolean
read_key (QuoitFleetReader *reader, QuoitFleetWord word, Group *group)
{
  const char *equals = memchr (word.at, '=', word.length);
  gsize length;

  if (equals == NULL)
    return quoit_fleet_refuse (reader, word.at, word.length, "key=value, or ';' before the next item");
  length = (gsize) (equals - word.at);
  if (length > strlen (label_prefix) && memcmp (word.at, label_prefix, strlen (label_prefix)) == 0)
    return read_label (reader, word, equals, group);
  for (unsigned key = 0; key < N_KEYS; key++)
    {
      QuoitFleetWord value = { equals + 1, word.length - length - 1 };

      if (strlen (key_names[key]) != length || memcmp (key_names[key], word.at, length) != 0)
        continue;
      if (group->values[key].at != NULL)
        return quoit_fleet_refuse (reader, word.at, word.length, "each key once in an item");
      if (value.length == 0)
        return quoit_fleet_refuse (reader, word.at, word.length, "a value behind '='");
      group->values[key] = value;
      return TRUE;
    }
  return quoit_fleet_refuse (reader, word.at, length,
                             "one of pool, zone, hostchips, slices, until, owner, priority, cubes, label.KEY");
}

static gboolean
read_words (QuoitFleetReader *reader, Group *group)
{
  const struct {
    QuoitFleetWord *word;
    const char *expected;
  } first[] = { { &group->name, "the name of a group" },
                { &group->generation, "a TPU generation such as v6e" },
                { &group->topology, "a topology such as 4x4" } };
  QuoitFleetWord word;

  for (gsize i = 0; i < G_N_ELEMENTS (first); i++)
    {
      *first[i].word = quoit_fleet_next_word (reader);
      if (first[i].word->length == 0)
        return quoit_fleet_refuse (reader, reader->p, reader->p < reader->end, first[i].expected);
    }
  for (word = quoit_fleet_next_word (reader); word.length > 0; word = quoit_fleet_next_word (reader))
    {
      gboolean is_count = *word.at == 'x' && (word.length == 1 || memchr (word.at, '=', word.length) == NULL);

      if (is_count ? !read_count (reader, word, group) : !read_key (reader, word, group))
        return FALSE;
    }
  return TRUE;
}

/* Returns the value of a key, or NULL. The caller owns it. */
static char *
dup_value (const Group *group, int key)
{
  return group->values[key].at == NULL ? NULL : g_strndup (group->values[key].at, group->values[key].length);
}

static gboolean
read_name (QuoitFleetReader *reader, const Group *group, const char *name)
{
  return g_hash_table_add (reader->group_names, g_strdup (name))
         || quoit_fleet_refuse (reader, group->name.at, group->name.length,
                                "another name: there is such a group before");
}

static gboolean
read_until (QuoitFleetReader *reader, const Group *group, gint64 *until_ms)
{
  g_autofree char *text = dup_value (group, KEY_UNTIL);

  return text == NULL || (quoit_time_parse (text, until_ms) && *until_ms > 0)
         || quoit_fleet_refuse (reader, group->values[KEY_UNTIL].at, group->values[KEY_UNTIL].length,
                                "ISO 8601 with an offset, such as 2027-01-01T00:00Z, before the year 2200");
}

static gboolean
read_priority (QuoitFleetReader *reader, const Group *group, gint32 *priority)
{
  g_autofree char *text = dup_value (group, KEY_PRIORITY);
  gint64 value = 0;

  if (text != NULL && !g_ascii_string_to_signed (text, 10, G_MININT32, G_MAXINT32, &value, NULL))
    return quoit_fleet_refuse (reader, group->values[KEY_PRIORITY].at, group->values[KEY_PRIORITY].length,
                               "a number from -2147483648 to 2147483647");
  *priority = (gint32) value;
  return TRUE;
}

static gboolean
read_cubes (QuoitFleetReader *reader, Group *group)
{
  g_autofree char *text = dup_value (group, KEY_CUBES);

  group->cubes = QUOIT_CUBES_NONE;
  return text == NULL || (quoit_cubes_find (text, &group->cubes) && group->cubes != QUOIT_CUBES_NONE)
         || quoit_fleet_refuse (reader, group->values[KEY_CUBES].at, group->values[KEY_CUBES].length,
                                "any, any-twisted or adjacent");
}

/* Reads "POOL:" at @p, if it is there, into *@pool. Returns what is behind. */
static const char *
read_pool (const char *p, const char *end, char **pool)
{
  const char *colon = memchr (p, ':', (gsize) (end - p)), *comma = memchr (p, ',', (gsize) (end - p));

  if (colon == NULL || (comma != NULL && comma < colon))
    return p;
  g_free (*pool);
  *pool = g_strndup (p, (gsize) (colon - p));
  return colon + 1;
}

static guint32
count_slices (const QuoitFleetReader *reader, const char *pool)
{
  return pool == NULL ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (reader->next_slice, pool));
}

/* The slices of a group while they are read. */
typedef struct {
  char *pool;        /* of the next ones; NULL: not stated yet */
  gint64 last;       /* the last one of that pool; -1: none */
  GHashTable *known; /* their names, which the group owns */
} Slices;

/* Adds the slices "2" or "2-4" of the pool at @p. Returns what is behind, or NULL. The whole slices of a pool are in
 * order, but cubes are in that of the joined slices. */
static const char *
read_range (QuoitFleetReader *reader, Group *group, Slices *slices, const char *p, const char *end)
{
  const char *pool = slices->pool;
  guint32 from, to;

  p = quoit_fleet_read_number (p, end, &from);
  to = from;
  if (p != NULL && p < end && *p == '-')
    p = quoit_fleet_read_number (p + 1, end, &to);
  if (p == NULL || (p < end && *p != ',') || to < from || to >= count_slices (reader, pool)
      || (group->cubes == QUOIT_CUBES_NONE && (gint64) from <= slices->last))
    return NULL;
  for (guint32 slice = from; slice <= to; slice++)
    {
      char *name = g_strdup_printf ("%s/%s/%s-%u", quoit_claims_source (reader->claims), pool, pool, slice);

      g_ptr_array_add (group->slices, name);
      if (!g_hash_table_add (slices->known, name))
        return NULL;
    }
  slices->last = to;
  return p;
}

static gboolean
read_all_slices (QuoitFleetReader *reader, Group *group, Slices *slices)
{
  const QuoitFleetWord word = group->values[KEY_SLICES];
  const char *p = word.at, *end = word.at + word.length;

  for (;; p++)
    {
      const char *behind = read_pool (p, end, &slices->pool);
      guint32 n;

      if (behind != p)
        slices->last = -1;
      n = count_slices (reader, slices->pool);
      if (n == 0)
        return quoit_fleet_refuse (reader, word.at, word.length, "also pool=, with a pool of an item before");
      p = read_range (reader, group, slices, behind, end);
      if (p == NULL)
        {
          g_autofree char *expected
              = g_strdup_printf ("slices of pool '%s': 0 to %u %s, such as 0,2-3", slices->pool, n - 1,
                                 group->cubes == QUOIT_CUBES_NONE ? "in order" : "each once");

          return quoit_fleet_refuse (reader, word.at, word.length, expected);
        }
      if (p == end)
        return TRUE;
    }
}

/* Reads "0,2-3" or "a:0,2-3,b:1": the numbers of slices of pools, which earlier items must have. */
static gboolean
read_slices (QuoitFleetReader *reader, Group *group, const char *of_pool)
{
  Slices slices = { g_strdup (of_pool), -1, g_hash_table_new (quoit_hash_text, g_str_equal) };
  const gboolean ok = group->values[KEY_SLICES].at == NULL || read_all_slices (reader, group, &slices);

  g_free (slices.pool);
  g_hash_table_unref (slices.known);
  return ok;
}

/* Checks that as many slices are named as the group has, or as many cubes as they have. */
static gboolean
count_named (QuoitFleetReader *reader, Group *group)
{
  const guint32 n_cubes = MAX (1, quoit_shape_chips (group->facts.shape) / QUOIT_CUBE_CHIPS),
                n_each = group->cubes == QUOIT_CUBES_NONE ? 1 : n_cubes;

  if (group->slices->len == 0)
    return TRUE;
  if (group->count.at == NULL && group->slices->len % n_each == 0)
    group->n_slices = group->slices->len / n_each;
  if ((guint64) group->n_slices * n_each == group->slices->len)
    return TRUE;
  if (n_each > 1)
    {
      g_autofree char *expected = g_strdup_printf ("%u cubes for each slice", n_each);

      return quoit_fleet_refuse (reader, group->values[KEY_SLICES].at, group->values[KEY_SLICES].length, expected);
    }
  return quoit_fleet_refuse (reader, group->count.at, group->count.length, "as many slices as slices= has");
}

static gboolean
add_group (QuoitFleetReader *reader, Group *group)
{
  g_autofree char *name = g_strndup (group->name.at, group->name.length);
  g_autofree char *pool = dup_value (group, KEY_POOL), *zone = dup_value (group, KEY_ZONE),
                  *owner = dup_value (group, KEY_OWNER);
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (QuoitPair));
  QuoitReservationClaim claim = { .name = name, .owner = owner, .pool = pool, .zone = zone };

  if (!read_name (reader, group, name)
      || !quoit_fleet_read_facts (reader, group->generation, group->topology, group->values[KEY_HOSTCHIPS],
                                  &group->facts)
      || !read_cubes (reader, group) || !read_slices (reader, group, pool) || !count_named (reader, group)
      || !read_until (reader, group, &claim.until_ms) || !read_priority (reader, group, &claim.priority))
    return FALSE;
  for (guint i = 0; i < group->labels->len; i++)
    {
      const QuoitLabel *label = &g_array_index (group->labels, QuoitLabel, i);
      QuoitPair pair = { label->key, label->value };

      g_array_append_val (labels, pair);
    }
  claim.generation = group->facts.generation;
  claim.shape = group->facts.shape;
  claim.chips_per_host = group->values[KEY_HOSTCHIPS].at == NULL ? 0 : group->facts.chips_per_host;
  claim.cubes = group->cubes;
  claim.n_slices = group->n_slices;
  claim.n_labels = (guint16) labels->len;
  claim.labels = (const QuoitPair *) (const void *) labels->data;
  claim.n_named = group->slices->len;
  claim.named = (const char *const *) group->slices->pdata;
  quoit_claims_add_reservation (reader->claims, &claim);
  return TRUE;
}

gboolean
quoit_fleet_read_group (QuoitFleetReader *reader)
{
  g_autoptr (GArray) labels = quoit_labels_new (NULL, 0);
  g_autoptr (GPtrArray) slices = g_ptr_array_new_with_free_func (g_free);
  Group group = { .n_slices = 1, .labels = labels, .slices = slices };

  return read_words (reader, &group) && add_group (reader, &group);
}
