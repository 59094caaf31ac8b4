/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what the API server checks between the members of pods, workloads, selectors and claims: names that refer to
 * each other, and members that go together. */
#include "formats/schema/compare.h"

#include <string.h>

#include "base/dns.h"
#include "base/label-names.h"
#include "base/name-hash.h"
#include "formats/quantity.h"

static const char exists[] = "Exists";

/* --- reading --- */

/* Returns the text of a member, "" if it is missing, or NULL if it is not known or not text. */
static const char *
member_text (const QuoitComparison *comparison, JsonNode *from, const char *name)
{
  JsonNode *node = quoit_tree_member (from, name);
  QuoitScalar scalar = node == NULL ? (QuoitScalar) { .type = QUOIT_SCALAR_STRING, .text = "" }
                                    : quoit_scalar_read (&comparison->checker->manifest, node);

  return scalar.type == QUOIT_SCALAR_STRING ? scalar.text : NULL;
}

static guint
n_elements (JsonNode *list)
{
  return list != NULL && JSON_NODE_HOLDS_ARRAY (list) ? json_array_get_length (json_node_get_array (list)) : 0;
}

static JsonNode *
element (JsonNode *list, guint index)
{
  return json_array_get_element (json_node_get_array (list), index);
}

static QuoitPlace
member_place (const QuoitPlace *parent, const char *name)
{
  JsonNode *node = quoit_tree_member (parent->node, name);

  return (QuoitPlace) { parent, node != NULL ? node : parent->node, name, 0, NULL };
}

static QuoitPlace
element_place (const QuoitPlace *parent, guint index)
{
  return (QuoitPlace) { parent, element (parent->node, index), NULL, index, NULL };
}

/* --- selectors and tolerations --- */

static void
check_requirement (const QuoitComparison *comparison, const QuoitPlace *place)
{
  const char *operation = member_text (comparison, place->node, "operator");
  JsonNode *values = quoit_tree_member (place->node, "values");
  guint n = n_elements (values);
  QuoitPlace where = member_place (place, "values");

  if (operation == NULL || (values != NULL && !JSON_NODE_HOLDS_ARRAY (values)))
    return;
  if ((strcmp (operation, "In") == 0 || strcmp (operation, "NotIn") == 0) && n == 0)
    quoit_comparison_report_map (comparison, &where, "values, because the operator is '%s'", operation);
  else if ((strcmp (operation, exists) == 0 || strcmp (operation, "DoesNotExist") == 0) && n > 0)
    quoit_comparison_report_map (comparison, &where, "no values, because the operator is '%s'", operation);
  else if ((strcmp (operation, "Gt") == 0 || strcmp (operation, "Lt") == 0) && n != 1)
    quoit_comparison_report_map (comparison, &where, "one value, because the operator is '%s'", operation);
}

static void
check_toleration (const QuoitComparison *comparison, const QuoitPlace *place)
{
  const char *key = member_text (comparison, place->node, "key");
  const char *operation = member_text (comparison, place->node, "operator");
  const char *value = member_text (comparison, place->node, "value");
  const char *effect = member_text (comparison, place->node, "effect");
  QuoitPlace where = member_place (place, "operator");

  if (key == NULL || operation == NULL || value == NULL || effect == NULL)
    return;
  if (*key == '\0' && strcmp (operation, exists) != 0)
    quoit_comparison_report (comparison, &where, "'%s', because the toleration has no key", exists);
  if (strcmp (operation, exists) == 0 && *value != '\0')
    {
      where = member_place (place, "value");
      quoit_comparison_report (comparison, &where, "no value, because the operator is '%s'", exists);
    }
  else if (strcmp (operation, exists) != 0 && !quoit_is_label_value (value))
    {
      where = member_place (place, "value");
      quoit_comparison_report (comparison, &where, "at most 63 letters, digits, '-', '_' and '.'");
    }
  if (quoit_tree_member (place->node, "tolerationSeconds") != NULL && strcmp (effect, "NoExecute") != 0)
    {
      where = member_place (place, "effect");
      quoit_comparison_report (comparison, &where, "'NoExecute', because the toleration has tolerationSeconds");
    }
}

