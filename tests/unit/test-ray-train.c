/* SPDX-License-Identifier: Apache-2.0 */
/* Ray Train beyond the vectors: elastic decisions, ranks on nodes, and arguments that Ray never sees. */
#include <string.h>

#include <quoit/models/ray-train.h>

#include "suite.h"

static QuoitRayScaling *
scaling_of (int64_t min, int64_t max, const char *topology, const char *type)
{
  QuoitRayScaling *scaling = quoit_ray_scaling_new ();

  quoit_ray_scaling_set_worker_range (scaling, min, max);
  quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_TPU);
  quoit_ray_scaling_set_topology (scaling, topology);
  quoit_ray_scaling_set_accelerator_type (scaling, type);
  return scaling;
}

static QuoitRayTrainPlan *
new_plan (const QuoitRayScaling *scaling)
{
  GError *error = NULL;
  QuoitRayTrainPlan *plan = quoit_ray_train_plan_new (scaling, &error);

  ck_assert_ok (error);
  return plan;
}

static QuoitRayResources *
resources_of (const char *name, double amount)
{
  QuoitRayResources *resources = quoit_ray_resources_new ();

  if (name != NULL)
    quoit_ray_resources_set (resources, name, amount);
  return resources;
}

START_TEST (plan_on_slices_requests_a_slice_group)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (4, 8, "4x4", "TPU-V6E");
  g_autoptr (QuoitRayTrainPlan) plan = new_plan (scaling);
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_train_plan_dup_slice_request (plan, 8);
  g_autoptr (QuoitRaySliceGroup) group = quoit_ray_slice_group_new (request, NULL);
  const QuoitRayResources *resources = quoit_ray_slice_group_get_resources (group);

  ck_assert_int_eq (quoit_ray_slice_group_get_n_slices (group), 2);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_bundles (group), 8);
  ck_assert_str_eq (quoit_ray_slice_group_get_strategy (group), "PACK");
  ck_assert_str_eq (quoit_ray_resources_get_name (resources, 2), "accelerator_type:TPU-V6E");
  ck_assert (quoit_ray_resources_get_amount (resources, 2) == 0.001);
  ck_assert_int_eq (quoit_ray_train_plan_get_workers_per_slice (plan), 4);
  ck_assert_int_eq (quoit_ray_train_plan_n_slices (plan, 4), 1);
}
END_TEST

START_TEST (a_topology_that_ray_does_not_list_is_refused_only_by_the_slice_group)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (8, 8, "8x4", "v6e");
  g_autoptr (QuoitRayTrainPlan) plan = new_plan (scaling);
  g_autoptr (QuoitRaySliceRequest) request = quoit_ray_train_plan_dup_slice_request (plan, 8);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ray_slice_group_new (request, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology '8x4': expected one that Ray lists for v6e");
}
END_TEST

START_TEST (resource_per_chip_is_that_of_the_driver)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (2, 2, "2x2x2", "TPU-V7X");
  g_autoptr (QuoitRayTrainPlan) plan = NULL;
  g_autoptr (QuoitRaySliceRequest) request = NULL;
  g_autoptr (QuoitRaySliceGroup) group = NULL;

  quoit_ray_scaling_set_resource_per_chip (scaling, 2);
  quoit_ray_scaling_set_strategy (scaling, "SPREAD");
  plan = new_plan (scaling);
  request = quoit_ray_train_plan_dup_slice_request (plan, 2);
  group = quoit_ray_slice_group_new (request, NULL);
  ck_assert (quoit_ray_resources_get_amount (quoit_ray_train_plan_get_resources (plan), 1) == 8);
  ck_assert_int_eq (quoit_ray_slice_group_get_devices_per_host (group), 8);
  ck_assert_int_eq (quoit_ray_slice_group_get_n_bundles (group), 2);
  ck_assert_str_eq (quoit_ray_train_plan_get_strategy (plan), "SPREAD");
}
END_TEST

START_TEST (without_tpu_there_is_no_slice_group)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (1, 4, "4x4", "TPU-V6E");
  g_autoptr (QuoitRayTrainPlan) plan = NULL;

  quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_GPU);
  plan = new_plan (scaling);
  ck_assert_ptr_null (quoit_ray_train_plan_dup_slice_request (plan, 4));
  ck_assert_int_eq (quoit_ray_train_plan_n_slices (plan, 400), 1);
  ck_assert_int_eq (quoit_ray_train_plan_get_workers_per_slice (plan), 0);
}
END_TEST

