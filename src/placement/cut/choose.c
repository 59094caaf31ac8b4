/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the places of parts one after the other. */
#include <string.h>

#include "placement/cut/later.h"
#include "placement/cut/plan.h"

enum {
  NO_PLACE = G_MAXUINT32, /* as a turn: there is no place */
  N_COMPARED = 4          /* cheapest places whose costs over time are compared */
};

/* --- the places of a slice --- */

/* Finds the places at multiples of the box along each axis. */
static gboolean
find_aligned (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts, QuoitHostSet *aligned)
{
  gboolean has_any = FALSE;
  QuoitHostSet places;

  if (!quoit_places_find (grid, free, hosts, &places))
    return FALSE;
  quoit_host_set_clear (grid, aligned);
  for (guint32 z = 0; z < grid->n[2]; z += hosts.dims[2])
    for (guint32 y = 0; y < grid->n[1]; y += hosts.dims[1])
      for (guint32 x = 0; x < grid->n[0]; x += hosts.dims[0])
        {
          const guint32 origin = (z * grid->n[1] + y) * grid->n[0] + x;

          if (!quoit_host_set_has (grid, &places, origin))
            continue;
          quoit_host_set_add (grid, aligned, origin);
          has_any = TRUE;
        }
  return has_any;
}

/* Like quoit_places_find_cheapest(), for places at multiples of the box. */
static guint
find_cheapest_aligned (const QuoitCutting *cutting, const QuoitPlaceCosts *costs, const QuoitHostSet *free,
                       QuoitPlace *places, guint most)
{
  const QuoitShape hosts = cutting->turns[0].hosts;
  const guint32 n_hosts = quoit_grid_n_hosts (&cutting->grid);
  QuoitHostSet aligned;
  guint n = 0;

  if (!find_aligned (&cutting->grid, free, hosts, &aligned))
    return 0;
  for (guint32 origin = 0; origin < n_hosts; origin++)
    if (quoit_host_set_has (&cutting->grid, &aligned, origin))
      {
        const QuoitPlace place = { .origin = origin, .cost = quoit_places_cost (costs, free, hosts, origin) };

        n = quoit_places_insert (places, n, most, &place);
      }
  return n;
}

/* Finds the place with the lowest worker id, and of its turns the first one. */
static gboolean
find_first (const QuoitCutting *cutting, const QuoitHostSet *free, QuoitPlace *place)
{
  const QuoitGrid *grid = &cutting->grid;
  QuoitHostSet aligned;
  guint32 origin = 0;

  if (cutting->offsets != QUOIT_OFFSETS_ALIGNED)
    return quoit_places_find_first (grid, free, cutting->turns, cutting->n_turns, place);
  if (!find_aligned (grid, free, cutting->turns[0].hosts, &aligned))
    return FALSE;
  while (!quoit_host_set_has (grid, &aligned, origin))
    origin++;
  *place = (QuoitPlace) { .origin = origin };
  return TRUE;
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
  QuoitPlacePolicy policy;
  QuoitLater *later; /* NULL: only the costs among the hosts that are free now count */
  GPtrArray *costs;  /* of QuoitCutCosts, by source */
  GArray *offers;    /* of Offer: a heap, the cheapest first */
  GHashTable *left;  /* slice -> QuoitHostSet: the free hosts of slices with parts */
} Choice;

static const QuoitCutSource *
source_at (const Choice *choice, guint32 source)
{
  return &g_array_index (choice->sources, QuoitCutSource, source);
}

/* Other policies than the best one use the first place of a slice, and its cost is the rank of the slice. */
static guint
find_by_policy (const Choice *choice, const QuoitCutting *cutting, const QuoitHostSet *free, QuoitPlace *place)
{
  const guint32 n_free = quoit_host_set_count (&cutting->grid, free);

  if (!find_first (cutting, free, place))
    return 0;
  if (choice->policy == QUOIT_PLACE_FIRST)
    place->cost = 0;
  else
    place->cost = choice->policy == QUOIT_PLACE_PACK ? n_free : G_MAXUINT32 - n_free;
  return 1;
}

