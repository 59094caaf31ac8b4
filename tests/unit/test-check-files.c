/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of whole files: several faults in one file, hostile files, the webhook's rules, and published manifests. */
#include <json-glib/json-glib.h>

#include "check-kinds.h"

START_TEST (all_findings_are_reported_in_line_order)
{
  static const Edit edits[]
      = { { "name: train\n", "name: Train\n" },
          { "replicas: 2", "replicas: 9" },
          { "numOfHosts: 4", "numOfHosts: 5" },
          { "TemplateName: two-netdev", "TemplateName: all-netdev" },
          { "cpu: \"24\"", "cpu: many" },
          { "requests:\n              google.com/tpu: \"4\"", "requests:\n              google.com/tpu: \"2\"" },
          { "topology: 4x4", "topology: 4x5" } };
  g_autofree char *text = g_strdup (good), *found = NULL;
  g_autoptr (QuoitCheck) check = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
    {
      char *next = edit (text, edits[i]);

      g_free (text);
      text = next;
    }
  check = check_text (text, NULL);
  found = as_text (check);
  for (uint32_t i = 1; i < quoit_check_get_n_findings (check); i++)
    ck_assert_uint_ge (quoit_check_get_line (check, i), quoit_check_get_line (check, i - 1));
  /* The chips are those of the request, which the webhook counts. */
  ck_assert_msg (find (check, "cluster-name") >= 0 && find (check, "replicas-range") >= 0
                     && find (check, "numofhosts-topology") >= 0 && find (check, "claim-template") >= 0
                     && find (check, "field") >= 0 && find (check, "chips-request") >= 0
                     && find (check, "topology-unknown") >= 0 && find (check, "slices-number") >= 0,
                 "%s", found);
  ck_assert_msg (quoit_check_get_n_findings (check) == 8, "%s", found);
}
END_TEST

START_TEST (every_object_of_a_file_is_checked)
{
  g_autofree char *first = edit (good, (Edit) { "numOfHosts: 4", "numOfHosts: 3" });
  g_autofree char *second = edit (good, (Edit) { "numOfHosts: 4", "numOfHosts: 2" });
  g_autofree char *both
      = g_strconcat (first, "---\napiVersion: serving.knative.dev/v1\nkind: Service\nspec: 4\n---\n", second, NULL);
  g_autoptr (QuoitCheck) check = check_text (both, NULL);

  ck_assert_uint_eq (quoit_check_get_n_findings (check), 2);
  ck_assert_str_eq (quoit_check_get_value (check, 0), "3");
  ck_assert_str_eq (quoit_check_get_value (check, 1), "2");
  ck_assert_str_eq (quoit_check_get_path (check, 1), GROUP ".numOfHosts");
  ck_assert_uint_eq (quoit_check_get_line (check, 0), 25);
  ck_assert_uint_eq (quoit_check_get_column (check, 0), 5);
}
END_TEST

/* The RayCluster of the good file as the spec of another kind. */
static char *
inside (const char *kind, const char *member, const char *name)
{
  g_autofree char *spec = g_strdup (strstr (good, "spec:\n  headGroupSpec") + strlen ("spec:\n"));
  g_auto (GStrv) lines = g_strsplit (spec, "\n", -1);
  g_autofree char *deeper = g_strjoinv ("\n  ", lines);

  return g_strdup_printf ("apiVersion: ray.io/v1\nkind: %s\nmetadata:\n  name: %s\nspec:\n  %s:\n  %s\n", kind, name,
                          member, deeper);
}

START_TEST (jobs_and_services_are_checked_as_their_clusters)
{
  static const struct {
    const char *kind, *member;
  } kinds[] = { { "RayJob", "rayClusterSpec" }, { "RayService", "rayClusterConfig" } };
  static const char name_of_35[] = "a23456789b23456789c23456789d2345678";
  static const char name_of_36[] = "a23456789b23456789c23456789d23456789";
  g_autofree char *path = g_strconcat ("$.spec.", kinds[_i].member, ".workerGroupSpecs[0].numOfHosts", NULL);
  g_autofree char *text = inside (kinds[_i].kind, kinds[_i].member, name_of_35), *wrong = NULL, *longer = NULL;
  g_autoptr (QuoitCheck) check = check_text (text, NULL), of_wrong = NULL, of_longer = NULL;
  g_autofree char *found = as_text (check);

  /* Its template is in the other document. */
  ck_assert_msg (quoit_check_get_n_findings (check) == 1 && find (check, "claim-template") == 0, "%s", found);
  wrong = edit (text, (Edit) { "numOfHosts: 4", "numOfHosts: 8" });
  of_wrong = check_text (wrong, NULL);
  ck_assert_int_eq (find (of_wrong, "numofhosts-topology"), 0);
  ck_assert_str_eq (quoit_check_get_path (of_wrong, 0), path);
  /* KubeRay appends six bytes to the name. */
  longer = inside (kinds[_i].kind, kinds[_i].member, name_of_36);
  of_longer = check_text (longer, NULL);
  ck_assert_int_eq (find (of_longer, "service-name"), 0);
  ck_assert_ptr_nonnull (strstr (quoit_check_get_expected (of_longer, 0), "at most 35 bytes"));
}
END_TEST

