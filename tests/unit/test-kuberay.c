/* SPDX-License-Identifier: Apache-2.0 */
/* KubeRay's operator beyond the vectors: the end of passes, numbers that wrap, the webhook's variables in the pods
 * of a manifest, invalid names, and refusals. */
#include <quoit/models/kuberay.h>
#include <string.h>

#include "suite.h"

static const char manifest[] = "kind: RayCluster\n"
                               "metadata: {name: c}\n"
                               "spec:\n"
                               "  headGroupSpec: {template: {spec: {containers: [{}]}}}\n"
                               "  workerGroupSpecs:\n"
                               "  - groupName: g\n"
                               "    replicas: 2\n"
                               "    numOfHosts: 2\n"
                               "    template:\n"
                               "      spec:\n"
                               "        nodeSelector:\n"
                               "          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n"
                               "          cloud.google.com/gke-tpu-topology: 2x4\n"
                               "        containers:\n"
                               "        - env:\n"
                               "          - {name: MEGASCALE_NUM_SLICES, valueFrom: {fieldRef: {fieldPath: x}}}\n"
                               "          - {name: TPU_NAME, value: mine}\n"
                               "          resources: {limits: {google.com/tpu: 4}}\n"
                               "        - {}\n";

/* --- fixtures --- */

static QuoitKuberay *
cluster_of (uint32_t flags, const char *group, int64_t n_hosts, int32_t replicas)
{
  QuoitKuberay *kuberay = quoit_kuberay_new ("c", flags);

  ck_assert (quoit_kuberay_add_group (kuberay, group, n_hosts, NULL, NULL));
  quoit_kuberay_set_replicas (kuberay, 0, replicas);
  return kuberay;
}

static QuoitKuberay *
cluster_of_manifest (const char *text)
{
  g_autoptr (GError) error = NULL;
  QuoitKuberay *kuberay = quoit_kuberay_parse_manifest (text, strlen (text), NULL, 0, &error);

  ck_assert_ok (error);
  return kuberay;
}

/* The operator's result, and the pods: "g0.0<0> g0.1<0>". */
static char *
pass (QuoitKuberay *kuberay)
{
  GString *all = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  const char *requeued;

  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, &error));
  if (requeued != NULL)
    g_string_append_printf (all, "(%s)", requeued);
  for (uint32_t i = 0; i < quoit_kuberay_get_n_pods (kuberay); i++)
    g_string_append_printf (all, "%s%s%d.%d<%d>", all->len > 0 ? " " : "",
                            quoit_kuberay_get_group_name (kuberay, quoit_kuberay_get_pod_group (kuberay, i)),
                            (int) quoit_kuberay_get_pod_replica (kuberay, i),
                            (int) quoit_kuberay_get_pod_host (kuberay, i),
                            (int) quoit_kuberay_get_pod_incarnation (kuberay, i));
  return g_string_free (all, FALSE);
}

#define assert_pass(kuberay, expected)                                                                                 \
  do                                                                                                                   \
    {                                                                                                                  \
      g_autofree char *got = pass (kuberay);                                                                           \
                                                                                                                       \
      ck_assert_str_eq (got, expected);                                                                                \
    }                                                                                                                  \
  while (0)

static const char *
added (const QuoitWebhookPatch *patch, const char *name)
{
  for (uint32_t i = 0; i < quoit_webhook_patch_get_n_variables (patch, 0); i++)
    if (strcmp (quoit_webhook_patch_get_variable_name (patch, 0, i), name) == 0)
      return quoit_webhook_patch_get_variable_value (patch, 0, i);
  return NULL;
}

/* --- passes --- */

START_TEST (incomplete_replica_is_deleted_and_recreated_in_the_next_pass)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 2, 2);

  assert_pass (kuberay, "g0.0<0> g0.1<0> g1.0<1> g1.1<1>");
  quoit_kuberay_mark_pod (kuberay, 0, QUOIT_KUBERAY_EVENT_GONE);
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 3);
  assert_pass (kuberay, "(cleaned up incomplete replica group g-<0>, requeueing) g1.0<1> g1.1<1>");
  assert_pass (kuberay, "g0.0<2> g0.1<2> g1.0<1> g1.1<1>");
  assert_pass (kuberay, "g0.0<2> g0.1<2> g1.0<1> g1.1<1>");
}
END_TEST

