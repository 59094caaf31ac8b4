/* SPDX-License-Identifier: Apache-2.0 */
/* The environments of a group as JAX reads them. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Whether it is of a bundle without chips, and so in no slice and in no job of JAX's. */
bool process_lacks_chips (const QuoitTopology *topology, uint32_t process);

/* Two sections of @document: the processes of @chosen (uint32_t, by process id), and what is to be known of them, the
 * notes of @topology first. */
void describe_jax_view (Document *document, const QuoitTopology *topology, const GArray *chosen);
