/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/quota.h"

#include "base/natural.h"
#include "fleet/chips.h"
#include "fleet/kind.h"
#include "placement/domains.h"

/* Iterates over the quotas that count groups of @request, of any class. */
static QuoitQuotaMatches
match_request (const QuoitQuotas *quotas, const QuoitRequest *request)
{
  return quoit_quotas_match (quotas, request->owner == NULL ? "" : request->owner,
                             request->labels == NULL ? NULL : (const QuoitLabel *) (const void *) request->labels->data,
                             request->labels == NULL ? 0 : request->labels->len);
}

/* --- slices --- */

static gint64
chips_of_slices (const QuoitRequest *request, guint32 n_slices)
{
  return (gint64) n_slices * quoit_shape_chips (request->shape) * QUOIT_AMOUNT_UNIT;
}

static gboolean
has_any_class (const QuoitQuota *quota)
{
  return quota->generation == QUOIT_GENERATION_NONE && quota->shape.n_dims == 0;
}

/* Returns whether the quota counts the parts of @request, whatever slices they are cut from. */
static gboolean
has_all_parts (const QuoitQuota *quota, const QuoitRequest *request)
{
  return has_any_class (quota) || (quota->shape.n_dims == 0 && quota->generation == request->generation);
}

/* Like quoit_quota_matches_next(), only for quotas that count the slices of @request. Of parts, quotas for one topology
 * count those that are cut from it. */
static gboolean
next_for_slices (QuoitQuotaMatches *matches, const QuoitQuotas *quotas, const QuoitRequest *request, guint *i)
{
  while (quoit_quota_matches_next (matches, i))
    if (request->cut != QUOIT_CUT_WHOLE
            ? has_all_parts (quoit_quotas_at (quotas, *i), request)
            : quoit_quota_has_class (quoit_quotas_at (quotas, *i), request->generation, request->shape))
      return TRUE;
  return FALSE;
}

/* Reduces *@n to @limit_e4 chips of slices, and sets *@quota. Of several quotas, the first in natural order is set. */
static void
limit_slices (guint32 *n, guint *quota, gint64 limit_e4, gint64 slice_e4, guint i)
{
  gint64 n_admitted = MAX (limit_e4, 0) / slice_e4;

  if (n_admitted > *n || (n_admitted == *n && (*quota == G_MAXUINT || i > *quota)))
    return;
  *n = (guint32) n_admitted;
  *quota = i;
}

QuoitQuotaSlices
quoit_quota_admit_slices (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *group)
{
  QuoitQuotaSlices admitted = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT, G_MAXUINT };
  const gint64 slice_e4 = chips_of_slices (request, 1);
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  g_autoptr (QuoitQuotas) without = group == NULL ? NULL : quoit_quotas_copy (fleet->quotas);
  const QuoitQuotas *quotas = without != NULL ? without : fleet->quotas;
  guint i;

  if (without != NULL)
    quoit_quotas_add_group (without, fleet->layout, group, -1);
  while (slice_e4 > 0 && next_for_slices (&matches, quotas, request, &i))
    {
      limit_slices (&admitted.n_now, &admitted.now_quota, quoit_quotas_room_e4 (quotas, i), slice_e4, i);
      limit_slices (&admitted.n_ever, &admitted.ever_quota, quoit_quotas_limit_e4 (quotas, i), slice_e4, i);
    }
  return admitted;
}

guint
quoit_quota_find_overrun (const QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after,
                          gint64 *growth_e4)
{
  g_autoptr (QuoitQuotas) without = before == NULL ? NULL : quoit_quotas_copy (fleet->quotas);
  const QuoitQuotas *quotas = without != NULL ? without : fleet->quotas;
  QuoitQuotaMatches matches = quoit_quotas_match (quotas, after->owner, after->labels, after->n_labels);
  guint overrun = G_MAXUINT, i;

  if (without != NULL)
    quoit_quotas_add_group (without, fleet->layout, before, -1);
  while (quoit_quota_matches_next (&matches, &i))
    {
      const QuoitQuota *quota = quoit_quotas_at (quotas, i);
      gint64 wanted_e4 = quoit_quota_count (quota, fleet->layout, after);
      gint64 growth = wanted_e4 - (before == NULL ? 0 : quoit_quota_count (quota, fleet->layout, before));

      if (growth <= 0 || wanted_e4 <= quoit_quotas_room_e4 (quotas, i) || i > overrun)
        continue;
      overrun = i;
      *growth_e4 = growth;
    }
  return overrun;
}

/* --- bundles --- */