START_TEST (ended_host_deletes_its_replica_only_if_it_cannot_restart)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 2, 1);

  assert_pass (kuberay, "g0.0<0> g0.1<0>");
  quoit_kuberay_mark_pod (kuberay, 1, QUOIT_KUBERAY_EVENT_RESTARTED);
  assert_pass (kuberay, "g0.0<0> g0.1<0>");
  quoit_kuberay_mark_pod (kuberay, 1, QUOIT_KUBERAY_EVENT_ENDED);
  assert_pass (kuberay, "g0.0<1> g0.1<1>");
}
END_TEST

START_TEST (pass_that_ends_early_does_not_change_later_groups)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "a", 2, 1);

  ck_assert (quoit_kuberay_add_group (kuberay, "b", 1, NULL, NULL));
  assert_pass (kuberay, "a0.0<0> a0.1<0>");
  quoit_kuberay_set_replicas (kuberay, 1, 1);
  quoit_kuberay_mark_pod (kuberay, 0, QUOIT_KUBERAY_EVENT_TO_DELETE);
  assert_pass (kuberay, "(deleted 2 worker Pods based on ScaleStrategy, requeueing)");
  assert_pass (kuberay, "a0.0<1> a0.1<1> b0.-1<-1>");
}
END_TEST

START_TEST (gaps_are_filled_before_new_indices_are_taken)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (QUOIT_KUBERAY_AUTOSCALING, "g", 1, 3);

  assert_pass (kuberay, "g0.-1<-1> g1.-1<-1> g2.-1<-1>");
  quoit_kuberay_set_replicas (kuberay, 0, 2);
  quoit_kuberay_mark_pod (kuberay, 1, QUOIT_KUBERAY_EVENT_TO_DELETE);
  assert_pass (kuberay, "g0.-1<-1> g2.-1<-1>");
  quoit_kuberay_set_replicas (kuberay, 0, 4);
  assert_pass (kuberay, "g0.-1<-1> g1.-1<-1> g2.-1<-1> g3.-1<-1>");
}
END_TEST

START_TEST (surplus_pods_are_deleted_unless_the_autoscaler_decides)
{
  g_autoptr (QuoitKuberay) plain = cluster_of (0, "g", 2, 3);
  g_autoptr (QuoitKuberay) scaled = cluster_of (QUOIT_KUBERAY_AUTOSCALING, "g", 2, 2);
  g_autoptr (QuoitKuberay) random = cluster_of (QUOIT_KUBERAY_AUTOSCALING | QUOIT_KUBERAY_RANDOM_DELETION, "g", 1, 2);

  g_free (pass (plain));
  quoit_kuberay_set_replicas (plain, 0, 1);
  ck_assert_int_eq (quoit_kuberay_is_deletion_arbitrary (plain), 0);
  assert_pass (plain, "g0.0<0> g0.1<0>");
  ck_assert_int_eq (quoit_kuberay_is_deletion_arbitrary (plain), 1);
  quoit_kuberay_set_replicas (plain, 0, 0);
  assert_pass (plain, "");
  ck_assert_int_eq (quoit_kuberay_is_deletion_arbitrary (plain), 0);

  g_free (pass (scaled));
  quoit_kuberay_set_replicas (scaled, 0, 0);
  assert_pass (scaled, "g0.0<0> g0.1<0> g1.0<1> g1.1<1>");

  g_free (pass (random));
  quoit_kuberay_set_replicas (random, 0, 1);
  assert_pass (random, "g0.-1<-1>");
  ck_assert_int_eq (quoit_kuberay_is_deletion_arbitrary (random), 1);
}
END_TEST

