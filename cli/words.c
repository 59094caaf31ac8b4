/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "words.h"

typedef struct {
  guint value;
  const char *word;
} Word;

static const char *
find_word (const Word *words, guint n, guint value)
{
  for (guint i = 0; i < n; i++)
    if (words[i].value == value)
      return words[i].word;
  return "unknown";
}

#define FIND(words, value) find_word (words, G_N_ELEMENTS (words), (guint) (value))

static const Word node_states[] = {
  { QUOIT_NODE_ALIVE, "alive" },
  { QUOIT_NODE_DRAINING, "draining" },
  { QUOIT_NODE_DEAD, "dead" },
};

const char *
word_of_node_state (QuoitNodeState state)
{
  return FIND (node_states, state);
}

bool
word_parse_node_state (const char *word, QuoitNodeState *state, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (node_states); i++)
    if (g_str_equal (node_states[i].word, word))
      {
        *state = (QuoitNodeState) node_states[i].value;
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "state '%s': expected alive, draining or dead", word);
  return false;
}

static const Word source_kinds[] = {
  { QUOIT_SOURCE_KIND_FLEET, "fleet" },
  { QUOIT_SOURCE_KIND_RAYCLUSTER, "raycluster" },
  { QUOIT_SOURCE_KIND_RAY_NODES, "ray-nodes" },
  { QUOIT_SOURCE_KIND_K8S_NODES, "k8s-nodes" },
};

const char *
word_of_source_kind (QuoitSourceKind kind)
{
  return FIND (source_kinds, kind);
}

static const Word group_states[] = {
  { QUOIT_GROUP_HELD, "held" },
  { QUOIT_GROUP_RESERVED, "reserved" },
  { QUOIT_GROUP_RESCHEDULING, "rescheduling" },
  { QUOIT_GROUP_REMOVED, "removed" },
  { QUOIT_GROUP_PENDING, "pending" },
};

const char *
word_of_group_state (QuoitGroupState state)
{
  return FIND (group_states, state);
}

const char *
word_of_ray_group_state (QuoitGroupState state)
{
  switch (state)
    {
    case QUOIT_GROUP_RESERVED:
      return "CREATED";
    case QUOIT_GROUP_RESCHEDULING:
      return "RESCHEDULING";
    case QUOIT_GROUP_REMOVED:
      return "REMOVED";
    case QUOIT_GROUP_PENDING:
      return "PENDING";
    case QUOIT_GROUP_HELD:
    default:
      return NULL;
    }
}

static const Word slice_states[] = {
  { QUOIT_GROUP_SLICE_WHOLE, "whole" },
  { QUOIT_GROUP_SLICE_LEAVING, "leaving" },
  { QUOIT_GROUP_SLICE_LOST, "lost" },
};

const char *
word_of_slice_state (QuoitGroupSliceState state)
{
  return FIND (slice_states, state);
}

static const Word changes[] = {
  { QUOIT_CHANGE_ADDED, "added" }, { QUOIT_CHANGE_REMOVED, "removed" },   { QUOIT_CHANGE_CHANGED, "changed" },
  { QUOIT_CHANGE_STATE, "state" }, { QUOIT_CHANGE_POOL, "pool" },         { QUOIT_CHANGE_LOST, "lost" },
  { QUOIT_CHANGE_GROUP, "group" }, { QUOIT_CHANGE_EXTERNAL, "external" }, { QUOIT_CHANGE_GROUP_SLICE, "group-slice" },
};

const char *
word_of_change (QuoitChangeKind kind)
{
  return FIND (changes, kind);
}

static const Word effects[] = {
  { QUOIT_EFFECT_IMPORT, "import" },
  { QUOIT_EFFECT_GROUP_ADDED, "group-added" },
  { QUOIT_EFFECT_GROUP_REMOVED, "group-removed" },
  { QUOIT_EFFECT_NODE_STATE, "node-state" },
  { QUOIT_EFFECT_GROUP_CHANGED, "group-changed" },
  { QUOIT_EFFECT_GROUP_LEASE, "group-lease" },
  { QUOIT_EFFECT_GROUP_FORGOTTEN, "group-forgotten" },
  { QUOIT_EFFECT_LEDGER_SET, "ledger-set" },
};

const char *
word_of_effect (QuoitEffectType type)
{
  return FIND (effects, type);
}

static const Word verdicts[] = {
  { QUOIT_VERDICT_FITS, "fits" },
  { QUOIT_VERDICT_NOT_NOW, "not-now" },
  { QUOIT_VERDICT_NEVER, "never" },
};

const char *
word_of_verdict (QuoitVerdict verdict)
{
  return FIND (verdicts, verdict);
}

static const Word ray_answers[] = {
  { QUOIT_RAY_ANSWER_SUCCESS, "SUCCESS" },
  { QUOIT_RAY_ANSWER_FAILED, "FAILED" },
  { QUOIT_RAY_ANSWER_INFEASIBLE, "INFEASIBLE" },
};

