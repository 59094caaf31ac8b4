/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the amounts of a view: what bundles request, and what nodes have. */
#include "placement/view.h"

#include <string.h>

#include "fleet/chips.h"
#include "fleet/kind.h"
#include "models/ray/resource-names.h"

/* --- requested amounts --- */

static guint32
resource_index (const QuoitBundles *bundles, const char *name)
{
  guint32 r = 0;

  /* Equal names of one request are equal pointers. */
  while (bundles->resources[r] != name)
    r++;
  return r;
}

void
quoit_fleet_view_fill_requested (QuoitFleetView *view, const guint32 *which, guint32 n)
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
      const QuoitBundleSpec *spec = quoit_request_bundle (view->request, which == NULL ? b : which[b]);

      if (spec->takes == takes)
        {
          memcpy (amounts, amounts - n_resources, n_resources * sizeof *amounts);
          continue;
        }
      takes = spec->takes;
      for (guint t = 0; t < takes->len; t++)
        amounts[resource_index (&view->bundles, g_array_index (takes, QuoitTake, t).resource)]
            = g_array_index (takes, QuoitTake, t).amount.e4;
    }
}

/* --- amounts of nodes --- */

/* A requested resource on nodes whose kind does not list it. It may be implicit in Ray, or derived: a slice name, or
 * the resource of a slice's head. */
typedef struct {
  gboolean is_implicit;
  gboolean is_text; /* the layout contains the name, so it may be derived */
  QuoitStringId text;
} UnlistedResource;

/* The state of quoit_fleet_view_fill_amounts(). */
typedef struct {
  const QuoitFleetView *view;
  const QuoitFleet *fleet;
  guint32 n_resources;
  gint32 **resource_indices; /* of each node kind, computed on first use: the index of each requested resource in
                              * the kind, or -1 */
  UnlistedResource *unlisted;
  QuoitAmount *left; /* buffer for the resources of any kind */
  guint32 tpu;       /* the resource that counts chips; QUOIT_NO_INDEX: not requested */
  gboolean sums_suffice;
} AmountFiller;

static const gint32 *
kind_resource_indices (AmountFiller *filler, guint32 kind)
{
  const QuoitNodeKind *row = quoit_claims_kind_at (filler->view->fleet->layout->kinds, kind);
  gint32 *resource_indices = filler->resource_indices[kind];

  if (resource_indices != NULL)
    return resource_indices;
  resource_indices = filler->resource_indices[kind] = g_new (gint32, filler->n_resources + 1);
  for (guint32 r = 0; r < filler->n_resources; r++)
    {
      resource_indices[r] = -1;
      for (guint16 i = 0; i < row->n_resources && resource_indices[r] < 0; i++)
        if (strcmp (row->resources[i].name, filler->view->bundles.resources[r]) == 0)
          resource_indices[r] = i;
    }
  return resource_indices;
}

/* Returns the index of the resource in quoit_layout_node_derived(), or -1. */
static int
derived_index (const AmountFiller *filler, guint32 node, guint32 resource)
{
  const QuoitLayout *layout = filler->view->fleet->layout;
  const QuoitNode *row = &layout->nodes[node];
  const UnlistedResource *unlisted = &filler->unlisted[resource];

  if (!unlisted->is_text || row->slice == QUOIT_NO_INDEX)
    return -1;
  if (layout->slices[row->slice].name.index == unlisted->text.index)
    return 0;
  return row->worker_id == 0 && layout->kind_class[row->kind].head.index == unlisted->text.index ? 1 : -1;
}

static void
fill_unlisted (const AmountFiller *filler, guint32 node, guint32 resource, gboolean is_idle, gint64 *total,
               gint64 *available)
{
  const QuoitFleet *fleet = filler->fleet;
  int derived = derived_index (filler, node, resource);

  if (derived < 0 && !filler->unlisted[resource].is_implicit)
    return;
  *total = *available = QUOIT_AMOUNT_UNIT;
  if (is_idle)
    return;
  *available = derived >= 0 ? quoit_fleet_node_derived_left (fleet, (QuoitNodeId) { node }, (guint) derived).e4
                            : quoit_fleet_node_implicit_left (fleet, (QuoitNodeId) { node },
                                                              filler->view->bundles.resources[resource])
                                  .e4;
}

