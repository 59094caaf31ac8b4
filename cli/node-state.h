/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of set-state, drain and undrain. */
#pragma once

#include "session.h"

typedef bool (*NodeChangeFunc) (QuoitLedger *ledger, const char *node, gint64 now_ms, gconstpointer input,
                                GError **error);

/* Makes the change to the node named by the first argument, and prints its state before and after. */
bool node_change (Session *session, QuoitLedger *ledger, NodeChangeFunc change, gconstpointer input, GError **error);
