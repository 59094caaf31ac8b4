/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the walk share: where a step is made, and how it is made there and in the model. */
#pragma once

#include "walk-model.h"

typedef struct {
  const char *what;
  GRand *rand;
  guint32 seed;
  guint step;
  gint64 time_ms;       /* of a clock that runs */
  char *path;           /* NULL: in memory */
  QuoitLedger *hand[2]; /* two handles of one file; one of a ledger in memory */
  Model *model;
  Source sources[N_SOURCES];
  guint n_done, n_refused, n_made, n_ended, n_imports, n_losses, n_changes, n_forks, n_batches, n_compactions;
  guint n_bundle_groups, n_bundles_moved;
} Walk;

/* Where a step is made: in the ledger, or in a fork of it. */
typedef struct {
  QuoitLedger *ledger;
  QuoitFork *fork; /* NULL: in the ledger */
  gboolean in_batch;
  Model *model;
} Place;

#define walk_hold(walk, condition, ...)                                                                                \
  do                                                                                                                   \
    if (G_UNLIKELY (!(condition)))                                                                                     \
      {                                                                                                                \
        g_autofree char *why_ = g_strdup_printf (__VA_ARGS__);                                                         \
                                                                                                                       \
        hold (condition, "%s, QUOIT_TEST_SEED=%u, step %u: %s", (walk)->what, (walk)->seed, (walk)->step, why_);       \
      }                                                                                                                \
  while (0)

static inline guint
below (Walk *walk, guint n)
{
  return (guint) g_rand_int_range (walk->rand, 0, (gint) n);
}

static inline QuoitSnapshot *
snapshot_of (const Place *place)
{
  return place->fork != NULL ? quoit_fork_snapshot (place->fork) : quoit_ledger_snapshot (place->ledger);
}

/* A call that is made in both. Begun, it has a moment, and in @after the model with all ended that ends by then; the
 * code that the ledger must refuse it with, if it must. */
typedef struct {
  Walk *walk;
  const Place *place;
  const char *verb;
  gint64 now_ms, time_ms; /* as told, and as raised */
  Model *after;
  gboolean some_ended;
  gboolean is_unread;  /* refused for its text: the ledger was not even asked */
  QuoitErrorCode code; /* 0: it is done */
  GError *error;
} Call;

Call call_begin (Walk *walk, const Place *place, const char *verb);
/* Whether @done is what the model expects. Then the place's model becomes what the call made of it; one that was
 * refused, what it was. */
gboolean call_end (Call *call, gboolean done);
/* "name" or "name@id", mostly of a live group; @id 0: none. */
char *some_ref (Walk *walk, const Model *model, char **name, guint64 *id);

/* --- walk-bundles.c --- */

/* Makes the wish one of bundles. */
void some_bundles (Walk *walk, Wish *wish);
/* All but what slices and bundles have in common. */
QuoitRequest *request_of_bundles (const Wish *wish);
/* What must come of asking for them when nothing else is in the way; @group: what came. */
void reserve_bundles (Call *call, const Wish *wish, QuoitGroupState state, gint64 until_ms, const QuoitGroup *group);
/* What must come of repairing the group, and how many bundles were lost. */
guint repair_bundles (Call *call, ModelGroup *group, gboolean done);

void reserve_or_keep (Walk *walk, const Place *place);
void confirm_or_renew (Walk *walk, const Place *place);
void release (Walk *walk, const Place *place);
void forget (Walk *walk, const Place *place);
void change_owner (Walk *walk, const Place *place);
void resize (Walk *walk, const Place *place);
void repair (Walk *walk, const Place *place);
void release_slice (Walk *walk, const Place *place);
