/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "quota", "QUOTA", CELL_TEXT },
  { NULL, "FOR", CELL_TEXT },
  { "owner", NULL, CELL_TEXT },
  { "label", NULL, CELL_MAP },
  { "accelerator", "ACCELERATOR", RANKED (2, CELL_TEXT) },
  { "topology", "TOPOLOGY", RANKED (2, CELL_TEXT) },
  { "used", "USED", CELL_AMOUNT },
  { "nominal", "NOMINAL", CELL_NUMBER },
  { "borrowed", "BORROWED", RANKED (1, CELL_AMOUNT) },
  { "max", "MAX", CELL_NUMBER },
  { "cohort", "COHORT", RANKED (1, CELL_TEXT) },
};

/* "owner ana" or "label team=nlp". */
static char *
describe_target (const char *label, const char *value)
{
  return label == NULL ? g_strconcat ("owner ", value, NULL) : g_strconcat ("label ", label, "=", value, NULL);
}

static GPtrArray *
label_list (const char *label, const char *value)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (list, g_strdup (label));
  g_ptr_array_add (list, g_strdup (value));
  return list;
}

static void
add_quota (Table *quotas, const QuoitSnapshot *snapshot, uint32_t i)
{
  const char *label = quoit_snapshot_get_quota_label (snapshot, i);
  const char *value = quoit_snapshot_get_quota_value (snapshot, i);
  const gint64 max_chips = quoit_snapshot_get_quota_max_chips (snapshot, i);

  table_add_text (quotas, quoit_snapshot_get_quota_name (snapshot, i));
  table_take_text (quotas, describe_target (label, value));
  table_add_text (quotas, label == NULL ? value : NULL);
  if (label == NULL)
    table_skip (quotas);
  else
    table_take_list (quotas, label_list (label, value));
  table_add_text (quotas, quoit_snapshot_get_quota_accelerator (snapshot, i));
  table_add_text (quotas, quoit_snapshot_get_quota_topology (snapshot, i));
  table_take_text (quotas, quoit_amount_format (quoit_snapshot_get_quota_used (snapshot, i)));
  table_add_number (quotas, quoit_snapshot_get_quota_nominal_chips (snapshot, i));
  table_take_text (quotas, quoit_amount_format (quoit_snapshot_get_quota_borrowed (snapshot, i)));
  if (max_chips < 0)
    table_skip (quotas);
  else
    table_add_number (quotas, max_chips);
  table_add_text (quotas, quoit_snapshot_get_quota_cohort (snapshot, i));
}

/* @only: the name of the only quota to print; NULL: all. */
static bool
print_quotas (Session *session, const QuoitSnapshot *snapshot, const char *only, GError **error)
{
  Table *quotas = table_new (columns, G_N_ELEMENTS (columns));
  Document *document = document_new ();

  for (uint32_t i = 0; i < quoit_snapshot_get_n_quotas (snapshot); i++)
    if (only == NULL || g_str_equal (quoit_snapshot_get_quota_name (snapshot, i), only))
      add_quota (quotas, snapshot, i);
  document_take_table (document, "quotas", NULL, quotas);
  return session_print (session, document, error);
}

static bool
list (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);

  return snapshot != NULL && print_quotas (session, snapshot, NULL, error);
}

/* The values of the options; NULL: not given. */
typedef struct {
  char *owner, *label, *accelerator, *topology, *chips, *max, *cohort;
} QuotaOptions;

static void
options_clear (QuotaOptions *options)
{
  g_free (options->owner);
  g_free (options->label);
  g_free (options->accelerator);
  g_free (options->topology);
  g_free (options->chips);
  g_free (options->max);
  g_free (options->cohort);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuotaOptions, options_clear)

static const Column removal_columns[] = { { "removed", "removed", CELL_TEXT } };

