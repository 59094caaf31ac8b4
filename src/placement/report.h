/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request fits or not, as data. */
#pragma once

#include <quoit/report.h>
#include <quoit/models/systems.h>
#include <quoit/request.h>

#include "base/amount.h"

enum { QUOIT_N_CONSTRAINTS = 17 };

typedef struct {
  QuoitConstraint constraint;
  guint32 before, after; /* slices, or nodes for a bundle */
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

/* A node that has too little for a bundle. */
typedef struct {
  char *node, *resource;
  QuoitAmount left, wanted;
} QuoitMiss;

struct _QuoitReport {
  gatomicrefcount refs;
  QuoitVerdict verdict;
  guint32 n_wanted;
  guint32 n_such;  /* slices that satisfy what the request fixes, whatever their condition */
  guint32 n_now;   /* slices that can be had now */
  guint32 n_could; /* that could be had with every group released and every known node alive and undrained */
  GArray *reasons; /* of QuoitReason: what removed slices; the one that removed most first */
  GArray *options; /* of QuoitOption: the smallest first */

  gboolean of_bundles; /* n_such, n_now and n_could are nodes for the bundle */
  guint32 bundle;
  GArray *misses; /* of QuoitMiss: the nearest first */
  QuoitRayAnswer ray_answer;
  gboolean ray_varies;
  gboolean is_unproven;
};

QuoitReport *quoit_report_alloc (guint32 n_wanted);

/* Adds a reason of the constraint at that position, unless it removed nothing. */
void quoit_report_add_reason (QuoitReport *report, const QuoitRequest *request, guint position, guint32 before,
                              guint32 after);
/* Takes the texts. */
void quoit_report_add_miss (QuoitReport *report, const QuoitMiss *miss);
QuoitOption *quoit_report_add_option (QuoitReport *report); /* valid until the next one is added */
void quoit_option_add_step (QuoitOption *option, QuoitStepKind kind, const char *name, guint64 number);

/* One sentence for an error message: verdict, numbers, dominant reason, first option. Owned. */
char *quoit_report_summary (const QuoitReport *report, const char *what);
char *quoit_report_option_text (const QuoitReport *report, guint index);
char *quoit_report_reason_text (const QuoitReport *report, guint index);
