/* SPDX-License-Identifier: Apache-2.0 */
/* A model of the ledger of one small fleet as a list of groups. It computes the answer of each call from the
 * documentation alone. It does not choose slices: it accepts the slices of the answer if they were free. */
#pragma once

#include "history.h"

typedef struct {
  guint64 id;
  char name[NAME_BYTES], key[NAME_BYTES], owner[NAME_BYTES];
  guint least, most; /* as requested */
  gboolean is_held;
  gint64 until_ms; /* 0: no lease */
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
  guint n_slices;
} ModelQuota;

typedef struct {
  gint64 clock_ms;
  guint64 next_id;
  QuoitNodeState nodes[N_NODES];
  GArray *groups; /* of ModelGroup, by id */
  GArray *owners; /* of ModelOwner, by id */
  GArray *quotas; /* of ModelQuota, by name */
} Model;

Model *model_new (gint64 clock_ms);
void model_free (Model *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* The ids of groups and owners whose lease has expired at @time_ms, ascending. */
GArray *model_ended (const Model *model, gint64 time_ms);
/* Removes them. */
void model_expire (Model *model, gint64 time_ms);

/* Returns why the call cannot have had this answer if it ran now, or NULL if it can. Sets @writes to whether the
 * call writes an entry. */
char *model_contradiction (const Model *model, const Op *op, gboolean *writes);
/* Applies a call that writes and whose answer is possible. */
void model_apply (Model *model, const Op *op);

char *model_look (const Model *model); /* in the form of look_at() */
