/* SPDX-License-Identifier: Apache-2.0 */
/* A RayCluster with every field that quoit reads, with any texts in its fields and variables in its texts. It is
 * refused with a printable message, or its nodes have distinct names, which appear in every document. The first byte
 * chooses the document: the claims or the fleet. */
#include <quoit/snapshot.h>

#include "written.h"

/* Writes the next text of the input as a member. */
static void
write_text (QuoitWriter *writer, const char *key, FuzzInput *in)
{
  g_autofree char *text = fuzz_text (in);

  quoit_writer_text (writer, key, text);
}

enum { CLAIMS = 1, FLEET, N_CHECKS = FLEET };

/* Like write_text(), but leaves the member out if the input is empty or chooses so. */
static void
write_optional (QuoitWriter *writer, const char *key, FuzzInput *in)
{
  if (in->at < in->end && fuzz_byte (in) % 4 != 3)
    write_text (writer, key, in);
}

static void
write_resources (QuoitWriter *writer, FuzzInput *in)
{
  quoit_writer_open_object (writer, "resources");
  quoit_writer_open_object (writer, "limits");
  write_optional (writer, "google.com/tpu", in);
  write_optional (writer, "cpu", in);
  write_optional (writer, "memory", in);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

static void
write_template (QuoitWriter *writer, FuzzInput *in)
{
  quoit_writer_open_object (writer, "template");
  quoit_writer_open_object (writer, "spec");
  quoit_writer_open_object (writer, "nodeSelector");
  write_optional (writer, "cloud.google.com/gke-tpu-accelerator", in);
  write_optional (writer, "cloud.google.com/gke-tpu-topology", in);
  write_optional (writer, "topology.kubernetes.io/zone", in);
  quoit_writer_close (writer);
  quoit_writer_open_array (writer, "containers");
  quoit_writer_open_object (writer, NULL);
  write_resources (writer, in);
  quoit_writer_open_array (writer, "env");
  for (guint8 n = fuzz_byte (in) % 4; n > 0; n--)
    {
      quoit_writer_open_object (writer, NULL);
      write_text (writer, "name", in);
      write_optional (writer, "value", in);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

static void
write_params (QuoitWriter *writer, FuzzInput *in)
{
  quoit_writer_open_object (writer, "rayStartParams");
  write_optional (writer, "num-cpus", in);
  write_optional (writer, "resources", in);
  write_optional (writer, "labels", in);
  quoit_writer_close (writer);
}

static void
write_workers (QuoitWriter *writer, FuzzInput *in)
{
  quoit_writer_open_array (writer, "workerGroupSpecs");
  for (guint8 n = fuzz_byte (in) % 4; n > 0; n--)
    {
      quoit_writer_open_object (writer, NULL);
      write_text (writer, "groupName", in);
      quoit_writer_integer (writer, "replicas", fuzz_byte (in) % 8);
      quoit_writer_integer (writer, "numOfHosts", fuzz_byte (in) % 8);
      write_params (writer, in);
      write_template (writer, in);
      quoit_writer_close (writer);
    }
  quoit_writer_close (writer);
}

static char *
write_manifest (FuzzInput *in)
{
  QuoitWriter *writer = quoit_writer_new ();

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "apiVersion", "ray.io/v1");
  quoit_writer_text (writer, "kind", "RayCluster");
  quoit_writer_open_object (writer, "metadata");
  write_text (writer, "name", in);
  quoit_writer_close (writer);
  quoit_writer_open_object (writer, "spec");
  quoit_writer_open_object (writer, "headGroupSpec");
  write_params (writer, in);
  write_template (writer, in);
  quoit_writer_close (writer);
  write_workers (writer, in);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}

static void
require_fleet (const QuoitClaims *claims)
{
  g_autoptr (QuoitFleet) fleet = fuzz_fleet_of (claims);

  fuzz_require_fleet_written (fleet);
}

static void
require_names (const QuoitClaims *claims)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    g_assert (fuzz_can_be_shown (nodes[i].name) && g_hash_table_add (names, (char *) nodes[i].name));
  for (const char *const *warning = quoit_claims_warnings (claims); *warning != NULL; warning++)
    g_assert (fuzz_can_be_shown (*warning));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint8 which = fuzz_byte (&in);
  g_autofree char *a = fuzz_text (&in), *b = fuzz_text (&in), *manifest = write_manifest (&in);
  const char *const set[] = { a, *b == '\0' ? NULL : b, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims
      = quoit_read_raycluster (manifest, strlen (manifest), NULL, *a == '\0' ? NULL : set, &error);

  fuzz_require_error (claims != NULL, error);
  if (claims == NULL)
    return 0;
  require_names (claims);
  if (fuzz_runs_check (which, CLAIMS, N_CHECKS))
    fuzz_require_claims_written (claims);
  if (fuzz_runs_check (which, FLEET, N_CHECKS))
    require_fleet (claims);
  return 0;
}
