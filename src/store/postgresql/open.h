/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/store.h"

/* Fail with NOT_FOUND or CONFLICT, depending on whether the fleet exists, and with STORE if the server cannot be
 * used. */
QuoitStore *quoit_pg_open (const char *url, gint64 wait_ms, GError **error);
QuoitStore *quoit_pg_create (const char *url, gint64 wait_ms, GError **error);
/* Returns a handle for quoit_store_copy(): connected, but without a fleet yet. */
QuoitStore *quoit_pg_create_empty (const char *url, gint64 wait_ms, GError **error);
