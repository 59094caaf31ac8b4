/* SPDX-License-Identifier: Apache-2.0 */
/* How the library raises errors. quoit/error.h lists the codes. */
#pragma once

#include <quoit/error.h>

/* All codes, for tests and tables. Index 0 is the first code. */
typedef struct {
  QuoitErrorCode code;
  const char *nick;
} QuoitErrorRow;

const QuoitErrorRow *quoit_error_table (unsigned *n_rows);

/* Sets @error and returns FALSE (or NULL), so that a failure is one statement. Control characters and invalid UTF-8
 * in the message are escaped. Pass text of unknown length, or text that may contain quotes, through quoit_quote(). */
gboolean quoit_fail (GError **error, QuoitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void *quoit_fail_null (GError **error, QuoitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Like quoit_fail(), with the message "FOUND: expected EXPECTED", where @format describes what was found. The error
 * keeps @expected, which quoit_error_expected() returns. */
gboolean quoit_fail_expected (GError **error, QuoitErrorCode code, const char *expected, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* Like quoit_fail_expected(), for a message without subject: "VALUE: expected EXPECTED". @value includes its quotes. A
 * caller that knows what the value is can put the subject in front: "replicas '-1': expected ...". */
gboolean quoit_fail_value (GError **error, QuoitErrorCode code, const char *value, const char *expected);

/* Returns what was expected, or NULL if the error does not state it separately. The error owns the text. */
const char *quoit_error_expected (const GError *error);
/* Returns whether quoit_fail_value() made the error. */
gboolean quoit_error_is_value (const GError *error);

/* Like quoit_fail(), for a failure that concerns the file at @path. The message is "PATH: " and the formatted text. */
gboolean quoit_fail_at (GError **error, QuoitErrorCode code, const char *path, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* Puts "PATH: " before the message, unless quoit_fail_at() made the error with the same path. *@error may be NULL. */
void quoit_error_add_path (GError **error, const char *path);

/* Returns @text for use in a message: in single quotes, with control characters and invalid UTF-8 escaped, cut after
 * 80 bytes. Owned by the caller. */
char *quoit_quote (const char *text);
char *quoit_quote_bytes (const char *bytes, gsize length);
