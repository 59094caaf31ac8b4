/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity-view.h"
#include "purchase-view.h"
#include "request.h"
#include "text.h"
#include "verbs.h"

/* What slots are counted under, in the order of QuoitSlotsIf. */
static const char *const assumptions[] = { "now", "undrained", "ended", "mended" };

/* The columns of the counts under the assumptions, behind a column for the shape. */
#define COUNT_COLUMNS                                                                                                  \
  { NULL, "NOW", CELL_TEXT }, { "now_least", NULL, CELL_NUMBER }, { "now_most", NULL, CELL_NUMBER },                   \
      { NULL, "UNDRAINED", CELL_TEXT }, { "undrained_least", NULL, CELL_NUMBER },                                      \
      { "undrained_most", NULL, CELL_NUMBER }, { NULL, "GROUPS ENDED", CELL_TEXT },                                    \
      { "ended_least", NULL, CELL_NUMBER }, { "ended_most", NULL, CELL_NUMBER }, { NULL, "MENDED", CELL_TEXT },        \
      { "mended_least", NULL, CELL_NUMBER },                                                                           \
  {                                                                                                                    \
    "mended_most", NULL, CELL_NUMBER                                                                                   \
  }

static const Column part_columns[] = { { "topology", "PART", CELL_TEXT }, COUNT_COLUMNS };
static const Column joined_columns[] = { { "topology", "JOINED", CELL_TEXT }, COUNT_COLUMNS };

typedef struct {
  char *accelerator, *topology, *cut, *cubes, *until, *certificate, *queue;
  gboolean wraps;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->accelerator);
  g_free (options->topology);
  g_free (options->cut);
  g_free (options->cubes);
  g_free (options->until);
  g_free (options->certificate);
  g_free (options->queue);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* --- parts, and joined slices --- */

static void
add_parts (Table *table, const QuoitSlots *slots, uint32_t row)
{
  table_take_text (table, quoit_slots_dup_topology (slots, row));
  for (guint i = 0; i < G_N_ELEMENTS (assumptions); i++)
    {
      uint32_t least = quoit_slots_get_least (slots, row, (QuoitSlotsIf) i);
      uint32_t most = quoit_slots_get_most (slots, row, (QuoitSlotsIf) i);

      table_take_text (table, least == most ? g_strdup_printf ("%u", least) : g_strdup_printf ("%u..%u", least, most));
      table_add_number (table, least);
      table_add_number (table, most);
    }
}

static Document *
describe_parts (const QuoitSlots *slots, bool are_joined)
{
  Table *table = table_new (are_joined ? joined_columns : part_columns, G_N_ELEMENTS (part_columns));
  Document *document = document_new ();

  for (uint32_t row = 0; row < quoit_slots_get_n_rows (slots); row++)
    add_parts (table, slots, row);
  document_take_table (document, are_joined ? "joined" : "parts", NULL, table);
  return document;
}

static bool
print_certificate (const QuoitSlots *slots, const char *assumption, bool are_joined, GError **error)
{
  guint number;

  if (!text_parse_word (assumption, "--certificate", assumptions, G_N_ELEMENTS (assumptions), &number, error))
    return false;
  for (uint32_t row = 0; row < quoit_slots_get_n_rows (slots); row++)
    {
      g_autofree char *topology = quoit_slots_dup_topology (slots, row);
      g_autofree char *certificate = quoit_slots_dup_certificate (slots, row, (QuoitSlotsIf) number);

      g_print ("%s %s\n%s", are_joined ? "joined" : "part", topology, certificate);
    }
  return true;
}

static QuoitSlots *
count (Session *session, const QuoitSnapshot *snapshot, const Options *options, GError **error)
{
  gint64 until_ms;
  QuoitCut cut = QUOIT_CUT_ANY;
  QuoitCubes cubes = QUOIT_CUBES_NONE;

  if (!request_parse_cut (options->cut, options->wraps, QUOIT_CUT_ANY, &cut, error)
      || (options->cubes != NULL && !request_parse_cubes (options->cubes, &cubes, error))
      || !session_now (session, &until_ms, error)
      || (options->until != NULL && !text_parse_time (options->until, "--until", &until_ms, error)))
    return NULL;
  return cubes == QUOIT_CUBES_NONE
             ? quoit_snapshot_count_slots (snapshot, options->accelerator, options->topology, cut, until_ms, 0, error)
             : quoit_snapshot_count_joined_slots (snapshot, options->accelerator, options->topology, cubes, until_ms,
                                                  error);
}

