/* SPDX-License-Identifier: Apache-2.0 */
#include "purchase-view.h"

#include "words.h"

/* --- files --- */

static bool
load (const char *file, char **text, gsize *length, GError **error)
{
  return quoit_load_text (g_str_equal (file, "-") ? "/dev/stdin" : file, text, length, error);
}

void
purchase_add_file_name (const char *file, GError **error)
{
  g_prefix_error (error, "%s: ", g_str_equal (file, "-") ? "standard input" : file);
}

QuoitQueue *
purchase_load_queue (const char *file, GError **error)
{
  g_autoptr (QuoitQueue) queue = quoit_queue_new ();
  g_autofree char *text = NULL;
  gsize length = 0;

  if (!load (file, &text, &length, error))
    return NULL;
  if (quoit_queue_read (queue, text, length, error))
    return g_steal_pointer (&queue);
  purchase_add_file_name (file, error);
  return NULL;
}

QuoitPriceList *
purchase_load_prices (const char *file, GError **error)
{
  g_autoptr (QuoitPriceList) prices = quoit_price_list_new ();
  g_autofree char *text = NULL;
  gsize length = 0;

  if (!load (file, &text, &length, error))
    return NULL;
  if (quoit_price_list_read (prices, text, length, error))
    return g_steal_pointer (&prices);
  purchase_add_file_name (file, error);
  return NULL;
}

/* --- tables --- */

static const char *const states[] = { "cheapest", "found", "impossible", "unknown" }; /* by QuoitPurchaseState */

static const Column fact_columns[] = {
  { "result", "result", CELL_TEXT }, { NULL, "cost", CELL_TEXT },     { "cost", NULL, CELL_AMOUNT },
  { "bound", NULL, CELL_AMOUNT },    { NULL, "at least", CELL_TEXT }, { "gap", "gap", CELL_AMOUNT },
  { "unit", NULL, CELL_TEXT },
};

static const Column class_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { NULL, "CUBES", RANKED (1, CELL_TEXT) },
  { "chips_per_host", "CHIPS/HOST", RANKED (3, CELL_NUMBER) },
  { "wanted", "WANTED", CELL_NUMBER },
  { "free", "FREE", CELL_NUMBER },
  { "shortfall", "SHORTFALL", CELL_NUMBER },
  { "taken", "TAKEN", RANKED (2, CELL_NUMBER) },
  { "buy", "BUY", CELL_NUMBER },
  { "limit", NULL, CELL_NUMBER },
  { "price", "PRICE", RANKED (1, CELL_AMOUNT) },
  { "cost", "COST", CELL_AMOUNT },
  { "cubes", NULL, CELL_TEXT },
};

static const Column shortfall_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT }, { "topology", "TOPOLOGY", CELL_TEXT },
  { NULL, "CUBES", RANKED (1, CELL_TEXT) },    { "chips_per_host", "CHIPS/HOST", RANKED (3, CELL_NUMBER) },
  { "wanted", "WANTED", CELL_NUMBER },         { "free", "FREE", CELL_NUMBER },
  { "shortfall", "SHORTFALL", CELL_NUMBER },   { "taken", "TAKEN", RANKED (2, CELL_NUMBER) },
  { "missing", "MISSING", CELL_NUMBER },       { "cubes", NULL, CELL_TEXT },
};

static const Column block_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "block", NULL, CELL_TEXT },
  { NULL, "BLOCK", CELL_TEXT },
  { "grid", NULL, CELL_TEXT },
  { "cubes", "CUBES", CELL_NUMBER },
  { "free", "FREE", CELL_NUMBER },
  { "taken", "TAKEN", CELL_NUMBER },
  { "buy", "BUY", CELL_NUMBER },
  { "limit", NULL, CELL_NUMBER },
  { "price", "PRICE", RANKED (1, CELL_AMOUNT) },
  { "cost", "COST", CELL_AMOUNT },
};

static const Column request_columns[] = {
  { "alternative", "ALTERNATIVE", CELL_NUMBER },
  { NULL, "BLOCKS", RANKED (1, CELL_LIST) },
  { "request", "REQUEST", CELL_TEXT },
  { "joined", NULL, CELL_TABLE },
};

static const Column joined_columns[] = {
  { "block", NULL, CELL_TEXT },
  { "grid", NULL, CELL_TEXT },
  { "cubes", NULL, CELL_NUMBER },
  { "slices", NULL, CELL_NUMBER },
};

