/* SPDX-License-Identifier: Apache-2.0 */
/* The options that describe a window of the calendar, for `quoit calendar add` and for lines of `quoit what-if`. */
#pragma once

#include <quoit/quoit.h>

/* The options as given; NULL: not given. */
typedef struct {
  char *targets[QUOIT_WINDOW_ZONE + 1]; /* by scope */
  char *from, *until;
} WindowOptions;

typedef struct {
  const char *name, *target;
  QuoitWindowScope scope;
  gint64 from_ms, until_ms;
} Window;

void window_options_clear (WindowOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WindowOptions, window_options_clear)

/* g_free() the entries. */
GOptionEntry *window_entries (WindowOptions *options);
/* The number of nodes, slices, pools and zones that are given. */
uint32_t window_count_targets (const WindowOptions *options);
/* Fails with USAGE unless one target and both times are given. */
bool window_check (const WindowOptions *options, GError **error);
/* Parses options that window_check() has accepted. */
bool window_parse (const WindowOptions *options, const char *name, Window *window, GError **error);
