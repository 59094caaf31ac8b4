/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a queue: it is read as a whole, or refused with a line and without any effect. Each request can be read
 * back from its canonical text, and a purchase for the queue costs what its slices cost. */
#include "purchase.h"

#define PRICES                                                                                                         \
  "v6e 4x4 10.75/hour limit=4\nv6e 8x8 40/hour\nv5e 4x4 9/hour\nv5p 2x2x2 0/hour\nv6e 2x4 4/hour limit=0\n"            \
  "v5p 4x4x4 7/hour\nv5p 4x4x4 5/hour block=a limit=2\nv5p 4x4x4 90/hour cubes=16\nv5p 4x4x4 99/hour grid=2x2x4\n"

/* Returns the requests of a purchase, one on each line. The caller owns the text. */
static char *
list_requests (const QuoitPurchase *purchase)
{
  GString *text = g_string_new (NULL);

  for (guint32 r = 0; r < quoit_purchase_get_n_requests (purchase); r++)
    {
      g_autofree char *request = quoit_purchase_dup_request (purchase, r);

      g_assert (request != NULL && fuzz_can_be_shown (request));
      g_string_append_printf (text, "%s\n", request);
    }
  return g_string_free (text, FALSE);
}

/* The canonical text of all requests is read back as the same requests. */
static void
require_read_back (const QuoitPurchase *purchase)
{
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();
  g_autofree char *text = list_requests (purchase), *again = NULL;
  g_autoptr (QuoitPurchase) other = NULL;

  g_assert (quoit_queue_read (queue, text, strlen (text), NULL));
  other = fuzz_purchase (queue, NULL, QUOIT_PURCHASE_FROM_NOTHING);
  again = list_requests (other);
  g_assert (strcmp (text, again) == 0);
}

static void
require_purchases (const QuoitQueue *queue)
{
  g_autoptr (QuoitPriceList) prices = quoit_price_list_new ();
  g_autoptr (QuoitPurchase) by_price = NULL, by_chips = NULL;

  g_assert (quoit_price_list_read (prices, PRICES, strlen (PRICES), NULL));
  by_price = fuzz_purchase (queue, prices, QUOIT_PURCHASE_FROM_FREE);
  by_chips = fuzz_purchase (queue, NULL, QUOIT_PURCHASE_FROM_NOTHING);
  fuzz_require_purchase (by_price);
  fuzz_require_purchase (by_chips);
  require_read_back (by_chips);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *text = (const char *) data;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();
  g_autoptr (QuoitPurchase) after = NULL;
  gboolean ok;

  g_assert (quoit_queue_read (queue, "v6e 4x4 x 2\n", strlen ("v6e 4x4 x 2\n"), NULL));
  ok = quoit_queue_read (queue, text, size, &error);
  fuzz_require_error (ok, error);
  if (ok)
    {
      require_purchases (queue);
      return 0;
    }
  fuzz_require_line (error, text, size);
  after = fuzz_purchase (queue, NULL, QUOIT_PURCHASE_FROM_FREE);
  g_assert (quoit_purchase_get_n_requests (after) == 1);
  return 0;
}
