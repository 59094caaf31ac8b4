/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of a ledger, step by step. Each life is repeated with one failure at a time. */
#pragma once

#include "../support.h"

typedef struct {
  char *path, *copy;
  QuoitLedger *ledger; /* NULL: not open */
} World;

typedef struct {
  const char *name;
  gboolean (*run) (World *, gint64, GError **);
} Step;

/* The steps before @start make the initial database and never fail. */
typedef struct {
  const char *name;
  const Step *steps;
  guint n_steps, start;
} Life;

enum { N_LIVES = 6, MOST_STEPS = 24, N_PLANNING_STEPS = 21 };
extern const Life lives[N_LIVES];
extern const Step planning[N_PLANNING_STEPS]; /* of one of the lives */

/* Steps are ten seconds apart, so that leases expire between them. */
gint64 time_of_step (guint step);

gboolean create_ledger (World *world, gint64 now_ms, GError **error);
gboolean open_ledger (World *world, gint64 now_ms, GError **error);
gboolean import_slices (World *world, gint64 now_ms, GError **error);
gboolean reserve_slices (QuoitLedger *ledger, const char *name, const char *key, gint64 n_slices, gint64 now_ms,
                         GError **error);
/* A step that makes a copy. The finished copy is an independent database. */
gboolean backup_ledger (World *world, gint64 now_ms, GError **error);
