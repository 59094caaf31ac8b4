/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU webhook beyond the vectors: numbers that wrap, the effect of existing pods on the next, hostile texts, and
 * unchanged results after a refusal. */
#include <quoit/models/webhook.h>
#include <string.h>
#include <time.h>

#include "suite.h"

#define TOPOLOGY "cloud.google.com/gke-tpu-topology"
#define ACCELERATOR "cloud.google.com/gke-tpu-accelerator"

static QuoitWebhookPod *
pod_of (const char *topology, const char *chips)
{
  QuoitWebhookPod *pod = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_label (pod, "ray.io/cluster", "c");
  quoit_webhook_pod_set_label (pod, "ray.io/group", "g");
  quoit_webhook_pod_set_selector (pod, TOPOLOGY, topology);
  ck_assert (quoit_webhook_pod_add_container (pod, NULL, chips, NULL));
  return pod;
}

static const char *
added (const QuoitWebhookPatch *patch, guint32 container, const char *name)
{
  for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
    if (strcmp (quoit_webhook_patch_get_variable_name (patch, container, i), name) == 0)
      return quoit_webhook_patch_get_variable_value (patch, container, i);
  return NULL;
}

static const struct {
  const char *topology, *chips;
  int64_t hosts;
} admitted[] = {
  { "4x4", "4", 4 },
  { "+4x4", "4", 4 },
  { "04x4", "4", 4 },
  { "4x4", "3.5", 4 },
  { "4x4", "0.0001", 16 },
  { "4x4", "1e1", 1 },
  { "-4x-4", "4", 4 },
  { "0x4", "4", 1 },
  { "-2147483648", "4", 1 },
  { "65536x65536", "4", 1 },
  { "9223372036854775807x2", "4", 1 },
  { "65537x65536", "4", 16384 },
  { "99999x99999", "4", 352466352 },
  { "4x4", "4294967300", 4 },
};

START_TEST (group_is_admitted_if_hosts_equal_the_32_bit_quotient_of_chips)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of (admitted[_i].topology, admitted[_i].chips);
  g_autoptr (GError) error = NULL;
  const char *denial = "untouched";

  ck_assert (quoit_webhook_check_group (pod, admitted[_i].hosts, &denial, &error));
  ck_assert_msg (denial == NULL, "%s of %s: %s", admitted[_i].topology, admitted[_i].chips, denial);
  ck_assert (quoit_webhook_check_group (pod, admitted[_i].hosts + 1, &denial, &error));
  ck_assert_str_eq (denial, "Number of workers in worker group not equal to specified topology");
}
END_TEST

START_TEST (unreadable_input_of_the_webhook_is_refused_with_its_place)
{
  static const struct {
    const char *topology, *chips;
    int64_t hosts;
    const char *message;
  } rows[] = {
    { "4x4", "4", 0, "numOfHosts '0': expected the number of hosts of a slice" },
    { NULL, "4", 4, "node selector: expected cloud.google.com/gke-tpu-topology" },
    { "", "4", 4, "node selector: expected cloud.google.com/gke-tpu-topology" },
    { "4x", "4", 4, "topology '4x': expected integers separated by 'x', found ''" },
    { "4 x4", "4", 4, "topology '4 x4': expected integers separated by 'x', found '4 '" },
    { "4x9223372036854775808", "4", 4, "found '9223372036854775808'" },
    { "4x4", "4294967296", 4, "google.com/tpu '4294967296': expected at most 2147483647" },
  };
  g_autoptr (QuoitWebhookPod) pod = pod_of (rows[_i].topology, rows[_i].chips);
  g_autoptr (GError) error = NULL;
  const char *denial = "untouched";

  ck_assert (!quoit_webhook_check_group (pod, rows[_i].hosts, &denial, &error));
  ck_assert_str_eq (denial, "untouched");
  ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[_i].message);
}
END_TEST

