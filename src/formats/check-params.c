/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare a group's parameters for Ray with its containers and node selectors. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/quantity.h"

static void
clear_param (gpointer data)
{
  quoit_ray_params_clear (&((QuoitCheckParam *) data)->params);
}

void
quoit_check_params_clear (QuoitCheckGroup *group)
{
  g_clear_pointer (&group->params, g_array_unref);
}

static JsonNode *
group_with_one_entry (const char *map, const char *name, JsonNode *value)
{
  JsonNode *group = json_node_init_object (json_node_alloc (), NULL);
  JsonObject *outer = json_object_new (), *inner = json_object_new ();

  json_object_set_member (inner, name, json_node_ref (value));
  json_object_set_object_member (outer, map, inner);
  json_node_take_object (group, outer);
  return group;
}

/* Returns whether quoit_ray_params_read() can read the entry. In rayStartParams, Kubernetes requires that all
 * values are text, even those that quoit ignores. The values of resources and labels are checked by
 * quoit_ray_params_read(). */
static gboolean
check_readable (QuoitChecker *checker, const char *map, const char *name, JsonNode *value)
{
  const char *text;

  if (strcmp (map, "rayStartParams") == 0)
    return quoit_check_text (checker, value, name, &text);
  return !quoit_check_has_unset_variable (checker, value, name);
}

static void
read_map (QuoitChecker *checker, QuoitCheckGroup *group, const char *map)
{
  JsonNode *node = quoit_check_member (checker, group->node, map);
  g_autoptr (GList) names = NULL;

  quoit_check_member (checker, node, "");
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  names = json_object_get_members (json_node_get_object (node));
  for (GList *at = names; at != NULL; at = at->next)
    {
      QuoitCheckParam param = { quoit_tree_member (node, at->data), at->data, { NULL, NULL } };
      g_autoptr (JsonNode) one = NULL;

      if (param.node == NULL || !check_readable (checker, map, param.name, param.node))
        continue;
      one = group_with_one_entry (map, param.name, param.node);
      if (quoit_ray_params_read (&checker->manifest, one, &param.params))
        g_array_append_val (group->params, param);
      else
        {
          quoit_ray_params_clear (&param.params);
          quoit_check_report_error (checker, &quoit_check_reading_rules[QUOIT_CHECK_RULE_RAY_PARAMS], param.node,
                                    param.name, g_steal_pointer (&checker->error));
        }
    }
}

void
quoit_check_params_read (QuoitChecker *checker, QuoitCheckGroup *group)
{
  group->params = g_array_new (FALSE, FALSE, sizeof (QuoitCheckParam));
  g_array_set_clear_func (group->params, clear_param);
  read_map (checker, group, "rayStartParams");
  read_map (checker, group, "resources");
  read_map (checker, group, "labels");
}

static const QuoitCheckParam *
param_at (const QuoitCheckGroup *group, guint index)
{
  return &g_array_index (group->params, QuoitCheckParam, index);
}

static void
check_once (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  static const char *const params[] = { "num-cpus", "num-gpus", "memory", "resources" };
  JsonNode *given = quoit_tree_member (group->node, "resources");
  JsonNode *start_params = quoit_tree_member (group->node, "rayStartParams");

  (void) cluster;
  if (given == NULL || !JSON_NODE_HOLDS_OBJECT (given) || json_object_get_size (json_node_get_object (given)) == 0)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (params); i++)
    {
      JsonNode *node = quoit_tree_member (start_params, params[i]);

      if (node != NULL)
        quoit_check_report (checker, rule, node, params[i],
                            "only one of these and the group's own 'resources': KubeRay refuses both together");
    }
}

static void
check_labels_param (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                    const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (quoit_tree_member (group->node, "rayStartParams"), "labels");

  (void) cluster;
  if (node != NULL)
    quoit_check_report (checker, rule, node, "labels",
                        "the group's own field 'labels' instead: KubeRay refuses labels in rayStartParams");
}

/* A TPU resource in the manifest replaces the number of chips that Ray detects. It may count chips or JAX devices. */
static void
check_tpu (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
           const QuoitCheckGroup *group)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (group->generation);
  int64_t chips = quoit_amount_from_int (group->n_chips).e4;

  (void) cluster;
  for (guint i = 0; i < group->params->len; i++)
    {
      const int64_t *given = g_hash_table_lookup (param_at (group, i)->params.resources, "TPU");

      if (given != NULL && *given != chips && (facts == NULL || *given != chips * facts->devices_per_chip))
        quoit_check_report (checker, rule, param_at (group, i)->node, param_at (group, i)->name,
                            "TPU %" G_GINT64_FORMAT ", the chips that the containers request", group->n_chips);
    }
}

/* Reads the limit of the first container, in which Ray runs, rounded up to whole units. FALSE: no limit. */
static gboolean
read_limit (QuoitChecker *checker, const QuoitCheckGroup *group, const char *name, QuoitAmount *limit)
{
  JsonNode *container = group->containers->len == 0 ? NULL : g_ptr_array_index (group->containers, 0);
  JsonNode *limits = quoit_tree_member (quoit_tree_member (container, "resources"), "limits");

  if (!quoit_check_quantity (checker, quoit_tree_member (limits, name), name, limit))
    return FALSE;
  *limit = quoit_quantity_round_up (*limit);
  return TRUE;
}

