/* SPDX-License-Identifier: Apache-2.0 */
/* KubeRay's arithmetic and names, as the reader of manifests has them: groups become a manifest, and pods its nodes. */
#include "runner.h"

#include <string.h>

#include "formats/formats.h"
#include "topology/webhook.h"

static const char *const group_fields[] = { "replicas", "minReplicas", "maxReplicas", "numOfHosts", NULL };

/* The numbers of one group, called as the row calls them. */
static gboolean
append_numbers (GString *manifest, JsonObject *group, const char *const *names, GError **error)
{
  for (unsigned i = 0; group_fields[i] != NULL; i++)
    {
      const gint64 *given;
      gint64 value;

      if (!vector_integer (group, names[i], &value, &given, error))
        return FALSE;
      if (given != NULL && value < 0)
        return vector_skip (error, "a negative number, which quoit refuses");
      if (given != NULL)
        g_string_append_printf (manifest, "%s: %" G_GINT64_FORMAT ", ", group_fields[i], value);
    }
  return TRUE;
}

static GString *
begin_manifest (void)
{
  return g_string_new ("kind: RayCluster\nmetadata: {name: c}\nspec:\n"
                       "  headGroupSpec: {template: {spec: {containers: [{}]}}}\n  workerGroupSpecs:\n");
}

static void
begin_group (GString *manifest, const char *name)
{
  g_string_append_printf (manifest, "  - {groupName: \"%s\", ", name);
}

static void
end_group (GString *manifest)
{
  g_string_append (manifest, "template: {spec: {containers: [{}]}}}\n");
}

static QuoitClaims *
read_manifest (const GString *manifest, GError **error)
{
  return quoit_read_raycluster (manifest->str, manifest->len, NULL, NULL, error);
}

/* How many pods a group is to have. */
static JsonNode *
desired (JsonNode *in, GError **error)
{
  static const char *const members[] = { "numOfHosts", "replicas", "min", "max", "suspend", NULL };
  static const char *const names[] = { "replicas", "min", "max", "numOfHosts", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (GString) manifest = begin_manifest ();
  g_autoptr (QuoitClaims) claims = NULL;
  guint32 n_nodes;

  if (object == NULL)
    return NULL;
  begin_group (manifest, "g");
  if (!append_numbers (manifest, object, names, error))
    return NULL;
  if (json_object_get_boolean_member_with_default (object, "suspend", FALSE))
    g_string_append (manifest, "suspend: true, ");
  end_group (manifest);
  claims = read_manifest (manifest, error);
  if (claims == NULL && strstr ((*error)->message, "pods") != NULL)
    {
      g_clear_error (error);
      return vector_skip (error, "more pods than a fleet has: quoit refuses what KubeRay does not guard"), NULL;
    }
  if (claims == NULL)
    return NULL;
  quoit_claims_nodes (claims, &n_nodes);
  return vector_node_of_integer ((gint64) n_nodes - 1);
}

/* --- reconcile --- */

static gboolean
is_one_pass (JsonObject *in)
{
  JsonArray *steps = json_object_get_array_member (in, "steps");

  return steps != NULL && json_array_get_length (steps) == 1
         && g_strcmp0 (json_array_get_string_element (steps, 0), "reconcile") == 0;
}

static gboolean
append_group (GString *manifest, JsonNode *node, GError **error)
{
  static const char *const members[] = { "groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", NULL };
  JsonObject *group = vector_object (node, members, error);
  const char *name;

  if (group == NULL || !vector_text (group, "groupName", &name, error))
    return FALSE;
  if (name == NULL)
    return vector_skip (error, "a group without a name, which quoit refuses");
  begin_group (manifest, name);
  if (!append_numbers (manifest, group, group_fields, error))
    return FALSE;
  end_group (manifest);
  return TRUE;
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* "GROUP replica=R host=H name=GROUP-<N>" of node GROUP-R-H, the n-th replica of several hosts that was made; host and
 * name are for those alone. */
static char *
pod_of (const QuoitClaims *claims, const QuoitNodeClaim *node, GHashTable *replicas)
{
  const char *group = quoit_claims_pool_at (claims, node->pool)->name;
  g_auto (GStrv) indices = g_strsplit (node->name + strlen (group) + 1, "-", -1);
  char *replica;
  guint n;

  if (indices[1] == NULL)
    return g_strdup_printf ("%s replica=%s host= name=", group, indices[0]);
  replica = g_strdup_printf ("%s-%s", group, indices[0]);
  if (!g_hash_table_contains (replicas, replica))
    g_hash_table_insert (replicas, g_strdup (replica), GUINT_TO_POINTER (g_hash_table_size (replicas)));
  n = GPOINTER_TO_UINT (g_hash_table_lookup (replicas, replica));
  g_free (replica);
  return g_strdup_printf ("%s replica=%s host=%s name=%s-<%u>", group, indices[0], indices[1], group, n);
}

static JsonNode *
pods_of (const QuoitClaims *claims)
{
  g_autoptr (GHashTable) replicas = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) pods = g_ptr_array_new_with_free_func (g_free);
  JsonArray *steps = json_array_new (), *list = json_array_new ();
  JsonObject *step = json_object_new ();
  JsonNode *node = json_node_new (JSON_NODE_ARRAY);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if ((nodes[i].flags & QUOIT_NODE_RAY_HEAD) == 0)
      g_ptr_array_add (pods, pod_of (claims, &nodes[i], replicas));
  g_ptr_array_sort (pods, by_text);
  for (guint i = 0; i < pods->len; i++)
    json_array_add_string_element (list, pods->pdata[i]);
  json_object_set_array_member (step, "pods", list);
  json_array_add_object_element (steps, step);
  json_node_take_array (node, steps);
  return node;
}

/* What a first pass makes; what becomes of pods later is not a manifest's matter. */
static JsonNode *
reconcile (JsonNode *in, GError **error)
{
  static const char *const members[] = { "autoscaling", "multi_host_indexing", "groups", "steps", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (GString) manifest = begin_manifest ();
  g_autoptr (QuoitClaims) claims = NULL;
  JsonArray *groups;

  if (object == NULL)
    return NULL;
  if (!is_one_pass (object))
    return vector_skip (error, "pods that come and go: a manifest has those that are desired"), NULL;
  if (!json_object_get_boolean_member_with_default (object, "multi_host_indexing", TRUE))
    return vector_skip (error, "an operator without indices, as before 1.6"), NULL;
  groups = json_object_get_array_member (object, "groups");
  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    if (!append_group (manifest, json_array_get_element (groups, i), error))
      return NULL;
  claims = read_manifest (manifest, error);
  return claims == NULL ? NULL : pods_of (claims);
}

/* --- names --- */

static JsonNode *
check_name (JsonNode *in, GError **error)
{
  const char *name = JSON_NODE_HOLDS_VALUE (in) ? json_node_get_string (in) : NULL;
  g_autofree char *checked = name == NULL ? NULL : quoit_webhook_check_name (name);

  if (name == NULL || *name == '\0')
    return vector_skip (error, "no name, which Go does not survive"), NULL;
  if (!g_utf8_validate (checked, -1, NULL))
    return vector_skip (error, "a name cut within a character"), NULL;
  return vector_node_of_text (g_steal_pointer (&checked));
}

static const VectorOp ops[] = {
  { "kuberay_CheckName", check_name, VECTOR_ANY_ORDER },
  { "kuberay_desired", desired, VECTOR_ANY_ORDER },
  { "kuberay_reconcile", reconcile, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_kuberay = { "kuberay", tables };
