/* SPDX-License-Identifier: Apache-2.0 */
#include "map-slices.h"

#include <stdbool.h>
#include <string.h>

#include "fleet-view.h"
#include "group-names.h"
#include "group-view.h"

/* Appends a slice unless it was the last one appended. This avoids duplicates, because the nodes of a slice have
 * successive indices. */
static void
add_slice (GArray *slices, uint32_t slice)
{
  if (slices->len == 0 || g_array_index (slices, uint32_t, slices->len - 1) != slice)
    g_array_append_val (slices, slice);
}

/* Adds the slices with nodes that the group uses, ordered by index. */
static bool
add_slices_of_group (GArray *slices, const QuoitSnapshot *snapshot, const QuoitGroup *group, GError **error)
{
  const char *label = quoit_group_get_handle (group);
  uint64_t id = quoit_group_get_id (group);

  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    for (uint32_t u = 0; u < quoit_snapshot_get_node_n_users (snapshot, node); u++)
      {
        int64_t slice = quoit_snapshot_get_node_slice (snapshot, node);

        if (slice >= 0 && quoit_snapshot_get_node_user_id (snapshot, node, u) == id)
          add_slice (slices, (uint32_t) slice);
      }
  if (slices->len > 0)
    return true;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "group '%s' uses no host of a slice", label);
  return false;
}

/* Finds the pool with this short or full name; *@pool is -1 if there is none. */
static bool
find_pool (const QuoitSnapshot *snapshot, const char *name, int64_t *pool, GError **error)
{
  g_autofree char *first = NULL;

  *pool = -1;
  for (uint32_t i = 0; i < quoit_snapshot_get_n_pools (snapshot); i++)
    {
      g_autofree char *full = pool_full_name (snapshot, i);

      if (!g_str_equal (name, full) && !g_str_equal (name, quoit_snapshot_get_pool_name (snapshot, i)))
        continue;
      if (*pool >= 0)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                       "pool name '%s' is ambiguous: use a full name such as '%s' or '%s'", name, first, full);
          return false;
        }
      *pool = i;
      first = g_steal_pointer (&full);
    }
  return true;
}

/* @pool -1: all pools. */
static void
add_pool (GArray *slices, const QuoitSnapshot *snapshot, int64_t pool)
{
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    if (pool < 0 || quoit_snapshot_get_slice_pool (snapshot, slice) == pool)
      add_slice (slices, slice);
}

static bool
is_not_found (GError **why)
{
  return g_error_matches (*why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND) ? g_clear_error (why), true : false;
}

/* Adds the slices of the slice, group or pool with that name. */
static bool
add_named (GArray *slices, const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  GError *why = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  uint32_t slice;
  int64_t pool;

  if (quoit_snapshot_lookup_slice (snapshot, name, &slice, &why))
    return add_slice (slices, slice), true;
  if (!is_not_found (&why))
    return g_propagate_error (error, why), false;
  /* A group's name has no '/'. */
  if (strchr (name, '/') == NULL)
    {
      g_autofree char *whole = group_name_complete (snapshot, name, error);

      if (whole == NULL)
        return false;
      group = quoit_snapshot_lookup_group (snapshot, whole, &why);
      if (group != NULL)
        return group_check_has_begun (group, "map", error) && add_slices_of_group (slices, snapshot, group, error);
      if (!is_not_found (&why))
        return g_propagate_error (error, why), false;
    }
  if (!find_pool (snapshot, name, &pool, error))
    return false;
  if (pool >= 0)
    return add_pool (slices, snapshot, pool), true;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "'%s': expected the name of a slice, group or pool", name);
  return false;
}

GArray *
find_slices (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  if (name == NULL)
    add_pool (slices, snapshot, -1);
  else if (!add_named (slices, snapshot, name, error))
    return NULL;
  return g_steal_pointer (&slices);
}

/* --- the group of a mesh --- */

/* Returns the kind of an object that is not a group and has that name, "slice" or "pool"; NULL: there is none. */
static const char *
find_other_kind (const QuoitSnapshot *snapshot, const char *name)
{
  g_autoptr (GError) why = NULL;
  uint32_t slice;
  int64_t pool;

  if (quoit_snapshot_lookup_slice (snapshot, name, &slice, &why)
      || !g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    return "slice";
  return !find_pool (snapshot, name, &pool, NULL) || pool >= 0 ? "pool" : NULL;
}

QuoitGroup *
find_mesh_group (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  GError *why = NULL;
  QuoitGroup *group = group_find (snapshot, name, &why);
  const char *kind = group == NULL ? find_other_kind (snapshot, name) : NULL;

  if (kind == NULL)
    {
      if (group == NULL)
        g_propagate_error (error, why);
      return group;
    }
  g_clear_error (&why);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "'%s' is the name of a %s: expected a group", name, kind);
  return NULL;
}

/* Processes are ordered by slice id, and processes without chips come last. */
GArray *
find_slices_of_processes (const QuoitSnapshot *snapshot, const QuoitTopology *processes, GError **error)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (processes); p++)
    if (quoit_topology_get_n_chips (processes, p) > 0 && quoit_topology_get_slice_id (processes, p) == slices->len)
      {
        g_autofree char *name = quoit_topology_dup_slice_full_name (processes, p);
        uint32_t slice;

        if (!quoit_snapshot_lookup_slice (snapshot, name, &slice, error))
          return NULL;
        g_array_append_val (slices, slice);
      }
  return g_steal_pointer (&slices);
}
