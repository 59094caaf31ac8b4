/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a node satisfies constraints as the place of one bundle. */
#include "placement/constraint.h"

gboolean
quoit_place_has_labels (const QuoitBundlePlace *place)
{
  const GPtrArray *selectors = quoit_request_bundle (place->request, place->bundle)->selectors;
  char room[QUOIT_LABEL_ROOM];

  for (guint s = 0; selectors != NULL && s < selectors->len; s++)
    if (!quoit_selector_holds (selectors->pdata[s],
                               quoit_layout_node_label (place->fleet->layout, place->node,
                                                        quoit_selector_key (selectors->pdata[s]), room)))
      return FALSE;
  return TRUE;
}

gboolean
quoit_place_has_topology_label (const QuoitBundlePlace *place)
{
  char room[QUOIT_LABEL_ROOM];
  const char *key = place->request->topology_label;
  const char *value = key == NULL ? NULL : quoit_layout_node_label (place->fleet->layout, place->node, key, room);

  return key == NULL || (value != NULL && *value != '\0');
}

gboolean
quoit_place_has_total (const QuoitBundlePlace *place)
{
  const QuoitFleetView *ever = place->ever;

  return quoit_fleet_view_suffices (ever, place->bundle,
                                    ever->view.total + (gsize) place->in_ever * ever->bundles.n_resources);
}

gboolean
quoit_place_is_known_alive (const QuoitBundlePlace *place)
{
  return quoit_fleet_node_state (place->fleet, place->node) != QUOIT_NODE_DEAD;
}

gboolean
quoit_place_is_not_draining (const QuoitBundlePlace *place)
{
  return quoit_fleet_node_state (place->fleet, place->node) != QUOIT_NODE_DRAINING;
}

static gboolean
has_available (const QuoitBundlePlace *place)
{
  const QuoitFleetView *now = place->now;

  return quoit_fleet_view_suffices (now, place->bundle,
                                    now->view.available + (gsize) place->in_now * now->bundles.n_resources);
}

/* Whether external use alone leaves too little, even without groups. */
static gboolean
is_short_by_external_use (const QuoitBundlePlace *place)
{
  const QuoitFleetView *ever = place->ever;
  const gint64 *wanted = quoit_fleet_view_amounts (ever, place->bundle);
  const gint64 *total = ever->view.total + (gsize) place->in_ever * ever->bundles.n_resources;

  for (guint32 r = 0; r < ever->bundles.n_resources; r++)
    {
      QuoitAmount external;

      if (wanted[r] == 0)
        continue;
      external = quoit_fleet_node_external_of (place->fleet, place->node, ever->bundles.resources[r],
                                               (QuoitAmount) { total[r] });
      if (total[r] - external.e4 < wanted[r])
        return TRUE;
    }
  return FALSE;
}

gboolean
quoit_place_is_not_held (const QuoitBundlePlace *place)
{
  return has_available (place) || is_short_by_external_use (place);
}

gboolean
quoit_place_is_not_used (const QuoitBundlePlace *place)
{
  return has_available (place);
}

/* A bundle takes whole chips, and the remainder of its amount from one other chip. */
gboolean
quoit_view_has_chips (const QuoitFleetView *view, guint32 bundle, guint32 node)
{
  const QuoitUnits *units = view->view.units == NULL ? NULL : &view->view.units[node];
  gint64 wanted, whole, part;

  if (units == NULL || units->resource == QUOIT_NO_INDEX || units->per_chip <= 0)
    return TRUE;
  wanted = quoit_fleet_view_amounts (view, bundle)[units->resource];
  whole = wanted / units->per_chip;
  part = (gint64) ((__int128) (wanted % units->per_chip) * QUOIT_AMOUNT_UNIT / units->per_chip);
  for (guint32 c = 0; c < units->n && whole > 0; c++)
    whole -= units->chip_e4[c] == QUOIT_AMOUNT_UNIT;
  if (whole > 0 || part == 0)
    return whole <= 0;
  /* Whole chips are taken from free chips. One more free chip may hold the part. */
  whole = wanted / units->per_chip;
  for (guint32 c = 0; c < units->n; c++)
    if (units->chip_e4[c] == QUOIT_AMOUNT_UNIT && whole-- > 0)
      continue;
    else if (units->chip_e4[c] >= part)
      return TRUE;
  return FALSE;
}

gboolean
quoit_place_has_chips (const QuoitBundlePlace *place)
{
  return quoit_view_has_chips (place->now, place->bundle, place->in_now);
}
