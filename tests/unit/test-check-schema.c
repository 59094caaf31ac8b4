/* SPDX-License-Identifier: Apache-2.0 */
/* Objects against the schemas of their kinds: one-line edits that the API server refuses, and the verdicts of a real
 * API server on drawn mutants. */
#include <json-glib/json-glib.h>

#include "check-fixture.h"

/* One fault of a file, and the only error that it has. */
typedef struct {
  Edit edit;
  const char *rule, *path, *message;
} Fault;

#define HEAD "$.spec.headGroupSpec.template.spec.containers[0]"
#define POD GROUP ".template.spec"
static const Fault faults[] = {
  /* what is easily mistyped */
  { { "            value: \"2\"\n", "            value: 2\n" },
    "field",
    POD ".containers[0].env[0].value",
    "MEGASCALE_NUM_SLICES '2': expected text: put it in quotes, because Kubernetes reads a number, a boolean or null" },
  { { "workerGroupSpecs:", "workerGroupSpec:" },
    "field-unknown",
    "$.spec.workerGroupSpec",
    "field 'workerGroupSpec': expected a field of spec; did you mean 'workerGroupSpecs'?" },
  { { "          - name: MEGASCALE_NUM_SLICES", "          - nam: MEGASCALE_NUM_SLICES" },
    "field-unknown",
    POD ".containers[0].env[0].nam",
    "field 'nam': expected a field of env[0]; did you mean 'name'?" },
  { { ACCELERATOR, ACCELERATOR "          cloud.google.com/gke-spot: true\n" },
    "field",
    POD ".nodeSelector['cloud.google.com/gke-spot']",
    "cloud.google.com/gke-spot 'true': expected text: put it in quotes, because Kubernetes reads a boolean" },
  { { "allocationMode: All}", "count: \"2\"}" },
    "field",
    "$.spec.spec.devices.requests[0].exactly.count",
    "count '2': expected a whole number, without quotes" },

  /* places */
  { { "    rayStartParams: {num-cpus: \"0\"}\n", "    rayStartParams: {num-cpus: \"0\"}\n    nodeSelector: {a: b}\n" },
    "field-unknown",
    "$.spec.headGroupSpec.nodeSelector",
    "field 'nodeSelector': expected a field of headGroupSpec" },
  { { "        nodeSelector:\n", "          replicas: 2\n        nodeSelector:\n" },
    "field-unknown",
    POD ".containers[0].replicas",
    "field 'replicas': expected a field of containers[0]; workerGroupSpecs[0] has this one: check the indentation" },
  { { "          resources:\n            claims:",
      "          limits: {cpu: 1}\n          resources:\n            claims:" },
    "field-unknown",
    POD ".containers[0].limits",
    "field 'limits': expected a field of containers[0]; resources has this one: check the indentation" },

  /* types */
  { { "image: ray # head", "image: [ray]" }, "field", HEAD ".image", "image: a list: expected text" },
  { { "image: ray # head", "image: ray\n          tty: \"true\"" },
    "field",
    HEAD ".tty",
    "tty 'true': expected true or false, without quotes" },
  { { "image: ray # head", "image: ray\n          ports: {containerPort: 1}" },
    "field",
    HEAD ".ports",
    "ports: a map: expected a list" },
  { { "image: ray # head", "image: ray\n          livenessProbe: {exec: {command: [a]}, periodSeconds: 1.5}" },
    "field",
    HEAD ".livenessProbe.periodSeconds",
    "periodSeconds '1.5': expected a whole number" },
  { { "image: ray # head", "image: ray\n          command: [sleep, 10]" },
    "field",
    HEAD ".command[1]",
    "command[1] '10': expected text: put it in quotes, because Kubernetes reads a number" },
  { { "image: ray # head", "image: ray\n          command: [sleep, ~]" },
    "field",
    HEAD ".command[1]",
    "command[1]: expected text" },
  { { "spec:\n  headGroupSpec:", "spec:\n  suspend: 1\n  headGroupSpec:" },
    "field",
    "$.spec.suspend",
    "suspend '1': expected true or false" },

  /* values */
  { { "image: ray # head", "image: ray\n          ports: [{name: a, containerPort: 1}, {name: b, containerPort: 1}]" },
    "field-value",
    HEAD ".ports[1]",
    "ports[1], the same again: expected elements that differ in 'containerPort' and 'protocol'" },
  { { "          - name: MEGASCALE_NUM_SLICES\n",
      "          - name: A\n          - name: A\n          - name: MEGASCALE_NUM_SLICES\n" },
    "field-value",
    POD ".containers[0].env[1]",
    "env[1], the same again: expected elements that differ in 'name'" },
  { { "spec:\n  headGroupSpec:", "spec:\n  managedBy: me\n  headGroupSpec:" },
    "field-value",
    "$.spec.managedBy",
    "managedBy 'me': expected 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue'" },
  { { "image: ray # head", "image: ray\n          livenessProbe: {exec: {command: [a]}, periodSeconds: 3000000000}" },
    "field-range",
    HEAD ".livenessProbe.periodSeconds",
    "periodSeconds '3000000000': expected a number of at most 32 bits, because KubeRay cannot read the object "
    "otherwise" },
  { { "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n",
      "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n  labels: {a: b c}\n" },
    "field-value",
    "$.metadata.labels.a",
    "a 'b c': expected at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends" },

  { { "image: ray # head", "image: ray\n          tty: !!str true" },
    "field",
    HEAD ".tty",
    "tty 'true': expected true or false, without quotes" },
  { { "image: ray # head", "image: !!int \"4\"" },
    "field",
    HEAD ".image",
    "image '4': expected text: put it in quotes, because Kubernetes reads a number" },
  { { "metadata:\n  name: train\n", "metadata:\n  name: train\n  finalizers: [a b]\n" },
    "field-value",
    "$.metadata.finalizers[0]",
    "finalizers[0] 'a b': expected at most 63 letters, digits, '-', '_' and '.', perhaps after a DNS name and '/'" },

  /* what is missing */
  { { "          - name: MEGASCALE_NUM_SLICES\n            value", "          - value" },
    "field-missing",
    POD ".containers[0].env[0]",
    "env[0] has no 'name': expected this field" },
  { { "deviceClassName: netdev.google.com, ", "" },
    "field-missing",
    "$.spec.spec.devices.requests[0].exactly",
    "exactly has no 'deviceClassName': expected this field" },
  { { "exactly: {deviceClassName: netdev.google.com, allocationMode: All}", "exactly: ~" },
    "field-value",
    "$.spec.spec.devices.requests[0]",
    "requests[0]: expected 'exactly' or 'firstAvailable'" },

  /* pods */
  { { "image: ray # head", "tty: true" }, "pod-field", HEAD, "containers[0] has no 'image': expected this field" },
  { { "image: ray # head", "image: ray\n          imagePullPolicy: IfPresent" },
    "pod-field",
    HEAD ".imagePullPolicy",
    "imagePullPolicy 'IfPresent': expected 'Always', 'IfNotPresent' or 'Never'" },

  /* kinds and names */
  { { "kind: ResourceClaimTemplate", "kind: ResourceClaimTemplates" },
    "kind-unknown",
    "$.kind",
    "kind 'ResourceClaimTemplates': expected a kind of 'resource.k8s.io/v1', such as 'ResourceClaimTemplate'" },
  { { "apiVersion: resource.k8s.io/v1\n", "apiVersion: resource.k8s.io/v2\n" },
    "kind-unknown",
    "$.apiVersion",
    "apiVersion 'resource.k8s.io/v2': expected 'resource.k8s.io/v1', a version of the API that has a "
    "ResourceClaimTemplate" },
  { { "apiVersion: resource.k8s.io/v1\n", "" },
    "field-missing",
    "$",
    "the object has no 'apiVersion': expected this field" },
  { { "kind: ResourceClaimTemplate\n", "" }, "field-missing", "$", "the object has no 'kind': expected this field" },
  { { "  name: two-netdev\n", "  name: two_netdev\n" },
    "object-name",
    "$.metadata.name",
    "name 'two_netdev': expected a DNS name: at most 253 lower-case letters, digits, '-' and '.', with a letter or "
    "digit "
    "at both ends of each part" },
};

