/* SPDX-License-Identifier: Apache-2.0 */
/* Converts labels to numbers: one bit per node for each set of selectors, and the topology domain of each node. */
#include "placement/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/label-names.h"
#include "base/name-hash.h"
#include "base/natural.h"
#include "fleet/kind.h"

static const QuoitBundleSpec *
spec_at (const QuoitFleetView *view, const guint32 *which, guint32 bundle)
{
  return quoit_request_bundle (view->request, which == NULL ? bundle : which[bundle]);
}

/* --- slices that selectors name --- */

static void
add_slices_named (const QuoitLayout *layout, const QuoitSelector *selector, GArray *slices)
{
  for (const char *const *value = quoit_selector_values (selector); *value != NULL; value++)
    {
      guint32 at = QUOIT_NO_INDEX;
      QuoitSliceId slice;

      while (quoit_layout_next_slice_named (layout, *value, &at, &slice))
        g_array_append_val (slices, slice.index);
    }
}

/* Returns the first selector that requires a slice name, or NULL. Only nodes of the slices that it names satisfy it. */
static const QuoitSelector *
find_slice_selector (const QuoitBundleSpec *spec)
{
  for (guint i = 0; spec->selectors != NULL && i < spec->selectors->len; i++)
    if (!quoit_selector_is_negated (spec->selectors->pdata[i])
        && strcmp (quoit_selector_key (spec->selectors->pdata[i]), QUOIT_RAY_LABEL_SLICE_NAME) == 0)
      return spec->selectors->pdata[i];
  return NULL;
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static void
sort_unique (GArray *numbers)
{
  guint n = 0;

  g_array_sort (numbers, by_number);
  for (guint i = 0; i < numbers->len; i++)
    if (n == 0 || g_array_index (numbers, guint32, i) != g_array_index (numbers, guint32, n - 1))
      g_array_index (numbers, guint32, n++) = g_array_index (numbers, guint32, i);
  g_array_set_size (numbers, n);
}

GArray *
quoit_fleet_view_find_slices (const QuoitFleetView *view, const guint32 *which)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  const QuoitBundleSpec *before = NULL;

  for (guint32 b = 0; b < view->bundles.n_bundles; b++)
    {
      const QuoitBundleSpec *spec = spec_at (view, which, b);
      const QuoitSelector *selector = find_slice_selector (spec);

      if (selector == NULL)
        return NULL;
      if (before == NULL || spec->selectors != before->selectors)
        add_slices_named (view->fleet->layout, selector, slices);
      before = spec;
      /* Limits the memory for a long list of equal bundles. */
      if (slices->len > 2 * view->fleet->layout->n_slices + 64)
        sort_unique (slices);
    }
  sort_unique (slices);
  return g_steal_pointer (&slices);
}

/* --- filters --- */

