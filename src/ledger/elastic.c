/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the slices of a group: resize, repair, and release of one slice. The slices of a group are always in natural
 * order, so that their indices depend only on which slices the group has, and not on its history. */
#include "ledger/ahead.h"
#include "ledger/quotas.h"

#include <stdlib.h>
#include <string.h>

/* --- groups with other slices --- */

/* A slice of the new group: one of @before, or an added one. */
typedef struct {
  guint32 index;           /* in the layout; the sort key */
  guint32 slice_of_before; /* slice of @before; QUOIT_NO_INDEX: added */
} Member;

static guint32
first_member (const QuoitGroupData *group, guint32 slice)
{
  return slice == 0 ? 0 : group->slice_end[slice - 1];
}

/* Returns the index of the slice in the layout. Returns QUOIT_NO_INDEX, which sorts last, if its first node is no
 * longer in the fleet. */
static guint32
slice_index (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice)
{
  guint32 id = group->node_ids[first_member (group, slice)];
  guint32 index = quoit_layout_find_id (layout, id);

  return index == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[index].slice;
}

static int
by_index (const void *a, const void *b)
{
  const Member *x = a, *y = b;

  if (x->index != y->index)
    return x->index < y->index ? -1 : 1;
  return (x->slice_of_before > y->slice_of_before) - (x->slice_of_before < y->slice_of_before);
}

/* Returns @before with only the slices that are set in @kept (one byte per slice), and with the slices @added (indices
 * in the layout). */
static QuoitGroupData *
make_group (const QuoitFleet *fleet, const QuoitGroupData *before, const guint8 *kept, const guint32 *added,
            guint32 n_added, const QuoitRequest *request, GError **error)
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
      members[n++] = (Member) { slice_index (fleet->layout, before, s), s };
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
      g_array_append_vals (ids, from->node_ids + first_member (from, slice),
                           from->slice_end[slice] - first_member (from, slice));
      if (from->bundles != NULL)
        g_array_append_vals (bundles, from->bundles + first_member (from, slice),
                             from->slice_end[slice] - first_member (from, slice));
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

/* Sets the outcome, and makes the entry unless @after is @before itself. Takes the reference to @after. @moved:
 * reservations ahead that get other slices, or NULL. */
static gboolean
set_outcome (const QuoitFleet *fleet, const QuoitGroupData *before, QuoitGroupData *after, const GPtrArray *moved,
             QuoitVerb verb, gint64 time_ms, QuoitEntry **entry, QuoitOutcome *outcome)
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

/* Returns the group if it is a group of slices that a caller of this ledger made. */
static const QuoitGroupData *
lookup_elastic (const QuoitFleet *fleet, const QuoitGroupRef *ref, QuoitRequest **request, GError **error)
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

/* --- resize --- */

/* Chooses the @n slices that the group gives up, and clears their bytes in @kept: first lost ones, then leaving ones,
 * then whole ones, each from the last slice backwards. */
static void
choose_dropped_slices (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, guint8 *kept)
{
  static const QuoitGroupSliceState order[]
      = { QUOIT_GROUP_SLICE_LOST, QUOIT_GROUP_SLICE_LEAVING, QUOIT_GROUP_SLICE_WHOLE };

  memset (kept, 1, group->n_slices);
  for (gsize o = 0; o < G_N_ELEMENTS (order); o++)
    for (guint32 s = group->n_slices; s-- > 0 && n > 0;)
      if (kept[s] && quoit_fleet_group_slice_state (fleet, group, s) == order[o])
        {
          kept[s] = 0;
          n--;
        }
}

/* Records that the group cannot have @n slices. The report is about all of them. */
static void
refuse_growth (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, QuoitRequest *request,
               QuoitRefusal *refusal)
{
  request->n_slices = n;
  request->min_slices = 0;
  quoit_refusal_set (refusal, request);
  quoit_refusal_copy_request (refusal);
  refusal->fleet = quoit_fleet_ref (fleet);
  refusal->seen_until_ms = quoit_group_latest_end (group);
  refusal->group_id = group->id;
  refusal->group_name = g_strdup (group->name);
}

/* Returns @group with the slices in @kept and @n more slices that match its request, which are @chosen or NULL. The
 * report on a refusal is about the whole request, including the slices that the group has, and does not suggest
 * releasing the group itself. */
