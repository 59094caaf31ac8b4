/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/plan.h"

#include <string.h>

#include "placement/cut/sources.h"
#include "placement/quota.h"

/* About a tenth of a second for one slice. */
#define STEPS G_GUINT64_CONSTANT (20000000)

/* --- costs --- */

enum {
  NO_PLACE = G_MAXUINT32, /* as a turn: there is no place */
  MOST_KNOWN = 4096       /* places that are remembered for a class */
};

/* How many parts one slice can hold at once. */
typedef struct {
  guint32 least, most;
} Count;

/* The costs of a class, and what was found out about its slices: the cheapest places and the counts, by GBytes of the
 * part and the free hosts. An atomic rc box, remembered by the layout. */
typedef struct {
  QuoitPlaceCosts *costs;
  GMutex lock; /* of the tables; in a child of fork(2), a thread of the parent may have it for ever */
  GHashTable *places, *counts;
} Costs;

static void
costs_clear (gpointer data)
{
  Costs *costs = data;

  quoit_place_costs_free (costs->costs);
  g_hash_table_unref (costs->places);
  g_hash_table_unref (costs->counts);
  g_mutex_clear (&costs->lock);
}

static GHashTable *
new_table (void)
{
  return g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
}

static QuoitPlaceCosts *
make_costs (const QuoitCutSource *source)
{
  const QuoitSliceFacts *facts = &source->class->facts;
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (facts->generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      g_array_append_val (shapes, rows[i].shape);
  return quoit_place_costs_new (&source->cutting.grid, facts->host_block,
                                (const QuoitShape *) (const void *) shapes->data, shapes->len);
}

/* Returns a reference. The costs depend on the class and on the axes that wrap. */
static Costs *
get_costs (const QuoitLayout *layout, const QuoitCutSource *source)
{
  const guint32 key[] = { (guint32) (source->class - layout->classes), source->cutting.grid.wrap };
  Costs *costs = quoit_recent_get (layout->place_costs, key, sizeof key);

  if (costs != NULL)
    return costs;
  costs = g_atomic_rc_box_new0 (Costs);
  costs->costs = make_costs (source);
  costs->places = new_table ();
  costs->counts = new_table ();
  g_mutex_init (&costs->lock);
  quoit_recent_put (layout->place_costs, key, sizeof key, costs, costs_clear);
  return costs;
}

/* Returns what the place and the count depend on, apart from the class: the part, and the free hosts. */
static GBytes *
make_key (const QuoitCutting *cutting, const QuoitHostSet *free)
{
  const guint n_rows = quoit_grid_n_rows (&cutting->grid);
  GByteArray *key = g_byte_array_sized_new ((guint) sizeof *cutting + n_rows * (guint) sizeof *free->rows);

  g_byte_array_append (key, (const guint8 *) &cutting->offsets, sizeof cutting->offsets);
  for (guint turn = 0; turn < cutting->n_turns; turn++)
    g_byte_array_append (key, (const guint8 *) cutting->turns[turn].hosts.dims, sizeof cutting->turns[turn].hosts.dims);
  g_byte_array_append (key, (const guint8 *) free->rows, n_rows * (guint) sizeof *free->rows);
  return g_byte_array_free_to_bytes (key);
}

/* Remembers a result. Takes the key. The lock must be held. */
static void
remember (GHashTable *table, GBytes *key, gpointer result)
{
  if (g_hash_table_size (table) >= MOST_KNOWN)
    g_hash_table_remove_all (table);
  g_hash_table_insert (table, key, result);
}

/* --- the cheapest place of a slice --- */

/* Of places at multiples of the box along each axis. */
static gboolean
find_best_aligned (const QuoitCutting *cutting, const QuoitPlaceCosts *costs, const QuoitHostSet *free,
                   QuoitPlace *place)
{
  const QuoitShape hosts = cutting->turns[0].hosts;
  const QuoitGrid *grid = &cutting->grid;
  gboolean is_found = FALSE;
  QuoitHostSet places;

  if (!quoit_places_find (grid, free, hosts, &places))
    return FALSE;
  for (guint32 z = 0; z < grid->n[2]; z += hosts.dims[2])
    for (guint32 y = 0; y < grid->n[1]; y += hosts.dims[1])
      for (guint32 x = 0; x < grid->n[0]; x += hosts.dims[0])
        {
          const guint32 origin = (z * grid->n[1] + y) * grid->n[0] + x;
          guint64 cost;

          if (!quoit_host_set_has (grid, &places, origin))
            continue;
          cost = quoit_places_cost (costs, free, hosts, origin);
          if (is_found && cost >= place->cost)
            continue;
          *place = (QuoitPlace) { .origin = origin, .cost = cost };
          is_found = TRUE;
        }
  return is_found;
}

/* A slice with a place for a part. */
typedef struct {
  QuoitPlace place;
  guint32 slice;
  guint32 source; /* index in the sources */
} Offer;

/* The parts that are being chosen. */
typedef struct {
  const QuoitFleet *fleet;
  const GArray *sources; /* of QuoitCutSource */
  guint first, end;      /* the sources that are used */
  GPtrArray *costs;      /* of Costs, by source; NULL for the others */
  GArray *offers;        /* of Offer: a heap, the cheapest first */
  GHashTable *left;      /* slice -> QuoitHostSet: the free hosts of slices with parts */
} Choice;

static const QuoitCutSource *
source_at (const Choice *choice, guint32 source)
{
  return &g_array_index (choice->sources, QuoitCutSource, source);
}

static QuoitPlace
find_place (const Choice *choice, guint32 index, const QuoitHostSet *free)
{
  const QuoitCutSource *source = source_at (choice, index);
  const QuoitPlaceCosts *costs = ((const Costs *) choice->costs->pdata[index])->costs;
  QuoitPlace place;
  gboolean is_found
      = source->cutting.offsets == QUOIT_OFFSETS_ALIGNED
            ? find_best_aligned (&source->cutting, costs, free, &place)
            : quoit_places_find_best (costs, free, source->cutting.turns, source->cutting.n_turns, &place);

  return is_found ? place : (QuoitPlace) { .turn = NO_PLACE };
}

/* Like find_place(), but remembers the result: many slices have the same free hosts, and most keep them from one
 * request to the next. */
static QuoitPlace
look_up_place (const Choice *choice, guint32 index, const QuoitHostSet *free)
{
  Costs *costs = choice->costs->pdata[index];
  g_autoptr (GBytes) key = make_key (&source_at (choice, index)->cutting, free);
  const QuoitPlace *known;
  QuoitPlace place;

  if (!g_mutex_trylock (&costs->lock))
    return find_place (choice, index, free);
  known = g_hash_table_lookup (costs->places, key);
  place = known != NULL ? *known : find_place (choice, index, free);
  if (known == NULL)
    remember (costs->places, g_steal_pointer (&key), g_memdup2 (&place, sizeof place));
  g_mutex_unlock (&costs->lock);
  return place;
}

/* --- the heap --- */

static gboolean
is_before (const Offer *a, const Offer *b)
{
  return a->place.cost != b->place.cost ? a->place.cost < b->place.cost : a->slice < b->slice;
}

static Offer *
offer_at (const Choice *choice, guint i)
{
  return &g_array_index (choice->offers, Offer, i);
}

static void
swap_offers (const Choice *choice, guint a, guint b)
{
  const Offer offer = *offer_at (choice, a);

  *offer_at (choice, a) = *offer_at (choice, b);
  *offer_at (choice, b) = offer;
}

/* Moves the offer at @i down to where it belongs. */
static void
sift_down (const Choice *choice, guint i)
{
  for (;;)
    {
      guint least = i;

      for (guint child = 2 * i + 1; child <= 2 * i + 2 && child < choice->offers->len; child++)
        if (is_before (offer_at (choice, child), offer_at (choice, least)))
          least = child;
      if (least == i)
        return;
      swap_offers (choice, i, least);
      i = least;
    }
}

static void
make_offers (const Choice *choice)
{
  const QuoitFreeHosts rule = { choice->fleet, QUOIT_NODE_ALIVE, FALSE };

  for (guint i = choice->first; i < choice->end; i++)
    {
      const QuoitGrid *grid = &source_at (choice, i)->cutting.grid;
      QuoitPlace in_empty = { .turn = NO_PLACE };
      gboolean is_empty_known = FALSE;

      for (guint s = 0; s < source_at (choice, i)->slices->len; s++)
        {
          Offer offer = { .slice = g_array_index (source_at (choice, i)->slices, guint32, s), .source = i };
          const gboolean is_empty = quoit_free_hosts_are_all (&rule, offer.slice);
          QuoitHostSet free;

          offer.place = in_empty;
          if (!is_empty || !is_empty_known)
            {
              quoit_free_hosts_list (&rule, offer.slice, grid, &free);
              offer.place = look_up_place (choice, i, &free);
            }
          if (is_empty)
            {
              in_empty = offer.place;
              is_empty_known = TRUE;
            }
          if (offer.place.turn != NO_PLACE)
            g_array_append_val (choice->offers, offer);
        }
    }
  for (guint i = choice->offers->len / 2; i-- > 0;)
    sift_down (choice, i);
}

/* --- choosing --- */

/* Returns the free hosts of a slice without the parts that were chosen. */
static QuoitHostSet *
hosts_left (const Choice *choice, const Offer *offer)
{
  const QuoitFreeHosts rule = { choice->fleet, QUOIT_NODE_ALIVE, FALSE };
  QuoitHostSet *left = g_hash_table_lookup (choice->left, GUINT_TO_POINTER (offer->slice));

  if (left != NULL)
    return left;
  left = g_new (QuoitHostSet, 1);
  quoit_free_hosts_list (&rule, offer->slice, &source_at (choice, offer->source)->cutting.grid, left);
  g_hash_table_insert (choice->left, GUINT_TO_POINTER (offer->slice), left);
  return left;
}

/* Takes the cheapest place of all slices, and if @is_last is not set, finds the next one of its slice. */
static void
take_cheapest (const Choice *choice, gboolean is_last, GArray *parts)
{
  Offer *offer = offer_at (choice, 0);
  const QuoitCutting *cutting = &source_at (choice, offer->source)->cutting;
  const QuoitCutPart part = { offer->slice, offer->place.origin, cutting->turns[offer->place.turn].hosts };
  QuoitHostSet *left;

  g_array_append_val (parts, part);
  if (is_last)
    return;
  left = hosts_left (choice, offer);
  quoit_host_set_remove_box (&cutting->grid, left, part.hosts, part.origin);
  offer->place = look_up_place (choice, offer->source, left);
  if (offer->place.turn == NO_PLACE)
    {
      *offer = *offer_at (choice, choice->offers->len - 1);
      g_array_set_size (choice->offers, choice->offers->len - 1);
    }
  if (choice->offers->len > 0)
    sift_down (choice, 0);
}

/* Chooses parts from sources @first to @end. */
static void
choose_cheapest (const QuoitFleet *fleet, const GArray *sources, guint first, guint end, guint32 most, GArray *parts)
{
  g_autoptr (GPtrArray) costs = g_ptr_array_new ();
  g_autoptr (GHashTable) left = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GArray) offers = g_array_new (FALSE, FALSE, sizeof (Offer));
  const Choice choice = { fleet, sources, first, end, costs, offers, left };

  for (guint i = 0; i < end; i++)
    g_ptr_array_add (costs, i < first ? NULL : get_costs (fleet->layout, source_at (&choice, i)));
  make_offers (&choice);
  while (parts->len < most && offers->len > 0)
    take_cheapest (&choice, parts->len + 1 == most, parts);
  for (guint i = first; i < end; i++)
    g_atomic_rc_box_release_full (costs->pdata[i], costs_clear);
}

