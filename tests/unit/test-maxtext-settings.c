/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of MaxText: which are accepted, and the findings about the others. */
#include "maxtext-jobs.h"

static const struct {
  const char *slices, *settings, *axes;
} meshes[] = {
  { "v6e 4x4 1", "", "fsdp=16x1" },
  { "v6e 4x4 2", "", "data=1x2 fsdp=16x1" },
  { "v6e 4x4 2", "ici_fsdp_parallelism=-1 dcn_data_parallelism=2 ici_tensor_parallelism=4",
    "data=1x2 fsdp=4x1 tensor=4x1" },
  { "v6e 4x4 4", "dcn_fsdp_parallelism=2", "data=1x2 fsdp=16x2" },
  { "v6e 4x4 4", "dcn_fsdp_parallelism=+2.0", "data=1x2 fsdp=16x2" },
  { "tpu7x 2x2x2 1", "", "fsdp=16x1" },
  { "v5p 2x2x2 1", "", "fsdp=8x1" },
  { "v6e 4x4 4", "dcn_diloco_parallelism=-1 dcn_fsdp_parallelism=2", "diloco=1x2 fsdp=16x2" },
  { "v6e 4x4 1", "mesh_axes=[fsdp,tensor,model] ici_tensor_parallelism=4", "tensor=4x1 model=4x1" },
  { "v6e 4x4 2", "mesh_axes=[data,'fsdp',model] ici_tensor_parallelism=4", "data=1x2 fsdp=4x1 model=4x1" },
  { "v6e 4x4 1", "mesh_axes=fsdp,attn_dp", "fsdp=16x1" },
  { "v6e 4x8 1", "subslice_shape=2,2,1 enable_single_controller=true", "fsdp=4x1" },
  { "v6e 4x8 1", "subslice_shape=2,99 enable_single_controller=true", "fsdp=16x1" },
  { "v6e 4x8 1", "subslice_shape=2,2,1", "fsdp=32x1" },
  { "v6e 4x8 2", "subslice_shape=2,2,1 enable_single_controller=true", "data=1x2 fsdp=32x1" },
  { "", "compile_topology=v5p-16 compile_topology_num_slices=3", "data=1x3 fsdp=8x1" },
  { "", "compile_topology=v5p-16 compile_topology_num_slices=1", "fsdp=8x1" },
  { "v6e 4x4 2", "num_slices=2 compile_topology_num_slices=9", "data=1x2 fsdp=16x1" },
  { "v6e 16x16 1",
    "custom_mesh=hybrid_ring_64x4 allow_split_physical_axes=True ici_fsdp_parallelism=64 ici_tensor_parallelism=4",
    "fsdp=64x1 tensor=4x1" },
};

START_TEST (valid_mesh_of_maxtext_is_filled_without_errors)
{
  g_autoptr (QuoitMaxtextReport) report = check_settings (meshes[_i].slices, meshes[_i].settings, NULL);
  g_autofree char *axes = dup_axes (report), *rules = dup_rules (report);

  ck_assert_str_eq (rules, "");
  ck_assert_str_eq (axes, meshes[_i].axes);
}
END_TEST

