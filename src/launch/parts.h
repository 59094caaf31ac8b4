/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a group of bundles: the chips of each bundle on its node, and whether they form one job. Pure
 * functions. */
#pragma once

#include <quoit/topology.h>

#include "fleet/fleet.h"
#include "geometry/boxes.h"

/* The chips that one bundle uses on its node. */
typedef struct {
  guint32 bundle;            /* its index in the group */
  guint32 node;              /* index in the layout */
  guint32 slice;             /* index in the layout; QUOIT_NO_INDEX: no slice */
  guint32 job_slice;         /* index in the slices of the job; QUOIT_NO_INDEX: no slice */
  guint32 local_index;       /* its index among the parts of its node */
  guint64 chips;             /* chips of the node that it uses, wholly or partly */
  gboolean has_partial_chip; /* it uses only a part of one of them */
  QuoitBox box;              /* the chips: in the slice, or in the host if the position in the slice is unknown */
} QuoitPart;

/* All parts of a group. */
typedef struct {
  GArray *parts;         /* of QuoitPart: those with chips, sorted by slice, host and chip */
  GArray *without_chips; /* of QuoitPart: those without chips, sorted by bundle */
  GArray *slices;        /* of guint32: the slices of the job, as indices in the layout: those that contain parts, in
                          * order; for a group of parts of slices, the slice of each of them */
  GArray *boxes;         /* of QuoitBox: the chips of the job in each of @slices; for QUOIT_JOB_BOXES */
  gboolean are_cut;      /* the group has parts of slices, each of which is a slice of the job */
  QuoitJob job;
  guint32 per_host;      /* processes per host; for QUOIT_JOB_SLICES */
  char *separate_reason; /* why the parts are not one job; NULL: they are, or there is only one */
} QuoitParts;

/* Fails with NOT_NOW for a bundle that is not placed. */
QuoitParts *quoit_parts_new (const QuoitLayout *layout, const QuoitGroupData *group, GError **error);
void quoit_parts_free (QuoitParts *parts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitParts, quoit_parts_free)

/* Determines which job the parts form, or why they form none. Sets @job, @per_host, @boxes and @separate_reason. */
void quoit_parts_find_job (const QuoitLayout *layout, QuoitParts *parts);
/* Finds the coordinates of a chip of the part's node in its slice. Returns FALSE if they are unknown. */
gboolean quoit_part_find_position (const QuoitLayout *layout, const QuoitPart *part, guint32 chip,
                                   QuoitPosition *position);
