/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the pods of a manifest: the names and labels from KubeRay, and the environment of their processes with the
 * variables of the TPU webhook. */
#include "manifest-env.h"

#include <string.h>

#include "text.h"

bool
manifest_is_chosen (const ManifestView *view, uint32_t pod)
{
  gint64 host = quoit_kuberay_get_pod_host (view->kuberay, pod);

  return (view->group < 0 || view->group == quoit_kuberay_get_pod_group (view->kuberay, pod))
         && (view->replica < 0 || view->replica == quoit_kuberay_get_pod_replica (view->kuberay, pod))
         && (view->host < 0 || view->host == MAX (host, 0));
}

static const Column fact_columns[] = {
  { "manifest", NULL, CELL_TEXT }, { "cluster", NULL, CELL_TEXT }, { "service", NULL, CELL_TEXT },
  { "assumed", NULL, CELL_LIST },  { "note", NULL, CELL_TEXT },
};

static const Column pod_columns[] = {
  { "group", NULL, CELL_TEXT },  { "replica", NULL, CELL_NUMBER },  { "host", NULL, CELL_NUMBER },
  { "prefix", NULL, CELL_TEXT }, { "hostname", NULL, CELL_TEXT },   { "subdomain", NULL, CELL_TEXT },
  { "labels", NULL, CELL_MAP },  { "variables", NULL, CELL_TABLE },
};

static const Column variable_columns[] = {
  { "container", NULL, CELL_NUMBER }, { "name", NULL, CELL_TEXT },   { "value", NULL, CELL_TEXT },
  { "field", NULL, CELL_TEXT },       { "set_by", NULL, CELL_TEXT }, { "manifest_value", NULL, CELL_TEXT },
};

void
manifest_add_index (Table *table, gint64 index)
{
  if (index < 0)
    table_skip (table);
  else
    table_add_number (table, index);
}

/* The effect of the TPU webhook on a pod: the patch, and the pod after it. */
typedef struct {
  QuoitWebhookPatch *patch;
  QuoitWebhookPod *admitted;
} Admission;

static void
admission_clear (Admission *admission)
{
  quoit_webhook_patch_free (admission->patch);
  quoit_webhook_pod_free (admission->admitted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Admission, admission_clear)

static bool
is_tpu_variable (const char *name)
{
  static const char *const prefixes[] = { "TPU_", "MEGASCALE_", "RAY_", "JAX_" };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (name, prefixes[i]))
      return true;
  return false;
}

/* The limit of the output. Every pod of a slice has the names of all hosts, so the output grows with the square of the
 * number of pods. ROW_BYTES is counted for each variable, because each is at least a line, or a row of JSON. */
enum { MAX_BYTES = 1 << 27, ROW_BYTES = 1 << 7 };

static bool
count_bytes (ManifestView *view, const QuoitWebhookPod *pod, GError **error)
{
  for (uint32_t c = 0; c < quoit_webhook_pod_get_n_containers (pod); c++)
    for (uint32_t i = 0; i < quoit_webhook_pod_get_n_variables (pod, c); i++)
      {
        const char *value = quoit_webhook_pod_get_variable_value (pod, c, i);

        if (is_tpu_variable (quoit_webhook_pod_get_variable_name (pod, c, i)))
          view->n_bytes += ROW_BYTES + (value == NULL ? 0 : strlen (value));
      }
  if (view->n_bytes <= MAX_BYTES)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "the variables of the pods exceed '%d' bytes: select fewer pods with --group, --slice-id or --worker",
               MAX_BYTES);
  return false;
}

static bool
admit_pod (ManifestView *view, uint32_t pod, Admission *admission, GError **error)
{
  const QuoitKuberay *kuberay = view->kuberay;

  admission->patch = quoit_kuberay_mutate_pod (kuberay, pod, error);
  admission->admitted = admission->patch == NULL ? NULL : quoit_kuberay_admit_pod (kuberay, pod, error);
  if (admission->admitted != NULL && count_bytes (view, admission->admitted, error))
    return true;
  g_prefix_error (error,
                  "group '%s': ", quoit_kuberay_get_group_name (kuberay, quoit_kuberay_get_pod_group (kuberay, pod)));
  return false;
}

