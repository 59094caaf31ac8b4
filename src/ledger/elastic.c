/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the slices of a group: resize, repair, and release of one slice. Slices are always in natural order, so
 * that their numbers depend on the slices of the group and not on its history. */
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

/* --- groups with other slices --- */

/* A slice of the new group: one of @before, or an added one. */
typedef struct {
  guint32 index;     /* in the layout; the sort key */
  guint32 of_before; /* slice of @before; QUOIT_NO_INDEX: added */
} Member;

static guint32
first_of (const QuoitGroupData *group, guint32 slice)
{
  return slice == 0 ? 0 : group->slice_end[slice - 1];
}

/* Returns the index of the slice in the layout. Returns QUOIT_NO_INDEX, which sorts last, if its first node is no
 * longer in the fleet. */
static guint32
place_of (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice)
{
  guint32 id = group->node_ids[first_of (group, slice)];
  guint32 index = quoit_layout_find_id (layout, id);

  return index == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[index].slice;
}

static int
by_index (const void *a, const void *b)
{
  const Member *x = a, *y = b;

  if (x->index != y->index)
    return x->index < y->index ? -1 : 1;
  return (x->of_before > y->of_before) - (x->of_before < y->of_before);
}

/* @kept: one byte per slice of @before. @added: slice indices in the layout. */
static QuoitGroupData *
group_of (const QuoitFleet *fleet, const QuoitGroupData *before, const guint8 *kept, const guint32 *added,
          guint32 n_added, const QuoitRequest *request, GError **error)
{
  g_autofree Member *members = g_new (Member, before->n_slices + n_added + 1);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref);
  g_autofree guint32 *ends = g_new (guint32, before->n_slices + n_added + 1);
  QuoitGroupData facts = quoit_group_data_facts (before);
  guint32 n = 0;

  for (guint32 s = 0; s < before->n_slices; s++)
    if (kept[s])
      members[n++] = (Member) { place_of (fleet->layout, before, s), s };
  for (guint32 i = 0; i < n_added; i++)
    members[n++] = (Member) { added[i], QUOIT_NO_INDEX };
  qsort (members, n, sizeof *members, by_index);

  for (guint32 m = 0; m < n; m++)
    {
      const QuoitGroupData *from = before;
      guint32 slice = members[m].of_before;

      if (slice == QUOIT_NO_INDEX)
        {
          from = quoit_step_group_of_slices (fleet, before, request, &members[m].index, 1, error);
          if (from == NULL)
            return NULL;
          g_ptr_array_add (made, (gpointer) from);
          slice = 0;
        }
      g_array_append_vals (ids, from->node_ids + first_of (from, slice),
                           from->slice_end[slice] - first_of (from, slice));
      if (from->bundles != NULL)
        g_array_append_vals (bundles, from->bundles + first_of (from, slice),
                             from->slice_end[slice] - first_of (from, slice));
      ends[m] = ids->len;
    }
  if (bundles->len != 0 && bundles->len != ids->len)
    return quoit_fail_null (
        error, QUOIT_ERROR_DAMAGED,
        "group '%s@%" G_GUINT64_FORMAT "' has %s, which is not what '%s' asks for: restore a backup", before->name,
        before->id, before->bundles == NULL ? "whole hosts" : "bundles", before->request);
  facts.n_slices = n;
  facts.n_nodes = ids->len;
  facts.node_ids = (const guint32 *) ids->data;
  facts.slice_end = ends;
  /* If the group has lost all its slices, no bundle shows how hosts are divided. */
  facts.bundles = bundles->len == 0 ? NULL : (const QuoitBundle *) bundles->data;
  return quoit_group_data_new (&facts);
}

/* Takes the reference to @after, unless it equals @before. */
static gboolean
answer (const QuoitFleet *fleet, const QuoitGroupData *before, QuoitGroupData *after, QuoitVerb verb, gint64 time_ms,
        QuoitEntry **entry, QuoitOutcome *outcome)
{
  outcome->before = quoit_group_data_ref (before);
  outcome->after = after == before ? quoit_group_data_ref (before) : after;
  if (after != before)
    {
      *entry = quoit_entry_new (fleet, verb, time_ms);
      quoit_entry_add (*entry,
                       (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_ref (after) });
    }
  return TRUE;
}

