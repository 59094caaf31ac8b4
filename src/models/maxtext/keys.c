/* SPDX-License-Identifier: Apache-2.0 */
/* The names of MaxText's settings (the fields of MaxTextConfig in MaxText 0.2.5), and suggestions for misspelled
 * ones. */
#include <string.h>

#include "base/text.h"
#include "models/maxtext/maxtext.h"

/* In the order of strcmp(). */
/* clang-format off */
static const char *const keys[] = {
  "abort_on_inf_loss", "abort_on_nan_loss", "act_quantization_calibration_method", "activation_dropout_for_audio",
  "activation_function_for_audio", "activations_in_float32", "adam_b1", "adam_b2", "adam_eps", "adam_eps_root",
  "adam_weight_decay", "adamw_mask", "add_bos", "add_eos", "algo", "allow_split_physical_axes",
  "ar_cache_axis_order", "async_checkpointing", "async_scheduling", "attention", "attention_bias",
  "attention_dropout_for_audio", "attention_for_vit", "attention_out", "attention_output_dim", "attention_sink",
  "attention_type", "attn_logits_soft_cap", "attn_module_name", "audio_path", "audio_placeholder",
  "autoregressive_decode_assert", "base_config", "base_emb_dim", "base_mlp_dim", "base_moe_mlp_dim",
  "base_num_decoder_layers", "base_num_kv_heads", "base_num_query_heads", "base_output_directory",
  "batch_split_factor", "beta_fast", "beta_slow", "blend_cache_dir", "blend_index_dir",
  "block_diffusion_canvas_policy", "block_diffusion_logit_alignment", "block_diffusion_mask_id",
  "block_diffusion_min_noise", "block_state_before_run_start", "bwd_quantization_calibration_method",
  "capacity_factor", "cast_logits_to_fp32", "causal_block_size", "chat_template", "chat_template_path", "check_vma",
  "checkpoint_conversion_fn", "checkpoint_dir", "checkpoint_is_quantized", "checkpoint_period",
  "checkpoint_storage_concurrent_gb", "checkpoint_storage_device_host_concurrent_gb",
  "checkpoint_storage_target_data_file_size_bytes", "checkpoint_storage_use_ocdbt", "checkpoint_storage_use_zarr3",
  "checkpoint_todelete_full_path", "checkpoint_todelete_subdir", "chunk_attn_window_size",
  "colocated_python_checkpointing", "colocated_python_data_input", "communication_overlapping_alpha",
  "compile_topology", "compile_topology_num_slices", "compile_xla_flags", "compiled_trainstep_file",
  "compress_ratios", "compressed_rope_max_timescale", "compute_axis_order", "constant_bound_config", "context",
  "context_parallel_load_balance", "context_parallel_reorder_strategy", "context_parallel_strategy",
  "context_sharding", "conv_chunksize_for_audio", "conv_stride_for_vit", "convert_checkpoint_if_possible",
  "cost_estimate_flops_bwd", "cost_estimate_flops_fwd", "csa_qk_head_chunk_size", "custom_mesh",
  "custom_mesh_and_rule", "custom_mesh_and_rule_for_eval", "d_model_for_audio", "data_sharding", "data_shuffle_seed",
  "data_template_path", "dataset_name", "dataset_path", "dataset_type", "dcn_autoregressive_parallelism",
  "dcn_bandwidth_burst", "dcn_bandwidth_interface", "dcn_bandwidth_latency", "dcn_bandwidth_limit",
  "dcn_context_autoregressive_parallelism", "dcn_context_parallelism", "dcn_context_usp_ulysses_parallelism",
  "dcn_data_parallelism", "dcn_diloco_parallelism", "dcn_expert_parallelism", "dcn_fsdp_parallelism",
  "dcn_fsdp_transpose_parallelism", "dcn_parallelism", "dcn_pipeline_parallelism", "dcn_sequence_parallelism",
  "dcn_tensor_parallelism", "dcn_tensor_sequence_parallelism", "debug_converter", "debug_sharding",
  "decode_sampling_nucleus_p", "decode_sampling_strategy", "decode_sampling_temperature", "decode_sampling_top_k",
  "decoder_block", "decoder_layer_input", "deepstack_visual_indexes_for_vit", "default_prompt",
  "defer_small_all_reduces", "dense_fsdp_use_two_stage_all_gather", "dense_init_scale", "diloco_outer_lr",
  "diloco_outer_momentum", "diloco_sync_period", "distill_alpha", "distill_alpha_end", "distill_alpha_schedule",
  "distill_beta", "distill_beta_end", "distill_beta_schedule", "distill_feature_loss_type", "distill_layer_indices",
  "distill_student_weights_share_map", "distill_temperature", "distill_temperature_end",
  "distill_temperature_schedule", "distill_weights_copy_map", "downsample_hidden_size_for_audio", "dpo", "dpo_beta",
  "dpo_label_smoothing", "dq_reduction_steps", "drhs_grad_quantization_calibration_method", "dropout_rate", "dtype",
  "dtype_mm", "dump_hlo", "dump_hlo_delete_local_after", "dump_hlo_gcs_dir", "dump_hlo_local_dir",
  "dump_hlo_local_module_name", "dump_hlo_module_name", "dump_hlo_upload_all", "dump_hlo_xla_flags", "dump_jaxpr",
  "dump_jaxpr_delete_local_after", "dump_jaxpr_gcs_dir", "dump_jaxpr_local_dir", "dump_step", "elastic_backup_kind",
  "elastic_enabled", "elastic_max_retries", "elastic_min_slice_count", "elastic_timeout_seconds", "emb_dim",
  "enable_autocheckpoint", "enable_checkpoint_cloud_logger", "enable_checkpointing",
  "enable_continuous_checkpointing", "enable_data_shuffling", "enable_diloco", "enable_dp_attention",
  "enable_dropout", "enable_emergency_checkpoint", "enable_expert_parallel", "enable_gcp_goodput_metrics",
  "enable_gcp_step_deviation_metrics", "enable_goodput_recording", "enable_jax_profiler",
  "enable_llm_inference_pool", "enable_lora", "enable_mhc_lite", "enable_mllog", "enable_model_warmup",
  "enable_multi_tier_checkpointing", "enable_orbax_v1", "enable_padding_causal_mask", "enable_pathways_goodput",
  "enable_prefix_caching", "enable_rampup_batch_size", "enable_single_controller",
  "enable_single_replica_ckpt_restoring", "enable_streaming_diloco", "enable_tensorboard",
  "enable_tpu_profiling_options", "enable_wandb", "encoder_attention_heads_for_audio", "encoder_ffn_dim_for_audio",
  "encoder_layers_for_audio", "engram", "engram_head_dim", "engram_kernel_size", "engram_layers",
  "engram_max_ngram_size", "engram_num_heads", "engram_seed", "engram_vocab_bases", "eod_mask_loss",
  "eval_data_columns", "eval_dataset_name", "eval_image_column", "eval_interval", "eval_local_sa_block_kv",
  "eval_local_sa_block_kv_compute", "eval_local_sa_block_q", "eval_local_sa_k_layout", "eval_local_sa_q_layout",
  "eval_local_sa_v_layout", "eval_per_device_batch_size", "eval_ragged_buffer_factor", "eval_sa_block_kv",
  "eval_sa_block_kv_compute", "eval_sa_block_q", "eval_sa_k_layout", "eval_sa_q_layout", "eval_sa_v_layout",
  "eval_split", "eval_start_step", "eval_steps", "eval_wi_tile_fwd_batch_seq", "eval_wi_tile_fwd_embed_dim",
  "eval_wi_tile_fwd_mlp_dim", "eval_wo_tile_fwd_batch_seq", "eval_wo_tile_fwd_embed_dim", "eval_wo_tile_fwd_mlp_dim",
  "expansion_factor_real_data", "experimental_sa_quant_k_fp8", "experimental_sa_quant_q_fp8",
  "final_logits_soft_cap", "first_num_dense_layers", "first_num_hash_layers", "first_phase_ragged_buffer_factor",
  "float32_gate_logits", "float32_logits", "float32_qk_product", "float32_weight_sum", "force_q_layout",
  "force_unroll", "formatting_func_kwargs", "formatting_func_path", "free_kv_cache_during_weight_sync",
  "freeze_audio_encoder_params", "freeze_vision_encoder_params", "fuse_expert_scales", "fused_mlp", "fused_qkv",
  "gcs_debug_path", "gcs_metrics", "gdn_chunk_size", "gdn_conv_kernel_dim", "gdn_key_head_dim",
  "gdn_mamba_block_size", "gdn_num_key_heads", "gdn_num_value_heads", "gdn_value_head_dim",
  "generate_padding_batch_eval", "generate_padding_batch_train", "generate_slice", "global_batch_size_to_eval_on",
  "global_batch_size_to_load", "global_batch_size_to_load_eval", "global_batch_size_to_load_increment",
  "global_batch_size_to_load_start", "global_batch_size_to_train_on", "global_head_dim", "global_num_kv_heads",
  "global_parameter_scale", "global_rampup_samples", "global_rope_max_timescale", "global_rope_proportion",
  "goodput_job_name", "goodput_upload_interval_seconds", "grad_dtype", "gradient_accumulation_steps",
  "gradient_clipping_threshold", "grain_data_source_max_workers", "grain_eval_files", "grain_file_type",
  "grain_index_storage_option", "grain_num_threads", "grain_num_threads_eval", "grain_packing_type",
  "grain_per_worker_buffer_size", "grain_per_worker_buffer_size_eval", "grain_prefetch_buffer_size",
  "grain_prefetch_buffer_size_eval", "grain_ram_budget_mb", "grain_shuffle_buffer_size", "grain_train_files",
  "grain_train_mixture_config_path", "grain_use_elastic_iterator", "grain_worker_count", "grain_worker_count_eval",
  "hardware", "hbm_utilization_vllm", "head_dim", "heartbeat_reporting_interval_in_seconds", "hf_access_token",
  "hf_data_dir", "hf_eval_files", "hf_eval_split", "hf_lora_adapter_path", "hf_name", "hf_path", "hf_train_files",
  "hidden_size_for_vit", "hidden_size_per_layer_input", "hide_profiler_step_metric",
  "ici_autoregressive_parallelism", "ici_context_autoregressive_parallelism", "ici_context_parallelism",
  "ici_context_usp_ulysses_parallelism", "ici_data_parallelism", "ici_diloco_parallelism", "ici_expert_parallelism",
  "ici_fsdp_parallelism", "ici_fsdp_transpose_parallelism", "ici_parallelism", "ici_pipeline_parallelism",
  "ici_sequence_parallelism", "ici_tensor_parallelism", "ici_tensor_sequence_parallelism", "image_path",
  "image_placeholder", "image_size_for_vit", "indexer_approx_top_k_recall", "indexer_cutoff_threshold",
  "indexer_head_dim", "indexer_loss_scaling_factor", "indexer_mask_exact_topk", "indexer_n_heads",
  "indexer_sparse_training", "indexer_topk", "indexer_use_approx_top_k", "inference_benchmark_test",
  "inference_metadata_file", "inference_microbenchmark_log_file_path", "inference_microbenchmark_loop_iters",
  "inference_microbenchmark_num_samples", "inference_microbenchmark_prefill_lengths",
  "inference_microbenchmark_stages", "inference_server", "inhomogeneous_layer_cycle_interval", "init_weights_seed",
  "input_data_sharding_logical_axes", "interleave_moe_layer_step", "intermediate_size_for_vit", "internal_compile",
  "internal_compile_num_devices", "jax_cache_dir", "jax_debug_log_modules", "jax_distributed_initialization_timeout",
  "jax_profiler_port", "key_proj", "kv_cache_buffer", "kv_lora_rank", "kv_proj", "kv_quant_axis", "kv_quant_dtype",
  "kv_tp_size", "kv_wa_proj", "learn_to_init_mode", "learning_rate", "learning_rate_final_fraction",
  "learning_rate_schedule_steps", "load_balance_loss_weight", "load_checkpoint_only_once", "load_from_prefill_dir",
  "load_full_state_path", "load_parameters_path", "local_checkpoint_directory", "local_checkpoint_period",
  "local_rope_max_timescale", "local_rope_proportion", "local_sa_block_kv", "local_sa_block_kv_compute",
  "local_sa_block_kv_dkv", "local_sa_block_kv_dkv_compute", "local_sa_block_kv_dq", "local_sa_block_q",
  "local_sa_block_q_dkv", "local_sa_block_q_dq", "local_sa_fuse_reciprocal", "local_sa_k_layout",
  "local_sa_q_layout", "local_sa_use_base2_exp", "local_sa_use_fused_bwd_kernel", "local_sa_v_layout",
  "local_use_splash_scheduler", "log_config", "log_moe_bias_norms", "log_period",
  "log_required_ragged_buffer_factor", "log_step_diagnostics", "log_weight_sync_time", "logical_axis_rules",
  "logical_axis_rules_for_eval", "logits_dot_in_fp32", "logits_proj_quant_calibration_method",
  "logits_via_embedding", "lora", "lora_alpha", "lora_input_adapters_path", "lora_module_path", "lora_rank",
  "lora_restore_path", "lora_tile_size", "lora_weight_qtype", "lr_schedule_type", "lti_layer_indices",
  "lti_use_general_linear_map", "managed_mldiagnostics", "managed_mldiagnostics_dir",
  "managed_mldiagnostics_on_demand_profiling", "managed_mldiagnostics_region", "managed_mldiagnostics_run_group",
  "managed_mldiagnostics_storage_path", "matmul_precision", "max_checkify", "max_corpus_chars",
  "max_inflight_computations", "max_num_batched_tokens", "max_num_checkpoints_to_keep", "max_num_images_per_example",
  "max_num_seqs", "max_position_embeddings", "max_prefill_predict_length", "max_prompt_length",
  "max_sample_len_for_audio", "max_segments_per_seq", "max_source_positions_for_audio", "max_target_length",
  "max_timescale_for_audio", "megablox", "merge_gating_gmm", "mesh_axes", "metrics_dir", "metrics_file",
  "mhc_expansion_rate", "mhc_pallas_kernel_bwd_block_size", "mhc_pallas_kernel_bwd_feature_block_size",
  "mhc_pallas_kernel_fwd_block_size", "micro_batch_size_to_eval_on", "micro_batch_size_to_train_on", "mla_kv",
  "mla_naive_kvcache", "mla_q", "mla_qk_head_chunk_size", "mllog_file", "mlp_activations", "mlp_activations_limit",
  "mlp_bias", "mlp_dim", "mlpwi", "mlpwi_0", "mlpwi_1", "mlpwo", "mmap_eod_id", "mmap_npy_split",
  "mmap_split_sentences", "moba", "moba_chunk_size", "moba_topk", "model_call_mode", "model_name",
  "moe_chunk_barrier", "moe_dispatch_no_expert_sharding", "moe_dropless_fallback",
  "moe_ep_all_gather_sparse_core_id", "moe_expert_input_dim", "moe_fsdp_all_gather_sparse_core_id",
  "moe_fsdp_use_two_stage_all_gather", "moe_log_max_load_ratio", "moe_mlp_dim", "moe_mlp_tp_size", "moe_mlpwi_0",
  "moe_mlpwi_1", "moe_mlpwo", "moe_pin_sparse_core_all_gathers", "moe_pin_sparse_core_ep_all_gathers",
  "moe_pin_sparse_core_fsdp_all_gathers", "moe_pin_sparse_core_fsdp_all_gathers_fwd_only",
  "moe_quantize_combine_bwd_method", "moe_quantize_token_all_gather", "moe_routing_maps",
  "moe_topk_before_ep_all_gather", "moe_use_direct_token_gather", "moe_use_megatron_seq_aux_loss", "moe_x_sorted",
  "monitor_goodput", "monitor_step_time_deviation", "mrope_section", "mscale", "mtc_data_parallelism",
  "mtp_eval_target_module", "mtp_loss_scaling_factor", "mtp_num_layers", "mtp_reuse_input_embedding", "mu_dtype",
  "multi_sampling", "multi_tier_checkpointing_backup_interval_minutes",
  "multi_tier_checkpointing_backup_interval_steps", "muon_beta", "muon_consistent_rms", "muon_include_routers",
  "muon_type", "muon_use_all_to_all", "muon_weight_decay", "n_routing_groups", "n_window_for_audio",
  "n_window_infer_for_audio", "nope_layer_interval", "norm_topk_prob", "normalization_layer_epsilon",
  "normalize_embedding_logits", "num_attention_heads_for_vit", "num_channels_for_vit",
  "num_communication_overlapping_steps", "num_conv_layers_for_audio", "num_decoder_layers", "num_diloco_fragments",
  "num_diloco_replicas", "num_epoch", "num_experts", "num_experts_per_tok", "num_hidden_layers_for_vit",
  "num_kv_heads", "num_kv_shared_layers", "num_layers_per_pipeline_stage", "num_mel_bins_for_audio",
  "num_moe_emb_chunks", "num_moe_token_chunks", "num_pipeline_microbatches", "num_pipeline_repeats",
  "num_position_embeddings_for_vit", "num_query_heads", "num_slices", "num_target_devices", "num_vocab_tiling",
  "o_groups", "o_lora_rank", "offline_data_dir", "olmo_apply_ngram_filter", "olmo_index_path",
  "olmo_path_remap_from", "olmo_path_remap_to", "opt_type", "optimize_mesh_for_tpu_v6e",
  "optimizer_memory_host_offload", "original_max_position_embeddings", "orpo_lambda", "out_hidden_size_for_vit",
  "out_proj", "output_dim_for_audio", "override_logical_axis_rules", "override_model_config", "packing",
  "packing_max_segments_per_sample", "padded_base_moe_mlp_dim", "param_scan_axis", "parameter_memory_host_offload",
  "partial_rotary_factor", "patch_size_for_vit", "per_device_batch_size", "per_device_batch_size_increment",
  "per_device_batch_size_start", "pipeline_delay_activation_forwarding", "pipeline_fsdp_ag_once",
  "pipeline_fsdp_ag_per_repeat", "pipeline_parallel_layers", "pixel_shuffle_ratio_for_vit", "posemb_type_for_vit",
  "position_id_per_seconds", "prefill_cache_axis_order", "prefill_cache_dir", "prefill_chunk_size", "prefill_slice",
  "prefix_caching_dram_byte", "prefix_caching_hbm_byte", "prefuse_moe_weights", "profile_cleanly",
  "profile_periodically_period", "profile_power_events", "profiler", "profiler_steps", "projector_dropout_for_vit",
  "projector_input_dim_for_vit", "projector_output_dim_for_vit", "prometheus_port", "prompt", "q_lora_rank",
  "qk_clip_threshold", "qk_nope_head_dim", "qk_norm_with_scale", "qk_rope_head_dim", "qkv_proj", "quant_cfg_path",
  "quantization", "quantization_local_shard_count", "quantize_kvcache", "quantize_logits_proj", "quantize_mtp",
  "quantize_router_proj", "query_proj", "query_wa_proj", "ragged_block_size", "ragged_buffer_factor",
  "ragged_gather_cost_estimate_bytes_accessed", "ragged_gather_cost_estimate_flops", "ragged_gather_fallback",
  "ragged_gather_reduce_cost_estimate_bytes_accessed", "ragged_gather_reduce_cost_estimate_flops",
  "ragged_gather_reduce_fallback", "ragged_sort_use_single_sparsecore", "rampup_end_step",
  "rampup_samples_per_increment_to_load", "record_internal_nn_metrics", "remat_policy", "remat_policy_for_vit",
  "remove_size_one_mesh_axis_from_type", "replicate_quant_scale", "replicator_backup_interval_minutes",
  "report_heartbeat_metric_for_gcp_monitoring", "report_performance_metric_for_gcp_monitoring",
  "reset_attention_mask", "reshape_q", "retry_dropless_first_steps", "return_log_prob", "return_routed_experts",
  "reuse_example_batch", "ring_scan_unroll", "rollout_backend", "rollout_tensor_parallelism",
  "rope_attention_scaling", "rope_factor", "rope_interleave", "rope_linear_scaling_factor", "rope_max_timescale",
  "rope_min_timescale", "rope_pairwise", "rope_theta_for_vit", "rope_truncate", "rope_type", "rope_use_scale",
  "routed_bias", "routed_bias_update_rate", "routed_scaling_factor", "routed_score_func", "router_topk_matmul_vjp",
  "run_name", "sa_block_kv", "sa_block_kv_compute", "sa_block_kv_dkv", "sa_block_kv_dkv_compute", "sa_block_kv_dq",
  "sa_block_q", "sa_block_q_dkv", "sa_block_q_dq", "sa_bwd_dkv_megacore", "sa_fuse_reciprocal", "sa_k_layout",
  "sa_q_layout", "sa_use_base2_exp", "sa_use_fused_bwd_kernel", "sa_v_layout", "save_checkpoint_on_completion",
  "save_checkpoint_on_start", "save_config_to_gcs", "save_quantized_params_path", "scale_embedding_for_audio",
  "scan_layers", "scan_layers_per_stage", "scan_pipeline_iterations", "scan_pipeline_repeats",
  "set_remat_policy_on_layers_per_stage", "set_remat_policy_on_pipeline_iterations", "sft_train_on_completion_only",
  "shard_embed_moe_on_fsdp", "shard_exp_on_fsdp", "shard_mode", "shard_optimizer_over_data", "sharding_strategy",
  "sharding_tolerance", "shardy", "share_kv_projections", "shared_experts", "sinkhorn_iterations",
  "skip_first_n_steps_for_profiler", "skip_jax_distributed_system", "skip_step_interval", "skip_step_on_spikes",
  "skip_step_scaling_factor", "sliding_window_size", "source_checkpoint_layout", "sparse_matmul",
  "spatial_merge_size_for_vit", "stack_prefill_result_cache",
  "standalone_checkpointer_drop_page_cache_before_restore", "standalone_checkpointer_enable_restore_in_loop",
  "standalone_checkpointer_per_step_interval", "standalone_checkpointer_start_from_checkpoint",
  "step_deviation_interval_seconds", "steps", "stop_strings", "student_overrides", "student_params_to_update",
  "subslice_shape", "swap_space_vllm_gb", "system_prompt", "target_eval_loss", "te_comm_gemm_overlap",
  "te_ep_overflow_check_every_n_steps", "te_gmm_quantization", "te_moe_block", "teacher_overrides",
  "temperature_tuning", "temporal_patch_size_for_vit", "tensorboard_dir", "tensors_on_device", "tensors_to_offload",
  "tile_size_for_vit", "tokenize_eval_data", "tokenize_train_data", "tokenizer_path", "tokenizer_type",
  "topk_routing_group", "tpu_num_chips_to_profile_per_task", "tpu_num_sparse_core_tiles_to_trace",
  "tpu_num_sparse_cores_to_trace", "train_data_columns", "train_image_column", "train_interleave_cycle_length",
  "train_shard_in_read", "train_split", "trainable_parameters_mask", "trainable_position_size", "training_objective",
  "ulysses_context_sharding", "unquantized_modules", "upload_all_profiler_results", "use_2d_fsdp_sharding",
  "use_audio", "use_audio_in_video", "use_batch_split_schedule", "use_chat_template", "use_chunked_prefill",
  "use_csa_streamindex_kernel", "use_custom_sort_vjp", "use_double_wide_mlp", "use_dpo", "use_gather_mosaic_kernel",
  "use_gmm_v2", "use_gmm_v2_heuristic_tiling", "use_grpo", "use_indexer", "use_iota_embed", "use_jax_splash",
  "use_lineage", "use_m3_model", "use_manual_quantization", "use_max_logit_estimate", "use_mhc_pallas_kernel",
  "use_mla_absorbed_mqa", "use_mrope", "use_multimodal", "use_post_attn_norm", "use_post_ffw_norm", "use_qk_clip",
  "use_qk_norm", "use_qk_norm_in_gdn", "use_qwix_quantization", "use_ragged_attention", "use_ragged_sort",
  "use_raiden_ffi", "use_random_routing", "use_replicator_service", "use_ring_of_experts", "use_sequential_layers",
  "use_sft", "use_sliced_mla_proj", "use_splash_scheduler", "use_standalone_converter", "use_stream_chunking",
  "use_tokamax_gmm", "use_tokamax_splash", "use_truncation", "use_tunix_gradient_accumulation",
  "use_untrainable_positional_embedding", "use_vertex_tensorboard", "use_weight_converter",
  "using_pipeline_parallelism", "v_head_dim", "v_norm_with_scale", "value_proj", "vertex_tensorboard_project",
  "vertex_tensorboard_region", "video_max_grid_h", "video_max_grid_t", "video_max_grid_w", "video_path",
  "video_placeholder", "vision_connector_activation", "vision_connector_hidden_size", "vision_connector_num_layers",
  "vision_connector_use_bias", "vision_encoder_block", "vision_output_dim_for_vit", "vision_output_length",
  "vision_projector_type", "vllm_additional_config", "vllm_block_size", "vllm_hf_config_path", "vllm_hf_overrides",
  "vllm_load_format", "vocab_size", "vocab_size_per_layer_input", "vocab_tiling_ag_once", "wandb_project_name",
  "wandb_run_name", "warm_input_reshard_before_run_start", "warmup_programs_in_init", "warmup_steps_fraction",
  "weight_block_size", "weight_dtype", "weight_quantization_calibration_method", "weight_sparsity_m",
  "weight_sparsity_n", "weight_sparsity_start_step", "weight_sparsity_update_step", "weight_sync_debug",
  "wi_tile_dlhs_batch_seq", "wi_tile_dlhs_embed_dim", "wi_tile_dlhs_mlp_dim", "wi_tile_drhs_batch_seq",
  "wi_tile_drhs_embed_dim", "wi_tile_drhs_mlp_dim", "wi_tile_fwd_batch_seq", "wi_tile_fwd_embed_dim",
  "wi_tile_fwd_mlp_dim", "wo_tile_dlhs_batch_seq", "wo_tile_dlhs_embed_dim", "wo_tile_dlhs_mlp_dim",
  "wo_tile_drhs_batch_seq", "wo_tile_drhs_embed_dim", "wo_tile_drhs_mlp_dim", "wo_tile_fwd_batch_seq",
  "wo_tile_fwd_embed_dim", "wo_tile_fwd_mlp_dim", "write_estimator_result", "wsd_decay_steps_fraction",
  "wsd_decay_style", "xprof_e2e_enable_fw_power_level_event", "xprof_e2e_enable_fw_thermal_event",
  "xprof_e2e_enable_fw_throttle_event", "xprof_tpu_power_trace_level", "z_loss_multiplier",
};
/* clang-format on */