static QuoitGroupData *
grow_group (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n, QuoitRequest *request,
            const QuoitPlan *chosen, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  const gint64 end_ms = quoit_group_latest_end (group);
  QuoitGroupData *after = NULL;
  QuoitPlan plan;

  if (chosen != NULL)
    return quoit_step_move_away (fleet, chosen, end_ms, moved)
               ? make_group (fleet, group, kept, chosen->slices, chosen->n, request, error)
               : NULL;
  request->n_slices = n;
  request->min_slices = 0;
  quoit_plan_init (&plan);
  if (quoit_step_choose_slices (fleet, request, end_ms, &plan, moved, NULL, error))
    after = make_group (fleet, group, kept, plan.slices, plan.n, request, error);
  else if (refusal != NULL && (error == NULL || *error == NULL))
    refuse_growth (fleet, group, group->n_slices + n, request, refusal);
  quoit_plan_clear (&plan);
  return after;
}

static gboolean
check_n_slices (const QuoitGroupData *group, const QuoitRequest *request, gint64 n, GError **error)
{
  if (n < 1 || n > QUOIT_MAX_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slices '%" G_GINT64_FORMAT "': expected 1 to %d; release the group to give up all", n,
                       QUOIT_MAX_SLICES);
  return request->min_slices == 0 || (n >= request->min_slices && n <= request->n_slices)
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "slices '%" G_GINT64_FORMAT
                        "': expected %u to %u, as in the request of group '%s@%" G_GUINT64_FORMAT "'",
                        n, request->min_slices, request->n_slices, group->name, group->id);
}

/* Returns whether the quotas admit that the group grows to @n slices. */
static gboolean
admits_growth (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, QuoitRequest *request)
{
  if (fleet->quotas == NULL)
    return TRUE;
  quoit_step_set_quota_target (request, group);
  return quoit_quota_admit_slices (fleet, request, NULL).n_now >= n - group->n_slices;
}

gboolean
quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  g_autofree guint8 *kept = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *after;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = lookup_elastic (fleet, &resize->ref, &request, error);
  if (group == NULL || !check_n_slices (group, request, resize->n_slices, error))
    return FALSE;
  if (resize->n_slices == group->n_slices)
    return set_outcome (fleet, group, quoit_group_data_ref (group), NULL, QUOIT_VERB_RESIZE, time_ms, entry, outcome);

  if (resize->n_slices > group->n_slices && !admits_growth (fleet, group, (guint32) resize->n_slices, request))
    return refuse_growth (fleet, group, (guint32) resize->n_slices, request, &outcome->refusal), FALSE;
  kept = g_malloc (group->n_slices + 1);
  choose_dropped_slices (fleet, group,
                         resize->n_slices < group->n_slices ? group->n_slices - (guint32) resize->n_slices : 0, kept);
  after = resize->n_slices < group->n_slices
              ? make_group (fleet, group, kept, NULL, 0, request, error)
              : grow_group (fleet, group, kept, (guint32) resize->n_slices - group->n_slices, request, resize->chosen,
                            &moved, &outcome->refusal, error);
  return after != NULL && set_outcome (fleet, group, after, moved, QUOIT_VERB_RESIZE, time_ms, entry, outcome);
}

/* --- repair --- */

/* Finds the lost slices of the group that it can use again, because their hosts came back as new nodes: they are
 * intact and free in @without, the fleet without the lost parts of the group, and match its request. Requested names
 * of slices do not matter, because the group had these slices before. Writes their indices in the layout to
 * @recovered. */
static guint32
find_recovered (const QuoitFleet *without, const QuoitGroupData *group, const guint8 *kept, const QuoitRequest *request,
                guint32 *recovered)
{
  g_autoptr (GPtrArray) no_names = g_ptr_array_new ();
  QuoitRequest anywhere = *request;
  QuoitCandidates candidates;
  guint32 n = 0;

  anywhere.slices = no_names;
  if (!quoit_candidates_find (without, &anywhere, &candidates, NULL))
    return 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 index = kept[s] ? QUOIT_NO_INDEX : slice_index (without->layout, group, s);

      if (index != QUOIT_NO_INDEX && quoit_bits_has (&without->free_slices, index)
          && quoit_candidates_contain (&candidates, without, index))
        recovered[n++] = index;
    }
  quoit_candidates_clear (&candidates);
  return n;
}

/* Returns whether a lost slice of the group is intact again. Only an intact slice can be free after the group has left
 * it. */
static gboolean
has_intact_slice (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 index = kept[s] ? QUOIT_NO_INDEX : slice_index (fleet->layout, group, s);

      if (index != QUOIT_NO_INDEX
          && quoit_condition_health (quoit_fleet_slice_status (fleet, (QuoitSliceId) { index })->condition)
                 == QUOIT_SLICE_IS_INTACT)
        return TRUE;
    }
  return FALSE;
}

static gboolean
replace_on_fork (QuoitFleet *fork, QuoitGroupData *group, GError **error)
{
  return quoit_fleet_replace_group (fork, quoit_group_data_ref (group), error);
}

