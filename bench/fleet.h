/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets for measurements: v6e slices of 4x4 with four nodes each, like in the node list of a GKE cluster. */
#pragma once

#include "placement/placement.h"

enum { BENCH_NODES_PER_SLICE = 4 };

/* @n_nodes nodes in pools of @slices_per_pool slices, with names of 27 bytes, GKE's labels and addresses. */
QuoitClaims *bench_claims_new (guint32 n_nodes, guint32 slices_per_pool);
QuoitLayout *bench_layout_new (guint32 n_nodes, guint32 slices_per_pool);

/* A fleet with a random @percent of its slices allocated, each to a group of its own. */
QuoitFleet *bench_fleet_new (QuoitLayout *layout, guint percent);

QuoitRequest *bench_request_new (guint32 n);

QuoitGroupData *bench_group_new (const QuoitFleet *fleet, const QuoitPlan *plan, const char *name, guint64 id);
