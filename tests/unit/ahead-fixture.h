/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets and requests for the suites of what lies ahead. */
#pragma once

#include <quoit/quoit.h>

#include "suite.h"
#include "../shortcuts.h"

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
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL));
  ck_assert (quoit_request_set_topology (request, "4x4", NULL));
  ck_assert (quoit_request_set_slices (request, n_slices, NULL));
  if (lease_ms != 0)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  return request;
}
