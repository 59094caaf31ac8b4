/* SPDX-License-Identifier: Apache-2.0 */
#include "decimal.h"
#include "fleet-view.h"
#include "group-names.h"
#include "group-view.h"
#include "resource-view.h"
#include "verbs.h"

static const Column label_columns[] = {
  { "key", "LABEL", CELL_TEXT },
  { "value", "VALUE", CELL_TEXT },
};

/* The labels to show: those that decide where a job can run. The library has no list of all labels, only a lookup by
 * key. */
static const char *const label_keys[] = {
  "cloud.google.com/gce-topology-block",
  "cloud.google.com/gce-topology-host",
  "cloud.google.com/gce-topology-subblock",
  "cloud.google.com/gke-accelerator-count",
  "cloud.google.com/gke-nodepool",
  "cloud.google.com/gke-preemptible",
  "cloud.google.com/gke-provisioning",
  "cloud.google.com/gke-spot",
  "cloud.google.com/gke-tpu-accelerator",
  "cloud.google.com/gke-tpu-slice",
  "cloud.google.com/gke-tpu-topology",
  "cloud.google.com/reservation-blocks",
  "cloud.google.com/reservation-name",
  "cloud.google.com/reservation-project",
  "cloud.google.com/reservation-subblocks",
  "node.kubernetes.io/instance-type",
  "ray.io/accelerator-type",
  "ray.io/availability-region",
  "ray.io/availability-zone",
  "ray.io/market-type",
  "ray.io/node-group",
  "ray.io/node-id",
  "ray.io/tpu-pod-type",
  "ray.io/tpu-slice-name",
  "ray.io/tpu-topology",
  "ray.io/tpu-worker-id",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
};

static Table *
node_labels (const QuoitSnapshot *snapshot, uint32_t node)
{
  Table *labels = table_new (label_columns, G_N_ELEMENTS (label_columns));

  for (guint i = 0; i < G_N_ELEMENTS (label_keys); i++)
    {
      char *value = quoit_snapshot_dup_node_label (snapshot, node, label_keys[i]);

      if (value == NULL)
        continue;
      table_add_text (labels, label_keys[i]);
      table_take_text (labels, value);
    }
  return labels;
}

static Table *
node_resources (const QuoitSnapshot *snapshot, uint32_t node)
{
  Table *resources = resources_table ();

  for (uint32_t i = 0; i < quoit_snapshot_get_node_n_resources (snapshot, node); i++)
    {
      const QuoitAmount total = quoit_snapshot_get_node_amount (snapshot, node, i, QUOIT_AMOUNT_TOTAL);
      const QuoitAmount used = { quoit_snapshot_get_node_amount (snapshot, node, i, QUOIT_AMOUNT_HELD).e4
                                 + quoit_snapshot_get_node_amount (snapshot, node, i, QUOIT_AMOUNT_RESERVED).e4
                                 + quoit_snapshot_get_node_amount (snapshot, node, i, QUOIT_AMOUNT_EXTERNAL).e4
                                 + quoit_snapshot_get_node_amount (snapshot, node, i, QUOIT_AMOUNT_LOST).e4 };

      resources_take (resources, quoit_snapshot_get_node_resource_name (snapshot, node, i), quoit_amount_format (used),
                      quoit_amount_format (total));
    }
  return resources;
}

static void
show_node (Document *document, const QuoitSnapshot *snapshot, uint32_t node)
{
  document_take_object (document, "node", NULL, node_facts (snapshot, node));
  document_take_table (document, "resources", "resources", node_resources (snapshot, node));
  document_take_map (document, "labels", "labels", node_labels (snapshot, node));
}

static void
show_slice (Document *document, const QuoitSnapshot *snapshot, uint32_t slice)
{
  document_take_object (document, "slice", NULL, slice_facts (snapshot, slice));
  document_take_table (document, "nodes", "nodes", slice_nodes (snapshot, slice));
}

/* Keeps the first failure of a lookup, other than NOT_FOUND, for the case that nothing has the name. Takes @why. */
static void
note_error (GError **first, GError *why)
{
  if (*first != NULL || g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    g_error_free (why);
  else
    *first = why;
}

/* Describes everything with that name, because a group can have the name of a slice. Adds the kinds of the described
 * objects to @found: "group", "slice", "node". */
static bool
describe (Document *document, const QuoitSnapshot *snapshot, const char *name, GPtrArray *found, GError **error)
{
  g_autoptr (GError) first_error = NULL;
  GError *why = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  uint32_t node, slice;

  /* A group's name has no '/'. */
  if (strchr (name, '/') == NULL)
    {
      group = group_find (snapshot, name, &why);
      if (group != NULL)
        g_ptr_array_add (found, (char *) "group"), describe_group (document, snapshot, group);
      else
        note_error (&first_error, g_steal_pointer (&why));
    }
  if (quoit_snapshot_lookup_slice (snapshot, name, &slice, &why))
    g_ptr_array_add (found, (char *) "slice"), show_slice (document, snapshot, slice);
  else
    note_error (&first_error, g_steal_pointer (&why));
  if (quoit_snapshot_lookup_node (snapshot, name, &node, &why))
    g_ptr_array_add (found, (char *) "node"), show_node (document, snapshot, node);
  else
    note_error (&first_error, g_steal_pointer (&why));

  if (found->len > 0)
    return true;
  if (first_error != NULL)
    g_propagate_error (error, g_steal_pointer (&first_error));
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "'%s': expected the name of a node, slice or group", name);
  return false;
}

/* -o csv prints one table, so the name must match only one object. */
static bool
check_single (const GPtrArray *found, const char *name, GError **error)
{
  if (found->len == 1)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "'%s' is the name of a %s and of a %s, but csv can show only one: expected NAME@ID or source/pool/name",
               name, (const char *) found->pdata[0], (const char *) found->pdata[1]);
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (Document) document = document_new ();
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL || !describe (document, snapshot, session->words[0], found, error)
      || (session_wants_csv (session) && !check_single (found, session->words[0], error)))
    return false;
  return session_print (session, g_steal_pointer (&document), error);
}

const Verb verb_show = {
  "show",
  "NAME",
  "show everything about a node, slice or group",
  "NAME is a short name, a full name (source/pool/name), or a group's NAME@ID. A released group is found\n"
  "only if it had a request key, until it is forgotten. -o csv prints only rows: the bundles of a group of bundles, "
  "the workers of\n"
  "any other group, the nodes of a slice, or the resources of a node.",
  1,
  1,
  run,
};
