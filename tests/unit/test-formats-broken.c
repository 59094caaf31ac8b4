/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests broken in every single place: a missing field, a field of another type, or the end of the file. */
#include <json-glib/json-glib.h>

#include "claims-suite.h"

/* Every field in these documents is read. JSON is YAML. */
static const char *const whole[] = {
  "{'apiVersion': 'resource.k8s.io/v1', 'kind': 'ResourceClaimTemplate', 'metadata': {'name': 'two', 'namespace': "
  "'lab'},"
  " 'spec': {'spec': {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'netdev.google.com',"
  " 'allocationMode': 'ExactCount', 'count': 2, 'adminAccess': false}}]}}}}",
  "{'apiVersion': 'ray.io/v1', 'kind': 'RayJob', 'metadata': {'name': 'train', 'namespace': 'lab'},"
  " 'status': {'rayClusterName': 'train-4kq7c'},"
  " 'spec': {'suspend': false, 'clusterSelector': {}, 'rayClusterSpec': {'suspend': false,"
  "  'headGroupSpec': {'rayStartParams': {'num-cpus': '2'}, 'template': {'spec': {'containers': ["
  "    {'resources': {'limits': {'cpu': '4', 'memory': '8Gi'}, 'requests': {'cpu': '2', 'memory': '8Gi'}}}]}}},"
  "  'workerGroupSpecs': [{'groupName': 'tpu-group', 'replicas': 2, 'minReplicas': 0, 'maxReplicas': 5, 'numOfHosts': "
  "4,"
  "   'suspend': false, 'resources': {'special': '1'}, 'labels': {'a': 'b'},"
  "   'rayStartParams': {'num-cpus': '8', 'num-gpus': '1', 'memory': '1000', 'object-store-memory': '1000',"
  "    'resources': '{\\\"x\\\": 1}', 'labels': 'c=d'},"
  "   'template': {'spec': {"
  "    'nodeSelector': {'cloud.google.com/gke-tpu-accelerator': 'tpu-v6e-slice', 'cloud.google.com/gke-tpu-topology':"
  "     '4x4', 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', 'cloud.google.com/gke-spot':"
  "     'true'},"
  "    'resourceClaims': [{'name': 'net', 'resourceClaimTemplateName': 'two'}],"
  "    'containers': [{'resources': {'claims': [{'name': 'net', 'request': 'r'}],"
  "      'limits': {'google.com/tpu': '4', 'cpu': 8, 'memory': '8Gi', 'nvidia.com/gpu': 1},"
  "      'requests': {'google.com/tpu': 4, 'cpu': '8', 'memory': '8Gi'}},"
  "     'env': [{'name': 'MEGASCALE_NUM_SLICES', 'value': '2'}]}]}}}]}}}",
};

enum { TEMPLATE, JOB };

static const char *const required[] = {
  "0>spec>spec>devices", /* the container uses this request */
  "0>spec>spec>devices>requests",
  "0>spec>spec>devices>requests>0",
  "0>spec>spec>devices>requests>0>exactly",
  "0>spec>spec>devices>requests>0>exactly>deviceClassName",
  "0>spec>spec>devices>requests>0>name",
  "0>spec>spec",
  "0>spec",
  "1>kind",
  "1>metadata",
  "1>metadata>name",
  "1>spec",
  "1>spec>rayClusterSpec",
  "1>spec>rayClusterSpec>headGroupSpec",
  "1>spec>rayClusterSpec>headGroupSpec>template",
  "1>spec>rayClusterSpec>headGroupSpec>template>spec",
  "1>spec>rayClusterSpec>headGroupSpec>template>spec>containers",
  "1>spec>rayClusterSpec>headGroupSpec>template>spec>containers>0",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>groupName",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>numOfHosts",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers>0",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers>0>env>0>name",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers>0>resources>claims>0>name",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers>0>resources>limits",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>containers>0>resources>limits>google.com/tpu",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>nodeSelector",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>nodeSelector>cloud.google.com/gke-tpu-accelerator",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>nodeSelector>cloud.google.com/gke-tpu-topology",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>resourceClaims",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>resourceClaims>0",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>resourceClaims>0>name",
  "1>spec>rayClusterSpec>workerGroupSpecs>0>template>spec>resourceClaims>0>resourceClaimTemplateName",
};

static JsonNode *
parse (const char *text)
{
  GError *error = NULL;
  JsonNode *node = json_from_string (text, &error);

  ck_assert_ok (error);
  return node;
}

/* The documents, with double quotes, and a separate line for each member. */
static JsonNode *
document (unsigned which)
{
  g_auto (GStrv) parts = g_strsplit (whole[which], "'", -1);
  g_autofree char *text = g_strjoinv ("\"", parts);

  return parse (text);
}

static char *
as_text (JsonNode *const *documents)
{
  g_autofree char *template = json_to_string (documents[TEMPLATE], TRUE), *job = json_to_string (documents[JOB], TRUE);

  return g_strdup_printf ("%s\n---\n%s\n", template, job);
}

