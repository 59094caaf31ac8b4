/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: each step looks at a fleet and an input and says what changes, or why not. No I/O, no clock; a step that
 * returns TRUE without an entry has found that nothing needs to change. */
#pragma once

#include <quoit/ledger.h>

#include "ledger/entry.h"
#include "placement/placement.h"

/* One step. *@entry is NULL at the call. @result is the step's own type, written on success only. */
typedef gboolean (*QuoitStepFunc) (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                                   gpointer result, GError **error);

/* The time that a change at @now_ms gets: never before the last entry's. INVALID outside the years 2000 to 2199:
 * seconds or microseconds by mistake. */
gboolean quoit_ledger_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error);

/* input: QuoitRequest; result: QuoitGroupData * (a reference). A key that names a group already returns that group,
 * also when it has been removed, if the request is the same; CONFLICT otherwise. CONFLICT for a name that is taken;
 * NOT_NOW, NEVER as quoit_plan_slices(). */
gboolean quoit_ledger_reserve (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);

/* A group by name, or by name and id. */
typedef struct {
  const char *name;
  guint64 id; /* 0: whatever group bears the name now */
} QuoitGroupRef;

/* "train" or "train@17". @ref points into *@name, which the caller frees. */
gboolean quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error);

/* NOT_FOUND when no group bears the name; CONFLICT when another than the one of that id does, or none any more. */
const QuoitGroupData *quoit_ledger_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);

/* input: QuoitGroupRef; result: QuoitGroupData * (a reference to the group as it was held), or NULL. */
gboolean quoit_ledger_release (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);

typedef struct {
  const char *node; /* short or full name */
  QuoitVerb verb;   /* SET_STATE, DRAIN, UNDRAIN */
  QuoitNodeState state;
} QuoitStateChange;

/* input: QuoitStateChange; no result. NOT_FOUND; CONFLICT when a dead node is to be drained or undrained. */
gboolean quoit_ledger_set_state (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                                 gpointer result, GError **error);

/* One line of the difference that an import makes. */
typedef struct {
  QuoitChangeKind kind;
  char *name;   /* of the node, or of the pool */
  char *detail; /* "alive -> dead", "worker 1 -> 2"; NULL */
} QuoitNodeChange;

/* input: QuoitClaims **, which a new source takes (it is NULL then); result: GArray * of QuoitNodeChange, empty for a
 * new source and for one that says what it said before. CONFLICT when a held node would be dropped or become another,
 * or when another source of the kind claims one of the machines. */
gboolean quoit_ledger_import (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                              gpointer result, GError **error);

/* RESERVED, or RESCHEDULING when one of its nodes is dead. */
QuoitGroupState quoit_ledger_group_state (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Whether two fleets are the same in all that counts; DAMAGED names the first difference. What verify compares with. */
gboolean quoit_ledger_compare (const QuoitFleet *replayed, const QuoitFleet *kept, GError **error);