/* Returns the chips of the bundles that the quota counts. Nodes whose TPU resource counts devices have several per
 * chip; bundles without nodes are assumed to be for nodes that count chips. */
static gint64
count_bundles (const QuoitQuota *quota, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes)
{
  gint64 chips_e4 = 0;

  for (guint32 b = 0; b < request->bundles->len; b++)
    {
      gint64 tpu_e4 = quoit_bundle_spec_tpu_e4 (quoit_request_bundle (request, b));
      const QuoitNodeId node = { nodes == NULL ? QUOIT_NO_INDEX : nodes[b] };

      if (tpu_e4 == 0 || (nodes != NULL && !quoit_quota_has_node (quota, fleet->layout, node)))
        continue;
      chips_e4 += nodes == NULL
                      ? tpu_e4
                      : quoit_chips_e4 ((QuoitAmount) { tpu_e4 },
                                        quoit_node_kind_tpu_per_chip (quoit_layout_node_kind (fleet->layout, node)).e4);
    }
  return chips_e4;
}

/* Returns the chips of the parts that the quota counts. */
static gint64
count_parts (const QuoitQuota *quota, const QuoitFleet *fleet, const QuoitRequest *request, const GArray *nodes)
{
  gint64 chips = 0;

  if (nodes == NULL)
    return chips_of_slices (request, quoit_request_min_slices (request));
  for (guint i = 0; i < nodes->len; i++)
    {
      const QuoitNodeId node = { g_array_index (nodes, guint32, i) };

      if (quoit_quota_has_node (quota, fleet->layout, node))
        chips += quoit_layout_node_kind (fleet->layout, node)->chips;
    }
  return chips * QUOIT_AMOUNT_UNIT;
}

QuoitQuotaBundles
quoit_quota_admit_parts (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *nodes)
{
  QuoitQuotaBundles result = { QUOIT_VERDICT_FITS, G_MAXUINT, 0 };
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  guint i;

  while (quoit_quota_matches_next (&matches, &i))
    {
      const QuoitQuota *quota = quoit_quotas_at (fleet->quotas, i);
      const gboolean has_all = has_all_parts (quota, request);
      const gint64 requested_e4 = nodes == NULL && !has_all ? 0 : count_parts (quota, fleet, request, nodes);
      const QuoitVerdict verdict = has_all && requested_e4 > quoit_quotas_limit_e4 (fleet->quotas, i)
                                       ? QUOIT_VERDICT_NEVER
                                       : QUOIT_VERDICT_NOT_NOW;

      if (requested_e4 == 0 || requested_e4 <= quoit_quotas_room_e4 (fleet->quotas, i))
        continue;
      if (verdict > result.verdict || (verdict == result.verdict && i < result.quota))
        result = (QuoitQuotaBundles) { verdict, i, requested_e4 };
    }
  return result;
}

guint32
quoit_quota_count_parts (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitSliceFacts *facts)
{
  const gint64 part_e4 = chips_of_slices (request, 1);
  guint32 n = G_MAXUINT32;
  guint quota = G_MAXUINT, i;
  QuoitQuotaMatches matches;

  if (fleet->quotas == NULL)
    return n;
  matches = match_request (fleet->quotas, request);
  while (part_e4 > 0 && quoit_quota_matches_next (&matches, &i))
    {
      const QuoitQuota *row = quoit_quotas_at (fleet->quotas, i);

      if (!has_all_parts (row, request) && quoit_quota_has_class (row, facts->generation, facts->shape))
        limit_slices (&n, &quota, quoit_quotas_room_e4 (fleet->quotas, i), part_e4, i);
    }
  return n;
}

QuoitQuotaBundles
quoit_quota_admit_bundles (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes)
{
  QuoitQuotaBundles result = { QUOIT_VERDICT_FITS, G_MAXUINT, 0 };
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  guint i;

  while (quoit_quota_matches_next (&matches, &i))
    {
      const QuoitQuota *quota = quoit_quotas_at (fleet->quotas, i);
      gboolean any_class = has_any_class (quota);
      gint64 requested_e4 = nodes == NULL && !any_class ? 0 : count_bundles (quota, fleet, request, nodes);
      QuoitVerdict verdict = QUOIT_VERDICT_NOT_NOW;

      if (requested_e4 == 0 || requested_e4 <= quoit_quotas_room_e4 (fleet->quotas, i))
        continue;
      if (any_class && requested_e4 > quoit_quotas_limit_e4 (fleet->quotas, i))
        verdict = QUOIT_VERDICT_NEVER;
      /* NEVER decides. Of several quotas, the first in natural order is set. */
      if (verdict > result.verdict || (verdict == result.verdict && i < result.quota))
        result = (QuoitQuotaBundles) { verdict, i, requested_e4 };
    }
  return result;
}

