/* SPDX-License-Identifier: Apache-2.0 */
/* Kueue's objects: ResourceFlavors, ClusterQueues, LocalQueues and Topologies. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"
#include "base/name-hash.h"

static const char kueue_group[] = "kueue.x-k8s.io";

/* A quota from this many chips on means no limit. */
enum { MOST_LEVELS = 16, UNLIMITED_CHIPS = 100000 };

/* Reports a name that no object of @kind has, if the file has objects of that kind. Otherwise the cluster has them. */
static void
check_reference (QuoitChecker *checker, const char *rule, JsonNode *node, const char *what, const char *kind)
{
  GHashTable *objects = quoit_check_objects (checker, kind);
  const char *name;

  if (quoit_check_text (checker, node, what, &name) && g_hash_table_size (objects) > 0
      && !g_hash_table_contains (objects, name))
    quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, rule), node, what,
                        "the name of a %s: the file has others, but not this one", kind);
}

/* --- flavors --- */

/* The node labels of a flavor. They describe nodes as the selectors of pods do. */
static void
read_flavor (QuoitChecker *checker, JsonNode *object, QuoitCheckText *accelerator, QuoitCheckText *topology)
{
  JsonNode *labels = quoit_check_member (checker, quoit_check_member (checker, object, "spec"), "nodeLabels");

  *accelerator = quoit_check_read_text (checker, labels, QUOIT_GKE_LABEL_ACCELERATOR);
  *topology = quoit_check_read_text (checker, labels, QUOIT_GKE_LABEL_TOPOLOGY);
}

static void
check_flavor (QuoitChecker *checker, JsonNode *object)
{
  QuoitCheckText accelerator, topology;
  QuoitCheckCluster cluster = { .document = object, .kind = "ResourceFlavor" };

  read_flavor (checker, object, &accelerator, &topology);
  quoit_check_nodes_run (checker, &cluster, object, accelerator, topology, NULL);
  check_reference (checker, "topology-name",
                   quoit_check_member (checker, quoit_check_member (checker, object, "spec"), "topologyName"),
                   "topologyName", "Topology");
}

/* --- quotas --- */

/* Returns the chips of a slice of the flavor, or 0 if the file does not state them. */
static gint64
chips_of_flavor (QuoitChecker *checker, const char *name)
{
  JsonNode *object = g_hash_table_lookup (quoit_check_objects (checker, "ResourceFlavor"), name);
  QuoitCheckText accelerator, topology;
  QuoitShape shape;

  if (object == NULL)
    return 0;
  read_flavor (checker, object, &accelerator, &topology);
  return topology.text != NULL && quoit_shape_parse (topology.text, &shape, NULL) ? quoit_shape_chips (shape) : 0;
}

static void
check_quota (QuoitChecker *checker, JsonNode *resource, gint64 chips)
{
  JsonNode *node = quoit_check_member (checker, resource, "nominalQuota");
  QuoitAmount quota;

  if (chips < 2 || !quoit_check_quantity (checker, node, "nominalQuota", &quota)
      || quota.e4 >= (int64_t) UNLIMITED_CHIPS * QUOIT_AMOUNT_UNIT || quota.e4 % (chips * QUOIT_AMOUNT_UNIT) == 0)
    return;
  quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "quota-slices"), node, "nominalQuota",
                      "a multiple of %" G_GINT64_FORMAT
                      ", the chips of a slice of this flavor: jobs use whole slices, so the rest is never used",
                      chips);
}

/* Kueue requires that each flavor has a quota for each covered resource, in the same order (gke-kuberay-jax 10.5). */
static void
check_covered (QuoitChecker *checker, JsonArray *covered, JsonNode *flavor, JsonArray *resources)
{
  guint n = json_array_get_length (covered);
  gboolean is_same = n == json_array_get_length (resources);

  for (guint i = 0; is_same && i < n; i++)
    {
      JsonNode *node = json_array_get_element (covered, i);
      const char *expected, *name;

      if (!quoit_check_text (checker, node, "coveredResources", &expected)
          || !quoit_check_text (checker, quoit_check_member (checker, json_array_get_element (resources, i), "name"),
                                "name", &name))
        return;
      is_same = strcmp (expected, name) == 0;
    }
  if (!is_same)
    quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "flavor-resources"),
                        quoit_tree_member (flavor, "resources"), "resources",
                        "a quota for each of the %u 'coveredResources', in the same order: Kueue refuses the queue", n);
}

