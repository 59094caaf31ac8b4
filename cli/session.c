/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "help-text.h"
#include "nearest.h"
#include "progress.h"
#include "text.h"
#include "verbs.h"

enum { DEFAULT_WAIT_MS = 5000, MAX_WAIT_MS = 86400000, DEFAULT_WIDTH = 80 };

/* 2026-11-01. A system clock with an earlier time was never set; --now is then compared with this time instead. */
#define EARLIEST_CLOCK_MS G_GINT64_CONSTANT (1793491200000)

/* Describes the values of -o that @verb accepts, or, if @verb is NULL, the values that several verbs accept. The text
 * is interned because GOption keeps a pointer to it. */
static const char *
describe_outputs (const Verb *verb)
{
  g_autofree char *outputs
      = verb == NULL ? g_strdup ("table, wide, json or csv") : format_outputs (verb_outputs (verb));
  g_autofree char *description = g_strdup_printf ("%s (%s)", outputs, verb == NULL ? "table" : verb_outputs (verb)[0]);

  return g_intern_string (description);
}

/* Options have the type FILENAME, which accepts any bytes. In the C locale, GOption refuses a STRING that is not
 * ASCII. --at is parsed for every verb, because it can also be given before the verb; session_check() refuses it if the
 * verb does not accept it. */
GOptionEntry *
session_options (Session *session)
{
  const int at_flags = session->verb == NULL || verb_has_past (session->verb) ? 0 : G_OPTION_FLAG_HIDDEN;
  const GOptionEntry options[] = {
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &session->db, "the database ($QUOIT_DB, or ./quoit.db)", "FILE" },
    { "wait", 0, 0, G_OPTION_ARG_FILENAME, &session->wait, "how long to wait for other writers (5000)", "MS" },
    { "now", 0, 0, G_OPTION_ARG_FILENAME, &session->now,
      "the time: ISO 8601 with offset, or milliseconds since 1970 (the system clock)", "TIME" },
    { "at", 0, at_flags, G_OPTION_ARG_FILENAME, &session->at,
      "use the past state of the ledger, directly after entry SEQ of the journal", "SEQ" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &session->output, describe_outputs (session->verb), "FORM" },
    { "color", 0, 0, G_OPTION_ARG_FILENAME, &session->color, "colours: auto (on a terminal), always or never", "WHEN" },
    G_OPTION_ENTRY_NULL,
  };

  return g_memdup2 (options, sizeof options);
}

static bool
refuse_arguments (const Session *session, guint n_words, GError **error)
{
  const Verb *verb = session->verb;

  if (n_words > verb->max_arguments)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unexpected argument '%s': expected %s%s; see quoit %s --help",
                 session->words[verb->max_arguments],
                 verb->parameters[0] == '\0' ? "no argument" : "the arguments: ", verb->parameters, verb->name);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected the arguments: %s; see quoit %s --help",
                 verb->parameters, verb->name);
  return false;
}

static void
offer_options (Nearest *nearest, const GOptionEntry *options)
{
  for (; options != NULL && options->long_name != NULL; options++)
    if ((options->flags & G_OPTION_FLAG_HIDDEN) == 0)
      nearest_offer (nearest, options->long_name);
}

/* Returns the nearest option, as a question, or an empty text. g_free() it. */
static char *
format_question (const char *typed, const GOptionEntry *options, const GOptionEntry *common)
{
  g_autofree char *name = g_strndup (typed, strcspn (typed, "="));
  g_auto (Nearest) nearest = nearest_begin (name);

  offer_options (&nearest, options);
  offer_options (&nearest, common);
  return nearest_format_question (&nearest, "--");
}

/* Returns the first word that GOption has left although it looks like an option; NULL: there is none. In strict POSIX
 * mode, the words from the first argument on are not parsed. */
static const char *
find_unknown_option (GOptionContext *context, char *const *words)
{
  for (words++; *words != NULL && !g_str_equal (*words, "--"); words++)
    if ((*words)[0] == '-' && (*words)[1] != '\0')
      return *words;
    else if (g_option_context_get_strict_posix (context))
      return NULL;
  return NULL;
}

