/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <unistd.h>

#include "interrupt.h"
#include "text.h"
#include "top-feed.h"
#include "top-screen.h"
#include "verbs.h"
#include "words.h"

enum { DEFAULT_EVERY_MS = 10000, TICK_MS = 1000 };

typedef struct {
  SourceOptions source;
  char *snapshot, *every;
} Options;

static void
options_clear (Options *options)
{
  source_options_clear (&options->source);
  g_free (options->snapshot);
  g_free (options->every);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef struct {
  TopFeed *feed;
  TopState *state;
  TopView view;
} Top;

static void
top_clear (Top *top)
{
  top_feed_free (top->feed);
  top_state_free (top->state);
  top_view_clear (&top->view);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Top, top_clear)

static gint64
now_ms (void)
{
  return g_get_real_time () / 1000;
}

/* Before a source was read once, its fleet is empty. */
static void
take_state (Top *top)
{
  g_autoptr (QuoitSnapshot) snapshot = top_feed_snapshot (top->feed, now_ms ());
  const char *remark = top_feed_get_remark (top->feed);

  if (snapshot == NULL)
    {
      g_autoptr (QuoitLedger) empty = quoit_ledger_open_memory ();

      snapshot = quoit_ledger_snapshot (empty);
      remark = remark != NULL ? remark : "it is being read";
    }
  top_state_free (top->state);
  top->state = top_state_new (snapshot);
  g_free (top->view.remark);
  top->view.remark = g_strdup (remark);
}

static void
draw (Top *top)
{
  g_autoptr (TopCanvas) canvas
      = top_canvas_new (top_screen_get_width (), top_screen_get_height (), top_screen_is_utf8 ());

  top_view_draw (&top->view, top->state, now_ms (), canvas);
  top_screen_draw (canvas);
}

/* Returns false if a key ends the program. */
static bool
read_keys (Top *top)
{
  bool is_resized = false;
  int key;

  while ((key = top_screen_read_key (&is_resized)) >= 0)
    if (!top_view_press (&top->view, top->state, (TopKey) key, top_screen_get_width (), top_screen_get_height ()))
      return false;
  return true;
}

/* Ends by a key, a signal, or the end of the terminal. */
static void
show (Top *top)
{
  take_state (top);
  for (;;)
    {
      struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                              { .fd = interrupt_get_fd (), .events = POLLIN },
                              { .fd = top_feed_get_fd (top->feed), .events = POLLIN } };

      draw (top);
      if (poll (fds, G_N_ELEMENTS (fds), TICK_MS) > 0 && (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return;
      if (interrupt_get_signal () != 0 || !read_keys (top))
        return;
      if (top_feed_read (top->feed) || now_ms () >= top->state->next_end_ms)
        take_state (top);
    }
}

/* --- the command line --- */

/* Returns what to show: a ledger, a file with a snapshot, or a source. */
static TopFeed *
new_feed (Session *session, Options *options, GError **error)
{
  const bool is_source = session->words[0] != NULL || source_options_is_live (&options->source);
  gint64 every_ms = DEFAULT_EVERY_MS;

  if (is_source && options->snapshot != NULL)
    return text_refuse_usage (error, "--snapshot and a source: expected one of them"), NULL;
  if (options->every != NULL && !source_options_is_live (&options->source))
    return text_refuse_usage (error, "--every requires --from-kubectl or --from-ray"), NULL;
  if (options->every != NULL && !text_parse_duration (options->every, "--every", &every_ms, error))
    return NULL;
  if (options->snapshot != NULL)
    return top_feed_new_file (options->snapshot, error);
  if (!is_source)
    return top_feed_new_ledger (session, error);
  if (!source_options_check (&options->source, session, error))
    return NULL;
  if (g_strcmp0 (options->source.given, "-") == 0)
    return text_refuse_usage (error, "-: standard input is the keyboard"), NULL;
  return top_feed_new_source (&options->source, source_options_is_live (&options->source) ? every_ms : 0);
}

static char *
describe_origin (const Session *session, const Options *options)
{
  if (options->snapshot != NULL)
    return g_strdup (options->snapshot);
  if (source_options_is_live (&options->source))
    return g_strdup (options->source.from_ray ? "ray" : "kubectl");
  return session->words[0] != NULL ? g_strjoinv (" ", session->words)
                                   : session_dup_shown_path (session_get_path (session));
}

static bool
run_on_screen (Session *session, Options *options, GError **error)
{
  g_auto (Top) top = { 0 };

  interrupt_begin ();
  top.feed = new_feed (session, options, error);
  if (top.feed == NULL)
    return false;
  top.view.origin = describe_origin (session, options);
  if (!top_screen_begin (session_wants_colors (session), error))
    {
      interrupt_stop (); /* the feed may be waiting for ray */
      return false;
    }
  show (&top);
  top_screen_end ();
  interrupt_stop ();
  return true;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry more[] = {
    { "snapshot", 0, 0, G_OPTION_ARG_FILENAME, &options.snapshot, "show the snapshot in this file", "FILE" },
    { "every", 0, 0, G_OPTION_ARG_FILENAME, &options.every, "read kubectl or ray again after this time (10s)",
      "DURATION" },
    G_OPTION_ENTRY_NULL,
  };
  bool is_done;

  if (!source_options_parse (&options.source, more, session, error))
    return false;
  if (session->now != NULL)
    return text_refuse_usage (error, "--now: the screen shows the present");
  is_done = run_on_screen (session, &options, error);
  interrupt_end ();
  return is_done;
}

const Verb verb_top = {
  "top",
  source_kinds_usage,
  "show the fleet, groups and problems on the whole screen",
  "Without arguments it shows the ledger, and follows its changes. With a source, it shows that source without a\n"
  "ledger. Keys: 1 to 5 for the pages, arrows, Enter for details, Esc, ? for help, q to end.",
  0,
  2,
  run,
};
