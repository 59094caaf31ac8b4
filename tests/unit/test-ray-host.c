/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts, nodes and chips beyond the vectors: hostile environments, precedence, and general guarantees. */
#include <math.h>
#include <quoit/models/ray-host.h>
#include <string.h>

#include "suite.h"

#define ENV(...) ((const char *const[]) { __VA_ARGS__, NULL })

static char *
show_resources (const QuoitRayResources *resources)
{
  GString *text = g_string_new (NULL);
  const char *name;

  for (unsigned i = 0; (name = quoit_ray_resources_get_name (resources, i)) != NULL; i++)
    g_string_append_printf (text, "%s%s=%.17g", i > 0 ? " " : "", name, quoit_ray_resources_get_amount (resources, i));
  return g_string_free (text, FALSE);
}

static char *
show_labels (const QuoitRayLabels *labels)
{
  GString *text = g_string_new (NULL);
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", key, quoit_ray_labels_get_value (labels, i));
  return g_string_free (text, FALSE);
}

START_TEST (host_without_environment_and_metadata_has_no_properties)
{
  g_autoptr (QuoitRayHost) host = quoit_ray_host_new (NULL, NULL);

  ck_assert_ptr_null (quoit_ray_host_get_pod_type (host));
  ck_assert_ptr_null (quoit_ray_host_get_slice_name (host));
  ck_assert_ptr_null (quoit_ray_host_get_worker_id (host));
  ck_assert_ptr_null (quoit_ray_host_get_topology (host));
  ck_assert_ptr_null (quoit_ray_host_get_accelerator_type (host));
  ck_assert_ptr_null (quoit_ray_host_get_resources (host));
  ck_assert_ptr_null (quoit_ray_labels_get_key (quoit_ray_host_get_labels (host), 0));
}
END_TEST

START_TEST (invalid_variable_hides_metadata_but_empty_variable_does_not)
{
  static const char *const metadata[]
      = { "accelerator-type=v4-16", "instance-id=m", "agent-worker-number=3", "tpu-env=TOPOLOGY: '2x2x2'", NULL };
  g_autoptr (QuoitRayHost) hidden = quoit_ray_host_new (
      ENV ("TPU_ACCELERATOR_TYPE=V4-16", "TPU_NAME= ", "TPU_WORKER_ID=three", "TPU_TOPOLOGY= "), metadata);
  g_autoptr (QuoitRayHost) shown
      = quoit_ray_host_new (ENV ("TPU_ACCELERATOR_TYPE=", "TPU_NAME=", "TPU_WORKER_ID=", "TPU_TOPOLOGY="), metadata);

  ck_assert_ptr_null (quoit_ray_host_get_pod_type (hidden));
  ck_assert_str_eq (quoit_ray_host_get_slice_name (hidden), " ");
  ck_assert_ptr_null (quoit_ray_host_get_worker_id (hidden));
  ck_assert_str_eq (quoit_ray_host_get_topology (hidden), "");
  ck_assert_ptr_null (quoit_ray_labels_find (quoit_ray_host_get_labels (hidden), "ray.io/tpu-topology"));
  ck_assert_str_eq (quoit_ray_host_get_pod_type (shown), "v4-16");
  ck_assert_str_eq (quoit_ray_host_get_slice_name (shown), "m");
  ck_assert_str_eq (quoit_ray_host_get_worker_id (shown), "3");
  ck_assert_str_eq (quoit_ray_host_get_topology (shown), "2x2x2");
}
END_TEST

