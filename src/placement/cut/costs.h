/* SPDX-License-Identifier: Apache-2.0 */
/* The costs of the places of a class, and what was found out about its slices. The layout remembers them, because many
 * slices have the same free hosts, and most keep them from one request to the next. */
#pragma once

#include "geometry/places.h"
#include "placement/cut/sources.h"

/* An atomic rc box. The tables are by GBytes of the part and the free hosts. */
typedef struct {
  QuoitPlaceCosts *costs;
  GMutex lock; /* of the tables; in a child of fork(2), a thread of the parent may have it for ever */
  GHashTable *places, *counts;
} QuoitCutCosts;

/* Returns a reference. The costs depend on the class and on the axes that wrap. */
QuoitCutCosts *quoit_cut_costs_get (const QuoitLayout *layout, const QuoitCutSource *source);
void quoit_cut_costs_unref (QuoitCutCosts *costs);

/* Returns what a result depends on, apart from the class: the part, the free hosts, and @what was computed. */
GBytes *quoit_cut_costs_make_key (const QuoitCutting *cutting, const QuoitHostSet *free, guint8 what);
/* Remembers a result. Takes the key and the result, which g_free() frees. The lock must be held. */
void quoit_cut_costs_remember (GHashTable *table, GBytes *key, gpointer result);
