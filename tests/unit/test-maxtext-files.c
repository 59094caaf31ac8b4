/* SPDX-License-Identifier: Apache-2.0 */
/* Files of settings of MaxText. */
#include "maxtext-jobs.h"

/* Checks two slices of v6e 4x4 with the files "a.yml", which has @first, and "b.yml", which has @second; NULL: no such
 * file. */
static QuoitMaxtextReport *
check_files (const char *first, const char *second, const char *settings)
{
  g_autoptr (QuoitMaxtextJob) job = new_job ("v6e 4x4 2", settings);
  g_autoptr (GError) error = NULL;
  QuoitMaxtextReport *report;

  ck_assert_msg (quoit_maxtext_job_add_config (job, "a.yml", first, strlen (first), &error), "%s",
                 error == NULL ? "" : error->message);
  if (second != NULL)
    ck_assert (quoit_maxtext_job_add_config (job, "b.yml", second, strlen (second), NULL));
  report = quoit_maxtext_check (job, NULL, &error);
  ck_assert_ok (error);
  return report;
}

static const struct {
  const char *first, *second, *settings, *axes;
} files[] = {
  { "steps: 3\n", NULL, "base.yml", "data=1x2 fsdp=16x1" },
  { "ici_tensor_parallelism: 4\nici_fsdp_parallelism: -1\n", NULL, "", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "ici_tensor_parallelism: '4'\n", NULL, "", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "ici_tensor_parallelism: 0x4\nsteps: 10_000\n", NULL, "", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "ici_tensor_parallelism: 020\n", NULL, "", "data=1x2 tensor=16x1" },
  { "ici_tensor_parallelism: +0b1_00\n", NULL, "", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "mesh_axes: [data, 'fsdp', \"tensor\"]\nici_tensor_parallelism: 4\n", NULL, "", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "mesh_axes:\n- fsdp\n- tensor\ndcn_fsdp_parallelism: 2\ndcn_data_parallelism: 1\n", NULL, "", "fsdp=16x2" },
  /* Arguments override files without an extra finding. */
  { "ici_tensor_parallelism: 3\n", NULL, "ici_tensor_parallelism=4", "data=1x2 fsdp=4x1 tensor=4x1" },
  { "ici_tensor_parallelism: [3]\nhardware: gpu\n", NULL, "ici_tensor_parallelism=4 hardware=tpu",
    "data=1x2 fsdp=4x1 tensor=4x1" },
  /* Later files override earlier ones. */
  { "ici_tensor_parallelism: 3\nici_fsdp_parallelism: 2\n",
    "base_config: a.yml\nici_tensor_parallelism: 4\nici_fsdp_parallelism: -1\n", "configs/b.yml",
    "data=1x2 fsdp=4x1 tensor=4x1" },
  { "base_config: base.yml\nlora: {lora_rank: 4}\nlogical_axis_rules: [['a', ['b', 'c']]]\n", NULL, "",
    "data=1x2 fsdp=16x1" },
};

START_TEST (arguments_override_settings_of_files)
{
  g_autoptr (QuoitMaxtextReport) report = check_files (files[_i].first, files[_i].second, files[_i].settings);
  g_autofree char *axes = dup_axes (report), *rules = dup_rules (report);

  ck_assert_str_eq (rules, "");
  ck_assert_str_eq (axes, files[_i].axes);
}
END_TEST

