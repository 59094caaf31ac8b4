/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a request for slices that only release groups or wait for them: the best ones in each order. Mostly each
 * slice has one group, which frees it alone. Then the numbers of slices that the groups free decide, and the search is
 * exact without trying sets of groups. */
#include "placement/repairs.h"

#include "base/select.h"
#include "placement/ends.h"
#include "placement/preempt/preempt.h"

/* --- releases by the number of slices that they free --- */

static int
by_gain (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitRepairs *search = data;
  const QuoitRepairStep *x = quoit_repairs_step (search, *(const guint32 *) a),
                        *y = quoit_repairs_step (search, *(const guint32 *) b);

  if (x->gain != y->gain)
    return x->gain > y->gain ? -1 : 1;
  /* The steps are in the order of the slices that need them first. Comparing names would take longer than the search.
   */
  return (x > y) - (x < y);
}

/* Returns the release with the smallest sufficient gain, of equal ones the first, or QUOIT_NO_INDEX. */
static guint32
smallest_sufficient_release (QuoitRepairs *search)
{
  guint32 best = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < search->n_steps; i++)
    {
      guint32 gain = quoit_repairs_step (search, i)->gain;

      if (gain >= search->n_short && (best == QUOIT_NO_INDEX || gain < quoit_repairs_step (search, best)->gain))
        best = i;
    }
  return best;
}

/* Selects releases in descending order of their gain until enough slices are free. */
static void
select_largest_gains (QuoitRepairs *search)
{
  g_autoptr (GArray) gains = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < search->n_steps; i++)
    if (quoit_repairs_step (search, i)->gain > 0)
      g_array_append_val (gains, i);
  /* Each of them frees a slice. Sorting thousands of names would take longer than everything else. */
  if (gains->len > search->n_short)
    {
      quoit_select_first (gains->data, gains->len, sizeof (guint32), search->n_short, by_gain, search);
      g_array_set_size (gains, search->n_short);
    }
  g_array_sort_with_data (gains, by_gain, search);
  for (guint g = 0; search->n_fixed < search->n_short; g++)
    quoit_repairs_select (search, g_array_index (gains, guint32, g));
}

gboolean
quoit_repairs_release (QuoitRepairs *search)
{
  guint32 total = 0, sufficient = smallest_sufficient_release (search);

  for (guint32 i = 0; i < search->n_steps; i++)
    total += quoit_repairs_step (search, i)->gain;
  if (total < search->n_short)
    return FALSE;
  if (sufficient != QUOIT_NO_INDEX)
    quoit_repairs_select (search, sufficient);
  else
    select_largest_gains (search);
  return quoit_repairs_add_option (search, QUOIT_END_AS_PLANNED, 0), TRUE;
}

/* --- earliest: waiting only --- */

/* When the groups of a repair have ended. */
typedef struct {
  gint64 time_ms;
  guint32 repair;
} Wait;

static int
by_time (gconstpointer a, gconstpointer b, gpointer data)
{
  const Wait *x = a, *y = b;

  if (x->time_ms != y->time_ms)
    return x->time_ms < y->time_ms ? -1 : 1;
  return x->repair < y->repair ? -1 : 1;
}

/* Returns when all groups of the repair have ended; 0: not known, or it needs more than that. */
static gint64
find_end (const QuoitRepairs *search, const QuoitRepair *repair)
{
  gint64 last_ms = 0;

  for (guint32 i = 0; i < repair->n_needs && repair->n_groups == repair->n_needs; i++)
    {
      const gint64 end_ms
          = quoit_group_planned_end (quoit_repairs_need (search, repair, i)->group, search->report->now_ms, NULL);

      if (end_ms == 0)
        return 0;
      last_ms = MAX (last_ms, end_ms);
    }
  return last_ms;
}

/* Adds the option that waits for the slices that become free first. */
static void
wait_for_earliest (QuoitRepairs *search)
{
  g_autofree Wait *waits = search->has_planned_end ? g_new (Wait, search->n_repairs + 1) : NULL;
  g_autofree guint8 *is_awaited = NULL; /* by repair */
  guint32 n_waits = 0;

  if (waits == NULL)
    return;
  for (guint32 r = 0; r < search->n_repairs; r++)
    {
      const Wait wait = { find_end (search, quoit_repairs_repair (search, r)), r };

      if (wait.time_ms != 0)
        waits[n_waits++] = wait;
    }
  if (n_waits < search->n_short)
    return;
  quoit_select_first (waits, n_waits, sizeof *waits, search->n_short, by_time, NULL);
  is_awaited = g_new0 (guint8, search->n_repairs + 1);
  for (guint32 i = 0; i < search->n_short; i++)
    is_awaited[waits[i].repair] = TRUE;
  for (guint32 r = 0; r < search->n_repairs; r++)
    {
      const QuoitRepair *repair = quoit_repairs_repair (search, r);

      for (guint32 need = 0; need < repair->n_needs && is_awaited[r]; need++)
        quoit_repairs_select (search, search->needs[repair->first_need + need]);
    }
  search->report->proven_orders |= quoit_order_bit (QUOIT_OPTION_ORDER_EARLIEST);
  quoit_repairs_add_option (search, QUOIT_END_BY_WAITING, quoit_order_bit (QUOIT_OPTION_ORDER_EARLIEST));
}

