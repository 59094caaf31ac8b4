/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-pod.h"

#include <string.h>

#include "formats/k8s-object.h"
#include "fleet/claims.h"

typedef struct {
  const QuoitTree *tree;
  JsonNode *metadata, *spec;
  QuoitK8sPod *pod;
  gint32 first_id;                  /* the first worker id of its containers with chips */
  guint n_ids, n_equal, n_in_order; /* n_equal and n_in_order: later ids that equal the first one, or that continue
                                     * it */
} Reading;

/* A value and the node that a message about it points to. Both are NULL if the list does not contain the value. */
typedef struct {
  const char *text;
  JsonNode *node;
} Value;

/* --- metadata --- */

static gboolean
read_metadata (const Reading *reading, GError **error)
{
  QuoitK8sPod *pod = reading->pod;
  JsonNode *deletion;

  if (!quoit_k8s_find_text (reading->tree, reading->metadata, "name", &pod->name, error)
      || !quoit_k8s_find_text (reading->tree, reading->metadata, "namespace", &pod->space, error)
      || !quoit_k8s_find (reading->tree, reading->metadata, "deletionTimestamp", &deletion, error))
    return FALSE;
  if (pod->name == NULL)
    return quoit_tree_fail (reading->tree, reading->metadata != NULL ? reading->metadata : pod->object, error,
                            "a pod without name: expected metadata.name");
  if (!quoit_k8s_is_name (pod->name))
    return quoit_tree_refuse (reading->tree, quoit_tree_member (reading->metadata, "name"), "a DNS name", error);
  if (pod->space == NULL)
    pod->space = "";
  else if (!quoit_k8s_is_name (pod->space))
    return quoit_tree_refuse (reading->tree, quoit_tree_member (reading->metadata, "namespace"), "a DNS name", error);
  pod->is_leaving = deletion != NULL;
  return TRUE;
}

static gboolean
find_mark (const Reading *reading, const char *map, const char *key, Value *value, GError **error)
{
  JsonNode *marks;

  *value = (Value) { NULL, NULL };
  if (!quoit_k8s_find (reading->tree, reading->metadata, map, &marks, error)
      || !quoit_k8s_find (reading->tree, marks, key, &value->node, error)
      || !quoit_k8s_text (reading->tree, value->node, &value->text, error))
    return FALSE;
  return TRUE;
}

/* Jobs write their marks as labels or annotations, depending on the version. */
static gboolean
find_either (const Reading *reading, const char *key, Value *value, GError **error)
{
  return find_mark (reading, "labels", key, value, error)
         && (value->text != NULL || find_mark (reading, "annotations", key, value, error));
}

/* --- status --- */

static gboolean
read_phase (const Reading *reading, JsonNode *status, GError **error)
{
  static const struct {
    const char *name;
    gboolean is_over;
  } phases[]
      = { { "Pending", FALSE }, { "Running", FALSE }, { "Unknown", FALSE }, { "Succeeded", TRUE }, { "Failed", TRUE } };
  JsonNode *node;
  const char *phase;

  if (!quoit_k8s_find (reading->tree, status, "phase", &node, error)
      || !quoit_k8s_text (reading->tree, node, &phase, error))
    return FALSE;
  if (phase == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    if (strcmp (phase, phases[i].name) == 0)
      {
        reading->pod->is_over = phases[i].is_over;
        return TRUE;
      }
  return quoit_tree_refuse (reading->tree, node, "the phase Pending, Running, Succeeded, Failed or Unknown", error);
}

static gboolean
read_address (const Reading *reading, JsonNode *status, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_text (reading->tree, status, "podIP", &reading->pod->address, error))
    return FALSE;
  if (reading->pod->address != NULL)
    return TRUE;
  return quoit_k8s_find_list (reading->tree, status, "podIPs", &list, &n, error)
         && (n == 0
             || quoit_k8s_find_text (reading->tree, json_array_get_element (list, 0), "ip", &reading->pod->address,
                                     error));
}

/* --- variables --- */

/* Searches the first @n variables. If a name occurs twice, the process gets the last one. *@entry is NULL if
 * no variable has that name. */
static gboolean
find_variable (const Reading *reading, JsonArray *env, guint n, const char *name, guint *at, JsonNode **entry,
               GError **error)
{
  *entry = NULL;
  for (guint i = n; i-- > 0;)
    {
      JsonNode *one = json_array_get_element (env, i);
      const char *called;

      if (!quoit_k8s_find_text (reading->tree, one, "name", &called, error))
        return FALSE;
      if (g_strcmp0 (called, name) != 0)
        continue;
      *at = i;
      *entry = one;
      return TRUE;
    }
  return TRUE;
}

