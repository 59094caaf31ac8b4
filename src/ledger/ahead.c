/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ahead.h"

#include "base/time.h"
#include "placement/rows.h"

/* --- moves --- */

/* Returns the reservation of @move with its new slices, or NULL. */
static QuoitGroupData *
make_moved (const QuoitFleet *fleet, const QuoitAheadMove *move)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, move->group, NULL);

  return request == NULL ? NULL
                         : quoit_step_make_slice_group (fleet, move->group, request,
                                                        (const guint32 *) (const void *) move->slices->data,
                                                        move->slices->len, NULL);
}

/* Searches for moves, and returns the moved groups, or NULL if there are none. Sets *@new_slices (or NULL) to the
 * slices of a new reservation. Returns FALSE if no way was found. */
static gboolean
find_moves (const QuoitFleet *fleet, const QuoitAheadAddition *addition, GPtrArray **moved, QuoitPlan *new_slices)
{
  g_autoptr (GArray) moves = quoit_ahead_move (fleet, addition);
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref);

  if (moves == NULL)
    return FALSE;
  if (new_slices != NULL)
    new_slices->n = 0;
  for (guint i = 0; i < moves->len; i++)
    {
      const QuoitAheadMove *move = &g_array_index (moves, QuoitAheadMove, i);
      QuoitGroupData *group;

      if (move->group == NULL)
        {
          for (guint s = 0; new_slices != NULL && s < move->slices->len; s++)
            quoit_plan_append (new_slices, g_array_index (move->slices, guint32, s));
          continue;
        }
      group = make_moved (fleet, move);
      if (group == NULL)
        return FALSE;
      g_ptr_array_add (groups, group);
    }
  *moved = groups->len == 0 ? NULL : g_steal_pointer (&groups);
  return TRUE;
}

gboolean
quoit_step_move_away (const QuoitFleet *fleet, const QuoitPlan *slices, gint64 end_ms, GPtrArray **moved)
{
  const QuoitAheadAddition addition = { .taken = slices, .taken_until_ms = end_ms };

  *moved = NULL;
  return quoit_fleet_n_ahead (fleet) == 0 || quoit_fleet_ahead_at (fleet, 0)->begins_ms >= end_ms
         || find_moves (fleet, &addition, moved, NULL);
}

void
quoit_entry_add_moves (QuoitEntry *entry, const GPtrArray *moved)
{
  for (guint i = 0; moved != NULL && i < moved->len; i++)
    quoit_entry_add (
        entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_ref (moved->pdata[i]) });
}

/* --- choosing slices --- */

/* Chooses slices that are not promised. Returns FALSE without an error if there are too few. */
static gboolean
choose_unpromised (const QuoitFleet *fleet, const QuoitRequest *request, gint64 end_ms, QuoitPlan *plan, GError **error)
{
  QuoitCandidates candidates;
  gboolean is_chosen;

  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  quoit_candidates_leave_promised (&candidates, fleet, end_ms);
  is_chosen = quoit_plan_candidates (fleet, request, &candidates, plan);
  quoit_candidates_clear (&candidates);
  return is_chosen;
}

gboolean
quoit_step_choose_slices (const QuoitFleet *fleet, const QuoitRequest *request, gint64 end_ms, QuoitPlan *plan,
                          GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (GError) failure = NULL;
  QuoitRequest fewest;

  *moved = NULL;
  if (quoit_fleet_n_ahead (fleet) == 0 || quoit_fleet_ahead_at (fleet, 0)->begins_ms >= end_ms)
    return quoit_plan_slices (fleet, request, plan, refusal, error);
  if (choose_unpromised (fleet, request, end_ms, plan, &failure))
    return TRUE;
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  fewest = quoit_request_for_fewest (request);
  if (quoit_plan_slices (fleet, &fewest, plan, NULL, NULL) && quoit_step_move_away (fleet, plan, end_ms, moved))
    return TRUE;
  quoit_refusal_set (refusal, request);
  if (refusal != NULL)
    refusal->seen_until_ms = end_ms;
  return FALSE;
}

