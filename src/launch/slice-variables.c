/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/slice-variables.h"

#include <quoit/models/jax.h>

#include "base/error.h"

enum {
  HIGHEST_PORT = 65535,
  MOST_SHARED = 0xffff /* an unknown worker id is larger */
};

/* --- numbered variables --- */

QuoitNumbered
quoit_numbered (const char *name)
{
  return (QuoitNumbered) { name, g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref) };
}

void
quoit_numbered_clear (QuoitNumbered *numbered)
{
  g_ptr_array_unref (numbered->made);
}

static char *
numbered_new (const char *name, guint32 number)
{
  char text[16];

  g_snprintf (text, sizeof text, "%u", number);
  return quoit_variable_new (name, text);
}

void
quoit_numbered_give (QuoitNumbered *numbered, guint32 number, QuoitProcess *process)
{
  char *own = NULL;

  while (numbered->made->len <= MIN (number, MOST_SHARED))
    g_ptr_array_add (numbered->made, numbered_new (numbered->name, numbered->made->len));
  if (number <= MOST_SHARED)
    quoit_process_share (process, numbered->made->pdata[number]);
  else
    {
      own = numbered_new (numbered->name, number);
      quoit_process_share (process, own);
      quoit_variable_unref (own);
    }
}

guint32
quoit_process_task (const QuoitTopology *topology, const QuoitProcess *process)
{
  return process->worker_id * topology->per_host + process->local;
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
  for (guint local = 0; local < topology->per_host; local++)
    slice.of_local[local] = list_new ();
  if (slice.class != NULL)
    add_class (&slice);
  return slice;
}

void
quoit_slice_variables_clear (QuoitSliceVariables *slice)
{
  g_clear_pointer (&slice->common, g_ptr_array_unref);
  for (guint local = 0; local < QUOIT_MOST_PER_HOST; local++)
    g_clear_pointer (&slice->of_local[local], g_ptr_array_unref);
}

gboolean
quoit_slice_variables_is_tpu7x (const QuoitSliceVariables *slice)
{
  return slice->class != NULL && slice->class->facts.generation == QUOIT_GENERATION_TPU7X;
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

void
quoit_slice_variables_give (const QuoitSliceVariables *slice, QuoitProcess *process)
{
  const GPtrArray *of_local;

  for (guint i = 0; i < slice->common->len; i++)
    quoit_process_share (process, slice->common->pdata[i]);
  if (process->local >= slice->topology->per_host)
    return;
  of_local = slice->of_local[process->local];
  for (guint i = 0; i < of_local->len; i++)
    quoit_process_share (process, of_local->pdata[i]);
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
                       "expected its generation and topology, which its source no longer states: import it again when "
                       "it does");
  if (n_hosts != slice->class->facts.hosts)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' hosts of it are in the group: expected all %u of them",
                       n_hosts, slice->class->facts.hosts);
  return TRUE;
}

/* JAX's bounds cover one host. Multiply them by the grid of hosts. */
static void
add_process_bounds (QuoitSliceVariables *slice, const char *of_host)
{
  const guint16 *grid = slice->class->facts.host_grid.dims;
  guint64 bounds[QUOIT_N_AXES] = { 0 };
  g_autofree char *text = NULL;
  char *end = (char *) of_host;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++, end++)
    bounds[axis] = g_ascii_strtoull (end, &end, 10) * grid[axis];
  text = g_strdup_printf ("%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, bounds[0], bounds[1],
                          bounds[2]);
  quoit_slice_variables_add (slice, "TPU_PROCESS_BOUNDS", text);
}

/* Reports the valid numbers of processes per host, because the caller set processes and not chips. */
static gboolean
refuse_number (const QuoitSliceFacts *facts, GError **error)
{
  const char *generation = quoit_generation_facts (facts->generation)->id, *bounds, *chip_bounds;
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint n = 1; n <= facts->chips_per_host; n *= 2)
    if (quoit_jax_process_bounds (generation, facts->chips_per_host, facts->chips_per_host / n, &bounds, &chip_bounds,
                                  NULL))
      g_string_append_printf (known, "%s%u", known->len > 0 ? ", " : "", n);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "expected one of %s, to which JAX deals the %u chips of a host of %s",
                     known->str, facts->chips_per_host, generation);
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
    return refuse_number (facts, error);
  add_process_bounds (slice, process_bounds);
  quoit_slice_variables_add (slice, "TPU_CHIPS_PER_PROCESS_BOUNDS", chip_bounds);
  for (guint local = 0; local < per_host; local++)
    {
      g_autofree char *visible = quoit_chips_format (quoit_dealt_chips (facts->chips_per_host, per_host, local));

      g_ptr_array_add (slice->of_local[local], quoit_variable_new ("TPU_VISIBLE_CHIPS", visible));
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
find_ports (const QuoitSliceVariables *slice, const char *port, char **ports, GError **error)
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
  for (guint local = 0; local < per_host; local++)
    ports[local] = g_strdup_printf ("%u", first + local);
  return TRUE;
}

static void
add_addresses (QuoitSliceVariables *slice, const GPtrArray *hosts, char *const *ports)
{
  g_autoptr (GString) addresses = g_string_new (NULL);

  for (guint host = 0; host < hosts->len; host++)
    for (guint local = 0; local < slice->topology->per_host; local++)
      g_string_append_printf (addresses, "%s%s:%s", addresses->len > 0 ? "," : "", (char *) hosts->pdata[host],
                              ports[local]);
  quoit_slice_variables_add (slice, "TPU_PROCESS_ADDRESSES", addresses->str);
  for (guint local = 0; local < slice->topology->per_host; local++)
    g_ptr_array_add (slice->of_local[local], quoit_variable_new ("TPU_PROCESS_PORT", ports[local]));
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
  g_autoptr (GPtrArray) called = g_ptr_array_new ();

  if (is_shared && (!check_hosts (slice, hosts->len, error) || !add_bounds (slice, error)))
    return fail_for_slice (slice, error);
  if (!find_ports (slice, port, ports, error))
    return fail_for_slice (slice, error);

  /* A slice with one host needs no host names. Before tpu7x, GKE's device plugin sets "localhost" there. */
  if (hosts->len == 1 && !quoit_slice_variables_is_tpu7x (slice))
    g_ptr_array_add (called, (char *) "localhost");
  else
    for (guint host = 0; host < hosts->len; host++)
      g_ptr_array_add (called, hosts->pdata[host]);
  quoit_slice_variables_add_hostnames (slice, called);
  if (is_shared || (hosts->len > 1 && quoit_slice_variables_is_tpu7x (slice)))
    add_addresses (slice, called, ports);
  return TRUE;
}
