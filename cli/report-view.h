/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and their reports. */
#pragma once

#include <quoit/quoit.h>

#include "session.h"

/* Verdict, numbers, reasons and options, as sections of @document. */
void report_describe (const QuoitReport *report, Document *document);

/* Reasons and options alone, as lines for stderr below an error. g_free() it. */
char *report_explain (const QuoitReport *report);

/* A failure, as the member "error" of a document: the code's name and number, and the message. */
void error_describe (int code, const char *message, Document *document);

/* For a verb that failed with *@error: prints the reasons and options of the refusal below the message, and the report
 * as JSON if that is wanted. @report NULL: placement did not refuse it. Returns false. */
bool explain_refusal (Session *session, const QuoitReport *report, GError **error);