static bool
is_found (const QuoitPurchase *purchase)
{
  const QuoitPurchaseState state = quoit_purchase_get_state (purchase);

  return state == QUOIT_PURCHASE_CHEAPEST || state == QUOIT_PURCHASE_FOUND;
}

/* "180.5 per hour" */
static char *
format_cost (const QuoitPurchase *purchase, QuoitAmount cost)
{
  g_autofree char *number = quoit_amount_format (cost);
  const char *unit = quoit_purchase_get_unit (purchase);

  return unit == NULL ? g_strdup (number) : g_strdup_printf ("%s per %s", number, unit);
}

/* Returns which share of the cost may be too much, rounded up. */
static char *
format_gap (QuoitAmount cost, QuoitAmount bound)
{
  const gint64 gap = cost.e4 - bound.e4;
  const gint64 unit = MAX (cost.e4 / 10000, 1);

  return quoit_amount_format ((QuoitAmount) { gap == 0 ? 0 : CLAMP ((gap + unit - 1) / unit, 1, 10000) });
}

static Table *
facts_of (const QuoitPurchase *purchase)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  const QuoitAmount cost = quoit_purchase_get_cost (purchase), bound = quoit_purchase_get_bound (purchase);
  const bool found = is_found (purchase);

  table_add_text (facts, states[quoit_purchase_get_state (purchase)]);
  table_take_text (facts, found ? format_cost (purchase, cost) : NULL);
  table_take_text (facts, found ? quoit_amount_format (cost) : NULL);
  table_take_text (facts, found ? quoit_amount_format (bound) : NULL);
  table_take_text (facts, found ? format_cost (purchase, bound) : NULL);
  table_take_text (facts, found ? format_gap (cost, bound) : NULL);
  table_add_text (facts, quoit_purchase_get_unit (purchase));
  return facts;
}

static void
add_number (Table *table, const QuoitPurchase *purchase, uint32_t class, QuoitPurchaseNumber number)
{
  table_add_number (table, quoit_purchase_get_class_number (purchase, class, number));
}

/* Adds a number that a purchase has. */
static void
add_result (Table *table, const QuoitPurchase *purchase, uint32_t class, QuoitPurchaseNumber number)
{
  if (is_found (purchase))
    add_number (table, purchase, class, number);
  else
    table_skip (table);
}

/* Adds which cubes the slices are joined from. */
static void
add_cubes (Table *table, const QuoitPurchase *purchase, uint32_t class)
{
  table_add_text (table, cubes_word (quoit_purchase_get_class_cubes (purchase, class)));
}

static void
add_class (Table *table, const QuoitPurchase *purchase, uint32_t class)
{
  table_add_text (table, quoit_purchase_get_class_accelerator (purchase, class));
  table_take_text (table, quoit_purchase_dup_class_topology (purchase, class));
  add_cubes (table, purchase, class);
  add_number (table, purchase, class, QUOIT_PURCHASE_NUMBER_CHIPS_PER_HOST);
  add_number (table, purchase, class, QUOIT_PURCHASE_NUMBER_WANTED);
  add_number (table, purchase, class, QUOIT_PURCHASE_NUMBER_FREE);
  add_number (table, purchase, class, QUOIT_PURCHASE_NUMBER_SHORTFALL);
  add_result (table, purchase, class, QUOIT_PURCHASE_NUMBER_TAKEN);
  add_result (table, purchase, class, QUOIT_PURCHASE_NUMBER_BOUGHT);
}

/* @price: below 0 if there is none. */
static void
add_price_and_cost (Table *table, const QuoitPurchase *purchase, QuoitAmount price, gint64 n)
{
  const QuoitAmount cost = { price.e4 < 0 ? 0 : n * price.e4 };

  table_take_text (table, price.e4 < 0 ? NULL : quoit_amount_format (price));
  table_take_text (table, is_found (purchase) ? quoit_amount_format (cost) : NULL);
}

static void
add_price (Table *table, const QuoitPurchase *purchase, uint32_t class)
{
  add_number (table, purchase, class, QUOIT_PURCHASE_NUMBER_LIMIT);
  add_price_and_cost (table, purchase, quoit_purchase_get_class_price (purchase, class),
                      quoit_purchase_get_class_number (purchase, class, QUOIT_PURCHASE_NUMBER_BOUGHT));
}

/* --- blocks --- */

static uint32_t
block_number (const QuoitPurchase *purchase, uint32_t block, QuoitPurchaseBlockNumber number)
{
  return quoit_purchase_get_block_number (purchase, block, number);
}