/* --- fewest chips --- */

enum { MOST_STEPS = 1 << 18 }; /* of an exact search; about half a millisecond */

/* Returns the chips of a slice of the class, in ten-thousandths. */
static guint64
chips_of_slice (const QuoitRepairs *search, const QuoitCandidates *candidates)
{
  return (guint64) quoit_shape_chips (search->fleet->layout->classes[candidates->class_index].facts.shape)
         * QUOIT_AMOUNT_UNIT;
}

static guint64
count_selected_chips (const QuoitRepairs *search)
{
  guint64 chips_e4 = 0;

  for (guint i = 0; i < search->selected->len; i++)
    chips_e4 += quoit_group_chips_e4 (search->fleet,
                                      quoit_repairs_step (search, g_array_index (search->selected, guint32, i))->group);
  return chips_e4;
}

/* Writes to @taken the steps of groups that together free exactly the missing slices and have no other chips, larger
 * ones first. Returns FALSE if it finds none. */
static gboolean
take_exactly (const QuoitRepairs *search, guint64 chips_of_slice, GArray *taken)
{
  const guint32 n = search->n_short;
  g_autofree guint32 *first = g_new0 (guint32, n + 1); /* by gain: the first step, + 1 */
  g_autofree guint32 *next = g_new (guint32, search->n_steps + 1);
  guint32 rest = n;

  for (guint32 i = search->n_steps; i-- > 0;)
    {
      const QuoitRepairStep *step = quoit_repairs_step (search, i);

      if (step->gain == 0 || step->gain > n
          || (step->group->n_slices != step->gain
              && quoit_group_chips_e4 (search->fleet, step->group) != step->gain * chips_of_slice))
        continue;
      next[i] = first[step->gain];
      first[step->gain] = i + 1;
    }
  g_array_set_size (taken, 0);
  for (guint32 gain = n; gain > 0 && rest > 0; gain = MIN (gain, rest))
    {
      const guint32 i = first[gain];

      if (i == 0)
        {
          gain--;
          continue;
        }
      first[gain] = next[i - 1];
      rest -= gain;
      g_array_append_vals (taken, &(const guint32) { i - 1 }, 1);
    }
  return rest == 0;
}

/* Writes to @taken the steps of the groups with the fewest chips. Returns FALSE if that is not proven. */
static gboolean
search_fewest_chips (const QuoitRepairs *search, GArray *taken)
{
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  g_autoptr (GArray) of_option = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean is_exact;

  for (guint32 i = 0; i < search->n_steps; i++)
    {
      const QuoitRepairStep *step = quoit_repairs_step (search, i);
      QuoitPreemptOption option = { options->len, step->gain, { 0, 1 } };

      if (step->gain == 0)
        continue;
      option.cost.chips_e4 = quoit_group_chips_e4 (search->fleet, step->group);
      g_array_append_val (options, option);
      g_array_append_val (of_option, i);
    }
  is_exact = quoit_preempt_cover_within (options, search->n_short, MOST_STEPS, taken);
  for (guint i = 0; i < taken->len; i++)
    g_array_index (taken, guint32, i) = g_array_index (of_option, guint32, g_array_index (taken, guint32, i));
  return is_exact;
}

/* --- the orders if each group frees its slices alone --- */

/* The fewest groups are those that free most. The last one is the smallest that still suffices. */
static void
select_fewest_groups (QuoitRepairs *search)
{
  const guint32 sufficient = smallest_sufficient_release (search);
  guint32 last, best = QUOIT_NO_INDEX, n_before;

  if (sufficient != QUOIT_NO_INDEX)
    {
      quoit_repairs_select (search, sufficient);
      return;
    }
  select_largest_gains (search);
  last = g_array_index (search->selected, guint32, search->selected->len - 1);
  n_before = search->n_fixed - quoit_repairs_step (search, last)->gain;
  for (guint32 i = 0; i < search->n_steps; i++)
    {
      const QuoitRepairStep *step = quoit_repairs_step (search, i);

      if ((!step->selected || i == last) && step->gain + n_before >= search->n_short
          && (best == QUOIT_NO_INDEX || step->gain < quoit_repairs_step (search, best)->gain))
        best = i;
    }
  if (best == last)
    return;
  quoit_repairs_unselect_last (search);
  quoit_repairs_select (search, best);
}

