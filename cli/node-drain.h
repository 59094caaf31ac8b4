/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of drain and undrain. */
#pragma once

#include "session.h"

/* quoit_ledger_drain_nodes(), or its opposite. */
typedef bool (*DrainFunc) (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes, int64_t now_ms,
                           GError **error);

/* Makes the change to the nodes that the arguments name, in one transaction, and prints it. Of several nodes, the dead
 * ones are left alone. */
bool drain_change (Session *session, DrainFunc change, GError **error);