static char *
pod_prefix (const QuoitKuberay *kuberay, uint32_t pod)
{
  uint32_t group = quoit_kuberay_get_pod_group (kuberay, pod);
  g_autofree char *name
      = g_strconcat (quoit_kuberay_get_cluster (kuberay), "-", quoit_kuberay_get_group_name (kuberay, group), NULL);

  return quoit_kuberay_dup_pod_prefix (name);
}

/* --- variables --- */

/* A variable for TPU jobs in a container. */
typedef struct {
  const char *name, *value;   /* @value NULL: the pod does not contain the value (valueFrom) */
  const char *field;          /* if @value is NULL, the field of the pod with the value; NULL: not a field */
  bool is_written;            /* the webhook sets the variable */
  const char *manifest_value; /* the value in the manifest that the webhook overrides; NULL: none */
} Variable;

/* Returns the value in the manifest that a variable of the webhook overrides; NULL: none. */
static const char *
find_overridden_value (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  const char *name = quoit_webhook_pod_get_variable_name (pod, container, variable), *value = NULL;

  for (uint32_t i = 0; i < variable; i++)
    if (!quoit_webhook_pod_is_variable_written (pod, container, i)
        && g_str_equal (quoit_webhook_pod_get_variable_name (pod, container, i), name))
      value = quoit_webhook_pod_get_variable_value (pod, container, i);
  return value;
}

/* Returns false if the variable is not for TPU jobs, or if a later variable overrides it. */
static bool
get_tpu_variable (const QuoitWebhookPod *pod, uint32_t container, uint32_t index, Variable *variable)
{
  const char *name = quoit_webhook_pod_get_variable_name (pod, container, index);

  if (!is_tpu_variable (name) || !quoit_webhook_pod_is_variable_effective (pod, container, index))
    return false;
  *variable = (Variable) { name, quoit_webhook_pod_get_variable_value (pod, container, index),
                           quoit_webhook_pod_get_variable_field (pod, container, index),
                           quoit_webhook_pod_is_variable_written (pod, container, index), NULL };
  if (variable->is_written)
    variable->manifest_value = find_overridden_value (pod, container, index);
  return true;
}

/* --- JSON --- */

static GPtrArray *
pod_labels (const QuoitWebhookPod *pod)
{
  g_auto (GStrv) labels = quoit_webhook_pod_dup_labels (pod);
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);

  for (char **label = labels; *label != NULL; label++)
    {
      char *value = strchr (*label, '=');

      g_ptr_array_add (all, g_strndup (*label, (gsize) (value - *label)));
      g_ptr_array_add (all, g_strdup (value + 1));
    }
  return all;
}

static Table *
list_variables (const QuoitWebhookPod *pod)
{
  Table *table = table_new (variable_columns, G_N_ELEMENTS (variable_columns));
  Variable variable;

  for (uint32_t c = 0; c < quoit_webhook_pod_get_n_containers (pod); c++)
    for (uint32_t i = 0; i < quoit_webhook_pod_get_n_variables (pod, c); i++)
      {
        if (!get_tpu_variable (pod, c, i, &variable))
          continue;
        table_add_number (table, c);
        table_add_text (table, variable.name);
        table_add_text (table, variable.value);
        table_add_text (table, variable.field);
        table_add_text (table, variable.is_written ? "webhook" : "manifest");
        table_add_text (table, variable.manifest_value);
      }
  return table;
}