START_TEST (failed_hosts_are_replaced_one_by_one_without_indices)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (QUOIT_KUBERAY_NO_INDICES, "g", 2, 1);

  assert_pass (kuberay, "g-1.-1<-1> g-1.-1<-1>");
  quoit_kuberay_mark_pod (kuberay, 0, QUOIT_KUBERAY_EVENT_FAILED);
  assert_pass (kuberay, "(delete 1 unhealthy worker Pods) g-1.-1<-1>");
  ck_assert_uint_eq (quoit_kuberay_get_pod_serial (kuberay, 0), 1);
  assert_pass (kuberay, "g-1.-1<-1> g-1.-1<-1>");
  ck_assert_uint_eq (quoit_kuberay_get_pod_serial (kuberay, 1), 2);
}
END_TEST

/* --- numbers --- */

static const struct {
  int64_t hosts;
  int32_t replicas, lowest, highest, desired;
} counts[] = {
  { 2, 3, 0, G_MAXINT32, 6 },
  { 2, 3, 5, 2, 10 },
  { 2, 9, 5, 2, 4 },
  { 4, -7, 0, 5, 0 },
  { 2, 2000000000, 0, G_MAXINT32, -294967296 },
  { 3, 2000000000, 0, G_MAXINT32, 1705032704 },
  { G_MAXINT32, G_MININT32, G_MININT32, G_MAXINT32, G_MININT32 },
};

START_TEST (pods_are_counted_in_32_bits_with_the_lower_bound_first)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", counts[_i].hosts, counts[_i].replicas);

  quoit_kuberay_set_bounds (kuberay, 0, counts[_i].lowest, counts[_i].highest);
  ck_assert_int_eq (quoit_kuberay_get_n_desired (kuberay, 0), counts[_i].desired);
  quoit_kuberay_suspend_group (kuberay, 0);
  ck_assert_int_eq (quoit_kuberay_get_n_desired (kuberay, 0), 0);
}
END_TEST

START_TEST (overflowed_number_of_pods_ends_the_pass)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 3, -1431655766);

  quoit_kuberay_set_bounds (kuberay, 0, G_MININT32, G_MAXINT32);
  ck_assert_int_eq (quoit_kuberay_get_n_desired (kuberay, 0), -2);
  assert_pass (kuberay, "(desired worker pods (-2) is not a multiple of NumOfHosts (3) for group g)");
}
END_TEST

START_TEST (too_many_pods_are_refused_without_changes)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 2, 1);
  g_autoptr (GError) error = NULL;
  const char *requeued = "untouched";

  g_free (pass (kuberay));
  quoit_kuberay_set_replicas (kuberay, 0, 32769);
  ck_assert (!quoit_kuberay_reconcile (kuberay, &requeued, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'g': '65538' pods: expected at most 65536");
  ck_assert_str_eq (requeued, "untouched");
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 2);
  quoit_kuberay_set_replicas (kuberay, 0, 32768);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, &error));
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 65536);
}
END_TEST

START_TEST (limit_of_pods_applies_to_all_groups_together)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 2, 16384);
  g_autoptr (GError) error = NULL;
  const char *requeued = "untouched";

  ck_assert (quoit_kuberay_add_group (kuberay, "h", 1, NULL, NULL));
  quoit_kuberay_set_replicas (kuberay, 1, 32769);
  ck_assert (!quoit_kuberay_reconcile (kuberay, &requeued, &error));
  ck_assert_refused (
      error, QUOIT_ERROR_INVALID,
      "group 'h': '32769' pods in addition to the 32768 of earlier groups: expected at most 65536 in all");
  ck_assert_str_eq (requeued, "untouched");
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 0);
  quoit_kuberay_set_replicas (kuberay, 1, 32768);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 65536);
  ck_assert_uint_eq (quoit_kuberay_get_pod_group (kuberay, 32767), 0);
  ck_assert_uint_eq (quoit_kuberay_get_pod_group (kuberay, 32768), 1);
}
END_TEST

