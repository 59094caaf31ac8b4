/* SPDX-License-Identifier: Apache-2.0 */
/* What a group still wants, as a request: to say why it does not get it. */
#include "ledger/ledger.h"

#include <string.h>

static gboolean
is_placed (const QuoitFleet *fleet, guint32 id)
{
  guint32 index = id == 0 || id >= fleet->layout->n_ids ? QUOIT_NO_INDEX : fleet->layout->by_id[id];

  return index != QUOIT_NO_INDEX && quoit_fleet_node_state (fleet, (QuoitNodeId) { index }) != QUOIT_NODE_DEAD;
}

/* The strategy is the first word of what a source says of its group, where it says it. */
static QuoitStrategy
strategy_of (const QuoitGroupData *group)
{
  g_autofree char *word = g_strndup (group->request, strcspn (group->request, " "));
  QuoitStrategy strategy = QUOIT_STRATEGY_PACK;

  return quoit_strategy_parse (word, &strategy) ? strategy : QUOIT_STRATEGY_PACK;
}

static gboolean
add_bundle (QuoitRequest *request, const QuoitBundle *bundle, GError **error)
{
  g_autoptr (GArray) takes = g_array_new (FALSE, FALSE, sizeof (QuoitTake));

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      QuoitTake take = bundle->takes[t];

      take.resource = g_string_chunk_insert_const (request->texts, take.resource);
      g_array_append_val (takes, take);
    }
  return quoit_request_add_takes (request, takes, 1, error);
}

QuoitRequest *
quoit_ledger_request_of_unplaced (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();

  request->name = g_strdup (group->name);
  request->strategy = strategy_of (group);
  request->has_strategy = TRUE;
  for (guint32 i = 0; i < group->n_nodes && group->bundles != NULL; i++)
    if (!is_placed (fleet, group->node_ids[i]) && !add_bundle (request, &group->bundles[i], error))
      return NULL;
  if (request->bundles->len == 0)
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group '%s@%" G_GUINT64_FORMAT "' has no bundle that is not placed: nothing is to be "
                            "explained",
                            group->name, group->id);
  return g_steal_pointer (&request);
}