/* --- pods --- */

/* A variable has a value or a source. */
static void
check_value_from (const QuoitComparison *comparison, const QuoitPlace *place)
{
  const char *value = member_text (comparison, place->node, "value");

  if (value != NULL && *value != '\0' && quoit_tree_member (place->node, "valueFrom") != NULL)
    quoit_comparison_report_map (comparison, place, "either 'value' or 'valueFrom', not both");
}

/* Returns the names of a list's elements. NULL: one of them is not known. */
static GHashTable *
read_names (const QuoitComparison *comparison, JsonNode *list)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);

  if (list != NULL && !JSON_NODE_HOLDS_ARRAY (list))
    return NULL;
  for (guint i = 0; i < n_elements (list); i++)
    {
      const char *name = member_text (comparison, element (list, i), "name");

      if (name == NULL)
        return NULL;
      g_hash_table_add (names, (char *) name);
    }
  return g_steal_pointer (&names);
}

/* Checks that the elements of the list @name of a container have names that @known has. */
static void
check_references (const QuoitComparison *comparison, const QuoitPlace *owner, const char *name, GHashTable *known,
                  const char *expected)
{
  QuoitPlace list = member_place (owner, name);

  for (guint i = 0; list.node != owner->node && i < n_elements (list.node); i++)
    {
      QuoitPlace reference = element_place (&list, i), where = member_place (&reference, "name");
      const char *text = member_text (comparison, reference.node, "name");

      if (text != NULL && *text != '\0' && !g_hash_table_contains (known, text))
        quoit_comparison_report (comparison, &where, "%s", expected);
    }
}

/* Resources of Kubernetes itself can be requested below their limit. All others are counted in whole units. */
static gboolean
is_native_resource (const char *name)
{
  return strchr (name, '/') == NULL || g_str_has_suffix (name, ".kubernetes.io/")
         || g_str_has_prefix (name, "kubernetes.io/");
}

static gboolean
is_container_resource (const char *name)
{
  return strchr (name, '/') != NULL || strcmp (name, "cpu") == 0 || strcmp (name, "memory") == 0
         || strcmp (name, "ephemeral-storage") == 0 || g_str_has_prefix (name, "hugepages-");
}

/* Reads a quantity for comparison; null is 0. Returns FALSE if it is not known. A negative quantity is reported. */
static gboolean
read_quantity (const QuoitComparison *comparison, const QuoitPlace *place, QuoitAmount *amount)
{
  QuoitScalar scalar = quoit_scalar_read (&comparison->checker->manifest, place->node);
  g_autofree char *number = NULL;
  const char *plain = quoit_tree_plain (comparison->checker->tree, place->node);

  /* In a CustomResourceDefinition, a null member is none. */
  if (scalar.type == QUOIT_SCALAR_NULL && !comparison->is_pod)
    scalar.text = "0";
  else if (scalar.type == QUOIT_SCALAR_INTEGER)
    scalar.text = number = g_strdup_printf ("%" G_GINT64_FORMAT, scalar.integer);
  else if (scalar.type == QUOIT_SCALAR_FRACTION)
    scalar.text = plain;
  if (scalar.text == NULL || g_hash_table_contains (comparison->checker->refused, place->node))
    return FALSE;
  if (*scalar.text == '-' && strpbrk (scalar.text, "123456789") != NULL)
    {
      quoit_comparison_report (comparison, place, "a quantity that is not negative");
      return FALSE;
    }
  return quoit_quantity_parse (scalar.text, amount, NULL);
}

static JsonNode *
find_amount (JsonNode *amounts, const char *name)
{
  return JSON_NODE_HOLDS_OBJECT (amounts) ? json_object_get_member (json_node_get_object (amounts), name) : NULL;
}

