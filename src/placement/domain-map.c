/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/domain-map.h"

#include <stdlib.h>
#include <string.h>

#include "base/name-hash.h"
#include "base/natural.h"
#include "placement/placement.h"

/* --- zones --- */

static void
zones_clear (gpointer data)
{
  QuoitZones *zones = data;

  for (guint32 z = 0; z < zones->n; z++)
    g_free (zones->names[z]);
  g_free (zones->names);
  g_free (zones->of_slice);
  g_free (zones->of_shelf);
  g_free (zones->of_word);
}

void
quoit_zones_unref (QuoitZones *zones)
{
  g_atomic_rc_box_release_full (zones, zones_clear);
}

/* Zones in the order in which they are found. */
typedef struct {
  const QuoitLayout *layout;
  GPtrArray *names;
  GHashTable *by_name; /* name -> index + 1 */
  guint32 *of_kind;    /* by kind of node: QUOIT_MIXED_ZONES: not looked up yet */
} Finding;

static guint32
zone_of_node (Finding *finding, guint32 node)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  guint32 *zone = &finding->of_kind[finding->layout->nodes[node].kind];
  const char *name;
  gpointer found;

  if (*zone != QUOIT_MIXED_ZONES)
    return *zone;
  name = quoit_node_zone (finding->layout, (QuoitNodeId) { node }, buffer);
  if (name == NULL)
    return *zone = QUOIT_NO_INDEX;
  found = g_hash_table_lookup (finding->by_name, name);
  if (found == NULL)
    {
      g_ptr_array_add (finding->names, g_strdup (name));
      found = GUINT_TO_POINTER (finding->names->len);
      g_hash_table_insert (finding->by_name, finding->names->pdata[finding->names->len - 1], found);
    }
  return *zone = GPOINTER_TO_UINT (found) - 1;
}

static guint32
zone_of_slice (Finding *finding, const QuoitSlice *slice)
{
  guint32 zone = slice->n_nodes == 0 ? QUOIT_NO_INDEX : zone_of_node (finding, slice->first_node);

  for (guint32 i = 1; i < slice->n_nodes; i++)
    if (zone_of_node (finding, slice->first_node + i) != zone)
      return QUOIT_NO_INDEX;
  return zone;
}

static void
find_zones (Finding *finding, QuoitZones *zones)
{
  const QuoitLayout *layout = finding->layout;
  const QuoitSliceRuns *runs = quoit_layout_slice_runs (layout);

  for (guint32 k = 0; k <= layout->n_kinds; k++)
    finding->of_kind[k] = QUOIT_MIXED_ZONES;
  for (guint32 r = 0; r < runs->n; r++)
    {
      const QuoitSliceRun *run = &runs->runs[r];

      /* The nodes of a run are of one kind, or the run has one slice. */
      for (guint32 s = 0; s < run->n_slices; s++)
        zones->of_slice[run->first_slice + s]
            = s == 0 ? zone_of_slice (finding, &layout->slices[run->first_slice]) : zones->of_slice[run->first_slice];
    }
}

static int
by_name (const void *a, const void *b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

/* Numbers the zones in natural order. */
static void
sort_zones (Finding *finding, QuoitZones *zones)
{
  g_autofree guint32 *number = g_new0 (guint32, finding->names->len + 1);

  zones->n = finding->names->len;
  zones->names = g_new (char *, zones->n + 1);
  for (guint32 z = 0; z < zones->n; z++)
    zones->names[z] = g_ptr_array_index (finding->names, z);
  qsort (zones->names, zones->n, sizeof *zones->names, by_name);
  for (guint32 z = 0; z < zones->n; z++)
    number[GPOINTER_TO_UINT (g_hash_table_lookup (finding->by_name, zones->names[z])) - 1] = z;
  for (guint32 s = 0; s < finding->layout->n_slices; s++)
    if (zones->of_slice[s] != QUOIT_NO_INDEX)
      zones->of_slice[s] = number[zones->of_slice[s]];
}

/* Returns the zone of all @n slices from @first on, QUOIT_NO_INDEX or QUOIT_MIXED_ZONES. */
static guint32
find_zone_of_range (const QuoitZones *zones, guint32 first, guint32 n)
{
  guint32 zone = n == 0 ? QUOIT_NO_INDEX : zones->of_slice[first];

  for (guint32 s = first + 1; s < first + n; s++)
    if (zones->of_slice[s] != zone)
      return QUOIT_MIXED_ZONES;
  return zone;
}

static QuoitZones *
make_zones (const QuoitLayout *layout)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GHashTable) by_zone = g_hash_table_new (quoit_hash_text, g_str_equal);
  g_autofree guint32 *of_kind = g_new (guint32, layout->n_kinds + 1);
  Finding finding = { layout, names, by_zone, of_kind };
  QuoitZones *zones = g_atomic_rc_box_new0 (QuoitZones);

  zones->of_slice = g_new0 (guint32, layout->n_slices + 1);
  zones->of_shelf = g_new (guint32, layout->n_shelves + 1);
  find_zones (&finding, zones);
  sort_zones (&finding, zones);
  for (guint32 h = 0; h < layout->n_shelves; h++)
    zones->of_shelf[h] = find_zone_of_range (zones, layout->shelves[h].first_slice, layout->shelves[h].n_slices);
  zones->of_word = g_new (guint32, layout->n_slices / 64 + 1);
  for (guint32 w = 0; w <= layout->n_slices / 64; w++)
    zones->of_word[w] = find_zone_of_range (zones, w * 64, MIN (64, layout->n_slices - w * 64));
  return zones;
}

