/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a file: finds its Ray objects, and applies every rule to each of them. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/name-hash.h"
#include "formats/ray-kinds.h"
#include "formats/variables.h"
#include "formats/yaml.h"

/* In the order of QuoitCheckReadingRule. */
const QuoitCheckRule quoit_check_reading_rules[] = {
  { "field", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "variable", QUOIT_SEVERITY_NOTE, QUOIT_CHECK_READING, NULL },
  { "ray-params", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "no-ray-object", QUOIT_SEVERITY_NOTE, QUOIT_CHECK_READING, NULL },
  { "more-findings", QUOIT_SEVERITY_NOTE, QUOIT_CHECK_READING, NULL },
  { "kind-unread", QUOIT_SEVERITY_NOTE, QUOIT_CHECK_READING, NULL },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
};

static void
check_version (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  static const char *const versions[] = { "ray.io/v1", "ray.io/v1alpha1", NULL };
  JsonNode *node = quoit_tree_member (cluster->document, "apiVersion");
  const char *version;

  (void) group;
  if (node == NULL)
    quoit_check_report (checker, rule, cluster->document, "no 'apiVersion'", "ray.io/v1");
  else if (quoit_check_text (checker, node, "apiVersion", &version) && !g_strv_contains (versions, version))
    quoit_check_report (checker, rule, node, "apiVersion", "ray.io/v1 or ray.io/v1alpha1");
}

static gboolean
uses_existing_cluster (const QuoitCheckCluster *cluster)
{
  return strcmp (cluster->kind, "RayJob") == 0
         && quoit_tree_member (quoit_tree_member (cluster->document, "spec"), "clusterSelector") != NULL;
}

static void
check_spec (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  (void) group;
  if (cluster->spec == NULL && !uses_existing_cluster (cluster))
    quoit_check_report (checker, rule, cluster->document, "no spec of a cluster",
                        "the groups of a RayCluster in the %s", cluster->kind);
  if (cluster->spec != NULL && quoit_tree_member (cluster->spec, "headGroupSpec") == NULL)
    quoit_check_report (checker, rule, cluster->spec, "no 'headGroupSpec'", "the head's group");
}

static const QuoitCheckRule object_rules[] = {
  { "api-version", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_CLUSTER, check_version },
  { "cluster-spec", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_CLUSTER, check_spec },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_CLUSTER, NULL },
};

static const QuoitCheckRule *const tables[] = {
  quoit_check_reading_rules,    object_rules,
  quoit_check_name_rules,       quoit_check_replica_rules,
  quoit_check_slice_rules,      quoit_check_chip_rules,
  quoit_check_machine_rules,    quoit_check_pod_rules,
  quoit_check_multislice_rules, quoit_check_port_rules,
  quoit_check_claim_rules,      quoit_check_param_rules,
  quoit_check_entrypoint_rules, quoit_check_workload_rules,
  quoit_check_queue_rules,      quoit_check_gke_rules,
  quoit_check_schema_rules,
};

gboolean
quoit_check_rule_at (unsigned index, const char **name, QuoitSeverity *severity)
{
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    for (const QuoitCheckRule *rule = tables[i]; rule->name != NULL; rule++)
      if (index-- == 0)
        {
          *name = rule->name;
          *severity = rule->severity;
          return TRUE;
        }
  return FALSE;
}

void
quoit_check_run (QuoitChecker *checker, int scope, const QuoitCheckCluster *cluster, const QuoitCheckGroup *group)
{
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    for (const QuoitCheckRule *rule = tables[i]; rule->name != NULL; rule++)
      if ((int) rule->scope == scope)
        rule->check (checker, rule, cluster, group);
}

/* --- reading --- */

static void
clear_group (gpointer data)
{
  quoit_check_group_clear (data);
}

