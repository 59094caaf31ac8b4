/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs groups: replaces their lost and leaving slices, or bundles. */
#include "ledger/ahead.h"
#include "ledger/elastic.h"
#include "placement/ends.h"

#include <string.h>

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
      guint32 index = kept[s] ? QUOIT_NO_INDEX : quoit_layout_group_slice (without->layout, group, s);

      if (index != QUOIT_NO_INDEX && quoit_bits_has (&without->free_slices, index)
          && quoit_candidates_contain (&candidates, without, index))
        recovered[n++] = index;
    }
  quoit_candidates_clear (&candidates);
  return n;
}

/* Returns whether a slice that the group is to leave could be free afterwards: it is intact, and no host is draining.
 */
static gboolean
has_usable_slice (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 index = kept[s] ? QUOIT_NO_INDEX : quoit_layout_group_slice (fleet->layout, group, s);

      if (index != QUOIT_NO_INDEX && quoit_slice_is_free_without_groups (fleet, index))
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
                const QuoitRequest *request, GPtrArray **moved, GError **error)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet), seen = NULL;
  g_autoptr (QuoitGroupData) rest = quoit_elastic_make_group (fleet, group, kept, NULL, 0, request, error),
                             with_recovered = NULL;
  g_autofree guint32 *recovered = g_new (guint32, n_lost + 1);
  g_autofree guint8 *keep_all = NULL;
  guint32 n;

  if (rest == NULL || !replace_on_fork (fork, rest, error))
    return NULL;
  seen = quoit_fleet_seen_until (fork, quoit_group_latest_end (group));
  n = find_recovered (seen != NULL ? seen : fork, group, kept, request, recovered);
  with_recovered = quoit_elastic_make_group (fork, group, kept, recovered, n, request, error);
  if (with_recovered == NULL || n == n_lost)
    return g_steal_pointer (&with_recovered);
  if (!replace_on_fork (fork, with_recovered, error))
    return NULL;
  keep_all = g_malloc (with_recovered->n_slices + 1);
  memset (keep_all, 1, with_recovered->n_slices);
  return quoit_elastic_add_slices (fork, with_recovered, keep_all, n_lost - n, n_lost - n, request, moved, error);
}

/* Returns @group with replacements for its lost slices. Usually none of the slices that it leaves can be used again.
 * The free slices are then the same whether or not the group has left them, and the expensive fork is not needed. */
static QuoitGroupData *
repair_group (const QuoitFleet *fleet, const QuoitGroupData *group, const guint8 *kept, guint32 n_lost,
              QuoitRequest *request, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  const guint32 least = request->min_slices == 0 ? 1 : request->min_slices;
  g_autoptr (GError) failure = NULL;
  QuoitGroupData *after = has_usable_slice (fleet, group, kept)
                              ? repair_on_fork (fleet, group, kept, n_lost, request, moved, &failure)
                              : quoit_elastic_add_slices (fleet, group, kept, n_lost, n_lost, request, moved, &failure);

  if (after != NULL)
    return after;
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  quoit_elastic_refuse_repair (fleet, group, least, request, refusal);
  return NULL;
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
  switch (group->kind)
    {
    case QUOIT_RECORD_BUNDLES:
      after = quoit_step_repair_bundles (fleet, seen != NULL ? seen : fleet, group, &outcome->refusal, error);
      break;
    case QUOIT_RECORD_PARTS:
      after = quoit_step_repair_parts (fleet, group, &outcome->refusal, error);
      break;
    case QUOIT_RECORD_CUBES:
      after = quoit_step_repair_cubes (fleet, group, &outcome->refusal, error);
      break;
    default:
      after = repair_slices (fleet, group, &moved, &outcome->refusal, error);
    }
  outcome->refusal.now_ms = time_ms;
  return after != NULL
         && quoit_elastic_set_outcome (fleet, group, after, moved, QUOIT_VERB_REPAIR, time_ms, entry, outcome);
}

gboolean
quoit_elastic_repeat_repair (const QuoitFleet *fork, const QuoitGroupData *group, guint32 n_slices, gint64 now_ms)
{
  const QuoitGroupRef ref = { group->name, group->id };
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  (void) n_slices;
  return quoit_step_repair (fork, &ref, now_ms, &entry, &outcome, NULL);
}
