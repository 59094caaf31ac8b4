/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn states of a ledger, and drawn requests with every constraint except excluded nodes and alternatives, which
 * test-domains-drawn and test-alternatives-drawn draw. */
#pragma once

#include "../support.h"

#define MINUTE_MS G_GINT64_CONSTANT (60000)

enum { MOST_POOLS = 5, MOST_SLICES = 4, MOST_HOSTS = 4 };

/* A line of fleet text. */
typedef struct {
  guint class; /* index in drawn_classes */
  guint n_slices;
  const char *zone;                       /* "": none */
  char mark[MOST_SLICES][MOST_HOSTS + 1]; /* '.' alive, 'b' busy, 'd' draining, 'x' dead */
} DrawnPool;

typedef struct {
  const char *accelerator, *topology;
  guint chips_per_host, n_hosts;
} DrawnClass;

extern const DrawnClass drawn_classes[7];

typedef struct {
  GRand *rand;
  guint32 seed;
  DrawnPool pools[MOST_POOLS];
  guint n_pools;
  QuoitLedger *ledger;
  gint64 now_ms;
  guint n_named;
  gboolean has_ahead, has_windows, has_estimates; /* whether any was drawn */
} DrawnState;

guint draw (GRand *rand, guint n);
char *drawn_fleet_text (const DrawnState *state);

/* Draws a fleet and what has happened to it: groups, bundles, reservations ahead, windows, quotas, states of nodes. */
void drawn_state_init (DrawnState *state, guint32 seed);
void drawn_state_clear (DrawnState *state);

/* Draws a request of the given name. Few of them have an unknown pool or are incomplete. */
QuoitRequest *draw_request (DrawnState *state, const char *name, gint64 lease_ms);
gint64 draw_lease_ms (DrawnState *state); /* 0: none */