START_TEST (list_is_checked_item_by_item)
{
  static const char text[] = "apiVersion: v1\nkind: List\nitems:\n"
                             "- apiVersion: ray.io/v1\n  kind: RayCluster\n  metadata: {name: a}\n"
                             "- apiVersion: policy/v1\n  kind: PodDisruptionBudget\n";
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found,
                    "4: cluster-spec: no spec of a cluster: expected the groups of a RayCluster in the RayCluster\n");
  ck_assert_str_eq (quoit_check_get_path (check, 0), "$.items[0]");
}
END_TEST

START_TEST (json_is_read_as_yaml)
{
  static const char text[]
      = "{\"apiVersion\": \"ray.io/v1\", \"kind\": \"RayCluster\", \"metadata\": {\"name\": \"a\"},\n"
        " \"spec\": {\"headGroupSpec\": {\"template\": {\"spec\": {\"containers\": [{\"name\": \"a\", \"image\": "
        "\"ray\"}]}}},\n"
        " \"workerGroupSpecs\": [{\"groupName\": \"g\", \"replicas\": \"1\",\n"
        "  \"template\": {\"spec\": {\"containers\": [{\"name\": \"a\", \"image\": \"ray\"}]}}}]}}\n";
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "3: field: replicas '1': expected a whole number of 0 to 2147483647, without quotes\n");
}
END_TEST

START_TEST (duplicate_group_name_is_reported_at_the_second_group)
{
  g_autofree char *text = edit (
      good, (Edit) { "  - groupName: tpu-group\n",
                     "  - groupName: tpu-group\n    template: {spec: {containers: [{name: head, image: ray}]}}\n"
                     "  - groupName: tpu-group\n" });
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_uint_eq (quoit_check_get_n_findings (check), 1);
  ck_assert_msg (find (check, "group-name") == 0, "%s", found);
  ck_assert_str_eq (quoit_check_get_path (check, 0), "$.spec.workerGroupSpecs[1].groupName");
}
END_TEST

START_TEST (finding_in_an_aliased_value_is_reported_once)
{
  g_autofree char *anchored
      = edit (good, (Edit) { "  - groupName: tpu-group\n", "  - &base\n    groupName: tpu-group\n" });
  g_autofree char *wrong = edit (anchored, (Edit) { "topology: 4x4", "topology: 8x8" });
  g_autofree char *text = g_strconcat (wrong, "  - <<: *base\n    groupName: other\n", NULL);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_uint_eq (quoit_check_get_n_findings (check), 1);
  ck_assert_msg (find (check, "numofhosts-topology") == 0, "%s", found);
}
END_TEST

START_TEST (variables_are_read_as_their_values)
{
  static const char *const set[] = { "HOSTS=3", "TOPOLOGY=4x4", NULL };
  g_autofree char *with_hosts = edit (good, (Edit) { "numOfHosts: 4", "numOfHosts: ${HOSTS}" });
  g_autofree char *text = edit (with_hosts, (Edit) { "topology: 4x4", "topology: ${TOPOLOGY}" });
  g_autoptr (QuoitCheck) unset = check_text (text, NULL), with_values = check_text (text, set);

  ck_assert_uint_eq (quoit_check_get_n_findings (unset), 2);
  ck_assert_uint_eq (count (unset, QUOIT_SEVERITY_NOTE), 2);
  ck_assert_uint_eq (quoit_check_get_n_findings (with_values), 1);
  ck_assert_int_eq (find (with_values, "numofhosts-topology"), 0);
  ck_assert_str_eq (quoit_check_get_value (with_values, 0), "${HOSTS}");
}
END_TEST