START_TEST (fault_is_the_only_error_and_has_place_value_and_expectation)
{
  const Fault *fault = &faults[_i];
  g_autofree char *text = edit (good, fault->edit);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);
  int n = find (check, fault->rule);

  ck_assert_msg (n >= 0 && count (check, QUOIT_SEVERITY_ERROR) == 1, "%s\nfound:\n%s", fault->edit.to, found);
  ck_assert_str_eq (quoit_check_get_message (check, (uint32_t) n), fault->message);
  ck_assert_str_eq (quoit_check_get_path (check, (uint32_t) n), fault->path);
  ck_assert_int_eq (quoit_check_get_severity (check, (uint32_t) n), QUOIT_SEVERITY_ERROR);
}
END_TEST

/* --- kinds without schema --- */

#define JOBSET_POD "$.spec.replicatedJobs[0].template.spec.template.spec.containers[0]"

static const char jobset[] = "apiVersion: jobset.x-k8s.io/v1alpha2\n"
                             "kind: JobSet\n"
                             "metadata: {name: train, labels: {app: train}}\n"
                             "spec:\n"
                             "  network: {enableDNSHostnames: true}\n"
                             "  replicatedJobs:\n"
                             "  - name: workers\n"
                             "    template:\n"
                             "      spec:\n"
                             "        template:\n"
                             "          spec:\n"
                             "            containers:\n"
                             "            - name: jax\n"
                             "              image: jax\n"
                             "              tty: true\n";

