/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/closing.h"

#include "base/indices.h"
#include "ledger/ledger.h"
#include "placement/rows.h"

/* --- slices that can be closed --- */

/* Adds the bundles of a node to @n_bundles. Returns FALSE if something else uses the node, or a bundle that repair does
 * not move. */
static gboolean
count_bundles (const QuoitFleet *fleet, QuoitNodeId node, guint32 *n_bundles)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group;

  if (quoit_fleet_node_is_external (fleet, node))
    return FALSE;
  while ((group = quoit_fleet_users_next (&users)) != NULL)
    {
      if (group->kind != QUOIT_RECORD_BUNDLES || !quoit_group_is_callers (group))
        return FALSE;
      (*n_bundles)++;
    }
  return TRUE;
}

static gboolean
is_closable (const QuoitFleet *fleet, guint32 slice, QuoitClosable *closable)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];
  const QuoitSliceStatus *status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice });

  if (layout->shelves[row->shelf].class_index == QUOIT_NO_INDEX || status->n_draining > 0
      || (quoit_slice_status_flags (status) & QUOIT_SLICE_INTACT) == 0)
    return FALSE;
  *closable = (QuoitClosable) { slice, 0, 0 };
  closable->n_chips = quoit_shape_chips (quoit_layout_slice_class (layout, (QuoitSliceId) { slice })->facts.shape);
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    if (!count_bundles (fleet, (QuoitNodeId) { node }, &closable->n_bundles))
      return FALSE;
  return closable->n_bundles > 0;
}

GArray *
quoit_fleet_list_closable (const QuoitFleet *fleet)
{
  GArray *closable = g_array_new (FALSE, FALSE, sizeof (QuoitClosable));

  for (guint32 slice = 0; slice < fleet->layout->n_slices; slice++)
    {
      QuoitClosable one;

      if (!quoit_bits_has (&fleet->free_slices, slice) && is_closable (fleet, slice, &one))
        g_array_append_val (closable, one);
    }
  return closable;
}

/* --- the bound --- */

/* Returns the free chips of a node, in ten-thousandths. */
static guint64
free_chips_e4 (const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint64 e4 = 0;

  if (quoit_fleet_node_use (fleet, node) == QUOIT_USE_NONE)
    e4 = (guint64) kind->chips * QUOIT_AMOUNT_UNIT;
  else
    {
      g_autofree QuoitAmount *left = g_new0 (QuoitAmount, kind->n_resources + 1);
      QuoitChipsLeft chips;

      quoit_fleet_node_left (fleet, node, left, &chips);
      for (guint i = 0; i < chips.n_chips; i++)
        e4 += (guint64) MAX (chips.chip_e4[i], 0);
    }
  return e4;
}

static guint64
common_divisor (guint64 a, guint64 b)
{
  while (b != 0)
    {
      const guint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

guint64
quoit_fleet_bound_gain (const QuoitFleet *fleet, const GArray *closable)
{
  const QuoitLayout *layout = fleet->layout;
  guint64 outside_e4 = 0, n_chips = 0, unit = 0;

  for (guint i = 0; i < closable->len; i++)
    n_chips += g_array_index (closable, QuoitClosable, i).n_chips;
  if (n_chips == 0)
    return 0;
  for (guint32 node = 0; node < layout->n_nodes; node++)
    {
      const guint32 slice = layout->nodes[node].slice;

      if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE
          && (slice == QUOIT_NO_INDEX || !quoit_bits_has (&fleet->free_slices, slice)))
        outside_e4 += free_chips_e4 (fleet, (QuoitNodeId) { node });
    }
  /* Each slice that becomes free, or is not free any more, has a multiple of this. */
  for (guint32 class = 0; class < layout->n_classes; class ++)
    unit = common_divisor (unit, quoit_shape_chips (layout->classes[class].facts.shape));
  return MIN (n_chips, outside_e4 / QUOIT_AMOUNT_UNIT) / MAX (unit, 1) * MAX (unit, 1);
}

/* --- closing --- */

void
quoit_closing_init (QuoitClosing *closing)
{
  *closing = (QuoitClosing) { 0, g_array_new (FALSE, FALSE, sizeof (guint32)),
                              g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref),
                              g_array_new (FALSE, FALSE, sizeof (QuoitBundleMove)) };
}

void
quoit_closing_clear (QuoitClosing *closing)
{
  g_array_unref (closing->slices);
  g_ptr_array_unref (closing->groups);
  g_array_unref (closing->moves);
}

