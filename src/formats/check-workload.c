/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that make pods without Ray: JobSets, LeaderWorkerSets, Jobs, Pods and similar kinds, and Kueue's Workloads.
 * Their pod templates are read as groups, for which the rules of scope PODS hold too. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/dns.h"
#include "base/label-names.h"

/* What is read of an object. */
typedef struct {
  QuoitChecker *checker;
  QuoitCheckCluster *cluster;
} Reader;

/* Begins a group with one pod in one slice. */
static QuoitCheckGroup
new_group (JsonNode *node, const char *hosts_name)
{
  return (QuoitCheckGroup) { .node = node,
                             .is_workload = TRUE,
                             .hosts_name = hosts_name,
                             .replicas = { NULL, 1, TRUE },
                             .max_replicas = { NULL, G_MAXINT32, TRUE },
                             .min_replicas = { NULL, 0, TRUE },
                             .hosts = { NULL, 1, TRUE },
                             .n_slices = 1 };
}

static void
add_group (const Reader *reader, JsonNode *pod_template, QuoitCheckGroup group)
{
  quoit_check_pods_read (reader->checker, pod_template, &group);
  g_array_append_val (reader->cluster->groups, group);
}

static JsonNode *
member (const Reader *reader, JsonNode *from, const char *name)
{
  return quoit_check_member (reader->checker, from, name);
}

static void
set_slices (QuoitCheckGroup *group, QuoitCheckNumber replicas)
{
  group->replicas = replicas;
  group->n_slices = replicas.is_known ? replicas.number : 1;
}

/* --- readers, one per kind --- */

static void
read_job_spec (const Reader *reader, JsonNode *spec, QuoitCheckGroup group)
{
  group.hosts = quoit_check_read_number (reader->checker, spec, "parallelism", 1);
  add_group (reader, member (reader, spec, "template"), group);
}

static void
read_job (const Reader *reader, JsonNode *spec)
{
  read_job_spec (reader, spec, new_group (spec, "parallelism"));
}

static void
read_cron_job (const Reader *reader, JsonNode *spec)
{
  read_job (reader, member (reader, member (reader, spec, "jobTemplate"), "spec"));
}

static void
read_job_set (const Reader *reader, JsonNode *spec)
{
  JsonArray *jobs = quoit_check_array (reader->checker, member (reader, spec, "replicatedJobs"), "replicatedJobs");

  for (guint i = 0; jobs != NULL && i < json_array_get_length (jobs); i++)
    {
      JsonNode *entry = json_array_get_element (jobs, i), *job;
      QuoitCheckGroup group;

      job = member (reader, member (reader, entry, "template"), "spec");
      if (job == NULL)
        continue;
      group = new_group (job, "parallelism");
      group.name = quoit_check_read_text (reader->checker, entry, "name");
      set_slices (&group, quoit_check_read_number (reader->checker, entry, "replicas", 1));
      read_job_spec (reader, job, group);
    }
}

/* If the leader has no chips, it is no host of the slice. With subgroups, each of them is a slice. */
static void
read_leader_worker_set (const Reader *reader, JsonNode *spec)
{
  JsonNode *template = member (reader, spec, "leaderWorkerTemplate");
  JsonNode *leader = member (reader, template, "leaderTemplate");
  JsonNode *policy = member (reader, template, "subGroupPolicy");
  QuoitCheckNumber replicas = quoit_check_read_number (reader->checker, spec, "replicas", 1);
  QuoitCheckNumber size = quoit_check_read_number (reader->checker, template, "size", 1);
  QuoitCheckNumber of_subgroup = quoit_check_read_number (reader->checker, policy, "subGroupSize", 0);
  QuoitCheckGroup workers = new_group (template, "size");
  gboolean has_leader = FALSE;

  if (leader != NULL)
    {
      QuoitCheckGroup group = new_group (template, "size");

      group.hosts.is_known = FALSE;
      set_slices (&group, replicas);
      add_group (reader, leader, group);
      has_leader = quoit_check_group_at (reader->cluster, reader->cluster->groups->len - 1)->n_chips == 0;
    }
  workers.hosts = size;
  set_slices (&workers, replicas);
  if (of_subgroup.is_known && of_subgroup.number > 0)
    {
      workers.hosts_name = "subGroupSize";
      workers.hosts = of_subgroup;
      workers.has_leader_in_subgroup = !has_leader;
      workers.n_slices *= MAX (size.number / of_subgroup.number, 1);
    }
  else if (has_leader && size.number > 0)
    {
      workers.has_leader = TRUE;
      workers.hosts.number--;
    }
  add_group (reader, member (reader, template, "workerTemplate"), workers);
}