static const struct {
  int64_t min, max, interval_ms;
  QuoitRayAccelerators accelerators;
  const char *topology, *type, *resource;
  double amount;
  const char *expected;
} refusals[] = {
  { -1, 4, 0, QUOIT_RAY_USE_NONE, NULL, NULL, NULL, 0, "number of workers '-1': expected 0 or more" },
  { INT64_MIN, 4, 0, QUOIT_RAY_USE_NONE, NULL, NULL, NULL, 0, "expected 0 or more" },
  { 5, 4, 0, QUOIT_RAY_USE_NONE, NULL, NULL, NULL, 0, "number of workers '5' to '4': expected the minimum first" },
  { 1, 4, -1, QUOIT_RAY_USE_NONE, NULL, NULL, NULL, 0, "monitor interval '-1': expected 0 ms or more" },
  { 1, 1, 0, QUOIT_RAY_USE_BOTH, NULL, NULL, "TPU", 4, "accelerators 'GPU and TPU': expected at most one" },
  { 1, 1, 0, QUOIT_RAY_USE_NONE, NULL, NULL, "TPU", 4, "TPU of a worker '4': expected none, because TPU is not used" },
  { 1, 1, 0, QUOIT_RAY_USE_NONE, NULL, NULL, "GPU", 0.5,
    "GPU of a worker '0.5': expected none, because GPU is not used" },
  { 1, 1, 0, QUOIT_RAY_USE_TPU, NULL, NULL, "CPU", 1, "TPU of a worker '0': expected more, because TPU is used" },
  { 1, 2, 0, QUOIT_RAY_USE_TPU, "", "v6e", NULL, 0, "topology: expected one, because several workers use TPU" },
  { 1, 2, 0, QUOIT_RAY_USE_TPU, "4x4", "", NULL, 0, "accelerator type: expected one, because several workers use TPU" },
  { 1, 4, 0, QUOIT_RAY_USE_TPU, "4x4", "v6e", NULL, 0, "number of workers '1': expected a multiple of the 4" },
  { 4, 6, 0, QUOIT_RAY_USE_TPU, "4x4", "v6e", NULL, 0,
    "number of workers '6': expected a multiple of the 4 of a slice of "
    "topology '4x4'" },
  { 4, 4, 0, QUOIT_RAY_USE_TPU, "4x4\xff", "v6e", NULL, 0, "expected an integer" },
  { 4, 4, 0, QUOIT_RAY_USE_TPU, "4x4", "A100", NULL, 0, "accelerator type 'A100': expected" },
  { 4, 4, 0, QUOIT_RAY_USE_TPU, "4x4", "v6e", "TPU", 0.0 / 0.0, "TPU of a worker 'nan': expected more than 0" },
  { 4, 4, 0, QUOIT_RAY_USE_TPU, "4x4", "v6e", "TPU", -4, "TPU of a worker '-4': expected more than 0" },
};

