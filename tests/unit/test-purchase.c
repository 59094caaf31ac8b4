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

/* Appends "NAME FREE/TAKEN/BOUGHT" of each block. */
static void
describe_blocks (GString *text, const QuoitPurchase *purchase)
{
  for (uint32_t b = 0; b < quoit_purchase_get_n_blocks (purchase); b++)
    {
      g_autofree char *grid = quoit_purchase_dup_block_grid (purchase, b);
      const char *name = quoit_purchase_get_block_name (purchase, b);

      if (name != NULL)
        g_string_append_printf (text, "; %s", name);
      else
        g_string_append_printf (text, "; new %s %u", grid == NULL ? "-" : grid,
                                quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES));
      for (QuoitPurchaseBlockNumber number = QUOIT_PURCHASE_BLOCK_NUMBER_FREE;
           number <= QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT; number++)
        g_string_append_printf (text, "%c%u", number == QUOIT_PURCHASE_BLOCK_NUMBER_FREE ? ' ' : '/',
                                quoit_purchase_get_block_number (purchase, b, number));
      for (uint32_t r = 0; r < quoit_purchase_get_n_requests (purchase); r++)
        if (quoit_purchase_get_joined (purchase, r, b) > 0)
          g_string_append_printf (text, " %u:%u", r, quoit_purchase_get_joined (purchase, r, b));
    }
}

/* Returns "STATE COST UNIT: TOPOLOGY WANTED/FREE/TAKEN/BOUGHT, ...; ALTERNATIVES; BLOCKS". */
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
  describe_blocks (text, purchase);
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

#define TWO_BLOCKS "v5p 4x4x4 x3 block=a pool=a; v5p 4x4x4 x1 block=b pool=b"

