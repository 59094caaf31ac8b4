/* SPDX-License-Identifier: Apache-2.0 */
/* Finds changes of the fleet that make a request for slices fit. A slice that is not free needs certain steps to
 * become free: a node must be alive again, a node must be undrained, a group must be released. This set of steps is
 * the repair of the slice. An option is a set of steps that frees as many slices as are missing. */
#include "placement/domains.h"

#include <stdlib.h>

#include "base/natural.h"

/* One change: a node becomes usable, or a group ends and frees everything that it has. */
typedef struct {
  QuoitStepKind kind;
  guint32 node;
  const QuoitGroupData *group;     /* RELEASE */
  guint32 last_slice;              /* the last slice that needs it, + 1; prevents counting it twice */
  guint32 gain;                    /* number of slices that need only this release */
  guint32 first_repair, n_repairs; /* in step_repairs: the repairs that need it */
  guint32 n_fixed;                 /* number of these repairs that the selected steps complete */
  gboolean selected;
} Step;

/* The steps that free a slice. */
typedef struct {
  guint32 slice;
  guint32 first_need, n_needs; /* in needs */
  guint32 n_groups;            /* number of releases in its needs */
  guint32 n_lacking;           /* number of its needs that are not selected */
} Repair;

typedef struct {
  QuoitReport *report;
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 n_short;       /* number of missing slices */
  GArray *repairs;       /* of Repair, fewest steps first */
  GArray *steps;         /* of Step */
  GArray *needs;         /* of guint32: step indices, by repair */
  GArray *selected;      /* of guint32: step indices of the current option */
  guint32 *slot_step;    /* by slot of a group: its step + 1 */
  guint32 *step_repairs; /* repair indices, by step */
  guint32 n_fixed;       /* number of repairs all of whose steps are selected */
} Search;

static Step *
step_at (const Search *search, guint32 step)
{
  return &g_array_index (search->steps, Step, step);
}

static Repair *
repair_at (const Search *search, guint32 repair)
{
  return &g_array_index (search->repairs, Repair, repair);
}

static Step *
need_at (const Search *search, const Repair *repair, guint32 need)
{
  return step_at (search, g_array_index (search->needs, guint32, repair->first_need + need));
}

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

static void
add_need (Search *search, Repair *repair, guint32 step)
{
  if (step_at (search, step)->last_slice == repair->slice + 1)
    return;
  step_at (search, step)->last_slice = repair->slice + 1;
  step_at (search, step)->n_repairs++;
  g_array_append_val (search->needs, step);
  repair->n_needs++;
}

static void
need_node (Search *search, Repair *repair, QuoitStepKind kind, guint32 node)
{
  Step step = { .kind = kind, .node = node };

  g_array_append_val (search->steps, step);
  add_need (search, repair, search->steps->len - 1);
}

