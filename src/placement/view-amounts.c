/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the amounts of a view: what bundles request, and what nodes have. */
#include "placement/view.h"

#include <string.h>

#include "fleet/chips.h"
#include "fleet/kind.h"
#include "fleet/resource-names.h"

/* --- requested amounts --- */

static guint32
resource_of (const QuoitBundles *bundles, const char *name)
{
  guint32 r = 0;

  /* Names of one request are interned. */
  while (bundles->resources[r] != name)
    r++;
  return r;
}

void
quoit_fleet_view_ask (QuoitFleetView *view, const guint32 *which, guint32 n)
{
  const GPtrArray *names = view->request->resources;
  guint32 n_resources = names->len;
  gint64 *amounts = g_new0 (gint64, (gsize) n * n_resources + 1);
  const GArray *takes = NULL;

  view->bundles.n_bundles = n;
  view->bundles.n_resources = n_resources;
  view->bundles.resources = g_memdup2 (names->pdata, n_resources * sizeof (char *));
  view->bundles.amounts = amounts;
  for (guint32 b = 0; b < n; b++, amounts += n_resources)
    {
      const QuoitBundleWish *wish = quoit_request_bundle (view->request, which == NULL ? b : which[b]);

      if (wish->takes == takes)
        {
          memcpy (amounts, amounts - n_resources, n_resources * sizeof *amounts);
          continue;
        }
      takes = wish->takes;
      for (guint t = 0; t < takes->len; t++)
        amounts[resource_of (&view->bundles, g_array_index (takes, QuoitTake, t).resource)]
            = g_array_index (takes, QuoitTake, t).amount.e4;
    }
}

/* --- amounts of nodes --- */

/* How to find a resource that the node kind does not list. */
typedef struct {
  gboolean is_implicit;
  gboolean is_text; /* the layout has this text, so a slice or a head may have the name */
  QuoitStringId text;
} Elsewhere;

typedef struct {
  QuoitFleetView *view;
  guint32 n_resources;
  gint32 **places; /* of each kind, on first use: index of each resource in the kind, or -1 */
  Elsewhere *elsewhere;
  QuoitAmount *left; /* buffer for the resources of any kind */
  guint32 tpu;       /* the resource that counts chips; QUOIT_NO_INDEX: not requested */
  gboolean sums_will_do;
} Measuring;

static const gint32 *
places_of (Measuring *measuring, guint32 kind)
{
  const QuoitNodeKind *row = quoit_claims_kind_at (measuring->view->fleet->layout->kinds, kind);
  gint32 *places = measuring->places[kind];

  if (places != NULL)
    return places;
  places = measuring->places[kind] = g_new (gint32, measuring->n_resources + 1);
  for (guint32 r = 0; r < measuring->n_resources; r++)
    {
      places[r] = -1;
      for (guint16 i = 0; i < row->n_resources && places[r] < 0; i++)
        if (strcmp (row->resources[i].name, measuring->view->bundles.resources[r]) == 0)
          places[r] = i;
    }
  return places;
}

/* Returns the index of the resource in quoit_layout_node_derived(), or -1. */
static int
derived_of (const Measuring *measuring, guint32 node, guint32 resource)
{
  const QuoitLayout *layout = measuring->view->fleet->layout;
  const QuoitNode *row = &layout->nodes[node];
  const Elsewhere *elsewhere = &measuring->elsewhere[resource];

  if (!elsewhere->is_text || row->slice == QUOIT_NO_INDEX)
    return -1;
  if (layout->slices[row->slice].name.index == elsewhere->text.index)
    return 0;
  return row->worker_id == 0 && layout->kind_class[row->kind].head.index == elsewhere->text.index ? 1 : -1;
}

static void
measure_elsewhere (const Measuring *measuring, guint32 node, guint32 resource, gboolean is_idle, gint64 *total,
                   gint64 *available)
{
  const QuoitFleet *fleet = measuring->view->fleet;
  int derived = derived_of (measuring, node, resource);

  if (derived < 0 && !measuring->elsewhere[resource].is_implicit)
    return;
  *total = *available = QUOIT_AMOUNT_UNIT;
  if (is_idle)
    return;
  *available = derived >= 0 ? quoit_fleet_node_derived_left (fleet, (QuoitNodeId) { node }, (guint) derived).e4
                            : quoit_fleet_node_implicit_left (fleet, (QuoitNodeId) { node },
                                                              measuring->view->bundles.resources[resource])
                                  .e4;
}

static void
measure_units (Measuring *measuring, const QuoitNodeKind *kind, const gint32 *places, const QuoitChipsLeft *chips,
               QuoitUnits *units)
{
  gint64 per_chip = quoit_node_kind_tpu_per_chip (kind).e4;

  units->resource = QUOIT_NO_INDEX;
  units->n = 0;
  if (measuring->tpu == QUOIT_NO_INDEX || places[measuring->tpu] < 0 || kind->chips == 0 || per_chip <= 0)
    return;
  units->resource = measuring->tpu;
  units->per_chip = per_chip;
  units->n = MIN (kind->chips, G_N_ELEMENTS (units->chip_e4));
  for (guint c = 0; c < units->n; c++)
    {
      units->chip_e4[c] = chips == NULL ? QUOIT_AMOUNT_UNIT : chips->chip_e4[c];
      measuring->sums_will_do &= units->chip_e4[c] == 0 || units->chip_e4[c] == QUOIT_AMOUNT_UNIT;
    }
}

