/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of import and sync. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Describes an import after which the fleet is @snapshot. */
Document *import_describe (const QuoitSnapshot *snapshot, const QuoitImport *import, bool dry_run);

/* For a source that is read again and again: appends one line for each change and for each group that has lost
 * something, or with @as_json one line with an object for the whole import, after which the fleet is @snapshot. */
void import_append_lines (GString *lines, const QuoitSnapshot *snapshot, const QuoitImport *import, gint64 time_ms,
                          bool as_json);
