/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/quota.h"

#include <string.h>

#include "base/natural.h"
#include "fleet/chips.h"
#include "fleet/kind.h"

static gboolean
applies (const QuoitQuota *quota, const QuoitRequest *request)
{
  return quoit_quota_applies (quota, request->owner == NULL ? "" : request->owner,
                              request->labels == NULL ? NULL
                                                      : (const QuoitLabel *) (const void *) request->labels->data,
                              request->labels == NULL ? 0 : request->labels->len);
}

/* --- slices --- */

static gboolean
counts_slices (const QuoitQuota *quota, const QuoitRequest *request)
{
  return applies (quota, request) && quoit_quota_has_class (quota, request->generation, request->shape);
}

/* What all quotas count; a copy, in which groups can end. */
typedef struct {
  const QuoitFleet *fleet;
  gint64 *used_e4; /* by quota */
} Usage;

static Usage
usage_new (const QuoitFleet *fleet)
{
  guint n = quoit_fleet_n_quotas (fleet);
  Usage usage = { fleet, g_new (gint64, n + 1) };

  for (guint i = 0; i < n; i++)
    usage.used_e4[i] = quoit_fleet_quota_at (fleet, i)->used_e4;
  return usage;
}

static void
usage_clear (Usage *usage)
{
  g_clear_pointer (&usage->used_e4, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Usage, usage_clear)

/* Adds @times what the quotas count of the group. */
static void
usage_add (Usage *usage, const QuoitGroupData *group, gint times)
{
  for (guint i = 0; i < quoit_fleet_n_quotas (usage->fleet); i++)
    usage->used_e4[i]
        += times * quoit_quota_count (quoit_fleet_quota_at (usage->fleet, i)->quota, usage->fleet->layout, group);
}

static QuoitCohortSums
usage_cohort (const Usage *usage, guint i)
{
  QuoitCohortSums sums = quoit_fleet_quota_cohort (usage->fleet, i);
  const QuoitQuota *quota = quoit_fleet_quota_at (usage->fleet, i)->quota;

  sums.used_e4 = 0;
  for (guint other = 0; other < quoit_fleet_n_quotas (usage->fleet); other++)
    if (quoit_quota_shares (quota, quoit_fleet_quota_at (usage->fleet, other)->quota))
      sums.used_e4 += usage->used_e4[other];
  return sums;
}

static gint64
usage_room (const Usage *usage, guint i)
{
  return quoit_quota_room (quoit_fleet_quota_at (usage->fleet, i)->quota, usage->used_e4[i], usage_cohort (usage, i));
}

QuoitQuotaSlices
quoit_quota_admit_slices (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *group)
{
  QuoitQuotaSlices admitted = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT, G_MAXUINT };
  const gint64 slice_e4 = (gint64) quoit_shape_chips (request->shape) * QUOIT_AMOUNT_UNIT;
  g_auto (Usage) usage = { 0 };

  for (guint i = 0; i < quoit_fleet_n_quotas (fleet) && slice_e4 > 0; i++)
    {
      gint64 n_now, n_ever;

      if (!counts_slices (quoit_fleet_quota_at (fleet, i)->quota, request))
        continue;
      if (group != NULL && usage.fleet == NULL)
        {
          usage = usage_new (fleet);
          usage_add (&usage, group, -1);
        }
      n_now = MAX (group != NULL ? usage_room (&usage, i) : quoit_fleet_quota_room (fleet, i), 0) / slice_e4;
      n_ever = quoit_fleet_quota_limit (fleet, i) / slice_e4;
      if (n_now < admitted.n_now)
        {
          admitted.n_now = (guint32) n_now;
          admitted.now_quota = i;
        }
      if (n_ever < admitted.n_ever)
        {
          admitted.n_ever = (guint32) n_ever;
          admitted.ever_quota = i;
        }
    }
  return admitted;
}

guint
quoit_quota_find_overrun (const QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after,
                          gint64 *growth_e4)
{
  g_auto (Usage) usage = usage_new (fleet);

  if (before != NULL)
    usage_add (&usage, before, -1);
  for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
    {
      const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;
      gint64 wanted_e4 = quoit_quota_count (quota, fleet->layout, after);

      *growth_e4 = wanted_e4 - (before == NULL ? 0 : quoit_quota_count (quota, fleet->layout, before));
      if (*growth_e4 > 0 && wanted_e4 > usage_room (&usage, i))
        return i;
    }
  return G_MAXUINT;
}

/* --- bundles --- */

static gint64
requested_tpu (const QuoitBundleSpec *spec)
{
  for (guint t = 0; t < spec->takes->len; t++)
    if (strcmp (g_array_index (spec->takes, QuoitTake, t).resource, "TPU") == 0)
      return g_array_index (spec->takes, QuoitTake, t).amount.e4;
  return 0;
}

