/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a group, from which topologies and devices are made. */
#pragma once

#include "api/handles.h"
#include "launch/topology.h"

/* Makes the processes of @group. @cast borrows from @group and *@parts. *@parts is NULL if the group has whole
 * hosts. Fails with INVALID if the group has no nodes, or if a bundle has chips that no process can use, and with
 * NOT_NOW if a bundle has no node. */
gboolean quoit_group_cast (const QuoitGroup *group, QuoitCast *cast, QuoitParts **parts, GError **error);

/* Makes the topology with the variables that Ray Train sets. The caller owns it. */
QuoitTopology *quoit_topology_ray_train (const QuoitCast *cast, const QuoitLaunch *launch, GError **error);
