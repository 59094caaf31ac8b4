/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare a group's number of slices with its variables, and its node selectors with its requests. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"

static const char *
plain_text (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

JsonNode *
quoit_check_find_variable (QuoitChecker *checker, JsonNode *container, const char *name)
{
  JsonArray *env = quoit_check_array (checker, quoit_check_member (checker, container, "env"), "env");
  JsonNode *found = NULL;

  for (guint i = 0; env != NULL && i < json_array_get_length (env); i++)
    {
      JsonNode *entry = json_array_get_element (env, i);

      /* Kubernetes uses the last variable of a name. */
      if (g_strcmp0 (plain_text (quoit_tree_member (entry, "name")), name) == 0)
        found = quoit_tree_member (entry, "value");
    }
  return found;
}

/* --- slices --- */

static const char number_of_slices[] = "MEGASCALE_NUM_SLICES";

/* Reads the number of slices of a container as JAX does, with Python's int() (gke-kuberay-jax 4). FALSE: the container
 * does not state it, or the text is not such a number; then *@node is the value, or NULL if it cannot be read. */
static gboolean
read_number_of_slices (QuoitChecker *checker, JsonNode *container, JsonNode **node, gint64 *number)
{
  const char *text;
  g_autofree char *stripped = NULL;

  *node = quoit_check_find_variable (checker, container, number_of_slices);
  if (!quoit_check_text (checker, *node, number_of_slices, &text) || *text == '\0')
    {
      *node = NULL;
      return FALSE;
    }
  stripped = g_strstrip (g_strdup (text));
  return g_ascii_string_to_signed (stripped, 10, 1, G_MAXINT32, number, NULL);
}

static const QuoitCheckChips *
chips_at (const QuoitCheckGroup *group, guint index)
{
  return &g_array_index (group->chips, QuoitCheckChips, index);
}

static void
check_value (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  (void) cluster;
  for (guint i = 0; i < group->chips->len; i++)
    {
      JsonNode *node;
      gint64 number;

      if (!read_number_of_slices (checker, chips_at (group, i)->node, &node, &number) && node != NULL)
        quoit_check_report (checker, rule, node, number_of_slices, "a number of slices, 1 or more");
    }
}

static gboolean
has_autoscaler (QuoitChecker *checker, const QuoitCheckCluster *cluster)
{
  JsonNode *node = quoit_tree_member (cluster->spec, "enableInTreeAutoscaling");
  gboolean is_on = FALSE;

  if (node != NULL && !quoit_manifest_boolean (&checker->manifest, node, &is_on))
    g_clear_error (&checker->error);
  return is_on;
}

/* The TPU webhook makes each worker group one multislice environment: the slice ids are the replica indices, and the
 * coordinator is host 0 of replica 0 (gke-kuberay-jax 3.2). */
static void
check_number (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  gint64 least = group->n_slices, most = group->n_slices;

  if (group->is_head || group->n_chips == 0 || !group->replicas.is_known || !group->min_replicas.is_known
      || !group->max_replicas.is_known)
    return;
  if (has_autoscaler (checker, cluster))
    {
      least = MIN (group->min_replicas.number, group->n_slices);
      most = MAX (group->max_replicas.number, group->n_slices);
    }
  for (guint i = 0; i < group->chips->len; i++)
    {
      JsonNode *container = chips_at (group, i)->node, *node;
      gint64 number;

      if (!read_number_of_slices (checker, container, &node, &number) || (number >= least && number <= most)
          || quoit_check_find_variable (checker, container, "MEGASCALE_COORDINATOR_ADDRESS") != NULL)
        continue;
      if (number > most)
        quoit_check_report (checker, rule, node, number_of_slices,
                            "%" G_GINT64_FORMAT ", the slices of the group: JAX waits until all of them have joined",
                            most);
      else
        quoit_check_report (checker, rule, node, number_of_slices,
                            "%" G_GINT64_FORMAT ", the slices of the group: JAX has no place for the others", least);
    }
}

/* --- selectors without requests --- */

static gboolean
tolerates_chips (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  JsonArray *tolerations
      = quoit_check_array (checker, quoit_check_member (checker, group->pod, "tolerations"), "tolerations");

  for (guint i = 0; tolerations != NULL && i < json_array_get_length (tolerations); i++)
    {
      JsonNode *entry = json_array_get_element (tolerations, i), *key = quoit_tree_member (entry, "key");

      /* A toleration without a key tolerates every taint. */
      if (key == NULL || g_strcmp0 (plain_text (key), QUOIT_K8S_TPU_RESOURCE) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether the pod may get its chips from a resource claim instead of google.com/tpu. */
static gboolean
may_claim_chips (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  JsonArray *claims
      = quoit_check_array (checker, quoit_check_member (checker, group->pod, "resourceClaims"), "resourceClaims");

  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    if (quoit_check_claim_may_have_chips (checker, json_array_get_element (claims, i)))
      return TRUE;
  return FALSE;
}

static gboolean
is_tpu_machine (const char *name)
{
  const QuoitMachineType *machine;

  for (unsigned i = 0; name != NULL && (machine = quoit_machine_type_row (i)) != NULL; i++)
    if (strcmp (machine->name, name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_text (const QuoitCheckText *selector)
{
  return selector->text != NULL && *selector->text != '\0';
}

/* Nodes with TPUs have the taint google.com/tpu, which pods that request chips tolerate (gke-kuberay-jax 10.3). */
static void
check_missing (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  const QuoitCheckText *selector = has_text (&group->accelerator) ? &group->accelerator
                                   : has_text (&group->topology)  ? &group->topology
                                                                  : &group->machine;

  (void) cluster;
  if (group->n_chips > 0 || group->states_chips || group->containers->len == 0 || selector->text == NULL
      || (selector == &group->machine && !is_tpu_machine (selector->text)))
    return;
  if ((group->hosts.number <= 1 && tolerates_chips (checker, group)) || may_claim_chips (checker, group))
    return;
  quoit_check_report (checker, rule, selector->node, "selector of TPU nodes",
                      "a request and a limit of google.com/tpu in a container: without them the pods get no chips");
}

const QuoitCheckRule quoit_check_multislice_rules[] = {
  { "slices-value", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_value },
  { "slices-number", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_number },
  { "chips-missing", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_missing },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