static void
measure_node (Measuring *measuring, guint32 node, QuoitViewTime time, gint64 *total, gint64 *available,
              QuoitUnits *units)
{
  const QuoitFleet *fleet = measuring->view->fleet;
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { node });
  const gint32 *places = places_of (measuring, fleet->layout->nodes[node].kind);
  gboolean is_idle = time == QUOIT_VIEW_EVER || quoit_fleet_node_use (fleet, (QuoitNodeId) { node }) == QUOIT_USE_NONE;
  QuoitChipsLeft chips;

  if (!is_idle)
    quoit_fleet_node_left (fleet, (QuoitNodeId) { node }, measuring->left, &chips);
  /* The source reports the whole node as used, in addition to the shares of groups. */
  if (!is_idle && (fleet->layout->nodes[node].flags & QUOIT_NODE_EXTERNAL) != 0)
    {
      memset (measuring->left, 0, kind->n_resources * sizeof *measuring->left);
      memset (chips.chip_e4, 0, sizeof chips.chip_e4);
    }
  for (guint32 r = 0; r < measuring->n_resources; r++)
    if (places[r] < 0)
      measure_elsewhere (measuring, node, r, is_idle, &total[r], &available[r]);
    else
      {
        total[r] = kind->resources[places[r]].amount.e4;
        available[r] = is_idle ? total[r] : measuring->left[places[r]].e4;
      }
  if (units != NULL)
    measure_units (measuring, kind, places, is_idle ? NULL : &chips, units);
}

/* Whether all bundles request whole chips on every node. */
static gboolean
asks_for_whole_chips (const QuoitFleetView *view, guint32 tpu, const QuoitUnits *units)
{
  gint64 per_chip = 0;

  for (guint32 i = 0; i < view->view.n_nodes; i++)
    {
      if (units[i].resource == QUOIT_NO_INDEX || units[i].per_chip == per_chip)
        continue;
      per_chip = units[i].per_chip;
      for (guint32 b = 0; b < view->bundles.n_bundles; b++)
        if (view->bundles.amounts[(gsize) b * view->bundles.n_resources + tpu] % per_chip != 0)
          return FALSE;
    }
  return TRUE;
}

static void
look_elsewhere (Measuring *measuring)
{
  const QuoitFleetView *view = measuring->view;

  measuring->elsewhere = g_new0 (Elsewhere, measuring->n_resources + 1);
  measuring->tpu = QUOIT_NO_INDEX;
  for (guint32 r = 0; r < measuring->n_resources; r++)
    {
      const char *name = view->bundles.resources[r];
      Elsewhere *elsewhere = &measuring->elsewhere[r];

      elsewhere->is_implicit = quoit_resource_is_implicit (name);
      elsewhere->is_text = quoit_strings_find (view->fleet->layout->strings, name, &elsewhere->text);
      if (strcmp (name, "TPU") == 0)
        measuring->tpu = r;
    }
}

static guint
most_resources (const QuoitLayout *layout)
{
  guint most = 0;

  for (guint32 k = 0; k < layout->n_kinds; k++)
    most = MAX (most, quoit_claims_kind_at (layout->kinds, k)->n_resources);
  return most;
}

void
quoit_fleet_view_measure (QuoitFleetView *view, QuoitViewTime time)
{
  const QuoitLayout *layout = view->fleet->layout;
  guint32 n_nodes = view->view.n_nodes, n_resources = view->bundles.n_resources;
  gint64 *total = g_new0 (gint64, (gsize) n_nodes * n_resources + 1);
  gint64 *available = g_new0 (gint64, (gsize) n_nodes * n_resources + 1);
  Measuring measuring = { .view = view, .n_resources = n_resources, .sums_will_do = TRUE };
  QuoitUnits *units = NULL;

  measuring.places = g_new0 (gint32 *, layout->n_kinds + 1);
  measuring.left = g_new (QuoitAmount, most_resources (layout) + 1);
  look_elsewhere (&measuring);
  /* Zeroed pages cost nothing until they are written. */
  if (view->request->policy != QUOIT_POLICY_RAY && measuring.tpu != QUOIT_NO_INDEX)
    units = g_new0 (QuoitUnits, n_nodes + 1);
  for (guint32 i = 0; i < n_nodes; i++)
    measure_node (&measuring, view->nodes[i], time, &total[(gsize) i * n_resources],
                  &available[(gsize) i * n_resources], units == NULL ? NULL : &units[i]);
  if (units != NULL && measuring.sums_will_do && asks_for_whole_chips (view, measuring.tpu, units))
    g_clear_pointer (&units, g_free);
  view->view.total = total;
  view->view.available = available;
  view->view.units = units;
  for (guint32 k = 0; k < layout->n_kinds; k++)
    g_free (measuring.places[k]);
  g_free (measuring.places);
  g_free (measuring.left);
  g_free (measuring.elsewhere);
}

gboolean
quoit_fleet_view_suffices (const QuoitFleetView *view, guint32 bundle, const gint64 *row)
{
  const gint64 *asked = &view->bundles.amounts[(gsize) bundle * view->bundles.n_resources];

  for (guint32 r = 0; r < view->bundles.n_resources; r++)
    if (asked[r] != 0 && row[r] < asked[r])
      return FALSE;
  return TRUE;
}

gboolean
quoit_fleet_view_has_room (const QuoitFleetView *view, guint32 bundle, guint32 node)
{
  return quoit_view_passes (&view->view, &view->bundles, bundle, node)
         && quoit_fleet_view_suffices (view, bundle, &view->view.available[(gsize) node * view->bundles.n_resources]);
}

gboolean
quoit_fleet_view_is_repeated (const QuoitFleetView *view, guint32 bundle)
{
  gsize n = view->bundles.n_resources;
  const gint64 *asked = &view->bundles.amounts[bundle * n];

  return bundle > 0 && memcmp (asked, asked - n, n * sizeof *asked) == 0
         && (view->bundles.filter == NULL || view->bundles.filter[bundle] == view->bundles.filter[bundle - 1]);
}
