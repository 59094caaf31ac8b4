/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <stdio.h>
#include <string.h>

#include <quoit/models/maxtext.h>

/* --- filling --- */

enum { MOST_SIZES = 8 };

static unsigned
read_sizes (const char *text, int64_t *sizes)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  unsigned n = 0;

  for (char **word = words; *text != '\0' && *word != NULL; word++)
    sizes[n++] = g_ascii_strtoll (*word, NULL, 10);
  return n;
}

static char *
write_sizes (const int64_t *sizes, unsigned n)
{
  GString *text = g_string_new (NULL);

  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", (gint64) sizes[i]);
  return g_string_free (text, FALSE);
}

static const struct {
  const char *sizes;
  int64_t target;
  const char *expected; /* the filled-in sizes, or part of the refusal's message */
} fillings[] = {
  { "-1", 16, "16" },
  { "4,-1,2", 16, "4,2,2" },
  { "16,-1", 16, "16,1" },
  { "", 1, "" },
  { "", 2, "expected a product of 2" },
  { "-1,-1", 16, "-1 for one axis at most" },
  { "-1,3", 16, "divisor of 16" },
  { "-1,32", 16, "divisor of 16" },
  { "-1,0", 16, "divisor of 16" },
  { "0,-1", 0, "divisor of 0" },
  { "-1,-2", 16, "divisor of 16" },
  { "-2,-2", 4, "-2,-2" },
  { "-2,-1,-2", 4, "-2,1,-2" },
  { "0", 0, "0" },
  { "8,4", 16, "product of 16" },
  { "-1", INT64_MAX, "9223372036854775807" },
  { "-1", INT64_MIN, "divisor of" },
  { "9223372036854775807,2", 16, "product of 16" },
  { "4294967296,4294967296", 0, "4294967296,4294967296" },
};

START_TEST (sizes_are_filled_as_maxtext_fills_them)
{
  int64_t sizes[MOST_SIZES] = { 0 };
  unsigned n = read_sizes (fillings[_i].sizes, sizes);
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;

  if (quoit_maxtext_fill (QUOIT_MAXTEXT_ICI, sizes, n, fillings[_i].target, &error))
    {
      ck_assert_ok (error);
      after = write_sizes (sizes, n);
      ck_assert_str_eq (after, fillings[_i].expected);
      return;
    }
  ck_assert_refused (error, QUOIT_ERROR_INVALID, fillings[_i].expected);
  after = write_sizes (sizes, n);
  ck_assert_str_eq (after, fillings[_i].sizes);
}
END_TEST

/* Compares the value for a size of -1 with an exhaustive search. */
START_TEST (inferred_size_multiplies_to_the_target)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261122);
  unsigned n_filled = 0, n_refused = 0;

  for (unsigned round = 0; round < 20000; round++)
    {
      int64_t sizes[4], filled[4], target = g_rand_int_range (rand, 1, 65), others = 1, found = 0;
      unsigned n = (unsigned) g_rand_int_range (rand, 1, 5), axis = (unsigned) g_rand_int_range (rand, 0, (gint32) n);

      for (unsigned i = 0; i < n; i++)
        {
          sizes[i] = i == axis ? -1 : g_rand_int_range (rand, 1, 9);
          others *= i == axis ? 1 : sizes[i];
        }
      for (int64_t size = 1; size <= target; size++)
        if (size * others == target)
          found = size;
      memcpy (filled, sizes, sizeof sizes);
      if (quoit_maxtext_fill (QUOIT_MAXTEXT_DCN, filled, n, target, NULL))
        n_filled++;
      else
        n_refused++;
      ck_assert_int_eq (filled[axis], found == 0 ? -1 : found);
    }
  ck_assert_uint_gt (n_filled, 1000);
  ck_assert_uint_gt (n_refused, 1000);
}
END_TEST