static const struct {
  const char *slices, *settings, *rules, *said; /* @said: part of the first message */
} wrongs[] = {
  { "v6e 4x4 1", "fsdp", "setting", "'fsdp': expected KEY=VALUE" },
  { "v6e 4x4 1", "=4", "setting", "'=4': expected KEY=VALUE" },
  { "v6e 4x4 1", "configs/base.yml run_name=a", "config-file", "'configs/base.yml'" },
  { "v6e 4x4 1", "ici_fdsp_parallelism=4", "key-unknown", "as 'ici_fsdp_parallelism'" },
  { "v6e 4x4 1", "ici_tensor=4", "key-unknown", "as 'ici_tensor_parallelism'" },
  { "v6e 4x4 1", "max_target_lenght=4", "key-unknown", "as 'max_target_length'" },
  { "v6e 4x4 1", "Ici-Tensor-Parallelism=4", "key-unknown", "as 'ici_tensor_parallelism'" },
  { "v6e 4x4 1", "qqqqqqqqq=4", "key-unknown", "none has a similar name" },
  { "v6e 4x4 1", "steps=4 steps=5", "key-repeated",
    "steps '4': expected each setting once: MaxText uses the last value, '5'" },
  { "v6e 4x4 1", "ici_tensor_parallelism=two", "value", "ici_tensor_parallelism 'two': expected an integer" },
  { "v6e 4x4 1", "ici_tensor_parallelism=9223372036854775808", "value", "of at most 64 bits" },
  { "v6e 4x4 1", "ici_tensor_parallelism=4.5", "value", "'4.5': expected an integer" },
  { "v6e 4x4 1", "ici_tensor_parallelism=", "value", "'': expected an integer" },
  { "v6e 4x4 1", "ici_tensor_parallelism=0x4", "value", "'0x4': expected an integer" },
  { "v6e 4x4 1", "per_device_batch_size=nan", "value", "per_device_batch_size 'nan': expected a number" },
  { "v6e 4x4 1", "gradient_accumulation_steps=0", "value", "gradient_accumulation_steps '0': expected 1 or more" },
  { "v6e 4x4 1", "custom_mesh=hybrid_ring_64x4 allow_split_physical_axes=maybe", "value custom-mesh-unused",
    "allow_split_physical_axes 'maybe': expected true or false" },
  { "v6e 4x4 1", "subslice_shape=2,b enable_single_controller=1", "value",
    "subslice_shape '2,b': expected up to three" },
  { "v6e 4x4 1", "subslice_shape=2,2,1,1 enable_single_controller=1", "value", "'2,2,1,1'" },
  { "v6e 4x4 1", "model_name=llama2-70b per_device_batch_size=1", "memory-state",
    "model_name 'llama2-70b': expected parameters, optimizer state and gradients of at most 32.0 GiB per device, the "
    "memory of v6e: the job needs 64.2 GiB" },
  { "v6e 4x4 1", "base_num_decoder_layers=400", "memory-total",
    "base_*: expected a step of at most 32.0 GiB per device, the memory of v6e" },
  { "v6e 4x4 1", "hardware=gpu", "hardware", "hardware 'gpu': expected tpu" },
  { "v3 4x4 2", "", "multislice", "slices '2': expected 1: GKE does not connect slices of v3" },
  { "v6e 2x2 2", "", "multislice", "slices of several hosts" },
  { "v6e 4x4 2", "num_slices=3", "num-slices", "num_slices '3': expected 2" },
  { "v6e 4x4 2", "num_slices=0", "num-slices", "num_slices '0': expected 2" },
  { "v6e 4x4 2", "compile_topology=v6e-16 compile_topology_num_slices=4", "num-slices",
    "compile_topology_num_slices '4': expected 2" },
  { "v6e 4x4 2", "compile_topology=v6e-32 compile_topology_num_slices=2", "compile-topology",
    "compile_topology 'v6e-32': expected 'v6e-16', because the slices are" },
  { "v6e 4x4 2", "compile_topology=v6e-16", "compile-topology",
    "compile_topology_num_slices '-1': expected the number of slices of compile_topology, 2" },
  { "v6e 4x4 2", "compile_topology=v6e16 compile_topology_num_slices=2", "compile-topology", "such as 'v6e-16'" },
  { "v3 4x4 1", "compile_topology=v4-8 compile_topology_num_slices=1", "compile-topology",
    "expected none, because the slices are v3-32, which MaxText does not list" },
  { "v6e 4x4 1", "mesh_axes=[data,fdsp]", "mesh-axes", "mesh_axes 'fdsp': expected an axis that MaxText knows" },
  { "v6e 4x4 1", "mesh_axes=[fsdp,fsdp]", "mesh-axes", "mesh_axes 'fsdp': expected each axis once" },
  { "v6e 4x4 1", "mesh_axes=[fsdp,tensor,model] ici_tensor_parallelism=-1 ici_fsdp_parallelism=1", "unspecified-twice",
    "ici_tensor_parallelism '-1': expected -1 for at most one ICI axis, but ici_tensor_parallelism is -1 too" },
  { "v6e 4x4 1", "mesh_axes=[fsdp,tensor,model] ici_tensor_parallelism=8", "unspecified-value",
    "for example mesh_axes without 'model', whose size is that of 'tensor'" },
  { "v6e 4x4 1", "ici_sequence_parallelism=4", "axis-unused", "ici_sequence_parallelism '4'" },
  { "v6e 4x4 1", "mesh_axes=[data,fsdp] ici_tensor_parallelism=4", "axis-unused", "or 'tensor' in mesh_axes" },
  { "v6e 4x4 1", "ici_tensor_parallelism=0", "axis-size", "ici_tensor_parallelism '0': expected 1 or more" },
  { "v6e 4x4 1", "ici_fsdp_parallelism=-16", "axis-size", "'-16': expected 1 or more, or -1" },
  { "v6e 4x4 1", "ici_tensor_parallelism=-2 ici_data_parallelism=-2", "axis-size axis-size",
    "ici_data_parallelism '-2'" },
  { "v6e 4x4 2", "dcn_fsdp_parallelism=0", "axis-size", "dcn_fsdp_parallelism '0'" },
  { "v6e 4x4 1", "ici_tensor_parallelism=-1", "unspecified-twice",
    "ici_tensor_parallelism '-1': expected -1 for at most one ICI axis, but ici_fsdp_parallelism is -1 by "
    "default: for example ici_fsdp_parallelism=1" },
  { "v6e 4x4 2", "dcn_data_parallelism=-1 dcn_fsdp_parallelism=-1", "unspecified-twice",
    "dcn_data_parallelism '-1': expected -1 for at most one DCN axis, but dcn_fsdp_parallelism is -1 too" },
  { "v6e 4x4 1", "ici_tensor_parallelism=3", "unspecified-value",
    "ici_fsdp_parallelism '-1': expected other axes whose product divides 16, the devices of a slice: for example "
    "ici_tensor_parallelism=4" },
  { "v6e 4x4 2", "dcn_fsdp_parallelism=4", "unspecified-value",
    "divides 2, the slices: for example dcn_fsdp_parallelism=2" },
  { "v6e 4x4 2", "dcn_diloco_parallelism=-1 dcn_fsdp_parallelism=3", "unspecified-twice",
    "dcn_diloco_parallelism '-1'" },
  { "v6e 4x4 1", "ici_tensor_parallelism=8 ici_fsdp_parallelism=1", "ici-product",
    "ici_*_parallelism '8': expected a product of 16, the devices of a slice: for example ici_fsdp_parallelism=2 or "
    "ici_tensor_parallelism=16" },
  { "v6e 4x4 1", "ici_tensor_parallelism=5 ici_fsdp_parallelism=3", "ici-product",
    "'15': expected a product of 16, the devices of a slice: for example ici_fsdp_parallelism=16 "
    "ici_tensor_parallelism=1" },
  { "v6e 4x4 1", "ici_tensor_parallelism=9223372036854775807 ici_fsdp_parallelism=3", "ici-product", "'2^63 or more'" },
  { "v6e 4x4 2", "dcn_data_parallelism=3", "dcn-product",
    "dcn_*_parallelism '3': expected a product of 2, the slices: for example dcn_data_parallelism=2" },
  { "v6e 4x4 1", "dcn_data_parallelism=2", "dcn-one-slice", "dcn_data_parallelism '2': expected 1" },
  { "v6e 4x4 1", "dcn_sequence_parallelism=-2", "axis-unused dcn-one-slice", "dcn_sequence_parallelism '-2'" },
  { "v6e 4x4 1", "ici_tensor_parallelism=2", "mesh", "ici_*_parallelism: mesh shape '1,1,1,8,1,1,1,1,2,1,1,1'" },
  { "v5p 4x4x8 2", "ici_tensor_parallelism=16 ici_expert_parallelism=2", "mesh", "'1,1,1,4,1,1,1,1,16,1,2,1'" },
  { "v6e 4x4 1", "custom_mesh=hybrid_ring_64x4", "custom-mesh-unused", "allow_split_physical_axes=true too" },
  { "v6e 16x16 2", "custom_mesh=other", "custom-mesh", "custom_mesh 'other': expected hybrid_ring_64x4" },
  { "v6e 16x16 2", "custom_mesh=hybrid_ring_64x4", "custom-mesh", "ICI sizes of 64 and 4" },
  { "v5p 4x8x8 2", "custom_mesh=hybrid_ring_32x8 ici_fsdp_parallelism=32 ici_tensor_parallelism=8", "custom-mesh",
    "slices of 16x16 for it, not '4x8x8'" },
  { "v6e 4x4 1", "per_device_batch_size=0.01", "batch-empty",
    "per_device_batch_size '0.01': expected a batch of 1 row" },
  { "v6e 4x4 1", "per_device_batch_size=-1", "batch-empty", "'-1': expected a batch of 1 row or more" },
  { "v6e 4x4 1", "per_device_batch_size=1e300", "batch-empty", "fewer than 2^53" },
  { "v6e 4x4 2", "per_device_batch_size=2.5 attention=dot_product", "batch-devices",
    "'2.5': expected 2 or 3: a step loads 80 rows, which is not a multiple of 32 devices" },
  { "v6e 4x4 2", "per_device_batch_size=0.5", "batch-shards",
    "'0.5': expected 1: a pass has 16 rows, which is not a multiple of 32 (the product of the axes data and fsdp)" },
  { "v6e 4x4 2", "per_device_batch_size=0.4 ici_tensor_parallelism=4", "batch-shards", "'0.4': expected 0.25 or 0.5" },
  { "v6e 4x4 1", "ici_pipeline_parallelism=4 num_pipeline_microbatches=6", "pipeline",
    "num_pipeline_microbatches '6': expected a multiple of 4 stages" },
  { "v6e 4x4 1", "ici_pipeline_parallelism=4 num_pipeline_microbatches=4 pipeline_delay_activation_forwarding=true",
    "pipeline", "stages from 8" },
  { "v6e 4x4 1", "ici_pipeline_parallelism=4 num_pipeline_microbatches=12 per_device_batch_size=1", "pipeline",
    "per_device_batch_size '1': expected 0.75 or 1.5: a pass has 16 rows" },
};

