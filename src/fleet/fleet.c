/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/ahead.h"
#include "fleet/counts.h"
#include "fleet/quotas.h"

#include <string.h>

static const QuoitTableType nodes_type = { .chunk_bytes = sizeof (QuoitNodeChunk) };
static const QuoitTableType slices_type = { .chunk_bytes = QUOIT_SLICES_PER_CHUNK * sizeof (QuoitSliceStatus) };
static const QuoitTableType shelves_type = { .chunk_bytes = QUOIT_SHELVES_PER_CHUNK * sizeof (guint32) };
static const QuoitTableType classes_type = { .chunk_bytes = QUOIT_CLASSES_PER_CHUNK * sizeof (QuoitTally) };

/* The members of a fleet that forks share, by type. Fork and unref handle each of them. */
#define EACH_TABLE(X) X (nodes) X (slices) X (shelves) X (classes) X (shares) X (groups)
#define EACH_BITS(X) X (free_slices) X (ranks)
#define EACH_INDEX(X) X (by_name) X (by_key) X (by_removed_id)

QuoitFleet *
quoit_fleet_ref (const QuoitFleet *fleet)
{
  g_atomic_ref_count_inc (&((QuoitFleet *) fleet)->refs);
  return (QuoitFleet *) fleet;
}

void
quoit_fleet_unref (QuoitFleet *fleet)
{
  if (fleet == NULL || !g_atomic_ref_count_dec (&fleet->refs))
    return;
#define CLEAR(member) quoit_table_clear (&fleet->member);
  EACH_TABLE (CLEAR)
#undef CLEAR
#define CLEAR(member) quoit_bits_clear (&fleet->member);
  EACH_BITS (CLEAR)
#undef CLEAR
#define CLEAR(member) quoit_index_clear (&fleet->member);
  EACH_INDEX (CLEAR)
#undef CLEAR
  g_clear_pointer (&fleet->ahead, quoit_ahead_unref);
  g_clear_pointer (&fleet->promised, g_hash_table_unref);
  g_clear_pointer (&fleet->quotas, quoit_quotas_unref);
  quoit_layout_unref (fleet->layout);
  g_free (fleet);
}

QuoitFleet *
quoit_fleet_fork (const QuoitFleet *fleet)
{
  QuoitFleet *fork = g_memdup2 (fleet, sizeof *fleet);

  g_atomic_ref_count_init (&fork->refs);
  quoit_layout_ref (fork->layout);
  if (fork->ahead != NULL)
    g_atomic_ref_count_inc (&fork->ahead->refs);
  if (fork->promised != NULL)
    g_hash_table_ref (fork->promised);
  if (fork->quotas != NULL)
    quoit_quotas_ref (fork->quotas);
#define SHARE(member) quoit_table_share (&fleet->member, &fork->member);
  EACH_TABLE (SHARE)
#undef SHARE
#define SHARE(member) quoit_bits_share (&fleet->member, &fork->member);
  EACH_BITS (SHARE)
#undef SHARE
#define SHARE(member) quoit_index_share (&fleet->member, &fork->member);
  EACH_INDEX (SHARE)
#undef SHARE
  return fork;
}

const QuoitSliceStatus *
quoit_fleet_slice_status (const QuoitFleet *fleet, QuoitSliceId slice)
{
  return (const QuoitSliceStatus *) quoit_table_peek (&fleet->slices, slice.index / QUOIT_SLICES_PER_CHUNK)
         + slice.index % QUOIT_SLICES_PER_CHUNK;
}

guint32
quoit_fleet_shelf_n_free (const QuoitFleet *fleet, QuoitShelfId shelf)
{
  return ((const guint32 *) quoit_table_peek (
      &fleet->shelves, shelf.index / QUOIT_SHELVES_PER_CHUNK))[shelf.index % QUOIT_SHELVES_PER_CHUNK];
}