/* Identifies a result among those that layouts remember, all of which have another length. */
typedef struct {
  char what[4];
  guint32 kind, class_index;
} Key;

QuoitZones *
quoit_zones_get (const QuoitLayout *layout)
{
  const Key key = { "zon", 0, 0 };
  QuoitZones *zones = quoit_recent_get (layout->domains, &key, sizeof key);

  if (zones != NULL)
    return zones;
  zones = make_zones (layout);
  quoit_recent_put (layout->domains, &key, sizeof key, zones, zones_clear);
  return zones;
}

guint32
quoit_zones_find (const QuoitZones *zones, const char *name)
{
  for (guint32 z = 0; z < zones->n; z++)
    if (strcmp (zones->names[z], name) == 0)
      return z;
  return QUOIT_NO_INDEX;
}

void
quoit_zones_count_free (const QuoitZones *zones, const QuoitFleet *fleet, const QuoitEligible *eligible,
                        QuoitDomainCount *counts)
{
  for (guint32 w = 0; w < eligible->n_words; w++)
    {
      guint64 word = eligible->slices[w] & quoit_bits_word (&fleet->free_slices, w);
      const guint32 zone = zones->of_word[w];

      if (zone < zones->n)
        counts[zone].n_available += quoit_bits_count (word);
      for (; zone == QUOIT_MIXED_ZONES && word != 0; word &= word - 1)
        {
          const guint32 of_slice = zones->of_slice[w * 64 + (guint32) __builtin_ctzll (word)];

          if (of_slice != QUOIT_NO_INDEX)
            counts[of_slice].n_available++;
        }
    }
}

/* --- maps --- */

static void
map_clear (gpointer data)
{
  QuoitDomainMap *map = data;

  for (guint32 z = 0; map->of_zone != NULL && z < map->n_domains; z++)
    quoit_eligible_unref (map->of_zone[z]);
  g_free (map->of_zone);
  g_free (map->parts);
  g_free (map->first_part);
  g_free (map->of_shelf);
  g_clear_pointer (&map->zones, quoit_zones_unref);
}

void
quoit_domain_map_unref (QuoitDomainMap *map)
{
  g_atomic_rc_box_release_full (map, map_clear);
}

static void
add_part (GArray *parts, guint32 shelf, guint32 domain, gboolean is_whole)
{
  const QuoitDomainPart part = { shelf, domain, is_whole };

  g_array_append_val (parts, part);
}

/* Adds a part for each zone in which the shelf has slices. */
static void
add_zones_of_shelf (const QuoitZones *zones, const QuoitLayout *layout, guint32 shelf, GArray *parts)
{
  const QuoitShelf *row = &layout->shelves[shelf];
  g_autoptr (GHashTable) seen = NULL;

  if (zones->of_shelf[shelf] == QUOIT_NO_INDEX)
    return;
  if (zones->of_shelf[shelf] != QUOIT_MIXED_ZONES)
    {
      add_part (parts, shelf, zones->of_shelf[shelf], TRUE);
      return;
    }
  seen = g_hash_table_new (NULL, NULL);
  for (guint32 s = row->first_slice; s < row->first_slice + row->n_slices; s++)
    if (zones->of_slice[s] != QUOIT_NO_INDEX && g_hash_table_add (seen, GUINT_TO_POINTER (zones->of_slice[s])))
      add_part (parts, shelf, zones->of_slice[s], FALSE);
}

static gint
by_domain (gconstpointer a, gconstpointer b)
{
  const QuoitDomainPart *one = a, *other = b;

  if (one->domain != other->domain)
    return one->domain < other->domain ? -1 : 1;
  return one->shelf < other->shelf ? -1 : one->shelf > other->shelf;
}