gboolean
quoit_quota_limits_class (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  guint i;

  while (quoit_quota_matches_next (&matches, &i))
    if (request->cut != QUOIT_CUT_WHOLE ? !has_all_parts (quoit_quotas_at (fleet->quotas, i), request)
                                        : !has_any_class (quoit_quotas_at (fleet->quotas, i)))
      return TRUE;
  return FALSE;
}

/* --- full quotas --- */

/* Returns the chips of @request that the quota counts at least, or for bundles, counts if all are of its class. */
static gint64
count_request (const QuoitQuota *quota, const QuoitFleet *fleet, const QuoitRequest *request)
{
  if (request->bundles->len > 0)
    return count_bundles (quota, fleet, request, NULL);
  if (request->cut != QUOIT_CUT_WHOLE)
    return count_parts (quota, fleet, request, NULL);
  return quoit_quota_has_class (quota, request->generation, request->shape)
             ? chips_of_slices (request, quoit_request_min_slices (request))
             : 0;
}

QuoitFullCohorts *
quoit_quota_list_full (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  QuoitFullCohorts *full = NULL;
  guint i;

  while (quoit_quota_matches_next (&matches, &i))
    {
      gint64 needed_e4 = count_request (quoit_quotas_at (fleet->quotas, i), fleet, request);

      if (needed_e4 == 0 || quoit_quotas_room_e4 (fleet->quotas, i) >= needed_e4)
        continue;
      if (full == NULL)
        full = g_malloc0 (quoit_quotas_n_cohorts (fleet->quotas));
      full[quoit_quotas_row (fleet->quotas, i)->cohort] = 1;
    }
  return full;
}

gboolean
quoit_quota_counts_in (const QuoitFullCohorts *full, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  QuoitQuotaMatches matches;
  guint i;

  if (full == NULL || !quoit_group_is_callers (group))
    return FALSE;
  matches = quoit_quotas_match (fleet->quotas, group->owner, group->labels, group->n_labels);
  while (quoit_quota_matches_next (&matches, &i))
    if (full[quoit_quotas_row (fleet->quotas, i)->cohort]
        && quoit_quota_count (quoit_quotas_at (fleet->quotas, i), fleet->layout, group) > 0)
      return TRUE;
  return FALSE;
}

/* --- texts --- */

static void
append_chips (GString *text, gint64 chips_e4)
{
  g_autofree char *amount = quoit_amount_format ((QuoitAmount) { chips_e4 });

  g_string_append_printf (text, "%s chip%s", amount, chips_e4 == QUOIT_AMOUNT_UNIT ? "" : "s");
}

char *
quoit_quota_describe (const QuoitFleet *fleet, guint quota)
{
  const QuoitQuota *row = quoit_quotas_at (fleet->quotas, quota);
  g_autofree char *used = quoit_amount_format ((QuoitAmount) { quoit_quotas_used_e4 (fleet->quotas, quota) });
  GString *text = g_string_new (row->name);

  g_string_append_printf (text, ": %s of ", used);
  append_chips (text, row->nominal * QUOIT_AMOUNT_UNIT);
  g_string_append (text, " in use");
  if (row->cohort != NULL)
    {
      QuoitAmount cohort = { quoit_quotas_cohort_used_e4 (fleet->quotas, quota) };
      g_autofree char *cohort_used = quoit_amount_format (cohort);

      if (row->most >= 0)
        g_string_append_printf (text, " (at most %" G_GINT64_FORMAT ")", row->most);
      g_string_append_printf (text, ", %s of ", cohort_used);
      append_chips (text, quoit_quotas_cohort_nominal_e4 (fleet->quotas, quota));
      g_string_append_printf (text, " of cohort %s", row->cohort);
    }
  return g_string_free (text, FALSE);
}

char *
quoit_quota_describe_limit (const QuoitFleet *fleet, guint quota)
{
  GString *text = g_string_new (quoit_quotas_at (fleet->quotas, quota)->name);

  g_string_append (text, ": at most ");
  append_chips (text, quoit_quotas_limit_e4 (fleet->quotas, quota));
  return g_string_free (text, FALSE);
}

/* --- ends of groups --- */

/* A group that can end, and what one quota and its cohort count of it. */
typedef struct {
  const QuoitGroupData *group;
  gint64 own_e4, cohort_e4;
  gboolean is_chosen;
} Candidate;

