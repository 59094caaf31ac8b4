/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/slice-variables.h"

#include <quoit/models/jax.h>

#include "base/error.h"

enum {
  HIGHEST_PORT = 65535,
  MOST_CACHED = 0xffff /* the highest cached number; an unknown worker id is larger and is not cached */
};

/* --- variable caches --- */

QuoitVariableCache
quoit_variable_cache_make (const char *name)
{
  return (QuoitVariableCache) { name, g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref) };
}

void
quoit_variable_cache_clear (QuoitVariableCache *cache)
{
  g_ptr_array_unref (cache->variables);
}

static char *
number_variable_new (const char *name, guint32 number)
{
  char text[16];

  g_snprintf (text, sizeof text, "%u", number);
  return quoit_variable_new (name, text);
}

void
quoit_variable_cache_set (QuoitVariableCache *cache, guint32 number, QuoitProcess *process)
{
  char *variable = NULL;

  while (cache->variables->len <= MIN (number, MOST_CACHED))
    g_ptr_array_add (cache->variables, number_variable_new (cache->name, cache->variables->len));
  if (number <= MOST_CACHED)
    quoit_process_share_variable (process, cache->variables->pdata[number]);
  else
    {
      variable = number_variable_new (cache->name, number);
      quoit_process_share_variable (process, variable);
      quoit_variable_unref (variable);
    }
}

guint32
quoit_process_index_in_slice (const QuoitTopology *topology, const QuoitProcess *process)
{
  return process->worker_id * topology->per_host + process->local_index;
}

/* --- slice --- */

static const QuoitProcess *
process_at (const QuoitSliceVariables *slice, guint at)
{
  return &g_array_index (slice->topology->processes, QuoitProcess, at);
}

static GPtrArray *
list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref);
}

static void
add_class (QuoitSliceVariables *slice)
{
  const QuoitSliceFacts *facts = &slice->class->facts;
  g_autofree char *shape = quoit_shape_format (facts->shape);
  g_autofree char *type = quoit_gke_accelerator_type (facts->generation, facts->shape);

  quoit_slice_variables_add (slice, "TPU_TOPOLOGY", shape);
  quoit_slice_variables_add (slice, "TPU_ACCELERATOR_TYPE", type);
}

QuoitSliceVariables
quoit_slice_variables (const QuoitTopology *topology, guint first)
{
  QuoitSliceVariables slice
      = { .topology = topology, .first = first, .end = quoit_topology_slice_end (topology, first) };

  slice.class = quoit_process_class (topology, process_at (&slice, first));
  slice.common = list_new ();
  for (guint i = 0; i < topology->per_host; i++)
    slice.by_local_index[i] = list_new ();
  if (slice.class != NULL)
    add_class (&slice);
  return slice;
}

void
quoit_slice_variables_clear (QuoitSliceVariables *slice)
{
  g_clear_pointer (&slice->common, g_ptr_array_unref);
  for (guint i = 0; i < QUOIT_MOST_PER_HOST; i++)
    {
      g_clear_pointer (&slice->by_local_index[i], g_ptr_array_unref);
      g_clear_pointer (&slice->sorted[i], g_ptr_array_unref);
    }
}

gboolean
quoit_slice_variables_has_process_addresses (const QuoitSliceVariables *slice)
{
  return slice->class != NULL
         && (quoit_generation_facts (slice->class->facts.generation)->traits & QUOIT_GENERATION_PROCESS_ADDRESSES) != 0;
}

void
quoit_slice_variables_share (QuoitSliceVariables *slice, char *variable)
{
  g_ptr_array_add (slice->common, g_atomic_rc_box_acquire (variable));
}

void
quoit_slice_variables_add (QuoitSliceVariables *slice, const char *name, const char *value)
{
  g_ptr_array_add (slice->common, quoit_variable_new (name, value));
}

static void
share_all (QuoitProcess *process, const GPtrArray *variables)
{
  for (guint i = 0; i < variables->len; i++)
    quoit_process_share_variable (process, variables->pdata[i]);
}

