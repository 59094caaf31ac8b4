/* SPDX-License-Identifier: Apache-2.0 */
/* Writes GKE's Slice objects (gke-kuberay-jax 9). */
#pragma once

#include "fleet/fleet.h"

/* Returns the object for slice @slice of a group as YAML, which the caller owns. Fails with INVALID if GKE cannot have
 * such a slice, and with NOT_FOUND if nodes lack the id of their cube or partition. */
char *quoit_write_gke_slice (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, GError **error);
