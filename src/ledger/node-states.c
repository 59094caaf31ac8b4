/* SPDX-License-Identifier: Apache-2.0 */
/* Step: set the states of nodes. */
#include "ledger/ledger.h"

static gboolean
next_state (const QuoitStatesChange *change, const char *name, QuoitNodeState now, QuoitNodeState *next, GError **error)
{
  if (change->verb == QUOIT_VERB_SET_STATE)
    return *next = change->state, TRUE;
  if (now == QUOIT_NODE_DEAD)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "node '%s' is dead: only set-state can change that", name);
  *next = change->verb == QUOIT_VERB_DRAIN ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
  return TRUE;
}

/* Adds the effect on one node, unless the node has the state already. @seen: the ids of the nodes so far. */
static gboolean
add_state (const QuoitFleet *fleet, const QuoitStatesChange *change, const char *name, GHashTable *seen,
           QuoitEntry *entry, GError **error)
{
  QuoitNodeState now, next = QUOIT_NODE_ALIVE;
  QuoitNodeId node;
  guint32 id;

  if (!quoit_layout_lookup_node (fleet->layout, name, &node, error))
    return FALSE;
  id = fleet->layout->nodes[node.index].id;
  now = quoit_fleet_node_state (fleet, node);
  if (!next_state (change, name, now, &next, error))
    return FALSE;
  if (next != now && g_hash_table_add (seen, GUINT_TO_POINTER (id)))
    quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = id, .state = next });
  return TRUE;
}

gboolean
quoit_step_set_states (const QuoitFleet *fleet, const QuoitStatesChange *change, gint64 now_ms, QuoitEntry **entry,
                       GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (QuoitEntry) made = NULL;
  gint64 time_ms = 0;

  if ((guint) change->state > QUOIT_NODE_DEAD)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "state '%d': expected alive, draining or dead", (int) change->state);
  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  made = quoit_entry_new (fleet, change->verb, time_ms);
  for (guint32 i = 0; i < change->n_nodes; i++)
    if (!add_state (fleet, change, change->nodes[i], seen, made, error))
      return FALSE;
  if (made->n_effects > 0)
    *entry = g_steal_pointer (&made);
  return TRUE;
}