static gpointer
acquire (gconstpointer variable, gpointer data)
{
  (void) data;
  return g_atomic_rc_box_acquire ((gpointer) variable);
}

void
quoit_slice_variables_set (QuoitSliceVariables *slice, QuoitProcess *process)
{
  const gboolean is_empty = process->variables->len == 0;
  const guint local = process->local_index;

  if (is_empty && local < slice->topology->per_host && slice->sorted[local] != NULL)
    {
      g_ptr_array_extend (process->variables, slice->sorted[local], acquire, NULL);
      return;
    }
  share_all (process, slice->common);
  if (local >= slice->topology->per_host)
    return;
  share_all (process, slice->by_local_index[local]);
  if (is_empty)
    slice->sorted[local] = g_ptr_array_copy (process->variables, acquire, NULL);
}

/* --- several processes per host --- */

static gboolean
fail_for_slice (const QuoitSliceVariables *slice, GError **error)
{
  const QuoitLayout *layout = slice->topology->layout;
  g_autofree char *name = quoit_layout_slice_display (
      layout, (QuoitSliceId) { layout->nodes[process_at (slice, slice->first)->node].slice });

  g_prefix_error (error, "slice '%s', %u processes per host: ", name, slice->topology->per_host);
  return FALSE;
}

static gboolean
check_hosts (const QuoitSliceVariables *slice, guint n_hosts, GError **error)
{
  if (slice->class == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "expected its generation and topology, which its source no longer states: import the source "
                       "again when it does");
  if (n_hosts != slice->class->facts.hosts)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' of its hosts are in the group: expected all %u", n_hosts,
                       slice->class->facts.hosts);
  return TRUE;
}

/* JAX's bounds cover one host. Multiply them by the grid of hosts. */
static void
add_process_bounds (QuoitSliceVariables *slice, const char *host_bounds)
{
  const guint16 *grid = slice->class->facts.host_grid.dims;
  guint64 bounds[QUOIT_N_AXES] = { 0 };
  g_autofree char *text = NULL;
  char *end = (char *) host_bounds;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++, end++)
    bounds[axis] = g_ascii_strtoull (end, &end, 10) * grid[axis];
  text = g_strdup_printf ("%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, bounds[0], bounds[1],
                          bounds[2]);
  quoit_slice_variables_add (slice, "TPU_PROCESS_BOUNDS", text);
}

/* Reports the valid numbers of processes per host, because the caller set processes and not chips. */
static gboolean
fail_for_count (const QuoitSliceFacts *facts, GError **error)
{
  const char *generation = quoit_generation_facts (facts->generation)->id, *bounds, *chip_bounds;
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint n = 1; n <= facts->chips_per_host; n *= 2)
    if (quoit_jax_process_bounds (generation, facts->chips_per_host, facts->chips_per_host / n, &bounds, &chip_bounds,
                                  NULL))
      g_string_append_printf (known, "%s%u", known->len > 0 ? ", " : "", n);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "expected one of %s, between which JAX can divide the %u chips of a host of %s", known->str,
                     facts->chips_per_host, generation);
}

static gboolean
add_bounds (QuoitSliceVariables *slice, GError **error)
{
  const QuoitSliceFacts *facts = &slice->class->facts;
  guint32 per_host = slice->topology->per_host, n_chips = facts->chips_per_host / per_host;
  const char *process_bounds, *chip_bounds;

  if (n_chips == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "expected at most the %u chips of a host", facts->chips_per_host);
  if (!quoit_jax_process_bounds (quoit_generation_facts (facts->generation)->id, facts->chips_per_host, n_chips,
                                 &process_bounds, &chip_bounds, NULL))
    return fail_for_count (facts, error);
  add_process_bounds (slice, process_bounds);
  quoit_slice_variables_add (slice, "TPU_CHIPS_PER_PROCESS_BOUNDS", chip_bounds);
  for (guint i = 0; i < per_host; i++)
    {
      g_autofree char *visible = quoit_chips_format (quoit_chips_for_process (facts->chips_per_host, per_host, i));

      g_ptr_array_add (slice->by_local_index[i], quoit_variable_new ("TPU_VISIBLE_CHIPS", visible));
    }
  return TRUE;
}

