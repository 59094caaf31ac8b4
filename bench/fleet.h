/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets to measure: v6e slices of 4x4, four nodes each, as a GKE cluster would list them. */
#pragma once

#include "placement/placement.h"

enum { BENCH_NODES_PER_SLICE = 4 };

/* @n_nodes nodes in pools of @slices_per_pool slices; names of 27 bytes, GKE's labels, addresses. */
QuoitClaims *bench_claims_new (guint32 n_nodes, guint32 slices_per_pool);
QuoitLayout *bench_layout_new (guint32 n_nodes, guint32 slices_per_pool);

/* An own fleet, of which a random @percent of the slices are held, each by a group of its own. */
QuoitFleet *bench_fleet_new (QuoitLayout *layout, guint percent);

/* A request for @n slices of 4x4. */
QuoitRequest *bench_request_new (guint32 n);

/* The group that has what @plan says. */
QuoitGroupData *bench_group_new (const QuoitFleet *fleet, const QuoitPlan *plan, const char *name, guint64 id);