static void
check_amounts (const QuoitComparison *comparison, const QuoitPlace *place, const QuoitPlace *limits)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (!JSON_NODE_HOLDS_OBJECT (place->node))
    return;
  json_object_iter_init (&iter, json_node_get_object (place->node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      QuoitPlace where = { place, member, name, 0, NULL };
      QuoitPlace limit = { limits, limits == NULL ? NULL : find_amount (limits->node, name), name, 0, NULL };
      QuoitAmount amount, most;

      /* The rules chips-request and chips-fraction are about the chips of Ray's groups. */
      if (comparison->is_pod && comparison->has_group_rules && strcmp (name, QUOIT_K8S_TPU_RESOURCE) == 0)
        continue;
      if (!is_container_resource (name))
        quoit_comparison_report (comparison, &where,
                                 "a resource of containers: 'cpu', 'memory', 'ephemeral-storage', or a name with '/'");
      if (!read_quantity (comparison, &where, &amount))
        continue;
      if (!is_native_resource (name) && amount.e4 % QUOIT_AMOUNT_UNIT != 0)
        quoit_comparison_report (comparison, &where, "a whole number");
      if (limits == NULL)
        continue;
      if (limit.node == NULL)
        {
          if (!is_native_resource (name))
            quoit_comparison_report (comparison, &where, "a limit of the same amount in 'limits'");
        }
      else if (read_quantity (comparison, &limit, &most)
               && (amount.e4 > most.e4 || (amount.e4 != most.e4 && !is_native_resource (name))))
        quoit_comparison_report (comparison, &where,
                                 is_native_resource (name) ? "at most the limit of '%s'" : "the limit of '%s'", name);
    }
}

static void
check_container (const QuoitComparison *comparison, const QuoitPlace *container, GHashTable *volumes,
                 GHashTable *claims)
{
  QuoitPlace resources = member_place (container, "resources");
  QuoitPlace limits = member_place (&resources, "limits"), requests = member_place (&resources, "requests");

  if (volumes != NULL)
    check_references (comparison, container, "volumeMounts", volumes, "the name of one of the pod's 'volumes'");
  if (resources.node == container->node || !JSON_NODE_HOLDS_OBJECT (resources.node))
    return;
  if (claims != NULL)
    check_references (comparison, &resources, "claims", claims, "the name of one of the pod's 'resourceClaims'");
  if (limits.node != resources.node)
    check_amounts (comparison, &limits, NULL);
  if (requests.node != resources.node)
    check_amounts (comparison, &requests, &limits);
}

static void
check_containers (const QuoitComparison *comparison, const QuoitPlace *place, const char *name, GHashTable *volumes,
                  GHashTable *claims)
{
  QuoitPlace list = member_place (place, name);

  for (guint i = 0; list.node != place->node && i < n_elements (list.node); i++)
    {
      QuoitPlace container = element_place (&list, i);

      if (JSON_NODE_HOLDS_OBJECT (container.node))
        check_container (comparison, &container, volumes, claims);
    }
}

/* A pod on the network of its host has the same ports as the host. */
static void
check_host_ports (const QuoitComparison *comparison, const QuoitPlace *place)
{
  JsonNode *node = quoit_tree_member (place->node, "hostNetwork");
  QuoitPlace containers = member_place (place, "containers");

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN
      || !json_node_get_boolean (node) || containers.node == place->node)
    return;
  for (guint i = 0; i < n_elements (containers.node); i++)
    {
      QuoitPlace container = element_place (&containers, i), ports = member_place (&container, "ports");

      for (guint k = 0; ports.node != container.node && k < n_elements (ports.node); k++)
        {
          QuoitPlace port = element_place (&ports, k), host = member_place (&port, "hostPort");
          JsonNode *own = quoit_tree_member (port.node, "containerPort");
          QuoitScalar a, b;

          if (own == NULL || host.node == port.node)
            continue;
          a = quoit_scalar_read (&comparison->checker->manifest, own);
          b = quoit_scalar_read (&comparison->checker->manifest, host.node);
          if (a.type == QUOIT_SCALAR_INTEGER && b.type == QUOIT_SCALAR_INTEGER && a.integer != b.integer
              && b.integer != 0)
            quoit_comparison_report (comparison, &host,
                                     "%" G_GINT64_FORMAT ", the containerPort, because the pod has hostNetwork",
                                     a.integer);
        }
    }
}