static void
read_pod (const Reader *reader, JsonNode *spec)
{
  (void) spec;
  add_group (reader, reader->cluster->document, new_group (reader->cluster->document, NULL));
}

static void
read_replicas (const Reader *reader, JsonNode *spec)
{
  QuoitCheckGroup group = new_group (spec, "replicas");

  group.has_many = TRUE;
  group.hosts = quoit_check_read_number (reader->checker, spec, "replicas", 1);
  add_group (reader, member (reader, spec, "template"), group);
}

static void
read_pod_sets (const Reader *reader, JsonNode *spec)
{
  JsonArray *sets = quoit_check_array (reader->checker, member (reader, spec, "podSets"), "podSets");

  for (guint i = 0; sets != NULL && i < json_array_get_length (sets); i++)
    {
      JsonNode *entry = json_array_get_element (sets, i);
      QuoitCheckGroup group = new_group (entry, "count");

      group.has_many = TRUE;
      group.hosts = quoit_check_read_number (reader->checker, entry, "count", 1);
      add_group (reader, member (reader, entry, "template"), group);
    }
}

static const struct {
  const char *kind, *group; /* the API's group; "": Kubernetes' core */
  void (*read) (const Reader *reader, JsonNode *spec);
} kinds[] = {
  { "JobSet", "jobset.x-k8s.io", read_job_set },
  { "LeaderWorkerSet", "leaderworkerset.x-k8s.io", read_leader_worker_set },
  { "Job", "batch", read_job },
  { "CronJob", "batch", read_cron_job },
  { "Pod", "", read_pod },
  { "Deployment", "apps", read_replicas },
  { "StatefulSet", "apps", read_replicas },
  { "ReplicaSet", "apps", read_replicas },
  { "Workload", "kueue.x-k8s.io", read_pod_sets },
};

gboolean
quoit_check_is_in_group (QuoitChecker *checker, JsonNode *object, const char *group)
{
  JsonNode *node = quoit_tree_member (object, "apiVersion");
  const char *version, *slash;

  if (!quoit_check_text (checker, node, "apiVersion", &version))
    return TRUE;
  slash = strchr (version, '/');
  return slash == NULL ? *group == '\0'
                       : strlen (group) == (gsize) (slash - version) && strncmp (version, group, strlen (group)) == 0;
}

static void
clear_group (gpointer data)
{
  quoit_check_group_clear (data);
}

gboolean
quoit_check_workload (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (QuoitCheckGroup));
  QuoitCheckCluster cluster = { .document = object, .kind = kind, .groups = groups };
  const Reader reader = { checker, &cluster };
  guint found = 0;

  while (found < G_N_ELEMENTS (kinds)
         && (strcmp (kinds[found].kind, kind) != 0 || !quoit_check_is_in_group (checker, object, kinds[found].group)))
    found++;
  if (found == G_N_ELEMENTS (kinds))
    return FALSE;

  g_array_set_clear_func (groups, clear_group);
  cluster.name.node = quoit_check_member (checker, quoit_check_member (checker, object, "metadata"), "name");
  quoit_check_text (checker, cluster.name.node, "name", &cluster.name.text);
  cluster.spec = quoit_check_member (checker, object, "spec");
  kinds[found].read (&reader, cluster.spec);
  quoit_check_run (checker, QUOIT_CHECK_OBJECT, &cluster, NULL);
  quoit_check_queue_of_job (checker, &cluster);
  for (guint i = 0; i < groups->len; i++)
    {
      quoit_check_run (checker, QUOIT_CHECK_WORKLOAD, &cluster, quoit_check_group_at (&cluster, i));
      quoit_check_run (checker, QUOIT_CHECK_PODS, &cluster, quoit_check_group_at (&cluster, i));
    }
  return TRUE;
}