START_TEST (topology_is_read_from_the_tpu_env_metadata)
{
  static const struct {
    const char *tpu_env, *topology;
  } rows[] = {
    { "tpu-env=TOPOLOGY: '4x4'", "4x4" },
    { "tpu-env=ALT_TOPOLOGY:'2x2'\nTOPOLOGY: '4x4'", "2x2" },
    { "tpu-env=TOPOLOGY: ''\nTOPOLOGY: '4x4'", "4x4" },
    { "tpu-env=TOPOLOGY: 4x4\nTOPOLOGY: '2x4'", "2x4" },
    { "tpu-env=TOPOLOGY:\xe3\x80\x80\n '2X4 '", "2x4" },
    { "tpu-env=TOPOLOGY: TOPOLOGY:'1x1'", "1x1" },
    { "tpu-env=TOPOLOGY: '4x4", NULL },
    { "tpu-env=TOPOLOGY: ''", NULL },
    { "tpu-env=topology: '4x4'", NULL },
    { "tpu-env=TOPOLOGY : '4x4'", NULL },
    { "tpu-env=TOPOLOGY:", NULL },
    { "tpu-env=TOPOLOGY: ' '", "" },
    { "tpu-env=", NULL },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (QuoitRayHost) host = quoit_ray_host_new (NULL, ENV (rows[i].tpu_env));

      ck_assert_msg (g_strcmp0 (quoit_ray_host_get_topology (host), rows[i].topology) == 0, "%s: %s", rows[i].tpu_env,
                     quoit_ray_host_get_topology (host));
    }
}
END_TEST

START_TEST (worker_id_is_a_python_integer_and_zero_is_the_head)
{
  g_autofree char *longest = g_strnfill (4300, '7'), *longer = g_strnfill (4301, '7');
  const struct {
    const char *text, *id;
  } rows[] = { { "0", "0" },      { "-0", "0" },        { "+00_0", "0" }, { "\xd9\xa0", "0" },
               { " 10\n", "10" }, { "-1", "-1" },       { "0x0", NULL },  { "0.0", NULL },
               { "__0", NULL },   { longest, longest }, { longer, NULL }, { "\xff", NULL } };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *variable = g_strconcat ("TPU_WORKER_ID=", rows[i].text, NULL);
      g_autoptr (QuoitRayHost) host
          = quoit_ray_host_new (ENV ("TPU_NAME=s", "TPU_ACCELERATOR_TYPE=v6e-16", variable), NULL);
      const QuoitRayResources *resources = quoit_ray_host_get_resources (host);
      const char *second = resources != NULL ? quoit_ray_resources_get_name (resources, 1) : NULL;

      ck_assert_msg (g_strcmp0 (quoit_ray_host_get_worker_id (host), rows[i].id) == 0, "%.20s", rows[i].text);
      ck_assert_int_eq (resources != NULL, rows[i].id != NULL);
      ck_assert_int_eq (second != NULL, g_strcmp0 (rows[i].id, "0") == 0);
    }
}
END_TEST

START_TEST (invalid_utf8_is_replaced)
{
  g_autoptr (QuoitRayHost) host = quoit_ray_host_new (
      ENV ("TPU_NAME=a\xff", "TPU_WORKER_ID=0", "TPU_ACCELERATOR_TYPE=v6e-16", "TPU_TOPOLOGY=4x\xc3"), NULL);

  ck_assert_str_eq (quoit_ray_host_get_slice_name (host), "a\xef\xbf\xbd");
  ck_assert_str_eq (quoit_ray_host_get_topology (host), "4x\xef\xbf\xbd");
  ck_assert_str_eq (quoit_ray_resources_get_name (quoit_ray_host_get_resources (host), 0), "a\xef\xbf\xbd");
}
END_TEST

START_TEST (the_workers_of_a_pod_are_counted_or_refused)
{
  static const struct {
    const char *pod_type;
    int64_t n_chips, n_workers; /* n_workers -1: no chips per host; -2: refused */
  } rows[] = {
    { "v4-16", 4, 2 },
    { "v4-17", 4, 3 },
    { "v6e-0", 4, 0 },
    { "v6e-1", 8, 1 },
    { "v4-16", 0, -1 },
    { "v4-16", -4, -1 },
    { "v4", 0, -1 }, /* without chips per host, the missing number is not read */
    { "v4", 4, -2 },
    { "v4-x", 4, -2 },
    { "v9-8", 0, -2 },
    { "V4-8", 4, -2 },
    { "", 4, -2 },
    { NULL, 4, -2 },
    { "v4-9223372036854775807", INT64_MAX, 1 }, /* chips times cores is beyond 64 bits */
    { "v4-999999999999999999999999999999999999999", INT64_MAX, -2 },
    { "v6e-9223372036854775807", 1, INT64_MAX },
    { "v6e-9223372036854775808", 1, -2 },
    { "v4-18446744073709551614", 1, INT64_MAX },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      int64_t n_workers = -77;
      GError *error = NULL;
      int ok = quoit_ray_pod_workers (rows[i].pod_type, rows[i].n_chips, &n_workers, &error);

      ck_assert_msg (ok == (rows[i].n_workers != -2) && ok == (error == NULL), "%s", rows[i].pod_type);
      ck_assert_msg (n_workers == (ok ? rows[i].n_workers : -77), "%s: %" G_GINT64_FORMAT, rows[i].pod_type,
                     (gint64) n_workers);
      g_clear_error (&error);
    }
}
END_TEST