START_TEST (total_size_of_environments_is_limited)
{
  g_autoptr (QuoitKuberay) kuberay = quoit_kuberay_new ("c", 0);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  g_autofree char *value = g_strnfill (1 << 20, 'x');
  g_autoptr (GError) error = NULL;
  const char *requeued;

  ck_assert (quoit_webhook_pod_add_container (pod, NULL, NULL, NULL));
  quoit_webhook_pod_add_variable (pod, "A", value);
  ck_assert (quoit_kuberay_add_group (kuberay, "g", 1, pod, NULL));
  quoit_kuberay_set_replicas (kuberay, 0, 256);
  ck_assert (!quoit_kuberay_reconcile (kuberay, &requeued, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, " bytes of environment each: expected at most 268435456 bytes in all");
  quoit_kuberay_set_replicas (kuberay, 0, 255);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
}
END_TEST

START_TEST (group_is_added_once_and_has_a_valid_number_of_hosts)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "g", 0, 3);
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_kuberay_add_group (kuberay, "g", 1, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'g': expected each groupName once");
  ck_assert (!quoit_kuberay_add_group (kuberay, "h", -1, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'h': numOfHosts '-1': expected 0 to 2147483647");
  ck_assert_uint_eq (quoit_kuberay_get_n_groups (kuberay), 1);
  assert_pass (kuberay, "");
}
END_TEST

/* --- the webhook --- */

START_TEST (pods_of_a_manifest_get_the_patch_of_the_webhook)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of_manifest (manifest);
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) labels = NULL;
  g_autofree char *joined = NULL;

  assert_pass (kuberay, "g0.0<0> g0.1<0> g1.0<1> g1.1<1>");
  ck_assert_str_eq (quoit_kuberay_get_service (kuberay), "c-headless");
  patch = quoit_kuberay_mutate_pod (kuberay, 3, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_webhook_patch_get_hostname (patch), "g-1-1");
  ck_assert_str_eq (quoit_webhook_patch_get_subdomain (patch), "c-headless");
  ck_assert_str_eq (added (patch, "MEGASCALE_SLICE_ID"), "1");
  ck_assert_str_eq (added (patch, "TPU_WORKER_HOSTNAMES"), "g-1-0.c-headless,g-1-1.c-headless");
  ck_assert_ptr_null (added (patch, "TPU_NAME"));
  ck_assert_uint_eq (quoit_webhook_patch_get_n_variables (patch, 1), 0);
  ck_assert_uint_eq (quoit_kuberay_get_group_containers (kuberay, 0), 2);

  labels = quoit_kuberay_dup_pod_labels (kuberay, 3);
  joined = g_strjoinv (" ", labels);
  ck_assert_str_eq (joined, "app.kubernetes.io/created-by=kuberay-operator app.kubernetes.io/name=kuberay "
                            "ray.io/cluster=c ray.io/group=g ray.io/identifier=c-worker ray.io/is-ray-node=yes "
                            "ray.io/node-type=worker ray.io/replica-host-index=1 "
                            "ray.io/worker-group-replica-index=1 ray.io/worker-group-replica-name=g-<1>");
}
END_TEST

/* A cluster "c" with one group "g", whose pods request 4 chips each. */
static QuoitKuberay *
cluster_with_tpu_group (uint32_t flags, const char *topology, int64_t n_hosts)
{
  QuoitKuberay *kuberay = quoit_kuberay_new ("c", flags);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-topology", topology);
  ck_assert (quoit_webhook_pod_add_container (pod, NULL, "4", NULL));
  ck_assert (quoit_kuberay_add_group (kuberay, "g", n_hosts, pod, NULL));
  return kuberay;
}

static const char *
slice_of (const QuoitKuberay *kuberay, uint32_t pod, char **slice)
{
  g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, pod, NULL);

  g_free (*slice);
  return *slice = g_strdup_printf ("%s.%s", added (patch, "TPU_NAME"), added (patch, "TPU_WORKER_ID"));
}

