/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU webhook over HTTP: turns Kubernetes objects into pods and quoit's answers into responses. The runner adds
   the status and its message. */
#include "runner.h"

#include <quoit/models/webhook.h>

/* --- objects of Kubernetes --- */

/* NULL if a member of the path is absent. */
static JsonObject *
object_at (JsonObject *object, const char *member)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, member) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static guint
elements_of (JsonObject *object, const char *member, JsonArray **array)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, member) : NULL;

  *array = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  return *array != NULL ? json_array_get_length (*array) : 0;
}

static const char *
text_at (JsonObject *object, const char *member)
{
  return object != NULL ? json_object_get_string_member_with_default (object, member, NULL) : NULL;
}

static void
read_texts (JsonObject *texts, QuoitWebhookPod *pod,
            void (*set) (QuoitWebhookPod *pod, const char *key, const char *value))
{
  g_autoptr (GList) keys = texts != NULL ? json_object_get_members (texts) : NULL;

  for (GList *k = keys; k != NULL; k = k->next)
    set (pod, k->data, text_at (texts, k->data));
}

static gboolean
read_container (QuoitWebhookPod *pod, JsonObject *container, GError **error)
{
  JsonObject *resources = object_at (container, "resources");
  JsonArray *env;
  guint n = elements_of (container, "env", &env);

  if (!quoit_webhook_pod_add_container (pod, text_at (object_at (resources, "requests"), "google.com/tpu"),
                                        text_at (object_at (resources, "limits"), "google.com/tpu"), error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonObject *variable = json_array_get_object_element (env, i);
      const char *value = text_at (variable, "value");

      if (value == NULL && object_at (variable, "valueFrom") == NULL)
        value = "";
      quoit_webhook_pod_add_variable (pod, text_at (variable, "name"), value);
    }
  return TRUE;
}

/* An absent value counts as empty. */
static QuoitWebhookPod *
read_pod (JsonObject *object, GError **error)
{
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  JsonObject *spec = object_at (object, "spec");
  JsonArray *containers;
  guint n = elements_of (spec, "containers", &containers);

  read_texts (object_at (object_at (object, "metadata"), "labels"), pod, quoit_webhook_pod_set_label);
  read_texts (object_at (spec, "nodeSelector"), pod, quoit_webhook_pod_set_selector);
  for (guint i = 0; i < n; i++)
    if (!read_container (pod, json_array_get_object_element (containers, i), error))
      return NULL;
  return g_steal_pointer (&pod);
}

/* --- answers --- */

static JsonNode *
node_of_sentence (gint64 status, const char *sentence)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  json_object_set_int_member (answer, "status", status);
  json_object_set_string_member (answer, "body", sentence);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
node_of_review (gboolean is_allowed)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  json_object_set_int_member (answer, "status", 200);
  json_object_set_boolean_member (answer, "allowed", is_allowed);
  json_object_set_string_member (answer, "patch", "");
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
mutate (JsonObject *request, GError **error)
{
  gboolean is_new = g_strcmp0 (text_at (request, "operation"), "CREATE") == 0;
  g_autoptr (QuoitWebhookPod) pod = read_pod (is_new ? object_at (request, "object") : NULL, NULL);
  g_autoptr (QuoitWebhookPatch) patch = pod != NULL ? quoit_webhook_mutate (pod, NULL, NULL) : NULL;

  if (patch == NULL)
    return node_of_sentence (403, "Failed to mutate Pod");
  if (!quoit_webhook_patch_is_empty (patch))
    return vector_skip (error, "a patch in the words of JSON"), NULL;
  return node_of_review (TRUE);
}

static JsonNode *
validate (JsonObject *request, GError **error)
{
  JsonArray *groups;
  guint n = elements_of (object_at (object_at (request, "object"), "spec"), "workerGroupSpecs", &groups);
  const char *denial = NULL;

  (void) error;
  for (guint i = 0; denial == NULL && i < n; i++)
    {
      JsonObject *group = json_array_get_object_element (groups, i);
      g_autoptr (QuoitWebhookPod) pod = read_pod (object_at (group, "template"), NULL);

      if (pod == NULL
          || !quoit_webhook_check_group (pod, json_object_get_int_member_with_default (group, "numOfHosts", 0), &denial,
                                         NULL))
        return node_of_sentence (403, "Failed to validate RayCluster");
    }
  return node_of_review (denial == NULL);
}

static const struct {
  const char *path, *kind;
  JsonNode *(*answer) (JsonObject *request, GError **error);
} pages[] = { { "/mutate", "Pod", mutate }, { "/validate", "RayCluster", validate } };

static JsonNode *
answer (JsonNode *in, GError **error)
{
  static const char *const members[] = { "path", "body", NULL };
  JsonObject *object = vector_object (in, members, error), *request;
  g_autoptr (JsonNode) body = NULL;

  if (object == NULL)
    return NULL;
  body = json_from_string (text_at (object, "body"), NULL);
  if (body == NULL)
    return node_of_sentence (400, "Error decoding request body");
  request = JSON_NODE_HOLDS_OBJECT (body) ? object_at (json_node_get_object (body), "request") : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    if (g_strcmp0 (text_at (object, "path"), pages[i].path) == 0)
      return g_strcmp0 (text_at (object_at (request, "kind"), "kind"), pages[i].kind) == 0
                 ? pages[i].answer (request, error)
                 : node_of_sentence (400, "Invalid Kind");
  return vector_skip (error, "a page that the webhook has not"), NULL;
}

const VectorOp vector_ops_webhook_http[] = {
  { "webhook_http", answer, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};
