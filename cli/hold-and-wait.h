/* SPDX-License-Identifier: Apache-2.0 */
/* Hold-and-wait: callers that each have a part of what they need, and wait for the rest. */
#pragma once

#include <quoit/quoit.h>

/* Returns a sentence if the pending group waits for the head of a slice while heads of other slices of that type are
 * all that somebody has of them. Ray's callers of several slices reserve the heads one after the other, so such callers
 * can block each other. NULL: that is not so. The caller frees the text. */
char *hold_and_wait_describe (const QuoitSnapshot *snapshot, const QuoitGroup *waiting);
