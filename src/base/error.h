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

/* Returns @text for use in a message: in single quotes, with control characters and invalid UTF-8 escaped, cut after
 * 80 bytes. Owned by the caller. */
char *quoit_quote (const char *text);
char *quoit_quote_bytes (const char *bytes, gsize length);
