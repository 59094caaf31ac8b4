/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare the hosts, topology and accelerator of a TPU group with each other and with the catalogue. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"
#include "base/text.h"
#include "models/webhook/hosts.h"

/* Multiplies the sides of the topology as the webhook does. FALSE: a side is not a number. */
static gboolean
count_chips_as_webhook (const char *topology, gint32 *chips)
{
  g_autofree char *unread = quoit_webhook_parse_topology (topology, chips);

  return unread == NULL;
}

/* Computes the number of hosts of a slice. If no such slice exists, uses the number that the webhook computes: chips of
 * the topology divided by chips of the pod, rounded down, but at least 1. */
static gboolean
find_hosts (const QuoitCheckGroup *group, gint64 *hosts)
{
  gint32 chips, counted;

  if (group->n_chips == 0 || group->topology.text == NULL || !count_chips_as_webhook (group->topology.text, &chips)
      || !quoit_webhook_compute_hosts (chips, group->n_chips, &counted))
    return FALSE;
  *hosts = group->has_facts ? (gint64) group->facts.hosts : counted;
  return TRUE;
}

static void
check_hosts (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  JsonNode *node = group->hosts.node != NULL ? group->hosts.node : group->node;
  const char *what = group->hosts.node != NULL ? "numOfHosts" : "no 'numOfHosts', which means 1";
  g_autofree char *quoted = NULL;
  gint64 hosts;

  (void) cluster;
  if (group->is_head || !group->hosts.is_known || group->hosts.number == 0 || !find_hosts (group, &hosts)
      || hosts == group->hosts.number)
    return;
  quoted = quoit_quote (group->topology.text);
  if (group->has_facts)
    quoit_check_report (checker, rule, node, what,
                        "%" G_GINT64_FORMAT ", the hosts of topology %s with %" G_GINT64_FORMAT " chips per pod", hosts,
                        quoted, group->n_chips);
  else
    quoit_check_report (checker, rule, node, what,
                        "%" G_GINT64_FORMAT ", the chips of topology %s divided by %" G_GINT64_FORMAT " per pod", hosts,
                        quoted, group->n_chips);
}

static void
check_no_hosts (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->n_chips > 0 && group->hosts.is_known && group->hosts.number == 0)
    quoit_check_report (checker, rule, group->hosts.node, "numOfHosts",
                        "the number of hosts of a slice: the TPU webhook treats 0 as not set");
}

static void
check_head (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->is_head && group->has_facts && group->facts.hosts > 1)
    quoit_check_report (checker, rule, group->topology.node, "the head's topology",
                        "one of a single host with %" G_GINT64_FORMAT
                        " chips: the head is one pod, but this slice needs %u",
                        group->n_chips, group->facts.hosts);
}

/* Returns the key of the map that is nearly @name, or NULL. */
static const char *
find_misspelt (JsonNode *map, const char *name)
{
  enum { MOST_EDITS = 3 };
  JsonObjectIter iter;
  const char *key, *found = NULL;

  if (map == NULL)
    return NULL;
  json_object_iter_init (&iter, json_node_get_object (map));
  while (found == NULL && json_object_iter_next (&iter, &key, NULL))
    if (strlen (key) < 2 * strlen (name) && quoit_text_distance (key, name) <= MOST_EDITS)
      found = key;
  return found;
}

/* Reports a node selector that a group with chips lacks, at the place where it should be. */
static void
report_missing (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckGroup *group,
                const QuoitCheckText *selector, const char *name, const char *expected)
{
  JsonNode *map = quoit_tree_member (group->pod, "nodeSelector");
  g_autofree char *what = g_strdup_printf ("no node selector '%s'", name);
  const char *misspelt;

  if (group->n_chips == 0 || (selector->node != NULL && (selector->text == NULL || *selector->text != '\0')))
    return;
  /* A value that is not a map, such as a variable, was already reported. */
  if (map != NULL && !JSON_NODE_HOLDS_OBJECT (map))
    return;
  misspelt = find_misspelt (map, name);
  if (selector->node != NULL)
    quoit_check_report (checker, rule, selector->node, name, "%s", expected);
  else if (misspelt != NULL)
    quoit_check_report_part (checker, rule, json_object_get_member (json_node_get_object (map), misspelt), what,
                             "%s; is '%s' meant to be it?", expected, misspelt);
  else
    quoit_check_report (checker, rule, map != NULL ? map : group->pod, what, "%s", expected);
}

static void
check_topology (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                const QuoitCheckGroup *group)
{
  (void) cluster;
  report_missing (checker, rule, group, &group->topology, QUOIT_GKE_LABEL_TOPOLOGY,
                  "one such as '4x4': the TPU webhook refuses pods with chips but without a topology");
}

typedef enum { REFUSED_BY_WEBHOOK, ACCEPTED_BY_WEBHOOK } WebhookVerdict;

/* Reports a text that is not a topology of the generation. Two rules call this function: one reports only texts that
 * the webhook refuses, the other only texts that it accepts. @verdict selects between them. */
static void
report_topology (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckGroup *group,
                 WebhookVerdict verdict)
{
  const QuoitCheckText *topology = &group->topology;
  GError *error = NULL;
  QuoitShape shape;
  gint32 chips;

  if (group->n_chips == 0 || group->has_shape || topology->text == NULL || *topology->text == '\0'
      || count_chips_as_webhook (topology->text, &chips) != (verdict == ACCEPTED_BY_WEBHOOK))
    return;
  if (!quoit_shape_parse (topology->text, &shape, &error) || !quoit_shape_check (group->generation, shape, &error))
    quoit_check_report_error (checker, rule, topology->node, NULL, error);
}