/* Removes names of slices that no longer exist. Keeps at least @least names, because an empty list means any slice. */
static void
drop_gone (const QuoitLayout *layout, GPtrArray *names, guint least)
{
  for (guint i = names->len; i-- > 0 && names->len > least;)
    {
      g_autoptr (GError) why = NULL;
      QuoitSliceId slice;

      /* Ambiguous names stay, so that the request fails later with a message. */
      if (!quoit_layout_lookup_slice (layout, names->pdata[i], &slice, &why)
          && g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
        g_ptr_array_remove_index (names, i);
    }
}

QuoitRequest *
quoit_step_request_of (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  QuoitRequest *request = quoit_request_of_canonical (group->request, error);
  QuoitNodeId node;

  if (request == NULL)
    return NULL;
  drop_gone (fleet->layout, request->excluded, 0);
  drop_gone (fleet->layout, request->slices, 1);
  if (request->soft_target != NULL && !quoit_layout_lookup_node (fleet->layout, request->soft_target, &node, NULL))
    g_clear_pointer (&request->soft_target, g_free);
  return request;
}

/* Returns the group if it is a group of slices that a caller of this ledger made. */
static const QuoitGroupData *
lookup_elastic (const QuoitFleet *fleet, const QuoitGroupRef *ref, QuoitRequest **request, GError **error)
{
  const QuoitGroupData *group = quoit_step_lookup_own_group (fleet, ref, error);

  if (group == NULL)
    return NULL;
  if (group->kind == QUOIT_HOLDER_BUNDLES)
    {
      quoit_fail (error, QUOIT_ERROR_INVALID,
                  "group '%s@%" G_GUINT64_FORMAT
                  "' has %u bundles, not slices: expected a group of slices; release it, "
                  "and reserve the bundles that are wanted",
                  group->name, group->id, group->n_nodes);
      return NULL;
    }
  *request = quoit_step_request_of (fleet, group, error);
  return *request == NULL ? NULL : group;
}

/* --- resize --- */

/* Clears @kept for @n slices: first lost ones, then leaving ones, then whole ones, each from the last slice
 * backwards. */
static void
choose_leavers (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, guint8 *kept)
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

/* Returns @group with @n more slices that match its request. The refusal counts the slices of the group as part of
 * the request, and does not suggest releasing the group. */
static QuoitGroupData *
grown (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n, QuoitRequest *request,
       QuoitRefusal *refusal, GError **error)
{
  QuoitGroupData *after = NULL;
  QuoitPlan plan;

  request->n_slices = n;
  request->least_slices = 0;
  quoit_plan_init (&plan);
  if (quoit_plan_slices (fleet, request, &plan, NULL, error))
    after = group_of (fleet, group, kept, plan.slices, plan.n, request, error);
  else if (refusal != NULL && (error == NULL || *error == NULL))
    {
      request->n_slices = group->n_slices + n;
      quoit_refusal_set (refusal, request);
      refusal->fleet = quoit_fleet_ref (fleet);
      refusal->group_id = group->id;
      refusal->group_name = g_strdup (group->name);
    }
  quoit_plan_clear (&plan);
  return after;
}

static gboolean
number_is_allowed (const QuoitGroupData *group, const QuoitRequest *request, gint64 n, GError **error)
{
  if (n < 1 || n > QUOIT_MOST_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slices '%" G_GINT64_FORMAT "': expected 1 to %d; release the group to give up all", n,
                       QUOIT_MOST_SLICES);
  return request->least_slices == 0 || (n >= request->least_slices && n <= request->n_slices)
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "slices '%" G_GINT64_FORMAT "': expected %u to %u, as group '%s@%" G_GUINT64_FORMAT
                        "' was asked for",
                        n, request->least_slices, request->n_slices, group->name, group->id);
}

gboolean
quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  g_autofree guint8 *kept = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *after;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = lookup_elastic (fleet, &resize->ref, &request, error);
  if (group == NULL || !number_is_allowed (group, request, resize->n_slices, error))
    return FALSE;
  if (resize->n_slices == group->n_slices)
    return answer (fleet, group, (QuoitGroupData *) group, QUOIT_VERB_RESIZE, time_ms, entry, outcome);

  kept = g_malloc (group->n_slices + 1);
  choose_leavers (fleet, group, resize->n_slices < group->n_slices ? group->n_slices - (guint32) resize->n_slices : 0,
                  kept);
  after = resize->n_slices < group->n_slices ? group_of (fleet, group, kept, NULL, 0, request, error)
                                             : grown (fleet, group, kept, (guint32) resize->n_slices - group->n_slices,
                                                      request, &outcome->refusal, error);
  return after != NULL && answer (fleet, group, after, QUOIT_VERB_RESIZE, time_ms, entry, outcome);
}

