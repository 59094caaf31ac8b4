/* SPDX-License-Identifier: Apache-2.0 */
/* Reads as much of a group as possible. Each field that cannot be read is a finding, and reading continues. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/check-schema.h"
#include "formats/quantity.h"
#include "formats/schema/value.h"
#include "formats/variables.h"
#include "models/kuberay/names.h"

static void
report_error (QuoitChecker *checker, QuoitCheckReadingRule rule, JsonNode *node, const char *what)
{
  quoit_check_report_error (checker, &quoit_check_reading_rules[rule], node, what, g_steal_pointer (&checker->error));
}

gboolean
quoit_check_has_unset_variable (QuoitChecker *checker, JsonNode *node, const char *what)
{
  const char *plain = quoit_tree_plain (checker->tree, node);
  const char *text = plain != NULL ? plain : JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
  g_autofree char *value = NULL;

  if (text == NULL || strstr (text, "${") == NULL)
    return FALSE;
  value = quoit_variables_expand (text, checker->manifest.set, NULL, &checker->error);
  if (value != NULL)
    return FALSE;
  report_error (checker, QUOIT_CHECK_RULE_VARIABLE, node, what);
  return TRUE;
}

static gboolean
has_known_value (QuoitChecker *checker, JsonNode *node, const char *what)
{
  return node != NULL && !quoit_check_has_unset_variable (checker, node, what);
}

static gboolean
report_if_failed (QuoitChecker *checker, JsonNode *node, const char *what, gboolean ok)
{
  if (!ok)
    report_error (checker, QUOIT_CHECK_RULE_FIELD, node, what);
  return ok;
}

JsonNode *
quoit_check_member (QuoitChecker *checker, JsonNode *from, const char *name)
{
  JsonObject *object;

  if (!has_known_value (checker, from, NULL))
    return NULL;
  if (quoit_tree_object (checker->tree, from, &object, &checker->error))
    return quoit_tree_member (from, name);
  report_error (checker, QUOIT_CHECK_RULE_FIELD, from, NULL);
  return NULL;
}

gboolean
quoit_check_text (QuoitChecker *checker, JsonNode *node, const char *what, const char **text)
{
  return has_known_value (checker, node, what)
         && report_if_failed (checker, node, what, quoit_manifest_text (&checker->manifest, node, text));
}

/* Reports a value that the API server accepts in the object, unless it reads the object itself. Returns FALSE. */
static gboolean
report_out_of_range (QuoitChecker *checker, QuoitCheckSchemaRule rule, JsonNode *node, const char *what)
{
  quoit_check_report_error (checker,
                            &quoit_check_schema_rules[checker->is_native ? QUOIT_CHECK_RULE_FIELD_VALUE : rule], node,
                            what, g_steal_pointer (&checker->error));
  return FALSE;
}

/* The API server accepts a whole number that is negative or beyond 32 bits, and KubeRay does not. */
gboolean
quoit_check_count (QuoitChecker *checker, JsonNode *node, const char *what, gint64 *value)
{
  if (!has_known_value (checker, node, what))
    return FALSE;
  if (quoit_manifest_count (&checker->manifest, node, G_MAXINT32, value))
    return TRUE;
  if (quoit_scalar_read (&checker->manifest, node).type != QUOIT_SCALAR_INTEGER)
    return report_if_failed (checker, node, what, FALSE);
  return report_out_of_range (checker, QUOIT_CHECK_RULE_FIELD_RANGE, node, what);
}

/* A negative quantity is one for the API server, which refuses the pods that have it. */
gboolean
quoit_check_quantity (QuoitChecker *checker, JsonNode *node, const char *what, QuoitAmount *amount)
{
  QuoitScalar scalar;

  if (!has_known_value (checker, node, what))
    return FALSE;
  if (quoit_manifest_quantity (&checker->manifest, node, amount))
    return TRUE;
  scalar = quoit_scalar_read (&checker->manifest, node);
  if (scalar.type == QUOIT_SCALAR_INTEGER || (scalar.type == QUOIT_SCALAR_STRING && quoit_is_quantity (scalar.text)))
    return report_out_of_range (checker, QUOIT_CHECK_RULE_POD_FIELD, node, what);
  return report_if_failed (checker, node, what, FALSE);
}

JsonArray *
quoit_check_array (QuoitChecker *checker, JsonNode *node, const char *what)
{
  JsonArray *array;

  if (!has_known_value (checker, node, what)
      || !report_if_failed (checker, node, what, quoit_tree_array (checker->tree, node, &array, &checker->error)))
    return NULL;
  return array;
}