gboolean
quoit_process_port_parse (const char *port, guint32 n, guint32 *first, GError **error)
{
  g_autofree char *quoted = NULL;
  guint64 number;

  if (g_ascii_string_to_unsigned (port, 10, 1, HIGHEST_PORT + 1 - n, &number, NULL))
    {
      *first = (guint32) number;
      return TRUE;
    }
  quoted = quoit_quote (port);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU_PROCESS_PORT %s: expected a port of 1 to %u", quoted,
                     HIGHEST_PORT + 1 - n);
}

/* Assigns consecutive ports to the processes of a host. */
static gboolean
choose_ports (const QuoitSliceVariables *slice, const char *port, char **ports, GError **error)
{
  guint32 per_host = slice->topology->per_host;
  guint32 first = 0;

  /* With one process per host, the port is passed on unchanged, because only Kubernetes parses it. */
  if (per_host == 1)
    {
      ports[0] = g_strdup (port);
      return TRUE;
    }
  if (!quoit_process_port_parse (port, per_host, &first, error))
    return FALSE;
  for (guint i = 0; i < per_host; i++)
    ports[i] = g_strdup_printf ("%u", first + i);
  return TRUE;
}

static void
add_addresses (QuoitSliceVariables *slice, const GPtrArray *hosts, char *const *ports)
{
  g_autoptr (GString) addresses = g_string_new (NULL);

  for (guint host = 0; host < hosts->len; host++)
    for (guint i = 0; i < slice->topology->per_host; i++)
      {
        if (addresses->len > 0)
          g_string_append_c (addresses, ',');
        g_string_append (addresses, hosts->pdata[host]);
        g_string_append_c (addresses, ':');
        g_string_append (addresses, ports[i]);
      }
  quoit_slice_variables_add (slice, "TPU_PROCESS_ADDRESSES", addresses->str);
  for (guint i = 0; i < slice->topology->per_host; i++)
    g_ptr_array_add (slice->by_local_index[i], quoit_variable_new ("TPU_PROCESS_PORT", ports[i]));
}

/* --- hosts --- */

void
quoit_slice_variables_add_hostnames (QuoitSliceVariables *slice, const GPtrArray *hosts)
{
  g_autoptr (GString) names = g_string_sized_new (hosts->len * 32);

  for (guint host = 0; host < hosts->len; host++)
    {
      if (host > 0)
        g_string_append_c (names, ',');
      g_string_append (names, hosts->pdata[host]);
    }
  quoit_slice_variables_add (slice, "TPU_WORKER_HOSTNAMES", names->str);
}

gboolean
quoit_slice_variables_add_hosts (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port, GError **error)
{
  gboolean is_shared = slice->topology->per_host > 1;
  g_auto (GStrv) ports = g_new0 (char *, QUOIT_MOST_PER_HOST + 1);
  g_autoptr (GPtrArray) host_names = g_ptr_array_new ();

  if (is_shared && (!check_hosts (slice, hosts->len, error) || !add_bounds (slice, error)))
    return fail_for_slice (slice, error);
  if (!choose_ports (slice, port, ports, error))
    return fail_for_slice (slice, error);

  /* A slice with one host needs no host names. Before tpu7x, GKE's device plugin sets "localhost" there. */
  if (hosts->len == 1 && !quoit_slice_variables_has_process_addresses (slice))
    g_ptr_array_add (host_names, (char *) "localhost");
  else
    for (guint host = 0; host < hosts->len; host++)
      g_ptr_array_add (host_names, hosts->pdata[host]);
  quoit_slice_variables_add_hostnames (slice, host_names);
  if (is_shared || (hosts->len > 1 && quoit_slice_variables_has_process_addresses (slice)))
    add_addresses (slice, host_names, ports);
  return TRUE;
}