START_TEST (settings_that_the_shell_fills_in_are_not_checked)
{
  static const struct {
    const char *command;
    gboolean is_found;
  } commands[] = {
    { "python3 -m MaxText.train base.yml ici_tensor_parallelism=3", TRUE },
    { "python3 -m MaxText.train base.yml ici_tensor_parallelism=${T}", TRUE }, /* set to 3 */
    { "python3 -m MaxText.train base.yml ici_tensor_parallelism=$T", FALSE },
    { "python3 -m MaxText.train base.yml ici_tensor_parallelism=3 $MORE", FALSE },
    { "python3 -m MaxText.train mine.yml ici_tensor_parallelism=3", FALSE },
    { "python3 -m MaxText.train base.yml run_name=$NAME ici_tensor_parallelism=3", TRUE },
    { "python3 train.py ici_tensor_parallelism=3", FALSE },
    { "cd MaxText && python3 -m MaxText.train base.yml ici_tensor_parallelism=3", TRUE },
    { "python3 -m MaxText.train base.yml steps=1; echo ici_tensor_parallelism=3", FALSE },
    { "python3 -m MaxText.train base.yml steps=1 && echo ici_tensor_parallelism=3", FALSE },
    { "bash -c \\\"python3 -m MaxText.train base.yml ici_tensor_parallelism=3\\\"", TRUE },
    { "python3 -m MaxText.train base.yml 'ici_tensor_parallelism=3", FALSE }, /* no shell accepts it */
  };
  static const char *const set[] = { "T=3", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *head = g_strdup_printf ("kind: RayJob\nmetadata:\n  name: train\nspec:\n entrypoint: \"%s\"\n"
                                               " rayClusterSpec:\n",
                                               commands[i].command);
      g_autofree char *text = edit (good, (Edit) { "kind: RayCluster\nmetadata:\n  name: train\nspec:\n", head });
      g_autoptr (QuoitCheck) check = check_text (text, set);
      g_autofree char *found = as_text (check);

      ck_assert_msg ((find (check, "entrypoint-mesh") >= 0) == commands[i].is_found, "%s: %s", commands[i].command,
                     found);
    }
}
END_TEST

START_TEST (unreadable_file_is_invalid)
{
  static const char *const bad_name[] = { "1A=x", NULL }, *const twice[] = { "A=x", "A=y", NULL };
  static const struct {
    const char *text, *part;
    const char *const *set;
  } texts[] = { { "a: [", "line ", NULL },
                { "a: b\na: c\n", "line 2, column 1", NULL },
                { "", "line 1: the end", NULL },
                { "a: \xff\n", "line 1, column 4", NULL },
                { good, "variable '1A=x'", bad_name },
                { good, "variable 'A=x'", twice } };
  GError *error = NULL;

  ck_assert_ptr_null (quoit_check_manifest (texts[_i].text, strlen (texts[_i].text), texts[_i].set, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, texts[_i].part);
}
END_TEST

START_TEST (variable_without_value_is_a_note_in_any_field)
{
  static const Edit edits[]
      = { { "resources: {limits: {cpu: \"8\", memory: 16Gi}}", "resources: ${RESOURCES}" },
          { "rayStartParams: {num-cpus: \"0\"}", "rayStartParams: ${PARAMS}" },
          { "env:\n          - name: MEGASCALE_NUM_SLICES\n            value: \"2\"", "env: ${ENV}" },
          { "nodeSelector:\n          " ACCELERATOR "          cloud.google.com/gke-tpu-topology: 4x4\n",
            "nodeSelector: ${SELECTOR}\n" },
          { "    rayStartParams:\n", "    labels: {a: '${LABEL}'}\n    rayStartParams:\n" },
          { "metrics-export-port: \"8082\"", "resources: '{\"TPU\": ${CHIPS}}'" } };
  g_autofree char *text = edit (good, edits[_i]);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (quoit_check_get_n_findings (check) == 1 && find (check, "variable") == 0, "%s", found);
}
END_TEST

START_TEST (group_that_is_not_a_map_is_reported_once)
{
  g_autofree char *text = edit (good, (Edit) { "  - groupName: tpu-group\n", "  - 3\n  - groupName: tpu-group\n" });
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "21: field: '3': expected a map\n");
}
END_TEST

