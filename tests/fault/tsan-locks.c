/* SPDX-License-Identifier: Apache-2.0 */
/* GLib is not built with ThreadSanitizer, which therefore does not see the ordering by GLib's locks and reference
 * counts and would report false races. These functions replace GLib's own under ThreadSanitizer and report the
 * ordering to it. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#ifdef UNDER_TSAN
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <glib.h>
#undef g_once_init_enter
#undef g_once_init_leave
#undef g_atomic_ref_count_inc
#undef g_atomic_ref_count_dec
#undef g_atomic_ref_count_compare

#define REAL(function) ((__typeof__ (&function)) (gpointer) dlsym (RTLD_NEXT, #function))

/* Exported, because libquoit calls them. */
#pragma GCC visibility push(default)

void
g_mutex_lock (GMutex *mutex)
{
  static __typeof__ (&g_mutex_lock) real;

  if (real == NULL)
    real = REAL (g_mutex_lock);
  __tsan_mutex_pre_lock (mutex, 0);
  real (mutex);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

void
g_mutex_unlock (GMutex *mutex)
{
  static __typeof__ (&g_mutex_unlock) real;

  if (real == NULL)
    real = REAL (g_mutex_unlock);
  __tsan_mutex_pre_unlock (mutex, 0);
  real (mutex);
  __tsan_mutex_post_unlock (mutex, 0);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  REAL (g_cond_wait) (cond, mutex);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean in_time;

  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  in_time = REAL (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
  return in_time;
}

/* Everything before g_once_init_leave() is visible after g_once_init_enter() returns FALSE. */
gboolean g_once_init_enter (volatile void *location);
void g_once_init_leave (volatile void *location, gsize result);

gboolean
g_once_init_enter (volatile void *location)
{
  gboolean is_first = REAL (g_once_init_enter) (location);

  if (!is_first)
    __tsan_acquire ((void *) location);
  return is_first;
}

void
g_once_init_leave (volatile void *location, gsize result)
{
  __tsan_release ((void *) location);
  REAL (g_once_init_leave) (location, result);
}

void g_atomic_ref_count_inc (gatomicrefcount *count);
gboolean g_atomic_ref_count_dec (gatomicrefcount *count);
gboolean g_atomic_ref_count_compare (gatomicrefcount *count, gint value);

void
g_atomic_ref_count_inc (gatomicrefcount *count)
{
  __atomic_fetch_add (count, 1, __ATOMIC_SEQ_CST);
}

gboolean
g_atomic_ref_count_dec (gatomicrefcount *count)
{
  return __atomic_fetch_sub (count, 1, __ATOMIC_SEQ_CST) == 1;
}

/* An equality test is enough: in GLib 2.74 counts go upwards from 1. */
gboolean
g_atomic_ref_count_compare (gatomicrefcount *count, gint value)
{
  return __atomic_load_n (count, __ATOMIC_SEQ_CST) == value;
}
#pragma GCC visibility pop
#else
typedef int quoit_needs_no_help_here;
#endif