/* Returns the index in the view of the first node that is not before @index of the layout. */
static guint32
lower_bound (const QuoitFleetView *view, guint32 index)
{
  guint32 low = 0, high = view->view.n_nodes;

  while (low < high)
    {
      guint32 middle = (low + high) / 2;

      if (view->nodes[middle] < index)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
mark_range (const QuoitFleetView *view, guint32 first, guint32 end, guint64 *bits)
{
  guint32 stop = lower_bound (view, end);

  for (guint32 i = lower_bound (view, first); i < stop; i++)
    bits[i / 64] |= (guint64) 1 << (i % 64);
}

/* The keep_...() functions clear the bits of nodes that do not satisfy the selector. */

static void
keep_slice_nodes (const QuoitFleetView *view, const QuoitSelector *selector, guint64 *bits)
{
  const QuoitLayout *layout = view->fleet->layout;
  guint32 n_words = quoit_view_words (&view->view);
  g_autofree guint64 *named = g_new0 (guint64, n_words + 1);
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 flip = quoit_selector_is_negated (selector) ? G_MAXUINT64 : 0;

  add_slices_named (layout, selector, slices);
  for (guint i = 0; i < slices->len; i++)
    {
      const QuoitSlice *slice = &layout->slices[g_array_index (slices, guint32, i)];

      mark_range (view, slice->first_node, slice->first_node + slice->n_nodes, named);
    }
  for (guint32 w = 0; w < n_words; w++)
    bits[w] &= named[w] ^ flip;
}

typedef gboolean (*SelectorTest) (const QuoitFleetView *view, const QuoitSelector *selector, const guint8 *kinds,
                                  guint32 node);

static gboolean
node_satisfies (const QuoitFleetView *view, const QuoitSelector *selector, const guint8 *kinds, guint32 node)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  return quoit_selector_matches (selector, quoit_layout_node_label (view->fleet->layout, (QuoitNodeId) { node },
                                                                    quoit_selector_key (selector), buffer));
}

static gboolean
kind_satisfies (const QuoitFleetView *view, const QuoitSelector *selector, const guint8 *kinds, guint32 node)
{
  return kinds[view->fleet->layout->nodes[node].kind];
}

static void
keep_nodes (const QuoitFleetView *view, const QuoitSelector *selector, SelectorTest satisfies, const guint8 *kinds,
            guint64 *bits)
{
  for (guint32 w = 0; w < quoit_view_words (&view->view); w++)
    for (guint64 rest = bits[w]; rest != 0; rest &= rest - 1)
      {
        guint32 i = w * 64 + (guint32) __builtin_ctzll (rest);

        if (!satisfies (view, selector, kinds, view->nodes[i]))
          bits[w] &= ~((guint64) 1 << (i % 64));
      }
}

/* Like keep_nodes(), for labels that are equal on all nodes of a kind. Usually all kinds satisfy the selector, and no
 * node is visited. */
static void
keep_node_kinds (const QuoitFleetView *view, const QuoitSelector *selector, guint64 *bits)
{
  const QuoitLayout *layout = view->fleet->layout;
  g_autofree guint8 *kinds = g_new (guint8, layout->n_kinds + 1);
  gboolean all = TRUE;

  for (guint32 k = 0; k < layout->n_kinds; k++)
    {
      kinds[k] = (guint8) quoit_selector_matches (
          selector, quoit_node_kind_label (quoit_claims_kind_at (layout->kinds, k), quoit_selector_key (selector)));
      all &= kinds[k];
    }
  if (!all)
    keep_nodes (view, selector, kind_satisfies, kinds, bits);
}

static gboolean
is_empty (const guint64 *bits, guint32 n_words)
{
  for (guint32 w = 0; w < n_words; w++)
    if (bits[w] != 0)
      return FALSE;
  return TRUE;
}

static void
fill_filter (const QuoitFleetView *view, const GPtrArray *selectors, guint64 *bits)
{
  guint32 n_words = quoit_view_words (&view->view), n = view->view.n_nodes;

  memset (bits, 0xff, n_words * sizeof *bits);
  if (n % 64 != 0)
    bits[n_words - 1] = ((guint64) 1 << (n % 64)) - 1;
  for (guint i = 0; selectors != NULL && i < selectors->len && !is_empty (bits, n_words); i++)
    {
      const QuoitSelector *selector = selectors->pdata[i];

      if (strcmp (quoit_selector_key (selector), QUOIT_RAY_LABEL_SLICE_NAME) == 0)
        keep_slice_nodes (view, selector, bits);
      else if (quoit_layout_label_scope (quoit_selector_key (selector)) == QUOIT_LABEL_OF_KIND)
        keep_node_kinds (view, selector, bits);
      else
        keep_nodes (view, selector, node_satisfies, NULL, bits);
    }
}

/* Bundles with the same selectors share a filter. */
static guint32
number_filters (QuoitFleetView *view, const guint32 *which, GPtrArray *distinct)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  guint32 *filter = g_new (guint32, view->bundles.n_bundles + 1);
  GString *text = g_string_new (NULL);

  for (guint32 b = 0; b < view->bundles.n_bundles; b++)
    {
      const QuoitBundleSpec *spec = spec_at (view, which, b);
      gpointer value;

      if (b > 0 && spec->selectors == spec_at (view, which, b - 1)->selectors)
        {
          filter[b] = filter[b - 1];
          continue;
        }
      g_string_truncate (text, 0);
      if (spec->selectors != NULL)
        quoit_request_append_selectors (text, spec->selectors);
      if (!g_hash_table_lookup_extended (known, text->str, NULL, &value))
        {
          value = GUINT_TO_POINTER (distinct->len);
          g_hash_table_insert (known, g_strdup (text->str), value);
          g_ptr_array_add (distinct, spec->selectors);
        }
      filter[b] = GPOINTER_TO_UINT (value);
    }
  g_string_free (text, TRUE);
  view->bundles.filter = filter;
  return distinct->len;
}

void
quoit_fleet_view_fill_filters (QuoitFleetView *view, const guint32 *which)
{
  g_autoptr (GPtrArray) distinct = NULL;
  guint32 n_words = quoit_view_words (&view->view), n;
  guint64 *passes;

  for (n = 0; n < view->bundles.n_bundles && spec_at (view, which, n)->selectors == NULL; n++)
    ;
  if (n == view->bundles.n_bundles)
    return;
  distinct = g_ptr_array_new ();
  view->bundles.n_filters = number_filters (view, which, distinct);
  passes = g_new (guint64, (gsize) distinct->len * n_words + 1);
  for (guint f = 0; f < distinct->len && n_words > 0; f++)
    fill_filter (view, distinct->pdata[f], &passes[(gsize) f * n_words]);
  view->view.passes = passes;
}

/* --- the topology label --- */

/* Returns FALSE if the node has no value of the topology label. Slices with equal names have different values. Under
 * policy `ray`, slices of one source with equal names have the same value, because Ray does not distinguish them in
 * a cluster. */
