/* SPDX-License-Identifier: Apache-2.0 */
/* Placement of groups, compared with recorded answers of Ray's GCS. If Ray chooses at random, both answers must be
   possible by the rules; otherwise they must be equal. */
#include "placement.h"

#include <string.h>

enum { BUDGET = 20000 }; /* attempts, for answers without nodes */

static const char *const results[]
    = { [QUOIT_RAY_SUCCESS] = "SUCCESS", [QUOIT_RAY_FAILED] = "FAILED", [QUOIT_RAY_INFEASIBLE] = "INFEASIBLE" };

/* --- reading --- */

static gboolean
read_stocks (JsonObject *row, QuoitRayCluster *cluster, guint32 node, GError **error)
{
  JsonObject *total = json_object_get_object_member (row, "total");
  JsonObject *free = json_object_has_member (row, "avail") ? json_object_get_object_member (row, "avail") : total;
  g_autoptr (GList) names = json_object_get_members (total);

  for (GList *name = names; name != NULL; name = name->next)
    if (!quoit_ray_cluster_set_resource_e4 (cluster, node, name->data, json_object_get_int_member (total, name->data),
                                            json_object_get_int_member_with_default (free, name->data, 0), error))
      return FALSE;
  return TRUE;
}

static gboolean
read_node (JsonObject *row, QuoitRayCluster *cluster, GError **error)
{
  guint32 node = quoit_ray_cluster_get_n_nodes (cluster);
  g_autoptr (GList) keys = NULL;

  if (!quoit_ray_cluster_add_node (cluster, json_object_get_string_member (row, "id"), error)
      || !read_stocks (row, cluster, node, error))
    return FALSE;
  if (!json_object_has_member (row, "labels"))
    return TRUE;
  keys = json_object_get_members (json_object_get_object_member (row, "labels"));
  for (GList *key = keys; key != NULL; key = key->next)
    quoit_ray_cluster_set_label (
        cluster, node, key->data,
        json_object_get_string_member (json_object_get_object_member (row, "labels"), key->data));
  return TRUE;
}

static QuoitRayCluster *
read_cluster (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRayCluster) cluster = quoit_ray_cluster_new ();
  JsonArray *nodes = json_object_get_array_member (in, "nodes");

  for (unsigned n = 0; n < json_array_get_length (nodes); n++)
    if (!read_node (json_array_get_object_element (nodes, n), cluster, error))
      return NULL;
  return g_steal_pointer (&cluster);
}

static gboolean
read_standing (JsonObject *in, QuoitRayGroup *group, GError **error)
{
  const char *label, *bound, *soft_target, *name;
  QuoitStrategy strategy;

  if (!vector_text (in, "strategy", &name, error) || !vector_text (in, "topology", &label, error)
      || !vector_text (in, "pinned", &bound, error) || !vector_text (in, "soft_target", &soft_target, error)
      || !quoit_ray_strategy_parse (name, &strategy, error))
    return FALSE;
  quoit_ray_group_add_topology (group, "ray.io/node-id", strategy);
  if (label != NULL)
    quoit_ray_group_add_topology (group, label, QUOIT_STRATEGY_STRICT_PACK);
  quoit_ray_group_bind (group, bound);
  quoit_ray_group_set_soft_target (group, soft_target);
  return TRUE;
}

static QuoitRayGroup *
read_group (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  JsonArray *excluded = json_object_has_member (in, "exclude") ? json_object_get_array_member (in, "exclude") : NULL;

  for (unsigned i = 0; excluded != NULL && i < json_array_get_length (excluded); i++)
    quoit_ray_group_exclude (group, json_array_get_string_element (excluded, i));
  if (!vector_bundles (json_object_get_member (in, "bundles"), group, error)
      || !vector_selectors (json_object_get_member (in, "selectors"), group, error)
      || !read_standing (in, group, error))
    return NULL;
  return g_steal_pointer (&group);
}

/* --- answers --- */

typedef struct {
  QuoitRayResult result;
  guint32 *nodes; /* NULL unless placement succeeded */
} Answer;