void
quoit_closing_set_states (QuoitFleet *fork, const guint32 *slices, guint n_slices, QuoitNodeState state)
{
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));

  for (guint i = 0; i < n_slices; i++)
    {
      const QuoitSlice *slice = &fork->layout->slices[slices[i]];

      for (guint32 node = slice->first_node; node < slice->first_node + slice->n_nodes; node++)
        {
          const QuoitNodeStateChange change = { fork->layout->nodes[node].id, state };

          g_array_append_val (changes, change);
        }
    }
  quoit_fleet_set_node_states (fork, (const QuoitNodeStateChange *) (const void *) changes->data, changes->len);
}

static gint
by_id (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = *(const QuoitGroupData *const *) a, *y = *(const QuoitGroupData *const *) b;

  return x->id < y->id ? -1 : x->id > y->id;
}

/* Lists each group with bundles on the slices once, by id. The caller owns the array. */
static GPtrArray *
list_groups (const QuoitClosing *closing, const QuoitFleet *fleet)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  GPtrArray *groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref);

  for (guint i = 0; i < closing->slices->len; i++)
    {
      const QuoitSlice *slice = &fleet->layout->slices[g_array_index (closing->slices, guint32, i)];

      for (guint32 node = slice->first_node; node < slice->first_node + slice->n_nodes; node++)
        {
          QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { node });
          const QuoitGroupData *group;

          while ((group = quoit_fleet_users_next (&users)) != NULL)
            if (g_hash_table_add (known, (gpointer) (guintptr) group->id))
              g_ptr_array_add (groups, quoit_group_data_ref (group));
        }
    }
  g_ptr_array_sort (groups, by_id);
  return groups;
}

/* Lists the first hosts of the slices of the layout that the group has, as node ids, and the slices of the group that
 * have them. */
static void
list_first_hosts (const QuoitLayout *layout, const QuoitGroupData *group, GArray *ids, GArray *slices)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    for (guint32 i = quoit_group_first_node (group, s); i < group->slice_end[s]; i++)
      {
        const guint32 node = quoit_layout_find_id (layout, group->node_ids[i]);

        if (node == QUOIT_NO_INDEX || layout->nodes[node].worker_id != 0)
          continue;
        g_array_append_val (ids, group->node_ids[i]);
        g_array_append_val (slices, s);
      }
}

static gboolean
has_id (const GArray *ids, guint32 id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index (ids, guint32, i) == id)
      return TRUE;
  return FALSE;
}

/* Adds the slices of the layout that group number @number has given up, each with one that it has got. */
static void
add_slice_moves (QuoitClosing *closing, const QuoitLayout *layout, guint32 number, const QuoitGroupData *after)
{
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     slices = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     got = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     others = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint to = 0;

  list_first_hosts (layout, closing->groups->pdata[number], left, slices);
  list_first_hosts (layout, after, got, others);
  for (guint i = 0; i < left->len; i++)
    {
      QuoitBundleMove move = { number, g_array_index (slices, guint32, i), g_array_index (left, guint32, i), 0, 0 };

      if (has_id (got, move.from_id))
        continue;
      while (to < got->len && has_id (left, g_array_index (got, guint32, to)))
        to++;
      if (to == got->len)
        return;
      move.to_id = g_array_index (got, guint32, to++);
      g_array_append_val (closing->moves, move);
    }
}

/* Adds the bundles of group number @number that have other nodes than before. */
static void
add_moves (QuoitClosing *closing, guint32 number, const QuoitGroupData *after)
{
  const QuoitGroupData *before = closing->groups->pdata[number];

  for (guint32 i = 0; i < before->n_nodes && i < after->n_nodes; i++)
    if (before->node_ids[i] != after->node_ids[i])
      {
        const QuoitBundleMove move = { number, i, before->node_ids[i], after->node_ids[i], 0 };

        g_array_append_val (closing->moves, move);
      }
}

gboolean
quoit_closing_repair (QuoitClosing *closing, QuoitFleet **fork, const QuoitGroupData *group)
{
  const QuoitGroupRef ref = { group->name, group->id };
  const guint32 number = closing->groups->len;
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_step_repair (*fork, &ref, (*fork)->clock_ms, &entry, &outcome, NULL) || outcome.after == NULL
      || (entry != NULL && !quoit_entry_apply (entry, fork, NULL)))
    return FALSE;
  g_ptr_array_add (closing->groups, quoit_group_data_ref (group));
  if (group->kind == QUOIT_RECORD_BUNDLES)
    add_moves (closing, number, outcome.after);
  else
    add_slice_moves (closing, (*fork)->layout, number, outcome.after);
  return TRUE;
}

/* --- the gain of each move --- */

/* Returns the chips of the slice if it is free when its nodes have so many users; 0 otherwise. */
static gint64
free_chips (const QuoitFleet *after, guint32 slice, GHashTable *n_users)
{
  const QuoitSlice *row;
  const QuoitClass *class;

  if (slice == QUOIT_NO_INDEX
      || after->layout->shelves[after->layout->slices[slice].shelf].class_index == QUOIT_NO_INDEX)
    return 0;
  row = &after->layout->slices[slice];
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    if (GPOINTER_TO_INT (g_hash_table_lookup (n_users, GUINT_TO_POINTER (node + 1))) > 0)
      return 0;
  class = quoit_layout_slice_class (after->layout, (QuoitSliceId) { slice });
  return quoit_shape_chips (class->facts.shape);
}