START_TEST (invalid_quantity_adds_no_container)
{
  static const struct {
    const char *request, *limit, *message;
  } rows[] = {
    { "four", "4", "request of google.com/tpu: quantity 'four': expected a quantity" },
    { NULL, "-4", "limit of google.com/tpu: quantity '-4': expected one that is not negative" },
    { "4", "", "limit of google.com/tpu: quantity '': expected a quantity" },
  };
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  g_autoptr (GError) error = NULL;
  const char *denial;

  ck_assert (!quoit_webhook_pod_add_container (pod, rows[_i].request, rows[_i].limit, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[_i].message);
  ck_assert (!quoit_webhook_check_group (pod, 1, &denial, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "template: expected a container");
}
END_TEST

START_TEST (pod_with_invalid_labels_is_refused)
{
  static const struct {
    const char *key, *value, *message;
  } rows[] = {
    { "ray.io/cluster", NULL, "pod: expected a label ray.io/cluster" },
    { "ray.io/group", "", "pod: expected a label ray.io/group" },
    { "ray.io/worker-group-replica-index", "1.5",
      "label ray.io/worker-group-replica-index '1.5': expected an integer" },
    { "ray.io/replica-host-index", "", "label ray.io/replica-host-index '': expected an integer" },
  };
  g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4");
  g_autoptr (GError) error = NULL;

  quoit_webhook_pod_set_label (pod, "ray.io/worker-group-replica-index", "0");
  quoit_webhook_pod_set_label (pod, "ray.io/replica-host-index", "0");
  quoit_webhook_pod_set_label (pod, rows[_i].key, rows[_i].value);
  ck_assert_ptr_null (quoit_webhook_mutate (pod, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[_i].message);
}
END_TEST

START_TEST (number_of_host_names_is_limited)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of ("99999x99999", "4"), largest = pod_of ("1024x1024", "4");
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_webhook_mutate (pod, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology '99999x99999': expected at most 262144 host names");
  patch = quoit_webhook_mutate (largest, NULL, &error);
  ck_assert_ok (error);
  ck_assert (g_str_has_suffix (added (patch, 0, "TPU_WORKER_HOSTNAMES"), ",g-0-262143.c-headless"));
}
END_TEST

START_TEST (limit_of_host_names_covers_all_containers)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of ("1024x2600", "1"), alone = pod_of ("2x2", "1");
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  g_autoptr (GError) error = NULL;

  for (unsigned i = 1; i < 600; i++)
    {
      ck_assert (quoit_webhook_pod_add_container (pod, "1", NULL, NULL));
      ck_assert (quoit_webhook_pod_add_container (alone, "1", NULL, NULL));
    }
  quoit_webhook_pod_set_selector (pod, ACCELERATOR, "tpu7x");
  quoit_webhook_pod_set_selector (alone, ACCELERATOR, "tpu7x");
  ck_assert_ptr_null (quoit_webhook_mutate (pod, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "(4437 hosts, ");
  patch = quoit_webhook_mutate (alone, NULL, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (added (patch, 599, "TPU_WORKER_ID"), "599");
}
END_TEST

/* --- without KubeRay's indices --- */

/* A pod that the webhook has processed, as it would be read: replicaIndex and TPU_WORKER_ID. */
static QuoitWebhookPod *
pod_there (const char *replica, const char *id)
{
  QuoitWebhookPod *pod = pod_of ("4x4", "4");

  quoit_webhook_pod_set_label (pod, "replicaIndex", replica);
  if (id != NULL)
    quoit_webhook_pod_add_variable (pod, "TPU_WORKER_ID", id);
  return pod;
}

/* The replica and host of the next pod of four-host slices: "REPLICA HOST", or the refusal. */
static const struct {
  const char *there, *next;
} nexts[] = {
  { "", "g-0 0" },
  { "g-0:0", "g-0 1" },
  { "g-0:1", "g-0 0" },
  { "g-0:0 g-0:1 g-0:3", "g-0 2" },
  { "g-0:3 g-0:0 g-0:2 g-0:1", "g-1 0" },
  { "g-1:0 g-1:1 g-1:2 g-1:3", "g-1 4" },
  { "g-2:0 g-0:0", "g-0 1" },
  { "g-0:0 g-0:1 g-0:2 g-0:3 g-2:0 g-2:1 g-2:2 g-2:3", "g-2 4" },
  { "g-x:0", "g-0 1" },
  { "7:0", "g-7 1" },
  { "my-group-12:0", "g-12 1" },
  { "g-99999999999999999999:0", "g-1 0" },
  { "g-0:x", "g-0 0" },
  { "g-0:0 g-0:0", "TPU_WORKER_ID of the pods of replica '0': expected each once, found host '0' twice" },
  { "g-0:1 g-0:1", "g-0 0" },
  { "g-0:", "a pod of the group: expected TPU_WORKER_ID" },
  { "g-0", "a pod of the group: expected TPU_WORKER_ID" },
  { ":0", "g-0 0" },
};

START_TEST (next_pod_gets_the_place_of_the_webhook)
{
  g_auto (GStrv) words = g_strsplit (nexts[_i].there, " ", -1);
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_webhook_pod_free);
  g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4");
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *got = NULL;

  for (char **word = words; *word != NULL && *nexts[_i].there != '\0'; word++)
    {
      g_auto (GStrv) parts = g_strsplit (*word, ":", 2);

      g_ptr_array_add (others, pod_there (parts[0], parts[1]));
    }
  g_ptr_array_add (others, NULL);
  patch = quoit_webhook_mutate (pod, (const QuoitWebhookPod *const *) others->pdata, &error);
  got = patch == NULL
            ? g_strdup (error->message)
            : g_strconcat (quoit_webhook_patch_get_replica_label (patch), " ", added (patch, 0, "TPU_WORKER_ID"), NULL);
  ck_assert_msg (strcmp (got, nexts[_i].next) == 0, "after %s: %s", nexts[_i].there, got);
  g_ptr_array_set_size (others, (gint) others->len - 1);
}
END_TEST

typedef struct {
  gint64 replica, host;
} Place;

static gint
by_place (gconstpointer a, gconstpointer b)
{
  const Place *x = a, *y = b;

  if (x->replica != y->replica)
    return x->replica < y->replica ? -1 : 1;
  return (x->host > y->host) - (x->host < y->host);
}

/* The place of the next pod of four-host slices, computed by sorting all of them. */
static char *
go_through (GArray *places)
{
  const Place *all = (const Place *) (gconstpointer) places->data;
  gint64 replica = 0, n_replicas = 0, next = 0;
  gboolean has_room = FALSE, has_seen = FALSE;

  g_array_sort (places, by_place);
  for (guint i = 0, end; i < places->len && !has_room; i = end)
    {
      for (end = i; end < places->len && all[end].replica == all[i].replica;)
        end++;
      has_room = end - i < 4;
      replica = has_room ? all[i].replica : ++n_replicas;
    }
  for (guint i = 0; i < places->len; i++)
    if (all[i].replica == replica)
      {
        if (has_seen && all[i].host == all[i - 1].host)
          return g_strdup_printf ("host '%" G_GINT64_FORMAT "' twice", all[i].host);
        has_seen = TRUE;
        if (all[i].host != next)
          break;
        next++;
      }
  return g_strdup_printf ("g-%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, replica, next);
}

START_TEST (incremental_counting_agrees_with_a_full_scan)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20260501);

  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_webhook_pod_free);
      g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
      g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4");
      g_autoptr (QuoitWebhookPatch) patch = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *wanted = NULL, *got = NULL;

      for (gint n = g_rand_int_range (rand, 0, 14); n > 0; n--)
        {
          Place place = { g_rand_int_range (rand, 0, 4), g_rand_int_range (rand, round % 8 == 0 ? -3 : 0, 6) };
          g_autofree char *replica = g_strdup_printf ("g-%" G_GINT64_FORMAT, place.replica);
          g_autofree char *host = g_strdup_printf ("%" G_GINT64_FORMAT, place.host);

          g_ptr_array_add (others, pod_there (replica, host));
          /* The webhook treats -1 as absent. */
          if (place.host != -1)
            g_array_append_val (places, place);
        }
      g_ptr_array_add (others, NULL);
      wanted = go_through (places);
      patch = quoit_webhook_mutate (pod, (const QuoitWebhookPod *const *) others->pdata, &error);
      got = patch == NULL ? g_strdup (strstr (error->message, "host '"))
                          : g_strconcat (quoit_webhook_patch_get_replica_label (patch), " ",
                                         added (patch, 0, "TPU_WORKER_ID"), NULL);
      ck_assert_msg (strcmp (got, wanted) == 0, "round %u: '%s', expected '%s'", round, got, wanted);
      g_ptr_array_set_size (others, (gint) others->len - 1);
    }
}
END_TEST

