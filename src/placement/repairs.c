/* SPDX-License-Identifier: Apache-2.0 */
/* Finds changes of the fleet that make a request for slices fit. A slice that is not free needs certain steps to
 * become free: a node must be alive again, a node must be undrained, a group must be released. This set of steps is
 * the repair of the slice. An option is a set of steps that frees as many slices as are missing. */
#include "placement/repairs.h"

#include <string.h>

#include "placement/domains.h"

/* --- steps for each slice --- */

/* Whether @node, if it were alive, would be a valid worker of its slice. */
static gboolean
is_worker (const QuoitLayout *layout, guint32 node)
{
  const QuoitNode *worker = &layout->nodes[node];
  const QuoitClass *class = quoit_layout_slice_class (layout, (QuoitSliceId) { worker->slice });
  const QuoitKindClass *kind = &layout->kind_class[worker->kind];

  return class != NULL && kind->faults == 0 && kind->class_index == (guint32) (class - layout->classes)
         && worker->worker_id >= 0 && (guint32) worker->worker_id < class->facts.hosts;
}

/* Whether @node is dead and no alive node has its worker id. Of several dead ones, only the last counts as missing. */
static gboolean
is_missing (const QuoitFleet *fleet, const QuoitSlice *slice, guint32 node)
{
  const QuoitNode *nodes = fleet->layout->nodes;

  if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_DEAD || !is_worker (fleet->layout, node))
    return FALSE;
  /* Nodes with the same worker id are adjacent. */
  for (guint32 i = node + 1; i < slice->first_node + slice->n_nodes && nodes[i].worker_id == nodes[node].worker_id; i++)
    if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD || is_worker (fleet->layout, i))
      return FALSE;
  for (guint32 i = node; i > slice->first_node && nodes[i - 1].worker_id == nodes[node].worker_id; i--)
    if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i - 1 }) != QUOIT_NODE_DEAD)
      return FALSE;
  return TRUE;
}

/* Returns the array with room for more elements of @size bytes. */
static gpointer
make_room (gpointer array, guint32 *room, gsize size)
{
  *room *= 2;
  return g_realloc_n (array, *room, size);
}

/* Appends a value to one of the arrays of the search. They mostly have room for all values. */
#define ADD(search, name, value)                                                                                       \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    if (G_UNLIKELY ((search)->n_##name == (search)->room_##name))                                                      \
      (search)->name = make_room ((search)->name, &(search)->room_##name, sizeof *(search)->name);                     \
    (search)->name[(search)->n_##name++] = (value);                                                                    \
  }                                                                                                                    \
  G_STMT_END

static void
add_need (QuoitRepairs *search, QuoitRepair *repair, guint32 step)
{
  if (quoit_repairs_step (search, step)->last_slice == repair->slice + 1)
    return;
  quoit_repairs_step (search, step)->last_slice = repair->slice + 1;
  quoit_repairs_step (search, step)->n_repairs++;
  ADD (search, needs, step);
  repair->n_needs++;
}

static void
need_node (QuoitRepairs *search, QuoitRepair *repair, QuoitStepKind kind, guint32 node)
{
  QuoitRepairStep step = { .kind = kind, .node = node };

  ADD (search, steps, step);
  add_need (search, repair, search->n_steps - 1);
}

/* @slot: that of a group. */
static void
need_release (QuoitRepairs *search, QuoitRepair *repair, guint32 slot)
{
  guint32 *step = &search->slot_step[slot], before = repair->n_needs;

  if (*step == 0)
    {
      const QuoitRepairStep new_step
          = { .kind = QUOIT_STEP_RELEASE, .group = quoit_fleet_group_at (search->fleet, slot) };

      ADD (search, steps, new_step);
      *step = search->n_steps;
      search->has_planned_end |= new_step.group->until_ms != 0 || new_step.group->expected_end_ms != 0;
      search->has_partial_group |= !quoit_group_has_whole_slices (new_step.group);
    }
  add_need (search, repair, *step - 1);
  repair->n_groups += repair->n_needs - before;
}

/* Returns the slot of the group that has the whole slice, of which no node is missing or draining. Returns
 * QUOIT_NO_INDEX if that is not so. */
static guint32
find_only_user (const QuoitFleet *fleet, guint32 slice)
{
  const QuoitSliceStatus *status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice });
  const QuoitSlice *row = &fleet->layout->slices[slice];
  const guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { row->first_node });

  if (status->n_missing > 0 || status->n_draining > 0 || fleet->promised != NULL || use == QUOIT_USE_NONE
      || (use & QUOIT_USE_SHARED) != 0)
    return QUOIT_NO_INDEX;
  for (guint32 i = row->first_node + 1; i < row->first_node + row->n_nodes; i++)
    if (quoit_fleet_node_use (fleet, (QuoitNodeId) { i }) != use)
      return QUOIT_NO_INDEX;
  return quoit_fleet_group_at (fleet, use - 1)->kind == QUOIT_RECORD_EXTERNAL ? QUOIT_NO_INDEX : use - 1;
}