static const Fault pod_faults[] = {
  { { "tty: true", "ttty: true" },
    "field-unknown",
    JOBSET_POD ".ttty",
    "field 'ttty': expected a field of containers[0]; did you mean 'tty'?" },
  { { "tty: true", "tty: 1" }, "field", JOBSET_POD ".tty", "tty '1': expected true or false" },
  { { "image: jax", "imagePullPolicy: Never" },
    "pod-field",
    JOBSET_POD,
    "containers[0] has no 'image': expected this field" },
  { { "tty: true", "imagePullPolicy: Sometimes" },
    "pod-field",
    JOBSET_POD ".imagePullPolicy",
    "imagePullPolicy 'Sometimes': expected 'Always', 'IfNotPresent' or 'Never'" },
  { { "      spec:\n        template:", "      spec:\n        parallelims: 2\n        template:" },
    "field-unknown",
    "$.spec.replicatedJobs[0].template.spec.parallelims",
    "field 'parallelims': expected a field of spec; did you mean 'parallelism'?" },
  { { "      spec:\n        template:", "      spec:\n        backoffLimit: \"2\"\n        template:" },
    "field",
    "$.spec.replicatedJobs[0].template.spec.backoffLimit",
    "backoffLimit '2': expected a whole number, without quotes" },
  { { "labels: {app: train}", "label: {app: train}" },
    "field-unknown",
    "$.metadata.label",
    "field 'label': expected a field of metadata; did you mean 'labels'?" },
  { { "labels: {app: train}", "labels: {app: 1}" },
    "field",
    "$.metadata.labels.app",
    "app '1': expected text: put it in quotes, because Kubernetes reads a number" },
};

START_TEST (metadata_and_pods_of_a_kind_without_schema_are_compared)
{
  const Fault *fault = &pod_faults[_i];
  g_autofree char *text = edit (jobset, fault->edit);
  g_autoptr (QuoitCheck) correct = check_text (jobset, NULL), check = check_text (text, NULL);
  g_autofree char *found = as_text (check);
  int n = find (check, fault->rule);

  ck_assert_uint_eq (count (correct, QUOIT_SEVERITY_ERROR), 0);
  ck_assert_msg (n >= 0 && count (check, QUOIT_SEVERITY_ERROR) == 1, "%s\nfound:\n%s", fault->edit.to, found);
  ck_assert_str_eq (quoit_check_get_message (check, (uint32_t) n), fault->message);
  ck_assert_str_eq (quoit_check_get_path (check, (uint32_t) n), fault->path);
}
END_TEST