/* Returns the chips of the bundles that the quota counts. Nodes whose TPU resource counts devices have several per
 * chip; bundles without nodes are assumed to be for nodes that count chips. */
static gint64
count_bundles (const QuoitQuota *quota, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes)
{
  gint64 chips_e4 = 0;

  for (guint32 b = 0; b < request->bundles->len; b++)
    {
      gint64 tpu_e4 = requested_tpu (quoit_request_bundle (request, b));
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

static gboolean
has_any_class (const QuoitQuota *quota)
{
  return quota->generation == QUOIT_GENERATION_NONE && quota->shape.n_dims == 0;
}

QuoitQuotaBundles
quoit_quota_admit_bundles (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes)
{
  QuoitQuotaBundles result = { QUOIT_VERDICT_FITS, G_MAXUINT, 0 };

  for (guint i = 0; i < quoit_fleet_n_quotas (fleet) && result.verdict != QUOIT_VERDICT_NEVER; i++)
    {
      const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;
      gboolean any_class = has_any_class (quota), is_never;
      gint64 requested_e4;

      if (!applies (quota, request) || (nodes == NULL && !any_class))
        continue;
      requested_e4 = count_bundles (quota, fleet, request, nodes);
      if (requested_e4 == 0 || requested_e4 <= quoit_fleet_quota_room (fleet, i))
        continue;
      is_never = any_class && requested_e4 > quoit_fleet_quota_limit (fleet, i);
      if (result.verdict == QUOIT_VERDICT_FITS || is_never)
        result = (QuoitQuotaBundles) { is_never ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW, i, requested_e4 };
    }
  return result;
}

/* Whether the quota has no room for the request, or for bundles that could all be of its class. */
static gboolean
is_full (const QuoitFleet *fleet, guint i, const QuoitRequest *request)
{
  const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;
  gint64 needed_e4 = 0;

  if (request->bundles->len > 0)
    needed_e4 = applies (quota, request) ? count_bundles (quota, fleet, request, NULL) : 0;
  else if (counts_slices (quota, request))
    needed_e4 = (gint64) quoit_request_min_slices (request) * quoit_shape_chips (request->shape) * QUOIT_AMOUNT_UNIT;
  return needed_e4 > 0 && quoit_fleet_quota_room (fleet, i) < needed_e4;
}

GPtrArray *
quoit_quota_list_full (const QuoitFleet *fleet, const QuoitRequest *request)
{
  GPtrArray *full = g_ptr_array_new ();

  for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
    if (is_full (fleet, i, request))
      for (guint other = 0; other < quoit_fleet_n_quotas (fleet); other++)
        if (quoit_quota_shares (quoit_fleet_quota_at (fleet, i)->quota, quoit_fleet_quota_at (fleet, other)->quota))
          g_ptr_array_add (full, (gpointer) quoit_fleet_quota_at (fleet, other)->quota);
  return full;
}

gboolean
quoit_quotas_count (const GPtrArray *quotas, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  for (guint i = 0; i < quotas->len; i++)
    if (quoit_quota_count (quotas->pdata[i], fleet->layout, group) > 0)
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
  const QuoitQuotaRow *row = quoit_fleet_quota_at (fleet, quota);
  g_autofree char *used = quoit_amount_format ((QuoitAmount) { row->used_e4 });
  GString *text = g_string_new (row->quota->name);

  g_string_append_printf (text, ": %s of ", used);
  append_chips (text, row->quota->nominal * QUOIT_AMOUNT_UNIT);
  g_string_append (text, " in use");
  if (row->quota->cohort != NULL)
    {
      QuoitCohortSums sums = quoit_fleet_quota_cohort (fleet, quota);
      g_autofree char *cohort_used = quoit_amount_format ((QuoitAmount) { sums.used_e4 });

      if (row->quota->most >= 0)
        g_string_append_printf (text, " (at most %" G_GINT64_FORMAT ")", row->quota->most);
      g_string_append_printf (text, ", %s of ", cohort_used);
      append_chips (text, sums.nominal_e4);
      g_string_append_printf (text, " of cohort %s", row->quota->cohort);
    }
  return g_string_free (text, FALSE);
}

char *
quoit_quota_describe_limit (const QuoitFleet *fleet, guint quota)
{
  GString *text = g_string_new (quoit_fleet_quota_at (fleet, quota)->quota->name);

  g_string_append (text, ": at most ");
  append_chips (text, quoit_fleet_quota_limit (fleet, quota));
  return g_string_free (text, FALSE);
}

/* --- ends of groups --- */

/* A group that can end, and what one quota and its cohort count of it. */
typedef struct {
  const QuoitGroupData *group;
  gint64 own_e4, cohort_e4;
  gboolean is_chosen;
} Candidate;

static void
list_candidates (const Usage *usage, guint quota, const GPtrArray *chosen, GArray *candidates)
{
  const QuoitFleet *fleet = usage->fleet;
  const QuoitQuota *own = quoit_fleet_quota_at (fleet, quota)->quota;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      Candidate candidate = { .group = quoit_fleet_group_at (fleet, slot) };

      if (candidate.group == NULL || g_ptr_array_find ((GPtrArray *) chosen, candidate.group, NULL))
        continue;
      for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
        if (quoit_quota_shares (own, quoit_fleet_quota_at (fleet, i)->quota))
          candidate.cohort_e4
              += quoit_quota_count (quoit_fleet_quota_at (fleet, i)->quota, fleet->layout, candidate.group);
      if (candidate.cohort_e4 == 0)
        continue;
      candidate.own_e4 = quoit_quota_count (own, fleet->layout, candidate.group);
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

/* Chooses groups until the quota has room for @needed_e4 chips. */
static gboolean
choose_for_quota (Usage *usage, guint quota, gint64 needed_e4, GPtrArray *chosen)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  const QuoitQuota *own = quoit_fleet_quota_at (usage->fleet, quota)->quota;
  gint64 room_e4;

  if (usage_room (usage, quota) >= needed_e4)
    return TRUE;
  list_candidates (usage, quota, chosen, candidates);
  while ((room_e4 = usage_room (usage, quota)) < needed_e4)
    {
      QuoitCohortSums cohort = usage_cohort (usage, quota);
      Candidate *best = NULL;
      gint64 best_gain = 0;

      for (guint c = 0; c < candidates->len; c++)
        {
          Candidate *candidate = &g_array_index (candidates, Candidate, c);
          QuoitCohortSums after = { cohort.nominal_e4, cohort.used_e4 - candidate->cohort_e4 };
          gint64 gain = quoit_quota_room (own, usage->used_e4[quota] - candidate->own_e4, after) - room_e4;

          if (candidate->is_chosen || gain <= 0)
            continue;
          if (best != NULL && !is_better (candidate, gain, best, best_gain, needed_e4 - room_e4))
            continue;
          best = candidate;
          best_gain = gain;
        }
      if (best == NULL)
        return FALSE;
      best->is_chosen = TRUE;
      usage_add (usage, best->group, -1);
      g_ptr_array_add (chosen, (gpointer) best->group);
    }
  return TRUE;
}

static gboolean
admits (const Usage *usage, const QuoitRequest *request, gint64 needed_e4)
{
  for (guint i = 0; i < quoit_fleet_n_quotas (usage->fleet); i++)
    if (counts_slices (quoit_fleet_quota_at (usage->fleet, i)->quota, request) && usage_room (usage, i) < needed_e4)
      return FALSE;
  return TRUE;
}

GPtrArray *
quoit_quota_choose_ends (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices)
{
  const gint64 needed_e4 = (gint64) n_slices * quoit_shape_chips (request->shape) * QUOIT_AMOUNT_UNIT;
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  g_auto (Usage) usage = usage_new (fleet);

  for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
    if (counts_slices (quoit_fleet_quota_at (fleet, i)->quota, request)
        && !choose_for_quota (&usage, i, needed_e4, chosen))
      return NULL;
  /* A later choice can make an earlier one unnecessary. */
  for (guint i = chosen->len; i-- > 0;)
    {
      usage_add (&usage, chosen->pdata[i], 1);
      if (admits (&usage, request, needed_e4))
        g_ptr_array_remove_index (chosen, i);
      else
        usage_add (&usage, chosen->pdata[i], -1);
    }
  return g_steal_pointer (&chosen);
}

gboolean
quoit_quota_admits_after (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, guint n)
{
  g_auto (Usage) usage = { 0 };

  if (quoit_fleet_n_quotas (fleet) == 0)
    return TRUE;
  usage = usage_new (fleet);
  for (guint i = 0; i < n; i++)
    usage_add (&usage, quoit_fleet_group_at (fleet, g_array_index (slots, guint32, i)), -1);
  if (request->bundles->len == 0)
    return admits (&usage, request,
                   (gint64) quoit_request_min_slices (request) * quoit_shape_chips (request->shape)
                       * QUOIT_AMOUNT_UNIT);
  for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
    {
      const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;

      if (has_any_class (quota) && applies (quota, request))
        {
          gint64 needed = count_bundles (quota, fleet, request, NULL);

          if (needed > 0 && usage_room (&usage, i) < needed)
            return FALSE;
        }
    }
  return TRUE;
}

gboolean
quoit_quota_check_ever (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  guint quota = G_MAXUINT;
  g_autofree char *limit = NULL;

  if (request->bundles->len > 0)
    {
      QuoitQuotaBundles admitted = quoit_quota_admit_bundles (fleet, request, NULL);

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
