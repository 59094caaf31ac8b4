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
 * The reasons why a request fits or not: the verdict, the number of slices or nodes that each constraint removed, and
 * options, which are small sets of changes after which the request fits. Immutable; any thread can read it.
 *
 * A report on a request of slices counts slices. A report on a request of bundles counts nodes for one of the bundles,
 * quoit_report_get_bundle().
 */
typedef struct _QuoitReport QuoitReport;

/**
 * QuoitVerdict:
 *
 * Whether a request fits. The numbers are those of #QuoitErrorCode and of the command's exit status.
 */
typedef enum {
  QUOIT_VERDICT_FITS = 0,    /* it can be placed now */
  QUOIT_VERDICT_NOT_NOW = 5, /* it would fit if every group were released, every known node were alive and undrained, */
                             /* and external use had ended */
  QUOIT_VERDICT_NEVER = 6    /* it would not fit even then */
} QuoitVerdict;

/**
 * QuoitConstraint:
 *
 * A test that removes slices from those that a request can use, or nodes from those that a bundle can be placed on. A
 * slice or node counts against the first constraint that it fails. The numbers are permanent; they are not the order of
 * the tests.
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
  QUOIT_CONSTRAINT_INTACT = 9,          /* slices: all hosts are alive or draining, and agree with each other */
  QUOIT_CONSTRAINT_DRAINING = 10,       /* no host of the slice is draining, or the node is not draining */
  QUOIT_CONSTRAINT_ALLOCATED = 11,      /* slices: not allocated to groups, confirmed or not; nodes: enough is not */
  QUOIT_CONSTRAINT_EXTERNAL = 12,       /* slices: not in external use; nodes: enough is not */
  QUOIT_CONSTRAINT_TOPOLOGY_LABEL = 13, /* nodes: the node has the label */
  QUOIT_CONSTRAINT_TOTAL = 14,          /* nodes: the node would be large enough if it were empty */
  QUOIT_CONSTRAINT_ALIVE = 15,          /* nodes: the node is not dead */
  QUOIT_CONSTRAINT_CHIPS = 16,          /* nodes: enough whole chips are free, or enough of one chip */
  QUOIT_CONSTRAINT_STRATEGY = 17,       /* nodes: the nodes have room for all bundles together */
  QUOIT_CONSTRAINT_QUOTA = 18,          /* the quotas admit the slices, or all bundles; see quoit_ledger_set_quota() */
  QUOIT_CONSTRAINT_EXCLUDED_NODE = 19,  /* no host of the slice, or not the node, is excluded by name */
  QUOIT_CONSTRAINT_ONE_ZONE = 20,       /* slices: all hosts are in one zone, if the request compares zones */
  QUOIT_CONSTRAINT_KEEP_TO = 21,        /* slices: in the pool or zone that has most; quoit_request_keep_to() */
  QUOIT_CONSTRAINT_SPREAD = 22,         /* slices: within the skew; see quoit_request_spread_over() */
  QUOIT_CONSTRAINT_BLOCK = 23,          /* slices: cubes of a block that can hold a slice; quoit_request_set_cubes() */
  QUOIT_CONSTRAINT_CUBE_LABEL = 24      /* slices: cubes with a valid block, or a valid position in it; the detail */
                                        /* names the label that is missing */
} QuoitConstraint;

/**
 * QuoitStepKind:
 *
 * The kind of a change that would help. A step has only the members that the comment of its kind mentions; the others
 * are %NULL or 0.
 */
