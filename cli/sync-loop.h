/* SPDX-License-Identifier: Apache-2.0 */
/* quoit sync --every: reads a source again and again. */
#pragma once

#include "source-input.h"

/* Syncs the source about every @every (a duration), and prints what changes. A source that fails is reported on stderr,
 * and is read again later and later until it answers; but a file must be readable the first time. Ends by SIGINT,
 * SIGTERM or SIGHUP like these signals, and returns false if the ledger cannot be used any more, or if the arguments
 * are wrong. */
bool sync_loop_run (Session *session, const SourceOptions *options, const char *every, bool dry_run, GError **error);