/* Returns @group with replacements for its lost slices. Prefers the lost slices themselves if they are intact again. */
static QuoitGroupData *
repair_on_fork (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
                QuoitRequest *request, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet), seen = NULL;
  g_autoptr (QuoitGroupData) rest = make_group (fleet, group, kept, NULL, 0, request, error), with_recovered = NULL;
  g_autofree guint32 *recovered = g_new (guint32, n_lost + 1);
  g_autofree guint8 *keep_all = NULL;
  guint32 n;

  if (rest == NULL || !replace_on_fork (fork, rest, error))
    return NULL;
  /* Quotas do not decide about what the group has had already. */
  quoit_fleet_drop_quotas (fork);
  seen = quoit_fleet_seen_until (fork, quoit_group_latest_end (group));
  n = find_recovered (seen != NULL ? seen : fork, group, kept, request, recovered);
  with_recovered = make_group (fork, group, kept, recovered, n, request, error);
  if (with_recovered == NULL || n == n_lost)
    return g_steal_pointer (&with_recovered);
  if (!replace_on_fork (fork, with_recovered, error))
    return NULL;
  keep_all = g_malloc (with_recovered->n_slices + 1);
  memset (keep_all, 1, with_recovered->n_slices);
  return grow_group (fork, with_recovered, keep_all, n_lost - n, request, NULL, moved, refusal, error);
}

/* Returns @group with replacements for its lost slices. Usually no lost slice is intact again. The free slices are
 * then the same whether or not the group has left its lost slices, and the expensive fork is not needed. A refusal
 * needs the fork, because its report counts what the group gives up. */
static QuoitGroupData *
repair_group (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
              QuoitRequest *request, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  QuoitGroupData *after = has_intact_slice (fleet, group, kept)
                              ? NULL
                              : grow_group (fleet, group, kept, n_lost, request, NULL, moved, NULL, NULL);

  return after != NULL ? after : repair_on_fork (fleet, group, kept, n_lost, request, moved, refusal, error);
}

/* Returns @group with replacements for its lost and leaving slices, or a reference to @group itself if it has none. */
static QuoitGroupData *
repair_slices (const QuoitFleet *fleet, const QuoitGroupData *group, GPtrArray **moved, QuoitRefusal *refusal,
               GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);
  g_autofree guint8 *kept = NULL;
  guint32 n_lost = 0;

  if (request == NULL)
    return NULL;
  kept = g_malloc (group->n_slices + 1);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      kept[s] = quoit_fleet_group_slice_state (fleet, group, s) == QUOIT_GROUP_SLICE_WHOLE;
      n_lost += !kept[s];
    }
  return n_lost == 0 ? quoit_group_data_ref (group)
                     : repair_group (fleet, group, kept, n_lost, request, moved, refusal, error);
}

gboolean
quoit_step_repair (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  g_autoptr (GPtrArray) moved = NULL;
  g_autoptr (QuoitFleet) seen = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *after;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_step_lookup_own_group (fleet, ref, error);
  if (group == NULL || !quoit_step_check_has_begun (group, error))
    return FALSE;
  if (group->kind == QUOIT_RECORD_BUNDLES)
    seen = quoit_fleet_seen_until (fleet, quoit_group_latest_end (group));
  after = group->kind == QUOIT_RECORD_BUNDLES
              ? quoit_step_repair_bundles (fleet, seen != NULL ? seen : fleet, group, &outcome->refusal, error)
              : repair_slices (fleet, group, &moved, &outcome->refusal, error);
  return after != NULL && set_outcome (fleet, group, after, moved, QUOIT_VERB_REPAIR, time_ms, entry, outcome);
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
  guint32 n_kept = 0;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = lookup_elastic (fleet, &release->ref, &request, error);
  if (group == NULL || !quoit_layout_lookup_slice (fleet->layout, release->slice, &slice, error))
    return FALSE;
  kept = g_malloc (group->n_slices + 1);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      kept[s] = slice_index (fleet->layout, group, s) != slice.index;
      n_kept += kept[s];
    }
  if (n_kept == group->n_slices)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "group '%s@%" G_GUINT64_FORMAT "' has no slice '%s'", group->name,
                       group->id, release->slice);
  if (n_kept > 0)
    {
      after = make_group (fleet, group, kept, NULL, 0, request, error);
      return after != NULL && set_outcome (fleet, group, after, NULL, QUOIT_VERB_RELEASE, time_ms, entry, outcome);
    }

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, time_ms);
  quoit_entry_add (*entry, quoit_effect_removal (group, QUOIT_END_RELEASED));
  outcome->before = quoit_group_data_ref (group);
  return TRUE;
}
