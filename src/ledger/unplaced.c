/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a request for the bundles of a group that have no node. Its report explains why they are not placed. */
#include "ledger/ledger.h"

#include <string.h>

#include "base/label-names.h"

/* Returns the node of the bundle if the bundle stays there, or QUOIT_NO_INDEX. Repair moves the bundles of this
 * ledger's groups away from draining nodes as well as from dead ones; Ray leaves its bundles on draining nodes. */
static guint32
find_staying_node (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 bundle)
{
  guint32 id = group->node_ids[bundle];
  guint32 index = quoit_layout_find_id (fleet->layout, id);
  QuoitNodeState state;

  if (index == QUOIT_NO_INDEX)
    return index;
  state = quoit_fleet_node_state (fleet, (QuoitNodeId) { index });
  return state == QUOIT_NODE_DEAD || (state == QUOIT_NODE_DRAINING && *group->source == '\0') ? QUOIT_NO_INDEX : index;
}

/* --- groups of a source: amounts, and the strategy if the request text begins with one --- */

static QuoitStrategy
read_strategy (const QuoitGroupData *group)
{
  g_autofree char *word = g_strndup (group->request, strcspn (group->request, " "));
  QuoitStrategy strategy = QUOIT_STRATEGY_PACK;

  return quoit_strategy_find (word, &strategy) ? strategy : QUOIT_STRATEGY_PACK;
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

static QuoitRequest *
make_source_request (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();

  request->strategy = read_strategy (group);
  request->has_strategy = TRUE;
  for (guint32 i = 0; i < group->n_nodes && group->bundles != NULL; i++)
    if (find_staying_node (fleet, group, i) == QUOIT_NO_INDEX && !add_bundle (request, &group->bundles[i], error))
      return NULL;
  return g_steal_pointer (&request);
}

/* --- groups of this ledger: the original request, restricted to the lost bundles --- */

static void
add_selector (QuoitRequest *request, guint32 bundle, const char *key, const char *value)
{
  QuoitBundleSpec *spec = &g_array_index (request->bundles, QuoitBundleSpec, bundle);

  if (spec->selectors == NULL)
    spec->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
  g_ptr_array_add (spec->selectors, quoit_selector_parse_unchecked (key, value));
}

/* Adds selectors to a lost bundle, so that it fits the bundles that stay: STRICT_SPREAD excludes their nodes, and
 * the topology label must have the same value as on their nodes. */
static void
restrict_bundle (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRequest *request, guint32 bundle)
{
  guint32 n_values = MAX (request->n_topology_values, 1), n = group->n_nodes / n_values, part = bundle / n;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 node = find_staying_node (fleet, group, i);
      g_autofree char *not = NULL;
      char buffer[QUOIT_LABEL_BUFFER_SIZE];
      const char *value;

      if (node == QUOIT_NO_INDEX)
        continue;
      not = g_strconcat ("!", quoit_layout_node_name (fleet->layout, (QuoitNodeId) { node }), NULL);
      if (request->strategy == QUOIT_STRATEGY_STRICT_SPREAD)
        add_selector (request, bundle, QUOIT_K8S_LABEL_HOST_NAME, not );
      if (request->topology_label == NULL || i / n != part)
        continue;
      value = quoit_layout_node_label (fleet->layout, (QuoitNodeId) { node }, request->topology_label, buffer);
      if (value != NULL)
        add_selector (request, bundle, request->topology_label, value);
    }
}

static QuoitRequest *
make_own_request (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);

  if (request == NULL || request->bundles->len != group->n_nodes)
    return g_steal_pointer (&request);
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (find_staying_node (fleet, group, i) == QUOIT_NO_INDEX)
      restrict_bundle (fleet, group, request, i);
  for (guint32 i = group->n_nodes; i-- > 0;)
    if (find_staying_node (fleet, group, i) != QUOIT_NO_INDEX)
      g_array_remove_index (request->bundles, i);
  /* If bundles stay, the lost ones have the topology value as a selector. How many values the lost bundles of the other
   * parts need is not checked. */
  request->n_topology_values = MIN (request->n_topology_values, 1);
  return g_steal_pointer (&request);
}

QuoitRequest *
quoit_step_make_unplaced_request (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  gboolean is_own = *group->source == '\0' && group->kind == QUOIT_RECORD_BUNDLES;
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitRequest) request
      = is_own ? make_own_request (fleet, group, &failure) : make_source_request (fleet, group, &failure);

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (!quoit_request_is_by_host (request))
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group '%s@%" G_GUINT64_FORMAT "' has placed all of its bundles: there is nothing to "
                            "explain",
                            group->name, group->id);
  g_free (request->name);
  request->name = g_strdup (group->name);
  return g_steal_pointer (&request);
}
