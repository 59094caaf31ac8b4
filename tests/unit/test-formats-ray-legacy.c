/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters whose Ray has no labels for slices (2.40 and before): slices are detected by resources alone. */
#include "ray-suite.h"

/* Rows as words: "ADDRESS[!dead] RESOURCE=AMOUNT...", one per line. A row without resources is a CPU node. */
static char *
list_of (const char *lines)
{
  g_auto (GStrv) rows = g_strsplit (lines, "\n", -1);
  GString *text = g_string_new ("[");

  for (guint i = 0; rows[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (rows[i], " ", -1);
      gboolean is_dead = g_str_has_suffix (words[0], "!dead");
      g_autofree char *address = g_strndup (words[0], strlen (words[0]) - (is_dead ? strlen ("!dead") : 0));

      g_string_append_printf (
          text,
          "%s{\"node_id\": \"id%u\", \"node_ip\": \"%s\", \"node_name\": \"%s\", \"state\": \"%s\", "
          "\"labels\": {\"ray.io/node_id\": \"id%u\"}, \"resources_total\": {\"node:%s\": 1.0",
          i > 0 ? ", " : "", i, address, address, is_dead ? "DEAD" : "ALIVE", i, address);
      for (guint j = 1; words[j] != NULL; j++)
        {
          g_auto (GStrv) pair = g_strsplit (words[j], "=", 2);

          g_string_append_printf (text, ", \"%s\": %s", pair[0], pair[1]);
        }
      g_string_append (text, "}}");
    }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static QuoitClaims *
read_lines (const char *lines, const char *topology, GError **error)
{
  g_autofree char *nodes = list_of (lines);
  QuoitRayFiles files = { .nodes = nodes, .n_nodes = strlen (nodes), .topology = topology };

  return quoit_read_ray_files (&files, error);
}

/* "NAME@SLICE.WORKER[?] TYPE TOPOLOGY; ...": a question mark marks an assumed worker id. */
static char *
slices_as_text (const QuoitClaims *claims)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].slice != NULL)
      {
        const QuoitNodeKind *kind = quoit_claims_kind_at (claims, nodes[i].kind);

        ck_assert_uint_gt (kind->shape.n_dims, 0);
        g_ptr_array_add (lines, g_strdup_printf ("%s@%s.%d%s %s %s", nodes[i].name, nodes[i].slice, nodes[i].worker_id,
                                                 (nodes[i].flags & QUOIT_NODE_ASSUMED_ID) != 0 ? "?" : "",
                                                 kind->pod_type, kind->topology));
      }
  return join_sorted (lines);
}

#define V6E "CPU=8 TPU=4 accelerator_type:TPU-V6E=1"
#define V4 "CPU=8 TPU=4 accelerator_type:TPU-V4=1"

/* One head and two slices of four hosts: nine nodes. Ray shows their sums as tpu-group-0: 4.0, tpu-group-1: 4.0. */
#define NINE_NODES                                                                                                     \
  "10.0.0.1 CPU=8 node:__internal_head__=1\n"                                                                          \
  "10.0.0.10 " V6E " tpu-group-0=1\n"                                                                                  \
  "10.0.0.9 " V6E " tpu-group-0=1\n"                                                                                   \
  "10.0.0.11 " V6E " tpu-group-0=1 TPU-v6e-16-head=1\n"                                                                \
  "10.0.0.8 " V6E " tpu-group-0=1\n"                                                                                   \
  "10.0.0.24 " V6E " tpu-group-1=1\n"                                                                                  \
  "10.0.0.21 " V6E " tpu-group-1=1 TPU-v6e-16-head=1\n"                                                                \
  "10.0.0.22 " V6E " tpu-group-1=1\n"                                                                                  \
  "10.0.0.23 " V6E " tpu-group-1=1"

