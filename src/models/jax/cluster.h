/* SPDX-License-Identifier: Apache-2.0 */
/* How JAX identifies a process of a cluster. */
#pragma once

#include <quoit/models/jax.h>

/* Like quoit_jax_cluster_detect() for a process whose environment is @variables (quoit_variable_new()): they are
 * shared, not copied. The process has no metadata server and no address file. */
QuoitJaxCluster *quoit_jax_cluster_detect_shared (const GPtrArray *variables, GError **error);