START_TEST (findings_end_after_ten_thousand)
{
  GString *text = g_string_new (
      "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a}\nspec:\n"
      "  headGroupSpec: {template: {spec: {containers: [{name: head, image: ray}]}}}\n  workerGroupSpecs:\n");
  g_autoptr (QuoitCheck) check = NULL;

  for (guint i = 0; i < 20000; i++)
    g_string_append_printf (
        text, "  - {groupName: g%u, replicas: x, template: {spec: {containers: [{name: head, image: ray}]}}}\n", i);
  check = check_text (text->str, NULL);
  ck_assert_uint_eq (quoit_check_get_n_findings (check), 10001);
  ck_assert_uint_eq (count (check, QUOIT_SEVERITY_ERROR), 10000);
  ck_assert_str_eq (quoit_check_get_rule (check, 10000), "more-findings");
  ck_assert_str_eq (quoit_check_get_path (check, 9999), "$.spec.workerGroupSpecs[9999].replicas");
  g_string_free (text, TRUE);
}
END_TEST

START_TEST (long_value_is_cut_between_characters)
{
  GString *value = g_string_new ("x");
  g_autofree char *text = NULL;
  g_autoptr (QuoitCheck) check = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append (value, "\xc3\xa9");
  text = edit (good, (Edit) { "name: train\n", g_string_append (g_string_prepend (value, "name: "), "\n")->str });
  check = check_text (text, NULL);
  ck_assert_int_eq (find (check, "cluster-name"), 0);
  ck_assert_uint_eq (strlen (quoit_check_get_value (check, 0)), 1023);
  ck_assert (g_utf8_validate (quoit_check_get_value (check, 0), -1, NULL));
  g_string_free (value, TRUE);
}
END_TEST

/* --- hostile edits of the good file --- */

/* Every finding is complete. */
static void
check_whole (const char *text, const char *what)
{
  GError *error = NULL;
  g_autoptr (QuoitCheck) check = quoit_check_manifest (text, strlen (text), NULL, &error);

  ck_assert_msg ((check == NULL) == (error != NULL), "%s", what);
  ck_assert_msg (check != NULL || g_str_has_prefix (error->message, "line "), "%s", what);
  g_clear_error (&error);
  for (uint32_t i = 0; check != NULL && i < quoit_check_get_n_findings (check); i++)
    {
      ck_assert_msg (quoit_check_get_line (check, i) > 0 && quoit_check_get_column (check, i) > 0, "%s", what);
      ck_assert_msg (g_str_has_prefix (quoit_check_get_path (check, i), "$"), "%s", what);
      ck_assert_msg (*quoit_check_get_expected (check, i) != '\0', "%s", what);
      ck_assert_msg (!g_str_has_prefix (quoit_check_get_message (check, i), ":"), "%s", what);
      ck_assert_msg (strstr (quoit_check_get_message (check, i), quoit_check_get_expected (check, i)) != NULL, "%s",
                     what);
    }
}

/* The good manifest, and those of other kinds. */
static const char *
base_at (int index)
{
  return index == 0 ? good : good_kinds[index - 1];
}

START_TEST (file_with_missing_lines_is_checked_or_refused)
{
  g_auto (GStrv) lines = g_strsplit (base_at (_i), "\n", -1);
  guint n = g_strv_length (lines);

  for (guint left_out = 0; left_out < n; left_out++)
    {
      g_autoptr (GString) without = g_string_new (NULL), cut = g_string_new (NULL);

      for (guint i = 0; i < n; i++)
        {
          if (i != left_out)
            g_string_append_printf (without, "%s\n", lines[i]);
          if (i < left_out)
            g_string_append_printf (cut, "%s\n", lines[i]);
        }
      check_whole (without->str, lines[left_out]);
      check_whole (cut->str, lines[left_out]);
    }
}
END_TEST

/* After the colon of each line, one value after another. */
START_TEST (field_of_any_type_is_checked_or_refused)
{
  static const char *const others[] = { " ",
                                        " 7",
                                        " -1",
                                        " yes",
                                        " 1.5",
                                        " ''",
                                        " text",
                                        " [1, a]",
                                        " {a: b}",
                                        " ${X}",
                                        " '${'",
                                        " null",
                                        " 99999999999999999999",
                                        " \"\\x07\\u202e\"",
                                        " 010" };
  g_auto (GStrv) lines = g_strsplit (base_at (_i), "\n", -1);

  for (guint k = 0; lines[k] != NULL; k++)
    for (guint o = 0; strchr (lines[k], ':') != NULL && o < G_N_ELEMENTS (others); o++)
      {
        g_autofree char *mine = g_strndup (lines[k], (gsize) (strchr (lines[k], ':') - lines[k]) + 1);
        g_autofree char *line = g_strconcat (mine, others[o], NULL), *text = NULL, *kept = lines[k];

        lines[k] = line;
        text = g_strjoinv ("\n", lines);
        check_whole (text, line);
        lines[k] = g_steal_pointer (&kept);
      }
}
END_TEST