static void
collect (JsonNode *node, const char *path, GPtrArray *paths)
{
  g_autoptr (GList) members = NULL;

  if (JSON_NODE_HOLDS_OBJECT (node))
    members = json_object_get_members (json_node_get_object (node));
  for (GList *m = members; m != NULL; m = m->next)
    {
      char *below = g_strconcat (path, ">", (const char *) m->data, NULL);

      g_ptr_array_add (paths, below);
      collect (json_object_get_member (json_node_get_object (node), m->data), below, paths);
    }
  for (guint i = 0; JSON_NODE_HOLDS_ARRAY (node) && i < json_array_get_length (json_node_get_array (node)); i++)
    {
      char *below = g_strdup_printf ("%s>%u", path, i);

      g_ptr_array_add (paths, below);
      collect (json_array_get_element (json_node_get_array (node), i), below, paths);
    }
}

static GPtrArray *
all_paths (void)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (unsigned i = 0; i < G_N_ELEMENTS (whole); i++)
    {
      g_autofree char *root = g_strdup_printf ("%u", i);
      g_autoptr (JsonNode) node = document (i);

      collect (node, root, paths);
    }
  return paths;
}

static JsonNode *
step (JsonNode *from, const char *name)
{
  if (JSON_NODE_HOLDS_ARRAY (from))
    return json_array_get_element (json_node_get_array (from), (guint) g_ascii_strtoull (name, NULL, 10));
  return json_object_get_member (json_node_get_object (from), name);
}

/* Replaces the node at @path by @with (taken; NULL: removed). */
static void
put (JsonNode *const *documents, const char *path, JsonNode *with)
{
  g_auto (GStrv) steps = g_strsplit (path, ">", -1);
  JsonNode *parent = documents[g_ascii_strtoull (steps[0], NULL, 10)];
  guint last = g_strv_length (steps) - 1;

  for (guint i = 1; i < last; i++)
    parent = step (parent, steps[i]);
  if (JSON_NODE_HOLDS_ARRAY (parent))
    {
      json_array_remove_element (json_node_get_array (parent), 0);
      if (with != NULL)
        json_array_add_element (json_node_get_array (parent), with);
    }
  else if (with != NULL)
    json_object_set_member (json_node_get_object (parent), steps[last], with);
  else
    json_object_remove_member (json_node_get_object (parent), steps[last]);
}

/* The documents as text, with the node at @path replaced by @json (NULL: removed). @path NULL: unchanged. */
static char *
text_with (const char *path, const char *json)
{
  g_autoptr (JsonNode) template = document (TEMPLATE), job = document (JOB);
  JsonNode *const documents[] = { template, job };

  if (path != NULL)
    put (documents, path, json == NULL ? NULL : parse (json));
  return as_text (documents);
}

static gboolean
is_container (const char *path)
{
  g_autoptr (JsonNode) template = document (TEMPLATE), job = document (JOB);
  g_auto (GStrv) steps = g_strsplit (path, ">", -1);
  JsonNode *node = steps[0][0] == '0' ? template : job;

  for (guint i = 1; steps[i] != NULL; i++)
    node = step (node, steps[i]);
  return !JSON_NODE_HOLDS_VALUE (node);
}

static gboolean
has_place (const char *message)
{
  return (g_str_has_prefix (message, "line ") && g_ascii_isdigit (message[5]))
         || g_str_has_prefix (message, "no Ray object in it, but ");
}

/* Returns whether it is accepted. A refusal must have a message with a position. */
static gboolean
is_accepted (const char *text, gsize length, const char *what, char **message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_raycluster (text, length, NULL, NULL, &error);

  ck_assert_msg ((claims == NULL) == (error != NULL), "%s: both or neither", what);
  ck_assert_msg (error == NULL || (error->domain == QUOIT_ERROR && error->code == QUOIT_ERROR_INVALID), "%s: %s", what,
                 error == NULL ? "" : error->message);
  ck_assert_msg (error == NULL || has_place (error->message), "%s: no place in '%s'", what,
                 error == NULL ? "" : error->message);
  if (message != NULL)
    *message = error == NULL ? NULL : g_strdup (error->message);
  return claims != NULL;
}

START_TEST (the_whole_manifest_is_read)
{
  g_autofree char *text = text_with (NULL, NULL);
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_raycluster (text, strlen (text), NULL, NULL, &error);

  ck_assert_ok (error);
  ck_assert_ptr_null (quoit_claims_warnings (claims)[0]);
  ck_assert_text (resources_as_text (claims, 8), "CPU=8 GPU=1 TPU=4 accelerator_type:TPU-V6E=1 memory=1000 "
                                                 "netdev.google.com=2 object_store_memory=1000 special=1 x=1");
}
END_TEST

