/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that processes get from envFrom and from references such as $(NAME), and what the TPU webhook sees of
 * them. */
#include <quoit/models/kuberay.h>
#include <string.h>

#include "suite.h"

/* --- fixtures --- */

/* A RayCluster with one container, whose fields are @container, and the further documents of the file. */
static QuoitKuberay *
parse (const char *container, const char *documents, GError **error)
{
  g_autofree char *text = g_strdup_printf (
      "kind: RayCluster\nmetadata: {name: c, namespace: here}\nspec:\n  workerGroupSpecs:\n  - groupName: g\n"
      "    replicas: 1\n    numOfHosts: 2\n    template:\n      spec:\n        nodeSelector:\n"
      "          {cloud.google.com/gke-tpu-topology: 2x4, cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice}\n"
      "        containers:\n        - {%s}\n%s",
      container, documents);
  QuoitKuberay *kuberay = quoit_kuberay_parse_manifest (text, strlen (text), NULL, 0, error);
  const char *requeued;

  if (kuberay != NULL)
    ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  return kuberay;
}

/* Returns the effective variables of the first pod's container: "A=1 B=2", with "?" for an unknown value. */
static char *
environment (const QuoitKuberay *kuberay)
{
  g_autoptr (QuoitWebhookPod) pod = quoit_kuberay_admit_pod (kuberay, 0, NULL);
  GString *text = g_string_new (NULL);

  ck_assert_ptr_nonnull (pod);
  for (guint i = 0; i < quoit_webhook_pod_get_n_variables (pod, 0); i++)
    {
      const char *value = quoit_webhook_pod_get_variable_value (pod, 0, i);

      if (quoit_webhook_pod_is_variable_effective (pod, 0, i))
        g_string_append_printf (text, "%s%s=%s", text->len == 0 ? "" : " ",
                                quoit_webhook_pod_get_variable_name (pod, 0, i), value == NULL ? "?" : value);
    }
  return g_string_free (text, FALSE);
}

/* --- references --- */

static const struct {
  const char *env, *expected;
} references[] = {
  { "{name: A, value: x}, {name: B, value: $(A)-$(A)}", "A=x B=x-x" },
  { "{name: A, value: x}, {name: B, value: $(A)y}, {name: C, value: $(B)z}", "A=x B=xy C=xyz" },
  { "{name: B, value: $(A)}, {name: A, value: x}", "B=$(A) A=x" },
  { "{name: A, value: x}, {name: B, value: $$(A)}", "A=x B=$(A)" },
  { "{name: A, value: x}, {name: B, value: $$$(A)}", "A=x B=$x" },
  { "{name: A, value: x}, {name: B, value: a$$b$c$}", "A=x B=a$b$c$" },
  { "{name: A, value: x}, {name: B, value: '$(A'}", "A=x B=$(A" },
  { "{name: A, value: x}, {name: B, value: '$(A $(A)'}", "A=x B=$(A $(A)" },
  { "{name: A, value: ''}, {name: B, value: '[$(A)]'}", "A= B=[]" },
  { "{name: B, value: $(KUBERNETES_SERVICE_HOST)}", "B=$(KUBERNETES_SERVICE_HOST)" },
  { "{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: B, value: '$(A):80'}", "A=? B=$(A):80" },
  { "{name: A, value: x}, {name: A, value: $(A)y}, {name: B, value: $(A)}", "A=xy B=xy" },
  { "{name: A, value: $(A)}", "A=$(A)" },
};

START_TEST (reference_to_an_earlier_variable_is_expanded)
{
  g_autofree char *container = g_strdup_printf ("env: [%s]", references[_i].env), *found = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitKuberay) kuberay = parse (container, "", &error);

  ck_assert_ok (error);
  found = environment (kuberay);
  ck_assert_str_eq (found, references[_i].expected);
}
END_TEST