static bool
remove_quota (Session *session, QuoitLedger *ledger, const char *name, gint64 now_ms, GError **error)
{
  Document *document;
  Table *facts;

  if (!quoit_ledger_remove_quota (ledger, name, now_ms, error))
    return false;
  document = document_new ();
  facts = table_new (removal_columns, G_N_ELEMENTS (removal_columns));
  table_add_text (facts, name);
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

static bool
set_quota (Session *session, QuoitLedger *ledger, const char *name, const QuotaOptions *options, gint64 now_ms,
           GError **error)
{
  static const NumberRule chips_rule = { "--chips", "0 to 1000000000 chips", G_MININT64, G_MAXINT64 };
  static const NumberRule max_rule = { "--max", "0 to 1000000000 chips", 0, G_MAXINT64 };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *key = NULL;
  const char *value = options->owner;
  gint64 chips, max = -1;

  if (!text_parse_number (options->chips, &chips_rule, &chips, error)
      || (options->max != NULL && !text_parse_number (options->max, &max_rule, &max, error))
      || (options->label != NULL && !request_parse_label (options->label, &key, &value, error))
      || !quoit_ledger_set_quota (ledger, name, key, value, options->accelerator, options->topology, chips, max,
                                  options->cohort, now_ms, error))
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  return print_quotas (session, snapshot, name, error);
}

static bool
change (Session *session, const QuotaOptions *options, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  gint64 now_ms;

  if (!session_now (session, &now_ms, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;
  return g_str_equal (session->words[0], "set") ? set_quota (session, ledger, session->words[1], options, now_ms, error)
                                                : remove_quota (session, ledger, session->words[1], now_ms, error);
}

static bool
check_usage (const Session *session, const QuotaOptions *options, GError **error)
{
  static const char *const actions[] = { "set", "remove", NULL };
  const char *action = session->words[0];
  bool has_options = options->owner != NULL || options->label != NULL || options->accelerator != NULL
                     || options->topology != NULL || options->chips != NULL || options->max != NULL
                     || options->cohort != NULL;

  if (action != NULL && !g_strv_contains (actions, action))
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected set, remove or no argument", action);
  else if (action != NULL && session->words[1] == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires the NAME of the quota", action);
  else if (action != NULL && session->at != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--at '%s': %s changes the present state of the ledger",
                 session->at, action);
  else if (has_options && (action == NULL || g_str_equal (action, "remove")))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "the options of a quota require set");
  else if (action != NULL && g_str_equal (action, "set") && (options->owner == NULL) == (options->label == NULL))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "set requires either --owner NAME or --label KEY=VALUE");
  else if (action != NULL && g_str_equal (action, "set") && options->chips == NULL)
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "set requires --chips N");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_auto (QuotaOptions) options = { 0 };
  const GOptionEntry entries[] = {
    { "owner", 0, 0, G_OPTION_ARG_FILENAME, &options.owner, "the quota is for the groups of this owner", "NAME" },
    { "label", 0, 0, G_OPTION_ARG_FILENAME, &options.label, "the quota is for the groups with this label",
      "KEY=VALUE" },
    { "accelerator", 0, 0, G_OPTION_ARG_FILENAME, &options.accelerator, "count only chips of this TPU generation",
      "GEN" },
    { "topology", 0, 0, G_OPTION_ARG_FILENAME, &options.topology, "count only chips of slices of this topology",
      "SHAPE" },
    { "chips", 0, 0, G_OPTION_ARG_FILENAME, &options.chips, "required with set: the nominal chips", "N" },
    { "max", 0, 0, G_OPTION_ARG_FILENAME, &options.max, "the most chips, with borrowed ones", "N" },
    { "cohort", 0, 0, G_OPTION_ARG_FILENAME, &options.cohort, "lend to and borrow from the quotas of this cohort",
      "NAME" },
    G_OPTION_ENTRY_NULL,
  };

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !check_usage (session, &options, error))
    return false;
  return session->words[0] == NULL ? list (session, error) : change (session, &options, error);
}

const Verb verb_quota = {
  "quota",
  "[set|remove NAME]",
  "list, set or remove the quotas of owners and labels",
  "Without arguments, lists the quotas with the chips in use. set sets a quota, or replaces it; remove removes it.\n"
  "Groups keep what they have; a quota limits new groups, and groups that grow.",
  0,
  2,
  run,
};