/* The message has the nearest option, or the command that lists the options. */
static bool
refuse_unknown_option (const char *word, const GOptionEntry *options, const GOptionEntry *common, const Verb *verb,
                       GError **error)
{
  g_autofree char *question
      = g_str_has_prefix (word, "--") ? format_question (word + 2, options, common) : g_strdup ("");

  if (question[0] != '\0')
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unknown option '%s'%s", word, question);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unknown option '%s'; see quoit %s%s--help", word,
                 verb == NULL ? "" : verb->name, verb == NULL ? "" : " ");
  return false;
}

static void
note_options (GPtrArray *seen, const GOptionEntry *options)
{
  for (; options != NULL && options->long_name != NULL; options++)
    if ((options->flags & G_OPTION_FLAG_HIDDEN) == 0)
      g_ptr_array_add (seen, g_memdup2 (options, sizeof *options));
}

/* Returns the width of the terminal, or $COLUMNS; 0: neither is known. */
static guint
find_width (void)
{
  enum { MIN_WIDTH = 20, MAX_WIDTH = 100000 };
  const char *columns = g_getenv ("COLUMNS");
  struct winsize size;
  guint64 width;

  if (columns != NULL && g_ascii_string_to_unsigned (columns, 10, MIN_WIDTH, MAX_WIDTH, &width, NULL))
    return (guint) width;
  return ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= MIN_WIDTH ? size.ws_col : 0;
}

bool
session_parse_context (GOptionContext *context, const Verb *verb, char ***words, const GOptionEntry *options,
                       const GOptionEntry *common, GError **error)
{
  const guint width = find_width ();
  g_autoptr (GError) why = NULL;
  gboolean is_parsed;

  if (options != NULL)
    g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  /* GOption's own error has the unknown option only in its message. */
  g_option_context_set_ignore_unknown_options (context, TRUE);
  help_text_set_width (width == 0 ? DEFAULT_WIDTH : width);
  is_parsed = g_option_context_parse_strv (context, words, &why);
  help_text_set_width (0);
  if (is_parsed)
    {
      const char *unknown = find_unknown_option (context, *words);

      return unknown == NULL || refuse_unknown_option (unknown, options, common, verb, error);
    }
  /* GOption's messages begin with a capital letter, quoit's do not. */
  if (why->domain == G_OPTION_ERROR)
    why->message[0] = g_ascii_tolower (why->message[0]);
  g_propagate_error (error, g_steal_pointer (&why));
  return false;
}

/* Parses session->words with the options of @context. Afterwards it has only the arguments. */
static bool
parse_words (Session *session, GOptionContext *context, const GOptionEntry *options, GError **error)
{
  g_autofree GOptionEntry *common = session_options (session);
  guint n_words;

  if (session->seen_options != NULL)
    {
      note_options (session->seen_options, options);
      note_options (session->seen_options, common);
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CANCELLED, "only the options are wanted");
      return false;
    }
  if (!session_parse_context (context, session->verb, &session->words, options, common, error))
    return false;

  /* Removes word 0, the verb, and the first "--", which GOption leaves in place. */
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
  return (n_words >= session->verb->min_arguments && n_words <= session->verb->max_arguments)
         || refuse_arguments (session, n_words, error);
}

bool
session_parse (Session *session, const GOptionEntry *options, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (session->verb->parameters);
  g_autofree char *program = g_strconcat ("quoit ", session->verb->name, NULL);

  g_set_prgname (program);
  g_option_context_set_summary (context, session->verb->summary);
  g_option_context_set_description (context, session->verb->details);
  return parse_words (session, context, options, error);
}

bool
session_parse_line (Session *session, const GOptionEntry *options, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) why = NULL;

  g_option_context_set_help_enabled (context, FALSE);
  if (!parse_words (session, context, options, &why))
    {
      g_set_error_literal (error, QUOIT_ERROR, why->domain == QUOIT_ERROR ? why->code : QUOIT_ERROR_USAGE,
                           why->message);
      return false;
    }
  if (session->db == NULL && session->wait == NULL && session->now == NULL && session->at == NULL
      && session->output == NULL && session->color == NULL)
    return true;
  return text_refuse_usage (error,
                            "--db, --wait, --now, --at, --output and --color belong to the command, not to a line");
}

