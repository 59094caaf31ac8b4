/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a ledger. */
#pragma once

#include <quoit/quoit.h>

/* Formats all metrics of the state at @now_ms. g_free() it. */
char *metrics_format (const QuoitSnapshot *snapshot, gint64 now_ms);
