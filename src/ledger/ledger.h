/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: each step looks at a fleet and an input and says what changes, or why not. No I/O, no clock; a step that
 * returns TRUE without an entry has found that nothing needs to change. */
#pragma once

#include <quoit/ledger.h>

#include "base/time.h"
#include "ledger/entry.h"
#include "placement/placement.h"

/* One step. *@entry is NULL at the call. @result is the step's own type, written on success only. */
typedef gboolean (*QuoitStepFunc) (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                                   gpointer result, GError **error);

/* How a step's result is dropped that nobody wants, or that was given although its entry could not be written. */
void quoit_step_drop_result (QuoitStepFunc step, gpointer result);

/* The time that a change at @now_ms gets: never before the last entry's. INVALID outside the years 2000 to 2199:
 * seconds or microseconds by mistake. */
gboolean quoit_step_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error);

/* input: QuoitRequest; result: QuoitGroupData * (a reference). A key that names a group already returns that group,
 * also when it has been removed, if the request is the same; CONFLICT otherwise. CONFLICT for a name that is taken;
 * NOT_NOW, NEVER as quoit_plan_slices(). */
gboolean quoit_step_reserve (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                             gpointer result, GError **error);

/* What a group may do for how long. */
typedef struct {
  const QuoitRequest *request;
  gint64 lease_ms;
} QuoitHold;

/* input: QuoitHold; result as of quoit_step_reserve(). The group is HELD until it is confirmed, or its lease ends. */
gboolean quoit_step_hold (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                          gpointer result, GError **error);

/* --- bundles.c --- */

/* The group of @facts that has what @request asks of each of the slices: whole hosts, or bundles. INVALID when they
 * cannot be divided so. */
QuoitGroupData *quoit_step_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, const guint32 *slices, guint32 n_slices,
                                            GError **error);
/* @whole, which has whole hosts, as bundles of @tpu. */
QuoitGroupData *quoit_step_divide_hosts (const QuoitFleet *fleet, const QuoitGroupData *whole, QuoitAmount tpu,
                                         GError **error);

/* --- placed.c --- */

/* The group of @facts that has the bundles of @request, each on the node where it was placed. Fails as
 * quoit_plan_bundles() does. */
QuoitGroupData *quoit_step_group_of_bundles (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const QuoitRequest *request, GError **error);
/* @group with those of its bundles placed again whose nodes are lost or leaving; @group itself where none is. */
QuoitGroupData *quoit_step_repaired_bundles (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Whether a node of @kind in the place of @node has what bundles of this ledger's callers have of that. */
gboolean quoit_step_kind_suffices (const QuoitFleet *fleet, QuoitNodeId node, const QuoitNodeKind *kind);

/* --- groups.c --- */

enum { QUOIT_LONGEST_REQUEST = 4 * 1024 * 1024 };

/* A group by name, or by name and id. */
typedef struct {
  const char *name;
  guint64 id; /* 0: whatever group bears the name now */
} QuoitGroupRef;

/* "train" or "train@17". @ref points into *@name, which the caller frees. */
gboolean quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error);

/* NOT_FOUND when no group bears the name; CONFLICT when another than the one of that id does, or none any more; EXPIRED
 * when its lease has ended. */
/* What @group wants and has not, as a request of bundles. CONFLICT: it has all. */
QuoitRequest *quoit_step_request_of_unplaced (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

const QuoitGroupData *quoit_step_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);
/* The same of a group that a caller of this ledger made: CONFLICT for one that belongs to a source. */
const QuoitGroupData *quoit_step_lookup_own_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);

/* input: QuoitGroupRef; result: QuoitGroupData * (a reference to the group as it was held), or NULL. */
gboolean quoit_step_release (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                             gpointer result, GError **error);

/* --- leases.c: time --- */

/* What has ended by @now_ms: groups whose lease or whose owner's lease is over. No entry where nothing has, or the
 * clock is none. Every change begins with it. */
void quoit_step_expire (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);

/* A lease that begins at @time_ms. INVALID below 1 ms, and beyond the year 2199. */
gboolean quoit_step_lease (gint64 time_ms, gint64 lease_ms, gint64 *until_ms, GError **error);

typedef struct {
  QuoitGroupRef ref;
  gint64 lease_ms; /* 0: none, where that may be */
} QuoitLeaseChange;

/* input: QuoitLeaseChange; result: QuoitGroupData * (a reference), or NULL. A group that is confirmed already stays as
 * it is. CONFLICT for a state that is not to be confirmed, EXPIRED after the end. */
gboolean quoit_step_confirm (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                             gpointer result, GError **error);
/* The same; CONFLICT for a group that has no lease. */
gboolean quoit_step_renew (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                           gpointer result, GError **error);