/* A StatefulSet adds a volume for each of its claim templates. */
static void
add_claim_volumes (const QuoitComparison *comparison, const QuoitPlace *place, GHashTable *volumes)
{
  const QuoitPlace *owner = place->parent == NULL ? NULL : place->parent->parent;
  JsonNode *list = owner == NULL ? NULL : quoit_tree_member (owner->node, "volumeClaimTemplates");

  for (guint i = 0; i < n_elements (list); i++)
    {
      const char *name = member_text (comparison, quoit_tree_member (element (list, i), "metadata"), "name");

      if (name != NULL)
        g_hash_table_add (volumes, (char *) name);
    }
}

static void
check_pod (const QuoitComparison *comparison, const QuoitPlace *place)
{
  g_autoptr (GHashTable) volumes = read_names (comparison, quoit_tree_member (place->node, "volumes"));
  g_autoptr (GHashTable) claims = read_names (comparison, quoit_tree_member (place->node, "resourceClaims"));

  if (volumes != NULL)
    add_claim_volumes (comparison, place, volumes);

  /* The rule claim-name reports the claims of Ray's groups. */
  check_containers (comparison, place, "containers", volumes, comparison->is_pod ? NULL : claims);
  check_containers (comparison, place, "initContainers", volumes, claims);
  check_host_ports (comparison, place);
}

/* --- workloads --- */