static void
check_flavor_quotas (QuoitChecker *checker, JsonArray *covered, JsonNode *flavor)
{
  JsonNode *name_node = quoit_check_member (checker, flavor, "name");
  JsonArray *resources = quoit_check_array (checker, quoit_check_member (checker, flavor, "resources"), "resources");
  const char *name, *resource;
  gint64 chips;

  check_reference (checker, "flavor-name", name_node, "flavor", "ResourceFlavor");
  if (resources == NULL)
    return;
  if (covered != NULL)
    check_covered (checker, covered, flavor, resources);
  chips = quoit_check_text (checker, name_node, "name", &name) ? chips_of_flavor (checker, name) : 0;
  for (guint i = 0; i < json_array_get_length (resources); i++)
    {
      JsonNode *entry = json_array_get_element (resources, i);

      if (quoit_check_text (checker, quoit_check_member (checker, entry, "name"), "name", &resource)
          && strcmp (resource, QUOIT_K8S_TPU_RESOURCE) == 0)
        check_quota (checker, entry, chips);
    }
}

static void
check_cluster_queue (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *spec = quoit_check_member (checker, object, "spec");
  JsonArray *groups
      = quoit_check_array (checker, quoit_check_member (checker, spec, "resourceGroups"), "resourceGroups");

  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    {
      JsonNode *group = json_array_get_element (groups, i);
      JsonArray *covered
          = quoit_check_array (checker, quoit_check_member (checker, group, "coveredResources"), "coveredResources");
      JsonArray *flavors = quoit_check_array (checker, quoit_check_member (checker, group, "flavors"), "flavors");

      for (guint k = 0; flavors != NULL && k < json_array_get_length (flavors); k++)
        check_flavor_quotas (checker, covered, json_array_get_element (flavors, k));
    }
}

static void
check_local_queue (QuoitChecker *checker, JsonNode *object)
{
  check_reference (checker, "queue-name",
                   quoit_check_member (checker, quoit_check_member (checker, object, "spec"), "clusterQueue"),
                   "clusterQueue", "ClusterQueue");
}

/* --- jobs --- */

static JsonNode *
find_object (QuoitChecker *checker, const char *kind, JsonNode *name_node)
{
  const char *name;

  return quoit_check_text (checker, name_node, "name", &name)
             ? g_hash_table_lookup (quoit_check_objects (checker, kind), name)
             : NULL;
}

/* Sets *@quota to the flavor's quota of chips if that is greater. */
static void
add_flavor_quota (QuoitChecker *checker, JsonNode *flavor, gint64 *quota)
{
  JsonArray *resources = quoit_check_array (checker, quoit_check_member (checker, flavor, "resources"), "resources");

  for (guint i = 0; resources != NULL && i < json_array_get_length (resources); i++)
    {
      JsonNode *entry = json_array_get_element (resources, i);
      QuoitAmount amount;
      const char *name;

      if (quoit_check_text (checker, quoit_check_member (checker, entry, "name"), "name", &name)
          && strcmp (name, QUOIT_K8S_TPU_RESOURCE) == 0
          && quoit_check_quantity (checker, quoit_check_member (checker, entry, "nominalQuota"), "nominalQuota",
                                   &amount))
        *quota = MAX (*quota, amount.e4 / QUOIT_AMOUNT_UNIT);
    }
}

/* Returns the greatest quota of chips of a flavor of the queue, because the pods of one set get one flavor. -1: no
 * quota of chips is stated. */
static gint64
greatest_quota (QuoitChecker *checker, JsonNode *spec)
{
  JsonArray *groups
      = quoit_check_array (checker, quoit_check_member (checker, spec, "resourceGroups"), "resourceGroups");
  gint64 quota = -1;

  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    {
      JsonNode *node = quoit_check_member (checker, json_array_get_element (groups, i), "flavors");
      JsonArray *flavors = quoit_check_array (checker, node, "flavors");

      for (guint k = 0; flavors != NULL && k < json_array_get_length (flavors); k++)
        add_flavor_quota (checker, json_array_get_element (flavors, k), &quota);
    }
  return quota;
}

