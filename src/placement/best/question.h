/* SPDX-License-Identifier: Apache-2.0 */
/* What policy `best` is asked, with equals merged: bundles that ask for the same are one ask, nodes that have the same
 * are one room. A slice of four equal hosts and four equal bundles is then one case, not 24. */
#pragma once

#include "fleet/chips.h"
#include "placement/bundles.h"
#include "placement/rows.h"

/* Equal nodes: what is left of each resource, which filters they pass, what is left of their chips. */
typedef struct {
  const gint64 *left;   /* of each resource, at most as much as all bundles together ask for */
  const gint64 *passes; /* bits, of the filters that some bundle has */
  guint32 tally;        /* how its chips are counted; QUOIT_NO_INDEX: nobody asks for chips of it */
  guint32 n_whole;      /* chips of which nothing is taken */
  QuoitChipRoom chips;  /* the fullest last */
} QuoitBestRoom;

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
  guint32 n_asks;
  guint32 *ask_of;     /* of each bundle */
  guint32 *ask_bundle; /* of each ask, the first of its bundles */
  guint32 *ask_filter; /* of each ask: which bit of `passes`; QUOIT_NO_INDEX: all nodes pass */
  guint32 *filters;    /* those that some bundle has */
  guint32 n_filters;
  gint64 *most;     /* of each resource, what all bundles together ask for */
  guint32 *room_of; /* of each node; QUOIT_NO_INDEX: nobody has asked yet */
  gint64 *row;      /* of the node that is looked at */
  QuoitRows *rows;  /* what makes rooms equal */
  GPtrArray *rooms; /* of QuoitBestRoom */
  QuoitRows *tallies;
  GPtrArray *wants; /* of each tally: of each ask, ten-thousandths of chips */
} QuoitBestQuestion;

QuoitBestQuestion *quoit_best_question_new (const QuoitBundles *bundles, const QuoitView *view);
void quoit_best_question_free (QuoitBestQuestion *question);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestQuestion, quoit_best_question_free)

/* The room that a node is; rooms are counted as they are met. */
guint32 quoit_best_room_of (QuoitBestQuestion *question, guint32 node);

/* Whether the labels of the room's nodes are what the ask wants. */
gboolean quoit_best_passes (const QuoitBestQuestion *question, guint32 ask, guint32 room);
/* How many bundles of one ask a node of the room holds, whatever its labels are; at most @most. */
guint32 quoit_best_capacity (const QuoitBestQuestion *question, guint32 ask, guint32 room, guint32 most);
/* Whether a node of the room holds one of them. */
gboolean quoit_best_fits (const QuoitBestQuestion *question, guint32 ask, guint32 room);

/* Whether the chips of one such node hold @wishes, an array of QuoitChipWish. */
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

/* Ten-thousandths of chips that a bundle of the ask takes of a node of the room. */
static inline gint64
quoit_best_want_e4 (const QuoitBestQuestion *question, guint32 ask, const QuoitBestRoom *room)
{
  return room->tally == QUOIT_NO_INDEX ? 0 : ((const gint64 *) question->wants->pdata[room->tally])[ask];
}