/* input: QuoitGroupRef with an id, or the key of a group in `name` and no id; no result. Only what is removed can be
 * forgotten: CONFLICT otherwise. */
gboolean quoit_step_forget (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                            gpointer result, GError **error);

/* --- owners.c --- */

typedef struct {
  const char *name;
  gint64 lease_ms; /* 0: none */
} QuoitOwnerChange;

/* input: QuoitOwnerChange; no result. Makes the owner known, also again, with a lease or without. */
gboolean quoit_step_set_owner (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);
/* input: QuoitOwnerChange; no result. NOT_FOUND for an owner that was never set, EXPIRED after its end. */
gboolean quoit_step_renew_owner (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                                 gpointer result, GError **error);
/* input: the name; result: how many groups went with it (GUINT_TO_POINTER), or NULL. An owner that was never set ends
 * too, when it has groups. */
gboolean quoit_step_end_owner (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);
/* EXPIRED when the owner's lease has ended and nobody has set it again. */
gboolean quoit_step_check_owner (const QuoitFleet *fleet, const char *owner, GError **error);

/* --- elastic.c: other slices for a group --- */

/* What @group was asked for, without names that have gone from the fleet since. */
QuoitRequest *quoit_step_request_of (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* What a group was and is; equal where nothing had to change. */
typedef struct {
  QuoitGroupData *before, *after;
} QuoitGroupTurn;
void quoit_group_turn_free (QuoitGroupTurn *turn);

typedef struct {
  QuoitGroupRef ref;
  gint64 n_slices;
} QuoitResize;

/* input: QuoitResize; result: QuoitGroupTurn *. Grows by what the group's request asks for; shrinks by lost slices
 * first, then leaving ones, then from the last on. INVALID for a number that the request does not allow; NOT_NOW,
 * NEVER. */
gboolean quoit_step_resize (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                            gpointer result, GError **error);
/* input: QuoitGroupRef; result: QuoitGroupTurn *. Each slice that is lost or leaving is replaced, by what stands in its
 * own place where that is whole again; each bundle on such a node is placed anew. */
gboolean quoit_step_repair (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                            gpointer result, GError **error);

typedef struct {
  QuoitGroupRef ref;
  const char *slice; /* short or full name */
} QuoitSliceRelease;

/* input: QuoitSliceRelease; result: QuoitGroupTurn *, whose after is NULL when it was the last slice: the group is gone
 * then. NOT_FOUND when the group does not have the slice. */
gboolean quoit_step_release_slice (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                                   gpointer result, GError **error);

/* --- settings.c --- */

typedef struct {
  gboolean sets_clock; /* to the time of the change */
  gint64 max_jump_ms;  /* -1: stays; 0: the usual limit of the engine */
} QuoitClockChange;

/* input: QuoitClockChange; no result. The only change that may take the clock back. */
gboolean quoit_step_set_clock (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);
/* input: QuoitLedgerNumbers, none below those of the fleet; no result. */
gboolean quoit_step_restore (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                             gpointer result, GError **error);

/* --- node states --- */

typedef struct {
  const char *node; /* short or full name */
  QuoitVerb verb;   /* SET_STATE, DRAIN, UNDRAIN */
  QuoitNodeState state;
} QuoitStateChange;

/* input: QuoitStateChange; no result. NOT_FOUND; CONFLICT when a dead node is to be drained or undrained. */
gboolean quoit_step_set_state (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                               gpointer result, GError **error);

/* One line of the difference that an import makes. */
typedef struct {
  QuoitChangeKind kind;
  char *name;   /* of the node, pool or group */
  char *detail; /* "alive -> dead", "worker 1 -> 2"; NULL */
  char *group;  /* "train@3": who has the node; NULL: nobody */
} QuoitNodeChange;

/* input: QuoitClaims **, which a new source takes (it is NULL then); result: GArray * of QuoitNodeChange, without
 * the nodes of a new source, empty for one that says what it said before. CONFLICT when a held node would be dropped or
 * become another, or when another source of the kind claims one of the machines. */
gboolean quoit_step_import (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                            gpointer result, GError **error);
/* The same for a fleet that has changed: a held node that the source has no longer stays, dead, as long as it is held.
 */
gboolean quoit_step_sync (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                          gpointer result, GError **error);

/* Lines for the user: how many nodes of slices a source plans that one that is joined with it, or is @named (or NULL)
 * to be, does not see; @source is either. Owned. */
GStrv quoit_step_unseen (const QuoitFleet *fleet, const char *source, const char *named);

/* Whether two fleets are the same in all that counts; DAMAGED names the first difference. What verify compares with. */
gboolean quoit_step_compare (const QuoitFleet *replayed, const QuoitFleet *kept, GError **error);
