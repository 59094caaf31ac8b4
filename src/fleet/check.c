/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of a fleet by brute force: recounts everything that is stored as a counter or an index. */
#include "fleet/ahead.h"
#include "fleet/private.h"
#include "fleet/quotas.h"
#include "fleet/source-kinds.h"
#include "fleet/units.h"

#include <string.h>

static gboolean
contradiction (GError **error, const char *what, const char *where)
{
  return quoit_fail (error, QUOIT_ERROR_FAILED, "the fleet contradicts itself: %s at '%s'", what, where);
}

static gboolean
check_slices (const QuoitFleet *fleet, GError **error)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 s = 0; s < layout->n_slices; s++)
    {
      QuoitSliceStatus counted = quoit_fleet_count_slice (fleet, s);
      const QuoitSliceStatus *stored = quoit_fleet_slice_status (fleet, (QuoitSliceId) { s });
      const char *name = quoit_layout_text (layout, layout->slices[s].name);
      gboolean has_class = layout->shelves[layout->slices[s].shelf].class_index != QUOIT_NO_INDEX;

      if (memcmp (&counted, stored, sizeof counted) != 0)
        return contradiction (error, "the status of a slice differs from the recount", name);
      if (has_class && quoit_bits_has (&fleet->free_slices, s) != (stored->condition == QUOIT_CONDITION_FREE))
        return contradiction (error, "the index of free slices is wrong", name);
      if (!has_class && quoit_condition_health (stored->condition) != QUOIT_SLICE_CANNOT_BE_INTACT)
        return contradiction (error, "a slice without a class is intact", name);
    }
  return TRUE;
}

static gboolean
check_ranks (const QuoitFleet *fleet, const QuoitShelf *shelf, guint32 n_free)
{
  for (guint32 count = 1; shelf->class_index != QUOIT_NO_INDEX && count <= shelf->n_slices; count++)
    if (quoit_bits_has (&fleet->ranks, fleet->layout->positions[shelf->first_position + count - 1])
        != (count == n_free))
      return FALSE;
  return TRUE;
}

static gboolean
check_tallies (const QuoitFleet *fleet, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree QuoitTally *classes = g_new0 (QuoitTally, layout->n_classes + 1);

  for (guint32 h = 0; h < layout->n_shelves; h++)
    {
      const QuoitShelf *shelf = &layout->shelves[h];
      const char *pool = quoit_layout_text (layout, layout->pools[shelf->pool].name);
      guint32 n_free = 0;

      for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
        {
          guint8 condition = quoit_fleet_slice_status (fleet, (QuoitSliceId) { s })->condition;

          if (layout->slices[s].shelf != h)
            return contradiction (error, "a slice does not refer to its shelf", pool);
          n_free += condition == QUOIT_CONDITION_FREE;
          if (shelf->class_index != QUOIT_NO_INDEX)
            classes[shelf->class_index].count[condition]++;
        }
      if (n_free != quoit_fleet_shelf_n_free (fleet, (QuoitShelfId) { h }))
        return contradiction (error, "the number of free slices of a shelf differs from the recount", pool);
      if (!check_ranks (fleet, shelf, n_free))
        return contradiction (error, "the rank of a shelf differs from its number of free slices", pool);
    }
  for (guint32 c = 0; c < layout->n_classes; c++)
    if (memcmp (&classes[c], quoit_fleet_class_tally (fleet, (QuoitClassId) { c }), sizeof classes[c]) != 0)
      return contradiction (error, "the counters of a class differ from the recount",
                            layout->classes[c].facts.machine_type != NULL ? layout->classes[c].facts.machine_type
                                                                          : "class");
  return TRUE;
}

/* Checks the order of the shares of each node. Adds each bundle that has a share to @shares, a map from QuoitBundle to
 * node + 1. */
static gboolean
check_shares (const QuoitFleet *fleet, GHashTable *shares, GError **error)
{
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    {
      QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { i });
      const char *name = quoit_layout_node_name (fleet->layout, (QuoitNodeId) { i });
      const QuoitGroupData *user, *before = NULL;
      const QuoitBundle *bundle = NULL;

      for (; (user = quoit_fleet_users_next (&users)) != NULL && users.bundle != NULL; before = user)
        {
          if (before != NULL && (user == before ? users.bundle <= bundle : user->id <= before->id))
            return contradiction (error, "the shares of a node are not in order", name);
          bundle = users.bundle;
          if (!g_hash_table_insert (shares, (gpointer) bundle, GUINT_TO_POINTER (i + 1)))
            return contradiction (error, "a bundle has two shares", name);
        }
    }
  return TRUE;
}

