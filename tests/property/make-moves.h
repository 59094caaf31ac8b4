/* SPDX-License-Identifier: Apache-2.0 */
/* Checks plans for joined slices: compares them with a search, and makes their moves on a fork by draining and
 * repairing. */
#pragma once

#include "../support.h"

static inline guint
cube_of (const char *name)
{
  guint cube;

  require (sscanf (name, "p-%u", &cube) == 1, "a cube's name: %s", name);
  return cube;
}

static inline guint
count_joined (const QuoitSnapshot *snapshot, const char *shape, QuoitCubes cubes)
{
  g_autoptr (QuoitSlots) slots = quoit_snapshot_count_joined_slots (snapshot, "v5p", shape, cubes, T0, NULL);

  return slots == NULL ? 0 : quoit_slots_get_least (slots, 0, QUOIT_SLOTS_NOW);
}

static inline void
set_states (QuoitFork *fork, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan, QuoitNodeState state)
{
  for (uint32_t i = 0; i < quoit_defragmentation_get_n_slices (plan); i++)
    {
      const uint32_t slice = quoit_defragmentation_get_slice (plan, i);
      const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);

      for (uint32_t node = first; node < first + quoit_snapshot_get_slice_n_nodes (snapshot, slice); node++)
        {
          g_autofree char *name = quoit_snapshot_dup_node_full_name (snapshot, node);

          require (quoit_fork_set_node_state (fork, name, state, T0, NULL), "%s", name);
        }
    }
}

/* Returns whether the group of the snapshot has a host of the cube. */
static inline gboolean
has_cube (const QuoitSnapshot *snapshot, const char *handle, const char *cube)
{
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, handle, NULL);

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
      {
        g_autofree char *own = quoit_group_dup_worker_slice (group, s, w);

        if (g_str_equal (own, cube))
          return TRUE;
      }
  return FALSE;
}

/* Makes the moves on a fork, and compares what the plan says about them. */
static inline void
make_moves (guint32 seed, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan, const char *shape,
            QuoitCubes cubes, guint n_chips)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitSnapshot) after = NULL;
  guint n_before, n_after;
  gint64 gain = 0;

  set_states (fork, snapshot, plan, QUOIT_NODE_DRAINING);
  for (uint32_t i = 0; i < quoit_defragmentation_get_n_groups (plan); i++)
    {
      g_autofree char *group = quoit_defragmentation_dup_group (plan, i);
      QuoitGroupChange *change = quoit_fork_repair (fork, group, T0, NULL, NULL);

      require (change != NULL, "seed %u: %s", seed, group);
      quoit_group_change_free (change);
    }
  set_states (fork, snapshot, plan, QUOIT_NODE_ALIVE);
  after = quoit_fork_snapshot (fork);
  n_before = count_joined (snapshot, shape, cubes);
  n_after = count_joined (after, shape, cubes);
  require (n_after == n_before + quoit_defragmentation_get_gain (plan) / n_chips, "seed %u, %s: %u, then %u", seed,
           shape, n_before, n_after);
  for (uint32_t i = 0; i < quoit_defragmentation_get_n_moves (plan); i++)
    {
      g_autofree char *group = quoit_defragmentation_dup_group (plan, quoit_defragmentation_get_move_group (plan, i));
      g_autofree char *from = quoit_defragmentation_dup_move_from (plan, i),
                      *to = quoit_defragmentation_dup_move_to (plan, i);

      gain += quoit_defragmentation_get_move_gain (plan, i);
      require (has_cube (snapshot, group, from) && !has_cube (after, group, from) && !has_cube (snapshot, group, to)
                   && has_cube (after, group, to),
               "seed %u: %s from %s to %s", seed, group, from, to);
    }
  require (gain == (gint64) quoit_defragmentation_get_gain (plan), "seed %u: %" G_GINT64_FORMAT, seed, gain);
}

/* How many plans were compared; in how many moves help, and of these, how many have the greatest gain, the greatest
 * gain with the fewest moves, and a proof. */
typedef struct {
  guint n_planned, n_gains, n_greatest, n_shortest, n_best;
} PlanCounts;

/* Compares the plan with @costs: by number of slices that can be joined, 0 to @most, how many cubes have to move at
 * least; G_MAXUINT: no sequence leads to it. Makes its moves. */
static inline void
compare_plan (guint32 seed, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan, const char *shape,
              QuoitCubes cubes, guint n_cubes, const guint *costs, guint most, PlanCounts *counts)
{
  const guint n_chips = 64 * n_cubes, before = count_joined (snapshot, shape, cubes);
  const guint gain = (guint) quoit_defragmentation_get_gain (plan) / n_chips;
  const guint moves = quoit_defragmentation_get_n_moves (plan);
  const gboolean is_best = quoit_defragmentation_get_state (plan) == QUOIT_DEFRAGMENTATION_BEST;
  guint greatest = 0, cheapest = G_MAXUINT;

  for (guint value = 0; value <= most; value++)
    if (costs[value] != G_MAXUINT)
      greatest = value;
  for (guint value = before + gain; value <= most; value++)
    cheapest = MIN (cheapest, costs[value]);
  require (before <= most && costs[before] == 0 && before + gain <= greatest && moves >= cheapest,
           "seed %u, %s: %u more of %u with %u moves, expected at most %u, and %u moves", seed, shape, gain, before,
           moves, greatest, cheapest);
  require (quoit_defragmentation_get_gain_bound (plan) >= (guint64) (greatest - before) * n_chips
               && quoit_defragmentation_get_moves_bound (plan) <= cheapest,
           "seed %u, %s: the bounds are %u and %u, expected %u and %u", seed, shape,
           (guint) quoit_defragmentation_get_gain_bound (plan) / n_chips, quoit_defragmentation_get_moves_bound (plan),
           greatest - before, cheapest);
  if (is_best)
    require (before + gain == greatest && moves == cheapest, "seed %u, %s: not the best plan", seed, shape);
  make_moves (seed, snapshot, plan, shape, cubes, n_chips);
  counts->n_planned++;
  if (greatest == before)
    return;
  counts->n_gains++;
  counts->n_greatest += before + gain == greatest;
  counts->n_shortest += before + gain == greatest && moves == cheapest;
  counts->n_best += is_best;
}