void
quoit_fleet_copy_shelves_n_free (const QuoitFleet *fleet, guint32 *n_free)
{
  const guint32 n = fleet->layout->n_shelves;

  for (guint32 at = 0; at < n; at += QUOIT_SHELVES_PER_CHUNK)
    memcpy (n_free + at, quoit_table_peek (&fleet->shelves, at / QUOIT_SHELVES_PER_CHUNK),
            MIN (n - at, QUOIT_SHELVES_PER_CHUNK) * sizeof *n_free);
}

const QuoitTally *
quoit_fleet_class_tally (const QuoitFleet *fleet, QuoitClassId class_id)
{
  return (const QuoitTally *) quoit_table_peek (&fleet->classes, class_id.index / QUOIT_CLASSES_PER_CHUNK)
         + class_id.index % QUOIT_CLASSES_PER_CHUNK;
}

guint32
quoit_fleet_class_count (const QuoitFleet *fleet, QuoitClassId class_id, QuoitSliceFlags flag)
{
  const QuoitTally *tally = quoit_fleet_class_tally (fleet, class_id);
  guint32 n = 0;

  for (guint condition = 0; condition < QUOIT_N_SLICE_CONDITIONS; condition++)
    if ((quoit_condition_flags ((guint8) condition) & flag) != 0)
      n += tally->count[condition];
  return n;
}

/* --- updates of counters --- */

void
quoit_counts_update_flush_free_bits (QuoitFleet *fleet, QuoitCountsUpdate *update)
{
  if (update->free_bits != 0)
    quoit_bits_change_word (&fleet->free_slices, update->free_word, update->free_bits);
  update->free_bits = 0;
}

void
quoit_counts_update_flush_class (QuoitFleet *fleet, QuoitCountsUpdate *update)
{
  if (update->n_in_class > 0)
    quoit_fleet_count_in_class (fleet, update->class_index, update->n_in_class, update->from, update->to);
  update->n_in_class = 0;
}

void
quoit_counts_update_flush (QuoitFleet *fleet, QuoitCountsUpdate *update)
{
  if (update->n_on_shelf == 0)
    return;
  quoit_counts_update_flush_shelf (fleet, update);
  quoit_counts_update_flush_class (fleet, update);
  quoit_counts_update_flush_free_bits (fleet, update);
}

void
quoit_counts_update_switch (QuoitFleet *fleet, QuoitCountsUpdate *update, guint8 from, guint8 to)
{
  quoit_counts_update_flush (fleet, update);
  update->from = from;
  update->to = to;
}

/* --- status of slices --- */

/* Returns the faults (QuoitFault) that an alive node of @kind causes in a slice of class @class_index. */
static guint8
kind_faults (const QuoitLayout *layout, guint32 kind, guint32 class_index)
{
  const QuoitKindClass *kind_class = &layout->kind_class[kind];
  const QuoitSliceFacts *slice_facts, *node_facts;

  if (kind_class->class_index == class_index || kind_class->class_index == QUOIT_NO_INDEX
      || class_index == QUOIT_NO_INDEX)
    return kind_class->faults;
  slice_facts = &layout->classes[class_index].facts;
  node_facts = &layout->classes[kind_class->class_index].facts;
  if (slice_facts->generation != node_facts->generation || !quoit_shape_equal (slice_facts->shape, node_facts->shape))
    return kind_class->faults | QUOIT_FAULT_TOPOLOGY;
  return kind_class->faults | QUOIT_FAULT_CHIPS;
}

/* Returns whether a group has all or a part of the node. */
static gboolean
is_allocated (const QuoitFleet *fleet, QuoitNodeId node, guint32 use)
{
  QuoitUsers users;
  const QuoitGroupData *user;

  if (use == QUOIT_USE_NONE || use == QUOIT_USE_EXTERNAL)
    return FALSE;
  users = quoit_fleet_node_users (fleet, node);
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (user->kind != QUOIT_RECORD_EXTERNAL)
      return TRUE;
  return FALSE;
}

