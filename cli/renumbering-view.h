/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of renumberings: the changes of process ids and environments when the slices of a group change. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Appends two sections to @document: the processes, and the changed variables of the processes that stay. */
void describe_renumbering (Document *document, const QuoitRenumbering *renumbering);