START_TEST (settings_that_maxtext_refuses_are_findings)
{
  g_autoptr (QuoitMaxtextReport) report = check_settings (wrongs[_i].slices, wrongs[_i].settings, NULL);
  g_autofree char *rules = dup_rules (report);
  const char *message;

  ck_assert_str_eq (rules, wrongs[_i].rules);
  message = quoit_maxtext_report_get_message (report, 0);
  ck_assert_msg (strstr (message, wrongs[_i].said) != NULL, "'%s' does not say '%s'", message, wrongs[_i].said);
  ck_assert (g_str_has_suffix (message, quoit_maxtext_report_get_expected (report, 0)));
}
END_TEST

/* Settings that MaxText accepts, including one whose training step fails for reasons outside these rules. */
START_TEST (settings_that_maxtext_accepts_have_no_findings)
{
  static const char *const taken[] = {
    "per_device_batch_size=0.5 attention=dot_product",
    "per_device_batch_size=0.25 ici_tensor_parallelism=4",
    "per_device_batch_size=1.5 gradient_accumulation_steps=2 attention=dot_product",
    "ici_pipeline_parallelism=2 allow_split_physical_axes=true",
    "ici_pipeline_parallelism=4 num_pipeline_microbatches=8 per_device_batch_size=1",
    "dcn_data_parallelism=1 dcn_fsdp_parallelism=2",
    "ici_sequence_parallelism=1",
    "hardware=tpu model_name=llama2-7b run_name=x lora.lora_rank=8 dataset_type=synthetic",
    "compile_topology= custom_mesh=",
    "allow_split_physical_axes=YES",
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      g_autoptr (QuoitMaxtextReport) report = check_settings ("v6e 4x4 2", taken[i], NULL);
      g_autofree char *rules = dup_rules (report);

      ck_assert_msg (*rules == '\0', "%s: %s", taken[i], rules);
    }
}
END_TEST

