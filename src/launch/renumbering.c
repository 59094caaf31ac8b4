/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/renumbering.h"

#include <string.h>

static const QuoitPlace nowhere = { -1, -1, -1 };

/* A process of one of the two topologies. @topology is NULL for a missing process. */
typedef struct {
  const QuoitTopology *topology;
  guint index;
} Standing;

static guint
count (const QuoitTopology *topology)
{
  return topology == NULL ? 0 : topology->processes->len;
}

static const QuoitProcess *
process_of (const Standing *standing)
{
  return &g_array_index (standing->topology->processes, QuoitProcess, standing->index);
}

/* Returns an identity that is stable between layouts: it consists of the durable id of the node, which a new machine
 * with an old name does not share, and the number of the process on the node. Processes of bundles without chips use
 * the bundle number instead. */
static gint64
identity_of (const Standing *standing)
{
  const QuoitProcess *process = process_of (standing);
  guint64 node = standing->topology->layout->nodes[process->node].id;

  return (gint64) (node << 32 | (quoit_process_is_other (process) ? ~process->bundle : process->local));
}

/* Maps identities to process indices plus 1. */
static GHashTable *
index_nodes (const QuoitTopology *topology)
{
  GHashTable *by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint i = 0; i < count (topology); i++)
    {
      gint64 identity = identity_of (&(Standing) { topology, i });

      g_hash_table_insert (by_id, g_memdup2 (&identity, sizeof identity), GUINT_TO_POINTER (i + 1));
    }
  return by_id;
}

/* Finds the process of @topology that has the identity of @other. */
static Standing
same_node (GHashTable *by_id, const QuoitTopology *topology, const Standing *other)
{
  gint64 identity = identity_of (other);
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (by_id, &identity));

  return found == 0 ? (Standing) { NULL, 0 } : (Standing) { topology, found - 1 };
}

/* --- rows --- */

static QuoitPlace
place_of (const Standing *standing)
{
  const QuoitProcess *process;

  if (standing->topology == NULL)
    return nowhere;
  process = process_of (standing);
  return (QuoitPlace) { standing->index, process->slice_id, process->worker_id };
}

static gboolean
same_place (const QuoitPlace *a, const QuoitPlace *b)
{
  return a->process == b->process && a->slice_id == b->slice_id && a->worker_id == b->worker_id;
}

static void
add_change (QuoitRenumbering *renumbering, char *before, char *after)
{
  QuoitVariableChange change = { .before = before == NULL ? NULL : g_atomic_rc_box_acquire (before),
                                 .after = after == NULL ? NULL : g_atomic_rc_box_acquire (after) };

  g_array_append_val (renumbering->changes, change);
}

static gboolean
same_value (const char *before, const char *after)
{
  return before == after || strcmp (quoit_variable_value (before), quoit_variable_value (after)) == 0;
}

static char *
variable_at (const GPtrArray *variables, guint i)
{
  return variables == NULL || i >= variables->len ? NULL : variables->pdata[i];
}

/* Compares names. NULL sorts last. */
static int
by_name (const char *before, const char *after)
{
  if (before == NULL || after == NULL)
    return (before == NULL) - (after == NULL);
  return strcmp (quoit_variable_name (before), quoit_variable_name (after));
}

static void
compare_variables (QuoitRenumbering *renumbering, const GPtrArray *were, const GPtrArray *are)
{
  guint i = 0, j = 0;

  for (;;)
    {
      char *before = variable_at (were, i), *after = variable_at (are, j);
      int order = by_name (before, after);

      if (before == NULL && after == NULL)
        return;
      if (order < 0)
        after = NULL;
      else if (order > 0)
        before = NULL;
      i += before != NULL;
      j += after != NULL;
      if (before == NULL || after == NULL || !same_value (before, after))
        add_change (renumbering, before, after);
    }
}

static QuoitRenumberingHow
how_of (const QuoitRenumberingRow *row)
{
  if (row->before.process < 0)
    return QUOIT_RENUMBERING_JOINED;
  if (row->after.process < 0)
    return QUOIT_RENUMBERING_LEFT;
  if (!same_place (&row->before, &row->after))
    return QUOIT_RENUMBERING_MOVED;
  return row->n_changes > 0 ? QUOIT_RENUMBERING_CHANGED : QUOIT_RENUMBERING_SAME;
}