static void
add_needs_of_node (QuoitRepairs *search, QuoitRepair *repair, const QuoitSlice *slice, guint32 index)
{
  const QuoitFleet *fleet = search->fleet;
  QuoitNodeId node = { index };
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group, *before = NULL;

  if (is_missing (fleet, slice, index))
    need_node (search, repair, QUOIT_STEP_NODE_ALIVE, index);
  else if (quoit_fleet_node_is_leaving (fleet, node))
    need_node (search, repair, QUOIT_STEP_UNDRAIN, index);
  for (guint p = 0; (group = quoit_fleet_node_promise (fleet, node, p)) != NULL; p++)
    need_release (search, repair, quoit_fleet_group_slot (fleet, group));
  if (quoit_fleet_node_is_external (fleet, node))
    need_node (search, repair, QUOIT_STEP_EXTERNAL_ENDS, index);
  for (; (group = quoit_fleet_users_next (&users)) != NULL; before = group)
    if (group != before && group->kind != QUOIT_RECORD_EXTERNAL)
      need_release (search, repair, quoit_fleet_group_slot (fleet, group));
}

static void
add_repair (QuoitRepairs *search, guint32 slice)
{
  const QuoitSlice *row = &search->fleet->layout->slices[slice];
  const guint32 only_user = find_only_user (search->fleet, slice);
  QuoitRepair repair = { .slice = slice, .first_need = search->n_needs };

  if (only_user != QUOIT_NO_INDEX)
    need_release (search, &repair, only_user);
  for (guint32 i = 0; only_user == QUOIT_NO_INDEX && i < row->n_nodes; i++)
    add_needs_of_node (search, &repair, row, row->first_node + i);
  if (repair.n_needs == 1 && repair.n_groups == 1)
    quoit_repairs_need (search, &repair, 0)->gain++;
  repair.n_lacking = repair.n_needs;
  ADD (search, repairs, repair);
}

/* Builds the index from each step to the repairs that need it. */
static void
index_steps (QuoitRepairs *search)
{
  guint32 at = 0;

  search->step_repairs = g_new (guint32, search->n_needs + 1);
  for (guint32 i = 0; i < search->n_steps; i++)
    {
      QuoitRepairStep *step = quoit_repairs_step (search, i);

      step->first_repair = at;
      at += step->n_repairs;
      step->n_repairs = 0;
    }
  for (guint32 r = 0; r < search->n_repairs; r++)
    for (guint32 i = 0; i < quoit_repairs_repair (search, r)->n_needs; i++)
      {
        QuoitRepairStep *step = quoit_repairs_need (search, quoit_repairs_repair (search, r), i);

        search->step_repairs[step->first_repair + step->n_repairs++] = r;
      }
}

/* Sorts the repairs, which are in the order of the slices, by their number of steps, with one bucket for each number.
 * Mostly all of them need one step. */