/* Returns whether each worker id of the slice has a node, alive or dead, without faults. */
static gboolean
has_all_workers (const QuoitLayout *layout, guint32 slice)
{
  const QuoitSlice *row = &layout->slices[slice];
  guint32 class_index = layout->shelves[row->shelf].class_index, n_workers = 0;
  guint32 hosts = layout->classes[class_index].facts.hosts;
  guint64 worker_bits[QUOIT_MAX_HOSTS / 64] = { 0 }; /* a bit for each worker id that has a node */

  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    {
      gint16 worker = layout->nodes[i].worker_id;

      if (worker < 0 || (guint32) worker >= hosts || (worker_bits[worker / 64] >> (worker % 64) & 1) != 0
          || kind_faults (layout, layout->nodes[i].kind, class_index) != 0)
        continue;
      worker_bits[worker / 64] |= (guint64) 1 << (worker % 64);
      n_workers++;
    }
  return n_workers == hosts;
}

static QuoitSliceHealth
compute_health (const QuoitLayout *layout, guint32 slice, const QuoitSliceStatus *status)
{
  if (layout->shelves[layout->slices[slice].shelf].class_index == QUOIT_NO_INDEX || status->faults != 0)
    return QUOIT_SLICE_CANNOT_BE_INTACT;
  if (status->n_missing == 0)
    return QUOIT_SLICE_IS_INTACT;
  return has_all_workers (layout, slice) ? QUOIT_SLICE_COULD_BE_INTACT : QUOIT_SLICE_CANNOT_BE_INTACT;
}

QuoitSliceStatus
quoit_fleet_count_slice (const QuoitFleet *fleet, guint32 slice)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];
  guint32 class_index = layout->shelves[row->shelf].class_index, pod_type_kind = QUOIT_NO_INDEX;
  guint32 hosts = class_index == QUOIT_NO_INDEX ? 0 : layout->classes[class_index].facts.hosts;
  QuoitSliceStatus status = { .faults = class_index == QUOIT_NO_INDEX ? QUOIT_FAULT_TOPOLOGY : 0 };
  guint64 worker_bits[QUOIT_MAX_HOSTS / 64] = { 0 }; /* a bit for each worker id that has a node */
  guint32 n_workers = 0;

  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    {
      QuoitNodeId node = { i };
      guint32 use = quoit_fleet_node_use (fleet, node), kind = layout->nodes[i].kind;
      gint16 worker = layout->nodes[i].worker_id;

      status.n_used += use != QUOIT_USE_NONE;
      status.n_whole += use != QUOIT_USE_NONE && (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0);
      status.n_allocated += is_allocated (fleet, node, use);
      if (quoit_fleet_node_state (fleet, node) == QUOIT_NODE_DEAD)
        continue;
      status.n_draining += quoit_fleet_node_state (fleet, node) == QUOIT_NODE_DRAINING;
      status.faults |= kind_faults (layout, kind, class_index);
      /* In a slice with a class, kind_faults() compares each pod type with the topology. Without a class, compare the
         pod types of adjacent nodes with each other. */
      if (class_index == QUOIT_NO_INDEX && pod_type_kind != QUOIT_NO_INDEX
          && g_strcmp0 (quoit_claims_kind_at (layout->kinds, pod_type_kind)->pod_type,
                        quoit_claims_kind_at (layout->kinds, kind)->pod_type)
                 != 0)
        status.faults |= QUOIT_FAULT_POD_TYPE;
      pod_type_kind = kind;
      if (worker < 0)
        status.faults |= QUOIT_FAULT_NO_WORKER_ID;
      else if ((guint32) worker >= hosts)
        status.faults |= hosts == 0 ? 0 : QUOIT_FAULT_TOO_MANY_HOSTS;
      else if ((worker_bits[worker / 64] >> (worker % 64) & 1) != 0)
        status.faults |= QUOIT_FAULT_DUPLICATE_WORKER_ID;
      else
        {
          worker_bits[worker / 64] |= (guint64) 1 << (worker % 64);
          n_workers++;
        }
    }
  status.n_missing = (guint16) (hosts - n_workers);
  status.condition = quoit_condition (compute_health (layout, slice, &status), status.n_draining > 0,
                                      quoit_slice_status_use (&status, row->n_nodes));
  return status;
}

