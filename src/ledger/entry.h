/* SPDX-License-Identifier: Apache-2.0 */
/* Journal entries: each is one change, written as effects. An effect states the result of a decision, such as the
 * chosen nodes. Applying an entry decides nothing, so that a later version with other placement rules replays it in
 * the same way. */
#pragma once

#include <quoit/journal.h>

#include "fleet/fleet.h"

/* Databases store these values, so new ones are only appended. */
typedef enum {
  QUOIT_VERB_IMPORT = 1,
  QUOIT_VERB_RESERVE = 2,
  QUOIT_VERB_RELEASE = 3,
  QUOIT_VERB_SET_STATE = 4,
  QUOIT_VERB_DRAIN = 5,
  QUOIT_VERB_UNDRAIN = 6,
  QUOIT_VERB_HOLD = 7,
  QUOIT_VERB_CONFIRM = 8,
  QUOIT_VERB_RENEW = 9,
  QUOIT_VERB_EXPIRE = 10, /* leases that had ended before another change; without an actor */
  QUOIT_VERB_OWNER_SET = 11,
  QUOIT_VERB_OWNER_RENEW = 12,
  QUOIT_VERB_OWNER_END = 13,
  QUOIT_VERB_FORGET = 14,
  QUOIT_VERB_RESIZE = 15,
  QUOIT_VERB_REPAIR = 16,
  QUOIT_VERB_SYNC = 17,
  QUOIT_VERB_RESTORE = 18,
  QUOIT_VERB_SET_CLOCK = 19, /* the only verb whose time may be before that of the previous entry */
  QUOIT_VERB_COMMIT_FORK = 20,
  QUOIT_VERB_UPDATE = 21,
  QUOIT_VERB_SET_KEEP = 22,
  QUOIT_VERB_BEGIN = 23, /* reservations ahead that have begun, or get other slices, before another change; no actor */
  QUOIT_VERB_WINDOW_ADD = 24,
  QUOIT_VERB_WINDOW_REMOVE = 25,
  QUOIT_VERB_QUOTA_SET = 26,
  QUOIT_VERB_QUOTA_REMOVE = 27
} QuoitVerb;
const char *quoit_verb_name (QuoitVerb verb); /* "reserve"; "unknown" for verbs of later versions */

/* What an import changes of a source. */
typedef struct {
  gatomicrefcount refs;
  QuoitClaims *claims;  /* nodes that are new or changed, and all current pools */
  gboolean keeps_pools; /* the pools stay as they are; the claims have only the pools of their nodes */
  guint32 *ids;         /* of the nodes in the claims */
  guint8 *events;       /* of the nodes in the claims: QuoitNodeEvent; NULL: not recorded */
  guint32 n_removed, n_states;
  guint32 *removed;           /* ids of the nodes that the source no longer claims */
  const char **removed_names; /* their names, owned by the claims; "": another source still claims the node; NULL: not
                                 recorded */
  QuoitReportedState *states; /* nodes with another reported state and cause, but nothing else */
} QuoitSourceUpdate;

/* The state of a ledger other than its fleet and its groups. */
typedef struct {
  guint32 epoch;
  guint32 next_node_id;
  guint64 next_group_id;
  gint64 max_jump_ms; /* how far a change can be ahead of the last entry; 0: the engine's default limit */
  gint64 keep_ms;     /* how long entries and records of ended groups are kept; 0: the engine's default */
} QuoitLedgerNumbers;

/* One effect of an entry. The type determines which members are valid. */
typedef struct {
  QuoitEffectType type;
  union {
    QuoitSourceUpdate *import; /* IMPORT */
    QuoitGroupData *group;     /* GROUP_ADDED, GROUP_CHANGED: the group after the change */
    struct {                   /* GROUP_REMOVED, GROUP_LEASE, GROUP_FORGOTTEN */
      guint64 group_id;
      char *group_name;
      QuoitEnd end;                /* GROUP_REMOVED */
      char *reason;                /* GROUP_REMOVED: of the release, in the caller's words; NULL: not stated */
      QuoitGroupState group_state; /* GROUP_LEASE, with until_ms */
      gint64 until_ms;             /* 0: no lease */
    };
    struct { /* NODE_STATE */
      guint32 node_id;
      QuoitNodeState state;
    };
    QuoitLedgerNumbers numbers; /* LEDGER_NUMBERS_SET */
  };
} QuoitEffect;

