/* SPDX-License-Identifier: Apache-2.0 */
/* A valid manifest, edits of it, and their findings. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include <string.h>

#include "suite.h"

/* Most cases state only the first members. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A manifest without findings; every case edits it. */
static const char good[] = "apiVersion: resource.k8s.io/v1\n"
                           "kind: ResourceClaimTemplate\n"
                           "metadata:\n"
                           "  name: two-netdev\n"
                           "spec: {spec: {devices: {requests: [{name: nets, exactly: {deviceClassName: "
                           "netdev.google.com, allocationMode: All}}]}}}\n"
                           "---\n"
                           "apiVersion: ray.io/v1\n"
                           "kind: RayCluster\n"
                           "metadata:\n"
                           "  name: train\n"
                           "spec:\n"
                           "  headGroupSpec:\n"
                           "    rayStartParams: {num-cpus: \"0\"}\n"
                           "    template:\n"
                           "      spec:\n"
                           "        containers:\n"
                           "        - name: head\n"
                           "          image: ray # head\n"
                           "          resources: {limits: {cpu: \"8\", memory: 16Gi}}\n"
                           "  workerGroupSpecs:\n"
                           "  - groupName: tpu-group\n"
                           "    replicas: 2\n"
                           "    minReplicas: 1\n"
                           "    maxReplicas: 3\n"
                           "    numOfHosts: 4\n"
                           "    rayStartParams:\n"
                           "      metrics-export-port: \"8082\"\n"
                           "    template:\n"
                           "      spec:\n"
                           "        resourceClaims:\n"
                           "        - name: netdev\n"
                           "          resourceClaimTemplateName: two-netdev\n"
                           "        containers:\n"
                           "        - name: worker\n"
                           "          image: ray\n"
                           "          env:\n"
                           "          - name: MEGASCALE_NUM_SLICES\n"
                           "            value: \"2\"\n"
                           "          resources:\n"
                           "            claims:\n"
                           "            - name: netdev\n"
                           "            limits:\n"
                           "              google.com/tpu: \"4\"\n"
                           "              cpu: \"24\"\n"
                           "              memory: 40G\n"
                           "            requests:\n"
                           "              google.com/tpu: \"4\"\n"
                           "              cpu: \"24\"\n"
                           "        nodeSelector:\n"
                           "          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n"
                           "          cloud.google.com/gke-tpu-topology: 4x4\n";

#define GROUP "$.spec.workerGroupSpecs[0]"
#define ACCELERATOR "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n"

typedef struct {
  const char *from, *to;
} Edit;

/* @has breaks the rule, and the finding has that path, value and expectation. @has_not is a close valid case. Both are
 * edits of @base, or of the good manifest if that is NULL, after the edit @also, if that is set. */
typedef struct {
  const char *rule;
  Edit has;
  const char *path, *value, *expected;
  Edit has_not, also;
  const char *base;
} Case;

static inline char *
edit (const char *text, Edit how)
{
  const char *at = strstr (text, how.from);
  GString *out = g_string_new (NULL);

  ck_assert_msg (at != NULL, "'%s' is not in the manifest", how.from);
  g_string_append_len (out, text, at - text);
  g_string_append (out, how.to);
  g_string_append (out, at + strlen (how.from));
  return g_string_free (out, FALSE);
}

static inline QuoitCheck *
check_text (const char *text, const char *const *variables)
{
  GError *error = NULL;
  QuoitCheck *check = quoit_check_manifest (text, strlen (text), variables, &error);

  ck_assert_ok (error);
  ck_assert_ptr_nonnull (check);
  return check;
}

/* "12: numofhosts-topology", one line per finding. */
static inline char *
as_text (const QuoitCheck *check)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_check_get_n_findings (check); i++)
    g_string_append_printf (text, "%u: %s: %s\n", quoit_check_get_line (check, i), quoit_check_get_rule (check, i),
                            quoit_check_get_message (check, i));
  return g_string_free (text, FALSE);
}

static inline int
find (const QuoitCheck *check, const char *rule)
{
  for (uint32_t i = 0; i < quoit_check_get_n_findings (check); i++)
    if (strcmp (quoit_check_get_rule (check, i), rule) == 0)
      return (int) i;
  return -1;
}

static inline guint
count (const QuoitCheck *check, QuoitSeverity severity)
{
  guint n = 0;

  for (uint32_t i = 0; i < quoit_check_get_n_findings (check); i++)
    n += quoit_check_get_severity (check, i) == severity;
  return n;
}
