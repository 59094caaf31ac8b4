/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the names that become host names and services, and about the numbers of replicas. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/dns.h"
#include "models/kuberay/names.h"
#include "models/ray/label-syntax.h"
#include "models/webhook/names.h"

static void
check_cluster (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  JsonNode *metadata = quoit_tree_member (cluster->document, "metadata");

  (void) group;
  if (cluster->name.node == NULL && quoit_tree_member (metadata, "generateName") == NULL)
    quoit_check_report (checker, rule, metadata != NULL ? metadata : cluster->document, "no 'metadata.name'",
                        "the name of the %s", cluster->kind);
  if (cluster->name.text != NULL
      && (!quoit_dns_is_label (cluster->name.text, cluster->longest_name) || !g_ascii_islower (*cluster->name.text)))
    quoit_check_report (checker, rule, cluster->name.node, "name",
                        "at most %" G_GSIZE_FORMAT " lower-case letters, digits and '-', a letter first and no '-' "
                        "last: KubeRay refuses any other %s",
                        cluster->longest_name, cluster->kind);
}

static gboolean
has_multi_host_slices (const QuoitCheckCluster *cluster)
{
  for (guint i = 0; i < cluster->groups->len; i++)
    if (quoit_check_group_at (cluster, i)->n_chips > 0 && quoit_check_group_at (cluster, i)->hosts.number > 1)
      return TRUE;
  return FALSE;
}

static void
check_service (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  g_autofree char *name = NULL, *kuberay_name = NULL, *webhook_name = NULL;

  (void) group;
  if (cluster->name.text == NULL || !has_multi_host_slices (cluster))
    return;
  name = g_strconcat (cluster->name.text, cluster->has_random_suffix ? QUOIT_KUBERAY_RANDOM_END : "", NULL);
  kuberay_name = quoit_webhook_kuberay_service (name);
  webhook_name = quoit_webhook_service (name);
  if (strcmp (kuberay_name, webhook_name) == 0)
    return;
  {
    g_autofree char *quoted_kuberay_name = quoit_quote (kuberay_name),
                    *quoted_webhook_name = quoit_quote (webhook_name);

    quoit_check_report (checker, rule, cluster->name.node, "name",
                        "at most %u bytes, with a letter first: KubeRay names the headless service %s, but the TPU "
                        "webhook assigns the hosts to service %s",
                        quoit_webhook_longest_name (cluster->has_random_suffix ? QUOIT_KUBERAY_RANDOM_END : ""),
                        quoted_kuberay_name, quoted_webhook_name);
  }
}

static gboolean
is_first_with_name (const QuoitCheckCluster *cluster, const QuoitCheckGroup *group)
{
  return g_hash_table_lookup (cluster->names, group->name.text) == group;
}

static void
check_group_name (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  GError *error = NULL;

  if (group->is_head)
    return;
  if (group->name.node == NULL)
    quoit_check_report (checker, rule, group->node, "no 'groupName'", "the name of the group");
  if (group->name.text == NULL)
    return;
  if (!quoit_label_check_value (group->name.text, &error))
    quoit_check_report_error (checker, rule, group->name.node, "groupName", error);
  else if (*group->name.text == '\0' || !is_first_with_name (cluster, group))
    quoit_check_report (checker, rule, group->name.node, "groupName",
                        "a name that no other group has (the head's is 'headgroup')");
}

/* Checks the longest host name. The webhook sets host names only for the pods of multi-host slices. */
static void
check_host_name (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  g_autofree char *name = NULL, *quoted = NULL;
  /* The autoscaler can reach maxReplicas, but not its default, which is 2147483647. */
  gint64 most = MAX (group->n_slices, group->max_replicas.number < G_MAXINT32 ? group->max_replicas.number : 0);

  (void) cluster;
  if (group->is_head || group->n_chips == 0 || group->hosts.number < 2 || group->name.text == NULL)
    return;
  name = g_strdup_printf ("%s-%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, group->name.text, MAX (most, 1) - 1,
                          group->hosts.number - 1);
  if (quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES))
    return;
  quoted = quoit_quote (name);
  quoit_check_report (checker, rule, group->name.node, "groupName",
                      "lower-case letters, digits and '-' that make host names of at most %d bytes: the TPU webhook "
                      "makes %s of %" G_GSIZE_FORMAT,
                      QUOIT_MAX_DNS_LABEL_BYTES, quoted, strlen (name));
}

const QuoitCheckRule quoit_check_name_rules[] = {
  { "cluster-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_CLUSTER, check_cluster },
  { "service-name", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_CLUSTER, check_service },
  { "group-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_group_name },
  { "host-name", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_host_name },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};

/* --- replicas --- */

static void
check_bounds (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->min_replicas.is_known && group->max_replicas.is_known
      && group->min_replicas.number > group->max_replicas.number)
    quoit_check_report (checker, rule, group->min_replicas.node, "minReplicas",
                        "at most %" G_GINT64_FORMAT ", which is maxReplicas: KubeRay refuses the cluster",
                        group->max_replicas.number);
}

static void
check_range (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->replicas.node == NULL || !group->replicas.is_known || !group->min_replicas.is_known
      || !group->max_replicas.is_known || group->min_replicas.number > group->max_replicas.number
      || group->n_slices == group->replicas.number)
    return;
  quoit_check_report (checker, rule, group->replicas.node, "replicas",
                      "%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", minReplicas and maxReplicas: KubeRay makes it "
                      "%" G_GINT64_FORMAT,
                      group->min_replicas.number, group->max_replicas.number, group->n_slices);
}

static void
check_overflow (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                const QuoitCheckGroup *group)
{
  gint64 pods = group->n_slices * group->hosts.number;
  JsonNode *node = group->n_slices == group->replicas.number ? group->replicas.node : group->min_replicas.node;

  (void) cluster;
  if (pods > G_MAXINT32)
    quoit_check_report (checker, rule, node != NULL ? node : group->node,
                        node == group->min_replicas.node ? "minReplicas" : "replicas",
                        "at most %d pods in all: KubeRay would count these %" G_GINT64_FORMAT " as %d", G_MAXINT32,
                        pods, (gint32) (guint32) pods);
}

const QuoitCheckRule quoit_check_replica_rules[] = {
  { "replicas-bounds", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_bounds },
  { "replicas-range", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_range },
  { "pods-overflow", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_overflow },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