/* --- the webhook --- */

/* Meaningless manifests that the webhook accepts, and their findings. */
static const struct {
  const char *id, *rule;
} nonsense[] = {
  { "validate/154", "chips-per-host" },   { "validate/155", "chips-per-host" },
  { "validate/156", "chips-per-host" },   { "validate/161", "topology-unknown" },
  { "validate/163", "topology-unknown" }, { "validate/164", "topology-unknown" },
  { "validate/166", "topology-unknown" }, { "validate/167", "topology-unknown" },
  { "validate/168", "topology-unknown" }, { "validate/181", "chips-request" },
  { "validate/182", "chips-fraction" },   { "validate/189", "topology-unknown" },
};

static const char *
nonsense_of (const char *id)
{
  for (guint i = 0; i < G_N_ELEMENTS (nonsense); i++)
    if (strcmp (nonsense[i].id, id) == 0)
      return nonsense[i].rule;
  return NULL;
}

static void
append_amount (GString *text, const char *name, JsonObject *container, const char *member)
{
  if (json_object_has_member (container, member))
    g_string_append_printf (text, "            %s: {google.com/tpu: \"%s\"}\n", name,
                            json_object_get_string_member (container, member));
}

static void
append_group (GString *text, guint index, JsonObject *group)
{
  JsonArray *containers = json_object_get_array_member (group, "containers");

  g_string_append_printf (
      text,
      "  - groupName: g%u\n    replicas: %d\n    numOfHosts: %d\n    template:\n      spec:\n"
      "        nodeSelector:\n          cloud.google.com/gke-tpu-accelerator: '%s'\n"
      "          cloud.google.com/gke-tpu-topology: '%s'\n        containers:%s\n",
      index, (int) json_object_get_int_member (group, "replicas"),
      (int) json_object_get_int_member (group, "numOfHosts"), json_object_get_string_member (group, "accelerator"),
      json_object_get_string_member (group, "topology"), json_array_get_length (containers) == 0 ? " []" : "");
  for (guint i = 0; i < json_array_get_length (containers); i++)
    {
      JsonObject *container = json_array_get_object_element (containers, i);

      g_string_append_printf (text, "        - name: c%u\n          image: ray\n          resources:\n", i);
      append_amount (text, "limits", container, "limit");
      append_amount (text, "requests", container, "request");
      append_amount (text, "limits", container, "tpu");
    }
}

static char *
manifest_of (JsonObject *in)
{
  JsonArray *groups = json_object_get_array_member (in, "groups");
  GString *text = g_string_new (
      "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a}\nspec:\n"
      "  headGroupSpec: {template: {spec: {containers: [{name: head, image: ray}]}}}\n  workerGroupSpecs:\n");

  for (guint i = 0; i < json_array_get_length (groups); i++)
    append_group (text, i, json_array_get_object_element (groups, i));
  return g_string_free (text, FALSE);
}

/* Findings of Kubernetes' own rules, which the webhook does not check. */
static guint
count_errors_of_others (const QuoitCheck *check)
{
  guint n = 0;

  for (uint32_t i = 0; i < quoit_check_get_n_findings (check); i++)
    n += strcmp (quoit_check_get_rule (check, i), "pod-field") == 0
         || strcmp (quoit_check_get_rule (check, i), "chips-request") == 0
         || strcmp (quoit_check_get_rule (check, i), "chips-fraction") == 0;
  return n;
}

static gboolean
check_row (JsonObject *row)
{
  const char *id = json_object_get_string_member (row, "id");
  JsonObject *out = json_object_get_object_member (row, "out");
  gboolean is_allowed = json_object_has_member (out, "allowed") && json_object_get_boolean_member (out, "allowed");
  g_autofree char *text = manifest_of (json_object_get_object_member (row, "in"));
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  if (!is_allowed)
    ck_assert_msg (count (check, QUOIT_SEVERITY_ERROR) > 0, "%s is denied, found:\n%s%s", id, found, text);
  else
    {
      ck_assert_msg (count (check, QUOIT_SEVERITY_ERROR) == count_errors_of_others (check), "%s: %s", id, found);
      if (nonsense_of (id) != NULL)
        ck_assert_msg (find (check, nonsense_of (id)) >= 0, "%s: found:\n%s", id, found);
      else
        ck_assert_msg (quoit_check_get_n_findings (check) == 0, "%s: %s%s", id, found, text);
    }
  return is_allowed;
}

