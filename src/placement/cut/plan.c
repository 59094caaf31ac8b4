/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/plan.h"

#include "placement/cut/counts.h"
#include "placement/cut/sources.h"
#include "placement/quota.h"

/* About a tenth of a second for one slice. */
#define STEPS G_GUINT64_CONSTANT (20000000)

/* --- packing --- */

static void
append_packed (const QuoitCutting *cutting, guint32 slice, const GArray *packed, guint32 most, GArray *parts)
{
  for (guint i = 0; i < packed->len && parts->len < most; i++)
    {
      const QuoitPackedPart *part = &g_array_index (packed, QuoitPackedPart, i);
      const QuoitCutPart own = { slice, part->origin, cutting->turns[part->turn].hosts };

      g_array_append_val (parts, own);
    }
}

/* Packs parts into the slices of sources @first to @end, from each as many as it may have. */
static void
pack_sources (const QuoitFreeHosts *rule, const GArray *sources, guint first, guint end, guint32 most, GArray *parts)
{
  for (guint i = first; i < end; i++)
    {
      const QuoitCutSource *source = &g_array_index (sources, QuoitCutSource, i);
      const QuoitCutting *cutting = &source->cutting;
      const QuoitPackingDemand demand = { cutting->turns, cutting->n_turns, 1, 0 };
      const guint32 own_most = parts->len + MIN (source->most, most - parts->len);

      for (guint s = 0; s < source->slices->len && parts->len < own_most; s++)
        {
          const guint32 slice = g_array_index (source->slices, guint32, s);
          QuoitPackingResult result;
          QuoitHostSet free;

          quoit_free_hosts_list (rule, slice, &cutting->grid, &free);
          quoit_packing_solve (&cutting->grid, &free, &demand, 1, cutting->offsets, STEPS, &result);
          append_packed (cutting, slice, result.parts, own_most, parts);
          quoit_packing_result_clear (&result);
        }
    }
}

/* --- counting --- */

/* Counts the parts that fit into some slices of a class, or under a rule other than that of the memory. */
static void
count_slices (const QuoitFreeHosts *rule, const QuoitCutSource *source, QuoitCutMemory *memory, guint32 enough,
              guint32 *least, guint32 *most)
{
  const QuoitFreeHosts now = { rule->fleet, QUOIT_NODE_ALIVE, FALSE };
  QuoitCutQuestion *question = quoit_part_counts_ask (memory, &source->cutting, STEPS);
  const QuoitFreeSet *all = NULL;

  for (guint s = 0; s < source->slices->len && *least < enough; s++)
    {
      const guint32 slice = g_array_index (source->slices, guint32, s);
      const gboolean has_all = quoit_free_hosts_are_all (rule, slice);
      const QuoitFreeSet *set = has_all ? all : NULL;
      QuoitPartCount count;

      if (set == NULL && quoit_free_hosts_are_same (rule, &now, slice, &source->cutting.grid))
        set = memory->at[quoit_cut_source_position (source, s)];
      if (set == NULL)
        {
          QuoitHostSet free;

          quoit_free_hosts_list (rule, slice, &source->cutting.grid, &free);
          set = quoit_cut_memory_find (memory, &free);
        }
      if (has_all)
        all = set;
      count = quoit_part_counts_look_up (question, &source->cutting, set, STEPS);
      *least += count.least;
      *most += count.most;
    }
}

/* What is counted. */
typedef struct {
  const QuoitFreeHosts *rule;
  const GArray *sources;
  gboolean within_quotas; /* no more parts of a class than its quotas admit */
  guint32 enough;
} Counting;

