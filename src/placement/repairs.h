/* SPDX-License-Identifier: Apache-2.0 */
/* The search for options that change the fleet, and the orders in which options are the best, for a request for slices
 * that depends on nothing but its candidates. Private to repairs.c and repairs-orders.c. */
#pragma once

#include "placement/placement.h"

/* One change: a node becomes usable, or a group ends and frees everything that it has. */
typedef struct {
  QuoitStepKind kind;
  guint32 node;
  const QuoitGroupData *group;     /* RELEASE */
  guint32 last_slice;              /* the last slice that needs it, + 1; prevents counting it twice */
  guint32 gain;                    /* number of slices that need only this release */
  guint32 first_repair, n_repairs; /* in step_repairs: the repairs that need it */
  guint32 n_fixed;                 /* number of these repairs that the selected steps complete */
  gboolean selected;
} QuoitRepairStep;

/* The steps that free a slice. */
typedef struct {
  guint32 slice;
  guint32 first_need, n_needs; /* in needs */
  guint32 n_groups;            /* number of releases in its needs */
  guint32 n_lacking;           /* number of its needs that are not selected */
} QuoitRepair;

typedef struct {
  QuoitReport *report;
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 n_short;      /* number of missing slices */
  QuoitRepair *repairs; /* fewest steps first */
  QuoitRepairStep *steps;
  guint32 *needs; /* step indices, by repair */
  guint32 n_repairs, n_steps, n_needs;
  guint32 room_repairs, room_steps, room_needs; /* how many the arrays have room for */
  GArray *selected;                             /* of guint32: step indices of the current option */
  guint32 *slot_step;                           /* by slot of a group: its step + 1 */
  guint32 *step_repairs;                        /* repair indices, by step */
  guint32 n_fixed;                              /* number of repairs all of whose steps are selected */
  gboolean has_planned_end, has_partial_group;  /* of a group: it ends by itself; it has no whole slices */
} QuoitRepairs;

static inline QuoitRepairStep *
quoit_repairs_step (const QuoitRepairs *search, guint32 step)
{
  return &search->steps[step];
}

static inline QuoitRepair *
quoit_repairs_repair (const QuoitRepairs *search, guint32 repair)
{
  return &search->repairs[repair];
}

static inline QuoitRepairStep *
quoit_repairs_need (const QuoitRepairs *search, const QuoitRepair *repair, guint32 need)
{
  return quoit_repairs_step (search, search->needs[repair->first_need + need]);
}

/* Selects a step, unless it is selected. */
void quoit_repairs_select (QuoitRepairs *search, guint32 index);
void quoit_repairs_unselect_last (QuoitRepairs *search);
void quoit_repairs_unselect_all (QuoitRepairs *search);
/* Adds the selected steps without those that are not necessary as an option, which is the best one in @orders
 * (quoit_order_bit()), and unselects them. */
void quoit_repairs_add_option (QuoitRepairs *search, QuoitEndManner manner, guint orders);

/* Adds an option of releases only. Returns FALSE if they are not enough. */
gboolean quoit_repairs_release (QuoitRepairs *search);
/* Adds the best option in each order: waiting only, the fewest groups, the fewest chips. Returns FALSE if there is
 * none: releases are not enough. */
gboolean quoit_repairs_find_orders (QuoitRepairs *search, const QuoitCandidates *candidates);
