/* SPDX-License-Identifier: Apache-2.0 */
/* Makes inputs about one small cluster from bytes: Ray lists, Kubernetes lists, manifests and fleet texts. Names,
 * addresses and places are few, so that different inputs usually share nodes. */
#pragma once

#include <quoit/input.h>

#include <string.h>

#include "fuzz.h"

/* One bit of a byte per node. */
enum { CLUSTER_NODES = 8 };

/* Chooses one of the words by the next byte. */
#define CLUSTER_PICK(in, ...)                                                                                          \
  cluster_pick ((in), (const char *const[]) { __VA_ARGS__ },                                                           \
                sizeof ((const char *const[]) { __VA_ARGS__ }) / sizeof (const char *))

static inline const char *
cluster_pick (FuzzInput *in, const char *const *words, gsize n)
{
  return words[fuzz_byte (in) % n];
}

static inline void
cluster_separate (GString *text, gboolean *is_first)
{
  if (!*is_first)
    g_string_append_c (text, ',');
  *is_first = FALSE;
}

/* --- Ray --- */

/* The live nodes of a list, on which groups can be placed. */
typedef struct {
  guint n, ids[CLUSTER_NODES];
} ClusterRay;

typedef struct {
  gboolean has_labels;        /* FALSE: as Ray before 2.50 */
  gboolean is_big;            /* slices of four hosts, not two */
  gboolean is_renumbered;     /* pods have the worker ids in reverse order */
  gboolean has_pod_addresses; /* Kubernetes' nodes have the addresses of Ray's */
  guint epoch;                /* other ids under the same names */
} ClusterMode;

/* Writes resources, and labels if this Ray version has them. */
static inline void
cluster_ray_place (GString *text, FuzzInput *in, ClusterMode mode, guint id, guint8 flags)
{
  gboolean is_odd = (flags & 0xc0) == 0xc0;
  guint hosts = mode.is_big ? 4 : 2, slice = id / hosts, worker = id % hosts;
  const char *pod_type = mode.is_big ? "v6e-16" : "v6e-8", *topology = mode.is_big ? "4x4" : "2x4";

  if (is_odd)
    {
      slice = fuzz_byte (in) % 4;
      worker = fuzz_byte (in) % 3;
    }
  g_string_append_printf (text, "\"resources_total\": {\"CPU\": 2.0, %s\"memory\": \"1.000 GiB\"",
                          is_odd && (flags & 0x20) != 0 ? "" : "\"TPU\": 4.0, ");
  if (!mode.has_labels || (flags & 0x30) == 0x30)
    {
      g_string_append_printf (text, ", \"s%u\": 1.0", slice);
      if (worker == 0)
        g_string_append_printf (text, ", \"TPU-%s-head\": 1.0", pod_type);
    }
  g_string_append_printf (text, "}, \"labels\": {\"ray.io/node-id\": \"%056x\"", id + 16 * mode.epoch + 1);
  if (mode.has_labels)
    g_string_append_printf (text,
                            ", \"ray.io/node-group\": \"%s\", \"ray.io/tpu-slice-name\": \"%s%u\", "
                            "\"ray.io/tpu-worker-id\": \"%u\", \"ray.io/tpu-topology\": \"%s\", "
                            "\"ray.io/accelerator-type\": \"TPU-V6E\", \"ray.io/tpu-pod-type\": \"%s\"",
                            is_odd ? CLUSTER_PICK (in, "g", "h", "p") : "g",
                            is_odd ? CLUSTER_PICK (in, "s", "g-", "p-") : "g-", slice, worker, topology, pod_type);
  g_string_append_c (text, '}');
}