static bool
print_parts (Session *session, const QuoitSnapshot *snapshot, const Options *options, GError **error)
{
  const bool are_joined = options->cubes != NULL;
  g_autoptr (QuoitSlots) slots = count (session, snapshot, options, error);

  if (slots == NULL)
    return false;
  return options->certificate != NULL ? print_certificate (slots, options->certificate, are_joined, error)
                                      : session_print (session, describe_parts (slots, are_joined), error);
}

/* --- what a queue lacks --- */

static bool
print_shortfall (Session *session, const QuoitSnapshot *snapshot, const char *file, GError **error)
{
  g_autoptr (QuoitQueue) queue = purchase_load_queue (file, error);
  g_autoptr (QuoitPurchase) purchase = NULL;

  if (queue == NULL)
    return false;
  purchase = quoit_snapshot_plan_purchase (snapshot, queue, NULL, QUOIT_PURCHASE_FROM_FREE, 0, error);
  return purchase != NULL && session_print (session, purchase_describe_shortfall (purchase), error);
}

/* --- the verb --- */

static bool
check_options (const Options *options, GError **error)
{
  if (options->queue != NULL
      && (options->accelerator != NULL || options->topology != NULL || options->cut != NULL || options->cubes != NULL
          || options->until != NULL || options->certificate != NULL || options->wraps))
    return text_refuse_usage (error, "--for: expected no other option of parts");
  if (options->cubes != NULL && (options->cut != NULL || options->wraps))
    return text_refuse_usage (error, "--cubes: expected no --cut and no --wrap");
  if (options->accelerator != NULL
      || (options->topology == NULL && options->cut == NULL && options->cubes == NULL && options->until == NULL
          && options->certificate == NULL && !options->wraps))
    return true;
  return text_refuse_usage (error, "counting parts: expected --accelerator");
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "accelerator", 'a', 0, G_OPTION_ARG_STRING, &options.accelerator, "count parts of slices of this generation",
      "NAME" },
    { "topology", 't', 0, G_OPTION_ARG_STRING, &options.topology, "the shape of a part; otherwise every shape",
      "SHAPE" },
    { "cut", 0, 0, G_OPTION_ARG_STRING, &options.cut, "whole, aligned, any (default) or partition", "HOW" },
    { "cubes", 0, 0, G_OPTION_ARG_STRING, &options.cubes, "count slices joined from free cubes: any, or adjacent ones",
      "WHICH" },
    { "wrap", 0, 0, G_OPTION_ARG_NONE, &options.wraps, "parts may cross wraparound links", NULL },
    { "until", 0, 0, G_OPTION_ARG_STRING, &options.until, "when groups have ended, for GROUPS ENDED", "TIME" },
    { "certificate", 0, 0, G_OPTION_ARG_STRING, &options.certificate,
      "print the proof for: now, undrained, ended or mended", "IF" },
    { "for", 0, 0, G_OPTION_ARG_FILENAME, &options.queue, "what the requests of a file lack, by class", "QUEUE" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!session_parse (session, entries, error) || !check_options (&options, error) || !session_check (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  if (options.queue != NULL)
    return print_shortfall (session, snapshot, options.queue, error);
  return options.accelerator != NULL ? print_parts (session, snapshot, &options, error)
                                     : session_print (session, slots_document (snapshot), error);
}

const Verb verb_slots = {
  "slots",
  "",
  "count the slices of each class, or how many parts of them fit",
  "With --accelerator, counts how many parts of each shape fit at once; with --cubes, how many slices can\n"
  "be joined. A range such as 3..4 means that 3 fit, and that more than 4 are impossible. With --for, prints\n"
  "how many slices the requests of a queue lack. QUEUE has a request on each line, such as: v6e 4x4 x 2.",
  0,
  0,
  run,
};
