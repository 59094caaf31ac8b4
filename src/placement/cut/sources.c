/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/sources.h"

#include "placement/quota.h"

static void
source_clear (gpointer data)
{
  QuoitCutSource *source = data;

  g_array_unref (source->slices);
  quoit_cut_store_unref (source->store);
}

/* Returns the slices of the class that are candidates. */
static GArray *
list_slices (const QuoitCutStore *store, const QuoitCandidates *candidates)
{
  GArray *all = quoit_cut_store_slices (store), *slices;

  if (candidates->class_index != QUOIT_NO_INDEX && candidates->eligible == NULL)
    return g_array_ref (all);
  slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < all->len && candidates->class_index != QUOIT_NO_INDEX; i++)
    if (quoit_eligible_has (candidates->eligible, g_array_index (all, guint32, i)))
      g_array_append_val (slices, g_array_index (all, guint32, i));
  return slices;
}

static gboolean
add_source (const QuoitFleet *fleet, const QuoitRequest *request, guint32 class_index, GArray *sources, GError **error)
{
  const QuoitClass *class = &fleet->layout->classes[class_index];
  QuoitCutSource source = { .class = class };
  QuoitRequest whole = *request;
  QuoitCandidates candidates;

  if (class->facts.generation != request->generation
      || (request->chips_per_host != 0 && class->facts.chips_per_host != request->chips_per_host)
      || !quoit_cutting_init (&source.cutting, &class->facts, request->shape, request->cut))
    return TRUE;
  /* The slices of the class that pass the rules of the request. */
  whole.shape = class->facts.shape;
  whole.chips_per_host = class->facts.chips_per_host;
  if (!quoit_candidates_find (fleet, &whole, &candidates, error))
    return FALSE;
  source.store = quoit_cut_store_get (fleet->layout, class, &source.cutting.grid);
  source.slices = list_slices (source.store, &candidates);
  source.n_slices = class->n_slices;
  source.most = quoit_quota_count_parts (fleet, request, &class->facts);
  source.is_all = source.slices == quoit_cut_store_slices (source.store);
  quoit_candidates_clear (&candidates);
  g_array_append_val (sources, source);
  return TRUE;
}

guint32
quoit_cut_source_position (const QuoitCutSource *source, guint32 index)
{
  const GArray *all = quoit_cut_store_slices (source->store);
  guint32 first = index, end = all->len;

  if (source->is_all)
    return index;
  while (g_array_index (all, guint32, first) != g_array_index (source->slices, guint32, index))
    {
      const guint32 middle = first + (end - first) / 2;

      if (g_array_index (all, guint32, middle) <= g_array_index (source->slices, guint32, index))
        first = middle;
      else
        end = middle;
    }
  return first;
}

static guint
host_size (const GArray *sources, guint i)
{
  return g_array_index (sources, QuoitCutSource, i).class->facts.chips_per_host;
}

static gint
by_host_size (gconstpointer a, gconstpointer b)
{
  const QuoitClass *x = ((const QuoitCutSource *) a)->class, *y = ((const QuoitCutSource *) b)->class;

  if (x->facts.chips_per_host != y->facts.chips_per_host)
    return x->facts.chips_per_host < y->facts.chips_per_host ? -1 : 1;
  return x < y ? -1 : x > y;
}

guint
quoit_cut_sources_end (const GArray *sources, guint first)
{
  guint end = first;

  while (end < sources->len && host_size (sources, end) == host_size (sources, first))
    end++;
  return end;
}

GArray *
quoit_cut_list_sources (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (QuoitCutSource));
  QuoitNodeRules rules;

  g_array_set_clear_func (sources, source_clear);
  if (!quoit_request_check_complete (request, error) || !quoit_shape_check (request->generation, request->shape, error))
    return NULL;
  for (guint32 c = 0; c < fleet->layout->n_classes; c++)
    if (!add_source (fleet, request, c, sources, error))
      return NULL;
  g_array_sort (sources, by_host_size);
  /* Names that the fleet does not have are errors, also if no slice is large enough. */
  if (sources->len == 0)
    {
      if (!quoit_node_rules_init (&rules, fleet->layout, request, error))
        return NULL;
      quoit_node_rules_clear (&rules);
    }
  return g_steal_pointer (&sources);
}
