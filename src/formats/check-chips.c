/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the google.com/tpu requests of the containers, and about the machine type of a group. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"

static const QuoitCheckChips *
chips_at (const QuoitCheckGroup *group, guint index)
{
  return &g_array_index (group->chips, QuoitCheckChips, index);
}

/* Kubernetes never overcommits chips, so request and limit must be equal. */
static void
check_request (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  (void) cluster;
  for (guint i = 0; i < group->chips->len; i++)
    {
      const QuoitCheckChips *chips = chips_at (group, i);
      JsonNode *limits = quoit_tree_member (quoit_tree_member (chips->node, "resources"), "limits");
      g_autofree char *limit = quoit_amount_format (chips->limit);

      if (chips->request_node == NULL || (chips->limit_node != NULL && chips->request.e4 == chips->limit.e4))
        continue;
      if (chips->limit_node != NULL)
        quoit_check_report (checker, rule, chips->request_node, "request of google.com/tpu",
                            "%s, the limit of this container: Kubernetes refuses pods in which they differ", limit);
      else if (quoit_tree_member (limits, QUOIT_K8S_TPU_RESOURCE) == NULL && chips->request.e4 > 0)
        quoit_check_report (
            checker, rule, chips->request_node, "request of google.com/tpu",
            "an equal limit in the same container: Kubernetes refuses requests of chips without a limit");
    }
}

static void
check_whole_amount (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, QuoitAmount amount)
{
  if (node != NULL && amount.e4 % QUOIT_AMOUNT_UNIT != 0)
    quoit_check_report (checker, rule, node, QUOIT_K8S_TPU_RESOURCE,
                        "a whole number of chips: Kubernetes refuses fractions of them");
}

static void
check_whole (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  (void) cluster;
  for (guint i = 0; i < group->chips->len; i++)
    {
      check_whole_amount (checker, rule, chips_at (group, i)->limit_node, chips_at (group, i)->limit);
      check_whole_amount (checker, rule, chips_at (group, i)->request_node, chips_at (group, i)->request);
    }
}

static void
check_zero (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  (void) cluster;
  for (guint i = 0; i < group->chips->len; i++)
    if (chips_at (group, i)->limit.e4 == 0 && chips_at (group, i)->limit_node != NULL)
      quoit_check_report (
          checker, rule, chips_at (group, i)->limit_node, QUOIT_K8S_TPU_RESOURCE,
          "1, 2, 4 or 8 chips, or no such line: the TPU webhook treats a group with 0 chips as one without TPUs");
}

static void
check_host_chips (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  static const char what[] = "chips of a pod";
  QuoitSliceFacts facts;
  GError *error = NULL;

  (void) cluster;
  if (group->n_chips == 0 || group->has_facts)
    return;
  if (group->generation != QUOIT_GENERATION_NONE && group->has_shape)
    {
      if (!quoit_slice_facts (group->generation, group->shape, (unsigned) group->n_chips, &facts, &error))
        quoit_check_report_error (checker, rule, group->chips_node, what, error);
    }
  /* The generation or the topology is unknown, but no generation has hosts with that many chips. */
  else if (group->n_chips > 8 || (group->n_chips & (group->n_chips - 1)) != 0)
    quoit_check_report (checker, rule, group->chips_node, what, "1, 2, 4 or 8 in all, the chips of a host");
}

const QuoitCheckRule quoit_check_chip_rules[] = {
  { "chips-request", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_request },
  { "chips-fraction", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_whole },
  { "chips-zero", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_zero },
  { "chips-per-host", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_host_chips },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};

/* --- machines --- */

/* Returns the machine type of a group with chips, or NULL if it is not stated or unknown. */
static const QuoitMachineType *
find_machine (const QuoitCheckGroup *group)
{
  const QuoitMachineType *machine;

  for (unsigned i = 0; group->n_chips > 0 && group->machine.text != NULL && (machine = quoit_machine_type_row (i)); i++)
    if (strcmp (machine->name, group->machine.text) == 0)
      return machine;
  return NULL;
}

/* Lists the machine types with as many chips as the group: those of its generation, or of all generations if it is
 * unknown. */
static char *
list_machines (const QuoitCheckGroup *group)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (group->generation);
  GString *list = g_string_new (NULL);
  const QuoitMachineType *machine;

  for (unsigned i = 0; (machine = quoit_machine_type_row (i)) != NULL; i++)
    if ((facts == NULL || strcmp (machine->generation_id, facts->id) == 0) && machine->chips == group->n_chips)
      g_string_append_printf (list, "%s'%s'", list->len > 0 ? ", " : "", machine->name);
  return g_string_free (list, FALSE);
}

static void
check_known_machine (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                     const QuoitCheckGroup *group)
{
  g_autofree char *machines = NULL;

  (void) cluster;
  if (group->n_chips == 0 || group->machine.text == NULL || find_machine (group) != NULL)
    return;
  machines = list_machines (group);
  quoit_check_report (checker, rule, group->machine.node, "machine type", "a machine type with TPUs: %s",
                      *machines != '\0' ? machines : "no type has that many chips");
}

static void
check_machine_chips (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                     const QuoitCheckGroup *group)
{
  const QuoitMachineType *machine = find_machine (group);

  (void) cluster;
  if (machine != NULL && machine->chips != group->n_chips)
    quoit_check_report (checker, rule, group->chips_node, "chips of a pod", "%u in all, the chips of a '%s'",
                        machine->chips, machine->name);
}

static void
check_machine_accelerator (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                           const QuoitCheckGroup *group)
{
  const QuoitMachineType *machine = find_machine (group);

  (void) cluster;
  if (machine != NULL && group->accelerator.text != NULL && *group->accelerator.text != '\0'
      && strcmp (machine->gke_label, group->accelerator.text) != 0)
    quoit_check_report (checker, rule, group->accelerator.node, "accelerator",
                        "'%s', the accelerator of nodes of type '%s'", machine->gke_label, machine->name);
}

static void
check_machine_hosts (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                     const QuoitCheckGroup *group)
{
  const QuoitMachineType *machine = find_machine (group);
  g_autofree char *single_host_topology = NULL;

  (void) cluster;
  if (machine == NULL || !group->has_shape || machine->hosts != QUOIT_MACHINE_SINGLE_HOST
      || machine->single_host.n_dims == 0 || quoit_shape_equal (machine->single_host, group->shape))
    return;
  single_host_topology = quoit_shape_format (machine->single_host);
  quoit_check_report (checker, rule, group->topology.node, "topology",
                      "'%s': machines of type '%s' never form larger slices", single_host_topology, machine->name);
}

const QuoitCheckRule quoit_check_machine_rules[] = {
  { "machine-unknown", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_known_machine },
  { "machine-chips", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_machine_chips },
  { "machine-accelerator", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_machine_accelerator },
  { "machine-topology", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_machine_hosts },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
