/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger in the words and the form of `ray status`. */
#pragma once

#include <quoit/quoit.h>

/* What `ray status` shows; with @verbose, of each node too, as `ray status -v` does. g_free() it. */
char *ray_status (const QuoitSnapshot *snapshot, bool verbose);