/* What Kubernetes accepts although it looks wrong. */
static const Edit accepted[] = {
  { "    numOfHosts: 4\n", "    numOfHosts: 4.0\n" },
  { "image: ray # head", "image: ray\n          ports: [{containerPort: 0x10}]" },
  { "image: ray # head", "image: ray\n          ports: [{containerPort: 1}, {containerPort: 1, protocol: UDP}]" },
  { "image: ray # head", "image: ray\n          tty: yes" },
  { "image: ray # head", "image: ray\n          command: ~" },
  { "image: ray # head", "image: ray\n          livenessProbe: {httpGet: {port: http}}" },
  { "image: ray # head", "image: ray\n          livenessProbe: {httpGet: {port: 80}}" },
  { "image: ray # head", "image: ray\n          tty: !!bool \"true\"" },
  { "    numOfHosts: 4\n", "    numOfHosts: !!int \"4\"\n" },
  { "image: ray # head", "image: 1e400" },
  { "image: ray # head", "image: ${IMAGE}" },
  { "image: ray # head", "image: ray\n          tty: ${TTY}" },
  { "image: ray # head", "image: ray\n          ports: ${PORTS}" },
  { "metadata:\n  name: train\n", "metadata:\n  name: train\n  annotations: {a: 'b c'}\n" },
  { "metadata:\n  name: train\n", "metadata:\n  name: train\n  creationTimestamp: ~\n" },
  { "metadata:\n  name: train\n", "metadata:\n  name: train\nstatus: {state: 5, head: {podIP: 10.0.0.1}}\n" },
  { "allocationMode: All", "allocationMode: All, count: 0" },
  { "allocationMode: All", "allocationMode: \"\"" },
};

START_TEST (odd_values_that_kubernetes_accepts_are_no_errors)
{
  g_autofree char *text = edit (good, accepted[_i]);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (count (check, QUOIT_SEVERITY_ERROR) == 0, "%s\nfound:\n%s", accepted[_i].to, found);
}
END_TEST

#define INDEXED "completionMode: Indexed, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}"

