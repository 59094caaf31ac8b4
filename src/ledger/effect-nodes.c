/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that an effect adds, changes or removes. They are found in the effect itself, so that an entry needs no
 * list of them beside its content. */
#include "fleet/names.h"
#include "ledger/entry.h"

static const char *
name_of_id (const QuoitLayout *layout, guint32 id)
{
  guint32 index = quoit_layout_find_id (layout, id);

  return index == QUOIT_NO_INDEX ? "" : quoit_layout_node_name (layout, (QuoitNodeId) { index });
}

guint32
quoit_effect_count_nodes (const QuoitEffect *effect)
{
  guint32 n = 0;

  if (effect->type != QUOIT_EFFECT_IMPORT)
    return effect->type == QUOIT_EFFECT_NODE_STATE;
  quoit_claims_nodes (effect->import->claims, &n);
  return n + effect->import->n_states + effect->import->n_removed;
}

static QuoitEffectNode
state_change (guint32 id, QuoitNodeState state, const QuoitLayout *layout)
{
  return (QuoitEffectNode) {
    .id = id, .name = name_of_id (layout, id), .event = QUOIT_NODE_EVENT_STATE, .has_state = TRUE, .state = state
  };
}

static QuoitEffectNode
claimed_node (const QuoitSourceUpdate *import, const QuoitNodeClaim *claim, guint32 at)
{
  QuoitNodeEvent event = import->events == NULL ? QUOIT_NODE_EVENT_UNRECORDED : (QuoitNodeEvent) import->events[at];

  return (QuoitEffectNode) { .id = import->ids[at],
                             .name = claim->name,
                             .event = event,
                             .has_state = event == QUOIT_NODE_EVENT_ADDED || event == QUOIT_NODE_EVENT_LOST,
                             .state = (QuoitNodeState) claim->state };
}

static QuoitEffectNode
removed_node (const QuoitSourceUpdate *import, guint32 at, const QuoitLayout *layout)
{
  const char *name = import->removed_names == NULL ? NULL : import->removed_names[at];
  QuoitEffectNode node = { .id = import->removed[at], .name = name, .event = QUOIT_NODE_EVENT_REMOVED };

  if (name != NULL && *name != '\0')
    return node;
  node.name = name_of_id (layout, node.id);
  node.event = name == NULL ? QUOIT_NODE_EVENT_UNRECORDED : QUOIT_NODE_EVENT_CHANGED;
  return node;
}

QuoitEffectNode
quoit_effect_node (const QuoitEffect *effect, guint32 at, const QuoitLayout *layout)
{
  const QuoitSourceUpdate *import = effect->import;
  const QuoitNodeClaim *nodes;
  guint32 n;

  g_assert (at < quoit_effect_count_nodes (effect));
  if (effect->type == QUOIT_EFFECT_NODE_STATE)
    return state_change (effect->node_id, effect->state, layout);
  nodes = quoit_claims_nodes (import->claims, &n);
  if (at < n)
    return claimed_node (import, &nodes[at], at);
  at -= n;
  if (at < import->n_states)
    return state_change (import->states[at].id, import->states[at].state, layout);
  return removed_node (import, at - import->n_states, layout);
}
