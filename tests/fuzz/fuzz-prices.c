/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a price list: it is read as a whole, or refused with a line and without any effect. A purchase at these
 * prices costs what its slices cost, and no class has two prices. */
#include "purchase.h"

#define QUEUE                                                                                                          \
  "v6e 4x4 x 5 else=\"v5e 4x4 x 9\" else=\"v6e 2x4 x 3\"\nv6e 4x4 x 2\nv6e 8x8 x 1 else=\"v5p 2x2x2 x 4\"\n"           \
  "v6e 2x2 x 2..6\nv5p 4x4x8 x 2 cubes=any\nv5p 4x4x8 x 1 cubes=adjacent else=\"v5p 4x4x4 x 3\"\n"

static QuoitPurchase *
buy (const QuoitPriceList *prices, QuoitPurchaseStart start)
{
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();

  g_assert (quoit_queue_read (queue, QUEUE, strlen (QUEUE), NULL));
  return fuzz_purchase (queue, prices, start);
}

static char *
describe (const QuoitPriceList *prices)
{
  g_autoptr (QuoitPurchase) purchase = buy (prices, QUOIT_PURCHASE_FROM_FREE);

  if (purchase == NULL)
    return g_strdup ("no such block");
  fuzz_require_purchase (purchase);
  return fuzz_purchase_text (purchase);
}

/* Whether a line of the text has more than a comment. */
static gboolean
has_prices (const char *text, gsize size)
{
  for (gsize i = 0; i < size; i++)
    {
      if (text[i] == '#')
        while (i < size && text[i] != '\n')
          i++;
      else if (!g_ascii_isspace (text[i]))
        return TRUE;
    }
  return FALSE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *text = (const char *) data;
  g_autoptr (GError) error = NULL, again_error = NULL;
  g_autoptr (QuoitPriceList) prices = quoit_price_list_new ();
  g_autoptr (QuoitPurchase) from_nothing = NULL;
  g_autofree char *empty = describe (prices), *found = NULL, *again = NULL;
  gboolean ok = quoit_price_list_read (prices, text, size, &error), ok_again;

  fuzz_require_error (ok, error);
  found = describe (prices);
  if (!ok)
    {
      fuzz_require_line (error, text, size);
      g_assert (strcmp (found, empty) == 0);
      return 0;
    }
  from_nothing = buy (prices, QUOIT_PURCHASE_FROM_NOTHING);
  if (from_nothing != NULL)
    fuzz_require_purchase (from_nothing);
  ok_again = quoit_price_list_read (prices, text, size, &again_error);
  fuzz_require_error (ok_again, again_error);
  g_assert (ok_again == !has_prices (text, size));
  again = describe (prices);
  g_assert (strcmp (found, again) == 0);
  return 0;
}
