/* SPDX-License-Identifier: Apache-2.0 */
/* --wait-for: waits until a request fits. */
#pragma once

#include "reservation.h"

/* Refuses --wait-for with options that contradict it. */
bool waiting_check (const Session *session, const RequestOptions *options, GError **error);

/* Makes the reservation. If it does not fit now, tries again after each change of the ledger, and each second, because
 * leases end without a change, until the time of --wait-for is over. */
QuoitGroup *reserve_when_it_fits (const Session *session, Reservation *reservation, QuoitLedger *ledger,
                                  GPtrArray *others, QuoitReport **report, GError **error);
