/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_JOURNAL_H
#define QUOIT_JOURNAL_H

#include <stdbool.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitJournal:
 *
 * Some entries of a journal, in order. An entry is one change that was made: when, by whom, by which verb, and its
 * effects, which say what happened and never what was asked. Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitJournal QuoitJournal;

/**
 * QuoitEffectType:
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_EFFECT_IMPORT = 1,          /* a source was imported, or changed */
  QUOIT_EFFECT_GROUP_ADDED = 2,     /* a group was made */
  QUOIT_EFFECT_GROUP_REMOVED = 3,   /* a group ended */
  QUOIT_EFFECT_NODE_STATE = 4,      /* a node has another state */
  QUOIT_EFFECT_GROUP_CHANGED = 5,   /* a group has other slices or bundles than before */
  QUOIT_EFFECT_GROUP_LEASE = 6,     /* a group was confirmed, or its lease changed */
  QUOIT_EFFECT_GROUP_FORGOTTEN = 7, /* the record of an ended group was deleted, with its key */
  QUOIT_EFFECT_LEDGER_SET = 8       /* the ledger's epoch, next ids or clock limit were set */
} QuoitEffectType;

/**
 * quoit_journal_free:
 * @journal: (nullable): the entries
 *
 * Since: 0.1
 */
QUOIT_API void quoit_journal_free (QuoitJournal *journal);

/**
 * quoit_journal_get_n_entries:
 * @journal: the entries
 *
 * Returns: the number of entries
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_journal_get_n_entries (const QuoitJournal *journal);

/**
 * quoit_journal_get_seq:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: its sequence number, from 1, without gaps
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_journal_get_seq (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_time_ms:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: when, by the ledger's clock: milliseconds since 1970-01-01 UTC
 * Since: 0.1
 */
QUOIT_API int64_t quoit_journal_get_time_ms (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_verb:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: (transfer none): "reserve", "release", "import"...
 * Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_verb (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_actor:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: (transfer none): the actor of the change; "" if none was set
 * Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_actor (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_n_effects:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns: the number of its effects
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_journal_get_n_effects (const QuoitJournal *journal, uint32_t entry);

/**
 * quoit_journal_get_effect_type:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: what kind of effect it is
 * Since: 0.1
 */
QUOIT_API QuoitEffectType quoit_journal_get_effect_type (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_effect_source:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): the source of an import; %NULL for other effects
 * Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_effect_source (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_effect_node:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): the node of a changed state, "" if the fleet no longer has it; %NULL for other
 * effects Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_effect_node (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_get_effect_group_name:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer none) (nullable): the name of the group that the effect is on, "" if it is unknown; %NULL for
 * effects on no group Since: 0.1
 */
QUOIT_API const char *quoit_journal_get_effect_group_name (const QuoitJournal *journal, uint32_t entry,
                                                           uint32_t effect);

/**
 * quoit_journal_get_effect_group_id:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: the group's id; 0 for effects on no group
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_journal_get_effect_group_id (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/**
 * quoit_journal_dup_effect_text:
 * @journal: the entries
 * @entry: below quoit_journal_get_n_entries()
 * @effect: below quoit_journal_get_n_effects()
 *
 * Returns: (transfer full): the effect in words: "train@3 holds 8 nodes of 2 slices"; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_journal_dup_effect_text (const QuoitJournal *journal, uint32_t entry, uint32_t effect);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitJournal, quoit_journal_free)

G_END_DECLS

#endif
