/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies resources of Ray by their names. */
#pragma once

#include <glib.h>

/* Returns whether the resource is CPU, GPU, TPU, memory or object_store_memory. */
gboolean quoit_resource_is_predefined (const char *name);
/* Returns whether the resource is memory or object_store_memory. Ray's state API prints their amounts as rounded text
 * such as "1.000 GiB". Therefore the amounts of bundles can add up to more than the node has. */
gboolean quoit_resource_is_rounded (const char *name);
/* Returns whether the resource is TPU-<pod type>-head, which worker 0 of a slice has. */
gboolean quoit_resource_is_slice_head (const char *name);
/* Returns whether the resource belongs to a placement group: CPU_group_<id>, TPU_group_0_<id>, bundle_group_<id>. */
gboolean quoit_resource_is_of_group (const char *name);
/* Returns whether the resource is node:__internal_implicit_resource_<any text>. Ray gives each node 1 of each such
 * resource without listing it, unless the node states another amount. */
gboolean quoit_resource_is_implicit (const char *name);