typedef enum { MORE_THAN_LIMIT, LESS_THAN_LIMIT } Comparison;

static void
compare_with_limits (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckGroup *group, Comparison wanted)
{
  static const struct {
    const char *resource, *limit;
  } pairs[] = { { "CPU", "cpu" }, { "memory", "memory" } };

  for (guint i = 0; i < group->params->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (pairs); k++)
      {
        const QuoitCheckParam *param = param_at (group, i);
        const int64_t *given = g_hash_table_lookup (param->params.resources, pairs[k].resource);
        g_autofree char *text = NULL;
        QuoitAmount limit;

        /* An amount of 0 is usual: it keeps tasks away from the head. */
        if (given == NULL || *given == 0 || !read_limit (checker, group, pairs[k].limit, &limit)
            || (wanted == MORE_THAN_LIMIT ? *given <= limit.e4 : *given >= limit.e4))
          continue;
        text = quoit_amount_format (limit);
        if (wanted == MORE_THAN_LIMIT)
          quoit_check_report (checker, rule, param->node, param->name,
                              "at most %s, the container's limit of %s: Ray would schedule more than the container has",
                              text, pairs[k].limit);
        else
          quoit_check_report (checker, rule, param->node, param->name,
                              "%s, the container's limit of %s: Ray leaves the rest unused", text, pairs[k].limit);
      }
}

static void
check_more (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  (void) cluster;
  compare_with_limits (checker, rule, group, MORE_THAN_LIMIT);
}

static void
check_less (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  (void) cluster;
  compare_with_limits (checker, rule, group, LESS_THAN_LIMIT);
}

/* Returns whether the name is that of a resource that Ray itself adds to the hosts of a slice: TPU-<pod type>-head on
 * worker 0, or accelerator_type:TPU-<generation>. */
static gboolean
is_slice_resource (const char *resource)
{
  return g_str_has_prefix (resource, "accelerator_type:TPU-")
         || (g_str_has_prefix (resource, "TPU-") && g_str_has_suffix (resource, "-head"));
}

static void
check_slice_resource (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                      const QuoitCheckGroup *group)
{
  g_autofree char *pod_type = NULL, *head = NULL, *accelerator = NULL;
  const char *word;

  (void) cluster;
  if (!group->has_facts)
    return;
  pod_type = quoit_pod_type_format (group->generation, group->shape);
  head = g_strdup_printf ("TPU-%s-head", pod_type);
  word = quoit_generation_facts (group->generation)->ray_resource;
  accelerator = g_strdup_printf ("accelerator_type:%s", word != NULL ? word : "");
  for (guint i = 0; i < group->params->len; i++)
    {
      g_autoptr (GList) names = g_hash_table_get_keys (param_at (group, i)->params.resources);

      for (GList *at = names; at != NULL; at = at->next)
        if (is_slice_resource (at->data) && strcmp (at->data, head) != 0 && strcmp (at->data, accelerator) != 0)
          quoit_check_report (checker, rule, param_at (group, i)->node, param_at (group, i)->name,
                              "'%s' or '%s', which match the slice", head, accelerator);
    }
}

static void
check_labels (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  g_autofree char *topology = group->has_facts ? quoit_shape_format (group->shape) : NULL;
  g_autofree char *pod_type = group->has_facts ? quoit_pod_type_format (group->generation, group->shape) : NULL;
  const char *accelerator = group->has_facts ? quoit_generation_facts (group->generation)->ray_resource : NULL;
  const struct {
    const char *label, *value, *why;
  } known[] = {
    { QUOIT_RAY_LABEL_NODE_GROUP, group->name.text, "the name of the group" },
    { QUOIT_RAY_LABEL_ACCELERATOR_TYPE, accelerator, "Ray's name of the accelerator selector" },
    { QUOIT_RAY_LABEL_TOPOLOGY, topology, "the topology selector" },
    { QUOIT_RAY_LABEL_POD_TYPE, pod_type, "the pod type of accelerator and topology" },
    { QUOIT_RAY_LABEL_ZONE, group->zone.text, "the zone selector" },
    { QUOIT_RAY_LABEL_REGION, group->region.text, "the region selector" },
  };

  (void) cluster;
  for (guint i = 0; i < group->params->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (known); k++)
      {
        const QuoitCheckParam *param = param_at (group, i);
        const char *given = g_hash_table_lookup (param->params.labels, known[k].label);

        if (given != NULL && known[k].value != NULL && strcmp (given, known[k].value) != 0)
          quoit_check_report (checker, rule, param->node, param->name, "%s=%s, %s", known[k].label, known[k].value,
                              known[k].why);
      }
}

const QuoitCheckRule quoit_check_param_rules[] = {
  { "ray-resources-twice", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_once },
  { "ray-params-labels", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_labels_param },
  { "ray-tpu", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_tpu },
  { "ray-above-limit", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_more },
  { "ray-below-limit", QUOIT_SEVERITY_NOTE, QUOIT_CHECK_GROUP, check_less },
  { "ray-slice-resource", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_slice_resource },
  { "ray-label", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_labels },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