static void
sort_repairs (QuoitRepairs *search)
{
  const guint32 n = search->n_repairs;
  g_autofree QuoitRepair *sorted = NULL;
  g_autofree guint32 *next = NULL;
  guint32 most = 0;
  gboolean is_sorted = TRUE;

  for (guint32 r = 0; r < n; r++)
    {
      const guint32 n_needs = quoit_repairs_repair (search, r)->n_needs;

      is_sorted &= n_needs >= most;
      most = MAX (most, n_needs);
    }
  if (is_sorted)
    return;
  next = g_new0 (guint32, most + 2);
  sorted = g_new (QuoitRepair, n);
  for (guint32 r = 0; r < n; r++)
    next[quoit_repairs_repair (search, r)->n_needs + 1]++;
  for (guint32 i = 1; i <= most; i++)
    next[i] += next[i - 1];
  for (guint32 r = 0; r < n; r++)
    sorted[next[quoit_repairs_repair (search, r)->n_needs]++] = *quoit_repairs_repair (search, r);
  memcpy (search->repairs, sorted, n * sizeof *sorted);
}

static void
find_repairs (QuoitRepairs *search, const QuoitCandidates *candidates)
{
  const QuoitFleet *fleet = search->fleet;

  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    if (quoit_candidates_contain (candidates, fleet, s) && !quoit_bits_has (&fleet->free_slices, s)
        && quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { s })
        && !quoit_slice_needs_near_group (fleet, search->request, s))
      add_repair (search, s);
  sort_repairs (search);
  index_steps (search);
}

/* --- options: select steps, then unselect the unnecessary ones --- */

void
quoit_repairs_select (QuoitRepairs *search, guint32 index)
{
  QuoitRepairStep *step = quoit_repairs_step (search, index);

  if (step->selected)
    return;
  step->selected = TRUE;
  for (guint32 i = 0; i < step->n_repairs; i++)
    search->n_fixed += --quoit_repairs_repair (search, search->step_repairs[step->first_repair + i])->n_lacking == 0;
  g_array_append_val (search->selected, index);
}

/* Counts the repairs that the selected steps complete and that need the step. */
static void
count_fixed_of_step (QuoitRepairs *search, guint32 index)
{
  QuoitRepairStep *step = quoit_repairs_step (search, index);

  step->n_fixed = 0;
  for (guint32 i = 0; i < step->n_repairs; i++)
    step->n_fixed += quoit_repairs_repair (search, search->step_repairs[step->first_repair + i])->n_lacking == 0;
}

/* Adds @change to n_fixed of the steps that @repair needs. */
static void
count_fixed (QuoitRepairs *search, const QuoitRepair *repair, gint change)
{
  for (guint32 i = 0; i < repair->n_needs; i++)
    quoit_repairs_need (search, repair, i)->n_fixed += (guint32) change;
}

static void
unselect (QuoitRepairs *search, guint at)
{
  QuoitRepairStep *step = quoit_repairs_step (search, g_array_index (search->selected, guint32, at));

  step->selected = FALSE;
  for (guint32 i = 0; i < step->n_repairs; i++)
    {
      QuoitRepair *repair = quoit_repairs_repair (search, search->step_repairs[step->first_repair + i]);

      if (repair->n_lacking++ > 0)
        continue;
      search->n_fixed--;
      count_fixed (search, repair, -1);
    }
  g_array_remove_index (search->selected, at);
}

/* Unselects steps without which enough slices still become free. For example, releasing a group for one slice may
 * also free another slice, whose other steps are then unnecessary. */
static void
unselect_unnecessary (QuoitRepairs *search)
{
  for (guint i = 0; i < search->selected->len; i++)
    count_fixed_of_step (search, g_array_index (search->selected, guint32, i));
  for (guint i = search->selected->len; i > 0; i--)
    if (search->n_fixed - quoit_repairs_step (search, g_array_index (search->selected, guint32, i - 1))->n_fixed
        >= search->n_short)
      unselect (search, i - 1);
}

