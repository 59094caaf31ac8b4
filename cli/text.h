/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text, made safe for where it goes; and the few forms of text that the command itself writes and reads. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* One line for a terminal: control bytes, bytes that are no UTF-8 and characters that print nothing, or turn the
 * writing around, become \xNN; so does all that is not ASCII where the locale is not UTF-8. */
char *text_for_terminal (const char *text);

/* The same for a file: UTF-8 in any locale. */
char *text_in_one_line (const char *text);

/* A document of JSON, which must be UTF-8: characters that print nothing or turn the writing around become \uXXXX. */
char *text_in_json (const char *json);

/* 'text' for a POSIX shell: the shell reads back the very bytes. */
char *text_for_shell (const char *text);

/* 2026-05-01T09:30:00.000Z; NULL for 0, which the library says where there is no time. */
char *text_format_time (gint64 time_ms);

/* Parses ISO 8601 with an offset, or milliseconds; INVALID for other text. @option names the option. */
bool text_parse_time (const char *text, const char *option, gint64 *time_ms, GError **error);

typedef struct {
  const char *option;   /* "--slices" */
  const char *expected; /* "1 to 1000000 slices" */
  gint64 least, most;
} NumberRule;

/* Parses a duration, a number and a unit: "10s", "500ms", "5m", "2h", "30d". USAGE if @text is malformed, INVALID if
 * the duration is below 1 ms or too large. @option names the option. */
bool text_parse_duration (const char *text, const char *option, gint64 *duration_ms, GError **error);

/* The limit of clock jumps: a length of time, or "none". */
bool text_parse_limit (const char *text, const char *option, gint64 *limit_ms, GError **error);

/* Parses the number of an option: USAGE if @text is malformed, INVALID if the number is outside the rule. */
bool text_parse_number (const char *text, const NumberRule *rule, gint64 *number, GError **error);
