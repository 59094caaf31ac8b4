/* SPDX-License-Identifier: Apache-2.0 */
/* KubeRay's operator: the desired number of pods of a group, the pods after each step, and names. */
#include "runner.h"

#include <quoit/models/kuberay.h>
#include <string.h>

typedef struct {
  QuoitKuberay *kuberay;
  GHashTable *seen; /* incarnation + 1 -> position at which it was first seen, + 1 */
} Run;

static void
run_clear (Run *run)
{
  quoit_kuberay_free (run->kuberay);
  g_clear_pointer (&run->seen, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

typedef struct {
  const char *replicas, *lowest, *highest, *hosts, *suspend; /* member names of the row */
} Names;

static gboolean
read_number (JsonObject *group, const char *name, gint64 otherwise, gint32 *value, GError **error)
{
  const gint64 *given;
  gint64 number;

  if (!vector_integer (group, name, &number, &given, error))
    return FALSE;
  if (given == NULL)
    number = otherwise;
  if (number < G_MININT32 || number > G_MAXINT32)
    return vector_skip (error, "a number beyond 32 bits, which Kubernetes refuses");
  *value = (gint32) number;
  return TRUE;
}

/* KubeRay's default for replicas is minReplicas. */
static gboolean
add_group (QuoitKuberay *kuberay, JsonObject *group, const char *name, const Names *names, GError **error)
{
  guint32 index = quoit_kuberay_get_n_groups (kuberay);
  gint32 replicas, lowest, highest, hosts;

  if (!read_number (group, names->lowest, 0, &lowest, error)
      || !read_number (group, names->highest, G_MAXINT32, &highest, error)
      || !read_number (group, names->replicas, lowest, &replicas, error)
      || !read_number (group, names->hosts, 1, &hosts, error))
    return FALSE;
  if (!quoit_kuberay_add_group (kuberay, name, hosts, NULL, error))
    return FALSE;
  quoit_kuberay_set_replicas (kuberay, index, replicas);
  quoit_kuberay_set_bounds (kuberay, index, lowest, highest);
  if (json_object_get_boolean_member_with_default (group, names->suspend, FALSE))
    quoit_kuberay_suspend_group (kuberay, index);
  return TRUE;
}

static JsonNode *
desired (JsonNode *in, GError **error)
{
  static const char *const members[] = { "numOfHosts", "replicas", "min", "max", "suspend", NULL };
  static const Names names = { "replicas", "min", "max", "numOfHosts", "suspend" };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitKuberay) kuberay = quoit_kuberay_new ("c", 0);

  if (object == NULL || !add_group (kuberay, object, "g", &names, error))
    return NULL;
  return vector_node_of_integer (quoit_kuberay_get_n_desired (kuberay, 0));
}

/* --- steps --- */

/* Reads the words after the verb of a step: "REPLICA [HOST] [WORD]". A replica of one host has no HOST. */
static gboolean
find_pod (const Run *run, char **words, guint32 *pod, const char **word, GError **error)
{
  gint64 replica, host = -1;

  if (words[1] == NULL || !g_ascii_string_to_signed (words[1], 10, 0, G_MAXINT32, &replica, NULL))
    return vector_skip (error, "a step without a pod");
  words += 2;
  if (words[0] != NULL && g_ascii_string_to_signed (words[0], 10, 0, G_MAXINT32, &host, NULL))
    words++;
  *word = words[0] == NULL ? "" : words[0];
  for (guint32 i = 0; i < quoit_kuberay_get_n_pods (run->kuberay); i++)
    if (quoit_kuberay_get_pod_group (run->kuberay, i) == 0 && quoit_kuberay_get_pod_replica (run->kuberay, i) == replica
        && quoit_kuberay_get_pod_host (run->kuberay, i)
               == (quoit_kuberay_get_pod_host (run->kuberay, i) < 0 ? -1 : host))
      return *pod = i, TRUE;
  return vector_skip (error, "a step of a pod that is not there");
}

static gboolean
step_pod (const Run *run, char **words, GError **error)
{
  static const struct {
    const char *verb, *word;
    QuoitKuberayEvent event;
  } events[] = {
    { "fail", "Failed", QUOIT_KUBERAY_EVENT_FAILED },
    { "fail", "Succeeded", QUOIT_KUBERAY_EVENT_FAILED },
    { "crash", "Never", QUOIT_KUBERAY_EVENT_ENDED },
    { "crash", "Always", QUOIT_KUBERAY_EVENT_RESTARTED },
    { "crash", "OnFailure", QUOIT_KUBERAY_EVENT_RESTARTED },
    { "toDelete", "", QUOIT_KUBERAY_EVENT_TO_DELETE },
    { "delete", "", QUOIT_KUBERAY_EVENT_GONE },
  };
  const char *word = NULL;
  guint32 pod = 0;

  if (!find_pod (run, words, &pod, &word, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    if (strcmp (words[0], events[i].verb) == 0 && strcmp (word, events[i].word) == 0)
      {
        quoit_kuberay_mark_pod (run->kuberay, pod, events[i].event);
        return TRUE;
      }
  return vector_skip (error, "a step that nobody knows");
}

static gboolean
step_group (const Run *run, char **words, GError **error)
{
  gint64 replicas;

  if (strcmp (words[0], "replicas") == 0 && words[1] != NULL
      && g_ascii_string_to_signed (words[1], 10, G_MININT32, G_MAXINT32, &replicas, NULL))
    quoit_kuberay_set_replicas (run->kuberay, 0, (gint32) replicas);
  else if (strcmp (words[0], "suspend") == 0 && g_strcmp0 (words[1], "true") == 0)
    quoit_kuberay_suspend_group (run->kuberay, 0);
  else if (strcmp (words[0], "suspend") == 0 && g_strcmp0 (words[1], "false") == 0)
    quoit_kuberay_resume_group (run->kuberay, 0);
  else
    return step_pod (run, words, error);
  return TRUE;
}

/* --- what there is --- */

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gint64
place_of (const Run *run, gint64 incarnation)
{
  gpointer key = GSIZE_TO_POINTER ((gsize) incarnation + 1), place = g_hash_table_lookup (run->seen, key);

  if (place == NULL)
    {
      place = GUINT_TO_POINTER (g_hash_table_size (run->seen) + 1);
      g_hash_table_insert (run->seen, key, place);
    }
  return (gint64) GPOINTER_TO_UINT (place) - 1;
}

static char *
text_of_index (gint64 index)
{
  return index < 0 ? g_strdup ("") : g_strdup_printf ("%" G_GINT64_FORMAT, index);
}

/* "GROUP replica=R host=H name=GROUP-<N>", where <N> is still the incarnation. */
static char *
pod_of (const Run *run, guint32 pod)
{
  const char *group = quoit_kuberay_get_group_name (run->kuberay, quoit_kuberay_get_pod_group (run->kuberay, pod));
  g_autofree char *replica = text_of_index (quoit_kuberay_get_pod_replica (run->kuberay, pod));
  g_autofree char *host = text_of_index (quoit_kuberay_get_pod_host (run->kuberay, pod));
  gint64 incarnation = quoit_kuberay_get_pod_incarnation (run->kuberay, pod);

  if (incarnation < 0)
    return g_strdup_printf ("%s replica=%s host=%s name=", group, replica, host);
  return g_strdup_printf ("%s replica=%s host=%s name=%s-<%" G_GINT64_FORMAT ">", group, replica, host, group,
                          incarnation);
}

/* Replaces "<N>" in a text by the row's number: the order in which pods were first seen, not made. */
static char *
renumbered (const Run *run, const char *text)
{
  const char *open = strrchr (text, '<');

  if (open == NULL)
    return g_strdup (text);
  return g_strdup_printf ("%.*s<%" G_GINT64_FORMAT "%s", (int) (open - text), text,
                          place_of (run, g_ascii_strtoll (open + 1, NULL, 10)), strchr (open, '>'));
}

static JsonObject *
state_of (const Run *run, const char *requeued)
{
  g_autoptr (GPtrArray) pods = g_ptr_array_new_with_free_func (g_free);
  JsonObject *state = json_object_new ();
  JsonArray *list = json_array_new ();

  for (guint32 i = 0; i < quoit_kuberay_get_n_pods (run->kuberay); i++)
    g_ptr_array_add (pods, pod_of (run, i));
  g_ptr_array_sort (pods, by_text);
  if (requeued != NULL)
    {
      g_autofree char *error = renumbered (run, requeued);

      json_object_set_string_member (state, "error", error);
    }
  for (guint i = 0; i < pods->len; i++)
    {
      g_autofree char *pod = renumbered (run, pods->pdata[i]);

      json_array_add_string_element (list, pod);
    }
  json_object_set_array_member (state, "pods", list);
  return state;
}

static JsonObject *
take_step (const Run *run, const char *step, GError **error)
{
  g_auto (GStrv) words = g_strsplit (step, " ", -1);
  const char *requeued;

  if (words[0] == NULL)
    return vector_skip (error, "a step that nobody knows"), NULL;
  if (strcmp (words[0], "reconcile") != 0)
    return step_group (run, words, error) ? json_object_new () : NULL;
  return quoit_kuberay_reconcile (run->kuberay, &requeued, error) ? state_of (run, requeued) : NULL;
}

static gboolean
add_groups (QuoitKuberay *kuberay, JsonArray *groups, GError **error)
{
  static const char *const members[]
      = { "groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "suspend", NULL };
  static const Names names = { "replicas", "minReplicas", "maxReplicas", "numOfHosts", "suspend" };

  for (guint i = 0; groups != NULL && i < json_array_get_length (groups); i++)
    {
      JsonObject *group = vector_object (json_array_get_element (groups, i), members, error);
      const char *name;

      if (group == NULL || !vector_text (group, "groupName", &name, error))
        return FALSE;
      if (!add_group (kuberay, group, name == NULL ? "" : name, &names, error))
        return FALSE;
    }
  return TRUE;
}

static JsonNode *
reconcile (JsonNode *in, GError **error)
{
  static const char *const members[] = { "autoscaling", "multi_host_indexing", "groups", "steps", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (JsonArray) answers = json_array_new ();
  g_auto (Run) run = { 0 };
  JsonNode *node;
  JsonArray *steps;
  uint32_t flags;

  if (object == NULL)
    return NULL;
  flags = json_object_get_boolean_member_with_default (object, "autoscaling", FALSE) ? QUOIT_KUBERAY_AUTOSCALING : 0;
  flags |= json_object_get_boolean_member_with_default (object, "multi_host_indexing", TRUE) ? 0
                                                                                             : QUOIT_KUBERAY_NO_INDICES;
  run.kuberay = quoit_kuberay_new ("c", flags);
  run.seen = g_hash_table_new (NULL, NULL);
  if (!json_object_has_member (object, "steps"))
    return vector_skip (error, "no steps"), NULL;
  if (json_object_has_member (object, "groups")
      && !add_groups (run.kuberay, json_object_get_array_member (object, "groups"), error))
    return NULL;
  steps = json_object_get_array_member (object, "steps");
  for (guint i = 0; i < json_array_get_length (steps); i++)
    {
      JsonObject *answer = take_step (&run, json_array_get_string_element (steps, i), error);

      if (answer == NULL)
        return NULL;
      json_array_add_object_element (answers, answer);
      if (quoit_kuberay_is_deletion_arbitrary (run.kuberay))
        return vector_skip (error, "pods of which KubeRay does not say which go"), NULL;
    }
  node = json_node_new (JSON_NODE_ARRAY);
  json_node_take_array (node, g_steal_pointer (&answers));
  return node;
}

/* --- names --- */

static JsonNode *
name_of (JsonNode *in, char *(*make) (const char *name), GError **error)
{
  const char *name = JSON_NODE_HOLDS_VALUE (in) ? json_node_get_string (in) : NULL;
  g_autofree char *made = NULL;

  if (name == NULL)
    return vector_skip (error, "no name"), NULL;
  made = make (name);
  if (!g_utf8_validate (made, -1, NULL))
    return vector_skip (error, "a name cut within a character"), NULL;
  return vector_node_of_text (g_steal_pointer (&made));
}

static JsonNode *
check_name (JsonNode *in, GError **error)
{
  if (JSON_NODE_HOLDS_VALUE (in) && g_strcmp0 (json_node_get_string (in), "") == 0)
    return vector_skip (error, "an empty name, which Go does not survive"), NULL;
  return name_of (in, quoit_kuberay_dup_checked_name, error);
}

static JsonNode *
pod_name (JsonNode *in, GError **error)
{
  return name_of (in, quoit_kuberay_dup_pod_prefix, error);
}

static const VectorOp ops[] = {
  { "kuberay_CheckName", check_name, VECTOR_ANY_ORDER },
  { "kuberay_PodName", pod_name, VECTOR_ANY_ORDER },
  { "kuberay_desired", desired, VECTOR_ANY_ORDER },
  { "kuberay_reconcile", reconcile, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_kuberay = { "kuberay", tables };