static void
release_fewest (QuoitRepairs *search, const QuoitCandidates *candidates)
{
  const guint groups = quoit_order_bit (QUOIT_OPTION_ORDER_FEWEST_GROUPS),
              chips = quoit_order_bit (QUOIT_OPTION_ORDER_FEWEST_CHIPS);
  /* Then no group that frees n slices has fewer chips than n slices. */
  const gboolean is_whole = !search->has_partial_group;
  const guint64 per_slice = chips_of_slice (search, candidates);
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean has_fewest_chips, is_proven = TRUE;

  select_fewest_groups (search);
  has_fewest_chips = is_whole && count_selected_chips (search) == per_slice * search->n_short;
  search->report->proven_orders |= groups;
  quoit_repairs_add_option (search, QUOIT_END_BY_RELEASE, has_fewest_chips ? groups | chips : groups);
  if (!has_fewest_chips && !(is_whole && take_exactly (search, per_slice, taken)))
    is_proven = search_fewest_chips (search, taken);
  if (is_proven)
    search->report->proven_orders |= chips;
  for (guint i = 0; i < taken->len && !has_fewest_chips; i++)
    quoit_repairs_select (search, g_array_index (taken, guint32, i));
  if (!has_fewest_chips)
    quoit_repairs_add_option (search, QUOIT_END_BY_RELEASE, chips);
}

/* --- both --- */

/* Returns whether a slice needs several groups, and nothing else. */
static gboolean
has_shared_slice (const QuoitRepairs *search)
{
  /* The repairs are sorted, mostly all of them need one step. */
  for (guint32 r = search->n_repairs; r-- > 0 && quoit_repairs_repair (search, r)->n_needs > 1;)
    if (quoit_repairs_repair (search, r)->n_groups == quoit_repairs_repair (search, r)->n_needs)
      return TRUE;
  return FALSE;
}

/* Selects the groups with the fewest chips, or the fewest groups, if slices need several of them. Returns FALSE if
 * there are none. */
static gboolean
select_fewest (QuoitRepairs *search, QuoitPreemptAim aim, gboolean *is_fewest)
{
  g_autoptr (GArray) released = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));

  if (!quoit_find_fewest (search->fleet, search->request, search->report->now_ms, aim, released, is_fewest, NULL))
    return FALSE;
  for (guint v = 0; v < released->len; v++)
    {
      const guint32 step = search->slot_step[g_array_index (released, QuoitVictim, v).slot];

      if (step != 0)
        quoit_repairs_select (search, step - 1);
    }
  return search->n_fixed >= search->n_short;
}

/* Selects all groups of slices that need only groups. Returns FALSE if they are not enough. */
static gboolean
select_all_groups (QuoitRepairs *search)
{
  for (guint32 r = 0; r < search->n_repairs; r++)
    {
      const QuoitRepair *repair = quoit_repairs_repair (search, r);

      for (guint32 need = 0; need < repair->n_needs && repair->n_groups == repair->n_needs; need++)
        quoit_repairs_select (search, search->needs[repair->first_need + need]);
    }
  return search->n_fixed >= search->n_short;
}

static gboolean
release_fewest_sharing (QuoitRepairs *search, QuoitPreemptAim aim, QuoitOptionOrder order)
{
  gboolean is_fewest = FALSE;

  if (!select_fewest (search, aim, &is_fewest))
    {
      is_fewest = FALSE;
      if (!select_all_groups (search))
        return quoit_repairs_unselect_all (search), FALSE;
    }
  if (is_fewest)
    search->report->proven_orders |= quoit_order_bit (order);
  return quoit_repairs_add_option (search, QUOIT_END_BY_RELEASE, quoit_order_bit (order)), TRUE;
}

gboolean
quoit_repairs_find_orders (QuoitRepairs *search, const QuoitCandidates *candidates)
{
  guint32 total = 0;

  wait_for_earliest (search);
  if (has_shared_slice (search))
    return release_fewest_sharing (search, QUOIT_PREEMPT_GROUPS, QUOIT_OPTION_ORDER_FEWEST_GROUPS)
           && release_fewest_sharing (search, QUOIT_PREEMPT_CHIPS, QUOIT_OPTION_ORDER_FEWEST_CHIPS);
  for (guint32 i = 0; i < search->n_steps; i++)
    total += quoit_repairs_step (search, i)->gain;
  if (total < search->n_short)
    return FALSE;
  release_fewest (search, candidates);
  return TRUE;
}