/* Joined slices: all cubes of a slice are in one block. */
static const struct {
  const char *fleet, *queue, *prices, *purchase;
  QuoitPurchaseStart start;
} cubes[] = {
  /* Free cubes are enough, or not enough in one block. */
  { TWO_BLOCKS, "v5p 4x4x8 x 1 cubes=any", "", "cheapest 0 -: 4x4x8 1/1/0/1/0; 0; fleet/a 3/2/0 0:1; fleet/b 1/0/0",
    0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 2 cubes=any", "", "impossible 0 -: 4x4x8 2/1/1/0/0; 0; fleet/a 3/0/0; fleet/b 1/0/0", 0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 2 cubes=any", "v5p 4x4x4 5 block=a\nv5p 4x4x4 7 block=b",
    "cheapest 5 -: 4x4x8 2/1/1/2/0; 0; fleet/a 3/4/1 0:2; fleet/b 1/0/0", 0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 2 cubes=any", "v5p 4x4x4 5 block=fleet/b",
    "cheapest 5 -: 4x4x8 2/1/1/2/0; 0; fleet/a 3/2/0 0:1; fleet/b 1/2/1 0:1", 0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 3 cubes=any", "v5p 4x4x4 5 block=a limit=1",
    "impossible 0 -: 4x4x8 3/1/2/0/0; 0; fleet/a 3/0/0; fleet/b 1/0/0", 0 },
  /* Cubes that are in no block join no slice, and are cubes all the same. */
  { "v5p 4x4x4 x9", "v5p 4x4x8 x 1 cubes=any", "v5p 4x4x4 1\nv5p 4x4x4 9 cubes=2",
    "cheapest 9 -: 4x4x8 1/0/1/1/0; 0; new - 2 0/2/1 0:1", 0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 1 cubes=any\nv5p 4x4x4 x 3", "v5p 4x4x4 6\nv5p 4x4x4 5 block=a",
    "cheapest 5 -: 4x4x8 1/1/0/1/0 4x4x4 3/4/0/3/0; 0 0; fleet/a 3/4/1 0:1; fleet/b 1/1/0", 0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 1 cubes=any\nv5p 4x4x4 x 3", "v5p 4x4x4 4\nv5p 4x4x4 5 block=a",
    "cheapest 4 -: 4x4x8 1/1/0/1/0 4x4x4 3/4/0/3/1; 0 0; fleet/a 3/3/0 0:1; fleet/b 1/1/0", 0 },
  /* Without a price of cubes in blocks, cubes are slices like any other. */
  { TWO_BLOCKS, "v5p 4x4x4 x 5", "v5p 4x4x4 4", "cheapest 4 -: 4x4x4 5/4/1/5/1; 0", 0 },
  { TWO_BLOCKS, "v5p 4x4x4 x 5", "v5p 4x4x4 4\nv5p 4x4x4 3 block=b",
    "cheapest 3 -: 4x4x4 5/4/1/5/0; 0; fleet/a 3/3/0; fleet/b 1/2/1", 0 },
  /* New blocks: slices of several requests share them. */
  { TWO_BLOCKS, "v5p 4x8x8 x 1 cubes=any\nv5p 4x4x8 x 3 cubes=any",
    "v5p 4x4x4 30/hour cubes=8\nv5p 4x4x4 20/hour cubes=4",
    "cheapest 30 hour: 4x8x8 1/0/1/1/0 4x4x8 3/1/2/3/0; 0 0; fleet/a 3/2/0 1:1; fleet/b 1/0/0; new - 8 0/8/1 0:1 1:2; "
    "new - 4 0/0/0",
    0 },
  { TWO_BLOCKS, "v5p 4x4x8 x 1 cubes=any", "v5p 4x4x4 7 cubes=2\nv5p 4x4x4 5 block=a limit=0",
    "cheapest 7 -: 4x4x8 1/0/1/1/0; 0; fleet/a 0/0/0; new - 2 0/2/1 0:1", QUOIT_PURCHASE_FROM_NOTHING },
  /* Adjacent cubes need positions, which only new blocks with a grid and cubes that are there have. */
  { "v5p 4x4x4 x3 block=a grid=1x1x4", "v5p 4x4x8 x 2 cubes=adjacent",
    "v5p 4x4x4 1 block=a\nv5p 4x4x4 2 cubes=64\nv5p 4x4x4 9 grid=2x1x2",
    "cheapest 9 -: 4x4x8 2/1/1/2/0; 0; fleet/a 3/2/0 0:1; new - 64 0/0/0; new 2x1x2 4 0/2/1 0:1", 0 },
  /* Adjacent cubes can be turned. */
  { "v5p 2x2x1", "v5p 4x4x12 x 1 cubes=adjacent", "v5p 4x4x4 1 grid=1x3x1\nv5p 4x4x4 2 grid=1x1x3",
    "cheapest 1 -: 4x4x12 1/0/1/1/0; 0; new 1x3x1 3 0/3/1 0:1; new 1x1x3 3 0/0/0", 0 },
  /* An alternative without cubes, and one of another generation. */
  { TWO_BLOCKS, "v5p 8x8x8 x 1 cubes=any else=\"v5p 4x4x8 x 2\"", "v5p 4x4x4 10 block=a\nv5p 4x4x8 30",
    "cheapest 50 -: 8x8x8 1/0/1/1/0 4x4x8 0/0/0/0/0; 0; fleet/a 3/8/5 0:1; fleet/b 1/0/0", 0 },
  { TWO_BLOCKS, "v5p 8x8x8 x 1 cubes=any else=\"v4 4x4x8 x 1 cubes=any\"", "v5p 4x4x4 10 block=a\nv4 4x4x4 9 cubes=2",
    "cheapest 9 -: 8x8x8 1/0/1/0/0 4x4x8 0/0/0/1/0; 1; fleet/a 3/0/0; fleet/b 1/0/0; new - 2 0/2/1 0:1", 0 },
  /* Two sorts of slices with the same topology. */
  { "v4 4x4x4 x2 block=a", "v4 4x4x8 x 1 cubes=any\nv4 4x4x8 x 1 cubes=any-twisted", "v4 4x4x4 2 block=a",
    "cheapest 4 -: 4x4x8 1/1/0/1/0 4x4x8 1/1/0/1/0; 0 0; fleet/a 2/4/2 0:1 1:1", 0 },
};

