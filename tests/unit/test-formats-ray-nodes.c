/* SPDX-License-Identifier: Apache-2.0 */
#include "claims-suite.h"

static QuoitClaims *
read_text (const char *text, GError **error)
{
  return quoit_read_ray_nodes (text, strlen (text), NULL, error);
}

static const struct {
  const char *text, *nodes, *resources, *labels; /* of the first node */
} accepted[] = {
  { "[]", "", NULL, NULL },
  { "[{\"node_id\": \"aa\", \"state\": \"ALIVE\"}]", "default:aa", "", "" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true}]", "default:aa", "", "" },
  { "[{\"NodeID\": \"aa\", \"alive\": false}]", "default:aa!dead", "", "" },
  { "- {node_id: aa, state: DRAINING, node_ip: 10.0.0.1}", "default:10.0.0.1!draining", "", "" },
  { "---\n- node_id: aa\n  state: DEAD\n  node_name: n\n...\n...\n", "default:n!dead", "", "" },
  { "[{\"node_id\": \"aa\", \"state\": \"ALIVE\"}, {\"NodeID\": \"bb\", \"Alive\": true}]", "default:aa default:bb", "",
    "" },
  { "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"is_head_node\": true}]", "default:aa!head", "", "" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {\"node:__internal_head__\": 1.0}}]", "default:aa!head", "",
    "" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {\"CPU\": 2.0, \"TPU\": 4, \"memory\": 1073741824.0, \"x\": "
    "0.57,"
    " \"s\": 1.0, \"TPU-v6e-16-head\": 1.0, \"node:10.0.0.1\": 1.0, \"accelerator_type:TPU-V6E\": 1.0,"
    " \"CPU_group_71fdda07b5428e31684a9778a42e01000000\": 2.0},"
    " \"Labels\": {\"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": \"0\", \"ray.io/tpu-topology\": \"4x4\","
    " \"ray.io/tpu-pod-type\": \"v6e-16\", \"ray.io/node-group\": \"g\", \"ray.io/accelerator-type\": \"TPU-V6E\"}}]",
    "g:aa@s.0", "CPU=2 TPU=4 accelerator_type:TPU-V6E=1 memory=1073741824 x=0.5699",
    "ray.io/accelerator-type=TPU-V6E ray.io/node-group=g ray.io/tpu-pod-type=v6e-16 ray.io/tpu-topology=4x4" },
  { "- node_id: aa\n  state: ALIVE\n  resources_total: {memory: 1.000 GiB, object_store_memory: 80.000 MiB, CPU: 2.0}\n"
    "  labels: {ray.io/tpu-worker-id: 3, ray.io/tpu-slice-name: s}",
    "default:aa@s.3", "CPU=2 memory=1073741824 object_store_memory=83886080", "" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {\"GPU\": 8.0}, \"Labels\": {\"ray.io/accelerator-type\": "
    "\"A100\"}}]",
    "default:aa", "GPU=8", "ray.io/accelerator-type=A100" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {\"CPU\": -0.0, \"x\": 0}}]", "default:aa", "CPU=0 x=0",
    "" },
  /* Names: a live node gets the name of a dead one, and nodes with the same name are distinguished. */
  { "[{\"NodeID\": \"0123456789\", \"Alive\": false, \"NodeName\": \"n\"}, {\"NodeID\": \"bb\", \"Alive\": true, "
    "\"NodeName\": \"n\"}]",
    "default:n~01234567!dead default:n", "", "" },
  { "[{\"NodeID\": \"0123456789\", \"Alive\": true, \"NodeName\": \"n\"}, {\"NodeID\": \"1123456789\", \"Alive\": "
    "true, \"NodeName\": \"n\"}]",
    "default:n~01234567 default:n~11234567", "", "" },
  { "[{\"NodeID\": \"01234567aa\", \"Alive\": true, \"NodeName\": \"n\"}, {\"NodeID\": \"01234567bb\", \"Alive\": "
    "true, \"NodeName\": \"n\"}]",
    "default:n~01234567 default:n~01234567bb", "", "" },
};

#define NAME_16 "nnnnnnnnnnnnnnnn"
#define NAME_64 NAME_16 NAME_16 NAME_16 NAME_16
#define NAME_256 NAME_64 NAME_64 NAME_64 NAME_64
#define ROW(more) "[{\"NodeID\": \"aa\", \"Alive\": true, " more "}]"

static const struct {
  const char *text, *message;
} refused[] = {
  { "", "nothing in it: expected the output of ray list nodes with --format json or --format yaml" },
  { "\n# fetched\n\n", "nothing but blanks and comments in it: expected the output of ray list nodes" },
  { "\n======== List: 2026-11-21 10:00:00 ========\nStats:\n----\nTotal: 5\n",
    "line 2: a table, which ray prints without --format: expected the output of ray list nodes with --format json or "
    "--format yaml; run 'ray list nodes --detail --format json --limit 10000'" },
  { "# saved\n======== List: 2026-11-21", "line 2: a table, which" },
  { "No resource in the cluster\n", "line 1: 'No resource in the cluster', which ray prints if it lists nothing" },
  { "// saved\n[]", "line 1: a comment: expected the output of ray list nodes" },
  { "- node_id: aa\n\tstate: ALIVE\n", "line 2, column 1: a tab: expected spaces" },
  { "{}", "$: a map: expected a list" },
  { "null", "nothing in it: expected a list of nodes" },
  { "[1]", "$[0]: '1': expected a map" },
  { "[{}]", "$[0]: a row without id: expected 'node_id' (ray list nodes) or 'NodeID'" },
  { "[{\"node_id\": \"\", \"state\": \"ALIVE\"}]", "$[0]: an empty id" },
  { "[{\"node_id\": 7, \"state\": \"ALIVE\"}]", "$[0].node_id: '7': expected text" },
  { "[{\"node_id\": \"aa\"}]", "$[0]: no 'state'" },
  { "[{\"node_id\": \"aa\", \"state\": \"alive\"}]", "$[0].state: 'alive': expected ALIVE, DRAINING or DEAD" },
  { "[{\"node_id\": \"aa\", \"state\": true}]", "$[0].state: 'true': expected ALIVE" },
  { "[{\"NodeID\": \"aa\"}]", "$[0]: no 'Alive': expected true or false" },
  { "[{\"NodeID\": \"aa\", \"Alive\": \"yes\"}]", "$[0].Alive: 'yes': expected true or false" },
  { "[{\"NodeID\": \"aa\", \"Alive\": true}, {\"NodeID\": \"aa\", \"Alive\": false}]",
    "$[1]: node id 'aa': expected each id once" },
  { ROW ("\"NodeName\": {}"), "$[0].NodeName: a map: expected text" },
  { ROW ("\"Resources\": []"), "$[0].Resources: a list: expected a map" },
  { ROW ("\"Resources\": {\"CPU\": \"2\"}"), "$[0].Resources.CPU: '2': expected a number" },
  { ROW ("\"Resources\": {\"CPU\": -1}"), "$[0].Resources.CPU: amount '-1': expected a number that is not negative" },
  { ROW ("\"Resources\": {\"CPU\": 0.00001}"), "$[0].Resources.CPU: amount '1e-05': expected 0, or at least 0.0001" },
  { "- node_id: aa\n  state: ALIVE\n  resources_total: {CPU: .nan}\n",
    "line 3: [0].resources_total.CPU: '.nan': expected a number" },
  { "- node_id: aa\n  state: ALIVE\n  resources_total: {memory: .inf}\n",
    "quantity '.inf': expected memory as Ray writes it" },
  { "- node_id: aa\n  state: ALIVE\n  resources_total: {memory: ''}\n",
    "quantity '': expected memory as Ray writes it" },
  { ROW ("\"NodeName\": \"" NAME_256 "\""), "$[0].NodeName: '" },
  { ROW ("\"Resources\": {\"" NAME_256 "\": 1}"), "a resource whose name has 256 bytes: expected at most 253" },
  { ROW ("\"Resources\": {\"CPU\": 1e15}"), "$[0].Resources.CPU: amount '1000000000000000': expected less than" },
  { ROW ("\"Resources\": {\"CPU\": 1e400}"), "expected a number below 1.8e308" },
  { ROW ("\"Resources\": {\"CPU\": 9223372036854775807}"), "expected less than" },
  { ROW ("\"Resources\": {\"memory\": \"1 GB\"}"),
    "$[0].Resources.memory: quantity '1 GB': expected memory as Ray writes it" },
  { ROW ("\"Resources\": {\"TPU\": 3.5}"), "$[0].Resources.TPU: '3.5': expected a whole number of chips" },
  { ROW ("\"Resources\": {\"TPU\": 65536}"), "$[0].Resources.TPU: '65536': expected a whole number of chips" },
  { ROW ("\"Resources\": {\"\": 1}"), "$[0].Resources: a resource without name" },
  { ROW ("\"Labels\": {\"-k\": \"v\"}"), "$[0].Labels.-k: label key '-k': expected [PREFIX/]NAME" },
  { ROW ("\"Labels\": {\"ray.io/x\": \"a b\"}"), "$[0].Labels['ray.io/x']: label value 'a b': expected at most 63" },
  { ROW ("\"Labels\": {\"k\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"),
    "expected at most 63" },
  { ROW ("\"Labels\": {\"k\": 1}"), "$[0].Labels.k: '1': expected text" },
  { ROW ("\"Labels\": {\"k\": null}"), "$[0].Labels.k: 'null': expected text" },
  { ROW ("\"Labels\": {\"ray.io/tpu-worker-id\": \"-1\"}"), "label value '-1'" },
  { ROW ("\"Labels\": {\"ray.io/tpu-worker-id\": \"x\"}"),
    "$[0].Labels['ray.io/tpu-worker-id']: 'x': expected a worker id" },
  { ROW ("\"Labels\": {\"ray.io/tpu-worker-id\": \"9999999999\"}"), "expected a worker id" },
  { ROW ("\"Labels\": {\"ray.io/tpu-pod-type\": \"v6e\"}"), "'v6e': expected a pod type" },
  { ROW ("\"Labels\": {\"ray.io/tpu-pod-type\": \"v6e-x\"}"), "'v6e-x': expected a pod type" },
  { ROW ("\"Labels\": {\"ray.io/tpu-pod-type\": \"v99-16\"}"), "$[0].Labels['ray.io/tpu-pod-type']: " },
  { ROW ("\"Labels\": {\"ray.io/accelerator-type\": \"TPU-V99\"}"), "$[0].Labels['ray.io/accelerator-type']: " },
  { ROW ("\"Labels\": {\"ray.io/accelerator-type\": \"TPU-V4\", \"ray.io/tpu-pod-type\": \"v6e-16\"}"),
    "'TPU-V4': expected the generation of the pod type 'v6e-16'" },
  { ROW ("\"NodeID\": \"bb\""), "expected each key once" },
  { "- node_id: aa\n  state: ALIVE\n  labels:\n    k: yes\n", "line 4: [0].labels.k: 'yes': expected text" },
  { "- node_id: aa\n  state: GONE\n", "line 2: [0].state: 'GONE': expected ALIVE" },
  { "a: b\n", "line 1: a map: expected a list" },
  { "- node_id: aa\n  state: ALIVE\n---\n- node_id: bb\n  state: ALIVE\n", "line 4: a second document" },
  { "[{\"NodeID\": \"a\xff\"}]", "expected UTF-8" },
  { "[{\"node_id\": \"aa\", \"state\": \"ALIVE\"}", "the end: expected ',' or ']'" },
};

START_TEST (nodes_match_the_rows_of_the_listing)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_text (accepted[_i].text, &error);

  ck_assert_ok (error);
  ck_assert_text (nodes_as_text (claims), accepted[_i].nodes);
  if (accepted[_i].resources != NULL)
    ck_assert_text (resources_as_text (claims, 0), accepted[_i].resources);
  if (accepted[_i].labels != NULL)
    ck_assert_text (labels_as_text (claims, 0), accepted[_i].labels);
  ck_assert_str_eq (quoit_claims_source (claims), "ray");
}
END_TEST

START_TEST (invalid_row_is_refused_with_its_path)
{
  GError *error = NULL;

  ck_assert_msg (read_text (refused[_i].text, &error) == NULL, "%s", refused[_i].text);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
  ck_assert_ptr_null (read_text (refused[_i].text, NULL));
}
END_TEST

START_TEST (row_gives_id_address_and_kind_of_the_node)
{
  g_autoptr (QuoitClaims) claims
      = read_text (ROW ("\"NodeManagerAddress\": \"10.0.0.7\", \"NodeName\": \"n\", \"Resources\": {\"TPU\": 4.0},"
                        " \"Labels\": {\"ray.io/tpu-topology\": \"2x2x2\", \"ray.io/tpu-pod-type\": \"v7x-16\"}"),
                   NULL);
  guint32 n;
  const QuoitNodeClaim *node = quoit_claims_nodes (claims, &n);
  const QuoitNodeKind *kind = quoit_claims_kind_at (claims, node->kind);

  ck_assert_str_eq (node->identity, "aa");
  ck_assert_str_eq (node->address, "10.0.0.7");
  ck_assert_int_eq (node->worker_id, -1);
  ck_assert_int_eq (kind->generation, QUOIT_GENERATION_TPU7X);
  ck_assert_uint_eq (kind->shape.n_dims, 3);
  ck_assert_uint_eq (kind->chips, 4);
  ck_assert_str_eq (kind->pod_type, "v7x-16");
}
END_TEST

START_TEST (unknown_topology_is_kept_as_text_with_a_warning)
{
  g_autoptr (QuoitClaims) claims
      = read_text (ROW ("\"Labels\": {\"ray.io/tpu-topology\": \"3x5\", \"ray.io/tpu-pod-type\": \"v6e-15\"}"), NULL);
  const QuoitNodeKind *kind = quoit_claims_kind_at (claims, 0);

  ck_assert_str_eq (kind->topology, "3x5");
  ck_assert_uint_eq (kind->shape.n_dims, 0);
  ck_assert_ptr_nonnull (
      strstr (quoit_claims_warnings (claims)[0], "$[0].Labels['ray.io/tpu-topology']: node 'aa': topology '3x5'"));
}
END_TEST

#define SLICE_LABELS(worker, topology, type)                                                                           \
  "\"Labels\": {\"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": \"" worker                                 \
  "\", \"ray.io/tpu-topology\": \"" topology "\", \"ray.io/tpu-pod-type\": \"" type                                    \
  "\", \"ray.io/accelerator-type\": \"TPU-V6E\"}"
#define DEAD(worker, topology, type)                                                                                   \
  "{\"NodeID\": \"dd\", \"Alive\": false, \"Resources\": {}, " SLICE_LABELS (worker, topology, type) "}"
#define ALIVE(worker, chips, topology, type)                                                                           \
  "{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {\"TPU\": " chips                                              \
  ", \"CPU\": 8}, " SLICE_LABELS (worker, topology, type) "}"

/* Inferred resources of a dead node of ray.nodes(): the first row, unless the list has only one. */
static const struct {
  const char *text, *topology, *pod_type;
  guint chips;
  const char *resources;
} dead[] = {
  { "[" DEAD ("1", "4x4", "v6e-16") ", " ALIVE ("0", "4", "4x4", "v6e-16") "]", "4x4", "v6e-16", 4, "TPU=4" },
  { "[" DEAD ("1", "2x4", "v6e-8") ", " ALIVE ("0", "4", "2x4", "v6e-8") "]", "2x4", "v6e-8", 4, "TPU=4" },
  { "[" DEAD ("0", "2x4", "v6e-8") "]", "2x4", "v6e-8", 8, "TPU=8" },
  { "[" DEAD ("0", "4x4", "v6e-16") "]", "4x4", "v6e-16", 4, "TPU=4" },
  /* Another slice with that name is no evidence. */
  { "[" DEAD ("0", "4x4", "v6e-16") ", " ALIVE ("0", "8", "2x4", "v6e-8") "]", "4x4", "v6e-16", 4, "TPU=4" },
  { "[{\"NodeID\": \"dd\", \"Alive\": false, \"Labels\": {\"ray.io/tpu-slice-name\": \"s\", "
    "\"ray.io/tpu-worker-id\": \"1\"}}, " ALIVE ("0", "4", "4x4", "v6e-16") "]",
    "4x4", "v6e-16", 4, "TPU=4" },
  { "- {NodeID: dd, Alive: false, Resources: {}, Labels: {ray.io/tpu-slice-name: s}}\n"
    "- {NodeID: aa, Alive: true, Resources: {TPU: 4}, Labels: {ray.io/tpu-slice-name: s, ray.io/tpu-topology: 4x4,"
    " ray.io/tpu-pod-type: v6e-16}}\n",
    "4x4", "v6e-16", 4, "TPU=4" },
  { "[{\"NodeID\": \"dd\", \"Alive\": false, \"Resources\": {}, \"Labels\": {}}]", NULL, NULL, 0, "" },
  { "[{\"NodeID\": \"dd\", \"Alive\": false, \"Resources\": {}, \"Labels\": {\"ray.io/tpu-topology\": \"4x4\"}}]",
    "4x4", NULL, 0, "" },
};

START_TEST (a_dead_node_without_resources_has_the_chips_of_its_slice)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_text (dead[_i].text, &error);
  const QuoitNodeClaim *nodes;
  const QuoitNodeKind *kind;
  guint32 n;

  ck_assert_ok (error);
  nodes = quoit_claims_nodes (claims, &n);
  ck_assert_str_eq (nodes[0].name, "dd");
  ck_assert_int_eq (nodes[0].state, QUOIT_NODE_DEAD);
  kind = quoit_claims_kind_at (claims, nodes[0].kind);
  ck_assert_uint_eq (kind->chips, dead[_i].chips);
  ck_assert_pstr_eq (kind->topology, dead[_i].topology);
  ck_assert_pstr_eq (kind->pod_type, dead[_i].pod_type);
  ck_assert (dead[_i].chips == 0 || (kind->generation == QUOIT_GENERATION_V6E && kind->shape.n_dims == 2));
  ck_assert_text (resources_as_text (claims, 0), dead[_i].resources);
  /* Only the warning of every list. */
  ck_assert_ptr_null (quoit_claims_warnings (claims)[1]);
}
END_TEST

START_TEST (invalid_row_of_dead_node_is_refused_with_its_path)
{
  GError *error = NULL;

  ck_assert_ptr_null (read_text ("[{\"NodeID\": \"dd\", \"Alive\": false, \"Labels\": {\"k\": 1}},"
                                 " {\"NodeID\": \"aa\", \"Alive\": true}]",
                                 &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "$[0].Labels.k: '1': expected text");
}
END_TEST

START_TEST (alive_host_without_chips_is_accepted_with_a_warning)
{
  static const char *const rows[] = {
    "[" ALIVE ("0", "0", "4x4", "v6e-16") "]",
    "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {}, \"Labels\": {\"ray.io/tpu-slice-name\": \"s\"}}]",
    "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {}, \"Labels\": {\"ray.io/tpu-topology\": \"4x4\"}}]",
    "[{\"NodeID\": \"aa\", \"Alive\": true, \"Resources\": {}, \"Labels\": {\"ray.io/tpu-worker-id\": \"0\"}}]",
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (QuoitClaims) claims = read_text (rows[i], NULL);

      ck_assert_str_eq (quoit_claims_warnings (claims)[0],
                        "$[0].Resources: node 'aa': its labels make it a host of a slice, but it has no resource TPU");
    }
}
END_TEST

/* @n rows of one slice; the ids are numbers. */
static char *
rows_of_slice (unsigned n)
{
  GString *text = g_string_new ("[");

  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (
        text, "%s{\"node_id\": \"%u\", \"state\": \"ALIVE\", \"labels\": {\"ray.io/tpu-slice-name\": \"s\"}}",
        i > 0 ? "," : "", i);
  g_string_append (text, "]");
  return g_string_free (text, FALSE);
}

START_TEST (a_slice_has_at_most_4096_nodes)
{
  g_autofree char *most = rows_of_slice (4096), *more = rows_of_slice (4097);
  g_autoptr (QuoitClaims) claims = read_text (most, NULL);
  GError *error = NULL;
  guint n_warnings;

  ck_assert_ptr_nonnull (claims);
  /* 20 warnings, the number of the others, and the warning of every list. */
  n_warnings = g_strv_length ((char **) quoit_claims_warnings (claims));
  ck_assert_uint_eq (n_warnings, 22);
  ck_assert_str_eq (quoit_claims_warnings (claims)[20], "4076 more warnings about rows");
  ck_assert_ptr_null (read_text (more, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "$[4096].labels['ray.io/tpu-slice-name']: 's': expected at most 4096 nodes in a slice");
}
END_TEST

START_TEST (shared_names_are_warned_of_once)
{
  g_autoptr (QuoitClaims) claims = read_text (accepted[G_N_ELEMENTS (accepted) - 2].text, NULL);

  ck_assert_str_eq (quoit_claims_warnings (claims)[0],
                    "2 alive nodes have the name 'n': each gets that name and the start of its id");
  ck_assert_str_eq (quoit_claims_warnings (claims)[1],
                    "the list has the nodes' resources, but not what is in use: what Ray has reserved is unknown");
  ck_assert_ptr_null (quoit_claims_warnings (claims)[2]);
}
END_TEST

/* The rule on a whole cluster: name, node count, classes, dead nodes, TPU nodes. */
static const struct {
  const char *start;
  guint32 n_nodes, n_dead, n_tpu;
} fleets[] = { { "gke.", 9, 0, 8 }, { "lost.", 5, 1, 4 }, { "mixed.", 6, 0, 3 }, { "plain.", 7, 0, 6 } };

static void
check_capture (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL;
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n_nodes, n_dead = 0, n_tpu = 0, n_heads = 0;
  gsize length;

  ck_assert (quoit_read_file (path, &text, &length, &error));
  claims = quoit_read_ray_nodes (text, length, NULL, &error);
  ck_assert_msg (error == NULL, "%s: %s", name, error == NULL ? "" : error->message);
  nodes = quoit_claims_nodes (claims, &n_nodes);
  for (guint32 i = 0; i < n_nodes; i++)
    {
      n_dead += nodes[i].state == QUOIT_NODE_DEAD;
      n_tpu += quoit_claims_kind_at (claims, nodes[i].kind)->generation != QUOIT_GENERATION_NONE;
      n_heads += (nodes[i].flags & QUOIT_NODE_RAY_HEAD) != 0;
    }
  ck_assert (g_str_has_prefix (quoit_claims_warnings (claims)[0], "the list has the nodes' resources"));
  ck_assert_ptr_null (quoit_claims_warnings (claims)[1]);
  ck_assert_uint_eq (n_heads, 1);
  for (unsigned i = 0; i < G_N_ELEMENTS (fleets); i++)
    if (g_str_has_prefix (name, fleets[i].start))
      {
        ck_assert_msg (n_nodes == fleets[i].n_nodes && n_dead == fleets[i].n_dead && n_tpu == fleets[i].n_tpu,
                       "%s: %u nodes, %u dead, %u with chips", name, n_nodes, n_dead, n_tpu);
        return;
      }
  ck_abort_msg ("%s: no fact about it", name);
}

static unsigned
check_captures (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  unsigned n = 0;

  for (name = dir == NULL ? NULL : g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    if ((strstr (name, "ray-list-nodes") != NULL
         && (g_str_has_suffix (name, ".json") || g_str_has_suffix (name, ".yaml")))
        || g_str_has_suffix (name, "py-ray.nodes.json"))
      {
        check_capture (folder, name);
        n++;
      }
  return n;
}

START_TEST (captures_of_real_clusters_have_their_nodes)
{
  g_autofree char *folder = g_build_filename (g_getenv ("top_srcdir"), "tests", "data", "captures", NULL);

  ck_assert_uint_eq (check_captures (folder), 34);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-nodes");
  TCase *rows = tcase_create ("rows");

  tcase_set_timeout (rows, 60);
  tcase_add_loop_test (rows, nodes_match_the_rows_of_the_listing, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (rows, invalid_row_is_refused_with_its_path, 0, G_N_ELEMENTS (refused));
  tcase_add_test (rows, row_gives_id_address_and_kind_of_the_node);
  tcase_add_test (rows, unknown_topology_is_kept_as_text_with_a_warning);
  tcase_add_loop_test (rows, a_dead_node_without_resources_has_the_chips_of_its_slice, 0, G_N_ELEMENTS (dead));
  tcase_add_test (rows, invalid_row_of_dead_node_is_refused_with_its_path);
  tcase_add_test (rows, alive_host_without_chips_is_accepted_with_a_warning);
  tcase_add_test (rows, a_slice_has_at_most_4096_nodes);
  tcase_add_test (rows, shared_names_are_warned_of_once);
  tcase_add_test (rows, captures_of_real_clusters_have_their_nodes);
  suite_add_tcase (suite, rows);
  return suite_main (suite);
}
