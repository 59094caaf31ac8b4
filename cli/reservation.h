/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of reserve and hold request: of the command line, or of a line of `quoit what-if`. */
#pragma once

#include "request-parts.h"

/* A hold requires --lease, and its request does not contain the lease. */
typedef enum { RESERVATION_RESERVE, RESERVATION_HOLD } ReservationKind;

typedef struct {
  ReservationKind kind; /* set it first */
  RequestOptions options;
  RequestParts parts;
  gint64 now_ms;                      /* set it before reservation_build() */
  gint64 lease_ms, from_ms, until_ms; /* 0: not given */
  QuoitRequest *request;
  GPtrArray *members; /* of QuoitRequest: those of --with */
} Reservation;

void reservation_clear (Reservation *reservation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reservation, reservation_clear)

/* Parses session->words by @parse: session_parse() or session_parse_line(). */
bool reservation_parse (Reservation *reservation, Session *session,
                        bool (*parse) (Session *session, const GOptionEntry *options, GError **error), GError **error);

/* Builds the requests from the options. @name: the name of the first group. */
bool reservation_build (Reservation *reservation, const char *name, GError **error);

/* Where a reservation is made: one of them is set. Both make the same decision. */
typedef struct {
  QuoitLedger *ledger;
  QuoitFork *fork;
} ReservationTarget;

/* Makes the reservation. Returns the first group, and appends those of --with to @others. */
QuoitGroup *reservation_make (const Reservation *reservation, ReservationTarget target, GPtrArray *others,
                              QuoitReport **report, GError **error);
