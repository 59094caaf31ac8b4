/* SPDX-License-Identifier: Apache-2.0 */
#include "purchase-view.h"
#include "text.h"
#include "verbs.h"

typedef struct {
  char *queue, *prices;
  gboolean from_nothing;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->queue);
  g_free (options->prices);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static bool
check_options (const Options *options, GError **error)
{
  if (options->queue == NULL || options->prices == NULL)
    return text_refuse_usage (error, "expected --for QUEUE and --price FILE");
  if (g_str_equal (options->queue, "-") && g_str_equal (options->prices, "-"))
    return text_refuse_usage (error, "--for - --price -: expected at most one file on standard input");
  return true;
}

static bool
plan (Session *session, const QuoitSnapshot *snapshot, const Options *options, GError **error)
{
  g_autoptr (QuoitQueue) queue = purchase_load_queue (options->queue, error);
  g_autoptr (QuoitPriceList) prices = queue == NULL ? NULL : purchase_load_prices (options->prices, error);
  g_autoptr (QuoitPurchase) purchase = NULL;

  if (prices == NULL)
    return false;
  purchase = quoit_snapshot_plan_purchase (
      snapshot, queue, prices, options->from_nothing ? QUOIT_PURCHASE_FROM_NOTHING : QUOIT_PURCHASE_FROM_FREE, 0,
      error);
  if (purchase == NULL)
    {
      /* A block of the price list is not in the fleet. */
      purchase_add_file_name (options->prices, error);
      return false;
    }
  if (quoit_purchase_get_state (purchase) == QUOIT_PURCHASE_IMPOSSIBLE)
    session->exit_status = QUOIT_ERROR_NEVER;
  if (quoit_purchase_get_state (purchase) == QUOIT_PURCHASE_UNKNOWN)
    session->exit_status = QUOIT_ERROR_NOT_NOW;
  return session_print (session, purchase_describe (purchase), error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "for", 0, 0, G_OPTION_ARG_FILENAME, &options.queue, "the requests to grant, one on each line", "QUEUE" },
    { "price", 0, 0, G_OPTION_ARG_FILENAME, &options.prices, "the prices of slices, one on each line", "FILE" },
    { "from-nothing", 0, 0, G_OPTION_ARG_NONE, &options.from_nothing, "free slices of the ledger do not count", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!session_parse (session, entries, error) || !check_options (&options, error) || !session_check (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  return snapshot != NULL && plan (session, snapshot, &options, error);
}

const Verb verb_plan = {
  "plan",
  "",
  "find the cheapest slices to buy so that a queue of requests is granted",
  "QUEUE has a request on each line, such as: v6e 4x4 x 2. FILE has a price on each line, such as:\n"
  "v6e 4x4 10.75/hour limit=8. For joined slices (v5p 4x4x8 x 1 cubes=any), cubes of blocks have prices:\n"
  "v5p 4x4x4 9/hour block=NAME is one cube for a block of the fleet, v5p 4x4x4 500/hour cubes=64 a new block.\n"
  "Nothing is reserved.",
  0,
  0,
  run,
};