START_TEST (links_are_named_in_the_refusal)
{
  int64_t size = 3;
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_maxtext_fill (QUOIT_MAXTEXT_DCN, &size, 1, 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "DCN sizes '3': expected a product of 2, the slices");
  ck_assert (!quoit_maxtext_fill ((QuoitMaxtextLinks) 3, &size, 1, 3, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "links '3'");
}
END_TEST

/* --- accelerators --- */

START_TEST (every_accelerator_is_found_by_its_name_and_counts_its_devices)
{
  const QuoitMaxtextAccelerator *at;
  unsigned n = 0, n_rings = 0;

  for (; (at = quoit_maxtext_get_accelerator (n)) != NULL; n++)
    {
      const char *topology = quoit_maxtext_accelerator_get_topology (at), *config;
      unsigned sides[3] = { 1, 1, 1 };

      ck_assert_ptr_eq (quoit_maxtext_lookup_accelerator (quoit_maxtext_accelerator_get_name (at), NULL), at);
      if (topology == NULL)
        {
          ck_assert_str_eq (quoit_maxtext_accelerator_get_platform (at), "gpu");
          ck_assert_ptr_null (quoit_maxtext_accelerator_get_chip_config (at));
          continue;
        }
      config = quoit_maxtext_accelerator_get_chip_config (at);
      ck_assert_int_ge (sscanf (strchr (topology, ':') + 1, "%ux%ux%u", &sides[0], &sides[1], &sides[2]), 2);
      ck_assert_uint_eq (quoit_maxtext_accelerator_get_n_devices (at),
                         sides[0] * sides[1] * sides[2] * (g_str_has_prefix (topology, "tpu7x") ? 2 : 1));
      ck_assert_str_eq (config, g_str_has_prefix (topology, "v4") || g_str_has_prefix (topology, "v5:") ? "megacore"
                                                                                                        : "default");
      for (unsigned axis = 0; axis < 3; axis++)
        {
          ck_assert_uint_eq (sides[axis] % quoit_maxtext_accelerator_get_host_bound (at, axis), 0);
          n_rings += (unsigned) quoit_maxtext_accelerator_wraps (at, axis);
        }
    }
  ck_assert_uint_eq (n, 224);
  ck_assert_uint_gt (n_rings, 500);
}
END_TEST

START_TEST (unknown_accelerator_is_refused_with_the_nearest_name)
{
  static const struct {
    const char *name, *nearest;
  } wrong[] = {
    { "v6e-17", "'v6e-16'" },      { "V6E-16", "'v6e-16'" }, { "v5litepod-16", "'v5e-16'" },    { "v4-8x", "'v4-8'" },
    { "tpu7-128", "'tpu7x-128'" }, { "", "'a3'" },           { "v5p-19456\n", "v5p-19456\\n" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (quoit_maxtext_lookup_accelerator (wrong[i].name, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, wrong[i].nearest);
    }
}
END_TEST

/* --- checking --- */

/* "v6e 4x4 2"; "" for an unspecified job. */
static QuoitMaxtextJob *
new_job (const char *slices, const char *settings)
{
  g_autoptr (QuoitMaxtextJob) job = quoit_maxtext_job_new ();
  g_auto (GStrv) parts = g_strsplit (slices, " ", 4), words = g_strsplit (settings, " ", -1);
  g_autoptr (GError) error = NULL;

  if (*slices != '\0')
    ck_assert_msg (quoit_maxtext_job_set_slices (job, parts[0], parts[1], g_ascii_strtoll (parts[2], NULL, 10),
                                                 parts[3] == NULL ? 0 : (unsigned) atoi (parts[3]), &error),
                   "%s: %s", slices, error->message);
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0')
      quoit_maxtext_job_add_setting (job, *word);
  return g_steal_pointer (&job);
}

static QuoitMaxtextReport *
look (const char *slices, const char *settings, const QuoitRayScaling *scaling)
{
  g_autoptr (QuoitMaxtextJob) job = new_job (slices, settings);
  g_autoptr (GError) error = NULL;
  QuoitMaxtextReport *report = quoit_maxtext_check (job, scaling, &error);

  ck_assert_ok (error);
  return report;
}

static char *
rules_of (const QuoitMaxtextReport *report)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", quoit_maxtext_report_get_rule (report, i));
  return g_string_free (text, FALSE);
}

/* "data=1x2 fsdp=16x1": the axes with a size. */
static char *
axes_of (const QuoitMaxtextReport *report)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_axes (report); i++)
    {
      int64_t ici = quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_ICI);
      int64_t dcn = quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_DCN);

      if (ici != 1 || dcn != 1)
        g_string_append_printf (text, "%s%s=%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, text->len > 0 ? " " : "",
                                quoit_maxtext_report_get_axis_name (report, i), (gint64) ici, (gint64) dcn);
    }
  return g_string_free (text, FALSE);
}

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
  g_autoptr (QuoitMaxtextReport) report = look (meshes[_i].slices, meshes[_i].settings, NULL);
  g_autofree char *axes = axes_of (report), *rules = rules_of (report);

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
    "'0.5': expected 1: a pass has 16 rows, which is not a multiple of 32, data times fsdp" },
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
  g_autoptr (QuoitMaxtextReport) report = look (wrongs[_i].slices, wrongs[_i].settings, NULL);
  g_autofree char *rules = rules_of (report);
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
      g_autoptr (QuoitMaxtextReport) report = look ("v6e 4x4 2", taken[i], NULL);
      g_autofree char *rules = rules_of (report);

      ck_assert_msg (*rules == '\0', "%s: %s", taken[i], rules);
    }
}
END_TEST

