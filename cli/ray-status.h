/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the ledger like `ray status` prints a Ray cluster. */
#pragma once

#include <quoit/quoit.h>

/* The output of `ray status`; with @verbose, that of `ray status -v`. g_free() it. */
char *ray_status_format (const QuoitSnapshot *snapshot, bool verbose);
