/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the resources and labels that a starting node reports to Ray, from its options, its environment and the
 * detected chips. */
#include "models/ray/ray.h"

#include <math.h>
#include <string.h>

#include "base/label-names.h"

struct _QuoitRayNode {
  QuoitRayResources *resources;
  QuoitRayLabels *labels;
};

static const double max_amount = 100e12; /* of one resource */

static const char *const predefined_names[] = { "CPU", "GPU", "memory", "object_store_memory", NULL };

gboolean
quoit_ray_is_predefined (const char *name)
{
  return g_strv_contains (predefined_names, name);
}

static void
add_resources (QuoitRayResources *target, const QuoitRayResources *from)
{
  const char *name;

  for (unsigned i = 0; from != NULL && (name = quoit_ray_resources_get_name (from, i)) != NULL; i++)
    quoit_ray_resources_set (target, name, quoit_ray_resources_get_amount (from, i));
}

static void
add_labels (QuoitRayLabels *target, const QuoitRayLabels *from)
{
  const char *key;

  for (unsigned i = 0; from != NULL && (key = quoit_ray_labels_get_key (from, i)) != NULL; i++)
    quoit_ray_labels_set (target, key, quoit_ray_labels_get_value (from, i));
}

static QuoitRayResources *
new_custom_resources (const QuoitRayNodeStart *start, GError **error)
{
  g_autoptr (QuoitRayResources) custom = quoit_ray_resources_copy (start->custom);
  g_autofree char *address = g_strconcat ("node:", start->address, NULL);
  const char *name;

  for (unsigned i = 0; start->override != NULL && (name = quoit_ray_resources_get_name (start->override, i)) != NULL;
       i++)
    if (!quoit_ray_is_predefined (name))
      quoit_ray_resources_set (custom, name, quoit_ray_resources_get_amount (start->override, i));
  quoit_ray_resources_set (custom, address, 1);
  if (quoit_ray_resources_find (custom, QUOIT_RAY_HEAD_RESOURCE) != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "resource '" QUOIT_RAY_HEAD_RESOURCE "': expected a name that Ray does not use itself");

  return g_steal_pointer (&custom);
}

/* Computes the number of chips that the node offers: the given number, or else the number of detected chips, but no
 * more than are visible. Fails if the given number is larger than the number of visible chips. */
static gboolean
count_chips (const QuoitRayNodeStart *start, const QuoitRayResources *custom, double *n_chips, GError **error)
{
  const double *given = quoit_ray_resources_find (custom, "TPU");
  g_autoptr (GError) refused = NULL;
  g_auto (GStrv) visible = NULL;

  *n_chips = given != NULL ? *given : (double) start->n_chips;
  if (given != NULL && !(*given > 0))
    return TRUE;
  visible = quoit_ray_visible_ids (start->env, &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), FALSE;

  if (visible == NULL || *n_chips <= g_strv_length (visible))
    return TRUE;
  if (given != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "resource 'TPU' '%.17g': expected at most %u, as many as TPU_VISIBLE_CHIPS lists", *n_chips,
                       g_strv_length (visible));

  *n_chips = g_strv_length (visible);
  return TRUE;
}

static void
add_host_facts (QuoitRayResources *custom, QuoitRayLabels *labels, const QuoitRayHost *host, double n_chips)
{
  const char *type = quoit_ray_host_get_accelerator_type (host);

  quoit_ray_resources_set (custom, "TPU", n_chips);
  if (type != NULL)
    {
      g_autofree char *resource = g_strconcat ("accelerator_type:", type, NULL);

      quoit_ray_resources_set (custom, resource, 1);
      quoit_ray_labels_set (labels, QUOIT_RAY_LABEL_ACCELERATOR_TYPE, type);
    }
  add_resources (custom, quoit_ray_host_get_resources (host));
  add_labels (labels, quoit_ray_host_get_labels (host));
}

static void
add_default_labels (QuoitRayLabels *labels, const char *const *env)
{
  static const struct {
    const char *variable, *key;
  } rows[] = {
    { "RAY_NODE_MARKET_TYPE", QUOIT_RAY_LABEL_MARKET_TYPE },
    { "RAY_NODE_TYPE_NAME", QUOIT_RAY_LABEL_NODE_GROUP },
    { "RAY_NODE_ZONE", QUOIT_RAY_LABEL_ZONE },
    { "RAY_NODE_REGION", QUOIT_RAY_LABEL_REGION },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *value = g_environ_getenv ((char **) env, rows[i].variable);

      if (value != NULL && *value != '\0')
        quoit_ray_labels_set (labels, rows[i].key, value);
    }
}

static gboolean
check_amount (const char *name, double amount, GError **error)
{
  g_autofree char *quoted = NULL;

  if (amount >= 0 && amount <= max_amount && amount == floor (amount))
    return TRUE;

  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "resource %s '%.17g': expected a whole number of 0 to 100000000000000",
                     quoted, amount);
}

/* Returns all resources: @all, and the options for predefined resources, which override resources of the same names in
 * @all. Amounts of 0 are omitted. Returns NULL if an amount is invalid. */
static QuoitRayResources *
finish_resources (const QuoitRayNodeStart *start, QuoitRayResources *all, GError **error)
{
  g_autoptr (QuoitRayResources) finished = quoit_ray_resources_new ();
  const char *name;

  for (unsigned i = 0; predefined_names[i] != NULL; i++)
    {
      const double *override = quoit_ray_resources_find (start->override, predefined_names[i]);
      const double *given = quoit_ray_resources_find (start->predefined, predefined_names[i]);
      double amount = override != NULL ? *override : given != NULL ? *given : 0;

      quoit_ray_resources_set (all, predefined_names[i],
                               g_str_has_suffix (predefined_names[i], "memory") ? trunc (amount) : amount);
    }
  for (unsigned i = 0; (name = quoit_ray_resources_get_name (all, i)) != NULL; i++)
    {
      double amount = quoit_ray_resources_get_amount (all, i);

      if (!check_amount (name, amount, error))
        return NULL;
      if (amount != 0)
        quoit_ray_resources_set (finished, name, amount);
    }
  return g_steal_pointer (&finished);
}

QuoitRayNode *
quoit_ray_node_resolve (const QuoitRayNodeStart *start, GError **error)
{
  g_autoptr (QuoitRayResources) custom = new_custom_resources (start, error), resources = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  QuoitRayNode *node;
  double n_chips;

  if (custom == NULL || !count_chips (start, custom, &n_chips, error))
    return NULL;

  add_default_labels (labels, start->env);
  if (n_chips > 0)
    {
      g_autoptr (QuoitRayHost) host = quoit_ray_host_new (start->env, start->metadata);

      add_host_facts (custom, labels, host, n_chips);
    }
  resources = finish_resources (start, custom, error);
  if (resources == NULL)
    return NULL;

  add_labels (labels, start->labels);
  add_labels (labels, start->override_labels);
  node = g_new (QuoitRayNode, 1);
  node->resources = g_steal_pointer (&resources);
  node->labels = g_steal_pointer (&labels);
  return node;
}

void
quoit_ray_node_free (QuoitRayNode *node)
{
  if (node == NULL)
    return;

  quoit_ray_resources_free (node->resources);
  quoit_ray_labels_free (node->labels);
  g_free (node);
}

const QuoitRayResources *
quoit_ray_node_get_resources (const QuoitRayNode *node)
{
  return node->resources;
}

const QuoitRayLabels *
quoit_ray_node_get_labels (const QuoitRayNode *node)
{
  return node->labels;
}
