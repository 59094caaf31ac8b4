/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals of placement. Deciding keeps only what was refused; explaining it takes longer, and happens after the write
 * lock is released. */
#pragma once

#include "placement/view.h"

struct _QuoitRefusal {
  QuoitRequest *request; /* a copy of what was refused; NULL: nothing was */
  QuoitFleet *fleet;     /* that refused it; NULL: the fleet that the decision was made on */
  QuoitPlacing placing;  /* of bundles */
  guint32 node, bundle;  /* of bundles whose amounts fit @node, but whose chips do not: the first of them; otherwise
                            @node is QUOIT_NO_INDEX */
  gboolean is_several;   /* more than one such bundle */
  QuoitRequest *missing; /* a repair: the bundles that need a node; NULL: all bundles of @request */
  guint64 group_id;      /* a resize: the group whose slices count for @request; 0: none */
  char *group_name;
};

void quoit_refusal_clear (QuoitRefusal *refusal);

/* Notes that @request was refused; FALSE. @refusal NULL: the caller does not need to know why. */
gboolean quoit_refusal_set (QuoitRefusal *refusal, const QuoitRequest *request);

/* Sets @error to NOT_NOW or NEVER with one sentence, and *@report (or NULL) to the report. If the request cannot be
 * explained, @error has another code and *@report stays NULL. */
void quoit_refusal_explain (const QuoitRefusal *refusal, QuoitReport **report, GError **error);
