/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses parts of slices for a request that may be cut (placement/request.h), and counts how many there are.
 *
 * Each part gets the place that costs later requests least (geometry/places.h), of all slices: the cheapest one, then
 * the first slice, worker and turn. If the length of the request is known, the four cheapest places are compared over
 * time (placement/cut/later.h). Other policies use the first place of a slice. If fewer parts than requested are found
 * so, the parts are packed again. So a request is refused only if a packing of all its parts was not found; the counts
 * say whether that is proven. No more parts are cut from slices of a class than the quotas for that class admit. */
#pragma once

#include "placement/cut/cutting.h"
#include "placement/quota.h"
#include "placement/report.h"
#include "placement/view.h"

typedef struct {
  guint32 slice, origin; /* worker id of the lowest corner */
  QuoitShape hosts;      /* the box */
} QuoitCutPart;

/* Appends up to @most parts, one after the other as the policy of @request says. @sources: see
 * quoit_cut_list_sources().
 */
void quoit_cut_choose_places (const QuoitFleet *fleet, const GArray *sources, const QuoitRequest *request, guint32 most,
                              GArray *parts);

/* Chooses @least to @most parts for @request, as many as there are and the quotas admit, and appends them to @parts, an
 * array of QuoitCutPart. Returns FALSE without an error if fewer than @least were found. Fails like
 * quoit_plan_slices(). */
gboolean quoit_cut_choose (const QuoitFleet *fleet, const QuoitRequest *request, guint32 least, guint32 most,
                           GArray *parts, GError **error);

/* Sets *@least to the number of parts of a packing into the hosts that count, and *@most to a number that is proven to
 * be enough for any. Stops at @enough parts. Fails like quoit_plan_slices(). */
gboolean quoit_cut_count (const QuoitFreeHosts *rule, const QuoitRequest *request, guint32 enough, guint32 *least,
                          guint32 *most, GError **error);
/* Like quoit_cut_count(), for the sources of quoit_cut_list_sources(). */
void quoit_cut_count_in (const QuoitFreeHosts *rule, const GArray *sources, guint32 enough, guint32 *least,
                         guint32 *most);

/* Appends to @nodes, of guint32, the hosts of the part in the layout, in the order of its workers: x fastest. */
void quoit_cut_list_nodes (const QuoitFleet *fleet, const QuoitCutPart *part, GArray *nodes);
/* Appends the hosts of the @n parts that would be chosen now. Returns FALSE if fewer were found, or if the request
 * fails. */
gboolean quoit_cut_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes);

/* Returns whether the request, which may be cut, fits now. *@result like for quoit_bundles_fit(). */
gboolean quoit_cut_fits (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result);
/* Returns how many of the @n parts that fit now the quotas admit. Sets *@admitted to what quotas for any class admit.
 */
guint32 quoit_cut_count_admitted (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n,
                                  QuoitQuotaSlices *admitted);
/* Decides about the request, and counts the parts that fit now and that the quotas admit. Both results may be
 * NULL. Fails like quoit_plan_slices(). */
gboolean quoit_cut_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                         GError **error);

/* explain.c: like quoit_explain_without_options(), for a request that may be cut. Slices are counted as parts. */
QuoitReport *quoit_explain_cut_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
/* Adds options to such a report. */
void quoit_cut_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request);
