/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of a fork on the way to the present ledger. Shared by the files commit-fork*.c. */
#pragma once

#include "ledger/ledger.h"

typedef struct {
  const QuoitFleet *base;    /* from which the fork was made */
  const QuoitFleet *present; /* of the ledger */
  const GPtrArray *entries;  /* of the fork */
  QuoitFleet *fleet;         /* a fork of @present with the effects so far */
  QuoitLayout *known;        /* the layout to compare nodes with: that of @base, or after the last import of the fork */
  guint64 id_shift;          /* what is added to the ids of groups that the fork has added */
  QuoitEntry *entry;         /* the result */
  GHashTable *groups;        /* ids of the groups of @base that have been compared */
  GHashTable *nodes;         /* ids of the nodes that have been compared */
  GPtrArray *leases;         /* names of the groups whose lease the fork has set */
} QuoitRebase;

/* --- commit-fork-effects.c --- */

/* Fails with CONFLICT: "fork: WHAT 'NAME' WHY". */
gboolean quoit_rebase_conflict (GError **error, const char *what, const char *name, const char *why);
/* Returns the live group with that name and id, or the record of the removed group with the id, or NULL. */
const QuoitGroupData *quoit_rebase_find_by_id (const QuoitFleet *fleet, const char *name, guint64 id);
/* Returns whether the two states of a group differ at most in the lease. */
gboolean quoit_rebase_is_same_but_lease (const QuoitGroupData *before, const QuoitGroupData *now);
/* Sets @rebased to a copy of @effect for the present fleet. @is_import: of an entry that imports a source. */
gboolean quoit_rebase_effect (QuoitRebase *rebase, const QuoitEffect *effect, gboolean is_import, QuoitEffect *rebased,
                              GError **error);
