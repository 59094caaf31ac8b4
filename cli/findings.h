/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `check` in the forms of other programs: SARIF, and the workflow commands of GitHub Actions. */
#pragma once

#include <quoit/models.h>

#include "session.h"

/* The texts are borrowed. */
typedef struct {
  const char *file;    /* NULL: the finding is about a word of the command line */
  gint64 line, column; /* from 1; 0: unknown */
  QuoitSeverity severity;
  const char *rule, *message;
  const char *path;             /* the place in the document, such as "$.spec"; NULL: none */
  const char *value, *expected; /* NULL: none */
} Finding;

/* A file that cannot be read. */
typedef struct {
  const char *file, *message;
} UnreadFile;

/* The result of one run. */
typedef struct {
  GArray *findings; /* of Finding */
  GArray *unread;   /* of UnreadFile */
  GPtrArray *rules; /* the names of all rules that can have findings */
  int exit_status;
} Findings;

void findings_init (Findings *findings);
void findings_clear (Findings *findings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Findings, findings_clear)

/* Format the findings as a log of SARIF 2.1.0, or as one workflow command per line; g_free() it. */
char *findings_format_sarif (const Findings *findings);
char *findings_format_github (const Findings *findings);

/* Prints the findings if -o is sarif or github, and sets *@is_printed to whether it is. */
bool findings_print (Session *session, const Findings *findings, bool *is_printed, GError **error);