/* Finds the @most cheapest places of a slice, and returns how many there are. */
static guint
find_places (const Choice *choice, guint32 index, const QuoitHostSet *free, QuoitPlace *places, guint most)
{
  const QuoitCutting *cutting = &source_at (choice, index)->cutting;
  const QuoitPlaceCosts *costs = ((const QuoitCutCosts *) choice->costs->pdata[index])->costs;

  if (choice->policy != QUOIT_PLACE_BEST)
    return find_by_policy (choice, cutting, free, places);
  return cutting->offsets == QUOIT_OFFSETS_ALIGNED
             ? find_cheapest_aligned (cutting, costs, free, places, most)
             : quoit_places_find_cheapest (costs, free, cutting->turns, cutting->n_turns, places, most);
}

/* What is remembered. */
typedef struct {
  guint n;
  QuoitPlace places[N_COMPARED];
} Known;

/* Like find_places(), but remembers the result. */
static guint
look_up_places (const Choice *choice, guint32 index, const QuoitHostSet *free, QuoitPlace *places, guint most)
{
  QuoitCutCosts *costs = choice->costs->pdata[index];
  const guint8 what = (guint8) ((guint) choice->policy * (N_COMPARED + 1) + most);
  g_autoptr (GBytes) key = quoit_cut_costs_make_key (&source_at (choice, index)->cutting, free, what);
  const Known *known;
  guint n;

  if (!g_mutex_trylock (&costs->lock))
    return find_places (choice, index, free, places, most);
  known = g_hash_table_lookup (costs->places, key);
  if (known != NULL)
    {
      n = known->n;
      memcpy (places, known->places, n * sizeof *places);
    }
  else
    {
      Known *found = g_malloc (sizeof (Known));

      n = find_places (choice, index, free, places, most);
      found->n = n;
      memcpy (found->places, places, n * sizeof *places);
      quoit_cut_costs_remember (costs->places, g_steal_pointer (&key), found);
    }
  g_mutex_unlock (&costs->lock);
  return n;
}

