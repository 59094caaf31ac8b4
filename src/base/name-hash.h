/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of names and other texts that come from outside. */
#pragma once

#include <glib.h>

/* Returns a hash that nobody outside this process can predict, so that an inventory of chosen names cannot make the
 * searches of a table long. It differs from process to process: never store it, and let no answer depend on it. For
 * values of the library's own, use quoit_hash_bytes(). */
guint64 quoit_hash_name (const char *bytes, gsize length);

/* The same for a text with a final NUL, as a GHashFunc. Pairs with g_str_equal(). */
guint quoit_hash_text (gconstpointer text);