/* --- packing --- */

static void
append_packed (const QuoitCutting *cutting, guint32 slice, const GArray *packed, guint32 most, GArray *parts)
{
  for (guint i = 0; i < packed->len && parts->len < most; i++)
    {
      const QuoitPackedPart *part = &g_array_index (packed, QuoitPackedPart, i);
      const QuoitCutPart own = { slice, part->origin, cutting->turns[part->turn].hosts };

      g_array_append_val (parts, own);
    }
}

/* What is packed: parts into the hosts that count. */
typedef struct {
  const QuoitFreeHosts *rule;
  guint32 enough;
  GArray *parts; /* receives QuoitCutPart; NULL: they are only counted */
} Packing;

/* Packs parts into one slice. */
static Count
pack_slice (const Packing *packing, const QuoitCutSource *source, guint32 slice, const QuoitHostSet *free)
{
  const QuoitCutting *cutting = &source->cutting;
  const QuoitPackingDemand demand = { cutting->turns, cutting->n_turns, 1, 0 };
  QuoitPackingResult result;
  Count count;

  quoit_packing_solve (&cutting->grid, free, &demand, 1, cutting->offsets, STEPS, &result);
  count = (Count) { (guint32) result.least, (guint32) result.most };
  if (packing->parts != NULL)
    append_packed (cutting, slice, result.parts, packing->enough, packing->parts);
  quoit_packing_result_clear (&result);
  return count;
}

