/* SPDX-License-Identifier: Apache-2.0 */
/* Other slices for a group that stays: fewer, more, or in the place of lost ones. Slices always stand in natural order,
 * so that the numbering hangs on what a group has, and not on how it came to it. */
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

/* --- a group of other slices --- */

/* A slice of the group in the making: one that it has (part of @before), or one that is taken now. */
typedef struct {
  guint32 index;     /* in the layout: what they are sorted by */
  guint32 of_before; /* QUOIT_NO_INDEX: a new one */
} Member;

static guint32
first_of (const QuoitGroupData *group, guint32 slice)
{
  return slice == 0 ? 0 : group->slice_end[slice - 1];
}

/* Nodes that are gone from the fleet leave the slice its place at the end. */
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

/* @kept: a byte a slice of @before; @added: slices of the layout. */
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
  /* What has lost all of its slices has no bundle that would tell how it is divided. */
  facts.bundles = bundles->len == 0 ? NULL : (const QuoitBundle *) bundles->data;
  return quoit_group_data_new (&facts);
}

/* Takes @after. */
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

/* Names of slices that have gone since the group was asked for say nothing any more. @least of them stay, so that what
 * was to be some of those that are gone does not become any. */
static void
drop_gone (const QuoitLayout *layout, GPtrArray *names, guint least)
{
  for (guint i = names->len; i-- > 0 && names->len > least;)
    {
      g_autoptr (GError) why = NULL;
      QuoitSliceId slice;

      /* A name that has become ambiguous has not gone: whoever uses it is told. */
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

/* The group, if it is one of whole slices that a caller of this ledger made. */
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

/* Lost ones first, then leaving ones, then from the last on. */
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

/* @group with @n more slices of what its request describes. A refusal is explained as if the group had released the
 * slices that it has: they count for the request, and releasing the group is no remedy. */
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

/* The slices of the layout where lost ones of the group stood, and which are whole, free without it, and still what it
 * asked for: a host, or all of them, came back as new nodes. That it named others to begin with is no hindrance. */
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

/* Only what is whole can be free once the group has let go of it. */
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

/* @group with others for its lost slices, where these are what they were without it. */
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

/* Mostly no lost slice can be had again, so that what is free is free with the group on its nodes too, and a fork would
 * cost more than all else. A refusal must know of it: it counts what the group gives up. */
static QuoitGroupData *
repaired (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
          QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  QuoitGroupData *after
      = may_recover (fleet, group, kept) ? NULL : grown (fleet, group, kept, n_lost, request, NULL, NULL);

  return after != NULL ? after : repaired_on_fork (fleet, group, kept, n_lost, request, refusal, error);
}

/* @group itself where nothing of it is lost or leaving. */
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

/* --- one slice less, a named one --- */

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
