/* SPDX-License-Identifier: Apache-2.0 */
/* A group of bundles as processes: what each has of its node, and whether together they are one job. Pure. */
#pragma once

#include <quoit/topology.h>

#include "fleet/fleet.h"
#include "geometry/boxes.h"

/* A bundle. */
typedef struct {
  guint32 bundle;    /* its number in the group */
  guint32 node;      /* index in the layout */
  guint32 slice;     /* likewise; QUOIT_NO_INDEX: in none */
  guint32 local;     /* of the parts of its node, by place */
  guint64 chips;     /* of the node, all that it has any of */
  gboolean has_part; /* one of them is not its alone */
  QuoitBox box;      /* its chips: in the slice, or where that is not known in the host */
} QuoitPart;

typedef struct {
  GArray *parts;  /* of QuoitPart, those with chips: slice by slice, host by host, chip by chip */
  GArray *others; /* of QuoitPart, those without, by bundle */
  GArray *slices; /* of guint32: those of the layout that the parts stand in */
  GArray *boxes;  /* of QuoitBox: what the job has of each; of QUOIT_JOB_BOXES */
  QuoitJob job;
  guint32 per_host; /* processes of a host; of QUOIT_JOB_SLICES */
  char *apart;      /* what keeps them from being one job, where there are several; NULL: nothing does */
} QuoitParts;

/* NOT_NOW for a bundle that stands on no node. */
QuoitParts *quoit_parts_of (const QuoitLayout *layout, const QuoitGroupData *group, GError **error);
void quoit_parts_free (QuoitParts *parts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitParts, quoit_parts_free)

/* Finds the job that the parts are, or what keeps them from being one. */
void quoit_parts_find_job (const QuoitLayout *layout, QuoitParts *parts);
/* Where a chip of a part's node is in its slice; FALSE where that is not known. */
gboolean quoit_part_find_spot (const QuoitLayout *layout, const QuoitPart *part, guint32 chip, QuoitSpot *spot);