START_TEST (settings_that_ray_refuses_are_refused_by_name)
{
  g_autoptr (QuoitRayScaling) scaling
      = scaling_of (refusals[_i].min, refusals[_i].max, refusals[_i].topology, refusals[_i].type);
  g_autoptr (QuoitRayResources) resources = NULL;
  GError *error = NULL;

  quoit_ray_scaling_set_accelerators (scaling, refusals[_i].accelerators);
  quoit_ray_scaling_set_monitor_interval (scaling, refusals[_i].interval_ms);
  if (refusals[_i].resource != NULL)
    resources = resources_of (refusals[_i].resource, refusals[_i].amount);
  quoit_ray_scaling_set_resources (scaling, resources);
  ck_assert_ptr_null (quoit_ray_train_plan_new (scaling, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refusals[_i].expected);
}
END_TEST

START_TEST (selectors_apply_to_all_workers_or_to_each)
{
  g_autoptr (QuoitRayScaling) scaling = quoit_ray_scaling_new ();
  g_autoptr (QuoitRayLabels) a = quoit_ray_labels_new (), b = quoit_ray_labels_new ();
  const QuoitRayLabels *each[] = { a, b };
  g_autoptr (QuoitRayTrainPlan) all = NULL, list = NULL, none = NULL;
  GError *error = NULL;

  quoit_ray_labels_set (a, "zone", "a");
  quoit_ray_scaling_set_n_workers (scaling, 2);
  quoit_ray_scaling_set_selector (scaling, a);
  all = new_plan (scaling);
  ck_assert_str_eq (quoit_ray_labels_find (quoit_ray_train_plan_get_labels (all, 1), "zone"), "a");
  ck_assert_ptr_null (quoit_ray_train_plan_get_labels (all, 2));
  ck_assert_ptr_null (quoit_ray_train_plan_get_labels (all, -1));
  quoit_ray_scaling_set_selectors (scaling, each, 2);
  list = new_plan (scaling);
  ck_assert_pstr_eq (quoit_ray_labels_get_key (quoit_ray_train_plan_get_labels (list, 1), 0), NULL);
  ck_assert_ptr_nonnull (quoit_ray_train_plan_get_labels (list, 1));
  quoit_ray_scaling_set_selectors (scaling, NULL, 0);
  ck_assert_ptr_null (quoit_ray_train_plan_new (scaling, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "label selectors '0': expected one for each of 2 workers");
  quoit_ray_scaling_set_selector (scaling, NULL);
  none = new_plan (scaling);
  ck_assert_ptr_null (quoit_ray_train_plan_get_labels (none, 0));
}
END_TEST

START_TEST (multi_host_plan_accepts_no_per_worker_selectors)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (4, 4, "4x4", "v6e");
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autoptr (QuoitRayTrainPlan) plan = NULL;
  const QuoitRayLabels *each[] = { labels, labels, labels, labels };
  GError *error = NULL;

  quoit_ray_scaling_set_selector (scaling, labels);
  plan = new_plan (scaling);
  quoit_ray_scaling_set_selectors (scaling, each, 4);
  ck_assert_ptr_null (quoit_ray_train_plan_new (scaling, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "label selector: expected none, because several workers use TPU");
}
END_TEST

static const struct {
  const char *resource;
  double need, have;
  unsigned n_nodes;
  int64_t n; /* -1: refused */
} fits[] = {
  { "CPU", 0.1, 0.5, 1, 4 }, /* 0.5 // 0.1 */
  { "CPU", 0.1, 0.5, 3, 12 },    { "CPU", 2, 7, 2, 6 },
  { "CPU", 1, -3, 2, -6 },       { "CPU", 1e-300, 1e300, 1, -1 },
  { "CPU", 1e-9, 1e15, 1, 100 }, { "CPU", 1, 0.0 / 0.0, 1, -1 },
  { "CPU", -1, 4, 1, -1 },       { "CPU", -1, 4, 0, 0 },
  { "CPU", 0, 4, 1, 100 }, /* workers without resources fit any number of times */
};

START_TEST (workers_are_counted_in_floating_point)
{
  g_autoptr (QuoitRayScaling) scaling = quoit_ray_scaling_new ();
  g_autoptr (QuoitRayResources) need = resources_of (fits[_i].resource, fits[_i].need), have = NULL;
  g_autoptr (QuoitRayTrainPlan) plan = NULL;
  const QuoitRayResources *nodes[3];
  GError *error = NULL;
  int64_t n = 77;
  int ok;

  quoit_ray_scaling_set_worker_range (scaling, 1, 100);
  quoit_ray_scaling_set_resources (scaling, need);
  plan = new_plan (scaling);
  have = resources_of (fits[_i].resource, fits[_i].have);
  for (unsigned i = 0; i < G_N_ELEMENTS (nodes); i++)
    nodes[i] = have;
  ok = quoit_ray_train_count_possible (plan, nodes, fits[_i].n_nodes, NULL, &n, &error);
  if (fits[_i].n == -1)
    {
      ck_assert (!ok);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "resources of ");
      ck_assert_int_eq (n, 77);
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (n, fits[_i].n);
}
END_TEST

START_TEST (only_intact_slices_count)
{
  g_autoptr (QuoitRayScaling) scaling = scaling_of (4, 12, "4x4", "TPU-V6E");
  g_autoptr (QuoitRayTrainPlan) plan = new_plan (scaling);
  g_autoptr (QuoitRayResources) host = resources_of ("TPU", 4);
  const QuoitRayResources *nodes[11];
  static const struct {
    unsigned n_nodes;
    int64_t n_intact, n; /* intact: -1 for unknown */
  } counts[] = { { 11, 3, 8 }, { 11, 1, 4 }, { 11, 0, 0 }, { 11, -1, 8 }, { 3, 3, 0 }, { 0, 3, 0 } };

  quoit_ray_resources_set (host, "CPU", 8);
  quoit_ray_resources_set (host, "accelerator_type:TPU-V6E", 1);
  for (unsigned i = 0; i < G_N_ELEMENTS (nodes); i++)
    nodes[i] = host;
  for (unsigned i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      int64_t n = 77;

      ck_assert (quoit_ray_train_count_possible (plan, nodes, counts[i].n_nodes,
                                                 counts[i].n_intact >= 0 ? &counts[i].n_intact : NULL, &n, NULL));
      ck_assert_int_eq (n, counts[i].n);
    }
}
END_TEST

START_TEST (elastic_job_starts_and_changes_as_in_ray)
{
  g_autoptr (QuoitRayScaling) scaling = quoit_ray_scaling_new ();
  g_autoptr (QuoitRayTrainPlan) plan = NULL;
  int64_t below = 1, least = 2, more = 3, looked = 500;

  quoit_ray_scaling_set_worker_range (scaling, 2, 4);
  quoit_ray_scaling_set_monitor_interval (scaling, 1000);
  plan = new_plan (scaling);
  ck_assert (!quoit_ray_train_would_start (plan, NULL));
  ck_assert (!quoit_ray_train_would_start (plan, &below));
  ck_assert (quoit_ray_train_would_start (plan, &least));
  ck_assert (!quoit_ray_train_would_resize (plan, 2, NULL));
  ck_assert (!quoit_ray_train_would_resize (plan, 2, &below));
  ck_assert (!quoit_ray_train_would_resize (plan, 3, &more));
  ck_assert (quoit_ray_train_would_resize (plan, 2, &more));
  ck_assert (quoit_ray_train_would_resize (plan, 3, &least));
  ck_assert (!quoit_ray_train_is_resize_check_due (plan, 0, NULL, 999));
  ck_assert (quoit_ray_train_is_resize_check_due (plan, 0, NULL, 1000));
  ck_assert (!quoit_ray_train_is_resize_check_due (plan, 0, &looked, 1499));
  ck_assert (quoit_ray_train_is_resize_check_due (plan, 0, &looked, 1500));
  ck_assert (!quoit_ray_train_is_resize_check_due (plan, 600, &looked, 1500));
  ck_assert (quoit_ray_train_is_resize_check_due (plan, INT64_MIN, NULL, INT64_MAX));
  ck_assert (!quoit_ray_train_is_resize_check_due (plan, INT64_MAX, NULL, INT64_MIN));
}
END_TEST

START_TEST (ranks_are_sorted_by_slice_name_as_text)
{
  static const char *const slices[] = { "s-10", "s-9", NULL, "s-10", "", "s-9" };
  static const char *const nodes[] = { "x", "y", "z", "w", "z", "y" };
  static const struct {
    unsigned worker, local_rank, local_size, node_rank;
  } expected[] = { { 2, 0, 2, 0 }, { 4, 1, 2, 0 }, { 0, 0, 1, 1 }, { 3, 0, 1, 2 }, { 1, 0, 2, 3 }, { 5, 1, 2, 3 } };
  g_autoptr (QuoitRayRanks) ranks = quoit_ray_ranks_new_by_slice (slices, nodes, 6);

  for (unsigned rank = 0; rank < G_N_ELEMENTS (expected); rank++)
    {
      ck_assert_uint_eq (quoit_ray_ranks_get_worker (ranks, rank), expected[rank].worker);
      ck_assert_uint_eq (quoit_ray_ranks_get_local_rank (ranks, rank), expected[rank].local_rank);
      ck_assert_uint_eq (quoit_ray_ranks_get_local_size (ranks, rank), expected[rank].local_size);
      ck_assert_uint_eq (quoit_ray_ranks_get_node_rank (ranks, rank), expected[rank].node_rank);
    }
  ck_assert_uint_eq (quoit_ray_ranks_get_worker (ranks, 6), 6);
  ck_assert_uint_eq (quoit_ray_ranks_get_local_size (ranks, 6), 0);
}
END_TEST

START_TEST (workers_without_tpu_are_ranked_by_node_and_gpu)
{
  static const char *const nodes[] = { "1", "0", "1", "0", "2" };
  static const int64_t gpus[] = { 1, 0, 0, 1, INT64_MIN };
  static const unsigned expected[] = { 2, 0, 1, 3, 4 }, first[] = { 4, 2, 0, 1, 3 };
  g_autoptr (QuoitRayRanks) ranks = quoit_ray_ranks_new_by_node (nodes, gpus, NULL, 5),
                            from_2 = quoit_ray_ranks_new_by_node (nodes, gpus, "2", 5),
                            empty = quoit_ray_ranks_new_by_node (nodes, NULL, "2", 0);

  for (unsigned rank = 0; rank < G_N_ELEMENTS (expected); rank++)
    {
      ck_assert_uint_eq (quoit_ray_ranks_get_worker (ranks, rank), expected[rank]);
      ck_assert_uint_eq (quoit_ray_ranks_get_worker (from_2, rank), first[rank]);
    }
  ck_assert_uint_eq (quoit_ray_ranks_get_worker (empty, 0), 0);
  quoit_ray_ranks_free (NULL);
}
END_TEST

START_TEST (each_kind_of_failure_has_its_own_limit)
{
  g_autoptr (QuoitRayFailures) failures = quoit_ray_failures_new (1, 2, -1), odd = quoit_ray_failures_new (-2, 0, 0);

  ck_assert (quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_WORKER));
  ck_assert (quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_STARTUP_FAILED));
  ck_assert (quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_STARTUP_TIMEOUT));
  ck_assert (!quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_STARTUP_FAILED));
  ck_assert (!quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_WORKER));
  for (unsigned i = 0; i < 1000; i++)
    ck_assert (quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_PREEMPTION));
  ck_assert (!quoit_ray_failures_retries (failures, QUOIT_RAY_FAILURE_CONTROLLER));
  ck_assert (!quoit_ray_failures_retries (failures, (QuoitRayFailureKind) 99));
  ck_assert (!quoit_ray_failures_retries (failures, (QuoitRayFailureKind) -1));
  ck_assert (!quoit_ray_failures_retries (odd, QUOIT_RAY_FAILURE_WORKER));
  ck_assert (!quoit_ray_failures_retries (odd, QUOIT_RAY_FAILURE_PREEMPTION));
  quoit_ray_failures_free (NULL);
}
END_TEST

