/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of one small fleet as a list of groups: what each call has to answer, by the documentation alone. It knows
 * no policy: which of the free slices a group gets is taken from the answer, if they were free. */
#pragma once

#include "history.h"

typedef struct {
  guint64 id;
  char name[NAME_BYTES], key[NAME_BYTES], owner[NAME_BYTES];
  guint least, most; /* as it was asked for */
  gboolean is_held;
  gint64 until_ms; /* 0: no lease */
  guint32 slices;
  gboolean is_removed, has_expired; /* kept for its key, or to tell of its lease */
  gint64 ended_ms;
} ModelGroup;

typedef struct {
  guint64 id;
  char name[NAME_BYTES];
  gint64 until_ms;
  gboolean has_expired;
} ModelOwner;

typedef struct {
  gint64 clock_ms;
  guint64 next_id;
  QuoitNodeState nodes[N_NODES];
  GArray *groups; /* of ModelGroup, by id */
  GArray *owners; /* of ModelOwner, by id */
} Model;

Model *model_new (gint64 clock_ms);
void model_free (Model *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* The ids of groups and owners whose lease is over at @time_ms, ascending. */
GArray *model_ended (const Model *model, gint64 time_ms);
/* They end. */
void model_expire (Model *model, gint64 time_ms);

/* Why the call cannot have answered so if it was carried out now, *@writes: whether an entry came of it. NULL: it can.
 */
char *model_contradiction (const Model *model, const Op *op, gboolean *writes);
/* Carries out a call that writes, whose answer does not contradict. */
void model_apply (Model *model, const Op *op);

char *model_look (const Model *model); /* as look_at() */
