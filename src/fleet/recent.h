/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the results of recent questions by key, because schedulers ask the same few again and again. Any thread may
 * use it, and no call waits. */
#pragma once

#include <glib.h>

typedef struct _QuoitRecent QuoitRecent;

/* @capacity: the number of results to remember; the oldest is replaced first. */
QuoitRecent *quoit_recent_new (guint capacity);
void quoit_recent_free (QuoitRecent *recent);

/* Returns a reference to the result of a key of @n bytes, or NULL. */
gpointer quoit_recent_get (QuoitRecent *recent, const void *key, gsize n);
/* Remembers @result, an atomic rc box, and adds a reference to it. Does nothing if another thread uses @recent at the
 * moment. @clear is called before the box is freed; NULL: nothing to do. */
void quoit_recent_put (QuoitRecent *recent, const void *key, gsize n, gpointer result, GDestroyNotify clear);