void
quoit_repairs_unselect_last (QuoitRepairs *search)
{
  unselect (search, search->selected->len - 1);
}

void
quoit_repairs_unselect_all (QuoitRepairs *search)
{
  while (search->selected->len > 0)
    quoit_repairs_unselect_last (search);
}

static void
write_steps (const QuoitRepairs *search, QuoitEndManner manner, QuoitOption *option)
{
  for (guint i = 0; i < search->selected->len; i++)
    {
      const QuoitRepairStep *step = quoit_repairs_step (search, g_array_index (search->selected, guint32, i));
      g_autofree char *node = NULL;

      if (step->kind == QUOIT_STEP_RELEASE)
        {
          quoit_option_add_group_end (option, step->group, manner, search->report->now_ms);
          continue;
        }
      node = quoit_layout_node_display (search->fleet->layout, (QuoitNodeId) { step->node });
      quoit_option_add_step (option, &(QuoitStep) { .kind = step->kind, .node = node, .node_index = step->node });
    }
}

void
quoit_repairs_add_option (QuoitRepairs *search, QuoitEndManner manner, guint orders)
{
  QuoitOption option = quoit_option_init ();

  unselect_unnecessary (search);
  write_steps (search, manner, &option);
  /* The steps free only as many slices as there can be, so the request must also ask for fewer. */
  if (search->report->verdict == QUOIT_VERDICT_NEVER)
    quoit_option_add_step (&option,
                           &(QuoitStep) { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = search->report->n_possible });
  quoit_repairs_unselect_all (search);
  quoit_report_take_option (search->report, &option, orders);
}

/* Adds an option with the first repairs for which @is_wanted returns TRUE. Returns FALSE if there are too few. */
static gboolean
repair_slices (QuoitRepairs *search, gboolean (*is_wanted) (const QuoitRepair *))
{
  guint32 found = 0;

  for (guint32 r = 0; r < search->n_repairs; r++)
    found += is_wanted (quoit_repairs_repair (search, r));
  if (found < search->n_short)
    return FALSE;

  for (guint32 r = 0; search->n_fixed < search->n_short; r++)
    for (guint32 i = 0; i < quoit_repairs_repair (search, r)->n_needs && is_wanted (quoit_repairs_repair (search, r));
         i++)
      quoit_repairs_select (search, search->needs[quoit_repairs_repair (search, r)->first_need + i]);
  return quoit_repairs_add_option (search, QUOIT_END_AS_PLANNED, 0), TRUE;
}

static gboolean
needs_no_release (const QuoitRepair *repair)
{
  return repair->n_groups == 0;
}

static gboolean
is_any_repair (const QuoitRepair *repair)
{
  return TRUE;
}

void
quoit_report_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  /* Mostly each of the slices that are not free has one user. */
  const guint n = report->n_possible - report->n_free_now + 1;
  g_autoptr (GArray) selected = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *slot_step = g_new0 (guint32, fleet->n_slots + 1);
  QuoitRepairs search = { .report = report,
                          .fleet = fleet,
                          .request = request,
                          .n_short = MIN (report->n_wanted, report->n_possible) - report->n_free_now,
                          .repairs = g_new0 (QuoitRepair, n),
                          .steps = g_new0 (QuoitRepairStep, n),
                          .needs = g_new0 (guint32, n),
                          .room_repairs = n,
                          .room_steps = n,
                          .room_needs = n,
                          .selected = selected,
                          .slot_step = slot_step };
  gboolean nodes, groups;

  find_repairs (&search, candidates);
  nodes = repair_slices (&search, needs_no_release);
  groups = report->finds_orders ? quoit_repairs_find_orders (&search, candidates) : quoit_repairs_release (&search);
  if (!nodes && !groups)
    repair_slices (&search, is_any_repair);
  g_free (search.repairs);
  g_free (search.steps);
  g_free (search.needs);
  g_free (search.step_repairs);
}