QuoitCheckText
quoit_check_read_text (QuoitChecker *checker, JsonNode *from, const char *name)
{
  QuoitCheckText text = { quoit_check_member (checker, from, name), NULL };

  quoit_check_text (checker, text.node, name, &text.text);
  return text;
}

QuoitCheckNumber
quoit_check_read_number (QuoitChecker *checker, JsonNode *from, const char *name, gint64 default_number)
{
  QuoitCheckNumber number = { quoit_check_member (checker, from, name), default_number, TRUE };

  if (number.node != NULL)
    number.is_known = quoit_check_count (checker, number.node, name, &number.number);
  return number;
}

static void
read_replicas (QuoitChecker *checker, QuoitCheckGroup *group)
{
  group->replicas = quoit_check_read_number (checker, group->node, "replicas", 0);
  group->min_replicas = quoit_check_read_number (checker, group->node, "minReplicas", 0);
  group->max_replicas = quoit_check_read_number (checker, group->node, "maxReplicas", G_MAXINT32);
  group->hosts = quoit_check_read_number (checker, group->node, "numOfHosts", 1);
  group->n_slices
      = quoit_kuberay_replicas (group->replicas.number, group->min_replicas.number, group->max_replicas.number);
}

/* Checks all requested amounts, including resources that no rule uses. */
static void
read_quantities (QuoitChecker *checker, JsonNode *quantities)
{
  g_autoptr (GList) names = NULL;

  if (quantities == NULL || !JSON_NODE_HOLDS_OBJECT (quantities))
    return;
  names = json_object_get_members (json_node_get_object (quantities));
  for (GList *name_item = names; name_item != NULL; name_item = name_item->next)
    {
      QuoitAmount amount;

      if (strcmp (name_item->data, QUOIT_K8S_TPU_RESOURCE) != 0)
        quoit_check_quantity (checker, quoit_tree_member (quantities, name_item->data), name_item->data, &amount);
    }
}

/* Counts as the webhook does (gke-kuberay-jax 3): the request, or the limit if the request is 0, in whole chips. */
static void
read_chips (QuoitChecker *checker, JsonNode *container, QuoitCheckGroup *group)
{
  JsonNode *resources = quoit_check_member (checker, container, "resources");
  JsonNode *limits = quoit_check_member (checker, resources, "limits");
  JsonNode *requests = quoit_check_member (checker, resources, "requests");
  QuoitCheckChips chips = { .node = container };
  JsonNode *limit = quoit_check_member (checker, limits, QUOIT_K8S_TPU_RESOURCE);
  JsonNode *request = quoit_check_member (checker, requests, QUOIT_K8S_TPU_RESOURCE);
  QuoitAmount amount;

  read_quantities (checker, limits);
  read_quantities (checker, requests);
  if (quoit_check_quantity (checker, limit, QUOIT_K8S_TPU_RESOURCE, &chips.limit))
    chips.limit_node = limit;
  if (quoit_check_quantity (checker, request, QUOIT_K8S_TPU_RESOURCE, &chips.request))
    chips.request_node = request;
  group->states_chips |= limit != NULL || request != NULL;
  if (chips.limit_node == NULL && chips.request_node == NULL)
    return;

  g_array_append_val (group->chips, chips);
  amount = quoit_quantity_round_up (chips.request.e4 > 0 ? chips.request : chips.limit);
  group->n_chips = MIN (group->n_chips + amount.e4 / QUOIT_AMOUNT_UNIT, G_MAXINT32);
  if (amount.e4 > 0 && group->chips_node == NULL)
    group->chips_node = chips.limit_node != NULL && chips.limit.e4 > 0 ? chips.limit_node : chips.request_node;
}

static void
read_containers (QuoitChecker *checker, QuoitCheckGroup *group)
{
  JsonArray *array = quoit_check_array (checker, quoit_check_member (checker, group->pod, "containers"), "containers");

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      g_ptr_array_add (group->containers, json_array_get_element (array, i));
      read_chips (checker, json_array_get_element (array, i), group);
    }
}