/* --- rules --- */

static void
check_hosts (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  JsonNode *node = group->hosts.node != NULL ? group->hosts.node : group->node;
  gint64 hosts = group->has_facts ? group->facts.hosts : 1, pods = group->hosts.number;
  g_autofree char *what = NULL, *quoted = NULL;

  if (hosts < 2 || !group->hosts.is_known || pods == 0 || (group->has_many ? pods % hosts == 0 : pods == hosts))
    return;
  quoted = quoit_quote (group->topology.text);
  what = group->hosts.node != NULL   ? g_strdup (group->hosts_name)
         : group->hosts_name == NULL ? g_strdup_printf ("one %s", cluster->kind)
                                     : g_strdup_printf ("no '%s', which means 1", group->hosts_name);
  quoit_check_report (checker, rule, node, what,
                      "%s%" G_GINT64_FORMAT ", the hosts of topology %s with %" G_GINT64_FORMAT " chips per pod%s",
                      group->has_many ? "a multiple of " : "", hosts + group->has_leader, quoted, group->n_chips,
                      group->has_leader ? ", and the leader" : "");
}

static JsonNode *
completion_mode (const QuoitCheckGroup *group)
{
  return quoit_tree_member (group->node, "completionMode");
}

static gboolean
is_job_group (const QuoitCheckGroup *group)
{
  return g_strcmp0 (group->hosts_name, "parallelism") == 0;
}

/* Returns the completion mode of a job, which is Indexed by default in a JobSet. NULL: it cannot be read. */
static const char *
read_mode (QuoitChecker *checker, const QuoitCheckCluster *cluster, const QuoitCheckGroup *group)
{
  JsonNode *node = completion_mode (group);
  const char *mode = NULL;

  if (node == NULL)
    return strcmp (cluster->kind, "JobSet") == 0 ? "Indexed" : "NonIndexed";
  return quoit_check_text (checker, node, "completionMode", &mode) ? mode : NULL;
}

/* GKE finds the worker ids of a job by the completion indices of its pods. */
static void
check_indexed (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  JsonNode *node = completion_mode (group);

  if (!is_job_group (group) || !group->has_facts || group->facts.hosts < 2)
    return;
  if (g_strcmp0 (read_mode (checker, cluster, group), "NonIndexed") == 0)
    quoit_check_report (checker, rule, node != NULL ? node : group->node,
                        node != NULL ? "completionMode" : "no 'completionMode', which means NonIndexed",
                        "Indexed: the completion index of a pod is its worker id in the slice");
}

/* GKE finds the other hosts of a job by the subdomain of its pods. JobSet sets it itself. */
static void
check_subdomain (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  if (is_job_group (group) && strcmp (cluster->kind, "JobSet") != 0 && group->has_facts && group->facts.hosts > 1
      && group->pod != NULL && quoit_tree_member (group->pod, "subdomain") == NULL)
    quoit_check_report (checker, rule, group->pod, "no 'subdomain'",
                        "the name of a headless service: without it GKE gives the pods no TPU_WORKER_HOSTNAMES");
}

/* gke-kuberay-jax 11. */
static void
check_leader (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->has_leader_in_subgroup && group->n_chips > 0)
    quoit_check_report (
        checker, rule, group->hosts.node, "subGroupSize",
        "a leaderTemplate without chips and subGroupPolicyType LeaderExcluded: LeaderWorkerSet up to 0.9 "
        "gives the other leaders a wrong TPU_WORKER_ID");
}

