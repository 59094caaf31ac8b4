/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-node.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/k8s-object.h"
#include "models/ray/label-syntax.h"

enum { MOST_CHIPS = 65535 };

/* --- labels --- */

static void
store_label (QuoitK8sNode *node, const char *key, JsonNode *value, const char *text)
{
  const struct {
    const char *key;
    const char **text;
  } texts[] = { { QUOIT_GKE_LABEL_NODE_POOL, &node->pool },
                { QUOIT_GKE_LABEL_SLICE, &node->dynamic_slice },
                { QUOIT_GKE_LABEL_CUBE_ID, &node->cube },
                { QUOIT_K8S_LABEL_ZONE, &node->zone },
                { QUOIT_K8S_LABEL_REGION, &node->region } };

  for (unsigned i = 0; i < G_N_ELEMENTS (texts); i++)
    if (strcmp (key, texts[i].key) == 0)
      *texts[i].text = text;
  if (strcmp (key, QUOIT_GKE_LABEL_ACCELERATOR) == 0)
    node->accelerator = value;
  else if (strcmp (key, QUOIT_GKE_LABEL_TOPOLOGY) == 0)
    node->topology = value;
  else if (strcmp (key, QUOIT_GKE_LABEL_CHIPS) == 0)
    node->stated_chips = (guint16) CLAMP (g_ascii_strtoll (text, NULL, 10), 0, MOST_CHIPS);
  else if (strcmp (key, QUOIT_GKE_LABEL_TOPOLOGY_MODE) == 0)
    node->is_provision_only = strcmp (text, "PROVISION_ONLY") == 0;
  else if (strcmp (key, QUOIT_GKE_LABEL_SPOT) == 0 || strcmp (key, QUOIT_GKE_LABEL_PREEMPTIBLE) == 0)
    node->is_spot |= strcmp (text, "true") == 0;
}

static gboolean
read_labels (const QuoitTree *tree, JsonNode *metadata, QuoitK8sNode *node, GError **error)
{
  JsonNode *labels, *value;
  JsonObject *object;
  JsonObjectIter iter;
  const char *key, *text;

  if (!quoit_k8s_find (tree, metadata, "labels", &labels, error))
    return FALSE;
  if (labels == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, labels, &object, error))
    return FALSE;
  if (json_object_get_size (object) > QUOIT_K8S_MOST_LABELS)
    return quoit_tree_fail (tree, labels, error, "%u labels: expected at most 256", json_object_get_size (object));

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &key, &value))
    {
      if (!quoit_k8s_text (tree, value, &text, error))
        return FALSE;
      text = text == NULL ? "" : text;
      if (!quoit_label_check_key (key, error) || !quoit_label_check_value (text, error))
        return quoit_tree_prefix_place (tree, value, error);
      node->labels[node->n_labels++] = (QuoitPair) { key, text };
      if (*text != '\0')
        store_label (node, key, value, text);
    }
  return TRUE;
}

/* --- states --- */

static void
raise_state (QuoitK8sNode *node, QuoitK8sState state)
{
  node->state = MAX (node->state, state);
}

