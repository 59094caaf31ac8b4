/* SPDX-License-Identifier: Apache-2.0 */
#include "lists.h"

/* Whether node @i is one of @n_chosen nodes that are spread evenly over @n. */
static gboolean
is_chosen (guint32 i, guint32 n, guint32 n_chosen)
{
  return n_chosen > 0 && i % (n / n_chosen) == 0 && i / (n / n_chosen) < n_chosen;
}

static void
append_node (GString *text, const BenchList *list, guint32 i)
{
  gboolean is_dead = is_chosen (i, list->n_nodes, list->n_dead);
  guint32 machine = is_chosen (i, list->n_nodes, list->n_replaced) ? list->n_nodes + i : i;

  g_string_append_printf (
      text,
      "%s{\"node_id\": \"%056x\", \"node_ip\": \"10.%u.%u.%u\", \"is_head_node\": false, \"state\": \"%s\", "
      "\"state_message\": null, \"node_name\": \"gke-tpu-%07u-%011u\", \"resources_total\": {",
      text->len == 0 ? "[" : ", ", machine, machine >> 16 & 255, machine >> 8 & 255, machine & 255,
      is_dead ? "DEAD" : "ALIVE", machine / 4, machine % 4);
  if (!is_dead)
    g_string_append_printf (text,
                            "\"memory\": \"16.000 GiB\", \"CPU\": 8.0, \"TPU\": 4.0, \"object_store_memory\": "
                            "\"80.000 MiB\", \"accelerator_type:TPU-V6E\": 1.0, \"slice-%u\": 1.0",
                            i / 4);
  g_string_append_printf (
      text,
      "}, \"labels\": {\"ray.io/tpu-pod-type\": \"v6e-16\", \"ray.io/tpu-slice-name\": \"slice-%u\", "
      "\"ray.io/tpu-worker-id\": \"%u\", \"ray.io/node-group\": \"pool-%u\", \"ray.io/accelerator-type\": \"TPU-V6E\", "
      "\"ray.io/tpu-topology\": \"4x4\", \"ray.io/availability-zone\": \"us-east5-b\"}}",
      i / 4, i % 4, i / 256);
}

char *
bench_list_new (const BenchList *list, gsize *length)
{
  GString *text = g_string_sized_new ((gsize) list->n_nodes * 640);
  guint64 stride = MAX (list->stride, 1);

  for (guint32 row = 0; row < list->n_nodes; row++)
    append_node (text, list, (guint32) (row * stride % list->n_nodes));
  g_string_append_c (text, ']');
  *length = text->len;
  return g_string_free (text, FALSE);
}