bool
session_parse_part (Session *session, char ***words, const GOptionEntry *options, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autofree GOptionEntry *common = session_options (session);
  g_auto (GStrv) program = g_new0 (char *, g_strv_length (*words) + 2);
  bool is_parsed;

  /* GOption takes the first word for the name of the program. */
  program[0] = g_strdup (session->verb->name);
  memcpy (program + 1, *words, g_strv_length (*words) * sizeof (char *));
  g_free (*words);
  *words = NULL;
  g_option_context_set_help_enabled (context, FALSE);
  is_parsed = session_parse_context (context, session->verb, &program, options, common, error);
  if (!is_parsed || program[1] == NULL)
    return is_parsed;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unexpected argument '%s': expected options", program[1]);
  return false;
}

const char *
session_get_path (const Session *session)
{
  const char *environment = g_getenv ("QUOIT_DB");

  if (session->db != NULL)
    return session->db;
  return environment != NULL && environment[0] != '\0' ? environment : "quoit.db";
}

char *
session_dup_shown_path (const char *path)
{
  const char *place, *at, *fleet = strrchr (path, '#');
  g_autofree char *host = NULL;

  if (!g_str_has_prefix (path, "postgresql://") && !g_str_has_prefix (path, "postgres://"))
    return g_strdup (path);
  /* A password can have a '?' or a '#' in it, so the user ends at the last '@'. */
  place = strstr (path, "://") + 3;
  at = strrchr (place, '@');
  place = at == NULL ? place : at + 1;
  host = g_strndup (place, strcspn (place, "?#"));
  return g_strdup_printf ("postgresql://%s%s", host, fleet == NULL ? "" : fleet);
}

static bool
parse_wait (const Session *session, gint64 *wait_ms, GError **error)
{
  static const NumberRule rule = { "--wait", "0 to 86400000 milliseconds", 0, MAX_WAIT_MS };

  *wait_ms = DEFAULT_WAIT_MS;
  return session->wait == NULL || text_parse_number (session->wait, &rule, wait_ms, error);
}

/* If the user requested csv from a verb without rows, the message lists the verbs that have it. */
static void
refuse_output (const Session *session, const char *const *outputs, GError **error)
{
  g_autofree char *known = format_outputs (outputs), *names = format_verbs_with_rows ();
  g_autofree char *others = g_strconcat ("; csv is for the verbs that answer with rows: ", names, NULL);

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--output '%s': expected %s%s", session->output, known,
               session_wants_csv (session) ? others : "");
}

static bool
check_output (const Session *session, GError **error)
{
  const char *const *outputs = verb_outputs (session->verb);

  if (session->output == NULL || g_strv_contains (outputs, session->output))
    return true;
  refuse_output (session, outputs, error);
  return false;
}

static bool
check_color (const Session *session, GError **error)
{
  static const char *const words[] = { "auto", "always", "never" };
  guint word;

  return session->color == NULL
         || text_parse_word (session->color, "--color", words, G_N_ELEMENTS (words), &word, error);
}

static bool
check_past (const Session *session, GError **error)
{
  if (session->at == NULL || verb_has_past (session->verb))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--at '%s': '%s' uses only the present state of the ledger",
               session->at, session->verb->name);
  return false;
}

bool
session_check (const Session *session, GError **error)
{
  gint64 number;

  return parse_wait (session, &number, error) && session_now (session, &number, error) && check_past (session, error)
         && check_output (session, error) && check_color (session, error);
}

/* Returns the actor for the journal: the name of the user, independent of the environment if possible. */
static const char *
get_actor (void)
{
  const struct passwd *user = getpwuid (getuid ());

  return user != NULL ? user->pw_name : g_getenv ("USER");
}

static QuoitLedger *
set_actor (QuoitLedger *ledger)
{
  if (ledger != NULL)
    quoit_ledger_set_actor (ledger, get_actor ());
  return ledger;
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

/* Remembers the last entry, so that a failure of stdout can report whether the verb has changed the ledger. */
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
  return session->has_written
         || (!session->only_reads && session->ledger != NULL && get_last_seq (session->ledger) != session->seq_before);
}

bool
session_check_first_time (const Session *session, gint64 limit_ms, GError **error)
{
  gint64 now_ms, clock_ms = MAX (g_get_real_time () / 1000, EARLIEST_CLOCK_MS);
  g_autofree char *clock = text_format_time (clock_ms);

  if (!session_now (session, &now_ms, error))
    return false;
  if (now_ms <= clock_ms || now_ms - clock_ms <= limit_ms)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "--now '%s': %" G_GINT64_FORMAT
               " s ahead of the system clock (%s), and the first change sets the ledger's "
               "clock: check --now; if it is right, set the ledger's clock first ('quoit set-clock TIME')",
               session->now, (now_ms - clock_ms) / 1000, clock);
  return false;
}

