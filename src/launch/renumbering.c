/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/renumbering.h"

#include <string.h>

#include "base/name-hash.h"

static const QuoitProcessNumbers no_numbers = { -1, -1, -1 };

/* A process of one of the two topologies. @topology is NULL if the process is missing there. */
typedef struct {
  const QuoitTopology *topology;
  guint index;
} ProcessRef;

static guint
count_processes (const QuoitTopology *topology)
{
  return topology == NULL ? 0 : topology->processes->len;
}

static const QuoitProcess *
ref_process (const ProcessRef *ref)
{
  return &g_array_index (ref->topology->processes, QuoitProcess, ref->index);
}

/* Returns an identity that is the same in all layouts: the durable id of the node in the upper half, and the index of
 * the process on the node in the lower half. A new machine with an old name has another id. A process without chips has
 * no index on its node and uses its bundle, inverted to differ from any index. */
static gint64
process_identity (const ProcessRef *ref)
{
  const QuoitProcess *process = ref_process (ref);
  guint64 node = ref->topology->layout->nodes[process->node].id;

  return (gint64) (node << 32 | (quoit_process_has_no_chips (process) ? ~process->bundle : process->local_index));
}

/* Maps identities to process indices plus 1. */
static GHashTable *
index_processes (const QuoitTopology *topology)
{
  GHashTable *by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint i = 0; i < count_processes (topology); i++)
    {
      gint64 identity = process_identity (&(ProcessRef) { topology, i });

      g_hash_table_insert (by_id, g_memdup2 (&identity, sizeof identity), GUINT_TO_POINTER (i + 1));
    }
  return by_id;
}

/* Finds the process of @topology that has the identity of @other. */
static ProcessRef
find_same_process (GHashTable *by_id, const QuoitTopology *topology, const ProcessRef *other)
{
  gint64 identity = process_identity (other);
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (by_id, &identity));

  return found == 0 ? (ProcessRef) { NULL, 0 } : (ProcessRef) { topology, found - 1 };
}

/* --- rows --- */

static QuoitProcessNumbers
ref_numbers (const ProcessRef *ref)
{
  const QuoitProcess *process;

  if (ref->topology == NULL)
    return no_numbers;
  process = ref_process (ref);
  return (QuoitProcessNumbers) { ref->index, process->slice_id, process->worker_id };
}

static gboolean
same_numbers (const QuoitProcessNumbers *a, const QuoitProcessNumbers *b)
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
compare_variables (QuoitRenumbering *renumbering, const GPtrArray *before_variables, const GPtrArray *after_variables)
{
  guint i = 0, j = 0;

  for (;;)
    {
      char *before = variable_at (before_variables, i), *after = variable_at (after_variables, j);
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

static QuoitProcessChange
process_change (const QuoitRenumberingRow *row)
{
  if (row->before.process < 0)
    return QUOIT_PROCESS_JOINED;
  if (row->after.process < 0)
    return QUOIT_PROCESS_LEFT;
  if (!same_numbers (&row->before, &row->after))
    return QUOIT_PROCESS_MOVED;
  return row->n_changes > 0 ? QUOIT_PROCESS_CHANGED : QUOIT_PROCESS_SAME;
}

static void
add_row (QuoitRenumbering *renumbering, const ProcessRef *before, const ProcessRef *after)
{
  const ProcessRef *last = after->topology != NULL ? after : before;
  QuoitLayout *layout = last->topology->layout;
  QuoitNodeId node = { ref_process (last)->node };
  QuoitRenumberingRow row = { .before = ref_numbers (before), .after = ref_numbers (after) };

  row.node = quoit_layout_node_display (layout, node);
  row.slice = quoit_process_slice_display (last->topology, ref_process (last));
  row.first_change = renumbering->changes->len;
  compare_variables (renumbering, before->topology == NULL ? NULL : ref_process (before)->variables,
                     after->topology == NULL ? NULL : ref_process (after)->variables);
  row.n_changes = renumbering->changes->len - row.first_change;
  row.change = process_change (&row);
  g_array_append_val (renumbering->rows, row);
}

/* --- replacements --- */

typedef char *(*KeyFunc) (const ProcessRef *ref);

static char *
slice_name_key (const ProcessRef *ref)
{
  const QuoitProcess *process = ref_process (ref);
  g_autofree char *slice = quoit_process_slice_full_name (ref->topology, process);

  return g_strdup_printf ("%u %u %s", process->worker_id, process->local_index, slice);
}

static char *
slice_id_key (const ProcessRef *ref)
{
  const QuoitProcess *process = ref_process (ref);

  return g_strdup_printf ("%u %u %u", process->worker_id, process->local_index, process->slice_id);
}

/* Indexes the processes that left and have no counterpart yet. */
static GHashTable *
index_left (const QuoitRenumbering *renumbering, const QuoitTopology *before, KeyFunc make_key)
{
  GHashTable *left = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);

  for (guint i = 0; i < renumbering->rows->len; i++)
    {
      QuoitRenumberingRow *row = &g_array_index (renumbering->rows, QuoitRenumberingRow, i);

      if (row->change == QUOIT_PROCESS_LEFT && row->counterpart == NULL)
        g_hash_table_insert (left, make_key (&(ProcessRef) { before, (guint) row->before.process }), row);
    }
  return left;
}

/* Pairs each process that joined with a process that left and has the same key. */
static void
pair_replacements (QuoitRenumbering *renumbering, const QuoitTopology *before, const QuoitTopology *after,
                   KeyFunc make_key)
{
  g_autoptr (GHashTable) left = index_left (renumbering, before, make_key);

  for (guint i = 0; i < renumbering->rows->len && g_hash_table_size (left) > 0; i++)
    {
      QuoitRenumberingRow *row = &g_array_index (renumbering->rows, QuoitRenumberingRow, i), *other;
      g_autofree char *key = NULL;

      if (row->change != QUOIT_PROCESS_JOINED || row->counterpart != NULL)
        continue;
      key = make_key (&(ProcessRef) { after, (guint) row->after.process });
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

QuoitRenumbering *
quoit_renumbering_compare (const QuoitTopology *before, const QuoitTopology *after)
{
  QuoitRenumbering *renumbering = g_new0 (QuoitRenumbering, 1);
  g_autoptr (GHashTable) before_index = index_processes (before), after_index = index_processes (after);
  const ProcessRef none = { NULL, 0 };

  renumbering->rows = g_array_new (FALSE, FALSE, sizeof (QuoitRenumberingRow));
  g_array_set_clear_func (renumbering->rows, row_clear);
  renumbering->changes = g_array_new (FALSE, FALSE, sizeof (QuoitVariableChange));
  g_array_set_clear_func (renumbering->changes, change_clear);
  for (guint i = 0; i < count_processes (after); i++)
    {
      ProcessRef now = { after, i }, then = find_same_process (before_index, before, &now);

      add_row (renumbering, &then, &now);
    }
  for (guint i = 0; i < count_processes (before); i++)
    if (find_same_process (after_index, after, &(ProcessRef) { before, i }).topology == NULL)
      add_row (renumbering, &(ProcessRef) { before, i }, &none);
  if (before == NULL || after == NULL)
    return renumbering;
  /* First match hosts that were replaced inside their slice, then those of any slice with the same slice id. */
  pair_replacements (renumbering, before, after, slice_name_key);
  pair_replacements (renumbering, before, after, slice_id_key);
  return renumbering;
}

const char *
quoit_variable_change_name (const QuoitVariableChange *change)
{
  return quoit_variable_name (change->after != NULL ? change->after : change->before);
}
