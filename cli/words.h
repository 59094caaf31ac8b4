/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the command for the values of the library's enums. A value that this version does not know is
 * "unknown". */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

const char *node_state_word (QuoitNodeState state);
bool node_state_parse (const char *word, QuoitNodeState *state, GError **error);
const char *source_kind_word (QuoitSourceKind kind);
bool source_kind_parse (const char *word, QuoitSourceKind *kind, GError **error);
/* The arguments of import and sync, for their help. */
extern const char source_kinds_usage[];
const char *group_state_word (QuoitGroupState state);
bool group_state_parse (const char *word, QuoitGroupState *state, GError **error);
const char *window_scope_word (QuoitWindowScope scope);
const char *slice_state_word (QuoitGroupSliceState state);
const char *change_word (QuoitChangeKind kind);
const char *effect_word (QuoitEffectType type);
const char *verdict_word (QuoitVerdict verdict);
/* NULL for QUOIT_RAY_ANSWER_NONE. */
const char *ray_answer_word (QuoitRayAnswer answer);
/* NULL for QUOIT_CUBES_NONE. */
const char *cubes_word (QuoitCubes cubes);
const char *step_word (QuoitStepKind kind);
const char *renumbering_word (QuoitProcessChange process_change);
const char *severity_word (QuoitSeverity severity);
const char *mesh_order_word (QuoitMeshOrder order);
const char *mesh_network_word (QuoitMeshNetwork network);
const char *mesh_form_word (QuoitMeshForm form);

/* Ray's word for the state of a placement group; NULL if Ray has no such state. */
const char *ray_group_state_word (QuoitGroupState state);

/* The words for the bits of the conditions of a slice, the faults of a slice and the assumptions about a node.
 * g_ptr_array_unref() them. */
GPtrArray *condition_words (uint32_t flags);
GPtrArray *fault_words (uint32_t faults);
GPtrArray *assumption_words (uint32_t assumptions);
