/* SPDX-License-Identifier: Apache-2.0 */
/* What is draining, and how to end that. */
#pragma once

#include <quoit/quoit.h>

#include "table.h"

/* Adds a row for each pool of which all live nodes are draining, then for each other slice, then for each other node.
 * @problems has the columns of the problems in `quoit status`. */
void drained_add (Table *problems, const QuoitSnapshot *snapshot);