static gboolean
topology_value (const QuoitFleetView *view, guint32 node, char *buffer, QuoitLabelValue *value)
{
  const QuoitLayout *layout = view->fleet->layout;
  const char *key = view->request->topology_label;
  guint32 slice = layout->nodes[node].slice;

  value->text = quoit_layout_node_label (layout, (QuoitNodeId) { node }, key, buffer);
  value->slice_or_source = 0;
  if (strcmp (key, QUOIT_RAY_LABEL_SLICE_NAME) == 0 && slice != QUOIT_NO_INDEX)
    value->slice_or_source = view->request->policy == QUOIT_POLICY_RAY
                                 ? layout->pools[layout->shelves[layout->slices[slice].shelf].pool].source
                                 : slice;
  return value->text != NULL && *value->text != '\0';
}

static int
compare_domains (const void *a, const void *b)
{
  const QuoitLabelValue *x = a, *y = b;
  int order = x->text == y->text ? 0 : quoit_natural_compare (x->text, y->text);

  return order != 0 ? order : (x->slice_or_source > y->slice_or_source) - (x->slice_or_source < y->slice_or_source);
}

/* Collects the values of all nodes, sorted and without duplicates. They are usually sorted already, because nodes are
 * sorted by slice, and slices by name. */
static void
find_domains (QuoitFleetView *view)
{
  GArray *domains = view->domains = g_array_new (FALSE, FALSE, sizeof (QuoitLabelValue));
  gboolean sorted = TRUE;
  guint n = 0;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  for (guint32 i = 0; i < view->view.n_nodes; i++)
    {
      const QuoitLabelValue *last
          = domains->len == 0 ? NULL : &g_array_index (domains, QuoitLabelValue, domains->len - 1);
      QuoitLabelValue value;
      int order;

      if (!topology_value (view, view->nodes[i], buffer, &value))
        continue;
      order = last == NULL ? 1 : compare_domains (&value, last);
      if (order == 0)
        continue;
      sorted &= order > 0;
      if (value.text == buffer)
        value.text = g_string_chunk_insert_const (view->texts, buffer);
      g_array_append_val (domains, value);
    }
  if (sorted)
    return;
  qsort (domains->data, domains->len, sizeof (QuoitLabelValue), compare_domains);
  for (guint i = 0; i < domains->len; i++)
    if (n == 0
        || compare_domains (&g_array_index (domains, QuoitLabelValue, i),
                            &g_array_index (domains, QuoitLabelValue, n - 1))
               != 0)
      g_array_index (domains, QuoitLabelValue, n++) = g_array_index (domains, QuoitLabelValue, i);
  g_array_set_size (domains, n);
}

guint32
quoit_fleet_view_domain (const QuoitFleetView *view, QuoitNodeId node)
{
  const QuoitLabelValue *found;
  QuoitLabelValue value;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  if (view->domains == NULL || view->domains->len == 0 || !topology_value (view, node.index, buffer, &value))
    return QUOIT_NO_INDEX;
  found = bsearch (&value, view->domains->data, view->domains->len, sizeof value, compare_domains);
  return found == NULL ? QUOIT_NO_INDEX
                       : (guint32) (found - (const QuoitLabelValue *) (const void *) view->domains->data);
}

/* Returns the domain of the node. It is usually the domain of the previous node, or the one after it. */
static guint32
node_domain (const QuoitFleetView *view, guint32 node, guint32 before)
{
  QuoitLabelValue value;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  if (!topology_value (view, node, buffer, &value))
    return QUOIT_NO_INDEX;
  for (guint32 d = before == QUOIT_NO_INDEX ? 0 : before, end = MIN (d + 2, view->domains->len); d < end; d++)
    if (compare_domains (&value, &g_array_index (view->domains, QuoitLabelValue, d)) == 0)
      return d;
  return quoit_fleet_view_domain (view, (QuoitNodeId) { node });
}

void
quoit_fleet_view_fill_domains (QuoitFleetView *view)
{
  guint32 *domain, before = QUOIT_NO_INDEX;

  if (view->request->topology_label == NULL)
    return;
  view->texts = g_string_chunk_new (256);
  find_domains (view);
  domain = g_new (guint32, view->view.n_nodes + 1);
  for (guint32 i = 0; i < view->view.n_nodes; i++)
    {
      domain[i] = node_domain (view, view->nodes[i], before);
      before = domain[i] == QUOIT_NO_INDEX ? before : domain[i];
    }
  view->view.domain = domain;
  view->view.n_domains = view->domains->len;
}

void
quoit_fleet_view_exclude_domain (QuoitFleetView *view, guint32 domain)
{
  for (guint32 i = 0; i < view->view.n_nodes; i++)
    if (view->view.domain[i] == domain)
      ((guint32 *) view->view.domain)[i] = QUOIT_NO_INDEX;
}
