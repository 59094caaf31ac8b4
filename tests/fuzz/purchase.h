/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the targets for queues and price lists: a fleet, purchases on it, and what must hold for them. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

#include "fuzz.h"

#define FUZZ_FLEET                                                                                                     \
  "v6e 4x4 x3; v6e 2x4 x2; v5e 4x4 x1; v5p 2x2x2 x1; v6e 2x2 x4; v5p 4x4x4 x3 block=a grid=1x1x4; v5p 4x4x4 x2 "       \
  "block=b"

enum { FUZZ_STEPS = 2000 };

/* Returns the fleet, which is made once. */
static inline const QuoitSnapshot *
fuzz_fleet (void)
{
  static QuoitSnapshot *snapshot;

  if (snapshot == NULL)
    {
      QuoitLedger *ledger = quoit_ledger_open_memory ();
      g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, FUZZ_FLEET, strlen (FUZZ_FLEET));
      g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, G_GINT64_CONSTANT (1700000000000), NULL);

      g_assert (import != NULL);
      snapshot = quoit_ledger_snapshot (ledger);
      quoit_ledger_unref (ledger);
    }
  return snapshot;
}

static inline QuoitPurchase *
fuzz_purchase (const QuoitQueue *queue, const QuoitPriceList *prices, QuoitPurchaseStart start)
{
  g_autoptr (GError) error = NULL;
  QuoitPurchase *purchase = quoit_snapshot_plan_purchase (fuzz_fleet (), queue, prices, start, FUZZ_STEPS, &error);

  fuzz_require_error (purchase != NULL, error);
  /* A list can have prices of cubes for blocks that the fleet has not. */
  g_assert (purchase != NULL || (prices != NULL && strstr (error->message, "price of cubes for block ") != NULL));
  return purchase;
}

/* The message of a text that was refused begins with one of its lines. */
static inline void
fuzz_require_line (const GError *error, const char *text, gsize length)
{
  guint64 n_lines = 1, number;
  char *end;

  for (gsize i = 0; i < length; i++)
    n_lines += text[i] == '\n';
  g_assert (g_str_has_prefix (error->message, "line "));
  number = g_ascii_strtoull (error->message + strlen ("line "), &end, 10);
  g_assert (g_str_has_prefix (end, ": ") && end[2] != '\0');
  g_assert (number >= 1 && number <= n_lines);
}

/* Returns the numbers of a purchase as text. The caller owns it. */
static inline char *
fuzz_purchase_text (const QuoitPurchase *purchase)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s;",
                          (int) quoit_purchase_get_state (purchase), quoit_purchase_get_cost (purchase).e4,
                          quoit_purchase_get_bound (purchase).e4, quoit_purchase_get_unit (purchase));
  for (guint32 c = 0; c < quoit_purchase_get_n_classes (purchase); c++)
    {
      g_autofree char *topology = quoit_purchase_dup_class_topology (purchase, c);

      g_string_append_printf (text, " %s %s %" G_GINT64_FORMAT, quoit_purchase_get_class_accelerator (purchase, c),
                              topology, quoit_purchase_get_class_price (purchase, c).e4);
      for (int number = 0; number <= QUOIT_PURCHASE_NUMBER_LIMIT; number++)
        g_string_append_printf (text, " %u",
                                quoit_purchase_get_class_number (purchase, c, (QuoitPurchaseNumber) number));
    }
  for (guint32 b = 0; b < quoit_purchase_get_n_blocks (purchase); b++)
    {
      g_autofree char *grid = quoit_purchase_dup_block_grid (purchase, b);

      g_string_append_printf (text, "; %s %s %s %" G_GINT64_FORMAT, quoit_purchase_get_block_accelerator (purchase, b),
                              quoit_purchase_get_block_name (purchase, b), grid,
                              quoit_purchase_get_block_price (purchase, b).e4);
      for (int number = 0; number <= QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT; number++)
        g_string_append_printf (text, " %u",
                                quoit_purchase_get_block_number (purchase, b, (QuoitPurchaseBlockNumber) number));
    }
  for (guint32 r = 0; r < quoit_purchase_get_n_requests (purchase); r++)
    {
      g_autofree char *request = quoit_purchase_dup_request (purchase, r);

      g_string_append_printf (text, "; %u %s", quoit_purchase_get_alternative (purchase, r), request);
    }
  return g_string_free (text, FALSE);
}

/* Returns what the cubes of blocks cost. No block gives more than it has. */
static inline gint64
fuzz_require_blocks (const QuoitPurchase *purchase)
{
  gint64 cost_e4 = 0;

  for (guint32 b = 0; b < quoit_purchase_get_n_blocks (purchase); b++)
    {
      const guint32 taken = quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN),
                    bought = quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT);
      const gint64 price_e4 = quoit_purchase_get_block_price (purchase, b).e4;

      g_assert (taken <= quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_FREE)
                             + (guint64) bought
                                   * quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES));
      g_assert (bought <= quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT));
      g_assert (bought == 0 || price_e4 >= 0);
      cost_e4 += bought * price_e4;
    }
  return cost_e4;
}

/* A purchase costs what its slices cost, and buys no more than is missing or can be bought. */
static inline void
fuzz_require_purchase (const QuoitPurchase *purchase)
{
  const QuoitPurchaseState state = quoit_purchase_get_state (purchase);
  const gboolean is_found = state == QUOIT_PURCHASE_CHEAPEST || state == QUOIT_PURCHASE_FOUND;
  gint64 cost_e4 = 0;

  for (guint32 c = 0; c < quoit_purchase_get_n_classes (purchase); c++)
    {
      const guint32 wanted = quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_WANTED),
                    n_free = quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_FREE),
                    taken = quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_TAKEN),
                    bought = quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_BOUGHT);
      const gint64 price_e4 = quoit_purchase_get_class_price (purchase, c).e4;

      g_assert (quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_SHORTFALL)
                == (wanted > n_free ? wanted - n_free : 0));
      if (!is_found)
        continue;
      /* Slices can be joined from bought cubes, and cubes of blocks are slices, too. */
      g_assert (quoit_purchase_get_n_blocks (purchase) > 0 || bought == (taken > n_free ? taken - n_free : 0));
      g_assert (bought <= taken);
      g_assert (bought <= quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_LIMIT));
      g_assert (bought == 0 || price_e4 >= 0);
      cost_e4 += bought * price_e4;
    }
  if (!is_found)
    return;
  cost_e4 += fuzz_require_blocks (purchase);
  g_assert (cost_e4 == quoit_purchase_get_cost (purchase).e4);
  g_assert (quoit_purchase_get_bound (purchase).e4 <= cost_e4);
  g_assert (state != QUOIT_PURCHASE_CHEAPEST || quoit_purchase_get_bound (purchase).e4 == cost_e4);
}
