/* SPDX-License-Identifier: Apache-2.0 */
/* The error domain: quoit/error.h is the list, this is how the library raises it. */
#pragma once

#include <quoit/error.h>

/* Every code, for tests and tables: index 0 is the first code. */
typedef struct {
  QuoitErrorCode code;
  const char *nick;
} QuoitErrorRow;

const QuoitErrorRow *quoit_error_table (unsigned *n_rows);

/* Sets @error and returns FALSE (or NULL), so that a failure is one line at the place that finds it. Control bytes and
 * invalid UTF-8 in the message are escaped; a text of unknown length or with quotes in it wants quoit_quote(). */
gboolean quoit_fail (GError **error, QuoitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void *quoit_fail_null (GError **error, QuoitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* @text quoted for a message: single quotes around it, control bytes and invalid UTF-8 escaped, cut after 80 bytes. */
char *quoit_quote (const char *text);
char *quoit_quote_bytes (const char *bytes, gsize length);