START_TEST (purchases_of_cubes_are_the_expected_ones)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (cubes[_i].fleet);
  g_autoptr (QuoitQueue) queue = queue_of (cubes[_i].queue);
  g_autoptr (QuoitPriceList) prices = prices_of (cubes[_i].prices);
  g_autoptr (QuoitPurchase) purchase = quoit_snapshot_plan_purchase (snapshot, queue, prices, cubes[_i].start, 0, NULL);
  g_autofree char *text = describe (purchase);

  ck_assert_str_eq (text, cubes[_i].purchase);
}
END_TEST

/* Without prices, joined slices are missing as a whole, and cost their chips. */
START_TEST (without_prices_joined_slices_are_missing)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (TWO_BLOCKS);
  g_autoptr (QuoitQueue) queue = queue_of ("v5p 4x4x8 x 2 cubes=any\nv5p 4x4x4 x 1");
  g_autoptr (QuoitPurchase) purchase
      = quoit_snapshot_plan_purchase (snapshot, queue, NULL, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
  g_autofree char *text = describe (purchase);

  ck_assert_str_eq (text, "cheapest 128 -: 4x4x8 2/1/1/2/1 4x4x4 1/4/0/1/0; 0 0; fleet/a 3/3/0 0:1; fleet/b 1/0/0");
}
END_TEST

static const struct {
  const char *fleet, *prices;
  QuoitErrorCode code;
  const char *message;
} bad_blocks[] = {
  { TWO_BLOCKS, "v5p 4x4x4 1 block=c", QUOIT_ERROR_NOT_FOUND,
    "price of cubes for block 'c': expected a block of v5p in the fleet, such as fleet/a" },
  { TWO_BLOCKS, "v4 4x4x4 1 block=a", QUOIT_ERROR_NOT_FOUND, "expected a block of v4 in the fleet, which has none" },
  { "v5p 4x4x4 x2", "v5p 4x4x4 1 block=a", QUOIT_ERROR_NOT_FOUND,
    "expected a block of v5p in the fleet, which has none" },
  { TWO_BLOCKS, "v5p 4x4x4 2 block=a\nv5p 4x4x4 1 block=b\nv5p 4x4x4 1 block=fleet/a", QUOIT_ERROR_INVALID,
    "price of cubes for block 'fleet/a': expected one price for each block, and an earlier one is for fleet/a" },
};

START_TEST (price_that_is_not_for_one_block_is_refused)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (bad_blocks[_i].fleet);
  g_autoptr (QuoitQueue) queue = queue_of ("v6e 4x4 x 1");
  g_autoptr (QuoitPriceList) prices = prices_of (bad_blocks[_i].prices);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_snapshot_plan_purchase (snapshot, queue, prices, QUOIT_PURCHASE_FROM_FREE, 0, &error));
  ck_assert_refused (error, bad_blocks[_i].code, bad_blocks[_i].message);
}
END_TEST

START_TEST (block_of_two_sources_needs_its_source)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitQueue) queue = queue_of ("v5p 4x4x8 x 1 cubes=any");
  g_autoptr (QuoitPriceList) prices = prices_of ("v5p 4x4x4 1 block=a"), full = prices_of ("v5p 4x4x4 1 block=two/a");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPurchase) purchase = NULL;
  g_autofree char *text = NULL;
  GError *error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, "v5p 4x4x4 block=a", 17);
      g_autoptr (QuoitImport) import = NULL;

      quoit_input_set_source (input, i == 0 ? "one" : "two");
      import = quoit_ledger_import (ledger, input, NOW, NULL);
      ck_assert_ptr_nonnull (import);
    }
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_ptr_null (quoit_snapshot_plan_purchase (snapshot, queue, prices, QUOIT_PURCHASE_FROM_FREE, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "block 'a': expected SOURCE/BLOCK, such as one/a, because 2 sources");
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, full, QUOIT_PURCHASE_FROM_FREE, 0, &error);
  ck_assert_ok (error);
  text = describe (purchase);
  ck_assert_str_eq (text, "cheapest 1 -: 4x4x8 1/0/1/1/0; 0; one/a 1/0/0; two/a 1/2/1 0:1");
}
END_TEST

/* --- purchases that are made --- */

