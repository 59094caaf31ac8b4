/* SPDX-License-Identifier: Apache-2.0 */
/* JAX's cluster detection beyond the vectors: files, precedence of cluster types, limits of numbers, and unchanged
 * results after a refusal. */
#include <quoit/models/jax.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "suite.h"

#define ENV(...) ((const char *const[]) { __VA_ARGS__, NULL })
#define HOSTS "TPU_WORKER_HOSTNAMES=a,b"
#define FILE_NAMED "TPU_PROCESS_ADDRESSES_PATH=/etc/addresses"

/* "COORDINATOR COUNT ID", with "-" for a refusal. */
static char *
show (const QuoitJaxCluster *cluster)
{
  GString *text = g_string_new (NULL);
  g_autofree char *coordinator = quoit_jax_cluster_dup_coordinator (cluster, NULL);
  int64_t number;

  g_string_append (text, coordinator != NULL ? coordinator : "-");
  if (quoit_jax_cluster_count_processes (cluster, &number, NULL))
    g_string_append_printf (text, " %" G_GINT64_FORMAT, number);
  else
    g_string_append (text, " -");
  if (quoit_jax_cluster_find_process_id (cluster, &number, NULL))
    g_string_append_printf (text, " %" G_GINT64_FORMAT, number);
  else
    g_string_append (text, " -");
  return g_string_free (text, FALSE);
}

