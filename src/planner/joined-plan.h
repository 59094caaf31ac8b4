/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the planner: a plan of moves of cubes while it is made. It has a fork on which its groups are repaired, so
 * that one more move costs one repair, however many moves there are before. */
#pragma once

#include "placement/cubes/cubing.h"
#include "planner/closing.h"

typedef struct {
  const QuoitCubing *cubing; /* of the slices that are to be joined, in the fleet before */
  QuoitFleet *fork;          /* after the repairs; the hosts of closed cubes drain */
  QuoitClosing closing;
  QuoitCubeSet *free;   /* cubes in blocks that are free when the closed ones are open again */
  QuoitCubeSet *closed; /* cubes */
  guint32 *n_free;      /* by block */
  guint32 *n_slices;    /* by block: how many slices its free cubes make */
  guint8 *is_kept;      /* by block: the cubes of its slices are closed */
  guint32 n_total;      /* slices of all blocks */
  gboolean is_mixed;    /* cubes were closed after a repair, which could have taken them */
} QuoitJoinedPlan;

static inline guint32
quoit_joined_plan_n_blocks (const QuoitJoinedPlan *plan)
{
  return plan->cubing->blocks == NULL ? 0 : plan->cubing->blocks->n;
}

/* Plans no moves. @cubing must outlive the plan. */
void quoit_joined_plan_init (QuoitJoinedPlan *plan, const QuoitCubing *cubing);
void quoit_joined_plan_copy (const QuoitJoinedPlan *plan, QuoitJoinedPlan *copy);
void quoit_joined_plan_clear (QuoitJoinedPlan *plan);

/* Closes the cubes, so that they drain. */
void quoit_joined_plan_close (QuoitJoinedPlan *plan, const guint32 *cubes, guint n);
/* Opens the cubes of a group that cannot be repaired. */
void quoit_joined_plan_open_group (QuoitJoinedPlan *plan, const QuoitGroupData *group);
/* Closes free cubes of the block so that it holds as many slices as possible when the @n cubes, which are in the block,
 * have become free. Other free cubes stay open. */
void quoit_joined_plan_keep (QuoitJoinedPlan *plan, guint32 block, const guint32 *leaving, guint n);

/* Repairs the group. Sets the gain of its last move to the slices that can be joined then, less those before. Returns
 * FALSE if the repair is refused or the steps end. Each repair takes a step. */
gboolean quoit_joined_plan_repair (QuoitJoinedPlan *plan, const QuoitGroupData *group, guint64 *steps);
/* Like that, but if a block would then hold fewer slices than before, keeps that block and repairs again. Closes blocks
 * also if it returns FALSE. */
gboolean quoit_joined_plan_repair_apart (QuoitJoinedPlan *plan, const QuoitGroupData *group, guint64 *steps);
