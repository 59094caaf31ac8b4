/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a manifest with or without variables, a Ray or Kubernetes node list, or a list of pods for a node list.
 * The first byte chooses the format. */
#include <string.h>

#include "formats/formats.h"
#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"

enum { MANIFEST = 1, VARIABLES, LIST, K8S, PODS, N_CHECKS = PODS };

static void
check (QuoitClaims *claims, GError *error)
{
  fuzz_require_error (claims != NULL, error);
  if (error != NULL)
    {
      g_error_free (error);
      return;
    }
  {
    g_autofree char *json = quoit_write_claims_json (claims);
    guint32 n_nodes;

    quoit_claims_nodes (claims, &n_nodes);
    g_assert (n_nodes > 1000 || quoit_json_check (json, strlen (json), NULL));
  }
  quoit_claims_free (claims);
}

#define HOST(name)                                                                                                     \
  "kind: Node\nmetadata: {name: " name ", labels: {cloud.google.com/gke-nodepool: p, "                                 \
  "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x4}}\nstatus: "            \
  "{capacity: {google.com/tpu: '4'}}\n---\n"

static const char two_hosts[] = HOST ("a") HOST ("b");

/* The hosts of a slice have distinct worker ids, whatever the pods contain. */
static void
check_hosts (const QuoitClaims *claims)
{
  guint32 n_nodes;
  const QuoitNodeClaim *nodes;

  if (claims == NULL)
    return;
  nodes = quoit_claims_nodes (claims, &n_nodes);
  g_assert (n_nodes == 2 && nodes[0].worker_id == 0 && nodes[1].worker_id == 1);
}

/* Manifests with a million pods are legal but slow. */
static gboolean
has_long_number (const char *text, gsize size)
{
  unsigned run = 0;

  for (gsize i = 0; i < size; i++)
    {
      run = g_ascii_isdigit (text[i]) ? run + 1 : 0;
      if (run >= 5)
        return TRUE;
    }
  return FALSE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const set[] = { "N=2", "NAME=x", "IMAGE=y", NULL };
  FuzzInput in = fuzz_input (data, size);
  guint8 which = fuzz_byte (&in);
  const char *text = (const char *) in.at;
  gsize length = (gsize) (in.end - in.at);
  gboolean is_small = !has_long_number (text, length);
  GError *error = NULL;
  QuoitClaims *claims;

  if (is_small && fuzz_runs_check (which, MANIFEST, N_CHECKS))
    {
      claims = quoit_read_raycluster (text, length, NULL, NULL, &error);
      check (claims, g_steal_pointer (&error));
    }
  if (is_small && fuzz_runs_check (which, VARIABLES, N_CHECKS))
    {
      claims = quoit_read_raycluster (text, length, "s", set, &error);
      check (claims, g_steal_pointer (&error));
    }
  if (fuzz_runs_check (which, LIST, N_CHECKS))
    {
      claims = quoit_read_ray_nodes (text, length, NULL, &error);
      check (claims, g_steal_pointer (&error));
    }
  if (fuzz_runs_check (which, K8S, N_CHECKS))
    {
      claims = quoit_read_k8s_nodes (text, length, NULL, &error);
      check (claims, g_steal_pointer (&error));
    }
  if (fuzz_runs_check (which, PODS, N_CHECKS))
    {
      const QuoitK8sFiles files = { .nodes = two_hosts, .n_nodes = strlen (two_hosts), .pods = text, .n_pods = length };

      claims = quoit_read_k8s_files (&files, &error);
      check_hosts (claims);
      check (claims, g_steal_pointer (&error));
    }
  return 0;
}