static const struct {
  const char *what, *env[6], *metadata[4], *addresses;
  QuoitJaxClusterKind kind;
  const char *shown; /* NULL: JAX gives up */
} found[] = {
  { "nothing", { NULL }, { NULL }, NULL, QUOIT_JAX_CLUSTER_NONE, "- - -" },
  { "a worker id alone", { "TPU_WORKER_ID=1" }, { NULL }, NULL, QUOIT_JAX_CLUSTER_NONE, "- - -" },
  { "a coordinator alone", { "MEGASCALE_COORDINATOR_ADDRESS=c" }, { NULL }, NULL, QUOIT_JAX_CLUSTER_NONE, "- - -" },
  { "a pod", { HOSTS, "TPU_WORKER_ID=1" }, { NULL }, NULL, QUOIT_JAX_CLUSTER_GKE_TPU, "a:8482 2 1" },
  { "an empty list of hosts counts as one host",
    { "TPU_WORKER_HOSTNAMES=", "TPU_WORKER_ID=0" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    ":8482 1 0" },
  { "a VM",
    { NULL },
    { "agent-worker-number=1", "worker-network-endpoints=x,y" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    "x:8482 2 1" },
  { "a VM without a list",
    { HOSTS, "TPU_WORKER_ID=0" },
    { "agent-worker-number=1" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    "- - -" },
  { "a VM with TPU_SKIP_MDS_QUERY",
    { HOSTS, "TPU_WORKER_ID=0", "TPU_SKIP_MDS_QUERY=" },
    { "agent-worker-number=1", "worker-network-endpoints=x,y" },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 0" },
  { "endpoints of two parts",
    { NULL },
    { "agent-worker-number=0", "worker-network-endpoints=x,a:b" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    "- - -" },
  { "endpoints of four parts",
    { NULL },
    { "agent-worker-number=0", "worker-network-endpoints=a:b:c:d" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    "- - -" },
  { "an empty endpoint",
    { NULL },
    { "agent-worker-number=0", "worker-network-endpoints=" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    ":8482 1 0" },
  { "a file",
    { FILE_NAMED, HOSTS, "TPU_WORKER_ID=2" },
    { NULL },
    " \nf:1,g:2,h:3\n\n",
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "f:8482 3 2" },
  { "a file alone", { FILE_NAMED, "TPU_WORKER_ID=0" }, { NULL }, "f", QUOIT_JAX_CLUSTER_GKE_TPU, "f:8482 1 0" },
  { "an empty file", { FILE_NAMED, HOSTS, "TPU_WORKER_ID=2" }, { NULL }, " \n", QUOIT_JAX_CLUSTER_NONE, NULL },
  { "a missing file", { FILE_NAMED, HOSTS, "TPU_WORKER_ID=2" }, { NULL }, NULL, QUOIT_JAX_CLUSTER_NONE, NULL },
  { "a VM ignores the file",
    { FILE_NAMED },
    { "agent-worker-number=0", "worker-network-endpoints=x" },
    NULL,
    QUOIT_JAX_CLUSTER_GCE_TPU,
    "x:8482 1 0" },
  { "a negative worker id", { HOSTS, "TPU_WORKER_ID=-3" }, { NULL }, NULL, QUOIT_JAX_CLUSTER_GKE_TPU, "a:8482 2 -3" },
  { "digits of another script",
    { HOSTS, "TPU_WORKER_ID=\xd9\xa1_0 " },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 10" },
  { "an invalid number does not affect the other facts",
    { HOSTS, "TPU_WORKER_ID=0x1", "MEGASCALE_NUM_SLICES=2" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 4 -" },
  { "negative slices",
    { HOSTS, "TPU_WORKER_ID=0", "MEGASCALE_NUM_SLICES=-2", "MEGASCALE_SLICE_ID=-1" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 -4 -2" },
  { "the largest number",
    { HOSTS, "TPU_WORKER_ID=9223372036854775807" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 9223372036854775807" },
  { "one more than the largest number",
    { HOSTS, "TPU_WORKER_ID=9223372036854775808" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 -" },
  { "beyond the largest number with one more slice",
    { HOSTS, "TPU_WORKER_ID=9223372036854775807", "MEGASCALE_SLICE_ID=1" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 -" },
  { "too many slices",
    { HOSTS, "TPU_WORKER_ID=0", "MEGASCALE_NUM_SLICES=4611686018427387904" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 - 0" },
  { "an empty port",
    { HOSTS, "TPU_WORKER_ID=0", "JAX_COORDINATOR_PORT=" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 2 0" },
  { "an invalid port",
    { HOSTS, "TPU_WORKER_ID=0", "JAX_COORDINATOR_PORT=x:y" },
    { NULL },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:x:y 2 0" },
  { "metadata of a pod",
    { HOSTS, "TPU_WORKER_ID=0" },
    { "tpu-env= MEGASCALE_NUM_SLICES :'' '3''\nMEGASCALE_SLICE_ID: \t'1'\nXMEGASCALE_SLICE_ID: '7'" },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "a:8482 - 2" },
  { "a colon in the metadata's value",
    { HOSTS, "TPU_WORKER_ID=0" },
    { "tpu-env=MEGASCALE_COORDINATOR_ADDRESS: 'c:1'\nno line" },
    NULL,
    QUOIT_JAX_CLUSTER_GKE_TPU,
    "c:8482 2 0" },
};

START_TEST (detected_cluster_matches_jax)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJaxCluster) cluster
      = quoit_jax_cluster_detect (found[_i].env, found[_i].metadata, found[_i].addresses, &error);
  g_autofree char *shown = cluster != NULL ? show (cluster) : NULL;

  ck_assert_msg (g_strcmp0 (shown, found[_i].shown) == 0, "%s: '%s'", found[_i].what, shown);
  ck_assert_int_eq (cluster == NULL, error != NULL);
  if (cluster != NULL)
    ck_assert_msg (quoit_jax_cluster_get_kind (cluster) == found[_i].kind, "%s", found[_i].what);
}
END_TEST

START_TEST (refusal_names_the_variable_and_leaves_results_unchanged)
{
  static const struct {
    const char *env[3], *message;
  } rows[] = {
    { { "TPU_WORKER_HOSTNAMES=a" }, "TPU_WORKER_ID is not set: expected an integer" },
    { { "TPU_WORKER_HOSTNAMES=a", "TPU_WORKER_ID=one" }, "TPU_WORKER_ID 'one': expected an integer" },
    { { "TPU_WORKER_HOSTNAMES=a", "TPU_WORKER_ID=99999999999999999999" },
      "TPU_WORKER_ID '99999999999999999999': expected an integer of 64 bits" },
    { { FILE_NAMED, "TPU_WORKER_ID=0" },
      "TPU_PROCESS_ADDRESSES_PATH '/etc/addresses': expected a file that can be read: JAX raises RuntimeError 'Failed "
      "to "
      "read TPU process addresses file /etc/addresses'" },
  };
  g_autoptr (QuoitJaxCluster) cluster = quoit_jax_cluster_new (QUOIT_JAX_CLUSTER_GKE_TPU, rows[_i].env, NULL, NULL);
  g_autoptr (GError) error = NULL;
  int64_t number = -77;

  ck_assert (!quoit_jax_cluster_find_process_id (cluster, &number, &error));
  ck_assert_int_eq (number, -77);
  ck_assert_str_eq (error->message, rows[_i].message);
  ck_assert_int_eq (error->code, QUOIT_ERROR_INVALID);
}
END_TEST

START_TEST (pod_with_unreadable_address_file_has_no_coordinator)
{
  static const struct {
    const char *addresses, *message;
  } rows[] = {
    { NULL, "'/etc/addresses': expected a file that can be read: JAX raises RuntimeError 'Failed to read TPU process "
            "addresses file /etc/addresses'" },
    { " \n", "'/etc/addresses': expected addresses, found none: JAX raises ValueError 'TPU process addresses file is "
             "empty: /etc/addresses'" },
  };
  const char *const *env = ENV (FILE_NAMED, HOSTS, "TPU_WORKER_ID=0", "MEGASCALE_COORDINATOR_ADDRESS=c");
  const char *const *metadata = ENV ("agent-worker-number=0", "worker-network-endpoints=x");
  g_autoptr (QuoitJaxCluster) pod = quoit_jax_cluster_new (QUOIT_JAX_CLUSTER_GKE_TPU, env, NULL, rows[_i].addresses);
  g_autoptr (QuoitJaxCluster) vm = quoit_jax_cluster_new (QUOIT_JAX_CLUSTER_GCE_TPU, env, metadata, rows[_i].addresses);
  g_autoptr (GError) error = NULL;
  g_autofree char *coordinator = quoit_jax_cluster_dup_coordinator (vm, NULL), *of_pod = show (pod);

  ck_assert_str_eq (of_pod, "- - -");
  ck_assert_ptr_null (quoit_jax_cluster_dup_coordinator (pod, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[_i].message);
  /* A VM does not read the file. */
  ck_assert_str_eq (coordinator, "c:8482");
}
END_TEST

START_TEST (cluster_that_jax_does_not_detect_is_not_found)
{
  static const QuoitJaxClusterKind kinds[] = { QUOIT_JAX_CLUSTER_NONE, (QuoitJaxClusterKind) 77 };
  g_autoptr (QuoitJaxCluster) cluster = quoit_jax_cluster_new (
      kinds[_i], ENV (HOSTS, "TPU_WORKER_ID=0", "MEGASCALE_COORDINATOR_ADDRESS=c"), NULL, NULL);
  g_autoptr (GError) error = NULL;
  int64_t number = -77;

  ck_assert_int_eq (quoit_jax_cluster_get_kind (cluster), QUOIT_JAX_CLUSTER_NONE);
  ck_assert_ptr_null (quoit_jax_cluster_list_workers (cluster, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "JAX finds no cluster");
  ck_assert_ptr_null (quoit_jax_cluster_dup_coordinator (cluster, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "JAX finds no cluster");
  ck_assert (!quoit_jax_cluster_count_processes (cluster, &number, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "JAX finds no cluster");
  ck_assert (!quoit_jax_cluster_find_process_id (cluster, &number, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "JAX finds no cluster");
  ck_assert_int_eq (number, -77);
}
END_TEST

/* --- bounds --- */

static gint64
product (const char *bounds)
{
  g_auto (GStrv) sides = g_strsplit (bounds, ",", -1);
  gint64 chips = 1;

  for (char **side = sides; *side != NULL; side++)
    chips *= g_ascii_strtoll (*side, NULL, 10);
  return chips;
}

START_TEST (process_bounds_multiply_to_the_host)
{
  static const char *const names[] = { "v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "tpu8i", "tpu8t", "plc" };

  for (unsigned name = 0; name < G_N_ELEMENTS (names); name++)
    for (int64_t host = 1; host <= 8; host *= 2)
      for (int64_t chips = 1; chips <= host; chips *= 2)
        {
          const char *bounds = NULL, *of_process = NULL;
          gboolean ok = quoit_jax_process_bounds (names[name], host, chips, &bounds, &of_process, NULL);

          /* JAX has no bounds for a quarter of a host of 8. */
          ck_assert_msg (ok == !(host == 8 && chips == 2), "%s: %d of %d", names[name], (int) chips, (int) host);
          if (!ok)
            continue;
          ck_assert_int_eq (product (of_process), chips);
          ck_assert_int_eq (product (bounds) * chips, host);
        }
}
END_TEST

START_TEST (generation_is_found_by_the_names_of_every_system)
{
  static const char *const names[] = { "v6e", "TPU-V6E", "tpu-v6e-slice", "TPU v6 lite", "trillium" };
  const char *bounds, *of_process;

  ck_assert (quoit_jax_process_bounds (names[_i], 8, 4, &bounds, &of_process, NULL));
  ck_assert_str_eq (bounds, "1,2,1");
  ck_assert_str_eq (of_process, "2,2,1");
}
END_TEST

START_TEST (bounds_that_jax_does_not_have_are_refused)
{
  static const struct {
    const char *generation;
    int64_t host_chips, chips_per_process;
    const char *message;
  } rows[] = {
    { "v6e", 8, 2, "chips of a process '2': expected one of 1, 4, 8 on a host of 8 chips of v6e, or 0 for no bounds" },
    { "v5litepod", 4, -1, "chips of a process '-1': expected one of 1, 2, 4 on a host of 4 chips of v5e" },
    { "v6e", 3, 1, "chips of a host '3': expected one of 1, 2, 4, 8 for v6e, or 0 for no bounds" },
    { "v6e", -8, 2, "chips of a host '-8': expected one of 1, 2, 4, 8" },
    { "v6e", G_MAXINT64, G_MININT64, "chips of a host '9223372036854775807': expected one of 1, 2, 4, 8" },
    { "v6e", 4294967304, 4294967300, "chips of a host '4294967304': expected one of 1, 2, 4, 8" },
    { "v9", 4, 4, "generation 'v9': expected one of v2, v3" },
    { "", 4, 4, "generation '': expected one of v2, v3" },
    { "v5p v5e", 8, 4, "generation 'v5p v5e': expected one of v2, v3" },
    { "v9", 0, 0, "generation 'v9': expected one of v2, v3" },
    { "tpu7", 4, 4, "generation 'tpu7': expected one whose chips JAX divides between processes" },
  };
  g_autoptr (GError) error = NULL;
  const char *bounds = "untouched", *of_process = "untouched";

  ck_assert (!quoit_jax_process_bounds (rows[_i].generation, rows[_i].host_chips, rows[_i].chips_per_process, &bounds,
                                        &of_process, &error));
  ck_assert_str_eq (bounds, "untouched");
  ck_assert_str_eq (of_process, "untouched");
  ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[_i].message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("identity");
  TCase *tcase = tcase_create ("jax");

  tcase_add_loop_test (tcase, detected_cluster_matches_jax, 0, G_N_ELEMENTS (found));
  tcase_add_loop_test (tcase, refusal_names_the_variable_and_leaves_results_unchanged, 0, 4);
  tcase_add_loop_test (tcase, pod_with_unreadable_address_file_has_no_coordinator, 0, 2);
  tcase_add_loop_test (tcase, cluster_that_jax_does_not_detect_is_not_found, 0, 2);
  tcase_add_test (tcase, process_bounds_multiply_to_the_host);
  tcase_add_loop_test (tcase, generation_is_found_by_the_names_of_every_system, 0, 5);
  tcase_add_loop_test (tcase, bounds_that_jax_does_not_have_are_refused, 0, 11);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