static gint64
count_chips (const QuoitCheckGroup *group)
{
  gint64 slices = group->has_many ? 1 : group->n_slices;

  return group->n_chips * MAX (group->hosts.number, 0) * MAX (slices, 0);
}

static gboolean
is_known (const QuoitCheckGroup *group)
{
  return group->hosts.is_known && (group->is_head || group->replicas.is_known);
}

/* A queue of a cohort can borrow quota from others. */
static void
check_demand (QuoitChecker *checker, const QuoitCheckCluster *cluster, JsonNode *label, JsonNode *queue)
{
  JsonNode *spec = quoit_check_member (checker, queue, "spec");
  gint64 quota = greatest_quota (checker, spec);

  if (quota < 0 || quoit_tree_member (spec, "cohort") != NULL || quoit_tree_member (spec, "cohortName") != NULL)
    return;
  for (guint i = 0; i < cluster->groups->len; i++)
    {
      const QuoitCheckGroup *group = quoit_check_group_at (cluster, i);

      if (!is_known (group) || count_chips (group) <= quota)
        continue;
      quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "quota-jobs"), label, "queue",
                          "one with a quota of %" G_GINT64_FORMAT
                          " chips for the pods of one template: the greatest of "
                          "its ClusterQueue is %" G_GINT64_FORMAT ", so Kueue never admits the %s",
                          count_chips (group), quota, cluster->kind);
      return;
    }
}

void
quoit_check_queue_of_job (QuoitChecker *checker, const QuoitCheckCluster *cluster)
{
  JsonNode *metadata = quoit_check_member (checker, cluster->document, "metadata");
  JsonNode *label
      = quoit_check_member (checker, quoit_check_member (checker, metadata, "labels"), "kueue.x-k8s.io/queue-name");
  JsonNode *local, *queue;

  if (label == NULL)
    return;
  check_reference (checker, "queue-name", label, "queue", "LocalQueue");
  local = find_object (checker, "LocalQueue", label);
  queue = find_object (checker, "ClusterQueue",
                       quoit_check_member (checker, quoit_check_member (checker, local, "spec"), "clusterQueue"));
  if (queue != NULL)
    check_demand (checker, cluster, label, queue);
}

/* --- topologies --- */

static void
check_topology (QuoitChecker *checker, JsonNode *object)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonNode *spec = quoit_check_member (checker, object, "spec"), *node = quoit_check_member (checker, spec, "levels");
  JsonArray *levels = quoit_check_array (checker, node, "levels");
  guint n = levels == NULL ? 0 : json_array_get_length (levels);

  if (levels != NULL && (n == 0 || n > MOST_LEVELS))
    quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "topology-levels"), node, "levels",
                        "1 to %d levels", MOST_LEVELS);
  for (guint i = 0; i < n; i++)
    {
      JsonNode *label = quoit_check_member (checker, json_array_get_element (levels, i), "nodeLabel");
      const char *text;

      if (!quoit_check_text (checker, label, "nodeLabel", &text))
        continue;
      if (!g_hash_table_add (seen, (char *) text))
        quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "topology-levels"), label,
                            "nodeLabel", "each label once");
      else if (i + 1 < n && strcmp (text, QUOIT_K8S_LABEL_HOST_NAME) == 0)
        quoit_check_report (checker, quoit_check_find_rule (quoit_check_queue_rules, "topology-levels"), label,
                            "nodeLabel",
                            "another label here: " QUOIT_K8S_LABEL_HOST_NAME " can only be the last level");
    }
}

static const struct {
  const char *kind;
  void (*check) (QuoitChecker *checker, JsonNode *object);
} kinds[] = {
  { "ResourceFlavor", check_flavor },
  { "ClusterQueue", check_cluster_queue },
  { "LocalQueue", check_local_queue },
  { "Topology", check_topology },
};

gboolean
quoit_check_queue (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].kind, kind) == 0 && quoit_check_is_in_group (checker, object, kueue_group))
      {
        kinds[i].check (checker, object);
        return TRUE;
      }
  return FALSE;
}

const QuoitCheckRule quoit_check_queue_rules[] = {
  { "flavor-name", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_READING, NULL },
  { "flavor-resources", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "quota-slices", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_READING, NULL },
  { "quota-jobs", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_READING, NULL },
  { "queue-name", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_READING, NULL },
  { "topology-name", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_READING, NULL },
  { "topology-levels", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
};