/* Counts the parts that fit into the slices of sources @first to @end. */
static void
count_sources (const Counting *counting, guint first, guint end, guint32 *least, guint32 *most)
{
  const QuoitFreeHosts *rule = counting->rule;
  const guint32 enough = counting->enough;
  const gboolean is_now = rule->worst == QUOIT_NODE_ALIVE && !rule->ignores_use;

  *least = *most = 0;
  for (guint i = first; i < end && *least < enough; i++)
    {
      const QuoitCutSource *source = &g_array_index (counting->sources, QuoitCutSource, i);
      const guint32 limit = counting->within_quotas ? source->most : G_MAXUINT32;
      const guint32 own_enough = MIN (enough - *least, limit);
      QuoitCutMemory *memory = quoit_cut_memory_take (source->store, rule->fleet);
      guint32 own_least = 0, own_most = 0;

      if (is_now && source->is_all)
        quoit_part_counts_sum (memory, &source->cutting, STEPS, own_enough, &own_least, &own_most);
      else
        count_slices (rule, source, memory, own_enough, &own_least, &own_most);
      *least += MIN (own_least, limit);
      *most += MIN (own_most, limit);
      quoit_cut_memory_keep (memory);
    }
}

/* All parts of a group have hosts of one size: the size counts on which most parts fit. */
static void
count_all (const Counting *counting, guint32 *least, guint32 *most)
{
  const GArray *sources = counting->sources;

  *least = *most = 0;
  for (guint first = 0, end; first < sources->len; first = end)
    {
      guint32 own_least, own_most;

      end = quoit_cut_sources_end (sources, first);
      count_sources (counting, first, end, &own_least, &own_most);
      *least = MAX (*least, own_least);
      *most = MAX (*most, own_most);
    }
}

void
quoit_cut_count_in (const QuoitFreeHosts *rule, const GArray *sources, guint32 enough, guint32 *least, guint32 *most)
{
  count_all (&(const Counting) { rule, sources, FALSE, enough }, least, most);
}

/* Returns how many parts fit now and are within the quotas for classes, if at least, at most @enough. */
static guint32
count_within_quotas (const QuoitFleet *fleet, const QuoitRequest *request, guint32 enough)
{
  const QuoitFreeHosts now = { fleet, QUOIT_NODE_ALIVE, FALSE };
  g_autoptr (GArray) sources = quoit_cut_list_sources (fleet, request, NULL);
  guint32 least, most;

  if (sources == NULL)
    return 0;
  count_all (&(const Counting) { &now, sources, TRUE, enough }, &least, &most);
  return MIN (least, enough);
}

/* Chooses as many parts as possible from sources @first to @end, at most @most. */
static void
choose_from (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *sources, guint first, guint end,
             guint32 most, GArray *parts)
{
  const QuoitFreeHosts rule = { fleet, QUOIT_NODE_ALIVE, FALSE };
  g_autoptr (GArray) own = g_array_sized_new (FALSE, FALSE, sizeof (QuoitCutSource), end - first);
  guint32 n, at_most;

  g_array_append_vals (own, &g_array_index (sources, QuoitCutSource, first), end - first);
  quoit_cut_choose_places (fleet, own, request, most, parts);
  if (parts->len >= most)
    return;
  /* What is known of the same hosts often says that no more parts fit. */
  count_sources (&(const Counting) { &rule, sources, TRUE, most }, first, end, &n, &at_most);
  if (MIN (n, most) <= parts->len)
    return;
  g_array_set_size (parts, 0);
  pack_sources (&rule, sources, first, end, most, parts);
}

gboolean
quoit_cut_choose (const QuoitFleet *fleet, const QuoitRequest *request, guint32 least, guint32 most, GArray *parts,
                  GError **error)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (fleet, request, error);

  if (sources == NULL)
    return FALSE;
  if (fleet->quotas != NULL)
    most = MIN (most, quoit_quota_admit_slices (fleet, request, NULL).n_now);
  for (guint first = 0, end; first < sources->len && parts->len < most; first = end)
    {
      g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));

      end = quoit_cut_sources_end (sources, first);
      choose_from (fleet, request, sources, first, end, most, own);
      if (own->len <= parts->len)
        continue;
      g_array_set_size (parts, 0);
      g_array_append_vals (parts, own->data, own->len);
    }
  return parts->len >= least;
}

