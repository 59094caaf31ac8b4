/* SPDX-License-Identifier: Apache-2.0 */
/* GKE's own objects: Slices of cubes, and ComputeClasses. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/dns.h"
#include "base/name-hash.h"

/* GKE appends a hyphen and eight characters to the name of a Slice (gke-kuberay-jax 9.1). */
enum { LONGEST_SLICE_NAME = 54, CHIPS_OF_A_CUBE = 64 };

void
quoit_check_nodes_run (QuoitChecker *checker, const QuoitCheckCluster *cluster, JsonNode *node,
                       QuoitCheckText accelerator, QuoitCheckText topology, JsonNode *chips)
{
  QuoitCheckGroup group;

  /* Without an accelerator, the nodes may have no TPUs. */
  if (accelerator.text == NULL)
    return;
  quoit_check_nodes_read (checker, node, accelerator, topology, chips, &group);
  quoit_check_run (checker, QUOIT_CHECK_PODS, cluster, &group);
  quoit_check_group_clear (&group);
}

/* --- Slice --- */

static void
check_name (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *node = quoit_check_member (checker, quoit_check_member (checker, object, "metadata"), "name");
  const char *name;

  if (quoit_check_text (checker, node, "name", &name)
      && (!quoit_dns_is_label (name, LONGEST_SLICE_NAME) || !g_ascii_islower (*name)))
    quoit_check_report (
        checker, quoit_check_find_rule (quoit_check_gke_rules, "slice-name"), node, "name",
        "at most %d lower-case letters, digits and '-', a letter first and no '-' last: GKE refuses any "
        "other Slice",
        LONGEST_SLICE_NAME);
}

/* A slice of more than one cube consists of whole cubes, which the partition ids name. */
static void
check_partitions (QuoitChecker *checker, JsonNode *spec, const QuoitCheckText *topology)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonNode *node = quoit_check_member (checker, spec, "partitionIds");
  JsonArray *ids = quoit_check_array (checker, node, "partitionIds");
  QuoitShape shape;
  gint64 cubes;

  if (ids == NULL)
    return;
  for (guint i = 0; i < json_array_get_length (ids); i++)
    {
      const char *id;

      if (quoit_check_text (checker, json_array_get_element (ids, i), "partition", &id)
          && !g_hash_table_add (seen, (char *) id))
        quoit_check_report (checker, quoit_check_find_rule (quoit_check_gke_rules, "slice-partitions"),
                            json_array_get_element (ids, i), "partition", "each partition once");
    }
  if (topology->text == NULL || !quoit_shape_parse (topology->text, &shape, NULL))
    return;
  cubes = quoit_shape_chips (shape) / CHIPS_OF_A_CUBE;
  if (cubes > 0 && cubes != json_array_get_length (ids))
    {
      g_autofree char *quoted = quoit_quote (topology->text);

      quoit_check_report (checker, quoit_check_find_rule (quoit_check_gke_rules, "slice-partitions"), node,
                          "partitionIds", "%" G_GINT64_FORMAT " of them, the cubes of 4x4x4 chips in topology %s",
                          cubes, quoted);
    }
}

static void
check_slice (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *spec = quoit_check_member (checker, object, "spec");
  QuoitCheckText type = quoit_check_read_text (checker, spec, "type");
  QuoitCheckText topology = quoit_check_read_text (checker, spec, "topology");
  QuoitCheckCluster cluster = { .document = object, .kind = "Slice", .spec = spec };

  check_name (checker, object);
  check_partitions (checker, spec, &topology);
  quoit_check_nodes_run (checker, &cluster, spec, type, topology, NULL);
}

/* --- ComputeClass --- */

static void
check_compute_class (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *spec = quoit_check_member (checker, object, "spec");
  JsonArray *priorities = quoit_check_array (checker, quoit_check_member (checker, spec, "priorities"), "priorities");
  QuoitCheckCluster cluster = { .document = object, .kind = "ComputeClass", .spec = spec };

  for (guint i = 0; priorities != NULL && i < json_array_get_length (priorities); i++)
    {
      JsonNode *tpu = quoit_check_member (checker, json_array_get_element (priorities, i), "tpu");

      if (tpu != NULL)
        quoit_check_nodes_run (checker, &cluster, tpu, quoit_check_read_text (checker, tpu, "type"),
                               quoit_check_read_text (checker, tpu, "topology"),
                               quoit_check_member (checker, tpu, "count"));
    }
}

gboolean
quoit_check_gke_object (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  static const struct {
    const char *kind, *group;
    void (*check) (QuoitChecker *checker, JsonNode *object);
  } kinds[] = {
    { "Slice", "accelerator.gke.io", check_slice },
    { "ComputeClass", "cloud.google.com", check_compute_class },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].kind, kind) == 0 && quoit_check_is_in_group (checker, object, kinds[i].group))
      {
        kinds[i].check (checker, object);
        return TRUE;
      }
  return FALSE;
}

const QuoitCheckRule quoit_check_gke_rules[] = {
  { "slice-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "slice-partitions", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
};
