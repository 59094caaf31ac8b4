/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "top-screen.h"

#ifdef HAVE_CURSES

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "text.h"

enum { ESCAPE_DELAY_MS = 50 };

static SCREEN *screen;
static bool has_colour;

/* For crashes: what gives the terminal back, and how it was before. */
static char give_back[256];
static gsize n_give_back;
static struct termios before;

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGTRAP, SIGSYS };

static void
give_terminal_back (int number)
{
  if (write (STDOUT_FILENO, give_back, n_give_back) < 0)
    {
      /* Nothing is left to be done. */
    }
  tcsetattr (STDIN_FILENO, TCSANOW, &before);
  /* SA_RESETHAND has restored the default, which ends the process. */
  raise (number);
}

/* Appends a capability without its delays, "$<5>". */
static void
add_capability (const char *name)
{
  const char *text = tigetstr (name);

  if (text == NULL || text == (const char *) -1)
    return;
  for (; *text != '\0' && n_give_back < sizeof give_back; text++)
    if (text[0] == '$' && text[1] == '<' && strchr (text, '>') != NULL)
      text = strchr (text, '>');
    else
      give_back[n_give_back++] = *text;
}

static void
catch_crashes (void)
{
  static const char *const capabilities[] = { "sgr0", "rmkx", "cnorm", "rmcup" };

  n_give_back = 0;
  for (guint i = 0; i < G_N_ELEMENTS (capabilities); i++)
    add_capability (capabilities[i]);
  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    {
      struct sigaction action = { .sa_handler = give_terminal_back, .sa_flags = (int) SA_RESETHAND };

      sigemptyset (&action.sa_mask);
      sigaction (crashes[i], &action, NULL);
    }
}

static void
begin_colours (bool wants_colours)
{
  has_colour = wants_colours && has_colors () && start_color () == OK && use_default_colors () == OK;
  if (!has_colour)
    return;
  init_pair (TOP_GOOD, COLOR_GREEN, -1);
  init_pair (TOP_USED, COLOR_CYAN, -1);
  init_pair (TOP_WARNING, COLOR_YELLOW, -1);
  init_pair (TOP_BAD, COLOR_RED, -1);
}

/* newterm() leaks memory if it does not know the terminal. */
static bool
knows_terminal (void)
{
  int status;

  if (setupterm (NULL, STDOUT_FILENO, &status) == ERR)
    return false;
  del_curterm (cur_term);
  return true;
}

bool
top_screen_begin (bool wants_colours, GError **error)
{
  const char *term = getenv ("TERM");

  if (!isatty (STDIN_FILENO) || !isatty (STDOUT_FILENO) || tcgetattr (STDIN_FILENO, &before) != 0)
    return text_refuse_usage (error, "standard input and output: expected a terminal; see 'quoit status' for text");
  screen = knows_terminal () ? newterm (NULL, stdout, stdin) : NULL;
  if (screen == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "TERM '%s': expected a type of terminal that curses knows",
                   term == NULL ? "" : term);
      return false;
    }
  catch_crashes ();
  set_escdelay (ESCAPE_DELAY_MS);
  cbreak ();
  noecho ();
  nonl ();
  keypad (stdscr, TRUE);
  nodelay (stdscr, TRUE);
  curs_set (0);
  begin_colours (wants_colours);
  return true;
}

void
top_screen_end (void)
{
  if (screen == NULL)
    return;
  endwin ();
  delscreen (screen);
  screen = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    signal (crashes[i], SIG_DFL);
}

guint
top_screen_get_width (void)
{
  return (guint) MAX (COLS, 0);
}

guint
top_screen_get_height (void)
{
  return (guint) MAX (LINES, 0);
}

bool
top_screen_is_utf8 (void)
{
  return g_str_equal (nl_langinfo (CODESET), "UTF-8");
}

static attr_t
find_attributes (TopStyle style)
{
  if (style == TOP_CURSOR)
    return A_REVERSE;
  if (style == TOP_BOLD)
    return A_BOLD;
  if (style == TOP_PLAIN)
    return A_NORMAL;
  return has_colour ? (attr_t) COLOR_PAIR ((int) style) : style == TOP_BAD ? A_BOLD : A_NORMAL;
}

void
top_screen_draw (const TopCanvas *canvas)
{
  erase ();
  for (guint line = 0; line < canvas->height; line++)
    {
      move ((int) line, 0);
      for (guint i = 0; i < canvas->rows[line]->len; i++)
        {
          const TopSpan *span = &g_array_index (canvas->rows[line], TopSpan, i);

          attrset ((int) find_attributes (span->style));
          addstr (span->text);
        }
    }
  attrset (A_NORMAL);
  refresh ();
}

int
top_screen_read_key (bool *is_resized)
{
  static const struct {
    int code;
    TopKey key;
  } keys[] = {
    { KEY_UP, TOP_KEY_UP },         { 'k', TOP_KEY_UP },
    { KEY_DOWN, TOP_KEY_DOWN },     { 'j', TOP_KEY_DOWN },
    { KEY_LEFT, TOP_KEY_LEFT },     { 'h', TOP_KEY_LEFT },
    { KEY_RIGHT, TOP_KEY_RIGHT },   { 'l', TOP_KEY_RIGHT },
    { KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
    { ' ', TOP_KEY_PAGE_DOWN },     { KEY_HOME, TOP_KEY_HOME },
    { 'g', TOP_KEY_HOME },          { KEY_END, TOP_KEY_END },
    { 'G', TOP_KEY_END },           { '\r', TOP_KEY_ENTER },
    { '\n', TOP_KEY_ENTER },        { KEY_ENTER, TOP_KEY_ENTER },
    { 27, TOP_KEY_BACK },           { KEY_BACKSPACE, TOP_KEY_BACK },
    { 127, TOP_KEY_BACK },          { 8, TOP_KEY_BACK },
    { '\t', TOP_KEY_NEXT_PAGE },    { KEY_BTAB, TOP_KEY_PREVIOUS_PAGE },
    { '?', TOP_KEY_HELP },          { 'q', TOP_KEY_QUIT },
    { 'Q', TOP_KEY_QUIT },
  };
  const int code = getch ();

  if (code == ERR)
    return -1;
  *is_resized |= code == KEY_RESIZE;
  if (code >= '1' && code < '1' + N_TOP_PAGES)
    return TOP_KEY_FIRST_PAGE + code - '1';
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i].code == code)
      return (int) keys[i].key;
  return TOP_KEY_NONE;
}

#else

bool
top_screen_begin (bool wants_colours, GError **error)
{
  g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_VERSION,
                       "this quoit was built without curses: build it where ncurses is installed");
  return false;
}

void
top_screen_end (void)
{
}

guint
top_screen_get_width (void)
{
  return 0;
}

guint
top_screen_get_height (void)
{
  return 0;
}

void
top_screen_draw (const TopCanvas *canvas)
{
}

int
top_screen_read_key (bool *is_resized)
{
  return -1;
}

bool
top_screen_is_utf8 (void)
{
  return false;
}

#endif
