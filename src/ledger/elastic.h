/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the steps that change the slices of a group: resize, repair, and release of one slice. The slices of a group
 * are always in natural order, so that their indices depend only on which slices the group has, and not on its
 * history. */
#pragma once

#include "ledger/ledger.h"

/* Returns @before with only the slices that are set in @kept (one byte per slice), and with the slices @added (indices
 * in the layout). */
QuoitGroupData *quoit_elastic_make_group (const QuoitFleet *fleet, const QuoitGroupData *before, const guint8 *kept,
                                          const guint32 *added, guint32 n_added, const QuoitRequest *request,
                                          GError **error);

/* Sets the outcome, and makes the entry unless @after is @before itself. Takes the reference to @after. @moved:
 * reservations ahead that get other slices, or NULL. */
gboolean quoit_elastic_set_outcome (const QuoitFleet *fleet, const QuoitGroupData *before, QuoitGroupData *after,
                                    const GPtrArray *moved, QuoitVerb verb, gint64 time_ms, QuoitEntry **entry,
                                    QuoitOutcome *outcome);

/* Returns the group if it is a group of slices that a caller of this ledger made. */
const QuoitGroupData *quoit_elastic_lookup (const QuoitFleet *fleet, const QuoitGroupRef *ref, QuoitRequest **request,
                                            GError **error);

/* Repeats a refused resize, or a refused repair of slices. */
gboolean quoit_elastic_repeat_resize (const QuoitFleet *fork, const QuoitGroupData *group, guint32 n_slices,
                                      gint64 now_ms);
gboolean quoit_elastic_repeat_repair (const QuoitFleet *fork, const QuoitGroupData *group, guint32 n_slices,
                                      gint64 now_ms);

/* Records that the group cannot have @n slices. The report is about all of them, including those that the group has,
 * and does not suggest releasing the group itself. */
void quoit_elastic_refuse (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, QuoitRequest *request,
                           QuoitRefusal *refusal);

/* Likewise for a repair. @least: how many slices a repair can replace at once. */
void quoit_elastic_refuse_repair (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least,
                                  QuoitRequest *request, QuoitRefusal *refusal);

/* Sets in @kept (one byte per slice) which slices are whole, and returns their number. */
guint32 quoit_elastic_keep_whole (const QuoitFleet *fleet, const QuoitGroupData *group, guint8 *kept);
/* Returns @fleet as @group sees it, which keeps only the slices of @rest, a version of it with fewer slices: they alone
 * are used, and what is promised until its end is draining. @rest NULL: it keeps none; @group: all. Takes the reference
 * to
 * @rest. */
QuoitFleet *quoit_elastic_see_without (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitGroupData *rest);

/* Returns the slices in @kept (NULL: all slices) as members of a request for more, if its rules depend on them;
 * otherwise NULL. The caller owns the array. */
GArray *quoit_elastic_list_members (const QuoitLayout *layout, const QuoitGroupData *group, const guint8 *kept,
                                    const QuoitRequest *request);

/* Returns @group with the slices in @kept and @least to @most more slices that match its request: as many as are free
 * and not promised, or else the fewest. Returns NULL without an error if there are too few. */
QuoitGroupData *quoit_elastic_add_slices (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept,
                                          guint32 least, guint32 most, const QuoitRequest *request, GPtrArray **moved,
                                          GError **error);

/* Checks @least to @most, the numbers of slices that the caller accepts. Fails with INVALID. */
gboolean quoit_elastic_check_n_slices (const QuoitGroupData *group, const QuoitRequest *request, gint64 least,
                                       gint64 most, GError **error);

/* Returns the group with @most slices, or with as many as possible, at least @least. */
QuoitGroupData *quoit_elastic_resize (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least, guint32 most,
                                      const QuoitPlan *chosen, QuoitRequest *request, GPtrArray **moved,
                                      QuoitRefusal *refusal, GError **error);