static void
check_syntax (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  (void) cluster;
  report_topology (checker, rule, group, REFUSED_BY_WEBHOOK);
}

static void
check_known_topology (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                      const QuoitCheckGroup *group)
{
  (void) cluster;
  report_topology (checker, rule, group, ACCEPTED_BY_WEBHOOK);
  /* No webhook reads the pods of other objects. */
  if (group->is_workload)
    report_topology (checker, rule, group, REFUSED_BY_WEBHOOK);
}

static void
check_ray (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
           const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->has_facts && (group->facts.accepted_by & QUOIT_ACCEPTED_BY_RAY) == 0)
    quoit_check_report (checker, rule, group->topology.node, "topology",
                        "one that Ray knows for %s: Ray makes no slice groups of this one",
                        quoit_generation_name (group->generation));
}

static void
check_gke (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
           const QuoitCheckGroup *group)
{
  (void) cluster;
  if (group->has_facts && group->facts.accepted_by == QUOIT_ACCEPTED_BY_RAY)
    quoit_check_report (checker, rule, group->topology.node, "topology",
                        "one that GKE offers for %s: only Ray knows this one",
                        quoit_generation_name (group->generation));
}

static const QuoitGkeLabel *
find_label (const char *text)
{
  const QuoitGkeLabel *label;

  for (unsigned i = 0; (label = quoit_gke_label_row (i)) != NULL; i++)
    if (strcmp (label->label, text) == 0)
      return label;
  return NULL;
}

gboolean
quoit_check_selects_otherwise (const QuoitCheckGroup *group)
{
  JsonNode *selector = quoit_tree_member (group->pod, "nodeSelector");

  return quoit_tree_member (selector, QUOIT_GKE_LABEL_COMPUTE_CLASS) != NULL
         || quoit_tree_member (selector, QUOIT_GKE_LABEL_NODE_POOL) != NULL
         || quoit_tree_member (quoit_tree_member (group->pod, "affinity"), "nodeAffinity") != NULL;
}

static void
check_accelerator (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                   const QuoitCheckGroup *group)
{
  (void) cluster;
  if (!quoit_check_selects_otherwise (group))
    report_missing (checker, rule, group, &group->accelerator, QUOIT_GKE_LABEL_ACCELERATOR,
                    "one such as 'tpu-v6e-slice'");
}

/* Returns GKE's accelerator labels, quoted: those of generation @wanted, or all if it is NONE. */
static char *
list_accelerator_labels (QuoitGeneration wanted)
{
  GString *list = g_string_new (NULL);
  const QuoitGkeLabel *label;
  QuoitGeneration generation;

  for (unsigned i = 0; (label = quoit_gke_label_row (i)) != NULL; i++)
    if (quoit_generation_parse (label->label, &generation, NULL)
        && (wanted == QUOIT_GENERATION_NONE || wanted == generation))
      g_string_append_printf (list, "%s'%s'", list->len > 0 ? ", " : "", label->label);
  return g_string_free (list, FALSE);
}

/* Finds the generation that a part of the text names, as in 'tpu-v5e-slice'. */
static QuoitGeneration
find_named_generation (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, "-", -1);
  QuoitGeneration generation = QUOIT_GENERATION_NONE;

  for (guint i = 0; words[i] != NULL && generation == QUOIT_GENERATION_NONE; i++)
    if (!quoit_generation_parse (words[i], &generation, NULL))
      generation = QUOIT_GENERATION_NONE;
  return generation;
}

/* The text must be exactly the label of GKE's nodes. A node selector does not match other names of the generation. */
static void
check_known_accelerator (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                         const QuoitCheckGroup *group)
{
  const char *text = group->accelerator.text;
  GError *error = NULL;
  QuoitGeneration generation;
  g_autofree char *labels = NULL;

  (void) cluster;
  if (group->n_chips == 0 || text == NULL || *text == '\0')
    return;
  if (find_label (text) != NULL && !quoit_generation_parse (text, &generation, &error))
    {
      quoit_check_report_error (checker, rule, group->accelerator.node, NULL, error);
      return;
    }
  if (find_label (text) != NULL)
    return;
  labels = list_accelerator_labels (group->generation != QUOIT_GENERATION_NONE ? group->generation
                                                                               : find_named_generation (text));
  quoit_check_report (checker, rule, group->accelerator.node, "accelerator", "a value of that label on GKE's nodes: %s",
                      *labels == '\0' ? "GKE has no nodes of this generation" : labels);
}

static void
check_single_host (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                   const QuoitCheckGroup *group)
{
  const QuoitGkeLabel *label = group->has_facts ? find_label (group->accelerator.text) : NULL;

  (void) cluster;
  if (label != NULL && label->hosts == QUOIT_LABEL_SINGLE_HOST && group->facts.hosts > 1)
    quoit_check_report (checker, rule, group->accelerator.node, "accelerator",
                        "one whose machines form multi-host slices: these are single hosts, but topology '%s' has %u "
                        "hosts",
                        group->topology.text, group->facts.hosts);
}

const QuoitCheckRule quoit_check_slice_rules[] = {
  { "numofhosts-zero", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_no_hosts },
  { "numofhosts-topology", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_hosts },
  { "head-topology", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_head },
  { "topology-missing", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_topology },
  { "topology-syntax", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_syntax },
  { "topology-unknown", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_known_topology },
  { "topology-ray", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_ray },
  { "topology-gke", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_gke },
  { "accelerator-missing", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_accelerator },
  { "accelerator-unknown", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_known_accelerator },
  { "accelerator-single-host", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_single_host },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
