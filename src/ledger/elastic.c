/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the slices of a group: resize, and release of one slice. */
#include "ledger/elastic.h"

#include "ledger/ahead.h"
#include "ledger/quotas.h"
#include "placement/shrink.h"

#include <stdlib.h>
#include <string.h>

/* --- groups with other slices --- */

/* A slice of the new group: one of @before, or an added one. */
typedef struct {
  guint32 index;           /* in the layout; the sort key */
  guint32 slice_of_before; /* slice of @before; QUOIT_NO_INDEX: added */
} Member;

static int
by_index (const void *a, const void *b)
{
  const Member *x = a, *y = b;

  if (x->index != y->index)
    return x->index < y->index ? -1 : 1;
  return (x->slice_of_before > y->slice_of_before) - (x->slice_of_before < y->slice_of_before);
}

QuoitGroupData *
quoit_elastic_make_group (const QuoitFleet *fleet, const QuoitGroupData *before, const guint8 *kept,
                          const guint32 *added, guint32 n_added, const QuoitRequest *request, GError **error)
{
  g_autofree Member *members = g_new (Member, before->n_slices + n_added + 1);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  g_autoptr (GPtrArray) made_groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref);
  g_autofree guint32 *ends = g_new (guint32, before->n_slices + n_added + 1);
  QuoitGroupData facts = quoit_group_data_copy_fields (before);
  guint32 n = 0;

  for (guint32 s = 0; s < before->n_slices; s++)
    if (kept[s])
      members[n++] = (Member) { quoit_layout_group_slice (fleet->layout, before, s), s };
  for (guint32 i = 0; i < n_added; i++)
    members[n++] = (Member) { added[i], QUOIT_NO_INDEX };
  qsort (members, n, sizeof *members, by_index);

  for (guint32 m = 0; m < n; m++)
    {
      const QuoitGroupData *from = before;
      guint32 slice = members[m].slice_of_before;

      if (slice == QUOIT_NO_INDEX)
        {
          QuoitGroupData *one = quoit_step_make_slice_group (fleet, before, request, &members[m].index, 1, error);

          if (one == NULL)
            return NULL;
          g_ptr_array_add (made_groups, one);
          from = one;
          slice = 0;
        }
      g_array_append_vals (ids, from->node_ids + quoit_group_first_node (from, slice),
                           from->slice_end[slice] - quoit_group_first_node (from, slice));
      if (from->bundles != NULL)
        g_array_append_vals (bundles, from->bundles + quoit_group_first_node (from, slice),
                             from->slice_end[slice] - quoit_group_first_node (from, slice));
      ends[m] = ids->len;
    }
  /* The request decides whether hosts are divided into bundles, so kept and added slices must not differ in this. */
  if (bundles->len != 0 && bundles->len != ids->len)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "group '%s@%" G_GUINT64_FORMAT "' has %s, but its request is '%s': restore a backup",
                            before->name, before->id, before->bundles == NULL ? "whole hosts" : "bundles",
                            before->request);
  facts.n_slices = n;
  facts.n_nodes = ids->len;
  facts.node_ids = (const guint32 *) ids->data;
  facts.slice_end = ends;
  /* If the group has lost all its slices, no bundle shows how hosts are divided. */
  facts.bundles = bundles->len == 0 ? NULL : (const QuoitBundle *) bundles->data;
  return quoit_group_data_new (&facts);
}

gboolean
quoit_elastic_set_outcome (const QuoitFleet *fleet, const QuoitGroupData *before, QuoitGroupData *after,
                           const GPtrArray *moved, QuoitVerb verb, gint64 time_ms, QuoitEntry **entry,
                           QuoitOutcome *outcome)
{
  outcome->before = quoit_group_data_ref (before);
  outcome->after = after;
  if (after != before)
    {
      *entry = quoit_entry_new (fleet, verb, time_ms);
      quoit_entry_add_moves (*entry, moved);
      quoit_entry_add (*entry,
                       (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_ref (after) });
    }
  return TRUE;
}

