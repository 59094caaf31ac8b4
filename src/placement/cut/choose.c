/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the places of parts one after the other. */
#include <string.h>

#include "placement/cut/later.h"
#include "placement/cut/offers.h"
#include "placement/cut/plan.h"
#include "placement/cut/sources.h"

enum {
  N_COMPARED = 4, /* cheapest places whose costs over time are compared */
  ABOUT_PLACES = 1,
  ABOUT_FOUR /* see quoit_cut_memory_ask() */
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

/* The slices of one source. */
typedef struct {
  const QuoitCutSource *source;
  QuoitCutMemory *memory;
  QuoitCutQuestion *cheapest, *four; /* about the cheapest place, and about N_COMPARED places */
  QuoitOffers *offers;               /* by index in the slices of the source */
  guint32 n_left;                    /* parts that may still be taken */
  GArray *changed;                   /* of guint32: indices of slices from which parts were taken */
} Supply;

/* The parts that are being chosen. */
typedef struct {
  const QuoitFleet *fleet;
  GArray *supplies; /* of Supply */
  QuoitPlacePolicy policy;
  QuoitLater *later; /* NULL: only the costs among the hosts that are free now count */
  GHashTable *left;  /* slice -> QuoitHostSet: the free hosts of slices with parts */
} Choice;

static Supply *
supply_at (const Choice *choice, guint i)
{
  return &g_array_index (choice->supplies, Supply, i);
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
find_places (const Choice *choice, const Supply *supply, const QuoitHostSet *free, QuoitPlace *places, guint most)
{
  const QuoitCutting *cutting = &supply->source->cutting;
  const QuoitPlaceCosts *costs;

  if (choice->policy != QUOIT_PLACE_BEST)
    return find_by_policy (choice, cutting, free, places);
  costs = quoit_cut_memory_costs (supply->memory);
  return cutting->offsets == QUOIT_OFFSETS_ALIGNED
             ? find_cheapest_aligned (cutting, costs, free, places, most)
             : quoit_places_find_cheapest (costs, free, cutting->turns, cutting->n_turns, places, most);
}

/* Returns the cheapest place among the hosts of the set. */
static const QuoitPlace *
look_up_place (const Choice *choice, const Supply *supply, const QuoitFreeSet *set)
{
  QuoitPlace *place = g_hash_table_lookup (supply->cheapest->results, set);
  QuoitHostSet free;

  if (place != NULL)
    return place;
  place = g_new (QuoitPlace, 1);
  quoit_free_set_copy (set, &free);
  if (find_places (choice, supply, &free, place, 1) == 0)
    *place = (QuoitPlace) { .turn = QUOIT_NO_PLACE };
  g_hash_table_insert (supply->cheapest->results, (gpointer) set, place);
  return place;
}

/* What is remembered. */
typedef struct {
  guint n;
  QuoitPlace places[N_COMPARED];
} Cheapest;

static const Cheapest *
look_up_four (const Choice *choice, const Supply *supply, const QuoitHostSet *free)
{
  const QuoitFreeSet *set = quoit_cut_memory_find (supply->memory, free);
  Cheapest *found = g_hash_table_lookup (supply->four->results, set);

  if (found != NULL)
    return found;
  found = g_new (Cheapest, 1);
  found->n = find_places (choice, supply, free, found->places, N_COMPARED);
  g_hash_table_insert (supply->four->results, (gpointer) set, found);
  return found;
}

/* --- the offers of all slices --- */

/* Returns the free hosts of a slice, as they are before any part is taken. */
static const QuoitFreeSet *
set_of (const Supply *supply, guint32 index)
{
  return supply->memory->at[quoit_cut_source_position (supply->source, index)];
}

static void
make_offers (const Choice *choice, Supply *supply)
{
  for (guint32 i = 0; i < supply->offers->n; i++)
    supply->offers->places[i] = *look_up_place (choice, supply, set_of (supply, i));
  quoit_offers_play_all (supply->offers);
}

/* Offers of all slices of a class are remembered, and only those of slices that have changed are made again. */
static void
refresh_offers (const Choice *choice, Supply *supply)
{
  QuoitCutQuestion *question = supply->cheapest;

  if (question->state == NULL)
    {
      question->state = quoit_offers_new (supply->source->slices->len);
      question->free_state = (GDestroyNotify) quoit_offers_free;
      supply->offers = question->state;
      make_offers (choice, supply);
    }
  supply->offers = question->state;
  if (question->changed->len > supply->offers->n / 4)
    make_offers (choice, supply);
  else
    for (guint i = 0; i < question->changed->len; i++)
      {
        const guint32 index = g_array_index (question->changed, guint32, i);

        quoit_offers_set (supply->offers, index, look_up_place (choice, supply, set_of (supply, index)));
      }
  g_array_set_size (question->changed, 0);
}

static void
open_supply (const Choice *choice, const QuoitCutSource *source)
{
  Supply supply = { .source = source,
                    .n_left = source->most,
                    .memory = quoit_cut_memory_take (source->store, choice->fleet),
                    .changed = g_array_new (FALSE, FALSE, sizeof (guint32)) };

  supply.cheapest = quoit_cut_memory_ask (supply.memory, &source->cutting, ABOUT_PLACES, choice->policy);
  if (choice->later != NULL)
    supply.four = quoit_cut_memory_ask (supply.memory, &source->cutting, ABOUT_FOUR, 0);
  if (source->is_all)
    refresh_offers (choice, &supply);
  else
    {
      supply.offers = quoit_offers_new (source->slices->len);
      make_offers (choice, &supply);
    }
  g_array_append_val (choice->supplies, supply);
}

static void
close_supply (const Choice *choice, Supply *supply)
{
  if (!supply->source->is_all)
    quoit_offers_free (supply->offers);
  else
    for (guint i = 0; i < supply->changed->len; i++)
      {
        const guint32 index = g_array_index (supply->changed, guint32, i);

        quoit_offers_set (supply->offers, index, look_up_place (choice, supply, set_of (supply, index)));
      }
  g_array_unref (supply->changed);
  quoit_cut_memory_keep (supply->memory);
}

/* --- the cheapest offers --- */

/* A node of the tree of a supply, and its winner. */
typedef struct {
  guint supply;
  guint32 node, index;
} Contender;

static guint32
slice_of (const Choice *choice, const Contender *contender)
{
  return g_array_index (supply_at (choice, contender->supply)->source->slices, guint32, contender->index);
}

static const QuoitPlace *
place_of (const Choice *choice, const Contender *contender)
{
  return &supply_at (choice, contender->supply)->offers->places[contender->index];
}

static gboolean
is_before (const Choice *choice, const Contender *a, const Contender *b)
{
  const guint64 x = place_of (choice, a)->cost, y = place_of (choice, b)->cost;

  return x != y ? x < y : slice_of (choice, a) < slice_of (choice, b);
}

static void
add_contender (const Choice *choice, guint supply, guint32 node, GArray *contenders)
{
  const Contender contender = { supply, node, quoit_offers_winner (supply_at (choice, supply)->offers, node) };

  if (contender.index != QUOIT_NO_INDEX)
    g_array_append_val (contenders, contender);
}

/* Adds what else is below the node of a winner that was removed. */
static void
add_losers (const Choice *choice, const Contender *winner, GArray *contenders)
{
  const QuoitOffers *offers = supply_at (choice, winner->supply)->offers;

  for (guint32 node = winner->node; node < offers->size;)
    {
      const guint32 left = 2 * node, right = 2 * node + 1;
      const gboolean is_left = quoit_offers_winner (offers, left) == winner->index;

      add_contender (choice, winner->supply, is_left ? right : left, contenders);
      node = is_left ? left : right;
    }
}

/* Sets @found to the cheapest offers, in order, and returns how many there are, at most @most. */
static guint
list_first_offers (const Choice *choice, Contender *found, guint most)
{
  g_autoptr (GArray) contenders = g_array_new (FALSE, FALSE, sizeof (Contender));
  guint n = 0;

  for (guint i = 0; i < choice->supplies->len; i++)
    if (supply_at (choice, i)->n_left > 0)
      add_contender (choice, i, 1, contenders);
  while (n < most && contenders->len > 0)
    {
      guint first = 0;

      for (guint i = 1; i < contenders->len; i++)
        if (is_before (choice, &g_array_index (contenders, Contender, i),
                       &g_array_index (contenders, Contender, first)))
          first = i;
      found[n] = g_array_index (contenders, Contender, first);
      g_array_remove_index_fast (contenders, first);
      if (++n < most)
        add_losers (choice, &found[n - 1], contenders);
    }
  return n;
}

/* --- choosing --- */

/* Returns the free hosts of a slice without the parts that were chosen. */
static QuoitHostSet *
hosts_left (const Choice *choice, const Contender *contender)
{
  const guint32 slice = slice_of (choice, contender);
  QuoitHostSet *left = g_hash_table_lookup (choice->left, GUINT_TO_POINTER (slice));

  if (left != NULL)
    return left;
  left = g_new (QuoitHostSet, 1);
  quoit_free_set_copy (set_of (supply_at (choice, contender->supply), contender->index), left);
  g_hash_table_insert (choice->left, GUINT_TO_POINTER (slice), left);
  return left;
}

/* Takes a place, and if @is_last is not set, finds the cheapest remaining one of its slice. */
static void
take (const Choice *choice, const Contender *contender, const QuoitPlace *place, gboolean is_last, GArray *parts)
{
  Supply *supply = supply_at (choice, contender->supply);
  const QuoitCutting *cutting = &supply->source->cutting;
  const QuoitCutPart part = { slice_of (choice, contender), place->origin, cutting->turns[place->turn].hosts };
  QuoitHostSet *left;

  g_array_append_val (parts, part);
  supply->n_left--;
  if (is_last)
    return;
  left = hosts_left (choice, contender);
  quoit_host_set_remove_box (&cutting->grid, left, part.hosts, part.origin);
  quoit_offers_set (supply->offers, contender->index,
                    look_up_place (choice, supply, quoit_cut_memory_find (supply->memory, left)));
  g_array_append_val (supply->changed, contender->index);
}

/* A place that is compared over time. */
typedef struct {
  Contender offer; /* of the slice */
  QuoitPlace place;
} Candidate;

/* Sets @candidates to the cheapest places of all slices, in order, and returns how many there are. They are in the
 * slices of the first offers. */
static guint
list_candidates (const Choice *choice, Candidate candidates[N_COMPARED])
{
  Contender offers[N_COMPARED];
  const guint n_offers = list_first_offers (choice, offers, N_COMPARED);
  guint n = 0;

  for (guint i = 0; i < n_offers; i++)
    {
      const Cheapest *cheapest
          = look_up_four (choice, supply_at (choice, offers[i].supply), hosts_left (choice, &offers[i]));
      const guint32 slice = slice_of (choice, &offers[i]);

      for (guint p = 0; p < cheapest->n; p++)
        {
          const QuoitPlace *place = &cheapest->places[p];
          guint at = n;

          /* Offers with equal costs are in the order of their slices, but their later places need not be. */
          while (at > 0
                 && (place->cost < candidates[at - 1].place.cost
                     || (place->cost == candidates[at - 1].place.cost
                         && slice < slice_of (choice, &candidates[at - 1].offer))))
            at--;
          if (at == N_COMPARED)
            break;
          n = MIN (n + 1, (guint) N_COMPARED);
          memmove (&candidates[at + 1], &candidates[at], (n - at - 1) * sizeof *candidates);
          candidates[at] = (Candidate) { offers[i], *place };
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
      const Contender *offer = &candidates[i].offer;
      const Supply *supply = supply_at (choice, offer->supply);
      const QuoitCutting *cutting = &supply->source->cutting;
      const guint64 cost = quoit_later_cost (choice->later, quoit_cut_memory_costs (supply->memory), &cutting->grid,
                                             slice_of (choice, offer), hosts_left (choice, offer),
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
  Contender first;

  while (parts->len < most && list_first_offers (choice, &first, 1) > 0)
    {
      const Candidate chosen
          = choice->later != NULL ? choose_over_time (choice) : (Candidate) { first, *place_of (choice, &first) };

      take (choice, &chosen.offer, &chosen.place, parts->len + 1 == most, parts);
    }
}

void
quoit_cut_choose_places (const QuoitFleet *fleet, const GArray *sources, const QuoitRequest *request, guint32 most,
                         GArray *parts)
{
  g_autoptr (GHashTable) left = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GArray) supplies = g_array_new (FALSE, FALSE, sizeof (Supply));
  const gint64 length_ms = request->place == QUOIT_PLACE_BEST ? quoit_request_length (request) : 0;
  QuoitLater later;
  const Choice choice = { fleet, supplies, request->place, length_ms > 0 ? &later : NULL, left };

  for (guint i = 0; i < sources->len; i++)
    open_supply (&choice, &g_array_index (sources, QuoitCutSource, i));
  if (length_ms > 0)
    quoit_later_init (&later, fleet, length_ms);
  choose_parts (&choice, most, parts);
  if (length_ms > 0)
    quoit_later_clear (&later);
  for (guint i = 0; i < sources->len; i++)
    close_supply (&choice, supply_at (&choice, i));
}
