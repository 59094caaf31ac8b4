/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_JOURNAL_H
#define QUOIT_JOURNAL_H

#include <stdbool.h>

#include <quoit/error.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitJournal:
 *
 * Consecutive entries of a journal. An entry is one change: its time, its actor, its verb and its effects. Effects
 * record the result of the change, not the request. Immutable; any thread can read it.
 */
typedef struct _QuoitJournal QuoitJournal;

/**
 * QuoitEffectType:
 *
 * The type of an effect.
 */
typedef enum {
  QUOIT_EFFECT_IMPORT = 1,            /* a source was imported, or changed */
  QUOIT_EFFECT_GROUP_ADDED = 2,       /* a group was created */
  QUOIT_EFFECT_GROUP_REMOVED = 3,     /* a group ended */
  QUOIT_EFFECT_NODE_STATE = 4,        /* the state of a node changed */
  QUOIT_EFFECT_GROUP_CHANGED = 5,     /* the slices or bundles of a group changed */
  QUOIT_EFFECT_GROUP_LEASE = 6,       /* a group was confirmed, or its lease changed */
  QUOIT_EFFECT_GROUP_FORGOTTEN = 7,   /* the record of an ended group was deleted, with its key */
  QUOIT_EFFECT_LEDGER_NUMBERS_SET = 8 /* the ledger's epoch, next ids or limits were set */
} QuoitEffectType;

/**
 * QuoitNodeEvent:
 *
 * What an effect does to a node.
 */
typedef enum {
  QUOIT_NODE_EVENT_UNRECORDED = 0, /* it is new or different; an earlier version of quoit did not record which */
  QUOIT_NODE_EVENT_ADDED = 1,      /* it is new in the fleet, with a state */
  QUOIT_NODE_EVENT_REMOVED = 2,    /* it is no longer in the fleet */
  QUOIT_NODE_EVENT_MOVED = 3,      /* its slice, its worker id or its pool is another one */
  QUOIT_NODE_EVENT_CHANGED = 4,    /* its name, address, labels or resources are different, or its sources */
  QUOIT_NODE_EVENT_STATE = 5,      /* it has another state */
  QUOIT_NODE_EVENT_LOST = 6        /* its source no longer has it; it is dead while a group has it */
} QuoitNodeEvent;

/**
 * quoit_journal_free:
 * @journal: (nullable): the entries
 */
QUOIT_API void quoit_journal_free (QuoitJournal *journal);

/**
 * quoit_journal_get_n_entries:
 *
 * Returns: the number of entries
 */
QUOIT_API uint32_t quoit_journal_get_n_entries (const QuoitJournal *journal);

/**
 * quoit_journal_get_seq:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: the sequence number of the entry; numbers begin with 1 and have no gaps
 */
QUOIT_API uint64_t quoit_journal_get_seq (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_time_ms:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: the time of the entry, by the ledger's clock
 */
QUOIT_API int64_t quoit_journal_get_time_ms (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_verb:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: (transfer none): the verb, such as "reserve", "release" or "import"
 */
QUOIT_API const char *quoit_journal_get_verb (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_actor:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: (transfer none): the actor of the change; "" if none was set
 */
QUOIT_API const char *quoit_journal_get_actor (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_n_effects:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: the number of effects
 */
QUOIT_API uint32_t quoit_journal_get_n_effects (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_effect_type:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: the type
 */
QUOIT_API QuoitEffectType quoit_journal_get_effect_type (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_effect_source:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): the source of an import; %NULL for other effects
 */
QUOIT_API const char *quoit_journal_get_effect_source (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_n_nodes:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * The nodes of %QUOIT_EFFECT_NODE_STATE are the one whose state changed. Those of %QUOIT_EFFECT_IMPORT are all that the
 * import adds, changes or removes, up to millions. They are found in the entry when you read them, so that an entry
 * with many nodes costs no more than before. To follow the states of all nodes, read the nodes of all effects, in
 * order: each node gets its state from quoit_journal_find_node_state(), and keeps it until the next one.
 *
 * Returns: the number of nodes that the effect adds, changes or removes
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_journal_get_n_nodes (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_node_id:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 * @node: below quoit_journal_get_n_nodes()
 *
 * Returns: the durable id of the node, as quoit_snapshot_get_node_id() returns it
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_journal_get_node_id (const QuoitJournal *journal, uint32_t entry, uint32_t effect,
                                              uint32_t node);

/**
 * quoit_journal_get_node_name:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 * @node: below quoit_journal_get_n_nodes()
 *
 * Returns: (transfer none) (nullable): the short name of the node; "" if its state changed, and neither the fleet nor
 * a later entry of @journal has its name
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_node_name (const QuoitJournal *journal, uint32_t entry, uint32_t effect,
                                                   uint32_t node);

/**
 * quoit_journal_get_node_event:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 * @node: below quoit_journal_get_n_nodes()
 *
 * Returns: what the effect does to the node
 *
 * Since: 0.1
 */
QUOIT_API QuoitNodeEvent quoit_journal_get_node_event (const QuoitJournal *journal, uint32_t entry, uint32_t effect,
                                                       uint32_t node);

/**
 * quoit_journal_find_node_state:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 * @node: below quoit_journal_get_n_nodes()
 * @state: (out) (optional): the state of the node after the effect
 *
 * An effect sets the state of nodes with %QUOIT_NODE_EVENT_ADDED, %QUOIT_NODE_EVENT_STATE and %QUOIT_NODE_EVENT_LOST.
 * If an import also changes the state of a node that it moves or changes, an effect %QUOIT_EFFECT_NODE_STATE follows.
 *
 * Returns: whether the effect sets the state; otherwise @state is not written
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_journal_find_node_state (const QuoitJournal *journal, uint32_t entry, uint32_t effect,
                                              uint32_t node, QuoitNodeState *state);

/**
 * quoit_journal_get_effect_group_name:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): the name of the group that the effect changes, "" if it is unknown; %NULL for
 *   other effects
 */
QUOIT_API const char *quoit_journal_get_effect_group_name (const QuoitJournal *journal, uint32_t entry,
                                                           uint32_t effect);

/**
 * quoit_journal_get_effect_group_id:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: the id of the group that the effect changes; 0 for other effects
 */
QUOIT_API uint64_t quoit_journal_get_effect_group_id (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_effect_release_reason:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): why the group was released, as given to quoit_ledger_release_with_reason();
 * %NULL if no reason was given, and for other effects
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_effect_release_reason (const QuoitJournal *journal, uint32_t entry,
                                                               uint32_t effect);

/**
 * quoit_journal_dup_effect_text:
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer full): the effect in words: "train@3 holds 8 nodes of 2 slices"; g_free() it
 */
QUOIT_API char *quoit_journal_dup_effect_text (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitJournal, quoit_journal_free)

G_END_DECLS

#endif
