/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes untrusted text for its destination, and parses and formats times, durations and numbers of options. */
#pragma once

#include <stdbool.h>
#include <glib.h>

#include <quoit/error.h>

/* Returns one line for a terminal. Control bytes, bytes that are not UTF-8, and characters that are invisible or
 * reverse the direction of text become \xNN; if the locale is not UTF-8, so does everything that is not ASCII. */
char *text_for_terminal (const char *text);

/* Like text_for_terminal(), but UTF-8 in every locale, for files. */
char *text_in_one_line (const char *text);

/* Return how many columns of a terminal a character, or a line, takes. */
guint text_char_width (gunichar c);
guint text_width (const char *text);

/* Appends @text, divided at blanks into lines of at most @width, where it can. Words stay whole, so that they can be
 * copied. The first line has @used columns already; the others begin after @indent blanks. */
void text_append_words (GString *out, const char *text, guint used, guint indent, guint width);

/* Returns @text, divided in this way. g_free() it. */
char *text_divide (const char *text, guint width);

/* Escapes a JSON document, which must be UTF-8: characters that are invisible or reverse the direction of text become
 * \uXXXX. */
char *text_in_json (const char *json);

/* Appends @text to @out in one line, escaped for HTML and XML. */
void text_append_markup (GString *out, const char *text);

/* Ray names a placement group without a name by its id. Rows show the first digits of it, which are enough to find the
 * group again. */
enum { RAY_GROUP_ID_LENGTH = 36, SHORT_ID_LENGTH = 8 };

/* Returns how many hexadecimal digits @text begins with, in small letters. */
gsize text_count_id_digits (const char *text);

/* Shortens each of Ray's ids in @text, in place. */
void text_shorten_ids (char *text);

/* Returns 2026-05-01T09:30:00.000Z, or NULL for 0, which the library returns for no time. */
char *text_format_time (gint64 time_ms);

/* Parses ISO 8601 with an offset, or milliseconds; INVALID for other text. @option names the option. */
bool text_parse_time (const char *text, const char *option, gint64 *time_ms, GError **error);

/* Fails with USAGE. Compilers that see the body know that it returns false. */
static inline bool
text_refuse_usage (GError **error, const char *message)
{
  g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, message);
  return false;
}

/* Finds @text among the @n @words: USAGE if it is none of them. @option names the option. */
bool text_parse_word (const char *text, const char *option, const char *const *words, guint n, guint *word,
                      GError **error);

/* The rule for the number of an option. */
typedef struct {
  const char *option;   /* "--slices" */
  const char *expected; /* "1 to 1000000 slices" */
  gint64 min, max;
} NumberRule;

/* Parses a duration, a number and a unit: "10s", "500ms", "5m", "2h", "30d". USAGE if @text is malformed, INVALID if
 * the duration is below 1 ms or too large. @option names the option. */
bool text_parse_duration (const char *text, const char *option, gint64 *duration_ms, GError **error);

/* Formats a duration in the largest unit of which it is a multiple: "500 ms", "90 s", "5 m". g_free() it. */
char *text_format_duration (gint64 duration_ms);

/* Parses how long entries are kept: a duration, or "all". */
bool text_parse_keep (const char *text, const char *option, gint64 *keep_ms, GError **error);

/* Parses the limit of clock jumps: a duration, or "none". */
bool text_parse_limit (const char *text, const char *option, gint64 *limit_ms, GError **error);

/* Parses the number of an option: USAGE if @text is malformed, INVALID if the number is outside the rule. */
bool text_parse_number (const char *text, const NumberRule *rule, gint64 *number, GError **error);

/* Parses a probability, "0.999": USAGE if @text is not a decimal number, INVALID if it is not from 0 to 1. @option
 * names the option. */
bool text_parse_probability (const char *text, const char *option, double *probability, GError **error);

/* Formats a probability with at most @n_decimals decimals (15 are exact for options), "0.95". Only 1 becomes "1".
 * g_free() it. */
char *text_format_probability (double probability, guint n_decimals);
