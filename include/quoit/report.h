/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_REPORT_H
#define QUOIT_REPORT_H

#include <stdbool.h>

#include <quoit/amount.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitReport:
 *
 * Why a request fits or not: the verdict, what each constraint removed, and small sets of changes that would turn a
 * "no" into a "yes". Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitReport QuoitReport;

/**
 * QuoitVerdict:
 *
 * The numbers are those of #QuoitErrorCode and of the command's exit status.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_VERDICT_FITS = 0,
  QUOIT_VERDICT_NOT_NOW
  = 5, /* it would fit with every group released, known node alive and undrained, external use ended */
  QUOIT_VERDICT_NEVER = 6 /* not even then */
} QuoitVerdict;

/**
 * QuoitConstraint:
 *
 * What removes slices, or nodes for a bundle, from those that a request can use. A slice or node counts against the
 * first constraint that it does not satisfy. The numbers are permanent; they are not the order in which constraints
 * apply.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_CONSTRAINT_ACCELERATOR = 1,
  QUOIT_CONSTRAINT_TOPOLOGY = 2,
  QUOIT_CONSTRAINT_CHIPS_PER_HOST = 3,
  QUOIT_CONSTRAINT_POOL = 4,
  QUOIT_CONSTRAINT_ZONE = 5,
  QUOIT_CONSTRAINT_SELECTOR = 6,
  QUOIT_CONSTRAINT_NAMED_SLICE = 7,
  QUOIT_CONSTRAINT_EXCLUDED_SLICE = 8,
  QUOIT_CONSTRAINT_INTACT = 9,          /* slices: all hosts are alive and agree with each other */
  QUOIT_CONSTRAINT_DRAINING = 10,       /* no host is draining */
  QUOIT_CONSTRAINT_HELD = 11,           /* groups leave enough */
  QUOIT_CONSTRAINT_EXTERNAL = 12,       /* external use leaves enough */
  QUOIT_CONSTRAINT_TOPOLOGY_LABEL = 13, /* nodes: the node has the label */
  QUOIT_CONSTRAINT_TOTAL = 14,          /* nodes: the empty node is large enough */
  QUOIT_CONSTRAINT_ALIVE = 15,          /* nodes: the node is not dead */
  QUOIT_CONSTRAINT_CHIPS = 16,          /* nodes: whole chips are free, or enough of one chip */
  QUOIT_CONSTRAINT_STRATEGY = 17        /* nodes: all bundles fit together */
} QuoitConstraint;

/**
 * QuoitStepKind:
 *
 * One change that would help. Each kind has the members that its comment names; the others are %NULL or 0.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_STEP_NODE_BACK = 1,      /* the node, now dead, is alive again */
  QUOIT_STEP_UNDRAIN = 2,        /* the node is no longer draining */
  QUOIT_STEP_RELEASE = 3,        /* the group is released */
  QUOIT_STEP_EXTERNAL_ENDS = 4,  /* the external use of the node ends */
  QUOIT_STEP_FEWER_SLICES = 5,   /* request n_slices */
  QUOIT_STEP_OTHER_TOPOLOGY = 6, /* request the topology, on hosts of chips_per_host if that is not 0 */
  QUOIT_STEP_OTHER_HOSTS = 7,    /* request hosts of chips_per_host */
  QUOIT_STEP_LEASE_ENDS = 8,     /* the lease of the group ends at until_ms */
  QUOIT_STEP_SOURCE_REMOVES = 9  /* the source that owns the group removes it */
} QuoitStepKind;

/**
 * quoit_constraint_get_name:
 * @constraint: a constraint
 *
 * Returns: its name, as the command prints it: "named-slice"; "" for a number that is no constraint
 * Since: 0.1
 */
QUOIT_API const char *quoit_constraint_get_name (QuoitConstraint constraint);

/**
 * quoit_report_ref:
 * @report: the report
 *
 * Returns: (transfer full): @report with one more owner
 * Since: 0.1
 */
QUOIT_API QuoitReport *quoit_report_ref (QuoitReport *report);

/**
 * quoit_report_unref:
 * @report: (nullable): the report
 *
 * Since: 0.1
 */
QUOIT_API void quoit_report_unref (QuoitReport *report);

/**
 * quoit_report_get_verdict:
 * @report: the report
 *
 * Returns: whether the request fits, does not now, or never will
 * Since: 0.1
 */
QUOIT_API QuoitVerdict quoit_report_get_verdict (const QuoitReport *report);