START_TEST (numbers_cover_all_slices)
{
  g_autoptr (QuoitMaxtextReport) report
      = check_settings ("tpu7x 2x2x2 3", "per_device_batch_size=2 gradient_accumulation_steps=4", NULL);

  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_SLICES), 3);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_HOSTS), 6);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_CHIPS), 24);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_DEVICES), 48);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE), 16);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_BATCH), 96);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD), 384);
  ck_assert_int_eq (quoit_maxtext_report_get_number (report, (QuoitMaxtextNumber) 99), -1);
}
END_TEST

START_TEST (impossible_slices_are_refused)
{
  static const struct {
    const char *accelerator, *topology, *said;
    int64_t n_slices;
    unsigned chips_per_host;
  } wrong[] = {
    { "v9", "4x4", "generation 'v9'", 1, 0 },     { "v6e", "4x5", "topology '4x5'", 1, 0 },
    { "v6e", "4x4", "slices '0'", 0, 0 },         { "v6e", "4x4", "slices '1000001'", 1000001, 0 },
    { "v6e", "4x4", "chips per host '3'", 1, 3 }, { "v6e", "99999x99999", "topology '99999x99999'", 1, 0 },
  };
  g_autoptr (QuoitMaxtextJob) job = quoit_maxtext_job_new ();
  g_autoptr (GError) error = NULL;

  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      ck_assert (!quoit_maxtext_job_set_slices (job, wrong[i].accelerator, wrong[i].topology, wrong[i].n_slices,
                                                wrong[i].chips_per_host, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, wrong[i].said);
    }
  ck_assert_ptr_null (quoit_maxtext_check (job, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "slices: expected accelerator and topology, or a compile_topology");
  quoit_maxtext_job_add_setting (job, "compile_topology=a3");
  ck_assert_ptr_null (quoit_maxtext_check (job, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "compile_topology of TPUs");
}
END_TEST

/* --- Ray Train --- */

static QuoitRayScaling *
new_scaling (int64_t least, int64_t most, const char *topology, double tpu)
{
  QuoitRayScaling *scaling = quoit_ray_scaling_new ();
  g_autoptr (QuoitRayResources) resources = quoit_ray_resources_new ();

  quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_TPU);
  if (least == most)
    quoit_ray_scaling_set_n_workers (scaling, most);
  else
    quoit_ray_scaling_set_worker_range (scaling, least, most);
  quoit_ray_scaling_set_topology (scaling, topology);
  quoit_ray_scaling_set_accelerator_type (scaling, topology == NULL ? NULL : "TPU-V6E");
  quoit_ray_resources_set (resources, "TPU", tpu);
  quoit_ray_scaling_set_resources (scaling, resources);
  return scaling;
}

static const struct {
  const char *slices, *settings;
  int64_t least, most;
  const char *topology;
  double tpu;
  const char *rules, *said;
} scalings[] = {
  { "v6e 4x4 2", "", 8, 8, "4x4", 4, "", NULL },
  { "v6e 4x4 2", "", 32, 32, "4x4", 1, "", NULL },
  { "v6e 2x2 1", "", 1, 1, NULL, 4, "", NULL },
  { "v6e 4x4 2", "", 4, 8, "4x4", 4, "", NULL },
  { "v6e 4x4 2", "", 4, 4, "4x4", 4, "scaling-slices",
    "ScalingConfig.num_workers '4': expected 8, which fill 2 slices with 4 each" },
  { "v6e 4x4 2", "", 7, 7, "4x4", 4, "scaling", "ScalingConfig: number of workers '7': expected a multiple of the 4" },
  { "v6e 4x4 2", "", 8, 8, NULL, 4, "scaling", "ScalingConfig: topology: expected one" },
  { "v6e 4x4 2", "", 1, 1, NULL, 4, "scaling-slices", "workers for the 8 hosts" },
  { "v6e 4x8 1", "", 8, 8, "4x4", 4, "scaling-topology scaling-slices",
    "ScalingConfig.topology '4x4': expected '4x8'" },
  { "v5e 4x4 2", "", 8, 8, "4x4", 4, "scaling-topology",
    "ScalingConfig.accelerator_type 'TPU-V6E': expected a name of v5e" },
  { "v6e 4x4 2", "dcn_data_parallelism=2", 4, 8, "4x4", 4, "scaling-elastic", "the given ones do not fit 1" },
  { "v6e 4x4 2", "dcn_data_parallelism=2", 8, 16, "4x4", 4, "scaling-elastic",
    "'8 to 16': expected dcn_*_parallelism" },
  { "v6e 4x4 2", "dcn_fsdp_parallelism=2", 8, 16, "4x4", 4, "scaling-elastic", "the given ones do not fit 3" },
  { "v6e 4x4 2", "dcn_data_parallelism=-1", 4, 64, "4x4", 4, "", NULL },
};

START_TEST (scaling_config_that_contradicts_the_slices_is_a_finding)
{
  g_autoptr (QuoitRayScaling) scaling
      = new_scaling (scalings[_i].least, scalings[_i].most, scalings[_i].topology, scalings[_i].tpu);
  g_autoptr (QuoitMaxtextReport) report = check_settings (scalings[_i].slices, scalings[_i].settings, scaling);
  g_autofree char *rules = dup_rules (report);

  ck_assert_str_eq (rules, scalings[_i].rules);
  if (scalings[_i].said != NULL)
    ck_assert_msg (strstr (quoit_maxtext_report_get_message (report, 0), scalings[_i].said) != NULL, "%s",
                   quoit_maxtext_report_get_message (report, 0));
}
END_TEST

START_TEST (every_maxtext_rule_has_a_case_and_is_documented)
{
  static const char *const words[] = { "", "error", "warning", "note" };
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "docs", "checking.md", NULL), *page = NULL;
  const char *name;

  ck_assert (g_file_get_contents (path, &page, NULL, NULL));

  for (unsigned rule = 0; (name = quoit_maxtext_rule_get_name (rule)) != NULL; rule++)
    {
      g_autofree char *line = g_strdup_printf ("| `%s` | %s |", name, words[quoit_maxtext_rule_get_severity (rule)]);
      gboolean is_broken = FALSE;

      for (unsigned i = 0; i < G_N_ELEMENTS (wrongs); i++)
        {
          g_auto (GStrv) rules = g_strsplit (wrongs[i].rules, " ", -1);

          is_broken = is_broken || g_strv_contains ((const char *const *) rules, name);
        }
      for (unsigned i = 0; i < G_N_ELEMENTS (scalings); i++)
        is_broken = is_broken || strstr (scalings[i].rules, name) != NULL;
      ck_assert_msg (is_broken, "%s", name);
      ck_assert_msg (strstr (page, line) != NULL, "docs/checking.md has no '%s'", line);
    }
}
END_TEST