/* Resolves "metadata.labels['KEY']", or annotations. Other fields cannot be a worker id. */
static gboolean
follow_field (const Reading *reading, JsonNode *source, Value *value, GError **error)
{
  static const char *const maps[] = { "labels", "annotations" };
  JsonNode *field;
  const char *path;

  if (!quoit_k8s_find (reading->tree, source, "fieldRef", &field, error)
      || !quoit_k8s_find_text (reading->tree, field, "fieldPath", &path, error))
    return FALSE;
  for (guint i = 0; path != NULL && i < G_N_ELEMENTS (maps); i++)
    {
      g_autofree char *before = g_strdup_printf ("metadata.%s['", maps[i]);
      g_autofree char *key = NULL;

      if (!g_str_has_prefix (path, before) || !g_str_has_suffix (path + strlen (before), "']"))
        continue;
      key = g_strndup (path + strlen (before), strlen (path) - strlen (before) - 2);
      return find_mark (reading, maps[i], key, value, error);
    }
  return TRUE;
}

static gboolean
read_value (const Reading *reading, JsonNode *entry, Value *value, GError **error)
{
  JsonNode *source;

  *value = (Value) { NULL, NULL };
  if (!quoit_k8s_find (reading->tree, entry, "value", &value->node, error)
      || !quoit_k8s_find (reading->tree, entry, "valueFrom", &source, error))
    return FALSE;
  return value->node == NULL ? follow_field (reading, source, value, error)
                             : quoit_k8s_long_text (reading->tree, value->node, &value->text, error);
}

/* Resolves "$(NAME)" to the earlier variable of that name. A reference to a reference counts as unknown. */
static gboolean
find_value (const Reading *reading, JsonArray *env, guint n, const char *name, Value *value, GError **error)
{
  g_autofree char *other = NULL;
  JsonNode *entry;
  guint at = 0;

  *value = (Value) { NULL, NULL };
  if (!find_variable (reading, env, n, name, &at, &entry, error)
      || (entry != NULL && !read_value (reading, entry, value, error)))
    return FALSE;
  if (value->text == NULL || !g_str_has_prefix (value->text, "$(") || !g_str_has_suffix (value->text, ")"))
    return TRUE;
  other = g_strndup (value->text + 2, strlen (value->text) - 3);
  *value = (Value) { NULL, NULL };
  if (!find_variable (reading, env, at, other, &at, &entry, error)
      || (entry != NULL && !read_value (reading, entry, value, error)))
    return FALSE;
  if (value->text != NULL && g_str_has_prefix (value->text, "$("))
    *value = (Value) { NULL, NULL };
  return TRUE;
}

/* --- worker ids --- */

static gboolean
parse_id (const Reading *reading, const Value *value, gint32 *id, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (value->text, 10, 0, QUOIT_MOST_WORKER_ID, &number, NULL))
    return quoit_tree_refuse (reading->tree, value->node, "a worker id: a whole number of 0 to 32767", error);
  *id = (gint32) number;
  return TRUE;
}

/* TPU_WORKER_HOSTNAMES lists the hosts of the slice in the order of their worker ids: by address, or by name with or
 * without its domain. */
static gboolean
is_called (const char *element, gsize length, const char *name, char end)
{
  gsize n = name == NULL ? 0 : strlen (name);

  return n > 0 && length >= n && strncmp (element, name, n) == 0 && (length == n || element[n] == end);
}

static gboolean
find_among_hosts (const Reading *reading, const char *hosts, gint32 *id, GError **error)
{
  const char *at = hosts, *host_name;

  if (!quoit_k8s_find_text (reading->tree, reading->spec, "hostname", &host_name, error))
    return FALSE;
  for (gint32 i = 0; i <= QUOIT_MOST_WORKER_ID; i++)
    {
      gsize length = strcspn (at, ",");

      if (is_called (at, length, reading->pod->address, '\0') || is_called (at, length, host_name, '.'))
        return *id = i, TRUE;
      if (at[length] == '\0')
        return TRUE;
      at += length + 1;
    }
  return TRUE;
}

/* Finds the worker id in the container's environment. *@id does not change if the list does not contain it. */
static gboolean
read_told (const Reading *reading, JsonNode *container, gint32 *id, JsonNode **node, GError **error)
{
  JsonArray *env = NULL;
  Value own, hosts;
  guint n;

  if (!quoit_k8s_find_list (reading->tree, container, "env", &env, &n, error)
      || !find_value (reading, env, n, "TPU_WORKER_ID", &own, error))
    return FALSE;
  *node = own.node;
  if (own.text != NULL)
    return parse_id (reading, &own, id, error);
  if (!find_value (reading, env, n, "TPU_WORKER_HOSTNAMES", &hosts, error))
    return FALSE;
  *node = hosts.node;
  return hosts.text == NULL || find_among_hosts (reading, hosts.text, id, error);
}

/* If a pod has several containers with chips, the webhook numbers them consecutively across hosts on tpu7x. On other
 * generations it gives each the id of its host. */