static gboolean
read_conditions (const QuoitTree *tree, JsonNode *status, QuoitK8sNode *node, GError **error)
{
  JsonArray *list = NULL;
  QuoitK8sState ready = QUOIT_K8S_NOT_REPORTING;
  guint n;

  if (!quoit_k8s_find_list (tree, status, "conditions", &list, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *row = json_array_get_element (list, i), *value;
      const char *type, *text;

      if (!quoit_k8s_find_text (tree, row, "type", &type, error) || !quoit_k8s_find (tree, row, "status", &value, error)
          || !quoit_k8s_text (tree, value, &text, error))
        return FALSE;
      if (g_strcmp0 (type, "Ready") != 0)
        continue;
      if (g_strcmp0 (text, "True") == 0)
        ready = QUOIT_K8S_READY;
      else if (g_strcmp0 (text, "False") == 0)
        ready = QUOIT_K8S_NOT_READY;
      else if (g_strcmp0 (text, "Unknown") != 0)
        return quoit_tree_refuse (tree, value != NULL ? value : row, "the status True, False or Unknown", error);
    }
  raise_state (node, ready);
  return TRUE;
}

/* Returns whether no warning is needed: the node's state already shows the reason for the taint, or all nodes of
 * that type have it on GKE. */
static gboolean
is_expected_taint (const char *key)
{
  static const char *const expected_taints[] = { QUOIT_K8S_TPU_RESOURCE,
                                                 QUOIT_K8S_GPU_RESOURCE,
                                                 QUOIT_GKE_LABEL_SPOT,
                                                 QUOIT_GKE_LABEL_PREEMPTIBLE,
                                                 "cloud.google.com/gke-provisioning",
                                                 "cloud.google.com/gke-queued",
                                                 "node.kubernetes.io/not-ready",
                                                 "node.kubernetes.io/unreachable",
                                                 "node.kubernetes.io/unschedulable" };

  for (unsigned i = 0; i < G_N_ELEMENTS (expected_taints); i++)
    if (strcmp (key, expected_taints[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
announces_removal (const char *key)
{
  static const char *const removal_taints[]
      = { "ToBeDeletedByClusterAutoscaler", "cloud.google.com/impending-node-termination",
          "cloud.google.com/graceful-node-termination", "node.kubernetes.io/out-of-service",
          "node.cloudprovider.kubernetes.io/shutdown" };

  for (unsigned i = 0; i < G_N_ELEMENTS (removal_taints); i++)
    if (strcmp (key, removal_taints[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_taints (const QuoitTree *tree, JsonNode *spec, QuoitK8sNode *node, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_list (tree, spec, "taints", &list, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *row = json_array_get_element (list, i);
      const char *key, *effect;

      if (!quoit_k8s_find_text (tree, row, "key", &key, error)
          || !quoit_k8s_find_text (tree, row, "effect", &effect, error))
        return FALSE;
      if (key == NULL || g_strcmp0 (effect, "PreferNoSchedule") == 0 || is_expected_taint (key))
        continue;
      if (announces_removal (key))
        raise_state (node, QUOIT_K8S_TAINTED);
      else
        node->taint = key;
    }
  return TRUE;
}

static gboolean
read_spec (const QuoitTree *tree, JsonNode *spec, QuoitK8sNode *node, GError **error)
{
  gboolean is_unschedulable = FALSE;
  JsonNode *value;

  if (!quoit_k8s_find (tree, spec, "unschedulable", &value, error)
      || (value != NULL && !quoit_tree_boolean (tree, value, &is_unschedulable, error)))
    return FALSE;
  if (is_unschedulable)
    raise_state (node, QUOIT_K8S_UNSCHEDULABLE);
  return read_taints (tree, spec, node, error);
}

/* --- capacity --- */

static gboolean
read_allocatable (const QuoitTree *tree, JsonNode *status, const char *name, QuoitAmount *amount, GError **error)
{
  JsonNode *allocatable, *capacity;
  gboolean is_there;

  return quoit_k8s_find (tree, status, "allocatable", &allocatable, error)
         && quoit_k8s_find (tree, status, "capacity", &capacity, error)
         && quoit_k8s_find_quantity (tree, allocatable, name, amount, &is_there, error)
         && (is_there || quoit_k8s_find_quantity (tree, capacity, name, amount, &is_there, error));
}

static gboolean
read_chips (const QuoitTree *tree, JsonNode *status, QuoitK8sNode *node, GError **error)
{
  JsonNode *capacity, *value = NULL;
  QuoitAmount capacity_chips, allocatable_chips;
  gboolean is_there;

  if (!quoit_k8s_find (tree, status, "capacity", &capacity, error)
      || !quoit_k8s_find_quantity (tree, capacity, QUOIT_K8S_TPU_RESOURCE, &capacity_chips, &is_there, error)
      || !read_allocatable (tree, status, QUOIT_K8S_TPU_RESOURCE, &allocatable_chips, error))
    return FALSE;
  if (capacity != NULL)
    value = quoit_tree_member (capacity, QUOIT_K8S_TPU_RESOURCE);
  /* If the capacity is missing, the node has at least its allocatable chips. */
  capacity_chips.e4 = MAX (capacity_chips.e4, allocatable_chips.e4);
  if (capacity_chips.e4 % QUOIT_AMOUNT_UNIT != 0 || capacity_chips.e4 / QUOIT_AMOUNT_UNIT > MOST_CHIPS)
    return quoit_tree_refuse (tree, value != NULL ? value : status, "a whole number of chips, at most 65535", error);
  node->chips = (guint16) (capacity_chips.e4 / QUOIT_AMOUNT_UNIT);
  if (allocatable_chips.e4 < capacity_chips.e4)
    raise_state (node, QUOIT_K8S_FEWER_CHIPS);
  return TRUE;
}

static gboolean
read_address (const QuoitTree *tree, JsonNode *status, QuoitK8sNode *node, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_list (tree, status, "addresses", &list, &n, error))
    return FALSE;
  for (guint i = 0; i < n && node->address == NULL; i++)
    {
      JsonNode *row = json_array_get_element (list, i);
      const char *type;

      /* The address of another type can be a host name. */
      if (!quoit_k8s_find_text (tree, row, "type", &type, error)
          || (g_strcmp0 (type, "InternalIP") == 0
              && !quoit_k8s_find_address (tree, row, "address", &node->address, error)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_status (const QuoitTree *tree, JsonNode *status, QuoitK8sNode *node, GError **error)
{
  return read_conditions (tree, status, node, error) && read_address (tree, status, node, error)
         && read_chips (tree, status, node, error) && read_allocatable (tree, status, "cpu", &node->cpu, error)
         && read_allocatable (tree, status, "memory", &node->memory, error)
         && read_allocatable (tree, status, QUOIT_K8S_GPU_RESOURCE, &node->gpu, error);
}

static gboolean
read_metadata (const QuoitTree *tree, JsonNode *metadata, QuoitK8sNode *node, GError **error)
{
  JsonNode *deletion;

  if (!quoit_k8s_find_text (tree, metadata, "name", &node->name, error)
      || !quoit_k8s_find_text (tree, metadata, "uid", &node->uid, error)
      || !quoit_k8s_find (tree, metadata, "deletionTimestamp", &deletion, error))
    return FALSE;
  if (node->name == NULL)
    return quoit_tree_fail (tree, metadata != NULL ? metadata : node->object, error,
                            "a node without name: expected metadata.name");
  if (!quoit_k8s_is_name (node->name))
    return quoit_tree_refuse (tree, quoit_tree_member (metadata, "name"), "a DNS name", error);
  if (deletion != NULL)
    raise_state (node, QUOIT_K8S_DELETING);
  return read_labels (tree, metadata, node, error);
}

gboolean
quoit_k8s_node_read (const QuoitTree *tree, JsonNode *object, QuoitK8sNode *node, GError **error)
{
  JsonNode *metadata, *spec, *status;

  *node = (QuoitK8sNode) { .object = object };
  return quoit_k8s_find (tree, object, "metadata", &metadata, error)
         && quoit_k8s_find (tree, object, "spec", &spec, error)
         && quoit_k8s_find (tree, object, "status", &status, error) && read_metadata (tree, metadata, node, error)
         && read_spec (tree, spec, node, error) && read_status (tree, status, node, error);
}