START_TEST (numbers_cover_all_slices)
{
  g_autoptr (QuoitMaxtextReport) report
      = look ("tpu7x 2x2x2 3", "per_device_batch_size=2 gradient_accumulation_steps=4", NULL);

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

/* --- suggestions --- */

/* Parses "for example A=1 B=2" or "for example A=1, B=2 or C=3" in an expectation: alternatives, each a list of
 * settings. */
static GPtrArray *
alternatives (const char *expected)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  const char *example = g_strrstr (expected, ": for example ");
  g_auto (GStrv) commas = g_strsplit (example + strlen (": for example "), ", ", -1);

  for (char **part = commas; *part != NULL; part++)
    {
      g_auto (GStrv) ors = g_strsplit (*part, " or ", -1);

      for (char **one = ors; *one != NULL; one++)
        g_ptr_array_add (found, g_strdup (*one));
    }
  return found;
}

static gboolean
is_about_sizes (const char *rule)
{
  static const char *const rules[] = { "unspecified-twice", "unspecified-value", "ici-product", "dcn-product", NULL };

  return g_strv_contains (rules, rule);
}

/* With two axes of -1 and a third one that does not fit, the corrected settings break the next rule. */
static void
check_alternatives (const char *slices, const char *settings, const QuoitMaxtextReport *report, uint32_t finding)
{
  const char *rule = quoit_maxtext_report_get_rule (report, finding);
  g_autoptr (GPtrArray) found = alternatives (quoit_maxtext_report_get_expected (report, finding));
  gboolean is_dcn = g_str_has_prefix (quoit_maxtext_report_get_key (report, finding), "dcn");

  ck_assert_uint_gt (found->len, 0);
  for (guint i = 0; i < found->len; i++)
    {
      g_autofree char *mended = g_strdup_printf ("%s %s", settings, (const char *) found->pdata[i]);
      g_autoptr (QuoitMaxtextReport) after = look (slices, mended, NULL);

      for (uint32_t k = 0; k < quoit_maxtext_report_get_n_findings (after); k++)
        {
          const char *still = quoit_maxtext_report_get_rule (after, k);
          const char *key = quoit_maxtext_report_get_key (after, k);

          if (key == NULL || !is_about_sizes (still) || g_str_has_prefix (key, "dcn") != is_dcn)
            continue;
          ck_assert_msg (strcmp (rule, "unspecified-twice") == 0 && strcmp (still, rule) != 0, "%s: %s: %s: %s", slices,
                         mended, rule, quoit_maxtext_report_get_message (after, k));
        }
    }
}