/* Returns the name for people: "fleet/a", "new 4x4x4" or "new of 8". The caller owns it. */
static char *
block_name (const QuoitPurchase *purchase, uint32_t block)
{
  const char *name = quoit_purchase_get_block_name (purchase, block);
  g_autofree char *grid = quoit_purchase_dup_block_grid (purchase, block);

  if (name != NULL)
    return g_strdup (name);
  if (grid != NULL)
    return g_strdup_printf ("new %s", grid);
  return g_strdup_printf ("new of %u", block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES));
}

/* A large fleet has many blocks that are neither used nor for sale. */
static bool
is_shown (const QuoitPurchase *purchase, uint32_t block)
{
  return quoit_purchase_get_block_price (purchase, block).e4 >= 0
         || block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN) > 0;
}

static void
add_block (Table *table, const QuoitPurchase *purchase, uint32_t block)
{
  const QuoitAmount price = quoit_purchase_get_block_price (purchase, block);
  const gint64 n = block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT);
  const bool found = is_found (purchase);

  table_add_text (table, quoit_purchase_get_block_accelerator (purchase, block));
  table_add_text (table, quoit_purchase_get_block_name (purchase, block));
  table_take_text (table, block_name (purchase, block));
  table_take_text (table, quoit_purchase_dup_block_grid (purchase, block));
  table_add_number (table, block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES));
  table_add_number (table, block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_FREE));
  for (QuoitPurchaseBlockNumber number = QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN;
       number <= QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT; number++)
    if (found)
      table_add_number (table, block_number (purchase, block, number));
    else
      table_skip (table);
  table_add_number (table, block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT));
  add_price_and_cost (table, purchase, price, n);
}

static Table *
list_blocks (const QuoitPurchase *purchase)
{
  Table *blocks = table_new (block_columns, G_N_ELEMENTS (block_columns));

  for (uint32_t block = 0; block < quoit_purchase_get_n_blocks (purchase); block++)
    if (is_shown (purchase, block))
      add_block (blocks, purchase, block);
  return blocks;
}

/* Returns where the slices of a request are joined, for people: "fleet/a x2"; NULL: they are not joined. */
static GPtrArray *
list_block_texts (const QuoitPurchase *purchase, uint32_t request)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t block = 0; block < quoit_purchase_get_n_blocks (purchase); block++)
    {
      const uint32_t n = quoit_purchase_get_joined (purchase, request, block);
      g_autofree char *name = n == 0 ? NULL : block_name (purchase, block);

      if (n > 0)
        g_ptr_array_add (texts, g_strdup_printf ("%s x%u", name, n));
    }
  return texts->len == 0 ? NULL : g_steal_pointer (&texts);
}

/* The same for programs. */
static Table *
list_joined (const QuoitPurchase *purchase, uint32_t request)
{
  Table *joined = table_new (joined_columns, G_N_ELEMENTS (joined_columns));

  for (uint32_t block = 0; block < quoit_purchase_get_n_blocks (purchase); block++)
    {
      const uint32_t n = quoit_purchase_get_joined (purchase, request, block);

      if (n == 0)
        continue;
      table_add_text (joined, quoit_purchase_get_block_name (purchase, block));
      table_take_text (joined, quoit_purchase_dup_block_grid (purchase, block));
      table_add_number (joined, block_number (purchase, block, QUOIT_PURCHASE_BLOCK_NUMBER_CUBES));
      table_add_number (joined, n);
    }
  return joined;
}

/* --- why there is no purchase --- */

/* Whether cubes for blocks of this generation are for sale; for adjacent ones, new blocks with positions. */
static bool
has_cubes_for_sale (const QuoitPurchase *purchase, const char *accelerator, bool are_adjacent)
{
  for (uint32_t block = 0; block < quoit_purchase_get_n_blocks (purchase); block++)
    {
      g_autofree char *grid = quoit_purchase_dup_block_grid (purchase, block);

      if (quoit_purchase_get_block_price (purchase, block).e4 >= 0
          && g_str_equal (quoit_purchase_get_block_accelerator (purchase, block), accelerator)
          && (!are_adjacent || (grid != NULL && quoit_purchase_get_block_name (purchase, block) == NULL)))
        return true;
    }
  return false;
}

/* Whether the class is a single cube, which can also be bought for a block. */
static bool
is_cube (const QuoitPurchase *purchase, uint32_t class)
{
  g_autofree char *topology = quoit_purchase_dup_class_topology (purchase, class);

  return g_str_equal (topology, "4x4x4")
         && quoit_purchase_get_class_number (purchase, class, QUOIT_PURCHASE_NUMBER_CHIPS_PER_HOST) == 4;
}

