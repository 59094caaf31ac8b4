/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "verbs.h"

enum { FIRST_MS = 500, STEP_MS = 1000 };

/* Verbs that read lists or files, or search. What waits for something calls progress_end() before. */
static const Verb *const long_verbs[] = {
  &verb_import, &verb_sync,    &verb_verify,  &verb_backup, &verb_copy,   &verb_restore, &verb_journal,
  &verb_slots,  &verb_reserve, &verb_hold,    &verb_resize, &verb_repair, &verb_fits,    &verb_fragmentation,
  &verb_when,   &verb_explain, &verb_what_if, &verb_defrag, &verb_plan,   &verb_promise,
};

static struct {
  GMutex mutex;
  GCond cond;
  GThread *thread; /* NULL: nothing is shown */
  const Verb *verb;
  bool ends;
} progress;

static gpointer
show (gpointer data)
{
  const gint64 begin = g_get_monotonic_time ();
  gint64 next = begin + FIRST_MS * G_TIME_SPAN_MILLISECOND;
  bool has_shown = false;

  (void) data;
  g_mutex_lock (&progress.mutex);
  while (!progress.ends)
    if (!g_cond_wait_until (&progress.cond, &progress.mutex, next))
      {
        fprintf (stderr, "\rquoit: %s: working, %" G_GINT64_FORMAT " s", progress.verb->name,
                 (g_get_monotonic_time () - begin) / G_TIME_SPAN_SECOND);
        fflush (stderr);
        has_shown = true;
        next += STEP_MS * G_TIME_SPAN_MILLISECOND;
      }
  g_mutex_unlock (&progress.mutex);
  if (has_shown)
    fputs ("\r\033[K", stderr);
  fflush (stderr);
  return NULL;
}

void
progress_begin (const Verb *verb)
{
  bool is_long = false;

  for (guint i = 0; i < G_N_ELEMENTS (long_verbs); i++)
    is_long |= long_verbs[i] == verb;
  if (!is_long || progress.thread != NULL || isatty (STDERR_FILENO) != 1 || g_strcmp0 (g_getenv ("TERM"), "dumb") == 0)
    return;
  progress.verb = verb;
  progress.ends = false;
  /* Without a thread, there is no line. */
  progress.thread = g_thread_try_new ("progress", show, NULL, NULL);
}

void
progress_end (void)
{
  if (progress.thread == NULL)
    return;
  g_mutex_lock (&progress.mutex);
  progress.ends = true;
  g_cond_signal (&progress.cond);
  g_mutex_unlock (&progress.mutex);
  g_thread_join (g_steal_pointer (&progress.thread));
}