static int
by_text (const void *wanted, const void *key)
{
  return strcmp (wanted, *(const char *const *) key);
}

gboolean
quoit_maxtext_is_key (const char *key)
{
  /* In "lora.lora_rank" the part before the first point is the setting. */
  g_autofree char *outer = g_strndup (key, strcspn (key, "."));

  return bsearch (outer, keys, G_N_ELEMENTS (keys), sizeof *keys, by_text) != NULL;
}

/* Returns the shortest key that contains @part, or NULL. */
static const char *
shortest_key_with (const char *part)
{
  const char *best = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strstr (keys[i], part) != NULL && (best == NULL || strlen (keys[i]) < strlen (best)))
      best = keys[i];
  return best;
}

const char *
quoit_maxtext_nearest_key (const char *key)
{
  g_autofree char *lower = g_ascii_strdown (key, -1);
  const char *best = keys[0], *part = NULL;
  unsigned least = G_MAXUINT;

  g_strdelimit (lower, "-", '_');
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      unsigned distance = quoit_text_distance (lower, keys[i]);

      if (distance < least)
        {
          least = distance;
          best = keys[i];
        }
    }
  if (strlen (lower) >= 3 && least > 2)
    part = shortest_key_with (lower);
  if (part != NULL)
    return part;
  return least <= MAX (1, strlen (lower) / 3) ? best : NULL;
}
