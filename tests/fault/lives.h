/* SPDX-License-Identifier: Apache-2.0 */
/* What a ledger goes through, step by step: each of these lives is led again and again, with one thing that fails. */
#pragma once

#include "../ground.h"

typedef struct {
  char *path, *copy;
  QuoitLedger *ledger; /* NULL: not open */
} World;

typedef struct {
  const char *name;
  gboolean (*run) (World *, gint64, GError **);
} Step;

/* The steps before @start make the database that the life begins with: nothing fails in them. */
typedef struct {
  const char *name;
  const Step *steps;
  guint n_steps, start;
} Life;

enum { N_LIVES = 4, MOST_STEPS = 24 };
extern const Life lives[N_LIVES];

/* When the step is taken: they are ten seconds apart, in which leases end. */
gint64 time_of_step (guint step);

gboolean create_ledger (World *world, gint64 now_ms, GError **error);
gboolean open_ledger (World *world, gint64 now_ms, GError **error);
gboolean import_slices (World *world, gint64 now_ms, GError **error);
gboolean reserve_slices (QuoitLedger *ledger, const char *name, const char *key, gint64 n_slices, gint64 now_ms,
                         GError **error);
/* A step that makes a copy; when it is done the copy is a database of its own. */
gboolean backup_ledger (World *world, gint64 now_ms, GError **error);
