/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the checker of histories. */
#pragma once

#include <glib.h>

/* Returns the number of planted contradictions. The checker must have found each of them. */
guint find_planted (void);