/* The first change sets the clock of a ledger, so that the ledger cannot check the time of that change. "set-clock
 * TIME" states the time explicitly. */
static bool
check_first_change (const Session *session, QuoitLedger *ledger, GError **error)
{
  bool is_explicit = session->verb == &verb_set_clock && session->words[0] != NULL;
  g_autoptr (QuoitSnapshot) snapshot = session->now == NULL || is_explicit ? NULL : quoit_ledger_snapshot (ledger);

  return snapshot == NULL || quoit_snapshot_get_clock_ms (snapshot) != 0
         || session_check_first_time (session, MAX_FIRST_JUMP_MS, error);
}

QuoitLedger *
session_open (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = open_ledger (session, error);

  return ledger != NULL && check_first_change (session, ledger, error)
             ? watch_ledger (session, g_steal_pointer (&ledger))
             : NULL;
}

QuoitLedger *
session_create (Session *session, GError **error)
{
  gint64 wait_ms;
  QuoitLedger *ledger = parse_wait (session, &wait_ms, error)
                            ? set_actor (quoit_ledger_create (session_get_path (session), wait_ms, error))
                            : NULL;

  session->has_written |= ledger != NULL;
  return ledger;
}

bool
session_restore (Session *session, const char *backup, gint64 now_ms, GError **error)
{
  gint64 wait_ms;

  if (!parse_wait (session, &wait_ms, error)
      || !quoit_ledger_restore (session_get_path (session), backup, wait_ms, get_actor (), now_ms, error))
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

void
session_ignore_sigpipe (Session *session)
{
  struct sigaction before;

  if (sigaction (SIGPIPE, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
    return;
  session->ignores_sigpipe = signal (SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* Ends the process like the signal would have done. */
static void
die_by_sigpipe (void)
{
  signal (SIGPIPE, SIG_DFL);
  raise (SIGPIPE);
}

bool
session_write (Session *session, const char *text, GError **error)
{
  int number;

  progress_end ();
  session->has_answered = true;
  if (fputs (text, stdout) != EOF && fflush (stdout) != EOF)
    return true;

  number = errno;
  if (has_changed (session))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_UNCONFIRMED,
                   "standard output: %s: the change is written, but its answer is lost: %s", g_strerror (number),
                   verb_lost_answer_advice (session->verb));
      return false;
    }
  /* Without @error, the failure of the verb was reported already, and decides the exit status. */
  if (number == EPIPE && session->ignores_sigpipe && error != NULL)
    die_by_sigpipe ();
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_STORE, "standard output: %s", g_strerror (number));
  return false;
}

/* See https://no-color.org. */
bool
session_wants_colors (const Session *session)
{
  const char *no_color = g_getenv ("NO_COLOR");

  if (session->color != NULL && !g_str_equal (session->color, "auto"))
    return g_str_equal (session->color, "always");
  return (no_color == NULL || no_color[0] == '\0') && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0
         && isatty (STDOUT_FILENO) == 1;
}

/* Lines fit a terminal. Elsewhere, they have the columns that fit 80 characters, so that equal answers are equal texts,
 * and a row is one line, which grep can find. */
static TextForm
get_text_form (const Session *session)
{
  const bool has_colors = session_wants_colors (session);
  const guint width = find_width ();

  if (g_strcmp0 (session->output, "wide") == 0)
    return (TextForm) { .has_colors = has_colors };
  return width == 0 ? (TextForm) { DEFAULT_WIDTH, has_colors, false } : (TextForm) { width, has_colors, true };
}

guint
session_get_width (const Session *session)
{
  enum { WIDE = 100 };
  const guint width = get_text_form (session).width;

  return width == 0 ? WIDE : width;
}

bool
session_print (Session *session, Document *document, GError **error)
{
  g_autofree char *text = session_wants_json (session)  ? document_format_json (document)
                          : session_wants_csv (session) ? document_format_csv (document)
                                                        : document_format_text (document, get_text_form (session));

  document_free (document);
  if (text == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_FAILED, "--output 'csv': the answer of '%s' has no rows",
                   session->verb->name);
      return false;
    }
  return session_write (session, text, error);
}