static inline void
cluster_ray_node (GString *text, FuzzInput *in, ClusterMode mode, guint id, ClusterRay *alive)
{
  guint8 flags = fuzz_byte (in);
  gboolean is_odd = (flags & 0xc0) == 0xc0, is_dead = !is_odd && (flags & 6) == 6;
  guint host = is_odd && (flags & 6) == 6 ? fuzz_byte (in) % 9 : id + 1;

  g_string_append_printf (text,
                          "{\"node_id\": \"%056x\", \"node_ip\": \"10.0.%u.%u\", \"is_head_node\": %s, "
                          "\"state\": \"%s\", \"state_message\": null, \"node_name\": \"%s%u\", ",
                          id + 16 * mode.epoch + 1, (flags & 1) != 0 ? mode.epoch : 0, host, id == 0 ? "true" : "false",
                          is_dead ? "DEAD" : "ALIVE", (flags & 8) != 0 ? "n" : "10.0.0.", id + 1);
  if (!is_dead)
    alive->ids[alive->n++] = id + 16 * mode.epoch + 1;
  cluster_ray_place (text, in, mode, id, flags);
  g_string_append (text, ", \"start_time_ms\": null, \"end_time_ms\": null}");
}

/* The caller frees each of these texts. */
static inline char *
cluster_ray_nodes (FuzzInput *in, ClusterRay *alive)
{
  GString *text = g_string_new ("[");
  guint mask = fuzz_byte (in);
  guint8 bits = fuzz_byte (in);
  ClusterMode mode = { .has_labels = bits % 8 != 0, .is_big = (bits >> 5 & 1) != 0 };
  gboolean is_first = TRUE;

  mode.epoch = (bits >> 3 & 3) == 3 ? fuzz_byte (in) % 3 : 0;
  alive->n = 0;
  for (guint id = 0; id < CLUSTER_NODES; id++)
    if ((mask >> id & 1) != 0)
      {
        cluster_separate (text, &is_first);
        cluster_ray_node (text, in, mode, id, alive);
      }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static inline void
cluster_ray_bundle (GString *text, FuzzInput *in, guint bundle, const ClusterRay *alive)
{
  guint8 place = fuzz_byte (in);

  g_string_append_printf (text,
                          "{\"bundle_id\": {\"placement_group_id\": \"x\", \"bundle_index\": \"%u\"}, "
                          "\"unit_resources\": {\"%s\": %s}, \"node_id\": \"",
                          bundle, CLUSTER_PICK (in, "TPU", "CPU", "TPU", "v6e"),
                          CLUSTER_PICK (in, "1.0", "4.0", "0.5", "1.0", "2.0", "0.001"));
  if (place % 4 != 0 && alive->n > 0)
    g_string_append_printf (text, "%056x", alive->ids[place % alive->n]);
  g_string_append (text, "\", \"label_selector\": {}}");
}

static inline char *
cluster_ray_groups (FuzzInput *in, const ClusterRay *alive)
{
  GString *text = g_string_new ("[");
  gboolean is_first = TRUE;

  for (guint n = fuzz_byte (in) % 4, id = 0; n > 0; n--)
    {
      guint n_bundles = 1 + fuzz_byte (in) % 3;

      cluster_separate (text, &is_first);
      g_string_append_printf (text,
                              "{\"placement_group_id\": \"%036x\", \"name\": \"%s\", \"creator_job_id\": \"01000000\", "
                              "\"state\": \"%s\", \"is_detached\": false, \"stats\": null, \"bundles\": [",
                              id += 1 + fuzz_byte (in) % 2, CLUSTER_PICK (in, "", "a", "b", "n1", "x"),
                              CLUSTER_PICK (in, "CREATED", "PENDING", "REMOVED", "RESCHEDULING", "PREPARED"));
      for (guint b = 0; b < n_bundles; b++)
        {
          g_string_append (text, b == 0 ? "" : ",");
          cluster_ray_bundle (text, in, b, alive);
        }
      g_string_append (text, "]}");
    }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

/* Groups leave few resources available. */
static inline char *
cluster_ray_available (FuzzInput *in, const ClusterRay *alive, gboolean has_groups)
{
  GString *text = g_string_new ("{");

  for (guint i = 0; i < alive->n; i++)
    {
      const char *tpu = CLUSTER_PICK (in, "4.0", "0.0", "2.0", "3.5"), *cpu = CLUSTER_PICK (in, "1.0", "0.0");

      g_string_append_printf (text, "%s\"%056x\": {\"TPU\": %s, \"CPU\": %s}", i == 0 ? "" : ",", alive->ids[i],
                              has_groups ? "0.0" : tpu, has_groups ? "0.0" : cpu);
    }
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

/* --- Kubernetes --- */

static inline void
cluster_k8s_node (GString *text, FuzzInput *in, ClusterMode mode, guint id)
{
  guint8 flags = fuzz_byte (in);
  gboolean is_odd = (flags & 0xc0) == 0xc0;
  guint pool = mode.is_big ? id / 4 : id / 2, host = mode.has_pod_addresses ? id + 1 : id + 101;
  const char *topology = mode.is_big ? "4x4" : "2x4", *chips = "4";

  if (is_odd)
    {
      host = fuzz_byte (in) % 9;
      pool = fuzz_byte (in) % 3;
      topology = CLUSTER_PICK (in, "2x4", "4x4", "2x2");
      chips = CLUSTER_PICK (in, "4", "0");
    }
  g_string_append_printf (text, "{\"kind\": \"Node\", \"metadata\": {\"name\": \"gke-%u\", ", id);
  if ((flags & 0x60) != 0x60)
    g_string_append_printf (text, "\"uid\": \"u-%u\", ", id + 16 * mode.epoch);
  g_string_append_printf (text,
                          "\"labels\": {\"cloud.google.com/gke-nodepool\": \"g-%u\", "
                          "\"cloud.google.com/gke-tpu-topology\": \"%s\", "
                          "\"cloud.google.com/gke-tpu-accelerator\": \"tpu-v6e-slice\"%s}}, \"spec\": {%s}, ",
                          pool, topology, (flags & 1) != 0 ? ", \"cloud.google.com/gke-spot\": \"true\"" : "",
                          (flags & 6) == 6 ? "\"unschedulable\": true" : "");
  g_string_append_printf (text,
                          "\"status\": {\"capacity\": {\"google.com/tpu\": \"4\"}, "
                          "\"allocatable\": {\"google.com/tpu\": \"%s\"}, "
                          "\"conditions\": [{\"type\": \"Ready\", \"status\": \"%s\"}], "
                          "\"addresses\": [{\"type\": \"InternalIP\", \"address\": \"10.0.0.%u\"}]}}",
                          chips, (flags & 0x18) == 0x18 ? "False" : "True", host);
}

static inline void
cluster_k8s_pod (GString *text, FuzzInput *in, guint number, guint id, ClusterMode mode)
{
  guint8 flags = fuzz_byte (in);
  gboolean is_odd = (flags & 0xc0) == 0xc0;
  guint hosts = mode.is_big ? 4 : 2, worker = id % hosts, host = id + 1;

  if (mode.is_renumbered)
    worker = hosts - 1 - worker;
  if (is_odd)
    {
      worker = fuzz_byte (in) % 5;
      host = fuzz_byte (in) % 9;
    }
  g_string_append_printf (text,
                          "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"pod-%u\", \"namespace\": \"d\", "
                          "\"labels\": {\"ray.io/is-ray-node\": \"yes\"%s}%s}, \"spec\": {\"nodeName\": \"gke-%u\", ",
                          number, (flags & 1) != 0 ? ", \"ray.io/replica-host-index\": \"1\"" : "",
                          (flags & 6) == 6 ? ", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\"" : "", id);
  g_string_append_printf (
      text,
      "\"containers\": [{\"env\": [{\"name\": \"TPU_WORKER_ID\", \"value\": \"%u\"}%s], "
      "\"resources\": {\"requests\": {\"google.com/tpu\": \"4\"}, \"limits\": {\"google.com/tpu\": \"4\"}}}]}, "
      "\"status\": {\"phase\": \"%s\", \"podIP\": \"10.0.0.%u\"}}",
      worker,
      is_odd && (flags & 8) != 0 ? ", {\"name\": \"TPU_WORKER_HOSTNAMES\", \"value\": \"10.0.0.1,10.0.0.2\"}" : "",
      (flags & 0x30) == 0x30 ? "Succeeded" : "Running", host);
}

static inline void
cluster_k8s_pods (GString *text, FuzzInput *in, ClusterMode mode, guint nodes, gboolean *is_first)
{
  guint mask = fuzz_byte (in), number = 0;

  for (guint id = 0; id < CLUSTER_NODES; id++)
    if ((mask & nodes) >> id & 1)
      {
        cluster_separate (text, is_first);
        cluster_k8s_pod (text, in, number++, id, mode);
      }
}

/* Sometimes adds pods to the nodes. If @pods is not NULL, sets it to a separate list of pods, which the caller
 * frees. */
static inline char *
cluster_k8s_list (FuzzInput *in, char **pods)
{
  GString *text = g_string_new ("{\"kind\": \"List\", \"items\": [");
  guint8 bits = fuzz_byte (in);
  ClusterMode mode = { .is_renumbered = (bits & 2) != 0,
                       .has_pod_addresses = (bits & 0x40) != 0,
                       .is_big = (bits & 0x20) != 0,
                       .epoch = (bits & 0x18) == 0x18 ? fuzz_byte (in) % 3 : 0 };
  guint mask = fuzz_byte (in);
  gboolean is_first = TRUE;

  for (guint id = 0; id < CLUSTER_NODES; id++)
    if (mask >> id & 1)
      {
        cluster_separate (text, &is_first);
        cluster_k8s_node (text, in, mode, id);
      }
  if (pods == NULL && (bits & 1) != 0)
    cluster_k8s_pods (text, in, mode, mask, &is_first);
  g_string_append (text, "]}");
  if (pods != NULL)
    {
      GString *others = g_string_new ("{\"kind\": \"List\", \"items\": [");

      is_first = TRUE;
      cluster_k8s_pods (others, in, mode, mask, &is_first);
      g_string_append (others, "]}");
      *pods = g_string_free (others, FALSE);
    }
  return g_string_free (text, FALSE);
}

/* --- plans --- */

static inline char *
cluster_manifest (FuzzInput *in)
{
  static const struct {
    const char *topology, *accelerator;
    guint hosts;
  } slices[] = { { "2x4", "tpu-v6e-slice", 2 },
                 { "4x4", "tpu-v6e-slice", 4 },
                 { "2x2", "tpu-v6e-slice", 1 },
                 { "2x2x2", "tpu-v5p-slice", 2 } };
  GString *text = g_string_new (NULL);

  g_string_append_printf (text,
                          "kind: RayCluster\nmetadata: {name: %s}\nspec:\n"
                          "  headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{}]}}}\n"
                          "  workerGroupSpecs:\n",
                          CLUSTER_PICK (in, "m", "ray", "c"));
  for (guint n = 1 + fuzz_byte (in) % 2, i = 0; i < n; i++)
    {
      guint s = fuzz_byte (in) % G_N_ELEMENTS (slices);

      g_string_append_printf (text,
                              "  - groupName: %s\n    replicas: %u\n    minReplicas: 0\n    maxReplicas: 9\n"
                              "    numOfHosts: %u\n    rayStartParams: {}\n"
                              "    template: {spec: {nodeSelector: {cloud.google.com/gke-tpu-accelerator: %s, "
                              "cloud.google.com/gke-tpu-topology: %s}, containers: [{resources: {limits: {cpu: \"%u\", "
                              "google.com/tpu: 4}}}]}}\n",
                              i > 0 ? "h" : CLUSTER_PICK (in, "g", "p", "s"), fuzz_byte (in) % 4u, slices[s].hosts,
                              slices[s].accelerator, slices[s].topology, 1u + fuzz_byte (in) % 3);
    }
  return g_string_free (text, FALSE);
}

/* Cubes of one or two blocks; some have positions, which can contradict each other. */
static inline char *
cluster_cubes_text (FuzzInput *in)
{
  GString *text = g_string_new (NULL);

  for (guint n = 1 + fuzz_byte (in) % 3, i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%s%s 4x4x4", i > 0 ? "; " : "", CLUSTER_PICK (in, "v5p", "v5p", "v5p", "tpu7x"));
      g_string_append_printf (text, " x%u", 1u + fuzz_byte (in) % 4);
      g_string_append_printf (text, " pool=%s", CLUSTER_PICK (in, "p", "q", "g", "z"));
      g_string_append_printf (text, " block=%s", CLUSTER_PICK (in, "a", "a", "b"));
      g_string_append (text,
                       CLUSTER_PICK (in, "", " grid=2x2x1", " grid=1x1x4", " grid=2x2x2", " grid=2x2x2 at=0-0-1"));
      g_string_append (text, CLUSTER_PICK (in, "", "", " dead=0.3", " busy=0", " draining=0.2"));
    }
  return g_string_free (text, FALSE);
}

static inline char *
cluster_fleet_text (FuzzInput *in)
{
  GString *text = g_string_new (NULL);

  for (guint n = 1 + fuzz_byte (in) % 2, i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s x%u pool=%s%s", i > 0 ? "; " : "",
                            CLUSTER_PICK (in, "v6e 2x4", "v6e 4x4", "v5p 2x2x2", "v6e 2x2"), 1u + fuzz_byte (in) % 4,
                            CLUSTER_PICK (in, "p", "q", "g", "z"),
                            CLUSTER_PICK (in, "", "", " dead=0", " busy=0", " draining=0", " hostchips=4"));
  return g_string_free (text, FALSE);
}

/* --- inputs --- */

static inline void
cluster_set (QuoitInput *input, QuoitListKind kind, char *text, GString *texts) /* NOLINT: takes @text */
{
  quoit_input_set_list (input, kind, text, strlen (text));
  g_string_append_printf (texts, "%s\n", text);
  g_free (text);
}

static inline QuoitInput *
cluster_new_input (QuoitSourceKind kind, char *text, GString *texts) /* NOLINT: takes @text */
{
  QuoitInput *input = quoit_input_new (kind, text, strlen (text));

  g_string_append_printf (texts, "%s\n", text);
  g_free (text);
  return input;
}

/* A list of one of the sources. Appends the source's texts to the second argument, one per line. */
static inline QuoitInput *
cluster_any_input (FuzzInput *in, GString *texts)
{
  guint8 kind = fuzz_byte (in) % 6, more = fuzz_byte (in);
  QuoitInput *input;
  ClusterRay alive;
  char *pods = NULL;

  switch (kind)
    {
    case 0:
    case 1:
      input = cluster_new_input (QUOIT_SOURCE_KIND_RAY_NODES, cluster_ray_nodes (in, &alive), texts);
      if ((more & 1) != 0)
        cluster_set (input, QUOIT_LIST_RAY_GROUPS, cluster_ray_groups (in, &alive), texts);
      if ((more & 2) != 0)
        cluster_set (input, QUOIT_LIST_RAY_AVAILABLE, cluster_ray_available (in, &alive, (more & 1) != 0), texts);
      if ((more & 0x60) == 0x60)
        quoit_input_set_topology (input, CLUSTER_PICK (in, "2x4", "4x4"));
      break;
    case 2:
    case 3:
      input = cluster_new_input (QUOIT_SOURCE_KIND_K8S_NODES, cluster_k8s_list (in, (more & 1) != 0 ? &pods : NULL),
                                 texts);
      if (pods != NULL)
        cluster_set (input, QUOIT_LIST_K8S_PODS, pods, texts);
      break;
    case 4:
      input = cluster_new_input (QUOIT_SOURCE_KIND_RAYCLUSTER, cluster_manifest (in), texts);
      break;
    default:
      input = cluster_new_input (QUOIT_SOURCE_KIND_FLEET, cluster_fleet_text (in), texts);
    }
  if ((more & 0x88) == 0x88)
    quoit_input_set_source (input, CLUSTER_PICK (in, "ray", "k8s", "m", "fleet", "other"));
  if ((more & 0x34) == 0x34)
    quoit_input_set_join (input, CLUSTER_PICK (in, "m", "k8s", "ray", "fleet", "nobody"));
  return input;
}

/* --- updates of a few of Ray's nodes --- */

/* Adds a node in the place and with the name that cluster_ray_node() gives it. */
static inline void
cluster_add_node (QuoitInput *input, guint id, guint epoch, guint8 flags)
{
  g_autofree char *ray_id = g_strdup_printf ("%056x", id + 16 * epoch + 1),
                  *name = g_strdup_printf ("%s%u", (flags & 8) != 0 ? "n" : "10.0.0.", id + 1),
                  *address = g_strdup_printf ("10.0.%u.%u", (flags & 1) != 0 ? epoch : 0, id + 1),
                  *slice = g_strdup_printf ("g-%u", id / 2);

  quoit_input_add_node (input, ray_id, name, address, (flags & 6) == 6 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE, NULL);
  quoit_input_set_node_pool (input, (flags & 0xc0) == 0xc0 ? "h" : "g", NULL);
  if ((flags & 0x30) != 0x30)
    quoit_input_set_node_slice (input, slice, id % 2, "v6e", "2x4", NULL);
  quoit_input_set_node_resource (input, "CPU", (QuoitAmount) { 20000 }, NULL);
  if ((flags & 0x30) < 0x20 || flags == 0xff)
    quoit_input_set_node_resource (input, "TPU", (QuoitAmount) { 40000 }, NULL);
}

static inline QuoitInput *
cluster_any_update (FuzzInput *in, GString *texts)
{
  QuoitInput *input = quoit_input_new_nodes ();
  guint mask = fuzz_byte (in), removed = fuzz_byte (in), epoch = fuzz_byte (in) % 3;

  for (guint id = 0; id < CLUSTER_NODES; id++)
    if ((mask >> id & 1) != 0)
      cluster_add_node (input, id, epoch, fuzz_byte (in));
  for (guint id = 0; id < CLUSTER_NODES; id++)
    if ((removed >> id & 1) != 0)
      {
        guint8 byte = fuzz_byte (in);
        /* Nearly always another id than the one that is added. */
        guint other = (mask >> id & 1) != 0 && byte < 250 ? (epoch + 1 + byte % 2) % 3 : byte % 3u;
        g_autofree char *ray_id = g_strdup_printf ("%056x", id + 16 * other + 1);

        quoit_input_remove_node (input, ray_id, NULL);
      }
  g_string_append_printf (texts, "update %x without %x, epoch %u\n", mask, removed, epoch);
  return input;
}

/* --- results of imports --- */

/* "OK ray 1 12|..." or "ERR ..."; the caller frees it. */
static inline char *
cluster_show_import (const QuoitImport *import, const GError *error)
{
  GString *text = g_string_new (NULL);

  if (import == NULL)
    {
      g_string_printf (text, "ERR %d %s", error->code, error->message);
      return g_string_free (text, FALSE);
    }
  g_string_printf (text, "OK %s %d %u", quoit_import_get_source (import), quoit_import_is_new (import),
                   quoit_import_get_n_nodes (import));
  for (guint i = 0; i < quoit_import_get_n_changes (import); i++)
    {
      const char *detail = quoit_import_get_change_detail (import, i),
                 *group = quoit_import_get_change_group (import, i);

      g_string_append_printf (text, "|%d %s %s %s", (int) quoit_import_get_change_kind (import, i),
                              quoit_import_get_change_name (import, i), detail == NULL ? "" : detail,
                              group == NULL ? "" : group);
    }
  return g_string_free (text, FALSE);
}
