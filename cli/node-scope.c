/* SPDX-License-Identifier: Apache-2.0 */
#include "node-scope.h"

#include "fleet-view.h"
#include "text.h"

void
node_scope_clear (NodeScope *scope)
{
  g_free (scope->name);
  g_clear_pointer (&scope->nodes, g_array_unref);
}

/* --- the kinds of names --- */

/* Appends the nodes with that name to @nodes. Fails if a name is ambiguous; an unknown name is no failure. */
typedef bool (*AppendFunc) (const QuoitSnapshot *snapshot, const char *name, GArray *nodes, GError **error);

static void
append_nodes (GArray *nodes, uint32_t first, uint32_t n)
{
  for (uint32_t node = first; node < first + n; node++)
    g_array_append_val (nodes, node);
}

/* Whether a lookup failed because there is no such name. */
static bool
is_unknown (GError *why, GError **error)
{
  if (g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    return g_error_free (why), true;
  g_propagate_error (error, why);
  return false;
}

static bool
append_node (const QuoitSnapshot *snapshot, const char *name, GArray *nodes, GError **error)
{
  GError *why = NULL;
  uint32_t node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, &why))
    return is_unknown (why, error);
  return append_nodes (nodes, node, 1), true;
}

static bool
append_slice (const QuoitSnapshot *snapshot, const char *name, GArray *nodes, GError **error)
{
  GError *why = NULL;
  uint32_t slice;

  if (!quoit_snapshot_lookup_slice (snapshot, name, &slice, &why))
    return is_unknown (why, error);
  append_nodes (nodes, quoit_snapshot_get_slice_first_node (snapshot, slice),
                quoit_snapshot_get_slice_n_nodes (snapshot, slice));
  return true;
}

/* Whether the pool is called @name: POOL or SOURCE/POOL, as in requests. */
static bool
is_pool (const QuoitSnapshot *snapshot, uint32_t pool, const char *name)
{
  g_autofree char *full_name = pool_full_name (snapshot, pool);

  return g_str_equal (quoit_snapshot_get_pool_name (snapshot, pool), name) || g_str_equal (full_name, name);
}

static bool
append_pools (const QuoitSnapshot *snapshot, const char *name, GArray *nodes, GError **error)
{
  const uint32_t n_nodes = quoit_snapshot_get_n_nodes (snapshot), n_pools = quoit_snapshot_get_n_pools (snapshot);
  g_autofree bool *is_named = g_new0 (bool, n_pools + 1);
  bool is_known = false;

  for (uint32_t pool = 0; pool < n_pools; pool++)
    is_known |= is_named[pool] = is_pool (snapshot, pool, name);
  for (uint32_t node = 0; is_known && node < n_nodes; node++)
    if (is_named[quoit_snapshot_get_node_pool (snapshot, node)])
      append_nodes (nodes, node, 1);
  return true;
}

/* A node can have the label of Ray, or that of Kubernetes. */
static const char *const zone_keys[] = { "ray.io/availability-zone", "topology.kubernetes.io/zone" };

char *
node_scope_dup_zone (const QuoitSnapshot *snapshot, uint32_t node)
{
  char *zone = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (zone_keys) && zone == NULL; i++)
    zone = quoit_snapshot_dup_node_label (snapshot, node, zone_keys[i]);
  return zone;
}

static bool
is_in_zone (const QuoitSnapshot *snapshot, uint32_t node, const char *zone)
{
  for (guint i = 0; i < G_N_ELEMENTS (zone_keys); i++)
    {
      g_autofree char *value = quoit_snapshot_dup_node_label (snapshot, node, zone_keys[i]);

      if (g_strcmp0 (value, zone) == 0)
        return true;
    }
  return false;
}

static bool
append_zone (const QuoitSnapshot *snapshot, const char *name, GArray *nodes, GError **error)
{
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    if (is_in_zone (snapshot, node, name))
      append_nodes (nodes, node, 1);
  return true;
}

static const struct {
  const char *word;
  AppendFunc append;
} kinds[] = {
  { "node", append_node },
  { "slice", append_slice },
  { "pool", append_pools },
  { "zone", append_zone },
};

/* --- finding --- */

static bool
refuse_two_kinds (const char *name, guint first, guint second, GError **error)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "'%s' is the name of a %s and of a %s: expected '%s %s' or '%s %s'", name, kinds[first].word,
               kinds[second].word, kinds[first].word, name, kinds[second].word, name);
  return false;
}

/* A slice of one host can have the name of its node. Returns whether that is the only node after @n_before, and removes
 * it. */
static bool
forget_same_node (GArray *nodes, guint n_before)
{
  if (n_before != 1 || nodes->len != 2 || g_array_index (nodes, uint32_t, 0) != g_array_index (nodes, uint32_t, 1))
    return false;
  g_array_set_size (nodes, 1);
  return true;
}

static bool
find_any (const QuoitSnapshot *snapshot, const char *name, NodeScope *scope, GError **error)
{
  guint first = G_N_ELEMENTS (kinds);

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    {
      const guint n_before = scope->nodes->len;

      if (!kinds[kind].append (snapshot, name, scope->nodes, error))
        return false;
      if (scope->nodes->len == n_before || forget_same_node (scope->nodes, n_before))
        continue;
      if (first < G_N_ELEMENTS (kinds))
        return refuse_two_kinds (name, first, kind, error);
      first = kind;
    }
  scope->name = g_strdup_printf ("%s '%s'", first < G_N_ELEMENTS (kinds) ? kinds[first].word : "", name);
  if (scope->nodes->len > 0)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
               "'%s': no such node, slice, pool or zone: see quoit nodes, slices and status", name);
  return false;
}

bool
node_scope_find (const QuoitSnapshot *snapshot, char *const *words, NodeScope *scope, GError **error)
{
  guint kind = 0;

  scope->nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  if (words[1] == NULL)
    return find_any (snapshot, words[0], scope, error);
  while (kind < G_N_ELEMENTS (kinds) && !g_str_equal (kinds[kind].word, words[0]))
    kind++;
  if (kind == G_N_ELEMENTS (kinds))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "'%s': expected node, slice, pool or zone before the name '%s'", words[0], words[1]);
      return false;
    }
  scope->name = g_strdup_printf ("%s '%s'", words[0], words[1]);
  if (!kinds[kind].append (snapshot, words[1], scope->nodes, error))
    return false;
  if (scope->nodes->len > 0)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "%s '%s': no such %s in the fleet, or it has no nodes",
               words[0], words[1], words[0]);
  return false;
}