/* What a journal stores of an entry in addition to its columns. */
typedef struct {
  guint64 next_group_id; /* after the entry */
  guint32 next_node_id;
  guint8 previous[QUOIT_CHAIN_BYTES]; /* the link of the entry before */
  guint8 chain[QUOIT_CHAIN_BYTES];    /* the link of the entry */
  GBytes *effects;                    /* as stored, possibly by an older version */
} QuoitEntryLink;

/* One entry of the journal. It does not change after it was made. */
typedef struct {
  gatomicrefcount refs;
  guint64 seq; /* the first entry has 1 */
  gint64 time_ms;
  QuoitVerb verb;
  char *actor;          /* NULL: not stated */
  QuoitEntryLink *link; /* set by the store; NULL: the place of the entry in a journal is not known */
  guint n_effects;
  QuoitEffect *effects; /* points to single if there is only one effect, which saves an allocation */
  QuoitEffect single;
} QuoitEntry;

/* Returns a new entry without effects that follows the last entry of @fleet. */
QuoitEntry *quoit_entry_new (const QuoitFleet *fleet, QuoitVerb verb, gint64 time_ms);
QuoitEntry *quoit_entry_ref (const QuoitEntry *entry); /* the reference count is not part of the content */
void quoit_entry_unref (QuoitEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitEntry, quoit_entry_unref)
void quoit_entry_add (QuoitEntry *entry, QuoitEffect effect); /* takes ownership of what the effect points to */
/* Gives the entry, which no other thread uses yet, a copy of @link. Takes ownership of the effects of @link. */
void quoit_entry_set_link (QuoitEntry *entry, const QuoitEntryLink *link);

/* Frees what the effect points to. */
void quoit_effect_clear (QuoitEffect *effect);
/* Returns an effect with the current numbers of @fleet. */
QuoitEffect quoit_effect_numbers (const QuoitFleet *fleet);
/* Return an effect that removes the group, forgets the removed group, or sets its state and lease. */
QuoitEffect quoit_effect_removal (const QuoitGroupData *group, QuoitEnd end);
QuoitEffect quoit_effect_forgetting (const QuoitGroupData *group);
QuoitEffect quoit_effect_lease (const QuoitGroupData *group, QuoitGroupState state, gint64 until_ms);

/* A node that an effect adds, changes or removes. */
typedef struct {
  guint32 id;
  const char *name; /* "": the name is not in the effect, and the layout does not have the node */
  QuoitNodeEvent event;
  gboolean has_state; /* the effect sets the state */
  QuoitNodeState state;
} QuoitEffectNode;

/* Return the number of nodes that the effect adds, changes or removes, and one of them. The effect and @layout own the
 * name. */
guint32 quoit_effect_count_nodes (const QuoitEffect *effect);
QuoitEffectNode quoit_effect_node (const QuoitEffect *effect, guint32 at, const QuoitLayout *layout);

/* Describes the effect in words. @node: the node of an effect that sets the state of one, else not used. The caller
 * owns the text. */
char *quoit_effect_describe (const QuoitEffect *effect, const QuoitEffectNode *node);

/* Returns an update without states. Takes ownership of all arguments. */
QuoitSourceUpdate *quoit_source_update_new (QuoitClaims *claims, guint32 *ids, guint32 *removed, guint32 n_removed);
QuoitSourceUpdate *quoit_source_update_ref (QuoitSourceUpdate *import);
void quoit_source_update_unref (QuoitSourceUpdate *import);

/* Applies one effect of an entry of the time @time_ms. Like quoit_entry_apply(), but without a check of the position in
 * the journal, and with the message of the contradiction alone. */
gboolean quoit_effect_apply (const QuoitEffect *effect, gint64 time_ms, QuoitFleet **fleet, GError **error);

/* Applies @entry to *@fleet, which the caller owns exclusively. An import replaces *@fleet by another fleet. Fails
 * with DAMAGED if the entry does not follow the last one or contradicts the fleet, which never happens with a
 * journal that quoit wrote. *@fleet may then be partly changed, and must be discarded. */
gboolean quoit_entry_apply (const QuoitEntry *entry, QuoitFleet **fleet, GError **error);
