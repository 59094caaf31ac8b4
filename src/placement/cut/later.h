/* SPDX-License-Identifier: Apache-2.0 */
/* What a place costs later requests over time: the weighted sum of its costs among the hosts that are free now, and
 * after one third, two thirds and the whole length of the request. The present weighs as much as six later times: the
 * future decides among places that cost about the same now, and what is assumed of it may be wrong. A host is free at a
 * later time if it is free now, or if all groups on it end by then, as far as leases and estimates say. It is assumed
 * that nodes stay as they are. */
#pragma once

#include "fleet/fleet.h"
#include "geometry/places.h"
#include "placement/request.h"

enum { QUOIT_N_LATER = 3, QUOIT_WEIGHT_NOW = 6 };

/* The hosts of a slice that become free. */
typedef struct {
  gboolean has_any;
  QuoitHostSet hosts[QUOIT_N_LATER];
} QuoitLaterHosts;

typedef struct {
  const QuoitFleet *fleet;
  gint64 times_ms[QUOIT_N_LATER];
  GHashTable *slices; /* slice -> QuoitLaterHosts */
} QuoitLater;

/* Returns how long the group of the request is expected to last; 0: unknown. */
gint64 quoit_request_length (const QuoitRequest *request);

void quoit_later_init (QuoitLater *later, const QuoitFleet *fleet, gint64 length_ms);
void quoit_later_clear (QuoitLater *later);

/* Returns the cost over time of a place of a box of @hosts in @slice, whose hosts that are free now are @free. */
guint64 quoit_later_cost (const QuoitLater *later, const QuoitPlaceCosts *costs, const QuoitGrid *grid, guint32 slice,
                          const QuoitHostSet *free, QuoitShape hosts, const QuoitPlace *place);
