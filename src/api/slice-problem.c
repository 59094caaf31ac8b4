/* SPDX-License-Identifier: Apache-2.0 */
/* Why a slice is degraded, in words: the hosts that do not work, and what its nodes contradict. */
#include <string.h>

#include "api/handles.h"

/* More names than these say no more to a person. */
enum { MOST_NAMED = 3 };

/* Appends "node a is dead", "nodes a and b are dead" or "nodes a, b, c and 4 more are dead". */
static void
append_list (GString *text, const char *noun, const GPtrArray *names, const char *what)
{
  const guint n = names->len, n_named = MIN (n, MOST_NAMED);

  if (n == 0)
    return;
  g_string_append_printf (text, "%s%s%s ", text->len > 0 ? "; " : "", noun, n == 1 ? "" : "s");
  for (guint i = 0; i < n_named; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", (const char *) names->pdata[i]);
  if (n > n_named)
    g_string_append_printf (text, " and %u more", n - n_named);
  g_string_append_printf (text, " %s %s", n == 1 ? "is" : "are", what);
}

/* Appends the dead nodes, those with the same reason together: "node a is dead (NotReady)". */
static void
append_dead (GString *text, const QuoitSnapshot *snapshot, GPtrArray *nodes)
{
  while (nodes->len > 0)
    {
      const char *reason = quoit_snapshot_get_node_reason (snapshot, GPOINTER_TO_UINT (nodes->pdata[0]));
      g_autoptr (GPtrArray) names = g_ptr_array_new (), others = g_ptr_array_new ();
      g_autofree char *what = *reason == '\0' ? g_strdup ("dead") : g_strdup_printf ("dead (%s)", reason);

      for (guint i = 0; i < nodes->len; i++)
        if (strcmp (quoit_snapshot_get_node_reason (snapshot, GPOINTER_TO_UINT (nodes->pdata[i])), reason) == 0)
          g_ptr_array_add (names, (char *) quoit_snapshot_get_node_name (snapshot, GPOINTER_TO_UINT (nodes->pdata[i])));
        else
          g_ptr_array_add (others, nodes->pdata[i]);
      append_list (text, "node", names, what);
      g_ptr_array_set_size (nodes, 0);
      g_ptr_array_extend (nodes, others, NULL, NULL);
    }
}

/* A worker is served by an alive node, or its node is dead, or it has none. */
typedef enum { WORKER_MISSING, WORKER_DEAD, WORKER_SERVED } WorkerState;

static void
append_missing (GString *text, const QuoitSnapshot *snapshot, uint32_t slice, guint n_hosts)
{
  const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);
  const uint32_t end = first + quoit_snapshot_get_slice_n_nodes (snapshot, slice);
  g_autofree guint8 *workers = g_new0 (guint8, n_hosts + 1);
  g_autoptr (GPtrArray) dead = g_ptr_array_new (), missing = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t node = first; node < end; node++)
    {
      const int32_t worker = quoit_snapshot_get_node_worker_id (snapshot, node);
      const bool is_dead = quoit_snapshot_get_node_state (snapshot, node) == QUOIT_NODE_DEAD;

      if (worker >= 0 && (guint) worker < n_hosts)
        workers[worker] = MAX (workers[worker], is_dead ? WORKER_DEAD : WORKER_SERVED);
    }
  for (uint32_t node = first; node < end; node++)
    {
      const int32_t worker = quoit_snapshot_get_node_worker_id (snapshot, node);

      if (quoit_snapshot_get_node_state (snapshot, node) == QUOIT_NODE_DEAD
          && (worker < 0 || (guint) worker >= n_hosts || workers[worker] == WORKER_DEAD))
        g_ptr_array_add (dead, GUINT_TO_POINTER (node));
    }
  for (guint i = 0; i < n_hosts; i++)
    if (workers[i] == WORKER_MISSING)
      g_ptr_array_add (missing, g_strdup_printf ("%u", i));
  append_dead (text, snapshot, dead);
  append_list (text, "worker", missing, "missing");
}

char *
quoit_snapshot_dup_slice_problem (const QuoitSnapshot *snapshot, uint32_t slice)
{
  static const struct {
    QuoitFault fault;
    const char *text;
  } faults[] = {
    { QUOIT_FAULT_TOPOLOGY, "its nodes have different topologies, or one that is not in the catalogue" },
    { QUOIT_FAULT_POD_TYPE, "its nodes have different pod types, or one that does not match the topology" },
    { QUOIT_FAULT_CHIPS, "the chips of a node disagree with the topology" },
    { QUOIT_FAULT_DUPLICATE_WORKER_ID, "two nodes have the same worker id" },
    { QUOIT_FAULT_NO_WORKER_ID, "a node has no worker id" },
    { QUOIT_FAULT_TOO_MANY_HOSTS, "it has more hosts than its topology" },
  };
  const QuoitSliceStatus *status;
  int64_t class;
  GString *text;

  g_return_val_if_fail (snapshot != NULL && slice < snapshot->fleet->layout->n_slices, NULL);

  status = quoit_fleet_slice_status (snapshot->fleet, (QuoitSliceId) { slice });
  class = quoit_snapshot_get_slice_class (snapshot, slice);
  text = g_string_new (NULL);
  /* Without worker ids, nobody knows which workers are missing. */
  if (status->n_missing > 0 && class >= 0 && (status->faults & QUOIT_FAULT_NO_WORKER_ID) == 0)
    append_missing (text, snapshot, slice, quoit_snapshot_get_class_n_hosts (snapshot, (uint32_t) class));
  else if (status->n_missing > 0 && class >= 0)
    g_string_append_printf (text, "%u of %u hosts %s missing or dead", status->n_missing,
                            quoit_snapshot_get_class_n_hosts (snapshot, (uint32_t) class),
                            status->n_missing == 1 ? "is" : "are");
  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    if ((status->faults & faults[i].fault) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", faults[i].text);
  return g_string_free (text, FALSE);
}