/* Like pack_slice(), but for counts it looks up what is known of the same hosts. */
static Count
count_slice (const Packing *packing, const QuoitCutSource *source, guint32 slice, Costs *costs)
{
  g_autoptr (GBytes) key = NULL;
  const Count *known;
  QuoitHostSet free;
  Count count;

  quoit_free_hosts_list (packing->rule, slice, &source->cutting.grid, &free);
  if (packing->parts != NULL || !g_mutex_trylock (&costs->lock))
    return pack_slice (packing, source, slice, &free);
  key = make_key (&source->cutting, &free);
  known = g_hash_table_lookup (costs->counts, key);
  count = known != NULL ? *known : pack_slice (packing, source, slice, &free);
  if (known == NULL)
    remember (costs->counts, g_steal_pointer (&key), g_memdup2 (&count, sizeof count));
  g_mutex_unlock (&costs->lock);
  return count;
}

/* Packs parts into the slices of sources @first to @end. */
static void
pack_sources (const Packing *packing, const GArray *sources, guint first, guint end, guint32 *least, guint32 *most)
{
  *least = *most = 0;
  for (guint i = first; i < end; i++)
    {
      const QuoitCutSource *source = &g_array_index (sources, QuoitCutSource, i);
      Costs *costs = get_costs (packing->rule->fleet->layout, source);
      Count in_empty = { 0, 0 };
      gboolean is_empty_known = FALSE;

      for (guint s = 0; s < source->slices->len && *least < packing->enough; s++)
        {
          const guint32 slice = g_array_index (source->slices, guint32, s);
          const gboolean is_empty = packing->parts == NULL && quoit_free_hosts_are_all (packing->rule, slice);
          Count count = in_empty;

          if (!is_empty || !is_empty_known)
            count = count_slice (packing, source, slice, costs);
          if (is_empty)
            {
              in_empty = count;
              is_empty_known = TRUE;
            }
          *least += count.least;
          *most += count.most;
        }
      g_atomic_rc_box_release_full (costs, costs_clear);
    }
}

