/* SPDX-License-Identifier: Apache-2.0 */
/* A Kubernetes node list with any texts in the fields that GKE sets. */
#pragma once

#include "formats/writer.h"
#include "fuzz.h"

enum { FUZZ_MOST_K8S_NODES = 6 };

/* The usual values, so that nodes form slices: a byte chooses one, or that a text follows. */
static inline char *
fuzz_choice (FuzzInput *in, const char *const *usual, guint n)
{
  guint8 which = fuzz_byte (in);

  return which < n ? g_strdup (usual[which]) : fuzz_text (in);
}

static inline void
fuzz_write_k8s_labels (QuoitWriter *writer, FuzzInput *in)
{
  static const char *const pools[] = { "p", "q" }, *const topologies[] = { "2x2", "2x4", "4x4", "2x2x2" },
                           *const accelerators[] = { "tpu-v6e-slice", "tpu-v4-podslice", "tpu7x" };
  g_autofree char *pool = fuzz_choice (in, pools, G_N_ELEMENTS (pools)),
                  *topology = fuzz_choice (in, topologies, G_N_ELEMENTS (topologies)),
                  *accelerator = fuzz_choice (in, accelerators, G_N_ELEMENTS (accelerators)), *zone = fuzz_text (in);

  quoit_writer_open_object (writer, "labels");
  quoit_writer_text (writer, "cloud.google.com/gke-nodepool", pool);
  quoit_writer_text (writer, "cloud.google.com/gke-tpu-topology", topology);
  quoit_writer_text (writer, "cloud.google.com/gke-tpu-accelerator", accelerator);
  quoit_writer_text (writer, "topology.kubernetes.io/zone", zone);
  quoit_writer_close (writer);
}

static inline void
fuzz_write_k8s_status (QuoitWriter *writer, FuzzInput *in)
{
  static const char *const chips[] = { "4", "8", "1" }, *const ready[] = { "True", "False", "Unknown" };
  g_autofree char *has = fuzz_choice (in, chips, G_N_ELEMENTS (chips)),
                  *is_ready = fuzz_choice (in, ready, G_N_ELEMENTS (ready)), *text = fuzz_text (in);
  /* Most texts are no addresses, and would be refused. */
  g_autofree char *address
      = (guint8) text[0] % 2 == 1 ? g_strdup_printf ("10.0.0.%u", (guint8) text[0]) : g_strdup (text);

  quoit_writer_open_object (writer, "status");
  for (guint i = 0; i < 2; i++)
    {
      quoit_writer_open_object (writer, i == 0 ? "capacity" : "allocatable");
      quoit_writer_text (writer, "google.com/tpu", has);
      quoit_writer_close (writer);
    }
  quoit_writer_open_array (writer, "conditions");
  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "type", "Ready");
  quoit_writer_text (writer, "status", is_ready);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  if (*address != '\0')
    {
      quoit_writer_open_array (writer, "addresses");
      quoit_writer_open_object (writer, NULL);
      quoit_writer_text (writer, "type", "InternalIP");
      quoit_writer_text (writer, "address", address);
      quoit_writer_close (writer);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

static inline void
fuzz_write_k8s_node (QuoitWriter *writer, FuzzInput *in, guint number)
{
  guint8 parts = fuzz_byte (in);
  g_autofree char *given = parts & 1 ? fuzz_text (in) : NULL, *uid = g_strdup_printf ("u-%u", number);
  g_autofree char *name = given != NULL ? g_steal_pointer (&given) : g_strdup_printf ("n-%u", number);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "kind", "Node");
  quoit_writer_open_object (writer, "metadata");
  quoit_writer_text (writer, "name", name);
  quoit_writer_text (writer, "uid", uid);
  fuzz_write_k8s_labels (writer, in);
  quoit_writer_close (writer);
  quoit_writer_open_object (writer, "spec");
  if (parts & 2)
    quoit_writer_boolean (writer, "unschedulable", parts & 4);
  if (parts & 8)
    {
      g_autofree char *provider = fuzz_text (in);

      quoit_writer_text (writer, "providerID", provider);
    }
  quoit_writer_close (writer);
  fuzz_write_k8s_status (writer, in);
  quoit_writer_close (writer);
}

/* The caller frees it. */
static inline char *
fuzz_write_k8s_list (FuzzInput *in)
{
  QuoitWriter *writer = quoit_writer_new ();

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "kind", "List");
  quoit_writer_open_array (writer, "items");
  for (guint i = 0; i < FUZZ_MOST_K8S_NODES && in->at < in->end; i++)
    fuzz_write_k8s_node (writer, in, i);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}
