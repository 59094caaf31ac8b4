/* SPDX-License-Identifier: Apache-2.0 */
/* Times: milliseconds since 1970-01-01 UTC; 0 stands for none. */
#pragma once

#include <glib.h>

/* 2200-01-01 UTC: the first that is no time of a ledger any more. */
#define QUOIT_LAST_MS G_GINT64_CONSTANT (7258118400000)

/* Whether @time_ms may stand in a ledger: 0, or before 2200. */
gboolean quoit_time_is_sound (gint64 time_ms);

/* "2026-05-01T09:30:00.000Z". Owned. @time_ms is sound. */
char *quoit_time_format (gint64 time_ms);
