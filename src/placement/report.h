/* SPDX-License-Identifier: Apache-2.0 */
/* Reports why a request fits or not, as data. */
#pragma once

#include <quoit/report.h>
#include <quoit/models/systems.h>
#include <quoit/request.h>

#include "base/amount.h"
#include "fleet/fleet.h"

typedef struct {
  QuoitConstraint constraint;
  guint32 before, after; /* slices, or nodes for a bundle */
  char *detail;          /* the requested value, such as "pool=a" */
} QuoitReason;

typedef struct {
  QuoitStepKind kind;
  char *node;             /* NODE_ALIVE, UNDRAIN, EXTERNAL_ENDS */
  char *group;            /* NAME@ID: RELEASE, SOURCE_REMOVES, LEASE_ENDS, EXPECTED_END, SHRINK; the name of a window:
                           * WINDOW_ENDS */
  gint64 until_ms;        /* of waits: LEASE_ENDS, EXPECTED_END, WINDOW_ENDS */
  char *topology;         /* OTHER_TOPOLOGY */
  guint32 chips_per_host; /* OTHER_HOSTS; OTHER_TOPOLOGY, unless it is the default */
  guint32 n_slices;       /* FEWER_SLICES, SHRINK */

  guint64 chips_e4; /* that a group gives up: RELEASE, SOURCE_REMOVES, SHRINK; set when options are read */

  /* What changes, for trials. A step holds a reference to the record. */
  guint32 node_index;           /* of `node` */
  const QuoitGroupData *record; /* of `group`, or of the window; NULL: none */
} QuoitStep;

/* Steps that make the request fit if all of them are taken. */
typedef struct {
  GArray *steps; /* of QuoitStep */
  guint orders;  /* bits of quoit_order_bit(): the orders in which it is the best option */
} QuoitOption;

static inline guint
quoit_order_bit (QuoitOptionOrder order)
{
  return 1u << order;
}

/* Returns whether a step only waits. */
static inline gboolean
quoit_step_is_wait (const QuoitStep *step)
{
  return step->kind == QUOIT_STEP_LEASE_ENDS || step->kind == QUOIT_STEP_EXPECTED_END
         || step->kind == QUOIT_STEP_WINDOW_ENDS;
}

/* Returns whether a step ends a group now. */
static inline gboolean
quoit_step_ends_group (const QuoitStep *step)
{
  return step->kind == QUOIT_STEP_RELEASE || step->kind == QUOIT_STEP_SOURCE_REMOVES;
}

/* How an option ends a group. */
typedef enum {
  QUOIT_END_AS_PLANNED, /* its lease ends; a group without one is released */
  QUOIT_END_BY_WAITING, /* until its expected end, or else the end of its lease */
  QUOIT_END_BY_RELEASE  /* it is released, or its source removes it */
} QuoitEndManner;

/* A node that has too little of a resource for a bundle. */
typedef struct {
  char *node, *resource;
  QuoitAmount available, requested;
} QuoitMiss;

/* The report on another alternative of the request. One of the two is NULL. */
typedef struct {
  QuoitReport *report;
  GError *error; /* why there is no report */
} QuoitOtherReport;

/* Repeats the change of a group that was refused, on a fork of the fleet, and returns whether it is granted.
 * @n_slices: how many slices the group is to have. */
typedef gboolean (*QuoitRepeat) (const QuoitFleet *fork, const QuoitGroupData *group, guint32 n_slices, gint64 now_ms);

/* What options are tried with (placement/trial.h). */
typedef struct {
  QuoitFleet *fleet; /* that refused the request, before anything has begun; NULL: options are not tried */
  gint64 now_ms, end_ms;
  QuoitRepeat repeat; /* NULL: a reservation */
  QuoitGroupData *group;
} QuoitTrial;

struct _QuoitReport {
  gatomicrefcount refs;
  QuoitVerdict verdict;
  guint32 n_wanted;
  guint32 n_matching; /* slices that have the class of the request and pass its rules, whatever their state */
  guint32 n_free_now; /* slices that are free now */
  guint32
      n_possible; /* slices that would be free if every group were released, and every known node alive and undrained */
  guint32 n_unmendable;  /* slices of n_matching that lack a host which the fleet does not know */
  gboolean counts_parts; /* the numbers count parts of slices */
  GArray *reasons;       /* of QuoitReason: constraints that removed slices, the main obstacle first */
  GArray *options;       /* of QuoitOption, fewest steps first; read them with quoit_report_options() */
  guint proven_orders;   /* bits: no option is better in that order */
  gboolean finds_orders; /* while options are found: also the best ones in each order */
  gboolean is_of_group;  /* a change of a group was refused, not a reservation */
  gint64 now_ms;         /* when it was refused; 0: when the fleet changed last */