START_TEST (pod_without_tpus_hides_later_pods)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4"), none = pod_of ("4x4", "0"), there = pod_there ("g-0", "0");
  const QuoitWebhookPod *others[] = { none, there, NULL }, *in_order[] = { there, none, NULL };
  g_autoptr (QuoitWebhookPatch) hidden = quoit_webhook_mutate (pod, others, NULL);
  g_autoptr (QuoitWebhookPatch) seen = quoit_webhook_mutate (pod, in_order, NULL);

  ck_assert_str_eq (added (hidden, 0, "TPU_WORKER_ID"), "0");
  ck_assert_str_eq (added (seen, 0, "TPU_WORKER_ID"), "1");
}
END_TEST

START_TEST (patched_pod_counts_as_existing_pod)
{
  g_autoptr (QuoitWebhookPod) first = pod_of ("4x4", "4"), second = pod_of ("4x4", "4");
  const QuoitWebhookPod *others[] = { first, NULL };
  g_autoptr (QuoitWebhookPatch) of_first = quoit_webhook_mutate (first, NULL, NULL), of_second = NULL, again = NULL;

  quoit_webhook_pod_apply (first, of_first);
  of_second = quoit_webhook_mutate (second, others, NULL);
  ck_assert_str_eq (quoit_webhook_patch_get_hostname (of_second), "g-0-1");
  again = quoit_webhook_mutate (first, NULL, NULL);
  ck_assert_uint_eq (quoit_webhook_patch_get_n_variables (again, 0), 0);
}
END_TEST