/* @slot: that of a group. */
static void
need_release (Search *search, Repair *repair, guint32 slot)
{
  guint32 *step = &search->slot_step[slot], before = repair->n_needs;

  if (*step == 0)
    {
      const Step new_step = { .kind = QUOIT_STEP_RELEASE, .group = quoit_fleet_group_at (search->fleet, slot) };

      g_array_append_val (search->steps, new_step);
      *step = search->steps->len;
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
add_needs_of_node (Search *search, Repair *repair, const QuoitSlice *slice, guint32 index)
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
add_repair (Search *search, guint32 slice)
{
  const QuoitSlice *row = &search->fleet->layout->slices[slice];
  const guint32 only_user = find_only_user (search->fleet, slice);
  Repair repair = { .slice = slice, .first_need = search->needs->len };

  if (only_user != QUOIT_NO_INDEX)
    need_release (search, &repair, only_user);
  for (guint32 i = 0; only_user == QUOIT_NO_INDEX && i < row->n_nodes; i++)
    add_needs_of_node (search, &repair, row, row->first_node + i);
  if (repair.n_needs == 1 && repair.n_groups == 1)
    need_at (search, &repair, 0)->gain++;
  repair.n_lacking = repair.n_needs;
  g_array_append_val (search->repairs, repair);
}

static int
by_needs (const void *a, const void *b)
{
  const Repair *x = a, *y = b;

  if (x->n_needs != y->n_needs)
    return x->n_needs < y->n_needs ? -1 : 1;
  return (x->slice > y->slice) - (x->slice < y->slice);
}

/* Builds the index from each step to the repairs that need it. */
static void
index_steps (Search *search)
{
  guint32 at = 0;

  search->step_repairs = g_new (guint32, search->needs->len + 1);
  for (guint32 i = 0; i < search->steps->len; i++)
    {
      Step *step = step_at (search, i);

      step->first_repair = at;
      at += step->n_repairs;
      step->n_repairs = 0;
    }
  for (guint32 r = 0; r < search->repairs->len; r++)
    for (guint32 i = 0; i < repair_at (search, r)->n_needs; i++)
      {
        Step *step = need_at (search, repair_at (search, r), i);

        search->step_repairs[step->first_repair + step->n_repairs++] = r;
      }
}

/* Sorts the repairs, which are in the order of the slices. Mostly all of them need one step. */
static void
sort_repairs (Search *search)
{
  for (guint32 r = 1; r < search->repairs->len; r++)
    if (repair_at (search, r)->n_needs < repair_at (search, r - 1)->n_needs)
      {
        g_array_sort (search->repairs, by_needs);
        return;
      }
}

static void
find_repairs (Search *search, const QuoitCandidates *candidates)
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

static void
select_step (Search *search, guint32 index)
{
  Step *step = step_at (search, index);

  if (step->selected)
    return;
  step->selected = TRUE;
  for (guint32 i = 0; i < step->n_repairs; i++)
    search->n_fixed += --repair_at (search, search->step_repairs[step->first_repair + i])->n_lacking == 0;
  g_array_append_val (search->selected, index);
}

/* Adds @change to n_fixed of the steps that @repair needs. */
static void
count_fixed (Search *search, const Repair *repair, gint change)
{
  for (guint32 i = 0; i < repair->n_needs; i++)
    need_at (search, repair, i)->n_fixed += (guint32) change;
}

static void
unselect (Search *search, guint at)
{
  Step *step = step_at (search, g_array_index (search->selected, guint32, at));

  step->selected = FALSE;
  for (guint32 i = 0; i < step->n_repairs; i++)
    {
      Repair *repair = repair_at (search, search->step_repairs[step->first_repair + i]);

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
unselect_unnecessary (Search *search)
{
  for (guint32 r = 0; r < search->repairs->len; r++)
    if (repair_at (search, r)->n_lacking == 0)
      count_fixed (search, repair_at (search, r), 1);
  for (guint i = search->selected->len; i > 0; i--)
    if (search->n_fixed - step_at (search, g_array_index (search->selected, guint32, i - 1))->n_fixed
        >= search->n_short)
      unselect (search, i - 1);
}

static void
write_steps (const Search *search, QuoitOption *option)
{
  for (guint i = 0; i < search->selected->len; i++)
    {
      const Step *step = step_at (search, g_array_index (search->selected, guint32, i));
      g_autofree char *node = NULL;

      if (step->kind == QUOIT_STEP_RELEASE)
        {
          quoit_option_add_group_end (option, search->fleet, step->group);
          continue;
        }
      node = quoit_layout_node_display (search->fleet->layout, (QuoitNodeId) { step->node });
      quoit_option_add_step (option, &(QuoitStep) { .kind = step->kind, .node = node, .node_index = step->node });
    }
}

/* Adds the selected steps as an option, and unselects them. */
static void
add_option (Search *search)
{
  QuoitOption *option;

  unselect_unnecessary (search);
  option = quoit_report_add_option (search->report);
  write_steps (search, option);
  /* The steps free only as many slices as there can be, so the request must also ask for fewer. */
  if (search->report->verdict == QUOIT_VERDICT_NEVER)
    quoit_option_add_step (option,
                           &(QuoitStep) { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = search->report->n_possible });
  while (search->selected->len > 0)
    unselect (search, search->selected->len - 1);
}

/* Adds an option with the first repairs for which @is_wanted returns TRUE. Returns FALSE if there are too few. */
static gboolean
repair_slices (Search *search, gboolean (*is_wanted) (const Repair *))
{
  guint32 found = 0;

  for (guint32 r = 0; r < search->repairs->len; r++)
    found += is_wanted (repair_at (search, r));
  if (found < search->n_short)
    return FALSE;

  for (guint32 r = 0; search->n_fixed < search->n_short; r++)
    for (guint32 i = 0; i < repair_at (search, r)->n_needs && is_wanted (repair_at (search, r)); i++)
      select_step (search, g_array_index (search->needs, guint32, repair_at (search, r)->first_need + i));
  return add_option (search), TRUE;
}

static gboolean
needs_no_release (const Repair *repair)
{
  return repair->n_groups == 0;
}

static gboolean
is_any_repair (const Repair *repair)
{
  return TRUE;
}

static int
by_gain (gconstpointer a, gconstpointer b, gpointer data)
{
  const Search *search = data;
  const Step *x = step_at (search, *(const guint32 *) a), *y = step_at (search, *(const guint32 *) b);

  if (x->gain != y->gain)
    return x->gain > y->gain ? -1 : 1;
  return quoit_natural_compare (x->group->name, y->group->name);
}

/* Returns the release with the smallest sufficient gain, of equal ones the first by name, or QUOIT_NO_INDEX. */
static guint32
smallest_sufficient_release (Search *search)
{
  guint32 best = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < search->steps->len; i++)
    {
      guint32 gain = step_at (search, i)->gain;

      if (gain >= search->n_short
          && (best == QUOIT_NO_INDEX || gain < step_at (search, best)->gain
              || (gain == step_at (search, best)->gain && by_gain (&i, &best, search) < 0)))
        best = i;
    }
  return best;
}

static void
swap (guint32 *one, guint32 *other)
{
  const guint32 copy = *one;

  *one = *other;
  *other = copy;
}

/* Moves the first @n steps of the list by gain to its beginning, in any order. */
static void
move_largest_gains (Search *search, guint32 *list, gsize length, gsize n)
{
  while (n > 0 && n < length)
    {
      gsize kept = 0;

      swap (&list[length / 2], &list[length - 1]);
      for (gsize i = 0; i + 1 < length; i++)
        if (by_gain (&list[i], &list[length - 1], search) < 0)
          swap (&list[i], &list[kept++]);
      swap (&list[kept], &list[length - 1]);
      if (n <= kept)
        length = kept;
      else
        {
          list += kept + 1;
          length -= kept + 1;
          n -= kept + 1;
        }
    }
}

/* Selects releases in descending order of their gain until enough slices are free. */
static void
select_largest_gains (Search *search)
{
  g_autoptr (GArray) gains = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < search->steps->len; i++)
    if (step_at (search, i)->gain > 0)
      g_array_append_val (gains, i);
  /* Each of them frees a slice. Sorting thousands of names would take longer than everything else. */
  if (gains->len > search->n_short)
    {
      move_largest_gains (search, (guint32 *) (void *) gains->data, gains->len, search->n_short);
      g_array_set_size (gains, search->n_short);
    }
  g_array_sort_with_data (gains, by_gain, search);
  for (guint g = 0; search->n_fixed < search->n_short; g++)
    select_step (search, g_array_index (gains, guint32, g));
}

/* Adds an option of releases only. */
static gboolean
release_groups (Search *search)
{
  guint32 total = 0, sufficient = smallest_sufficient_release (search);

  for (guint32 i = 0; i < search->steps->len; i++)
    total += step_at (search, i)->gain;
  if (total < search->n_short)
    return FALSE;
  if (sufficient != QUOIT_NO_INDEX)
    select_step (search, sufficient);
  else
    select_largest_gains (search);
  return add_option (search), TRUE;
}

void
quoit_report_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  /* Mostly each of the slices that are not free has one user. */
  const guint n = report->n_possible - report->n_free_now;
  g_autoptr (GArray) repairs = g_array_sized_new (FALSE, FALSE, sizeof (Repair), n);
  g_autoptr (GArray) steps = g_array_sized_new (FALSE, FALSE, sizeof (Step), n);
  g_autoptr (GArray) needs = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);
  g_autoptr (GArray) selected = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *slot_step = g_new0 (guint32, fleet->n_slots + 1);
  Search search = { .report = report,
                    .fleet = fleet,
                    .request = request,
                    .n_short = MIN (report->n_wanted, report->n_possible) - report->n_free_now,
                    .repairs = repairs,
                    .steps = steps,
                    .needs = needs,
                    .selected = selected,
                    .slot_step = slot_step };
  gboolean nodes, groups;

  find_repairs (&search, candidates);
  nodes = repair_slices (&search, needs_no_release);
  groups = release_groups (&search);
  if (!nodes && !groups)
    repair_slices (&search, is_any_repair);
  g_free (search.step_repairs);
}
