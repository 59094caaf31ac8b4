/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest place of each slice, and the cheapest of all of them: a tournament. A change of one place costs as many
 * comparisons as the tree has levels. */
#pragma once

#include "base/indices.h"
#include "geometry/places.h"

/* The turn of a place that does not exist. */
#define QUOIT_NO_PLACE G_MAXUINT32

typedef struct {
  guint32 n, size;    /* number of slices; the next power of 2 */
  QuoitPlace *places; /* by slice */
  guint32 *winners;   /* by node of the tree; 1 is the root, and the children of node i are 2 i and 2 i + 1 */
} QuoitOffers;

/* Begins without places. */
QuoitOffers *quoit_offers_new (guint32 n);
void quoit_offers_free (QuoitOffers *offers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitOffers, quoit_offers_free)

void quoit_offers_set (QuoitOffers *offers, guint32 slice, const QuoitPlace *place);
/* Makes the tree after @places were written directly. */
void quoit_offers_play_all (QuoitOffers *offers);

/* Returns the slice with the cheapest place below a node, the first of equal ones; QUOIT_NO_INDEX if there is none. */
static inline guint32
quoit_offers_winner (const QuoitOffers *offers, guint32 node)
{
  if (node < offers->size)
    return offers->winners[node];
  node -= offers->size;
  return node < offers->n && offers->places[node].turn != QUOIT_NO_PLACE ? node : QUOIT_NO_INDEX;
}
