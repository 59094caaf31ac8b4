/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rows.h"
#include "text.h"

enum { DEFAULT_WAIT_MS = 5000, LONGEST_WAIT_MS = 86400000 };

static const char *
output_forms (const Verb *verb)
{
  return verb == NULL || verb_has_rows (verb) ? "table, json or csv (table)" : "table or json (table)";
}

/* FILENAME is GOption's word for bytes: STRING would refuse, in the C locale, a name that is not ASCII. */
GOptionEntry *
session_options (Session *session)
{
  const GOptionEntry options[] = {
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &session->db, "the database (else $QUOIT_DB, else ./quoit.db)", "FILE" },
    { "wait", 0, 0, G_OPTION_ARG_FILENAME, &session->wait, "how long to wait for other writers (5000)", "MS" },
    { "now", 0, 0, G_OPTION_ARG_FILENAME, &session->now, "ISO 8601 with offset, or milliseconds (else the clock)",
      "TIME" },
    { "at", 0, 0, G_OPTION_ARG_FILENAME, &session->at, "look at the past: the ledger after entry SEQ of the journal",
      "SEQ" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &session->output, output_forms (session->verb), "FORM" },
    G_OPTION_ENTRY_NULL,
  };

  return g_memdup2 (options, sizeof options);
}

static bool
refuse_usage (const Session *session, guint n_words, GError **error)
{
  if (n_words > session->verb->most)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unexpected argument '%s': expected the arguments: %s",
                   session->words[session->verb->most],
                   session->verb->parameters[0] == '\0' ? "none" : session->verb->parameters);
      return false;
    }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected the arguments: %s; see quoit %s --help",
               session->verb->parameters[0] == '\0' ? "none" : session->verb->parameters, session->verb->name);
  return false;
}

bool
session_parse (Session *session, const GOptionEntry *options, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (session->verb->parameters);
  g_autofree GOptionEntry *common = session_options (session);
  g_autofree char *program = g_strconcat ("quoit ", session->verb->name, NULL);
  guint n_words;

  g_set_prgname (program);
  g_option_context_set_summary (context, session->verb->summary);
  g_option_context_set_description (context, session->verb->details);
  if (options != NULL)
    g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  if (!g_option_context_parse_strv (context, &session->words, error))
    return false;

  /* Word 0 is the verb; "--" may be left behind it. */
  g_free (session->words[0]);
  n_words = g_strv_length (session->words + 1);
  memmove (session->words, session->words + 1, (n_words + 1) * sizeof (char *));
  for (guint i = 0; i < n_words; i++)
    if (g_str_equal (session->words[i], "--"))
      {
        g_free (session->words[i]);
        memmove (session->words + i, session->words + i + 1, (n_words - i) * sizeof (char *));
        n_words--;
        break;
      }
  return (n_words >= session->verb->least && n_words <= session->verb->most) || refuse_usage (session, n_words, error);
}

const char *
session_get_path (const Session *session)
{
  const char *environment = g_getenv ("QUOIT_DB");

  if (session->db != NULL)
    return session->db;
  return environment != NULL && environment[0] != '\0' ? environment : "quoit.db";
}

static bool
parse_wait (const Session *session, gint64 *wait_ms, GError **error)
{
  static const NumberRule rule = { "--wait", "0 to 86400000 milliseconds", 0, LONGEST_WAIT_MS };

  *wait_ms = DEFAULT_WAIT_MS;
  return session->wait == NULL || text_parse_number (session->wait, &rule, wait_ms, error);
}

/* Where csv was asked of a verb that has none, the message says which do. */
static void
refuse_output (const Session *session, const char *const *outputs, GError **error)
{
  bool has_rows = verb_has_rows (session->verb);
  g_autofree char *known = g_strjoinv (" or ", (char **) outputs);
  g_autofree char *names = format_verbs_with_rows ();
  g_autofree char *others = g_strconcat ("; csv is for the verbs that answer with rows: ", names, NULL);

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--output '%s': expected %s%s%s", session->output, known,
               has_rows ? " or csv" : "", session_wants_csv (session) ? others : "");
}

bool
session_check (const Session *session, const char *const *outputs, GError **error)
{
  gint64 number;

  if (!parse_wait (session, &number, error) || !session_now (session, &number, error))
    return false;
  if (session->output == NULL || g_strv_contains (outputs, session->output)
      || (session_wants_csv (session) && verb_has_rows (session->verb)))
    return true;

  refuse_output (session, outputs, error);
  return false;
}

/* For the journal: the name that one logged in by, whatever the environment says. */
static const char *
actor (void)
{
  const struct passwd *user = getpwuid (getuid ());

  return user != NULL ? user->pw_name : g_getenv ("USER");
}