START_TEST (process_with_assigned_chips_sees_at_least_these_chips)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);

  for (unsigned i = 0; i < 5000; i++)
    {
      int per_chip = g_rand_int_range (random, 1, 5), n_ids = g_rand_int_range (random, 1, 9);
      g_autofree char *factor = g_strdup_printf ("RAY_TPU_RESOURCE_PER_CHIP=%d", per_chip);
      g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
      g_auto (GStrv) after = NULL, seen = NULL;
      GError *error = NULL;

      for (int n = 0; n < n_ids; n++)
        g_ptr_array_add (ids, g_strdup_printf ("%d", g_rand_int_range (random, 0, 16)));
      g_ptr_array_add (ids, NULL);
      after = quoit_ray_visible_env ((const char *const *) ids->pdata, n_ids + 1,
                                     ENV ("A=b", factor, "TPU_VISIBLE_CHIPS=77", "TPU_HOST_BOUNDS=9", "Z="), &error);
      ck_assert_ok (error);
      ck_assert_str_eq (g_environ_getenv (after, "A"), "b");
      ck_assert_str_eq (g_environ_getenv (after, "Z"), "");
      seen = quoit_ray_visible_ids ((const char *const *) after, &error);
      ck_assert_ok (error);
      for (int n = 0; n < n_ids; n++)
        ck_assert_msg (g_strv_contains ((const char *const *) seen, ids->pdata[n]), "%s of %s", (char *) ids->pdata[n],
                       g_environ_getenv (after, "TPU_VISIBLE_CHIPS"));
    }
}
END_TEST

START_TEST (process_with_all_chips_has_no_visibility_variables)
{
  g_auto (GStrv) after = quoit_ray_visible_env (
      ENV ("0", "1", "2", "3"), 4,
      ENV ("TPU_VISIBLE_CHIPS=0", "TPU_CHIPS_PER_HOST_BOUNDS=1,1,1", "TPU_HOST_BOUNDS=5,5,5", "B=c"), NULL);
  g_auto (GStrv) kept
      = quoit_ray_visible_env (ENV ("0", "1", "2", "3"), 4, ENV ("TPU_CHIPS_PER_HOST_BOUNDS=2,2,1"), NULL);

  ck_assert_uint_eq (g_strv_length (after), 1);
  ck_assert_str_eq (after[0], "B=c");
  ck_assert_uint_eq (g_strv_length (kept), 1);
  ck_assert_str_eq (kept[0], "TPU_CHIPS_PER_HOST_BOUNDS=2,2,1");
}
END_TEST

START_TEST (chip_ids_beyond_64_bits_are_accepted)
{
  g_auto (GStrv) after
      = quoit_ray_visible_env (ENV ("99999999999999999999", "-3", "99999999999999999998", "-99999999999999999999", "5"),
                               8, ENV ("RAY_TPU_RESOURCE_PER_CHIP=2"), NULL);
  g_auto (GStrv) seen = quoit_ray_visible_ids (
      ENV ("RAY_TPU_RESOURCE_PER_CHIP=2", "TPU_VISIBLE_CHIPS=9223372036854775807,-5000000000000000000000000000"), NULL);
  g_autofree char *joined = g_strjoinv (" ", seen);

  ck_assert_str_eq (g_environ_getenv (after, "TPU_VISIBLE_CHIPS"), "-50000000000000000000,-2,2,49999999999999999999");
  ck_assert_str_eq (joined, "18446744073709551614 18446744073709551615 -10000000000000000000000000000 "
                            "-9999999999999999999999999999");
}
END_TEST