static void
answer_clear (Answer *answer)
{
  g_free (answer->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answer, answer_clear)

static gboolean
read_answer (JsonObject *object, const QuoitRayGroup *group, Answer *answer, GError **error)
{
  const char *result = json_object_get_string_member (object, "result");
  JsonNode *nodes = json_object_get_member (object, "nodes");
  guint32 n = quoit_ray_group_get_n_bundles (group);

  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    if (strcmp (result, results[i]) == 0)
      {
        answer->result = (QuoitRayResult) i;
        if (i != QUOIT_RAY_SUCCESS)
          return TRUE;
        if (!JSON_NODE_HOLDS_ARRAY (nodes) || json_array_get_length (json_node_get_array (nodes)) != n)
          break;
        answer->nodes = g_new (guint32, n);
        for (guint32 b = 0; b < n; b++)
          answer->nodes[b] = (guint32) json_array_get_int_element (json_node_get_array (nodes), b);
        return TRUE;
      }
  return quoit_fail (error, QUOIT_ERROR_FAILED, "'%s' is recorded, with other nodes than bundles", result);
}

static char *
text_of (const Answer *answer, const QuoitRayGroup *group)
{
  GString *text = g_string_new (results[answer->result]);

  for (guint32 b = 0; answer->nodes != NULL && b < quoit_ray_group_get_n_bundles (group); b++)
    g_string_append_printf (text, " %u", answer->nodes[b]);
  return g_string_free (text, FALSE);
}

static gboolean
check_possible (const QuoitRayGroup *group, const QuoitRayCluster *cluster, const Answer *answer, const char *whose,
                GError **error)
{
  g_autofree char *text = NULL;
  QuoitRayCertainty possible;

  if (!quoit_ray_group_is_possible (group, cluster, answer->result, answer->nodes, BUDGET, &possible, error))
    return FALSE;
  if (possible == QUOIT_RAY_YES)
    return TRUE;
  text = text_of (answer, group);
  return quoit_fail (error, QUOIT_ERROR_FAILED, "%s answer '%s' is %s", whose, text,
                     possible == QUOIT_RAY_NO ? "not possible" : "not known to be possible");
}

static gboolean
ask (const QuoitRayGroup *group, const QuoitRayCluster *cluster, Answer *ours, GError **error)
{
  guint32 n = quoit_ray_group_get_n_bundles (group);
  g_autofree guint32 *nodes = g_new (guint32, n);

  if (!quoit_ray_group_place (group, cluster, &ours->result, nodes, error))
    return FALSE;
  if (ours->result == QUOIT_RAY_SUCCESS)
    ours->nodes = g_steal_pointer (&nodes);
  return check_possible (group, cluster, ours, "our", error);
}

static gboolean
check_same (const QuoitRayGroup *group, const Answer *ours, const Answer *theirs, GError **error)
{
  g_autofree char *a = text_of (ours, group), *b = text_of (theirs, group);

  return strcmp (a, b) == 0 || quoit_fail (error, QUOIT_ERROR_FAILED, "'%s' where Ray says '%s'", a, b);
}

/* "possible" is the number of possible answers. It is not a number if the count was stopped. */
static gboolean
check_determined (const QuoitRayGroup *group, const QuoitRayCluster *cluster, JsonObject *out, GError **error)
{
  QuoitRayCertainty whether,
      expected = json_object_get_boolean_member (out, "deterministic") ? QUOIT_RAY_YES : QUOIT_RAY_NO;
  double possible;

  if (expected == QUOIT_RAY_NO && !vector_number (json_object_get_member (out, "possible"), &possible))
    return TRUE;
  if (!quoit_ray_group_is_determined (group, cluster, BUDGET, &whether, error))
    return FALSE;
  return whether == expected
         || quoit_fail (error, QUOIT_ERROR_FAILED, "determined is %u, expected %u", (guint) whether, (guint) expected);
}

/* --- ops --- */

static gboolean
agrees (JsonObject *in, JsonObject *out, GError **error)
{
  gboolean is_determined = json_object_get_boolean_member (out, "deterministic");
  JsonArray *answers = json_object_get_array_member (out, "answers");
  g_autoptr (QuoitRayCluster) cluster = read_cluster (in, error);
  g_autoptr (QuoitRayGroup) group = cluster != NULL ? read_group (in, error) : NULL;
  g_auto (Answer) ours = { .nodes = NULL };

  if (group == NULL || !ask (group, cluster, &ours, error) || !check_determined (group, cluster, out, error))
    return FALSE;
  for (unsigned i = 0; i < json_array_get_length (answers); i++)
    {
      g_auto (Answer) theirs = { .nodes = NULL };

      if (!read_answer (json_array_get_object_element (answers, i), group, &theirs, error)
          || !check_possible (group, cluster, &theirs, "Ray's", error)
          || (is_determined && !check_same (group, &ours, &theirs, error)))
        return FALSE;
    }
  return TRUE;
}

static JsonNode *
place (JsonNode *in, GError **error)
{
  JsonNode *recorded = vector_recorded (in);

  if (recorded == NULL || !JSON_NODE_HOLDS_OBJECT (recorded))
    return quoit_fail (error, QUOIT_ERROR_FAILED, "no answers are recorded"), NULL;
  return agrees (json_node_get_object (in), json_node_get_object (recorded), error) ? json_node_copy (recorded) : NULL;
}

/* A placement of one step, kept until another step removes it. */
typedef struct {
  QuoitRayGroup *group;
  Answer answer;
} PlacedGroup;

static void
placed_clear (gpointer data)
{
  PlacedGroup *placed = data;

  quoit_ray_group_free (placed->group);
  answer_clear (&placed->answer);
}

/* The next step starts from Ray's answer, not from ours. */
static gboolean
take_step (JsonObject *step, QuoitRayCluster *cluster, PlacedGroup *placed, GError **error)
{
  g_auto (Answer) ours = { .nodes = NULL };

  placed->group = read_group (step, error);
  if (placed->group == NULL || !ask (placed->group, cluster, &ours, error)
      || !read_answer (json_object_get_object_member (step, "answer"), placed->group, &placed->answer, error)
      || !check_possible (placed->group, cluster, &placed->answer, "Ray's", error))
    return FALSE;
  return placed->answer.nodes == NULL
         || quoit_ray_cluster_allocate (cluster, placed->group, placed->answer.nodes, error);
}

static gboolean
remove_step (JsonObject *step, QuoitRayCluster *cluster, const GArray *steps, GError **error)
{
  JsonNode *pg = json_object_get_member (step, "pg");
  const PlacedGroup *placed;

  if (JSON_NODE_HOLDS_NULL (pg))
    return TRUE;
  placed = &g_array_index (steps, PlacedGroup, json_node_get_int (pg));
  return quoit_ray_cluster_deallocate (cluster, placed->group, placed->answer.nodes, error);
}

static JsonNode *
sequence (JsonNode *in, GError **error)
{
  JsonArray *list = json_object_get_array_member (json_node_get_object (in), "steps");
  g_autoptr (QuoitRayCluster) cluster = read_cluster (json_node_get_object (in), error);
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (PlacedGroup));

  g_array_set_clear_func (steps, placed_clear);
  for (unsigned i = 0; cluster != NULL && i < json_array_get_length (list); i++)
    {
      JsonObject *step = json_array_get_object_element (list, i);
      gboolean removes = strcmp (json_object_get_string_member (step, "op"), "remove") == 0;

      g_array_set_size (steps, i + 1);
      if (!(removes ? remove_step (step, cluster, steps, error)
                    : take_step (step, cluster, &g_array_index (steps, PlacedGroup, i), error)))
        {
          g_prefix_error (error, "step %u: ", i);
          return NULL;
        }
    }
  return cluster != NULL ? json_node_copy (vector_recorded (in)) : NULL;
}

static const VectorOp place_ops[] = {
  { "place", place, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp sequence_ops[] = {
  { "sequence", sequence, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const place_tables[] = { place_ops, NULL };
static const VectorOp *const sequence_tables[] = { sequence_ops, NULL };

const VectorSuite vector_suite_placement = { "placement", place_tables };
const VectorSuite vector_suite_placement_seq = { "placement-seq", sequence_tables };