/* --- memory --- */

/* The published numbers of parameters. */
static const struct {
  const char *model;
  int64_t parameters;
} published[] = {
  { "llama2-7b", 6738415616 },  { "llama2-13b", 13015864320 },   { "llama2-70b", 68976648192 },
  { "llama3-8b", 8030261248 },  { "llama3-70b", 70553706496 },   { "llama3.1-405b", 405853388800 },
  { "mistral-7b", 7241732096 }, { "mixtral-8x7b", 46702792704 }, { "qwen2.5-7b", 7615616512 },
  { "qwen3-0.6b", 596049920 },  { "qwen3-8b", 8190735360 },
};

START_TEST (model_has_its_published_number_of_parameters)
{
  g_autofree char *settings = g_strconcat ("model_name=", published[_i].model, NULL);
  g_autoptr (QuoitMaxtextReport) report = check_settings ("v5p 8x8x8 1", settings, NULL);

  ck_assert_int_eq (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_PARAMETERS),
                    published[_i].parameters);
}
END_TEST

static int64_t
number_of (const char *slices, const char *settings, QuoitMaxtextNumber which)
{
  g_autoptr (QuoitMaxtextReport) report = check_settings (slices, settings, NULL);

  return quoit_maxtext_report_get_number (report, which);
}

START_TEST (state_is_split_among_the_axes_that_do_not_repeat_weights)
{
  const int64_t parameters = 8030261248;
  static const struct {
    const char *slices, *settings;
    int64_t shards, state, gradients; /* bytes per parameter */
  } states[] = {
    { "v6e 4x4 1", "", 16, 12, 4 },
    { "v6e 4x4 1", "ici_data_parallelism=4", 4, 12, 4 },
    { "v6e 4x4 2", "", 16, 12, 4 },
    { "v6e 4x4 2", "dcn_data_parallelism=1 dcn_fsdp_parallelism=2", 32, 12, 4 },
    { "v6e 4x4 1", "ici_tensor_parallelism=4", 16, 12, 4 },
    { "tpu7x 2x2x2 1", "", 16, 12, 4 },
    { "v6e 4x4 1", "mu_dtype=bfloat16", 16, 10, 4 },
    { "v6e 4x4 1", "weight_dtype=bfloat16", 16, 6, 4 },
    { "v6e 4x4 1", "opt_type=sgd grad_dtype=bfloat16", 16, 4, 2 },
    { "v6e 4x4 1", "gradient_accumulation_steps=4", 16, 12, 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      g_autofree char *settings = g_strconcat ("model_name=llama3-8b ", states[i].settings, NULL);
      const int64_t each = parameters / states[i].shards;

      ck_assert_int_eq (number_of (states[i].slices, settings, QUOIT_MAXTEXT_NUMBER_STATE_BYTES),
                        each * states[i].state);
      ck_assert_int_eq (number_of (states[i].slices, settings, QUOIT_MAXTEXT_NUMBER_GRADIENT_BYTES),
                        each * states[i].gradients);
    }
}
END_TEST

START_TEST (memory_is_unknown_for_models_that_are_not_modelled)
{
  static const char *const unknown[] = { "",
                                         "model_name=default",
                                         "model_name=llama9-1b",
                                         "model_name=llama3-8b decoder_block=deepseek",
                                         "model_name=llama3-8b quantization=int8",
                                         "base_emb_dim=0",
                                         "base_emb_dim=99999999999" };

  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    for (int which = QUOIT_MAXTEXT_NUMBER_PARAMETERS; which <= QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES; which++)
      ck_assert_int_eq (number_of ("v6e 4x4 1", unknown[i], (QuoitMaxtextNumber) which), -1);
  /* The state does not depend on what is saved for the backward pass. */
  ck_assert_int_gt (
      number_of ("v6e 4x4 1", "model_name=llama3-8b remat_policy=custom", QUOIT_MAXTEXT_NUMBER_STATE_BYTES), 0);
  ck_assert_int_eq (
      number_of ("v6e 4x4 1", "model_name=llama3-8b remat_policy=custom", QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES), -1);
  ck_assert_int_eq (number_of ("v6e 4x4 1", "model_name=llama3-8b opt_type=muon", QUOIT_MAXTEXT_NUMBER_STATE_BYTES),
                    -1);
}
END_TEST

/* No number of sizes that a job can state is negative or too small for an error. */
START_TEST (huge_sizes_need_more_memory_than_there_is)
{
  static const char *const huge[] = {
    "head_dim=1048576 base_num_query_heads=1048576 base_num_kv_heads=1048576 base_emb_dim=1048576 base_mlp_dim=1048576 "
    "base_num_decoder_layers=1048576",
    "num_experts=1048576 base_mlp_dim=1048576 base_emb_dim=1048576 num_experts_per_tok=9000000000000000000",
    "model_name=mixtral-8x7b num_experts_per_tok=9000000000000000000 max_target_length=1048576 "
    "per_device_batch_size=100000000",
  };

  for (guint i = 0; i < G_N_ELEMENTS (huge); i++)
    {
      ck_assert_int_gt (number_of ("v6e 4x4 1", huge[i], QUOIT_MAXTEXT_NUMBER_PARAMETERS), 0);
      ck_assert_int_gt (number_of ("v6e 4x4 1", huge[i], QUOIT_MAXTEXT_NUMBER_STATE_BYTES), 0);
      ck_assert_int_gt (number_of ("v6e 4x4 1", huge[i], QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES), G_GINT64_CONSTANT (1)
                                                                                                 << 40);
    }
}
END_TEST

START_TEST (activations_grow_with_the_batch_and_the_length)
{
  const int64_t one = number_of ("v5p 4x4x4 1", "model_name=llama3-8b per_device_batch_size=1",
                                 QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES);
  const int64_t two = number_of ("v5p 4x4x4 1", "model_name=llama3-8b per_device_batch_size=2",
                                 QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES);
  const int64_t longer
      = number_of ("v5p 4x4x4 1", "model_name=llama3-8b per_device_batch_size=1 max_target_length=4096",
                   QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES);
  const int64_t minimal = number_of ("v5p 4x4x4 1", "model_name=llama3-8b per_device_batch_size=1 remat_policy=minimal",
                                     QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES);

  ck_assert_int_gt (one, 0);
  ck_assert_int_gt (two, one);
  ck_assert_int_eq (longer, two);
  ck_assert_int_gt (minimal, one);
}
END_TEST

/* --- hostile words --- */

START_TEST (messages_are_one_line_of_bounded_length)
{
  g_autofree char *longest = g_strnfill (100000, 'a');
  g_autofree char *value = g_strconcat ("run_name=", longest, NULL), *number = g_strconcat ("steps=", longest, NULL);
  g_autofree char *digits = g_strnfill (100000, '9');
  g_autofree char *size = g_strconcat ("ici_fsdp_parallelism=", digits, NULL);
  const char *const words[] = { longest,
                                value,
                                number,
                                size,
                                "a\nb: error",
                                "\x1b[31m=1",
                                "mesh_axes=[\x1b[31m]",
                                "compile_topology=\xff\n",
                                "hardware=\n",
                                "custom_mesh=\x7f",
                                "run_name=\n",
                                "run_name=\x01",
                                "=",
                                "==",
                                ".",
                                "lora.",
                                "mesh_axes=[",
                                "per_device_batch_size=1e999",
                                "per_device_batch_size=0x1p4",
                                "per_device_batch_size=--1" };
  g_autoptr (QuoitMaxtextJob) job = new_job ("v6e 4x4 2", "");
  g_autoptr (QuoitMaxtextReport) report = NULL;

  for (unsigned i = 0; i < G_N_ELEMENTS (words); i++)
    quoit_maxtext_job_add_setting (job, words[i]);
  report = quoit_maxtext_check (job, NULL, NULL);
  ck_assert_ptr_nonnull (report);
  ck_assert_uint_gt (quoit_maxtext_report_get_n_findings (report), 10);
  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    {
      const char *message = quoit_maxtext_report_get_message (report, i);

      ck_assert_uint_lt (strlen (message), 600);
      for (const char *p = message; *p != '\0'; p++)
        ck_assert_msg (g_ascii_isprint (*p), "%s", message);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("maxtext-settings");
  TCase *tcase = tcase_create ("settings");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, valid_mesh_of_maxtext_is_filled_without_errors, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, settings_that_maxtext_refuses_are_findings, 0, G_N_ELEMENTS (wrongs));
  tcase_add_test (tcase, settings_that_maxtext_accepts_have_no_findings);
  tcase_add_test (tcase, numbers_cover_all_slices);
  tcase_add_test (tcase, impossible_slices_are_refused);
  tcase_add_loop_test (tcase, scaling_config_that_contradicts_the_slices_is_a_finding, 0, G_N_ELEMENTS (scalings));
  tcase_add_test (tcase, every_maxtext_rule_has_a_case_and_is_documented);
  tcase_add_loop_test (tcase, model_has_its_published_number_of_parameters, 0, G_N_ELEMENTS (published));
  tcase_add_test (tcase, state_is_split_among_the_axes_that_do_not_repeat_weights);
  tcase_add_test (tcase, memory_is_unknown_for_models_that_are_not_modelled);
  tcase_add_test (tcase, huge_sizes_need_more_memory_than_there_is);
  tcase_add_test (tcase, activations_grow_with_the_batch_and_the_length);
  tcase_add_test (tcase, messages_are_one_line_of_bounded_length);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
