/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers in memory for measurements, and a question about one. */
#pragma once

#include <quoit/quoit.h>

#include "bench.h"

#define BENCH_NOW_MS G_GINT64_CONSTANT (1800000000000)

/* @n_slices slices of v6e 4x4 with four nodes each, in @n_pools pools of four zones. */
static inline QuoitLedger *
bench_ledger_new (guint n_slices, guint n_pools)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (QuoitInput) input = NULL;
  g_autoptr (QuoitImport) import = NULL;

  for (guint p = 0; p < n_pools; p++)
    g_string_append_printf (text, "%sv6e 4x4 x%u pool=p%u zone=z%u", p == 0 ? "" : "; ", n_slices / n_pools, p, p % 4);
  input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text->str, text->len);
  import = quoit_ledger_import (ledger, input, BENCH_NOW_MS, NULL);
  g_assert (import != NULL);
  return ledger;
}

typedef struct {
  QuoitSnapshot *snapshot;
  QuoitRequest *request;
} BenchQuestion;

static inline void
bench_find_start (gpointer data)
{
  BenchQuestion *question = data;
  g_autoptr (QuoitStart) start
      = quoit_snapshot_find_start (question->snapshot, question->request, BENCH_NOW_MS + 1, NULL);

  g_assert (start != NULL && quoit_start_get_n_ends (start) > 0);
}
