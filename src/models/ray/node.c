/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what a starting node reports to Ray from given, detected and overriding values, and resolves conflicts
 * between them. */
#include "models/ray/ray.h"

#include <math.h>
#include <string.h>

struct _QuoitRayNode {
  QuoitRayResources *resources;
  QuoitRayLabels *labels;
};

static const double most_of_one = 100e12;

static const char *const predefined_names[] = { "CPU", "GPU", "memory", "object_store_memory", NULL };

gboolean
quoit_ray_is_predefined (const char *name)
{
  return g_strv_contains (predefined_names, name);
}

static void
take_resources (QuoitRayResources *into, const QuoitRayResources *from)
{
  const char *name;

  for (unsigned i = 0; from != NULL && (name = quoit_ray_resources_get_name (from, i)) != NULL; i++)
    quoit_ray_resources_set (into, name, quoit_ray_resources_get_amount (from, i));
}

static void
take_labels (QuoitRayLabels *into, const QuoitRayLabels *from)
{
  const char *key;

  for (unsigned i = 0; from != NULL && (key = quoit_ray_labels_get_key (from, i)) != NULL; i++)
    quoit_ray_labels_set (into, key, quoit_ray_labels_get_value (from, i));
}

static QuoitRayResources *
custom_of (const QuoitRayStart *start, GError **error)
{
  g_autoptr (QuoitRayResources) custom = quoit_ray_resources_copy (start->custom);
  g_autofree char *address = g_strconcat ("node:", start->address, NULL);
  const char *name;

  for (unsigned i = 0; start->override != NULL && (name = quoit_ray_resources_get_name (start->override, i)) != NULL;
       i++)
    if (!quoit_ray_is_predefined (name))
      quoit_ray_resources_set (custom, name, quoit_ray_resources_get_amount (start->override, i));
  quoit_ray_resources_set (custom, address, 1);
  if (quoit_ray_resources_find (custom, "node:__internal_head__") != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "resource 'node:__internal_head__': expected another name, this one is Ray's own");

  return g_steal_pointer (&custom);
}

/* Computes the chips that the node offers: the given number, or else the detected chips, limited to the visible
 * ones. FALSE on failure. */
static gboolean
count_chips (const QuoitRayStart *start, const QuoitRayResources *custom, double *n_chips, GError **error)
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
                       "resource 'TPU' '%.17g': expected at most the %u of TPU_VISIBLE_CHIPS", *n_chips,
                       g_strv_length (visible));

  *n_chips = g_strv_length (visible);
  return TRUE;
}

static void
take_host (QuoitRayResources *custom, QuoitRayLabels *labels, const QuoitRayHost *host, double n_chips)
{
  const char *type = quoit_ray_host_get_accelerator_type (host);

  quoit_ray_resources_set (custom, "TPU", n_chips);
  if (type != NULL)
    {
      g_autofree char *resource = g_strconcat ("accelerator_type:", type, NULL);

      quoit_ray_resources_set (custom, resource, 1);
      quoit_ray_labels_set (labels, "ray.io/accelerator-type", type);
    }
  take_resources (custom, quoit_ray_host_get_resources (host));
  take_labels (labels, quoit_ray_host_get_labels (host));
}

static void
take_default_labels (QuoitRayLabels *labels, const char *const *env)
{
  static const struct {
    const char *variable, *key;
  } rows[] = {
    { "RAY_NODE_MARKET_TYPE", "ray.io/market-type" },
    { "RAY_NODE_TYPE_NAME", "ray.io/node-group" },
    { "RAY_NODE_ZONE", "ray.io/availability-zone" },
    { "RAY_NODE_REGION", "ray.io/availability-region" },
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

  if (amount >= 0 && amount <= most_of_one && amount == floor (amount))
    return TRUE;

  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "resource %s '%.17g': expected a whole number of 0 to 100000000000000",
                     quoted, amount);
}

/* The options for predefined resources override custom resources of the same names. Amounts of 0 are left out. NULL
 * on failure. */
static QuoitRayResources *
close_resources (const QuoitRayStart *start, QuoitRayResources *all, GError **error)
{
  g_autoptr (QuoitRayResources) closed = quoit_ray_resources_new ();
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
        quoit_ray_resources_set (closed, name, amount);
    }
  return g_steal_pointer (&closed);
}

QuoitRayNode *
quoit_ray_node_resolve (const QuoitRayStart *start, GError **error)
{
  g_autoptr (QuoitRayResources) custom = custom_of (start, error), resources = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  QuoitRayNode *node;
  double n_chips;

  if (custom == NULL || !count_chips (start, custom, &n_chips, error))
    return NULL;

  take_default_labels (labels, start->env);
  if (n_chips > 0)
    {
      g_autoptr (QuoitRayHost) host = quoit_ray_host_new (start->env, start->metadata);

      take_host (custom, labels, host, n_chips);
    }
  resources = close_resources (start, custom, error);
  if (resources == NULL)
    return NULL;

  take_labels (labels, start->labels);
  take_labels (labels, start->override_labels);
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