gboolean
quoit_step_choose_slices_ahead (const QuoitFleet *fleet, const QuoitRequest *request, gint64 from_ms, gint64 until_ms,
                                QuoitPlan *plan, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitFleet) seen = quoit_fleet_seen_at (fleet, from_ms, until_ms == 0 ? QUOIT_FOREVER_MS : until_ms);
  const QuoitAheadAddition addition = { .request = request, .from_ms = from_ms, .until_ms = until_ms };
  g_autoptr (GError) failure = NULL;

  *moved = NULL;
  if (quoit_plan_slices (seen, request, plan, NULL, &failure))
    return TRUE;
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  if (find_moves (fleet, &addition, moved, plan))
    return TRUE;
  quoit_refusal_set (refusal, request);
  if (refusal != NULL)
    refusal->fleet = g_steal_pointer (&seen);
  return FALSE;
}

gboolean
quoit_step_check_n_ahead (const QuoitFleet *fleet, GError **error)
{
  return quoit_fleet_n_ahead (fleet) < QUOIT_MAX_AHEAD
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "there are %u reservations ahead and windows: expected at most %d; release some",
                        quoit_fleet_n_ahead (fleet), QUOIT_MAX_AHEAD);
}

/* --- groups that exist --- */

gboolean
quoit_step_check_has_begun (const QuoitGroupData *group, GError **error)
{
  g_autofree char *begins = NULL;

  if (!quoit_group_is_ahead (group))
    return TRUE;
  begins = quoit_time_format (group->begins_ms);
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "group '%s@%" G_GUINT64_FORMAT "' is a reservation ahead, which begins at %s: wait until then, or "
                     "release it and reserve again",
                     group->name, group->id, begins);
}

/* Returns the nodes of a record, as an array of guint32 in ascending order. The caller owns it. */
static GArray *
list_nodes (const QuoitFleet *fleet, const QuoitGroupData *record)
{
  GArray *nodes;

  if (record->kind == QUOIT_RECORD_WINDOW)
    return quoit_window_list_nodes (record, fleet->layout);
  nodes = g_array_sized_new (FALSE, FALSE, sizeof (guint32), record->n_nodes);
  for (guint32 i = 0; i < record->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (fleet->layout, record->node_ids[i]);

      if (node != QUOIT_NO_INDEX)
        g_array_append_val (nodes, node);
    }
  quoit_numbers_sort ((guint32 *) (void *) nodes->data, nodes->len);
  return nodes;
}

/* Returns whether @other is promised one of @nodes, which are in ascending order. The longer list is searched for the
 * nodes of the shorter one. */
static gboolean
wants_node (const QuoitFleet *fleet, const QuoitGroupData *other, const GArray *nodes)
{
  g_autoptr (GArray) wanted = list_nodes (fleet, other);
  const GArray *few = wanted->len < nodes->len ? wanted : nodes, *many = few == nodes ? wanted : nodes;

  for (guint i = 0; i < few->len; i++)
    if (quoit_numbers_have ((const guint32 *) (const void *) many->data, many->len, g_array_index (few, guint32, i)))
      return TRUE;
  return FALSE;
}

enum {
  WINDOWS = 1 << QUOIT_RECORD_WINDOW,
  BY_HOST = 1 << QUOIT_RECORD_BUNDLES | 1 << QUOIT_RECORD_PARTS | 1 << QUOIT_RECORD_CUBES,
  ALL_KINDS = -1
};

static gboolean
is_moved (const GPtrArray *moved, const QuoitGroupData *record)
{
  for (guint i = 0; moved != NULL && i < moved->len; i++)
    if (((const QuoitGroupData *) moved->pdata[i])->id == record->id)
      return TRUE;
  return FALSE;
}

/* Returns the first record of these kinds, with an id from @first_id on, that is promised a node of @group before
 * @end_ms, or NULL. Those in @moved are not: they get others. */
