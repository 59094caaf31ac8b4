/* SPDX-License-Identifier: Apache-2.0 */
/* A refusal: what placement has refused, so that it can be explained later. An explanation takes longer than the
 * decision, and must not be made while the write lock is held. */
#pragma once

#include "placement/quota.h"

struct _QuoitRefusal {
  const QuoitRequest *request;  /* the refused request, which must stay valid; NULL: no refusal */
  QuoitRequest *own_request;    /* the same, if the refusal owns it; otherwise NULL */
  QuoitFleet *fleet;            /* the fleet that refused it; NULL: the fleet of the decision */
  gint64 seen_until_ms;         /* the fleet as quoit_fleet_seen_until() returns it; 0: as it is */
  gint64 now_ms, end_ms;        /* when it was refused, and until when it would have its nodes; 0: unknown */
  QuoitRepeat repeat;           /* for a resize or repair: tries it again; NULL: a reservation */
  QuoitPlacementResult placing; /* for bundles */
  guint32 node, bundle;   /* for bundles whose amounts fit on a node but whose chips do not: that node, and the first
                           * such bundle; otherwise `node` is QUOIT_NO_INDEX */
  gboolean has_several;   /* there is more than one such bundle */
  gboolean is_over_quota; /* for bundles: they could be placed, but a quota does not admit them */
  QuoitQuotaBundles admitted; /* then set */
  QuoitRequest *missing;      /* for a repair: the bundles that need a node; NULL: all bundles of the request */
  guint64 group_id;           /* for a resize or repair: the group whose own slices count for the request; 0: none */
  char *group_name;
  guint32 repaired_least;  /* for a repair of slices: the fewest slices that the group can have; otherwise 0 */
  GArray *alternatives;    /* of QuoitRefusal: one for each alternative of the request; NULL: it has none */
  char *member;            /* the name of the refused group, if it was requested with others; NULL: alone */
  gboolean has_no_options; /* the fleet has groups that do not exist, so that no option helps */
  GError *error;           /* of an alternative: why it cannot be decided, such as NOT_FOUND; `request` is then NULL */
};

void quoit_refusal_clear (QuoitRefusal *refusal);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRefusal, quoit_refusal_clear)

/* Records that @request was refused. Returns FALSE. @refusal may be NULL if the caller does not need the reason. Does
 * not copy @request; a caller that frees it before the refusal calls quoit_refusal_copy_request(). */
gboolean quoit_refusal_set (QuoitRefusal *refusal, const QuoitRequest *request);
void quoit_refusal_copy_request (QuoitRefusal *refusal);

/* Records that all alternatives of @request were refused. @alternatives: an array of quoit_refusals_new(), with one
 * element for each; takes the reference. If none was refused, but each has an error, sets @error to the first one
 * instead. Returns FALSE. */
gboolean quoit_refusal_set_alternatives (QuoitRefusal *refusal, const QuoitRequest *request, GArray *alternatives,
                                         GError **error);
GArray *quoit_refusals_new (void);

/* Sets @error to NOT_NOW or NEVER with a message of one sentence, and *@report to the report; both may be NULL. A
 * report on slices finds its options when they are first read. If the request cannot be explained, @error has another
 * code and *@report stays NULL. */
void quoit_refusal_explain (const QuoitRefusal *refusal, QuoitReport **report, GError **error);