static bool
add_pod (ManifestView *view, uint32_t pod, Table *table, GError **error)
{
  const QuoitKuberay *kuberay = view->kuberay;
  g_auto (Admission) admission = { 0 };

  if (!admit_pod (view, pod, &admission, error))
    return false;
  table_add_text (table, quoit_kuberay_get_group_name (kuberay, quoit_kuberay_get_pod_group (kuberay, pod)));
  manifest_add_index (table, quoit_kuberay_get_pod_replica (kuberay, pod));
  manifest_add_index (table, quoit_kuberay_get_pod_host (kuberay, pod));
  table_take_text (table, pod_prefix (kuberay, pod));
  table_add_text (table, quoit_webhook_patch_get_hostname (admission.patch));
  table_add_text (table, quoit_webhook_patch_get_subdomain (admission.patch));
  table_take_list (table, pod_labels (admission.admitted));
  table_take_table (table, list_variables (admission.admitted));
  return true;
}

static GPtrArray *
list_assumed (const QuoitKuberay *kuberay)
{
  GPtrArray *assumed = g_ptr_array_new ();

  if (quoit_kuberay_is_name_assumed (kuberay))
    {
      g_ptr_array_add (assumed, (char *) "cluster");
      if (quoit_kuberay_get_service (kuberay) != NULL)
        g_ptr_array_add (assumed, (char *) "service");
    }
  return assumed;
}

static GPtrArray *
list_notes (const QuoitKuberay *kuberay)
{
  GPtrArray *notes = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_kuberay_get_n_notes (kuberay); i++)
    g_ptr_array_add (notes, (char *) quoit_kuberay_get_note (kuberay, i));
  return notes;
}

static bool
print_json (Session *session, ManifestView *view, const char *manifest, const GPtrArray *problems, GError **error)
{
  g_autoptr (Table) pods = table_new (pod_columns, G_N_ELEMENTS (pod_columns));
  Table *facts;
  Document *document;

  for (uint32_t pod = 0; pod < quoit_kuberay_get_n_pods (view->kuberay); pod++)
    if (manifest_is_chosen (view, pod) && !add_pod (view, pod, pods, error))
      return false;

  facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  table_add_text (facts, manifest);
  table_add_text (facts, quoit_kuberay_get_cluster (view->kuberay));
  table_add_text (facts, quoit_kuberay_get_service (view->kuberay));
  table_take_list (facts, list_assumed (view->kuberay));
  table_take_text (facts, manifest_assumption (view->kuberay));
  document = document_new ();
  document_take_facts (document, facts);
  document_take_table (document, "problems", NULL, manifest_list_problems (problems));
  document_take_lines (document, "notes", NULL, list_notes (view->kuberay));
  document_take_table (document, "pods", NULL, g_steal_pointer (&pods));
  return session_print (session, document, error);
}

/* --- text --- */

static void
append_comment (GString *text, char *taken)
{
  g_autofree char *comment = taken;
  g_autofree char *line = text_for_terminal (comment);

  g_string_append_printf (text, "# %s\n", line);
}

static char *
describe_pod (const QuoitKuberay *kuberay, uint32_t pod, const QuoitWebhookPatch *patch)
{
  gint64 replica = quoit_kuberay_get_pod_replica (kuberay, pod), host = quoit_kuberay_get_pod_host (kuberay, pod);
  const char *hostname = quoit_webhook_patch_get_hostname (patch);
  g_autofree char *prefix = pod_prefix (kuberay, pod);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "pod %s<random>: group %s", prefix,
                          quoit_kuberay_get_group_name (kuberay, quoit_kuberay_get_pod_group (kuberay, pod)));
  if (replica >= 0)
    g_string_append_printf (text, ", replica %" G_GINT64_FORMAT, replica);
  if (host >= 0)
    g_string_append_printf (text, ", host %" G_GINT64_FORMAT, host);
  if (hostname != NULL)
    g_string_append_printf (text, ", hostname %s, subdomain %s", hostname, quoit_webhook_patch_get_subdomain (patch));
  return g_string_free (text, FALSE);
}