/* Kubernetes sets the numbers of an indexed Job without any to 1, but not those of a CronJob's template. */
START_TEST (indexed_jobs_have_default_numbers)
{
  static const struct {
    const char *text;
    guint n_errors;
  } jobs[] = {
    { "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {" INDEXED "}\n", 0 },
    { "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: 2, completions: 2, " INDEXED "}\n",
      0 },
    { "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: 2, " INDEXED "}\n", 1 },
    { "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: '* * * * *', jobTemplate: {spec: "
      "{" INDEXED "}}}\n",
      1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    {
      g_autoptr (QuoitCheck) check = check_text (jobs[i].text, NULL);
      g_autofree char *found = as_text (check);

      ck_assert_msg (count (check, QUOIT_SEVERITY_ERROR) == jobs[i].n_errors, "%s\nfound:\n%s", jobs[i].text, found);
    }
}
END_TEST

START_TEST (variable_with_a_value_is_checked_as_the_value)
{
  static const char *const good_values[] = { "TTY=true", NULL }, *const bad_values[] = { "TTY=5", NULL };
  g_autofree char *text = edit (good, (Edit) { "image: ray # head", "image: ray\n          tty: ${TTY}" });
  g_autoptr (QuoitCheck) check = check_text (text, good_values);
  g_autoptr (QuoitCheck) refused = check_text (text, bad_values);

  ck_assert_uint_eq (quoit_check_get_n_findings (check), 0);
  ck_assert_uint_eq (quoit_check_get_n_findings (refused), 1);
  ck_assert_str_eq (quoit_check_get_message (refused, 0), "tty '${TTY}': expected true or false");
}
END_TEST

/* --- verdicts of a server --- */

/* Rules of what the API server itself decides. */
static const char *const server_rules[]
    = { "api-version", "field", "field-unknown", "field-missing", "field-value", "kind-unknown", "object-name",
        "yaml",        NULL };

typedef struct {
  guint n_errors, n_server_errors, n_pod_errors;
} Verdict;

/* Text that is not YAML, such as a map with a key twice, is one error. */
static Verdict
judge (const char *text)
{
  Verdict verdict = { 0, 0, 0 };
  g_autoptr (QuoitCheck) check = quoit_check_manifest (text, strlen (text), NULL, NULL);

  if (check == NULL)
    return (Verdict) { 1, 1, 0 };
  for (uint32_t i = 0; i < quoit_check_get_n_findings (check); i++)
    if (quoit_check_get_severity (check, i) == QUOIT_SEVERITY_ERROR)
      {
        verdict.n_errors++;
        verdict.n_server_errors += g_strv_contains (server_rules, quoit_check_get_rule (check, i));
        verdict.n_pod_errors += strcmp (quoit_check_get_rule (check, i), "pod-field") == 0;
      }
  return verdict;
}

static char *
make_mutant (const char *base, JsonObject *row)
{
  g_auto (GStrv) old = g_strsplit (base, "\n", -1);
  gint64 from = json_object_get_int_member (row, "from"), to = json_object_get_int_member (row, "to");
  JsonArray *lines = json_object_get_array_member (row, "lines");
  GString *text = g_string_new (NULL);

  for (gint64 i = 0; i < from; i++)
    g_string_append_printf (text, "%s\n", old[i]);
  for (guint i = 0; i < json_array_get_length (lines); i++)
    g_string_append_printf (text, "%s\n", json_array_get_string_element (lines, i));
  for (gint64 i = to; old[i] != NULL && *old[i] != '\0'; i++)
    g_string_append_printf (text, "%s\n", old[i]);
  return g_string_free (text, FALSE);
}

static const char *
find_text (JsonObject *row, const char *name)
{
  return json_object_get_null_member (row, name) ? NULL : json_object_get_string_member (row, name);
}

/* Compares a recorded verdict. Returns whether the server refuses the object or its pods. */
static gboolean
compare_row (JsonObject *row, const char *base_text, gboolean has_pods)
{
  g_autofree char *text = make_mutant (base_text, row);
  g_autofree char *place
      = g_strdup_printf ("%s, %s at %s", json_object_get_string_member (row, "base"),
                         json_object_get_string_member (row, "mutation"), json_object_get_string_member (row, "place"));
  const char *refused = find_text (row, "refused"), *pods_refused = find_text (row, "pods_refused");
  const char *why = refused != NULL ? refused : pods_refused;
  Verdict base = judge (base_text), mutant = judge (text);

  ck_assert_msg (why == NULL || mutant.n_errors > base.n_errors, "%s: no error, but the server: %s", place, why);
  ck_assert_msg (refused != NULL || mutant.n_server_errors == 0, "%s: an error, but the server accepts it", place);
  ck_assert_msg (why != NULL || !has_pods || mutant.n_pod_errors == 0, "%s: an error, but the server accepts its pods",
                 place);
  return why != NULL;
}

START_TEST (verdicts_are_those_of_a_real_server)
{
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests", "schemas", "mutants.ndjson", NULL);
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GHashTable) bases = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) with_pods = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n_refused = 0, n_accepted = 0;

  ck_assert (g_file_get_contents (path, &content, NULL, NULL));
  lines = g_strsplit (g_strchomp (content), "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      const char *name;
      JsonObject *row;

      ck_assert (json_parser_load_from_data (parser, *line, -1, NULL));
      row = json_node_get_object (json_parser_get_root (parser));
      name = json_object_get_string_member (row, "base");
      if (json_object_has_member (row, "text"))
        {
          g_hash_table_insert (bases, g_strdup (name), g_strdup (json_object_get_string_member (row, "text")));
          if (json_object_get_boolean_member (row, "has_pods"))
            g_hash_table_add (with_pods, g_strdup (name));
        }
      else if (compare_row (row, g_hash_table_lookup (bases, name), g_hash_table_contains (with_pods, name)))
        n_refused++;
      else
        n_accepted++;
    }
  ck_assert_uint_gt (n_refused, 50);
  ck_assert_uint_gt (n_accepted, 20);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("check-schema");
  TCase *schema = tcase_create ("schema");

  tcase_set_timeout (schema, 60);
  tcase_add_loop_test (schema, fault_is_the_only_error_and_has_place_value_and_expectation, 0, G_N_ELEMENTS (faults));
  tcase_add_loop_test (schema, metadata_and_pods_of_a_kind_without_schema_are_compared, 0, G_N_ELEMENTS (pod_faults));
  tcase_add_loop_test (schema, odd_values_that_kubernetes_accepts_are_no_errors, 0, G_N_ELEMENTS (accepted));
  tcase_add_test (schema, indexed_jobs_have_default_numbers);
  tcase_add_test (schema, variable_with_a_value_is_checked_as_the_value);
  tcase_add_test (schema, verdicts_are_those_of_a_real_server);
  suite_add_tcase (suite, schema);
  return suite_main (suite);
}
