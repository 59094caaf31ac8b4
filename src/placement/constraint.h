/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: tests that remove slices, or nodes for a bundle, from the candidates of a request. constraint.c has
 * one row per constraint, in the order in which they are applied. The public numbers of constraints do not define
 * that order.
 *
 * To add a constraint, add its public value and one row. */
#pragma once

#include "placement/key.h"
#include "placement/view.h"

/* What a constraint depends on. The order of the reasons in a report follows from it. */
typedef enum {
  QUOIT_CONSTRAINT_OF_ALL,      /* each bundle or slice fits by itself, but not all of them together */
  QUOIT_CONSTRAINT_OF_REQUEST,  /* the request limits itself to part of the fleet */
  QUOIT_CONSTRAINT_OF_HARDWARE, /* the fleet has other hardware */
  QUOIT_CONSTRAINT_OF_HEALTH,   /* the fleet has the hardware, but it is degraded */
  QUOIT_CONSTRAINT_OF_USE       /* the fleet has the hardware, but it is in use, draining or dead */
} QuoitConstraintType;

/* A bundle and a node on which it may be placed. The node has passed the rules of the request. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 bundle;
  const QuoitFleetView *now, *ever; /* see QuoitViewTime */
  QuoitNodeId node;
  guint32 now_index, ever_index; /* indices of @node in the views; now_index: QUOIT_NO_INDEX if not in that view */
} QuoitBundlePlace;

/* Which amounts show how much a node that violates the constraint lacks. */
typedef enum {
  QUOIT_MISS_NONE,     /* the node does not lack resources */
  QUOIT_MISS_TOTAL,    /* the totals of the node */
  QUOIT_MISS_AVAILABLE /* what is available on the node now */
} QuoitMissAmounts;

/* One constraint. A slice must pass class_test with its class, rule with its nodes, and slice_test. A node for a
 * bundle must pass rule and node_test. A test may be NULL. */
typedef struct {
  QuoitConstraint constraint;
  const char *name; /* printed by programs */
  QuoitConstraintType type;
  const char *slices, *nodes; /* ends "3 of 4 slices are "; NULL: does not apply to slices, or to nodes */
  gboolean (*class_test) (const QuoitSliceFacts *facts, const QuoitRequest *request);
  gboolean (*is_used) (const QuoitRequest *request); /* whether the request has this rule */
  gboolean (*rule) (const QuoitNodeRules *rules, QuoitNodeId node);
  QuoitLabelScope (*scope) (const QuoitRequest *request);          /* of the rule, if the request has it */
  void (*append_key) (QuoitKey *key, const QuoitRequest *request); /* identifies a rule that has a scope */
  const guint64 *(*slice_bits) (const QuoitNodeRules *rules); /* instead of scope: the slices that satisfy the rule */
  gboolean (*slice_test) (QuoitSliceFlags flags);
  gboolean (*node_test) (const QuoitBundlePlace *place);
  gboolean omits_nodes; /* a view may omit nodes that violate this constraint for every bundle */
  QuoitMissAmounts miss;
  /* Returns what was requested, for the text of a reason. @bundle is QUOIT_NO_INDEX for slices. The caller owns the
   * result. NULL: the text needs no more. */
  char *(*detail) (const QuoitRequest *request, guint32 bundle);
} QuoitConstraintRow;

/* The table. A position is an index in it. */
extern const QuoitConstraintRow quoit_constraints[];
extern const guint quoit_n_constraints;

/* Returns the position of a constraint, or QUOIT_NO_CONSTRAINT if it does not exist. */
guint quoit_constraint_position (QuoitConstraint constraint);
/* Returns the position of the constraint that nodes outside a view do not satisfy. */
guint quoit_constraint_of_omitted_nodes (void);

static inline gboolean
quoit_constraint_can_change (const QuoitConstraintRow *row)
{
  return row->type != QUOIT_CONSTRAINT_OF_REQUEST && row->type != QUOIT_CONSTRAINT_OF_HARDWARE;
}

/* Tests of classes. The last one needs facts with the accelerator and the topology of the request. */
static inline gboolean
quoit_class_has_accelerator (const QuoitSliceFacts *facts, const QuoitRequest *request)
{
  return facts->generation == request->generation;
}

static inline gboolean
quoit_class_has_topology (const QuoitSliceFacts *facts, const QuoitRequest *request)
{
  return quoit_shape_equal (facts->shape, request->shape);
}

static inline gboolean
quoit_class_has_chips_per_host (const QuoitSliceFacts *facts, const QuoitRequest *request)
{
  return request->chips_per_host == 0 ? facts->has_default_hosts : facts->chips_per_host == request->chips_per_host;
}

/* Returns whether slices with these facts satisfy the constraints of classes. */
static inline gboolean
quoit_constraints_allow_class (const QuoitSliceFacts *facts, const QuoitRequest *request)
{
  return quoit_class_has_accelerator (facts, request) && quoit_class_has_topology (facts, request)
         && quoit_class_has_chips_per_host (facts, request);
}

/* Return the position of the first constraint that is not satisfied, or QUOIT_NO_CONSTRAINT if all are. */
guint quoit_constraint_first_failed_by_class (const QuoitSliceFacts *facts, const QuoitRequest *request);
guint quoit_constraint_first_failed_by_flags (QuoitSliceFlags flags);
guint quoit_constraint_first_failed_by_place (const QuoitBundlePlace *place);

/* Tests of nodes, defined in constraint-nodes.c. */
gboolean quoit_place_has_labels (const QuoitBundlePlace *place);
gboolean quoit_place_has_topology_label (const QuoitBundlePlace *place);
gboolean quoit_place_has_total (const QuoitBundlePlace *place);
gboolean quoit_place_is_known_alive (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_draining (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_allocated (const QuoitBundlePlace *place);
gboolean quoit_place_is_not_used (const QuoitBundlePlace *place);
gboolean quoit_place_has_chips (const QuoitBundlePlace *place);
/* Like quoit_place_has_chips(), for a node of a view. */
gboolean quoit_view_has_chips (const QuoitFleetView *view, guint32 bundle, guint32 node);