/* Checks that the pods of a workload have the labels that its selector wants. */
static void
check_selector (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitPlace selector = member_place (place, "selector"), wanted = member_place (&selector, "matchLabels");
  QuoitPlace template = member_place (place, "template"), spec = member_place (&template, "spec");
  JsonNode *labels = quoit_tree_member (quoit_tree_member (template.node, "metadata"), "labels");
  QuoitPlace policy = member_place (&spec, "restartPolicy");
  JsonObjectIter iter;
  const char *name, *text;
  JsonNode *member;

  text = template.node == place->node ? "" : member_text (comparison, spec.node, "restartPolicy");
  if (text != NULL && *text != '\0' && strcmp (text, "Always") != 0)
    quoit_comparison_report (comparison, &policy, "'Always'");
  if (selector.node == place->node || wanted.node == selector.node)
    {
      if (selector.node != place->node && JSON_NODE_HOLDS_OBJECT (selector.node)
          && n_elements (quoit_tree_member (selector.node, "matchExpressions")) == 0)
        quoit_comparison_report_map (comparison, &selector, "labels, because an empty selector would select all pods");
      return;
    }
  if (!JSON_NODE_HOLDS_OBJECT (wanted.node))
    return;
  if (json_object_get_size (json_node_get_object (wanted.node)) == 0)
    quoit_comparison_report_map (comparison, &wanted, "labels, because an empty selector would select all pods");
  json_object_iter_init (&iter, json_node_get_object (wanted.node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      const char *value = member_text (comparison, wanted.node, name), *own = member_text (comparison, labels, name);
      QuoitPlace where = { &wanted, member, name, 0, NULL };

      if (value != NULL && own != NULL
          && (strcmp (value, own) != 0 || labels == NULL || quoit_tree_member (labels, name) == NULL))
        quoit_comparison_report (comparison, &where, "a label that 'template.metadata.labels' has");
    }
}

static void
check_job (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitPlace template = member_place (place, "template"), spec = member_place (&template, "spec");
  QuoitPlace policy = member_place (&spec, "restartPolicy");
  const char *text = member_text (comparison, spec.node, "restartPolicy");
  const char *mode = member_text (comparison, place->node, "completionMode");
  /* Kubernetes sets both numbers of a Job to 1 if it has none of them, but not those of a template of Jobs. */
  const gboolean has_default = place->parent != NULL && place->parent->parent == NULL
                               && quoit_tree_member (place->node, "parallelism") == NULL;

  if (template.node != place->node && text != NULL && (*text == '\0' || strcmp (text, "Always") == 0))
    quoit_comparison_report (comparison, &policy, "'Never' or 'OnFailure' in the pods of a Job");
  if (mode != NULL && strcmp (mode, "Indexed") == 0 && quoit_tree_member (place->node, "completions") == NULL
      && !has_default)
    quoit_comparison_report_map (comparison, place, "'completions', because the completionMode is 'Indexed'");
}

/* --- claims --- */

static void
check_device_count (const QuoitComparison *comparison, const QuoitPlace *place)
{
  const char *mode = member_text (comparison, place->node, "allocationMode");
  QuoitPlace count = member_place (place, "count");
  QuoitScalar scalar;

  if (mode == NULL || count.node == place->node)
    return;
  scalar = quoit_scalar_read (&comparison->checker->manifest, count.node);
  if (scalar.type != QUOIT_SCALAR_INTEGER || scalar.integer < 0)
    return;
  if (strcmp (mode, "All") == 0 && scalar.integer != 0)
    quoit_comparison_report (comparison, &count, "no count, because the allocationMode is 'All'");
}

/* Returns whether the request @name of the list is one that the claim has: "NAME" or "NAME/SUBREQUEST". */
static gboolean
has_request (const QuoitComparison *comparison, JsonNode *requests, const char *name)
{
  const char *slash = strchr (name, '/');
  g_autofree char *request = slash == NULL ? g_strdup (name) : g_strndup (name, (gsize) (slash - name));

  for (guint i = 0; i < n_elements (requests); i++)
    {
      const char *known = member_text (comparison, element (requests, i), "name");

      if (known == NULL || strcmp (known, request) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
check_device_names_of (const QuoitComparison *comparison, const QuoitPlace *place, const char *list_name)
{
  JsonNode *requests = quoit_tree_member (place->node, "requests");
  QuoitPlace list = member_place (place, list_name);

  if (requests != NULL && !JSON_NODE_HOLDS_ARRAY (requests))
    return;
  for (guint i = 0; list.node != place->node && i < n_elements (list.node); i++)
    {
      QuoitPlace owner = element_place (&list, i), names = member_place (&owner, "requests");

      for (guint k = 0; names.node != owner.node && k < n_elements (names.node); k++)
        {
          QuoitPlace name = element_place (&names, k);
          QuoitScalar scalar = quoit_scalar_read (&comparison->checker->manifest, name.node);

          if (scalar.type == QUOIT_SCALAR_NULL)
            scalar = (QuoitScalar) { .type = QUOIT_SCALAR_STRING, .text = "" };
          if (scalar.type == QUOIT_SCALAR_STRING && !has_request (comparison, requests, scalar.text))
            quoit_comparison_report (comparison, &name, "the name of one of the claim's 'requests'");
        }
    }
}

static void
check_storage (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitPlace resources = member_place (place, "resources"), requests = member_place (&resources, "requests");
  QuoitPlace storage = member_place (&requests, "storage");
  QuoitAmount amount;

  if (resources.node == place->node || !JSON_NODE_HOLDS_OBJECT (resources.node))
    return;
  storage.node = find_amount (requests.node, storage.name);
  if (storage.node == NULL)
    {
      if (JSON_NODE_HOLDS_OBJECT (requests.node))
        quoit_comparison_report_map (comparison, &resources, "'requests.storage', the size of the volume");
    }
  else if (read_quantity (comparison, &storage, &amount) && amount.e4 == 0)
    quoit_comparison_report (comparison, &storage, "more than 0");
}

/* --- services, updates and roles --- */

static void
check_service (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitPlace spec = member_place (place, "spec"), address = member_place (&spec, "clusterIP");
  const char *type, *text;

  if (spec.node != place->node && !JSON_NODE_HOLDS_OBJECT (spec.node))
    return;
  type = spec.node == place->node ? "" : member_text (comparison, spec.node, "type");
  text = spec.node == place->node ? "" : member_text (comparison, spec.node, "clusterIP");
  if (type == NULL || text == NULL)
    return;
  if (*text != '\0' && strcmp (text, "None") != 0 && !quoit_is_ip_address (text))
    quoit_comparison_report (comparison, &address, "an IP address or 'None'");
  if (strcmp (type, "ExternalName") != 0 && strcmp (text, "None") != 0
      && (spec.node == place->node || n_elements (quoit_tree_member (spec.node, "ports")) == 0))
    quoit_comparison_report_map (comparison, &spec, "'ports'");
}

/* Returns whether the share is 0 or "0%". A missing one has a default. */
static gboolean
is_no_share (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitScalar scalar = quoit_scalar_read (&comparison->checker->manifest, place->node);

  return (scalar.type == QUOIT_SCALAR_INTEGER && scalar.integer == 0)
         || (scalar.type == QUOIT_SCALAR_STRING && strcmp (scalar.text, "0%") == 0);
}

static void
check_rolling_update (const QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitPlace surge = member_place (place, "maxSurge"), unavailable = member_place (place, "maxUnavailable");

  if (is_no_share (comparison, &unavailable) && is_no_share (comparison, &surge))
    quoit_comparison_report (comparison, &unavailable, "more than 0, because maxSurge is 0");
}

static void
check_policy (const QuoitComparison *comparison, const QuoitPlace *place)
{
  static const char *const lists[] = { "apiGroups", "resources" };

  if (n_elements (quoit_tree_member (place->node, "nonResourceURLs")) > 0)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      QuoitPlace list = member_place (place, lists[i]);

      if (list.node == place->node || (JSON_NODE_HOLDS_ARRAY (list.node) && n_elements (list.node) == 0))
        quoit_comparison_report_map (comparison, &list, "at least 1 element");
    }
}

static void
check_subject (const QuoitComparison *comparison, const QuoitPlace *place)
{
  const char *kind = member_text (comparison, place->node, "kind"),
             *name = member_text (comparison, place->node, "name");
  const char *namespace = member_text (comparison, place->node, "namespace");
  QuoitPlace where = member_place (place, "name");
  const QuoitPlace *owner;
  const char *binding;

  if (kind == NULL || strcmp (kind, "ServiceAccount") != 0)
    return;
  if (name != NULL && *name != '\0' && !quoit_is_dns_subdomain (name))
    quoit_comparison_report (comparison, &where, "a DNS name: at most 253 lower-case letters, digits, '-' and '.'");
  /* A binding in a namespace has that one as its default. */
  for (owner = place; owner->parent != NULL; owner = owner->parent)
    ;
  binding = member_text (comparison, owner->node, "kind");
  if (namespace != NULL && *namespace == '\0' && g_strcmp0 (binding, "ClusterRoleBinding") == 0)
    quoit_comparison_report_map (comparison, place, "'namespace', because the subject is a ServiceAccount");
}

void
quoit_comparison_check_object (QuoitComparison *comparison, const QuoitPlace *place, QuoitSchemaConstraintKind kind)
{
  switch (kind)
    {
    case QUOIT_SCHEMA_VALUE_FROM:
      check_value_from (comparison, place);
      break;
    case QUOIT_SCHEMA_REQUIREMENT:
      check_requirement (comparison, place);
      break;
    case QUOIT_SCHEMA_TOLERATION:
      check_toleration (comparison, place);
      break;
    case QUOIT_SCHEMA_POD:
      check_pod (comparison, place);
      break;
    case QUOIT_SCHEMA_SELECTOR:
      check_selector (comparison, place);
      break;
    case QUOIT_SCHEMA_JOB:
      check_job (comparison, place);
      break;
    case QUOIT_SCHEMA_DEVICE_COUNT:
      check_device_count (comparison, place);
      break;
    case QUOIT_SCHEMA_DEVICE_NAMES:
      check_device_names_of (comparison, place, "constraints");
      check_device_names_of (comparison, place, "config");
      break;
    case QUOIT_SCHEMA_STORAGE:
      check_storage (comparison, place);
      break;
    case QUOIT_SCHEMA_SERVICE:
      check_service (comparison, place);
      break;
    case QUOIT_SCHEMA_ROLLING:
      check_rolling_update (comparison, place);
      break;
    case QUOIT_SCHEMA_POLICY:
      check_policy (comparison, place);
      break;
    case QUOIT_SCHEMA_SUBJECT:
      check_subject (comparison, place);
      break;
    default:
      break;
    }
}