/* Lists the groups that the cohort of the quota counts, and that can end for the request. */
static void
list_candidates (const QuoitFleet *fleet, const QuoitRequest *request, guint quota, const GPtrArray *chosen,
                 GArray *candidates)
{
  const guint32 cohort = quoit_quotas_row (fleet->quotas, quota)->cohort;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      Candidate candidate = { .group = quoit_fleet_group_at (fleet, slot) };
      QuoitQuotaMatches matches;
      guint i;

      if (candidate.group == NULL || !quoit_group_is_callers (candidate.group)
          || quoit_request_needs_group (request, candidate.group)
          || g_ptr_array_find ((GPtrArray *) chosen, candidate.group, NULL))
        continue;
      matches = quoit_quotas_match (fleet->quotas, candidate.group->owner, candidate.group->labels,
                                    candidate.group->n_labels);
      while (quoit_quota_matches_next (&matches, &i))
        {
          gint64 chips_e4
              = quoit_quotas_row (fleet->quotas, i)->cohort != cohort
                    ? 0
                    : quoit_quota_count (quoit_quotas_at (fleet->quotas, i), fleet->layout, candidate.group);

          candidate.cohort_e4 += chips_e4;
          if (i == quota)
            candidate.own_e4 = chips_e4;
        }
      if (candidate.cohort_e4 > 0)
        g_array_append_val (candidates, candidate);
    }
}

/* Returns whether @a is to end rather than @b, whose ends admit @gain_a and @gain_b more chips of @short_e4 missing
 * ones. Groups of the quota itself come first, because a quota is not entitled to borrow. */
static gboolean
is_better (const Candidate *a, gint64 gain_a, const Candidate *b, gint64 gain_b, gint64 short_e4)
{
  if ((a->own_e4 > 0) != (b->own_e4 > 0))
    return a->own_e4 > 0;
  if ((gain_a >= short_e4) != (gain_b >= short_e4))
    return gain_a >= short_e4;
  if (gain_a != gain_b)
    return gain_a >= short_e4 ? gain_a < gain_b : gain_a > gain_b;
  return quoit_natural_compare (a->group->name, b->group->name) < 0;
}

/* Returns how much more room the quota has without the group. */
static gint64
find_gain (const QuoitQuotas *usage, guint quota, const Candidate *candidate)
{
  return quoit_quotas_room_without_e4 (usage, quota, candidate->own_e4, candidate->cohort_e4)
         - quoit_quotas_room_e4 (usage, quota);
}

/* Returns how much more of the nominal chips of the cohort is unused without the group. */
static gint64
find_cohort_gain (const QuoitQuotas *usage, guint quota, const Candidate *candidate)
{
  return candidate->cohort_e4;
}

/* Returns the group to end of those that are not chosen; NULL if none gains anything. */
static Candidate *
find_best (const QuoitQuotas *usage, guint quota, GArray *candidates, gint64 short_e4,
           gint64 (*find) (const QuoitQuotas *usage, guint quota, const Candidate *candidate))
{
  Candidate *best = NULL;
  gint64 best_gain = 0;

  for (guint c = 0; c < candidates->len; c++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, c);
      gint64 gain = candidate->is_chosen ? 0 : find (usage, quota, candidate);

      if (gain <= 0 || (best != NULL && !is_better (candidate, gain, best, best_gain, short_e4)))
        continue;
      best = candidate;
      best_gain = gain;
    }
  return best;
}

/* Chooses groups until the quota has room for @needed_e4 chips. @usage: without the groups that are @chosen. */
static gboolean
choose_for_quota (const QuoitFleet *fleet, const QuoitRequest *request, QuoitQuotas *usage, guint quota,
                  gint64 needed_e4, GPtrArray *chosen)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  gint64 short_e4;

  if (quoit_quotas_room_e4 (usage, quota) >= needed_e4)
    return TRUE;
  list_candidates (fleet, request, quota, chosen, candidates);
  while ((short_e4 = needed_e4 - quoit_quotas_room_e4 (usage, quota)) > 0)
    {
      Candidate *best = find_best (usage, quota, candidates, short_e4, find_gain);

      /* The cohort uses so much more than its nominal chips that no single end gives the quota any room. */
      if (best == NULL)
        best = find_best (usage, quota, candidates,
                          needed_e4 + quoit_quotas_cohort_used_e4 (usage, quota)
                              - quoit_quotas_cohort_nominal_e4 (usage, quota),
                          find_cohort_gain);
      if (best == NULL)
        return FALSE;
      best->is_chosen = TRUE;
      quoit_quotas_add_group (usage, fleet->layout, best->group, -1);
      g_ptr_array_add (chosen, (gpointer) best->group);
    }
  return TRUE;
}