typedef enum {
  QUOIT_STEP_NODE_ALIVE = 1,     /* the node, now dead, is alive again */
  QUOIT_STEP_UNDRAIN = 2,        /* the node is no longer draining */
  QUOIT_STEP_RELEASE = 3,        /* the group is released */
  QUOIT_STEP_EXTERNAL_ENDS = 4,  /* the external use of the node ends */
  QUOIT_STEP_FEWER_SLICES = 5,   /* request n_slices */
  QUOIT_STEP_OTHER_TOPOLOGY = 6, /* request the topology, on hosts of chips_per_host if that is not 0 */
  QUOIT_STEP_OTHER_HOSTS = 7,    /* request hosts of chips_per_host */
  QUOIT_STEP_LEASE_ENDS = 8,     /* the lease of the group ends at until_ms unless it is renewed, or the group is a */
                                 /* reservation ahead that ends then */
  QUOIT_STEP_SOURCE_REMOVES = 9, /* the source that owns the group removes it */
  QUOIT_STEP_WINDOW_ENDS = 10,   /* the window of the calendar that the group names ends at until_ms */
  QUOIT_STEP_SHRINK = 11,        /* the group, which is elastic or to be repaired, is resized to n_slices */
  QUOIT_STEP_EXPECTED_END = 12,  /* the group is expected to end at until_ms; see quoit_ledger_set_expected_end() */
  QUOIT_STEP_CUT = 13,           /* request parts of larger slices: quoit_request_set_cut() with QUOIT_CUT_ANY */
  QUOIT_STEP_CUT_PARTITION = 14, /* the same with QUOIT_CUT_PARTITION, for tpu7x, which has no other parts */
  QUOIT_STEP_JOIN_CUBES = 15     /* request slices of cubes: quoit_request_set_cubes() with QUOIT_CUBES_ANY */
} QuoitStepKind;

/**
 * QuoitOptionOrder:
 *
 * An order in which the options of a report are compared. The options of these orders only wait for groups, or release
 * groups: nodes stay as they are, and external use goes on.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_OPTION_ORDER_EARLIEST = 1,      /* waiting only: nothing is released; the earliest time comes first */
  QUOIT_OPTION_ORDER_FEWEST_GROUPS = 2, /* releasing only, at once: the fewest groups come first */
  QUOIT_OPTION_ORDER_FEWEST_CHIPS = 3   /* releasing only, at once: the groups with the fewest chips come first */
} QuoitOptionOrder;

/**
 * quoit_constraint_get_name:
 *
 * Returns: the name that the command prints: "named-slice"; "" for an unknown number
 */
QUOIT_API const char *quoit_constraint_get_name (QuoitConstraint constraint);

/**
 * quoit_report_ref:
 *
 * Returns: (transfer full): @report with one more owner
 */
QUOIT_API QuoitReport *quoit_report_ref (QuoitReport *report);

/**
 * quoit_report_unref:
 * @report: (nullable): the report
 */
QUOIT_API void quoit_report_unref (QuoitReport *report);

/**
 * quoit_report_get_verdict:
 *
 * Returns: the verdict
 */
QUOIT_API QuoitVerdict quoit_report_get_verdict (const QuoitReport *report);

/**
 * quoit_report_get_alternative:
 *
 * Returns which alternative of the request the report is about (quoit_request_add_alternative()): the first one that
 * fits, else the first one that fits later, else the request itself. A reservation gets that alternative, or is refused
 * with its error code.
 *
 * Returns: the number of alternatives before it; 0: the request itself
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_alternative (const QuoitReport *report);

/**
 * quoit_report_get_n_alternatives:
 *
 * Returns: the number of reports that quoit_report_dup_alternative() has: 1 for a request without alternatives, and for
 *   a report from there
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_n_alternatives (const QuoitReport *report);

/**
 * quoit_report_dup_alternative:
 * @alternative: below quoit_report_get_n_alternatives(); 0: the request itself
 *
 * Fails with the error of the alternative if there is no report on it, such as %QUOIT_ERROR_NOT_FOUND for a pool that
 * the fleet does not have.
 *
 * Returns: (transfer full): the report on that alternative, which is @report itself for
 *   quoit_report_get_alternative(); quoit_report_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitReport *quoit_report_dup_alternative (QuoitReport *report, uint32_t alternative, GError **error);

/**
 * quoit_report_get_n_wanted:
 *
 * Returns: the requested number of slices, or of bundles; for a range of slices, its lower end
 */
QUOIT_API uint32_t quoit_report_get_n_wanted (const QuoitReport *report);

