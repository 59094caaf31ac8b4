/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-pod.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/k8s-object.h"
#include "fleet/claims.h"

/* The state while one pod is read. */
typedef struct {
  const QuoitTree *tree;
  JsonNode *metadata, *spec;
  QuoitK8sPod *pod;
  gint32 first_id;     /* the worker id of the first container with chips that has one */
  guint n_ids;         /* containers with a worker id */
  guint n_same;        /* later ids that equal the first one */
  guint n_consecutive; /* later ids that continue the first one: 4, 5, 6 */
} PodReader;

/* A value, and the JSON node for messages about it. Both are NULL if the value is missing. */
typedef struct {
  const char *text;
  JsonNode *node;
} Value;

/* --- metadata --- */

static gboolean
read_metadata (const PodReader *reader, GError **error)
{
  QuoitK8sPod *pod = reader->pod;
  JsonNode *deletion;

  if (!quoit_k8s_find_text (reader->tree, reader->metadata, "name", &pod->name, error)
      || !quoit_k8s_find_text (reader->tree, reader->metadata, "namespace", &pod->namespace, error)
      || !quoit_k8s_find (reader->tree, reader->metadata, "deletionTimestamp", &deletion, error))
    return FALSE;
  if (pod->name == NULL)
    return quoit_tree_fail (reader->tree, reader->metadata != NULL ? reader->metadata : pod->object, error,
                            "a pod without name: expected metadata.name");
  if (!quoit_k8s_is_name (pod->name))
    return quoit_tree_refuse (reader->tree, quoit_tree_member (reader->metadata, "name"), "a DNS name", error);
  if (pod->namespace == NULL)
    pod->namespace = "";
  else if (!quoit_k8s_is_name (pod->namespace))
    return quoit_tree_refuse (reader->tree, quoit_tree_member (reader->metadata, "namespace"), "a DNS name", error);
  pod->is_deleting = deletion != NULL;
  return TRUE;
}

static gboolean
find_metadata (const PodReader *reader, const char *map, const char *key, Value *value, GError **error)
{
  JsonNode *entries;

  *value = (Value) { NULL, NULL };
  if (!quoit_k8s_find (reader->tree, reader->metadata, map, &entries, error)
      || !quoit_k8s_find (reader->tree, entries, key, &value->node, error)
      || !quoit_k8s_text (reader->tree, value->node, &value->text, error))
    return FALSE;
  return TRUE;
}

/* Kubernetes' jobs write their index as a label or as an annotation, depending on the version. */
static gboolean
find_either (const PodReader *reader, const char *key, Value *value, GError **error)
{
  return find_metadata (reader, "labels", key, value, error)
         && (value->text != NULL || find_metadata (reader, "annotations", key, value, error));
}

/* --- status --- */

static gboolean
read_phase (const PodReader *reader, JsonNode *status, GError **error)
{
  static const struct {
    const char *name;
    gboolean has_ended;
  } phases[]
      = { { "Pending", FALSE }, { "Running", FALSE }, { "Unknown", FALSE }, { "Succeeded", TRUE }, { "Failed", TRUE } };
  JsonNode *node;
  const char *phase;

  if (!quoit_k8s_find (reader->tree, status, "phase", &node, error)
      || !quoit_k8s_text (reader->tree, node, &phase, error))
    return FALSE;
  if (phase == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    if (strcmp (phase, phases[i].name) == 0)
      {
        reader->pod->has_ended = phases[i].has_ended;
        return TRUE;
      }
  return quoit_tree_refuse (reader->tree, node, "the phase Pending, Running, Succeeded, Failed or Unknown", error);
}

static gboolean
read_address (const PodReader *reader, JsonNode *status, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_address (reader->tree, status, "podIP", &reader->pod->address, error))
    return FALSE;
  if (reader->pod->address != NULL)
    return TRUE;
  return quoit_k8s_find_list (reader->tree, status, "podIPs", &list, &n, error)
         && (n == 0
             || quoit_k8s_find_address (reader->tree, json_array_get_element (list, 0), "ip", &reader->pod->address,
                                        error));
}

/* --- variables --- */

/* Searches the first @n variables from the end, because the last variable of a name takes effect. *@entry is NULL if no
 * variable has the name. */
static gboolean
find_variable (const PodReader *reader, JsonArray *env, guint n, const char *name, guint *at, JsonNode **entry,
               GError **error)
{
  *entry = NULL;
  for (guint i = n; i-- > 0;)
    {
      JsonNode *one = json_array_get_element (env, i);
      const char *variable_name;

      if (!quoit_k8s_find_text (reader->tree, one, "name", &variable_name, error))
        return FALSE;
      if (g_strcmp0 (variable_name, name) != 0)
        continue;
      *at = i;
      *entry = one;
      return TRUE;
    }
  return TRUE;
}

/* Resolves a fieldRef to a label or an annotation of the pod. Does not set @value for other fields, because a worker id
 * cannot come from them. */