START_TEST (pod_keeps_the_index_given_by_the_webhook)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_with_tpu_group (0, "2x2", 1);
  g_autofree char *slice = NULL;

  quoit_kuberay_set_replicas (kuberay, 0, 3);
  g_free (pass (kuberay));
  ck_assert_str_eq (slice_of (kuberay, 2, &slice), "g-2.0");
  quoit_kuberay_mark_pod (kuberay, 0, QUOIT_KUBERAY_EVENT_GONE);
  ck_assert_str_eq (slice_of (kuberay, 1, &slice), "g-2.0");
  /* Two replicas exist, so the webhook takes the third number, which one of them already has. */
  assert_pass (kuberay, "g0.-1<-1> g1.-1<-1> g2.-1<-1>");
  ck_assert_str_eq (slice_of (kuberay, 0, &slice), "g-2.1");
}
END_TEST

START_TEST (pod_refused_by_the_webhook_is_refused_with_the_reason)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_with_tpu_group (0, "", 2);
  g_autoptr (GError) error = NULL;

  quoit_kuberay_set_replicas (kuberay, 0, 1);
  assert_pass (kuberay, "g0.0<0> g0.1<0>");
  ck_assert_ptr_null (quoit_kuberay_mutate_pod (kuberay, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected a node selector cloud.google.com/gke-tpu-topology");

  quoit_kuberay_free (kuberay);
  kuberay = cluster_with_tpu_group (QUOIT_KUBERAY_NO_INDICES, "", 2);
  quoit_kuberay_set_replicas (kuberay, 0, 1);
  assert_pass (kuberay, "g-1.-1<-1> g-1.-1<-1>");
  ck_assert_ptr_null (quoit_kuberay_mutate_pod (kuberay, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected a node selector cloud.google.com/gke-tpu-topology");
}
END_TEST

START_TEST (webhook_numbers_the_largest_number_of_pods)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_with_tpu_group (0, "2x2", 1);
  const char *requeued;

  quoit_kuberay_set_replicas (kuberay, 0, 65536);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 65536);
  for (guint pod = 0; pod < 65536; pod += 4369)
    {
      g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, pod, NULL);
      g_autofree char *label = g_strdup_printf ("g-%u", pod);

      ck_assert_str_eq (quoit_webhook_patch_get_replica_label (patch), label);
    }
}
END_TEST

/* If pods have no indices, the webhook assigns them to slices in the order of their creation, and fills gaps first. */
START_TEST (new_pods_fill_gaps_of_deleted_pods)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_with_tpu_group (QUOIT_KUBERAY_NO_INDICES, "4x4", 4);
  static const char *const labels[] = { "g-0", "g-0", "g-0", "g-1", "g-1", "g-1", "g-1", "g-0" };
  static const char *const hosts[] = { "g-0-0", "g-0-2", "g-0-3", "g-1-0", "g-1-1", "g-1-2", "g-1-3", "g-0-1" };
  const char *requeued;

  quoit_kuberay_set_replicas (kuberay, 0, 2);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  quoit_kuberay_mark_pod (kuberay, 1, QUOIT_KUBERAY_EVENT_GONE);
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), 7);
  ck_assert (quoit_kuberay_reconcile (kuberay, &requeued, NULL));
  ck_assert_uint_eq (quoit_kuberay_get_n_pods (kuberay), G_N_ELEMENTS (labels));
  for (guint pod = 0; pod < G_N_ELEMENTS (labels); pod++)
    {
      g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, pod, NULL);

      ck_assert_str_eq (quoit_webhook_patch_get_replica_label (patch), labels[pod]);
      ck_assert_str_eq (quoit_webhook_patch_get_hostname (patch), hosts[pod]);
    }
}
END_TEST

/* --- names --- */

static const struct {
  const char *cluster, *group;
  int64_t hosts;
  int32_t replicas;
  const char *message; /* NULL: valid */
} names[] = {
  { "c23456789012345678901234567890123456789041", "g", 1, 1, NULL },
  { "c2345678901234567890123456789012345678901", "g", 2, 1, NULL },
  { "c23456789012345678901234567890123456789012", "g", 2, 1,
    "cluster 'c23456789012345678901234567890123456789012': expected at most 41 bytes, with a letter first: KubeRay "
    "names the headless service 'c23456789012345678901234567890123456789012-headless', but the TPU webhook assigns the "
    "hosts to service 'r3456789012345678901234567890123456789012-headless'" },
  { "2c", "g", 2, 1, "service '2c-headless', but the TPU webhook assigns the hosts to service 'rc-headless'" },
  { "c", "g234567890123456789012345678901234567890123456789012345678-", 2, 10, NULL },
  { "c", "g234567890123456789012345678901234567890123456789012345678-", 2, 11,
    "-10-1' of 64 bytes: expected at most 63: shorten the groupName by 1" },
  { "c", "Workers", 2, 1, "group 'Workers': host name 'Workers-0-1': expected a groupName of lower-case letters" },
};

