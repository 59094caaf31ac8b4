/* SPDX-License-Identifier: Apache-2.0 */
/* A journal entry: one change, as effects. Applying an entry never decides anything: what a verb chose is written out,
 * so that a better choice tomorrow cannot change what happened yesterday. */
#pragma once

#include <quoit/journal.h>

#include "fleet/fleet.h"

/* Stored in databases: append only. */
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
  QUOIT_VERB_EXPIRE = 10, /* nobody's: what had ended when another change was made */
  QUOIT_VERB_OWNER_SET = 11,
  QUOIT_VERB_OWNER_RENEW = 12,
  QUOIT_VERB_OWNER_END = 13,
  QUOIT_VERB_FORGET = 14,
  QUOIT_VERB_RESIZE = 15,
  QUOIT_VERB_REPAIR = 16,
  QUOIT_VERB_SYNC = 17,
  QUOIT_VERB_RESTORE = 18,
  QUOIT_VERB_SET_CLOCK = 19 /* the only one whose time may be before that of the entry before it */
} QuoitVerb;
const char *quoit_verb_name (QuoitVerb verb); /* "reserve"; "unknown" for what a later version wrote */

/* What an import changes of one source: all of its pools as they are now, the nodes that are new or different, and
 * those that are gone. The claims hold nothing else. */
typedef struct {
  QuoitClaims *claims;
  guint32 *ids; /* of the claims' nodes */
  guint32 n_removed;
  guint32 *removed; /* ids */
} QuoitSourceUpdate;

/* What a ledger has beside its fleet and its groups. */
typedef struct {
  guint32 epoch;
  guint32 next_node_id;
  guint64 next_group_id;
  gint64 max_jump_ms;
} QuoitLedgerNumbers;

typedef struct {
  QuoitEffectType type;
  union {
    QuoitSourceUpdate *import;
    QuoitGroupData *group; /* GROUP_ADDED, GROUP_CHANGED: as it is now */
    struct {
      guint64 group_id;
      char *group_name;
      QuoitEnd end;                /* GROUP_REMOVED */
      QuoitGroupState group_state; /* GROUP_LEASE, and */
      gint64 until_ms;             /* 0: no lease */
    };
    struct {
      guint32 node_id;
      QuoitNodeState state;
    };
    QuoitLedgerNumbers numbers; /* LEDGER_SET */
  };
} QuoitEffect;

typedef struct {
  gatomicrefcount refs;
  guint64 seq;
  gint64 time_ms;
  QuoitVerb verb;
  char *actor; /* who asked; NULL where nobody said */
  guint n_effects;
  QuoitEffect *effects; /* points to one where one is enough */
  QuoitEffect one;
} QuoitEntry;

/* The entry that follows @fleet's last one; effects are added by the step that makes it. */
QuoitEntry *quoit_entry_new (const QuoitFleet *fleet, QuoitVerb verb, gint64 time_ms);
QuoitEntry *quoit_entry_ref (QuoitEntry *entry);
void quoit_entry_unref (QuoitEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitEntry, quoit_entry_unref)
void quoit_entry_add (QuoitEntry *entry, QuoitEffect effect); /* takes what the effect points to */

void quoit_effect_clear (QuoitEffect *effect);
/* The numbers that @fleet has now. */
QuoitEffect quoit_effect_numbers (const QuoitFleet *fleet);
QuoitEffect quoit_effect_removal (const QuoitGroupData *group, QuoitEnd end);
QuoitEffect quoit_effect_forgetting (const QuoitGroupData *group);
QuoitEffect quoit_effect_lease (const QuoitGroupData *group, QuoitGroupState state, gint64 until_ms);

QuoitSourceUpdate *quoit_source_update_new (QuoitClaims *claims, guint32 *ids, guint32 *removed,
                                            guint32 n_removed); /* takes all */
void quoit_source_update_free (QuoitSourceUpdate *import);

/* Carries @entry out on *@fleet, which the caller owns alone; an import puts another fleet in its place. DAMAGED when
 * the entry does not follow, or contradicts the fleet: a journal that was written by quoit never does. *@fleet may then
 * be half changed and is only good for being dropped. */
gboolean quoit_entry_apply (const QuoitEntry *entry, QuoitFleet **fleet, GError **error);
