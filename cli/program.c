/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <quoit/error.h>

#include "interrupt.h"
#include "text.h"

enum {
  MAX_OUTPUT = 256 * 1024 * 1024,
  MAX_ERRORS = 64 * 1024, /* of stderr; the rest is read and dropped */
  END_MS = 1000,          /* how long a program may take to end after SIGTERM */
  TICK_MS = 10
};

typedef struct {
  const char *command_line;
  GPid pid;
  int fds[2]; /* of stdout and stderr; -1: closed */
  GString *texts[2];
  gint64 end_us;    /* when its time is over */
  bool is_too_long; /* it printed more than MAX_OUTPUT */
} Program;

static void
program_clear (Program *program)
{
  for (int i = 0; i < 2; i++)
    {
      if (program->fds[i] >= 0)
        close (program->fds[i]);
      if (program->texts[i] != NULL)
        g_string_free (program->texts[i], TRUE);
    }
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Program, program_clear)

static void
append_word (GString *line, const char *word)
{
  static const char plain[] = "%+,-./:=@_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const bool is_plain = *word != '\0' && strspn (word, plain) == strlen (word);
  g_autofree char *quoted = is_plain ? g_strdup (word) : g_shell_quote (word);

  g_string_append_printf (line, "%s%s", line->len == 0 ? "" : " ", quoted);
}

char *
program_dup_command_line (const char *const *argv)
{
  static const char *const secrets[] = { "--token", "--password" };
  GString *line = g_string_new (NULL);

  for (guint i = 0; argv[i] != NULL; i++)
    {
      g_autofree char *shown = g_strdup (argv[i]);

      for (guint j = 0; j < G_N_ELEMENTS (secrets); j++)
        {
          const gsize n = strlen (secrets[j]);

          if (i > 0 && g_str_equal (argv[i - 1], secrets[j]))
            strcpy (shown, *shown == '\0' ? "" : "-");
          else if (strncmp (shown, secrets[j], n) == 0 && shown[n] == '=' && shown[n + 1] != '\0')
            strcpy (shown + n + 1, "-");
        }
      append_word (line, shown);
    }
  return g_string_free (line, FALSE);
}

/* In the child: a signal of the terminal reaches only this process, which then ends the whole group. */
static void
begin_group (gpointer unused)
{
  setpgid (0, 0);
#ifdef __linux__
  prctl (PR_SET_PDEATHSIG, SIGKILL);
#endif
}

/* GLib's messages are made for people who know GLib. */
static const char *
describe_start (const GError *why)
{
  switch (why->code)
    {
    case G_SPAWN_ERROR_NOENT:
      return g_strerror (ENOENT);
    case G_SPAWN_ERROR_ACCES:
      return g_strerror (EACCES);
    case G_SPAWN_ERROR_NOEXEC:
      return g_strerror (ENOEXEC);
    case G_SPAWN_ERROR_TOO_BIG:
      return g_strerror (E2BIG);
    default:
      return why->message;
    }
}

static bool
start (Program *program, const char *const *argv, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autofree char *path = NULL;

  /* If the parent has set SIGCHLD to be ignored, the exit status would be lost. */
  signal (SIGCHLD, SIG_DFL);
  path = g_find_program_in_path (argv[0]);
  if (path == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "%s: no program '%s' in PATH", program->command_line,
                   argv[0]);
      return false;
    }
  if (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                begin_group, NULL, &program->pid, NULL, &program->fds[0], &program->fds[1], &why))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: cannot be run: %s", program->command_line,
               describe_start (why));
  return false;
}

static gint64
count_left_ms (const Program *program)
{
  return MAX (0, (program->end_us - g_get_monotonic_time () + 999) / 1000);
}

static void
read_some (Program *program, int i)
{
  static const gsize most[] = { MAX_OUTPUT, MAX_ERRORS };
  GString *text = program->texts[i];
  char bytes[65536];
  const gssize n = read (program->fds[i], bytes, sizeof bytes);

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (n <= 0)
    {
      close (program->fds[i]);
      program->fds[i] = -1;
      return;
    }
  program->is_too_long |= i == 0 && text->len + (gsize) n > MAX_OUTPUT;
  g_string_append_len (text, bytes, MIN (n, (gssize) (most[i] - MIN (most[i], text->len))));
}