static void
read_selectors (QuoitChecker *checker, QuoitCheckGroup *group)
{
  static const char *const machine_keys[]
      = { "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "cloud.google.com/machine-type" };
  JsonNode *selector = quoit_check_member (checker, group->pod, "nodeSelector");

  group->accelerator = quoit_check_read_text (checker, selector, QUOIT_GKE_LABEL_ACCELERATOR);
  group->topology = quoit_check_read_text (checker, selector, QUOIT_GKE_LABEL_TOPOLOGY);
  group->zone = quoit_check_read_text (checker, selector, QUOIT_K8S_LABEL_ZONE);
  group->region = quoit_check_read_text (checker, selector, QUOIT_K8S_LABEL_REGION);
  for (guint i = 0; i < G_N_ELEMENTS (machine_keys) && group->machine.text == NULL; i++)
    group->machine = quoit_check_read_text (checker, selector, machine_keys[i]);
}

static void
find_slice (QuoitCheckGroup *group)
{
  if (group->accelerator.text != NULL)
    quoit_generation_parse (group->accelerator.text, &group->generation, NULL);
  if (group->topology.text != NULL && quoit_shape_parse (group->topology.text, &group->shape, NULL))
    group->has_shape
        = group->generation == QUOIT_GENERATION_NONE || quoit_shape_check (group->generation, group->shape, NULL);
  group->has_facts
      = group->generation != QUOIT_GENERATION_NONE && group->has_shape && group->n_chips > 0
        && quoit_slice_facts (group->generation, group->shape, (unsigned) group->n_chips, &group->facts, NULL);
}

/* With dynamic slicing, an annotation has the topology of the slice that is made for the pods. */
static void
read_slice_topology (QuoitChecker *checker, JsonNode *pod_template, QuoitCheckGroup *group)
{
  JsonNode *metadata = quoit_check_member (checker, pod_template, "metadata");
  JsonNode *annotations = quoit_check_member (checker, metadata, "annotations");

  if (group->topology.node == NULL)
    group->topology = quoit_check_read_text (checker, annotations, QUOIT_GKE_ANNOTATION_SLICE_TOPOLOGY);
}

void
quoit_check_pods_read (QuoitChecker *checker, JsonNode *pod_template, QuoitCheckGroup *group)
{
  group->containers = g_ptr_array_new ();
  group->chips = g_array_new (FALSE, FALSE, sizeof (QuoitCheckChips));
  group->pod = quoit_check_member (checker, pod_template, "spec");
  read_containers (checker, group);
  read_selectors (checker, group);
  if (group->is_workload)
    read_slice_topology (checker, pod_template, group);
  find_slice (group);
}

void
quoit_check_nodes_read (QuoitChecker *checker, JsonNode *node, QuoitCheckText accelerator, QuoitCheckText topology,
                        JsonNode *chips, QuoitCheckGroup *group)
{
  gint64 n_chips = 0;

  *group = (QuoitCheckGroup) { .node = node, .pod = node, .is_workload = TRUE, .hosts = { NULL, 1, FALSE } };
  group->containers = g_ptr_array_new ();
  group->chips = g_array_new (FALSE, FALSE, sizeof (QuoitCheckChips));
  group->accelerator = accelerator;
  group->topology = topology;
  /* Without a count, the hosts have the usual number of chips. */
  find_slice (group);
  group->n_chips = 4;
  if (group->has_shape && group->generation != QUOIT_GENERATION_NONE
      && quoit_slice_facts (group->generation, group->shape, 0, &group->facts, NULL))
    group->n_chips = group->facts.chips_per_host;
  if (quoit_check_count (checker, chips, "count", &n_chips) && n_chips > 0)
    group->n_chips = n_chips;
  group->chips_node = chips != NULL ? chips : node;
  find_slice (group);
}

void
quoit_check_group_read (QuoitChecker *checker, JsonNode *node, gboolean is_head, QuoitCheckGroup *group)
{
  *group = (QuoitCheckGroup) { .node = node, .is_head = is_head, .hosts_name = "numOfHosts" };
  if (is_head)
    {
      group->name.text = "headgroup";
      group->hosts = (QuoitCheckNumber) { NULL, 1, TRUE };
      group->n_slices = 1;
    }
  else
    {
      group->name = quoit_check_read_text (checker, node, "groupName");
      read_replicas (checker, group);
    }
  quoit_check_pods_read (checker, quoit_check_member (checker, node, "template"), group);
  quoit_check_params_read (checker, group);
}

void
quoit_check_group_clear (QuoitCheckGroup *group)
{
  g_clear_pointer (&group->containers, g_ptr_array_unref);
  g_clear_pointer (&group->chips, g_array_unref);
  quoit_check_params_clear (group);
}
