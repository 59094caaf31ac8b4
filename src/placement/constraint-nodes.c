/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of constraints for a node on which one bundle may be placed. */
#include "placement/constraint.h"

gboolean
quoit_place_has_labels (const QuoitBundlePlace *place)
{
  const GPtrArray *selectors = quoit_request_bundle (place->request, place->bundle)->selectors;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  for (guint s = 0; selectors != NULL && s < selectors->len; s++)
    if (!quoit_selector_matches (selectors->pdata[s],
                                 quoit_layout_node_label (place->fleet->layout, place->node,
                                                          quoit_selector_key (selectors->pdata[s]), buffer)))
      return FALSE;
  return TRUE;
}

gboolean
quoit_place_has_topology_label (const QuoitBundlePlace *place)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  const char *key = place->request->topology_label;
  const char *value = key == NULL ? NULL : quoit_layout_node_label (place->fleet->layout, place->node, key, buffer);

  return key == NULL || (value != NULL && *value != '\0');
}

gboolean
quoit_place_has_total (const QuoitBundlePlace *place)
{
  const QuoitFleetView *ever = place->ever;

  return quoit_fleet_view_row_suffices (ever, place->bundle,
                                        ever->view.total + (gsize) place->ever_index * ever->bundles.n_resources);
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

  return quoit_fleet_view_row_suffices (now, place->bundle,
                                        now->view.available + (gsize) place->now_index * now->bundles.n_resources);
}

/* Whether external use alone leaves too little, even without groups. */
static gboolean
is_short_by_external_use (const QuoitBundlePlace *place)
{
  const QuoitFleetView *ever = place->ever;
  const gint64 *requested = quoit_fleet_view_amounts (ever, place->bundle);
  const gint64 *total = ever->view.total + (gsize) place->ever_index * ever->bundles.n_resources;

  for (guint32 r = 0; r < ever->bundles.n_resources; r++)
    {
      QuoitAmount external;

      if (requested[r] == 0)
        continue;
      external = quoit_fleet_node_external_amount (place->fleet, place->node, ever->bundles.resources[r],
                                                   (QuoitAmount) { total[r] });
      if (total[r] - external.e4 < requested[r])
        return TRUE;
    }
  return FALSE;
}

gboolean
quoit_place_is_not_allocated (const QuoitBundlePlace *place)
{
  return has_available (place) || is_short_by_external_use (place);
}

gboolean
quoit_place_is_not_used (const QuoitBundlePlace *place)
{
  return has_available (place);
}

/* A bundle takes whole chips that are free, and the remainder of its amount from one other chip. */
gboolean
quoit_view_has_chips (const QuoitFleetView *view, guint32 bundle, guint32 node)
{
  const QuoitNodeChips *chips = view->view.chips == NULL ? NULL : &view->view.chips[node];
  gint64 requested, whole, part;

  if (chips == NULL || chips->resource == QUOIT_NO_INDEX || chips->per_chip <= 0)
    return TRUE;
  requested = quoit_fleet_view_amounts (view, bundle)[chips->resource];
  whole = requested / chips->per_chip;
  part = (gint64) ((__int128) (requested % chips->per_chip) * QUOIT_AMOUNT_UNIT / chips->per_chip);
  for (guint32 c = 0; c < chips->n && whole > 0; c++)
    whole -= chips->chip_e4[c] == QUOIT_AMOUNT_UNIT;
  if (whole > 0 || part == 0)
    return whole <= 0;
  /* The part may be on one more free chip, or on a partly used one. */
  whole = requested / chips->per_chip;
  for (guint32 c = 0; c < chips->n; c++)
    if (chips->chip_e4[c] == QUOIT_AMOUNT_UNIT && whole-- > 0)
      continue;
    else if (chips->chip_e4[c] >= part)
      return TRUE;
  return FALSE;
}

gboolean
quoit_place_has_chips (const QuoitBundlePlace *place)
{
  return quoit_view_has_chips (place->now, place->bundle, place->now_index);
}