/* Returns whether @node is recorded as used by the group in @slot: as a whole, or for bundle @i if the group has
 * bundles. */
static gboolean
node_records_use (const QuoitFleet *fleet, guint32 node, guint32 slot, guint32 i, GHashTable *shares)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

  return group->bundles == NULL ? quoit_fleet_node_use (fleet, (QuoitNodeId) { node }) == slot + 1
                                : GPOINTER_TO_UINT (g_hash_table_lookup (shares, &group->bundles[i])) == node + 1;
}

/* The use of nodes, counted from the groups by check_group(). */
typedef struct {
  guint8 *n_whole;  /* by node: the number of groups that have the whole node */
  guint32 n_shares; /* the number of bundles on nodes */
} NodeUseCounts;

/* Checks that indexes find the group, and that its nodes refer to it. Adds the use of the nodes to @counts. */
static gboolean
check_group (const QuoitFleet *fleet, guint32 slot, NodeUseCounts *counts, GHashTable *shares, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GError) fault = NULL;

  if (!quoit_group_data_check (group, &fault))
    return contradiction (error, fault->message, group->name);
  if (*group->key != '\0' && quoit_fleet_find_key (fleet, group->key) != group)
    return contradiction (error, "a group is not found by its key", group->name);
  if (group->id >= fleet->next_group_id)
    return contradiction (error, "the next group would get the id of a group", group->name);
  if (group->state == QUOIT_GROUP_REMOVED)
    return quoit_fleet_find_removed (fleet, group->id) == group
           || contradiction (error, "a removed group is not found by its id", group->name);
  if (quoit_fleet_find_group (fleet, group->name) != group)
    return contradiction (error, "a group is not found by its name", group->name);

  if (quoit_group_next_change_ms (group) != 0 && quoit_group_next_change_ms (group) < quoit_fleet_first_lease (fleet))
    return contradiction (error, "a lease ends before the time of the first lease", group->name);
  if (quoit_group_is_ahead (group))
    return TRUE;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i], index = quoit_layout_find_id (layout, id);

      if (id == 0 && group->kind != QUOIT_RECORD_SLICES)
        continue;
      if (index == QUOIT_NO_INDEX)
        return contradiction (error, "a group has a node that does not exist", group->name);
      if (!node_records_use (fleet, index, slot, i, shares))
        return contradiction (error, "a node of a group does not refer to the group", group->name);
      counts->n_shares += group->bundles != NULL;
      if (group->bundles == NULL && counts->n_whole[index]++ != 0)
        return contradiction (error, "two groups have a node",
                              quoit_layout_node_name (layout, (QuoitNodeId) { index }));
    }
  return TRUE;
}

/* Checks that no amount is negative and that all amounts together are @total: each unit is in exactly one state. */
static gboolean
check_sum (const QuoitUnits *units, QuoitAmount total)
{
  gint64 sum_e4 = 0;

  for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
    {
      if (units->amount[s].e4 < 0 || __builtin_add_overflow (sum_e4, units->amount[s].e4, &sum_e4))
        return FALSE;
    }
  return sum_e4 == total.e4;
}

/* Checks the states of all units of @node, and that placement sees the same units as unused. */
static gboolean
check_units (const QuoitFleet *fleet, QuoitNodeId node, GError **error)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint n_resources = quoit_fleet_node_n_resources (fleet, node);
  g_autofree QuoitAmount *left = g_new0 (QuoitAmount, kind->n_resources + 1);
  QuoitUnits units = quoit_fleet_node_chip_units (fleet, node);
  const char *name = quoit_layout_node_name (fleet->layout, node);
  QuoitChipsLeft chips;

  if (!check_sum (&units, quoit_amount_from_int (kind->chips)))
    return contradiction (error, "the states of the chips do not add up to the chips of a node", name);
  quoit_fleet_node_left (fleet, node, left, &chips);
  for (guint r = 0; r < n_resources; r++)
    {
      units = quoit_fleet_node_units (fleet, node, r);
      if (!check_sum (&units, quoit_fleet_node_total (fleet, node, r)))
        return contradiction (error, "the states of a resource do not add up to the total of a node", name);
      if (r < kind->n_resources && quoit_fleet_node_state (fleet, node) != QUOIT_NODE_DEAD
          && units.amount[QUOIT_UNIT_AVAILABLE].e4 + units.amount[QUOIT_UNIT_DRAINING].e4 != left[r].e4)
        return contradiction (error, "the unused amount of a resource is not what is left of a node", name);
    }
  for (guint c = 0; c < chips.n_chips; c++)
    if (chips.chip_e4[c] < 0)
      return contradiction (error, "bundles have more of a chip than there is", name);
  return TRUE;
}