static void
fill_chips (AmountFiller *filler, const QuoitNodeKind *kind, const gint32 *resource_indices,
            const QuoitChipsLeft *chips, QuoitNodeChips *node_chips)
{
  gint64 per_chip = quoit_node_kind_tpu_per_chip (kind).e4;

  node_chips->resource = QUOIT_NO_INDEX;
  node_chips->n = 0;
  if (filler->tpu == QUOIT_NO_INDEX || resource_indices[filler->tpu] < 0 || kind->chips == 0 || per_chip <= 0)
    return;
  node_chips->resource = filler->tpu;
  node_chips->per_chip = per_chip;
  node_chips->n = MIN (kind->chips, G_N_ELEMENTS (node_chips->chip_e4));
  for (guint c = 0; c < node_chips->n; c++)
    {
      node_chips->chip_e4[c] = chips == NULL ? QUOIT_AMOUNT_UNIT : chips->chip_e4[c];
      filler->sums_suffice &= node_chips->chip_e4[c] == 0 || node_chips->chip_e4[c] == QUOIT_AMOUNT_UNIT;
    }
}

static void
fill_node (AmountFiller *filler, guint32 node, QuoitViewTime time, gint64 *total, gint64 *available,
           QuoitNodeChips *node_chips)
{
  const QuoitFleet *fleet = filler->fleet;
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { node });
  const gint32 *resource_indices = kind_resource_indices (filler, fleet->layout->nodes[node].kind);
  gboolean is_idle = time == QUOIT_VIEW_EVER || quoit_fleet_node_use (fleet, (QuoitNodeId) { node }) == QUOIT_USE_NONE;
  QuoitChipsLeft chips;

  if (!is_idle)
    quoit_fleet_node_left (fleet, (QuoitNodeId) { node }, filler->left, &chips);
  /* The source reports that the whole node is in external use. */
  if (!is_idle && (fleet->layout->nodes[node].flags & QUOIT_NODE_EXTERNAL) != 0)
    {
      memset (filler->left, 0, kind->n_resources * sizeof *filler->left);
      memset (chips.chip_e4, 0, sizeof chips.chip_e4);
    }
  for (guint32 r = 0; r < filler->n_resources; r++)
    if (resource_indices[r] < 0)
      fill_unlisted (filler, node, r, is_idle, &total[r], &available[r]);
    else
      {
        total[r] = kind->resources[resource_indices[r]].amount.e4;
        available[r] = is_idle ? total[r] : filler->left[resource_indices[r]].e4;
      }
  if (node_chips != NULL)
    fill_chips (filler, kind, resource_indices, is_idle ? NULL : &chips, node_chips);
}

/* Whether all bundles request whole chips on every node. */
static gboolean
requests_whole_chips (const QuoitFleetView *view, guint32 tpu, const QuoitNodeChips *node_chips)
{
  gint64 per_chip = 0;

  for (guint32 i = 0; i < view->view.n_nodes; i++)
    {
      if (node_chips[i].resource == QUOIT_NO_INDEX || node_chips[i].per_chip == per_chip)
        continue;
      per_chip = node_chips[i].per_chip;
      for (guint32 b = 0; b < view->bundles.n_bundles; b++)
        if (view->bundles.amounts[(gsize) b * view->bundles.n_resources + tpu] % per_chip != 0)
          return FALSE;
    }
  return TRUE;
}

static void
find_unlisted (AmountFiller *filler)
{
  const QuoitFleetView *view = filler->view;

  filler->unlisted = g_new0 (UnlistedResource, filler->n_resources + 1);
  filler->tpu = QUOIT_NO_INDEX;
  for (guint32 r = 0; r < filler->n_resources; r++)
    {
      const char *name = view->bundles.resources[r];
      UnlistedResource *unlisted = &filler->unlisted[r];

      unlisted->is_implicit = quoit_resource_is_implicit (name);
      unlisted->is_text = quoit_strings_find (view->fleet->layout->strings, name, &unlisted->text);
      if (strcmp (name, "TPU") == 0)
        filler->tpu = r;
    }
}

static guint
max_resources (const QuoitLayout *layout)
{
  guint max = 0;

  for (guint32 k = 0; k < layout->n_kinds; k++)
    max = MAX (max, quoit_claims_kind_at (layout->kinds, k)->n_resources);
  return max;
}