static void
read_groups (QuoitChecker *checker, QuoitCheckCluster *cluster)
{
  JsonNode *head = quoit_check_member (checker, cluster->spec, "headGroupSpec");
  JsonArray *workers = quoit_check_array (checker, quoit_check_member (checker, cluster->spec, "workerGroupSpecs"),
                                          "workerGroupSpecs");
  guint n_workers = workers == NULL ? 0 : json_array_get_length (workers);

  for (guint i = 0; i < n_workers + 1; i++)
    {
      JsonNode *node = i == 0 ? head : json_array_get_element (workers, i - 1);
      QuoitCheckGroup group;

      /* Reports an element that is not a map. Such an element is not a group. */
      quoit_check_member (checker, node, "");
      if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
        continue;
      quoit_check_group_read (checker, node, i == 0, &group);
      g_array_append_val (cluster->groups, group);
    }
  for (guint i = 0; i < cluster->groups->len; i++)
    {
      const QuoitCheckGroup *group = quoit_check_group_at (cluster, i);

      if (group->name.text != NULL && !g_hash_table_contains (cluster->names, group->name.text))
        g_hash_table_insert (cluster->names, (char *) group->name.text, (QuoitCheckGroup *) group);
    }
}

static void
check_cluster (QuoitChecker *checker, JsonNode *document, const QuoitRayKindFacts *kind)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (QuoitCheckGroup));
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  QuoitCheckCluster cluster = { .document = document,
                                .kind = kind->name,
                                .longest_name = kind->longest_name,
                                .has_random_suffix = kind->spec != NULL,
                                .groups = groups,
                                .names = names };

  g_array_set_clear_func (groups, clear_group);
  cluster.name.node = quoit_check_member (checker, quoit_check_member (checker, document, "metadata"), "name");
  quoit_check_text (checker, cluster.name.node, "name", &cluster.name.text);
  cluster.spec = quoit_check_member (checker, document, "spec");
  if (kind->spec != NULL)
    cluster.spec = quoit_check_member (checker, cluster.spec, kind->spec);
  read_groups (checker, &cluster);

  quoit_check_run (checker, QUOIT_CHECK_CLUSTER, &cluster, NULL);
  quoit_check_queue_of_job (checker, &cluster);
  for (guint i = 0; i < groups->len; i++)
    {
      quoit_check_run (checker, QUOIT_CHECK_GROUP, &cluster, quoit_check_group_at (&cluster, i));
      quoit_check_run (checker, QUOIT_CHECK_PODS, &cluster, quoit_check_group_at (&cluster, i));
    }
}

/* --- documents --- */