  /* What the options are made from when they are first read. A refusal makes a report, and most callers want only its
   * numbers. */
  GMutex lock;
  QuoitFleet *fleet; /* NULL: the options are complete */
  QuoitRequest *request;
  QuoitTrial trial;

  char *holder;           /* NAME@ID of the group whose slices are free only if it gives up all of them; NULL: none */
  char *repaired;         /* NAME@ID of the group of slices whose repair was refused; NULL: another request */
  guint32 repaired_least; /* the fewest slices that it can have */

  gboolean is_for_bundles; /* n_matching, n_free_now and n_possible then count nodes for `bundle` */
  guint32 bundle;          /* the bundle that is hardest to place */
  GArray *misses;          /* of QuoitMiss, the nearest first */
  QuoitRayAnswer ray_answer;
  gboolean ray_varies;
  gboolean is_unproven;

  guint32 alternative; /* of the request; the report is about this one */
  GArray *others;      /* of QuoitOtherReport, by alternative, with nothing for `alternative`; NULL: the request has no
                        * alternatives */
};

QuoitReport *quoit_report_alloc (guint32 n_wanted);

/* Makes quoit_report_options() find the options of a report on slices, unless the request fits. Copies @request. */
void quoit_report_find_options_later (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request);
/* Removes the options of a report that no other thread has yet, and of those on the alternatives. */
void quoit_report_drop_options (QuoitReport *report);
/* Returns the options, and finds them first if no call has done so. Any thread may call it. */
const GArray *quoit_report_options (const QuoitReport *report);

/* Makes quoit_report_options() find the best options of a report on bundles in each order. Copies @request. */
void quoit_report_find_orders_later (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request);

/* Adds a reason for the constraint at @position of quoit_constraints, unless it removed nothing. */
void quoit_report_add_reason (QuoitReport *report, const QuoitRequest *request, guint position, guint32 before,
                              guint32 after);
/* Like quoit_report_add_reason(), with another detail, whose ownership it takes. */
void quoit_report_add_detailed_reason (QuoitReport *report, guint position, char *detail, guint32 before,
                                       guint32 after);
/* Returns the verdict of a request for @n_wanted slices, of which @n_free_now are free, and @n_possible at some time.
 */
QuoitVerdict quoit_verdict_of_counts (guint32 n_free_now, guint32 n_possible, guint32 n_wanted);
/* Sets the verdict of a report about made slices from its counts. @n_matching: how many of them are proven to be
 * possible. */
void quoit_report_set_made_verdict (QuoitReport *report, guint32 n_matching);
/* Returns whether the class of the request is the main obstacle: the fleet has too few such slices. */
gboolean quoit_report_lacks_slices (const QuoitReport *report);
/* Puts the main reason first, after all reasons have been added. */
void quoit_report_put_main_first (QuoitReport *report);
/* Takes ownership of the texts of @miss. */
void quoit_report_add_miss (QuoitReport *report, const QuoitMiss *miss);
/* Add an empty option at the end, or at @index. It is valid until the next option is added. */
QuoitOption *quoit_report_add_option (QuoitReport *report);
QuoitOption *quoit_report_insert_option (QuoitReport *report, guint index);
void quoit_option_add_step (QuoitOption *option, const QuoitStep *step); /* copies the texts */
QuoitOption quoit_option_init (void);                                    /* without steps */
void quoit_option_clear (QuoitOption *option);
/* Returns the index of the first of the first @n options with the same steps, or QUOIT_NO_INDEX. */
guint quoit_report_find_equal (const QuoitReport *report, const QuoitOption *option, guint n);
/* Adds the option, or, if the report has it, only that it is the best one in @orders, too. Clears @option. */
void quoit_report_take_option (QuoitReport *report, QuoitOption *option, guint orders);
/* Makes no option wait for groups and release others: where a group is released, all of them are. */
void quoit_report_settle_ends (QuoitReport *report);
/* options.c: adds the option to take the slices that are free, if there are any. */
void quoit_report_add_fewer_slices (QuoitReport *report);

/* Returns one sentence for an error message: verdict, numbers, main reason. The caller owns the text. */
char *quoit_report_message (const QuoitReport *report, const char *what);
/* Returns the message and the first option. The caller owns the text. */
char *quoit_report_summary (const QuoitReport *report, const char *what);
char *quoit_report_option_text (const QuoitReport *report, guint index);
char *quoit_report_reason_text (const QuoitReport *report, guint index);
