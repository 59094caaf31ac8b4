/* SPDX-License-Identifier: Apache-2.0 */
#include "store/process.h"

#include <pthread.h>
#include <unistd.h>

static GMutex files_lock;
static GPtrArray *files; /* of int * */
static guint32 n_forks;  /* forks between the first process and this one */

static void
before_fork (void)
{
  g_mutex_lock (&files_lock);
}

static void
after_fork (void)
{
  g_mutex_unlock (&files_lock);
}

static void
after_fork_in_child (void)
{
  n_forks++;
  for (guint i = 0; files != NULL && i < files->len; i++)
    {
      int *fd = files->pdata[i];

      if (*fd >= 0)
        close (*fd);
      *fd = -1;
    }
  after_fork ();
}

guint32
quoit_process_count_forks (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      /* The child must find the list consistent and its lock free. */
      pthread_atfork (before_fork, after_fork, after_fork_in_child);
      g_once_init_leave (&once, 1);
    }
  return n_forks;
}

guint64
quoit_process_unique_id (void)
{
  return (guint64) quoit_process_count_forks () << 32 | (guint32) getpid ();
}

void
quoit_process_register_file (int *fd)
{
  g_mutex_lock (&files_lock);
  if (files == NULL)
    files = g_ptr_array_new ();
  g_ptr_array_add (files, fd);
  g_mutex_unlock (&files_lock);
}

/* The caller has locked files_lock. */
static void
unregister (int *fd)
{
  if (files != NULL)
    g_ptr_array_remove_fast (files, fd);
  if (files != NULL && files->len == 0)
    g_clear_pointer (&files, g_ptr_array_unref);
}

void
quoit_process_close_file (int *fd)
{
  g_mutex_lock (&files_lock);
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  unregister (fd);
  g_mutex_unlock (&files_lock);
}

void
quoit_process_unregister_file (int *fd)
{
  g_mutex_lock (&files_lock);
  unregister (fd);
  g_mutex_unlock (&files_lock);
}

void
quoit_process_set_file (int *fd, int with)
{
  g_mutex_lock (&files_lock);
  if (*fd >= 0)
    close (*fd);
  *fd = with;
  g_mutex_unlock (&files_lock);
}
