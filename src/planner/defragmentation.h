/* SPDX-License-Identifier: Apache-2.0 */
/* Which bundles should move so that whole slices become free.
 *
 * A plan closes some partly used slices, repairs the groups that have bundles there, one after the other, and opens the
 * slices again. So each move is one that `repair` makes: the same code decides it on a fork. Nothing is changed.
 *
 * Two bounds hold for all moves of bundles, also for those that no plan of this form has. Moving bundles does not
 * change how many chips are free, so no more chips can get into free slices than are free outside of them. And each
 * bundle of a slice that becomes free moves at least once. */
#pragma once

#include <quoit/defragmentation.h>
#include <quoit/request.h>

#include "fleet/fleet.h"

typedef struct {
  guint32 group; /* index of groups */
  guint32 bundle;
  guint32 from_id, to_id; /* durable node ids */
  gint64 gain;            /* chips that get into free slices by this move, after the ones before it */
} QuoitBundleMove;

struct _QuoitDefragmentation {
  QuoitFleet *fleet;
  QuoitDefragmentationState state;
  gboolean is_joined;       /* moves are of cubes */
  guint64 gain, gain_bound; /* chips in free slices */
  guint32 moves_bound;
  GArray *slices;    /* of guint32: those that are closed, in ascending order */
  GPtrArray *groups; /* of QuoitGroupData, in the order of the repairs */
  GArray *moves;     /* of QuoitBundleMove */
};

/* Fills @defragmentation. @steps limits the work: a step is one repair of a group on a fork. */
void quoit_defragmentation_plan (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet, guint64 steps);
/* The same for slices of @shape that are joined from cubes: which slices of groups should move to other blocks, so that
 * the free cubes make more such slices. Fails with INVALID if cubes cannot be joined so, and with NOT_FOUND if no block
 * is large enough. */
gboolean quoit_defragmentation_plan_joined (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet,
                                            QuoitGeneration generation, QuoitShape shape, QuoitCubes cubes,
                                            guint64 steps, GError **error);
void quoit_defragmentation_clear (QuoitDefragmentation *defragmentation);
