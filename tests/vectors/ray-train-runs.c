/* SPDX-License-Identifier: Apache-2.0 */
/* Ray Train runs: ranks, environments, failures. */
#include <string.h>

#include <quoit/models/ray-train.h>

#include "ray-nodes.h"

static const struct {
  const char *name;
  QuoitRayFailureKind kind;
} failure_kinds[] = {
  { "worker", QUOIT_RAY_FAILURE_WORKER },
  { "startup_failed", QUOIT_RAY_FAILURE_STARTUP_FAILED },
  { "startup_timeout", QUOIT_RAY_FAILURE_STARTUP_TIMEOUT },
  { "preemption", QUOIT_RAY_FAILURE_PREEMPTION },
  { "controller_other", QUOIT_RAY_FAILURE_CONTROLLER },
};

static void
decide (QuoitRayFailures *failures, QuoitRayFailureKind kind, JsonArray *decisions)
{
  json_array_add_string_element (decisions, quoit_ray_failures_retries (failures, kind) ? "RETRY" : "RAISE");
}

static gboolean
decide_by_name (QuoitRayFailures *failures, const char *name, JsonArray *decisions, GError **error)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (failure_kinds); i++)
    if (g_strcmp0 (failure_kinds[i].name, name) == 0)
      return decide (failures, failure_kinds[i].kind, decisions), TRUE;

  return vector_skip (error, "a failure of another name");
}

static QuoitRayFailures *
read_limits (JsonObject *config, GError **error)
{
  static const char *const names[] = { "max_failures", "controller_failure_limit", "max_preemption_failures" };
  int64_t limits[] = { 0, -1, -1 };

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const gint64 *given;
      gint64 value;

      if (!vector_integer (config, names[i], &value, &given, error))
        return NULL;
      if (given != NULL)
        limits[i] = *given;
    }
  return quoit_ray_failures_new (limits[0], limits[1], limits[2]);
}

/* Decides on each of the named errors, or on a number of worker failures. */
static JsonNode *
decide_failures (JsonNode *in, GError **error)
{
  static const char *const members[] = { "failure_config", "errors", "max_failures", "failures", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayFailures) failures = NULL;
  g_autoptr (JsonArray) decisions = json_array_new ();
  g_autoptr (JsonObject) answer = json_object_new ();
  JsonArray *errors;

  if (object == NULL)
    return NULL;
  if (json_object_has_member (object, "failures"))
    {
      failures = read_limits (object, error);
      for (gint64 i = json_object_get_int_member (object, "failures"); failures != NULL && i > 0; i--)
        decide (failures, QUOIT_RAY_FAILURE_WORKER, decisions);
      json_object_set_array_member (answer, "decisions", json_array_ref (decisions));
      return failures != NULL ? json_node_init_object (json_node_alloc (), answer) : NULL;
    }
  failures = read_limits (json_object_get_object_member (object, "failure_config"), error);
  errors = json_object_get_array_member (object, "errors");
  for (unsigned i = 0; failures != NULL && i < json_array_get_length (errors); i++)
    if (!decide_by_name (failures, json_array_get_string_element (errors, i), decisions, error))
      return NULL;
  return failures != NULL ? json_node_init_array (json_node_alloc (), decisions) : NULL;
}

/* The elements of an array, borrowed; an element is NULL if it is null. */
static const char **
read_texts (JsonObject *in, const char *member, unsigned *n, GError **error)
{
  JsonNode *node = json_object_get_member (in, member);
  const char **texts;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes texts"), NULL;

  *n = json_array_get_length (json_node_get_array (node));
  texts = g_new0 (const char *, *n + 1);
  for (unsigned i = 0; i < *n; i++)
    if (!json_array_get_null_element (json_node_get_array (node), i))
      texts[i] = json_array_get_string_element (json_node_get_array (node), i);
  return texts;
}