/**
 * quoit_report_get_n_free_now:
 *
 * Returns: the number of slices that are free and match the request, at most as many as its domains allow and the
 *   quotas admit; or of nodes that have room for the bundle; at present
 */
QUOIT_API uint32_t quoit_report_get_n_free_now (const QuoitReport *report);

/**
 * quoit_report_get_n_possible:
 *
 * Returns: what quoit_report_get_n_free_now() would return if every group were released, every known node were alive
 *   and undrained, and external use had ended
 */
QUOIT_API uint32_t quoit_report_get_n_possible (const QuoitReport *report);

/**
 * quoit_report_get_bundle:
 *
 * Returns the bundle that the report is about: the one that is hardest to place, because the fewest nodes have room for
 * it now. If several bundles have the same number of nodes, it is the first of them.
 *
 * Returns: the index of the bundle; -1 if slices were requested
 */
QUOIT_API int64_t quoit_report_get_bundle (const QuoitReport *report);

/**
 * quoit_report_get_n_misses:
 *
 * Returns the number of nodes that come nearest to having room for the bundle. The report names up to three if no node
 * has room, the nearest first.
 *
 * Returns: the number of nodes
 */
QUOIT_API uint32_t quoit_report_get_n_misses (const QuoitReport *report);

/**
 * quoit_report_get_miss_node:
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer none): the name of the node: the short name if it is unambiguous, else source/pool/name
 */
