/* SPDX-License-Identifier: Apache-2.0 */
/* Times in milliseconds since 1970-01-01 UTC. 0 means no time. */
#pragma once

#include <glib.h>

/* 2200-01-01 UTC. Times in a ledger must be earlier. */
#define QUOIT_LAST_MS G_GINT64_CONSTANT (7258118400000)

/* The end of what has no known end. */
#define QUOIT_FOREVER_MS G_MAXINT64

/* Returns whether @time_ms is valid in a ledger: not negative, and before 2200. */
gboolean quoit_time_is_valid (gint64 time_ms);

/* Parses ISO 8601 with an offset, with or without seconds: "2026-05-01T09:30Z". Returns FALSE for other text, and for a
 * time that is not valid. */
gboolean quoit_time_parse (const char *text, gint64 *time_ms);

/* Returns text such as "2026-05-01T09:30:00.000Z", owned by the caller. @time_ms must be valid. */
char *quoit_time_format (gint64 time_ms);