const char *
word_of_ray_answer (QuoitRayAnswer answer)
{
  return answer == QUOIT_RAY_ANSWER_NONE ? NULL : FIND (ray_answers, answer);
}

static const Word steps[] = {
  { QUOIT_STEP_NODE_BACK, "node-back" },       { QUOIT_STEP_UNDRAIN, "undrain" },
  { QUOIT_STEP_LEASE_ENDS, "lease-ends" },     { QUOIT_STEP_SOURCE_REMOVES, "source-removes" },
  { QUOIT_STEP_RELEASE, "release" },           { QUOIT_STEP_EXTERNAL_ENDS, "external-ends" },
  { QUOIT_STEP_FEWER_SLICES, "fewer-slices" }, { QUOIT_STEP_OTHER_TOPOLOGY, "other-topology" },
  { QUOIT_STEP_OTHER_HOSTS, "other-hosts" },
};

const char *
word_of_step (QuoitStepKind kind)
{
  return FIND (steps, kind);
}

static const Word renumberings[] = {
  { QUOIT_RENUMBERING_SAME, "same" },   { QUOIT_RENUMBERING_CHANGED, "changed" },
  { QUOIT_RENUMBERING_MOVED, "moved" }, { QUOIT_RENUMBERING_JOINED, "joined" },
  { QUOIT_RENUMBERING_LEFT, "left" },
};

const char *
word_of_renumbering (QuoitRenumberingHow how)
{
  return FIND (renumberings, how);
}

static const Word severities[] = {
  { QUOIT_SEVERITY_ERROR, "error" },
  { QUOIT_SEVERITY_WARNING, "warning" },
  { QUOIT_SEVERITY_NOTE, "note" },
};

const char *
word_of_severity (QuoitSeverity severity)
{
  return FIND (severities, severity);
}

static const Word mesh_orders[] = {
  { QUOIT_MESH_ORDER_TORUS, "torus" },
  { QUOIT_MESH_ORDER_RING, "ring" },
  { QUOIT_MESH_ORDER_LISTED, "listed" },
};

const char *
word_of_mesh_order (QuoitMeshOrder order)
{
  return FIND (mesh_orders, order);
}

static const Word mesh_networks[] = {
  { QUOIT_MESH_NETWORK_NONE, "none" }, { QUOIT_MESH_NETWORK_CHIP, "chip" },           { QUOIT_MESH_NETWORK_ICI, "ici" },
  { QUOIT_MESH_NETWORK_DCN, "dcn" },   { QUOIT_MESH_NETWORK_ICI_AND_DCN, "ici+dcn" },
};

const char *
word_of_mesh_network (QuoitMeshNetwork network)
{
  return FIND (mesh_networks, network);
}

static const Word mesh_forms[] = {
  { QUOIT_MESH_FORM_NONE, "none" },
  { QUOIT_MESH_FORM_LINE, "line" },
  { QUOIT_MESH_FORM_RING, "ring" },
  { QUOIT_MESH_FORM_JUMPS, "jumps" },
};

const char *
word_of_mesh_form (QuoitMeshForm form)
{
  return FIND (mesh_forms, form);
}

static GPtrArray *
words_of_bits (const Word *words, guint n, guint bits)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    if (bits & words[i].value)
      g_ptr_array_add (found, (char *) words[i].word);
  return found;
}

static const Word conditions[] = {
  { QUOIT_SLICE_INTACT, "intact" }, { QUOIT_SLICE_IDLE, "idle" }, { QUOIT_SLICE_PARTLY, "partly_used" },
  { QUOIT_SLICE_FULL, "full" },     { QUOIT_SLICE_HELD, "held" }, { QUOIT_SLICE_DRAINING, "draining" },
  { QUOIT_SLICE_FREE, "free" },
};

GPtrArray *
words_of_conditions (uint32_t flags)
{
  GPtrArray *words = words_of_bits (conditions, G_N_ELEMENTS (conditions), flags);

  if (!(flags & QUOIT_SLICE_INTACT))
    g_ptr_array_insert (words, 0, (char *) "degraded");
  return words;
}

static const Word faults_words[] = {
  { QUOIT_FAULT_WORKER_TWICE, "worker-twice" },
  { QUOIT_FAULT_NO_WORKER_ID, "no-worker-id" },
  { QUOIT_FAULT_TOO_MANY_HOSTS, "too-many-hosts" },
  { QUOIT_FAULT_CHIPS, "chips" },
  { QUOIT_FAULT_TOPOLOGY, "topology" },
  { QUOIT_FAULT_POD_TYPE, "pod-type" },
};

GPtrArray *
words_of_faults (uint32_t faults)
{
  return words_of_bits (faults_words, G_N_ELEMENTS (faults_words), faults);
}

static const Word assumptions_words[] = {
  { QUOIT_NODE_ASSUMES_WORKER_ID, "worker-id" },
  { QUOIT_NODE_ASSUMES_HOST_NAME, "host-name" },
};

GPtrArray *
words_of_assumptions (uint32_t assumptions)
{
  return words_of_bits (assumptions_words, G_N_ELEMENTS (assumptions_words), assumptions);
}
