/* SPDX-License-Identifier: Apache-2.0 */
/* What JAX reads from the environments of the processes of a group. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Whether the process belongs to a bundle without chips. Such a process is in no slice, and not in the JAX job. */
bool process_lacks_chips (const QuoitTopology *topology, uint32_t process);

/* Appends two sections to @document: the processes whose ids are in @chosen (uint32_t), and notes about the whole
 * group, those of @topology first. */
void describe_jax_view (Document *document, const QuoitTopology *topology, const GArray *chosen);