static const struct {
  const char *lines, *topology, *slices, *warning;
} accepted[] = {
  { NINE_NODES, NULL,
    "10.0.0.10@tpu-group-0.3? v6e-16 4x4; 10.0.0.11@tpu-group-0.0 v6e-16 4x4; 10.0.0.21@tpu-group-1.0 v6e-16 4x4; "
    "10.0.0.22@tpu-group-1.1? v6e-16 4x4; 10.0.0.23@tpu-group-1.2? v6e-16 4x4; 10.0.0.24@tpu-group-1.3? v6e-16 4x4; "
    "10.0.0.8@tpu-group-0.1? v6e-16 4x4; 10.0.0.9@tpu-group-0.2? v6e-16 4x4",
    NULL },
  { "a " V4 " s=1 TPU-v4-16-head=1\nb " V4 " s=1", NULL, "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2", NULL },
  { "a " V4 " s=1 TPU-v4-8-head=1\nb " V4 " t=1 TPU-v4-8-head=1", NULL, "a@s.0 v4-8 2x2x1; b@t.0 v4-8 2x2x1", NULL },
  { "a TPU=8 s=1 TPU-v6e-8-head=1", NULL, "a@s.0 v6e-8 2x4", NULL },
  { "a TPU=4 s=1 TPU-v6e-8-head=1\nb TPU=4 s=1", NULL, "a@s.0 v6e-8 2x4; b@s.1? v6e-8 2x4", NULL },
  /* A resource names a slice only if its amount is 1, no node without chips has it, and the hosts with it can be one
   * slice. */
  { "a " V4 " s=1 all=1 TPU-v4-8-head=1\nb " V4 " t=1 all=1 TPU-v4-8-head=1", NULL,
    "a@s.0 v4-8 2x2x1; b@t.0 v4-8 2x2x1", NULL },
  { "a " V4 " s=1 x=1 TPU-v4-8-head=1\nb CPU=2 x=1", NULL, "a@s.0 v4-8 2x2x1", NULL },
  { "a " V4 " s=1 x=1 TPU-v4-16-head=1\nb " V4 " s=1 x=1\nc " V4 " x=1", NULL, "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2",
    "nodes with chips that neither labels nor resources put into a slice: 1, such as 'c'" },
  { "a " V4 " s=1 x=1 TPU-v4-16-head=1\nb " V4 " s=1\nc " V4 " t=1 x=1 TPU-v4-16-head=1\nd " V4 " t=1", NULL,
    "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2; c@t.0 v4-16 2x2x2; d@t.1? v4-16 2x2x2", NULL },
  { "a " V4 " s=1 x=2 TPU-v4-8-head=1", NULL, "a@s.0 v4-8 2x2x1", NULL },
  /* A lost host keeps its worker id; a replaced host passes its id on. */
  { "a " V6E " s=1 TPU-v6e-16-head=1\nb!dead " V6E " s=1\nc " V6E " s=1\nd " V6E " s=1", NULL,
    "a@s.0 v6e-16 4x4; b@s.1? v6e-16 4x4; c@s.2? v6e-16 4x4; d@s.3? v6e-16 4x4", NULL },
  { "a " V6E " s=1 TPU-v6e-16-head=1\nb!dead " V6E " s=1\nc " V6E " s=1\nd " V6E " s=1\ne " V6E " s=1", NULL,
    "a@s.0 v6e-16 4x4; b@s.-1 v6e-16 4x4; c@s.1? v6e-16 4x4; d@s.2? v6e-16 4x4; e@s.3? v6e-16 4x4", NULL },
  { "a!dead " V4 " s=1 TPU-v4-16-head=1\nb " V4 " s=1\nc " V4 " s=1 TPU-v4-16-head=1", NULL,
    "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2; c@s.0 v4-16 2x2x2", NULL },
  { "a!dead " V4 " s=1 TPU-v4-16-head=1\nb " V4 " s=1", NULL, "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2", NULL },
  /* The catalogue does not define the topology of v4-512. */
  { "a TPU=4 s=1 TPU-v4-16-head=1\nb TPU=4 s=1", "4x4x16", "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2",
    "the stated topology is not used: no slice needed it" },
  { "a TPU=4 s=1 TPU-v6e-16-head=1\nb TPU=4 s=1\nc TPU=4 s=1\nd TPU=4 s=1", "2x8",
    "a@s.0 v6e-16 2x8; b@s.1? v6e-16 2x8; c@s.2? v6e-16 2x8; d@s.3? v6e-16 2x8", NULL },
  { "a " V4 "\nb " V4, NULL, "",
    "nodes with chips that neither labels nor resources put into a slice: 2, such as 'a'" },
  { "a " V4 " s=1 TPU-v4-32-head=1\nb " V4 " s=1", NULL, "",
    "nodes with chips that neither labels nor resources put into a slice: 2, such as 'a'" },
  { "a " V4 " s=1 TPU-any-head=1", NULL, "",
    "nodes with chips that neither labels nor resources put into a slice: 1, such as 'a'" },
};

