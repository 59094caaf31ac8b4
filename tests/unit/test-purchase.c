/* SPDX-License-Identifier: Apache-2.0 */
/* Purchases of a fleet: queues and price lists as text, what counts as free, and bad input. */
#include <string.h>

#include <quoit/quoit.h>

#include "suite.h"

static const int64_t NOW = 1790000000000;

static QuoitSnapshot *
snapshot_of (const char *fleet)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, fleet, strlen (fleet));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, NOW, NULL);

  ck_assert_ptr_nonnull (import);
  return quoit_ledger_snapshot (ledger);
}

static QuoitQueue *
queue_of (const char *text)
{
  QuoitQueue *queue = quoit_queue_new ();
  GError *error = NULL;

  quoit_queue_read (queue, text, strlen (text), &error);
  ck_assert_ok (error);
  return queue;
}

static QuoitPriceList *
prices_of (const char *text)
{
  QuoitPriceList *prices = quoit_price_list_new ();
  GError *error = NULL;

  quoit_price_list_read (prices, text, strlen (text), &error);
  ck_assert_ok (error);
  return prices;
}

/* Returns "STATE COST UNIT: TOPOLOGY WANTED/FREE/TAKEN/BOUGHT, ...; ALTERNATIVES". */
static char *
describe (const QuoitPurchase *purchase)
{
  static const char *const states[] = { "cheapest", "found", "impossible", "unknown" };
  g_autofree char *cost = quoit_amount_format (quoit_purchase_get_cost (purchase));
  const char *unit = quoit_purchase_get_unit (purchase);
  GString *text = g_string_new (states[quoit_purchase_get_state (purchase)]);

  g_string_append_printf (text, " %s %s:", cost, unit == NULL ? "-" : unit);
  for (uint32_t i = 0; i < quoit_purchase_get_n_classes (purchase); i++)
    {
      g_autofree char *topology = quoit_purchase_dup_class_topology (purchase, i);

      g_string_append_printf (text, " %s", topology);
      for (QuoitPurchaseNumber number = QUOIT_PURCHASE_NUMBER_WANTED; number <= QUOIT_PURCHASE_NUMBER_BOUGHT; number++)
        g_string_append_printf (text, "%c%u", number == QUOIT_PURCHASE_NUMBER_WANTED ? ' ' : '/',
                                quoit_purchase_get_class_number (purchase, i, number));
    }
  g_string_append (text, ";");
  for (uint32_t i = 0; i < quoit_purchase_get_n_requests (purchase); i++)
    g_string_append_printf (text, " %u", quoit_purchase_get_alternative (purchase, i));
  return g_string_free (text, FALSE);
}

/* wanted/free/shortfall/taken/bought */
static const struct {
  const char *fleet, *queue, *prices, *purchase;
  QuoitPurchaseStart start;
} purchases[] = {
  { "v6e 4x4 x3", "v6e 4x4 x 2", "v6e 4x4 5", "cheapest 0 -: 4x4 2/3/0/2/0; 0", QUOIT_PURCHASE_FROM_FREE },
  { "v6e 4x4 x3", "v6e 4x4 x 2", "v6e 4x4 5", "cheapest 10 -: 4x4 2/0/2/2/2; 0", QUOIT_PURCHASE_FROM_NOTHING },
  { "v6e 4x4 x1", "v6e 4x4 x 2..5", "v6e 4x4 0.25/hour", "cheapest 0.25 hour: 4x4 2/1/1/2/1; 0", 0 },
  /* An alternative is taken where it is cheaper, and not where it is not. */
  { "v6e 4x4 x1", "v6e 8x8 x 1 else=\"v6e 4x4 x 3\"", "v6e 8x8 9/month\nv6e 4x4 4/month",
    "cheapest 8 month: 8x8 1/0/1/0/0 4x4 0/1/0/3/2; 1", 0 },
  { "v6e 4x4 x1", "v6e 8x8 x 1 else=\"v6e 4x4 x 4\"", "v6e 8x8 9/month\nv6e 4x4 4/month",
    "cheapest 9 month: 8x8 1/0/1/1/1 4x4 0/1/0/0/0; 0", 0 },
  /* Limits, and classes without a price. */
  { "v6e 4x4 x1", "v6e 4x4 x 3", "v6e 4x4 5 limit=1", "impossible 0 -: 4x4 3/1/2/0/0; 0", 0 },
  { "v6e 4x4 x1", "v6e 4x4 x 2", "", "impossible 0 -: 4x4 2/1/1/0/0; 0", 0 },
  { "v6e 4x4 x1", "v6e 4x4 x 2\nv6e 4x4 x 1 else=\"v6e 8x8 x 1\"", "v6e 4x4 5 limit=1\nv6e 8x8 99",
    "cheapest 104 -: 4x4 3/1/2/2/1 8x8 0/0/0/1/1; 0 1", 0 },
  /* Draining, dead and used slices are not free. Classes differ in their hosts. */
  { "v6e 4x4 x4 draining=0 dead=1.0 busy=2", "v6e 4x4 x 2", "v6e 4x4 1", "cheapest 1 -: 4x4 2/1/1/2/1; 0", 0 },
  { "v6e 2x4 x1 hostchips=4", "v6e 2x4 x 1\nv6e 2x4 x 1 hostchips=4", "v6e 2x4 3\nv6e 2x4 7 hostchips=4",
    "cheapest 3 -: 2x4 1/0/1/1/1 2x4 1/1/0/1/0; 0 0", 0 },
  { "v6e 4x4 x1", "# nothing\n\n", "v6e 4x4 5", "cheapest 0 -:;", 0 },
  /* A text of a granted alternative names the earlier ones. */
  { "v6e 4x4 x0", "v6e 4x4 x 9 instead-of=\"v6e 8x8 x 1\"", "v6e 8x8 2\nv6e 4x4 1",
    "cheapest 2 -: 8x8 1/0/1/1/1 4x4 0/0/0/0/0; 0", 0 },
};

