/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of renumberings. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Two sections of @document: the processes, and the variables that differ for those that stay. */
void describe_renumbering (Document *document, const QuoitRenumbering *renumbering);
