/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the memory of a training job per device: the state of the optimizer, gradients and activations of a dense
 * or mixture-of-experts decoder. The number of parameters is exact for the blocks in the table; docs/checking.md states
 * the error of the rest. */
#include <string.h>

#include "models/maxtext/maxtext.h"

/* The sizes of a model, as in MaxText's settings. */
typedef struct {
  int64_t emb, heads, kv_heads, head_dim, mlp, layers, vocab;
  int64_t experts, expert_mlp; /* experts 1: a dense model */
  int64_t n_activations;       /* of the MLP: 2 for a gated one */
  gboolean has_tied_logits;    /* logits_via_embedding */
  gboolean has_attention_bias; /* biases of query, key and value */
  gboolean has_qk_norm;        /* norms of query and key */
} Model;

/* clang-format off */
/* Files of MaxText 0.2.5, src/maxtext/configs/models, with the decoder blocks llama2, mistral, mixtral, qwen2 and
 * qwen3. */
static const struct {
  const char *name;
  Model model; /* in the order of its members */
} models[] = {
  { "llama2-7b",     {  4096,  32, 32, 128, 11008,  32,  32000, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama2-13b",    {  5120,  40, 40, 128, 13824,  40,  32000, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama2-70b",    {  8192,  64,  8, 128, 28672,  80,  32000, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3-8b",     {  4096,  32,  8, 128, 14336,  32, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3-70b",    {  8192,  64,  8, 128, 28672,  80, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3-405b",   { 16384, 128,  8, 128, 53248, 126, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3.1-8b",   {  4096,  32,  8, 128, 14336,  32, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3.1-70b",  {  8192,  64,  8, 128, 28672,  80, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3.1-405b", { 16384, 128,  8, 128, 53248, 126, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "llama3.3-70b",  {  8192,  64,  8, 128, 28672,  80, 128256, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "mistral-7b",    {  4096,  32,  8, 128, 14336,  32,  32000, 1, 0, 2, FALSE, FALSE, FALSE } },
  { "mixtral-8x7b",  {  4096,  32,  8, 128, 14336,  32,  32000, 8, 14336, 2, FALSE, FALSE, FALSE } },
  { "mixtral-8x22b", {  6144,  48,  8, 128, 16384,  56,  32768, 8, 16384, 2, FALSE, FALSE, FALSE } },
  { "qwen2.5-7b",    {  3584,  28,  4, 128, 18944,  28, 152064, 1, 0, 2, FALSE, TRUE,  FALSE } },
  { "qwen2.5-14b",   {  5120,  40,  8, 128, 13824,  48, 152064, 1, 0, 2, FALSE, TRUE,  FALSE } },
  { "qwen3-0.6b",    {  1024,  16,  8, 128,  3072,  28, 151936, 1, 0, 2, TRUE,  FALSE, TRUE } },
  { "qwen3-1.7b",    {  2048,  16,  8, 128,  6144,  28, 151936, 1, 0, 2, TRUE,  FALSE, TRUE } },
  { "qwen3-4b",      {  2560,  32,  8, 128,  9728,  36, 151936, 1, 0, 2, TRUE,  FALSE, TRUE } },
  { "qwen3-8b",      {  4096,  32,  8, 128, 12288,  36, 151936, 1, 0, 2, FALSE, FALSE, TRUE } },
  { "qwen3-14b",     {  5120,  40,  8, 128, 17408,  40, 151936, 1, 0, 2, FALSE, FALSE, TRUE } },
  { "qwen3-32b",     {  5120,  64,  8, 128, 25600,  64, 151936, 1, 0, 2, FALSE, FALSE, TRUE } },
};

/* The sizes that base.yml states. */
static const Model default_model = { 2048, 16, 16, 128, 7168, 16, 32000, 1, 0, 2, FALSE, FALSE, FALSE };
/* clang-format on */

/* --- the model --- */

/* The settings that describe a model. Without any of them, the job trains base.yml's own model, which nobody means. */
static const struct {
  const char *key;
  gsize offset;
} sizes[] = {
  { "base_emb_dim", G_STRUCT_OFFSET (Model, emb) },
  { "base_num_query_heads", G_STRUCT_OFFSET (Model, heads) },
  { "base_num_kv_heads", G_STRUCT_OFFSET (Model, kv_heads) },
  { "head_dim", G_STRUCT_OFFSET (Model, head_dim) },
  { "base_mlp_dim", G_STRUCT_OFFSET (Model, mlp) },
  { "base_num_decoder_layers", G_STRUCT_OFFSET (Model, layers) },
  { "vocab_size", G_STRUCT_OFFSET (Model, vocab) },
  { "num_experts", G_STRUCT_OFFSET (Model, experts) },
};

enum { LARGEST_SIZE = 1 << 20 };

static gboolean
read_sizes (QuoitMaxtextCheck *check, Model *model, gboolean *is_stated)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      int64_t *size = G_STRUCT_MEMBER_P (model, sizes[i].offset);

      *is_stated |= quoit_maxtext_settings_find (check->settings, sizes[i].key) != NULL;
      *size = quoit_maxtext_settings_integer (check->settings, sizes[i].key, *size);
      if (*size < 1 || *size > LARGEST_SIZE)
        return FALSE;
    }
  return TRUE;
}

/* Settings with which the decoder has other parameters than the formulas below. */
static gboolean
has_other_parameters (const QuoitMaxtextCheck *check)
{
  static const char *const keys[] = { "global_parameter_scale",
                                      "mtp_num_layers",
                                      "attention_type",
                                      "quantization",
                                      "enable_lora",
                                      "lora",
                                      "use_multimodal",
                                      "base_moe_mlp_dim",
                                      "shared_experts",
                                      "trainable_position_size",
                                      "fused_qkv",
                                      "fused_mlp",
                                      "attention_bias",
                                      "use_qk_norm",
                                      "mlp_activations" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (quoit_maxtext_settings_find (check->settings, keys[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* FALSE: the settings describe no model, or one that the formulas do not cover. */
static gboolean
read_model (QuoitMaxtextCheck *check, Model *model)
{
  static const char *const blocks[] = { "llama2", "mistral", "mixtral", NULL };
  const char *name = quoit_maxtext_settings_find (check->settings, "model_name");
  const char *block = quoit_maxtext_settings_find (check->settings, "decoder_block");
  gboolean is_stated = FALSE;

  *model = default_model;
  if (has_other_parameters (check) || (block != NULL && !g_strv_contains (blocks, block)))
    return FALSE;
  if (name != NULL && strcmp (name, "default") != 0)
    {
      guint found = 0;

      while (found < G_N_ELEMENTS (models) && strcmp (models[found].name, name) != 0)
        found++;
      if (found == G_N_ELEMENTS (models))
        return FALSE;
      *model = models[found].model;
      is_stated = TRUE;
    }
  model->has_tied_logits
      = quoit_maxtext_settings_flag (check->settings, "logits_via_embedding", model->has_tied_logits);
  if (!read_sizes (check, model, &is_stated))
    return FALSE;
  if (model->experts > 1 && model->expert_mlp == 0)
    model->expert_mlp = model->mlp;
  return is_stated;
}

/* More than anything has. Sums of a few such numbers do not overflow. */
#define LARGEST_PRODUCT (G_MAXINT64 / 32)

/* Multiplies numbers that are not negative. A greater product is LARGEST_PRODUCT. */
static int64_t
product (int64_t a, int64_t b)
{
  int64_t result;

  return __builtin_mul_overflow (a, b, &result) || result > LARGEST_PRODUCT ? LARGEST_PRODUCT : result;
}

static int64_t
count_layer (const Model *model)
{
  int64_t q = model->heads * model->head_dim, kv = model->kv_heads * model->head_dim;
  int64_t attention = product (model->emb, 2 * q + 2 * kv);
  int64_t mlp = product ((model->n_activations + 1) * model->emb, model->mlp);

  if (model->has_attention_bias)
    attention += q + 2 * kv;
  if (model->has_qk_norm)
    attention += 2 * model->head_dim;
  if (model->experts > 1)
    mlp = model->emb * model->experts
          + product (model->experts * (model->n_activations + 1), product (model->emb, model->expert_mlp));
  return attention + mlp + 2 * model->emb;
}

static int64_t
count_parameters (const Model *model)
{
  return product (model->layers, count_layer (model)) + model->emb
         + (model->has_tied_logits ? 1 : 2) * model->vocab * model->emb;
}

/* --- bytes --- */

/* Returns the bytes of a number of that type, or 0 for a type that is not listed. */
static int64_t
bytes_of_type (QuoitMaxtextCheck *check, const char *key, const char *default_type)
{
  static const struct {
    const char *name;
    int64_t bytes;
  } types[] = { { "float32", 4 }, { "bfloat16", 2 }, { "float16", 2 }, { "float8_e4m3fn", 1 }, { "int8", 1 } };
  const char *type = quoit_maxtext_settings_find (check->settings, key);

  if (type == NULL || *type == '\0')
    type = default_type;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].name, type) == 0)
      return types[i].bytes;
  return 0;
}

/* Returns the bytes per parameter of the state: the weight, and the moments of the optimizer. 0: not known. */
static int64_t
bytes_of_state (QuoitMaxtextCheck *check)
{
  const char *optimizer = quoit_maxtext_settings_find (check->settings, "opt_type");
  const char *weight_type = quoit_maxtext_settings_find (check->settings, "weight_dtype");
  int64_t weight = bytes_of_type (check, "weight_dtype", "float32");
  int64_t first = bytes_of_type (check, "mu_dtype", weight_type == NULL ? "float32" : weight_type);

  if (weight == 0 || first == 0)
    return 0;
  if (optimizer == NULL || strcmp (optimizer, "adamw") == 0 || strcmp (optimizer, "adam_pax") == 0)
    return weight + first + weight;
  return strcmp (optimizer, "sgd") == 0 ? weight : 0;
}

/* The number of devices among which the weights are split (gke-kuberay-jax 10.7). Only the axes of data parallelism
 * repeat them. */
static int64_t
count_shards (const QuoitMaxtextCheck *check)
{
  static const char *const repeated[] = { "data", "diloco", "context_autoregressive", NULL };
  const GArray *axes = check->report->axes;
  int64_t n = 1;

  for (guint i = 0; i < axes->len; i++)
    {
      const QuoitMaxtextAxis *axis = &g_array_index (axes, QuoitMaxtextAxis, i);

      if (!g_strv_contains (repeated, axis->name))
        n *= axis->ici * axis->dcn;
    }
  return n;
}

/* Returns the numbers per token that the backward pass of one layer recomputes and uses. */
static int64_t
count_layer_activations (const Model *model, gint64 experts_per_token)
{
  int64_t attention = 2 * model->heads * model->head_dim + 2 * model->kv_heads * model->head_dim;
  int64_t mlp = product (model->n_activations + 1,
                         model->experts > 1 ? product (model->expert_mlp, MAX (experts_per_token, 1)) : model->mlp);

  return attention + mlp + 4 * model->emb;
}

/* Returns the numbers per token that the forward pass of one layer keeps for the backward pass: its input, and with the
 * policy "minimal" the results of its matrix products. 0: not known. */
static int64_t
count_saved (const QuoitMaxtextCheck *check, const Model *model)
{
  const char *policy = quoit_maxtext_settings_find (check->settings, "remat_policy");

  if (policy == NULL || strcmp (policy, "full") == 0)
    return model->emb;
  if (strcmp (policy, "minimal") == 0 && model->experts == 1)
    return 2 * model->emb + 2 * model->heads * model->head_dim + 2 * model->kv_heads * model->head_dim
           + model->n_activations * model->mlp;
  return 0;
}

static void
set_number (QuoitMaxtextCheck *check, QuoitMaxtextNumber which, int64_t value)
{
  check->report->numbers[which] = value;
}

static char *
format_gib (int64_t bytes)
{
  return g_strdup_printf ("%.1f GiB", (double) bytes / 0x1p30);
}

/* Reports that the job needs more memory than a device has. */
static void
report (QuoitMaxtextCheck *check, QuoitMaxtextRule rule, const char *what, int64_t bytes, int64_t hbm,
        const char *advice)
{
  const char *name = quoit_maxtext_settings_find (check->settings, "model_name");
  g_autofree char *needed = format_gib (bytes), *limit = format_gib (hbm);

  quoit_maxtext_report_add (check->report, rule, name == NULL ? "base_*" : "model_name", name,
                            "%s of at most %s per device, the memory of %s: the job needs %s; %s", what, limit,
                            quoit_generation_name (check->slice.generation), needed, advice);
}

void
quoit_maxtext_check_memory (QuoitMaxtextCheck *check)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (check->slice.generation);
  int64_t hbm = facts->hbm_gb == 0 ? -1 : ((int64_t) facts->hbm_gb << 30) / facts->devices_per_chip;
  int64_t state = bytes_of_state (check), gradient = bytes_of_type (check, "grad_dtype", "float32");
  int64_t activation = bytes_of_type (check, "dtype", "bfloat16");
  int64_t length = quoit_maxtext_settings_integer (check->settings, "max_target_length", 2048);
  int64_t steps = quoit_maxtext_settings_integer (check->settings, "gradient_accumulation_steps", 1);
  int64_t per_token = quoit_maxtext_settings_integer (check->settings, "num_experts_per_tok", 1);
  int64_t rows = check->report->numbers[QUOIT_MAXTEXT_NUMBER_BATCH];
  int64_t n_devices = check->report->numbers[QUOIT_MAXTEXT_NUMBER_DEVICES];
  int64_t n_parameters, shards, gradients, tokens, saved, kept, gathered, layer, logits, activations;
  Model model;

  if (!read_model (check, &model))
    return;
  n_parameters = count_parameters (&model);
  set_number (check, QUOIT_MAXTEXT_NUMBER_PARAMETERS, n_parameters);
  set_number (check, QUOIT_MAXTEXT_NUMBER_HBM_BYTES, hbm);
  if (state == 0 || gradient == 0)
    return;
  shards = count_shards (check);
  /* With accumulation, the sum of the gradients exists next to those of a pass. */
  gradients = product (n_parameters / shards, gradient * (steps > 1 ? 2 : 1));
  state = product (n_parameters / shards, state);
  set_number (check, QUOIT_MAXTEXT_NUMBER_STATE_BYTES, state);
  set_number (check, QUOIT_MAXTEXT_NUMBER_GRADIENT_BYTES, gradients);
  saved = activation * count_saved (check, &model);
  if (rows > 0 && saved > 0 && length > 0 && length <= LARGEST_SIZE && rows <= G_MAXINT32)
    {
      tokens = (rows * length + n_devices - 1) / n_devices;
      kept = product (tokens, product (saved, model.layers));
      /* The gathered weights of a layer, and those of the next one. */
      gathered = shards > 1 ? product (2 * activation, count_layer (&model)) : 0;
      /* What a layer recomputes, and its gradients. */
      layer = product (2 * activation * tokens, count_layer_activations (&model, per_token));
      /* Logits and their gradient in four bytes, and a copy. At that time, no gradients of weights exist. */
      logits = product (tokens, model.vocab * (4 + 4 + activation));
      activations = MAX (gathered + kept + layer, kept + logits - gradients);
      set_number (check, QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES, activations);
      set_number (check, QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES, state + gradients + activations);
    }
  if (hbm < 0)
    return;
  if (state + gradients > hbm)
    report (check, QUOIT_MAXTEXT_RULE_MEMORY_STATE, "parameters, optimizer state and gradients", state + gradients, hbm,
            "use more devices, or more of them for fsdp");
  else if (check->report->numbers[QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES] > hbm)
    report (check, QUOIT_MAXTEXT_RULE_MEMORY_TOTAL, "a step", check->report->numbers[QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES],
            hbm, "use a smaller per_device_batch_size or max_target_length, or more devices for fsdp");
}