static void
add_row (QuoitRenumbering *renumbering, const Standing *before, const Standing *after)
{
  const Standing *last = after->topology != NULL ? after : before;
  QuoitLayout *layout = last->topology->layout;
  QuoitNodeId node = { process_of (last)->node };
  QuoitRenumberingRow row = { .before = place_of (before), .after = place_of (after) };

  row.node = quoit_layout_node_display (layout, node);
  row.slice = quoit_process_slice_display (last->topology, process_of (last));
  row.first_change = renumbering->changes->len;
  compare_variables (renumbering, before->topology == NULL ? NULL : process_of (before)->variables,
                     after->topology == NULL ? NULL : process_of (after)->variables);
  row.n_changes = renumbering->changes->len - row.first_change;
  row.how = how_of (&row);
  g_array_append_val (renumbering->rows, row);
}

/* --- replacements --- */

typedef char *(*KeyFunc) (const Standing *standing);

static char *
key_of_slice_name (const Standing *standing)
{
  const QuoitProcess *process = process_of (standing);
  g_autofree char *slice = quoit_process_slice_full_name (standing->topology, process);

  return g_strdup_printf ("%u %u %s", process->worker_id, process->local, slice);
}

static char *
key_of_slice_id (const Standing *standing)
{
  const QuoitProcess *process = process_of (standing);

  return g_strdup_printf ("%u %u %u", process->worker_id, process->local, process->slice_id);
}

/* Indexes the processes that left and have no replacement yet, by @key_of. */
static GHashTable *
index_left (const QuoitRenumbering *renumbering, const QuoitTopology *before, KeyFunc key_of)
{
  GHashTable *left = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < renumbering->rows->len; i++)
    {
      QuoitRenumberingRow *row = &g_array_index (renumbering->rows, QuoitRenumberingRow, i);

      if (row->how == QUOIT_RENUMBERING_LEFT && row->counterpart == NULL)
        g_hash_table_insert (left, key_of (&(Standing) { before, (guint) row->before.process }), row);
    }
  return left;
}

static void
pair (QuoitRenumbering *renumbering, const QuoitTopology *before, const QuoitTopology *after, KeyFunc key_of)
{
  g_autoptr (GHashTable) left = index_left (renumbering, before, key_of);

  for (guint i = 0; i < renumbering->rows->len && g_hash_table_size (left) > 0; i++)
    {
      QuoitRenumberingRow *row = &g_array_index (renumbering->rows, QuoitRenumberingRow, i), *other;
      g_autofree char *key = NULL;

      if (row->how != QUOIT_RENUMBERING_JOINED || row->counterpart != NULL)
        continue;
      key = key_of (&(Standing) { after, (guint) row->after.process });
      other = g_hash_table_lookup (left, key);
      if (other == NULL)
        continue;
      row->counterpart = other->node;
      other->counterpart = row->node;
      g_hash_table_remove (left, key);
    }
}

/* --- construction --- */

static void
row_clear (gpointer data)
{
  QuoitRenumberingRow *row = data;

  g_free (row->node);
  g_free (row->slice);
}

static void
change_clear (gpointer data)
{
  QuoitVariableChange *change = data;

  g_clear_pointer (&change->before, quoit_variable_unref);
  g_clear_pointer (&change->after, quoit_variable_unref);
}

void
quoit_renumbering_free (QuoitRenumbering *renumbering)
{
  if (renumbering == NULL)
    return;
  g_array_unref (renumbering->rows);
  g_array_unref (renumbering->changes);
  g_free (renumbering);
}

QuoitRenumbering *
quoit_renumbering_of (const QuoitTopology *before, const QuoitTopology *after)
{
  QuoitRenumbering *renumbering = g_new0 (QuoitRenumbering, 1);
  g_autoptr (GHashTable) were = index_nodes (before), are = index_nodes (after);
  const Standing none = { NULL, 0 };

  renumbering->rows = g_array_new (FALSE, FALSE, sizeof (QuoitRenumberingRow));
  g_array_set_clear_func (renumbering->rows, row_clear);
  renumbering->changes = g_array_new (FALSE, FALSE, sizeof (QuoitVariableChange));
  g_array_set_clear_func (renumbering->changes, change_clear);
  for (guint i = 0; i < count (after); i++)
    {
      Standing now = { after, i }, then = same_node (were, before, &now);

      add_row (renumbering, &then, &now);
    }
  for (guint i = 0; i < count (before); i++)
    if (same_node (are, after, &(Standing) { before, i }).topology == NULL)
      add_row (renumbering, &(Standing) { before, i }, &none);
  if (before == NULL || after == NULL)
    return renumbering;
  /* First match hosts that were replaced inside their slice, then those of any slice with the same slice id. */
  pair (renumbering, before, after, key_of_slice_name);
  pair (renumbering, before, after, key_of_slice_id);
  return renumbering;
}

const char *
quoit_variable_change_name (const QuoitVariableChange *change)
{
  return quoit_variable_name (change->after != NULL ? change->after : change->before);
}
