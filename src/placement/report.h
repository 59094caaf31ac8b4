/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request fits or not, as data. */
#pragma once

#include <glib.h>

typedef struct _QuoitReport QuoitReport;

typedef enum {
  QUOIT_VERDICT_FITS = 0,
  QUOIT_VERDICT_NOT_NOW = 5, /* the numbers of the error codes */
  QUOIT_VERDICT_NEVER = 6
} QuoitVerdict;

/* What narrows the slices of the fleet down to those that can be had now, in this order. */
typedef enum {
  QUOIT_CONSTRAINT_ACCELERATOR = 1,
  QUOIT_CONSTRAINT_TOPOLOGY = 2,
  QUOIT_CONSTRAINT_CHIPS_PER_HOST = 3,
  QUOIT_CONSTRAINT_POOL = 4,
  QUOIT_CONSTRAINT_ZONE = 5,
  QUOIT_CONSTRAINT_SELECTOR = 6,
  QUOIT_CONSTRAINT_NAMED_SLICE = 7,
  QUOIT_CONSTRAINT_EXCLUDED_SLICE = 8,
  QUOIT_CONSTRAINT_INTACT = 9,    /* every host alive, nothing contradicts */
  QUOIT_CONSTRAINT_DRAINING = 10, /* no host draining */
  QUOIT_CONSTRAINT_HELD = 11,     /* no host held by a group */
  QUOIT_CONSTRAINT_EXTERNAL = 12  /* no host used by something else */
} QuoitConstraint;
enum { QUOIT_N_CONSTRAINTS = 12 };

typedef enum {
  QUOIT_STEP_NODE_BACK = 1,     /* a dead node comes back alive */
  QUOIT_STEP_UNDRAIN = 2,       /* a node is no longer draining */
  QUOIT_STEP_RELEASE = 3,       /* a group is released */
  QUOIT_STEP_EXTERNAL_ENDS = 4, /* what uses the node, and is no group, ends */
  QUOIT_STEP_FEWER_SLICES = 5,  /* ask for that many */
  QUOIT_STEP_OTHER_TOPOLOGY = 6,
  QUOIT_STEP_OTHER_HOSTS = 7 /* ask for hosts of that many chips */
} QuoitStepKind;

typedef struct {
  QuoitConstraint constraint;
  guint32 before, after; /* slices */
  char *detail;          /* "pool=a"; what was asked */
} QuoitReason;

typedef struct {
  QuoitStepKind kind;
  guint64 number; /* the group's id, the number of slices or of chips; 0 where the name says all */
  char *name;     /* of node or group, or the topology */
} QuoitStep;

/* Steps that turn the refusal into a yes when all of them are taken. */
typedef struct {
  GArray *steps; /* of QuoitStep */
} QuoitOption;

struct _QuoitReport {
  gatomicrefcount refs;
  QuoitVerdict verdict;
  guint32 n_wanted;
  guint32 n_now;   /* slices that can be had now */
  guint32 n_could; /* that could be had with every group released and every known node alive and undrained */
  GArray *reasons; /* of QuoitReason: what removed slices; the one that removed most first */
  GArray *options; /* of QuoitOption: the smallest first */
};

QuoitReport *quoit_report_alloc (guint32 n_wanted);
QuoitReport *quoit_report_acquire (QuoitReport *report);
void quoit_report_release (QuoitReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitReport, quoit_report_release)

void quoit_report_add_reason (QuoitReport *report, QuoitConstraint constraint, guint32 before, guint32 after,
                              const char *detail);
QuoitOption *quoit_report_add_option (QuoitReport *report); /* valid until the next one is added */
void quoit_option_add_step (QuoitOption *option, QuoitStepKind kind, const char *name, guint64 number);

/* One sentence for an error message: verdict, numbers, dominant reason, first option. Owned. */
char *quoit_report_summary (const QuoitReport *report, const char *what);
char *quoit_report_option_text (const QuoitReport *report, guint option);
char *quoit_report_reason_text (const QuoitReport *report, guint reason);
