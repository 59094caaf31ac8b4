/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of worker groups and mutation of pods by KubeRay's TPU webhook. */
#include "runner.h"

#include <quoit/models/webhook.h>
#include <string.h>

/* --- pods out of rows --- */

/* "tpu" is a limit in a manifest; Kubernetes uses it as the request too. */
static gboolean
read_container (QuoitWebhookPod *pod, JsonNode *node, GError **error)
{
  static const char *const members[] = { "tpu", "request", "limit", "env", NULL };
  JsonObject *object = vector_object (node, members, error);
  JsonArray *env;
  const char *tpu, *request, *limit;

  if (object == NULL || !vector_text (object, "tpu", &tpu, error) || !vector_text (object, "request", &request, error)
      || !vector_text (object, "limit", &limit, error)
      || !quoit_webhook_pod_add_container (pod, request, limit != NULL ? limit : tpu, error))
    return FALSE;
  env = json_object_has_member (object, "env") ? json_object_get_array_member (object, "env") : NULL;
  for (guint i = 0; env != NULL && i < json_array_get_length (env); i++)
    {
      JsonArray *pair = json_array_get_array_element (env, i);
      const char *value = json_array_get_string_element (pair, 1);

      quoit_webhook_pod_add_variable (pod, json_array_get_string_element (pair, 0),
                                      strcmp (value, "<fieldRef>") == 0 ? NULL : value);
    }
  return TRUE;
}

static gboolean
read_containers (QuoitWebhookPod *pod, JsonObject *object, GError **error)
{
  JsonNode *node = json_object_get_member (object, "containers");
  JsonArray *array = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    if (!read_container (pod, json_array_get_element (array, i), error))
      return FALSE;
  return TRUE;
}

/* An empty value counts as absent. */
static gboolean
read_selector (QuoitWebhookPod *pod, JsonObject *object, const char *member, const char *key, GError **error)
{
  const char *value;

  if (!vector_text (object, member, &value, error))
    return FALSE;
  if (value != NULL && *value != '\0')
    quoit_webhook_pod_set_selector (pod, key, value);
  return TRUE;
}

static gboolean
read_template (QuoitWebhookPod *pod, JsonObject *object, GError **error)
{
  return read_selector (pod, object, "topology", "cloud.google.com/gke-tpu-topology", error)
         && read_selector (pod, object, "accelerator", "cloud.google.com/gke-tpu-accelerator", error)
         && read_containers (pod, object, error);
}

static gboolean
read_label (QuoitWebhookPod *pod, JsonObject *object, const char *member, const char *key, GError **error)
{
  const char *value;

  if (!vector_text (object, member, &value, error))
    return FALSE;
  if (value != NULL && *value != '\0')
    quoit_webhook_pod_set_label (pod, key, value);
  return TRUE;
}

static gboolean
read_labels (QuoitWebhookPod *pod, JsonObject *object, GError **error)
{
  JsonObject *labels
      = json_object_has_member (object, "labels") ? json_object_get_object_member (object, "labels") : NULL;
  g_autoptr (GList) keys = labels != NULL ? json_object_get_members (labels) : NULL;

  for (GList *k = keys; k != NULL; k = k->next)
    quoit_webhook_pod_set_label (pod, k->data, json_object_get_string_member (labels, k->data));
  return read_label (pod, object, "cluster", "ray.io/cluster", error)
         && read_label (pod, object, "group", "ray.io/group", error);
}

static QuoitWebhookPod *
read_pod (JsonObject *object, GError **error)
{
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();

  if (!read_template (pod, object, error) || !read_labels (pod, object, error))
    return NULL;
  return g_steal_pointer (&pod);
}

/* --- validation --- */

static gboolean
check_group (JsonNode *node, const char **denial, GError **error)
{
  static const char *const members[] = { "accelerator", "containers", "numOfHosts", "replicas", "topology", NULL };
  JsonObject *object = vector_object (node, members, error);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  const gint64 *given;
  gint64 n_hosts = 0;

  return object != NULL && read_template (pod, object, error)
         && vector_integer (object, "numOfHosts", &n_hosts, &given, error)
         && quoit_webhook_check_group (pod, n_hosts, denial, error);
}

static JsonNode *
node_of_verdict (const char *denial)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  json_object_set_boolean_member (answer, "allowed", denial == NULL);
  if (denial != NULL)
    json_object_set_string_member (answer, "message", denial);
  return json_node_init_object (json_node_alloc (), answer);
}

/* "out" contains the webhook's own error. A row that C cannot express is a skip instead. */
static JsonNode *
node_of_refusal (GError *refused, GError **error)
{
  g_autoptr (JsonObject) object = NULL;

  if (refused->domain != QUOIT_ERROR)
    {
      g_propagate_error (error, refused);
      return NULL;
    }
  object = vector_object_of_refusal (refused);
  return json_node_init_object (json_node_alloc (), object);
}