START_TEST (purchases_are_the_expected_ones)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitQueue) queue = queue_of (purchases[_i].queue);
  g_autoptr (QuoitPriceList) prices = prices_of (purchases[_i].prices);
  g_autoptr (QuoitPurchase) purchase = NULL;
  g_autofree char *text = NULL;
  const char *fleet = purchases[_i].fleet;

  snapshot = snapshot_of (strstr (fleet, " x0") != NULL ? "v4 2x2x1" : fleet);
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, prices, purchases[_i].start, 0, NULL);
  text = describe (purchase);
  ck_assert_str_eq (text, purchases[_i].purchase);
}
END_TEST

/* Without prices, the shortfall with the fewest chips is found. */
START_TEST (without_prices_chips_count)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of ("v6e 4x4 x1");
  g_autoptr (QuoitQueue) queue = queue_of ("v6e 8x8 x 1 else=\"v6e 4x4 x 3\"\nv6e 4x4 x 1");
  g_autoptr (QuoitPurchase) purchase
      = quoit_snapshot_plan_purchase (snapshot, queue, NULL, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
  g_autofree char *text = describe (purchase);

  ck_assert_str_eq (text, "cheapest 48 -: 8x8 1/0/1/0/0 4x4 1/1/0/4/3; 1 0");
}
END_TEST

/* What a reservation ahead will need is not free. */
START_TEST (promised_slices_are_not_free)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x3", 10);
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, NOW, NULL);
  g_autoptr (QuoitRequest) request = quoit_request_new ("later", NULL);
  g_autoptr (QuoitQueue) queue = queue_of ("v6e 4x4 x 3");
  g_autoptr (QuoitPriceList) prices = prices_of ("v6e 4x4 5");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPurchase) purchase = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autofree char *text = NULL;

  ck_assert_ptr_nonnull (import);
  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, 2, NULL));
  group = quoit_ledger_reserve_at (ledger, request, NOW + 100000, 0, NOW, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  snapshot = quoit_ledger_snapshot (ledger);
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, prices, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
  text = describe (purchase);
  ck_assert_str_eq (text, "cheapest 10 -: 4x4 3/1/2/3/2; 0");
}
END_TEST

/* --- bad input --- */

static const struct {
  const char *text, *message;
} bad_queues[] = {
  { "v6e 4x4", "line 1: request 'v6e 4x4': expected a request" },
  { "\n# x\nv6e 4x4 x 0", "line 3: request 'v6e 4x4 x 0': number '0': expected 1 to 1000000" },
  { "v6e 4x4 x -1", "number '-1': expected 1 to" },
  { "v6e 4x4 x 2147483648", "number '2147483648'" },
  { "v9 4x4 x 1", "generation 'v9'" },
  { "v6e 3x3 x 1", "topology '3x3'" },
  { "v6e 4x4 x 1 hostchips=3", "chips per host '3'" },
  { "v6e 4x4 x 1 pool=a", "request with 'pool'" },
  { "v6e 4x4 x 1 else=\"v6e 4x4 x 1 zone=z\"", "request with 'zone'" },
  { "v6e 4x4 x 1 select=a=b", "request with 'select'" },
  { "v6e 4x4 x 1 slice=a", "request with 'slice'" },
  { "v6e 4x4 x 2 spread=zone max-skew=1 min-domains=1", "request with 'spread'" },
  { "v6e 4x4 x 1 near=a", "request with 'near'" },
  { "v5p 4x4x8 x 1 cubes=any",
    "request with 'cubes': expected only slices and their number, because cubes that are bought are in no block yet; "
    "request as many cubes as slices of 4x4x4 instead" },
  { "v6e 4x4 x 1 cut=any",
    "request with 'cut': expected only slices and their number, because whole slices are bought" },
  { "v6e 4x4 x 1 cut=aligned place=pack", "request with 'cut'" },
  { "v5p 2x2x4 x 1 cut=partition", "request with 'cut'" },
  { "v6e 8x8 x 1 else=\"v6e 4x4 x 2 cut=any\"", "request with 'cut'" },
  { "PACK 2x{TPU=4}", "request with 'bundles'" },
  { "v6e 4x4 x 1 else=v5e", "request 'v5e'" },
  { "v6e 4x4 x 1 else=\"v5e 4x4 x 1", "expected a request" },
  { "v6e 4x4 x 1 what=1", "expected a request" },
  { "v6e 4x4 x 999999\nv6e 4x4 x 2", "line 2: queue of '1000002' slices" },
  { "v6e 4x4 x 1\n\xff", "line 2: expected UTF-8" },
  { "v6e 4x4\x01 x 1", "line 1: byte '1': expected no control characters" },
};