START_TEST (references_that_grow_without_bound_are_refused)
{
  g_autoptr (GString) container = g_string_new ("env: [{name: V0, value: xxxxxxxxxx}");
  g_autoptr (QuoitKuberay) kuberay = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 1; i < 64; i++)
    g_string_append_printf (container, ", {name: V%u, value: $(V%u)$(V%u)$(V%u)$(V%u)}", i, i - 1, i - 1, i - 1, i - 1);
  g_string_append_c (container, ']');
  kuberay = parse (container->str, "", NULL);
  ck_assert_ptr_nonnull (kuberay);
  ck_assert_ptr_null (quoit_kuberay_admit_pod (kuberay, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bytes of variables in its container: expected at most 6291456");
}
END_TEST

/* --- envFrom --- */

#define MAP(name, more) "---\nkind: ConfigMap\nmetadata: {name: " name "}\n" more
#define SECRET(name, more) "---\nkind: Secret\nmetadata: {name: " name "}\n" more
#define FROM_MAP(name) "{configMapRef: {name: " name "}}"
#define FROM_SECRET(name) "{secretRef: {name: " name "}}"

static const struct {
  const char *container, *documents, *expected, *note;
} sources[] = {
  { "envFrom: [" FROM_MAP ("m") "]", MAP ("m", "data: {A: x, B: v}\n"), "A=x B=v", NULL },
  { "envFrom: [" FROM_MAP ("m") "], env: [{name: A, value: z}]", MAP ("m", "data: {A: x}\n"), "A=z", NULL },
  { "envFrom: [" FROM_MAP ("m") "], env: [{name: B, value: '$(A)!'}]", MAP ("m", "data: {A: x}\n"), "A=x B=x!", NULL },
  { "envFrom: [" FROM_MAP ("m") "]", MAP ("m", "data: {A: x, B: $(A)}\n"), "A=x B=$(A)", NULL },
  { "envFrom: [" FROM_MAP ("m") ", " FROM_MAP ("k") "]", MAP ("m", "data: {A: x}\n") MAP ("k", "data: {A: v}\n"), "A=v",
    NULL },
  { "envFrom: [{prefix: P_, configMapRef: {name: m}}]", MAP ("m", "data: {A: x}\n"), "P_A=x", NULL },
  { "envFrom: [" FROM_SECRET ("s") "]", SECRET ("s", "data: {A: eHl6, B: eA==, C: ''}\n"), "A=xyz B=x C=", NULL },
  { "envFrom: [" FROM_SECRET ("s") "]",
    SECRET ("s", "stringData: {A: new}\ndata:\n  A: eHl6\n  B: |\n    eH\n    l6\n"), "B=xyz A=new", NULL },
  { "envFrom: [" FROM_MAP ("s") "]", SECRET ("s", "data: {A: eHl6}\n"), "",
    "spec.workerGroupSpecs[0].template.spec.containers[0].envFrom[0].configMapRef: no ConfigMap 's' in the file: its "
    "variables are not known" },
  { "envFrom: [" FROM_MAP ("m") ", " FROM_MAP ("m") "]", "", "", "no ConfigMap 'm' in the file" },
  { "envFrom: [{configMapRef: {name: m, optional: true}}]", "", "", NULL },
  { "envFrom: [" FROM_SECRET ("s") "]", SECRET ("s", "data: {A: /w==, B: eA==}\n"), "B=x",
    "data.A: the value is not text: its variable is omitted" },
  { "envFrom: [" FROM_MAP ("m") "]", "---\nkind: ConfigMap\nmetadata: {name: m, namespace: there}\ndata: {A: x}\n", "",
    "no ConfigMap 'm' in the file" },
  { "envFrom: [" FROM_MAP ("m") "]",
    "---\nkind: List\nitems:\n- {kind: ConfigMap, metadata: {name: m, namespace: here}, data: {A: x}}\n", "A=x", NULL },
};

START_TEST (env_from_gives_the_variables_of_objects_in_the_file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitKuberay) kuberay = parse (sources[_i].container, sources[_i].documents, &error);
  g_autofree char *found = NULL;

  ck_assert_ok (error);
  found = environment (kuberay);
  ck_assert_str_eq (found, sources[_i].expected);
  ck_assert_uint_eq (quoit_kuberay_get_n_notes (kuberay), sources[_i].note != NULL);
  if (sources[_i].note != NULL)
    ck_assert_msg (strstr (quoit_kuberay_get_note (kuberay, 0), sources[_i].note) != NULL, "%s",
                   quoit_kuberay_get_note (kuberay, 0));
}
END_TEST