static gboolean
add_told (Reading *reading, gint32 id, JsonNode *node, GError **error)
{
  QuoitK8sPod *pod = reading->pod;

  if (reading->n_ids++ == 0)
    {
      reading->first_id = id;
      pod->worker_id_node = node;
      return TRUE;
    }
  if (id == reading->first_id + (gint32) reading->n_ids - 1)
    reading->n_in_order++;
  else if (id == reading->first_id)
    reading->n_equal++;
  return (MAX (reading->n_in_order, reading->n_equal) + 1 == reading->n_ids)
         || quoit_tree_refuse (reading->tree, node, "the worker id of the container before it, or the next one", error);
}

/* The webhook and the operator mark pods whose variables come from elsewhere or are not set yet. In a JobSet each
 * job is a slice. */
static gboolean
read_marks (const Reading *reading, gint32 *id, JsonNode **node, GError **error)
{
  Value index, job_set;

  if (!find_mark (reading, "labels", "ray.io/replica-host-index", &index, error))
    return FALSE;
  if (index.text == NULL)
    {
      if (!find_either (reading, "jobset.sigs.k8s.io/jobset-name", &job_set, error))
        return FALSE;
      if (job_set.text != NULL && !find_either (reading, "batch.kubernetes.io/job-completion-index", &index, error))
        return FALSE;
    }
  *node = index.node;
  return index.text == NULL || parse_id (reading, &index, id, error);
}

/* --- containers --- */

/* The webhook ignores a request of 0 too. */
static gboolean
asks_for_chips (const Reading *reading, JsonNode *container, gboolean *asks, GError **error)
{
  static const char tpu[] = "google.com/tpu";
  JsonNode *resources, *map;
  QuoitAmount request, limit;
  gboolean is_there;

  if (!quoit_k8s_find (reading->tree, container, "resources", &resources, error)
      || !quoit_k8s_find (reading->tree, resources, "requests", &map, error)
      || !quoit_k8s_find_quantity (reading->tree, map, tpu, &request, &is_there, error)
      || !quoit_k8s_find (reading->tree, resources, "limits", &map, error)
      || !quoit_k8s_find_quantity (reading->tree, map, tpu, &limit, &is_there, error))
    return FALSE;
  *asks = request.e4 != 0 || limit.e4 != 0;
  return TRUE;
}

static gboolean
read_containers (Reading *reading, GError **error)
{
  JsonArray *list = NULL;
  guint n;

  if (!quoit_k8s_find_list (reading->tree, reading->spec, "containers", &list, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *container = json_array_get_element (list, i), *node = NULL;
      gboolean asks;
      gint32 id = -1;

      if (!asks_for_chips (reading, container, &asks, error))
        return FALSE;
      if (!asks)
        continue;
      reading->pod->has_chips = TRUE;
      if (!read_told (reading, container, &id, &node, error) || (id >= 0 && !add_told (reading, id, node, error)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_worker_id (Reading *reading, GError **error)
{
  QuoitK8sPod *pod = reading->pod;

  if (reading->n_ids == 0)
    return !pod->has_chips || read_marks (reading, &pod->worker_id, &pod->worker_id_node, error);
  pod->worker_id = reading->first_id;
  if (reading->n_in_order == 0)
    return TRUE;
  if (reading->first_id % (gint32) reading->n_ids != 0)
    return quoit_tree_refuse (reading->tree, pod->worker_id_node,
                              "a multiple of the containers with chips, which are numbered host by host", error);
  pod->worker_id /= (gint32) reading->n_ids;
  return TRUE;
}

gboolean
quoit_k8s_pod_read (const QuoitTree *tree, JsonNode *object, QuoitK8sPod *pod, GError **error)
{
  Reading reading = { .tree = tree, .pod = pod };
  JsonNode *status;
  Value ray;

  *pod = (QuoitK8sPod) { .object = object, .worker_id = -1 };
  if (!quoit_k8s_find (tree, object, "metadata", &reading.metadata, error)
      || !quoit_k8s_find (tree, object, "spec", &reading.spec, error)
      || !quoit_k8s_find (tree, object, "status", &status, error) || !read_metadata (&reading, error)
      || !quoit_k8s_find (tree, reading.spec, "nodeName", &pod->node_node, error)
      || !quoit_k8s_text (tree, pod->node_node, &pod->node, error) || !read_phase (&reading, status, error))
    return FALSE;
  if (pod->is_over || pod->node == NULL)
    return TRUE;
  if (!find_mark (&reading, "labels", "ray.io/is-ray-node", &ray, error) || !read_address (&reading, status, error))
    return FALSE;
  pod->is_of_ray = g_strcmp0 (ray.text, "yes") == 0;
  return read_containers (&reading, error) && read_worker_id (&reading, error);
}
