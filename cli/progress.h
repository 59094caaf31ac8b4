/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on a terminal that a verb still works: after half a second, a line on stderr with the time. */
#pragma once

#include "session.h"

/* Begins for verbs that can take long. Does nothing for other verbs, and if stderr is no terminal. */
void progress_begin (const Verb *verb);
/* Removes the line. Call it before anything else is written; further calls do nothing. */
void progress_end (void);
