/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets and requests for the suites of what lies ahead. */
#pragma once

#include "slices.h"

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

static inline void
import_fleet (QuoitLedger *ledger, const char *text)
{
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, NULL, first_ms, NULL);

  ck_assert_ptr_nonnull (import);
}

static inline QuoitRequest *
request_new (const char *name, gint64 n_slices, gint64 lease_ms)
{
  QuoitRequest *request = slices_request (name, "v6e", "4x4", n_slices);

  if (lease_ms != 0)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  return request;
}