static gboolean
resolve_field (const PodReader *reader, JsonNode *source, Value *value, GError **error)
{
  static const char *const maps[] = { "labels", "annotations" };
  JsonNode *field;
  const char *path;

  if (!quoit_k8s_find (reader->tree, source, "fieldRef", &field, error)
      || !quoit_k8s_find_text (reader->tree, field, "fieldPath", &path, error))
    return FALSE;
  for (guint i = 0; path != NULL && i < G_N_ELEMENTS (maps); i++)
    {
      g_autofree char *before = g_strdup_printf ("metadata.%s['", maps[i]);
      g_autofree char *key = NULL;

      if (!g_str_has_prefix (path, before) || !g_str_has_suffix (path + strlen (before), "']"))
        continue;
      key = g_strndup (path + strlen (before), strlen (path) - strlen (before) - 2);
      return find_metadata (reader, maps[i], key, value, error);
    }
  return TRUE;
}

static gboolean
read_value (const PodReader *reader, JsonNode *entry, Value *value, GError **error)
{
  JsonNode *source;

  *value = (Value) { NULL, NULL };
  if (!quoit_k8s_find (reader->tree, entry, "value", &value->node, error)
      || !quoit_k8s_find (reader->tree, entry, "valueFrom", &source, error))
    return FALSE;
  return value->node == NULL ? resolve_field (reader, source, value, error)
                             : quoit_k8s_long_text (reader->tree, value->node, &value->text, error);
}

/* Finds the value of variable @name. A value "$(OTHER)" is replaced by the value of the earlier variable OTHER. If
 * that is a reference too, the value is unknown. */
static gboolean
find_value (const PodReader *reader, JsonArray *env, guint n, const char *name, Value *value, GError **error)
{
  g_autofree char *other = NULL;
  JsonNode *entry;
  guint at = 0;

  *value = (Value) { NULL, NULL };
  if (!find_variable (reader, env, n, name, &at, &entry, error)
      || (entry != NULL && !read_value (reader, entry, value, error)))
    return FALSE;
  if (value->text == NULL || !g_str_has_prefix (value->text, "$(") || !g_str_has_suffix (value->text, ")"))
    return TRUE;
  other = g_strndup (value->text + 2, strlen (value->text) - 3);
  *value = (Value) { NULL, NULL };
  if (!find_variable (reader, env, at, other, &at, &entry, error)
      || (entry != NULL && !read_value (reader, entry, value, error)))
    return FALSE;
  if (value->text != NULL && g_str_has_prefix (value->text, "$("))
    *value = (Value) { NULL, NULL };
  return TRUE;
}

/* --- worker ids --- */

static gboolean
parse_id (const PodReader *reader, const Value *value, gint32 *id, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (value->text, 10, 0, QUOIT_MAX_WORKER_ID, &number, NULL))
    return quoit_tree_refuse (reader->tree, value->node, "a worker id: a whole number of 0 to 32767", error);
  *id = (gint32) number;
  return TRUE;
}

/* Returns whether an element of TPU_WORKER_HOSTNAMES is @name, which the character @end may follow. */
static gboolean
is_host_name (const char *element, gsize length, const char *name, char end)
{
  gsize n = name == NULL ? 0 : strlen (name);

  return n > 0 && length >= n && strncmp (element, name, n) == 0 && (length == n || element[n] == end);
}

/* Finds the pod in TPU_WORKER_HOSTNAMES, which lists the hosts of the slice in the order of their worker ids, by
 * address or by host name with or without its domain. */
static gboolean
find_among_hosts (const PodReader *reader, const char *hosts, gint32 *id, GError **error)
{
  const char *at = hosts, *host_name;

  if (!quoit_k8s_find_text (reader->tree, reader->spec, "hostname", &host_name, error))
    return FALSE;
  for (gint32 i = 0; i <= QUOIT_MAX_WORKER_ID; i++)
    {
      gsize length = strcspn (at, ",");

      if (is_host_name (at, length, reader->pod->address, '\0') || is_host_name (at, length, host_name, '.'))
        return *id = i, TRUE;
      if (at[length] == '\0')
        return TRUE;
      at += length + 1;
    }
  return TRUE;
}

/* Finds the worker id in the environment of the container. *@id does not change if there is none. */
static gboolean
find_id_in_variables (const PodReader *reader, JsonNode *container, gint32 *id, JsonNode **node, GError **error)
{
  JsonArray *env = NULL;
  Value own, hosts;
  guint n;

  if (!quoit_k8s_find_list (reader->tree, container, "env", &env, &n, error)
      || !find_value (reader, env, n, "TPU_WORKER_ID", &own, error))
    return FALSE;
  *node = own.node;
  if (own.text != NULL)
    return parse_id (reader, &own, id, error);
  if (!find_value (reader, env, n, "TPU_WORKER_HOSTNAMES", &hosts, error))
    return FALSE;
  *node = hosts.node;
  return hosts.text == NULL || find_among_hosts (reader, hosts.text, id, error);
}

/* Records the worker id of one container. If a pod has several containers with chips, the webhook numbers them
 * consecutively across all hosts on tpu7x; on other generations they all get the id of their host. Anything else is
 * refused. */