/* --- written variables --- */

START_TEST (first_nonempty_value_of_a_duplicate_variable_counts)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4");
  g_autoptr (QuoitWebhookPatch) patch = NULL;

  quoit_webhook_pod_add_variable (pod, "TPU_NAME", "");
  quoit_webhook_pod_add_variable (pod, "TPU_NAME", "mine");
  quoit_webhook_pod_add_variable (pod, "TPU_WORKER_ID", NULL);
  quoit_webhook_pod_add_variable (pod, "TPU_WORKER_ID", "3");
  patch = quoit_webhook_mutate (pod, NULL, NULL);
  ck_assert_ptr_null (added (patch, 0, "TPU_NAME"));
  /* The webhook stops at the first variable, which has a valueFrom, and reads it as empty. */
  ck_assert_str_eq (added (patch, 0, "TPU_WORKER_ID"), "0");
}
END_TEST

START_TEST (process_gets_the_last_value_of_a_duplicate_variable)
{
  static const struct {
    const char *name, *value;
    int is_written, is_seen;
  } rows[] = {
    { "TPU_WORKER_ID", "0", 0, 0 },
    { "TPU_NAME", "mine", 0, 0 },
    { "TPU_NAME", "", 0, 1 },
    { "TPU_WORKER_HOSTNAMES", "localhost", 0, 0 },
    { "TPU_WORKER_HOSTNAMES", "g-0-0.c-headless,g-0-1.c-headless,g-0-2.c-headless,g-0-3.c-headless", 1, 1 },
    { "TPU_WORKER_ID", "1", 1, 1 },
    { "TPU_DEVICE_PLUGIN_HOST_IP", NULL, 1, 1 },
  };
  g_autoptr (QuoitWebhookPod) pod = pod_of ("4x4", "4"), first = pod_of ("4x4", "4");
  const QuoitWebhookPod *others[] = { first, NULL };
  g_autoptr (QuoitWebhookPatch) of_first = quoit_webhook_mutate (first, NULL, NULL), patch = NULL;
  g_auto (GStrv) labels = NULL;

  quoit_webhook_pod_apply (first, of_first);
  for (guint i = 0; i < 4; i++)
    quoit_webhook_pod_add_variable (pod, rows[i].name, rows[i].value);
  patch = quoit_webhook_mutate (pod, others, NULL);
  quoit_webhook_pod_apply (pod, patch);

  ck_assert_uint_eq (quoit_webhook_pod_get_n_containers (pod), 1);
  ck_assert_uint_eq (quoit_webhook_pod_get_n_variables (pod, 0), G_N_ELEMENTS (rows) + 1);
  ck_assert_uint_eq (quoit_webhook_pod_get_n_variables (pod, 1), 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ck_assert_str_eq (quoit_webhook_pod_get_variable_name (pod, 0, i), rows[i].name);
      ck_assert_pstr_eq (quoit_webhook_pod_get_variable_value (pod, 0, i), rows[i].value);
      ck_assert_int_eq (quoit_webhook_pod_is_variable_written (pod, 0, i), rows[i].is_written);
      ck_assert_int_eq (quoit_webhook_pod_is_variable_effective (pod, 0, i), rows[i].is_seen);
    }
  ck_assert_str_eq (quoit_webhook_pod_get_variable_field (pod, 0, 6), "status.hostIP");
  ck_assert_ptr_null (quoit_webhook_pod_get_variable_field (pod, 0, 5));
  labels = quoit_webhook_pod_dup_labels (pod);
  ck_assert_str_eq (labels[0], "ray.io/cluster=c");
  ck_assert_str_eq (labels[2], "replicaIndex=g-0");
  ck_assert_ptr_null (labels[3]);
}
END_TEST

