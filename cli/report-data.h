/* SPDX-License-Identifier: Apache-2.0 */
/* The data of `quoit report` that no other verb prints. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* How much of the past the page shows. */
enum { REPORT_MAX_SAMPLES = 16, REPORT_MAX_EVENTS = 2000, REPORT_MAX_ENDED = 2000 };

/* The hosts of each slice as a column for each fact, because a row for each host would be too large; docs/report.md
 * describes it. document_free() it. */
Document *report_map_document (const QuoitSnapshot *snapshot);

/* The groups that have ended, and, from the journal of @ledger (NULL: there is none), drained and dead nodes and the
 * fragmentation at some entries up to @snapshot. document_free() it. */
Document *report_history_document (QuoitLedger *ledger, QuoitSnapshot *snapshot, GError **error);
