/* SPDX-License-Identifier: Apache-2.0 */
/* The library's enums in the command's words. A value of a newer library is "unknown". */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

const char *word_of_node_state (QuoitNodeState state);
bool word_parse_node_state (const char *word, QuoitNodeState *state, GError **error);
const char *word_of_source_kind (QuoitSourceKind kind);
const char *word_of_group_state (QuoitGroupState state);
const char *word_of_slice_state (QuoitGroupSliceState state);
const char *word_of_change (QuoitChangeKind kind);
const char *word_of_effect (QuoitEffectType type);
const char *word_of_verdict (QuoitVerdict verdict);
/* NULL where Ray has none. */
const char *word_of_ray_answer (QuoitRayAnswer answer);
const char *word_of_step (QuoitStepKind kind);
const char *word_of_renumbering (QuoitRenumberingHow how);
const char *word_of_severity (QuoitSeverity severity);
const char *word_of_mesh_order (QuoitMeshOrder order);
const char *word_of_mesh_network (QuoitMeshNetwork network);
const char *word_of_mesh_form (QuoitMeshForm form);

/* Ray's word for the state of a placement group; NULL where Ray has none. */
const char *word_of_ray_group_state (QuoitGroupState state);

/* Conditions and faults of a slice, assumptions of a node, one word a bit. g_ptr_array_unref() them. */
GPtrArray *words_of_conditions (uint32_t flags);
GPtrArray *words_of_faults (uint32_t faults);
GPtrArray *words_of_assumptions (uint32_t assumptions);
