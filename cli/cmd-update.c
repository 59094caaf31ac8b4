/* SPDX-License-Identifier: Apache-2.0 */
#include "group-names.h"
#include "group-view.h"
#include "request.h"
#include "text.h"
#include "verbs.h"

/* The new facts of a group. */
typedef struct {
  bool has_end, has_priority;
  gint64 end_ms; /* 0: unknown */
  int32_t priority;
  GPtrArray *label_keys;   /* owned */
  GPtrArray *label_values; /* texts of the options; NULL: remove the label */
} Update;

static void
update_clear (Update *update)
{
  g_ptr_array_unref (update->label_keys);
  g_ptr_array_unref (update->label_values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Update, update_clear)

/* The options as given; NULL: not given. */
typedef struct {
  char *expected, *priority;
  char **labels, **removed_labels;
} UpdateOptions;

static void
update_options_clear (UpdateOptions *options)
{
  g_free (options->expected);
  g_free (options->priority);
  g_strfreev (options->labels);
  g_strfreev (options->removed_labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (UpdateOptions, update_options_clear)

static bool
parse_labels (const UpdateOptions *options, Update *update, GError **error)
{
  for (guint i = 0; options->labels != NULL && options->labels[i] != NULL; i++)
    {
      const char *value;
      char *key;

      if (!request_parse_label (options->labels[i], &key, &value, error))
        return false;
      g_ptr_array_add (update->label_keys, key);
      g_ptr_array_add (update->label_values, (char *) value);
    }
  for (guint i = 0; options->removed_labels != NULL && options->removed_labels[i] != NULL; i++)
    {
      g_ptr_array_add (update->label_keys, g_strdup (options->removed_labels[i]));
      g_ptr_array_add (update->label_values, NULL);
    }
  return true;
}

static bool
parse_update (const UpdateOptions *options, gint64 now_ms, Update *update, GError **error)
{
  const char *expected = options->expected, *priority = options->priority;
  gint64 runtime_ms = 0;

  if (!parse_labels (options, update, error))
    return false;
  if (expected == NULL && priority == NULL && update->label_keys->len == 0)
    {
      g_set_error_literal (
          error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
          "expected --expect TIME, --priority N, --label KEY=VALUE or --remove-label KEY: for example --expect 2h");
      return false;
    }
  if (expected != NULL && strcmp (expected, "none") != 0
      && !text_parse_duration (expected, "--expect", &runtime_ms, error))
    return false;
  if (priority != NULL && !request_parse_priority (priority, &update->priority, error))
    return false;
  update->has_end = expected != NULL;
  update->has_priority = priority != NULL;
  update->end_ms = runtime_ms == 0 ? 0 : runtime_ms > G_MAXINT64 - now_ms ? G_MAXINT64 : now_ms + runtime_ms;
  return true;
}

/* Makes all changes in one batch: the group gets all or none. */
static QuoitGroup *
update_group (QuoitLedger *ledger, const char *name, const Update *update, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitGroup) group = NULL;
  bool done = true;

  if (!quoit_ledger_begin_batch (ledger, error))
    return NULL;
  if (update->has_end)
    {
      group = quoit_ledger_set_expected_end (ledger, name, update->end_ms, now_ms, error);
      done = group != NULL;
    }
  if (done && update->has_priority)
    {
      g_clear_pointer (&group, quoit_group_unref);
      group = quoit_ledger_set_priority (ledger, name, update->priority, now_ms, error);
      done = group != NULL;
    }
  if (done && update->label_keys->len > 0)
    {
      g_clear_pointer (&group, quoit_group_unref);
      group = quoit_ledger_set_labels (ledger, name, (const char *const *) update->label_keys->pdata,
                                       (const char *const *) update->label_values->pdata, update->label_keys->len,
                                       now_ms, error);
      done = group != NULL;
    }
  if (!done)
    {
      quoit_ledger_cancel_batch (ledger);
      return NULL;
    }
  return quoit_ledger_commit_batch (ledger, error) ? g_steal_pointer (&group) : NULL;
}

static bool
run (Session *session, GError **error)
{
  g_auto (UpdateOptions) options = { 0 };
  const GOptionEntry entries[] = {
    { "expect", 0, 0, G_OPTION_ARG_FILENAME, &options.expected,
      "how long the job is expected to run from now on, for example 2h; none: unknown", "TIME" },
    { "priority", 0, 0, G_OPTION_ARG_FILENAME, &options.priority,
      "the new priority; a greater number is more important", "N" },
    { "label", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.labels, "set a label; repeat the option for several",
      "KEY=VALUE" },
    { "remove-label", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.removed_labels,
      "remove a label; repeat the option for several", "KEY" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  g_auto (Update) update
      = { .label_keys = g_ptr_array_new_with_free_func (g_free), .label_values = g_ptr_array_new () };
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error) || !parse_update (&options, now_ms, &update, error))
    return false;
  ledger = group_names_open (session, error);
  group = ledger == NULL ? NULL : update_group (ledger, session->words[0], &update, now_ms, error);
  if (group == NULL)
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  document = document_new ();
  describe_group (document, snapshot, group);
  return session_print (session, document, error);
}

const Verb verb_update = {
  "update",
  "NAME[@ID]",
  "change the expected end, the priority or the labels of a group",
  "The group keeps its slices and its lease. An expected end ends nothing: `quoit when` uses it.",
  1,
  1,
  run,
};