static JsonNode *
validate (JsonNode *in, GError **error)
{
  static const char *const members[] = { "groups", NULL };
  JsonObject *object = vector_object (in, members, error);
  JsonArray *groups = object != NULL ? json_object_get_array_member (object, "groups") : NULL;
  const char *denial = NULL;

  if (object == NULL)
    return NULL;
  for (guint i = 0; denial == NULL && i < json_array_get_length (groups); i++)
    {
      GError *refused = NULL;

      if (!check_group (json_array_get_element (groups, i), &denial, &refused))
        return node_of_refusal (refused, error);
    }
  return node_of_verdict (denial);
}

/* --- mutation --- */

static JsonArray *
array_of_variables (const QuoitWebhookPatch *patch, guint32 container)
{
  JsonArray *array = json_array_new ();

  for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
    {
      const char *field = quoit_webhook_patch_get_variable_field (patch, container, i);
      g_autofree char *value = field != NULL ? g_strconcat ("fieldRef:", field, NULL)
                                             : g_strdup (quoit_webhook_patch_get_variable_value (patch, container, i));
      JsonArray *pair = json_array_new ();

      json_array_add_string_element (pair, quoit_webhook_patch_get_variable_name (patch, container, i));
      json_array_add_string_element (pair, value);
      json_array_add_array_element (array, pair);
    }
  return array;
}

static JsonArray *
array_of_requirements (const QuoitWebhookPatch *patch, QuoitWebhookTerm term)
{
  JsonArray *array = json_array_new ();
  const char *text;

  for (guint32 i = 0; (text = quoit_webhook_patch_get_affinity (patch, term, i)) != NULL; i++)
    json_array_add_string_element (array, text);
  return array;
}

static JsonObject *
object_of_term (const QuoitWebhookPatch *patch, QuoitWebhookTerm term)
{
  JsonObject *object = json_object_new ();

  json_object_set_array_member (object, "match", array_of_requirements (patch, term));
  json_object_set_string_member (object, "topologyKey", "cloud.google.com/gke-nodepool");
  if (term == QUOIT_WEBHOOK_TERM_OTHERS)
    json_object_set_array_member (object, "namespaces", array_of_requirements (patch, QUOIT_WEBHOOK_TERM_NAMESPACES));
  return object;
}

static JsonObject *
object_of_affinity (const QuoitWebhookPatch *patch)
{
  JsonObject *object = json_object_new ();
  JsonArray *together = json_array_new (), *apart = json_array_new ();

  json_array_add_object_element (together, object_of_term (patch, QUOIT_WEBHOOK_TERM_TOGETHER));
  json_array_add_object_element (apart, object_of_term (patch, QUOIT_WEBHOOK_TERM_APART));
  json_array_add_object_element (apart, object_of_term (patch, QUOIT_WEBHOOK_TERM_OTHERS));
  json_object_set_array_member (object, "podAffinity", together);
  json_object_set_array_member (object, "podAntiAffinity", apart);
  return object;
}

/* Some rows record only that the affinity is set. */
static gboolean
records_affinity_in_a_word (JsonNode *in)
{
  JsonNode *out = vector_recorded (in);
  JsonNode *affinity = out != NULL && JSON_NODE_HOLDS_OBJECT (out)
                           ? json_object_get_member (json_node_get_object (out), "affinity")
                           : NULL;

  return affinity != NULL && JSON_NODE_HOLDS_VALUE (affinity);
}

static void
set_texts (JsonObject *answer, const QuoitWebhookPatch *patch)
{
  const char *label = quoit_webhook_patch_get_replica_label (patch);
  JsonObject *labels;

  if (quoit_webhook_patch_get_hostname (patch) != NULL)
    json_object_set_string_member (answer, "hostname", quoit_webhook_patch_get_hostname (patch));
  if (quoit_webhook_patch_get_subdomain (patch) != NULL)
    json_object_set_string_member (answer, "subdomain", quoit_webhook_patch_get_subdomain (patch));
  if (label == NULL)
    return;
  labels = json_object_new ();
  json_object_set_string_member (labels, "replicaIndex", label);
  json_object_set_object_member (answer, "labels", labels);
}