/* --- repair --- */

/* Finds slices of the layout in which lost slices of the group were, and which are whole again, free without the
 * group, and still match its request, because hosts came back as new nodes. The names in the request do not matter. */
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
      guint32 index = kept[s] ? QUOIT_NO_INDEX : place_of (without->layout, group, s);

      if (index != QUOIT_NO_INDEX && quoit_bits_has (&without->free_slices, index)
          && quoit_candidates_have (&candidates, without, index))
        recovered[n++] = index;
    }
  quoit_candidates_clear (&candidates);
  return n;
}

/* Whether a lost slice of the group is intact again. Only an intact slice can become free when the group leaves it. */
static gboolean
may_recover (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 index = kept[s] ? QUOIT_NO_INDEX : place_of (fleet->layout, group, s);

      if (index != QUOIT_NO_INDEX
          && (quoit_fleet_slice_status (fleet, (QuoitSliceId) { index })->flags & QUOIT_SLICE_INTACT) != 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
replace_on (QuoitFleet *fork, QuoitGroupData *group, GError **error)
{
  return quoit_fleet_replace_group (fork, quoit_group_data_ref (group), error);
}

/* Returns @group with replacements for its lost slices. Prefers the lost slices themselves if they are whole again. */
static QuoitGroupData *
repaired_on_fork (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
                  QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);
  g_autoptr (QuoitGroupData) rest = group_of (fleet, group, kept, NULL, 0, request, error), partly = NULL;
  g_autofree guint32 *recovered = g_new (guint32, n_lost + 1);
  g_autofree guint8 *all = NULL;
  guint32 n;

  if (rest == NULL || !replace_on (fork, rest, error))
    return NULL;
  n = find_recovered (fork, group, kept, request, recovered);
  partly = group_of (fork, group, kept, recovered, n, request, error);
  if (partly == NULL || n == n_lost)
    return g_steal_pointer (&partly);
  if (!replace_on (fork, partly, error))
    return NULL;
  all = g_malloc (partly->n_slices + 1);
  memset (all, 1, partly->n_slices);
  return grown (fork, partly, all, n_lost - n, request, refusal, error);
}

/* Usually no lost slice is whole again. The free slices are then the same with the group on its nodes, and the
 * expensive fork is not needed. A refusal needs the fork, because it counts the slices that the group gives up. */
static QuoitGroupData *
repaired (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
          QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  QuoitGroupData *after
      = may_recover (fleet, group, kept) ? NULL : grown (fleet, group, kept, n_lost, request, NULL, NULL);

  return after != NULL ? after : repaired_on_fork (fleet, group, kept, n_lost, request, refusal, error);
}

/* Returns @group itself if none of its slices is lost or leaving. */
static QuoitGroupData *
repaired_slices (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_step_request_of (fleet, group, error);
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
  return n_lost == 0 ? (QuoitGroupData *) group : repaired (fleet, group, kept, n_lost, request, refusal, error);
}

gboolean
quoit_step_repair (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  const QuoitGroupData *group;
  QuoitGroupData *after;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_step_lookup_own_group (fleet, ref, error);
  if (group == NULL)
    return FALSE;
  after = group->kind == QUOIT_HOLDER_BUNDLES ? quoit_step_repaired_bundles (fleet, group, &outcome->refusal, error)
                                              : repaired_slices (fleet, group, &outcome->refusal, error);
  return after != NULL && answer (fleet, group, after, QUOIT_VERB_REPAIR, time_ms, entry, outcome);
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
      kept[s] = place_of (fleet->layout, group, s) != slice.index;
      n_kept += kept[s];
    }
  if (n_kept == group->n_slices)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "group '%s@%" G_GUINT64_FORMAT "' has no slice '%s'", group->name,
                       group->id, release->slice);
  if (n_kept > 0)
    {
      after = group_of (fleet, group, kept, NULL, 0, request, error);
      return after != NULL && answer (fleet, group, after, QUOIT_VERB_RELEASE, time_ms, entry, outcome);
    }

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, time_ms);
  quoit_entry_add (*entry, quoit_effect_removal (group, QUOIT_END_RELEASED));
  outcome->before = quoit_group_data_ref (group);
  return TRUE;
}