START_TEST (resources_identify_the_slice_of_a_node_without_labels)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_lines (accepted[_i].lines, accepted[_i].topology, &error);

  ck_assert_ok (error);
  ck_assert_text (slices_as_text (claims), accepted[_i].slices);
  ck_assert_str_eq (
      quoit_claims_warnings (claims)[0],
      accepted[_i].warning != NULL
          ? accepted[_i].warning
          : "the list has the nodes' resources, but not what is in use: what Ray has reserved is unknown");
}
END_TEST

/* 64 hosts of a v4-512. */
static char *
large_slice (void)
{
  GString *lines = g_string_new ("h000 TPU=4 s=1 TPU-v4-512-head=1");

  for (unsigned i = 1; i < 64; i++)
    g_string_append_printf (lines, "\nh%03u TPU=4 s=1", i);
  return g_string_free (lines, FALSE);
}

START_TEST (ambiguous_pod_type_requires_a_topology)
{
  static const struct {
    const char *topology, *message;
  } stated[] = {
    { NULL, "nodes: $[0]: pod type 'v4-512' on hosts of 4 chips: expected --topology with one of "
            "'4x4x16', '4x8x8'" },
    { "4x4x4", "'4x4x16', '4x8x8'" },
    { "16x16", "'4x4x16', '4x8x8'" },
    { "4x8", "'4x4x16', '4x8x8'" },
    { "4x8xa", "nodes: topology '4x8xa': expected" },
    { "4x4x16", NULL },
    { "4x8x8", NULL },
  };
  g_autofree char *lines = large_slice ();

  for (unsigned i = 0; i < G_N_ELEMENTS (stated); i++)
    {
      GError *error = NULL;
      g_autoptr (QuoitClaims) claims = read_lines (lines, stated[i].topology, &error);

      if (stated[i].message != NULL)
        {
          ck_assert_ptr_null (claims);
          ck_assert_refused (error, QUOIT_ERROR_INVALID, stated[i].message);
          continue;
        }
      ck_assert_ok (error);
      ck_assert_str_eq (quoit_claims_kind_at (claims, 0)->topology, stated[i].topology);
      ck_assert_uint_eq (quoit_claims_n_kinds (claims), 1);
    }
}
END_TEST

static const struct {
  const char *lines, *message;
} refused[] = {
  { "b CPU=1\na " V4 " s=1 my=1 TPU-v4-8-head=1",
    "nodes: $[1]: head of a 'v4-8' with several resources that may be the name of its slice, 'my', 's': expected only "
    "one resource with amount 1 on 1 node" },
  { "a " V4 " s=1 t=1 TPU-v4-16-head=1\nb " V4 " s=1 t=1",
    "several resources that may be the name of its slice, 's', 't'" },
  { "a TPU=3 s=1 TPU-v4-16-head=1\nb TPU=3 s=1",
    "nodes: $[0]: pod type 'v4-16' on a host of 3 chips: expected a whole number of such hosts" },
  { "a TPU=4 s=1 TPU-v4-15-head=1", "pod type 'v4-15' on a host of 4 chips: expected a whole number" },
  { "a TPU=8 s=1 TPU-v4-16-head=1",
    "nodes: $[0]: pod type 'v4-16' on hosts of 8 chips: expected a pod type that the catalogue" },
  { "a TPU=4 s=1 TPU-v4-16-head=1\nb TPU=4 s=1 t=1\nc TPU=4 t=1 TPU-v4-16-head=1",
    "nodes: $[1]: the names of two slices, 's' and 't': expected one" },
};