static void
filler_init (AmountFiller *filler, const QuoitFleetView *view)
{
  const QuoitLayout *layout = view->fleet->layout;

  *filler = (AmountFiller) {
    .view = view, .fleet = view->fleet, .n_resources = view->bundles.n_resources, .sums_suffice = TRUE
  };
  filler->resource_indices = g_new0 (gint32 *, layout->n_kinds + 1);
  filler->left = g_new (QuoitAmount, max_resources (layout) + 1);
  find_unlisted (filler);
}

static void
filler_clear (AmountFiller *filler)
{
  for (guint32 k = 0; k < filler->view->fleet->layout->n_kinds; k++)
    g_free (filler->resource_indices[k]);
  g_free (filler->resource_indices);
  g_free (filler->left);
  g_free (filler->unlisted);
}

void
quoit_fleet_view_fill_amounts (QuoitFleetView *view, QuoitViewTime time)
{
  guint32 n_nodes = view->view.n_nodes, n_resources = view->bundles.n_resources;
  gint64 *total = g_new0 (gint64, (gsize) n_nodes * n_resources + 1);
  gint64 *available = g_new0 (gint64, (gsize) n_nodes * n_resources + 1);
  QuoitNodeChips *node_chips = NULL;
  AmountFiller filler;

  filler_init (&filler, view);
  /* Pages that g_new0() zeroes cost nothing until they are written. */
  if (view->request->policy != QUOIT_POLICY_RAY && filler.tpu != QUOIT_NO_INDEX)
    node_chips = g_new0 (QuoitNodeChips, n_nodes + 1);
  for (guint32 i = 0; i < n_nodes; i++)
    fill_node (&filler, view->nodes[i], time, &total[(gsize) i * n_resources], &available[(gsize) i * n_resources],
               node_chips == NULL ? NULL : &node_chips[i]);
  if (node_chips != NULL && filler.sums_suffice && requests_whole_chips (view, filler.tpu, node_chips))
    g_clear_pointer (&node_chips, g_free);
  view->view.total = total;
  view->view.available = available;
  view->view.chips = node_chips;
  filler_clear (&filler);
}

/* --- amounts of nodes on another fleet --- */

struct _QuoitAmountReader {
  AmountFiller filler;
  gint64 *total; /* buffer */
};

QuoitAmountReader *
quoit_amount_reader_new (const QuoitFleetView *view)
{
  QuoitAmountReader *reader = g_new (QuoitAmountReader, 1);

  filler_init (&reader->filler, view);
  reader->total = g_new (gint64, view->bundles.n_resources + 1);
  return reader;
}

void
quoit_amount_reader_free (QuoitAmountReader *reader)
{
  filler_clear (&reader->filler);
  g_free (reader->total);
  g_free (reader);
}

void
quoit_amount_reader_read (QuoitAmountReader *reader, const QuoitFleet *fleet, guint32 node, gint64 *available)
{
  reader->filler.fleet = fleet;
  memset (available, 0, reader->filler.n_resources * sizeof *available);
  fill_node (&reader->filler, reader->filler.view->nodes[node], QUOIT_VIEW_NOW, reader->total, available, NULL);
}

/* --- amounts of bundles --- */

gboolean
quoit_fleet_view_row_suffices (const QuoitFleetView *view, guint32 bundle, const gint64 *row)
{
  const gint64 *requested = &view->bundles.amounts[(gsize) bundle * view->bundles.n_resources];

  for (guint32 r = 0; r < view->bundles.n_resources; r++)
    if (requested[r] != 0 && row[r] < requested[r])
      return FALSE;
  return TRUE;
}

gboolean
quoit_fleet_view_bundle_fits (const QuoitFleetView *view, guint32 bundle, guint32 node)
{
  return quoit_view_passes (&view->view, &view->bundles, bundle, node)
         && quoit_fleet_view_row_suffices (view, bundle,
                                           &view->view.available[(gsize) node * view->bundles.n_resources]);
}

gboolean
quoit_fleet_view_are_equal (const QuoitFleetView *view, guint32 a, guint32 b)
{
  return memcmp (quoit_fleet_view_amounts (view, a), quoit_fleet_view_amounts (view, b),
                 view->bundles.n_resources * sizeof (gint64))
             == 0
         && (view->bundles.filter == NULL || view->bundles.filter[a] == view->bundles.filter[b]);
}

gboolean
quoit_fleet_view_is_repeated (const QuoitFleetView *view, guint32 bundle)
{
  return bundle > 0 && quoit_fleet_view_are_equal (view, bundle, bundle - 1);
}
