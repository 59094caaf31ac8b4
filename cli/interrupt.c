/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static int fds[2] = { -1, -1 };
/* Read and written by any thread, and by the handler; atomic integers of GLib need no lock. */
static int first_signal, is_stopped;

static void
note_signal (int number)
{
  const int before = errno;

  g_atomic_int_compare_and_exchange (&first_signal, 0, number);
  if (write (fds[1], "", 1) < 0)
    {
      /* The pipe is full, so it is readable. */
    }
  errno = before;
}

void
interrupt_begin (void)
{
  if (fds[0] >= 0 || !g_unix_open_pipe (fds, FD_CLOEXEC, NULL))
    return;
  g_unix_set_fd_nonblocking (fds[0], TRUE, NULL);
  g_unix_set_fd_nonblocking (fds[1], TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      struct sigaction action = { .sa_handler = note_signal }, before;

      sigemptyset (&action.sa_mask);
      if (sigaction (signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction (signals[i], &action, NULL);
    }
}

int
interrupt_get_fd (void)
{
  return fds[0];
}

int
interrupt_get_signal (void)
{
  return g_atomic_int_get (&first_signal);
}

void
interrupt_stop (void)
{
  g_atomic_int_set (&is_stopped, 1);
  if (fds[1] >= 0 && write (fds[1], "", 1) < 0)
    {
      /* The pipe is full, so it is readable. */
    }
}

bool
interrupt_is_pending (void)
{
  return g_atomic_int_get (&first_signal) != 0 || g_atomic_int_get (&is_stopped) != 0;
}

void
interrupt_wait (gint64 wait_ms)
{
  const gint64 end_us = g_get_monotonic_time () + wait_ms * 1000;
  gint64 left_ms;

  while (!interrupt_is_pending () && (left_ms = (end_us - g_get_monotonic_time () + 999) / 1000) > 0)
    {
      struct pollfd fd = { .fd = fds[0], .events = POLLIN };

      poll (&fd, 1, (int) MIN (left_ms, G_MAXINT));
    }
}

void
interrupt_die (void)
{
  const int number = g_atomic_int_get (&first_signal);

  if (number == 0)
    return;
  fflush (stdout);
  fflush (stderr);
  signal (number, SIG_DFL);
  raise (number);
  _exit (128 + number);
}

void
interrupt_end (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      struct sigaction action;

      if (sigaction (signals[i], NULL, &action) == 0 && action.sa_handler == note_signal)
        signal (signals[i], SIG_DFL);
    }
  interrupt_die ();
}