/**
 * quoit_report_get_n_wanted:
 * @report: the report
 *
 * Returns: the slices, or bundles, that the request asks for
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_wanted (const QuoitReport *report);

/**
 * quoit_report_get_n_now:
 * @report: the report
 *
 * Returns: the slices that satisfy the request, or nodes that bundle can be placed on, now
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_now (const QuoitReport *report);

/**
 * quoit_report_get_n_could:
 * @report: the report
 *
 * Counts as if every group were released and every known node alive and undrained.
 *
 * Returns: the slices that satisfy the request, or nodes that bundle could be placed on, so
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_could (const QuoitReport *report);

/**
 * quoit_report_get_bundle:
 * @report: the report
 *
 * The bundle that is hardest to place: for which the fewest nodes are there now; of several the first. The reasons and
 * the nearest nodes are of that one.
 *
 * Returns: its number; -1 if slices were requested
 * Since: 0.1
 */
QUOIT_API int64_t quoit_report_get_bundle (const QuoitReport *report);

/**
 * quoit_report_get_n_misses:
 * @report: the report
 *
 * The nodes that come nearest to being enough for that bundle, where none is: at most three, the nearest first.
 *
 * Returns: how many are named
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_misses (const QuoitReport *report);

/**
 * quoit_report_get_miss_node:
 * @report: the report
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer none): the node, as it is displayed
 * Since: 0.1
 */
QUOIT_API const char *quoit_report_get_miss_node (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_resource:
 * @report: the report
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer none): the resource of which it has too little; of several the one that lacks most
 * Since: 0.1
 */
QUOIT_API const char *quoit_report_get_miss_resource (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_left:
 * @report: the report
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer full): how much of it is left there, as decimal text; g_free() it
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_report_get_miss_left (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_wanted:
 * @report: the report
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer full): how much of it the bundle wants, as decimal text; g_free() it
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_report_get_miss_wanted (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_is_proven:
 * @report: the report
 *
 * The search for a placement of bundles ends after a fixed number of steps.
 *
 * Returns: false where the verdict is only that nothing was found until then
 * Since: 0.1
 */
QUOIT_API bool quoit_report_is_proven (const QuoitReport *report);

/**
 * quoit_report_dup_summary:
 * @report: the report
 * @what: what was asked, to begin the sentence with
 *
 * Returns: (transfer full): verdict, numbers, dominant reason and first option in one sentence; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_report_dup_summary (const QuoitReport *report, const char *what);

/**
 * quoit_report_get_n_reasons:
 * @report: the report
 *
 * The main obstacle comes first: for not-now, a constraint that can change; for never, one that the request fixes.
 *
 * Returns: how many constraints removed slices
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_reasons (const QuoitReport *report);

/**
 * quoit_report_get_reason_constraint:
 * @report: the report
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the constraint
 * Since: 0.1
 */
QUOIT_API QuoitConstraint quoit_report_get_reason_constraint (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_reason_before:
 * @report: the report
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the slices that passed every constraint before this one
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_reason_before (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_reason_after:
 * @report: the report
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the slices of those that passed this one too
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_reason_after (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_dup_reason_text:
 * @report: the report
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: (transfer full): "2 of 3 slices are held by groups"; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_report_dup_reason_text (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_n_options:
 * @report: the report
 *
 * Returns: how many sets of changes are proposed, each of which alone turns the refusal into a yes; the smallest first
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_options (const QuoitReport *report);

/**
 * quoit_report_get_n_steps:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 *
 * Returns: the steps of the option, all of which must be taken
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_steps (const QuoitReport *report, uint32_t option);

/**
 * quoit_report_get_step_kind:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: what the step is
 * Since: 0.1
 */
QUOIT_API QuoitStepKind quoit_report_get_step_kind (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_node:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the name of the step's node
 * Since: 0.1
 */
QUOIT_API const char *quoit_report_get_step_node (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_group:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the handle NAME@ID of the step's group
 * Since: 0.1
 */
QUOIT_API const char *quoit_report_get_step_group (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_until_ms:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: when the lease ends, in milliseconds since 1970-01-01 UTC; 0 for other kinds
 * Since: 0.1
 */
QUOIT_API int64_t quoit_report_get_step_until_ms (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_topology:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the topology to request
 * Since: 0.1
 */
QUOIT_API const char *quoit_report_get_step_topology (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_chips_per_host:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the chips per host to request; 0: the default of the topology, or another kind
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_step_chips_per_host (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_n_slices:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the number of slices to request; 0 for other kinds
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_step_n_slices (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_dup_option_text:
 * @report: the report
 * @option: below quoit_report_get_n_options()
 *
 * Returns: (transfer full): "release train@17 and undrain host-3"; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_report_dup_option_text (const QuoitReport *report, uint32_t option);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitReport, quoit_report_unref)

G_END_DECLS

#endif