static const char *
get_string (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

typedef void (*ObjectFunc) (QuoitChecker *checker, JsonNode *object, const char *kind);

/* Calls @func for every object of the file. A List, as 'kubectl get -o yaml' prints it, is replaced by its items. */
static void
for_each_object (QuoitChecker *checker, ObjectFunc func)
{
  for (unsigned i = 0; i < quoit_tree_n_documents (checker->tree); i++)
    {
      JsonNode *document = quoit_tree_document (checker->tree, i);
      const char *kind = get_string (quoit_tree_member (document, "kind"));
      JsonNode *items = g_strcmp0 (kind, "List") == 0 ? quoit_tree_member (document, "items") : NULL;

      if (items == NULL || !JSON_NODE_HOLDS_ARRAY (items))
        func (checker, document, kind);
      else
        for (guint k = 0; k < json_array_get_length (json_node_get_array (items)); k++)
          {
            JsonNode *item = json_array_get_element (json_node_get_array (items), k);

            func (checker, item, get_string (quoit_tree_member (item, "kind")));
          }
    }
}

/* Returns the name with the values of its variables, or as it is if one has none. */
static char *
expand_name (QuoitChecker *checker, const char *name)
{
  char *expanded = quoit_variables_expand (name, checker->manifest.set, NULL, &checker->error);

  g_clear_error (&checker->error);
  return expanded != NULL ? expanded : g_strdup (name);
}

/* Notes the name of an object. A name that cannot be read is reported by the rules of its kind. */
static void
add_name (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  const char *name = get_string (quoit_tree_member (quoit_tree_member (object, "metadata"), "name")), *text;
  GHashTable *names;

  if (kind == NULL || name == NULL)
    return;
  /* Claims have no rule about their names. */
  if (strcmp (kind, "ResourceClaim") == 0 || strcmp (kind, "ResourceClaimTemplate") == 0)
    quoit_check_text (checker, quoit_tree_member (quoit_tree_member (object, "metadata"), "name"), "name", &text);
  names = g_hash_table_lookup (checker->objects, kind);
  if (names == NULL)
    {
      names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
      g_hash_table_insert (checker->objects, g_strdup (kind), names);
    }
  g_hash_table_insert (names, expand_name (checker, name), object);
}

GHashTable *
quoit_check_objects (QuoitChecker *checker, const char *kind)
{
  GHashTable *names = g_hash_table_lookup (checker->objects, kind);

  return names != NULL ? names : g_hash_table_lookup (checker->objects, "");
}

/* Kinds that are part of manifests for Ray and TPUs, and of which no rule reads anything but the schema. */
static gboolean
has_nothing_to_check (const char *kind)
{
  static const char *const kinds[] = { "AdmissionCheck",
                                       "ClusterRole",
                                       "ClusterRoleBinding",
                                       "ConfigMap",
                                       "CustomResourceDefinition",
                                       "DeviceClass",
                                       "HorizontalPodAutoscaler",
                                       "Ingress",
                                       "LimitRange",
                                       "Namespace",
                                       "NetworkPolicy",
                                       "PersistentVolume",
                                       "PersistentVolumeClaim",
                                       "PodDisruptionBudget",
                                       "PodMonitor",
                                       "PriorityClass",
                                       "ProvisioningRequestConfig",
                                       "ResourceQuota",
                                       "Role",
                                       "RoleBinding",
                                       "Secret",
                                       "Service",
                                       "ServiceAccount",
                                       "ServiceMonitor",
                                       "StorageClass",
                                       "WorkloadPriorityClass",
                                       NULL };

  return g_strv_contains (kinds, kind);
}

static void
check_object (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  gboolean has_schema = quoit_check_has_schema (checker, object);
  QuoitRayKind found;

  if (quoit_ray_kind_find (kind, &found))
    check_cluster (checker, object, &quoit_ray_kinds[found]);
  else if (kind == NULL || has_nothing_to_check (kind) || quoit_check_claim_object (checker, object, kind))
    {
      checker->n_objects += has_schema;
      return;
    }
  else if (!quoit_check_workload (checker, object, kind) && !quoit_check_queue (checker, object, kind)
           && !quoit_check_gke_object (checker, object, kind) && !has_schema)
    quoit_check_report (checker, &quoit_check_reading_rules[QUOIT_CHECK_RULE_KIND_UNREAD],
                        quoit_tree_member (object, "kind"), "kind",
                        "one that quoit reads, such as RayCluster or JobSet: this object was not checked");
  checker->n_objects++;
}

static void
check_schema (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  (void) kind;
  quoit_check_schema (checker, object);
}

static void
check_file (QuoitChecker *checker)
{
  g_hash_table_insert (checker->objects, g_strdup (""),
                       g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL));
  for_each_object (checker, add_name);
  for_each_object (checker, check_object);
  for_each_object (checker, check_schema);
  if (checker->n_objects == 0)
    quoit_check_report (checker, &quoit_check_reading_rules[QUOIT_CHECK_RULE_NO_RAY_OBJECT],
                        quoit_tree_document (checker->tree, 0), "nothing was checked",
                        "a RayCluster, RayJob or RayService, or another object that makes pods or queues for TPUs");
}

GArray *
quoit_manifest_check (const char *text, gsize length, const char *const *set, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (GStringChunk) texts = NULL;
  g_autoptr (GArray) notices = NULL;
  g_autoptr (GHashTable) objects = NULL, reported = NULL, refused = NULL;
  QuoitChecker checker = { .error = NULL };

  if (!quoit_variables_check (set, error))
    return NULL;
  tree = quoit_tree_parse_yaml (text, length, error);
  if (tree == NULL)
    return NULL;

  quoit_tree_omit_places (tree);
  texts = g_string_chunk_new (1024);
  checker.tree = tree;
  checker.manifest = (QuoitManifest) { .tree = tree, .set = set, .texts = texts, .error = &checker.error };
  checker.notices = notices = quoit_check_notices_new ();
  checker.reported = reported = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  checker.refused = refused = g_hash_table_new (g_direct_hash, g_direct_equal);
  checker.objects = objects
      = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
  check_file (&checker);
  return quoit_check_take_findings (&checker);
}