/* Returns what a class of slices lacks in the price list, and how to state it; NULL: nothing. The caller owns it. */
static char *
describe_lack (const QuoitPurchase *purchase, uint32_t class)
{
  const char *accelerator = quoit_purchase_get_class_accelerator (purchase, class);
  const QuoitCubes cubes = quoit_purchase_get_class_cubes (purchase, class);
  const uint32_t limit = quoit_purchase_get_class_number (purchase, class, QUOIT_PURCHASE_NUMBER_LIMIT);
  const uint32_t shortfall = quoit_purchase_get_class_number (purchase, class, QUOIT_PURCHASE_NUMBER_SHORTFALL);

  if (shortfall == 0)
    return NULL;
  if (cubes != QUOIT_CUBES_NONE && has_cubes_for_sale (purchase, accelerator, cubes == QUOIT_CUBES_ADJACENT))
    return NULL;
  if (cubes == QUOIT_CUBES_ADJACENT)
    return g_strdup ("the list has no new block whose cubes have positions: add grid=AxBxC to a price of 4x4x4");
  if (cubes != QUOIT_CUBES_NONE)
    return g_strdup ("the list has no cubes of blocks: add block=NAME or cubes=N to a price of 4x4x4");
  if (quoit_purchase_get_class_price (purchase, class).e4 < 0)
    return is_cube (purchase, class) && has_cubes_for_sale (purchase, accelerator, false)
               ? NULL
               : g_strdup ("the list has no price for it");
  return limit >= shortfall ? NULL : g_strdup_printf ("its limit is %u", limit);
}

static GPtrArray *
list_lacks (const QuoitPurchase *purchase)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t class = 0; class < quoit_purchase_get_n_classes (purchase); class ++)
    {
      const char *cubes = cubes_word (quoit_purchase_get_class_cubes (purchase, class));
      g_autofree char *lack = describe_lack (purchase, class);
      g_autofree char *topology = quoit_purchase_dup_class_topology (purchase, class);

      if (lack != NULL)
        g_ptr_array_add (
            lines,
            g_strdup_printf ("%s %s%s%s, short of %u: %s", quoit_purchase_get_class_accelerator (purchase, class),
                             topology, cubes == NULL ? "" : " cubes=", cubes == NULL ? "" : cubes,
                             quoit_purchase_get_class_number (purchase, class, QUOIT_PURCHASE_NUMBER_SHORTFALL), lack));
    }
  if (lines->len == 0)
    g_ptr_array_add (lines, g_strdup ("the limits, or the blocks, are too small for all requests together"));
  return lines;
}

/* --- documents --- */

static Table *
list_requests (const QuoitPurchase *purchase)
{
  Table *requests = table_new (request_columns, G_N_ELEMENTS (request_columns));

  for (uint32_t i = 0; i < quoit_purchase_get_n_requests (purchase); i++)
    {
      GPtrArray *texts = list_block_texts (purchase, i);

      table_add_number (requests, quoit_purchase_get_alternative (purchase, i));
      if (texts == NULL)
        table_skip (requests);
      else
        table_take_list (requests, texts);
      table_take_text (requests, quoit_purchase_dup_request (purchase, i));
      table_take_table (requests, list_joined (purchase, i));
    }
  return requests;
}

Document *
purchase_describe (const QuoitPurchase *purchase)
{
  Table *classes = table_new (class_columns, G_N_ELEMENTS (class_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_purchase_get_n_classes (purchase); class ++)
    {
      add_class (classes, purchase, class);
      add_price (classes, purchase, class);
      add_cubes (classes, purchase, class);
    }
  document_take_facts (document, facts_of (purchase));
  document_take_csv_table (document, "classes", NULL, classes);
  if (quoit_purchase_get_n_blocks (purchase) > 0)
    document_take_table (document, "blocks", "blocks", list_blocks (purchase));
  if (is_found (purchase))
    document_take_table (document, "requests", "requests", list_requests (purchase));
  if (quoit_purchase_get_state (purchase) == QUOIT_PURCHASE_IMPOSSIBLE)
    document_take_lines (document, "lacks", "what the price list lacks", list_lacks (purchase));
  return document;
}

Document *
purchase_describe_shortfall (const QuoitPurchase *purchase)
{
  Table *classes = table_new (shortfall_columns, G_N_ELEMENTS (shortfall_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_purchase_get_n_classes (purchase); class ++)
    {
      add_class (classes, purchase, class);
      add_cubes (classes, purchase, class);
    }
  document_take_table (document, "classes", NULL, classes);
  return document;
}