/* Adds the users of the nodes of the slice to @n_users, unless they are there. */
static void
count_users (const QuoitFleet *fleet, guint32 slice, GHashTable *n_users)
{
  const QuoitSlice *row;

  if (slice == QUOIT_NO_INDEX)
    return;
  row = &fleet->layout->slices[slice];
  if (g_hash_table_contains (n_users, GUINT_TO_POINTER (row->first_node + 1)))
    return;
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    {
      QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { node });
      gint n = quoit_fleet_node_is_external (fleet, (QuoitNodeId) { node }) ? 1 : 0;

      if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE)
        n++;
      while (quoit_fleet_users_next (&users) != NULL)
        n++;
      g_hash_table_insert (n_users, GUINT_TO_POINTER (node + 1), GINT_TO_POINTER (n));
    }
}

static void
add_user (const QuoitLayout *layout, GHashTable *n_users, guint32 id, gint by)
{
  const gpointer key = GUINT_TO_POINTER (quoit_layout_find_id (layout, id) + 1);

  g_hash_table_insert (n_users, key, GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (n_users, key)) + by));
}

/* Makes the moves one after the other, and counts. */
static void
set_gains (QuoitClosing *closing, const QuoitFleet *before)
{
  const QuoitLayout *layout = before->layout;
  g_autoptr (GHashTable) n_users = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < closing->moves->len; i++)
    {
      QuoitBundleMove *move = &g_array_index (closing->moves, QuoitBundleMove, i);
      const guint32 from = quoit_layout_slice_of_id (layout, move->from_id);
      const guint32 to = quoit_layout_slice_of_id (layout, move->to_id);

      count_users (before, from, n_users);
      count_users (before, to, n_users);
      move->gain = -free_chips (before, to, n_users);
      add_user (layout, n_users, move->from_id, -1);
      add_user (layout, n_users, move->to_id, 1);
      move->gain += free_chips (before, from, n_users);
      closing->gain += move->gain;
    }
}

/* --- all of it --- */

static guint64
count_free_chips (const QuoitFleet *fleet)
{
  guint64 n = 0;

  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    n += (guint64) quoit_fleet_class_n_free (fleet, (QuoitClassId) { class })
         * quoit_shape_chips (fleet->layout->classes[class].facts.shape);
  return n;
}

static gboolean
run (QuoitClosing *closing, const QuoitFleet *fleet, guint64 *steps)
{
  const guint32 *slices = (const guint32 *) (const void *) closing->slices->data;
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);
  g_autoptr (GPtrArray) groups = list_groups (closing, fleet);

  fork->is_planned = TRUE;
  quoit_closing_set_states (fork, slices, closing->slices->len, QUOIT_NODE_DRAINING);
  for (guint32 i = 0; i < groups->len; i++)
    {
      if (*steps == 0)
        return FALSE;
      (*steps)--;
      if (!quoit_closing_repair (closing, &fork, groups->pdata[i]))
        return FALSE;
    }
  quoit_closing_set_states (fork, slices, closing->slices->len, QUOIT_NODE_ALIVE);
  set_gains (closing, fleet);
  /* The moves are what the fork has. */
  closing->gain = (gint64) count_free_chips (fork) - (gint64) count_free_chips (fleet);
  return TRUE;
}

gboolean
quoit_closing_make (QuoitClosing *closing, const QuoitFleet *fleet, const guint32 *slices, guint n_slices,
                    guint64 *steps)
{
  quoit_closing_init (closing);
  g_array_append_vals (closing->slices, slices, n_slices);
  quoit_numbers_sort ((guint32 *) (void *) closing->slices->data, closing->slices->len);
  if (run (closing, fleet, steps))
    return TRUE;
  quoit_closing_clear (closing);
  return FALSE;
}

void
quoit_closing_list_entered (const QuoitClosing *closing, const QuoitFleet *before, GArray *slices)
{
  const guint n = slices->len;

  for (guint i = 0; i < closing->moves->len; i++)
    {
      const guint32 to
          = quoit_layout_slice_of_id (before->layout, g_array_index (closing->moves, QuoitBundleMove, i).to_id);
      gboolean is_new = to != QUOIT_NO_INDEX && quoit_bits_has (&before->free_slices, to);

      for (guint j = n; j < slices->len && is_new; j++)
        is_new = g_array_index (slices, guint32, j) != to;
      if (is_new)
        g_array_append_val (slices, to);
    }
}
