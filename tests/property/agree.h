/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn states of a ledger, and drawn requests with every constraint, and with alternatives. */
#pragma once

#include "../support.h"

#define MINUTE_MS G_GINT64_CONSTANT (60000)

enum { MOST_POOLS = 5, MOST_SLICES = 4, MOST_HOSTS = 16, MOST_ALTERNATIVES = 3 };

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
  gboolean is_cube; /* pools of it are in two blocks */
} DrawnClass;

extern const DrawnClass drawn_classes[9];

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

/* One alternative of a request as a request of its own. */
typedef struct {
  QuoitRequest *request;
  gboolean has_bundles;
  gboolean has_domains; /* it is kept to a pool or zone, or spread over them */
  gboolean has_cut;     /* its slices can be parts of slices */
  gboolean has_cubes;   /* its slices are joined from cubes */
  char near[16];        /* the group that it prefers to be near; "": none */
} DrawnAlternative;

typedef struct {
  QuoitRequest *request;                         /* with all alternatives */
  DrawnAlternative alone[1 + MOST_ALTERNATIVES]; /* the request itself, then its alternatives */
  guint n_alone;
} DrawnRequest;

/* Draws a request of the given name. Few of them have an unknown pool or group, or are incomplete. */
void draw_request (DrawnState *state, const char *name, gint64 lease_ms, DrawnRequest *drawn);
void drawn_request_clear (DrawnRequest *drawn);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DrawnRequest, drawn_request_clear)
gint64 draw_lease_ms (DrawnState *state); /* 0: none */