/* Counts the parts on hosts of the size on which most parts fit. */
static void
count_parts (const QuoitFreeHosts *rule, const GArray *sources, guint32 enough, guint32 *least, guint32 *most)
{
  const Packing packing = { rule, enough, NULL };

  *least = *most = 0;
  for (guint first = 0, end; first < sources->len; first = end)
    {
      guint32 own_least, own_most;

      end = quoit_cut_sources_end (sources, first);
      pack_sources (&packing, sources, first, end, &own_least, &own_most);
      *least = MAX (*least, own_least);
      *most = MAX (*most, own_most);
    }
}

/* Chooses as many parts as possible from sources @first to @end, at most @most. */
static void
choose_from (const QuoitFleet *fleet, const GArray *sources, guint first, guint end, guint32 most, GArray *parts)
{
  const QuoitFreeHosts rule = { fleet, QUOIT_NODE_ALIVE, FALSE };
  guint32 n, at_most;

  choose_cheapest (fleet, sources, first, end, most, parts);
  if (parts->len >= most)
    return;
  /* What is known of the same hosts often says that no more parts fit. */
  pack_sources (&(const Packing) { &rule, most, NULL }, sources, first, end, &n, &at_most);
  if (MIN (n, most) <= parts->len)
    return;
  g_array_set_size (parts, 0);
  pack_sources (&(const Packing) { &rule, most, parts }, sources, first, end, &n, &at_most);
}

