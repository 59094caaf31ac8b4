/* SPDX-License-Identifier: Apache-2.0 */
/* A job on all slices of a Ray cluster that changes. One line describes the cluster: "a b=0100 c=1111" are three v6e
 * 4x4 slices of four hosts each, where host 1 of b and every host of c have been replaced once. A replacement has
 * the name of the replaced host, but its own Ray node id and address. */
#pragma once

#include <quoit/quoit.h>

#include <string.h>

#include "suite.h"
#include "../shortcuts.h"

#define ELASTIC_NOW G_GINT64_CONSTANT (1767225600000)

enum { ELASTIC_HOSTS = 4 };

static inline void
elastic_append_host (GString *list, const char *slice, guint worker, guint replaced)
{
  guint number = (guint) *slice * 100 + worker * 10 + replaced;

  g_string_append_printf (
      list,
      "%s{\"NodeID\": \"%056u\", \"Alive\": true, \"NodeName\": \"%s-%u\", \"NodeManagerAddress\": \"10.%u.%u.%u\", "
      "\"Resources\": {\"TPU\": 4, \"CPU\": 8}, \"Labels\": {\"ray.io/tpu-slice-name\": \"%s\", "
      "\"ray.io/tpu-worker-id\": \"%u\", \"ray.io/tpu-topology\": \"4x4\", \"ray.io/tpu-pod-type\": \"v6e-16\", "
      "\"ray.io/accelerator-type\": \"TPU-V6E\"}}",
      list->len > 1 ? ", " : "", number, slice, worker, (guint) (*slice - 'a'), replaced, worker, slice, worker);
}

static inline char *
elastic_nodes (const char *cluster)
{
  g_auto (GStrv) slices = g_strsplit (cluster, " ", -1);
  GString *list = g_string_new ("[");

  for (char **slice = slices; *slice != NULL; slice++)
    {
      const char *replaced = strchr (*slice, '=');
      g_autofree char *name = g_strndup (*slice, strcspn (*slice, "="));

      for (guint w = 0; w < ELASTIC_HOSTS; w++)
        elastic_append_host (list, name, w, replaced == NULL ? 0 : (guint) (replaced[1 + w] - '0'));
    }
  g_string_append_c (list, ']');
  return g_string_free (list, FALSE);
}

/* The job's topology on the given cluster, or NULL if it has no slice. */
static inline QuoitTopology *
elastic_job (QuoitLedger *ledger, const char *cluster, QuoitProfile profile)
{
  g_autofree char *nodes = elastic_nodes (cluster);
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  QuoitTopology *topology;
  GError *error = NULL;
  int64_t n_slices = 1;

  if (*cluster == '\0')
    return NULL;
  for (const char *p = cluster; *p != '\0'; p++)
    n_slices += *p == ' ';
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, nodes, NULL, ELASTIC_NOW, &error));
  ck_assert_ok (error);
  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, n_slices, NULL));
  group = quoit_ledger_reserve (ledger, request, ELASTIC_NOW, NULL, &error);
  ck_assert_ok (error);
  topology = topology_in (group, profile, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_release (ledger, "train", ELASTIC_NOW, &error));
  return topology;
}