START_TEST (size_of_visible_ids_is_limited)
{
  GError *error = NULL;
  g_autoptr (GString) many = g_string_new ("TPU_VISIBLE_CHIPS=0");
  g_auto (GStrv) ids = NULL;

  ck_assert_ptr_null (
      quoit_ray_visible_ids (ENV ("TPU_VISIBLE_CHIPS=0", "RAY_TPU_RESOURCE_PER_CHIP=9223372036854775807"), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "at most 65536 ids");
  for (unsigned i = 1; i < 128; i++)
    g_string_append (many, ",0");
  ids = quoit_ray_visible_ids (ENV (many->str, "RAY_TPU_RESOURCE_PER_CHIP=512"), &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (g_strv_length (ids), 65536);
  g_string_append (many, ",0");
  ck_assert_ptr_null (quoit_ray_visible_ids (ENV (many->str, "RAY_TPU_RESOURCE_PER_CHIP=512"), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "at most 65536 ids");
}
END_TEST

START_TEST (invalid_chip_ids_are_refused_by_name)
{
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ray_visible_env (ENV ("0", "one"), 4, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "chip 'one'");
  ck_assert_ptr_null (quoit_ray_visible_env (ENV ("0"), 4, ENV ("RAY_TPU_RESOURCE_PER_CHIP=0"), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "RAY_TPU_RESOURCE_PER_CHIP '0'");
  ck_assert_ptr_null (quoit_ray_visible_ids (ENV ("TPU_VISIBLE_CHIPS=0, x", "RAY_TPU_RESOURCE_PER_CHIP=2"), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "chip ' x'");
  ck_assert_ptr_null (quoit_ray_visible_ids (ENV ("RAY_TPU_RESOURCE_PER_CHIP=0"), &error));
  ck_assert_ok (error);
}
END_TEST

/* A node of a v6e 4x4 slice, worker 0, with what a row adds. */
typedef struct {
  const char *env[4];
  const char *custom; /* "NAME=AMOUNT NAME=AMOUNT" */
  int64_t n_chips;
  const char *resources, *why; /* one of them */
} NodeRow;

#define SLICE "accelerator_type:TPU-V6E=1 s=1 TPU-v6e-16-head=1 CPU=4 memory=7"

static const NodeRow nodes[] = {
  { { NULL }, "TPU=4", 0, "TPU=4 node:a=1 " SLICE, NULL },
  { { NULL }, "", 4, "node:a=1 TPU=4 " SLICE, NULL },
  { { NULL }, "TPU=0", 4, "node:a=1 CPU=4 memory=7", NULL },
  { { NULL }, "TPU=-0", 4, "node:a=1 CPU=4 memory=7", NULL },
  { { NULL }, "", 0, "node:a=1 CPU=4 memory=7", NULL },
  { { NULL }, "TPU=-1", 4, NULL, "resource 'TPU' '-1'" },
  { { NULL }, "TPU=nan", 4, NULL, "resource 'TPU' 'nan'" },
  { { NULL }, "TPU=inf", 4, NULL, "resource 'TPU' 'inf'" },
  { { NULL }, "X=0.5", 0, NULL, "resource 'X' '0.5'" },
  { { NULL }, "X=100000000000000", 0, "X=100000000000000 node:a=1 CPU=4 memory=7", NULL },
  { { NULL }, "X=100000000000001", 0, NULL, "resource 'X'" },
  { { NULL },
    "s=0.5 TPU=4",
    0,
    "s=1 TPU=4 node:a=1 accelerator_type:TPU-V6E=1 TPU-v6e-16-head=1 CPU=4 memory=7",
    NULL },
  { { NULL }, "CPU=9", 0, "CPU=4 node:a=1 memory=7", NULL },
  { { NULL }, "node:__internal_head__=1", 0, NULL, "'node:__internal_head__'" },
  { { "TPU_VISIBLE_CHIPS=0,1" },
    "TPU=4",
    0,
    NULL,
    "resource 'TPU' '4': expected at most 2, as many as TPU_VISIBLE_CHIPS lists" },
  { { "TPU_VISIBLE_CHIPS=0,1" }, "TPU=2", 0, "TPU=2 node:a=1 " SLICE, NULL },
  { { "TPU_VISIBLE_CHIPS=" }, "", 4, "node:a=1 CPU=4 memory=7", NULL },
  { { "TPU_VISIBLE_CHIPS=0,1", "RAY_TPU_RESOURCE_PER_CHIP=2" }, "", 8, "node:a=1 TPU=4 " SLICE, NULL },
  { { "TPU_VISIBLE_CHIPS=0", "RAY_TPU_RESOURCE_PER_CHIP=x" }, "", 8, NULL, "RAY_TPU_RESOURCE_PER_CHIP 'x'" },
  { { "TPU_VISIBLE_CHIPS=0", "RAY_TPU_RESOURCE_PER_CHIP=x" }, "TPU=0", 8, "node:a=1 CPU=4 memory=7", NULL },
  { { "RAY_OVERRIDE_RESOURCES={\"TPU\":8,\"CPU\":2,\"memory\":3.9,\"GPU\":0}" },
    "TPU=4",
    0,
    "TPU=8 node:a=1 accelerator_type:TPU-V6E=1 s=1 TPU-v6e-16-head=1 CPU=2 memory=3",
    NULL },
  { { "RAY_OVERRIDE_RESOURCES={\"CPU\":null,\"X\":1,\"X\":2}" }, "", 0, "X=2 node:a=1 CPU=4 memory=7", NULL },
  { { "RAY_OVERRIDE_RESOURCES=" }, "X=1", 0, "X=1 node:a=1 CPU=4 memory=7", NULL },
  { { "RAY_OVERRIDE_RESOURCES={" }, "", 0, NULL, "RAY_OVERRIDE_RESOURCES: line 1" },
  { { "RAY_OVERRIDE_RESOURCES=[]" }, "", 0, NULL, "RAY_OVERRIDE_RESOURCES: 'JsonArray': expected an object" },
  { { "RAY_OVERRIDE_RESOURCES={\"X\":\"1\"}" }, "", 0, NULL, "RAY_OVERRIDE_RESOURCES: 'X': expected a number" },
  { { "RAY_OVERRIDE_RESOURCES={\"X\":1e15}" }, "", 0, NULL, "resource 'X'" },
  { { "RAY_OVERRIDE_LABELS=[1]" }, "", 0, NULL, "RAY_OVERRIDE_LABELS" },
  { { "RAY_OVERRIDE_LABELS={\"a\":1}" }, "", 0, NULL, "RAY_OVERRIDE_LABELS: 'a': expected a text" },
  { { "RAY_OVERRIDE_LABELS=[]" }, "", 0, "node:a=1 CPU=4 memory=7", NULL },
  { { "TPU_NAME=TPU" },
    "TPU=4",
    0,
    "TPU=1 node:a=1 accelerator_type:TPU-V6E=1 TPU-v6e-16-head=1 CPU=4 memory=7",
    NULL },
  { { "TPU_NAME=memory" },
    "TPU=4",
    0,
    "TPU=4 node:a=1 accelerator_type:TPU-V6E=1 memory=7 TPU-v6e-16-head=1 CPU=4",
    NULL },
  { { "TPU_NAME=GPU" },
    "TPU=4",
    0,
    "TPU=4 node:a=1 accelerator_type:TPU-V6E=1 TPU-v6e-16-head=1 CPU=4 memory=7",
    NULL },
  { { "TPU_NAME=node:a" },
    "TPU=4",
    0,
    "TPU=4 node:a=1 accelerator_type:TPU-V6E=1 TPU-v6e-16-head=1 CPU=4 memory=7",
    NULL },
};

static QuoitRayResources *
read_resources (const char *text)
{
  QuoitRayResources *resources = quoit_ray_resources_new ();
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      char *equals = strrchr (*word, '=');

      if (equals == NULL)
        continue;
      *equals = '\0';
      quoit_ray_resources_set (resources, *word, g_ascii_strtod (equals + 1, NULL));
    }
  return resources;
}

START_TEST (node_has_the_resources_of_ray_or_is_refused)
{
  const NodeRow *row = &nodes[_i];
  g_autoptr (QuoitRayResources) custom = read_resources (row->custom);
  g_autoptr (QuoitRayResources) predefined = read_resources ("CPU=4 memory=7.5");
  g_auto (GStrv) env = g_strdupv ((char **) ENV ("TPU_NAME=s", "TPU_WORKER_ID=0", "TPU_ACCELERATOR_TYPE=v6e-16"));
  g_autoptr (QuoitRayNode) node = NULL;
  g_autofree char *shown = NULL;
  GError *error = NULL;

  for (unsigned i = 0; row->env[i] != NULL; i++)
    {
      g_autofree char *name = g_strndup (row->env[i], strcspn (row->env[i], "="));

      env = g_environ_setenv (g_steal_pointer (&env), name, row->env[i] + strlen (name) + 1, TRUE);
    }
  node = quoit_ray_node_new ("a", (const char *const *) env, NULL, predefined, custom, NULL, row->n_chips, &error);
  if (row->why != NULL)
    {
      ck_assert_ptr_null (node);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, row->why);
      return;
    }
  ck_assert_ok (error);
  shown = show_resources (quoit_ray_node_get_resources (node));
  ck_assert_str_eq (shown, row->resources);
}
END_TEST

START_TEST (autoscaler_labels_override_given_labels_and_default_labels)
{
  g_autoptr (QuoitRayLabels) given = quoit_ray_labels_new ();
  g_autoptr (QuoitRayResources) custom = read_resources ("TPU=4");
  g_autoptr (QuoitRayNode) node = NULL;
  g_autofree char *shown = NULL;
  GError *error = NULL;

  quoit_ray_labels_set (given, "own", "1");
  quoit_ray_labels_set (given, "ray.io/tpu-worker-id", "given");
  quoit_ray_labels_set (given, "ray.io/tpu-slice-name", "given");
  node = quoit_ray_node_new ("a",
                             ENV ("TPU_NAME=s", "TPU_WORKER_ID=0", "RAY_NODE_TYPE_NAME=pool", "RAY_NODE_ZONE=z",
                                  "RAY_NODE_REGION=", "RAY_NODE_MARKET_TYPE=spot",
                                  "RAY_OVERRIDE_LABELS={\"ray.io/tpu-slice-name\":\"scaled\",\"new\":\"2\"}"),
                             NULL, NULL, custom, given, 0, &error);
  ck_assert_ok (error);
  shown = show_labels (quoit_ray_node_get_labels (node));
  ck_assert_str_eq (shown, "ray.io/market-type=spot ray.io/node-group=pool ray.io/availability-zone=z "
                           "ray.io/tpu-slice-name=scaled ray.io/tpu-worker-id=given own=1 new=2");
}
END_TEST

START_TEST (arguments_of_a_node_are_not_changed)
{
  g_autoptr (QuoitRayResources) custom = read_resources ("TPU=4 X=0");
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autoptr (QuoitRayNode) node = quoit_ray_node_new ("a", ENV ("TPU_NAME=s"), NULL, NULL, custom, labels, 4, NULL);
  g_autofree char *shown = show_resources (custom);

  ck_assert_ptr_nonnull (node);
  ck_assert_str_eq (shown, "TPU=4 X=0");
  ck_assert_ptr_null (quoit_ray_labels_get_key (labels, 0));
}
END_TEST

/* Of the 10,001 amounts between 0 and 1, 573 lose a unit as a double (ray-scheduling 1). */
START_TEST (fractions_are_truncated_to_units_as_in_ray)
{
  unsigned n_lost = 0;

  for (int i = 0; i <= 10000; i++)
    {
      int64_t units = quoit_ray_amount_to_ten_thousandths (i / 10000.0);

      ck_assert (units == i || units == i - 1);
      ck_assert (quoit_ray_amount_to_ten_thousandths (-i / 10000.0) == -units);
      n_lost += units != i;
    }
  ck_assert_uint_eq (n_lost, 573);
  ck_assert (quoit_ray_amount_to_ten_thousandths (9.2e14) == INT64_C (9200000000000000000));
  ck_assert (quoit_ray_amount_to_ten_thousandths (1e15) == INT64_MIN);
  ck_assert (quoit_ray_amount_to_ten_thousandths (-1e15) == INT64_MIN);
  ck_assert (quoit_ray_amount_to_ten_thousandths (NAN) == INT64_MIN);
  ck_assert (quoit_ray_amount_to_ten_thousandths (INFINITY) == INT64_MIN);
}
END_TEST

START_TEST (only_valid_chip_counts_are_quantities)
{
  ck_assert_int_eq (quoit_ray_quantity_is_valid (4.0), 1);
  ck_assert_int_eq (quoit_ray_quantity_is_valid (nextafter (4.0, 5.0)), 0);
  ck_assert_int_eq (quoit_ray_quantity_is_valid (NAN), 0);
  ck_assert_int_eq (quoit_ray_quantity_is_valid (-4.0), 0);
}
END_TEST

START_TEST (only_the_accelerators_that_ray_lists_have_a_pod_type)
{
  GError *error = NULL;
  g_autofree char *known = quoit_ray_gke_pod_type (" 4X4 ", "tpu-v5-lite-device", &error);

  ck_assert_ok (error);
  ck_assert_str_eq (known, "v5litepod-16");
  /* Real labels of GKE, and invalid topologies, which are not checked for an unknown accelerator. */
  ck_assert_ptr_null (quoit_ray_gke_pod_type ("4x4", "tpu-v3-slice", &error));
  ck_assert_ptr_null (quoit_ray_gke_pod_type ("a", "tpu-v4-lite-device", &error));
  ck_assert_ptr_null (quoit_ray_gke_pod_type ("4x4", "tpu7x ", &error));
  ck_assert_ptr_null (quoit_ray_gke_pod_type (NULL, "tpu7x", &error));
  ck_assert_ptr_null (quoit_ray_gke_pod_type ("4x4", NULL, &error));
  ck_assert_ok (error);
  ck_assert_ptr_null (quoit_ray_gke_pod_type ("4xa", "tpu7x", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'4xa'");
}
END_TEST

static const struct {
  const char *accelerator, *type, *topology;
  const char *refused; /* by the check; NULL: accepted */
  int is_single;       /* -1: undefined */
} launches[] = {
  { "v4-8", NULL, NULL, NULL, 1 },
  { "v4-9", NULL, NULL, NULL, 0 },
  { "v6e-8\n", NULL, NULL, NULL, 1 },
  { "tpu7x-8", NULL, NULL, NULL, -1 },
  { "v4 -8", NULL, NULL, "acceleratorType 'v4 -8'", 1 },
  { "v4-8-9", NULL, NULL, "acceleratorType 'v4-8-9'", 1 },
  { "", NULL, NULL, "acceleratorType ''", -1 },
  { "\xff-8", NULL, NULL, "acceleratorType", -1 },
  { NULL, NULL, NULL, "acceleratorConfig.type: expected a text", -1 },
  { NULL, "V4", NULL, "acceleratorConfig.topology: expected a text", -1 },
  { NULL, NULL, "2x2", "acceleratorConfig.type: expected a text", -1 },
  { NULL, "V4", "2x2x1", NULL, 1 },
  { NULL, "V6E", "2x4", NULL, 1 },
  { NULL, "V6E", "4x4", NULL, 0 },
  { NULL, "V5LITE_POD", "2x4\n", NULL, 1 },
  { NULL, "v5lite_pod", "2x4", "acceleratorConfig.type 'v5lite_pod'", 1 },
  { NULL, "V2\n", "2x2", NULL, 1 }, /* not "V2" */
  { NULL, "V3", "2x2", "acceleratorConfig.type 'V3': expected an acceleratorType", 1 },
  { NULL, "V\xd9\xa4", "2x2", NULL, -1 }, /* matches a regex digit, but is not a generation */
  { NULL, "V4", "2X2", "acceleratorConfig.topology '2X2'", -1 },
  { NULL, "V4", " 2 x 2 ", "acceleratorConfig.topology ' 2 x 2 '", 1 },
  { NULL, "V4",
    "\x1c"
    "2x2",
    "acceleratorConfig.topology", -1 }, /* int() does not strip all that strip() does */
  { NULL, "V4", "2x2x2x2", "two or three numbers", 0 },
  { NULL, "V4", "-2x4", "two or three numbers", 1 },
  { NULL, "V6E", "-2x4", "two or three numbers", -1 },
  { NULL, "V4", "0x4", NULL, 1 },
  { "v6e-8", "V4", "2x2x2", "expected one of them", 1 },
  { "v6e-16", "V4", "2x2x2", "expected one of them", 0 },
  { "v4-8", "V4", NULL, "expected one of them", -1 },
};

START_TEST (gce_launch_is_checked_and_its_hosts_are_counted)
{
  GError *error = NULL;

  ck_assert_int_eq (
      quoit_ray_gce_check_accelerator (launches[_i].accelerator, launches[_i].type, launches[_i].topology, &error),
      launches[_i].refused == NULL);
  if (launches[_i].refused != NULL)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, launches[_i].refused);
  ck_assert_ok (error);

  for (int before = 0; before < 2; before++)
    {
      bool is_single = before;
      bool ok = quoit_ray_gce_is_single_host (launches[_i].accelerator, launches[_i].type, launches[_i].topology,
                                              &is_single, &error);

      ck_assert_int_eq (ok, launches[_i].is_single >= 0);
      ck_assert_int_eq (ok, error == NULL);
      ck_assert_int_eq (is_single, ok ? launches[_i].is_single : before);
      g_clear_error (&error);
    }
}
END_TEST

START_TEST (core_counts_beyond_double_precision_are_refused)
{
  g_autofree char *nines = g_strnfill (308, '9'), *large = g_strconcat ("v6e-", nines, NULL);
  g_autofree char *larger = g_strconcat ("v6e-9", nines, NULL);
  GError *error = NULL;
  bool is_single = true;

  ck_assert_int_eq (quoit_ray_gce_is_single_host (large, NULL, NULL, &is_single, &error), 1);
  ck_assert_int_eq (is_single, 0);
  is_single = true;
  ck_assert_int_eq (quoit_ray_gce_is_single_host (larger, NULL, NULL, &is_single, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "a number of chips in the range of a double");
  ck_assert_int_eq (is_single, true);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-host");
  TCase *hosts = tcase_create ("hosts"), *started = tcase_create ("nodes"), *chips = tcase_create ("chips");

  tcase_add_test (hosts, host_without_environment_and_metadata_has_no_properties);
  tcase_add_test (hosts, invalid_variable_hides_metadata_but_empty_variable_does_not);
  tcase_add_test (hosts, topology_is_read_from_the_tpu_env_metadata);
  tcase_add_test (hosts, worker_id_is_a_python_integer_and_zero_is_the_head);
  tcase_add_test (hosts, invalid_utf8_is_replaced);
  tcase_add_test (hosts, the_workers_of_a_pod_are_counted_or_refused);
  suite_add_tcase (suite, hosts);
  tcase_add_loop_test (started, node_has_the_resources_of_ray_or_is_refused, 0, G_N_ELEMENTS (nodes));
  tcase_add_test (started, autoscaler_labels_override_given_labels_and_default_labels);
  tcase_add_test (started, arguments_of_a_node_are_not_changed);
  tcase_add_test (started, only_the_accelerators_that_ray_lists_have_a_pod_type);
  tcase_add_loop_test (started, gce_launch_is_checked_and_its_hosts_are_counted, 0, G_N_ELEMENTS (launches));
  tcase_add_test (started, core_counts_beyond_double_precision_are_refused);
  suite_add_tcase (suite, started);
  tcase_set_timeout (chips, 20);
  tcase_add_test (chips, process_with_assigned_chips_sees_at_least_these_chips);
  tcase_add_test (chips, process_with_all_chips_has_no_visibility_variables);
  tcase_add_test (chips, chip_ids_beyond_64_bits_are_accepted);
  tcase_add_test (chips, size_of_visible_ids_is_limited);
  tcase_add_test (chips, invalid_chip_ids_are_refused_by_name);
  tcase_add_test (chips, fractions_are_truncated_to_units_as_in_ray);
  tcase_add_test (chips, only_valid_chip_counts_are_quantities);
  suite_add_tcase (suite, chips);
  return suite_main (suite);
}