static const struct {
  const char *first, *second, *settings, *rules, *file, *said; /* the file of the first finding */
  uint32_t line;
} broken_files[] = {
  { "steps: 3\nici_fdsp_parallelism: 4\n", NULL, "", "key-unknown", "a.yml",
    "a.yml: line 2: 'ici_fdsp_parallelism': expected a setting of MaxText, such as 'ici_fsdp_parallelism'", 2 },
  { "lora.lora_rank: 4\n", NULL, "", "key-unknown", "a.yml", "a.yml: line 1: 'lora.lora_rank'", 1 },
  { "\n\nici_tensor_parallelism: two\n", NULL, "", "value", "a.yml",
    "a.yml: line 3: ici_tensor_parallelism 'two': expected an integer", 3 },
  { "ici_tensor_parallelism: ~\n", NULL, "", "value", "a.yml", "ici_tensor_parallelism 'null': expected an integer",
    1 },
  { "ici_tensor_parallelism: 0\n", NULL, "steps=3", "axis-size", "a.yml",
    "a.yml: line 1: ici_tensor_parallelism '0': expected 1 or more", 1 },
  { "mesh_axes: [data, fdsp]\n", NULL, "", "mesh-axes", "a.yml", "a.yml: line 1: mesh_axes 'fdsp'", 1 },
  /* A setting from an argument has no file. */
  { "ici_tensor_parallelism: 2\n", NULL, "ici_tensor_parallelism=0", "axis-size", NULL,
    "ici_tensor_parallelism '0': expected 1 or more", 0 },
  { "ici_tensor_parallelism: 4\n", "\nici_tensor_parallelism: 0\n", "", "axis-size", "b.yml",
    "b.yml: line 2: ici_tensor_parallelism '0'", 2 },
  { "steps: 4\n", NULL, "steps=5 steps=6", "key-repeated", NULL,
    "steps '5': expected each setting once: MaxText uses the last value, '6'", 0 },
  { "ici_sequence_parallelism: 2\nstep: 4\n", NULL, "fsdp", "key-unknown setting axis-unused", "a.yml",
    "a.yml: line 2: 'step'", 2 },
  { "base_config: post_train/sft.yml\n", "base_config: elsewhere.yml\n", "", "config-file", "a.yml",
    "a.yml: line 1: base_config 'post_train/sft.yml': expected base.yml: to check against another file, give that file "
    "before this one",
    1 },
  { "compile_topology: v6e-16\ncompile_topology_num_slices: 4\n", NULL, "", "num-slices", "a.yml",
    "a.yml: line 2: compile_topology_num_slices '4': expected 2", 2 },
};

START_TEST (finding_in_a_settings_file_has_its_line)
{
  g_autoptr (QuoitMaxtextReport) report
      = check_files (broken_files[_i].first, broken_files[_i].second, broken_files[_i].settings);
  g_autofree char *rules = dup_rules (report);
  const char *message = quoit_maxtext_report_get_message (report, 0);

  ck_assert_str_eq (rules, broken_files[_i].rules);
  ck_assert_msg (strstr (message, broken_files[_i].said) != NULL, "%s", message);
  ck_assert_pstr_eq (quoit_maxtext_report_get_file (report, 0), broken_files[_i].file);
  ck_assert_uint_eq (quoit_maxtext_report_get_line (report, 0), broken_files[_i].line);
}
END_TEST

static const struct {
  const char *text, *says;
} no_files[] = {
  { "# nothing\n", "c.yml: line 1: the end: expected a YAML document" },
  { "~\n", "c.yml: line 1: '~': expected a map of settings, KEY: VALUE" },
  { "steps: [", "c.yml: line 2, column 1" },
  { "steps: 3\nsteps: 4\n", "c.yml: line 2" },
  { "- steps\n", "c.yml: line 1: a list: expected a map of settings, KEY: VALUE" },
  { "steps", "expected a map of settings, KEY: VALUE" },
  { "steps: 3\n---\nsteps: 4\n", "c.yml: line 3: a second document: expected one, of settings" },
  { "steps: \xff\n", "c.yml: " },
};

START_TEST (invalid_settings_file_is_refused_and_adds_nothing)
{
  g_autoptr (QuoitMaxtextJob) job = new_job ("v6e 4x4 2", "");
  g_autoptr (QuoitMaxtextReport) report = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_maxtext_job_add_config (job, "c.yml", no_files[_i].text, strlen (no_files[_i].text), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, no_files[_i].says);
  report = quoit_maxtext_check (job, NULL, NULL);
  ck_assert_uint_eq (quoit_maxtext_report_get_n_findings (report), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("maxtext-files");
  TCase *tcase = tcase_create ("files");

  tcase_add_loop_test (tcase, arguments_override_settings_of_files, 0, G_N_ELEMENTS (files));
  tcase_add_loop_test (tcase, finding_in_a_settings_file_has_its_line, 0, G_N_ELEMENTS (broken_files));
  tcase_add_loop_test (tcase, invalid_settings_file_is_refused_and_adds_nothing, 0, G_N_ELEMENTS (no_files));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