const QuoitGroupData *
quoit_elastic_lookup (const QuoitFleet *fleet, const QuoitGroupRef *ref, QuoitRequest **request, GError **error)
{
  const QuoitGroupData *group = quoit_step_lookup_own_group (fleet, ref, error);

  if (group == NULL || !quoit_step_check_has_begun (group, error))
    return NULL;
  if (group->kind == QUOIT_RECORD_BUNDLES)
    {
      quoit_fail (error, QUOIT_ERROR_INVALID,
                  "group '%s@%" G_GUINT64_FORMAT
                  "' has %u bundles, not slices: expected a group of slices; release it, "
                  "and reserve the bundles that you need",
                  group->name, group->id, group->n_nodes);
      return NULL;
    }
  *request = quoit_request_of_group (fleet->layout, group, error);
  return *request == NULL ? NULL : group;
}

/* --- growth --- */

void
quoit_elastic_refuse (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, QuoitRequest *request,
                      QuoitRefusal *refusal)
{
  request->n_slices = n;
  request->min_slices = 0;
  /* The group that the request is to be near to does not matter any more, and its end can be an option. */
  g_clear_pointer (&request->near, g_free);
  quoit_refusal_set (refusal, request);
  quoit_refusal_copy_request (refusal);
  refusal->fleet = quoit_fleet_ref (fleet);
  refusal->seen_until_ms = quoit_group_latest_end (group);
  refusal->end_ms = refusal->seen_until_ms;
  refusal->group_id = group->id;
  refusal->group_name = g_strdup (group->name);
  refusal->repeat = quoit_elastic_repeat_resize;
}

void
quoit_elastic_refuse_repair (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least, QuoitRequest *request,
                             QuoitRefusal *refusal)
{
  quoit_elastic_refuse (fleet, group, group->n_slices, request, refusal);
  refusal->repaired_least = least;
  refusal->repeat = quoit_elastic_repeat_repair;
}

guint32
quoit_elastic_keep_whole (const QuoitFleet *fleet, const QuoitGroupData *group, guint8 *kept)
{
  guint32 n_kept = 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      kept[s] = quoit_fleet_group_slice_state (fleet, group, s) == QUOIT_GROUP_SLICE_WHOLE;
      n_kept += kept[s];
    }
  return n_kept;
}

QuoitFleet *
quoit_elastic_see_without (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitGroupData *rest)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);
  QuoitFleet *seen;

  if (rest == NULL)
    quoit_fork_fleet_release (fork, group);
  else if (rest != group)
    quoit_fleet_replace_group (fork, rest, NULL);
  else
    quoit_group_data_unref (rest);
  seen = quoit_fleet_seen_until (fork, quoit_group_latest_end (group));
  return seen != NULL ? seen : g_steal_pointer (&fork);
}

GArray *
quoit_elastic_list_members (const QuoitLayout *layout, const QuoitGroupData *group, const guint8 *kept,
                            const QuoitRequest *request)
{
  GArray *members;

  if (!quoit_request_has_domains (request))
    return NULL;
  members = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = kept == NULL || kept[s] ? quoit_layout_group_slice (layout, group, s) : QUOIT_NO_INDEX;

      if (slice != QUOIT_NO_INDEX)
        g_array_append_val (members, slice);
    }
  return members;
}

QuoitGroupData *
quoit_elastic_add_slices (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 least,
                          guint32 most, const QuoitRequest *request, GPtrArray **moved, GError **error)
{
  g_autoptr (GArray) members = quoit_elastic_list_members (fleet->layout, group, kept, request);
  QuoitRequest more = *request;
  QuoitGroupData *after = NULL;
  QuoitPlan plan;

  more.members = members;
  more.n_slices = most;
  more.min_slices = least == most ? 0 : least;
  quoit_plan_init (&plan);
  if (quoit_step_choose_slices (fleet, &more, quoit_group_latest_end (group), &plan, moved, NULL, error))
    after = quoit_elastic_make_group (fleet, group, kept, plan.slices, plan.n, request, error);
  quoit_plan_clear (&plan);
  return after;
}

/* Like quoit_elastic_add_slices(), with slices that the caller has chosen. */
static QuoitGroupData *
add_chosen (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, const QuoitPlan *chosen,
            const QuoitRequest *request, GPtrArray **moved, GError **error)
{
  return quoit_step_move_away (fleet, chosen, quoit_group_latest_end (group), moved)
             ? quoit_elastic_make_group (fleet, group, kept, chosen->slices, chosen->n, request, error)
             : NULL;
}

/* --- resize --- */

