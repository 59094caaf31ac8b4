/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the ledger that one number describes: "quota:q0" has nominal chips, "window:w0" an end, "node:host-0" a
 * state, "label:GROUP" the value of a label, "reason:GROUP" that of its release, and "keep:ledger" a limit. */
#pragma once

#include "kill-writer.h"

/* Changes a fact. Fails like the call that it makes. */
gboolean fact_set (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error);

/* Returns FALSE if the ledger has no such fact. */
gboolean fact_read (const QuoitSnapshot *snapshot, const char *name, gint64 *value);