START_TEST (webhook_denials_are_errors_and_invalid_admissions_are_findings)
{
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests", "vectors", "webhook.ndjson", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n_allowed = 0, n_denied = 0;

  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      JsonObject *row;

      ck_assert (json_parser_load_from_data (parser, *line, -1, NULL));
      row = json_node_get_object (json_parser_get_root (parser));
      if (!g_str_equal (json_object_get_string_member (row, "op"), "webhook_validate"))
        continue;
      if (check_row (row))
        n_allowed++;
      else
        n_denied++;
    }
  ck_assert_uint_eq (n_allowed, 23);
  ck_assert_uint_eq (n_denied, 9);
}
END_TEST

START_TEST (invalid_slice_that_the_webhook_admits_is_a_warning)
{
  static const struct {
    Edit edit;
    const char *rule;
  } admitted[] = {
    { { "numOfHosts: 4\n", "numOfHosts: 64\n" }, "topology-unknown" },
    { { ACCELERATOR, "a: b\n" }, "accelerator-missing" },
    { { "tpu-v6e-slice", "tpu-v4-podslice" }, "topology-unknown" },
  };
  g_autofree char *edited = edit (good, admitted[_i].edit);
  g_autofree char *text = _i == 0 ? edit (edited, (Edit) { "topology: 4x4", "topology: 4x4x4x4" }) : g_strdup (edited);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (quoit_check_get_n_findings (check) == 1 && find (check, admitted[_i].rule) == 0, "%s", found);
  ck_assert_int_eq (quoit_check_get_severity (check, 0), QUOIT_SEVERITY_WARNING);
}
END_TEST

/* --- examples --- */

START_TEST (the_examples_have_no_findings)
{
  static const char *const names[]
      = { "raycluster-v6e-4x4.yaml", "raycluster-v6e-4x4-x2.yaml", "jobset-v6e-4x4-x2.yaml" };
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "examples", names[_i], NULL), *text = NULL;
  g_autoptr (QuoitCheck) check = NULL;
  g_autofree char *found = NULL;

  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  check = check_text (text, NULL);
  found = as_text (check);
  ck_assert_str_eq (found, "");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("check-files");
  TCase *files = tcase_create ("files"), *real = tcase_create ("real");

  tcase_set_timeout (files, 60);
  tcase_add_test (files, all_findings_are_reported_in_line_order);
  tcase_add_test (files, every_object_of_a_file_is_checked);
  tcase_add_loop_test (files, jobs_and_services_are_checked_as_their_clusters, 0, 2);
  tcase_add_test (files, list_is_checked_item_by_item);
  tcase_add_test (files, json_is_read_as_yaml);
  tcase_add_test (files, duplicate_group_name_is_reported_at_the_second_group);
  tcase_add_test (files, finding_in_an_aliased_value_is_reported_once);
  tcase_add_test (files, variables_are_read_as_their_values);
  tcase_add_test (files, settings_that_the_shell_fills_in_are_not_checked);
  tcase_add_loop_test (files, unreadable_file_is_invalid, 0, 6);
  tcase_add_loop_test (files, variable_without_value_is_a_note_in_any_field, 0, 6);
  tcase_add_test (files, group_that_is_not_a_map_is_reported_once);
  tcase_add_test (files, findings_end_after_ten_thousand);
  tcase_add_test (files, long_value_is_cut_between_characters);
  tcase_add_loop_test (files, file_with_missing_lines_is_checked_or_refused, 0, G_N_ELEMENTS (good_kinds) + 1);
  tcase_add_loop_test (files, field_of_any_type_is_checked_or_refused, 0, G_N_ELEMENTS (good_kinds) + 1);
  suite_add_tcase (suite, files);

  tcase_add_test (real, webhook_denials_are_errors_and_invalid_admissions_are_findings);
  tcase_add_loop_test (real, invalid_slice_that_the_webhook_admits_is_a_warning, 0, 3);
  tcase_add_loop_test (real, the_examples_have_no_findings, 0, 3);
  suite_add_tcase (suite, real);
  return suite_main (suite);
}
