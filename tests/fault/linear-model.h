/* SPDX-License-Identifier: Apache-2.0 */
/* A model of the ledger of one small fleet as a list of groups. It computes the answer of each call from the
 * documentation alone. It does not choose slices: it accepts the slices of the answer if they were free. With a
 * calendar, it also accepts a refusal if reservations ahead would have to get other slices, because that search is not
 * complete. */
#pragma once

#include "history.h"

typedef struct {
  guint64 id;
  char name[NAME_BYTES], key[NAME_BYTES], owner[NAME_BYTES];
  guint least, most; /* as requested */
  gboolean is_held, is_ahead;
  gint64 begins_ms; /* of a reservation ahead */
  gint64 until_ms;  /* 0: no lease */
  guint32 slices;
  gboolean is_removed, has_expired; /* kept for its key, or to report its expired lease */
  gint64 ended_ms;
} ModelGroup;

typedef struct {
  guint64 id;
  char name[NAME_BYTES];
  gint64 until_ms;
  gboolean has_expired;
} ModelOwner;

/* The quota of an owner has the name of the owner. */
typedef struct {
  char name[NAME_BYTES];
  guint n_slices, most; /* nominal; with borrowed ones, G_MAXUINT: no limit but that of the cohort */
  gboolean has_cohort;
} ModelQuota;

/* Of the slice @at. */
typedef struct {
  guint64 id;
  char name[NAME_BYTES];
  guint at;
  gint64 from_ms, until_ms;
} ModelWindow;

typedef struct {
  gint64 clock_ms;
  guint64 next_id;
  QuoitNodeState nodes[N_NODES];
  gboolean has_extra; /* the source of the extra hosts was synced */
  QuoitNodeState extra[N_EXTRA];
  GArray *groups;  /* of ModelGroup, by id */
  GArray *owners;  /* of ModelOwner, by id */
  GArray *quotas;  /* of ModelQuota, by name */
  GArray *windows; /* of ModelWindow, by beginning */
} Model;

Model *model_new (gint64 clock_ms);
void model_free (Model *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* The ids of groups and owners whose lease has expired at @time_ms, and of windows that are over, ascending. */
GArray *model_ended (const Model *model, gint64 time_ms);
/* Removes them, and the windows that are over. */
void model_expire (Model *model, gint64 time_ms);

/* Returns why the call cannot have had this answer if it ran now, or NULL if it can. Sets @writes to whether the
 * call writes an entry. */
char *model_contradiction (const Model *model, const Op *op, gboolean *writes);
/* Applies a call that writes and whose answer is possible. */
void model_apply (Model *model, const Op *op);

/* --- quotas --- */

ModelQuota *model_find_quota (const Model *model, const char *owner);
guint model_count_used (const Model *model, const char *owner, gint64 time_ms); /* slices */
/* How many more slices the quota of the owner admits; whether it admits so many without other groups. */
guint model_admitted (const Model *model, const char *owner, gint64 time_ms);
gboolean model_admits_ever (const Model *model, const char *owner, guint n);
ModelQuota model_quota_of (const Op *op);
gboolean model_quotas_are_equal (const ModelQuota *quota, const ModelQuota *other);
void model_set_quota (Model *model, const Op *op);

/* --- the calendar --- */

/* The ids of reservations ahead that begin by @time_ms, ascending. */
GArray *model_due (const Model *model, gint64 time_ms);
void model_begin (Model *model, gint64 time_ms);

/* The free slices that a group can have from @time_ms until @end_ms if reservations ahead get others; without these. */
guint32 model_usable_slices (const Model *model, gint64 time_ms, gint64 end_ms);
guint32 model_certain_slices (const Model *model, gint64 time_ms, gint64 end_ms);
/* Those for a reservation ahead. */
guint32 model_usable_ahead (const Model *model, gint64 from_ms, gint64 until_ms);
guint32 model_certain_ahead (const Model *model, gint64 from_ms, gint64 until_ms);
/* The slices of reservations ahead and windows that overlap the time. */
guint32 model_promised_slices (const Model *model, gint64 from_ms, gint64 end_ms);
gint64 model_latest_end (const ModelGroup *group);

/* The slices of live groups that have begun. */
guint32 model_allocated_slices (const Model *model, gint64 time_ms);
gboolean model_is_live (const Model *model, const ModelGroup *group, gint64 time_ms);
/* Gives the reservation ahead other slices. */
void model_move (Model *model, guint64 id, guint32 slices);
/* Returns why a reservation ahead could miss its slices when it begins, or NULL. */
char *model_broken_promise (const Model *model);

char *model_look (const Model *model); /* in the form of look_at() */
