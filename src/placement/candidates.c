/* SPDX-License-Identifier: Apache-2.0 */
/* What the request fixes: class, pool, zone, labels, names. Independent of who holds what. */
#include "placement/placement.h"

#include <string.h>

/* Ray's label, then what GKE calls it: a node list may have either. */
static const char *const zone_keys[] = { "ray.io/availability-zone", "topology.kubernetes.io/zone" };

static guint32
find_class (const QuoitLayout *layout, const QuoitRequest *request)
{
  guint32 chips_per_host = quoit_request_chips_per_host (request);

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;

      if (facts->generation == request->generation && facts->chips_per_host == chips_per_host
          && quoit_shape_equal (facts->shape, request->shape))
        return c;
    }
  return QUOIT_NO_INDEX;
}

/* "pool", or "source/pool" where other sources have one of that name. */
static gboolean
is_pool (const QuoitLayout *layout, const QuoitPool *pool, const char *name)
{
  const char *own = quoit_layout_text (layout, pool->name);
  const char *source = quoit_layout_text (layout, layout->sources[pool->source].name);
  gsize length = strlen (source);

  return strcmp (own, name) == 0
         || (strncmp (name, source, length) == 0 && name[length] == '/' && strcmp (name + length + 1, own) == 0);
}

static gboolean
pool_exists (const QuoitLayout *layout, const char *name, GError **error)
{
  g_autofree char *quoted = NULL;

  for (guint32 p = 0; p < layout->n_pools; p++)
    if (is_pool (layout, &layout->pools[p], name))
      return TRUE;
  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no pool %s in the fleet", quoted);
}

static gboolean
in_zone (const QuoitLayout *layout, QuoitNodeId node, const char *zone)
{
  char room[32];

  for (gsize i = 0; i < G_N_ELEMENTS (zone_keys); i++)
    if (g_strcmp0 (quoit_layout_node_label (layout, node, zone_keys[i], room), zone) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
selected (const QuoitLayout *layout, QuoitNodeId node, const QuoitRequest *request)
{
  char room[32];

  for (guint i = 0; i < request->selectors->len; i++)
    {
      const QuoitSelector *selector = request->selectors->pdata[i];

      if (!quoit_selector_holds (selector, quoit_layout_node_label (layout, node, quoit_selector_key (selector), room)))
        return FALSE;
    }
  return TRUE;
}

typedef gboolean (*NodeTest) (const QuoitLayout *layout, QuoitNodeId node, const QuoitRequest *request);

static gboolean
node_in_zone (const QuoitLayout *layout, QuoitNodeId node, const QuoitRequest *request)
{
  return in_zone (layout, node, request->zone);
}

/* A slice is in a zone, and has a label, when all of its alive nodes do; dead ones decide only where there are no
 * others. */
static gboolean
all_nodes (const QuoitFleet *fleet, guint32 slice, NodeTest test, const QuoitRequest *request)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];
  gboolean any_alive = FALSE;

  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    any_alive |= quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    if ((!any_alive || quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
        && !test (fleet->layout, (QuoitNodeId) { i }, request))
      return FALSE;
  return TRUE;
}

static gboolean
mark_named (const QuoitLayout *layout, const GPtrArray *names, guint8 *marks, GError **error)
{
  for (guint i = 0; i < names->len; i++)
    {
      QuoitSliceId slice;

      if (!quoit_layout_lookup_slice (layout, names->pdata[i], &slice, error))
        return FALSE;
      marks[slice.index] = 1;
    }
  return TRUE;
}

/* How many constraints the slice passes, from ACCELERATOR on. */
static guint
passes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 slice, const guint8 *named,
        const guint8 *excluded)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitShelf *shelf = &layout->shelves[layout->slices[slice].shelf];
  const QuoitSliceFacts *facts;

  if (shelf->class_index == QUOIT_NO_INDEX)
    return 0;
  facts = &layout->classes[shelf->class_index].facts;
  if (facts->generation != request->generation)
    return 0;
  if (!quoit_shape_equal (facts->shape, request->shape))
    return 1;
  if (facts->chips_per_host != quoit_request_chips_per_host (request))
    return 2;
  if (request->pool != NULL && !is_pool (layout, &layout->pools[shelf->pool], request->pool))
    return 3;
  if (request->zone != NULL && !all_nodes (fleet, slice, node_in_zone, request))
    return 4;
  if (request->selectors->len > 0 && !all_nodes (fleet, slice, selected, request))
    return 5;
  if (request->slices->len > 0 && !named[slice])
    return 6;
  return excluded[slice] ? 7 : 8;
}

gboolean
quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint8 *named = NULL, *excluded = NULL;

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "the request asks for %u bundles: expected whole slices, the only ones that this answers for",
                       request->bundles->len);
  *candidates = (QuoitCandidates) { .class_index = find_class (layout, request) };
  /* What a class of the fleet is asked for agrees with the catalogue already: looking it up there would cost more than
   * placing it. */
  if ((candidates->class_index == QUOIT_NO_INDEX || request->n_slices == 0) && !quoit_request_validate (request, error))
    return FALSE;
  if (request->pool == NULL && request->zone == NULL && request->selectors->len == 0 && request->slices->len == 0
      && request->excluded->len == 0)
    {
      candidates->unconstrained = TRUE;
      return TRUE;
    }
  named = g_new0 (guint8, layout->n_slices + 1);
  excluded = g_new0 (guint8, layout->n_slices + 1);
  if ((request->pool != NULL && !pool_exists (layout, request->pool, error))
      || !mark_named (layout, request->slices, named, error)
      || !mark_named (layout, request->excluded, excluded, error))
    return FALSE;

  candidates->eligible = g_new0 (guint8, layout->n_slices + 1);
  for (guint32 s = 0; s < layout->n_slices; s++)
    {
      guint passed = passes (fleet, request, s, named, excluded);

      for (guint i = 0; i <= passed; i++)
        candidates->left[i]++;
      candidates->eligible[s] = passed >= QUOIT_CONSTRAINT_EXCLUDED_SLICE;
    }
  return TRUE;
}

void
quoit_candidates_clear (QuoitCandidates *candidates)
{
  g_clear_pointer (&candidates->eligible, g_free);
}