START_TEST (surplus_workers_belong_to_the_last_slice)
{
  ck_assert_int_eq (quoit_ray_train_slice_id (0, 2, 3), 0);
  ck_assert_int_eq (quoit_ray_train_slice_id (5, 2, 3), 2);
  ck_assert_int_eq (quoit_ray_train_slice_id (INT64_MAX, 2, 3), 2);
  ck_assert_int_eq (quoit_ray_train_slice_id (5, 0, 3), 2);
}
END_TEST

static const struct {
  const char *before, *platforms;
} platforms[] = {
  { "HOME=/root", "tpu" },
  { "JAX_PLATFORMS=cpu", "cpu" },
  { "JAX_PLATFORMS=", "tpu" },
};

START_TEST (empty_platform_is_ignored)
{
  const char *const before[] = { platforms[_i].before, NULL };
  g_auto (GStrv) env = quoit_ray_train_env ("a", 0, 1, "4x4", "v6e", NULL, before, NULL);

  ck_assert_str_eq (g_environ_getenv (env, "JAX_PLATFORMS"), platforms[_i].platforms);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-train");
  TCase *tcase = tcase_create ("ray-train");

  tcase_add_test (tcase, plan_on_slices_requests_a_slice_group);
  tcase_add_test (tcase, a_topology_that_ray_does_not_list_is_refused_only_by_the_slice_group);
  tcase_add_test (tcase, resource_per_chip_is_that_of_the_driver);
  tcase_add_test (tcase, without_tpu_there_is_no_slice_group);
  tcase_add_loop_test (tcase, settings_that_ray_refuses_are_refused_by_name, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, selectors_apply_to_all_workers_or_to_each);
  tcase_add_test (tcase, multi_host_plan_accepts_no_per_worker_selectors);
  tcase_add_loop_test (tcase, workers_are_counted_in_floating_point, 0, G_N_ELEMENTS (fits));
  tcase_add_test (tcase, only_intact_slices_count);
  tcase_add_test (tcase, elastic_job_starts_and_changes_as_in_ray);
  tcase_add_test (tcase, ranks_are_sorted_by_slice_name_as_text);
  tcase_add_test (tcase, workers_without_tpu_are_ranked_by_node_and_gpu);
  tcase_add_test (tcase, each_kind_of_failure_has_its_own_limit);
  tcase_add_test (tcase, surplus_workers_belong_to_the_last_slice);
  tcase_add_loop_test (tcase, empty_platform_is_ignored, 0, G_N_ELEMENTS (platforms));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
