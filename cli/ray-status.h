/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger in the words and the form of `ray status`. */
#pragma once

#include <quoit/quoit.h>

/* The output of `ray status`; with @verbose, that of `ray status -v`. g_free() it. */
char *ray_status (const QuoitSnapshot *snapshot, bool verbose);
