/* SPDX-License-Identifier: Apache-2.0 */
#include "drained-view.h"

#include <stdlib.h>
#include <string.h>

#include "fleet-view.h"

/* The nodes of a pool or slice that are not dead, and those of them that are draining. */
typedef struct {
  uint32_t n_live, n_draining;
  const char *reason; /* of all draining nodes; NULL: they have different ones */
} Draining;

static void
count_node (Draining *draining, const QuoitSnapshot *snapshot, uint32_t node)
{
  const QuoitNodeState state = quoit_snapshot_get_node_state (snapshot, node);
  const char *reason = quoit_snapshot_get_node_reason (snapshot, node);

  draining->n_live += state != QUOIT_NODE_DEAD;
  if (state != QUOIT_NODE_DRAINING)
    return;
  if (draining->n_draining == 0)
    draining->reason = reason;
  else if (draining->reason != NULL && strcmp (draining->reason, reason) != 0)
    draining->reason = NULL;
  draining->n_draining++;
}

/* Whether one row can stand for all nodes. */
static bool
is_whole (const Draining *draining)
{
  return draining->n_draining > 1 && draining->n_draining == draining->n_live && draining->reason != NULL;
}

static int
by_text (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the names of all pools in order. The caller owns the array, but not the names. */
static const char **
sort_pool_names (const QuoitSnapshot *snapshot)
{
  const uint32_t n = quoit_snapshot_get_n_pools (snapshot);
  const char **names = g_new0 (const char *, n + 1);

  for (uint32_t pool = 0; pool < n; pool++)
    names[pool] = quoit_snapshot_get_pool_name (snapshot, pool);
  qsort (names, n, sizeof *names, by_text);
  return names;
}

/* Whether only one of the @n names in order is @name, which is one of them. */
static bool
is_unique (const char *const *names, uint32_t n, const char *name)
{
  const char *const *found = bsearch (&name, names, n, sizeof *names, by_text);

  return (found == names || strcmp (found[-1], name) != 0) && (found == names + n - 1 || strcmp (found[1], name) != 0);
}

/* A source that gives a reason reports the state again with each sync, so undrain would not last. */
static char *
describe (const char *kind, const char *name, uint32_t n, const char *reason)
{
  g_autofree char *who = n == 1 ? g_strdup ("it is") : g_strdup_printf ("its %u nodes are", n);

  if (reason[0] != '\0')
    return g_strdup_printf ("%s draining (%s): end that in the source, and sync", who, reason);
  return g_strdup_printf ("%s draining: 'quoit undrain %s %s' ends that", who, kind, name);
}

/* Takes @shown and @full_name. */
static void
add_row (Table *problems, const char *kind, const char *name, char *shown, char *full_name, const Draining *draining)
{
  table_add_text (problems, kind);
  table_add_text (problems, name);
  table_add_text (problems, shown);
  table_take_text (problems, full_name);
  table_take_text (problems, describe (kind, shown, draining->n_draining, draining->reason));
  g_free (shown);
}

/* A pool is shown with its short name if that is unique, otherwise with its full name. */
static void
add_pools (Table *problems, const QuoitSnapshot *snapshot, const Draining *pools)
{
  const uint32_t n = quoit_snapshot_get_n_pools (snapshot);
  g_autofree const char **names = sort_pool_names (snapshot);

  for (uint32_t pool = 0; pool < n; pool++)
    {
      const char *name = quoit_snapshot_get_pool_name (snapshot, pool);
      char *full_name;

      if (!is_whole (&pools[pool]))
        continue;
      full_name = pool_full_name (snapshot, pool);
      add_row (problems, "pool", name, g_strdup (is_unique (names, n, name) ? name : full_name), full_name,
               &pools[pool]);
    }
}

static void
add_slices (Table *problems, const QuoitSnapshot *snapshot, const Draining *pools, const Draining *slices)
{
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    if (is_whole (&slices[slice]) && !is_whole (&pools[quoit_snapshot_get_slice_pool (snapshot, slice)]))
      add_row (problems, "slice", quoit_snapshot_get_slice_name (snapshot, slice), slice_display_name (snapshot, slice),
               quoit_snapshot_dup_slice_full_name (snapshot, slice), &slices[slice]);
}

static void
add_nodes (Table *problems, const QuoitSnapshot *snapshot, const Draining *pools, const Draining *slices)
{
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    {
      const int64_t slice = quoit_snapshot_get_node_slice (snapshot, node);
      Draining one = { 0 };

      count_node (&one, snapshot, node);
      if (one.n_draining == 0 || is_whole (&pools[quoit_snapshot_get_node_pool (snapshot, node)])
          || (slice >= 0 && is_whole (&slices[slice])))
        continue;
      add_row (problems, "node", quoit_snapshot_get_node_name (snapshot, node), node_display_name (snapshot, node),
               quoit_snapshot_dup_node_full_name (snapshot, node), &one);
    }
}

void
drained_add (Table *problems, const QuoitSnapshot *snapshot)
{
  g_autofree Draining *pools = g_new0 (Draining, quoit_snapshot_get_n_pools (snapshot) + 1);
  g_autofree Draining *slices = g_new0 (Draining, quoit_snapshot_get_n_slices (snapshot) + 1);

  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    {
      const int64_t slice = quoit_snapshot_get_node_slice (snapshot, node);

      count_node (&pools[quoit_snapshot_get_node_pool (snapshot, node)], snapshot, node);
      if (slice >= 0)
        count_node (&slices[slice], snapshot, node);
    }
  add_pools (problems, snapshot, pools);
  add_slices (problems, snapshot, pools, slices);
  add_nodes (problems, snapshot, pools, slices);
}
