/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: rules that remove slices, or nodes for a bundle, from the candidates of a request. constraint.c has
 * one row per constraint, in the order in which they are applied. Their public numbers do not define that order. */
#pragma once

#include "placement/view.h"

/* The subject of a constraint. It determines the order of the reasons in a report. */
typedef enum {
  QUOIT_CONSTRAINT_OF_ALL,      /* each bundle fits by itself, but not all of them together */
  QUOIT_CONSTRAINT_OF_REQUEST,  /* the request limits itself to part of the fleet */
  QUOIT_CONSTRAINT_OF_HARDWARE, /* the fleet has other hardware */
  QUOIT_CONSTRAINT_OF_HEALTH,   /* the fleet has it, but degraded */
  QUOIT_CONSTRAINT_OF_USE       /* the fleet has it, but it is used, draining or dead */
} QuoitConstraintType;

/* A node as a possible place of one bundle. It has passed the rules of the request. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 bundle;
  const QuoitFleetView *now, *ever;
  QuoitNodeId node;
  guint32 in_now, in_ever; /* indices of @node in the views; @in_now is QUOIT_NO_INDEX unless the node is alive */
} QuoitBundlePlace;

/* One constraint. A slice must pass @class_test with its class, @rule with its nodes, and @slice_test. A node must
 * pass @rule and @node_test. A test may be NULL. */
typedef struct {
  QuoitConstraint constraint;
  const char *name; /* printed by programs */
  QuoitConstraintType type;
  const char *slices, *nodes; /* "3 of 4 slices are ..."; NULL: does not apply to slices, or to nodes */
  gboolean (*class_test) (const QuoitSliceFacts *facts, const QuoitRequest *request);
  gboolean (*is_used) (const QuoitRequest *request); /* whether the request has this rule */
  gboolean (*rule) (const QuoitNodeRules *rules, QuoitNodeId node);
  gboolean is_slice_wide; /* @rule returns the same for all nodes of a slice */
  gboolean (*slice_test) (const QuoitSliceStatus *status);
  gboolean (*node_test) (const QuoitBundlePlace *place);
  /* Returns what was requested, for the text of a reason. @bundle is QUOIT_NO_INDEX for slices. NULL: nothing to
   * add. The caller owns the result. */
  char *(*detail) (const QuoitRequest *request, guint32 bundle);
} QuoitConstraintRow;

extern const QuoitConstraintRow quoit_constraints[QUOIT_N_CONSTRAINTS];

/* Returns the position of a constraint in the order, or QUOIT_N_CONSTRAINTS if it does not exist. */
guint quoit_constraint_position (QuoitConstraint constraint);

static inline gboolean
quoit_constraint_can_change (const QuoitConstraintRow *row)
{
  return row->type != QUOIT_CONSTRAINT_OF_REQUEST && row->type != QUOIT_CONSTRAINT_OF_HARDWARE;
}

/* Return the position of the first constraint that is not satisfied, or QUOIT_N_CONSTRAINTS if all are. */
guint quoit_constraint_first_of_class (const QuoitSliceFacts *facts, const QuoitRequest *request);
guint quoit_constraint_first_of_status (const QuoitSliceStatus *status);
guint quoit_constraint_first_of_place (const QuoitBundlePlace *place);

/* Tests of a bundle's place, defined in constraint-nodes.c. */
gboolean quoit_place_has_labels (const QuoitBundlePlace *place);
gboolean quoit_place_has_topology_label (const QuoitBundlePlace *place);
gboolean quoit_place_has_total (const QuoitBundlePlace *place);
gboolean quoit_place_is_known_alive (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_draining (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_held (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_used (const QuoitBundlePlace *place);
gboolean quoit_place_has_chips (const QuoitBundlePlace *place);
/* As quoit_place_has_chips(), for a node of a view. */
gboolean quoit_view_has_chips (const QuoitFleetView *view, guint32 bundle, guint32 node);