gboolean
quoit_cut_choose (const QuoitFleet *fleet, const QuoitRequest *request, guint32 least, guint32 most, GArray *parts,
                  GError **error)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (fleet, request, error);

  if (sources == NULL)
    return FALSE;
  for (guint first = 0, end; first < sources->len && parts->len < most; first = end)
    {
      g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));

      end = quoit_cut_sources_end (sources, first);
      choose_from (fleet, sources, first, end, most, own);
      if (own->len <= parts->len)
        continue;
      g_array_set_size (parts, 0);
      g_array_append_vals (parts, own->data, own->len);
    }
  return parts->len >= least;
}

gboolean
quoit_cut_count (const QuoitFreeHosts *rule, const QuoitRequest *request, guint32 enough, guint32 *least, guint32 *most,
                 GError **error)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (rule->fleet, request, error);

  if (sources == NULL)
    return FALSE;
  count_parts (rule, sources, enough, least, most);
  return TRUE;
}

void
quoit_cut_list_nodes (const QuoitFleet *fleet, const QuoitCutPart *part, GArray *nodes)
{
  const QuoitClass *class = quoit_layout_slice_class (fleet->layout, (QuoitSliceId) { part->slice });
  const guint32 n = quoit_shape_chips (part->hosts), first = nodes->len;
  g_autofree guint32 *workers = g_new (guint32, n + 1);
  QuoitGrid grid;

  quoit_grid_init (&grid, class->facts.host_grid, (1 << QUOIT_N_AXES) - 1);
  quoit_grid_list_box (&grid, part->hosts, part->origin, workers);
  g_array_set_size (nodes, first + n);
  quoit_free_hosts_find (fleet, part->slice, workers, n, &g_array_index (nodes, guint32, first));
}

/* --- answers --- */

gboolean
quoit_cut_fits (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result)
{
  const QuoitFreeHosts now = { fleet, QUOIT_NODE_ALIVE, FALSE };
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart)), nodes = NULL;
  const guint32 least = quoit_request_min_slices (request);
  guint32 n, most;

  if (result != NULL)
    *result = QUOIT_PLACEMENT_NONE;
  if (fleet->quotas == NULL)
    return quoit_cut_count (&now, request, least, &n, &most, NULL) && n >= least;
  if (!quoit_cut_choose (fleet, request, least, least, parts, NULL))
    return FALSE;
  nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < parts->len; i++)
    quoit_cut_list_nodes (fleet, &g_array_index (parts, QuoitCutPart, i), nodes);
  return quoit_quota_admit_parts (fleet, request, nodes).verdict == QUOIT_VERDICT_FITS;
}

gboolean
quoit_cut_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                GError **error)
{
  const QuoitFreeHosts now = { fleet, QUOIT_NODE_ALIVE, FALSE }, ever = { fleet, QUOIT_NODE_DEAD, TRUE };
  const guint32 least = quoit_request_min_slices (request);
  QuoitVerdict decided = QUOIT_VERDICT_FITS;
  guint32 n_now, n_ever, most;

  if (!quoit_cut_count (&now, request, G_MAXUINT32, &n_now, &most, error))
    return FALSE;
  if (n_now < least && !quoit_cut_count (&ever, request, least, &n_ever, &most, error))
    return FALSE;
  if (n_now < least)
    decided = most >= least ? QUOIT_VERDICT_NOT_NOW : QUOIT_VERDICT_NEVER;
  else if (!quoit_cut_fits (fleet, request, NULL))
    decided = QUOIT_VERDICT_NOT_NOW;
  if (fleet->quotas != NULL)
    {
      decided = MAX (decided, quoit_quota_admit_parts (fleet, request, NULL).verdict);
      n_now = MIN (n_now, quoit_quota_count_parts (fleet, request, FALSE));
    }
  if (verdict != NULL)
    *verdict = decided;
  if (n_free != NULL)
    *n_free = n_now;
  return TRUE;
}