static QuoitPlace
look_up_place (const Choice *choice, guint32 index, const QuoitHostSet *free)
{
  QuoitPlace place;

  return look_up_places (choice, index, free, &place, 1) > 0 ? place : (QuoitPlace) { .turn = NO_PLACE };
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

/* Moves the offer at @i, which has changed, to where it belongs. */
static void
sift (const Choice *choice, guint i)
{
  for (; i > 0 && is_before (offer_at (choice, i), offer_at (choice, (i - 1) / 2)); i = (i - 1) / 2)
    swap_offers (choice, i, (i - 1) / 2);
  sift_down (choice, i);
}

static void
make_offers (const Choice *choice)
{
  const QuoitFreeHosts rule = { choice->fleet, QUOIT_NODE_ALIVE, FALSE };

  for (guint i = 0; i < choice->sources->len; i++)
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

/* Takes a place, and if @is_last is not set, finds the cheapest remaining one of its slice. */
static void
take (const Choice *choice, guint index, const QuoitPlace *place, gboolean is_last, GArray *parts)
{
  Offer *offer = offer_at (choice, index);
  const QuoitCutting *cutting = &source_at (choice, offer->source)->cutting;
  const QuoitCutPart part = { offer->slice, place->origin, cutting->turns[place->turn].hosts };
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
  if (index < choice->offers->len)
    sift (choice, index);
}

/* Sets @found to the first offers of the heap, in order, and returns how many there are. */
static guint
list_first_offers (const Choice *choice, guint found[N_COMPARED])
{
  guint open[N_COMPARED + 2] = { 0 }, n_open = choice->offers->len > 0 ? 1 : 0, n = 0;

  while (n < N_COMPARED && n_open > 0)
    {
      guint first = 0, index;

      for (guint i = 1; i < n_open; i++)
        if (is_before (offer_at (choice, open[i]), offer_at (choice, open[first])))
          first = i;
      index = open[first];
      open[first] = open[--n_open];
      found[n++] = index;
      for (guint child = 2 * index + 1; child <= 2 * index + 2 && child < choice->offers->len; child++)
        open[n_open++] = child;
    }
  return n;
}

/* A place that is compared over time. */
typedef struct {
  guint offer; /* index in the heap */
  QuoitPlace place;
} Candidate;

/* Sets @candidates to the cheapest places of all slices, in order, and returns how many there are. They are in the
 * slices of the first offers. */
static guint
list_candidates (const Choice *choice, Candidate candidates[N_COMPARED])
{
  guint offers[N_COMPARED], n = 0;
  const guint n_offers = list_first_offers (choice, offers);

  for (guint i = 0; i < n_offers; i++)
    {
      const Offer *offer = offer_at (choice, offers[i]);
      QuoitPlace places[N_COMPARED];
      const guint n_places = look_up_places (choice, offer->source, hosts_left (choice, offer), places, N_COMPARED);

      for (guint p = 0; p < n_places; p++)
        {
          guint at = n;

          /* Offers with equal costs are in the order of their slices, but their later places need not be. */
          while (at > 0
                 && is_before (&(const Offer) { .place = places[p], .slice = offer->slice },
                               &(const Offer) { .place = candidates[at - 1].place,
                                                .slice = offer_at (choice, candidates[at - 1].offer)->slice }))
            at--;
          if (at == N_COMPARED)
            break;
          n = MIN (n + 1, (guint) N_COMPARED);
          memmove (&candidates[at + 1], &candidates[at], (n - at - 1) * sizeof *candidates);
          candidates[at] = (Candidate) { offers[i], places[p] };
        }
    }
  return n;
}

/* Returns the candidate that costs least over time, and of equal ones the first. */
static Candidate
choose_over_time (const Choice *choice)
{
  Candidate candidates[N_COMPARED];
  const guint n = list_candidates (choice, candidates);
  guint64 least = G_MAXUINT64;
  guint best = 0;

  for (guint i = 0; i < n; i++)
    {
      const Offer *offer = offer_at (choice, candidates[i].offer);
      const QuoitCutting *cutting = &source_at (choice, offer->source)->cutting;
      const QuoitPlaceCosts *costs = ((const QuoitCutCosts *) choice->costs->pdata[offer->source])->costs;
      const guint64 cost
          = quoit_later_cost (choice->later, costs, &cutting->grid, offer->slice, hosts_left (choice, offer),
                              cutting->turns[candidates[i].place.turn].hosts, &candidates[i].place);

      if (cost >= least)
        continue;
      least = cost;
      best = i;
    }
  return candidates[best];
}

static void
choose_parts (const Choice *choice, guint32 most, GArray *parts)
{
  while (parts->len < most && choice->offers->len > 0)
    {
      const Candidate chosen
          = choice->later != NULL ? choose_over_time (choice) : (Candidate) { 0, offer_at (choice, 0)->place };

      take (choice, chosen.offer, &chosen.place, parts->len + 1 == most, parts);
    }
}

void
quoit_cut_choose_places (const QuoitFleet *fleet, const GArray *sources, const QuoitRequest *request, guint32 most,
                         GArray *parts)
{
  g_autoptr (GPtrArray) costs = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_cut_costs_unref);
  g_autoptr (GHashTable) left = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GArray) offers = g_array_new (FALSE, FALSE, sizeof (Offer));
  const gint64 length_ms = request->place == QUOIT_PLACE_BEST ? quoit_request_length (request) : 0;
  QuoitLater later;
  const Choice choice = { fleet, sources, request->place, length_ms > 0 ? &later : NULL, costs, offers, left };

  for (guint i = 0; i < sources->len; i++)
    g_ptr_array_add (costs, quoit_cut_costs_get (fleet->layout, source_at (&choice, i)));
  make_offers (&choice);
  if (length_ms > 0)
    quoit_later_init (&later, fleet, length_ms);
  choose_parts (&choice, most, parts);
  if (length_ms > 0)
    quoit_later_clear (&later);
}
