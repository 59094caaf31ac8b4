/* SPDX-License-Identifier: Apache-2.0 */
/* Bipartite matching of members with places, for the case that only the number of members in each place is limited.
 * Polynomial for any rules about which member fits where. */
#pragma once

#include <glib.h>

/* Equal members form a kind, and equal places form a room. */
typedef struct {
  guint32 n_kinds;
  const guint32 *counts; /* number of members of each kind */
  guint32 n_places;
  guint32 (*room_of) (gpointer data, guint32 place); /* rooms are numbered from 0 in the order of first use */
  gboolean (*fits) (gpointer data, guint32 kind, guint32 room);
  guint32 (*capacity) (gpointer data, guint32 room); /* number of members that one place of the room holds */
  gpointer data;
} QuoitBestMatching;

/* Returns FALSE if no matching exists. Otherwise writes the place of each member to @places, by kind and sorted
 * within a kind. The result is the matching with the smallest largest load, which is written to *@load, and with the
 * earliest places in each round. */
gboolean quoit_best_match (const QuoitBestMatching *matching, guint32 *places, guint32 *load);
