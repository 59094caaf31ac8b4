/* SPDX-License-Identifier: Apache-2.0 */
/* Who may stand where, when all that matters is how many stand in one place: bipartite matching, which is polynomial
 * whatever the reasons are for which somebody may not. */
#pragma once

#include <glib.h>

/* Equals are merged on both sides: @n_kinds of those who are placed, and rooms of places. */
typedef struct {
  guint32 n_kinds;
  const guint32 *counts; /* of each kind */
  guint32 n_places;
  guint32 (*room_of) (gpointer data, guint32 place); /* rooms are numbered from 0 as they are met */
  gboolean (*fits) (gpointer data, guint32 kind, guint32 room);
  guint32 (*capacity) (gpointer data, guint32 room); /* how many one such place holds */
  gpointer data;
} QuoitBestMatching;

/* FALSE: there is no way. Else the place of each, kinds one after another, those of a kind in order; and places come
 * one by one in their order, each taken if all others can be as well, then again in the same order a second time, and
 * so on: of all ways the one that takes the earliest places, and whose largest load is the least. That load is *@load.
 */
gboolean quoit_best_match (const QuoitBestMatching *matching, guint32 *places, guint32 *load);
