/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers in memory, and requests for slices, for tests of the public API. */
#pragma once

#include <quoit/quoit.h>

#include "../shortcuts.h"
#include "suite.h"

/* A ledger in memory with one fleet. */
static inline QuoitLedger *
ledger_with (const char *fleet, int64_t now_ms)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, now_ms, NULL);

  ck_assert_ptr_nonnull (import);
  return ledger;
}

static inline QuoitRequest *
slices_request (const char *name, const char *accelerator, const char *topology, gint64 n_slices)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, accelerator, NULL));
  ck_assert (quoit_request_set_topology (request, topology, NULL));
  ck_assert (quoit_request_set_slices (request, n_slices, NULL));
  return request;
}

/* @owner: NULL: none */
static inline QuoitRequest *
owned_request (const char *name, const char *accelerator, const char *topology, gint64 n_slices, const char *owner)
{
  QuoitRequest *request = slices_request (name, accelerator, topology, n_slices);

  if (owner != NULL)
    ck_assert (quoit_request_set_owner (request, owner, NULL));
  return request;
}
