/* SPDX-License-Identifier: Apache-2.0 */
/* What Ray means by the name of a resource. */
#pragma once

#include <glib.h>

/* CPU, GPU, TPU, memory, object_store_memory. */
gboolean quoit_resource_is_predefined (const char *name);
/* TPU-<pod type>-head, which worker 0 of a slice has. */
gboolean quoit_resource_is_slice_head (const char *name);
/* Whether a placement group brought it: CPU_group_<id>, TPU_group_0_<id>, bundle_group_<id>. */
gboolean quoit_resource_is_of_group (const char *name);
/* node:__internal_implicit_resource_*: every node has 1 of it, unless it states another amount. */
gboolean quoit_resource_is_implicit (const char *name);
