/* SPDX-License-Identifier: Apache-2.0 */
/* Prints reports and errors. */
#pragma once

#include <quoit/quoit.h>

#include "session.h"

/* Appends the verdict, numbers, reasons and options to @document. @subject: the group that the report is about; NULL: a
 * request. */
void report_describe (QuoitReport *report, const char *subject, Document *document);

/* Returns the reasons and options as lines for stderr, to be printed below the error. g_free() it. */
char *report_explain (const QuoitReport *report);

/* Appends the member "error" to @document: the name and number of the code, and the message. */
void error_describe (int code, const char *message, Document *document);

/* For a verb that failed with *@error: prints the reasons and options below the message, and with -o json also the
 * error and the report as JSON. @report NULL: the failure was not a refusal of the request. Always returns false. */
bool explain_refusal (Session *session, QuoitReport *report, GError **error);