static JsonNode *
rank_by_node (JsonNode *in, GError **error)
{
  static const char *const members[] = { "node_ids", "first_id", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayRanks) ranks = NULL;
  g_autoptr (JsonObject) answer = json_object_new ();
  g_autofree const char **ids = NULL;
  JsonArray *order;
  const char *first;
  unsigned n;

  if (object == NULL || !vector_text (object, "first_id", &first, error))
    return NULL;
  ids = read_texts (object, "node_ids", &n, error);
  if (ids == NULL)
    return NULL;

  ranks = quoit_ray_ranks_new_by_node (ids, NULL, first, n);
  order = json_array_new ();
  for (unsigned rank = 0; rank < n; rank++)
    json_array_add_string_element (order, ids[quoit_ray_ranks_get_worker (ranks, rank)]);
  json_object_set_array_member (answer, "order", order);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
rank_by_slice (JsonNode *in, GError **error)
{
  static const char *const members[] = { "pod_names_in_actor_order", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayRanks) ranks = NULL;
  g_autoptr (JsonObject) answer = json_object_new ();
  g_autofree const char **names = NULL, **nodes = NULL;
  JsonArray *order;
  unsigned n;

  names = object != NULL ? read_texts (object, "pod_names_in_actor_order", &n, error) : NULL;
  if (names == NULL)
    return NULL;

  nodes = g_new (const char *, n + 1);
  for (unsigned i = 0; i < n; i++)
    nodes[i] = "10.0.0.1";
  ranks = quoit_ray_ranks_new_by_slice (names, nodes, n);
  order = json_array_new ();
  for (unsigned rank = 0; rank < n; rank++)
    json_array_add_int_element (order, quoit_ray_ranks_get_worker (ranks, rank));
  json_object_set_array_member (answer, "actor_index_by_rank", order);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
slice_ids (JsonNode *in, GError **error)
{
  static const char *const members[] = { "num_workers", "workers_per_slice", "num_slices", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (JsonObject) answer = json_object_new ();
  const gint64 *given[3];
  gint64 n_workers, per_slice, n_slices;
  JsonArray *ids;

  if (object == NULL || !vector_integer (object, "num_workers", &n_workers, &given[0], error)
      || !vector_integer (object, "workers_per_slice", &per_slice, &given[1], error)
      || !vector_integer (object, "num_slices", &n_slices, &given[2], error))
    return NULL;
  if (given[0] == NULL || given[1] == NULL || given[2] == NULL)
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;

  ids = json_array_new ();
  for (gint64 rank = 0; rank < n_workers; rank++)
    json_array_add_int_element (ids, quoit_ray_train_slice_id (rank, per_slice, n_slices));
  json_object_set_array_member (answer, "slice_ids", ids);
  return json_node_init_object (json_node_alloc (), answer);
}

static void
set_variable (JsonObject *answer, char **env, const char *name)
{
  const char *value = g_environ_getenv (env, name);

  if (value != NULL)
    json_object_set_string_member (answer, name, value);
  else
    json_object_set_null_member (answer, name);
}

/* The number of each slice, which all its workers share. Rows without names use "slice-A" and on. */
static void
set_slice_ids (JsonObject *answer, JsonObject *in, JsonArray *id_of_rank, int64_t n_slices)
{
  JsonArray *names = json_object_has_member (in, "slices") ? json_object_get_array_member (in, "slices") : NULL;
  JsonObject *ids = json_object_new ();
  unsigned n = json_array_get_length (id_of_rank);

  for (int64_t slice = 0; slice < n_slices; slice++)
    {
      g_autofree char *made_up = g_strdup_printf ("slice-%c", (char) ('A' + slice));

      json_object_set_string_member (ids,
                                     names != NULL ? json_array_get_string_element (names, (guint) slice) : made_up,
                                     json_array_get_string_element (id_of_rank, (guint) (slice * n / n_slices)));
    }
  json_object_set_object_member (answer, "MEGASCALE_SLICE_ID", ids);
}

static char **
read_env (JsonObject *in)
{
  g_autoptr (GStrvBuilder) env = g_strv_builder_new ();
  JsonObject *before
      = json_object_has_member (in, "worker_env") ? json_object_get_object_member (in, "worker_env") : NULL;
  g_autoptr (GList) names = before != NULL ? json_object_get_members (before) : NULL;

  for (GList *n = names; n != NULL; n = n->next)
    {
      g_autofree char *variable
          = g_strdup_printf ("%s=%s", (const char *) n->data, json_object_get_string_member (before, n->data));

      g_strv_builder_add (env, variable);
    }
  return g_strv_builder_end (env);
}

static JsonNode *
jax_environment (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "topology", "accelerator_type", "num_workers", "slices", "worker_env", "resources_per_worker", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayResources) per_worker = NULL;
  g_autoptr (JsonObject) answer = json_object_new ();
  g_auto (GStrv) before = NULL;
  const char *topology, *type;
  const gint64 *given;
  gint64 n_workers;
  int64_t n_slices;
  JsonArray *ids;

  if (object == NULL || !vector_text (object, "topology", &topology, error)
      || !vector_text (object, "accelerator_type", &type, error)
      || !vector_integer (object, "num_workers", &n_workers, &given, error)
      || !vector_resources (object, "resources_per_worker", &per_worker, error))
    return NULL;

  before = read_env (object);
  n_slices = quoit_ray_slices_for_workers (topology, type, n_workers, per_worker, NULL);
  ids = json_array_new ();
  json_object_set_array_member (answer, "slice_id_per_rank", ids);
  for (gint64 rank = 0; rank < n_workers; rank++)
    {
      g_auto (GStrv) env = quoit_ray_train_env ("ip of world rank 0", rank, n_slices, topology, type, per_worker,
                                                (const char *const *) before, error);
      const char *id = env != NULL ? g_environ_getenv (env, "MEGASCALE_SLICE_ID") : NULL;

      if (env == NULL)
        return NULL;
      set_variable (answer, env, "MEGASCALE_COORDINATOR_ADDRESS");
      set_variable (answer, env, "MEGASCALE_NUM_SLICES");
      set_variable (answer, env, "MEGASCALE_PORT");
      set_variable (answer, env, "MEGASCALE_SLICE_ID");
      if (id != NULL)
        json_array_add_string_element (ids, id);
      else
        json_array_add_null_element (ids);
    }
  if (n_slices > 1)
    set_slice_ids (answer, object, ids, n_slices);
  return json_node_init_object (json_node_alloc (), answer);
}

#define EXECUTION "ray.train.v2._internal.execution."

const VectorOp vector_ops_ray_train_runs[] = {
  { EXECUTION "failure_handling.default.DefaultFailurePolicy.make_decision", decide_failures, VECTOR_ANY_ORDER },
  { EXECUTION "worker_group.worker_group.WorkerGroup._sort_workers_by_gpu_id_grouped_by_node", rank_by_node,
    VECTOR_ANY_ORDER },
  { EXECUTION "worker_group.worker_group.WorkerGroup._sort_workers_by_tpu_pod_name", rank_by_slice, VECTOR_ANY_ORDER },
  { "ray.train.v2.jax.config._JaxBackend.on_start", slice_ids, VECTOR_ANY_ORDER },
  { "ray.train.v2.jax.config._setup_jax_distributed_environment", jax_environment, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};
