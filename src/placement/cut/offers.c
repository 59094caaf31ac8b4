/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/offers.h"

QuoitOffers *
quoit_offers_new (guint32 n)
{
  QuoitOffers *offers = g_new0 (QuoitOffers, 1);

  offers->n = n;
  for (offers->size = 1; offers->size < n;)
    offers->size *= 2;
  offers->places = g_new (QuoitPlace, n);
  offers->winners = g_new (guint32, offers->size);
  for (guint32 i = 0; i < n; i++)
    offers->places[i] = (QuoitPlace) { .turn = QUOIT_NO_PLACE };
  quoit_offers_play_all (offers);
  return offers;
}

void
quoit_offers_free (QuoitOffers *offers)
{
  g_free (offers->places);
  g_free (offers->winners);
  g_free (offers);
}

static void
play (QuoitOffers *offers, guint32 node)
{
  const guint32 a = quoit_offers_winner (offers, 2 * node), b = quoit_offers_winner (offers, 2 * node + 1);

  if (a == QUOIT_NO_INDEX || b == QUOIT_NO_INDEX)
    offers->winners[node] = a == QUOIT_NO_INDEX ? b : a;
  else
    offers->winners[node] = offers->places[b].cost < offers->places[a].cost ? b : a;
}

void
quoit_offers_set (QuoitOffers *offers, guint32 slice, const QuoitPlace *place)
{
  offers->places[slice] = *place;
  for (guint32 node = (offers->size + slice) / 2; node > 0; node /= 2)
    play (offers, node);
}

void
quoit_offers_play_all (QuoitOffers *offers)
{
  for (guint32 node = offers->size; node-- > 1;)
    play (offers, node);
}