static const struct {
  const char *container, *documents, *message;
} refused[] = {
  { "envFrom: {}", "", "envFrom: a map: expected a list" },
  { "envFrom: [{prefix: P_}]", "", "envFrom[0]: no source: expected one of 'configMapRef' and 'secretRef'" },
  { "envFrom: [{configMapRef: {name: m}, secretRef: {name: s}}]", "", "envFrom[0]: two sources: expected one of" },
  { "envFrom: [" FROM_MAP ("m") "]", MAP ("m", "data: {A: 7}\n"), "line 17: data.A: '7': expected text" },
  { "envFrom: [" FROM_SECRET ("s") "]", SECRET ("s", "data: {A: 'e Q=='}\n"), "data.A: 'e Q==': expected base64" },
  { "envFrom: [" FROM_SECRET ("s") "]", SECRET ("s", "data: {A: eQ}\n"), "data.A: 'eQ': expected base64" },
  { "envFrom: [" FROM_MAP ("m") "]", MAP ("m", "") MAP ("m", ""), "a second ConfigMap 'm': expected each name once" },
};

START_TEST (env_from_that_kubernetes_refuses_is_refused_with_the_place)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (parse (refused[_i].container, refused[_i].documents, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (repeated_large_objects_are_refused)
{
  g_autoptr (GString) container = g_string_new ("envFrom: [" FROM_MAP ("m"));
  g_autofree char *value = g_strnfill (1 << 20, 'x');
  g_autofree char *documents = g_strdup_printf (MAP ("m", "data: {A: %s}\n"), value);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 64; i++)
    g_string_append (container, ", " FROM_MAP ("m"));
  g_string_append_c (container, ']');
  ck_assert_ptr_null (parse (container->str, documents, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bytes of variables from envFrom: expected at most 67108864");
}
END_TEST

/* The webhook changes the pod before the kubelet follows references and envFrom. */
START_TEST (webhook_sees_neither_env_from_nor_expanded_values)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitKuberay) kuberay = parse (
      "resources: {limits: {google.com/tpu: 4}}, envFrom: [" FROM_MAP (
          "m") "], env: [{name: HOST, value: "
               "localhost}, {name: TPU_WORKER_HOSTNAMES, value: $(HOST)}]",
      MAP ("m", "data: {MEGASCALE_NUM_SLICES: '2', TPU_NAME: mine, TPU_DEVICE_PLUGIN_HOST_IP: 10.0.0.1}\n"), &error);
  g_autofree char *found = NULL;

  ck_assert_ok (error);
  found = environment (kuberay);
  ck_assert_str_eq (found, "MEGASCALE_NUM_SLICES=2 HOST=localhost TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=0 "
                           "TPU_NAME=g-0 TPU_DEVICE_PLUGIN_HOST_IP=? "
                           "TPU_DEVICE_PLUGIN_ADDR=$(TPU_DEVICE_PLUGIN_HOST_IP):2112");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("env-from");
  TCase *tcase = tcase_create ("env-from");

  tcase_add_loop_test (tcase, reference_to_an_earlier_variable_is_expanded, 0, G_N_ELEMENTS (references));
  tcase_add_test (tcase, references_that_grow_without_bound_are_refused);
  tcase_add_loop_test (tcase, env_from_gives_the_variables_of_objects_in_the_file, 0, G_N_ELEMENTS (sources));
  tcase_add_loop_test (tcase, env_from_that_kubernetes_refuses_is_refused_with_the_place, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, repeated_large_objects_are_refused);
  tcase_add_test (tcase, webhook_sees_neither_env_from_nor_expanded_values);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