/* Reads both pipes to their ends. Returns false if a signal came, the time is over, or there is too much output. */
static bool
read_all (Program *program)
{
  while (program->fds[0] >= 0 || program->fds[1] >= 0)
    {
      struct pollfd fds[] = { { .fd = program->fds[0], .events = POLLIN },
                              { .fd = program->fds[1], .events = POLLIN },
                              { .fd = interrupt_get_fd (), .events = POLLIN } };
      const gint64 left_ms = count_left_ms (program);

      if (left_ms == 0 || interrupt_is_pending () || program->is_too_long)
        return false;
      if (poll (fds, G_N_ELEMENTS (fds), (int) MIN (left_ms, G_MAXINT)) <= 0)
        continue;
      for (int i = 0; i < 2; i++)
        if (program->fds[i] >= 0 && fds[i].revents != 0)
          read_some (program, i);
    }
  return true;
}

/* Waits until the program has ended, at most until @end_us. */
static bool
reap (const Program *program, gint64 end_us, int *status)
{
  for (;;)
    {
      const pid_t pid = waitpid (program->pid, status, WNOHANG);

      if (pid == program->pid || (pid < 0 && errno != EINTR))
        return true;
      if (g_get_monotonic_time () >= end_us || interrupt_is_pending ())
        return false;
      g_usleep (TICK_MS * 1000);
    }
}

/* Ends the program and its children. */
static void
kill_group (const Program *program)
{
  int status;

  kill (-program->pid, SIGTERM);
  for (int waited_ms = 0; waited_ms < END_MS && waitpid (program->pid, &status, WNOHANG) == 0; waited_ms += TICK_MS)
    g_usleep (TICK_MS * 1000);
  kill (-program->pid, SIGKILL);
  waitpid (program->pid, &status, 0);
}

static bool
begins_with_error (const char *line)
{
  return g_ascii_strncasecmp (line, "error", 5) == 0;
}

/* Returns the line of stderr that explains a failure: the first one that begins with "Error", as click's and kubectl's
 * do; after a traceback of Python the last one; otherwise the first one. NULL: none. g_free() it. */
static char *
find_reason (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  const char *first = NULL, *last = NULL;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *line = g_strstrip (lines[i]);

      if (*line == '\0')
        continue;
      if (begins_with_error (line))
        return g_strdup (line);
      first = first == NULL ? line : first;
      last = line;
    }
  return g_strdup (first != NULL && g_str_has_prefix (first, "Traceback ") ? last : first);
}

static bool
check_end (const Program *program, int status, GError **error)
{
  g_autofree char *reason = find_reason (program->texts[1]->str);
  g_autofree char *end = WIFEXITED (status) ? g_strdup_printf ("exit status %d", WEXITSTATUS (status))
                                            : g_strdup_printf ("ended by signal %d", WTERMSIG (status));

  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: %s%s%s", program->command_line, end,
               reason == NULL ? "" : ": ", reason == NULL ? "" : reason);
  return false;
}

static void
refuse_unfinished (const Program *program, gint64 limit_ms, GError **error)
{
  g_autofree char *reason = find_reason (program->texts[1]->str);

  if (interrupt_is_pending ())
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CANCELLED, "%s: interrupted", program->command_line);
  else if (program->is_too_long)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: expected at most 256 MiB of output",
                 program->command_line);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: not finished after %" G_GINT64_FORMAT " ms%s%s",
                 program->command_line, limit_ms, reason == NULL ? "" : ": ", reason == NULL ? "" : reason);
}

bool
program_run (const char *const *argv, gint64 limit_ms, ProgramOutput *output, GError **error)
{
  g_autofree char *command_line = program_dup_command_line (argv);
  g_auto (Program) program = { .command_line = command_line, .fds = { -1, -1 } };
  int status = 0;

  interrupt_begin ();
  program.texts[0] = g_string_new (NULL);
  program.texts[1] = g_string_new (NULL);
  program.end_us = g_get_monotonic_time () + MIN (limit_ms, G_MAXINT64 / 2000) * 1000;
  if (!start (&program, argv, error))
    return false;
  if (!read_all (&program) || !reap (&program, program.end_us, &status))
    {
      kill_group (&program);
      refuse_unfinished (&program, limit_ms, error);
      return false;
    }
  if (!check_end (&program, status, error))
    return false;
  output->remark = find_reason (program.texts[1]->str);
  output->length = program.texts[0]->len;
  output->text = g_string_free (g_steal_pointer (&program.texts[0]), FALSE);
  return true;
}