START_TEST (bad_queue_is_refused_with_its_line)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of ("v6e 4x4");
  g_autoptr (QuoitQueue) queue = queue_of ("v6e 4x4 x 1");
  g_autoptr (QuoitPurchase) purchase = NULL;
  GError *error = NULL;

  ck_assert (!quoit_queue_read (queue, bad_queues[_i].text, strlen (bad_queues[_i].text), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_queues[_i].message);
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, NULL, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
  ck_assert_uint_eq (quoit_purchase_get_n_requests (purchase), 1);
}
END_TEST

static const struct {
  const char *text, *message;
} bad_prices[] = {
  { "v6e 4x4 -1", "line 1: price '-1': expected a number from 0 to 100000000 with at most 4 decimals" },
  { "v6e 4x4 ten", "price 'ten'" },
  { "v6e 4x4 nan", "price 'nan'" },
  { "v6e 4x4 inf", "price 'inf'" },
  { "v6e 4x4 1e3", "price '1e3'" },
  { "v6e 4x4 0.00001", "price '0.00001'" },
  { "v6e 4x4 100000001", "price '100000001'" },
  { "v6e 4x4 /hour", "price '/hour'" },
  { "v6e 4x4 5/day", "price '5/day': expected /hour or /month" },
  { "v6e 4x4 5/hour\nv6e 8x8 5/month", "line 2: price '5/month': expected /hour like the other prices" },
  { "v6e 4x4 5\nv6e 8x8 5/month", "line 2: price '5/month': expected no unit like the other prices" },
  { "v9 4x4 1", "generation 'v9'" },
  { "v6e 3x3 1", "topology '3x3'" },
  { "v6e 4x4", "expected ACCELERATOR TOPOLOGY PRICE" },
  { "v6e 4x4 1 limit=-1", "limit '-1'" },
  { "v6e 4x4 1 limit=1000001", "limit '1000001'" },
  { "v6e 4x4 1 limit=1 limit=2", "'limit=2': expected limit only once" },
  { "v6e 4x4 1 hostchips=3", "chips per host '3'" },
  { "v6e 4x4 1 more", "'more': expected hostchips=N or limit=N" },
  { "v6e 4x4 1\n\nv6e 4x4 2", "line 3: 'v6e 4x4 hostchips=4': expected one price for each class" },
};

START_TEST (bad_price_is_refused_with_its_line)
{
  g_autoptr (QuoitPriceList) prices = quoit_price_list_new ();
  GError *error = NULL;

  ck_assert (!quoit_price_list_read (prices, bad_prices[_i].text, strlen (bad_prices[_i].text), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_prices[_i].message);
  /* Nothing was added, and the unit is still open. */
  ck_assert (quoit_price_list_add (prices, "v6e", "4x4", 0, "5/month", -1, &error));
  ck_assert (!quoit_price_list_add (prices, "v6e", "4x4", 4, "5/month", -1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "one price for each class");
  ck_assert (!quoit_price_list_add (prices, "v6e", "8x8", 0, "5/month", -2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "limit '-2'");
}
END_TEST

START_TEST (unknown_start_is_refused)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of ("v6e 4x4");
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();
  GError *error = NULL;

  ck_assert_ptr_null (quoit_snapshot_plan_purchase (snapshot, queue, NULL, (QuoitPurchaseStart) 7, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "start of a purchase '7'");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("purchase");
  TCase *tcase = tcase_create ("purchase");

  tcase_add_loop_test (tcase, purchases_are_the_expected_ones, 0, (int) G_N_ELEMENTS (purchases));
  tcase_add_test (tcase, without_prices_chips_count);
  tcase_add_test (tcase, promised_slices_are_not_free);
  tcase_add_loop_test (tcase, bad_queue_is_refused_with_its_line, 0, (int) G_N_ELEMENTS (bad_queues));
  tcase_add_loop_test (tcase, bad_price_is_refused_with_its_line, 0, (int) G_N_ELEMENTS (bad_prices));
  tcase_add_test (tcase, unknown_start_is_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
