/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for slices of the fixture's fleet, for tests of the ledger and of its store. */
#pragma once

#include "placement/request.h"

static inline QuoitRequest *
request_for (const char *name, const char *key, guint32 n_slices)
{
  QuoitRequest *request = quoit_request_alloc ();

  request->name = g_strdup (name);
  request->key = g_strdup (key);
  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { .n_dims = 2, .dims = { 2, 4, 1 } };
  request->chips_per_host = 4;
  request->n_slices = n_slices;
  return request;
}