static gboolean
check_nodes (const QuoitFleet *fleet, const NodeUseCounts *counts, GError **error)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { i });
      const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { i });

      if (quoit_layout_find_id (layout, layout->nodes[i].id) != i || layout->nodes[i].id >= fleet->next_node_id)
        return contradiction (error, "the id of a node is not valid", name);
      if ((use == QUOIT_USE_EXTERNAL && (layout->nodes[i].flags & QUOIT_NODE_EXTERNAL) == 0)
          || (use == QUOIT_USE_NONE && (layout->nodes[i].flags & QUOIT_NODE_EXTERNAL) != 0))
        return contradiction (error, "the external use of a node differs from the report of its source", name);
      if (use != QUOIT_USE_NONE && use != QUOIT_USE_EXTERNAL && (use & QUOIT_USE_SHARED) == 0
          && (use > fleet->n_slots || counts->n_whole[i] != 1))
        return contradiction (error, "a node refers to a group that does not have the node", name);
      if (!check_units (fleet, (QuoitNodeId) { i }, error))
        return FALSE;
    }
  return TRUE;
}

/* Checks that @node has the position of its home claim and the properties of its best-informed claim. Adds the number
 * of rows that the node has in QuoitLayout.joined to *@n_rows. */
static gboolean
check_node_claims (const QuoitLayout *layout, QuoitNodeId node, guint32 *n_rows, GError **error)
{
  const char *name = quoit_layout_node_name (layout, node);
  g_autofree char *node_identity = quoit_layout_node_identity (layout, node), *last_identity = NULL;
  guint32 home = layout->pools[quoit_layout_node_pool (layout, node).index].source, n = 0;
  QuoitSourceKind best = 0;
  QuoitNodeClaim last = { 0 };
  QuoitClaimedState state = { 0 };
  QuoitSourceId source;
  guint kinds = 0;

  while (quoit_layout_node_source (layout, node, n, &source))
    {
      QuoitSourceKind kind = layout->sources[source.index].kind;
      g_autofree char *identity = NULL;
      QuoitNodeClaim claim = quoit_layout_claim (layout, source, node, &identity);

      if (!quoit_layout_claims_node (layout, source, node) || (kinds >> kind & 1) != 0
          || kind < layout->sources[home].kind || layout->pools[claim.pool].source != source.index
          || (source.index == home && strcmp (claim.name, name) != 0))
        return contradiction (error, "the position of a node differs from its claims", name);
      kinds |= 1u << kind;
      n++;
      quoit_claimed_state_add (&state, kind, &claim);
      if (!quoit_source_kind_has_precedence (kind, best))
        continue;
      best = kind;
      last = claim;
      g_free (last_identity);
      last_identity = g_steal_pointer (&identity);
    }
  if (n == 0 || state.state != quoit_layout_claimed_state (layout, node)
      || (last_identity != NULL && strcmp (last_identity, node_identity) != 0)
      || (last.address != NULL && g_strcmp0 (last.address, quoit_layout_node_address (layout, node)) != 0))
    return contradiction (error, "the properties of a node differ from its claims", name);
  *n_rows += n > 1 ? n : 0;
  return TRUE;
}

static gboolean
check_claims (const QuoitLayout *layout, GError **error)
{
  guint32 n_rows = 0;

  for (guint32 i = 0; layout->n_joined > 0 && i < layout->n_nodes; i++)
    if (!check_node_claims (layout, (QuoitNodeId) { i }, &n_rows, error))
      return FALSE;
  return n_rows == layout->n_joined ? TRUE : contradiction (error, "a claim belongs to no node", "sources");
}