START_TEST (every_proposed_size_is_valid)
{
  static const char *const axes[] = { "data", "fsdp", "tensor", "expert", "pipeline" };
  static const char *const slices[] = { "v6e 4x4 1", "v6e 4x4 2", "v6e 4x8 6", "v5p 2x2x2 12", "v5p 4x4x12 5" };
  static const int sizes[] = { -1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 1000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  unsigned n_checked = 0;

  for (unsigned round = 0; round < 3000; round++)
    {
      g_autoptr (GString) settings = g_string_new (NULL);
      const char *of = slices[g_rand_int_range (rand, 0, G_N_ELEMENTS (slices))];
      g_autoptr (QuoitMaxtextReport) report = NULL;

      for (unsigned i = 0; i < G_N_ELEMENTS (axes); i++)
        for (unsigned links = 0; links < 2; links++)
          if (g_rand_int_range (rand, 0, 3) == 0)
            g_string_append_printf (settings, "%s_%s_parallelism=%d ", links == 0 ? "ici" : "dcn", axes[i],
                                    sizes[g_rand_int_range (rand, 0, G_N_ELEMENTS (sizes))]);
      report = look (of, settings->str, NULL);
      for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
        if (is_about_sizes (quoit_maxtext_report_get_rule (report, i)))
          {
            check_alternatives (of, settings->str, report, i);
            n_checked++;
          }
    }
  ck_assert_uint_gt (n_checked, 1000);
}
END_TEST

/* --- device meshes --- */

typedef struct {
  const char *kind, *topology;
  uint32_t slices; /* the actual number */
  const char *ici, *dcn;
  int64_t n_slices; /* the number in the settings */
  const char *custom_mesh;
  unsigned flags;
  const char *expected; /* the first ids, or part of the refusal's message */
} MeshCase;

static QuoitMesh *
new_mesh (const MeshCase *of, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (of->kind, of->topology, of->slices, 0, 0, NULL);
  int64_t ici[MOST_SIZES] = { 0 }, dcn[MOST_SIZES] = { 0 };
  unsigned n = read_sizes (of->ici, ici);

  ck_assert_uint_eq (read_sizes (of->dcn, dcn), n);
  return quoit_maxtext_mesh_new (devices, ici, dcn, n, of->n_slices, of->custom_mesh, of->flags, error);
}

enum { SPLIT = QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES, OPTIMIZE = QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E };

static const MeshCase device_meshes[] = {
  { "v6e", "4x4", 1, "1,-1", "1,1", 1, NULL, 0, "0,1,2,3,7,6,5,9" },
  { "v6e", "4x4", 2, "1,-1", "-1,1", 2, NULL, 0, "0,1,2,3,7,6,5,9" },
  { "v6e", "4x4", 1, "-1,2", "1,1", 1, NULL, SPLIT, "0,1,4,5,8,9,12,13" },
  { "v6e", "4x4", 1, "-1,2", "1,1", 1, NULL, 0, "mesh shape '8,2'" },
  { "v6e", "4x4", 1, "-1,2", "9,9", 1, "", SPLIT, "0,1,4,5,8,9,12,13" },
  { "v6e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,4,5,6,7" },
  { "v6e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE | SPLIT, "0,1,2,3,7,6,5,4" },
  { "v6e", "2x4", 1, "2,4", "1,1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v6e", "4x2", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v5e", "2x4", 1, "8", "1", 1, NULL, OPTIMIZE, "0,1,2,3,7,6,5,4" },
  { "v6e", "16x16", 1, "1,64,4", "1,1,1", 1, "hybrid_ring_64x4", SPLIT, "0,1,17,16,2,3,19,18" },
  { "v6e", "16x16", 1, "1,32,8", "1,1,1", 1, "hybrid_ring_32x8", SPLIT, "0,1,2,3,19,18,17,16" },
  { "v6e", "16x16", 1, "1,64,4", "1,1,1", 1, "hybrid_ring_64x4", 0, "mesh shape '1,64,4'" },
  { "v6e", "16x16", 2, "1,4,64", "2,1,1", 2, "hybrid_ring_64x4", 0, "0,1,17,16,2,3,19,18" },
  { "v6e", "16x16", 2, "4,64", "2,1", 2, "hybrid_ring_64x4", 0, "expected ICI sizes of 64 and 4 for it" },
  { "v6e", "16x16", 2, "1,256", "2,1", 2, "ring\n", 0, "custom_mesh 'ring\\n': expected hybrid_ring_64x4" },
  { "v5p", "4x8x8", 2, "1,4,64", "2,1,1", 2, "hybrid_ring_64x4", 0, "mesh shape '16,16'" },
  { "v6e", "4x4", 2, "-1", "3", 3, NULL, 0, "'2'" },
  { "v6e", "4x4", 2, "-1", "3", 2, NULL, 0, "DCN sizes '3'" },
  { "v6e", "4x4", 1, "-2,-8", "1,1", 1, NULL, 0, "mesh shape '-2,-8'" },
  { "v6e", "4x4", 1, "-1", "1", 0, NULL, 0, "slices '0': expected 1 to 1000000" },
  { "v6e", "4x4", 1, "", "", 1, NULL, 0, "mesh of '0' axes: expected 1 to 64" },
  { "v6e", "4x4", 1, "-1", "1", 1, NULL, 4, "flags '4'" },
};

START_TEST (device_order_matches_maxtext)
{
  const MeshCase *of = &device_meshes[_i];
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMesh) mesh = new_mesh (of, &error);
  g_autofree char *first = NULL;

  if (mesh == NULL)
    {
      ck_assert_refused (error, QUOIT_ERROR_INVALID, of->expected);
      return;
    }
  ck_assert_ok (error);
  first = write_sizes (quoit_mesh_get_ids (mesh), 8);
  ck_assert_str_eq (first, of->expected);
}
END_TEST

START_TEST (ring_meshes_of_maxtext_connect_neighbours)
{
  static const struct {
    const char *name, *ici;
    unsigned length;
  } rings[] = { { "hybrid_ring_64x4", "1,64,4", 4 }, { "hybrid_ring_32x8", "1,32,8", 8 } };

  for (unsigned k = 0; k < G_N_ELEMENTS (rings); k++)
    {
      const MeshCase of = { "v6e", "16x16", 3, rings[k].ici, "3,1,1", 3, rings[k].name, 0, NULL };
      g_autoptr (QuoitMesh) mesh = new_mesh (&of, NULL);
      const int64_t *ids = quoit_mesh_get_ids (mesh);
      g_autofree unsigned *seen = g_new0 (unsigned, quoit_mesh_get_n_devices (mesh));

      ck_assert_uint_eq (quoit_mesh_get_n_devices (mesh), 768);
      ck_assert_uint_eq (quoit_mesh_get_n_granules (mesh), 3);
      ck_assert_uint_eq (quoit_mesh_get_dcn_size (mesh, 0), 3);
      ck_assert_int_eq (quoit_mesh_get_order (mesh, 0), QUOIT_MESH_ORDER_RING);
      for (unsigned i = 0; i < 768; i++)
        {
          unsigned next = i / rings[k].length * rings[k].length + (i + 1) % rings[k].length;
          int64_t dx = ids[next] % 16 - ids[i] % 16, dy = ids[next] / 16 - ids[i] / 16;

          ck_assert_int_eq (ABS (dx) + ABS (dy), 1);
          ck_assert_int_eq (ids[i] / 256, i / 256);
          ck_assert_uint_eq (seen[ids[i]]++, 0);
        }
    }
}
END_TEST

START_TEST (box_starts_at_the_smallest_coordinates)
{
  g_autoptr (QuoitDevices) all = quoit_devices_new_slices ("v6e", "8x8", 1, 0, 0, NULL);
  const int64_t sides[] = { 2, 4, 1, 1 };
  g_autoptr (QuoitDevices) box = quoit_maxtext_devices_new_box (all, sides, 3, NULL);
  g_autoptr (QuoitDevices) whole = quoit_maxtext_devices_new_box (all, NULL, 0, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (quoit_devices_get_n_devices (whole), 64);
  ck_assert_uint_eq (quoit_devices_get_n_devices (box), 8);
  for (uint32_t i = 0; i < 8; i++)
    {
      ck_assert_int_lt (quoit_devices_get_coordinates (box, i)[0], 2);
      ck_assert_int_lt (quoit_devices_get_coordinates (box, i)[1], 4);
    }
  ck_assert_ptr_null (quoit_maxtext_devices_new_box (all, sides, 4, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "box of '4' sides: expected at most 3");
  ck_assert_ptr_null (quoit_maxtext_devices_new_box (all, (int64_t[]) { 0 }, 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "box: expected sides of 1 or more");
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
    "ScalingConfig.accelerator_type 'TPU-V6E': expected a name of v5litepod" },
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
  g_autoptr (QuoitMaxtextReport) report = look (scalings[_i].slices, scalings[_i].settings, scaling);
  g_autofree char *rules = rules_of (report);

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

/* --- files of settings --- */

/* Reads the files "a.yml" and "b.yml" (may be NULL) for "v6e 4x4 2". */
static QuoitMaxtextReport *
look_at_files (const char *first, const char *second, const char *settings)
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
  /* Words override files without an extra finding. */
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
  g_autoptr (QuoitMaxtextReport) report = look_at_files (files[_i].first, files[_i].second, files[_i].settings);
  g_autofree char *axes = axes_of (report), *rules = rules_of (report);

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
  /* A setting from a word has no file. */
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
      = look_at_files (broken_files[_i].first, broken_files[_i].second, broken_files[_i].settings);
  g_autofree char *rules = rules_of (report);
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
  Suite *suite = suite_create ("maxtext");
  TCase *configs = tcase_create ("files");
  TCase *filling = tcase_create ("filling"), *checking = tcase_create ("checking");

  tcase_add_loop_test (filling, sizes_are_filled_as_maxtext_fills_them, 0, G_N_ELEMENTS (fillings));
  tcase_add_test (filling, inferred_size_multiplies_to_the_target);
  tcase_add_test (filling, links_are_named_in_the_refusal);
  tcase_add_test (filling, every_accelerator_is_found_by_its_name_and_counts_its_devices);
  tcase_add_test (filling, unknown_accelerator_is_refused_with_the_nearest_name);
  suite_add_tcase (suite, filling);
  tcase_set_timeout (checking, 60);
  tcase_add_loop_test (checking, valid_mesh_of_maxtext_is_filled_without_errors, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (checking, settings_that_maxtext_refuses_are_findings, 0, G_N_ELEMENTS (wrongs));
  tcase_add_test (checking, settings_that_maxtext_accepts_have_no_findings);
  tcase_add_test (checking, every_maxtext_rule_has_a_case_and_is_documented);
  tcase_add_test (checking, numbers_cover_all_slices);
  tcase_add_test (checking, impossible_slices_are_refused);
  tcase_add_test (checking, every_proposed_size_is_valid);
  tcase_add_loop_test (checking, device_order_matches_maxtext, 0, G_N_ELEMENTS (device_meshes));
  tcase_add_test (checking, ring_meshes_of_maxtext_connect_neighbours);
  tcase_add_test (checking, box_starts_at_the_smallest_coordinates);
  tcase_add_loop_test (checking, scaling_config_that_contradicts_the_slices_is_a_finding, 0, G_N_ELEMENTS (scalings));
  tcase_add_test (checking, messages_are_one_line_of_bounded_length);
  tcase_add_loop_test (configs, arguments_override_settings_of_files, 0, G_N_ELEMENTS (files));
  tcase_add_loop_test (configs, finding_in_a_settings_file_has_its_line, 0, G_N_ELEMENTS (broken_files));
  tcase_add_loop_test (configs, invalid_settings_file_is_refused_and_adds_nothing, 0, G_N_ELEMENTS (no_files));
  suite_add_tcase (suite, configs);
  suite_add_tcase (suite, checking);
  return suite_main (suite);
}