/* Lists the parts, and sets the number of domains. */
static GArray *
list_parts (QuoitDomainMap *map, const QuoitLayout *layout, guint32 class_index)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (QuoitDomainPart));

  for (guint32 h = 0; h < layout->n_shelves; h++)
    {
      map->of_shelf[h] = QUOIT_NO_INDEX;
      if (class_index == QUOIT_NO_INDEX || layout->shelves[h].class_index != class_index)
        continue;
      if (map->kind == QUOIT_DOMAIN_ZONE)
        {
          add_zones_of_shelf (map->zones, layout, h, parts);
          continue;
        }
      map->of_shelf[h] = map->kind == QUOIT_DOMAIN_POOL ? parts->len : 0;
      add_part (parts, h, map->of_shelf[h], TRUE);
    }
  map->n_domains = map->kind == QUOIT_DOMAIN_ZONE ? map->zones->n : map->kind == QUOIT_DOMAIN_POOL ? parts->len : 1;
  g_array_sort (parts, by_domain);
  return parts;
}

/* Returns the slices of a domain. */
static QuoitEligible *
list_slices (const QuoitDomainMap *map, const QuoitLayout *layout, guint32 class_index, guint32 domain)
{
  QuoitEligible *eligible = quoit_eligible_new (layout);

  for (guint32 p = map->first_part[domain]; p < map->first_part[domain + 1]; p++)
    {
      const QuoitShelf *shelf = &layout->shelves[map->parts[p].shelf];

      for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
        if (map->parts[p].is_whole || quoit_domain_of_slice (map, layout, s) == domain)
          quoit_eligible_add (eligible, s, 1);
    }
  quoit_eligible_finish (eligible, layout, class_index);
  return eligible;
}

QuoitDomainMap *
quoit_domain_map_get (const QuoitLayout *layout, QuoitDomain kind, guint32 class_index)
{
  const Key key = { "map", kind, class_index };
  QuoitDomainMap *map = quoit_recent_get (layout->domains, &key, sizeof key);
  GArray *parts;
  guint32 p = 0;

  if (map != NULL)
    return map;
  map = g_atomic_rc_box_new0 (QuoitDomainMap);
  map->kind = kind;
  map->zones = kind == QUOIT_DOMAIN_ZONE ? quoit_zones_get (layout) : NULL;
  map->of_shelf = g_new (guint32, layout->n_shelves + 1);
  parts = list_parts (map, layout, class_index);
  map->n_parts = parts->len;
  map->parts = (QuoitDomainPart *) (void *) g_array_free (parts, FALSE);
  map->is_whole = TRUE;
  for (guint32 i = 0; i < map->n_parts; i++)
    map->is_whole &= map->parts[i].is_whole;
  map->first_part = g_new (guint32, map->n_domains + 1);
  for (guint32 d = 0; d < map->n_domains; d++)
    {
      map->first_part[d] = p;
      while (p < map->n_parts && map->parts[p].domain == d)
        p++;
    }
  map->first_part[map->n_domains] = p;
  if (kind == QUOIT_DOMAIN_ZONE && map->n_domains <= QUOIT_MAX_ZONE_SETS)
    {
      map->of_zone = g_new (QuoitEligible *, map->n_domains + 1);
      for (guint32 z = 0; z < map->n_domains; z++)
        map->of_zone[z] = list_slices (map, layout, class_index, z);
    }
  quoit_recent_put (layout->domains, &key, sizeof key, map, map_clear);
  return map;
}

/* Returns whether several sources have a pool of that name. */
static gboolean
is_ambiguous (const QuoitLayout *layout, const QuoitPool *pool)
{
  for (guint32 p = 0; p < layout->n_pools; p++)
    if (&layout->pools[p] != pool && layout->pools[p].name.index == pool->name.index)
      return TRUE;
  return FALSE;
}

char *
quoit_domain_map_dup_name (const QuoitDomainMap *map, const QuoitLayout *layout, guint32 domain)
{
  const QuoitPool *pool;

  if (map->kind == QUOIT_DOMAIN_ZONE)
    return g_strdup (map->zones->names[domain]);
  pool = &layout->pools[layout->shelves[map->parts[map->first_part[domain]].shelf].pool];
  return is_ambiguous (layout, pool) ? g_strconcat (quoit_layout_text (layout, layout->sources[pool->source].name), "/",
                                                    quoit_layout_text (layout, pool->name), NULL)
                                     : g_strdup (quoit_layout_text (layout, pool->name));
}
