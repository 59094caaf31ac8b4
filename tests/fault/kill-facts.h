/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the ledger that one number describes: "quota:q0" has nominal chips, "window:w0" an end, "node:host-0" a
 * state, "slices:fleet" a number of slices, "label:GROUP" the value of a label, "reason:GROUP" that of its release, and
 * "keep:ledger" a limit. An even number of slices is imported on a fork, and so is a node whose state is not 0. */
#pragma once

#include "kill-writer.h"

enum { N_FACT_KINDS = 7 };

/* Syncs the source to which the facts about nodes belong. */
gboolean facts_init (QuoitLedger *ledger, gint64 now_ms);

/* Changes a fact. Fails like the call that it makes. */
gboolean fact_set (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error);

/* Returns FALSE if the ledger has no such fact. */
gboolean fact_read (const QuoitSnapshot *snapshot, const char *name, gint64 *value);