static gboolean
admits_slices (const QuoitQuotas *quotas, const QuoitRequest *request, guint32 n_slices)
{
  QuoitQuotaMatches matches = match_request (quotas, request);
  guint i;

  while (next_for_slices (&matches, quotas, request, &i))
    if (quoit_quotas_room_e4 (quotas, i) < chips_of_slices (request, n_slices))
      return FALSE;
  return TRUE;
}

GPtrArray *
quoit_quota_choose_ends (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices)
{
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  g_autoptr (QuoitQuotas) usage = quoit_quotas_copy (fleet->quotas);
  guint quota;

  while (next_for_slices (&matches, usage, request, &quota))
    if (!choose_for_quota (fleet, request, usage, quota, chips_of_slices (request, n_slices), chosen))
      return NULL;
  /* A later choice can make an earlier one unnecessary. */
  for (guint i = chosen->len; i-- > 0;)
    {
      quoit_quotas_add_group (usage, fleet->layout, chosen->pdata[i], 1);
      if (admits_slices (usage, request, n_slices))
        g_ptr_array_remove_index (chosen, i);
      else
        quoit_quotas_add_group (usage, fleet->layout, chosen->pdata[i], -1);
    }
  return g_steal_pointer (&chosen);
}

GArray *
quoit_quota_list_chips (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices, const guint32 *nodes)
{
  QuoitQuotaMatches matches = match_request (fleet->quotas, request);
  GArray *list = g_array_new (FALSE, FALSE, sizeof (QuoitQuotaChips));
  QuoitQuotaChips chips;

  while (quoit_quota_matches_next (&matches, &chips.quota))
    {
      const QuoitQuota *quota = quoit_quotas_at (fleet->quotas, chips.quota);

      if (request->bundles->len > 0)
        chips.chips_e4 = nodes != NULL || has_any_class (quota) ? count_bundles (quota, fleet, request, nodes) : 0;
      else if (request->cut != QUOIT_CUT_WHOLE)
        chips.chips_e4 = has_any_class (quota) ? chips_of_slices (request, n_slices) : 0;
      else
        chips.chips_e4 = quoit_quota_has_class (quota, request->generation, request->shape)
                             ? chips_of_slices (request, n_slices)
                             : 0;
      if (chips.chips_e4 > 0)
        g_array_append_val (list, chips);
    }
  return list;
}

gboolean
quoit_quota_admits_after (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, guint n)
{
  g_autoptr (GArray) list = NULL;
  g_autoptr (QuoitQuotas) usage = NULL;

  if (fleet->quotas == NULL)
    return TRUE;
  list = quoit_quota_list_chips (fleet, request, quoit_request_min_slices (request), NULL);
  if (n > 0 && list->len > 0)
    usage = quoit_quotas_copy (fleet->quotas);
  for (guint i = 0; usage != NULL && i < n; i++)
    quoit_quotas_add_group (usage, fleet->layout, quoit_fleet_group_at (fleet, g_array_index (slots, guint32, i)), -1);
  for (guint i = 0; i < list->len; i++)
    {
      const QuoitQuotaChips *chips = &g_array_index (list, QuoitQuotaChips, i);

      if (quoit_quotas_room_e4 (usage != NULL ? usage : fleet->quotas, chips->quota) < chips->chips_e4)
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_quota_check_ever (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  guint quota = G_MAXUINT;
  g_autofree char *limit = NULL;

  if (request->bundles->len > 0 || request->cut != QUOIT_CUT_WHOLE)
    {
      QuoitQuotaBundles admitted = request->cut != QUOIT_CUT_WHOLE ? quoit_quota_admit_parts (fleet, request, NULL)
                                                                   : quoit_quota_admit_bundles (fleet, request, NULL);

      quota = admitted.verdict == QUOIT_VERDICT_NEVER ? admitted.quota : G_MAXUINT;
    }
  else
    {
      QuoitQuotaSlices admitted = quoit_quota_admit_slices (fleet, request, NULL);

      quota = admitted.n_ever < quoit_request_min_slices (request) ? admitted.ever_quota : G_MAXUINT;
    }
  if (quota == G_MAXUINT)
    return TRUE;
  limit = quoit_quota_describe_limit (fleet, quota);
  return quoit_fail (error, QUOIT_ERROR_NEVER, "never, over the quota of '%s', even if all groups end", limit);
}