/* Writes the fleet after the purchase: what was there, and all that is bought. */
static char *
fleet_after (const char *fleet, const QuoitPurchase *purchase)
{
  GString *text = g_string_new (fleet);

  for (uint32_t b = 0; b < quoit_purchase_get_n_blocks (purchase); b++)
    {
      const char *name = quoit_purchase_get_block_name (purchase, b);
      const guint n = quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT);
      g_autofree char *grid = quoit_purchase_dup_block_grid (purchase, b);

      if (name != NULL && n > 0)
        g_string_append_printf (text, "; v5p 4x4x4 x%u pool=more-%u block=%s", n, b, name + strlen ("fleet/"));
      for (guint i = 0; name == NULL && i < n; i++)
        g_string_append_printf (text, "; v5p 4x4x4 x%u pool=new-%u-%u block=new-%u-%u%s%s",
                                quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES), b, i,
                                b, i, grid == NULL ? "" : " grid=", grid == NULL ? "" : grid);
    }
  return g_string_free (text, FALSE);
}

/* Reserves slices in the block; NULL: in any. Returns whether there was room. */
static gboolean
reserve_in (QuoitLedger *ledger, const char *topology, QuoitCubes kind, const char *block, guint n, guint *number)
{
  g_autofree char *name = g_strdup_printf ("group-%u", (*number)++);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_accelerator (request, "v5p", NULL)
             && quoit_request_set_topology (request, topology, NULL) && quoit_request_set_slices (request, n, NULL));
  if (kind != QUOIT_CUBES_NONE)
    ck_assert (quoit_request_set_cubes (request, kind, NULL));
  if (block != NULL)
    ck_assert (quoit_request_add_selector (request, "cloud.google.com/gce-topology-block", block, NULL));
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, NULL);
  return group != NULL;
}

/* Buys for random queues, imports what was bought, and reserves everything in the blocks that the purchase states:
 * adjacent cubes first, so that no other slice takes their positions, and single cubes last. */