QUOIT_API const char *quoit_report_get_miss_node (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_resource:
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: (transfer none): the resource of which the node has too little; of several, the one with the largest
 *   relative shortage
 */
QUOIT_API const char *quoit_report_get_miss_resource (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_available:
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: the amount of the resource quoit_report_get_miss_resource() that is free on the node
 */
QUOIT_API QuoitAmount quoit_report_get_miss_available (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_get_miss_requested:
 * @miss: below quoit_report_get_n_misses()
 *
 * Returns: the amount of that resource that the bundle needs
 */
QUOIT_API QuoitAmount quoit_report_get_miss_requested (const QuoitReport *report, uint32_t miss);

/**
 * quoit_report_is_proven:
 *
 * Returns whether the verdict is certain. Policy `best` ends its search for a placement of bundles after a fixed number
 * of steps.
 *
 * Returns: false if this limit ended the search, so that a placement may exist; else true
 */
QUOIT_API bool quoit_report_is_proven (const QuoitReport *report);

/**
 * quoit_report_dup_summary:
 * @what: the text that begins the sentence, such as "two slices"
 *
 * Returns: (transfer full): one sentence with the verdict, the numbers, the main reason and the first option; g_free()
 *   it
 */
QUOIT_API char *quoit_report_dup_summary (const QuoitReport *report, const char *what);

/**
 * quoit_report_get_n_reasons:
 *
 * Returns the number of reasons. A reason is a constraint that removed something. The main reason comes first: the
 * constraint that removed the last slices that the request needs, or the last nodes for the bundle. For the verdict not
 * now, it is a constraint whose result can change; for never, one whose result cannot change.
 *
 * Returns: the number of reasons
 */
QUOIT_API uint32_t quoit_report_get_n_reasons (const QuoitReport *report);

/**
 * quoit_report_get_reason_constraint:
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the constraint
 */
QUOIT_API QuoitConstraint quoit_report_get_reason_constraint (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_reason_before:
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the number of slices or nodes that passed all constraints before this one
 */
QUOIT_API uint32_t quoit_report_get_reason_before (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_reason_after:
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: the number of those that passed this constraint too
 */
QUOIT_API uint32_t quoit_report_get_reason_after (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_dup_reason_text:
 * @reason: below quoit_report_get_n_reasons()
 *
 * Returns: (transfer full): the reason in words, such as "2 of 3 slices are allocated to groups"; g_free() it
 */
QUOIT_API char *quoit_report_dup_reason_text (const QuoitReport *report, uint32_t reason);

/**
 * quoit_report_get_n_options:
 *
 * Each option is sufficient alone: after all of its steps, the request is granted. Waiting steps are done at the last
 * of their times. No option ends the group that the request is to be near to. So if only that group is in the way, or
 * if the search for other steps is too large, a report with %QUOIT_VERDICT_NOT_NOW can have no options.
 *
 * Returns: the number of options, the smallest first
 */
QUOIT_API uint32_t quoit_report_get_n_options (const QuoitReport *report);

/**
 * quoit_option_order_get_name:
 *
 * Returns: the name that the command prints: "fewest-groups"; "" for an unknown number
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_option_order_get_name (QuoitOptionOrder order);

/**
 * quoit_report_find_option:
 *
 * Returns the best option in an order. One option can be the best one in several orders. Waiting counts on the expected
 * end of a group, else on the end of its own lease, which its caller may renew. It never counts on the end of an
 * owner's lease, because a live owner renews it.
 *
 * Returns: an index below quoit_report_get_n_options(); -1: no option only waits, or only releases groups, or the
 *   verdict is not %QUOIT_VERDICT_NOT_NOW
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_report_find_option (const QuoitReport *report, QuoitOptionOrder order);

/**
 * quoit_report_is_option_best:
 *
 * Returns whether it is proven that no option is better than quoit_report_find_option() in the order: no earlier time,
 * no smaller number of groups, no set of groups with fewer chips.
 *
 * Returns: false if the search was cut, if reservations ahead, windows or the policy `ray` prevent a proof, and if
 * there is no such option
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_report_is_option_best (const QuoitReport *report, QuoitOptionOrder order);

/**
 * quoit_report_get_option_time_ms:
 * @option: below quoit_report_get_n_options()
 *
 * Returns: the last time of the waiting steps of the option; 0: it waits for nothing
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_report_get_option_time_ms (const QuoitReport *report, uint32_t option);

/**
 * quoit_report_get_option_n_groups:
 * @option: below quoit_report_get_n_options()
 *
 * Returns: the number of groups that the option releases or shrinks
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_report_get_option_n_groups (const QuoitReport *report, uint32_t option);

/**
 * quoit_report_get_option_chips:
 * @option: below quoit_report_get_n_options()
 *
 * Returns: the chips that these groups give up
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_report_get_option_chips (const QuoitReport *report, uint32_t option);

/**
 * quoit_report_get_n_steps:
 * @option: below quoit_report_get_n_options()
 *
 * Returns: the number of steps of the option; all of them are necessary
 */
QUOIT_API uint32_t quoit_report_get_n_steps (const QuoitReport *report, uint32_t option);

/**
 * quoit_report_get_step_kind:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the kind of the step
 */
QUOIT_API QuoitStepKind quoit_report_get_step_kind (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_node:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the name of the step's node
 */
QUOIT_API const char *quoit_report_get_step_node (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_group:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the handle NAME@ID of the step's group
 */
QUOIT_API const char *quoit_report_get_step_group (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_until_ms:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the time until which the step waits; 0 for other kinds
 */
QUOIT_API int64_t quoit_report_get_step_until_ms (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_topology:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: (nullable): the topology to request
 */
QUOIT_API const char *quoit_report_get_step_topology (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_chips_per_host:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the chips per host to request; 0: the default of the topology, or another kind
 */
QUOIT_API uint32_t quoit_report_get_step_chips_per_host (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_get_step_n_slices:
 * @option: below quoit_report_get_n_options()
 * @step: below quoit_report_get_n_steps()
 *
 * Returns: the number of slices to request, or to which the group shrinks; 0 for other kinds
 */
QUOIT_API uint32_t quoit_report_get_step_n_slices (const QuoitReport *report, uint32_t option, uint32_t step);

/**
 * quoit_report_dup_option_text:
 * @option: below quoit_report_get_n_options()
 *
 * Returns: (transfer full): the option in words: "release train@17 and undrain host-3"; g_free() it. Of an option with
 * so many steps that the text would be longer than 2 KB, it names the first ones and counts the others.
 */
QUOIT_API char *quoit_report_dup_option_text (const QuoitReport *report, uint32_t option);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitReport, quoit_report_unref)

G_END_DECLS

#endif