static const QuoitGroupData *
find_record (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms, int kinds, guint64 first_id,
             const GPtrArray *moved)
{
  g_autoptr (GArray) nodes = quoit_fleet_n_ahead (fleet) == 0 ? NULL : list_nodes (fleet, group);

  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *other = quoit_fleet_ahead_at (fleet, i);

      if (other->begins_ms >= end_ms)
        return NULL;
      if (other->id >= first_id && (kinds & 1 << other->kind) != 0
          && (other->until_ms == 0 || other->until_ms > group->begins_ms) && !is_moved (moved, other)
          && wants_node (fleet, other, nodes))
        return other;
    }
  return NULL;
}

const QuoitGroupData *
quoit_step_find_window (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms, guint64 first_id)
{
  return find_record (fleet, group, end_ms, WINDOWS, first_id, NULL);
}

const QuoitGroupData *
quoit_step_find_reservation (const QuoitFleet *fleet, const QuoitGroupData *window)
{
  return find_record (fleet, window, window->until_ms, ~WINDOWS, 0, NULL);
}

/* Reservations of bundles and parts keep their nodes. */
gboolean
quoit_step_find_moves_for_window (const QuoitFleet *fleet, const QuoitGroupData *window, GPtrArray **moved)
{
  const QuoitAheadAddition addition = { .window = window };

  *moved = NULL;
  if (find_record (fleet, window, window->until_ms, BY_HOST, 0, NULL) != NULL)
    return FALSE;
  return quoit_step_find_reservation (fleet, window) == NULL || find_moves (fleet, &addition, moved, NULL);
}

/* Appends the slices of the group to @plan. */
static void
list_slices (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitPlan *plan)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (fleet->layout, group->node_ids[i]);

      if (slice != QUOIT_NO_INDEX && (plan->n == 0 || plan->slices[plan->n - 1] != slice))
        quoit_plan_append (plan, slice);
    }
}

gboolean
quoit_step_check_extension (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms, GPtrArray **moved,
                            GError **error)
{
  /* Whatever was promised since a group is held leaves its nodes alone. */
  const QuoitGroupData *other
      = group->state == QUOIT_GROUP_HELD ? NULL : find_record (fleet, group, end_ms, ALL_KINDS, 0, NULL);
  g_autofree char *begins = NULL;
  gboolean can_move;
  QuoitPlan slices;

  *moved = NULL;
  if (other == NULL)
    return TRUE;
  quoit_plan_init (&slices);
  list_slices (fleet, group, &slices);
  /* A reservation that lacks slices anyway, because a node is draining, keeps the ones that it has. */
  can_move = other->kind == QUOIT_RECORD_SLICES && quoit_step_move_away (fleet, &slices, end_ms, moved)
             && find_record (fleet, group, end_ms, ALL_KINDS, 0, *moved) == NULL;
  quoit_plan_clear (&slices);
  if (can_move)
    return TRUE;
  begins = quoit_time_format (other->begins_ms);
  if (other->kind == QUOIT_RECORD_WINDOW)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "group '%s@%" G_GUINT64_FORMAT "' has nodes of window '%s', which begins at %s: expected an end "
                       "by then",
                       group->name, group->id, quoit_window_record_window (other), begins);
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "group '%s@%" G_GUINT64_FORMAT "' has nodes that are promised to '%s@%" G_GUINT64_FORMAT
                     "', which begins at %s: expected an end by then",
                     group->name, group->id, other->name, other->id, begins);
}

/* --- beginning --- */

typedef struct {
  const QuoitFleet *fleet;
  gint64 time_ms;
  QuoitFleet *scratch; /* a fork of @fleet with the changes of the entry; NULL: none */
  QuoitEntry **entry;
} Beginning;

static const QuoitFleet *
newest (const Beginning *beginning)
{
  return beginning->scratch != NULL ? beginning->scratch : beginning->fleet;
}

/* Replaces the group, and takes the reference to it. Returns FALSE if others use its nodes. */
static gboolean
replace (Beginning *beginning, QuoitGroupData *group)
{
  if (beginning->scratch == NULL)
    beginning->scratch = quoit_fleet_fork (beginning->fleet);
  if (!quoit_fleet_replace_group (beginning->scratch, quoit_group_data_ref (group), NULL))
    return quoit_group_data_unref (group), FALSE;
  if (*beginning->entry == NULL)
    *beginning->entry = quoit_entry_new (beginning->fleet, QUOIT_VERB_BEGIN, beginning->time_ms);
  quoit_entry_add (*beginning->entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = group });
  return TRUE;
}