START_TEST (manifest_without_a_field_is_refused_only_if_required)
{
  g_autoptr (GPtrArray) paths = all_paths ();
  unsigned n_refused = 0;

  ck_assert_uint_gt (paths->len, 80);
  for (guint i = 0; i < paths->len; i++)
    {
      g_autofree char *text = text_with (paths->pdata[i], NULL), *message = NULL;
      gboolean is_required = FALSE, accepted = is_accepted (text, strlen (text), paths->pdata[i], &message);

      for (unsigned j = 0; j < G_N_ELEMENTS (required); j++)
        is_required = is_required || strcmp (required[j], paths->pdata[i]) == 0;
      ck_assert_msg (accepted == !is_required, "without %s: %s", (char *) paths->pdata[i],
                     message != NULL ? message : "accepted");
      n_refused += !accepted;
    }
  ck_assert_uint_eq (n_refused, G_N_ELEMENTS (required));
}
END_TEST

START_TEST (null_field_is_read_as_absent_field)
{
  g_autoptr (GPtrArray) paths = all_paths ();

  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = paths->pdata[i], *last = strrchr (path, '>');
      g_autofree char *without = text_with (path, NULL), *nothing = text_with (path, "null");

      /* A list element cannot be missing. */
      if (!g_ascii_isdigit (last[1]))
        ck_assert_msg (is_accepted (nothing, strlen (nothing), path, NULL)
                           == is_accepted (without, strlen (without), path, NULL),
                       "%s: null", path);
      else
        ck_assert_msg (!is_accepted (nothing, strlen (nothing), path, NULL), "%s: null was accepted", path);
    }
}
END_TEST

static const char *const plain[] = { "7", "7.5", "-1", "true", "\"text\"", "\"\"", "\"\\u0001\"", "1e400" };
static const char *const containers[] = { "[]", "[[]]", "[7]", "{}", "{\"x\": {}}", "{\"name\": []}" };

/* A map instead of a list, or a list instead of a map, may be accepted: an empty map of labels is valid. A plain
 * value is always refused. */
START_TEST (value_of_wrong_type_is_refused_with_its_field)
{
  g_autoptr (GPtrArray) paths = all_paths ();

  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = paths->pdata[i], *name = strrchr (path, '>') + 1;
      gboolean holds_more = is_container (path);

      for (unsigned j = 0; j < G_N_ELEMENTS (plain); j++)
        {
          g_autofree char *text = text_with (path, plain[j]), *message = NULL;
          gboolean accepted = is_accepted (text, strlen (text), path, &message);

          ck_assert_msg (!holds_more || (!accepted && strstr (message, name) != NULL), "%s: %s: %s", path, plain[j],
                         accepted ? "accepted" : message);
        }
      for (unsigned j = 0; j < G_N_ELEMENTS (containers); j++)
        {
          g_autofree char *text = text_with (path, containers[j]), *message = NULL;
          gboolean accepted = is_accepted (text, strlen (text), path, &message);

          ck_assert_msg (holds_more || (!accepted && strstr (message, name) != NULL), "%s: %s: %s", path, containers[j],
                         accepted ? "accepted" : message);
        }
    }
}
END_TEST

/* In YAML's block form: the two examples and a job, cut off after each byte. */
START_TEST (truncated_file_is_read_as_smaller_file_or_refused)
{
  static const char *const examples[] = { "raycluster-v6e-4x4.yaml", "raycluster-v6e-4x4-x2.yaml" };
  g_autofree char *path = NULL, *text = NULL;
  gsize length;

  if (_i < (int) G_N_ELEMENTS (examples))
    {
      path = g_build_filename (g_getenv ("top_srcdir"), "examples", examples[_i], NULL);
      ck_assert (quoit_read_file (path, &text, &length, NULL));
    }
  else
    {
      text = text_with (NULL, NULL);
      length = strlen (text);
    }
  ck_assert (is_accepted (text, length, "whole", NULL));
  for (gsize end = 0; end < length; end++)
    {
      /* A copy of exactly that length, so that sanitizers detect reads beyond it. */
      g_autofree char *part = end == 0 ? g_strdup ("") : g_memdup2 (text, end),
                      *what = g_strdup_printf ("byte %" G_GSIZE_FORMAT, end);
      g_autofree char *message = NULL;
      gboolean accepted = is_accepted (part, end, what, &message);

      /* A document in braces is incomplete until the last brace. */
      if (_i == (int) G_N_ELEMENTS (examples))
        ck_assert_msg (!accepted || end + 1 >= length, "%s: accepted", what);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-broken");
  TCase *broken = tcase_create ("broken");

  tcase_set_timeout (broken, 120);
  tcase_add_test (broken, the_whole_manifest_is_read);
  tcase_add_test (broken, manifest_without_a_field_is_refused_only_if_required);
  tcase_add_test (broken, null_field_is_read_as_absent_field);
  tcase_add_test (broken, value_of_wrong_type_is_refused_with_its_field);
  tcase_add_loop_test (broken, truncated_file_is_read_as_smaller_file_or_refused, 0, 3);
  suite_add_tcase (suite, broken);
  return suite_main (suite);
}