static void
append_variable (GString *text, const Variable *variable)
{
  g_autofree char *quoted = NULL, *shown = NULL, *name = NULL;

  if (variable->value == NULL)
    {
      append_comment (text, variable->field == NULL
                                ? g_strdup_printf ("%s is not in the pod (valueFrom)", variable->name)
                                : g_strdup_printf ("%s is %s of the pod", variable->name, variable->field));
      return;
    }
  if (variable->manifest_value != NULL && *variable->manifest_value != '\0')
    append_comment (text, g_strdup_printf ("instead of '%s' of the manifest:", variable->manifest_value));
  name = text_for_terminal (variable->name);
  quoted = g_shell_quote (variable->value);
  shown = text_for_terminal (quoted);
  g_string_append_printf (text, "%s=%s\n", name, shown);
}

/* Appends the variables of the manifest, then those of the webhook. */
static void
append_variables (GString *text, const QuoitWebhookPod *pod, uint32_t container)
{
  Variable variable;
  guint n = 0;

  for (uint32_t i = 0; i < quoit_webhook_pod_get_n_variables (pod, container); i++)
    {
      if (!get_tpu_variable (pod, container, i, &variable))
        continue;
      if (n++ == 0 && container > 0)
        append_comment (text, g_strdup_printf ("container %u", container));
      if (n == 1 && !variable.is_written)
        append_comment (text, g_strdup ("set by the manifest:"));
      if (variable.is_written && i > 0 && !quoit_webhook_pod_is_variable_written (pod, container, i - 1))
        append_comment (text, g_strdup ("set by the TPU webhook:"));
      append_variable (text, &variable);
    }
}

static bool
append_pod (ManifestView *view, uint32_t pod, GString *text, GError **error)
{
  g_auto (Admission) admission = { 0 };
  g_autoptr (GPtrArray) labels = NULL;

  if (!admit_pod (view, pod, &admission, error))
    return false;
  labels = pod_labels (admission.admitted);
  g_string_append_c (text, '\n');
  append_comment (text, describe_pod (view->kuberay, pod, admission.patch));
  for (guint i = 0; i < labels->len; i += 2)
    append_comment (text, g_strdup_printf ("label %s=%s", (char *) labels->pdata[i], (char *) labels->pdata[i + 1]));
  for (uint32_t c = 0; c < quoit_webhook_pod_get_n_containers (admission.admitted); c++)
    append_variables (text, admission.admitted, c);
  return true;
}

static bool
print_text (Session *session, ManifestView *view, const char *manifest, const GPtrArray *problems, GError **error)
{
  const char *service = quoit_kuberay_get_service (view->kuberay);
  g_autoptr (GString) text = g_string_new (NULL);
  char *assumption = manifest_assumption (view->kuberay);

  append_comment (text, g_strdup_printf ("%s, RayCluster %s, %s%s", manifest, quoit_kuberay_get_cluster (view->kuberay),
                                         service == NULL ? "no headless service" : "headless service ",
                                         service == NULL ? "" : service));
  if (assumption != NULL)
    append_comment (text, assumption);
  for (uint32_t i = 0; i < quoit_kuberay_get_n_notes (view->kuberay); i++)
    append_comment (text, g_strdup_printf ("note: %s", quoit_kuberay_get_note (view->kuberay, i)));
  for (guint i = 0; i < problems->len; i++)
    append_comment (text, g_strdup (((const ManifestProblem *) problems->pdata[i])->why->message));
  for (uint32_t pod = 0; pod < quoit_kuberay_get_n_pods (view->kuberay); pod++)
    if (manifest_is_chosen (view, pod) && !append_pod (view, pod, text, error))
      return false;
  return session_write (session, text->str, error);
}

bool
manifest_print_pods (Session *session, ManifestView *view, const char *manifest, const GPtrArray *problems,
                     GError **error)
{
  return session_wants_json (session) ? print_json (session, view, manifest, problems, error)
                                      : print_text (session, view, manifest, problems, error);
}