static gboolean
add_worker_id (PodReader *reader, gint32 id, JsonNode *node, GError **error)
{
  QuoitK8sPod *pod = reader->pod;

  if (reader->n_ids++ == 0)
    {
      reader->first_id = id;
      pod->worker_id_node = node;
      return TRUE;
    }
  if (id == reader->first_id + (gint32) reader->n_ids - 1)
    reader->n_consecutive++;
  else if (id == reader->first_id)
    reader->n_same++;
  return (MAX (reader->n_consecutive, reader->n_same) + 1 == reader->n_ids)
         || quoit_tree_refuse (reader->tree, node, "the worker id of the container before it, or the next one", error);
}

/* Finds the worker id in the labels, for pods whose variables do not state it: KubeRay writes the host index, and
 * Kubernetes writes the completion index of a job. The latter is a worker id only in a JobSet, where each job is a
 * slice. */
static gboolean
find_id_in_labels (const PodReader *reader, gint32 *id, JsonNode **node, GError **error)
{
  Value index, job_set;

  if (!find_metadata (reader, "labels", QUOIT_KUBERAY_LABEL_HOST_INDEX, &index, error))
    return FALSE;
  if (index.text == NULL)
    {
      if (!find_either (reader, "jobset.sigs.k8s.io/jobset-name", &job_set, error))
        return FALSE;
      if (job_set.text != NULL && !find_either (reader, "batch.kubernetes.io/job-completion-index", &index, error))
        return FALSE;
    }
  *node = index.node;
  return index.text == NULL || parse_id (reader, &index, id, error);
}

/* --- containers --- */

/* Amounts of 0 do not count, as in the webhook. */
static gboolean
requests_chips (const PodReader *reader, JsonNode *container, gboolean *has_request, GError **error)
{
  JsonNode *resources, *map;
  QuoitAmount request, limit;
  gboolean is_there;

  if (!quoit_k8s_find (reader->tree, container, "resources", &resources, error)
      || !quoit_k8s_find (reader->tree, resources, "requests", &map, error)
      || !quoit_k8s_find_quantity (reader->tree, map, QUOIT_K8S_TPU_RESOURCE, &request, &is_there, error)
      || !quoit_k8s_find (reader->tree, resources, "limits", &map, error)
      || !quoit_k8s_find_quantity (reader->tree, map, QUOIT_K8S_TPU_RESOURCE, &limit, &is_there, error))
    return FALSE;
  *has_request = request.e4 != 0 || limit.e4 != 0;
  return TRUE;
}

static gboolean
read_containers (PodReader *reader, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_list (reader->tree, reader->spec, "containers", &list, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *container = json_array_get_element (list, i), *node = NULL;
      gboolean has_request;
      gint32 id = -1;

      if (!requests_chips (reader, container, &has_request, error))
        return FALSE;
      if (!has_request)
        continue;
      reader->pod->has_chips = TRUE;
      if (!find_id_in_variables (reader, container, &id, &node, error)
          || (id >= 0 && !add_worker_id (reader, id, node, error)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_worker_id (PodReader *reader, GError **error)
{
  QuoitK8sPod *pod = reader->pod;

  if (reader->n_ids == 0)
    return !pod->has_chips || find_id_in_labels (reader, &pod->worker_id, &pod->worker_id_node, error);
  pod->worker_id = reader->first_id;
  if (reader->n_consecutive == 0)
    return TRUE;
  if (reader->first_id % (gint32) reader->n_ids != 0)
    return quoit_tree_refuse (reader->tree, pod->worker_id_node,
                              "a multiple of the containers with chips, which are numbered host by host", error);
  pod->worker_id /= (gint32) reader->n_ids;
  return TRUE;
}

gboolean
quoit_k8s_pod_read (const QuoitTree *tree, JsonNode *object, QuoitK8sPod *pod, GError **error)
{
  PodReader reader = { .tree = tree, .pod = pod };
  JsonNode *status;
  Value ray;

  *pod = (QuoitK8sPod) { .object = object, .worker_id = -1 };
  if (!quoit_k8s_find (tree, object, "metadata", &reader.metadata, error)
      || !quoit_k8s_find (tree, object, "spec", &reader.spec, error)
      || !quoit_k8s_find (tree, object, "status", &status, error) || !read_metadata (&reader, error)
      || !quoit_k8s_find (tree, reader.spec, "nodeName", &pod->node_name_node, error)
      || !quoit_k8s_text (tree, pod->node_name_node, &pod->node, error) || !read_phase (&reader, status, error))
    return FALSE;
  if (pod->has_ended || pod->node == NULL)
    return TRUE;
  if (!find_metadata (&reader, "labels", QUOIT_KUBERAY_LABEL_IS_RAY_NODE, &ray, error)
      || !read_address (&reader, status, error))
    return FALSE;
  pod->is_ray_pod = g_strcmp0 (ray.text, "yes") == 0;
  return read_containers (&reader, error) && read_worker_id (&reader, error);
}