gboolean
quoit_cut_count (const QuoitFreeHosts *rule, const QuoitRequest *request, guint32 enough, guint32 *least, guint32 *most,
                 GError **error)
{
  g_autoptr (GArray) sources = quoit_cut_list_sources (rule->fleet, request, error);

  if (sources == NULL)
    return FALSE;
  quoit_cut_count_in (rule, sources, enough, least, most);
  return TRUE;
}

void
quoit_cut_list_nodes (const QuoitFleet *fleet, const QuoitCutPart *part, GArray *nodes)
{
  const QuoitClass *class = quoit_layout_slice_class (fleet->layout, (QuoitSliceId) { part->slice });
  const guint32 n = quoit_shape_chips (part->hosts), first = nodes->len;
  g_autofree guint32 *workers = g_new (guint32, n + 1);
  QuoitGrid grid;

  quoit_grid_init (&grid, class->facts.host_grid, (1 << QUOIT_N_AXES) - 1);
  quoit_grid_list_box (&grid, part->hosts, part->origin, workers);
  g_array_set_size (nodes, first + n);
  quoit_free_hosts_find (fleet, part->slice, workers, n, &g_array_index (nodes, guint32, first));
}

gboolean
quoit_cut_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));

  if (!quoit_cut_choose (fleet, request, n, n, parts, NULL))
    return FALSE;
  for (guint i = 0; i < parts->len; i++)
    quoit_cut_list_nodes (fleet, &g_array_index (parts, QuoitCutPart, i), nodes);
  return TRUE;
}

/* --- answers --- */

gboolean
quoit_cut_fits (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result)
{
  const QuoitFreeHosts now = { fleet, QUOIT_NODE_ALIVE, FALSE };
  const guint32 least = quoit_request_min_slices (request);
  guint32 n, most;

  if (result != NULL)
    *result = QUOIT_PLACEMENT_NONE;
  if (fleet->quotas == NULL)
    return quoit_cut_count (&now, request, least, &n, &most, NULL) && n >= least;
  return quoit_quota_admit_slices (fleet, request, NULL).n_now >= least
         && count_within_quotas (fleet, request, least) >= least;
}

guint32
quoit_cut_count_admitted (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, QuoitQuotaSlices *admitted)
{
  *admitted = (QuoitQuotaSlices) { G_MAXUINT32, G_MAXUINT32, G_MAXUINT, G_MAXUINT };
  if (fleet->quotas == NULL)
    return n;
  *admitted = quoit_quota_admit_slices (fleet, request, NULL);
  n = MIN (n, admitted->n_now);
  return n > 0 && quoit_quota_limits_class (fleet, request) ? count_within_quotas (fleet, request, n) : n;
}

gboolean
quoit_cut_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                GError **error)
{
  const QuoitFreeHosts now = { fleet, QUOIT_NODE_ALIVE, FALSE }, ever = { fleet, QUOIT_NODE_DEAD, TRUE };
  const guint32 least = quoit_request_min_slices (request);
  QuoitVerdict decided = QUOIT_VERDICT_NOT_NOW;
  QuoitQuotaSlices admitted;
  guint32 n_now, n_admitted, n_ever, most;

  if (!quoit_cut_count (&now, request, G_MAXUINT32, &n_now, &most, error))
    return FALSE;
  n_admitted = quoit_cut_count_admitted (fleet, request, n_now, &admitted);
  most = n_now;
  if (n_now < least && !quoit_cut_count (&ever, request, least, &n_ever, &most, error))
    return FALSE;
  if (n_admitted >= least)
    decided = QUOIT_VERDICT_FITS;
  else if (most < least || admitted.n_ever < least)
    decided = QUOIT_VERDICT_NEVER;
  if (verdict != NULL)
    *verdict = decided;
  if (n_free != NULL)
    *n_free = n_admitted;
  return TRUE;
}
