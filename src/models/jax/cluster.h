/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a process of a cluster as JAX does. */
#pragma once

#include <quoit/models/jax.h>

/* Like quoit_jax_cluster_detect(), for a process whose environment is @variables (from quoit_variable_new()). They are
 * shared, not copied. The process has no metadata server and no address file. */
QuoitJaxCluster *quoit_jax_cluster_detect_shared (const GPtrArray *variables, GError **error);