void
quoit_fleet_recount_slice (QuoitFleet *fleet, guint32 slice)
{
  QuoitSliceStatus *status = quoit_fleet_own_slice (fleet, slice);
  guint8 before = status->condition;

  *status = quoit_fleet_count_slice (fleet, slice);
  if (status->condition != before)
    quoit_fleet_count_change (fleet, slice, fleet->layout->slices[slice].shelf, before, status->condition);
}

void
quoit_fleet_set_node_state (QuoitFleet *fleet, QuoitNodeId node, QuoitNodeState state)
{
  guint32 slice = fleet->layout->nodes[node.index].slice;

  if (quoit_fleet_node_state (fleet, node) == state)
    return;
  quoit_fleet_ahead_retry (fleet);
  quoit_fleet_own_nodes (fleet, node.index)->state[node.index % QUOIT_NODES_PER_CHUNK] = state;
  if (slice != QUOIT_NO_INDEX)
    quoit_fleet_recount_slice (fleet, slice);
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

void
quoit_fleet_recount_slices (QuoitFleet *fleet, GArray *slices)
{
  const guint32 *all;

  g_array_sort (slices, compare_numbers);
  all = (const guint32 *) (const void *) slices->data;
  for (guint i = 0; i < slices->len && all[i] != QUOIT_NO_INDEX; i++)
    if (i == 0 || all[i] != all[i - 1])
      quoit_fleet_recount_slice (fleet, all[i]);
}

void
quoit_fleet_set_node_states (QuoitFleet *fleet, const QuoitNodeStateChange *states, gsize n)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (gsize i = 0; i < n; i++)
    {
      QuoitNodeId node = { quoit_layout_find_id (fleet->layout, states[i].id) };

      if (quoit_fleet_node_state (fleet, node) == states[i].state)
        continue;
      quoit_fleet_own_nodes (fleet, node.index)->state[node.index % QUOIT_NODES_PER_CHUNK] = (guint8) states[i].state;
      g_array_append_val (slices, fleet->layout->nodes[node.index].slice);
    }
  quoit_fleet_ahead_doubt (fleet);
  quoit_fleet_recount_slices (fleet, slices);
}

static QuoitFleet *
new_fleet_without_groups (QuoitLayout *layout)
{
  QuoitFleet *fleet = g_new0 (QuoitFleet, 1);

  g_atomic_ref_count_init (&fleet->refs);
  fleet->layout = quoit_layout_ref (layout);
  fleet->next_group_id = 1;
  fleet->first_lease_ms = G_MAXINT64;
  fleet->next_node_id = MAX (layout->end_id, 1);
  quoit_table_init (&fleet->nodes, &nodes_type, layout->n_nodes / QUOIT_NODES_PER_CHUNK + 1);
  quoit_table_init (&fleet->slices, &slices_type, layout->n_slices / QUOIT_SLICES_PER_CHUNK + 1);
  quoit_table_init (&fleet->shelves, &shelves_type, layout->n_shelves / QUOIT_SHELVES_PER_CHUNK + 1);
  quoit_table_init (&fleet->classes, &classes_type, layout->n_classes / QUOIT_CLASSES_PER_CHUNK + 1);
  quoit_bits_init (&fleet->free_slices, layout->n_slices);
  quoit_bits_init (&fleet->ranks, layout->n_ranks);
  /* The slices are not counted yet, so each has the first condition. */
  for (guint32 c = 0; c < layout->n_classes; c++)
    quoit_fleet_own_class_tally (fleet, c)->count[0] = layout->classes[c].n_slices;
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      QuoitNodeChunk *chunk = quoit_fleet_own_nodes (fleet, i);

      chunk->state[i % QUOIT_NODES_PER_CHUNK] = quoit_layout_claimed_state (layout, (QuoitNodeId) { i });
      if ((layout->nodes[i].flags & QUOIT_NODE_EXTERNAL) != 0)
        chunk->use[i % QUOIT_NODES_PER_CHUNK] = QUOIT_USE_EXTERNAL;
    }
  return fleet;
}

