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
node_state_word (QuoitNodeState state)
{
  return FIND (node_states, state);
}

bool
node_state_parse (const char *word, QuoitNodeState *state, GError **error)
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

const char source_kinds_usage[]
    = "raycluster|ray-nodes|k8s-nodes FILE | fleet TEXT | --from-kubectl | --from-ray [ADDRESS] [-- ARGUMENT ...]";

const char *
source_kind_word (QuoitSourceKind kind)
{
  return FIND (source_kinds, kind);
}

bool
source_kind_parse (const char *word, QuoitSourceKind *kind, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (source_kinds); i++)
    if (g_str_equal (source_kinds[i].word, word))
      {
        *kind = (QuoitSourceKind) source_kinds[i].value;
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected raycluster, ray-nodes, k8s-nodes or fleet", word);
  return false;
}

static const Word group_states[] = {
  { QUOIT_GROUP_HELD, "held" },
  { QUOIT_GROUP_RESERVED, "reserved" },
  { QUOIT_GROUP_RESCHEDULING, "rescheduling" },
  { QUOIT_GROUP_REMOVED, "removed" },
  { QUOIT_GROUP_PENDING, "pending" },
  { QUOIT_GROUP_AHEAD, "ahead" },
};

const char *
group_state_word (QuoitGroupState state)
{
  return FIND (group_states, state);
}

bool
group_state_parse (const char *word, QuoitGroupState *state, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (group_states); i++)
    if (g_str_equal (group_states[i].word, word))
      {
        *state = (QuoitGroupState) group_states[i].value;
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "--state '%s': expected ahead, held, reserved, rescheduling, removed or pending", word);
  return false;
}

const char *
ray_group_state_word (QuoitGroupState state)
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
    case QUOIT_GROUP_AHEAD:
    default:
      return NULL;
    }
}

static const Word window_scopes[] = {
  { QUOIT_WINDOW_NODE, "node" },
  { QUOIT_WINDOW_SLICE, "slice" },
  { QUOIT_WINDOW_POOL, "pool" },
  { QUOIT_WINDOW_ZONE, "zone" },
};

const char *
window_scope_word (QuoitWindowScope scope)
{
  return FIND (window_scopes, scope);
}

static const Word slice_states[] = {
  { QUOIT_GROUP_SLICE_WHOLE, "whole" },
  { QUOIT_GROUP_SLICE_LEAVING, "leaving" },
  { QUOIT_GROUP_SLICE_LOST, "lost" },
};

const char *
slice_state_word (QuoitGroupSliceState state)
{
  return FIND (slice_states, state);
}

static const Word changes[] = {
  { QUOIT_CHANGE_ADDED, "added" }, { QUOIT_CHANGE_REMOVED, "removed" },   { QUOIT_CHANGE_CHANGED, "changed" },
  { QUOIT_CHANGE_STATE, "state" }, { QUOIT_CHANGE_POOL, "pool" },         { QUOIT_CHANGE_LOST, "lost" },
  { QUOIT_CHANGE_GROUP, "group" }, { QUOIT_CHANGE_EXTERNAL, "external" }, { QUOIT_CHANGE_GROUP_SLICE, "group-slice" },
};

const char *
change_word (QuoitChangeKind kind)
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
  { QUOIT_EFFECT_LEDGER_NUMBERS_SET, "ledger-numbers-set" },
};

const char *
effect_word (QuoitEffectType type)
{
  return FIND (effects, type);
}

static const Word verdicts[] = {
  { QUOIT_VERDICT_FITS, "fits" },
  { QUOIT_VERDICT_NOT_NOW, "not-now" },
  { QUOIT_VERDICT_NEVER, "never" },
};

const char *
verdict_word (QuoitVerdict verdict)
{
  return FIND (verdicts, verdict);
}

static const Word ray_answers[] = {
  { QUOIT_RAY_ANSWER_SUCCESS, "SUCCESS" },
  { QUOIT_RAY_ANSWER_FAILED, "FAILED" },
  { QUOIT_RAY_ANSWER_INFEASIBLE, "INFEASIBLE" },
};

const char *
ray_answer_word (QuoitRayAnswer answer)
{
  return answer == QUOIT_RAY_ANSWER_NONE ? NULL : FIND (ray_answers, answer);
}

static const Word cubes_words[] = {
  { QUOIT_CUBES_ANY, "any" },
  { QUOIT_CUBES_ANY_TWISTED, "any-twisted" },
  { QUOIT_CUBES_ADJACENT, "adjacent" },
};

const char *
cubes_word (QuoitCubes cubes)
{
  return cubes == QUOIT_CUBES_NONE ? NULL : FIND (cubes_words, cubes);
}