START_TEST (lookup_of_variables_takes_linear_time)
{
  enum { N_VARIABLES = 200000, MOST_SECONDS = 20 };
  g_autoptr (QuoitWebhookPod) pod = pod_of ("2x2", "4");
  clock_t begin = clock ();

  for (guint i = 0; i < N_VARIABLES; i++)
    {
      g_autofree char *name = g_strdup_printf ("V%u", i / 2);

      quoit_webhook_pod_add_variable (pod, name, "x");
    }
  for (guint i = 0; i < N_VARIABLES; i++)
    ck_assert_int_eq (quoit_webhook_pod_is_variable_effective (pod, 0, i), i % 2);
  ck_assert_int_lt ((clock () - begin) / CLOCKS_PER_SEC, MOST_SECONDS);
}
END_TEST

START_TEST (absent_values_are_null)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of ("2x2", "4"), none = pod_of ("2x2", "0");
  g_autoptr (QuoitWebhookPatch) patch = quoit_webhook_mutate (pod, NULL, NULL),
                                empty = quoit_webhook_mutate (none, NULL, NULL);

  ck_assert (!quoit_webhook_patch_is_empty (patch));
  ck_assert_ptr_null (quoit_webhook_patch_get_hostname (patch));
  ck_assert_ptr_null (quoit_webhook_patch_get_subdomain (patch));
  ck_assert_ptr_null (quoit_webhook_patch_get_affinity (patch, QUOIT_WEBHOOK_TERM_TOGETHER, 0));
  ck_assert_ptr_null (quoit_webhook_patch_get_affinity (patch, (QuoitWebhookTerm) 9, 0));
  ck_assert_uint_eq (quoit_webhook_patch_get_n_variables (patch, 1), 0);
  ck_assert (quoit_webhook_patch_is_empty (empty));
  ck_assert_uint_eq (quoit_webhook_patch_get_n_variables (empty, 0), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("webhook");
  TCase *tcase = tcase_create ("rules");

  tcase_add_loop_test (tcase, group_is_admitted_if_hosts_equal_the_32_bit_quotient_of_chips, 0,
                       G_N_ELEMENTS (admitted));
  tcase_add_loop_test (tcase, unreadable_input_of_the_webhook_is_refused_with_its_place, 0, 7);
  tcase_add_loop_test (tcase, invalid_quantity_adds_no_container, 0, 3);
  tcase_add_loop_test (tcase, pod_with_invalid_labels_is_refused, 0, 4);
  tcase_add_test (tcase, number_of_host_names_is_limited);
  tcase_add_test (tcase, limit_of_host_names_covers_all_containers);
  tcase_add_loop_test (tcase, next_pod_gets_the_place_of_the_webhook, 0, G_N_ELEMENTS (nexts));
  tcase_add_test (tcase, incremental_counting_agrees_with_a_full_scan);
  tcase_add_test (tcase, pod_without_tpus_hides_later_pods);
  tcase_add_test (tcase, patched_pod_counts_as_existing_pod);
  tcase_add_test (tcase, lookup_of_variables_takes_linear_time);
  tcase_add_test (tcase, first_nonempty_value_of_a_duplicate_variable_counts);
  tcase_add_test (tcase, process_gets_the_last_value_of_a_duplicate_variable);
  tcase_add_test (tcase, absent_values_are_null);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