/* Fails with INVALID. @expected describes the numbers that the group can have. */
static gboolean
fail_n_slices (gint64 least, gint64 most, const char *expected, GError **error)
{
  if (least == most)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slices '%" G_GINT64_FORMAT "': expected %s", most, expected);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "slices '%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT "': expected %s",
                     least, most, expected);
}

gboolean
quoit_elastic_check_n_slices (const QuoitGroupData *group, const QuoitRequest *request, gint64 least, gint64 most,
                              GError **error)
{
  g_autofree char *range = NULL;

  if (least < 1 || most > QUOIT_MAX_SLICES)
    {
      range = g_strdup_printf ("1 to %d; release the group to give up all", QUOIT_MAX_SLICES);
      return fail_n_slices (least, most, range, error);
    }
  if (least > most)
    return fail_n_slices (least, most, "the smaller number first", error);
  if (request->min_slices == 0 || (least >= request->min_slices && most <= request->n_slices))
    return TRUE;
  range
      = g_strdup_printf ("%u to %u, as in the request of group '%s@%" G_GUINT64_FORMAT
                         "'; for another range, release the group and reserve it again with --slices %" G_GINT64_FORMAT
                         "..%" G_GINT64_FORMAT,
                         request->min_slices, request->n_slices, group->name, group->id,
                         MIN (least, request->min_slices), MAX (most, request->n_slices));
  return fail_n_slices (least, most, range, error);
}

/* Returns how many more slices the quotas admit, at most @n. */
static guint32
count_admitted (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, QuoitRequest *request)
{
  if (fleet->quotas == NULL)
    return n;
  quoit_step_set_quota_target (request, group);
  return MIN (n, quoit_quota_admit_slices (fleet, request, NULL).n_now);
}

/* Reservations ahead can have to move for the last slices, and finding out takes long. The numbers are halved until so
 * many are left, and these are tried one after the other, because what is true of a number need not be true of
 * smaller ones if reservations accept different slices. */
enum { MAX_TRIED = 8 };

/* Returns the group with as many slices as possible more than @too_few, up to @most, or NULL. */
static QuoitGroupData *
grow_beyond (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 too_few, guint32 most,
             const QuoitRequest *request, GPtrArray **moved)
{
  g_autoptr (QuoitGroupData) best = NULL;

  for (guint32 n = most; n > too_few;)
    {
      const guint32 tried = n - too_few > MAX_TRIED ? too_few + (n - too_few) / 2 : n;
      g_autoptr (GPtrArray) moved_now = NULL;
      QuoitGroupData *after = quoit_elastic_add_slices (fleet, group, kept, tried, tried, request, &moved_now, NULL);

      if (after == NULL)
        {
          n = tried - 1;
          continue;
        }
      too_few = tried;
      quoit_group_data_unref (best);
      best = after;
      g_clear_pointer (moved, g_ptr_array_unref);
      *moved = g_steal_pointer (&moved_now);
    }
  return g_steal_pointer (&best);
}

/* Returns how many of the slices that @request accepts are free, promised or not; at most @n. */
static guint32
count_free (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n)
{
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;

  if (!quoit_candidates_find (fleet, request, &candidates, NULL))
    return 0;
  quoit_candidates_count (&candidates, fleet, request, &counts);
  quoit_candidates_clear (&candidates);
  return MIN (n, counts.n_free_now);
}

/* Returns the group with as many more slices as possible, @least to @most. Returns NULL without an error if there are
 * too few. */
static QuoitGroupData *
grow_group (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 least, guint32 most,
            const QuoitRequest *request, GPtrArray **moved, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitGroupData) after
      = quoit_elastic_add_slices (fleet, group, kept, least, most, request, moved, &failure);
  QuoitGroupData *larger;

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (least == most || quoit_fleet_n_ahead (fleet) == 0)
    return g_steal_pointer (&after);
  larger = grow_beyond (fleet, group, kept, after == NULL ? least : after->n_slices - group->n_slices,
                        count_free (fleet, request, most), request, moved);
  return larger != NULL ? larger : g_steal_pointer (&after);
}

