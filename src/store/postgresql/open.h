/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/store.h"

/* Returns whether @path names a ledger in PostgreSQL: postgresql://... or postgres://... */
gboolean quoit_pg_is_url (const char *path);
/* Fail with NOT_FOUND or CONFLICT, depending on whether the fleet exists, and with STORE if the server cannot be
 * used. */
QuoitStore *quoit_pg_open (const char *url, gint64 wait_ms, GError **error);
QuoitStore *quoit_pg_create (const char *url, gint64 wait_ms, GError **error);
