/* SPDX-License-Identifier: Apache-2.0 */
/* Which verbs answer with rows, and so have -o csv: one table, of which the document for programs is an array. */
#pragma once

#include "session.h"

bool verb_has_rows (const Verb *verb);

/* "catalogue, groups and nodes": g_free() it. */
char *format_verbs_with_rows (void);