START_TEST (purchases_grant_their_queues)
{
  static const char *const topologies[] = { "4x4x4", "4x4x8", "4x8x8", "4x4x12" };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  guint n_found = 0;

  for (guint round = 0; round < 12; round++)
    {
      g_autofree char *fleet = g_strdup_printf (
          "v5p 4x4x4 x%d pool=a block=a%s; v5p 4x4x4 x%d pool=b block=b; v5p 4x4x4 pool=c",
          g_rand_int_range (rand, 1, 9), g_rand_boolean (rand) ? " grid=2x2x2" : "", g_rand_int_range (rand, 1, 5));
      g_autofree char *list = g_strdup_printf (
          "v5p 4x4x4 %d\nv5p 4x4x4 %d block=a limit=3\nv5p 4x4x4 %d cubes=6\nv5p 4x4x4 %d grid=2x2x2",
          g_rand_int_range (rand, 5, 12), g_rand_int_range (rand, 5, 12), g_rand_int_range (rand, 30, 60),
          g_rand_int_range (rand, 40, 90));
      g_autoptr (QuoitSnapshot) snapshot = snapshot_of (fleet);
      g_autoptr (QuoitPriceList) prices = prices_of (list);
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      g_autoptr (QuoitInput) input = NULL;
      g_autoptr (QuoitImport) import = NULL;
      g_autoptr (GString) lines = g_string_new (NULL);
      g_autoptr (QuoitQueue) queue = NULL;
      g_autoptr (QuoitPurchase) purchase = NULL;
      g_autofree char *after = NULL;
      QuoitCubes kinds[4];
      guint of[4], n[4], number = 0;

      for (guint r = 0; r < 4; r++)
        {
          of[r] = (guint) g_rand_int_range (rand, 0, 4);
          n[r] = (guint) g_rand_int_range (rand, 1, 4);
          kinds[r] = of[r] == 0 ? QUOIT_CUBES_NONE : g_rand_boolean (rand) ? QUOIT_CUBES_ANY : QUOIT_CUBES_ADJACENT;
          if (of[r] == 3)
            kinds[r] = QUOIT_CUBES_ANY; /* no block is long enough */
          g_string_append_printf (lines, "v5p %s x %u%s\n", topologies[of[r]], n[r],
                                  kinds[r] == QUOIT_CUBES_NONE  ? ""
                                  : kinds[r] == QUOIT_CUBES_ANY ? " cubes=any"
                                                                : " cubes=adjacent");
        }
      queue = queue_of (lines->str);
      purchase = quoit_snapshot_plan_purchase (snapshot, queue, prices, QUOIT_PURCHASE_FROM_FREE, 0, NULL);
      ck_assert_int_eq (quoit_purchase_get_state (purchase), QUOIT_PURCHASE_CHEAPEST);
      after = fleet_after (fleet, purchase);
      for (uint32_t c = 0; c < quoit_purchase_get_n_classes (purchase); c++)
        if (quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_BOUGHT) > 0)
          {
            char *more = g_strdup_printf ("%s; v5p 4x4x4 x%u pool=loose", after,
                                          quoit_purchase_get_class_number (purchase, c, QUOIT_PURCHASE_NUMBER_BOUGHT));
            g_free (after);
            after = more;
          }
      input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, after, strlen (after));
      import = quoit_ledger_import (ledger, input, NOW, NULL);
      ck_assert_ptr_nonnull (import);
      for (guint pass = 0; pass < 3; pass++)
        for (guint r = 0; r < 4; r++)
          {
            static const QuoitCubes passes[] = { QUOIT_CUBES_ADJACENT, QUOIT_CUBES_ANY, QUOIT_CUBES_NONE };

            if (kinds[r] != passes[pass])
              continue;
            if (kinds[r] == QUOIT_CUBES_NONE)
              ck_assert_msg (reserve_in (ledger, "4x4x4", kinds[r], NULL, n[r], &number), "%s: %s", after, lines->str);
            for (uint32_t b = 0; b < quoit_purchase_get_n_blocks (purchase); b++)
              {
                const char *name = quoit_purchase_get_block_name (purchase, b);
                const guint n_joined = quoit_purchase_get_joined (purchase, r, b);
                guint left = n_joined;
                const guint n_bought
                    = quoit_purchase_get_block_number (purchase, b, QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT);

                if (name != NULL && left > 0)
                  ck_assert_msg (
                      reserve_in (ledger, topologies[of[r]], kinds[r], name + strlen ("fleet/"), left, &number),
                      "seed %d, round %u: %s: %s", _i, round, after, lines->str);
                /* Which of several new blocks has the slice is not stated: the first one that can hold it. */
                for (guint i = 0; name == NULL && left > 0 && i < n_bought; i++)
                  {
                    g_autofree char *block = g_strdup_printf ("new-%u-%u", b, i);

                    while (left > 0 && reserve_in (ledger, topologies[of[r]], kinds[r], block, 1, &number))
                      left--;
                  }
                ck_assert_msg (name != NULL || left == 0 || n_bought > 1, "seed %d, round %u: %s: %s", _i, round, after,
                               lines->str);
                n_found += name == NULL && n_joined > 0 && left == 0;
              }
          }
    }
  ck_assert_uint_gt (n_found, 0);
}
END_TEST

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
  { "v6e 4x4",
    "line 1: request 'v6e 4x4': expected a generation, a topology, x and a number, such as 'v6e 4x4 x 2', or bundles" },
  { "v6e 4x4 x2", "request 'v6e 4x4 x2': expected a generation, a topology, x and a number" },
  { "v6e 4x4 2", "request 'v6e 4x4 2': expected a generation, a topology, x and a number" },
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
  { "v5p 2x2x4 x 1 cubes=any", "topology '2x2x4'" },
  { "v6e 4x4 x 1 cubes=any", "cubes 'any'" },
  { "v5p 4x4x8 x 1 cubes=some",
    "line 1: request 'v5p 4x4x8 x 1 cubes=some': 'cubes=some': expected a word such as hostchips=4 or cubes=any" },
  { "v5p 4x4x8 x 500001 cubes=any", "line 1: queue of '1000003' slices or cubes" },
  { "v6e 4x4 x 1 cut=any",
    "request with 'cut': expected only slices and their number, because whole slices are bought" },
  { "v6e 4x4 x 1 cut=aligned place=pack", "request with 'cut'" },
  { "v5p 2x2x4 x 1 cut=partition", "request with 'cut'" },
  { "v6e 8x8 x 1 else=\"v6e 4x4 x 2 cut=any\"", "request with 'cut'" },
  { "PACK 2x{TPU=4}", "request with 'bundles'" },
  { "v6e 4x4 x 1 else=v5e", "request 'v5e'" },
  { "v6e 4x4 x 1 else=\"v5e 4x4 x 1", "'else=\"v5e 4x4 x 1': expected a word such as hostchips=4" },
  { "v6e 4x4 x 1 what=1", "request 'v6e 4x4 x 1 what=1': 'what=1': expected a word such as hostchips=4" },
  { "v5p 4x4x8 x 1 cube=any", "'cube=any': expected a word such as hostchips=4" },
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
  { "v6e 4x4 x 2", "line 1: price 'x': expected a number from 0 to 100000000" },
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
  { "v6e 4x4 1 more", "'more': expected hostchips=N, limit=N, block=NAME, cubes=N or grid=AxBxC" },
  { "v6e 4x4 1 block=a", "'v6e 4x4 block=a': expected cubes, 4x4x4 of v4, v5p or tpu7x" },
  { "v5p 2x2x4 1 cubes=4", "'v5p 2x2x4 cubes=4': expected cubes" },
  { "v5p 4x4x4 1 block=", "block '': expected the name of a block" },
  { "v5p 4x4x4 1 block=a block=b", "'block=b': expected block only once" },
  { "v5p 4x4x4 1 block=a cubes=4", "line 1: expected only one of block=NAME" },
  { "v5p 4x4x4 1 cubes=4 grid=1x2x2", "expected only one of block=NAME" },
  { "v5p 4x4x4 1 cubes=0", "cubes '0': expected a number from 1 to 1000000" },
  { "v5p 4x4x4 1 cubes=1000001", "cubes '1000001'" },
  { "v5p 4x4x4 1 cubes=-1", "cubes '-1'" },
  { "v5p 4x4x4 1 grid=4x4",
    "grid '4x4': expected the cubes of the block along each axis, such as 4x4x8, each 1 to 16" },
  { "v5p 4x4x4 1 grid=0x4x4", "grid '0x4x4'" },
  { "v5p 4x4x4 1 grid=4x4x17", "grid '4x4x17'" },
  { "v5p 4x4x4 1 grid=4x4x4x4", "grid '4x4x4x4'" },
  { "v5p 4x4x4 1 grid=", "grid ''" },
  { "v5p 4x4x4 1 block=a limit=1000001", "limit '1000001'" },
  { "v5p 4x4x4 1 block=a\nv5p 4x4x4 2 block=a", "line 2: 'v5p 4x4x4 block=a': expected one price for each block" },
  { "v5p 4x4x4 1 cubes=4\nv5p 4x4x4 2 cubes=4", "line 2: 'v5p 4x4x4 cubes=4': expected one price for each size" },
  { "v5p 4x4x4 1 grid=1x2x2\nv5p 4x4x4 2 grid=1x2x2", "line 2: 'v5p 4x4x4 grid=1x2x2': expected one price" },
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
  tcase_add_loop_test (tcase, purchases_of_cubes_are_the_expected_ones, 0, (int) G_N_ELEMENTS (cubes));
  tcase_add_test (tcase, without_prices_joined_slices_are_missing);
  tcase_add_loop_test (tcase, price_that_is_not_for_one_block_is_refused, 0, (int) G_N_ELEMENTS (bad_blocks));
  tcase_add_test (tcase, block_of_two_sources_needs_its_source);
  tcase_add_loop_test (tcase, purchases_grant_their_queues, 0, 4);
  tcase_add_test (tcase, without_prices_chips_count);
  tcase_add_test (tcase, promised_slices_are_not_free);
  tcase_add_loop_test (tcase, bad_queue_is_refused_with_its_line, 0, (int) G_N_ELEMENTS (bad_queues));
  tcase_add_loop_test (tcase, bad_price_is_refused_with_its_line, 0, (int) G_N_ELEMENTS (bad_prices));
  tcase_add_test (tcase, unknown_start_is_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