static JsonNode *
node_of_patch (JsonNode *in, const QuoitWebhookPatch *patch, guint n_containers)
{
  g_autoptr (JsonObject) answer = json_object_new ();
  JsonArray *env = json_array_new ();

  for (guint c = 0; c < n_containers; c++)
    json_array_add_array_element (env, array_of_variables (patch, c));
  json_object_set_array_member (answer, "env", env);
  set_texts (answer, patch);
  if (quoit_webhook_patch_get_affinity (patch, QUOIT_WEBHOOK_TERM_TOGETHER, 0) == NULL)
    return json_node_init_object (json_node_alloc (), answer);
  if (records_affinity_in_a_word (in))
    json_object_set_string_member (answer, "affinity", "set");
  else
    json_object_set_object_member (answer, "affinity", object_of_affinity (patch));
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
node_of_no_change (void)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  json_object_set_boolean_member (answer, "unchanged", TRUE);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
mutate (JsonNode *in, GError **error)
{
  static const char *const members[] = { "accelerator", "cluster", "containers", "group", "labels", "topology", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitWebhookPod) pod = object != NULL ? read_pod (object, error) : NULL;
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  GError *refused = NULL;

  if (pod == NULL)
    return NULL;
  patch = quoit_webhook_mutate (pod, NULL, &refused);
  if (patch == NULL)
    return node_of_refusal (refused, error);
  return quoit_webhook_patch_is_empty (patch)
             ? node_of_no_change ()
             : node_of_patch (in, patch, json_array_get_length (json_object_get_array_member (object, "containers")));
}

/* --- pods that come and go --- */

typedef struct {
  gint64 number;
  QuoitWebhookPod *pod;
} Created;

static void
created_clear (gpointer data)
{
  quoit_webhook_pod_free (((Created *) data)->pod);
}

static GPtrArray *
pods_of (const GArray *all)
{
  GPtrArray *pods = g_ptr_array_new ();

  for (guint i = 0; i < all->len; i++)
    g_ptr_array_add (pods, g_array_index (all, Created, i).pod);
  g_ptr_array_add (pods, NULL);
  return pods;
}

static char *
written (const QuoitWebhookPatch *patch, guint n_containers, const char *name)
{
  GString *text = g_string_new (NULL);

  for (guint32 c = 0; c < n_containers; c++)
    for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, c); i++)
      if (strcmp (quoit_webhook_patch_get_variable_name (patch, c, i), name) == 0)
        g_string_append_printf (text, "%s%s", text->len > 0 ? "," : "",
                                quoit_webhook_patch_get_variable_value (patch, c, i));
  return g_string_free (text, FALSE);
}

static JsonObject *
object_of_created (const QuoitWebhookPatch *patch, guint n_containers)
{
  JsonObject *answer = json_object_new ();
  g_autofree char *ids = written (patch, n_containers, "TPU_WORKER_ID"), *name = written (patch, 1, "TPU_NAME");
  g_autofree char *hosts = written (patch, 1, "TPU_WORKER_HOSTNAMES");

  json_object_set_string_member (answer, "TPU_WORKER_ID", ids);
  json_object_set_string_member (answer, "TPU_NAME", name);
  json_object_set_string_member (answer, "replicaIndex", quoit_webhook_patch_get_replica_label (patch));
  if (quoit_webhook_patch_get_hostname (patch) == NULL)
    return answer;
  hosts[strcspn (hosts, ",")] = '\0';
  json_object_set_string_member (answer, "hostname", quoit_webhook_patch_get_hostname (patch));
  json_object_set_string_member (answer, "first_host", hosts);
  return answer;
}

static JsonObject *
create (JsonObject *in, gint64 number, GArray *all, GError **error)
{
  g_autoptr (QuoitWebhookPod) pod = read_pod (in, error);
  g_autoptr (GPtrArray) others = pods_of (all);
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  Created created = { number, NULL };

  if (pod == NULL)
    return NULL;
  patch = quoit_webhook_mutate (pod, (const QuoitWebhookPod *const *) others->pdata, error);
  if (patch == NULL)
    return NULL;
  quoit_webhook_pod_apply (pod, patch);
  created.pod = g_steal_pointer (&pod);
  g_array_append_val (all, created);
  return object_of_created (patch, json_array_get_length (json_object_get_array_member (in, "containers")));
}

static JsonObject *
end_pod (gint64 number, GArray *all)
{
  for (guint i = 0; i < all->len; i++)
    if (g_array_index (all, Created, i).number == number)
      {
        g_array_remove_index (all, i);
        break;
      }
  return json_object_new ();
}

static JsonNode *
sequence (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "accelerator", "cluster", "containers", "group", "labels", "steps", "topology", NULL };
  JsonObject *object = vector_object (in, members, error);
  JsonArray *steps = object != NULL ? json_object_get_array_member (object, "steps") : NULL;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Created));
  g_autoptr (JsonArray) answers = json_array_new ();

  g_array_set_clear_func (all, created_clear);
  if (object == NULL)
    return NULL;
  for (guint i = 0; i < json_array_get_length (steps); i++)
    {
      JsonObject *step = json_array_get_object_element (steps, i), *answer;
      gboolean is_new = strcmp (json_object_get_string_member (step, "op"), "create") == 0;
      gint64 number = json_object_get_int_member (step, "pod");

      answer = is_new ? create (object, number, all, error) : end_pod (number, all);
      if (answer == NULL)
        return NULL;
      json_array_add_object_element (answers, answer);
    }
  return json_node_init_array (json_node_alloc (), answers);
}

static const VectorOp ops[] = {
  { "webhook_validate", validate, VECTOR_REFUSALS },
  { "webhook_mutate", mutate, VECTOR_REFUSALS },
  { "webhook_sequence", sequence, VECTOR_REFUSALS },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, vector_ops_webhook_http, NULL };

const VectorSuite vector_suite_webhook = { "webhook", tables };