/* Gives other slices to reservations whose slices can no longer be free when they begin, because a node was lost, or
 * because a source uses it. If there are not enough, the first change after groups, nodes or windows have changed tries
 * again. */
static void
mend (Beginning *beginning)
{
  const QuoitAheadAddition nothing = { 0 };
  const QuoitFleet *fleet = beginning->fleet;
  g_autoptr (GPtrArray) moved = NULL;

  if (quoit_fleet_ahead_is_sound (fleet) || quoit_fleet_ahead_is_stuck (fleet))
    return;
  if (quoit_ahead_is_sound (fleet))
    quoit_fleet_ahead_set_sound (fleet);
  else if (!find_moves (fleet, &nothing, &moved, NULL) || moved == NULL)
    quoit_fleet_ahead_set_stuck (fleet);
  for (guint i = 0; moved != NULL && i < moved->len; i++)
    replace (beginning, quoit_group_data_ref (moved->pdata[i]));
}

/* Returns bundles of @group for where they fit now, or NULL. */
static QuoitGroupData *
place_bundles_again (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, NULL);
  g_autoptr (QuoitFleet) without = quoit_fleet_without_group (fleet, group);
  g_autoptr (QuoitFleet) seen = quoit_fleet_seen_until (without, quoit_group_latest_end (group));

  return request == NULL ? NULL
                         : quoit_step_make_bundle_group (seen != NULL ? seen : without, group, request, NULL, NULL);
}

/* Returns the reservation of slices with only those of its slices that still are what it requested, alive or not; NULL
 * if there are none. Imports may have removed the others, or changed their topology. */
static QuoitGroupData *
without_wrong_slices (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, NULL);
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  QuoitCandidates candidates;

  if (request == NULL || !quoit_candidates_find (fleet, request, &candidates, NULL))
    return NULL;
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_ahead_find_slice (fleet, group, s);

      if (slice != QUOIT_NO_INDEX && quoit_candidates_contain (&candidates, fleet, slice))
        g_array_append_val (slices, slice);
    }
  quoit_candidates_clear (&candidates);
  if (slices->len == group->n_slices)
    return quoit_group_data_ref (group);
  return slices->len == 0 ? NULL
                          : quoit_step_make_slice_group (fleet, group, request, (const guint32 *) (void *) slices->data,
                                                         slices->len, NULL);
}

/* Makes the group begin, unless others still use its nodes. */
static void
begin_group (Beginning *beginning, const QuoitGroupData *group)
{
  g_autoptr (QuoitGroupData) right = quoit_group_is_by_host (group) ? quoit_group_data_ref (group)
                                                                    : without_wrong_slices (newest (beginning), group);
  QuoitGroupData fields, *placed;

  if (right == NULL)
    return;
  fields = quoit_group_data_copy_fields (right);
  fields.state = QUOIT_GROUP_RESERVED;
  if (replace (beginning, quoit_group_data_new (&fields)) || !quoit_group_is_by_host (right))
    return;
  placed = place_bundles_again (newest (beginning), &fields);
  if (placed != NULL)
    replace (beginning, placed);
}

void
quoit_step_begin (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry)
{
  Beginning beginning = { .fleet = fleet, .entry = entry };
  g_autoptr (GArray) ahead = NULL;

  if (quoit_fleet_n_ahead (fleet) == 0 || !quoit_step_clock (fleet, now_ms, &beginning.time_ms, NULL))
    return;
  mend (&beginning);
  ahead = g_array_copy (newest (&beginning)->ahead->slots);
  for (guint i = 0; i < ahead->len; i++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (newest (&beginning), g_array_index (ahead, guint32, i));

      if (group->begins_ms > beginning.time_ms)
        break;
      if (group->kind != QUOIT_RECORD_WINDOW)
        begin_group (&beginning, group);
    }
  g_clear_pointer (&beginning.scratch, quoit_fleet_unref);
}