START_TEST (contradictory_resources_are_refused_with_the_node)
{
  GError *error = NULL;

  ck_assert_msg (read_lines (refused[_i].lines, NULL, &error) == NULL, "%s", refused[_i].lines);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (slices_without_labels_are_equal_in_yaml_and_in_devices)
{
  static const char yaml[] = "- {node_id: aa, node_ip: a, state: ALIVE, resources_total: {TPU: 8.0, s: 1.0, "
                             "TPU-v4-16-head: 1.0}}\n"
                             "- {node_id: bb, node_ip: b, state: ALIVE, resources_total: {TPU: 8.0, s: 1.0}}\n"
                             "- {node_id: cc, node_ip: c, state: ALIVE, resources_total: {TPU: 8.0, t: 1.0, u: 1.0, "
                             "TPU-v4-8-head: 1.0}}\n";
  QuoitRayFiles files = { .nodes = yaml, .n_nodes = strlen (yaml), .tpu_per_chip = 2 };
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;

  ck_assert_ptr_null (quoit_read_ray_files (&files, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "nodes: line 3: [2]: head of a 'v4-8' with several resources");
  files.n_nodes = (gsize) (strstr (yaml, "- {node_id: cc") - yaml);
  claims = quoit_read_ray_files (&files, &error);
  ck_assert_ok (error);
  ck_assert_text (slices_as_text (claims), "a@s.0 v4-16 2x2x2; b@s.1? v4-16 2x2x2");
  ck_assert_uint_eq (quoit_claims_kind_at (claims, 0)->chips, 4);
  ck_assert_text (resources_as_text (claims, 0), "TPU=8");
}
END_TEST

START_TEST (groups_use_head_and_slice_resources_without_labels)
{
  static const char groups[] = "[{\"placement_group_id\": \"cc\", \"name\": \"\", \"state\": \"CREATED\", \"bundles\": "
                               "[{\"node_id\": \"id0\", \"unit_resources\": {\"TPU-v4-8-head\": 1.0, \"s\": 0.5, "
                               "\"accelerator_type:TPU-V4\": 0.001}}]}]";
  static const char available[] = "{\"id0\": {\"CPU\": 8.0, \"TPU\": 4.0, \"s\": 0.25, \"accelerator_type:TPU-V4\": "
                                  "0.999}}";
  g_autofree char *nodes = list_of ("a " V4 " s=1 TPU-v4-8-head=1");
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_texts (nodes, groups, available, &error);

  ck_assert_ok (error);
  ck_assert_text (groups_as_text (claims), "cc '' RESERVED a TPU-v4-8-head=1 accelerator_type:TPU-V4=0.001 s=0.5");
  ck_assert_text (external_as_text (claims), "a s=0.25");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-legacy");
  TCase *facts = tcase_create ("facts");

  tcase_set_timeout (facts, 60);
  tcase_add_loop_test (facts, resources_identify_the_slice_of_a_node_without_labels, 0, G_N_ELEMENTS (accepted));
  tcase_add_test (facts, ambiguous_pod_type_requires_a_topology);
  tcase_add_loop_test (facts, contradictory_resources_are_refused_with_the_node, 0, G_N_ELEMENTS (refused));
  tcase_add_test (facts, slices_without_labels_are_equal_in_yaml_and_in_devices);
  tcase_add_test (facts, groups_use_head_and_slice_resources_without_labels);
  suite_add_tcase (suite, facts);
  return suite_main (suite);
}