static void
recount_all_slices (QuoitFleet *fleet)
{
  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    quoit_fleet_recount_slice (fleet, s);
}

QuoitFleet *
quoit_fleet_new (QuoitLayout *layout)
{
  QuoitFleet *fleet = new_fleet_without_groups (layout);

  quoit_table_init (&fleet->shares, &quoit_shares_type, 0);
  quoit_table_init (&fleet->groups, &quoit_slots_type, 0);
  quoit_index_init (&fleet->by_name);
  quoit_index_init (&fleet->by_key);
  quoit_index_init (&fleet->by_removed_id);
  recount_all_slices (fleet);
  return fleet;
}

/* Fails with CONFLICT if a group uses the node of the fleet and the node is not in @layout. */
static gboolean
check_node_stays (const QuoitFleet *fleet, const QuoitLayout *layout, guint32 node, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_node_user (fleet, (QuoitNodeId) { node });
  guint32 id = fleet->layout->nodes[node].id;

  if (group == NULL || quoit_layout_find_id (layout, id) != QUOIT_NO_INDEX)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "node '%s' cannot be removed: group '%s@%" G_GUINT64_FORMAT "' uses it",
                     quoit_layout_node_name (fleet->layout, (QuoitNodeId) { node }), group->name, group->id);
}

QuoitFleet *
quoit_fleet_with_layout (const QuoitFleet *fleet, QuoitLayout *layout, GError **error)
{
  const QuoitLayout *before = fleet->layout;
  QuoitFleet *after;

  for (guint32 i = 0; i < before->n_nodes; i++)
    if (!check_node_stays (fleet, layout, i, error))
      return NULL;

  after = new_fleet_without_groups (layout);
  after->next_node_id = MAX (after->next_node_id, fleet->next_node_id);
  for (guint32 i = 0; i < before->n_nodes; i++)
    {
      guint32 id = before->nodes[i].id, j = quoit_layout_find_id (layout, id), use;
      QuoitNodeChunk *chunk;

      if (j == QUOIT_NO_INDEX)
        continue;
      chunk = quoit_fleet_own_nodes (after, j);
      chunk->state[j % QUOIT_NODES_PER_CHUNK] = quoit_fleet_node_state (fleet, (QuoitNodeId) { i });
      use = quoit_fleet_node_use (fleet, (QuoitNodeId) { i });
      if (use != QUOIT_USE_NONE && use != QUOIT_USE_EXTERNAL)
        chunk->use[j % QUOIT_NODES_PER_CHUNK] = use;
    }
  quoit_fleet_share_groups (after, fleet);
  quoit_fleet_quotas_recount (after);
  recount_all_slices (after);
  return after;
}

gboolean
quoit_fleet_set_layout (QuoitFleet *fleet, QuoitLayout *layout, const guint32 *changed, guint32 n_changed,
                        GError **error)
{
  QuoitLayout *before = fleet->layout;
  g_autoptr (GArray) slices = NULL;

  for (guint32 i = 0; i < n_changed; i++)
    if (!check_node_stays (fleet, layout, changed[i], error))
      return FALSE;

  fleet->layout = quoit_layout_ref (layout);
  fleet->next_node_id = MAX (fleet->next_node_id, layout->end_id);
  slices = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n_changed);
  for (guint32 i = 0; i < n_changed; i++)
    {
      const QuoitNode *node = &layout->nodes[changed[i]];

      if (node->id != before->nodes[changed[i]].id)
        quoit_fleet_own_nodes (fleet, changed[i])->state[changed[i] % QUOIT_NODES_PER_CHUNK]
            = quoit_layout_claimed_state (layout, (QuoitNodeId) { changed[i] });
      g_array_append_val (slices, node->slice);
    }
  quoit_fleet_ahead_doubt (fleet);
  quoit_fleet_recount_slices (fleet, slices);
  quoit_fleet_quotas_recount (fleet);
  quoit_layout_unref (before);
  return TRUE;
}