START_TEST (host_names_too_long_for_dns_are_refused)
{
  g_autoptr (QuoitKuberay) kuberay = quoit_kuberay_new (names[_i].cluster, 0);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  g_autoptr (GError) error = NULL;

  ck_assert (quoit_webhook_pod_add_container (pod, "4", NULL, NULL));
  ck_assert (quoit_kuberay_add_group (kuberay, names[_i].group, names[_i].hosts, pod, &error));
  quoit_kuberay_set_replicas (kuberay, 0, names[_i].replicas);
  ck_assert_int_eq (quoit_kuberay_check_names (kuberay, &error), names[_i].message == NULL);
  if (names[_i].message != NULL)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, names[_i].message);
  ck_assert_ok (error);
}
END_TEST

START_TEST (names_of_groups_without_tpus_are_not_checked)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of (0, "Workers", 2, 1);

  ck_assert (quoit_kuberay_check_names (kuberay, NULL));
  ck_assert_str_eq (quoit_kuberay_get_service (kuberay), "c-headless");
}
END_TEST

START_TEST (pod_name_prefix_is_cut_before_it_is_lowercased)
{
  g_autofree char *upper = quoit_kuberay_dup_pod_prefix ("My-Cluster-ÄG");
  g_autofree char *cut = quoit_kuberay_dup_pod_prefix ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaÄ");

  ck_assert_str_eq (upper, "my-cluster-äg-worker-");
  ck_assert_str_eq (cut, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xef\xbf\xbd-worker-");
}
END_TEST

/* --- manifests --- */

static const struct {
  const char *text, *message;
} refused[] = {
  { "kind: [", "line 2, column 1: " },
  { "kind: Pod", "no Ray object in it" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  workerGroupSpecs:\n  - {groupName: g, numOfHosts: -1}",
    "line 5: spec.workerGroupSpecs[0].numOfHosts: '-1': expected a whole number" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  workerGroupSpecs:\n  - {groupName: g}",
    "no 'template.spec': expected that of the pods" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  enableInTreeAutoscaling: 3", "'3': expected true or false" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  workerGroupSpecs:\n  - groupName: g\n"
    "    template: {spec: {containers: [{env: [{value: x}]}]}}",
    "line 6: spec.workerGroupSpecs[0].template.spec.containers[0].env[0]: a variable without name: expected 'name'" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  workerGroupSpecs:\n  - groupName: g\n"
    "    template: {spec: {containers: [{resources: {limits: {google.com/tpu: four}}}]}}",
    "'four'" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec:\n  workerGroupSpecs:\n  - groupName: g\n    template: {spec: {}}\n"
    "  - groupName: g\n    template: {spec: {}}",
    "line 7: spec.workerGroupSpecs[1].groupName: 'g': expected each groupName once" },
};

START_TEST (invalid_manifest_is_refused_with_the_place)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_kuberay_parse_manifest (refused[_i].text, strlen (refused[_i].text), NULL, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (manifest_gives_number_of_pods_and_deleting_component)
{
  g_autoptr (QuoitKuberay) kuberay
      = cluster_of_manifest ("kind: RayCluster\nmetadata: {name: c}\nspec:\n  enableInTreeAutoscaling: true\n"
                             "  workerGroupSpecs:\n  - {groupName: a, minReplicas: 2, template: {spec: {}}}\n"
                             "  - {groupName: b, replicas: 2, suspend: true, template: {spec: {}}}");

  assert_pass (kuberay, "a0.-1<-1> a1.-1<-1>");
  ck_assert_ptr_null (quoit_kuberay_get_service (kuberay));
  quoit_kuberay_set_bounds (kuberay, 0, 0, 1);
  quoit_kuberay_resume_group (kuberay, 1);
  assert_pass (kuberay, "a0.-1<-1> a1.-1<-1> b0.-1<-1> b1.-1<-1>");
}
END_TEST

/* The cluster of a RayJob whose name is "j" followed by @n_more letters. */
static QuoitKuberay *
job_of (guint n_more)
{
  g_autofree char *more = g_strnfill (n_more, 'j');
  g_autofree char *text = g_strdup_printf (
      "kind: RayJob\nmetadata: {name: j%s}\nspec:\n  rayClusterSpec:\n    workerGroupSpecs:\n"
      "    - groupName: g\n      replicas: 1\n      numOfHosts: 2\n      template: {spec: {nodeSelector: "
      "{cloud.google.com/gke-tpu-topology: 2x4}, containers: [{resources: {limits: {google.com/tpu: 4}}}]}}\n",
      more);

  return cluster_of_manifest (text);
}

START_TEST (cluster_name_of_a_job_is_assumed_with_its_random_suffix)
{
  g_autoptr (QuoitKuberay) known = cluster_of_manifest (manifest), job = job_of (34), longer = job_of (35);
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_kuberay_is_name_assumed (known));
  ck_assert_uint_eq (quoit_kuberay_get_longest_name (known), 41);
  ck_assert (quoit_kuberay_is_name_assumed (job));
  ck_assert_uint_eq (quoit_kuberay_get_longest_name (job), 35);
  ck_assert (quoit_kuberay_check_names (job, NULL));
  ck_assert (!quoit_kuberay_check_names (longer, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "expected at most 35 bytes before the characters that KubeRay appends");
}
END_TEST

START_TEST (group_denied_by_the_webhook_is_reported_by_index)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of_manifest (manifest), none = quoit_kuberay_new ("c", 0);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  g_autoptr (GError) error = NULL;
  const char *denial = "untouched";

  ck_assert (quoit_kuberay_check_group (kuberay, 0, &denial, NULL));
  ck_assert_ptr_null (denial);
  ck_assert (quoit_webhook_pod_add_container (pod, NULL, "4", NULL));
  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-topology", "4x4");
  ck_assert (quoit_kuberay_add_group (none, "a", 4, pod, NULL) && quoit_kuberay_add_group (none, "b", 3, pod, NULL)
             && quoit_kuberay_add_group (none, "c", 0, pod, NULL));
  ck_assert (quoit_kuberay_check_group (none, 0, &denial, NULL));
  ck_assert_ptr_null (denial);
  ck_assert (quoit_kuberay_check_group (none, 1, &denial, NULL));
  ck_assert_str_eq (denial, "Number of workers in worker group not equal to specified topology");
  denial = "untouched";
  ck_assert (!quoit_kuberay_check_group (none, 2, &denial, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "numOfHosts '0'");
  ck_assert_str_eq (denial, "untouched");
}
END_TEST

START_TEST (admitted_pod_merges_template_and_webhook_patch)
{
  g_autoptr (QuoitKuberay) kuberay = cluster_of_manifest (manifest);
  g_autoptr (QuoitWebhookPod) pod = NULL;
  g_autofree char *labels = NULL;
  g_auto (GStrv) all = NULL;

  assert_pass (kuberay, "g0.0<0> g0.1<0> g1.0<1> g1.1<1>");
  pod = quoit_kuberay_admit_pod (kuberay, 3, NULL);
  ck_assert_ptr_nonnull (pod);
  all = quoit_webhook_pod_dup_labels (pod);
  labels = g_strjoinv (" ", all);
  ck_assert_ptr_nonnull (strstr (labels, "ray.io/replica-host-index=1 ray.io/worker-group-replica-index=1"));
  ck_assert_uint_eq (quoit_webhook_pod_get_n_containers (pod), 2);
  ck_assert_str_eq (quoit_webhook_pod_get_variable_name (pod, 0, 0), "MEGASCALE_NUM_SLICES");
  ck_assert_ptr_null (quoit_webhook_pod_get_variable_value (pod, 0, 0));
  ck_assert_str_eq (quoit_webhook_pod_get_variable_value (pod, 0, 1), "mine");
  ck_assert_str_eq (quoit_webhook_pod_get_variable_name (pod, 0, 2), "MEGASCALE_SLICE_ID");
  ck_assert_str_eq (quoit_webhook_pod_get_variable_value (pod, 0, 2), "1");
  ck_assert_uint_eq (quoit_webhook_pod_get_n_variables (pod, 1), 0);
}
END_TEST

START_TEST (a_cluster_that_is_suspended_has_no_pods)
{
  g_autoptr (QuoitKuberay) kuberay
      = cluster_of_manifest ("kind: RayJob\nmetadata: {name: j}\nspec:\n  suspend: true\n  rayClusterSpec:\n"
                             "    workerGroupSpecs:\n    - {groupName: a, replicas: 2, template: {spec: {}}}\n");

  ck_assert_str_eq (quoit_kuberay_get_cluster (kuberay), "j-xxxxx");
  assert_pass (kuberay, "");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("kuberay");
  TCase *passes = tcase_create ("passes"), *numbers = tcase_create ("numbers"), *webhook = tcase_create ("webhook");
  TCase *called = tcase_create ("names"), *manifests = tcase_create ("manifests");

  tcase_add_test (passes, incomplete_replica_is_deleted_and_recreated_in_the_next_pass);
  tcase_add_test (passes, ended_host_deletes_its_replica_only_if_it_cannot_restart);
  tcase_add_test (passes, pass_that_ends_early_does_not_change_later_groups);
  tcase_add_test (passes, gaps_are_filled_before_new_indices_are_taken);
  tcase_add_test (passes, surplus_pods_are_deleted_unless_the_autoscaler_decides);
  tcase_add_test (passes, failed_hosts_are_replaced_one_by_one_without_indices);
  suite_add_tcase (suite, passes);

  tcase_add_loop_test (numbers, pods_are_counted_in_32_bits_with_the_lower_bound_first, 0, G_N_ELEMENTS (counts));
  tcase_add_test (numbers, overflowed_number_of_pods_ends_the_pass);
  tcase_add_test (numbers, too_many_pods_are_refused_without_changes);
  tcase_add_test (numbers, limit_of_pods_applies_to_all_groups_together);
  tcase_add_test (numbers, total_size_of_environments_is_limited);
  tcase_add_test (numbers, group_is_added_once_and_has_a_valid_number_of_hosts);
  suite_add_tcase (suite, numbers);

  tcase_add_test (webhook, pods_of_a_manifest_get_the_patch_of_the_webhook);
  tcase_add_test (webhook, pod_keeps_the_index_given_by_the_webhook);
  tcase_add_test (webhook, pod_refused_by_the_webhook_is_refused_with_the_reason);
  tcase_add_test (webhook, webhook_numbers_the_largest_number_of_pods);
  tcase_add_test (webhook, new_pods_fill_gaps_of_deleted_pods);
  suite_add_tcase (suite, webhook);

  tcase_add_loop_test (called, host_names_too_long_for_dns_are_refused, 0, G_N_ELEMENTS (names));
  tcase_add_test (called, names_of_groups_without_tpus_are_not_checked);
  tcase_add_test (called, pod_name_prefix_is_cut_before_it_is_lowercased);
  suite_add_tcase (suite, called);

  tcase_add_loop_test (manifests, invalid_manifest_is_refused_with_the_place, 0, G_N_ELEMENTS (refused));
  tcase_add_test (manifests, manifest_gives_number_of_pods_and_deleting_component);
  tcase_add_test (manifests, cluster_name_of_a_job_is_assumed_with_its_random_suffix);
  tcase_add_test (manifests, group_denied_by_the_webhook_is_reported_by_index);
  tcase_add_test (manifests, admitted_pod_merges_template_and_webhook_patch);
  tcase_add_test (manifests, a_cluster_that_is_suspended_has_no_pods);
  suite_add_tcase (suite, manifests);

  return suite_main (suite);
}