static void
check_indexed_completions (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                           const QuoitCheckGroup *group)
{
  /* Without both numbers, Kubernetes sets both to 1. */
  if (is_job_group (group) && group->hosts.node != NULL && quoit_tree_member (group->node, "completions") == NULL
      && g_strcmp0 (read_mode (checker, cluster, group), "Indexed") == 0)
    quoit_check_report (checker, rule, group->node, "no 'completions'",
                        "the number of completions: Kubernetes refuses an indexed job that has only parallelism");
}

/* All hosts of a slice run at the same time. */
static void
check_completions (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                   const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (group->node, "completions");
  gint64 completions;

  (void) cluster;
  if (!is_job_group (group) || !group->has_facts || group->facts.hosts < 2 || !group->hosts.is_known
      || !quoit_check_count (checker, node, "completions", &completions) || completions == group->hosts.number)
    return;
  quoit_check_report (checker, rule, node, "completions",
                      "%" G_GINT64_FORMAT ", which is parallelism: all hosts of a slice run together",
                      group->hosts.number);
}

static void
check_selector (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                const QuoitCheckGroup *group)
{
  JsonNode *map = quoit_tree_member (group->pod, "nodeSelector");

  (void) cluster;
  if (group->n_chips > 0 && group->topology.node == NULL && group->machine.node == NULL
      && !quoit_check_selects_otherwise (group) && (map == NULL || JSON_NODE_HOLDS_OBJECT (map)))
    quoit_check_report (checker, rule, map != NULL ? map : group->pod,
                        "no node selector '" QUOIT_GKE_LABEL_TOPOLOGY "'",
                        "one such as '4x4': without it the pods can run on slices of any topology");
}

/* JobSet's webhook refuses names that make the name of a job or a pod too long (gke-kuberay-jax 10.2). */
static void
check_job_names (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  g_autofree char *job = NULL, *pod = NULL, *quoted = NULL;
  JsonNode *node = quoit_tree_member (group->node, "completions");
  gint64 completions = 0;
  const char *wrong;

  if (strcmp (cluster->kind, "JobSet") != 0 || cluster->name.text == NULL || group->name.text == NULL)
    return;
  job = g_strdup_printf ("%s-%s-%" G_GINT64_FORMAT, cluster->name.text, group->name.text, MAX (group->n_slices, 1) - 1);
  if (g_strcmp0 (read_mode (checker, cluster, group), "Indexed") == 0)
    quoit_check_count (checker, node, "completions", &completions);
  pod = g_strdup_printf ("%s-%" G_GINT64_FORMAT "-abcde", job, MAX (completions, 1) - 1);
  wrong = !quoit_dns_is_label (job, QUOIT_MAX_DNS_LABEL_BYTES) || !g_ascii_islower (*job) ? job
          : completions > 0 && strlen (pod) > QUOIT_MAX_DNS_LABEL_BYTES                   ? pod
                                                                                          : NULL;
  if (wrong == NULL)
    return;
  quoted = quoit_quote (wrong);
  quoit_check_report (checker, rule, group->name.node, "name",
                      "names of at most %d lower-case letters, digits and '-', a letter first: JobSet makes %s of "
                      "%" G_GSIZE_FORMAT,
                      QUOIT_MAX_DNS_LABEL_BYTES, quoted, strlen (wrong));
}

const QuoitCheckRule quoit_check_workload_rules[] = {
  { "pods-topology", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_hosts },
  { "job-indexed", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_indexed },
  { "job-subdomain", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_subdomain },
  { "subgroup-leader", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_leader },
  { "completions-missing", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_WORKLOAD, check_indexed_completions },
  { "job-completions", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_completions },
  { "topology-unselected", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_WORKLOAD, check_selector },
  { "job-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_WORKLOAD, check_job_names },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_WORKLOAD, NULL },
};