static QuoitLedger *
set_actor (QuoitLedger *ledger)
{
  if (ledger != NULL)
    quoit_ledger_set_actor (ledger, actor ());
  return ledger;
}

bool
session_refuse_past (const Session *session, GError **error)
{
  if (session->at == NULL)
    return true;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "--at '%s': expected it with a verb that looks at the ledger; '%s' is about the present", session->at,
               session->verb->name);
  return false;
}

static QuoitLedger *
open_ledger (const Session *session, GError **error)
{
  gint64 wait_ms;

  return parse_wait (session, &wait_ms, error)
             ? set_actor (quoit_ledger_open (session_get_path (session), wait_ms, error))
             : NULL;
}

static uint64_t
get_last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

/* An answer that is lost is another thing when the ledger has changed. */
static QuoitLedger *
watch_ledger (Session *session, QuoitLedger *ledger)
{
  if (ledger == NULL)
    return NULL;
  g_clear_pointer (&session->ledger, quoit_ledger_unref);
  session->ledger = quoit_ledger_ref (ledger);
  session->seq_before = get_last_seq (ledger);
  return ledger;
}

void
session_note_written (Session *session)
{
  session->has_written = true;
}

static bool
has_changed (const Session *session)
{
  return session->has_written || (session->ledger != NULL && get_last_seq (session->ledger) != session->seq_before);
}

QuoitLedger *
session_open (Session *session, GError **error)
{
  return session_refuse_past (session, error) ? watch_ledger (session, open_ledger (session, error)) : NULL;
}

QuoitLedger *
session_create (Session *session, GError **error)
{
  gint64 wait_ms;
  QuoitLedger *ledger = session_refuse_past (session, error) && parse_wait (session, &wait_ms, error)
                            ? set_actor (quoit_ledger_create (session_get_path (session), wait_ms, error))
                            : NULL;

  session->has_written |= ledger != NULL;
  return ledger;
}

bool
session_restore (Session *session, const char *backup, gint64 now_ms, GError **error)
{
  gint64 wait_ms;

  if (!session_refuse_past (session, error) || !parse_wait (session, &wait_ms, error)
      || !quoit_ledger_restore (session_get_path (session), backup, wait_ms, actor (), now_ms, error))
    return false;
  session_note_written (session);
  return true;
}

QuoitSnapshot *
session_snapshot (Session *session, GError **error)
{
  static const NumberRule rule = { "--at", "a sequence number from 0", 0, G_MAXINT64 };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  gint64 seq, now_ms;

  if (session->at != NULL && !text_parse_number (session->at, &rule, &seq, error))
    return NULL;
  ledger = open_ledger (session, error);
  if (ledger == NULL)
    return NULL;
  if (session->at != NULL)
    return quoit_ledger_snapshot_at (ledger, (uint64_t) seq, error);
  snapshot = quoit_ledger_snapshot (ledger);
  return session_now (session, &now_ms, error) ? quoit_snapshot_as_of (snapshot, now_ms, error) : NULL;
}

bool
session_now (const Session *session, gint64 *now_ms, GError **error)
{
  *now_ms = g_get_real_time () / 1000;
  return session->now == NULL || text_parse_time (session->now, "--now", now_ms, error);
}

bool
session_wants_json (const Session *session)
{
  return session->output != NULL && g_str_equal (session->output, "json");
}

bool
session_wants_csv (const Session *session)
{
  return session->output != NULL && g_str_equal (session->output, "csv");
}

bool
session_asked_for_json (char **argv)
{
  for (char **word = argv + 1; *word != NULL && !g_str_equal (*word, "--"); word++)
    if (g_str_equal (*word, "--output=json")
        || ((g_str_equal (*word, "-o") || g_str_equal (*word, "--output")) && g_strcmp0 (word[1], "json") == 0))
      return true;
  return false;
}

bool
session_write (Session *session, const char *text, GError **error)
{
  const char *why;

  session->has_answered = true;
  if (fputs (text, stdout) != EOF && fflush (stdout) != EOF)
    return true;

  why = g_strerror (errno);
  if (has_changed (session))
    g_set_error (
        error, QUOIT_ERROR, QUOIT_ERROR_UNCONFIRMED,
        "standard output: %s: the change is written, but its answer is lost: look, or retry with the same --key", why);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_STORE, "standard output: %s", why);
  return false;
}

bool
session_print (Session *session, Document *document, GError **error)
{
  g_autofree char *text = session_wants_json (session)  ? document_format_json (document)
                          : session_wants_csv (session) ? document_format_csv (document)
                                                        : document_format_text (document);

  document_free (document);
  if (text == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_FAILED, "--output 'csv': the answer of '%s' has no rows",
                   session->verb->name);
      return false;
    }
  return session_write (session, text, error);
}
