/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "capacity-view.h"
#include "output-file.h"
#include "report-data.h"
#include "cli/report-page.h"
#include "source-input.h"
#include "status-view.h"
#include "text.h"
#include "verbs.h"
#include "words.h"

typedef struct {
  SourceOptions source;
  char *snapshot, *path, *title;
  gboolean html, is_forced;
} Options;

static void
options_clear (Options *options)
{
  source_options_clear (&options->source);
  g_free (options->snapshot);
  g_free (options->path);
  g_free (options->title);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The state that the page shows. */
typedef struct {
  QuoitLedger *ledger; /* NULL: there is no journal */
  QuoitSnapshot *snapshot;
  gint64 now_ms;
} State;

static void
state_clear (State *state)
{
  quoit_ledger_unref (state->ledger);
  quoit_snapshot_unref (state->snapshot);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (State, state_clear)

/* --- the page --- */

static void
append_lines (GString *out, const char *const *lines)
{
  for (; *lines != NULL; lines++)
    g_string_append (out, *lines);
}

/* Appends the hash of the lines, as a policy for content names what may run. */
static void
append_hash (GString *out, const char *const *lines)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize length = sizeof digest;
  g_autofree char *text = NULL;

  for (; *lines != NULL; lines++)
    g_checksum_update (checksum, (const guchar *) *lines, -1);
  g_checksum_get_digest (checksum, digest, &length);
  text = g_base64_encode (digest, length);
  g_string_append_printf (out, "'sha256-%s'", text);
}

static void
append_data (GString *out, const char *id, Document *document)
{
  g_autoptr (Document) owned = document;
  g_autofree char *script = document_format_script (owned);

  g_string_append_printf (out, "<script type=\"application/json\" id=\"%s\">%s</script>\n", id, script);
}

static char *
format_page (const State *state, const char *title, GError **error)
{
  g_autoptr (Document) history = report_history_document (state->ledger, state->snapshot, error);
  g_autoptr (QuoitFragmentation) fragmentation = NULL;
  g_autofree char *time = text_format_time (state->now_ms);
  GString *page;

  if (history == NULL)
    return NULL;
  fragmentation = quoit_snapshot_measure_fragmentation (state->snapshot, 0);
  page = g_string_new ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
                       "form-action 'none'; script-src ");
  append_hash (page, report_js);
  g_string_append (page, "; style-src ");
  append_hash (page, report_css);
  g_string_append (page, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                         "<meta name=\"generator\" content=\"quoit report\">\n<title>");
  text_append_markup (page, title);
  g_string_append (page, "</title>\n<style>");
  append_lines (page, report_css);
  g_string_append_printf (page, "</style>\n</head>\n<body data-time=\"%s\">\n", time);
  append_lines (page, report_html);
  append_data (page, "data-status", status_document (state->snapshot, state->now_ms));
  append_data (page, "data-slots", slots_document (state->snapshot));
  append_data (page, "data-fragmentation", fragmentation_document (state->snapshot, fragmentation, false));
  append_data (page, "data-map", report_map_document (state->snapshot));
  append_data (page, "data-history", g_steal_pointer (&history));
  g_string_append (page, "<script>");
  append_lines (page, report_js);
  g_string_append (page, "</script>\n</body>\n</html>\n");
  return g_string_free (page, FALSE);
}

/* --- the state --- */

static bool
read_ledger (Session *session, State *state, GError **error)
{
  session->only_reads = true;
  state->snapshot = session_snapshot (session, error);
  if (state->snapshot == NULL)
    return false;
  if (session->at != NULL)
    state->now_ms = quoit_snapshot_get_clock_ms (state->snapshot);
  state->ledger = session_open (session, error);
  return state->ledger != NULL;
}

static bool
read_file (const char *path, State *state, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = source_load_snapshot (path, error);

  state->snapshot = snapshot == NULL ? NULL : quoit_snapshot_as_of (snapshot, state->now_ms, error);
  return state->snapshot != NULL;
}

static bool
read_source (Session *session, SourceOptions *options, State *state, GError **error)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  if (!source_options_check (options, session, error))
    return false;
  state->snapshot = source_sync (options, ledger, state->now_ms, error);
  return state->snapshot != NULL;
}

static bool
read_state (Session *session, Options *options, State *state, GError **error)
{
  const bool is_source = session->words[0] != NULL || source_options_is_live (&options->source);

  if (is_source && options->snapshot != NULL)
    return text_refuse_usage (error, "--snapshot and a source: expected one of them");
  if (session->at != NULL && (is_source || options->snapshot != NULL))
    return text_refuse_usage (error, "--at: expected no source and no --snapshot, because only a ledger has a past");
  if (!session_now (session, &state->now_ms, error))
    return false;
  return options->snapshot != NULL ? read_file (options->snapshot, state, error)
         : is_source               ? read_source (session, &options->source, state, error)
                                   : read_ledger (session, state, error);
}

/* --- the command line --- */

static bool
is_page (const char *head)
{
  return g_str_has_prefix (head, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
         && strstr (head, "<meta name=\"generator\" content=\"quoit report\">") != NULL;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  g_auto (State) state = { 0 };
  const GOptionEntry more[] = {
    { "html", 0, 0, G_OPTION_ARG_NONE, &options.html, "write a page of HTML, which is the only form", NULL },
    { "snapshot", 0, 0, G_OPTION_ARG_FILENAME, &options.snapshot, "show the snapshot in this file", "FILE" },
    { "file", 0, 0, G_OPTION_ARG_FILENAME, &options.path, "write the page to this file (standard output)", "FILE" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &options.is_forced, "replace FILE even if it has other content", NULL },
    { "title", 0, 0, G_OPTION_ARG_STRING, &options.title, "the title of the page (quoit report)", "TEXT" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree char *page = NULL;

  if (!source_options_parse (&options.source, more, session, error)
      || (options.is_forced && options.path == NULL && !text_refuse_usage (error, "--force requires --file FILE"))
      || (options.path == NULL && isatty (STDOUT_FILENO) == 1
          && !text_refuse_usage (error,
                                 "standard output is a terminal: expected --file FILE, for example --file report.html"))
      || !read_state (session, &options, &state, error))
    return false;
  page = format_page (&state, options.title == NULL ? "quoit report" : options.title, error);
  if (page == NULL)
    return false;
  return options.path == NULL ? session_write (session, page, error)
                              : output_file_write (&(const OutputFile) { "--file", options.path, "page of quoit report",
                                                                         is_page, options.is_forced },
                                                   page, error);
}

const Verb verb_report = {
  "report",
  source_kinds_usage,
  "write a page of HTML with the fleet, groups, problems and the past",
  "Without arguments it shows the ledger. With a source, it shows that source without a ledger. The page is one\n"
  "file that needs no network. It has a map with the state of each host, groups, problems, slots, and for a ledger\n"
  "the past.",
  0,
  2,
  run,
};
