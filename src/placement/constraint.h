/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: what removes slices, or nodes for a bundle, from those that a request can use. constraint.c has one row
 * for each, in the order in which they are applied; their public numbers say nothing about that order. */
#pragma once

#include "placement/view.h"

/* What a reason of a constraint is about. It orders the reasons of a report. */
typedef enum {
  QUOIT_CONSTRAINT_OF_ALL,      /* each bundle fits by itself, but not all of them together */
  QUOIT_CONSTRAINT_OF_REQUEST,  /* the request limits itself to a part of the fleet */
  QUOIT_CONSTRAINT_OF_HARDWARE, /* the fleet consists of something else */
  QUOIT_CONSTRAINT_OF_HEALTH,   /* the fleet has it, but it is not whole */
  QUOIT_CONSTRAINT_OF_USE       /* the fleet has it, but it is in use, draining or dead */
} QuoitConstraintType;

/* A node as the place of one bundle, after the rules of the request. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 bundle;
  const QuoitFleetView *now, *ever;
  QuoitNodeId node;
  guint32 in_now, in_ever; /* the numbers of @node in the views; @in_now is QUOIT_NO_INDEX unless the node is alive */
} QuoitBundlePlace;

/* A row has the tests of what it applies to: a slice passes @class_test of its class, @rule of its nodes and
 * @slice_test; a node passes @rule and @node_test. */
typedef struct {
  QuoitConstraint constraint;
  const char *name; /* as programs print it */
  QuoitConstraintType type;
  const char *slices, *nodes; /* "3 of 4 slices are ..."; NULL: the constraint does not apply to slices, or to nodes */
  gboolean (*class_test) (const QuoitSliceFacts *facts, const QuoitRequest *request);
  gboolean (*is_used) (const QuoitRequest *request); /* whether the request has such a rule */
  gboolean (*rule) (const QuoitNodeRules *rules, QuoitNodeId node);
  gboolean is_slice_wide; /* @rule has the same result for all nodes of a slice */
  gboolean (*slice_test) (const QuoitSliceStatus *status);
  gboolean (*node_test) (const QuoitBundlePlace *place);
  /* What was requested, for the text of a reason; @bundle QUOIT_NO_INDEX: slices. NULL: nothing to add. Owned. */
  char *(*detail) (const QuoitRequest *request, guint32 bundle);
} QuoitConstraintRow;

extern const QuoitConstraintRow quoit_constraints[QUOIT_N_CONSTRAINTS];

/* The position of a constraint in the order; QUOIT_N_CONSTRAINTS: there is no such constraint. */
guint quoit_constraint_position (QuoitConstraint constraint);

static inline gboolean
quoit_constraint_can_change (const QuoitConstraintRow *row)
{
  return row->type != QUOIT_CONSTRAINT_OF_REQUEST && row->type != QUOIT_CONSTRAINT_OF_HARDWARE;
}

/* The positions of the first constraint that something does not satisfy; QUOIT_N_CONSTRAINTS: it satisfies all. */
guint quoit_constraint_first_of_class (const QuoitSliceFacts *facts, const QuoitRequest *request);
guint quoit_constraint_first_of_status (const QuoitSliceStatus *status);
guint quoit_constraint_first_of_place (const QuoitBundlePlace *place);

/* constraint-nodes.c: the tests of a bundle's place. */
gboolean quoit_place_has_labels (const QuoitBundlePlace *place);
gboolean quoit_place_has_topology_label (const QuoitBundlePlace *place);
gboolean quoit_place_has_total (const QuoitBundlePlace *place);
gboolean quoit_place_is_known_alive (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_draining (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_held (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_used (const QuoitBundlePlace *place);
gboolean quoit_place_has_chips (const QuoitBundlePlace *place);
/* The same on a node of the view alone. */
gboolean quoit_view_has_chips (const QuoitFleetView *now, guint32 bundle, guint32 node);
