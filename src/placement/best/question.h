/* SPDX-License-Identifier: Apache-2.0 */
/* The input of policy `best` with equal parts merged. Equal bundles are one ask, and equal nodes are one room. Four
 * equal bundles on a slice of four equal hosts are then one case and not 24. */
#pragma once

#include "fleet/chips.h"
#include "placement/bundles.h"
#include "placement/rows.h"

/* A class of equal nodes: the same free resources, passed filters and free chips. */
typedef struct {
  const gint64 *left;   /* of each resource, limited to the sum over all bundles */
  const gint64 *passes; /* bits, one per used filter */
  guint32 tally;        /* how chips are counted; QUOIT_NO_INDEX: no bundle requests chips */
  guint32 n_whole;      /* number of free whole chips */
  QuoitChipRoom chips;  /* the freest last */
} QuoitBestRoom;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  guint32 n_asks;
  guint32 *ask_of;     /* ask of each bundle */
  guint32 *ask_bundle; /* first bundle of each ask */
  guint32 *ask_filter; /* of each ask: bit in `passes`; QUOIT_NO_INDEX: all nodes pass */
  guint32 *filters;    /* the filters that bundles use */
  guint32 n_filters;
  gint64 *most;     /* of each resource: sum over all bundles */
  guint32 *room_of; /* of each node; QUOIT_NO_INDEX: not computed yet */
  gint64 *row;      /* buffer for the row of a node */
  QuoitRows *rows;  /* the rows that identify rooms */
  GPtrArray *rooms; /* of QuoitBestRoom */
  QuoitRows *tallies;
  GPtrArray *wants; /* of each tally: an array with ten-thousandths of chips per ask */
} QuoitBestQuestion;

QuoitBestQuestion *quoit_best_question_new (const QuoitBundles *bundles, const QuoitView *view);
void quoit_best_question_free (QuoitBestQuestion *question);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestQuestion, quoit_best_question_free)

/* Returns the room of a node. Rooms are numbered in the order of first use. */
guint32 quoit_best_room_of (QuoitBestQuestion *question, guint32 node);

/* Whether the labels of the room's nodes match the ask. */
gboolean quoit_best_passes (const QuoitBestQuestion *question, guint32 ask, guint32 room);
/* Returns how many bundles of the ask a node of the room holds, at most @most. Ignores labels. */
guint32 quoit_best_capacity (const QuoitBestQuestion *question, guint32 ask, guint32 room, guint32 most);
/* Whether a node of the room can hold a bundle of the ask, including labels. */
gboolean quoit_best_fits (const QuoitBestQuestion *question, guint32 ask, guint32 room);

/* Whether the chips of a node of the room hold all @wishes, an array of QuoitChipWish. */
QuoitBestResult quoit_best_share_chips (const QuoitBestRoom *room, const GArray *wishes, guint64 *budget);

static inline const gint64 *
quoit_best_amounts (const QuoitBestQuestion *question, guint32 ask)
{
  return question->bundles->amounts + (gsize) question->ask_bundle[ask] * question->bundles->n_resources;
}

static inline const QuoitBestRoom *
quoit_best_room (const QuoitBestQuestion *question, guint32 room)
{
  return question->rooms->pdata[room];
}

/* Returns the ten-thousandths of chips that a bundle of the ask takes of a node of the room. */
static inline gint64
quoit_best_want_e4 (const QuoitBestQuestion *question, guint32 ask, const QuoitBestRoom *room)
{
  return room->tally == QUOIT_NO_INDEX ? 0 : ((const gint64 *) question->wants->pdata[room->tally])[ask];
}