static const Word steps[] = {
  { QUOIT_STEP_NODE_ALIVE, "node-alive" },
  { QUOIT_STEP_UNDRAIN, "undrain" },
  { QUOIT_STEP_LEASE_ENDS, "lease-ends" },
  { QUOIT_STEP_EXPECTED_END, "expected-end" },
  { QUOIT_STEP_SOURCE_REMOVES, "source-removes" },
  { QUOIT_STEP_WINDOW_ENDS, "window-ends" },
  { QUOIT_STEP_RELEASE, "release" },
  { QUOIT_STEP_EXTERNAL_ENDS, "external-ends" },
  { QUOIT_STEP_FEWER_SLICES, "fewer-slices" },
  { QUOIT_STEP_OTHER_TOPOLOGY, "other-topology" },
  { QUOIT_STEP_OTHER_HOSTS, "other-hosts" },
  { QUOIT_STEP_SHRINK, "shrink" },
  { QUOIT_STEP_CUT, "cut" },
  { QUOIT_STEP_CUT_PARTITION, "cut-partition" },
  { QUOIT_STEP_JOIN_CUBES, "join-cubes" },
};

const char *
step_word (QuoitStepKind kind)
{
  return FIND (steps, kind);
}

static const Word renumberings[] = {
  { QUOIT_PROCESS_SAME, "same" },     { QUOIT_PROCESS_CHANGED, "changed" }, { QUOIT_PROCESS_MOVED, "moved" },
  { QUOIT_PROCESS_JOINED, "joined" }, { QUOIT_PROCESS_LEFT, "left" },
};

const char *
renumbering_word (QuoitProcessChange process_change)
{
  return FIND (renumberings, process_change);
}

static const Word severities[] = {
  { QUOIT_SEVERITY_ERROR, "error" },
  { QUOIT_SEVERITY_WARNING, "warning" },
  { QUOIT_SEVERITY_NOTE, "note" },
};

const char *
severity_word (QuoitSeverity severity)
{
  return FIND (severities, severity);
}

static const Word mesh_orders[] = {
  { QUOIT_MESH_ORDER_TORUS, "torus" },
  { QUOIT_MESH_ORDER_RING, "ring" },
  { QUOIT_MESH_ORDER_LISTED, "listed" },
};

const char *
mesh_order_word (QuoitMeshOrder order)
{
  return FIND (mesh_orders, order);
}

static const Word mesh_networks[] = {
  { QUOIT_MESH_NETWORK_NONE, "none" }, { QUOIT_MESH_NETWORK_CHIP, "chip" },           { QUOIT_MESH_NETWORK_ICI, "ici" },
  { QUOIT_MESH_NETWORK_DCN, "dcn" },   { QUOIT_MESH_NETWORK_ICI_AND_DCN, "ici+dcn" },
};

const char *
mesh_network_word (QuoitMeshNetwork network)
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
mesh_form_word (QuoitMeshForm form)
{
  return FIND (mesh_forms, form);
}

static GPtrArray *
bit_words (const Word *words, guint n, guint bits)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    if (bits & words[i].value)
      g_ptr_array_add (found, (char *) words[i].word);
  return found;
}

static const Word conditions[] = {
  { QUOIT_SLICE_INTACT, "intact" }, { QUOIT_SLICE_IDLE, "idle" },           { QUOIT_SLICE_PARTLY, "partly_used" },
  { QUOIT_SLICE_FULL, "full" },     { QUOIT_SLICE_ALLOCATED, "allocated" }, { QUOIT_SLICE_DRAINING, "draining" },
  { QUOIT_SLICE_FREE, "free" },
};

GPtrArray *
condition_words (uint32_t flags)
{
  GPtrArray *words = bit_words (conditions, G_N_ELEMENTS (conditions), flags);

  if (!(flags & QUOIT_SLICE_INTACT))
    g_ptr_array_insert (words, 0, (char *) "degraded");
  return words;
}

static const Word faults_words[] = {
  { QUOIT_FAULT_DUPLICATE_WORKER_ID, "duplicate-worker-id" },
  { QUOIT_FAULT_NO_WORKER_ID, "no-worker-id" },
  { QUOIT_FAULT_TOO_MANY_HOSTS, "too-many-hosts" },
  { QUOIT_FAULT_CHIPS, "chips" },
  { QUOIT_FAULT_TOPOLOGY, "topology" },
  { QUOIT_FAULT_POD_TYPE, "pod-type" },
};

GPtrArray *
fault_words (uint32_t faults)
{
  return bit_words (faults_words, G_N_ELEMENTS (faults_words), faults);
}

static const Word assumptions_words[] = {
  { QUOIT_NODE_ASSUMES_WORKER_ID, "worker-id" },
  { QUOIT_NODE_ASSUMES_HOST_NAME, "host-name" },
};

GPtrArray *
assumption_words (uint32_t assumptions)
{
  return bit_words (assumptions_words, G_N_ELEMENTS (assumptions_words), assumptions);
}
