/* SPDX-License-Identifier: Apache-2.0 */
/* A group as the processes that topologies and devices are made of. */
#pragma once

#include "api/handles.h"
#include "launch/topology.h"

/* INVALID for a group that holds nothing, and where a bundle has chips that no process can have; NOT_NOW where one
 * stands nowhere. @cast borrows from @group and from @parts, which is NULL where the group has its hosts whole. */
gboolean quoit_group_cast (const QuoitGroup *group, QuoitCast *cast, QuoitParts **parts, GError **error);

/* What Ray Train sets, which is in Ray's arithmetic and so in no layer below. */
QuoitTopology *quoit_topology_ray_train (const QuoitCast *cast, const QuoitLaunch *launch, GError **error);