QuoitGroupData *
quoit_elastic_resize (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least, guint32 most,
                      const QuoitPlan *chosen, QuoitRequest *request, GPtrArray **moved, QuoitRefusal *refusal,
                      GError **error)
{
  const guint32 n_now = group->n_slices, n_least = MAX (least, n_now + 1);
  g_autofree guint8 *kept = g_malloc (n_now + 1);
  g_autoptr (GError) failure = NULL;
  QuoitGroupData *after = NULL;
  guint32 n_admitted;

  if (group->kind == QUOIT_RECORD_PARTS)
    return quoit_step_resize_parts (fleet, group, least, most, request, refusal, error);
  if (group->kind == QUOIT_RECORD_CUBES)
    return quoit_step_resize_cubes (fleet, group, least, most, request, refusal, error);
  quoit_group_choose_dropped (fleet, group, most < n_now ? n_now - most : 0, kept);
  if (most == n_now)
    return quoit_group_data_ref (group);
  if (most < n_now)
    return quoit_elastic_make_group (fleet, group, kept, NULL, 0, request, error);
  n_admitted = count_admitted (fleet, group, most - n_now, request);
  if (n_admitted >= n_least - n_now)
    after = chosen != NULL ? add_chosen (fleet, group, kept, chosen, request, moved, &failure)
                           : grow_group (fleet, group, kept, n_least - n_now, n_admitted, request, moved, &failure);
  if (after != NULL)
    return after;
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (least <= n_now)
    return quoit_group_data_ref (group);
  quoit_elastic_refuse (fleet, group, least, request, refusal);
  return NULL;
}

gboolean
quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  const gint64 least = resize->between ? resize->least : resize->n_slices;
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *after;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_elastic_lookup (fleet, &resize->ref, &request, error);
  if (group == NULL || !quoit_elastic_check_n_slices (group, request, least, resize->n_slices, error))
    return FALSE;
  after = quoit_elastic_resize (fleet, group, (guint32) least, (guint32) resize->n_slices, resize->chosen, request,
                                &moved, &outcome->refusal, error);
  outcome->refusal.now_ms = time_ms;
  return after != NULL
         && quoit_elastic_set_outcome (fleet, group, after, moved, QUOIT_VERB_RESIZE, time_ms, entry, outcome);
}

gboolean
quoit_elastic_repeat_resize (const QuoitFleet *fork, const QuoitGroupData *group, guint32 n_slices, gint64 now_ms)
{
  const QuoitResize resize = { .ref = { group->name, group->id }, .n_slices = n_slices };
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_step_resize (fork, &resize, now_ms, &entry, &outcome, NULL);
}

/* --- release of one slice --- */

gboolean
quoit_step_release_slice (const QuoitFleet *fleet, const QuoitSliceRelease *release, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autofree guint8 *kept = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *after;
  QuoitSliceId slice = { QUOIT_NO_INDEX };
  gboolean is_id = FALSE;
  guint64 id = 0;
  guint32 n_kept = 0;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_elastic_lookup (fleet, &release->ref, &request, error);
  if (group == NULL)
    return FALSE;
  if (group->kind == QUOIT_RECORD_PARTS || group->kind == QUOIT_RECORD_CUBES)
    is_id = g_ascii_string_to_unsigned (release->slice, 10, 0, group->n_slices - 1, &id, NULL);
  if (!is_id && !quoit_layout_lookup_slice (fleet->layout, release->slice, &slice, error))
    return FALSE;
  kept = g_malloc (group->n_slices + 1);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      kept[s] = is_id ? s != id : quoit_layout_group_slice (fleet->layout, group, s) != slice.index;
      n_kept += kept[s];
    }
  if (group->kind == QUOIT_RECORD_PARTS && n_kept + 1 < group->n_slices)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group '%s@%" G_GUINT64_FORMAT "' has %u parts in slice '%s': expected the slice id of one of "
                       "them, 0 to %u",
                       group->name, group->id, group->n_slices - n_kept, release->slice, group->n_slices - 1);
  if (n_kept == group->n_slices)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "group '%s@%" G_GUINT64_FORMAT "' has no slice '%s'", group->name,
                       group->id, release->slice);
  if (n_kept > 0)
    {
      after = quoit_elastic_make_group (fleet, group, kept, NULL, 0, request, error);
      return after != NULL
             && quoit_elastic_set_outcome (fleet, group, after, NULL, QUOIT_VERB_RELEASE, time_ms, entry, outcome);
    }

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, time_ms);
  quoit_entry_add (*entry, quoit_effect_removal (group, QUOIT_END_RELEASED));
  outcome->before = quoit_group_data_ref (group);
  return TRUE;
}
