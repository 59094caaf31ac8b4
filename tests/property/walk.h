/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the walk: the target of a step, and calls on the ledger and the model. */
#pragma once

#include "walk-model.h"

typedef enum { IN_MEMORY, IN_FILE, STORED_BY_CALLER } WalkWay;

typedef struct {
  const char *what;
  WalkWay way;
  QuoitLedger *follower; /* gets the entries as bytes; NULL: none yet */
  GRand *rand;
  guint32 seed;
  guint step;
  gint64 time_ms;          /* of a steady clock */
  char *path;              /* NULL: not in a file */
  QuoitLedger *handles[2]; /* two handles of one file, or one of a ledger in memory */
  Model *model;
  Source sources[N_SOURCES];
  guint n_done, n_refused, n_made, n_ended, n_imports, n_losses, n_changes, n_forks, n_batches, n_compactions;
  guint n_followed;
  guint n_commits; /* of forks */
  guint n_bundle_groups, n_bundles_moved, n_part_groups, n_part_changes;
  guint n_joined_groups, n_joined_changes, n_cubes_replaced;
} Walk;

/* The target of a step: the ledger, or a fork of it. */
typedef struct {
  QuoitLedger *ledger;
  QuoitFork *fork; /* NULL: in the ledger */
  gboolean in_batch;
  Model *model;
} Target;

#define walk_require(walk, condition, ...)                                                                             \
  do                                                                                                                   \
    if (G_UNLIKELY (!(condition)))                                                                                     \
      {                                                                                                                \
        g_autofree char *why_ = g_strdup_printf (__VA_ARGS__);                                                         \
                                                                                                                       \
        require (condition, "%s, QUOIT_TEST_SEED=%u, step %u: %s", (walk)->what, (walk)->seed, (walk)->step, why_);    \
      }                                                                                                                \
  while (0)

static inline guint
random_below (Walk *walk, guint n)
{
  return (guint) g_rand_int_range (walk->rand, 0, (gint) n);
}

static inline QuoitSnapshot *
snapshot_of (const Target *target)
{
  return target->fork != NULL ? quoit_fork_snapshot (target->fork) : quoit_ledger_snapshot (target->ledger);
}

/* A call on both ledger and model. After call_begin(), @after is the model with all leases expired by the call's
 * time, and @code is the error that the ledger must return. */
typedef struct {
  Walk *walk;
  const Target *target;
  const char *verb;
  gint64 now_ms, time_ms; /* as given, and as corrected to be ascending */
  Model *after;
  gboolean some_ended;
  gboolean is_unread;  /* refused before the ledger was called */
  QuoitErrorCode code; /* 0: success */
  GError *error;
} Call;

Call call_begin (Walk *walk, const Target *target, const char *verb);
/* Checks that @done is the expected result. After success the target's model is @after; after a refusal it is
 * unchanged. */
gboolean call_end (Call *call, gboolean done);
/* "name" or "name@id", usually of a live group; @id 0: none. */
char *random_ref (Walk *walk, const Model *model, char **name, guint64 *id);

/* --- walk-bundles.c --- */

/* Changes the spec to bundles. */
void random_bundles (Walk *walk, RequestSpec *spec);
/* A request with the part of the spec that is specific to bundles. */
QuoitRequest *request_of_bundles (const RequestSpec *spec);
/* Computes the expected result of the reservation if nothing else prevents it; compares it with @group, the actual
 * one. */
void reserve_bundles (Call *call, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms,
                      const QuoitGroup *group);
/* Applies the repair to the model and checks the new places; returns the number of lost bundles. */
guint repair_bundles (Call *call, ModelGroup *group, gboolean done);

/* Places @n more bundles of the group; see repair_bundles(). */
void add_bundles (Call *call, ModelGroup *group, guint n, gboolean done);
/* The number of the group's bundles per host, by full name. */
GHashTable *bundles_per_host (const Target *target, guint64 id);

/* --- walk-parts.c --- */

/* Changes the spec to parts. */
void random_parts (Walk *walk, RequestSpec *spec);
QuoitRequest *request_of_parts (const RequestSpec *spec);
/* Apply a change of the ledger to the model, and check it. */
void resize_parts (Call *call, ModelGroup *group, gint64 n, gboolean done);
void release_part (Call *call, ModelGroup *group, guint part, gboolean done);

/* --- walk-cubes.c --- */

/* Changes the spec to joined slices. */
void random_joined (Walk *walk, RequestSpec *spec);
QuoitRequest *request_of_joined (const RequestSpec *spec);
/* Like reserve_bundles(). */
void reserve_joined (Call *call, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms,
                     const QuoitGroup *group);
/* Apply a change of the ledger to the model, and check it. @after: the group after it; NULL: refused. Return whether
 * the group has to change. */
gboolean resize_joined (Call *call, ModelGroup *group, gint64 n, const QuoitGroup *after);
gboolean repair_joined (Call *call, ModelGroup *group, const QuoitGroup *after);
void release_joined (Call *call, ModelGroup *group, guint slice, gboolean done);

/* --- walk-follow.c --- */

/* Applies the entries of @ledger that the follower lacks to it, and compares both. */
void follow (Walk *walk, QuoitLedger *ledger);
/* Applies the entries of the open batch to the follower, if the walk stores entries before it commits them. */
void store_batch (Walk *walk, QuoitLedger *ledger);

void reserve_or_keep (Walk *walk, const Target *target);
void confirm_or_renew (Walk *walk, const Target *target);
void renew_groups (Walk *walk, const Target *target);
void release (Walk *walk, const Target *target);
void set_labels (Walk *walk, const Target *target);
/* A reason for a release, or NULL. */
const char *random_reason (Walk *walk);
void forget (Walk *walk, const Target *target);
void change_owner (Walk *walk, const Target *target);
void resize (Walk *walk, const Target *target);
void repair (Walk *walk, const Target *target);
void release_slice (Walk *walk, const Target *target);
