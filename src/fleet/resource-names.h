/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies resources of Ray by their names. */
#pragma once

#include <glib.h>

/* CPU, GPU, TPU, memory, object_store_memory. */
gboolean quoit_resource_is_predefined (const char *name);
/* TPU-<pod type>-head, on worker 0 of a slice. */
gboolean quoit_resource_is_slice_head (const char *name);
/* Resources of a placement group: CPU_group_<id>, TPU_group_0_<id>, bundle_group_<id>. */
gboolean quoit_resource_is_of_group (const char *name);
/* node:__internal_implicit_resource_*: each node has 1, unless it states another amount. */
gboolean quoit_resource_is_implicit (const char *name);