/* Checks the list of what lies ahead, and that no two reservations ahead have one node at the same time. */
static gboolean
check_ahead (const QuoitFleet *fleet, guint32 n_ahead, GError **error)
{
  const QuoitGroupData *one, *other;

  if (quoit_fleet_n_ahead (fleet) != n_ahead)
    return contradiction (error, "the list of reservations ahead has more or fewer elements than there are", "groups");
  for (guint i = 0; i < n_ahead; i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, i);

      if (group == NULL || !quoit_group_is_ahead (group)
          || (i > 0 && group->begins_ms < quoit_fleet_ahead_at (fleet, i - 1)->begins_ms))
        return contradiction (error, "the list of reservations ahead is wrong", group == NULL ? "" : group->name);
    }
  return quoit_fleet_ahead_find_overlap (fleet, &one, &other)
         || contradiction (error, "two reservations ahead have a node at one time", other->name);
}

/* Checks that the quotas are those of the records, and that they count what a recount of all groups gives. */
static gboolean
check_quotas (const QuoitFleet *fleet, GError **error)
{
  g_autoptr (QuoitFleet) rebuilt = quoit_fleet_fork (fleet);
  g_autoptr (GError) fault = NULL;

  if (!quoit_fleet_quotas_rebuild (rebuilt, &fault))
    return contradiction (error, fault->message, "quotas");
  if (quoit_quotas_n (fleet->quotas) != quoit_quotas_n (rebuilt->quotas))
    return contradiction (error, "the list of quotas has more or fewer elements than there are", "groups");
  for (guint i = 0; i < quoit_quotas_n (fleet->quotas); i++)
    {
      const QuoitQuotaRow *row = quoit_quotas_row (fleet->quotas, i);
      g_autofree char *text = quoit_quota_format (row->quota);

      if (row->slot != quoit_quotas_row (rebuilt->quotas, i)->slot
          || strcmp (quoit_fleet_group_at (fleet, row->slot)->request, text) != 0)
        return contradiction (error, "the list of quotas is wrong", row->quota->name);
      if (quoit_quotas_used_e4 (fleet->quotas, i) != quoit_quotas_used_e4 (rebuilt->quotas, i)
          || quoit_quotas_cohort_used_e4 (fleet->quotas, i) != quoit_quotas_cohort_used_e4 (rebuilt->quotas, i)
          || quoit_quotas_cohort_nominal_e4 (fleet->quotas, i) != quoit_quotas_cohort_nominal_e4 (rebuilt->quotas, i))
        return contradiction (error, "the chips of a quota differ from the recount", row->quota->name);
    }
  return TRUE;
}

gboolean
quoit_fleet_check (const QuoitFleet *fleet, GError **error)
{
  g_autofree guint8 *n_whole = g_new0 (guint8, fleet->layout->n_nodes + 1);
  NodeUseCounts counts = { .n_whole = n_whole };
  g_autoptr (GHashTable) ids = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_autoptr (GHashTable) shares = g_hash_table_new (NULL, NULL);
  guint32 n_groups = 0, n_live = 0, n_ahead = 0, n_keyed = 0, n_removed = 0;

  if (!check_slices (fleet, error) || !check_tallies (fleet, error) || !check_claims (fleet->layout, error)
      || !check_shares (fleet, shares, error))
    return FALSE;
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group == NULL)
        continue;
      n_groups++;
      n_live += group->state != QUOIT_GROUP_REMOVED;
      n_ahead += quoit_group_is_ahead (group);
      n_removed += group->state == QUOIT_GROUP_REMOVED;
      n_keyed += *group->key != '\0' || (group->state == QUOIT_GROUP_REMOVED && group->kind == QUOIT_RECORD_OWNER);
      if (!g_hash_table_add (ids, &((QuoitGroupData *) group)->id))
        return contradiction (error, "two groups have one id", group->name);
      if (!check_group (fleet, slot, &counts, shares, error))
        return FALSE;
    }
  if (n_groups != fleet->n_groups || fleet->by_name.n != n_live || fleet->by_key.n != n_keyed
      || fleet->by_removed_id.n != n_removed)
    return contradiction (error, "an index of groups has more or fewer entries than there are groups", "groups");
  if (!check_ahead (fleet, n_ahead, error) || !check_quotas (fleet, error))
    return FALSE;
  if (counts.n_shares != g_hash_table_size (shares))
    return contradiction (error, "a share belongs to no bundle on its node", "groups");
  return check_nodes (fleet, &counts, error);
}
